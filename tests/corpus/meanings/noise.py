"""Mechanisms with noise of finitely many values."""

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

# %% uadd | agrees | size 2
@mechanism
def m(q: queries(0,1)):
    return +bernoulli('1/2')

# %% 1 and True | agrees | size 2
@mechanism
def m(x: integer(0,1)):
    if bernoulli('1/2'):
        return True
    return 1

# %% law cache nested | agrees | size 2
@mechanism
def m(x: integer(0,1)):
    a = randomized_response(x, truth='1/2', among=(0, 1))
    b = randomized_response(x, truth='1/2', among=(False, True))
    return (a, b)

# %% law cache choice | agrees | size 2
@mechanism
def m(x: integer(0,1)):
    a = choice({0: '1/2', 1: '1/2'})
    b = choice({False: '1/2', True: '1/2'})
    return (a, b)

# %% q cond list | agrees | size 2
@mechanism
def m(q: queries(0,1)):
    xs = q if bernoulli('1/2') else [0, 0]
    return xs == [0, 0]

# %% match falls | agrees | size 2
@mechanism
def m(q: queries(0,1)):
    match bernoulli('1/2'):
        case True:
            r = 1
        case 0:
            r = 2
    return r

# %% record | agrees | size 2
@mechanism
def m(q: records('a','b')):
    return randomized_response(q[0], truth='3/4', among=('a','b'))

# %% record tuple | agrees | size 2
@mechanism
def m(q: records((0,'a'),(1,'b'))):
    k, v = q[0]
    return randomized_response(k, truth='3/4')

# %% two privates | agrees | size 2
@mechanism
def m(x: integer(0,2), y: integer(0,1)):
    return truncated_geometric(x + y, low=0, high=3, alpha='1/2')

# %% list and value | agrees | size 2
@mechanism
def m(q: queries(0,1), y: integer(0,1)):
    return randomized_response((q[0] + q[1] + y) % 2, truth='3/4')

# %% sens | agrees | size 2
@mechanism
def m(x: integer(0,4, sensitivity=2)):
    return truncated_geometric(x, low=0, high=4, alpha='1/2')

# %% expmech | agrees | size 2
@mechanism
def m(q: queries(0,2)):
    return exponential_mechanism(q, epsilon='ln(4)')

# %% expmech2 | agrees | size 2
@mechanism
def m(q: queries(0,2)):
    return exponential_mechanism([v * 2 for v in q], epsilon='ln(4)', sensitivity=2)

# %% choice var | agrees | size 2
@mechanism
def m(x: integer(0,1)):
    return choice({x: '1/3', 'b': '2/3'})

# %% choice zero | agrees | size 2
@mechanism
def m(x: integer(0,1)):
    return choice({0: 0, 1: 1})

# %% choice list value | agrees | size 2
@mechanism
def m(x: integer(0,1)):
    return choice({(0, x): '1/2', (1, 1): '1/2'})

# %% trunc out | agrees | size 2
@mechanism
def m(x: integer(0,5)):
    return truncated_geometric(x, low=1, high=3, alpha='1/3')

# %% trunc eps | agrees | size 2
@mechanism
def m(x: integer(0,2)):
    return truncated_geometric(x, low=0, high=2, epsilon='1/2')

# %% comp two for | agrees | size 2
@mechanism
def m(q: queries(0,1)):
    return [i * j for i in range(3) for j in range(i) if bernoulli('1/2')]

# %% comp cond noise | agrees | size 2
@mechanism
def m(q: queries(0,1)):
    return [v for v in q if randomized_response(v, truth='3/4') if v or bernoulli('1/3')]

# %% aug order | agrees | size 2
@mechanism
def m(q: queries(0,1)):
    x = 1
    x += x + 1 if bernoulli('1/2') else 5
    return x

# %% annotated | agrees | size 2
from typing import Annotated
@mechanism
def m(q: Annotated[list[int], queries(0,1)], k: int = 3) -> int:
    n: int = 0
    t: list[int]
    return randomized_response(q[0], truth=Fraction(k, 4))

# %% state 1 True | agrees | size 2
@mechanism
def m(q: queries(0,1)):
    a = 1 if randomized_response(q[0], truth='3/4') else True
    b = q[1]
    return (a, randomized_response(b, truth='3/4'))

# %% module dict | agrees | size 2
from types import MappingProxyType
T = MappingProxyType({0: 'a', 1: 'b'})
@mechanism
def m(q: queries(0,1)):
    return T[randomized_response(q[0], truth='3/4')]

# %% param dict | agrees | size 2
@mechanism
def m(q: queries(0,1), T={0: 'a', 1: 'b'}):
    return T[randomized_response(q[0], truth='3/4')]

# %% choice param | agrees | size 2
@mechanism
def m(x: integer(0,1), T={0: '1/3', 1: '2/3'}):
    return choice(T) + x * 0

# %% pub list priv list | agrees | size 2
@mechanism
def m(q: queries(0,1), t: public(queries(0,1))):
    return [randomized_response(v, truth='3/4') if w else w for v, w in zip(q, t)]

# %% size fixed | agrees | size 2
@mechanism
def m(q: queries(0,1,size=2), x: integer(0,1)):
    return randomized_response((q[0] + x) % 2, truth='3/4')

# %% read only last | agrees | size 3
@mechanism
def m(q: queries(0,1)):
    return randomized_response(q[-1], truth='3/4')

# %% read only first | agrees | size 3
@mechanism
def m(q: queries(0,1)):
    return randomized_response(q[0], truth='3/4')

# %% docstring+pass | agrees | size 2
@mechanism
def m(x: integer(0,1)):
    '''doc'''
    pass
    ...
    return randomized_response(x, truth='3/4')

# %% multi line expr | agrees | size 2
@mechanism
def m(x: integer(0,1)):
    return (
        randomized_response(
            x,
            truth='3/4',
        )
    )

# %% semicolon | agrees | size 2
@mechanism
def m(x: integer(0,1)):
    a = 1; b = 2; return randomized_response(x, truth='3/4') + a * b

# %% among dup | agrees or refused | size 2
@mechanism
def m(x: integer(0,1)):
    return randomized_response(x, truth='1/2', among=(0, 0, 1))

# %% positional only | agrees or refused | size 2
@mechanism
def m(q: queries(0,1), /):
    return randomized_response(q[0], truth='3/4')

# %% IntEnum | agrees or refused | size 2
import enum
class C(enum.IntEnum):
    RED = 1
@mechanism
def m(q: queries(0,1)):
    return C.RED if bernoulli('1/2') else 1

# %% choice var clash | agrees or refused | size 2
@mechanism
def m(x: integer(0,1)):
    return choice({x: '1/3', 0: '2/3'})

# %% choice list | agrees or refused | size 2
@mechanism
def m(x: integer(0,1)):
    return choice([0, 1])

# %% bern float | agrees or refused | size 2
@mechanism
def m(x: integer(0,1)):
    return bernoulli(0.5)

# %% bern >1 | agrees or refused | size 2
@mechanism
def m(x: integer(0,1)):
    return bernoulli(2 * x)

# %% chain noise late | agrees or refused | size 2
@mechanism
def m(q: queries(0,1)):
    return 0 <= q[0] < uniform(0, 2)

# %% choice dup | agrees or refused | size 2
@mechanism
def m(x: integer(0,1)):
    return choice({x: '1/2', 1: '1/2'})

# %% choice list key | agrees or refused | size 2
@mechanism
def m(x: integer(0,1)):
    return choice({(x, 1): '1/2', True: '1/4', 1.5 if False else 2: '1/4'})
