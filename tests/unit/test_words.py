"""The parts of the search over words: vectors, dominance, beam, few changes, frontier, monitor."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from itertools import product
from random import Random

import pytest
from flint import fmpq
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from tests.amounts import examples, selected
from tests.brute import INFINITE, fraction_number, hmm_ratio, hmm_words, output_distribution
from tests.strategies import hmm_questions, transducer_questions

from privproof import check, log, tight_epsilon
from privproof.compiling import word_problem
from privproof.engines import Monitor, Progress
from privproof.engines.words.beam_search import promising_word
from privproof.engines.words.cone_margins import margins
from privproof.engines.words.dominance import Antichain, is_dominated, single
from privproof.engines.words.frontier_search import Frontier
from privproof.engines.words.problem_changes import limit_changes
from privproof.engines.words.word_vectors import Reached, TensorProduct, initial, potential, quotient, round_outwards
from privproof.exact import fraction, rational
from privproof.exact.rational_matrices import Matrix
from privproof.library import above_threshold, noisy_max_question
from privproof.models import Edge, Final, HiddenMarkovModel, Horizon, Letter, Location, WordProblem
from privproof.scenarios import Pair, Question, Scenario

SOME = settings(
    max_examples=examples(100), deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large]
)
entries = st.integers(0, 6)
vectors = st.tuples(
    st.lists(entries, min_size=3, max_size=3), st.lists(entries, min_size=2, max_size=2), st.integers(0, 5)
).map(lambda parts: Reached(tuple(parts[0]), tuple(parts[1]), parts[2], 0))


# ----------------------------------------------------------------------------------------------------------- vectors


@given(st.lists(st.fractions(0, 1, max_denominator=12), min_size=2, max_size=2), st.booleans())
def test_a_vector_is_its_integers_times_its_scale(given_left, weighted):
    left = [fmpq(x.numerator, x.denominator) for x in given_left]
    vector = initial(0, left, left[::-1], weighted=weighted)
    assert [fmpq(x) * fmpq(vector.scale.numerator, vector.scale.denominator) for x in vector.left] == left
    assert vector.weight * vector.scale == (1 if weighted else 0) or not any(left)


@given(
    st.lists(st.lists(entries, min_size=3, max_size=3), min_size=3, max_size=3),
    st.lists(vectors, min_size=1, max_size=4),
)
def test_products_of_many_vectors_at_once(table, several):
    matrix = Matrix.of(3, ({j: fmpq(x, 5) for j, x in enumerate(row)} for row in table))
    flat = Matrix.of(2, ({0: fmpq(1, 3), 1: fmpq(1, 2)} for _ in range(2)))
    letter = Letter("o")
    for vector, reached in zip(several, TensorProduct(matrix, flat)(several, letter), strict=True):
        wanted = matrix.after([fmpq(x) for x in vector.left])
        if reached is None:
            assert not any(x != 0 for x in wanted)
            continue
        scale = fmpq(reached.scale.numerator, reached.scale.denominator)
        assert tuple(fmpq(x) * scale for x in reached.left) == wanted
        assert tuple(fmpq(x) * scale for x in reached.right) == flat.after([fmpq(x) for x in vector.right])
        assert fmpq(reached.weight) * scale == vector.weight
        assert reached.word() == (letter,)


@given(vectors, vectors)
def test_what_dominates_has_no_smaller_potential(vector, by):
    factor = single(vector, by, weighted=False)
    if factor is not None and any(vector.left):
        assert potential(by) >= potential(vector) * (1 - 1e-12)


def test_quotients_of_enormous_numbers():
    assert quotient(0, 0) == quotient(0, 5) == 0
    assert quotient(1, 0) == float("inf")
    assert quotient(10**5000, 1) == 1e300
    assert quotient(10**5000, 2 * 10**5000) == 0.5


# --------------------------------------------------------------------------------------------------------- dominance


def by_definition(vector, by, factor, *, weighted):
    return (
        factor >= 0
        and all(factor * y >= x for x, y in zip(vector.left, by.left, strict=True))
        and all(factor * y <= x for x, y in zip(vector.right, by.right, strict=True))
        and (not weighted or factor * by.weight <= vector.weight)
    )


@settings(max_examples=examples(500))
@given(vectors, vectors, st.booleans())
def test_one_generator_dominates_exactly_when_some_multiplier_does(vector, by, weighted):
    factor = single(vector, by, weighted=weighted)
    candidates = [Fraction(0)]
    candidates += [Fraction(x, y) for x, y in zip(vector.left, by.left, strict=True) if y]
    if factor is None:
        assert not any(by_definition(vector, by, candidate, weighted=weighted) for candidate in candidates)
    else:
        assert by_definition(vector, by, factor, weighted=weighted)


square = st.tuples(*(st.lists(entries, min_size=3, max_size=3) for _ in range(2))).map(
    lambda parts: Reached(tuple(parts[0]), tuple(parts[1]), 0, 0)
)


@SOME
@given(
    st.lists(square.filter(lambda v: any(v.left)), min_size=2, max_size=5),
    st.sampled_from([Fraction(0), Fraction(1), Fraction(5, 2)]),
)
def test_a_cone_that_is_said_to_dominate_does(several, bound):
    """Whatever the linear program proposes, the sum of the multiples covers the vector exactly."""
    *kept, vector = several
    chain = Antichain(weighted=False)
    for generator in kept:
        chain.add(generator)
    found = chain.cone(vector, bound)
    if found is None:
        return
    left = [Fraction(x) for x in found.diagonal] if found.diagonal else [Fraction(0)] * 3
    right = [x / bound for x in left] if found.diagonal else [Fraction(0)] * 3
    assert all(factor >= 0 for _, factor in found.by)
    assert all(x >= 0 for x in left)
    for index, factor in found.by:
        left = [x + factor * y for x, y in zip(left, kept[index].left, strict=True)]
        right = [x + factor * y for x, y in zip(right, kept[index].right, strict=True)]
    assert all(x >= y for x, y in zip(left, vector.left, strict=True))
    assert all(x <= y for x, y in zip(right, vector.right, strict=True))


def test_two_generators_dominate_what_neither_does_alone():
    chain = Antichain(weighted=False)
    chain.add(Reached((4, 0), (1, 1), 0, 0))
    chain.add(Reached((0, 4), (1, 1), 0, 0))
    vector = Reached((1, 1), (3, 3), 0, 0)
    assert chain.dominator(vector) is None
    assert chain.cone(vector, Fraction(0)) is not None
    assert chain.cone(Reached((3, 3), (1, 1), 0, 0), Fraction(0)) is None


@settings(max_examples=examples(300))
@given(st.lists(vectors.filter(lambda v: any(v.left)), min_size=1, max_size=6), st.booleans())
def test_an_antichain_finds_a_dominator_whenever_one_alone_dominates(several, weighted):
    chain = Antichain(weighted=weighted)
    for vector in several[:-1]:
        chain.add(vector)
    assert len(chain) == len(several) - 1
    found = chain.dominator(several[-1])
    exists = any(single(several[-1], by, weighted=weighted) is not None for by in several[:-1])
    assert (found is not None) == exists
    if found is not None:
        ((index, factor),) = found
        assert by_definition(several[-1], several[index], factor, weighted=weighted)


def test_differences_beyond_floating_point_are_seen():
    """Equal as floats, different as integers."""
    big = 10**40
    chain = Antichain(weighted=False)
    chain.add(Reached((big, big), (big, big), 0, 0))
    assert chain.dominator(Reached((big, big), (big, big), 0, 0)) is not None
    assert chain.dominator(Reached((big + 1, big), (big, big), 0, 0)) is None
    assert chain.dominator(Reached((big, big), (big, big - 1), 0, 0)) is None
    assert chain.dominator(Reached((big, big - 1), (big, big + 1), 0, 0)) is not None


@given(
    st.lists(entries, min_size=2, max_size=2),
    st.lists(entries, min_size=2, max_size=2),
    st.fractions(0, 4, max_denominator=5),
)
def test_bounded_componentwise(left, right, bound):
    vector = Reached(tuple(left), tuple(right), 0, 0)
    assert is_dominated(vector, bound) == all(x <= bound * y for x, y in zip(left, right, strict=True))
    strictly = all(x < bound * y or x == y == 0 for x, y in zip(left, right, strict=True))
    assert is_dominated(vector, bound, strictly=True) == strictly


# -------------------------------------------------------------------------------------------------------------- beam


@SOME
@given(hmm_questions(longest=3))
def test_what_the_beam_finds_is_a_word_with_its_exact_probabilities(question):
    compiled = word_problem(question)
    word = promising_word(compiled.problem, longest=question.horizon.high)
    listed = {
        (pair.name, letters): (left, right)
        for pair, letters, left, right in hmm_words(question, range(question.horizon.low, question.horizon.high + 1))
    }
    if word is None:
        assert not any(left > 0 and right > 0 for left, right in listed.values())
        return
    key = (compiled.begins[word.start].pair.name, tuple(letter.output for letter in word.letters))
    assert listed[key] == (fraction(word.left), fraction(word.right))


# ----------------------------------------------------------------------------------------------------------- changes


def violations(question, length, bound):
    """For every violating pair of inputs and output of one length: how many inputs differ."""
    model, relation = question.model, question.scenario.neighbours
    sequences = list(product(model.inputs, repeat=length))
    written = {v: output_distribution(model, v) for v in sequences}
    for v, w in product(sequences, repeat=2):
        if v == w or relation.related(tuple(map(fraction_number, v)), tuple(map(fraction_number, w))):
            for outputs, p in written[v].items():
                if p > bound * written[w].get(outputs, Fraction(0)):
                    yield sum(x != y for x, y in zip(v, w, strict=True))


@SOME
@given(
    st.booleans().flatmap(lambda finite: transducer_questions(finite=finite)),
    st.sampled_from(["tensors", "frontier"]),
    st.fractions(1, 3, max_denominator=3),
)
def test_a_witness_changes_as_few_inputs_as_possible(question, engine, bound):
    finite = question.model.finish is not None
    assume(finite or engine == "frontier")
    verdict = check(question, log(bound), engine=engine)
    lengths = [len(question.model.steps)] if finite else list(range(1, question.horizon.high + 1))
    fewest = {n: min(violations(question, n, bound), default=None) for n in lengths}
    shortest = next((n for n in lengths if fewest[n] is not None), None)
    if shortest is None:
        assert verdict.status != "refuted"
        return
    assert verdict.status == "refuted"
    assert len(verdict.witness.letters) == shortest + finite
    assert sum(letter.changed for letter in verdict.witness.letters) == fewest[shortest]


def test_a_limit_on_changes():
    problem = word_problem(noisy_max_question(3, improved=False)).problem
    for most, ratio in ((0, 1), (1, 2), (2, 4), (3, 8)):
        limited = limit_changes(problem, most, problem.horizon)
        assert Frontier(limited).run().best.ratio == ratio


# ---------------------------------------------------------------------------------------------------------- rounding


@SOME
@given(
    st.lists(st.integers(0, 10**40), min_size=1, max_size=4),
    st.lists(st.integers(0, 10**40), min_size=1, max_size=4),
    st.integers(1, 80),
)
def test_a_rounded_vector_dominates(left, right, bits):
    vector = Reached(tuple(left), tuple(right), 0, 0, scale=Fraction(1, 3))
    short = round_outwards(vector, bits)
    factor = short.scale / vector.scale
    near = 1 + Fraction(2, 2**bits)
    assert all(x <= y * factor <= x * near for x, y in zip(left, short.left, strict=True))
    assert all(y * factor <= x <= y * factor * near for x, y in zip(right, short.right, strict=True))
    assert [bool(x) for x in (*left, *right)] == [bool(x) for x in (*short.left, *short.right)]


def test_long_numbers_are_bracketed():
    p = Fraction(10**30 + 57, 4 * 10**30)
    model = HiddenMarkovModel(
        states=["a", "b"],
        observations=["x", "y"],
        transitions={"a": {"a": p, "b": 1 - p}, "b": {"a": Fraction(1, 9), "b": Fraction(8, 9)}},
        emissions={"a": {"x": Fraction(1, 3), "y": Fraction(2, 3)}, "b": {"x": Fraction(1, 2), "y": Fraction(1, 2)}},
    )
    pair = Pair.of(
        model, "pair", {"a": Fraction(1, 10), "b": Fraction(9, 10)}, {"a": Fraction(7, 10), "b": Fraction(3, 10)}
    )
    question = Question(model=model, scenario=Scenario(pairs=(pair,)), horizon=Horizon.unbounded(), name="attained")
    verdict = tight_epsilon(question)
    assert verdict.status == "proved"
    assert float(verdict.upper.ball()) - float(verdict.lower.ball()) <= 1.1e-6


# ---------------------------------------------------------------------------------------------------------- frontier


@SOME
@given(hmm_questions(longest=3))
def test_the_best_word_of_a_search_is_the_best_there_is(question):
    expected = hmm_ratio(question, range(question.horizon.low, question.horizon.high + 1))
    best = Frontier(word_problem(question).problem).run().best
    if expected == 0:
        assert best is None
    elif expected == INFINITE:
        assert best.right == 0
    else:
        assert fraction(best.ratio) == expected


def test_progress_is_told_level_by_level():
    events = []
    problem = word_problem(replace(above_threshold(), horizon=Horizon.up_to(4))).problem
    Frontier(problem, monitor=Monitor(listen=events.append)).run()
    assert [event.level for event in events] == [1, 2, 3, 4]
    assert all(isinstance(event, Progress) for event in events)
    assert "ratio at least 16" in str(events[-1])


def test_an_interrupt_between_levels():
    monitor = Monitor()

    def stop(event):
        monitor.interrupted = event.level == 3

    monitor.listen = stop
    verdict = tight_epsilon(replace(above_threshold(), horizon=Horizon.up_to(30)), monitor=monitor)
    assert verdict.status == "unknown"
    assert "interrupted" in verdict.reason
    assert verdict.lower.bound == 8
    assert verdict.upper.infinite


class Patience(Monitor):
    """Stops at the n-th opportunity."""

    def __init__(self, times):
        super().__init__()
        self.left = times

    def stopped(self):
        self.left -= 1
        return "interrupted" if self.left < 0 else None


@pytest.mark.diagonal
@pytest.mark.parametrize("times", [0, 1, 5, 20, 60, 150])
@pytest.mark.parametrize("horizon", [Horizon.up_to(12), Horizon.unbounded()])
def test_an_interrupt_in_the_middle_of_a_level(times, horizon):
    """Whenever a search is stopped, what it says is true."""
    model = HiddenMarkovModel(
        states=["a", "b"],
        observations=["x", "y"],
        transitions={
            "a": {"a": Fraction(9, 10), "b": Fraction(1, 10)},
            "b": {"a": Fraction(1, 5), "b": Fraction(4, 5)},
        },
        emissions={"a": {"x": Fraction(2, 3), "y": Fraction(1, 3)}, "b": {"x": Fraction(1, 4), "y": Fraction(3, 4)}},
    )
    pair = Pair.of(model, "pair", {"a": 1}, {"b": 1})
    question = Question(model=model, scenario=Scenario(pairs=(pair,)), horizon=horizon, name="interrupted")
    known = tight_epsilon(question)
    stopped = tight_epsilon(question, monitor=Patience(times))
    assert stopped.lower.compare(known.upper) <= 0
    assert stopped.upper.compare(known.lower) >= 0
    if stopped.status == "unknown":
        assert "interrupted" in stopped.reason
    assert check(question, log(1000), monitor=Patience(times)).status != "refuted"


@pytest.mark.parametrize("engine", ["tensors", "frontier"])
def test_no_time_at_all(engine):
    verdict = tight_epsilon(noisy_max_question(3, improved=True), engine=engine, monitor=Monitor(deadline=0.0))
    assert verdict.status == "unknown"
    assert "out of time" in verdict.reason


@pytest.mark.parametrize("seed", selected(range(200), 40))
def test_margins_are_those_of_all_continuations(seed):
    """Against the definition: the smallest product of quotients along words, which tends to 0 where a cycle lets it shrink."""
    chance = Random(seed)
    size = chance.randint(1, 6)
    following = {
        at: [
            (chance.randrange(size), chance.choice(["0", "1", "1", "1/2", "2", "4", None]))
            for _ in range(chance.randint(0, 2))
        ]
        for at in range(size)
    }
    fair = [chance.random() < 0.9 for _ in range(size)]

    def edge(number, target, rho):
        left, right = ({0: rational(1)}, {}) if rho is None else ({0: rational(rho)}, {0: rational(1)})
        return Edge(Letter(str(number)), target, Matrix.of(1, [left]), Matrix.of(1, [right]))

    places = tuple(
        Location(
            1,
            1,
            tuple(edge(number, *each) for number, each in enumerate(following[at])),
            (Final("any", (rational(1),), (rational(1 if fair[at] else 2),)),),
        )
        for at in range(size)
    )
    least = [Fraction(int(each)) for each in fair]
    history = [least]
    for _ in range(50 * size):
        least = [
            min(
                [
                    least[at],
                    *(least[t] / Fraction(rho) if rho else Fraction(0) for t, rho in following[at] if rho != "0"),
                ]
            )
            for at in range(size)
        ]
        history.append(least)
    expected = [now if now == then else Fraction(0) for now, then in zip(least, history[size], strict=True)]
    assert list(margins(WordProblem(places, (), Horizon.up_to(1), common=False))) == expected
