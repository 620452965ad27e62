"""Every engine against brute-force enumeration of words on random models."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from tests.amounts import examples
from tests.brute import INFINITE, hmm_ratio, largest, transducer_ratio
from tests.certificates import recheck
from tests.strategies import hmm_questions, transducer_questions

from privproof import check, tight_epsilon
from privproof.engines import ENGINES, EngineRequest
from privproof.exact import Budget, fraction, log, rational
from privproof_checker import Accepted

MANY = settings(
    max_examples=examples(700),
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much],
)
FEW = settings(MANY, max_examples=examples(120))


def lengths(question):
    return range(question.horizon.low, question.horizon.high + 1)


def nothing_compared(verdict):
    return verdict.status == "unknown" and "nothing is compared" in verdict.reason


def assert_tight(verdict, expected):
    if expected == 0:
        assert nothing_compared(verdict)
        return
    if expected == INFINITE:
        assert verdict.status == "refuted"
        assert verdict.lower.infinite
        assert verdict.witness.right_probability == 0 < verdict.witness.left_probability
    else:
        assert verdict.status == "proved", verdict
        assert verdict.tight.compare(log(max(expected, Fraction(1)))) == 0
        if expected >= 1:
            assert fraction(verdict.witness.ratio) == expected
    assert isinstance(recheck(verdict.certificate), Accepted)


@MANY
@given(hmm_questions())
def test_tight_epsilon_of_hidden_markov_models(question):
    assert_tight(tight_epsilon(question), hmm_ratio(question, lengths(question)))


@MANY
@given(
    hmm_questions(longest=3),
    st.fractions(Fraction(1), Fraction(8), max_denominator=6),
    st.sampled_from([engine for engine in ENGINES if "words" in engine.families]),
)
def test_checks_of_hidden_markov_models(question, bound, engine):
    budget = Budget(log(bound))
    assume(engine.load().supports(EngineRequest(question.under(budget))) is None)
    verdict = check(question, log(bound), engine=engine.name)
    expected = hmm_ratio(question, lengths(question))
    if expected == 0:
        assert nothing_compared(verdict)
        return
    if expected == INFINITE or expected > bound:
        assert verdict.status == "refuted"
        assert not budget.epsilon.allows(verdict.witness.left_probability, verdict.witness.right_probability)
        shorter = hmm_ratio(question, range(question.horizon.low, len(verdict.witness.letters)))
        assert shorter != INFINITE
        assert shorter <= bound, "the witness is not the shortest"
    else:
        assert verdict.status == "proved", verdict
    assert isinstance(recheck(verdict.certificate), Accepted)


@FEW
@given(
    st.booleans().flatmap(lambda finite: transducer_questions(finite=finite)), st.sampled_from(["tensors", "frontier"])
)
def test_tight_epsilon_of_transducers(question, engine):
    model = question.model
    assume(engine == "frontier" or model.finish is not None)
    numbers = range(len(model.steps), len(model.steps) + 1) if model.finish is not None else lengths(question)
    assert_tight(tight_epsilon(question, engine=engine), transducer_ratio(question, numbers))


@FEW
@given(hmm_questions(longest=3), st.fractions(Fraction(0), Fraction(1), max_denominator=9))
def test_delta_for_each_output(question, delta):
    assume(delta > 0)
    verdict = tight_epsilon(question, delta, pointwise=True)
    from tests.brute import hmm_words

    if hmm_ratio(question, lengths(question)) == 0:
        assert nothing_compared(verdict)
        return
    expected = largest((p - delta, q) for _, _, p, q in hmm_words(question, lengths(question)))
    if expected == INFINITE:
        assert verdict.lower.infinite
    else:
        assert verdict.tight.compare(log(max(expected, Fraction(1)))) == 0


@FEW
@given(
    hmm_questions(longest=3, halting=False),
    st.fractions(Fraction(1, 9), Fraction(1), max_denominator=9),
    st.fractions(Fraction(1), Fraction(4), max_denominator=4),
)
def test_delta_over_events(question, delta, bound):
    from tests.brute import hmm_words

    sums: dict[object, Fraction] = {}
    for pair, word, p, q in hmm_words(question, lengths(question)):
        key = (pair.name, len(word))
        sums[key] = sums.get(key, Fraction(0)) + max(Fraction(0), p - bound * q)
    verdict = check(question, log(bound), delta)
    assert verdict.status == ("proved" if max(sums.values()) <= delta else "refuted")
    assert isinstance(recheck(verdict.certificate), Accepted)


@pytest.mark.slow
@settings(MANY, max_examples=examples(8000))
@given(hmm_questions())
def test_tight_epsilon_of_many_hidden_markov_models(question):
    assert_tight(tight_epsilon(question), hmm_ratio(question, lengths(question)))


@FEW
@given(hmm_questions(longest=3), st.randoms(use_true_random=False))
def test_renaming_and_order_do_not_matter(question, random):
    from privproof.models import HiddenMarkovModel
    from privproof.scenarios import Pair, Question, Scenario

    model = question.model
    names = {s: f"t{i}" for i, s in enumerate(model.states)}
    states = [names[s] for s in model.states]
    random.shuffle(states)
    symbols = list(model.observations)
    random.shuffle(symbols)
    renamed = HiddenMarkovModel(
        states=states,
        observations=symbols,
        transitions={names[s]: {names[t]: p for t, p in row.items()} for s, row in model.transitions.items()},
        emissions={names[s]: row for s, row in model.emissions.items()},
    )
    (pair,) = question.scenario.pairs
    turned = Pair.of(
        renamed, "pair", {names[s]: p for s, p in pair.right.items()}, {names[s]: p for s, p in pair.left.items()}
    )
    other = Question(model=renamed, scenario=Scenario(pairs=(turned,)), horizon=question.horizon, name="renamed")
    assert tight_epsilon(question).lower == tight_epsilon(other).lower


@FEW
@given(hmm_questions(longest=3), st.fractions(Fraction(1), Fraction(6), max_denominator=5))
def test_epsilon_is_monotone(question, bound):
    tight = tight_epsilon(question).lower
    assume(hmm_ratio(question, lengths(question)) != 0)
    verdict = check(question, log(bound))
    assert (verdict.status == "proved") == (tight.compare(log(rational(bound))) <= 0)
