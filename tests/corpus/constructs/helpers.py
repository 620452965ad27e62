"""Functions that a mechanism calls: arguments, defaults, names of their own."""

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

# %% unused helper arg | refused
def h(a):
    return 1

@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    if x == 1:
        z = 1
    return h(z)

# %% kw order | agrees
def h(a, b):
    return a * 2 + b

@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    return h(b=uniform(0, 1), a=uniform(0, 1))

# %% stale helper local across loop | refused
def h(a, b):
    if b:
        r = a
    return r

@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    out = []
    for v in (1, 0):
        out.append(h(x, v))
    return out

# %% helper kw default alias | agrees
def h(a, n=3, *, k=2):
    return a + n * k

@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    return h(x), h(x, k=0), h(n=1, a=x)

# %% helper shadow const | agrees
K = 4
def h(K):
    K = K + 1
    return K

@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    return h(x), K

# %% helper global vs local | agrees
K = 4
def h(a):
    return a + K

@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    K = 9
    return h(x), K

# %% helper mutates passed twice | agrees
def h(a, b):
    a.append(1)
    return len(b)

@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    xs = [0]
    n = h(xs, xs)
    return n, xs

# %% helper returns arg | agrees
def h(a):
    return a

@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    xs = [x]
    ys = h(xs)
    return ys, xs

# %% helper comprehension var | agrees
def h(a):
    return [v + a for v in (1, 2)]

@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    v = 5
    t = h(v)
    return v, t

# %% helper loop over param rebind | refused
def h(a):
    out = 0
    for v in a:
        a = 3
        out += v
    return out + a

@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    xs = [1, x]
    return h(xs), xs

# %% helper early in loops | agrees
def h(a):
    for v in a:
        for w in (0, 1):
            if v == w == x0:
                return v, w
        else_ = 1
    return None
x0 = 1

@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    return h(q)

# %% helper noise twice | agrees
def h(a):
    return a + uniform(0, 1)

@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    return h(h(x)), h(1) - h(0)

# %% helper in cond | agrees
def h(a):
    return a == uniform(0, 1)

@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    return "y" if h(x) and not h(q[0]) else "n"

# %% helper in while | agrees
def h(a):
    return a + uniform(0, 1)

@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    n = 0
    while h(n) < 2:
        n += 1
    return n

# %% helper in comp cond | agrees
def h(a):
    return a == uniform(0, 1)

@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    return [v for v in q if h(v)]

# %% helper name arg changed in body | agrees
def h(a):
    b = a
    a = 7
    return a, b

@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    y = x
    r = h(y)
    return r, y

# %% helper unassigned local | agrees
def h(a):
    if a:
        z = 1
    return z if a else 0

@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    return h(x)

# %% helper aug param list | refused
def h(a):
    a += [1]
    return a

@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    xs = [x]
    ys = h(xs)
    return xs, ys

# %% helper aug param list dead | agrees
def h(a):
    a += [1]
    return a

@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    xs = [x]
    ys = h(xs)
    return ys

# %% helper append then rebind | refused
def h(a):
    a.append(1)
    a = [9]
    return a

@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    xs = [x]
    ys = h(xs)
    return xs, ys

# %% helper list literal arg | refused
def h(a):
    a.append(1)
    return a

@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    return h([x]), h([])

# %% helper elem arg | refused
def h(a):
    a.append(1)
    return a

@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    rows = [[x], [2]]
    r = h(rows[0])
    return rows

# %% nested helpers mutate | agrees
def g(a):
    a.append(2)
def h(a):
    g(a)
    a.append(3)

@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    xs = [x]
    h(xs)
    return xs

# %% unhurt by helper walk | agrees
def h(p):
    s = 0
    for v in p:
        s += v
    return s

@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    for v in q:
        x = h(q) + v
    return x

# %% index noise in helper | agrees
def pick(a, i):
    return a[i]

@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    return pick((3, 4), uniform(0, 1)) + pick(q, uniform(0, 1))

# %% nested function default | agrees
def h(a, b=(1, 2)):
    return a in b

@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    return h(x), h(x, b=())

# %% recursion two helpers same name param | agrees
def g(a):
    return a + 1
def h(a):
    a = g(a)
    return g(a)

@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    a = 5
    return h(x), a

# %% helper reading global shadowed by caller local | agrees
N = 3
def h():
    return N

@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    N = x
    return h(), N

# %% helper with loop var persisting | agrees
def h(n):
    for k in range(n):
        pass
    return k

@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    return h(2), h(1)

# %% helper with loop var unassigned second call | refused
def h(n):
    for k in range(n):
        pass
    return k

@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    return h(2), h(x)

# %% helper while return | agrees
def h(n):
    while True:
        n -= 1
        if n < 0:
            return n

@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    return h(x), h(3)

# %% helper returns nothing | agrees
def h(n):
    if n:
        return 1

@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    return h(x)

# %% helper tuple unpack result | agrees
def h(n):
    return n, n + 1

@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    a, b = h(x)
    (c, d), e = h(1), h(2)
    return a, b, c, d, e
