"""Formulas of dpCTL* as frozen data: read from a certificate, and written in words for the statement.

State formulas speak about a state; path formulas about an infinite path.  A state formula is a path formula too (it
speaks about the first state), and a Boolean combination of state formulas in a path formula is read as one `Leaf`.
Liu, Wang and Zhang, "Model Checking Differentially Private Properties", section 4.
"""

from __future__ import annotations

from collections.abc import Container, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from privproof_checker.claims import read_epsilon
from privproof_checker.numbers import Epsilon, Rational
from privproof_checker.outcomes import Limits, refuse, within
from privproof_checker.plain_documents import (
    a_flag,
    a_list,
    a_number,
    a_text,
    an_integer,
    an_object,
    only_members,
    text,
)

MOST_STEPS = 1_000_000
"""The largest bound of a path formula, such as until within so many steps; beyond, the formula is refused."""
_MOST_NODES = 100_000
"""All formulas of a document together may have so many parts; beyond, the document is refused."""


@dataclass(frozen=True)
class States:
    """The formula that holds exactly in some states; `words` is how it was written."""

    members: frozenset[int]
    words: str


@dataclass(frozen=True)
class Not:
    """Negation of a state formula."""

    inner: State


@dataclass(frozen=True)
class Several:
    """A conjunction (``every``) or disjunction of state formulas; of none: true or false."""

    every: bool
    parts: tuple[State, ...]


@dataclass(frozen=True)
class ProbabilityRange:
    """An interval of probabilities."""

    low: Rational
    low_included: bool
    high: Rational
    high_included: bool

    def above_low(self, value: Rational) -> bool:
        """Whether a number respects the lower end."""
        return value > self.low or (self.low_included and value == self.low)

    def below_high(self, value: Rational) -> bool:
        """Whether a number respects the upper end."""
        return value < self.high or (self.high_included and value == self.high)

    def __str__(self) -> str:
        return f"{'[' if self.low_included else '('}{text(self.low)}, {text(self.high)}{']' if self.high_included else ')'}"


@dataclass(frozen=True)
class Probability:
    """P: the probability of a path formula lies in a range."""

    within: ProbabilityRange
    path: Path


@dataclass(frozen=True)
class Amounts:
    """An interval of expected rewards; without a high end it goes on for ever, and infinity belongs to it."""

    low: Rational
    low_included: bool
    high: Rational | None
    high_included: bool

    def contains(self, value: Rational | None) -> bool:
        """Whether an expected reward is in the interval; None is the infinite one."""
        if value is None:
            return self.high is None
        if value < self.low or (value == self.low and not self.low_included):
            return False
        return self.high is None or value < self.high or (value == self.high and self.high_included)

    def __str__(self) -> str:
        opening = f"{'[' if self.low_included else '('}{text(self.low)}"
        if self.high is None:
            return f"{opening}, inf]"
        return f"{opening}, {text(self.high)}{']' if self.high_included else ')'}"


@dataclass(frozen=True)
class Steps:
    """What R is of: the reward of some steps (of all where there is no number), that of the state after them, or the mean of a step."""

    count: int | None
    moment: bool = False
    mean: bool = False


@dataclass(frozen=True)
class Expected:
    """R: the expected reward lies in a range; it is collected until a path formula is satisfied, or in some steps."""

    within: Amounts
    reward: str
    until: Path | Steps


@dataclass(frozen=True)
class Steady:
    """S: in the long run the share of steps in which a state formula holds lies in a range."""

    within: ProbabilityRange
    state: State


@dataclass(frozen=True)
class SomePath:
    """E: some path satisfies a path formula."""

    path: Path


@dataclass(frozen=True)
class Private:
    """D: the probability of a path formula is close to that in every neighbour."""

    epsilon: Epsilon
    delta: Rational
    path: Path


@dataclass(frozen=True)
class Leaf:
    """A state formula, in the first state of a path."""

    state: State


@dataclass(frozen=True)
class PathNot:
    """Negation of a path formula."""

    inner: Path


@dataclass(frozen=True)
class PathSeveral:
    """A conjunction (``every``) or disjunction of path formulas."""

    every: bool
    parts: tuple[Path, ...]


