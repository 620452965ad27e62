"""What ordinary Python has and the language does not, or only in part."""

import logging
import math
import random
import secrets
from fractions import Fraction

import numpy as np

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

rng = np.random.default_rng()
dice = random.Random(3)

# %% coin | agrees
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    return x if random.random() < 0.75 else 1 - x

# %% coin turned | agrees
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    return x if 0.25 <= random.random() else 1 - x

# %% coin above | agrees
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    return random.random() > 0.1, random.random() >= 1 / 3

# %% coin of numpy | agrees
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    return np.random.rand() < 0.3 or np.random.random() < x

# %% coin of a generator | agrees
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    return rng.random() < 0.5 and dice.random() < 0.25

# %% coin with a probability that depends on data | agrees
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    return random.random() < (0.75 if x else 0.25)

# %% coin with a table | agrees
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    return random.random() < {0: 0.1, 1: 0.9}[x]

# %% coin with a tuple of the module | agrees
SHARES = (0.1, 1 / 3)

@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    return random.random() < SHARES[x]

# %% coin with a fraction | agrees
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    return random.random() < Fraction(1, 2 + x)

# %% coin above one | refused
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    return random.random() < 1.5

# %% coin kept | agrees
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    u = random.random()
    return u < 0.5

# %% coin with a quotient of data | refused
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    return random.random() < x / 2

# %% coin imported by name | agrees
from random import random as flip

@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    return flip() < 0.5, x

# %% coin in a loop | agrees
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    out = []
    for v in q:
        out.append(v if random.random() < 0.75 else 1 - v)
    return out

# %% coin in a while | agrees
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    n = 0
    while n < 3 and random.random() < 0.5:
        n += 1
    return n + x

# %% randint | agrees
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    return random.randint(0, 2) + x

# %% randint from data | agrees
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    return random.randint(x, 2)

# %% randint negative | agrees
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    return random.randint(-2, -1), random.randint(x, x)

# %% randint empty | refused
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    return random.randint(1, x)

# %% randint of a fraction | refused
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    return random.randint(Fraction(x, 2), 3)

# %% randrange | agrees
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    return random.randrange(3), random.randrange(1, 3 + x)

# %% randrange by name | agrees
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    return random.randrange(start=1, stop=3)

# %% randrange with a step | refused
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    return random.randrange(0, 4, 2)

# %% getrandbits | agrees
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    return random.getrandbits(2) ^ x

# %% getrandbits one | agrees
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    return random.getrandbits(1) == x

# %% getrandbits many | refused
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    return random.getrandbits(40)

# %% randbelow | agrees
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    return secrets.randbelow(3) - x

# %% randbelow of data | agrees
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    return secrets.randbelow(x + 1)

# %% randbelow of nothing | refused
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    return secrets.randbelow(x)

# %% secure choice | agrees
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    return secrets.choice((0, x, 2))

# %% integers of numpy | agrees
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    return int(rng.integers(0, 3)), int(rng.integers(2))

# %% randint of numpy | agrees
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    return int(np.random.randint(2)) + int(np.random.randint(x, 3))

# %% integers with a size | refused
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    return rng.integers(0, 3, size=2)

# %% choice of a list | agrees
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    return random.choice(q)

# %% choice of a tuple | agrees
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    return random.choice((x, 2, 'a'))

# %% choice of nothing | refused
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    return random.choice([])

# %% choice of a text | agrees
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    return random.choice('abc') + 'x'

# %% choice of numpy | agrees
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    return int(np.random.choice([x, 1 - x], p=[0.75, 0.25]))

# %% choice of numpy with weights that are rounded | agrees
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    return int(np.random.choice([0, 1, 2], p=[0.1, 0.2, 0.7])) + x

# %% choice of numpy of a number | agrees
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    return int(np.random.choice(3)) + x

# %% choice of numpy of several kinds | refused
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    return np.random.choice([x, 'a'])

# %% choice of numpy with too few weights | refused
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    return np.random.choice([x, 1, 2], p=[0.5, 0.5])

