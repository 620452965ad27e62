"""Events: sets of outputs that an audit counts, in words that can be read and patterns that can be decided exactly.

An event is one of several patterns (single outputs; half-lines, intervals and boxes where outputs have numbers), what outputs begin with,
or a half-space of the numbers of one form.  `occurs` tells for every run whether the event occurred; comparisons are exact, because the
ends of intervals are fractions that floats represent.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, TypeAlias

import numpy as np

from privproof.engines.sampling.columns import Array
from privproof.engines.sampling.samples import FLOAT, Samples
from privproof.language.patterns import ANY, Between, shown

_LISTED = 6


class Slot:
    """Stands for a number in the form of outputs."""

    def __repr__(self) -> str:
        return "number"


SLOT = Slot()


@dataclass(frozen=True)
class OneOf:
    """The output is one of several patterns, which do not overlap."""

    patterns: tuple[Any, ...]

    def __str__(self) -> str:
        texts = [shown(pattern) for pattern in self.patterns]
        if len(texts) == 1:
            return f"the output is {texts[0]}"
        more = f", or one of {len(texts) - _LISTED} more" if len(texts) > _LISTED else ""
        return f"the output is one of {', '.join(texts[:_LISTED])}{more}"


@dataclass(frozen=True)
class Beginning:
    """The output is a list that begins with something."""

    items: tuple[Any, ...]

    def __str__(self) -> str:
        return f"the output begins with {', '.join(map(shown, self.items))}"


@dataclass(frozen=True)
class HalfSpace:
    """The output has a form, and a weighted sum of its numbers reaches a threshold."""

    form: Any
    weights: tuple[float, ...]
    threshold: float

    def __str__(self) -> str:
        terms = [f"{weight:+.4g} x{i}" for i, weight in enumerate(self.weights, 1) if weight]
        return f"the output is {form_words(self.form)} with {' '.join(terms)} ≥ {self.threshold:.6g}"


Event: TypeAlias = "OneOf | Beginning | HalfSpace"


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


def is_number(value: Any) -> bool:
    """Whether a value in the table of outputs is a number: whole, a fraction, or a float that stands beside the table."""
    return value is FLOAT or (isinstance(value, int | Fraction) and not isinstance(value, bool))


def form_of(output: Any) -> Any:
    """An output with slots in the place of its numbers."""
    if is_number(output):
        return SLOT
    if isinstance(output, list | tuple):
        return type(output)(form_of(part) for part in output)
    return output


def numbers_of(output: Any) -> Iterator[Any]:
    """The numbers of an output from left to right, `FLOAT` for those that stand beside the table."""
    if is_number(output):
        yield output
    elif isinstance(output, list | tuple):
        for part in output:
            yield from numbers_of(part)


def occurs(event: Event, samples: Samples) -> Array:
    """For every run, whether an event occurred."""
    match event:
        case OneOf(patterns):
            return _any(samples, [_matches(pattern, samples.outputs) for pattern in patterns])
        case Beginning(items):
            size = len(items)
            return _any(samples, [_matches(list(items), [_start(output, size) for output in samples.outputs])])
        case HalfSpace(form, weights, threshold):
            text = repr(form)
            codes = [code for code, output in enumerate(samples.outputs) if repr(form_of(output)) == text]
            found = np.zeros(len(samples), dtype=np.bool_)
            for code in codes:
                runs = np.flatnonzero(samples.codes == code)
                total = np.zeros(len(runs))
                slot = 0
                for weight, number in zip(weights, numbers_of(samples.outputs[code]), strict=True):
                    total += weight * (samples.floats[slot][runs] if number is FLOAT else float(number))
                    slot += number is FLOAT
                found[runs] = total >= threshold
            return found


def _start(output: Any, size: int) -> Any:
    return list(output[:size]) if isinstance(output, list | tuple) else output


Needs: TypeAlias = Mapping[int, Sequence[tuple[int, Between]]]
"""Which outputs of a table match a pattern, and where their floats have to lie for it."""


def _matches(pattern: Any, outputs: Sequence[Any]) -> Needs:
    found = {}
    for code, output in enumerate(outputs):
        needed = _match(pattern, output, [0])
        if needed is not None:
            found[code] = needed
    return found


def _any(samples: Samples, listed: Sequence[Needs]) -> Array:
    """The runs whose outputs match one of several patterns."""
    always = np.zeros(len(samples.outputs), dtype=np.bool_)
    for needs in listed:
        always[[code for code, needed in needs.items() if not needed]] = True
    found = always[samples.codes]
    runs: dict[int, Array] = {}
    for needs in listed:
        for code, needed in needs.items():
            if not needed or always[code]:
                continue
            if code not in runs:
                runs[code] = np.flatnonzero(samples.codes == code)
            inside = np.ones(len(runs[code]), dtype=np.bool_)
            for slot, between in needed:
                floats = samples.floats[slot][runs[code]]
                if between.low is not None:
                    inside &= floats >= float(between.low)
                if between.high is not None:
                    inside &= floats <= float(between.high)
            found[runs[code]] |= inside
    return found


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


def filled(form: Any, places: Sequence[Any]) -> Any:
    """A form with patterns in its slots, from left to right."""
    remaining = iter(places)

    def fill(part: Any) -> Any:
        if part is SLOT:
            return next(remaining)
        if isinstance(part, list | tuple):
            return type(part)(fill(inner) for inner in part)
        return part

    return fill(form)


def singled(event: Event, outputs: Sequence[Any]) -> tuple[Any, ...]:
    """The patterns that an event consists of; for what outputs begin with, those outputs that occurred, with any number for floats."""
    match event:
        case OneOf(patterns):
            return patterns
        case Beginning(items):
            begun = [o for o in outputs if _match(list(items), _start(o, len(items)), [0]) is not None]
            return tuple(_with_floats(output) for output in begun)
        case HalfSpace():
            return ()


def _with_floats(output: Any) -> Any:
    if output is FLOAT:
        return ANY
    return type(output)(map(_with_floats, output)) if isinstance(output, list | tuple) else output


def listed(patterns: Sequence[Any], outputs: Sequence[Any]) -> tuple[Any, ...]:
    """The outputs that occurred and lie in one of several patterns."""
    return tuple(o for o in outputs if any(_match(pattern, o, [0]) is not None for pattern in patterns))
