"""From the source of a Python function to the intermediate representation.

The source is read with `ast` and translated statement by statement; nothing is executed.  What is outside the language is refused
with its place, the construct, and what to write instead.  Called functions are translated in place; names that are not local are
looked up once, in the function's own module, and must be constants, noise functions, functions of the language, or one of the
built-in functions that the language knows.
"""

from __future__ import annotations

import ast
import builtins
import inspect
import textwrap
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from types import FunctionType, ModuleType
from typing import Any, NoReturn

from privproof.errors import LanguageError
from privproof.language.noise import NOISES
from privproof.language.syntax import (
    Append,
    Assign,
    Block,
    Break,
    Conditional,
    Constant,
    Continue,
    Each,
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
    Sample,
    Statement,
    Variable,
    While,
    statements,
    variables,
    writes,
)

_BINARY: dict[type[ast.operator], str] = {
    ast.Add: "+",
    ast.Sub: "-",
    ast.Mult: "*",
    ast.Div: "/",
    ast.FloorDiv: "//",
    ast.Mod: "%",
    ast.Pow: "**",
}
_COMPARE: dict[type[ast.cmpop], str] = {
    ast.Eq: "==",
    ast.NotEq: "!=",
    ast.Lt: "<",
    ast.LtE: "<=",
    ast.Gt: ">",
    ast.GtE: ">=",
    ast.In: "in",
    ast.NotIn: "not in",
    ast.Is: "is",
    ast.IsNot: "is not",
}
BUILTINS = ("abs", "all", "any", "bool", "int", "len", "list", "max", "min", "sorted", "sum", "tuple")
_METHODS = {"count": "count", "index": "index", "copy": "list"}
_DEEPEST = 30

_INSTEAD: dict[type[ast.AST], tuple[str, str]] = {
    ast.Lambda: ("a lambda", "define a function with def and call it"),
    ast.Await: ("await", "a mechanism is an ordinary function"),
    ast.YieldFrom: ("yield from", "for x in xs: yield x"),
    ast.JoinedStr: ("an f-string", 'return the parts: return ("above", i)'),
    ast.Set: ("a set", "a tuple: (1, 2), or x == 1 or x == 2"),
    ast.SetComp: ("a set comprehension", "a list comprehension"),
    ast.DictComp: ("a dict comprehension", "write the table out, or build it as a constant of the module"),
    ast.NamedExpr: ("the := operator", "assign in a statement of its own"),
    ast.Starred: ("a starred expression", "write the elements out"),
    ast.Try: ("try", "test the condition with if"),
    ast.With: ("with", "randomness is chosen by the caller: with privproof.seeded(1): ..."),
    ast.Raise: ("raise", "return a value that says so"),
    ast.Assert: ("assert", "declare what holds in the signature: queries(0, 2)"),
    ast.Delete: ("del", "leave the variable alone"),
    ast.Global: ("global", "pass the value and return it"),
    ast.Nonlocal: ("nonlocal", "pass the value and return it"),
    ast.Import: ("import", "import at the top of the file"),
    ast.ImportFrom: ("import", "import at the top of the file"),
    ast.FunctionDef: ("a function inside a function", "define it at the top of the file"),
    ast.ClassDef: ("a class", "use tuples and lists"),
    ast.AsyncFunctionDef: ("async", "def"),
    ast.AsyncFor: ("async for", "for"),
}
_BIT_OPERATORS = {ast.BitAnd: "and", ast.BitOr: "or", ast.BitXor: "!="}


@dataclass(frozen=True)
class Source:
    """A function's syntax tree with its place in a file.

    Attributes:
        function: the function itself.
        tree: its definition.
        file: the file it stands in.
        line: how many lines stand before it.
        column: how far it is indented.
    """

    function: FunctionType
    tree: ast.FunctionDef
    file: str
    line: int
    column: int

    def place(self, node: ast.AST) -> Place:
        """Where a node stands."""
        return Place(
            self.file, self.line + getattr(node, "lineno", 1), self.column + getattr(node, "col_offset", 0) + 1
        )

    @cached_property
    def names(self) -> Mapping[str, object]:
        """What the names that are not local stand for."""
        closed = inspect.getclosurevars(self.function).nonlocals
        return {**vars(builtins), **self.function.__globals__, **closed}


