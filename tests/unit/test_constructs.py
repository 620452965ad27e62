"""Constructs beside continuous noise: tests in a row, branches on data that draw noise, counters, names, invariants by conjecture."""

from __future__ import annotations

import json

import pytest
from tests.amounts import patience
from tests.certificates import recheck

from privproof import check, integer, laplace, mechanism, output_probability, public, real, real_queries, rows
from privproof.compiling.relational import program_for_alignment
from privproof.compiling.translation import program_agreement
from privproof.engines.laplace import horn
from privproof.errors import LanguageError
from privproof_checker.outcomes import Accepted, Rejected


def proved(function, claim):
    verdict = check(function, claim)
    assert verdict.status == "proved"
    assert isinstance(recheck(json.loads(json.dumps(dict(verdict.certificate)))), Accepted)


@mechanism
def three_tests(q: real_queries(size=3)):
    first = laplace(q[0], scale=4) > laplace(0, scale=2)
    second = laplace(q[1], scale=4) > laplace(0, scale=2)
    third = laplace(q[2], scale=4) > laplace(0, scale=2)
    return first, second, third


def test_several_threshold_tests_in_a_row_are_proved():
    proved(three_tests, 3)


def test_several_tests_in_a_row_cost_more_than_one():
    assert check(three_tests, "1/4", time_limit=patience(20)).status != "proved"


@mechanism
def distance_from_zero(x: real()):
    if x > 0:
        shown = laplace(x, scale=1)
    else:
        y = -x
        shown = laplace(y, scale=1)
    return shown


def test_noise_that_both_branches_draw_is_matched():
    proved(distance_from_zero, 1)
    assert program_agreement(program_for_alignment(distance_from_zero)).told is None


def test_less_than_the_matched_noise_costs_is_refuted():
    assert check(distance_from_zero, "9/10").status == "refuted"


def test_noise_of_different_scales_in_two_branches_is_not_matched():
    @mechanism
    def telling(x: real()):
        if x > 0:
            shown = laplace(x, scale=1)
        else:
            shown = laplace(x, scale=2)
        return shown

    assert check(telling, 3, time_limit=patience(15)).status != "proved"


def test_noise_that_only_one_branch_draws_is_not_matched():
    @mechanism
    def telling(x: real()):
        shown = 0
        if x > 0:
            shown = laplace(x, scale=1)
        return shown

    assert check(telling, 3, time_limit=15).status == "refuted"


@mechanism
def adaptive(q: real_queries(), threshold: public(real()), N: public(integer(low=1))):
    """The adaptive sparse vector with its counter as CheckDP has it, in parts of epsilon/(4N), the threshold's share included."""
    limit = laplace(threshold, scale=2)
    cost = 2 * N
    out = []
    i = 0
    while cost <= 4 * N - 2 and i < len(q):
        top = laplace(q[i], scale=8 * N)
        if top - limit >= 16:
            out.append(top - limit)
            cost = cost + 1
        else:
            middle = laplace(q[i], scale=4 * N)
            if middle - limit >= 0:
                out.append(middle - limit)
                cost = cost + 2
            else:
                out.append(0)
        i += 1
    return out


def test_a_counter_may_begin_at_a_public_expression_and_be_called_cost():
    proved(adaptive, 1)
    assert program_agreement(program_for_alignment(adaptive)).told is None


def test_the_adaptive_sparse_vector_with_a_larger_limit_is_not_proved():
    @mechanism
    def longer(q: real_queries(), threshold: public(real()), N: public(integer(low=1))):
        limit = laplace(threshold, scale=2)
        spent = 2 * N
        out = []
        i = 0
        while spent <= 4 * N and i < len(q):
            noisy = laplace(q[i], scale=4 * N)
            if noisy >= limit:
                out.append(True)
                spent = spent + 2
            else:
                out.append(False)
            i += 1
        return out

    assert check(longer, 1, time_limit=patience(20)).status != "proved"


def test_variables_may_be_called_like_what_proofs_speak_of():
    @mechanism
    def named(q: real_queries()):
        size = 0
        for changed in q:
            size = size + 1
            by = laplace(changed, scale=1)
            ok = by > size
            yield ok

    @mechanism(neighbours="one")
    def summed(q: real_queries()):
        size = 0
        for by in q:
            size = size + by
        return laplace(size, scale=1)

    proved(summed, 1)
    assert check(named, 1, time_limit=patience(20)).status != "proved"


