"""A mechanism as a labelled Markov chain, so that a formula can be asked of a program.

Every data set is a state, labelled ``input``; from it each step shows one more output, which is the label of the state reached; after
the last output comes the state ``end``, labelled ``end``, for ever.  Neighbouring data sets are neighbours.  So of a mechanism that
returns a value the formula ``D[ln(2), 0](X "3")`` speaks of the output 3, and of a generator ``P>=1/2 [ X ("below" & X "above") ]`` of
the first two.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from privproof.compiling.programs import question as mechanism_question
from privproof.compiling.word_problems import input_choices
from privproof.errors import QuestionError
from privproof.exact import ONE, ZERO, Rational
from privproof.language import Mechanism
from privproof.models import DecisionProcess, Horizon, Transducer
from privproof.models.process import Bools, Builder, Probability
from privproof.scenarios import Origin, Question, ordered_pairs

INPUT, END = "input", "end"
_MOST_SETS = 20_000
_MOST_STATES = 400_000

Masses: TypeAlias = "Mapping[str, Rational]"
Side: TypeAlias = "tuple[str, int, tuple[str, ...]]"


def mechanism_process(
    mechanism: Mechanism, *, size: int | None = None, horizon: Horizon | None = None
) -> DecisionProcess:
    """The labelled Markov chain of a mechanism at a size.

    Args:
        mechanism: the mechanism; its noise is discrete.
        size: the length of its lists, where their declaration leaves it open.
        horizon: for a mechanism on a stream, how many values are read.

    >>> from privproof.language import bernoulli, integer, mechanism
    >>> @mechanism
    ... def survey(ill: integer(0, 1)):
    ...     return ill if bernoulli("1/2") else int(bernoulli("1/2"))
    >>> chain = mechanism_process(survey)
    >>> list(chain.names), chain.entries(0), chain.neighbours
    (['ill=0', 'ill=1', '0', '1', 'end'], [(2, 3/4), (3, 1/4)], ((0, 1),))
    """
    question = mechanism_question(mechanism, size=size, horizon=horizon)
    origin, model = question.origin, question.model
    assert origin is not None
    assert isinstance(model, Transducer)
    return _Chain(question, model, origin).process()


@dataclass(frozen=True)
class _Node:
    """What is known after some outputs: the last one, the step, and the masses of the states (None: it is over)."""

    shown: str | None
    step: int
    masses: tuple[tuple[str, Rational], ...]
    inputs: tuple[str, ...]


class _Chain:
    def __init__(self, question: Question, model: Transducer, origin: Origin) -> None:
        self.question, self.model, self.origin = question, model, origin
        steps = 1 if origin.fed is None else len(model.steps)
        if origin.mechanism.stream is not None:
            horizon = question.horizon
            if horizon is None or horizon.high is None:
                raise QuestionError(
                    "horizon",
                    "a formula about a mechanism on a stream needs to know how many values are read",
                    place="horizon",
                    hint="--horizon 3",
                )
            steps = horizon.high
        self.steps = steps
        self.numbers: dict[object, int] = {}
        self.names: list[str] = []
        self.labels: dict[str, list[int]] = {}
        self.waiting: list[_Node] = []

    def process(self) -> DecisionProcess:
        pairs = list(self._pairs())
        begins: dict[tuple[object, ...], Side] = {}
        for sides in pairs:
            for side in sides:
                begins.setdefault(self._key(side), side)
        rows: dict[int, list[tuple[int, Probability]]] = {}
        starts = []
        for key, side in begins.items():
            pair, which, inputs = side
            arguments = self.origin.arguments(pair, which, inputs)
            name = ", ".join(f"{n}={v!r}" for n, v in arguments.items())
            number = self._number(("data", key), name, INPUT)
            starts.append((number, side))
        for number, (pair, which, inputs) in starts:
            rows[number] = self._following(_Node(None, 0, self._initial(pair, which), inputs))
        done = 0
        while done < len(self.waiting):
            node = self.waiting[done]
            done += 1
            rows[self.numbers[node]] = self._following(node)
        end = self._number(END, END, END)
        rows[end] = [(end, ONE)]
        for number in self.numbers.values():
            rows.setdefault(number, [(end, ONE)])
        build = Builder()
        for number in range(len(self.names)):
            build.choice(None, rows[number])
            build.state()
        related = {(self.numbers["data", self._key(s)], self.numbers["data", self._key(t)]) for s, t in pairs}
        return build.process(
            names=tuple(self.names),
            labels={label: self._marks(states) for label, states in self.labels.items()},
            initial=tuple(number for number, _ in starts),
            neighbours=tuple(sorted((s, t) for s, t in related if s < t)),
            name=self.question.name,
        )

    def _marks(self, states: list[int]) -> Bools:
        marks = np.zeros(len(self.names), np.bool_)
        marks[states] = True
        return marks

    def _key(self, side: Side) -> tuple[object, ...]:
        pair, which, inputs = side
        return tuple(map(repr, self.origin.arguments(pair, which, inputs).values()))

    def _pairs(self) -> Iterator[tuple[Side, Side]]:
        """Every ordered pair of neighbouring data sets."""
        begin, choices = input_choices(self.question.scenario.neighbours, self.model)
        count = 0
        for pair in ordered_pairs(self.question):
            waiting: list[tuple[tuple[str, ...], tuple[str, ...], object]] = [((), (), begin)]
            while waiting:
                left, right, memory = waiting.pop()
                if len(left) == self.steps:
                    count += 1
                    if count > _MOST_SETS:
                        raise QuestionError(
                            "size",
                            f"there are more than {_MOST_SETS} pairs of neighbouring data sets, too many for one chain",
                            place="size",
                            hint="a smaller --size, or privproof check, which needs no list of them",
                        )
                    yield (pair.name, 0, left), (pair.name, 1, right)
                    continue
                onward = [((*left, v), (*right, w), after) for v, w, after in choices(len(left), memory)]
                waiting.extend(reversed(onward))

    def _initial(self, pair: str, which: int) -> tuple[tuple[str, Rational], ...]:
        found = next(p for p in ordered_pairs(self.question) if p.name == pair)
        return tuple((found.left if which == 0 else found.right).items())

    def _number(self, key: object, name: str, label: str | None) -> int:
        if key not in self.numbers:
            if len(self.names) > _MOST_STATES:
                raise QuestionError("size", f"the chain has more than {_MOST_STATES} states", place="size")
            self.numbers[key] = len(self.names)
            self.names.append(name)
            if label is not None:
                self.labels.setdefault(label, []).append(self.numbers[key])
        return self.numbers[key]

    def _following(self, node: _Node) -> list[tuple[int, Probability]]:
        """One step of the chain: inputs are read until something is shown, or the run is over."""
        result: dict[int, Rational] = {}
        total = sum((p for _, p in node.masses), ZERO)

        def reach(target: int, mass: Rational) -> None:
            result[target] = result.get(target, ZERO) + mass / total

        silent: dict[str, Rational] = dict(node.masses)
        for step in range(node.step, self.steps + 1):
            table = self.model.step(step) if step < self.steps else None
            if table is None:
                break
            moved: dict[str, Rational] = {}
            written: dict[str, dict[str, Rational]] = {}
            for state, mass in silent.items():
                if state not in table:
                    reach(self._number(END, END, END), mass)
                    continue
                for branch in table[state][node.inputs[step]]:
                    into = moved if branch.output is None else written.setdefault(branch.output, {})
                    into[branch.target] = into.get(branch.target, ZERO) + mass * branch.probability
            for output, masses in written.items():
                whole = sum(masses.values(), ZERO)
                share = tuple(sorted((state, mass / whole) for state, mass in masses.items()))
                last = step + 1 >= self.steps and self.model.finish is None
                after = _Node(output, step + 1, share, node.inputs)
                key: object = ("shown", output) if last else after
                fresh = key not in self.numbers
                target = self._number(key, output if last else f"{output} #{len(self.names)}", output)
                if fresh and not last:
                    self.waiting.append(after)
                reach(target, whole)
            silent = moved
            if not silent:
                break
        self._finish(silent, reach)
        return list(result.items())

    def _finish(self, masses: Masses, reach: Callable[[int, Rational], None]) -> None:
        for state, mass in masses.items():
            ends = None if self.model.finish is None else self.model.finish[state]
            if ends is None:
                reach(self._number(END, END, END), mass)
                continue
            for output, p in ends.items():
                reach(self._number(("shown", output), output, output), mass * p)
