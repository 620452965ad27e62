"""Alignments on the integers: geometric noise without bounds is proved for lists of every length, by shifts that are whole numbers."""

from __future__ import annotations

import copy
import warnings

import pytest
from tests.amounts import patience
from tests.certificates import nested, recheck

from privproof import (
    check,
    geometric,
    integer,
    laplace,
    mechanism,
    output_probability,
    public,
    queries,
    real,
    records,
    tight_epsilon,
    truncated_geometric,
)
from privproof.errors import BudgetError, CertificateRefused
from privproof.exact import epsilon
from privproof.exact.affine import read_affine
from privproof_checker import Accepted


@mechanism
def noisy_max(q: queries()):
    best, winner = 0, 0
    for i, value in enumerate(q):
        noisy = geometric(value, alpha="1/2")
        if i == 0 or noisy > best:
            best, winner = noisy, i
    return winner


@mechanism
def noisy_max_of_the_last(q: queries()):
    best, winner = 0, 0
    for i, value in enumerate(q):
        noisy = geometric(value, alpha="1/2")
        if i == 0 or noisy >= best:
            best, winner = noisy, i
    return winner


@mechanism
def above(q: queries(), t: public(integer())):
    threshold = geometric(t, alpha="1/2")
    for i, value in enumerate(q):
        if geometric(value, alpha="1/2") >= threshold:
            return i
    return -1


@mechanism
def above_by_epsilon(q: queries(), t: public(integer())):
    threshold = geometric(t, epsilon="1/2")
    for i, value in enumerate(q):
        if geometric(value, epsilon="1/4") >= threshold:
            return i
    return -1


@mechanism
def above_with_both(q: queries(), t: public(integer())):
    threshold = laplace(t, scale=2)
    for i, value in enumerate(q):
        if geometric(value, alpha="1/2") >= threshold:
            return i
    return -1


@mechanism(neighbours="one")
def counted(q: queries()):
    return geometric(sum(1 for x in q if x > 3), alpha="1/2")


@mechanism
def single(x: integer()):
    return geometric(x, alpha="1/2")


@mechanism(neighbours="one")
def two_bases(x: integer(), y: integer()):
    return geometric(x, alpha="1/2"), geometric(y, alpha="1/3")


@mechanism
def powers_of_one_base(x: integer(), y: integer()):
    return geometric(x, alpha="1/2"), geometric(y, alpha="1/4")


@mechanism
def equal(x: integer(), y: integer()):
    return geometric(x, alpha="1/2") == geometric(y, alpha="1/2")


@mechanism
def added(x: integer(), y: integer()):
    return geometric(x, alpha="1/2") + geometric(y, alpha="1/2")


@mechanism
def doubled(x: integer()):
    return 2 * geometric(0, alpha="1/2") + x


@mechanism
def moved_by_a_real(x: real()):
    return x + geometric(0, alpha="1/2")


@mechanism
def noisy_max_with_priorities(q: queries()):
    """Ties go to the largest of numbers that are drawn for that alone: one of them at random."""
    best, winner, first = 0, 0, 0
    for i, value in enumerate(q):
        noisy = geometric(value, alpha="1/2")
        priority = laplace(0, scale=1)
        if i == 0 or noisy > best or (noisy == best and priority > first):
            best, winner, first = noisy, i, priority
    return winner


PROVED = [
    (noisy_max, "2*ln(2)", None),
    (noisy_max_with_priorities, "2*ln(2)", None),
    (noisy_max_with_priorities, "ln(2)", "monotone"),
    (noisy_max_with_priorities, "ln(2)", "one"),
    (noisy_max_of_the_last, "2*ln(2)", None),
    (noisy_max, "ln(2)", "monotone"),
    (noisy_max_of_the_last, "ln(2)", "monotone"),
    (above, "3*ln(2)", None),
    (above, "2*ln(2)", "monotone"),
    (above_by_epsilon, "1", None),
    (above_with_both, "2*ln(2) + 1/2", None),
    (counted, "ln(2)", None),
    (single, "ln(2)", None),
    (two_bases, "ln(6)", None),
    (powers_of_one_base, "3*ln(2)", None),
    (equal, "2*ln(2)", None),
    (added, "2*ln(2)", None),
]


