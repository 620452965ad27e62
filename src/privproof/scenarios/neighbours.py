"""Neighbour relations: which two data sets must look alike.

A data set is a tuple of numbers (the answers of n queries, the values of n records).  Relations are symmetric; both
directions are always checked.  Only `add_remove` relates data sets of different length.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from privproof.errors import PrivproofError, ScenarioError
from privproof.exact import Number, Rational, rational

Kind: TypeAlias = Literal["each", "one", "monotone", "add-remove", "pairs"]
DataSet: TypeAlias = tuple[Rational, ...]


@dataclass(frozen=True)
class Neighbours:
    """A neighbour relation on data sets.

    Build one with `each`, `one`, `monotone`, `add_remove` or `pairs`.

    Attributes:
        kind: which of the five.
        within: how much a coordinate may change; None for any change.
        listed: the pairs of a `pairs` relation.
        coordinates: for models whose *states* are the data sets: the tuple that each of them stands for.

    >>> Neighbours.each(within=1).related((rational(0), rational(1)), (rational(1), rational(2)))
    True
    >>> Neighbours.one(within=1).related((rational(0), rational(1)), (rational(1), rational(2)))
    False
    """

    kind: Kind
    within: Rational | None = None
    listed: tuple[tuple[tuple[str, ...], tuple[str, ...]], ...] = ()
    coordinates: Mapping[str, DataSet] | None = None

    @classmethod
    def each(
        cls, *, within: Number | None = 1, coordinates: Mapping[str, Sequence[Number]] | None = None
    ) -> Neighbours:
        """Every coordinate may change, by at most `within`."""
        return cls("each", _distance(within), coordinates=_coordinates(coordinates))

    @classmethod
    def one(cls, *, within: Number | None = 1, coordinates: Mapping[str, Sequence[Number]] | None = None) -> Neighbours:
        """One coordinate changes, by at most `within` (None: in any way)."""
        return cls("one", _distance(within), coordinates=_coordinates(coordinates))

    @classmethod
    def monotone(
        cls, *, within: Number | None = 1, coordinates: Mapping[str, Sequence[Number]] | None = None
    ) -> Neighbours:
        """Every coordinate may change by at most `within`, all in one direction."""
        return cls("monotone", _distance(within), coordinates=_coordinates(coordinates))

    @classmethod
    def add_remove(cls, *, coordinates: Mapping[str, Sequence[Number]] | None = None) -> Neighbours:
        """One data set has one coordinate more, anywhere, and the others are the same in the same order.

        >>> relation = Neighbours.add_remove()
        >>> relation.related((rational(0), rational(1)), (rational(1),)), relation.related((rational(0),), (rational(1),))
        (True, False)
        """
        return cls("add-remove", coordinates=_coordinates(coordinates, one_length=False))

    @classmethod
    def pairs(cls, listed: Iterable[tuple[Sequence[str], Sequence[str]]]) -> Neighbours:
        """Exactly the listed pairs of input sequences, each in both directions."""
        pairs = tuple((tuple(left), tuple(right)) for left, right in listed)
        if not pairs:
            raise ScenarioError(
                "empty-relation", "the list of neighbours is empty", place="neighbours", hint="name a pair"
            )
        for left, right in pairs:
            if len(left) != len(right):
                raise ScenarioError(
                    "neighbours",
                    f"{left} and {right} differ in length",
                    place="neighbours.pairs",
                    hint="listed neighbours have one length",
                )
        return cls("pairs", listed=pairs)

    def __str__(self) -> str:
        amount = "in any way" if self.within is None else f"by at most {self.within}"
        return {
            "each": f"every input may change {amount}",
            "one": f"one input changes {amount}",
            "monotone": f"all inputs may change in one direction {amount}",
            "add-remove": "one input is added or removed",
            "pairs": f"{len(self.listed)} listed pairs",
        }[self.kind]

    def close(self, left: Rational, right: Rational) -> bool:
        """Whether one coordinate may be `left` on one side and `right` on the other."""
        return self.within is None or abs(left - right) <= self.within

    def related(self, left: DataSet, right: DataSet) -> bool:
        """Whether two data sets are neighbours; a data set is not its own neighbour."""
        if self.kind == "add-remove":
            short, long = sorted((left, right), key=len)
            return any(long[:i] + long[i + 1 :] == short for i in range(len(long)))
        if left == right or len(left) != len(right):
            return False
        if not all(self.close(x, y) for x, y in zip(left, right, strict=True)):
            return False
        if self.kind == "one":
            return sum(x != y for x, y in zip(left, right, strict=True)) == 1
        if self.kind == "monotone":
            return all(x <= y for x, y in zip(left, right, strict=True)) or all(
                x >= y for x, y in zip(left, right, strict=True)
            )
        return True


def _distance(within: Number | None) -> Rational | None:
    if within is None:
        return None
    value = rational(within)
    if value <= 0:
        raise ScenarioError(
            "empty-relation",
            f"within={value} lets nothing change, so no two data sets are neighbours",
            place="neighbours",
            hint="give a positive distance",
        )
    return value


def _coordinates(
    given: Mapping[str, Sequence[Number]] | None, *, one_length: bool = True
) -> Mapping[str, DataSet] | None:
    if given is None:
        return None
    result = {}
    for name, values in given.items():
        if isinstance(values, str | int):
            values = (values,)
        try:
            result[name] = tuple(rational(value) for value in values)
        except PrivproofError as error:
            raise error.at(f"neighbours.coordinates.{name}") from None
    sizes = {len(values) for values in result.values()}
    if one_length and len(sizes) > 1:
        raise ScenarioError(
            "neighbours",
            f"data sets of different sizes {sorted(sizes)}",
            place="neighbours.coordinates",
            hint="neighbours have one length, unless the relation is add-remove",
        )
    return result
