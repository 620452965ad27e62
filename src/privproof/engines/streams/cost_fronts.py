"""The exact cost of the best coupling: a Pareto dynamic program.

The adversary chooses a path and how the data differ along it; then the coupling is chosen, so it may depend on all of that.
For a path and differences let ``v[g]`` be the least cost so far of a coupling that has shifted the stored thresholds by ``g``
in {-1, 0, 1}^k.  A further step turns ``v`` into ``v'``, monotonically, so of all vectors that the adversary can reach in a state only
the componentwise largest count.  The exact privacy level is the largest ``min v`` over all states: more than that no coupling
needs, and by the exactness theorem (`docs/explanation/streams.md`) the true loss comes as near to it as one likes.

Around a cycle a coupling of finite cost pays nothing: `Fronts.settled` is what a cycle leaves over, infinite elsewhere.
Thresholds that were never compared with a common sample do not depend on each other, so a vector is kept as a sum over *groups* of
thresholds, and the adversary's choices in different groups as a product.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cached_property
from itertools import product
from math import inf
from typing import TypeAlias

import numpy as np

from privproof.engines.search_monitor import Monitor
from privproof.engines.streams.cost_cycles import demands
from privproof.engines.streams.coupling_arena import Arena, ArenaEdge
from privproof.engines.streams.threshold_shifts import SHIFTS, Cost, ShiftPart, Shifts
from privproof.errors import QuestionError

Names: TypeAlias = tuple[str, ...]
Vector: TypeAlias = "tuple[Cost, ...]"
Front: TypeAlias = "tuple[Vector, ...]"
Product: TypeAlias = "dict[Names, Front]"
"""For every group of thresholds the costs that the adversary can reach; the true vectors are the sums over the groups."""

_LARGEST_GROUP = 7
"""A vector has an entry for each of the 3^n shifts of n thresholds that depend on each other: 2,187 for 7. More are refused."""
_SMALLEST_FRONT, _LARGEST_FRONT = 16, 4_000
"""Between these a front may grow before it is replaced by its maximum, which makes costs upper bounds."""
_VECTORS = 300_000
"""So many vectors in all are shared out among the transitions: what fits into memory and into some seconds."""
_TURNS = 60
"""How often a node may change in a first, rough pass before what still grows is given up as unbounded."""
_MANY = 16
"""From so many vectors on an array of numpy is faster than a loop."""
_NEW = "\0"  # marks the new value of a threshold while the old one is still needed
_ROWS = 512
"""Rows compared at once with all others, so that the table of comparisons stays small."""
_EXACT = 2.0**50
"""Whole numbers below this are exact as floats, also after eight of them have been added; larger ones are added as integers."""
_Array: TypeAlias = "np.ndarray[tuple[int, int], np.dtype[np.float64]]"
START: Product = {(): ((0,),)}


class Fronts:
    """All vectors that count, for every node of an arena.

    Attributes:
        largest: how many vectors a front may have; fewer in large arenas.
        joined: whether fronts that grew too large were replaced by their maximum; costs are then upper bounds only.
        at: for every node the products that count.
        past: for every node all products that were found, in the order in which they were.
        broken: a node and a product for which no coupling is left, if there is one.
        cap: a cost that some coupling never exceeds, where one was needed.
        patience: how often a node may change before what still grows is given up; None for never.
    """

    def __init__(self, arena: Arena, monitor: Monitor | None = None, *, largest: int | None = None) -> None:
        self.arena, self.monitor = arena, monitor or Monitor()
        self.shifts = Shifts(arena)
        fair = max(_SMALLEST_FRONT, min(_LARGEST_FRONT, _VECTORS // max(1, len(arena.edges))))
        self.largest = fair if largest is None else largest
        self.cap: Cost = inf
        self.patience: int | None = None
        self.turns = [0] * len(arena.states)
        self.joined = False
        self.at: list[list[Product]] = [[] for _ in arena.states]
        self.past: list[list[Product]] = [[] for _ in arena.states]
        self.broken: tuple[int, Product] | None = None
        self._plans: dict[object, object] = {}
        self._recipes: dict[object, tuple[Names, tuple[tuple[int, int, Cost], ...]] | None] = {}
        self._asked: dict[int, dict[str, frozenset[int]]] = {}

    def tangled(self) -> bool:
        """Whether a cycle replaces a threshold that it looks at: then costs may grow on it without end.

        Where that is no leak, some coupling pays nothing on the cycle all the same.
        """
        return any(replaced & looked for replaced, looked in zip(self.arena.replaced, self.arena.looked, strict=True))

    def bounded(self) -> None:
        """Find a cost that some coupling never exceeds; entries above it are of no use to the best one.

        Where a single number changes, shifting nothing costs what the samples of that step cost.  Otherwise the fronts are joined,
        and what still grows after many turns is given up: an upper bound, where one is left.
        """
        if any(changed for changed, _ in self.arena.marks):
            rates = [
                [self.shifts.rate(sample) for sample in step.samples if sample.reads]
                for step in self.arena.automaton.transitions
            ]
            if all(rate is not None for listed in rates for rate in listed):
                self.cap = max(sum(rate or 0 for rate in listed) for listed in rates)
                return
        rough = Fronts(self.arena, self.monitor, largest=1)
        rough.patience = _TURNS
        rough.explore()
        if rough.broken is not None:
            self.broken = rough.broken
        else:
            self.cap = rough.cost

    def explore(self) -> None:
        """Find them all, component by component; stop where no coupling is possible."""
        if self.patience is None and self.cap == inf and self.tangled():
            self.bounded()
            if self.broken is not None:
                return
        arena = self.arena
        label, components = arena.components
        self.enter(0, START)
        for number, nodes in enumerate(components):
            self.monitor.pause()
            waiting = [(node, found) for node in nodes for found in self.at[node]]
            inside = set(nodes) if len(nodes) > 1 else None
            for node, found in waiting:  # grows while it is read
                if self.broken:
                    return
                for edge_number in arena.leaving[node]:
                    edge = arena.edges[edge_number]
                    if (label[edge.target] == number) if inside is None else (edge.target in inside):
                        for after in self.step(found, edge):
                            fresh = self.insert(edge.target, after)
                            if fresh is not None:
                                waiting.append((edge.target, fresh))
            for node in nodes:
                for edge_number in arena.leaving[node]:
                    edge = arena.edges[edge_number]
                    if label[edge.target] != number:
                        for found in self.at[node]:
                            for after in self.step(found, edge):
                                self.enter(edge.target, after)
                        if self.broken:
                            return

    def enter(self, node: int, found: Product) -> None:
        """Enter a component: what its cycles ask for is asked at once."""
        self.insert(node, self.settled(node, found))

    def step(self, found: Product, edge: ArenaEdge) -> Iterable[Product]:
        """What a step makes of a product: one product for every difference, or one for all where they concern one group."""
        ways = [self.advanced(found, edge, change) for change in edge.changes]
        if len(ways) == 2:
            one, other = ways
            if one.keys() == other.keys():
                apart = [key for key in one if one[key] != other[key]]
                if len(apart) <= 1:
                    for key in apart:
                        one[key] = self.maximal((*one[key], *other[key]))
                    return [one]
        return ways

    def advanced(self, found: Product, edge: ArenaEdge, change: int) -> Product:
        """What a step makes of a product when the data differ by `change`."""
        live = self.arena.live[edge.target]
        if len(found) == 1:
            ((key, front),) = found.items()
            recipe = self.recipe(key, edge, change, live)
            if recipe is not None:
                names, plan = recipe
                return {names: self.maximal(_apply_plan(front, plan, 3 ** len(names)))}
        step = self.arena.step(edge)
        parts = self.shifts.parts(edge.step, change)
        stored = step.stored
        after: Product = dict(found)
        where = {name: key for key in after for name in key}
        for position, part in enumerate(parts):
            later = {name for other in parts[position + 1 :] for name in other.looked}
            keys = list(dict.fromkeys(where[name] for name in part.looked))
            if not keys and () in after and not part.stored:
                keys = [()]
            names, front = self.merged(after, keys)
            gone = frozenset(
                n for n in names if n not in later and not n.endswith(_NEW) and (n in stored or n not in live)
            )
            fresh = tuple(name + _NEW for name in part.stored if name in live)
            kept = tuple(sorted((*(n for n in names if n not in gone), *fresh)))
            plan = self.plan(names, part, gone, live, kept)
            size = 3 ** len(kept)
            moved = _apply_plan(front, plan, size)
            self.put(after, kept, self.maximal(moved) if len(moved) > 1 or gone else moved)
            where = {name: key for key in after for name in key}
        for key in list(after):
            dead = [n for n in key if n in stored or (n not in live and not n.endswith(_NEW))]
            if dead:
                self.put(after, *self.without(key, after.pop(key), dead))
        if any(name.endswith(_NEW) for key in after for name in key):
            renamed: Product = {}
            for key, front in after.items():
                self.put(renamed, *_sort_names(tuple(name.removesuffix(_NEW) for name in key), front))
            after = renamed
        return self.folded(after)

    def recipe(
        self, key: Names, edge: ArenaEdge, change: int, live: frozenset[str]
    ) -> tuple[Names, tuple[tuple[int, int, Cost], ...]] | None:
        """For a step of one part from a single group: the names of the group after it, and from which entry to which it leads."""
        mark = (key, self.shifts.form(edge.step), change, live)
        if mark not in self._recipes:
            parts = self.shifts.parts(edge.step, change)
            found = None
            if len(parts) <= 1:
                part = parts[0] if parts else _NOTHING
                stored = self.arena.step(edge).stored
                gone = frozenset(name for name in key if name in stored or name not in live)
                fresh = [name for name in part.stored if name in live]
                old = [name for name in key if name not in gone]
                names = tuple(sorted((*old, *fresh)))
                kept = tuple(name + _NEW if name in fresh else name for name in names)
                if part.looked or not (old and fresh):  # otherwise they do not depend on each other
                    found = (names, self.plan(key, part, gone, live, kept))
            self._recipes[mark] = found
        return self._recipes[mark]

    def merged(self, after: Product, keys: Sequence[Names]) -> tuple[Names, Front]:
        """Take groups out of a product, as one."""
        names: Names = ()
        front: Front = ((0,),)
        for key in keys:
            other = after.pop(key)
            if not names:
                names, front = key, other if front == ((0,),) else _sums(front, other)
            else:
                names, front = (*names, *key), _sums(front, other)
        if len(names) > _LARGEST_GROUP:
            raise QuestionError(
                "streams",
                f"{len(names)} thresholds depend on each other: {', '.join(names)}",
                hint="fewer thresholds that are compared with the same sample",
            )
        return names, front

    def put(self, after: Product, key: Names, front: Front) -> None:
        """Add a group to a product; constants add up."""
        if key in after:
            assert key == ()
            front = _sums(after[key], front)
        after[key] = self.maximal(front) if key == () else front

    def folded(self, after: Product) -> Product:
        """A constant belongs to the only group, where there is one."""
        if len(after) == 2 and () in after:
            base = after.pop(())
            (key, front) = next(iter(after.items()))
            return {key: self.maximal(_sums(front, base))}
        return after

    def plan(
        self, names: Names, part: ShiftPart, gone: frozenset[str], live: frozenset[str], kept: Names
    ) -> tuple[tuple[int, int, Cost], ...]:
        """From which entry to which entry a part leads, and at what cost."""
        wanted = tuple(name in live for name in part.stored)
        key = (names, part, gone, wanted, kept)
        if key in self._plans:
            return self._plans[key]  # type: ignore[return-value]
        best: dict[tuple[int, int], Cost] = {}
        places = [names.index(name) for name in part.looked]
        for index, shifts in enumerate(product(SHIFTS, repeat=len(names))):
            own = dict(zip(names, shifts, strict=True))
            looked = tuple(shifts[place] for place in places)
            for old, new, cost in part.moves:
                if old == looked:
                    own.update((name + _NEW, s) for name, s in zip(part.stored, new, strict=True))
                    target = _index([own[name] for name in kept])
                    best[index, target] = min(cost, best.get((index, target), inf))
        found = tuple((source, target, cost) for (source, target), cost in best.items())
        self._plans[key] = found
        return found

    def without(self, key: Names, front: Front, dead: Iterable[str]) -> tuple[Names, Front]:
        """A group without some of its thresholds: the coupling chooses their shifts."""
        gone = frozenset(dead)
        kept = tuple(name for name in key if name not in gone)
        plan = self.plan(key, _NOTHING, gone, frozenset(), kept)
        return kept, self.maximal(_apply_plan(front, plan, 3 ** len(kept)))

    def asked(self, component: int) -> dict[str, frozenset[int]]:
        """The demands of a component, found once."""
        if component not in self._asked:
            self._asked[component] = demands(self.arena, component)
        return self._asked[component]

    def settled(self, node: int, found: Product) -> Product:
        """What is left over when the cycles of a node's component have been gone around often enough."""
        asked = self.asked(self.arena.components[0][node])
        if not asked:
            return found
        after: Product = {}
        for key, front in found.items():
            names = key
            for name in key:
                if name in asked and len(asked[name]) < len(SHIFTS):
                    at = names.index(name)
                    front = tuple(_restrict_vector(v, len(names), at, asked[name]) for v in front)
                    if len(asked[name]) == 1 and len(names) > 1:
                        only = next(iter(asked[name]))
                        self.put(after, (name,), (tuple(0 if s == only else inf for s in SHIFTS),))
                        names, front = self.without(names, front, [name])
            self.put(after, names, self.maximal(front))
        return self.folded(after)

    def insert(self, node: int, found: Product) -> Product | None:
        """Keep what is new at a node; None if nothing is."""
        found = self.limited(found)
        if self.broken is None and impossible(found):
            self.broken = (node, found)
        fresh = self.keep(self.at[node], found, node)
        if fresh is not None:
            self.past[node].append(fresh)
        return fresh

    def keep(self, listed: list[Product], found: Product, node: int = 0) -> Product | None:
        """Add to products what is new in another; products that differ in one group only become one."""
        for position, other in enumerate(listed):
            if other.keys() != found.keys():
                continue
            apart = [key for key in found if found[key] != other[key]]
            fresh = {key: _above(found[key], other[key]) for key in apart}
            if all(not front for front in fresh.values()):
                return None
            if len(apart) == 1 or self.patience is not None:
                merged = dict(other)
                for key in apart:
                    merged[key] = self.maximal((*other[key], *fresh[key]))
                if self.patience is not None:
                    merged = self.given_up(node, other, merged)
                listed[position] = merged
                return {**found, **{key: merged[key] if self.joined else fresh[key] or found[key] for key in apart}}
        listed.append(found)
        return found

    def limited(self, found: Product) -> Product:
        """A product without entries that no best coupling uses, because they cost more than all of one."""
        if self.cap == inf:
            return found
        return {key: tuple(_cap_vector(vector, self.cap) for vector in front) for key, front in found.items()}

    def given_up(self, node: int, before: Product, now: Product) -> Product:
        """What is left at a node when entries that still grow after many turns are given up."""
        assert self.patience is not None
        self.turns[node] += 1
        if self.turns[node] <= self.patience:
            return now
        left: Product = {}
        for key, front in now.items():
            old = before[key][0]
            left[key] = (tuple(a if a == b else inf for a, b in zip(old, front[0], strict=True)),)
        if self.broken is None and impossible(left):
            self.broken = (node, left)
        return left

    def maximal(self, front: Front) -> Front:
        """The largest vectors of a front."""
        if len(front) == 1:
            return front
        if len(front[0]) == 1:
            return (max(front),)
        kept = _maximal(sorted(set(front), reverse=True))
        if len(kept) > self.largest:
            self.joined = True
            return (tuple(map(max, *kept)),)
        return kept

    @cached_property
    def cost(self) -> Cost:
        """The exact cost, in units: the most that the adversary can make the best coupling pay."""
        return max(lowest(found) for listed in self.at for found in listed)


