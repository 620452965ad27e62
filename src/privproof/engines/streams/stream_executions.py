"""Single executions: what the best coupling pays on a path, which data make it pay most, and how often to go around cycles.

An *execution* is a path through the arena with the difference of the data on every edge.  Its value is the cost of the best
coupling, and by the exactness theorem the supremum of the losses of the event that just these transitions are taken.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import product

from privproof.engines.streams.cost_cycles import CycleFamily, Segment, cycles_along_path
from privproof.engines.streams.cost_fronts import START, Fronts, Names, Product, Vector, lowest
from privproof.engines.streams.coupling_arena import ArenaEdge
from privproof.engines.streams.threshold_shifts import Cost

_MOST_TIMES = 1 << 14
"""A cycle is gone around so often at most; beyond it the execution is given up, and with it a witness, never a proof."""
_FEW = 12
"""With more repeated segments none of them is tried to be left out: every try prices the whole execution anew."""
_KEPT = 24
"""So many of the hardest products are followed backwards from step to step; the data found are an attempt, priced afterwards."""


@dataclass(frozen=True)
class Execution:
    """A path, and how the data differ on it.

    Attributes:
        edges: the numbers of the edges in the arena.
        changes: the difference of the data on each of them.
        value: what the best coupling pays, in units; infinity where none exists.
    """

    edges: tuple[int, ...]
    changes: tuple[int, ...]
    value: Cost


def value(fronts: Fronts, edges: Sequence[int], changes: Sequence[int]) -> Cost:
    """What the best coupling pays on an execution."""
    found = START
    for number, change in zip(edges, changes, strict=True):
        found = fronts.advanced(found, fronts.arena.edges[number], change)
    return lowest(found)


def hardest(fronts: Fronts, edges: Sequence[int]) -> Execution:
    """The data that make the best coupling pay most on a path."""
    arena = fronts.arena
    rows: list[list[Product]] = [[START]]
    for number in edges:
        after = [found for before in rows[-1] for found in fronts.step(before, arena.edges[number])]
        rows.append(_few(fronts, after))
    last = max(rows[-1], key=lowest)
    chosen = _costliest_vectors(last)
    total = lowest(last)
    changes: list[int] = []
    for place in range(len(edges) - 1, -1, -1):
        edge = arena.edges[edges[place]]
        before = next(_before(fronts, rows[place], edge, chosen, settle=False), None)
        if before is None:  # fronts were joined: any data will do, and are looked at for what they are worth
            changes = [arena.edges[number].changes[-1] for number in edges]
            return Execution(tuple(edges), tuple(changes), value(fronts, edges, changes))
        chosen, change = before
        changes.append(change)
    return Execution(tuple(edges), tuple(changes[::-1]), total)


def _few(fronts: Fronts, listed: Sequence[Product]) -> list[Product]:
    """Products without those that are below others, with those joined that differ in one group; of many the hardest."""
    kept: list[Product] = []
    for found in listed:
        fronts.keep(kept, fronts.limited(found))
    return sorted(kept, key=lowest, reverse=True)[:_KEPT]


def _costliest_vectors(found: Product) -> dict[Names, Vector]:
    """The adversary's best choice in a product."""
    return {key: max(front, key=min) for key, front in found.items()}


def _before(
    fronts: Fronts, listed: Iterable[Product], edge: ArenaEdge, chosen: dict[Names, Vector], *, settle: bool
) -> Iterator[tuple[dict[Names, Vector], int]]:
    """Choices before an edge that become the chosen one, each with the difference of the data."""
    step = fronts.arena.step(edge)
    touched = step.thresholds | step.stored
    for found in listed:
        kept = {
            key: chosen[key]
            for key, front in found.items()
            if key and key in chosen and not touched & {*key} and chosen[key] in front
        }
        others = [key for key in found if key not in kept]
        for vectors in product(*(found[key] for key in others)):
            choice = {**kept, **dict(zip(others, vectors, strict=True))}
            whole: Product = {key: (choice[key],) for key in found}
            for change in edge.changes:
                after = fronts.advanced(whole, edge, change)
                if settle:
                    after = fronts.settled(edge.target, after)
                after = fronts.limited(after)
                if after.keys() == chosen.keys() and all(after[key] == (chosen[key],) for key in after):
                    yield choice, change


