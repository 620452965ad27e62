"""The checker of certificates about mechanisms with continuous noise; like the whole checker it imports the standard
library, python-flint and `privproof.exact`, and an SMT solver where evidence has no multipliers.

A proof is an *alignment*: noise of the second run as shifted noise of the first, with invariants that say why the runs
stay together and what the shifts cost (Wang, Ding, Kifer and Zhang, "CheckDP: An Automated and Integrated Approach for
Proving Differential Privacy or Finding Precise Counterexamples", 2020; here for all lengths, and with invariants and
multipliers that are followed).  A refutation is a *loss*: two neighbouring inputs, the tree of runs on each, and an event whose
probabilities are integrated again, exactly.  At one size a claim with a delta is decided by *registers*: the program is
run once with data and noise left open, and what it shows is integrated over few numbers, in balls; or, where it only shows
sums of data and Gaussian noise, by a *matrix* of shifts.

Read it in this order: `inputs`, `expressions`, `instructions`, `flow` (the question); `terms`, `states`, `evaluating`,
`paths`, `executing`, `invariants`, `solving`, `alignment`, `cells`, `mixtures` (proofs); `trees`, `losses`
(refutations); `registers`, `excesses`, `matrices` (a delta at one size).
"""

from __future__ import annotations

from privproof.evidence.checker.documents import a_text, a_text_or_null, an_object, only_members
from privproof.evidence.checker.outcomes import Accepted, Limits, refuse
from privproof.evidence.checker.programs.alignment import proved_by_alignment
from privproof.evidence.checker.programs.cells import proved_by_cells
from privproof.evidence.checker.programs.corners import proved_by_corners
from privproof.evidence.checker.programs.excesses import proved_by_registers, refuted_by_outcomes
from privproof.evidence.checker.programs.inputs import read_declared
from privproof.evidence.checker.programs.instructions import read_program
from privproof.evidence.checker.programs.losses import refuted_by_loss
from privproof.evidence.checker.programs.matrices import proved_by_matrix
from privproof.evidence.checker.programs.mixtures import proved_by_mixture, with_noise

__all__ = ["check_program"]

_MEMBERS = (
    "kind",
    "title",
    "inputs",
    "relation",
    "size",
    "epsilon",
    "delta",
    "claim",
    "sorts",
    "lists",
    "code",
    "source",
    "coins",
)


def check_program(verdict: str, asked: dict[str, object], certificate: dict[str, object], limits: Limits) -> Accepted:
    """Check a certificate whose question is a mechanism with continuous noise."""
    if asked.get("kind") != "program":
        refuse("the question is not about a mechanism with continuous noise", "question.kind")
    only_members(asked, _MEMBERS, "question")
    a_text_or_null(asked.get("title"), "question.title")
    declared = read_declared(asked, limits)
    evidence = an_object(certificate.get("evidence"), "evidence")
    method = a_text(evidence.get("method"), "evidence.method")
    if "coins" in asked and method not in ("mixture", "alignment", "loss"):
        refuse("coins of records are for mixtures, and noise of records for alignments", "question.coins")
    if "coins" in asked and method == "alignment":
        declared = with_noise(asked, declared)
    if "lists" in asked and method not in ("alignment", "loss"):
        refuse("lists that are kept are for alignments", "question.lists")
    if (verdict, method) == ("proved", "alignment"):
        return proved_by_alignment(read_program(asked, declared, limits), evidence, limits)
    if (verdict, method) == ("proved", "cells"):
        return proved_by_cells(read_program(asked, declared, limits), evidence, limits)
    if (verdict, method) == ("proved", "mixture"):
        return proved_by_mixture(asked, declared, evidence, limits)
    if (verdict, method) == ("refuted", "loss"):
        return refuted_by_loss(declared, evidence, limits)
    if (verdict, method) == ("proved", "registers"):
        return proved_by_registers(read_program(asked, declared, limits), evidence)
    if (verdict, method) == ("proved", "corners"):
        return proved_by_corners(read_program(asked, declared, limits), evidence)
    if (verdict, method) == ("proved", "matrix"):
        return proved_by_matrix(read_program(asked, declared, limits), evidence, limits)
    if (verdict, method) == ("refuted", "outcomes"):
        return refuted_by_outcomes(read_program(asked, declared, limits), evidence, limits)
    refuse(f"{method[:40]!r} is no evidence for {verdict[:40]}", "evidence.method")
