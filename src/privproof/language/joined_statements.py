"""Two statements that are read as one: what the first makes is looked at only by the second.

A list that is made only to find its largest element, a table that is made only to find its best key, or to hold all arguments of a
call, and a tally (`language.tables`) never need a place of their own.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from privproof.errors import LanguageError
from privproof.language.idle_statements import IdleStatements
from privproof.language.resolving import Unusable
from privproof.language.sources import root_name


class JoinedStatements(IdleStatements):
    """Reads pairs of statements."""

    def fused(self, nodes: Iterable[ast.stmt]) -> Iterator[ast.stmt]:
        """The statements; what is made only for the next one stands there."""
        waiting: ast.stmt | None = None
        for node in nodes:
            if waiting is not None:
                joined = self.joined(waiting, node)
                if joined is None:
                    yield waiting
                node = joined or node
            waiting = None
            if isinstance(node, ast.Assign) and (self.shared.ordinary or self.begins_tally(node)):
                waiting = self.spelled_dict(node) if self.shared.ordinary else node
            if waiting is None:
                yield node
        if waiting is not None:
            yield waiting

    def spelled_dict(self, node: ast.Assign) -> ast.Assign:
        """``name = dict(a=1)`` as ``name = {"a": 1}``; any other assignment as it is."""
        match node:
            case ast.Assign(targets=[ast.Name()], value=ast.Call(args=[], keywords=named) as called) if (
                self.known(called, "dict") and named and all(k.arg is not None for k in named)
            ):
                keys: list[ast.expr | None] = [ast.copy_location(ast.Constant(k.arg), k.value) for k in named]
                table = ast.copy_location(ast.Dict(keys, [k.value for k in named]), called)
                return ast.copy_location(ast.Assign(node.targets, table), node)
        return node

    def joined(self, before: ast.stmt, node: ast.stmt) -> ast.stmt | None:
        """One statement in the place of two: what the first makes stands where the second looks at it; None where both stay."""
        if not self.shared.ordinary:
            return self.tallied(before, node)
        match before:
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.ListComp() as made) if self.listed_once(
                name, made
            ) and isinstance(node, ast.Return | ast.Assign):
                found = [p for p in ast.walk(node) if isinstance(p, ast.Call) and self.looks_for(p) == name]
                if len(found) == 1 and _times_read(self.read.tree, name) == _times_read(found[0], name):
                    self.made[id(found[0])] = made
                    return node
            case ast.Assign(
                targets=[ast.Name(id=name)],
                value=ast.DictComp(
                    key=ast.Name(id=key),
                    value=each,
                    generators=[ast.comprehension(target=ast.Tuple(elts=[ast.Name(id=index), _]), iter=over)] as walked,
                ) as table,
            ) if key == index and self.known(over, "enumerate") and isinstance(node, ast.Return | ast.Assign):
                made = ast.copy_location(ast.ListComp(each, walked), table)
                found = [p for p in ast.walk(node) if isinstance(p, ast.Call) and self.best_key(p) == name]
                once = len(found) == 1 and _times_read(self.read.tree, name) == _times_read(found[0], name)
                if once and self.listed_once(name, made):
                    self.made[id(found[0])] = made
                    return node
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.Dict(keys=[_, *_]) as options) if (
                name in self.steady and _times_read(self.read.tree, name) == 1
            ):
                calls = [p for p in ast.walk(node) if isinstance(p, ast.Call) and _only_options(p) == name]
                plain = not isinstance(node, ast.For | ast.While | ast.If | ast.FunctionDef | ast.Match)
                texts = {key.value for key in options.keys if isinstance(key, ast.Constant) and _is_text(key)}
                if len(calls) == 1 and plain and len(texts) == len(options.keys):
                    self.spelled[id(calls[0])] = options
                    return node
        return self.tallied(before, node)

    def listed_once(self, name: str, made: ast.ListComp) -> bool:
        """Whether a name is assigned once, to a list with as many elements as an input list, or as a range or tuple that is not empty."""
        if len(made.generators) != 1 or made.generators[0].ifs or name not in self.steady:
            return False
        over = made.generators[0].iter
        if self.known(over, "enumerate") and isinstance(over, ast.Call) and len(over.args) == 1 and not over.keywords:
            over = over.args[0]
        stored = [
            n
            for n in ast.walk(self.read.tree)
            if isinstance(n, ast.Name) and n.id == name and isinstance(n.ctx, ast.Store)
        ]
        filled = isinstance(over, ast.Name) and self.names.get(over.id) in self.shared.lists
        return len(stored) == 1 and filled and over.id in self.steady  # type: ignore[attr-defined]

    def best_key(self, node: ast.Call) -> str | None:
        """The name of the table whose key with the largest value a call looks for: ``max(table, key=table.get)``."""
        match node:
            case ast.Call(
                args=[ast.Name(id=name)],
                keywords=[ast.keyword(arg="key", value=ast.Attribute(value=ast.Name(id=same), attr="get"))],
            ) if name == same and self.known(node, "max"):
                return name
        return None

    def looks_for(self, node: ast.Call) -> str | None:
        """The name of the list whose largest element a call looks for: ``xs.index(max(xs))``, ``np.argmax(xs)``."""
        match node:
            case ast.Call(
                func=ast.Attribute(value=ast.Name(id=name), attr="index"),
                args=[ast.Call(args=[ast.Name(id=same)], keywords=[]) as inner],
                keywords=[],
            ) if name == same and self.known(inner, "max"):
                return name
            case ast.Call(func=ast.Attribute() | ast.Name() as called, args=[ast.Name(id=name)], keywords=[]) if (
                root_name(called) not in self.names
            ):
                try:
                    found = self.meaning(called)
                except (LanguageError, Unusable):
                    return None
                return name if (found.kind, found.value) == ("library", "numpy.argmax") else None
        return None


def _times_read(node: ast.AST, name: str) -> int:
    return sum(isinstance(n, ast.Name) and n.id == name and isinstance(n.ctx, ast.Load) for n in ast.walk(node))


def _only_options(node: ast.Call) -> str | None:
    """The name of the table that holds all arguments of a call."""
    match node:
        case ast.Call(args=[], keywords=[ast.keyword(arg=None, value=ast.Name(id=name))]):
            return name
    return None


def _is_text(node: ast.expr | None) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str)
