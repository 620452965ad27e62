"""What the densities of planar noise show: everything for the noise alone, and of the exhibits that one output refutes them."""

from __future__ import annotations

from flint import arb

from privproof.errors import ScenarioError
from privproof.evidence.verdicts import Status
from privproof.exact import Epsilon, Rational, rational
from privproof.exact.balls import precision
from privproof.release.locations.location_channels import Place, ResampledLaplace, ShrunkLaplace, distance
from privproof.release.locations.location_findings import LocationFinding, Method, loss_between, short_text
from privproof.release.locations.planar_noise import PlanarGeometric, PlanarLaplace

_NEAR = 1000
"""The second place of an exhibit is so many times nearer to the corner than the shorter side is long: the loss is greatest near it."""
_INTEGRATED = 64
"""Bits of the integrals over a map, which take long; the losses that they show are far from the claim."""


def planar_finding(mechanism: PlanarGeometric | PlanarLaplace, allowed: Epsilon, bits: int) -> LocationFinding:
    """Planar noise: the ratio of two places at the first of them is exactly ``e^(rate d)``, and nowhere more."""
    status: Status = "proved" if mechanism.epsilon.compare(allowed) <= 0 else "refuted"
    continuous = isinstance(mechanism, PlanarLaplace)
    with precision(bits):
        if isinstance(mechanism, PlanarLaplace):
            apart = arb(1)
            left, right = mechanism.density(0, bits), mechanism.density(1, bits)
        else:
            apart = arb(mechanism.step)
            left, right = (mechanism.probability(site, (0, 0), bits) for site in ((0, 0), (1, 0)))
    method: Method = "triangle inequality" if status == "proved" else "one output"
    loss = mechanism.epsilon.ball(bits)
    return LocationFinding(
        status, mechanism, allowed, (0, 0), (1, 0), (0, 0), left, right, apart, loss, method, density=continuous
    )


def beside_the_corner(mechanism: ResampledLaplace) -> Place:
    """A place near the corner of the map, on the diagonal."""
    near = min(mechanism.width, mechanism.height) / _NEAR
    return near, near


def near_the_corner(mechanism: ResampledLaplace, allowed: Epsilon) -> LocationFinding:
    """What the corner of the map and a place near it show."""
    corner = (rational(0), rational(0))
    return at_one_output(mechanism, allowed, corner, beside_the_corner(mechanism), corner, _INTEGRATED)


def northwards(mechanism: ShrunkLaplace, allowed: Epsilon, apart: Rational, bits: int = 128) -> LocationFinding:
    """What two places show of which one lies so far north of the other."""
    one, other = (rational(0), rational(0)), (rational(0), apart)
    if mechanism.latitude == 0:
        sides = arb(1), arb(0), arb(apart), arb("inf")
        return LocationFinding("refuted", mechanism, allowed, one, other, "north = 0", *sides, "one output")
    if abs(mechanism.latitude) == 90 and mechanism.epsilon.compare(allowed) <= 0:
        return planar_finding(PlanarLaplace(mechanism.epsilon), allowed, bits)
    return at_one_output(mechanism, allowed, one, other, one, bits)


def at_one_output(
    mechanism: ResampledLaplace | ShrunkLaplace, allowed: Epsilon, left: Place, right: Place, output: Place, bits: int
) -> LocationFinding:
    """What two densities at one output show: a refutation, or nothing."""
    if left == right:
        raise ScenarioError(
            "location", f"both places are {short_text(left)}", place="right", hint="two different places"
        )
    mine, other = mechanism.density(left, output, bits), mechanism.density(right, output, bits)
    with precision(bits):
        apart = distance(left, right)
        refuted = mine > (allowed.ball(bits) * apart).exp() * other
        loss = loss_between(mine, other, apart)
    return LocationFinding(
        "refuted" if refuted else "unknown",
        mechanism,
        allowed,
        left,
        right,
        output,
        mine,
        other,
        apart,
        loss,
        "one output",
        density=True,
        reason="" if refuted else "this one output does not exceed the claim, and others were not looked at",
    )
