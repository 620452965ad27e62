"""The best mechanism for the places of a small map, by linear programming.

Among all tables of probabilities that keep ``P(z | x) <= e^(epsilon d(x, x')) P(z | x')`` for all places x, x' and reports z, the one with
the least expected distance between the place and its report, under a prior of where people are, is the solution of a linear program
(Bordenabe, Chatzikokolakis and Palamidessi 2014).  It has n^2 unknowns and n^3 conditions for n places, so maps are small.

The program is solved in floats.  A little of the table that tells nothing is then mixed in, which leaves room in every condition, and
probabilities are rounded to rationals: what is returned is verified exactly, with a certificate, before it is returned.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from math import exp, hypot
from typing import TYPE_CHECKING, Any

import numpy as np

from privproof.errors import QuestionError, ScenarioError
from privproof.exact import EpsilonLike, Number, Rational, fraction, rational, show
from privproof.exact import epsilon as exact_epsilon
from privproof.language.randomness import drawing_from, pick, release_source
from privproof.release.locations.location_channels import Channel
from privproof.release.locations.location_findings import LocationFinding
from privproof.release.locations.location_maps import Map
from privproof.release.locations.location_verification import verify_locations
from privproof.release.locations.planar_noise import Site

if TYPE_CHECKING:
    from privproof.language.randomness import Seed

_MOST_SITES = 40
"""Places of a map; the program has their cube as conditions, 64,000, and takes some ten seconds."""
_PARTS = 10**12
"""Probabilities are multiples of one part in so many."""
_MIXED = (1e-6, 1e-4, 1e-2)
"""Shares of the table that tells nothing, tried in this order: the first that is proved is taken."""


@dataclass(frozen=True)
class Optimal:
    """The best table of a map, and the proof that it keeps its rate.

    Attributes:
        map: the map.
        channel: the table; outputs are named by their site, ``"3, 4"``.
        finding: the verdict on it.
        expected_distance: between a place and its report, under the prior.
    """

    map: Map
    channel: Channel
    finding: LocationFinding
    expected_distance: Fraction

    def release(self, site: Site, *, seed: Seed = None) -> Site:
        """A report of a place, drawn exactly from the operating system's generator; with a seed, for tests alone."""
        if site not in self.map:
            raise ScenarioError("location", f"{site} is not on the map", place="site", hint="map.nearest(site)")
        assert self.channel.rows is not None
        row = self.channel.rows[site]
        with drawing_from(release_source(seed)):
            return self.map.sites[pick([fraction(row[_name(each)]) for each in self.map.sites])]

    def __str__(self) -> str:
        return f"the best of all tables for {self.map}: {float(self.expected_distance):.6g} from the place in the mean"


def optimal(map: Map, epsilon: EpsilonLike, *, prior: Mapping[Site, Number] | None = None) -> Optimal:
    """The mechanism on the places of a map with the least expected distance, at a rate per unit of distance.

    Args:
        map: the map, with at most 40 places.
        epsilon: the rate.
        prior: how often people are at every place; without it all places alike.  Privacy does not depend on it.

    Raises:
        QuestionError: the map is too large, or no table was found.

    >>> best = optimal(Map.rectangle((0, 0), (2, 1)), "ln(2)")
    >>> best.finding.status, f"{float(best.expected_distance):.3f}"
    ('proved', '0.860')
    """
    sites = map.sites
    if not 2 <= len(sites) <= _MOST_SITES:
        raise QuestionError(
            "size", f"a map of {len(sites)} places", place="map", hint=f"2..{_MOST_SITES}; clamped(...) takes any map"
        )
    shares = _shares(sites, prior)
    rate = float(exact_epsilon(epsilon).ball())
    step = float(map.step)
    apart = np.array([[step * hypot(x[0] - z[0], x[1] - z[1]) for z in sites] for x in sites])
    table = _solve_table(np.array([float(share) for share in shares]), apart, rate)
    for mixed in _MIXED:
        channel = Channel.of(_exact((1 - mixed) * table + mixed / len(sites), sites), step=map.step)
        finding = verify_locations(channel, epsilon)
        if finding.status == "proved":
            return Optimal(map, channel, finding, _expected_distance(channel, shares, apart, sites))
    raise QuestionError(
        "optimal", "the solution in floats was not precise enough", place="epsilon", hint="a larger rate"
    )


