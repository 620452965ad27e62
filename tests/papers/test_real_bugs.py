"""Bugs that were published: kernels of them are refuted, what is right is proved, runs speak against each, and the page says so."""

from __future__ import annotations

import re
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import pytest
from tests.commands import ROOT
from tests.corpus import Program, programs

from privproof import audit, check
from privproof.language import Mechanism

KERNELS = {program.name.removeprefix("kernels: "): program for program in programs("bugs")}
PAGE = (ROOT / "docs/explanation/real-bugs.md").read_text(encoding="utf-8")
ROWS = dict(re.findall(r"^\| `([^`]+)` \| .* \| (proved|refuted) \| [^|]+ \|$", PAGE, re.MULTILINE))
PAIRS = {
    "permute-and-flip as zCDP": ([0, 0], [1, -1]),
    "drawn again": (0, 1),
    "censored noise": (0, 1),
    "threshold without its atom": (["Ada"], []),
    "squares by one end": ([0], [2]),
}
"""Data sets that tell each wrong kernel's mistake."""


def _written(program: Program, folder: Path) -> Path:
    path = folder / "kernel.py"
    path.write_text(program.text, encoding="utf-8")
    return path


def _loaded(path: Path) -> Mechanism:
    spec = spec_from_file_location("kernel", path)
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.m


@pytest.mark.parametrize("name", KERNELS)
def test_a_kernel_has_its_verdict(name: str, tmp_path: Path) -> None:
    program = KERNELS[name]
    assert check(str(_written(program, tmp_path))).status == program.expected


@pytest.mark.parametrize("name", PAIRS)
def test_runs_speak_against_what_is_wrong(name: str, tmp_path: Path) -> None:
    kernel = _loaded(_written(KERNELS[name], tmp_path))
    found = audit(kernel, pairs=[PAIRS[name]], samples=100_000, search=60_000, exact=False)
    assert found.violated
    assert found.status == "unknown"


def test_the_page_lists_the_kernels_with_their_verdicts() -> None:
    wrong = {name for name, program in KERNELS.items() if program.expected == "refuted"}
    assert set(PAIRS) == wrong
    assert {name: KERNELS[name].expected for name in ROWS} == ROWS
    assert set(ROWS) == wrong | {"Laplace noise on paper"}
    assert [name for name in KERNELS if f"`{name}`" not in PAGE] == []
