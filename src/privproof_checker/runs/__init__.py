"""The checker of certificates about functions that were run as they are.

The question holds the declarations of the inputs, all data sets, and on each the tree of all runs: random draws with their
probabilities, comparisons of noise that is left open, and what was shown at the end.  The checker lists the data sets and the neighbours
by itself, sees that the trees are trees, and sums them by itself.  That they are the runs of the function is taken from whoever ran
it; `privproof recheck --source` runs it again.

Read it in this order: `data` (data sets and neighbours), `ways` (the trees), `sums` (probabilities), `moves` (alignments), `divergence`
(delta where Gaussian noise is drawn or noisy numbers are shown).
"""

from __future__ import annotations

from privproof_checker.claims import Claim, read_claim
from privproof_checker.once_per_certificate import once
from privproof_checker.outcomes import Accepted, Limits, refuse
from privproof_checker.plain_documents import a_text, a_text_or_null, an_object, only_members
from privproof_checker.runs.divergence import proved_by_divergence, refuted_by_region
from privproof_checker.runs.moves import proved_by_moves
from privproof_checker.runs.run_data import Neighbours, read_data
from privproof_checker.runs.run_leaves import Ran, Tree, read_trees
from privproof_checker.runs.sums import proved_by_table, refuted_by_event

__all__ = ["check_runs", "read_runs"]

_MEMBERS = (
    *("kind", "title", "epsilon", "delta", "pointwise", "function", "inputs", "relation", "pairs", "sizes"),
    *("sampled", "data", "tables", "trees", "runs", "outputs"),
)


def read_runs(asked: dict[str, object], claim: Claim, limits: Limits, *, sampled: bool = False) -> Ran:
    """A question about a function that was run; on some of its data sets only where `sampled` allows it, for a refutation."""
    only_members(asked, _MEMBERS, "question")
    a_text_or_null(asked.get("title"), "question.title")
    function = an_object(asked.get("function"), "question.function")
    only_members(function, ("name", "digest"), "question.function")
    allowed = sampled and asked.get("sampled", False) is not False  # where all data sets are listed, it is the same
    neighbours, trees = once(("runs", allowed), asked, lambda: _read_runs(asked, limits, sampled=sampled))
    return Ran(claim, neighbours, *trees)


def _read_runs(
    asked: dict[str, object], limits: Limits, *, sampled: bool
) -> tuple[Neighbours, tuple[tuple[Tree, ...], tuple[int, ...]]]:
    neighbours = read_data(asked, limits, sampled=sampled)
    return neighbours, read_trees(asked, neighbours.count, limits)


def check_runs(verdict: str, asked: dict[str, object], certificate: dict[str, object], limits: Limits) -> Accepted:
    """Check a certificate whose question is a function that was run."""
    ran = read_runs(asked, read_claim(asked, limits), limits, sampled=verdict == "refuted")
    evidence = an_object(certificate.get("evidence"), "evidence")
    method = a_text(evidence.get("method"), "evidence.method")
    if (verdict, method) == ("proved", "divergence"):
        return proved_by_divergence(ran, evidence)
    if (verdict, method) == ("refuted", "regions"):
        return refuted_by_region(ran, evidence, limits)
    if (verdict, method) == ("refuted", "excess"):
        from privproof_checker.measured.measure_laws import refuted_by_excess

        return refuted_by_excess(ran, evidence)
    if ran.in_balls:
        refuse(f"{method[:40]!r} is no evidence about Gaussian noise and the like", "evidence.method")
    if (verdict, method) == ("proved", "table"):
        return proved_by_table(ran, evidence)
    if (verdict, method) == ("proved", "alignment"):
        return proved_by_moves(ran, evidence, limits)
    if (verdict, method) == ("refuted", "event"):
        return refuted_by_event(ran, evidence, limits)
    refuse(f"{method[:40]!r} is no evidence for {verdict[:40]}", "evidence.method")