def source(function: FunctionType) -> Source:
    """The source of a function."""
    name = function.__qualname__
    try:
        lines, first = inspect.getsourcelines(function)
    except (OSError, TypeError):
        raise LanguageError(
            "source", f"the source of {name} is not to be had", place=name, hint="write the mechanism in a file"
        ) from None
    text = "".join(lines)
    tree = ast.parse(textwrap.dedent(text)).body[0]
    if not isinstance(tree, ast.FunctionDef):
        raise LanguageError(
            "construct", f"{name} is not a plain function", place=name, hint="define the mechanism with def"
        )
    indent = len(text) - len(text.lstrip())
    return Source(function, tree, inspect.getsourcefile(function) or "<unknown>", first - 1, indent)


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


def translate(function: FunctionType, *, streams: Iterable[str], known: Iterable[str]) -> Translated:
    """The intermediate representation of a function.

    Args:
        function: the mechanism.
        streams: which of its arguments are streams.
        known: all of its arguments.
    """
    read = source(function)
    shared = _Shared(frozenset(streams))
    reader = _Reader(read, shared, {name: name for name in known})
    body = reader.block(read.tree.body)
    end = read.place(read.tree.body[-1])
    generator = any(isinstance(s, Emit) for s in statements(body))
    body = (*body, Return(Constant(None, end), end))
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


class _Shared:
    """What the translations of all functions of one mechanism share."""

    def __init__(self, streams: frozenset[str]) -> None:
        self.streams = streams
        self.sites = 0
        self.fresh = 0
        self.calls: list[str] = []

    def name(self, stem: str) -> str:
        self.fresh += 1
        return f"#{stem}{self.fresh}"


