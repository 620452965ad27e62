"""Many runs of a mechanism at once, each in a lane of its own.

Lanes that are at the same instruction are executed together, a column of values (`sampling.columns`) for every variable.  A test
splits a batch of lanes; batches that meet again at an instruction are joined.  The order in which instructions take their turn
lets them meet: the lanes inside a loop go first, those at its head wait for them, and those behind it wait for both.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from fractions import Fraction
from typing import Any, TypeAlias

import numpy as np

from privproof.audits.sampling.column_operations import apply, change_list, element, truth
from privproof.audits.sampling.lane_batches import Evaluate, LaneBatch, evaluator, join_batches
from privproof.audits.sampling.lane_draws import LaneDraws
from privproof.audits.sampling.output_samples import SampleRecorder, Samples
from privproof.audits.sampling.sample_columns import Array, Coded, Column, NumberColumn, Rows, Same, mark_column_shared
from privproof.compiling.exploring import ITSELF, aliased_variables, has_list, into_itself, itself
from privproof.compiling.scales import unit
from privproof.errors import LanguageError
from privproof.exact import rational
from privproof.language.evaluating import problem
from privproof.language.flow import Instruction, Jump, Next, Test
from privproof.language.indices import Stuck
from privproof.language.mechanism import Mechanism
from privproof.language.syntax import Append, Assign, Emit, Expression, Replace, Return, Sample
from privproof.language.values import Cells, shared_value

_TOGETHER = 2**16
"""Runs made at once: so many that Python's own steps cost little, and few enough for memory."""
_MOST_STEPS = 2_000_000
"""Instructions of all runs that are made at once; beyond it a loop is taken for one that does not end, and refused."""
_WRONG = (TypeError, ValueError, IndexError, KeyError, ZeroDivisionError, OverflowError, Stuck, LanguageError)
_POSITION = "#position"


def sample(mechanism: Mechanism, arguments: Mapping[str, object], count: int, *, seed: int | None = None) -> Samples:
    """The outputs of independent runs of a mechanism.

    Discrete noise is drawn exactly.  A run that has read all of a stream is cut: its output is what it has written until then.

    Args:
        mechanism: the mechanism.
        arguments: a value for every input, a list for a list or a stream; and parameters that are to be changed.
        count: how many runs.
        seed: repeats the same runs; without it they begin from the operating system's randomness.

    Raises:
        LanguageError: the arguments do not fit, or the mechanism fails in one of the runs.
    """
    if count < 1:
        raise LanguageError("count", f"count={count} is not a number of runs", place="count", hint="count=100_000")
    mechanism = prepare_mechanism(mechanism)
    machine = _Machine(
        mechanism, arguments, LaneDraws(seed), SampleRecorder(count, generator=mechanism.translated.generator)
    )
    for start in range(0, count, _TOGETHER):
        machine.run(np.arange(start, min(count, start + _TOGETHER)))
    return machine.record.samples()


def prepare_mechanism(mechanism: Mechanism) -> Mechanism:
    """The mechanism as it is run; whoever samples it many times prepares it once."""
    divided = unit(mechanism)
    if divided is not None and isinstance(mechanism.parameters[divided], int):  # 1 / epsilon is a number, not a refusal
        return mechanism.having(**{divided: Fraction(mechanism.parameters[divided])})
    return mechanism


Step: TypeAlias = Callable[[LaneBatch], "list[tuple[int, LaneBatch]]"]


