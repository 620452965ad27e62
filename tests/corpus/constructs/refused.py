"""What the language refuses by name."""

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

# %% star in call | refused
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    return max(*q)

# %% dict star | refused
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    return {**{1: 2}}

# %% del | refused
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    y = 1
    del y
    return x

# %% try | refused
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    try:
        y = 1 // x
    except ZeroDivisionError:
        y = 0
    return y

# %% slice assign | refused
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    xs = [1, 2]
    xs[0:1] = [5]
    return xs

# %% ellipsis | refused
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    return ...

# %% complex | refused
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    return 1j

# %% bytes | refused
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    return b"a"

# %% float literal | refused
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    return 0.5

# %% float in dead code | refused
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    if False:
        return 0.5
    return x

# %% matmul | refused
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    return x @ 2

# %% global stmt | refused
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    global N
    N = 3
    return N

# %% attribute | refused
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    return x.numerator

# %% attribute real | refused
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    return q.__len__()

# %% type | refused
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    return type(x) == int

# %% isinstance | refused
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    return isinstance(x, int)

# %% filter | refused
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    return [v for v in filter(None, q)]

# %% dict items | refused
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    return [k for k in {0: 1}]

# %% str format | refused
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    return "%d" % x

# %% list insert | refused
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    xs = [2, 1]
    xs.insert(0, x)
    return xs

# %% tuple aug nested | refused
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    rows = [[1], [2]]
    rows[0][0] += 1
    return rows

# %% rows nested append | refused
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    rows = [[1], [2]]
    rows[0].append(1)
    return rows

# %% tuple with list elem changed | refused
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    t = ([1], 2)
    t[0].append(3)
    return t

# %% int method | refused
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    return (5).bit_length()

# %% aug q | refused
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    q += [1]
    return q

# %% aug q elem | refused
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    q[0] += 1
    return q

# %% q elem set | refused
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    q[0] = 5
    return q
