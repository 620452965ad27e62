"""Learning events: sets of outputs that are likelier on one data set than on the other, from runs on both.

By the lemma of Neyman and Pearson the best events are likelihood-ratio sets: all outputs whose ratio of probabilities reaches a bound.
Ratios are estimated on *cells*: single outputs where they repeat; where outputs have numbers, the boxes of a tree that is split where the
two data sets differ most.  The cells by falling ratio, one after the other, are the nested unions that are tried.  Beside them stand single
outputs, what outputs begin with, half-lines of every number, and half-spaces by logistic regression.

What is learnt here is only proposed: whoever counts its occurrences for a bound takes fresh runs.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from itertools import permutations
from math import frexp
from typing import Any, TypeAlias

import numpy as np

from privproof.audits.sampling.confidence_intervals import Floats
from privproof.audits.sampling.event_kinds import NO_EVENTS, EventKind, Proposal, Score, best_of, counted_kind, kind_of
from privproof.audits.sampling.output_events import Event, HalfSpace, ListBeginning, OneOf
from privproof.audits.sampling.output_forms import FLOAT, fill_form, form_of, identity_of, items_of, numbers_of
from privproof.audits.sampling.output_samples import Samples
from privproof.audits.sampling.sample_columns import Array
from privproof.language.patterns import ANY, Between

_MOST_FORMS = 24
"""So many forms of outputs, the most frequent first, are looked at by their numbers."""
_MOST_SLOTS = 32
"""So many numbers of an output are looked at."""
_FEW = 12
"""Forms with more distinct outputs than this are looked at by their numbers, too."""
_DEPTH = 6
"""Splits of the tree of boxes, one below the other: at most 64 boxes."""
_GAIN = 2.0
"""A split has to be worth this much evidence, in units of the logarithm of the likelihood: less is chance."""
_LEAST = 60
"""Runs that a box, or a regression, needs: with fewer its ratio is chance."""
_SHARES = np.array([0.0005, 0.001, 0.002, 0.004, 0.01, 0.02, 0.04, 0.08, 0.15, 0.25, 0.35, 0.5])
"""Shares of the runs that a tail holds: densely where it is thin, since losses are largest there."""
_TAILS = np.concatenate([_SHARES, 1 - _SHARES])
_SPLITS = np.arange(1, 24) / 24
"""Shares at which a box may be split."""
_LONGEST_PREFIX = 64
"""Beginnings of lists are looked at up to this length."""
_LARGEST_UNION = 256
"""Cells that a union may have, by falling ratio: further ones add little to it."""
_MERGED = 24
"""Of more patterns neighbouring intervals are not made one: all pairs would be tried."""
_ROUNDS = 12
"""Steps of Newton's method in a regression; its direction is rounded afterwards, so more would change nothing."""


@dataclass(frozen=True)
class _Form:
    """The runs of both data sets whose outputs have one form.

    Attributes:
        form: the form.
        codes: the distinct outputs that have it.
        sides: the numbers in the slots, a row for every run, for both data sets.
        constant: for every slot its value, where it has only one; None where it varies.
    """

    form: Any
    codes: tuple[int, ...]
    sides: tuple[Array, Array]
    constant: tuple[Any, ...]
    whole: tuple[bool, ...]

    def turned(self) -> _Form:
        """The same with both data sets exchanged."""
        return replace(self, sides=(self.sides[1], self.sides[0]))

    def pattern(self, places: dict[int, Any]) -> Any:
        """The form with patterns in some of its slots, and what always stands in the others."""
        rest = [ANY if value is None else value for value in self.constant]
        return fill_form(self.form, [places.get(i, rest[i]) for i in range(len(rest))])

    @property
    def varying(self) -> list[int]:
        """The slots that vary, the first of them if there are many."""
        return [i for i, value in enumerate(self.constant) if value is None][:_MOST_SLOTS]


Cell: TypeAlias = tuple[Any, int, int]
"""A pattern, and how often it occurred on both data sets."""


