"""Profiles of everything: exact or enclosed, composed with one another, handed to accountants from above and from below."""

import copy
import math

import numpy as np
import pytest
from flint import arb, fmpz, fmpz_poly
from tests.certificates import nested, recheck
from tests.conformance.mixed_noise import _normal

from privproof import (
    EnclosedProfile,
    Profile,
    QuestionError,
    composed,
    discrete_gaussian,
    gaussian,
    integer,
    laplace,
    mechanism,
    privacy_profile,
    randomized_response,
    records,
    smallest_delta,
)
from privproof.engines.composition.composed_losses import Losses
from privproof.errors import LanguageError
from privproof.exact import epsilon, rational
from privproof.exact.balls import precision
from privproof.profiles import Curve, composed_loss_distribution, privacy_loss_distribution
from privproof.profiles import privacy_profile as finite_profile
from privproof_checker import Accepted


@mechanism
def count(n: integer(0, 1)):
    return gaussian(n, sigma=2)


@mechanism
def other(n: integer(0, 1)):
    return laplace(n, scale=2)


@mechanism
def survey(n: integer(0, 1)):
    return randomized_response(n == 1, truth="3/4")


@mechanism
def turned(n: integer(0, 1)):
    return randomized_response(n == 0, truth="2/3")


def normal_and_laplace(e):
    """The delta of N(0, 1) against N(1/2, 1) beside Laplace noise that moves by half a scale: a sum over the latter."""
    grid = np.linspace(-60, 60, 480_001)
    loss = np.abs(grid - 1 / 2) - np.abs(grid)
    return float(np.sum(np.exp(-np.abs(grid)) / 2 * _normal(1 / 2)(e - loss)) * (grid[1] - grid[0]))


def test_a_profile_is_exact_or_enclosed():
    assert isinstance(privacy_profile(survey), Profile)
    found = privacy_profile(count)
    assert isinstance(found, EnclosedProfile)
    low, high = found.bounds(1)
    assert float(low) <= 0.006829594983 + 1e-12
    assert float(high) >= 0.006829594983 - 1e-12
    assert found.at(1).proof.status == "proved"
    assert found.at(1) is found.at("1")
    assert float(found.epsilon("1/100").ball().mid()) == pytest.approx(0.919457636, abs=1e-8)
    assert found.csv(2, up_to=1) == "epsilon,lower,upper\n0,0.197413,0.197413\n1,0.00682959,0.00682959\n"


def test_profiles_of_different_mechanisms_are_enclosed_from_both_sides():
    both = privacy_profile(count).composed(privacy_profile(other))
    for e in ("1/4",):
        low, high = map(float, both.bounds(e))
        assert low <= normal_and_laplace(float(rational(e))) + 1e-7
        assert high >= normal_and_laplace(float(rational(e))) - 1e-7
        assert high - low < 1e-4 * high
    found = both.at("1/4")
    assert recheck(nested(found.refutation.certificate)).verdict == "refuted"
    assert nested(found.refutation.certificate)["evidence"]["also"][0]["use"] == 1


def test_exact_profiles_are_composed_exactly_and_agree_with_the_lattices():
    one, two = privacy_profile(survey), privacy_profile(turned)
    exact = one.composed(two, times=2)
    assert exact == two.composed(one, times=2) == one.composed(2).composed(two.composed(2))
    found = smallest_delta(composed(survey, turned, times=2), "1/2")
    low, high = exact.bounds("1/2")
    assert float(found.lower) <= float(low)
    assert float(found.upper) >= float(high)
    assert float(found.upper - found.lower) < 1e-3
    mixed = privacy_profile(count).composed(one)
    assert mixed.name == "count and survey"
    with pytest.raises(QuestionError, match="composed with exact ones"):
        one.composed(privacy_profile(count))


