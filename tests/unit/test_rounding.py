"""Where rounding decides, the function that runs is not the one on real numbers: it gets no proof."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

from privproof import check, integer
from privproof.compiling.rounding import alike
from privproof.errors import LanguageError


def noisy(x):
    return x + np.random.laplace(0, 1)


def swallowed(x: integer(0, 1)):
    y = noisy(x)
    return x if y + 1e30 == 1e30 else y


def overflowing(x: integer(0, 1)):
    y = noisy(x)
    return x if (y * 1e308) * 1e308 in (math.inf, -math.inf) else y


def lost_digits(x: integer(0, 1)):
    y = noisy(x)
    return x if (0.1 + y) - y != 0.1 else y


def harmless(x: integer(0, 1)):
    y = noisy(x)
    return [y, y * 3 / 3, min(max(y, 0), 1)] if y > 0.5 else "low"


@pytest.mark.parametrize("function", [swallowed, overflowing, lost_digits], ids=lambda each: each.__name__)
def test_a_test_that_rounding_decides_is_refused(function):
    with pytest.raises(LanguageError, match="rounding decides") as refusal:
        check(function, 1)
    assert refusal.value.code == "rounding"


def test_ordinary_functions_are_not_held_up():
    assert check(harmless, "1.01").status == "proved"


def test_outputs_that_are_alike():
    assert alike([0.1, None, "a"], [Fraction(1, 10), None, "b"])
    assert alike({"a": 1e20}, {"a": 10**20 + 1})
    assert not alike(0, Fraction(1, 3))
    assert not alike([1], [1, 2])
    assert not alike("a", 1)
    assert not alike(math.inf, 5)
