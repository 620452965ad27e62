"""The mechanisms that CheckDP, ShadowDP, StatDP and DP-Sniper were tried on, right and wrong: verdicts, and numbers that are known."""

from __future__ import annotations

from fractions import Fraction
from functools import cache

import pytest
from tests.certificates import nested, recheck
from tests.laplace_programs import frequency

from privproof import Mechanism, check, sample, tight_epsilon
from privproof.engines.laplace.events import event_probability
from privproof.engines.laplace.refuting import Loss
from privproof.exact import epsilon
from privproof.exact.exponentials import ExponentialSum
from privproof.language.patterns import Between
from privproof.library import EXAMPLES
from privproof.library.laplace import laplace_noisy_max as noisy_max
from privproof.library.laplace import sparse_vector, sums
from privproof_checker.outcomes import Accepted

CORPUS = {
    name: found
    for module in (noisy_max, sparse_vector, sums)
    for name, found in vars(module).items()
    if isinstance(found, Mechanism)
}
KNOWN = {
    example.question().mechanism.function: example.known.partition(";")[0].split()[0]
    for example in EXAMPLES
    if example.name.startswith("laplace-")
}
"""What the library says about each of them."""
checked = cache(lambda name: check(CORPUS[name]))
WRONG = {name for name, found in CORPUS.items() if (found.function.__doc__ or "").startswith("Wrong")}


def loss(mechanism, left, right, event):
    """The loss of an event, exactly."""
    return Loss(left, right, event, *(event_probability(mechanism, event, side) for side in (left, right)))


def value(found):
    """A loss as a float."""
    return float(found.lower().ball().mid())


def lists(left, right, **public):
    return {"q": list(left), **public}, {"q": list(right), **public}


# ------------------------------------------------------------------------------------------------------------- verdicts


def test_the_corpus_is_complete():
    assert len(CORPUS) == 35
    assert len(WRONG) == 15
    assert {found.function for found in CORPUS.values()} == set(KNOWN)


@pytest.mark.parametrize("name", sorted(CORPUS))
def test_the_right_ones_are_proved_and_the_wrong_ones_refuted(name):
    verdict = checked(name)
    assert verdict.status == ("refuted" if name in WRONG else "proved") == KNOWN[CORPUS[name].function]
    assert isinstance(recheck(nested(verdict.certificate)), Accepted)


@pytest.mark.parametrize("name", sorted(WRONG))
def test_both_probabilities_of_a_refutation_are_exact_and_the_loss_is_above_the_claim(name):
    verdict = checked(name)
    witness = verdict.witness
    again = loss(CORPUS[name], witness.left, witness.right, witness.event)
    assert (again.left_probability, again.right_probability) == (witness.left_probability, witness.right_probability)
    assert again.exceeds(verdict.question.budget.epsilon)


@pytest.mark.parametrize("name", sorted(WRONG))
def test_running_the_function_many_times_agrees_with_the_probabilities(name):
    witness = checked(name).witness
    runs = 100_000
    for side, exact in ((witness.left, witness.left_probability), (witness.right, witness.right_probability)):
        expected = float(exact.ball(1).mid())
        given = {**side, "epsilon": Fraction(1)}
        found = frequency(sample(CORPUS[name], given, runs, seed=3), witness.event)
        assert abs(found - expected) <= 5 * (expected * (1 - expected) / runs) ** 0.5 + 1 / runs


# ------------------------------------------------------------------------------------------------------------ noisy max


def test_noisy_max_on_the_pair_of_statdp():
    assert value(loss(noisy_max.noisy_max, *lists([1] * 5, [0, 2, 2, 2, 2]), 0)) == pytest.approx(0.980397, abs=5e-7)


@pytest.mark.slow
def test_noisy_max_of_ten_answers():
    assert value(loss(noisy_max.noisy_max, *lists([1] * 10, [0] + [2] * 9), 0)) == pytest.approx(0.999756, abs=5e-7)


