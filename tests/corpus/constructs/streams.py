"""Functions on a stream, step by step."""

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

# %% annotated yield | refused
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    y: (yield 1) = 2
    return x

# %% gen1 | agrees
@mechanism
def m(q: queries(0, 1)):
    for v in q:
        if randomized_response(v, truth="3/4"):
            yield v
            return
        yield "n"

# %% gen nested | agrees
@mechanism
def m(q: queries(0, 1)):
    for v in q:
        for w in (0, 1):
            if v == w:
                continue
            yield v, w
            if bernoulli("1/3"):
                break
    yield "end"

# %% gen bare | agrees
@mechanism
def m(q: queries(0, 1)):
    for v in q:
        yield
        if v:
            return

# %% gen list alias | agrees
@mechanism
def m(q: queries(0, 1)):
    xs = []
    for v in q:
        xs = xs + [v]
        yield xs

# %% gen list append | agrees
@mechanism
def m(q: queries(0, 1)):
    xs = []
    for v in q:
        xs.append(v)
        yield list(xs)

# %% stream enum ii | agrees
@mechanism
def m(s: stream(0, 1)):
    for i, i in enumerate(s):
        yield i

# %% stream enum elem | agrees
@mechanism
def m(s: stream(0, 1)):
    ys = [0, 0]
    for i, ys[i % 2] in enumerate(s):
        yield ys[0], ys[1]

# %% stream break | agrees
@mechanism
def m(s: stream(0, 1)):
    n = 0
    for v in s:
        n += v
        if n > 1:
            break
        yield bernoulli("1/3")
    yield "done"

# %% stream two loops | agrees
@mechanism
def m(s: stream(0, 1)):
    for v in s:
        yield v
        if v:
            break
    for i, v in enumerate(s):
        yield i, v
        if i:
            return

# %% stream nested | agrees
@mechanism
def m(s: stream(0, 1)):
    for v in s:
        for w in s:
            if w == v:
                break
            yield w
        yield "o"

# %% stream return | agrees
@mechanism
def m(s: stream(0, 1)):
    for v in s:
        if randomized_response(v, truth="2/3"):
            return v

# %% stream helper | agrees
def h(t):
    for v in t:
        return v

@mechanism
def m(s: stream(0, 1)):
    while True:
        yield h(s)

# %% stream tuple | agrees
@mechanism
def m(s: stream_of((0, 1), (1, 0))):
    for a, b in s:
        yield b

# %% stream after loop noise | agrees
@mechanism
def m(s: stream(0, 1)):
    t = uniform(0, 1)
    for v in s:
        if v == t:
            yield True
            t = uniform(0, 1)
        else:
            yield False

# %% return in gen refused | refused
@mechanism
def m(q: queries(0, 1)):
    yield 1
    return 2

# %% gen return None | agrees
@mechanism
def m(q: queries(0, 1)):
    yield q[0]
    return None

# %% gen nothing | agrees
@mechanism
def m(q: queries(0, 1)):
    if False:
        yield 1

# %% gen dead yield | agrees
@mechanism
def m(q: queries(0, 1)):
    return
    yield 1

# %% yield expr | refused
@mechanism
def m(q: queries(0, 1)):
    y = yield 1
    yield y

# %% yield in cond | refused
@mechanism
def m(q: queries(0, 1)):
    (yield 1) if q[0] else (yield 2)

# %% yield tuple noise | agrees
@mechanism
def m(q: queries(0, 1)):
    for v in q:
        yield uniform(0, v), uniform(v, 1)
        if uniform(0, 1) == v:
            continue
        yield "x"
