"""Proofs by coupling: an inductive invariant over the costs of shift couplings, and a bound on it.

A node stands for paths that end in its state; its products bound their vectors (see `couplings`), and its *known* facts
are inequalities between thresholds that hold on them.  The invariant is: whatever path with positive probability the
automaton takes, and however the inputs differ, the path is at a node whose known facts hold and one of whose products
has a vector that is nowhere below that of the path, minimised over the thresholds that the product does not name.  It
holds at the beginning (node 0, cost 0), and every step keeps it.  So the cost of every path is bounded by the greatest
over all products, and that must be at most epsilon.

Only the extreme differences are followed, although inputs may differ by less: the least cost of a path is the minimum of
a function that is convex in the differences and the (real) shifts together, hence a convex function of the differences,
and such a function is greatest at a corner.  An *arena* follows the differences with the given extremes: -1 and 1 if
each input differs, 0 and 1 and then -1 and 0 if all differ in one direction.  If one input differs, a node says whether
the path has *changed* already: 0 before and after, -1 or 1 at that step.

A transition that the known facts exclude has probability 0 and is left out.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import product
from math import inf

from privproof_checker.numbers import Rational, epsilon
from privproof_checker.outcomes import Accepted, Limits, refuse, within
from privproof_checker.plain_documents import (
    a_flag,
    a_list,
    a_number,
    a_text,
    an_integer,
    an_object,
    only_members,
    text,
)
from privproof_checker.streams.automaton_steps import AutomatonStep
from privproof_checker.streams.cost_products import LARGEST_COST, Cost, CostProduct, Products, Settled, Vector, Written
from privproof_checker.streams.order_systems import ZERO, Conflict, Order, Term, conflict
from privproof_checker.streams.shift_couplings import MOST_NAMES, SHIFTS, Kernels, Weight
from privproof_checker.streams.stream_automata import Automaton
from privproof_checker.streams.stream_executions import check_execution_cost

_ARENAS = {"each": [(-1, 1)], "one": [(-1, 1)], "monotone": [(-1, 0), (0, 1)]}
_NODE = frozenset(("state", "changed", "known", "products", "next"))

Facts = frozenset[tuple[str, str]]
"""Pairs of thresholds, the first at most the second."""


@dataclass(frozen=True, slots=True)
class ArenaNode:
    """A node of an arena: where a path may be, and what is known about it."""

    state: int
    changed: bool
    known: Facts
    products: tuple[CostProduct, ...]
    after: dict[str, object]


def proved_by_coupling(automaton: Automaton, evidence: dict[str, object], limits: Limits) -> Accepted:
    """Check a proof."""
    only_members(evidence, ("method", "unit", "arenas", "attained"), "evidence")
    automaton.without_ties()
    unit = a_number(evidence.get("unit"), "evidence.unit", limits)
    if unit <= 0:
        refuse(f"the unit {text(unit)} is not positive", "evidence.unit")
    products = Products(Kernels(_weights(automaton, unit)))
    listed = a_list(evidence.get("arenas"), "evidence.arenas")
    changes: list[tuple[int, int]] = []
    nodes = 0
    greatest: Cost = 0
    for i, item in enumerate(listed[:3]):
        place = f"evidence.arenas[{i}]"
        given = an_object(item, place)
        only_members(given, ("changes", "nodes"), place)
        ends = [an_integer(end, f"{place}.changes") for end in a_list(given.get("changes"), f"{place}.changes")]
        if len(ends) != 2 or tuple(ends) not in _ARENAS[automaton.relation]:
            refuse(f"these are no extreme differences of the relation {automaton.relation!r}", f"{place}.changes")
        changes.append((ends[0], ends[1]))
        arena = _Arena(automaton, products, changes[-1], f"{place}.nodes")
        arena.read(given.get("nodes"), limits)
        arena.check()
        nodes += len(arena.nodes)
        greatest = max(greatest, arena.greatest())
    if len(listed) > 3 or sorted(changes) != _ARENAS[automaton.relation]:
        refuse(f"the arenas do not follow the differences of the relation {automaton.relation!r}", "evidence.arenas")
    if greatest == inf:
        refuse("a cost is infinite", "evidence.arenas")
    cost = unit * int(greatest)
    if automaton.epsilon.compare(epsilon(cost)) < 0:
        refuse(f"a cost of {text(cost)} exceeds epsilon = {automaton.epsilon}", "evidence.arenas")
    statement = (
        "whatever a run that has not halted writes in any number of steps, its probabilities on "
        f"{automaton.neighbours} differ by a factor of at most e^({automaton.epsilon})"
    )
    details: dict[str, object] = {"method": "coupling", "nodes": nodes, "cost": text(cost)}
    if "attained" in evidence:
        check_execution_cost(automaton, products, unit, evidence["attained"], limits)
        only = "" if automaton.delta == 0 else " with delta = 0"
        statement += f"; an execution attains it, so no smaller epsilon holds{only}"
        details["tight"] = automaton.delta == 0
    lower = automaton.epsilon if details.get("tight") else None
    return Accepted("proved", statement, details, lower=lower, upper=epsilon(cost))


def _weights(automaton: Automaton, unit: Rational) -> Weight:
    """The costs of shifting samples by one, in units, which must be whole numbers."""
    factor = automaton.within / unit
    weights: dict[Rational, int] = {}
    for step in {transition.step for transition in automaton.transitions}:
        for sample in step.samples:
            if sample.rate is None or sample.rate in weights:
                continue
            cost = sample.rate * factor
            if cost.q != 1 or cost > LARGEST_COST:
                refuse(f"{text(cost)} units for a sample of rate {text(sample.rate)} are not whole", "evidence.unit")
            weights[sample.rate] = int(cost.p)

    return weights.__getitem__


class _Arena:
    def __init__(self, automaton: Automaton, products: Products, changes: tuple[int, int], place: str) -> None:
        self.nodes: list[ArenaNode] = []
        self._automaton = automaton
        self._products = products
        self._changes = changes
        self._place = place
        self._groups: dict[str, tuple[tuple[str, ...], Settled]] = {}
        self._excluded: dict[tuple[AutomatonStep, Facts, int], bool] = {}
        self._implied: dict[tuple[AutomatonStep, Facts, Facts], bool] = {}

    def read(self, value: object, limits: Limits) -> None:
        """Read the nodes."""
        listed = a_list(value, self._place)
        within(len(listed), limits.nodes, "nodes", self._place)
        number = {name: i for i, name in enumerate(self._automaton.states)}
        facts: dict[str, Facts] = {}
        for i, item in enumerate(listed):
            place = f"{self._place}[{i}]"
            given = an_object(item, place)
            if not given.keys() <= _NODE:
                only_members(given, _NODE, place)
            state = a_text(given.get("state"), place)
            if state not in number:
                refuse(f"unknown state {state[:60]!r}", place)
            changed = a_flag(given.get("changed", False), f"{place}.changed")
            if changed and self._automaton.relation != "one":
                refuse("a change is noted only where one input differs", f"{place}.changed")
            key = repr(given.get("known"))
            if key not in facts:
                facts[key] = _facts(given.get("known"), f"{place}.known")
            products = self._read_products(given.get("products"), f"{place}.products")
            after = an_object(given.get("next"), f"{place}.next")
            self.nodes.append(ArenaNode(number[state], changed, facts[key], products, after))

    def _read_products(self, value: object, place: str) -> tuple[CostProduct, ...]:
        result = []
        for i, item in enumerate(a_list(value, place)):
            names: list[str] = []
            groups = []
            for j, each in enumerate(a_list(item, f"{place}[{i}]")):
                written = repr(each)  # tells 1 from true and from "1", so that equal texts mean equal groups
                if written not in self._groups:
                    named, front = _group(each, f"{place}[{i}][{j}]")
                    self._groups[written] = named, self._products.settled(named, front)
                named, group = self._groups[written]
                names.extend(named)
                groups.append(group)
            if len(set(names)) < len(names):
                refuse("a threshold stands in two groups", f"{place}[{i}]")
            result.append(self._products.of(groups))
        return tuple(result)

    def greatest(self) -> Cost:
        """The greatest cost of all products."""
        different = {product for node in self.nodes for product in node.products}
        return max((product.bound() for product in different), default=0)

    def check(self) -> None:
        """Refuse nodes that do not begin with cost 0, or that a step leaves."""
        automaton, products = self._automaton, self._products
        if not self.nodes:
            refuse("there is no node", self._place)
        first = self.nodes[0]
        if first.state != automaton.initial or first.changed or first.known:
            refuse("node 0 is not the beginning", f"{self._place}[0]")
        if not any(products.covered(products.zero, each) for each in first.products):
            refuse("no product of node 0 covers the cost 0", f"{self._place}[0].products")
        for i, node in enumerate(self.nodes):
            left = 0
            for number in automaton.leaving[node.state]:
                targets = node.after.get(str(number))
                if targets is not None:
                    left += 1
                self._follow(node, number, targets, f"{self._place}[{i}].next")
            if left < len(node.after):
                refuse("a transition does not leave the state of the node", f"{self._place}[{i}].next")

    def _follow(self, node: ArenaNode, number: int, targets: object, place: str) -> None:
        """Refuse a transition after which a product of the node is not covered."""
        transition = self._automaton.transitions[number]
        step = transition.step
        if targets is None or targets == []:
            if not self._impossible(step, node):
                refuse(f"transition {number} has no successor", place)
            return
        place = f"{place}.{number}"
        allowed: dict[bool, list[CostProduct]] = {False: [], True: []}
        for item in a_list(targets, place):
            target = an_integer(item, place)
            if not 0 <= target < len(self.nodes):
                refuse(f"there is no node {target}", place)
            there = self.nodes[target]
            if there.state != transition.target:
                refuse(f"node {target} is not in the state that the transition leads to", place)
            if there.known and not self._follows(step, node.known, there.known):
                refuse(f"what node {target} knows does not follow", place)
            allowed[there.changed].extend(there.products)
        covered = self._products.covered
        for changed, change in self._moves(node, step):
            for product_ in node.products:
                after = self._products.advanced(step.form, change, product_)
                if not any(covered(after, each) for each in allowed[changed]):
                    refuse(f"a cost after a difference of {change} is not covered", place)

    def _moves(self, node: ArenaNode, step: AutomatonStep) -> Iterator[tuple[bool, int]]:
        """The differences in a step, with whether the path has changed afterwards."""
        if self._automaton.relation != "one":
            for change in self._changes if step.reads else (0,):
                yield False, change
            return
        yield node.changed, 0
        if step.reads and not node.changed:
            for change in self._changes:
                yield True, change

    def _impossible(self, step: AutomatonStep, node: ArenaNode) -> bool:
        """Whether the guard contradicts what is known at the node."""
        if step.some:
            return False
        key = (step, node.known, node.state)
        if key not in self._excluded:
            facts: list[Order] = [(low, high, ZERO) for low, high in node.known]
            different = self._automaton.origins_at(node.state).different(step.samples)
            self._excluded[key] = conflict([*step.guard, *facts], different) is Conflict.ALWAYS
        return self._excluded[key]

    def _follows(self, step: AutomatonStep, known: Facts, wanted: Facts) -> bool:
        key = (step, known, wanted)
        if key not in self._implied:
            self._implied[key] = _facts_hold_after(step, known, wanted)
        return self._implied[key]


def _facts_hold_after(step: AutomatonStep, known: Facts, wanted: Facts) -> bool:
    """Whether facts hold after a step before which others hold."""
    above: dict[Term, list[Term]] = {}
    for low, high in known:
        above.setdefault(low, []).append(high)
    for below, over, offset in () if step.some else step.guard:
        if offset >= 0:
            above.setdefault(below, []).append(over)
    for one, two in wanted:
        start: Term = step.stores.get(one, one)
        end: Term = step.stores.get(two, two)
        reached = [start]
        seen = {start}
        for term in reached:
            for other in above.get(term, ()):
                if other not in seen:
                    seen.add(other)
                    reached.append(other)
        if end not in seen:
            return False
    return True


def _facts(value: object, place: str) -> Facts:
    result = set()
    for item in a_list(value, place):
        pair = [a_text(name, place) for name in a_list(item, place)]
        if len(pair) != 2:
            refuse("a fact is about two thresholds", place)
        result.add((pair[0], pair[1]))
    return frozenset(result)


def _group(value: object, place: str) -> Written:
    """A group with its names in order, its vectors rearranged."""
    given = an_object(value, place)
    only_members(given, ("names", "front"), place)
    names = [a_text(name, f"{place}.names") for name in a_list(given.get("names"), f"{place}.names")]
    if len(names) > MOST_NAMES or len(set(names)) < len(names) or "" in names:
        refuse(f"expected at most {MOST_NAMES} different names", f"{place}.names")
    ordered = tuple(sorted(names))
    places = _places(tuple([ordered.index(name) for name in names]))
    front = a_list(given.get("front"), f"{place}.front")
    if not front:
        refuse("a front is empty", f"{place}.front")
    return ordered, tuple([_vector(item, places, f"{place}.front[{i}]") for i, item in enumerate(front)])


@cache
def _places(chosen: tuple[int, ...]) -> list[int]:
    """Where the costs of a vector stand whose names are in another order; one such list for every order of few names."""
    index = {shifts: i for i, shifts in enumerate(product(SHIFTS, repeat=len(chosen)))}
    return [index[tuple(shifts[i] for i in chosen)] for shifts in index]


def _vector(value: object, places: Sequence[int], place: str) -> Vector:
    listed = a_list(value, place)
    if len(listed) != len(places):
        refuse(f"expected {len(places)} costs, found {len(listed)}", place)
    costs: list[Cost] = []
    for i in places:
        value = listed[i]
        if value is None:
            costs.append(inf)
            continue
        cost = value if type(value) is int else an_integer(value, place)
        if not 0 <= cost <= LARGEST_COST:
            refuse("a cost is negative or too large", place)
        costs.append(cost)
    return tuple(costs)
