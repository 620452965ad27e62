"""Nodes of a chain at which floating point shows the claim: the laws with noise, with a bound on all errors of rounding.

Everything that is computed is a sum of products of numbers that are not negative, so rounding errors are relative.  Let u be the relative
error of one rounding: 2^-53 for doubles, which come first, and 2^-64 for the long doubles of common processors, which are asked about
what doubles leave open.  If every term of a sum goes through at most K roundings, in whatever order it is added up and with or without
fused operations, what is computed lies between (1 - g) and (1 + g) times the exact value, g = Ku/(1 - Ku).  With T entries, S states and W
values of the sum, a term of ``A_i`` goes through at most (S + 2) i roundings and one of ``B_i`` through (S + 2)(T - i); a product of
both through W + 1 more; noise through 4W + 1 more (the factor itself is within 2u); the mass adds (S + 2) T + W + 2, dividing by it 1.
Where several states show one value, adding up their laws and masses takes 2S more.
So K = 2(S + 2)T + 6W + 2S + 16 is enough, with some to spare.  Of a histogram the noise takes 4n + 1 for each of its counts, which take n
values: 5n for every count stand in the place of 4W.

Where a result is below 2^-1022 it may be lost instead.  Sums of the coefficients of ``A_i`` and ``B_i``, and all powers of the factor, are
at most 1 (and g), so what is lost at one operation changes a later result by no more than about that; there are fewer than 2^50
operations behind each result, hence all that is lost is below 2^-970.  Only results above 2^-900 are used, for which that is less than
one rounding.

A node is shown where the largest law with noise is, at all outputs, at most ``(1 - 4Ku) e^epsilon`` times the least: then the exact ones
keep to e^epsilon.  Nothing else follows: what is not shown here is left to balls.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import reduce
from math import isfinite
from operator import or_
from typing import Any, TypeAlias

import numpy as np
from flint import arb
from numpy.typing import NDArray

from privproof_checker.numbers import Rational
from privproof_checker.numbers.patience import pause
from privproof_checker.release.histogram_sums import Counts
from privproof_checker.release.sum_laws import ChainSums

_MOST_OPERATIONS = 2**45
"""Times 32 (a product, a sum and a shift for each) they are the 2^50 operations of the bound."""
_LEAST = 2.0**-900
"""Results below are not used."""
_SHARE = 0.01
"""The bound on errors may use up so much of what a claim leaves; with more, nothing would be shown anyway."""
_CELLS = 1_000_000
"""Numbers of the laws with noise that are in memory at once: 16 MB, and three arrays like it."""
_FAR = np.int64(2**60)
"""Beyond every value of a sum."""

Floats: TypeAlias = NDArray[Any]
Laws: TypeAlias = list[tuple[Floats, Any]]
"""For the possible states of a node the law times its mass, and the mass."""


@dataclass(frozen=True)
class _Kind:
    """Floating-point numbers: their type, the relative error of one rounding, and how many products take a second or two."""

    type: type[np.floating[Any]]
    unit: float
    products: int

    def of(self, value: Rational) -> Any:
        """A number, within two roundings."""
        exact = Fraction(int(value.p), int(value.q))
        first = float(exact)
        return self.type(first) + self.type(float(exact - Fraction(first)))

    def near(self, ball: arb) -> Any:
        """The middle of a narrow ball, within two roundings."""
        first = float(ball.mid())
        return self.type(first) + self.type(float((ball - arb(first)).mid())) if isfinite(first) else self.type(first)


def _kinds() -> list[_Kind]:
    extended = np.finfo(np.longdouble)
    found = [_Kind(np.float64, 2.0**-53, 4_000_000_000)]
    if (extended.nmant, extended.iexp) == (63, 15):
        found.append(_Kind(np.longdouble, 2.0**-64, 1_000_000_000))
    return found


def shown_by_rounding(sums: ChainSums, bound: arb, factor: arb) -> dict[int, int]:
    """The nodes at which the claim holds at all outputs, each with how many these are; none of the others is judged.

    Args:
        sums: the laws.
        bound: e to the claimed epsilon, as a ball of at least 128 bits.
        factor: by which the noise falls over one unit, alike.
    """
    shown: dict[int, int] = {}
    for kind in _kinds():
        if len(shown) < sums.length:
            shown |= _shown_by(kind, sums, bound, factor, set(sums.nodes).difference(shown))
    return shown


def _shown_by(kind: _Kind, sums: ChainSums, bound: arb, factor: arb, wanted: set[int]) -> dict[int, int]:
    length, size, width = sums.length, sums.chain.size, sums.span + 1
    counts = sums.counts
    noise = 4 * width if counts is None else 5 * counts.bins * counts.base
    outputs = width if counts is None else counts.outputs * counts.bins
    share = 4 * (2 * (size + 2) * length + 2 * width + noise + 2 * size + 16) * kind.unit
    falls, most = kind.near(factor), kind.near(bound) * (kind.type(1) - kind.type(share))
    if (
        (counts is not None and (sums.offset != 0 or sums.unit != 1))
        or length * size * (width * (width // 6 + size) + 4 * outputs) > kind.products
        or length * size * size * width + width * width + 4 * outputs > _MOST_OPERATIONS
        or share > _SHARE
        or not _LEAST < falls < 1
        or not np.isfinite(most)
    ):
        return {}
    shown: dict[int, int] = {}
    block: list[tuple[int, int, Laws]] = []
    held = 0
    for node, outputs, laws in _laws(kind, sums, wanted):
        if not laws:
            shown[node] = 0  # nothing is compared
            continue
        block.append((node, outputs, laws))
        held += len(laws)
        if held * outputs >= _CELLS:
            shown |= _nodes_within_claim(block, counts, falls, most)
            block, held = [], 0
    return shown | _nodes_within_claim(block, counts, falls, most)


def _laws(kind: _Kind, sums: ChainSums, wanted: set[int]) -> Iterator[tuple[int, int, Laws]]:
    """For some nodes: how many values the sums range over, and the laws; none where only one value is possible."""
    chain, length = sums.chain, sums.length
    assert chain.start is not None
    rows = np.array([[kind.of(entry) for entry in row] for row in chain.rows])
    pattern = np.array([[chain.pattern[y] >> z & 1 for z in range(chain.size)] for y in range(chain.size)], dtype=bool)
    reached = np.flatnonzero(pattern.any(axis=0)).tolist()  # from all states
    weights = sums.weight
    later = [np.ones((chain.size, 1), dtype=kind.type)]
    ends = [np.zeros((2, chain.size), dtype=np.int64)]
    for _ in range(length - 1):
        later.append(rows @ _shift_polynomials(later[-1], weights))
        ends.append(_stretch_ends(ends[-1] + weights, pattern))
    earlier = _shift_polynomials(np.array([[kind.of(entry)] for entry in chain.start]), weights)
    states = [x for x, entry in enumerate(chain.start) if entry != 0]
    reach = np.array([weights, weights], dtype=np.int64)
    for node in range(1, length + 1):
        pause()
        after, ahead = later.pop(), ends.pop()
        if node in wanted:
            low, high = int((reach[0] + ahead[0])[states].min()), int((reach[1] + ahead[1])[states].max())
            outputs = high - low + 1 if sums.counts is None else sums.counts.outputs
            alike: dict[str, list[int]] = {}
            for x in states:
                alike.setdefault(chain.values[x], []).append(x)
            yield node, outputs, [_together(earlier, after, each) for each in alike.values()] if len(alike) > 1 else []
        earlier = _shift_polynomials(rows.T @ earlier, weights)
        if len(states) < chain.size:
            apart = [x for x in range(chain.size) if x not in states]
            reach[:, apart] = [[_FAR], [-_FAR]]  # neither lowers the least nor raises the greatest
            onward = reduce(or_, (chain.pattern[y] for y in states))
            states = [z for z in range(chain.size) if onward >> z & 1]
        else:
            states = reached
        reach = _stretch_ends(reach, pattern.T) + weights


def _together(earlier: Floats, after: Floats, states: list[int]) -> tuple[Floats, Any]:
    """The law of all states that show one value, up to its mass, and the mass."""
    first, *others = states
    law, mass = np.convolve(earlier[first], after[first]), earlier[first].sum()
    for x in others:
        law, mass = law + np.convolve(earlier[x], after[x]), mass + earlier[x].sum()
    return law, mass


def _shift_polynomials(polynomials: Floats, weights: list[int]) -> Floats:
    """Every polynomial times the variable to the weight of its state."""
    result = np.zeros((polynomials.shape[0], polynomials.shape[1] + max(weights)), dtype=polynomials.dtype)
    for row, polynomial, weight in zip(result, polynomials, weights, strict=True):
        row[weight : weight + len(polynomial)] = polynomial
    return result


def _stretch_ends(ends: NDArray[np.int64], pattern: NDArray[Any]) -> NDArray[np.int64]:
    """The least and the greatest over the states that are joined by the pattern."""
    if pattern.all():
        return np.array([[ends[0].min()], [ends[1].max()]])
    least = np.where(pattern, ends[0][None, :], _FAR).min(axis=1)
    greatest = np.where(pattern, ends[1][None, :], -_FAR).max(axis=1)
    return np.array([least, greatest])


def _box_counts(laws: Floats, counts: Counts) -> Floats:
    """Laws of sums that tell counts, side by side, on the box of the counts: one axis for every bin, the last bin first."""
    numbers = np.arange(len(laws))
    digits = [numbers // counts.base**j % counts.base for j in range(counts.bins)]
    if counts.rest:
        digits[-1] = counts.entries - sum(digits[:-1])
    places = sum(digit * counts.base**j for j, digit in enumerate(digits))
    there = laws.any(axis=1)  # other numbers tell no counts
    box = np.zeros((counts.outputs, laws.shape[1]), dtype=laws.dtype)
    box[places[there]] = laws[there]
    return box.reshape(*[counts.base] * counts.bins, laws.shape[1])


def _nodes_within_claim(
    block: list[tuple[int, int, Laws]], counts: Counts | None, falls: Any, most: Any
) -> dict[int, int]:
    """The nodes of a block at which the laws with noise keep to the claim."""
    if not block:
        return {}
    listed = [law for _, _, laws in block for law, _ in laws]
    masses = np.array([mass for _, _, laws in block for _, mass in laws])
    noisy = np.ascontiguousarray(np.array(listed).T)
    if counts is None:
        noisy = _spread_noise(noisy, falls)
    else:
        noisy = _box_counts(noisy, counts)
        for axis in range(counts.bins):
            noisy = np.moveaxis(_spread_noise(np.moveaxis(noisy, axis, 0), falls), 0, axis)
        noisy = noisy.reshape(counts.outputs, len(listed))
    usable = (noisy.min(axis=0) > _LEAST) & (masses > _LEAST)
    with np.errstate(divide="ignore", invalid="ignore"):
        noisy /= masses
    begins = np.cumsum([0, *(len(laws) for _, _, laws in block[:-1])])
    greatest, least = (extreme.reduceat(noisy, begins, axis=1) for extreme in (np.maximum, np.minimum))
    kept = np.logical_and.reduceat(usable, begins) & (greatest <= most * least).all(axis=0)
    return {node: outputs for (node, outputs, _), keeps in zip(block, kept.tolist(), strict=True) if keeps}


def _spread_noise(laws: Floats, falls: Any) -> Floats:
    """What lies along the first axis with noise, up to the factor of the noise."""
    noisy = np.empty_like(laws)
    running = np.zeros(laws.shape[1:], dtype=laws.dtype)
    for place in range(len(laws)):
        running = running * falls + laws[place]
        noisy[place] = running
    running = np.zeros(laws.shape[1:], dtype=laws.dtype)
    for place in range(len(laws) - 1, 0, -1):
        running = (running + laws[place]) * falls
        noisy[place - 1] += running
    return noisy
