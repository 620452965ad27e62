"""From the source of a Python function to the intermediate representation.

The source is read with `ast` and translated statement by statement; nothing is executed.  What is outside the language is refused
with its place, the construct, and what to write instead.  Called functions are translated in place; names that are not local are
looked up where the running function looks (`language.resolving`), and must be constants, noise functions, functions of the language,
or one of the built-in functions that the language knows.
"""

from __future__ import annotations

import ast
import inspect
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from privproof.errors import LanguageError
from privproof.language.constants import NotPlain
from privproof.language.expressions import BINARY, INSTEAD_OF_METHOD, METHODS
from privproof.language.loops import Loops
from privproof.language.resolving import Running, signature
from privproof.language.sources import Shared
from privproof.language.syntax import (
    Append,
    Assign,
    Block,
    Break,
    Constant,
    Continue,
    Element,
    Emit,
    Expression,
    If,
    Inline,
    Operation,
    Place,
    Replace,
    Result,
    Return,
    Statement,
    Variable,
)
from privproof.language.values import MISSING
from privproof.language.walking import statements, variables

_DEEPEST = 30
"""Calls of functions inside each other that are read in place; deeper ones are refused like recursion."""
_IN_PLACE = {"+": "extend", "*": "repeat"}
"""Operators that change a list where they stand on the left of =."""


@dataclass(frozen=True)
class Translated:
    """The body of a mechanism.

    Attributes:
        body: its statements; it ends in `Return` on every path.
        generator: whether it yields.
        sites: how many places sample.
        file: where it stands.
    """

    body: Block
    generator: bool
    sites: int
    file: str


def translate(running: Running, *, streams: Iterable[str], known: Iterable[str]) -> Translated:
    """The intermediate representation of a function.

    Args:
        running: the mechanism's function as it runs.
        streams: which of its arguments are streams.
        known: all of its arguments.
    """
    read = running.read
    names = {name: name for name in known}
    shared = Shared(frozenset(streams), frozenset(names))
    reader = _Reader(running, shared, names)
    body = reader.block(read.tree.body)
    end = read.place(read.tree.body[-1])
    generator = any(isinstance(s, Emit) for s in statements(body))
    body = (*body, Return(Constant(None, end), end))
    if generator != inspect.isgeneratorfunction(read.function):
        reader.refuse(read.tree, "yield in a place that is never run", "yield in a statement of its own")
    if generator:
        for statement in statements(body):
            if isinstance(statement, Return) and statement.value not in (Constant(None, statement.value.place),):
                raise LanguageError(
                    "construct",
                    "a generator's return value is not seen by who reads its outputs",
                    place=str(statement.place),
                    hint="yield the value, then return",
                )
    return Translated(body, generator, shared.sites, read.file)