def lowest(found: Product) -> Cost:
    """The most, over the adversary's choices in a product, that the best coupling pays."""
    return sum(max(min(vector) for vector in front) for front in found.values())


def impossible(found: Product) -> bool:
    """Whether the adversary has a choice for which no coupling is left."""
    return any(min(vector) == inf for front in found.values() for vector in front)


_NOTHING = ShiftPart((), (), (((), (), 0),))


def _index(shifts: Sequence[int]) -> int:
    value = 0
    for shift in shifts:
        value = 3 * value + shift + 1
    return value


def _apply_plan(front: Front, plan: Sequence[tuple[int, int, Cost]], size: int) -> Front:
    """What a plan makes of every vector of a front."""
    small = all(cost < _EXACT for _, _, cost in plan)
    if len(front) >= _MANY and small and (table := _table(front)) is not None:
        after = np.full((len(front), size), inf)
        for source, target, cost in plan:
            np.minimum(after[:, target], table[:, source] + cost, out=after[:, target])
        return _front_of_table(after)
    found = []
    for vector in front:
        result: list[Cost] = [inf] * size
        for source, target, cost in plan:
            value = vector[source] + cost
            if value < result[target]:
                result[target] = value
        found.append(tuple(result))
    return tuple(found)


def _table(front: Sequence[Vector]) -> _Array | None:
    """A front as an array, where floating point holds its whole numbers exactly, even after some additions."""
    table = np.array(front, dtype=np.float64)
    return table if np.where(np.isinf(table), 0, table).max(initial=0) < _EXACT else None


