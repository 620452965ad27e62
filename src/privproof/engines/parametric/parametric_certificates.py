"""The evidence of verdicts under priors with unknown parameters: Bernstein trees, or a point."""

from __future__ import annotations

from collections.abc import Mapping

from privproof.engines.parametric import Coordinate, Proof, non_negative
from privproof.engines.search_monitor import Monitor
from privproof.evidence.witnesses import SecretWitness
from privproof.exact import Rational, rational, text
from privproof.models.parameter_conditions import ConditionTable


def proof_evidence(table: ConditionTable, proof: Proof, monitor: Monitor) -> dict[str, object] | None:
    """The evidence of a proof of the table's conditions; None where the sign of a weight is not established.

    Args:
        table: the question; the bound of the proof must not exceed ``e^epsilon`` of what is claimed about it.
        proof: the proof.
        monitor: how to stop.
    """
    different = list(dict.fromkeys(row.weight for row in table.rows))
    weights = dict(zip(different, non_negative(different, table.region, monitor), strict=True))
    if None in weights.values():
        return None
    return {
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


def point_evidence(witness: SecretWitness) -> dict[str, object]:
    """An output under two secrets at values of the parameters, as a witness or as evidence of a refutation."""
    return {
        "values": _values({name: rational(value) for name, value in witness.observed.values.items()}),
        "pair": list(witness.secrets),
        "output": witness.output,
        "left": text(witness.left_probability),
        "right": text(witness.right_probability),
    }


def _coordinate(each: Coordinate) -> dict[str, str]:
    return {"name": each.name, "low": str(each.low), "high": str(each.high)}


def _values(values: Mapping[str, Rational]) -> dict[str, str]:
    return {name: text(value) for name, value in values.items()}
