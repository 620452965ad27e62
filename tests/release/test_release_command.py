"""The command ``release`` from the user's side: what comes out, what is said loudly, and what is refused with one message."""

from __future__ import annotations

import gzip
import json
import os
import sqlite3
from contextlib import suppress
from fractions import Fraction
from importlib import import_module
from random import Random

import pytest

from privproof.release import Chain, Geometric, count, verify
from privproof.release.prior_files import prior_text, read_prior

PRIOR = """\
kind: prior
transitions:
  rest: {rest: 9/10, walk: 1/10}
  walk: {rest: 2/5, walk: 3/5}
start: stationary
"""
MILD = PRIOR.replace("9/10", "11/20").replace("1/10", "9/20").replace("2/5", "9/20").replace("3/5", "11/20")
SEVERAL = """\
kind: prior
chains:
  - name: weekday
    transitions:
      rest: {rest: 4/5, walk: 1/5}
      walk: {rest: 1/2, walk: 1/2}
  - name: weekend
    transitions:
      rest: {rest: 3/5, walk: 2/5}
      walk: {rest: 2/5, walk: 3/5}
    start: any
  - transitions:
      rest: {rest: 3/5, walk: 2/5}
      walk: {rest: 2/5, walk: 3/5}
    start: {rest: 1}
"""
BAND = """\
kind: prior
name: roughly
transitions:
  rest: {rest: [7/10, 9/10], walk: [1/10, 3/10]}
  walk: {rest: [2/5, 3/5], walk: [2/5, 3/5]}
"""
PRIORS = """\
from privproof.release import Band, Chain, Network

walk = Chain.of({"rest": {"rest": "0.9", "walk": "0.1"}, "walk": {"rest": "0.4", "walk": "0.6"}}, name="mine")
both = [walk, walk.starting("any")]
flu = Network.exchangeable(["a", "b"], {0: "1/2", 2: "1/2"})
number, nothing = 3, []


def made():
    return walk


def breaks():
    raise ValueError("not today")
"""
MEMBERS = {
    "format", "version", "verdict", "released", "decimal", "query", "entries", "epsilon", "loss", "worst", "method", "quilt",
    "node", "noise", "expected_error", "error_95", "cost", "account", "ledger", "others", "prior", "data", "secure", "assumptions",
    "warnings", "question", "certificate", "seconds", "notes",
}  # fmt: skip


def walked(length, seed):
    """A series of the prior."""
    random, state, result = Random(seed), "rest", []
    for _ in range(length):
        state = random.choices(["rest", "walk"], [9, 1] if state == "rest" else [4, 6])[0]
        result.append(state)
    return result


DATA = walked(30, 1)


@pytest.fixture(scope="module", autouse=True)
def imported():
    """Import what tables are read with, so that the copies of this process that run the command have it."""
    for module in ("pyarrow.compute", "pyarrow.csv", "pyarrow.parquet"):
        with suppress(ImportError):
            import_module(module)


@pytest.fixture
def run(command):
    for name, text in (("prior.yaml", PRIOR), ("mild.yaml", MILD), ("several.yaml", SEVERAL), ("band.yaml", BAND)):
        command.write(name, text)
    command.write("priors.py", PRIORS)
    command.write("data.csv", "state\n" + "".join(f"{state}\n" for state in DATA))
    command.write("public.csv", "state\n" + "".join(f"{state}\n" for state in walked(300, 2)))
    rows = [f"{who},{minute},{state}" for who in "xyz" for minute, state in enumerate(walked(8, ord(who)))]
    command.write("series.csv", "who,minute,state\n" + "\n".join(rows) + "\n")
    return command


def asked(data="data.csv", query="count:walk", epsilon="1", column="state", **more):
    """Arguments of the command; underscores in names become dashes, True is a flag."""
    result = ["release", *([data] if isinstance(data, str) else data)]
    for name, value in {"column": column, "query": query, "epsilon": epsilon, **more}.items():
        for each in value if isinstance(value, list) else [value]:
            result += [f"--{name.replace('_', '-')}", *(() if each is True else (each,))]
    return result


def released(run, *given, **more):
    """The record that ``--json`` prints, and what stands on the other stream."""
    result = run(*given, *asked(**more), "--json")
    assert result.returncode == 0, result.stderr
    assert result.stdout.count("\n") == 1
    return json.loads(result.stdout), result.stderr


def refused(run, **more):
    """The one message about a request that is wrong."""
    result = run(*asked(**more))
    assert result.returncode == 2
    assert result.stdout == ""
    assert result.stderr.startswith(("privproof: ", "Usage: "))
    assert len(result.stderr.strip().splitlines()) <= 4
    return result.stderr


# -------------------------------------------------------------------------------------------------------------- the prior


def test_a_given_prior(run):
    result = run(*asked(prior="prior.yaml"))
    assert result.returncode == 0
    assert result.stderr == ""
    assert "✓ proved  count of walk: " in result.stdout
    assert "released with 1-Pufferfish privacy" in result.stdout
    for said in ("given in prior.yaml", "rows 30, entries 30", "operating system's generator", "an entry costs"):
        assert said in result.stdout
    assert "WARNING" not in result.stdout


def test_a_prior_fitted_to_public_data(run):
    record, errors = released(run, fit="public.csv")
    assert errors == ""
    assert record["prior"]["fitted_on_private_data"] is False
    assert record["prior"]["source"].startswith("fitted to public.csv (300 entries in 2 states")
    rows = record["question"]["priors"][0]["rows"]
    assert [sum(map(Fraction, row)) for row in rows] == [1, 1]
    assert record["warnings"] == []
    smooth, _ = released(run, fit="public.csv", smoothing="1000000", start="any")
    assert abs(Fraction(smooth["question"]["priors"][0]["rows"][0][0]) - Fraction(1, 2)) < Fraction(1, 1000)
    assert smooth["question"]["priors"][0]["start"] == "any"


def test_a_band_is_fitted_with_a_confidence(run):
    record, _ = released(run, fit="public.csv", confidence="0.95", epsilon="5")
    assert record["method"] == "contraction"
    assert record["question"]["priors"][0]["kind"] == "band"
    assert "confidence" in record["assumptions"][0]
    assert "is not smoothed" in refused(run, fit="public.csv", confidence="0.95", smoothing="1")
    assert "confidence" in refused(run, fit="public.csv", confidence="95")


