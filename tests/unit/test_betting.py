"""Tests that stop when they like: bets have mean at most one wherever a claim holds, and stopped audits keep their confidence."""

from __future__ import annotations

from math import exp, log

import numpy as np
import pytest
from tests.amounts import examples

from privproof import audit, integer, mechanism, randomized_response
from privproof.audits.sampling.betting import NO_BET, Stakes, best_bet, corners, grid
from privproof.errors import QuestionError


@mechanism(epsilon="ln(3)")
def answer(x: integer(0, 1)):
    """Randomised response that uses its claim up."""
    return randomized_response(x, truth="3/4")


def _mean(bet, p, q):
    sides = ((p, bet.left), (q, bet.right))
    return exp(-bet.cost) * np.prod([share * exp(one) + (1 - share) * exp(other) for share, (one, other) in sides])


def test_a_bet_has_mean_at_most_one_wherever_the_claim_holds():
    generator, made = np.random.default_rng(0), 0
    for _ in range(400):
        q, p = np.sort(generator.random(2)).tolist()
        epsilon, delta = float(generator.exponential()), float(generator.choice([0, 0.05, 0.3]))
        bet = best_bet((p, q), epsilon, delta)
        made += bet is not NO_BET
        for y in [*generator.random(20).tolist(), *(b for _, b in corners(epsilon, delta))]:
            most = min(1.0, exp(epsilon) * y + delta, 1 - max(0.0, 1 - y - delta) / exp(epsilon))
            for x in (most, most * float(generator.random())):
                assert _mean(bet, x, y) <= 1
        if bet is not NO_BET:
            assert p > exp(epsilon) * q + delta or 1 - q > exp(epsilon) * (1 - p) + delta
    assert made > 50


def _stopped(p, q, epsilon, most, generator):
    stakes = Stakes([epsilon], 0.0, (int(generator.binomial(2500, p)), int(generator.binomial(2500, q))), 2500)
    while stakes.runs < most:
        runs = min(max(64, stakes.runs // 8), most - stakes.runs)
        stakes.add(int(generator.binomial(runs, p)), int(generator.binomial(runs, q)), runs)
        if stakes.at_least(0.05) > 0:
            return stakes.runs
    return None


@pytest.mark.parametrize(("p", "q"), [(0.75, 0.25), (0.5, 0.5 / exp(1)), (0.3, 0.003)])
def test_stopping_at_the_truth_is_rare_and_below_it_soon(p, q):
    """With a bet of 5 % each; by Ville's inequality at most 5 % of all tests of a true claim ever stop."""
    generator, repeated = np.random.default_rng(1), examples(2400)
    wrong = sum(_stopped(p, q, log(p / q), 20_000, generator) is not None for _ in range(repeated))
    assert wrong <= 0.05 * repeated + 3 * (0.05 * 0.95 * repeated) ** 0.5
    needed = [_stopped(p, q, 0.8 * log(p / q), 50_000, generator) or 50_000 for _ in range(15)]
    assert np.median(needed) < 2500


def test_the_grid_has_the_claim_and_goes_beyond_what_is_expected():
    assert 1.0 in grid(1.0, 0.5)
    assert max(grid(1.0, 4.0)) == 5.0


def test_the_bound_is_the_last_of_those_that_are_all_refuted():
    stakes = Stakes([1.0, 2.0, 3.0], 0.0, (0, 0), 1)
    stakes.highest = [5.0, 0.0, 9.0]
    assert stakes.at_least(0.05) == 1.0


def test_an_audit_stops_as_soon_as_it_knows():
    found = audit(answer, "1/2", samples=100_000, search=20_000, stop_early=True, exact=False)
    assert found.violated
    assert found.samples < 5_000
    assert 0.5 <= found.epsilon <= log(3)
    assert any(f"ended after {found.samples} of at most 100000" in note for note in found.notes)
    again = audit(answer, "1/2", samples=100_000, search=20_000, stop_early=True, exact=False, jobs=2)
    assert (again.samples, again.epsilon, again.p_value) == (found.samples, found.epsilon, found.p_value)


def test_an_audit_of_what_holds_makes_all_its_runs():
    found = audit(answer, samples=5_000, search=5_000, stop_early=True, exact=False)
    assert not found.violated
    assert found.samples == 5_000
    assert found.delta is None
    assert not any("ended after" in note for note in found.notes)


def test_without_a_claim_there_is_nothing_to_stop_for():
    with pytest.raises(QuestionError, match="no claimed epsilon"):
        audit(answer, rho=1, stop_early=True, samples=500)
    with pytest.raises(QuestionError, match="curve"):
        audit(answer, curve=[1], stop_early=True, samples=500)