class _Machine:
    """Executes the instructions of one mechanism."""

    def __init__(
        self, mechanism: Mechanism, arguments: Mapping[str, object], draws: LaneDraws, record: SampleRecorder
    ) -> None:
        self.flow = mechanism.flow
        self.draws = draws
        self.record = record
        self.start, self.answers = _start(mechanism, arguments)
        own = (_POSITION,) if mechanism.stream else ()
        self.live = [(*names, *own) for names in self.flow.live]
        self.turn = _turns(self.flow.code)
        self.steps = [self._step(number, step) for number, step in enumerate(self.flow.code)]

    def run(self, lanes: Array) -> None:
        """Run so many lanes from the beginning to their ends."""
        waiting: dict[int, list[LaneBatch]] = {0: [LaneBatch(lanes, dict(self.start))]}
        steps = 0
        while waiting:
            number = min(waiting, key=self.turn.__getitem__)
            for batch in join_batches(waiting.pop(number), self.live[number]):
                try:
                    following = self.steps[number](batch)
                except _WRONG as error:
                    raise problem(error, self.flow.code[number].place) from None
                for target, part in following:
                    waiting.setdefault(target, []).append(part)
            steps += 1
            if steps > _MOST_STEPS:
                place = str(self.flow.code[number].place)
                raise LanguageError("endless", f"more than {_MOST_STEPS} steps", place=place, hint="does the loop end?")

    def _step(self, number: int, step: Instruction) -> Step:
        """A function that executes an instruction and says which lanes go where."""
        following = number + 1
        match step:
            case Jump(target):
                return lambda batch: [(target, batch)]
            case Test(test, then, otherwise):
                return self._test(evaluator(test), then, otherwise)
            case Next(name, _, _):
                return self._next(name, following)
            case Assign(name, value):
                evaluate, aliased = evaluator(value), self._aliased(value, following)
                looping, very = into_itself(step), set(itself(value))

                def assign(batch: LaneBatch) -> list[tuple[int, LaneBatch]]:
                    new = evaluate(batch)
                    if looping and _holds_list(new):
                        raise Stuck(ITSELF)
                    batch.store[name] = self._named(batch, [other for other in aliased if other != name], new, very)
                    return [(following, batch)]

                return assign
            case Append():
                return self._change(step, None, following)
            case Replace(_, index):
                return self._change(step, evaluator(index), following)
            case Sample(name, noise, arguments):
                evaluators = [evaluator(argument) for argument in arguments]

                def draw(batch: LaneBatch) -> list[tuple[int, LaneBatch]]:
                    batch.store[name] = self.draws.draw(noise, [e(batch) for e in evaluators], len(batch))
                    return [(following, batch)]

                return draw
            case Emit(value):
                evaluate = evaluator(value)

                def emit(batch: LaneBatch) -> list[tuple[int, LaneBatch]]:
                    self.record.write(batch.lanes, evaluate(batch))
                    return [(following, batch)]

                return emit
            case Return(value):
                evaluate = evaluator(value)

                def end(batch: LaneBatch) -> list[tuple[int, LaneBatch]]:
                    if not self.record.generator:
                        self.record.write(batch.lanes, evaluate(batch))
                    return []

                return end

    def _test(self, evaluate: Evaluate, then: int, otherwise: int) -> Step:
        def test(batch: LaneBatch) -> list[tuple[int, LaneBatch]]:
            found = truth(evaluate(batch), len(batch))
            if isinstance(found, bool):
                return [(then if found else otherwise, batch)]
            chosen, rest = np.flatnonzero(found), np.flatnonzero(~found)
            if not len(chosen) or not len(rest):
                return [(then if len(chosen) else otherwise, batch)]
            return [
                (then, batch.part(chosen, self.live[then])),
                (otherwise, batch.part(rest, self.live[otherwise])),
            ]

        return test

    def _next(self, name: str, following: int) -> Step:
        """Lanes that find another answer in the stream go on."""

        def step(batch: LaneBatch) -> list[tuple[int, LaneBatch]]:
            position = batch.store[_POSITION]
            more = truth(apply("<", [position, Same(len(self.answers))], len(batch)), len(batch))
            if isinstance(more, bool):
                if not more:
                    return []
            elif not more.all():
                batch = batch.part(np.flatnonzero(more), self.live[following])
                if not len(batch):
                    return []
                position = batch.store[_POSITION]
            batch.store[name] = element(Same(self.answers), position, len(batch))
            batch.store[_POSITION] = apply("+", [position, Same(1)], len(batch))
            return [(following, batch)]

        return step

    def _change(self, step: Append | Replace, index: Evaluate | None, following: int) -> Step:
        """``name.append(value)``, or ``name[index] = value``."""
        name, value = step.name, step.value
        evaluate, aliased = evaluator(value), self._aliased(value, following)
        looping = into_itself(step)

        def change(batch: LaneBatch) -> list[tuple[int, LaneBatch]]:
            column = batch.store.get(name, Same(None))
            found = evaluate(batch)
            if looping and _holds_list(found):
                raise Stuck(ITSELF)
            new = mark_column_shared(self._named(batch, aliased, found, ()))
            operands = [column, new] if index is None else [column, new, index(batch)]
            batch.store[name] = change_list(name, operands, len(batch))
            return [(following, batch)]

        return change

    def _aliased(self, value: Expression, following: int) -> tuple[str, ...]:
        """The variables of which the value may hold the very list, and which are needed afterwards."""
        live = self.flow.live[following] if following < len(self.flow.live) else ()
        return tuple(name for name in dict.fromkeys(aliased_variables(value)) if name in live)

    def _named(self, batch: LaneBatch, others: Iterable[str], new: Column, very: Collection[str]) -> Column:
        """A value that gets a name; a list that other variables may hold too, or may be, is marked as having two."""
        if not _holds_list(new):
            return new
        for other in others:
            if other in batch.store and _holds_list(batch.store[other]):
                batch.store[other] = mark_column_shared(batch.store[other])
                new = mark_column_shared(new) if other in very else new
        return new


