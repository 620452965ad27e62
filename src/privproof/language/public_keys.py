"""What is known while a function is read and can be walked over: loops over it are written out turn by turn.

The keys of a table that was taken apart (`language.tables`), the numbers of a range, a constant tuple or list, the members of an
enumeration, and these sorted, reversed, numbered or side by side.
"""

from __future__ import annotations

import ast
from abc import abstractmethod
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from privproof.language.folding import Unfoldable
from privproof.language.resolving import ResolvedName
from privproof.language.sources import UNFORESEEN
from privproof.language.syntax import (
    Constant,
    Expression,
    Operation,
    Place,
    Statement,
    Variable,
)
from privproof.language.texts import Texts
from privproof.language.values import Member

MOST_TURNS = 64
"""Turns of a loop over public keys that are written out one by one; a longer loop stays a loop."""
PLAIN_KEYS = (bool, int, str, type(None), Member)


@dataclass
class Keyed:
    """A table whose keys are known, each with the variable that holds its value.

    Attributes:
        kind: ``dict``, ``counting`` (a missing key counts as 0), ``list`` or ``array``.
        entries: the variables by their keys, in order.
        changed: whether the function changes it somewhere.
    """

    kind: str
    entries: dict[Any, str] = field(default_factory=dict)
    changed: bool = False


class PublicKeys(Texts):
    """Reads loops over public keys."""

    tables: dict[str, Keyed]
    """Names that stand for a table whose keys are known."""
    counters: dict[str, Expression]
    """Names that stand for the counts of the elements of a list."""
    counted: dict[tuple[str, str], str]
    """Variables that hold such a count, by the name and how its key is written."""
    branches: int
    """How many tests and loops are around what is read: there no key is added to a table."""

    @abstractmethod
    def store(self, target: ast.expr, value: Expression, out: list[Statement], here: Place) -> None:
        """``target = value``."""

    @abstractmethod
    def known(self, node: ast.expr, name: str) -> bool:
        """Whether an expression is the call of a built-in function."""

    @abstractmethod
    def found(self, node: ast.expr) -> ResolvedName | None:
        """What a name outside stands for."""

    @abstractmethod
    def library_called(self, node: ast.expr) -> str | None:
        """The function of a library that an expression calls."""

    def static_items(self, over: ast.expr) -> list[Expression] | None:
        """What a loop is over, where all of it is known while the function is read, but for the values of variables."""
        here = self.place(over)
        match over:
            case ast.Name(id=name) if name in self.tables:
                return self.keys_of(over, self.tables[name], here)
            case ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr=view), args=[], keywords=[]) if (
                name in self.tables and view in ("items", "keys", "values")
            ):
                table = self.tables[name]
                keys = [self.fixed(over, key, here) for key in table.entries]
                values: list[Expression] = [Variable(each, here) for each in table.entries.values()]
                if view != "items":
                    return keys if view == "keys" else values
                return [Operation("tuple of", pair, here) for pair in zip(keys, values, strict=True)]
            case ast.Call(args=[inner], keywords=[]) if self.known(over, "sorted"):
                listed = self.static_items(inner)
                if listed is None or not all(isinstance(each, Constant) for each in listed):
                    return None
                try:
                    return sorted(listed, key=lambda each: each.value)  # type: ignore[union-attr, return-value, arg-type]
                except TypeError:
                    return None
            case ast.Call(args=[inner], keywords=[]) if self.known(over, "list") or self.known(over, "tuple"):
                return self.static_items(inner)
            case ast.Call(args=[inner], keywords=[]) if self.known(over, "reversed"):
                listed = self.static_items(inner)
                return None if listed is None else listed[::-1]
            case ast.Call(args=[inner], keywords=[]) if self.known(over, "enumerate"):
                listed = self.static_items(inner)
                if listed is None:
                    return None
                return [Operation("tuple of", (Constant(i, here), each), here) for i, each in enumerate(listed)]
            case ast.Call(args=several, keywords=[]) if self.known(over, "zip") and several:
                lists = [self.static_items(each) for each in several]
                if any(each is None for each in lists):
                    return None
                rows = zip(*(each for each in lists if each is not None), strict=False)
                return [Operation("tuple of", row, here) for row in rows]
            case ast.Call(args=bounds, keywords=[]) if self.known(over, "range") and 1 <= len(bounds) <= 3:
                numbers = [self.foreseen(each) for each in bounds]
                if not all(type(each) is int for each in numbers) or (len(numbers) == 3 and numbers[2] == 0):
                    return None
                turns = range(*numbers)
                return [Constant(i, here) for i in turns] if len(turns) <= MOST_TURNS else None
        members = self.members_named(over)
        if members is not None:
            return [Constant(each, here) for each in members]
        try:
            known = self.compute(over)
        except Unfoldable:
            return None
        if not isinstance(known, tuple | list) or len(known) > MOST_TURNS:
            return None
        if any(type(part) is float for part in _leaves(known)):
            return None
        return [self.fixed(over, each, here) for each in known]

    def keys_of(self, over: ast.expr, table: Keyed, here: Place) -> list[Expression]:
        """What a loop over a table is over: its keys; of a list its elements."""
        if table.kind in ("list", "array"):
            return [Variable(each, here) for each in table.entries.values()]
        return [self.fixed(over, key, here) for key in table.entries]

    def members_named(self, node: ast.expr) -> tuple[Member, ...] | None:
        """The members of an enumeration that an expression names."""
        if not isinstance(node, ast.Name | ast.Attribute) or (isinstance(node, ast.Name) and node.id in self.names):
            return None
        found = self.found(node)
        if found is None or found.kind != "members":
            return None
        self.shared.object_fields |= {"name", "value"}
        return tuple(found.value)

    def about_tables(self, *nodes: ast.AST) -> bool:
        """Whether code looks into a table that was taken apart, or into counts."""
        names = {*self.tables, *self.counters}
        return any(isinstance(part, ast.Name) and part.id in names for node in nodes for part in ast.walk(node))

    @contextmanager
    def bound_to(self, target: ast.expr, item: Expression, out: list[Statement], here: Place) -> Iterator[None]:
        """A target with a value for one turn: what is a constant is known."""
        before = dict(self.constants)
        pairs = list(_side_by_side(target, item))
        for each, part in pairs:
            self.store(each, part, out, here)
        for name, part in _matched(target, item):
            self.constants.pop(name, None)
            if isinstance(part, Constant):
                self.constants[name] = part.value
        yield
        self.constants = before

    @contextmanager
    def inner_names(self, names: Iterable[str]) -> Iterator[None]:
        """Names of a scope of their own, until its end: each stands for a new variable."""
        before, outside = dict(self.names), {}
        for name in names:
            self.names[name] = f"{self.shared.name('x')}.{name}"
            outside[name] = self.constants.pop(name, UNFORESEEN)
        yield
        self.names.clear()
        self.names.update(before)
        for name, value in outside.items():
            self.constants.pop(name, None)
            if value is not UNFORESEEN:
                self.constants[name] = value

    def spelled_out(self, generators: list[ast.comprehension], last: Callable[[], None], out: list[Statement]) -> bool:
        """The loops of a comprehension over public keys, turn by turn; False where these are not known."""
        if not generators:
            last()
            return True
        first, *others = generators
        listed = self.static_items(first.iter)
        if listed is None or first.is_async or any(isinstance(p, ast.Subscript) for p in ast.walk(first.target)):
            return False
        here = self.place(first.iter)
        with self.inner_names({p.id for p in ast.walk(first.target) if isinstance(p, ast.Name)}):
            for item in listed:
                with self.bound_to(first.target, item, out, here):
                    tests = [self.foreseen(test) for test in first.ifs]
                    fine = not any(test is UNFORESEEN for test in tests)
                    if fine and all(tests):
                        fine = self.spelled_out(others, last, out)
                if not fine:
                    return False
            return True


