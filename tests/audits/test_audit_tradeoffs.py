"""What a notion of privacy says about one event: against rigorous balls, against the definition on all outcomes, and in audits."""

from __future__ import annotations

from fractions import Fraction
from functools import cache
from itertools import product
from math import inf, log

import numpy as np
import pytest
from flint import arb
from tests.amounts import selected
from tests.audits.test_audit_intervals import PROBABILITIES, mass
from tests.audits.test_audit_regions import table

from privproof.audits.sampling.search_aims import Aim, bound_from_counts
from privproof.audits.sampling.tradeoff_curves import CONCENTRATED, DeltaAt, EpsilonAt, GaussianTradeoff, RenyiOrders
from privproof.exact.balls import precision

ORDERS = (1.0, 1 + 1e-9, 1.0001, 1.5, 2.0, 16.0, 10_000.0)
DENSE = tuple(1 + k / 64 for k in range(64 * 32))
CELLS = 20
NOTIONS = {
    "mu": GaussianTradeoff(),
    "rho": RenyiOrders((1.0, 1.5, 3.0), (1.0, 1.5, 3.0)),
    "order 1": RenyiOrders((1.0,), (1.0,)),
    "order 2": RenyiOrders((2.0,), (1.0,)),
    "orders": RenyiOrders((2.0, 8.0), (0.5, 1.0)),
    "epsilon": EpsilonAt(0.05),
    "delta": DeltaAt(log(2)),
}


def divergence(p, q, order) -> arb:
    """The Rényi divergence of two two-valued laws by its definition, in balls."""
    p, q, total = (
        arb(Fraction(p).numerator) / Fraction(p).denominator,
        arb(Fraction(q).numerator) / Fraction(q).denominator,
        arb(0),
    )
    for one, other in ((p, q), (1 - p, 1 - q)):
        if one == 0:
            continue
        if other == 0:
            return arb("inf")
        total += one * (one / other).log() if order == 1 else one * ((order - 1) * (one / other).log()).exp()
    return total if order == 1 else total.log() / (arb(order) - 1)


@cache
def needed(name: str, p: Fraction, q: Fraction) -> float:
    """The least number by the definition: both orders of the data sets, the event and its complement."""
    if p == q:
        return 0.0
    if name == "epsilon":
        ratios = [
            (max(a - Fraction("0.05"), Fraction(0)), b) for a, b in ((p, q), (q, p), (1 - p, 1 - q), (1 - q, 1 - p))
        ]
        return max(inf if b == 0 and a > 0 else log(a / b) if a > b else 0.0 for a, b in ratios)
    if name == "delta":
        return float(
            max(a - 2 * b for a, b in ((p, q), (q, p), (1 - p, 1 - q), (1 - q, 1 - p), (Fraction(0), Fraction(0))))
        )
    if name == "mu":
        if {0, 1} & {p, q}:
            return inf
        quantiles = [float((2 * arb(x.numerator) / x.denominator - 1).erfinv() * arb(2).sqrt()) for x in (p, q)]
        return abs(quantiles[0] - quantiles[1])
    if name == "rho":  # in floats, by the definition: balls at two thousand orders take minutes
        if {0, 1} & {p, q}:
            return inf
        x, y, a = float(p), float(q), np.array(DENSE[1:])
        sums = [u**a * v ** (1 - a) + (1 - u) ** a * (1 - v) ** (1 - a) for u, v in ((x, y), (y, x))]
        at_one = [u * log(u / v) + (1 - u) * log((1 - u) / (1 - v)) for u, v in ((x, y), (y, x))]
        return float(max(*at_one, *((np.log(total) / (a - 1) / a).max() for total in sums)))
    orders = {"order 1": [(1, 1)], "order 2": [(2, 1)], "orders": [(2, 0.5), (8, 1)]}[name]
    return max(float(max(divergence(p, q, a), divergence(q, p, a)) / arb(unit)) for a, unit in orders)


def test_divergences_err_downward_and_hardly():
    with precision(192):
        _err_downward_and_hardly()


def _err_downward_and_hardly():
    chosen = np.random.default_rng(1)
    for _ in range(300):
        q = float(10 ** chosen.uniform(-12, 0)) if chosen.random() < 0.5 else float(chosen.random())
        p = min(1.0, q * (1 + 10 ** chosen.uniform(-9, 3)))
        q = 0.0 if chosen.random() < 0.1 else q
        p, q = (1 - q, 1 - p) if chosen.random() < 0.3 else (p, q)
        order = float(chosen.choice(ORDERS))
        found = float(RenyiOrders((order,), (1.0,)).least(np.array(p), np.array(q)))
        if p <= q:
            assert found == 0.0
            continue
        truth = max(divergence(p, q, order), divergence(q, p, order))
        assert not arb(found) > truth
        if truth.is_finite():
            assert found > float(truth) * 0.999 - 1e-11 / max(min(order - 1, 1), 1e-3)
        else:
            assert found == inf


