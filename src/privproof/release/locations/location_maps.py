"""Maps: finitely many sites that a report may name, and how a report is brought onto them.

* `clamped`: the nearest site of the map.  It looks at the noisy report alone, so it is post-processing and costs nothing.
* `remapped`: clamped, and then each site replaced by the one that is best for a public prior (Chatzikokolakis, ElSalamouny and
  Palamidessi, PETS 2017), which looks at the report alone too.
* `Resampled` draws again until the report lies on the map.  This is **not** post-processing: it divides by the probability ``Z(x)``
  of hitting the map, which depends on the place x, and is here to be refuted.

The probabilities of clamped reports are sums over cells without end: points, rays and quadrants of the grid, all enclosed
rigorously. `Projection` brings latitude and longitude to metres.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
from flint import arb, fmpq, fmpz

from privproof.errors import ScenarioError
from privproof.exact import ZERO, Epsilon, Number, Rational, from_float, rational, show
from privproof.exact.balls import precision, rational_bounds
from privproof.release.locations.planar_noise import PlanarGeometric, Site, a_site, several

if TYPE_CHECKING:
    from privproof.language.randomness import Seed

Row: TypeAlias = dict[Site, arb]

_MOST_SITES = 100_000
"""The sites of a map that are listed; beyond, the map is refused."""
_MOST_REMAPPED = 400
"""The sites of a map for which a table of best reports is made, cubic in their number; beyond, it is refused."""
_MOST_ENUMERATED = 4_000_000
"""Offsets added one by one for the cells of a map that is no rectangle; beyond, it is refused."""


@dataclass(frozen=True)
class Map:
    """A finite set of sites of a grid.

    Attributes:
        step: the step of the grid, in the unit of distance.
        corners: for a rectangle the sites at its south-west and north-east corners.
        listed: for any other map its sites, sorted.

    >>> town = Map.rectangle((0, 0), (9, 4), step=100)
    >>> len(town.sites), town.nearest((12, 3)), (12, 3) in town
    (50, (9, 3), False)
    """

    step: Rational
    corners: tuple[Site, Site] | None = None
    listed: tuple[Site, ...] = ()

    @classmethod
    def rectangle(cls, south_west: Site, north_east: Site, *, step: Number = 1) -> Map:
        """All sites between two corners, which belong to the map."""
        low, high = a_site(south_west, "south_west"), a_site(north_east, "north_east")
        if low[0] > high[0] or low[1] > high[1]:
            raise ScenarioError(
                "location",
                f"no site lies between {low} and {high}",
                place="corners",
                hint="the south-west corner first",
            )
        return cls(_step(step), (low, high))

    @classmethod
    def of(cls, sites: Iterable[Site], *, step: Number = 1) -> Map:
        """A map of listed sites."""
        found = sorted({a_site(site, "sites") for site in sites})
        if not found:
            raise ScenarioError("location", "a map without a site", place="sites", hint="one site or more")
        if len(found) > _MOST_SITES:
            raise ScenarioError("location", f"{len(found)} sites", place="sites", hint=f"at most {_MOST_SITES}")
        return cls(_step(step), None, tuple(found))

    @cached_property
    def sites(self) -> tuple[Site, ...]:
        """The sites, column by column."""
        if self.corners is None:
            return self.listed
        (west, south), (east, north) = self.corners
        count = (east - west + 1) * (north - south + 1)
        if count > _MOST_SITES:
            raise ScenarioError(
                "location", f"the map has {count} sites", place="map", hint=f"at most {_MOST_SITES} are listed"
            )
        return tuple((i, j) for i in range(west, east + 1) for j in range(south, north + 1))

    @cached_property
    def _known(self) -> frozenset[Site]:
        return frozenset(self.listed)

    def __contains__(self, site: Site) -> bool:
        return self.nearest(site) == site if self.corners is not None else site in self._known

    def nearest(self, site: Site) -> Site:
        """The site of the map that is nearest to any site of the grid; of several the first in order."""
        if self.corners is not None:
            (west, south), (east, north) = self.corners
            return min(max(site[0], west), east), min(max(site[1], south), north)
        return min(self.listed, key=lambda each: ((each[0] - site[0]) ** 2 + (each[1] - site[1]) ** 2, each))

    @property
    def bounds(self) -> tuple[Site, Site]:
        """The corners of the smallest rectangle around the map."""
        if self.corners is not None:
            return self.corners
        east, north = (max(site[k] for site in self.listed) for k in (0, 1))
        return (min(site[0] for site in self.listed), min(site[1] for site in self.listed)), (east, north)

    def document(self) -> dict[str, object]:
        """The map as plain data."""
        if self.corners is not None:
            return {"kind": "rectangle", "corners": [list(corner) for corner in self.corners]}
        return {"kind": "sites", "sites": [list(site) for site in self.listed]}

    def __str__(self) -> str:
        if self.corners is None:
            return f"a map of {len(self.listed)} sites, step {self.step}"
        (west, south), (east, north) = self.corners
        return f"a map of {east - west + 1} x {north - south + 1} sites, step {self.step}"


@dataclass(frozen=True)
class Clamped:
    """Planar geometric noise, and then the nearest site of a map; or what a public table puts in the place of that site.

    Attributes:
        noise: the noise.
        map: the map.
        table: for every site of the map what is reported instead; empty for the site itself.
    """

    noise: PlanarGeometric
    map: Map
    table: Mapping[Site, Site]

    @property
    def epsilon(self) -> Epsilon:
        """The rate that is promised: that of the noise."""
        return self.noise.epsilon

    def release(self, site: Site, *, seed: Seed = None) -> Site:
        """A report of a site, drawn exactly, from the operating system's generator; from a seed only for tests."""
        reported = self.map.nearest(self.noise.release(site, seed=seed))
        return self.table.get(reported, reported)

    def row(self, site: Site, bits: int = 128) -> Row:
        """The probability of every report of a site of the map."""
        cells = _cells(self.noise, self.map, _inside(site, self.map), bits)
        if not self.table:
            return cells
        merged: Row = {}
        with precision(bits):
            for reported, probability in cells.items():
                target = self.table.get(reported, reported)
                merged[target] = merged[target] + probability if target in merged else probability
        return merged

    def expected_distance(self, prior: Mapping[Site, Number], bits: int = 128) -> arb:
        """The expected distance between a site drawn from the prior and its report, in the unit of distance."""
        with precision(bits):
            total = arb(0)
            for site, mass in _prior(prior, self.map).items():
                for reported, probability in self.row(site, bits).items():
                    squared = (site[0] - reported[0]) ** 2 + (site[1] - reported[1]) ** 2
                    total += arb(mass) * probability * arb(squared).sqrt()
            return total * arb(self.map.step)

    def after(self, reports: int) -> Epsilon:
        """What so many independent reports of the same site cost."""
        return several(self.epsilon, reports)

    def __str__(self) -> str:
        return f"{self.noise}, {'remapped on' if self.table else 'clamped to'} {self.map}"


