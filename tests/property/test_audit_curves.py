"""Lower confidence bounds of audits stay below the exact curve, for every mechanism of the library.

All bounds of one audit hold together but with a probability of 1 - `CONFIDENCE`: over the whole library less than one audit in a hundred
runs of all is expected to be wrong.  The seeds are fixed.  A bound is about the two data sets on which its event was counted, so it is
compared with the exact delta of these two: the function is run as it is, on the one or the other.  Where that is not enclosed, with a
delta or an epsilon that is proved for all neighbours.

    python -m tests.property.test_audit_curves FILE    all of the library, a line for each; what FILE holds already is not done again
"""

from __future__ import annotations

import json
import math
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

import pytest

from privproof import (
    Audit,
    Horizon,
    Mechanism,
    PrivproofError,
    audit,
    gaussian,
    integer,
    laplace,
    mechanism,
    records,
    smallest_delta,
    tight_epsilon,
)
from privproof.audits.sampling.adjacent_data import Adjacent
from privproof.library.library_examples import EXAMPLES

CONFIDENCE = "0.9999"
SAMPLES = 4_000
SIZE = 2
PATIENCE = 20
"""Seconds that the exact side may take for one number."""
CLAIM = ("0.3", "0.02")
CURVE = ("0.1", "1")
NARROW = 1e-3
"""An enclosure of the exact delta that is wider is a bound and no value."""
SLACK = 1e-9
"""Bounds of audits are floats."""

QUICK = ("delta-gaussian-count", "permute-and-flip", "stream-falling")
"""What is audited in the suite; each of the others takes a second or more."""
AUDITED = {example.name: example.mechanism for example in EXAMPLES if example.mechanism is not None}


@dataclass(frozen=True)
class Compared:
    """A bound of an audit beside the exact delta: never above it.

    Attributes:
        bound: the lower bound on delta.
        exact: no delta at this epsilon is larger.
        source: whether that is the value of the two data sets, a bound on it, what is proved for all neighbours, or nothing at all.
    """

    epsilon: str
    bound: float
    exact: float
    source: str

    @property
    def agrees(self) -> bool:
        return self.bound <= self.exact + SLACK


def size_of(subject: Mechanism) -> int | None:
    opened = [d for d in subject.inputs.values() if d.shape == "list" and d.size is None]
    return SIZE if opened else None


def delta_of_a_pair(subject: Mechanism, pair: Adjacent, epsilon: str) -> tuple[float, float]:
    """The exact delta of two data sets, enclosed."""

    def side_of_a_pair(side):
        data = pair.left if side == 0 else pair.right
        return subject.function(
            **{name: list(value) if isinstance(value, list) else value for name, value in data.items()}
        )

    found = smallest_delta(side_of_a_pair, epsilon, side=integer(0, 1), time_limit=PATIENCE)
    return float(found.lower), float(found.upper)


def delta_of_all(subject: Mechanism, epsilon: str) -> float | None:
    """No delta at this epsilon is larger, of any neighbours of this size: exactly, or from a proof of an epsilon alone; None if unknown."""
    within = {"size": size_of(subject)} if subject.stream is None else {"horizon": Horizon.up_to(SIZE)}
    with suppress(PrivproofError):
        return float(smallest_delta(subject, epsilon, time_limit=PATIENCE, **within).upper)
    for asked in (within, {}):
        try:
            pure = tight_epsilon(subject, time_limit=PATIENCE, **asked)
        except PrivproofError:
            continue
        if pure.status == "proved" and not pure.upper.infinite:
            top, at = math.exp(float(pure.upper.ball(64).mid())), math.exp(float(Fraction(epsilon)))
            return max(0.0, (top - at) / (1 + top))  # of randomised response, the worst with this epsilon
    return None


def exact_delta(subject: Mechanism, pair: Adjacent | None, epsilon: str) -> tuple[float, str]:
    """What a bound may not exceed, and where that is from."""
    low, high = 0.0, 1.0
    if pair is not None:
        with suppress(PrivproofError):
            low, high = delta_of_a_pair(subject, pair, epsilon)
        if high - low < NARROW:
            return high, "pair"
    every = delta_of_all(subject, epsilon)
    if every is not None and every < high:
        return every, "all neighbours"
    return high, "bounded" if high < 1 else "nothing"