def worst(fronts: Fronts) -> Execution | None:
    """A path through the arena that makes the best coupling pay the whole cost, cycles not yet gone around."""
    arena = fronts.arena
    node, found = max(
        ((node, found) for node, listed in enumerate(fronts.at) for found in listed), key=lambda p: lowest(p[1])
    )
    begin = fronts.limited(fronts.settled(0, START))
    chosen = _costliest_vectors(found)
    stack = [(node, chosen, _ways(fronts, node, chosen))]
    seen = {(node, repr(sorted(chosen.items())))}
    taken: list[tuple[int, int]] = []
    while stack:
        node, chosen, ways = stack[-1]
        if node == 0 and all(begin.get(key) == (v,) for key, v in chosen.items()):
            edges = tuple(number for number, _ in reversed(taken))
            return Execution(edges, tuple(change for _, change in reversed(taken)), fronts.cost)
        for number, choice, change in ways:
            source = arena.edges[number].source
            mark = (source, repr(sorted(choice.items())))
            if mark not in seen:
                seen.add(mark)
                taken.append((number, change))
                stack.append((source, choice, _ways(fronts, source, choice)))
                break
        else:
            stack.pop()
            if taken:
                taken.pop()
    return None


def _ways(fronts: Fronts, node: int, chosen: dict[Names, Vector]) -> Iterator[tuple[int, dict[Names, Vector], int]]:
    label = fronts.arena.components[0]
    for number in fronts.arena.entering[node]:
        edge = fronts.arena.edges[number]
        settle = label[edge.source] != label[node]
        for choice, change in _before(fronts, fronts.past[edge.source], edge, chosen, settle=settle):
            yield number, choice, change


def repeat_cycles(fronts: Fronts, execution: Execution) -> tuple[CycleFamily, int] | None:
    """A path with cycles, and how often to go around them so that the best coupling pays the whole cost; None if it never does."""
    wanted = execution.value
    plain = CycleFamily((Segment(execution.edges, execution.changes),))
    if value(fronts, *plain.unrolled(1)) == wanted:
        return plain, 1
    found = cycles_along_path(fronts.arena, execution.edges, execution.changes, fronts.asked)
    times = _enough(fronts, found, wanted)
    if times is None:
        return None
    if sum(segment.repeated for segment in found.segments) <= _FEW:
        found = found.fewer(lambda less: value(fronts, *less.unrolled(times)) == wanted)
    else:
        found = found.with_steps_joined()
    return found, least(lambda k: value(fronts, *found.unrolled(k)) >= wanted, times)


def _enough(fronts: Fronts, found: CycleFamily, wanted: Cost) -> int | None:
    if not any(segment.repeated for segment in found.segments):
        return 1 if value(fronts, *found.unrolled(1)) == wanted else None
    times = 1
    before: Cost = -1
    while times <= _MOST_TIMES:
        now = value(fronts, *found.unrolled(times))
        if now == wanted:
            return times
        if now <= before:
            return None
        before, times = now, 2 * times
    return None


def least(holds: Callable[[int], bool], most: int) -> int:
    """The least number from 1 on that holds, where the largest one does and larger ones follow smaller ones."""
    low, high = 0, most
    while high - low > 1:
        middle = (low + high) // 2
        if holds(middle):
            high = middle
        else:
            low = middle
    return high


def fewest_repetitions(fronts: Fronts, found: CycleFamily, above: Cost) -> tuple[int, Execution] | None:
    """The fewest repetitions for which the best coupling pays more than a cost, and the data; None if there are too many."""
    times = 1
    while (execution := hardest(fronts, found.unrolled(times)[0])).value <= above:
        times *= 2
        if times > _MOST_TIMES:
            return None
    fewest = least(lambda k: hardest(fronts, found.unrolled(k)[0]).value > above, times)
    return fewest, execution if fewest == times else hardest(fronts, found.unrolled(fewest)[0])
