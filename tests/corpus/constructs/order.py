"""What is evaluated first, and what not at all."""

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

# %% and or values | agrees
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    return [0 or "a", 0 and "a", 1 and "", "" or [] or None, 1 and 2 and 3, x or None, x and [], None or 0 or False]

# %% noise and | agrees
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    return bernoulli("1/3") and bernoulli("1/2")

# %% noise or value | agrees
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    return uniform(0, 2) or uniform(5, 6)

# %% noise mixed | agrees
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    return x and uniform(0, 2) or uniform(5, 6)

# %% chain once | agrees
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    return 0 <= uniform(0, 3) < 2

# %% chain in | agrees
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    return x in (0, 1) in ((True,), True)

# %% cond noise | agrees
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    return uniform(0, 1) if bernoulli("1/3") else uniform(5, 7)

# %% cond in index | agrees
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    return (3, 4, 5)[uniform(0, 1) + (1 if x else 0)]

# %% order of draws | agrees
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    return [uniform(0, x + 1), bernoulli("1/3"), uniform(2, 3)]

# %% any gen short | agrees
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    return any(1 // v == 1 for v in (1, 0)), all(1 // v == 2 for v in (1, 0))

# %% any list not short | refused
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    return any([1 // v == 1 for v in (1, x)])

# %% or short | agrees
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    return x == 0 or 1 // x == 1

# %% and short | agrees
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    return x != 0 and 1 // x

# %% if short chain | agrees
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    return 1 < x < 1 // x if x else 5

# %% chain short | agrees
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    return 2 < x < 1 // x

# %% conditional lazily | agrees
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    return 1 // x if x else "none"

# %% nested cond | agrees
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    return "a" if x else "b" if q[0] else "c"

# %% chains | agrees
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    return [0 < x < 2 < 3, 0 < x == x, 3 > 2 > x > -1, 1 < 2 > x]

# %% helper noise list | agrees
def h(n):
    return [uniform(0, 1) for v in range(n)]

@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    return h(x), h(1)

# %% while with noise and short circuit | agrees
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    n = 0
    while n < 2 and bernoulli("1/2"):
        n += 1
    return n

# %% while or noise | agrees
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    n = 0
    while n < 1 or (bernoulli("1/2") and n < 3):
        n += 1
    return n

# %% if noise elif noise | agrees
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    if bernoulli("1/3"):
        r = 1
    elif bernoulli("1/4"):
        r = 2
    elif x and bernoulli("1/5"):
        r = 3
    else:
        r = 4
    return r

# %% noise in subscript store twice | agrees
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    xs = [0, 0, 0]
    xs[uniform(0, 1)], xs[uniform(1, 2)] = uniform(3, 4), uniform(5, 6)
    return xs

# %% noise in slice | agrees
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    return (1, 2, 3)[uniform(0, 1):uniform(1, 3)]

# %% noise in dict | agrees
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    return {uniform(0, 1): uniform(2, 3), 1: 9}

# %% noise in chain comparison left | agrees
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    return uniform(0, 2) < 1 + x < 3

# %% noise in aug target index | agrees
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    xs = [1, 2]
    xs[uniform(0, 1)] *= 3
    return xs

# %% noise in range | agrees
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    out = []
    for i in range(uniform(0, 2)):
        out.append(uniform(0, i))
    return out

# %% noise in enumerate start | agrees
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    return [i for i, v in enumerate(q, uniform(0, 1))]

# %% noise in match subject | agrees
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    match uniform(0, 2):
        case 0:
            return "a"
        case 1 | 2 if x:
            return "b"
    return "c"

# %% noise in helper default position | agrees
def h(a, b):
    return a - b

@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    return h(uniform(0, 1), b=uniform(1, 2))

# %% noise as noise argument | agrees
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    return bernoulli(Fraction(1, uniform(2, 3)))

# %% noise nested | agrees
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    return uniform(0, uniform(0, uniform(0, 1)))

# %% noise in default | agrees
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    return max([v for v in q if bernoulli("1/2")], default=uniform(5, 6))

# %% noise in and of list | agrees
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    return [x, 1] and [uniform(0, 1)] or None

# %% noise in not | agrees
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    return not bernoulli("1/3"), -uniform(0, 1), +uniform(0, 1), abs(uniform(-1, 1))

# %% noise in is | agrees
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    return (None if bernoulli("1/3") else 0) is None

# %% noise in count | agrees
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    return [uniform(0, 1), uniform(0, 1)].count(1), (uniform(0, 1), x).index(x)

# %% noise in sum fold | agrees
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    return sum(uniform(0, 1) * v for v in (1, 2)), any(bernoulli("1/3") for v in q), all(bernoulli("1/3") for v in q)

# %% noise in nested comp | agrees
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    return [[uniform(0, 1) for w in range(v)] for v in q]

# %% noise in comp iter | agrees
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    return [v for v in [uniform(0, 1), x] if v == uniform(0, 1)]

# %% noise statement alone | agrees
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    uniform(0, 1)
    bernoulli("1/2")
    return x

# %% noise tuple target swap | agrees
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    a, b = uniform(0, 1), uniform(2, 3)
    a, b = b, a
    return a, b

# %% early return in loops with noise | agrees
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    for v in q:
        if v == uniform(0, 1):
            return v
        for w in (0, 1):
            if w == uniform(0, 1):
                break
        if w == 0:
            continue
        x += 1
    return "end", x

# %% noise in return tuple with lists | agrees
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    xs = [x]
    return xs, [uniform(0, 1)] + xs, (uniform(0, 1),) * 2
