"""Proposed pairs of data sets are neighbours, by the words of docs/how-to/neighbours.md and by the exact side's own relation."""

from __future__ import annotations

import pickle
from fractions import Fraction
from itertools import combinations, islice, product
from types import FunctionType

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.amounts import examples

from privproof import (
    LanguageError,
    QuestionError,
    audit,
    check,
    integer,
    mechanism,
    mechanism_question,
    one_of,
    public,
    queries,
    randomized_response,
    real,
    real_queries,
    real_stream,
    records,
    stream,
    stream_of,
)
from privproof.audits.sampling import data_moves as moving
from privproof.audits.sampling import data_proposals as proposing
from privproof.audits.sampling.adjacent_data import Adjacent, is_adjacent
from privproof.audits.sampling.data_moves import draw_neighbours, mutate_neighbours
from privproof.audits.sampling.data_proposals import patterns
from privproof.exact import rational

# -------------------------------------------------------------------------------------------------- an independent definition


def is_declared(declared, value):
    """Whether a single value is one of a declaration."""
    if declared.values is not None:
        return any(type(value) is type(one) and value == one for one in declared.values)
    assert type(value) is int or (declared.real and type(value) is Fraction), value
    exact = rational(value)
    return (declared.low is None or exact >= declared.low) and (declared.high is None or exact <= declared.high)


def coordinates(inputs, side):
    """The private data set as one tuple."""
    found = []
    for name, declared in inputs.items():
        if not declared.public:
            found += [side[name]] if declared.shape == "value" else side[name]
    return found


def neighbours(inputs, relation, left, right):
    """Whether two data sets are neighbours, by the table of the documentation."""
    assert list(left) == list(right) == list(inputs)
    for name, declared in inputs.items():
        for side in (left, right):
            if declared.shape == "value":
                assert is_declared(declared, side[name])
            else:
                assert type(side[name]) is list
                assert all(is_declared(declared, value) for value in side[name])
                assert declared.size in (None, len(side[name]))
        if declared.public:
            assert left[name] == right[name]
    if relation == "add-remove":
        differing = [name for name in inputs if left[name] != right[name]]
        if len(differing) != 1:
            return False
        longer, shorter = sorted((left[differing[0]], right[differing[0]]), key=len, reverse=True)
        return shorter in [longer[:i] + longer[i + 1 :] for i in range(len(longer))]
    for name, declared in inputs.items():
        assert declared.shape == "value" or len(left[name]) == len(right[name])
    x, y = coordinates(inputs, left), coordinates(inputs, right)
    if x == y:
        return False
    if callable(relation):
        private = [name for name, declared in inputs.items() if not declared.public]
        sides = [tuple(side[name] for name in private) for side in (left, right)]
        one, other = (side[0] if len(side) == 1 else side for side in sides)
        return relation(one, other) or relation(other, one)
    declarations = [
        declared
        for name, declared in inputs.items()
        if not declared.public
        for _ in ([0] if declared.shape == "value" else left[name])
    ]
    up = down = changed = 0
    for declared, v, w in zip(declarations, x, y, strict=True):
        if v == w:
            continue
        changed += 1
        if declared.within is None:
            up, down = up + 1, down + 1
        elif rational(v) < rational(w):
            up += 1
        else:
            down += 1
        if declared.within is not None and abs(rational(v) - rational(w)) > declared.within:
            return False
    return {"each": True, "one": changed == 1, "monotone": up == 0 or down == 0}[relation]


def assert_neighbours(pair, inputs, relation):
    assert neighbours(inputs, relation, pair.left, pair.right), pair
    assert neighbours(inputs, relation, pair.right, pair.left), pair
    assert is_adjacent(pair, inputs, relation)


def frozen(side):
    return tuple((name, tuple(v) if isinstance(v, list) else v) for name, v in side.items())


def unordered(pair):
    return frozenset((frozen(pair.left), frozen(pair.right)))


def assert_good(found, inputs, relation):
    assert len(found) <= 60
    assert len({unordered(pair) for pair in found}) == len(found)
    for pair in found:
        assert_neighbours(pair, inputs, relation)


