"""Tensors with shared parts: a tensor over sequences of inputs in which equal sub-tensors are one node.

A node of depth k is the sub-tensor of a prefix of k inputs: its children are those of the prefix and one input more, and at depth n it
is a number.  Nodes with the same children are one node, so that two sub-tensors are equal exactly if they are the same node, and an
operation on a node is done once however many prefixes lead there.  Mechanisms forget: after k inputs noisy max knows the best answer
and how often each value occurred, in no order, and its 3^12 probabilities of an output are a diagram of a few hundred nodes.

Before that, states that no continuation tells apart for the output in view are one class (lumping: every input leads from both into
every class with the same weight), so that a prefix is known by the weights of few classes.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from itertools import chain
from math import prod
from operator import mul
from struct import pack, unpack
from typing import TypeAlias

from privproof_checker.numbers.patience import pause

Windows: TypeAlias = list[tuple[int, int]]
"""For every position along an axis the first and the last position of its window."""

Moves: TypeAlias = Mapping[int, Sequence[Sequence[tuple[int, int]]]]
"""From a state to its row under every input: states with weights."""

_WORD = 8
"""Bytes of the numbers that are unpacked all at once."""
_PER_ENTRY, _PER_NODE, _PLAIN = 32, 50, 8
"""So many multiplications for every entry of the tensor take about as long as the tensor as a list; a node takes as long as so many;
and so many with 0 or 1 take as long as one."""


class Diagram:
    """Nodes with shared parts, all of one number of axes and one width; a node is its number.

    Attributes:
        children: for every node its children; of a number, none.
        values: the numbers, by node.
    """

    def __init__(self) -> None:
        self.children: list[tuple[int, ...]] = []
        self.values: dict[int, int] = {}
        self._known: dict[tuple[int, ...] | int, int] = {}
        self._minima: dict[tuple[int, int], int] = {}

    def number(self, value: int) -> int:
        """The node of a number."""
        node = self._known.get(value)
        if node is None:
            node = self._known[value] = len(self.children)
            self.children.append(())
            self.values[node] = value
        return node

    def joined(self, children: tuple[int, ...]) -> int:
        """The node with these children."""
        node = self._known.get(children)
        if node is None:
            node = self._known[children] = len(self.children)
            self.children.append(children)
        return node

    def minimum(self, one: int, other: int) -> int:
        """The smaller entries of two nodes of one depth.

        >>> diagram = Diagram()
        >>> row = diagram.joined((diagram.number(3), diagram.number(5)))
        >>> least = diagram.minimum(row, diagram.joined((diagram.number(4), diagram.number(1))))
        >>> [diagram.values[node] for node in diagram.children[least]]
        [3, 1]
        """
        if one == other:
            return one
        values = self.values
        if one in values:
            return one if values[one] < values[other] else other
        pair = (one, other) if one < other else (other, one)
        node = self._minima.get(pair)
        if node is None:
            pause()
            children = zip(self.children[one], self.children[other], strict=True)
            if self.children[one][0] in values:
                node = self.joined(tuple([x if values[x] <= values[y] else y for x, y in children]))
            else:
                node = self.joined(tuple([x if x == y else self.minimum(x, y) for x, y in children]))
            self._minima[pair] = node
        return node

    def slid(self, nodes: tuple[int, ...], windows: Windows) -> tuple[int, ...]:
        """For every position the minimum over its window of nodes."""
        return tuple([reduce(self.minimum, nodes[low : high + 1]) for low, high in windows])

    def erosions(self, kind: str, node: int, windows: Windows) -> Iterator[int]:
        """The erosions of a node, for a relation; the claim is about all of them."""
        if kind == "one":
            yield self._along_one(node, windows, {})
            return
        upwards = [(k, high) for k, (_, high) in enumerate(windows)]
        downwards = [(low, k) for k, (low, _) in enumerate(windows)]
        for chosen in [windows] if kind == "each" else [upwards, downwards]:
            yield self._along_all(node, chosen, {})

    def _along_all(self, node: int, windows: Windows, known: dict[int, int]) -> int:
        """The minimum over the windows along every axis."""
        if node in self.values:
            return node
        if node not in known:
            below = tuple([self._along_all(child, windows, known) for child in self.children[node]])
            known[node] = self.joined(self.slid(below, windows))
        return known[node]

    def _along_one(self, node: int, windows: Windows, known: dict[int, int]) -> int:
        """The minimum over the windows along one axis, whichever."""
        if node in self.values:
            return node
        if node not in known:
            children = self.children[node]
            here = self.slid(children, windows)
            later = (self._along_one(child, windows, known) for child in children)
            known[node] = self.joined(tuple(map(self.minimum, here, later)))
        return known[node]

    def pairs(self, one: int, other: int) -> Iterator[tuple[int, int]]:
        """All pairs of numbers that stand at the same place of two nodes, each pair once."""
        seen = {(one, other)}
        waiting = [(one, other)]
        while waiting:
            left, right = waiting.pop()
            if left in self.values:
                yield self.values[left], self.values[right]
                continue
            for pair in zip(self.children[left], self.children[right], strict=True):
                if pair not in seen:
                    seen.add(pair)
                    waiting.append(pair)


def shared_tensor(
    start: Mapping[int, int], steps: Sequence[Moves], final: Mapping[int, int]
) -> tuple[Diagram, int] | None:
    """The tensor ``start M_v final`` over all sequences v of inputs; None if little of it is shared.

    The weights of a prefix on the classes, after every input, are one integer, with so many bytes for each that none overflows into the
    next: no weight is above the whole weight at the start times, for every step, the largest sum of a row.

    Args:
        start: the weights of states at the beginning.
        steps: for every step, from a state to its row under every input.
        final: the weights of states at the end; no weight is below 0.

    >>> count = {0: (((0, 1),), ((0, 1), (1, 1))), 1: (((1, 1),), ((1, 1),))}
    >>> diagram, node = shared_tensor({0: 1}, [count] * 12, {0: 0, 1: 1})
    >>> len(diagram.values), len(diagram.children)
    (13, 91)
    """
    if not all(steps):
        return None  # somewhere no state is left
    left = _PER_ENTRY * prod(len(next(iter(step.values()))) for step in steps)
    lumped = _lump_states(start, steps, final, left * _PLAIN)
    if lumped is None:
        return None
    first, smaller, last = lumped
    whole = sum(first)
    rows: list[Sequence[int]] = [first]
    levels: list[list[tuple[int, ...]]] = []
    for step in smaller:
        left -= len(rows) * len(step.rows) * (len(rows[0]) * step.width + _PER_NODE)
        if left < 0:
            return None
        pause()
        whole *= step.largest
        size = max(_WORD, (whole.bit_length() + 7) // 8)
        length = size * step.width
        ends = range(length, (len(step.rows) + 1) * length, length)
        columns = [_pack_row(list(chain.from_iterable(row)), size) for row in zip(*step.rows, strict=True)]
        known: dict[bytes, int] = {}
        level: list[tuple[int, ...]] = []
        for row in rows:
            data = sum(map(mul, row, columns)).to_bytes(ends[-1], "little")
            level.append(tuple([known.setdefault(data[end - length : end], len(known)) for end in ends]))
        levels.append(level)
        rows = [_unpack_row(key, size, step.width) for key in known]
    diagram = Diagram()
    nodes = [diagram.number(sum(map(mul, row, last))) for row in rows]
    for level in reversed(levels):
        nodes = [diagram.joined(tuple([nodes[child] for child in children])) for children in level]
    [root] = nodes
    return diagram, root


def _pack_row(row: Sequence[int], size: int) -> int:
    """Numbers as one, each in so many bytes.

    >>> _pack_row([1, 0, 2], 8) == 1 + 2 * 2**128
    True
    """
    if size == _WORD:
        return int.from_bytes(pack(f"<{len(row)}Q", *row), "little")
    return int.from_bytes(b"".join([entry.to_bytes(size, "little") for entry in row]), "little")


def _unpack_row(data: bytes, size: int, width: int) -> Sequence[int]:
    """The numbers that were packed.

    >>> _unpack_row((1 + 2 * 2**128).to_bytes(24, "little"), 8, 3), _unpack_row((5 + 7 * 2**72).to_bytes(18, "little"), 9, 2)
    ((1, 0, 2), [5, 7])
    """
    if size == _WORD:
        return unpack(f"<{width}Q", data)
    return [int.from_bytes(data[k : k + size], "little") for k in range(0, len(data), size)]


@dataclass(frozen=True)
class _Lumped:
    """A step between classes of states.

    Attributes:
        width: the number of classes after it.
        rows: for every input, for every class before the step, the weights of the classes after it.
        largest: the largest sum of such weights.
    """

    width: int
    rows: list[list[tuple[int, ...]]]
    largest: int


def _lump_states(
    start: Mapping[int, int], steps: Sequence[Moves], final: Mapping[int, int], left: int
) -> tuple[list[int], list[_Lumped], list[int]] | None:
    """The weights of classes at the start, the steps between classes, and the weights of classes at the end.

    States from which every sequence of inputs weighs the same are one class.  None if it takes more than so many small operations.
    """
    weights: dict[int, int] = {}
    classes = {state: weights.setdefault(weight, len(weights)) for state, weight in final.items()}
    width = len(weights)
    found: list[_Lumped] = []
    for step in reversed(steps):
        inputs = len(next(iter(step.values())))
        left -= sum(inputs * width + _PLAIN * sum(map(len, rows)) for rows in step.values())
        if left < 0:
            return None
        pause()
        listed: dict[tuple[int, ...], int] = {}
        before: dict[int, int] = {}
        for state, rows in step.items():
            sums = [0] * (inputs * width)
            first = 0
            for row in rows:
                for target, weight in row:
                    sums[first + classes[target]] += weight
                first += width
            before[state] = listed.setdefault(tuple(sums), len(listed))
        cuts = range(0, inputs * width, width)
        by_input = [[key[first : first + width] for key in listed] for first in cuts]
        found.append(_Lumped(width, by_input, max(sum(row) for by_class in by_input for row in by_class)))
        classes, width = before, len(listed)
    first_row = [0] * width
    for state, weight in start.items():
        first_row[classes[state]] += weight
    return first_row, found[::-1], list(weights)
