"""Model checking dpCTL*: state formulas from the inside out, each becomes a label (dpCTL* paper, Sections 5 and 8).

Truth is three-valued inside: a state where a comparison cannot be decided (enclosures too wide, the undecidable part of decision
processes) is neither true nor false, and nothing is concluded from it.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from functools import cached_property
from math import inf
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from privproof.engines.search_monitor import Monitor, Timed
from privproof.errors import QuestionError
from privproof.exact import ONE, ZERO
from privproof.exact.balls import precision
from privproof.logic import chain_solving as chains
from privproof.logic.comparison_states import satisfying_states
from privproof.logic.counterexample_traces import shortest_trace
from privproof.logic.decision_process import Bools, DecisionProcess, Ints, mark_states
from privproof.logic.enclosed_processes import Enclosed, Floats
from privproof.logic.exact_solving import PRECISION, Exactly, TooLarge
from privproof.logic.formulas import (
    And,
    Atom,
    Comparison,
    Expected,
    Formula,
    FormulaFamily,
    Iff,
    Implies,
    Not,
    OfPaths,
    Or,
    Private,
    ProbabilityRange,
    Probable,
    Steady,
    Truth,
)
from privproof.logic.path_measures import (
    Closeness,
    Gap,
    Likelihood,
    Probabilities,
    Truths,
    ValueBetween,
    inside,
    lower,
    worse_direction,
)
from privproof.logic.path_probabilities import Path, normal
from privproof.logic.process_graphs import ProcessGraph
from privproof.models.finite_distributions import known_name

if TYPE_CHECKING:
    from privproof.logic.large_processes import PathBounds
    from privproof.logic.query_vectors import Columns

Judge: TypeAlias = "Callable[[Probabilities, tuple[Floats, Floats] | None], Truths]"
"""From probabilities (and float enclosures of all of them, where there are such) to where a formula holds."""

_BY_VECTORS = "bounded by vectors, in exact arithmetic"

_WORDS = 10.0
"""Seconds for which D on a process that is not large is searched for words, before vectors are tried."""
LARGE = 2_000
"""Entries of a process, beyond which probabilities are bounded by vectors; smaller ones are computed exactly, and so checked.

