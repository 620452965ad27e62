"""Events: sets of outputs that an audit counts, in words that can be read and patterns that can be decided exactly.

An event is one of several patterns (single outputs; half-lines, intervals and boxes where outputs have numbers), what outputs begin with,
a half-space of the numbers of one form, or a set of codes of a feature (`sampling.features`).  `occurs` tells for every run whether the
event occurred; comparisons are exact, because the ends of intervals are fractions that floats represent.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import ceil, floor
from typing import Any, TypeAlias

import numpy as np

from privproof.audits.sampling.features import Feature, FloatBits
from privproof.audits.sampling.output_forms import FLOAT, SIMPLE, SLOT, Sheet, form_of, identity_of, is_number
from privproof.audits.sampling.output_samples import Samples
from privproof.audits.sampling.sample_columns import Array
from privproof.language.patterns import ANY, Between, pattern_text

_LISTED = 6
"""Patterns of an event that are written out."""


@dataclass(frozen=True)
class OneOf:
    """The output is one of several patterns, which do not overlap."""

    patterns: tuple[Any, ...]

    def __str__(self) -> str:
        texts = [pattern_text(pattern) for pattern in self.patterns]
        if len(texts) == 1:
            return f"the output is {texts[0]}"
        more = f", or one of {len(texts) - _LISTED} more" if len(texts) > _LISTED else ""
        return f"the output is one of {', '.join(texts[:_LISTED])}{more}"


@dataclass(frozen=True)
class ListBeginning:
    """The output is a list that begins with something."""

    items: tuple[Any, ...]

    def __str__(self) -> str:
        return f"the output begins with {', '.join(map(pattern_text, self.items))}"


@dataclass(frozen=True)
class HalfSpace:
    """The output has a form, and a weighted sum of its numbers reaches a threshold."""

    form: Any
    weights: tuple[float, ...]
    threshold: float

    def __str__(self) -> str:
        terms = [f"{weight:+.4g} x{i}" for i, weight in enumerate(self.weights, 1) if weight]
        return f"the output is {form_words(self.form)} with {' '.join(terms)} ≥ {self.threshold:.6g}"


@dataclass(frozen=True)
class Having:
    """A feature of the output has one of several codes."""

    feature: Feature
    codes: tuple[int, ...]

    def __str__(self) -> str:
        return f"{self.feature} is {self.feature.code_words(self.codes)}"


Event: TypeAlias = "OneOf | ListBeginning | HalfSpace | Having"


def form_words(form: Any) -> str:
    """A form in words: its numbers are x1, x2, ..."""
    numbers = iter(range(1, 10**6))

    def named(part: Any) -> str:
        if part is SLOT:
            return f"x{next(numbers)}"
        if isinstance(part, list | tuple):
            inner = ", ".join(map(named, part))
            return f"[{inner}]" if isinstance(part, list) else f"({inner}{',' if len(part) == 1 else ''})"
        return repr(part)

    return named(form)


def has_interval(pattern: Any) -> bool:
    """Whether a pattern stands for more than one output."""
    if isinstance(pattern, list | tuple):
        return not set(map(type, pattern)) <= SIMPLE and any(map(has_interval, pattern))
    return isinstance(pattern, Between)


def occurs(event: Event, samples: Samples) -> Array:
    """For every run, whether an event occurred."""
    match event:
        case OneOf(patterns):
            return _any(patterns, samples)
        case ListBeginning(items):
            return _runs_beginning_with(items, samples)
        case HalfSpace(form, weights, threshold):
            return _beyond(repr(form), weights, threshold, samples)
        case Having(feature, codes):
            return np.isin(feature.codes(samples), codes)


def _any(patterns: Sequence[Any], samples: Samples) -> Array:
    """The runs whose outputs match one of several patterns."""
    always = np.zeros(len(samples.outputs), dtype=np.bool_)
    sometimes: list[tuple[Array, list[tuple[int, Between]]]] = []
    for pattern in patterns:
        if not has_interval(pattern):
            code = samples.places.get(identity_of(pattern))
            always[[] if code is None else [code]] = True
            continue
        form, places = repr(_form_of(pattern)), list(_places(pattern))
        for sheet in samples.sheets:
            if sheet.form != form:
                continue
            codes = _matching_outputs(sheet, places)
            beside = [
                (sheet.beside(i), p)
                for i, (kind, p) in enumerate(zip(sheet.kinds, places, strict=True))
                if kind is FLOAT
            ]
            needed = [(slot, between) for slot, between in beside if between != ANY]
            if needed and len(codes):
                sometimes.append((codes, needed))
            else:
                always[codes] = True
    return _runs(samples, always, sometimes)


def _runs(samples: Samples, always: Array, sometimes: Sequence[tuple[Array, Sequence[tuple[int, Between]]]]) -> Array:
    """The runs with outputs that always count, and those with outputs that count where their floats lie in intervals."""
    found = always[samples.codes]
    for codes, needed in sometimes:
        here = np.zeros(len(samples.outputs), dtype=np.bool_)
        here[codes] = True
        runs = np.flatnonzero(here[samples.codes] & ~found)
        inside = np.ones(len(runs), dtype=np.bool_)
        for slot, between in needed:
            floats = samples.floats[slot][runs]
            if between.low is not None:
                inside &= floats >= float(between.low)
            if between.high is not None:
                inside &= floats <= float(between.high)
        found[runs[inside]] = True
    return found


def _matching_outputs(sheet: Sheet, places: Sequence[Any]) -> Array:
    """The outputs of a sheet that match, as far as their numbers stand in the table; none where a float would have to be a number."""
    rows = np.ones(len(sheet.codes), dtype=np.bool_)
    for slot, (kind, place) in enumerate(zip(sheet.kinds, places, strict=True)):
        column = sheet.numbers[:, slot]
        if not isinstance(place, Between):
            rows &= (column == place) if type(place) is kind else np.zeros_like(rows)
        elif kind is not FLOAT:
            whole = column.dtype != object
            if place.low is not None:
                rows &= (column >= (float(ceil(place.low)) if whole else place.low)).astype(np.bool_)
            if place.high is not None:
                rows &= (column <= (float(floor(place.high)) if whole else place.high)).astype(np.bool_)
    return np.asarray(sheet.codes[rows])


def _form_of(pattern: Any) -> Any:
    """The form of the outputs that a pattern may match."""
    if isinstance(pattern, Between):
        return SLOT
    if isinstance(pattern, list | tuple):
        return type(pattern)(map(_form_of, pattern))
    return form_of(pattern)


def _places(pattern: Any) -> Iterator[Any]:
    """What stands in the slots of a pattern."""
    if isinstance(pattern, Between) or is_number(pattern):
        yield pattern
    elif isinstance(pattern, list | tuple):
        for part in pattern:
            yield from _places(part)


def _runs_beginning_with(begin: Sequence[Any], samples: Samples) -> Array:
    """The runs whose outputs are lists that begin with something."""
    always = np.zeros(len(samples.outputs), dtype=np.bool_)
    sometimes = []
    if any(map(has_interval, begin)):
        for code, output in enumerate(samples.outputs):
            needed = _match(list(begin), _start(output, len(begin)), [0])
            always[code] = needed is not None and not needed
            if needed:
                sometimes.append((np.array([code]), needed))
        return _runs(samples, always, sometimes)
    items = samples.items
    wanted = [items.known.get(identity_of(item), -2) for item in begin]
    if len(wanted) <= items.rows.shape[1]:
        always[items.codes[(items.rows[:, : len(wanted)] == wanted).all(axis=1)]] = True
    return always[samples.codes]


def _beyond(form: str, weights: Sequence[float], threshold: float, samples: Samples) -> Array:
    """The runs whose outputs have a form and a weighted sum of numbers that reaches a threshold."""
    found = np.zeros(len(samples), dtype=np.bool_)
    row = np.zeros(len(samples.outputs), dtype=np.int64)
    for sheet in samples.sheets:
        if sheet.form != form:
            continue
        here = np.zeros(len(samples.outputs), dtype=np.bool_)
        here[sheet.codes] = True
        row[sheet.codes] = np.arange(len(sheet.codes))
        runs = np.flatnonzero(here[samples.codes])
        total = (sheet.numbers.astype(np.float64) @ np.array(weights))[row[samples.codes[runs]]]
        for slot, kind in enumerate(sheet.kinds):
            if kind is FLOAT:
                total = total + weights[slot] * samples.floats[sheet.beside(slot)][runs]
        found[runs] = total >= threshold
    return found


def _start(output: Any, size: int) -> Any:
    return list(output[:size]) if isinstance(output, list | tuple) else output


def _match(pattern: Any, output: Any, slot: list[int]) -> list[tuple[int, Between]] | None:
    """Where floats have to lie for an output to match; None if it does not."""
    if output is FLOAT:
        here = slot[0]
        slot[0] += 1
        if not isinstance(pattern, Between):
            return None
        return [] if pattern == ANY else [(here, pattern)]
    match pattern:
        case Between(low, high):
            if not is_number(output):
                return None
            return [] if (low is None or output >= low) and (high is None or output <= high) else None
        case list() | tuple():
            if type(output) is not type(pattern) or len(output) != len(pattern):
                return None
            needed: list[tuple[int, Between]] = []
            for wanted, part in zip(pattern, output, strict=True):
                more = _match(wanted, part, slot)
                if more is None:
                    return None
                needed += more
            return needed
        case _:
            return [] if type(pattern) is type(output) and pattern == output else None


def patterns_of_event(event: Event, outputs: Sequence[Any]) -> tuple[Any, ...]:
    """The patterns that an event consists of; for what outputs begin with, those outputs that occurred, with any number for floats."""
    match event:
        case OneOf(patterns):
            return patterns
        case ListBeginning(items):
            begun = [o for o in outputs if _match(list(items), _start(o, len(items)), [0]) is not None]
            return tuple(_with_floats(output) for output in begun)
        case HalfSpace() | Having(FloatBits()):
            return ()
        case Having():
            table = Samples(np.arange(len(outputs)), tuple(outputs))
            return tuple(output for output, inside in zip(outputs, occurs(event, table), strict=True) if inside)


def _with_floats(output: Any) -> Any:
    if output is FLOAT:
        return ANY
    return type(output)(map(_with_floats, output)) if isinstance(output, list | tuple) else output


def outputs_in_patterns(patterns: Sequence[Any], outputs: Sequence[Any]) -> tuple[Any, ...]:
    """The outputs that occurred and lie in one of several patterns."""
    return tuple(o for o in outputs if any(_match(pattern, o, [0]) is not None for pattern in patterns))
