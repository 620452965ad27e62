"""Whether a mechanism for locations keeps its promise: ``P(z | x) <= e^(epsilon d(x, x')) P(z | x')`` for all x, x', z.

* Planar noise on the infinite grid or the plane keeps it by the triangle inequality, and so does everything that looks at the noisy
  report alone, such as clamping to a map: the verdict is exact, and the worst pair says how much of epsilon is used.
* For any other mechanism with finitely many sites and outputs (a `Channel`) all pairs of sites and all outputs are compared, with
  rigorous enclosures, or exactly where the probabilities are rational.

Exhibits of what goes wrong: drawing again until the report lies on the map (`resampling_planar_laplace`,
`resampling_planar_geometric`), and noise that is not equal in all directions (`shrunk_north_south`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from math import isqrt
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np
from flint import acb, arb, fmpq

from privproof.errors import BudgetError, ScenarioError
from privproof.exact import Epsilon, EpsilonLike, Number, Rational, epsilon, rational, show
from privproof.exact.balls import precision
from privproof.exact.texts import rounded_ball
from privproof.models.distributions import distribution
from privproof.release.maps import Clamped, Map, Resampled
from privproof.release.planar import PlanarGeometric, PlanarLaplace, Site, a_site

if TYPE_CHECKING:
    from privproof.evidence import Verdict

Place: TypeAlias = "tuple[Any, Any]"
Status: TypeAlias = Literal["proved", "refuted", "unknown"]
Method: TypeAlias = Literal["triangle inequality", "every pair", "one output"]

_MOST_BITS = 2048
"""The precision at which a loss that is not told from epsilon is given up; the verdict is then unknown."""
_MOST_COMPARED = 6_000_000
"""Comparisons in ball arithmetic; with more, a map on which no violation is found is unknown, with a hint to name sites."""
_MOST_SEARCHED = 400_000_000
"""Comparisons in floats in search of the worst pair; beyond, the question is refused."""
_MOST_LOOKED_AT = 150
"""Where the promise is known already, a map of more sites is represented by four near its middle."""
_MOST_SHOWN = 60
"""A site or an output with a longer text is cut in reports."""


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
        >>> verify_locations(channel, "ln(2)").status, verify_locations(channel, "0.69").status
        ('proved', 'refuted')
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
            away = _distance(place, output)
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


Mechanism: TypeAlias = (
    "PlanarGeometric | PlanarLaplace | Clamped | Resampled | Channel | ResampledLaplace | ShrunkLaplace"
)


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
        verdict: the verdict, with its certificate; None where there is none.
    """

    computed: Status
    mechanism: Mechanism
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
            f"  worst: {_shown(self.left)} and {_shown(self.right)}, {rounded_ball(self.distance)} apart, report {_shown(self.output)}",
            f"  {what}: {rounded_ball(self.left_probability)} against {rounded_ball(self.right_probability)}",
            f"  loss: {rounded_ball(self.loss)} per unit of distance, {rounded_ball(self.factor)} of the epsilon",
        ]
        if self.sites is not None and self.method == "every pair":
            lines.append(f"  compared: {len(self.sites)} sites, one by one; nothing is said about others")
        if self.reason:
            lines.append(f"  reason: {self.reason}")
        return "\n".join(lines)


# ------------------------------------------------------------------------------------------------------------------- verifying


