"""Every example prints what stands beside it, every model file says what it says, every documented command runs."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from tests.certificates import recheck
from tests.commands import apart, script
from tests.regression.consoles import PAGES, ROOT, commands, run

from privproof import check, read_question, tight_epsilon
from privproof_checker import Accepted

EXAMPLES = sorted((ROOT / "examples").glob("[0-9]*.py"))
MODELS = {
    "above_threshold": ("refuted", "ln(32)"),
    "activity": (None, "ln(75099/9097)"),
    "chain": ("proved", "ln(4)"),
    "family": ("refuted", "ln(4)"),
    "geometric": ("proved", "ln(2)"),
    "independent": ("proved", "ln(2)"),
    "larger_of_two": (None, "ln(12/5)"),
    "survey": ("proved", "ln(3)"),
    "unknown_prior": ("proved", "ln(2)"),
}


LONG = ("15_audit", "16_figure_4")
"""What other tests ask as well, of the same mechanisms: those of audits, and of a paper."""


@pytest.mark.parametrize(
    "path", [pytest.param(p, marks=pytest.mark.long if p.stem in LONG else (), id=p.stem) for p in EXAMPLES]
)
def test_example_prints_what_is_expected(path: Path) -> None:
    done = apart(script, path.parent, None, path)
    assert (done.stderr, done.returncode) == ("", 0)
    assert done.stdout == path.with_suffix(".out").read_text(encoding="utf-8")


def test_an_example_runs_by_itself() -> None:
    path = EXAMPLES[0]
    done = subprocess.run(
        [sys.executable, path.name],
        cwd=path.parent,
        env={**os.environ, "PYTHONPATH": str(ROOT / "src"), "PYTHONIOENCODING": "utf-8"},
        capture_output=True,
        encoding="utf-8",
        check=True,
    )
    assert done.stdout == path.with_suffix(".out").read_text(encoding="utf-8")


def test_the_demonstration_has_all_of_its_certificates_accepted() -> None:
    done = apart(script, ROOT, None, ROOT / "examples" / "demo.py")
    assert (done.stderr, done.returncode) == ("", 0)
    assert re.search(r"^([1-9]\d*) of \1 certificates accepted", done.stdout, re.MULTILINE)


def test_every_output_belongs_to_an_example() -> None:
    assert {path.stem for path in (ROOT / "examples").glob("*.out")} == {path.stem for path in EXAMPLES}


@pytest.mark.parametrize("path", sorted((ROOT / "examples" / "models").glob("*.yaml")), ids=lambda path: path.stem)
def test_model_file(path: Path) -> None:
    claimed, tight = MODELS[path.stem]
    question = read_question(path)
    assert path.read_text(encoding="utf-8").startswith("#"), "a model file begins with a comment on what it models"
    verdicts = [tight_epsilon(question)]
    assert str(verdicts[0].tight) == tight
    if claimed is not None:
        verdicts.append(check(question))
        assert verdicts[1].status == claimed
    for verdict in verdicts:
        assert isinstance(recheck(verdict.certificate), Accepted)


@pytest.mark.parametrize("page", [page for page in PAGES if commands(page)], ids=lambda page: page.stem)
def test_documented_commands(page: Path, tmp_path: Path) -> None:
    """They end as the contract says, and the first line (the verdict) is the one printed on the page."""
    for command in commands(page):
        status, output = run(command.line, tmp_path)
        allowed = {2} if command.output.startswith("privproof: ") else {0, 1, 3, 4}
        assert status in allowed, (command.line, output)
        assert _verdict(output) == _verdict(command.output), command.line


def _verdict(output: str) -> str:
    return re.sub(r"\d+\.\d\d s\b", "... s", output.partition("\n")[0])
