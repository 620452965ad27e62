"""A certificate about a mechanism with continuous noise, to the rule of its method; a rule is loaded when it is met."""

from __future__ import annotations

from privproof_checker.outcomes import Accepted, Limits, refuse
from privproof_checker.plain_documents import a_text, a_text_or_null, an_object, only_members
from privproof_checker.programs.instructions import read_program
from privproof_checker.programs.program_inputs import read_declared

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
        from privproof_checker.programs.mixtures import with_noise  # here and below: what a method needs

        declared = with_noise(asked, declared)
    if "lists" in asked and method not in ("alignment", "loss"):
        refuse("lists that are kept are for alignments", "question.lists")
    if (verdict, method) == ("proved", "alignment"):
        from privproof_checker.programs.alignment import proved_by_alignment

        return proved_by_alignment(read_program(asked, declared, limits), evidence, limits)
    if (verdict, method) == ("proved", "cells"):
        from privproof_checker.programs.cells import proved_by_cells

        return proved_by_cells(read_program(asked, declared, limits), evidence, limits)
    if (verdict, method) == ("proved", "mixture"):
        from privproof_checker.programs.mixtures import proved_by_mixture

        return proved_by_mixture(asked, declared, evidence, limits)
    if (verdict, method) == ("refuted", "loss"):
        from privproof_checker.programs.program_losses import refuted_by_loss

        return refuted_by_loss(declared, evidence, limits)
    if (verdict, method) == ("proved", "registers"):
        from privproof_checker.programs.excesses import proved_by_registers

        return proved_by_registers(read_program(asked, declared, limits), evidence)
    if (verdict, method) == ("proved", "corners"):
        from privproof_checker.programs.corners import proved_by_corners

        return proved_by_corners(read_program(asked, declared, limits), evidence)
    if (verdict, method) == ("proved", "matrix"):
        from privproof_checker.programs.matrices import proved_by_matrix

        return proved_by_matrix(read_program(asked, declared, limits), evidence, limits)
    if (verdict, method) == ("refuted", "outcomes"):
        from privproof_checker.programs.excesses import refuted_by_outcomes

        return refuted_by_outcomes(read_program(asked, declared, limits), evidence, limits)
    refuse(f"{method[:40]!r} is no evidence for {verdict[:40]}", "evidence.method")
