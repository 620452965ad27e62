"""Texts, tables, objects, and what else of Python the language has taken in."""

import itertools
import math
from collections import Counter, defaultdict, namedtuple
from dataclasses import dataclass
from enum import Enum
from fractions import Fraction
from functools import reduce

from privproof import (
    bernoulli,
    choice,
    geometric,
    integer,
    mechanism,
    queries,
    uniform,
)


class Answer(Enum):
    YES = "y"
    NO = "n"


@dataclass(frozen=True)
class Report:
    winner: int
    label: str = "done"


Pair = namedtuple("Pair", "first second", defaults=(7,))
KEYS = (0, 1)

# %% f-string pieces | agrees
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    return f"{x}-{q}-{x:>3}|{x!r}{{}}"

# %% f-string nested constant | agrees
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    w = 4
    return f"{x:0{4}d}"

# %% f-string of a wrong format | refused
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    return f"{'a':d}" if x else f"{x}"

# %% format method plain | agrees
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    return "{}:{:>2}".format(x, len(q))

# %% join of a comprehension | agrees
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    return "-".join(str(v) for v in q)

# %% join of something else | refused
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    return "-".join(q)

# %% text methods | agrees
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    return "a b".split(), "ab".upper() + " c ".strip(), "abc".startswith("a"), "a,b".replace(",", ";")

# %% counter of data | agrees
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    c = Counter(q)
    return c[0], c[1], c[5], c.get(1, 0)

# %% counter by key | agrees
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    c = Counter(q)
    return {k: c[k] for k in KEYS}

# %% counter walked over | refused
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    c = Counter(q)
    return [k for k in c]

# %% counter is a snapshot | agrees
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    xs = list(q)
    c = Counter(xs)
    xs.append(1)
    return c[1]

# %% table taken apart | agrees
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    d = {"a": x, "b": 2}
    d["a"] += 1
    d["c"] = d["a"] + d["b"]
    return d, len(d), "a" in d, d.get("z", 9)

# %% table with a key of data | agrees
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    d = {0: 0, 1: 0}
    for v in q:
        d[v] += 1
    return d[0] - d[1], d

# %% table that gets a key from data | refused
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    d = {5: 0}
    d[x] = 1
    return d

# %% table key under a test | agrees
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    d = {}
    if x:
        d["a"] = 1
    return d

# %% table of fromkeys | agrees
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    d = dict.fromkeys(KEYS, 0)
    for v in q:
        d[v] += 1
    return list(d.items()), sorted(d), max(d, key=d.get), sum(d.values())

# %% table comprehension | agrees
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    d = {k: k + x for k in range(3) if k != 1}
    return d, [k for k in d], [v for v in d.values()]

# %% table comprehension over data | agrees
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    return {v: v + 1 for v in q}

# %% table comprehension of indices | agrees
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    d = {i: v for i, v in enumerate(q)}
    return max(d.values()), d

# %% table as an argument | agrees
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    d = dict(a=x, b=1)
    for k, v in d.items():
        x += v
    return x, dict(d)

# %% table with True and 1 | agrees
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    d = {1: "a", 0: "b"}
    return d[x == 1], d[x]

# %% defaultdict over public keys | agrees
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    d = defaultdict(int)
    for k in KEYS:
        d[k] += k + x
    return dict(d)

# %% list taken apart in a loop | agrees
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    xs = [0] * 2
    for i in range(2):
        xs[i] = xs[i - 1] + q[i]
    xs[-1] += 1
    return xs

# %% loop over keys with break | agrees
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    d = {0: x, 1: 2}
    for k in d.keys():
        if d[k] > 1:
            break
    return k

# %% loop over keys that assigns its name | agrees
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    d = {0: x, 1: 2}
    n = 0
    for k in (0, 1):
        n += d[k]
        k = 5
    return n, k

# %% any over a table | agrees
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    d = {0: x, 1: 2}
    return any(d[k] > 1 for k in (0, 1)), all(d[k] for k in (0, 1)), sum(d[k] for k in (0, 1))

# %% dict of zip | agrees
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    return dict(zip(("a", "b"), q)), dict(a=x)

# %% get and views | agrees
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    t = {0: "a", 1: "b"}
    return t.get(x), t.get(7, "c"), [k + v for k, v in {1: 2}.items()]

# %% set membership | agrees
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    return x in {0, 2}, len(set(q)), sorted({v for v in q}), set(q) == {0, 1}

# %% set that is shown | refused
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    return {x}

# %% enum | agrees
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    a = Answer.YES if x else Answer.NO
    return a, a is Answer.YES, a == Answer.NO, a.value, a.name, Answer("y")

# %% enum of another value | refused
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    return Answer(x)

# %% members of an enum | agrees
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    return [a.value for a in Answer], len(list(Answer))

# %% named tuple | agrees
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    p = Pair(x)
    a, b = p
    return p, p.first, p[1], a + b, p == (x, 7), Pair(*q)

# %% data class | agrees
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    r = Report(x, label="a")
    return r, r.label, Report(x), r == Report(x, "a")