def bounds_of_an_audit(subject: Mechanism, found: Audit) -> Iterator[Compared]:
    """The bounds of an audit beside the exact curve.

    A lower bound e on the smallest epsilon at delta says that a little below e the exact delta is not smaller.
    """
    points = [(CLAIM[0], found.delta, found.delta_count)]
    points += [(str(point.epsilon), point.at_least, point.count) for point in found.deltas]
    if math.isfinite(found.epsilon) and found.epsilon > 0:
        points.append((f"{max(0.0, found.epsilon - SLACK):.12f}", float(found.budget.delta), found.count))
    for epsilon, bound, count in points:
        if bound > 0:  # 0 says nothing
            yield Compared(epsilon, bound, *exact_delta(subject, None if count is None else count.pair, epsilon))


def audited(subject: Mechanism, seed: int = 17) -> Audit:
    size = size_of(subject) if subject.stream is None else SIZE
    options = {"size": size, "samples": SAMPLES, "confidence": CONFIDENCE, "seed": seed, "exact": False}
    return audit(subject, *CLAIM, curve=CURVE, **options)


@pytest.mark.parametrize(
    "name", [name if name in QUICK else pytest.param(name, marks=pytest.mark.slow) for name in sorted(AUDITED)]
)
def test_audits_stay_below_the_exact_curve(name):
    compared = list(bounds_of_an_audit(AUDITED[name], audited(AUDITED[name])))
    for each in compared:
        assert each.agrees, each
    if all(each.source == "nothing" for each in compared):
        pytest.skip("nothing is known from above" if compared else "the runs say nothing")


def test_a_bound_above_the_curve_is_seen():
    """A curve of half the truth is exceeded."""
    subject = AUDITED["permute-and-flip"]
    found = audited(subject)
    assert any(
        not Compared(each.epsilon, each.bound, each.exact / 2, each.source).agrees
        for each in bounds_of_an_audit(subject, found)
    )


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
    exact = delta_of_all(subject, epsilon)
    mild = audit(subject, epsilon, delta, size=SIZE, samples=SAMPLES, confidence=CONFIDENCE, seed=3, exact=False)
    assert mild.delta <= exact + SLACK
    if exact > 0.02:
        low = audit(subject, epsilon, "0.001", size=SIZE, samples=40_000, confidence="0.99", seed=1, exact=False)
        assert low.violated
        assert low.delta > exact / 2
    high = audit(
        subject, epsilon, f"{exact + 0.02:.6f}", size=SIZE, samples=10_000, confidence="0.99", seed=1, exact=False
    )
    assert not high.violated


def main(file: Path) -> None:
    """The whole library, mechanism by mechanism, and what it comes to."""
    known = {}
    for line in file.read_text().splitlines() if file.exists() else ():
        known.update(json.loads(line))
    for name in sorted(AUDITED.keys() - known.keys()):
        compared = bounds_of_an_audit(AUDITED[name], audited(AUDITED[name]))
        known[name] = [(each.epsilon, each.bound, each.exact, each.source, each.agrees) for each in compared]
        with file.open("a") as stream:
            stream.write(json.dumps({name: known[name]}) + "\n")
    every = [bound for bounds in known.values() for bound in bounds]
    print(f"{len(known)} mechanisms, {sum(not bounds for bounds in known.values())} of which the runs say nothing")
    print(f"{len(every)} bounds: {dict(Counter(bound[3] for bound in every))}")
    print(f"above the exact curve: {[name for name, bounds in known.items() if not all(bound[4] for bound in bounds)]}")
    print(
        f"nothing known from above: {sorted(name for name, bounds in known.items() if any(b[3] == 'nothing' for b in bounds))}"
    )


if __name__ == "__main__":
    main(Path(sys.argv[1]))