@dataclass(frozen=True)
class Learnt:
    """Events that may tell two data sets apart, with their counts; which of them are best depends on what counts are worth.

    Attributes:
        forms: the forms that were looked at by their numbers.
        kinds: the events of every kind, without half-spaces and unions.
        cells: what unions are made of.
    """

    forms: tuple[_Form, ...]
    kinds: tuple[EventKind, ...]
    cells: tuple[Cell, ...]

    def best(self, score: Score, *, turned: bool = False, keep: int = 6) -> list[Proposal]:
        """The events that are likelier on the left, or turned on the right, the best first.

        Args:
            score: what counts on the likelier and on the other side are worth.
            turned: whether the data sets are exchanged.
            keep: how many events of each kind.
        """
        unions, *kinds = self._turned if turned else self._straight
        found = best_of(unions, score, 3 * keep)
        for kind in kinds:
            found += best_of(kind, score, keep)
        return best_of(kind_of(found), score, 3 * keep)

    @cached_property
    def _straight(self) -> list[EventKind]:
        spaces = [_half_spaces(form) for form in self.forms if len(form.varying) > 1]
        return [_unions(self.cells), *self.kinds, *spaces]

    @cached_property
    def _turned(self) -> list[EventKind]:
        spaces = [_half_spaces(form.turned()) for form in self.forms if len(form.varying) > 1]
        cells = [(pattern, b, a) for pattern, a, b in self.cells]
        return [_unions(cells), *(kind.turned() for kind in self.kinds), *spaces]


def learn(left: Samples, right: Samples) -> Learnt:
    """What runs on two data sets tell about events."""
    outputs, (one, other) = _common(left, right)
    counts = [np.bincount(codes, minlength=len(outputs)) for codes in (one, other)]
    forms = tuple(_forms(outputs, left, right, one, other))
    kinds = [_singles(outputs, counts), _beginnings(outputs, counts)]
    cells = list(_single_cells(outputs, counts, forms))
    for form in forms:
        boxes = _boxes(form, len(left) + len(right))
        kinds += [_half_lines(form), _around(form, inside=True), _around(form, inside=False), _each(boxes)]
        cells += boxes
    return Learnt(forms, tuple(kinds), tuple(cells))


def _each(cells: Sequence[Cell]) -> EventKind:
    """Cells as events of their own."""
    return counted_kind(lambda i: OneOf((cells[i][0],)), (a for _, a, _ in cells), (b for _, _, b in cells))


def _common(left: Samples, right: Samples) -> tuple[list[Any], tuple[Array, Array]]:
    """One table of outputs for both, and the runs as numbers into it."""
    known: dict[Any, int] = {}
    outputs: list[Any] = []
    sides = []
    for samples in (left, right):
        places = []
        for output in samples.outputs:
            place = known.setdefault(identity_of(output), len(known))
            if place == len(outputs):
                outputs.append(output)
            places.append(place)
        sides.append(np.array(places, dtype=np.int64)[samples.codes])
    return outputs, (sides[0], sides[1])


def _singles(outputs: Sequence[Any], counts: Sequence[Array]) -> EventKind:
    """Single outputs; those with floats do not repeat."""
    codes = [i for i, output in enumerate(outputs) if not any(number is FLOAT for number in numbers_of(output))]
    return EventKind(counts[0][codes], counts[1][codes], lambda i: OneOf((outputs[codes[i]],)))


def _single_cells(outputs: Sequence[Any], counts: Sequence[Array], forms: Sequence[_Form]) -> Iterator[Cell]:
    """The outputs that are cells of their own: those of no form that is looked at by its numbers."""
    numbered = {code for form in forms for code in form.codes}
    for code, (output, a, b) in enumerate(zip(outputs, *counts, strict=True)):
        if code not in numbered:
            yield output, int(a), int(b)


def _beginnings(outputs: Sequence[Any], counts: Sequence[Array]) -> EventKind:
    """What lists begin with, where several outputs do; without floats, which do not repeat."""
    items = items_of(outputs)
    floats = [code for item, code in items.known.items() if item == identity_of(FLOAT)]
    left: list[int] = []
    right: list[int] = []
    places: list[tuple[int, int]] = []
    for size in range(1, min(items.rows.shape[1], _LONGEST_PREFIX) + 1):
        begun = items.rows[:, :size]
        chosen = np.flatnonzero((begun[:, -1] >= 0) & ~np.isin(begun, floats).any(axis=1))
        if not len(chosen):
            break
        _, first, which, several = np.unique(
            begun[chosen], axis=0, return_index=True, return_inverse=True, return_counts=True
        )
        codes = items.codes[chosen]
        for side, listed in ((counts[0], left), (counts[1], right)):
            listed += np.bincount(which.ravel(), weights=side[codes])[several > 1].astype(np.int64).tolist()
        places += [(int(codes[i]), size) for i in first[several > 1].tolist()]
    return counted_kind(lambda i: ListBeginning(tuple(outputs[places[i][0]][: places[i][1]])), left, right)


