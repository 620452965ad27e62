"""Mechanisms that call functions of their own file."""

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

# %% shadow range | agrees | size 2
def range(n):
    return [7, 8]
@mechanism
def m(q: queries(0,1)):
    return [i for i in range(1)]

# %% shadow enumerate | agrees | size 2
def enumerate(n):
    return [(7, 8)]
@mechanism
def m(q: queries(0,1)):
    s = 0
    for i, x in enumerate(q):
        s += i
    return s

# %% having helper | agrees | size 2
@mechanism
def h(x: integer(0,1), k=1):
    return k * x
h2 = h.having(k=2)
@mechanism
def m(q: queries(0,1)):
    return h2(q[0])

# %% indented docstring | agrees | size 2
def make():
    @mechanism
    def m(q: queries(0,1)):
        '''doc
at column zero
        '''
        return q[0]
    return m
m = make()

# %% helper early | agrees | size 2
def h(x):
    for i in range(3):
        if i == x:
            return i * 10
    return -1
@mechanism
def m(q: queries(0,1)):
    return randomized_response(h(q[0]), truth='3/4', among=(0, 10))

# %% helper none | agrees | size 2
def h(x):
    if x:
        return
    return 3
@mechanism
def m(q: queries(0,1)):
    return h(q[0])

# %% helper append | agrees | size 2
def h(xs, v):
    xs.append(v)
@mechanism
def m(q: queries(0,1)):
    out = []
    for v in q:
        h(out, randomized_response(v, truth='3/4'))
    return out

# %% helper alias arg | agrees | size 2
def h(xs, ys):
    xs.append(1)
    return len(ys)
@mechanism
def m(q: queries(0,1)):
    a = [q[0]]
    return h(a, a)

# %% helper alias rebind | agrees | size 2
def h(xs):
    xs = xs + [1]
    return xs
@mechanism
def m(q: queries(0,1)):
    a = [q[0]]
    b = h(a)
    b.append(2)
    return (a, b)

# %% helper list expr | agrees | size 2
def h(xs):
    xs.append(1)
    return xs
@mechanism
def m(q: queries(0,1)):
    a = [q[0]]
    b = h(list(a))
    return (a, b)

# %% helper param aug | agrees | size 2
def h(x):
    x += 1
    return x
@mechanism
def m(q: queries(0,1)):
    y = q[0]
    z = h(y)
    return (y, z)

# %% helper shadow | agrees | size 2
def h(v):
    s = 5
    return v + s
@mechanism
def m(q: queries(0,1)):
    s = 0
    for v in q:
        s += h(s + v)
    return s

# %% helper nested | agrees | size 2
def g(x):
    return x + 1
def h(x, f=2):
    return g(g(x)) * f
@mechanism
def m(q: queries(0,1)):
    return h(g(q[0]), f=g(1))

# %% loop list replaced via helper | agrees | size 2
def put(xs):
    xs[0] = 5
@mechanism
def m(q: queries(0,1)):
    xs = [q[0], 1]
    out = []
    for x in xs:
        put(xs)
        out.append(x)
    return out

# %% helper stmt call with list read | agrees | size 2
def push(xs, v):
    xs.append(v)
    return v
@mechanism
def m(q: queries(0,1)):
    xs = []
    a = push(xs, len(xs))
    b = push(xs, len(xs))
    return (a, b, xs)

# %% helper nested mutate | agrees | size 2
def push(xs, v):
    xs.append(v)
    return v
def both(xs):
    push(xs, 1)
    push(xs, 2)
    return len(xs)
@mechanism
def m(q: queries(0,1)):
    xs = [q[0]]
    n = both(xs)
    return (n, xs)

# %% return mutate | agrees | size 2
def push(xs):
    xs.append(1)
    return 5
@mechanism
def m(q: queries(0,1)):
    xs = [q[0]]
    return push(xs)

# %% helper writes own list | agrees | size 2
def mk(v):
    xs = []
    xs.append(v)
    xs += [v]
    return xs
@mechanism
def m(q: queries(0,1)):
    return len(mk(1)) + mk(q[0])[1]

# %% window helper | agrees | size 3
def at(xs, i):
    return xs[i]
@mechanism
def m(q: queries(0,1)):
    out = []
    for i in range(len(q)):
        out.append(randomized_response(at(q, i) + at(q, i - 1) > 1, truth='3/4'))
    return out

# %% shadow builtin global | agrees | size 2
def len(x):
    return 7
@mechanism
def m(q: queries(0,1)):
    return len(q)

# %% global shadow zip helper | agrees | size 2
def zip(a, b):
    return [(1, 2)]
@mechanism
def m(q: queries(0,1)):
    return [x + y for x, y in zip(q, q)]

# %% closure | agrees | size 2
def make(k):
    @mechanism
    def m(x: integer(0,1)):
        return randomized_response(x, truth=Fraction(k, 4))
    return m
m = make(3)

# %% closure rebound | agrees | size 2
def make():
    k = (1,)
    def h(x):
        return k[0] + x
    @mechanism
    def m(x: integer(0,1)):
        return h(x)
    return m
