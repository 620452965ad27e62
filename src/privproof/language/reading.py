"""From the source of a Python function to the intermediate representation.

The source is read with `ast` and translated statement by statement; nothing is executed.  What is outside the language is refused
with its place, the construct, and what to write instead.  Called functions are translated in place; names that are not local are
looked up where the running function looks (`language.resolving`), and must be constants, noise functions, functions of the language,
or one of the built-in functions that the language knows.
"""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from privproof.errors import LanguageError
from privproof.language.arrays import Arrays
from privproof.language.constants import NotPlain
from privproof.language.expressions import BINARY, INSTEAD_OF_METHOD, METHODS, Given
from privproof.language.kept_noise import only_reading
from privproof.language.laws import CONTINUOUS, WEIGHED
from privproof.language.loops import Loops
from privproof.language.objects import Built
from privproof.language.resolving import Found, Running, Unusable, signature
from privproof.language.sources import UNFORESEEN, Shared
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
    Sample,
    Statement,
    Variable,
    of_library,
)
from privproof.language.tables import Keyed
from privproof.language.uniforms import Kept
from privproof.language.values import MISSING
from privproof.language.walking import statements, variables
from privproof.language.weights import Weights

_DEEPEST = 30
"""Calls of functions inside each other that are read in place; deeper ones are refused like recursion."""
_MOST_CALLS = 300
"""Calls of functions that are read in place where they may call themselves; more are refused like recursion without an end."""
_IN_PLACE = {"+": "extend", "*": "repeat"}
"""Operators that change a list where they stand on the left of =."""


