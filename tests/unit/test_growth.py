"""Losses that grow with the number of answers: one long word, followed on the program, and its certificate."""

import copy
from itertools import product

import pytest
from tests.certificates import nested

from privproof import check, exponential, geometric, laplace, mechanism, queries, real_queries
from privproof.compiling.relational import program_for_alignment
from privproof.compiling.rewriting import Unsupported
from privproof.engines.laplace import engine
from privproof.engines.laplace.events import event_probability, measure
from privproof.engines.laplace.growth import Growing, GrowingFamily
from privproof.engines.laplace.long_words import word_leaves
from privproof.engines.search_monitor import Monitor
from privproof.exact import epsilon
from privproof_checker import Accepted, Rejected, recheck


@mechanism
def no_cut_off(q: real_queries()):
    threshold = laplace(0, scale=2)
    for answer in q:
        yield laplace(answer, scale=4) >= threshold


@mechanism
def few_values(q: queries(0, 2)):
    threshold = laplace(1, scale=2)
    for answer in q:
        yield laplace(answer, scale=4) >= threshold


@mechanism(neighbours="monotone")
def one_direction(q: real_queries()):
    threshold = laplace(0, scale=2)
    for answer in q:
        yield laplace(answer, scale=1) >= threshold


@mechanism
def listed(q: real_queries(), level=5):
    noisy = laplace(level, scale=2)
    shown = []
    for answer in q:
        if laplace(answer, scale=1) >= noisy:
            shown.append("above")
        else:
            shown.append("below")
    return shown


@mechanism
def drawn_again(q: real_queries()):
    threshold = laplace(0, scale=1)
    for answer in q:
        if laplace(answer, scale=1) >= threshold:
            yield True
            threshold = laplace(0, scale=1)
        else:
            yield False


@mechanism
def one_sided(q: real_queries()):
    threshold = exponential(0, scale=2)
    for answer in q:
        yield exponential(answer, scale=1) >= threshold


@mechanism
def values_above(q: real_queries()):
    threshold = laplace(0, scale=2)
    for answer in q:
        noisy = laplace(answer, scale=1)
        yield noisy if noisy >= threshold else None


@mechanism
def two_ways(q: real_queries()):
    threshold = laplace(0, scale=2)
    for answer in q:
        noisy = laplace(answer, scale=1)
        yield noisy >= threshold or noisy <= threshold - 3


@mechanism
def whole_numbers(q: queries()):
    threshold = geometric(0, alpha="1/2")
    for answer in q:
        yield geometric(answer, alpha="1/3") >= threshold


@mechanism
def stops(q: real_queries()):
    threshold = laplace(0, scale=2)
    for answer in q:
        if laplace(answer, scale=4) >= threshold:
            yield True
            return
        yield False


FAR = {
    "no cut-off": (no_cut_off, 40, 160),
    "bounded answers": (few_values, 20, 80),
    "in one direction": (one_direction, 40, 80),
    "a list": (listed, 40, 40),
    "drawn again": (drawn_again, 40, 40),
    "exponential noise": (one_sided, 40, 20),
    "values above the threshold": (values_above, 40, 40),
    "geometric noise": (whole_numbers, 100, 91),
}


@pytest.mark.parametrize("name", [pytest.param(n, marks=[pytest.mark.slow] * (n == "a list")) for n in FAR])
def test_a_claim_far_from_the_truth_is_refuted(name):
    function, claim, least = FAR[name]
    verdict = check(function, claim)
    assert verdict.status == "refuted"
    assert len(verdict.witness.left["q"]) >= least, "no shorter list loses so much"
    assert isinstance(recheck(verdict.certificate), Accepted)


@pytest.mark.parametrize(("claim", "size"), [(1, 3), (2, 8)])
def test_few_answers_are_enough_for_a_small_claim(claim, size):
    verdict = check(no_cut_off, claim)
    assert verdict.status == "refuted"
    assert len(verdict.witness.left["q"]) <= 2 * size


@pytest.mark.parametrize(
    ("function", "alphabet"),
    [
        (no_cut_off, (True, False)),
        (few_values, (True, False)),
        (drawn_again, (True, False)),
        (one_sided, (True, False)),
        (two_ways, (True, False)),
        (whole_numbers, (True, False)),
        (listed, ("above", "below")),
    ],
    ids=lambda each: getattr(each, "name", ""),
)
def test_the_program_has_the_probabilities_of_the_function(function, alphabet):
    program = program_for_alignment(function, convert=False)
    for word in product(alphabet, repeat=2):
        leaves = word_leaves(program, {"q": [0, 1]}, list(word))
        expected = event_probability(function, list(word), {"q": [0, 1]})
        assert (measure(leaves, list(word)) - expected).is_zero


def test_a_word_that_is_never_written_has_no_way():
    program = program_for_alignment(no_cut_off, convert=False)
    assert word_leaves(program, {"q": [0, 1]}, [True]) == ()
    assert word_leaves(program, {"q": [0, 1]}, [True, True, True]) == ()
    assert word_leaves(program, {"q": [0, 1]}, [True, "above"]) == ()


def test_too_many_ways_are_left_to_others():
    with pytest.raises(Unsupported, match="too many ways"):
        word_leaves(program_for_alignment(two_ways, convert=False), {"q": [0] * 8}, [True] * 8)


