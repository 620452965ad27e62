"""Streams of answers against several noisy thresholds.

The families of Chadha, Sistla, Viswanathan and Bhusal ("Deciding Differential Privacy of Online Algorithms with Multiple Variables",
2023): ranges, and the least and largest of the first answers.
"""

# mypy: ignore-errors

from __future__ import annotations

from privproof.language import laplace, mechanism, real_stream


@mechanism(epsilon=1)
def between_thresholds(answers: real_stream(), low=0, high=10):
    """Goes on as long as answers lie between two thresholds."""
    bottom = laplace(low, scale=4)
    top = laplace(high, scale=4)
    for answer in answers:
        noisy = laplace(answer, scale=4)
        if noisy < bottom:
            yield "below"
            return
        if noisy >= top:
            yield "above"
            return
        yield "between"


@mechanism(epsilon=1)
def outside_thresholds(answers: real_stream(), low=0, high=10):
    """Wrong: goes on as long as answers lie outside: a leaking pair (pure privacy; with a delta it is another matter)."""
    bottom = laplace(low, scale=4)
    top = laplace(high, scale=4)
    for answer in answers:
        noisy = laplace(answer, scale=4)
        if noisy < bottom:
            yield "below"
        elif noisy >= top:
            yield "above"
        else:
            yield "between"
            return


@mechanism(epsilon=1)
def ranges(answers: real_stream(), m=2):
    """Answers in m ranges, one after the other and around again (m-range)."""
    bottoms = [laplace(2 * i, scale=4 * m) for i in range(m)]
    tops = [laplace(2 * i + 1, scale=4 * m) for i in range(m)]
    place = 0
    for answer in answers:
        noisy = laplace(answer, scale=4)
        if noisy < bottoms[place]:
            yield "below"
            return
        if noisy >= tops[place]:
            yield "above"
            return
        yield "inside"
        place = (place + 1) % m


@mechanism(epsilon=1)
def min_max(answers: real_stream(), k=2):
    """The least and the largest of the first k answers, then answers between them (k-min-max)."""
    least = None
    largest = None
    seen = 0
    for answer in answers:
        if seen < k:
            noisy = laplace(answer, scale=4 * k)
            if seen == 0:
                least = noisy
                largest = noisy
                yield "first"
            elif noisy < least:
                least = noisy
                yield "less"
            elif noisy >= largest:
                largest = noisy
                yield "larger"
            else:
                yield "between"
            seen += 1
        else:
            noisy = laplace(answer, scale=4)
            if noisy < least:
                yield "below"
                return
            if noisy >= largest:
                yield "above"
                return
            yield "inside"


@mechanism(epsilon=1)
def range_value(answers: real_stream(), low=0, high=10):
    """Wrong: shows the answer that leaves the range: a privacy violating path (num_range_1)."""
    bottom = laplace(low, scale=4)
    top = laplace(high, scale=4)
    for answer in answers:
        noisy = laplace(answer, scale=4)
        if noisy < bottom:
            yield "below"
            return
        if noisy >= top:
            yield noisy
            return
        yield "between"


@mechanism(epsilon=1)
def two_ranges(answers: real_stream()):
    """Wrong: leaves one range upwards into the next, with the threshold between them shared: a leaking pair (two_range_1)."""
    first = laplace(0, scale=4)
    second = laplace(1, scale=4)
    third = laplace(2, scale=4)
    upper = False
    for answer in answers:
        noisy = laplace(answer, scale=4)
        if upper:
            if noisy < second or noisy >= third:
                return
            yield "upper"
        elif noisy < first:
            return
        elif noisy < second:
            yield "lower"
        elif noisy < third:
            upper = True
            yield "up"
        else:
            return


@mechanism(epsilon=1)
def shrinking_range(answers: real_stream()):
    """Wrong: an answer below the top becomes the top, again and again: a leaking cycle (leaking_cycle)."""
    bottom = laplace(0, scale=2)
    top = laplace(10, scale=2)
    inside = False
    for answer in answers:
        noisy = laplace(answer, scale=6)
        if noisy >= top:
            return
        if inside:
            top = noisy
            inside = False
            yield "lower"
        elif noisy >= bottom:
            inside = True
            yield "inside"
        else:
            return
