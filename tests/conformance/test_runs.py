"""Functions that are run as they are: ordinary code gets the verdict that is true of it, and hidden state gets none."""

from __future__ import annotations

import copy
import ctypes
import functools
import itertools
import json
import random
import time
from fractions import Fraction

import numpy as np
import pytest
from tests.certificates import recheck
from tests.conformance.ordinary.idioms import CASES

from privproof import LanguageError, check, integer, one_of, records, tight_epsilon
from privproof.exact import epsilon
from privproof.language.trees import leaves, shares
from privproof_checker import Accepted


@pytest.mark.parametrize("case", CASES, ids=lambda case: getattr(case[0], "__name__", "?"))
def test_ordinary_code_gets_its_verdict(case):
    function, inputs, claimed, size, status = case
    verdict = check(function, claimed, size=size, inputs=inputs, engine="runs")
    assert verdict.status == status
    assert verdict.engine == "runs"
    assert isinstance(recheck(json.loads(json.dumps(verdict.certificate))), Accepted)


# -------------------------------------------------------------------------------------------------------- hidden state

KEPT = []
COUNTER = itertools.count()
RNG = random.Random(3)


class Remembering:
    seen = 0

    def __call__(self, bit):
        Remembering.seen += 1
        return bit if Remembering.seen > 40 else random.getrandbits(1)


def grows(bit):
    KEPT.append(bit)
    return random.getrandbits(1)


def counts(bit):
    return bit if next(COUNTER) > 1000 else random.getrandbits(1)


def default_that_grows(bit, before=[]):  # noqa: B006
    before.append(bit)
    return random.getrandbits(1)


@functools.lru_cache
def cached(bit):
    return bit if random.random() < 0.75 else 1 - bit


def asks_a_cache(bit):
    return cached(bit)


def asks_the_time(bit):
    return bit if time.perf_counter_ns() % 2 else 1 - bit


def attribute_of_itself(bit):
    attribute_of_itself.calls = getattr(attribute_of_itself, "calls", 0) + 1
    return random.getrandbits(1)


def _alive():
    while True:
        yield random.random() < 0.75


ALIVE = _alive()


def generator_kept_alive(bit):
    return bit if next(ALIVE) else 1 - bit


def closure_that_counts():
    calls = 0

    def inner(bit):
        nonlocal calls
        calls += 1
        return bit if calls > 10**6 else random.getrandbits(1)

    return inner


def hidden_generator(bit, sources=({"rng": np.random.default_rng(1)},)):  # noqa: B008
    return bit if sources[0]["rng"].random() < 0.5 else 0


def coin_of_another_library(bit):
    return bit if ctypes.CDLL(None).rand() % 4 else 1 - bit


@pytest.mark.parametrize(
    "function",
    [
        *(Remembering(), grows, counts, default_that_grows, asks_a_cache, asks_the_time, attribute_of_itself),
        *(generator_kept_alive, closure_that_counts(), hidden_generator, coin_of_another_library),
    ],
    ids=lambda f: getattr(f, "__name__", type(f).__name__),
)
def test_what_is_kept_from_run_to_run_is_found_and_named(function):
    with pytest.raises(LanguageError) as caught:
        check(function, "ln(3)", bit=one_of(0, 1))
    assert caught.value.code == "hidden"
    assert caught.value.hint


def test_noise_of_opendp_is_refused_by_name():
    dp = pytest.importorskip("opendp.prelude")
    dp.enable_features("contrib")
    flip = dp.m.make_randomized_response_bool(0.999)

    def f(bit):
        return flip(bit)

    with pytest.raises(LanguageError, match="OpenDP"):
        check(f, 1, bit=one_of(True, False))


def test_a_generator_of_random_numbers_in_a_module_is_recognised():
    def f(bit):
        return bit if RNG.random() < 0.75 else 1 - bit

    assert tight_epsilon(f, bit=one_of(0, 1), engine="runs").tight == epsilon("ln(3)")


# ------------------------------------------------------------------------------------------------------------ libraries

DRAWS = {
    "random.random": (lambda: random.random() < 0.25, {"True": Fraction(1, 4), "False": Fraction(3, 4)}),
    "random.uniform": (lambda: random.uniform(1, 3) < 2.5, {"True": Fraction(3, 4), "False": Fraction(1, 4)}),
    "int of random": (lambda: int(random.random() * 3), {str(k): Fraction(1, 3) for k in range(3)}),
    "random.randint": (lambda: random.randint(1, 3), {str(k): Fraction(1, 3) for k in (1, 2, 3)}),
    "random.randrange": (lambda: random.randrange(0, 6, 2), {str(k): Fraction(1, 3) for k in (0, 2, 4)}),
    "random.choice": (lambda: random.choice("ab"), {"'a'": Fraction(1, 2), "'b'": Fraction(1, 2)}),
    "random.choices": (lambda: random.choices([1, 2], weights=[1, 3])[0], {"1": Fraction(1, 4), "2": Fraction(3, 4)}),
    "random.sample": (lambda: sorted(random.sample([1, 2, 3], 2))[0], {"1": Fraction(2, 3), "2": Fraction(1, 3)}),
    "random.getrandbits": (lambda: random.getrandbits(1), {"0": Fraction(1, 2), "1": Fraction(1, 2)}),
    "np.random.rand": (lambda: np.random.rand() < 0.5, {"True": Fraction(1, 2), "False": Fraction(1, 2)}),
    "np.random.randint": (lambda: np.random.randint(2), {"0": Fraction(1, 2), "1": Fraction(1, 2)}),
    "np.random.binomial": (
        lambda: np.random.binomial(2, 0.5),
        {"0": Fraction(1, 4), "1": Fraction(1, 2), "2": Fraction(1, 4)},
    ),
    "a new generator": (lambda: np.random.default_rng().integers(2), {"0": Fraction(1, 2), "1": Fraction(1, 2)}),
    "np choice": (lambda: int(np.random.choice(2, p=[0.25, 0.75])), {"0": Fraction(1, 4), "1": Fraction(3, 4)}),
    "np permutation": (
        lambda: np.random.permutation(2)[0] == 0,
        {"np.True_": Fraction(1, 2), "np.False_": Fraction(1, 2)},
    ),
}


