"""The algorithms of the FAIER paper, written as the paper writes them, in the mechanism language."""

from __future__ import annotations

from fractions import Fraction

import pytest
from tests.certificates import recheck

from privproof import Horizon, check, output_distribution, tight_epsilon
from privproof.library.mechanisms import discrete_above_threshold, improved_noisy_max, naive_noisy_max
from privproof_checker import Accepted

AGREES = "running the function itself on all its random choices gives the same two probabilities"


@pytest.mark.parametrize(("size", "ratio"), [(2, 4), (3, 8), (4, 16)])
def test_algorithm_2_naive_noisy_max(size, ratio):
    verdict = tight_epsilon(naive_noisy_max, size=size)
    assert verdict.tight.bound == ratio
    assert AGREES in verdict.notes
    assert isinstance(recheck(verdict.certificate), Accepted)


def test_algorithm_2_at_its_claim():
    verdict = check(naive_noisy_max, size=3)
    assert verdict.status == "refuted"
    left, right = verdict.arguments
    assert all(abs(x - y) <= 1 for x, y in zip(left["v"], right["v"], strict=True))
    output = int(verdict.witness.output[0])
    assert output_distribution(naive_noisy_max, **left)[output] == verdict.witness.left_probability
    assert output_distribution(naive_noisy_max, **right)[output] == verdict.witness.right_probability


@pytest.mark.parametrize(("size", "ratio"), [(2, "12/5"), (3, "24/7"), (4, "432/113")])
def test_algorithm_3_improved_noisy_max(size, ratio):
    verdict = tight_epsilon(improved_noisy_max, size=size)
    assert str(verdict.tight) == f"ln({ratio})"
    left, right = verdict.arguments
    assert (left["v"], sorted(right["v"])) == ([1] * size, [0] + [2] * (size - 1))  # which answer is 0 is a tie


@pytest.mark.slow
def test_algorithm_3_for_ten_queries():
    """The suite asks for smaller sizes above, and for ten queries of the same model in test_faier.py."""
    verdict = tight_epsilon(improved_noisy_max, size=10)
    assert str(verdict.tight) == "ln(20155392/5039105)"
    assert verdict.tight.compare_bound(4) < 0


def test_algorithm_4_at_its_claim_needs_five_queries():
    assert check(discrete_above_threshold, size=4).status == "proved"
    verdict = check(discrete_above_threshold, size=5)
    assert verdict.status == "refuted"
    assert verdict.witness.ratio == Fraction(32)
    assert verdict.arguments == ({"t": 0, "answers": [1] * 5}, {"t": 0, "answers": [2, 2, 2, 2, 0]})
    assert len(check(discrete_above_threshold).witness.output) == 5


@pytest.mark.parametrize("length", [1, 2, 3, 4])
def test_algorithm_4_doubles_with_every_query(length):
    assert tight_epsilon(discrete_above_threshold, horizon=Horizon.exactly(length)).tight.bound == 2**length


def test_algorithm_4_has_no_epsilon_on_unbounded_streams():
    verdict = tight_epsilon(discrete_above_threshold)
    assert verdict.status == "refuted"
    assert verdict.lower.infinite
    assert verdict.growth.factor == 2
    assert [str(letter) for letter in verdict.growth.repeated] == ["1|2:below"]
    assert isinstance(recheck(verdict.certificate), Accepted)
