"""Stream automata by the book: definitions written down literally, that share no code with the engine.

* `Step` and `violations`: the four structures of Chadha, Sistla and Viswanathan (LICS 2021) in automata with one threshold.
* `printed_graph_says_private`: the constraint graph of Farzan et al. as it is printed, which is wrong in both directions.
* `coupling_costs`: the best shift coupling of an execution as a linear program; `worst_case` maximises it over all data.
* `longest`: the most that a coupling pays on any path of some length, by plain iteration.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import product
from math import inf, lcm

import numpy as np
from scipy.optimize import linprog
from scipy.sparse import block_diag, csr_array

from privproof.exact import Rational, rational
from privproof.models.stream_automaton import Order, StreamAutomaton, StreamSample, StreamValue, Term, Transition

SHIFTS = (-1, 0, 1)

# -------------------------------------------------------------------------------------------------------- one threshold


@dataclass(frozen=True)
class Step:
    """A transition with one threshold, as the papers write it: guard ``true``, ``<`` or ``>=``, output, assignment."""

    source: str
    target: str
    guard: str
    out: str
    assign: bool = False
    d: object = 1
    d2: object = 1
    public: bool = False

    def transition(self) -> Transition:
        reads = 0 if self.public else 1
        samples = [StreamSample(None if self.d is None else rational(self.d), reads)]
        values: tuple[StreamValue, ...] = ()
        if self.out == "insample":
            values = (StreamValue(0),)
        if self.out == "insample'":
            samples.append(StreamSample(rational(self.d2), reads))
            values = (StreamValue(1),)
        guard = {"true": (), "<": (Order(0, "x"),), ">=": (Order("x", 0),)}[self.guard]
        return Transition(
            self.source,
            self.target,
            tuple(samples),
            guard,
            stores=(("x", 0),) if self.assign else (),
            symbol="·" if values else self.out,
            values=values,
        )


def automaton_of(steps: Iterable[Step | Transition]) -> StreamAutomaton:
    """The automaton of some steps, the first of which begins it."""
    listed = [step.transition() if isinstance(step, Step) else step for step in steps]
    states = tuple(dict.fromkeys(name for step in listed for name in (step.source, step.target)))
    return StreamAutomaton(states=states, initial=listed[0].source, transitions=tuple(listed))


def reachable(steps: Sequence[Step]) -> list[Step]:
    """The steps that can be taken at all."""
    found = reached(steps, steps[0].source)
    return [step for step in steps if step.source in found]


def reached(steps: Iterable[Step], begin: str) -> set[str]:
    """The locations at the ends of paths over some steps, with the one where they begin."""
    listed = list(steps)
    seen = {begin}
    while True:
        fresh = {step.target for step in listed if step.source in seen} - seen
        if not fresh:
            return seen
        seen |= fresh


def cycles(steps: Sequence[Step]) -> list[list[Step]]:
    """The largest closed walks, each as the steps on it; every cycle is in one of them."""
    after = {name: reached(steps, name) for step in steps for name in (step.source, step.target)}
    found: dict[frozenset[str], list[Step]] = {}
    for step in steps:
        if step.source in after[step.target]:
            around = frozenset(name for name in after[step.source] if step.source in after[name])
            found.setdefault(around, []).append(step)
    return list(found.values())


def violations(automaton: Sequence[Step]) -> set[str]:
    """The structures that make an automaton not well-formed; it is private if and only if there are none."""
    steps = reachable(automaton)
    walks = cycles(steps)
    found = set()
    for walk in walks:
        if any(step.assign for step in walk) and any(step.guard != "true" for step in walk):
            found.add("leaking cycle")
        if any(not step.public and step.out in ("insample", "insample'") for step in walk):
            found.add("disclosing cycle")
    places = {
        guard: {step.source for walk in walks if any(s.guard == guard for s in walk) for step in walk}
        for guard in ("<", ">=")
    }
    for here, there in (("<", ">="), (">=", "<")):
        # a path that leads to a cycle that compares by `there` and whose assignments do so too: AG for '>=', AL for '<'
        along = [step for step in steps if not step.assign or step.guard == there]
        for begin in places[here]:
            if reached(along, begin) & places[there]:
                found.add("leaking pair")
            for step in along:
                if step.guard == there and step.out == "insample" and step.source in reached(along, begin):
                    found.add("privacy violating path")  # (c)
        for step in steps:
            if step.out != "insample" or not reached(along, step.target) & places[there]:
                continue
            if step.assign or step.guard == here:
                found.add("privacy violating path")  # (a), (b)
    return found


def printed_graph_says_private(automaton: Sequence[Step]) -> bool:
    """The verdict of the constraint graph as it is printed: there is no path from 1 to -1.

    It has the nodes 1 and -1 and one for every transition, an edge ``i -> j`` where some execution asks ``γ_i <= γ_j``, ``1 -> i``
    for ``<`` on a cycle and ``i -> -1`` for ``>=`` on a cycle.
    """
    steps = reachable(automaton)
    cyclic = {step for walk in cycles(steps) for step in walk}
    plain = [step for step in steps if not step.assign]
    above: dict[object, set[object]] = {}
    for stored in steps:
        if stored.assign:
            for step in steps:
                if step.source in reached(plain, stored.target):
                    if step.guard == "<":
                        above.setdefault(step, set()).add(stored)
                    if step.guard == ">=":
                        above.setdefault(stored, set()).add(step)
    for step in cyclic:
        if step.guard == "<":
            above.setdefault(1, set()).add(step)
        if step.guard == ">=":
            above.setdefault(step, set()).add(-1)
    seen: set[object] = {1}
    waiting: list[object] = [1]
    while waiting:
        for node in above.get(waiting.pop(), ()):
            if node not in seen:
                seen.add(node)
                waiting.append(node)
    return -1 not in seen


# ---------------------------------------------------------------------------------------------------------- executions


@dataclass(frozen=True)
class Constraints:
    """What a path asks of the shifts of its samples; the constant 0 is None.

    Attributes:
        samples: for every sample its step and itself.
        below: pairs of samples, the shift of the first at most that of the second, and the offset of the comparison.
        equal: pairs of samples with the same shift.
    """

    samples: tuple[tuple[int, StreamSample], ...]
    below: tuple[tuple[int | None, int | None, Rational], ...]
    equal: tuple[tuple[int | None, int | None], ...]

    @property
    def possible(self) -> bool:
        """Whether all comparisons hold together with positive probability: no cycle of them has offsets of 0 or more in all."""
        least = {node: (Rational(0), 0) for low, high, _ in self.below for node in (low, high)}
        for _ in range(len(least) + 1):
            changed = False
            for low, high, offset in self.below:
                value, length = least[low]
                if (value + offset, length + 1) > least[high]:
                    least[high], changed = (value + offset, length + 1), True
            if not changed:
                return True
        return False


def constraints(path: Sequence[Transition], thresholds: Iterable[str] | None = None) -> Constraints:
    """The constraints of a path; with some thresholds only where they are named, as if the others were not there."""
    kept = None if thresholds is None else set(thresholds)
    samples: list[tuple[int, StreamSample]] = []
    below, equal = [], []
    stored: dict[str, int] = {}
    for place, step in enumerate(path):
        own = range(len(samples), len(samples) + len(step.samples))
        samples += [(place, sample) for sample in step.samples]

        def node(term: Term, own: range = own) -> int | None:
            return None if term is None else stored[term] if isinstance(term, str) else own[term]

        def known(*terms: Term) -> bool:
            return all(kept is None or not isinstance(term, str) or term in kept for term in terms)

        below += [(node(o.low), node(o.high), o.offset) for o in step.guard if known(o.low, o.high)]
        equal += [(node(v.plus), node(v.minus)) for v in step.values if known(v.plus, v.minus)]
        stored.update({name: own[sample] for name, sample in step.stores})
    return Constraints(tuple(samples), tuple(below), tuple(equal))


def coupling_costs(asked: Constraints, changes: Sequence[Sequence[int]], within: object = 1) -> list[float]:
    """For several data the least cost of a coupling: ``min Σ rate |Δ - γ|`` over shifts in [-1, 1]; infinity if there is none.

    They do not depend on each other, so they are one linear program.  Its variables are the shifts, and what each is away from Δ.
    """
    count = len(asked.samples)
    if not count:
        return [0.0] * len(changes)
    rates = [None if s.rate is None else float(s.rate * rational(within)) for _, s in asked.samples]

    def row(plus: int | None, minus: int | None, away: int | None = None) -> list[float]:
        found = [0.0] * (2 * count)
        if plus is not None:
            found[plus] += 1.0
        if minus is not None:
            found[minus] -= 1.0
        if away is not None:
            found[count + away] -= 1.0
        return found

    order = [row(low, high) for low, high, _ in asked.below]
    more, less = [row(i, None, i) for i in range(count)], [row(None, i, i) for i in range(count)]
    same = [row(plus, minus) for plus, minus in asked.equal]
    exact = [row(i, None) for i in range(count) if rates[i] is None]
    limits: list[float] = []
    fixed: list[float] = []
    for change in changes:
        own = [float(sample.reads * change[place]) for place, sample in asked.samples]
        limits += [0.0] * len(order) + own + [-c for c in own]
        fixed += [0.0] * len(same) + [own[i] for i in range(count) if rates[i] is None]
    upper = block_diag([csr_array(np.array(order + more + less))] * len(changes), format="csr")
    tied = block_diag([csr_array(np.array(same + exact))] * len(changes), format="csr") if same or exact else None
    weights = np.array([0.0] * count + [0.0 if rate is None else rate for rate in rates])
    answer = linprog(
        np.tile(weights, len(changes)),
        A_ub=upper,
        b_ub=limits,
        A_eq=tied,
        b_eq=fixed if tied is not None else None,
        bounds=([(-1, 1)] * count + [(0, None)] * count) * len(changes),
        method="highs",
    )
    if answer.status == 2:
        return [inf] if len(changes) == 1 else [c for one in changes for c in coupling_costs(asked, [one], within)]
    assert answer.status == 0, answer.message
    return [float(weights @ block) for block in answer.x.reshape(len(changes), 2 * count)]


def data(path: Sequence[Transition], relation: str) -> Iterator[tuple[int, ...]]:
    """The ends of what a neighbour relation allows on a path."""
    match relation:
        case "each":
            yield from product(*((-1, 1) if step.reads else (0,) for step in path))
        case "monotone":
            yield from product(*((0, 1) if step.reads else (0,) for step in path))
            yield from product(*((0, -1) if step.reads else (0,) for step in path))
        case _:
            yield (0,) * len(path)
            for place, step in enumerate(path):
                if step.reads:
                    for change in (-1, 1):
                        yield tuple(change if i == place else 0 for i in range(len(path)))


def worst_case(path: Sequence[Transition], relation: str = "each", within: object = 1) -> float:
    """The nested problem: the most, over all data, of what the best coupling of a path costs."""
    return max(coupling_costs(constraints(path), list(data(path, relation)), within))


def paths(automaton: StreamAutomaton, length: int) -> Iterator[list[Transition]]:
    """The possible paths with this many edges, and shorter ones that end."""

    def longer(path: list[Transition], state: str) -> Iterator[list[Transition]]:
        following = [automaton.transitions[n] for n in automaton.leaving.get(state, ())]
        following = [step for step in following if constraints([*path, step]).possible]
        if not following or len(path) == length:
            yield path
            return
        for step in following:
            yield from longer([*path, step], step.target)

    return longer([], automaton.initial)


# ----------------------------------------------------------------------------------------------------------- iteration


def longest(automaton: StreamAutomaton, relation: str, lengths: Iterable[int]) -> list[Rational | None]:
    """The most that the best coupling pays on any path of at most so many edges; None for a path without any coupling.

    For a path and data, ``v[g]`` is the least cost of a coupling that has come to shifts ``g`` of the thresholds.  These vectors
    are kept for every location, with the order of the thresholds that is known there, without those that are nowhere larger than another.
    """
    names = automaton.thresholds
    unit = lcm(*(int(s.rate.q) for step in automaton.transitions for s in step.samples if s.rate is not None))
    wanted = sorted(lengths)
    sides = {"each": [(-1, 1)], "monotone": [(0, 1), (-1, 0)], "one": [(-1, 1)]}[relation]
    found = []
    for side in sides:
        begin = (automaton.initial, frozenset(), False)
        at = {begin: np.zeros((1, 3 ** len(names)))}
        fresh = dict(at)
        totals = []
        for number in range(1, wanted[-1] + 1):
            fresh = _further(automaton, relation, side, unit, at, fresh)
            if number in wanted:
                totals.append(max(float(vectors.min(axis=1).max()) for vectors in at.values()))
        found.append(totals)
    return [None if most == inf else Rational(round(most), unit) for most in map(max, *found, found[0])]


def _further(automaton, relation, side, unit, at, fresh):
    """One step further from what is new; what it finds is added to `at`, and what is new in it returned."""
    names = automaton.thresholds
    came: dict[object, list[np.ndarray]] = {}
    for (state, known, spent), vectors in fresh.items():
        for number in automaton.leaving.get(state, ()):
            step = automaton.transitions[number]
            learnt = order_after(step, known)
            if learnt is None:
                continue
            ways = [(spent, change) for change in side] if step.reads else [(spent, 0)]
            if relation == "one" and step.reads:
                ways = [(spent, 0)] + ([] if spent else [(True, change) for change in side])
            for after, change in ways:
                table = step_costs(step, change, names, unit)
                moved = (vectors[:, :, None] + table[None, :, :]).min(axis=1)
                came.setdefault((step.target, learnt, after), []).append(moved)
    new = {}
    for node, listed in came.items():
        vectors = np.unique(np.concatenate(listed), axis=0)
        if node in at:
            vectors = vectors[~_dominated(vectors, at[node])]
        vectors = _largest(vectors)
        if len(vectors):
            new[node] = vectors
            at[node] = _largest(np.unique(np.concatenate([at[node], vectors]), axis=0)) if node in at else vectors
    return new


def _dominated(vectors: np.ndarray, by: np.ndarray) -> np.ndarray:
    return (vectors[:, None, :] <= by[None, :, :]).all(axis=2).any(axis=1)


def _largest(vectors: np.ndarray) -> np.ndarray:
    """Distinct vectors without those that are below another."""
    below = (vectors[:, None, :] <= vectors[None, :, :]).all(axis=2).sum(axis=1)
    return vectors[below == 1]


@cache
def step_costs(step: Transition, change: int, names: tuple[str, ...], unit: int) -> np.ndarray:
    """From shifts of the thresholds to shifts of the thresholds: the least that the samples of a step cost, by trying all."""
    table = np.full((3 ** len(names), 3 ** len(names)), inf)
    for old_number, old in enumerate(product(SHIFTS, repeat=len(names))):
        before = dict(zip(names, old, strict=True))
        for shift in product(SHIFTS, repeat=len(step.samples)):
            of: dict[Term, int] = {None: 0, **before, **dict(enumerate(shift))}
            if any(of[o.low] > of[o.high] for o in step.guard) or any(of[v.plus] != of[v.minus] for v in step.values):
                continue
            cost = 0.0
            for sample, own in zip(step.samples, shift, strict=True):
                away = abs(sample.reads * change - own)
                if away:
                    cost += inf if sample.rate is None else away * float(sample.rate * unit)
            after = {**before, **{name: shift[sample] for name, sample in step.stores}}
            new_number = 0
            for name in names:
                new_number = 3 * new_number + after[name] + 1
            table[old_number, new_number] = min(table[old_number, new_number], cost)
    return table


Known = frozenset[tuple[Term, Term, bool]]
"""Thresholds (and None, the constant 0) of which the first is below the second, or (True) the same sample."""


@cache
def order_after(step: Transition, known: Known) -> Known | None:
    """What is known about the thresholds after a step; None if it is impossible."""

    def node(term: Term) -> Term:
        equal = [low for low, high, same in known if same and high == term]
        return min([term, *equal]) if isinstance(term, str) else term

    less = {(node(low), node(high)) for low, high, same in known if not same}
    less |= {(node(order.low), node(order.high)) for order in step.guard}
    while more := {(a, d) for a, b in less for c, d in less if b == c} - less:
        less |= more
    if any(low == high for low, high in less):
        return None
    looked = {term for pair in known for term in pair[:2]} | step.thresholds | {None}
    now: dict[Term, Term] = {**{term: node(term) for term in looked}, **dict(step.stores)}
    found: set[tuple[Term, Term, bool]] = set()
    for (one, first), (other, second) in product(now.items(), now.items()):
        if one != other and first == second:
            found.add((one, other, True))
        elif (first, second) in less:
            found.add((one, other, False))
    return frozenset(found)
