"""Mechanisms that write several outputs."""

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

# %% gen on value | agrees | size 2
@mechanism
def m(x: integer(0,1)):
    yield randomized_response(x, truth='3/4')
    yield randomized_response(x, truth='3/4')

# %% gen early | agrees | size 2
@mechanism
def m(q: queries(0,1)):
    for v in q:
        if randomized_response(v, truth='3/4'):
            yield 'T'
            return
        yield 'F'

# %% gen unaligned | agrees | size 2
@mechanism
def m(q: queries(0,1)):
    for v in q:
        if randomized_response(v, truth='3/4'):
            yield 'T'
    yield 'end'

# %% gen before | agrees | size 2
@mechanism
def m(q: queries(0,1)):
    yield 'start'
    for v in q:
        yield randomized_response(v, truth='3/4')
    yield 'end'

# %% gen maybe before end | agrees | size 2
@mechanism
def m(q: queries(0,1)):
    if bernoulli('1/2'):
        yield 'none'
        return
    for v in q:
        yield randomized_response(v, truth='3/4')

# %% gen none | agrees | size 2
@mechanism
def m(q: queries(0,1)):
    if bernoulli('1/2'):
        return
    for v in q:
        yield randomized_response(v, truth='3/4')

# %% generator none out | agrees | size 2
@mechanism
def m(q: queries(0,1)):
    for v in q:
        if randomized_response(v, truth='3/4'):
            yield 1

# %% gen reads last first | agrees | size 3
@mechanism
def m(q: queries(0,1)):
    yield randomized_response(q[-1], truth='3/4')
    for v in q:
        yield randomized_response(v, truth='2/3')

# %% yield then append | agrees or refused | size 2
@mechanism
def m(q: queries(0,1)):
    xs = []
    for v in q:
        xs.append(v)
        yield xs
