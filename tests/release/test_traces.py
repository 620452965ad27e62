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
from privproof.release.locations.location_traces import Whereabouts, map_of, release_traces, whereabouts_in
from privproof_checker import recheck
from privproof_checker.outcomes import Accepted

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


def test_the_best_table_of_a_map_keeps_the_promise_and_is_nearer():
    """By the definition: sites of places within the radius are at most radius + sqrt(2) step apart, twice for the two rows of Jan."""
    town, likely = map_of(PLACES, [1, 2, 5], around=PRAGUE, step=400)
    assert sum(likely.values()) == 8
    found = release_traces(PLACES, "ln(4)", radius=300, around=PRAGUE, map=town, prior=likely, seed=3)
    assert found.verdict.status == "proved"
    assert isinstance(recheck(found.verdict.certificate), Accepted)
    assert {row[1:] for row in found.rows} <= {PRAGUE.coordinates(site, step=400) for site in town.sites}
    rows, reach = found.noise.channel.rows, 300 + sqrt(2) * 400
    for x, row in rows.items():
        for y, other in rows.items():
            if 400 * hypot(x[0] - y[0], x[1] - y[1]) <= reach:
                assert all(float(p) ** 2 <= 4 * float(other[z]) ** 2 * (1 + 1e-9) for z, p in row.items())
    grid = release_traces(PLACES, "ln(4)", radius=300, step=400, around=PRAGUE, seed=3)
    assert float(found.noise.expected_distance) < float(grid.noise.expected_distance().mid())


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"map": map_of(PLACES[:2], around=PRAGUE, step=400)[0]}, "row 3 is not on the map"),
        ({"map": map_of(PLACES, around=PRAGUE, step=400)[0], "step": 20}, "has the step 400"),
        ({"map": map_of(PLACES[:1], around=PRAGUE, step=3000)[0]}, "a map of 1 places"),
    ],
)
def test_maps_that_do_not_fit(options, said):
    with pytest.raises(QuestionError, match=said):
        release_traces(PLACES, "ln(4)", radius=300, around=PRAGUE, **options)


def test_public_places_that_are_no_map():
    with pytest.raises(QuestionError, match="no places"):
        map_of([], around=PRAGUE, step=1)
    with pytest.raises(QuestionError, match="row 2 has the share -1"):
        map_of(PLACES, [1, -1, 1], around=PRAGUE, step=1)
    with pytest.raises(FormatError, match="row 1"):
        map_of([Whereabouts("", "north", "1")], around=PRAGUE, step=1)


def test_the_command_with_the_best_table(tmp_path):
    (tmp_path / "places.csv").write_text("lat,lon\n" + "".join(f"{p.latitude},{p.longitude}\n" for p in PLACES))
    (tmp_path / "public.csv").write_text(
        "lat,lon,visits\n" + "".join(f"{p.latitude},{p.longitude},{n}\n" for n, p in enumerate(PLACES, 1))
    )
    (tmp_path / "few.csv").write_text("lat,lon\n50.0866,14.4112\n50.0870,14.4201\n")
    command = [sys.executable, "-m", "privproof", "locations", "places.csv", "--latitude", "lat", "--longitude", "lon"]
    command += ["--epsilon", "ln(4)", "--radius", "300", "--reference", "50.0875,14.4213"]
    best = [*command, "--step", "400", "--optimal"]
    found = forked([*best, "public.csv", "--share", "visits", "--json", "--certificate", "proof.json"], tmp_path)
    assert found.returncode == 0, found.stderr
    answer = json.loads(found.stdout)
    assert len(answer["released"]) == 3
    assert "the best of all tables" in answer["noise"]
    assert "in the mean" in answer["error"]
    assert isinstance(recheck(json.loads((tmp_path / "proof.json").read_text())), Accepted)
    for wrong, said in (
        ([*best, "few.csv"], "row 3 is not on the map"),
        ([*best, "places.csv"], "private places"),
        ([*best, "public.csv", "--share", "nothing"], "no column 'nothing'"),
        ([*command, "--optimal", "public.csv"], "how coarse"),
        ([*command, "--share", "visits"], "about a map"),
    ):
        refused = forked(wrong, tmp_path)
        assert refused.returncode == 2
        assert said in refused.stderr
