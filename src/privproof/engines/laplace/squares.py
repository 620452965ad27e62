"""Gaussian noise in proofs by alignment: what its shifts come to in squares, and what delta they give away.

Shifts of Gaussian noise that are settled when it is drawn, with ``sum s^2/variance <= m`` on every path, give away ``H_mu(e)`` with
``mu^2 = m`` where all other noise costs at most ``epsilon - e``: the delta of two normal laws that are mu standard deviations apart.

This is no bound for discrete Gaussian noise, whose shifts are integers.  Of that, three things are known:

* all Gaussian noise together has ``D_a <= a m/2`` for every order a, so it gives away at most what m/2-zCDP does;
* shifts by 1 of noise of one variance v, at most ``m v`` of them: as much as so many counts (`discrete_normal`);
* each draw is come to at most once and shifted by at most r: as much as integers that move by all these r at once, because the best event
  is a halfspace, whose probability rises with every move.  This holds for shifts that depend on what came before, from the last to the
  first.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

from flint import arb

from privproof.engines.integrals.discrete_normal import lattice
from privproof.errors import LanguageError
from privproof.exact import ONE, ZERO, Epsilon, Rational, fraction, rational
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
_TRIED = 5_000
"""Sizes at which squares that grow are compared with a delta that grows before the checker is asked; delta is 1 long before."""
_FINE = 50
"""Sizes beyond this are tried in steps of this part of them: both sides are smooth there."""
_STEPS = 60
"""Bisections for the largest mu: it is only looked for, what it gives away is decided by balls."""
_MOST_COUNTS = 2_000
"""So many shifts by 1 are counted one by one; more are bounded by zCDP, which is then hardly worse."""


@dataclass(frozen=True)
class Allowance:
    """How much the two kinds of noise may cost in a search: others in epsilon, Gaussian noise in squares.

    Attributes:
        others: what other noise may cost.
        left: what it leaves of epsilon.
        delta: what may be given away.
        variances: those of discrete Gaussian noise.
    """

    others: Fraction
    left: Fraction
    delta: Affine
    variances: frozenset[Fraction]

    def squares(self, values: Mapping[str, int]) -> Fraction:
        """What Gaussian noise may come to at a size and public numbers."""
        given = min(self.delta.at({name: values[name] for name, _ in self.delta.terms}), ONE)
        return _most(self.left, max(given, ZERO), self.variances)


@dataclass(frozen=True)
class Steps:
    """The discrete Gaussian noise of a proof.

    Attributes:
        sites: for every draw that is shifted its variance, and by how much at most.
        once: whether no run comes to one of them twice.
        alone: whether there is no continuous Gaussian noise besides.
    """

    sites: tuple[tuple[Fraction, int], ...]
    once: bool
    alone: bool


def given_away(squares: Fraction, left: arb, steps: Steps | None) -> arb:
    """The delta of shifts that come to so much, where so much of epsilon is left.

    Args:
        squares: the sum of the squares of the shifts, each over its variance.
        left: what is left of epsilon.
        steps: the discrete Gaussian noise, if there is some.
    """
    if squares == 0:
        return arb(0)
    if steps is None:
        return normal_excess(arb(rational(squares)).sqrt(), left)
    best = _converted(squares / 2, left)
    for moves in _as_counts(squares, steps), _all_at_once(steps):
        if moves is None:
            continue
        made = lattice([(rational(variance), by) for variance, by in moves])
        try:
            found = arb(0) if made is None else made.excess(left.exp())
        except LanguageError:  # too wide to be followed: one bound less
            continue
        best = found if found.upper() < best.upper() else best
    return best


def _as_counts(squares: Fraction, steps: Steps) -> list[tuple[Fraction, int]] | None:
    """The counts that shifts by 1 are like; None where they are not."""
    variances = {variance for variance, _ in steps.sites}
    if not steps.alone or len(variances) > 1 or any(by > 1 for _, by in steps.sites):
        return None
    [variance] = variances or {Fraction(1)}
    count = math.floor(squares * variance)
    return [(variance, 1)] * count if count <= _MOST_COUNTS else None


def _all_at_once(steps: Steps) -> list[tuple[Fraction, int]] | None:
    """The moves that draws which are come to once are like; None where they are not."""
    return list(steps.sites) if steps.alone and steps.once else None


def _converted(rho: Fraction, left: arb) -> arb:
    """What zCDP gives away (Canonne, Kamath and Steinke 2020, corollary 13), at the best order that is found; any order is true."""
    size, e = float(rho), float(left)

    def exponent(more: float) -> float:
        return more * ((1 + more) * size - e) - math.log(more) + (1 + more) * math.log(more / (1 + more))

    low, high = -20.0, 20.0  # of the logarithm of the order less 1
    for _ in range(_STEPS):
        third = (high - low) / 3
        if exponent(math.exp(low + third)) < exponent(math.exp(high - third)):
            high -= third
        else:
            low += third
    more = arb(math.exp(low))
    order = 1 + more
    found = (more * (order * arb(rational(rho)) - left)).exp() / more * (more / order) ** order
    return found.min(arb(1))


def enough_at_all_sizes(
    squares: Affine,
    others: Fraction,
    epsilon: Epsilon,
    delta: Affine,
    steps: Steps | None,
    least: Mapping[str, Rational | None],
) -> bool:
    """Whether costs that may grow with one number are within an epsilon and a delta wherever it was tried: the checker decides.

    Args:
        squares: what Gaussian noise comes to.
        others: what other noise costs.
        epsilon: what is claimed.
        delta: what is claimed.
        steps: the discrete Gaussian noise, if there is some.
        least: the least value of every name.
    """
    names = {name for name, _ in (*squares.terms, *delta.terms)}
    if not squares.terms or len(names) > 1 or any(least.get(name) is None for name in names):
        top = not delta.terms and delta.constant >= 1
        return (top or not squares.terms) and enough(
            fraction(squares.constant) if not squares.terms else Fraction(0),
            others,
            epsilon,
            min(delta.constant, ONE),
            steps,
        )
    [name] = names
    start = least[name]
    assert start is not None
    here = int(start.ceil())
    for _ in range(_TRIED):
        claimed = delta.at({name: here})
        if claimed >= 1:
            return True
        if not enough(fraction(squares.at({name: here})), others, epsilon, claimed, steps):
            return False
        here += 1 + here // _FINE
    return False


def enough(squares: Fraction, others: Fraction, epsilon: Epsilon, delta: Rational, steps: Steps | None) -> bool:
    """Whether costs are within an epsilon and a delta."""
    with precision(_BITS):
        left = epsilon.ball(_BITS) - arb(rational(others))
        return bool(left >= 0) and bool(given_away(squares, left, steps) <= arb(delta))


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


def delta_of(squares: Fraction, others: Fraction, epsilon: Epsilon, steps: Steps | None) -> Fraction:
    """The delta of shifts that come to so much, where other noise costs so much of epsilon; rounded up."""
    with precision(_BITS):
        _, high = rational_bounds(given_away(squares, epsilon.ball(_BITS) - arb(rational(others)), steps))
    return Fraction(math.ceil(fraction(high) * _GRID), _GRID)


def allowances(epsilon: Epsilon, delta: Affine, *, alone: bool, variances: frozenset[Fraction]) -> Iterator[Allowance]:
    """How epsilon may be shared out between the two kinds of noise: first all of it to each, then in parts.

    Args:
        epsilon: what is claimed.
        delta: what is claimed.
        alone: whether there is Gaussian noise alone.
        variances: those of discrete Gaussian noise.
    """
    low = fraction(rational_bounds(epsilon.ball(_BITS))[0])
    yield Allowance(low, low, delta, variances)
    for share in () if alone else _SHARES:
        yield Allowance(low * (1 - share), low * share, delta, variances)


@lru_cache(maxsize=64)
def _most(left: Fraction, delta: Rational, variances: frozenset[Fraction]) -> Fraction:
    """About the largest square that gives away no more than delta, and a little more: what costs exactly as much is not excluded.

    Discrete noise gives away a little more or less than normal noise; one step of the narrowest is added, as costs go in steps.
    """
    below, above = Fraction(0), Fraction(1)
    with precision(_BITS):
        free = arb(rational(left))
        while given_away(above, free, None) <= arb(delta) and above < 2**_STEPS:
            above *= 2
        for _ in range(_STEPS):
            middle = (below + above) / 2
            if given_away(middle, free, None) <= arb(delta):
                below = middle
            else:
                above = middle
    more = 1 / min(variances) if variances else Fraction(0)
    return below * (1 + _SLACK) + more