def lists(found, name="q"):
    """Both directions of the pairs of an input, as tuples."""
    pairs = [(tuple(pair.left[name]), tuple(pair.right[name])) for pair in found]
    return {*pairs, *((right, left) for left, right in pairs)}


# ------------------------------------------------------------------------------------------------------ random declarations

FRACTIONS = st.sampled_from(["1/3", "1/2", 1, "3/2", 2, "7/3", 5])


@st.composite
def declarations(draw):
    kind = draw(
        st.sampled_from(
            [queries, real_queries, integer, real, stream, real_stream, records, one_of, stream_of, records, queries]
        )
    )
    if kind in (records, one_of, stream_of):
        texts = [("a", "b"), ("a", "b", "c"), (1, 2, "x", None), (True, False), tuple("abcdefghijklmnop"), ((0, 1), 2)]
        made = kind(*draw(st.sampled_from(texts)), **draw(sizes(kind)))
    else:
        low = draw(st.none() | st.integers(-3, 3))
        high = draw(st.none() | st.integers(0, 30))
        if low is not None and high is not None:
            high = low + high
        made = kind(low, high, sensitivity=draw(FRACTIONS), **draw(sizes(kind)))
    return public(made) if draw(st.integers(0, 3)) == 0 else made


def sizes(kind):
    if kind in (queries, real_queries, records):
        return st.sampled_from([{}, {}, {"size": 2}])
    return st.just({})


@st.composite
def spaces(draw):
    """Inputs and a relation that is one for them."""
    made = draw(st.lists(declarations(), min_size=1, max_size=3))
    inputs = dict(zip("abc", made, strict=False))
    private = [declared for declared in made if not declared.public]
    relations = ["each", "one"]
    if all(declared.shape == "list" for declared in private):
        relations.append("add-remove")
    if all(declared.within is not None for declared in private):
        relations.append("monotone")
    return inputs, draw(st.sampled_from(relations)), draw(st.sampled_from([1, 2, 3, 6]))


@given(space=spaces(), seed=st.integers(0, 1000))
@settings(max_examples=examples(15), deadline=None)
def test_whatever_is_proposed_are_neighbours(space, seed):
    inputs, relation, size = space
    found = patterns(inputs, relation, size)
    assert_good(found, inputs, relation)
    generator = np.random.default_rng(seed)
    pair = None
    for _ in range(4):
        random = draw_neighbours(inputs, relation, size, {}, generator)
        if random is None:
            continue
        assert found
        assert_neighbours(random, inputs, relation)
        pair = random
    for _ in range(8):
        if pair is None:
            break
        before = pair
        pair = mutate_neighbours(before, inputs, relation, {}, generator)
        if pair is None:
            break
        assert_neighbours(pair, inputs, relation)
        assert unordered(pair) != unordered(before)
        for name, declared in inputs.items():
            if declared.shape != "value" and (declared.public or relation != "add-remove"):
                assert len(pair.left[name]) == len(before.left[name])
        assert pair.size == before.size


@given(space=spaces(), data=st.data())
@settings(max_examples=examples(15), deadline=None)
def test_the_definition_agrees_with_an_independent_one_on_any_data_sets(space, data):
    """Also on data sets that are no neighbours: sides of two proposed pairs."""
    inputs, relation, size = space
    found = patterns(inputs, relation, size)
    if not found:
        return
    pair, other = data.draw(st.sampled_from(found)), data.draw(st.sampled_from(found))
    for left, right in ((pair.left, other.left), (pair.left, other.right), (pair.left, pair.left)):
        mixed = Adjacent(left, {**right, **{n: left[n] for n, declared in inputs.items() if declared.public}})
        expected = neighbours(inputs, relation, mixed.left, mixed.right) if same_lengths(mixed, relation) else False
        assert is_adjacent(mixed, inputs, relation) == expected


def same_lengths(pair, relation):
    if relation == "add-remove":
        return True
    shapes = [[len(v) for v in side.values() if isinstance(v, list)] for side in (pair.left, pair.right)]
    return shapes[0] == shapes[1]