def verify_locations(
    mechanism: Mechanism, claimed: EpsilonLike | None = None, *, sites: Sequence[Site] | None = None, bits: int = 128
) -> LocationFinding:
    """Decide whether a mechanism keeps a rate, and find the pair of places and the report with the greatest loss.

    Args:
        mechanism: planar noise, clamped or resampled planar geometric noise, or a channel.
        claimed: the epsilon per unit of distance; left out, the one of the mechanism.
        sites: the sites to compare where pairs are compared one by one; all of the map or channel if left out.
        bits: the precision to begin with.

    >>> from privproof.release.maps import clamped
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
    if allowed.infinite or allowed.compare(Epsilon()) == 0:
        raise ScenarioError("location", f"epsilon = {allowed}", place="claimed", hint="a finite epsilon above 0")
    if isinstance(mechanism, PlanarGeometric | PlanarLaplace):
        return _alone(mechanism, allowed, bits)
    if isinstance(mechanism, ResampledLaplace):
        return resampling_planar_laplace(
            mechanism.epsilon, width=mechanism.width, height=mechanism.height, claimed=allowed
        )
    if isinstance(mechanism, ShrunkLaplace):
        return shrunk_north_south(mechanism.epsilon, latitude=mechanism.latitude, claimed=allowed)
    if isinstance(mechanism, Clamped) and sites is None and own is not None and own.compare(allowed) <= 0:
        sites, named = _middle(mechanism.map), None
    else:
        named = sites
    listed = _compared(mechanism, sites)
    return _Comparison(mechanism, allowed, listed, None if named is None else listed).finding(bits)


def _alone(mechanism: PlanarGeometric | PlanarLaplace, allowed: Epsilon, bits: int) -> LocationFinding:
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
    return _certified(
        LocationFinding(
            status, mechanism, allowed, (0, 0), (1, 0), (0, 0), left, right, apart, loss, method, density=continuous
        )
    )


def _middle(map: Map) -> tuple[Site, ...] | None:
    """Of a large map some neighbouring sites: the promise is known, and they show how much of it is used."""
    if len(map.sites) <= _MOST_LOOKED_AT:
        return None
    centre = map.sites[len(map.sites) // 2]
    near = sorted(map.sites, key=lambda site: ((site[0] - centre[0]) ** 2 + (site[1] - centre[1]) ** 2, site))
    return tuple(near[:4])


def _compared(mechanism: Clamped | Resampled | Channel, sites: Sequence[Site] | None) -> tuple[Site, ...]:
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


class _Comparison:
    """All pairs of some sites with all outputs of a mechanism."""

    def __init__(
        self,
        mechanism: Clamped | Resampled | Channel,
        allowed: Epsilon,
        sites: tuple[Site, ...],
        named: tuple[Site, ...] | None,
    ) -> None:
        self.mechanism, self.allowed, self.sites = mechanism, allowed, sites
        self.named = named
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
            return 0 if within and _spread(self.mechanism.map, left) == _spread(self.mechanism.map, right) else None
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
            loss = _loss(mine, other, apart)
        output = self.outputs[number]
        one_by_one = method == "every pair" and not isinstance(self.mechanism, Channel)
        return _certified(
            LocationFinding(
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
        )


# -------------------------------------------------------------------------------------------------------------------- exhibits


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
    if extent[0] <= 0 or extent[1] <= 0:
        raise ScenarioError(
            "location", f"a map of {show(extent[0])} x {show(extent[1])}", place="width", hint="above 0"
        )
    mechanism = ResampledLaplace(PlanarLaplace.of(rate).epsilon, *extent)
    near = min(extent) / 1000
    places = [
        _exact(each)
        for each in (left, right if right is not None else (near, near), output if output is not None else left)
    ]
    for name, place in zip(("left", "right", "output"), places, strict=True):
        if not all(0 <= place[k] <= extent[k] for k in (0, 1)):
            raise ScenarioError(
                "location", f"{_shown(place)} is not on the map", place=name, hint=f"up to {_shown(extent)}"
            )
    one, other, seen = places
    return _pointwise(
        mechanism,
        claimed,
        one,
        other,
        seen,
        (mechanism.density(one, seen, bits), mechanism.density(other, seen, bits)),
        bits,
    )


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
    angle, apart = rational(latitude), rational(distance)
    if abs(angle) > 90 or apart <= 0:
        raise ScenarioError(
            "location",
            f"latitude = {show(angle)}, distance = {show(apart)}",
            place="latitude",
            hint="-90 to 90 degrees, a distance above 0",
        )
    mechanism = ShrunkLaplace(PlanarLaplace.of(rate).epsilon, angle)
    one, other = _exact((0, 0)), _exact((0, apart))
    if angle == 0:
        allowed = epsilon(mechanism.epsilon if claimed is None else claimed)
        return _certified(
            LocationFinding(
                "refuted",
                mechanism,
                allowed,
                one,
                other,
                "north = 0",
                arb(1),
                arb(0),
                arb(apart),
                arb("inf"),
                "one output",
            )
        )
    found = _pointwise(
        mechanism,
        claimed,
        one,
        other,
        one,
        (mechanism.density(one, one, bits), mechanism.density(other, one, bits)),
        bits,
    )
    if abs(angle) == 90 and mechanism.epsilon.compare(found.allowed) <= 0:
        return verify_locations(PlanarLaplace(mechanism.epsilon), found.allowed)
    return found


def _pointwise(
    mechanism: ResampledLaplace | ShrunkLaplace,
    claimed: EpsilonLike | None,
    left: Place,
    right: Place,
    output: Place,
    densities: tuple[arb, arb],
    bits: int,
) -> LocationFinding:
    """What two densities at one output show: a refutation, or nothing."""
    allowed = epsilon(mechanism.epsilon if claimed is None else claimed)
    if left == right:
        raise ScenarioError("location", f"both places are {_shown(left)}", place="right", hint="two different places")
    with precision(bits):
        apart = _distance(left, right)
        refuted = densities[0] > (allowed.ball(bits) * apart).exp() * densities[1]
        loss = _loss(*densities, apart)
    status: Status = "refuted" if refuted else "unknown"
    reason = "" if refuted else "this one output does not exceed the claim, and others were not looked at"
    return _certified(
        LocationFinding(
            status,
            mechanism,
            allowed,
            left,
            right,
            output,
            *densities,
            apart,
            loss,
            "one output",
            density=True,
            reason=reason,
        )
    )


def _certified(found: LocationFinding) -> LocationFinding:
    from privproof.release.location_certificates import certified  # here, because it stands above

    return certified(found)


# ------------------------------------------------------------------------------------------------------------------------ parts


def _exact(place: tuple[Number, Number]) -> Place:
    return rational(place[0]), rational(place[1])


def _distance(one: Place, other: Place) -> arb:
    return arb(sum(((rational(one[k]) - rational(other[k])) ** 2 for k in (0, 1)), fmpq(0))).sqrt()


def _loss(mine: arb, other: arb, apart: arb) -> arb:
    if mine > 0 and other > 0:
        return (mine / other).log() / apart
    return arb("inf") if other == 0 and mine > 0 else arb("0 +/- inf")


def _logarithm(value: arb) -> float:
    return float(value.log().mid()) if value > 0 else -np.inf


def _spread(map: Map, site: Site) -> list[int]:
    """The squared distances of all sites of a map: equal ones have equal normalisers."""
    return sorted((each[0] - site[0]) ** 2 + (each[1] - site[1]) ** 2 for each in map.sites)


def _root(value: Rational) -> Rational | None:
    """The square root, where it is rational."""
    above, below = isqrt(int(value.p)), isqrt(int(value.q))
    return fmpq(above, below) if above**2 == value.p and below**2 == value.q else None


def _shown(place: Any) -> str:
    shown = f"({', '.join(str(each) for each in place)})" if isinstance(place, tuple) else str(place)
    return shown if len(shown) <= _MOST_SHOWN else shown[: _MOST_SHOWN - 3] + "..."
