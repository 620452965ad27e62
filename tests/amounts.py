"""How much a test tries: a part in the suite, all where time does not matter (``make test-slow``).

A property has a number of examples (`examples`); a sweep over cases that differ in little but a seed or a size has a fixed selection
(`selected`), spread over all of them; a test of several parameters a diagonal of their combinations (`off_diagonal`); a search that
should find nothing has a time (`patience`).  What is alone of its kind, and what was once wrong, is always in the suite.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from itertools import product
from typing import TypeVar

import pytest
from _pytest.mark import ParameterSet

T = TypeVar("T")

ALL = os.environ.get("PRIVPROOF_EXAMPLES") == "all"
"""Whether time does not matter."""
_PART = 24
_FEWEST = 3
_LEAST_SECONDS = 0.5


def examples(most: int, *, fewest: int = _FEWEST) -> int:
    """So many examples at most, a twenty-fourth of them in the suite, but never less than three; fewer where each takes seconds."""
    return most if ALL else max(min(most, fewest), most // _PART)


def patience(most: float) -> float:
    """So many seconds at most for a search that should find nothing, which takes all of them: an eighth in the suite, but half a second."""
    return most if ALL else max(min(most, _LEAST_SECONDS), most / 8)


def selected(cases: Iterable[object], kept: int) -> list[object]:
    """The cases of a sweep, for ``parametrize``: so many of them, evenly spread, in the suite; otherwise all, the others as slow.

    A case is one value, or a tuple of one for each name.

    A test that is slow as a whole takes one: the suite would collect the others only to leave them out.
    """
    found = list(cases)
    chosen = {place * len(found) // kept for place in range(kept)} if kept < len(found) else {*range(len(found))}
    if not ALL:
        return [found[place] for place in sorted(chosen)]
    return [case if place in chosen else _slow(case) for place, case in enumerate(found)]


def spread(cases: Sequence[T], kept: int) -> Sequence[T]:
    """So many of the cases that one test goes through, the first and the last among them, in the suite; otherwise all."""
    if ALL or kept >= len(cases):
        return cases
    return [cases[place * (len(cases) - 1) // (kept - 1)] for place in range(kept)]


def off_diagonal(items: Iterable[pytest.Item]) -> Iterator[pytest.Item]:
    """Of the tests that are marked ``diagonal`` the combinations of parameters that are repetition.

    The parameters of such a test do not touch each other, so that it is enough for the suite that every value of each occurs: the first
    of all together, the second, and so on, beginning anew with the shorter ones.
    """
    combinations: dict[str, list[pytest.Item]] = {}
    for item in items:
        if item.get_closest_marker("diagonal") is not None:
            combinations.setdefault(item.nodeid.partition("[")[0], []).append(item)
    for found in combinations.values():
        sizes = [len(mark.args[1]) for mark in found[0].iter_markers("parametrize")]
        kept = diagonal(sizes)
        every = product(*map(range, sizes))
        yield from (item for places, item in zip(every, found, strict=True) if places not in kept)


def diagonal(sizes: Sequence[int]) -> set[tuple[int, ...]]:
    """Combinations of so many values each in which every value of each occurs."""
    return {tuple(number % size for size in sizes) for number in range(max(sizes))}


def _slow(case: object) -> ParameterSet:
    if isinstance(case, ParameterSet):
        return pytest.param(*case.values, id=case.id, marks=[*case.marks, pytest.mark.slow])
    return pytest.param(*(case if isinstance(case, tuple) else (case,)), marks=pytest.mark.slow)
