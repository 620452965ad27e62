"""Functions that the checker follows to their instructions, construct by construct."""

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
from privproof.language import exponential, laplace, real, real_queries, real_stream

# %% a list | established
@mechanism
def m(q: real_queries()):
    return [laplace(a, scale=1) for a in q]

# %% a list of some | established
@mechanism
def m(q: real_queries()):
    out = []
    for a in q:
        y = laplace(a, scale=1)
        if y > 0:
            out.append(y)
    return out

# %% a tuple of a list | established
@mechanism
def m(q: real_queries()):
    out = []
    for a in q:
        out.append(laplace(a, scale=1) > 0)
    return tuple(out)

# %% a list that is returned early | established
@mechanism
def m(q: real_queries()):
    out = []
    for a in q:
        if laplace(a, scale=1) > 0:
            return out
        out.append(1)
    return out

# %% zip | established
@mechanism
def m(q: real_queries(), r: public(real_queries())):
    for a, b in zip(q, r):
        yield laplace(a + b, scale=1)

# %% lists of two lengths | established
@mechanism
def m(q: real_queries(), r: public(real_queries(size=3))):
    for a, b in zip(q, r):
        yield laplace(a + b, scale=1)

# %% range of a length | established
@mechanism
def m(q: real_queries()):
    for i in range(len(q)):
        yield laplace(q[i], scale=1)

# %% range as far as both | established
@mechanism
def m(q: real_queries(), n: public(integer(low=1))):
    for i in range(min(n, len(q))):
        yield laplace(q[i], scale=1)

# %% range backwards | established
@mechanism
def m(q: real_queries()):
    for i in range(len(q) - 1, -1, -1):
        yield laplace(q[i], scale=1)

# %% range from one | established
@mechanism
def m(q: real_queries()):
    for i in range(1, len(q)):
        yield laplace(q[i] - q[i - 1], scale=1)

# %% a fixed range | established
@mechanism
def m(x: real()):
    for i in range(3):
        yield laplace(x + i, scale=1)

# %% enumerate from one | established
@mechanism
def m(q: real_queries()):
    for i, a in enumerate(q, 1):
        if laplace(a, scale=1) > i:
            return i
    return 0

# %% an index that is shifted | established
@mechanism
def m(q: real_queries()):
    limit = laplace(0, scale=2)
    for i, a in enumerate(q):
        if laplace(a, scale=4) > limit:
            return i + 1
    return 0

# %% a winner that is shifted | established
@mechanism
def m(q: real_queries()):
    best, winner = 0, 0
    for i, a in enumerate(q):
        y = laplace(a, scale=2)
        if i == 0 or y > best:
            best, winner = y, i + 1
    return winner

# %% the last entry | established
@mechanism
def m(q: real_queries()):
    if len(q) == 0:
        return 0
    return 1 if laplace(q[-1], scale=1) > 0 else 2

# %% an empty list | established
@mechanism
def m(q: real_queries()):
    if len(q) == 0:
        return 'none'
    return 'some' if laplace(q[0], scale=1) > 0 else 'none'

# %% while and break | established
@mechanism
def m(q: real_queries()):
    i = 0
    while True:
        if i >= len(q):
            break
        yield laplace(q[i], scale=1)
        i += 1

# %% continue | established
@mechanism
def m(q: real_queries()):
    for i, a in enumerate(q):
        if i % 2 == 0:
            continue
        yield laplace(a, scale=1)

# %% nested loops | established
@mechanism
def m(q: real_queries()):
    for a in q:
        for b in q:
            yield laplace(a - b, scale=1)
        yield 'next'

# %% sums | established
@mechanism
def m(q: real_queries()):
    return laplace(sum(q) / 2 + 3 - sum(q), scale=1)

# %% a sum of a generator | established
@mechanism
def m(q: real_queries()):
    return laplace(sum(2 * a for a in q if a > 0), scale=1)

# %% any | established
@mechanism
def m(q: real_queries()):
    return laplace(0, scale=1) > 0 and any(a > 0 for a in q)

# %% extremes | established
@mechanism
def m(x: real()):
    return laplace(max(min(x, 3), -abs(x), 0), scale=1)

# %% a tuple | established
@mechanism
def m(x: real()):
    y = laplace(x, scale=1)
    return y > 0, laplace(x, scale=2)

# %% helpers | established
def first_above(values, bound):
    for at, value in enumerate(values):
        if value > bound:
            return at
    return -1


def noisy(value, size=2):
    return laplace(value, scale=size)


@mechanism
def m(q: real_queries()):
    return noisy(first_above(q, 0)), noisy(1, size=3) > 0

# %% a value that may be None | established
@mechanism
def m(q: real_queries()):
    best = None
    for a in q:
        y = laplace(a, scale=2)
        if best is None or y > best:
            best = y
    return best is None

# %% None that is shown | established
@mechanism
def m(q: real_queries()):
    found = None
    for i, a in enumerate(q):
        if laplace(a, scale=2) > 0:
            found = i
            break
    return found

# %% a coin | established
@mechanism
def m(x: real()):
    if bernoulli('1/3'):
        return laplace(x, scale=1)
    return laplace(x, scale=2) - 1

# %% a random number | established
@mechanism
def m(x: real(), n: public(integer(low=1))):
    k = uniform(1, n)
    return k, laplace(k * 2 + x, scale=1)

# %% a public text | established
@mechanism
def m(x: real(), mode: public(one_of('wide', 'narrow'))):
    if mode == 'wide':
        return laplace(x, scale=2)
    return laplace(x, scale=1)

# %% a public truth value | established
@mechanism
def m(x: real(), flag: public(one_of(True, False))):
    return laplace(x, scale=1) > 0 or flag

# %% a scale | established
@mechanism
def m(x: real(), n: public(integer(low=1)), k: public(integer(low=2))):
    return laplace(x, scale=n * k / 3)

# %% whole numbers | established
@mechanism
def m(q: queries(), n: public(integer(low=1))):
    for i, a in enumerate(q):
        if (i + 1) % n == 0 or i // n > 3:
            yield laplace(a, scale=1)

# %% bounds | established
@mechanism
def m(x: real(low=0, high=3)):
    return laplace(max(x, 0), scale=1)

# %% a stream | established
@mechanism
def m(s: real_stream()):
    limit = laplace(0, scale=2)
    for i, a in enumerate(s):
        if laplace(a, scale=4) > limit:
            yield i
            return
        yield -1

# %% match | established
@mechanism
def m(q: real_queries()):
    k = 0
    for a in q:
        match k:
            case 0:
                yield laplace(a, scale=1)
            case _:
                yield 0
        k = 1 - k

# %% noise in one branch alone | established
@mechanism
def m(x: real()):
    y = 0
    if x > 1:
        y = laplace(0, scale=1)
    return laplace(x, scale=1)

# %% noise of one law in both branches, and more in one | established
@mechanism
def m(x: real()):
    if x > 1:
        y = laplace(x, scale=1)
        z = laplace(y, scale=2)
    else:
        y = laplace(1, scale=1)
        z = 0
    return y

# %% branches that return | established
@mechanism
def m(x: real()):
    if x > 5:
        return laplace(5, scale=1)
    if x < 0:
        return laplace(0, scale=1)
    return laplace(x, scale=1)

# %% a noisy number of one branch, with a test on it | established
@mechanism
def m(x: integer()):
    out = []
    if x > 0:
        noisy = geometric(x, alpha="1/2")
        if noisy > 10:
            out.append(noisy)
    return out
