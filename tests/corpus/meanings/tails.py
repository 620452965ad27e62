"""Mechanisms with geometric noise, of infinitely many values."""

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

# %% opposite tails | agrees | size 2
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

# %% aligned tails | agrees | size 2
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

# %% gen tails early | agrees | size 2
@mechanism
def m(q: queries(0,1)):
    z = geometric(0, alpha='1/2')
    if z < 3:
        yield 'low'
        return
    yield z
    yield q[0]

# %% rejection | agrees | size 2
@mechanism
def m(x: integer(0,2)):
    while True:
        z = geometric(x, alpha='1/2')
        if 0 <= z <= 2:
            return z

# %% geo list | agrees | size 2
@mechanism
def m(q: queries(0,1)):
    return [geometric(v, alpha='1/2') for v in q]

# %% geo abs | agrees | size 2
@mechanism
def m(x: integer(0,1)):
    return abs(geometric(x, alpha='1/2'))

# %% geo neg | agrees | size 2
@mechanism
def m(x: integer(0,1)):
    return -geometric(x, alpha='1/2')

# %% geo eq | agrees | size 2
@mechanism
def m(x: integer(0,1)):
    z = geometric(x, alpha='1/2')
    return z == 3 or z if z != 4 else 'four'

# %% geo in | agrees | size 2
@mechanism
def m(x: integer(0,1)):
    return geometric(x, alpha='1/2') in (1, 3, 'a', None)

# %% geo table | agrees | size 2
@mechanism
def m(x: integer(0,1)):
    z = min(max(geometric(x, alpha='1/2'), 0), 2)
    return {0: 'a', 1: 'b', 2: 'c'}[z]

# %% geo bool | agrees | size 2
@mechanism
def m(x: integer(0,1)):
    return bool(geometric(x, alpha='1/2'))

# %% geo and | agrees | size 2
@mechanism
def m(x: integer(0,1)):
    return geometric(x, alpha='1/2') and 'x'

# %% geo or | agrees | size 2
@mechanism
def m(x: integer(0,1)):
    return geometric(x, alpha='1/2') or 'x'

# %% geo text | agrees | size 2
@mechanism
def m(x: integer(0,1)):
    return geometric(x, alpha='1/2') == 'x'

# %% slice tails | agrees | size 2
@mechanism
def m(q: queries(0,1)):
    return [geometric(v, alpha='1/2') for v in q][0:1]

# %% geo max two | agrees | size 2
@mechanism
def m(x: integer(0,1)):
    z = geometric(x, alpha='1/2')
    return max(z, 3, z - 1)

# %% geo z-z | agrees | size 2
@mechanism
def m(x: integer(0,1)):
    z = geometric(x, alpha='1/2')
    return z - z + x * 0

# %% geo true | agrees | size 2
@mechanism
def m(x: integer(0,1)):
    z = geometric(x, alpha='1/2')
    return z * True + True

# %% geo cmp chain | agrees | size 2
@mechanism
def m(x: integer(0,1)):
    z = geometric(x, alpha='1/2')
    return -1 < z <= 2 != 5

# %% geo match | agrees | size 2
@mechanism
def m(x: integer(0,1)):
    match geometric(x, alpha='1/2'):
        case 0:
            return 'zero'
        case 1 | 2:
            return 'few'
    return 'other'

# %% geo tuple cmp | agrees | size 2
@mechanism
def m(x: integer(0,1)):
    z = geometric(x, alpha='1/2')
    return (z, 1) < (1, 0)

# %% geo list eq | agrees | size 2
@mechanism
def m(x: integer(0,1)):
    z = geometric(x, alpha='1/2')
    return [z] == [1]

# %% geo neg offset out | agrees | size 2
@mechanism
def m(x: integer(0,2)):
    z = geometric(x, alpha='1/2')
    return -z if z < 1 else z

# %% generator collected tails | agrees | size 2
@mechanism
def m(q: queries(0,1)):
    for v in q:
        z = geometric(v, alpha='1/2')
        if z > 1:
            yield z

# %% shadow noise | agrees | size 2
def geometric(x, alpha):
    return x
@mechanism
def m(x: integer(0,1)):
    return geometric(x, alpha='1/2')

# %% tail fraction | agrees or refused | size 2
@mechanism
def m(x: integer(0,1)):
    return geometric(x, alpha='1/2') + Fraction(2)

# %% tail times fraction one | agrees or refused | size 2
@mechanism
def m(x: integer(0,1)):
    return geometric(x, alpha='1/2') * Fraction(1)

# %% tiny epsilon | agrees or refused | size 2
@mechanism
def m(x: integer(0,1)):
    return min(max(geometric(x, epsilon='1/1000000000000000000000000000000'), 0), 1)

# %% geo mod | agrees or refused | size 2
@mechanism
def m(x: integer(0,1)):
    return geometric(x, alpha='1/2') % 2

# %% geo two | agrees or refused | size 2
@mechanism
def m(x: integer(0,1)):
    return geometric(x, alpha='1/2') + geometric(x, alpha='1/2')

# %% geo sort | agrees or refused | size 2
@mechanism
def m(q: queries(0,1)):
    return sorted([geometric(v, alpha='1/2') for v in q])

# %% geo twice | agrees or refused | size 2
@mechanism
def m(x: integer(0,1)):
    z = geometric(x, alpha='1/2')
    return (z, z)

# %% geo index | agrees or refused | size 2
@mechanism
def m(x: integer(0,1)):
    z = geometric(x, alpha='1/2')
    return [1, 2][z]

# %% geo range | agrees or refused | size 2
@mechanism
def m(x: integer(0,1)):
    s = 0
    for i in range(geometric(x, alpha='1/2')):
        s += 1
        if s == 3:
            break
    return s

# %% geo alphas | agrees or refused | size 2
@mechanism
def m(x: integer(0,1)):
    if bernoulli('1/2'):
        return geometric(x, alpha='1/2')
    return geometric(x, alpha='1/3')

# %% geo alpha secret | agrees or refused | size 2
@mechanism
def m(x: integer(0,1)):
    return geometric(0, alpha=Fraction(1, 2 + x))

# %% geo 2z | agrees or refused | size 2
@mechanism
def m(x: integer(0,1)):
    z = geometric(x, alpha='1/2')
    return z + z > 1

# %% geo frac cmp | agrees or refused | size 2
@mechanism
def m(x: integer(0,1)):
    z = geometric(x, alpha='1/2')
    return z > Fraction(1, 2)

# %% geo yield keep | agrees or refused | size 2
@mechanism
def m(q: queries(0,1)):
    z = geometric(0, alpha='1/2')
    for v in q:
        yield z

# %% geo two tails one path | agrees or refused | size 2
@mechanism
def m(x: integer(0,1)):
    z = geometric(x, alpha='1/2')
    w = geometric(x, alpha='1/3')
    if z > 2:
        return ('z', z)
    return ('w', 0 - w)
