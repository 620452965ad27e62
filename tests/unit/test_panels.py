"""Integrals of products by one rule for all of them: against FLINT's own integration, formulas, and limits."""

from __future__ import annotations

import random

import pytest
from flint import arb, fmpq

from privproof_checker.integrals.normal_enclosures import forest_probability
from privproof_checker.integrals.panels import PanelLaw, rule_for
from privproof_checker.integrals.strips import integrate
from privproof_checker.numbers.balls import precision
from privproof_checker.outcomes import Refusal

BELOW, ABOVE = 0b01, 0b10


def one_by_one(laws, product):
    """The same as the probability that independent noises are below or above the one in the middle."""
    (hub,), powers = product
    others = [(laws[j], gaps) for (j, gaps), power in powers for _ in range(power)]
    everyone = [laws[hub], *(law for law, _ in others)]
    sign = [fmpq(-1 if law.turned else 1) for law in everyone]
    compared = []
    for k, (law, gaps) in enumerate(others, start=1):
        up = 1 if gaps == BELOW else -1  # up (hub - other) >= 0
        compared.append(({0: up * sign[0], k: -up * sign[k]}, up * (laws[hub].center - law.center)))
    return forest_probability([(law.kind, law.scale) for law in everyone], compared, "test")


@pytest.mark.parametrize("seed", range(12))
def test_against_integrals_one_by_one(seed):
    rng = random.Random(seed)
    laws = [
        PanelLaw(
            rng.choice(["gaussian", "laplace", "exponential"]),
            fmpq(rng.randint(-6, 6), rng.randint(1, 3)),
            fmpq(rng.choice([1, 2, 20]), rng.choice([1, 3])),
            rng.random() < 0.5,
        )
        for _ in range(3)
    ]
    laws = [law if law.kind == "exponential" else PanelLaw(law.kind, law.center, law.scale) for law in laws]
    laws[0] = PanelLaw("laplace", laws[0].center, laws[0].scale)
    factors = [(j, gaps) for j in range(3) for gaps in (BELOW, ABOVE)]
    group = []
    for _ in range(3):
        chosen = sorted(rng.sample(factors, 2))
        group.append(((rng.randrange(3),), tuple((each, rng.randint(1, 3)) for each in chosen)))
    with precision(128):
        found = integrate(laws, group)
        for product in group:
            assert found[product].overlaps(one_by_one(laws, product))
            assert found[product].rad() < arb(2) ** -60


def test_order_of_equal_laws():
    laws = [PanelLaw("laplace", fmpq(1, 3), fmpq(2))]
    group = [((0,), (((0, BELOW), below), ((0, ABOVE), 40 - below))) for below in range(1, 40)]
    with precision(128):
        found = integrate(laws, group)
        for (_, ((_, below), (_, above))), ball in ((product, found[product]) for product in group):
            exact = arb(below).fac() * arb(above).fac() / arb(41).fac()
            assert ball.overlaps(exact)
            assert ball.rad() < arb(2) ** -70


def test_a_density_has_all_its_mass():
    laws = [
        PanelLaw("gaussian", fmpq(0), fmpq(1, 1000)),
        PanelLaw("laplace", fmpq(1), fmpq(50)),
        PanelLaw("exponential", fmpq(2), fmpq(1)),
    ]
    with precision(128):
        rule = rule_for(laws, [(law, 30) for law in laws], 90)
        for law in laws:
            mass = sum(rule.densities(law), arb(0)) + arb(0, rule.error) + arb(0, rule.outside(law).upper())
            assert mass.contains(1)
            assert mass.rad() < arb(2) ** -60


def test_too_many_panels():
    laws = [PanelLaw("laplace", fmpq(k), fmpq(1)) for k in range(4000)]
    with precision(128), pytest.raises(Refusal, match="panels of an integral"):
        rule_for(laws, [], 0)
