"""Releases in Python: what is refused, that errors and costs are what they are said to be, and that verdicts bear checking."""

from __future__ import annotations

from copy import deepcopy
from dataclasses import replace
from fractions import Fraction
from itertools import combinations, pairwise, product
from math import comb, exp, inf, log
from random import Random
from types import MappingProxyType

import pytest
from tests.certificates import nested, recheck

from privproof import PrivproofError, bernoulli, check, choice, prior, release, tight_epsilon
from privproof.errors import BudgetError, QuestionError, ScenarioError
from privproof.exact import fraction, rational
from privproof.language.randomness import Seeded
from privproof.release import (
    METHODS,
    Band,
    Chain,
    Geometric,
    Laplace,
    Network,
    calibrate,
    count,
    errors_by_method,
    histogram,
    lipschitz,
    mean,
    protect,
    verify,
    weighted_sum,
)
from privproof.release.markov_chains import confidence_interval
from privproof.release.release_report import release_witness_data
from privproof_checker import Accepted, Rejected

WALK = Chain.of({"rest": {"rest": "0.9", "walk": "0.1"}, "walk": {"rest": "0.4", "walk": "0.6"}})
MILD = Chain.of({"rest": {"rest": "0.55", "walk": "0.45"}, "walk": {"rest": "0.45", "walk": "0.55"}})
RISING = Chain.of({"rest": {"rest": "0.9", "walk": "0.1"}, "walk": {"rest": "0.4", "walk": "0.6"}}, initial={"rest": 1})
BAND = Band.of({"rest": {"rest": ("0.8", "0.9"), "walk": ("0.1", "0.2")}, "walk": {"rest": "0.4", "walk": "0.6"}})
FLU = Network.exchangeable(["ann", "bob", "cho", "dan"], {0: "0.1", 1: "0.15", 2: "0.5", 3: "0.15", 4: "0.1"})
WALKS = count("walk")


def number(value: object) -> float:
    """An epsilon as a float."""
    return float(value.decimal(digits=12))  # type: ignore[attr-defined]


# ------------------------------------------------------------------------------------------------------- what is refused


@pytest.mark.parametrize(
    ("changed", "error", "said"),
    [
        ({"length": None}, ScenarioError, "how long is the series"),
        ({"length": 0}, ScenarioError, "0 is no length"),
        ({"length": -3}, ScenarioError, "-3 is no length"),
        ({"length": True}, ScenarioError, "True is no length"),
        ({"length": 2.0}, ScenarioError, "2.0 is no length"),
        ({"length": None, "lengths": [3, 0]}, ScenarioError, "0 is no length"),
        ({"entries": 0}, ScenarioError, "entries = 0"),
        ({"entries": -2}, ScenarioError, "entries = -2"),
        ({"epsilon": 0}, BudgetError, "epsilon = 0"),
        ({"epsilon": -1}, BudgetError, "below zero"),
        ({"epsilon": "inf"}, BudgetError, "epsilon = inf"),
        ({"epsilon": "abc"}, BudgetError, "unexpected 'a'"),
        ({"method": "quilts"}, QuestionError, "unknown method 'quilts'"),
        ({"noise": "gauss"}, QuestionError, "unknown noise 'gauss'"),
        ({"query": count("run")}, ScenarioError, "unknown state 'run'"),
        ({"query": histogram(["rest", "run"])}, ScenarioError, "unknown state 'run'"),
        ({"query": weighted_sum({"run": 2})}, ScenarioError, "unknown state 'run'"),
        ({"query": count("rest", "walk")}, ScenarioError, "the same for all data"),
        ({"query": weighted_sum({"rest": 2, "walk": 2})}, ScenarioError, "the same for all data"),
        ({"query": "count:walk"}, ScenarioError, "is no query"),
    ],
)
def test_what_cannot_be_calibrated(changed: dict[str, object], error: type[Exception], said: str) -> None:
    given = {"query": WALKS, "epsilon": 1, "length": 10, **changed}
    with pytest.raises(error, match=said):
        calibrate(WALK, **{name: value for name, value in given.items() if value is not None})  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("priors", "said"),
    [
        ([], "is no prior"),
        (3, "is no prior"),
        ("abc", "is no prior"),
        ([WALK, 3], "is no prior"),
        ([WALK, BAND], "do not mix"),
        ([BAND, BAND], "do not mix"),
        ([WALK, FLU], "do not mix"),
        ([WALK, Chain.of({"a": {"a": "1/2", "b": "1/2"}, "b": {"a": 1}})], "different states"),
        ([WALK, Chain.of({"walk": {"walk": "1/2", "rest": "1/2"}, "rest": {"walk": 1}})], "different states"),
    ],
)
def test_what_is_no_class_of_priors(priors: object, said: str) -> None:
    with pytest.raises(ScenarioError, match=said):
        calibrate(priors, query=WALKS, epsilon=1, length=10)  # type: ignore[arg-type]


def test_a_network_has_its_own_length() -> None:
    with pytest.raises(ScenarioError, match="the nodes it has"):
        calibrate(FLU, query=count("ill"), epsilon=1, length=4)


@pytest.mark.parametrize(
    ("priors", "method", "query"),
    [
        (BAND, "quilt", WALKS),
        (BAND, "exact", WALKS),
        (BAND, "wasserstein", WALKS),
        (BAND, "spectral", WALKS),
        (BAND, "gk16", WALKS),
        (WALK, "gk16", WALKS),
        (WALK, "wasserstein", histogram(["rest", "walk"])),
        (WALK.starting("any"), "exact", WALKS),
        (WALK, "exact", lipschitz(len, constant=1)),
    ],
)
def test_a_method_that_does_not_apply_says_why(priors: object, method: str, query: object) -> None:
    with pytest.raises(PrivproofError) as problem:
        calibrate(priors, query=query, epsilon=1, length=10, method=method)  # type: ignore[arg-type]
    assert problem.value.message
    made = calibrate(priors, query=query, epsilon=1, length=10)  # type: ignore[arg-type]
    assert check(made.question).status == "proved"


def test_noise_in_steps_that_do_not_fit() -> None:
    with pytest.raises(ScenarioError, match="steps of 2 do not reach all multiples of 1"):
        verify(WALK, query=WALKS, noise=Geometric.of("1/2", step=2), length=5)