# ------------------------------------------------------------------------------------------- against the exact side's relation


def of_one(a):
    return 0


def of_two(a, b):
    return 0


def of_stream(a):
    for _ in a:
        yield 0


def exact_pairs(inputs, relation, size):
    """Every unordered pair of neighbours of the compiled question, without the public inputs."""
    streaming = any(declared.shape == "stream" for declared in inputs.values())
    function = of_stream if streaming else (of_one, of_two)[len(inputs) - 1]
    copied = FunctionType(function.__code__, function.__globals__, function.__name__)
    copied.__annotations__ = dict(inputs)
    open_ended = any(d.shape == "stream" or (d.shape == "list" and d.size is None) for d in inputs.values())
    question = mechanism_question(mechanism(neighbours=relation)(copied), size=size if open_ended else None)
    related = question.scenario.neighbours
    if related.kind == "pairs":
        named = question.origin.inputs
        return {frozenset((frozen(named[x]), frozen(named[y]))) for (x,), (y,) in related.listed}
    ((name, declared),) = ((n, d) for n, d in inputs.items() if not d.public)
    data = [[v] for v in declared.values]
    if declared.shape != "value":
        data = [list(values) for values in product(declared.values, repeat=declared.size or size)]

    def numbers(values):
        return tuple(values) if declared.within is None else tuple(map(rational, values))

    def shown(values):
        return frozen({name: values[0] if declared.shape == "value" else values})

    return {
        frozenset((shown(x), shown(y))) for x, y in combinations(data, 2) if related.related(numbers(x), numbers(y))
    }


FINITE = [
    ({"a": queries(0, 2)}, 2, None),
    ({"a": queries(0, 3, sensitivity=2)}, 2, None),
    ({"a": queries(-1, 1, sensitivity="3/2", size=2)}, None, None),
    ({"a": queries(0, 1)}, 4, None),
    ({"a": integer(0, 5)}, None, None),
    ({"a": integer(0, 9, sensitivity=3)}, None, None),
    ({"a": records("x", "y", "z")}, 2, None),
    ({"a": records(0, 5, Fraction(1, 2))}, 2, None),
    ({"a": one_of("x", "y", None, (0, 1))}, None, None),
    ({"a": stream(0, 2)}, 2, None),
    ({"a": stream_of("x", "y")}, 3, None),
    ({"a": queries(0, 1), "b": one_of("x", "y")}, 2, None),
    ({"a": integer(0, 3), "b": integer(0, 4, sensitivity=2)}, None, None),
    ({"a": queries(0, 2), "b": records("x", "y")}, 2, None),
    ({"a": records("x", "y"), "b": integer(0, 2)}, 2, None),
    ({"a": integer(0, 2, sensitivity="1/2"), "b": integer(0, 2)}, None, None),
    ({"a": queries(0, 1), "b": public(integer(0, 2))}, 2, None),
    ({"a": records("x", "y"), "b": public(one_of(1, 2))}, 2, None),
    ({"a": queries(0, 2)}, 2, lambda x, y: sum(abs(v - w) for v, w in zip(x, y, strict=True)) == 1),
    ({"a": queries(0, 2)}, 2, lambda x, y: sorted(x) == sorted(y)),
    ({"a": queries(0, 2)}, 3, lambda x, y: x[0] < y[0]),
    ({"a": one_of("x", "yy", "zz")}, None, lambda x, y: len(x) == len(y)),
    ({"a": integer(0, 3), "b": records("x", "y")}, 2, lambda x, y: x[0] + 2 == y[0] and x[1] == y[1][::-1]),
]
CASES = [
    (inputs, relation, size)
    for inputs, size, own in FINITE
    for relation in (("each", "one", "monotone") if own is None else (own,))
    if relation != "monotone" or all(d.within is not None for d in inputs.values() if not d.public)
]


