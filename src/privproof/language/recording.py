"""The record of what would run: functions with their texts, and what each of their names stands for.

A translation depends on nothing else, so equal records have equal translations.  As a document the record goes into certificates, and a
reader with no Python at hand finds there everything that the text leaves open.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, TypeAlias

from privproof.language.constants import constant_text, typed_document
from privproof.language.inputs import Input, is_plain

Kind: TypeAlias = Literal["builtin", "noise", "library", "function", "constant", "record", "members"]


@dataclass(frozen=True)
class Meaning:
    """What a name stands for.

    Attributes:
        kind: a built-in function, a noise function, a function of a library, another function of the program, a constant, a class
            that holds values under names, or an enumeration.
        value: its name, for a function its number in the program, for a constant the value.
    """

    kind: Kind
    value: Any

    def document(self) -> dict[str, Any]:
        """The meaning as JSON data."""
        if self.kind == "record":
            shape = self.value
            defaults = [typed_document(default) for default in shape.defaults]
            return {"record": [shape.name, list(shape.fields), defaults, shape.sequence]}
        if self.kind in ("constant", "members"):
            return {self.kind: typed_document(self.value)}
        return {self.kind: self.value}


@dataclass(frozen=True)
class Resolved:
    """One function as it would run now.

    Attributes:
        name: its name.
        qualified: its name with that of what it is defined in.
        file: the file it stands in.
        line: the line of its ``def``.
        text: its definition, without decorators and moved to the left margin.
        meanings: every name (also dotted: ``module.LIMIT``) that is not its own, and what it stands for.
        defaults: the defaults of its parameters that count, because a call leaves them out.
    """

    name: str
    qualified: str
    file: str
    line: int
    text: str
    meanings: Mapping[str, Meaning]
    defaults: Mapping[str, Any]

    def document(self) -> dict[str, Any]:
        """The function as JSON data."""
        return {
            "name": self.name,
            "text": self.text,
            "line": self.line,
            "meanings": {name: meaning.document() for name, meaning in sorted(self.meanings.items())},
            "defaults": {name: typed_document(value) for name, value in sorted(self.defaults.items())},
        }


@dataclass(frozen=True)
class Program:
    """All functions that a run would enter, and the values they are given.

    Attributes:
        functions: the functions, the mechanism itself first.
        inputs: the declared inputs, in order.
        parameters: the parameters with their values.
    """

    functions: tuple[Resolved, ...]
    inputs: Mapping[str, Input]
    parameters: Mapping[str, Any]

    def document(self) -> dict[str, Any]:
        """The program as plain JSON data."""
        return {
            "functions": [function.document() for function in self.functions],
            "inputs": {name: _declaration(declared) for name, declared in self.inputs.items()},
            "parameters": {name: typed_document(value) for name, value in self.parameters.items()},
        }

    def digest(self) -> str:
        """A SHA-256 of the document, wherever in their files the functions stand."""
        document = self.document()
        for function in document["functions"]:
            del function["line"]
        return hashlib.sha256(json.dumps(document, sort_keys=True, separators=(",", ":")).encode()).hexdigest()

    def same(self, other: Program) -> bool:
        """Whether two records say the same, the places included."""
        return self is other or self._told == other._told

    @cached_property
    def _told(self) -> tuple[list[tuple[str, str]], dict[str, Any]]:
        """What tells records apart; kept, because a record is compared each time that its program is looked up."""
        return [(function.file, function.qualified) for function in self.functions], self.document()

    def change(self, earlier: Program) -> str:
        """The first thing that is different from an earlier record, in words."""
        for now, then in zip(self.functions, earlier.functions, strict=False):
            if (now.name, now.text) != (then.name, then.text):
                return (
                    f"{then.name} has another text" if now.name == then.name else f"{now.name} stands for {then.name}"
                )
            for words, new, old in (("", now.meanings, then.meanings), ("the default ", now.defaults, then.defaults)):
                for name in old:
                    told = [_shown(side.get(name)) for side in (old, new)]
                    if told[0] != told[1]:
                        return f"{words}{name} was {told[0]} and is {told[1]}"
        for name in earlier.parameters:
            told = [_shown(side.get(name)) for side in (earlier.parameters, self.parameters)]
            if told[0] != told[1]:
                return f"{name} was {told[0]} and is {told[1]}"
        return "a function or an input is another one"

    def relies_on(self) -> str | None:
        """The constants outside the functions that a verdict relies on, as a sentence; None if there are none."""
        found: dict[str, dict[str, list[str]]] = {}
        for function in self.functions:
            for name, meaning in function.meanings.items():
                if meaning.kind == "constant":
                    found.setdefault(name, {}).setdefault(constant_text(meaning.value), []).append(function.name)
        listed = []
        for name, values in found.items():
            for value, users in values.items():
                where = f" in {', '.join(dict.fromkeys(users))}" if len(values) > 1 else ""
                listed.append(f"{name} = {value}{where}")
        for function in self.functions[1:]:
            listed += [f"{function.name}({name}={constant_text(value)})" for name, value in function.defaults.items()]
        return f"relies on {', '.join(dict.fromkeys(listed))}" if listed else None


def _shown(value: Any) -> str:
    """A meaning, or a plain value, in words."""
    if not isinstance(value, Meaning):
        return constant_text(value)
    return constant_text(value.value) if value.kind in ("constant", "members") else f"the {value.kind} {value.value}"


def _declaration(declared: Input) -> dict[str, Any]:
    """A declared input as JSON data; whole numbers between two bounds are not listed one by one."""
    bounds = {name: getattr(declared, name) for name in ("low", "high", "within")}
    listed = (
        None
        if declared.values is None or declared.fields or _is_range(declared)
        else [typed_document(value) for value in declared.values]
    )
    fields = {"fields": {name: _declaration(each) for name, each in declared.fields}} if declared.fields else {}
    return {
        "text": declared.text,
        "shape": declared.shape,
        "values": listed,
        "real": declared.real,
        **{name: None if bound is None else str(bound) for name, bound in bounds.items()},
        "public": declared.public,
        "size": declared.size,
        **fields,
    }


def lists_plainly(declared: Input) -> bool:
    """Whether the values of an input are of Python's own types."""
    return declared.values is None or _is_range(declared) or all(map(is_plain, declared.values))


def _is_range(declared: Input) -> bool:
    """Whether the values of an input are the whole numbers between its bounds."""
    values, low, high = declared.values, declared.low, declared.high
    if low is None or high is None or not values or {type(values[0]), type(values[-1])} != {int}:
        return False
    return bool(values[0] == low and values[-1] == high and len(values) == high - low + 1)
