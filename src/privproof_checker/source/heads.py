"""What a document says of the functions of a program: their texts, parsed, and what the names in them stand for."""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from privproof_checker.outcomes import refuse
from privproof_checker.plain_documents import a_flag, a_list, a_text, an_integer, an_object, only_members
from privproof_checker.source.laws import SIGNATURES
from privproof_checker.source.values import Beyond, Value, read_value

_LONGEST_TEXT = 200_000
"""The source of a function may have so many characters; beyond, nothing is established about it."""


@dataclass(frozen=True)
class Meaning:
    """What a name that is not local stands for: a built-in function, a noise, a function of the program or of a library, a constant,
    a class that holds values under names, or an enumeration."""

    kind: str
    value: Any


@dataclass(frozen=True)
class Head:
    """A function whose text is parsed, and whose body is not read yet."""

    name: str
    tree: ast.FunctionDef
    meanings: Mapping[str, Meaning]
    defaults: Mapping[str, Value]
    line: int
    place: str

    @classmethod
    def read(cls, value: object, place: str, functions: int) -> Head:
        """The function that a document describes; `functions` is how many there are."""
        given = an_object(value, place)
        only_members(given, ("name", "text", "line", "meanings", "defaults"), place)
        name, text = a_text(given.get("name"), f"{place}.name"), a_text(given.get("text"), f"{place}.text")
        line = an_integer(given.get("line", 1), f"{place}.line")
        tree = _parsed(text, name, f"{place}.text")
        meanings = {}
        for each, meaning in an_object(given.get("meanings"), f"{place}.meanings").items():
            meanings[each] = _meaning(meaning, f"{place}.meanings.{each}", functions)
        defaults = {
            each: read_value(default, f"{place}.defaults.{each}")
            for each, default in an_object(given.get("defaults", {}), f"{place}.defaults").items()
        }
        return cls(name, tree, meanings, defaults, line, place)

    @cached_property
    def parameters(self) -> tuple[str, ...]:
        """Its parameters, in order."""
        return tuple(a.arg for a in self._listed)

    @cached_property
    def positional(self) -> int:
        """How many of them may be given by position."""
        return len(self.tree.args.posonlyargs) + len(self.tree.args.args)

    @cached_property
    def generator(self) -> bool:
        """Whether it yields."""
        return any(isinstance(node, ast.Yield | ast.YieldFrom) for node in ast.walk(self.tree))

    @property
    def annotations(self) -> dict[str, ast.expr]:
        """What is written beside its parameters."""
        return {a.arg: a.annotation for a in self._listed if a.annotation is not None}

    @property
    def _listed(self) -> Sequence[ast.arg]:
        return (*self.tree.args.posonlyargs, *self.tree.args.args, *self.tree.args.kwonlyargs)

    @cached_property
    def written(self) -> dict[str, Value]:
        """The defaults that are numbers, texts, truth values or None, as its text writes them out."""
        arguments = self.tree.args
        places = [*arguments.posonlyargs, *arguments.args]
        given = [*zip(places[len(places) - len(arguments.defaults) :], arguments.defaults, strict=True)]
        given += [(a, d) for a, d in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True) if d is not None]
        found: dict[str, Value] = {}
        for argument, default in given:
            negative = isinstance(default, ast.UnaryOp) and isinstance(default.op, ast.USub)
            inner = default.operand if isinstance(default, ast.UnaryOp) and negative else default
            if isinstance(inner, ast.Constant) and type(inner.value) in (bool, int, str, type(None)):
                if not negative:
                    found[argument.arg] = inner.value
                elif type(inner.value) is int:
                    found[argument.arg] = -inner.value
        return found


def _parsed(text: str, name: str, place: str) -> ast.FunctionDef:
    if len(text) > _LONGEST_TEXT:
        raise Beyond(f"a text of more than {_LONGEST_TEXT} characters", place)
    indented = text[:1].isspace()
    try:
        body = ast.parse(f"if True:\n{text}" if indented else text).body
        if indented and len(body) == 1 and isinstance(body[0], ast.If) and not body[0].orelse:
            body = body[0].body
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise Beyond(f"the text cannot be parsed: {type(error).__name__}", place) from None
    if len(body) != 1 or not isinstance(body[0], ast.FunctionDef):
        refuse("the text is not the definition of one function", place)
    if body[0].name != name:
        refuse(f"the text defines {body[0].name!r}", place)
    if body[0].decorator_list or getattr(body[0], "type_params", None):
        raise Beyond("a decorator, or a parameter that is a type, is not known to the checker", place)
    return body[0]


def _meaning(value: object, place: str, functions: int) -> Meaning:
    given = an_object(value, place)
    if len(given) != 1:
        refuse("a name has one meaning", place)
    ((kind, inside),) = given.items()
    match kind:
        case "builtin":
            return Meaning(kind, a_text(inside, place))
        case "noise":
            name = a_text(inside, place)
            if name not in SIGNATURES:
                raise Beyond(f"the noise {name[:40]!r} is not known", place)
            return Meaning(kind, name)
        case "function":
            number = an_integer(inside, place)
            if not 0 <= number < functions:
                refuse(f"there is no function {number}", place)
            return Meaning(kind, number)
        case "constant":
            return Meaning(kind, read_value(inside, place))
        case "library":
            return Meaning(kind, a_text(inside, place))
        case "record":
            return Meaning(kind, _record(inside, place))
        case "members":
            return Meaning(kind, read_value(inside, place))
        case _:
            raise Beyond(f"{kind[:40]!r} is no meaning that is known", place)


def _record(value: object, place: str) -> tuple[str, tuple[str, ...], tuple[Value, ...], bool]:
    """A class that holds values under names: its name, its fields, their defaults, and whether it is one of tuples."""
    found = a_list(value, place)
    if len(found) != 4:
        refuse("a class has a name, fields, defaults, and is one of tuples or not", place)
    fields = tuple(a_text(field, place) for field in a_list(found[1], place))
    defaults = tuple(read_value(default, place) for default in a_list(found[2], place))
    if len(set(fields)) < len(fields) or len(defaults) > len(fields):
        refuse("a class has each field once, and no more defaults than fields", place)
    return a_text(found[0], place), fields, defaults, a_flag(found[3], place)