def test_a_fit_is_counted_exactly(run):
    run.write("few.csv", "state\nrest\nrest\nwalk\nrest\n")
    record, _ = released(run, fit="few.csv", smoothing="1/3")
    assert record["question"]["priors"][0]["states"] == ["rest", "walk"]
    assert record["question"]["priors"][0]["rows"] == [["1/2", "1/2"], ["4/5", "1/5"]]


def test_several_public_tables(run):
    record, _ = released(run, fit=["public.csv", "data.csv"])
    assert "public.csv, data.csv (330 entries" in record["prior"]["source"]


def test_a_prior_fitted_to_the_private_data_is_told_loudly(run):
    result = run(*asked(fit_private=True, record="r.json", report="r.html"))
    assert result.returncode == 0
    first = result.stdout.splitlines()[0]
    assert first.startswith("WARNING: the prior was fitted to the private data itself")
    record = json.loads((run.folder / "r.json").read_text(encoding="utf-8"))
    assert record["prior"] == {"source": "fitted to the private data itself", "fitted_on_private_data": True}
    assert any(text.startswith("WARNING: the prior was fitted") for text in record["warnings"])
    assert "WARNING: the prior was fitted" in (run.folder / "r.html").read_text(encoding="utf-8")
    found, errors = released(run, fit_private=True)
    assert errors.startswith("WARNING: the prior was fitted to the private data itself")
    assert found["warnings"][0] in errors


def test_what_was_found_stands_in_the_order_of_the_alphabet(run):
    """Otherwise the order would tell which state came first."""
    run.write("late.csv", "state\nzzz\nzzz\nmmm\naaa\nzzz\nmmm\n")
    record, _ = released(run, data="late.csv", query="histogram", fit_private=True)
    assert list(record["released"]) == ["aaa", "mmm", "zzz"]


def test_named_states_stay_in_their_order_and_may_be_absent(run):
    record, _ = released(run, query="histogram", fit="public.csv", states="walk, run,rest")
    assert list(record["released"]) == ["walk", "run", "rest"]


@pytest.mark.parametrize(("name", "number"), [("walk", 1), ("both", 2), ("made", 1)])
def test_a_prior_in_a_python_file(run, name, number):
    record, _ = released(run, prior=f"priors.py:{name}")
    assert record["prior"]["source"] == f"given in priors.py:{name}"
    assert len(record["question"]["priors"]) == number


def test_several_chains_and_a_band(run):
    several, _ = released(run, prior="several.yaml")
    assert [one["start"] for one in several["question"]["priors"]] == ["stationary", "any", ["1", "0"]]
    assert several["method"] == "quilt"
    assert "one of the priors" in several["assumptions"][0]
    band, _ = released(run, prior="band.yaml")
    assert band["question"]["priors"][0]["kind"] == "band"
    assert band["method"] == "contraction"
    assert "start may be any" in several["others"]["exact"]
    assert "a band holds chains that change" in band["others"]["quilt"]


def test_a_saved_prior_can_be_given_again(run):
    for given in ({"fit": "public.csv"}, {"prior": "several.yaml"}, {"prior": "band.yaml"}, {"prior": "prior.yaml"}):
        first, _ = released(run, save_prior="saved.json", seed="4", **given)
        again, _ = released(run, prior="saved.json", seed="4")
        assert again["question"]["priors"] == first["question"]["priors"]
        assert again["released"] == first["released"]
        if "prior" in given:
            assert read_prior(run.folder / "saved.json") == read_prior(run.folder / given["prior"])


# --------------------------------------------------------------------------------------------------------------- the data


def test_gzip_and_several_files_are_one_table(run):
    text = "state\n" + "".join(f"{state}\n" for state in DATA)
    run.write("data.csv.gz", gzip.compress(text.encode()))
    plain, _ = released(run, prior="prior.yaml", seed="1")
    packed, _ = released(run, data="data.csv.gz", prior="prior.yaml", seed="1")
    assert packed["released"] == plain["released"]
    halves = [run.write(f"{i}.csv", "state\n" + "".join(f"{s}\n" for s in DATA[15 * i : 15 * i + 15])) for i in (0, 1)]
    both, _ = released(run, data=halves, prior="prior.yaml", seed="1")
    assert both["released"] == plain["released"]
    assert both["data"]["chains"] == 1
    assert both["data"]["files"] == "0.csv, 1.csv"


def test_parquet_says_the_same_as_csv(run):
    arrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    lines = (run.folder / "series.csv").read_text().splitlines()[1:]
    who, minute, state = zip(*(line.split(",") for line in lines), strict=True)
    table = arrow.table({"who": who, "minute": [int(m) for m in minute], "state": state})
    parquet.write_table(table, run.folder / "series.parquet")
    options = {"series": "who", "time": "minute", "gap": "1", "prior": "prior.yaml", "seed": "1", "query": "shares"}
    csv, _ = released(run, data="series.csv", **options)
    other, _ = released(run, data="series.parquet", **options)
    assert other["released"] == csv["released"]
    assert other["data"] == {**csv["data"], "files": "series.parquet"}


def test_series_are_told_apart(run):
    record, _ = released(run, data="series.csv", series="who", prior="prior.yaml")
    assert (record["data"]["series"], record["data"]["chains"], record["data"]["longest"]) == (3, 3, 8)
    assert record["question"]["lengths"] == [8]
    assert record["entries"] == 24
    assert any("independent of each other" in text for text in record["assumptions"])
    together, _ = released(run, data="series.csv", prior="prior.yaml")
    assert together["question"]["lengths"] == [24]
    assert not any("independent" in text for text in together["assumptions"])


def test_gaps_and_missing_entries_split_a_series(run):
    rows = "who,at,state\na,1,rest\na,2,walk\na,5,walk\na,6,\na,7,rest\na,8,n/a\na,9,rest\na,10,rest\nb,1,rest\n"
    run.write("gaps.csv", rows)
    record, _ = released(run, data="gaps.csv", series="who", time="at", gap="1", missing="n/a", prior="prior.yaml")
    assert record["data"]["missing"] == 2
    assert (record["data"]["rows"], record["data"]["entries"]) == (9, 7)
    assert (record["data"]["series"], record["data"]["chains"]) == (2, 5)
    assert record["question"]["lengths"] == [1, 6]
    assert record["method"] == "quilt"
    assert record["warnings"] == []
    parts, errors = released(
        run, data="gaps.csv", series="who", time="at", gap="1", missing="n/a", prior="prior.yaml", gaps="independent"
    )
    assert parts["question"]["lengths"] == [1, 2]
    assert any("both sides of a gap or a missing entry" in text for text in parts["assumptions"])
    assert any("taken to be independent" in text for text in parts["warnings"])
    assert "taken to be independent" in errors
    whole, _ = released(run, data="gaps.csv", series="who", time="at", missing="n/a", prior="prior.yaml")
    assert (whole["data"]["chains"], whole["question"]["lengths"]) == (4, [1, 6])