# %% choice of numpy with weights of data | refused
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    return np.random.choice([0, 1], p=[x / 2, 1 - x / 2])

# %% float compared with data | agrees
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    return (x > 0.5) == (random.random() < 0.5), q[0] <= 0.0

# %% float parameter computed | agrees
P = 0.7

@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    half = P / 2
    third = half / 3
    return random.random() < third + half

# %% float computed twice | agrees
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    p = 0.1
    p = p + 0.2
    p *= 2
    return random.random() < p, p == 0.6000000000000001, x

# %% float of a function | agrees
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    return random.random() < 1 / (1 + math.exp(-0.5)), x

# %% float rounded | agrees
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    return random.randint(0, round(2.5)), int(1.9) + x, x

# %% float of a helper | agrees
def toss(p=0.5):
    return int(random.random() < p)

@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    return toss(0.25) + toss() + x

# %% float of a helper that computes | agrees
def toss(v, eps):
    p = eps / 2
    return v if random.random() < p else 1 - v

@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    return toss(x, 0.5)

# %% float meets data | refused
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    return random.random() < 0.5, x + 0.5

# %% float released | refused
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    return random.random() < 0.5, 0.5

# %% float in a branch | refused
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    p = 0.5
    if x:
        p = 0.25
    return random.random() < p

# %% float in a list | refused
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    ps = [0.5, 0.25]
    ps[0] = 0.1
    return random.random() < ps[x]

# %% quotient of data | refused
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    return random.random() < 0.5, x / 2

# %% float changed by a helper | refused
def toss(p):
    if random.random() < 0.5:
        p = 1
    return p

@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    return toss(0.5)

# %% infinite float | refused
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    return random.random() < 0.5, x < float('inf')

# %% several names for a float | agrees
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    a = b = 0.25
    return random.random() < a + b, x

# %% names that change together | agrees
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    n = 1
    n = n + 1
    n += 1
    return random.randint(0, n) + n + x

# %% a name that a loop changes | agrees
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    n = 1
    for v in q:
        n = n + v
    return random.randint(0, n) + n

# %% a name that a comprehension has too | agrees
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    n = 2
    xs = [n + random.randint(0, 1) for n in q]
    return xs, n

# %% raise on parameters | agrees
P = 0.5

@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    if P <= 0:
        raise ValueError('p')
    return random.random() < P, x

# %% raise in an else | agrees
P = 2

@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    if P > 0:
        y = x
    else:
        raise ValueError(f'{P}')
    return random.randint(0, 1) + y

# %% raise with own noise | agrees
P = 2

@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    if P > 3:
        raise ValueError
    return uniform(0, P) + x

# %% raise that is reached | refused
P = 2

@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    if P > 1:
        raise ValueError
    return uniform(0, P) + x

# %% raise on data | refused
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    if x > 0:
        raise ValueError
    return uniform(0, 1)

# %% assert | agrees
P = 0.5

@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    assert P > 0 and isinstance(P, float), P
    return random.random() < P, x

# %% assert with own noise | agrees
P = 2

@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    assert P in (1, 2)
    return uniform(0, P) + x

# %% assert isinstance | agrees
P = 2

@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    assert isinstance(P, (int, float))
    assert not isinstance(P, str)
    return uniform(0, P) + x

# %% assert that fails | refused
P = 2

@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    assert P < 1
    return uniform(0, P) + x

# %% branch on a parameter | agrees
P = 2

@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    if P > 1:
        y = random.randint(0, 1)
    elif P > 0:
        y = 5 / 0
    else:
        y = 2
    return x + y

# %% print | agrees
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    y = x + random.randint(0, 1)
    print('the number', y)
    print(f'is {y} or {y:.2f}')
    return y

# %% log | agrees
LOG = logging.getLogger('m')

@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    y = x + random.randint(0, 1)
    logging.info('%s', y)
    LOG.debug('no')
    return y

# %% print nothing | agrees
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    print()
    print('a', 1, None)
    return random.randint(0, x)

# %% print of what is drawn | agrees
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    print(random.randint(0, 1))
    return random.randint(0, 1) + x

