"""The engine for words of every length: inductive invariants, branch and bound, and pumping."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING

from privproof.engines.search_monitor import Monitor, Progress, SearchAllowance
from privproof.engines.words.beam_search import promising_word
from privproof.engines.words.bounded_engines import at_least, fewest_changes, ratio_of
from privproof.engines.words.cone_invariants import Closed, Invariant
from privproof.engines.words.frontier_search import Frontier, SearchTrace
from privproof.engines.words.growing_ratios import growing_proof
from privproof.engines.words.pumped_words import Pump, breaking_word, find_pump
from privproof.engines.words.ratio_proofs import ratio_proof, told_proof
from privproof.engines.words.vector_supports import impossible_word
from privproof.engines.words.word_endings import beyond
from privproof.engines.words.word_engine import WordEngine
from privproof.engines.words.word_findings import ConeProof, Finding
from privproof.exact import INFINITE, ZERO, Budget, Rational, decimal, epsilon
from privproof.models import Horizon, Word, WordProblem

if TYPE_CHECKING:
    from privproof.compiling import Compiled

_STOPS = (100, 200, 300, 400, 1_600)
"""So many vectors are expanded before a search pauses to look for a simulation or a pump, and in the end for good."""
_BEAM = 60
"""Words up to this length are looked at for a good lower bound to start from, and for a shorter word than a known one."""
_WORTH = 20_000
"""So many vectors are looked at to make a word that breaks a budget shorter."""
_GLANCE = 12
"""A proof shows its largest ratio beside it: words up to this length are looked at for one. It decides nothing."""


class UnboundedEngine(WordEngine):
    """Words of every length: an inductive invariant proves, a word or a pump refutes.

    Args:
        precision: how far, relatively, the proved bound on the ratio may lie above the best word.
        most: so many vectors are expanded at the most.
    """

    name = "unbounded"

    def __init__(self, *, precision: Fraction = Fraction(1, 10**6), most: int = _STOPS[-1]) -> None:
        self.precision = precision
        self.stops = tuple(stop for stop in _STOPS if stop <= most)

    def reason_against(self, compiled: Compiled, budget: Budget) -> str | None:
        """Why the engine does not answer the question, or None if it does."""
        if compiled.problem.horizon.high is not None:
            return "the horizon is bounded"
        if budget is not None and budget.delta != 0 and not budget.pointwise:
            return "delta over events is not answered for words of every length; for lists of one length: --size 3"
        return None

    def check(self, compiled: Compiled, budget: Budget, monitor: Monitor) -> Finding:
        """Look for the shortest word beyond the budget until an invariant closes; if it does not, look for a pump."""
        problem, goal = compiled.problem, beyond(budget)
        bound = ZERO if budget.epsilon.infinite else budget.epsilon.enclosure(192)[0]
        search = Invariant(problem, goal=goal, delta=budget.delta, threshold=bound, monitor=monitor)
        closed, pump = _search_in_stages(search, self.stops, monitor)
        if pump is not None:
            word = breaking_word(problem, pump, budget.epsilon)
            if word is not None:
                return Finding(INFINITE, word=_shortest(problem, budget, word, monitor), pump=pump)
            closed = search.run(most=self.stops[-1])
        if closed.found is not None:
            word = fewest_changes(problem, goal, closed.found, budget.delta, bound, monitor)
            return Finding(ratio_of(word, budget.delta), word=word)
        lower = epsilon(0) if closed.best is None else ratio_of(closed.best, budget.delta)
        if closed.trace is None:
            proof = None if budget.delta != 0 else _by_ratios(compiled, closed.best, monitor)
            if proof is not None and proof.upper.compare(budget.epsilon) <= 0:
                return replace(proof, lower=lower, word=closed.best)
            return Finding(lower, word=closed.best, stopped=_advice(closed.stopped, closed.level))
        best = closed.best
        if best is None and budget.delta == 0:
            best = promising_word(problem, longest=_GLANCE)
            lower = epsilon(0) if best is None else ratio_of(best, ZERO)
        note = f"{_invariant(closed.trace)} proves it for words of every length"
        return Finding(lower, budget.epsilon, word=best, proof=ConeProof(closed.trace), notes=(note,))

    def tight(self, compiled: Compiled, delta: Rational, monitor: Monitor, *, pointwise: bool) -> Finding:
        """Bounds on the supremum over words of every length, as close as the precision asks, or no epsilon at all."""
        problem = compiled.problem
        if delta == 0:
            impossible = impossible_word(problem)
            if impossible is not None:
                goal = beyond(Budget(INFINITE))
                return Finding(INFINITE, word=fewest_changes(problem, goal, impossible, ZERO, ZERO, monitor))
        known = promising_word(problem, longest=_BEAM) if delta == 0 else None
        threshold = ZERO if known is None or known.ratio is None else known.ratio
        monitor.listen(Progress("inductive invariant", lower=decimal(threshold) if threshold else ""))
        search = Invariant(problem, delta=delta, threshold=threshold, precision=self.precision, monitor=monitor)
        closed, pump = _search_in_stages(search, self.stops, monitor)
        if pump is not None:
            word = problem.word(pump.start, pump.word(3), final=pump.final)
            return Finding(INFINITE, pump=pump, word=word, growing=growing_proof(compiled, monitor))
        if search.nearly_attained(closed):
            again = Invariant(
                problem, threshold=threshold, precision=self.precision, exactly=True, monitor=monitor
            ).run(most=2 * closed.expanded)
            closed = again if again.trace is not None else closed
        if closed.stopped is not None and delta == 0:
            closed = search.settle()
        best = closed.best
        if known is not None and (best is None or best.left * known.right <= known.left * best.right):
            best = known
        lower = epsilon(0) if best is None else ratio_of(best, delta)
        if lower.infinite:
            return Finding(lower, word=best)
        if closed.trace is None or closed.bound is None:
            proof = None if delta != 0 else _by_ratios(compiled, best, monitor)
            if proof is not None:
                return replace(proof, lower=lower, word=best)
            return Finding(lower, word=best, stopped=_advice(closed.stopped, closed.level))
        upper = at_least(closed.bound)
        note = f"{_invariant(closed.trace)} proves the upper bound for words of every length"
        return Finding(lower, upper, word=best, proof=ConeProof(closed.trace), notes=(note,))


def _by_ratios(compiled: Compiled, best: Word | None, monitor: Monitor) -> Finding | None:
    """The bound of ratio cones, where the invariant has not closed."""
    proof = ratio_proof(compiled, best, monitor)
    if isinstance(proof, str):
        return None
    note = f"{told_proof(proof)} prove the upper bound for words of every length"
    return Finding(epsilon(0), at_least(proof.cones.bound), proof=proof, notes=(note,))


def _search_in_stages(search: Invariant, stops: tuple[int, ...], monitor: Monitor) -> tuple[Closed, Pump | None]:
    """Search; where it does not close soon, look for a simulation, and where some vector is still unbounded, for a pump."""
    tried = False
    for most in stops[:-1]:
        closed = search.run(most=most)
        if closed.stopped is None or monitor.stopped() is not None:
            return closed, None
        search.simulate()
        if not tried and not search.weighted and not search.bounded():
            tried, pump = True, find_pump(search.problem, monitor=monitor)
            if pump is not None:
                return closed, pump
    return search.run(most=stops[-1]), None


def _shortest(problem: WordProblem, budget: Budget, word: Word, monitor: Monitor) -> Word:
    """The shortest word beyond the budget, if it can be found, knowing one."""
    bounded = replace(problem, horizon=Horizon.up_to(min(len(word.letters), _BEAM)))
    goal, bound = beyond(budget), ZERO if budget.epsilon.infinite else budget.epsilon.enclosure(192)[0]
    limited = SearchAllowance(monitor, _WORTH)
    found = Frontier(bounded, goal=goal, threshold=bound, monitor=limited).run().found
    return word if found is None else fewest_changes(problem, goal, found, ZERO, bound, limited)


def _invariant(trace: SearchTrace) -> str:
    count = sum(map(len, trace.kept.values()))
    return f"an inductive invariant of {count} vectors" if count else "a bound on single steps"


def _advice(reason: str | None, level: int) -> str:
    return f"{reason} (words up to length {level} were looked at); try a larger epsilon, a bounded horizon, or a longer time limit"
