"""Verifying mechanisms for locations, and exhibits of what goes wrong.

The exhibits: drawing again until the report lies on the map (`resampling_planar_laplace`, `resampling_planar_geometric`), and noise that
is not equal in all directions (`shrunk_north_south`).  The engine `engines.locations` decides; here is how it is asked.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from privproof.asking import ask
from privproof.engines.engine_protocol import EngineRequest
from privproof.engines.search_monitor import Monitor
from privproof.errors import ScenarioError
from privproof.evidence import Unknown
from privproof.exact import EpsilonLike, Number, epsilon, rational, show
from privproof.release.locations.location_channels import (
    Channel,
    LocationMechanism,
    Place,
    ResampledLaplace,
    ShrunkLaplace,
)
from privproof.release.locations.location_engine import FINDING, decide_locations
from privproof.release.locations.location_findings import LocationFinding, short_text
from privproof.release.locations.location_maps import Map, Resampled
from privproof.release.locations.location_question import LocationQuestion
from privproof.release.locations.planar_densities import at_one_output, beside_the_corner, northwards
from privproof.release.locations.planar_noise import PlanarGeometric, PlanarLaplace, Site


def verify_locations(
    mechanism: LocationMechanism,
    claimed: EpsilonLike | None = None,
    *,
    sites: Sequence[Site] | None = None,
    bits: int = 128,
) -> LocationFinding:
    """Decide whether a mechanism keeps a rate, and find the pair of places and the report with the greatest loss.

    Args:
        mechanism: planar noise, clamped or resampled planar geometric noise, or a channel.
        claimed: the epsilon per unit of distance; left out, the one of the mechanism.
        sites: the sites to compare where pairs are compared one by one; all of the map or channel if left out.
        bits: the precision to begin with.

    >>> from privproof.release.locations.location_maps import clamped
    >>> town = Map.rectangle((0, 0), (3, 3))
    >>> print(verify_locations(clamped(PlanarGeometric.of("ln(2)"), town)))
    proved: epsilon = ln(2) ≈ 0.693147 per unit of distance, by triangle inequality
      of: planar geometric noise, ... on a grid of step 1, clamped to a map of 4 x 4 sites, step 1
      worst: (1, 1) and (0, 0), 1.41421 apart, report (1, 1)
      probability: 0.0755594 against 0.028351
      loss: 0.693147 per unit of distance, 1 of the epsilon
    >>> verify_locations(Resampled(PlanarGeometric.of("ln(2)"), town)).status
    'refuted'
    """
    own = None if isinstance(mechanism, Channel) else mechanism.epsilon
    if claimed is None and own is None:
        raise ScenarioError("location", "a channel claims no epsilon", place="claimed", hint='such as "ln(2)"')
    allowed = epsilon(own if claimed is None else claimed)  # type: ignore[arg-type]
    asked = LocationQuestion(mechanism, allowed, None if sites is None else tuple(sites))
    return _add_verdict(decide_locations(asked, Monitor(), bits))


def _add_verdict(found: LocationFinding) -> LocationFinding:
    """A finding with its verdict: the engine is asked, and the gate decides."""
    verdict = ask(EngineRequest(found.question, prepared={FINDING: found}))
    return replace(found, verdict=verdict, reason=verdict.reason if isinstance(verdict, Unknown) else found.reason)


def location_certificate(finding: LocationFinding) -> Mapping[str, Any]:
    """The certificate of a finding that is proved or refuted, which the independent checker has accepted.

    >>> found = verify_locations(PlanarGeometric.of("ln(2)", step="1/2"))
    >>> location_certificate(found)["facts"][-1]["rule"]
    'triangle inequality'
    """
    if finding.verdict is None or finding.verdict.certificate is None:
        raise ScenarioError(
            "location", "nothing is known, so there is nothing to certify", place="finding", hint=finding.reason
        )
    return finding.verdict.certificate


def resampling_planar_geometric(rate: EpsilonLike, map: Map, *, claimed: EpsilonLike | None = None) -> LocationFinding:
    """Planar geometric noise that is drawn again until it lies on a map, against the rate of the noise.

    >>> found = resampling_planar_geometric("1/5", Map.rectangle((0, 0), (9, 9)))
    >>> found.status, found.left, found.right, found.output
    ('refuted', (0, 0), (1, 1), (0, 0))
    """
    return verify_locations(Resampled(PlanarGeometric.of(rate, step=map.step), map), claimed)


def resampling_planar_laplace(
    rate: EpsilonLike,
    *,
    width: Number,
    height: Number,
    left: tuple[Number, Number] = (0, 0),
    right: tuple[Number, Number] | None = None,
    output: tuple[Number, Number] | None = None,
    claimed: EpsilonLike | None = None,
    bits: int = 64,
) -> LocationFinding:
    """Planar Laplace noise that is drawn again until it lies on a rectangle, against the rate of the noise, at a pair of places.

    The density is ``e^(-epsilon |z - x|) / Z(x)`` up to a constant, and Z is smallest in the corners: a half on a long edge, a
    quarter in a corner.  Near an edge the loss is up to ``1 + 2/pi = 1.637`` times epsilon, near a corner ``1 + 2 sqrt(2)/pi =
    1.900`` times.

    Args:
        rate: of the noise, per unit of distance.
        width: the map goes from (0, 0) to (width, height).
        height: see width.
        left: a place on the map; the corner (0, 0) if left out.
        right: another one; left out, near the corner on the diagonal.
        output: a report on the map; the left place if left out.
        claimed: the epsilon to compare with; the rate if left out.
        bits: the precision of the integrals.

    >>> found = resampling_planar_laplace(1, width=20, height=20, right=("1/100", "1/100"))
    >>> found.status, found.factor.str(4, radius=False)
    ('refuted', '1.899')
    """
    extent = rational(width), rational(height)
    mechanism = ResampledLaplace(PlanarLaplace.of(rate).epsilon, *extent)
    near = beside_the_corner(mechanism)
    places = [_exact(each) for each in (left, near if right is None else right, left if output is None else output)]
    for name, place in zip(("left", "right", "output"), places, strict=True):
        if not all(0 <= place[k] <= extent[k] for k in (0, 1)):
            raise ScenarioError(
                "location", f"{short_text(place)} is not on the map", place=name, hint=f"up to {short_text(extent)}"
            )
    allowed = epsilon(mechanism.epsilon if claimed is None else claimed)
    return _add_verdict(at_one_output(mechanism, allowed, places[0], places[1], places[2], bits))


def shrunk_north_south(
    rate: EpsilonLike, *, latitude: Number, distance: Number = 1, claimed: EpsilonLike | None = None, bits: int = 128
) -> LocationFinding:
    """Noise that is added to geocentric x and y: shrunk by ``sin(latitude)`` in the direction north, it costs ``epsilon / sin(latitude)``.

    >>> found = shrunk_north_south(1, latitude=41)
    >>> found.status, found.factor.str(4, radius=False)
    ('refuted', '1.524')
    >>> shrunk_north_south(1, latitude=0).right_probability
    0
    """
    mechanism, apart = ShrunkLaplace(PlanarLaplace.of(rate).epsilon, rational(latitude)), rational(distance)
    if apart <= 0:
        raise ScenarioError("location", f"distance = {show(apart)}", place="distance", hint="a distance above 0")
    return _add_verdict(northwards(mechanism, epsilon(mechanism.epsilon if claimed is None else claimed), apart, bits))


def _exact(place: tuple[Number, Number]) -> Place:
    return rational(place[0]), rational(place[1])
