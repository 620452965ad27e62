"""Coins that are tossed for every record: amplification by subsampling, answers of records at random; what looks like it and is not."""

from __future__ import annotations

import copy
from fractions import Fraction

import numpy as np
import pytest
from tests.amounts import patience, selected
from tests.certificates import nested, recheck
from tests.coin_programs import coin_program, worst_loss
from tests.programs import load

from privproof import (
    bernoulli,
    check,
    geometric,
    integer,
    laplace,
    mechanism,
    one_of,
    public,
    randomized_response,
    real,
    real_queries,
    records,
    rows,
    tight_epsilon,
    truncated_geometric,
)
from privproof.compiling.coins import record_coins_of
from privproof.compiling.posing import with_neighbours
from privproof.errors import PrivproofError
from privproof.exact import epsilon, fraction, rational
from privproof_checker import Accepted

ONE, MORE = "one", "add-remove"


@mechanism
def sampled_count(data: records(0, 1)):
    return geometric(sum([r for r in data if bernoulli("1/4")]), alpha="1/2")


@mechanism
def sampled_by_numpy(data: records(0, 1)):
    total = 0
    for r in data:
        if np.random.random() < 0.25:
            total += r
    return total + np.random.laplace(0, 1)


@mechanism
def sampled_histogram(data: records("a", "b")):
    sample = [r for r in data if bernoulli("1/2")]
    return [geometric(sample.count(cell), alpha="1/2") for cell in ("a", "b")]


@mechanism
def sampled_cells(data: records("a", "b", "c", "d", "e", "f", "g", "h")):
    sample = [r for r in data if bernoulli("1/4")]
    return [geometric(sample.count(cell), alpha="1/3") for cell in ("a", "b", "c", "d", "e", "f", "g", "h")]


@mechanism
def answers_added_up(data: records(0, 1)):
    return geometric(sum(randomized_response(r, truth="3/4") for r in data), alpha="1/2")


@mechanism
def sampled_rows(data: rows(age=integer(0, 120), income=real())):
    total, n = 0, 0
    for r in data:
        if bernoulli("1/2"):
            total += min(max(r.income, 0), 10)
            if r.age >= 65:
                n += 1
    return laplace(total, scale=20), laplace(n, scale=2)


EXACT = [
    (sampled_count, ONE, "ln(5/4)"),
    (sampled_count, MORE, "ln(5/4)"),
    (sampled_histogram, ONE, "ln(2)"),
    (sampled_histogram, MORE, "ln(3/2)"),
    (sampled_cells, ONE, "ln(9/5)"),
    (sampled_cells, MORE, "ln(3/2)"),
    (answers_added_up, ONE, "ln(7/5)"),
    (answers_added_up, MORE, "ln(7/4)"),
]


@pytest.mark.parametrize(("subject", "relation", "known"), EXACT, ids=lambda each: getattr(each, "name", each))
def test_mixtures_are_exact_for_every_length(subject, relation, known):
    verdict = tight_epsilon(subject, neighbours=relation)
    assert (verdict.status, verdict.lower, verdict.upper) == ("proved", epsilon(known), epsilon(known))
    assert "lists of every length" in str(verdict)
    assert isinstance(recheck(nested(verdict.certificate)), Accepted)


@pytest.mark.parametrize(
    ("subject", "known", "less"), [(sampled_by_numpy, 0.3573740195, "7/20"), (sampled_rows, 0.6201145069, "1/4")]
)
def test_with_laplace_noise_the_bounds_meet_the_formula(subject, known, less):
    """One record more, taken with probability p: ln(1 + p (e^a - 1))."""
    verdict = tight_epsilon(subject, neighbours=MORE)
    assert verdict.status == "proved"
    assert float(verdict.upper.ball().mid()) == pytest.approx(known, abs=1e-9)
    assert check(subject, "2/3", neighbours=MORE).status == "proved"
    assert check(subject, less, neighbours=MORE).status == "refuted"


def test_less_than_a_mixture_loses_is_refuted():
    assert check(sampled_count, "ln(5/4)", neighbours=MORE).status == "proved"
    assert check(sampled_count, "ln(6/5)", neighbours=MORE).status == "refuted"
    assert check(sampled_histogram, "ln(19/10)").status == "refuted"


