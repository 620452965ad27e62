"""The engine of ratio cones: words of every length, where one change tells the two sides apart.

Whatever was read before the change is the same on both sides, and so is what is read after it.  So the bound does not depend on how long
the words are: generators of the pasts and ratios of the futures give it at once (see `ratio_cones`).  It is the tight one where a word
attains it.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from privproof.engines.search_monitor import Monitor, Progress
from privproof.engines.words.beam_search import promising_word
from privproof.engines.words.bounded_engines import at_least, ratio_of
from privproof.engines.words.ratio_proofs import kinds_of_locations, ratio_proof, told_proof
from privproof.engines.words.unbounded_engine import UnboundedEngine
from privproof.engines.words.word_engine import WordEngine
from privproof.engines.words.word_findings import Finding
from privproof.exact import ZERO, Budget, Rational, epsilon, rational

if TYPE_CHECKING:
    from privproof.compiling import Compiled

_LONGEST = 24
"""Words up to this length are looked at for one that attains the bound; it decides only whether the bound is called tight."""
_OTHERWISE = 200
"""So many vectors an invariant may take where the bound is not attained: where it closes at all, few are enough."""
_NEAR = 1 + rational("1/1000000")
"""A bound this near to the best word is good enough not to look for another one."""


class RatioEngine(WordEngine):
    """Words of every length with one change: ratios of futures, from the change on."""

    name = "ratios"
    otherwise = UnboundedEngine(most=_OTHERWISE)

    def reason_against(self, compiled: Compiled, budget: Budget) -> str | None:
        """Why the engine does not answer the question, or None if it does."""
        if compiled.problem.horizon.high is not None:
            return "the horizon is bounded"
        if budget is not None and budget.delta != 0 and not budget.pointwise:
            return "delta over events is not answered for words of every length"
        if "past" not in kinds_of_locations(compiled):
            return "the two sides may differ more than once"
        return None

    def check(self, compiled: Compiled, budget: Budget, monitor: Monitor) -> Finding:
        """A proof, if the bound is within the budget; otherwise the question is left to the next engine."""
        finding = self.tight(compiled, ZERO, monitor, pointwise=False)
        if finding.proof is None or finding.upper.compare(budget.epsilon) <= 0:
            return finding
        reason = f"ratios of futures give {finding.upper.show()}, which is more than the budget"
        return Finding(epsilon(0), stopped=reason, pass_on=True)

    def tight(self, compiled: Compiled, delta: Rational, monitor: Monitor, *, pointwise: bool) -> Finding:
        """The bound of the ratio cones, and the best word; where they are apart, the smaller bound of this and the next engine."""
        word = promising_word(compiled.problem, longest=_LONGEST)
        monitor.listen(Progress("ratios of futures"))
        proof = ratio_proof(compiled, word, monitor)
        if isinstance(proof, str):
            return Finding(epsilon(0), stopped=proof, pass_on=True)
        note = f"{told_proof(proof)} prove the upper bound for words of every length"
        lower = epsilon(0) if word is None else ratio_of(word, ZERO)
        found = Finding(lower, at_least(proof.cones.bound), word=word, proof=proof, notes=(note,))
        if word is not None and word.ratio is not None and proof.cones.bound <= word.ratio * _NEAR:
            return found
        other = self.otherwise.tight(compiled, ZERO, monitor, pointwise=False)
        if other.proof is not None and other.upper.compare(found.upper) < 0:
            return other
        if other.word is not None and other.lower.compare(lower) > 0:
            return replace(found, lower=other.lower, word=other.word)
        return found
