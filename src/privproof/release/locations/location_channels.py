"""Mechanisms for locations that nobody should trust unseen: any table of probabilities, and two exhibits of what goes wrong.

* A `Channel` is a mechanism with finitely many sites and outputs, however it came about.
* `ResampledLaplace` draws again until the report lies on the map, `ShrunkLaplace` adds noise that is not equal in all directions.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from flint import acb, arb, fmpq

from privproof.errors import ScenarioError
from privproof.exact import Epsilon, Number, Rational, rational, show
from privproof.exact.balls import precision
from privproof.models.finite_distributions import distribution
from privproof.release.locations.location_maps import Clamped, Resampled
from privproof.release.locations.planar_noise import PlanarGeometric, PlanarLaplace, Site, a_site

Place: TypeAlias = tuple[Rational | int, Rational | int]


def distance(one: Place, other: Place) -> arb:
    """The Euclidean distance of two places."""
    return arb(sum(((rational(one[k]) - rational(other[k])) ** 2 for k in (0, 1)), fmpq(0))).sqrt()


@dataclass(frozen=True)
class Channel:
    """A mechanism for finitely many sites as a table: the probability of every output for every site.

    Attributes:
        step: the step of the grid that the sites belong to.
        sites: the sites.
        outputs: the outputs.
        probability: of an output for a site, as a rational, or as a ball of about so many bits.
        rows: the same as exact numbers, where they are.
    """

    step: Rational
    sites: tuple[Site, ...]
    outputs: tuple[Any, ...]
    probability: Callable[[Site, Any, int], arb | Rational]
    rows: Mapping[Site, Mapping[Any, Rational]] | None = None

    @classmethod
    def of(cls, rows: Mapping[Site, Mapping[str, Number]], *, step: Number = 1) -> Channel:
        """A channel of exact numbers.

        >>> channel = Channel.of({(0, 0): {"a": "2/3", "b": "1/3"}, (1, 0): {"a": "1/3", "b": "2/3"}})
        >>> print(channel)
        a channel from 2 sites to 2 outputs
        """
        outputs = tuple(dict.fromkeys(output for row in rows.values() for output in row))
        exact = {
            a_site(site, "rows"): dict(
                distribution(row, among=outputs, what="output", place=f"rows.{site}", error=ScenarioError)
            )
            for site, row in rows.items()
        }
        zero = fmpq(0)
        unit = rational(step)
        if unit <= 0:
            raise ScenarioError("location", f"step = {show(unit)}", place="step", hint="a number above 0")
        return cls(unit, tuple(exact), outputs, lambda site, output, bits: exact[site].get(output, zero), exact)

    def __str__(self) -> str:
        return f"a channel from {len(self.sites)} sites to {len(self.outputs)} outputs"


@dataclass(frozen=True)
class ResampledLaplace:
    """Planar Laplace noise that is drawn again until it lies on the rectangle from (0, 0) to (width, height): an exhibit.

    Attributes:
        epsilon: the rate of the noise, which this mechanism does not keep.
        width: the extent of the map in the east.
        height: the extent of the map in the north.
    """

    epsilon: Epsilon
    width: Rational
    height: Rational

    def __post_init__(self) -> None:
        if self.width <= 0 or self.height <= 0:
            size = f"{show(self.width)} x {show(self.height)}"
            raise ScenarioError("location", f"a map of {size}", place="width", hint="above 0")

    def inside(self, place: Place, bits: int = 64) -> arb:
        """The probability Z(x) that the noise around a place stays on the map.

        In polar form it is the mean over all directions of ``1 - (1 + epsilon r) e^(-epsilon r)`` with r the way to the edge;
        towards a side at distance D, at an angle t from its normal, r is ``D / cos t``.
        """
        x, y = (rational(each) for each in place)
        with precision(bits):
            total = arb(0)
            for far in (x, self.width - x):
                total += self._piece(far, y, bits) + self._piece(far, self.height - y, bits)
            for far in (y, self.height - y):
                total += self._piece(far, x, bits) + self._piece(far, self.width - x, bits)
            return total / (2 * arb.pi())

    def _piece(self, far: Rational, aside: Rational, bits: int) -> arb:
        """The integral over the directions between the normal of a side and one of its ends."""
        if far == 0 or aside == 0:
            return arb(0)
        reach = self.epsilon.ball(bits) * arb(far)

        def covered(angle: acb, _: object) -> acb:
            way = reach / angle.cos()
            return 1 - (1 + way) * (-way).exp()

        return acb.integral(covered, 0, arb(aside / far).atan()).real

    def density(self, place: Place, output: Place, bits: int = 64) -> arb:
        """The density of the report at an output on the map."""
        with precision(bits):
            away = distance(place, output)
            return PlanarLaplace(self.epsilon).density(away, bits) / self.inside(place, bits)

    def __str__(self) -> str:
        return (
            f"planar Laplace noise, epsilon = {self.epsilon.show()} per unit of distance, "
            f"drawn again until it lies on a map of {self.width} x {self.height}"
        )


@dataclass(frozen=True)
class ShrunkLaplace:
    """Planar Laplace noise whose northern part is multiplied by the sine of the latitude: an exhibit.

    This happens, to first order, where noise is added to the x and y of geocentric coordinates and z is kept: the part of the noise
    that points away from the axis of the earth moves the place by only ``sin(latitude)`` of its length along the meridian.

    Attributes:
        epsilon: the rate of the noise, which is kept in the direction east alone.
        latitude: in degrees.
    """

    epsilon: Epsilon
    latitude: Rational

    def __post_init__(self) -> None:
        if abs(self.latitude) > 90:
            told = f"latitude = {show(self.latitude)}"
            raise ScenarioError("location", told, place="latitude", hint="-90 to 90 degrees")

    def shrinking(self, bits: int = 128) -> arb:
        """The factor of the noise in the direction north."""
        with precision(bits):
            return abs((arb(self.latitude) / 180).sin_pi())

    def density(self, place: Place, output: Place, bits: int = 128) -> arb:
        """The density of the report, away from the equator."""
        with precision(bits):
            factor = self.shrinking(bits)
            east, north = (arb(rational(output[k]) - rational(place[k])) for k in (0, 1))
            away = (east**2 + (north / factor) ** 2).sqrt()
            return PlanarLaplace(self.epsilon).density(away, bits) / factor

    def __str__(self) -> str:
        return (
            f"planar Laplace noise, epsilon = {self.epsilon.show()} per unit of distance, "
            f"multiplied by sin({self.latitude}°) in the direction north"
        )


LocationMechanism: TypeAlias = (
    PlanarGeometric | PlanarLaplace | Clamped | Resampled | Channel | ResampledLaplace | ShrunkLaplace
)
