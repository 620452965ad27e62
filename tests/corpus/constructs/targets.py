"""What is assigned to, and in which order."""

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

# %% enum same | agrees
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    for i, i in enumerate(q):
        pass
    return i

# %% enum ys | agrees
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    ys = [5, 6]
    for i, ys[i] in enumerate(q):
        pass
    return ys

# %% zip ii | agrees
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    for i, i in zip(q, (7, 8)):
        pass
    return i

# %% zip read after write | agrees
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    xs = [3, 4]
    out = []
    for xs[1], y in zip(q, xs):
        out.append(y)
    return out

# %% enum start ii | agrees
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    for i, i in enumerate(q, 5):
        pass
    return i

# %% range True | agrees
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    return [i for i in range(True, 3)]

# %% range True for | agrees
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    out = []
    for i in range(True, 3):
        out.append(i)
    return out

# %% enum True | agrees
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    return [(i, v) for i, v in enumerate(q, True)]

# %% in range True | agrees
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    t = True
    return list(range(t, 3))

# %% annotated sub | refused
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    xs = [1]
    xs[5]: int
    return x

# %% nested targets | agrees
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    (a, (b, c)), d = (q[0], (x, 2)), 3
    return a, b, c, d

# %% i ys i | agrees
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    ys = [5, 6]
    i = 0
    i, ys[i] = 1, 2
    return i, ys

# %% ys i i | agrees
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    ys = [5, 6]
    i = 0
    ys[i], i = i + 3, 1
    return i, ys

# %% chained a b a | agrees
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    b = [4, 5]
    a = 0
    a = b[a] = 1
    return a, b

# %% chained b a a | agrees
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    b = [4, 5]
    a = 0
    b[a] = a = 1
    return a, b

# %% swap elements | agrees
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    ys = [x, 5]
    ys[0], ys[1] = ys[1], ys[0]
    return ys

# %% tuple same | agrees
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    a, a = q[0], q[1]
    return a

# %% unpack str | agrees
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    a, b = "xy"
    return b, a

# %% unpack q | agrees
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    a, b = q
    return b, a

# %% unpack list target | agrees
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    [a, b] = q
    return b, a

# %% aug index once | agrees
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    ys = [0, 0]
    i = 0
    ys[i] += 5
    i += 1
    ys[i] -= 2
    return ys

# %% aug uses self | agrees
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    ys = [1, 2]
    ys[ys[0]] += ys[0]
    return ys

# %% for target elem list itself | agrees
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    xs = [3, 4]
    for xs[0] in xs:
        pass
    return xs

# %% for tuple target elem | agrees
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    xs = [0, 0]
    for xs[0], xs[1] in zip(q, (7, 8)):
        pass
    return xs

# %% for nested zip enum | agrees
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    out = []
    for i, (a, b) in enumerate(zip(q, (5, 6))):
        out.append((i, a, b))
    return out

# %% for enum enum | agrees
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    out = []
    for i, (j, v) in enumerate(enumerate(q, 3), 7):
        out.append((i, j, v))
    return out

# %% enum i clobber | agrees
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    out = []
    for i, v in enumerate(q):
        i = i + 10
        out.append(i)
    return out

# %% zip uneven | agrees
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    return [(a, b) for a, b in zip(q, (1, 2, 3))]

# %% enumerate forms | agrees
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    return [i for i, v in enumerate(q, start=x)], [v for i, v in enumerate("ab")]

# %% aug tuple | agrees
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    t = (x,)
    u = t
    t += (2,)
    return t, u

# %% aug str | agrees
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    t = "a"
    u = t
    t += "b"
    t *= 2
    return t, u

# %% aug list mul | refused
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    t = [x]
    u = t
    t *= 2
    return t, u

# %% for enumerate grows | agrees
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    xs = [1]
    for i, v in enumerate(xs):
        if i < 3:
            xs.append(v + i)
    return xs

# %% zip grows | agrees
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    xs = [1]
    out = []
    for a, b in zip(xs, (5, 6, 7)):
        xs.append(a + 1)
        out.append(b)
    return xs, out

# %% element target index of self | agrees
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    xs = [0, 1]
    for xs[xs[0]] in q:
        pass
    return xs

# %% tuple element targets | agrees
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    xs = [0, 0]
    i = 0
    for i, xs[i] in [(0, 5), (1, x)]:
        pass
    return xs, i

# %% nested element targets | agrees
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    xs = [0, 0]
    ys = [9, 9]
    for i, (xs[i], ys[i]) in enumerate([(1, 2), (3, x)]):
        pass
    return xs, ys

# %% enumerate zip elems | agrees
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    xs = [0, 0]
    ys = [9, 9]
    for i, (xs[i], ys[i]) in enumerate(zip(q, xs)):
        pass
    return xs, ys

# %% enumerate range elem | agrees
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    xs = [0, 0, 0]
    for i, xs[i] in enumerate(range(5, 8)):
        pass
    return xs

# %% for range elem target | agrees
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    xs = [0, 0]
    for xs[x] in range(3):
        pass
    return xs

# %% multi return in tuple | agrees
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    a = b = c = x
    a += 1
    return a, b, c

# %% chain tuple | agrees
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    a, b = c = q[0], x
    return a, b, c

# %% chain list tuple | agrees
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    [a, b] = c = [q[0], x]
    return a, b, c

# %% tuple swap through list | agrees
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    xs = [1, 2]
    xs[0], xs[1], i = xs[1], xs[0], x
    return xs, i

# %% assignment index noise | agrees
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    xs = [0, 0]
    xs[uniform(0, 1)] = uniform(2, 3)
    return xs

# %% aug index noise | agrees
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    xs = [0, 0]
    xs[uniform(0, 1)] += uniform(2, 3)
    return xs

# %% aug noise | agrees
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    y = 1
    y += uniform(0, 1) * y
    return y

# %% enumerate bool var | agrees
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    b = x == 1
    return [i for i, v in enumerate(q, b)], [i for i, v in enumerate(q, start=True)]

# %% assign to input q | agrees
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    q = [5]
    return q

# %% assign input list change | agrees
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    q = list(q)
    q.append(3)
    q[0] = 9
    return q
