"""Sums of products of what a record holds: their terms lie between ends, and the change of one record is bounded by these."""

from __future__ import annotations

import copy
from fractions import Fraction
from itertools import product
from random import Random

import pytest
from tests.amounts import patience, spread
from tests.certificates import nested, recheck, recheck_anew
from tests.programs import load

from privproof import check, integer, laplace, mechanism, real, records, rows, tight_epsilon
from privproof.errors import LanguageError
from privproof_checker import Accepted, Rejected


@mechanism(epsilon=1)
def squares(data: records(*range(11))):
    return laplace(sum(x * x for x in data), scale=100)


@mechanism(epsilon=1)
def signed_squares(data: rows(x=real(-3, 3))):
    return laplace(sum(r.x**2 for r in data), scale=9)


@mechanism(epsilon=1)
def products(data: rows(a=real(-1, 1), b=real(0, 2))):
    return laplace(sum(r.a * r.b for r in data), scale=4)


@mechanism(epsilon=1, neighbours="add-remove")
def added_products(data: rows(a=real(-1, 1), b=real(0, 2))):
    return laplace(sum(r.a * r.b for r in data), scale=2)


@mechanism(epsilon=1)
def moments(data: rows(x=integer(0, 100))):
    return laplace(sum(r.x for r in data), scale=200), laplace(sum(r.x**2 for r in data), scale=20000)


@mechanism(epsilon=1)
def clipped_cubes(data: rows(x=integer(0, 100))):
    return laplace(sum(min(r.x, 4) ** 3 for r in data), scale=64)


@mechanism(epsilon=1)
def one_product_twice(data: rows(x=integer(0, 5), y=integer(0, 5), up=integer(0, 1))):
    above = sum(r.x * r.y for r in data if r.up == 1)
    below = sum(r.x * r.y for r in data if r.up == 0)
    return laplace(above - below, scale=50)


EVERY = (squares, signed_squares, products, added_products, moments, clipped_cubes, one_product_twice)


@pytest.mark.parametrize("function", EVERY, ids=lambda each: each.name)
def test_the_ends_of_a_product_bound_its_sum_for_every_length(function):
    verdict = check(function)
    assert (verdict.status, verdict.question.size) == ("proved", None)
    assert isinstance(recheck(verdict.certificate), Accepted)


@pytest.mark.parametrize("function", EVERY, ids=lambda each: each.name)
def test_a_claim_below_is_refuted(function):
    assert check(function, "9/10").status == "refuted"


def test_the_bound_is_tight_where_the_ends_are_met():
    assert str(tight_epsilon(squares).upper) == "1"


@mechanism(epsilon=1)
def without_end(data: rows(x=real(), y=real(0, 1))):
    return laplace(sum(r.x * r.y for r in data), scale=100)


@mechanism(epsilon=1)
def by_noise(data: rows(x=real(0, 1), y=real(0, 1))):
    noise = laplace(0, scale=1)
    return laplace(sum(r.x * noise for r in data), scale=100)


def test_a_product_without_ends_is_refuted():
    assert check(without_end).status == "refuted"


def test_a_product_with_noise_is_refused():
    with pytest.raises(LanguageError, match="two values that depend on the data or on noise are multiplied"):
        check(by_noise)


def test_the_checker_goes_by_the_declared_ends():
    certificate = nested(check(products).certificate)
    assert certificate["evidence"]["method"] == "alignment"
    for name, end in (("a", "high"), ("b", "high"), ("a", "low")):
        wider = copy.deepcopy(certificate)
        [declared] = wider["question"]["inputs"].values()
        field = declared["fields"][name]
        assert end in field
        field[end] = str(Fraction(field[end]) * 2)
        assert isinstance(recheck_anew(wider), Rejected)


def test_the_checker_has_no_ends_where_none_are_declared():
    certificate = nested(check(signed_squares).certificate)
    [declared] = certificate["question"]["inputs"].values()
    del declared["fields"]["x"]["high"]
    assert isinstance(recheck_anew(certificate), Rejected)


@mechanism(epsilon=1)
def multiples(data: rows(x=integer(-1, 3))):
    return laplace(sum(max(min(3 * r.x, 2), 0) for r in data), scale=2)


@pytest.mark.parametrize("failing", ["<<", ">>", "**", "//", "%"])
def test_what_fails_for_some_records_alone_is_told_by_whether_it_fails(failing):
    certificate = copy.deepcopy(nested(check(multiples).certificate))
    del certificate["question"]["source"]
    assert isinstance(recheck_anew(certificate), Accepted)
    certificate["question"]["code"][2][2][2][1][1] = [failing, ["int", 2], ["record", "data", "x"]]
    told = recheck_anew(certificate)
    assert isinstance(told, Rejected)
    assert "is not below 0" in told.reason or "is not 0" in told.reason
    certificate["question"]["inputs"]["data"]["fields"]["x"]["low"] = "1"
    assert isinstance(recheck_anew(certificate), Accepted)


def test_no_input_is_called_what_a_field_is():
    certificate = copy.deepcopy(nested(check(products).certificate))
    del certificate["question"]["source"]
    certificate["question"]["code"][4][4]["factor"] = "2"
    public = {"shape": "value", "sort": "real", "public": True, "low": "0", "high": "1"}
    for name in ("data.b", "data.c"):
        changed = copy.deepcopy(certificate)
        changed["question"]["inputs"][name] = public
        assert isinstance(recheck_anew(changed), Rejected)


def _term(draw: Random, depth: int) -> str:
    if depth == 0 or draw.random() < 0.2:
        return draw.choice(("r.x", "r.y", "r.x", "r.y", str(draw.randint(-2, 3))))
    one, two = _term(draw, depth - 1), _term(draw, depth - 1)
    form = draw.choice(
        (
            "({} * {})",
            "({} * {})",
            "({} + {})",
            "({} - {})",
            "min({}, {})",
            "max({}, {})",
            "({} if r.x < 1 else {})",
            "({})**2 * abs({})",
        )
    )
    return form.format(one, two)


def test_no_random_sum_is_proved_below_its_change(tmp_path):
    """The change of one record is computed by going through all pairs of records."""
    outcomes = set()
    for seed in spread(range(240), 12):
        draw = Random(seed)
        term, remove = _term(draw, 3), draw.random() < 0.4
        ends = [(draw.randint(-2, 0), draw.randint(1, 3)) for _ in range(2)]
        rows_ = list(product(*(range(low, high + 1) for low, high in ends)))
        added = [Fraction(eval(term, {}, {"r": type("Row", (), {"x": x, "y": y})})) for x, y in rows_]
        change = max(map(abs, added)) if remove else max(added) - min(added)
        if not change:
            continue
        relation = ', neighbours="add-remove"' if remove else ""
        (a, b), (c, d) = ends
        text = (
            "from privproof import laplace, rows\n"
            f"@mechanism(epsilon=1{relation})\n"
            f"def m(data: rows(x=integer({a}, {b}), y=integer({c}, {d}))):\n"
            f'    return laplace(sum({term} for r in data), scale="{{scale}}")\n'
        )
        assert (
            check(load(tmp_path, text.format(scale=change * Fraction(99, 100))), time_limit=patience(8)).status
            != "proved"
        ), term
        outcomes.add(check(load(tmp_path, text.format(scale=change)), time_limit=patience(8)).status)
    assert "refuted" not in outcomes
    assert "proved" in outcomes
