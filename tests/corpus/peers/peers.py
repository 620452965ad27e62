"""Mechanisms of the suites of other tools that the library does not have, in our own words."""

from privproof import (
    exponential,
    integer,
    laplace,
    mechanism,
    one_of,
    public,
    queries,
    randomized_response,
    real,
    real_queries,
    truncated_geometric,
)

# %% largest value, exponential noise | refuted
@mechanism(epsilon=1)
def m(q: real_queries()):
    best = None
    for value in q:
        noisy = exponential(value, scale=2)
        if best is None or noisy > best:
            best = noisy
    return best

# %% noisy max by argmax | proved
@mechanism(epsilon=1)
def m(q: real_queries()):
    noisy = [laplace(value, scale=2) for value in q]
    return noisy.index(max(noisy))

# %% ten noisy numbers | proved
@mechanism(epsilon=1)
def m(x: real()):
    return [laplace(x, scale=10) for _ in range(10)]

# %% ten noisy numbers, unsplit | refuted
@mechanism(epsilon=1)
def m(x: real()):
    return [laplace(x, scale=5) for _ in range(10)]

# %% numerical sparse vector in thirds | proved
@mechanism(epsilon=1)
def m(q: real_queries(), threshold: public(real()), N: public(integer(low=1))):
    noisy_threshold = laplace(threshold, scale=3)
    count = 0
    for value in q:
        if count >= N:
            return
        if laplace(value, scale=6 * N) >= noisy_threshold:
            yield laplace(value, scale=3 * N)
            count += 1
        else:
            yield 0

# %% RAPPOR, permanent | proved
BLOOM = ((0, 3, 7, 12), (1, 3, 9, 17), (2, 8, 12, 19))

@mechanism(epsilon="8*ln(21/19)")
def m(value: one_of(0, 1, 2)):
    bits = [1 if i in BLOOM[value] else 0 for i in range(20)]
    return [randomized_response(bit, truth="21/40", among=(0, 1)) for bit in bits]

# %% RAPPOR, both steps as one | proved
BLOOM = ((0, 3, 7, 12), (1, 3, 9, 17), (2, 8, 12, 19))

@mechanism(epsilon="8*ln(41/39)")
def m(value: one_of(0, 1, 2)):
    bits = [1 if i in BLOOM[value] else 0 for i in range(20)]
    return [randomized_response(bit, truth="41/80", among=(0, 1)) for bit in bits]

# %% RAPPOR, step by step, four bits | proved
BLOOM = ((0, 2), (1, 3), (0, 3))

@mechanism(epsilon="4*ln(41/39)")
def m(value: one_of(0, 1, 2)):
    bits = [1 if i in BLOOM[value] else 0 for i in range(4)]
    kept = [randomized_response(bit, truth="5/8", among=(0, 1)) for bit in bits]
    return [randomized_response(bit, truth="11/20", among=(0, 1)) for bit in kept]

# %% two sparse vectors on the same answers | refuted
@mechanism(epsilon=1)
def m(q: real_queries()):
    threshold = laplace(0, scale=2)
    values, found = [], 0
    for answer in q:
        if found < 1:
            noisy = laplace(answer, scale=4)
            if noisy >= threshold:
                values.append(noisy)
                found += 1
            else:
                values.append(None)
    other = laplace(0, scale=4)
    above, seen = [], 0
    for answer in q:
        if seen < 1:
            if laplace(answer, scale="4/3") >= other:
                above.append(True)
                seen += 1
            else:
                above.append(False)
    return values, above

# %% truncated geometric | proved
@mechanism(epsilon="ln(2)")
def m(n: integer(0, 5)):
    return truncated_geometric(n, alpha="1/2", low=0, high=5)

# %% prefix sums of noisy numbers | proved
@mechanism(epsilon=1, neighbours="one")
def m(q: real_queries()):
    total = 0
    for value in q:
        total += laplace(value, scale=1)
        yield total

# %% randomised response | proved
@mechanism(epsilon="ln(3)", neighbours="one")
def m(bits: queries(0, 1, size=3)):
    return [randomized_response(bit, truth="3/4") for bit in bits]

# %% randomised response that takes epsilon for a probability | refuted
@mechanism(epsilon="1/2", neighbours="one")
def m(bits: queries(0, 1, size=3)):
    return [randomized_response(bit, truth="3/4") for bit in bits]
