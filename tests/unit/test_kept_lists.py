"""Lists that are kept: trees of sums for every length, and what must not be proved of them."""

from __future__ import annotations

import copy
import random
from fractions import Fraction

import pytest
from tests.amounts import patience, selected, spread
from tests.certificates import nested, recheck

from privproof import check, integer, laplace, mechanism, public, real_queries
from privproof.compiling.kept_lists import kept_names
from privproof.engines.laplace.kept import equal_entries_list
from privproof.engines.laplace.solver import z3
from privproof.errors import LanguageError
from privproof.language.running import run_once
from privproof.language.scripts import record_run
from privproof.library.laplace.sums import binary_mechanism, binary_mechanism_forgotten_level
from privproof_checker import Accepted


@mechanism(epsilon="epsilon", neighbours="one")
def carried(q: real_queries(), levels: public(integer(low=1)), epsilon=1):
    alpha, noisy = [0] * levels, [0] * levels
    t = 0
    while t < len(q) and t + 1 < 2**levels:
        carry, i, rest = q[t], 0, t + 1
        t += 1
        while rest % 2 == 0:
            carry += alpha[i]
            alpha[i], noisy[i] = 0, 0
            i, rest = i + 1, rest // 2
        alpha[i] = carry
        noisy[i] = laplace(carry, scale=levels / epsilon)
        yield sum(noisy)


@mechanism(epsilon="epsilon", neighbours="one")
def four_levels(q: real_queries(), epsilon=1):
    alpha = [0] * 4
    t = 0
    for x in q:
        if t < 15:
            t += 1
            i, carry, rest = 0, x, t
            while rest % 2 == 0:
                carry += alpha[i]
                alpha[i] = 0
                i, rest = i + 1, rest // 2
            alpha[i] = carry
            yield laplace(carry, scale=4 / epsilon)


@mechanism(epsilon="epsilon", neighbours="one")
def exact_leaf(q: real_queries(), levels: public(integer(low=1)), epsilon=1):
    alpha = [0] * levels
    t = 0
    while t < len(q) and t + 1 < 2**levels:
        carry, i, rest = q[t], 0, t + 1
        t += 1
        while rest % 2 == 0:
            carry += alpha[i]
            alpha[i] = 0
            i, rest = i + 1, rest // 2
        alpha[i] = carry
        yield laplace(carry, scale=levels / epsilon) + alpha[0]


@mechanism(epsilon="epsilon", neighbours="one")
def leaf_again(q: real_queries(), levels: public(integer(low=1)), epsilon=1):
    alpha = [0] * levels
    t = 0
    while t < len(q) and t + 1 < 2**levels:
        carry, i, rest = q[t], 0, t + 1
        t += 1
        yield laplace(carry, scale=levels / epsilon)
        while rest % 2 == 0:
            carry += alpha[i]
            alpha[i] = 0
            i, rest = i + 1, rest // 2
        alpha[i] = carry
        yield laplace(carry, scale=levels / epsilon)


@mechanism(epsilon="epsilon", neighbours="one")
def moved_twice(q: real_queries(), levels: public(integer(low=1)), epsilon=1):
    alpha = [0] * levels
    t = 0
    while t < len(q) and t + 1 < 2**levels:
        carry, i, rest = q[t], 0, t + 1
        t += 1
        while rest % 2 == 0:
            carry += 2 * alpha[i]
            alpha[i] = 0
            i, rest = i + 1, rest // 2
        alpha[i] = carry
        yield laplace(carry, scale=levels / epsilon)


@mechanism(epsilon="epsilon", neighbours="one")
def by_data(q: real_queries(), levels: public(integer(low=1)), epsilon=1):
    alpha = [0] * levels
    for x in q:
        if x > 0:
            alpha[0] = 1
    return laplace(0, scale=1 / epsilon) + alpha[0]


@mechanism(epsilon="epsilon", neighbours="one")
def fails_by_noise(q: real_queries(), epsilon=1):
    alpha = [0] * 2
    noisy = laplace(sum(q), scale=1 / epsilon)
    if noisy > 0:
        alpha[5] = 1
    return alpha[0]


@pytest.fixture(scope="module")
def verdict():
    return check(carried)


@pytest.fixture(scope="module")
def proved(verdict):
    assert verdict.status == "proved"
    return nested(verdict.certificate)


def test_lists_are_shown_as_they_are_written(verdict):
    lines = verdict.explanation.program
    assert "alpha[i] = carry" in lines
    assert "carry = carry + alpha[i]" in lines
    assert "while t < len(q) and t + 1 < (2 ** levels):" in lines
    assert not any(word in lines for word in ("entry(", "filled(", "part(", "#t", "#z"))


def test_trees_of_sums_are_proved_for_every_length_and_number_of_levels(proved):
    assert isinstance(recheck(proved), Accepted)
    assert check(carried, "9/10").status == "refuted"