def test_missing_entries_do_not_hide_what_connects_the_others(run):
    """A chain that seldom changes: with every second entry missing, what is left is nearly one value."""
    run.write("sticky.yaml", "kind: prior\ntransitions: {a: {a: 99/100, b: 1/100}, b: {a: 1/100, b: 99/100}}\n")
    run.write("holes.csv", "at,state\n" + "".join(f"{2 * i},a\n{2 * i + 1},\n" for i in range(20)))
    record, _ = released(run, data="holes.csv", query="count:a", prior="sticky.yaml")
    noise = Geometric.of(record["question"]["noise"]["alpha"])
    stay = Fraction(99, 100) ** 2 + Fraction(1, 100) ** 2
    two_steps = Chain.of({"a": {"a": stay, "b": 1 - stay}, "b": {"a": 1 - stay, "b": stay}})
    truth = verify(two_steps, length=20, query=count("a"), noise=noise)
    assert float(truth.upper.decimal()) <= 1
    parts, _ = released(run, data="holes.csv", query="count:a", prior="sticky.yaml", gaps="independent")
    careless = verify(two_steps, length=20, query=count("a"), noise=Geometric.of(parts["question"]["noise"]["alpha"]))
    assert float(careless.lower.decimal()) > 7


@pytest.mark.parametrize(
    ("rows", "prior", "said"),
    [
        ("state\na\nghost\n", "{a: {a: 1/2, b: 1/2}, b: {a: 1/2, b: 1/2}, ghost: {a: 1}}", "impossible under"),
        ("state\na\na\n", "{a: {a: 1/2, b: 1/2}, b: {b: 1/2, a: 1/2}, ghost: {a: 1}}", "the same for all data"),
        ("state\na\na\n", "{a: {b: 1}, b: {a: 1}}", "'a' is followed by 'a'"),
    ],
)
def test_a_prior_that_does_not_allow_the_data_is_refused(run, rows, prior, said):
    run.write("data.csv", rows)
    run.write("other.yaml", f"kind: prior\ntransitions: {prior}\n")
    query = "count:ghost" if "ghost" in prior else "count:a"
    assert said in refused(run, data="data.csv", query=query, prior="other.yaml")


def test_fitting_to_the_private_file_is_noticed(run):
    record, errors = released(run, data="series.csv", series="who", fit="series.csv")
    assert record["prior"]["fitted_on_private_data"] is True
    assert "fitted to the private data itself" in errors


def test_options_that_a_given_prior_overrides_are_refused(run):
    for more in ({"start": "any"}, {"smoothing": "1"}, {"states": "rest,walk"}):
        refused(run, data="series.csv", prior="prior.yaml", **more)


def test_timestamps_with_a_gap_in_seconds(run):
    times = ["2024-03-01T12:00:00", "2024-03-01T12:01:00", "2024-03-01T12:03:00", "2024-03-01T12:04:00"]
    run.write("times.csv", "at,state\n" + "".join(f"{at},rest\n" for at in times))
    record, _ = released(run, data="times.csv", time="at", gap="60", prior="prior.yaml", gaps="independent")
    assert (record["data"]["chains"], record["question"]["lengths"]) == (2, [2])


def test_the_mean_of_numbers_in_bins(run):
    numbers = [1, 2, "3.5", 9, 7, "5", 1, "4.999", -8, 200]
    run.write("watts.csv", "watts\n" + "".join(f"{n}\n" for n in numbers))
    options = {"data": "watts.csv", "column": "watts", "bins": "0:5:10", "fit": "watts.csv", "epsilon": "1000"}
    record, _ = released(run, query="mean", **options)
    assert record["released"] == {"mean": str((6 * Fraction(5, 2) + 4 * Fraction(15, 2)) / 10)}
    assert record["question"]["priors"][0]["states"] == ["0..5", "5..10"]
    assert record["question"]["query"]["step"] == "5/2"
    total, _ = released(run, query="sum", **options)
    assert total["released"] == {"sum": "45"}
    counts, _ = released(run, query="histogram", **options)
    assert counts["released"] == {"0..5": "6", "5..10": "4"}


def test_the_mean_of_numbers_without_bins(run):
    numbers = [1, 2, "3.5", 9, 7, "5", 1, "4.999", -8, 200]
    run.write("watts.csv", "watts\n" + "".join(f"{n}\n" for n in numbers))
    run.write("real.yaml", "kind: prior\nname: meter\ncorrelation: [1/2, 9/10]\nvalues: [0, 10]\n")
    options = {"data": "watts.csv", "column": "watts", "prior": "real.yaml"}
    record, _ = released(run, query="mean:step=1/1000", epsilon="10000", certificate="real.json", **options)
    assert abs(record["decimal"]["mean"] - 4.3499) < 0.05  # -8 counts as 0 and 200 as 10
    assert record["question"]["priors"][0]["kind"] == "gaussian-chain"
    assert any("beyond 0..10" in text for text in record["assumptions"])
    assert run("recheck", "real.json").returncode == 0
    gaussian, _ = released(run, query="sum", epsilon="1", noise="gaussian", delta="1e-6", **options)
    assert gaussian["method"] == "coupling"
    assert "no query of real numbers" in refused(run, query="median", **options)
    assert "the prior is about real numbers" in refused(run, query="mean", bins="0:5:10", **options)
    run.write("certain.yaml", "kind: prior\ncorrelation: 1\nvalues: [0, 10]\n")
    assert "between -1 and 1" in refused(run, query="mean", **{**options, "prior": "certain.yaml"})
    run.write("open.yaml", "kind: prior\ncorrelation: 1/2\n")
    assert "how far apart" in refused(run, query="mean", **{**options, "prior": "open.yaml"})


def test_states_that_are_numbers(run):
    run.write("dice.csv", "state\n1\n3\n2\n3\n")
    record, _ = released(run, data="dice.csv", query="mean", states="1,2,3", fit="dice.csv", epsilon="1000")
    assert record["released"] == {"mean": "9/4"}


