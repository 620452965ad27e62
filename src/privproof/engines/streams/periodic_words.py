"""Periodic programs: the executions of an automaton as finitely many expressions of steps and repeated cycles.

A regular language is a finite union of union-free ones (Nagy 2006).  Farzan et al. decompose a program into such *periodic programs*
and ask of each whether its *privacy constraint system* has a solution: shifts ``γ`` of all samples such that comparisons and
written numbers are respected and repeated steps cost nothing.  The decision here needs no decomposition, because a path of
steps that are not repeated already names its periodic program: whatever cycles it passes are available.  There may be exponentially
many; this is for looking at them, and for teaching.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from privproof.engines.streams.coupling_arena import Arena, arenas
from privproof.engines.streams.coupling_decision import Isolated
from privproof.exact import ONE
from privproof.models.stream_automaton import StreamAutomaton, Term, guard_words


@dataclass(frozen=True, eq=False)
class PeriodicProgram:
    """A path of steps that are taken once, and the cycles that it passes.

    Attributes:
        arena: where the path runs.
        edges: the steps that are taken once.
        cycles: before each of them, and at the end, the steps that may be repeated there.
    """

    arena: Arena
    edges: tuple[int, ...]
    cycles: tuple[tuple[int, ...], ...]

    @property
    def expression(self) -> str:
        """The steps by what they write (or by their states), repeated ones under a star."""
        parts = []
        for place, repeated in enumerate(self.cycles):
            if repeated:
                parts.append(f"({' | '.join(self._name(number) for number in repeated)})*")
            if place < len(self.edges):
                parts.append(self._name(self.edges[place]))
        return " ".join(parts)

    def _name(self, number: int) -> str:
        step = self.arena.step(number)
        return step.symbol or str(step)

    @property
    def satisfiable(self) -> bool:
        """Whether the privacy constraint system has a solution."""
        view = Isolated(self.arena, self.arena.automaton.thresholds)
        shifts = view.asked(0)
        for number in self.edges:
            edge = self.arena.edges[number]
            shifts = view.image(edge, edge.changes[0], shifts) & view.asked(edge.target)
        return bool(shifts)

    def constraints(self) -> list[str]:
        """The privacy constraint system: one shift for every step, ``γ(k)``, and for repeated ones what the data differ by."""
        found = []
        held: dict[str, str] = {}
        for place, repeated in enumerate(self.cycles):
            for number in repeated:
                found += self._of(number, None, held)
            if place < len(self.edges):
                step = self.arena.step(self.edges[place])
                found += self._of(self.edges[place], str(place), held)
                held.update({name: _shift(str(place), sample, len(step.samples)) for name, sample in step.stores})
        return list(dict.fromkeys(found))

    def _of(self, number: int, place: str | None, held: dict[str, str]) -> list[str]:
        step = self.arena.step(number)
        every = " for all Δ" if place is None and step.reads else ""

        def name(term: Term) -> str:
            if term is None:
                return "0"
            if isinstance(term, str):
                return held.get(term, term)
            if place is not None:
                return _shift(place, term, len(step.samples))
            return {1: "Δ", 0: "0", -1: "-Δ"}[step.samples[term].reads]

        found = [f"{name(o.low)} <= {name(o.high)}{every}    ({guard_words(step)})" for o in step.guard]
        return found + [f"{name(v.plus)} = {name(v.minus)}{every}    (written)" for v in step.values]


def _shift(place: str, sample: int, samples: int) -> str:
    return f"γ({place})" if samples == 1 else f"γ({place}.{sample})"


def periodic_programs(automaton: StreamAutomaton, *, most: int = 1_000) -> Iterator[PeriodicProgram]:
    """The periodic programs of an automaton: maximal ones, which end where no step leads on.

    >>> from privproof.exact import rational
    >>> from privproof.models.stream_automaton import Order, StreamSample, Transition
    >>> half, quarter = StreamSample(rational("1/2"), 0), StreamSample(rational("1/4"))
    >>> above = StreamAutomaton(states=("start", "wait", "done"), initial="start", transitions=(
    ...     Transition("start", "wait", (half,), stores=(("x", 0),), symbol="go"),
    ...     Transition("wait", "wait", (quarter,), (Order(0, "x"),), symbol="below"),
    ...     Transition("wait", "done", (quarter,), (Order("x", 0),), symbol="above")))
    >>> [(program.expression, program.satisfiable) for program in periodic_programs(above)]
    [('go (below)* above', True)]
    >>> next(periodic_programs(above)).constraints()
    ['Δ <= γ(0) for all Δ    (sample < x)', 'γ(0) <= γ(1)    (sample >= x)']
    """
    (arena,) = arenas(automaton, "each", ONE)
    label, components = arena.components
    found = 0
    first = label[0]
    waiting: list[tuple[int, tuple[int, ...], tuple[tuple[int, ...], ...]]] = [
        (first, (), (tuple(arena.inner[first]),))
    ]
    while waiting and found < most:
        component, edges, cycles = waiting.pop()
        leaving = [number for node in components[component] for number in arena.leaving[node]]
        onward = [number for number in leaving if label[arena.edges[number].target] != component]
        if not onward:
            found += 1
            yield PeriodicProgram(arena, edges, cycles)
        for number in reversed(onward):
            there = label[arena.edges[number].target]
            waiting.append((there, (*edges, number), (*cycles, tuple(arena.inner[there]))))
