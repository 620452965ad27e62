"""Mechanisms that say who are neighbours."""

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

# %% one | agrees | size 2
@mechanism(neighbours='one')
def m(q: queries(0,2)):
    return truncated_geometric(sum(q), low=0, high=4, alpha='1/2')

# %% monotone | agrees | size 2
@mechanism(neighbours='monotone')
def m(q: queries(0,2)):
    return truncated_geometric(q[0]-q[1], low=-2, high=2, alpha='1/2')

# %% monotone two | agrees | size 2
@mechanism(neighbours='monotone')
def m(x: integer(0,2), y: integer(0,2)):
    return truncated_geometric(x-y, low=-2, high=2, alpha='1/2')

# %% monotone list+value | agrees | size 2
@mechanism(neighbours='monotone')
def m(q: queries(0,1), y: integer(0,1)):
    return randomized_response(q[0], truth='3/4')

# %% user | agrees | size 2
def near(a, b):
    return sum(x != y for x, y in zip(a, b)) == 2
@mechanism(neighbours=near)
def m(q: queries(0,2)):
    return truncated_geometric(sum(q), low=0, high=4, alpha='1/2')

# %% user asym | agrees | size 2
def near(a, b):
    return a[0] < b[0]
@mechanism(neighbours=near)
def m(q: queries(0,2)):
    return truncated_geometric(sum(q), low=0, high=4, alpha='1/2')

# %% user reflexive | agrees | size 2
def near(a, b):
    return True
@mechanism(neighbours=near)
def m(x: integer(0,2)):
    return truncated_geometric(x, low=0, high=2, alpha='1/2')

# %% user on value | agrees | size 2
def near(a, b):
    return abs(a - b) == 2
@mechanism(neighbours=near)
def m(x: integer(0,2)):
    return truncated_geometric(x, low=0, high=2, alpha='1/2')

# %% user list pub | agrees | size 2
def near(a, b):
    return a[0] != b[0]
@mechanism(neighbours=near)
def m(q: queries(0,1), t: public(integer(0,1))):
    return randomized_response(q[t], truth='3/4')
