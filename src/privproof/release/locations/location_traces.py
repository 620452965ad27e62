"""Places in a table: every row is a place where somebody was, and is reported once, with noise in the plane.

A person may have several rows, a *trace*.  What is promised to everybody is about all of it: two tables in which every place of one
person is moved by at most a radius are indistinguishable to a level.

**Theorem.** Nobody has more than n rows, and every report is drawn by planar geometric noise of rate ``level / (n (radius + 3/2 step))`` on
a grid of that step.  Then the promise holds.  *Proof.* A place is first moved to the nearest site, which takes two places at most
``sqrt(2) step < 3/2 step`` further apart.  The law of each report changes by at most ``e^(rate d)`` when its site moves by d
(`scenarios.planar`), the reports are independent, and at most n of them change.  QED

Nothing of the noise is used but its rate.  So where places lie on a small public map of the grid, the best of all tables of that rate
(`release.optimal_tables`) serves as well.  A place whose site is not on the map is refused: bringing it there would take it further
apart from others than the proof allows.

How many rows there are, and whose they are, is not hidden: there is one report for every row.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from privproof.errors import FormatError, NumberError, QuestionError
from privproof.evidence.verdicts import Verdict
from privproof.exact import Epsilon, EpsilonLike, Number, Rational, epsilon, rational, show
from privproof.language.randomness import Seeded
from privproof.release.ledger import Entry
from privproof.release.locations.location_maps import Map, Projection
from privproof.release.locations.location_verification import verify_locations
from privproof.release.locations.optimal_tables import Optimal, optimal
from privproof.release.locations.planar_noise import PlanarGeometric, Site, per_distance
from privproof.release.table_release import Paid

_MOVED = rational("3/2")
"""Steps by which moving two places to their sites takes them further apart, at most: more than the square root of 2."""


@dataclass(frozen=True)
class Whereabouts:
    """A place where somebody was.

    Attributes:
        person: whose place it is; empty where every row is somebody else's.
        latitude: in degrees, as it is written.
        longitude: in degrees, as it is written.
    """

    person: str
    latitude: str
    longitude: str


@dataclass(frozen=True)
class Traces:
    """Reports of places, and what is promised about them.

    Attributes:
        level: to what level two tables are indistinguishable in which all places of one person are moved within the radius.
        radius: that radius, in metres.
        reports: how many reports there are of one person, at most.
        noise: the noise of each report, or the best table of a map.
        verdict: what was established about the rate of the noise.
        rows: for every row the person, the latitude and the longitude that are reported; empty where the rate was not proved.
        entry: the entry of the ledger that it was paid by.
    """

    level: Epsilon
    radius: Rational
    reports: int
    noise: PlanarGeometric | Optimal
    verdict: Verdict
    rows: tuple[tuple[str, float, float], ...] = ()
    entry: Entry | None = None


def release_traces(
    places: Sequence[Whereabouts],
    level: EpsilonLike,
    *,
    radius: Number,
    around: Projection,
    step: Number | None = None,
    reports: int | None = None,
    map: Map | None = None,
    prior: Mapping[Site, Number] | None = None,
    paid: Paid | None = None,
    seed: int | None = None,
    told: Callable[[str], None] = lambda _: None,
) -> Traces:
    """Report places with noise: find the rate, prove it, pay for it, and draw.

    Args:
        places: the places, a row each.
        level: the level that is promised to every person, over all reports together.
        radius: how far each place may be moved, in metres.
        around: the projection, around a public reference.
        step: the step of the grid, in metres; without it a tenth of the radius.
        reports: how many rows a person may have; without it as many as somebody has.
        map: a small public map, for which the best of all tables is taken instead of noise; its step is that of the grid.
        prior: with a map, how often people are at each of its sites, from public knowledge; without it all alike.
        paid: the ledger into which the level is entered before noise is drawn; its budget is in epsilon.
        seed: a seed for the noise, for tests.
        told: is told what is being done.

    >>> prague = Projection.at("50.0875", "14.4213")
    >>> places = [Whereabouts("Jan", "50.0866", "14.4112"), Whereabouts("Jan", "50.0870", "14.4201")]
    >>> found = release_traces(places, "ln(4)", radius=200, around=prague, seed=1)
    >>> found.verdict.status, found.reports, str(found.noise.epsilon)
    ('proved', 2, 'ln(2)/230')
    """
    most = max(Counter(place.person for place in places).values(), default=0) if any(p.person for p in places) else 1
    if not places:
        raise QuestionError("rows", "the table has no rows", place="data", hint="a row for every place")
    if reports is not None and reports < most:
        said = f"somebody has {most} rows, and at most {reports} are promised"
        raise QuestionError("reports", said, place="reports", hint=f"reports={most}")
    count, within = most if reports is None else reports, rational(radius)
    grid = rational(step) if step is not None else within / 10 if map is None else map.step
    if within <= 0 or grid <= 0:
        raise QuestionError(
            "radius", f"radius {show(within)} and step {show(grid)}", place="radius", hint="metres, such as 200"
        )
    if map is not None and map.step != grid:
        said = f"the map has the step {show(map.step)}, and the grid {show(grid)}"
        raise QuestionError("step", said, place="step", hint="one of them")
    rate = per_distance(level, within=count * (within + _MOVED * grid))
    plane = PlanarGeometric.of(rate, step=grid)
    sites = [_site(number, place, around, plane, map) for number, place in enumerate(places, 1)]
    told("proving the rate of the noise" if map is None else "searching for the best table of the map")
    noise = plane if map is None else optimal(map, rate, prior=prior)
    found = verify_locations(noise) if isinstance(noise, PlanarGeometric) else noise.finding
    assert found.verdict is not None
    claim = epsilon(level)
    made = Traces(claim, within, count, noise, found.verdict)
    if found.verdict.status != "proved":
        return made
    entry = None
    if paid is not None:
        note = paid.note or f"{len(places)} places, each hidden within {show(within)} m"
        entry = paid.ledger.spend(
            epsilon=claim,
            dataset=paid.dataset,
            analyst=paid.analyst,
            note=note,
            certificate=found.verdict.certificate,
            seeded=seed is not None,
        )
    told("drawing")
    source = None if seed is None else Seeded(seed)
    drawn = (noise.release(site, seed=source) for site in sites)
    rows = ((place.person, *around.coordinates(report, step=grid)) for place, report in zip(places, drawn, strict=True))
    return Traces(claim, within, count, noise, found.verdict, tuple(rows), entry)


def _site(
    number: int,
    place: Whereabouts,
    around: Projection,
    plane: PlanarGeometric,
    map: Map | None = None,
    file: str = "data",
) -> Site:
    try:
        site = plane.site(*around.metres(place.latitude, place.longitude))
    except (NumberError, ValueError) as problem:
        said = f"row {number}: {place.latitude!r}, {place.longitude!r} is no place"
        raise FormatError("place", said, place=file, hint="degrees, such as 50.0866 and 14.4112") from problem
    if map is not None and site not in map:
        raise QuestionError(
            "map", f"row {number} is not on the map", place="data", hint="a map of all places where people may be"
        )
    return site


def map_of(
    places: Sequence[Whereabouts], shares: Sequence[Number] | None = None, *, around: Projection, step: Number
) -> tuple[Map, dict[Site, Rational]]:
    """The map of public places, and how often people are at each of its sites: a place counts its share, or else 1.

    >>> prague = Projection.at("50.0875", "14.4213")
    >>> public = [Whereabouts("", "50.0875", "14.4213"), Whereabouts("", "50.0876", "14.4213"), Whereabouts("", "50.0895", "14.4213")]
    >>> map_of(public, around=prague, step=100)[1]
    {(0, 0): 2, (0, 2): 1}
    """
    if not places:
        raise QuestionError("rows", "the map has no places", place="map", hint="a row for every public place")
    plane = PlanarGeometric.of(1, step=step)
    weights = [rational(1)] * len(places) if shares is None else [rational(share) for share in shares]
    likely: dict[Site, Rational] = {}
    for number, (place, weight) in enumerate(zip(places, weights, strict=True), 1):
        if weight < 0:
            raise QuestionError("share", f"row {number} has the share {show(weight)}", place="map", hint="0 or more")
        site = _site(number, place, around, plane, file="map")
        likely[site] = likely.get(site, rational(0)) + weight
    return Map.of(likely, step=step), likely


def whereabouts_in(
    rows: Sequence[Mapping[str, str]], latitude: str, longitude: str, person: str | None = None, *, file: str = "data"
) -> list[Whereabouts]:
    """The places of a table with named columns.

    Raises:
        FormatError: no such column, or nobody is named in a row.
    """
    north, east = (column_of(rows, name, file=file) for name in (latitude, longitude))
    people = [""] * len(rows) if person is None else column_of(rows, person, file=file)
    for number, name in enumerate(people, 1):
        if person is not None and not name:
            raise FormatError("person", f"row {number} names nobody", place=file, hint=f"a value in {person!r}")
    return [Whereabouts(*each) for each in zip(people, north, east, strict=True)]


def column_of(rows: Sequence[Mapping[str, str]], name: str, *, file: str) -> list[str]:
    """The cells of a column.

    Raises:
        FormatError: there is no such column.
    """
    if rows and name not in rows[0]:
        hint = f"columns: {', '.join(rows[0])}"
        raise FormatError("column", f"there is no column {name!r}", place=file, hint=hint)
    return [row[name] for row in rows]
