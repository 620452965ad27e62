"""Noise that is drawn for every record, where one list has one record more."""

from fractions import Fraction

from privproof import geometric, integer, mechanism, public, records
from privproof.language import exponential, laplace, real_queries

# %% compared with a constant, and counted | proved
@mechanism(neighbours="add-remove")
def m(q: real_queries(low=0, high=1)):
    count = 0
    for x in q:
        if x + laplace(0, scale=1) > Fraction(1, 2):
            count += 1
    return laplace(count, scale=1)

# %% counted in a sum | proved
@mechanism(neighbours="add-remove")
def m(q: records(0, 1)):
    return laplace(sum(1 if laplace(x, scale=2) > Fraction(1, 2) else 0 for x in q), scale=1)

# %% clipped and added up | proved
@mechanism(neighbours="add-remove")
def m(q: real_queries(low=0, high=1)):
    total = 0
    for x in q:
        noisy = laplace(x, scale=1)
        total += max(0, min(1, noisy))
    return laplace(total, scale=1)

# %% two draws for a record, of which one sees the other | proved
@mechanism(neighbours="add-remove")
def m(q: records(0, 1)):
    count = 0
    for x in q:
        first = laplace(x, scale=1)
        second = exponential(first, scale=2)
        if first + second > 1:
            count += 1
    return laplace(count, scale=1)

# %% a scale that depends on the record and on a public number | proved
@mechanism(neighbours="add-remove")
def m(q: records(0, 1), N: public(integer(low=1))):
    count = 0
    for x in q:
        if laplace(x, scale=N) > 1:
            count += 1
    return laplace(count, scale=1)

# %% two counts, of which a record is in one | proved
@mechanism(neighbours="add-remove")
def m(q: records(0, 1)):
    low, high = 0, 0
    for x in q:
        if laplace(x, scale=1) > 1:
            high += 1
        else:
            low += 1
    return laplace(low, scale=1), laplace(high, scale=1)

# %% two counts, of which a record may be in both | not proved
@mechanism(neighbours="add-remove")
def m(q: records(0, 1)):
    low, high = 0, 0
    for x in q:
        if laplace(x, scale=1) > 0:
            high += 1
        if laplace(x, scale=1) < 1:
            low += 1
    return laplace(low, scale=1), laplace(high, scale=1)

# %% added up as it is | not proved
@mechanism(neighbours="add-remove")
def m(q: real_queries(low=0, high=1)):
    total = 0
    for x in q:
        total += laplace(x, scale=1)
    return total

# %% added up as it is, with more noise | not proved
@mechanism(neighbours="add-remove")
def m(q: real_queries(low=0, high=1)):
    total = 0
    for x in q:
        total += laplace(x, scale=1)
    return laplace(total, scale=1)

# %% the count itself | not proved
@mechanism(neighbours="add-remove")
def m(q: records(0, 1)):
    count = 0
    for x in q:
        if laplace(x, scale=1) > 1:
            count += 1
    return count

# %% clipped too far | not proved
@mechanism(neighbours="add-remove")
def m(q: real_queries(low=0, high=1)):
    total = 0
    for x in q:
        total += max(0, min(2, laplace(x, scale=1)))
    return laplace(total, scale=1)

# %% a law that depends on the records before | not proved
@mechanism(neighbours="add-remove")
def m(q: records(0, 1)):
    count = 0
    seen = 0
    for x in q:
        seen += x
        if laplace(seen, scale=1) > 3:
            count += 1
    return laplace(count, scale=1)

# %% a law that depends on the place | not proved
@mechanism(neighbours="add-remove")
def m(q: records(0, 1)):
    count = 0
    for i, x in enumerate(q):
        if laplace(i, scale=1) > 3:
            count += 1
    return laplace(count, scale=1)

# %% the noise of the last record is shown | not proved
@mechanism(neighbours="add-remove")
def m(q: records(0, 1)):
    last = 0
    for x in q:
        last = laplace(x, scale=1)
    return last

# %% one threshold for all records | not proved
@mechanism(neighbours="add-remove")
def m(q: records(0, 1)):
    threshold = laplace(0, scale=1)
    count = 0
    for x in q:
        if x > threshold:
            count += 1
    return laplace(count, scale=1), threshold

# %% a shift that looks at the extra turn | not proved
@mechanism(neighbours="add-remove")
def m(q: records(0, 1)):
    level = laplace(0, scale=1)
    for x in q:
        level = level - 1 if level >= 0 else level + 1
    return level

# %% a public number that becomes a private one | not proved
@mechanism(neighbours="add-remove")
def m(q: records(0, 1), N: public(integer(low=1))):
    N = N + sum(q)
    count = 0
    for x in q:
        if laplace(x, scale=1) > N:
            count += 1
    for x in q:
        if laplace(N, scale=1) > 3:
            count += 1
    return laplace(count, scale=2)
