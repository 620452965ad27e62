"""Compiling and lumping keep the probability of every word."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.amounts import examples
from tests.brute import fraction_number, hmm_words, output_distribution
from tests.strategies import hmm_questions, transducer_questions

from privproof.compiling import lump, word_problem
from privproof.errors import QuestionError, ScenarioError
from privproof.exact import fraction, rational
from privproof.library import above_threshold, above_threshold_two_copies, noisy_max_hmm, noisy_max_question
from privproof.models import Horizon, Letter, Transducer
from privproof.scenarios import Neighbours, Question, Scenario, Words

SOME = settings(
    max_examples=examples(150), deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large]
)


def both(problem, number, letters):
    """Both probabilities of a word; zero where it is left out."""
    try:
        word = problem.word(number, letters)
    except KeyError:
        return Fraction(0), Fraction(0)
    return fraction(word.left), fraction(word.right)


@SOME
@given(hmm_questions(longest=3))
def test_every_word_of_a_hidden_markov_model_keeps_its_probabilities(question):
    compiled = word_problem(question)
    numbers = {begin.pair.name: number for number, begin in enumerate(compiled.begins)}
    for pair, word, left, right in hmm_words(question, range(1, question.horizon.high + 1)):
        found = both(compiled.problem, numbers[pair.name], tuple(map(Letter, word)))
        assert found == (left, right) or (left == 0 == found[0] and found[1] in (0, right))


@SOME
@given(st.booleans().flatmap(lambda finite: transducer_questions(finite=finite)))
def test_every_word_of_a_transducer_keeps_its_probabilities(question):
    compiled, model = word_problem(question), question.model
    finite = model.finish is not None
    length = len(model.steps) if finite else question.horizon.high
    relation = question.scenario.neighbours
    sequences = list(product(model.inputs, repeat=length))
    written = {v: output_distribution(model, v) for v in sequences}
    for v, w in product(sequences, repeat=2):
        if v != w and not relation.related(tuple(map(fraction_number, v)), tuple(map(fraction_number, w))):
            continue
        for outputs in {*written[v], *written[w]}:
            letters = tuple(Letter(o, x, y) for o, x, y in zip(outputs, v, w, strict=False))
            if finite:
                letters = (*(Letter(None, x, y) for x, y in zip(v, w, strict=True)), Letter(outputs[-1]))
            number = next(i for i, begin in enumerate(compiled.begins) if begin.finish in (None, outputs[-1]))
            left, right = written[v].get(outputs, Fraction(0)), written[w].get(outputs, Fraction(0))
            found = both(compiled.problem, number, letters)
            assert found == (left, right) or (left == 0 == found[0] and found[1] in (0, right))


@SOME
@given(hmm_questions(longest=3))
def test_lumping_again_changes_nothing(question):
    problem = word_problem(question).problem
    again = lump(problem).problem
    sizes = [(place.left_size, place.right_size) for place in problem.locations]
    assert [(place.left_size, place.right_size) for place in again.locations] == sizes


def test_copies_of_a_state_become_one():
    """Fig. 3 has 54 states; after the start two bits of memory are left a side."""
    problem = word_problem(above_threshold_two_copies(horizon=Horizon.up_to(5))).problem
    assert max(place.left_size for place in problem.locations) < 54
    problem = word_problem(above_threshold()).problem
    assert {place.left_size for place in problem.locations} <= {3, 4}


def test_noisy_max_is_much_smaller_than_fig_2():
    transducer = word_problem(noisy_max_question(3, improved=False)).problem
    hidden = word_problem(noisy_max_hmm(3, improved=False)).problem
    assert max(p.left_size for p in transducer.locations) < max(p.left_size for p in hidden.locations)


def test_a_note_says_what_lumping_did():
    assert any("lumping" in note for note in word_problem(noisy_max_question(3, improved=True)).notes)


def test_the_natural_horizon():
    assert str(word_problem(noisy_max_question(3, improved=True)).problem.horizon) == "4"
    assert word_problem(above_threshold()).problem.horizon.high is None


def test_a_horizon_that_does_not_fit():
    question = noisy_max_question(2, improved=True)
    with pytest.raises(QuestionError, match="3 letters"):
        word_problem(Question(model=question.model, scenario=question.scenario, horizon=Horizon.exactly(2)))


def machine(**changes):
    answers = {v: [("1/2", "s", "a"), ("1/2", "s", "b")] for v in changes.get("inputs", ["0", "1"])}
    given = {
        "states": ["s"],
        "inputs": ["0", "1"],
        "outputs": ["a", "b"],
        "initial": {"s": 1},
        "steps": [{"s": answers}],
        "repeats": True,
    }
    return Transducer(**{**given, **changes})


@pytest.mark.parametrize(
    ("scenario", "inputs", "match"),
    [
        (Scenario(neighbours=Neighbours.each(within=1)), ["low", "high"], "'low' is not a number"),
        (Scenario(neighbours=Neighbours.each(within="1/2")), ["0", "1"], "no two inputs are neighbours"),
        (Scenario(neighbours=Neighbours.pairs([(["0"], ["7"])])), ["0", "1"], "unknown input '7'"),
        (Scenario(), ["0", "1"], "nothing to compare"),
        (Scenario(neighbours=Neighbours.each(within=1), words=Words(only="a")), ["0", "1"], "cannot be restricted"),
    ],
)
def test_relations_that_do_not_fit_a_transducer(scenario, inputs, match):
    with pytest.raises(ScenarioError, match=match):
        word_problem(Question(model=machine(inputs=inputs), scenario=scenario, horizon=Horizon.up_to(2)))


def test_inputs_without_numbers_may_change_in_any_way():
    scenario = Scenario(neighbours=Neighbours.one(within=None))
    question = Question(model=machine(inputs=["low", "high"]), scenario=scenario, horizon=Horizon.up_to(2))
    problem = word_problem(question).problem
    letters = {edge.letter for edge in problem.locations[problem.starts[0].location].edges}
    assert {(x.left, x.right) for x in letters} == set(product(["low", "high"], repeat=2))


def test_only_one_input_changes():
    scenario = Scenario(neighbours=Neighbours.one(within=1))
    problem = word_problem(Question(model=machine(), scenario=scenario, horizon=Horizon.up_to(2))).problem
    changed, same = Letter("a", "0", "1"), Letter("a", "1", "1")
    assert problem.word(0, (changed, same)).left == rational("1/4")
    with pytest.raises(KeyError):
        problem.word(0, (changed, changed))


def test_monotone_inputs_move_in_one_direction():
    scenario = Scenario(neighbours=Neighbours.monotone(within=1))
    problem = word_problem(Question(model=machine(), scenario=scenario, horizon=Horizon.up_to(2))).problem
    up, down = Letter("a", "0", "1"), Letter("a", "1", "0")
    assert problem.word(0, (up, up)).right == rational("1/4")
    with pytest.raises(KeyError):
        problem.word(0, (up, down))
