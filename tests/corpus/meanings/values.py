"""Values, and what is computed from them."""

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

# %% q==list | agrees | size 2
@mechanism
def m(q: queries(0,1)):
    return q == [0, 1]

# %% q==tuple | agrees | size 2
@mechanism
def m(q: queries(0,1)):
    return q == (0, 1)

# %% q*2 | agrees | size 2
@mechanism
def m(q: queries(0,1)):
    return (q * 2)[0] == 1

# %% substring | agrees | size 2
@mechanism
def m(q: queries(0,1)):
    return 'ab' in 'abc'

# %% str slice | agrees | size 2
@mechanism
def m(q: queries(0,1)):
    return 'abc'[0:2]

# %% str count | agrees | size 2
@mechanism
def m(q: queries(0,1)):
    return 'abc'.count('bc')

# %% dict dup | agrees | size 2
@mechanism
def m(q: queries(0,1)):
    return {q[0]: 'x', 1: 'y'}[1]

# %% dict empty truth | agrees | size 2
@mechanism
def m(q: queries(0,1)):
    return 1 if {} else 0

# %% dict returned | agrees | size 2
@mechanism
def m(q: queries(0,1)):
    return {q[0]: 'x'}

# %% q in lists | agrees | size 2
@mechanism
def m(q: queries(0,1)):
    return q in [[0, 1], [1, 1]]

# %% q<list | agrees | size 2
@mechanism
def m(q: queries(0,1)):
    return q < [0, 1]

# %% q[0:1]==list | agrees | size 2
@mechanism
def m(q: queries(0,1)):
    return q[0:1] == [1]

# %% list(q)==list | agrees | size 2
@mechanism
def m(q: queries(0,1)):
    return list(q) == [1, 0]

# %% 2*q | agrees | size 2
@mechanism
def m(q: queries(0,1)):
    return sum(2 * q)

# %% q or [] | agrees | size 2
@mechanism
def m(q: queries(0,1)):
    return (q or [1]) == [1, 1]

# %% max(q,[0,1]) | agrees | size 2
@mechanism
def m(q: queries(0,1)):
    return max(q, [0, 1])

# %% min(q,[0,1])[0] | agrees | size 2
@mechanism
def m(q: queries(0,1)):
    return min(q, [0, 1])[0]

# %% bool(q) | agrees | size 2
@mechanism
def m(q: queries(0,1)):
    return bool(q)

# %% not q | agrees | size 2
@mechanism
def m(q: queries(0,1)):
    return not q

# %% sum start q | agrees | size 2
@mechanism
def m(q: queries(0,1)):
    return sum([[1]], q)

# %% sum start q empty | agrees | size 2
@mechanism
def m(q: queries(0,1)):
    return sum([], q)

# %% tuple of q | agrees | size 2
@mechanism
def m(q: queries(0,1)):
    t = (q, 1)
    return t[0][1]

# %% match q | agrees | size 2
@mechanism
def m(q: queries(0,1)):
    match q:
        case 1:
            return 0
        case _:
            return q[0]

# %% match tuple value | agrees | size 2
@mechanism
def m(q: queries(0,1)):
    match q[0]:
        case 0 | 1 | 2 if q[1] == 1:
            return 'a'
        case 0:
            return 'b'
        case True:
            return 'c'
        case 1:
            return 'd'

# %% public list eq | agrees | size 2
@mechanism
def m(q: queries(0,1), t: public(queries(0,1))):
    return q[0] if t == [0, 1] else 0

# %% is None list | agrees | size 2
@mechanism
def m(q: queries(0,1)):
    return q is None

# %% is True | agrees | size 2
@mechanism
def m(q: queries(0,1)):
    return (q[0] == 1) is True

# %% int(True) | agrees | size 2
@mechanism
def m(q: queries(0,1)):
    return int(q[0] == 1) + True

# %% records values eq | agrees | size 2
@mechanism
def m(q: records((0,1),(1,0))):
    return q[0] == (0, 1)

# %% records values eq list | agrees | size 2
@mechanism
def m(q: records((0,1),(1,0))):
    return q[0] == [0, 1]

# %% range neg | agrees | size 2
@mechanism
def m(q: queries(0,1)):
    return [i for i in range(3, -1, -2)]

# %% nested comp | agrees | size 2
@mechanism
def m(q: queries(0,1)):
    return [[i + j for j in range(i) if j != 1] for i in range(3) if i]

# %% comp leak | agrees | size 2
@mechanism
def m(q: queries(0,1)):
    x = 7
    ys = [x for x in q]
    return x

# %% comp class | agrees | size 2
@mechanism
def m(q: queries(0,1)):
    x = 1
    return [x + y for y in [x, 2] for x in [y, 5]]

