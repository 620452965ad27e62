"""Gaussian noise in proofs for every length: shifts that are settled when it is drawn, counted in squares, give away a delta."""

from __future__ import annotations

import copy
import random
from fractions import Fraction
from functools import cache
from math import exp, sqrt
from statistics import NormalDist

import pytest
from tests.amounts import patience, selected
from tests.certificates import nested, recheck

from privproof import (
    check,
    gaussian,
    integer,
    laplace,
    mechanism,
    public,
    queries,
    real,
    real_queries,
    records,
    smallest_delta,
    tight_mu,
    tight_renyi,
    tight_rho,
)
from privproof.errors import BudgetError
from privproof.scenarios import program_question
from privproof_checker import Accepted, Rejected


@mechanism
def mixed(q: real_queries(), threshold: public(real())):
    noisy = gaussian(threshold, sigma=4)
    for i, answer in enumerate(q):
        if laplace(answer, scale=8) >= noisy:
            return i
    return -1


@mechanism
def prophetic(q: real_queries(), threshold: public(real())):
    noisy = gaussian(threshold, sigma=4)
    for i, answer in enumerate(q):
        if gaussian(answer, sigma=8) >= noisy:
            return i
    return -1


@mechanism(neighbours="one")
def vector(q: real_queries()):
    for answer in q:
        yield gaussian(answer, sigma=3)


@mechanism
def twice(data: records(0, 1)):
    return gaussian(sum(data), sigma=2), gaussian(sum(data), sigma=2)


@mechanism
def both_kinds(data: records(0, 1, 2)):
    return gaussian(sum(data), sigma=4), laplace(data.count(1), scale=4)


@mechanism
def decided_first(x: integer(0, 1)):
    if laplace(x, scale=1) > 0:
        return gaussian(x, sigma=2), 1
    return gaussian(x, sigma=4), 0


@mechanism
def hindsight(x: real()):
    """Whether the noise is shifted must not depend on how it came out."""
    noisy = gaussian(x, sigma=1)
    return noisy > 0


@mechanism
def reused(x: real()):
    noise = gaussian(0, sigma=1)
    return x + noise, x - noise


@mechanism
def louder_for_some(x: integer(0, 1)):
    return gaussian(x, sigma=1 + x)


@mechanism(neighbours="monotone")
def monotone(q: real_queries(), threshold: public(real())):
    noisy = gaussian(threshold, sigma=4)
    for i, answer in enumerate(q):
        if laplace(answer, scale=8) >= noisy:
            return i
    return -1


def _given_away(squares, left):
    """Delta of two normal laws so far apart, in squares of standard deviations."""
    mu = sqrt(squares)
    below = NormalDist().cdf
    return below(mu / 2 - left / mu) - exp(left) * below(-mu / 2 - left / mu)


@pytest.mark.parametrize(
    ("function", "epsilon", "others", "squares"),
    [
        (vector, 1, 0, 1 / 9),
        (twice, 1, 0, 1 / 2),
        (both_kinds, 1, 1 / 4, 1 / 4),
        (decided_first, 2, 1, 1 / 4),
        (hindsight, 1, 0, 1),
        (monotone, "1/2", 1 / 8, 1 / 16),
    ],
)
def test_it_is_proved_for_every_length_and_no_smaller_delta(function, epsilon, others, squares):
    delta = _given_away(squares, Fraction(epsilon) - others)
    verdict = check(program_question(function), epsilon=epsilon, delta=f"{delta * 1.0001:.9f}")
    assert (verdict.status, verdict.engine) == ("proved", "laplace")
    assert isinstance(recheck(nested(verdict.certificate)), Accepted)
    less = check(program_question(function), epsilon=epsilon, delta=f"{delta * 0.999:.9f}", time_limit=patience(2))
    assert (less.status, less.engine) != ("proved", "laplace")


@mechanism(neighbours="one")
def running_totals(q: real_queries()):
    total = 0
    for answer in q:
        total = total + answer
        yield gaussian(total, sigma=2)


@mechanism
def noise_shown(data: records(0, 1)):
    noise = gaussian(0, sigma=2)
    return sum(data) + noise, noise


@mechanism
def first_large(q: real_queries()):
    for answer in q:
        noisy = gaussian(answer, sigma=2)
        if noisy > 3:
            return noisy
    return 0