@pytest.mark.parametrize("number", range(len(CASES)))
def test_the_relation_is_that_of_the_compiled_question(number):
    inputs, relation, size = CASES[number]
    exact = exact_pairs(inputs, relation, size)
    private = {name: declared for name, declared in inputs.items() if not declared.public}
    shared = {name: declared.values[-1] for name, declared in inputs.items() if declared.public}

    def hidden(side):
        return frozen({name: side[name] for name in private})

    # by the definition: all pairs of data sets
    choices = [
        list(declared.values)
        if declared.shape == "value"
        else [list(values) for values in product(declared.values, repeat=declared.size or size)]
        for declared in private.values()
    ]
    data = [dict(zip(private, values, strict=True)) for values in product(*choices)]
    found = set()
    for x, y in combinations(data, 2):
        both = [is_adjacent(Adjacent({**shared, **v}, {**shared, **w}), inputs, relation) for v, w in ((x, y), (y, x))]
        assert both[0] == both[1]
        if both[0]:
            found.add(frozenset((hidden(x), hidden(y))))
    assert found == exact
    assert not any(is_adjacent(Adjacent({**shared, **x}, {**shared, **x}), inputs, relation) for x in data)
    # by the patterns: all pairs where they are few
    proposed = patterns(inputs, relation, size)
    assert_good(proposed, inputs, relation)
    seen = {frozenset((hidden(pair.left), hidden(pair.right))) for pair in proposed}
    assert seen <= exact
    publics = 1
    for name in shared:
        publics *= len(inputs[name].values)
    assert len(proposed) == min(60, len(exact) * publics)
    # by chance, and from there on
    generator = np.random.default_rng(number)
    for _ in range(10):
        pair = draw_neighbours(inputs, relation, size, {}, generator)
        assert pair is not None
        for one in (pair, mutate_neighbours(pair, inputs, relation, {}, generator)):
            assert one is None or frozenset((hidden(one.left), hidden(one.right))) in exact


# ------------------------------------------------------------------------------------------------------- required patterns


@pytest.mark.parametrize("declared", [queries(), real_queries(), queries(0, 50), stream(), real_stream(0)])
@pytest.mark.parametrize("n", [2, 5])
def test_the_patterns_of_the_literature_are_tried(declared, n):
    found = lists(patterns({"q": declared}, "each", n))
    ones, h = (1,) * n, n // 2
    assert ((0,) * n, ones) in found
    assert (ones, (0, *(2,) * (n - 1))) in found
    assert (ones, (2, *(0,) * (n - 1))) in found
    assert (ones, (*(2,) * h, *(0,) * (n - h))) in found
    assert (ones, (*(0,) * h, *(2,) * (n - h))) in found
    assert ((*(1,) * h, *(0,) * (n - h)), (*(0,) * h, *(1,) * (n - h))) in found
    assert ((*(1,) * (n - 1), 0), (*(0,) * (n - 1), 1)) in found
    assert ((1, *(0,) * (n - 1)), (0, *(1,) * (n - 1))) in found
    assert ((0,) * n, (1, *(0,) * (n - 1))) in found
    assert (tuple(i % 2 for i in range(n)), tuple(1 - i % 2 for i in range(n))) in found
    for g in (1, 2, 5, 10):
        assert ((0, *(g,) * (n - 1)), (1, *(g - 1,) * (n - 1))) in found
        assert ((g, *(0,) * (n - 1)), (g - 1, *(1,) * (n - 1))) in found
        assert ((*(g,) * (n - 1), 0), (*(g - 1,) * (n - 1), 1)) in found


def test_the_first_pattern_moves_everything():
    assert patterns({"q": queries()}, "each", 5)[0] == Adjacent({"q": [0] * 5}, {"q": [1] * 5})


def test_patterns_are_scaled_by_the_sensitivity_and_stay_within_the_bounds():
    third = Fraction(1, 3)
    found = lists(patterns({"q": real_queries(-1, 1, sensitivity="1/3")}, "each", 3))
    assert ((-1,) * 3, (-2 * third,) * 3) in found
    assert ((1 - third,) * 3, (1,) * 3) in found
    found = lists(patterns({"q": queries(3, 40, sensitivity="7/2")}, "each", 3))
    assert ((3, 3, 3), (6, 6, 6)) in found
    assert ((37, 37, 37), (40, 40, 40)) in found
    assert ((3, 18, 18), (6, 15, 15)) in found


