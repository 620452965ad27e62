"""Mechanisms on a stream."""

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

# %% public stream early end | agrees | size 2
@mechanism
def m(x: integer(0,1), r: public(stream_of('a','b'))):
    if x == 0:
        yield 'zero'
        return
    yield 'one'
    for v in r:
        yield 'k'

# %% public stream early end2 | agrees | size 2
@mechanism
def m(x: integer(0,1), r: public(stream_of('a','b'))):
    if x == 0:
        yield 'zero'
        return
    yield 'one'
    return
    for v in r:
        yield 'k'

# %% public stream early return | agrees | size 2
@mechanism
def m(x: integer(0,1), r: public(stream_of('a','b'))):
    if bernoulli('1/2'):
        return x
    for v in r:
        return 'k'

# %% stream geo | agrees | size 2
@mechanism
def m(s: stream(0,1)):
    for v in s:
        yield geometric(v, alpha='1/2')

# %% stream return | agrees | size 3
@mechanism
def m(s: stream(0,1)):
    for v in s:
        if randomized_response(v, truth='3/4'):
            return v

# %% stream return quiet | agrees | size 3
@mechanism
def m(s: stream(0,1)):
    for v in s:
        if randomized_response(v, truth='3/4'):
            return
        yield 0

# %% stream quiet | agrees | size 3
@mechanism
def m(s: stream(0,1)):
    for v in s:
        if randomized_response(v, truth='3/4'):
            yield 0

# %% stream after loop | agrees | size 3
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

# %% public stream | agrees | size 2
@mechanism
def m(x: integer(0,1), r: public(stream_of('a','b'))):
    for v in r:
        if v == 'a':
            yield randomized_response(x, truth='3/4')
        else:
            yield 'no'

# %% public stream list | agrees | size 2
@mechanism
def m(q: queries(0,1), r: public(stream(0,1))):
    for v in r:
        yield randomized_response(q[v], truth='3/4')

# %% public stream halts | agrees | size 2
@mechanism
def m(x: integer(0,1), r: public(stream_of('a','b'))):
    for v in r:
        if v == 'a':
            yield 'A'
            if randomized_response(x, truth='3/4'):
                return
        else:
            yield 'no'

# %% priv stream + public | agrees | size 2
@mechanism
def m(t: public(integer(0,2)), s: stream(0,1)):
    for v in s:
        yield truncated_geometric(v + t, low=0, high=2, alpha='1/2')

# %% pub stream gen two outputs | agrees | size 2
@mechanism
def m(x: integer(0,1), s: public(stream(0,1))):
    yield 'hi'
    for v in s:
        yield v
        if randomized_response(x, truth='3/4'):
            yield 'extra'

# %% stream pre | agrees or refused | size 2
@mechanism
def m(s: stream(0,1)):
    t = geometric(0, alpha='1/2')
    yield 'go'
    for v in s:
        if v + geometric(0, alpha='1/3') >= t:
            yield 'above'
            return
        yield 'below'

# %% stream 1 True | agrees or refused | size 2
@mechanism
def m(s: stream(0,1)):
    for v in s:
        if bernoulli('1/2'):
            yield 1
        else:
            yield True

# %% stream list of 1 True | agrees or refused | size 2
@mechanism
def m(s: stream(0,1)):
    for v in s:
        if bernoulli('1/2'):
            yield [1]
        else:
            yield [True]
