"""Numbers and truths computed from what several properties say: ``1 - P=? [ F a ]``, ``filter(sum, P=? [ X a ] / x)``.

Every property in the expression is answered in the states where it is needed.  Then the expression is evaluated with the two rational
ends of what is known of each number: exact numbers stay exact, enclosures stay enclosures (the ends of a sum are the sums of the ends, of
a product or quotient the least and largest of four), and a comparison that the enclosures leave open is not decided.  Where a value has
no meaning, as in a division by 0, that is said; a branch that is not taken need not have one.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, TypeAlias

from privproof.engines.search_monitor import Monitor
from privproof.errors import QuestionError
from privproof.exact import Rational, rational
from privproof.logic.decision_process import DecisionProcess, Missing
from privproof.logic.formula_engine import asked_states, model_check
from privproof.logic.formulas import Truth
from privproof.logic.prism.computed_values import Computed
from privproof.logic.prism.expression_meanings import FAILING, ROUNDING, ExpressionMeaning, Trouble
from privproof.logic.prism.prism_properties import Property
from privproof.logic.state_filters import OF_NUMBERS, OF_TRUTHS, PLAIN, value_in


class Amount(NamedTuple):
    """A number between two rationals, or the infinite reward, of which both ends are None."""

    low: Rational | None
    high: Rational | None

    @property
    def exact(self) -> bool:
        """Whether the number itself is known."""
        return self.low == self.high


Value: TypeAlias = "bool | Amount | None"
"""What a property says in a state; None where that is not known."""


@dataclass(frozen=True, eq=False)
class Computation:
    """What is computed from several properties.

    Attributes:
        process: the process.
        text: what was asked.
        asked: the states that it is about.
        chosen: how these states were chosen.
        values: the number or truth in each of them.
        reasons: why something is not known.
        notes: what else the reader should know.
        seconds: how long it took.
    """

    process: DecisionProcess
    text: str
    asked: tuple[int, ...]
    chosen: str
    values: tuple[Value, ...]
    reasons: tuple[str, ...]
    notes: tuple[str, ...]
    seconds: float


def compute(
    prop: Property,
    *,
    states: Sequence[str] | None = None,
    exact: bool = False,
    missing: Missing = "stay",
    monitor: Monitor,
) -> Computation:
    """The numbers or truths that a property computes from others.

    Args:
        prop: the property.
        states: the states that are asked about; without them those of its filter, those a run starts in, or all.
        exact: never be content with enclosures.
        missing: what D takes an action for in a state that does not have it.
        monitor: progress, a time limit, an interrupt.
    """
    begun = time.perf_counter()
    process = prop.model.process
    asked, chosen = asked_states(process, Truth(True), states)  # noqa: FBT003 - a formula
    if states is None and prop.aggregate in PLAIN and prop.states is not None:
        asked, chosen, prop = prop.states, "those of the filter", Property(prop.written, prop.model)
    elif prop.aggregate is not None:
        asked = asked[:1]
    evaluation = _QuantityEvaluation(exact, missing, monitor)
    values = evaluation.values(prop, asked)
    told = str(prop.written) if prop.aggregate is None else f"filter({prop.aggregate}, {prop.written})"
    reasons, notes = (tuple(dict.fromkeys(each)) for each in (evaluation.reasons, evaluation.notes))
    return Computation(process, told, asked, chosen, tuple(values), reasons, notes, time.perf_counter() - begun)


class _Undecided(Exception):
    """A comparison that enclosures leave open, or a number that is not known."""


@dataclass(frozen=True)
class _QuantityEvaluation:
    exact: bool
    missing: Missing
    monitor: Monitor
    reasons: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def values(self, prop: Property, states: Sequence[int]) -> list[Value]:
        """What a property says in states."""
        if prop.aggregate is None:
            return self._plain(prop, states)
        assert prop.states is not None
        found = self._plain(prop, prop.states)
        return [_aggregate_values(found, prop.aggregate)] * len(states)

    def _plain(self, prop: Property, states: Sequence[int]) -> list[Value]:
        process, written = prop.model.process, prop.written
        if isinstance(written, Computed):
            return self._computed(process, written, states)
        names = [process.names[s] for s in states]
        found = model_check(
            process,
            written,
            states=names,
            exact=self.exact,
            missing=self.missing,
            certify=False,
            monitor=self.monitor,
        )
        self.notes.extend(found.notes)
        if not found.is_query:
            self.reasons.extend(reason for reason in found.reasons if not reason.startswith("computed, and not"))
            return [{1: True, 0: False}.get(int(found.truth[s])) for s in states]
        if found.status == "unknown":
            self.reasons.extend(found.reasons)
            return [None] * len(states)
        between = [value_in(found, s) for s in states]
        return [Amount(None, None) if each.infinite else Amount(*each) for each in between]

    def _computed(self, process: DecisionProcess, written: Computed, states: Sequence[int]) -> list[Value]:
        columns = list(process.variables.values())
        parts: dict[int, Mapping[int, Value]] = {}
        result: list[Value] = []

        def value_of(slot: int, state: int) -> Value:
            if slot >= len(columns):
                if slot not in parts:
                    parts[slot] = dict(zip(states, self.values(written.parts[slot], states), strict=True))
                return parts[slot][state]
            return _exactly(int(columns[slot][state]))

        for state in states:
            self.monitor.pause()
            try:
                result.append(evaluate(written.meaning, lambda slot, state=state: value_of(slot, state)))  # type: ignore[misc]
            except _Undecided as problem:
                self.reasons.append(f"{problem} in {process.names[state]}")
                result.append(None)
            except Trouble as problem:
                raise QuestionError(
                    problem.code, f"{problem.message} in {process.names[state]}", place="formula", hint=problem.hint
                ) from None
        return result


def _exactly(value: object) -> Amount:
    number = rational(value)  # type: ignore[arg-type]
    return Amount(number, number)


def evaluate(meaning: ExpressionMeaning, value_of: Callable[[int], Value]) -> Value:
    """The value of an expression, given what is known of its variables.

    Raises:
        Trouble: it has none.
    """
    op, args = meaning.op, meaning.args
    if op == "const":
        return meaning.value if meaning.kind == "bool" else _exactly(meaning.value)
    if op == "var":
        value = value_of(meaning.value)
        return value.low != 0 if meaning.kind == "bool" and isinstance(value, Amount) else value
    if op in ("&", "|", "=>"):
        return _connective(op, args, value_of)
    if op == "?":
        condition = evaluate(args[0], value_of)
        if condition is None:
            raise _Undecided("it is not known which case of ?: counts")
        return evaluate(args[1 if condition else 2], value_of)
    values: list[Any] = [evaluate(part, value_of) for part in args]
    if None in values:
        if meaning.kind == "bool":
            return None
        raise _Undecided("a number that it is computed from is not known")
    if op == "!":
        return not values[0]
    if op in ("=", "!=", "<=>") and args[0].kind == "bool":
        return bool((values[0] == values[1]) == (op != "!="))
    if op in ("=", "!=", "<", "<=", ">", ">="):
        return _compare_amounts(op, *values)
    if op in ("min", "max") or not any(value.low is None for value in values):
        return _number(meaning, values)
    raise _Undecided("it is computed from an infinite reward")


def _connective(op: str, args: tuple[ExpressionMeaning, ...], value_of: Callable[[int], Value]) -> bool | None:
    settling, known = op != "&", True
    for place, part in enumerate(args):
        value = evaluate(part, value_of)
        if op == "=>" and place == 0 and value is not None:
            value = not value
        if value is settling:
            return settling
        known = known and value is not None
    return not settling if known else None


def _compare_amounts(sign: str, left: Amount, right: Amount) -> bool | None:
    """Whether a comparison holds; None where enclosures leave it open."""
    if sign in (">", ">="):
        return _compare_amounts({">": "<", ">=": "<="}[sign], right, left)
    if sign in ("=", "!="):
        below, above = _compare_amounts("<", left, right), _compare_amounts("<", right, left)
        if below or above:
            return sign == "!="
        return sign == "=" if left.exact and right.exact else None
    if left.low is None or left.high is None:
        return sign == "<=" and right.low is None
    if right.low is None or right.high is None:
        return True
    if sign == "<":
        return True if left.high < right.low else False if left.low >= right.high else None
    return True if left.high <= right.low else False if left.low > right.high else None


def _number(meaning: ExpressionMeaning, values: list[Amount]) -> Amount:
    op = meaning.op
    if op in ("min", "max"):
        return (least if op == "min" else largest)(values)
    first = values[0]
    if op == "neg":
        return _negative(first)
    if op == "+":
        for sign, value in zip(meaning.value[1:], values[1:], strict=True):
            first = _sum(first, value if sign == "+" else _negative(value))
        return first
    if op == "*":
        signs, place = meaning.value if isinstance(meaning.value, tuple) else (meaning.value, "")
        for sign, value in zip(signs[1:], values[1:], strict=True):
            first = _product(first, value if sign == "*" else _inverse(first, value, place))
        return first
    if op in ROUNDING:
        low, high = ROUNDING[op](first.low), ROUNDING[op](first.high)
        if low != high:
            raise _Undecided(f"enclosures do not decide {op}(...)")
        return _exactly(low)
    if not all(value.exact for value in values):
        raise _Undecided(f"{op} is of exact numbers")
    left, right = (
        int(_ends(value)[0].p) if part.kind == "int" else value.low
        for part, value in zip(meaning.args, values, strict=True)
    )
    return _exactly(FAILING[op](left, right, meaning.value[1]))


def _ends(value: Amount) -> tuple[Rational, Rational]:
    assert value.low is not None
    assert value.high is not None
    return value.low, value.high


def _negative(value: Amount) -> Amount:
    low, high = _ends(value)
    return Amount(-high, -low)


def _sum(first: Amount, second: Amount) -> Amount:
    (low, high), (other_low, other_high) = _ends(first), _ends(second)
    return Amount(low + other_low, high + other_high)


def _product(first: Amount, second: Amount) -> Amount:
    corners = [a * b for a in _ends(first) for b in _ends(second)]
    return Amount(min(corners), max(corners))


def _inverse(dividend: Amount, divisor: Amount, place: str) -> Amount:
    low, high = _ends(divisor)
    if low == high == 0:
        FAILING["/"](dividend.low, 0, place)
    if low <= 0 <= high:
        raise _Undecided("it is not known whether a divisor is 0")
    return Amount(1 / high, 1 / low)


def least(values: Sequence[Amount]) -> Amount:
    """The least of numbers."""
    finite = [_ends(value) for value in values if value.low is not None]
    return Amount(min(low for low, _ in finite), min(high for _, high in finite)) if finite else values[0]


def largest(values: Sequence[Amount]) -> Amount:
    """The largest of numbers."""
    ends = [value for value in values if value.low is None]
    if ends:
        return ends[0]
    return Amount(max(_ends(value)[0] for value in values), max(_ends(value)[1] for value in values))


def _aggregate_values(values: list[Value], aggregate: str) -> Value:
    """What a filter makes of the values in its states."""
    truths = isinstance(next((value for value in values if value is not None), None), bool)
    if aggregate in PLAIN and len(values) != 1:
        raise QuestionError(
            "filter", f"{len(values)} states satisfy the condition, and a number is of one", hint="first"
        )
    if aggregate in PLAIN or aggregate == "first":
        return values[0]
    known = OF_TRUTHS if truths else OF_NUMBERS
    if aggregate not in known or aggregate == "range":
        raise QuestionError("filter", f"a filter {aggregate!r} is not for such values", hint=", ".join(known))
    if aggregate == "exists" and True in values:
        return True
    if aggregate == "forall" and False in values:
        return False
    numbers = [value for value in values if value is not None]
    if len(numbers) < len(values):
        return None
    if truths:
        return _exactly(numbers.count(True)) if aggregate == "count" else aggregate == "forall"
    amounts = [value for value in numbers if isinstance(value, Amount)]
    if aggregate in ("min", "max"):
        return (least if aggregate == "min" else largest)(amounts)
    if any(value.low is None for value in amounts):
        return Amount(None, None)
    total = amounts[0]
    for value in amounts[1:]:
        total = _sum(total, value)
    return total if aggregate == "sum" else _product(total, _exactly(1 / rational(len(amounts))))
