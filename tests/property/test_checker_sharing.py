"""What the checker computes once for many: factors of matrices, live states, products of costs, numbers; each against the plain way."""

from __future__ import annotations

from itertools import product
from math import inf
from random import Random
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from privproof_checker.numbers import rational
from privproof_checker.occupation import Occupation
from privproof_checker.outcomes import Limits, Refusal
from privproof_checker.plain_documents import a_number
from privproof_checker.runs.run_data import read_data
from privproof_checker.streams.cost_products import Products
from privproof_checker.systems import DenseMatrices, Edge, Moves, ScaledRows, Stack, Start, columns
from privproof_checker.systems import product as times

seeds = st.integers(0, 10**9)


@given(seeds)
def test_scaled_rows_are_the_matrix(seed):
    random = Random(seed)
    size = random.randint(1, 6)
    large = random.choice([3, 10**40])
    middle = {
        i: [(j, random.randint(1, 9)) for j in range(size) if random.random() < 0.7]
        for i in range(size)
        if random.random() < 0.8
    }
    before = {i: random.randint(1, large) for i in middle}
    after = {j: random.randint(1, large) for j in range(size) if random.random() < 0.8}
    scaled = ScaledRows(before, middle, after)
    rows = {i: [(j, before[i] * entry * after[j]) for j, entry in row if j in after] for i, row in middle.items()}
    assert dict(scaled) == rows
    assert [list(columns(scaled, i)) for i in range(size)] == [list(columns(rows, i)) for i in range(size)]
    vectors = [{i: random.randint(1, 99) for i in range(size) if random.random() < 0.9} for _ in range(10)]
    plain = [times(vector, rows) for vector in vectors]
    assert [times(vector, scaled) for vector in vectors] == plain
    stack = Stack(vectors, DenseMatrices())
    assert stack.after(scaled) == stack.after(scaled) == plain


@given(seeds)
def test_live_states_are_those_from_which_a_word_may_end(seed):
    """Against a search forwards from every state by itself."""
    random = Random(seed)
    places, size = random.randint(1, 4), random.randint(1, 4)
    edges = {
        place: [
            Edge(random.randrange(places), rows, rows, 1)
            for rows in (
                {i: [(j, 1) for j in range(size) if random.random() < 0.3] for i in range(size)}
                for _ in range(random.randint(0, 2))
            )
        ]
        for place in range(places)
    }
    finals = {place: frozenset(i for i in range(size) if random.random() < 0.2) for place in range(places)}
    system = SimpleNamespace(
        size=lambda _: size,
        letters=lambda place: range(len(edges[place])),
        edge=lambda place, letter: edges[place][letter],
        finals=lambda place: [SimpleNamespace(counted=finals[place])],
    )
    start = Start(((0, rational(1)),), ((0, rational(1)),), None, None, 0)
    found = Occupation(system, Moves(system), [start], Limits())

    def reached(place, state):
        seen, waiting = {(place, state)}, [(place, state)]
        for here, i in waiting:
            for edge in edges[here]:
                for j, _ in edge.left.get(i, ()):
                    if (edge.target, j) not in seen:
                        seen.add((edge.target, j))
                        waiting.append((edge.target, j))
        return seen

    occupied = reached(0, 0)
    for place, state in product(range(places), range(size)):
        live = (place, state) in occupied and any(i in finals[there] for there, i in reached(place, state))
        assert found.matters(place, state) == live


def costs(groups, names):
    """The vectors of a product: the least cost for every combination of shifts."""
    shifts = list(product((-1, 0, 1), repeat=len(names)))
    result = [[0] * len(shifts)]
    for own, front in groups:
        places = [names.index(name) for name in own]
        index = {each: i for i, each in enumerate(product((-1, 0, 1), repeat=len(own)))}
        inner = [index[tuple(each[i] for i in places)] for each in shifts]
        result = [[x + vector[i] for x, i in zip(sums, inner, strict=True)] for sums in result for vector in front]
    return result


