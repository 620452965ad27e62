"""The evidence of verdicts about mechanisms for locations: the mechanism, the claim per unit of distance, and why it holds or fails."""

from __future__ import annotations

from typing import Any

from flint import arb, fmpq

from privproof.evidence.engine_answers import Answer
from privproof.exact import INFINITE, epsilon
from privproof.exact.balls import rational_bounds
from privproof.exact.rounding import to_grid
from privproof.release.locations.location_channels import Channel, LocationMechanism, ResampledLaplace, ShrunkLaplace
from privproof.release.locations.location_findings import LocationFinding
from privproof.release.locations.location_maps import Clamped, Resampled
from privproof.release.locations.planar_noise import PlanarGeometric, PlanarLaplace

ENGINE = "locations"

_MOST_ADDED = 400_000
"""The checker adds the offsets of a cell one by one: a loss that takes more of them is not in the certificate."""


def answer_of(finding: LocationFinding) -> Answer:
    """What is about to be said, and why."""
    reason = finding.reason
    if finding.computed != "unknown" and isinstance(finding.mechanism, Channel) and finding.mechanism.rows is None:
        reason = "a channel of balls has no certificate: Channel.of with exact numbers"
    if finding.computed == "unknown" or reason:
        return Answer(status="unknown", question=finding.question, engine=ENGINE, reason=reason)
    loss = INFINITE
    if finding.loss.is_finite():
        loss = epsilon(max(to_grid(rational_bounds(finding.loss)[0], up=False), fmpq(0)))
    return Answer(
        status=finding.computed,
        question=finding.question,
        engine=ENGINE,
        evidence=_evidence(finding),
        compiled=_document(finding.mechanism),
        lower=finding.allowed if finding.computed == "proved" and loss.compare(finding.allowed) > 0 else loss,
        upper=finding.allowed if finding.computed == "proved" else INFINITE,
    )


def _evidence(finding: LocationFinding) -> dict[str, object]:
    pair = {
        "left": _place_data(finding.left),
        "right": _place_data(finding.right),
        "output": _place_data(finding.output),
    }
    evidence: dict[str, object] = {"method": finding.method}
    if finding.computed == "refuted":
        evidence |= pair
        evidence["left_probability"] = _outward(finding.left_probability)
        evidence["right_probability"] = _outward(finding.right_probability)
    elif finding.left_probability > 0 and finding.right_probability > 0 and _cheap(finding):
        evidence["attained"] = {**pair, "loss": _outward(finding.loss)}
    return evidence


def _cheap(finding: LocationFinding) -> bool:
    """Whether a checker that adds the sites of a cell one by one can compute the loss."""
    mechanism = finding.mechanism
    if not isinstance(mechanism, Clamped):
        return True
    (west, south), (east, north) = mechanism.map.bounds
    x, y = finding.output
    if mechanism.map.corners is not None and not mechanism.table and west < x < east and south < y < north:
        return True
    reach = east - west + north - south + 40 / float(mechanism.noise.rate(64))
    return reach**2 * (1 if mechanism.map.corners is not None else len(mechanism.map.sites)) < _MOST_ADDED


def _document(mechanism: LocationMechanism) -> dict[str, object]:
    if isinstance(mechanism, Channel):
        assert mechanism.rows is not None
        rows = [[list(site), {str(z): str(p) for z, p in row.items()}] for site, row in mechanism.rows.items()]
        return {"kind": "table", "step": str(mechanism.step), "rows": rows}
    if isinstance(mechanism, PlanarLaplace | ResampledLaplace | ShrunkLaplace):
        outputs: dict[str, object] = {"kind": "plane"}
        if isinstance(mechanism, ResampledLaplace):
            outputs = {"kind": "resampled", "width": str(mechanism.width), "height": str(mechanism.height)}
        elif isinstance(mechanism, ShrunkLaplace):
            outputs = {"kind": "shrunk north-south", "latitude": str(mechanism.latitude)}
        return {"kind": "planar laplace", "rate": str(mechanism.epsilon), "outputs": outputs}
    outputs = {"kind": "grid"}
    if isinstance(mechanism, Clamped):
        outputs = {"kind": "clamped", "map": mechanism.map.document()}
        if mechanism.table:
            outputs["table"] = [[list(site), list(target)] for site, target in mechanism.table.items()]
    elif isinstance(mechanism, Resampled):
        outputs = {"kind": "resampled", "map": mechanism.map.document()}
    noise = mechanism if isinstance(mechanism, PlanarGeometric) else mechanism.noise
    return {"kind": "planar geometric", "rate": str(noise.epsilon), "step": str(noise.step), "outputs": outputs}


def _place_data(place: Any) -> object:
    if isinstance(place, tuple):
        return [each if isinstance(each, int) else str(each) for each in place]
    return str(place)


def _outward(ball: arb, digits: int = 18) -> list[str]:
    """Two decimals around a ball of a number that is not below zero."""
    if not ball.is_finite():
        return ["0", "inf"]
    low, high = rational_bounds(ball)
    if high == 0:
        return ["0", "0"]
    scale = len(str(high.q)) - len(str(high.p)) + digits
    power = fmpq(10) ** scale
    return [f"{(max(low, fmpq(0)) * power).floor()}e{-scale}", f"{(high * power).ceil()}e{-scale}"]