@pytest.mark.parametrize(("subject", "epsilon", "relation"), PROVED, ids=lambda part: getattr(part, "name", part))
def test_what_is_private_is_proved_for_every_length_from_the_text(subject, epsilon, relation):
    verdict = check(subject, epsilon, neighbours=relation)
    assert verdict.status == "proved"
    outcome = recheck(dict(nested(verdict.certificate)))
    assert outcome.details["source"]["established"]
    assert not outcome.details["source"]["taken"]


LESS = [
    (noisy_max_with_priorities, "1.38", None),
    (noisy_max, "1.38", None),
    (noisy_max, "0.69", "monotone"),
    (above, "2.07", None),
    (single, "0.69", None),
]


@pytest.mark.parametrize(("subject", "epsilon", "relation"), LESS, ids=lambda part: getattr(part, "name", part))
def test_a_smaller_budget_is_not_proved(subject, epsilon, relation):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", CertificateRefused)
        assert check(subject, epsilon, neighbours=relation).status != "proved"


@pytest.mark.parametrize("subject", [doubled, moved_by_a_real])
def test_a_shift_that_is_no_whole_number_proves_nothing(subject):
    assert check(subject, 100).status != "proved"


# ---------------------------------------------------------------------------------------------------------- certificates


@pytest.fixture(scope="module")
def certificate():
    return dict(nested(check(noisy_max, "2*ln(2)").certificate))


def rejected(certificate, change):
    changed = copy.deepcopy(certificate)
    change(changed["question"], changed["evidence"])
    del changed["question"]["source"]  # the checker shall see it in the program and its evidence alone
    outcome = recheck(changed)
    assert not isinstance(outcome, Accepted)
    return str(outcome)


def sample_of(question):
    return next(step for step in question["code"] if step[0] == "sample")


def shift_of(evidence):
    return next(iter(evidence["paths"][0]["cases"][0]["shifts"].values()))


def test_a_bound_above_the_claim_is_refused(certificate):
    def change(question, evidence):
        evidence["bounds"][0]["times"] = 3

    assert "may exceed" in rejected(certificate, change)


def test_a_claim_below_the_bound_is_refused_however_near(certificate):
    def change(question, evidence):
        question["epsilon"] = "ln(3999999999999999999999999/1000000000000000000000000)"

    assert "may exceed" in rejected(certificate, change)


@pytest.mark.parametrize("times", [1, 0])
def test_a_bound_below_the_costs_is_refused(certificate, times):
    def change(question, evidence):
        evidence["bounds"][0]["times"] = times

    rejected(certificate, change)


def test_a_bound_for_another_logarithm_is_refused(certificate):
    def change(question, evidence):
        evidence["bounds"][0]["ratio"] = "3"

    assert "alpha" in rejected(certificate, change)


def test_costs_without_a_bound_are_refused(certificate):
    def change(question, evidence):
        evidence["bounds"] = []

    assert "not bounded" in rejected(certificate, change)


def test_less_noise_costs_more(certificate):
    def change(question, evidence):
        sample_of(question)[4]["alpha"] = "1/4"

    rejected(certificate, change)


@pytest.mark.parametrize("constant", ["3/2", "5/2", "1"])
def test_other_shifts_are_refused_and_fractions_for_being_fractions(certificate, constant):
    def change(question, evidence):
        shift = shift_of(evidence)
        shift["constant"], shift["reads"], shift["distances"] = constant, [], []

    said = rejected(certificate, change)
    assert ("is no integer" in said) == ("/" in constant)


def test_a_half_of_a_change_is_refused(certificate):
    def change(question, evidence):
        shift_of(evidence)["reads"] = [[0, "1/2"]]

    assert "is no integer" in rejected(certificate, change)


def test_changes_of_reals_do_not_shift_integers(certificate):
    def change(question, evidence):
        question["inputs"]["q"]["sort"] = "real"
        shift_of(evidence)["reads"] = [[0, "-1"]]

    assert "integer" in rejected(certificate, change) or "sort" in rejected(certificate, change)


def test_geometric_noise_is_no_real_number(certificate):
    def change(question, evidence):
        question["sorts"][sample_of(question)[1]] = "real"

    assert "of sort int" in rejected(certificate, change)


