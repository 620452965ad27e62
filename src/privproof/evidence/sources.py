"""The source member of a certificate's question: the program, and what the names in its model stand for.

The member says which of it the checker re-establishes from the text of the function (``claims: established``), and what it cannot, with
the reason (``claims: taken``).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from privproof.errors import LanguageError
from privproof.language.constants import typed
from privproof.language.mechanism import Mechanism
from privproof.language.values import ENDED, Cells, Lookup, Tail, plain
from privproof.scenarios import Origin, Question, Several

ESTABLISHED, TAKEN = "established", "taken"


def finite_source(question: Question) -> dict[str, Any] | None:
    """The source member of a question about a finite mechanism; None where no function runs that could be read."""
    origin = question.origin
    if origin is None or origin.mechanism.proposed is not None:
        return None
    mechanism = origin.mechanism
    sides = [origin.situations[pair.name] for pair in question.scenario.pairs] or list(origin.situations.values())
    return {
        "claims": ESTABLISHED,
        "program": mechanism.program.document(),
        "relation": mechanism.neighbours if isinstance(mechanism.neighbours, str) else "function",
        "size": _open_length(question, origin),
        "inputs": {name: _input(value, whole=origin.fed is None) for name, value in origin.inputs.items()},
        "outputs": {name: [_output(part) for part in _parts(value)] for name, value in origin.outputs.items()},
        "pairs": [{"left": _arguments(left), "right": _arguments(right)} for left, right in sides],
    }


def take(question: dict[str, Any], reason: str) -> None:
    """Let a question say that its model was taken from the compiler."""
    question["source"] = {"claims": TAKEN, "reason": reason, "program": question["source"]["program"]}


def program_source(mechanism: Mechanism, reason: str) -> dict[str, Any] | None:
    """The source member of a question whose program is taken from the compiler."""
    if mechanism.proposed is not None:
        return None
    try:
        program = mechanism.program.document()
    except LanguageError:
        return None
    return {"claims": TAKEN, "reason": reason, "program": program}


def _open_length(question: Question, origin: Origin) -> int | None:
    """The length of the lists whose declaration leaves it open."""
    for name, declared in origin.mechanism.inputs.items():
        if declared.shape == "list" and declared.size is None:
            if name == origin.fed:
                return len(question.model.steps)  # type: ignore[union-attr]
            given = next(iter(origin.situations.values()))[0]
            first = next(iter(origin.inputs.values()))
            return len(given[name] if name in given else first[name])
    return None


def _input(value: Any, *, whole: bool) -> Any:
    return _arguments(value) if whole else typed(value)


def _arguments(values: Mapping[str, Any]) -> dict[str, Any]:
    return {name: typed(plain(value)) for name, value in values.items()}


def _parts(value: Any) -> Iterator[Any]:
    """The outputs of one step."""
    if isinstance(value, Several):
        yield from value.values
    else:
        yield value


def _output(value: Any) -> dict[str, Any]:
    match value:
        case Tail():
            return {"at least" if value.sign > 0 else "at most": str(value.offset)}
        case Cells(items):
            return {"list": [_output(item) for item in items]}
        case tuple():
            return {"tuple": [_output(item) for item in value]}
        case Lookup():
            return typed(plain(value))
        case _ if value is ENDED:
            return {"end": None}
        case _:
            return typed(value)
