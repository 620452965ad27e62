"""The mechanisms that are measured, as functions, and families of stream automata."""

# mypy: ignore-errors

from __future__ import annotations

import random
from fractions import Fraction

from privproof import (
    StreamAutomaton,
    bernoulli,
    gaussian,
    geometric,
    laplace,
    mechanism,
    queries,
    randomized_response,
    real_queries,
    records,
    stream,
    truncated_geometric,
)
from privproof.exact import rational
from privproof.models.stream_automaton import Order, StreamSample, Transition


@mechanism
def count(data: records(0, 1)):
    """A truncated count."""
    return truncated_geometric(sum(data), alpha="1/2", low=0, high=len(data))


@mechanism
def histogram(data: records("a", "b", "c", "d")):
    """Four cells."""
    return [geometric(sum(1 for r in data if r == cell), alpha="1/2") for cell in ("a", "b", "c", "d")]


@mechanism
def bits(data: records(0, 1)):
    """Every bit is randomised."""
    return [randomized_response(bit, truth="3/4") for bit in data]


@mechanism
def noisy_max(answers: queries(0, 10)):
    """The index of the largest noisy answer."""
    best, winner = -1, 0
    for i, value in enumerate(answers):
        noisy = truncated_geometric(value, alpha="1/2", low=0, high=10)
        if noisy > best:
            best, winner = noisy, i
    return winner


@mechanism
def gaussian_sparse_vector(q: queries(0, 1), t=4, s=8):
    """The first answer above a noisy threshold."""
    threshold = gaussian(0, sigma=t)
    for i, a in enumerate(q):
        if gaussian(a, sigma=s) >= threshold:
            return i
    return -1


@mechanism
def laplace_noisy_max(q: real_queries()):
    """The index of the largest answer with Laplace noise."""
    best, winner = 0, -1
    for i, value in enumerate(q):
        noisy = laplace(value, scale=2)
        if i == 0 or noisy > best:
            best, winner = noisy, i
    return winner


@mechanism
def gaussian_count(data: records(0, 1)):
    """A count with Gaussian noise."""
    return gaussian(sum(data), sigma=10)


@mechanism(neighbours="one")
def kept_count(data: stream(0, 1), most=2):
    """Randomised bits, counted up to a limit, on streams of every length of which one bit changes."""
    seen = 0
    for value in data:
        if bernoulli("1/4") == (value == 0):
            seen = min(seen + 1, most)
        yield seen


def plain_noisy_max(q):
    """Noisy max as an ordinary function, which knows nothing of privproof."""
    noisy = [x + random.expovariate(0.5) - random.expovariate(0.5) for x in q]
    return noisy.index(max(noisy))


# ---------------------------------------------------------------------------------------------------------------- streams


def _step(source, target, rate, guard=(), symbol="", stores=(), reads=1):
    return Transition(
        source, target, (StreamSample(rational(rate), reads),), tuple(guard), stores=tuple(stores), symbol=symbol
    )


def _automaton(transitions):
    states = tuple(dict.fromkeys(name for t in transitions for name in (t.source, t.target)))
    return StreamAutomaton(states=states, initial=transitions[0].source, transitions=tuple(transitions))


def phases(size):
    """Above threshold again and again, each time with a new threshold: three transitions a phase."""
    quarter = Fraction(1, 4)
    listed = []
    for i in range(size // 3):
        listed.append(_step(f"t{i}", f"w{i}", Fraction(1, 2 + i % 3), stores=[("x", 0)], reads=0))
        listed.append(_step(f"w{i}", f"w{i}", quarter, [Order(0, "x")], "below"))
        listed.append(_step(f"w{i}", f"t{i + 1}", quarter, [Order("x", 0)], "above"))
    return _automaton(listed)


def min_max(k):
    """The least and the largest of k numbers, then numbers between them."""
    rate = Fraction(1, 4 * k)
    inside, below, above = (
        [Order("a", 0), Order(0, "b")],
        [Order(0, "a"), Order(0, "b")],
        [Order("a", 0), Order("b", 0)],
    )
    listed = [_step("q0", "q1", rate, symbol="first", stores=[("a", 0), ("b", 0)])]
    for i in range(1, k):
        listed.append(_step(f"q{i}", f"q{i + 1}", rate, below, "less", [("a", 0)]))
        listed.append(_step(f"q{i}", f"q{i + 1}", rate, above, "more", [("b", 0)]))
        listed.append(_step(f"q{i}", f"q{i + 1}", rate, inside, "between"))
    last, quarter = f"q{k}", Fraction(1, 4)
    listed += [_step(last, last, quarter, inside, "in"), _step(last, "end", quarter, below, "below")]
    return _automaton([*listed, _step(last, "end", quarter, above, "above")])


def ranges(m):
    """Numbers in m ranges, one after the other and around again."""
    rate, quarter = Fraction(1, 4 * m), Fraction(1, 4)
    listed = []
    for i in range(m):
        following = f"l{i + 1}" if i + 1 < m else "r0"
        listed.append(_step(f"l{i}", f"u{i}", rate, stores=[(f"a{i}", 0)], reads=0))
        listed.append(_step(f"u{i}", following, rate, stores=[(f"b{i}", 0)], reads=0))
    for i in range(m):
        low, high = f"a{i}", f"b{i}"
        listed.append(_step(f"r{i}", f"r{(i + 1) % m}", quarter, [Order(low, 0), Order(0, high)], "in"))
        listed.append(_step(f"r{i}", "end", quarter, [Order(low, 0), Order(high, 0)], "above"))
        listed.append(_step(f"r{i}", "end", quarter, [Order(0, low), Order(0, high)], "below"))
    return _automaton(listed)