@dataclass(frozen=True)
class Next:
    """A path formula after some steps, at least one."""

    steps: int
    inner: Path


@dataclass(frozen=True)
class Until:
    """``left`` until ``right``, where ``right`` holds at a step from ``low`` to ``high`` (None: without end)."""

    left: Path
    right: Path
    low: int
    high: int | None


State: TypeAlias = States | Not | Several | Probability | Expected | Steady | SomePath | Private
Path: TypeAlias = Leaf | PathNot | PathSeveral | Next | Until

TRUE = Leaf(Several(every=True, parts=()))


class FormulaReader:
    """Reads formulas over the states and labels of one process."""

    def __init__(
        self,
        names: Sequence[str],
        labels: dict[str, frozenset[int]],
        limits: Limits,
        rewards: Container[str] = (),
    ) -> None:
        self.names, self.labels, self.limits, self.rewards = names, labels, limits, rewards
        self.count = 0

    def state(self, value: object, place: str) -> State:
        """A state formula."""
        read = self._formula(value, place)
        if not isinstance(read, Leaf):
            refuse("expected a state formula, found a path formula", place)
        return read.state

    def private(self, value: object, place: str) -> Private:
        """A formula whose outermost operator is D."""
        read = self.state(value, place)
        if not isinstance(read, Private):
            refuse("expected a formula of the operator D", place)
        return read

    def path(self, value: object, place: str) -> Path:
        """A path formula."""
        return self._formula(value, place)

    def _formula(self, value: object, place: str) -> Path:
        self.count += 1
        within(self.count, _MOST_NODES, "parts of formulas", place)
        listed = a_list(value, place)
        if not listed:
            refuse("a formula is empty", place)
        head, rest = a_text(listed[0], f"{place}[0]"), listed[1:]
        match head:
            case "true" | "false":
                self._arity(rest, 0, place)
                return Leaf(Several(every=head == "true", parts=()))
            case "label":
                self._arity(rest, 1, place)
                name = a_text(rest[0], f"{place}[1]")
                if name not in self.labels:
                    refuse(f"unknown label {name[:60]!r}", f"{place}[1]")
                return Leaf(States(self.labels[name], quote_name(name)))
            case "state":
                self._arity(rest, 1, place)
                state = a_state(rest[0], len(self.names), f"{place}[1]")
                return Leaf(States(frozenset((state,)), f"state {quote_name(self.names[state])}"))
            case "set":
                self._arity(rest, 1, place)
                members = states_of(rest[0], len(self.names), f"{place}[1]")
                return Leaf(States(frozenset(members), self._set(sorted(members))))
            case "not":
                self._arity(rest, 1, place)
                inner = self._formula(rest[0], f"{place}[1]")
                return Leaf(Not(inner.state)) if isinstance(inner, Leaf) else PathNot(inner)
            case "and" | "or":
                return self._several(head == "and", rest, place)
            case "P":
                self._arity(rest, 2, place)
                return Leaf(Probability(self._range(rest[0], f"{place}[1]"), self._formula(rest[1], f"{place}[2]")))
            case "E":
                self._arity(rest, 1, place)
                return Leaf(SomePath(self._formula(rest[0], f"{place}[1]")))
            case "S":
                self._arity(rest, 2, place)
                return Leaf(Steady(self._range(rest[0], f"{place}[1]"), self.state(rest[1], f"{place}[2]")))
            case "R":
                self._arity(rest, 3, place)
                name = a_text(rest[1], f"{place}[2]")
                if name not in self.rewards:
                    refuse(f"there are no rewards {name[:60]!r}", f"{place}[2]")
                return Leaf(
                    Expected(self._amounts(rest[0], f"{place}[1]"), name, self._collected(rest[2], f"{place}[3]"))
                )
            case "D":
                self._arity(rest, 2, place)
                budget = an_object(rest[0], f"{place}[1]")
                only_members(budget, ("epsilon", "delta"), f"{place}[1]")
                claimed = read_epsilon(budget.get("epsilon"), f"{place}[1].epsilon", self.limits)
                delta = self._probability(budget.get("delta"), f"{place}[1].delta")
                return Leaf(Private(claimed, delta, self._formula(rest[1], f"{place}[2]")))
            case "X":
                self._arity(rest, 2, place)
                steps = self._steps(rest[0], f"{place}[1]")
                if steps < 1:
                    refuse("next goes at least one step", f"{place}[1]")
                return Next(steps, self._formula(rest[1], f"{place}[2]"))
            case "U":
                return self._until(rest, place)
        refuse(f"unknown operator {head[:40]!r}", f"{place}[0]")

    def _several(self, every: bool, rest: list[object], place: str) -> Path:  # noqa: FBT001
        if not rest:
            refuse("nothing is combined", place)
        parts = [self._formula(item, f"{place}[{i + 1}]") for i, item in enumerate(rest)]
        states = [part.state for part in parts if isinstance(part, Leaf)]
        if len(states) == len(parts):
            return Leaf(Several(every, tuple(states)))
        return PathSeveral(every, tuple(parts))

    def _until(self, rest: list[object], place: str) -> Path:
        self._arity(rest, 4, place)
        left, right = self._formula(rest[0], f"{place}[1]"), self._formula(rest[1], f"{place}[2]")
        low = self._steps(rest[2], f"{place}[3]")
        high = None if rest[3] is None else self._steps(rest[3], f"{place}[4]")
        if high is not None and high < low:
            refuse(f"an until between the steps {low} and {high} is empty", f"{place}[4]")
        return Until(left, right, low, high)

    def _arity(self, rest: list[object], count: int, place: str) -> None:
        if len(rest) != count:
            refuse(f"the operator takes {count} argument{'s' if count != 1 else ''}, found {len(rest)}", place)

    def _steps(self, value: object, place: str) -> int:
        steps = an_integer(value, place)
        if steps < 0:
            refuse("a number of steps is below 0", place)
        within(steps, MOST_STEPS, "steps", place)
        return steps

    def _probability(self, value: object, place: str) -> Rational:
        number = a_number(value, place, self.limits)
        if not 0 <= number <= 1:
            refuse(f"{text(number)} is outside [0, 1]", place)
        return number

    def _range(self, value: object, place: str) -> ProbabilityRange:
        given = an_object(value, place)
        only_members(given, ("low", "low_included", "high", "high_included"), place)
        low = self._probability(given.get("low"), f"{place}.low")
        high = self._probability(given.get("high"), f"{place}.high")
        low_included = a_flag(given.get("low_included"), f"{place}.low_included")
        return ProbabilityRange(low, low_included, high, a_flag(given.get("high_included"), f"{place}.high_included"))

    def _collected(self, value: object, place: str) -> Path | Steps:
        """What stands inside of R: ``["C", k]``, ``["C", null]``, ``["I", k]``, ``["S"]``, or a path formula."""
        listed = a_list(value, place)
        head = a_text(listed[0], f"{place}[0]") if listed else ""
        if head == "S" and len(listed) == 1:
            return Steps(None, mean=True)
        if head not in ("C", "I"):
            return self._formula(value, place)
        self._arity(listed[1:], 1, place)
        if head == "C" and listed[1] is None:
            return Steps(None)
        return Steps(self._steps(listed[1], f"{place}[1]"), moment=head == "I")

    def _amounts(self, value: object, place: str) -> Amounts:
        given = an_object(value, place)
        only_members(given, ("low", "low_included", "high", "high_included"), place)
        low = a_number(given.get("low"), f"{place}.low", self.limits)
        high = None if given.get("high") is None else a_number(given.get("high"), f"{place}.high", self.limits)
        low_included = a_flag(given.get("low_included"), f"{place}.low_included")
        return Amounts(low, low_included, high, a_flag(given.get("high_included"), f"{place}.high_included"))

    def _set(self, members: list[int]) -> str:
        listed = ", ".join(quote_name(self.names[state]) for state in members[:10])
        return f"{{{listed}{', ...' if len(members) > 10 else ''}}}"


