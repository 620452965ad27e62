"""Tables whose keys come from data: the keys that occur are those of all that may occur whose count is above 0.

``for key, count in sorted(Counter(data).items())`` goes through the values that were declared for the records, in order, and leaves out
those that do not occur.  So it is a loop over public keys with a test in it.  In the order in which the data bring them the keys would
show that order; such a loop stays what it is.  ``out[key] = value`` under a test makes a new table of the old one.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TypeVar

from privproof.language.arrays import BuiltIn
from privproof.language.public_keys import MOST_TURNS
from privproof.language.syntax import Assign, Element, Expression, Operation, Place, Statement, Variable
from privproof.language.tables import Tables

_Comprehension = ast.ListComp | ast.SetComp | ast.GeneratorExp | ast.DictComp
_N = TypeVar("_N", bound=ast.AST)


@dataclass(frozen=True)
class _Keys:
    """What a loop over the keys of data is over.

    Attributes:
        values: all keys that may occur, in order.
        count: the expression that counts a key.
        items: whether the loop is over pairs of keys and counts.
    """

    values: tuple[int | str, ...]
    count: Callable[[ast.expr], ast.expr]
    items: bool


class DataKeys(Tables):
    """Reads tables whose keys come from data."""

    grown: set[str]
    """Names of tables that begin empty and are given keys under tests."""

    def with_public_keys(self, node: ast.stmt) -> ast.stmt:
        """A statement with loops over the sorted keys of data as loops over all keys that may occur, with a test."""
        if not self.shared.values or not any(self._sorted(part) for part in ast.walk(node)):
            return node
        changed = _Public(self).visit(_copied(node))
        assert isinstance(changed, ast.stmt)
        return ast.fix_missing_locations(changed)

    def keys_that_occur(self, over: ast.expr) -> _Keys | None:
        """The keys of data that a loop goes through in order; None for any other loop."""
        inner = self._sorted(over)
        items = False
        match inner:
            case ast.Call(func=ast.Attribute(value=ast.Call() as made, attr="items" | "keys" as view), args=[]):
                inner, items = made, view == "items"
        match inner:
            case ast.Call(args=[ast.Name(id=listed)], keywords=[]) if (
                self.library_called(inner) == "collections.Counter"
            ):
                return self._known_keys(self.names.get(listed), lambda key: _counted(listed, key), items=items)
            case ast.Call(func=ast.Attribute(value=ast.Name() as named, attr="items" | "keys" as view), args=[]):
                inner, items = named, view == "items"
            case ast.Call(args=[ast.Name(id=listed)], keywords=[]) if self.known(inner, "set"):
                return self._known_keys(self.names.get(listed), lambda key: _counted(listed, key), items=False)
        if isinstance(inner, ast.Name) and inner.id in self.counters:
            counted, name = self.counters[inner.id], inner.id
            source = counted.name if isinstance(counted, Variable) else None
            return self._known_keys(source, lambda key: _looked_up(name, key), items=items)
        return None

    def _known_keys(self, source: str | None, count: Callable[[ast.expr], ast.expr], *, items: bool) -> _Keys | None:
        values = self.shared.values.get(source or "", ())
        if not 0 < len(values) <= MOST_TURNS or len({type(value) for value in values}) != 1:
            return None
        whole, texts = ([v for v in values if isinstance(v, kind)] for kind in (int, str))
        listed: list[int | str] = [*sorted(whole), *sorted(texts)]  # of one type: one of them is empty
        return _Keys(tuple(listed), count, items) if len(listed) == len(values) else None

    def _sorted(self, node: ast.AST) -> ast.expr | None:
        """What an expression sorts, from the smallest to the largest."""
        match node:
            case ast.Call(args=[inner], keywords=[]) if self.known(node, "sorted"):
                return inner
            case _:
                return None

    def used_in(self, names: set[str], node: ast.AST) -> bool:
        """Whether names are used in one statement or expression alone."""
        inside = sum(isinstance(part, ast.Name) and part.id in names for part in ast.walk(node))
        return inside == sum(isinstance(part, ast.Name) and part.id in names for part in self.parts)

    def table_grown(self, name: str, value: ast.expr, out: list[Statement], here: Place) -> bool:
        """Begin a table that is given keys under tests, and then returned; False for any other."""
        empty = (isinstance(value, ast.Dict) and not value.keys) or (
            isinstance(value, ast.Call) and self.known(value, "dict") and not value.args and not value.keywords
        )
        if not empty or not self.named_once(name) or not self._returned_alone(name):
            return False
        stores = list(self._stores(name, self.read.tree.body, under=False))
        sure = {key for key, under in stores if not under}
        if all(key in sure for key, _ in stores):
            return False
        self.grown.add(name)
        out.append(Assign(self.names[name], Operation("table of", (), here), here))
        return True

    def entry_added(
        self, name: str, index: ast.expr, value: Expression, out: list[Statement], here: Place, change: str | None
    ) -> bool:
        """``name[index] = value`` of a table that grows; False for any other name."""
        if name not in self.grown:
            return False
        table, key = Variable(self.names[name], here), self.kept(self.expression(index, out), out, here)
        if change is not None:
            value = Operation(change, (Element(table, key, here), value), here)
        out.append(Assign(table.name, Operation("with entry", (table, key, value), here), here))
        return True

    def _returned_alone(self, name: str) -> bool:
        """Whether a name is only given entries, and returned."""
        fine = 0
        for holder in self.parts:
            match holder:
                case (
                    ast.Subscript(value=ast.Name(id=found), ctx=ast.Store()) | ast.Return(value=ast.Name(id=found))
                ) if found == name:
                    fine += 1
        return fine == sum(isinstance(p, ast.Name) and p.id == name and isinstance(p.ctx, ast.Load) for p in self.parts)

    def _stores(self, name: str, body: list[ast.stmt], *, under: bool) -> Iterator[tuple[str, bool]]:
        """How the keys are written that a table is given, and whether under a test."""
        for node in body:
            tested = under or isinstance(node, ast.If | ast.While | ast.Try | ast.Match)
            tested = tested or (isinstance(node, ast.For) and self.static_items(node.iter) is None)
            for field in ("body", "orelse", "finalbody"):
                yield from self._stores(name, getattr(node, field, []), under=tested)
            if not getattr(node, "body", None):
                for part in ast.walk(node):
                    match part:
                        case ast.Subscript(value=ast.Name(id=found), slice=key, ctx=ast.Store()) if found == name:
                            yield ast.dump(key), under


class _Public(ast.NodeTransformer):
    """Loops over the keys of data as loops over all keys that may occur."""

    def __init__(self, reader: DataKeys) -> None:
        self.reader = reader

    def visit_For(self, node: ast.For) -> ast.AST:
        """``for key in sorted(counts): ...``."""
        keys, targets = self.reader.keys_that_occur(node.iter), _targets(node.target)
        self.generic_visit(node)
        if keys is None or node.orelse or len(targets) != 1 + keys.items or not self.reader.used_in({*targets}, node):
            return node
        key = ast.Name(targets[0], ast.Load())
        body: list[ast.stmt] = list(node.body)
        inside: list[ast.stmt] = [ast.If(_above_zero(keys.count(key)), body, [])]
        if keys.items:
            counted = ast.Assign([ast.Name(targets[1], ast.Store())], keys.count(key))
            inside = [counted, ast.If(_above_zero(ast.Name(targets[1], ast.Load())), body, [])]
        made = ast.For(ast.Name(targets[0], ast.Store()), _listed(keys), inside, [])
        return _placed(made, node)

    def visit_ListComp(self, node: ast.ListComp) -> ast.AST:
        """``[... for key in sorted(counts)]``."""
        return self._comprehension(node)

    def visit_SetComp(self, node: ast.SetComp) -> ast.AST:
        """``{... for key in sorted(counts)}``."""
        return self._comprehension(node)

    def visit_GeneratorExp(self, node: ast.GeneratorExp) -> ast.AST:
        """``(... for key in sorted(counts))``."""
        return self._comprehension(node)

    def visit_DictComp(self, node: ast.DictComp) -> ast.AST:
        """``{key: ... for key, count in sorted(counts.items())}``."""
        return self._comprehension(node)

    def _comprehension(self, node: _Comprehension) -> ast.AST:
        self.generic_visit(node)
        for generator in node.generators:
            keys, targets = self.reader.keys_that_occur(generator.iter), _targets(generator.target)
            if keys is None or len(targets) != 1 + keys.items:
                continue
            key = ast.Name(targets[0], ast.Load())
            generator.target, generator.iter = ast.Name(targets[0], ast.Store()), _listed(keys)
            if keys.items:
                _Replaced(targets[1], lambda keys=keys, key=key: keys.count(key)).visit(node)  # type: ignore[misc]
            generator.ifs.insert(0, _above_zero(keys.count(key)))
        return node


class _Replaced(ast.NodeTransformer):
    """An expression in the place of a name."""

    def __init__(self, name: str, made: Callable[[], ast.expr]) -> None:
        self.name, self.made = name, made

    def visit_Name(self, node: ast.Name) -> ast.expr:
        """The name."""
        return ast.copy_location(self.made(), node) if node.id == self.name else node


def _targets(target: ast.expr) -> list[str]:
    """The names of a target that is a name or a pair of names."""
    listed = target.elts if isinstance(target, ast.Tuple) else [target]
    return [each.id for each in listed if isinstance(each, ast.Name)] if len(listed) <= 2 else []


def _listed(keys: _Keys) -> ast.expr:
    return ast.Tuple([ast.Constant(value) for value in keys.values], ast.Load())


def _above_zero(count: ast.expr) -> ast.expr:
    return ast.Compare(count, [ast.Gt()], [ast.Constant(0)])


def _looked_up(name: str, key: ast.expr) -> ast.expr:
    return ast.Subscript(ast.Name(name, ast.Load()), key, ast.Load())


def _counted(name: str, key: ast.expr) -> ast.expr:
    return ast.Call(ast.Attribute(ast.Name(name, ast.Load()), "count", ast.Load()), [key], [])


def _placed(node: _N, like: ast.AST) -> _N:
    """New nodes at the place of the old one."""
    for part in ast.walk(node):
        if not hasattr(part, "lineno") and isinstance(part, ast.expr | ast.stmt):
            ast.copy_location(part, like)
    return node


def _copied(node: ast.AST) -> ast.AST:
    """A copy of a tree, whose names of built-in functions stay such."""
    made = type(node)(**{name: _copied_field(value) for name, value in ast.iter_fields(node)})
    return ast.copy_location(made, node)


def _copied_field(value: object) -> object:
    if isinstance(value, ast.AST):
        return value if isinstance(value, BuiltIn) else _copied(value)
    return [_copied_field(item) for item in value] if isinstance(value, list) else value
