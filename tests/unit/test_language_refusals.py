"""What is outside the mechanism language: the message names the construct, the place is exact, and there is a hint."""

from __future__ import annotations

import pytest
from tests.programs import HEADER, load

from privproof import LanguageError, mechanism_question, output_distribution

BEFORE = """\
import functools
import random
from collections import Counter
from privproof import exponential, laplace


def helper(x):
    return x


def again(x):
    return again(x - 1) if x else 0


def open_ended(*xs):
    return xs


def counter(n):
    yield n


def changing(xs):
    xs.append(1)
    return 0


def doubled(f):
    @functools.wraps(f)
    def inner(x):
        return 2 * f(x)

    return inner


@doubled
def wrapped(x):
    return x


short = lambda x: x + 1
"""
FIRST = (HEADER + BEFORE).count("\n") + 3
"""The line on which the body of a mechanism begins."""

CONSTRUCTS = {
    # name: (body, line within the body, column, what the message says)
    "lambda": ("f = [lambda x: x]", 1, 10, "a lambda"),
    "with": ("with open('x') as f:\n    pass", 1, 5, "with"),
    "import": ("import random", 1, 5, "import"),
    "from import": ("from random import random", 1, 5, "import"),
    "a set that is shown": ("return {v for v in q}", 1, 5, "a set is shown"),
    "a walk over a set": ("return [v for v in {1, 2}]", 1, 12, "a set is walked over"),
    "a generator in a loop": ("for v in (w for w in q):\n    return v", 1, 14, "a generator expression in a loop"),
    "a Counter whose keys come from data": (
        "c = Counter(q)\nreturn [k for k in c]",
        2,
        24,
        "its keys come from data",
    ),
    "a table that gets a key from data": ("d = {}\nd[q[0]] = 1\nreturn d", 2, 7, "a key"),
    "walrus": ("n = 1\nreturn n + (n := q[0])", 2, 17, ":="),
    "starred argument": ("return max(*q)", 1, 12, "starred"),
    "keywords from a table": ("return helper(**{'x': 1})", 1, 12, "starred"),
    "nested function": ("if q:\n    def g(x):\n        return x\nreturn 1", 2, 9, "a function inside a function"),
    "nested generator": ("def g(x):\n    yield x\nreturn g(q[0])", 3, 12, "calling g"),
    "class": ("class A:\n    pass", 1, 5, "a class"),
    "del": ("x = 1\ndel x", 2, 5, "del"),
    "global": ("global helper\nhelper = 1", 1, 5, "global"),
    "raise": ("raise ValueError", 1, 5, "ValueError"),
    "else after while": ("while q[0] > 5:\n    pass\nelse:\n    return 2", 1, 5, "else after while"),
    "else after for": ("for v in q:\n    pass\nelse:\n    return 2", 1, 5, "else after for"),
    "float": ("return q[0] * 0.5", 1, 19, "0.5 is a float"),
    "random.random": ("return random.random()", 1, 12, "random.random"),
    "random.betavariate": ("return random.betavariate(1, 1)", 1, 12, "random.betavariate"),
    "a float and noise of a library": ("return random.randint(0, 1) + q[0] * 0.5", 1, 42, "0.5 is a float"),
    "matrices": ("return q[0] @ 1", 1, 12, "the operator @"),
    "yield as a value": ("x = yield 1", 1, 9, "yield inside an expression"),
    "yield from": ("yield from q", 1, 5, "yield from"),
    "return in a generator": ("yield 1\nreturn 2", 2, 5, "a generator's return value"),
    "assigning to a slice": ("x = [1, 2]\nx[0:1] = [3]\nreturn x", 2, 5, "assigning to a slice"),
    "assigning inside a nested list": ("x = [[1]]\nx[0][0] = 2\nreturn x", 2, 5, "a nested list"),
    "attribute": ("q.size = 1", 1, 5, "q.size"),
    "bytes": ("return b'x'", 1, 12, "b'x'"),
    "ellipsis": ("return ...", 1, 12, "Ellipsis"),
    "complex": ("return 1j", 1, 12, "1j"),
    "unknown name": ("return nowhere", 1, 12, "'nowhere' is not defined"),
    "a module as a value": ("return random", 1, 12, "`random` as a value"),
    "a function as a value": ("return helper", 1, 12, "`helper` as a value"),
    "is": ("return q[0] is q[1]", 1, 12, "is"),
    "append as a value": ("x = [1]\ny = x.append(2)\nreturn y", 2, 9, "append inside an expression"),
    "enumerate as a value": ("x = enumerate(q)", 1, 9, "enumerate outside a loop"),
    "a step of 0": ("for i in range(0, 3, 0):\n    return i", 1, 5, "a step"),
    "merging tables": ("return {**{}}[0]", 1, 12, "** in a table"),
    "capture pattern": ("match q[0]:\n    case x:\n        return x", 2, 14, "this pattern"),
    "sequence pattern": ("match q:\n    case [a, b]:\n        return a", 2, 14, "this pattern"),
    "noise in a guard": ("match q[0]:\n    case 0 if bernoulli('1/2'):\n        return 1", 2, 19, "noise in a guard"),
    "noise late in a chain": ("return 0 < q[0] < uniform(0, 1)", 1, 23, "noise late in a chain"),
    "calling a generator": ("return list(counter(2))", 1, 17, "a call of a generator"),
    "too many arguments": ("return helper(1, 2)", 1, 12, "helper: too many positional arguments"),
    "open-ended function": ("return open_ended(1)", 1, 12, "open_ended"),
    "generator expression kept": ("g = (v for v in q)\nreturn sum(g)", 1, 9, "a generator expression"),
    "generator expression shown": ("return (v for v in q)", 1, 12, "a generator expression"),
    "a list changed inside an expression": ("x = [1]\nreturn len(x) + changing(x)", 2, 21, "changing"),
    "Fraction with keywords": ("return Fraction(numerator=1, denominator=2)", 1, 12, "Fraction"),
    "range as a value": ("return range(2)", 1, 12, "range"),
    "noise without arguments": ("return geometric()", 1, 12, "geometric: missing a required argument"),
    "noise with an unknown argument": (
        "return geometric(q[0], beta='1/2')",
        1,
        12,
        "unexpected keyword argument 'beta'",
    ),
    "noise with positional options": ("return geometric(q[0], '1/2')", 1, 12, "too many positional arguments"),
}


