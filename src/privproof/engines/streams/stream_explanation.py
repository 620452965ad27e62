"""Stream automata in words: the table of shifts behind a proof, the witness of a refutation, and the structure that leaks."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

from privproof.engines.streams.coupling_decision import Isolated, Leak
from privproof.engines.streams.shift_systems import Solution
from privproof.engines.streams.stream_losses import StreamLoss, ValueWindow
from privproof.evidence.verdicts import Leaking, Shifted
from privproof.evidence.witnesses import ObservedStream, StreamWitness, Witness
from privproof.exact import Rational, fraction
from privproof.exact.probabilities import Ball
from privproof.language.patterns import Between
from privproof.models.stream_automaton import Term, Transition, guard_words
from privproof.scenarios.stream_questions import StreamQuestion

_FEW = 5
"""Thresholds up to which the table of shifts is made: with more it is too wide to be read."""
_LONG = 1_000
"""Steps of an execution up to which the table of shifts is made: nobody reads a longer one, and it takes as long as the proof."""
_MORE = 3  # turns around cycles beyond those that are needed, so that nothing else costs as little


def shift_table(question: StreamQuestion, solution: Solution) -> tuple[Shifted, ...]:
    """The shifts of the execution that costs most, step by step; none where thresholds or steps are too many to be read."""
    arena, automaton = solution.arena, question.automaton
    names = automaton.thresholds
    if solution.hardest is None or len(names) > _FEW:
        return ()
    edges, changes = solution.hardest.unrolled(solution.times + _MORE)
    if len(edges) > _LONG:
        return ()
    turning = {
        place
        for place, repeated in enumerate(
            flag
            for segment in solution.hardest.segments
            for flag in [segment.repeated] * len(segment.edges) * (solution.times + _MORE if segment.repeated else 1)
        )
        if repeated
    }
    view = Isolated(arena, names)
    rows: list[dict[tuple[int, ...], float]] = [dict.fromkeys(view.points, 0.0)]
    for number, change in zip(edges, changes, strict=True):
        rows.append(view.onward(rows[-1], arena.edges[number], change))
    here = min(rows[-1], key=lambda point: (rows[-1][point], sum(map(abs, point))))
    found: list[Shifted] = []
    for place in range(len(edges) - 1, -1, -1):
        edge = arena.edges[edges[place]]
        table = view.table(edge, changes[place])
        before = next(
            point
            for point, cost in rows[place].items()
            if here in table[point] and cost + table[point][here] == rows[place + 1][here]
        )
        paid = int(table[before][here]) * arena.unit
        step = automaton.transitions[edge.step]
        row = _row(step, changes[place], dict(zip(names, here, strict=True)), before, names, paid, arena.within)
        found.append(replace(row, times=0) if place in turning else row)
        here = before
    return _count_repetitions(found[::-1])


def _row(
    step: Transition,
    change: int,
    after: dict[str, int],
    before: tuple[int, ...],
    names: Sequence[str],
    cost: Rational,
    within: Rational,
) -> Shifted:
    stored = [f"{name} by {_signed_number(after[name] * within)}" for name in sorted(step.stored)]
    if not stored:
        old = dict(zip(names, before, strict=True))
        wanted = _least(step, change, old)
        stored = [f"the sample by {_signed_number(wanted * within)}"] if step.reads and wanted is not None else []
    differ = _signed_number(change * within) if step.reads else "nothing read"
    return Shifted(str(step), differ, ", ".join(stored) or "nothing", str(cost))


def _least(step: Transition, change: int, old: dict[str, int]) -> int | None:
    """The shift of the first sample that reads, as near to the difference of the data as the step allows."""
    first = next((number for number, sample in enumerate(step.samples) if sample.reads), None)
    if first is None:
        return None

    def of(term: Term, own: int) -> int:
        return 0 if term is None else own if isinstance(term, int) else old[term]

    fits = [
        own
        for own in (-1, 0, 1)
        if all(of(o.low, own) <= of(o.high, own) for o in step.guard)
        and all(of(v.plus, own) == of(v.minus, own) for v in step.values if first in (v.plus, v.minus))
    ]
    wanted = step.samples[first].reads * change
    return min(fits, key=lambda own: abs(own - wanted), default=None)


def _signed_number(value: Rational | int) -> str:
    return f"+{value}" if value > 0 else str(value)


def _count_repetitions(rows: Sequence[Shifted]) -> tuple[Shifted, ...]:
    found: list[Shifted] = []
    for row in rows:
        if found and found[-1] == row and row.times == 0:
            continue
        if found and replace(found[-1], times=1) == row:
            found[-1] = replace(found[-1], times=found[-1].times + 1)
        else:
            found.append(row)
    return tuple(found)


def loss_evidence_of_stream(question: StreamQuestion, found: StreamLoss, times: int | None) -> StreamWitness:
    """A loss as evidence."""
    steps = [question.automaton.transitions[number] for number in found.steps]
    word = [output_of_step(step, windows) for step, windows in zip(steps, found.windows, strict=True)]
    sides = [tuple(fraction(value) for value in side if value is not None) for side in (found.left, found.right)]
    return Witness(
        sides[0],
        sides[1],
        ObservedStream(tuple(part for part in word if part), found.steps, times, *_call_and_event(question, found)),
        Ball.of(found.left_probability),
        Ball.of(found.right_probability),
    )


def _call_and_event(question: StreamQuestion, found: StreamLoss) -> tuple[Any, Any]:
    """The arguments of the function on both sides, and what it writes."""
    mechanism = question.mechanism
    if mechanism is None:
        return None, None
    assert mechanism.stream is not None
    sides = []
    for side in (found.left, found.right):
        given: dict[str, object] = {}
        for name, declared in mechanism.inputs.items():
            if name == mechanism.stream:
                given[name] = [_whole(Fraction(0) if value is None else fraction(value)) for value in side[1:]]
            else:
                secret = None if declared.public else side[0]
                given[name] = 0 if secret is None else _whole(fraction(secret))
        sides.append(given)
    if any(found.windows) and any(_numeric(output) for outputs in question.outputs for output in outputs):
        return (sides[0], sides[1]), None  # a constant that is written may lie in a window, too
    event: list[Any] = []
    for number, windows in zip(found.steps, found.windows, strict=True):
        near = iter([Between(fraction(w.low), fraction(w.high)) for w in windows])
        event += [_fill_output(output, near) for output in question.outputs[number]]
    return (sides[0], sides[1]), event


def _numeric(output: object) -> bool:
    if isinstance(output, list | tuple):
        return any(_numeric(part) for part in output)
    return isinstance(output, int | Fraction) and not isinstance(output, bool)


def _whole(value: Fraction) -> int | Fraction:
    return int(value) if value.denominator == 1 else value


def _fill_output(output: object, near: Iterator[Between]) -> Any:
    if isinstance(output, list | tuple):
        return type(output)(_fill_output(part, near) for part in output)
    return next(near) if isinstance(output, Between) else output


def output_of_step(step: Transition, windows: Sequence[ValueWindow]) -> str:
    """What a step writes: its symbol, with intervals in the place of numbers."""
    shown = step.symbol
    for window in windows:
        text = f"{window.low}..{window.high}"
        shown = shown.replace("·", text, 1) if "·" in shown else f"{shown} {text}".strip()
    return shown


def explain_leak(question: StreamQuestion, solution: Solution, leak: Leak) -> Leaking:
    """A structure in words."""
    arena = solution.arena
    segments = tuple((tuple(arena.edges[n].step for n in s.edges), s.repeated) for s in leak.segments)
    cycles = [_cycle(question, steps) for steps, repeated in segments if repeated]
    names = " and ".join(leak.thresholds)
    match leak.kind:
        case "disclosing cycle":
            said = f"the cycle {cycles[0]} writes a noisy number of the data each time it is gone around"
        case "leaking cycle" if leak.thresholds:
            said = f"the cycle {cycles[0]} stores {names} and compares with it each time it is gone around"
        case "leaking cycle":
            said = f"the cycle {cycles[0]} compares the data each time it is gone around, and nothing that was stored hides it"
        case "leaking pair":
            said = f"the cycles {' and '.join(cycles)} find out from both sides where {names} {_is(leak)}"
        case "privacy violating path":
            said = f"the cycle {cycles[0]} compares with {names}, about which a number that is written tells too much"
        case _:
            said = f"noise does not hide the outcome of a comparison with {names or 'a number'}"
    return Leaking(leak.kind, said, segments)


def _is(leak: Leak) -> str:
    return "is" if len(leak.thresholds) == 1 else "are"


def _cycle(question: StreamQuestion, steps: Sequence[int]) -> str:
    """A cycle by its states and guards."""
    listed = [question.automaton.transitions[number] for number in steps]
    if len(listed) == 1:
        return f"at {listed[0].source} ({guard_words(listed[0])})"
    if len({step.source for step in listed}) == 1:
        guards = dict.fromkeys(guard_words(step) for step in listed)
        return f"at {listed[0].source} ({', then '.join(guards)})"
    return "-".join([listed[0].source, *(step.target for step in listed)])
