"""The data sets over declared inputs, value by value.

Every private value is a `DataCell`: a number within bounds that may change by a *step* between neighbours; a record is the number of its
value.  A `Space` holds the cells of all private inputs, and turns numbers into data sets and back.  What is systematic about a data
set is said by *levels*: whole multiples of the unit of a cell above a place within the bounds.  Values of public inputs, which
neighbours share, are listed beside: all of them where they are few.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import islice, product
from math import floor, prod
from typing import Any, Literal, TypeAlias

from privproof.audits.sampling.adjacent_data import Adjacent, bounds, fits, is_adjacent, private_inputs, refuse_relation
from privproof.errors import LanguageError, QuestionError
from privproof.exact import fraction
from privproof.language.inputs import Input
from privproof.language.mechanism import Relation

MOST = 60
"""So many pairs, or public values, are tried where there are more."""
FAR = 100
"""So many units away from where bounds are missing."""

Place: TypeAlias = Literal["low", "high", "middle"]
Levels: TypeAlias = "tuple[int, ...]"
Pattern: TypeAlias = "tuple[Levels, Levels]"
Numbers: TypeAlias = "list[Fraction]"
Data: TypeAlias = "dict[str, Any]"


@dataclass(frozen=True)
class DataCell:
    """One private value, as a number; a record is the number of its value.

    Attributes:
        declared: its input.
        unit: by how much levels differ.
        step: by how much it may change; 0 if it may not.
        low: its least value, if there is one.
        high: its largest value, if there is one.
    """

    declared: Input
    unit: Fraction
    step: Fraction
    low: Fraction | None
    high: Fraction | None

    @classmethod
    def of(cls, declared: Input, relation: Relation) -> DataCell:
        """A value of an input.

        >>> from privproof import integer
        >>> DataCell.of(integer(3, 40, sensitivity="7/2"), "each").step
        Fraction(3, 1)
        """
        if declared.within is None:
            still = relation == "monotone"
            last = Fraction(len(declared.values or ()) - 1)
            return cls(declared, Fraction(1), Fraction(0 if still else 1), Fraction(0), last)
        within = fraction(declared.within)
        step = within if declared.real else Fraction(floor(within))
        return cls(declared, step or Fraction(1), step, *bounds(declared))

    @property
    def record(self) -> bool:
        """Whether it may change in any way."""
        return self.declared.within is None

    @property
    def count(self) -> int | None:
        """How many values there are; None for infinitely many, or nobody counts them."""
        if self.declared.real or self.low is None or self.high is None:
            return None
        return int(self.high - self.low) + 1

    @property
    def every(self) -> Numbers:
        """All its values, where they are counted."""
        return [Fraction(number) for number in range(int(self.low or 0), int(self.high or 0) + 1)]

    @property
    def near(self) -> int:
        """How many ordered pairs of different values it may take on two sides."""
        assert self.count is not None
        furthest = min(self.count - 1, (self.count if self.record else 1) * int(self.step))
        return furthest * (2 * self.count - furthest - 1)

    @property
    def middle(self) -> Fraction | None:
        """The number halfway between both bounds; None where one is missing."""
        if self.low is None or self.high is None:
            return None
        middle = (self.low + self.high) / 2
        return middle if self.declared.real else Fraction(floor(middle))

    def clipped(self, number: Fraction) -> Fraction:
        """The nearest number within the bounds."""
        number = number if self.low is None else max(number, self.low)
        return number if self.high is None else min(number, self.high)

    def value(self, number: Fraction) -> Any:
        """The value that has this number."""
        if self.record:
            assert self.declared.values is not None
            return self.declared.values[int(number)]
        return int(number) if number.denominator == 1 else number

    def number(self, value: Any) -> Fraction:
        """The number of a value."""
        if self.record:
            assert self.declared.values is not None
            return Fraction(self.declared.values.index(value))
        return Fraction(value)

    def origin(self, place: Place, lowest: int, highest: int) -> Fraction:
        """The number at level 0, where the levels from the lowest to the highest are to be at a place within the bounds."""
        low, high = self.low, self.high
        if self.record:
            return Fraction(0)
        if place == "middle" and (middle := self.middle) is not None:
            return middle - (lowest + highest) // 2 * self.unit
        if place == "low" and low is not None:
            return low - lowest * self.unit
        if high is not None:
            return high - highest * self.unit - (FAR * self.unit if place == "middle" else 0)
        base = Fraction(0) if low is None else low
        return base + {"low": -lowest, "high": FAR, "middle": -highest if low is None else 10}[place] * self.unit


class Space:
    """The data sets over the private inputs, value by value.

    Attributes:
        inputs: all declared inputs.
        relation: which data sets are neighbours.
        lengths: the length of every list and stream.
        private: the inputs that may differ between neighbours.
        cells: their values, one after the other.
        parts: which of the cells belong to an input.
    """

    def __init__(self, inputs: Mapping[str, Input], relation: Relation, lengths: Mapping[str, int]) -> None:
        refuse_relation(inputs, relation)
        self.inputs, self.relation, self.lengths = inputs, relation, lengths
        self.private = private_inputs(inputs)
        self.parts: dict[str, slice] = {}
        self.cells: list[DataCell] = []
        for name, declared in self.private.items():
            start = len(self.cells)
            self.cells += [DataCell.of(declared, relation)] * lengths.get(name, 1)
            self.parts[name] = slice(start, len(self.cells))

    @classmethod
    def of(cls, inputs: Mapping[str, Input], relation: Relation, size: int | None, fixed: Mapping[str, Any]) -> Space:
        """The data sets where lists and streams have a size, and public inputs the values given.

        Raises:
            LanguageError: there is no such relation for these inputs, or a value given is none of the input.
            QuestionError: the size is missing.

        >>> from privproof import queries
        >>> Space.of({"q": queries(0, 2)}, "each", 3, {}).total
        27
        """
        refuse_values(inputs, fixed)
        return cls(inputs, relation, _lengths(inputs, size, fixed))

    @property
    def total(self) -> int | None:
        """How many data sets there are; None for infinitely many."""
        counts = [cell.count for cell in self.cells]
        return None if None in counts else prod(k for k in counts if k is not None)

    def every(self) -> Iterator[Data]:
        """All data sets, where they are finitely many."""
        return (self.data(numbers) for numbers in product(*(cell.every for cell in self.cells)))

    def data(self, numbers: Sequence[Fraction]) -> Data:
        """The data set with these numbers."""
        values = [cell.value(number) for cell, number in zip(self.cells, numbers, strict=True)]
        return {n: values[self.parts[n]] if n in self.lengths else values[self.parts[n].start] for n in self.private}

    def numbers(self, data: Mapping[str, Any]) -> Numbers:
        """The numbers of a data set."""
        values = [v for name in self.private for v in (data[name] if name in self.lengths else [data[name]])]
        return [cell.number(value) for cell, value in zip(self.cells, values, strict=True)]

    def pair(self, left: Sequence[Fraction], right: Sequence[Fraction], public: Mapping[str, Any]) -> Adjacent | None:
        """The pair with these numbers, if they are neighbours."""
        both = Adjacent(*({**public, **self.data(side)} for side in (left, right)))
        return self.sorted(both) if is_adjacent(both, self.inputs, self.relation) else None

    def sorted(self, pair: Adjacent) -> Adjacent:
        """The arguments in the order of the inputs."""
        return Adjacent(*({name: side[name] for name in self.inputs} for side in (pair.left, pair.right)))

    def placed(self, pattern: Pattern, place: Place) -> tuple[Data, Data]:
        """The two data sets of a pattern at a place within the bounds."""
        lowest, highest = min(map(min, pattern)), max(map(max, pattern))
        sides: tuple[Numbers, Numbers] = ([], [])
        for cell, one, other in zip(self.cells, *pattern, strict=True):
            at = cell.origin(place, lowest, highest) + one * cell.unit
            sides[0].append(cell.clipped(at))
            sides[1].append(cell.clipped(at + (other - one) * cell.step))
        return self.data(sides[0]), self.data(sides[1])


def without(data: Data, name: str, place: int) -> Data:
    """The data set without one record of a list.

    >>> without({"q": ["a", "b", "c"]}, "q", 1)
    {'q': ['a', 'c']}
    """
    return {**data, name: data[name][:place] + data[name][place + 1 :]}


def _lengths(inputs: Mapping[str, Input], size: int | None, fixed: Mapping[str, Any]) -> dict[str, int]:
    """The length of every list and stream."""
    found = {}
    for name, declared in inputs.items():
        if declared.shape == "value":
            continue
        given = len(fixed[name]) if name in fixed else None
        length = given or (declared.size if declared.shape == "list" and declared.size else size)
        if length is None:
            raise QuestionError("size", f"how long is {name}?", place=name, hint="--size 3, or size=3")
        if length < 1:
            raise QuestionError("size", f"size={length}: a list has at least one element", place="size", hint="size=3")
        found[name] = length
    return found


def refuse_values(inputs: Mapping[str, Input], fixed: Mapping[str, Any]) -> None:
    """Refuses what is no value of a public input."""
    for name, value in fixed.items():
        declared = inputs.get(name)
        if declared is None or not declared.public:
            names = ", ".join(n for n, one in inputs.items() if one.public) or "there is none"
            raise LanguageError("input", f"{name!r} is no public input", place=name, hint=f"public inputs: {names}")
        if not fits(declared, value) or (declared.shape != "value" and not value):
            raise LanguageError("input", f"{name}={value!r} is no value of {declared}", place=name)


def public_data(space: Space, fixed: Mapping[str, Any]) -> list[Data]:
    """Values of the public inputs, those that are early in every list first: all of them where they are few.

    >>> from privproof import integer, public
    >>> public_data(Space.of({"n": public(integer(0, 2)), "x": integer()}, "each", None, {}), {})
    [{'n': 1}, {'n': 2}, {'n': 0}]
    """
    names = [name for name, declared in space.inputs.items() if declared.public]
    choices = [[fixed[name]] if name in fixed else _choices(space, name) for name in names]
    some = islice(product(*(range(len(values)) for values in choices)), 10 * MOST)
    ranks = sorted(some, key=lambda ranks: (prod(k + 1 for k in ranks), ranks))[:MOST]
    return [{name: values[k] for name, values, k in zip(names, choices, chosen, strict=True)} for chosen in ranks]


def public_values(declared: Input) -> list[Any]:
    """Values of a public input, or of each element of it."""
    if declared.within is None:
        return list(declared.values or ())[:MOST]
    cell = DataCell.of(declared, "each")
    numbers = [Fraction(k) for k in ((0, "1/2", 1, 2, 5, 10, -1) if declared.real else (1, 2, 3, 0, 5, 10, -1))]
    numbers += [cell.low + k for k in range(3)] if cell.low is not None else []
    numbers += [cell.high - k for k in range(3)] if cell.high is not None else []
    numbers += [cell.middle] if cell.middle is not None else []
    numbers += cell.every if cell.count is not None and cell.count <= MOST else []
    return [cell.value(number) for number in dict.fromkeys(numbers) if cell.clipped(number) == number]


def alternate_levels(first: int, second: int, size: int) -> Levels:
    """One level and another in turn."""
    return tuple(second if i % 2 else first for i in range(size))


def halves(first: int, second: int, size: int) -> Levels:
    """One level in the first half, another in the second."""
    return (*[first] * (size // 2), *[second] * (size - size // 2))


def _choices(space: Space, name: str) -> list[Any]:
    """Values of one public input."""
    some = public_values(space.inputs[name])
    if name not in space.lengths:
        return some
    length = space.lengths[name]
    if space.inputs[name].values is not None and len(some) ** length <= MOST:
        return [list(values) for values in product(some, repeat=length)]
    mixed = [alternate_levels(0, 1, length), halves(0, 1, length)] if len(some) > 1 else []
    listed = [[value] * length for value in some] + [[some[i] for i in order] for order in mixed]
    return [values for i, values in enumerate(listed) if values not in listed[:i]]
