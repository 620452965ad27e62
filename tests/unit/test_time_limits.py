"""A time limit holds while models are made, too, and the answer is then unknown."""

from __future__ import annotations

import time

import pytest

from privproof import Mechanism, check, mechanism, queries, tight_epsilon, truncated_geometric, uniform
from privproof.compiling import mechanism_question
from privproof.compiling.patience import until
from privproof.errors import LanguageError

_LIMIT = 0.3
"""Seconds of the limits here."""
_MOST = 3.0
"""Seconds that an answer may take on a busy machine; without a limit each of them takes a minute or more."""


@mechanism(epsilon="ln(4)")
def lots(q: queries(0, 10)):  # type: ignore[valid-type]
    best, winner, equals = -1, 0, 0
    for i, value in enumerate(q):
        noisy = truncated_geometric(value, alpha="1/2", low=0, high=10)
        if noisy > best:
            best, winner, equals = noisy, i, 1
        elif noisy == best:
            equals += 1
            if uniform(1, equals) == 1:
                winner = i
    return winner


@pytest.mark.parametrize("size", [4, 30])
def test_compiling_and_searching_end_at_the_limit(size: int) -> None:
    found: Mechanism = lots
    for answer in (
        lambda: check(found, size=size, time_limit=_LIMIT),
        lambda: tight_epsilon(found, size=size, time_limit=_LIMIT),
    ):
        begun = time.process_time()
        verdict = answer()
        assert time.process_time() - begun < _MOST
        assert verdict.status == "unknown"
        assert "out of time" in verdict.reason


def test_a_model_that_takes_too_long_is_not_made() -> None:
    with until(time.monotonic() - 1), pytest.raises(LanguageError, match="out of time"):
        mechanism_question(lots, size=3)
