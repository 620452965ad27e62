"""Every noise, in every position."""

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

# %% bernoulli out of range | refused
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    return bernoulli(Fraction(3, 2))

# %% bernoulli rare out of range | refused
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    return bernoulli(x + Fraction(1, 2))

# %% uniform empty | refused
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    return uniform(1, x)

# %% choice sum | refused
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    return choice({0: "1/2", 1: "1/3"})

# %% rr not bit | refused
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    return randomized_response(x + 1, truth="3/4")

# %% rr among missing | refused
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    return randomized_response(x + 1, truth="3/4", among=(0, 1))

# %% rr bool | agrees
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    return randomized_response(x == 1, truth="3/4"), randomized_response(True, truth="1/3")

# %% rr among str | agrees
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    return randomized_response("a" if x else "b", truth="1/3", among=("a", "b", "c"))

# %% tg bounds | refused
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    return truncated_geometric(x, low=2, high=1, alpha="1/2")

# %% tg frac value | agrees
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    return truncated_geometric(Fraction(x), low=0, high=1, alpha="1/2")

# %% tg bool value | agrees
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    return truncated_geometric(x == 1, low=0, high=1, alpha="1/2")

# %% tg str value | refused
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    return truncated_geometric("a", low=0, high=1, alpha="1/2")

# %% uniform bool | agrees
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    return uniform(False, True)

# %% uniform frac | agrees
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    return uniform(Fraction(0), 1)

# %% choice bool keys | agrees
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    return choice({True: "1/2", 0: "1/2"})

# %% choice keys tuple | agrees
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    return choice({(x, 1): "1/2", "a": "1/2"})

# %% expmech tuple | agrees
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    return exponential_mechanism((x, 1, 0), epsilon="ln(4)")

# %% expmech empty | refused
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    return exponential_mechanism([], epsilon="ln(4)")

# %% expmech fracs | agrees
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    return exponential_mechanism([Fraction(1, 2), x], epsilon="ln(4)")

# %% expmech bool | agrees
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    return exponential_mechanism([True, x], epsilon="ln(4)")

# %% alpha zero | refused
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    return truncated_geometric(x, low=0, high=1, alpha=0)

# %% alpha one | refused
@mechanism
def m(q: queries(0, 1), x: integer(0, 1)):
    return truncated_geometric(x, low=0, high=1, alpha=1)
