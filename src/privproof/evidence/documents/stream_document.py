"""Questions about stream automata as plain data."""

from __future__ import annotations

from privproof.evidence.question_documents import with_source
from privproof.evidence.question_sources import stream_source
from privproof.exact import Rational
from privproof.models.stream_automaton import Transition
from privproof.scenarios.stream_questions import StreamQuestion


def document(question: StreamQuestion, compiled: object) -> dict[str, object]:
    """The question as plain data, with the source of the function that the automaton was made from."""
    made = question.mechanism
    return with_source(stream_document(question), None if made is None else stream_source(made))


def stream_document(question: StreamQuestion) -> dict[str, object]:
    """The question: the automaton, its neighbours, and the budget."""
    assert question.budget is not None
    asked: dict[str, object] = {
        "kind": "stream",
        "title": question.name or None,
        "states": list(question.automaton.states),
        "initial": question.automaton.initial,
        "transitions": [_transition(step) for step in question.automaton.transitions],
        "relation": question.relation,
        "within": str(question.within),
        "epsilon": str(question.budget.epsilon),
    }
    if question.budget.delta != 0:
        asked["delta"] = str(question.budget.delta)
    return asked


def _transition(step: Transition) -> dict[str, object]:
    return {
        "from": step.source,
        "to": step.target,
        "samples": [[_number(s.rate), s.reads, str(s.mean)] for s in step.samples],
        "guard": [[order.low, order.high, str(order.offset)] for order in step.guard],
        "some": step.some,
        "stores": dict(step.stores),
        "symbol": step.symbol,
        "values": [[value.plus, value.minus, str(value.constant)] for value in step.values],
    }


def _number(value: Rational | None) -> str | None:
    return None if value is None else str(value)
