"""Places and traces of a table: the promise against its definition, budgets, and what is refused."""

from __future__ import annotations

import csv
import json
import sys
from fractions import Fraction
from math import exp, hypot, sqrt

import pytest
from tests.commands import forked

from privproof.errors import BudgetError, FormatError, QuestionError
from privproof.release import Ledger, Paid, Projection
from privproof.release.traces import Whereabouts, release_traces, whereabouts_in

PRAGUE = Projection.at("50.0875", "14.4213")
PLACES = [
    Whereabouts("Jan", "50.0866", "14.4112"),
    Whereabouts("Jan", "50.0870", "14.4201"),
    Whereabouts("Eva", "50.0911", "14.4020"),
]


@pytest.mark.parametrize(("radius", "step"), [(200, 20), (200, 1), (50, 300), ("1/2", "1/3")])
def test_the_promise_holds_by_the_definition(radius, step):
    found = release_traces(PLACES, "ln(4)", radius=radius, step=step, around=PRAGUE, seed=1)
    assert found.verdict.status == "proved"
    rate, grid = float(found.noise.epsilon.ball().mid()), float(Fraction(step))
    assert found.noise.level(radius) * 2 <= found.level.ball()  # two reports of Jan, each moved by at most the radius
    worst = 0.0  # over pairs of places within the radius, after both were moved to their sites: the law is e^(-rate |z - site|)
    for i in range(12):
        for j in range(12):
            one, other = (0.4999 * grid, 0.4999 * grid), (0.0, 0.0)
            moved = (one[0] + float(Fraction(radius)) * i / 12, one[1] + float(Fraction(radius)) * j / 12)
            if hypot(moved[0] - one[0], moved[1] - one[1]) <= float(Fraction(radius)):
                sites = [(round(x / grid) * grid, round(y / grid) * grid) for x, y in (moved, one, other)]
                worst = max(worst, rate * hypot(sites[0][0] - sites[1][0], sites[0][1] - sites[1][1]))
    assert exp(2 * worst) <= 4 * (1 + 1e-9)


def test_the_noise_is_that_of_the_longest_trace():
    two, alone = (release_traces(rows, "ln(4)", radius=200, around=PRAGUE, seed=1) for rows in (PLACES, PLACES[1:]))
    assert (two.reports, alone.reports) == (2, 1)
    assert float(two.noise.epsilon.ball().mid()) * 2 == pytest.approx(float(alone.noise.epsilon.ball().mid()))
    assert float(alone.noise.epsilon.ball().mid()) * (200 + sqrt(2) * 20) < float(alone.level.ball().mid())
    nobody = [Whereabouts("", each.latitude, each.longitude) for each in PLACES]
    assert release_traces(nobody, "ln(4)", radius=200, around=PRAGUE, seed=1).reports == 1


def test_reports_are_independent_and_near():
    rows = [PLACES[0]] * 300
    found = release_traces([Whereabouts("", r.latitude, r.longitude) for r in rows], "ln(4)", radius=200, around=PRAGUE)
    assert len({row[1:] for row in found.rows}) > 250
    north, east = (int(each.p) / int(each.q) for each in (PRAGUE.north, PRAGUE.east))
    off = [hypot((lat - 50.0866) * north, (lon - 14.4112) * east) for _, lat, lon in found.rows]
    assert 0.5 < sum(off) / len(off) / float(found.noise.expected_distance().mid()) < 1.5


@pytest.mark.parametrize(
    ("places", "options", "problem"),
    [
        ([], {}, QuestionError),
        (PLACES, {"reports": 1}, QuestionError),
        (PLACES, {"radius": 0}, QuestionError),
        ([Whereabouts("Jan", "north", "14.4")], {}, FormatError),
    ],
)
def test_what_is_refused(places, options, problem):
    with pytest.raises(problem):
        release_traces(places, "ln(4)", **{"radius": 200, "around": PRAGUE, **options})


def test_columns():
    rows = [{"who": "Jan", "lat": "1", "lon": "2"}, {"who": "", "lat": "1", "lon": "2"}]
    assert whereabouts_in(rows, "lat", "lon") == [Whereabouts("", "1", "2")] * 2
    with pytest.raises(FormatError, match="row 2 names nobody"):
        whereabouts_in(rows, "lat", "lon", "who")
    with pytest.raises(FormatError, match="no column 'latitude'"):
        whereabouts_in(rows, "latitude", "lon")


def test_the_level_is_paid_before_anything_is_drawn(tmp_path):
    ledger = Ledger.create(tmp_path / "ledger.sqlite", epsilon=2)
    made = release_traces(PLACES, "ln(4)", radius=200, around=PRAGUE, paid=Paid(ledger))
    assert made.entry is not None
    assert len(made.rows) == 3
    with pytest.raises(BudgetError):
        release_traces(PLACES, "ln(4)", radius=200, around=PRAGUE, paid=Paid(ledger))
    with pytest.raises(QuestionError, match="seed"):
        release_traces(PLACES, "1/100", radius=200, around=PRAGUE, paid=Paid(ledger), seed=1)
    assert not ledger.verify().problems


def test_the_command(tmp_path):
    (tmp_path / "places.csv").write_text(
        "who,lat,lon\n" + "".join(f"{p.person},{p.latitude},{p.longitude}\n" for p in PLACES)
    )
    Ledger.create(tmp_path / "ledger.sqlite", epsilon=2)
    options = ["--latitude", "lat", "--longitude", "lon", "--epsilon", "ln(4)", "--radius", "200"]
    options += ["--reference", "50.0875,14.4213"]
    command = [sys.executable, "-m", "privproof", "locations", "places.csv"]
    asked = [*command, *options, "--trace", "who", "--account", "ledger.sqlite", "--out", "noisy.csv"]
    first, second = (forked(asked, tmp_path) for _ in range(2))
    assert first.returncode == 0, first.stderr
    assert "for all reports of a person together, 2 at most" in first.stdout
    assert second.returncode == 1
    with (tmp_path / "noisy.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert [row["who"] for row in rows] == ["Jan", "Jan", "Eva"]
    found = forked([*command, *options, "--seed", "1", "--json"], tmp_path)
    assert len(json.loads(found.stdout)["released"]) == 3
    assert forked([*command, *options[:-1], "here"], tmp_path).returncode == 2
