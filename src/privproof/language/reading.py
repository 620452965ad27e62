"""From the source of a Python function to the intermediate representation.

The source is read with `ast` and translated statement by statement; nothing is executed.  What is outside the language is refused
with its place, the construct, and what to write instead.  Called functions are translated in place; names that are not local are
looked up where the running function looks (`language.resolving`), and must be constants, noise functions, functions of the language,
or one of the built-in functions that the language knows.
"""

from __future__ import annotations

import ast
import inspect
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from privproof.errors import LanguageError
from privproof.language.arrays import Arrays
from privproof.language.expressions import INSTEAD_OF_METHOD, METHODS, Given
from privproof.language.float_values import check_floats
from privproof.language.joined_statements import JoinedStatements
from privproof.language.kept_noise import only_reading
from privproof.language.laws import CONTINUOUS, WEIGHED
from privproof.language.objects import Built
from privproof.language.public_keys import Keyed
from privproof.language.resolving import Running
from privproof.language.sources import UNFORESEEN, Shared
from privproof.language.syntax import (
    Append,
    Assign,
    Block,
    Break,
    Constant,
    Continue,
    Emit,
    Expression,
    If,
    Operation,
    Place,
    Result,
    Return,
    Sample,
    Statement,
)
from privproof.language.uniforms import Kept
from privproof.language.walking import statements
from privproof.language.weights import Weights

_ASSERTED = "declare what holds in the signature: queries(0, 2)"


@dataclass(frozen=True)
class Translated:
    """The body of a mechanism.

    Attributes:
        body: its statements; it ends in `Return` on every path.
        generator: whether it yields.
        sites: how many places sample.
        file: where it stands.
        ordinary: whether noise of libraries is read as the ideal noise that it names, and floats with their exact values.
        arrays: whether arrays of numpy are read as lists.
        floats: whether data meet floats, which count with their exact values.
    """

    body: Block
    generator: bool
    sites: int
    file: str
    ordinary: bool = False
    arrays: bool = False
    floats: bool = False


def draws_continuously(translated: Translated) -> bool:
    """Whether noise is drawn that may be any real number."""
    drawn = (s for s in statements(translated.body) if isinstance(s, Sample))
    return any(s.noise in (*CONTINUOUS, WEIGHED) for s in drawn)


def translate(
    running: Running,
    *,
    streams: Iterable[str],
    known: Iterable[str],
    lists: Iterable[str] = (),
    fields: Iterable[str] = (),
    arrays: Mapping[str, object] | None = None,
    values: Mapping[str, tuple[object, ...]] | None = None,
    runnable: bool = False,
) -> Translated:
    """The intermediate representation of a function.

    Args:
        running: the mechanism's function as it runs.
        streams: which of its arguments are streams.
        known: all of its arguments.
        lists: which of its arguments are lists.
        fields: the names of the fields of their records.
        arrays: which of its arguments are arrays of numpy, each with what its length is.
        values: what the elements of its lists may be, where that is declared one by one.
        runnable: whether all its arguments have listed values, so that it can be run as it is.
    """
    streams, known, fields = frozenset(streams), tuple(known), frozenset(fields)
    strict = Shared(streams, frozenset(known), lists=frozenset(lists), fields=fields, values=values)
    try:
        result = _translated(running, strict, known)
        if not any(type(value) is float for value in running.parameters.values()):
            return result
        problem = None
    except LanguageError as refused:
        problem = refused
    ordinary = Shared(streams, frozenset(known), lists=frozenset(lists), fields=fields, ordinary=True, values=values)
    ordinary.array_lengths = dict(arrays or {})
    ordinary.runnable = runnable
    try:
        found = _translated(running, ordinary, known)
    except LanguageError as refused:
        raise (refused if ordinary.drawn or strict.drawn or problem is None else problem) from None
    if found.arrays and draws_continuously(found):
        return replace(found, ordinary=True)
    if problem is not None and not ordinary.drawn:
        raise problem
    return found if ordinary.drawn else result


def _translated(running: Running, shared: Shared, known: tuple[str, ...]) -> Translated:
    """The translation, read strictly or as ordinary code."""
    read = running.read
    reader = _Reader(running, shared, {name: name for name in known}, constants=running.parameters)
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
    check_floats(body, frozenset(shared.floats), shared.lists, runnable=shared.runnable)
    return Translated(body, generator, shared.sites, read.file, shared.drawn, shared.arrays, bool(shared.floats))