@pytest.mark.parametrize("declared", [queries(), queries(0, 20), stream()])
def test_one_value_changes_at_three_places_up_and_down(declared):
    found = lists(patterns({"q": declared}, "one", 5))
    for place in (0, 2, 4):
        for base in ((0, 0, 0, 0, 0), (1, 1, 1, 1, 1)):
            other = list(base)
            other[place] = 1 - base[place]
            assert (base, tuple(other)) in found
    assert ((0, 1, 1, 1, 1), (0, 1, 1, 1, 2)) in found
    assert ((1, 2, 2, 2, 2), (0, 2, 2, 2, 2)) in found
    assert any(max(left) >= 10 for left, _ in found)


def test_each_record_against_each_other_one():
    found = lists(patterns({"q": records("a", "b", "c", "d")}, "one", 4))
    for v, w in combinations("abcd", 2):
        assert ((v, v, v, v), (w, v, v, v)) in found
        assert ((v, w, w, w), (w, w, w, w)) in found
        assert ((v, v, v, v), (v, v, v, w)) in found
    assert ((*"abab",), (*"bbab",)) in found
    values = list(map(str, range(30)))
    found = patterns({"q": one_of(*values)}, "one", None)
    assert len(found) == 60


def test_monotone_moves_all_a_half_or_one():
    found = lists(patterns({"q": queries()}, "monotone", 4))
    assert ((0, 0, 0, 0), (1, 1, 1, 1)) in found
    assert ((0, 0, 0, 0), (1, 1, 0, 0)) in found
    assert ((0, 0, 0, 0), (1, 0, 0, 0)) in found
    assert ((0, 1, 1, 1), (1, 2, 2, 2)) in found
    assert ((0, 1, 1, 1), (1, 1, 1, 1)) in found
    assert ((0, 2, 2, 2), (1, 3, 3, 3)) in found


def test_one_record_more_at_either_extreme_or_between():
    found = lists(patterns({"q": queries(0, 10)}, "add-remove", 4))
    for x in (0, 5, 10):
        assert ((x,) * 4, (x,) * 3) in found
        assert ((x, 0, 0, 0), (0, 0, 0)) in found
        assert ((0, 0, 0, x), (0, 0, 0)) in found
    found = patterns({"q": records("a", "b", "c", "d", "e")}, "add-remove", 3)
    assert (("e", "a", "a"), ("a", "a")) in lists(found)
    assert {pair.size for pair in found} == {3}
    assert lists(patterns({"q": records("a", "b")}, "add-remove", 1)) == {
        (("a",), ()),
        ((), ("a",)),
        (("b",), ()),
        ((), ("b",)),
    }


@pytest.mark.parametrize("n", [1, 2, 3, 4])
@pytest.mark.parametrize("other", [None, records("x", "y", size=2), queries(0, 1, size=1)])
def test_all_pairs_with_one_record_more_where_they_are_few(n, other):
    inputs = {"q": records("a", "b")} if other is None else {"q": records("a", "b"), "r": other}
    expected = set()
    rest = [()] if other is None else product(other.values, repeat=other.size)
    for tail in list(rest):
        shared = {} if other is None else {"r": list(tail)}
        for values in product("ab", repeat=n):
            for i in range(n):
                short = values[:i] + values[i + 1 :]
                pair = Adjacent({"q": list(values), **shared}, {"q": list(short), **shared})
                expected.add(unordered(pair))
    found = patterns(inputs, "add-remove", n)
    assert_good(found, inputs, "add-remove")
    seen = {unordered(pair) for pair in found}
    assert seen == expected if len(expected) <= 60 else seen <= expected


