"""Random stream automata against the definitions, written down literally in `tests.property.stream_brute`."""

from __future__ import annotations

import random
import signal
from collections import Counter
from contextlib import contextmanager
from dataclasses import replace

import pytest
from tests.amounts import examples
from tests.property.stream_brute import (
    Step,
    automaton_of,
    constraints,
    coupling_costs,
    longest,
    paths,
    printed_graph_says_private,
    violations,
    worst_case,
)

from privproof.engines.streams.shift_systems import Solution, decide, solve
from privproof.errors import QuestionError
from privproof.exact import Rational, rational
from privproof.models.stream_automaton import Order, StreamAutomaton, StreamSample, StreamValue, Transition

RATES = ("1/4", "1/3", "1/2", "2/3", "1", "3/2", "2", "3")
RELATIONS = ("each", "monotone", "one")
CLOSE = 1e-7


# ---------------------------------------------------------------------------------------------------- random automata


def rate(rng):
    return rational(rng.choice(RATES))


def random_steps(rng, *, guards=("true", "<", ">=", "both", "both", "both", "end")):
    """An automaton with one threshold, deterministic and output-distinct, as its steps."""
    names = [f"q{i}" for i in range(rng.randint(2, 5))]
    targets = names if rng.random() < 0.1 else names[1:]
    out = rng.choice(["a", "a", "a", "insample", "insample'"])
    steps = [Step(names[0], rng.choice(targets), "true", out, True, rate(rng), rate(rng), rng.random() < 0.5)]
    for name in names[1:]:
        kind = rng.choice(guards)
        if kind == "end":
            continue
        d, d2, public = rate(rng), rate(rng), kind == "true" and rng.random() < 0.5
        real = False
        for guard, out in zip(("<", ">=") if kind == "both" else (kind,), "ab", strict=False):
            if not real and rng.random() < 0.2:
                out, real = rng.choice(["insample", "insample'"]), True
            steps.append(Step(name, rng.choice(targets), guard, out, rng.random() < 0.2, d, d2, public))
    return steps


def one_threshold(rng):
    return automaton_of(random_steps(rng))


def begun(rng, first):
    """Transitions that store x and y: in two steps, from one sample, or from two samples of one step."""

    def samples(count):
        reads = rng.randrange(2)
        return tuple(StreamSample(rate(rng), reads) for _ in range(count))

    kind = rng.choice(["apart", "apart", "same", "together"])
    if kind == "apart":
        one = Transition("i", "j", samples(1), stores=(("x", 0),), symbol="s")
        return [one, Transition("j", first, samples(1), stores=(("y", 0),), symbol="s")]
    count = 1 if kind == "same" else 2
    return [Transition("i", first, samples(count), stores=(("x", 0), ("y", count - 1)), symbol="s")]


def random_leaving(rng, source, targets, *, shared, most=3):
    """Transitions with two thresholds that leave a state: conjunctions, with shared or separate noise; some write numbers."""
    kind = rng.choice(["true", "x", "y", "both", "both", "both"])
    reads = rng.choice([0, 1]) if kind == "true" else rng.choice([1, 1, 1, 1, -1])
    count = 2 if kind == "both" and not shared else 1
    noiseless = rng.random() < 0.02
    samples = tuple(StreamSample(None if noiseless else rate(rng), reads) for _ in range(count))
    x = (Order(0, "x"), Order("x", 0))
    y = (Order(count - 1, "y"), Order("y", count - 1))
    guards = {"true": [()], "x": [(a,) for a in x], "y": [(b,) for b in y], "both": [(a, b) for a in x for b in y]}[
        kind
    ]
    rng.shuffle(guards)
    real = False
    found = []
    for symbol, guard in zip("abcd", guards[: rng.randint(1, min(most, len(guards)))], strict=False):
        stores = tuple((name, rng.randrange(count)) for name in "xy" if rng.random() < 0.15)
        values, drawn = (), samples
        if not real and rng.random() < 0.15:
            real = True
            values = (
                rng.choice(
                    [
                        StreamValue(0),
                        StreamValue(count),
                        StreamValue(count),
                        StreamValue("x"),
                        StreamValue("y"),
                        StreamValue(0, "x"),
                    ]
                ),
            )
            if values == (StreamValue(count),):
                drawn = (*samples, StreamSample(rate(rng), reads))
        step = Transition(source, rng.choice(targets), drawn, guard, stores=stores, values=values)
        found.append(replace(step, symbol="·" if values else symbol))
    return found


