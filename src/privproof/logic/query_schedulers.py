"""``D_{ε,δ} φ`` on decision processes: over query schedulers, which fix one sequence of actions for both neighbours (paper, Section 8).

For a path formula that is safe or co-safe the question is about words of actions.  After a word, the mass that has arrived at the goal of
the product is linear in the initial vector; so all words of a length, or of every length, are a word problem, with an extra action
``stop`` after which exactly the mass that counts halts.  A scheduler does not see where it is, and may ask for an action that a state
does not have: D is asked of a process in which every state has every action (`readings`).

The problem is undecidable in general (Theorem 1), so the steps are ordered by cost and each is sound:

1. *extremes* (Proposition 2): the largest probability over all schedulers on the left, the least on the right;
2. *words*: frontier search where the formula is decided after k steps (exact), inductive invariants where it is not.  A bound that holds
   after every finite word holds in the limit, so such a proof is sound; a word beyond the bound is not yet a violation, because the right
   side may catch up;
3. *lasso*: such a word, continued periodically, with both probabilities computed exactly in the limit: a violation;
4. *tree*: Proposition 2 after every word of a finite complete prefix code: a proof that step 1 is too coarse for.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from privproof.engines.search_monitor import Monitor, Stopped
from privproof.exact import ONE, ZERO, Budget, Epsilon, Rational
from privproof.logic.automaton_products import MonitorProduct, product, product_decides
from privproof.logic.decision_process import Bools
from privproof.logic.exact_solving import TooLarge
from privproof.logic.formulas import Private
from privproof.logic.path_measures import (
    Closeness,
    Gap,
    Truths,
    ValueBetween,
    gap_between,
    lower,
    needed_delta,
    worst_of,
)
from privproof.logic.path_probabilities import Path, horizon
from privproof.logic.query_sequences import Masses, Sequences, stop_letter, weighted_sum_of
from privproof.logic.vacuity_readings import VacuityReading, vacuity_reading

if TYPE_CHECKING:
    from privproof.compiling import Compiled
    from privproof.engines.words.word_findings import Finding
    from privproof.logic.model_checking import Checker

_TREE = 4_000
"""Sequences of actions in a tree that decides a pair; with more of them there is none."""
_LARGEST = 3_000
"""Nodes of the product, up to which sequences of actions are searched as words: matrices of this size for every action."""
_ROUNDS = 60
"""Times that a delta is raised to what a sequence needs, until none needs more."""


@dataclass(frozen=True)
class Extremes:
    """Proposition 2 shows it."""


@dataclass(frozen=True)
class Tree:
    """Proposition 2 shows it after each of these words, which are a complete prefix code."""

    words: tuple[tuple[int, ...], ...]


@dataclass(frozen=True, eq=False)
class ByWords:
    """A word problem shows it.

    Attributes:
        compiled: the question about words, compiled.
        finding: what was found.
        states: the process's state behind the states of the question's model.
        starts: the model's state for each state of the process that is compared.
        counted: the model's state for what surely counts.
        other: the one for what never does.
    """

    compiled: Compiled
    finding: Finding
    states: Mapping[str, int]
    starts: Mapping[int, str]
    counted: str
    other: str


@dataclass(frozen=True)
class Lasso:
    """A sequence of actions that violates it: these before, these repeated for ever."""

    before: tuple[int, ...]
    repeated: tuple[int, ...]


def closeness(checker: Checker, formula: Private, path: Path, truths: list[Bools]) -> Closeness:
    """What is known of ``D_{ε,δ} φ`` on a decision process."""
    process, pairs = checker.process, checker.process.related
    directions = [side for s, t in pairs for side in ((s, t), (t, s))]
    search = _SchedulerSearch.of(checker, formula, path, truths, directions)
    gaps: dict[tuple[int, int], Gap] = {}
    if search is not None:
        begins = search.reading.starts
        found = {begins[side]: search.by_extremes(*begins[side]) for side in directions if side in begins}
        try:
            search.by_words(found)
            if checker.tight and found:
                search.tighten(found)
        except Stopped:  # what is established so far counts
            checker.reasons.append(checker.monitor.stopped() or "stopped")
        gaps = {side: search.told(side, found[begins[side]]) for side in directions if side in begins}
        checker.reasons.extend(
            f"no endless sequence of actions is enabled both in {process.names[s]} and in {process.names[t]}"
            for s, t in pairs
            if (s, t) not in begins
        )
    truth: Truths = np.ones(len(checker.process), np.int8)
    for s, t in directions:
        gap = gaps.get((s, t))
        if gap is None:
            unknown = ValueBetween(ZERO, ONE)
            gap = gaps[s, t] = replace(gap_between(s, t, unknown, unknown, formula), holds=None)
        lower(truth, (s, t), holds=gap.holds)
    how = "over query schedulers"

    def worse(s: int, t: int) -> Gap:
        found = worst_of([gaps[s, t], gaps[t, s]])
        assert found is not None
        return found

    return Closeness(formula, truth, worse, pairs, how, tuple(gaps.values()))


class _SchedulerSearch:
    """The search for one formula: the product, and the extremes of every node."""

    def __init__(
        self, checker: Checker, formula: Private, path: Path, reading: VacuityReading, whole: MonitorProduct
    ) -> None:
        self.checker = checker
        self.reading = reading
        self.monitor: Monitor = checker.monitor
        self.formula = formula
        self.sequences = Sequences.of(whole, horizon(path), checker.monitor)
        self.whole, self.steps = whole, self.sequences.steps
        self.low, self.high = self.sequences.low, self.sequences.high
        assert isinstance(formula.epsilon, Epsilon)
        assert not isinstance(formula.delta, str)
        self.budget = Budget(formula.epsilon, formula.delta, pointwise=True)

    @classmethod
    def of(
        cls,
        checker: Checker,
        formula: Private,
        path: Path,
        truths: list[Bools],
        pairs: list[tuple[int, int]],
    ) -> _SchedulerSearch | None:
        """The search, or None with a reason noted."""
        if not checker.process.exact:
            checker.reasons.append("a decision process with enclosures is not supported")
            return None
        if not product_decides(path):
            checker.reasons.append(
                f"{formula.path} is neither safe nor co-safe, and D over query schedulers needs one of them"
            )
            return None
        try:
            read = vacuity_reading(checker.process, pairs, checker.monitor)
            states = sorted({state for pair in read.starts.values() for state in pair})
            whole = product(read.process, [truth[read.shows] for truth in truths], path, states, checker.monitor)
            return cls(checker, formula, path, read, whole)
        except TooLarge:
            checker.reasons.append("the product of the process and the formula is too large")
            return None

    def told(self, side: tuple[int, int], gap: Gap) -> Gap:
        """What is known of a direction, in the states of the model."""
        if isinstance(gap.proof, ByWords):
            starts = {state: gap.proof.starts[place] for state, place in zip(side, (gap.left, gap.right), strict=True)}
            gap = replace(gap, proof=replace(gap.proof, starts=starts))
        return replace(gap, left=side[0], right=side[1])

    def by_extremes(self, s: int, t: int) -> Gap:
        """Proposition 2 in one direction."""
        left, right = self.whole.start[s], self.whole.start[t]
        p, q = ValueBetween(self.low[left], self.high[left]), ValueBetween(self.low[right], self.high[right])
        gap = gap_between(s, t, p, q, self.formula)
        if gap.holds:
            return replace(
                gap, proof=Extremes(), reason="the extremes over all schedulers are close enough (Proposition 2)"
            )
        if gap.holds is False:  # even the least on the left is too much for the largest on the right
            lasso = self._lasso(s, (), (0,))
            return replace(gap, proof=lasso, actions=self._named(lasso), reason="every scheduler violates it")
        return gap

    def by_words(self, gaps: dict[tuple[int, int], Gap]) -> None:
        """Decide the directions that are open, in place."""
        unknown = [side for side, gap in gaps.items() if gap.holds is None]
        waiting = list(dict.fromkeys((min(side), max(side)) for side in unknown))
        if len(self.whole) > _LARGEST:
            self._unknown(gaps, waiting, f"the product has {len(self.whole)} nodes, too many for a search over words")
            return
        while waiting:
            self.monitor.pause()
            compiled, nodes = self.sequences.problem(waiting, self.budget, str(self.formula))
            from privproof.engines.words.bounded_engines import (
                FrontierEngine,  # here and below: for long searches alone
            )
            from privproof.engines.words.unbounded_engine import UnboundedEngine

            engine = UnboundedEngine() if self.steps is None else FrontierEngine()
            finding = engine.check(compiled, self.budget, self.monitor)
            if finding.proof is not None:
                self._proved(gaps, waiting, compiled, finding, nodes)
                return
            if finding.word is None or finding.stopped is not None:
                if len(waiting) == 1:
                    why = (finding.stopped or "the search found nothing").partition(";")[0]
                    self._by_tree(gaps, waiting[0], why)
                    return
                for pair in waiting:
                    self.by_words_alone(gaps, pair)
                return
            pair = self._violated(gaps, waiting, compiled, finding)
            waiting = [other for other in waiting if other != pair]

    def by_words_alone(self, gaps: dict[tuple[int, int], Gap], pair: tuple[int, int]) -> None:
        """Decide one pair alone."""
        alone = {side: gaps[side] for side in (pair, (pair[1], pair[0]))}
        self.by_words(alone)
        gaps.update(alone)

    def _proved(
        self,
        gaps: dict[tuple[int, int], Gap],
        pairs: list[tuple[int, int]],
        compiled: Compiled,
        finding: Finding,
        nodes: tuple[int, ...],
    ) -> None:
        every = "every sequence of actions" if self.steps is None else f"every sequence of {self.steps} actions"
        for pair in pairs:
            for side in (pair, (pair[1], pair[0])):
                if gaps[side].holds is None:
                    proof = self._by_words(compiled, finding, nodes)
                    epsilon = (Epsilon(), min_epsilon(gaps[side].epsilon[1], self.budget.epsilon))
                    delta = ValueBetween(ZERO, min(gaps[side].delta.high, self.budget.delta))
                    reason = f"{every} was compared"
                    gaps[side] = replace(
                        gaps[side], holds=True, proof=proof, epsilon=epsilon, delta=delta, reason=reason
                    )
        if finding.word is not None and self.steps is not None:
            self._shown(gaps, pairs, compiled, finding)

    def _by_words(self, compiled: Compiled, finding: Finding, nodes: tuple[int, ...]) -> ByWords:
        whole, sequences = self.whole, self.sequences
        starts = {state: str(sequences.merged(node)) for state, node in whole.start.items()}
        shows = self.reading.shows
        states = {str(node): int(shows[whole.nodes[node][0]]) for node in nodes if node > MonitorProduct.LOST}
        return ByWords(compiled, finding, states, starts, str(sequences.counted), str(sequences.other))

    def _shown(
        self, gaps: dict[tuple[int, int], Gap], pairs: list[tuple[int, int]], compiled: Compiled, finding: Finding
    ) -> None:
        """Note the sequence of actions that comes closest to the budget."""
        side, before = self._ordered(pairs, compiled, finding)
        if gaps[side].holds and isinstance(gaps[side].proof, ByWords):
            gaps[side] = self._measured(side, before, (0,), gaps[side])

    def tighten(self, gaps: dict[tuple[int, int], Gap]) -> None:
        """The least epsilon (at this delta) and the least delta (at this epsilon) over all pairs, in place."""
        pairs = list(dict.fromkeys((min(side), max(side)) for side in gaps))
        if self.steps is None or len(self.whole) > _LARGEST:
            self.checker.reasons.append(
                "the least epsilon and delta are sought only where a formula is decided after k steps"
            )
            return
        from privproof.engines.words.bounded_engines import FrontierEngine

        compiled, _ = self.sequences.problem(pairs, self.budget, str(self.formula))
        finding = FrontierEngine().tight(compiled, self.budget.delta, self.monitor, pointwise=True)
        if finding.stopped is None:
            for side, gap in gaps.items():
                gaps[side] = replace(gap, epsilon=(gap.epsilon[0], min_epsilon(gap.epsilon[1], finding.lower)))
            if finding.word is not None:
                self._at_least(gaps, pairs, compiled, finding)
        share = max(gap.delta.low for gap in gaps.values())
        for _ in range(_ROUNDS):
            finding = FrontierEngine().check(compiled, replace(self.budget, delta=share), self.monitor)
            if finding.word is None or finding.stopped is not None:
                break
            if finding.proof is not None:
                for side, gap in gaps.items():
                    gaps[side] = replace(gap, delta=ValueBetween(gap.delta.low, min(gap.delta.high, share)))
                break
            share = self._at_least(gaps, pairs, compiled, finding)

    def _at_least(
        self, gaps: dict[tuple[int, int], Gap], pairs: list[tuple[int, int]], compiled: Compiled, finding: Finding
    ) -> Rational:
        """Note what a sequence of actions needs; the delta it needs, rounded up."""
        side, before = self._ordered(pairs, compiled, finding)
        found, gap = self._measured(side, before, (0,), gaps[side]), gaps[side]
        delta = needed_delta(found.left_probability, found.right_probability, self.budget.epsilon)
        better = found.epsilon[0].compare(gap.epsilon[0]) > 0 or (self.budget.delta > 0 and delta.low > gap.delta.low)
        if better:
            gaps[side] = replace(found, holds=gap.holds, delta=ValueBetween(delta.low, gap.delta.high))
        return delta.high

    def _violated(
        self, gaps: dict[tuple[int, int], Gap], pairs: list[tuple[int, int]], compiled: Compiled, finding: Finding
    ) -> tuple[int, int]:
        """A word beyond the budget was found: judge the pair by its continuations, and by trees."""
        (s, t), before = self._ordered(pairs, compiled, finding)
        for first, repeated in self.sequences.continued(before):
            gap = self._measured((s, t), first, repeated, gaps[s, t])
            if gap.holds is False:
                proof = self._lasso(s, first, repeated)
                gaps[s, t] = replace(gap, proof=proof, reason="this sequence of actions violates it")
                return min(s, t), max(s, t)
        self._by_tree(gaps, (s, t), "after some actions the left side is ahead, and the right side may catch up")
        return min(s, t), max(s, t)

    def _ordered(
        self, pairs: list[tuple[int, int]], compiled: Compiled, finding: Finding
    ) -> tuple[tuple[int, int], tuple[int, ...]]:
        assert finding.word is not None
        name = compiled.begins[finding.word.start].pair.name
        number, _, turned = name.partition(" ")
        s, t = pairs[int(number)]
        names = self.whole.process.actions
        letters = [str(letter.left) for letter in finding.word.letters]
        stop = stop_letter(names)
        kept = letters[: letters.index(stop)] if stop in letters else letters
        return ((t, s) if turned else (s, t)), tuple(names.index(action) for action in kept)

    def _measured(self, side: tuple[int, int], before: tuple[int, ...], repeated: tuple[int, ...], known: Gap) -> Gap:
        """The gap under one sequence of actions, exactly."""
        s, t = side
        p, q = (self.sequences.under(state, before, repeated) for state in side)
        exact = gap_between(s, t, ValueBetween(p, p), ValueBetween(q, q), self.formula)
        return replace(
            exact,
            epsilon=(exact.epsilon[0], known.epsilon[1]),
            delta=ValueBetween(exact.delta.low, max(known.delta.high, exact.delta.high)),
            actions=self._named(self._lasso(s, before, repeated)),
            proof=known.proof,
            reason=known.reason,
        )

    def _lasso(self, state: int, before: tuple[int, ...], repeated: tuple[int, ...]) -> Lasso:
        """The sequence of actions that a sequence acts as."""
        return Lasso(*self.reading.acted(state, before, repeated))

    def _named(self, lasso: Lasso) -> tuple[tuple[str, ...], tuple[str, ...]]:
        names = self.whole.process.actions
        if self.steps is None:
            return tuple(names[a] for a in lasso.before), tuple(names[a] for a in lasso.repeated)
        return tuple(names[a] for a in lasso.before[: self.steps]), ()

    def _by_tree(self, gaps: dict[tuple[int, int], Gap], pair: tuple[int, int], why: str) -> None:
        for s, t in (pair, (pair[1], pair[0])):
            if gaps[s, t].holds is not None:
                continue
            found = self._tree(self.whole.start[s], self.whole.start[t])
            if isinstance(found, Tree):
                reason = f"Proposition 2 after each of {len(found.words)} sequences of actions"
                upper = min_epsilon(gaps[s, t].epsilon[1], self.budget.epsilon)
                gaps[s, t] = replace(gaps[s, t], holds=True, proof=found, reason=reason, epsilon=(Epsilon(), upper))
            elif isinstance(found, Lasso):
                gap = self._measured((s, t), found.before, found.repeated, gaps[s, t])
                proof = self._lasso(s, found.before, found.repeated)
                gaps[s, t] = replace(gap, proof=proof, reason="every continuation of this sequence violates it")
            else:
                gaps[s, t] = replace(gaps[s, t], reason=why)
                self.checker.reasons.append(f"D over query schedulers is undecidable in general, and here {why}")

    def _tree(self, left: int, right: int) -> Tree | Lasso | None:
        """Proposition 2 on the leaves of a tree of words, the least certain of them grown first."""
        words: list[tuple[int, ...]] = []
        waiting: list[tuple[tuple[int, ...], Masses, Masses]] = [((), {left: ONE}, {right: ONE})]
        grown = 0
        budget = self.budget
        while waiting:
            word, p, q = waiting.pop(0)
            self.monitor.pause()
            if budget.epsilon.allows(weighted_sum_of(p, self.high), weighted_sum_of(q, self.low), budget.delta):
                words.append(word)
                continue
            if not budget.epsilon.allows(weighted_sum_of(p, self.low), weighted_sum_of(q, self.high), budget.delta):
                return Lasso(word, (0,))
            grown += 1
            if grown * len(self.whole.process.actions) > _TREE:
                return None
            waiting.extend(
                ((*word, action), self.sequences.moved(p, action), self.sequences.moved(q, action))
                for action in range(len(self.whole.process.actions))
            )
        return Tree(tuple(words))

    def _unknown(self, gaps: dict[tuple[int, int], Gap], pairs: list[tuple[int, int]], why: str) -> None:
        for pair in pairs:
            for side in (pair, (pair[1], pair[0])):
                if gaps[side].holds is None:
                    gaps[side] = replace(gaps[side], reason=why)
        self.checker.reasons.append(why)


def min_epsilon(left: Epsilon, right: Epsilon) -> Epsilon:
    """The smaller of two epsilons."""
    return left if left.compare(right) <= 0 else right