@pytest.mark.parametrize(("gap", "known"), [(0, 0.5713), (2, 0.8533), (5, 0.9709), (10, 0.9977), (20, 0.99998)])
def test_noisy_max_approaches_its_claim_as_the_others_move_away(gap, known):
    found = loss(noisy_max.noisy_max, *lists([1, gap - 1, gap - 1], [0, gap, gap]), 0)
    assert value(found) == pytest.approx(known, abs=5e-5)
    assert not found.exceeds(epsilon(1))


def test_noisy_max_with_exponential_noise_has_a_loss_of_exactly_one():
    found = loss(noisy_max.noisy_max_exponential, *lists([1] * 5, [0, 2, 2, 2, 2]), 0)
    assert found.left_probability == ExponentialSum.constant(Fraction(1, 5))
    assert found.lower() == epsilon(1)


@pytest.mark.parametrize("size", [1, 2, 3, 5])
def test_the_largest_value_itself_costs_half_of_epsilon_for_every_answer(size):
    found = loss(noisy_max.noisy_max_value, *lists([0] * size, [1] * size), Between(None, Fraction(0)))
    assert found.lower() == epsilon(Fraction(size, 2))


def test_the_largest_value_is_private_for_two_answers_and_not_for_three():
    assert check(noisy_max.noisy_max_value, 1, size=2).status == "proved"
    assert check(noisy_max.noisy_max_value, 1, size=3).status == "refuted"


# -------------------------------------------------------------------------------------------------------- sparse vector

AWAY = {1: 0.4649, 4: 0.8560, 9: 0.9917, 19: 0.99999}


def first_above(mechanism, below, left=0, right=1, last=(-40, -41)):
    """The loss of: below so many times, then above."""
    data = lists([left] * below + [last[0]], [right] * below + [last[1]], threshold=0, N=1)
    return loss(mechanism, *data, [False] * below + [True])


@pytest.mark.parametrize(("below", "known"), AWAY.items())
def test_sparse_vector_approaches_its_claim_as_the_list_grows(below, known):
    found = first_above(sparse_vector.sparse_vector, below)
    assert value(found) == pytest.approx(known, abs=5e-5)
    assert not found.exceeds(epsilon(1))


@pytest.mark.parametrize(("threshold", "known"), [(Fraction(1, 2), 0.624638), (1, 0.614616)])
def test_sparse_vector_on_the_pair_of_statdp(threshold, known):
    data = lists([1] * 5, [2, 2, 0, 0, 0], threshold=threshold, N=1)
    assert value(loss(sparse_vector.sparse_vector, *data, [False, False, True])) == pytest.approx(known, abs=5e-7)


def test_monotone_noise_is_enough_for_monotone_neighbours_only():
    alike = first_above(sparse_vector.sparse_vector_monotone, 19, last=(-40, -40))
    assert value(alike) == pytest.approx(0.999999, abs=5e-7)
    against = first_above(sparse_vector.sparse_vector_monotone_noise, 19)
    assert value(against) == pytest.approx(1.499999, abs=5e-7)


@pytest.mark.parametrize(("half", "known"), [(1, 0.82040), (2, 1.70414), (3, 2.61661), (5, 4.48618)])
def test_without_a_cut_off_the_loss_grows_with_the_list(half, known):
    data = lists([0] * 2 * half, [1] * half + [-1] * half, threshold=0)
    found = loss(sparse_vector.sparse_vector_no_cutoff, *data, [False] * half + [True] * half)
    assert value(found) == pytest.approx(known, abs=5e-6)


@pytest.mark.parametrize(("below", "known"), [(1, 1.40035), (4, 1.73441), (9, 1.74980)])
def test_wrong_scales_cost_seven_quarters_for_one_answer_above(below, known):
    found = first_above(sparse_vector.sparse_vector_wrong_scales, below)
    assert value(found) == pytest.approx(known, abs=5e-6)
    assert not found.exceeds(epsilon(Fraction(7, 4)))


