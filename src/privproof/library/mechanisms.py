"""Mechanisms of the literature, written in the mechanism language.

Each is an ordinary function: it runs (it samples), and its source is what is verified.
"""

# mypy: ignore-errors

from __future__ import annotations

from fractions import Fraction
from types import MappingProxyType

from privproof.language import (
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

HALF_GEOMETRIC = (
    MappingProxyType({0: "2/3", 1: "1/6", 2: "1/6"}),
    MappingProxyType({0: "1/3", 1: "1/3", 2: "1/3"}),
    MappingProxyType({0: "1/6", 1: "1/6", 2: "2/3"}),
)


@mechanism(epsilon="ln(2)")
def plain_geometric(count: integer(0, 5)):
    """A count plus two-sided geometric noise on all integers."""
    return geometric(count, alpha="1/2")


@mechanism(epsilon="ln(2)")
def bounded_geometric(count: integer(0, 5)):
    """The truncated geometric mechanism: noise that stays within the range."""
    return truncated_geometric(count, alpha="1/2", low=0, high=5)


@mechanism(epsilon=1)
def clamped_geometric(count: integer(0, 5)):
    """A noisy count, moved to the nearest end of the range if it falls outside."""
    return min(max(geometric(count, epsilon=1), 0), 5)


@mechanism(epsilon=1)
def rejected_geometric(count: integer(0, 5)):
    """A noisy count, drawn again until it falls into the range: the "bounded domain" bug."""
    while True:
        noisy = geometric(count, epsilon=1)
        if 0 <= noisy <= 5:
            return noisy


@mechanism(epsilon="ln(2)")
def noisy_count(data: records("yes", "no")):
    """How many said yes, plus geometric noise; one person's answer changes."""
    return geometric(sum(1 for answer in data if answer == "yes"), alpha="1/2")


@mechanism(epsilon="ln(2)")
def naive_noisy_max(v: queries(0, 2)):
    """The index of the largest noisy answer; the first one wins ties."""
    m, r = -1, 0
    for i, answer in enumerate(v, start=1):
        noisy = choice(HALF_GEOMETRIC[answer])
        if m < noisy:
            m, r = noisy, i
    return r


@mechanism(epsilon="ln(24/7)")
def improved_noisy_max(v: queries(0, 2)):
    """The index of the largest noisy answer; ties are broken uniformly."""
    m, r, c = -1, 0, 0
    for i, answer in enumerate(v, start=1):
        noisy = choice(HALF_GEOMETRIC[answer])
        if m == noisy:
            c = c + 1
            if bernoulli(Fraction(1, c)):
                r = i
        if m < noisy:
            m, r, c = noisy, i, 1
    return r


@mechanism(epsilon="4*ln(2)")
def discrete_above_threshold(t: public(integer(0, 2)), answers: stream(0, 2)):
    """Answers "below" until a noisy answer reaches the noisy threshold, then "above", and halts."""
    noisy_threshold = truncated_geometric(t, alpha="1/4", low=0, high=2)
    for answer in answers:
        noisy = truncated_geometric(answer, alpha="1/2", low=0, high=2)
        if noisy >= noisy_threshold:
            yield "above"
            return
        yield "below"


@mechanism(epsilon="ln(3)")
def survey(ill: one_of(True, False)):
    """A coin decides whether the answer is true or, by a second coin, random."""
    if bernoulli("1/2"):
        return ill
    return bernoulli("1/2")


@mechanism(epsilon="ln(9)")
def double_survey(ill: one_of(True, False)):
    """The survey taken twice."""
    return randomized_response(ill, truth="3/4"), randomized_response(ill, truth="3/4")


@mechanism(epsilon="ln(4)")
def interactive_survey(ill: one_of(True, False), requests: public(stream_of("low", "high"))):
    """The surveyor asks again and again, with low or high accuracy as it pleases."""
    for request in requests:
        yield randomized_response(ill, truth="4/5" if request == "high" else "3/4")


@mechanism(epsilon="ln(4)", delta="1/10")
def subsampling_majority(team: records("R", "B"), samples=3, share="1/2", margin=3):
    """The majority of most subsamples, released only where their noisy lead is large; ties and empty subsamples count for B.

    Geometric noise takes the place of the paper's Laplace noise.
    """
    lead = 0
    for _ in range(samples):
        red = blue = 0
        for member in team:
            if bernoulli(share):
                if member == "R":
                    red += 1
                else:
                    blue += 1
        lead += 1 if red > blue else -1
    if geometric(abs(lead), alpha="1/2") > margin:
        return "R" if lead >= 0 else "B"
    return "nothing"


@mechanism(epsilon="ln(4)")
def exponential_choice(scores: queries(0, 2)):
    """The exponential mechanism: a candidate, with probability proportional to e^(epsilon score / 2)."""
    return exponential_mechanism(scores, epsilon="ln(4)")


@mechanism(epsilon="ln(4)")
def permute_and_flip(scores: queries(0, 2)):
    """Candidates in random order, each taken with probability e^(epsilon (score - best) / 2)."""
    best = max(scores)
    left = list(range(len(scores)))
    while True:
        k = uniform(0, len(left) - 1)
        candidate = left[k]
        if bernoulli(Fraction(1, 2) ** (best - scores[candidate])):
            return candidate
        left = left[:k] + left[k + 1 :]


@mechanism(epsilon="ln(9)")
def rappor(colour: one_of("red", "green", "blue"), f="1/2"):
    """Basic one-time RAPPOR: one bit for every value, each replaced by a fair coin with probability f."""
    report = []
    for value in ("red", "green", "blue"):
        bit = 1 if colour == value else 0
        if bernoulli(f):
            bit = uniform(0, 1)
        report.append(bit)
    return report