def test_simple_invariants_are_found_by_conjecture_alone(monkeypatch):
    @mechanism
    def counted_from_zero(q: real_queries(), threshold: public(real()), N: public(integer(low=1))):
        limit = laplace(threshold, scale=2)
        spent = 0
        out = []
        i = 0
        while spent <= 2 * N - 2 and i < len(q):
            top = laplace(q[i], scale=8 * N)
            if top - limit >= 16:
                out.append(top - limit)
                spent = spent + 1
            else:
                middle = laplace(q[i], scale=4 * N)
                if middle - limit >= 0:
                    out.append(middle - limit)
                    spent = spent + 2
                else:
                    out.append(0)
            i += 1
        return out

    monkeypatch.setattr(horn, "_attempt", lambda *_: "unknown")
    proved(counted_from_zero, 1)


def test_a_large_claim_on_a_loss_that_grows_with_the_size_is_refuted_at_once():
    @mechanism
    def histogram(q: real_queries()):
        return [laplace(v, scale=1) for v in q]

    verdict = check(histogram, 100)
    assert verdict.status == "refuted"
    assert len(verdict.witness.left["q"]) == 101


def test_a_large_claim_that_holds_is_still_proved():
    @mechanism(neighbours="one")
    def total(q: real_queries()):
        return laplace(sum(q), scale=1)

    proved(total, 20)


@mechanism(neighbours="one")
def average(q: real_queries()):
    noisy = laplace(sum(q), scale=1)
    mean = noisy / len(q)
    return mean


@mechanism(neighbours="one")
def ratio(q: real_queries()):
    return laplace(sum(q), scale=1) / laplace(len(q), scale=1)


@mechanism
def several(x: real(), N: public(integer(low=1))):
    noisy = laplace(x, scale=1)
    return noisy * N, noisy // 1


@pytest.mark.parametrize("function", [average, ratio, several], ids=lambda f: f.name)
def test_what_is_computed_from_released_numbers_costs_nothing(function):
    proved(function, 1)
    assert check(function, 1).certificate["question"]["source"]["claims"] == "taken"


def test_what_is_computed_from_data_is_not_released():
    @mechanism(neighbours="one")
    def bare(q: real_queries()):
        return sum(q) / len(q)

    verdict = check(bare, 100)
    assert verdict.status == "refuted"
    assert verdict.lower.infinite


def test_less_than_the_released_number_costs_is_refuted():
    assert check(average, "9/10").status == "refuted"


def test_a_divisor_that_depends_on_data_is_asked_for_too():
    @mechanism
    def divided(x: real(), y: real(low=1)):
        return laplace(x, scale=1) / y

    assert check(divided, 5, time_limit=patience(15)).status != "proved"


def test_a_certificate_that_hides_data_behind_processing_is_refused():
    certificate = json.loads(json.dumps(dict(check(several, 1).certificate)))
    end = next(step for step in certificate["question"]["code"] if step[0] == "return")
    end[1] = [["variable", "x"]]
    assert isinstance(recheck(certificate), Rejected)


@mechanism
def mean_beside_its_sum(data: rows(amount=real())):
    total = laplace(sum(min(max(r.amount, 0), 10) for r in data), scale=5)
    size = laplace(len(data), scale=1)
    return total, total / max(size, 1)


@mechanism
def square_beside_data(x: real()):
    noisy = laplace(x, scale=1)
    return noisy * noisy, x > 3


def test_a_violation_is_found_beside_what_is_computed_from_noisy_numbers():
    """Of a quotient or a product of noisy numbers an event says nothing."""
    for neighbours in ("one", "add-remove"):
        assert check(mean_beside_its_sum, 1, neighbours=neighbours).status == "refuted"
    assert check(square_beside_data, 5).status == "refuted"


def test_an_event_says_nothing_of_a_number_that_is_no_form():
    """Which way is taken is not shown: what one way alone shows is no event."""

    @mechanism
    def either_way(q: real_queries()):
        number = laplace(sum(q), scale=1)
        hint = laplace(sum(q), scale="1/1000")
        factor = laplace(0, scale=1)
        return number if hint > 0 else number * factor / factor

    assert check(either_way, epsilon=3, neighbours="one", time_limit=patience(20)).status == "unknown"
    with pytest.raises(LanguageError, match="no probability is known"):
        output_probability(either_way, "≥1", q=[0])
    assert str(output_probability(either_way, "*", q=[0])) == "1"


def test_sums_of_parts_of_a_list_say_what_to_write_and_written_out_they_are_proved():
    @mechanism
    def parts(q: real_queries(size=4)):
        yield laplace(sum(q[0:2]), scale=6)
        yield laplace(sum(q[0:4]), scale=6)

    @mechanism
    def written_out(q: real_queries(size=4)):
        yield laplace(q[0] + q[1], scale=6)
        yield laplace(q[0] + q[1] + q[2] + q[3], scale=6)

    verdict = check(parts, 1)
    assert verdict.status == "unknown"
    assert "the sum of a part of a list" in verdict.reason
    assert check(written_out, 1).status == "proved"
    assert check(written_out, "9/10").status == "refuted"
