"""What is known about a mechanism for locations: the worst pair of places, the report that tells them apart, and the loss."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

from flint import arb

from privproof.evidence.verdicts import Status, Verdict
from privproof.exact import Epsilon
from privproof.exact.balls import precision
from privproof.exact.number_texts import rounded_ball
from privproof.release.locations.location_channels import LocationMechanism, Place
from privproof.release.locations.location_question import LocationQuestion
from privproof.release.locations.planar_noise import Site

Method: TypeAlias = Literal["triangle inequality", "every pair", "one output"]

_MOST_SHOWN = 60
"""A site or an output with a longer text is cut in reports."""


@dataclass(frozen=True)
class LocationFinding:
    """What is known about a mechanism for locations.

    Attributes:
        computed: what the comparison says: proved, refuted or unknown.
        mechanism: what was asked about.
        allowed: the claimed epsilon, per unit of distance.
        left: a place x.
        right: a place x'; no pair that was compared is worse.
        output: a report z.
        left_probability: P(z | x), or its density.
        right_probability: P(z | x'), or its density.
        distance: d(x, x').
        loss: ``ln(P(z | x) / P(z | x')) / d(x, x')``, to be compared with the claimed epsilon.
        method: the triangle inequality, all pairs of sites with all outputs, or the one output that refutes.
        sites: the sites that were compared one by one; None for all places, by the triangle inequality, or all of a channel.
        density: whether the probabilities are densities; they are continuous, so small regions around the output have the same ratio.
        reason: why nothing is known.
        verdict: the verdict, with its certificate; None before it is given.
    """

    computed: Status
    mechanism: LocationMechanism
    allowed: Epsilon
    left: Place
    right: Place
    output: Any
    left_probability: arb
    right_probability: arb
    distance: arb
    loss: arb
    method: Method
    sites: tuple[Site, ...] | None = None
    density: bool = False
    reason: str = ""
    verdict: Verdict | None = field(default=None, repr=False)

    @property
    def status(self) -> Status:
        """What is established: proved, refuted or unknown."""
        return "unknown" if self.verdict is None else self.verdict.status

    @property
    def factor(self) -> arb:
        """How many times the claimed epsilon the loss is."""
        with precision(128):
            return self.loss / self.allowed.ball(128)

    def __str__(self) -> str:
        what = "density" if self.density else "probability"
        lines = [
            f"{self.status}: epsilon = {self.allowed.show()} per unit of distance, by {self.method}",
            f"  of: {self.mechanism}",
            f"  worst: {short_text(self.left)} and {short_text(self.right)}, {rounded_ball(self.distance)} apart, "
            f"report {short_text(self.output)}",
            f"  {what}: {rounded_ball(self.left_probability)} against {rounded_ball(self.right_probability)}",
            f"  loss: {rounded_ball(self.loss)} per unit of distance, {rounded_ball(self.factor)} of the epsilon",
        ]
        if self.sites is not None and self.method == "every pair":
            lines.append(f"  compared: {len(self.sites)} sites, one by one; nothing is said about others")
        if self.reason:
            lines.append(f"  reason: {self.reason}")
        return "\n".join(lines)

    @property
    def question(self) -> LocationQuestion:
        """The question that it answers: about the sites that were compared one by one, or about all places."""
        return LocationQuestion(self.mechanism, self.allowed, self.sites if self.method == "every pair" else None)


def loss_between(mine: arb, other: arb, apart: arb) -> arb:
    """The loss for each unit of distance."""
    if mine > 0 and other > 0:
        return (mine / other).log() / apart
    return arb("inf") if other == 0 and mine > 0 else arb("0 +/- inf")


def short_text(place: Any) -> str:
    """A place or an output, cut where it is long."""
    told = f"({', '.join(str(each) for each in place)})" if isinstance(place, tuple) else str(place)
    return told if len(told) <= _MOST_SHOWN else told[: _MOST_SHOWN - 3] + "..."