# %% print of what is missing | refused
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    print(y)
    y = 1
    return random.randint(0, 1) + x

# %% print to a file | agrees
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    print('a', file=None)
    return random.randint(0, 1) + x

# %% print of a text as a number | refused
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    s = 'a'
    print(f'{s:.2f}')
    return random.randint(0, 1) + x

# %% nested function | agrees
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    def flip(v):
        return 1 - v if random.getrandbits(2) == 0 else v
    return flip(x), flip(v=flip(q[0]))

# %% nested function and its closure | agrees
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    k = 1
    def shifted(v):
        w = v + k
        return w
    k = 2
    w = 7
    return shifted(uniform(0, 1)), k, w, x

# %% nested function without a return | agrees
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    def nothing(v):
        v = v + 1
    return nothing(x), uniform(0, 1)

# %% nested function with loops | agrees
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    def total(vs):
        t = 0
        for v in vs:
            if v:
                return t
            t += 1
        return t + 5
    return total(q) + uniform(0, x)

# %% nested function in a comprehension | agrees
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    x = uniform(0, x)
    def other():
        return x
    return [other() for x in q], x

# %% nested function calls another | agrees
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    def one(v):
        return v + 1
    def two(v):
        return one(v) * 2
    return two(x) + uniform(0, 1)

# %% nested function read late | refused
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    y = g(1)
    def g(v):
        return v
    return y

# %% nested function twice | refused
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    def g(v):
        return v
    def g(v):
        return 1 - v
    return g(x)

# %% nested function with nonlocal | refused
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    n = 0
    def g():
        nonlocal n
        n = n + 1
        return n
    return g() + g()

# %% nested function with a default | refused
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    n = 1
    def g(v=n):
        return v
    n = 2
    return g()

# %% nested function that appends | refused
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    xs = []
    def g(v):
        xs.append(v)
        return v
    y = g(x)
    return xs, y

# %% nested function with wrong arguments | refused
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    def g(v):
        return v
    return g(x, 1)

# %% nested recursion | refused
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    def g(v):
        return g(v)
    return g(x)

# %% lambda | agrees
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    f = lambda v, w: v + w
    return f(x, uniform(0, 1)), f(w=1, v=x)

# %% lambda and its closure | agrees
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    n = uniform(0, 1)
    f = lambda v: v + n
    return f(x), n

# %% lambda with noise | agrees
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    f = lambda v: v if random.random() < 0.75 else 1 - v
    return f(f(x))

# %% lambda as a value | refused
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    f = lambda v: v
    return f

# %% lambda in a branch | refused
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    f = lambda v: v
    if x:
        f = lambda v: 1 - v
    return f(x)

# %% recursion by a parameter | agrees
def again(v, depth):
    if depth == 0:
        return v if random.random() < 0.75 else 1 - v
    return again(1 - v, depth - 1)

@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    return again(x, 3)

# %% recursion without end | refused
def again(v):
    return again(v)

@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    return again(x) + random.randint(0, 1)

# %% options | agrees
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    options = {'a': 0, 'b': x + 1}
    return random.randint(**options)

# %% options of a helper | agrees
def minus(a, b):
    return a - b

@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    options = {'b': x, 'a': random.randint(0, 1)}
    return minus(**options)

# %% options read twice | refused
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    options = {'a': 0, 'b': 1}
    n = len(options)
    return random.randint(**options) + n + x

# %% max by a key | agrees
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    return max(q, key=lambda v: -v), max([x, 2, 1], key=lambda v: v % 2)

# %% min by a key | agrees
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    return min((3, x, -1), key=lambda v: v * v), uniform(0, 1)

# %% max of a range by a key | agrees
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    scores = [uniform(0, 1), x, q[0]]
    return max(range(3), key=lambda i: scores[i])

# %% max by a noisy key | agrees
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    return max(q, key=lambda v: v + random.randint(0, 1))

# %% max by a key with a name of its own | agrees
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    v = 5
    w = max(q, key=lambda v: 1 - v)
    return v, w, uniform(0, 1)