def _front_of_table(table: _Array) -> Front:
    return tuple(tuple(c if c == inf else int(c) for c in row) for row in table.tolist())


def _count_dominating_rows(table: _Array, limits: _Array) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    """For every row of a table, how many rows of the other it is nowhere above."""
    found = np.empty(len(table), dtype=np.int64)
    for begin in range(0, len(table), _ROWS):
        rows = table[begin : begin + _ROWS]
        below = np.ones((len(rows), len(limits)), dtype=np.bool_)
        for column in range(table.shape[1]):
            below &= rows[:, column, None] <= limits[None, :, column]
        found[begin : begin + _ROWS] = below.sum(axis=1)
    return found


def _maximal(ordered: Sequence[Vector]) -> Front:
    """The largest of vectors that are given in descending order."""
    if len(ordered) >= _MANY and (table := _table(ordered)) is not None:
        return tuple(v for v, below in zip(ordered, _count_dominating_rows(table, table) > 1, strict=True) if not below)
    found: list[Vector] = []
    for vector in ordered:
        if not _below(vector, found):
            found.append(vector)
    return tuple(found)


def _above(front: Front, others: Front) -> Front:
    """The vectors of a front that are not below one of the others."""
    if len(front) * len(others) >= _MANY**2:
        table, limits = _table(front), _table(others)
        if table is not None and limits is not None:
            return tuple(
                v for v, below in zip(front, _count_dominating_rows(table, limits) > 0, strict=True) if not below
            )
    return tuple(vector for vector in front if not _below(vector, others))