def test_wrong_scales_on_the_pair_of_statdp():
    data = lists([1] * 5, [2, 2, 0, 0, 0], threshold=1, N=1)
    found = loss(sparse_vector.sparse_vector_wrong_scales, *data, [False, False, True])
    assert value(found) == pytest.approx(1.561338, abs=5e-7)


@pytest.mark.parametrize(("size", "known"), [(5, Fraction(5, 4)), (10, Fraction(5, 2))])
def test_releasing_the_answer_that_was_compared_costs_a_quarter_for_every_answer(size, known):
    event = [0] * (size - 1) + [Between(None, Fraction(-1))]
    found = loss(sparse_vector.sparse_vector_value, *lists([0] * size, [1] * size, threshold=0, N=1), event)
    assert found.lower() == epsilon(known)


def test_answers_without_noise_make_an_output_impossible():
    data = lists([0, 1, 1, 1, 1], [1] * 5, threshold=1)
    found = loss(sparse_vector.sparse_vector_no_query_noise, *data, [False, True, True, True, True])
    assert found.infinite
    assert float(found.left_probability.ball(1).mid()) == pytest.approx(0.196735, abs=5e-7)
    assert checked("sparse_vector_no_query_noise").lower.infinite


# ----------------------------------------------------------------------------------------------------------------- sums


def test_half_the_noise_on_a_sum_costs_exactly_two():
    data = lists([0] * 5, [0, 0, 0, 0, 1])
    assert loss(sums.partial_sum_little_noise, *data, Between(None, Fraction(0))).lower() == epsilon(2)
    assert checked("partial_sum_little_noise").lower == epsilon(2)


@pytest.mark.parametrize("name", ["smart_sum_no_block_noise", "reused_noise"])
def test_a_number_without_noise_of_its_own_shows_everything(name):
    assert checked(name).lower.infinite


# -------------------------------------------------------------------------------------------------------- tight epsilon

FORMULAS = {
    "noisy_max_value": "size/2",
    "prefix_sum_all_change": "size",
    "noisy_histogram_all_change": "size",
}
SLOW_FORMULAS = {
    "sparse_vector_wrong_scales": "1/4 + 3/2*N",
    "sparse_vector_not_scaled": "1/2 + N/2",
    "sparse_vector_no_cutoff": "size/2",
}
NUMBERS = {"partial_sum": 1, "laplace_mechanism": 1, "noisy_histogram": 1, "prefix_sum": 1}
SLOW_NUMBERS = {
    "noisy_max": 1,
    "noisy_min": 1,
    "sparse_vector": 1,
    "above_threshold": 1,
    "sparse_vector_monotone_noise": Fraction(3, 2),
}


@pytest.mark.parametrize(
    ("name", "formula"),
    [*FORMULAS.items(), *(pytest.param(*item, marks=pytest.mark.slow) for item in SLOW_FORMULAS.items())],
)
def test_the_tight_epsilon_of_a_wrong_mechanism_is_a_formula(name, formula):
    verdict = tight_epsilon(CORPUS[name])
    assert verdict.status == "proved"
    assert str(verdict.formula) == formula
    assert isinstance(recheck(nested(verdict.certificate)), Accepted)


@pytest.mark.parametrize(
    ("name", "known"),
    [*NUMBERS.items(), *(pytest.param(*item, marks=pytest.mark.slow) for item in SLOW_NUMBERS.items())],
)
def test_the_tight_epsilon_is_approached_by_losses(name, known):
    verdict = tight_epsilon(CORPUS[name])
    assert verdict.status == "proved"
    assert verdict.upper == epsilon(known)
    assert float(verdict.lower.ball().mid()) == pytest.approx(float(known), abs=1e-6)
    assert isinstance(recheck(nested(verdict.certificate)), Accepted)