@dataclass(frozen=True)
class Resampled:
    """Planar geometric noise that is drawn again until it lies on the map: an exhibit, not to be released with.

    Attributes:
        noise: the noise.
        map: the map.
    """

    noise: PlanarGeometric
    map: Map

    @property
    def epsilon(self) -> Epsilon:
        """The rate of the noise, which this mechanism does not keep."""
        return self.noise.epsilon

    def row(self, site: Site, bits: int = 128) -> Row:
        """The probability of every report of a site: ``e^(-epsilon |z - x|) / Z(x)``, with Z(x) the sum over the map."""
        _inside(site, self.map)
        with precision(bits):
            sums = _sums(self.noise, bits)
            weights = {each: sums.point(each[0] - site[0], each[1] - site[1]) for each in self.map.sites}
            total = sum(weights.values(), arb(0))
            return {each: weight / total for each, weight in weights.items()}

    def __str__(self) -> str:
        return f"{self.noise}, drawn again until it lies on {self.map}"


def clamped(noise: PlanarGeometric, map: Map) -> Clamped:
    """The noise, and then the nearest site of the map.

    >>> mechanism = clamped(PlanarGeometric.of("ln(2)"), Map.rectangle((0, 0), (2, 2)))
    >>> [mechanism.release((0, 0), seed=seed) for seed in range(1, 5)]
    [(1, 1), (0, 0), (0, 0), (0, 0)]
    """
    return Clamped(noise, _same_grid(noise, map), {})


