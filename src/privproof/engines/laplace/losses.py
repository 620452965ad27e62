"""Losses: an event on two data sets, with its exact probabilities on both, and which events are worth looking at."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from flint import arb

from privproof.engines.laplace.events import measure, measure_ball, tree
from privproof.engines.search_monitor import Monitor
from privproof.exact import INFINITE, ZERO, Epsilon, Rational, epsilon, fraction, rational, smallest_epsilon
from privproof.exact.balls import precision, rational_bounds
from privproof.exact.exponentials import ExponentialSum, exceeds
from privproof.exact.exponentials import loss as loss_ball
from privproof.language.branching import BranchLeaf
from privproof.language.mechanism import Mechanism
from privproof.language.patterns import ANY, Between, Unseen, key, word
from privproof.language.steps import shown_form

LARGEST = 6
"""Up to this size all ways through a mechanism are looked at; beyond it those of one word."""


_REMEMBERED = 10_000
"""So many probabilities of events are remembered: the corners of the neighbours share one side."""


@dataclass(frozen=True)
class Loss:
    """An event and its probabilities on two neighbouring data sets.

    Attributes:
        left: the arguments that make the event more likely.
        right: the other arguments.
        event: the event.
        left_probability: exactly.
        right_probability: exactly.
        runs: the runs of the mechanism on both sides, where they are known as far as the event asks.
        partial: whether these are only the runs that may lie in the event.
    """

    left: Mapping[str, Any]
    right: Mapping[str, Any]
    event: Any
    left_probability: ExponentialSum
    right_probability: ExponentialSum
    runs: tuple[tuple[BranchLeaf, ...], tuple[BranchLeaf, ...]] | None = field(default=None, repr=False, compare=False)
    partial: bool = field(default=False, repr=False, compare=False)

    @property
    def infinite(self) -> bool:
        """Whether the event is impossible on the right."""
        return self.right_probability.is_zero

    def lower(self) -> Epsilon:
        """The loss, rounded down; exactly where it is a rational, or the probabilities are."""
        if self.infinite:
            return INFINITE
        left, right = (side.at(1).rational for side in (self.left_probability, self.right_probability))
        if left is not None and right is not None:
            return smallest_epsilon(left, right)
        with precision(192):
            low, high = rational_bounds(loss_ball(self.left_probability, self.right_probability, 1, 192))
        middle = (low + high) / 2
        simple = fraction(middle).limit_denominator(1000)
        difference = self.left_probability - self.right_probability.scaled(rational(simple))
        if difference.at(1).is_zero:
            return epsilon(max(simple, Fraction(0)))
        scale = 10**15
        return epsilon(max(rational((low * scale).floor()) / scale, ZERO))

    def exceeds(self, budget: Epsilon, delta: Rational = ZERO) -> bool:
        """Whether the loss is above a budget, exactly."""
        left = self.left_probability - ExponentialSum.constant(delta)
        if left.sign(1) <= 0:
            return False
        return self.infinite or exceeds(left, self.right_probability, budget, 1)


class Trees:
    """The trees of a mechanism on the arguments tried so far."""

    def __init__(self, mechanism: Mechanism, monitor: Monitor) -> None:
        self.mechanism, self.monitor = mechanism, monitor
        self.known: dict[str, tuple[BranchLeaf, ...]] = {}
        self.measured: dict[str, arb] = {}

    def at(self, arguments: Mapping[str, Any], pattern: Any = None) -> tuple[BranchLeaf, ...]:
        """The tree on arguments; for a long list only as far as the pattern asks."""
        long = (
            pattern is not None
            and max((len(v) for v in arguments.values() if isinstance(v, list)), default=0) > LARGEST
        )
        name = repr(arguments) + (key(pattern) if long else "")
        if name not in self.known:
            if len(self.known) > 400:
                self.known.clear()
            self.known[name] = tree(
                self.mechanism, arguments, pattern if long else None, pause=self.monitor.pause, most=20_000
            )
        return self.known[name]

    def ball(self, arguments: Mapping[str, Any], event: Any) -> arb:
        """The probability of an event as a ball."""
        name = repr(arguments) + key(event)
        if name not in self.measured:
            if len(self.measured) > _REMEMBERED:
                self.measured.clear()
            self.measured[name] = measure_ball(self.at(arguments, event), event)
        return self.measured[name]

    def ratio(self, left: Mapping[str, Any], right: Mapping[str, Any], event: Any) -> float:
        """The loss of an event as a float, for ordering candidates; minus infinity where it is impossible on the left, or not known."""
        try:
            p, q = (self.ball(side, event) for side in (left, right))
        except Unseen:  # there are events about the other numbers
            return float("-inf")
        if not p > 0:
            return float("-inf")
        if q == 0:
            return float("inf")
        with precision(128):
            return float((p / q).log().mid())

    def loss(self, left: Mapping[str, Any], right: Mapping[str, Any], event: Any) -> Loss:
        """An event with its exact probabilities."""
        runs = self.at(left, event), self.at(right, event)
        p, q = (measure(leaves, event) for leaves in runs)
        pruned = self.mechanism.generator  # by the event: evidence then follows fewer runs than these
        return Loss(left, right, event, p, q, None if pruned else runs)


def events(pattern: Any, silent: Any) -> list[Any]:
    """Events for a word with noisy numbers in it: half-lines and intervals in their place."""
    places = slots(pattern)
    if not places:
        return [pattern]
    listed: list[Any] = [
        Between(None, Fraction(-3)),
        Between(Fraction(3), None),
        Between(None, Fraction(-6)),
        Between(Fraction(6), None),
    ]
    listed += [Between(Fraction(-1), Fraction(0)), Between(Fraction(0), Fraction(1))]
    result = [_filled(pattern, dict.fromkeys(places, event)) for event in listed]
    if silent is not None:
        near = {s: Between(v, v + Fraction(1, 2)) for s in places if (v := _at(silent, s)) is not None}
        result.insert(0, _filled(pattern, near))
        below = {s: Between(v - 1, v) for s in places if (v := _at(silent, s)) is not None}
        result.append(_filled(pattern, below))
    if len(places) > 1 and len(places) <= 6:
        result += [_filled(pattern, {slot: event}) for slot in places for event in listed[:4]]
    return [*result, pattern]


def away(pattern: Any, silent: Any, other: Any) -> list[Any]:
    """The event that every noisy number lies away from where it would be on the other side, if there is one.

    Of numbers that are released with Laplace noise no event has a larger loss.
    """
    if other is None:
        return []
    found: dict[tuple[int, ...], Any] = {}
    for place in slots(pattern):
        here, there = _at(silent, place), _at(other, place)
        if here is not None and there is not None and here != there:
            found[place] = Between(here, None) if here > there else Between(None, here)
    return [_filled(pattern, found)] if found else []


def output_event(pattern: Any, silent: Any) -> Any:
    """The event of one output: what would be written without noise, in the place of noisy numbers."""
    known = {slot: v for slot in slots(pattern) if (v := _at(silent, slot)) is not None}
    return _filled(pattern, {slot: int(v) if v.denominator == 1 else v for slot, v in known.items()})


def slots(pattern: Any, path: tuple[int, ...] = ()) -> list[tuple[int, ...]]:
    """The places of noisy numbers in a word."""
    if pattern == ANY and isinstance(pattern, Between):
        return [path]
    if isinstance(pattern, list | tuple):
        return [slot for i, part in enumerate(pattern) for slot in slots(part, (*path, i))]
    return []


def _filled(pattern: Any, chosen: Mapping[tuple[int, ...], Any], path: tuple[int, ...] = ()) -> Any:
    if path in chosen:
        return chosen[path]
    if isinstance(pattern, list | tuple):
        return type(pattern)(_filled(part, chosen, (*path, i)) for i, part in enumerate(pattern))
    return pattern


def _at(output: Any, path: tuple[int, ...]) -> Fraction | None:
    for step in path:
        output = output[step]
    form = shown_form(output)
    if form is not None:
        return fraction(form.constant)
    return Fraction(output) if isinstance(output, int | Fraction) else None


_DIFFERENT = 4
"""So many outputs of one word are told apart: the coins of a few records are the same word, and put out other numbers."""


def outputs_by_word(found: Sequence[BranchLeaf]) -> dict[str, list[Any]]:
    """Outputs of every word of a tree, by its key, that differ in what would be written without noise."""
    listed: dict[str, dict[str, Any]] = {}
    for leaf in found:
        if leaf.complete:
            pattern = word(leaf.output)
            told = str([_at(leaf.output, place) for place in slots(pattern)])
            outputs = listed.setdefault(key(pattern), {})
            if len(outputs) < _DIFFERENT:
                outputs.setdefault(told, leaf.output)
    return {name: list(outputs.values()) for name, outputs in listed.items()}


def words(found: Sequence[BranchLeaf]) -> list[tuple[Any, Any]]:
    """The words of a tree, each with an output that has it."""
    listed: dict[str, tuple[Any, Any]] = {}
    for leaf in found:
        if leaf.complete:
            pattern = word(leaf.output)
            listed.setdefault(key(pattern), (pattern, leaf.output))
    return list(listed.values())
