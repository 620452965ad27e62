"""Losses: two streams of data, what is written, and both probabilities as rigorous balls.

For an execution with differences Δ the data ``t Δ`` and ``(t + 1) Δ`` are neighbours, and the loss of the event that its transitions are
taken (and that numbers that are written come out near 0) tends to the value of the execution as t grows.  Here t is increased
until the loss is above what is asked for.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product

from flint import arb

from privproof.engines.integrals.leaf_integrals import Halfspace
from privproof.engines.integrals.piecewise_functions import CentredNoise
from privproof.engines.integrals.region_probabilities import difference, probability_ball
from privproof.engines.search_monitor import Monitor
from privproof.exact import ONE, ZERO, Epsilon, Rational
from privproof.exact.balls import precision
from privproof.models.stream_automaton import Order, StreamAutomaton, Term, Transition, alternatives, possible

_BITS = 192
"""Precision of probabilities and of e^epsilon; a loss that it does not show to be above a budget refutes nothing."""
_WINDOWS = (Rational(1, 8), Rational(1, 64), Rational(1, 1024), Rational(1, 65536))
"""Widths of the windows around numbers that are written: the narrower, the nearer the loss is to that of the numbers."""
_HALF = Rational(1, 2)
"""How far data are moved aside that would be compared with an equal number without noise."""
_LARGEST = 1 << 24
"""The furthest that data are moved apart; the loss comes near to its limit exponentially fast, so more brings nothing."""
_MOST_EXECUTIONS = 16
"""Executions that write the same are added up; each is an integral of its own, so more are refused."""
_SIMPLE = 6
"""Beyond this measure of how samples are entangled, guards with alternatives make too many integrals."""
_MOST_ALTERNATIVES = 3
"""Guards with alternatives in one execution: every choice among them is an integral of its own."""


@dataclass(frozen=True)
class ValueWindow:
    """Where a number that is written shall lie."""

    low: Rational
    high: Rational


@dataclass(frozen=True)
class StreamLoss:
    """An event on two streams.

    Attributes:
        steps: the transitions that are taken.
        left: the input of every step, None where nothing is read, on the side that makes the event more likely.
        right: the same on the other side.
        windows: for every step where the numbers that it writes shall lie.
        left_probability: a ball.
        right_probability: a ball; exactly zero where the event is impossible.
        far: the t of the data.
    """

    steps: tuple[int, ...]
    left: tuple[Rational | None, ...]
    right: tuple[Rational | None, ...]
    windows: tuple[tuple[ValueWindow, ...], ...]
    left_probability: arb
    right_probability: arb
    far: int = 0

    @property
    def infinite(self) -> bool:
        """Whether the event is impossible on the right."""
        return bool(self.right_probability == 0)

    def ball(self) -> arb:
        """The loss."""
        with precision(_BITS):
            return (self.left_probability / self.right_probability).log()

    def exceeds(self, epsilon: Epsilon, delta: Rational = ZERO) -> bool:
        """Whether the loss is surely above a budget."""
        with precision(_BITS):
            above = self.left_probability - arb(delta)
            if self.infinite:
                return bool(above > 0)
            return not epsilon.infinite and bool(above > epsilon.ball(_BITS).exp() * self.right_probability)


def probability(
    automaton: StreamAutomaton,
    steps: Sequence[int],
    inputs: Sequence[Rational | None],
    windows: Sequence[Sequence[ValueWindow]],
) -> arb:
    """The probability that what a run writes in its first steps is what these transitions write.

    Where output distinction holds only these transitions write that; otherwise all executions that do are added up.

    Raises:
        OverflowError: there are too many of them, or too many guards with alternatives.
    """
    total = arb(0)
    with precision(_BITS):
        for execution in _alike(automaton, steps):
            if sum(step.some for step in execution) > _MOST_ALTERNATIVES:
                raise OverflowError("too many guards with alternatives")
            for chosen in product(*(alternatives(step) for step in execution)):
                total = total + _measure(execution, chosen, inputs, windows)
    return total


def countable(automaton: StreamAutomaton, steps: Sequence[int]) -> bool:
    """Whether the executions that write the same as one are few enough to be added up."""
    try:
        found = list(_alike(automaton, steps))
    except OverflowError:
        return False
    alternatives = max(sum(step.some for step in execution) for execution in found)
    if alternatives and tangle(automaton, steps) > _SIMPLE:
        return False
    return alternatives <= _MOST_ALTERNATIVES


def _alike(automaton: StreamAutomaton, steps: Sequence[int]) -> Iterator[list[Transition]]:
    """The executions that write the same."""
    wanted = [automaton.transitions[number] for number in steps]
    if automaton.tells(steps):
        yield wanted
        return
    waiting: list[tuple[str, list[Transition]]] = [(automaton.initial, [])]
    found = 0
    while waiting:
        state, taken = waiting.pop()
        if len(taken) == len(wanted):
            found += 1
            yield taken
            continue
        like = wanted[len(taken)]
        for number in automaton.leaving.get(state, ()):
            step = automaton.transitions[number]
            if (step.symbol, len(step.values)) == (like.symbol, len(like.values)):
                waiting.append((step.target, [*taken, step]))
        if len(waiting) + found > _MOST_EXECUTIONS:
            raise OverflowError("too many executions write the same")


class Tie(Exception):
    """Two numbers without noise are equal where they are compared: guards of a state may hold together there."""


def _measure(
    steps: Sequence[Transition],
    guards: Sequence[Sequence[Order]],
    inputs: Sequence[Rational | None],
    windows: Sequence[Sequence[ValueWindow]],
) -> arb:
    noises: list[CentredNoise] = []
    differences: list[Halfspace] = []
    held: dict[str, tuple[int | None, Rational]] = {}
    for step, guard, given, near in zip(steps, guards, inputs, windows, strict=True):
        drawn: list[tuple[int | None, Rational]] = []
        for sample in step.samples:
            middle = sample.mean + (sample.reads * given if given is not None and sample.reads else ZERO)
            if sample.rate is None:
                drawn.append((None, middle))
            else:
                drawn.append((len(noises), middle))
                noises.append(CentredNoise("laplace", 1 / sample.rate))

        def of(term: Term, drawn: Sequence[tuple[int | None, Rational]] = drawn) -> tuple[int | None, Rational]:
            return (None, ZERO) if term is None else drawn[term] if isinstance(term, int) else held[term]

        wanted = [(of(order.low), of(order.high), order.offset) for order in guard]
        for value, window in zip(step.values, near, strict=True):
            wanted.append((of(value.minus), of(value.plus), window.low - value.constant))
            wanted.append((of(value.plus), of(value.minus), value.constant - window.high))
        for (low, below), (high, above), offset in wanted:
            limit = offset - above + below
            if low == high:
                if limit > 0:
                    return arb(0)
                if limit == 0 and low is None:
                    raise Tie
                continue
            differences.append(difference(low, high, limit))
        for name, number in step.stores:
            held[name] = drawn[number]
    return probability_ball(noises, differences, ONE, _BITS)


def loss(
    automaton: StreamAutomaton,
    steps: Sequence[int],
    changes: Sequence[int],
    within: Rational,
    far: int,
    width: Rational,
    aside: Rational = ZERO,
) -> StreamLoss:
    """The loss of an execution on ``far * Δ`` and ``(far + 1) * Δ``, with written numbers that near to 0.

    Raises:
        Tie: numbers without noise are equal where they are compared; data that are moved `aside` by a part of Δ may not be.
    """
    transitions = [automaton.transitions[number] for number in steps]
    sides = [
        tuple(
            (times + aside) * change * within if step.reads else None
            for step, change in zip(transitions, changes, strict=True)
        )
        for times in (Rational(far), Rational(far + 1))
    ]
    windows = tuple(tuple(ValueWindow(-width, width) for _ in step.values) for step in transitions)
    left, right = (probability(automaton, steps, side, windows) for side in sides)
    return StreamLoss(tuple(steps), sides[0], sides[1], windows, left, right, far)


def losses(
    automaton: StreamAutomaton,
    steps: Sequence[int],
    changes: Sequence[int],
    within: Rational,
    monitor: Monitor,
    *,
    most: int = _LARGEST,
    pace: int = 2,
) -> Iterator[StreamLoss]:
    """Losses of an execution that come nearer and nearer to its value, on data further and further apart."""
    real = any(automaton.transitions[number].values for number in steps)
    bare = any(sample.rate is None for number in steps for sample in automaton.transitions[number].samples)
    far = -1 if bare else 0
    while far <= most:
        for width in _WINDOWS if real else _WINDOWS[:1]:
            for aside in (ZERO, _HALF) if bare else (ZERO,):
                monitor.pause()
                try:
                    found = loss(automaton, steps, changes, within, far, width, aside)
                except Tie:
                    continue
                if found.left_probability > 0:
                    yield found
        far = max(far + 1, pace * far)


def tangle(automaton: StreamAutomaton, steps: Sequence[int]) -> int:
    """How hard the probability of an execution is to integrate: what its samples have to do with more than one other."""
    total = 0
    for number in steps:
        step = automaton.transitions[number]
        met = [0] * len(step.samples)
        for order in step.guard:
            for term in (order.low, order.high):
                if isinstance(term, int):
                    met[term] += 1
        for _, sample in step.stores:
            met[sample] += 1
        total += sum(max(0, count - 1) for count in met)
    return total


def can_happen(automaton: StreamAutomaton, steps: Sequence[int]) -> bool:
    """Whether an execution has a positive probability, for some data: its comparisons do not contradict each other.

    Guards with alternatives are taken to be possible.
    """
    orders: list[Order] = []
    held: dict[str, str] = {}
    for place, number in enumerate(steps):
        step = automaton.transitions[number]

        def of(term: Term, place: int = place) -> Term:
            return None if term is None else f"{place}.{term}" if isinstance(term, int) else held[term]

        if not step.some:
            orders += [Order(of(order.low), of(order.high), order.offset) for order in step.guard]
        for name, sample in step.stores:
            held[name] = f"{place}.{sample}"
    return possible(_drop_loose_orders(orders))


def _drop_loose_orders(orders: Sequence[Order]) -> list[Order]:
    """Comparisons without those that only one other term takes part in: they are no part of a cycle."""
    kept = list(orders)
    while True:
        below: dict[Term, int] = {}
        above: dict[Term, int] = {}
        for order in kept:
            below[order.low] = below.get(order.low, 0) + 1
            above[order.high] = above.get(order.high, 0) + 1
        less = [o for o in kept if o.low in above and o.high in below]
        if len(less) == len(kept):
            return less
        kept = less