# ------------------------------------------------------------------------------------------------------- what is released


WALKS = DATA.count("walk")


@pytest.mark.diagonal
@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("count:walk", {"count of walk": WALKS}),
        (" count: rest ", {"count of rest": 30 - WALKS}),
        ("histogram", {"rest": 30 - WALKS, "walk": WALKS}),
        ("shares", {"rest": Fraction(30 - WALKS, 30), "walk": Fraction(WALKS, 30)}),
        ("sum:walk=1/3,rest=-1", {"sum of walk=1/3, rest=-1": Fraction(WALKS, 3) - (30 - WALKS)}),
        ("mean:walk=0.5", {"mean of walk=0.5": Fraction(WALKS, 60)}),
    ],
)
@pytest.mark.parametrize("noise", ["geometric", "laplace"])
def test_every_form_of_query(run, query, expected, noise):
    record, _ = released(run, query=query, prior="prior.yaml", epsilon="100", noise=noise)
    assert list(record["released"]) == list(expected)
    for name, value in expected.items():
        assert abs(Fraction(record["released"][name]) - value) < 1
        assert record["decimal"][name] == pytest.approx(float(Fraction(record["released"][name])))
    assert record["verdict"] == "proved"
    small, _ = released(run, query=query, prior="prior.yaml", epsilon="1/1000", noise=noise)
    assert set(small["released"]) == set(expected)
    assert Fraction(small["expected_error"]) > Fraction(record["expected_error"]) * 1000


@pytest.mark.parametrize("epsilon", ["300", "5000"])
@pytest.mark.parametrize("noise", ["geometric", "laplace"])
def test_with_a_huge_budget_the_truth_shows(run, epsilon, noise):
    record, _ = released(run, query="sum:walk=1/3,rest=-1", prior="prior.yaml", epsilon=epsilon, noise=noise)
    (value,) = record["released"].values()
    assert abs(Fraction(value) - (Fraction(WALKS, 3) - (30 - WALKS))) < Fraction(1, 2)


@pytest.mark.parametrize(
    "method", ["auto", "exact", "wasserstein", "quilt", "contraction", "spectral-tight", "spectral", "group", "gk16"]
)
def test_methods_by_name(run, method):
    prior = "mild.yaml" if method == "gk16" else "prior.yaml"
    record, _ = released(run, prior=prior, method=method)
    assert record["method"] == ("exact" if method == "auto" else method)
    assert Fraction(record["loss"]["upper"]) <= 1
    assert (record["quilt"] is not None) == (method in ("quilt", "contraction", "spectral-tight", "spectral"))


def test_noise_by_name(run):
    geometric, _ = released(run, prior="prior.yaml", method="group")
    assert geometric["question"]["noise"]["kind"] == "geometric"
    assert Fraction(geometric["released"]["count of walk"]).denominator == 1
    laplace, _ = released(run, prior="prior.yaml", method="group", noise="laplace")
    assert laplace["question"]["noise"]["kind"] == "laplace"
    scale = Fraction(laplace["question"]["noise"]["scale"])
    assert 30 <= scale < 30 + Fraction(1, 10**9)
    assert Fraction(laplace["expected_error"]) == scale
    assert laplace["noise"].startswith("Laplace noise of scale ")


def test_a_seed_repeats_the_noise_and_is_told_loudly(run):
    first, errors = released(run, prior="prior.yaml", seed="12", query="histogram")
    again, _ = released(run, prior="prior.yaml", seed="12", query="histogram")
    assert first["released"] == again["released"]
    assert first["secure"] is False
    assert errors == first["warnings"][0] + "\n"
    assert errors.startswith("WARNING: the noise was drawn from a seed")
    shown = run(*asked(prior="prior.yaml", seed="12", query="histogram"))
    assert shown.stdout.startswith("WARNING: the noise was drawn from a seed")
    assert "FROM A SEED" in shown.stdout
    others = {
        json.dumps(released(run, prior="prior.yaml", query="histogram", epsilon="1/50")[0]["released"]) for _ in "123"
    }
    assert len(others) > 1
    safe, errors = released(run, prior="prior.yaml")
    assert safe["secure"] is True
    assert errors == ""


@pytest.mark.parametrize(("epsilon", "exact"), [("0.5", "1/2"), ("ln(2)", "ln(2)"), ("1e-1", "1/10"), ("3/7", "3/7")])
def test_budgets_are_exact(run, epsilon, exact):
    record, _ = released(run, prior="prior.yaml", epsilon=epsilon)
    assert record["epsilon"] == exact


# ------------------------------------------------------------------------------------------------------------- the record


def test_one_object_with_all_its_members(run):
    record, errors = released(run, prior="prior.yaml", method="quilt")
    assert errors == ""
    assert set(record) == MEMBERS
    assert (record["format"], record["version"], record["verdict"]) == ("privproof-release", 1, "proved")
    for name in ("expected_error", "error_95", "cost", "account"):
        assert isinstance(record[name], str)
        assert Fraction(record[name]) > 0
    assert all(isinstance(value, str) and Fraction(value) is not None for value in record["released"].values())
    assert isinstance(record["decimal"]["count of walk"], float)
    assert set(record["others"]) <= {"quilt", "contraction", "wasserstein", "exact"}
    assert record["data"] == {
        "files": "data.csv", "rows": 30, "entries": 30, "missing": 0, "series": 1, "chains": 1, "longest": 30
    }  # fmt: skip
    assert record["question"]["kind"] == "release"
    assert record["question"]["query"] == {"kind": "sum", "weights": {"walk": "1"}, "step": "1"}
    assert record["certificate"] is None
    assert Fraction(record["account"]) <= 1


def test_the_worst_case_is_told(run):
    record, _ = released(run, prior="prior.yaml")
    assert record["worst"]["left"].startswith("X_")
    low, high = (float(end) for end in record["worst"]["ratio"])
    assert 0 < low <= high < 2.7182818285
    assert float(record["loss"]["lower"]) <= float(record["loss"]["upper"]) <= 1
    assert float(record["loss"]["upper"]) == pytest.approx(1, rel=1e-4)


