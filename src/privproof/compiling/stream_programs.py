"""A mechanism that reads answers without end: a step reads one answer and writes what the mechanism yields before it asks for the next.

The stream is private, or it is public: then the observer asks, and a private data set is asked about.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Any

from privproof.compiling.exploring import Rest
from privproof.compiling.finite_programs import MOST_STATES, FiniteProgram, neighbours_of, start_pairs
from privproof.compiling.steps import Outcome, Steps, input_values, transducer, with_ends
from privproof.compiling.whole_programs import neighbouring_data_sets
from privproof.exact import ONE, Rational
from privproof.language.inputs import Input
from privproof.language.values import plain
from privproof.models import Transducer
from privproof.scenarios import Origin, Pair, Question, Scenario

_ENDED = Rest.of(None, None, ())
"""Where a run on a stream is after it has ended and all it wrote is shown."""


def stream_question(program: FiniteProgram, relation: str, name: str | None) -> Question:
    assert program.stream is not None
    starts = program.starts()
    begins = [program.explorer.settle(program.explorer.state(0, start.store)) for start in starts]
    model, initial, outputs = _stream_model(program, begins)
    declared = program.private[program.stream]
    scenario = Scenario(
        pairs=start_pairs(model, starts, initial),
        neighbours=neighbours_of(relation, declared),
    )
    origin = program.origin(program.stream, input_values(declared), outputs, starts, collected=False)
    return _question_about(program, model, scenario, origin, name)


def requested_question(program: FiniteProgram, relation: Any, name: str | None) -> Question:
    """A public stream: the observer asks, a private data set is asked about; pairs of data sets are compared."""
    assert program.stream is not None
    names = list(program.private)
    data, found = neighbouring_data_sets(program, relation)
    starts = program.starts()
    begins = []
    for start in starts:
        for number, values in enumerate(data):
            store = {**start.store, **dict(zip(names, values, strict=True))}
            settled = program.explorer.settle(program.explorer.state(0, store))
            begins.append({replace(r, key=(*r.key, ("data set", number))): p for r, p in settled.items()})
    model, initial, outputs = _stream_model(program, begins)
    pairs, situations = [], {}
    for number, start in enumerate(starts):
        for i, j in found:
            sides = [{**start.public, **{n: plain(v) for n, v in zip(names, data[k], strict=True)}} for k in (i, j)]
            label = " ~ ".join(", ".join(f"{n}={v!r}" for n, v in side.items()) for side in sides)
            rows = [initial[number * len(data) + k] for k in (i, j)]
            pairs.append(Pair.of(model, label, rows[0], rows[1]))
            situations[label] = (MappingProxyType(sides[0]), MappingProxyType(sides[1]))
    declared = program.mechanism.inputs[program.stream]
    origin = Origin(
        program.mechanism,
        program.stream,
        input_values(declared),
        outputs,
        MappingProxyType(situations),
        collected=False,
    )
    return _question_about(program, model, Scenario(pairs=tuple(pairs)), origin, name)


def _question_about(
    program: FiniteProgram, model: Transducer, scenario: Scenario, origin: Origin, name: str | None
) -> Question:
    return Question(
        model=model,
        scenario=scenario,
        horizon=program.horizon,
        budget=program.budget,
        name=name or program.mechanism.name,
        origin=origin,
    )


def _stream_model(
    program: FiniteProgram, begins: list[dict[Rest, Rational]]
) -> tuple[Transducer, list[dict[str, Rational]], Mapping[str, Any]]:
    """The states that a stream leads through from its beginnings: finitely many, or as many as the horizon needs."""
    assert program.stream is not None
    declared = program.mechanism.inputs[program.stream]
    generator = program.generator
    longest = None if program.horizon is None else program.horizon.high
    known: dict[Rest, dict[Any, list[Outcome]]] = {}
    first = list(dict.fromkeys(rest for begin in begins for rest in begin))
    steps: Steps = []
    level, closed, read = first, False, 0
    while not closed and (longest is None or read < longest):
        new = [node for node in level if node != _ENDED and node not in known]
        for node in new:
            known[node] = _stream_step(program, node, declared, generator=generator)
            if len(known) > MOST_STATES:
                program.refuse(
                    "states",
                    f"more than {MOST_STATES} states after {read} answers; one of them: {program.state_name(node)}",
                    "--horizon 10 for streams of up to 10 answers, or forget what is not needed",
                )
        reading = [node for node in (new if longest is None else level) if node != _ENDED]
        if longest is not None:
            steps.append({node: known[node] for node in reading})
        read += 1
        level = list(dict.fromkeys(t for node in reading for row in known[node].values() for _, t, _ in row))
        closed = all(node in known or node == _ENDED for node in level)
    if closed:
        steps = [known]
    return transducer(begins, with_ends(steps), declared, program.state_name, finished=False, repeats=closed)


def _stream_step(program: FiniteProgram, node: Rest, declared: Input, *, generator: bool) -> dict[Any, list[Outcome]]:
    assert declared.values is not None
    rows: dict[Any, list[Outcome]] = {}
    for value in declared.values:
        if node.state is None:  # ended before the first element: what it wrote shows at the first
            shown = node.written if generator else (*node.written, node.value)
            rows[value] = [(ONE, _ENDED, shown or None)]
            continue
        rows[value] = []
        for rest, p in program.explorer.settle(program.explorer.given(node.state, value)).items():
            written = (*node.written, *rest.written)
            if rest.state is None and not generator:
                written = (*written, rest.value)
            target = Rest.of(rest.state, None, ())
            rows[value].append((p, target, written or None))
    return rows
