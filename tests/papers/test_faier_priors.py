"""The FAIER paper's Pufferfish examples: Table 1, and the rows of Table 2 about secrets under a prior."""

from __future__ import annotations

from fractions import Fraction

import pytest
from tests.certificates import recheck

from privproof import check, tight_epsilon
from privproof.compiling.pufferfish import secrets_table
from privproof.exact.polynomials import Polynomial
from privproof.library import secret_examples as secrets
from privproof_checker import Accepted


@pytest.mark.parametrize(
    ("name", "status", "tight"),
    [
        ("contagious_count", "refuted", "ln(4)"),
        ("independent_count", "proved", "ln(2)"),
        ("independent_count_as_printed", "proved", "ln(2)"),
        ("independent_noisy_max", "proved", "ln(40/21)"),
        ("independent_noisy_max_as_printed", "proved", "ln(40/21)"),
        ("contagious_noisy_max", "refuted", "ln(24/7)"),
    ],
)
def test_examples(name, status, tight):
    question = getattr(secrets, name)
    verdict = check(question, "ln(2)")
    assert verdict.status == status
    assert isinstance(recheck(verdict.certificate), Accepted)
    smallest = tight_epsilon(question)
    assert str(smallest.tight) == tight
    assert isinstance(recheck(smallest.certificate), Accepted)


def test_table_1():
    found = secrets_table(secrets.independent_count_as_printed).table
    without, present = "no record of John", "somebody is ill"

    def polynomial(text):
        return Polynomial.of(text, ("p",))

    rows = {"0": "(p^2 - 4*p + 4)/6", "1": "(-2*p^2 + 2*p + 1)/6", "2": "(p^2 + 2*p + 1)/6"}
    given = {"0": ("4 - 3*p", "12 - 6*p"), "1": ("4 - 3*p", "12 - 6*p"), "2": ("2", "6 - 3*p")}
    for output in ("0", "1", "2"):
        assert found.probability(without, output) == polynomial(rows[output])
        above, below = map(polynomial, given[output])
        assert found.probability(present, output) * below == found.probability(present) * above


def test_example_6_3_at_one_half():
    witness = check(secrets.contagious_noisy_max, "ln(2)").witness
    assert set(witness.values.values()) == {Fraction(1, 2)}
    assert (witness.output, witness.ratio) == ("1", Fraction(287, 107))
    assert (witness.prior_odds, witness.posterior_odds) == (1, Fraction(287, 107))
