"""What a run knows about the order of its thresholds, and which paths that rules out.

Two thresholds that were stored from one sample are equal; after ``low <= sample < high`` the first is below the second.  A guard that
contradicts what is known has probability zero.  Only pairs that can take part in a contradiction at all are remembered: those on a cycle
of the graph of everything that some transition teaches.
"""

from __future__ import annotations

from functools import cached_property
from itertools import permutations
from typing import TypeAlias

from privproof.exact import ZERO
from privproof.models.graph_algorithms import reachable
from privproof.models.stream_automaton import Order, StreamAutomaton, Term, Transition, possible

Known: TypeAlias = frozenset[tuple[str, str]]
"""Pairs of thresholds, the first at most the second; both ways round for equal ones."""

NOTHING: Known = frozenset()


class OrderSystem:
    """The orders that an automaton teaches."""

    def __init__(self, automaton: StreamAutomaton) -> None:
        self.automaton = automaton
        self._after: dict[object, Known | None] = {}

    def after(self, number: int, known: Known) -> Known | None:
        """What is known after a transition; None if it is impossible."""
        step = self.automaton.transitions[number]
        if not step.guard and not known and len(step.stores) < 2:
            return NOTHING
        key = (tuple((o.low, o.high, str(o.offset)) for o in step.guard), step.some, step.stores, known)
        if key not in self._after:
            self._after[key] = self._learnt(step, known)
        return self._after[key]

    @cached_property
    def useful(self) -> Known:
        """The pairs on cycles of what transitions teach."""
        pairs: set[tuple[str, str]] = set()
        for step in self.automaton.transitions:
            pairs |= _pairs_after_step(step, NOTHING)
        above: dict[Term, set[Term]] = {}
        for low, high in pairs:
            above.setdefault(low, set()).add(high)
        closed = {name: _terms_above(above, name) for pair in pairs for name in pair}
        names = [name for name in closed if name in closed[name]]
        return frozenset(
            (low, high) for low, high in permutations(names, 2) if high in closed[low] and low in closed[high]
        )

    def _learnt(self, step: Transition, known: Known) -> Known | None:
        if step.some:
            kept = {pair for pair in known if not step.stored & {*pair}}
            return frozenset(kept)
        equal = {high: low for low, high in known if (high, low) in known and low < high}

        def one(term: Term) -> Term:
            while isinstance(term, str) and term in equal:
                term = equal[term]
            return term

        orders = [Order(one(o.low), one(o.high), o.offset) for o in step.guard]
        orders += [Order(low, high) for low, high in known if one(low) != one(high)]
        if not possible(orders):
            return None
        return frozenset(_pairs_after_step(step, known) & self.useful) if self.useful else NOTHING


def _pairs_after_step(step: Transition, known: Known) -> set[tuple[str, str]]:
    """The pairs that hold after a step."""
    above: dict[Term, set[Term]] = {}
    for low, high in known:
        above.setdefault(low, set()).add(high)
    if not step.some:
        for order in step.guard:
            if order.offset >= ZERO and order.low is not None and order.high is not None:
                above.setdefault(order.low, set()).add(order.high)
    if not above and len(step.stores) < 2:
        return set()
    names: dict[str, Term] = {name: name for low in (above, *above.values()) for name in low if isinstance(name, str)}
    names.update(step.stores)
    reached = {term: _terms_above(above, term) for term in set(names.values())}
    return {
        (low, high)
        for low, high in permutations(names, 2)
        if names[low] == names[high] or names[high] in reached[names[low]]
    }


def _terms_above(above: dict[Term, set[Term]], begin: Term) -> set[Term]:
    return reachable(above.get(begin, ()), lambda term: above.get(term, ()))