def a_state(value: object, count: int, place: str) -> int:
    """The number of a state, which must exist."""
    state = an_integer(value, place)
    if not 0 <= state < count:
        refuse("there is no such state", place)
    return state


def states_of(value: object, count: int, place: str) -> list[int]:
    """A list of numbers of states, each at most once."""
    result = [a_state(item, count, f"{place}[{i}]") for i, item in enumerate(a_list(value, place))]
    if len(set(result)) < len(result):
        refuse("a state is given twice", place)
    return result


def quote_name(name: str) -> str:
    """A name as it is written in a formula."""
    return name if name.replace("_", "a").isalnum() and len(name) <= 60 else repr(name[:60])


def privates(formula: State | Path) -> Iterator[Private]:
    """The formulas of the operator D inside a formula, in order of occurrence, the outer before the inner."""
    if isinstance(formula, Private):
        yield formula
    for part in _parts(formula):
        yield from privates(part)


def _parts(formula: State | Path) -> tuple[State | Path, ...]:
    match formula:
        case Several(_, parts) | PathSeveral(_, parts):
            return parts
        case Not(inner) | PathNot(inner) | Next(_, inner):
            return (inner,)
        case Until(left, right):
            return (left, right)
        case Probability(path=path) | Private(path=path) | SomePath(path):
            return (path,)
        case Steady(_, state):
            return (state,)
        case Expected(until=Steps()):
            return ()
        case Expected(until=path):
            return (path,)  # type: ignore[return-value]
        case Leaf(state):
            return (state,)
    return ()