# %% data class without a field | refused
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    return Report()

# %% record in a list | agrees
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    return [Pair(v, 1) for v in q], (Report(1),)

# %% reversed loop | agrees
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    out = []
    for v in reversed(q):
        out.append(v)
    return out, list(reversed((1, 2)))

# %% reversed loop that changes the list | refused
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    xs = [1, 2]
    for v in reversed(xs):
        xs.append(v)
    return xs

# %% enumerate in one name | agrees
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    return [p for p in enumerate(q, 1)], [sum(p) for p in zip(q, q)]

# %% map and filter | agrees
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    return list(map(lambda v: v + x, q)), sum(filter(lambda v: v > 0, q)), tuple(map(abs, (-1, x)))

# %% map in a loop | refused
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    n = 0
    for v in map(lambda v: v + n, q):
        n += v
    return n

# %% in place | agrees
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    xs = [2, x]
    xs.extend(q)
    xs.sort()
    xs.reverse()
    xs.remove(2)
    y = xs.pop()
    xs.pop(0)
    return xs, y

# %% in place with two names | refused
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    xs = [2, x]
    ys = xs
    xs.sort()
    return ys

# %% sorted by a key | agrees
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    return sorted(q, key=lambda v: -v), sorted((3, 1, 2), key=lambda v: v % 3, reverse=True), sorted(q, reverse=bool(x))

# %% sort stays stable | agrees
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    return sorted([(1, 0), (0, 1), (1, 1), (0, 0)], key=lambda p: p[0], reverse=True)

# %% max by a named function | agrees
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    def neg(v):
        return -v
    return max(q, key=neg), min((1, -3, 2), key=abs)

# %% stars | agrees
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    return [*q, 5, *(1, 2)], (x, *q), [*range(2)]

# %% slices with steps | agrees
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    return q[::-1], (1, 2, 3, 4)[1::2], "abcd"[::-2], [1, 2, 3][x:5:2]

# %% slice with step zero | refused
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    return q[::x - x]

# %% rounding | agrees
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    return round(Fraction(x, 2) + 1), round(5 + x, -1), math.floor(Fraction(3, 2)), math.ceil(Fraction(x, 3)), divmod(7, 2 + x), pow(2, x)

# %% accumulate and reduce | agrees
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    return list(itertools.accumulate(q)), reduce(lambda a, b: 2 * a + b, q), reduce(lambda a, b: a + b, q, 5)

# %% reduce of nothing | refused
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    return reduce(lambda a, b: a + b, q[:0])

# %% assert on data | agrees
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    assert len(q) == 2
    assert x in (0, 1), "a bit"
    return x

# %% assert that fails on some data | refused
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    assert x
    return x

# %% raise that is never reached | agrees
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    if x > 5:
        raise ValueError(f"{x} is large")
    return x

# %% raise on some data | refused
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    if x:
        raise ValueError
    return x

# %% try that never fails | agrees
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    try:
        y = (1, 2)[x]
    except IndexError:
        y = 0
    else:
        y += 1
    return y

# %% try that fails on some data | refused
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    try:
        y = (1,)[x]
    except IndexError:
        y = 0
    return y

# %% int of a text | agrees
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    return int("12") + int(str(x))

# %% noise in a table | agrees
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    d = {k: uniform(0, 1) for k in ("a", "b")}
    return d, f"{d['a']}{x}"

# %% geometric noise in a text | refused
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    return f"{geometric(x, alpha='1/2')}"

# %% len of what has none | refused
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    return len(reversed(q))

# %% table walked over | refused
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    t = {0: 1}
    for k in t:
        x += k
    t[1] = 2
    for k in t:
        x += k
    if x > 9:
        t["n"] = 0
    return x

# %% list star | agrees
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    return [*q]

# %% assert | agrees
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    assert x >= 0
    return x

# %% f string | agrees
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    return f"{x}"

# %% conversion str | agrees
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    return str(x)

# %% set | agrees
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    return x in {0, 1}

# %% slice step | agrees
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    return [1, 2, 3][::2]

# %% print | agrees
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    print(x)
    return x

# %% round | agrees
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    return round(Fraction(x, 2))

# %% divmod | agrees
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    return divmod(x, 2)

# %% pow builtin | agrees
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    return pow(2, x)

# %% reversed | agrees
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    return list(reversed(q))

# %% map | agrees
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    return list(map(abs, q))

# %% zip list | agrees
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    return list(zip(q, q))

# %% enumerate list | agrees
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    return list(enumerate(q))

# %% sum dict | agrees
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    return sum({1: 2})

# %% dict get | agrees
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    return {0: 1}.get(x)

# %% str join | agrees
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    return "".join(["a"])

# %% str upper | agrees
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    return "a".upper()

# %% list pop | agrees
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    xs = [1]
    y = xs.pop()
    return y

# %% list extend | agrees
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    xs = [1]
    xs.extend([2])
    return xs

# %% list sort | agrees
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    xs = [2, 1]
    xs.sort()
    return xs