def two_thresholds(rng):
    names = [f"q{i}" for i in range(rng.randint(1, 4))]
    shared = rng.random() < 0.6
    steps = begun(rng, names[0])
    for name in names:
        if name == names[0] or rng.random() < 0.85:
            steps += random_leaving(rng, name, names, shared=shared)
    return automaton_of(steps)


def line_of_one(rng):
    """A straight line with one threshold and at most seven private steps."""
    steps = [Step("q0", "q1", "true", rng.choice(["a", "a", "insample"]), True, rate(rng), 1, rng.random() < 0.5)]
    for number in range(1, rng.randint(2, 7)):
        guard = rng.choice(["true", "<", "<", ">=", ">="])
        out = rng.choice(["a", "a", "a", "a", "insample", "insample'"])
        public = guard == "true" and rng.random() < 0.5
        source, target = f"q{number}", f"q{number + 1}"
        steps.append(Step(source, target, guard, out, rng.random() < 0.4, rate(rng), rate(rng), public))
    return automaton_of(steps)


def line_of_two(rng):
    """A straight line with two thresholds."""
    shared = rng.random() < 0.5
    steps = begun(rng, "q0")
    for number in range(rng.randint(1, 5)):
        steps += random_leaving(rng, f"q{number}", [f"q{number + 1}"], shared=shared, most=1)
    return automaton_of(steps)


class Late(Exception):
    """Time is up."""


@contextmanager
def limited(seconds, automaton):
    """Fail, rather than wait, where something does not come to an end."""

    def late(*_):
        raise Late

    before = signal.signal(signal.SIGALRM, late)
    signal.alarm(seconds)
    try:
        yield
    except Late:  # its traceback has places without a line, which pytest cannot show
        pytest.fail(f"no answer within {seconds} s for\n{shown(automaton)}", pytrace=False)
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def shown(automaton):
    return "\n".join(map(repr, automaton.transitions))


def solved(automaton, relation="each"):
    with limited(5, automaton):
        return solve(automaton, relation)


# ----------------------------------------------------------------------------------------------------------- decision


def assert_decides(seeds):
    seen = Counter()
    for seed in seeds:
        steps = random_steps(random.Random(seed))
        automaton = automaton_of(steps)
        assert automaton.distinct
        bad = violations(steps)
        found = decide(automaton)
        assert (found is None) == (not bad), (seed, bad, found, steps)
        seen["private" if found is None else found[1].kind] += 1
    kinds = {"private", "leaking cycle", "leaking pair", "disclosing cycle", "privacy violating path"}
    assert seen.keys() == kinds, seen


def test_the_decision_is_that_of_the_definitions():
    assert_decides(range(3_000))


@pytest.mark.slow
def test_the_decision_is_that_of_the_definitions_on_many():
    assert_decides(range(100_000, 140_000))


# ------------------------------------------------------------------------------------------------------ straight lines


def assert_nested(automaton, relation):
    wanted = max(worst_case(path, relation) for path in paths(automaton, 20))
    found = solved(automaton, relation)
    if wanted == float("inf"):
        assert found.cost is None, (wanted, found.cost, shown(automaton))
        assert found.leak is not None, shown(automaton)
    else:
        assert found.cost is not None, (wanted, found.leak, shown(automaton))
        assert abs(float(found.cost) - wanted) < CLOSE, (wanted, found.cost, shown(automaton))
        assert found.exact, shown(automaton)