@pytest.mark.parametrize("size", selected([None, 8, 16, 64], 1))
def test_trees_of_sums_with_a_known_number_of_levels(size):
    assert check(four_levels, size=size).status == "proved"


@pytest.mark.parametrize("f", [binary_mechanism_forgotten_level, exact_leaf, leaf_again, moved_twice, by_data])
def test_broken_ones_are_not_proved(f):
    assert check(f, time_limit=patience(8)).status != "proved"


def test_a_list_that_is_too_short_by_noise_is_told():
    with pytest.raises(LanguageError, match="IndexError"):
        check(fails_by_noise)


def centers(f, q, levels):
    _, drawn = record_run(lambda: run_once(f, {"q": q, "levels": levels}), lambda law: Fraction(law.center))
    return [(Fraction(law.center), Fraction(law.scale)) for law, _ in drawn]


@pytest.mark.parametrize("f", [carried, binary_mechanism])
def test_what_one_value_moves_is_what_is_proved(f):
    """Who sees every noisy sum loses the sum of all moves over their scales: at most 1, and not less."""
    most = Fraction(0)
    for size in range(8):
        for changed in range(size):
            left, right = [0] * size, [0] * size
            right[changed] = 1
            pairs = zip(centers(f, left, 3), centers(f, right, 3), strict=True)
            most = max(most, sum(abs(a - b) / scale for (a, scale), (b, _) in pairs))
    assert most == 1


def changed_certificates(certificate):
    fewer = copy.deepcopy(certificate)
    fewer["evidence"]["places"] = 3 - fewer["evidence"].get("places", 1)
    yield fewer
    less = copy.deepcopy(certificate)
    less["evidence"]["bounds"][-1]["factor"] = "9/10"
    yield less
    code = certificate["question"]["code"]
    for at, step in enumerate(code):
        if step[0] == "put":
            uncleared = copy.deepcopy(certificate)
            uncleared["question"]["code"][at] = ["jump", at + 1]
            if step[1] == "alpha" and step[3] != ["variable", "carry"]:
                yield uncleared
        if step[0] == "sample":
            louder = copy.deepcopy(certificate)
            louder["question"]["code"][at][4]["factor"] = "1/2"
            yield louder
        if step[0] == "fill" and step[1] == "alpha":
            longer = copy.deepcopy(certificate)
            longer["question"]["code"][at][2] = ["+", step[2], ["int", 1]]
            yield longer


def test_certificates_that_are_changed_are_rejected(proved):
    certificate = copy.deepcopy(proved)
    # without the source, so that the instructions count alone
    del certificate["question"]["source"]
    assert isinstance(recheck(certificate), Accepted)
    changed = list(changed_certificates(certificate))
    assert len(changed) >= 5
    for each in changed:
        assert not isinstance(recheck(each), Accepted)


@pytest.mark.parametrize("seed", selected(range(60), 10))
def test_differences_of_lists_are_what_they_are(seed):
    """The places and distances against two lists that are written entry by entry."""
    chance = random.Random(seed)
    places = chance.choice((1, 2))
    count = chance.randint(1, 4)
    one, two = [0] * count, [0] * count
    kept = equal_entries_list("int", z3.IntVal(count), places)

    def told(index):
        return z3.simplify(kept.entry(kept.index(z3.IntVal(index)))).as_long()

    for _ in spread(range(40), 12):
        value, gap = chance.randint(-3, 3), chance.choice((0, 0, 0, 1, -2))
        index = chance.randint(-len(one), len(one) - 1)
        more = chance.random() < 0.2
        made, room = (
            kept.with_more(z3.IntVal(gap)) if more else kept.with_entry(kept.index(z3.IntVal(index)), z3.IntVal(gap))
        )
        mine, theirs = list(one), list(two)
        if more:
            mine.append(value)
            theirs.append(value + gap)
        else:
            mine[index], theirs[index] = value, value + gap
        assert z3.is_true(z3.simplify(room)) == (sum(a != b for a, b in zip(mine, theirs, strict=True)) <= places)
        if not z3.is_true(z3.simplify(room)):
            continue
        kept, one, two = made, mine, theirs
        assert [told(i) for i in range(len(one))] == [b - a for a, b in zip(one, two, strict=True)]
        low, high = sorted((chance.randint(-2, 5), chance.randint(-2, 5)))
        ends = [kept.index(z3.IntVal(end)) for end in (low, high)]
        assert z3.simplify(kept.part(*ends)).as_long() == sum(two[low:high]) - sum(one[low:high]) or low < -len(one)


def test_lists_with_two_names_are_left():
    @mechanism
    def aliased(q: real_queries()):
        xs = [0] * 3
        ys = xs
        for x in q:
            ys[0] = ys[0] + x
        return laplace(xs[0] + ys[1], scale=1)

    assert not kept_names(aliased.translated.body, aliased)
