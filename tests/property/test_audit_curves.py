"""Lower confidence bounds of audits stay below the exact curve, for every mechanism of the library, with and without a delta.

An audit is wrong with a probability of at most 1 - `CONFIDENCE`; over all mechanisms and both claims of each fewer than one is expected
in a hundred runs of the whole.  The seeds are fixed.
"""

from __future__ import annotations

import math
from fractions import Fraction

import pytest

from privproof import (
    Mechanism,
    PrivproofError,
    audit,
    gaussian,
    laplace,
    mechanism,
    records,
    smallest_delta,
    tight_epsilon,
)
from privproof.library.examples import EXAMPLES

CONFIDENCE = "0.9999"
SAMPLES = 4_000
SIZE = 2
PATIENCE = 20
"""Seconds that the exact side may take for one mechanism."""
CLAIMS = [("0.1", "0"), ("0.3", "0.02")]
SLACK = 1e-9
"""Bounds of audits are floats."""

QUICK = ("delta-gaussian-count", "permute-and-flip")
"""What is audited in the suite; each of the others takes seconds."""
AUDITED = {example.name: example.mechanism for example in EXAMPLES if example.mechanism is not None}


def size_of(subject: Mechanism) -> int | None:
    opened = [d for d in subject.inputs.values() if d.shape == "list" and d.size is None]
    return SIZE if opened else None


def exact_delta(subject: Mechanism, epsilon: str) -> float | None:
    """No delta at this epsilon is larger, of any data of this size: exactly, or from a proof of an epsilon alone; None if unknown."""
    size = size_of(subject)
    if subject.stream is None:
        try:
            return float(smallest_delta(subject, epsilon, size=size, time_limit=PATIENCE).upper)
        except PrivproofError:
            pass
    try:
        pure = tight_epsilon(subject, size=size, time_limit=PATIENCE)
    except PrivproofError:
        return None
    if pure.status != "proved" or pure.upper.infinite:
        return None
    top, at = math.exp(float(pure.upper.ball(64).mid())), math.exp(float(Fraction(epsilon)))
    return max(0.0, (top - at) / (1 + top))  # of randomised response, the worst with this epsilon


def compare(subject: Mechanism, epsilon: str, delta: str, seed: int) -> int:
    """How many bounds of an audit were compared with the exact curve."""
    size = size_of(subject) if subject.stream is None else SIZE
    options = {"size": size, "samples": SAMPLES, "confidence": CONFIDENCE, "seed": seed, "exact": False}
    found = audit(subject, epsilon, delta, **options)
    compared = 0
    high = exact_delta(subject, epsilon)
    if found.delta is not None and high is not None:
        assert found.delta <= high + SLACK, (subject.name, epsilon, found.delta, high)
        compared += 1
    if math.isfinite(found.epsilon) and found.epsilon > 0:
        # a lower bound e on the smallest epsilon at delta: a little below it the exact delta is not smaller
        needed = exact_delta(subject, f"{max(0.0, found.epsilon - SLACK):.12f}")
        if needed is not None:
            assert needed >= float(delta) - SLACK, (subject.name, delta, found.epsilon, needed)
            compared += 1
    return compared


@pytest.mark.parametrize(
    "name", [name if name in QUICK else pytest.param(name, marks=pytest.mark.slow) for name in sorted(AUDITED)]
)
def test_audits_stay_below_the_exact_curve(name):
    compared = sum(compare(AUDITED[name], epsilon, delta, 17) for epsilon, delta in CLAIMS)
    if not compared:
        pytest.skip("nothing is known from above")


@mechanism
def gaussian_count(data: records(0, 1)):
    return gaussian(sum(data), sigma=1)


@mechanism
def thresholded(data: records(0, 1)):
    noisy = laplace(sum(data), scale=1)
    return "many" if noisy > 2 else "few"


@pytest.mark.parametrize("subject", [gaussian_count, thresholded], ids=lambda each: each.name)
@pytest.mark.parametrize(("epsilon", "delta"), [("1/2", "0.05"), pytest.param("1", "0.01", marks=pytest.mark.slow)])
def test_claims_with_a_delta_are_tested_directly(subject, epsilon, delta):
    """A delta far below the exact one is spoken against, one above it is not."""
    assert compare(subject, epsilon, delta, 3) >= 1
    exact = exact_delta(subject, epsilon)
    if exact > 0.02:
        low = audit(subject, epsilon, "0.001", size=SIZE, samples=40_000, confidence="0.99", seed=1, exact=False)
        assert low.violated
        assert low.delta > exact / 2
    high = audit(
        subject, epsilon, f"{exact + 0.02:.6f}", size=SIZE, samples=10_000, confidence="0.99", seed=1, exact=False
    )
    assert not high.violated
