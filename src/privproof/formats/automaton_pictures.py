"""Pictures of models: which boxes and arrows, with which texts."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from privproof.drawing.graph_pictures import Arrow, Box, Picture
from privproof.exact.number_texts import short
from privproof.models import Distribution, HiddenMarkovModel, MarkovChain, Transducer
from privproof.models.stream_automaton import StreamAutomaton, guard_words
from privproof.scenarios import Model, Question, StreamQuestion

_MOST_LINES = 6
"""A box or an arrow of a drawing has so many lines of text; the last then says how many more there are."""


def picture(subject: Question | Model | StreamQuestion | Picture) -> Picture:
    """The picture of a model, or of a question: then the initial states of its pairs are marked.

    >>> chain = MarkovChain(states=["a", "b"], transitions={"a": {"a": "1/2", "b": "1/2"}}, labels={"b": ["done"]})
    >>> picture(chain).arrows[1], picture(chain).boxes[1].lines
    (Arrow(source=0, target=1, lines=('1/2',), marked=False), ('done',))
    """
    if isinstance(subject, Picture):
        return subject
    if isinstance(subject, StreamQuestion):
        return stream_picture(subject)
    model = subject.model if isinstance(subject, Question) else subject
    pairs = subject.scenario.pairs if isinstance(subject, Question) else ()
    lefts = {state for pair in pairs for state in pair.left}
    rights = {state for pair in pairs for state in pair.right}
    boxes = tuple(
        Box(
            state,
            _state_lines(model, state),
            left=state in lefts,
            right=state in rights,
            initial=isinstance(model, Transducer) and state in model.initial,
            halts=_halts(model, state),
        )
        for state in model.states
    )
    title = subject.name if isinstance(subject, Question) else ""
    return Picture(title, boxes, tuple(_arrows(model)))


def stream_picture(question: StreamQuestion, marked: Collection[int] = ()) -> Picture:
    """The picture of a question about a stream automaton; the transitions of a structure may be marked."""
    return automaton_picture(question.automaton, question.name, marked)


def automaton_picture(automaton: StreamAutomaton, title: str = "", marked: Collection[int] = ()) -> Picture:
    """The picture of a stream automaton."""
    index = {state: i for i, state in enumerate(automaton.states)}
    boxes = tuple(
        Box(
            state,
            _noise(automaton, state),
            initial=state == automaton.initial,
            halts=state not in automaton.leaving,
        )
        for state in automaton.states
    )
    found: dict[tuple[int, int], list[str]] = {}
    red: set[tuple[int, int]] = set()
    for number, step in enumerate(automaton.transitions):
        parts = [guard_words(step) if step.guard else ""]
        parts += [f"{name} := sample" for name, _ in step.stores]
        parts += [f"▸ {step.symbol}"] if step.symbol else []
        key = (index[step.source], index[step.target])
        dot = "● " if number in marked else ""
        found.setdefault(key, []).append(dot + ("; ".join(part for part in parts if part) or "always"))
        if number in marked:
            red.add(key)
    arrows = (Arrow(*key, few_lines(lines), key in red) for key, lines in found.items())
    return Picture(title, boxes, tuple(arrows))


def _noise(automaton: StreamAutomaton, state: str) -> tuple[str, ...]:
    """What a state draws."""
    lines: dict[str, None] = {}
    for number in automaton.leaving.get(state, ()):
        for sample in automaton.transitions[number].samples:
            center = "number" if sample.reads > 0 else "-number" if sample.reads else ""
            if sample.mean != 0 or not center:
                center = f"{center} + {short(sample.mean)}" if center else short(sample.mean)
            lines[center if sample.rate is None else f"Lap({center}, {short(1 / sample.rate)})"] = None
    return few_lines(lines)


def _state_lines(model: Model, state: str) -> tuple[str, ...]:
    if isinstance(model, HiddenMarkovModel):
        return _row(model.emissions[state])
    if isinstance(model, MarkovChain):
        return few_lines(model.labels.get(state, ()))
    if model.finish is not None and state in model.finish:
        return tuple(f"end {line}" for line in _row(model.finish[state]))
    return ()


def _halts(model: Model, state: str) -> bool:
    if not isinstance(model, Transducer):
        return state not in model.transitions
    return model.finish is None and not any(state in step for step in model.steps)


def _arrows(model: Model) -> Iterable[Arrow]:
    index = {state: i for i, state in enumerate(model.states)}
    found: dict[tuple[int, int], list[str]] = {}
    if isinstance(model, Transducer):
        for number, step in enumerate(model.steps):
            when = f"step {number + 1}, " if len(model.steps) > 1 else ""
            for state, row in step.items():
                for symbol, branches in row.items():
                    for branch in branches:
                        written = "" if branch.output is None else f" ▸ {branch.output}"
                        line = f"{when}{symbol}: {short(branch.probability)}{written}"
                        found.setdefault((index[state], index[branch.target]), []).append(line)
    else:
        for state, distribution in model.transitions.items():
            for target, probability in distribution.items():
                found[index[state], index[target]] = [short(probability)]
    return (Arrow(source, target, few_lines(lines)) for (source, target), lines in found.items())


def _row(entries: Distribution) -> tuple[str, ...]:
    return few_lines([f"{name}: {short(probability)}" for name, probability in entries.items()])


def few_lines(lines: Iterable[str]) -> tuple[str, ...]:
    """The first lines, and how many more there are."""
    listed = tuple(lines)
    return (
        listed
        if len(listed) <= _MOST_LINES
        else (*listed[: _MOST_LINES - 1], f"… {len(listed) - _MOST_LINES + 1} more")
    )
