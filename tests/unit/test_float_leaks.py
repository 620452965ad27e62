"""Noise that is added in floating point leaves traces in the digits of the sum, and audits see them; what is rounded to a grid has none."""

from __future__ import annotations

import random

import numpy as np
import pytest
from tests.amounts import examples

from privproof import audit, runnable
from privproof.audits.float_leaks import float_draws
from privproof.audits.sampling.feature_learning import _by_elimination, _by_transform, _constant_form
from privproof.audits.sampling.features import FloatBits, GroupCounts, Parity, Residue, low, references
from privproof.audits.sampling.output_events import Having, occurs
from privproof.audits.sampling.output_samples import Samples
from privproof.errors import LanguageError

RUNS = 2_000


def batched(function):
    return runnable(function, rng="rng", batched=True)


def laplace(x, rng, count):
    return x + rng.laplace(size=count)


def gauss(x, rng, count):
    return x + rng.normal(size=count)


def single(x, rng, count):
    return np.float32(x) + rng.laplace(size=count).astype(np.float32)


def clipped(x, rng, count):
    return np.clip(x + rng.laplace(size=count), 0, 3)


def mean(x, rng, count):
    return sum(x) / len(x) + rng.laplace(size=count) / len(x)


def grid(x, rng, count):
    return np.round((x + rng.laplace(size=count)) * 1024) / 1024


@pytest.mark.parametrize(
    ("function", "pair"),
    [
        (laplace, (0, 1)),
        (gauss, (0, 1)),
        (single, (0, 1)),
        (clipped, (0, 1)),
        (laplace, (0.1, 1.1)),
        (mean, ([0.3, 0.7, 0.1], [0.3, 0.7, 0.9])),
    ],
    ids=["laplace", "gauss", "single", "clipped", "tenths", "mean"],
)
def test_noise_in_floating_point_is_seen(function, pair):
    found = audit(batched(function), 1, pairs=[pair], samples=2 * RUNS, exact=False)
    assert found.violated
    assert found.status == "unknown"
    assert found.epsilon > 3.5
    assert isinstance(found.count.event, Having)
    assert any("floating point" in note for note in found.notes)


def test_what_is_rounded_to_a_grid_has_no_such_leak():
    """At 95 % one audit in twenty may be above the truth, and none may accuse."""
    above = 0
    for seed in range(examples(60)):
        found = audit(batched(grid), 1, pairs=[(0, 1)], samples=RUNS, exact=False, seed=seed)
        above += found.epsilon > 1
        assert not found.violated
        assert found.epsilon < 1.1
    assert above <= 9


def test_the_unsafe_draw_is_named():
    def noisy(x):
        return x + random.gauss(0, 1)

    found = audit(noisy, 1, "1/100", pairs=[(0, 1)], samples=RUNS)
    assert found.violated
    assert any("test_float_leaks.py:" in note and "random.gauss(...)" in note for note in found.notes)
    assert float_draws(len) == []


def test_the_lowest_bit():
    numbers = np.array([3.0, -0.75, 0.1, 5e-324, 2.0**80, 0.0, -0.0, np.inf, -np.inf])
    found = low(numbers).tolist()
    assert found[:5] == [0, -2, -55, -1074, 80]
    assert len(set(found[5:])) == 4
    for y, exponent in zip(numbers[:5].tolist(), found, strict=False):
        assert float(y / 2.0**exponent) % 2 == 1 if exponent > -1000 else y == 2.0**-1074


def test_references_come_from_the_data():
    assert references({"x": [1, 2, 3]}, {"x": [1, 2, 4]}) == [6.0, 2.0, 7.0, 7 / 3, 1.0, 3.0, 4.0]
    assert references({"x": np.array([[1.0, 2.0]])}, {"x": "text"}) == [3.0, 1.5, 1.0, 2.0]
    assert references({"x": None}, {"x": float("inf")}) == []


# ------------------------------------------------------------------------------------------------------------ other features


def parity(bits, right):
    def drawn(x, rng, count):
        y = rng.integers(0, 2, (count, bits))
        y[:, -1] = (y[:, :-1].sum(axis=1) + x + (rng.random(count) >= right)) % 2
        return y.astype(bool).tolist()

    return batched(drawn)


