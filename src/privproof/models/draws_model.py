"""Separate draws: mechanisms that read their data without noise, and then draw every part of their output by itself.

A *pass* goes through the entries of the data, one after the other, as a deterministic automaton; nothing is drawn that is looked at
again.  On the way, or at the end, it says from which *law* a part of the output is drawn.  The parts are independent given the data, so
the probability of an output is the product of the probabilities of its parts, and so is the largest ratio of two data sets.  Several
passes read the same data; they say nothing to each other.

A pass over 1,000 records that counts them has 1,001 states, and a histogram has a pass for every cell: the model grows with the sum of
what is counted, and not with the number of data sets or of outputs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

EXACTLY = "exactly"
"""The name of the law that gives its only argument always: a part of the output without noise."""

Moves: TypeAlias = tuple[tuple[int, ...], ...]
"""For every state the states to which each value leads, by its number; an empty row where no data set is that long."""

Shape: TypeAlias = "tuple[str, tuple[Shape, ...]] | Literal['part', 'written']"
"""How an output is made of its parts: ``part``, ``written`` for all parts that were written on the way, or a tuple or list of such."""


@dataclass(frozen=True)
class NoiseCall:
    """A law by its name and its arguments, plain values in the order in which the noise function takes them."""

    noise: str
    arguments: tuple[Any, ...]


@dataclass(frozen=True)
class Pass:
    """A pass over the data, from state 0 on.

    Attributes:
        moves: where each value leads.
        written: for every state and value the numbers of the laws from which parts are drawn on the way, equally many everywhere; empty
            where nothing is.
        ends: for every state in which the data may end the numbers of the laws from which parts are drawn then, equally many everywhere;
            None for the other states.
    """

    moves: Moves
    written: tuple[tuple[tuple[int, ...], ...], ...]
    ends: tuple[tuple[int, ...] | None, ...]

    @property
    def parts_on_the_way(self) -> int:
        """How many parts are drawn for every value that is read."""
        return len(self.written[0][0]) if self.written else 0

    @property
    def parts_at_the_end(self) -> int:
        """How many parts are drawn at the end."""
        return next(len(laws) for laws in self.ends if laws is not None)


@dataclass(frozen=True)
class Draws:
    """A mechanism of separate draws.

    Attributes:
        values: what an entry of the data may be.
        size: how many entries there are.
        laws: the laws.
        passes: the passes over the data.
        order: for every ``part`` of the shape, from left to right, its number among the parts drawn last.
        shape: how the output is made of its parts; ``written`` are all parts that are drawn before the last ones.
    """

    values: tuple[Any, ...]
    size: int
    laws: tuple[NoiseCall, ...]
    passes: tuple[Pass, ...]
    order: tuple[int, ...]
    shape: Shape

    def drawn(self, data: tuple[int, ...]) -> list[int]:
        """The numbers of the laws of all parts, pass by pass, on data that are given by the numbers of their values."""
        found: list[int] = []
        for each in self.passes:
            state = 0
            for value in data:
                if each.written:
                    found += each.written[state][value]
                state = each.moves[state][value]
            ends = each.ends[state]
            assert ends is not None
            found += ends
        return found

    def output(self, drawn: Sequence[Any]) -> Any:
        """The output that parts make, given pass by pass."""
        before = len(drawn) - len(self.order)
        last = iter([drawn[before + number] for number in self.order])

        def made(shape: Shape) -> Any:
            if isinstance(shape, str):
                return next(last)
            kind, inside = shape
            items: list[Any] = []
            for each in inside:
                items += drawn[:before] if each == "written" else [made(each)]
            return items if kind == "list" else tuple(items)

        return made(self.shape)
