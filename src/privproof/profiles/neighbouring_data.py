"""All ordered pairs of neighbouring sequences of inputs, as arrays of their numbers.

A sequence of n inputs is a number with n digits, its first input the leading one.  Neighbours that are near place by place are products of
the pairs near in one place, so their numbers are sums of arrays; long arrays come in pieces.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from privproof.errors import PrivproofError, QuestionError, ScenarioError
from privproof.exact import rational
from privproof.models import Transducer
from privproof.scenarios import Neighbours

_MOST_PAIRS = 20_000_000
"""Pairs of neighbouring data sets that are enumerated; beyond, the question is refused with a hint to take a smaller size."""
_CHUNK = 300_000
"""The pairs of data sets in one array, so that memory does not grow with their number."""

Indices: TypeAlias = NDArray[np.int64]


def neighbours(relation: Neighbours | None, model: Transducer) -> Iterator[tuple[Indices, Indices]]:
    """All ordered pairs of neighbouring sequences, by number; a sequence may come with itself."""
    base, length = len(model.inputs), len(model.steps)
    if relation is not None and relation.kind == "pairs":
        yield from _listed_pairs(relation, model)
        return
    everything = np.arange(base**length, dtype=np.int64)
    if relation is None:
        yield everything, everything
        return
    near = _near(relation, model.inputs)
    if not any(i != j for i, j in near):
        raise ScenarioError(
            "empty-relation", f"no two inputs are neighbours when {relation}", place="neighbours", hint="widen it"
        )
    count = length * len(near) * base ** (length - 1) if relation.kind == "one" else len(near) ** length
    if count > _MOST_PAIRS:
        raise QuestionError(
            "size", f"{count} pairs of data sets are more than {_MOST_PAIRS}", place="size", hint="a smaller size"
        )
    if relation.kind == "one":
        yield everything, everything
        yield from _one_changed(near, base, length)
        return
    for left, right in _combinations(near, base, length):
        yield left, right
        if relation.kind == "monotone":
            yield right, left


def _near(relation: Neighbours, inputs: Sequence[str]) -> list[tuple[int, int]]:
    """Which inputs (by index) may stand side by side in one place, equal ones included; monotone: upwards only."""
    indices = range(len(inputs))
    if relation.within is None and relation.kind != "monotone":
        return list(product(indices, indices))
    values = []
    for name in inputs:
        try:
            values.append(rational(name))
        except PrivproofError:
            raise ScenarioError(
                "neighbours",
                f"the input {name!r} is not a number, so it has no distance to the others",
                place="inputs",
                hint="name inputs by numbers, or use within: any",
            ) from None
    return [
        (i, j)
        for i, j in product(indices, indices)
        if relation.close(values[i], values[j]) and (relation.kind != "monotone" or values[i] <= values[j])
    ]


def _combinations(near: list[tuple[int, int]], base: int, length: int) -> Iterator[tuple[Indices, Indices]]:
    """The numbers of all pairs of sequences that are near in every place, in arrays of moderate size."""
    tail = 0
    while tail < length and len(near) ** (tail + 1) <= _CHUNK:
        tail += 1
    sides = np.array(near, dtype=np.int64)
    lefts, rights = np.zeros(1, dtype=np.int64), np.zeros(1, dtype=np.int64)
    for _ in range(tail):
        lefts = (lefts[:, None] * base + sides[None, :, 0]).ravel()
        rights = (rights[:, None] * base + sides[None, :, 1]).ravel()
    for head in product(near, repeat=length - tail):
        left = right = 0
        for i, j in head:
            left, right = left * base + i, right * base + j
        yield lefts + left * base**tail, rights + right * base**tail


def _one_changed(near: list[tuple[int, int]], base: int, length: int) -> Iterator[tuple[Indices, Indices]]:
    """The numbers of all pairs of sequences that differ in one place and are near there."""
    everything = np.arange(base**length, dtype=np.int64)
    for place in range(length):
        weight = base ** (length - 1 - place)
        digit = everything // weight % base
        for i, j in near:
            if i != j:
                chosen = everything[digit == i]
                yield chosen, chosen + (j - i) * weight


def _listed_pairs(relation: Neighbours, model: Transducer) -> Iterator[tuple[Indices, Indices]]:
    index = {name: i for i, name in enumerate(model.inputs)}
    numbers = []
    for side in (side for pair in relation.listed for side in pair):
        if len(side) != len(model.steps):
            raise ScenarioError(
                "neighbours",
                f"{side} has {len(side)} inputs, the mechanism reads {len(model.steps)}",
                place="neighbours.pairs",
                hint="give one input a step",
            )
        number = 0
        for name in side:
            if name not in index:
                raise ScenarioError("unknown-name", f"unknown input {name!r}", place="neighbours.pairs")
            number = number * len(index) + index[name]
        numbers.append(number)
    lefts, rights = np.array(numbers[::2], dtype=np.int64), np.array(numbers[1::2], dtype=np.int64)
    yield np.concatenate([lefts, rights]), np.concatenate([rights, lefts])