@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize("draw", [line_of_one, line_of_two])
def test_a_straight_line_costs_what_the_nested_problem_says(draw, relation):
    for seed in range(examples(100)):
        assert_nested(draw(random.Random(seed)), relation)


@pytest.mark.slow
@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize("draw", [line_of_one, line_of_two])
def test_many_straight_lines_cost_what_the_nested_problem_says(draw, relation):
    for seed in range(1_000, 3_000):
        assert_nested(draw(random.Random(seed)), relation)


@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize("draw", [one_threshold, two_thresholds])
def test_the_iteration_is_the_nested_problem_on_all_short_paths(draw, relation):
    """Of the brute force itself: whole shifts, thresholds only and no dominated vectors lose nothing."""
    for seed in range(examples(25)):
        automaton = draw(random.Random(seed))
        costs = [worst_case(path, relation) for path in paths(automaton, 4)]
        (found,) = longest(automaton, relation, [4])
        assert (max(costs) == float("inf")) if found is None else abs(max(costs) - float(found)) < CLOSE, shown(
            automaton
        )


# ----------------------------------------------------------------------------------------------------------- executions


def unrolled(found, execution, times):
    """The transitions and the data of a path with cycles."""
    edges, changes = execution.unrolled(times)
    return [found.arena.step(edge) for edge in edges], changes


def allowed(path, changes, relation):
    """Whether data are neighbours."""
    if any(change and not step.reads for step, change in zip(path, changes, strict=True)):
        return False
    if relation == "monotone":
        return min(changes, default=0) >= 0 or max(changes, default=0) <= 0
    return relation == "each" or sum(map(abs, changes)) <= 1


def is_path(automaton, path):
    """Whether transitions follow one another from the beginning, and their comparisons do not contradict each other."""
    states = [automaton.initial, *(step.target for step in path)]
    return all(a == step.source for a, step in zip(states, path, strict=False)) and constraints(path).possible


def assert_grows(automaton, found, relation):
    """What a leak says: the more often its cycles are gone around, the more every coupling pays."""
    costs = []
    for times in (2, 6, 14):
        path, changes = unrolled(found, found.leak, times)
        assert is_path(automaton, path), (found.leak, shown(automaton))
        assert allowed(path, changes, relation), (found.leak, shown(automaton))
        costs += coupling_costs(constraints(path, found.leak.thresholds), [changes])
    if costs[0] != float("inf"):
        assert costs[0] + CLOSE < costs[1] < costs[2] - CLOSE, (costs, found.leak, shown(automaton))


def assert_attained(automaton, found, relation, least=8):
    """What a cost says: a coupling pays it on the path that is reported, and on no path more."""
    assert found.exact, (found.cost, shown(automaton))
    path, changes = unrolled(found, found.hardest, found.times)
    assert is_path(automaton, path), shown(automaton)
    assert allowed(path, changes, relation), (changes, shown(automaton))
    (cost,) = coupling_costs(constraints(path), [changes])
    assert abs(cost - float(found.cost)) < CLOSE, (cost, found.cost, changes, shown(automaton))
    most = longest(automaton, relation, [max(least, len(path))])
    assert most == [found.cost], (most, found.cost, shown(automaton))


def assert_answered(automaton, relation, seen, least=8):
    found = solved(automaton, relation)
    with limited(5, automaton):
        assert (decide(automaton, relation) is None) == (found.cost is not None), shown(automaton)
    if found.cost is not None:
        assert_attained(automaton, found, relation, least)
        seen["private"] += 1
    else:
        assert found.leak is not None, (longest(automaton, relation, [8, 16, 24]), shown(automaton))
        assert_grows(automaton, found, relation)
        seen[found.leak.kind] += 1


@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize("draw", [one_threshold, two_thresholds])
def test_costs_are_attained_and_never_exceeded_and_leaks_grow(draw, relation):
    seen, number = Counter(), max(60, examples(150))
    for seed in range(number):
        assert_answered(draw(random.Random(seed)), relation, seen)
    assert seen["private"] > number // 4, seen
    assert relation == "one" or len(seen) >= 5, seen