@mechanism(neighbours="add-remove")
def length_shown(data: records(0, 1)):
    return gaussian(sum(data), sigma=5), len(data)


@mechanism
def every_answer(q: real_queries()):
    return [gaussian(answer, sigma=2) for answer in q]


@mechanism(neighbours="add-remove")
def length_hidden(data: records(0, 1)):
    return gaussian(sum(data), sigma=5), gaussian(len(data), sigma=5)


@mechanism
def noise_on_noise(x: real()):
    noisy = gaussian(x, sigma=5)
    return noisy, gaussian(noisy, sigma=5)


@mechanism
def folded(x: real()):
    noisy = gaussian(x, sigma=3)
    if noisy > 0:
        return noisy
    return -noisy


@pytest.mark.parametrize("function", [running_totals, noise_shown, first_large, length_shown, every_answer])
def test_what_gives_away_more_is_not_proved(function):
    assert check(function, epsilon=1, delta="1/100", time_limit=patience(10)).status != "proved"


@pytest.mark.parametrize("function", [length_hidden, noise_on_noise, folded])
def test_what_is_done_to_settled_noise_costs_nothing(function):
    assert check(function, epsilon=1, delta="1/100").status == "proved"


@pytest.mark.parametrize("function", [prophetic, reused])
def test_what_depends_on_the_outcome_is_not_proved(function):
    """Above threshold with Gaussian noise alone gives away 0.0638 on a million answers, while its shifts come to 0.016."""
    assert check(program_question(function), epsilon="1/2", delta="0.02", time_limit=patience(3)).status != "proved"


def _changed(certificate, change):
    made = copy.deepcopy(certificate)
    change(made)
    return recheck(made)


def _settled(document):
    return [path["settled"] for path in document["evidence"]["paths"] if "settled" in path]


def test_the_checker_settles_for_nothing_less():
    certificate = nested(check(program_question(mixed), epsilon="1.24", delta="3.48e-6").certificate)

    def smaller_delta(document):
        document["question"]["delta"] = "3.47e-6"

    def smaller_squares(document):
        bounds = document["evidence"]["bounds"]
        next(bound for bound in bounds if "squares" in bound)["squares"] = "1/17"

    def smaller_reach(document):
        for settled in _settled(document):
            for each in settled.values():
                each["reach"] = "1/2"

    def other_noise(document):
        for step in document["question"]["code"]:
            if step[0] == "sample" and step[2] == "gaussian":
                step[4]["factor"] = "3"

    def in_a_case(document):
        for path in document["evidence"]["paths"]:
            settled = path.pop("settled", {})
            if settled:
                path["cases"] = [{"when": [], "shifts": {at: each["shift"] for at, each in settled.items()}}]

    for change in (smaller_delta, smaller_squares, smaller_reach, other_noise, in_a_case):
        assert isinstance(_changed(certificate, change), Rejected), change.__name__


def test_the_direction_is_known_where_all_answers_go_in_one():
    """Where each goes its own way nothing depends on it, and a shift for one direction is none for the other."""
    delta = f"{_given_away(1 / 16, 3 / 8) * 1.0001:.9f}"
    assert check(program_question(mixed), "1/2", delta, time_limit=patience(8)).status != "proved"
    certificate = nested(check(program_question(monotone), "1/2", delta).certificate)
    assert any("when" in one for settled in _settled(certificate) for given in settled.values() for one in given)

    def each_its_own_way(document):
        document["question"]["relation"] = "each"

    def other_direction(document):
        for settled in _settled(document):
            for one in (one for given in settled.values() for one in given):
                one["when"] = [["up", False]]

    def both_directions(document):
        for settled in _settled(document):
            for one in (one for given in settled.values() for one in given):
                one["when"] = []

    def foretold_result(document):
        for settled in _settled(document):
            for one in (one for given in settled.values() for one in given):
                one["when"] = [["output", 0, ["number", "-1"], False]]

    for change in (each_its_own_way, other_direction, both_directions, foretold_result):
        assert isinstance(_changed(certificate, change), Rejected), change.__name__