def _forms(outputs: Sequence[Any], left: Samples, right: Samples, one: Array, other: Array) -> Iterator[_Form]:
    """The forms that are looked at by their numbers."""
    grouped: dict[str, list[int]] = {}
    for code, output in enumerate(outputs):
        grouped.setdefault(repr(form_of(output)), []).append(code)
    often = np.bincount(np.concatenate([one, other]), minlength=len(outputs))
    ordered = sorted(grouped.values(), key=lambda codes: -int(often[codes].sum()))
    for codes in ordered[:_MOST_FORMS]:
        slots = list(zip(*(list(numbers_of(outputs[code])) for code in codes), strict=True))
        if not slots or (not any(FLOAT in slot for slot in slots) and len(codes) <= _FEW):
            continue
        constant = tuple(
            slot[0] if slot[0] is not FLOAT and all(x == slot[0] for x in slot) else None for slot in slots
        )
        if all(value is not None for value in constant):
            continue
        whole = tuple(all(isinstance(x, int) for x in slot) for slot in slots)
        sides = tuple(_numbers(samples, common, codes, slots) for samples, common in ((left, one), (right, other)))
        yield _Form(form_of(outputs[codes[0]]), tuple(codes), (sides[0], sides[1]), constant, whole)


def _numbers(samples: Samples, common: Array, codes: Sequence[int], slots: Sequence[Sequence[Any]]) -> Array:
    """The numbers of the runs that have a form, a row for every run, by the number in the first slot."""
    place = np.full(int(common.max(initial=0)) + 1 if len(common) else 1, -1, dtype=np.int64)
    for i, code in enumerate(codes):
        if code < len(place):
            place[code] = i
    runs = np.flatnonzero(place[common] >= 0)
    rows = place[common[runs]]
    result = np.empty((len(runs), len(slots)))
    before = np.zeros(len(codes), dtype=np.int64)  # how many floats an output has before a slot
    for j, slot in enumerate(slots):
        floats = np.array([x is FLOAT for x in slot])
        result[:, j] = np.array([0.0 if x is FLOAT else float(x) for x in slot])[rows]
        for number in np.unique(before[floats]).tolist():
            here = (floats & (before == number))[rows]
            if here.any():
                result[here, j] = samples.floats[number][runs[here]]
        before += floats
    return result[np.argsort(result[:, 0])]


def _in_order(numbers: Array) -> Array:
    """Numbers by size; by merging, which takes one pass where they are in order already, as in the first slot of all boxes."""
    return np.sort(numbers, kind="stable")


def _half_lines(form: _Form) -> EventKind:
    left: list[int] = []
    right: list[int] = []
    places: list[tuple[int, float, int]] = []
    for slot in form.varying:
        one, other = (_in_order(side[:, slot]) for side in form.sides)
        whole = form.whole[slot]
        ends = _ends(_in_order(np.concatenate([one, other])), _TAILS, whole=whole)
        for side, listed in ((one, left), (other, right)):
            listed += (len(side) - np.searchsorted(side, ends, "left")).tolist()
            listed += np.searchsorted(side, ends - 1 if whole else ends, "right").tolist()
        places += [(slot, end, below) for below in (0, 1) for end in ends.tolist()]

    def made(i: int) -> Event:
        slot, end, below = places[i]
        return OneOf((form.pattern({slot: _sides(end, whole=form.whole[slot])[below]}),))

    return counted_kind(made, left, right)


def _around(form: _Form, *, inside: bool) -> EventKind:
    """Intervals around the middle of a number, or what lies outside of them: where the noise of one data set is wider."""
    left: list[int] = []
    right: list[int] = []
    places: list[tuple[int, float, float]] = []
    for slot in form.varying:
        one, other = (side[:, slot] for side in form.sides)
        pooled = np.concatenate([one, other])
        pooled = pooled[np.isfinite(pooled)]
        if form.whole[slot] or not len(pooled):
            continue
        low, middle, high = np.percentile(pooled, [25, 50, 75]).tolist()
        center = float(simple(np.array([middle]), high - low)[0])
        ends = _ends(_in_order(np.abs(pooled - center)), _TAILS, whole=False)
        for side, listed in ((one, left), (other, right)):
            distances = _in_order(np.abs(side - center))
            within = np.searchsorted(distances, ends, "right")
            listed += (within if inside else len(side) - np.searchsorted(distances, ends, "left")).tolist()
        places += [(slot, center, end) for end in ends.tolist()]

    def made(i: int) -> Event:
        slot, center, end = places[i]
        low, high = Fraction(center) - Fraction(end), Fraction(center) + Fraction(end)
        parts = [Between(low, high)] if inside else [Between(None, low), Between(high, None)]
        return OneOf(tuple(form.pattern({slot: part}) for part in parts))

    return counted_kind(made, left, right)


