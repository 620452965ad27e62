"""Farzan, Li, Nikolov and Nittoor, "Efficient Decision Procedures for Differential Privacy via Probabilistic Couplings", and DiPAut:
every worked example with its verdict, its exact cost and the growth of its loss, from functions and from automaton files."""

from __future__ import annotations

from functools import cache

import pytest
from tests.certificates import nested, recheck

from privproof import Mechanism, check, tight_epsilon
from privproof.compiling.streams import stream_question
from privproof.engines.streams.shift_systems import decide, solve
from privproof.engines.streams.stream_executions import hardest
from privproof.engines.streams.stream_losses import loss
from privproof.exact import ONE, epsilon, rational
from privproof.exact.balls import rational_bounds
from privproof.formats import question_from_document
from privproof.library.streams import several, thresholds
from privproof.scenarios import program_question
from privproof_checker.outcomes import Accepted

MECHANISMS = {
    name: found
    for module in (thresholds, several)
    for name, found in vars(module).items()
    if isinstance(found, Mechanism)
}
COSTS = {
    "above_threshold": 1,
    "below_threshold": 1,
    "above_threshold_monotone": "3/4",
    "secret_threshold": "3/2",
    "sparse_vector": 1,
    "sparse_vector_redrawn": 1,
    "sparse_vector_gap": 1,
    "sparse_vector_numerical": 1,
    "sparse_vector_wrong_scales": "19/4",
    "two_phases_redrawn": 2,
    "branch_first": 3,
    "one_comparison": "1/5",
    "between_thresholds": 1,
    "ranges": 1,
    "min_max": 1,
}
LEAKS = {
    "sparse_vector_value": "privacy violating path",
    "sparse_vector_no_query_noise": "leaking pair",
    "sparse_vector_no_cutoff": "leaking pair",
    "threshold_each_time": "leaking cycle",
    "rearmed": "leaking cycle",
    "falling": "leaking cycle",
    "two_phases": "leaking pair",
    "two_phases_kept": "leaking pair",
    "threshold_shown": "privacy violating path",
    "answers_shown": "disclosing cycle",
    "outside_thresholds": "leaking pair",
    "range_value": "privacy violating path",
    "two_ranges": "leaking pair",
    "shrinking_range": "leaking cycle",
}
tight = cache(lambda name: tight_epsilon(MECHANISMS[name], engine="streams"))
checked = cache(lambda name: check(MECHANISMS[name], engine="streams"))


def test_every_mechanism_of_the_library_has_a_known_answer():
    assert set(MECHANISMS) == set(COSTS) | set(LEAKS)


@pytest.mark.parametrize("name", COSTS)
def test_costs_are_exact_and_certified(name):
    verdict = tight(name)
    assert verdict.status == "proved"
    assert verdict.tight == epsilon(COSTS[name])
    assert nested(verdict.certificate)["evidence"]["attained"]
    outcome = recheck(nested(verdict.certificate))
    assert isinstance(outcome, Accepted)
    assert outcome.details["tight"]


@pytest.mark.parametrize("name", COSTS)
def test_losses_come_near_the_cost_and_never_exceed_it(name):
    verdict = tight(name)
    low, high = rational_bounds(verdict.witness.loss())
    assert high <= rational(COSTS[name])
    assert low >= rational(COSTS[name]) * rational("99/100")


@pytest.mark.parametrize("name", LEAKS)
def test_leaks_have_no_epsilon_at_all(name):
    verdict = tight(name)
    assert verdict.status == "refuted"
    assert verdict.tight == epsilon("inf")
    assert verdict.leak.kind == LEAKS[name]
    assert isinstance(recheck(nested(verdict.certificate)), Accepted)


@pytest.mark.parametrize("name", MECHANISMS)
def test_claims_are_proved_or_refuted_as_the_first_word_of_the_docstring_says(name):
    verdict = checked(name)
    wrong = MECHANISMS[name].function.__doc__.startswith("Wrong")
    assert verdict.status == ("refuted" if wrong else "proved")
    assert isinstance(recheck(nested(verdict.certificate)), Accepted)
    if wrong:
        assert verdict.witness.infinite or rational_bounds(verdict.witness.loss())[0] > rational(
            str(verdict.question.budget.epsilon)
        )


@pytest.mark.parametrize("name", [name for name in LEAKS if name != "sparse_vector_no_query_noise"])
def test_losses_grow_with_every_repetition(name):
    question = stream_question(program_question(MECHANISMS[name]))
    solution = solve(question.automaton)
    values = [hardest(solution.fronts, solution.leak.unrolled(k)[0]).value for k in (2, 4, 8, 16)]
    assert values == sorted(set(values))
    assert values[3] - values[2] >= values[2] - values[1] > 0


