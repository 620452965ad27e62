"""Questions to model files: the canonical document of a question, and tidy YAML or JSON of it.

``question_from_document(document(question)) == question``: nothing is rounded and nothing is lost.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from privproof.exact import Budget, Rational, rational
from privproof.formats.document_nodes import Exact
from privproof.formats.stream_files import stream_document
from privproof.formats.whole_files import write_whole
from privproof.models import Distribution, HiddenMarkovModel, MarkovChain, Transducer
from privproof.scenarios import Model, Neighbours, Pair, Question, StreamQuestion, Words

_WIDTH = 100
"""Rows that make a line wider than this are broken after commas."""
_LONGEST_SIMPLE_KEY = 200
"""A longer key is written after a question mark: without one YAML reads keys of up to 1024 characters only."""
_PLAIN = re.compile(r"[A-Za-z_](?:[A-Za-z0-9_-]|[ ](?=[A-Za-z0-9_]))*")
_NOT_PLAIN = frozenset(("y", "n", "yes", "no", "on", "off", "true", "false", "null"))


def document(question: Question | StreamQuestion) -> dict[str, Any]:
    """The question as plain data: dicts, lists, texts and truth values; numbers are exact texts.

    >>> from privproof.formats.model_files import question_from_document
    >>> said = {"kind": "hmm", "states": ["a", "b"], "observations": ["0", "1"],
    ...     "emissions": {"a": {"0": "0.75", "1": "1/4"}, "b": {"0": "1/4", "1": "3/4"}},
    ...     "scenario": {"pairs": [{"name": "secret", "left": {"a": 1}, "right": {"b": 1}}]}, "epsilon": "ln(3)"}
    >>> question = question_from_document(said)
    >>> document(question)["emissions"]["a"], document(question)["epsilon"]
    ({'0': '3/4', '1': '1/4'}, 'ln(3)')
    >>> question_from_document(document(question)) == question
    True
    """
    if isinstance(question, StreamQuestion):
        return stream_document(question)
    result: dict[str, Any] = dict(_model(question.model))
    if question.name:
        result = {"kind": result.pop("kind"), "title": question.name, **result}
    scenario: dict[str, Any] = {}
    if question.scenario.pairs:
        scenario["pairs"] = [_pair(pair) for pair in question.scenario.pairs]
    if question.scenario.neighbours is not None:
        scenario["neighbours"] = dict(_neighbours(question.scenario.neighbours))
    if not question.scenario.words.unrestricted:
        scenario["words"] = dict(_words(question.scenario.words))
    result["scenario"] = scenario
    if question.horizon is not None:
        result["horizon"] = Exact(question.horizon)
    if question.budget is not None:
        result |= _budget(question.budget)
    if question.rate != 1:
        result["rate"] = Exact(question.rate)
    return result


def write_question(question: Question | StreamQuestion, path: str | Path) -> None:
    """Write a model file: JSON where the name ends in ``.json``, YAML otherwise."""
    write_whole(path, question_text(question, path))


def question_text(question: Question | StreamQuestion, path: str | Path) -> str:
    """The text of a model file of this name."""
    said = document(question)
    if Path(path).suffix.lower() == ".json":
        return json.dumps(said, indent=2, ensure_ascii=False) + "\n"
    return to_yaml(said)


def _row(entries: Distribution) -> dict[str, str]:
    return {name: Exact(probability) for name, probability in entries.items()}


def _model(model: Model) -> Iterator[tuple[str, Any]]:
    if isinstance(model, Transducer):
        yield from _transducer(model)
        return
    yield "kind", "hmm" if isinstance(model, HiddenMarkovModel) else "markov-chain"
    yield "states", list(model.states)
    if isinstance(model, HiddenMarkovModel):
        yield "observations", list(model.observations)
    if model.transitions:
        yield "transitions", {state: _row(row) for state, row in model.transitions.items()}
    if isinstance(model, HiddenMarkovModel):
        yield "emissions", {state: _row(row) for state, row in model.emissions.items()}
    if isinstance(model, MarkovChain) and model.labels:
        yield "labels", {state: list(labels) for state, labels in model.labels.items()}


def _transducer(model: Transducer) -> Iterator[tuple[str, Any]]:
    yield "kind", "transducer"
    yield "states", list(model.states)
    yield "inputs", list(model.inputs)
    yield "outputs", list(model.outputs)
    yield "initial", _row(model.initial)
    yield (
        "steps",
        [
            {
                state: {
                    symbol: [
                        {"probability": Exact(branch.probability), "to": branch.target}
                        | ({} if branch.output is None else {"output": branch.output})
                        for branch in branches
                    ]
                    for symbol, branches in row.items()
                }
                for state, row in step.items()
            }
            for step in model.steps
        ],
    )
    if model.repeats:
        yield "repeats", True
    if model.finish is not None:
        yield "finish", {state: _row(row) for state, row in model.finish.items()}
    if model.marks:
        yield "marks", dict(model.marks)
        yield "foretold", {output: Exact(rational(count)) for output, count in model.foretold.items()}


def _pair(pair: Pair) -> dict[str, Any]:
    said: dict[str, Any] = {"name": pair.name, "left": _row(pair.left), "right": _row(pair.right)}
    return said if pair.only is None else said | {"only": pair.only}


def _neighbours(relation: Neighbours) -> Iterator[tuple[str, Any]]:
    yield "relation", relation.kind
    if relation.kind == "pairs":
        yield "pairs", [[list(left), list(right)] for left, right in relation.listed]
        return
    if relation.kind != "add-remove":
        yield "within", "any" if relation.within is None else Exact(relation.within)
    if relation.coordinates is not None:
        yield "coordinates", {s: [Exact(value) for value in values] for s, values in relation.coordinates.items()}


def _words(words: Words) -> Iterator[tuple[str, Any]]:
    if words.only is not None:
        yield "only", words.only
    if words.without:
        yield "without", list(words.without)
    if words.ending != "any":
        yield "ending", words.ending


def _budget(budget: Budget) -> dict[str, Any]:
    said: dict[str, Any] = {"epsilon": Exact(budget.epsilon)}
    delta: Rational = budget.delta
    if delta != 0:
        said["delta"] = Exact(delta)
    if budget.pointwise:
        said["pointwise"] = True
    return said


def to_yaml(said: Mapping[str, Any]) -> str:
    """A document as YAML: tables of tables in block style, one row a line.

    >>> rows = {"a": {"0": Exact("1/2"), "1": Exact("1/2")}}
    >>> print(to_yaml({"kind": "hmm", "states": ["no", "a"], "emissions": rows}), end="")
    kind: hmm
    states: ["no", a]
    emissions:
      a: {"0": 1/2, "1": 1/2}
    """
    return "".join(f"{line}\n" for line in _block(said, 0))


def _block(value: Mapping[str, Any], indent: int) -> Iterator[str]:
    for key, entry in value.items():
        head = f"{' ' * indent}{_key(key)}"
        if len(head) > _LONGEST_SIMPLE_KEY:
            yield f"{' ' * indent}? {_key(key)}"
            head = " " * indent
        flow = _flow(entry)
        if _is_row(entry) and (indent or len(head) + len(flow) <= _WIDTH or not isinstance(entry, Mapping)):
            yield from _fold_row(f"{head}: ", entry, flow)
        elif isinstance(entry, Mapping):
            yield f"{head}:"
            yield from _block(entry, indent + 2)
        elif isinstance(entry, list):
            yield f"{head}:"
            for item in entry:
                yield from _item(item, indent + 2)
        else:
            yield f"{head}: {flow}"


def _item(item: Any, indent: int) -> Iterator[str]:
    flow = _flow(item)
    if isinstance(item, Mapping) and item and len(flow) + indent + 2 > _WIDTH:
        lines = list(_block(item, indent + 2))
        yield f"{' ' * indent}- {lines[0].lstrip()}"
        yield from lines[1:]
    else:
        yield f"{' ' * indent}- {flow}"


def _is_row(entry: Any) -> bool:
    """Whether an entry goes on one line: it holds scalars only, or nothing."""
    if isinstance(entry, Mapping):
        return all(isinstance(value, str | bool) for value in entry.values())
    if isinstance(entry, list):
        return all(isinstance(value, str | bool) or (isinstance(value, list) and _is_row(value)) for value in entry)
    return True


def _fold_row(head: str, entry: Any, flow: str) -> Iterator[str]:
    """A row, broken after commas where it is too wide."""
    if len(head) + len(flow) <= _WIDTH or not isinstance(entry, Mapping | list):
        yield head + flow
        return
    parts = [_entry(k, v) for k, v in entry.items()] if isinstance(entry, Mapping) else [_flow(v) for v in entry]
    line, margin = head + flow[0], " " * min(len(head) + 1, 24)
    for number, part in enumerate(parts):
        last = number == len(parts) - 1
        piece = part + (flow[-1] if last else ",")
        if number and len(line) + 1 + len(piece) > _WIDTH:
            yield line.rstrip()
            line = margin + piece
        else:
            line += (" " if number else "") + piece
    yield line


def _flow(value: Any) -> str:
    if isinstance(value, Mapping):
        return "{" + ", ".join(_entry(key, entry) for key, entry in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(_flow(entry) for entry in value) + "]"
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value) if isinstance(value, Exact) else _key(value)


def _entry(key: str, value: Any) -> str:
    written = _key(key)
    return f"{'? ' if len(written) > _LONGEST_SIMPLE_KEY else ''}{written}: {_flow(value)}"


def _key(text: str) -> str:
    """A text: as it is where every YAML reader takes it for a text, else in double quotes."""
    if _PLAIN.fullmatch(text) and text.lower() not in _NOT_PLAIN:
        return str(text)
    return '"' + "".join(_character(c) for c in text) + '"'


def _character(character: str) -> str:
    if character in '"\\':
        return "\\" + character
    if character.isprintable():
        return character
    number = ord(character)
    return f"\\x{number:02x}" if number < 0x100 else f"\\u{number:04x}" if number < 0x10000 else f"\\U{number:08x}"
