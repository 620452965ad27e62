"""Rényi divergences of releases, in floats that search: of randomised response, of moved noise, of coupled laws, of the laws themselves.

The theorems are those of the checker (`privproof_checker.release.release_divergences`, `noisy_laws` and `measured`), which decides: a quilt
with influence I and n entries between allows ``R(I) + N(n)``, R the divergence of randomised response and N that of noise moved as far as n
entries take the answer; a coupling of the laws of a sum bounds the moments by their mean; and on the grid of the noise the divergence of an
order is a sum.  For rho a ladder of orders is climbed, each reached from the one before.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import pairwise, permutations
from math import ceil, exp, expm1, inf, log, log1p, sqrt, tanh
from typing import Literal, TypeAlias

import numpy as np

from privproof.exact import Rational
from privproof.release.release_question import Gaussian, Geometric, Laplace, Noise
from privproof.release.series_queries import Query
from privproof.release.sum_couplings import Moves
from privproof.release.sum_laws import SumLaws

Kind: TypeAlias = Literal["geometric", "laplace", "gaussian"]
_HALVINGS = 80
"""Bisections for the inverse of a divergence: more than floats have digits."""
_SERIES = 24
"""Terms of a series of which the last is below a float's digits."""
_GRID = 600
"""Influences between which the reach is interpolated where quilts are compared; the chosen ones are computed."""
_SAFELY = 1 - 1e-9
"""A reach is taken to be smaller by this share, more than floats err."""
SURELY = 1 + 1e-9
"""A divergence is taken to be larger by this share, more than floats err; the checker decides."""
_SMALL = 60.0
"""Gaussian tails are cut where they are below e^-60, as in the checker."""
_AT_ONCE = 3_000_000
"""Numbers in one array of the laws with noise."""
MOST_TERMS = 16_000_000
"""Terms of all moments of one proof by laws: the checker adds up some sixteen millions in as many seconds."""
RUNGS = 64
"""Orders of a ladder: beside the last one their distances cost a few percent of rho, and each takes the checker a moment."""
LAST_ORDER = 400.0
"""Ladders end at this order at the latest: terms of larger ones leave the range in which laws are enclosed in good time."""
_LEAST_REST = 0.05
"""Where Gaussian noise moved by one entry makes nearly all of a divergence, orders go on until others make less than this share."""
_FIRST = 2.0
"""The order at which a ladder is measured; the least at which one ends."""
_BEYOND = 1.1
"""The last order is larger by this than what the divergence of order 2 asks for."""
_PIECES = 8
"""Pieces of a step for Laplace noise, as in the checker."""
_MOST_POINTS = 60_000
"""Points of the grid at which laws with noise are computed, as in the checker; noise that needs more is too wide."""
_UNREACHED = 1e-280
"""Masses below this are taken for impossible: floats have lost them."""


def response(order: float | None, loss: float) -> float:
    """The divergence of randomised response; of all orders (None), divided by the order, the largest.

    >>> f"{response(None, 2.0):.4f} {response(2.0, 1.0):.5f}"
    '1.5232 0.73533'
    """
    if order is None or order == 1:
        return loss * tanh(loss / 2)
    more = order - 1
    if order * loss < 1:  # where logarithms nearly cancel
        return log1p(-expm1(-more * loss) * expm1(order * loss) / (1 + exp(loss))) / more
    return loss + (log1p(exp(-loss * (1 + 2 * more))) - log1p(exp(-loss))) / more


def moved_divergence(kind: Kind, order: float | None, loss: float, *, single: bool = True) -> float:
    """The divergence of noise moved so that it loses so much at most; with Gaussian noise, moved by so many deviations."""
    if kind == "gaussian":
        return (1.0 if order is None else order) * loss * loss / 2
    if kind == "geometric" or order is None or not single:
        return response(order, loss)
    if order == 1:
        return _exponential_remainder(-loss)
    more = order - 1
    if order * loss < 1:
        return (
            log1p(
                (order * _exponential_remainder(more * loss) + more * _exponential_remainder(-order * loss))
                / (order + more)
            )
            / more
        )
    return (more * loss + log(order / (2 * order - 1)) + log1p(more / order * exp(-loss * (2 * order - 1)))) / more


def _exponential_remainder(x: float) -> float:
    """``e^x - 1 - x``, with all its digits."""
    if abs(x) > 1:
        return expm1(x) - x
    term, total = x * x / 2, 0.0
    for power in range(3, _SERIES):
        total += term
        term *= x / power
    return total


