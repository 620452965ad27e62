"""A mechanism as a labelled Markov chain, so that a formula can be asked of a program.

Every data set is a state, labelled ``input``; from it each step shows one more output, which is the label of the state reached; after
the last output comes the state ``end``, labelled ``end``, for ever.  Neighbouring data sets are neighbours.  So of a mechanism that
returns a value the formula ``D[ln(2), 0](X "3")`` speaks of the output 3, and of a generator ``P>=1/2 [ X ("below" & X "above") ]`` of
the first two.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TypeAlias

from privproof.compiling.outputs import Symbols
from privproof.compiling.programs import mechanism_question
from privproof.compiling.word_problems import input_choices
from privproof.errors import QuestionError
from privproof.exact import ONE, ZERO, Rational
from privproof.language.values import ENDED, Cells
from privproof.logic.decision_process import Builder, DecisionProcess, Probability, mark_states
from privproof.models import Horizon, Transducer
from privproof.scenarios import Origin, Question, Several, ordered_pairs

if TYPE_CHECKING:
    from privproof.language import Mechanism

INPUT, END = "input", "end"
_MOST_SETS = 20_000
"""Pairs of neighbouring data sets, which a chain lists one by one; more are refused."""
_MOST_STATES = 400_000
"""States of the chain, which are kept with their names; more are refused."""

Side: TypeAlias = "tuple[str, int, tuple[str, ...]]"


def mechanism_process(
    mechanism: Mechanism, *, size: int | None = None, horizon: Horizon | int | None = None
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
    lengths = Horizon.exactly(horizon) if isinstance(horizon, int) else horizon
    question = mechanism_question(mechanism, size=size, horizon=lengths)
    origin, model = question.origin, question.model
    assert origin is not None
    assert isinstance(model, Transducer)
    return replace(_MechanismChain(question, model, origin).process(), relies=question.relied_on())


Pending: TypeAlias = "tuple[str, ...]"
Content: TypeAlias = "tuple[tuple[Pending, int | None, tuple[tuple[str, Rational], ...]], ...]"
"""What is known of a run after some outputs: for outputs already written but not yet shown, and the next step of the model (None: the
run is over), the masses of the model's states.  All masses sum to one."""

_OVER = ""
"""The state of a run that is over, where masses are listed by state."""


@dataclass(frozen=True)
class _Node:
    """A state of the chain: the output it shows, what is known there, and the inputs still to be read."""

    shown: str
    content: Content
    inputs: tuple[str, ...]


