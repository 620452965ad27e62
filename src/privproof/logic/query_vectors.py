"""Vectors of bounds on a large process, in whole numbers of 64 bits: expectations without rounding, and the conditions on bounds.

An entry counts units of ``2^-52``.  A choice has one denominator D of at most ``2^36``, so that with ``V = 2^26 h + l`` the sums of
numerators times h, and times l, fit into 64 bits.  A vector that meets the conditions bounds the probability of ``f U g``, however it was
found:

* ``U >= 0``, U is 1 where g holds, and where f holds and not g, ``U(s) >= E U`` for every choice (greatest probability) or for one choice
  (least): by induction on the steps (Park) U is at least the probability, under every scheduler or under those choices.
* T are the states with ``L > 0`` where g does not hold; there f holds, ``L(s) <= E L`` for one choice (greatest) or every choice
  (least), and T is left almost surely by these choices: each has a next state outside of T or of a smaller rank.  Then L is at most the
  expected L where T is left, hence at most the probability.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from privproof.logic.decision_process import Bools, DecisionProcess, Enclosure, Ints, Numbered
from privproof.logic.enclosed_processes import Floats
from privproof.logic.exact_solving import TooLarge
from privproof.logic.process_graphs import ProcessGraph

UNITS = 1 << 52
"""The probability 1 in units: what a double keeps of it."""
_HALF = 26
"""Bits of the lower part of an entry."""
_LOWER = (1 << _HALF) - 1
"""The lower part of an entry, as a mask."""
_LARGEST_DENOMINATOR = 1 << 36
"""Of a choice: with a larger one the sums of products would not fit into 64 bits."""


@dataclass(frozen=True, eq=False)
class VectorBound:
    """A vector that bounds a probability from one side.

    Attributes:
        values: the bound in every state, in units.
        policy: for every state the number of its choice, where the bound is about one choice.
        ranks: for bounds from below, by which it is seen that no run stays.
        falls: for bounds from above on repetition, what falls where the values themselves do not.
    """

    values: Ints
    policy: Ints | None = None
    ranks: Ints | None = None
    falls: Ints | None = None


@dataclass(frozen=True, eq=False)
class Columns:
    """The arrays of a process without enclosures: its choices with numerators over one denominator each."""

    process: DecisionProcess

    def __len__(self) -> int:
        return len(self.process)

    @cached_property
    def first(self) -> Ints:
        """The first choice of every state."""
        return np.asarray(self.process.choices[:-1])

    @cached_property
    def begins(self) -> Ints:
        """The first entry of every choice."""
        return np.asarray(self.process.rows[:-1])

    @cached_property
    def owner(self) -> Ints:
        """The state of every choice."""
        return np.repeat(np.arange(len(self)), np.diff(self.process.choices))

    @cached_property
    def choice(self) -> Ints:
        """The choice of every entry."""
        return np.repeat(np.arange(len(self.begins)), np.diff(self.process.rows))

    @cached_property
    def graph(self) -> ProcessGraph:
        """Every entry of every choice, from state to state."""
        process = self.process
        return ProcessGraph(process.rows[process.choices], process.targets, process.values)

    @cached_property
    def floats(self) -> Floats:
        """The probability of every entry."""
        numbers = [0.0 if isinstance(p, Enclosure) else int(p.p) / int(p.q) for p in self.process.numbers]
        return np.array(numbers, np.float64)[self.process.values]

    @cached_property
    def fractions(self) -> tuple[Ints, Ints]:
        """The numerators of entries, and the denominators of choices."""
        process = self.process
        numbers = [number for number in process.numbers if not isinstance(number, Enclosure)]
        if len(numbers) < len(process.numbers) or max(int(number.q) for number in numbers) > _LARGEST_DENOMINATOR:
            raise TooLarge("the probabilities have long denominators")
        over = np.array([int(number.q) for number in numbers], np.int64)[process.values]
        common = np.lcm.reduceat(over, self.begins)
        lengths = np.diff(process.rows)
        # a multiple that does not fit turns into something else, which is noticed here
        if common.min() < 1 or common.max() > _LARGEST_DENOMINATOR or (np.repeat(common, lengths) % over).any():
            raise TooLarge("the probabilities of a choice have no short common denominator")
        numerators = np.array([int(number.p) for number in numbers], np.int64)[process.values]
        return np.asarray(numerators * (np.repeat(common, lengths) // over), np.int64), np.asarray(common, np.int64)

    def _expected(self, vector: Ints) -> tuple[Ints, Ints]:
        numerators, _ = self.fractions
        targets = self.process.targets
        upper = np.add.reduceat(numerators * (vector >> _HALF)[targets], self.begins)
        lower = np.add.reduceat(numerators * (vector & _LOWER)[targets], self.begins)
        return upper + (lower >> _HALF), lower & _LOWER

    def compared(self, vector: Ints) -> tuple[Bools, Bools]:
        """For every choice whether its state's entry is at least the expected one, and whether it is at most that."""
        upper, lower = self._expected(vector)
        _, denominators = self.fractions
        own = vector[self.owner]
        first = denominators * (own >> _HALF) - upper
        second = denominators * (own & _LOWER) - lower
        first += second >> _HALF
        return first >= 0, (first < 0) | ((first == 0) & (second & _LOWER == 0))

    def stepped(self, vector: Ints, *, up: bool, largest: bool) -> Ints:
        """For every state the largest or least expected entry after a step, rounded up or down."""
        upper, lower = self._expected(vector)
        _, denominators = self.fractions
        quotient, rest = np.divmod(upper, denominators)
        more, rest = np.divmod((rest << _HALF) + lower, denominators)
        moved = (quotient << _HALF) + more + ((rest > 0) if up else 0)
        return np.asarray((np.maximum if largest else np.minimum).reduceat(moved, self.first), np.int64)

    def within_steps(self, begin: Ints, steps: int) -> Ints:
        """The states that so many steps lead to from some, in order; themselves included."""
        graph = self.graph
        found = np.zeros(len(self), np.bool_)
        found[begin] = True
        front = np.flatnonzero(found)
        for _ in range(steps):
            onward = np.unique(graph.targets[runs_of(graph.rows, front)])
            front = onward[~found[onward]]
            if not len(front):
                break
            found[front] = True
        return np.flatnonzero(found)

    def only(self, states: Ints) -> Columns:
        """The process of some states, in order, and nothing but its numbers; what leads elsewhere leads to the first of them."""
        process = self.process
        choices = runs_of(process.choices, states)
        entries = runs_of(process.rows, choices)
        place = np.zeros(len(self), np.int64)
        place[states] = np.arange(len(states))
        return Columns(
            DecisionProcess(
                names=Numbered(len(states)),
                actions=process.actions,
                choices=np.append(0, np.cumsum(np.diff(process.choices)[states])),
                rows=np.append(0, np.cumsum(np.diff(process.rows)[choices])),
                targets=place[process.targets[entries]],
                values=process.values[entries],
                numbers=process.numbers,
                action_of=process.action_of[choices] if process.actions else process.action_of,
            )
        )

    def _considered(self, bound: VectorBound) -> Bools:
        if bound.policy is None:
            return np.ones(len(self.begins), np.bool_)
        marks = np.zeros(len(self.begins), np.bool_)
        marks[self.first + bound.policy] = True
        return marks

    def is_high(self, bound: VectorBound, stay: Bools, goal: Bools) -> bool:
        """Whether a vector bounds the probability from above."""
        values = bound.values
        if values.min() < 0 or values.max() > UNITS or (values[goal] != UNITS).any():
            return False
        about = self._considered(bound) & (stay & ~goal)[self.owner]
        return not (about & ~self.compared(values)[0]).any()

    def is_low(self, bound: VectorBound, stay: Bools, goal: Bools) -> bool:
        """Whether a vector bounds the probability from below."""
        values = bound.values
        inside = (values > 0) & ~goal
        if values.min() < 0 or values.max() > UNITS or (inside & ~stay).any() or bound.ranks is None:
            return False
        about = self._considered(bound) & inside[self.owner]
        return self._is_ranked(bound.ranks, inside, about) and not (about & ~self.compared(values)[1]).any()

    def is_high_often(self, bound: VectorBound, often: Bools) -> bool:
        """Whether a vector bounds the probability of visiting states for ever from above."""
        values = bound.values
        falls = values if bound.falls is None else bound.falls
        about = self._considered(bound) & (values < UNITS)[self.owner]
        above, below = self.compared(falls)
        falling = above & ~(below & often[self.owner])
        if bound.falls is not None:
            falling &= self.compared(values)[0]
        inside = all(vector.min() >= 0 and vector.max() <= UNITS for vector in (values, falls))
        return inside and not (about & ~falling).any()

    def is_low_often(self, bound: VectorBound, often: Bools) -> bool:
        """Whether a vector bounds the probability of visiting states for ever from below."""
        values = bound.values
        if values.min() < 0 or values.max() > UNITS or bound.ranks is None:
            return False
        about = self._considered(bound) & (values > 0)[self.owner]
        ranked = self._is_ranked(bound.ranks, (values > 0) & ~often, about)
        return ranked and not (about & ~self.compared(values)[1]).any()

    def _is_ranked(self, given: Ints, inside: Bools, about: Bools) -> bool:
        """Whether some choices of the states inside all have a next state of a smaller rank, where it is 0 outside."""
        ranks = np.where(inside, given, 0)
        nearest = np.minimum.reduceat(ranks[self.process.targets], self.begins)
        return (
            bool((ranks[inside] > 0).all()) and not (about & inside[self.owner] & (nearest >= ranks[self.owner])).any()
        )


def runs_of(begins: Ints, which: Ints) -> Ints:
    """All numbers from some beginnings to the next ones; the last beginning is the end."""
    first = begins[which]
    lengths = begins[which + 1] - first
    return np.repeat(first - np.append(0, np.cumsum(lengths)[:-1]), lengths) + np.arange(lengths.sum())
