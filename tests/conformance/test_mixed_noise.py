"""Enclosures of random mechanisms with mixed noise hold what integration and runs say; proofs for every length hold at short ones."""

from __future__ import annotations

import math
import random
import warnings
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from tests.amounts import selected
from tests.conformance.mixed_noise import Made, composed, excess, make, moment

from privproof import PrivproofError, smallest_delta, tight_mu, tight_renyi, tight_rho
from privproof import composed as several
from privproof.asking import delta_curve
from privproof.compiling.runs import ran
from privproof.engines.runs.runs_divergence import LeafDivergence
from privproof.engines.search_monitor import Monitor
from privproof.errors import CertificateRefused
from privproof.exact import epsilon
from privproof.language import seeded
from privproof.loading.question_loading import load

EPSILONS = ["0", "1/4", "1/2", "1", "ln(2)", "3/2"]
NARROW = 1e-6
RUNS = 1_500
PAIRS = 24
PATIENCE = 8
"""Seconds that are given to one mechanism."""


@dataclass(frozen=True)
class Checked:
    """One enclosure beside what it should hold."""

    about: str
    low: float
    high: float
    value: float
    off: float

    @property
    def holds(self) -> bool:
        return self.low - self.off <= self.value <= self.high + self.off

    @property
    def narrow(self) -> bool:
        return self.high - self.low < NARROW


def as_float(text: str) -> float:
    return float(epsilon(text).ball(64).mid())


def enclosed_deltas(made: Made, target: str, size: int, chosen: list[str]) -> Iterator[Checked]:
    """The smallest deltas at a size."""
    question = load(target, size=size)
    for found in delta_curve(question, chosen, Monitor.within(PATIENCE)):
        value, off = made.delta(size, as_float(str(found.epsilon)))
        yield Checked(f"delta, {found.verdict.engine}", float(found.lower), float(found.upper), value, off)


def excesses_of_pairs(made: Made, target: str, size: int, at: str, rnd: random.Random) -> Iterator[Checked]:
    """The excess of one pair of neighbours after the other, from the runs of the function."""
    runs = ran(load(target, size=size, run=True).mechanism, [size])
    numbers = {data: number for number, data in enumerate(tuple(each["q"]) for each in runs.data)}
    divergence = LeafDivergence(epsilon(at).ball(96).exp())
    pairs = list(made.pairs(size))
    for left, right in rnd.sample(pairs, min(PAIRS, len(pairs))):
        found = divergence.excess(*(runs.trees[numbers[side]] for side in (left, right)))
        value, off = excess(made.law(left), made.law(right), as_float(at))
        least = max(0.0, float(found.least.lower()))
        yield Checked("excess of a pair", least, float(found.upper.upper()), value, off)


def proofs_for_every_length(made: Made, target: str, at: str) -> Iterator[Checked]:
    """A delta that is proved for every length is not contradicted at sizes up to 6."""
    found = smallest_delta(target, at, time_limit=PATIENCE)
    if found.proof is None:
        return
    every = "every length" in str(found.proof) or "every size" in str(found.proof)
    ran_at = getattr(found.proof.question, "sizes", None)  # how far runs came is a matter of time
    for size in ran_at or range(1, (7 if len(made.values) == 2 else 4) if every else 3):
        value, off = made.delta(size, as_float(at))
        yield Checked(f"delta of every length, {found.verdict.engine}", 0.0, float(found.upper), value, off)
    if found.refutation is not None and found.refutation.witness is not None:
        sides = [made.law(side["q"]) for side in (found.refutation.witness.left, found.refutation.witness.right)]
        value, off = excess(*sides, as_float(at))
        yield Checked("delta of a refutation", float(found.lower), 1.0, value, off)