@pytest.mark.slow
@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize("draw", [one_threshold, two_thresholds])
def test_costs_are_attained_and_never_exceeded_and_leaks_grow_on_many(draw, relation):
    for seed in range(1_000, 4_000):
        assert_answered(draw(random.Random(seed)), relation, Counter(), least=16)


@pytest.mark.parametrize("draw", [one_threshold, two_thresholds])
def test_no_single_path_costs_more_by_linear_programming(draw):
    for seed in range(examples(60)):
        automaton = draw(random.Random(seed))
        found = solved(automaton)
        if found.cost is not None:
            listed = list(paths(automaton, 6))
            path = random.Random(seed).choice(listed)
            assert worst_case(path) < float(found.cost) + CLOSE, (path, shown(automaton))


# ------------------------------------------------------------------------------------------------- cycles of one's own


def noisy(source, target, samples, guard=(), stores=(), values=()):
    """A transition with samples of rate 1, given by how they read the data."""
    drawn = tuple(StreamSample(Rational(1), reads) for reads in samples)
    symbol = "·" if values else f"{source}{target}"
    return Transition(source, target, drawn, guard, stores=stores, symbol=symbol, values=values)


SORTED = [Step("i", "w", "true", "t", True), Step("w", "w", ">=", "b", True)]
RESAMPLED = [
    Step("i", "w", "true", "t", True, public=True),
    Step("w", "w", "<", "b"),
    Step("w", "r", ">=", "a"),
    Step("r", "w", "true", "t", True, public=True),
]
PUBLIC_CYCLE = [Step("i", "w", "true", "t", True), Step("w", "w", ">=", "b", True, public=True)]
PUBLIC_GAPS = [
    noisy("i", "w", [1], stores=(("x", 0),)),
    noisy("w", "w", [0], stores=(("x", 0),), values=(StreamValue(0, "x"),)),
]
THRESHOLDS_COMPARED = [
    noisy("i", "w", [1], stores=(("x", 0),)),
    noisy("w", "v", [1], stores=(("y", 0),)),
    noisy("v", "u", [1], stores=(("x", 0),)),
    noisy("u", "w", [], (Order("x", "y"),)),
]
GAPS_OF_THRESHOLDS = [
    noisy("i", "w", [1], stores=(("x", 0),)),
    noisy("w", "v", [1], stores=(("y", 0),)),
    noisy("v", "w", [], values=(StreamValue("x", "y"),)),
]
LOOKED_AT_AND_STORED = [
    noisy("i", "v", [1], stores=(("x", 0), ("y", 0))),
    noisy("v", "w", [1, 1], (Order(0, "x"), Order("y", 1)), stores=(("y", 0),)),
    noisy("w", "w", [1], (Order(0, "y"),)),
]
SIGNS_KNOWN = [
    noisy("i", "v", [1], (Order(0, None),), stores=(("x", 0),)),
    noisy("v", "w", [1], (Order(None, 0),), stores=(("y", 0),)),
    noisy("w", "w", [1], (Order("y", 0), Order(0, "x"))),
]
DISTANCE_KNOWN = [
    noisy("i", "v", [1], stores=(("x", 0),)),
    noisy("v", "w", [1], (Order("x", 0, Rational(1)),), stores=(("y", 0),)),
    noisy("w", "w", [1], (Order("y", 0), Order(0, "x", Rational(-1, 2)))),
]
FOUND = {
    "sorted": SORTED,
    "resampled": RESAMPLED,
    "public cycle": PUBLIC_CYCLE,
    "public gaps": PUBLIC_GAPS,
    "thresholds compared": THRESHOLDS_COMPARED,
    "gaps of thresholds": GAPS_OF_THRESHOLDS,
    "looked at and stored": LOOKED_AT_AND_STORED,
    "signs known": SIGNS_KNOWN,
    "distance known": DISTANCE_KNOWN,
}


