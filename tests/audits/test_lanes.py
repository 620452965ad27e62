"""Many runs at once: their outputs have the exact distribution of the mechanism."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from scipy import stats

from privproof.audits.sampling import Samples, program_lanes, sample
from privproof.audits.sampling.column_operations import apply
from privproof.audits.sampling.lane_draws import LaneDraws, LaneWeights, TwoSided
from privproof.audits.sampling.lane_joining import join_columns
from privproof.audits.sampling.output_samples import FLOAT
from privproof.audits.sampling.sample_columns import Coded, NumberColumn, Rows, Same, distinct, select, values_at
from privproof.compiling.exploring import Explorer
from privproof.errors import LanguageError, PrivproofError
from privproof.language import (
    bernoulli,
    choice,
    exponential,
    exponential_mechanism,
    geometric,
    integer,
    laplace,
    mechanism,
    one_of,
    public,
    queries,
    randomized_response,
    real_queries,
    records,
    stream,
    truncated_geometric,
    uniform,
)
from privproof.language.values import Answers, Cells, Tail, plain, shared_value

# ----------------------------------------------------------------------------------------------------------- mechanisms


@mechanism
def noisy_max(q: queries(0, 2)):
    best, winner = -1, 0
    for i, value in enumerate(q):
        noisy = truncated_geometric(value, alpha="1/2", low=0, high=2)
        if noisy > best:
            best, winner = noisy, i
    return winner


@mechanism
def none_yet(q: queries(0, 2)):
    """A largest value that is None at first."""
    best = None
    for value in q:
        if bernoulli("1/3"):
            continue
        noisy = truncated_geometric(value, alpha="1/2", low=0, high=2)
        if best is None or noisy > best:
            best = noisy
    return best


@mechanism
def above_threshold(t: public(integer(0, 2)), q: stream(0, 2)):
    noisy_threshold = truncated_geometric(t, alpha="1/4", low=0, high=2)
    for value in q:
        if truncated_geometric(value, alpha="1/2", low=0, high=2) >= noisy_threshold:
            yield "above"
            return
        yield "below"


@mechanism
def sparse(q: queries(0, 2)):
    """Some answers are left out, so that runs are out of step."""
    for i, value in enumerate(q):
        if bernoulli("1/4"):
            continue
        yield (i, randomized_response(value, truth="1/2", among=(0, 1, 2)))


@mechanism
def rejected(x: integer(0, 3)):
    while True:
        noisy = geometric(x, alpha="1/2")
        if 0 <= noisy <= 3:
            return noisy


@mechanism
def trials(x: integer(0, 3)):
    """A geometric number by repeated trials."""
    count = 0
    while count < 12 and not bernoulli("1/3"):
        count += 1
    return min(count + x, 9)


@mechanism
def clamped(x: integer(0, 5)):
    return min(max(geometric(x, alpha="2/3"), 0), 5)


@mechanism
def released(x: integer(0, 5)):
    return geometric(x, epsilon="1/2")


@mechanism
def two_released(q: queries(0, 5)):
    return [geometric(value, alpha="3/5") for value in q]


@mechanism
def histogram(r: records("red", "green", "blue")):
    counts = [0, 0, 0]
    for record in r:
        noisy = randomized_response(record, truth="1/2", among=("red", "green", "blue"))
        match noisy:
            case "red":
                counts[0] += 1
            case "green":
                counts[1] += 1
            case _:
                counts[2] += 1
    return tuple(counts)


@mechanism
def bins(r: records(0, 1, 2, 3)):
    counts = [0] * 4
    for record in r:
        counts[randomized_response(record, truth="2/5", among=(0, 1, 2, 3))] += 1
    return counts


@mechanism
def survey(r: records("yes", "no")):
    return tuple(randomized_response(record, truth="3/4", among=("yes", "no")) for record in r)


@mechanism
def kept(q: queries(0, 3)):
    """Lists of different lengths."""
    found = []
    for value in q:
        noisy = truncated_geometric(value, alpha="1/3", low=0, high=3)
        if noisy > 0:
            found.append(noisy)
    if len(found) > 1:
        found[-1] = len(found)
    return (len(found), sum(found), sorted(found), max(found, default=None))


def noisy_answer(value, high):
    noisy = truncated_geometric(value, alpha="1/2", low=0, high=high)
    if noisy == high:
        return high - 1
    return noisy


@mechanism
def called(q: queries(0, 2)):
    total = 0
    for value in q:
        total += noisy_answer(value, 2) * noisy_answer(value, 3)
    return total


@mechanism
def words(x: one_of("low", "high")):
    noisy = choice({"low": "1/5", "high": "1/2", "none": "3/10"}) if bernoulli("1/2") else x
    match noisy:
        case "low" | "none":
            return "quiet"
        case "high":
            return "loud" if uniform(1, 6) > 2 else None
        case _:
            return 0


@mechanism
def by_scores(q: queries(0, 3)):
    return exponential_mechanism([value - 1 for value in q], epsilon="ln(4)")


@mechanism
def by_irrational_scores(q: queries(0, 3)):
    """Scores that are noisy themselves; weights with denominators of 64 bits and more."""
    return exponential_mechanism([uniform(value, value + 1) for value in q], epsilon="1")


@mechanism
def permute_and_flip(q: queries(0, 2)):
    """McKenna and Sheldon 2020."""
    left = list(range(len(q)))
    best = max(q)
    while True:
        place = uniform(0, len(left) - 1)
        chosen = left[place]
        if bernoulli(Fraction(1, 2) ** (best - q[chosen])):
            return chosen
        left = left[:place] + left[place + 1 :]


@mechanism
def halves(q: queries(0, 2)):
    """Fractions, kinds that mix, and a table."""
    total = Fraction(0)
    for value in q:
        noisy = randomized_response(value, truth="1/2", among=(0, 1, 2))
        total += Fraction(noisy, 2)
    table = {Fraction(0): "zero", Fraction(1): True, Fraction(2): 1}
    return table[total] if total in (0, 1, 2) else total


@mechanism
def walk(x: integer(0, 4)):
    place, steps = x, 0
    while 0 < place < 4:
        place = place + 1 if bernoulli("2/5") else place - 1
        steps = (steps + 1) % 3
    return (place > 0, steps)


@dataclass(frozen=True)
class Case:
    mechanism: Any
    arguments: Mapping[str, Any]

    def __str__(self) -> str:
        return self.mechanism.name


CASES = [
    Case(noisy_max, {"q": [0, 1, 2, 1, 0]}),
    Case(none_yet, {"q": [0, 2, 1]}),
    Case(above_threshold, {"t": 1, "q": [0, 0, 1, 2, 0]}),
    Case(sparse, {"q": [0, 2, 1]}),
    Case(rejected, {"x": 1}),
    Case(trials, {"x": 2}),
    Case(clamped, {"x": 2}),
    Case(released, {"x": 2}),
    Case(two_released, {"q": [0, 4]}),
    Case(histogram, {"r": ["red", "blue", "red", "green"]}),
    Case(bins, {"r": [0, 1, 1, 3]}),
    Case(survey, {"r": ["yes", "no", "yes"]}),
    Case(kept, {"q": [0, 2, 3]}),
    Case(called, {"q": [0, 1, 2]}),
    Case(words, {"x": "low"}),
    Case(by_scores, {"q": [0, 1, 2, 0]}),
    Case(by_irrational_scores, {"q": [0, 1, 2, 0]}),
    Case(permute_and_flip, {"q": [0, 1, 2, 1]}),
    Case(halves, {"q": [0, 1, 2]}),
    Case(walk, {"x": 2}),
]


# --------------------------------------------------------------------------------------------------- exact distribution


def exact(case: Case) -> dict[str, tuple[Any, float]]:
    """The classes of outputs, by their text: values (perhaps with tails) and their probabilities."""
    flow, inputs = case.mechanism.flow, case.mechanism.inputs
    explorer = Explorer(flow)
    store = {name: shared_value(value) for name, value in case.mechanism.parameters.items()}
    answers = ()
    for name, value in case.arguments.items():
        if inputs[name].shape == "stream":
            answers = value
        else:
            store[name] = Answers(value) if inputs[name].shape == "list" else value
    level = [((), explorer.state(0, store), Fraction(1))]
    found: dict[str, tuple[Any, float]] = {}

    def end(value: Any, probability: Fraction) -> None:
        found[repr(value)] = (value, found.get(repr(value), (None, 0.0))[1] + float(probability))

    for number in range(len(answers) + 1):
        following = []
        for before, state, mass in level:
            for rest, p in explorer.settle(state).items():
                probability = mass * Fraction(int(p.p), int(p.q))
                written = (*before, *rest.written)
                output = Cells(written) if case.mechanism.translated.generator else rest.value
                if rest.state is None or number == len(answers):
                    end(plain(output), probability)
                else:
                    following.append((written, explorer.given(rest.state, answers[number]), probability))
        level = following
    return found


def belongs(value: Any, known: Any) -> bool:
    """Whether an output is in a class."""
    if isinstance(known, Tail):
        return isinstance(value, int) and known.sign * (value - known.offset) >= 0
    if isinstance(known, list | tuple):
        return (
            type(value) is type(known)
            and len(value) == len(known)
            and all(belongs(x, y) for x, y in zip(value, known, strict=True))
        )
    return repr(value) == repr(known)


def plausible(case: Case, samples: Samples) -> float:
    """How plausible it is that the samples come from the exact distribution: the p-value of a chi-square test."""
    classes = exact(case)
    assert sum(p for _, p in classes.values()) == pytest.approx(1)
    observed = dict.fromkeys(classes, 0)
    counted = samples.counts()
    for output, text in zip(samples.outputs, samples.texts, strict=True):
        if text in observed:
            observed[text] += counted[text]
            continue
        homes = [name for name, (known, _) in classes.items() if belongs(output, known)]
        assert len(homes) == 1, f"{text} is in the classes {homes}"
        observed[homes[0]] += counted[text]
    expected = {name: p * len(samples) for name, (_, p) in classes.items()}
    assert sum(observed.values()) == len(samples)
    frequent = [name for name, size in expected.items() if size >= 10]
    rare = [name for name, size in expected.items() if size < 10]
    seen, hoped = [observed[name] for name in frequent], [expected[name] for name in frequent]
    if rare:
        seen.append(sum(observed[name] for name in rare))
        hoped.append(sum(expected[name] for name in rare))
    return float(stats.chisquare(seen, hoped).pvalue) if len(seen) > 1 else 1.0


@pytest.mark.parametrize("case", CASES, ids=str)
def test_the_outputs_have_the_exact_distribution(case):
    assert plausible(case, sample(case.mechanism, case.arguments, 100_000, seed=20)) > 1e-3


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES, ids=str)
def test_a_million_outputs_have_the_exact_distribution(case):
    assert plausible(case, sample(case.mechanism, case.arguments, 1_000_000, seed=21)) > 1e-3


# -------------------------------------------------------------------------------------------------------- seeds, outputs


@pytest.mark.parametrize("case", CASES, ids=str)
def test_a_seed_repeats_the_runs(case):
    first, again = (sample(case.mechanism, case.arguments, 70_000, seed=5) for _ in range(2))
    assert (first.codes == again.codes).all()
    assert first.outputs == again.outputs


def test_without_a_seed_no_two_samples_are_alike():
    first, other = (sample(released, {"x": 0}, 1000).values() for _ in range(2))
    assert (first != other).any()


def test_runs_stand_in_their_own_order():
    """The first half of the runs is as good a sample as the second, although runs end in another order than they began."""
    values = sample(rejected, {"x": 0}, 60_000, seed=3).values()
    table = [np.bincount(half, minlength=4) for half in (values[:30_000], values[30_000:])]
    assert stats.chi2_contingency(table).pvalue > 1e-3
    assert stats.chi2_contingency([np.bincount(values[i::50], minlength=4) for i in range(50)]).pvalue > 1e-3


def test_outputs_that_print_alike_are_one_and_others_are_not():
    samples = sample(halves, {"q": [0, 1, 2]}, 1000, seed=1)
    assert {"True", "1", "'zero'"} <= set(samples.texts)
    assert len(set(samples.texts)) == len(samples.outputs)
    assert sum(samples.counts().values()) == len(samples) == 1000


def test_columns_of_outputs():
    samples = sample(walk, {"x": 2}, 1000, seed=1)
    assert samples.column(0).dtype == np.bool_
    assert set(samples.column(1).tolist()) == {0, 1, 2}
    with pytest.raises(LanguageError, match="has no position 2"):
        samples.column(2)
    with pytest.raises(LanguageError, match="is no number"):
        samples.values()


# ---------------------------------------------------------------------------------------------------------------- noise


class Words:
    """A source that gives prescribed words."""

    def __init__(self, *words: int) -> None:
        self.words = list(words)

    def integers(self, low: int, high: int, count: int | None = None, dtype: Any = None) -> Any:
        assert low == 0
        if count is None:
            return self.words.pop(0)
        drawn, self.words = self.words[:count], self.words[count:]
        assert max(drawn) < high
        return np.array(drawn, dtype=dtype)


@pytest.mark.parametrize(
    "weights",
    [
        [Fraction(1)],
        [Fraction(1, 2), Fraction(1, 2)],
        [Fraction(1, 3), Fraction(0), Fraction(2, 3)],
        [Fraction(1, 10**30), 1 - Fraction(3, 10**30), Fraction(2, 10**30)],
        [Fraction(1, 100_000)] * 100_000,
    ],
    ids=len,
)
def test_sixteen_bits_settle_nothing_that_is_not_settled(weights):
    table = LaneWeights(weights)
    sure = np.bincount(table.settled[table.settled >= 0], minlength=len(weights))
    ends = np.cumsum([float(weight) for weight in weights])
    open_words = int((table.settled < 0).sum())
    assert sure.sum() + open_words == 2**16
    for place in (0, len(weights) // 2, len(weights) - 1):
        assert Fraction(int(sure[place]), 2**16) <= weights[place] <= Fraction(int(sure[place]) + open_words, 2**16)
    assert ends[-1] == pytest.approx(1)


def test_any_number_of_bits_settles_an_outcome():
    third = LaneWeights([Fraction(1, 3), Fraction(2, 3)])
    cut = 2**16 // 3  # the word that both outcomes share
    assert third.draw(3, Words(cut - 1, cut, cut + 1, 0)).tolist() == [0, 0, 1]
    assert third.draw(1, Words(cut, 2**46 - 1)).tolist() == [1]
    second, longer = 2**46 // 3, 2**62 // 3
    assert third.draw(1, Words(cut, second, 0)).tolist() == [0]
    assert third.draw(1, Words(cut, second, 2**62 - 1)).tolist() == [1]
    assert third.draw(1, Words(cut, second, longer, longer, longer - 1)).tolist() == [0]
    assert third.draw(1, Words(cut, second, longer, longer, longer + 1)).tolist() == [1]


@pytest.mark.parametrize("alpha", ["1/2", "1/100", "9/10", "999/1000", "18446744073709551557/18446744073709551616"])
def test_geometric_noise_on_all_integers(alpha):
    base = Fraction(alpha)
    count = 200_000 if base < Fraction(999, 1000) else 20_000
    if base > Fraction(999, 1000):
        assert TwoSided(base).reach < 256  # its powers are long
        return
    drawn = TwoSided(base).draw(count, LaneDraws(4).bits)
    far = next(k for k in range(1, 10**6) if float(base) ** k * count < 20)
    seen = np.bincount(np.clip(drawn, -far, far) + far, minlength=2 * far + 1)
    inside = (1 - float(base)) / (1 + float(base)) * float(base) ** np.abs(np.arange(-far, far + 1))
    inside[[0, -1]] = float(base) ** far / (1 + float(base))
    assert stats.chisquare(seen, inside * count).pvalue > 1e-3


@mechanism
def centers(q: queries(0, 9)):
    """Noise whose arguments are noisy themselves."""
    first = uniform(0, 2)
    second = geometric(first - 1, alpha="1/2")
    third = truncated_geometric(second, low=-1, high=first, alpha="1/3")
    return (first, third)


def test_noise_with_noisy_arguments():
    samples = sample(centers, {"q": [0]}, 100_000, seed=8)
    first, third = samples.column(0), samples.column(1)
    assert (third <= first).all()
    weights = {}
    for center in range(-40, 41):
        for a in range(3):
            p = Fraction(1, 9) * Fraction(1, 2) ** abs(center - (a - 1))
            law = truncated(center, -1, a)
            for value, q in law.items():
                weights[a, value] = weights.get((a, value), 0) + float(p * q)
    seen = [int(((first == a) & (third == v)).sum()) for a, v in weights]
    hoped = np.array(list(weights.values()))
    assert stats.chisquare(seen, hoped / hoped.sum() * 100_000).pvalue > 1e-3


def truncated(center: int, low: int, high: int) -> dict[int, Fraction]:
    from privproof.language.laws import truncated_geometric as law

    return dict(law(center, low, high, "1/3", None, 1).outcomes)


@mechanism
def noisy_gap(q: real_queries()):
    best, winner = None, 0
    for i, value in enumerate(q):
        noisy = laplace(value, scale=2)
        if best is None or noisy > best:
            best, winner = noisy, i
    return (winner, best)


@mechanism
def delayed(q: real_queries()):
    return exponential(sum(q), scale=Fraction(1, 2)) / 2 - Fraction(1, 4)


@mechanism
def clamped_laplace(q: real_queries()):
    return min(max(laplace(q[0], scale=1), 0), Fraction(3, 2))


@mechanism
def mixed(q: real_queries()):
    """Floats beside other kinds."""
    noisy = min(max(laplace(q[0], scale=1), Fraction(1, 3)), Fraction(5, 3))
    return None if noisy > 1 else (noisy, [noisy] if noisy > Fraction(1, 3) else "low")


@mechanism
def noisy_stream(q: stream(0, 3)):
    for value in q:
        noisy = laplace(value, scale=1)
        if noisy > Fraction(5, 2):
            yield noisy
            return
        yield "below"


def test_floats_stay_in_arrays():
    values = sample(delayed, {"q": [1, Fraction(1, 2)]}, 50_000, seed=2).values()
    assert values.dtype == np.float64
    assert stats.kstest(values, stats.expon(loc=0.5, scale=0.25).cdf).pvalue > 1e-3


def test_floats_beside_discrete_outputs():
    samples = sample(noisy_gap, {"q": [0, 3]}, 50_000, seed=2)
    assert set(samples.texts) == {"(0, float)", "(1, float)"}
    assert samples.outputs[0][1] is FLOAT
    winner, best = samples.column(0), samples.column(1)
    assert winner.dtype == np.int64
    largest = lambda x: stats.laplace.cdf(x, 0, 2) * stats.laplace.cdf(x, 3, 2)  # noqa: E731
    assert stats.kstest(best, largest).pvalue > 1e-3
    assert winner.mean() > 0.7


def test_floats_of_a_generator():
    samples = sample(noisy_stream, {"q": [0, 3, 3]}, 20_000, seed=2)
    assert set(samples.texts) == {
        "[float]",
        "['below', float]",
        "['below', 'below', float]",
        "['below', 'below', 'below']",
    }
    assert len(samples.floats) == 1
    ended = [code for code, text in enumerate(samples.texts) if "float" in text]
    given = np.isin(samples.codes, ended)
    assert (samples.floats[0][given] > 2.5).all()
    assert np.isnan(samples.floats[0][~given]).all()


def test_clamped_floats():
    """Numbers become floats beside floats, where floats represent them exactly."""
    samples = sample(clamped_laplace, {"q": [1]}, 20_000, seed=2)
    assert samples.texts == ("float",)
    values = samples.values()
    assert values.min() == 0
    assert values.max() == 1.5
    assert (values == 0).mean() == pytest.approx(stats.laplace.cdf(0, 1), abs=0.02)


def test_floats_beside_other_kinds():
    samples = sample(mixed, {"q": [1]}, 20_000, seed=2)
    assert set(samples.texts) == {"None", "(float, [float])", "(Fraction(1, 3), 'low')"}
    both = samples.codes == samples.texts.index("(float, [float])")
    assert len(samples.floats) == 2
    assert (samples.floats[0][both] == samples.floats[1][both]).all()
    assert samples.counts()["None"] == pytest.approx(10_000, abs=400)


# ---------------------------------------------------------------------------------------------------------- large, wrong


@mechanism
def large(x: integer(0, 1)):
    """Whole numbers of more than 64 bits."""
    factor = uniform(1, 3) * 4611686018427387904
    power = (factor + factor) * factor
    return (power - 2 * factor**2 + x, abs(-9223372036854775808 * uniform(1, 1)), power > factor)


def test_whole_numbers_never_overflow():
    samples = sample(large, {"x": 1}, 1000, seed=1)
    assert samples.texts == ("(1, 9223372036854775808, True)",)
    column = NumberColumn(np.array([2**62, -(2**62), 3]))
    assert values_at(apply("+", [column, column], 3), np.arange(3)) == [2**63, -(2**63), 6]
    assert values_at(apply("*", [column, Same(4)], 3), np.arange(3)) == [2**64, -(2**64), 12]
    assert values_at(apply("neg", [NumberColumn(np.array([-(2**63), 1]))], 2), np.arange(2)) == [2**63, -1]
    assert values_at(apply("//", [NumberColumn(np.array([-(2**63), 1])), Same(-1)], 2), np.arange(2)) == [2**63, -1]


@mechanism
def divided(x: integer(0, 2)):
    return 6 // uniform(0, x)


@mechanism
def unset(x: integer(0, 2)):
    if bernoulli("1/2"):
        found = x
    return found


@mechanism
def aliased(x: integer(0, 2)):
    one = [x, uniform(0, 1)]
    other = one
    one.append(1)
    return (one, other)


@mechanism
def input_changed(q: queries(0, 2)):
    q[0] = uniform(0, 1)
    return q


@mechanism
def endless(x: integer(0, 2)):
    while x >= 0:
        x = uniform(0, 1)
    return x


@pytest.mark.parametrize(
    ("failing", "arguments", "message"),
    [
        (divided, {"x": 2}, "ZeroDivisionError"),
        (unset, {"x": 2}, "read before it is assigned"),
        (aliased, {"x": 2}, "two names"),
        (input_changed, {"q": [1]}, "two names"),
        (noisy_max, {}, "no value is given for q"),
        (noisy_max, {"q": 3}, "is not a list"),
        (noisy_max, {"q": [0.5]}, "float"),
        (noisy_max, {"q": [1], "alpha": 1}, "no parameter 'alpha'"),
        (by_scores, {"q": []}, "scores"),
    ],
)
def test_what_goes_wrong_is_said(failing, arguments, message):
    with pytest.raises(PrivproofError, match=message):
        sample(failing, arguments, 1000, seed=1)


def test_where_it_goes_wrong_is_said():
    with pytest.raises(LanguageError, match=r"test_lanes.py:\d+:\d+"):
        sample(divided, {"x": 2}, 1000, seed=1)


def test_a_loop_without_end(monkeypatch):
    monkeypatch.setattr(program_lanes, "_MOST_STEPS", 1000)
    with pytest.raises(LanguageError, match="more than 1000 steps"):
        sample(endless, {"x": 1}, 10, seed=1)


@pytest.mark.parametrize("count", [0, -1])
def test_no_runs(count):
    with pytest.raises(LanguageError, match="is not a number of runs"):
        sample(released, {"x": 1}, count)


@mechanism
def with_parameter(q: queries(0, 2), top=1):
    return [uniform(0, top) for _ in q] == q or q == [5]


def test_parameters_and_equal_lists():
    assert set(sample(with_parameter, {"q": [3]}, 1000, seed=1).texts) == {"False"}
    assert set(sample(with_parameter, {"q": [3], "top": 3}, 1000, seed=1).texts) == {"False", "True"}
    assert set(sample(with_parameter, {"q": [5]}, 1000, seed=1).texts) == {"True"}


# -------------------------------------------------------------------------------------------------------------- columns


def test_joining_keeps_kinds_apart():
    column = join_columns([Same(1), Same(True), NumberColumn(np.array([1, 2])), Same(None)], [1, 1, 2, 1])
    assert isinstance(column, Coded)
    assert list(map(repr, values_at(column, np.arange(5)))) == ["1", "True", "1", "2", "None"]
    assert isinstance(select(column, np.array([0, 2, 3])), NumberColumn)
    assert isinstance(select(column, np.array([4, 4])), Same)


def test_lists_of_one_length_are_columns():
    column = join_columns([Same(Cells((1, "a"))), Same(Cells((2, "a")))], [2, 1])
    assert isinstance(column, Rows)
    assert isinstance(column.columns[1], Same)
    codes, tuples = distinct([column], 3)
    assert codes.tolist() == [0, 0, 1]
    assert tuples == [(Cells((1, "a")),), (Cells((2, "a")),)]