def outermost(formula: State) -> Iterator[Probability | Expected | Steady | Private]:
    """The operators P, R, S and D that stand inside no other."""
    if isinstance(formula, Probability | Expected | Steady | Private):
        yield formula
        return
    for part in _parts(formula):
        if isinstance(part, State):
            yield from outermost(part)


def formula_text(formula: State | Path) -> str:
    """A formula in words: ``D[ln(3), 0](X out1)``; a temporal operator below another kind of operator stands in parentheses."""
    match formula:
        case States(_, words):
            return words
        case Leaf(state):
            return formula_text(state)
        case Several(every, ()):
            return "true" if every else "false"
        case Several(every, parts) | PathSeveral(every, parts):
            return "(" + (" & " if every else " | ").join(_closed_text(part) for part in parts) + ")"
        case PathNot(Until(left, right, low, high)) if left == TRUE:
            return f"G{_window(low, high)} {_negated_text(right)}"
        case Not(inner) | PathNot(inner):
            return f"!{_closed_text(inner)}"
        case Next(steps, inner):
            return f"X{f'^{steps}' if steps > 1 else ''} {formula_text(inner)}"
        case Until(left, right, low, high) if left == TRUE:
            return f"F{_window(low, high)} {formula_text(right)}"
        case Until(left, right, low, high):
            return f"({_closed_text(left)} U{_window(low, high)} {_closed_text(right)})"
        case Probability(within, path):
            return f"P{within}({_bare(path)})"
        case Steady(within, state):
            return f"S{within}({formula_text(state)})"
        case SomePath(path):
            return f"E({_bare(path)})"
        case Expected(within, reward, Steps(count, moment, mean)):
            what = "S" if mean else f"I={count}" if moment else "C" if count is None else f"C<={count}"
            return f"R{{{quote_name(reward)}}}{within}({what})"
        case Expected(within, reward, path):
            assert not isinstance(path, Steps)
            return f"R{{{quote_name(reward)}}}{within}({_bare(path)})"
        case Private(epsilon, delta, path):
            exact = str(epsilon)
            return f"D[{exact if len(exact) <= 60 else epsilon.show()}, {text(delta)}]({_bare(path)})"
    raise AssertionError(formula)


def _negated_text(path: Path) -> str:
    match path:
        case PathNot(inner) | Leaf(Not(inner)):
            return formula_text(inner)
    return f"!{_closed_text(path)}"


def _closed_text(formula: State | Path) -> str:
    """In parentheses where it begins with X, F or G, which reach further in some conventions than in others."""
    words = formula_text(formula)
    temporal = isinstance(formula, Next | Until | PathNot) and not words.startswith(("(", "!"))
    return f"({words})" if temporal else words


def _bare(path: Path) -> str:
    words = formula_text(path)
    return words[1:-1] if isinstance(path, Until | PathSeveral) and words.startswith("(") else words


def _window(low: int, high: int | None) -> str:
    if high is None:
        return f"[>={low}]" if low else ""
    return f"[{low},{high}]" if low else f"[<={high}]"
