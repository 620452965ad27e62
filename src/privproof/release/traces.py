"""Places in a table: every row is a place where somebody was, and is reported once, with noise in the plane.

A person may have several rows, a *trace*.  What is promised to everybody is about all of it: two tables in which every place of one
person is moved by at most a radius are indistinguishable to a level.

**Theorem.** Nobody has more than n rows, and every report is drawn by planar geometric noise of rate ``level / (n (radius + 3/2 step))`` on
a grid of that step.  Then the promise holds.  *Proof.* A place is first moved to the nearest site, which takes two places at most
``sqrt(2) step < 3/2 step`` further apart.  The law of each report changes by at most ``e^(rate d)`` when its site moves by d
(`scenarios.planar`), the reports are independent, and at most n of them change.  QED

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
from privproof.release.locations import verify_locations
from privproof.release.tables import Paid
from privproof.scenarios.maps import Projection
from privproof.scenarios.planar import PlanarGeometric, per_distance

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
        noise: the noise of each report.
        verdict: what was established about the rate of the noise.
        rows: for every row the person, the latitude and the longitude that are reported; empty where the rate was not proved.
        entry: the entry of the ledger that it was paid by.
    """

    level: Epsilon
    radius: Rational
    reports: int
    noise: PlanarGeometric
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
    grid = within / 10 if step is None else rational(step)
    if within <= 0 or grid <= 0:
        raise QuestionError(
            "radius", f"radius {show(within)} and step {show(grid)}", place="radius", hint="metres, such as 200"
        )
    noise = PlanarGeometric.of(per_distance(level, within=count * (within + _MOVED * grid)), step=grid)
    sites = [_site(number, place, around, noise) for number, place in enumerate(places, 1)]
    told("proving the rate of the noise")
    found = verify_locations(noise)
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


def _site(number: int, place: Whereabouts, around: Projection, noise: PlanarGeometric) -> tuple[int, int]:
    try:
        return noise.site(*around.metres(place.latitude, place.longitude))
    except (NumberError, ValueError) as problem:
        said = f"row {number}: {place.latitude!r}, {place.longitude!r} is no place"
        raise FormatError("place", said, place="data", hint="degrees, such as 50.0866 and 14.4112") from problem


def whereabouts_in(
    rows: Sequence[Mapping[str, str]], latitude: str, longitude: str, person: str | None = None
) -> list[Whereabouts]:
    """The places of a table with named columns.

    Raises:
        FormatError: no such column, or nobody is named in a row.
    """
    known = list(rows[0]) if rows else []
    for name in filter(None, (latitude, longitude, person)):
        if rows and name not in known:
            raise FormatError(
                "column", f"there is no column {name!r}", place="data", hint=f"columns: {', '.join(known)}"
            )
    found = [Whereabouts("" if person is None else row[person], row[latitude], row[longitude]) for row in rows]
    for number, each in enumerate(found, 1):
        if person is not None and not each.person:
            raise FormatError("person", f"row {number} names nobody", place="data", hint=f"a value in {person!r}")
    return found
