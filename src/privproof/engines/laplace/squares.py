"""Gaussian noise in proofs by alignment: what its shifts come to in squares, and what delta they give away.

Shifts of Gaussian noise that are settled when it is drawn, with ``sum (s/sigma)^2 <= mu^2`` on every path, give away ``H_mu(e)`` where
all other noise costs at most ``epsilon - e``: the delta of two normal laws that are mu standard deviations apart.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from math import ceil

from flint import arb

from privproof.exact import Epsilon, Rational, fraction, rational
from privproof.exact.affine import Affine
from privproof.exact.balls import precision, rational_bounds
from privproof.exact.normal import normal_excess

_SHARES = (Fraction(3, 4), Fraction(1, 2), Fraction(1, 4))
"""The parts of epsilon that are set aside for Gaussian noise beside other noise, one after the other."""
_BITS = 128
"""Bits of the balls; the checker decides with its own."""
_SLACK = Fraction(1, 10**9)
"""How much more than what gives away delta squares may be in the search."""
_GRID = 10**30
"""A delta is rounded up to a multiple of its inverse, so that it can be written down."""
_STEPS = 60
"""Bisections for the largest mu: it is only looked for, what it gives away is decided by balls."""


@dataclass(frozen=True)
class Allowance:
    """How much the two kinds of noise may cost in a search: others in epsilon, Gaussian noise in squares."""

    others: Fraction
    squares: Fraction


def given_away(squares: Fraction, left: arb) -> arb:
    """The delta of shifts that come to so much, where so much of epsilon is left."""
    return arb(0) if squares == 0 else normal_excess(arb(rational(squares)).sqrt(), left)


def enough(squares: Fraction, others: Fraction, epsilon: Epsilon, delta: Rational) -> bool:
    """Whether costs are within an epsilon and a delta."""
    with precision(_BITS):
        left = epsilon.ball(_BITS) - arb(rational(others))
        return bool(left >= 0) and bool(given_away(squares, left) <= arb(delta))


def delta_for_each(delta: Affine, many: Affine, least: Mapping[str, Rational | None]) -> Rational | None:
    """The largest share with ``share * many <= delta`` whatever the size and the public numbers are.

    Args:
        delta: the delta.
        many: how many have a share.
        least: the least value of every name, or None where the size is fixed to it by being the only one.

    >>> from privproof.exact.affine import read_affine
    >>> delta_for_each(read_affine("(size+1)/100", ["size"]), read_affine("size+1", ["size"]), {"size": rational(0)})
    1/100
    """
    shares = []
    names = {name for name, _ in (*delta.terms, *many.terms)}
    if any(least.get(name) is None for name in names):
        return None
    start = {name: least[name] for name in names}
    if (first := many.at(start)) > 0:
        shares.append(delta.at(start) / first)
    elif delta.at(start) < 0:
        return None
    slopes, grow = dict(delta.terms), dict(many.terms)
    for name in names:
        more = grow.get(name, rational(0))
        if more > 0:
            shares.append(slopes.get(name, rational(0)) / more)
        elif slopes.get(name, rational(0)) < more:
            return None
    return min(shares, default=None)


def delta_of(squares: Fraction, others: Fraction, epsilon: Epsilon) -> Fraction:
    """The delta of shifts that come to so much, where other noise costs so much of epsilon; rounded up."""
    with precision(_BITS):
        _, high = rational_bounds(given_away(squares, epsilon.ball(_BITS) - arb(rational(others))))
    return Fraction(ceil(fraction(high) * _GRID), _GRID)


def allowances(epsilon: Epsilon, delta: Rational, *, alone: bool) -> Iterator[Allowance]:
    """How epsilon may be shared out between the two kinds of noise: first all of it to each, then in parts."""
    low = fraction(rational_bounds(epsilon.ball(_BITS))[0])
    yield Allowance(low, _most(low, delta))
    for share in () if alone else _SHARES:
        yield Allowance(low * (1 - share), _most(low * share, delta))


def _most(left: Fraction, delta: Rational) -> Fraction:
    """About the largest square that gives away no more than delta, and a little more: what costs exactly as much is not excluded."""
    below, above = Fraction(0), Fraction(1)
    with precision(_BITS):
        free = arb(rational(left))
        while given_away(above, free) <= arb(delta) and above < 2**_STEPS:
            above *= 2
        for _ in range(_STEPS):
            middle = (below + above) / 2
            if given_away(middle, free) <= arb(delta):
                below = middle
            else:
                above = middle
    return below * (1 + _SLACK)
