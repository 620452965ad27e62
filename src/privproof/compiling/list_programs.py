"""A mechanism that reads one private list: answers are fed to it one a step, in order, whatever order it asks for them in.

It ends after the last one, with one output.  A generator on a list writes one output a step where the outputs themselves tell which step
wrote them; otherwise its outputs are collected and shown at the end.  Over lists of every length the loop itself is the model
(`compiling.lengths`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from privproof.compiling.exploring import ExplorationState, Rest
from privproof.compiling.finite_programs import MOST_STATES, FiniteProgram, neighbours_of, start_pairs
from privproof.compiling.lengths import open_model
from privproof.compiling.list_sums import summed_body
from privproof.compiling.open_claims import how_long, refuse_one_more
from privproof.compiling.steps import Outcome, Steps, input_values, outputs_aligned, transducer
from privproof.errors import LanguageError
from privproof.exact import ONE, ZERO, Rational
from privproof.language.inputs import ADD_REMOVE, Input
from privproof.language.values import UNREAD, Answers
from privproof.models import Horizon
from privproof.scenarios import Question, Scenario

_FAULTS = ("changed",)
"""Problems of a function that no size mends."""


def list_question(program: FiniteProgram, relation: str, name: str | None) -> Question:
    ((fed, declared),) = program.private.items()
    size = program.sizes[fed]
    program.explorer.remember()
    starts = program.starts()
    begins = []
    for start in starts:
        store = {**start.store, fed: Answers((UNREAD,) * size)}
        begins.append(program.explorer.settle(program.explorer.state(0, store)))
    steps = _levels(
        program, begins, declared, size, lambda state, k, v: _fed(program, state, fed, k, v), collected=False
    )
    horizon = Horizon.exactly(size)
    finished = not program.generator
    if not finished and (program.collected or not outputs_aligned(begins, steps)):
        steps = _levels(
            program, begins, declared, size, lambda state, k, v: _fed(program, state, fed, k, v), collected=True
        )
        begins = [_summed((program.collected_rest((), rest), p) for rest, p in begin.items()) for begin in begins]
        finished = True
    model, initial, outputs = transducer(begins, steps, declared, program.state_name, finished=finished, repeats=False)
    return Question(
        model=model,
        scenario=Scenario(pairs=start_pairs(model, starts, initial), neighbours=neighbours_of(relation, declared)),
        horizon=None if finished else horizon,
        budget=program.budget,
        name=name or f"{program.mechanism.name} ({size} {_counted_name(declared, size)})",
        origin=program.origin(fed, input_values(declared), outputs, starts, collected=finished),
    )


def every_length_question(program: FiniteProgram, relation: str, name: str | None) -> Question:
    ((fed, declared),) = program.private.items()
    starts = program.starts()
    mechanism = program.mechanism
    lists = [n for n, i in mechanism.inputs.items() if i.shape == "list"]
    try:
        made = open_model(
            summed_body(mechanism),
            lists,
            (*mechanism.inputs, *mechanism.parameters),
            fed,
            declared,
            [start.store for start in starts],
            program.state_name_in,
            generator=program.generator,
        )
        if relation == ADD_REMOVE:
            refuse_one_more(made.model)
    except LanguageError as problem:
        if problem.code in _FAULTS:
            raise
        raise how_long(fed, program.place, problem) from None
    neighbours = neighbours_of(relation, declared)
    return Question(
        model=made.model,
        scenario=Scenario(pairs=start_pairs(made.model, starts, made.begins), neighbours=neighbours),
        budget=program.budget,
        name=name or f"{mechanism.name} (lists of every length)",
        origin=program.origin(fed, made.inputs, made.outputs, starts, collected=True),
        rate=program.rate,
    )


def _fed(program: FiniteProgram, state: ExplorationState, fed: str, number: int, value: Any) -> ExplorationState:
    store = state.store(program.explorer.flow)
    answers = store[fed]
    if answers[number] is UNREAD:
        store[fed] = Answers((*answers[:number], value, *answers[number + 1 :]))
    return program.explorer.state(state.at, store)


def _levels(
    program: FiniteProgram,
    begins: list[dict[Rest, Rational]],
    declared: Input,
    size: int,
    feed: Callable[[ExplorationState, int, Any], ExplorationState],
    *,
    collected: bool,
) -> Steps:
    """Step by step: what each answer leads to from each state."""
    assert declared.values is not None
    level = {rest: None for begin in begins for rest in begin}
    if collected:
        level = {program.collected_rest((), rest): None for rest in level}
    steps: Steps = []
    generator = program.generator
    for number in range(size):
        table: dict[Rest, dict[Any, list[Outcome]]] = {}
        following: dict[Rest, None] = {}
        for node in level:
            rows: dict[Any, list[Outcome]] = {}
            ended = Rest.of(None, node.value, ()) if generator and not collected else node
            for value in declared.values:
                shown: tuple[Any, ...] | None
                if node.state is None:
                    shown = node.written if generator and not collected and node.written else None
                    rows[value] = [(ONE, ended, shown)]
                    following[ended] = None
                    continue
                rows[value] = []
                for rest, p in program.explorer.settle(feed(node.state, number, value)).items():
                    if collected or not generator:
                        target, shown = program.collected_rest(node.written, rest), None
                    else:
                        target = Rest.of(rest.state, rest.value, ())
                        shown = (*node.written, *rest.written) or None
                    rows[value].append((p, target, shown))
                    following[target] = None
            table[node] = rows
        steps.append(table)
        level = following
        if len(level) > MOST_STATES:
            program.refuse(
                "states",
                f"more than {MOST_STATES} states after {number + 1} answers; one of them: {program.state_name(next(reversed(level)))}",
                "a smaller size, or forget what is not needed",
            )
    return steps


def _counted_name(declared: Input, size: int) -> str:
    what = "record" if declared.within is None else "query"
    return what if size == 1 else {"record": "records", "query": "queries"}[what]


def _summed(parts: Iterable[tuple[Rest, Rational]]) -> dict[Rest, Rational]:
    result: dict[Rest, Rational] = {}
    for rest, p in parts:
        result[rest] = result.get(rest, ZERO) + p
    return result