@given(seeds)
def test_a_product_that_covers_another_is_nowhere_below(seed):
    """A product is covered only if each of its vectors is nowhere above one of the other, and itself and what is raised always are."""
    random = Random(seed)
    names = ["x", "y", "z"]

    def groups():
        parts = random.choice([[["x"], ["y"], ["z"]], [["x", "y"], ["z"]], [["x", "z"], ["y"]], [["x", "y", "z"]]])
        top = random.choice([1, 2, 4])
        return [
            (
                tuple(part),
                tuple(
                    tuple(
                        random.choice([inf, *range(top + 1)] if random.random() < 0.2 else range(top + 1))
                        for _ in range(3 ** len(part))
                    )
                    for _ in range(random.randint(1, 2))
                ),
            )
            for part in parts
        ]

    table = Products(None)  # no step is taken
    left = groups()
    right = [random.choice([group, (group[0], tuple(tuple(x + 1 for x in v) for v in group[1]))]) for group in left]
    if random.random() < 0.5:
        right = groups()
    more = random.randint(0, 3)
    one, two = table.product(left), table.product([*right, ((), ((more,),))])
    lower, upper = costs(left, names), [[x + more for x in v] for v in costs(right, names)]
    truly = all(any(all(a <= b for a, b in zip(v, w, strict=True)) for w in upper) for v in lower)
    assert truly or not table.covered(one, two)
    assert table.covered(one, one)
    assert table.covered(one, table.product([*left, ((), ((more,),))]))
    assert more == 0 or inf in map(max, lower) or not table.covered(table.product([*left, ((), ((more,),))]), one)


def test_short_numbers_are_read_as_they_are_written():
    class Text(str):
        """A kind of text, as writers of certificates have."""

    limits = Limits()
    for written in ("1/3", "0.25", "2/6", "-7", "1e3", " 5 ", "1e-3/2"):
        assert a_number(written, "", limits) == a_number(Text(written), "", limits) == rational(written)
    for wrong in ("", "1/0", "x", "1.2.3", "1//2", "nan", Text("x")):
        with pytest.raises(Refusal, match="is not an exact number"):
            a_number(wrong, "here", limits)
    with pytest.raises(Refusal, match="digits of a number"):
        a_number("1e500", "here", Limits(digits=100))
    assert a_number("1e500", "here", limits) == rational(10**500)


@given(seeds)
def test_neighbours_of_one_change_are_those_that_differ_once(seed):
    """Found by what is left without an entry, against all pairs by the definition."""
    random = Random(seed)
    values = random.sample(range(-3, 4), random.randint(2, 3))
    near, size = random.choice([None, 1, 2]), random.randint(1, 3)
    private = {"shape": "list", "values": [{"int": v} for v in values], "within": near, "public": False, "size": None}
    known = {"shape": "value", "values": [{"int": 0}, {"int": 1}], "within": 1, "public": True, "size": None}
    lists = [(row, level) for row in product(values, repeat=size) for level in (0, 1)]
    asked = {
        "inputs": {"q": {**private, "text": ""}, "level": {**known, "text": ""}},
        "relation": "one",
        "sizes": [size],
        "data": [{"q": {"tuple": [{"int": v} for v in row]}, "level": {"int": level}} for row, level in lists],
    }
    pairs = {
        (i, j)
        for i, (one, here) in enumerate(lists)
        for j, (other, there) in enumerate(lists)
        if here == there
        and len(changed := [(a, b) for a, b in zip(one, other, strict=True) if a != b]) == 1
        and all(near is None or abs(a - b) <= near for a, b in changed)
    }
    if not pairs:
        with pytest.raises(Refusal):
            read_data(asked, Limits(), sampled=False)
        return
    assert read_data(asked, Limits(), sampled=False).pairs == pairs
    asked["data"][0]["q"]["tuple"][0] = {"int": bool(values[0])}  # a truth value is no number, whatever Python says
    with pytest.raises(Refusal):
        read_data(asked, Limits(), sampled=False)
