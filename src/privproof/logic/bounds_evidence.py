"""Vectors that bound probabilities, as evidence."""

from __future__ import annotations

from privproof.logic.decision_process import DecisionProcess
from privproof.logic.formula_document import formula_data
from privproof.logic.large_processes import Evidence, EvidenceByMonitors, PathBounds
from privproof.logic.process_columns import column
from privproof.logic.query_vectors import VectorBound


def bounds_evidence(process: DecisionProcess, bounds: list[PathBounds]) -> dict[str, object]:
    """The vectors behind bounds: of untils, and of repetition where there is some."""
    listed = [item for each in bounds for item in each.evidence if isinstance(item, Evidence)]
    often = [_vectors(process, item) for item in listed if item.left is None]
    untils = [_vectors(process, item) for item in listed if item.left is not None]
    return {"untils": untils, **({"often": often} if often else {})}


def _vectors(process: DecisionProcess, item: Evidence) -> dict[str, object]:
    """The vectors that bound the probability of an until, or of repetition."""
    sides = {"least": item.least} | ({} if item.most is None else {"most": item.most})
    right = formula_data(item.right, process, in_columns=True)
    return {
        "formula": right
        if item.left is None
        else ["U", formula_data(item.left, process, in_columns=True), right, 0, None],
        **{side: {"low": _bound(bounds.low), "high": _bound(bounds.high)} for side, bounds in sides.items()},
    }


def monitored_evidence(process: DecisionProcess, bounds: list[PathBounds]) -> dict[str, object]:
    """The vectors behind bounds beside monitors, where there are some."""
    every = [item for each in bounds for item in each.evidence]
    listed = [_monitored(process, item) for item in every if isinstance(item, EvidenceByMonitors)]
    return {"monitored": listed} if listed else {}


def _monitored(process: DecisionProcess, item: EvidenceByMonitors) -> dict[str, object]:
    """The vectors that bound the probability of a path formula beside monitors."""
    found = item.found
    columns = {
        "letters": found.letters,
        "low": found.low,
        "high": found.high,
        "classes": found.classes,
        "leaving": found.leaving,
    }
    return {
        "formula": formula_data(item.path, process, in_columns=True),
        "steps": found.steps.tolist(),
        **{name: column(values) for name, values in columns.items()},
        "again": [column(ranks) for ranks in found.again],
    }


def _bound(bound: VectorBound) -> dict[str, object]:
    columns = {"values": bound.values, "policy": bound.policy, "ranks": bound.ranks, "falls": bound.falls}
    return {name: column(values) for name, values in columns.items() if values is not None}