class _Reader(Loops):
    """Reads statements."""

    def __init__(self, running: Running, shared: Shared, names: dict[str, str], *, called: bool = False) -> None:
        super().__init__(running, shared, names, called=called)
        read = self.read
        around = read.function.__code__.co_qualname.split(".")[-2:-1]
        if around and around != ["<locals>"]:
            for node in ast.walk(read.tree):
                for word in (getattr(node, field, None) for field in ("id", "attr", "arg")):
                    if isinstance(word, str) and word.startswith("__") and not word.endswith("__"):
                        self.refuse(node, f"the name {word}, which Python changes inside a class,", "another name")

    def block(self, nodes: Iterable[ast.stmt]) -> Block:
        out: list[Statement] = []
        for node in nodes:
            self.statement(node, out)
        return tuple(out)

    def statement(self, node: ast.stmt, out: list[Statement]) -> None:
        here = self.place(node)
        match node:
            case ast.Assign(targets=targets, value=value):
                self.assign(targets, value, out, here)
            case ast.AnnAssign(target=target, value=value):
                if value is not None:
                    self.assign([target], value, out, here)
                elif not isinstance(target, ast.Name):
                    self.refuse(node, "an annotation without a value", "xs[i] = x")
            case ast.AugAssign(target=target, op=op, value=value):
                self.augment(node, target, op, value, out)
            case ast.If(test=test, body=body, orelse=orelse):
                condition = self.expression(test, out)
                out.append(If(condition, self.block(body), self.block(orelse), here))
            case ast.While():
                self.loop(node, out)
            case ast.For():
                self.walk(node, out)
            case ast.Match():
                self.match(node, out)
            case ast.Break():
                out.append(Break(here))
            case ast.Continue():
                out.append(Continue(here))
            case ast.Return(value=value):
                self.whole = value
                result = Constant(None, here) if value is None else self.expression(value, out)
                out.append(Result(result, here) if self.called else Return(result, here))
            case ast.Expr(value=value):
                self.alone(value, out, here)
            case ast.Pass():
                pass
            case _:
                self.unknown(node)

    def alone(self, value: ast.expr, out: list[Statement], here: Place) -> None:
        """An expression that is a statement."""
        match value:
            case ast.Constant():
                pass
            case ast.Tuple(elts=elements) if not any(isinstance(element, ast.Starred) for element in elements):
                for element in elements:
                    self.alone(element, out, here)
            case ast.Yield(value=inner):
                if self.called:
                    self.refuse(value, "a call of a generator", "yield in the mechanism itself")
                out.append(Emit(Constant(None, here) if inner is None else self.expression(inner, out), here))
            case ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr="append"), args=[item], keywords=[]) if (
                name in self.names
            ):
                out.append(Append(self.names[name], self.expression(item, out), here))
            case ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr=method)) if (
                name in self.names and method not in METHODS
            ):
                self.refuse(
                    value, f"the method .{method}", INSTEAD_OF_METHOD.get(method, f"{name}.append(x), or {name}[i] = x")
                )
            case _:
                self.whole = value
                result = self.expression(value, out)
                out.append(Assign(self.shared.name("d"), result, here))

    def assign(self, targets: list[ast.expr], value: ast.expr, out: list[Statement], here: Place) -> None:
        if (
            len(targets) == 1
            and isinstance(targets[0], ast.Tuple | ast.List)
            and isinstance(value, ast.Tuple | ast.List)
        ):
            names, values = targets[0].elts, value.elts
            if len(names) == len(values) and not any(isinstance(v, ast.Starred) for v in (*names, *values)):
                read = [self.expression(v, out) for v in values]
                written = {self.names[n.id] for n in names if isinstance(n, ast.Name)}
                if any(written.intersection(variables(e)) for e in read) or not all(
                    isinstance(n, ast.Name) for n in names
                ):
                    kept = [self.shared.name("t") for _ in read]
                    out.extend(Assign(name, e, here) for name, e in zip(kept, read, strict=True))
                    read = [Variable(name, here) for name in kept]
                for name, e in zip(names, read, strict=True):
                    self.store(name, e, out, here)
                return
        self.whole = value
        result = self.expression(value, out)
        if len(targets) > 1 or not isinstance(targets[0], ast.Name):
            kept_name = self.shared.name("t")
            out.append(Assign(kept_name, result, here))
            result = Variable(kept_name, here)
        for target in targets:
            self.store(target, result, out, here)

    def store(self, target: ast.expr, value: Expression, out: list[Statement], here: Place) -> None:
        match target:
            case ast.Name(id=name):
                if self.names[name] in self.shared.streams:
                    self.refuse(target, f"assigning to the stream {name}", "use another name")
                out.append(Assign(self.names[name], value, here))
            case ast.Tuple(elts=elements) | ast.List(elts=elements):
                if any(isinstance(e, ast.Starred) for e in elements):
                    self.refuse(target, "a starred target", "name every element")
                kept = self.shared.name("t")
                count = Constant(len(elements), here)
                out.append(Assign(kept, Operation("unpack", (value, count), here), here))
                for i, element in enumerate(elements):
                    self.store(element, Element(Variable(kept, here), Constant(i, here), here), out, here)
            case ast.Subscript(value=ast.Name(id=name), slice=index) if name in self.names:
                if isinstance(index, ast.Slice):
                    self.refuse(target, "assigning to a slice", "assign element by element")
                out.append(Replace(self.names[name], self.expression(index, out), value, here))
            case ast.Subscript():
                self.refuse(target, "assigning inside a nested list", "row = list(rows[i]); row[j] = x; rows[i] = row")
            case _:
                self.unknown(target)

    def augment(
        self, node: ast.stmt, target: ast.expr, op: ast.operator, value: ast.expr, out: list[Statement]
    ) -> None:
        here = self.place(node)
        name = BINARY.get(type(op))
        if name is None:
            self.refuse(node, "this operator", "+=, -=, *=, //=, %= or **=")
        if isinstance(target, ast.Name):
            if target.id not in self.names:
                self.unknown(target)
            old: Expression = Variable(self.names[target.id], here)
            new = Operation(_IN_PLACE.get(name, name), (old, self.expression(value, out)), here)
            self.store(target, new, out, here)
        elif isinstance(target, ast.Subscript) and isinstance(target.value, ast.Name) and target.value.id in self.names:
            kept = self.shared.name("t")
            out.append(Assign(kept, self.expression(target.slice, out), here))
            index = Variable(kept, here)
            cell = Element(Variable(self.names[target.value.id], here), index, here)
            new = Operation(_IN_PLACE.get(name, name), (cell, self.expression(value, out)), here)
            out.append(Replace(self.names[target.value.id], index, new, here))
        elif isinstance(target, ast.Subscript):
            self.refuse(target, "changing a nested list", "row = list(rows[i]); row[j] += x; rows[i] = row")
        else:
            self.unknown(target)

    def match(self, node: ast.Match, out: list[Statement]) -> None:
        here = self.place(node)
        subject = self.constant_in(self.expression(node.subject, out), out, here)
        tail: Block = ()
        for case in reversed(node.cases):
            test = self.pattern(case.pattern, subject)
            before: list[Statement] = []
            if case.guard is not None:
                guard = self.expression(case.guard, before)
                if before:
                    self.refuse(case.guard, "noise in a guard", "draw it before the match")
                test = Operation("and", (test, guard), here)
            tail = (If(test, self.block(case.body), tail, self.place(case.pattern)),)
        out.extend(tail)

    def pattern(self, pattern: ast.pattern, subject: Expression) -> Expression:
        here = self.place(pattern)
        match pattern:
            case ast.MatchValue(value=value):
                return Operation("==", (subject, self.expression(value, [])), here)
            case ast.MatchSingleton(value=value):
                return Operation("is", (subject, Constant(value, here)), here)
            case ast.MatchOr(patterns=patterns):
                return Operation("or", tuple(self.pattern(p, subject) for p in patterns), here)
            case ast.MatchAs(pattern=None, name=None):
                return Constant(value=True, place=here)
            case _:
                self.refuse(pattern, "this pattern", "case 0:, case 1 | 2:, case _:")

    def inline(self, node: ast.Call, called: object, out: list[Statement]) -> Expression:
        alone = node is self.whole
        here = self.place(node)
        running = self.running.program.running(called)
        read, name = running.read, running.read.tree.name
        if running in self.shared.calls or len(self.shared.calls) >= _DEEPEST:
            self.refuse(node, f"the recursive call of {name}", "a loop")
        if inspect.isgeneratorfunction(running.function):
            self.refuse(node, "a call of a generator", "yield in the mechanism itself")
        keywords: dict[str, Any] = {str(k.arg): k.value for k in node.keywords}
        taken = signature(running.function)
        try:
            bound = taken.bind(*node.args, **keywords)
        except TypeError as problem:
            raise LanguageError("call", f"{name}: {problem}", place=str(here), hint=f"{name}{taken}") from None
        prefix = self.shared.name(f"{name}.")
        stored = {n.id for n in ast.walk(read.tree) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
        names = {parameter: f"{prefix}.{parameter}" for parameter in taken.parameters}
        for parameter in taken.parameters.values():
            if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
                self.refuse(node, f"calling {name}, which takes *{parameter.name}", "name its parameters")
            if parameter.name not in bound.arguments:
                value = self.default(node, running, parameter.name, here)
                out.append(Assign(names[parameter.name], value, here))
        for parameter_name, argument in self.in_order(node, bound.arguments):
            if isinstance(argument, ast.Name) and argument.id in self.names and parameter_name not in stored:
                names[parameter_name] = self.names[argument.id]
                if names[parameter_name] not in self.shared.given:
                    out.append(Assign(self.shared.name("d"), Variable(names[parameter_name], here), here))
            else:
                out.append(Assign(names[parameter_name], self.expression(argument, out), here))
        self.shared.calls.append(running)
        passed = set(names.values())
        reader = _Reader(running, self.shared, names, called=True)
        body = reader.block(read.tree.body)
        self.shared.calls.pop()
        if not alone and any(isinstance(s, Append | Replace) and s.name in passed for s in statements(body)):
            self.refuse(node, f"calling {name}, which changes a list, inside a larger expression", f"y = {name}(xs)")
        unassigned = Constant(MISSING, here)
        body = (*(Assign(v, unassigned, here) for v in dict.fromkeys(names.values()) if v not in passed), *body)
        kept = self.shared.name("r")
        out.append(Inline(kept, (*body, Result(Constant(None, here), here)), here))
        return Variable(kept, here)

    def default(self, node: ast.Call, running: Running, name: str, here: Place) -> Expression:
        """The value of a parameter that a call leaves out."""
        try:
            return self.fixed(node, running.default(name), here)
        except NotPlain as problem:
            raise LanguageError(
                problem.code,
                f"the default of {name} in {running.read.tree.name} is {problem.what}",
                place=str(here),
                hint=problem.hint,
            ) from None