@pytest.mark.parametrize("change", [
    lambda e: e["also"][0].update(left=e["also"][0]["right"], right=e["also"][0]["left"]),
    lambda e: e["also"].append(dict(e["also"][0])),
    lambda e: e["also"][0].update(use=0),
    lambda e: e["also"][0].update(use=7),
    lambda e: e.pop("also"),
])  # fmt: skip
def test_uses_on_different_data_refute_nothing(change):
    found = smallest_delta(composed(count, other, times=2), 1)
    certificate = copy.deepcopy(dict(nested(found.refutation.certificate)))
    assert isinstance(recheck(certificate), Accepted)
    change(certificate["evidence"])
    assert not isinstance(recheck(certificate), Accepted)


def test_data_of_other_names_or_types_are_not_the_same():
    @mechanism
    def renamed(m: integer(0, 1)):
        return laplace(m, scale=2)

    found = smallest_delta(composed(count, renamed), "1/4")
    assert "also" not in nested(found.refutation.certificate)["evidence"]
    together = smallest_delta(composed(count, other), "1/4")
    assert found.lower < together.lower


# ------------------------------------------------------------------------------------------------------------ accountants


def test_losses_without_slack_are_below_the_curve_less_the_slack():
    """Against the curve less the slack, which the true one is not below: at random points."""
    unit = 2**160
    step = epsilon("1/4")
    rnd = np.random.default_rng(5)
    for _ in range(30):
        masses = [fmpz(int(x * unit / 40)) for x in rnd.random(12)]
        infinite = fmpz(int(rnd.choice([0.0, 1e-6, 1e-2]) * unit))
        slack = fmpz(int(rnd.choice([1e-9, 1e-3, 0.05, 1.0]) * unit))
        losses = Losses(step, False, -4, fmpz_poly(masses), infinite, slack)
        bare = losses.without_slack()
        assert bare.slack == 0
        for e in ("0", "1/8", "1/3", "1", "7/4", "3"):
            with precision(200):
                assert bare.delta(epsilon(e)) <= losses.delta(epsilon(e)).max(arb(0)) + arb(2) ** -100


def exact_likelihoods(times):
    return privacy_profile(survey).composed(times=times)


def test_an_accountant_gets_both_ends():
    pytest.importorskip("dp_accounting")
    cases = [
        (lambda p: privacy_loss_distribution(privacy_profile(survey), interval="1e-2", pessimistic=p), 8, None),
        (lambda p: composed_loss_distribution(composed(count), interval="1e-2", pessimistic=p), 16, math.sqrt(16) / 2),
    ]
    for made, times, mu in cases:
        low, high = (made(side).self_compose(times).get_delta_for_epsilon(1.0) for side in (False, True))
        true = float(_normal(mu)(np.array([1.0]))[0]) if mu else float(exact_likelihoods(times).bounds(1)[0])
        assert low - 1e-9 <= true <= high + 1e-9  # what an accountant does is floating point
        assert high - low < 0.05 * high + (0.1 if mu is None else 0)


@pytest.mark.slow
def test_losses_of_discrete_and_mixed_noise_are_handed_over_from_both_sides():
    pytest.importorskip("dp_accounting")

    @mechanism
    def whole(data: records(0, 1)):
        return discrete_gaussian(sum(data), variance=4)

    @mechanism
    def sharp(data: records(0, 1)):
        return laplace(sum(data), scale=3)

    both = privacy_profile(whole, size=2).composed(privacy_profile(sharp, size=2))
    low, high = (both.loss_distribution(pessimistic=side).get_delta_for_epsilon(0.5) for side in (False, True))
    certified = [float(end) for end in both.bounds("1/2")]
    assert low <= certified[1] + 1e-9
    assert certified[0] <= high + 1e-9
    assert high - low < 1e-2 * high


def test_a_pair_that_is_worst_somewhere_bounds_from_below():
    pytest.importorskip("dp_accounting")
    profile = privacy_profile(survey).composed(privacy_profile(turned))
    assert isinstance(profile, Curve)
    loss = privacy_loss_distribution(profile, interval="1e-3", pessimistic=False)
    assert loss.get_delta_for_epsilon(0.5) <= float(profile.bounds("1/2")[1]) + 1e-12


def test_the_profile_of_a_finite_model_says_where_that_of_other_noise_is():
    with pytest.raises(LanguageError, match="no finite model") as refused:
        finite_profile(count)
    assert "privproof.privacy_profile" in refused.value.hint
