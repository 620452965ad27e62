"""``np.random.geometric(p) - np.random.geometric(p)`` is two-sided geometric noise."""

import numpy as np
import pytest
from scipy import stats

from privproof import check, records, tight_epsilon
from privproof.errors import LanguageError

rng = np.random.default_rng()


def in_one_line(data):
    return sum(data) + np.random.geometric(0.5) - np.random.geometric(0.5)


def noise_first(data):
    noise = rng.geometric(p=0.5) - rng.geometric(p=0.5)
    return int(data.count(1) + noise)


@pytest.mark.parametrize("function", [in_one_line, noise_first])
def test_every_length(function):
    found = tight_epsilon(function, data=records(0, 1))
    assert str(found.tight) == "ln(2)"
    assert "every length" in str(found)


def by_scipy(data):
    return sum(data) + stats.geom.rvs(0.5) - stats.geom.rvs(0.5)


def two_names(data):
    p = 0.5
    first = rng.geometric(p)
    second = rng.geometric(p)
    return sum(data) + first - second


def in_arrays(data):
    return np.array([sum(data)]) + rng.geometric(0.5, size=1) - rng.geometric(0.5, size=1)


@pytest.mark.parametrize("function", [by_scipy, two_names, in_arrays])
def test_run_as_it_is(function):
    assert str(tight_epsilon(function, data=records(0, 1), size=2).tight) == "ln(2)"


def one_sided(data):
    return sum(data) + rng.geometric(0.5)


def used_twice(data):
    first = rng.geometric(0.5)
    return sum(data) + first - rng.geometric(0.5), first - rng.geometric(0.5)


def different(data):
    return sum(data) + rng.geometric(0.5) - rng.geometric(0.25)


@pytest.mark.parametrize("function", [one_sided, used_twice, different])
def test_anything_else_is_refused_with_the_way_out(function):
    with pytest.raises(LanguageError, match="one-sided geometric noise") as refused:
        check(function, epsilon=1, data=records(0, 1))
    assert "geometric(p) - " in str(refused.value)
    assert "test_two_sided.py" in str(refused.value)
