"""The chain of a mechanism shows exactly the outputs that the mechanism writes, with their probabilities."""

from __future__ import annotations

from fractions import Fraction

import pytest

from privproof import (
    bernoulli,
    integer,
    mechanism,
    mechanism_process,
    output_distribution,
    queries,
    randomized_response,
    stream_of,
    truncated_geometric,
)
from privproof.exact import fraction


@mechanism
def twice(xs: stream_of(0, 1)):
    seen = 0
    for x in xs:
        if randomized_response(x, truth="3/4"):
            yield "up"
            seen = seen + 1
            if seen == 2:
                return
        else:
            yield "down"


@mechanism
def maybe(xs: stream_of(0, 1)):
    for x in xs:
        if randomized_response(x, truth="3/4"):
            yield "up"
            if bernoulli("1/2"):
                return
        else:
            yield "down"


@mechanism
def pairs(xs: stream_of(0, 1)):
    for x in xs:
        if randomized_response(x, truth="3/4"):
            yield 1
            yield 2
        elif bernoulli("1/3"):
            return


@mechanism
def listed(q: queries(0, 2)):
    for value in q:
        noisy = truncated_geometric(value, alpha="1/2", low=0, high=2)
        if noisy >= 1:
            yield noisy
            if noisy == 2:
                return


@mechanism
def returned(count: integer(0, 2)):
    return truncated_geometric(count, alpha="1/2", low=0, high=2)


def words(chain, state):
    """Every sequence of outputs from a data set, with its probability."""
    outputs = {
        s: label
        for label, carried in chain.labels.items()
        if label not in ("input", "end")
        for s in carried.nonzero()[0]
    }
    found: dict[tuple[str, ...], Fraction] = {}
    waiting = [((), int(state), Fraction(1))]
    while waiting:
        word, here, mass = waiting.pop()
        if chain.names[here] == "end":
            found[word] = found.get(word, Fraction(0)) + mass
            continue
        shown = word if here not in outputs else (*word, outputs[here])
        waiting.extend((shown, target, mass * fraction(p)) for target, p in chain.entries(here))
    return found


@pytest.mark.parametrize(
    ("subject", "arguments", "size", "horizon"),
    [
        (twice, "xs", None, 3),
        (maybe, "xs", None, 3),
        (pairs, "xs", None, 2),
        (listed, "q", 2, None),
        (returned, "count", None, None),
    ],
    ids=lambda value: getattr(value, "name", None),
)
def test_the_words_of_the_chain_are_the_outputs(subject, arguments, size, horizon):
    chain = mechanism_process(subject, size=size, horizon=horizon)
    assert chain.initial
    for state in chain.initial:
        name = chain.names[state]
        value = eval(name.removeprefix(f"{arguments}="), {"__builtins__": {}})
        wanted: dict[tuple[str, ...], Fraction] = {}
        for output, p in output_distribution(subject, **{arguments: value}).items():
            word = tuple(map(str, output)) if isinstance(output, tuple) else (str(output),)
            wanted[word] = wanted.get(word, Fraction(0)) + p
        assert words(chain, state) == wanted