@pytest.mark.parametrize("size", [2, 3, 9, 40])
def test_words_are_stretched_where_they_repeat_themselves(size):
    half = GrowingFamily((True,) * 4 + (False,) * 4, (1,) * 4 + (-1,) * 4, 1.0)
    word, corner = half.stretched(size)
    assert word == sorted(word, reverse=True)
    assert corner == [1 if letter else -1 for letter in word]
    assert len(word) == size
    assert abs(2 * sum(word) - size) <= 1
    last = GrowingFamily((False,) * 7 + (True,), (1,) * 8, 1.0)
    assert last.stretched(size)[0] == [False] * (size - 1) + [True]


@pytest.mark.parametrize("claim", [1, 40])
def test_what_stops_does_not_grow(claim):
    search = Growing(stops, "each", {}, lambda _: epsilon(claim), Monitor())
    assert search.found == []
    assert search.loss() is None
    assert check(stops, 1).status == "proved"


def test_a_claim_that_grows_as_fast_is_not_refuted():
    @mechanism(epsilon="size / 4")
    def growing(q: real_queries()):
        threshold = laplace(0, scale=2)
        for answer in q:
            yield laplace(answer, scale=4) >= threshold

    search = Growing(growing, "each", {}, lambda size: epsilon(f"{size}/4"), Monitor())
    assert search.loss() is None
    assert check(growing).status == "proved"


def test_a_claim_that_grows_too_slowly_is_refuted():
    @mechanism(epsilon="size / 5 + 3")
    def growing(q: real_queries()):
        threshold = laplace(0, scale=2)
        for answer in q:
            yield laplace(answer, scale=4) >= threshold

    verdict = check(growing)
    assert verdict.status == "refuted"
    assert len(verdict.witness.left["q"]) > 60


def test_a_run_that_is_left_out_is_missed():
    """The certificate lists the runs in the event alone: the source says which these are."""
    verdict = check(no_cut_off, 10)
    assert verdict.status == "refuted"
    document = nested(verdict.certificate)
    assert document["evidence"]["right"]["rest"] == "outside"
    assert len(document["evidence"]["right"]["leaves"]) == 1
    changed = copy.deepcopy(document)
    changed["evidence"]["right"]["leaves"][0]["event"] = False
    assert isinstance(recheck(changed), Rejected)
    changed = copy.deepcopy(document)
    changed["evidence"]["pattern"]["list"].reverse()
    assert isinstance(recheck(changed), Rejected)


def test_of_two_ways_to_a_word_none_may_be_left_out():
    @mechanism
    def away(q: real_queries()):
        for answer in q:
            noisy = laplace(answer, scale=1)
            yield noisy >= 1 or noisy <= -1

    verdict = check(away, "2/5")
    assert verdict.status == "refuted"
    document = copy.deepcopy(nested(verdict.certificate))
    for side in ("left", "right"):
        given = document["evidence"][side]
        given["leaves"] = [leaf for leaf in given["leaves"] if leaf["event"]]
        given["rest"] = "outside"
    assert isinstance(recheck(document), Accepted)
    assert len(document["evidence"]["right"]["leaves"]) > 1
    del document["evidence"]["right"]["leaves"][0]
    found = recheck(document)
    assert isinstance(found, Rejected)
    assert "another probability" in found.reason
    document["evidence"]["right"]["rest"] = "inside"
    assert "outside" in recheck(document).reason


def test_sums_of_all_noise_so_far_are_no_single_integral():
    @mechanism
    def sums_so_far(q: real_queries()):
        total = 0
        for answer in q:
            total = total + laplace(answer, scale=1)
            yield total

    assert Growing(sums_so_far, "each", {}, lambda _: epsilon(1), Monitor()).loss() is None
    assert check(sums_so_far, 1).status == "refuted"


@mechanism
def four_above(q: real_queries()):
    threshold, seen = laplace(0, scale=2), 0
    for answer in q:
        if laplace(answer, scale=8) >= threshold:
            yield True
            seen += 1
            if seen == 4:
                return
        else:
            yield False


@mechanism
def counted(q: real_queries()):
    threshold = laplace(0, scale=2)
    return sum(1 for answer in q if laplace(answer, scale=4) >= threshold)


@pytest.mark.parametrize("claim", [10, 100])
def test_a_claim_far_above_a_loss_that_does_not_grow_is_proved_by_what_it_costs(claim):
    verdict = check(four_above, claim)
    assert verdict.status == "proved"
    assert isinstance(recheck(verdict.certificate), Accepted)


@mechanism
def one_above(q: real_queries()):
    threshold = laplace(0, scale="1/8")
    for answer in q:
        if laplace(answer, scale="1/4") >= threshold:
            yield True
            return
        yield False


@pytest.mark.parametrize(("claim", "status"), [(16, "proved"), (12, "refuted")])
def test_a_large_claim_below_the_cost_is_not_proved_by_a_guess(claim, status):
    assert check(one_above, claim).status == status


def test_the_search_for_a_proof_of_a_large_claim_ends_by_its_effort(monkeypatch):
    monkeypatch.setattr(engine, "_MOST", 2_000_000)
    monkeypatch.setattr(engine, "_MOST_BELOW", 2_000_000)
    verdict = check(counted, 100)
    assert verdict.status == "unknown"
    assert "effort" in verdict.reason


@pytest.mark.slow
def test_a_count_above_a_threshold_ends_without_a_time_limit():
    verdict = check(counted, 100)
    assert verdict.status == "unknown"
    assert "effort" in verdict.reason
