"""The steps of stream automata, and where the thresholds of a state come from.

Two terms *differ* in the sense used here if their difference equals any given number with probability 0.  So do terms of
which one has noise of its own; terms without noise do not, nor do thresholds stored from one sample.  This is found by
following the stores along all paths.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations

from privproof_checker.numbers import Rational
from privproof_checker.streams.order_systems import Different, Order, Term

Value = tuple[Term, Term, Rational]
"""Plus, minus and constant: the number ``plus - minus + constant``."""


@dataclass(frozen=True)
class SampleLaw:
    """The law of a sample: ``reads * input + mean`` plus Laplace noise with scale ``1 / rate``."""

    rate: Rational | None
    reads: int
    mean: Rational


@dataclass(frozen=True, eq=False)
class StepForm:
    """What a coupling sees of a step: no means, offsets and constants.  Steps of the same form share it.

    Attributes:
        laws: the rate of each sample, and how it reads.
        links: pairs of terms; the shift of the first is at most that of the second, or the same if true.
        stores: the sample that each threshold stores.
    """

    laws: tuple[tuple[Rational | None, int], ...]
    links: tuple[tuple[Term, Term, bool], ...]
    stores: dict[str, int]


@dataclass(frozen=True, eq=False)
class AutomatonStep:
    """What one transition does; transitions that do the same share their step, so that it is a key of caches."""

    samples: tuple[SampleLaw, ...]
    guard: tuple[Order, ...]
    some: bool
    stores: dict[str, int]
    values: tuple[Value, ...]
    form: StepForm

    @cached_property
    def reads(self) -> bool:
        """Whether a sample depends on the input."""
        return any(sample.reads != 0 for sample in self.samples)

    @cached_property
    def drawn(self) -> list[int]:
        """The samples that the guard mentions or that are stored, in order."""
        mentioned = {term for order in self.guard for term in order[:2] if isinstance(term, int)}
        return sorted(mentioned.union(self.stores.values()))

    @cached_property
    def looked(self) -> frozenset[str]:
        """The thresholds that the guard or the values mention."""
        terms = (term for order in (*self.guard, *self.values) for term in order[:2])
        return frozenset(term for term in terms if isinstance(term, str))


@dataclass(frozen=True, slots=True)
class Transition:
    """An edge of the automaton between states (by number)."""

    source: int
    target: int
    step: AutomatonStep
    symbol: str

    @property
    def silent(self) -> bool:
        """Whether nothing is written."""
        return self.symbol == "" and not self.step.values


def live_thresholds(transitions: Sequence[Transition]) -> dict[int, frozenset[str]]:
    """For each state at an end of these transitions, the thresholds looked at before they are replaced, on some path."""
    entering: dict[int, list[Transition]] = {}
    live: dict[int, frozenset[str]] = {}
    for each in transitions:
        entering.setdefault(each.target, []).append(each)
        entering.setdefault(each.source, [])
        live[each.source] = live.get(each.source, frozenset()) | each.step.looked
        live.setdefault(each.target, frozenset())
    waiting = list(live)
    queued = set(live)
    while waiting:
        state = waiting.pop()
        queued.discard(state)
        for each in entering[state]:
            before = live[each.source]
            new = before | live[state].difference(each.step.stores)
            if len(new) > len(before):
                live[each.source] = new
                if each.source not in queued:
                    queued.add(each.source)
                    waiting.append(each.source)
    return live


@dataclass(frozen=True)
class Origins:
    """Where the thresholds of a state come from that are still looked at.

    Attributes:
        stored: those stored on every path.
        fixed: those that some path stores from a sample without noise.
        alike: pairs that some path stores from one sample.
    """

    stored: frozenset[str]
    fixed: frozenset[str]
    alike: frozenset[tuple[str, str]]

    def after(self, step: AutomatonStep, live: frozenset[str]) -> Origins:
        """The origins after a step, of the thresholds that are live there."""
        stores = step.stores
        if not stores and self.stored <= live and self.fixed <= live:
            return self
        kept = (pair for pair in self.alike if pair[0] not in stores and pair[1] not in stores)
        same = ((a, b) for a, b in combinations(sorted(live.intersection(stores)), 2) if stores[a] == stores[b])
        free = (name for name, number in stores.items() if step.samples[number].rate is None)
        return Origins(
            self.stored.union(stores) & live,
            self.fixed.difference(stores).union(free) & live,
            frozenset(pair for pair in (*kept, *same) if live.issuperset(pair)),
        )

    def both(self, other: Origins) -> Origins:
        """The origins on paths of two kinds."""
        return Origins(self.stored & other.stored, self.fixed | other.fixed, self.alike | other.alike)

    def different(self, samples: Sequence[SampleLaw]) -> Different:
        """Which terms have a difference without atoms, in a step that draws these samples."""

        def fresh(term: Term) -> bool:
            return isinstance(term, int) and samples[term].rate is not None

        def noisy(term: Term) -> bool:
            return isinstance(term, str) and term not in self.fixed

        def different(one: Term, two: Term) -> bool:
            if one == two:
                return False
            if fresh(one) or fresh(two):
                return True
            names = [term for term in (one, two) if isinstance(term, str)]
            if not self.stored.issuperset(names) or tuple(sorted(names)) in self.alike:
                return False
            return noisy(one) or noisy(two)

        return different


NOTHING_STORED = Origins(frozenset(), frozenset(), frozenset())