def test_a_list_of_declared_length_loses_no_record():
    inputs = {"q": records("a", "b", size=3), "r": queries(0, 9)}
    found = patterns(inputs, "add-remove", 2)
    assert found
    assert all(len(pair.left["q"]) == len(pair.right["q"]) == 3 for pair in found)
    assert patterns({"q": records("a", "b", size=3)}, "add-remove", 2) == []
    assert draw_neighbours({"q": records("a", "b", size=3)}, "add-remove", 2, {}, np.random.default_rng(0)) is None
    assert not is_adjacent(Adjacent({"q": ["a"] * 3}, {"q": ["a"] * 2}), {"q": records("a", "b", size=3)}, "add-remove")


# ------------------------------------------------------------------------------------------------------------ public inputs


def test_public_inputs_are_equal_and_vary():
    inputs = {"t": public(real()), "n": public(integer(1)), "q": queries(), "w": public(one_of("x", "y"))}
    found = patterns(inputs, "each", 3)
    assert_good(found, inputs, "each")
    assert {0, Fraction(1, 2), 1} <= {pair.left["t"] for pair in found}
    assert {1, 2, 3} <= {pair.left["n"] for pair in found}
    assert {"x", "y"} == {pair.left["w"] for pair in found}
    found = patterns({"t": public(real()), "q": queries()}, "each", 3, {"t": Fraction(7, 2)})
    assert {pair.left["t"] for pair in found} == {Fraction(7, 2)}
    assert len(found) == 60


def test_public_lists_and_streams():
    inputs = {"t": public(queries()), "s": public(stream_of("low", "high")), "x": integer(0, 3)}
    found = patterns(inputs, "each", 3)
    assert_good(found, inputs, "each")
    assert {len(pair.left["t"]) for pair in found} == {len(pair.left["s"]) for pair in found} == {3}
    assert len({tuple(pair.left["s"]) for pair in found}) > 2
    given = patterns(inputs, "each", 3, {"t": [4, 5]})
    assert {tuple(pair.right["t"]) for pair in given} == {(4, 5)}


def test_what_is_given_stays_and_other_public_values_move():
    inputs = {"t": public(real(0, 9)), "n": public(integer(1)), "q": queries()}
    generator = np.random.default_rng(3)
    seen = set()
    pair = draw_neighbours(inputs, "each", 3, {"t": 2}, generator)
    for _ in range(200):
        pair = mutate_neighbours(pair, inputs, "each", {"t": 2}, generator)
        assert_neighbours(pair, inputs, "each")
        assert pair.left["t"] == 2
        seen.add(pair.left["n"])
    assert len(seen) > 3


@pytest.mark.parametrize("fixed", [{"q": [0, 0]}, {"x": 1}, {"t": 12}, {"t": 0.5}, {"t": "1/2"}, {"t": True}])
def test_only_values_of_public_inputs_can_be_given(fixed):
    inputs = {"t": public(real(0, 9)), "q": queries()}
    with pytest.raises(LanguageError):
        patterns(inputs, "each", 2, fixed)
    with pytest.raises(LanguageError):
        draw_neighbours(inputs, "each", 2, fixed, np.random.default_rng(0))


# ----------------------------------------------------------------------------------------------------------- hill climbing


def test_small_changes_lead_far_and_everywhere():
    """From all zero, every kind of change is seen: bases far apart, differences of both signs, halves, swaps."""
    inputs = {"q": real_queries()}
    generator = np.random.default_rng(1)
    pair = Adjacent({"q": [0, 0, 0]}, {"q": [1, 1, 1]})
    differences, furthest = set(), 0
    for _ in range(600):
        pair = mutate_neighbours(pair, inputs, "each", {}, generator)
        assert_neighbours(pair, inputs, "each")
        assert len(pair.left["q"]) == 3
        differences |= {y - x for x, y in zip(pair.left["q"], pair.right["q"], strict=True)}
        furthest = max(furthest, max(pair.left["q"]) - min(pair.left["q"]))
    assert {-1, 0, 1, Fraction(1, 2), Fraction(-1, 2)} <= differences
    assert furthest >= 32


