"""All pairs of sites with all outputs, by rigorous enclosures, or exactly where the probabilities are rational."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from math import isqrt

import numpy as np
from flint import arb, fmpq

from privproof.errors import BudgetError, ScenarioError
from privproof.evidence.verdicts import Status
from privproof.exact import Epsilon, Rational, epsilon
from privproof.exact.balls import precision
from privproof.release.locations.location_channels import Channel
from privproof.release.locations.location_findings import LocationFinding, Method, loss_between
from privproof.release.locations.location_maps import Clamped, Map, Resampled
from privproof.release.locations.planar_noise import Site, a_site

_MOST_BITS = 2048
"""The precision at which a loss that is not told from epsilon is given up; the verdict is then unknown."""
_MOST_COMPARED = 6_000_000
"""Comparisons in ball arithmetic; with more, a map on which no violation is found is unknown, with a hint to name sites."""
_MOST_SEARCHED = 400_000_000
"""Comparisons in floats in search of the worst pair; beyond, the question is refused."""
_MOST_LOOKED_AT = 150
"""Where the promise is known already, a map of more sites is represented by four near its middle."""


def middle_of(map: Map) -> tuple[Site, ...] | None:
    """Of a large map some neighbouring sites: the promise is known, and they show how much of it is used."""
    if len(map.sites) <= _MOST_LOOKED_AT:
        return None
    centre = map.sites[len(map.sites) // 2]
    near = sorted(map.sites, key=lambda site: ((site[0] - centre[0]) ** 2 + (site[1] - centre[1]) ** 2, site))
    return tuple(near[:4])


def compared_sites(mechanism: Clamped | Resampled | Channel, sites: Sequence[Site] | None) -> tuple[Site, ...]:
    """The sites to compare."""
    known = mechanism.sites if isinstance(mechanism, Channel) else mechanism.map.sites
    listed = known if sites is None else tuple(dict.fromkeys(a_site(site, "sites") for site in sites))
    for site in listed:
        if site not in known:
            raise ScenarioError("location", f"the site {site} is not among those of {mechanism}", place="sites")
    if len(listed) < 2:
        raise ScenarioError("location", f"{len(listed)} site compares with nothing", place="sites", hint="two or more")
    outputs = len(mechanism.outputs if isinstance(mechanism, Channel) else mechanism.map.sites)
    if len(listed) ** 2 // 2 * outputs > _MOST_SEARCHED:
        raise ScenarioError(
            "location",
            f"{len(listed)} sites with {outputs} outputs are too many comparisons",
            place="sites",
            hint=f"sites=[...] names the ones to compare, such as sites=[{listed[0]}, {listed[1]}]",
        )
    return listed


class SiteComparison:
    """All pairs of some sites with all outputs of a mechanism."""

    def __init__(
        self,
        mechanism: Clamped | Resampled | Channel,
        allowed: Epsilon,
        sites: tuple[Site, ...],
        named: tuple[Site, ...] | None,
        pause: Callable[[], None],
    ) -> None:
        self.mechanism, self.allowed, self.sites = mechanism, allowed, sites
        self.named, self.pause = named, pause
        self.step = mechanism.step if isinstance(mechanism, Channel) else mechanism.map.step
        self.row = lru_cache(maxsize=None)(self._row)
        if isinstance(mechanism, Channel):
            self.outputs = mechanism.outputs
        elif isinstance(mechanism, Clamped):
            self.outputs = tuple(dict.fromkeys(mechanism.table.get(site, site) for site in mechanism.map.sites))
        else:
            self.outputs = mechanism.map.sites

    def _row(self, site: Site, bits: int) -> tuple[arb, ...]:
        """The probabilities for a site as balls; an exact zero is the ball 0."""
        with precision(bits):
            if isinstance(self.mechanism, Channel):
                row = tuple(arb(self.mechanism.probability(site, output, bits)) for output in self.outputs)
            else:
                cells = self.mechanism.row(site, bits)
                row = tuple(cells[output] for output in self.outputs)
            total = sum(row, arb(0))
            if not total.overlaps(arb(1)) or any(value < 0 for value in row):
                raise ScenarioError(
                    "row-sum",
                    f"the probabilities for {site} sum to {total.str(12)}",
                    place="channel",
                    hint="each row sums to 1",
                )
            return row

    def squared(self, left: Site, right: Site) -> Rational:
        """The squared distance of two sites."""
        return self.step**2 * ((left[0] - right[0]) ** 2 + (left[1] - right[1]) ** 2)

    def finding(self, bits: int) -> LocationFinding:
        """The verdict, with the worst pair."""
        worst = self._worst(bits)
        sound = isinstance(self.mechanism, Clamped) and self.mechanism.epsilon.compare(self.allowed) <= 0
        if sound:
            return self._found("proved", worst, bits, "triangle inequality")
        if self._sign(*worst, bits) == 1:
            return self._found("refuted", worst, bits, "one output")
        if len(self.sites) ** 2 // 2 * len(self.outputs) > _MOST_COMPARED:
            reason = f"no pair was found to exceed epsilon, and more than {_MOST_COMPARED} comparisons were not made: name sites"
            return self._found("unknown", worst, bits, "every pair", reason)
        undecided = None
        for left, right, number in self._open(bits):
            self.pause()
            sign = self._settled(left, right, number, bits)
            if sign == 1:
                return self._found("refuted", (left, right, number), bits, "one output")
            if sign is None:
                undecided = undecided or (left, right, number)
        if undecided is None:
            return self._found("proved", worst, bits, "every pair")
        reason = f"the loss of this pair is not told from epsilon with {_MOST_BITS} bits"
        return self._found("unknown", undecided, bits, "every pair", reason)

    def _worst(self, bits: int) -> tuple[Site, Site, int]:
        """The ordered pair and the output with the greatest loss, searched for with floats; the first of equals."""
        table = np.array([[_logarithm(value) for value in self.row(site, bits)] for site in self.sites])
        best, found = -1.0, (self.sites[0], self.sites[1], 0)
        with np.errstate(invalid="ignore"):
            for k, left in enumerate(self.sites):
                self.pause()
                for m in range(k + 1, len(self.sites)):
                    right = self.sites[m]
                    losses = np.nan_to_num(table[k] - table[m], nan=0.0, posinf=np.inf, neginf=-np.inf)
                    losses /= float(arb(self.squared(left, right)).sqrt())
                    number = int(np.argmax(np.abs(losses) >= np.abs(losses).max() * (1 - 1e-12)))
                    if abs(losses[number]) > best * (1 + 1e-12):
                        best = float(abs(losses[number]))
                        found = (left, right, number) if losses[number] > 0 else (right, left, number)
        return found

    def _open(self, bits: int) -> list[tuple[Site, Site, int]]:
        """The ordered pairs and outputs whose loss is not seen to be allowed."""
        result = []
        with precision(bits):
            rate = self.allowed.ball(bits)
            logarithms = {
                site: [value.log() if value > 0 else None for value in self.row(site, bits)] for site in self.sites
            }
            for k, left in enumerate(self.sites):
                self.pause()
                for right in self.sites[k + 1 :]:
                    cap = rate * arb(self.squared(left, right)).sqrt()
                    for number, (a, b) in enumerate(zip(logarithms[left], logarithms[right], strict=True)):
                        if a is None or b is None or not -cap <= a - b <= cap:
                            result += [(left, right, number), (right, left, number)]
        return result

    def _sign(self, left: Site, right: Site, number: int, bits: int) -> int | None:
        """The sign of ``P(z | x) - e^(epsilon d) P(z | x')``, by balls; 0 for at most 0, None where they do not tell."""
        with precision(bits):
            mine, other = self.row(left, bits)[number], self.row(right, bits)[number]
            bound = (self.allowed.ball(bits) * arb(self.squared(left, right)).sqrt()).exp() * other
            return 1 if mine > bound else 0 if mine <= bound else None

    def _settled(self, left: Site, right: Site, number: int, bits: int) -> int | None:
        """The same, with as much precision as it takes."""
        exactly = self._exactly(left, right, number)
        while exactly is None and bits <= _MOST_BITS:
            exactly, bits = self._sign(left, right, number, bits), 2 * bits
        return exactly

    def _exactly(self, left: Site, right: Site, number: int) -> int | None:
        """The same where it can be told without balls: rational probabilities and distances, and equal normalisers."""
        if isinstance(self.mechanism, Resampled):
            within = self.mechanism.epsilon.compare(self.allowed) <= 0
            return (
                0
                if within
                and _squared_distances(self.mechanism.map, left) == _squared_distances(self.mechanism.map, right)
                else None
            )
        if not isinstance(self.mechanism, Channel):
            return None
        mine, other = (self.mechanism.probability(site, self.outputs[number], 64) for site in (left, right))
        root = _root(self.squared(left, right))
        if isinstance(mine, arb) or isinstance(other, arb) or root is None:
            return None
        try:
            return 0 if epsilon(f"({self.allowed})*({root})").allows(mine, other) else 1
        except BudgetError:
            return None

    def _found(
        self, status: Status, worst: tuple[Site, Site, int], bits: int, method: Method, reason: str = ""
    ) -> LocationFinding:
        left, right, number = worst
        with precision(bits):
            mine, other = self.row(left, bits)[number], self.row(right, bits)[number]
            apart = arb(self.squared(left, right)).sqrt()
            loss = loss_between(mine, other, apart)
        output = self.outputs[number]
        one_by_one = method == "every pair" and not isinstance(self.mechanism, Channel)
        return LocationFinding(
            status,
            self.mechanism,
            self.allowed,
            left,
            right,
            output,
            mine,
            other,
            apart,
            loss,
            method,
            self.sites if one_by_one else self.named,
            reason=reason,
        )


def _logarithm(value: arb) -> float:
    return float(value.log().mid()) if value > 0 else -np.inf


def _squared_distances(map: Map, site: Site) -> list[int]:
    """The squared distances of all sites of a map: equal ones have equal normalisers."""
    return sorted((each[0] - site[0]) ** 2 + (each[1] - site[1]) ** 2 for each in map.sites)


def _root(value: Rational) -> Rational | None:
    """The square root, where it is rational."""
    above, below = isqrt(int(value.p)), isqrt(int(value.q))
    return fmpq(above, below) if above**2 == value.p and below**2 == value.q else None