@dataclass(frozen=True)
class DivergenceReach:
    """How much noise a quilt needs for a claim about divergences: ``size / reach(influence)`` for what one entry moves.

    Attributes:
        order: the order; None for rho.
        value: what is claimed, rounded down.
        kind: the noise.
        single: whether one number is released.
        before: an influence that comes before all others.
    """

    order: float | None
    value: float
    kind: Kind
    single: bool = True
    before: float = 0.0

    def reach(self, told: float) -> float:
        """How far, in deviations or in loss, the entries between may move the answer beside an influence."""
        rest = self.value - response(self.order, told + self.before)
        if rest <= 0:
            return 0.0
        if self.kind == "gaussian":
            return sqrt(2 * rest / (1.0 if self.order is None else self.order)) * _SAFELY
        return _inverse(lambda loss: moved_divergence(self.kind, self.order, loss, single=self.single), rest) * _SAFELY

    @cached_property
    def most(self) -> float:
        """The largest influence that leaves something."""
        return max(0.0, _inverse(lambda loss: response(self.order, loss), self.value) - self.before)

    @cached_property
    def _table(self) -> tuple[np.ndarray, np.ndarray]:
        told = self.most * np.linspace(0.0, 1.0, _GRID + 1)
        return told, np.array([self.reach(float(each)) for each in told])

    def of(self, sizes: np.ndarray | int, told: np.ndarray | float) -> np.ndarray:
        """The scores of quilts, by their sizes and influences."""
        known, reaches = self._table
        with np.errstate(divide="ignore", invalid="ignore"):
            moved = np.interp(np.minimum(np.asarray(told), self.most), known, reaches)
            moved = np.where(np.asarray(told) < self.most, moved, 0.0)
            return np.where(moved > 0, sizes / np.where(moved > 0, moved, 1.0), inf)

    def largest(self, score: float) -> float:
        """The size that a better quilt stays below."""
        return self.reach(0.0) * score if score < inf else inf

    def rate(self, size: int, influence: float) -> Fraction:
        """How far one entry may move the answer."""
        return Fraction(self.reach(influence)) / size


def _inverse(rising: Callable[[float], float], value: float) -> float:
    """The largest number at which a rising function is at most a value."""
    low, high = 0.0, 1.0
    while rising(high) <= value and high < 1e12:
        low, high = high, 2 * high
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        low, high = (middle, high) if rising(middle) <= value else (low, middle)
    return low


def coupled_divergence(
    moves: Sequence[Moves], furthest: int, noise: Noise, step: Rational, order: float | None
) -> float:
    """The largest bound on a divergence that coupled laws show; for rho, divided by the order.

    Args:
        moves: how far mass is moved.
        furthest: the most steps that any mass is moved, which floats do not tell.
        noise: the noise.
        step: that of the query.
        order: the order, or None for rho.
    """
    if order is None:
        return noise_divergence(noise, None, furthest * float(step))
    most = max(len(each.chances) for each in moves)
    costs = np.array([noise_divergence(noise, order, d * float(step)) for d in range(most)])
    if order == 1:
        return max(float(each.chances @ costs[: len(each.chances)]) for each in moves)
    found = []
    for each in moves:
        with np.errstate(divide="ignore"):
            logs = np.log(each.chances) + (order - 1) * costs[: len(each.chances)]
        found.append(_log_sum(logs) / (order - 1))
    return max(found)


def noise_divergence(noise: Noise, order: float | None, distance: float) -> float:
    """The divergence of noise moved by a distance, as the checker has it."""
    if isinstance(noise, Gaussian):
        return moved_divergence("gaussian", order, distance / sqrt(float(noise.variance)))
    if isinstance(noise, Laplace):
        return moved_divergence("laplace", order, distance / float(noise.scale))
    loss = distance * float(noise.rate())
    if order is None:
        return response(None, loss)
    fall, steps = float(noise.rate()) * float(noise.step), ceil(distance / float(noise.step) - 1e-9)
    alpha = exp(-fall)
    if order == 1:
        return fall * (steps + 2 * alpha * expm1(-fall * steps) / -expm1(-2 * fall))
    more, less = fall * (order - 1), -fall * order
    shares = [expm1(2 * less) / (1 + alpha), alpha * expm1(-2 * more) / (1 + alpha)]
    one, other = (share / expm1(less - more) for share in shares)  # their sum is 1
    if more * steps < 1:
        return log1p(one * expm1(more * steps) + other * expm1(less * steps)) / (order - 1)
    return (more * steps + log(one + other * exp((less - more) * steps))) / (order - 1)


def _log_sum(logs: np.ndarray) -> float:
    most = float(np.max(logs))
    return most + log(float(np.exp(logs - most).sum()))


