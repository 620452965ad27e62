"""The command line as users meet it: a process of its own, its output in a pipe."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import privproof

ROOT = Path(__file__).resolve().parents[1]
MODELS = ROOT / "examples" / "models"
SOURCE = Path(privproof.__file__).resolve().parents[1]

GEOMETRIC = """\
kind: hmm
title: geometric
states: [zero, one, two]
observations: ["0", "1", "2"]
emissions:
  zero: {"0": 2/3, "1": 1/6, "2": 1/6}
  one:  {"0": 1/3, "1": 1/3, "2": 1/3}
  two:  {"0": 1/6, "1": 1/6, "2": 2/3}
scenario:
  pairs:
    - {name: none ~ one, left: {zero: 1}, right: {one: 1}}
    - {name: one ~ both, left: {one: 1}, right: {two: 1}}
horizon: 1
epsilon: ln(2)
"""


def environment() -> dict[str, str]:
    """The environment of a process that finds the package under test."""
    known = [str(SOURCE), os.environ.get("PYTHONPATH", "")]
    return {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, known)), "PYTHONWARNINGS": "error"}


class Command:
    """Runs ``python -m privproof`` in a folder of its own."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.model = self.write("model.yaml", GEOMETRIC)

    def write(self, name: str, text: str | bytes) -> str:
        """A file in the folder; its name."""
        path = self.folder / name
        if isinstance(text, bytes):
            path.write_bytes(text)
        else:
            path.write_text(text, encoding="utf-8")
        return name

    def arguments(self, *given: object) -> list[str]:
        return [sys.executable, "-m", "privproof", *map(str, given)]

    def __call__(self, *given: object) -> subprocess.CompletedProcess[str]:
        result = subprocess.run(
            self.arguments(*given),
            cwd=self.folder,
            env=environment(),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            encoding="utf-8",
            timeout=240,
            check=False,
        )
        assert "Traceback" not in result.stderr + result.stdout
        assert "\x1b" not in result.stderr + result.stdout, "a pipe gets no colours and no progress"
        return result

    def json(self, *given: object) -> tuple[int, dict]:
        """The status and the one object that ``--json`` prints."""
        result = self(*given, "--json")
        assert result.stderr == ""
        assert result.stdout.count("\n") == 1
        return result.returncode, json.loads(result.stdout)
