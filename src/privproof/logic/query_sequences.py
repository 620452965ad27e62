"""What sequences of actions do to the product of a decision process and a formula: the mass they move, and the word problem they pose."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product as product_of
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from privproof.compiling import word_problem
from privproof.engines.search_monitor import Monitor
from privproof.exact import ONE, ZERO, Budget, Rational
from privproof.logic.automaton_products import MonitorProduct
from privproof.logic.decision_process import mark_states
from privproof.logic.exact_solving import Exactly
from privproof.logic.optimal_schedulers import least_and_most
from privproof.logic.process_graphs import ProcessGraph
from privproof.models import Branch, Horizon, Transducer
from privproof.scenarios import Pair, Question, Scenario, Words

if TYPE_CHECKING:
    from privproof.compiling import Compiled

STAY, HALTED = "stay", "halted"
_LASSOS = 300
"""Repeating sequences of actions that are tried as counterexamples, the shortest first."""

Masses: TypeAlias = "Mapping[int, Rational]"
Actions: TypeAlias = "tuple[int, ...]"


@dataclass(frozen=True, eq=False)
class Sequences:
    """A product, with the least and the largest probability of the formula in every node, and after how many steps it is decided.

    Attributes:
        whole: the product.
        low: the least probability over all schedulers.
        high: the largest.
        steps: after how many actions the formula is decided; None where there is no such number.
        monitor: progress, a time limit, an interrupt.
    """

    whole: MonitorProduct
    low: list[Rational]
    high: list[Rational]
    steps: int | None
    monitor: Monitor

    @classmethod
    def of(cls, whole: MonitorProduct, steps: int | None, monitor: Monitor) -> Sequences:
        """The sequences of a product."""
        return cls(whole, *least_and_most(whole, monitor), steps, monitor)

    @property
    def counted(self) -> int:
        """The node for what surely counts."""
        return MonitorProduct.LOST if self.whole.complemented else MonitorProduct.GOAL

    @property
    def other(self) -> int:
        """The node for what never does."""
        return MonitorProduct.GOAL if self.whole.complemented else MonitorProduct.LOST

    def merged(self, node: int) -> int:
        """The node, or the one for all that is decided as it is."""
        return self.counted if self.low[node] == 1 else self.other if self.high[node] == 0 else node

    def row(self, node: int, action: int) -> tuple[tuple[int, Rational], ...]:
        """The distribution of an action in a node."""
        return next(row for own, row in self.whole.choices[node] if own == action)

    def moved(self, masses: Masses, action: int) -> Masses:
        """The masses after an action."""
        result: dict[int, Rational] = {}
        for node, mass in masses.items():
            if node in (MonitorProduct.GOAL, MonitorProduct.LOST):
                result[node] = result.get(node, ZERO) + mass
                continue
            for target, number in self.row(node, action):
                result[target] = result.get(target, ZERO) + mass * number
        return result

    def under(self, state: int, before: tuple[int, ...], repeated: tuple[int, ...]) -> Rational:
        """The probability of the formula from a state under one sequence of actions."""
        whole, length = self.whole, len(before) + len(repeated)
        sequence = before + repeated
        numbers: dict[Rational, int] = {}
        places: dict[tuple[int, int], int] = {}
        waiting: list[tuple[int, int]] = []

        def place(node: int, at: int) -> int:
            key = (node, 0 if node in (MonitorProduct.GOAL, MonitorProduct.LOST) else at)
            if key not in places:
                places[key] = len(places)
                waiting.append(key)
            return places[key]

        goal = place(MonitorProduct.GOAL, 0)
        begin = place(whole.start[state], 0)
        sources, targets, values = [], [], []
        done = 0
        while done < len(waiting):
            node, at = waiting[done]
            done += 1
            if node in (MonitorProduct.GOAL, MonitorProduct.LOST):
                continue
            following = at + 1 if at + 1 < length else len(before)
            for target, number in self.row(node, sequence[at]):
                sources.append(places[node, at])
                targets.append(place(target, following))
                values.append(numbers.setdefault(number, len(numbers)))
        graph = ProcessGraph.sorted_by_source(
            len(places), np.array(sources, np.int64), np.array(targets, np.int64), np.array(values, np.int64)
        )
        everywhere = np.ones(len(places), np.bool_)
        goals = mark_states(len(places), [goal])
        can = graph.reaching(goals, everywhere)
        arithmetic = Exactly(tuple(numbers), self.monitor)
        unknown = can & ~goals
        reached: Rational = arithmetic.solve(graph, arithmetic.indicator(goals), unknown)[begin]
        return 1 - reached if whole.complemented else reached

    def continued(self, word: Actions) -> Iterator[tuple[Actions, Actions]]:
        """Periodic sequences of actions to try: those that begin as the word does, then short ones."""
        actions = range(len(self.whole.process.actions))
        if self.steps is not None:
            yield word, (0,)
            return
        for length in range(len(word), -1, -1):
            yield from ((word[:length], (a,)) for a in actions)
        if word:
            yield word, word
            yield (), word
        tried = 0
        for size in range(2, 7):
            for cycle in range(1, size + 1):
                for sequence in product_of(actions, repeat=size):
                    tried += 1
                    if tried > _LASSOS:
                        return
                    yield sequence[: size - cycle], sequence[size - cycle :]

    def problem(self, pairs: list[tuple[int, int]], budget: Budget, name: str) -> tuple[Compiled, tuple[int, ...]]:
        """The word problem of some pairs: actions as letters, and `stop`, after which the mass that counts halts."""
        whole = self.whole
        names = whole.process.actions
        stop = stop_letter(names)
        counted, other = self.counted, self.other
        reached = list(dict.fromkeys(self.merged(whole.start[s]) for pair in pairs for s in pair))
        at = 0
        steps: dict[str, dict[str, list[Branch]]] = {}
        while at < len(reached):
            node = reached[at]
            at += 1
            rows: dict[str, list[Branch]] = {}
            for action, name in enumerate(names):
                entries: dict[int, Rational] = {}
                row = ((node, ONE),) if node in (counted, other) else self.row(node, action)
                for target, number in row:
                    key = self.merged(target)
                    entries[key] = entries.get(key, ZERO) + number
                    if key not in reached:
                        reached.append(key)
                rows[name] = [Branch(number, str(key)) for key, number in entries.items()]
            survives = node == counted or (whole.complemented and node != other)
            rows[stop] = [Branch(ONE, HALTED if survives else STAY)]
            steps[str(node)] = rows
        steps[STAY] = {name: [Branch(ONE, STAY)] for name in (*names, stop)}
        states = [str(node) for node in reached]
        model = Transducer(
            states=[*states, STAY, HALTED],
            inputs=[*names, stop],
            outputs=["output"],
            initial={states[0]: ONE},
            steps=[steps],
            repeats=True,
        )
        listed = []
        for position, pair in enumerate(pairs):
            left, right = (str(self.merged(whole.start[x])) for x in pair)
            listed.append(Pair.of(model, str(position), {left: 1}, {right: 1}))
        question = Question(
            model=model,
            scenario=Scenario(pairs=tuple(listed), words=Words(ending="complete")),
            horizon=Horizon.unbounded() if self.steps is None else Horizon.exactly(self.steps + 1),
            name=name,
        )
        return word_problem(question.under(budget), alike=True), tuple(reached)


def stop_letter(actions: Sequence[str]) -> str:
    """A name for the letter after which the mass that counts halts, that no action has.

    >>> stop_letter(["go"]), stop_letter(["go", "stop"])
    ('stop', "stop'")
    """
    name = "stop"
    while name in actions:
        name += "'"
    return name


def weighted_sum_of(masses: Masses, values: list[Rational]) -> Rational:
    """The sum of values, weighed by masses."""
    total = ZERO
    for node, mass in masses.items():
        total += mass * values[node]
    return total
