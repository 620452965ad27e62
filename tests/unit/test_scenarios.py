"""Who must not be told apart: neighbour relations, pairs, and restrictions on words."""

from __future__ import annotations

import re
from itertools import product

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from tests.amounts import examples

from privproof.errors import ScenarioError
from privproof.exact import rational
from privproof.library import above_threshold, contagious, geometric, noisy_max_question
from privproof.models import HiddenMarkovModel
from privproof.scenarios import Neighbours, Pair, Question, Scenario, Words, automaton, ordered_pairs

ALPHABET = ("a", "b", "c")


# ------------------------------------------------------------------------------------------------------------- words


def accepts(machine, word):
    state = 0
    for symbol in word:
        if symbol not in machine.moves[state]:
            return False
        state = machine.moves[state][symbol]
    return state in machine.accepting


expressions = st.recursive(
    st.sampled_from([*ALPHABET, "."]).map(lambda name: (name, name)),
    lambda inner: st.one_of(
        st.tuples(inner, inner).map(lambda two: (f"{two[0][0]} {two[1][0]}", f"{two[0][1]}{two[1][1]}")),
        st.tuples(inner, inner).map(lambda two: (f"({two[0][0]} | {two[1][0]})", f"(?:{two[0][1]}|{two[1][1]})")),
        inner.map(lambda one: (f"({one[0]} |)", f"(?:{one[1]}|)")),
        st.tuples(inner, st.sampled_from("*+?")).map(
            lambda two: (f"({two[0][0]}){two[1]}", f"(?:{two[0][1]}){two[1]}")
        ),
    ),
    max_leaves=7,
)


@settings(max_examples=examples(300), deadline=None)
@given(expressions, st.sets(st.sampled_from(ALPHABET), max_size=1))
def test_expressions_mean_what_regular_expressions_mean(expression, without):
    ours, theirs = expression
    pattern = re.compile(theirs)
    try:
        machine = automaton(Words(only=ours, without=tuple(without)), ALPHABET)
    except ScenarioError:
        machine = None  # no word is left
    for length in range(1, 5):
        for word in product(ALPHABET, repeat=length):
            wanted = pattern.fullmatch("".join(word)) is not None and not without & set(word)
            assert (machine is not None and accepts(machine, word)) == wanted


@settings(max_examples=examples(100), deadline=None)
@given(expressions)
def test_every_state_of_an_automaton_can_still_accept(expression):
    try:
        machine = automaton(Words(only=expression[0]), ALPHABET)
    except ScenarioError:
        assume(False)
    alive = set(machine.accepting)
    while more := {i for i, row in enumerate(machine.moves) if i not in alive and alive & set(row.values())}:
        alive |= more
    assert alive == set(range(len(machine.moves)))


def test_equal_languages_have_equally_small_automata():
    for one, other in (
        ("a a*", "a+"),
        ("(a | b) c", "a c | b c"),
        (".*", "(a* b* c*)*"),
        ("a (b c)* b?", "a | a b (c b)* c?"),
    ):
        sizes = {len(automaton(Words(only=text), ALPHABET).moves) for text in (one, other)}
        assert len(sizes) == 1, (one, other)


@pytest.mark.parametrize("text", ["a (", "a )", "* a", "a | | )", "(" * 200 + "a" + ")" * 200, "'a", "a '"])
def test_expressions_that_are_none(text):
    with pytest.raises(ScenarioError) as caught:
        automaton(Words(only=text), ALPHABET)
    assert caught.value.place == "words.only"
    assert caught.value.hint


def test_unknown_observations_in_words():
    with pytest.raises(ScenarioError, match="'d'"):
        automaton(Words(only="a d"), ALPHABET)
    with pytest.raises(ScenarioError, match="'d'"):
        automaton(Words(without=("d",)), ALPHABET)
    with pytest.raises(ScenarioError, match="no word is left"):
        automaton(Words(only="a b", without=("b",)), ALPHABET)
    with pytest.raises(ScenarioError, match="sometimes"):
        Words(ending="sometimes")


def test_names_with_special_characters_are_quoted():
    machine = automaton(Words(only="'a b' 'x*'"), ("a b", "x*"))
    assert accepts(machine, ("a b", "x*"))
    assert not accepts(machine, ("x*",))


def test_words_say_what_they_are():
    assert str(Words()) == "every word"
    assert Words().unrestricted
    assert str(Words(only="a", without=("b",), ending="complete")) == "matching a; without b; complete runs only"


# -------------------------------------------------------------------------------------------------------- neighbours

numbers = st.lists(st.integers(0, 3), min_size=1, max_size=4)
relations = st.sampled_from(
    [
        Neighbours.each(within=1),
        Neighbours.one(within=1),
        Neighbours.monotone(within=1),
        Neighbours.each(within=2),
        Neighbours.one(within=None),
        Neighbours.monotone(within=None),
    ]
)