class _Reader(JoinedStatements):
    """Reads statements."""

    def __init__(
        self,
        running: Running,
        shared: Shared,
        names: dict[str, str],
        *,
        called: bool = False,
        constants: Mapping[str, Any] | None = None,
    ) -> None:
        parameters = frozenset(names)
        super().__init__(running, shared, names, called=called, constants=constants)
        self.made: dict[int, ast.ListComp] = {}
        self.spelled: dict[int, ast.Dict] = {}
        self.functions: dict[str, Given] = {}
        self.tables: dict[str, Keyed] = {}
        self.counters: dict[str, Expression] = {}
        self.grown: set[str] = set()
        self.counted: dict[tuple[str, str], str] = {}
        self.uniforms: dict[str, Kept] = {}
        self.weights: dict[str, Weights] = {}
        self.totals: dict[str, str] = {}
        self.objects: dict[str, Built] = {}
        self.generators: dict[str, Any] = {}
        self.lazy: set[ast.AST] = set()
        self.known_arrays: dict[int, tuple[ast.stmt, dict[str, object], dict[str, object]]] = {}
        stored = {n.id for n in self.parts if isinstance(n, ast.Name) and not isinstance(n.ctx, ast.Load)}
        twice = [n.id for n in self.parts if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)]
        changed = {
            part.value.id
            for part in self.parts
            if isinstance(part, ast.Subscript)
            and isinstance(part.value, ast.Name)
            and not isinstance(part.ctx, ast.Load)
        }
        steady = {n for n in {*names, *stored} if twice.count(n) < (1 if n in parameters else 2)}
        given = {name: names.get(name) for name in names}
        self.arrays = Arrays(
            {name: shared.array_lengths[held] for name, held in given.items() if held in shared.array_lengths},
            self.library_called,
            lambda: shared.name("u").replace("#", "_each_"),
            frozenset(steady - changed),
            frozenset(name for name, held in given.items() if held in shared.lists),
            frozenset({*names, *stored} - (steady - changed)),
            frozenset(steady),
            self.length_made,
            lambda name: only_reading(self.read.tree, name),
            lambda node: self.refuse(
                node, f"the array {ast.unparse(node)} in this place", "a list, element by element"
            ),
        )
        read = self.read
        around = read.function.__code__.co_qualname.split(".")[-2:-1]
        if around and around != ["<locals>"]:
            for node in ast.walk(read.tree):
                for word in (getattr(node, field, None) for field in ("id", "attr", "arg")):
                    if isinstance(word, str) and word.startswith("__") and not word.endswith("__"):
                        self.refuse(node, f"the name {word}, which Python changes inside a class,", "another name")

    def block(self, nodes: Iterable[ast.stmt]) -> Block:
        out: list[Statement] = []
        for node in self.fused(self.without_arrays(nodes)):
            self.statement(self.with_public_keys(self.with_all_keys(node)), out)
            if self.shared.ordinary and out and isinstance(out[-1], Return | Result):
                break
        return tuple(out)

    def without_arrays(self, nodes: Iterable[ast.stmt]) -> Iterator[ast.stmt]:
        """The statements with lists in place of arrays, each when its time comes: by then more constants are known."""
        for node in nodes:
            if not self.shared.ordinary:
                yield node
                continue
            changed = self.arrays.statement(self.without_weights(node))
            if isinstance(node, ast.For | ast.While | ast.If | ast.With | ast.Try | ast.Match):
                self.known_arrays[id(changed)] = (changed, dict(self.arrays.names), dict(self.arrays.lengths))
            self.shared.arrays = self.shared.arrays or self.arrays.met
            yield changed

    def statement(self, node: ast.stmt, out: list[Statement]) -> None:
        here = self.place(node)
        self.current = node
        if id(node) in self.known_arrays:
            _, self.arrays.names, self.arrays.lengths = self.known_arrays[id(node)]
        match node:
            case ast.FunctionDef() if self.defined_once(node.name) and not node.decorator_list:
                self.functions[node.name] = (node, self)
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.Lambda() as value) if self.defined_once(name):
                self.functions[name] = (value, self)
            case ast.Assign(targets=targets, value=value):
                self.assign(targets, value, out, here)
            case ast.AnnAssign(target=target, value=value):
                if value is not None:
                    self.assign([target], value, out, here)
                elif not isinstance(target, ast.Name):
                    self.refuse(node, "an annotation without a value", "xs[i] = x")
            case ast.AugAssign(target=target, op=op, value=value):
                self.augment(node, target, op, value, out)
            case ast.If(test=test, body=body, orelse=orelse) if self.decided(node):
                taken = body if self.compute(test) else orelse
                self.settle_test(node, taken)
                out.extend(self.block(taken))
            case ast.Assert(test=test):
                known = self.foreseen(test)
                if known is UNFORESEEN:
                    out.append(
                        Assign(self.shared.name("d"), Operation("holds", (self.expression(test, out),), here), here)
                    )
                elif not known:
                    self.refuse(node, "an assertion that fails", _ASSERTED)
            case ast.Raise():
                said = "" if node.exc is None else ast.unparse(node.exc)
                out.append(Assign(self.shared.name("d"), Operation("fails", (Constant(said, here),), here), here))
            case ast.Try(handlers=handlers, orelse=orelse, finalbody=final) if self.is_idle(final) and handlers:
                self.shared.tried += 1
                out.extend(self.block([*node.body, *orelse]))  # what fails in it is refused
                self.shared.tried -= 1
            case ast.With(items=items, body=body) if all(self.changes_nothing(item) for item in items):
                out.extend(self.block(body))
            case ast.If(test=test, body=body, orelse=orelse):
                condition = self.expression(test, out)
                self.branches += 1
                out.append(If(condition, self.block(body), self.block(orelse), here))
                self.branches -= 1
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
        if isinstance(value, ast.Call) and self.tells(value):
            self.told(value, out, here)
            return
        if self.appended_in(value, out, here) or self.changed_in_place(value, out, here):
            return
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

    def decided(self, node: ast.If) -> bool:
        """Whether a test is known while it is read, and what it guards is not to be read in vain."""
        guards = any(
            isinstance(part, ast.Raise) for branch in (node.body, node.orelse) for s in branch for part in ast.walk(s)
        )
        if not guards and not self.shared.ordinary:
            return False
        first = self.first_values(node)
        self.constants |= first
        known = self.foreseen(node.test) is not UNFORESEEN
        if not known:
            self.constants = {name: value for name, value in self.constants.items() if name not in first}
        return known

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
            self.branches += 1
            tail = (If(test, self.block(case.body), tail, self.place(case.pattern)),)
            self.branches -= 1
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
