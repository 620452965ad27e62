"""Accounts in curves: what several releases lose together beside a delta, by Rényi divergences.

For releases about the same series, an entry X_i and a quilt Q of it with n entries between its nodes, let release k look at n_k of
these.  Moving them costs

* a release whose entry costs b at most ``n_k b`` purely, hence Rényi divergences of at most ``alpha rho`` with ``rho = e tanh(e/2)``,
  ``e = n_k b`` (Bun and Steinke 2016);
* a release with Gaussian noise, whose answer one entry moves by m standard deviations, ``rho = (n_k m)^2 / 2``.

Rényi divergences of releases add up, also where what is asked depends on what was shown before (Mironov 2017, proposition 1).  What the
nodes of Q tell is a divergence of their laws, at most influence I, and comes first in that sum: the laws of Q and of what is beyond
given X_i = x and x', and then, given these, the mixtures over the entries between, whose divergence is at most the largest of two of
their members (joint quasi-convexity; van Erven and Harremoës 2014).  With the conversion of `engines.releases.gaussians`, loss(rho)
beside delta, each of these bounds the loss of X_i, and the least one counts:

    I + sum of n_k b + loss(Gaussian rho),      I + loss(all rho),      loss(all rho + I tanh(I/2)).

The noise of every release and the entries it looks at are fixed, or chosen without looking at what earlier ones showed; what is asked
may be chosen by it.

Floats look at the quilts; loss(rho) is read from a table, rounded up, and computed where it matters.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from functools import lru_cache
from math import log, tanh
from typing import TypeAlias

import numpy as np

from privproof.exact import Rational
from privproof.exact.rounding import float_below
from privproof.release.gaussian_quilts import loss_beside, losses_beside
from privproof.release.markov_chains import Chain
from privproof.release.quilt_sums import Spending, alike, influences, pieces_of, reach_of
from privproof.release.transition_powers import Powers

_DISTANCES = 48
"""Distances of quilt nodes that are looked at, near ones first; any give valid quilts."""
_CLOSE = 16
"""Distances up to which all are among them."""
_AT_ONCE = 4_000_000
"""The entries of the arrays of losses that are in memory at once."""
_FINE = 1e-3
"""Neighbours in the table of losses differ by this share."""
_LEAST, _MOST = 1e-14, 1e7
"""The table of losses lies between these rhos; smaller ones count as the least, and a larger one as infinite."""
_ROUNDED = 1 + 1e-9
"""What floats find is taken to be larger by this share, more than they err."""


def loss_beside_delta(chain: Chain, length: int, spendings: Sequence[Spending], delta: Rational) -> Fraction:
    """What releases lose together beside a delta under one chain, rounded up."""
    beside, windows = _beside(float_below(delta)), _windows(spendings)
    worst = [(loss, told, counts) for *_, loss, told, counts in _looked_at(chain, length, spendings, delta)]
    highest = max(loss for loss, _, _ in worst)
    near = {(each, tuple(counts.tolist())) for loss, each, counts in worst if loss >= highest * (1 - 2 * _FINE)}
    exact = max(_loss(each, counts, windows, beside) for each, counts in near)
    others = max((loss for loss, _, _ in worst if loss < highest * (1 - 2 * _FINE)), default=0.0)
    return Fraction(max(exact, others) * _ROUNDED)


def curves_looked_at(
    chain: Chain, length: int, spendings: Sequence[Spending], delta: Rational
) -> Iterator[tuple[int, bool, int, int]]:
    """The entries that are looked at: whether each stands for others, and the first and the last entry within its best quilt."""
    for node, standing, first, last, *_ in _looked_at(chain, length, spendings, delta):
        yield node, standing, first, last


def _looked_at(
    chain: Chain, length: int, spendings: Sequence[Spending], delta: Rational
) -> Iterator[tuple[int, bool, int, int, float, float, np.ndarray]]:
    """The same with the loss, the influence, and how many entries every kind of release looks at."""
    powers, beside = Powers(chain), _beside(float_below(delta))
    windows = _windows(spendings)
    width = reach_of(powers, length)
    chosen = _sampled_distances(width)
    distances = powers.distances[chosen]
    furthest = int(distances[-1]) if width else 0
    for ratios, nodes, standing in alike(chain, powers, length, pieces_of(spendings, length), furthest):
        two, left, right = (
            (np.zeros((0, 0)), np.zeros(0), np.zeros(0)) if not width else influences(powers, ratios, width)
        )
        if width:
            two, left, right = two[np.ix_(chosen, chosen)], left[chosen], right[chosen]
        told = np.concatenate([[0.0], two.ravel(), left, right])
        some = max(1, _AT_ONCE // len(told))
        for listed, alone in ((nodes, True), (standing, False)):
            for start in range(0, len(listed), some):
                part = np.array(listed[start : start + some], dtype=np.int64)
                firsts, lasts = _entries_between(part, distances, length)
                kept = slice(None) if alone else slice(0, 1 + two.size)
                sizes = [_overlap(firsts[:, kept], lasts[:, kept], window) for window, _ in windows]
                losses = _losses(told[None, kept], sizes, windows, beside.table)
                best = losses.argmin(axis=1)
                rows = np.arange(len(part))
                counts = np.array([size[rows, best] for size in sizes]).T
                both = firsts[:, kept][rows, best].tolist(), lasts[:, kept][rows, best].tolist()
                columns = part.tolist(), *both, losses[rows, best].tolist(), told[best].tolist(), counts
                for node, first, last, loss, each, here in zip(*columns, strict=True):
                    yield node, not alone, first, last, loss, each, here


class _LossBeside:
    """The loss beside a delta, computed, or read from a table and rounded up."""

    def __init__(self, delta: float) -> None:
        self.delta = delta
        self.step = log(1 + _FINE)
        number = int((log(_MOST) - log(_LEAST)) / self.step) + 2
        self.losses = np.append(losses_beside(_LEAST * np.exp(self.step * np.arange(number)), delta), np.inf)

    def of(self, rho: float) -> float:
        """The loss."""
        return loss_beside(rho, self.delta)

    def table(self, rhos: np.ndarray) -> np.ndarray:
        """The losses of many, each that of a larger rho in the table; nothing where nothing is moved."""
        known = np.clip(rhos, _LEAST, 10 * _MOST)  # larger ones, infinite ones too, are beyond the table
        places = np.ceil((np.log(known) - log(_LEAST)) / self.step + 1e-6).astype(np.int64)
        found: np.ndarray = np.where(rhos > 0, self.losses[np.minimum(places, len(self.losses) - 1)], 0.0)
        return found


@lru_cache(maxsize=8)
def _beside(delta: float) -> _LossBeside:
    return _LossBeside(delta)


_Table: TypeAlias = Callable[[np.ndarray], np.ndarray]
_Windows: TypeAlias = list[tuple[tuple[int, int], list[tuple[Fraction, Fraction, int]]]]


def _windows(spendings: Sequence[Spending]) -> _Windows:
    """The entries that releases look at, each with the costs of these releases and how often they occur."""
    found: dict[tuple[int, int], dict[tuple[Fraction, Fraction], int]] = {}
    for spent in spendings:
        costs = found.setdefault((spent.first, spent.last), {})
        costs[spent.cost, spent.squared] = costs.get((spent.cost, spent.squared), 0) + 1
    return [(window, [(*both, times) for both, times in costs.items()]) for window, costs in found.items()]


def _sampled_distances(width: int) -> np.ndarray:
    """The places of distances that are looked at."""
    if width <= _DISTANCES:
        return np.arange(width)
    rest = np.geomspace(_CLOSE, width, _DISTANCES - _CLOSE + 1).astype(np.int64)[1:] - 1
    return np.unique(np.concatenate([np.arange(_CLOSE), rest]))


def _entries_between(nodes: np.ndarray, distances: np.ndarray, length: int) -> tuple[np.ndarray, np.ndarray]:
    """For every entry the first and the last entry between the nodes of a quilt: none, all two-sided ones, the left, the right ones."""
    number, width = len(nodes), len(distances)
    starts = np.maximum(1, nodes[:, None] - distances + 1)
    ends = np.minimum(length, nodes[:, None] + distances - 1)
    one = np.ones((number, 1), dtype=np.int64)
    firsts = np.hstack([one, np.repeat(starts, width, axis=1), starts, np.broadcast_to(one, (number, width))])
    lasts = np.hstack([length * one, np.tile(ends, (1, width)), np.broadcast_to(length * one, (number, width)), ends])
    return firsts, lasts


def _overlap(firsts: np.ndarray, lasts: np.ndarray, window: tuple[int, int]) -> np.ndarray:
    found: np.ndarray = np.maximum(0, np.minimum(lasts, window[1]) - np.maximum(firsts, window[0]) + 1)
    return found


def _losses(told: np.ndarray, sizes: Sequence[np.ndarray], windows: _Windows, table: _Table) -> np.ndarray:
    """The least of the three bounds, for all quilts of some entries."""
    pure, concentrated, gaussian = (np.zeros(np.broadcast_shapes(told.shape, sizes[0].shape)) for _ in range(3))
    for size, (_, costs) in zip(sizes, windows, strict=True):
        for cost, squared, times in costs:
            moved = size * float(cost)
            pure += times * moved
            concentrated += times * moved * np.tanh(moved / 2)
            gaussian += times * size.astype(float) ** 2 * float(squared) / 2
    both = concentrated + gaussian
    found: np.ndarray = np.minimum(told + pure + table(gaussian), told + table(both))
    found = np.minimum(found, table(both + told * np.tanh(told / 2)))
    return found


def _loss(told: float, sizes: Sequence[int], windows: _Windows, beside: _LossBeside) -> float:
    """The least of the three bounds, of one quilt."""
    pure = concentrated = gaussian = 0.0
    for size, (_, costs) in zip(sizes, windows, strict=True):
        for cost, squared, times in costs:
            moved = size * float(cost)
            pure += times * moved
            concentrated += times * moved * tanh(moved / 2)
            gaussian += times * size**2 * float(squared) / 2
    both = concentrated + gaussian
    return min(told + pure + beside.of(gaussian), told + beside.of(both), beside.of(both + told * tanh(told / 2)))