# %% swap | agrees | size 2
@mechanism
def m(q: queries(0,1)):
    xs = [1, 2, 3]
    i = 0
    i, xs[i] = 2, 9
    xs[0], xs[1] = xs[1], xs[0]
    return xs

# %% div | agrees | size 2
@mechanism
def m(q: queries(0,1)):
    return Fraction(1) / (q[0] + 1)

# %% floor mod neg | agrees | size 2
@mechanism
def m(q: queries(0,1)):
    return (-7 // 2, -7 % 3, 2 ** 5, (-2) ** 3, -2 ** 2)

# %% alias dead then alive | agrees | size 2
@mechanism
def m(q: queries(0,1)):
    a = [0]
    b = a
    a = [1]
    b.append(2)
    return (a, b)

# %% empty fn | agrees | size 2
@mechanism
def m(q: queries(0,1)):
    pass

# %% elem then append | agrees | size 2
@mechanism
def m(q: queries(0,1)):
    xs = [q[0], 2]
    a = xs[0]
    xs.append(a)
    xs[0], xs[1] = xs[1], xs[0]
    return xs

# %% fold nested | agrees | size 2
@mechanism
def m(q: queries(0,1)):
    return (sum(v * w for v in q for w in q if v != w), any(v > w for v in q for w in (0, 1)), all(v for v in q if v))

# %% max tie types | agrees | size 2
@mechanism
def m(q: queries(0,1)):
    return (max(1, True), max(True, 1), min(0, False), sorted([1, True, 0, False]))

# %% in bool | agrees | size 2
@mechanism
def m(q: queries(0,1)):
    return (True in (1, 2), 1 in [True], Fraction(1) in (1,), None in (0,), '' in 'a', 'b' in ('abc',))

# %% str ops | agrees | size 2
@mechanism
def m(q: queries(0,1)):
    s = 'abc'
    return (s[0], s[-1], s[1:], s * 2, 2 * s, s + 'd', len(s), s < 'b', s == 'abc', [c for c in s], list(s), tuple(s), sorted('cab'), min('ba'), s.index('c'), 'a' in s)

# %% str index sub | agrees | size 2
@mechanism
def m(q: queries(0,1)):
    return ('abc'.index('bc'), 'aaa'.count('aa'), 'abc'.count(''))

# %% str unpack | agrees | size 2
@mechanism
def m(q: queries(0,1)):
    a, b = 'xy'
    return (b, a)

# %% tuple ops | agrees | size 2
@mechanism
def m(q: queries(0,1)):
    t = (1, 2)
    t += (3,)
    t = t * 2
    return (t, t[1:3], t.count(1), t.index(3), (1,) < (1, 0), () == [], len(()), (1, 2) == [1, 2])

# %% list ops | agrees | size 2
@mechanism
def m(q: queries(0,1)):
    x = [1, 2]
    x *= 2
    x += (5,)
    x += 'ab'
    return (x, x[1:3], x[5:], x[-2:], x.count(1), [1] < [1, 0], [] == [], [1, [2]] == [1, [2]], x * 0, x * -1)

# %% frac ops | agrees | size 2
@mechanism
def m(q: queries(0,1)):
    h = Fraction(1, 2)
    return (h + 1, h * 2, h / 2, 1 / h, h // 1, h % 1, -h, h ** 2, h ** -2, int(h), abs(-h), h == Fraction('0.5'), h < 1, Fraction('1/3'), Fraction(3), Fraction(h, 2), Fraction(True), bool(h - h))

# %% frac str | agrees | size 2
@mechanism
def m(q: queries(0,1)):
    return (Fraction('1e-2'), Fraction(' 1/2 '), Fraction('.5'))

# %% bool ops | agrees | size 2
@mechanism
def m(q: queries(0,1)):
    t = q[0] == 1
    return (t + 1, -t, +t, t * 2, not t, t and 5, t or 'x', int(t), bool(3), t == 1, t is True, abs(t), t ** 2, t // 1, t % 2, [4, 5][t], sum([t, t]))

# %% none ops | agrees | size 2
@mechanism
def m(q: queries(0,1)):
    x = None
    if x is None and not x and x == None:
        return 'n'
    return x

# %% dict ops | agrees | size 2
@mechanism
def m(q: queries(0,1)):
    d = {'a': [1], 2: (3,), True: 'x'}
    return (d['a'], d[2], d[1], len(d), 'a' in d, 5 not in d)

# %% dict key tuple | agrees | size 2
@mechanism
def m(q: queries(0,1)):
    return {(0, 0): 'a', (0, 1): 'b', (1, 0): 'c', (1, 1): 'd'}[q[0], q[1]]

# %% const unread | agrees | size 2
@mechanism
def m(q: queries(0,1)):
    return 5

# %% shadow builtin local | agrees | size 2
@mechanism
def m(q: queries(0,1)):
    len = 3
    return len

# %% q+tuple | agrees or refused | size 2
@mechanism
def m(q: queries(0,1)):
    return len(q + (1,))

# %% p=q;q+= | agrees or refused | size 2
@mechanism
def m(q: queries(0,1)):
    p = q
    q += [5]
    return len(p)

# %% xs*=2 | agrees or refused | size 2
@mechanism
def m(q: queries(0,1)):
    xs = [q[0]]
    ys = xs
    xs *= 2
    return len(ys)

# %% param default list | agrees or refused | size 2
@mechanism
def m(q: queries(0,1), xs=[]):
    xs.append(q[0])
    return len(xs)

# %% global list alias | agrees or refused | size 2
XS = [0]
@mechanism
def m(q: queries(0,1)):
    xs = XS
    xs.append(q[0])
    return len(xs)

# %% genexp twice | agrees or refused | size 2
@mechanism
def m(q: queries(0,1)):
    g = (x for x in q)
    a = sum(g)
    return (a, sum(g))

# %% genexp returned | agrees or refused | size 2
@mechanism
def m(q: queries(0,1)):
    return (x for x in q)

# %% genexp len | agrees or refused | size 2
@mechanism
def m(q: queries(0,1)):
    return len(x for x in q)

# %% tuple copy | agrees or refused | size 2
@mechanism
def m(q: queries(0,1)):
    return (1, 2).copy()

# %% Fraction kw | agrees or refused | size 2
@mechanism
def m(q: queries(0,1)):
    return Fraction(numerator=1, denominator=2)

# %% idle unbound | agrees or refused | size 2
@mechanism
def m(q: queries(0,1)):
    if q[0] > 0:
        a = 1
    b = a
    return 0

# %% idle plus | agrees or refused | size 2
@mechanism
def m(q: queries(0,1)):
    a = 'x' if q[0] else 1
    b = a + 1
    return 0

# %% bare expr | agrees or refused | size 2
@mechanism
def m(q: queries(0,1)):
    1 // q[0]
    return 0

# %% range returned | agrees or refused | size 2
@mechanism
def m(x: integer(0,1)):
    return range(x)

# %% range == tuple | agrees or refused | size 2
@mechanism
def m(x: integer(0,1)):
    return range(2) == (0, 1)

# %% percent | agrees or refused | size 2
@mechanism
def m(q: queries(0,1)):
    return '%s' % q

# %% percent list | agrees or refused | size 2
@mechanism
def m(q: queries(0,1)):
    return '%s' % [q[0]]

# %% min default alias | agrees or refused | size 2
@mechanism
def m(q: queries(0,1)):
    xs = [q[0]]
    ys = min([], default=xs)
    ys.append(1)
    return len(xs)

# %% sum start alias | agrees or refused | size 2
@mechanism
def m(q: queries(0,1)):
    xs = [q[0]]
    ys = sum([], xs)
    ys.append(1)
    return len(xs)

# %% nested param slice | agrees or refused | size 2
@mechanism
def m(q: queries(0,1), table=[[0], [1]]):
    rows = table[0:1]
    row = rows[0]
    row.append(5)
    return len(table[0])

# %% list<tuple | agrees or refused | size 2
@mechanism
def m(q: queries(0,1)):
    return [1] < (2,)

# %% sum str | agrees or refused | size 2
@mechanism
def m(q: queries(0,1)):
    return sum(['a'], 'b')

# %% helper lambda | agrees or refused | size 2
h = lambda x: x + 1
@mechanism
def m(q: queries(0,1)):
    return h(q[0])

# %% helper lambda in dict | agrees or refused | size 2
T = {
  'a': lambda x: x + 1,
  'b': 2 }
h = T['a']
@mechanism
def m(q: queries(0,1)):
    return h(q[0])

# %% comprehension own name | agrees or refused | size 2
@mechanism
def m(q: queries(0,1)):
    q = [q for q in q]
    return q

# %% q percent | agrees or refused | size 2
@mechanism
def m(q: queries(0,1)):
    return '%d %d' % (q[0], q[1])

# %% chain assign | agrees or refused | size 2
@mechanism
def m(q: queries(0,1)):
    a = b = [q[0]]
    a = a + [1]
    b.append(2)
    return (a, b)

# %% chain assign alias | agrees or refused | size 2
@mechanism
def m(q: queries(0,1)):
    a = b = [q[0]]
    b.append(2)
    return (a, b)

# %% unpack mismatch | agrees or refused | size 2
@mechanism
def m(q: queries(0,1)):
    a, b, c = q
    return a

# %% pow neg | agrees or refused | size 2
@mechanism
def m(q: queries(0,1)):
    return 2 ** -1

# %% 1L str cmp | agrees or refused | size 2
@mechanism
def m(q: queries(0,1)):
    return 'a' < 1

# %% alias via tuple | agrees or refused | size 2
@mechanism
def m(q: queries(0,1)):
    a = [q[0]]
    t = (a, 1)
    a.append(1)
    return t

# %% alias via nested | agrees or refused | size 2
@mechanism
def m(q: queries(0,1)):
    a = [q[0]]
    b = [a]
    c = b[0]
    c.append(1)
    return a

# %% alias times | agrees or refused | size 2
@mechanism
def m(q: queries(0,1)):
    rows = [[0]] * 2
    r = rows[0]
    r.append(1)
    return rows

# %% alias cond | agrees or refused | size 2
@mechanism
def m(q: queries(0,1)):
    a = [0]
    b = [1]
    c = a if q[0] else b
    c.append(5)
    return (a, b)

# %% alias and | agrees or refused | size 2
@mechanism
def m(q: queries(0,1)):
    a = [0]
    c = a or [1]
    c.append(5)
    return a

# %% alias += | agrees or refused | size 2
@mechanism
def m(q: queries(0,1)):
    a = [0]
    c = a
    c += [5]
    return a

# %% alias slot | agrees or refused | size 2
@mechanism
def m(q: queries(0,1)):
    rows = [0, 0]
    r = [1]
    rows[0] = r
    r.append(2)
    return rows

# %% elem list alias | agrees or refused | size 2
@mechanism
def m(q: queries(0,1)):
    rows = [[q[0]], [1]]
    a = rows[0]
    rows.append([3])
    a.append(5)
    return rows

# %% elem in tuple alias | agrees or refused | size 2
@mechanism
def m(q: queries(0,1)):
    xs = [0]
    t = (xs, 1)
    u = t[0]
    u.append(1)
    return t

# %% any error later | agrees or refused | size 2
@mechanism
def m(q: queries(0,1)):
    return any(1 // v for v in [1, 0])

# %% all error later | agrees or refused | size 2
@mechanism
def m(q: queries(0,1)):
    return all(v for v in [0, 'x'] if v + 1)

# %% any list all evaluated | agrees or refused | size 2
@mechanism
def m(q: queries(0,1)):
    return any([1 // v for v in [1, 0]])

# %% in str int | agrees or refused | size 2
@mechanism
def m(q: queries(0,1)):
    return 1 in 'abc'

# %% frac str2 | agrees or refused | size 2
@mechanism
def m(q: queries(0,1)):
    return Fraction('1 / 2')

# %% frac str3 | agrees or refused | size 2
@mechanism
def m(q: queries(0,1)):
    return Fraction('1_000')

# %% frac none | agrees or refused | size 2
@mechanism
def m(q: queries(0,1)):
    return Fraction('ln(2)')

# %% frac range idx | agrees or refused | size 2
@mechanism
def m(q: queries(0,1)):
    return q[Fraction(1)]

# %% frac list mult | agrees or refused | size 2
@mechanism
def m(q: queries(0,1)):
    return [1] * Fraction(2)

# %% none plus | agrees or refused | size 2
@mechanism
def m(q: queries(0,1)):
    return None + 1

# %% none less | agrees or refused | size 2
@mechanism
def m(q: queries(0,1)):
    return None < 1

# %% mixed sort | agrees or refused | size 2
@mechanism
def m(q: queries(0,1)):
    return sorted([1, 'a'])

# %% dict eq | agrees or refused | size 2
@mechanism
def m(q: queries(0,1)):
    return {1: 2, 3: 4} == {3: 4, 1: 2}

# %% dict alias | agrees or refused | size 2
@mechanism
def m(q: queries(0,1)):
    x = [1]
    d = {0: x}
    y = d[0]
    y.append(2)
    return x

# %% dict unhashable | agrees or refused | size 2
@mechanism
def m(q: queries(0,1)):
    return {[1]: 2}

# %% dict unhashable lookup | agrees or refused | size 2
@mechanism
def m(q: queries(0,1)):
    return {1: 2}[[1]]

# %% dict in list key | agrees or refused | size 2
@mechanism
def m(q: queries(0,1)):
    return [1] in {1: 2}

# %% dict assign | agrees or refused | size 2
@mechanism
def m(q: queries(0,1)):
    d = {0: 1}
    d[1] = 2
    return d[1]
