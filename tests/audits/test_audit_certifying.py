"""What is certified is true: exact probabilities of events against running the function, and against many runs; verdicts that must not be.

For discrete noise the probability of an event is what `privproof.language.running` finds by running the Python function on all its
random choices and asking of every output, by definition, whether it lies in the event.  For continuous noise it is what a
million runs say, within five standard deviations.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from fractions import Fraction
from math import sqrt
from random import Random
from typing import Any

import pytest
from tests.amounts import ALL, selected
from tests.audits.test_audit_events import happens, loosened
from tests.laplace_programs import Author as ContinuousAuthor
from tests.programs import Author, data_sets, load, related

from privproof.audits.audit_findings import CertifiedCandidate
from privproof.audits.audit_request import audit
from privproof.audits.exact_certification import Suspect, certify_suspect
from privproof.audits.sampling import sample
from privproof.audits.sampling.confidence_intervals import epsilon_at_least
from privproof.audits.sampling.event_learning import learn
from privproof.audits.sampling.output_events import ListBeginning, OneOf, occurs
from privproof.audits.sampling.runnable_functions import runnable
from privproof.engines import Monitor
from privproof.errors import LanguageError, PrivproofError
from privproof.exact import Budget, fraction
from privproof.language import (
    Mechanism,
    bernoulli,
    geometric,
    integer,
    laplace,
    mechanism,
    one_of,
    public,
    randomized_response,
    real,
    stream,
    truncated_geometric,
)
from privproof.language.patterns import ANY, Between
from privproof.language.running import Run, outputs
from privproof.library import mechanisms
from privproof.library.laplace import laplace_noisy_max as noisy_max
from privproof.library.laplace import sparse_vector

BUDGETS = (
    None,
    Budget.of("0"),
    Budget.of("ln(2)"),
    Budget.of("1/2"),
    Budget.of("ln(2)", "1/20"),
    Budget.of("0", "1/4"),
    Budget.of("inf"),
    Budget.of("inf", "1/10"),
)
RUNS = 500


# ---------------------------------------------------------------------------------------------------------- discretely


def shown(made: Mechanism, run: Run) -> Any:
    """The output of a run as samples have it."""
    if made.stream is None or not run.written:
        return run.value if run.ended or made.stream is None else [] if made.generator else None
    written = [value for step in run.written for value in step]
    return written if made.generator else (written[0] if written else None)


class Brute:
    """The probabilities of events on one data set, from all runs."""

    def __init__(self, made: Mechanism, data: Mapping[str, Any], most: int = 1_000) -> None:
        found = outputs(made, data, most=most)
        self.left_over = found.left_over
        merged: dict[str, tuple[Any, Fraction]] = {}
        for run, p in found.runs:
            output = shown(made, run)
            merged[repr(output)] = (output, p + merged.get(repr(output), (output, Fraction(0)))[1])
        self.outputs = list(merged.values())

    def bounds(self, event: Any) -> tuple[Fraction, Fraction]:
        """Between what the probability of an event lies."""
        found = sum((p for output, p in self.outputs if happens(event, output)), Fraction(0))
        return found, found + self.left_over


def agree(found: CertifiedCandidate, left: Brute, right: Brute, budget: Budget | None) -> None:
    """A certified candidate has the probabilities that it says, and the judgement that follows."""
    for side, said in ((left, found.left_probability), (right, found.right_probability)):
        low, high = side.bounds(found.exactly)
        exact = said if isinstance(said, Fraction) else Fraction(float(said.ball(1, 128).mid()))
        room = 0 if isinstance(said, Fraction) else Fraction(1, 10**12)
        assert low - room <= exact <= high + room, (found.exactly, float(exact), float(low), float(high))
    if budget is None:
        assert found.judgement == "exact"
        return
    p, q = found.left_probability, found.right_probability
    if isinstance(p, Fraction) and isinstance(q, Fraction):
        assert (found.judgement == "real") == (not budget.epsilon.allows(p, q, budget.delta))
    if found.judgement == "spurious":
        # not even the whole event breaks the budget
        low, high = left.bounds(found.event)[0], right.bounds(found.event)[1]
        assert budget.epsilon.allows(low, high, budget.delta), (found.event, float(low), float(high))


def events_of(made: Mechanism, left: Any, right: Any, chance: Random) -> tuple[list[Any], tuple[Any, ...]]:
    """Events that are learnt, events at random, and what occurred."""
    one, other = (sample(made, data, RUNS, seed=seed) for seed, data in enumerate((left, right)))
    table = list({repr(o): o for side in (one, other) for o in side.outputs}.values())
    found = [p.event for p in learn(one, other).best(lambda a, b: epsilon_at_least(a, b, RUNS, 0.1), keep=2)]
    near_by = [loosened(chance, chance.choice(table)) for _ in range(4)]
    found += [OneOf((pattern,)) for pattern in near_by if not (made.generator and isinstance(pattern, tuple))]
    lists = [o for o in table if isinstance(o, list | tuple) and o]
    if lists:
        chosen = chance.choice(lists)
        found.append(ListBeginning(tuple(chosen[: chance.randint(1, len(chosen))])))
    return [event for event in found if "HalfSpace" not in repr(event)], tuple(table)


def examine(made: Mechanism, left: Any, right: Any, chance: Random, most: int = 1_000) -> int:
    """How many candidates were certified, all of them rightly."""
    sides = Brute(made, left, most), Brute(made, right, most)
    listed, table = events_of(made, left, right, chance)
    several = 0
    for event in listed:
        for budget in chance.sample(BUDGETS, 2):
            found = certify_suspect(Suspect(made, left, right, event, budget), table, Monitor())
            if found is not None:
                agree(found, *sides, budget)
                several += 1
    return several


@pytest.mark.parametrize("seed", selected(range(20), 3))
def test_random_programs(tmp_path, seed):
    written = Author(seed, unbounded=seed % 3 == 0, small=True)
    made = load(tmp_path, written.text)
    chance = Random(seed)
    listed = data_sets(made, written.size)
    near = [(a, b) for a in listed for b in listed if a != b and related(made, a, b)]
    for left, right in chance.sample(near, min(2, len(near))):
        with suppress(LanguageError):  # what the language refuses is refused here too
            examine(made, left, right, chance, most=400)


@mechanism
def halves(x: integer(0, 3)):
    g = truncated_geometric(x, alpha="1/2", low=0, high=4)
    if bernoulli("1/2"):
        return Fraction(g, 2)
    return g


@mechanism
def alike(x: one_of(True, False)):
    if bernoulli("1/2"):
        return x
    if bernoulli("1/3"):
        return Fraction(1)
    return 1


@mechanism
def looking_like_tails(x: integer(0, 2)):
    g = geometric(x, alpha="1/2")
    if g > 2:
        return "≥5"
    if g < -1:
        return "≤0"
    return g + 4


@mechanism
def several_geometric(x: integer(0, 3)):
    g = geometric(x, alpha="1/2")
    h = geometric(x, alpha="1/3")
    if g > 3:
        return (g, True, h)
    return [g, 1, h]


@mechanism
def yields(x: integer(0, 2)):
    yield "start"
    for _ in range(2):
        if bernoulli("1/2"):
            yield geometric(x, alpha="1/2")
    yield x > 1


@mechanism
def on_a_stream(answers: stream(0, 2)):
    yield "start"
    for answer in answers:
        if bernoulli("1/2"):
            yield truncated_geometric(answer, alpha="1/2", low=0, high=2)
        if bernoulli("1/4"):
            yield "end"
            return


@mechanism
def returns_on_a_stream(answers: stream(0, 2)):
    total = 0
    for answer in answers:
        total = min(total + answer, 3)
        if bernoulli("1/2"):
            return total


@mechanism
def nothing_or_list(x: integer(0, 2)):
    if bernoulli("1/4"):
        return None
    if bernoulli("1/4"):
        return []
    if bernoulli("1/4"):
        return [None, x]
    return [geometric(x, alpha="1/2")]


@mechanism
def rejecting(count: integer(0, 5)):
    while True:
        noisy = geometric(count, alpha="1/2")
        if 0 <= noisy <= 5:
            return noisy


FIXED = [
    (halves, {"x": 0}, {"x": 1}),
    (alike, {"x": True}, {"x": False}),
    (looking_like_tails, {"x": 0}, {"x": 1}),
    (several_geometric, {"x": 1}, {"x": 0}),
    (yields, {"x": 1}, {"x": 2}),
    (on_a_stream, {"answers": [0, 2]}, {"answers": [1, 1]}),
    (returns_on_a_stream, {"answers": [0, 1]}, {"answers": [1, 1]}),
    (nothing_or_list, {"x": 0}, {"x": 1}),
    (mechanisms.rappor, {"colour": "red"}, {"colour": "blue"}),
    (mechanisms.double_survey, {"ill": True}, {"ill": False}),
    (mechanisms.improved_noisy_max, {"v": [0, 1, 2]}, {"v": [1, 1, 1]}),
    (mechanisms.discrete_above_threshold, {"t": 1, "answers": [0, 1]}, {"t": 1, "answers": [1, 0]}),
    (rejecting, {"count": 0}, {"count": 1}),
]


@pytest.mark.parametrize(("made", "left", "right"), FIXED, ids=lambda x: getattr(x, "name", ""))
def test_fixed_programs(made, left, right):
    for seed in range(2) if ALL else (len(made.name) % 2,):
        one, other = (left, right) if seed % 2 else (right, left)
        assert examine(made, one, other, Random(seed)) > 0


def between(low: Any, high: Any) -> Between:
    return Between(None if low is None else Fraction(low), None if high is None else Fraction(high))


@pytest.mark.parametrize(
    "pattern",
    [
        (between(6, None), True, between(None, 0)),
        (between(6, 8), True, between(-2, 0)),
        [ANY, 1, ANY],
        (ANY, 1, ANY),
        [between("5/2", 3), 1, 2],
        [between("9/4", "5/2"), 1, ANY],
        [between(None, "-1/2"), 1, between("-3/2", "1/3")],
        [0, True, 2],
        (5, True, between(0, 0)),
    ],
    ids=str,
)
def test_half_lines_intervals_and_boxes_of_geometric_noise(pattern):
    left, right = {"x": 1}, {"x": 0}
    sides = [Brute(several_geometric, data, 4_000) for data in (left, right)]
    for budget in (None, Budget.of("1/2"), Budget.of("0", "1/100")):
        found = certify_suspect(Suspect(several_geometric, left, right, OneOf((pattern,)), budget), (), Monitor())
        agree(found, *sides, budget)


# -------------------------------------------------------------------------------------------------------- continuously


@mechanism
def clamped(x: real(0, 3)):
    return min(max(laplace(x, scale=Fraction(2, 3)), 0), 3)


@mechanism
def two_numbers(x: real(0, 3)):
    y = laplace(x, scale=1)
    z = laplace(x, scale=2)
    return [y > z, min(y, 1), (max(z, 0), "a")]


@mechanism
def look_alike(x: real(0, 3)):
    y = laplace(x, scale=1)
    if y > 2:
        return True
    if y > 1:
        return 1
    if y > 0:
        return "≥1"
    return [y, None]


CONTINUOUS = [
    (clamped, {"x": 0}, {"x": 1}),
    (two_numbers, {"x": 0}, {"x": 1}),
    (look_alike, {"x": 1}, {"x": 0}),
    (noisy_max.noisy_max_value, {"q": [0, 0, 0]}, {"q": [1, 1, 1]}),
    (
        sparse_vector.sparse_vector_numerical,
        {"q": [0, 0, 1], "threshold": 0, "N": 2},
        {"q": [1, 1, 0], "threshold": 0, "N": 2},
    ),
]


def near(exact: Any, count: int, runs: int) -> bool:
    """Whether a count is within five standard deviations of an exact probability."""
    p = float(exact) if isinstance(exact, Fraction) else float(exact.ball(1, 128).mid())
    return abs(count - runs * p) <= 5 * sqrt(runs * max(p * (1 - p), 1 / runs)) + 1


@pytest.mark.parametrize(("made", "left", "right"), CONTINUOUS, ids=lambda x: getattr(x, "name", ""))
def test_continuous_noise_against_many_runs(made, left, right):
    runs = 200_000
    sides = [sample(made, data, runs, seed=seed) for seed, data in enumerate((left, right))]
    table = tuple({repr(o): o for side in sides for o in side.outputs}.values())
    few = [sample(made, data, 4_000, seed=7 + seed) for seed, data in enumerate((left, right))]
    score = lambda a, b: epsilon_at_least(a, b, 4_000, 0.1)  # noqa: E731
    proposals = [p.event for p in learn(*few).best(score, keep=2) if isinstance(p.event, OneOf | ListBeginning)]
    checked = 0
    for event in proposals:
        for budget in (None, Budget.of("1/2"), Budget.of("1/4", "1/20")):
            found = certify_suspect(Suspect(made, left, right, event, budget), table, Monitor())
            if found is None:
                continue
            for side, exact in zip(sides, (found.left_probability, found.right_probability), strict=True):
                count = int(occurs(found.exactly, side).sum())
                assert near(exact, count, runs), (found.exactly, count / runs, str(exact))
            _judged_rightly(found, budget)
            checked += 1
    assert checked


def _judged_rightly(found: CertifiedCandidate, budget: Budget | None) -> None:
    if budget is None:
        assert found.judgement == "exact"
        return
    low, high = (side.ball(1, 128) for side in (found.left_probability, found.right_probability))
    excess = low - high * budget.epsilon.ball(128).exp() - float(fraction(budget.delta))
    if excess > 1e-9:
        assert found.judgement == "real"
    if excess < -1e-9:
        assert found.judgement in ("spurious", "exact")


@pytest.mark.parametrize("seed", selected([0, 3, 4, 5], 2))
def test_random_programs_with_continuous_noise(tmp_path, seed):
    written = ContinuousAuthor(seed)
    header = "from privproof.language import exponential, laplace, real, real_queries, real_stream\n\n\n"
    made = load(tmp_path, header + written.text)
    found = audit(made, "1/2", samples=4_000, seed=seed, exact_seconds=3, size=_size(made))
    runs = 100_000
    for candidate in found.candidates:
        for data, exact in (
            (candidate.left, candidate.left_probability),
            (candidate.right, candidate.right_probability),
        ):
            count = int(occurs(candidate.exactly, sample(made, data, runs, seed=99)).sum())
            assert near(exact, count, runs), (candidate.exactly, count / runs, str(exact))
        _judged_rightly(candidate, found.budget)


def _size(made: Mechanism) -> int | None:
    return 2 if any(d.shape != "value" and d.size is None for d in made.inputs.values()) else None


# ------------------------------------------------------------------------------------------- verdicts that must not be


def test_texts_that_look_like_tails_are_texts():
    @mechanism(epsilon="0", delta="1/4")
    def looks(x: integer(0, 1)):
        if bernoulli(Fraction(1, 2) if x == 0 else Fraction(3, 10)):
            return 0
        return "≥0"

    found = certify_suspect(
        Suspect(looks, {"x": 0}, {"x": 1}, OneOf(("≥0", 0)), Budget.of("0", "1/4")), ("≥0", 0), Monitor()
    )
    assert found.judgement != "real"
    assert audit(looks, samples=4_000).status == "proved"


def test_what_a_mechanism_returns_on_a_stream_is_found_by_the_exact_engine():
    found = certify_suspect(
        Suspect(returns_on_a_stream, {"answers": [0, 0]}, {"answers": [1, 1]}, OneOf((0,)), Budget.of("ln(2)")),
        (0, 1, 2, None),
        Monitor(),
    )
    assert (found.left_probability, found.right_probability, found.judgement) == (Fraction(3, 4), 0, "real")
    silent = certify_suspect(
        Suspect(returns_on_a_stream, {"answers": [0, 0]}, {"answers": [1, 1]}, OneOf((None,)), None),
        (0, 1, 2, None),
        Monitor(),
    )
    assert (silent.left_probability, silent.right_probability) == (Fraction(1, 4), Fraction(1, 4))


def copies_claimed():
    @mechanism(epsilon="N")
    def copies(x: real(), N: public(integer(low=1))):
        for _ in range(N):
            yield laplace(x, scale=1)

    return copies


def test_a_claim_about_a_public_number_is_not_refuted_by_another_one():
    found = audit(copies_claimed(), fixed={"N": 1}, samples=4_000, exact_seconds=10)
    assert str(found.budget) == "1"
    assert found.status != "refuted"


def test_pairs_with_other_public_values_than_those_given_are_refused():
    pair = ({"x": 0, "N": 3}, {"x": 1, "N": 3})
    try:
        found = audit(copies_claimed(), fixed={"N": 1}, pairs=[pair], samples=4_000, exact_seconds=10)
    except PrivproofError:
        return
    assert found.status != "refuted"


@mechanism(epsilon="p")
def asked(x: one_of(True, False), p="1", q="3/4"):
    return randomized_response(x, truth=q)


def test_the_claim_of_a_runnable_is_the_one_that_is_tested():
    assert str(audit(runnable(asked, epsilon="2"), samples=2_000).budget) == "2"
    assert audit(runnable(asked, epsilon="2"), samples=2_000).status == "proved"
    found = audit(runnable(asked, epsilon="2"), fixed={"q": "4/5"}, samples=2_000)
    assert (str(found.budget), found.status) == ("2", "proved")
    assert audit(asked, fixed={"q": "4/5"}, samples=2_000).status == "refuted"
    assert audit(asked, fixed={"q": "4/5", "p": "2"}, samples=2_000).status == "proved"
    assert audit(asked, "2", samples=2_000).status == "proved"


def test_an_event_of_several_parts_is_not_spurious_by_one_of_them():
    @mechanism(epsilon="1/10", delta="1/4")
    def tails(b: one_of(True, False)):
        if b:
            return laplace(0, scale=1)
        return laplace(0, scale=4)

    event = OneOf((between(3, None), between(None, -3)))
    found = certify_suspect(Suspect(tails, {"b": False}, {"b": True}, event, Budget.of("1/10", "1/4")), (), Monitor())
    assert found.judgement == "real"  # e^(-3/4) - e^(1/10) e^(-3) > 0.41
    many = tuple(between(Fraction(k, 4), Fraction(k + 1, 4)) for k in range(12, 40))
    found = certify_suspect(
        Suspect(tails, {"b": False}, {"b": True}, OneOf(many), Budget.of("1/10", "1/20")), (), Monitor()
    )
    assert found is None or found.judgement != "spurious"


@pytest.mark.parametrize(
    "parts",
    [
        (between("1/2", 1), between(1, 3)),
        (between(1, 1), between(1, None)),
        (1, between(1, 2)),
    ],
    ids=str,
)
@pytest.mark.parametrize(
    "around", [lambda x: x, lambda x: [None, x], lambda x: ([x], "a")], ids=["bare", "list", "tuple"]
)
def test_an_atom_at_a_common_end_is_counted_once(parts, around):
    bare, inside, deeper = _atoms()
    made = {"bare": bare, "list": inside, "tuple": deeper}[
        "list" if isinstance(around(0), list) else "tuple" if isinstance(around(0), tuple) else "bare"
    ]
    event = OneOf(tuple(map(around, parts)))
    # every event has delta at most (1 - e^(-1/2)) / 2 < 1/4
    found = certify_suspect(Suspect(made, {"x": 1}, {"x": 0}, event, Budget.of("0", "1/4")), (), Monitor())
    assert found.judgement != "real", (str(found.left_probability), str(found.right_probability))


def _atoms() -> Sequence[Mechanism]:
    @mechanism
    def bare(x: real(0, 1)):
        return min(laplace(x, scale=2), 1)

    @mechanism
    def inside(x: real(0, 1)):
        return [None, min(laplace(x, scale=2), 1)]

    @mechanism
    def deeper(x: real(0, 1)):
        return ([min(laplace(x, scale=2), 1)], "a")

    return bare, inside, deeper


def test_numbers_that_are_one_to_the_engine_are_counted_once():
    @mechanism
    def ones(x: real(0, 1)):
        y = laplace(x, scale=2)
        if y > 1:
            return 1
        if y > 0:
            return Fraction(1)
        return "low"

    event = OneOf((1, Fraction(1)))
    found = certify_suspect(Suspect(ones, {"x": 1}, {"x": 0}, event, Budget.of("0", "1/4")), (), Monitor())
    assert found is None or found.judgement != "real"


def test_a_real_candidate_where_the_engine_knows_nothing_does_not_fail():
    @mechanism
    def odd(x: integer()):
        g = geometric(x, alpha="1/2")
        if g > 3:
            return "y"
        if g > 2:
            return True
        return g

    assert audit(odd, "1/2", samples=4_000, exact_seconds=5).status == "refuted"


@pytest.mark.parametrize("delta", ["0", "1/10"])
def test_an_infinite_epsilon_allows_what_is_possible_on_both_sides(delta):
    found = audit(asked, "inf", delta, samples=1_000)
    assert found.p_value == 1.0
    assert found.real is None


@pytest.mark.parametrize(
    ("made", "pair"),
    [
        (asked, (1, False)),
        (asked, (True, 0)),
        (clamped, (0, 2)),
        (clamped, (0, 0)),
        (clamped, (0, Fraction(7, 2))),
        (halves, (0, True)),
        (halves, (Fraction(1, 2), 1)),
        (mechanisms.noisy_count, (["yes", "yes"], ["no", "no"])),
        (mechanisms.noisy_count, (["yes"], ["yes", "no"])),
        (mechanisms.discrete_above_threshold, ({"t": 0, "answers": [0]}, {"t": 1, "answers": [0]})),
        (mechanisms.discrete_above_threshold, ({"t": 0, "answers": [0]}, {"t": 0, "answers": [2]})),
    ],
    ids=str,
)
def test_data_sets_that_are_no_neighbours_are_refused(made, pair):
    with pytest.raises(PrivproofError, match="no neighbours"):
        audit(made, "1", pairs=[pair], samples=1_000)


@pytest.mark.parametrize("seed", range(2))
def test_true_claims_are_never_refuted(seed):
    """Tight claims, tested with few runs: by chance the runs speak against some of them, exact probabilities never do."""
    for made, epsilon in (
        (mechanisms.plain_geometric, "ln(2)"),
        (mechanisms.survey, "ln(3)"),
        (mechanisms.rappor, "ln(9)"),
        (_without_claim(mechanisms.improved_noisy_max), "ln(24/7)"),
    ):
        size = 2 if made.name == "improved_noisy_max" else None
        found = audit(made, epsilon, samples=300, confidence="0.5", seed=seed, size=size)
        assert found.status == "proved"
        assert all(candidate.judgement != "real" for candidate in found.candidates)


def _without_claim(made: Mechanism) -> Mechanism:
    return replace(made, claim=None)
