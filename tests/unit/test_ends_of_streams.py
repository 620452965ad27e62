"""That a run has ended is seen, whatever its last output looks like."""

from __future__ import annotations

from privproof import bernoulli, geometric, integer, mechanism, one_of, public, stream_of, tight_epsilon


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