def test_noise_in_finer_steps_is_the_same_on_whole_ones() -> None:
    fine = verify(WALK, query=WALKS, noise=Geometric.of("1/2", step="1/2"), length=5)
    assert fine.tight == verify(WALK, query=WALKS, noise=Geometric.of("1/4"), length=5).tight  # type: ignore[union-attr]


# --------------------------------------------------------------------------------------------------- releasing a number


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (["rest"] * 4, "4 entries, the noise is for 5"),
        (["rest"] * 6, "6 entries, the noise is for 5"),
        (["rest"] * 4 + ["run"], "unknown state 'run'"),
        ([["rest"] * 2, ["rest"] * 3], "a series of length 2; the noise is for 5"),
        ([["rest"] * 5, []], "no series|length 0"),
        ("rest", "is no series"),
        ({"a": "rest"}, "is no series"),
        ([], "is no series"),
        ([[]], "no series|0 entries"),
        (None, "is no series"),
        ([1, 2, 3, 4, 5], "series|state"),
    ],
)
def test_data_that_the_noise_is_not_for(data: object, said: str) -> None:
    made = calibrate(WALK, query=WALKS, epsilon=1, length=5)
    with pytest.raises(ScenarioError, match=said):
        release.release(made, data)  # type: ignore[arg-type]


def test_quilts_also_serve_shorter_series() -> None:
    made = calibrate(WALK, query=WALKS, epsilon=1, length=5, method="quilt")
    assert release.release(made, [["rest"] * 2, ["rest"] * 3]).value.denominator == 1
    with pytest.raises(ScenarioError, match="entries"):
        release.release(made, [["rest"] * 6])


def test_one_number_or_several() -> None:
    made = calibrate(WALK, query=WALKS, epsilon=1, length=4)
    found = release.release(made, ["rest", "walk", "walk", "rest"], seed=5)
    assert list(found.values) == ["count of walk"]
    assert found.value == found.values["count of walk"]
    assert isinstance(found.value, Fraction)
    several = release.release(
        calibrate(WALK, query=histogram(["rest", "walk"]), epsilon=1, length=4), ["rest", "walk", "walk", "rest"]
    )
    assert list(several.values) == ["rest", "walk"]
    with pytest.raises(QuestionError, match="2 numbers were released"):
        _ = several.value


def test_a_seed_repeats_the_noise_and_nothing_else_does() -> None:
    made = calibrate(WALK, query=WALKS, epsilon="1/100", length=4)
    data = ["rest", "walk", "walk", "rest"]

    def drawn(seed: int | None) -> list[Fraction]:
        source = None if seed is None else Seeded(seed)
        return [release.release(made, data, seed=source).value for _ in range(5)]

    first = drawn(7)
    assert drawn(7) == first
    assert drawn(8) != first
    assert drawn(None) != first
    assert release.release(made, data, seed=7).value == first[0]


def test_noise_is_around_the_truth() -> None:
    made = calibrate(WALK, query=mean({"walk": 3}), epsilon=2, length=8)
    data = ["walk"] * 6 + ["rest"] * 2
    source = Seeded(1)
    drawn = [release.release(made, data, seed=source).value for _ in range(600)]
    assert all((value * 8 / 3).denominator == 1 for value in drawn)
    assert abs(sum(drawn) / 600 - Fraction(18, 8)) < Fraction(1, 4)
    spread = sum(abs(value - Fraction(18, 8)) for value in drawn) / 600
    assert float(spread) == pytest.approx(float(made.expected_error), rel=0.2)


def test_a_function_gets_the_series_and_keeps_its_lattice() -> None:
    made = calibrate(WALK, query=lipschitz(len, constant=1), epsilon=1, length=4)
    assert release.release(made, ["rest"] * 4).value.denominator == 1
    half = calibrate(WALK, query=lipschitz(lambda series: Fraction(1, 3), constant=1), epsilon=1, length=4)
    with pytest.raises(ScenarioError, match="no multiple of the step 1"):
        release.release(half, ["rest"] * 4)
    assert any("stated, not verified" in note for note in check(made.question).notes)


# ------------------------------------------------------------------------------------------------- errors and what is paid


def geometric_law(alpha: Fraction, most: int) -> dict[int, Fraction]:
    return {k: (1 - alpha) / (1 + alpha) * alpha ** abs(k) for k in range(-most, most + 1)}


@pytest.mark.diagonal
@pytest.mark.parametrize("alpha", ["1/10", "1/2", "9/10"])
@pytest.mark.parametrize("beta", ["1/2", "1/20", "1/1000"])
def test_accuracy_by_summing_the_law(alpha: str, beta: str) -> None:
    law = geometric_law(Fraction(alpha), 200)
    noise = Geometric.of(alpha, step="1/3")
    made = calibrate(WALK, query=mean({"walk": "1/3"}), epsilon=1, length=4)
    made = replace(made, question=replace(made.question, noise=noise))
    steps = made.accuracy(beta) * 3 * 4
    assert steps.denominator == 1
    beyond = [1 - sum(law[k] for k in law if abs(k) <= t) for t in (int(steps), int(steps) - 1)]
    assert beyond[0] <= Fraction(beta)
    assert steps == 0 or beyond[1] > Fraction(beta)


def test_accuracy_where_equality_holds() -> None:
    from privproof.release.noise_steps import accuracy

    for steps in range(6):
        for alpha in (Fraction(1, 2), Fraction(2, 3)):
            beyond = 2 * alpha ** (steps + 1) / (1 + alpha)
            assert accuracy(Geometric.of(alpha), beyond) == steps
            assert accuracy(Geometric.of(alpha), beyond * Fraction(999, 1000)) == steps + 1


@pytest.mark.parametrize("beta", [0, 1, "3/2", -1])
def test_accuracy_wants_a_probability(beta: object) -> None:
    with pytest.raises(BudgetError, match="beta"):
        calibrate(WALK, query=WALKS, epsilon=1, length=4).accuracy(beta)  # type: ignore[arg-type]