@pytest.mark.parametrize("size", selected(range(1, 7), 2))
def test_monotone_answers_give_away_no_more_at_any_size(size):
    """Zeros and ones, exactly."""

    @mechanism(neighbours="monotone")
    def at_a_size(q: queries(0, 1)):
        noisy = gaussian(0, sigma=4)
        for i, answer in enumerate(q):
            if laplace(answer, scale=8) >= noisy:
                return i
        return -1

    for epsilon in ("1/4", "1/2"):
        found = smallest_delta(at_a_size, epsilon, size=size)
        assert float(found.lower) <= _given_away(1 / 16, float(Fraction(epsilon)) - 1 / 8)


def test_a_shift_that_later_tests_decide_is_refused():
    """The noise is shifted on the path of one outcome alone, which would be prophecy."""
    certificate = copy.deepcopy(nested(check(folded, epsilon=1, delta="1/100").certificate))
    settled = [path for path in certificate["evidence"]["paths"] if "settled" in path]
    assert len(settled) == 2
    del settled[0]["settled"]
    found = recheck(certificate)
    assert isinstance(found, Rejected)
    assert "depends on what comes later" in found.reason


@mechanism(epsilon="1.24", delta="(size+1)*3.6826e-5")
def foretold(q: real_queries(), threshold: public(real())):
    noisy = gaussian(threshold, sigma=4)
    for i, answer in enumerate(q):
        if gaussian(answer, sigma=8) >= noisy:
            return i
    return -1


@mechanism(epsilon="1.24", delta="(size+1)*3.6825e-5")
def foretold_for_less(q: real_queries(), threshold: public(real())):
    noisy = gaussian(threshold, sigma=4)
    for i, answer in enumerate(q):
        if gaussian(answer, sigma=8) >= noisy:
            return i
    return -1


@mechanism(epsilon="1.24", delta="size*3.6826e-5")
def forgets_the_last_result(q: real_queries(), threshold: public(real())):
    noisy = gaussian(threshold, sigma=4)
    for i, answer in enumerate(q):
        if gaussian(answer, sigma=8) >= noisy:
            return i
    return -1


@mechanism(epsilon=1, delta="(size+1)*6.83e-3")
def noisy_max(q: real_queries()):
    best, winner = 0, 0
    for i, answer in enumerate(q):
        noisy = gaussian(answer, sigma=4)
        if i == 0 or noisy > best:
            best, winner = noisy, i
    return winner


def test_shifts_in_hindsight_cost_delta_for_every_result():
    """mu^2 = 1/8 gives away 3.68256541e-5 at epsilon 1.24, for each of size + 1 results."""
    verdict = check(foretold)
    assert (verdict.status, verdict.question.list_size) == ("proved", None)
    assert "(31/25, 18413/500000000 + 18413/500000000*size)-private" in str(verdict)
    for function in (foretold_for_less, forgets_the_last_result):
        assert check(function, time_limit=patience(2)).status == "unknown"
    with pytest.raises(BudgetError, match="has a delta"):
        check(related_to_epsilon)


@mechanism(epsilon="size", delta="size*1e-5")
def related_to_epsilon(q: real_queries()):
    return gaussian(q[0], sigma=4)


@mechanism(epsilon=2, delta="1/100", neighbours="one")
def threshold_stays(q: real_queries()):
    threshold = gaussian(0, sigma=3)
    for answer in q:  # noqa: SIM110 - a loop as people write it
        if laplace(answer, scale=3) < threshold:
            return True
    return False


def test_gaussian_noise_that_is_never_shifted_gives_nothing_away():
    verdict = check(threshold_stays)
    assert verdict.status == "proved"
    assert verdict.delta_bounds == (0, 0)


@pytest.mark.slow
def test_noisy_max_of_every_length():
    """Seconds, and the same lines as above threshold."""
    assert check(noisy_max).status == "proved"


def test_the_checker_counts_the_results_itself():
    certificate = nested(check(foretold).certificate)

    def untaxed(document):
        del document["evidence"]["foretold"]

    def constant(document):
        document["question"]["delta"] = "3.6826e-5"

    def smaller(document):
        document["question"]["delta"]["terms"]["size"] = "3.6825e-5"

    def no_end(document):
        document["evidence"]["foretold"]["0"]["low"]["constant"] = "0"

    def below_zero(document):
        document["question"]["delta"]["constant"] = "-1"

    def without_bounds(document):
        document["evidence"]["foretold"] = {}

    def in_part(document):
        for path in document["evidence"]["paths"]:
            for listed in path.get("settled", {}).values():
                if isinstance(listed, list):
                    path["settled"] = {}
                    return

    for change in (untaxed, constant, smaller, no_end, below_zero, without_bounds, in_part):
        assert isinstance(_changed(certificate, change), Rejected), change.__name__


