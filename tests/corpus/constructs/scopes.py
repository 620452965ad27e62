"""Which variable a name is."""

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

# %% comp ii | agrees
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    return [i for i, i in enumerate(q)]

# %% cond comp if | refused
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    y = 1
    return [1 for v in q if y for y in (0, 1)]

# %% unbound local | refused
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    if x:
        y = 1
    return y

# %% unbound shadow | refused
y = 5

@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    if x:
        y = 1
    return y

# %% shadow global const | refused
N = 7

@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    N = N + 1
    return N

# %% aug global | refused
N = 7

@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    N += 1
    return N

# %% comp scope | agrees
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    v = 9
    t = [v for v in q]
    return v, t

# %% comp scope nested | agrees
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    v = 9
    t = [[v + w for w in q] for v in q]
    return v, t

# %% comp outer | agrees
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    v = 2
    return [w * v for w in q if w < v]

# %% comp elem shadow | refused
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    return [[v for v in (v, v + 1)] for v in q]

# %% comp multi | agrees
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    return [(a, b) for a in q for b in range(a + 1) if a >= b if b == 0 or x]

# %% comp noise | agrees
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    return [uniform(0, v) for v in q if bernoulli("1/2")]

# %% comp elem target | refused
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    xs = [0, 0]
    ys = [xs[0] for xs[0] in q]
    return xs, ys

# %% comp enumerates elem | refused
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    xs = [0, 0]
    ys = [0 for i, xs[i] in enumerate(q)]
    return xs, ys

# %% range shadow | agrees
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    range = 3
    return range

# %% shadow len | agrees
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    len = 3
    return len

# %% shadow sum by comp | refused
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    return [sum for sum in q], sum(q)

# %% shadow max param | agrees
def h(max):
    return max + 1

@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    return h(x), max(q)

# %% global shadow builtin | agrees
def sum(xs):
    return 42

@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    return sum(q)

# %% assigned later builtin | refused
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    y = len(q)
    len = 2
    return y

# %% a name that only a comprehension has | refused
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    i = c = a
    i = max(a for a in q)
    c = x
    return i, c

# %% a name that only a comprehension has, never needed | refused
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    b = a
    return [a for a in q]

# %% a name that a class changes | refused
__N = 0
_C__N = 5


class C:
    @mechanism
    def m(x: integer(0, 1)):
        return __N + x


m = C.m

@mechanism
def unused(x: integer(0, 1)):
    return x

# %% comp in default of helper | agrees
def h(a, b=tuple([v for v in (1, 2)])):
    return a + b[0]

@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    return h(x)

# %% nested tuple in comp | agrees
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    return [a + c for a, (b, c) in [(1, (2, x))]]

# %% comp over str | agrees
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    return [c for c in "ab" if c != "a"]

# %% comp with tuple shadow of q | agrees
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    return [q for q in (1, 2)], q

# %% genexp var leak | agrees
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    s = sum(i for i in q)
    i = 5
    return s, i

# %% inner comp uses outer loop var changed | agrees
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    out = []
    for i in (1, 2):
        out.append([i * v for v in q])
        i = 7
    return out

# %% comp cond uses later assigned | agrees
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    y = [v for v in q if v == z] if False else 0
    z = 1
    return y

# %% q compare | agrees
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    return q < [1, 0], q == [0, x], q >= q