def test_accuracy_of_laplace_noise() -> None:
    made = calibrate(WALK, query=WALKS, epsilon=1, length=10, noise="laplace", method="group")
    assert made.scale == 10
    assert exp(-float(made.accuracy("1/20")) / 10) == pytest.approx(1 / 20, rel=1e-12)


@pytest.mark.parametrize(
    ("query", "components", "divisor"),
    [(WALKS, 1, 1), (histogram(["rest", "walk"]), 2, 1), (histogram(["rest", "walk"], relative=True), 2, 30)],
)
def test_expected_errors_by_summing_the_law(query: object, components: int, divisor: int) -> None:
    made = calibrate(WALK, query=query, epsilon=5, length=30)  # type: ignore[arg-type]
    assert isinstance(made.noise, Geometric)
    alpha = fraction(made.noise.alpha)
    summed = sum(float(p) * abs(k) for k, p in geometric_law(alpha, 300).items())
    assert float(made.expected_error) == pytest.approx(summed * components / divisor, rel=1e-9)
    laplace = calibrate(WALK, query=query, epsilon=5, length=30, noise="laplace")  # type: ignore[arg-type]
    assert laplace.expected_error == fraction(laplace.noise.expected) * components / divisor


def test_an_entry_costs_the_rate_times_what_it_moves() -> None:
    for query, moved in ((WALKS, 1), (histogram(["rest", "walk"]), 2), (weighted_sum({"walk": 5, "rest": -2}), 7)):
        made = calibrate(WALK, query=query, epsilon=1, length=20, noise="laplace", method="quilt")
        assert float(made.cost) == pytest.approx(
            moved / float(made.expected_error) * (2 if moved == 2 else 1), rel=1e-9
        )
        assert made.cost <= Fraction("0.0781")
    drawn = calibrate(WALK, query=WALKS, epsilon=1, length=20)
    assert isinstance(drawn.noise, Geometric)
    assert float(drawn.cost) == pytest.approx(-log(float(fraction(drawn.noise.alpha))), rel=1e-12)
    assert float(drawn.cost) >= -log(float(fraction(drawn.noise.alpha)))


def test_errors_side_by_side() -> None:
    table = errors_by_method(WALK, query=WALKS, epsilons=["1/2", 1, 2], lengths=[100])
    assert "gk16" not in table
    assert [round(float(error), 2) for error in table["quilt"] if error] == [30.75, 12.84, 4.91]
    for row in table.values():
        assert all(one > other for one, other in pairwise(row))  # type: ignore[operator]


# --------------------------------------------------------------------------------------------------- the best of methods


CASES = [
    (WALK, WALKS, 12),
    (WALK.starting("any"), WALKS, 12),
    (RISING, WALKS, 12),
    (MILD, WALKS, 12),
    (MILD, histogram(["rest", "walk"]), 12),
    ([WALK, MILD], weighted_sum({"walk": 3, "rest": 1}), 8),
    (BAND, WALKS, 12),
    (Chain.of({"a": {"b": 1}, "b": {"a": 1}}), count("a"), 3),
    (Chain.of({"a": {"b": "9/10", "a": "1/10"}, "b": {"a": "9/10", "b": "1/10"}}), count("a"), 10),
]


@pytest.mark.parametrize(
    ("priors", "query", "length", "epsilon"),
    [
        pytest.param(*case, epsilon, marks=() if (row + column) % 3 == 0 else pytest.mark.slow)
        for row, case in enumerate(CASES)
        for column, epsilon in enumerate(("1/5", "1", "5"))
    ],
)
def test_auto_is_never_worse_than_a_proved_method(priors: object, query: object, length: int, epsilon: str) -> None:
    for noise in ("geometric", "laplace"):
        best = calibrate(priors, query=query, epsilon=epsilon, length=length, noise=noise)  # type: ignore[arg-type]
        verdict = check(best.question)
        assert verdict.status == "proved"
        assert isinstance(recheck(nested(verdict.certificate)), Accepted)
        for method in METHODS:
            if method == "gk16" and query.kind != "sum":  # type: ignore[attr-defined]
                continue
            try:
                made = calibrate(priors, query=query, epsilon=epsilon, length=length, noise=noise, method=method)  # type: ignore[arg-type]
            except PrivproofError:
                continue
            if check(made.question).status == "proved":
                assert best.expected_error <= made.expected_error * (1 + Fraction(1, 10**5)), method


@pytest.mark.parametrize("start", ["stationary", "any", {"rest": "1/2", "walk": "1/2"}])
def test_what_auto_chooses_for_independent_entries_is_proved(start: object) -> None:
    """All methods meet there, and roundings decide between them."""
    chain = Chain.of({x: {"rest": "1/3", "walk": "2/3"} for x in ("rest", "walk")}, initial=start)  # type: ignore[arg-type]
    for query, length, epsilon in product((WALKS, histogram(["rest", "walk"])), (1, 2, 3, 50), ("1/50", "1/5", "1")):
        for noise in ("geometric", "laplace"):
            made = calibrate(chain, query=query, epsilon=epsilon, length=length, noise=noise)  # type: ignore[arg-type]
            assert check(made.question).status == "proved", (made.method, query.name, length, epsilon, noise)


def test_what_auto_says_about_the_others() -> None:
    made = calibrate(WALK, query=WALKS, epsilon=1, length=30)
    assert made.method == "exact"
    assert set(made.others) == {"quilt", "contraction", "wasserstein", "exact"}
    assert made.others["exact"] == made.expected_error
    assert made.others["wasserstein"] > made.expected_error  # type: ignore[operator]
    unsure = calibrate(WALK.starting("any"), query=WALKS, epsilon=1, length=30)
    assert unsure.method == "quilt"
    assert "start" in str(unsure.others["exact"])
    assert calibrate(BAND, query=WALKS, epsilon=1, length=30).method == "contraction"


def test_a_large_table_is_left_to_quilts() -> None:
    made = calibrate(WALK, query=WALKS, epsilon=1, length=100_000)
    assert made.method == "quilt"
    assert "by name" in str(made.others["exact"])
    assert check(made.question).status == "proved"


# --------------------------------------------------------------------------------------------- verifying what others made


