"""Secrets under priors: no violation inside what is proved, and differential privacy as the case of independent records."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.amounts import examples

from privproof import bernoulli, check, choice, mechanism, prior, pufferfish, records, tight_epsilon
from privproof.compiling.pufferfish import secrets_table
from privproof.exact import fraction

FEW = settings(max_examples=examples(25), deadline=None)


@mechanism
def tabled(data: records(0, 1, size=2), rows={(0, 0): {0: 1}}):  # noqa: B006
    return choice(rows[(data[0], data[1])])


@prior(p="0 <= p <= 1", q="0 <= q <= 1")
def independent(p, q):
    return int(bernoulli(p)), int(bernoulli(q))


@prior(p="0 <= p <= 1", q="0 <= q <= 1")
def correlated(p, q):
    first = bernoulli(p)
    second = bernoulli(q) if first else bernoulli(p * q)
    return int(first), int(second)


def secret(record, value):
    return lambda data: data[record] == value


SECRETS = {f"record {r} is {v}": secret(r, v) for r in (0, 1) for v in (0, 1)}
PAIRS = [("record 0 is 0", "record 0 is 1"), ("record 1 is 0", "record 1 is 1")]


@st.composite
def rows(draw, smallest=1):
    """A random mechanism on two bits with three outputs."""
    result = {}
    for data in product((0, 1), repeat=2):
        weights = draw(st.lists(st.integers(smallest, 6), min_size=3, max_size=3))
        if sum(weights) == 0:
            weights[0] = 1
        result[data] = {output: Fraction(w, sum(weights)) for output, w in enumerate(weights)}
    return result


def asked(chosen, listed):
    return pufferfish(tabled.having(rows=listed), prior=chosen, secrets=SECRETS, pairs=PAIRS)


@FEW
@given(rows())
def test_with_independent_records_it_is_differential_privacy(listed):
    """Kifer and Machanavajjhala 2014, Theorem 6.1."""
    under_priors = tight_epsilon(asked(independent, listed))
    differential = tight_epsilon(tabled.having(rows=listed))
    assert under_priors.tight is not None
    assert under_priors.tight.compare(differential.tight) == 0


GRID = [Fraction(k, 8) for k in range(9)]


def ratios(question):
    """All ratios on a grid of priors, from the definition."""
    found = secrets_table(question).table
    for p, q in product(GRID, repeat=2):
        point = {"p": p, "q": q}
        for s, t in [*found.pairs, *((t, s) for s, t in found.pairs)]:
            chance = [fraction(found.probability(x).at(point)) for x in (s, t)]
            if all(chance):
                for output in found.outputs:
                    joint = [fraction(found.probability(x, output).at(point)) for x in (s, t)]
                    yield joint[0] / chance[0], joint[1] / chance[1]


@FEW
@given(rows(smallest=0))
def test_no_prior_of_a_grid_breaks_what_is_proved(listed):
    question = asked(correlated, listed)
    verdict = tight_epsilon(question)
    for left, right in ratios(question):
        assert verdict.upper.infinite or verdict.upper.allows(left, right)
        if verdict.status == "unknown":
            continue
    if verdict.status == "proved" and verdict.lower.compare(verdict.upper) < 0:
        assert not verdict.lower.infinite


@FEW
@given(rows(), st.sampled_from(["ln(3/2)", "ln(2)", "ln(3)", "1/2", "1"]))
def test_a_refutation_is_exact_and_a_proof_has_no_violation_on_a_grid(listed, budget):
    question = asked(correlated, listed)
    verdict = check(question, budget)
    epsilon = verdict.question.budget.epsilon
    broken = [(left, right) for left, right in ratios(question) if not epsilon.allows(left, right)]
    if verdict.status == "proved":
        assert not broken
    elif verdict.status == "refuted":
        witness = verdict.witness
        assert not epsilon.allows(witness.left_probability, witness.right_probability)
        assert witness.posterior_odds == witness.prior_odds * witness.ratio
    else:
        pytest.fail(f"undecided: {verdict.reason}")
