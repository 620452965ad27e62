"""Probabilities of orders of numbers with Gumbel noise, exactly.

Numbers ``c_i + g_i`` with independent Gumbel noise of one scale b come in a descending order as if they were drawn one after the other,
each from those that are left with probability ``w_i`` over the sum of their weights, ``w_i = e^(c_i / b)`` (Yellott 1977): a race of
independent exponential clocks of rates w_i.  So the probability of a partial order is a sum over who comes first, then second, and so on,
with the orders of the sets that are left remembered.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache

from privproof.engines.integrals.leaf_integrals import Halfspace
from privproof.errors import LanguageError
from privproof.exact import ZERO, Rational
from privproof.exact.exponentials import ExponentialSum
from privproof.exact.quotients import ExponentialQuotient

_MOST = 7
"""So many numbers with Gumbel noise that are compared with one another; the orders of all their subsets are looked at."""


def order_probability(scales: Mapping[int, Rational], halfspaces: Sequence[Halfspace]) -> ExponentialSum:
    """The probability that forms in Gumbel noises, of which each compares two, are not negative.

    >>> from privproof.exact import rational
    >>> above = Halfspace(((0, rational(1)), (1, rational(-1))), rational(1))
    >>> str(order_probability({0: rational(2), 1: rational(2)}, [above]))
    '(1)/(1 + e^(-1/2))'

    Raises:
        LanguageError: a form compares something else, or numbers are compared at several distances.
    """
    ahead: dict[int, set[int]] = {}
    offsets: dict[int, dict[int, Rational]] = {}
    for each in halfspaces:
        if not each.coefficients:
            if each.constant < 0:
                return ExponentialSum.constant(0)
            continue
        first, second, by = _compared_noises(each, scales)
        ahead.setdefault(second, set()).add(first)
        offsets.setdefault(first, {})[second] = _only(offsets.get(first, {}).get(second), by)
        offsets.setdefault(second, {})[first] = _only(offsets.get(second, {}).get(first), -by)
    total = ExponentialSum.constant(1)
    seen: set[int] = set()
    for start in offsets:
        if start not in seen:
            centers = _centers(start, offsets)
            seen |= centers.keys()
            total = total * _in_order({i: center / scales[i] for i, center in centers.items()}, ahead)
    return total


def _compared_noises(form: Halfspace, scales: Mapping[int, Rational]) -> tuple[int, int, Rational]:
    """The noise that is to be the larger one, the other one, and what is added to the first."""
    match form.coefficients:
        case ((i, a), (j, b)) if a == -b and scales[i] == scales[j]:
            return (i, j, form.constant / a) if a > 0 else (j, i, form.constant / b)
        case _:
            raise LanguageError(
                "integral",
                "Gumbel noise is compared with something else than Gumbel noise of the same scale",
                hint="the place of the largest of several values, all with noise of one scale",
            )


def _only(known: Rational | None, by: Rational) -> Rational:
    if known is not None and known != by:
        raise LanguageError(
            "integral", "two values with Gumbel noise are compared at two distances", hint="one distance"
        )
    return by


def _centers(start: int, offsets: Mapping[int, Mapping[int, Rational]]) -> dict[int, Rational]:
    """Centers of the numbers that are compared with one another, such that every comparison is one of whole numbers."""
    found, waiting = {start: ZERO}, [start]
    while waiting:
        here = waiting.pop()
        for there, by in offsets[here].items():
            center = found[here] - by
            if there not in found:
                found[there] = center
                waiting.append(there)
            else:
                _only(found[there], center)
    if len(found) > _MOST:
        raise LanguageError(
            "integral", f"more than {_MOST} values with Gumbel noise are compared", hint="a smaller size"
        )
    return found


def _in_order(centers: Mapping[int, Rational], ahead: Mapping[int, set[int]]) -> ExponentialSum:
    """The probability of a partial order: who is ahead of whom."""
    weights = {i: ExponentialSum.term(1, 0, center) for i, center in centers.items()}

    @cache
    def of(left: frozenset[int]) -> ExponentialSum:
        if not any(ahead.get(i, set()) & left for i in left):
            return ExponentialSum.constant(1)
        together = sum((weights[i] for i in sorted(left)), ExponentialSum.constant(0))
        total = ExponentialSum.constant(0)
        for i in sorted(left):
            if not ahead.get(i, set()) & left:
                total = total + weights[i] * of(left - {i})
        return total * ExponentialQuotient(ExponentialSum.constant(1), together)

    return of(frozenset(centers))
