"""Events: what occurs, run by run, against evaluating an event on Python values; and what learning says about its own events."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import combinations
from random import Random
from typing import Any

import numpy as np
import pytest
from tests.amounts import selected

from privproof.audits.sampling import sample
from privproof.audits.sampling.confidence_intervals import epsilon_at_least
from privproof.audits.sampling.event_learning import learn
from privproof.audits.sampling.output_events import HalfSpace, ListBeginning, OneOf, occurs
from privproof.audits.sampling.output_forms import SLOT, fill_form, form_of, numbers_of
from privproof.audits.sampling.output_samples import FLOAT, Samples
from privproof.language.patterns import ANY, Between
from privproof.library import mechanisms
from privproof.library.laplace import laplace_noisy_max as noisy_max
from privproof.library.laplace import sparse_vector

# ----------------------------------------------------------------------------------------------- runs as Python values


def tabled(value: Any, floats: list[float]) -> Any:
    """A value as it stands in a table of outputs; its floats are put aside."""
    if isinstance(value, float):
        floats.append(value)
        return FLOAT
    return type(value)(tabled(part, floats) for part in value) if isinstance(value, list | tuple) else value


def samples_of(values: Sequence[Any]) -> Samples:
    """Runs with these outputs."""
    known: dict[str, int] = {}
    outputs: list[Any] = []
    codes, aside = [], []
    for value in values:
        floats: list[float] = []
        entry = tabled(value, floats)
        if repr(entry) not in known:
            known[repr(entry)] = len(outputs)
            outputs.append(entry)
        codes.append(known[repr(entry)])
        aside.append(floats)
    most = max(map(len, aside), default=0)
    columns = [np.array([row[i] if i < len(row) else np.nan for row in aside]) for i in range(most)]
    return Samples(np.array(codes, dtype=np.int64), tuple(outputs), tuple(columns))


def values_of(samples: Samples) -> list[Any]:
    """The outputs of all runs, floats included."""

    def whole(output: Any, run: int, slot: list[int]) -> Any:
        if output is FLOAT:
            slot[0] += 1
            return float(samples.floats[slot[0] - 1][run])
        return type(output)([whole(o, run, slot) for o in output]) if isinstance(output, list | tuple) else output

    return [whole(samples.outputs[code], run, [0]) for run, code in enumerate(samples.codes.tolist())]


# ------------------------------------------------------------------------------------------------ events by definition


def lies_in(pattern: Any, value: Any) -> bool:
    """Whether a value lies in a pattern, from the definition."""
    if isinstance(pattern, Between):
        if isinstance(value, bool) or not isinstance(value, int | float | Fraction):
            return False
        return (pattern.low is None or value >= pattern.low) and (pattern.high is None or value <= pattern.high)
    if type(pattern) is not type(value):
        return False
    if isinstance(pattern, list | tuple):
        return len(pattern) == len(value) and all(map(lies_in, pattern, value))
    return pattern == value


def happens(event: Any, value: Any) -> bool:
    """Whether an event occurs with an output, from the definition."""
    match event:
        case OneOf(patterns):
            return any(lies_in(pattern, value) for pattern in patterns)
        case ListBeginning(items):
            if not isinstance(value, list | tuple) or len(value) < len(items):
                return False
            return all(map(lies_in, items, value))
        case HalfSpace(form, weights, threshold):
            if repr(form_of(tabled(value, []))) != repr(form):
                return False
            return sum(w * float(x) for w, x in zip(weights, flat(value), strict=True)) >= threshold


def flat(value: Any) -> list[Any]:
    if isinstance(value, list | tuple):
        return [x for part in value for x in flat(part)]
    return [value] if isinstance(value, int | float | Fraction) and not isinstance(value, bool) else []


# ------------------------------------------------------------------------------------------------------------ at random

LEAVES = (True, False, 0, 1, 2, -3, Fraction(1), Fraction(1, 2), Fraction(-7, 3), "1", "≥1", "True", "", None)


def leaf(chance: Random) -> Any:
    return chance.choice((0.0, 1.0, 0.5, -2.25, chance.gauss(0, 2))) if chance.random() < 0.3 else chance.choice(LEAVES)


def value(chance: Random, depth: int = 2) -> Any:
    if depth == 0 or chance.random() < 0.4:
        return leaf(chance)
    parts = [value(chance, depth - 1) for _ in range(chance.randint(0, 3))]
    return parts if chance.random() < 0.6 else tuple(parts)


def between(chance: Random) -> Between:
    low, high = sorted(Fraction(chance.randint(-12, 12), 4) for _ in range(2))
    return chance.choice((ANY, Between(low, None), Between(None, high), Between(low, high), Between(low, low)))


def loosened(chance: Random, found: Any) -> Any:
    """A pattern near a value: some of its leaves give way to intervals, some to other leaves."""
    if isinstance(found, list | tuple):
        kind = type(found) if chance.random() < 0.95 else list if isinstance(found, tuple) else tuple
        return kind(loosened(chance, part) for part in found)
    if isinstance(found, float) or chance.random() < 0.3:
        return between(chance)
    return found if chance.random() < 0.85 else chance.choice(LEAVES)


def event(chance: Random, values: Sequence[Any]) -> Any:
    kind = chance.random()
    found = chance.choice(values)
    if kind < 0.6:
        return OneOf(tuple(loosened(chance, chance.choice(values)) for _ in range(chance.randint(1, 4))))
    if kind < 0.8 and isinstance(found, list | tuple) and found:
        return ListBeginning(tuple(loosened(chance, part) for part in found[: chance.randint(1, len(found))]))
    if not flat(found):  # a half-space is one of numbers
        return OneOf((found,))
    form = form_of(tabled(found, []))
    weights = tuple(float(chance.randint(-4, 4)) / 2 for _ in flat(found))
    return HalfSpace(form, weights, chance.randint(-8, 8) / 4)


@pytest.mark.parametrize("seed", selected(range(90), 10))
def test_what_occurs_is_what_happens_in_every_run(seed):
    chance = Random(seed)
    pool = [value(chance) for _ in range(12)]
    values = [chance.choice(pool) if chance.random() < 0.8 else value(chance) for _ in range(60)]
    samples = samples_of(values)
    assert repr(values_of(samples)) == repr(values)
    for _ in range(25):
        chosen = event(chance, values)
        assert occurs(chosen, samples).tolist() == [happens(chosen, v) for v in values], (chosen, values)


def test_values_that_python_calls_equal_are_told_apart():
    values = [True, 1, 1.0, Fraction(1), "1", [1], (1,), [True], [1.0], [[1]], [], (), None]
    samples = samples_of(values)
    for number, exact in enumerate(values):
        if not any(isinstance(x, float) for x in flat(exact)):
            assert occurs(OneOf((exact,)), samples).nonzero()[0].tolist() == [number]
    assert [values[i] for i in occurs(OneOf((Between(Fraction(1), Fraction(1)),)), samples).nonzero()[0]] == [1] * 3
    assert occurs(OneOf(([ANY],)), samples).sum() == 2
    assert occurs(ListBeginning((ANY,)), samples).sum() == 3
    assert occurs(ListBeginning((1,)), samples).sum() == 2
    assert occurs(HalfSpace(SLOT, (1.0,), 1.0), samples).sum() == 3


def test_the_ends_of_an_interval_belong_to_it():
    samples = samples_of([0.25, 0.5, 0.75, Fraction(1, 4), Fraction(1, 2), 0, 1, 0.1, Fraction(1, 10)])
    assert occurs(OneOf((Between(Fraction(1, 4), Fraction(1, 2)),)), samples).nonzero()[0].tolist() == [0, 1, 3, 4]
    assert occurs(OneOf((Between(Fraction(0.1), Fraction(0.1)),)), samples).nonzero()[0].tolist() == [7]


# ------------------------------------------------------------------------------------------------------ what is learnt


def score(runs: int):
    return lambda left, right: epsilon_at_least(left, right, runs, 0.1)


MADE: dict[str, Callable[[float, float, Random], Any]] = {
    "floats": lambda noise, move, chance: noise,
    "whole": lambda noise, move, chance: round(5 * noise),
    "fractions": lambda noise, move, chance: Fraction(round(4 * noise), 3),
    "clamped": lambda noise, move, chance: min(max(noise, 0.0), 2.0),
    "atoms": lambda noise, move, chance: noise if noise > 0 else 0,
    "truths": lambda noise, move, chance: [noise > t for t in (0, 1, 2)],
    "texts": lambda noise, move, chance: "low" if noise < 0 else "high" if noise > 2 else "≥1",
    "pairs": lambda noise, move, chance: (noise, chance.gauss(-move, 1)),
    "lists": lambda noise, move, chance: [round(noise + 3 * chance.random()) for _ in range(chance.randint(1, 3))],
    "mixed": lambda noise, move, chance: chance.choice((1, True, Fraction(1), "1", None, [1], (1,), noise, [noise])),
    "streams": lambda noise, move, chance: [noise > t for t in range(chance.randint(1, 5))],
    "nested": lambda noise, move, chance: [[round(3 * noise), "a"], (round(noise), True)],
    "prefixes": lambda noise, move, chance: ["a", "b", noise > 0, noise > 1][: chance.randint(1, 4)],
    "constant": lambda noise, move, chance: [chance.choice((1, 2)), 7, round(3 * noise)],
    "one side": lambda noise, move, chance: [noise, "a"] if move else [round(noise), "a"],
}
KINDS = tuple(MADE)


def shifted(seed: int, runs: int, kind: str, *, right: bool) -> list[Any]:
    """Outputs of one kind, which differ between the two sides."""
    chance = Random(f"{seed}{kind}{right}")
    return [MADE[kind](chance.gauss(right, 2), right, chance) for _ in range(runs)]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", selected(range(2), 1))
def test_learning_counts_its_events_as_they_occur(kind, seed):
    runs = 800
    left, right = (samples_of(shifted(seed, runs, kind, right=side)) for side in (False, True))
    listed = {id(side): values_of(side) for side in (left, right)}
    both = [learn(left, right).best(score(runs), turned=turned, keep=8) for turned in (False, True)]
    for one, other, found in ((left, right, both[0]), (right, left, both[1])):
        assert found
        for proposal in found:
            for side, own in ((one, proposal.left), (other, proposal.right)):
                values = listed[id(side)]
                least, most = counted(proposal.event, side, values)
                assert least <= own <= most, (proposal.event, least, own, most)


def counted(event: Any, samples: Samples, values: Sequence[Any]) -> tuple[int, int]:
    """How often an event occurs: without the runs that have a number on an end of an interval, and with them.

    Cells meet in their ends; with continuous noise nothing lies there.
    """
    found = occurs(event, samples)
    ends = {x for pattern in getattr(event, "patterns", ()) for x in ends_of(pattern)}
    at_end = np.array([any(x in ends for x in flat(v)) for v in values]) if ends else ~found
    return int((found & ~at_end).sum()) if ends else int(found.sum()), int(found.sum())


def ends_of(pattern: Any) -> set[Fraction]:
    if isinstance(pattern, list | tuple):
        return {x for part in pattern for x in ends_of(part)}
    return {x for x in (pattern.low, pattern.high) if x is not None} if isinstance(pattern, Between) else set()


@pytest.mark.parametrize("kind", KINDS)
def test_parts_of_a_union_meet_in_end_points_only(kind):
    runs = 800
    left, right = (samples_of(shifted(7, runs, kind, right=side)) for side in (False, True))
    for proposal in learn(left, right).best(score(runs), keep=8):
        if isinstance(proposal.event, OneOf):
            for one, other in combinations(proposal.event.patterns, 2):
                assert apart(one, other), (one, other)


def apart(one: Any, other: Any) -> bool:
    """Whether two patterns have nothing in common but end points of intervals."""
    if isinstance(one, Between) and isinstance(other, Between):
        lows = [x.low for x in (one, other) if x.low is not None]
        highs = [x.high for x in (one, other) if x.high is not None]
        return bool(lows and highs) and max(lows) >= min(highs)
    if isinstance(one, Between) or isinstance(other, Between):
        interval, constant = (one, other) if isinstance(one, Between) else (other, one)
        return not lies_in(interval, constant)
    if type(one) is not type(other):
        return True
    if isinstance(one, list | tuple):
        return len(one) != len(other) or any(map(apart, one, other))
    return bool(one != other)


@pytest.mark.parametrize(
    ("made", "left", "right"),
    [
        (mechanisms.plain_geometric, {"count": 2}, {"count": 3}),
        (mechanisms.improved_noisy_max, {"v": [0, 1, 2]}, {"v": [1, 1, 1]}),
        (mechanisms.rappor, {"colour": "red"}, {"colour": "blue"}),
        (mechanisms.discrete_above_threshold, {"t": 1, "answers": [0, 1, 2]}, {"t": 1, "answers": [1, 1, 1]}),
        (noisy_max.noisy_max_value, {"q": [0, 0, 0]}, {"q": [1, 1, 1]}),
        (
            sparse_vector.sparse_vector_numerical,
            {"q": [0, 0, 1], "threshold": 0, "N": 2},
            {"q": [1, 1, 0], "threshold": 0, "N": 2},
        ),
    ],
    ids=lambda x: getattr(x, "name", ""),
)
def test_events_of_mechanisms_are_counted_as_they_occur(made, left, right):
    runs = 1_500
    one, other = (sample(made, side, runs, seed=seed) for seed, side in enumerate((left, right)))
    listed = [values_of(one), values_of(other)]
    for proposal in learn(one, other).best(score(runs), keep=8):
        for side, values, own in ((one, listed[0], proposal.left), (other, listed[1], proposal.right)):
            found = occurs(proposal.event, side)
            least, most = counted(proposal.event, side, values)
            assert least <= own <= most, (proposal.event, least, own, most)
            if not isinstance(proposal.event, HalfSpace):
                assert found.tolist() == [happens(proposal.event, v) for v in values], proposal.event


# --------------------------------------------------------------------------------------------------------------- forms


@pytest.mark.parametrize("seed", selected(range(100), 10))
def test_a_form_filled_with_its_numbers_is_the_output(seed):
    made = tabled(value(Random(seed), 3), [])
    assert repr(fill_form(form_of(made), list(numbers_of(made)))) == repr(made)


# --------------------------------------------------------------------------------------------------------------- words

HALF, THREE = Fraction(1, 2), Fraction(3)


@pytest.mark.parametrize(
    ("said", "meant"),
    [
        (OneOf((3,)), "the output is 3"),
        (OneOf(("≥3",)), "the output is '≥3'"),
        (OneOf((Between(THREE, None),)), "the output is ≥3"),
        (OneOf((Between(None, -HALF),)), "the output is ≤-1/2"),
        (OneOf((Between(HALF, THREE),)), "the output is 1/2..3"),
        (OneOf(((True, 1, Fraction(1), "1"),)), "the output is (True, 1, Fraction(1, 1), '1')"),
        (OneOf(((1,),)), "the output is (1,)"),
        (OneOf(([],)), "the output is []"),
        (OneOf(([ANY, [Between(THREE, None)]], None)), "the output is one of [any number, [≥3]], None"),
        (OneOf(tuple(range(6))), "the output is one of 0, 1, 2, 3, 4, 5"),
        (OneOf(tuple(range(8))), "the output is one of 0, 1, 2, 3, 4, 5, or one of 2 more"),
        (ListBeginning((True, "a", Between(None, THREE))), "the output begins with True, 'a', ≤3"),
        (HalfSpace(SLOT, (1.0,), 0.5), "the output is x1 with +1 x1 ≥ 0.5"),
        (HalfSpace([SLOT, "a", (SLOT,)], (0.0, -2.5), 3.0), "the output is [x1, 'a', (x2,)] with -2.5 x2 ≥ 3"),
    ],
    ids=str,
)
def test_an_event_says_what_it_is(said, meant):
    assert str(said) == meant
