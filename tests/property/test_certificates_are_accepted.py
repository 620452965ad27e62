"""No engine writes a certificate that the checker refuses: a refusal is a warning, and warnings are errors here.

The questions are of all kinds that a model file can pose, whatever the sense of them.
"""

from __future__ import annotations

import time
from fractions import Fraction

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from tests.amounts import examples
from tests.certificates import recheck
from tests.strategies import reading_questions, restricted_questions

from privproof import HiddenMarkovModel, Horizon, Pair, Question, Scenario, Words, check, tight_epsilon
from privproof.engines import Monitor
from privproof_checker import Accepted

SETTINGS = settings(
    max_examples=examples(60), deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large]
)
QUESTIONS = st.one_of(restricted_questions(), reading_questions())
DELTAS = st.sampled_from([(0, False), (0, False), (Fraction(1, 7), False), (Fraction(1, 12), True)])
EPSILONS = st.sampled_from(["0", "ln(2)", "1", "ln(10)", "inf"])


def hidden(transitions, left, right, **others):
    states = list(dict.fromkeys([*transitions, *(t for row in transitions.values() for t in row), *left, *right]))
    model = HiddenMarkovModel(
        states=states, observations=["x"], transitions=transitions, emissions={s: {"x": 1} for s in states}
    )
    pairs = (Pair.of(model, "pair", left, right),)
    horizon = others.pop("horizon", None)
    return Question(model=model, scenario=Scenario(pairs=pairs, words=Words(**others)), horizon=horizon, name="hidden")


ENDED = hidden({"b": {"d": 1}, "d": {"c": 1}}, {"b": "3/5", "c": "2/5"}, {"a": "2/3", "c": "1/3"}, ending="complete")
"""Words that vanish at the last length because they are not complete."""
WAITING = hidden({"a": {"b": "1/2", "c": "1/2"}, "b": {"b": 1}}, {"a": 1}, {"b": 1}, ending="visible", only=". .")
"""Words of two letters, of which some are complete: seen by who waits for a third."""


def assert_certified(verdict):
    assert "does not accept" not in getattr(verdict, "reason", "")
    if verdict.status != "unknown":
        assert isinstance(recheck(verdict.certificate), Accepted)


def assert_tight(question, delta):
    stop = Monitor(deadline=time.monotonic() + 5)
    assert_certified(tight_epsilon(question, delta[0], pointwise=delta[1], monitor=stop))


def assert_checked(question, epsilon, delta):
    stop = Monitor(deadline=time.monotonic() + 5)
    assert_certified(check(question, epsilon, delta[0], pointwise=delta[1], monitor=stop))


@SETTINGS
@given(QUESTIONS, DELTAS)
@example(ENDED, (0, False))
@example(Question(model=ENDED.model, scenario=ENDED.scenario, horizon=Horizon.up_to(2)), (0, False))
@example(Question(model=ENDED.model, scenario=ENDED.scenario, horizon=Horizon.exactly(3)), (Fraction(1, 12), False))
@example(WAITING, (Fraction(1, 12), False))
@example(WAITING, (Fraction(1, 12), True))
def test_tight_epsilons(question, delta):
    assert_tight(question, delta)


@SETTINGS
@given(QUESTIONS, EPSILONS, DELTAS)
@example(WAITING, "inf", (Fraction(1, 12), False))
@example(WAITING, "inf", (Fraction(1, 12), True))
def test_checks(question, epsilon, delta):
    assert_checked(question, epsilon, delta)


@pytest.mark.slow
@settings(SETTINGS, max_examples=examples(3000))
@given(QUESTIONS, EPSILONS, DELTAS)
def test_many(question, epsilon, delta):
    assert_tight(question, delta)
    assert_checked(question, epsilon, delta)
