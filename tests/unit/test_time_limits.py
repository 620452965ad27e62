"""A time limit holds while models are made and certificates are checked, too, and the answer is then unknown."""

from __future__ import annotations

import time
from fractions import Fraction

import pytest

from privproof import (
    Mechanism,
    check,
    gaussian,
    integer,
    mechanism,
    queries,
    recheck,
    records,
    smallest_delta,
    tight_epsilon,
    truncated_geometric,
    uniform,
)
from privproof.compiling import mechanism_question
from privproof.engines import Monitor
from privproof.evidence import gate
from privproof.exact.patience import Stopped, extend_deadline, pause, seconds_left, watch_computation
from privproof_checker.numbers.patience import watch_check as watched_checks
from privproof_checker.outcomes import Accepted

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
    with watch_computation(Monitor.within(-1)), pytest.raises(Stopped, match="out of time"):
        mechanism_question(lots, size=3)


@mechanism
def total(data: records(0, 1)):  # type: ignore[valid-type]
    return truncated_geometric(sum(data), alpha="1/2", low=0, high=len(data))


def test_what_was_found_and_not_confirmed_in_time_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    def slow(certificate: object) -> None:
        raise Stopped("out of time")

    monkeypatch.setattr(gate, "recheck", slow)
    proved, refuted = check(total, "ln(2)", size=3), check(total, "ln(3/2)", size=3)
    assert (proved.status, refuted.status) == ("unknown", "unknown")
    assert (proved.certificate, refuted.certificate, refuted.lower.show()) == (None, None, "0")
    told = "out of time before what was found could be confirmed: "
    assert proved.reason.startswith(f"{told}proved, at most ln(2)")
    assert refuted.reason.startswith(f"{told}refuted, smallest epsilon at least ln(2)")


def test_confirming_has_a_tenth_more_time_than_searching_and_an_interrupt_ends_both() -> None:
    watch = Monitor(deadline=time.monotonic() - 1, grace=60.0)
    with watch_computation(watch):
        with pytest.raises(Stopped):
            pause()
        with extend_deadline():
            pause()
            assert 50 < seconds_left() < 60
            watch.interrupted = True
            with pytest.raises(Stopped, match="interrupted"):
                pause()
    pause()


def test_the_checker_stops_when_its_watch_says_so() -> None:
    certificate = check(total, "ln(2)", size=3).certificate
    with watch_computation(Monitor.within(-1)), watched_checks(gate._Patience()), pytest.raises(Stopped):
        recheck(certificate)
    assert isinstance(recheck(certificate), Accepted)


def test_the_smallest_delta_has_a_limit_as_other_questions_have():
    @mechanism
    def noisy(n: integer(0, 1)):
        return gaussian(n, sigma=2)

    assert smallest_delta(noisy, 1, time_limit=60).upper < Fraction(1, 100)
