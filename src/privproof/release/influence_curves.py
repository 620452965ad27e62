"""Bounds on influence that need no table of powers: one curve for each side of a quilt, the same for every entry.

* **contraction** (Birkhoff): with the projective diameter Delta of the transition matrices, ``max log
  P(x,z)P(x',z')/(P(x,z')P(x',z))``, and ``tau = tanh(Delta/4)``, what a node at distance n tells is at most ``Delta tau^(n-1)``.
  It holds for every start, for chains that change from step to step, and for whole bands of chains.
* **spectral** (MQMApprox of Song, Wang and Chaudhuri 2017): with the least stationary probability pi and the gap g of the
  multiplicative reversibilisation, ``delta(n) = log (pi + e^(-g n/2)) / (pi - e^(-g n/2))`` bounds the right side and ``2
  delta(n)`` the left one.
* **spectral-tight**: the same with ``s^n`` in the place of ``e^(-g n/2)``, where s is the second singular value, and without the
  factor two where the start is stationary.

Each returns the best distances (a, b) for all entries; the numbers are rounded outward.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from math import ceil, inf, nextafter, tanh

import numpy as np
from flint import arb, arb_mat

from privproof.exact import Rational
from privproof.exact.balls import precision, rational_bounds
from privproof.exact.rounding import shorten
from privproof.release.markov_chains import Band, Chain
from privproof.release.markov_quilts import Allowing, Block, FoundQuilt, Objective, QuiltCell, Quilts, Score
from privproof.release.transition_powers import UNIT, Powers

_FIRST = 64
"""Distances that are looked at first; twice as many, until no longer quilt can be better."""
_CONSECUTIVE = 1024
"""Distances up to which all are looked at, and entries up to which each gets its own quilt."""
_GROWTH = 0.005
"""Beyond it every next distance is longer by this share: curves are smooth there, and any distance gives a valid quilt."""
_SQUARINGS = 24
"""Squarings of the matrix: the bound on its norm is then off by a factor of the size to the power 2^-25."""
_BITS = 160
"""Precision of the balls in which that is done; they are rounded outward at the end."""
_WIDER = 1 + 1e-12
"""Bounds computed in floats are widened by this: far more than the few roundings behind them."""
_SMALLEST = 1e-300
"""Stands for zero under a logarithm; the result is not used there."""


@dataclass(frozen=True)
class Curves:
    """What a quilt node tells at most, as functions of its distance, falling to zero."""

    left: Callable[[np.ndarray], np.ndarray]
    right: Callable[[np.ndarray], np.ndarray]


def contraction(prior: Chain | Band) -> Curves:
    """The curves of the Birkhoff bound."""
    diameter = projective_diameter(prior)
    tau = nextafter(tanh(diameter / 4), 2.0) * (1 + 8 * UNIT) if diameter < inf else 1.0

    def told(distances: np.ndarray) -> np.ndarray:
        return diameter * np.power(tau, distances - 1.0) * _WIDER

    return Curves(told, told)


def projective_diameter(prior: Chain | Band) -> float:
    """``max log P(x,z)P(x',z')/(P(x,z')P(x',z))``, rounded up; infinite where a probability may be zero and another not."""
    if isinstance(prior, Chain):
        powers = Powers(prior)
        size = powers.size
        table = powers.forth_at(1).reshape(size, size)
        return max(0.0, float((table + table.T)[~np.eye(size, dtype=bool)].max()))
    low = np.array([[float(p) for p in row] for row in prior.low])
    high = np.array([[float(p) for p in row] for row in prior.high])
    possible = np.array([[p != 0 for p in row] for row in prior.high])
    with np.errstate(divide="ignore"):
        ratios = np.log(np.maximum(high, _SMALLEST))[:, None, :] - np.log(low)[None, :, :]
    ratios = np.where(possible[:, None, :], ratios, -inf)
    table = ratios.max(axis=2)
    result = float((table + table.T)[~np.eye(len(low), dtype=bool)].max())
    return max(0.0, result) * _WIDER + 1e-14


@dataclass(frozen=True)
class Spectrum:
    """What the spectral bounds need of a chain.

    Attributes:
        least: the least stationary probability, rounded down.
        second: the second singular value of the chain in the norm of its stationary distribution, rounded up.
        reversible: whether the chain looks the same backwards; then `second` is the modulus of its second eigenvalue.
    """

    least: float
    second: float
    reversible: bool

    @property
    def gap(self) -> float:
        """The gap g of the published bound: ``2 (1 - |lambda|)`` for reversible chains, ``1 - lambda(P P*)`` for others."""
        return 2 * (1 - self.second) if self.reversible else 1 - self.second**2


def spectrum(chain: Chain) -> Spectrum | None:
    """The spectrum of a chain; None if a state has stationary probability zero.

    The singular value is bounded by the norm of a high power: ``|N|_2 <= |(N^T N)^(2^j)|_F^(1/2^(j+1))``, in ball arithmetic.
    """
    law = chain.stationary
    if min(law) == 0:
        return None
    size = len(law)
    reversible = all(law[x] * chain.rows[x][y] == law[y] * chain.rows[y][x] for x in range(size) for y in range(x))
    with precision(_BITS):
        root = [arb(p).sqrt() for p in law]
        entries = [
            root[x] * arb(chain.rows[x][y]) / root[y] - root[x] * root[y] for x in range(size) for y in range(size)
        ]
        centred = arb_mat(size, size, entries)
        power = centred.transpose() * centred
        if _squares(power).upper() < arb(2) ** -180:
            return Spectrum(_under(law), 2.0**-45, reversible)
        logarithm = arb(0)
        for _ in range(_SQUARINGS):
            norm = _frobenius(power)
            power = power * (1 / norm)
            logarithm = 2 * (logarithm + norm.log())
            power = power * power
        logarithm += _frobenius(power).log()
        second = (logarithm / (2 * 2**_SQUARINGS)).exp()
        _, high = rational_bounds(second)
    return Spectrum(_under(law), nextafter(float(high), 2.0), reversible)


def _under(law: tuple[Rational, ...]) -> float:
    least = min(law)
    return nextafter(float(least), 0.0)


def _squares(matrix: arb_mat) -> arb:
    return sum((entry * entry for entry in matrix.entries()), arb(0))


def _frobenius(matrix: arb_mat) -> arb:
    return _squares(matrix).sqrt()


def spectral(least: float, gap: float) -> Curves:
    """The published curves, from the least stationary probability and the gap."""

    def told(distances: np.ndarray) -> np.ndarray:
        return _delta(np.exp(-gap * distances / 2) / least)

    return Curves(lambda distances: 2 * told(distances), told)


def spectral_tight(found: Spectrum, *, stationary: bool) -> Curves:
    """The curves with the second singular value itself."""

    def told(distances: np.ndarray) -> np.ndarray:
        return _delta(np.power(found.second, distances) / found.least)

    return Curves(told if stationary else lambda distances: 2 * told(distances), told)


def _delta(share: np.ndarray) -> np.ndarray:
    share = share * _WIDER
    with np.errstate(invalid="ignore", divide="ignore"):
        result: np.ndarray = np.where(share < 1, np.log1p(share) - np.log1p(-share), inf) * _WIDER
    return result


def best_distances(curves: Curves, length: int, budget: float | Allowing, *, by_entry: bool = True) -> Quilts:
    """The quilts with the best distances by the curves, for every entry of a series.

    Args:
        curves: bounds on the influence.
        length: the length of the series.
        budget: the budget, rounded down; or what quilts are compared by.
        by_entry: where the series is short, look for quilts on one side as well, entry by entry.
    """
    score = Score(budget) if isinstance(budget, float) else budget

    def found(left: int | None, right: int | None, told: float, size: int) -> FoundQuilt:
        influence = told * (1 + 4 * UNIT)
        return FoundQuilt(QuiltCell(left, right, influence), size, float(score.of(size, influence)))

    best, width, middle = found(None, None, 0.0, length), _FIRST, (length + 1) // 2
    while length > 1:
        distances = _grid(min(width, length - 1))
        told = curves.left(distances)[:, None] + curves.right(distances)[None, :]
        sizes = distances[:, None] + distances[None, :] - 1
        scores = score.of(sizes, told)
        a, b = divmod(int(np.argmin(scores)), len(distances))
        if scores[a, b] < best.score:
            best = found(int(distances[a]), int(distances[b]), float(told[a, b]), int(sizes[a, b]))
        if width >= min(length - 1, ceil(score.largest(best.score))):
            break
        width *= 2
    if not by_entry or length > 2 * min(ceil(score.largest(best.score)), _CONSECUTIVE):
        blocks = [best.serving(1, length)]
    else:
        blocks = [
            _at_entry(best, node, curves, length, score, found).serving(node, node) for node in range(1, length + 1)
        ]
    worst: Block = max(blocks, key=lambda block: (block.score, -abs(block.first - middle)))
    rate = min(score.rate(block.size, block.cell.influence) for block in blocks)
    return Quilts(length, tuple(blocks), middle if len(blocks) == 1 else worst.first, worst, shorten(rate, up=False))


def least_loss(curves: Curves, length: int, rate: Fraction) -> Fraction:
    """What a series loses at most by the curves where every entry costs so much: the least influence + size * rate, rounded up."""
    best = length * rate
    if length > 1:
        distances = _grid(min(length - 1, max(1, ceil(best / rate))))
        told = curves.left(distances)[:, None] + curves.right(distances)[None, :]
        sizes = distances[:, None] + distances[None, :] - 1
        a, b = divmod(int(np.argmin(told + sizes * float(rate))), len(distances))
        if np.isfinite(told[a, b]):
            best = min(best, Fraction(float(told[a, b]) * (1 + 4 * UNIT)) + int(sizes[a, b]) * rate)
    return best


def _at_entry(
    best: FoundQuilt, node: int, curves: Curves, length: int, score: Objective, found: Callable[..., FoundQuilt]
) -> FoundQuilt:
    """The best choice for one entry of a short series: quilts on one side may be better."""
    distances = np.arange(1, length)
    if not len(distances):
        return best
    options = [best]
    for told, beyond, left in (
        (curves.right(distances), node, False),
        (curves.left(distances), length - node + 1, True),
    ):
        sizes = beyond + distances - 1
        at = int(np.argmin(score.of(sizes, told)))
        sides = (int(distances[at]), None) if left else (None, int(distances[at]))
        options.append(found(*sides, float(told[at]), int(sizes[at])))
    return min(options, key=lambda option: option.score)


def _grid(width: int) -> np.ndarray:
    """The distances 1, 2, ... and, beyond a thousand, every half percent."""
    listed = list(range(1, min(width, _CONSECUTIVE) + 1))
    while listed[-1] < width:
        listed.append(min(width, listed[-1] + max(1, int(listed[-1] * _GROWTH))))
    return np.array(listed)


def ghosh_kleinberg(chains: tuple[Chain, ...], length: int, epsilon: float) -> Fraction | None:
    """What an entry may cost by Ghosh and Kleinberg (2016), a baseline; None where neighbours influence each other too much.

    With ``gamma = 1/2 max |log Pr(x | l, r)/Pr(x | l', r)|`` over values of the neighbours and Gamma the tridiagonal matrix with
    gamma beside the diagonal, an entry may cost ``epsilon / (2 max_i sum_j (I - Gamma)^-1_ij)``.
    """
    from scipy.linalg import solveh_banded  # here, because only this baseline needs it

    gamma = max(_neighbour_influence(chain) for chain in chains) / 2
    started = [projective_diameter(chain) for chain in chains if chain.start != "stationary"]
    gamma = max([gamma, *(diameter / 2 for diameter in started)])  # the second entry on the first, whatever its law
    if not gamma * 2 * np.cos(np.pi / (length + 1)) < 1 - 1e-9:
        return None
    bands = np.zeros((2, length))
    bands[0, 1:] = -gamma
    bands[1] = 1.0
    sums = solveh_banded(bands, np.ones(length)) if length > 1 else np.ones(1)
    around = np.zeros(length)
    around[1:] += sums[:-1]
    around[:-1] += sums[1:]
    least = float((sums - gamma * around).min()) - 1e-12
    assert sums.min() > 0
    assert least > 0
    return shorten(Fraction(epsilon) * Fraction(least) / (2 * Fraction(float(sums.max()))), up=False)


def _neighbour_influence(chain: Chain) -> float:
    """``max |log Pr(x | l, r)/Pr(x | l', r)|``, and the same over values of the right neighbour."""
    matrix = chain.matrix
    if (matrix == 0).any():
        return inf
    logs = np.log(matrix)
    two = np.log(matrix @ matrix)
    largest = 0.0
    for r in range(len(matrix)):
        given = logs + logs[:, r][None, :] - two[:, r][:, None]
        largest = max(largest, float((given.max(axis=0) - given.min(axis=0)).max()))
        given = logs[r][None, :] + logs.T - two[r][:, None]
        largest = max(largest, float((given.max(axis=0) - given.min(axis=0)).max()))
    return largest * _WIDER + 1e-12
