"""Operators and built-in functions on values of every kind."""

from fractions import Fraction

from privproof import (
    bernoulli,
    choice,
    exponential_mechanism,
    geometric,
    integer,
    mechanism,
    one_of,
    public,
    queries,
    randomized_response,
    records,
    stream,
    stream_of,
    truncated_geometric,
    uniform,
)

# %% sum start kw | agrees
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    return sum(q, start=2)

# %% walrus | agrees
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    return (y := x) + y

# %% neg idx | agrees
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    return q[-1], q[-2], (1, 2, 3)[-x - 1]

# %% slices | agrees
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    t = (1, 2, 3, 4)
    return t[-3:-1], t[5:], t[:-9], t[2:1], t[:], t[x:], t[:-x], "abcd"[1:-1], [1, 2, 3][-2:]

# %% slice None | agrees
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    t = (1, 2, 3, 4)
    return t[None:2], t[True:]

# %% floor | agrees
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    return [-7 // 2, 7 // -2, -7 % 3, 7 % -3, -1 // 3 + x, (x - 1) // 2, (x - 1) % 2, -1 % -3, True // 1, True % 2]

# %% pow | agrees
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    return [2 ** 3, (-2) ** 3, -2 ** 2, 0 ** 0, (x - 1) ** 2, True ** 2, Fraction(1, 2) ** -2, Fraction(-1, 2) ** 3]

# %% fracs | agrees
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    f = Fraction(x + 1, 3)
    return [f // 1, f % 1, -f, abs(-f), f * 3 == x + 1, f < 1, int(-f * 4), f // Fraction(1, 2), 2 / f, f / 2, f - f]

# %% frac vs int outputs | agrees
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    return Fraction(2, 2) if bernoulli("1/2") else 1

# %% True vs 1 outputs | agrees
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    return True if bernoulli("1/2") else 1

# %% True plus | agrees
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    return True + 1, True == 1, True in [1], [1].count(True), {1: "a"}[True], -True, +True, abs(True), max(True, 1), max(1, True), min(1, True), sum([True, True]), sorted([True, 0, 1, False])

# %% truthiness | agrees
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    return [bool(v) for v in [0, 1, "", "a", None, (), (0,), [], [0], Fraction(0), Fraction(1, 2), True, False, -1]]

# %% dict truth | agrees
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    return bool({}), bool({0: 0}), not {}, len({1: 2})

# %% any value | agrees
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    return any([0, "", None, 2]), all([]), any([]), all([1, "a"])

# %% sum forms | agrees
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    return sum(q), sum(q, 3), sum(q, start=-1), sum([]), sum([(1,), (2,)], ()), sum([[1], [2]], [])

# %% max forms | agrees
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    return max(q), min(q), max(1, x, 2), min(q, default=7), max([], default=None), max((1, 2), (1, 3)), max("a", "b"), min([2, 1], [1, 9])

# %% sorted forms | agrees
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    return sorted(q), sorted((3, 1, 2)), sorted("cab"), sorted([(1, "b"), (1, "a")])

# %% match forms | refused
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    match (q[0], x):
        case (0, 0):
            return 1
    return 2

# %% match val | agrees
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    match q[0] + x:
        case 0:
            r = "zero"
        case 1 | 2 if q[1] == 1:
            r = "guard"
        case True:
            r = "true"
        case _:
            r = "other"
    return r

# %% match none | agrees
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    match None if x else False:
        case None:
            return 1
        case False:
            return 2

# %% match 1 true | agrees
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    match x == 1:
        case 1:
            return "one"
        case 0:
            return "zero"

# %% match neg | agrees
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    match x - 1:
        case -1:
            return "m"
        case "a":
            return "a"

# %% strings | agrees
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    s = "ab" + "c" * 2
    return s, s[0], s[-1], s[1:], len(s), "b" in s, "z" not in s, s < "b", s == "abcc", s.count("c"), s.index("c"), sorted(s), list(s), max(s), s * 0

# %% dict all | agrees
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    d = {"a": 1, "b": x}
    return d["b"], "a" in d, len(d), d == {"b": x, "a": 1}, {1: "x", True: "y"}

# %% records list | agrees
@mechanism
def m(r: records("a", None, size=2)):
    return [v is None for v in r], r.count("a"), r == ["a", None], r.index("a") if "a" in r else -1

# %% bool index | agrees
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    return (3, 4)[x == 1], q[True], [5, 6][False]

# %% bool slice | agrees
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    return (3, 4, 5)[x == 1:], (3, 4, 5)[:True]

# %% str mul neg | agrees
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    return "ab" * (x - 1), [1] * (x - 1), (1,) * x

# %% list cmp | agrees
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    return [1, 2] < [1, 3], [1] < [1, 0], [] < [0], [2] > [1, 5], (1, "a") < (2, None)

# %% eq mixed | agrees
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    return 1 == "1", None == 0, "" == None, () == [], (1,) == (True,), [1] == [True], Fraction(1) == 1, {1: 2} == {True: 2}

# %% in mixed | agrees
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    return 1 in (True,), "1" in (1,), None in (None,), Fraction(1) in [1], [1] in [[True]], () in ((),)

# %% str in tuple | agrees
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    return "a" in ("ab",), "a" in "ab", "" in "ab"

# %% is | agrees
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    return None is None, x is None, (x == 1) is True, 1 is not None

# %% int of | agrees
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    return int(True), int(Fraction(7, 2)), int(Fraction(-7, 2)), int(-x)

# %% abs | agrees
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    return abs(-x), abs(Fraction(-1, 2)), abs(True), abs(False)

# %% pow big | agrees
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    return (2 ** 10) ** 10 % 7

# %% frac div | agrees
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    return Fraction(x) / 2, 1 / Fraction(2, 3), Fraction(1, 2) + x, x * Fraction(1, 2)

# %% frac out | agrees
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    return Fraction(x, 2), Fraction(4, 2), Fraction("1/3"), Fraction(" 1/3 "), Fraction("0.25"), Fraction(True)

# %% frac min | agrees
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    return min(Fraction(1), 1), max(1, Fraction(1)), sorted([Fraction(1), 1, True])

# %% dict repeated eval | agrees
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    d = {x: 1, 1: 2}
    return d[x], len(d), d

# %% dict float | agrees
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    d = {(1, 2): 3, "a": 4, None: 5, Fraction(1, 2): 6}
    return d[1, 2], d["a"], d[None], d[Fraction(1, 2)]

# %% dict of lists | agrees
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    d = {0: [1, 2], 1: [3]}
    return d[x][0], len(d[x]), [v for v in d[x]]

# %% dict in dict | agrees
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    d = {0: {1: 2}, 1: {1: 3}}
    return d[x][1]

# %% dict list return | agrees
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    d = {0: [1]}
    y = d[0]
    return y, d

# %% min default | agrees
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    return min([], default=x), max((), default="none"), max([3], default=1)

# %% max key | agrees
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    return max(q, key=abs)

# %% sorted reverse | agrees
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    return sorted(q, reverse=True)

# %% len forms | agrees
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    return len(""), len("ab"), len(()), len([1]), len(q), len({}), len(range(3))

# %% not precedence | agrees
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    return not x == 1, not (x and q[0]), -x ** 2, (-x) ** 2, 2 ** -0, -7 // 2, -(7 // 2)

# %% bool arithmetic | agrees
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    return True + True, True * 3, True - x, True / Fraction(2), True // 1, False ** 0, ~0 if False else 1

# %% tuple parens | agrees
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    return (x), (x,), ()

# %% docstring only | agrees
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    "a"
    3
    x
    return x

# %% semis | agrees
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    a = 1; b = x; return a + b

# %% deep nest | agrees
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    return [[[x]], (((q[0],),),)]

# %% a key that is never looked up | agrees
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    return {1: 2}[((1, [x]),)] if x == 5 else 0

# %% folds | agrees
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    return sum(v * w for v in q for w in (1, 2)), any(v for v in q), all(v == x for v in q), max(v for v in q), sorted(v for v in q), tuple(v for v in q), list(v for v in q)

# %% dead code unassigned | agrees
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    if False:
        z = 1
    return x if True else z

# %% bool of list in if | agrees
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    if q:
        return 1
    return 0

# %% while list | agrees
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    xs = [1, 2]
    n = 0
    while xs:
        xs = xs[1:]
        n += 1
    return n

# %% chained methods | agrees
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    return q.copy().count(x)

# %% index of slice | agrees
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    return q[1:][0], q[:1] + q[1:], (q + q)[3]

# %% neg slice of q | agrees
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    return q[-1:], q[:-1], q[-5:5]

# %% q times | agrees
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    return q * 2, 0 * q, (q * 2)[-1]

# %% q in | agrees
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    return x in q, [x] in [q[:1]], q in [q]

# %% sort q | agrees
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    return sorted(q) == q, max(q) - min(q)
