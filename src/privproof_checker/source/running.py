"""A run of a program, what it meets on its way, and how much work is left; all that a run holds, copied, compared and forgotten."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any, TypeAlias

from privproof_checker.numbers.patience import pause
from privproof_checker.source.forms import Deciding, Form
from privproof_checker.source.laws import Law
from privproof_checker.source.values import (
    FORGOTTEN,
    Beyond,
    Cells,
    Labelled,
    Member,
    OpenList,
    Split,
    Stream,
    Table,
    Value,
    Walk,
    held,
    key,
    with_items,
)

ATOMS = frozenset((int, bool, str, type(None), Fraction, float, Member, type(FORGOTTEN)))
"""The types of values that hold nothing else, and no noise."""


@dataclass(frozen=True)
class Noise:
    """Noise is drawn; its value goes on top of the stack."""

    law: Law


@dataclass(frozen=True)
class Wait:
    """An input is needed that is not there yet."""


@dataclass(frozen=True)
class Emit:
    """An output is written."""

    value: Value


@dataclass(frozen=True)
class End:
    """The run has ended with a value."""

    value: Value


Event: TypeAlias = "Noise | Wait | Emit | End | Split | Deciding"


@dataclass(eq=False)
class Frame:
    """A function that runs: the next instruction, the variables, the stack."""

    function: int
    at: int
    variables: dict[str, Value]
    stack: list[Value] = field(default_factory=list)


@dataclass(eq=False)
class Run:
    """A run: the frames, the innermost last."""

    frames: list[Frame]


class Work:
    """How much may still be done before the checker gives up."""

    def __init__(self, most: int) -> None:
        self.most = self.left = most

    def spend(self, amount: int) -> None:
        """Count some work."""
        pause()
        self.left -= amount
        if self.left < 0:
            raise Beyond(f"it takes more than {self.most} steps", "question.source")


def held_values(run: Run) -> Iterator[Value]:
    """The values of all variables and stacks, in order."""
    for frame in run.frames:
        for name in sorted(frame.variables):
            yield frame.variables[name]
        yield from frame.stack


def _inside(value: Value) -> Sequence[Value]:
    """What a value holds, but for values that hold nothing."""
    return [item for item in held(value) if type(item) not in ATOMS]


def holders(run: Run) -> Iterator[Any]:
    """The lists and streams that a run holds, each once."""
    waiting, seen = list(held_values(run)), set[int]()
    while waiting:
        value = waiting.pop()
        if isinstance(value, Cells | Stream):
            if id(value) in seen:
                continue
            seen.add(id(value))
            yield value
        waiting += _inside(value)


def forget_passed(run: Run) -> None:
    """Drop the elements of lists that only loops hold, and that these have passed."""
    if not any(isinstance(value, Walk) for frame in run.frames for value in frame.stack):
        return
    named: set[int] = set()
    walked: dict[int, tuple[Cells, int]] = {}
    seen: set[int] = set()
    waiting = list(held_values(run))
    while waiting:
        value = waiting.pop()
        if isinstance(value, Walk) and isinstance(value.over, Cells):
            over = value.over
            _, position = walked.get(id(over), (over, value.position))
            walked[id(over)] = (over, min(position, value.position))
            waiting += value.inner
            value = over
        elif isinstance(value, Cells):
            named.add(id(value))
        if id(value) not in seen:
            if isinstance(value, Cells):
                seen.add(id(value))
            waiting += _inside(value)
    for number, (cells, position) in walked.items():
        if number not in named and (not cells.fixed or cells.name is not None):
            cells.items[:position] = [FORGOTTEN] * min(position, len(cells.items))


class Copier:
    """Copies values; what is one list stays one list.  A change may put another value in the place of any that is not among `ATOMS`."""

    def __init__(self, change: Callable[[Value], Value] | None) -> None:
        self.change = change
        self.known: dict[int, Any] = {}
        self.count = 0

    def value(self, value: Value) -> Value:
        self.count += 1
        if type(value) in ATOMS:
            return value
        if self.change is not None:
            changed = self.change(value)
            if changed is not value:
                return changed
        if isinstance(value, tuple):
            if not value:
                return value
            items = [self.value(item) for item in value]
            same = all(x is y for x, y in zip(items, value, strict=True))
            return value if same else with_items(value, items)
        if isinstance(value, Cells):
            if value.fixed and value.name is None and self.change is None:
                return value
            if id(value) not in self.known:
                self.known[id(value)] = copy = Cells([], value.fixed, value.name)
                copy.items = [item if type(item) in ATOMS else self.value(item) for item in value.items]
                self.count += len(copy.items)
            return self.known[id(value)]
        if isinstance(value, Stream):
            if id(value) not in self.known:
                self.known[id(value)] = replace(value)
            return self.known[id(value)]
        items = [self.value(item) for item in held(value)]
        return with_items(value, items) if items else value


class Keys:
    """Keys of values; lists by number, so that one list under two names differs from two lists."""

    def __init__(self) -> None:
        self.numbers: dict[int, int] = {}
        self.count = 0

    def key(self, value: Value) -> Any:
        self.count += 1
        if type(value) in ATOMS:
            return key(value)
        if isinstance(value, Cells):
            if id(value) in self.numbers:
                return ("again", self.numbers[id(value)])
            self.numbers[id(value)] = number = len(self.numbers)
            self.count += len(value.items)
            items = [key(item) if type(item) in ATOMS else self.key(item) for item in value.items]
            return ("list", number, value.fixed, value.name, *items)
        if isinstance(value, OpenList):
            return value.mark
        if isinstance(value, Stream):
            return ("stream", value.name, key(value.given))
        if isinstance(value, Walk):
            over = value.over
            if isinstance(over, str | range):
                return ("walk", "rest", key(over[value.position :]))
            if isinstance(over, tuple):
                return ("walk", "rest", *map(self.key, over[value.position :]))
            position = 0 if isinstance(over, Stream) else value.position
            return ("walk", value.kind, position, over is None or self.key(over), *map(self.key, value.inner))
        if type(value) is tuple:
            return ("tuple", *map(self.key, value))
        if isinstance(value, Labelled):
            return ("labelled", value.name, value.labels, *map(self.key, value))
        if isinstance(value, Table):
            return ("table", *((self.key(k), self.key(v)) for k, v in value.rows))
        if isinstance(value, Form):
            return ("form", value.constant, *value.terms.items())
        return key(value)
