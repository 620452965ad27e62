"""Path formulas on decision processes by Storm: an oracle that goes another way, by a deterministic automaton and its product."""

from __future__ import annotations

from dataclasses import replace
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from privproof.exact import Rational, rational
from privproof.logic.decision_process import Bools, DecisionProcess
from privproof.logic.formats.drn_files import write_drn
from privproof.logic.path_probabilities import FALSE, TRUE, replace_subformulas, unfold_untils
from privproof.logic.path_probabilities import Path as PathFormula

MISSING = "Storm is not installed"


def storm_extremes(
    process: DecisionProcess, truths: list[Bools], path: PathFormula
) -> tuple[list[Rational], list[Rational]] | str:
    """The least and largest probabilities from all states, or why they cannot be had."""
    try:
        storm: Any = import_module("stormpy")
    except ImportError:
        return MISSING
    everywhere = {
        ("leaf", i): TRUE if truth.all() else FALSE for i, truth in enumerate(truths) if truth.all() or not truth.any()
    }
    path = replace_subformulas(path, everywhere)
    if path in (TRUE, FALSE):
        value = rational(1 if path == TRUE else 0)
        return [value] * len(process), [value] * len(process)
    labelled = replace(
        process, labels={f"leaf{i}": truth for i, truth in enumerate(truths)}, neighbours=(), initial=(0,), variables={}
    )
    with TemporaryDirectory() as folder:
        file = Path(folder) / "process.drn"
        file.write_text(write_drn(labelled), encoding="utf-8")
        model = storm.build_model_from_drn[storm.Rational](str(file))
    text = _text(unfold_untils(path))
    results = []
    for side in ("Pmin", "Pmax"):
        found = storm.model_checking(model, storm.parse_property(f"{side}=? [{text}]"))
        results.append([rational(str(found.get_value(state))) for state in range(len(process))])
    return results[0], results[1]


def _text(path: PathFormula) -> str:
    match path[0]:
        case "leaf":
            return f'"leaf{path[1]}"'
        case "true" | "false":
            return str(path[0])
        case "not":
            return f"!({_text(path[1])})"
        case "and":
            return " & ".join(f"({_text(part)})" for part in path[1:])
        case "or":
            return " | ".join(f"({_text(part)})" for part in path[1:])
        case "X":
            return f"X ({_text(path[1])})"
    return f"({_text(path[1])}) U ({_text(path[2])})"
