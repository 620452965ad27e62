"""Whether a mechanism for locations keeps its promise: ``P(z | x) <= e^(epsilon d(x, x')) P(z | x')`` for all x, x', z.

* Planar noise on the infinite grid or the plane keeps it by the triangle inequality, and so does everything that looks at the noisy
  report alone, such as clamping to a map: the verdict is exact, and the worst pair says how much of epsilon is used.
* For any other mechanism with finitely many sites and outputs (a `Channel`) all pairs of sites and all outputs are compared.
* The exhibits in the plane are refuted at one output.
"""

from __future__ import annotations

from privproof.engines.engine_protocol import Answers, EngineRequest
from privproof.engines.search_monitor import Monitor, Stopped
from privproof.errors import ScenarioError
from privproof.evidence.engine_answers import Answer
from privproof.exact import ONE, Epsilon
from privproof.release.locations.location_certificates import ENGINE, answer_of
from privproof.release.locations.location_channels import ResampledLaplace, ShrunkLaplace
from privproof.release.locations.location_findings import LocationFinding
from privproof.release.locations.location_maps import Clamped
from privproof.release.locations.location_question import LocationQuestion
from privproof.release.locations.planar_densities import near_the_corner, northwards, planar_finding
from privproof.release.locations.planar_noise import PlanarGeometric, PlanarLaplace
from privproof.release.locations.site_comparisons import SiteComparison, compared_sites, middle_of

FINDING = "finding about locations"
"""The name under which a request may bring what was found, at places or with a precision of the caller's choice."""


class LocationEngine:
    """Answers questions about mechanisms for locations."""

    name = ENGINE

    def supports(self, request: EngineRequest) -> str | None:
        """Why the engine does not answer the request, or None if it does."""
        return "the epsilon for each unit of distance is claimed, not looked for" if request.tight else None

    def answers(self, request: EngineRequest, monitor: Monitor) -> Answers:
        """Whether the loss is at most epsilon for each unit of distance."""
        question = request.question
        assert isinstance(question, LocationQuestion)
        try:
            found = request.once(FINDING, lambda: decide_locations(question, monitor))
        except Stopped:
            reason = monitor.stopped() or "stopped"
            yield Answer(status="unknown", question=question, engine=self.name, reason=reason)
            return
        yield answer_of(found)


def decide_locations(question: LocationQuestion, monitor: Monitor, bits: int = 128) -> LocationFinding:
    """What is found: the pair of places and the report with the greatest loss, and what it says about the claim.

    Args:
        question: the question.
        monitor: an interrupt.
        bits: the precision to begin with.
    """
    mechanism, allowed, sites = question.mechanism, question.epsilon, question.sites
    if allowed.infinite or allowed.compare(Epsilon()) == 0:
        raise ScenarioError("location", f"epsilon = {allowed}", place="claimed", hint="a finite epsilon above 0")
    if isinstance(mechanism, PlanarGeometric | PlanarLaplace):
        return planar_finding(mechanism, allowed, bits)
    if isinstance(mechanism, ResampledLaplace):
        return near_the_corner(mechanism, allowed)
    if isinstance(mechanism, ShrunkLaplace):
        return northwards(mechanism, allowed, ONE)
    near = sites
    if sites is None and isinstance(mechanism, Clamped) and mechanism.epsilon.compare(allowed) <= 0:
        near = middle_of(mechanism.map)
    listed = compared_sites(mechanism, near)
    return SiteComparison(mechanism, allowed, listed, None if sites is None else listed, monitor.pause).finding(bits)