@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize("name", FOUND)
def test_what_random_automata_have_found(name, relation):
    """The smallest automata on which an answer was once wrong, or never came."""
    if relation != "one" and name in OPEN:
        pytest.skip("left open: see the next test")
    assert_answered(automaton_of(FOUND[name]), relation, Counter())


OPEN = ("thresholds compared", "gaps of thresholds", "signs known", "distance known")


@pytest.mark.parametrize("relation", ["each", "monotone"])
@pytest.mark.parametrize("name", OPEN)
def test_where_the_structure_is_not_found_nothing_is_claimed(name, relation):
    """Thresholds compared with each other on a cycle, and paths that constants or distances make impossible."""
    solution = solve(automaton_of(FOUND[name]), relation)
    assert solution.cost is None
    assert solution.leak is None
    with pytest.raises(QuestionError, match="the structure was not found"):
        decide(automaton_of(FOUND[name]), relation)


# ------------------------------------------------------------------------------------------------------------ invariance


def renamed(automaton, states, thresholds):
    """The same automaton under other names."""

    def term(of):
        return thresholds[of] if isinstance(of, str) else of

    steps = tuple(
        replace(
            step,
            source=states[step.source],
            target=states[step.target],
            guard=tuple(Order(term(o.low), term(o.high), o.offset) for o in step.guard),
            stores=tuple((thresholds[name], sample) for name, sample in step.stores),
            values=tuple(StreamValue(term(v.plus), term(v.minus), v.constant) for v in step.values),
        )
        for step in automaton.transitions
    )
    listed = tuple(states[name] for name in automaton.states)
    return StreamAutomaton(states=listed, initial=states[automaton.initial], transitions=steps)


def mirrored(automaton):
    """All samples the other way round: what was below is above."""
    steps = tuple(
        replace(
            step,
            samples=tuple(replace(s, reads=-s.reads, mean=-s.mean) for s in step.samples),
            guard=tuple(Order(o.high, o.low, o.offset) for o in step.guard),
        )
        for step in automaton.transitions
    )
    return replace(automaton, transitions=steps)


def scaled(automaton, factor):
    """All rates multiplied."""
    steps = tuple(
        replace(step, samples=tuple(replace(s, rate=None if s.rate is None else s.rate * factor) for s in step.samples))
        for step in automaton.transitions
    )
    return replace(automaton, transitions=steps)


def reordered(automaton, rng):
    """The transitions in another order."""
    return replace(automaton, transitions=tuple(rng.sample(automaton.transitions, len(automaton.transitions))))


@pytest.mark.parametrize("draw", [one_threshold, two_thresholds])
def test_names_order_and_direction_do_not_matter_and_rates_scale(draw):
    for seed in range(examples(150)):
        rng = random.Random(seed)
        automaton = draw(rng)
        cost = solved(automaton).cost
        states = dict(zip(automaton.states, rng.sample(["a", "x", "y'", "Z", "s t", "start"], 6), strict=False))
        for names in (("y", "x"), ("x'", "x"), ("x", "x'"), ("b''", "b'")):
            other = renamed(automaton, states, dict(zip(("x", "y"), names, strict=True)))
            assert solved(other).cost == cost, (names, shown(automaton))
        assert solved(mirrored(automaton)).cost == cost, shown(automaton)
        assert solved(reordered(automaton, rng)).cost == cost, shown(automaton)
        factor = rational(rng.choice(["1/7", "3", "5/2"]))
        wanted = None if cost is None else cost * factor
        assert solved(scaled(automaton, factor)).cost == wanted, shown(automaton)
        assert solve(automaton, "each", factor).cost == wanted, shown(automaton)


@pytest.mark.parametrize("relation", ["monotone", "one"])
@pytest.mark.parametrize("draw", [one_threshold, two_thresholds])
def test_fewer_neighbours_cost_no_more(draw, relation):
    for seed in range(examples(150)):
        automaton = draw(random.Random(seed))
        each: Solution = solved(automaton)
        if each.cost is not None:
            fewer = solved(automaton, relation)
            assert fewer.cost is not None, shown(automaton)
            assert fewer.cost <= each.cost, shown(automaton)