@dataclass(frozen=True, eq=False)
class NoisyLaws:
    """The laws of what is released given the values of one entry, as logarithms on the grid of the noise.

    Attributes:
        laws: the laws of the sum.
        logs: for every value the logarithms, point by point.
        beyond: how much further terms add, on both sides: the ratio of a tail to its last term; 0 where points go far enough.
        told: for every ordered pair the largest logarithm of a ratio of the laws of what all other entries add.
        moved: for every ordered pair the difference of what both values weigh.
    """

    laws: SumLaws
    logs: np.ndarray
    beyond: float
    told: dict[tuple[int, int], float]
    moved: dict[tuple[int, int], float]

    @property
    def pairs(self) -> list[tuple[int, int]]:
        """The ordered pairs of values."""
        return list(permutations(range(len(self.laws.values)), 2))

    def divergences(self, order: float) -> dict[tuple[int, int], float]:
        """The divergence of an order for every ordered pair."""
        found = {}
        for x, y in self.pairs:
            p, q = self.logs[x], self.logs[y]
            if order == 1:
                terms = np.exp(p) * (p - q)
                found[x, y] = float(terms.sum()) + self.beyond * float(terms[[0, -1]].sum())
                continue
            terms = order * p + (1 - order) * q
            most = float(terms.max())
            total = float(np.exp(terms - most).sum()) + self.beyond * float(np.exp(terms[[0, -1]] - most).sum())
            found[x, y] = (most + log(total)) / (order - 1)
        return found


@dataclass(frozen=True)
class _Grid:
    """The logarithms of the laws of a sum, and the points of the grid of the noise at which they are looked at with it.

    Attributes:
        known: the logarithms, one row for every value.
        finer: how many steps of the grid one step of the query has.
        width: from the least to the greatest sum, in steps of the grid.
        reach: how many points lie beyond, on each side.
        alpha: what the noise falls by from point to point; 0 for Gaussian noise.
        variance: that of Gaussian noise, in steps of the grid.
        pieces: whether the points stand for pieces of the line, with Laplace noise.
    """

    known: np.ndarray
    finer: int
    width: int
    reach: int
    alpha: float
    variance: float
    pieces: bool

    @property
    def fits(self) -> bool:
        """Whether the checker would look at so many points, or pieces, and floats hold what the noise falls by."""
        if not self.variance and not 0 < self.alpha < 1:
            return False
        if self.pieces:
            return bool(self.width * self.known.shape[1] <= _MOST_POINTS * _PIECES)
        return bool(2 * self.reach + 3 * self.width <= _MOST_POINTS)


def _grid(laws: SumLaws, query: Query, noise: Noise, order: float) -> _Grid:
    """Where laws are looked at with noise; Laplace noise is taken for geometric noise on a grid that is finer by some pieces."""
    step = float(query.step)
    if isinstance(noise, Laplace):
        grid, alpha = step / _PIECES, exp(-step / _PIECES / float(noise.scale))
    else:
        grid, alpha = float(noise.step), float(noise.alpha) if isinstance(noise, Geometric) else 0.0
    finer, known = round(step / grid), _logarithms(laws)
    width = (known.shape[1] - 1) * finer
    variance = float(noise.variance) / grid**2 if isinstance(noise, Gaussian) else 0.0
    reach = 0 if variance == 0 else _reach(known, finer, variance, order)
    return _Grid(known, finer, width, reach, alpha, variance, isinstance(noise, Laplace))


def _logarithms(laws: SumLaws) -> np.ndarray:
    """The logarithms of the laws, one row for every value."""
    masses = np.where(laws.masses > _UNREACHED, laws.masses, 0.0)
    with np.errstate(divide="ignore"):
        found: np.ndarray = np.log(masses)
    return found


def fits(laws: SumLaws, query: Query, noise: Noise, order: float) -> bool:
    """Whether the laws with noise are computed: there are not too many points, for this order."""
    return _grid(laws, query, noise, order).fits


