"""What a refusal suggests is tried: the same mechanism, rewritten as the hint says, is accepted."""

from __future__ import annotations

import pytest
from tests.programs import load

from privproof import LanguageError, check, laplace, mechanism, mechanism_question, records

BEFORE = """\
from collections import Counter
from types import MappingProxyType

ROWS = {0: 1, 1: 2}
ROWS.update()
FIXED = MappingProxyType({0: 1, 1: 2})
LIST = [1, 2]
LIST.sort()
TUPLE = (1, 2)


class Odd:
    pass


ODD = Odd()


def grow(xs):
    xs.append(1)
    return xs


"""
HINTS = {
    # name: (what is refused, what the hint says, the same as the hint says)
    "a stream of outputs": ("yield from q", "for x in xs: yield x", "for x in q:\n    yield x"),
    "else after for": (
        "for v in q:\n    pass\nelse:\n    return 2\nreturn 1",
        "put the statements after the loop",
        "for v in q:\n    pass\nreturn 2",
    ),
    "else after while": (
        "i = 0\nwhile i < 2:\n    i += 1\nelse:\n    return 2\nreturn 1",
        "put the statements after the loop",
        "i = 0\nwhile i < 2:\n    i += 1\nreturn 2",
    ),
    "a float": ("return q[0] * 0.5", 'Fraction("0.5")', 'return q[0] * Fraction("0.5")'),
    "del": ("y = 1\ndel y\nreturn q[0]", "leave the variable alone", "y = 1\nreturn q[0]"),
    "a starred argument": ("return max(*q)", "write the arguments out", "return max(q[0], q[1])"),
    "insert": (
        "xs = [1]\nxs.insert(0, q[0])\nreturn xs",
        "xs[:i] + [x] + xs[i:]",
        "xs = [1]\nxs = xs[:0] + [q[0]] + xs[0:]\nreturn xs",
    ),
    "matrices": ("return q[0] @ 1", "a sum of products", "return q[0] * 1"),
    "a generator that is kept": (
        "g = (v for v in q)\nreturn sum(g)",
        "[x for x in xs]",
        "g = [v for v in q]\nreturn sum(g)",
    ),
    "a generator in a loop": (
        "n = 0\nfor v in (w for w in q):\n    n += v\nreturn n",
        "[x for x in xs]",
        "n = 0\nfor v in [w for w in q]:\n    n += v\nreturn n",
    ),
    "map in a loop": (
        "n = 0\nfor v in map(abs, q):\n    n += v\nreturn n",
        "list(map(...))",
        "n = 0\nfor v in list(map(abs, q)):\n    n += v\nreturn n",
    ),
    "zip that is kept": ("z = zip(q, q)\nreturn 1", "list(zip(...))", "z = list(zip(q, q))\nreturn 1"),
    "range that is shown": ("return range(2)", "list(range(...))", "return list(range(2))"),
    "a set that is shown": ("return {v for v in q}", "sorted(...)", "return sorted({v for v in q})"),
    "a set that is walked over": (
        "return [v for v in {1, 2}]",
        "sorted(...)",
        "return [v for v in sorted({1, 2})]",
    ),
    "a table with keys of data": (
        "d = {}\nfor v in q:\n    d[v] = 1\nreturn d[0]",
        "dict.fromkeys(KEYS, 0)",
        "d = dict.fromkeys((0, 1, 2), 0)\nfor v in q:\n    d[v] = 1\nreturn d[0]",
    ),
    "a Counter that is walked over": (
        "c = Counter(q)\nreturn [c[k] for k in c]",
        "c[key] for the keys that are public",
        "c = Counter(q)\nreturn [c[k] for k in (0, 1, 2)]",
    ),
    "a list of the module": ("return LIST[0] + q[0]", "a tuple", "return TUPLE[0] + q[0]"),
    "a table of the module": ("return ROWS[q[0] % 2]", "MappingProxyType({...})", "return FIXED[q[0] % 2]"),
    "is": ("return q[0] is q[1]", "==", "return q[0] == q[1]"),
    "append as a value": (
        "x = [1]\ny = x.append(2)\nreturn y",
        "append in a statement of its own",
        "x = [1]\nx.append(2)\nreturn x",
    ),
    "a nested list that is changed": (
        "rows = [[1], [2]]\nrows[0][0] += q[0]\nreturn rows",
        "row = list(rows[i]); row[j] += x; rows[i] = row",
        "rows = [[1], [2]]\nrow = list(rows[0])\nrow[0] += q[0]\nrows[0] = row\nreturn rows",
    ),
    "a list with two names": (
        "xs = [q[0]]\nys = xs\nxs.append(1)\nreturn ys",
        "ys = list(xs)",
        "xs = [q[0]]\nys = list(xs)\nxs.append(1)\nreturn ys",
    ),
    "a list that a call changes": (
        "xs = [q[0]]\nreturn len(xs) + len(grow(xs))",
        "y = grow(xs)",
        "xs = [q[0]]\nn = len(xs)\ny = grow(xs)\nreturn n + len(y)",
    ),
    "noise late in a chain": (
        "return 0 < q[0] < uniform(0, 1)",
        "draw it in a statement before",
        "drawn = uniform(0, 1)\nreturn 0 < q[0] < drawn",
    ),
    "noise in a guard": (
        "match q[0]:\n    case 0 if bernoulli('1/2'):\n        return 1\nreturn 0",
        "draw it before the match",
        "tossed = bernoulli('1/2')\nmatch q[0]:\n    case 0 if tossed:\n        return 1\nreturn 0",
    ),
    "Fraction with keywords": (
        "return Fraction(numerator=1, denominator=3)",
        "Fraction(1, 3)",
        "return Fraction(1, 3)",
    ),
    "a value that is returned by a generator": (
        "yield 1\nreturn 2",
        "yield the value, then return",
        "yield 1\nyield 2\nreturn",
    ),
    "yield as a value": ("x = yield 1", "yield in a statement of its own", "yield 1"),
    "an import": ("import random\nreturn q[0]", "import at the top of the file", "return q[0]"),
    "a walrus after the name was read": (
        "n = 1\nreturn n + (n := q[0])",
        "assign in a statement of its own",
        "n = 1\nm = q[0]\nreturn n + m",
    ),
}


def program(body: str) -> str:
    return f"{BEFORE}@mechanism\ndef m(q: queries(0, 2)):\n" + "".join(f"    {line}\n" for line in body.split("\n"))


@pytest.mark.parametrize("name", HINTS)
def test_what_a_hint_says_is_accepted(tmp_path, name):
    refused, hint, rewritten = HINTS[name]
    with pytest.raises(LanguageError) as caught:
        mechanism_question(load(tmp_path, program(refused)), size=2)
    assert hint in str(caught.value.hint)
    assert mechanism_question(load(tmp_path, program(rewritten)), size=2)


@mechanism
def by_place(data: records(0, 1)):
    return laplace(data.count(1), 2)


@mechanism
def of_an_array(data: records(0, 1)):
    return (data - 1).sum()


def test_a_function_that_fails_on_lists_is_told_of_arrays_and_no_other():
    with pytest.raises(LanguageError) as refused:
        check(by_place, 1)
    assert "array(" not in refused.value.hint
    assert "too many positional arguments" in refused.value.hint
    with pytest.raises(LanguageError) as refused:
        check(of_an_array, 1)
    assert "array(records(0, 1))" in refused.value.hint
