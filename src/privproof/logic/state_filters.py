"""What a filter makes of the values of a formula in several states: PRISM's ``filter(max, P=? [ F done ], x>0)``."""

from __future__ import annotations

from dataclasses import dataclass

from privproof.errors import QuestionError
from privproof.exact import ONE, ZERO, rational
from privproof.logic.path_measures import INFINITE, Likelihood, ValueBetween
from privproof.logic.state_satisfaction import Satisfaction

OF_TRUTHS = ("forall", "exists", "count", "first")
"""Filters of formulas that hold or fail."""
OF_NUMBERS = ("min", "max", "avg", "sum", "range", "first")
"""Filters of formulas that ask for a number."""
PLAIN = ("state", "print", "printall")
"""Filters that leave the values as they are."""


@dataclass(frozen=True)
class Filtered:
    """What a filter says.

    Attributes:
        aggregate: its name.
        states: how many states it is about.
        value: a truth value, a number of states, or a number as exact as it is known; two for a range; None where it is not known.
    """

    aggregate: str
    states: int
    value: bool | int | ValueBetween | tuple[ValueBetween, ValueBetween] | None


def apply_filter(found: Satisfaction, aggregate: str) -> Filtered:
    """What a filter makes of an answer, over the states that were asked about.

    Raises:
        QuestionError: the filter is not for such a formula.
    """
    asked = found.asked
    if aggregate == "state" and len(asked) != 1:
        raise QuestionError(
            "filter",
            f"{len(asked)} states satisfy the condition, and a filter of kind state is about one",
            hint="print",
        )
    if aggregate not in PLAIN and aggregate not in (OF_NUMBERS if found.is_query else OF_TRUTHS):
        asks = "asks for a number" if found.is_query else "holds or fails"
        kinds = ", ".join((*(OF_NUMBERS if found.is_query else OF_TRUTHS), *PLAIN))
        raise QuestionError("filter", f"the formula {asks}: a filter {aggregate!r} is not for it", hint=kinds)
    if found.is_query:
        return Filtered(aggregate, len(asked), _of_numbers(found, aggregate))
    return Filtered(aggregate, len(asked), _of_truths([int(found.truth[s]) for s in asked], aggregate))


def value_in(found: Satisfaction, state: int) -> ValueBetween:
    """The one number that a formula asks for has in a state.

    Raises:
        QuestionError: on a decision process it has two, and neither was asked for.
    """
    likely = next(m for m in found.measured.values() if m.formula == found.formula)
    assert isinstance(likely, Likelihood)
    if likely.side:
        return likely.most(state) if likely.side == "max" else likely.least(state)
    least, most = likely.least(state), likely.most(state)
    if least != most:
        raise QuestionError(
            "filter", "on a decision process a number is computed from least or largest values", hint="Pmin=?, Pmax=?"
        )
    return least


def _of_truths(truths: list[int], aggregate: str) -> bool | int | None:
    if aggregate == "first":
        return None if truths[0] < 0 else truths[0] == 1
    if aggregate == "exists" and 1 in truths:
        return True
    if aggregate in ("forall", *PLAIN) and 0 in truths:
        return False
    if -1 in truths:
        return None
    return truths.count(1) if aggregate == "count" else aggregate != "exists"


def _of_numbers(found: Satisfaction, aggregate: str) -> ValueBetween | tuple[ValueBetween, ValueBetween] | None:
    likely = next(m for m in found.measured.values() if m.formula == found.formula)
    assert isinstance(likely, Likelihood)
    if likely.how == "not decided":
        return None
    side = likely.side
    lows = [likely.most(s) if side == "max" else likely.least(s) for s in found.asked]
    highs = lows if side else [likely.most(s) for s in found.asked]
    if aggregate in PLAIN or aggregate == "first":
        return lows[0] if lows[0] == highs[0] else (lows[0], highs[0])
    if aggregate == "range":
        return _least(lows), _largest(highs)
    if lows != highs:
        raise QuestionError(
            "filter", "on a decision process a filter is of least or of largest values", hint="Pmin=?, Pmax=?"
        )
    if aggregate in ("min", "max"):
        return _least(lows) if aggregate == "min" else _largest(highs)
    if any(value.infinite for value in lows):
        return INFINITE
    share = ONE / rational(len(lows)) if aggregate == "avg" else ONE
    return ValueBetween(
        sum((value.low for value in lows), ZERO) * share, sum((value.high for value in lows), ZERO) * share
    )


def _least(values: list[ValueBetween]) -> ValueBetween:
    finite = [value for value in values if not value.infinite]
    if not finite:
        return INFINITE
    return ValueBetween(min(value.low for value in finite), min(value.high for value in finite))


def _largest(values: list[ValueBetween]) -> ValueBetween:
    if any(value.infinite for value in values):
        return INFINITE
    return ValueBetween(max(value.low for value in values), max(value.high for value in values))
