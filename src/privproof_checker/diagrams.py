"""Tensors with shared parts: a tensor over sequences of inputs in which equal sub-tensors are one node.

A node of depth k is the sub-tensor of a prefix of k inputs: its children are those of the prefix and one input more, and at depth n it
is a number.  Nodes with the same children are one node, so that two sub-tensors are equal exactly if they are the same node, and an
operation on a node is done once however many prefixes lead there.  Mechanisms forget: after k inputs noisy max knows the best answer
and how often each value occurred, in no order, and its 3^12 probabilities of an output are a diagram of a few hundred nodes.

Before that, states that no continuation tells apart for the output in view are one class (lumping: every input leads from both into
every class with the same weight), so that a prefix is known by the weights of few classes.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import reduce
from itertools import chain
from math import gcd, prod
from typing import TypeAlias

from flint import fmpz, fmpz_mat

from privproof_checker.numbers.patience import pause

Windows: TypeAlias = list[tuple[int, int]]
"""For every position along an axis the first and the last position of its window."""

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
        pair = (one, other) if one < other else (other, one)
        node = self._minima.get(pair)
        if node is None:
            pause()
            if one in self.values:
                node = one if self.values[one] < self.values[other] else other
            else:
                children = zip(self.children[one], self.children[other], strict=True)
                node = self.joined(tuple(self.minimum(x, y) for x, y in children))
            self._minima[pair] = node
        return node

    def slid(self, nodes: tuple[int, ...], windows: Windows) -> tuple[int, ...]:
        """For every position the minimum over its window of nodes."""
        return tuple(reduce(self.minimum, nodes[low : high + 1]) for low, high in windows)

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
            below = tuple(self._along_all(child, windows, known) for child in self.children[node])
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


def shared_tensor(start: fmpz_mat, steps: list[list[fmpz_mat]], final: fmpz_mat) -> tuple[Diagram, int] | None:
    """The tensor ``start M_v final`` over all sequences v of inputs, up to a factor above 0; None if little of it is shared.

    Args:
        start: the row at the beginning.
        steps: for every step and every input a matrix.
        final: the column at the end.

    >>> count = [fmpz_mat([[1, 0], [0, 1]]), fmpz_mat([[1, 1], [0, 1]])]
    >>> diagram, node = shared_tensor(fmpz_mat([[1, 0]]), [count] * 12, fmpz_mat([[0], [1]]))
    >>> len(diagram.values), len(diagram.children)
    (13, 91)
    """
    if not all(matrix.nrows() and matrix.ncols() for step in steps for matrix in step):
        return None  # somewhere no state is left
    left = _PER_ENTRY * prod(map(len, steps))
    lumped = _lumped(start, steps, final, left * _PLAIN)
    if lumped is None:
        return None
    rows, smaller, last = lumped
    levels: list[list[tuple[int, ...]]] = []
    for step in smaller:
        left -= rows.nrows() * len(step) * (rows.ncols() * step[0].ncols() + _PER_NODE)
        if left < 0:
            return None
        tables = [(rows * matrix).table() for matrix in step]
        divisor = gcd(*(int(entry) for table in tables for row in table for entry in row)) or 1
        known: dict[tuple[int, ...], int] = {}
        levels.append([])
        for by_input in zip(*tables, strict=True):
            keys = (tuple(int(entry) // divisor for entry in row) for row in by_input)
            levels[-1].append(tuple(known.setdefault(key, len(known)) for key in keys))
        rows = fmpz_mat([list(key) for key in known])
    diagram = Diagram()
    nodes = [diagram.number(int(value)) for value in (rows * last).entries()]
    for level in reversed(levels):
        nodes = [diagram.joined(tuple(nodes[child] for child in children)) for children in level]
    [root] = nodes
    return diagram, root


def _lumped(
    start: fmpz_mat, steps: list[list[fmpz_mat]], final: fmpz_mat, left: int
) -> tuple[fmpz_mat, list[list[fmpz_mat]], fmpz_mat] | None:
    """The row, the matrices and the column between classes of states: those from which every sequence of inputs weighs the same.

    None if that takes more than so many multiplications.
    """
    classes, last = _classes(final.table())
    found: list[list[fmpz_mat]] = []
    for step in reversed(steps):
        ahead = _indicators(classes)
        left -= len(step) * step[0].nrows() * step[0].ncols() * ahead.ncols()
        if left < 0:
            return None
        onward = [(matrix * ahead).table() for matrix in step]
        width = ahead.ncols()
        classes, listed = _classes([list(chain.from_iterable(rows)) for rows in zip(*onward, strict=True)])
        found.append([fmpz_mat([row[k * width : (k + 1) * width] for row in listed]) for k in range(len(step))])
    return start * _indicators(classes), found[::-1], fmpz_mat(last)


def _classes(rows: list[list[fmpz]]) -> tuple[list[int], list[list[fmpz]]]:
    """For every row the number of its class, which holds the rows that are the same; and the row of every class."""
    known: dict[tuple[fmpz, ...], int] = {}
    numbers = [known.setdefault(tuple(row), len(known)) for row in rows]
    return numbers, [list(row) for row in known]


def _indicators(classes: list[int]) -> fmpz_mat:
    """A column for every class, with 1 at its members."""
    width = max(classes) + 1
    return fmpz_mat([[int(number == k) for k in range(width)] for number in classes])