def test_files_are_written_and_say_the_same(run):
    options = {"record": "r.json", "certificate": "c.json", "report": "r.html", "save_prior": "p.json"}
    record, _ = released(run, query="histogram", method="quilt", prior="prior.yaml", **options)
    assert json.loads((run.folder / "r.json").read_text(encoding="utf-8")) == record
    assert record["certificate"] == "c.json"
    accepted = run("recheck", "c.json")
    assert accepted.returncode == 0
    assert "accepted" in accepted.stdout
    page = (run.folder / "r.html").read_text(encoding="utf-8")
    assert page.count("<svg") >= 3
    assert "released with 1-Pufferfish privacy" in page
    shown = run(*asked(query="histogram", prior="prior.yaml", **options)).stdout
    for name in options.values():
        assert name in shown


@pytest.mark.parametrize(
    "given", [{"method": "exact"}, {"method": "quilt"}, {"prior": "several.yaml"}, {"prior": "band.yaml"}]
)
def test_certificates_are_accepted_and_changed_ones_are_not(run, given):
    released(run, **{"prior": "prior.yaml", **given, "certificate": "c.json"})
    assert run("recheck", "c.json").returncode == 0
    certificate = json.loads((run.folder / "c.json").read_text(encoding="utf-8"))
    assert certificate["question"]["epsilon"] == "1"
    certificate["question"]["epsilon"] = "1/20"
    run.write("c.json", json.dumps(certificate))
    assert run("recheck", "c.json").returncode == 2


def test_names_from_the_data_are_no_markup(run):
    run.write("odd.csv", "state\n[red]x[/red]\n<b>&amp;\n[red]x[/red]\n<b>&amp;\n<b>&amp;\n")
    result = run(*asked(data="odd.csv", query="histogram", fit_private=True, report="r.html"))
    assert result.returncode == 0
    assert "[red]x[/red]" in result.stdout
    page = (run.folder / "r.html").read_text(encoding="utf-8")
    assert "<b>&amp;amp;" not in page.replace("&lt;b&gt;&amp;amp;", "")
    assert "&lt;b&gt;" in page


# ------------------------------------------------------------------------------------------------------- nothing released


def test_nothing_is_released_where_privacy_is_not_proved(run):
    """Ghosh and Kleinberg's noise is less than quilts allow, and where the start may be any the exact loss is not known."""
    run.write("anywhere.yaml", MILD.replace("stationary", "any"))
    options = {"query": "histogram", "epsilon": "1/5", "prior": "anywhere.yaml", "method": "gk16"}
    files = {"record": "r.json", "certificate": "c.json", "report": "r.html"}
    result = run(*asked(**options, **files))
    assert result.returncode == 3
    assert "unknown" in result.stdout
    assert "nothing was released" in result.stderr
    assert "the quilts do not allow so little noise" in result.stdout
    for name in files.values():
        assert not (run.folder / name).exists()
    quiet = run(*asked(**options), "--json")
    assert quiet.returncode == 3
    assert "released" not in quiet.stdout or json.loads(quiet.stdout).get("released") in ({}, None)
    assert "nothing was released" in quiet.stderr


# ------------------------------------------------------------------------------------------------------------ what is wrong


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({}, "which prior?"),
        ({"prior": "prior.yaml", "fit": "public.csv"}, "which prior?"),
        ({"prior": "prior.yaml", "fit_private": True}, "which prior?"),
        ({"fit": "public.csv", "fit_private": True}, "which prior?"),
        ({"prior": "nowhere.yaml"}, "nowhere.yaml: there is no such file"),
        ({"prior": "data.csv"}, "data.csv"),
        ({"prior": "priors.py:nosuch"}, "has no 'nosuch'"),
        ({"prior": "priors.py:flu"}, "which column names the nodes of the network?"),
        ({"prior": "priors.py:number"}, "'number' is a int, no prior"),
        ({"prior": "priors.py:nothing"}, "no prior"),
        ({"prior": "priors.py:breaks"}, "ValueError: not today"),
        ({"prior": "prior.yaml:walk"}, "a file holds one class of priors"),
        ({"fit": "nowhere.csv"}, "nowhere.csv: there is no such file"),
    ],
)
def test_which_prior(run, changed, said):
    assert said in refused(run, **changed)


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"column": "stat"}, "did you mean 'state'?"),
        ({"series": "who"}, "there is no column 'who'"),
        ({"time": "when"}, "there is no column 'when'"),
        ({"gap": "5"}, "gap = 5, time = None"),
        ({"data": "nowhere.csv"}, "there is no such file"),
        ({"method": "magic"}, "unknown method 'magic'"),
        ({"noise": "gauss"}, "unknown noise 'gauss'"),
        ({"epsilon": "0"}, "epsilon = 0"),
        ({"epsilon": "-1"}, "below zero"),
        ({"epsilon": "abc"}, "unexpected 'a'"),
        ({"epsilon": "inf"}, "epsilon = inf"),
        ({"epsilon": ""}, "unexpected the end"),
        ({"seed": "many"}, "--seed"),
        ({"bins": "0:2"}, "names no bins"),
        ({"bins": "0:3:10"}, "the width 3 goes 10/3"),
        ({"bins": "5:1:5"}, "low < high"),
        ({"bins": "a:b:c"}, "not an exact number"),
        ({"bins": "0:1:1000000"}, "bins"),
        ({"bins": "0:5:10"}, "'rest' is no number"),
        ({"states": "a,b"}, "states"),
        ({"method": "gk16"}, "gk16 does not apply"),
        ({"prior": "band.yaml", "method": "quilt"}, "quilt does not apply"),
        ({"query": "histogram", "method": "wasserstein"}, "is that of sums"),
    ],
)
def test_options_that_make_no_sense(run, changed, said):
    assert said in refused(run, **{"prior": "prior.yaml", **changed})


@pytest.mark.parametrize(
    ("query", "said"),
    [
        ("count:run", "unknown state 'run'"),
        ("count:", "is no query"),
        ("count", "is no query"),
        ("walk", "is no query"),
        ("variance", "is no query"),
        ("", "is no query"),
        ("histogram:walk", "is no query"),
        ("sum", "the states are no numbers"),
        ("mean", "the states are no numbers"),
        ("sum:walk", "'walk' gives no weight"),
        ("sum:walk=x", "not an exact number"),
        ("sum:walk=1/0", "divides by zero"),
        ("sum:run=1", "unknown state 'run'"),
        ("sum:rest=2,walk=2", "the same for all data"),
        ("count:rest,walk", "the same for all data"),
        ("mean:rest=0", "every weight is 0"),
    ],
)
def test_queries_that_are_none(run, query, said):
    message = refused(run, query=query, prior="prior.yaml")
    assert said in message
    assert "query" in message or "weights" in message


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "the file is empty"),
        ("state\n", "there are no rows"),
        ("state\n\n\n", "all 2 entries are missing"),
        ("state\nrest\nrun\n", "row 2: state: 'run' is none of the states"),
        ("state\nrest\nWalk\n", "'Walk' is none of the states"),
    ],
)
def test_data_that_are_none(run, text, said):
    run.write("wrong.csv", text)
    message = refused(run, data="wrong.csv", prior="prior.yaml")
    assert said in message
    assert "wrong.csv" in message


