"""Attacks on functions that are run as they are: none gets a verdict that is not true."""

from __future__ import annotations

import datetime
import gc
import math
import random
import secrets
import sqlite3
import sys

import numpy as np
import pytest
from tests.conformance.ordinary import attacks

from privproof import PrivproofError, check, integer, records
from privproof.engines.runs.runs_measures import share
from privproof.language.recognition import controlled_libraries
from privproof.language.trees import leaves


def verdict(function, claimed):
    """What is said of a function of one bit; that it is refused, where it is."""
    try:
        return check(function, claimed, inputs={"bit": integer(0, 1)}, engine="runs").status
    except PrivproofError:
        return "refused"


def name(function):
    return getattr(function, "__name__", type(function).__name__)


@pytest.mark.parametrize("function", attacks.LEAKS, ids=name)
def test_what_leaks_is_not_proved(function):
    assert verdict(function, "1/100") in ("refuted", "refused", "unknown")


@pytest.mark.parametrize("function", attacks.ONE, ids=name)
def test_what_has_epsilon_one_is_neither_refuted_nor_proved_below(function):
    assert verdict(function, "99/100") != "proved"
    assert verdict(function, 1) in ("proved", "refused", "unknown")


@pytest.mark.parametrize("function", attacks.EVEN, ids=name)
def test_what_shows_the_same_is_not_refuted(function):
    assert verdict(function, 0) in ("proved", "unknown")


@pytest.mark.parametrize(
    ("ask", "said"),
    [
        (lambda: datetime.datetime.now(tz=datetime.UTC).microsecond, "the time"),
        (lambda: id([]), "memory"),
        (lambda: hash("a text"), "a hash"),
        (lambda: sum(gc.get_count()), "memory"),
        (lambda: sqlite3.connect(":memory:").total_changes, "a database"),
        (lambda: sys._getframe(1).f_lineno, "what has called it"),
    ],
)
def test_what_a_function_asks_for_is_said_with_its_line(ask, said):
    def rarely(bit):
        return bit if ask() == -1 else 0

    told = " ".join(check(rarely, 0, inputs={"bit": integer(0, 1)}, engine="runs").notes)
    assert f"line {ask.__code__.co_firstlineno})" in told
    assert said in told


LIMIT, count = 3, "not what data.count is"


def limited(data):
    return min(data.count(1), LIMIT)


def test_what_a_verdict_relies_on_are_the_values_that_are_read():
    notes = check(limited, 9, data=records(0, 1), size=1, engine="runs").notes
    assert [note for note in notes if "relies" in note] == ["it relies on LIMIT = 3"]


@pytest.mark.parametrize(("delta", "status"), [("1/10", "refuted"), ("1/2", "proved")])
def test_a_delta_over_events_with_a_root_in_epsilon(delta, status):
    def response(bit):
        return bit if random.random() < 0.75 else 1 - bit

    assert check(response, "ln(3)/2", delta, inputs={"bit": integer(0, 1)}, engine="runs").status == status


# ------------------------------------------------------------------------------------------------------------ libraries

GENERATOR, LEGACY = np.random.default_rng(1), np.random.RandomState(2)
OWN = random.Random(3)
DRAWS = [
    lambda: OWN.random() < 0.3,
    lambda: OWN.uniform(-1, 3) > 1.5,
    lambda: OWN.expovariate(2) > 0.4,
    lambda: OWN.choices("abc", cum_weights=[1, 3, 4])[0] == "b",
    lambda: OWN.sample(range(4), 2) == [2, 0],
    lambda: OWN.shuffle(order := [1, 2, 3]) or order[0] == 2,
    lambda: OWN.randrange(1, 8, 3) == 4,
    lambda: OWN.getrandbits(3) > 4,
    lambda: OWN.choice((0, 1, 1)) == 1,
    lambda: round(OWN.uniform(0, 2)) == 1,
    lambda: math.ceil(3 * OWN.random() - 1) == 1,
    lambda: int(4 * OWN.random() - 2) == 0,
    lambda: secrets.randbelow(5) < 2,
    lambda: secrets.choice([1, 2, 3]) == 3,
    lambda: secrets.randbits(2) == 3,
    lambda: GENERATOR.laplace(1, 2) > 0.3,
    lambda: GENERATOR.laplace(scale=0.5, size=(2, 2))[1, 0] > 0.25,
    lambda: GENERATOR.laplace([0, 1], [[1], [2]])[1, 1] > 2,
    lambda: GENERATOR.exponential(2) > 1,
    lambda: GENERATOR.standard_exponential(3)[2] < 0.5,
    lambda: GENERATOR.uniform(1, [2, 3], size=2)[1] < 1.7,
    lambda: GENERATOR.random((1, 2))[0, 1] > 0.2,
    lambda: GENERATOR.integers(2, 5, endpoint=True) == 5,
    lambda: GENERATOR.integers([2, 4])[1] == 3,
    lambda: GENERATOR.integers(0, 2, size=2, dtype=bool)[0],
    lambda: GENERATOR.binomial(3, 0.25) == 1,
    lambda: GENERATOR.binomial([1, 2], 0.5)[1] == 2,
    lambda: GENERATOR.choice(3, p=[0.5, 0.25, 0.25]) == 2,
    lambda: GENERATOR.choice([[1, 2], [3, 4]], size=2)[1, 0] == 3,
    lambda: list(GENERATOR.choice(3, size=2, replace=False)) == [2, 0],
    lambda: list(GENERATOR.permutation(3)) == [2, 0, 1],
    lambda: GENERATOR.shuffle(order := np.arange(3)) or order[0] == 2,
    lambda: LEGACY.randint(3) == 2,
    lambda: LEGACY.rand(2)[1] < 0.4,
    lambda: LEGACY.random_sample() > 0.9,
    lambda: LEGACY.laplace(size=2).sum() > 0.5,
    lambda: LEGACY.choice(["a", "b"], p=[0.2, 0.8]) == "a",
]
SAMPLES = 2500
"""Enough to tell distributions apart that differ by a twentieth."""
FAR = 6
"""So many standard deviations from what is expected are no chance."""


@pytest.mark.parametrize("number", range(len(DRAWS)))
def test_real_draws_are_as_likely_as_the_runs_say(number):
    draw = DRAWS[number]
    with controlled_libraries(globals()):
        ways = leaves(draw)
    chance = sum(float(share(leaf).ball(1, 64).mid()) for leaf in ways if "True" in leaf.outcome.text)
    seen = sum(bool(draw()) for _ in range(SAMPLES)) / SAMPLES
    assert abs(seen - chance) <= FAR * math.sqrt(chance * (1 - chance) / SAMPLES) + 1 / SAMPLES


def test_scipy_draws_as_it_names():
    stats = pytest.importorskip("scipy.stats")
    made = {
        "laplace": (lambda: stats.laplace.rvs(0, 2, 3)[2] > 1, 0.5 * math.exp(-0.5)),
        "expon": (lambda: stats.expon.rvs(loc=1, scale=2, size=1)[0] > 2, math.exp(-0.5)),
        "randint": (lambda: stats.randint.rvs(0, 4, loc=5) == 6, 0.25),
        "binom": (lambda: stats.binom(2, 0.5).rvs() == 2, 0.25),
        "uniform": (lambda: stats.uniform.rvs(1, 2) < 1.5, 0.25),
    }
    for draw, chance in made.values():
        with controlled_libraries(globals()):
            ways = leaves(draw)
        found = sum(float(share(leaf).ball(1, 64).mid()) for leaf in ways if "True" in leaf.outcome.text)
        assert found == pytest.approx(chance)