@mechanism
def count(data: records(0, 1)):
    return gaussian(sum(data), sigma=2)


@pytest.mark.parametrize(
    ("ask", "function", "lower", "upper"),
    [
        (tight_rho, count, "1/8", "1/8"),
        (tight_mu, count, "1/2", "1/2"),
        (lambda f: tight_renyi(f, 3), count, "3/8", "3/8"),
        (tight_rho, vector, "1/18", "1/18"),
        (tight_mu, vector, "1/3", "1/3"),
        (tight_rho, both_kinds, "1/8", "3/8"),
    ],
)
def test_the_other_measures_for_every_length(ask, function, lower, upper):
    verdict = ask(function)
    assert (verdict.status, str(verdict.lower), str(verdict.upper)) == ("proved", lower, upper)
    assert verdict.question.list_size is None


@cache
def proved_of_both_kinds():
    return check(both_kinds, rho="3/8")


def test_a_rho_for_every_length_is_bounded_from_below_by_short_lists():
    verdict = tight_rho(mixed)
    assert (verdict.status, str(verdict.upper)) == ("proved", "9/32")
    assert 0 < float(verdict.lower.decimal()) < 9 / 32


def test_claims_of_other_measures_for_every_length():
    assert check(vector, rho="1/18").status == "proved"
    assert check(vector, rho="1/19").status == "refuted"
    assert check(twice, renyi={2: "1/2", 8: 2}).status == "proved"
    assert proved_of_both_kinds().status == "proved"
    assert check(both_kinds, mu=2, time_limit=patience(3)).status == "unknown"
    assert check(count, mu="0.4999").status == "refuted"
    assert check(reused, mu=1, time_limit=patience(3)).status != "proved"


def test_the_checker_reads_the_measures_off_the_shifts_itself():
    certificate = nested(proved_of_both_kinds().certificate)

    def smaller(document):
        document["question"]["budgets"][0]["value"] = "0.3749"

    def as_mu(document):
        document["question"]["measure"] = "mu"
        document["question"]["budgets"][0]["value"] = "5"

    def another_question(document):
        document["question"]["of"]["relation"] = "add-remove"

    def as_a_pure_proof(document):
        document["evidence"]["method"] = "pure"

    for change in (smaller, as_mu, another_question, as_a_pure_proof):
        assert isinstance(_changed(certificate, change), Rejected), change.__name__


def sum_and_count(data):
    total = sum(min(x, 10) for x in data) + random.gauss(0, 20)
    return total, len(data) + random.gauss(0, 2)


def scaled(data):
    total = count = 0
    for x in data:
        total += x
        if x > 3:
            count += 1
    return total + random.gauss(0, 20), 2 * count + random.gauss(0, 4)


@pytest.mark.parametrize("function", [sum_and_count, scaled])
def test_every_noise_is_shifted_as_far_as_its_own_data_change(function):
    """Two numbers, each half a standard deviation apart: together sqrt(1/2)."""
    found = check(function, epsilon=1, delta="0.04", data=records(*range(11)), neighbours="add-remove")
    assert (found.status, found.engine) == ("proved", "laplace")
    assert check(function, epsilon=1, delta="0.039", data=records(*range(11)), neighbours="add-remove").status != (
        "proved"
    )


@mechanism(epsilon=2, delta="2/5 + size/5", neighbours="one")
def told_whether(q: real_queries()):
    threshold = gaussian(0, sigma=2)
    for answer in q:  # noqa: SIM110 - a loop as people write it
        if gaussian(answer, sigma=1) >= threshold:
            return True
    return False


def test_a_truth_value_is_foretold():
    """Two results, on all paths the same conditions, wherever they stand in the certificate."""
    assert check(told_whether).status == "proved"


def test_the_standard_deviation_may_be_a_float():
    def noisy(data, sigma=2.5):
        return random.gauss(sum(data), sigma)

    found = check(noisy, epsilon=1, delta="0.0013", data=records(0, 1))
    assert (found.status, found.engine) == ("proved", "laplace")
