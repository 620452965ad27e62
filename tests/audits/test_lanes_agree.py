"""Many runs at once agree with one run at a time: every operation, and random programs against all runs of the Python function."""

from __future__ import annotations

import linecache
from collections import Counter
from copy import deepcopy
from fractions import Fraction
from itertools import count as numbers_from

import numpy as np
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from scipy import stats
from tests.amounts import examples

from privproof.audits.sampling import sample
from privproof.audits.sampling.column_operations import apply, element, truth
from privproof.audits.sampling.lane_joining import join_columns
from privproof.audits.sampling.program_lanes import _WRONG
from privproof.audits.sampling.sample_columns import NumberColumn, distinct, from_table, identity, select, values_at
from privproof.errors import LanguageError
from privproof.language import NOISES, integer, mechanism, queries
from privproof.language.noise import drawing
from privproof.language.operations import OPERATIONS
from privproof.language.operations import element_at as one_element
from privproof.language.values import Cells
from privproof.language.values import truth as one_truth

SOME = settings(
    max_examples=examples(300), deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much]
)

whole = st.integers(-3, 4) | st.sampled_from([2**62, -(2**63), 2**63 - 1, 2**70])
small = st.integers(-3, 4)
scalars = st.one_of(
    small, st.booleans(), st.none(), st.sampled_from(["a", "b", ""]), st.sampled_from([Fraction(1), Fraction(1, 2)])
)
plain_lists = st.lists(scalars, max_size=3)
values = st.one_of(
    scalars,
    whole,
    plain_lists.map(tuple),
    plain_lists.map(lambda items: Cells(tuple(items))),
    st.lists(small).map(tuple),
)
kinds = st.sampled_from(
    [
        values,
        whole,
        small,
        st.booleans(),
        st.tuples(small, small),
        st.tuples(small, st.booleans()).map(Cells),
        st.tuples(scalars, st.tuples(small)),
    ]
)


@st.composite
def columns(draw, count):
    """The values of a variable in so many runs."""
    kind = draw(kinds)
    listed = draw(st.lists(kind, min_size=count, max_size=count) | kind.map(lambda value: [value] * count))
    return listed, from_table(listed, np.arange(count))


def same(column, wanted):
    """Whether a column has the wanted values, kind by kind."""
    found = values_at(column, np.arange(len(wanted)))
    assert list(map(identity, found)) == list(map(identity, wanted))


def each(function, operands):
    """The results run by run; nothing if one of them fails."""
    try:
        return [function(*case) for case in zip(*operands, strict=True)]
    except _WRONG:
        return None


ARITIES = {
    1: [
        "neg",
        "not",
        "abs",
        "all",
        "any",
        "bool",
        "int",
        "len",
        "list",
        "tuple",
        "max",
        "min",
        "sorted",
        "sum",
        "list of",
    ],
    2: [
        *("+", "-", "*", "/", "//", "%", "==", "!=", "<", ">", "<=", ">=", "in", "not in", "extend", "max", "min"),
        *("max or", "min or", "count", "index", "unpack", "tuple of", "list of", "Fraction", "sum"),
    ],
    3: ["slice", "max", "min", "tuple of"],
}


@settings(SOME, max_examples=examples(600))
@given(st.data(), st.integers(1, 5))
def test_an_operation_on_columns_is_the_operation_on_values(data, count):
    arity = data.draw(st.sampled_from([1, 2, 2, 3]))
    name = data.draw(st.sampled_from(ARITIES[arity]))
    drawn = [data.draw(columns(count)) for _ in range(arity)]
    wanted = each(OPERATIONS[name], [listed for listed, _ in drawn])
    try:
        found = apply(name, [column for _, column in drawn], count)
    except _WRONG:
        assert wanted is None
        return
    assert wanted is not None
    same(found, wanted)


@SOME
@given(st.data(), st.integers(1, 5), st.sampled_from([None, True, False]))
def test_constants_are_told_apart(data, count, constant):
    listed, column = data.draw(columns(count))
    for name, wanted in (("is", True), ("is not", False)):
        found = apply(name, [column, from_table([constant], np.zeros(count, dtype=int))], count)
        same(found, [(value is constant) == wanted for value in listed])