def _restrict_vector(vector: Vector, names: int, at: int, allowed: frozenset[int]) -> Vector:
    weight = 3 ** (names - 1 - at)
    return tuple(c if index // weight % 3 - 1 in allowed else inf for index, c in enumerate(vector))


def _sums(one: Front, other: Front) -> Front:
    if other == ((0,),):
        return one
    return tuple(tuple(a + b for a in v for b in w) for v in one for w in other)


def _sort_names(names: Names, front: Front) -> tuple[Names, Front]:
    """A group with its names in order."""
    order = sorted(range(len(names)), key=lambda i: names[i])
    if order == list(range(len(names))):
        return names, front
    target = []
    for shifts in product(SHIFTS, repeat=len(names)):
        own = [0] * len(names)
        for place, position in enumerate(order):
            own[position] = shifts[place]
        target.append(_index(own))
    return tuple(names[i] for i in order), tuple(tuple(vector[i] for i in target) for vector in front)


def _cap_vector(vector: Vector, cap: Cost) -> Vector:
    return tuple(c if c <= cap else inf for c in vector)


def _below(vector: Vector, others: Iterable[Vector]) -> bool:
    """Whether a vector is nowhere above one of the others."""
    return any(all(a <= b for a, b in zip(vector, other, strict=True)) for other in others)
