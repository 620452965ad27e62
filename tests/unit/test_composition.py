"""Several uses together: known answers, from both sides, and certificates that say more than they show."""

from __future__ import annotations

import math
from copy import deepcopy
from dataclasses import replace
from fractions import Fraction
from functools import cache
from statistics import NormalDist

import pytest
from flint import arb
from tests.certificates import nested, recheck

from privproof import (
    bernoulli,
    check,
    composed,
    discrete_gaussian,
    gaussian,
    integer,
    laplace,
    mechanism,
    queries,
    records,
    smallest_delta,
    tight_epsilon,
)
from privproof.errors import QuestionError
from privproof.exact import Rational
from privproof.exact.balls import precision
from privproof.exact.normal import normal_excess
from privproof.library.noisy_max import noisy_max_question
from privproof.profiles import composed_loss_distribution
from privproof_checker import Accepted, Rejected
from privproof_checker.runs.divergence import excess
from privproof_checker.runs.shown import Apart


@mechanism
def laplace_count(n: integer(0, 1)):
    return laplace(n, scale=10)


@mechanism
def gaussian_count(n: integer(0, 1)):
    return gaussian(n, sigma=4)


@mechanism
def discrete_count(n: integer(0, 1)):
    return discrete_gaussian(n, variance=4)


@mechanism
def answer(truth: integer(0, 1)):
    if bernoulli("1/4"):
        return 1 - truth
    return truth


@mechanism(neighbours="add-remove")
def step(data: records(0, 1)):
    return gaussian(sum(data), sigma=1)


@mechanism(neighbours="add-remove")
def large_step(data: records(0, 1)):
    if len(data) > 1:
        return gaussian(2 * sum(data), sigma=1)
    return gaussian(sum(data), sigma=1)


def normal(mu, e):
    with precision(128):
        return float(normal_excess(arb(mu), arb(e)))


def bounds(question, e):
    found = smallest_delta(question, e)
    assert found.proof is not None
    assert found.refutation is not None
    for verdict in (found.proof, found.refutation):
        assert isinstance(recheck(nested(verdict.certificate)), Accepted)
    return float(found.lower), float(found.upper)


def test_thirty_laplace_releases():
    # Two-sided losses in steps of 1/40000 give 0.0101137739 to 0.0101153074; dp_accounting says 0.0101145406.
    low, high = bounds(composed(laplace_count, times=30), 1)
    assert 0.0101137739 < low <= 0.0101145404 <= 0.0101145407 <= high < 0.0101153074
    assert high - low < 2e-7


def test_gaussian_releases_have_a_closed_form():
    low, high = bounds(composed(gaussian_count, times=16), 1)
    assert low <= normal(1, 1) <= high
    assert high - low < 1e-4 * high


@pytest.mark.parametrize("times", [1, 3, 10])
def test_randomised_response_is_exact(times):
    low, high = bounds(composed(answer, times=times), "1/2")
    c = math.exp(0.5)
    exact = sum(
        math.comb(times, k) * max(0.0, 0.75**k * 0.25 ** (times - k) - c * 0.25**k * 0.75 ** (times - k))
        for k in range(times + 1)
    )
    assert low <= exact * (1 + 1e-9)
    assert exact * (1 - 1e-9) <= high
    assert high - low < 1e-6


def test_discrete_gaussian_releases_have_all_their_losses_on_the_lattice():
    for times, exact in ((1, 0.00724877684595258), (16, 0.50894452470042)):
        low, high = bounds(composed(discrete_count, times=times), 1)
        assert low <= exact <= high
        assert high - low < 1e-8 * high


def test_different_mechanisms_together():
    question = composed(composed(laplace_count, times=2), composed(answer, times=3))
    found = smallest_delta(question, 1)
    alone = smallest_delta(composed(answer, times=3), 1)
    assert float(found.lower) >= float(alone.lower) * 0.999
    # a loss of 1/5 at most is added
    assert (
        float(alone.upper)
        <= float(found.upper)
        <= float(smallest_delta(composed(answer, times=3), "4/5").upper) * 1.001
    )


def test_a_sample_of_one_step():
    # delta of (1-p)Q + pP against Q at c is p times that of P against Q at (c-1+p)/p
    low, high = bounds(composed(step, size=1, times=1, rate="1/10"), 1)
    exact = 0.1 * normal(1, math.log((math.e - 0.9) / 0.1))
    assert low <= exact * (1 + 1e-12)
    assert exact * (1 - 1e-12) <= high
    assert high - low < 1e-3 * high


