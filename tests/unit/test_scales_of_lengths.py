"""Scales that are multiples of the length of the lists, which both runs share."""

from __future__ import annotations

import copy
from contextlib import suppress

import pytest
from tests.amounts import patience
from tests.certificates import nested, recheck, recheck_anew

from privproof import check, laplace, mechanism, privacy_loss, public, real, real_queries
from privproof.errors import LanguageError
from privproof_checker import Accepted, Rejected


@mechanism
def shared(q: real_queries(), epsilon=1):
    return [laplace(x, scale=len(q) / epsilon) for x in q]


@mechanism
def two_lists(q: real_queries(), r: real_queries()):
    out = []
    for i in range(len(q)):
        out.append(laplace(q[i], scale=2 * len(r)))
        out.append(laplace(r[i], scale=2 * len(q)))
    return out


@mechanism
def too_often(q: real_queries()):
    return [laplace(x + y, scale=len(q)) for x in q for y in q]


@mechanism
def never_above_zero(q: real_queries(), x: real()):
    return laplace(x, scale=len(q))


@mechanism(neighbours="add-remove")
def private_length(q: real_queries(low=0, high=1)):
    return laplace(sum(q), scale=len(q))


def test_noise_that_grows_with_the_length_is_proved_for_every_length():
    verdict = check(shared, 1)
    assert verdict.status == "proved"
    assert nested(verdict.certificate)["question"]["source"]["claims"] == "established"
    assert check(shared, "9/10").status == "refuted"
    for size in (1, 2, 3, 4):
        loss = privacy_loss(shared, {"q": [0] * size}, {"q": [1] * size}).loss()
        assert float(loss.mid()) == pytest.approx(1, abs=1e-12)


def test_the_lengths_of_two_lists():
    assert check(two_lists, 1).status == "proved"
    assert check(two_lists, "1/2", time_limit=patience(6)).status != "proved"


@pytest.mark.parametrize("function", [too_often, never_above_zero, private_length])
def test_what_the_length_does_not_pay_for_is_not_proved(function):
    with suppress(LanguageError):  # a scale that depends on data is refused
        assert check(function, 1, time_limit=patience(4)).status != "proved"


def test_the_checker_knows_a_length_where_it_is_common():
    certificate = nested(check(shared, 1).certificate)
    assert isinstance(recheck(certificate), Accepted)

    def smaller(document):
        next(step for step in document["question"]["code"] if step[0] == "sample")[4]["factor"] = "1/2"

    def unbounded(document):
        document["evidence"]["bounds"] = [each for each in document["evidence"]["bounds"] if not each.get("names")]

    def less(document):
        next(each for each in document["evidence"]["bounds"] if each.get("names"))["factor"] = "1/2"

    def added(document):
        document["question"]["relation"] = "add-remove"

    def no_list(document):
        document["question"]["inputs"]["q"]["size"] = 3

    for change in (smaller, unbounded, less, added, no_list):
        made = copy.deepcopy(certificate)
        change(made)
        assert isinstance(recheck(made), Rejected), change.__name__


def test_the_checker_asks_that_the_scale_is_above_zero():
    """Noise that is drawn also on the empty list has no scale there."""
    made = copy.deepcopy(nested(check(shared, 1).certificate))
    code = made["question"]["code"]
    sample = next(step for step in code if step[0] == "sample")
    code[:] = [[*sample[:3], ["rational", "0"], sample[4]], ["return", []]]
    made["question"].pop("source")
    made["evidence"] |= {"cuts": [0], "paths": [], "invariants": {"0": "true"}}
    assert isinstance(recheck(made), Rejected)
    found = recheck_anew(made)
    assert isinstance(found, Rejected)
    assert "the scale is above 0" in found.reason


@mechanism
def beside_a_longer_list(q: real_queries(), r: public(real_queries(size=3))):
    for a, b in zip(q, r):  # noqa: B905
        yield laplace(a + b, scale=1)


def test_a_public_list_with_a_length_of_its_own_is_not_counted_among_the_open_ones():
    assert check(beside_a_longer_list, "1/2").status == "refuted"
