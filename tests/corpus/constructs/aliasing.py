"""One list under two names: what the language refuses, and where it cannot be seen."""

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

# %% self append | refused
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    xs = [1]
    xs.append(xs)
    return xs

# %% self append len | refused
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    xs = [1]
    xs.append(xs)
    xs.append(2)
    return len(xs[1])

# %% self put | refused
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    xs = [1]
    xs[0] = xs
    return len(xs[0][0])

# %% extend alias | refused
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    xs = [1]
    ys = [x]
    xs += [ys]
    ys.append(3)
    return xs

# %% plus alias | refused
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    ys = [x]
    zs = [0] + [ys]
    ys.append(3)
    return zs

# %% times alias | refused
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    ys = [x]
    zs = [ys] * 2
    ys.append(3)
    return zs

# %% list alias | refused
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    ys = [x]
    zs = list([ys])
    ys.append(3)
    return zs

# %% tuple alias | refused
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    ys = [x]
    zs = tuple([ys])
    ys.append(3)
    return zs

# %% slice alias | refused
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    ys = [x]
    zs = [ys, 1][0:1]
    ys.append(3)
    return zs

# %% copy alias | refused
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    ys = [x]
    zs = [ys].copy()
    ys.append(3)
    return zs

# %% sorted alias | refused
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    ys = [x]
    zs = sorted([ys])
    ys.append(3)
    return zs

# %% tuple plus alias | refused
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    ys = [x]
    zs = (0,) + (ys,)
    ys.append(3)
    return zs

# %% self index swap | agrees
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    ys = [1, 0]
    i = 0
    i, ys[i] = ys[i], i
    return i, ys

# %% q alias | agrees
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    y = q
    return y[0], y == q

# %% q alias mutate | refused
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    y = q
    y.append(1)
    return y

# %% q copy mutate | agrees
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    y = list(q)
    y.append(x)
    y[0] = 5
    return y, q

# %% q slice mutate | agrees
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    y = q[:]
    y[0] = 5
    return y, q

# %% q + | agrees
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    y = q + [1]
    y[0] = 5
    return y, q

# %% rows | agrees
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    rows = [[0, 1], [2, 3]]
    row = list(rows[x])
    row[0] = 9
    rows[x] = row
    return rows

# %% rows alias then replace | agrees
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    rows = [[0], [1]]
    row = rows[0]
    rows[0] = [5]
    return row, rows

# %% rows append elem | agrees
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    rows = [[0], [1]]
    rows.append(rows[0])
    return rows

# %% row in loop mutate | refused
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    rows = [[0], [1]]
    for row in rows:
        row.append(1)
    return rows

# %% list in tuple | agrees
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    ys = [x]
    t = (ys, 1)
    ys = ys + [2]
    return t, ys

# %% tuple mutable alias | refused
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    ys = [x]
    t = (ys, 1)
    ys += [2]
    return t, ys

# %% list times nested | refused
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    rows = [[0]] * 2
    r = rows[0]
    r.append(1)
    return rows

# %% default list | refused
def h(a, acc=[]):
    acc.append(a)
    return acc

@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    return h(x)

# %% and alias | refused
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    xs = [1]
    ys = xs and xs
    ys.append(2)
    return xs

# %% max alias | refused
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    xs = [1]
    ys = max([xs, [0]])
    ys.append(2)
    return xs

# %% max2 alias | refused
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    xs = [1]
    ys = max(xs, [0])
    ys.append(2)
    return xs

# %% elem of literal alias | refused
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    xs = [1]
    ys = [xs, [0]][0]
    ys.append(2)
    return xs

# %% dict alias | refused
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    xs = [1]
    ys = {0: xs}[0]
    ys.append(2)
    return xs

# %% sum alias | refused
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    xs = [1]
    ys = sum([[xs]], [])
    xs.append(2)
    return ys

# %% cond alias | refused
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    xs = [1]
    zs = [2]
    ys = xs if x else zs
    ys.append(2)
    return xs, zs

# %% comp alias | refused
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    xs = [1]
    ys = [xs for v in q]
    xs.append(2)
    return ys

# %% for alias | refused
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    xs = [1]
    for ys in [xs]:
        ys.append(2)
    return xs

# %% for alias 2 | refused
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    xs = [1]
    for ys in (xs, [3]):
        xs.append(2)
    return xs, ys

# %% unpack alias | refused
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    xs = [1]
    ys, zs = (xs, 2) if x else ([5], 3)
    xs.append(2)
    return ys, xs

# %% zip alias | refused
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    xs = [1]
    for a, b in zip([xs], q):
        xs.append(b)
    return a

# %% noise arg list | agrees
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    xs = [0, x]
    i = exponential_mechanism(xs, epsilon="ln(2)")
    xs.append(i)
    return xs

# %% chain alias | agrees
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    a = b = [x]
    return a, b

# %% chain alias change | refused
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    a = b = [x]
    a.append(1)
    return a, b

# %% a list in a table in a tuple | refused
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    ys = [x]
    t = ({0: [ys] * 2}, 1)
    ys.append(3)
    return t

# %% a list in a table | refused
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    ys = [x]
    d = {0: (ys,)}
    ys.append(3)
    return d

# %% a new list that holds a list may be changed | agrees
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    ys = [x]
    zs = [0] + [ys]
    zs.append(1)
    zs[0] = 5
    return zs, ys

# %% a list of a list may be changed | agrees
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    ys = [x]
    zs = [ys, 1]
    zs.append(2)
    zs[1] = 7
    return zs, ys

# %% a sum of lists is a new list | agrees
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    ys = [x]
    zs = sum([ys, [1]], [])
    zs.append(2)
    ys.append(3)
    return zs, ys

# %% a sum of lists in a loop | agrees
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    ys = [x]
    for v in q:
        ys += tuple(sum([q, [1, 0]], []))
    return ys

# %% a sum that begins with a list | refused
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    ys = [x]
    zs = sum([], ys)
    zs.append(2)
    return zs, ys

# %% a sum of lists of lists | refused
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    ys = [x]
    zs = sum([[ys], [1]], [])
    ys.append(2)
    return zs, ys

# %% the larger of two lists | refused
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    ys = [x]
    zs = max(ys, [0])
    ys.append(2)
    return zs, ys
