"""Certified totals of accounts: what the checker accepts is what enumerated series lose, and nothing less than the account's total."""

from __future__ import annotations

import copy
from fractions import Fraction
from math import sqrt
from random import Random

import pytest
from tests.amounts import selected
from tests.release import release_brute as brute
from tests.release.test_gaussian_quilts import gaussian, geometric, worst_delta

from privproof import check, release
from privproof.errors import PrivproofError
from privproof.exact import rational
from privproof_checker import recheck
from privproof_checker.outcomes import Accepted, Rejected

WALK = release.Chain.of({"rest": {"rest": "0.9", "walk": "0.1"}, "walk": {"rest": "0.4", "walk": "0.6"}})


def account_of(seed):
    random = Random(seed)
    length = random.randint(2, 6)
    matrix, start = brute.random_matrix(random, 2), brute.random_start(random, 2)
    chain = release.Chain(("a", "b"), tuple(tuple(map(rational, row)) for row in matrix), tuple(map(rational, start)))
    delta = random.choice((0, "1/20", "1/1000"))
    account = release.Accountant.of(chain, length=length, delta=delta)
    windows, noises = [], []
    for number in range(2):
        first = random.randint(1, length)
        last = random.randint(first, length)
        windows.append((first - 1, last))
        if delta and random.random() < 2 / 3:
            squared = random.choice(("1/4", "1/16", "1/100"))
            account = account.spending(squared=squared, first=first, last=last, note=f"release {number}")
            variance = float(1 / Fraction(squared))
            noises.append(gaussian(variance, int(7 * sqrt(variance)) + 3))
        else:
            cost = random.choice(("1/2", "1/10"))
            account = account.spending(cost, first=first, last=last, note=f"release {number}")
            noises.append(geometric(float(Fraction(cost)), 400))  # e^-40 is cut off
    return account, brute.homogeneous(start, matrix, length), windows, noises


@pytest.mark.parametrize("seed", selected(range(40), 6))
def test_totals_by_the_definition(seed):
    account, model, windows, noises = account_of(seed)
    try:
        verdict = release.verify(account)
    except PrivproofError:
        pytest.skip("nothing to hide")
    if verdict.status == "unknown":
        assert "nothing is compared" in verdict.reason
        return
    assert verdict.status == "proved"
    assert verdict.certified.upper
    assert isinstance(recheck(verdict.certificate), Accepted)
    found = worst_delta(
        model, lambda values: [values[a:b].count(1) for a, b in windows], noises, float(verdict.upper.ball())
    )
    assert found <= float(account.delta) * (1 + 1e-6) + 1e-9


@pytest.mark.parametrize("length", [1, 7, 100, 5000])
@pytest.mark.parametrize("delta", [0, "1e-6"])
@pytest.mark.parametrize(
    "initial", ["stationary", "any", {"rest": "1/3", "walk": "2/3"}], ids=["stationary", "any", "given"]
)
def test_totals_are_those_of_the_account(length, delta, initial):
    chain = (
        WALK.starting(initial)
        if isinstance(initial, str)
        else release.Chain.of(
            {"rest": {"rest": "0.9", "walk": "0.1"}, "walk": {"rest": "0.4", "walk": "0.6"}}, initial=initial
        )
    )
    account = release.Accountant.of(chain, length=length, delta=delta)
    for first in range(1, length + 1, max(1, length // 4)):
        account = account.spending("1/20", first=first, last=min(length, first + length // 3))
    verdict = release.verify(account)
    assert verdict.status == "proved"
    assert verdict.certified.upper
    assert float(verdict.upper.ball()) == pytest.approx(float(account.epsilon), rel=1e-9)


def changed(document, change):
    other = copy.deepcopy(dict(document))
    change(other)
    return other


def test_other_accounts_are_refused():
    account = release.Accountant.of(WALK, length=30, delta="1e-6")
    for _ in range(5):
        account = account.spending("1/20").spending(squared="1/1000", first=3, last=20)
    document = release.verify(account).certificate
    assert isinstance(recheck(document), Accepted)

    def smaller_total(other):
        other["question"]["epsilon"] = str(Fraction(other["question"]["epsilon"]) * Fraction(99, 100))

    def one_more(other):
        other["question"]["spendings"][0]["times"] += 1

    def dearer(other):
        other["question"]["spendings"][1]["squared"] = "1/500"

    def longer(other):
        other["question"]["spendings"][1]["last"] = 30

    def purely(other):
        del other["question"]["delta"]

    def without_an_entry(other):
        other["facts"][0]["hint"]["ranges"][0].pop()

    for change in (smaller_total, one_more, dearer, longer, purely, without_an_entry):
        assert isinstance(recheck(changed(document, change)), Rejected), change.__name__


def test_a_smaller_claim_is_unknown_and_a_larger_one_proved():
    account = release.Accountant.of(WALK, length=30).spending("1/10").spending("1/10", first=5, last=9)
    total = Fraction(account.epsilon)
    assert check(account.question, epsilon=rational(total * 2)).status == "proved"
    assert check(account.question, epsilon=rational(total / 2)).status == "unknown"
    with pytest.raises(PrivproofError, match="nothing was released"):
        release.verify(release.Accountant.of(WALK, length=30))