def test_data_that_the_public_table_does_not_know(run):
    run.write("more.csv", "state\nrest\nrun\n")
    assert "'run' is none of the states" in refused(run, data="more.csv", fit="public.csv")
    run.write("same.csv", "state\nrest\nrest\n")
    assert "one state" in refused(run, fit="same.csv", data="same.csv")


def test_bins_that_are_not_those_of_the_prior(run):
    run.write("numbers.csv", "watts\n1\n7\n")
    message = refused(run, data="numbers.csv", column="watts", bins="0:5:10", query="mean", prior="prior.yaml")
    assert "the data have the states 0..5, 5..10, the prior rest, walk" in message


def test_times_that_go_back(run):
    run.write("back.csv", "at,state\n2,rest\n1,rest\n")
    assert "back.csv: row 2" in refused(run, data="back.csv", time="at", gap="1", prior="prior.yaml")


@pytest.mark.parametrize("option", ["record", "certificate", "report", "save_prior"])
def test_a_file_that_cannot_be_written_is_told_before_anything_is_read(run, option):
    for path in ("nowhere/out", ".", "data.csv/out"):
        message = refused(run, data="not-there.csv", prior="prior.yaml", **{option: path})
        assert "cannot write" in message
    if os.geteuid() != 0:
        (run.folder / "closed").mkdir(mode=0o500)
        assert "cannot write" in refused(run, prior="prior.yaml", **{option: "closed/out"})


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("walk: 3/5", "walk: 2/5", "wrong.yaml:4:3: transitions.walk: the probabilities sum to 4/5"),
        ("kind: prior", "kind: hmm", "wrong.yaml:1:7: kind: a file of kind 'hmm' is no prior"),
        ("kind: prior\n", "", "kind"),
        ("kind: prior", "kind: prior\nstat: 3", "did you mean"),
        ("9/10", "0.9", "wrong.yaml:3:16: transitions.rest.rest: 0.9 is a float"),
        ("9/10", "many", "wrong.yaml:3:16"),
        ("9/10", "-9/10", "wrong.yaml:3"),
        ("walk: 1/10", "run: 1/10", "unknown state 'run'"),
        ("start: stationary", "start: somewhere", "wrong.yaml:5"),
        ("start: stationary", "start: {rest: 1/2}", "start: the probabilities sum to 1/2"),
        ("start: stationary", "start: {run: 1}", "wrong.yaml:5"),
        ("start: stationary", "start: [1, 0]", "wrong.yaml:5"),
        ("{rest: 9/10, walk: 1/10}", "[9/10, 1/10]", "wrong.yaml:3:3: transitions.rest: expected a mapping"),
        ("{rest: 9/10, walk: 1/10}", "{rest: [1/10, 1/2, 1], walk: 1/10}", "3 numbers"),
        ("{rest: 9/10, walk: 1/10}", "{rest: [1/2, 1], walk: 1/10}", "wrong.yaml:5:8: start: a band starts anywhere"),
        ("transitions:", "chains: []\ntransitions:", "chain"),
    ],
)
def test_prior_files_that_are_none(run, old, new, said):
    assert old in PRIOR
    run.write("wrong.yaml", PRIOR.replace(old, new, 1))
    message = refused(run, prior="wrong.yaml")
    assert said in message
    assert "wrong.yaml" in message


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("[7/10, 9/10]", "[9/10, 7/10]", "[9/10 = 0.9, 7/10 = 0.7] is no interval"),
        ("[7/10, 9/10]", "[1/10, 1/5]", "no distribution lies between"),
        ("[7/10, 9/10]", "[7/10, 11/10]", "is no interval"),
        ("walk: [1/10, 3/10]", "run: [1/10, 3/10]", "unknown state 'run'"),
    ],
)
def test_bands_that_are_none(run, old, new, said):
    assert old in BAND
    run.write("wrong.yaml", BAND.replace(old, new, 1))
    message = refused(run, prior="wrong.yaml")
    assert said in message
    assert "wrong.yaml:4:" in message


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("walk: 1/5", "walk: 1/6", "wrong.yaml:5:7: chains[0].transitions.rest"),
        ("start: {rest: 1}", "start: {rest: 2}", "wrong.yaml:15"),
        ("rest: {rest: 4/5, walk: 1/5}", "rest: {rest: [4/5, 1], walk: [0, 1/5]}", "a band among chains"),
        ("name: weekday", "nane: weekday", "did you mean 'name'"),
    ],
)
def test_one_of_several_chains_that_is_none(run, old, new, said):
    assert old in SEVERAL
    run.write("wrong.yaml", SEVERAL.replace(old, new, 1))
    assert said in refused(run, prior="wrong.yaml")


def test_chains_about_different_states(run):
    run.write("wrong.yaml", SEVERAL + "  - transitions: {rest: {rest: 1/2, run: 1/2}, run: {rest: 1}}\n")
    assert "different states" in refused(run, prior="wrong.yaml")


def test_the_help_promises_the_exit_statuses(run):
    result = run("release", "--help")
    assert result.returncode == 0
    said = " ".join(result.stdout.split())
    assert (
        "Exit status: 0 released, 2 the request was wrong, 3 its privacy was not proved and nothing is released" in said
    )
    assert run("release").returncode == 2


# ---------------------------------------------------------------------------------- ledgers, folders, databases, processes


