"""for and while, with break, continue and else."""

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

# %% eq range | refused
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    return (0, 1) == range(2)

# %% lt range | refused
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    return (0, 1) < range(2)

# %% for else | refused
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    for v in q:
        pass
    else:
        x = 1
    return x

# %% loop var none after | refused
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    for v in []:
        pass
    return v

# %% range after | refused
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    for i in range(x):
        pass
    return i

# %% for nested break | agrees
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    out = []
    for a in q:
        for b in (0, 1, 2):
            if a == b:
                break
            out.append((a, b))
        if len(out) > 2:
            break
    return out

# %% cont in while | agrees
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    i = 0
    out = []
    while i < 4:
        i += 1
        if i % 2 == x:
            continue
        out.append(i)
    return out

# %% return nested | agrees
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    for a in q:
        for b in (1, 2):
            while True:
                if bernoulli("1/3"):
                    return a, b
                break
    return None

# %% range forms | agrees
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    return list(range(3)), list(range(1, 3)), list(range(3, 0, -1)), list(range(0)), list(range(2, 1)), list(range(-2, x, 2)), tuple(range(x))

# %% str loop | agrees
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    out = ""
    for c in "abc":
        out = c + out
    return out

# %% while else | refused
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    while x < 3:
        x += 1
    else:
        x = 9
    return x

# %% while true break | agrees
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    while True:
        if bernoulli("1/2"):
            break
        x += 1
        if x > 2:
            return "x"
    return x

# %% for held cond | agrees
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    xs = [1, 2]
    ys = [3]
    out = []
    for v in (xs if x else ys):
        out.append(v)
        ys = [9]
        xs = [8]
    return out, xs, ys

# %% for expr walks old | agrees
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    xs = [1, 2]
    for v in xs[:]:
        xs = xs + [v]
    return xs

# %% for list grows via name | agrees
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    xs = [1]
    for v in xs:
        if len(xs) < 4:
            xs.append(v + x)
    return xs

# %% elem replaced during walk | agrees
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    xs = [1, 2, 3]
    out = []
    for i, v in enumerate(xs):
        out.append(v)
        if i < 2:
            xs[i + 1] = v * 2 + x
    return out, xs

# %% range bool stop | agrees
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    out = []
    for i in range(x == 1):
        out.append(i)
    return out

# %% range bool start | agrees
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    b = x == 1
    out = []
    for i in range(b, 2):
        out.append(i)
    return out

# %% range const step bool | agrees
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    return [i for i in range(0, 3, True)]

# %% range neg step | agrees
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    return [i for i in range(3, -1, -2)], [i for i in range(x, -3, -1)]

# %% frac range | refused
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    return list(range(Fraction(2)))

# %% two loops same var | agrees
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    out = []
    for v in q:
        out.append(v)
    for v in (7, 8):
        out.append(v)
    return out, v

# %% loop var shadows input | agrees
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    for x in q:
        pass
    return x

# %% loop var shadows q elem | agrees
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    for q in (1, 2):
        pass
    return q
