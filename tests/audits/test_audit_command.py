"""The command ``audit`` from the user's side: what comes out, the status, and what is refused with one message."""

from __future__ import annotations

import json

import pytest
from tests.commands import ROOT

from privproof_checker import Accepted, recheck_file

NOISY = ROOT / "examples" / "mechanisms" / "noisy_max.py"
THRESHOLD = ROOT / "examples" / "mechanisms" / "threshold.py"
FUNCTIONS = """\
import random
from privproof import real, real_queries, runnable

def noisy(x: real(), scale=1.0):
    return round(1024 * (x + random.expovariate(1 / scale) - random.expovariate(1 / scale))) / 1024

def undeclared(x):
    return x + random.random()

def failing(x: real()):
    raise ValueError("no luck")

gauss = runnable(lambda x: x + random.gauss(0, 1), inputs=real(), epsilon=1, name="gauss")
three = 3
"""


@pytest.fixture
def functions(command):
    return command.write("functions.py", FUNCTIONS)


def test_a_violation_is_certified(command):
    done = command("audit", f"{NOISY}:improved", "--size", 3, "--epsilon", 1, "--samples", 20000)
    assert done.returncode == 1
    assert "not 1-private: sampling found a violation, and its exact probabilities confirm it" in done.stdout
    assert "with 95 % confidence epsilon is at least 1." in done.stdout
    assert "real: breaks it" in done.stdout
    assert "ln(24/7) ≈ 1.23214" in done.stdout
    assert "--samples 20000 --seed 0" in done.stdout


def test_short_streams_show_little_and_the_growing_witness_more(command):
    done = command("audit", THRESHOLD, "--size", "2..3", "--samples", 20000)
    assert done.returncode == 1
    assert "the runs do not speak against it, but the exact engine refutes it" in done.stdout
    assert "longer lists may lose more than any that was tried" in done.stdout
    assert "exactly, for streams of up to 3 values: ln(8)" in done.stdout
    assert "repeat 1|2:below as often as you like" in done.stdout
    assert "none: the ratio grows without bound" in done.stdout


def test_runs_alone_decide_nothing(command, functions):
    done = command("audit", f"{functions}:gauss", "--samples", 5000)
    assert done.returncode == 4
    assert "the runs speak against the claim" in done.stdout
    assert "no exact engine decides it" in done.stdout


def test_json(command, functions):
    status, found = command.json("audit", f"{NOISY}:improved", "--size", 3, "--samples", 5000, "--seed", 4)
    assert status == 0
    assert found["verdict"] == "proved"
    assert found["tight"]["ratio"] == "24/7"
    assert found["audit"]["seed"] == 4
    assert found["audit"]["samples"] == 5000
    assert not found["audit"]["violated"]
    assert {candidate["judgement"] for candidate in found["audit"]["candidates"]} == {"spurious"}
    again = command.json("audit", f"{NOISY}:improved", "--size", 3, "--samples", 5000, "--seed", 4)[1]
    for one in (found, again):
        del one["seconds"], one["audit"]["seconds"]
    assert found == again
    status, found = command.json("audit", f"{functions}:noisy", "--epsilon", "1/2", "--samples", 5000)
    assert status == 4
    assert found["verdict"] == "unknown"
    assert found["audit"]["violated"]
    assert found["witness"] is None


def test_a_certificate_and_a_report(command):
    out = command.folder / "proof.json"
    page = command.folder / "page.html"
    done = command(
        "audit",
        f"{NOISY}:naive",
        "--size",
        3,
        "--samples",
        5000,
        "--certificate",
        out,
        "--report",
        page,
        "--epsilon",
        2,
    )
    assert done.returncode == 1
    assert isinstance(recheck_file(out), Accepted)
    text = page.read_text(encoding="utf-8")
    assert text.count("<svg") == 2
    assert "p-value" in text
    assert str(page) in done.stdout