def loss_by_hand(rows: list[list[float]], start: list[float], length: int, kernel: object) -> float:
    """The loss of a noisy count of the second state, from the definition, in floating point."""
    laws: dict[tuple[int, int], list[float]] = {}
    for values in product((0, 1), repeat=length):
        chance = start[values[0]]
        for here, there in pairwise(values):
            chance *= rows[here][there]
        for entry, x in enumerate(values):
            laws.setdefault((entry, x), [0.0] * (length + 1))[sum(values)] += chance
    worst = 0.0
    for entry in range(length):
        sides = [laws[entry, x] for x in (0, 1)]
        totals = [sum(side) for side in sides]
        for z in range(length + 1):
            seen = [
                sum(p * kernel(abs(z - c)) for c, p in enumerate(side)) / total  # type: ignore[operator]
                for side, total in zip(sides, totals, strict=True)
            ]
            worst = max(worst, abs(log(seen[0] / seen[1])))
    return worst


@pytest.mark.diagonal
@pytest.mark.parametrize(
    ("noise", "kernel"),
    [
        (Laplace.of(2), lambda d: exp(-d / 2)),
        (Geometric.of("1/2"), lambda d: 0.5**d),
        (Laplace.of("1/4"), lambda d: exp(-4 * d)),
    ],
)
@pytest.mark.parametrize("length", [1, 3, 8])
def test_tight_epsilon_is_the_loss(noise: object, kernel: object, length: int) -> None:
    expected = loss_by_hand([[0.9, 0.1], [0.4, 0.6]], [0.8, 0.2], length, kernel)
    found = verify(WALK, query=WALKS, noise=noise, length=length)  # type: ignore[arg-type]
    assert found.status == "proved"  # type: ignore[union-attr]
    assert number(found.lower) == pytest.approx(expected, rel=1e-9)  # type: ignore[union-attr]
    assert number(found.upper) == pytest.approx(expected, rel=1e-9)  # type: ignore[union-attr]
    assert isinstance(recheck(nested(found.certificate)), Accepted)  # type: ignore[union-attr]
    if isinstance(noise, Geometric):
        assert found.tight is not None, "an exact logarithm"  # type: ignore[union-attr]
    for claim, status in ((expected * 1.0001, "proved"), (expected * 0.9999, "refuted")):
        verdict = verify(
            WALK, query=WALKS, noise=noise, length=length, epsilon=str(Fraction(claim).limit_denominator(10**9))
        )  # type: ignore[arg-type]
        assert verdict.status == status  # type: ignore[union-attr]
        assert isinstance(recheck(nested(verdict.certificate)), Accepted)  # type: ignore[union-attr]


def test_a_refutation_names_two_values_and_an_event() -> None:
    verdict = verify(WALK, query=WALKS, noise=Laplace.of(1), length=30, epsilon=1)
    assert verdict.status == "refuted"  # type: ignore[union-attr]
    witness = verdict.witness  # type: ignore[union-attr]
    assert set(witness.secrets) == {"X_15 = walk", "X_15 = rest"}
    assert float(witness.loss()) > 1
    assert float(witness.left_probability.ball() / witness.right_probability.ball()) > exp(1)


@pytest.mark.parametrize("scale", ["1/10", "1/200", "1/500"])
def test_next_to_no_noise_is_refuted_with_probabilities_above_zero(scale: str) -> None:
    verdict = verify(WALK, query=WALKS, noise=Laplace.of(scale), length=6, epsilon=1)
    assert verdict.status == "refuted"  # type: ignore[union-attr]
    assert isinstance(recheck(nested(verdict.certificate)), Accepted)  # type: ignore[union-attr]
    data = release_witness_data(verdict.witness)  # type: ignore[union-attr]
    assert not data["right_probability"][0].startswith("-")
    assert data["ratio"] != "inf"


def test_the_scale_of_the_lecture_notes_loses_almost_twenty() -> None:
    """Algorithm 2 of the lecture notes, taken literally, adds noise of scale T / epsilon^2 at epsilon = 5."""
    chain = Chain.of(
        {"0": {"0": "0.988", "1": "0.012"}, "1": {"0": "0.018", "1": "0.982"}}, initial={"0": "0.051", "1": "0.949"}
    )
    verdict = verify(chain, query=count("1"), noise=Laplace.of("2/25"), length=2, epsilon=5)
    assert verdict.status == "refuted"  # type: ignore[union-attr]
    assert number(verdict.lower) == pytest.approx(19.5313, abs=5e-5)  # type: ignore[union-attr]
    expected = loss_by_hand([[0.988, 0.012], [0.018, 0.982]], [0.051, 0.949], 2, lambda d: exp(-12.5 * d))
    assert number(verdict.lower) == pytest.approx(expected, rel=1e-9)  # type: ignore[union-attr]
    assert isinstance(recheck(nested(verdict.certificate)), Accepted)  # type: ignore[union-attr]
    good = calibrate(chain, query=count("1"), epsilon=5, length=2)
    assert check(good.question).status == "proved"


def test_entries_that_are_hidden_one_by_one_are_not_hidden_together() -> None:
    """Noise for independent entries, on entries that depend on each other."""
    assert verify(WALK, query=WALKS, noise=Laplace.of(1), length=20, epsilon=1).status == "refuted"  # type: ignore[union-attr]
    independent = Chain.of({x: {"rest": "0.8", "walk": "0.2"} for x in ("rest", "walk")})
    assert verify(independent, query=WALKS, noise=Laplace.of(1), length=20, epsilon=1).status == "proved"  # type: ignore[union-attr]


@pytest.mark.parametrize(("hits", "tries"), [(0, 7), (3, 3), (1, 1), (30, 100), (1, 40_000), (500, 2_000)])
def test_an_interval_leaves_out_what_the_tries_speak_against(hits: int, tries: int) -> None:
    level = Fraction(1, 50)
    low, high = (Fraction(str(end)) for end in confidence_interval(hits, tries, rational(level)))
    assert 0 <= low <= Fraction(hits, tries) <= high <= 1

    def weight(p: Fraction) -> float:
        if not 0 < p < 1:
            return -inf if hits * (1 - p) or (tries - hits) * p else log(tries + 1)
        return log(tries + 1) + log(comb(tries, hits)) + hits * log(p) + (tries - hits) * log(1 - p)

    for end, inner in ((low, 2), (high, -2)):
        assert end in (0, 1) or weight(end) < log(level)
        assert weight(end + Fraction(inner, 10**6)) >= log(level)


