"""What fails when Python runs it, always or on some data."""

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

# %% deep key | refused
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    return {((1, [x]),): 2}

# %% deep key in | refused
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    return ((1, [x]),) in {1: 2}

# %% list two | refused
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    return list(q, 1)

# %% tuple two | refused
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    return tuple(q, 1)

# %% sorted mixed | refused
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    return len(sorted([(1, 'a'), (0, 0), (0, 'b'), (2, 3), (1, x)]))

# %% fn raises | refused
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    return q[5]

# %% div zero | refused
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    return 1 // x

# %% none plus | refused
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    return None + 1 if x else 0

# %% idle div zero | refused
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    y = 1 // x
    return 3

# %% idle idx | refused
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    q[2]
    return 3

# %% unused expr raises | refused
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    (1, 2)[x + 1]
    return 3

# %% bad compare unused | refused
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    y = 1 < "a" if x else 0
    return 3

# %% tuple cmp mixed err | refused
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    return (1, "a") < (1, None)

# %% is int | refused
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    return x is 1

# %% int str | agrees
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    return int("3")

# %% abs str | refused
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    return abs("a") if x else 0

# %% pow neg | refused
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    return 2 ** (x - 1)

# %% div float | refused
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    return x / 2

# %% frac pow frac | refused
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    return Fraction(4) ** Fraction(1, 2)

# %% frac idx | refused
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    return (1, 2)[Fraction(1)]

# %% frac mul str | refused
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    return "a" * Fraction(2)

# %% dict key error | refused
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    return {0: 1}[x]

# %% max default pos | refused
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    return max(3, 4, default=1)

# %% max one | refused
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    return max(3)

# %% max mixed | refused
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    return max(1, "a")

# %% str index error | refused
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    return "ab"[x + 1]

# %% tuple assign | refused
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    t = (1, 2)
    t[0] = 3
    return t

# %% str assign | refused
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    t = "ab"
    t[0] = "c"
    return t

# %% append to tuple | refused
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    t = ()
    t.append(1)
    return t

# %% append to none | refused
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    t = None
    t.append(1)
    return t

# %% call int | refused
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    y = 3
    return y(1)

# %% subscript int | refused
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    return x[0]

# %% for int | refused
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    for v in x:
        pass
    return 1

# %% for none rare | refused
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    for v in (None if x else (1,)):
        pass
    return 1

# %% unpack too few | refused
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    a, b = (1,)
    return a

# %% unpack int | refused
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    a, b = x
    return a

# %% unpack nested mismatch | refused
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    for a, (b, c) in [(1, (2, 3, 4))]:
        pass
    return a

# %% for unpack mismatch rare | refused
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    for a, b in ([(1, 2, 3)] if x else [(1, 2)]):
        pass
    return a

# %% zip empty never fails | refused
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    for a, b in zip([], x0):
        pass
    return 1

# %% len int | refused
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    return len(x)

# %% sum str | refused
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    return sum(["a"])

# %% max empty | refused
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    return max([v for v in q if v])

# %% min empty rare | agrees
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    return min([v for v in q if v == 5], default=None)

# %% list index missing | refused
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    return q.index(1)

# %% dict list key | refused
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    return {[x]: 1}

# %% in int | refused
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    return 1 in x

# %% compare none | refused
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    return None < x

# %% compare str int eq | agrees
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    return "a" == x, "a" != x

# %% neg str | refused
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    return -"a"

# %% mod zero | refused
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    return x % 0

# %% frac zero | refused
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    return Fraction(1, x)

# %% pow zero | refused
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    return Fraction(0) ** (x - 1)
