"""Song, Wang and Chaudhuri 2017, the electricity table: relative histogram of 51 power levels over a million minutes.

The data are not ours to ship; a synthetic chain of the same shape (a household that mostly stays at its level, drifts to the next
ones and now and then jumps) shows the same magnitudes: published for epsilon = 0.2, 1, 5 are 0.3369, 0.0614, 0.0113 by the spectral
gap, 0.1298, 0.0188, 0.0022 exactly, and about 102/epsilon for group privacy.
"""

from __future__ import annotations

import numpy as np
import pytest

from privproof.release import Chain, calibrate, histogram

STATES, LENGTH = 51, 1_050_000


@pytest.fixture(scope="module")
def household():
    levels = np.exp(-np.arange(STATES) / 6.0)
    matrix = np.zeros((STATES, STATES))
    for i in range(STATES):
        beside = [j for j in (i - 1, i + 1) if 0 <= j < STATES]
        matrix[i, i] += 0.85
        matrix[i, beside] += 0.05 / len(beside)
        matrix[i] += 0.1 * levels / levels.sum()
    return Chain.from_floats(matrix)


@pytest.mark.parametrize(
    ("epsilon", "spectral", "exact"), [("1/5", 0.3369, 0.1298), (1, 0.0614, 0.0188), (5, 0.0113, 0.0022)]
)
def test_the_errors_have_the_published_magnitude(household, epsilon, spectral, exact):
    query = histogram(household.states, relative=True)

    def error(method):
        made = calibrate(household, length=LENGTH, query=query, epsilon=epsilon, method=method, noise="laplace")
        return float(made.expected_error)

    found, by_gap, group = error("quilt"), error("spectral"), error("group")
    assert exact / 2.5 < found < exact * 2.5
    assert spectral / 2.5 < by_gap < spectral * 2.5
    assert found < by_gap < group
    assert group == pytest.approx(102 / float(eval(str(epsilon))), rel=1e-9)


def test_ghosh_and_kleinberg_does_not_apply(household):
    from privproof.errors import QuestionError

    with pytest.raises(QuestionError, match="influence each other too much"):
        calibrate(household, length=1000, query=histogram(household.states), epsilon=1, method="gk16")