def test_intervals_hold_however_often_a_state_is_left() -> None:
    """Tries that stop when the hits look the worst: an interval for a fixed number would fail far more often."""
    random, failed = Random(7), 0
    for _ in range(400):
        hits, tries, worst = 0, 0, 0.0
        for _ in range(60):
            hits, tries = hits + (random.random() < 0.3), tries + 1
            worst = max(worst, -(log(tries + 1) + log(comb(tries, hits)) + hits * log(0.3) + (tries - hits) * log(0.7)))
        failed += worst > log(10)
    assert failed <= 400 * 0.1


def test_a_band_is_fitted_with_a_confidence() -> None:
    random = Random(3)
    series, state = [], "rest"
    for _ in range(4000):
        state = random.choices(("rest", "walk"), (9, 1) if state == "rest" else (4, 6))[0]
        series.append(state)
    band = Band.fit([series], confidence="0.99")
    assert all(
        low <= exact <= high
        for lows, highs, row in zip(band.low, band.high, WALK.rows, strict=True)
        for low, high, exact in zip(lows, highs, row, strict=True)
    )
    wider = Band.fit([series], confidence="0.999999")
    assert wider.low[0][0] < band.low[0][0] < band.high[0][0] < wider.high[0][0]
    made = calibrate(band, query=WALKS, epsilon=2, length=500)
    assert made.method == "contraction"
    assert check(made.question).status == "proved"
    assert made.scale >= calibrate(WALK, query=WALKS, epsilon=2, length=500, method="contraction").scale
    for wrong in ("0", "1", "2"):
        with pytest.raises(ScenarioError, match="confidence"):
            Band.fit([series], confidence=wrong)


def test_what_is_read_off_a_histogram() -> None:
    made = calibrate(
        Chain.of({x: dict.fromkeys("abc", "1/3") for x in "abc"}), query=histogram("abc"), epsilon=1, length=10
    )
    shown = release.Released({"a": Fraction(3), "b": Fraction(-1), "c": Fraction(8)}, made)
    assert (shown.largest(), shown.largest(3)) == (("c",), ("c", "a", "b"))
    assert [shown.quantile(share) for share in ("1/10", "3/10", "31/100", "1/2", "99/100")] == ["a", "a", "c", "c", "c"]
    low = release.Released({"a": Fraction(1), "b": Fraction(1), "c": Fraction(1)}, made)
    assert (low.largest(2), low.quantile()) == (("a", "b"), "c")
    shares = calibrate(WALK, query=histogram(["rest", "walk"], relative=True), epsilon=1, length=10)
    told = release.Released({"rest": Fraction(1, 4), "walk": Fraction(1)}, shares)
    assert (told.quantile("1/4"), told.quantile()) == ("rest", "walk")
    for wrong in (0, 4, True, "1"):
        with pytest.raises(QuestionError):
            shown.largest(wrong)  # type: ignore[arg-type]
    for share in (0, 1, "-1/2"):
        with pytest.raises(QuestionError):
            shown.quantile(share)
    with pytest.raises(QuestionError):
        release.release(calibrate(WALK, query=WALKS, epsilon=1, length=3), ["rest"] * 3).quantile()


def test_histograms_are_bounded_by_quilts_where_the_start_may_be_any() -> None:
    query, anywhere = histogram(["rest", "walk"]), MILD.starting("any")
    found = verify(anywhere, query=query, noise=Laplace.of(10), length=20)
    assert found.status == "proved"  # type: ignore[union-attr]
    assert found.tight is None  # type: ignore[union-attr]
    assert verify(MILD, query=query, noise=Laplace.of(10), length=20, epsilon="1/100").status == "refuted"  # type: ignore[union-attr]


def test_a_histogram_needs_a_quarter_of_the_noise_of_quilts() -> None:
    query = histogram(["rest", "walk"])
    by_quilts = calibrate(WALK, query=query, epsilon=1, length=60, method="quilt", noise="laplace")
    made = calibrate(WALK, query=query, epsilon=1, length=60, noise="laplace")
    assert made.method == "exact"
    assert (round(float(by_quilts.scale), 3), round(float(made.scale), 3)) == (25.68, 6.673)
    verdict = verify(made)
    assert verdict.status == "proved"  # type: ignore[union-attr]
    assert isinstance(recheck(nested(verdict.certificate)), Accepted)  # type: ignore[union-attr]
    less = Laplace(made.noise.scale * 999 / 1000)  # type: ignore[union-attr]
    refuted = verify(WALK, query=query, epsilon=1, length=60, noise=less)
    assert refuted.status == "refuted"  # type: ignore[union-attr]
    assert refuted.witness.output.startswith("released counts rest")  # type: ignore[union-attr]
    document = nested(refuted.certificate)  # type: ignore[union-attr]
    assert isinstance(recheck(document), Accepted)
    for box in ([], [["0", "0"]], [["-inf", "inf"], ["-inf", "inf"]], [["1", "0"], ["0", "1"]], [["0"], ["1"]], "all"):
        assert not isinstance(recheck({**document, "evidence": {**document["evidence"], "box": box}}), Accepted)


def test_a_histogram_too_large_for_its_laws_is_left_to_quilts() -> None:
    states = "abcdefgh"
    even = Chain.of({x: {y: "1/4" if x == y else "3/28" for y in states} for x in states})
    made = calibrate(even, query=histogram(states), epsilon=1, length=1000)
    assert made.method == "quilt"
    assert "large" in str(made.others["exact"])
    with pytest.raises(PrivproofError, match="outputs"):
        calibrate(even, query=histogram(states), epsilon=1, length=1000, method="exact")


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"subject": WALK, "query": WALKS, "length": 5}, "with which noise"),
        ({"subject": WALK, "noise": Laplace.of(1), "length": 5}, "what is released"),
        ({"subject": WALK, "query": WALKS, "noise": 3, "length": 5}, "with which noise"),
        ({"subject": "walk"}, "is no mechanism"),
        ({"subject": WALK, "query": WALKS, "noise": Laplace.of(1)}, "how long"),
        ({"subject": [], "query": WALKS, "noise": Laplace.of(1), "length": 5}, "is no prior"),
    ],
)
def test_what_cannot_be_verified(given: dict[str, object], said: str) -> None:
    with pytest.raises(PrivproofError, match=said):
        verify(given.pop("subject"), **given)  # type: ignore[arg-type]