def test_small_changes_reach_every_pair_of_a_small_space():
    for inputs, relation in (
        ({"q": queries(0, 2)}, "one"),
        ({"q": queries(0, 2)}, "each"),
        ({"q": queries(0, 2)}, "monotone"),
        ({"q": records("a", "b", "c")}, "one"),
        ({"q": records("a", "b", "c")}, "add-remove"),
    ):
        found = patterns(inputs, relation, 2)
        assert len(found) < 60
        generator = np.random.default_rng(2)
        pair, missing = found[0], {unordered(pair) for pair in found}
        for _ in range(2000):
            pair = mutate_neighbours(pair, inputs, relation, {}, generator)
            missing.discard(unordered(pair))
            if not missing:
                break
        assert not missing


def test_random_pairs_reach_every_pair_of_a_small_space():
    for inputs, relation in (({"q": queries(0, 2)}, "each"), ({"q": records("a", "b", "c")}, "add-remove")):
        generator = np.random.default_rng(2)
        seen = {unordered(draw_neighbours(inputs, relation, 2, {}, generator)) for _ in range(500)}
        assert seen == {unordered(pair) for pair in patterns(inputs, relation, 2)}


def test_one_seed_gives_one_walk():
    inputs = {"t": public(real()), "q": real_queries(0, 7, sensitivity="1/2"), "x": one_of("a", "b")}

    def close(x, y):
        return x[0][0] != y[0][0]

    def walk(seed):
        generator = np.random.default_rng(seed)
        pair = draw_neighbours(inputs, "each", 4, {}, generator)
        yield pair
        while True:
            pair = mutate_neighbours(pair, inputs, "each", {}, generator)
            yield pair

    assert patterns(inputs, "each", 4) == patterns(inputs, "each", 4)
    assert patterns(inputs, close, 4) == patterns(inputs, close, 4)
    assert list(islice(walk(5), 30)) == list(islice(walk(5), 30))
    assert list(islice(walk(5), 30)) != list(islice(walk(6), 30))


def test_a_pair_is_data_of_its_own():
    pair = patterns({"q": queries(), "x": integer()}, "each", 3)[0]
    assert pickle.loads(pickle.dumps(pair)) == pair
    assert pair.size == 3
    assert patterns({"x": integer()}, "each", None)[0].size is None
    before = Adjacent({"q": [0, 0]}, {"q": [1, 1]})
    for seed in range(20):
        mutate_neighbours(before, {"q": queries()}, "each", {}, np.random.default_rng(seed))
    assert before == Adjacent({"q": [0, 0]}, {"q": [1, 1]})


# ------------------------------------------------------------------------------------------------- relations of the user's own


def test_a_relation_of_the_user_on_large_and_on_infinite_spaces():
    def swapped(x, y):
        return sorted(x) == sorted(y)

    def exchanged(x, y):
        return sum(v != w for v, w in zip(x[0], y[0], strict=True)) == 2 and x[1] == y[1]

    for inputs, relation in (({"q": queries(0, 99)}, swapped), ({"q": queries(), "x": real()}, exchanged)):
        found = patterns(inputs, relation, 4)
        assert_good(found, inputs, relation)
        assert len(found) > 10
        generator = np.random.default_rng(0)
        pair = draw_neighbours(inputs, relation, 4, {}, generator)
        assert_neighbours(pair, inputs, relation)
        assert_neighbours(mutate_neighbours(pair, inputs, relation, {}, generator), inputs, relation)


def test_rare_neighbours_are_found_in_a_small_space(monkeypatch):
    monkeypatch.setattr(proposing, "TRIES", 200)
    monkeypatch.setattr(moving, "TRIES", 200)

    def rare(x, y):
        return x == [3, 1, 4] and y == [1, 4, 2]

    (pair,) = patterns({"q": queries(0, 4)}, rare, 3)
    assert unordered(pair) == unordered(Adjacent({"q": [3, 1, 4]}, {"q": [1, 4, 2]}))
    assert patterns({"q": queries(0, 4)}, lambda x, y: False, 2) == []
    assert patterns({"q": real_queries()}, lambda x, y: False, 2) == []
    assert draw_neighbours({"q": queries(0, 4)}, lambda x, y: x == y, 2, {}, np.random.default_rng(0)) is None


