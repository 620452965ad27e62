"""Balls for the probability that independent Laplace noises satisfy bounds on their differences.

`buckets` integrates; two simplifications before keep it small.  Lengths are measured in a unit
that makes all scales and offsets integers, and each noise is moved so that as many offsets as possible are 0.  A difference
that follows from others is dropped.

    >>> one = fmpq(1)
    >>> probability([one, one], [(0, 1, fmpq(0))]).contains(fmpq(1, 2))
    True
    >>> probability([one], [(None, 0, fmpq(1))]).overlaps(arb(-1).exp() / 2)
    True
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence
from math import lcm
from typing import TypeAlias

from flint import arb, ctx, fmpq

from privproof_checker.integrals.buckets import Integral, System
from privproof_checker.integrals.planes import plane
from privproof_checker.integrals.probabilities import integral
from privproof_checker.integrals.rings import Balls, Unresolved, Work

ORIGIN = -1
"""The node that stands for the constant 0; the other nodes are the positions of the noises."""

MOST_BITS = 16384
"""The precision beyond which the integration gives up."""

_ENOUGH_BITS = 44
"""A probability known to so many bits is exact enough; with fewer it is computed again with twice the precision."""
_MOST_PRODUCTS = 200_000_000
"""Products of terms of one integral; beyond, it is `Unresolved` and the evidence is refused."""

Edges: TypeAlias = dict[tuple[int, int], int]
"""The least value of ``y_high - y_low``, by low and high."""


def probability(
    scales: Sequence[fmpq], differences: Sequence[tuple[int | None, int | None, fmpq]], bits: int = 256
) -> arb:
    """The probability that independent Laplace noises have ``x_high - x_low >= offset`` for all (low, high, offset).

    The noise at position i has density ``e^(-|x| / b) / (2 b)`` with b the scale at position i; None stands for the
    constant 0.  A difference of a noise with itself holds or not; otherwise ``>=`` means the same as ``>``.

    Args:
        scales: positive numbers.
        differences: triples of low, high and offset.
        bits: the precision to begin with.

    Returns:
        A ball that contains the probability, with a relative error below 2^-40; exactly 0 if there is no solution, or
        only solutions on a plane.

    Raises:
        ValueError: if a scale is not positive or a position does not exist.
        Unresolved: if the precision `MOST_BITS` or a bound on the work does not suffice.
    """
    system = _system(scales, differences)
    if system is None:
        return arb(0)
    while bits <= MOST_BITS:
        with ctx.workprec(bits):
            found = _ball(system)
        if found.rel_accuracy_bits() >= _ENOUGH_BITS:
            return found
        bits *= 2
    raise Unresolved(f"{MOST_BITS} bits do not separate a probability of {len(scales)} noises from 0")


def _ball(system: System) -> arb:
    """The probability in the precision of the context."""
    ring, work = Balls(), Work(_MOST_PRODUCTS)
    return integral(system, ring, lambda group: Integral(group, ring, work).value(), {})


def _system(scales: Sequence[fmpq], differences: Sequence[tuple[int | None, int | None, fmpq]]) -> System | None:
    """The noises that matter, moved and in a unit of their own; None if the probability is 0."""
    if any(scale <= 0 for scale in scales):
        raise ValueError("a scale is not positive")
    offsets: dict[tuple[int, int], fmpq] = {}
    for low, high, offset in differences:
        ends = (ORIGIN if low is None else low, ORIGIN if high is None else high)
        if not all(end is None or 0 <= end < len(scales) for end in (low, high)):
            raise ValueError(f"{low!r} or {high!r} is no position among {len(scales)} noises")
        if ends[0] != ends[1]:
            offsets[ends] = max(offset, offsets.get(ends, offset))
        elif offset > 0:
            return None
    unit = lcm(*(int(value.q) for value in (*scales, *offsets.values())))
    edges = {ends: int((offset * unit).p) for ends, offset in sorted(offsets.items())}
    if _has_cycle(edges):
        return None
    edges = _needed(edges)
    centres = _centres(edges)
    laws = {node: ("laplace", scales[node] * unit, fmpq(centre)) for node, centre in centres.items()}
    inside = dict(
        plane(
            [(node, fmpq(sign)) for node, sign in ((low, -1), (high, 1)) if node != ORIGIN],
            fmpq(centres.get(low, 0) - centres.get(high, 0) - offset),
        )
        for (low, high), offset in edges.items()
    )
    return System(laws, inside)


def _has_cycle(edges: Edges) -> bool:
    """Whether the offsets around some cycle add up to 0 or more.

    With N nodes in all, each offset d becomes ``d * (N + 1) + 1``.  A cycle of n of them with sum s then has the sum
    ``s * (N + 1) + n``, which is positive if and only if s is not negative, and Bellman and Ford's algorithm finds it.
    """
    nodes = {node for ends in edges for node in ends}
    stretched = {ends: offset * (len(nodes) + 1) + 1 for ends, offset in edges.items()}
    least = dict.fromkeys(nodes, 0)
    for _ in range(len(nodes) + 1):
        changed = False
        for (low, high), offset in stretched.items():
            if least[low] + offset > least[high]:
                least[high] = least[low] + offset
                changed = True
        if not changed:
            return False
    return True


def _needed(edges: Edges) -> Edges:
    """The edges that do not follow from others, where the sum around every cycle is negative.

    Among the paths between two nodes with the largest sum, one with the most edges uses none that follows from others; so
    all of these can go at once.
    """
    after: dict[int, list[tuple[int, int]]] = {}
    for (low, high), offset in edges.items():
        after.setdefault(low, []).append((high, offset))
    largest = {node: _largest(node, after) for node in {high for _, high in edges}}
    return {
        (low, high): offset
        for (low, high), offset in edges.items()
        if not any(
            middle != high and high in largest[middle] and first + largest[middle][high] >= offset
            for middle, first in after[low]
        )
    }


def _largest(start: int, after: Mapping[int, list[tuple[int, int]]]) -> dict[int, int]:
    """The largest sum of a path from a node to each node that it reaches, where the sum around every cycle is negative."""
    found = {start: 0}
    waiting = deque([start])
    while waiting:
        low = waiting.popleft()
        for high, offset in after.get(low, ()):
            if high not in found or found[low] + offset > found[high]:
                found[high] = found[low] + offset
                if high not in waiting:
                    waiting.append(high)
    return found


def _centres(edges: Edges) -> dict[int, int]:
    """How far to move each noise, so that the offsets along a spanning forest become 0."""
    beside: dict[int, list[tuple[int, int]]] = {}
    for (low, high), offset in edges.items():
        beside.setdefault(low, []).append((high, -offset))
        beside.setdefault(high, []).append((low, offset))
    centres: dict[int, int] = {}
    for root in sorted(beside.keys() - {ORIGIN}, key=lambda node: (-len(beside[node]), node)):
        if root in centres:
            continue
        centres[root] = 0
        waiting = deque([root])
        while waiting:
            node = waiting.popleft()
            for other, step in sorted(beside[node]):
                if other != ORIGIN and other not in centres:
                    centres[other] = centres[node] + step
                    waiting.append(other)
    return centres