# ------------------------------------------------------------------------------------------------ what looks like sampling


@mechanism
def one_coin_for_all(data: records(0, 1)):
    taken = bernoulli("1/4")
    total = 0
    for r in data:
        if taken:
            total += r
    return geometric(total, alpha="1/2")


@mechanism
def sampled_again_and_again(data: records(0, 1), k: public(integer(1, 3))):
    for _ in range(k):
        total = 0
        for r in data:
            if bernoulli("1/4"):
                total += r
        yield geometric(total, alpha="1/2")


@mechanism
def size_of_the_sample(data: records(0, 1)):
    sample = [r for r in data if bernoulli("1/4")]
    return geometric(sum(sample), alpha="1/2"), len(sample)


@mechanism
def by_the_record_before(data: records(0, 1)):
    total, last = 0, 0
    for r in data:
        if bernoulli("1/4" if last == 0 else "1"):
            total += 1
        last = r
    return geometric(total, alpha="1/2")


@mechanism
def the_coin_of_the_record_before(data: records(0, 1)):
    total, taken = 0, True
    for r in data:
        if taken:
            total += r
        taken = bernoulli("1/4")
    return geometric(total, alpha="1/2")


@mechanism
def sampled_and_not(data: records(0, 1)):
    sample = [r for r in data if bernoulli("1/4")]
    return geometric(sum(sample), alpha="1/2"), geometric(sum(data), alpha="1/2")


@mechanism
def first_of_the_sample(data: records(0, 1)):
    sample = [r for r in data if bernoulli("1/4")]
    return sample[0] if len(sample) > 0 else 0


@mechanism
def the_sample_twice(data: records(0, 1)):
    sample = [r for r in data if bernoulli("1/4")]
    return geometric(sum(sample), alpha="1/2"), geometric(sum(sample), alpha="1/2")


@mechanism
def until_two_are_taken(data: records(0, 1)):
    taken, total = 0, 0
    for r in data:
        if taken < 2 and bernoulli("1/2"):
            taken += 1
            total += 4 * r
    return geometric(total, alpha="1/2")


@pytest.mark.parametrize(
    "subject",
    [
        one_coin_for_all,
        sampled_again_and_again,
        size_of_the_sample,
        by_the_record_before,
        the_coin_of_the_record_before,
        sampled_and_not,
        first_of_the_sample,
        the_sample_twice,
        until_two_are_taken,
    ],
    ids=lambda each: each.name,
)
def test_what_only_looks_like_sampling_is_not_proved(subject):
    """The loss of each is above ln(5/4), that of a sampled count, for some neighbours."""
    try:
        verdict = check(subject, "ln(5/4)", neighbours=MORE, time_limit=patience(4))
    except PrivproofError:
        return
    assert verdict.status in ("refuted", "unknown")


def test_two_counts_of_one_sample_are_two_counts():
    assert tight_epsilon(the_sample_twice, neighbours=MORE).tight == epsilon("ln(7/4)")  # 1 + 1/4 (4 - 1)


# ------------------------------------------------------------------------------------------------------- against brute force


@pytest.mark.parametrize("seed", selected(range(400), 6))
def test_no_data_lose_more_than_is_proved(tmp_path, seed):
    text, law, alphas = coin_program(seed)
    relation = (ONE, MORE)[seed % 2]
    verdict = tight_epsilon(load(tmp_path, text), neighbours=relation)
    assert verdict.status == "proved"
    worst = rational(worst_loss(law, relation, alphas, 3))
    assert verdict.upper.compare_bound(worst) >= 0
    assert verdict.lower.compare_bound(worst) <= 0 or verdict.lower == verdict.upper


# ------------------------------------------------------------------------------------------------------------- certificates


@pytest.fixture(scope="module")
def certificate():
    return dict(nested(check(sampled_histogram, "ln(2)", neighbours=ONE).certificate))


def _fewer_shares(question, evidence):
    evidence["plans"][0]["shares"].pop()


def _fewer_plans(question, evidence):
    evidence["plans"].pop()


def _cheaper(question, evidence):
    evidence["pairings"][-1]["epsilon"] = "ln(3/2)"


def _rarer(question, evidence):
    for coin in question["coins"]["data"].values():
        coin["laws"] = [[[True, "1/8"], [False, "7/8"]]]