@pytest.mark.parametrize("scale", [0, -1, "0"])
def test_there_is_no_noise_of_scale_zero(scale: object) -> None:
    with pytest.raises(ScenarioError):
        Laplace.of(scale)  # type: ignore[arg-type]
    with pytest.raises(ScenarioError):
        Geometric.of(scale)  # type: ignore[arg-type]


# ------------------------------------------------------------------------------------------------------------ certificates


def proofs() -> list[dict[str, object]]:
    """One certificate of every kind."""
    questions = [
        calibrate(WALK, query=WALKS, epsilon=1, length=10).question,
        calibrate(WALK, query=histogram(["rest", "walk"]), epsilon=1, length=60).question,
        calibrate(WALK.starting("any"), query=WALKS, epsilon=1, lengths=[40, 60]).question,
        calibrate(BAND, query=WALKS, epsilon=1, length=60).question,
        calibrate(FLU, query=count("ill"), epsilon=1).question,
        calibrate(FLU, query=histogram(["healthy", "ill"]), epsilon=1).question,
    ]
    return [nested(check(question).certificate) for question in questions]  # type: ignore[misc]


def test_certificates_are_accepted_and_less_noise_is_not() -> None:
    for certificate in proofs():
        assert isinstance(recheck(certificate), Accepted)
        for name, value in (("epsilon", "9/10"), ("epsilon", "1/1000"), ("epsilon", "0")):
            changed = deepcopy(certificate)
            changed["question"][name] = value  # type: ignore[index]
            assert isinstance(recheck(changed), Rejected), certificate["evidence"]
        for alpha in ("1/100", "0", "1", "-1/2"):
            changed = deepcopy(certificate)
            changed["question"]["noise"]["alpha"] = alpha  # type: ignore[index]
            assert isinstance(recheck(changed), Rejected), certificate["evidence"]


def test_a_certificate_about_other_beliefs_is_rejected() -> None:
    certificate = nested(check(calibrate(WALK, query=WALKS, epsilon=1, length=10).question).certificate)
    assert certificate is not None
    for rows in ([["99/100", "1/100"], ["1/100", "99/100"]], [["9/10", "1/10"]], [["9/10", "2/10"], ["2/5", "3/5"]]):
        changed = deepcopy(certificate)
        changed["question"]["priors"][0]["rows"] = rows
        assert isinstance(recheck(changed), Rejected)
    for member, value in (("lengths", [2000]), ("priors", []), ("lengths", []), ("query", {"kind": "sum"})):
        changed = deepcopy(certificate)
        changed["question"][member] = value
        assert isinstance(recheck(changed), Rejected)
    for verdict in ("refuted", "unknown", ""):
        assert isinstance(recheck({**certificate, "verdict": verdict}), Rejected)


def test_a_refutation_that_was_changed_is_rejected() -> None:
    certificate = nested(verify(WALK, query=WALKS, noise=Laplace.of(1), length=10, epsilon=1).certificate)  # type: ignore[union-attr]
    assert certificate["verdict"] == "refuted"
    assert isinstance(recheck(certificate), Accepted)
    evidence = certificate["evidence"]
    changed = deepcopy(certificate)
    changed["evidence"].update(low="-inf", high="inf")
    assert isinstance(recheck(changed), Rejected), "what always happens tells nothing"
    for name, value in (
        ("left", evidence["right"]),
        ("left", "run"),
        ("node", 11),
        ("node", 0),
        ("length", 9),
        ("low", "inf"),
        ("high", "-inf"),
        ("prior", 1),
    ):
        changed = deepcopy(certificate)
        changed["evidence"][name] = value
        assert isinstance(recheck(changed), Rejected), (name, value)
    changed = deepcopy(certificate)
    changed["question"]["noise"]["scale"] = "100"
    assert isinstance(recheck(changed), Rejected)
    changed["question"]["noise"]["scale"] = "1"
    changed["question"]["epsilon"] = "5"
    assert isinstance(recheck(changed), Rejected)


# ---------------------------------------------------------------------------------------------------------------- networks


def joint_of(network: Network) -> list[tuple[tuple[str, ...], Fraction]]:
    return [(values, fraction(p)) for values, p in network.joint()]


def network_loss(network: Network, counted: str, kernel: object) -> float:
    """The loss of a noisy count, from the joint distribution."""
    worst = 0.0
    joint, size = joint_of(network), len(network.nodes)
    for i, node in enumerate(network.nodes):
        laws = []
        for value in node.values:
            law = [0.0] * (size + 1)
            for values, chance in joint:
                if values[i] == value:
                    law[values.count(counted)] += float(chance)
            if sum(law):
                laws.append([p / sum(law) for p in law])
        for left, right in combinations(laws, 2):
            for z in range(size + 1):
                seen = [sum(p * kernel(abs(z - c)) for c, p in enumerate(law)) for law in (left, right)]  # type: ignore[operator]
                worst = max(worst, abs(log(seen[0] / seen[1])))
    return worst


def test_the_flu_of_four_people() -> None:
    """The example of Song, Wang and Chaudhuri: the distance is 2 where a group of four would need 4."""
    made = calibrate(FLU, query=count("ill"), epsilon=1, method="wasserstein", noise="laplace")
    assert made.scale == 2
    assert made.plan.distance is not None
    assert made.plan.distance.steps == 2
    assert number(verify(FLU, query=count("ill"), noise=made.noise).upper) == pytest.approx(0.560, abs=5e-4)  # type: ignore[union-attr]
    assert float(calibrate(FLU, query=count("ill"), epsilon=1, noise="laplace").scale) == pytest.approx(
        1.1545, abs=5e-5
    )
    assert calibrate(FLU, query=count("ill"), epsilon=1, method="group", noise="laplace").scale == 4


