"""Time limits are kept: what is computed after the limit, in processor time, is less than a fifth of it."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.amounts import selected
from tests.commands import ROOT
from tests.corpus import programs

from privproof import check, tight_epsilon
from privproof.errors import PrivproofError
from privproof.library import EXAMPLES

sys.path.insert(0, str(ROOT / "benchmarks"))
from lengths import ROWS

_SHARE, _LEAST = 0.2, 0.1
"""Of a limit, and in seconds: one look at the clock may come late."""


def _beyond(asked: Callable[[], object], limit: float) -> float:
    """Processor seconds that a question takes after its time limit."""
    at_limit: list[float] = []
    timer = threading.Timer(limit, lambda: at_limit.append(time.process_time()))
    timer.start()
    try:
        asked()
    except PrivproofError:
        pass  # refused, in time or not
    finally:
        timer.cancel()
    return time.process_time() - at_limit[0] if at_limit else 0.0


def _subjects() -> dict[str, Callable[[float, Path], object]]:
    found: dict[str, Callable[[float, Path], object]] = {}
    for example in EXAMPLES:
        found[example.name] = lambda limit, _, example=example: tight_epsilon(example.question(), time_limit=limit)
    for asked, neighbours, claim, _ in ROWS:
        options: dict[str, Any] = {"neighbours": neighbours}
        found[f"{asked.name}, {neighbours}"] = lambda limit, _, asked=asked, claim=claim, options=options: check(
            asked, claim, time_limit=limit, **options
        )
    for program in programs("continuous") + programs("peers"):

        def of_file(limit: float, folder: Path, program: Any = program) -> object:
            path = folder / "asked.py"
            path.write_text(program.text, encoding="utf-8")
            return tight_epsilon(str(path), size=program.size, time_limit=limit)

        found[program.name] = of_file
    return found


SUBJECTS = _subjects()


@pytest.fixture(scope="module", autouse=True)
def _everything_is_loaded() -> None:
    """What is imported at the first question, solvers among it, takes half a second, which is not what is measured."""
    for asked, neighbours, claim, known in ROWS[:4]:
        assert check(asked, claim, neighbours=neighbours).status == known


@pytest.mark.slow  # minutes: every subject may take its limit
@pytest.mark.parametrize("limit", [1, 2, 5])
@pytest.mark.parametrize("name", selected(SUBJECTS, 1))
def test_a_time_limit_is_kept(name: str, limit: float, tmp_path: Path) -> None:
    over = _beyond(lambda: SUBJECTS[name](limit, tmp_path), limit)
    assert over <= _SHARE * limit + _LEAST