def _holds_list(column: Column) -> bool:
    match column:
        case Same(value):
            return has_list(value)
        case Coded(_, table):
            return any(map(has_list, table))
        case Rows(kind, columns):
            return kind == "list" or any(map(_holds_list, columns))
        case NumberColumn():
            return False


def _turns(code: tuple[Instruction, ...]) -> list[int]:
    """When instructions take their turn: in their order, but the head of a loop after its body."""
    last: dict[int, int] = {}
    for number, step in enumerate(code):
        targets: tuple[int, ...] = (step.target,) if isinstance(step, Jump) else ()
        if isinstance(step, Test):
            targets = (step.then, step.otherwise)
        for target in targets:
            if target <= number:
                last[target] = number
    order = list(range(len(code)))
    for head in sorted(last, reverse=True):
        order.remove(head)
        inside = [place for place, number in enumerate(order) if head < number <= last[head]]
        order.insert(max(inside, default=head - 1) + 1, head)
    turn = [0] * len(code)
    for place, number in enumerate(order):
        turn[number] = place
    return turn


def _start(mechanism: Mechanism, arguments: Mapping[str, object]) -> tuple[dict[str, Column], tuple[object, ...]]:
    """The variables at the beginning, and the answers of the stream."""
    given = {name: value for name, value in arguments.items() if name in mechanism.inputs}
    changed_parameters = {name: value for name, value in arguments.items() if name not in mechanism.inputs}
    store = {name: shared_value(value) for name, value in mechanism.having(**changed_parameters).parameters.items()}
    answers: tuple[object, ...] = ()
    for name, declared in mechanism.inputs.items():
        if name not in given:
            raise LanguageError(
                "input", f"no value is given for {name}: {declared}", place=mechanism.name, hint=f"{name}=..."
            )
        value = given[name]
        if declared.shape == "value":
            store[name] = shared_value(_exact(value))
        elif not isinstance(value, list | tuple):
            raise LanguageError(
                "input", f"{name}={value!r} is not a list", place=mechanism.name, hint=f"{name}=[{value!r}]"
            )
        elif declared.shape == "list":
            store[name] = Cells(tuple(shared_value(_exact(item)) for item in value), shared=True)
        else:
            answers = tuple(shared_value(_exact(item)) for item in value)
    columns: dict[str, Column] = {name: Same(value) for name, value in store.items()}
    if mechanism.stream:
        columns[_POSITION] = Same(0)
    return columns, answers


def _exact(value: object) -> Any:
    """The value; a float is refused."""
    if isinstance(value, float):
        rational(value)  # type: ignore[arg-type]
    return value