def remapped(noise: PlanarGeometric, map: Map, prior: Mapping[Site, Number]) -> Clamped:
    """Clamped noise, each report replaced by the site with the least expected distance under a public prior.

    The prior must not be learnt from the data that are protected.  The table is searched for with floats: whichever it is, the
    promise holds, because it looks at the report alone.

    >>> mechanism = remapped(PlanarGeometric.of("ln(2)"), Map.rectangle((0, 0), (2, 0)), {(0, 0): "0.9", (1, 0): "0.05", (2, 0): "0.05"})
    >>> mechanism.table[2, 0]
    (0, 0)
    """
    _same_grid(noise, map)
    masses = _prior(prior, map)
    if len(map.sites) > _MOST_REMAPPED:
        hint = f"at most {_MOST_REMAPPED}, or a coarser step"
        raise ScenarioError("location", f"a table for {len(map.sites)} sites is too much", place="map", hint=hint)
    plain = clamped(noise, map)
    places = np.array(map.sites, dtype=float)
    believed = np.array([float(arb(masses.get(site, ZERO))) for site in map.sites])
    channel = np.array([[float(p) for p in plain.row(site, 64).values()] for site in map.sites])
    distances = np.hypot(*(places[:, None, :] - places[None, :, :]).transpose(2, 0, 1))
    best = np.argmin((channel * believed[:, None]).T @ distances, axis=1)
    return Clamped(noise, map, {site: map.sites[int(k)] for site, k in zip(map.sites, best, strict=True)})


def _cells(noise: PlanarGeometric, map: Map, site: Site, bits: int) -> Row:
    """The probability that the nearest site of the map to a noisy report is each of its sites."""
    (west, south), (east, north) = map.bounds
    with precision(64):
        lost = noise.rate(64) * (abs(east - west) + abs(north - south) + 2) / arb(2).log()
        work = bits + 64 + int(rational_bounds(lost)[1].ceil())
    with precision(work):
        sums = _sums(noise, work)
        total = noise.normaliser(work)
        if map.corners is None:
            return {each: weight / total for each, weight in _enumerate_weights(noise, map, site, work).items()}
        return {
            each: sums.cell(_range(each[0], site[0], west, east), _range(each[1], site[1], south, north)) / total
            for each in map.sites
        }


# A range of one coordinate of offsets, as parts: (k, False) is k alone, (k, True) is k and all beyond, away from 0, with k >= 0.
_Parts: TypeAlias = tuple[tuple[int, bool], ...]


def _range(target: int, here: int, low: int, high: int) -> _Parts:
    """The offsets that are brought to the target, up to reflection: ``here`` lies between low and high."""
    if low == high:
        return (0, True), (1, True)
    if target == low:
        return ((here - low, True),)
    return ((high - here, True),) if target == high else ((abs(target - here), False),)


class _WeightSums:
    """Sums of weights over points, rays and quadrants of the grid."""

    def __init__(self, noise: PlanarGeometric, bits: int) -> None:
        self.noise, self.bits, self.rate = noise, bits, noise.rate(bits)
        self.weights: dict[int, arb] = {}
        self.rays: dict[tuple[int, int], arb] = {}
        self.quadrants: dict[tuple[int, int], arb] = {}

    def point(self, i: int, j: int) -> arb:
        """The weight of an offset."""
        squared = i * i + j * j
        if squared not in self.weights:
            self.weights[squared] = (-self.rate * arb(squared).sqrt()).exp()
        return self.weights[squared]

    def cell(self, across: _Parts, along: _Parts) -> arb:
        """The weight of a product of two ranges."""
        total = arb(0)
        for i, endless in across:
            for j, endless_too in along:
                if endless and endless_too:
                    total += self.quadrant(i, j)
                else:
                    total += self.ray(j, i) if endless else self.ray(i, j) if endless_too else self.point(i, j)
        return total

    def ray(self, aside: int, start: int) -> arb:
        """The offsets (aside, j) with j >= start >= 0.

        The length grows by at least ``K / sqrt(aside^2 + K^2)`` with every step from j = K on, so the rest is at most a geometric
        series.
        """
        if (aside, start) not in self.rays:
            self.rays[aside, start] = self._ray(aside, start)
        return self.rays[aside, start]

    def _ray(self, aside: int, start: int) -> arb:
        if aside == 0:
            return (-self.rate * start).exp() / (1 - (-self.rate).exp())
        small = arb(2) ** -self.bits * self.point(aside, start)
        total, j = arb(0), start
        while True:
            length = arb(aside * aside + j * j).sqrt()
            weight = (-self.rate * length).exp()
            if j > start and j % 16 == 0:
                rest = weight / (1 - (-self.rate * j / length).exp())
                if rest < small:
                    return total + rest.union(arb(0))
            total += weight
            j += 1

    def quadrant(self, i: int, j: int) -> arb:
        """The offsets from (i, j) on in both directions, i, j >= 0: what is left of the whole grid's quarter."""
        if (i, j) not in self.quadrants:
            self.quadrants[i, j] = self._quadrant(i, j)
        return self.quadrants[i, j]

    def _quadrant(self, i: int, j: int) -> arb:
        if i == 0:
            return self.ray(0, j) + self.quadrant(1, j)
        if j == 0:
            return self.quadrant(0, i)
        if i == 1 and j == 1:
            return (self.noise.normaliser(self.bits) - 1) / 4 - self.ray(0, 1)
        if j > 1:
            return self.quadrant(i, j - 1) - self.ray(j - 1, i)
        return self.quadrant(i - 1, 1) - self.ray(i - 1, 1)