def test_data_sets_by_hand(command, functions):
    given = ("--left", "0.0", "--right", "1.0", "--samples", 2000)
    done = command("audit", f"{functions}:undeclared", *given)
    assert done.returncode == 3
    assert "x=0.0" in done.stdout
    assert "on 1 pair of data sets" in done.stdout
    status, found = command.json("audit", f"{NOISY}:naive", "--left", "[1, 1]", "--right", "[2, 0]", "--samples", 2000)
    assert status == 1
    assert found["audit"]["pairs"] == 1


def test_what_is_read_is_declared_on_the_command_line(command, functions):
    done = command("audit", f"{functions}:undeclared", "--input", "x=real()", "--epsilon", 1, "--samples", 2000)
    assert done.returncode == 4  # uniform noise ends somewhere
    assert "--input 'x=real()'" in done.stdout


def test_parameters_are_set(command, functions):
    loud = command.json("audit", f"{functions}:noisy", "--samples", 5000, "--epsilon", 1)[1]
    assert not loud["audit"]["violated"]


def test_without_exact_engines(command):
    done = command("audit", f"{NOISY}:improved", "--size", 3, "--samples", 5000, "--no-exact")
    assert done.returncode == 3
    assert "none was asked" in done.stdout


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["model.yaml"], "an audit runs Python; a model file is decided exactly"),
        (["functions.py:three"], "cannot be audited"),
        (["functions.py:nothing"], "has no 'nothing'"),
        (["functions.py:undeclared"], "nothing says what it reads"),
        (["functions.py:undeclared", "--input", "y=real()"], "no parameter 'y'"),
        (["functions.py:failing"], "ValueError: no luck"),
        (["functions.py:noisy", "--left", "0"], "one data set alone"),
        (["functions.py:noisy", "--left", "[", "--right", "1"], "no value in Python's notation"),
        (["functions.py:noisy", "--left", "0", "--right", "5"], "no neighbours"),
        (["functions.py:noisy", "--size", "3"], "drop the size"),
        (["functions.py:noisy", "--confidence", "2"], "not between 1/2 and 1"),
        (["functions.py:noisy", "--neighbours", "some"], "no relation"),
        (["functions.py:noisy", "--delta", "1/2"], "a delta without an epsilon"),
        (["functions.py:noisy", "--set", "y=3"], "'y'"),
        (["functions.py:noisy", "--report", "nowhere/page.html"], "cannot write"),
        (["missing.py"], "no such file"),
    ],
)
def test_nonsense_is_one_message(command, functions, arguments, said):
    done = command("audit", *arguments)
    assert done.returncode == 2, done.stdout
    assert said in done.stderr
    assert done.stdout == ""


def test_the_only_runnable_object_needs_no_name(command, functions):
    assert (
        json.loads(command("audit", functions, "--samples", 500, "--json").stdout)["question"]["mechanism"] == "gauss"
    )


def test_another_measure_and_a_curve(command, functions):
    done = command(
        "audit", f"{functions}:gauss", "--rho", "1/100", "--curve", "0, 1/2,2", "--samples", 5000, "--seed", 3, "--json"
    )
    assert done.returncode == 4
    answer = json.loads(done.stdout)
    assert answer["question"] | {"subject": "", "mechanism": ""} == {
        "subject": "",
        "mechanism": "",
        "epsilon": None,
        "delta": None,
        "measure": "rho",
        "budgets": [{"order": None, "value": "1/100"}],
    }
    (bound,) = answer["audit"]["measures_at_least"]
    assert bound["claimed"] == "1/100"
    assert bound["at_least"] > 0.01
    assert [row["epsilon"] for row in answer["audit"]["deltas_at_least"]] == ["0", "1/2", "2"]
    assert answer["audit"]["deltas_at_least"][0]["delta"] > 0.1
    assert "--rho 1/100 --curve '0, 1/2,2'" in answer["command"]


def test_a_report_draws_the_lower_curve(command, functions):
    done = command("audit", f"{functions}:gauss", "--curve", "0,1", "--samples", 5000, "--report", "out.html")
    assert done.returncode == 4, done.stdout
    assert "lower curve" in done.stdout
    text = (command.folder / "out.html").read_text(encoding="utf-8")
    assert "Delta is at least" in text
    assert text.count("<svg") >= 3