@pytest.mark.parametrize("name", DRAWS)
def test_libraries_draw_from_the_distribution_that_they_name(name):
    from privproof.language.recognition import controlled_libraries

    draw, expected = DRAWS[name]
    with controlled_libraries(globals()):
        found = dict(shares(leaves(draw)))
    assert found == expected


def test_what_looks_at_the_text_of_noise_is_refused():
    def sign(x):
        text = f"{x + np.random.laplace()}"
        return text.startswith("-")

    with pytest.raises(LanguageError, match="text of a noisy number"):
        check(sign, 1, x=integer(0, 1), engine="runs")
    assert check(sign, 1, x=integer(0, 1)).engine == "laplace"  # read, it is a function of the number and no more


def test_a_claim_that_is_missed_by_rounding_alone_is_told():
    def mean(data):
        return sum(data) / 3 + np.random.laplace(0, 1 / 3)

    verdict = check(mean, 1, data=records(0, 1), size=3)
    assert verdict.status == "refuted"
    assert any("how floats in the function are rounded" in note for note in verdict.notes)
    assert check(mean, "1.000001", data=records(0, 1), size=3).status == "proved"


def test_nothing_is_left_replaced_afterwards():
    before = (random.random, np.random.laplace, np.zeros, print, random.Random.random)
    check(CASES[0][0], 1, inputs=CASES[0][1], size=1, engine="runs")
    assert (random.random, np.random.laplace, np.zeros, print, random.Random.random) == before


# --------------------------------------------------------------------------------------------------------- certificates


def _places(value, way=()):
    if isinstance(value, dict):
        for key, each in value.items():
            yield from _places(each, (*way, key))
    elif isinstance(value, list):
        for number, each in enumerate(value):
            yield from _places(each, (*way, number))
    else:
        yield way


@pytest.mark.parametrize("number", [0, 6, 8, 12, 20])
def test_a_changed_certificate_is_rejected_or_still_true(number):
    """No change of one number may turn a proof into one of less than the loss that is known."""
    function, inputs, _, size, _ = CASES[number]
    verdict = tight_epsilon(function, size=size or 1, inputs=inputs, engine="runs")
    document = json.loads(json.dumps(verdict.certificate))
    chance = random.Random(number)
    places = list(_places(document))
    for way in chance.sample(places, min(60, len(places))):
        changed = copy.deepcopy(document)
        inside = changed
        for step in way[:-1]:
            inside = inside[step]
        old = inside[way[-1]]
        if isinstance(old, bool):
            inside[way[-1]] = not old
        elif isinstance(old, int):
            inside[way[-1]] = old + 1
        elif isinstance(old, str) and old.lstrip("-").replace("/", "").isdigit():
            inside[way[-1]] = str(Fraction(old) / 2 + 1)
        else:
            continue
        outcome = recheck(changed)
        if isinstance(outcome, Accepted) and way[0] != "question":
            assert outcome.upper is None or outcome.upper.compare(verdict.lower) >= 0, way


# ------------------------------------------------------------------------------------------------- added and removed records


def _sum(data):
    return sum(data) + np.random.laplace(0, 1)


def _length(data):
    return len(data) + np.random.laplace(0, 1)


def _cells(data):
    return [data.count(k) + np.random.laplace(0, 1) for k in (0, 1)]


def _mean(data):
    return sum(data) / len(data) + np.random.laplace(0, 1)


@pytest.mark.parametrize(
    ("function", "added", "replaced"),
    [(_sum, "1", "1"), (_length, "1", "0"), (_cells, "1", "2"), (_mean, "inf", "1")],
    ids=["sum", "length", "cells", "mean"],
)
def test_neighbours_may_have_different_lengths(function, added, replaced):
    found = tight_epsilon(function, data=records(0, 1), neighbours="add-remove")
    assert found.lower == epsilon(added)
    assert tight_epsilon(function, data=records(0, 1), size=1).tight == epsilon(replaced)
    if found.status == "proved":
        assert found.tight == epsilon(added)
        document = json.loads(json.dumps(found.certificate))
        document["question"]["relation"] = "one"
        assert not isinstance(recheck(document), Accepted)