@pytest.mark.parametrize("name", NOTIONS)
def test_the_least_number_and_the_largest_probability_agree(name):
    notion = NOTIONS[name]
    q = np.array([1e-6, 0.003, 0.2, 0.5, 0.9])
    for value in (0.01, 0.1, 0.7):
        edge = notion.largest(q, value)
        assert ((q <= edge) & (edge <= 1)).all()
        beyond = notion.least(np.minimum(edge * (1 + 1e-6), 1.0), q)
        assert ((edge == 1) | (beyond > value * (1 - 1e-6) - 1e-7)).all()
        assert (notion.least(edge * (1 - 1e-3), q) <= value).all()


def test_rho_by_some_orders_is_hardly_less_than_by_all():
    for p, q in product(PROBABILITIES, repeat=2):
        truth = needed("rho", p, q)
        if p > q and truth < inf:
            found = CONCENTRATED.least(np.array(float(p)), np.array(float(q)))
            assert 0.995 * truth - 1e-9 < found < truth * 1.005


@pytest.mark.parametrize("name", NOTIONS)
def test_more_telling_pairs_ask_for_more(name):
    """The theorem of the module: larger on the left and smaller on the right never asks for less."""
    grid = np.array(sorted({float(p) for p in PROBABILITIES} | {k / 17 for k in range(18)}))
    found = NOTIONS[name].least(grid[:, None] + 0 * grid, grid + 0 * grid[:, None])
    with np.errstate(invalid="ignore"):
        assert not (np.diff(found, axis=0) < -1e-8).any()
        assert not (np.diff(found, axis=1) > 1e-8).any()


@pytest.mark.parametrize(
    ("name", "weight"), selected([(name, weight) for weight in (0.3, 0.0, 0.9) for name in NOTIONS], 7)
)
def test_bounds_and_p_values_are_wrong_at_most_as_often_as_they_say(name, weight):
    """Over all outcomes of a few runs, with exact binomial probabilities."""
    notion, runs = NOTIONS[name], 5
    for alpha in (0.5, 0.05):
        bound = table(runs, weight, lambda region, a=alpha: region.at_least(notion, a, CELLS))
        assert ((bound >= 0) & np.isfinite(bound)).all()
        for p, q in product(PROBABILITIES, repeat=2):
            assert mass(runs, p, q, bound > needed(name, p, q) + 1e-9) <= Fraction(alpha), (p, q)
    for p, q in (
        (Fraction(2, 3), Fraction(1, 3)),
        (Fraction(9, 10), Fraction(1, 4)),
        (Fraction(1, 10), Fraction(1, 50)),
    ):
        claimed = needed(name, p, q) * (1 + 1e-9)
        values = table(runs, weight, lambda region, c=claimed: region.p_values(notion, [c], CELLS)[0])
        for level in set(values.ravel().tolist()):
            assert mass(runs, p, q, values <= level) <= Fraction(level) * (1 + Fraction(1, 10**9)), (p, q, level)


def test_a_claim_of_no_divergence_permits_equal_laws_alone():
    nothing = RenyiOrders((2.0,), (0.0,))
    assert nothing.least(np.array(0.5), np.array(0.5)) == 0.0
    assert nothing.least(np.array(0.6), np.array(0.5)) == inf


def test_shares_sum_to_one():
    curve = (DeltaAt(0.0), DeltaAt(1.0), DeltaAt(2.0))
    claim = (EpsilonAt(), DeltaAt(1.0))
    for aim, tested in (
        (Aim(), [EpsilonAt()]),
        (Aim(claim), list(claim)),
        (Aim((), curve), list(curve)),
        (Aim((), curve), [curve[1]]),
        (Aim(claim, curve), [EpsilonAt(), DeltaAt(1.0), DeltaAt(0.0), DeltaAt(2.0)]),
        (Aim((GaussianTradeoff(),), curve), [GaussianTradeoff(), *curve]),
    ):
        shares = aim.shares(tested)
        assert len(shares) == len(tested)
        assert min(shares) > 0
        assert sum(shares) == pytest.approx(1.0)


def test_promises_are_below_what_the_counts_suggest():
    for notion in NOTIONS.values():
        promise = bound_from_counts(notion, [700], [200], 1000, 10_000)[0]
        assert 0 <= promise < notion.least(np.array(0.7), np.array(0.2))