@lru_cache(maxsize=8)
def _sums(noise: PlanarGeometric, bits: int) -> _WeightSums:
    return _WeightSums(noise, bits)


def _enumerate_weights(noise: PlanarGeometric, map: Map, site: Site, bits: int) -> Row:
    """The weights of the cells of listed sites: offsets up to a reach one by one, and all beyond may belong to any cell."""
    rate = noise.rate(bits)
    reach = 4 + int(rational_bounds(arb(2).log() * bits / rate)[1].ceil())
    if (2 * reach + 1) ** 2 > _MOST_ENUMERATED:
        raise ScenarioError(
            "location",
            f"the cells of a map that is no rectangle are summed over {(2 * reach + 1) ** 2} sites, more than {_MOST_ENUMERATED}",
            place="map",
            hint="a coarser step, or a rectangle",
        )
    line = np.arange(-reach, reach + 1, dtype=np.int64)
    across, along = np.meshgrid(line, line, indexing="ij")
    best = np.zeros_like(across)
    least: np.ndarray | None = None
    for number, each in enumerate(map.sites):
        squared = (across + site[0] - each[0]) ** 2 + (along + site[1] - each[1]) ** 2
        nearer = np.ones_like(squared, dtype=bool) if least is None else squared < least
        best = np.where(nearer, number, best)
        least = squared if least is None else np.minimum(least, squared)
    sums = _sums(noise, bits)
    ratio, start = (-rate).exp(), reach + 1
    tail = 8 * ratio**start * start / (1 - ratio) ** 2
    result: Row = {}
    lengths = across**2 + along**2
    for number, each in enumerate(map.sites):
        values, counts = np.unique(lengths[best == number], return_counts=True)
        total = tail.union(arb(0))
        for squared, count in zip(values.tolist(), counts.tolist(), strict=True):
            if squared not in sums.weights:
                sums.weights[squared] = (-rate * arb(squared).sqrt()).exp()
            total += count * sums.weights[squared]
        result[each] = total
    return result


_EQUATOR = 6_378_137  # the semi-major axis of WGS 84 in metres
_FLATTENING = fmpq(1_000_000_000, 298_257_223_563)
"""The flattening of WGS 84, 1/298.257223563, exactly."""