@pytest.mark.parametrize(("bits", "right", "least"), [(8, 0.8, 1.2), (14, 1.0, 6.0), (40, 1.0, 6.0)])
def test_parities_are_found(bits, right, least):
    found = audit(parity(bits, right), pairs=[(0, 1)], samples=RUNS, exact=False)
    assert found.epsilon > least
    assert bits == 8 or isinstance(found.count.event.feature, Parity)


def test_residues_are_found():
    def drawn(x, rng, count):
        return (
            7 * rng.integers(0, 10**5, count) + np.where(rng.random(count) < 0.9, x, rng.integers(0, 7, count))
        ).tolist()

    found = audit(batched(drawn), pairs=[(0, 1)], samples=RUNS, exact=False)
    assert found.epsilon > 3
    assert isinstance(found.count.event.feature, Residue)


def test_fair_bits_have_no_parity():
    def drawn(x, rng, count):
        return rng.integers(0, 2, (count, 12)).astype(bool).tolist()

    assert not audit(batched(drawn), "1/10", pairs=[(0, 1)], samples=RUNS, exact=False).violated


def test_a_transform_finds_all_parities_and_elimination_finds_constant_forms():
    generator = np.random.default_rng(0)
    one, other = (generator.integers(0, 2, (3000, 30)) for _ in range(2))
    one[:, 4] = one[:, [1, 2, 20]].sum(axis=1) % 2
    assert _by_transform(one[:, [1, 2, 4, 20, 21, 22]], other[:, [1, 2, 4, 20, 21, 22]])[0] == (0, 1, 2, 3)
    assert _by_elimination(one, generator) == (1, 2, 4, 20)
    assert _by_elimination(other, generator) is None
    for _ in range(examples(200)):
        vectors = [int(v) for v in generator.integers(0, 2**6, generator.integers(1, 8))]
        form = _constant_form(vectors, 6)
        mask = sum(1 << i for i in form)
        assert all(bin(v & mask).count("1") % 2 == 0 for v in vectors)
        spanned = {0}
        for v in vectors:
            spanned |= {s ^ v for s in spanned}
        assert bool(form) == (len(spanned) < 2**6)


def test_an_event_depends_on_its_output_alone():
    """The codes of an output are the same whatever other outputs stand in the table."""
    outputs = [5, 12, 2**70, -3, True, [True, False, True], (1, 0), [2, 0], [], "a", None]
    for feature in (
        Parity((0, 2, 65), listed=False),
        Parity((0, 2), listed=True),
        Residue(7),
        GroupCounts(((0,), (1,)), 0),
    ):
        together = feature.codes(Samples(np.arange(len(outputs)), tuple(outputs)))
        alone = [int(feature.codes(Samples(np.array([0]), (output,)))[0]) for output in outputs]
        assert together.tolist() == alone
        assert str(feature)
        some = tuple(code for code in dict.fromkeys(alone) if code > -(2**62))
        assert str(Having(feature, some))
        assert occurs(Having(feature, some), Samples(np.arange(len(outputs)), tuple(outputs))).any()
    y = np.array([0.1, 1.5, np.nan, 0.0])
    samples = Samples(np.zeros(4, dtype=np.int64), (0,), (y,))
    for feature in (FloatBits(0, "the lowest bit of y"), FloatBits(0, "the exponents of y - x and of y", 0.3)):
        alone = [int(feature.codes(Samples(np.array([0]), (0,), (y[[i]],)))[0]) for i in range(4)]
        assert feature.codes(samples).tolist() == alone


# ----------------------------------------------------------------------------------------------------- what a run shows besides


def test_a_failure_is_an_output():
    def sometimes(x):
        if random.random() < (0.6 if x else 0.2):
            raise ValueError("no answer")
        return 1

    found = audit(sometimes, "1/2", pairs=[(0, 1)], samples=RUNS)
    assert found.violated
    assert "raises ValueError" in str(found.count.event) or found.count.estimate > 0.6
    with pytest.raises(LanguageError, match="raised ZeroDivisionError"):
        audit(lambda x: 1 / 0, pairs=[(0, 1)], samples=RUNS)


def test_the_order_of_keys_and_the_sign_of_zero_are_seen():
    def in_order_of_the_data(x):
        return dict.fromkeys(["a", "b"] if x else ["b", "a"], 0)

    assert audit(in_order_of_the_data, 1, pairs=[(0, 1)], samples=RUNS).violated
    assert audit(lambda x: -0.0 if x else 0.0, 1, pairs=[(0, 1)], samples=RUNS).violated