def by_definition(relation, left, right):
    moves = [y - x for x, y in zip(left, right, strict=True)]
    if not any(moves) or (relation.within is not None and any(abs(m) > relation.within for m in moves)):
        return False
    if relation.kind == "one":
        return sum(m != 0 for m in moves) == 1
    if relation.kind == "monotone":
        return all(m >= 0 for m in moves) or all(m <= 0 for m in moves)
    return True


@given(relations, numbers, numbers)
def test_relations_by_their_definition(relation, left, right):
    assume(len(left) == len(right))
    one, other = tuple(map(rational, left)), tuple(map(rational, right))
    assert relation.related(one, other) == by_definition(relation, left, right)
    assert relation.related(one, other) == relation.related(other, one)
    assert not relation.related(one, one)


def test_data_sets_of_different_sizes_are_not_neighbours():
    assert not Neighbours.each(within=1).related((rational(1),), (rational(1), rational(1)))


@pytest.mark.parametrize("within", [0, "-1/2"])
def test_a_distance_is_positive(within):
    with pytest.raises(ScenarioError, match=f"within={within}"):
        Neighbours.each(within=within)


def test_coordinates_have_one_size():
    with pytest.raises(ScenarioError, match=r"\[1, 2\]"):
        Neighbours.each(coordinates={"a": [1], "b": [1, 2]})


def test_listed_pairs():
    with pytest.raises(ScenarioError, match="empty"):
        Neighbours.pairs([])
    with pytest.raises(ScenarioError, match="length"):
        Neighbours.pairs([("01", "0")])
    assert str(Neighbours.pairs([("01", "00")])) == "1 listed pairs"


# ------------------------------------------------------------------------------------------------------------- pairs


def test_both_directions_are_compared_once():
    pairs = ordered_pairs(geometric())
    assert [(*p.left, *p.right) for p in pairs] == [("0", "1"), ("1", "0"), ("1", "2"), ("2", "1")]
    assert len(ordered_pairs(contagious())) == 2
    assert len(ordered_pairs(above_threshold())) == 3, "equal sides have one direction"
    assert len(ordered_pairs(noisy_max_question(2, improved=True))) == 1


def test_a_pair_given_in_both_directions_counts_once():
    model = contagious().model
    pairs = (Pair.of(model, "there", {"0": 1}, {"2": 1}), Pair.of(model, "back", {"2": 1}, {"0": 1}))
    assert len(ordered_pairs(Question(model=model, scenario=Scenario(pairs=pairs)))) == 2


@pytest.mark.parametrize(
    ("left", "right", "place"),
    [({"3": 1}, {"0": 1}, "pairs.p.left"), ({"0": 1}, {"0": "1/2"}, "pairs.p.right"), ({"0": 1}, {}, "pairs.p.right")],
)
def test_sides_are_distributions(left, right, place):
    with pytest.raises(ScenarioError) as caught:
        Pair.of(geometric().model, "p", left, right)
    assert caught.value.place == place


def test_nothing_to_compare():
    model = geometric().model
    for scenario in (
        Scenario(),
        Scenario(neighbours=Neighbours.each(within="1/2", coordinates={"0": [0], "1": [1]})),
        Scenario(neighbours=Neighbours.each(within=1)),
        Scenario(neighbours=Neighbours.pairs([("0", "1")])),
    ):
        with pytest.raises(ScenarioError) as caught:
            ordered_pairs(Question(model=model, scenario=scenario))
        assert caught.value.hint


def test_coordinates_of_unknown_states():
    relation = Neighbours.each(within=1, coordinates={"0": [0], "9": [1]})
    with pytest.raises(ScenarioError, match="'9'"):
        ordered_pairs(Question(model=geometric().model, scenario=Scenario(neighbours=relation)))


@settings(max_examples=examples(50), deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(st.tuples(st.integers(0, 2), st.integers(0, 2)), min_size=2, max_size=5, unique=True), relations)
def test_neighbouring_states_are_those_whose_coordinates_are(points, relation):
    names = [f"s{i}" for i in range(len(points))]
    model = HiddenMarkovModel(states=names, observations=["o"], emissions={n: {"o": 1} for n in names})
    make = {"each": Neighbours.each, "one": Neighbours.one, "monotone": Neighbours.monotone}[relation.kind]
    known = make(within=relation.within, coordinates=dict(zip(names, points, strict=True)))
    wanted = {
        (names[i], names[j])
        for i, left in enumerate(points)
        for j, right in enumerate(points)
        if by_definition(relation, left, right)
    }
    question = Question(model=model, scenario=Scenario(neighbours=known))
    if not wanted:
        with pytest.raises(ScenarioError, match="no two states"):
            ordered_pairs(question)
    else:
        assert {(*p.left, *p.right) for p in ordered_pairs(question)} == wanted
