"""Products of cost vectors: for the paths to a node, what the couplings have cost at least, by the shifts of thresholds.

For a path and its differences the *vector* gives the least cost for every combination of shifts of the thresholds.
Vectors are kept as *products*: groups of thresholds, for each group a set of vectors (its front), and a constant.  A
product stands for all sums of the constant and one vector from each group.

A table remembers what it has found out, since most steps of a large automaton are alike.  What a step does depends on the groups
without what all their costs have in common: that is put into the constant, and a constant is carried along.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from itertools import chain, product
from math import inf, prod
from operator import attrgetter, le
from typing import TypeAlias

from privproof_checker.outcomes import refuse
from privproof_checker.streams.automaton_steps import StepForm
from privproof_checker.streams.shift_couplings import MOST_NAMES, SHIFTS, Kernels, Part, Shifts

LARGEST_COST = 10**200
"""Beyond it, costs could not be added to infinity, which is a float."""

_MOST_VECTORS = 20_000
"""Joining groups multiplies their vectors of costs; a join that comes to more is refused."""

Cost: TypeAlias = float
"""A whole number (an int, however large), or infinity."""

Vector: TypeAlias = tuple[Cost, ...]
"""Costs by the shifts of names, those of the last name changing fastest."""

Written: TypeAlias = tuple[tuple[str, ...], Sequence[Vector]]
"""Names in order, and the vectors of a front, as they come."""


@dataclass(frozen=True, eq=False)
class Group:
    """Names in order, and the vectors of the front, in order; equal groups of one table are the same object."""

    names: tuple[str, ...]
    front: tuple[Vector, ...]

    @cached_property
    def bound(self) -> Cost:
        """The greatest, over the vectors, of the least cost."""
        return max(map(min, self.front))


_NAMES = attrgetter("names")

Settled: TypeAlias = tuple[Cost, Group | None]
"""What all costs have in common, and the group without it; no group where nothing is named."""


@dataclass(frozen=True, eq=False)
class CostProduct:
    """A constant and groups, in the order of their names; equal products of one table are the same object."""

    constant: Cost
    groups: tuple[Group, ...]
    core: CostProduct | None = None
    """The product of the same groups with the constant 0; None where this is it."""

    @cached_property
    def home(self) -> dict[str, int]:
        """The group of each name."""
        if self.core is not None:
            return self.core.home
        return {name: i for i, group in enumerate(self.groups) for name in group.names}

    def bound(self) -> Cost:
        """The greatest, over the vectors, of the least cost."""
        return self.constant + sum(group.bound for group in self.groups)


_Sources: TypeAlias = Sequence[Sequence[tuple[int, int]]]
"""For every index of the vectors afterwards the indices before from which it is reached, each with what that costs."""

_Plan: TypeAlias = tuple[tuple[str, ...], _Sources]
"""The names afterwards, and where their costs come from."""


class Products:
    """A table of products, with what is known about them."""

    def __init__(self, kernels: Kernels) -> None:
        self._kernels = kernels
        self._groups: dict[tuple[tuple[str, ...], tuple[Vector, ...]], Group] = {}
        self._cores: dict[tuple[Group, ...], CostProduct] = {}
        self._lifted: dict[tuple[Cost, CostProduct], CostProduct] = {}
        self._advanced: dict[tuple[StepForm, int, CostProduct], CostProduct] = {}
        self._forgotten: dict[tuple[CostProduct, frozenset[str]], CostProduct] = {}
        self._covered: dict[tuple[CostProduct, CostProduct, Cost], bool] = {}
        self._joined: dict[tuple[tuple[Group, ...], tuple[Part, ...], frozenset[str]], Settled] = {}
        self._sources: dict[object, _Sources] = {}
        self.zero = self.product([])

    def settled(self, names: tuple[str, ...], front: Sequence[Vector]) -> Settled:
        """A group of names in order, as the parts of a product are."""
        vectors = set(front)
        common = min(map(min, vectors)) if names else 0
        if 0 < common < inf:
            return self._settled(names, common, {tuple([cost - common for cost in vector]) for vector in vectors})
        return self._settled(names, 0, vectors)

    def _settled(self, names: tuple[str, ...], common: Cost, vectors: set[Vector]) -> Settled:
        """The same of costs without what they have in common."""
        if not names:
            return common + max(vectors)[0], None
        key = (names, tuple(sorted(vectors)))
        group = self._groups.get(key)
        if group is None:
            group = self._groups[key] = Group(*key)
        return common, group

    def product(self, groups: Iterable[Written]) -> CostProduct:
        """The product of groups, whose names are in order; those without names become the constant."""
        return self.of(self.settled(*group) for group in groups)

    def of(self, parts: Iterable[Settled]) -> CostProduct:
        """The product of groups that are settled."""
        constant: Cost = 0
        groups = []
        for common, group in parts:
            constant += common
            if group is not None:
                groups.append(group)
        key = tuple(sorted(groups, key=_NAMES))
        if key not in self._cores:
            self._cores[key] = CostProduct(0, key)
        return self._with_constant(constant, self._cores[key])

    def _with_constant(self, constant: Cost, core: CostProduct) -> CostProduct:
        if constant == 0:
            return core
        key = (constant, core)
        if key not in self._lifted:
            self._lifted[key] = CostProduct(constant, core.groups, core)
        return self._lifted[key]

    def _raised(self, found: CostProduct, more: Cost) -> CostProduct:
        """The product with so much more in its constant."""
        return self._with_constant(found.constant + more, found.core or found)

    def advanced(self, form: StepForm, change: int, before: CostProduct) -> CostProduct:
        """The vectors after a step of this form."""
        core = before.core or before
        key = (form, change, core)
        if key not in self._advanced:
            parts = self._kernels.parts(form, change)
            missing = [name for part in parts for name in part.looked if name not in core.home]
            if missing:
                refuse(f"a step looks at the threshold {missing[0][:60]!r}, which a product does not name", "evidence")
            self._advanced[key] = self._moved(core, parts, frozenset(form.stores))
        return self._raised(self._advanced[key], before.constant)

    def forgotten(self, before: CostProduct, gone: frozenset[str]) -> CostProduct:
        """The vectors, minimised over the shifts of some thresholds."""
        if not gone or gone.isdisjoint(before.home):
            return before
        core = before.core or before
        key = (core, gone)
        if key not in self._forgotten:
            self._forgotten[key] = self._moved(core, (), gone)
        return self._raised(self._forgotten[key], before.constant)

    def _moved(self, before: CostProduct, parts: Sequence[Part], gone: frozenset[str]) -> CostProduct:
        """The vectors after the parts of a step from a product without a constant; the old shifts of some thresholds are minimised out."""
        linked = [{before.home[name] for name in part.looked} for part in parts]
        touched = {before.home[name] for name in gone if name in before.home}.union(*linked)
        result: list[Settled] = [(0, group) for i, group in enumerate(before.groups) if i not in touched]
        for groups, members in _clusters(touched, linked):
            joined, moving = tuple([before.groups[i] for i in groups]), tuple([parts[i] for i in members])
            key = (joined, moving, gone)
            if key not in self._joined:
                names, front = _merge_groups(joined)
                after, sources = self._plan(names, moving, gone)
                self._joined[key] = self._settled(after, *_apply_step(front, sources))
            result.append(self._joined[key])
        return self.of(result)

    def _plan(self, names: tuple[str, ...], parts: Sequence[Part], gone: frozenset[str]) -> _Plan:
        kept = [name for name in names if name not in gone]
        after = tuple(sorted((*kept, *(name for part in parts for name, _ in part.stores))))
        if len(after) > MOST_NAMES:
            refuse(f"a step connects more than {MOST_NAMES} thresholds", "evidence")
        place = {name: i for i, name in enumerate(names)}
        power = {name: len(SHIFTS) ** i for i, name in enumerate(reversed(after))}
        form = (
            len(names),
            tuple((place[name], power[name]) for name in kept),
            tuple(
                (
                    id(part.moves),
                    tuple(place[name] for name in part.looked),
                    tuple((position, power[name]) for name, position in part.stores),
                )
                for part in parts
            ),
        )
        if form not in self._sources:
            size = len(SHIFTS) ** len(after)
            self._sources[form] = _sources(*form, [part.moves for part in parts], size)
        return after, self._sources[form]

    def covered(self, one: CostProduct, two: CostProduct) -> bool:
        """Whether every vector of one product is at most some vector of the other, as far as groups show it."""
        if one is two:
            return True
        room = two.constant - one.constant if one.constant != two.constant else 0
        key = (one.core or one, two.core or two, room)
        if key not in self._covered:
            self._covered[key] = self._below(*key)
        return self._covered[key]

    def _below(self, one: CostProduct, two: CostProduct, room: Cost) -> bool:
        """Whether a product without a constant is covered by another one, raised by so much."""
        if not two.home.keys() <= one.home.keys():
            return False
        one = self.forgotten(one, frozenset(one.home.keys() - two.home.keys()))
        room = room - one.constant if one.constant != room else 0
        same = {group for group in set(one.groups).intersection(two.groups) if group.bound < inf}
        left_over = [group for group in two.groups if group not in same]  # what is the same on both sides needs no room
        linked = [{one.home[name] for name in group.names} for group in left_over]
        pairs = []
        for left, right in _clusters([i for i, group in enumerate(one.groups) if group not in same], linked):
            sides = [one.groups[i] for i in left], [left_over[i] for i in right]
            if sum(len(group.names) for group in sides[0]) > MOST_NAMES:
                return False
            pairs.append((_merge_groups(sides[0]), _merge_groups(sides[1])))
        if len(pairs) == 1:
            ((_, left_front), (_, right_front)) = pairs[0]
            lowered = [tuple([cost - room for cost in vector]) for vector in left_front] if room else left_front
            return _each_below(lowered, right_front)
        if room >= 0 and all(_each_below(left, right) for (_, left), (_, right) in pairs):
            return True
        excesses = [_excess(left, right) for (_, left), (_, right) in pairs]
        return inf not in excesses and sum(excesses) <= room


def _excess(lower: Sequence[Vector], upper: Sequence[Vector]) -> Cost:
    """The least number by which the others must be raised for each of some vectors to be nowhere above one of them."""
    return max(
        min(max((a - b for a, b in zip(low, high, strict=True) if b != inf), default=-inf) for high in upper)
        for low in lower
    )


def _each_below(lower: Sequence[Vector], upper: Sequence[Vector]) -> bool:
    """Whether each of some vectors is nowhere above one of the others."""
    same = set(upper)
    last = 0  # both are in order, so that what is above one is often not far from what is above the next
    for low in lower:
        if low in same:
            continue
        for i in chain(range(last, len(upper)), range(last)):
            if all(map(le, low, upper[i])):
                last = i
                break
        else:
            return False
    return True


def _clusters(groups: Iterable[int], linked: Sequence[set[int]]) -> list[tuple[list[int], list[int]]]:
    """The connected components of numbers and the sets that join them: the numbers and the sets of each."""
    cluster = {i: ([i], list[int]()) for i in groups}
    alone: list[tuple[list[int], list[int]]] = []
    for member, joined in enumerate(linked):
        if not joined:
            alone.append(([], [member]))
            continue
        first, *others = sorted(joined)
        target = cluster[first]
        target[1].append(member)
        for other in others:
            source = cluster[other]
            if source is not target:
                target[0].extend(source[0])
                target[1].extend(source[1])
                for i in source[0]:
                    cluster[i] = target
    return [(sorted(c[0]), c[1]) for i, c in cluster.items() if min(c[0]) == i] + alone


def _merge_groups(groups: Sequence[Group]) -> Written:
    """One group with all names, and all sums of vectors."""
    if len(groups) == 1:
        return groups[0].names, groups[0].front
    names = tuple(sorted(name for group in groups for name in group.names))
    if len(names) > MOST_NAMES or prod(len(group.front) for group in groups) > _MOST_VECTORS:
        refuse(f"groups with more than {MOST_NAMES} thresholds or {_MOST_VECTORS} vectors are joined", "evidence")
    place = {name: i for i, name in enumerate(names)}
    total: list[list[Cost]] = [[0] * len(SHIFTS) ** len(names)]
    for group in groups:
        reach = _reach(tuple([place[name] for name in group.names]), len(names))
        total = [
            [cost + vector[i] for cost, i in zip(sums, reach, strict=True)] for sums in total for vector in group.front
        ]
    return names, [tuple(vector) for vector in total]


@cache
def _reach(chosen: tuple[int, ...], count: int) -> list[int]:
    """Where the shifts of some of a few names stand, for all shifts of all of them."""
    inner = {shifts: i for i, shifts in enumerate(product(SHIFTS, repeat=len(chosen)))}
    return [inner[tuple([shifts[i] for i in chosen])] for shifts in product(SHIFTS, repeat=count)]


def _sources(
    count: int,
    kept: Sequence[tuple[int, int]],
    parts: Sequence[tuple[int, Sequence[int], Sequence[tuple[int, int]]]],
    moves: Sequence[Mapping[Shifts, Sequence[tuple[Shifts, int]]]],
    size: int,
) -> _Sources:
    """Where the costs of vectors come from.

    Args:
        count: the names before.
        kept: the positions of those that are kept, with what a shift adds to the index afterwards.
        parts: of each part, the positions of the names looked at, and which new shifts add how much to the index.
        moves: the moves of each part.
        size: the number of indices afterwards.
    """
    result: list[dict[int, int]] = [{} for _ in range(size)]
    for before, shifts in enumerate(product(SHIFTS, repeat=count)):
        options = [(sum((shifts[i] + 1) * power for i, power in kept), 0)]
        for (_, looked, stores), table in zip(parts, moves, strict=True):
            added = [
                (sum((new[i] + 1) * power for i, power in stores), more)
                for new, more in table.get(tuple([shifts[i] for i in looked]), ())
            ]
            options = [(index + step, cost + more) for index, cost in options for step, more in added]
        for index, cost in options:
            result[index][before] = min(cost, result[index].get(before, cost))
    return [list(each.items()) for each in result]


def _apply_step(front: Sequence[Vector], sources: _Sources) -> tuple[Cost, set[Vector]]:
    """The vectors after a step, and what all their costs had in common, which is taken off them.

    The costs of one index of all vectors are found together, since they come from the same indices before.

    >>> common, vectors = _apply_step([(0, 3), (5, 1)], [[(0, 2), (1, 2)], []])
    >>> common, sorted(vectors)
    (2, [(0, inf), (1, inf)])
    """
    columns: list[Sequence[Cost]] = list(zip(*front, strict=True))
    least = list(map(min, columns))
    common = min((least[i] + more for pairs in sources for i, more in pairs), default=inf)
    if common == inf:
        return 0, {(inf,) * len(sources)}
    never = [inf] * len(front)
    after: list[Sequence[Cost]] = []
    for pairs in sources:
        options: list[Sequence[Cost]] = []
        for i, more in pairs:
            if least[i] < inf:
                raised = more - common
                options.append([cost + raised for cost in columns[i]] if raised else columns[i])
        after.append(list(map(min, *options)) if len(options) > 1 else options[0] if options else never)
    return common, set(zip(*after, strict=True))
