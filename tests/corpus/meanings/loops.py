"""Mechanisms with loops."""

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

# %% backwards | agrees | size 2
@mechanism
def m(q: queries(0,1)):
    out = []
    i = len(q) - 1
    while i >= 0:
        out.append(randomized_response(q[i], truth='3/4'))
        i -= 1
    return out

# %% i-1 | agrees | size 3
@mechanism
def m(q: queries(0,1)):
    out = []
    for i in range(len(q)):
        out.append(randomized_response(q[i] != q[i - 1], truth='3/4'))
    return out

# %% i+1 | agrees | size 3
@mechanism
def m(q: queries(0,1)):
    out = []
    for i in range(len(q) - 1):
        out.append(randomized_response(q[i] != q[i + 1], truth='3/4'))
    return out

# %% twice | agrees | size 3
@mechanism
def m(q: queries(0,1)):
    s = sum(q)
    out = []
    for v in q:
        out.append(randomized_response(v, truth='3/4') + s * 0)
    return out

# %% negative i | agrees | size 3
@mechanism
def m(q: queries(0,1)):
    i = -len(q)
    s = 0
    while i < len(q):
        s = 2 * s + q[i]
        i += 1
    return randomized_response(s % 2, truth='3/4')

# %% list grow loop | agrees | size 2
@mechanism
def m(q: queries(0,1)):
    xs = [q[0]]
    for x in xs:
        if len(xs) < 3:
            xs.append(x + 1)
    return xs

# %% loop var after | agrees | size 2
@mechanism
def m(q: queries(0,1)):
    for i, v in enumerate(q):
        pass
    return (i, v)

# %% loop reassign i | agrees | size 2
@mechanism
def m(q: queries(0,1)):
    s = 0
    for i in range(3):
        i = i * 2
        s += i
    return s

# %% while cond noise | agrees | size 2
@mechanism
def m(x: integer(0,1)):
    n = 0
    while bernoulli('1/2') and n < 3:
        n += 1
        if n == 2:
            continue
    return n

# %% for grow | agrees | size 2
@mechanism
def m(q: queries(0,1)):
    xs = [q[0]]
    for x in xs:
        if len(xs) < 3:
            xs.append(x + 1)
    return xs

# %% zip grow | agrees | size 3
@mechanism
def m(q: queries(0,1)):
    xs = [0, 1]
    out = []
    for x, y in zip(xs, q):
        out.append((x, y))
        if len(xs) < 5:
            xs.append(9)
    return out

# %% zip grow self | agrees | size 2
@mechanism
def m(q: queries(0,1)):
    xs = [0]
    out = []
    for x, y in zip(xs, [1, 2, 3]):
        out.append(x)
        xs.append(y)
    return (xs, out)

# %% enumerate grow | agrees | size 2
@mechanism
def m(q: queries(0,1)):
    xs = [q[0]]
    for i, x in enumerate(xs):
        if i < 2:
            xs.append(i)
    return xs

# %% stale comp var | agrees | size 2
@mechanism
def m(q: queries(0,1)):
    out = []
    for i in range(2):
        out = out + [v for v in q if v >= i]
    return out

# %% window two vars | agrees | size 3
@mechanism
def m(q: queries(0,1)):
    i = 0
    j = len(q) - 1
    out = []
    while i <= j:
        out.append(randomized_response(q[i] * q[j], truth='3/4'))
        i += 1
        j -= 1
    return out

# %% window jump | agrees | size 3
@mechanism
def m(q: queries(0,1)):
    i = 0
    out = []
    while i < len(q):
        if bernoulli('1/2'):
            i += 2
            continue
        out.append(randomized_response(q[i - 1], truth='3/4'))
        i += 1
    return out

# %% window bool idx | agrees | size 2
@mechanism
def m(q: queries(0,1)):
    i = False
    out = []
    while i < len(q):
        out.append(randomized_response(q[i], truth='3/4'))
        i += True
    return out

# %% window nested loops | agrees | size 3
@mechanism
def m(q: queries(0,1)):
    n = 0
    for i in range(len(q)):
        for j in range(i, len(q)):
            if q[i] != q[j]:
                n += 1
    return truncated_geometric(n, low=0, high=2, alpha='1/2')

# %% window after break | agrees | size 3
@mechanism
def m(q: queries(0,1)):
    for i, v in enumerate(q):
        if randomized_response(v, truth='3/4'):
            break
    return (i, randomized_response(q[i], truth='2/3'))

# %% genexp lazy | agrees or refused | size 2
@mechanism
def m(q: queries(0,1)):
    n = 0
    out = []
    for v in (x + n for x in q):
        n += 1
        out.append(v)
    return out

# %% dict iterate | agrees or refused | size 2
@mechanism
def m(q: queries(0,1)):
    s = []
    for k in {0: 'x', 1: 'y'}:
        s.append(k)
    return s

# %% range fraction | agrees or refused | size 2
@mechanism
def m(x: integer(0,1)):
    s = 0
    for i in range(Fraction(2)):
        s += 1
    return s

# %% enumerate extra | agrees or refused | size 2
@mechanism
def m(q: queries(0,1)):
    s = 0
    for i, v in enumerate(q, 1, 2):
        s += i
    return s

# %% loop var empty | agrees or refused | size 2
@mechanism
def m(q: queries(0,1)):
    for i in range(q[0]):
        pass
    return i

# %% range var step | agrees or refused | size 2
@mechanism
def m(q: queries(0,1)):
    s = 0
    for i in range(0, 4, 1 + q[0]):
        s += i
    return s

# %% alias in loop | agrees or refused | size 2
@mechanism
def m(q: queries(0,1)):
    rows = [[0], [1]]
    for r in rows:
        r.append(1)
    return rows

# %% alias prev iteration | agrees or refused | size 2
@mechanism
def m(q: queries(0,1)):
    prev = [0]
    cur = [0]
    for v in q:
        prev = cur
        cur.append(v)
    return prev

# %% for rows change | agrees or refused | size 2
@mechanism
def m(q: queries(0,1)):
    rows = [[0], [1]]
    for i, r in enumerate(rows):
        rows[i] = r + [q[0]]
    return rows
