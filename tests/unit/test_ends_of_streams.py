"""Streams that end by themselves: that a run has ended is seen, and what is proved of all lengths is certified."""

from __future__ import annotations

from fractions import Fraction

import pytest
from tests.certificates import recheck

from privproof import (
    Horizon,
    bernoulli,
    check,
    geometric,
    integer,
    log,
    mechanism,
    one_of,
    public,
    randomized_response,
    stream,
    stream_of,
    tight_epsilon,
    truncated_geometric,
)
from privproof_checker import Accepted


@mechanism
def tupled(x: integer(0, 1), requests: public(stream_of("go"))):
    for _ in requests:
        yield ("noisy", geometric(x, alpha="1/2"))
        if x == 1:
            return


@mechanism
def listed(x: integer(0, 1), requests: public(stream_of("go"))):
    for _ in requests:
        yield [geometric(x, alpha="1/2"), "noisy"]
        if x == 1:
            return


@mechanism
def plain(x: one_of("stays", "leaves"), requests: public(stream_of("go"))):
    for _ in requests:
        yield bernoulli("1/2")
        if x == "leaves":
            return


def test_an_end_after_an_unbounded_number_inside_an_output_is_seen():
    for leaving in (tupled, listed, plain):
        verdict = tight_epsilon(leaving, size=1)
        assert verdict.lower.infinite, leaving


@mechanism
def once(values: stream(0, 1)):
    for value in values:
        yield randomized_response(value, truth="3/4")
        return


@mechanism
def three_times(values: stream(0, 1)):
    n = 0
    for value in values:
        yield randomized_response(value, truth="3/4")
        n = n + 1
        if n == 3:
            return


@mechanism
def until_hit(values: stream(0, 1)):
    n = 0
    for value in values:
        if randomized_response(value, truth="3/4") == 1:
            yield "hit"
            return
        yield "miss"
        n = n + 1
        if n >= 2:
            return


@mechanism
def two_outputs(values: stream(0, 1)):
    for value in values:
        yield randomized_response(value, truth="2/3"), bernoulli("1/2")
        yield "done"
        return


@mechanism
def silent_at_first(values: stream(0, 1)):
    n = 0
    for value in values:
        if bernoulli("1/2"):
            yield randomized_response(value, truth="2/3")
            return
        n = n + 1
        if n == 2:
            yield "never"
            return


@mechanism
def one_behind(values: stream(0, 1)):
    last = 0
    n = 0
    for value in values:
        yield randomized_response(last if n else value, truth="2/3")
        last = value
        n = n + 1
        if n == 3:
            return


@mechanism
def clamped(values: stream(0, 2)):
    for value in values:
        noisy = truncated_geometric(value, alpha="1/2", low=0, high=2)
        yield noisy
        return


@mechanism
def returned(values: stream(0, 1)):
    for value in values:
        return randomized_response(value, truth="3/4")


ENDING = (
    (once, 3),
    (three_times, 27),
    (until_hit, 9),
    (two_outputs, 2),
    (silent_at_first, 2),
    (one_behind, 8),
    (clamped, 2),
    (returned, 3),
)
EVERY = pytest.mark.parametrize(("ends", "ratio"), ENDING, ids=[ends.name for ends, _ in ENDING])
HORIZONS = (None, Horizon.unbounded(), Horizon.up_to(1), Horizon.up_to(3), Horizon.up_to(5), Horizon.exactly(1))


@EVERY
def test_what_ends_by_itself_is_proved_for_every_length(ends, ratio):
    for horizon in (None, Horizon.unbounded(), Horizon.up_to(5)):
        verdict = tight_epsilon(ends, horizon=horizon)
        assert verdict.status == "proved"
        assert verdict.tight == log(ratio)
        assert isinstance(recheck(verdict.certificate), Accepted)
        assert check(ends, log(ratio), horizon=horizon).status == "proved"
        assert check(ends, log(Fraction(99 * ratio, 100)), horizon=horizon).status == "refuted"


DIAGONAL = [
    pytest.param(
        ends,
        ratio,
        horizon,
        id=f"{ends.name}-{horizon}",
        marks=() if (row + column) % len(HORIZONS) == 0 else pytest.mark.slow,
    )
    for row, (ends, ratio) in enumerate(ENDING)
    for column, horizon in enumerate(HORIZONS)
]
"""Every function and every horizon; in the suite one horizon of each function."""


@pytest.mark.parametrize(("ends", "ratio", "horizon"), DIAGONAL)
def test_what_ends_by_itself_with_a_delta(ends, ratio, horizon):
    for pointwise in (False, True):
        verdict = tight_epsilon(ends, "1/10", horizon=horizon, pointwise=pointwise)
        assert verdict.status == "proved"
        assert verdict.tight.compare(log(ratio)) <= 0
        assert isinstance(recheck(verdict.certificate), Accepted)
        assert check(ends, verdict.tight, "1/10", horizon=horizon, pointwise=pointwise).status == "proved"