@pytest.mark.parametrize(
    ("name", "budget", "times"),
    [("sparse_vector_no_cutoff", 1, 2), ("sparse_vector_no_cutoff", 4, 5), ("two_phases", 2, 4)],
)
def test_the_fewest_repetitions_that_break_a_budget(name, budget, times):
    """For no cut-off the cost is K: K repetitions do not break K, and K + 1 do."""
    verdict = check(MECHANISMS[name], budget, engine="streams")
    assert verdict.status == "refuted"
    assert verdict.witness.times == times


def test_a_budget_just_below_the_cost_is_broken_by_data_far_apart():
    verdict = check(thresholds.above_threshold, "0.9999", engine="streams")
    assert verdict.status == "refuted"
    assert max(abs(value) for value in verdict.witness.left) > 1000
    assert isinstance(recheck(nested(verdict.certificate)), Accepted)


def test_the_published_growth_of_losses():
    """Notes, worked examples: K = 3 below and one above, at t = 5, 50 and 400."""
    question = stream_question(program_question(thresholds.above_threshold))
    numbers = {step.symbol: number for number, step in enumerate(question.automaton.transitions)}
    steps = [0, *[numbers["'below'"]] * 3, numbers["'above'"]]
    found = [loss(question.automaton, steps, [0, 1, 1, 1, -1], ONE, t, ONE) for t in (5, 50, 400)]
    assert [round(float(one.ball().mid()), 4) for one in found] == [0.8923, 0.9816, 0.9975]


# ----------------------------------------------------------------------------------------------------------- automaton files


def entries(states, transitions, **more):
    listed = []
    for source, target, when, output, store in transitions:
        entry = {"from": source, "to": target}
        entry |= {"when": when} if when else {}
        entry |= {"output": output} if output else {}
        entry |= {"store": store} if store else {}
        listed.append(entry)
    return question_from_document(
        {
            "kind": "stream-automaton",
            "states": states,
            "transitions": listed,
            "scenario": {"neighbours": {"relation": more.pop("relation", "each"), "within": 1}},
            **more,
        }
    )


QUERY, NOTHING = {"rate": "1/4"}, {"rate": "1/4", "reads": "nothing"}
RANGE = {"l": NOTHING, "r": {**NOTHING, "mean": 1}, "q": QUERY, "end": {}}
STORED = [("l", "r", "", "", "low"), ("r", "q", "", "", "high")]
BELOW = ("q2", "q2", "sample <= x", "below", "")
DIPAUT = {
    "svt": (
        {"q1": NOTHING, "q2": {"rate": "1/2"}, "end": {}},
        [("q1", "q2", "", "", "x"), BELOW, ("q2", "end", "sample >= x", "above", "")],
        "5/4",
    ),
    "numeric_sparse": (
        {"q1": NOTHING, "q2": {"rate": "1/2", "fresh": {"rate": "1/2"}}, "end": {}},
        [("q1", "q2", "", "", "x"), BELOW, ("q2", "end", "sample >= x", "fresh", "")],
        "7/4",
    ),
    "num_range_1": (
        RANGE,
        [
            *STORED,
            ("q", "q", "low <= sample < high", "cont", ""),
            ("q", "end", "sample > high and sample >= low", "sample", ""),
        ],
        "privacy violating path",
    ),
    "disclosing_cycle": (RANGE, [*STORED, ("q", "q", "low <= sample < high", "sample", "")], "disclosing cycle"),
    "leaking_cycle": (
        {
            "a": {"rate": "1/2", "reads": "nothing"},
            "b": {"rate": "1/2", "mean": 10, "reads": "nothing"},
            "q3": {"rate": "1/6"},
            "q4": {"rate": "1/6"},
        },
        [
            ("a", "b", "", "", "x1"),
            ("b", "q3", "", "", "x2"),
            ("q3", "q4", "x1 <= sample < x2", "in", ""),
            ("q4", "q3", "sample < x2", "down", "x2"),
        ],
        "leaking cycle",
    ),
    "two_range_1": (
        {"u": NOTHING, "v": {**NOTHING, "mean": 1}, "w": {**NOTHING, "mean": 2}, "q4": QUERY, "q5": QUERY},
        [
            ("u", "v", "", "", "x"),
            ("v", "w", "", "", "y"),
            ("w", "q4", "", "", "z"),
            ("q4", "q4", "x <= sample < y", "low", ""),
            ("q4", "q5", "y < sample < z", "up", ""),
            ("q5", "q5", "y <= sample < z", "high", ""),
        ],
        "leaking pair",
    ),
    "ex10": (
        {"q1": NOTHING, "q2": QUERY},
        [("q1", "q2", "", "", "x"), ("q2", "q2", "sample >= x", "above", ""), ("q2", "q2", "sample < x", "below", "")],
        "leaking pair",
    ),
    "ex8": (
        {"q1": NOTHING, "q2": QUERY, "q3": QUERY},
        [
            ("q1", "q2", "", "", "x"),
            BELOW,
            ("q2", "q3", "sample > x", "above", ""),
            ("q3", "q3", "sample >= x", "above", ""),
        ],
        "leaking pair",
    ),
    "ex4": (
        {"q1": NOTHING, "q2": QUERY},
        [("q1", "q2", "", "", "x"), BELOW, ("q2", "q2", "sample > x", "above", "x")],
        "leaking cycle",
    ),
    "ex14": (
        {"q1": QUERY, "q2": QUERY},
        [("q1", "q2", "", "sample", "x"), ("q2", "q2", "sample < x", "below", "")],
        "privacy violating path",
    ),
}


