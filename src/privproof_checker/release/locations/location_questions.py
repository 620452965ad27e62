"""Mechanisms for locations as data, read from a document, their form checked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from privproof_checker.claims import read_epsilon
from privproof_checker.numbers import ZERO, Epsilon, Rational
from privproof_checker.outcomes import Limits, refuse, within
from privproof_checker.plain_documents import (
    a_list,
    a_number,
    a_text,
    a_text_or_null,
    an_integer,
    an_object,
    only_members,
    text,
)

Site: TypeAlias = tuple[int, int]


Place: TypeAlias = tuple[Rational, Rational]


_FARTHEST = 10**9
"""How far from 0 a coordinate of a site may be, in steps; a site beyond is refused."""


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
        return min(self.sites, key=lambda each: (squared_distance(each, site), each))


@dataclass(frozen=True)
class PlanarNoise:
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
class ReportTable:
    """Exact probabilities."""

    step: Rational
    rows: Mapping[Site, Mapping[str, Rational]]


@dataclass(frozen=True)
class LocationQuestion:
    """A question, read and checked."""

    mechanism: PlanarNoise | Plane | ReportTable
    sites: tuple[Site, ...] | None
    epsilon: Epsilon


def read_question(given: dict[str, object], limits: Limits) -> LocationQuestion:
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
    assert isinstance(mechanism, PlanarNoise | Plane | ReportTable)
    return LocationQuestion(mechanism, sites, _rate(given.get("epsilon"), "question.epsilon", limits))


def _noise(given: dict[str, object], place: str, limits: Limits) -> PlanarNoise:
    only_members(given, ("kind", "rate", "step", "outputs"), place)
    rate, step = _rate(given.get("rate"), f"{place}.rate", limits), _step(given.get("step"), place, limits)
    outputs = an_object(given.get("outputs"), f"{place}.outputs")
    ending = a_text(outputs.get("kind"), f"{place}.outputs.kind")
    if ending == "grid":
        only_members(outputs, ("kind",), f"{place}.outputs")
        return PlanarNoise(rate, step, ending, None, {})
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
        source = read_site(both[0], here)
        if source in table:
            refuse(f"the site {source} has two reports, so the table is no function", here)
        table[source] = read_site(both[1], here)
    return PlanarNoise(rate, step, ending, where, table)


def _map(value: object, place: str, limits: Limits) -> Map:
    given = an_object(value, place)
    kind = a_text(given.get("kind"), f"{place}.kind")
    if kind == "rectangle":
        only_members(given, ("kind", "corners"), place)
        corners = [read_site(each, f"{place}.corners") for each in a_list(given.get("corners"), f"{place}.corners")]
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


def _table(given: dict[str, object], place: str, limits: Limits) -> ReportTable:
    only_members(given, ("kind", "step", "rows"), place)
    rows: dict[Site, dict[str, Rational]] = {}
    listed = a_list(given.get("rows"), f"{place}.rows")
    within(len(listed), limits.states, "sites", f"{place}.rows")
    for number, item in enumerate(listed):
        here = f"{place}.rows[{number}]"
        both = a_list(item, here)
        if len(both) != 2:
            refuse("a row is a site and its probabilities", here)
        site = read_site(both[0], here)
        if site in rows:
            refuse(f"the site {site} stands twice", here)
        row = {name: a_number(p, f"{here}.{name}", limits) for name, p in an_object(both[1], here).items()}
        within(len(row), limits.symbols, "outputs", here)
        if any(p < 0 for p in row.values()) or sum(row.values(), ZERO) != 1:
            refuse(f"the probabilities sum to {text(sum(row.values(), ZERO))}, or one is below 0", here)
        rows[site] = row
    return ReportTable(_step(given.get("step"), place, limits), rows)


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


def read_site(value: object, place: str) -> Site:
    """A site of a grid."""
    both = [an_integer(each, place) for each in a_list(value, place)]
    if len(both) != 2 or any(abs(each) > _FARTHEST for each in both):
        refuse(f"a site is two integers, at most {_FARTHEST} from 0", place)
    return both[0], both[1]


def _sites(value: object, place: str, limits: Limits) -> tuple[Site, ...]:
    listed = a_list(value, place)
    within(len(listed), limits.states, "sites", place)
    found = tuple(read_site(each, f"{place}[{i}]") for i, each in enumerate(listed))
    if not found or len(set(found)) < len(found):
        refuse("there is no site, or one stands twice", place)
    return found


def read_place(value: object, place: str, limits: Limits) -> Place:
    """A place of the plane."""
    both = a_list(value, place)
    if len(both) != 2:
        refuse("a place has two coordinates", place)
    return a_number(both[0], place, limits), a_number(both[1], place, limits)


def squared_distance(one: Sequence[int], other: Sequence[int]) -> int:
    """The square of the distance of two sites, in steps."""
    return (one[0] - other[0]) ** 2 + (one[1] - other[1]) ** 2
