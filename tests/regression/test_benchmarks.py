"""Every benchmark still runs: at its smallest setting, in which its figures say nothing."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.commands import ROOT, apart, script

PARTS = ("families", "kinds", "subjects")
"""What the others import."""
SCRIPTS = [path for path in sorted((ROOT / "benchmarks").glob("*.py")) if path.stem not in PARTS]
QUICK = ("gaussian", "laplace", "lengths", "release")
"""Those that the suite runs; the others take seconds."""


@pytest.mark.parametrize(
    "path", [pytest.param(p, marks=() if p.stem in QUICK else pytest.mark.slow, id=p.stem) for p in SCRIPTS]
)
def test_a_benchmark_runs(path: Path, tmp_path: Path) -> None:
    done = apart(script, tmp_path, None, path, "--tiny")
    assert (done.returncode, "Traceback" in done.stderr) == (0, False), done.stderr
    assert done.stdout.count("\n") > 1


def test_a_measurement_has_processor_time_memory_and_the_answer(tmp_path: Path) -> None:
    """One member as `make bench` measures it, in a process of its own; baselines and what is left out among the results."""

    words = ["--tiny", "--only", "above threshold", "--json", "growth.json", "--html", "growth.html"]
    done = apart(script, tmp_path, None, ROOT / "benchmarks" / "growth.py", *words)
    assert (done.returncode, "Traceback" in done.stderr) == (0, False), done.stderr
    found = json.loads((tmp_path / "growth.json").read_text(encoding="utf-8"))
    ours, solver, phases = found["rows"]
    assert (ours["family"], ours["subject"], ours["size"], ours["answer"][:14]) == (
        "above threshold", "privproof", 10, "proved ln(1024",
    )  # fmt: skip
    assert 0 < ours["recheck"] < ours["cpu"]
    assert 20 < ours["libraries"] <= ours["peak"] < 1000
    assert (solver["subject"], phases["engine"]) == ("SMT, one pair and length", "streams")
    assert "Growth" in done.stdout


def test_make_bench_runs_them_all() -> None:
    made = (ROOT / "Makefile").read_text(encoding="utf-8")
    assert [path.name for path in SCRIPTS if f"benchmarks/{path.name}" not in made] == []
