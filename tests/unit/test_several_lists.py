"""Several private lists beside each other: the record that changes is in one of them, and says nothing of the records of the others."""

from __future__ import annotations

from random import Random

import pytest
from tests.amounts import patience, spread
from tests.certificates import nested, recheck_anew
from tests.programs import load

from privproof import check, integer, laplace, mechanism, queries, real_queries, records, rows
from privproof_checker import Rejected


@mechanism(epsilon=100, neighbours="one")
def listed(few: records(0, 1), many: records(0, 100)):
    return laplace(sum(few), scale=1), laplace(sum(many), scale=1)


@mechanism(epsilon=100, neighbours="one")
def whole(few: queries(0, 1), many: queries(0, 100, sensitivity=100)):
    return laplace(sum(few), scale=1), laplace(sum(many), scale=1)


@mechanism(epsilon=100, neighbours="one")
def mixed(few: queries(0, 1), many: real_queries(0, 100, sensitivity=100)):
    return laplace(sum(few), scale=1), laplace(sum(many), scale=1)


@mechanism(epsilon=100, neighbours="one")
def three(few: records(0, 1), some: rows(x=integer(0, 7)), many: real_queries(0, 100, sensitivity=100)):
    return laplace(sum(few) + sum(r.x for r in some) + sum(many), scale=1), laplace(sum(few), scale=1)


EVERY = (listed, whole, mixed, three)


@pytest.mark.parametrize("function", EVERY, ids=lambda each: each.name)
def test_the_list_that_changes_most_decides(function):
    assert check(function).status == "proved"
    assert check(function, 99).status == "refuted"
    assert check(function, 1).status == "refuted"


@pytest.mark.parametrize("function", [listed, whole, mixed], ids=lambda each: each.name)
def test_the_checker_bounds_the_change_of_a_list_by_its_own_values_alone(function):
    certificate = nested(check(function).certificate)
    assert certificate["evidence"]["method"] == "alignment"
    many = certificate["question"]["inputs"]["many"]
    many |= {"values": ["0", "200"]} if many.get("values") else {"high": "200", "within": "200"}
    assert isinstance(recheck_anew(certificate), Rejected)


def test_no_random_lists_are_proved_below_the_largest_change(tmp_path):
    for seed in spread(range(60), 6):
        draw = Random(seed)
        declared, terms, largest = [], [], 0
        for name in ("p", "q", "r")[: draw.randint(2, 3)]:
            low, high, times = draw.randint(-3, 0), draw.randint(1, 9), draw.choice((1, 1, 2, -3))
            bounds, change = f"{low}, {high}", high - low
            form = draw.choice(("queries({}, sensitivity={})", "real_queries({}, sensitivity={})", "records({})"))
            declared.append(f"{name}: {form.format(bounds, change)}")
            terms.append(f"{times} * sum({name})")
            largest = max(largest, change * abs(times))
        shown = " + ".join(terms) if draw.random() < 0.5 else ", ".join(f"laplace({each}, scale=1)" for each in terms)
        shown = shown if "laplace" in shown else f"laplace({shown}, scale=1)"
        head = 'from privproof import laplace, real_queries\n@mechanism(neighbours="one")\n'
        text = f"{head}def m({', '.join(declared)}):\n    return {shown}\n"
        found = load(tmp_path, text)
        assert check(found, f"{99 * largest}/100", time_limit=patience(8)).status != "proved", text
        assert check(found, largest).status == "proved", text