_CONTEXTS = ("numpy.errstate", "warnings.catch_warnings", "contextlib.nullcontext")
"""What a ``with`` may enter: it changes no values."""
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
    """

    body: Block
    generator: bool
    sites: int
    file: str
    ordinary: bool = False
    arrays: bool = False


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
    return Translated(body, generator, shared.sites, read.file, shared.drawn, shared.arrays)


class _Reader(Loops):
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
            self.statement(self.with_public_keys(node), out)
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
                _root(called) not in self.names
            ):
                try:
                    found = self.meaning(called)
                except (LanguageError, Unusable):
                    return None
                return name if (found.kind, found.value) == ("library", "numpy.argmax") else None
        return None

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
                out.extend(self.block([*node.body, *orelse]))  # what fails in it is refused
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

    def tells(self, node: ast.Call) -> bool:
        """Whether a call prints or logs, which is no output here."""
        if not isinstance(node.func, ast.Name | ast.Attribute) or _root(node.func) in self.names:
            return False
        try:
            found = self.meaning(node.func)
        except (LanguageError, Unusable):
            return False
        told = found.kind == "library" and str(found.value).startswith(("logging.", "warnings."))
        return (found.kind, found.value) == ("builtin", "print") or (told and found.value not in _CONTEXTS)

    def told(self, node: ast.Call, out: list[Statement], here: Place) -> None:
        """What is printed or logged: it is left out, and must do nothing and fail nowhere."""
        for keyword in node.keywords:
            if not isinstance(keyword.value, ast.Constant | ast.Attribute) or keyword.arg is None:
                self.refuse(node, f"{ast.unparse(node.func)} with this {keyword.arg or 'table'}", "leave it out")
        for argument in node.args:
            parts = argument.values if isinstance(argument, ast.JoinedStr) else [argument]
            for part in parts:
                if isinstance(part, ast.FormattedValue):
                    if part.format_spec is not None and not _is_number_format(part.format_spec):
                        self.refuse(part, "this format", "{x}, {x:.3f}")
                    inner = part.value
                else:
                    inner = part
                if isinstance(inner, ast.Constant):
                    continue
                known = self.foreseen(inner)
                if known is not UNFORESEEN:
                    if isinstance(part, ast.FormattedValue) and part.format_spec and not isinstance(known, int | float):
                        self.refuse(part, "a text in the format of a number", "{x}")
                    continue
                if isinstance(inner, ast.Name) and (inner.id in self.tables or inner.id in self.counters):
                    continue
                value = self.expression(inner, out)
                if isinstance(part, ast.FormattedValue) and part.format_spec is not None:
                    value = Operation("-", (value, Constant(0, here)), here)  # a number, or it fails as the format does
                out.append(Assign(self.shared.name("d"), value, here))

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
        if len(targets) == 1 and isinstance(targets[0], ast.Name):
            only = targets[0].id
            if self.generator_made(only, value) or self.object_made(only, value):
                return
            if self.table_grown(only, value, out, here) or self.table_made(only, value, out, here):
                return
            if self.uniform_kept(only, value, out, here):
                return
        foreseen = self.foreseen(value) if self.shared.ordinary else UNFORESEEN
        if type(foreseen) is float and all(isinstance(t, ast.Name) and t.id in self.steady for t in targets):
            for target in targets:
                self.settle(target, foreseen)
            return
        self.whole = value
        result = self.expression(value, out)
        if len(targets) > 1 or not isinstance(targets[0], ast.Name):
            kept_name = self.shared.name("t")
            out.append(Assign(kept_name, result, here))
            result = Variable(kept_name, here)
        for target in targets:
            self.store(target, result, out, here)
            self.settle(target, foreseen)

    def store(self, target: ast.expr, value: Expression, out: list[Statement], here: Place) -> None:
        match target:
            case ast.Name(id=name):
                if self.names[name] in self.shared.streams:
                    self.refuse(target, f"assigning to the stream {name}", "use another name")
                self.note_noise(self.names[name], value)
                out.append(Assign(self.names[name], value, here))
            case ast.Tuple(elts=elements) | ast.List(elts=elements):
                if any(isinstance(e, ast.Starred) for e in elements):
                    self.spread(target, elements, value, out, here)
                    return
                kept = self.shared.name("t")
                count = Constant(len(elements), here)
                out.append(Assign(kept, Operation("unpack", (value, count), here), here))
                for i, element in enumerate(elements):
                    self.store(element, Element(Variable(kept, here), Constant(i, here), here), out, here)
            case ast.Subscript(value=ast.Name(id=name), slice=index) if (
                name in self.names and not isinstance(index, ast.Slice) and self.put(name, index, value, out, here)
            ):
                pass
            case ast.Subscript(value=ast.Name(id=name), slice=index) if name in self.names:
                if isinstance(index, ast.Slice):
                    self.refuse(target, "assigning to a slice", "assign element by element")
                out.append(Replace(self.names[name], self.expression(index, out), value, here))
            case ast.Subscript():
                self.refuse(target, "assigning inside a nested list", "row = list(rows[i]); row[j] = x; rows[i] = row")
            case _:
                self.unknown(target)

    def spread(
        self, target: ast.expr, elements: list[ast.expr], value: Expression, out: list[Statement], here: Place
    ) -> None:
        """``first, *rest = value``."""
        kept, count = self.shared.name("t"), len(elements) - 1
        out.append(Assign(kept, Operation("list", (value,), here), here))
        whole = Variable(kept, here)
        if count:  # fails where there are fewer values than names
            out.append(Assign(self.shared.name("d"), Element(whole, Constant(count - 1, here), here), here))
        number = next(i for i, e in enumerate(elements) if isinstance(e, ast.Starred))
        for i, element in enumerate(elements):
            if i == number:
                assert isinstance(element, ast.Starred)
                end = Constant(i - count if i < count else None, here)
                rest = Operation("slice", (whole, Constant(i, here), end), here)
                self.store(element.value, rest, out, here)
            else:
                index = Constant(i if i < number else i - count - 1, here)
                self.store(element, Element(whole, index, here), out, here)

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
            foreseen = UNFORESEEN
            if self.shared.ordinary:
                whole = ast.BinOp(ast.Name(target.id, ast.Load()), op, value)
                foreseen = self.foreseen(ast.copy_location(ast.fix_missing_locations(whole), node))
            if type(foreseen) is float and target.id in self.steady:
                self.settle(target, foreseen)
                return
            self.whole_numbers(node, name, target.id)
            old: Expression = Variable(self.names[target.id], here)
            new = Operation(_IN_PLACE.get(name, name), (old, self.expression(value, out)), here)
            self.store(target, new, out, here)
            self.settle(target, foreseen)
        elif (
            isinstance(target, ast.Subscript) and isinstance(target.value, ast.Name) and target.value.id in self.tables
        ):
            self.whole_numbers(node, name)
            more = self.expression(value, out)
            self.put(target.value.id, target.slice, more, out, here, change=_IN_PLACE.get(name, name))
        elif isinstance(target, ast.Subscript) and isinstance(target.value, ast.Name) and target.value.id in self.names:
            self.whole_numbers(node, name)
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

    def whole_numbers(self, node: ast.AST, sign: str, name: str | None = None) -> None:
        """Refuse what Python rounds: a quotient, or a float that data are added to."""
        if self.shared.ordinary and (sign == "/" or type(self.constants.get(name or "")) is float):
            self.refuse(node, "arithmetic of floats with data", "whole numbers until the noise is added")

    def changed_in_place(self, value: ast.expr, out: list[Statement], here: Place) -> bool:
        """A statement that changes a list: ``extend``, ``sort``, ``reverse``, ``pop``, ``remove``, ``clear``."""
        match value:
            case ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr=method), args=arguments, keywords=keywords):
                pass
            case _:
                return False
        if name not in self.names or name in self.tables or any(isinstance(a, ast.Starred) for a in arguments):
            return False
        held = Variable(self.names[name], here)
        given = {str(k.arg): k.value for k in keywords}
        match method, arguments:
            case "extend", [more] if not given:
                new = Operation("extend", (held, self.sequence(more, out)), here)
            case "sort", [] if given.keys() <= {"reverse"}:
                turned = self.expression(given["reverse"], out) if given else Constant(value=False, place=here)
                new = Operation("sort", (held, turned), here)
            case "reverse", [] if not given:
                new = Operation("reverse", (held,), here)
            case "clear", [] if not given:
                new = Operation("cleared", (held,), here)
            case "remove", [item] if not given:
                new = Operation("removed", (held, self.expression(item, out)), here)
            case "pop", [] | [_] if not given:
                index = self.expression(arguments[0], out) if arguments else Constant(-1, here)
                new = Operation("without", (held, index), here)
            case _:
                return False
        self.store(ast.Name(name, ast.Store()), new, out, here)
        return True

    def is_idle(self, nodes: list[ast.stmt]) -> bool:
        """Whether statements do nothing that counts."""
        return all(
            isinstance(node, ast.Pass)
            or (isinstance(node, ast.Expr) and isinstance(node.value, ast.Call) and self.tells(node.value))
            for node in nodes
        )

    def changes_nothing(self, item: ast.withitem) -> bool:
        """Whether what a ``with`` enters changes nothing that counts."""
        return item.optional_vars is None and self.library_called(item.context_expr) in _CONTEXTS

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

    def defined_once(self, name: str) -> bool:
        """Whether a name inside a function gets its meaning in one place, in the function's own block."""
        own = [
            s
            for s in self.read.tree.body
            if (isinstance(s, ast.FunctionDef) and s.name == name)
            or (isinstance(s, ast.Assign) and any(isinstance(t, ast.Name) and t.id == name for t in s.targets))
        ]
        inside = [
            n
            for n in ast.walk(self.read.tree)
            if isinstance(n, ast.FunctionDef) and n is not self.read.tree and n.name == name
        ]
        stored = [
            n
            for n in ast.walk(self.read.tree)
            if isinstance(n, ast.Name) and n.id == name and not isinstance(n.ctx, ast.Load)
        ]
        taken = [a for a in ast.walk(self.read.tree) if isinstance(a, ast.arg) and a.arg == name]
        return len(own) == 1 and len(inside) + len(stored) == 1 and not taken and not self.nested

    def inside(self, node: ast.Call, name: str, out: list[Statement]) -> Expression:
        """A call of a function that is defined inside this one, or was given to it: its body, with the variables around it."""
        here, given_here = self.place(node), self.functions[name]
        if isinstance(given_here, Found):
            return self.inline(node, given_here.value, out)
        function, owner = given_here
        assert isinstance(owner, _Reader)
        given = function.args
        if given.vararg or given.kwarg or given.kwonlyargs or given.posonlyargs or given.defaults:
            self.refuse(node, f"calling {name}, whose parameters are not all plain,", "parameters without defaults")
        body = (
            function.body
            if isinstance(function, ast.FunctionDef)
            else [ast.copy_location(ast.Return(function.body), function.body)]
        )
        parts = [part for statement in body for part in ast.walk(statement)]
        if any(
            isinstance(part, ast.Yield | ast.YieldFrom | ast.Nonlocal | ast.Global | ast.FunctionDef) for part in parts
        ):
            self.refuse(
                node, f"calling {name}, which does more than to return a value,", "define it at the top of the file"
            )
        keywords = {str(k.arg): k.value for k in node.keywords}
        parameters = [argument.arg for argument in given.args]
        bound = dict(zip(parameters, node.args, strict=False)) | keywords
        if len(node.args) + len(keywords) != len(parameters) or bound.keys() != set(parameters):
            raise LanguageError(
                "call",
                f"{name} is called with other arguments",
                place=str(here),
                hint=f"{name}({', '.join(parameters)})",
            )
        self.count_call(node, name)
        prefix = self.shared.name(f"{name}.")
        own = {part.id for part in parts if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store)}
        names = {**owner.around, **{each: f"{prefix}.{each}" for each in (*parameters, *own)}}
        constants = {
            each: value for each, value in owner.constants.items() if each not in own and each not in parameters
        }
        for parameter, argument in self.in_order(node, bound):
            foreseen = self.foreseen(argument) if self.shared.ordinary else UNFORESEEN
            if foreseen is not UNFORESEEN and parameter not in own:
                constants[parameter] = foreseen
                if type(foreseen) is float:
                    continue
            if (
                isinstance(argument, ast.Name)
                and self.names.get(argument.id) in self.shared.given
                and parameter not in own
            ):
                names[parameter] = self.names[argument.id]
                continue
            out.append(Assign(names[parameter], self.expression(argument, out), here))
        reader = _Reader(owner.running, self.shared, names, called=True)
        reader.steady = owner.steady - own | set(parameters) - own
        reader.constants, reader.functions, reader.nested, reader.around = constants, owner.functions, True, dict(names)
        for parameter, argument in bound.items():
            if isinstance(argument, ast.Name) and argument.id in self.arrays.names:
                reader.arrays.names[parameter] = self.arrays.names[argument.id]
        read = reader.block(body)
        self.shared.depth -= 1
        outside = {*self.names.values(), *owner.names.values()}
        if any(isinstance(s, Append | Replace) and s.name in outside for s in statements(read)):
            self.refuse(node, f"calling {name}, which changes a list around it,", "pass the list and return it")
        unassigned = Constant(MISSING, here)
        begun = tuple(Assign(names[each], unassigned, here) for each in sorted(own - set(parameters)))
        kept = self.result_of(read)
        out.append(Inline(kept, (*begun, *read, Result(Constant(None, here), here)), here))
        return Variable(kept, here)

    def count_call(self, node: ast.Call, name: str) -> None:
        """Refuse calls inside calls that are too deep, and too many of them."""
        self.shared.depth += 1
        self.shared.inlined += 1
        if self.shared.depth > _DEEPEST or self.shared.inlined > _MOST_CALLS:
            self.refuse(node, f"the recursive call of {name}", "a loop")

    def inline(self, node: ast.Call, called: object, out: list[Statement], built: Built | None = None) -> Expression:
        alone = node is self.whole
        here = self.place(node)
        running = self.running.program.running(called)
        read, name = running.read, running.read.tree.name
        if (running in self.shared.calls or running is self.shared.main) and self.shared.ordinary:
            self.shared.inlined += 1
            if self.shared.inlined > _MOST_CALLS or len(self.shared.calls) >= _DEEPEST:
                self.refuse(node, f"the recursive call of {name}", "a loop")
        elif running in self.shared.calls or len(self.shared.calls) >= _DEEPEST:
            self.refuse(node, f"the recursive call of {name}", "a loop")
        if inspect.isgeneratorfunction(running.function):
            self.refuse(node, "a call of a generator", "yield in the mechanism itself")
        keywords: dict[str, Any] = {str(k.arg): k.value for k in node.keywords}
        taken = signature(running.function)
        own = next(iter(taken.parameters), "")
        if built is not None or running.owner is not None:
            taken = taken.replace(parameters=list(taken.parameters.values())[1:])
        try:
            bound = taken.bind(*node.args, **keywords)
        except TypeError as problem:
            raise LanguageError("call", f"{name}: {problem}", place=str(here), hint=f"{name}{taken}") from None
        prefix = self.shared.name(f"{name}.")
        stored = {n.id for n in ast.walk(read.tree) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
        names = {parameter: f"{prefix}.{parameter}" for parameter in taken.parameters}
        constants: dict[str, Any] = {}
        for parameter in taken.parameters.values():
            if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
                self.refuse(node, f"calling {name}, which takes *{parameter.name}", "name its parameters")
            if parameter.name not in bound.arguments:
                try:
                    constants[parameter.name] = running.default(parameter.name)
                except NotPlain as problem:
                    raise self.no_default(running, parameter.name, problem, here) from None
                if type(constants[parameter.name]) is float:
                    if self.shared.ordinary:
                        continue
                    what = NotPlain(f"{constants[parameter.name]!r}, a float", "a Fraction", "float")
                    raise self.no_default(running, parameter.name, what, here)
                value = self.fixed(node, constants[parameter.name], here)
                out.append(Assign(names[parameter.name], value, here))
        functions: dict[str, Given] = {}
        for parameter_name, argument in self.in_order(node, bound.arguments):
            given = self.given_function(argument)
            if given is not None and parameter_name not in stored:
                functions[parameter_name] = given
                continue
            foreseen = self.foreseen(argument) if self.shared.ordinary else UNFORESEEN
            if foreseen is not UNFORESEEN:
                constants[parameter_name] = foreseen
            if type(foreseen) is float:
                continue
            if isinstance(argument, ast.Name) and argument.id in self.names and parameter_name not in stored:
                names[parameter_name] = self.names[argument.id]
                if names[parameter_name] not in self.shared.given:
                    out.append(Assign(self.shared.name("d"), Variable(names[parameter_name], here), here))
            else:
                out.append(Assign(names[parameter_name], self.expression(argument, out), here))
        self.shared.calls.append(running)
        passed = set(names.values())
        reader = _Reader(running, self.shared, names, called=True, constants=constants)
        reader.functions |= functions
        if built is not None:
            reader.objects[own] = built
        for parameter_name, argument in bound.arguments.items():
            if isinstance(argument, ast.Name) and argument.id in self.arrays.names:
                reader.arrays.names[parameter_name] = self.arrays.names[argument.id]
        for parameter_name, value in constants.items():
            if type(value) is float and parameter_name not in reader.constants:
                self.refuse(node, f"{name}, which changes its parameter {parameter_name} from a float,", "another name")
        try:
            body = reader.block(read.tree.body)
        except LanguageError as problem:
            if of_library(read.file) and not of_library(self.read.file):
                self.refuse(node, f"calling {ast.unparse(node.func)} ({problem.message})", "a function of your own")
            raise
        self.shared.calls.pop()
        if not alone and any(isinstance(s, Append | Replace) and s.name in passed for s in statements(body)):
            self.refuse(node, f"calling {name}, which changes a list, inside a larger expression", f"y = {name}(xs)")
        unassigned = Constant(MISSING, here)
        body = (*(Assign(v, unassigned, here) for v in dict.fromkeys(names.values()) if v not in passed), *body)
        kept = self.result_of(body)
        out.append(Inline(kept, (*body, Result(Constant(None, here), here)), here))
        return Variable(kept, here)

    def result_of(self, body: Block) -> str:
        """A name for what a call returns; it is noisy if all that it may return is."""
        kept = self.shared.name("r")
        results = [statement.value for statement in statements(body) if isinstance(statement, Result)]
        if results and all(map(self.is_noisy, results)):
            self.shared.noisy.add(kept)
        return kept

    def given_function(self, node: ast.expr) -> Given | None:
        """The function that an argument is: a lambda, or the name of a function that is known here; None for any other argument."""
        if isinstance(node, ast.Lambda):
            return node, self
        if not isinstance(node, ast.Name):
            return None
        found = self.found(node) if node.id not in self.names else None
        return found if found is not None and found.kind == "function" else self.functions.get(node.id)

    def no_default(self, running: Running, name: str, problem: NotPlain, here: Place) -> LanguageError:
        """The refusal of the value of a parameter that a call leaves out."""
        said = f"the default of {name} in {running.read.tree.name} is {problem.what}"
        return LanguageError(problem.code, said, place=str(here), hint=problem.hint)


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


def _root(node: ast.expr) -> str | None:
    """The first name of a dotted name."""
    while isinstance(node, ast.Attribute):
        node = node.value
    return node.id if isinstance(node, ast.Name) else None


def _is_number_format(node: ast.expr) -> bool:
    """Whether a format is one that every number, noisy or not, has."""
    if not isinstance(node, ast.JoinedStr) or len(node.values) != 1 or not isinstance(node.values[0], ast.Constant):
        return False
    return re.fullmatch(r"\.[0-9]+[efg%]", str(node.values[0].value)) is not None