m = make()

# %% mech in mech | agrees | size 2
@mechanism
def h(x: integer(0,1), p='3/4'):
    return randomized_response(x, truth=p)
@mechanism
def m(q: queries(0,1)):
    return (h(q[0]), h(q[1], p='2/3'))

# %% order | agrees or refused | size 2
def push(xs):
    xs.append(1)
    return 0
@mechanism
def m(q: queries(0,1)):
    xs = [q[0]]
    return len(xs) + push(xs)

# %% order tuple | agrees or refused | size 2
def put(xs):
    xs[0] = 7
    return 0
@mechanism
def m(q: queries(0,1)):
    xs = [q[0]]
    a, b = xs[0], put(xs)
    return a

# %% stale local | agrees or refused | size 2
def h(x):
    if x > 0:
        y = 1
    return y
@mechanism
def m(q: queries(0,1)):
    s = h(1)
    for v in q:
        s += h(v)
    return s

# %% stale local same site | agrees or refused | size 2
def h(x):
    if x > 0:
        y = 1
    return y
@mechanism
def m(q: queries(0,1)):
    s = 0
    for v in [1, q[0]]:
        s += h(v)
    return s

# %% helper default list | agrees or refused | size 2
def h(x, acc=[]):
    acc.append(x)
    return len(acc)
@mechanism
def m(q: queries(0,1)):
    return h(q[0]) + h(q[1])

# %% any short circuit | agrees or refused | size 2
def push(xs, v):
    xs.append(v)
    return v
@mechanism
def m(q: queries(0,1)):
    xs = []
    b = any(push(xs, v) for v in q)
    return (b, len(xs))

# %% wraps | agrees or refused | size 2
import functools
def twice(f):
    @functools.wraps(f)
    def inner(x):
        return 2 * f(x)
    return inner
@twice
def h(x):
    return x
@mechanism
def m(q: queries(0,1)):
    return h(q[0])

# %% wraps mechanism | agrees or refused | size 2
import functools
def twice(f):
    @functools.wraps(f)
    def inner(q):
        return 2 * f(q)
    return inner
@mechanism
@twice
def m(q: queries(0,1)):
    return q[0]

# %% aug list elem | agrees or refused | size 2
def put(xs):
    xs[0] = 7
    return 0
@mechanism
def m(q: queries(0,1)):
    xs = [q[0]]
    xs[0] += put(xs)
    return xs

# %% helper alias ret | agrees or refused | size 2
def h(xs):
    return xs
@mechanism
def m(q: queries(0,1)):
    a = [q[0]]
    b = h(a)
    b.append(2)
    return (a, b)

# %% helper recursion | agrees or refused | size 2
def h(x):
    return h(x - 1) if x else 0
@mechanism
def m(q: queries(0,1)):
    return h(q[0])

# %% helper arg order | agrees or refused | size 2
def push(xs, v):
    xs.append(v)
    return v
def two(a, b):
    return (a, b)
@mechanism
def m(q: queries(0,1)):
    xs = []
    return two(len(xs), push(xs, 1))

# %% helper nested mutate expr | agrees or refused | size 2
def push(xs, v):
    xs.append(v)
    return v
def both(xs):
    return push(xs, 1)
@mechanism
def m(q: queries(0,1)):
    xs = [q[0]]
    return len(xs) + both(xs)

# %% helper aug mutate expr | agrees or refused | size 2
def grow(xs):
    xs += [1]
    return 0
@mechanism
def m(q: queries(0,1)):
    xs = [q[0]]
    return len(xs) + grow(xs)

# %% cond mutate | agrees or refused | size 2
def push(xs):
    xs.append(1)
    return True
@mechanism
def m(q: queries(0,1)):
    xs = []
    if q[0] and push(xs):
        pass
    return len(xs)

# %% while mutate | agrees or refused | size 2
def pop(xs):
    xs.append(1)
    return len(xs) < 3
@mechanism
def m(q: queries(0,1)):
    xs = []
    while pop(xs):
        pass
    return len(xs)

# %% subscript mutate | agrees or refused | size 2
def push(xs):
    xs.append(1)
    return 0
@mechanism
def m(q: queries(0,1)):
    xs = [q[0]]
    xs[push(xs)] = 7
    return xs

# %% append mutate | agrees or refused | size 2
def push(xs):
    xs.append(1)
    return 5
@mechanism
def m(q: queries(0,1)):
    xs = [q[0]]
    xs.append(push(xs))
    return xs

# %% noise arg mutate | agrees or refused | size 2
def push(xs):
    xs.append(1)
    return 1
@mechanism
def m(q: queries(0,1)):
    xs = [q[0]]
    z = randomized_response(push(xs), truth='3/4')
    return (xs, z)

# %% helper returns param list then mutated | agrees or refused | size 2
def mk(xs):
    ys = xs
    return ys
@mechanism
def m(q: queries(0,1)):
    xs = [q[0]]
    ys = mk(xs)
    xs.append(3)
    return ys
