"""Refutations by an event whose two probabilities are enclosed in balls."""

from __future__ import annotations

from flint import arb

from privproof_checker.numbers import Epsilon, Rational, epsilon
from privproof_checker.numbers.balls import rational_bounds
from privproof_checker.outcomes import Accepted, refuse
from privproof_checker.plain_documents import text

_GRID = 10**12
"""The epsilon that an event needs is rounded down to a multiple of its inverse, so that it can be written down."""


def beyond(p: arb, q: arb, bound: Epsilon, delta: Rational, bits: int) -> Epsilon:
    """An epsilon that an event needs at least; refuses one with ``P > e^epsilon Q + delta`` not for all numbers in the balls."""
    less = p - arb(delta)
    if not less > bound.ball(bits).exp() * q:
        refuse(f"{p} does not exceed e^({bound}) times {q} plus {text(delta)}", "evidence")
    lower = None if not q > 0 else rational_bounds((less / q).log())[0]
    return bound if lower is None or lower <= 0 else epsilon(Rational(int((lower * _GRID).floor()), _GRID))


def too_likely(p: arb, q: arb, bound: Epsilon, delta: Rational, lower: Epsilon, *, told: str, method: str) -> Accepted:
    """What such an event establishes."""
    more = "" if delta == 0 else f" plus {text(delta)}"
    return Accepted(
        "refuted",
        f"an event has probability {p.str(10)} on the left {told} and {q.str(10)} on the right ones, more than "
        f"e^({bound}) times as much{more}",
        {"method": method, "left": p.str(20), "right": q.str(20)},
        lower=lower,
    )
