"""How much a test tries: a part in the suite, all where time does not matter (``make test-slow``).

A property has a number of examples (`examples`); a sweep over cases that differ in little but a seed or a size has a fixed selection
(`selected`), spread over all of them.  What is alone of its kind, and what was once wrong, is always in the suite.
"""

from __future__ import annotations

import os
from collections.abc import Iterable

import pytest
from _pytest.mark import ParameterSet

ALL = os.environ.get("PRIVPROOF_EXAMPLES") == "all"
"""Whether time does not matter."""
_PART = 8
_FEWEST = 6


def examples(most: int, *, fewest: int = _FEWEST) -> int:
    """So many examples at most, an eighth of them in the suite, but never less than a few; fewer where each takes seconds."""
    return most if ALL else max(min(most, fewest), most // _PART)


def selected(cases: Iterable[object], kept: int) -> list[object]:
    """The cases of a sweep, to be given to ``parametrize``: so many of them, evenly spread, in the suite; the others are slow."""
    found = list(cases)
    chosen = {place * len(found) // kept for place in range(kept)} if kept < len(found) else {*range(len(found))}
    return [case if place in chosen else _slow(case) for place, case in enumerate(found)]


def _slow(case: object) -> ParameterSet:
    if isinstance(case, ParameterSet):
        return pytest.param(*case.values, id=case.id, marks=[*case.marks, pytest.mark.slow])
    return pytest.param(case, marks=pytest.mark.slow)