def test_a_release_is_entered_into_a_ledger_before_it_is_made(run):
    made = run("account", "create", "walks.ledger", "--prior", "prior.yaml", "--length", "30", "--epsilon", "3/2")
    assert made.returncode == 0, made.stderr
    paid = {"prior": "prior.yaml", "method": "quilt", "account": "walks.ledger", "analyst": "ann", "note": "walks"}
    record, _ = released(run, **paid)
    history = json.loads(run("account", "history", "walks.ledger", "--json").stdout)["entries"]
    assert record["ledger"] == {"entry": 2, "digest": history[-1]["digest"]}
    assert history[-1]["cost"] == {"entry": record["cost"], "first": 1, "last": 30}
    assert (history[-1]["analyst"], history[-1]["note"]) == ("ann", "walks")
    verified = json.loads(run("account", "verify", "walks.ledger", "--json").stdout)
    assert (verified["sound"], verified["certificates"]) == (True, 1)
    for _ in range(3):
        more = run(*asked(**paid))
        if more.returncode:
            break
    assert more.returncode == 1
    assert "REFUSED" in more.stdout.upper()
    assert "count of walk" not in more.stdout
    assert "nothing was released" in more.stderr
    after = json.loads(run("account", "show", "walks.ledger", "--json").stdout)["datasets"][0]
    assert Fraction(after["total"]["epsilon"]) <= Fraction(3, 2)
    refusal = json.loads(run(*asked(**paid), "--json").stdout)
    assert refusal["released"] == {}


def test_a_ledger_that_does_not_fit_is_refused_and_nothing_is_entered(run):
    for name, options in (
        ("plain", ["--epsilon", "4"]),
        ("other", ["--prior", "mild.yaml", "--length", "30", "--epsilon", "4"]),
        ("short", ["--prior", "prior.yaml", "--length", "29", "--epsilon", "4"]),
        ("right", ["--prior", "prior.yaml", "--length", "30", "--epsilon", "4"]),
    ):
        assert run("account", "create", f"{name}.ledger", *options).returncode == 0
    assert "is paid under a prior" in refused(run, prior="prior.yaml", account="plain.ledger")
    assert "under another prior" in refused(run, prior="prior.yaml", account="other.ledger")
    assert "the budget is for 29" in refused(run, prior="prior.yaml", account="short.ledger")
    assert "drawn from a seed" in refused(run, prior="prior.yaml", account="right.ledger", seed="1")
    assert "no such ledger" in refused(run, prior="prior.yaml", account="none.ledger")
    assert "no data set 'x'" in refused(run, prior="prior.yaml", account="right.ledger", dataset="x")
    for name in ("plain", "other", "short", "right"):
        shown = json.loads(run("account", "show", f"{name}.ledger", "--json").stdout)
        assert shown["datasets"][0]["releases"] == 0
    assert "the length of the longest series" in run("account", "create", "x.ledger", "--length", "3").stderr


def test_a_folder_and_a_database_are_tables(run, tmp_path):
    parts = tmp_path / "parts"
    parts.mkdir()
    for number in range(3):
        rows = "".join(f"{state}\n" for state in DATA[10 * number : 10 * number + 10])
        (parts / f"part-{number}.csv").write_text(f"state\n{rows}", encoding="utf-8")
    database = tmp_path / "walks.db"
    connection = sqlite3.connect(database)
    connection.execute("CREATE TABLE walks (state TEXT)")
    connection.executemany("INSERT INTO walks VALUES (?)", [(state,) for state in DATA])
    connection.commit()
    connection.close()
    same = {"prior": "prior.yaml", "seed": "3", "query": "histogram"}
    expected = released(run, **same)[0]["released"]
    assert released(run, data=str(parts), **same)[0]["released"] == expected
    assert released(run, data=str(parts), jobs="2", **same)[0]["released"] == expected
    query = "SELECT state FROM walks ORDER BY rowid"
    found = released(run, data=str(database), sql=query, **same)[0]
    assert (found["released"], found["data"]["files"]) == (expected, "Cursor of sqlite3")
    assert "no such table" in refused(run, data=str(database), sql="SELECT * FROM runs", prior="prior.yaml")
    assert "readonly" in refused(run, data=str(database), sql="DELETE FROM walks RETURNING state", prior="prior.yaml")
    assert "no database" in refused(run, data="data.csv", sql=query, prior="prior.yaml")
    assert "2 databases" in refused(run, data=["a.db", "b.db"], sql=query, prior="prior.yaml")


STREET = """\
kind: prior
name: street
nodes:
  rain: {table: {yes: 1/5, no: 4/5}}
  Ann: {parents: [rain], table: {yes: {bus: 3/4, bike: 1/4}, no: {bus: 1/4, bike: 3/4}}}
  Bob: {parents: [rain, Ann], table: {"yes, bus": {bus: 1}, "yes, bike": {bus: 1/2, bike: 1/2}, "no, bus": {bike: 1},
    "no, bike": {bus: 1/4, bike: 3/4}}}
"""
TRAVELLED = {"rain": "yes", "Ann": "bus", "Bob": "bus"}


def street(command, rows, *more):
    command.write("street.yaml", STREET)
    command.write("street.csv", "who,how\n" + "".join(f"{who},{how}\n" for who, how in rows))
    return command("release", "street.csv", "--column", "how", "--prior", "street.yaml", "--epsilon", "1", *more)


@pytest.mark.parametrize("noise", [(), ("--noise", "gaussian", "--delta", "1e-3")])
def test_a_network(run, noise):
    asked = ("--series", "who", "--query", "count:bus", "--seed", "3", "--json", "--certificate", "c.json", *noise)
    found = street(run, TRAVELLED.items(), *asked)
    assert found.returncode == 0
    told = json.loads(found.stdout)
    assert (told["verdict"], told["entries"]) == ("proved", 3)
    assert told.get("delta") == ("1/1000" if noise else None)
    assert run("recheck", "c.json").returncode == 0
    (network,) = read_prior(run.folder / "street.yaml")
    run.write("again.json", prior_text([network]))
    assert read_prior(run.folder / "again.json") == (network,)


@pytest.mark.parametrize(
    ("rows", "more", "said"),
    [
        ({**TRAVELLED, "Cyd": "bus"}, (), "unknown node 'Cyd'"),
        ({"rain": "yes", "Ann": "bus"}, (), "the node 'Bob' has no row"),
        ({**TRAVELLED, "Ann": "car"}, (), "street.csv: Ann: unknown value 'car'"),
        ({**TRAVELLED, "Ann": "yes"}, (), "unknown value 'yes'"),
        ({**TRAVELLED, "Ann": ""}, (), "row 2: how: 'Ann' has no value"),
        ({**TRAVELLED, "": "bus"}, (), "row 4: who: a row without a name"),
        ({**TRAVELLED, "Bob": "bike"}, (), "these values are impossible under street of 3 nodes"),
        (TRAVELLED, ("--bins", "0:1:2"), "a network has nodes, and no order of time or bins"),
        (TRAVELLED, ("--noise", "gaussian"), "Gaussian noise keeps no epsilon without a delta"),
        (TRAVELLED, ("--delta", "1e-6"), "geometric noise needs no delta"),
    ],
)
def test_what_is_no_value_for_every_node(run, rows, more, said):
    found = street(run, rows.items(), "--series", "who", "--query", "count:bus", *more)
    assert found.returncode == 2
    assert said in found.stderr