@SOME
@given(st.data(), st.integers(1, 5))
def test_an_element_and_the_truth_of_columns(data, count):
    (listed, column), (indices, index) = data.draw(columns(count)), data.draw(columns(count))
    wanted = each(one_element, [listed, indices])
    try:
        found = element(column, index, count)
    except _WRONG:
        assert wanted is None
    else:
        assert wanted is not None
        same(found, wanted)
    assert np.broadcast_to(truth(column, count), count).tolist() == list(map(one_truth, listed))


@SOME
@given(st.data(), st.lists(st.integers(1, 4), min_size=1, max_size=4))
def test_columns_are_joined_and_selected(data, sizes):
    drawn = [data.draw(columns(size)) for size in sizes]
    listed = [value for part, _ in drawn for value in part]
    column = join_columns([part for _, part in drawn], sizes)
    same(column, listed)
    chosen = data.draw(st.lists(st.integers(0, len(listed) - 1), min_size=1, max_size=6))
    part = select(column, np.array(chosen))
    same(part, [listed[place] for place in chosen])
    codes, tuples = distinct([part], len(chosen))
    assert [identity(tuples[code][0]) for code in codes] == [identity(listed[place]) for place in chosen]
    assert len({identity(value) for (value,) in tuples}) == len(tuples)


floats = st.sampled_from([0.0, -0.0, 0.1, 0.5, -1.5, 3.0, 1 / 3, 1e300, 2.0**53])


@SOME
@given(
    st.sampled_from(["+", "-", "*", "//", "%", "<", "<=", ">", ">=", "==", "!="]),
    st.lists(floats, min_size=1, max_size=4),
    st.one_of(small, st.booleans(), st.sampled_from([Fraction(1, 3), Fraction(1, 10), Fraction(1, 2), 2**53 + 1])),
    st.booleans(),
)
def test_floats_meet_numbers_as_in_python(name, listed, other, swapped):
    cases = [(other, value) if swapped else (value, other) for value in listed]
    wanted = each(OPERATIONS[name], list(zip(*cases, strict=True)))
    assume(wanted is not None)
    operands = [NumberColumn(np.array(listed)), from_table([other], np.zeros(len(listed), dtype=int))]
    same(apply(name, operands[::-1] if swapped else operands, len(listed)), wanted)


# ------------------------------------------------------------------------------------------------------ random programs

NAMES = ("a", "b", "c")
number = st.sampled_from([*NAMES, "0", "1", "2", "len(xs)", "sum(xs)", "x", "q[0]", "q[-1]"])


@st.composite
def conditions(draw):
    left, right = draw(number), draw(number)
    test = f"{left} {draw(st.sampled_from(['<', '==', '>=', '!=']))} {right}"
    return draw(
        st.sampled_from([test, f"not ({test})", f"({test}) and a", f"b or ({test})", "xs and xs[0] > 0", "1 in xs"])
    )


@st.composite
def expressions(draw):
    first, second = draw(number), draw(number)
    return draw(
        st.sampled_from(
            [
                first,
                f"({first} + 2 * {second}) % 4",
                f"abs({first} - {second})",
                f"max({first}, {second})",
                f"{first} if {draw(conditions())} else {second}",
                f"(xs[{first} % len(xs)] if xs else {second})",
                f"({first} - {second}) // 2",
                f"max(xs, default={first})",
                f"sorted([{first}, {second}, 1])[1]",
                f"[{first}, {second}].count(1)",
                f"helper({first})",
            ]
        )
    )


draws = st.sampled_from(
    [
        "uniform(0, 2)",
        "int(bernoulli('1/3'))",
        "truncated_geometric(1, alpha='1/2', low=0, high=2)",
        "randomized_response(a % 2, truth='2/3')",
        "choice({0: '1/4', 3: '3/4'})",
    ]
)