@pytest.mark.parametrize("epsilon", ["1/2", "2"])
def test_a_network_end_to_end(epsilon: str) -> None:
    by_weather = {"yes": {"bus": "3/4", "bike": "1/4"}, "no": {"bus": "1/4", "bike": "3/4"}}
    street = Network.of(
        {
            "rain": {"table": {"yes": "1/5", "no": "4/5"}},
            "Ann": {"parents": ["rain"], "table": by_weather},
            "Bob": {"parents": ["rain"], "table": by_weather},
        }
    )
    made = calibrate(street, query=count("bus"), epsilon=epsilon)
    verdict = check(made.question)
    assert verdict.status == "proved"
    assert isinstance(recheck(nested(verdict.certificate)), Accepted)
    assert isinstance(made.noise, Geometric)
    alpha = float(fraction(made.noise.alpha))
    expected = network_loss(street, "bus", lambda d: alpha**d)
    assert expected <= float(Fraction(epsilon)) * (1 + 1e-12)
    assert number(verdict.upper) == pytest.approx(expected, rel=1e-9)
    data = {"rain": "yes", "Ann": "bus", "Bob": "bike"}
    assert release.release(made, data).value.denominator == 1
    less = verify(street, query=count("bus"), noise=Geometric.of("1/100"), epsilon=epsilon)
    assert less.status == "refuted"  # type: ignore[union-attr]
    assert isinstance(recheck(nested(less.certificate)), Accepted)  # type: ignore[union-attr]
    for wrong, said in (
        (["bus"], "a value for every node"),
        ({"rain": "yes"}, "values for"),
        ({**data, "Bob": "car"}, "unknown value 'car'"),
    ):
        with pytest.raises(ScenarioError, match=said):
            release.release(made, wrong)  # type: ignore[arg-type]


def test_a_chain_as_a_network_needs_the_same_noise() -> None:
    chain = calibrate(WALK, query=WALKS, epsilon=1, length=6, noise="laplace")
    network = calibrate(Network.chain(WALK, 6), query=WALKS, epsilon=1, noise="laplace")
    assert float(chain.scale) == pytest.approx(float(network.scale), rel=1e-6)


# -------------------------------------------------------------------------------------------------------------- frameworks


@prior
def household():
    first = bernoulli("1/3")
    second = bernoulli("3/4") if first else bernoulli("1/5")
    return first, second, bernoulli("1/5")


@prior(p="1/10 <= p <= 1/2")
def unknown_household(p):
    first = bernoulli(p)
    second = bernoulli("3/4") if first else bernoulli(p)
    return first, second, bernoulli(p)


CHOSEN = MappingProxyType(
    {
        ill: MappingProxyType(
            dict.fromkeys([who for who in product((0, 1), repeat=4) if sum(who) == ill], Fraction(1, comb(4, ill)))
        )
        for ill in (1, 2, 3)
    }
)


@prior
def four_people():
    ill = choice({0: "1/10", 1: "3/20", 2: "1/2", 3: "3/20", 4: "1/10"})
    if ill == 0:
        return 0, 0, 0, 0
    if ill == 1:
        return choice(CHOSEN[1])
    if ill == 2:
        return choice(CHOSEN[2])
    if ill == 3:
        return choice(CHOSEN[3])
    return 1, 1, 1, 1


SECRETS = {"ann is ill": lambda data: data[0], "ann is well": lambda data: not data[0]}


def household_laws(chances: list[Fraction]) -> list[dict[int, Fraction]]:
    """The law of the number of ill people given the first is ill, and given she is not, by enumeration."""
    first, after, alone, third = chances
    laws: list[dict[int, Fraction]] = [{}, {}]
    for a, b, c in product((0, 1), repeat=3):
        second = after if a else alone
        chance = (first if a else 1 - first) * (second if b else 1 - second) * (third if c else 1 - third)
        law = laws[1 - a]
        law[a + b + c] = law.get(a + b + c, Fraction(0)) + chance
    return [{value: p / sum(law.values()) for value, p in law.items()} for law in laws]


def distance(left: dict[int, Fraction], right: dict[int, Fraction]) -> int:
    """The least w with F(t) <= G(t + w) and G(t) <= F(t + w) for all t."""

    def below(law: dict[int, Fraction], t: int) -> Fraction:
        return sum((p for value, p in law.items() if value <= t), Fraction(0))

    return next(
        w
        for w in range(20)
        if all(
            below(one, t) <= below(other, t + w) for one, other in ((left, right), (right, left)) for t in range(-1, 20)
        )
    )


def mixed_loss(left: dict[int, Fraction], right: dict[int, Fraction], alpha: Fraction) -> float:
    return max(
        abs(
            log(
                sum(p * alpha ** abs(z - v) for v, p in left.items())
                / sum(p * alpha ** abs(z - v) for v, p in right.items())
            )
        )
        for z in range(-1, 6)
    )


@pytest.mark.diagonal
@pytest.mark.parametrize("method", ["auto", "exact", "wasserstein"])
@pytest.mark.parametrize("epsilon", ["1/2", "1", "ln(2)", "4"])
def test_a_framework_without_parameters(method: str, epsilon: str) -> None:
    protected = protect(household, secrets=SECRETS, query=sum, epsilon=epsilon, method=method)
    laws = household_laws([Fraction(1, 3), Fraction(3, 4), Fraction(1, 5), Fraction(1, 5)])
    assert protected.distance == distance(*laws)
    verdict = check(protected.question)
    assert verdict.status == "proved"
    assert isinstance(recheck(nested(verdict.certificate)), Accepted)
    tight = tight_epsilon(protected.question).tight
    assert tight is not None
    assert tight.compare(protected.epsilon) <= 0
    assert number(tight) == pytest.approx(mixed_loss(*laws, fraction(protected.noise.alpha)), rel=1e-9)
    assert protected.method == ("wasserstein" if method == "wasserstein" else "exact")
    if method != "wasserstein":
        assert number(tight) == pytest.approx(number(protected.epsilon), rel=1e-4), "the least noise there is"


