"""Small programs, each with one point where a translation could differ from Python: it must not."""

from __future__ import annotations

import pytest
from tests.amounts import examples
from tests.programs import compared, load

from privproof import LanguageError

# For every program: the length of its lists, and its text.
AGREEING = {
    "q==list": (
        2,
        """\
@mechanism
def m(q: queries(0,1)):
    return q == [0, 1]
""",
    ),
    "q==tuple": (
        2,
        """\
@mechanism
def m(q: queries(0,1)):
    return q == (0, 1)
""",
    ),
    "q*2": (
        2,
        """\
@mechanism
def m(q: queries(0,1)):
    return (q * 2)[0] == 1
""",
    ),
    "substring": (
        2,
        """\
@mechanism
def m(q: queries(0,1)):
    return 'ab' in 'abc'
""",
    ),
    "str slice": (
        2,
        """\
@mechanism
def m(q: queries(0,1)):
    return 'abc'[0:2]
""",
    ),
    "str count": (
        2,
        """\
@mechanism
def m(q: queries(0,1)):
    return 'abc'.count('bc')
""",
    ),
    "uadd": (
        2,
        """\
@mechanism
def m(q: queries(0,1)):
    return +bernoulli('1/2')
""",
    ),
    "dict dup": (
        2,
        """\
@mechanism
def m(q: queries(0,1)):
    return {q[0]: 'x', 1: 'y'}[1]
""",
    ),
    "dict empty truth": (
        2,
        """\
@mechanism
def m(q: queries(0,1)):
    return 1 if {} else 0
""",
    ),
    "dict returned": (
        2,
        """\
@mechanism
def m(q: queries(0,1)):
    return {q[0]: 'x'}
""",
    ),
    "shadow range": (
        2,
        """\
def range(n):
    return [7, 8]
@mechanism
def m(q: queries(0,1)):
    return [i for i in range(1)]
""",
    ),
    "shadow enumerate": (
        2,
        """\
def enumerate(n):
    return [(7, 8)]
@mechanism
def m(q: queries(0,1)):
    s = 0
    for i, x in enumerate(q):
        s += i
    return s
""",
    ),
    "having helper": (
        2,
        """\
@mechanism
def h(x: integer(0,1), k=1):
    return k * x
h2 = h.having(k=2)
@mechanism
def m(q: queries(0,1)):
    return h2(q[0])
""",
    ),
    "public stream early end": (
        2,
        """\
@mechanism
def m(x: integer(0,1), r: public(stream_of('a','b'))):
    if x == 0:
        yield 'zero'
        return
    yield 'one'
    for v in r:
        yield 'k'
""",
    ),
    "public stream early end2": (
        2,
        """\
@mechanism
def m(x: integer(0,1), r: public(stream_of('a','b'))):
    if x == 0:
        yield 'zero'
        return
    yield 'one'
    return
    for v in r:
        yield 'k'
""",
    ),
    "public stream early return": (
        2,
        """\
@mechanism
def m(x: integer(0,1), r: public(stream_of('a','b'))):
    if bernoulli('1/2'):
        return x
    for v in r:
        return 'k'
""",
    ),
    "opposite tails": (
        2,
        """\
@mechanism
def m(x: integer(0,1)):
    c = 0 if randomized_response(x, truth='3/4') == 1 else 10
    z = geometric(c, alpha='1/2')
    if c == 0:
        if z <= 0:
            return 'low'
        return z
    if z >= 10:
        return 'low'
    return z
""",
    ),
    "1 and True": (
        2,
        """\
@mechanism
def m(x: integer(0,1)):
    if bernoulli('1/2'):
        return True
    return 1
""",
    ),
    "law cache nested": (
        2,
        """\
@mechanism
def m(x: integer(0,1)):
    a = randomized_response(x, truth='1/2', among=(0, 1))
    b = randomized_response(x, truth='1/2', among=(False, True))
    return (a, b)
""",
    ),
    "law cache choice": (
        2,
        """\
@mechanism
def m(x: integer(0,1)):
    a = choice({0: '1/2', 1: '1/2'})
    b = choice({False: '1/2', True: '1/2'})
    return (a, b)
""",
    ),
    "indented docstring": (
        2,
        """\
def make():
    @mechanism
    def m(q: queries(0,1)):
        '''doc
at column zero
        '''
        return q[0]
    return m
m = make()
""",
    ),
    "aligned tails": (
        2,
        """\
@mechanism
def m(q: queries(0,1)):
    z = geometric(0, alpha='1/2')
    c = bernoulli('1/2')
    if z < (3 if c else 6):
        yield 'low'
        return
    yield z
    if c:
        yield 'x' if q[0] else 'y'
        q[1]
    else:
        w = q[1]
        yield 'x' if q[0] else 'y'
""",
    ),
    "q in lists": (
        2,
        """\
@mechanism
def m(q: queries(0,1)):
    return q in [[0, 1], [1, 1]]
""",
    ),
    "q<list": (
        2,
        """\
@mechanism
def m(q: queries(0,1)):
    return q < [0, 1]
""",
    ),
    "q cond list": (
        2,
        """\
@mechanism
def m(q: queries(0,1)):
    xs = q if bernoulli('1/2') else [0, 0]
    return xs == [0, 0]
""",
    ),
    "q[0:1]==list": (
        2,
        """\
@mechanism
def m(q: queries(0,1)):
    return q[0:1] == [1]
""",
    ),
    "list(q)==list": (
        2,
        """\
@mechanism
def m(q: queries(0,1)):
    return list(q) == [1, 0]
""",
    ),
    "2*q": (
        2,
        """\
@mechanism
def m(q: queries(0,1)):
    return sum(2 * q)
""",
    ),
    "q or []": (
        2,
        """\
@mechanism
def m(q: queries(0,1)):
    return (q or [1]) == [1, 1]
""",
    ),
    "max(q,[0,1])": (
        2,
        """\
@mechanism
def m(q: queries(0,1)):
    return max(q, [0, 1])
""",
    ),
    "min(q,[0,1])[0]": (
        2,
        """\
@mechanism
def m(q: queries(0,1)):
    return min(q, [0, 1])[0]
""",
    ),
    "bool(q)": (
        2,
        """\
@mechanism
def m(q: queries(0,1)):
    return bool(q)
""",
    ),
    "not q": (
        2,
        """\
@mechanism
def m(q: queries(0,1)):
    return not q
""",
    ),
    "sum start q": (
        2,
        """\
@mechanism
def m(q: queries(0,1)):
    return sum([[1]], q)
""",
    ),
    "sum start q empty": (
        2,
        """\
@mechanism
def m(q: queries(0,1)):
    return sum([], q)
""",
    ),
    "tuple of q": (
        2,
        """\
@mechanism
def m(q: queries(0,1)):
    t = (q, 1)
    return t[0][1]
""",
    ),
    "match q": (
        2,
        """\
@mechanism
def m(q: queries(0,1)):
    match q:
        case 1:
            return 0
        case _:
            return q[0]
""",
    ),
    "match tuple value": (
        2,
        """\
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
""",
    ),
    "match falls": (
        2,
        """\
@mechanism
def m(q: queries(0,1)):
    match bernoulli('1/2'):
        case True:
            r = 1
        case 0:
            r = 2
    return r
""",
    ),
    "public list eq": (
        2,
        """\
@mechanism
def m(q: queries(0,1), t: public(queries(0,1))):
    return q[0] if t == [0, 1] else 0
""",
    ),
    "is None list": (
        2,
        """\
@mechanism
def m(q: queries(0,1)):
    return q is None
""",
    ),
    "is True": (
        2,
        """\
@mechanism
def m(q: queries(0,1)):
    return (q[0] == 1) is True
""",
    ),
    "int(True)": (
        2,
        """\
@mechanism
def m(q: queries(0,1)):
    return int(q[0] == 1) + True
""",
    ),
    "record": (
        2,
        """\
@mechanism
def m(q: records('a','b')):
    return randomized_response(q[0], truth='3/4', among=('a','b'))
""",
    ),
    "record tuple": (
        2,
        """\
@mechanism
def m(q: records((0,'a'),(1,'b'))):
    k, v = q[0]
    return randomized_response(k, truth='3/4')
""",
    ),
    "records values eq": (
        2,
        """\
@mechanism
def m(q: records((0,1),(1,0))):
    return q[0] == (0, 1)
""",
    ),
    "records values eq list": (
        2,
        """\
@mechanism
def m(q: records((0,1),(1,0))):
    return q[0] == [0, 1]
""",
    ),
    "gen on value": (
        2,
        """\
@mechanism
def m(x: integer(0,1)):
    yield randomized_response(x, truth='3/4')
    yield randomized_response(x, truth='3/4')
""",
    ),
    "gen early": (
        2,
        """\
@mechanism
def m(q: queries(0,1)):
    for v in q:
        if randomized_response(v, truth='3/4'):
            yield 'T'
            return
        yield 'F'
""",
    ),
    "gen unaligned": (
        2,
        """\
@mechanism
def m(q: queries(0,1)):
    for v in q:
        if randomized_response(v, truth='3/4'):
            yield 'T'
    yield 'end'
""",
    ),
    "gen before": (
        2,
        """\
@mechanism
def m(q: queries(0,1)):
    yield 'start'
    for v in q:
        yield randomized_response(v, truth='3/4')
    yield 'end'
""",
    ),
    "gen maybe before end": (
        2,
        """\
@mechanism
def m(q: queries(0,1)):
    if bernoulli('1/2'):
        yield 'none'
        return
    for v in q:
        yield randomized_response(v, truth='3/4')
""",
    ),
    "gen none": (
        2,
        """\
@mechanism
def m(q: queries(0,1)):
    if bernoulli('1/2'):
        return
    for v in q:
        yield randomized_response(v, truth='3/4')
""",
    ),
    "gen tails early": (
        2,
        """\
@mechanism
def m(q: queries(0,1)):
    z = geometric(0, alpha='1/2')
    if z < 3:
        yield 'low'
        return
    yield z
    yield q[0]
""",
    ),
    "stream geo": (
        2,
        """\
@mechanism
def m(s: stream(0,1)):
    for v in s:
        yield geometric(v, alpha='1/2')
""",
    ),
    "stream return": (
        3,
        """\
@mechanism
def m(s: stream(0,1)):
    for v in s:
        if randomized_response(v, truth='3/4'):
            return v
""",
    ),
    "stream return quiet": (
        3,
        """\
@mechanism
def m(s: stream(0,1)):
    for v in s:
        if randomized_response(v, truth='3/4'):
            return
        yield 0
""",
    ),
    "stream quiet": (
        3,
        """\
@mechanism
def m(s: stream(0,1)):
    for v in s:
        if randomized_response(v, truth='3/4'):
            yield 0
""",
    ),
    "stream after loop": (
        3,
        """\
@mechanism
def m(s: stream(0,1)):
    n = 0
    for v in s:
        n += 1
        if n == 2:
            break
    yield n
    for v in s:
        yield randomized_response(v, truth='3/4')
""",
    ),
    "public stream": (
        2,
        """\
@mechanism
def m(x: integer(0,1), r: public(stream_of('a','b'))):
    for v in r:
        if v == 'a':
            yield randomized_response(x, truth='3/4')
        else:
            yield 'no'
""",
    ),
    "public stream list": (
        2,
        """\
@mechanism
def m(q: queries(0,1), r: public(stream(0,1))):
    for v in r:
        yield randomized_response(q[v], truth='3/4')
""",
    ),
    "public stream halts": (
        2,
        """\
@mechanism
def m(x: integer(0,1), r: public(stream_of('a','b'))):
    for v in r:
        if v == 'a':
            yield 'A'
            if randomized_response(x, truth='3/4'):
                return
        else:
            yield 'no'
""",
    ),
    "two privates": (
        2,
        """\
@mechanism
def m(x: integer(0,2), y: integer(0,1)):
    return truncated_geometric(x + y, low=0, high=3, alpha='1/2')
""",
    ),
    "list and value": (
        2,
        """\
@mechanism
def m(q: queries(0,1), y: integer(0,1)):
    return randomized_response((q[0] + q[1] + y) % 2, truth='3/4')
""",
    ),
    "one": (
        2,
        """\
@mechanism(neighbours='one')
def m(q: queries(0,2)):
    return truncated_geometric(sum(q), low=0, high=4, alpha='1/2')
""",
    ),
    "monotone": (
        2,
        """\
@mechanism(neighbours='monotone')
def m(q: queries(0,2)):
    return truncated_geometric(q[0]-q[1], low=-2, high=2, alpha='1/2')
""",
    ),
    "monotone two": (
        2,
        """\
@mechanism(neighbours='monotone')
def m(x: integer(0,2), y: integer(0,2)):
    return truncated_geometric(x-y, low=-2, high=2, alpha='1/2')
""",
    ),
    "monotone list+value": (
        2,
        """\
@mechanism(neighbours='monotone')
def m(q: queries(0,1), y: integer(0,1)):
    return randomized_response(q[0], truth='3/4')
""",
    ),
    "user": (
        2,
        """\
def near(a, b):
    return sum(x != y for x, y in zip(a, b)) == 2
@mechanism(neighbours=near)
def m(q: queries(0,2)):
    return truncated_geometric(sum(q), low=0, high=4, alpha='1/2')
""",
    ),
    "user asym": (
        2,
        """\
def near(a, b):
    return a[0] < b[0]
@mechanism(neighbours=near)
def m(q: queries(0,2)):
    return truncated_geometric(sum(q), low=0, high=4, alpha='1/2')
""",
    ),
    "user reflexive": (
        2,
        """\
def near(a, b):
    return True
@mechanism(neighbours=near)
def m(x: integer(0,2)):
    return truncated_geometric(x, low=0, high=2, alpha='1/2')
""",
    ),
    "user on value": (
        2,
        """\
def near(a, b):
    return abs(a - b) == 2
@mechanism(neighbours=near)
def m(x: integer(0,2)):
    return truncated_geometric(x, low=0, high=2, alpha='1/2')
""",
    ),
    "sens": (
        2,
        """\
@mechanism
def m(x: integer(0,4, sensitivity=2)):
    return truncated_geometric(x, low=0, high=4, alpha='1/2')
""",
    ),
    "backwards": (
        2,
        """\
@mechanism
def m(q: queries(0,1)):
    out = []
    i = len(q) - 1
    while i >= 0:
        out.append(randomized_response(q[i], truth='3/4'))
        i -= 1
    return out
""",
    ),
    "i-1": (
        3,
        """\
@mechanism
def m(q: queries(0,1)):
    out = []
    for i in range(len(q)):
        out.append(randomized_response(q[i] != q[i - 1], truth='3/4'))
    return out
""",
    ),
    "i+1": (
        3,
        """\
@mechanism
def m(q: queries(0,1)):
    out = []
    for i in range(len(q) - 1):
        out.append(randomized_response(q[i] != q[i + 1], truth='3/4'))
    return out
""",
    ),
    "twice": (
        3,
        """\
@mechanism
def m(q: queries(0,1)):
    s = sum(q)
    out = []
    for v in q:
        out.append(randomized_response(v, truth='3/4') + s * 0)
    return out
""",
    ),
    "negative i": (
        3,
        """\
@mechanism
def m(q: queries(0,1)):
    i = -len(q)
    s = 0
    while i < len(q):
        s = 2 * s + q[i]
        i += 1
    return randomized_response(s % 2, truth='3/4')
""",
    ),
    "rejection": (
        2,
        """\
@mechanism
def m(x: integer(0,2)):
    while True:
        z = geometric(x, alpha='1/2')
        if 0 <= z <= 2:
            return z
""",
    ),
    "geo list": (
        2,
        """\
@mechanism
def m(q: queries(0,1)):
    return [geometric(v, alpha='1/2') for v in q]
""",
    ),
    "geo abs": (
        2,
        """\
@mechanism
def m(x: integer(0,1)):
    return abs(geometric(x, alpha='1/2'))
""",
    ),
    "geo neg": (
        2,
        """\
@mechanism
def m(x: integer(0,1)):
    return -geometric(x, alpha='1/2')
""",
    ),
    "geo eq": (
        2,
        """\
@mechanism
def m(x: integer(0,1)):
    z = geometric(x, alpha='1/2')
    return z == 3 or z if z != 4 else 'four'
""",
    ),
    "geo in": (
        2,
        """\
@mechanism
def m(x: integer(0,1)):
    return geometric(x, alpha='1/2') in (1, 3, 'a', None)
""",
    ),
    "geo table": (
        2,
        """\
@mechanism
def m(x: integer(0,1)):
    z = min(max(geometric(x, alpha='1/2'), 0), 2)
    return {0: 'a', 1: 'b', 2: 'c'}[z]
""",
    ),
    "geo bool": (
        2,
        """\
@mechanism
def m(x: integer(0,1)):
    return bool(geometric(x, alpha='1/2'))
""",
    ),
    "geo and": (
        2,
        """\
@mechanism
def m(x: integer(0,1)):
    return geometric(x, alpha='1/2') and 'x'
""",
    ),
    "geo or": (
        2,
        """\
@mechanism
def m(x: integer(0,1)):
    return geometric(x, alpha='1/2') or 'x'
""",
    ),
    "geo text": (
        2,
        """\
@mechanism
def m(x: integer(0,1)):
    return geometric(x, alpha='1/2') == 'x'
""",
    ),
    "expmech": (
        2,
        """\
@mechanism
def m(q: queries(0,2)):
    return exponential_mechanism(q, epsilon='ln(4)')
""",
    ),
    "expmech2": (
        2,
        """\
@mechanism
def m(q: queries(0,2)):
    return exponential_mechanism([v * 2 for v in q], epsilon='ln(4)', sensitivity=2)
""",
    ),
    "choice var": (
        2,
        """\
@mechanism
def m(x: integer(0,1)):
    return choice({x: '1/3', 'b': '2/3'})
""",
    ),
    "choice zero": (
        2,
        """\
@mechanism
def m(x: integer(0,1)):
    return choice({0: 0, 1: 1})
""",
    ),
    "choice list value": (
        2,
        """\
@mechanism
def m(x: integer(0,1)):
    return choice({(0, x): '1/2', (1, 1): '1/2'})
""",
    ),
    "trunc out": (
        2,
        """\
@mechanism
def m(x: integer(0,5)):
    return truncated_geometric(x, low=1, high=3, alpha='1/3')
""",
    ),
    "trunc eps": (
        2,
        """\
@mechanism
def m(x: integer(0,2)):
    return truncated_geometric(x, low=0, high=2, epsilon='1/2')
""",
    ),
    "helper early": (
        2,
        """\
def h(x):
    for i in range(3):
        if i == x:
            return i * 10
    return -1
@mechanism
def m(q: queries(0,1)):
    return randomized_response(h(q[0]), truth='3/4', among=(0, 10))
""",
    ),
    "helper none": (
        2,
        """\
def h(x):
    if x:
        return
    return 3
@mechanism
def m(q: queries(0,1)):
    return h(q[0])
""",
    ),
    "helper append": (
        2,
        """\
def h(xs, v):
    xs.append(v)
@mechanism
def m(q: queries(0,1)):
    out = []
    for v in q:
        h(out, randomized_response(v, truth='3/4'))
    return out
""",
    ),
    "helper alias arg": (
        2,
        """\
def h(xs, ys):
    xs.append(1)
    return len(ys)
@mechanism
def m(q: queries(0,1)):
    a = [q[0]]
    return h(a, a)
""",
    ),
    "helper alias rebind": (
        2,
        """\
def h(xs):
    xs = xs + [1]
    return xs
@mechanism
def m(q: queries(0,1)):
    a = [q[0]]
    b = h(a)
    b.append(2)
    return (a, b)
""",
    ),
    "helper list expr": (
        2,
        """\
def h(xs):
    xs.append(1)
    return xs
@mechanism
def m(q: queries(0,1)):
    a = [q[0]]
    b = h(list(a))
    return (a, b)
""",
    ),
    "helper param aug": (
        2,
        """\
def h(x):
    x += 1
    return x
@mechanism
def m(q: queries(0,1)):
    y = q[0]
    z = h(y)
    return (y, z)
""",
    ),
    "helper shadow": (
        2,
        """\
def h(v):
    s = 5
    return v + s
@mechanism
def m(q: queries(0,1)):
    s = 0
    for v in q:
        s += h(s + v)
    return s
""",
    ),
    "helper nested": (
        2,
        """\
def g(x):
    return x + 1
def h(x, f=2):
    return g(g(x)) * f
@mechanism
def m(q: queries(0,1)):
    return h(g(q[0]), f=g(1))
""",
    ),
    "list grow loop": (
        2,
        """\
@mechanism
def m(q: queries(0,1)):
    xs = [q[0]]
    for x in xs:
        if len(xs) < 3:
            xs.append(x + 1)
    return xs
""",
    ),
    "loop var after": (
        2,
        """\
@mechanism
def m(q: queries(0,1)):
    for i, v in enumerate(q):
        pass
    return (i, v)
""",
    ),
    "loop reassign i": (
        2,
        """\
@mechanism
def m(q: queries(0,1)):
    s = 0
    for i in range(3):
        i = i * 2
        s += i
    return s
""",
    ),
    "range neg": (
        2,
        """\
@mechanism
def m(q: queries(0,1)):
    return [i for i in range(3, -1, -2)]
""",
    ),
    "nested comp": (
        2,
        """\
@mechanism
def m(q: queries(0,1)):
    return [[i + j for j in range(i) if j != 1] for i in range(3) if i]
""",
    ),
    "comp two for": (
        2,
        """\
@mechanism
def m(q: queries(0,1)):
    return [i * j for i in range(3) for j in range(i) if bernoulli('1/2')]
""",
    ),
    "comp cond noise": (
        2,
        """\
@mechanism
def m(q: queries(0,1)):
    return [v for v in q if randomized_response(v, truth='3/4') if v or bernoulli('1/3')]
""",
    ),
    "comp leak": (
        2,
        """\
@mechanism
def m(q: queries(0,1)):
    x = 7
    ys = [x for x in q]
    return x
""",
    ),
    "comp class": (
        2,
        """\
@mechanism
def m(q: queries(0,1)):
    x = 1
    return [x + y for y in [x, 2] for x in [y, 5]]
""",
    ),
    "aug order": (
        2,
        """\
@mechanism
def m(q: queries(0,1)):
    x = 1
    x += x + 1 if bernoulli('1/2') else 5
    return x
""",
    ),
    "swap": (
        2,
        """\
@mechanism
def m(q: queries(0,1)):
    xs = [1, 2, 3]
    i = 0
    i, xs[i] = 2, 9
    xs[0], xs[1] = xs[1], xs[0]
    return xs
""",
    ),
    "div": (
        2,
        """\
@mechanism
def m(q: queries(0,1)):
    return Fraction(1) / (q[0] + 1)
""",
    ),
    "floor mod neg": (
        2,
        """\
@mechanism
def m(q: queries(0,1)):
    return (-7 // 2, -7 % 3, 2 ** 5, (-2) ** 3, -2 ** 2)
""",
    ),
    "alias dead then alive": (
        2,
        """\
@mechanism
def m(q: queries(0,1)):
    a = [0]
    b = a
    a = [1]
    b.append(2)
    return (a, b)
""",
    ),
    "empty fn": (
        2,
        """\
@mechanism
def m(q: queries(0,1)):
    pass
""",
    ),
    "annotated": (
        2,
        """\
from typing import Annotated
@mechanism
def m(q: Annotated[list[int], queries(0,1)], k: int = 3) -> int:
    n: int = 0
    t: list[int]
    return randomized_response(q[0], truth=Fraction(k, 4))
""",
    ),
    "while cond noise": (
        2,
        """\
@mechanism
def m(x: integer(0,1)):
    n = 0
    while bernoulli('1/2') and n < 3:
        n += 1
        if n == 2:
            continue
    return n
""",
    ),
    "state 1 True": (
        2,
        """\
@mechanism
def m(q: queries(0,1)):
    a = 1 if randomized_response(q[0], truth='3/4') else True
    b = q[1]
    return (a, randomized_response(b, truth='3/4'))
""",
    ),
    "elem then append": (
        2,
        """\
@mechanism
def m(q: queries(0,1)):
    xs = [q[0], 2]
    a = xs[0]
    xs.append(a)
    xs[0], xs[1] = xs[1], xs[0]
    return xs
""",
    ),
    "for grow": (
        2,
        """\
@mechanism
def m(q: queries(0,1)):
    xs = [q[0]]
    for x in xs:
        if len(xs) < 3:
            xs.append(x + 1)
    return xs
""",
    ),
    "zip grow": (
        3,
        """\
@mechanism
def m(q: queries(0,1)):
    xs = [0, 1]
    out = []
    for x, y in zip(xs, q):
        out.append((x, y))
        if len(xs) < 5:
            xs.append(9)
    return out
""",
    ),
    "zip grow self": (
        2,
        """\
@mechanism
def m(q: queries(0,1)):
    xs = [0]
    out = []
    for x, y in zip(xs, [1, 2, 3]):
        out.append(x)
        xs.append(y)
    return (xs, out)
""",
    ),
    "enumerate grow": (
        2,
        """\
@mechanism
def m(q: queries(0,1)):
    xs = [q[0]]
    for i, x in enumerate(xs):
        if i < 2:
            xs.append(i)
    return xs
""",
    ),
    "loop list replaced via helper": (
        2,
        """\
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
""",
    ),
    "helper stmt call with list read": (
        2,
        """\
def push(xs, v):
    xs.append(v)
    return v
@mechanism
def m(q: queries(0,1)):
    xs = []
    a = push(xs, len(xs))
    b = push(xs, len(xs))
    return (a, b, xs)
""",
    ),
    "helper nested mutate": (
        2,
        """\
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
""",
    ),
    "return mutate": (
        2,
        """\
def push(xs):
    xs.append(1)
    return 5
@mechanism
def m(q: queries(0,1)):
    xs = [q[0]]
    return push(xs)
""",
    ),
    "helper writes own list": (
        2,
        """\
def mk(v):
    xs = []
    xs.append(v)
    xs += [v]
    return xs
@mechanism
def m(q: queries(0,1)):
    return len(mk(1)) + mk(q[0])[1]
""",
    ),
    "stale comp var": (
        2,
        """\
@mechanism
def m(q: queries(0,1)):
    out = []
    for i in range(2):
        out = out + [v for v in q if v >= i]
    return out
""",
    ),
    "fold nested": (
        2,
        """\
@mechanism
def m(q: queries(0,1)):
    return (sum(v * w for v in q for w in q if v != w), any(v > w for v in q for w in (0, 1)), all(v for v in q if v))
""",
    ),
    "max tie types": (
        2,
        """\
@mechanism
def m(q: queries(0,1)):
    return (max(1, True), max(True, 1), min(0, False), sorted([1, True, 0, False]))
""",
    ),
    "in bool": (
        2,
        """\
@mechanism
def m(q: queries(0,1)):
    return (True in (1, 2), 1 in [True], Fraction(1) in (1,), None in (0,), '' in 'a', 'b' in ('abc',))
""",
    ),
    "str ops": (
        2,
        """\
@mechanism
def m(q: queries(0,1)):
    s = 'abc'
    return (s[0], s[-1], s[1:], s * 2, 2 * s, s + 'd', len(s), s < 'b', s == 'abc', [c for c in s], list(s), tuple(s), sorted('cab'), min('ba'), s.index('c'), 'a' in s)
""",  # noqa: E501
    ),
    "str index sub": (
        2,
        """\
@mechanism
def m(q: queries(0,1)):
    return ('abc'.index('bc'), 'aaa'.count('aa'), 'abc'.count(''))
""",
    ),
    "str unpack": (
        2,
        """\
@mechanism
def m(q: queries(0,1)):
    a, b = 'xy'
    return (b, a)
""",
    ),
    "tuple ops": (
        2,
        """\
@mechanism
def m(q: queries(0,1)):
    t = (1, 2)
    t += (3,)
    t = t * 2
    return (t, t[1:3], t.count(1), t.index(3), (1,) < (1, 0), () == [], len(()), (1, 2) == [1, 2])
""",
    ),
    "list ops": (
        2,
        """\
@mechanism
def m(q: queries(0,1)):
    x = [1, 2]
    x *= 2
    x += (5,)
    x += 'ab'
    return (x, x[1:3], x[5:], x[-2:], x.count(1), [1] < [1, 0], [] == [], [1, [2]] == [1, [2]], x * 0, x * -1)
""",
    ),
    "frac ops": (
        2,
        """\
@mechanism
def m(q: queries(0,1)):
    h = Fraction(1, 2)
    return (h + 1, h * 2, h / 2, 1 / h, h // 1, h % 1, -h, h ** 2, h ** -2, int(h), abs(-h), h == Fraction('0.5'), h < 1, Fraction('1/3'), Fraction(3), Fraction(h, 2), Fraction(True), bool(h - h))
""",  # noqa: E501
    ),
    "frac str": (
        2,
        """\
@mechanism
def m(q: queries(0,1)):
    return (Fraction('1e-2'), Fraction(' 1/2 '), Fraction('.5'))
""",
    ),
    "bool ops": (
        2,
        """\
@mechanism
def m(q: queries(0,1)):
    t = q[0] == 1
    return (t + 1, -t, +t, t * 2, not t, t and 5, t or 'x', int(t), bool(3), t == 1, t is True, abs(t), t ** 2, t // 1, t % 2, [4, 5][t], sum([t, t]))
""",  # noqa: E501
    ),
    "none ops": (
        2,
        """\
@mechanism
def m(q: queries(0,1)):
    x = None
    if x is None and not x and x == None:
        return 'n'
    return x
""",
    ),
    "dict ops": (
        2,
        """\
@mechanism
def m(q: queries(0,1)):
    d = {'a': [1], 2: (3,), True: 'x'}
    return (d['a'], d[2], d[1], len(d), 'a' in d, 5 not in d)
""",
    ),
    "dict key tuple": (
        2,
        """\
@mechanism
def m(q: queries(0,1)):
    return {(0, 0): 'a', (0, 1): 'b', (1, 0): 'c', (1, 1): 'd'}[q[0], q[1]]
""",
    ),
    "module dict": (
        2,
        """\
from types import MappingProxyType
T = MappingProxyType({0: 'a', 1: 'b'})
@mechanism
def m(q: queries(0,1)):
    return T[randomized_response(q[0], truth='3/4')]
""",
    ),
    "param dict": (
        2,
        """\
@mechanism
def m(q: queries(0,1), T={0: 'a', 1: 'b'}):
    return T[randomized_response(q[0], truth='3/4')]
""",
    ),
    "choice param": (
        2,
        """\
@mechanism
def m(x: integer(0,1), T={0: '1/3', 1: '2/3'}):
    return choice(T) + x * 0
""",
    ),
    "slice tails": (
        2,
        """\
@mechanism
def m(q: queries(0,1)):
    return [geometric(v, alpha='1/2') for v in q][0:1]
""",
    ),
    "geo max two": (
        2,
        """\
@mechanism
def m(x: integer(0,1)):
    z = geometric(x, alpha='1/2')
    return max(z, 3, z - 1)
""",
    ),
    "geo z-z": (
        2,
        """\
@mechanism
def m(x: integer(0,1)):
    z = geometric(x, alpha='1/2')
    return z - z + x * 0
""",
    ),
    "geo true": (
        2,
        """\
@mechanism
def m(x: integer(0,1)):
    z = geometric(x, alpha='1/2')
    return z * True + True
""",
    ),
    "geo cmp chain": (
        2,
        """\
@mechanism
def m(x: integer(0,1)):
    z = geometric(x, alpha='1/2')
    return -1 < z <= 2 != 5
""",
    ),
    "geo match": (
        2,
        """\
@mechanism
def m(x: integer(0,1)):
    match geometric(x, alpha='1/2'):
        case 0:
            return 'zero'
        case 1 | 2:
            return 'few'
    return 'other'
""",
    ),
    "geo tuple cmp": (
        2,
        """\
@mechanism
def m(x: integer(0,1)):
    z = geometric(x, alpha='1/2')
    return (z, 1) < (1, 0)
""",
    ),
    "geo list eq": (
        2,
        """\
@mechanism
def m(x: integer(0,1)):
    z = geometric(x, alpha='1/2')
    return [z] == [1]
""",
    ),
    "geo neg offset out": (
        2,
        """\
@mechanism
def m(x: integer(0,2)):
    z = geometric(x, alpha='1/2')
    return -z if z < 1 else z
""",
    ),
    "priv stream + public": (
        2,
        """\
@mechanism
def m(t: public(integer(0,2)), s: stream(0,1)):
    for v in s:
        yield truncated_geometric(v + t, low=0, high=2, alpha='1/2')
""",
    ),
    "pub stream gen two outputs": (
        2,
        """\
@mechanism
def m(x: integer(0,1), s: public(stream(0,1))):
    yield 'hi'
    for v in s:
        yield v
        if randomized_response(x, truth='3/4'):
            yield 'extra'
""",
    ),
    "pub list priv list": (
        2,
        """\
@mechanism
def m(q: queries(0,1), t: public(queries(0,1))):
    return [randomized_response(v, truth='3/4') if w else w for v, w in zip(q, t)]
""",
    ),
    "size fixed": (
        2,
        """\
@mechanism
def m(q: queries(0,1,size=2), x: integer(0,1)):
    return randomized_response((q[0] + x) % 2, truth='3/4')
""",
    ),
    "user list pub": (
        2,
        """\
def near(a, b):
    return a[0] != b[0]
@mechanism(neighbours=near)
def m(q: queries(0,1), t: public(integer(0,1))):
    return randomized_response(q[t], truth='3/4')
""",
    ),
    "generator none out": (
        2,
        """\
@mechanism
def m(q: queries(0,1)):
    for v in q:
        if randomized_response(v, truth='3/4'):
            yield 1
""",
    ),
    "generator collected tails": (
        2,
        """\
@mechanism
def m(q: queries(0,1)):
    for v in q:
        z = geometric(v, alpha='1/2')
        if z > 1:
            yield z
""",
    ),
    "const unread": (
        2,
        """\
@mechanism
def m(q: queries(0,1)):
    return 5
""",
    ),
    "read only last": (
        3,
        """\
@mechanism
def m(q: queries(0,1)):
    return randomized_response(q[-1], truth='3/4')
""",
    ),
    "read only first": (
        3,
        """\
@mechanism
def m(q: queries(0,1)):
    return randomized_response(q[0], truth='3/4')
""",
    ),
    "gen reads last first": (
        3,
        """\
@mechanism
def m(q: queries(0,1)):
    yield randomized_response(q[-1], truth='3/4')
    for v in q:
        yield randomized_response(v, truth='2/3')
""",
    ),
    "window two vars": (
        3,
        """\
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
""",
    ),
    "window jump": (
        3,
        """\
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
""",
    ),
    "window bool idx": (
        2,
        """\
@mechanism
def m(q: queries(0,1)):
    i = False
    out = []
    while i < len(q):
        out.append(randomized_response(q[i], truth='3/4'))
        i += True
    return out
""",
    ),
    "window helper": (
        3,
        """\
def at(xs, i):
    return xs[i]
@mechanism
def m(q: queries(0,1)):
    out = []
    for i in range(len(q)):
        out.append(randomized_response(at(q, i) + at(q, i - 1) > 1, truth='3/4'))
    return out
""",
    ),
    "window nested loops": (
        3,
        """\
@mechanism
def m(q: queries(0,1)):
    n = 0
    for i in range(len(q)):
        for j in range(i, len(q)):
            if q[i] != q[j]:
                n += 1
    return truncated_geometric(n, low=0, high=2, alpha='1/2')
""",
    ),
    "window after break": (
        3,
        """\
@mechanism
def m(q: queries(0,1)):
    for i, v in enumerate(q):
        if randomized_response(v, truth='3/4'):
            break
    return (i, randomized_response(q[i], truth='2/3'))
""",
    ),
    "shadow builtin local": (
        2,
        """\
@mechanism
def m(q: queries(0,1)):
    len = 3
    return len
""",
    ),
    "shadow builtin global": (
        2,
        """\
def len(x):
    return 7
@mechanism
def m(q: queries(0,1)):
    return len(q)
""",
    ),
    "shadow noise": (
        2,
        """\
def geometric(x, alpha):
    return x
@mechanism
def m(x: integer(0,1)):
    return geometric(x, alpha='1/2')
""",
    ),
    "global shadow zip helper": (
        2,
        """\
def zip(a, b):
    return [(1, 2)]
@mechanism
def m(q: queries(0,1)):
    return [x + y for x, y in zip(q, q)]
""",
    ),
    "closure": (
        2,
        """\
def make(k):
    @mechanism
    def m(x: integer(0,1)):
        return randomized_response(x, truth=Fraction(k, 4))
    return m
m = make(3)
""",
    ),
    "closure rebound": (
        2,
        """\
def make():
    k = (1,)
    def h(x):
        return k[0] + x
    @mechanism
    def m(x: integer(0,1)):
        return h(x)
    return m
m = make()
""",
    ),
    "mech in mech": (
        2,
        """\
@mechanism
def h(x: integer(0,1), p='3/4'):
    return randomized_response(x, truth=p)
@mechanism
def m(q: queries(0,1)):
    return (h(q[0]), h(q[1], p='2/3'))
""",
    ),
    "docstring+pass": (
        2,
        """\
@mechanism
def m(x: integer(0,1)):
    '''doc'''
    pass
    ...
    return randomized_response(x, truth='3/4')
""",
    ),
    "multi line expr": (
        2,
        """\
@mechanism
def m(x: integer(0,1)):
    return (
        randomized_response(
            x,
            truth='3/4',
        )
    )
""",
    ),
    "semicolon": (
        2,
        """\
@mechanism
def m(x: integer(0,1)):
    a = 1; b = 2; return randomized_response(x, truth='3/4') + a * b
""",
    ),
}