def test_every_length_is_proved_and_a_short_one_refuted():
    found = smallest_delta(composed(step, times=4), 1)
    exact = normal(2, 1)
    assert found.proof.question.uses[0].of.family == "program"
    assert "probability 1" in found.proof.notes[0]
    assert found.lower <= exact * (1 + 1e-12)
    assert exact * (1 - 1e-12) <= float(found.upper)
    assert float(found.upper - found.lower) < 1e-3


def test_the_smallest_epsilon_at_a_delta():
    verdict = tight_epsilon(composed(laplace_count, times=30), "1/100")
    assert verdict.status == "proved"
    assert verdict.certified.lower
    assert verdict.certified.upper
    low, high = (float(end.ball(64)) for end in (verdict.lower, verdict.upper))
    assert 0 <= high - low < 0.002
    assert check(composed(laplace_count, times=30), verdict.upper, "1/100").status == "proved"


def test_an_accountant_composes_what_it_is_given():
    pytest.importorskip("dp_accounting")
    one = composed_loss_distribution(composed(laplace_count), interval="1e-3")
    assert 0.0101145404 <= one.self_compose(30).get_delta_for_epsilon(1) <= 0.01012
    sampled = composed_loss_distribution(composed(step, size=1, rate="1/10"), interval="1e-3")
    exact = 0.1 * normal(1, math.log((math.e - 0.9) / 0.1))
    assert exact * (1 - 1e-12) <= sampled.get_delta_for_epsilon(1) <= exact * 1.001
    with pytest.raises(QuestionError, match="given sizes"):
        composed_loss_distribution(composed(step))


def test_claims_are_decided_or_left_open():
    question = composed(laplace_count, times=30)
    assert check(question, 1, "0.0102").status == "proved"
    assert check(question, 1, "0.0101").status == "refuted"
    assert check(question, 1, "0.01011454").status == "unknown"


def test_what_is_composed_and_sampled():
    with pytest.raises(QuestionError, match="from once"):
        composed(laplace_count, times=0)
    with pytest.raises(QuestionError, match="composed exactly"):
        composed(noisy_max_question(2, improved=True))
    with pytest.raises(QuestionError, match="neighbours are"):
        composed(laplace_count, rate="1/10")
    with pytest.raises(QuestionError, match="above 0 and at most 1"):
        composed(step, rate=2)
    with pytest.raises(QuestionError, match="not known"):
        composed(step, rate="1/2", sampled="bootstrap")


def _normal_delta(mu, epsilon):
    below = NormalDist().cdf
    return below(mu / 2 - epsilon / mu) - math.exp(epsilon) * below(-mu / 2 - epsilon / mu)


@pytest.mark.parametrize(("rate", "epsilon"), [("1/10", "1/2"), ("1/4", "1")])
def test_one_use_on_a_sample_is_on_its_own_curve(rate, epsilon):
    """Data with the record first: p H((c - 1 + p)/p); without it first it is less."""
    found = smallest_delta(composed(step, size=1, rate=rate), epsilon)
    p, c = float(Fraction(rate)), math.exp(Fraction(epsilon))
    known = p * _normal_delta(1, math.log((c - 1 + p) / p))
    assert float(found.lower) <= known * (1 + 1e-9)
    assert any("which other records" in note for note in found.refutation.notes)
    assert known * (1 - 1e-9) <= float(found.upper) <= float(found.lower) * (1 + 1e-8)


@pytest.mark.parametrize("times", [1, 2])
def test_only_one_use_needs_no_lattice(times):
    """Certificates without a step are of one use that is made once; for two uses its curve would be too small."""
    found = smallest_delta(composed(step, size=1, rate="1/4"), 1)
    for verdict in (found.proof, found.refutation):
        document = deepcopy(dict(nested(verdict.certificate)))
        assert "step" not in document["evidence"]
        document["question"]["uses"][0]["times"] = times
        assert isinstance(recheck(document), Accepted if times == 1 else Rejected)
        document["question"]["uses"][0]["times"] = 1
        document["question"]["delta"] = str(
            Fraction(document["question"]["delta"])
            * (Fraction(99, 100) if verdict is found.proof else Fraction(101, 100))
        )
        assert isinstance(recheck(document), Rejected)
    document = deepcopy(dict(nested(found.refutation.certificate)))
    document["evidence"].update(left=document["evidence"]["right"], right=document["evidence"]["left"])
    assert isinstance(recheck(document), Rejected)


@cache
def sampled_steps():
    """The certificates of a proof and of a refutation."""
    found = smallest_delta(composed(step, size=1, times=3, rate="1/4"), 1)
    return nested(found.proof.certificate), nested(found.refutation.certificate)