def _ends(ordered: Array, shares: Array, *, whole: bool) -> Array:
    """Simple numbers that cut off given shares of numbers in order."""
    finite = ordered[np.isfinite(ordered)]
    if not len(finite):
        return finite
    last = len(finite) - 1
    chosen = finite[np.minimum(last, (shares * len(finite)).astype(np.int64))]
    if whole:
        return np.unique(np.concatenate([np.floor(chosen), np.floor(chosen) + 1]))
    return np.unique(simple(chosen, float(finite[3 * len(finite) // 4] - finite[len(finite) // 4])))


def simple(numbers: Array, spread: float) -> Array:
    """Numbers with few binary digits near others, at the scale of a spread.

    >>> simple(np.array([0.7031]), 2.0).tolist(), simple(np.array([-13.26]), 40.0).tolist()
    ([0.703125], [-13.25])
    """
    if not spread > 0:
        return numbers
    unit = 2.0 ** (frexp(spread)[1] - 8)
    return np.asarray(np.round(numbers / unit) * unit)


def _sides(end: float, *, whole: bool) -> tuple[Between, Between]:
    """What lies at an end or above it, and what lies below."""
    exact = Fraction(end)
    return Between(exact, None), Between(None, exact - 1 if whole else exact)


Box: TypeAlias = "dict[int, tuple[float | None, float | None]]"


def _boxes(form: _Form, runs: int) -> list[Cell]:
    """The boxes of a tree that is split where the two data sets differ most, with their counts."""
    found: list[Cell] = []
    least = max(_LEAST, runs // 400)

    def grow(one: Array, other: Array, box: Box, depth: int) -> None:
        split = _best_split(form, one, other, least) if depth < _DEPTH and len(one) + len(other) >= 2 * least else None
        if split is None:
            places = {slot: _box_interval(low, high, whole=form.whole[slot]) for slot, (low, high) in box.items()}
            found.append((form.pattern(places), len(one), len(other)))
            return
        slot, end = split
        low, high = box.get(slot, (None, None))
        for upper in (False, True):
            parts = [side[(side[:, slot] >= end) == upper] for side in (one, other)]
            grow(parts[0], parts[1], {**box, slot: (end, high) if upper else (low, end)}, depth + 1)

    grow(*form.sides, {}, 0)
    return found


def _box_interval(low: float | None, high: float | None, *, whole: bool) -> Between:
    """From one end of a box until before the next; between whole numbers there is nothing."""
    above = None if high is None else Fraction(high) - 1 if whole else Fraction(high)
    return Between(None if low is None else Fraction(low), above)


def _best_split(form: _Form, one: Array, other: Array, least: int) -> tuple[int, float] | None:
    """The slot and the number at which a box is split best."""
    best: tuple[float, int, float] | None = None
    whole = _evidence(np.array([len(one)]), np.array([len(other)]))[0]
    for slot in form.varying:
        columns = [_in_order(side[:, slot]) for side in (one, other)]
        ends = _ends(_in_order(np.concatenate(columns)), _SPLITS, whole=form.whole[slot])
        below = [np.searchsorted(column, ends, "left") for column in columns]
        above = [len(column) - count for column, count in zip(columns, below, strict=True)]
        gain = _evidence(below[0], below[1]) + _evidence(above[0], above[1]) - whole
        gain[(below[0] + below[1] < least) | (above[0] + above[1] < least)] = -1.0
        top = int(np.argmax(gain)) if len(gain) else 0
        if len(gain) and gain[top] > _GAIN and (best is None or gain[top] > best[0]):
            best = (float(gain[top]), slot, float(ends[top]))
    return None if best is None else (best[1], best[2])


def _evidence(one: Array, other: Array) -> Floats:
    """The logarithm of the likelihood of so many runs on either side, at its best."""
    total = np.maximum(one + other, 1)
    return np.asarray(one * np.log(np.maximum(one, 1) / total) + other * np.log(np.maximum(other, 1) / total))


def _half_spaces(form: _Form) -> EventKind:
    """Half-spaces by logistic regression on the numbers of a form."""
    slots = form.varying
    one, other = (side[:, slots] for side in form.sides)
    if min(len(one), len(other)) < _LEAST:
        return NO_EVENTS
    data = np.concatenate([one, other])
    data = data[np.isfinite(data).all(axis=1)]
    if len(data) < len(one) + len(other):
        return NO_EVENTS
    center, spread = np.median(data, axis=0), np.percentile(data, 75, axis=0) - np.percentile(data, 25, axis=0)
    spread = np.where(spread > 0, spread, 1.0)
    inside = np.clip((data - center) / spread, -8.0, 8.0)
    design = np.column_stack([inside, np.ones(len(inside))])
    goal = np.concatenate([np.ones(len(one)), np.zeros(len(other))])
    weights = np.zeros(design.shape[1])
    ridge = 1e-3 * np.eye(design.shape[1])
    for _ in range(_ROUNDS):
        chance = 1 / (1 + np.exp(-np.clip(design @ weights, -30, 30)))
        step = np.linalg.solve(
            (design * (chance * (1 - chance))[:, None]).T @ design / len(design) + ridge,
            design.T @ (goal - chance) / len(design) - ridge @ weights,
        )
        weights = weights + step
        if np.abs(step).max() < 1e-6:
            break
    shown = [float(f"{w:.3g}") for w in (weights[:-1] / spread).tolist()]
    if not any(shown):
        return NO_EVENTS
    full = [0.0] * len(form.constant)
    for slot, weight in zip(slots, shown, strict=True):
        full[slot] = weight
    sides = [_in_order(side @ np.array(full)) for side in form.sides]
    pooled = _in_order(np.concatenate(sides))
    width = float(pooled[3 * len(pooled) // 4] - pooled[len(pooled) // 4])
    ends = np.unique(simple(pooled[((1 - _SHARES) * (len(pooled) - 1)).astype(np.int64)], width))
    left, right = (len(side) - np.searchsorted(side, ends, "left") for side in sides)
    return EventKind(left, right, lambda i: HalfSpace(form.form, tuple(full), float(ends[i])))


def _unions(cells: Sequence[Cell]) -> EventKind:
    """Nested unions of cells by falling ratio of their counts."""
    chosen = [cell for cell in cells if cell[1]]
    if len(chosen) < 2:
        return NO_EVENTS
    a = np.array([cell[1] for cell in chosen], dtype=np.int64)
    b = np.array([cell[2] for cell in chosen], dtype=np.int64)
    order = np.argsort(-(a + 0.5) / (b + 1.0), kind="stable")[:_LARGEST_UNION]

    def made(i: int) -> Event:
        return OneOf(merge_patterns([chosen[j][0] for j in order[: i + 1].tolist()]))

    return EventKind(np.cumsum(a[order]), np.cumsum(b[order]), made)


def merge_patterns(patterns: Sequence[Any]) -> tuple[Any, ...]:
    """Patterns with neighbouring intervals made one, where there are not too many.

    >>> merge_patterns([Between(None, Fraction(1)), Between(Fraction(2), Fraction(3)), Between(Fraction(1), Fraction(2))])
    (≤3,)
    """
    result = list(patterns)
    found = len(result) <= _MERGED
    while found:
        found = False
        for one, other in permutations(range(len(result)), 2):
            both = _join_patterns(result[one], result[other])
            if both is not None:
                result[one] = both
                del result[other]
                found = True
                break
    return tuple(result)


def _join_patterns(one: Any, other: Any) -> Any:
    """One pattern for two whose intervals meet at an end in one place, and that are equal elsewhere; None where they do not."""
    match one, other:
        case Between(low, end), Between(begin, high) if end is not None and end == begin:
            return Between(low, high)
        case (list(), list()) | (tuple(), tuple()) if type(one) is type(other) and len(one) == len(other):
            differing = [i for i, (x, y) in enumerate(zip(one, other, strict=True)) if repr(x) != repr(y)]
            inner = _join_patterns(one[differing[0]], other[differing[0]]) if len(differing) == 1 else None
            if inner is None:
                return None
            return type(one)(inner if i == differing[0] else part for i, part in enumerate(one))
        case _:
            return None
