"""Potentials: a delta for each output, for words of every length."""

from __future__ import annotations

from fractions import Fraction

import pytest
from tests.certificates import recheck

from privproof import Horizon, check
from privproof.compiling import word_problem
from privproof.engines.words.word_potentials import potential_of
from privproof.engines.words.word_vectors import Reached
from privproof.exact import rational
from privproof.library.above_threshold import above_threshold
from privproof_checker import Accepted


@pytest.fixture(scope="module")
def found():
    """A potential of above threshold over 0..2, with its generators made."""
    problem = word_problem(above_threshold()).problem
    potential = potential_of(problem, rational(1), rational("2/5"))
    for location, place in enumerate(problem.locations):
        assert list(potential.generators(location, place.left_size, place.right_size))
    return problem, potential


def test_a_delta_for_every_length_is_proved_and_a_smaller_one_refuted():
    for delta, status in (("2/5", "proved"), ("1/4", "refuted")):
        verdict = check(above_threshold(), 0, delta, pointwise=True, horizon=Horizon.unbounded())
        assert verdict.status == status
        assert isinstance(recheck(verdict.certificate), Accepted)


def test_small_masses_are_covered_and_large_ones_are_not(found):
    problem, potential = found
    start = problem.starts[0]
    size = problem.locations[start.location].left_size
    small = Reached((1,) * size, (0,) * size, 100 * size, 0)
    large = Reached((1,) * size, (0,) * size, size, 0)
    assert potential.cover(start.location, small) is not None
    assert potential.cover(start.location, large) is None


def test_numbers_beyond_any_float(found):
    """After long words the integers of a vector have hundreds of digits, and so may their quotients."""
    problem, potential = found
    start = problem.starts[0]
    size = problem.locations[start.location].left_size
    huge = Reached((10**400,) * size, (10**900,) + (0,) * (size - 1), 100 * size * 10**400, 0)
    covered = potential.cover(start.location, huge)
    assert covered is not None
    assert sum((factor for _, factor in covered.by), Fraction(0)) > 0