def program(body: str, declared: str = "q: queries(0, 2)") -> str:
    return f"{BEFORE}@mechanism\ndef m({declared}):\n" + "".join(f"    {line}\n" for line in body.split("\n"))


def refusal(found) -> LanguageError:
    with pytest.raises(LanguageError) as caught:
        mechanism_question(found, size=2)
    return caught.value


def place(problem: LanguageError) -> tuple[int, int]:
    file, line, column = problem.place.rsplit(":", 2)
    assert file.endswith(".py")
    return int(line), int(column)


@pytest.mark.parametrize("name", CONSTRUCTS)
def test_a_construct_outside_the_language_is_refused_where_it_stands(tmp_path, name):
    body, line, column, said = CONSTRUCTS[name]
    problem = refusal(load(tmp_path, program(body)))
    assert said in problem.message
    assert place(problem) == (FIRST + line - 1, column)
    assert problem.hint


def test_recursion_is_refused_where_the_function_calls_itself(tmp_path):
    problem = refusal(load(tmp_path, program("return again(q[0])")))
    assert "the recursive call of again" in problem.message
    assert place(problem) == ((HEADER + BEFORE).split("\n").index("def again(x):") + 2, 12)


def test_what_has_no_def_of_its_own_is_refused_with_a_place(tmp_path):
    problem = refusal(load(tmp_path, program("return wrapped(q[0])")))
    assert place(problem)
    assert problem.hint


def test_a_wrapped_mechanism_is_refused(tmp_path):
    text = program("return q[0]").replace("@mechanism\n", "@mechanism\n@doubled\n")
    assert "decorator" in refusal(load(tmp_path, text)).message