class _Reader:
    """Translates one function, called by the mechanism or the mechanism itself."""

    def __init__(self, read: Source, shared: _Shared, names: dict[str, str], *, called: bool = False) -> None:
        self.read = read
        self.shared = shared
        self.called = called
        self.names = names
        local = {n.id for n in ast.walk(read.tree) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
        for name in local - names.keys():
            names[name] = f"{shared.name(read.tree.name + '.')}.{name}" if called else name

    # ------------------------------------------------------------------------------------------------------- refusing

    def place(self, node: ast.AST) -> Place:
        return self.read.place(node)

    def refuse(self, node: ast.AST, what: str, hint: str) -> NoReturn:
        raise LanguageError(
            "construct", f"{what} is not in the mechanism language", place=str(self.place(node)), hint=hint
        )

    def unknown(self, node: ast.AST) -> NoReturn:
        for kind, (what, hint) in _INSTEAD.items():
            if isinstance(node, kind):
                self.refuse(node, what, hint)
        text = ast.unparse(node).splitlines()[0]
        self.refuse(node, f"`{text[:60]}`", "see the language reference for what is")

    # ------------------------------------------------------------------------------------------------------ statements

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
            case ast.Yield(value=inner):
                if self.called:
                    self.refuse(value, "a call of a generator", "yield in the mechanism itself")
                out.append(Emit(Constant(None, here) if inner is None else self.expression(inner, out), here))
            case ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr="append"), args=[item], keywords=[]) if (
                name in self.names
            ):
                out.append(Append(self.names[name], self.expression(item, out), here))
            case ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr=method)) if (
                name in self.names and method not in _METHODS
            ):
                self.refuse(
                    value, f"the method .{method}", f"{name}.append(x), {name}[i] = x, or {name} = {name} + [x]"
                )
            case _:
                self.expression(value, out)

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
        name = _BINARY.get(type(op))
        if name is None:
            self.refuse(node, "this operator", "+=, -=, *=, //=, %= or **=")
        if isinstance(target, ast.Name):
            if target.id not in self.names:
                self.unknown(target)
            old: Expression = Variable(self.names[target.id], here)
            new = Operation("extend" if name == "+" else name, (old, self.expression(value, out)), here)
            self.store(target, new, out, here)
        elif isinstance(target, ast.Subscript) and isinstance(target.value, ast.Name) and target.value.id in self.names:
            kept = self.shared.name("t")
            out.append(Assign(kept, self.expression(target.slice, out), here))
            index = Variable(kept, here)
            cell = Element(Variable(self.names[target.value.id], here), index, here)
            new = Operation("extend" if name == "+" else name, (cell, self.expression(value, out)), here)
            out.append(Replace(self.names[target.value.id], index, new, here))
        else:
            self.unknown(target)

    def loop(self, node: ast.While, out: list[Statement]) -> None:
        if node.orelse:
            self.refuse(node, "else after while", "put the statements after the loop")
        here = self.place(node)
        before: list[Statement] = []
        test = self.expression(node.test, before)
        body = self.block(node.body)
        if before:
            leave = If(Operation("not", (test,), here), (Break(here),), (), here)
            out.append(While(Constant(value=True, place=here), (*before, leave, *body), here))
        else:
            out.append(While(test, body, here))

    def walk(self, node: ast.For, out: list[Statement]) -> None:
        if node.orelse:
            self.refuse(node, "else after for", "put the statements after the loop")
        self.iterate(node, node.target, node.iter, lambda: self.block(node.body), out)

    def iterate(
        self, node: ast.AST, target: ast.expr, over: ast.expr, body: Callable[[], Block], out: list[Statement]
    ) -> None:
        """``for target in over: body``."""
        here = self.place(node)
        counter = self.shared.name("i")
        count = Variable(counter, here)
        onward = Assign(counter, Operation("+", (count, Constant(1, here)), here), here)
        stream = self.stream(over)
        if stream is not None:
            value = self.shared.name("v")
            head: list[Statement] = []
            self.store(target, Variable(value, here), head, here)
            out.append(Each(value, stream, (*head, *body()), here))
            return
        match over:
            case ast.Call(func=ast.Name(id="range"), args=arguments, keywords=[]) if 1 <= len(arguments) <= 3:
                self.count_up(node, target, arguments, body, out)
                return
            case ast.Call(func=ast.Name(id="enumerate"), args=[inner, *rest], keywords=keywords):
                start = rest[0] if rest else next((k.value for k in keywords if k.arg == "start"), None)
                if not (isinstance(target, ast.Tuple) and len(target.elts) == 2):
                    self.refuse(node, "enumerate without two names", "for i, x in enumerate(xs):")
                number, item = target.elts
                index = self.shared.name("n")
                first = Constant(0, here) if start is None else self.expression(start, out)
                out.append(Assign(index, first, here))

                def counted() -> Block:
                    head: list[Statement] = []
                    self.store(number, Variable(index, here), head, here)
                    more = Operation("+", (Variable(index, here), Constant(1, here)), here)
                    return (*head, Assign(index, more, here), *body())

                self.iterate(node, item, inner, counted, out)
                return
            case ast.Call(func=ast.Name(id="zip"), args=sequences, keywords=[]) if len(sequences) >= 2:
                if any(self.stream(s) is not None for s in sequences):
                    self.refuse(node, "zip with a stream", "enumerate the stream and index the list")
                if not (isinstance(target, ast.Tuple) and len(target.elts) == len(sequences)):
                    self.refuse(node, "zip without as many names as lists", "for x, y in zip(xs, ys):")
                values = [self.held(self.expression(s, out), out, here) for s in sequences]
                lengths = [Operation("len", (v,), here) for v in values]
                stop = Operation("min", tuple(lengths), here)
                pairs = list(zip(target.elts, values, strict=True))
            case _:
                value_ = self.held(self.expression(over, out), out, here)
                stop = Operation("len", (value_,), here)
                pairs = [(target, value_)]
        out.append(Assign(counter, Constant(0, here), here))
        head = []
        for name, value_ in pairs:
            self.store(name, Element(value_, count, here), head, here)
        turn = (*head, onward, *body())
        out.append(While(Operation("<", (count, stop), here), self.unhurt(turn, pairs, node), here))

    def stream(self, over: ast.expr) -> str | None:
        """The stream that an expression names."""
        if isinstance(over, ast.Name) and self.names.get(over.id) in self.shared.streams:
            return self.names[over.id]
        return None

    def held(self, value: Expression, out: list[Statement], here: Place) -> Expression:
        """The value, in a variable if it is not one already."""
        if isinstance(value, Variable | Constant):
            return value
        name = self.shared.name("s")
        out.append(Assign(name, value, here))
        return Variable(name, here)

    def unhurt(self, turn: Block, pairs: list[tuple[ast.expr, Expression]], node: ast.AST) -> Block:
        """Refuse a loop that assigns to the name of the list it walks over: Python would go on with the old list."""
        walked = {value.name for _, value in pairs if isinstance(value, Variable)}
        for statement in statements(turn):
            if isinstance(statement, Assign | Sample | Inline | Each) and writes(statement) in walked:
                self.refuse(node, "assigning to the list that a loop walks over", "use another name inside the loop")
        return turn

    def count_up(
        self,
        node: ast.AST,
        target: ast.expr,
        arguments: list[ast.expr],
        body: Callable[[], Block],
        out: list[Statement],
    ) -> None:
        """``for target in range(...): body``."""
        here = self.place(node)
        given = [self.expression(argument, out) for argument in arguments]
        start, stop = (Constant(0, here), given[0]) if len(given) == 1 else (given[0], given[1])
        step = given[2] if len(given) == 3 else Constant(1, here)
        if isinstance(step, Operation) and step.name == "neg" and isinstance(step.arguments[0], Constant):
            step = Constant(-step.arguments[0].value, here)  # type: ignore[operator]
        if not (isinstance(step, Constant) and isinstance(step.value, int) and step.value != 0):
            self.refuse(node, "a step that is not a whole number", "range(start, stop, 1)")
        counter = self.shared.name("i")
        count = Variable(counter, here)
        out.append(Assign(counter, start, here))
        end = self.constant_in(stop, out, here)
        head: list[Statement] = []
        self.store(target, count, head, here)
        onward = Assign(counter, Operation("+", (count, step), here), here)
        test = Operation("<" if step.value > 0 else ">", (count, end), here)
        out.append(While(test, (*head, onward, *body()), here))

    def constant_in(self, value: Expression, out: list[Statement], here: Place) -> Expression:
        """A value that stays what it is now: a constant, the length of an input, or a variable of its own."""
        if isinstance(value, Constant):
            return value
        name = self.shared.name("e")
        out.append(Assign(name, value, here))
        return Variable(name, here)

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

    # ----------------------------------------------------------------------------------------------------- expressions

    def expression(self, node: ast.expr, out: list[Statement]) -> Expression:
        here = self.place(node)
        match node:
            case ast.Constant(value=value):
                return self.constant(node, value, here)
            case ast.Name(id=name):
                return self.name(node, name, here)
            case ast.Attribute():
                return self.outside(node, self.resolve(node), here)
            case ast.BinOp(left=left, op=op, right=right):
                sign = _BINARY.get(type(op))
                if sign is None:
                    better = _BIT_OPERATORS.get(type(op), "arithmetic")
                    self.refuse(node, "a bit operator", f"use {better}")
                return Operation(sign, (self.expression(left, out), self.expression(right, out)), here)
            case ast.UnaryOp(op=op, operand=operand):
                inner = self.expression(operand, out)
                if isinstance(op, ast.Invert):
                    self.refuse(node, "the operator ~", "not x")
                if isinstance(op, ast.USub) and isinstance(inner, Constant) and isinstance(inner.value, int):
                    return Constant(-inner.value, here)
                return (
                    inner
                    if isinstance(op, ast.UAdd)
                    else Operation("not" if isinstance(op, ast.Not) else "neg", (inner,), here)
                )
            case ast.BoolOp(op=op, values=values):
                return self.logic("and" if isinstance(op, ast.And) else "or", values, out, here)
            case ast.Compare():
                return self.compare(node, out)
            case ast.IfExp(test=test, body=body, orelse=orelse):
                return self.conditional(test, body, orelse, out, here)
            case ast.Tuple(elts=elements) | ast.List(elts=elements):
                kind = "tuple of" if isinstance(node, ast.Tuple) else "list of"
                return Operation(kind, tuple(self.expression(e, out) for e in elements), here)
            case ast.Dict(keys=keys, values=values):
                if any(key is None for key in keys):
                    self.refuse(node, "** in a table", "write the table out")
                entries = [self.expression(e, out) for pair in zip(keys, values, strict=True) for e in pair if e]
                return Operation("table of", tuple(entries), here)
            case ast.Subscript(value=value, slice=index):
                return self.element(value, index, out, here)
            case ast.ListComp() | ast.GeneratorExp():
                return self.comprehension(node, out)
            case ast.Call():
                return self.call(node, out)
            case ast.Yield():
                self.refuse(node, "yield inside an expression", "yield in a statement of its own")
            case _:
                self.unknown(node)

    def constant(self, node: ast.AST, value: object, here: Place) -> Constant:
        if isinstance(value, float):
            hint = f'Fraction("{value!r}") for exactly that number'
            raise LanguageError("float", f"{value!r} is a float", place=str(here), hint=hint)
        if value is None or isinstance(value, bool | int | str | Fraction):
            return Constant(value, here)
        self.refuse(node, f"the constant {value!r}", "whole numbers, Fraction, texts, True, False, None")

    def name(self, node: ast.AST, name: str, here: Place) -> Expression:
        if name in self.names:
            if self.names[name] in self.shared.streams:
                self.refuse(node, f"the stream {name} outside a loop", f"for value in {name}:")
            return Variable(self.names[name], here)
        if name not in self.read.names:
            raise LanguageError(
                "name", f"the name {name!r} is not defined", place=str(here), hint=f"define {name} before"
            )
        return self.outside(node, self.read.names[name], here)

    def outside(self, node: ast.AST, value: object, here: Place) -> Expression:
        """A constant of the module."""
        match value:
            case tuple() | list():
                kind = "tuple of" if isinstance(value, tuple) else "list of"
                return Operation(kind, tuple(self.outside(node, item, here) for item in value), here)
            case dict():
                entries = [self.outside(node, part, here) for pair in value.items() for part in pair]
                return Operation("table of", tuple(entries), here)
            case FunctionType() | ModuleType() | type():
                self.refuse(node, f"`{ast.unparse(node)}` as a value", "call it")
            case _:
                return self.constant(node, value, here)

    def resolve(self, node: ast.expr) -> object:
        """The object that a dotted name outside the function stands for."""
        match node:
            case ast.Name(id=name):
                if name in self.names:
                    self.refuse(node, "an attribute of a variable", "use tuples and lists")
                if name not in self.read.names:
                    raise LanguageError("name", f"the name {name!r} is not defined", place=str(self.place(node)))
                return self.read.names[name]
            case ast.Attribute(value=value, attr=attribute):
                holder = self.resolve(value)
                if not hasattr(holder, attribute):
                    raise LanguageError(
                        "name", f"{ast.unparse(value)} has no {attribute!r}", place=str(self.place(node))
                    )
                return getattr(holder, attribute)
            case _:
                self.unknown(node)

    def logic(self, name: str, values: list[ast.expr], out: list[Statement], here: Place) -> Expression:
        first = self.expression(values[0], out)
        if len(values) == 1:
            return first
        before: list[Statement] = []
        rest = self.logic(name, values[1:], before, here)
        if not before:
            return Operation(name, (first, rest), here)
        kept = self.shared.name("c")
        out.append(Assign(kept, first, here))
        more = (*before, Assign(kept, rest, here))
        test = Variable(kept, here)
        out.append(If(test, more, (), here) if name == "and" else If(test, (), more, here))
        return test

    def compare(self, node: ast.Compare, out: list[Statement]) -> Expression:
        here = self.place(node)
        operands = [self.expression(node.left, out)]
        for operand in node.comparators:
            before: list[Statement] = []
            value = self.expression(operand, before)
            if before and len(operands) > 1:
                self.refuse(operand, "noise late in a chain of comparisons", "draw it in a statement before")
            out.extend(before)
            operands.append(value)
        tests = []
        for op, left, right in zip(node.ops, operands, operands[1:], strict=False):
            name = _COMPARE[type(op)]
            if name in ("is", "is not") and not (isinstance(right, Constant) and right.value in (None, True, False)):
                self.refuse(node, "is", "==")
            tests.append(Operation(name, (left, right), here))
        return tests[0] if len(tests) == 1 else Operation("and", tuple(tests), here)

    def conditional(
        self, test: ast.expr, then: ast.expr, otherwise: ast.expr, out: list[Statement], here: Place
    ) -> Expression:
        condition = self.expression(test, out)
        first: list[Statement] = []
        second: list[Statement] = []
        one, other = self.expression(then, first), self.expression(otherwise, second)
        if not first and not second:
            return Conditional(condition, one, other, here)
        kept = self.shared.name("c")
        out.append(If(condition, (*first, Assign(kept, one, here)), (*second, Assign(kept, other, here)), here))
        return Variable(kept, here)

    def element(self, value: ast.expr, index: ast.expr, out: list[Statement], here: Place) -> Expression:
        sequence = self.expression(value, out)
        if not isinstance(index, ast.Slice):
            return Element(sequence, self.expression(index, out), here)
        if index.step is not None:
            self.refuse(index, "a slice with a step", "xs[start:stop]")
        nothing = Constant(None, here)
        start, stop = (
            nothing if bound is None else self.expression(bound, out) for bound in (index.lower, index.upper)
        )
        return Operation("slice", (sequence, start, stop), here)

    def comprehension(self, node: ast.ListComp | ast.GeneratorExp, out: list[Statement]) -> Expression:
        """A list, built by a loop."""
        here = self.place(node)
        kept = self.shared.name("l")
        out.append(Assign(kept, Operation("list of", (), here), here))

        def add(inner: list[Statement]) -> None:
            inner.append(Append(kept, self.expression(node.elt, inner), here))

        self.generate(node, node.generators, add, out)
        return Variable(kept, here)

    def generate(
        self,
        node: ast.AST,
        generators: list[ast.comprehension],
        last: Callable[[list[Statement]], None],
        out: list[Statement],
    ) -> None:
        """The nested loops of a comprehension; `last` writes the innermost statements."""
        here = self.place(node)
        if not generators:
            last(out)
            return
        first, *others = generators
        if self.stream(first.iter) is not None:
            self.refuse(node, "a comprehension over a stream", "for value in stream:")
        before = dict(self.names)
        for name in ast.walk(first.target):
            if isinstance(name, ast.Name):
                self.names[name.id] = f"{self.shared.name('x')}.{name.id}"

        def body() -> Block:
            inner: list[Statement] = []
            target = inner
            for condition in first.ifs:
                test = self.expression(condition, target)
                deeper: list[Statement] = []
                target.append(If(test, (), (), here))
                nest.append((target, deeper, test))
                target = deeper
            self.generate(node, others, last, target)
            for holder, content, test in reversed(nest):
                holder[-1] = If(test, tuple(content), (), here)
            nest.clear()
            return tuple(inner)

        nest: list[tuple[list[Statement], list[Statement], Expression]] = []
        self.iterate(node, first.target, first.iter, body, out)
        self.names.clear()
        self.names.update(before)

    # ----------------------------------------------------------------------------------------------------------- calls

    def call(self, node: ast.Call, out: list[Statement]) -> Expression:
        here = self.place(node)
        if isinstance(node.func, ast.Attribute) and isinstance(node.func.value, ast.expr):
            root = node.func
            while isinstance(root, ast.Attribute):
                root = root.value  # type: ignore[assignment]
            if not isinstance(root, ast.Name) or root.id in self.names:
                return self.method(node, node.func, out)
        called = self.resolve(node.func)
        if any(isinstance(argument, ast.Starred) for argument in node.args) or any(
            k.arg is None for k in node.keywords
        ):
            self.refuse(node, "a starred argument", "write the arguments out")
        for name, noise in NOISES.items():
            if called is noise.function:
                return self.noise(node, name, out)
        if called is Fraction:
            return Operation("Fraction", tuple(self.expression(a, out) for a in node.args), here)
        builtin = getattr(called, "__name__", "")
        if builtin in BUILTINS and called is getattr(builtins, builtin):
            return self.builtin(node, builtin, out)
        if builtin in ("range", "enumerate", "zip") and called is getattr(builtins, builtin):
            if builtin == "range":
                return Operation("range", tuple(self.expression(a, out) for a in node.args), here)
            self.refuse(node, f"{builtin} outside a loop", f"for ... in {builtin}(...):")
        function = getattr(called, "function", called)
        if isinstance(function, FunctionType):
            return self.inline(node, function, out)
        hint = "functions of the language, noise, " + ", ".join(BUILTINS)
        if builtin == "round":
            hint = "round to whole numbers with (2 * x + 1) // 2"
        elif builtin == "print":
            hint = "leave it out: what a mechanism prints is an output too"
        elif getattr(called, "__module__", "") in ("random", "numpy.random", "secrets"):
            hint = "use privproof's noise: " + ", ".join(NOISES)
        self.refuse(node, f"calling {ast.unparse(node.func)}", hint)

    def method(self, node: ast.Call, function: ast.Attribute, out: list[Statement]) -> Expression:
        here = self.place(node)
        if function.attr == "append":
            self.refuse(node, "append inside an expression", "append in a statement of its own")
        if function.attr not in _METHODS or node.keywords:
            self.refuse(node, f"the method .{function.attr}", "append, count, index, copy")
        holder = self.expression(function.value, out)
        arguments = tuple(self.expression(a, out) for a in node.args)
        return Operation(_METHODS[function.attr], (holder, *arguments), here)

    def noise(self, node: ast.Call, name: str, out: list[Statement]) -> Expression:
        here = self.place(node)
        signature = inspect.signature(NOISES[name].function)
        keywords: dict[str, Any] = {str(k.arg): k.value for k in node.keywords}
        try:
            bound = signature.bind(*node.args, **keywords)
        except TypeError as problem:
            raise LanguageError(
                "noise", f"{name}: {problem}", place=str(here), hint=f"{name}{signature}".split(" -> ", maxsplit=1)[0]
            ) from None
        arguments: list[Expression] = []
        for parameter in signature.parameters.values():
            if parameter.name in bound.arguments:
                arguments.append(self.expression(bound.arguments[parameter.name], out))
            else:
                arguments.append(Constant(parameter.default, here))
        kept = self.shared.name("z")
        out.append(Sample(kept, name, tuple(arguments), self.shared.sites, here))
        self.shared.sites += 1
        return Variable(kept, here)

    def builtin(self, node: ast.Call, name: str, out: list[Statement]) -> Expression:
        here = self.place(node)
        keywords = {str(k.arg): k.value for k in node.keywords}
        extra = keywords.pop("default", None) if name in ("min", "max") else None
        if name == "sum" and "start" in keywords:
            node.args.append(keywords.pop("start"))
        if keywords:
            self.refuse(node, f"{name} with {', '.join(keywords)}", f"a loop, or {name} without it")
        if name in ("sum", "any", "all") and len(node.args) == 1 and isinstance(node.args[0], ast.GeneratorExp):
            return self.fold(node, name, node.args[0], out)
        arguments = [self.expression(a, out) for a in node.args]
        if extra is not None:
            return Operation(f"{name} or", (*arguments, self.expression(extra, out)), here)
        return Operation(name, tuple(arguments), here)

    def fold(self, node: ast.AST, name: str, generator: ast.GeneratorExp, out: list[Statement]) -> Expression:
        """``sum``, ``any`` or ``all`` of a generator: one variable instead of a list."""
        here = self.place(node)
        kept = self.shared.name("a")
        first = {"sum": 0, "any": False, "all": True}[name]
        out.append(Assign(kept, Constant(first, here), here))

        def add(inner: list[Statement]) -> None:
            value = self.expression(generator.elt, inner)
            if name == "sum":
                inner.append(Assign(kept, Operation("+", (Variable(kept, here), value), here), here))
            else:
                decided = Assign(kept, Constant(name == "any", here), here)
                test = value if name == "any" else Operation("not", (value,), here)
                inner.append(If(test, (decided,), (), here))

        self.generate(node, generator.generators, add, out)
        return Variable(kept, here)

    def inline(self, node: ast.Call, function: FunctionType, out: list[Statement]) -> Expression:
        here = self.place(node)
        name = function.__name__
        if name in self.shared.calls or len(self.shared.calls) >= _DEEPEST:
            self.refuse(node, f"the recursive call of {name}", "a loop")
        if inspect.isgeneratorfunction(function):
            self.refuse(node, "a call of a generator", "yield in the mechanism itself")
        read = source(function)
        keywords: dict[str, Any] = {str(k.arg): k.value for k in node.keywords}
        signature = inspect.signature(function)
        try:
            bound = signature.bind(*node.args, **keywords)
        except TypeError as problem:
            raise LanguageError("call", f"{name}: {problem}", place=str(here), hint=f"{name}{signature}") from None
        prefix = self.shared.name(f"{name}.")
        stored = {n.id for n in ast.walk(read.tree) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
        names = {parameter: f"{prefix}.{parameter}" for parameter in signature.parameters}
        for parameter in signature.parameters.values():
            if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
                self.refuse(node, f"calling {name}, which takes *{parameter.name}", "name its parameters")
            if parameter.name not in bound.arguments:
                value = self.outside(node, parameter.default, here)
            else:
                argument = bound.arguments[parameter.name]
                if isinstance(argument, ast.Name) and argument.id in self.names and parameter.name not in stored:
                    names[parameter.name] = self.names[argument.id]
                    continue
                value = self.expression(argument, out)
            out.append(Assign(names[parameter.name], value, here))
        self.shared.calls.append(name)
        reader = _Reader(read, self.shared, names, called=True)
        body = reader.block(read.tree.body)
        self.shared.calls.pop()
        kept = self.shared.name("r")
        out.append(Inline(kept, (*body, Result(Constant(None, here), here)), here))
        return Variable(kept, here)
