"""What one step costs a shift coupling.

A coupling relates every sample of the first run to the same sample of the second run, shifted by ``γ``.  It is valid if what holds
in the first run holds in the second: for ``low <= high`` in a guard ``γ_low <= γ_high``, and for a number that is written
``γ = 0`` (or the two shifts of a written difference agree).  A sample of rate ``d`` whose mean differs by ``Δ`` costs
``d * |Δ - γ|``.  For data that differ by -1, 0 or 1 shifts of -1, 0 or 1 are optimal, because the constraints are
differences (totally unimodular).

`parts` gives, for one step and one difference of the data, its independent parts: what the old shifts of the thresholds that are
looked at, and the new shifts of those that are stored, cost together at least.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import product
from math import inf
from typing import TypeAlias

from privproof.engines.streams.coupling_arena import Arena
from privproof.errors import QuestionError
from privproof.models.stream_automaton import Order, StreamSample, StreamValue, Term, Transition

SHIFTS = (-1, 0, 1)
"""By how much a coupling may shift a sample or a threshold, in units of the sensitivity; no others are needed."""
Cost: TypeAlias = "int | float"
"""A whole number of units, or infinity."""

_MOST = 200_000
"""Combinations of shifts of what is compared in one step, three for each; beyond it the question is refused."""


@dataclass(frozen=True)
class ShiftPart:
    """A part of a step that shares no sample and no threshold with the others.

    Attributes:
        looked: the thresholds it looks at.
        stored: the thresholds it replaces.
        moves: old shifts, new shifts, and the least cost of having both; what is not listed is impossible.
    """

    looked: tuple[str, ...]
    stored: tuple[str, ...]
    moves: tuple[tuple[tuple[int, ...], tuple[int, ...], Cost], ...]

    @property
    def idle(self) -> bool:
        """Whether it does nothing and costs nothing."""
        return not self.looked and not self.stored and self.moves == (((), (), 0),)


class Shifts:
    """The parts of all steps of an arena; steps of one form share them."""

    def __init__(self, arena: Arena) -> None:
        self.arena = arena
        self._known: dict[object, tuple[ShiftPart, ...]] = {}
        self._forms: dict[int, int] = {}
        self._numbers: dict[object, int] = {}

    def rate(self, sample: StreamSample) -> int | None:
        """The rate of a sample in units; None for infinity."""
        if sample.rate is None:
            return None
        value = sample.rate * self.arena.within / self.arena.unit
        return int(value.p)

    def form(self, number: int) -> int:
        """What the cost of a step depends on, as a number: steps of one form have the same."""
        found = self._forms.get(number)
        if found is None:
            step = self.arena.automaton.transitions[number]
            said = (
                tuple((s.rate and (int(s.rate.p), int(s.rate.q)), s.reads) for s in step.samples),
                tuple((order.low, order.high) for order in step.guard),
                step.stores,
                tuple((value.plus, value.minus) for value in step.values),
            )
            found = self._forms[number] = self._numbers.setdefault(said, len(self._numbers))
        return found

    def parts(self, number: int, change: int) -> tuple[ShiftPart, ...]:
        """The parts of a step when the data differ by `change`."""
        key = (self.form(number), change)
        if key not in self._known:
            step = self.arena.automaton.transitions[number]
            self._known[key] = self.alone(step, change)
        return self._known[key]

    def alone(self, step: Transition, change: int) -> tuple[ShiftPart, ...]:
        """The parts of a step by itself."""
        return tuple(part for part in _parts(step, change, self.rate) if not part.idle)


def _parts(step: Transition, change: int, rate: Callable[[StreamSample], int | None]) -> list[ShiftPart]:
    found = []
    for terms in _connected_terms(step):
        samples = sorted(term for term in terms if isinstance(term, int))
        looked = tuple(sorted(term for term in terms if isinstance(term, str)))
        stores = [(name, sample) for name, sample in step.stores if sample in terms]
        guard = [order for order in step.guard if _in(terms, order.low, order.high)]
        values = [value for value in step.values if _in(terms, value.plus, value.minus)]
        if 3 ** (len(samples) + len(looked)) > _MOST:
            raise QuestionError(
                "streams",
                f"{len(samples)} samples and {len(looked)} thresholds are compared in one step",
                place=str(step),
                hint="the laplace engine",
            )
        best: dict[tuple[tuple[int, ...], tuple[int, ...]], Cost] = {}
        for shift in product(SHIFTS, repeat=len(samples)):
            cost: Cost = 0
            for sample, own in zip(samples, shift, strict=True):
                away = abs(step.samples[sample].reads * change - own)
                if away:
                    factor = rate(step.samples[sample])
                    cost = inf if factor is None else cost + factor * away
            if cost == inf:
                continue
            of: dict[Term, int] = {None: 0, **dict(zip(samples, shift, strict=True))}
            for old in product(SHIFTS, repeat=len(looked)):
                of.update(zip(looked, old, strict=True))
                if _shifts_respect(guard, values, of):
                    pair = (old, tuple(of[sample] for _, sample in stores))
                    best[pair] = min(cost, best.get(pair, inf))
        moves = tuple((old, new, cost) for (old, new), cost in best.items())
        found.append(ShiftPart(looked, tuple(name for name, _ in stores), moves))
    return found


def _shifts_respect(guard: Iterable[Order], values: Iterable[StreamValue], of: dict[Term, int]) -> bool:
    return all(of[o.low] <= of[o.high] for o in guard) and all(of[v.plus] == of[v.minus] for v in values)


def _in(terms: set[Term], *listed: Term) -> bool:
    named = [term for term in listed if term is not None]
    return any(term in terms for term in named) if named else terms == {None}


def _connected_terms(step: Transition) -> list[set[Term]]:
    """The terms of a step that depend on each other."""
    groups: dict[Term, set[Term]] = {}

    def join(*terms: Term) -> None:
        listed: list[Term] = [term for term in terms if term is not None] or [None]
        together: set[Term] = set(listed).union(*(groups.get(term, {term}) for term in listed))
        for term in together:
            groups[term] = together

    for order in step.guard:
        join(order.low, order.high)
    for value in step.values:
        join(value.plus, value.minus)
    for _, sample in step.stores:
        join(sample)
    listed: list[set[Term]] = []
    for group in groups.values():
        if all(group is not other for other in listed):
            listed.append(group)
    return listed
