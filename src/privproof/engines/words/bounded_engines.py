"""The engines for bounded horizons: tensors, frontier search and the SMT encoding, behind one interface."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from privproof.engines.search_monitor import Monitor, Progress
from privproof.engines.words import output_tensors as tensors
from privproof.engines.words import smt_search as smt
from privproof.engines.words.beam_search import promising_word
from privproof.engines.words.frontier_search import Frontier
from privproof.engines.words.problem_changes import limit_changes
from privproof.engines.words.word_endings import Goal, beyond, ratio_at_least
from privproof.engines.words.word_engine import WordEngine
from privproof.engines.words.word_findings import ConeProof, EnumerationProof, Finding, TensorProof
from privproof.exact import INFINITE, ZERO, Budget, Epsilon, Rational, decimal, epsilon, smallest_epsilon
from privproof.models import Horizon, Word, WordProblem

if TYPE_CHECKING:
    from privproof.compiling import Compiled

_GLANCE = 12
"""A proof shows its largest ratio beside it: words up to this length are looked at for one. It decides nothing."""
_UNBOUNDED = "the horizon is unbounded"
_EVENTS = "delta over events needs a sum over outcomes, not one word at a time"


def at_least(ratio: Rational | None) -> Epsilon:
    """The epsilon of a ratio: infinite for None, zero below one."""
    if ratio is None:
        return INFINITE
    return smallest_epsilon(ratio, 1)


def ratio_of(word: Word, delta: Rational) -> Epsilon:
    """The epsilon that a word asks for."""
    return smallest_epsilon(word.left, word.right, delta)


class FrontierEngine(WordEngine):
    """Frontier search with cone dominance: every word of the horizon, exactly, with a certificate."""

    name = "frontier"

    def reason_against(self, compiled: Compiled, budget: Budget) -> str | None:
        """Why the engine does not answer the question, or None if it does."""
        if compiled.problem.horizon.high is None:
            return _UNBOUNDED
        if budget is not None and budget.delta != 0 and not budget.pointwise:
            return _EVENTS
        return None

    def check(self, compiled: Compiled, budget: Budget, monitor: Monitor) -> Finding:
        """Look for the shortest word beyond the budget; without one, the kept vectors are the proof."""
        problem = _to_the_end(compiled)
        bound = ZERO if budget.epsilon.infinite else budget.epsilon.enclosure(192)[0]
        goal = beyond(budget)
        search = Frontier(problem, goal=goal, delta=budget.delta, threshold=bound, monitor=monitor)
        result = search.run()
        if result.found is not None:
            word = fewest_changes(problem, goal, result.found, budget.delta, bound, monitor)
            return Finding(ratio_of(word, budget.delta), word=word)
        lower = epsilon(0) if result.best is None else ratio_of(result.best, budget.delta)
        if result.stopped is not None:
            return Finding(lower, word=result.best, stopped=f"{result.stopped} after length {result.level}")
        assert result.trace is not None
        best = result.best
        if best is None and budget.delta == 0 and problem.horizon.high is not None:
            best = promising_word(problem, longest=min(problem.horizon.high, _GLANCE))
            lower = epsilon(0) if best is None else ratio_of(best, ZERO)
        return Finding(lower, budget.epsilon, word=best, proof=ConeProof(result.trace))

    def tight(self, compiled: Compiled, delta: Rational, monitor: Monitor, *, pointwise: bool) -> Finding:
        """The largest ratio of all words, exactly."""
        problem = _to_the_end(compiled)
        assert problem.horizon.high is not None
        known = (
            promising_word(problem, longest=min(problem.horizon.high, 60)) if problem.common and delta == 0 else None
        )
        bound = ZERO if known is None or known.ratio is None else known.ratio
        result = Frontier(problem, delta=delta, threshold=bound, monitor=monitor).run()
        best = result.best if known is None or (result.best and _beats(result.best, known)) else known
        if best is None:
            assert result.trace is not None or result.stopped
            proof = None if result.trace is None else ConeProof(result.trace)
            return Finding(epsilon(0), epsilon(0) if proof else INFINITE, proof=proof, stopped=result.stopped)
        lower = ratio_of(best, delta)
        if result.stopped is not None:
            return Finding(lower, word=best, stopped=f"{result.stopped} after length {result.level}")
        if lower.infinite or result.trace is None:
            return Finding(
                lower, word=fewest_changes(problem, beyond(Budget(INFINITE, delta)), best, delta, ZERO, monitor)
            )
        ratio = (best.left - delta) / best.right
        word = _shortest(problem, ratio, best, delta, monitor)
        return Finding(lower, lower, word=word, proof=ConeProof(result.trace))


def _to_the_end(compiled: Compiled) -> WordProblem:
    """The problem, with one letter more than any word has where words of every length are asked about and end by themselves.

    At the last level of its horizon a search keeps only what the final columns count.  That nothing can follow has to be shown
    there too, where letters may follow by the graph: so the search goes on to a level that nothing reaches.
    """
    problem, wanted = compiled.problem, compiled.question.horizon
    horizon = problem.horizon
    if horizon.high is None or (wanted is not None and wanted.high is not None):
        return problem
    reached = {start.location for start in problem.starts}
    for _ in range(horizon.high):
        reached = {edge.target for location in reached for edge in problem.locations[location].edges}
    if not any(problem.locations[location].edges for location in reached):
        return problem
    return replace(problem, horizon=Horizon.up_to(horizon.high + 1))


def _beats(word: Word, known: Word) -> bool:
    return word.right == 0 or word.left * known.right > known.left * word.right


def _shortest(problem: WordProblem, ratio: Rational, best: Word, delta: Rational, monitor: Monitor) -> Word:
    """The shortest word that attains the ratio, then the one with the fewest changed inputs."""
    goal = ratio_at_least(ratio)
    shorter = WordProblem(
        problem.locations, problem.starts, Horizon(problem.horizon.low, len(best.letters)), problem.common
    )
    monitor.listen(Progress("shortest word of this ratio", lower=decimal(ratio)))
    result = Frontier(shorter, goal=goal, delta=delta, threshold=ratio, strictly=True, monitor=monitor).run()
    return fewest_changes(problem, goal, result.found or best, delta, ratio, monitor)


def fewest_changes(
    problem: WordProblem, goal: Goal, word: Word, delta: Rational, threshold: Rational, monitor: Monitor
) -> Word:
    """Among the words of the same length that meet the goal one with the fewest changed inputs.

    What is possible with few changes is possible with more, so the number is found by bisection.  One change less than known comes
    first, because mostly it is too few.
    """
    horizon = Horizon.exactly(len(word.letters))
    fewest, most = 0, word.changes - 1
    while fewest < word.changes and monitor.stopped() is None:
        limited = limit_changes(problem, most, horizon)
        search = Frontier(limited, goal=goal, delta=delta, threshold=threshold, strictly=True, monitor=monitor)
        found = search.run().found
        if found is None:
            fewest = most + 1
        else:
            word = problem.word(found.start, found.letters, final=found.final)
        most = (fewest + word.changes - 1) // 2
    return word


class TensorEngine(WordEngine):
    """All inputs at once: arrays with one axis an input, and erosion."""

    name = "tensors"

    def reason_against(self, compiled: Compiled, budget: Budget) -> str | None:
        """Why the engine does not answer the question, or None if it does."""
        if budget is not None and budget.delta != 0:
            return "tensors do not take a delta"
        return tensors.reason_against(compiled)

    def check(self, compiled: Compiled, budget: Budget, monitor: Monitor) -> Finding:
        """The largest ratio, compared with the budget."""
        finding = self.tight(compiled, ZERO, monitor, pointwise=False)
        if finding.stopped is not None or finding.lower.compare(budget.epsilon) <= 0:
            return finding
        word = tensors.simplest_violation(compiled, budget.epsilon, monitor=monitor)
        return Finding(
            finding.lower, finding.upper, word=word or finding.word, attained=finding.word, above=finding.proof
        )

    def tight(self, compiled: Compiled, delta: Rational, monitor: Monitor, *, pointwise: bool) -> Finding:
        """The largest ratio, exactly."""
        extreme = tensors.largest_ratio(compiled, monitor=monitor)
        lower = at_least(extreme.ratio)
        if extreme.stopped is not None:
            return Finding(lower, word=extreme.word, stopped=extreme.stopped)
        return Finding(lower, lower, word=extreme.word, proof=None if lower.infinite else TensorProof())


class SmtEngine(WordEngine):
    """The FAIER paper's Algorithm 1 on Z3, as an independent cross-check."""

    name = "smt"
    needs_budget = True

    def reason_against(self, compiled: Compiled, budget: Budget) -> str | None:
        """Why the engine does not answer the question, or None if it does."""
        if budget is None:
            return "the SMT encoding needs a budget to compare with"
        if compiled.problem.horizon.high is None:
            return _UNBOUNDED
        if budget.delta != 0 and not budget.pointwise:
            return _EVENTS
        return None

    def check(self, compiled: Compiled, budget: Budget, monitor: Monitor) -> Finding:
        """Ask for a word beyond the budget; bounds enclose an irrational ``e^epsilon``."""
        if budget.epsilon.infinite:
            return Finding(epsilon(0), stopped="an infinite epsilon cannot be encoded")
        low, high = budget.epsilon.enclosure(256)
        for bound in dict.fromkeys((high, low)):
            monitor.listen(Progress("SMT encoding"))
            answer = smt.violating_word(
                compiled.problem, bound, delta=budget.delta, should_stop=lambda: monitor.stopped() is not None
            )
            if isinstance(answer, Word):
                if bound == high:
                    return Finding(ratio_of(answer, budget.delta), word=answer)
                return Finding(epsilon(0), stopped="a ratio agrees with e^epsilon to 256 bits")
            if answer is not None:
                return Finding(epsilon(0), stopped=f"Z3 gave up at length {answer.length}: {answer.reason}")
        note = "Z3 answered unsat; the certificate lets the checker enumerate the words itself"
        return Finding(epsilon(0), budget.epsilon, proof=EnumerationProof(), notes=(note,))

    def tight(self, compiled: Compiled, delta: Rational, monitor: Monitor, *, pointwise: bool) -> Finding:
        """Not answered by this engine."""
        return Finding(epsilon(0), stopped="the SMT encoding needs a budget to compare with")
