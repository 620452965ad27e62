"""The same integrals where inequalities are dense, so that their planes would cut the space into too many cells.

All densities are kept in one product, and the space is cut only as far as it takes: a polyhedron is split by which lower bound of
the variable that is integrated out is the largest and which upper bound the smallest, and what the choice says of the other
variables joins their inequalities.  Polyhedra of equal shape are added up, and those without interior are left out (Fourier and
Motzkin's elimination).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from math import gcd, lcm
from typing import TypeAlias

from flint import fmpq

from privproof_checker.integrals.buckets import Factor, Integral, System, Terms, finer, widened
from privproof_checker.integrals.planes import Mark, Plane, mark_of, order
from privproof_checker.integrals.rings import K, Ring, Work

Region: TypeAlias = frozenset[tuple[Plane, bool]]
"""Planes to lie above (True) or below, the tightest of each direction."""

_MOST_PLANES = 300
"""With more planes, eliminating variables no longer looks whether a region is empty: it is integrated, and gives 0 if it is."""


def dense_integral(system: System, ring: Ring[K], work: Work) -> K:
    """The probability of a system."""
    steps = Integral(system, ring, work)
    scope = tuple(system.laws)
    start = _region(system.inside.items())
    cells: dict[Region, Terms[K]] = {}
    if start is not None and not _hollow(start):
        cells[start] = {(0, 0) * len(scope): ring.number(fmpq(1))}
    while scope and cells:
        node = min(scope, key=lambda n: (_company(cells, n), n))
        cells = _without(node, scope, cells, steps)
        scope = tuple(other for other in scope if other != node)
    return cells[frozenset()][()] if cells else ring.number(fmpq(0))


def _without(
    node: int, scope: tuple[int, ...], cells: Mapping[Region, Terms[K]], steps: Integral[K]
) -> dict[Region, Terms[K]]:
    """The polyhedra and the terms that are left when a variable is integrated out."""
    rest: tuple[int, ...] = tuple(other for other in scope if other != node)
    planes = {each for region in cells for each, _ in region}.union(steps.density(node).planes)
    times = lcm(*(mark[2] for each in planes if (mark := mark_of(each, node)) is not None))
    steps.refine(times)
    density = widened(steps.density(node), (node, *rest))
    found: dict[Region, Terms[K]] = {}
    placed: Region
    for placed, terms in cells.items():
        given = widened(finer(Factor(scope, (), {(): terms}), times), (node, *rest)).cells[()]
        for (above,), weight in density.cells.items():
            halved = _region((*placed, (density.planes[0], above)))
            if halved is not None:
                product = steps.product(given, weight)
                for low, high, cell in _split(halved, node):
                    steps.integrate(product, rest, low, high, found.setdefault(cell, {}))
    return {region: terms for region, terms in found.items() if terms}


def _bounds(region: Region, node: int) -> tuple[list[Mark], list[Mark], list[tuple[Plane, bool]]]:
    """The lower and the upper bounds of a variable, and what does not mention it."""
    lowers: list[Mark] = []
    uppers: list[Mark] = []
    others: list[tuple[Plane, bool]] = []
    for each, above in region:
        mark = mark_of(each, node)
        if mark is None:
            others.append((each, above))
        else:
            (lowers if (dict(each[0])[node] > 0) == above else uppers).append(mark)
    return lowers, uppers, others


def _split(region: Region, node: int) -> Iterator[tuple[Mark | None, Mark | None, Region]]:
    """The largest lower and the smallest upper bound of a variable, and where they are."""
    lowers, uppers, others = _bounds(region, node)
    none: list[Mark | None] = [None]
    for low in [*lowers] or none:
        for high in [*uppers] or none:
            pairs = [(each, low) for each in lowers if low is not None and each != low]
            pairs += [(high, each) for each in uppers if high is not None and each != high]
            if low is not None and high is not None:
                pairs.append((low, high))
            orders = [order(*pair) for pair in pairs]
            if False not in orders:
                cell = _region([*others, *(each for each in orders if not isinstance(each, bool))])
                if cell is not None and not _hollow(cell):
                    yield low, high, cell


def _region(sides: Iterable[tuple[Plane, bool]]) -> Region | None:
    """The tightest sides; None if two of them exclude each other."""
    tightest: dict[tuple[tuple[tuple[int, int], ...], bool], tuple[fmpq, Plane]] = {}
    for each, above in sides:
        pairs, constant = each
        shared = gcd(*(factor for _, factor in pairs))
        key = (pairs if shared == 1 else tuple((node, factor // shared) for node, factor in pairs), above)
        value = fmpq(constant, shared)
        if key not in tightest or (value < tightest[key][0] if above else value > tightest[key][0]):
            tightest[key] = (value, each)
    for (pairs, above), (value, _) in tightest.items():
        opposite = tightest.get((pairs, not above))
        if above and opposite is not None and value <= opposite[0]:
            return None
    return frozenset((each, above) for (_, above), (_, each) in tightest.items())


def _hollow(region: Region) -> bool:
    """Whether no point lies on all sides; False also if this takes too long to find out."""
    found: Region | None = region
    while found:
        costs = []
        for node in {n for (pairs, _), _ in found for n, _ in pairs}:
            lowers, uppers, _ = _bounds(found, node)
            costs.append((len(lowers) * len(uppers) - len(lowers) - len(uppers), node))
        lowers, uppers, others = _bounds(found, min(costs)[1])
        for low in lowers:
            for high in uppers:
                between = order(low, high)
                if between is False:
                    return True
                if not isinstance(between, bool):
                    others.append(between)
        if len(others) > _MOST_PLANES:
            return False
        found = _region(others)
    return found is None


def _company(cells: Iterable[Region], node: int) -> tuple[int, int]:
    """With how many other variables a variable shares planes, and how many planes it is in, at most."""
    worst = (0, 0)
    for region in cells:
        mine = [dict(pairs) for (pairs, _), _ in region]
        mine = [pairs for pairs in mine if node in pairs]
        worst = max(worst, (len(set().union(*mine) - {node}), len(mine)))
    return worst
