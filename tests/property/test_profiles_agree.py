"""Privacy profiles against brute force from the definition, and against the engines, on random models."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise, product
from math import exp, log

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.amounts import examples
from tests.brute import INFINITE, fraction_of, output_distribution, sides, transducer_ratio
from tests.strategies import distributions, hmm_questions, transducer_questions

from privproof import check, tight_epsilon
from privproof.exact import Epsilon, fraction, rational
from privproof.exact import log as ln
from privproof.models import HiddenMarkovModel, Transducer
from privproof.profiles import Curve, privacy_loss_distribution, privacy_profile, renyi_divergence
from privproof.scenarios import Neighbours, Question, Scenario, ordered_pairs

MANY = settings(
    max_examples=examples(150), deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large]
)
FEW = settings(MANY, max_examples=examples(40))
BOUNDS = st.fractions(Fraction(1), Fraction(8), max_denominator=6)
DELTAS = st.fractions(Fraction(0), Fraction(1), max_denominator=12)


@st.composite
def tables(draw):
    """A mechanism that reads one or two inputs and draws one of four outputs by a table, so that events have several outputs."""
    inputs, outputs, length = ("0", "1", "2"), ("a", "b", "c", "d"), draw(st.integers(1, 2))
    levels = [list(product(inputs, repeat=k)) for k in range(length + 1)]

    def name(word):
        return "read " + " ".join(word)

    model = Transducer(
        states=[name(word) for level in levels for word in level],
        inputs=inputs,
        outputs=outputs,
        initial={name(()): 1},
        steps=[{name(word): {v: [(1, name((*word, v)))] for v in inputs} for word in level} for level in levels[:-1]],
        finish={name(word): draw(distributions(outputs)) for word in levels[-1]},
    )
    data = levels[-1]
    relation = draw(
        st.sampled_from(
            [
                Neighbours.each(within=1),
                Neighbours.one(within=None),
                Neighbours.monotone(within=2),
                Neighbours.pairs([(data[0], data[1]), (data[2], data[0])]),
            ]
        )
    )
    return Question(model=model, scenario=Scenario(neighbours=relation), name="table")


FINITE = st.one_of(transducer_questions(finite=True), tables())
QUESTIONS = st.one_of(hmm_questions(longest=3), FINITE, transducer_questions(finite=False))


# ------------------------------------------------------------------------------------------- brute force, in fractions


def finite_pairs(question):
    """The two distributions of every ordered pair of neighbouring data sets of a mechanism with one output at the end."""
    model, relation = question.model, question.scenario.neighbours
    data = list(product(model.inputs, repeat=len(model.steps)))
    numbers = {v: tuple(map(rational, v)) for v in data}
    shown = {v: output_distribution(model, v) for v in data}
    listed = {pair for x, y in relation.listed for pair in ((x, y), (y, x))}
    for v, w in product(data, data):
        if (v, w) in listed if listed else relation.related(numbers[v], numbers[w]):
            keys = {**shown[v], **shown[w]}
            yield [(shown[v].get(o, Fraction(0)), shown[w].get(o, Fraction(0))) for o in keys]


def hmm_pairs(question):
    """The two distributions of complete words of every ordered pair: full length, or halted before."""
    model, longest = question.model, question.horizon.high
    assert isinstance(model, HiddenMarkovModel)
    for pair in ordered_pairs(question):
        left, right = sides(pair)
        outcomes = []
        for length in range(1, longest + 1):
            for word in product(model.observations, repeat=length):
                counted = [s for s in model.states if length == longest or model.halts(s)]
                outcomes.append(tuple(_forward(model, side, word, counted) for side in (left, right)))
        yield outcomes


def _forward(model, initial, word, counted):
    alpha = {s: p * fraction_of(model.emissions[s], word[0]) for s, p in initial.items()}
    for symbol in word[1:]:
        onward = dict.fromkeys(model.states, Fraction(0))
        for s, mass in alpha.items():
            for t, p in model.transitions.get(s, {}).items():
                onward[t] += mass * fraction(p) * fraction_of(model.emissions[t], symbol)
        alpha = onward
    return sum((alpha.get(s, Fraction(0)) for s in counted), Fraction(0))


def stream_value(question, term):
    """The best sum of terms over outcomes when inputs are chosen by what was seen before; `term` takes (p, q)."""
    model, relation, longest = question.model, question.scenario.neighbours, question.horizon.high
    assert isinstance(model, Transducer)

    def step(masses, symbol, number):
        result = {}
        for state, mass in masses.items():
            for branch in model.step(number).get(state, {}).get(symbol, ()):
                row = result.setdefault(branch.output, {})
                row[branch.target] = row.get(branch.target, 0) + mass * fraction(branch.probability)
        return result

    def value(left, right, v, w):
        number = len(v)
        halted = [
            sum((m for s, m in side.items() if s not in model.step(number)), Fraction(0)) for side in (left, right)
        ]
        if number == longest:
            return term(sum(left.values(), Fraction(0)), sum(right.values(), Fraction(0)))
        total = term(*halted)
        best = None
        for x, y in product(model.inputs, model.inputs):
            longer = (*v, x), (*w, y)
            if longer[0] != longer[1] and not relation.related(*(tuple(map(rational, side)) for side in longer)):
                continue
            one, other = step(left, x, number), step(right, y, number)
            here = sum(value(one.get(o, {}), other.get(o, {}), *longer) for o in {**one, **other})
            best = here if best is None else max(best, here)
        return total + best

    begin = {s: fraction(p) for s, p in model.initial.items()}
    return value(begin, begin, (), ())


def largest_sum(question, term):
    if isinstance(question.model, HiddenMarkovModel):
        return max(sum(term(p, q) for p, q in outcomes) for outcomes in hmm_pairs(question))
    if question.model.finish is not None:
        return max(sum(term(p, q) for p, q in outcomes) for outcomes in finite_pairs(question))
    return stream_value(question, term)


def brute_delta(question, c):
    return largest_sum(question, lambda p, q: max(Fraction(0), p - c * q))


# ------------------------------------------------------------------------------------------------------ the definition


@MANY
@given(QUESTIONS, BOUNDS)
def test_delta_is_that_of_the_definition(question, bound):
    assert fraction(privacy_profile(question).delta(ln(bound))) == brute_delta(question, bound)


@MANY
@given(QUESTIONS)
def test_the_curve_is_a_convex_falling_profile(question):
    profile = privacy_profile(question)
    assert profile.curve.at(rational(0)) == 1
    assert fraction(profile.total_variation) == largest_sum(question, lambda p, q: abs(p - q)) / 2
    assert profile.total_variation == profile.delta(0)
    ratios = [p / q if q != 0 else None for p, q in profile.curve.likelihoods]
    assert None not in ratios[1:]
    finite = [r for r in ratios if r is not None]
    assert all(a > b for a, b in pairwise(finite))
    assert sum(q for _, q in profile.curve.likelihoods) <= 1
    corners = profile.corners
    assert corners[0] == (1, profile.total_variation)
    slopes = [(d1 - d0) / (c1 - c0) for (c0, d0), (c1, d1) in pairwise(corners)]
    assert all(slope < 0 for slope in slopes)
    assert all(a < b for a, b in pairwise(slopes))
    assert profile.curve.at(corners[-1][0] + 1) == corners[-1][1]


@MANY
@given(QUESTIONS, DELTAS)
def test_epsilon_is_the_smallest(question, delta):
    profile = privacy_profile(question)
    epsilon = profile.epsilon(delta)
    if epsilon.infinite:
        assert profile.delta("inf") > rational(delta)
        return
    assert profile.delta(epsilon) <= rational(delta)
    if epsilon.bound > 1:
        assert profile.delta(epsilon) == rational(delta)
        below = 1 + (epsilon.bound - 1) * Fraction(999_999, 1_000_000)
        assert profile.delta(ln(below)) > rational(delta)


@MANY
@given(QUESTIONS, BOUNDS)
def test_the_worst_event_needs_that_delta(question, bound):
    profile = privacy_profile(question)
    worst, delta = profile.worst(ln(bound)), profile.delta(ln(bound))
    if delta == 0:
        assert worst is None
        return
    assert worst.left - rational(bound) * worst.right == delta
    assert sum(outcome.left for outcome in worst.event) == worst.left
    assert str(worst)
    model = question.model
    if isinstance(model, Transducer) and model.finish is not None:
        left, right = (output_distribution(model, side) for side in (worst.situation.left, worst.situation.right))
        by_output = [{word[-1]: p for word, p in side.items()} for side in (left, right)]
        for outcome in worst.event:
            (name,) = outcome.output
            assert fraction(outcome.left) == by_output[0].get(name, 0)
            assert fraction(outcome.right) == by_output[1].get(name, 0)
        assert fraction(worst.left) == sum(by_output[0][outcome.output[0]] for outcome in worst.event)


@MANY
@given(QUESTIONS, st.fractions(Fraction(0), Fraction(3), max_denominator=7))
def test_an_irrational_bound_is_enclosed(question, epsilon):
    profile = privacy_profile(question)
    low, high = profile.bounds(epsilon)
    below, above = Epsilon(shift=rational(epsilon)).enclosure(64)
    assert profile.curve.at(above) <= low <= high <= profile.curve.at(below)
    assert high - low <= rational("1e-40")


@FEW
@given(FINITE, BOUNDS)
def test_the_pointwise_sense_looks_at_single_outputs(question, bound):
    profile = privacy_profile(question)
    expected = max(max(Fraction(0), p - bound * q) for outcomes in finite_pairs(question) for p, q in outcomes)
    assert fraction(profile.pointwise_delta(ln(bound))) == expected
    assert profile.pointwise_delta(ln(bound)) <= profile.delta(ln(bound))


# ------------------------------------------------------------------------------------------------------- the engines


@MANY
@given(QUESTIONS, DELTAS)
def test_the_tight_epsilon_for_a_delta(question, delta):
    if delta == 0:
        return
    verdict, profile = tight_epsilon(question, delta), privacy_profile(question)
    if verdict.status == "unknown":
        written_once = isinstance(question.model, Transducer) and question.model.finish is not None
        assert written_once or "nothing is compared" in verdict.reason
    else:
        assert verdict.lower.compare(profile.epsilon(delta)) == 0


@MANY
@given(QUESTIONS, BOUNDS, DELTAS)
def test_checks_with_a_delta(question, bound, delta):
    if delta == 0:
        return
    verdict = check(question, ln(bound), delta)
    if verdict.status != "unknown":
        assert (verdict.status == "proved") == (privacy_profile(question).delta(ln(bound)) <= rational(delta))


@MANY
@given(transducer_questions(finite=True))
def test_without_a_delta_both_senses_are_the_tight_epsilon(question):
    profile, length = privacy_profile(question), len(question.model.steps)
    expected = transducer_ratio(question, range(length, length + 1))
    for epsilon in (profile.epsilon(), profile.pointwise_epsilon()):
        if expected == INFINITE:
            assert epsilon.infinite
        else:
            assert epsilon.compare(ln(max(expected, Fraction(1)))) == 0


@FEW
@given(QUESTIONS, BOUNDS, DELTAS)
def test_the_pointwise_sense_is_that_of_the_engines(question, bound, delta):
    verdict = check(question, ln(bound), delta, pointwise=True)
    if delta and verdict.status != "unknown":
        assert (verdict.status == "proved") == (privacy_profile(question).pointwise_delta(ln(bound)) <= rational(delta))


# ---------------------------------------------------------------------------------------- divergences and composition


@MANY
@given(QUESTIONS, st.sampled_from(["1", "5/4", "2", "7/3", "3", "6"]))
def test_renyi_divergences(question, order):
    alpha = Fraction(order)

    def term(p, q):
        if p == 0:
            return 0.0
        if q == 0:
            return float("inf")
        return float(p) * (log(p / q) if alpha == 1 else exp(float(alpha - 1) * log(p / q)))

    total = largest_sum(question, term)
    found = renyi_divergence(question, order)
    if total == float("inf"):
        assert found.exact.infinite
        return
    expected = total if alpha == 1 else log(total) / float(alpha - 1)
    low, high = (float(Fraction(side.decimal(digits=12))) for side in (found.lower, found.upper))
    assert low == pytest.approx(expected, abs=1e-9)
    assert high == pytest.approx(expected, abs=1e-9)
    assert found.lower.compare(found.upper) <= 0
    assert found.upper.compare(privacy_profile(question).epsilon()) <= 0
    if alpha.denominator == 1 and alpha > 1:
        assert found.exact is not None


@MANY
@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), min_size=1, max_size=4), st.integers(1, 4), BOUNDS)
def test_composition_is_that_of_independent_copies(weights, times, bound):
    left, right = sum(p for p, _ in weights) or 1, sum(q for _, q in weights) or 1
    pairs = [(Fraction(p, left), Fraction(q, right)) for p, q in weights]
    expected = Fraction(0)
    for combination in product(pairs, repeat=times):
        p = q = Fraction(1)
        for x, y in combination:
            p, q = p * x, q * y
        expected += max(Fraction(0), p - bound * q)
    curve = Curve.of((rational(p), rational(q)) for p, q in pairs)
    if curve.likelihoods:
        assert fraction(curve.composed(times).at(rational(bound))) == expected


@FEW
@given(QUESTIONS, st.integers(1, 4), st.fractions(Fraction(0), Fraction(4), max_denominator=5))
def test_the_accountant_is_pessimistic_and_close(question, times, epsilon):
    pytest.importorskip("dp_accounting")
    profile = privacy_profile(question)
    if times > 1 and len(profile.curve.likelihoods) > 8:
        return
    pld = privacy_loss_distribution(profile, interval="1e-3")
    if profile.delta("inf") == 1:
        return
    exact = profile.composed(times)
    accounted = pld.self_compose(times).get_delta_for_epsilon(float(epsilon))
    smaller = max(Fraction(0), epsilon - times * Fraction("0.001") - Fraction(1, 10**9))
    assert accounted >= float(fraction(exact.bounds(epsilon)[0])) - 1e-9
    if smaller > 0:
        assert accounted <= float(fraction(exact.bounds(smaller)[1])) + 1e-9
