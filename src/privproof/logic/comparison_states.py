"""Conditions on the variables of a process, as sets of states."""

from __future__ import annotations

from privproof.errors import QuestionError
from privproof.logic.decision_process import REFUSED, Bools, DecisionProcess
from privproof.logic.formulas import Comparison
from privproof.models.finite_distributions import known_name


def satisfying_states(comparison: Comparison, process: DecisionProcess) -> Bools:
    """Where a condition on a variable holds; nowhere where a run was refused, which has no values."""
    variables = process.variables
    if not variables:
        raise QuestionError(
            "formula",
            f"{comparison} compares a variable, and the model has none",
            place="formula",
            hint="variables belong to PRISM models; use labels",
        )
    known_name(comparison.variable, among=tuple(variables), what="variable", place="formula", error=QuestionError)
    values, bound = variables[comparison.variable], comparison.value.constant
    answers: dict[str, Bools] = {
        "=": values == bound,
        "!=": values != bound,
        "<": values < bound,
        "<=": values <= bound,
        ">": values > bound,
        ">=": values >= bound,
    }
    found = answers[comparison.operator]
    return found & ~process.labels[REFUSED] if process.missing == "refuse" else found
