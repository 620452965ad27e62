"""Certificates about secrets under a prior with unknown parameters: what `checker.pufferfish` reads.

A *table* is such a question in full: the region of the parameters, and every possible database with its weight under the
prior, the distribution of the mechanism's output on it, and the secrets that hold.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from privproof.engines.monitor import Monitor
from privproof.engines.parametric import Coordinate, Proof, Violation, non_negative
from privproof.exact import Budget, Rational, text
from privproof.models.conditions import Table

FORMAT, VERSION = "privproof-certificate", 1


def question_document(table: Table, budget: Budget) -> dict[str, Any]:
    """The question of a certificate."""
    region = table.region
    return {
        "kind": "pufferfish",
        "parameters": [
            {
                "name": name,
                "low": text(interval.low),
                "high": text(interval.high),
                "low_open": interval.low_open,
                "high_open": interval.high_open,
            }
            for name, interval in zip(region.names, region.box, strict=True)
        ],
        "constraints": [{"expression": str(each.expression), "strict": each.strict} for each in region.constraints],
        "data": [
            {
                "weight": str(row.weight),
                "outputs": {output: text(probability) for output, probability in row.outputs.items()},
                "secrets": list(row.secrets),
            }
            for row in table.rows
        ],
        "pairs": [list(pair) for pair in table.pairs],
        **({"relative": True} if table.relative else {}),
        "epsilon": str(budget.epsilon),
        "delta": text(budget.delta),
        "pointwise": budget.pointwise,
    }


def proved_certificate(
    table: Table, budget: Budget, proof: Proof, monitor: Monitor, *, witness: Violation | None = None
) -> dict[str, Any] | None:
    """A certificate for a proof of the table's conditions; None where the sign of a weight is not established.

    Args:
        table: the question.
        budget: what is claimed; the bound of the proof must not exceed its ``e^epsilon``.
        proof: the proof.
        monitor: how to stop.
        witness: parameters at which the claim is tight, if there are any.
    """
    different = list(dict.fromkeys(row.weight for row in table.rows))
    weights = dict(zip(different, non_negative(different, table.region, monitor), strict=True))
    if None in weights.values():
        return None
    evidence = {
        "method": "bernstein",
        "bound": text(proof.bound),
        "coordinates": [_coordinate(each) for each in proof.coordinates],
        "points": [_values(point) for point in proof.points],
        "weights": [weights[row.weight] for row in table.rows],
        "conditions": [
            {"pair": list(each.pair), "output": each.output, "tree": each.factors[0].tree}
            if len(each.factors) == 1 and each.factors[0].power == 1
            else {
                "pair": list(each.pair),
                "output": each.output,
                "factors": [
                    {"polynomial": str(factor.polynomial), "power": factor.power}
                    | ({"tree": factor.tree} if factor.power % 2 else {})
                    for factor in each.factors
                ],
            }
            for each in proof.conditions
        ],
    }
    result = _certificate("proved", table, budget, evidence)
    return result if witness is None else result | {"witness": _at(witness)}


def refuted_certificate(table: Table, budget: Budget, violation: Violation) -> dict[str, Any]:
    """A certificate for parameters that violate the budget."""
    return _certificate("refuted", table, budget, {"method": "parameters", **_at(violation)})


def _certificate(verdict: str, table: Table, budget: Budget, evidence: dict[str, Any]) -> dict[str, Any]:
    return {
        "format": FORMAT,
        "version": VERSION,
        "verdict": verdict,
        "question": question_document(table, budget),
        "evidence": evidence,
    }


def _at(violation: Violation) -> dict[str, Any]:
    return {
        "values": _values(violation.values),
        "pair": list(violation.condition.pair),
        "output": violation.condition.output,
        "left": text(violation.left),
        "right": text(violation.right),
    }


def _coordinate(each: Coordinate) -> dict[str, str]:
    return {"name": each.name, "low": str(each.low), "high": str(each.high)}


def _values(values: Mapping[str, Rational]) -> dict[str, str]:
    return {name: text(value) for name, value in values.items()}
