"""Questions about locations: is ``P(z | x) <= e^(epsilon d(x, x')) P(z | x')`` for all places x, x' and all reports z?

d is the Euclidean distance and epsilon a rate per unit of distance (Andres et al., CCS 2013).  Sites are points (i step, j step) of a
grid.  Mechanisms:

* **planar geometric** noise of a rate r: ``P(n) = e^(-r step |n|) / Z`` on all offsets n of the grid; then nothing more (``grid``), or
  the nearest site of a map, of several the first in order, and what a table puts in its place (``clamped``), or drawn again until it
  lies on the map (``resampled``);
* **planar Laplace** noise with density ``r^2 / (2 pi) e^(-r |z - x|)``: on the ``plane``, or drawn again until it lies on a rectangle
  (``resampled``), or with its northern part multiplied by ``sin(latitude)`` (``shrunk north-south``);
* a **table** of exact probabilities.

**Proved** by the *triangle inequality*: ``|z - x'| <= |z - x| + d(x, x')`` gives the rate r to planar noise, whose normaliser does not
depend on x, and what is done to the report afterwards adds nothing; so r <= epsilon is all there is to check.  Not so for resampling.
Or by *every pair*: all probabilities are computed.

**Refuted** by *one output*: both probabilities (or densities, which are continuous) are computed, and enclosed in balls.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import isqrt
from typing import TypeAlias

from flint import acb, arb, fmpq

from privproof.evidence.checker.claims import loss_at_least, read_epsilon
from privproof.evidence.checker.documents import (
    a_list,
    a_number,
    a_text,
    a_text_or_null,
    an_integer,
    an_object,
    known,
    only_members,
    text,
)
from privproof.evidence.checker.outcomes import Accepted, Limits, Verdict, refuse, within
from privproof.exact import ZERO, Epsilon, Rational, epsilon
from privproof.exact.balls import precision, rational_bounds

Site: TypeAlias = tuple[int, int]
Place: TypeAlias = tuple[Rational, Rational]

_BITS = (128, 512, 2048)
"""The precisions at which a loss is compared with the claim, in this order; what the last leaves open is not accepted."""
_TAIL_BITS = 48
"""Offsets with weights above 2 to minus so many bits are added one by one, twice and three times as many at the higher precisions."""
_FARTHEST = 10**9
"""How far from 0 a coordinate of a site may be, in steps; a site beyond is refused."""


# ------------------------------------------------------------------------------------------------------------------ mechanisms


@dataclass(frozen=True)
class Map:
    """Finitely many sites: a rectangle, or listed ones in order."""

    corners: tuple[Site, Site] | None
    sites: tuple[Site, ...]

    def nearest(self, site: Site) -> Site:
        """The nearest site; of several the first in order."""
        if self.corners is not None:
            low, high = self.corners
            return min(max(site[0], low[0]), high[0]), min(max(site[1], low[1]), high[1])
        return min(self.sites, key=lambda each: (_squared(each, site), each))


@dataclass(frozen=True)
class Noise:
    """Planar geometric noise, and what becomes of the report."""

    rate: Epsilon
    step: Rational
    ending: str
    map: Map | None
    table: Mapping[Site, Site]

    def reported(self, site: Site) -> Site:
        """What is reported for a noisy site, unless it is drawn again."""
        if self.map is None:
            return site
        nearest = self.map.nearest(site)
        return self.table.get(nearest, nearest)


@dataclass(frozen=True)
class Plane:
    """Planar Laplace noise: on the plane, on a rectangle, or shrunk."""

    rate: Epsilon
    ending: str
    size: Place
    latitude: Rational


@dataclass(frozen=True)
class Table:
    """Exact probabilities."""

    step: Rational
    rows: Mapping[Site, Mapping[str, Rational]]


@dataclass(frozen=True)
class Question:
    """A question, read and checked."""

    mechanism: Noise | Plane | Table
    sites: tuple[Site, ...] | None
    epsilon: Epsilon


def read_question(given: dict[str, object], limits: Limits) -> Question:
    """The question of a certificate."""
    only_members(given, ("kind", "title", "mechanism", "sites", "epsilon"), "question")
    place = "question.mechanism"
    described = an_object(given.get("mechanism"), place)
    kind = a_text(described.get("kind"), f"{place}.kind")
    if kind not in ("planar geometric", "planar laplace", "table"):
        refuse(f"{kind[:40]!r} is none of planar geometric, planar laplace, table", f"{place}.kind")
    read = {"planar geometric": _noise, "planar laplace": _plane, "table": _table}[kind]
    mechanism = read(described, place, limits)
    a_text_or_null(given.get("title"), "question.title")
    sites = None if given.get("sites") is None else _sites(given["sites"], "question.sites", limits)
    if sites is not None and kind == "planar laplace":
        refuse("continuous noise is about all places", "question.sites")
    assert isinstance(mechanism, Noise | Plane | Table)
    return Question(mechanism, sites, _rate(given.get("epsilon"), "question.epsilon", limits))


def _noise(given: dict[str, object], place: str, limits: Limits) -> Noise:
    only_members(given, ("kind", "rate", "step", "outputs"), place)
    rate, step = _rate(given.get("rate"), f"{place}.rate", limits), _step(given.get("step"), place, limits)
    outputs = an_object(given.get("outputs"), f"{place}.outputs")
    ending = a_text(outputs.get("kind"), f"{place}.outputs.kind")
    if ending == "grid":
        only_members(outputs, ("kind",), f"{place}.outputs")
        return Noise(rate, step, ending, None, {})
    if ending not in ("clamped", "resampled"):
        refuse(f"{ending[:40]!r} is none of grid, clamped, resampled", f"{place}.outputs.kind")
    only_members(outputs, ("kind", "map", "table") if ending == "clamped" else ("kind", "map"), f"{place}.outputs")
    where = _map(outputs.get("map"), f"{place}.outputs.map", limits)
    table: dict[Site, Site] = {}
    for number, item in enumerate(a_list(outputs.get("table", []), f"{place}.outputs.table")):
        here = f"{place}.outputs.table[{number}]"
        both = a_list(item, here)
        if len(both) != 2:
            refuse("a row of the table is a site and what is reported instead", here)
        source = _site(both[0], here)
        if source in table:
            refuse(f"the site {source} has two reports, so the table is no function", here)
        table[source] = _site(both[1], here)
    return Noise(rate, step, ending, where, table)


def _map(value: object, place: str, limits: Limits) -> Map:
    given = an_object(value, place)
    kind = a_text(given.get("kind"), f"{place}.kind")
    if kind == "rectangle":
        only_members(given, ("kind", "corners"), place)
        corners = [_site(each, f"{place}.corners") for each in a_list(given.get("corners"), f"{place}.corners")]
        if len(corners) != 2 or corners[0][0] > corners[1][0] or corners[0][1] > corners[1][1]:
            refuse("a rectangle has its south-west and its north-east corner", f"{place}.corners")
        low, high = corners
        count = (high[0] - low[0] + 1) * (high[1] - low[1] + 1)
        listed = count <= limits.states
        across, along = range(low[0], high[0] + 1), range(low[1], high[1] + 1)
        return Map((low, high), tuple((i, j) for i in across for j in along) if listed else ())
    if kind != "sites":
        refuse(f"{kind[:40]!r} is neither rectangle nor sites", f"{place}.kind")
    only_members(given, ("kind", "sites"), place)
    return Map(None, tuple(sorted(_sites(given.get("sites"), f"{place}.sites", limits))))


def _plane(given: dict[str, object], place: str, limits: Limits) -> Plane:
    only_members(given, ("kind", "rate", "outputs"), place)
    rate = _rate(given.get("rate"), f"{place}.rate", limits)
    here = f"{place}.outputs"
    outputs = an_object(given.get("outputs"), here)
    ending = a_text(outputs.get("kind"), f"{here}.kind")
    if ending == "plane":
        only_members(outputs, ("kind",), here)
        return Plane(rate, ending, (ZERO, ZERO), ZERO)
    if ending == "resampled":
        only_members(outputs, ("kind", "width", "height"), here)
        width, height = (a_number(outputs.get(name), f"{here}.{name}", limits) for name in ("width", "height"))
        if width <= 0 or height <= 0:
            refuse("a map has a width and a height above 0", here)
        return Plane(rate, ending, (width, height), ZERO)
    if ending != "shrunk north-south":
        refuse(f"{ending[:40]!r} is none of plane, resampled, shrunk north-south", f"{here}.kind")
    only_members(outputs, ("kind", "latitude"), here)
    latitude = a_number(outputs.get("latitude"), f"{here}.latitude", limits)
    if abs(latitude) > 90:
        refuse("a latitude is between -90 and 90", f"{here}.latitude")
    return Plane(rate, ending, (ZERO, ZERO), latitude)


def _table(given: dict[str, object], place: str, limits: Limits) -> Table:
    only_members(given, ("kind", "step", "rows"), place)
    rows: dict[Site, dict[str, Rational]] = {}
    listed = a_list(given.get("rows"), f"{place}.rows")
    within(len(listed), limits.states, "sites", f"{place}.rows")
    for number, item in enumerate(listed):
        here = f"{place}.rows[{number}]"
        both = a_list(item, here)
        if len(both) != 2:
            refuse("a row is a site and its probabilities", here)
        site = _site(both[0], here)
        if site in rows:
            refuse(f"the site {site} stands twice", here)
        row = {name: a_number(p, f"{here}.{name}", limits) for name, p in an_object(both[1], here).items()}
        within(len(row), limits.symbols, "outputs", here)
        if any(p < 0 for p in row.values()) or sum(row.values(), ZERO) != 1:
            refuse(f"the probabilities sum to {text(sum(row.values(), ZERO))}, or one is below 0", here)
        rows[site] = row
    return Table(_step(given.get("step"), place, limits), rows)


def _rate(value: object, place: str, limits: Limits) -> Epsilon:
    found = read_epsilon(value, place, limits)
    if found.infinite or found.compare(Epsilon()) <= 0:
        refuse("a rate is finite and above 0", place)
    return found


def _step(value: object, place: str, limits: Limits) -> Rational:
    step = a_number(value, f"{place}.step", limits)
    if step <= 0:
        refuse("a step is above 0", f"{place}.step")
    return step


def _site(value: object, place: str) -> Site:
    both = [an_integer(each, place) for each in a_list(value, place)]
    if len(both) != 2 or any(abs(each) > _FARTHEST for each in both):
        refuse(f"a site is two integers, at most {_FARTHEST} from 0", place)
    return both[0], both[1]


def _sites(value: object, place: str, limits: Limits) -> tuple[Site, ...]:
    listed = a_list(value, place)
    within(len(listed), limits.states, "sites", place)
    found = tuple(_site(each, f"{place}[{i}]") for i, each in enumerate(listed))
    if not found or len(set(found)) < len(found):
        refuse("there is no site, or one stands twice", place)
    return found


# -------------------------------------------------------------------------------------------------------------------- checking


def check_location(
    verdict: Verdict, asked: dict[str, object], certificate: dict[str, object], limits: Limits
) -> Accepted:
    """Check a certificate whose question is about locations."""
    question = read_question(asked, limits)
    evidence = an_object(certificate.get("evidence"), "evidence")
    method = a_text(evidence.get("method"), "evidence.method")
    if verdict == "refuted":
        if method != "one output":
            refuse(f"{method[:40]!r} is no evidence for refuted", "evidence.method")
        return _refuted(question, evidence, limits)
    only_members(evidence, ("method", "attained"), "evidence")
    if method == "triangle inequality":
        details: dict[str, object] = {"method": method}
        scope = _by_triangle(question)
    elif method == "every pair":
        count, scope = _by_pairs(question, limits)
        details = {"method": method, "comparisons": count}
    else:
        refuse(f"{method[:40]!r} is no evidence for proved", "evidence.method")
    statement = f"P(z|x) <= e^(epsilon d(x,x')) P(z|x') for {scope}, with epsilon = {question.epsilon.show()} per unit of distance"
    if evidence.get("attained") is not None:
        loss = _attained(question, an_object(evidence["attained"], "evidence.attained"), limits)
        details["attained"] = loss.str(12)
        statement += f"; a loss of {loss.str(9, radius=False)} per unit of distance is attained"
        return Accepted("proved", statement, details, lower=loss_at_least(loss))
    return Accepted("proved", statement, details)


def _by_triangle(question: Question) -> str:
    """The pairs for which the triangle inequality shows the claim."""
    mechanism = question.mechanism
    if isinstance(mechanism, Table):
        refuse("a table is no planar noise", "evidence.method")
    if mechanism.ending not in ("grid", "clamped", "plane"):
        refuse(
            f"the normaliser of {mechanism.ending} noise is not the same everywhere", "question.mechanism.outputs.kind"
        )
    if mechanism.rate.compare(question.epsilon) > 0:
        refuse(
            f"the rate {mechanism.rate.show()} is above epsilon = {question.epsilon.show()}", "question.mechanism.rate"
        )
    return (
        "all places x, x' and all reports z"
        if mechanism.ending == "plane"
        else "all sites x, x' of the grid and all reports z"
    )


def _by_pairs(question: Question, limits: Limits) -> tuple[int, str]:
    """Compare everything; the number of comparisons, and what was compared."""
    mechanism = question.mechanism
    if isinstance(mechanism, Plane) or (isinstance(mechanism, Noise) and mechanism.map is None):
        refuse("there are infinitely many places", "evidence.method")
    if isinstance(mechanism, Table):
        everywhere = tuple(mechanism.rows)
    else:
        assert mechanism.map is not None
        everywhere = mechanism.map.sites
    sites = everywhere if question.sites is None else question.sites
    for site in sites:
        if site not in set(everywhere):
            refuse(f"the site {site} is not among those of the mechanism", "question.sites")
    if len(sites) < 2:
        refuse("fewer than two sites compare with nothing, or the map is too large", "question.sites")
    law = _Law(mechanism, limits)
    outputs = law.outputs()
    count = len(sites) * (len(sites) - 1) * len(outputs)
    within(count, limits.words, "comparisons", "question.sites")
    for left, right, output in law.open(sites, outputs, question.epsilon):
        if law.exceeds(left, right, output, question.epsilon) is not False:
            refuse(f"the claim is not shown for {left}, {right} and the report {output}", "evidence.method")
    scope = f"all {len(sites)} sites x, x' of the {'table' if isinstance(mechanism, Table) else 'map'}"
    return (
        count,
        f"{scope if question.sites is None else f'the {len(sites)} sites listed'} and all {len(outputs)} reports z",
    )


def _refuted(question: Question, given: dict[str, object], limits: Limits) -> Accepted:
    only_members(given, ("method", "left", "right", "output", "left_probability", "right_probability"), "evidence")
    mechanism = question.mechanism
    if isinstance(mechanism, Plane):
        left, right, apart, what = _continuous(question, mechanism, given, limits)
    else:
        one, other, output = _named(question, given, "evidence", limits)
        law = _Law(mechanism, limits)
        if law.exceeds(one, other, output, question.epsilon) is not True:
            refuse("this report does not exceed the claim", "evidence.output")
        left, right = (law.probability(site, output, _BITS[0]) for site in (one, other))
        apart, what = law.distance(one, other), "probability"
    for side, ball in (("left", left), ("right", right)):
        _agrees(given.get(f"{side}_probability"), ball, f"evidence.{side}_probability", limits)
    places = [str(given.get(name))[:60] for name in ("left", "right", "output")]
    statement = (
        f"the places {places[0]} and {places[1]} are {apart.str(9, radius=False)} apart, and the report {places[2]} has {what} "
        f"{left.str(9, radius=False)} against {right.str(9, radius=False)}: "
        f"more than e^(epsilon d) times, epsilon = {question.epsilon.show()}"
    )
    return Accepted(
        "refuted",
        statement,
        {
            "method": "one output",
            f"left_{what}": left.str(12),
            f"right_{what}": right.str(12),
            "distance": apart.str(12),
        },
        lower=loss_at_least((left / right).log() / apart),
    )


def _attained(question: Question, given: dict[str, object], limits: Limits) -> arb:
    """The loss of a pair at a report, which must lie within the bounds given."""
    only_members(given, ("left", "right", "output", "loss"), "evidence.attained")
    mechanism = question.mechanism
    if isinstance(mechanism, Plane):
        left, right, output = (
            _place(given.get(name), f"evidence.attained.{name}", limits) for name in ("left", "right", "output")
        )
        if left == right:
            refuse("both places are the same", "evidence.attained")
        with precision(_BITS[0]):
            gap = _length(_minus(output, right)) - _length(_minus(output, left))
            loss = mechanism.rate.ball(_BITS[0]) * gap / _length(_minus(left, right))
    else:
        one, other, seen = _named(question, given, "evidence.attained", limits)
        law = _Law(mechanism, limits)
        with precision(_BITS[0]):
            loss = law.logarithm(one, other, seen, _BITS[0]) / law.distance(one, other)
    if not loss.is_finite():
        refuse("the loss of the witness is not finite", "evidence.attained")
    _agrees(given.get("loss"), loss, "evidence.attained.loss", limits)
    return loss


def _named(question: Question, given: dict[str, object], place: str, limits: Limits) -> tuple[Site, Site, object]:
    """Two different sites and a report."""
    left, right = (_site(given.get(name), f"{place}.{name}") for name in ("left", "right"))
    if left == right:
        refuse("both sites are the same", place)
    if question.sites is not None and not {left, right} <= set(question.sites):
        refuse("the question is not about these sites", place)
    mechanism = question.mechanism
    if isinstance(mechanism, Table):
        for site in (left, right):
            if site not in mechanism.rows:
                refuse(f"the table has no site {site}", place)
        output = a_text(given.get("output"), f"{place}.output")
        known(output, {name for row in mechanism.rows.values() for name in row}, "output", f"{place}.output")
        return left, right, output
    if isinstance(mechanism, Noise) and mechanism.ending == "resampled":
        assert mechanism.map is not None
        for site in (left, right):
            if mechanism.map.nearest(site) != site:
                refuse(f"the site {site} is not on the map", place)
    return left, right, _site(given.get("output"), f"{place}.output")


def _agrees(value: object, ball: arb, place: str, limits: Limits) -> None:
    """Refuse bounds that the computed number is certainly not within; none given is fine."""
    if value is None:
        return
    both = a_list(value, place)
    if len(both) != 2:
        refuse("expected two bounds", place)
    low, high = (a_number(each, place, limits) for each in both)
    if ball < arb(low) or ball > arb(high) or low > high:
        refuse(f"it is {ball.str(9)}, which is not within the bounds given", place)


# ------------------------------------------------------------------------------------------------------------ laws on sites


class _Law:
    """The probabilities of reports, for a table or for planar geometric noise."""

    def __init__(self, mechanism: Noise | Table, limits: Limits) -> None:
        self.mechanism, self.limits = mechanism, limits
        self.spread = lru_cache(maxsize=None)(self._spread)
        self.weight = lru_cache(maxsize=None)(self._weight)
        self.total = lru_cache(maxsize=None)(self._total)
        self.cells = lru_cache(maxsize=None)(self._cells)

    def outputs(self) -> Sequence[object]:
        """All reports of a mechanism with finitely many."""
        if isinstance(self.mechanism, Table):
            return sorted({name for row in self.mechanism.rows.values() for name in row})
        assert self.mechanism.map is not None
        return sorted({self.mechanism.reported(site) for site in self.mechanism.map.sites})

    def distance(self, left: Site, right: Site) -> arb:
        """The distance of two sites."""
        with precision(_BITS[0]):
            return arb(self.mechanism.step) * arb(_squared(left, right)).sqrt()

    def open(
        self, sites: Sequence[Site], outputs: Sequence[object], allowed: Epsilon
    ) -> Iterator[tuple[Site, Site, object]]:
        """The ordered pairs with the reports that balls of modest precision do not show to keep the claim."""
        bits = _BITS[0]
        with precision(bits):
            rate = allowed.ball(bits) * arb(self.mechanism.step)
            rows = {site: [self.probability(site, output, bits) for output in outputs] for site in sites}
            logarithms = {site: [p.log() if p > 0 else None for p in row] for site, row in rows.items()}
            roots = {squared: rate * arb(squared).sqrt() for squared in {_squared(a, b) for a in sites for b in sites}}
            left_open = []
            for number, left in enumerate(sites):
                for right in sites[number + 1 :]:
                    cap = roots[_squared(left, right)]
                    for output, mine, other in zip(outputs, logarithms[left], logarithms[right], strict=True):
                        if mine is None or other is None or not -cap <= mine - other <= cap:
                            left_open += [(left, right, output), (right, left, output)]
        return iter(left_open)

    def exceeds(self, left: Site, right: Site, output: object, allowed: Epsilon) -> bool | None:
        """Whether ``P(z | x) > e^(epsilon d) P(z | x')``; None where it cannot be told."""
        if isinstance(self.mechanism, Table):
            mine, other = (self.mechanism.rows[site].get(str(output), ZERO) for site in (left, right))
            if mine == 0 or other == 0:
                return bool(mine > other)
            steps = isqrt(_squared(left, right))
            if steps**2 == _squared(left, right):
                try:
                    return not epsilon(f"({allowed})*({self.mechanism.step * steps})").allows(mine, other)
                except ValueError:
                    pass
        elif self._same_normaliser(left, right) and self.mechanism.rate.compare(allowed) <= 0:
            return False
        for bits in _BITS:
            with precision(bits):
                apart = arb(self.mechanism.step) * arb(_squared(left, right)).sqrt()
                margin = self.logarithm(left, right, output, bits) - allowed.ball(bits) * apart
            if margin > 0:
                return True
            if margin <= 0:
                return False
        return None

    def _same_normaliser(self, left: Site, right: Site) -> bool:
        """Whether resampling divides by the same number at both sites: the distances to the sites of the map are the same ones."""
        assert isinstance(self.mechanism, Noise)
        return self.mechanism.ending == "resampled" and self.spread(left) == self.spread(right)

    def logarithm(self, left: Site, right: Site, output: object, bits: int) -> arb:
        """``ln(P(z | x) / P(z | x'))``; for noise without its normaliser where that is the same."""
        with precision(bits):
            if isinstance(self.mechanism, Noise) and self._alone(output):
                assert isinstance(output, tuple)
                rate = self.mechanism.rate.ball(bits) * arb(self.mechanism.step)
                gap = rate * (arb(_squared(output, right)).sqrt() - arb(_squared(output, left)).sqrt())
                if self.mechanism.ending != "resampled":
                    return gap
                return gap + (self.total(right, bits) / self.total(left, bits)).log()
            mine, other = (self.probability(site, output, bits) for site in (left, right))
            return (mine / other).log() if mine > 0 and other > 0 else arb("0 +/- inf")

    def _alone(self, output: object) -> bool:
        """Whether a report stands for itself alone."""
        noise = self.mechanism
        if not isinstance(noise, Noise) or not isinstance(output, tuple):
            return False
        if noise.map is None:
            return True
        if noise.ending == "resampled":
            if noise.map.nearest(output) != output:
                refuse(f"the report {output} is not on the map", "evidence.output")
            return True
        if noise.table or noise.map.corners is None:
            return False
        low, high = noise.map.corners
        return all(low[k] < output[k] < high[k] for k in (0, 1))

    def probability(self, site: Site, output: object, bits: int) -> arb:
        """The probability of a report."""
        noise = self.mechanism
        with precision(bits):
            if isinstance(noise, Table):
                return arb(noise.rows[site].get(str(output), ZERO))
            assert isinstance(output, tuple)
            if self._alone(output):
                return self.weight(_squared(site, output), bits) / self.total(site, bits)
            found = self.cells(site, bits)
            return found.get(output, self.beyond(self._reach(bits), bits).union(arb(0))) / self.total(site, bits)

    def _weight(self, squared: int, bits: int) -> arb:
        assert isinstance(self.mechanism, Noise)
        with precision(bits):
            return (-self.mechanism.rate.ball(bits) * arb(self.mechanism.step) * arb(squared).sqrt()).exp()

    def _spread(self, site: Site) -> tuple[int, ...]:
        assert isinstance(self.mechanism, Noise)
        assert self.mechanism.map is not None
        if not self.mechanism.map.sites:
            refuse("the map is too large to be summed over", "question.mechanism.outputs.map")
        return tuple(sorted(_squared(each, site) for each in self.mechanism.map.sites))

    def _total(self, site: Site, bits: int) -> arb:
        """The sum of all weights: over the map where it is drawn again, over the whole grid otherwise."""
        assert isinstance(self.mechanism, Noise)
        with precision(bits):
            if self.mechanism.ending == "resampled":
                return sum((self.weight(squared, bits) for squared in self.spread(site)), arb(0))
            return self._whole(bits)

    def _whole(self, bits: int) -> arb:
        """Directly, or where the grid is fine by the integral: a point of the cell of n is at most half a diagonal from n."""
        assert isinstance(self.mechanism, Noise)
        rate = self.mechanism.rate.ball(bits) * arb(self.mechanism.step)
        reach = self._reach(bits)
        if reach**2 <= self.limits.words // 8:
            total = self.beyond(reach, bits).union(arb(0)) + 1
            for i in range(1, reach + 1):
                total += sum((4 if j in (0, i) else 8) * self.weight(i * i + j * j, bits) for j in range(i + 1))
            return total
        integral, half = 2 * arb.pi() / rate**2, arb(2).sqrt() / 2
        return (integral * (-rate * half).exp()).union(integral * (rate * half).exp())

    def _reach(self, bits: int) -> int:
        """How far offsets are taken one by one: beyond the map, and as far as the weights matter."""
        assert isinstance(self.mechanism, Noise)
        rate = self.mechanism.rate.ball(bits) * arb(self.mechanism.step)
        size = 0
        if self.mechanism.map is not None and self.mechanism.ending == "clamped":
            corners = self.mechanism.map.corners or self.mechanism.map.sites
            size = sum(max(site[k] for site in corners) - min(site[k] for site in corners) for k in (0, 1))
        with precision(bits):
            matters = rational_bounds(arb(_TAIL_BITS * (1 + _BITS.index(bits))) * arb(2).log() / rate)[1]
        return 2 + size + int(matters.ceil())

    def beyond(self, reach: int, bits: int) -> arb:
        """A bound of the weight of the offsets with max(|i|, |j|) above the reach: 8k of them have the maximum k, and length k or more."""
        with precision(bits):
            ratio, start = self.weight(1, bits), reach + 1
            return 8 * ratio**start * (start - (start - 1) * ratio) / (1 - ratio) ** 2

    def _cells(self, site: Site, bits: int) -> dict[Site, arb]:
        """The weights of all reports of clamped noise: offsets one by one, and all beyond may belong to any report."""
        noise = self.mechanism
        assert isinstance(noise, Noise)
        assert noise.map is not None
        reach = self._reach(bits)
        effort = 1 if noise.map.corners is not None else len(noise.map.sites)
        within((2 * reach + 1) ** 2 * effort, self.limits.words, "offsets", "question.mechanism")
        counts: dict[Site, dict[int, int]] = {}
        for i in range(-reach, reach + 1):
            for j in range(-reach, reach + 1):
                lengths = counts.setdefault(noise.reported((site[0] + i, site[1] + j)), {})
                lengths[i * i + j * j] = lengths.get(i * i + j * j, 0) + 1
        with precision(bits):
            rest = self.beyond(reach, bits).union(arb(0))
            return {
                report: sum((count * self.weight(squared, bits) for squared, count in lengths.items()), rest)
                for report, lengths in counts.items()
            }


# ------------------------------------------------------------------------------------------------------------ laws on the plane


def _continuous(
    question: Question, mechanism: Plane, given: dict[str, object], limits: Limits
) -> tuple[arb, arb, arb, str]:
    """Both densities at a report and the distance of the places; refuse unless the claim is exceeded."""
    left, right = (_place(given.get(name), f"evidence.{name}", limits) for name in ("left", "right"))
    if left == right:
        refuse("both places are the same", "evidence")
    if mechanism.ending == "shrunk north-south" and mechanism.latitude == 0:
        if left[1] == right[1] or given.get("output") != f"north = {left[1]}":
            refuse(
                "at the equator the report keeps the coordinate north: name the event of the left place",
                "evidence.output",
            )
        with precision(_BITS[0]):
            return arb(1), arb(0), _length(_minus(left, right)), "probability"
    output = _place(given.get("output"), "evidence.output", limits)
    if mechanism.ending == "resampled":
        for place in (left, right, output):
            if not all(0 <= place[k] <= mechanism.size[k] for k in (0, 1)):
                refuse("a place is not on the map", "evidence")
    for bits in (64, *_BITS[:2]):
        with precision(bits):
            one, other = (_density(mechanism, place, output, bits) for place in (left, right))
            apart = _length(_minus(left, right))
            if one > (question.epsilon.ball(bits) * apart).exp() * other:
                return one, other, apart, "density"
    refuse("this report does not exceed the claim", "evidence.output")


def _density(mechanism: Plane, place: Place, output: Place, bits: int) -> arb:
    rate = mechanism.rate.ball(bits)
    away = _minus(output, place)
    constant = rate**2 / (2 * arb.pi())
    if mechanism.ending == "shrunk north-south":
        factor = abs((arb(mechanism.latitude) * arb.pi() / 180).sin())
        return constant / factor * (-rate * (arb(away[0]) ** 2 + (arb(away[1]) / factor) ** 2).sqrt()).exp()
    plain = constant * (-rate * _length(away)).exp()
    return plain / _inside(mechanism, place, rate) if mechanism.ending == "resampled" else plain


def _inside(mechanism: Plane, place: Place, rate: arb) -> arb:
    """The probability that the noise around a place stays on the rectangle: an integral along its four sides.

    A piece dt of a side at distance D, t away from the foot of the perpendicular, is seen under the angle ``D dt / (D^2 + t^2)``, and in
    its direction the noise stays inside with probability ``1 - (1 + r s) e^(-r s)``, ``s = sqrt(D^2 + t^2)``.
    """

    def along(far: Rational, end: Rational) -> arb:
        if far == 0 or end == 0:
            return arb(0)
        wide = arb(far)

        def seen(t: acb, analytic: object) -> acb:
            square = t * t + wide * wide
            length = rate * square.sqrt(analytic=bool(analytic))
            return (1 - (1 + length) * (-length).exp()) * wide / square

        return acb.integral(seen, 0, arb(end)).real

    (x, y), (width, height) = place, mechanism.size
    total = arb(0)
    for far in (x, width - x):
        total += along(far, y) + along(far, height - y)
    for far in (y, height - y):
        total += along(far, x) + along(far, width - x)
    return total / (2 * arb.pi())


def _place(value: object, place: str, limits: Limits) -> Place:
    both = a_list(value, place)
    if len(both) != 2:
        refuse("a place has two coordinates", place)
    return a_number(both[0], place, limits), a_number(both[1], place, limits)


def _minus(one: Place, other: Place) -> Place:
    return one[0] - other[0], one[1] - other[1]


def _length(offset: Place) -> arb:
    return arb(fmpq(offset[0] ** 2 + offset[1] ** 2)).sqrt()


def _squared(one: Sequence[int], other: Sequence[int]) -> int:
    return (one[0] - other[0]) ** 2 + (one[1] - other[1]) ** 2