Exact numbers take ten times as long from there on, and the checker as long again, which otherwise has vectors to compare."""
EXACT_ENTRIES = 50_000
"""Up to so many entries a chain is solved exactly at once; beyond, in enclosures first."""
EXACT_ANSWERS = 300_000
"""The same where the probabilities themselves are asked for."""
EXACT_AT_ALL = 8_000_000
"""Beyond so many entries not even a comparison that enclosures leave open is tried exactly."""


@dataclass
class Checker:
    """Evaluates formulas on one process; remembers what it knows.

    Attributes:
        process: the process.
        monitor: progress, a time limit, an interrupt.
        always_exact: never be content with enclosures.
        tight: on decision processes, look for the least epsilon and delta of every D.
        measured: what is behind the P and D formulas met so far, outer ones later.
        asked: the states that the verdict is about; all where there is none.
        alone: the formula of D that is the only operator of what is asked, if there is such a one.
        reasons: why something is not decided.
    """

    process: DecisionProcess
    monitor: Monitor
    always_exact: bool = False
    tight: bool = False
    asked: tuple[int, ...] = ()
    alone: Private | None = None
    measured: dict[Formula, Likelihood | Closeness] = field(default_factory=dict)
    reasons: list[str] = field(default_factory=list)
    _known: dict[tuple[Formula, bool], Truths] = field(default_factory=dict)
    _inside: int = 0

    def truth(self, formula: Formula) -> Truths:
        """Where a state formula holds; outside of path formulas it may be left open in states that are not asked about."""
        inside = self._inside > 0
        found = self._known.get((formula, True))
        if found is None and not inside:
            found = self._known.get((formula, False))
        if found is None:
            self.monitor.pause()
            found = self._known[formula, inside] = self._truth(formula)
        return found

    def _truth(self, formula: Formula) -> Truths:
        count = len(self.process)
        match formula:
            case Truth(value):
                return np.full(count, int(value), np.int8)
            case Atom():
                return self._labelled(formula).astype(np.int8)
            case Comparison():
                return satisfying_states(formula, self.process).astype(np.int8)
            case Not(inner):
                return _not(self.truth(inner))
            case And(parts):
                return _all([self.truth(part) for part in parts])
            case Or(parts):
                return _not(_all([_not(self.truth(part)) for part in parts]))
            case Implies(left, right):
                return _not(_all([self.truth(left), _not(self.truth(right))]))
            case Iff(left, right):
                first, second = self.truth(left), self.truth(right)
                return np.where((first < 0) | (second < 0), -1, (first == second).astype(np.int8)).astype(np.int8)
            case FormulaFamily(quantifier):
                found = [self.truth(part) for part in formula.instances()]
                return _all(found) if quantifier == "all" else _not(_all([_not(one) for one in found]))
            case Probable():
                self.measured[formula] = likely = self._probable(formula)
                return likely.truth
            case OfPaths():
                from privproof.logic.quantified_paths import of_paths  # here and below: each operator when it is met

                return of_paths(self, formula)
            case Steady():
                from privproof.logic.long_run import steady

                self.measured[formula] = share = steady(self, formula)
                return share.truth
            case Expected():
                from privproof.logic.expected_rewards import expectation

                self.measured[formula] = gained = expectation(self, formula)
                return gained.truth
            case Private():
                self.measured[formula] = close = self._private(formula)
                return close.truth
        raise AssertionError(formula)

    def _labelled(self, atom: Atom) -> Bools:
        process = self.process
        carried = process.labels.get(atom.name)
        if carried is not None:
            return carried
        known = {**process.labels, **dict.fromkeys(process.names)}
        known_name(atom.name, among=known, what="label or state", place="formula", error=QuestionError)
        return mark_states(len(process), [process.state(atom.name)])

    def path(self, formula: Formula) -> tuple[Path, list[Bools]] | None:
        """The normal form of a path formula and the truth of its leaves; None where a leaf is not decided."""
        numbered: dict[Formula, int] = {}
        path = normal(formula, lambda inner: numbered.setdefault(inner, len(numbered)))
        truths = self.decided(numbered)
        return None if truths is None else (path, truths)

    def decided(self, formulas: Iterable[Formula]) -> list[Bools] | None:
        """Where state formulas hold; None, with the reason noted, where one of them is not decided everywhere."""
        result: list[Bools] = []
        self._inside += 1
        try:
            for formula in formulas:
                truth = self.truth(formula)
                if (truth < 0).any():
                    self.reasons.append(f"it is not decided everywhere whether {formula} holds")
                    return None
                result.append(truth == 1)
        finally:
            self._inside -= 1
        return result

    @cached_property
    def columns(self) -> Columns:
        from privproof.logic.query_vectors import Columns

        return Columns(self.process)

    def _bounded(self, path: Formula) -> PathBounds | None:
        """Vectors that bound the probabilities of a path formula of a large process, where they are found."""

        def decided(formula: Formula) -> Bools | None:
            found = self.decided([formula])
            return None if found is None else found[0]

        try:
            from privproof.logic.large_processes import path_bounds

            return path_bounds(self.columns, path, decided, self.monitor, self._wanted())
        except TooLarge:
            return None

    def _wanted(self) -> Ints | None:
        """The states in which truths are needed: those asked about and all that have neighbours; None for all."""
        if self._inside or not self.asked:
            return None
        return np.array(sorted({s for pair in self.process.related for s in pair}.union(self.asked)), np.int64)

    def _enough(self, truth: Truths) -> bool:
        """Whether what is decided is all that is asked for: inside of a path formula every state, otherwise the states asked about."""
        wanted = truth if self._inside or not self.asked else truth[list(self.asked)]
        return not (wanted < 0).any()

    def _undecided(self) -> Truths:
        return np.full(len(self.process), -1, np.int8)

    def _probable(self, formula: Probable) -> Likelihood:
        prepared = self.path(formula.path)
        if prepared is None:
            return Likelihood(formula, self._undecided(), _unknown_probability, _unknown_probability, "not decided")
        count, within = len(self.process), formula.within
        entries = len(self.process.targets)
        if self.process.exact and not self.always_exact and entries > (LARGE if within is not None else EXACT_ANSWERS):
            vectors = self._bounded(formula.path)
            if vectors is not None:
                truth = np.ones(count, np.int8) if within is None else vectors.within(within)
                if self._enough(truth):
                    low, high = vectors.probabilities(largest=False), vectors.probabilities(largest=True)
                    return Likelihood(formula, truth, low, high, _BY_VECTORS, vectors)
        if not self.process.is_chain:
            from privproof.logic.optimal_schedulers import likelihood

            return likelihood(self, formula, *prepared)

        def judge(bounds: Probabilities, ends: tuple[Floats, Floats] | None) -> Truths:
            if within is None:
                return np.ones(count, np.int8)
            truth = np.full(count, -1, np.int8) if ends is None else _clearly(within, *ends)
            for s in np.flatnonzero(truth < 0).tolist():
                truth[s] = inside(within, bounds(s), bounds(s))
            return truth

        most = EXACT_ENTRIES if within is not None else EXACT_ANSWERS
        truth, bounds, how = self._measured(*prepared, judge, most)
        return Likelihood(formula, truth, bounds, bounds, how)

    def _private(self, formula: Private) -> Closeness:
        pairs = self.process.related
        if not pairs:
            raise QuestionError(
                "neighbours",
                f"{formula} compares neighbours, and the model names no two different ones",
                place="formula",
                hint='name them: scenario: {pairs: [...]} in a model file, or --neighbours "plus ~ minus"',
            )
        prepared = self.path(formula.path)
        if prepared is None:
            return Closeness(formula, self._undecided(), _no_gap(formula), pairs, "not decided")
        if not self.process.is_chain:
            return self._queried(formula, *prepared)
        known: dict[tuple[int, int], Gap] = {}

        def judge(bounds: Probabilities, ends: tuple[Floats, Floats] | None) -> Truths:
            known.clear()
            truth = np.ones(len(self.process), np.int8)
            for left, right in pairs:
                gap = known[left, right] = worse_direction(left, right, bounds(left), bounds(right), formula)
                lower(truth, (left, right), holds=gap.holds)
            return truth

        vectors = None
        if self.process.exact and not self.always_exact and len(self.process.targets) > LARGE:
            vectors = self._bounded(formula.path)
        truth, how = self._undecided(), _BY_VECTORS
        if vectors is not None:
            truth = judge(vectors.probabilities(largest=False), None)
        if vectors is None or not self._enough(truth):
            vectors = None
            truth, _, how = self._measured(*prepared, judge, EXACT_ENTRIES)
        return Closeness(
            formula,
            truth,
            lambda s, t: known[min(s, t), max(s, t)],
            pairs,
            how,
            trace=lambda s: shortest_trace(self.process, prepared[1], prepared[0], s),
            bounds=vectors,
        )

    def _queried(self, formula: Private, path: Path, truths: list[Bools]) -> Closeness:
        """D on a decision process: in columns where it is large, or where nothing else decides it and no other operator needs its own."""
        from privproof.logic.far_query_pairs import far_closeness  # here, because chains need neither
        from privproof.logic.query_schedulers import closeness

        in_columns = self.process.exact and not self.always_exact
        if in_columns and len(self.process.targets) > LARGE:
            return far_closeness(self, formula, path, truths) or closeness(self, formula, path, truths)
        if not in_columns or self.alone != formula:
            return closeness(self, formula, path, truths)
        noted, begin = len(self.reasons), sorted({s for pair in self.process.related for s in pair})
        left = inf if self.monitor.deadline is None else self.monitor.deadline - time.monotonic()
        for_a_while = Timed(self.monitor, min(_WORDS, left / 2))
        found = closeness(replace(self, monitor=for_a_while), formula, path, truths)
        if (found.truth[begin] >= 0).all() or self.monitor.stopped():
            return found
        far = far_closeness(self, formula, path, truths, near=False)
        if far is not None and (far.truth[begin] >= 0).all():
            del self.reasons[noted:]
            return far
        if not for_a_while.stopped():
            return found
        del self.reasons[noted:]
        return closeness(self, formula, path, truths)

    def _measured(self, path: Path, truths: list[Bools], judge: Judge, most: int) -> tuple[Truths, Probabilities, str]:
        """Judge the probabilities of a path formula: exactly on chains with at most so many entries, otherwise in enclosures, and exactly
        only where they leave something open.
        """
        process = self.process
        graph = ProcessGraph(process.rows, process.targets, process.values)
        entries = len(process.targets)
        if entries <= most or self.always_exact:
            try:
                return self._exactly(graph, path, truths, judge)
            except TooLarge as problem:
                if self.always_exact:
                    self.reasons.append(str(problem))
        try:
            arithmetic = Enclosed(process.numbers, self.monitor)
            ball = chains.probabilities(graph, truths, path, arithmetic)
            bounds: Probabilities = lambda s: ValueBetween(*arithmetic.bounds(ball, s))  # noqa: E731
            truth = judge(bounds, arithmetic.ends(ball))
            if not (truth < 0).any() or not process.exact or entries > EXACT_AT_ALL:
                if (truth < 0).any():
                    self.reasons.append("the enclosures of some probabilities contain the bound they are compared with")
                return truth, bounds, "enclosed in floating point with certified errors"
            graph = chains.relevant(graph, truths, path)
            near = graph.reachable(truth < 0)
            if 4 * int(near.sum()) < len(graph):
                return self._closer(graph, path, truths, judge, near, bounds, arithmetic.ends(ball))
        except TooLarge:
            truth, bounds = self._undecided(), _unknown_probability
        try:
            return self._exactly(graph, path, truths, judge)
        except TooLarge as problem:
            self.reasons.append(f"enclosures do not decide a comparison, and {problem}")
            return truth, bounds, "not decided everywhere"

    def _closer(
        self,
        graph: ProcessGraph,
        path: Path,
        truths: list[Bools],
        judge: Judge,
        near: Bools,
        rough: Probabilities,
        ends: tuple[Floats, Floats],
    ) -> tuple[Truths, Probabilities, str]:
        """Exact numbers where enclosures leave something open: from there on a chain of its own."""
        place = np.cumsum(near) - 1
        values = chains.probabilities(
            graph.only(near), [truth[near] for truth in truths], path, Exactly(self.process.numbers, self.monitor)
        )
        bounds: Probabilities = lambda s: ValueBetween(values[place[s]], values[place[s]]) if near[s] else rough(s)  # noqa: E731
        return (
            judge(bounds, ends),
            bounds,
            "enclosed in floating point with certified errors, exact where that leaves something open",
        )

    def _exactly(
        self, graph: ProcessGraph, path: Path, truths: list[Bools], judge: Judge
    ) -> tuple[Truths, Probabilities, str]:
        with precision(PRECISION):
            arithmetic = Exactly(self.process.numbers, self.monitor)
            values: list[Any] = chains.probabilities(graph, truths, path, arithmetic)
            ends = [] if arithmetic.exact else [arithmetic.bounds(value) for value in values]
        if arithmetic.exact:
            bounds: Probabilities = lambda s: ValueBetween(values[s], values[s])  # noqa: E731
            return judge(bounds, None), bounds, "exact"
        enclosed: Probabilities = lambda s: ValueBetween(*ends[s])  # noqa: E731
        truth = judge(enclosed, None)
        if (truth < 0).any():
            self.reasons.append("the model's enclosures are too wide to decide a comparison")
        return truth, enclosed, "enclosed in rigorous balls"


def _clearly(within: ProbabilityRange, low: Floats, high: Floats) -> Truths:
    """Where enclosures decide at a glance whether a probability lies in a range; -1 where they must be looked at closely."""
    bottom, top = float(within.low), float(within.high)
    margin = 1e-15
    truth = np.full(len(low), -1, np.int8)
    below_top = np.full(len(low), within.high == 1 and within.high_included) | (high < top - margin)
    above_bottom = np.full(len(low), within.low == 0 and within.low_included) | (low > bottom + margin)
    truth[below_top & above_bottom] = 1
    truth[(low > top + margin) | (high < bottom - margin)] = 0
    for certain in (ZERO, ONE):
        truth[(low == int(certain)) & (high == int(certain))] = within.contains(certain)
    return truth


def _unknown_probability(state: int) -> ValueBetween:
    return ValueBetween(ZERO, ONE)


def _no_gap(formula: Private) -> Callable[[int, int], Gap]:
    return lambda s, t: worse_direction(s, t, _unknown_probability(s), _unknown_probability(t), formula)


def _not(truth: Truths) -> Truths:
    return np.where(truth < 0, -1, 1 - truth).astype(np.int8)


def _all(parts: list[Truths]) -> Truths:
    table = np.stack(parts)
    return np.where((table == 0).any(axis=0), 0, np.where((table < 0).any(axis=0), -1, 1)).astype(np.int8)