@mechanism(neighbours="one")
def total(data: records(0, 1)):
    return laplace(sum(data), scale=1)


@mechanism(neighbours="one")
def answers(q: queries(0, 4, sensitivity=1)):
    return laplace(sum(q), scale=1)


def test_a_share_of_all_records():
    # g delta(e') with e' = ln(1 + (e^e - 1)/g): Laplace noise has delta(e) = 1 - e^((e-1)/2)
    found = smallest_delta(composed(total, size=2, rate="1/2", sampled="without-replacement"), "1/4")
    exact = 0.5 * (1 - math.exp((math.log(1 + (math.exp(0.25) - 1) / 0.5) - 1) / 2))
    assert exact * (1 - 1e-9) <= float(found.upper) <= exact * 1.001
    assert found.lower == 0


def test_a_share_of_records_that_change_by_amounts():
    # a record that is not sampled gives its place to any other one, which may be further away than a neighbour
    with pytest.raises(QuestionError, match="change by amounts"):
        composed(answers, size=2, rate="1/2", sampled="without-replacement")
    document = deepcopy(
        dict(
            nested(
                smallest_delta(
                    composed(total, size=2, rate="1/2", sampled="without-replacement"), "1/4"
                ).proof.certificate
            )
        )
    )
    other = nested(smallest_delta(composed(answers, size=2), "1/4").proof.certificate)
    document["question"]["uses"][0]["of"] = other["question"]["uses"][0]["of"]
    refused = recheck(document)
    assert isinstance(refused, Rejected)
    assert "any other one" in refused.reason


class TestCertificates:
    """What a certificate says is what it shows: every one of these is turned down."""

    @pytest.mark.parametrize(
        "change",
        [
            lambda use, _: use.update(times=4),
            lambda use, _: use["sampling"].update(rate="1/3"),
            lambda use, _: use.pop("sampling"),
            lambda use, _: use["sampling"].update(kind="without-replacement"),
            lambda use, _: use["of"].update(relation="one"),
            lambda use, evidence: evidence.update(step="0"),
            lambda use, evidence: evidence["uses"][0].update(reach=0),
            lambda use, evidence: evidence["uses"][0].update(method="certificates", certificates=[]),
            lambda use, evidence: evidence.update(uses=[]),
        ],
    )
    def test_of_a_proof(self, change):
        document = deepcopy(dict(sampled_steps()[0]))
        change(document["question"]["uses"][0], document["evidence"])
        assert isinstance(recheck(document), Rejected)

    @pytest.mark.parametrize(
        "change",
        [
            lambda use, _: use.update(times=2),
            lambda use, _: use["sampling"].update(rate="1/5"),
            lambda use, evidence: evidence.update(left=evidence["right"], right=evidence["left"]),
            lambda use, evidence: evidence.update(left=evidence["right"]),
            lambda use, evidence: evidence.update(use=1),
        ],
    )
    def test_of_a_refutation(self, change):
        document = deepcopy(dict(sampled_steps()[1]))
        change(document["question"]["uses"][0], document["evidence"])
        assert isinstance(recheck(document), Rejected)

    def test_certificates_of_another_mechanism_prove_nothing(self):
        document = deepcopy(dict(nested(check(composed(step, times=2), 1, "0.3").certificate)))
        assert isinstance(recheck(document), Accepted)
        of = document["question"]["uses"][0]["of"]
        assert document["evidence"]["uses"][0]["method"] == "certificates"
        of["title"] = "another"
        assert isinstance(recheck(document), Rejected)


def test_a_mechanism_that_tells_more_in_larger_data_is_not_better_in_samples():
    # what is in the sample besides the record decides how much is shown: the worst rest counts
    low, _ = bounds(composed(large_step, size=2, rate="1/10"), 1)
    assert low > 0.1 * normal(2, math.log((math.e - 0.9) / 0.1)) * 0.999


def test_a_probability_that_may_be_nothing_is_not_taken_for_nothing():
    # with 10^-13 on the right, e^40 times as much is allowed: nothing is known to be beyond
    with precision(128):
        q = arb(0, 1e-13)
        found, _ = excess(arb("0.01"), q, arb(40).exp(), Apart(Rational(0), ()))
        assert found.lower() <= 0
        assert found.upper() >= 0.01


def test_a_composition_is_no_question_about_one_use():
    question = composed(laplace_count, times=30)
    assert check(question, "3", "1/10").question.uses[0].times == 30
    assert replace(question, uses=()).name == ""