# Programs that fail in Python, change a list under two names, or keep something between calls: refused, or as in Python.
PITFALLS = {
    "q+tuple": (
        2,
        """\
@mechanism
def m(q: queries(0,1)):
    return len(q + (1,))
""",
    ),
    "p=q;q+=": (
        2,
        """\
@mechanism
def m(q: queries(0,1)):
    p = q
    q += [5]
    return len(p)
""",
    ),
    "xs*=2": (
        2,
        """\
@mechanism
def m(q: queries(0,1)):
    xs = [q[0]]
    ys = xs
    xs *= 2
    return len(ys)
""",
    ),
    "order": (
        2,
        """\
def push(xs):
    xs.append(1)
    return 0
@mechanism
def m(q: queries(0,1)):
    xs = [q[0]]
    return len(xs) + push(xs)
""",
    ),
    "order tuple": (
        2,
        """\
def put(xs):
    xs[0] = 7
    return 0
@mechanism
def m(q: queries(0,1)):
    xs = [q[0]]
    a, b = xs[0], put(xs)
    return a
""",
    ),
    "stale local": (
        2,
        """\
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
""",
    ),
    "stale local same site": (
        2,
        """\
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
""",
    ),
    "param default list": (
        2,
        """\
@mechanism
def m(q: queries(0,1), xs=[]):
    xs.append(q[0])
    return len(xs)
""",
    ),
    "helper default list": (
        2,
        """\
def h(x, acc=[]):
    acc.append(x)
    return len(acc)
@mechanism
def m(q: queries(0,1)):
    return h(q[0]) + h(q[1])
""",
    ),
    "global list alias": (
        2,
        """\
XS = [0]
@mechanism
def m(q: queries(0,1)):
    xs = XS
    xs.append(q[0])
    return len(xs)
""",
    ),
    "any short circuit": (
        2,
        """\
def push(xs, v):
    xs.append(v)
    return v
@mechanism
def m(q: queries(0,1)):
    xs = []
    b = any(push(xs, v) for v in q)
    return (b, len(xs))
""",
    ),
    "genexp twice": (
        2,
        """\
@mechanism
def m(q: queries(0,1)):
    g = (x for x in q)
    a = sum(g)
    return (a, sum(g))
""",
    ),
    "genexp lazy": (
        2,
        """\
@mechanism
def m(q: queries(0,1)):
    n = 0
    out = []
    for v in (x + n for x in q):
        n += 1
        out.append(v)
    return out
""",
    ),
    "genexp returned": (
        2,
        """\
@mechanism
def m(q: queries(0,1)):
    return (x for x in q)
""",
    ),
    "genexp len": (
        2,
        """\
@mechanism
def m(q: queries(0,1)):
    return len(x for x in q)
""",
    ),
    "tuple copy": (
        2,
        """\
@mechanism
def m(q: queries(0,1)):
    return (1, 2).copy()
""",
    ),
    "Fraction kw": (
        2,
        """\
@mechanism
def m(q: queries(0,1)):
    return Fraction(numerator=1, denominator=2)
""",
    ),
    "dict iterate": (
        2,
        """\
@mechanism
def m(q: queries(0,1)):
    s = []
    for k in {0: 'x', 1: 'y'}:
        s.append(k)
    return s
""",
    ),
    "wraps": (
        2,
        """\
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
""",
    ),
    "wraps mechanism": (
        2,
        """\
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
""",
    ),
    "yield then append": (
        2,
        """\
@mechanism
def m(q: queries(0,1)):
    xs = []
    for v in q:
        xs.append(v)
        yield xs
""",
    ),
    "idle unbound": (
        2,
        """\
@mechanism
def m(q: queries(0,1)):
    if q[0] > 0:
        a = 1
    b = a
    return 0
""",
    ),
    "idle plus": (
        2,
        """\
@mechanism
def m(q: queries(0,1)):
    a = 'x' if q[0] else 1
    b = a + 1
    return 0
""",
    ),
    "bare expr": (
        2,
        """\
@mechanism
def m(q: queries(0,1)):
    1 // q[0]
    return 0
""",
    ),
    "tail fraction": (
        2,
        """\
@mechanism
def m(x: integer(0,1)):
    return geometric(x, alpha='1/2') + Fraction(2)
""",
    ),
    "tail times fraction one": (
        2,
        """\
@mechanism
def m(x: integer(0,1)):
    return geometric(x, alpha='1/2') * Fraction(1)
""",
    ),
    "among dup": (
        2,
        """\
@mechanism
def m(x: integer(0,1)):
    return randomized_response(x, truth='1/2', among=(0, 0, 1))
""",
    ),
    "positional only": (
        2,
        """\
@mechanism
def m(q: queries(0,1), /):
    return randomized_response(q[0], truth='3/4')
""",
    ),
    "range fraction": (
        2,
        """\
@mechanism
def m(x: integer(0,1)):
    s = 0
    for i in range(Fraction(2)):
        s += 1
    return s
""",
    ),
    "range returned": (
        2,
        """\
@mechanism
def m(x: integer(0,1)):
    return range(x)
""",
    ),
    "range == tuple": (
        2,
        """\
@mechanism
def m(x: integer(0,1)):
    return range(2) == (0, 1)
""",
    ),
    "percent": (
        2,
        """\
@mechanism
def m(q: queries(0,1)):
    return '%s' % q
""",
    ),
    "percent list": (
        2,
        """\
@mechanism
def m(q: queries(0,1)):
    return '%s' % [q[0]]
""",
    ),
    "min default alias": (
        2,
        """\
@mechanism
def m(q: queries(0,1)):
    xs = [q[0]]
    ys = min([], default=xs)
    ys.append(1)
    return len(xs)
""",
    ),
    "sum start alias": (
        2,
        """\
@mechanism
def m(q: queries(0,1)):
    xs = [q[0]]
    ys = sum([], xs)
    ys.append(1)
    return len(xs)
""",
    ),
    "nested param slice": (
        2,
        """\
@mechanism
def m(q: queries(0,1), table=[[0], [1]]):
    rows = table[0:1]
    row = rows[0]
    row.append(5)
    return len(table[0])
""",
    ),
    "list<tuple": (
        2,
        """\
@mechanism
def m(q: queries(0,1)):
    return [1] < (2,)
""",
    ),
    "sum str": (
        2,
        """\
@mechanism
def m(q: queries(0,1)):
    return sum(['a'], 'b')
""",
    ),
    "enumerate extra": (
        2,
        """\
@mechanism
def m(q: queries(0,1)):
    s = 0
    for i, v in enumerate(q, 1, 2):
        s += i
    return s
""",
    ),
    "helper lambda": (
        2,
        """\
h = lambda x: x + 1
@mechanism
def m(q: queries(0,1)):
    return h(q[0])
""",
    ),
    "helper lambda in dict": (
        2,
        """\
T = {
  'a': lambda x: x + 1,
  'b': 2 }
h = T['a']
@mechanism
def m(q: queries(0,1)):
    return h(q[0])
""",
    ),
    "comprehension own name": (
        2,
        """\
@mechanism
def m(q: queries(0,1)):
    q = [q for q in q]
    return q
""",
    ),
    "IntEnum": (
        2,
        """\
import enum
class C(enum.IntEnum):
    RED = 1
@mechanism
def m(q: queries(0,1)):
    return C.RED if bernoulli('1/2') else 1
""",
    ),
    "tiny epsilon": (
        2,
        """\
@mechanism
def m(x: integer(0,1)):
    return min(max(geometric(x, epsilon='1/1000000000000000000000000000000'), 0), 1)
""",
    ),
    "aug list elem": (
        2,
        """\
def put(xs):
    xs[0] = 7
    return 0
@mechanism
def m(q: queries(0,1)):
    xs = [q[0]]
    xs[0] += put(xs)
    return xs
""",
    ),
    "q percent": (
        2,
        """\
@mechanism
def m(q: queries(0,1)):
    return '%d %d' % (q[0], q[1])
""",
    ),
    "stream pre": (
        2,
        """\
@mechanism
def m(s: stream(0,1)):
    t = geometric(0, alpha='1/2')
    yield 'go'
    for v in s:
        if v + geometric(0, alpha='1/3') >= t:
            yield 'above'
            return
        yield 'below'
""",
    ),
    "geo mod": (
        2,
        """\
@mechanism
def m(x: integer(0,1)):
    return geometric(x, alpha='1/2') % 2
""",
    ),
    "geo two": (
        2,
        """\
@mechanism
def m(x: integer(0,1)):
    return geometric(x, alpha='1/2') + geometric(x, alpha='1/2')
""",
    ),
    "geo sort": (
        2,
        """\
@mechanism
def m(q: queries(0,1)):
    return sorted([geometric(v, alpha='1/2') for v in q])
""",
    ),
    "geo twice": (
        2,
        """\
@mechanism
def m(x: integer(0,1)):
    z = geometric(x, alpha='1/2')
    return (z, z)
""",
    ),
    "geo index": (
        2,
        """\
@mechanism
def m(x: integer(0,1)):
    z = geometric(x, alpha='1/2')
    return [1, 2][z]
""",
    ),
    "geo range": (
        2,
        """\
@mechanism
def m(x: integer(0,1)):
    s = 0
    for i in range(geometric(x, alpha='1/2')):
        s += 1
        if s == 3:
            break
    return s
""",
    ),
    "geo alphas": (
        2,
        """\
@mechanism
def m(x: integer(0,1)):
    if bernoulli('1/2'):
        return geometric(x, alpha='1/2')
    return geometric(x, alpha='1/3')
""",
    ),
    "geo alpha secret": (
        2,
        """\
@mechanism
def m(x: integer(0,1)):
    return geometric(0, alpha=Fraction(1, 2 + x))
""",
    ),
    "choice var clash": (
        2,
        """\
@mechanism
def m(x: integer(0,1)):
    return choice({x: '1/3', 0: '2/3'})
""",
    ),
    "choice list": (
        2,
        """\
@mechanism
def m(x: integer(0,1)):
    return choice([0, 1])
""",
    ),
    "bern float": (
        2,
        """\
@mechanism
def m(x: integer(0,1)):
    return bernoulli(0.5)
""",
    ),
    "bern >1": (
        2,
        """\
@mechanism
def m(x: integer(0,1)):
    return bernoulli(2 * x)
""",
    ),
    "helper alias ret": (
        2,
        """\
def h(xs):
    return xs
@mechanism
def m(q: queries(0,1)):
    a = [q[0]]
    b = h(a)
    b.append(2)
    return (a, b)
""",
    ),
    "helper recursion": (
        2,
        """\
def h(x):
    return h(x - 1) if x else 0
@mechanism
def m(q: queries(0,1)):
    return h(q[0])
""",
    ),
    "loop var empty": (
        2,
        """\
@mechanism
def m(q: queries(0,1)):
    for i in range(q[0]):
        pass
    return i
""",
    ),
    "range var step": (
        2,
        """\
@mechanism
def m(q: queries(0,1)):
    s = 0
    for i in range(0, 4, 1 + q[0]):
        s += i
    return s
""",
    ),
    "chain assign": (
        2,
        """\
@mechanism
def m(q: queries(0,1)):
    a = b = [q[0]]
    a = a + [1]
    b.append(2)
    return (a, b)
""",
    ),
    "chain assign alias": (
        2,
        """\
@mechanism
def m(q: queries(0,1)):
    a = b = [q[0]]
    b.append(2)
    return (a, b)
""",
    ),
    "chain noise late": (
        2,
        """\
@mechanism
def m(q: queries(0,1)):
    return 0 <= q[0] < uniform(0, 2)
""",
    ),
    "unpack mismatch": (
        2,
        """\
@mechanism
def m(q: queries(0,1)):
    a, b, c = q
    return a
""",
    ),
    "pow neg": (
        2,
        """\
@mechanism
def m(q: queries(0,1)):
    return 2 ** -1
""",
    ),
    "1L str cmp": (
        2,
        """\
@mechanism
def m(q: queries(0,1)):
    return 'a' < 1
""",
    ),
    "alias via tuple": (
        2,
        """\
@mechanism
def m(q: queries(0,1)):
    a = [q[0]]
    t = (a, 1)
    a.append(1)
    return t
""",
    ),
    "alias via nested": (
        2,
        """\
@mechanism
def m(q: queries(0,1)):
    a = [q[0]]
    b = [a]
    c = b[0]
    c.append(1)
    return a
""",
    ),
    "alias in loop": (
        2,
        """\
@mechanism
def m(q: queries(0,1)):
    rows = [[0], [1]]
    for r in rows:
        r.append(1)
    return rows
""",
    ),
    "alias times": (
        2,
        """\
@mechanism
def m(q: queries(0,1)):
    rows = [[0]] * 2
    r = rows[0]
    r.append(1)
    return rows
""",
    ),
    "alias cond": (
        2,
        """\
@mechanism
def m(q: queries(0,1)):
    a = [0]
    b = [1]
    c = a if q[0] else b
    c.append(5)
    return (a, b)
""",
    ),
    "alias and": (
        2,
        """\
@mechanism
def m(q: queries(0,1)):
    a = [0]
    c = a or [1]
    c.append(5)
    return a
""",
    ),
    "alias +=": (
        2,
        """\
@mechanism
def m(q: queries(0,1)):
    a = [0]
    c = a
    c += [5]
    return a
""",
    ),
    "alias prev iteration": (
        2,
        """\
@mechanism
def m(q: queries(0,1)):
    prev = [0]
    cur = [0]
    for v in q:
        prev = cur
        cur.append(v)
    return prev
""",
    ),
    "alias slot": (
        2,
        """\
@mechanism
def m(q: queries(0,1)):
    rows = [0, 0]
    r = [1]
    rows[0] = r
    r.append(2)
    return rows
""",
    ),
    "stream 1 True": (
        2,
        """\
@mechanism
def m(s: stream(0,1)):
    for v in s:
        if bernoulli('1/2'):
            yield 1
        else:
            yield True
""",
    ),
    "stream list of 1 True": (
        2,
        """\
@mechanism
def m(s: stream(0,1)):
    for v in s:
        if bernoulli('1/2'):
            yield [1]
        else:
            yield [True]
""",
    ),
    "elem list alias": (
        2,
        """\
@mechanism
def m(q: queries(0,1)):
    rows = [[q[0]], [1]]
    a = rows[0]
    rows.append([3])
    a.append(5)
    return rows
""",
    ),
    "elem in tuple alias": (
        2,
        """\
@mechanism
def m(q: queries(0,1)):
    xs = [0]
    t = (xs, 1)
    u = t[0]
    u.append(1)
    return t
""",
    ),
    "for rows change": (
        2,
        """\
@mechanism
def m(q: queries(0,1)):
    rows = [[0], [1]]
    for i, r in enumerate(rows):
        rows[i] = r + [q[0]]
    return rows
""",
    ),
    "helper arg order": (
        2,
        """\
def push(xs, v):
    xs.append(v)
    return v
def two(a, b):
    return (a, b)
@mechanism
def m(q: queries(0,1)):
    xs = []
    return two(len(xs), push(xs, 1))
""",
    ),
    "helper nested mutate expr": (
        2,
        """\
def push(xs, v):
    xs.append(v)
    return v
def both(xs):
    return push(xs, 1)
@mechanism
def m(q: queries(0,1)):
    xs = [q[0]]
    return len(xs) + both(xs)
""",
    ),
    "helper aug mutate expr": (
        2,
        """\
def grow(xs):
    xs += [1]
    return 0
@mechanism
def m(q: queries(0,1)):
    xs = [q[0]]
    return len(xs) + grow(xs)
""",
    ),
    "cond mutate": (
        2,
        """\
def push(xs):
    xs.append(1)
    return True
@mechanism
def m(q: queries(0,1)):
    xs = []
    if q[0] and push(xs):
        pass
    return len(xs)
""",
    ),
    "while mutate": (
        2,
        """\
def pop(xs):
    xs.append(1)
    return len(xs) < 3
@mechanism
def m(q: queries(0,1)):
    xs = []
    while pop(xs):
        pass
    return len(xs)
""",
    ),
    "subscript mutate": (
        2,
        """\
def push(xs):
    xs.append(1)
    return 0
@mechanism
def m(q: queries(0,1)):
    xs = [q[0]]
    xs[push(xs)] = 7
    return xs
""",
    ),
    "append mutate": (
        2,
        """\
def push(xs):
    xs.append(1)
    return 5
@mechanism
def m(q: queries(0,1)):
    xs = [q[0]]
    xs.append(push(xs))
    return xs
""",
    ),
    "noise arg mutate": (
        2,
        """\
def push(xs):
    xs.append(1)
    return 1
@mechanism
def m(q: queries(0,1)):
    xs = [q[0]]
    z = randomized_response(push(xs), truth='3/4')
    return (xs, z)
""",
    ),
    "helper returns param list then mutated": (
        2,
        """\
def mk(xs):
    ys = xs
    return ys
@mechanism
def m(q: queries(0,1)):
    xs = [q[0]]
    ys = mk(xs)
    xs.append(3)
    return ys
""",
    ),
    "any error later": (
        2,
        """\
@mechanism
def m(q: queries(0,1)):
    return any(1 // v for v in [1, 0])
""",
    ),
    "all error later": (
        2,
        """\
@mechanism
def m(q: queries(0,1)):
    return all(v for v in [0, 'x'] if v + 1)
""",
    ),
    "any list all evaluated": (
        2,
        """\
@mechanism
def m(q: queries(0,1)):
    return any([1 // v for v in [1, 0]])
""",
    ),
    "in str int": (
        2,
        """\
@mechanism
def m(q: queries(0,1)):
    return 1 in 'abc'
""",
    ),
    "frac str2": (
        2,
        """\
@mechanism
def m(q: queries(0,1)):
    return Fraction('1 / 2')
""",
    ),
    "frac str3": (
        2,
        """\
@mechanism
def m(q: queries(0,1)):
    return Fraction('1_000')
""",
    ),
    "frac none": (
        2,
        """\
@mechanism
def m(q: queries(0,1)):
    return Fraction('ln(2)')
""",
    ),
    "frac range idx": (
        2,
        """\
@mechanism
def m(q: queries(0,1)):
    return q[Fraction(1)]
""",
    ),
    "frac list mult": (
        2,
        """\
@mechanism
def m(q: queries(0,1)):
    return [1] * Fraction(2)
""",
    ),
    "none plus": (
        2,
        """\
@mechanism
def m(q: queries(0,1)):
    return None + 1
""",
    ),
    "none less": (
        2,
        """\
@mechanism
def m(q: queries(0,1)):
    return None < 1
""",
    ),
    "mixed sort": (
        2,
        """\
@mechanism
def m(q: queries(0,1)):
    return sorted([1, 'a'])
""",
    ),
    "dict eq": (
        2,
        """\
@mechanism
def m(q: queries(0,1)):
    return {1: 2, 3: 4} == {3: 4, 1: 2}
""",
    ),
    "dict alias": (
        2,
        """\
@mechanism
def m(q: queries(0,1)):
    x = [1]
    d = {0: x}
    y = d[0]
    y.append(2)
    return x
""",
    ),
    "dict unhashable": (
        2,
        """\
@mechanism
def m(q: queries(0,1)):
    return {[1]: 2}
""",
    ),
    "dict unhashable lookup": (
        2,
        """\
@mechanism
def m(q: queries(0,1)):
    return {1: 2}[[1]]
""",
    ),
    "dict in list key": (
        2,
        """\
@mechanism
def m(q: queries(0,1)):
    return [1] in {1: 2}
""",
    ),
    "dict assign": (
        2,
        """\
@mechanism
def m(q: queries(0,1)):
    d = {0: 1}
    d[1] = 2
    return d[1]
""",
    ),
    "choice dup": (
        2,
        """\
@mechanism
def m(x: integer(0,1)):
    return choice({x: '1/2', 1: '1/2'})
""",
    ),
    "choice list key": (
        2,
        """\
@mechanism
def m(x: integer(0,1)):
    return choice({(x, 1): '1/2', True: '1/4', 1.5 if False else 2: '1/4'})
""",
    ),
    "geo 2z": (
        2,
        """\
@mechanism
def m(x: integer(0,1)):
    z = geometric(x, alpha='1/2')
    return z + z > 1
""",
    ),
    "geo frac cmp": (
        2,
        """\
@mechanism
def m(x: integer(0,1)):
    z = geometric(x, alpha='1/2')
    return z > Fraction(1, 2)
""",
    ),
    "geo yield keep": (
        2,
        """\
@mechanism
def m(q: queries(0,1)):
    z = geometric(0, alpha='1/2')
    for v in q:
        yield z
""",
    ),
    "geo two tails one path": (
        2,
        """\
@mechanism
def m(x: integer(0,1)):
    z = geometric(x, alpha='1/2')
    w = geometric(x, alpha='1/3')
    if z > 2:
        return ('z', z)
    return ('w', 0 - w)
""",
    ),
}


@pytest.mark.parametrize("name", AGREEING)
def test_a_program_of_the_language_means_what_it_means_in_python(tmp_path, name):
    size, text = AGREEING[name]
    assert compared(load(tmp_path, text), size, most=examples(300)).startswith("agrees")


@pytest.mark.parametrize("name", PITFALLS)
def test_a_pitfall_is_refused_or_means_what_it_means_in_python(tmp_path, name):
    size, text = PITFALLS[name]
    try:
        found = load(tmp_path, text)
    except LanguageError:
        return
    assert compared(found, size, most=300).startswith(("agrees", "refused"))
