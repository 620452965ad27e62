"""The arena of a stream automaton: its reachable graph, in which the adversary chooses a path and how the data differ on it.

The two runs of a coupling take the same transitions, so a pair of runs is a path.  In every step that reads the data the
adversary chooses the difference of the two inputs.  The cost of the best coupling is convex in these differences, so only the
ends of what the neighbour relation allows count:

* ``each``: every input may change, by 1 in either direction;
* ``monotone``: all in one direction, so there are two arenas, with differences 0, 1 and -1, 0;
* ``one``: a single input changes, so every state is there twice, before the change and after it.

Differences are measured in units of the sensitivity, and rates with them.  An edge is *cyclic* if it lies on a cycle: it can be
taken as often as the adversary likes, and a coupling of finite cost pays nothing for it.

Thresholds are compared with common samples, so a run may know an order among them; a path that contradicts it has probability
zero and is not in the arena (`privproof.engines.streams.order_systems`).

A cycle may replace thresholds that it never looks at.  A state that can be left before that, or after, is there twice as well
(`Arena.unfolded`), so that what a cycle asks of a coupling is asked of the paths that go around it only.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property
from math import lcm

from privproof.engines.streams.order_systems import NOTHING, Known, OrderSystem
from privproof.exact import Rational
from privproof.models.graph_algorithms import components
from privproof.models.stream_automaton import StreamAutomaton, Transition

_MOST_REPLACED = 4
"""Remembering n replaced thresholds makes up to 2^n copies of a node; with more of them nothing is remembered."""


@dataclass(frozen=True)
class ArenaEdge:
    """A transition in the arena, with the differences that the adversary may choose in it."""

    source: int
    target: int
    step: int
    changes: tuple[int, ...]


@dataclass(frozen=True, eq=False)
class Arena:
    """Nodes by number, the first one is the beginning; edges between them.

    Attributes:
        automaton: where it comes from.
        states: for every node the state.
        marks: for every node whether a single change has happened already, and what is known about the order of thresholds.
        edges: the edges.
        changes: the differences that the adversary may choose from.
        unit: all rates are whole multiples of it.
        within: the sensitivity: a difference of 1 stands for this much.
    """

    automaton: StreamAutomaton
    states: tuple[str, ...]
    marks: tuple[tuple[bool, Known], ...]
    edges: tuple[ArenaEdge, ...]
    changes: tuple[int, ...]
    unit: Rational
    within: Rational

    def step(self, edge: ArenaEdge | int) -> Transition:
        """The transition of an edge."""
        found = self.edges[edge] if isinstance(edge, int) else edge
        return self.automaton.transitions[found.step]

    @cached_property
    def leaving(self) -> list[list[int]]:
        """The numbers of the edges that leave each node."""
        found: list[list[int]] = [[] for _ in self.states]
        for number, edge in enumerate(self.edges):
            found[edge.source].append(number)
        return found

    @cached_property
    def components(self) -> tuple[list[int], list[list[int]]]:
        """For every node its strongly connected component, and the components so that edges lead to later ones."""
        found = components(range(len(self.states)), lambda node: [self.edges[n].target for n in self.leaving[node]])
        label = {node: number for number, nodes in enumerate(found) for node in nodes}
        return [label[node] for node in range(len(self.states))], found

    @cached_property
    def inner(self) -> list[list[int]]:
        """For every component the cyclic edges in it."""
        label, listed = self.components
        found: list[list[int]] = [[] for _ in listed]
        for number, edge in enumerate(self.edges):
            if label[edge.source] == label[edge.target]:
                found[label[edge.source]].append(number)
        return found

    @cached_property
    def replaced(self) -> list[frozenset[str]]:
        """For every component the thresholds that its cycles replace."""
        return [frozenset[str]().union(*(self.step(number).stored for number in inside)) for inside in self.inner]

    @cached_property
    def looked(self) -> list[frozenset[str]]:
        """For every component the thresholds that its cycles look at."""
        return [frozenset[str]().union(*(self.step(number).thresholds for number in inside)) for inside in self.inner]

    @cached_property
    def entering(self) -> list[list[int]]:
        """The numbers of the edges that lead to each node."""
        found: list[list[int]] = [[] for _ in self.states]
        for number, edge in enumerate(self.edges):
            found[edge.target].append(number)
        return found

    @cached_property
    def live(self) -> list[frozenset[str]]:
        """For every node the thresholds that may be looked at before they are replaced."""
        looked = [step.thresholds for step in self.automaton.transitions]
        stored = [step.stored for step in self.automaton.transitions]
        live: list[frozenset[str]] = [frozenset()] * len(self.states)
        waiting = list(range(len(self.states)))
        while waiting:
            node = waiting.pop()
            now = live[node]
            for number in self.leaving[node]:
                edge = self.edges[number]
                now = now | looked[edge.step] | (live[edge.target] - stored[edge.step])
            if now != live[node]:
                live[node] = now
                waiting += [self.edges[number].source for number in self.entering[node]]
        return live

    def path(self, source: int, target: int, among: Iterable[int] | None = None) -> list[int] | None:
        """The edges of a shortest path, among some edges only; empty where source and target agree."""
        if source == target:
            return []
        allowed = None if among is None else set(among)
        came: dict[int, int] = {}
        row = [source]
        seen = {source}
        while row:
            following = []
            for node in row:
                for number in self.leaving[node]:
                    edge = self.edges[number]
                    if edge.target in seen or (allowed is not None and number not in allowed):
                        continue
                    came[edge.target] = number
                    if edge.target == target:
                        back = [number]
                        while self.edges[back[-1]].source != source:
                            back.append(came[self.edges[back[-1]].source])
                        return back[::-1]
                    seen.add(edge.target)
                    following.append(edge.target)
            row = following
        return None

    def tour(self, number: int) -> list[int]:
        """A cycle that begins with an edge."""
        edge = self.edges[number]
        back = self.path(edge.target, edge.source, self.inner[self.components[0][edge.source]])
        assert back is not None
        return [number, *back]

    def unfolded(self) -> Arena:
        """The same graph, in which a node remembers which thresholds its component has replaced but does not look at."""
        label, _ = self.components
        idle: dict[int, frozenset[str]] = {}
        for number, (replaced, looked) in enumerate(zip(self.replaced, self.looked, strict=True)):
            kept = replaced - looked
            if kept and len(kept) <= _MOST_REPLACED:
                idle[number] = kept
        if not idle:
            return self
        nodes: dict[tuple[int, frozenset[str]], int] = {(0, frozenset()): 0}
        waiting = [(0, frozenset[str]())]
        edges: list[ArenaEdge] = []
        while waiting:
            node, replaced = waiting.pop()
            for number in self.leaving[node]:
                edge = self.edges[number]
                now = frozenset[str]()
                if label[edge.target] == label[node] and label[node] in idle:
                    now = replaced | (self.step(edge).stored & idle[label[node]])
                after = (edge.target, now)
                if after not in nodes:
                    nodes[after] = len(nodes)
                    waiting.append(after)
                edges.append(ArenaEdge(nodes[node, replaced], nodes[after], edge.step, edge.changes))
        states = tuple(self.states[node] for node, _ in nodes)
        marks = tuple(self.marks[node] for node, _ in nodes)
        return replace(self, states=states, marks=marks, edges=tuple(edges))


def arenas(automaton: StreamAutomaton, relation: str, within: Rational) -> tuple[Arena, ...]:
    """The arenas of an automaton under a neighbour relation; the adversary chooses one of them."""
    match relation:
        case "each":
            return (_arena(automaton, (-1, 1), within),)
        case "monotone":
            return (_arena(automaton, (0, 1), within), _arena(automaton, (-1, 0), within))
        case _:
            return (_arena(automaton, (-1, 1), within, single=True),)


def _arena(automaton: StreamAutomaton, changes: tuple[int, ...], within: Rational, *, single: bool = False) -> Arena:
    rates = {s.rate * within for step in automaton.transitions for s in step.samples if s.rate is not None}
    unit = Rational(1, lcm(*(int(rate.q) for rate in rates))) if rates else Rational(1)
    orders = OrderSystem(automaton)
    beginning = (automaton.initial, False, NOTHING)
    nodes: dict[tuple[str, bool, Known], int] = {beginning: 0}
    waiting = [beginning]
    edges: list[ArenaEdge] = []
    transitions, leaving = automaton.transitions, automaton.leaving
    while waiting:
        here = waiting.pop()
        state, changed, known = here
        for number in leaving.get(state, ()):
            step = transitions[number]
            learnt = orders.after(number, known)
            if learnt is None:
                continue
            ways: list[tuple[bool, tuple[int, ...]]] = [(changed, changes if step.reads and not single else (0,))]
            if single and step.reads and not changed:
                ways.append((True, changes))
            for after, chosen in ways:
                there = (step.target, after, learnt)
                if there not in nodes:
                    nodes[there] = len(nodes)
                    waiting.append(there)
                edges.append(ArenaEdge(nodes[here], nodes[there], number, chosen))
    states = tuple(state for state, _, _ in nodes)
    marks = tuple((changed, known) for _, changed, known in nodes)
    return Arena(automaton, states, marks, tuple(edges), changes, unit, within)