@pytest.mark.parametrize("alpha", ["0", "1", "2", "-1/2"])
def test_alpha_is_between_0_and_1(certificate, alpha):
    def change(question, evidence):
        sample_of(question)[4]["alpha"] = alpha

    assert "between 0 and 1" in rejected(certificate, change)


def test_an_input_that_is_called_like_a_counter_is_refused(certificate):
    def change(question, evidence):
        public_one = {"shape": "value", "sort": "int", "public": True, "within": None, "low": "1", "high": None}
        question["inputs"]["ln(2)"] = {**public_one, "size": None}
        question["sorts"]["y"] = "real"
        question["code"].insert(0, ["sample", "y", "laplace", ["int", 0], {"factor": "1", "names": ["ln(2)"]}])

    rejected(certificate, change)


def test_another_alpha_than_that_of_the_text_is_refused(certificate):
    changed = copy.deepcopy(certificate)
    sample_of(changed["question"])[4]["alpha"] = "3/5"  # costs less, so that all else is right
    for cut in changed["evidence"]["invariants"].values():
        assert "ln(2)" in cut
    text = {k: v.replace("ln(2)", "ln(5/3)") for k, v in changed["evidence"]["invariants"].items()}
    changed["evidence"]["invariants"], changed["evidence"]["bounds"][0]["ratio"] = text, "5/3"
    outcome = recheck(changed)
    assert not isinstance(outcome, Accepted)
    assert "alpha" in str(outcome)


# ----------------------------------------------------------------------------------------------------------- refutations


@mechanism
def noisy_max_with_gap(q: queries()):
    best, second, winner = 0, 0, 0
    for i, value in enumerate(q):
        noisy = geometric(value, alpha="1/2")
        if i == 0:
            best = noisy
        elif noisy > best:
            second, best, winner = best, noisy, i
        elif i == 1 or noisy > second:
            second = noisy
    return winner, best - second


@mechanism
def truncated_noisy_max(q: queries()):
    best, winner = 0, 0
    for i, value in enumerate(q):
        noisy = truncated_geometric(value, low=0, high=2, alpha="1/2")
        if i == 0 or noisy > best:
            best, winner = noisy, i
    return winner


def test_probabilities_of_who_wins_are_rational():
    assert str(output_probability(noisy_max, 0, q=[0, 0])) == "16/27"
    assert [str(output_probability(noisy_max, k, q=[0, 1, 2])) for k in range(3)] == ["11/63", "20/63", "32/63"]


def test_the_gap_of_geometric_noise_leaks_where_there_are_ties():
    one, other = (output_probability(noisy_max_with_gap, (2, 0), q=q) for q in ([0, 0, 0, 0], [1, 1, -1, -1]))
    assert (str(one), str(other)) == ("55/1701", "97/27216")


def test_ties_of_four_values_refute_the_gap():
    verdict = check(noisy_max_with_gap, "2*ln(2)", size=4)
    assert verdict.status == "refuted"
    assert str(verdict.lower) == "ln(880/97)"
    witness = verdict.witness
    assert (witness.left, witness.right) == ({"q": [0, 0, 0, 0]}, {"q": [1, 1, -1, -1]})


REFUTED = [
    (noisy_max, "1.38", None),
    (noisy_max, "0.69", "monotone"),
    (above, "2", None),
    (single, "0.69", None),
    (counted, "0.69", None),
    (added, "1", None),
    (equal, "0.4", None),
    (doubled, "100", None),
    (moved_by_a_real, "100", None),
    (truncated_noisy_max, "2*ln(2)", None),
]


@pytest.mark.parametrize(("subject", "epsilon", "relation"), REFUTED, ids=lambda part: getattr(part, "name", part))
def test_what_is_not_private_is_refuted_from_the_text(subject, epsilon, relation):
    verdict = check(subject, epsilon, neighbours=relation)
    assert verdict.status == "refuted"
    outcome = recheck(dict(nested(verdict.certificate)))
    assert outcome.details["source"]["established"]


def test_geometric_and_continuous_noise_that_are_compared_have_no_exact_probability_and_no_refutation():
    assert check(above_with_both, "1/2", size=1).status == "unknown"


