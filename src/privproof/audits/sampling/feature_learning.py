"""Which features tell two data sets apart: sets of codes that are likelier on one of them, from runs on both.

Of every feature the codes are put in order by their ratio on one half of the runs, and the nested unions are scored on the other half: a
feature with many codes would otherwise be preferred for its luck.  Parities are not tried one by one: of up to 22 bits the transform of
Walsh and Hadamard gives all of them at once; of wider outputs a form that is constant on one data set is found by elimination over the
field with two elements.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from privproof.audits.sampling.event_kinds import EventKind, Proposal, Score, best_of, kind_of
from privproof.audits.sampling.features import NO_CODE, Feature, GroupCounts, Parity, Residue, float_features
from privproof.audits.sampling.output_events import Event, Having
from privproof.audits.sampling.output_forms import FLOAT
from privproof.audits.sampling.output_samples import Samples
from privproof.audits.sampling.sample_columns import Array

_MOST_RUNS = 20_000
"""So many runs on each side are enough to learn from."""
_MOST_CODES = 4096
"""A feature with more codes would be learnt by heart."""
_FEWEST = 30
"""A feature with fewer runs on both sides together says nothing."""
_FEWEST_OF_A_CODE = 5
"""A code that was met more rarely adds next to nothing to a union, and may be as frequent on the other side."""
_TRANSFORMED = 22
"""Bits whose parities are all looked at: the transform takes a second of time at most."""
_TRANSFORM_SHARE = 512
"""The transform may be so many times longer than there are runs, since pairs with few runs are looked at by the hundred."""
_SMALL_TRANSFORM = 2**16
"""A transform of this length takes milliseconds, and is made for however few runs."""
_COEFFICIENTS = 8
"""Parities that are tried: those with the largest coefficients of the transform."""
_MORE_ROWS = 12
"""Runs beyond the number of bits in an elimination: a form is constant on all of them by chance once in 4,096 times."""
_ELIMINATIONS = 400
"""How often an elimination is tried: with a bit in twenty flipped, a choice of 72 runs without one is found by then."""
_RUNS_FOR_ELIMINATION = 50
"""Runs that pay for one elimination."""
_MODULI = (*range(2, 33), 64, 100, 128, 256, 1000)
"""The moduli whose residues are looked at."""
_MOST_GROUPS = 4
"""Groups of places that are counted apart: with more the counts are as many as the lists."""
_MOST_ITEMS = 3
"""Distinct items of lists whose places are counted."""
_FEW = 12
"""So few distinct outputs are looked at one by one, and need no feature."""


@dataclass(frozen=True)
class Hints:
    """What two data sets suggest about features of outputs.

    Attributes:
        references: numbers that an output may be the sum of and noise; None where floats only stand for real numbers.
        groups: places of lists at which the two data sets have the same values.
    """

    references: tuple[float, ...] | None = None
    groups: tuple[tuple[int, ...], ...] = ()


def learn_features(
    left: Samples,
    right: Samples,
    hints: Hints,
    score_of: Callable[[int], Score],
    *,
    keep: int,
) -> tuple[list[Proposal], list[Proposal]]:
    """Events by features that tell two data sets apart: those that are likelier on the left, and those that are likelier on the right.

    Args:
        left: runs on one data set.
        right: runs on the other.
        hints: what the data suggest.
        score_of: for a number of runs, what counts on the likelier and on the other side are worth.
        keep: how many events in either direction.
    """
    size = min(_MOST_RUNS, len(left), len(right))
    left, right = left.part(0, size), right.part(0, size)
    half = size // 2
    score = score_of(size - half)
    found: tuple[list[Proposal], list[Proposal]] = ([], [])
    for feature in _features(left, right, hints):
        sides = [feature.codes(left), feature.codes(right)]
        known = np.unique(np.concatenate(sides))
        known = known[known != NO_CODE]
        if not 2 <= len(known) <= _MOST_CODES:
            continue
        first = [_counts(codes[:half], known) for codes in sides]
        second = [_counts(codes[half:], known) for codes in sides]
        if first[0].sum() + first[1].sum() < _FEWEST:
            continue
        for one, other, proposals in ((0, 1, found[0]), (1, 0, found[1])):
            kind = _nested_unions(feature, known, (first[one], first[other]), (second[one], second[other]))
            proposals += best_of(kind, score, 1)
    left_best, right_best = (best_of(kind_of(proposals), score, keep) for proposals in found)
    return left_best, right_best


def _counts(codes: Array, known: Array) -> Array:
    return np.bincount(np.searchsorted(known, codes[codes != NO_CODE]), minlength=len(known))


def _nested_unions(
    feature: Feature, known: Array, first: tuple[Array, Array], second: tuple[Array, Array]
) -> EventKind:
    """Nested unions of codes by falling ratio on one half of the runs, with their counts on the other half."""
    order = np.argsort(-(first[0] + 0.5) / (first[1] + 1.0), kind="stable")
    order = order[first[0][order] >= _FEWEST_OF_A_CODE]

    def made(i: int) -> Event:
        return Having(feature, tuple(sorted(known[order[: i + 1]].tolist())))

    return EventKind(second[0][order].cumsum(), second[1][order].cumsum(), made)


def _features(left: Samples, right: Samples, hints: Hints) -> Iterator[Feature]:
    """The features that outputs of this kind may have."""
    if hints.references is not None:
        yield from float_features(left, hints.references)
    outputs = [*left.outputs, *right.outputs]
    if len(left.outputs) <= _FEW and len(right.outputs) <= _FEW:
        return
    if any(isinstance(output, int) and not isinstance(output, bool) for output in outputs):
        yield from map(Residue, _MODULI)
        yield from _parities(left, right, listed=False)
    if any(isinstance(output, list | tuple) for output in outputs):
        yield from _parities(left, right, listed=True)
        yield from group_counts(outputs, hints.groups)


def group_counts(outputs: Sequence[Any], groups: Sequence[Sequence[int]]) -> Iterator[GroupCounts]:
    items: dict[Any, Any] = {}
    for output in outputs:
        if isinstance(output, list | tuple) and len(items) <= _MOST_ITEMS:
            items.update((repr(item), item) for item in output)
    if not 2 <= len(items) <= _MOST_ITEMS or not 1 <= len(groups) <= _MOST_GROUPS:
        return
    for item in list(items.values())[: len(items) - 1]:
        if item is not FLOAT:
            yield GroupCounts(tuple(map(tuple, groups)), item)


def _parities(left: Samples, right: Samples, *, listed: bool) -> Iterator[Feature]:
    """The parities of bits that differ most."""
    rows = [_rows(samples, listed=listed) for samples in (left, right)]
    width = max(side.shape[1] for side in rows)
    if width < 2 or min(len(side) for side in rows) < _FEWEST:
        return
    wide = [np.pad(side, ((0, 0), (0, width - side.shape[1]))) for side in rows]
    if width <= _TRANSFORMED:
        if 2**width <= max(_SMALL_TRANSFORM, _TRANSFORM_SHARE * len(left)):
            yield from (Parity(positions, listed) for positions in _by_transform(wide[0], wide[1]))
        return
    generator = np.random.default_rng(len(left))
    for side in wide:
        positions = _by_elimination(side, generator)
        if positions is not None:
            yield Parity(positions, listed)


def _rows(samples: Samples, *, listed: bool) -> Array:
    """The bits of every run that has them."""
    bits = samples.list_bits if listed else samples.number_bits
    place = np.full(len(samples.outputs), -1)
    place[bits.rows] = np.arange(len(bits.rows))
    chosen = place[samples.codes]
    return np.asarray(bits.digits[chosen[chosen >= 0]])


def _by_transform(one: Array, other: Array) -> list[tuple[int, ...]]:
    """The sets of positions whose parities differ most between two sides, by the transform of Walsh and Hadamard."""
    width = one.shape[1]
    powers = 1 << np.arange(width)
    totals = [np.bincount(side @ powers, minlength=2**width) / max(1, len(side)) for side in (one, other)]
    table = totals[0] - totals[1]
    for step in range(width):
        halves = table.reshape(-1, 2, 1 << step)
        table = np.stack([halves[:, 0] + halves[:, 1], halves[:, 0] - halves[:, 1]], axis=1).reshape(-1)
    best = np.argsort(-np.abs(table[1:]), kind="stable")[:_COEFFICIENTS] + 1
    return [tuple(i for i in range(width) if mask >> i & 1) for mask in best.tolist()]


def _by_elimination(rows: Array, generator: np.random.Generator) -> tuple[int, ...] | None:
    """A set of positions whose parity is constant on some runs of one side; None where none is found."""
    width = rows.shape[1]
    needed = width + _MORE_ROWS
    if len(rows) < needed:
        return None
    packed = [int.from_bytes(np.packbits(row, bitorder="little").tobytes(), "little") for row in rows]
    for _ in range(max(1, min(_ELIMINATIONS, len(rows) // _RUNS_FOR_ELIMINATION))):
        chosen = generator.choice(len(packed), needed, replace=False).tolist()
        positions = _constant_form([packed[i] ^ packed[chosen[0]] for i in chosen[1:]], width)
        if positions:
            return positions
    return None


def _constant_form(vectors: Sequence[int], width: int) -> tuple[int, ...]:
    """The positions of a form that is zero on all vectors, where they do not span the space; empty where they do."""
    pivots: dict[int, int] = {}
    for given in vectors:
        vector = given
        for pivot, row in pivots.items():
            if vector >> pivot & 1:
                vector ^= row
        if vector:
            lowest = (vector & -vector).bit_length() - 1
            for pivot, row in pivots.items():
                if row >> lowest & 1:
                    pivots[pivot] = row ^ vector
            pivots[lowest] = vector
    free = [i for i in range(width) if i not in pivots]
    if not free:
        return ()
    form = {free[0]} | {pivot for pivot, row in pivots.items() if row >> free[0] & 1}
    return tuple(sorted(form))