def test_a_relation_that_fails_says_on_what():
    with pytest.raises(LanguageError, match=r"the relation fails on \[.*\] and \[.*\]: ZeroDivisionError"):
        patterns({"q": queries(0, 3)}, lambda x, y: 1 // 0, 2)


def test_a_relation_that_changes_its_arguments_changes_no_pair():
    def sorting(x, y):
        x.sort()
        y.sort()
        return x == y

    found = patterns({"q": queries(0, 2)}, sorting, 3)
    assert found
    for pair in found:
        assert sorted(pair.left["q"]) == sorted(pair.right["q"])
        assert pair.left != pair.right


# ------------------------------------------------------------------------------------------------------------ what is refused


def test_what_is_no_relation_for_the_inputs():
    with pytest.raises(LanguageError, match="is no relation"):
        patterns({"q": queries()}, "all", 2)
    with pytest.raises(LanguageError, match="is no list"):
        patterns({"q": queries(), "x": integer()}, "add-remove", 2)
    with pytest.raises(LanguageError, match="has no order"):
        patterns({"q": records("a", "b")}, "monotone", 2)
    with pytest.raises(LanguageError, match="has no order"):
        patterns({"q": queries(), "r": records("a", "b")}, "monotone", 2)
    with pytest.raises(QuestionError, match="how long is q"):
        patterns({"q": queries()}, "each", None)
    with pytest.raises(QuestionError, match="at least one element"):
        patterns({"q": queries()}, "each", 0)


def test_where_nothing_may_change_there_are_no_neighbours():
    for inputs in ({"q": queries(sensitivity="1/2")}, {"q": queries(0, 9, sensitivity="1/2")}, {"q": records("a")}, {}):
        assert patterns(inputs, "each", 3) == []
        assert draw_neighbours(inputs, "each", 3, {}, np.random.default_rng(0)) is None
    assert patterns({"t": public(integer())}, "each", None) == []


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ([0, 0], [0]),
        ([0, 0], [1, 3]),
        ([0, 10], [0, 11]),
        ([0, -1], [0, 0]),
        ([0, 0.5], [0, 1]),
        ([0, Fraction(1, 2)], [0, 1]),
        ([0, False], [0, 1]),
        ([0, "1"], [0, 1]),
        (0, 1),
        ([0, 0], [0, 0]),
    ],
)
def test_what_is_not_adjacent(left, right):
    for relation in ("each", "one", "monotone"):
        assert not is_adjacent(Adjacent({"q": left}, {"q": right}), {"q": queries(0, 10)}, relation)
        assert not is_adjacent(Adjacent({"q": right}, {"q": left}), {"q": queries(0, 10)}, relation)


def test_names_are_those_of_the_inputs():
    inputs = {"q": queries(), "t": public(integer())}
    assert is_adjacent(Adjacent({"q": [0], "t": 1}, {"q": [1], "t": 1}), inputs, "each")
    assert not is_adjacent(Adjacent({"q": [0], "t": 1}, {"q": [1], "t": 2}), inputs, "each")
    assert not is_adjacent(Adjacent({"q": [0]}, {"q": [1]}), inputs, "each")
    assert not is_adjacent(Adjacent({"q": [0], "t": 1, "z": 0}, {"q": [1], "t": 1, "z": 0}), inputs, "each")


@mechanism(epsilon="ln(2)", neighbours="monotone")
def beside_a_record(x: integer(0, 1), r: one_of("a", "b")):
    """A record has no direction; without comparing it the mechanism would look private."""
    return r, randomized_response(x, truth="2/3")


def test_audits_and_exact_engines_refuse_the_same():
    said = []
    for ask in (check, audit):
        with pytest.raises(LanguageError, match="has no order") as problem:
            ask(beside_a_record)
        said.append((problem.value.code, problem.value.message))
    assert said[0] == said[1]