def test_a_tree_in_which_ties_are_counted_twice_is_refused():
    certificate = copy.deepcopy(dict(nested(check(noisy_max, "1.3", size=2).certificate)))
    for side in ("left", "right"):
        for leaf in certificate["evidence"][side]["leaves"]:
            for step in leaf["steps"]:
                step[1]["constant"] = str(int(step[1]["constant"].split("/")[0]) // 2)
    outcome = recheck(certificate)
    assert not isinstance(outcome, Accepted)
    assert "either way" in str(outcome)


# -------------------------------------------------------------------------------------------------------------- bounded data


@mechanism(neighbours="one")
def count_of_ones(q: queries(0, 1)):
    return geometric(sum(q), alpha="1/2")


@mechanism(neighbours="one")
def count_of_large(q: queries(0, 10)):
    return geometric(sum(x > 3 for x in q), alpha="1/2")


@mechanism
def noisy_max_of_few(q: queries(0, 2)):
    best, winner = 0, 0
    for i, value in enumerate(q):
        noisy = geometric(value, alpha="1/2")
        if i == 0 or noisy > best:
            best, winner = noisy, i
    return winner


@mechanism
def larger(x: integer(0, 999), y: integer(0, 999)):
    return geometric(x, alpha="1/2") > geometric(y, alpha="1/2")


BOUNDED = [(count_of_ones, "ln(2)"), (count_of_large, "ln(2)"), (noisy_max_of_few, "2*ln(2)"), (larger, "2*ln(2)")]


@pytest.mark.parametrize(("subject", "epsilon"), BOUNDED, ids=lambda part: getattr(part, "name", part))
def test_bounded_data_without_a_size_are_proved_for_every_length(subject, epsilon):
    verdict = check(subject, epsilon)
    assert (verdict.status, verdict.engine) == ("proved", "laplace")


def test_the_smallest_epsilon_of_a_count_is_exact_for_every_length():
    verdict = tight_epsilon(count_of_ones)
    assert (str(verdict.lower), str(verdict.upper)) == ("ln(2)", "ln(2)")


def test_the_smallest_epsilon_of_noisy_max_is_approached():
    verdict = tight_epsilon(noisy_max)
    assert str(verdict.upper) == "ln(4)"
    assert verdict.lower.compare(epsilon("1.3862")) > 0


@mechanism
def sparse_vector(q: queries(), t: public(integer())):
    threshold = geometric(t, alpha="1/2")
    count, i = 0, 0
    while i < len(q) and count < 2:
        noisy = geometric(q[i], alpha="1/2") - threshold
        if noisy >= 0:
            yield noisy
            count = count + 1
        else:
            yield -1
        i = i + 1


@pytest.mark.long  # twenty seconds; the same for every public number stays
def test_sparse_vector_with_gaps_is_proved_for_every_length():
    assert check(sparse_vector, "5*ln(2)").status == "proved"


@mechanism(epsilon="(1 + 4*N)*ln(2)")
def sparse_vector_with_gaps_of_many(q: queries(), t: public(integer()), N: public(integer(low=1))):
    threshold = geometric(t, alpha="1/2")
    count, i = 0, 0
    while i < len(q) and count < N:
        gap = geometric(q[i], alpha="1/2") - threshold
        if gap >= 0:
            yield gap
            count = count + 1
        else:
            yield -1
        i = i + 1


def test_sparse_vector_with_gaps_is_proved_for_every_public_number():
    assert check(sparse_vector_with_gaps_of_many).status == "proved"


# ------------------------------------------------------------------------------------------------------------------ cells

CELLS = ("a", "b", "c")


@mechanism
def commonest_in_a_loop(data: records("a", "b", "c")):
    best, winner = None, None
    for cell in CELLS:
        noisy = geometric(data.count(cell), alpha="1/2")
        if best is None or noisy > best:
            best, winner = noisy, cell
    return winner


@pytest.mark.parametrize("size", [None, 3])
def test_the_largest_of_geometric_counts_over_cells(size):
    assert check(commonest_in_a_loop, "2*ln(2)", neighbours="one", size=size).status == "proved"
    assert check(commonest_in_a_loop, "ln(2)", neighbours="add-remove", size=size).status == "proved"


def test_less_than_the_largest_of_geometric_counts_costs_is_not_proved():
    assert check(commonest_in_a_loop, "1.38", neighbours="one", time_limit=patience(4)).status != "proved"
    assert check(commonest_in_a_loop, "0.6", neighbours="add-remove").status == "refuted"


@mechanism(neighbours="add-remove")
def count_of_yes(data: records("yes", "no")):
    return geometric(sum(1 for r in data if r == "yes"), alpha="1/2")


def test_records_that_are_added_or_removed_are_counted_for_every_length():
    verdict = check(count_of_yes, "ln(2)")
    assert (verdict.status, verdict.engine) == ("proved", "laplace")
    assert "one element more" in str(verdict)
    assert check(count_of_yes, "0.69").status == "refuted"


# ------------------------------------------------------------------------------------------------- claims in public numbers


@mechanism(epsilon="(1 + 2*N)*ln(2)")
def sparse_vector_of_many(q: queries(), t: public(integer()), N: public(integer(low=1))):
    threshold = geometric(t, alpha="1/2")
    count, i = 0, 0
    while i < len(q) and count < N:
        if geometric(q[i], alpha="1/2") >= threshold:
            yield True
            count = count + 1
        else:
            yield False
        i = i + 1


@pytest.fixture(scope="module")
def in_numbers():
    verdict = check(sparse_vector_of_many)
    assert verdict.status == "proved"
    return dict(nested(verdict.certificate))


def test_sparse_vector_is_proved_for_every_public_number(in_numbers):
    assert in_numbers["question"]["claim"] == {"constant": "1", "terms": {"N": "2"}, "ratio": "2"}
    outcome = recheck(in_numbers)
    assert outcome.details["source"]["established"]
    assert "1 + 2*N times ln(2)" in outcome.statement


@pytest.mark.parametrize(
    ("claim", "bound"),
    [
        ({"constant": "1", "terms": {"N": "1"}, "ratio": "2"}, None),
        ({"constant": "0", "terms": {"N": "2"}, "ratio": "2"}, None),
        ({"constant": "1", "terms": {"N": "2"}}, None),
        ({"constant": "1", "terms": {"N": "2"}, "ratio": "3"}, None),
        ({"constant": "1", "terms": {"N": "2"}, "ratio": "1"}, None),
        ({"constant": "1", "terms": {"N": "2"}, "ratio": "1/2"}, None),
        (None, {"ratio": "2", "constant": "1", "terms": {"N": "1"}}),
        (None, {"ratio": "2", "constant": "0", "terms": {"N": "2"}}),
        (None, {"ratio": "2", "constant": "2", "terms": {"N": "2"}}),
        (None, {"ratio": "3", "constant": "1", "terms": {"N": "2"}}),
        (None, {"ratio": "2", "times": 3}),
        (None, {"names": [], "constant": "1", "terms": {}}),
    ],
)
def test_other_claims_and_bounds_in_logarithms_are_refused(in_numbers, claim, bound):
    def change(question, evidence):
        question["claim"] = claim or question["claim"]
        evidence["bounds"] = [bound] if bound else evidence["bounds"]

    rejected(in_numbers, change)


@mechanism(epsilon="(1 + N)*ln(2)")
def sparse_vector_of_too_many(q: queries(), t: public(integer()), N: public(integer(low=1))):
    threshold = geometric(t, alpha="1/2")
    count, i = 0, 0
    while i < len(q) and count < N:
        if geometric(q[i], alpha="1/2") >= threshold:
            yield True
            count = count + 1
        else:
            yield False
        i = i + 1


def test_a_claim_in_public_numbers_is_refuted_at_one():
    verdict = check(sparse_vector_of_too_many)
    assert verdict.status == "refuted"
    certificate = copy.deepcopy(dict(nested(verdict.certificate)))
    assert recheck(certificate).verdict == "refuted"
    certificate["question"]["claim"]["terms"]["N"] = "2"
    assert not isinstance(recheck(certificate), Accepted)


@pytest.mark.parametrize(
    "text", ["N*ln(N)", "ln(1)", "ln(1/2)*N", "1 + N*ln(2)", "ln(2)*ln(3)", "N/ln(2)", "ln(2) + ln(3)"]
)
def test_other_logarithms_are_no_claims(text):
    with pytest.raises(BudgetError):
        read_affine(text, ["N"])