@pytest.mark.parametrize("draw", [one_threshold, two_thresholds])
def test_one_change_costs_no_more_than_the_samples_that_read_it(draw):
    """No shift at all is a coupling, and it pays for the step that reads the change."""
    for seed in range(examples(100)):
        automaton = draw(random.Random(seed))
        drawn = [[s.rate for s in step.samples if s.reads] for step in automaton.transitions]
        if not any(None in rates for rates in drawn):
            assert solved(automaton, "one").cost <= max(sum(rates, Rational(0)) for rates in drawn), shown(automaton)


# ------------------------------------------------------------------------------------------------- the printed graph

QUARTER, HALF = "1/4", "1/2"
E6 = [
    Step("i", "w", "true", "t", True, HALF, public=True),
    Step("w", "w", "<", "b", d=HALF),
    Step("w", "e", ">=", "insample", d=HALF),
]
E11 = [
    Step("i", "w", "true", "t", True, HALF, public=True),
    Step("w", "r", "<", "b", d=QUARTER),
    Step("w", "e", ">=", "a", d=QUARTER),
    Step("r", "w", "true", "t", True, HALF, public=True),
]
E13 = [Step("i", "w", "true", "t", True, HALF), Step("w", "w", "<", "b", True, HALF)]
E19 = [
    Step("i", "w", "true", "t", True, public=True),
    Step("w", "l", "<", "b"),
    Step("w", "g", ">=", "a"),
    Step("l", "l", "<", "b"),
    Step("l", "e", ">=", "a"),
    Step("g", "g", ">=", "a"),
    Step("g", "e", "<", "b"),
]
E20 = [Step("i", "w", "true", "insample", True, HALF), Step("w", "w", "<", "b", d=QUARTER)]
E21 = [Step("i", "w", "true", "t", True), Step("w", "w", "<", "insample'")]
E26 = [
    Step("i", "w", "true", "t", True, "1/9"),
    Step("w", "v", "<", "insample", True, "1/3"),
    Step("v", "u", ">=", "b", True, "1/9"),
    Step("u", "u", ">=", "b", d="1/9"),
]
E28 = [
    Step("i", "w", "true", "t", True, HALF),
    Step("w", "v", "<", "insample", d=QUARTER),
    Step("v", "v", ">=", "b", d=QUARTER),
]
E30 = [Step("i", "w", "true", "t", True, HALF), Step("w", "w", ">=", "b", True, HALF)]
FALSELY_PRIVATE = {
    "privacy violating path": (E6, E20, E26, E28),
    "leaking cycle": (E11, E13, E30),
    "disclosing cycle": (E21,),
}


def test_the_printed_graph_joins_constraints_of_different_executions():
    """One branch of E19 asks for a shift of 1, the other for -1, so it says not private; no execution takes both, and 3 is enough."""
    automaton = automaton_of(E19)
    assert not printed_graph_says_private(E19)
    assert violations(E19) == set()
    assert decide(automaton) is None
    assert solved(automaton).cost == 3
    assert longest(automaton, "each", [4, 8, 16]) == [3, 3, 3]


@pytest.mark.parametrize(
    ("kind", "steps"), [(kind, steps) for kind, listed in FALSELY_PRIVATE.items() for steps in listed]
)
def test_the_printed_graph_overlooks(kind, steps):
    assert printed_graph_says_private(steps)
    assert kind in violations(steps)
    found = solved(automaton_of(steps))
    assert found.leak.kind == kind
    assert_grows(automaton_of(steps), found, "each")


def test_how_often_the_printed_graph_is_wrong():
    seen = Counter()
    for seed in range(3_000):
        steps = random_steps(random.Random(seed))
        seen[printed_graph_says_private(steps), not violations(steps)] += 1
    assert seen[True, False] > 300, seen  # falsely private
    assert seen[False, True] < 5, seen  # falsely not private, which is rare
