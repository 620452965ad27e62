"""Random functions of whole noise, run as they are: the bounds hold against a sum over all values of the noise."""

from __future__ import annotations

import math
import random
from fractions import Fraction

import pytest
from tests.amounts import examples

from privproof import PrivproofError, geometric, integer, tight_epsilon

REACH = 22
"""Values of the noise that are summed; those beyond are rarer than a millionth."""
RARE = 1e-4
"""Outputs that are rarer are not compared: what lies beyond the reach counts too much in them."""
FORMS = ("x", "x + y", "2 * x - y", "x // 2", "x % 2", "abs(x)", "max(x, y)", "(x, y > 0)", "x / 2", "x * 0", "n", "0")
TESTS = ("x > y", "x == 0", "2 * x >= 1", "x % 2 == 0", "x * x > 2", "x <= n", "not x", "x / 2 == y")


def source(number):
    chance = random.Random(number)
    first, second = chance.sample(("0", "n", "2 * n", "1 - n"), 2)
    return (
        f"lambda n, noise: (lambda x, y: ({chance.choice(FORMS)}) if {chance.choice(TESTS)} else ({chance.choice(FORMS)}))"
        f"(noise({first}), noise({second}))"
    )


def truth(made):
    """The largest loss over all outputs that are not rare."""
    rows = []
    for n in (0, 1):
        row = {}
        for i in range(-REACH, REACH + 1):
            for j in range(-REACH, REACH + 1):
                drawn = iter((i, j))
                value = made(n, lambda center, drawn=drawn: center + next(drawn))
                key = (type(value).__name__, repr(value))
                row[key] = row.get(key, 0) + 2.0 ** -(abs(i) + abs(j)) / 9
        rows.append(row)
    pairs = (rows, rows[::-1])
    return max(math.log(p / max(b.get(k, 0), 1e-12)) for a, b in pairs for k, p in a.items() if p > RARE)


@pytest.mark.parametrize("number", range(examples(60)))
def test_bounds_hold_for_random_functions(number):
    made = eval(source(number))

    def function(n):
        return made(n, lambda center: geometric(center, alpha=Fraction(1, 2)))

    try:
        found = tight_epsilon(function, inputs={"n": integer(0, 1)}, engine="runs")
    except PrivproofError:
        return
    loss = truth(made)
    if found.upper is not None and not found.upper.infinite:
        assert float(found.upper.ball().mid()) >= loss - 0.01
    if found.lower is not None:
        lower = math.inf if found.lower.infinite else float(found.lower.ball().mid())
        assert lower <= (loss + 0.01 if loss < 5 else math.inf)
