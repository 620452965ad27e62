"""Noise that must stay in a range: drawing again costs privacy, clamping does not."""

from __future__ import annotations

from flint import arb, ctx

from privproof import check, rational, tight_epsilon
from privproof.library.mechanisms import clamped_geometric, rejected_geometric


def test_rejection_costs_what_the_closed_form_says():
    """1 + ln((1+2a+a^2+a^3+a^4)/(1+a+...+a^5)) at a = e^-1, up to the rounding of a to a multiple of 2^-64."""
    verdict = tight_epsilon(rejected_geometric)
    before = ctx.prec
    ctx.prec = 256
    try:
        a = (-arb(1)).exp()
        above = 1 + 2 * a + a**2 + a**3 + a**4
        below = 1 + a + a**2 + a**3 + a**4 + a**5
        difference = abs(verdict.tight.ball(256) - (1 + (above / below).log()))
    finally:
        ctx.prec = before
    assert difference < arb("1e-18")
    assert verdict.tight.decimal(digits=10) == "1.206080588"


def test_rejection_breaks_its_claim_and_clamping_keeps_it():
    assert check(rejected_geometric).status == "refuted"
    assert check(clamped_geometric).status == "proved"
    tight = tight_epsilon(clamped_geometric).tight
    assert check(clamped_geometric, "0.9999999999999999").status == "refuted"
    assert tight.compare_bound(rational("2.718281828459045")) > 0