def test_a_node_twice(run):
    found = street(run, [*TRAVELLED.items(), ("Ann", "bus")], "--series", "who", "--query", "count:bus")
    assert "row 4: who: 'Ann' has two rows" in found.stderr


# ------------------------------------------------------------------------------------------------------------- selections

RATINGS = """\
kind: prior
transitions:
  "10": {"10": 1/2, "9": 1/4, "2": 1/4}
  "9": {"10": 1/4, "9": 1/2, "2": 1/4}
  "2": {"10": 1/4, "9": 1/4, "2": 1/2}
"""


def test_selections_are_what_the_noisy_histogram_says(run):
    plain, _ = released(run, query="histogram", prior="prior.yaml", seed="3")
    for query, read in (
        ("top:2", lambda values: sorted(values, key=values.get, reverse=True)),
        ("mode", lambda values: [max(values, key=values.get)]),
        ("median", lambda values: ["rest" if values["rest"] >= 15 else "walk"]),
        ("quantile:1/10,9/10", lambda values: ["rest" if values["rest"] >= part else "walk" for part in (3, 27)]),
    ):
        record, _ = released(run, query=query, prior="prior.yaml", seed="3")
        values = {name: Fraction(value) for name, value in record["released"].items()}
        assert list(record["selected"].values()) == read(values)
        assert record["query"] == "histogram of the states"
        for same in ("released", "loss", "noise", "cost", "account", "question"):
            assert record[same] == plain[same]
    told = run(*asked(query="top:2", prior="prior.yaml"))
    assert "2 most frequent states: " in told.stdout
    assert "read off" in told.stdout


def test_quantiles_of_numbers_are_in_their_order(run):
    """And not in the order of the prior, or of the alphabet."""
    run.write("ratings.yaml", RATINGS)
    values = ["2"] * 40 + ["9"] * 400 + ["10"] * 160
    run.write("ratings.csv", "state\n" + "\n".join(Random(1).sample(values, 600)) + "\n")
    for prior in ({"prior": "ratings.yaml"}, {"fit": "ratings.csv"}):
        record, _ = released(run, data="ratings.csv", query="quantile:1/2,1/1000,999/1000", epsilon="30", **prior)
        assert list(record["released"]) == ["2", "9", "10"]
        assert record["selected"] == {"1/2": "9", "1/1000": "2", "999/1000": "10"}


def test_quantiles_want_an_order(run):
    assert "no order" in refused(run, query="median", fit="public.csv")
    record, _ = released(run, query="median", fit="public.csv", states="walk,rest")
    assert list(record["released"]) == ["walk", "rest"]
    run.write("watts.csv", "state\n" + "".join(f"{100 + 7 * i % 90}\n" for i in range(40)))
    record, _ = released(run, data="watts.csv", query="quantile:3/4", bins="100:30:190", fit_private=True)
    assert set(record["selected"].values()) <= set(record["released"])


@pytest.mark.parametrize(
    "query",
    ["top", "top:0", "top:-1", "top:3", "top:x", "mode:2", "quantile", "quantile:0", "quantile:1/2,1", "median:1"],
)
def test_selections_that_are_none(run, query):
    assert (
        run("account", "create", "w.ledger", "--prior", "prior.yaml", "--length", "30", "--epsilon", "9").returncode
        == 0
    )
    refused(run, query=query, prior="prior.yaml", method="quilt", account="w.ledger")
    assert json.loads(run("account", "history", "w.ledger", "--json").stdout)["entries"][2:] == []


def test_selections_are_paid_as_their_histogram(run):
    for name in ("one", "other"):
        made = run("account", "create", f"{name}.ledger", "--prior", "prior.yaml", "--length", "30", "--epsilon", "3/2")
        assert made.returncode == 0
    paid = {"prior": "prior.yaml", "method": "quilt"}
    released(run, query="top:1", account="one.ledger", **paid)
    released(run, query="histogram", account="other.ledger", **paid)
    one, other = (
        json.loads(run("account", "history", f"{name}.ledger", "--json").stdout)["entries"][-1]
        for name in ("one", "other")
    )
    assert one["cost"] == other["cost"]
    assert one["note"] == "1 most frequent states, of a noisy histogram"
    assert run(*asked(query="top:1", account="one.ledger", **paid)).returncode == 1


def test_divergences_are_claimed(run):
    given = {"epsilon": [], "prior": "prior.yaml", "rho": "1/10", "noise": "gaussian", "method": "coupling"}
    record, _ = released(run, **given, certificate="rho.json")
    assert record["epsilon"] is None
    assert record["rho"] == "1/10"
    assert run("recheck", "rho.json").returncode == 0
    record, _ = released(run, epsilon=[], prior="prior.yaml", renyi=["2=1/4", "8=1"])
    assert record["renyi"] == {"2": "1/4", "8": "1"}
    assert "claimed at once" in refused(run, prior="prior.yaml", rho="1/10")
    assert "no budget" in refused(run, prior="prior.yaml", epsilon=[])
    said = run(*asked(epsilon=[], prior="prior.yaml", rho="1/10", noise="gaussian", method="quilt")).stdout
    assert "released 1/10-zCDP under its prior" in said


def test_the_total_of_a_ledger_is_certified(run):
    run("account", "create", "walks.ledger", "--prior", "prior.yaml", "--length", "30", "--epsilon", "3")
    for note in ("first", "second"):
        assert (
            run(
                "account", "spend", "walks.ledger", "--epsilon", "1/20", "--entries", "1..30", "--note", note
            ).returncode
            == 0
        )
    assert run("account", "show", "walks.ledger", "--certificate", "total.json").returncode == 0
    found = run("recheck", "total.json")
    assert found.returncode == 0
    assert "2 releases together keep every entry" in found.stdout
    with open(run.folder / "total.json", encoding="utf-8") as file:
        (spent,) = json.load(file)["question"]["spendings"]
    assert spent["times"] == 2
    assert spent["notes"][1].endswith("second")
