"""What follows from settled shifts of Gaussian noise, for every length.

An alignment whose shifts of other noise cost at most B, and whose shifts of Gaussian noise are settled when it is drawn and come to at
most ``mu^2`` in squares, bounds every divergence: ``D_a <= B + a mu^2/2``.  So rho is at most ``B + mu^2/2``; where B is 0, the
mechanism is mu-GDP.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from math import ceil, isqrt

from flint import arb

from privproof.exact import INFINITE, Budget, Epsilon, Rational, epsilon, fraction, rational
from privproof.exact.affine import Affine
from privproof.exact.balls import precision, rational_bounds
from privproof.exact.measures import Measure, MeasuredBudget
from privproof.exact.normal import normal_excess

_BITS = 128
"""The precision of balls; they only choose what is asked for."""
_GRID = 10**15
"""A mu that is no rational, and deltas that are asked for, are rounded up to multiples of its inverse."""
_ALONE = Budget(epsilon(0), Rational(1))
"""A budget that shifts of Gaussian noise alone are within: what they come to is read off the proof."""
_OTHERS = tuple(Budget(epsilon(Fraction(4) ** k), Rational(1)) for k in (-1, 0, 1))
"""Budgets for shifts of other noise, too; in a large one the search goes astray, in alignments that shift without need."""
_SHARES = (Fraction(1, 2), Fraction(3, 4), Fraction(1, 4))
"""The parts of a value that are left to Gaussian noise beside other noise, one after the other."""


def least_of_shifts(measure: Measure, others: Fraction, squares: Affine) -> Epsilon:
    """The smallest value of a measure that shifts prove; infinite where they prove none, or one that grows.

    >>> from privproof.exact.measures import MU, RHO
    >>> quarter = Affine(rational("1/4"))
    >>> least_of_shifts(RHO, Fraction(1, 4), quarter), least_of_shifts(MU, Fraction(0), quarter)
    (Epsilon('3/8'), Epsilon('1/2'))
    """
    if squares.terms:
        return INFINITE
    if measure.kind == "mu":
        return INFINITE if others else epsilon(_root(fraction(squares.constant)))
    return epsilon(growth_of_shifts(measure, others, squares).constant)


def growth_of_shifts(measure: Measure, others: Fraction, squares: Affine) -> Affine:
    """The smallest rho, or Rényi divergence, that shifts prove, where it may grow."""
    order = rational(1) if measure.order is None else measure.order
    return Affine(rational(others)).plus(squares.times(order / 2))


def covers(budget: MeasuredBudget, needed: Affine, least: Mapping[str, Rational | None]) -> bool:
    """Whether what is claimed is at least what is needed wherever all names have at least their least values."""
    claimed = budget.growing
    if claimed is None:
        if budget.value is None or budget.value.ratio != 1:
            return False
        claimed = Affine(budget.value.shift)
    spare = claimed.plus(needed, -1)
    if any(factor < 0 or least.get(name) is None for name, factor in spare.terms):
        return False
    return spare.at({name: least[name] for name, _ in spare.terms}) >= 0


def _root(square: Fraction) -> Fraction:
    """The square root, exactly where it is rational, otherwise rounded up."""
    above, below = isqrt(square.numerator), isqrt(square.denominator)
    if above**2 == square.numerator and below**2 == square.denominator:
        return Fraction(above, below)
    return Fraction(isqrt(ceil(square * _GRID**2)) + 1, _GRID)


def budgets_to_ask(budgets: Sequence[MeasuredBudget], *, alone: bool) -> Iterator[Budget]:
    """Budgets whose proofs may have small enough shifts: such as leave no more than is claimed; without a claim, any.

    Args:
        budgets: the values that are claimed, or the measure that is asked for.
        alone: whether only Gaussian noise may be shifted.
    """
    claimed = [(each.measure, _below(each.value)) for each in budgets if each.value is not None]
    if len(claimed) < len(budgets):  # of a value that grows, what shifts come to is read off the proof as well
        yield from (_ALONE, *(() if alone else _OTHERS))
        return
    squares = min(_squares(measure, value) for measure, value in claimed)
    yield _within(Fraction(0), squares)
    least = min(value for _, value in claimed)
    for share in () if alone else _SHARES:
        yield _within(least * (1 - share), squares * share)
    yield from (_ALONE,) if alone else _OTHERS[:2]


def _squares(measure: Measure, value: Fraction) -> Fraction:
    """What Gaussian noise may come to where no other noise costs anything."""
    if measure.kind == "mu":
        return value**2
    return 2 * value / (1 if measure.order is None else fraction(measure.order))


def _within(others: Fraction, squares: Fraction) -> Budget:
    """A budget that leaves so much to both kinds of noise."""
    with precision(_BITS):
        delta = normal_excess(arb(rational(squares)).sqrt(), arb(0)) if squares else arb(0)
        _, high = rational_bounds(delta)
    return Budget(epsilon(others), rational(min(Fraction(1), Fraction(ceil(fraction(high) * _GRID) + 1, _GRID))))


def _below(value: Epsilon) -> Fraction:
    return fraction(rational_bounds(value.ball(_BITS))[0])