class _MechanismChain:
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
        self.parts = _parts(origin)
        self.situations = {pair.name: pair for pair in ordered_pairs(question)}
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
            rows[number] = self._following((((), 0, self._initial(pair, which)),), inputs)
        done = 0
        while done < len(self.waiting):
            node = self.waiting[done]
            done += 1
            rows[self.numbers[node]] = self._following(node.content, node.inputs)
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
            labels={label: mark_states(len(self.names), states) for label, states in self.labels.items()},
            initial=tuple(number for number, _ in starts),
            neighbours=tuple(sorted((s, t) for s, t in related if s < t)),
            name=self.question.name,
        )

    def _key(self, side: Side) -> tuple[object, ...]:
        pair, which, inputs = side
        return tuple(map(repr, self.origin.arguments(pair, which, inputs).values()))

    def _pairs(self) -> Iterator[tuple[Side, Side]]:
        """Every ordered pair of neighbouring data sets."""
        begin, choices = input_choices(self.question.scenario.neighbours, self.model)
        count = 0
        for pair in self.situations.values():
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
                onward = [
                    ((*left, v), (*right, w), after)
                    for v, w, after in choices(len(left), memory)
                    if v is not None and w is not None  # of one length, as the chain reads them
                ]
                waiting.extend(reversed(onward))

    def _initial(self, pair: str, which: int) -> tuple[tuple[str, Rational], ...]:
        found = self.situations[pair]
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

    def _following(self, content: Content, inputs: tuple[str, ...]) -> list[tuple[int, Probability]]:
        """One step of the chain: to the next output, or to the end."""
        by_output: dict[str, dict[tuple[Pending, int | None], dict[str, Rational]]] = {}
        over = ZERO
        for (pending, step), masses in self._shown(content, inputs).items():
            if not pending:
                over += sum(masses.values(), ZERO)
                continue
            into = by_output.setdefault(pending[0], {}).setdefault((pending[1:], step), {})
            for state, mass in masses.items():
                into[state] = into.get(state, ZERO) + mass
        result: list[tuple[int, Probability]] = []
        for output, found in by_output.items():
            whole = sum((mass for masses in found.values() for mass in masses.values()), ZERO)
            after = tuple(
                (pending, step, tuple(sorted((state, mass / whole) for state, mass in masses.items())))
                for (pending, step), masses in sorted(found.items(), key=repr)
            )
            result.append((self._reached(output, after, inputs), whole))
        if over != 0:
            result.append((self._number(END, END, END), over))
        return result

    def _reached(self, output: str, content: Content, inputs: tuple[str, ...]) -> int:
        """The state of the chain that shows an output."""
        if all(not pending and step is None for pending, step, _ in content):
            return self._number(("shown", output), output, output)
        node = _Node(output, content, inputs)
        if node not in self.numbers:
            self.waiting.append(node)
        return self._number(node, f"{output} #{len(self.names)}", output)

    def _shown(
        self, content: Content, inputs: tuple[str, ...]
    ) -> dict[tuple[Pending, int | None], dict[str, Rational]]:
        """The masses with inputs read until each run has something to show, or is over."""
        result: dict[tuple[Pending, int | None], dict[str, Rational]] = {}
        silent: dict[int, dict[str, Rational]] = {}

        def put(labels: Pending, step: int | None, state: str, mass: Rational) -> None:
            step = None if step is not None and self._halted(step, state) else step
            if labels or step is None:
                into = result.setdefault((labels, step), {})
                state = _OVER if step is None else state
            else:
                into = silent.setdefault(step, {})
            into[state] = into.get(state, ZERO) + mass

        for pending, step, masses in content:
            for state, mass in masses:
                put(pending, step, state, mass)
        while silent:
            step = min(silent)
            table = self.model.step(step) if step < self.steps else None
            for state, mass in silent.pop(step).items():
                if table is None:
                    for output, p in self._last(state):
                        put(output, None, state, mass * p)
                else:
                    for branch in table[state][inputs[step]]:
                        labels, ended = ((), False) if branch.output is None else self.parts[branch.output]
                        put(labels, None if ended else step + 1, branch.target, mass * branch.probability)
        return result

    def _halted(self, step: int, state: str) -> bool:
        """Whether nothing follows from a state of the model."""
        table = self.model.step(step) if step < self.steps else None
        return self.model.finish is None if table is None else state not in table

    def _last(self, state: str) -> Iterator[tuple[Pending, Rational]]:
        """What is written when all inputs are read."""
        assert self.model.finish is not None
        for output, p in self.model.finish[state].items():
            yield self.parts[output][0], p


def _parts(origin: Origin) -> dict[str, tuple[Pending, bool]]:
    """For every output of the model the single outputs it stands for, by their names, and whether the run is over then."""
    written: dict[str, tuple[Any, ...]] = {}
    for name, value in origin.outputs.items():
        if origin.collected and origin.mechanism.generator:
            written[name] = value.items if isinstance(value, Cells) else tuple(value)
        else:
            written[name] = value.values if isinstance(value, Several) else (value,)
    symbols = Symbols(value for values in written.values() for value in values if value is not ENDED)
    return {
        name: (tuple(symbols.name(value) for value in values if value is not ENDED), ENDED in values)
        for name, values in written.items()
    }