@dataclass(frozen=True)
class Projection:
    """Latitude and longitude as metres north and east of a reference place.

    A degree of longitude is shorter by the cosine of the latitude than one of latitude; both are taken at the reference on the WGS
    84 ellipsoid, and the surface as flat.  So noise is equal in all directions near the reference, and `distortion` says how much a
    metre east is off elsewhere.  Distances of the promise are distances in this projection.

    Attributes:
        latitude: the reference, in degrees.
        longitude: the reference, in degrees.
        north: the metres of a degree of latitude.
        east: the metres of a degree of longitude.

    >>> prague = Projection.at("50.0875", "14.4213")
    >>> round(float(prague.north.p) / float(prague.north.q)), round(float(prague.east.p) / float(prague.east.q))
    (111231, 71566)
    >>> prague.site("50.0880", "14.4213", step=10), prague.site("50.0875", "14.4220", step=10)
    ((0, 6), (5, 0))
    """

    latitude: Rational
    longitude: Rational
    north: Rational
    east: Rational

    @classmethod
    def at(cls, latitude: Number | float, longitude: Number | float) -> Projection:
        """The projection around a reference, which is public: never the place that is protected."""
        here, there = _degrees(latitude, 85, "latitude"), _degrees(longitude, 180, "longitude")
        return cls(here, there, *_metres(here))

    def metres(self, latitude: Number | float, longitude: Number | float) -> tuple[Rational, Rational]:
        """Metres east and north of the reference; floats are taken at their exact values."""
        up, around = _degrees(latitude, 90, "latitude"), _degrees(longitude, 180, "longitude")
        turn = around - self.longitude
        turn -= 360 * fmpq((turn / 360 + fmpq(1, 2)).floor())
        return turn * self.east, (up - self.latitude) * self.north

    def site(self, latitude: Number | float, longitude: Number | float, *, step: Number) -> Site:
        """The site of a grid of so many metres that is nearest to a place."""
        return PlanarGeometric.of(1, step=step).site(*self.metres(latitude, longitude))

    def coordinates(self, site: Site, *, step: Number) -> tuple[float, float]:
        """The latitude and longitude of a site."""
        east, north = (each * _step(step) for each in a_site(site, "site"))
        up, around = self.latitude + north / self.north, self.longitude + east / self.east
        around -= 360 * fmpq((around / 360 + fmpq(1, 2)).floor())
        return round(float(arb(up)), 9), round(float(arb(around)), 9)

    def distortion(self, latitude: Number | float) -> float:
        """How many metres a metre east of this projection really is at another latitude.

        >>> round(Projection.at(50, 14).distortion("50.5"), 4)
        0.9896
        """
        return float(arb(_metres(_degrees(latitude, 90, "latitude"))[1] / self.east))


def _metres(latitude: Rational) -> tuple[Rational, Rational]:
    """The metres of a degree of latitude and of longitude, to a micrometre."""
    eccentricity = _FLATTENING * (2 - _FLATTENING)
    with precision(128):
        sine, cosine = (latitude / 180 * arb.pi()).sin(), (latitude / 180 * arb.pi()).cos()
        bend = 1 - arb(eccentricity) * sine**2
        degree = arb.pi() / 180 * _EQUATOR
        both = degree * (1 - arb(eccentricity)) / (bend * bend.sqrt()), degree * cosine / bend.sqrt()
        north, east = (fmpq((rational_bounds(each)[0] * 10**6).floor(), fmpz(10) ** 6) for each in both)
    return north, east


def _step(value: Number) -> Rational:
    step = rational(value)
    if step <= 0:
        raise ScenarioError("location", f"step = {show(step)}", place="step", hint="a number above 0")
    return step


def _degrees(value: Number | float, most: int, place: str) -> Rational:
    number = from_float(value) if isinstance(value, float) and value == value and abs(value) < 1000 else rational(value)  # type: ignore[arg-type]
    if abs(number) > most:
        hint = f"degrees from -{most} to {most}" + (", as the projection is flat" if most == 85 else "")
        raise ScenarioError("location", f"{place} = {value}", place=place, hint=hint)
    return number


def _inside(site: Site, map: Map) -> Site:
    if a_site(site, "site") not in map:
        raise ScenarioError(
            "location", f"the site {site} is not on {map}", place="site", hint=f"the nearest is {map.nearest(site)}"
        )
    return site


def _same_grid(noise: PlanarGeometric, map: Map) -> Map:
    if noise.step != map.step:
        raise ScenarioError(
            "location",
            f"the noise has the step {show(noise.step)}, the map the step {show(map.step)}",
            place="map",
            hint=f'step="{noise.step}" for the map',
        )
    return map


def _prior(prior: Mapping[Site, Number], map: Map) -> dict[Site, Rational]:
    masses = {_inside(a_site(site, "prior"), map): rational(mass) for site, mass in prior.items()}
    total = sum(masses.values(), ZERO)
    if total != 1 or any(mass < 0 for mass in masses.values()):
        raise ScenarioError(
            "row-sum", f"the prior sums to {show(total)}", place="prior", hint="masses of 0 or more that sum to 1"
        )
    return masses
