"""A list is given in advance: over events nobody chooses its later answers by the outputs for the earlier ones."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import pytest
from tests.certificates import recheck

from privproof import bernoulli, check, mechanism, privacy_profile, records, tight_epsilon
from privproof.compiling import mechanism_question
from privproof.exact import epsilon, fraction
from privproof.language.running import outputs
from privproof_checker import Accepted

SIZE = 2


@mechanism(epsilon="ln(3/2)", delta="3/8")
def one_way_or_the_other(q: records(0, 1)):
    first = True
    coin = False
    for x in q:
        if first:
            coin = bernoulli("1/2")
            yield coin
            first = False
        elif coin:
            yield 1 if x == 1 and bernoulli("1/2") else 0
        else:
            yield 1 if x == 0 and bernoulli("1/2") else 0


def delta_by_running(c):
    """The smallest delta over all pairs of neighbouring lists, by running the function on all its random choices."""
    laws = {
        data: outputs(one_way_or_the_other, {"q": list(data)}).distribution() for data in product((0, 1), repeat=SIZE)
    }
    return max(
        sum(max(Fraction(0), p - c * right.get(output, Fraction(0))) for output, p in left.items())
        for one, left in laws.items()
        for other, right in laws.items()
        if sum(x != y for x, y in zip(one, other, strict=True)) == 1
    )


@pytest.mark.parametrize("delta", ["1/4", "37/100", "3/8", "2/5", "1/2"])
def test_a_claim_over_events_is_about_lists_that_are_given_in_advance(delta):
    verdict = check(one_way_or_the_other, "ln(3/2)", delta, size=SIZE)
    assert verdict.status == ("proved" if Fraction(delta) >= delta_by_running(Fraction(3, 2)) else "refuted")
    outcome = recheck(verdict.certificate)
    assert isinstance(outcome, Accepted)
    assert outcome.details["source"]["established"]


def test_the_tight_epsilon_and_the_profile_say_the_same():
    verdict = tight_epsilon(one_way_or_the_other, "3/8", size=SIZE)
    assert verdict.lower.compare(epsilon("ln(3/2)")) <= 0
    profile = privacy_profile(mechanism_question(one_way_or_the_other, size=SIZE))
    assert fraction(profile.delta("ln(3/2)")) == delta_by_running(Fraction(3, 2))


def test_without_delta_outputs_may_be_shown_step_by_step():
    question = mechanism_question(one_way_or_the_other, size=SIZE)
    assert question.model.finish is None
    assert check(question, "ln(4)", "1/2", pointwise=True).question.model.finish is None