def _not_a_law(question, evidence):
    for coin in question["coins"]["data"].values():
        coin["laws"] = [[[True, "1/4"], [False, "1/4"]]]


def _elsewhere(question, evidence):
    evidence["pairings"][-1]["between"] = evidence["pairings"][0]["between"]


def _smaller_claim(question, evidence):
    question["epsilon"] = "ln(19/10)"


def _one_class(question, evidence):
    evidence["classes"] = [[row for rows in evidence["classes"] for row in rows]] * len(evidence["classes"])


def _no_coins(question, evidence):
    del question["coins"]


CHANGES = [_fewer_shares, _fewer_plans, _cheaper, _rarer, _not_a_law, _elsewhere, _smaller_claim, _one_class, _no_coins]


@pytest.mark.parametrize("change", CHANGES, ids=lambda each: each.__name__)
def test_a_changed_certificate_is_refused(certificate, change):
    changed = copy.deepcopy(certificate)
    change(changed["question"], changed["evidence"])
    changed["question"]["source"] |= {"claims": "taken", "reason": "for the test"}
    assert not isinstance(recheck(changed), Accepted)


def test_a_coin_that_depends_on_more_than_its_record_is_none():
    for subject in (by_the_record_before, one_coin_for_all):
        found = record_coins_of(with_neighbours(subject, MORE))
        assert found is None or not found.coins


def test_coins_whose_laws_differ_by_record_are_listed_by_record():
    found = record_coins_of(with_neighbours(answers_added_up, MORE))
    assert [{value: fraction(p) for value, p in law} for law in found.coins[0].laws] == [
        {0: Fraction(3, 4), 1: Fraction(1, 4)},
        {0: Fraction(1, 4), 1: Fraction(3, 4)},
    ]


def test_real_numbers_are_sampled_as_well():
    @mechanism
    def clipped(data: real_queries()):
        return laplace(sum([min(max(x, 0), 5) for x in data if bernoulli("1/2")]), scale=5)

    assert check(clipped, "621/1000", neighbours=MORE).status == "proved"  # ln(1 + (e - 1)/2) = 0.62011...
    assert check(clipped, "31/50", neighbours=MORE).status == "refuted"


def test_fields_that_are_texts_are_sampled_as_well():
    @mechanism
    def sampled(data: rows(city=one_of("A", "B"), age=integer(0, 120))):
        taken = [r for r in data if bernoulli("1/4")]
        return [geometric(sum(1 for r in taken if r.city == city), alpha="1/2") for city in ("A", "B")]

    assert tight_epsilon(sampled, neighbours=MORE).tight == epsilon("ln(5/4)")


def test_sums_at_a_large_size_and_beside_public_numbers_are_exact():
    """Between two of a thousand records there are a thousand sums, and the alignment does not list them."""

    @mechanism
    def counted(data: records(0, 1), more: public(integer(0, 3))):
        return geometric(sum(data) + more, alpha="1/2")

    for relation in (ONE, MORE):
        assert tight_epsilon(counted, size=1000, neighbours=relation).tight == epsilon("ln(2)")


def test_truncated_noise_on_sums_costs_what_it_costs_without_ends():
    @mechanism
    def counted(data: records(0, 1)):
        return truncated_geometric(sum(data), alpha="1/2", low=0, high=50)

    verdict = tight_epsilon(counted, neighbours=MORE)
    assert (verdict.tight, verdict.engine) == (epsilon("ln(2)"), "runs")


@mechanism
def counted_by_numpy(data: records(0, 1, 2)):
    return sum(data) + np.random.laplace(0, 2)


def test_records_that_are_whole_numbers_are_declared_by_the_text_as_such():
    """Noise of libraries has records 0, 1 and 2 as numbers that differ by at most 2: the same neighbours, and no others."""
    assert check(sampled_by_numpy, "9/25", neighbours=ONE).engine == "laplace"
    certificate = dict(nested(check(counted_by_numpy, 1).certificate))
    assert certificate["question"]["source"]["claims"] == "established"
    for member, other in (("within", "1"), ("high", "1"), ("low", "1")):
        changed = copy.deepcopy(certificate)
        changed["question"]["inputs"]["data"][member] = other
        changed["question"]["source"]["program"]["inputs"]["data"][member] = other
        assert "declares" in str(recheck(changed))
