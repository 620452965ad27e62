"""From a function on a stream to a stream automaton.

The function is followed from one number of the stream to the next (`stream_steps`), and the automaton is tried beside it
(`stream_trials`).  The function has the shape of an automaton if its comparisons and what it writes are differences of two noisy
numbers, the stream's numbers are used in the step that reads them, and the states are finitely many.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

from privproof.compiling.covering import Covered
from privproof.compiling.rewriting import Unsupported
from privproof.compiling.stream_steps import StreamReader, StreamStep, state_names
from privproof.compiling.stream_trials import automaton_agreement
from privproof.language.mechanism import Mechanism
from privproof.language.patterns import ANY, pattern_text
from privproof.models.stream_automaton import StreamAutomaton, StreamValue, Transition
from privproof.scenarios import ProgramQuestion, StreamQuestion


def stream_question(question: ProgramQuestion) -> StreamQuestion:
    """The question about the automaton of a function on a stream.

    Raises:
        Unsupported: the function has not the shape of a stream automaton; the message says why and where.
    """
    mechanism = question.mechanism
    if mechanism.stream is None:
        raise Unsupported("it does not read a stream")
    declared = mechanism.inputs[mechanism.stream]
    if declared.within is None or declared.public:
        raise Unsupported("the numbers of the stream may change in any way, or not at all")
    reader = StreamReader(mechanism)
    steps = reader.explored()
    names = state_names(reader, steps)
    transitions = tuple(
        replace(
            step.transition,
            source=names[source.key],
            target="end" if step.target is None else names[step.target.key],
        )
        for source, step in steps
    )
    states = tuple(dict.fromkeys(name for t in transitions for name in (t.source, t.target)))
    automaton = StreamAutomaton(states=states, initial=transitions[0].source, transitions=transitions)
    relation = question.relation
    if relation not in ("each", "one", "monotone"):
        raise Unsupported(f"neighbours: {relation}")
    found = StreamQuestion(
        automaton=automaton,
        relation=relation,  # type: ignore[arg-type]
        within=declared.within,
        budget=question.budget,
        name=question.name,
        mechanism=mechanism,
        outputs=tuple(step.outputs for _, step in steps),
        lines=tuple(step.lines for _, step in steps),
        free=_free(mechanism) and _told_apart([step for _, step in steps]),
    )
    tried = automaton_agreement(found)
    if tried.told is not None:
        raise Unsupported(f"the automaton and the function differ {tried.told}")
    return replace(found, trials=_told_trials(tried))


def _told_trials(tried: Covered) -> str:
    said = f"the function and the automaton agree on {tried.runs} runs with the same data and noise"
    count = len(tried.taken) + len(tried.missing)
    if not tried.missing:
        return f"{said} (all {count} transitions)"
    return f"{said} ({len(tried.taken)} of {count} transitions; never: {', '.join(map(str, tried.missing[:3]))})"


def _free(mechanism: Mechanism) -> bool:
    """Whether all numbers of the data may be any numbers."""
    private = [declared for declared in mechanism.inputs.values() if not declared.public]
    return all(
        d.low is None and d.high is None and (d.real or (d.within is not None and d.within.q == 1)) for d in private
    )


def _told_apart(steps: Sequence[StreamStep]) -> bool:
    """Whether what the function shows tells what the automaton writes: one output for a number at most, and no number without noise
    where a constant may be the same number.
    """
    if any(len(step.outputs) > 1 for step in steps):
        return False
    bare = any(_bare(value, step.transition) for step in steps for value in step.transition.values)
    outputs = [output for step in steps for output in step.outputs]
    return not bare or len({pattern_text(output) for output in outputs}) == len(
        {pattern_text(_open(output)) for output in outputs}
    )


def _bare(value: StreamValue, step: Transition) -> bool:
    """Whether a number that is written has no noise."""
    terms = [term for term in (value.plus, value.minus) if term is not None]
    return all(isinstance(term, int) and step.samples[term].rate is None for term in terms)


def _open(output: Any) -> Any:
    """An output with any number in the place of numbers."""
    if isinstance(output, list | tuple):
        return type(output)(map(_open, output))
    return ANY if isinstance(output, int | Fraction) and not isinstance(output, bool) else output