def test_a_framework_with_parameters() -> None:
    protected = protect(unknown_household, secrets=SECRETS, query=sum, epsilon=1)
    assert protected.method == "wasserstein"
    grid = [Fraction(1, 10) + Fraction(k, 25) * Fraction(2, 5) for k in range(26)]
    laws = [household_laws([p, Fraction(3, 4), p, p]) for p in grid]
    assert protected.distance == max(distance(*pair) for pair in laws)
    assert check(protected.question).status == "proved"
    tight = tight_epsilon(protected.question).tight
    assert tight is not None
    assert tight.compare(protected.epsilon) <= 0
    found = max(mixed_loss(*pair, fraction(protected.noise.alpha)) for pair in laws)
    assert found <= number(tight) * (1 + 1e-9)
    assert found == pytest.approx(number(tight), rel=1e-2)
    with pytest.raises(QuestionError, match="unknown parameters"):
        protect(unknown_household, secrets=SECRETS, query=sum, epsilon=1, method="exact")


def test_a_framework_and_a_network_agree() -> None:
    protected = protect(four_people, secrets=SECRETS, query=sum, epsilon=1)
    assert protected.distance == 2
    network = calibrate(FLU, query=count("ill"), epsilon=1)
    assert isinstance(network.noise, Geometric)
    assert float(fraction(protected.noise.alpha)) == pytest.approx(float(fraction(network.noise.alpha)), rel=1e-5)


def test_a_protected_value_is_a_value_of_the_query() -> None:
    protected = protect(household, secrets=SECRETS, query=sum, epsilon="1/10")
    drawn = {release.protected_value(protected, (True, True, False), seed=seed) for seed in range(60)}
    assert drawn <= {0, 1, 2, 3}
    assert len(drawn) > 1


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"query": lambda data: 0.5}, "whole number"),
        ({"query": lambda data: data[0]}, "whole number"),
        ({"method": "quilt"}, "unknown method 'quilt'"),
        ({"secrets": {**SECRETS, "never": lambda data: False}}, "'never' is impossible"),
        ({"epsilon": 0}, "epsilon"),
        ({"epsilon": "inf"}, "epsilon"),
        ({"epsilon": -1}, "below zero"),
    ],
)
def test_a_framework_that_makes_no_sense(changed: dict[str, object], said: str) -> None:
    with pytest.raises(PrivproofError, match=said):
        protect(household, **{"secrets": SECRETS, "query": sum, "epsilon": 1, **changed})  # type: ignore[arg-type]


@pytest.mark.parametrize("start", [{"rest": 1}, ("1/2", "1/2"), (Fraction(1), Fraction(0)), (2, -1), (1,), "foo"])
def test_another_start_is_one_or_is_refused(start: object) -> None:
    try:
        chain = WALK.starting(start)  # type: ignore[arg-type]
    except PrivproofError:
        return
    assert check(calibrate(chain, query=WALKS, epsilon=1, length=5).question).status == "proved"


def test_a_query_that_tells_nothing_may_be_answered() -> None:
    protected = protect(household, secrets=SECRETS, query=lambda data: 3, epsilon=1)
    assert protected.distance == 0
    assert check(protected.question).status == "proved"


# ---------------------------------------------------------------------------------------------------------------- the ends


def test_the_facade_names_what_it_has() -> None:
    assert len(set(release.__all__)) == len(release.__all__)
    for name in release.__all__:
        assert hasattr(release, name)


@pytest.mark.parametrize("epsilon", ["1e-12", "100", "5000"])
def test_budgets_far_from_one(epsilon: str) -> None:
    for noise in ("geometric", "laplace"):
        made = calibrate(WALK, query=WALKS, epsilon=epsilon, length=5, noise=noise)  # type: ignore[arg-type]
        assert "=" in str(made.noise) or "scale" in str(made.noise)
        assert "= ≈" not in str(made.noise)
        assert check(made.question).status == "proved"
        assert release.release(made, ["rest"] * 5).value is not None


def test_one_entry_alone() -> None:
    made = calibrate(WALK, query=WALKS, epsilon=1, length=1, noise="laplace")
    assert made.scale == 1
    assert check(made.question).status == "proved"


def test_noise_that_is_just_enough_is_proved() -> None:
    """Laws that are shifts of each other: the loss is the budget itself."""
    swapping = Chain.of({"a": {"b": 1}, "b": {"a": 1}})
    for length in (1, 3, 5):
        made = calibrate(swapping, query=count("a"), epsilon=1, length=length, noise="laplace")
        assert made.scale == 1
        verdict = check(made.question)
        assert verdict.status == "proved"
        assert isinstance(recheck(nested(verdict.certificate)), Accepted)
    assert check(calibrate(swapping, query=count("a"), epsilon=1, length=2).question).status == "proved"


# ------------------------------------------------------------------------------------------------ histograms and accounts


def test_a_histogram_with_too_little_noise_is_refuted_by_one_of_its_counts() -> None:
    verdict = release.verify(
        WALK, length=50, query=release.histogram(["rest", "walk"]), noise=release.Laplace.of(2), epsilon=1
    )
    assert verdict.status == "refuted"
    assert verdict.witness.output.startswith("released count of rest at least")
    assert isinstance(recheck(nested(verdict.certificate)), Accepted)
    for bin in (None, "run", 3):
        evidence = {**nested(verdict.certificate)["evidence"], "bin": bin}
        assert not isinstance(recheck({**nested(verdict.certificate), "evidence": evidence}), Accepted)
    without = {key: value for key, value in nested(verdict.certificate)["evidence"].items() if key != "bin"}
    assert not isinstance(recheck({**nested(verdict.certificate), "evidence": without}), Accepted)


def test_an_account_is_read_back_as_it_was_written(tmp_path) -> None:
    account = release.Accountant.of([WALK, WALK.starting("any")], length=60, epsilon="ln(20)")
    made = release.calibrate(WALK, query=WALKS, epsilon=1, length=60)
    account = account.spending("1/100", last=30, note="steps, in May").spending(made.cost, first=10)
    release.write_account(account, tmp_path / "account.json")
    assert release.read_account(tmp_path / "account.json") == account
    assert release.read_account(tmp_path / "account.json").epsilon == account.epsilon
    empty = release.Accountant.of(WALK, length=3)
    release.write_account(empty, tmp_path / "empty.json")
    assert release.read_account(tmp_path / "empty.json") == empty
    (tmp_path / "other.json").write_text('{"kind": "prior"}')
    with pytest.raises(PrivproofError):
        release.read_account(tmp_path / "other.json")