def noisy_laws(laws: SumLaws, query: Query, noise: Noise, order: float) -> NoisyLaws:
    """What is released given the values of an entry, far enough out for all orders up to one."""
    grid = _grid(laws, query, noise, order)
    known, reach, width, variance, alpha = grid.known, grid.reach, grid.width, grid.variance, grid.alpha
    points = np.arange(-reach, width + reach + 1)
    places = np.arange(known.shape[1]) * grid.finer
    logs = np.empty((len(known), len(points)))
    some = max(1, _AT_ONCE // (len(places) * len(known)))
    for first in range(0, len(points), some):
        away = points[first : first + some, None] - places[None, :]
        weights = -(away.astype(float) ** 2) / (2 * variance) if variance else np.abs(away) * log(alpha)
        terms = known[:, None, :] + weights[None, :, :]
        most = terms.max(axis=2)
        logs[:, first : first + some] = most + np.log(np.exp(terms - most[:, :, None]).sum(axis=2))
    if variance:
        around = np.arange(-reach - width, reach + width + 1, dtype=float)
        logs -= log(float(np.exp(-(around**2) / (2 * variance)).sum()))
    else:
        logs += log((1 - alpha) / (1 + alpha))
    told, moved = told_by_others(laws, query)
    return NoisyLaws(laws, logs, alpha / (1 - alpha) if not variance else 0.0, told, moved)


_ByPair: TypeAlias = "dict[tuple[int, int], float]"


def told_by_others(laws: SumLaws, query: Query) -> tuple[_ByPair, _ByPair]:
    """For every ordered pair of values what all other entries tell, at most, and by how much the values weigh differently."""
    told, moved, known = {}, {}, _logarithms(laws)
    for x, y in permutations(range(len(laws.values)), 2):
        weighs = query.weight(laws.values[x]) - query.weight(laws.values[y])
        shift = int((weighs / query.step).p)
        told[x, y], moved[x, y] = _largest_log_ratio(known[x], known[y], shift), float(weighs)
    return told, moved


def _reach(known: np.ndarray, finer: int, variance: float, order: float) -> int:
    """How far beyond all sums the points go, as in the checker."""
    ends = [np.flatnonzero(np.isfinite(row))[[0, -1]] for row in known]
    rarest = max(float(-row[end]) for row, both in zip(known, ends, strict=True) for end in both)
    apart = finer * max(int(np.ptp([both[side] for both in ends])) for side in (0, 1))
    more = order - 1
    return int(sqrt(2 * variance * (more * rarest + _SMALL) + order * more * apart**2) + order * apart) + 2


def _largest_log_ratio(one: np.ndarray, other: np.ndarray, shift: int) -> float:
    """The largest logarithm of a ratio of the laws of what all other entries add; infinite where one side has what the other has not."""
    places = np.flatnonzero(np.isfinite(one))
    there = places - shift
    inside = (there >= 0) & (there < len(other))
    if not inside.all() or not np.isfinite(other[there]).all():
        return inf
    return max(0.0, float((one[places] - other[there]).max()))


@dataclass(frozen=True)
class Ladder:
    """Orders by which rho is shown, and what they show.

    Attributes:
        orders: the orders, from the first above 1 on.
        upper: the rho that they show, a little above what floats find.
        lower: the largest divergence divided by its order.
        terms: how many terms all moments have.
        order: the order at which that is.
        laws: the entry.
        left: a value of it.
        right: the other value.
    """

    orders: tuple[float, ...]
    upper: float
    lower: float
    terms: int
    order: float
    laws: SumLaws
    left: str
    right: str


def ladder(found: Sequence[SumLaws], query: Query, noise: Noise) -> Ladder | None:
    """The ladder of all entries; its `upper` is infinite where what all other entries tell has no bound, or is too much.

    None where the noise is too wide for the laws to be computed.
    """
    if not all(fits(laws, query, noise, _FIRST) for laws in found):
        return None
    first = [noisy_laws(laws, query, noise, _FIRST) for laws in found]
    about = max(max(each.divergences(_FIRST).values()) / _FIRST for each in first)
    rate = (
        0.0
        if isinstance(noise, Gaussian)
        else 1 / float(noise.scale)
        if isinstance(noise, Laplace)
        else float(noise.rate())
    )
    ends = [
        (
            told + rate * abs(each.moved[pair]),
            each.moved[pair] ** 2 / (2 * float(noise.variance)) if isinstance(noise, Gaussian) else 0.0,
        )
        for each in first
        for pair, told in each.told.items()
    ]
    rest = max(about - max(slope for _, slope in ends), _LEAST_REST * about)
    most = max(end for end, _ in ends) * _BEYOND
    last = max(4.0, most / rest) if most < LAST_ORDER * rest else LAST_ORDER  # floats may find no divergence at all
    while last > _FIRST and not all(fits(laws, query, noise, last) for laws in found):
        last = max(_FIRST, last / 2)
    orders = np.unique(np.round(np.exp(np.linspace(0.0, log(last), RUNGS + 1)), 3))
    last = float(orders[-1])
    upper, lower, at = max(end / last + slope for end, slope in ends), 0.0, (first[0], (0, 1), 2.0)
    terms = 0
    for laws in found:
        seen = noisy_laws(laws, query, noise, last)
        terms += len(orders) * len(seen.pairs) * seen.logs.shape[1]
        for below, order in pairwise(orders.tolist()):
            for pair, divergence in seen.divergences(order).items():
                upper = max(upper, divergence / below)
                if divergence / order > lower * (1 + 1e-12):
                    lower, at = divergence / order, (seen, pair, order)
    seen, (x, y), order = at
    values = seen.laws.values
    return Ladder(tuple(map(float, orders[1:])), upper * SURELY, lower, terms, order, seen.laws, values[x], values[y])
