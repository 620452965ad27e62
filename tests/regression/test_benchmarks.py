"""Every benchmark still runs: at its smallest setting, in which its figures say nothing."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.commands import ROOT, apart, script

SCRIPTS = sorted((ROOT / "benchmarks").glob("*.py"))
QUICK = ("gaussian", "laplace", "lengths", "release", "streams")
"""Those that the suite runs; the others take seconds."""


@pytest.mark.parametrize(
    "path", [pytest.param(p, marks=() if p.stem in QUICK else pytest.mark.slow, id=p.stem) for p in SCRIPTS]
)
def test_a_benchmark_runs(path: Path, tmp_path: Path) -> None:
    done = apart(script, tmp_path, None, path, "--tiny")
    assert (done.returncode, "Traceback" in done.stderr) == (0, False), done.stderr
    assert done.stdout.count("\n") > 1


def test_make_bench_runs_them_all() -> None:
    made = (ROOT / "Makefile").read_text(encoding="utf-8")
    assert [path.name for path in SCRIPTS if f"benchmarks/{path.name}" not in made] == []