@st.composite
def blocks(draw, depth, looping=False):
    lines = []
    for _ in range(draw(st.integers(1, 3))):
        kind = draw(st.sampled_from(["assign", "draw", "append", "put", "list", "if", "for", "while", "leave", "swap"]))
        name = draw(st.sampled_from(NAMES))
        if kind == "assign":
            lines.append(f"{name} = {draw(expressions())}")
        elif kind == "draw":
            lines.append(f"{name} = {draw(draws)}")
        elif kind == "append":
            lines.append(f"xs.append({draw(expressions())})")
        elif kind == "put":
            lines += ["if xs:", f"    xs[{name} % len(xs)] {draw(st.sampled_from(['=', '+=']))} {draw(number)}"]
        elif kind == "list":
            lines.append(
                draw(st.sampled_from(["xs = xs[1:]", "xs = xs + [a]", "xs = [y for y in xs if y != b]", "xs = []"]))
            )
        elif kind == "swap":
            lines.append("a, b = b, a")
        elif kind == "leave" and looping:
            lines += [f"if {draw(conditions())}:", f"    {draw(st.sampled_from(['continue', 'break']))}"]
        elif kind == "if" and depth:
            lines += [f"if {draw(conditions())}:", *indented(draw(blocks(depth - 1, looping)))]
            if draw(st.booleans()):
                lines += ["else:", *indented(draw(blocks(depth - 1, looping)))]
        elif kind == "for" and depth:
            over = draw(st.sampled_from(["range(2)", "q", "[0, 1]"]))
            lines += [f"for c in {over}:", *indented(draw(blocks(depth - 1, looping=True)))]
        elif kind == "while" and depth:
            rounds = f"r{depth}"
            lines += [f"{rounds} = 0", f"while {rounds} < 3 and ({draw(conditions())}):", f"    {rounds} += 1"]
            lines += indented(draw(blocks(depth - 1, looping=True)))
    return lines or ["pass"]


def indented(lines):
    return ["    " + line for line in lines]


HELPER = """
def helper(value):
    if value > 1:
        return value - 1
    return value
"""
_serial = numbers_from()


def compiled(body, *, generator=False):
    """A mechanism with this body; where it is to be a generator, it yields instead of exchanging variables."""
    end = "return (a, b, c, xs)"
    if generator:
        body, end = [line.replace("a, b = b, a", "yield (a, xs)") for line in body], "yield c"
    head = [
        "def f(q: queries(0, 2), x: integer(0, 2)):",
        "    a, b, c, xs = uniform(0, 2), x, q[0], [int(bernoulli('1/3'))]",
    ]
    source = "\n".join([HELPER, *head, *indented(body), f"    {end}", ""])
    file = f"<program {next(_serial)}>"
    linecache.cache[file] = (len(source), None, source.splitlines(keepends=True), file)
    names = {"queries": queries, "integer": integer, **{name: noise.function for name, noise in NOISES.items()}}
    exec(compile(source, file, "exec"), names)
    return mechanism(names["f"])


class TooMany(Exception):
    """The function draws too often to follow all its runs."""


def all_runs(function, most=2000):
    """The exact distribution of the outputs of a Python function, by following all its runs."""
    found: Counter[str] = Counter()
    waiting = [()]
    for _ in range(most):
        if not waiting:
            return found
        path = waiting.pop()
        mass, place = Fraction(1), 0

        def drawn(law, path=path):
            nonlocal mass, place
            outcomes = [(value, p) for value, p in law.outcomes if p]
            if place == len(path):
                raise Branching(len(outcomes))
            value, p = outcomes[path[place]]
            mass, place = mass * p, place + 1
            return value

        try:
            with drawing(drawn):
                found[repr(function())] += mass
        except Branching as branching:
            waiting.extend((*path, number) for number in range(branching.args[0]))
    raise TooMany


class Branching(Exception):
    """A draw that the path does not decide."""


@settings(SOME, max_examples=examples(200))
@given(blocks(depth=3), st.lists(st.integers(0, 2), min_size=1, max_size=2), st.integers(0, 2), st.booleans())
def test_random_programs_have_the_distribution_of_the_python_function(body, q, x, generator):
    program = compiled(body, generator=generator)

    def run():
        output = program.function(list(q), x)
        return [deepcopy(value) for value in output] if generator else output

    try:
        exact = all_runs(run)
    except TooMany:
        assume(False)
    except _WRONG:
        return
    try:
        samples = sample(program, {"q": q, "x": x}, 5000, seed=7)
    except LanguageError as error:
        refused = ("two names", "is not in the mechanism language")
        if not any(text in error.message for text in refused):
            raise
        return
    counted = samples.counts()
    assert counted.keys() <= exact.keys()
    frequent = [text for text, p in exact.items() if p * 5000 >= 10]
    seen = [counted.get(text, 0) for text in frequent]
    hoped = [float(exact[text]) * 5000 for text in frequent]
    if len(frequent) < len(exact):
        seen.append(5000 - sum(seen))
        hoped.append(5000 - sum(hoped))
    assert len(seen) == 1 or stats.chisquare(seen, hoped).pvalue > 1e-7