def _shares(sites: tuple[Site, ...], prior: Mapping[Site, Number] | None) -> list[Rational]:
    given = [rational(1)] * len(sites) if prior is None else [rational(prior.get(site, 0)) for site in sites]
    unknown = [site for site in prior or () if site not in sites]
    total = sum(given, rational(0))
    if unknown or any(share < 0 for share in given) or total <= 0:
        said = f"{unknown[0]} is not on the map" if unknown else f"the shares sum to {show(total)}"
        raise ScenarioError("prior", said, place="prior", hint="a share for every place of the map")
    return [share / total for share in given]


def _solve_table(shares: np.ndarray, apart: np.ndarray, rate: float) -> np.ndarray:
    """The table with the least expected distance, in floats."""
    from scipy.optimize import linprog  # here, because only this needs them
    from scipy.sparse import coo_matrix

    size = len(shares)
    pairs = [(x, y) for x in range(size) for y in range(size) if x != y]
    conditions = np.arange(len(pairs) * size)
    here = np.array([x * size + z for x, _ in pairs for z in range(size)])
    there = np.array([y * size + z for _, y in pairs for z in range(size)])
    factors = np.array([exp(min(rate * apart[x, y], 300.0)) for x, y in pairs for _ in range(size)])
    rows, columns = np.concatenate([conditions, conditions]), np.concatenate([here, there])
    entries = np.concatenate([1 / factors, -np.ones(len(factors))])
    kept = coo_matrix((entries, (rows, columns)), shape=(len(conditions), size * size)).tocsr()
    sums = coo_matrix(
        (np.ones(size * size), (np.repeat(np.arange(size), size), np.arange(size * size))), shape=(size, size * size)
    ).tocsr()
    found: Any = linprog(  # type: ignore[call-overload]
        (shares[:, None] * apart).ravel(),
        A_ub=kept,
        b_ub=np.zeros(len(conditions)),
        A_eq=sums,
        b_eq=np.ones(size),
        bounds=(0, 1),
        method="highs",
    )
    if not found.success:
        raise QuestionError("optimal", f"no table was found: {found.message}", place="map", hint="fewer places")
    table: np.ndarray = np.maximum(found.x.reshape(size, size), 0.0)
    table /= table.sum(axis=1, keepdims=True)
    return table


def _exact(table: np.ndarray, sites: tuple[Site, ...]) -> dict[Site, dict[str, Number]]:
    """Rationals near the entries, whose rows sum to one: what rounding leaves over goes to the largest."""
    rows: dict[Site, dict[str, Number]] = {}
    for site, row in zip(sites, table.tolist(), strict=True):
        parts = [int(p * _PARTS) for p in row]
        parts[parts.index(max(parts))] += _PARTS - sum(parts)
        rows[site] = {_name(z): Fraction(part, _PARTS) for z, part in zip(sites, parts, strict=True)}
    return rows


def _name(site: Site) -> str:
    return f"{site[0]}, {site[1]}"


def _expected_distance(
    channel: Channel, shares: list[Rational], apart: np.ndarray, sites: tuple[Site, ...]
) -> Fraction:
    """The expected distance; distances are rounded up to the next float."""
    assert channel.rows is not None
    total = Fraction(0)
    for i, (site, share) in enumerate(zip(sites, shares, strict=True)):
        row = channel.rows[site]
        far = sum(
            (fraction(row[_name(z)]) * Fraction(float(np.nextafter(apart[i, j], np.inf))) for j, z in enumerate(sites)),
            Fraction(0),
        )
        total += fraction(share) * far
    return total