# %% max by a key of nothing | refused
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    return max([], key=lambda v: v)

# %% max by a key and a default | refused
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    return max(q, key=lambda v: v, default=1)

# %% sorted down | agrees
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    return sorted([x, 2, uniform(0, 1)], reverse=True)

# %% sorted down keeps the order of equals | agrees
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    return sorted([1, True, x, False, 0], reverse=True)

# %% sorted down of data | agrees
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    return sorted(q, reverse=True)[0], sorted((0, x), reverse=True)

# %% sorted reverse unknown | agrees
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    return sorted(q, reverse=x == 1)

# %% place of the largest | agrees
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    noisy = [v + random.randint(0, 1) for v in q]
    return noisy.index(max(noisy))

# %% place of the largest in two steps | agrees
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    noisy = [(v + random.randint(0, 1)) * 2 for v in q]
    best = noisy.index(max(noisy)) + x
    return best

# %% place of the largest of a numbered list | agrees
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    noisy = [i - v + random.randint(0, 1) for i, v in enumerate(q)]
    return noisy.index(max(noisy)), x

# %% place of the largest of a list that is used again | agrees
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    noisy = [v + random.randint(0, 1) for v in q]
    best = noisy.index(max(noisy))
    return best, noisy

# %% place of the largest of nothing | refused
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    noisy = [random.randint(0, 1) for v in q if v > 5]
    return noisy.index(max(noisy))

# %% starred last | agrees
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    first, *rest = q
    return first, rest, uniform(0, x)

# %% starred first | agrees
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    *rest, last = [x, 2, uniform(0, 1)]
    return last, rest

# %% starred middle | agrees
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    a, *b, c = (x, uniform(0, 1))
    b.append(a)
    return a, c, b

# %% starred with too few values | refused
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    a, *b, c = [x]
    return a

# %% starred of a text | agrees
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    a, *b = 'xyz'
    return a, b, uniform(0, x)

# %% starred of a table | refused
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    a, *b = {0: 5, 1: 6}
    return a, b

# %% starred in a loop | agrees
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    out = []
    for a, *b in [(x, 1, 2), (0, 1)]:
        out.append((a, b))
    return out, uniform(0, 1)

# %% walrus | agrees
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    if (n := x + uniform(0, 1)) > 1:
        return n
    return n, 'low'

# %% walrus and after | agrees
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    y = (a := 1 + x) + a * (b := a + 1)
    return y, a, b, uniform(0, 1)

# %% walrus twice | refused
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    return (a := 1) + (a := a + x)

# %% walrus in a while | agrees
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    n = 0
    while (k := uniform(0, 1)) and n < 2:
        n += 1
    return n, k, x

# %% walrus in and | agrees
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    n = 5
    y = x and (n := 7)
    return y, n, uniform(0, 1)

# %% walrus after the name | refused
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    n = 1
    return n + (n := x)

# %% len of a comprehension | agrees
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    return len([v for v in q if v > 0]) + random.randint(0, 1)

# %% len of a comprehension of constants | agrees
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    return len([1 for v in q for w in q if v == w]), random.randint(0, 1)

# %% len of a comprehension with noise | agrees
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    return len([v for v in q if random.random() < 0.5])

# %% xor | agrees
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    return x ^ (random.randrange(4) == 0), x ^ 3

# %% xor of truth values | agrees
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    return (x == 1) ^ bernoulli('1/4'), True ^ x

# %% and or | agrees
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    return x & 1, x | 2, (x == 1) & True, (x == 1) | False, 6 & 3 ^ uniform(0, 1)

# %% shifts | agrees
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    return x << 2, 5 >> x, 1 << uniform(0, 1)

# %% invert | agrees
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    return ~x, ~uniform(0, 1)

# %% bits in place | agrees
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    y = x
    y ^= 1
    y <<= 2
    y |= uniform(0, 1)
    return y

# %% bits of a text | refused
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    return 'a' ^ x

# %% shift by a negative number | refused
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    return 1 << (x - 1)

# %% bits of a fraction | refused
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    return Fraction(1, 2) & x