def test_columns_count_characters(tmp_path):
    problem = refusal(load(tmp_path, program("""return "é" + 1j""")))
    assert place(problem) == (FIRST, 18)


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("return q[0] / 2", "float in Python"),
        ("return 2 ** -1", "float in Python"),
        ("return q[7]", "IndexError"),
        ("return [1][q[0]]", "IndexError"),
        ("return 1 // q[0]", "ZeroDivisionError"),
        ("return {0: 1}[q[0]]", "KeyError"),
        ("return q[0] + 'a'", "TypeError"),
        ("a, b, c = q\nreturn a", "ValueError"),
        ("if q[0]:\n    x = 1\nreturn x", "'x' is read before it is assigned"),
        ("for i in range(q[0]):\n    pass\nreturn i", "'i' is read before it is assigned"),
        ("1 // q[0]\nreturn 0", "ZeroDivisionError"),
        ("if q[0]:\n    x = 1\ny = x\nreturn 0", "'x' is read before it is assigned"),
        ("x = 'a' if q[0] else 1\ny = x + 1\nreturn 0", "TypeError"),
        ("q.append(1)\nreturn 0", "the input itself is changed"),
        ("q[0] = 1\nreturn 0", "the input itself is changed"),
        ("x = [1]\ny = x\ny.append(2)\nreturn x", "two names"),
        ("x = [1]\ny = (x, 2)\nx.append(2)\nreturn y", "two names"),
        ("x = [1]\ny = x\nx += [2]\nreturn y", "two names"),
        ("x = [1]\ny = x\nx *= 2\nreturn y", "two names"),
        ("x = [[1]] * 2\ny = x[0]\ny.append(2)\nreturn x", "two names"),
        ("return geometric(q[0], alpha='1/2') % 2", "unbounded"),
        ("return geometric(q[0], alpha='1/2') + geometric(0, alpha='1/2')", "unbounded"),
        ("return [1, 2][geometric(q[0], alpha='1/2')]", "unbounded"),
        ("z = geometric(q[0], alpha='1/2')\nreturn (z, z)", "released and used again"),
        ("return laplace(q[0], scale=1)", "continuous"),
        ("return exponential(q[0], scale=1)", "continuous"),
        ("while q[0]:\n    pass\nreturn 0", "without noise or input"),
        ("while bernoulli('1/2') or q[0] == 1:\n    pass\nreturn 0", "never ends"),
    ],
)
def test_what_fails_or_does_not_end_while_running_is_refused_on_its_line(tmp_path, body, said):
    problem = refusal(load(tmp_path, program(body)))
    assert said in problem.message
    assert FIRST <= place(problem)[0] < FIRST + len(body.split("\n"))


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("return geometric(q[0])", "exactly one of alpha and epsilon"),
        ("return geometric(q[0], alpha='1/2', epsilon='ln(2)')", "exactly one of alpha and epsilon"),
        ("return geometric(q[0], alpha=1)", "alpha=1 is not between 0 and 1"),
        ("return geometric(q[0], alpha=0)", "alpha=0 is not between 0 and 1"),
        ("return geometric(q[0], epsilon=0)", "epsilon=0 is not a number above 0"),
        ("return geometric(q[0], epsilon='-1')", "below zero"),
        ("return geometric(q[0], epsilon='ln(2)', sensitivity=0)", "sensitivity=0 is not above 0"),
        ("return geometric('a', alpha='1/2')", "value='a' is a str"),
        ("return geometric(Fraction(1, 2), alpha='1/2')", "not an integer"),
        ("return truncated_geometric(q[0], low=2, high=0, alpha='1/2')", "high=0 < low=2"),
        ("return bernoulli('3/2')", "outside [0, 1]"),
        ("return bernoulli('-1/2')", "outside [0, 1]"),
        ("return bernoulli('half')", "p:"),
        ("return choice({0: '1/2', 1: '1/3'})", "sum to 5/6"),
        ("return choice([0, 1])", "no table of probabilities"),
        ("return choice({})", "no table of probabilities"),
        ("return uniform(2, 1)", "high=1 < low=2"),
        ("return uniform(0, 10**6)", "more than 100000 values"),
        ("return randomized_response(q[0], truth='1/2')", "neither a bit nor a truth value"),
        ("return randomized_response(q[0], truth='1/2', among=(3, 4))", "is not among"),
        ("return randomized_response(0, truth='1/2', among=(0,))", "two or more answers"),
        ("return randomized_response(0, truth='1/2', among=(0, 0, 1))", "twice"),
        ("return randomized_response(0, truth=2, among=(0, 1))", "outside [0, 1]"),
        ("return exponential_mechanism([], epsilon='ln(2)')", "scores=[]"),
        ("return exponential_mechanism(['a'], epsilon='ln(2)')", "scores"),
    ],
)
def test_arguments_of_noise_are_checked_where_the_noise_stands(tmp_path, body, said):
    found = load(tmp_path, program(body))
    problem = refusal(found)
    assert said in problem.message
    assert problem.code == "noise"
    assert place(problem) == (FIRST, 12)
    with pytest.raises(LanguageError, match=r"."):
        found([2, 2])
    with pytest.raises(LanguageError, match=r"."):
        output_distribution(found, [2, 2])


def test_a_mechanism_without_a_file_is_refused():
    space: dict[str, object] = {}
    exec("from privproof import *\n@mechanism\ndef m(q: queries(0, 1)):\n    return 1\n", space)
    assert "source" in refusal(space["m"]).message
