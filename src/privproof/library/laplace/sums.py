"""Sums, histograms and counts with Laplace noise: one person changes one value (Chan, Shi and Song 2011; CheckDP 2020)."""

# mypy: ignore-errors

from __future__ import annotations

from privproof.language import integer, laplace, mechanism, public, real, real_queries


@mechanism(epsilon="epsilon")
def laplace_mechanism(count: real(), epsilon=1):
    """A number plus Laplace noise (Dwork, McSherry, Nissim and Smith 2006)."""
    return laplace(count, scale=1 / epsilon)


@mechanism(epsilon="epsilon", neighbours="one")
def partial_sum(q: real_queries(), epsilon=1):
    """The sum of all values, with noise."""
    return laplace(sum(q), scale=1 / epsilon)


@mechanism(epsilon="epsilon", neighbours="one")
def partial_sum_little_noise(q: real_queries(), epsilon=1):
    """Wrong: half the noise (CheckDP's BadPartialSum)."""
    return laplace(sum(q), scale=1 / (2 * epsilon))


@mechanism(epsilon="epsilon", neighbours="one")
def prefix_sum(q: real_queries(), epsilon=1):
    """All prefix sums, by adding up noisy values."""
    total = 0
    for value in q:
        total = total + laplace(value, scale=1 / epsilon)
        yield total


@mechanism(epsilon="size * epsilon")
def prefix_sum_all_change(q: real_queries(), epsilon=1):
    """The same where every value may change: the loss grows with the size."""
    total = 0
    for value in q:
        total = total + laplace(value, scale=1 / epsilon)
        yield total


@mechanism(epsilon="2 * epsilon", neighbours="one")
def smart_sum(q: real_queries(), M: public(integer(low=1)), T: public(integer(low=0)), epsilon=1):
    """Prefix sums with noise for every value and for every block of M values (Chan, Shi and Song 2011)."""
    released, block = 0, 0
    i = 0
    while i < len(q) and i <= T:
        if (i + 1) % M == 0:
            released = laplace(block + q[i], scale=1 / epsilon)
            block = 0
        else:
            released = released + laplace(q[i], scale=1 / epsilon)
            block = block + q[i]
        yield released
        i += 1


@mechanism(epsilon="2 * epsilon", neighbours="one")
def smart_sum_continued(q: real_queries(), M: public(integer(low=1)), T: public(integer(low=0)), epsilon=1):
    """The same, going on from the prefix sum released last (the variant of ShadowDP)."""
    released, block = 0, 0
    i = 0
    while i < len(q) and i <= T:
        if (i + 1) % M == 0:
            released = released + laplace(block + q[i], scale=1 / epsilon)
            block = 0
        else:
            released = released + laplace(q[i], scale=1 / epsilon)
            block = block + q[i]
        yield released
        i += 1


@mechanism(epsilon="2 * epsilon", neighbours="one")
def smart_sum_no_block_noise(q: real_queries(), M: public(integer(low=1)), T: public(integer(low=0)), epsilon=1):
    """Wrong: the blocks get no noise (CheckDP's BadSmartSum)."""
    released, block = 0, 0
    i = 0
    while i < len(q) and i <= T:
        if (i + 1) % M == 0:
            released = block + q[i]
            block = 0
        else:
            released = released + laplace(q[i], scale=1 / epsilon)
            block = block + q[i]
        yield released
        i += 1


@mechanism(epsilon="epsilon", neighbours="one")
def binary_mechanism(q: real_queries(), levels: public(integer(low=1)), epsilon=1):
    """Prefix sums from noisy partial sums, one for each level of a binary tree (Chan, Shi and Song 2011)."""
    alpha, noisy = [0] * levels, [0] * levels
    for t in range(1, min(len(q), 2**levels - 1) + 1):
        i = 0
        while (t >> i) & 1 == 0:
            i += 1
        alpha[i] = sum(alpha[:i]) + q[t - 1]
        for j in range(i):
            alpha[j], noisy[j] = 0, 0
        noisy[i] = laplace(alpha[i], scale=levels / epsilon)
        yield sum(noisy)


@mechanism(epsilon="epsilon", neighbours="one")
def binary_mechanism_forgotten_level(q: real_queries(), levels: public(integer(low=1)), epsilon=1):
    """Wrong: the tree has one level more than its noise pays for."""
    alpha, noisy = [0] * (levels + 1), [0] * (levels + 1)
    for t in range(1, min(len(q), 2 ** (levels + 1) - 1) + 1):
        i = 0
        while (t >> i) & 1 == 0:
            i += 1
        alpha[i] = sum(alpha[:i]) + q[t - 1]
        for j in range(i):
            alpha[j], noisy[j] = 0, 0
        noisy[i] = laplace(alpha[i], scale=levels / epsilon)
        yield sum(noisy)


@mechanism(epsilon="epsilon", neighbours="one")
def noisy_histogram(q: real_queries(), epsilon=1):
    """Every count with its own noise; one person is in one cell."""
    return [laplace(count, scale=1 / epsilon) for count in q]


@mechanism(epsilon="epsilon", neighbours="one")
def noisy_histogram_little_noise(q: real_queries(), epsilon=1):
    """Wrong: half the noise."""
    return [laplace(count, scale=1 / (2 * epsilon)) for count in q]


@mechanism(epsilon="epsilon")
def noisy_histogram_all_change(q: real_queries(), epsilon=1):
    """Wrong from two cells on: every count may change."""
    return [laplace(count, scale=1 / epsilon) for count in q]


@mechanism(epsilon="epsilon", neighbours="one")
def reused_noise(q: real_queries(), epsilon=1):
    """Wrong: the same noise for every value."""
    noise = laplace(0, scale=1 / epsilon)
    return [value + noise for value in q]