def measured(made: Made, target: str, size: int) -> Iterator[Checked]:
    """Rényi divergences, rho and mu at a size."""
    laws = {q: made.law(q) for q in product(made.values, repeat=size)}

    def divergence(order: float) -> float:
        most = max(moment(laws[a], laws[b], order) for a, b in made.pairs(size))
        return math.log(max(most, 1.0)) / (order - 1)

    def ends(verdict):
        lower = float(verdict.lower.ball(64).mid()) if verdict.lower is not None else 0.0
        infinite = verdict.upper is None or verdict.upper.infinite
        return lower, math.inf if infinite else float(verdict.upper.ball(64).mid())

    for order in ("3/2", "2", "5"):
        low, high = ends(tight_renyi(target, order, size=size, time_limit=PATIENCE))
        value = divergence(float(Fraction(order)))
        yield Checked("Rényi divergence", low, high, value, 1e-5 * (1 + value))
    low, high = ends(tight_rho(target, size=size, time_limit=PATIENCE))
    rates = [divergence(order) / order for order in (1.001, 1.1, 1.5, 2.0, 4.0, 9.0)]
    yield Checked("rho", 0.0, high, max(rates), 1e-4 * (1 + max(rates)))
    many = [divergence(order) / order for order in (*np.linspace(1.0005, 3, 40), *np.linspace(3.1, 12, 40))]
    if max(many) == many[0] or max(many) in many[:-1]:
        yield Checked("rho", low, math.inf, max(many), 2e-3 * (1 + max(many)))
    low, high = ends(tight_mu(target, size=size, time_limit=PATIENCE))
    if high < math.inf:
        for e in (0.0, 0.5, 1.0, 2.0):
            value, off = made.delta(size, e)
            allowed = _normal_delta(high, e)
            yield Checked("mu", 0.0, allowed, value, off)


def _normal_delta(mu: float, e: float) -> float:
    if mu == 0:
        return 0.0
    below = lambda x: math.erfc(-x / math.sqrt(2)) / 2  # noqa: E731
    return below(mu / 2 - e / mu) - math.exp(e) * below(-mu / 2 - e / mu)


def several_uses(made: Made, target: str, size: int, at: str) -> Iterator[Checked]:
    """Two uses on the same data."""
    laws = {q: made.law(q) for q in product(made.values, repeat=size)}
    values = [composed(laws[a], laws[b], as_float(at)) for a, b in made.pairs(size)]
    if None in values:
        return
    found = smallest_delta(several(load(target, size=size), times=2), at, time_limit=PATIENCE)
    yield Checked("two uses", float(found.lower), 1.0, max(values), 1e-7)
    yield Checked("two uses", 0.0, float(found.upper), max(values), 1e-7)


def frequencies(made: Made, target: str, size: int, rnd: random.Random) -> Iterator[Checked]:
    """The law against runs of the function: wrong by chance once in a million times."""
    function = load(target, size=size, run=True).mechanism
    q = [rnd.choice(made.values) for _ in range(size)]
    law = made.law(q)
    if any(each.fresh or each.densities for each in law):
        return
    with seeded(rnd.randrange(2**30)):
        seen = Counter(_flat(function(list(q))) for _ in range(RUNS))
    for each in law:
        for label, p in each.masses.items():
            off = 5 * math.sqrt(p * (1 - p) / RUNS) + 2 / RUNS
            yield Checked("frequency", p, p, seen[_flat(label)] / RUNS, off)


def _flat(value: object) -> tuple[object, ...]:
    if isinstance(value, tuple):
        return tuple(part for each in value for part in _flat(each))
    return (value.item() if isinstance(value, np.generic) else value,)


def enclosures(seed: int, folder) -> Iterator[Checked]:
    """All that is asked about one random mechanism; what is not decided is left out."""
    rnd = random.Random(seed)
    made = make(rnd)
    size = rnd.choice([1, 2, 2, 3, 4]) if len(made.values) == 2 else rnd.choice([1, 2])
    file = folder / f"made{seed}.py"
    file.write_text(made.text)
    target = f"{file}:made"
    chosen = rnd.sample(EPSILONS, 5)
    ways = [
        lambda: enclosed_deltas(made, target, size, chosen),
        lambda: excesses_of_pairs(made, target, min(size, 3), chosen[0], rnd),
        lambda: frequencies(made, target, size, rnd),
        lambda: proofs_for_every_length(made, target, chosen[0]),
        lambda: measured(made, target, min(size, 2)),
        lambda: several_uses(made, target, min(size, 2), chosen[0]),
    ]
    for way in (*ways[:2], ways[2 + seed % 4]):
        try:
            with warnings.catch_warnings():  # what the checker does not accept is unknown, and left out
                warnings.simplefilter("ignore", CertificateRefused)
                found = list(way())
            yield from found
        except PrivproofError as problem:
            if problem.code not in ("delta", "size", "noise", "integral", "paths", "time"):
                raise


@pytest.mark.parametrize("seed", selected(range(2_000), 4))
def test_random_mechanisms_are_enclosed(seed, tmp_path):
    for each in enclosures(seed, tmp_path):
        assert each.holds, (make(random.Random(seed)).text, each)
