"""Words of every length against words of bounded length, on random small models."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.amounts import ALL, examples
from tests.brute import INFINITE, prefix_ratio
from tests.certificates import recheck
from tests.strategies import hmm_questions, pumped_questions, transducers, transient_questions

from privproof import check, tight_epsilon
from privproof.exact import Budget, log, rational
from privproof.models import Horizon
from privproof.scenarios import Neighbours, Question, Scenario
from privproof_checker import Accepted

MANY = settings(
    max_examples=examples(15), deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large]
)
FEW = settings(MANY, max_examples=examples(3, fewest=2))
LONGEST = 10


def every_length(question):
    return replace(question, horizon=Horizon.unbounded())


def up_to(question, length=LONGEST):
    return replace(question, horizon=Horizon.up_to(length))


def assert_consistent(question):
    verdict = tight_epsilon(every_length(question))
    bounded = tight_epsilon(up_to(question))
    if bounded.status == "unknown":
        assert verdict.status == "unknown"
        return
    if bounded.lower.infinite:
        assert verdict.lower.infinite
    assert verdict.upper.compare(bounded.lower) >= 0, "the bracket excludes a word that exists"
    if verdict.status == "proved":
        assert verdict.lower.compare(verdict.upper) <= 0
    if verdict.status != "unknown":
        assert isinstance(recheck(verdict.certificate), Accepted)


@MANY
@given(hmm_questions(most_states=3, most_symbols=2))
def test_brackets_contain_bounded_maxima(question):
    assert_consistent(question)


@MANY
@given(hmm_questions(most_states=4, most_symbols=3, zeros=False, halting=False))
def test_positive_chains_are_bracketed(question):
    verdict = tight_epsilon(every_length(question))
    assert verdict.status == "proved"
    assert float(verdict.upper.ball()) - float(verdict.lower.ball()) <= 1.1e-6
    assert_consistent(question)


@MANY
@given(hmm_questions(most_states=3, most_symbols=2), st.fractions(Fraction(1), Fraction(6), max_denominator=5))
def test_verdicts_do_not_contradict_bounded_ones(question, bound):
    verdict = check(every_length(question), log(bound))
    bounded = check(up_to(question), log(bound))
    if bounded.status == "refuted":
        assert verdict.status == "refuted"
        assert len(verdict.witness.letters) == len(bounded.witness.letters), "the witness is not the shortest"
    if verdict.status == "proved":
        assert bounded.status == "proved"
        assert isinstance(recheck(verdict.certificate), Accepted)
    if verdict.status == "refuted":
        budget = Budget(log(bound))
        witness = verdict.witness
        assert not budget.epsilon.allows(witness.left_probability, witness.right_probability)


def assert_contains(question, longest):
    """No verdict about words of every length contradicts a word, all words up to a length being looked at one by one."""
    question = every_length(question)
    ratio = prefix_ratio(question, longest)
    verdict = tight_epsilon(question)
    if ratio == INFINITE:
        assert verdict.status == "refuted"
        assert verdict.lower.infinite
        return verdict
    if verdict.status == "proved":
        assert verdict.upper.allows(rational(ratio), rational(1))
        assert isinstance(recheck(verdict.certificate), Accepted)
    for bound in (ratio, ratio * Fraction(99, 100), ratio + 1):
        answer = check(question, log(max(bound, Fraction(1))))
        if answer.status == "proved":
            assert max(bound, Fraction(1)) >= ratio
        if answer.status == "refuted":
            assert answer.witness.ratio is None or answer.witness.ratio > bound
        if bound >= 1 and bound < ratio:
            assert answer.status != "proved"
    return verdict


@FEW
@given(hmm_questions(most_states=3, most_symbols=2))
def test_no_word_contradicts_a_verdict(question):
    assert_contains(question, 12)


@FEW
@given(hmm_questions(most_states=4, most_symbols=3, zeros=False))
def test_no_word_contradicts_a_verdict_on_positive_chains(question):
    assert_contains(question, 12 if len(question.model.observations) < 3 else 7)


@FEW
@given(transient_questions())
def test_transient_states(question):
    assert_contains(question, 12)


@settings(MANY, max_examples=examples(4))
@given(pumped_questions(), st.integers(1, 50))
def test_a_pump_is_recognised(question, bound):
    verdict = tight_epsilon(question)
    assert verdict.status == "refuted"
    assert verdict.lower.infinite
    assert verdict.growth is not None
    assert len(verdict.growth.repeated) <= 4
    assert verdict.growth.factor is None or verdict.growth.factor > 1
    assert isinstance(recheck(verdict.certificate), Accepted)
    assert check(question, log(bound)).status == "refuted"


@settings(MANY, max_examples=examples(6, fewest=2))
@given(
    transducers(finite=False, steps=1, inputs=2),
    st.sampled_from([Neighbours.each(within=1), Neighbours.one(within=1), Neighbours.monotone(within=1)]),
)
def test_streams(model, relation):
    question = Question(model=model, scenario=Scenario(neighbours=relation), name="stream")
    verdict = tight_epsilon(every_length(question))
    bounded = tight_epsilon(up_to(question, 5 if ALL else 4))
    if bounded.status == "unknown":
        return
    assert verdict.upper.compare(bounded.lower) >= 0
    if bounded.lower.infinite:
        assert verdict.lower.infinite
    if verdict.status != "unknown":
        assert isinstance(recheck(verdict.certificate), Accepted)


@pytest.mark.slow
@settings(MANY, max_examples=examples(3000))
@given(hmm_questions(most_states=3, most_symbols=2))
def test_brackets_contain_bounded_maxima_of_many_models(question):
    assert_consistent(question)