@pytest.mark.parametrize("name", DIPAUT)
def test_the_automata_of_dipaut(name):
    states, transitions, known = DIPAUT[name]
    question = entries(states, transitions)
    verdict = tight_epsilon(question)
    if known[0].isdigit():
        assert (verdict.status, verdict.tight) == ("proved", epsilon(known))
    else:
        assert (verdict.status, verdict.leak.kind) == ("refuted", known)
    assert isinstance(recheck(nested(verdict.certificate)), Accepted)


@pytest.mark.parametrize(("name", "m", "known"), [("ranges", 5, 1), ("min_max", 3, "5/6"), ("min_max", 20, "31/40")])
def test_families_as_functions(name, m, known):
    parameter = {"ranges": "m", "min_max": "k"}[name]
    verdict = tight_epsilon(MECHANISMS[name].having(**{parameter: m}), engine="streams")
    assert verdict.status == "proved"
    assert verdict.upper == epsilon(known)


@pytest.mark.parametrize("noise", ["shared", "separate"])
def test_between_thresholds_with_shared_and_separate_noise(noise):
    states = {
        "a": {"scale": 4, "reads": "nothing"},
        "b": {"scale": 4, "mean": 10, "reads": "nothing"},
        "q": {"scale": 4, "noise": noise},
        "end": {},
    }
    question = entries(
        states,
        [
            ("a", "b", "", "", "x"),
            ("b", "q", "", "", "y"),
            ("q", "q", "x <= sample < y", "in", ""),
            ("q", "end", "sample >= x and sample >= y", "out", ""),
        ],
    )
    assert tight_epsilon(question).tight == epsilon(1)


def cancelling(joint):
    """Two cycles whose guards on x and y seem to cancel (cross couplings): with `and`, and with `or`."""
    noise = {"scale": 1, "noise": "separate"}
    states = {"a": {"scale": 1, "reads": "nothing"}, "b": {"scale": 1, "reads": "nothing"}, "c": noise, "d": noise}
    return entries(
        states,
        [
            ("a", "b", "", "", "x"),
            ("b", "c", "", "", "y"),
            ("c", "c", f"sample < x {joint} sample >= y", "one", ""),
            ("c", "d", "sample >= x and sample < y", "turn", ""),
            ("d", "d", f"sample >= x {joint} sample < y", "two", ""),
        ],
    )


def test_a_cancelling_pair_with_and_is_not_private_although_cross_couplings_say_so():
    verdict = check(cancelling("and"), 5)
    assert verdict.status == "refuted"
    assert verdict.leak.kind == "leaking pair"
    assert isinstance(recheck(nested(verdict.certificate)), Accepted)


def test_a_cancelling_pair_with_or_is_never_said_to_be_private():
    question = cancelling("or")
    assert check(question, 5).status in ("unknown", "refuted")
    assert check(question, 12).status == "unknown"


def test_decide_is_silent_about_private_automata_and_names_the_leak_of_others():
    above = stream_question(program_question(thresholds.above_threshold)).automaton
    assert decide(above) is None
    leaking = stream_question(program_question(thresholds.sparse_vector_no_cutoff)).automaton
    assert decide(leaking)[1].kind == "leaking pair"