def names_in(node: ast.AST) -> set[str]:
    return {part.id for part in ast.walk(node) if isinstance(part, ast.Name)}


def _leaves(value: Any) -> Iterator[Any]:
    if isinstance(value, tuple | list):
        for item in value:
            yield from _leaves(item)
    else:
        yield value


def _side_by_side(target: ast.expr, item: Expression) -> Iterator[tuple[ast.expr, Expression]]:
    """A target with its value, taken apart as far as the value is written out and no part of it is an element of a list."""
    match target, item:
        case ((ast.Tuple(elts=targets) | ast.List(elts=targets)), Operation("tuple of", values)) if len(targets) == len(
            values
        ) and not any(isinstance(part, ast.Starred | ast.Subscript) for part in ast.walk(target)):
            for one, part in zip(targets, values, strict=True):
                yield from _side_by_side(one, part)
        case _:
            yield target, item


def _matched(target: ast.expr, item: Expression) -> Iterator[tuple[str, Expression]]:
    """The names of a target with the parts of a value that they take, as far as these are written out."""
    match target, item:
        case ast.Name(id=name), _:
            yield name, item
        case ((ast.Tuple(elts=targets) | ast.List(elts=targets)), Operation("tuple of", arguments)) if len(
            targets
        ) == len(arguments) and not any(isinstance(each, ast.Starred) for each in targets):
            for one, part in zip(targets, arguments, strict=True):
                yield from _matched(one, part)
        case ((ast.Tuple(elts=targets) | ast.List(elts=targets)), _):
            for one in targets:
                for name in names_in(one):
                    yield name, Operation("unknown", (), item.place)
