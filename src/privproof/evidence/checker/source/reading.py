"""From the text of a function to a code of few instructions.

The text is parsed with `ast`, and every construct of the language becomes instructions for a machine with variables and a
stack, in the order in which Python evaluates.  What is not known here is refused with its line.

| instruction | what it does |
| --- | --- |
| `constant v`, `load x`, `store x`, `pop`, `twice n` | push a value or a variable, pop into one, drop, push the top n once more |
| `tuple n`, `list n`, `table n` | make one of the top n (of a table: 2 n) |
| `operate s`, `change s`, `sign s`, `compare s` | an operator, the same in place (`+=`), a sign, a comparison |
| `element`, `part`, `put`, `put new` | `xs[i]`, `xs[i:j]`, `xs[i] = v` (from v, xs, i, or from xs, i, v) |
| `unpack n`, `append`, `add x` | the elements, the first on top; `xs.append(v)`; append to the list in a variable |
| `jump`, `unless`, `or else`, `and then` | go on elsewhere: always; if false; if true, or if false, keeping the value |
| `walk`, `next` | begin to walk over a list; the next element, or leave the loop |
| `builtin`, `method`, `noise`, `call`, `return`, `yield` | calls, and what leaves the function |
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NoReturn, TypeAlias

from privproof.evidence.checker.documents import a_list, a_text, an_integer, an_object, only_members
from privproof.evidence.checker.outcomes import refuse
from privproof.evidence.checker.source.laws import SIGNATURES
from privproof.evidence.checker.source.operations import FUNCTIONS, METHODS
from privproof.evidence.checker.source.values import Beyond, Value, read_value

Instruction: TypeAlias = tuple[str, Any, int]

_LONGEST_TEXT = 200_000
"""The source of a function may have so many characters; beyond, this and the four limits below, nothing is established about it."""
_DEEPEST = 60
"""Statements and expressions inside each other, long before the recursion of the reader is too deep for Python."""
_MOST_INSTRUCTIONS = 5_000
"""The instructions that one function becomes."""
_MOST_VARIABLES = 500
"""The variables of a function, and as many again that the reader adds to keep what the function does not name."""
_MOST_FUNCTIONS = 200
"""The functions of one program."""
_OPERATORS = ("Add", "Sub", "Mult", "Div", "FloorDiv", "Mod", "Pow")
_WALKS = ("enumerate", "zip")
_EAGER = ("all", "any", "list", "max", "min", "sorted", "sum", "tuple")


@dataclass(frozen=True)
class Meaning:
    """What a name that is not local stands for: a built-in function, a noise, a function of the program, or a constant."""

    kind: str
    value: Any


@dataclass(frozen=True)
class Function:
    """A function of the program.

    Attributes:
        name: its name.
        parameters: its parameters, in order.
        positional: how many of them may be given by position.
        defaults: the values of those that are not given.
        code: its instructions.
        live: for every instruction the variables that are needed from there on.
        generator: whether it yields.
        line: the line of its file that its text begins with.
        annotations: what is written beside its parameters.
        written: the defaults that its text writes out.
    """

    name: str
    parameters: tuple[str, ...]
    positional: int
    defaults: Mapping[str, Value]
    code: tuple[Instruction, ...]
    live: tuple[frozenset[str], ...]
    generator: bool
    line: int
    annotations: Mapping[str, ast.expr]
    written: Mapping[str, Value]


def read_functions(value: object, place: str) -> tuple[Function, ...]:
    """The functions of a program document; the first is the mechanism."""
    listed = a_list(value, place)
    if not listed:
        refuse("there is no function", place)
    if len(listed) > _MOST_FUNCTIONS:
        raise Beyond(f"more than {_MOST_FUNCTIONS} functions", place)
    heads = [_Head.read(item, f"{place}[{i}]", len(listed)) for i, item in enumerate(listed)]
    return tuple(_Reader(head, heads).function() for head in heads)


@dataclass(frozen=True)
class _Head:
    """A function whose text is parsed, and whose body is not read yet."""

    name: str
    tree: ast.FunctionDef
    meanings: Mapping[str, Meaning]
    defaults: Mapping[str, Value]
    line: int
    place: str

    @classmethod
    def read(cls, value: object, place: str, functions: int) -> _Head:
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

    @property
    def parameters(self) -> tuple[str, ...]:
        arguments = self.tree.args
        return tuple(a.arg for a in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs))

    @property
    def positional(self) -> int:
        return len(self.tree.args.posonlyargs) + len(self.tree.args.args)

    @property
    def generator(self) -> bool:
        return any(isinstance(node, ast.Yield | ast.YieldFrom) for node in ast.walk(self.tree))


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
        case _:
            raise Beyond(f"{kind[:40]!r} is no meaning that is known", place)


class _Reader:
    """Reads the body of one function."""

    def __init__(self, head: _Head, heads: Sequence[_Head]) -> None:
        self.head, self.heads = head, heads
        self.code: list[Instruction] = []
        self.scopes: list[dict[str, str]] = []
        self.loops: list[tuple[str, int, list[int]]] = []
        self.depth = 0
        self.fresh = 0
        self.line = 1
        arguments = head.tree.args
        if arguments.vararg or arguments.kwarg:
            self.refuse(head.tree, "a parameter with a star")
        self.local = {*head.parameters, *_stored(head.tree)}
        self.loaded = {n.id for n in ast.walk(head.tree) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load)}
        if len(self.local) > _MOST_VARIABLES:
            raise Beyond(f"more than {_MOST_VARIABLES} variables", head.place)

    def function(self) -> Function:
        head = self.head
        self.block(head.tree.body)
        self.emit("constant", None)
        self.emit("return", None)
        code = tuple(self.code)
        arguments = head.tree.args
        listed = (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)
        return Function(
            name=head.name,
            parameters=head.parameters,
            positional=head.positional,
            defaults=head.defaults,
            code=code,
            live=_live(code),
            generator=head.generator,
            line=head.line,
            annotations={a.arg: a.annotation for a in listed if a.annotation is not None},
            written=_written(arguments),
        )

    # ------------------------------------------------------------------------------------------------------- instructions

    def refuse(self, node: ast.AST, what: str) -> NoReturn:
        line = getattr(node, "lineno", self.line) + self.head.line - 1
        raise Beyond(f"{what} is not known to the checker", f"{self.head.place}: {self.head.name}, line {line}")

    def emit(self, name: str, argument: Any = None) -> int:
        if len(self.code) >= _MOST_INSTRUCTIONS:
            raise Beyond(f"more than {_MOST_INSTRUCTIONS} instructions", self.head.place)
        self.code.append((name, argument, self.line))
        return len(self.code) - 1

    def land(self, *jumps: int) -> None:
        """Let jumps go to the next instruction."""
        for jump in jumps:
            name, _, line = self.code[jump]
            self.code[jump] = (name, len(self.code), line)

    def slot(self, stem: str) -> str:
        self.fresh += 1
        if self.fresh > _MOST_VARIABLES:
            raise Beyond(f"more than {_MOST_VARIABLES} variables", self.head.place)
        return f"{stem}#{self.fresh}"

    # --------------------------------------------------------------------------------------------------------- statements

    def block(self, nodes: Sequence[ast.stmt]) -> None:
        for node in nodes:
            self.statement(node)

    def statement(self, node: ast.stmt) -> None:
        self.line = node.lineno
        self.depth += 1
        if self.depth > _DEEPEST:
            self.refuse(node, "nesting this deep")
        match node:
            case ast.Assign(targets=targets, value=value):
                self.expression(value)
                for i, target in enumerate(targets):
                    if i < len(targets) - 1:
                        self.emit("twice", 1)
                    self.store(target)
            case ast.AnnAssign(target=ast.Name() as target, value=value):
                if value is not None:
                    self.expression(value)
                    self.store(target)
            case ast.AugAssign(target=target, op=op, value=value):
                self.augment(target, op, value)
            case ast.If(test=test, body=body, orelse=orelse):
                self.expression(test)
                jump = self.emit("unless")
                self.block(body)
                if orelse:
                    over = self.emit("jump")
                    self.land(jump)
                    self.block(orelse)
                    self.land(over)
                else:
                    self.land(jump)
            case ast.While(test=test, body=body, orelse=[]):
                start = len(self.code)
                self.expression(test)
                leave = self.emit("unless")
                self.loops.append(("while", start, []))
                self.block(body)
                self.emit("jump", start)
                self.land(leave, *self.loops.pop()[2])
            case ast.For(target=target, iter=over, body=body, orelse=[]):
                self.walk(over, target)
                start = len(self.code)
                leave = self.emit("next")
                self.store(target)
                self.loops.append(("for", start, []))
                self.block(body)
                self.emit("jump", start)
                self.land(leave, *self.loops.pop()[2])
            case ast.Match():
                self.match(node)
            case ast.Break() if self.loops:
                kind, _, leaving = self.loops[-1]
                if kind == "for":
                    self.emit("pop")
                leaving.append(self.emit("jump"))
            case ast.Continue() if self.loops:
                self.emit("jump", self.loops[-1][1])
            case ast.Return(value=value):
                if self.head.generator and not (value is None or _is_none(value)):
                    self.refuse(node, "a return with a value in a generator")
                if value is None:
                    self.emit("constant", None)
                else:
                    self.expression(value)
                self.emit("return")
            case ast.Expr(value=ast.Yield(value=value)):
                if value is None:
                    self.emit("constant", None)
                else:
                    self.expression(value)
                self.emit("yield")
            case ast.Expr(value=ast.Constant()) | ast.Pass():
                pass
            case ast.Expr(value=value):
                self.expression(value)
                self.emit("pop")
            case _:
                self.refuse(node, f"the statement {type(node).__name__}")
        self.depth -= 1

    def store(self, target: ast.expr) -> None:
        match target:
            case ast.Name(id=name):
                self.emit("store", self.variable(name))
            case ast.Tuple(elts=elements) | ast.List(elts=elements):
                if any(isinstance(element, ast.Starred) for element in elements):
                    self.refuse(target, "a starred target")
                self.emit("unpack", len(elements))
                for element in elements:
                    self.store(element)
            case ast.Subscript(value=value, slice=index) if not isinstance(index, ast.Slice):
                self.expression(value)
                self.expression(index)
                self.emit("put")
            case _:
                self.refuse(target, f"a target that is a {type(target).__name__}")

    def augment(self, target: ast.expr, op: ast.operator, value: ast.expr) -> None:
        sign = type(op).__name__
        if sign not in _OPERATORS:
            self.refuse(target, f"the operator {sign}")
        match target:
            case ast.Name(id=name):
                self.emit("load", self.variable(name))
                self.expression(value)
                self.emit("change", sign)
                self.emit("store", self.variable(name))
            case ast.Subscript(value=holder, slice=index) if not isinstance(index, ast.Slice):
                self.expression(holder)
                self.expression(index)
                self.emit("twice", 2)
                self.emit("element")
                self.expression(value)
                self.emit("change", sign)
                self.emit("put new")
            case _:
                self.refuse(target, f"a target that is a {type(target).__name__}")

    def match(self, node: ast.Match) -> None:
        subject = self.slot("subject")
        self.expression(node.subject)
        self.emit("store", subject)
        done: list[int] = []
        for case in node.cases:
            self.line = case.pattern.lineno
            fail = self.pattern(case.pattern, subject)
            if case.guard is not None:
                self.expression(case.guard)
                fail.append(self.emit("unless"))
            self.block(case.body)
            done.append(self.emit("jump"))
            self.land(*fail)
        self.land(*done)

    def pattern(self, pattern: ast.pattern, subject: str) -> list[int]:
        """Test a pattern; the jumps that are taken if it does not match."""
        match pattern:
            case ast.MatchValue(value=value):
                self.emit("load", subject)
                self.expression(value)
                self.emit("compare", "Eq")
                return [self.emit("unless")]
            case ast.MatchSingleton(value=value):
                self.emit("load", subject)
                self.emit("constant", value)
                self.emit("compare", "Is")
                return [self.emit("unless")]
            case ast.MatchAs(pattern=None, name=None):
                return []
            case ast.MatchOr(patterns=patterns):
                found: list[int] = []
                fail: list[int] = []
                for each in patterns:
                    self.land(*fail)
                    fail = self.pattern(each, subject)
                    found.append(self.emit("jump"))
                self.land(*fail)
                no = self.emit("jump")
                self.land(*found)
                return [no]
            case _:
                self.refuse(pattern, f"a pattern that is a {type(pattern).__name__}")

    # -------------------------------------------------------------------------------------------------------- expressions

    def variable(self, name: str) -> str:
        """The variable that a name stands for inside of the function."""
        for scope in reversed(self.scopes):
            if name in scope:
                return scope[name]
        return name

    def is_local(self, name: str) -> bool:
        return name in self.local or any(name in scope for scope in self.scopes)

    def expression(self, node: ast.expr) -> None:
        self.depth += 1
        if self.depth > _DEEPEST:
            self.refuse(node, "nesting this deep")
        self.line = node.lineno
        match node:
            case ast.Constant(value=value):
                if type(value) not in (bool, int, str, type(None)):
                    self.refuse(node, f"a constant that is a {type(value).__name__}")
                self.emit("constant", value)
            case ast.Name(id=name) if self.is_local(name):
                self.emit("load", self.variable(name))
            case ast.Name() | ast.Attribute():
                meaning = self.meaning(node)
                if meaning is None or meaning.kind != "constant":
                    self.refuse(node, f"`{ast.unparse(node)[:60]}` as a value")
                self.emit("constant", meaning.value)
            case ast.BinOp(left=left, op=op, right=right):
                if type(op).__name__ not in _OPERATORS:
                    self.refuse(node, f"the operator {type(op).__name__}")
                self.expression(left)
                self.expression(right)
                self.emit("operate", type(op).__name__)
            case ast.UnaryOp(op=op, operand=operand):
                if isinstance(op, ast.Invert):
                    self.refuse(node, "the operator ~")
                self.expression(operand)
                self.emit("sign", type(op).__name__)
            case ast.BoolOp(op=op, values=values):
                jumps = []
                for i, value in enumerate(values):
                    if i:
                        jumps.append(self.emit("and then" if isinstance(op, ast.And) else "or else"))
                    self.expression(value)
                self.land(*jumps)
            case ast.Compare():
                self.compare(node)
            case ast.IfExp(test=test, body=body, orelse=orelse):
                self.expression(test)
                jump = self.emit("unless")
                self.expression(body)
                over = self.emit("jump")
                self.land(jump)
                self.expression(orelse)
                self.land(over)
            case ast.Tuple(elts=elements) | ast.List(elts=elements):
                for element in elements:
                    self.expression(element)
                self.emit("tuple" if isinstance(node, ast.Tuple) else "list", len(elements))
            case ast.Dict(keys=keys, values=values):
                for known, value in zip(keys, values, strict=True):
                    if known is None:
                        self.refuse(node, "** in a table")
                    self.expression(known)
                    self.expression(value)
                self.emit("table", len(keys))
            case ast.Subscript(value=value, slice=ast.Slice(lower=lower, upper=upper, step=None)):
                self.expression(value)
                for bound in (lower, upper):
                    if bound is None:
                        self.emit("constant", None)
                    else:
                        self.expression(bound)
                self.emit("part")
            case ast.Subscript(value=value, slice=index) if not isinstance(index, ast.Slice):
                self.expression(value)
                self.expression(index)
                self.emit("element")
            case ast.ListComp():
                self.comprehension(node)
            case ast.Call():
                self.call(node)
            case _:
                self.refuse(node, f"the expression {type(node).__name__}")
        self.depth -= 1

    def compare(self, node: ast.Compare) -> None:
        """A chain: every operand once, and no further than the first comparison that fails."""
        self.expression(node.left)
        if len(node.ops) == 1:
            self.expression(node.comparators[0])
            self.emit("compare", type(node.ops[0]).__name__)
            return
        kept = self.slot("chain")
        jumps = []
        for i, (op, operand) in enumerate(zip(node.ops, node.comparators, strict=True)):
            self.expression(operand)
            if i < len(node.ops) - 1:
                self.emit("twice", 1)
                self.emit("store", kept)
            self.emit("compare", type(op).__name__)
            if i < len(node.ops) - 1:
                jumps.append(self.emit("and then"))
                self.emit("load", kept)
        self.land(*jumps)

    def meaning(self, node: ast.expr) -> Meaning | None:
        """What a dotted name outside of the function stands for."""
        root = node
        while isinstance(root, ast.Attribute):
            root = root.value
        if not isinstance(root, ast.Name) or self.is_local(root.id):
            return None
        return self.head.meanings.get(ast.unparse(node))

    def builtin(self, node: ast.expr) -> str | None:
        """The built-in function that an expression calls."""
        meaning = self.meaning(node.func) if isinstance(node, ast.Call) else None
        return meaning.value if meaning is not None and meaning.kind == "builtin" else None

    # -------------------------------------------------------------------------------------------------------------- loops

    def walk(self, over: ast.expr, target: ast.expr | None = None) -> None:
        """Begin to walk over what a loop is over; a number of ``enumerate`` that nothing reads is not counted."""
        name = self.builtin(over)
        if name not in _WALKS:
            self.expression(over)
            self.emit("walk", ("elements", 1))
            return
        assert isinstance(over, ast.Call)
        if any(isinstance(a, ast.Starred) for a in over.args) or not over.args:
            self.refuse(over, f"{name} with these arguments")
        if name == "zip":
            if over.keywords:
                self.refuse(over, "zip with these arguments")
            for argument in over.args:
                self.walk(argument)
            self.emit("walk", ("zip", len(over.args)))
            return
        start = over.args[1:] + [k.value for k in over.keywords if k.arg == "start"]
        if len(start) > 1 or len(over.args) + len(over.keywords) > 2 or any(k.arg != "start" for k in over.keywords):
            self.refuse(over, "enumerate with these arguments")
        self.walk(over.args[0])
        if start:
            self.expression(start[0])
        else:
            self.emit("constant", 0)
        match target:
            case ast.Tuple(elts=[ast.Name(id=name), _]) if name not in self.loaded:
                self.emit("walk", ("uncounted", 1))
            case _:
                self.emit("walk", ("enumerate", 1))

    def generate(self, generators: Sequence[ast.comprehension], last: Any, depth: int = 0) -> None:
        """The nested loops of a comprehension; `last(n)` writes what is done inside, n walks deep."""
        if not generators:
            last(depth)
            return
        first = generators[0]
        if first.is_async:
            self.refuse(first.iter, "async")
        self.walk(first.iter, first.target)
        self.scopes.append({name: self.slot(name) for name in _names_in(first.target)})
        start = len(self.code)
        leave = self.emit("next")
        self.store(first.target)
        for condition in first.ifs:
            self.expression(condition)
            self.code.append(("unless", start, self.line))
        self.generate(generators[1:], last, depth + 1)
        self.emit("jump", start)
        self.land(leave)
        self.scopes.pop()

    def comprehension(self, node: ast.ListComp | ast.GeneratorExp) -> None:
        """A list of all elements."""
        self.no_name_twice(node)
        kept = self.slot("list")
        self.emit("list", 0)
        self.emit("store", kept)

        def add(_: int) -> None:
            self.expression(node.elt)
            self.emit("add", kept)

        self.generate(node.generators, add)
        self.emit("load", kept)

    def no_name_twice(self, node: ast.ListComp | ast.GeneratorExp) -> None:
        """Two loops of one comprehension share their scope in Python; the reader gives each its own."""
        bound: list[str] = []
        for generator in node.generators:
            bound += set(_names_in(generator.target))
        if len(set(bound)) < len(bound):
            self.refuse(node, "a name that two loops of a comprehension bind")
        for i, generator in enumerate(node.generators):
            later = {name for other in node.generators[i:] for name in _names_in(other.target)}
            if i and any(isinstance(n, ast.Name) and n.id in later for n in ast.walk(generator.iter)):
                self.refuse(node, "a name that is bound later in the comprehension")
            known = {name for other in node.generators[i + 1 :] for name in _names_in(other.target)}
            if any(isinstance(n, ast.Name) and n.id in known for c in generator.ifs for n in ast.walk(c)):
                self.refuse(node, "a name that is bound later in the comprehension")

    def quantifier(self, node: ast.GeneratorExp, name: str) -> None:
        """``any`` and ``all`` of a generator: as far as the first element that decides."""
        self.no_name_twice(node)
        decided: list[int] = []

        def test(depth: int) -> None:
            self.expression(node.elt)
            if name == "any":
                self.emit("sign", "Not")
            onward = self.emit("unless")
            over = self.emit("jump")
            self.land(onward)
            for _ in range(depth):
                self.emit("pop")
            self.emit("constant", name == "any")
            decided.append(self.emit("jump"))
            self.land(over)

        self.generate(node.generators, test)
        self.emit("constant", name == "all")
        self.land(*decided)

    def total(self, node: ast.GeneratorExp) -> None:
        """``sum`` of a generator."""
        self.no_name_twice(node)
        kept = self.slot("sum")
        self.emit("constant", 0)
        self.emit("store", kept)

        def add(_: int) -> None:
            self.emit("load", kept)
            self.expression(node.elt)
            self.emit("operate", "Add")
            self.emit("store", kept)

        self.generate(node.generators, add)
        self.emit("load", kept)

    # -------------------------------------------------------------------------------------------------------------- calls

    def call(self, node: ast.Call) -> None:
        if any(isinstance(a, ast.Starred) for a in node.args) or any(k.arg is None for k in node.keywords):
            self.refuse(node, "a starred argument")
        meaning = self.meaning(node.func)
        if meaning is None:
            self.method(node)
            return
        match meaning.kind:
            case "builtin":
                self.built_in(node, meaning.value)
            case "noise":
                signature = SIGNATURES[meaning.value]
                names = self.arguments(node, signature.names, signature.positional, signature.defaults)
                self.emit("noise", (meaning.value, names))
            case "function":
                head = self.heads[meaning.value]
                if head.generator:
                    self.refuse(node, "a call of a generator")
                names = self.arguments(node, head.parameters, head.positional, head.defaults)
                self.emit("call", (meaning.value, names))
            case _:
                self.refuse(node, "a call of a constant")

    def arguments(
        self, node: ast.Call, parameters: Sequence[str], positional: int, defaults: Mapping[str, Value]
    ) -> tuple[str, ...]:
        """Push the arguments in the order in which they are written; which parameters they are for."""
        if len(node.args) > positional:
            self.refuse(node, "a call with too many arguments")
        names = [*parameters[: len(node.args)], *(str(k.arg) for k in node.keywords)]
        if len(set(names)) < len(names) or not set(names) <= set(parameters):
            self.refuse(node, "a call with a parameter that is given twice, or does not exist")
        if not set(parameters) <= {*names, *defaults}:
            self.refuse(node, "a call without an argument that has no default")
        for argument in (*node.args, *(k.value for k in node.keywords)):
            self.expression(argument)
        self.line = node.lineno
        return tuple(names)

    def built_in(self, node: ast.Call, name: str) -> None:
        keywords = [str(k.arg) for k in node.keywords]
        wanted = name
        if name in ("max", "min") and keywords == ["default"] and len(node.args) == 1:
            wanted = f"{name} or"
        elif name == "sum" and keywords == ["start"] and len(node.args) == 1:
            pass
        elif keywords:
            self.refuse(node, f"{name} with {', '.join(keywords)[:60]}")
        if wanted not in FUNCTIONS:
            self.refuse(node, f"the function {name[:40]}")
        values = [*node.args, *(k.value for k in node.keywords)]
        _, least, most = FUNCTIONS[wanted]
        if not least <= len(values) <= most:
            self.refuse(node, f"{name} with {len(values)} arguments")
        for i, value in enumerate(values):
            if isinstance(value, ast.GeneratorExp) and i == 0 and name in _EAGER and len(node.args) == 1:
                if len(values) == 1 and name in ("any", "all"):
                    self.quantifier(value, name)
                    return
                if len(values) == 1 and name == "sum":
                    self.total(value)
                    return
                self.comprehension(value)
            else:
                self.expression(value)
        self.line = node.lineno
        self.emit("builtin", (wanted, len(values)))

    def method(self, node: ast.Call) -> None:
        if not isinstance(node.func, ast.Attribute) or node.keywords:
            self.refuse(node, f"the call `{ast.unparse(node)[:60]}`")
        name = node.func.attr
        if name != "append" and name not in METHODS:
            self.refuse(node, f"the method {name[:40]}")
        count = 1 if name == "append" else METHODS[name][1]
        if len(node.args) != count:
            self.refuse(node, f"the method {name} with {len(node.args)} arguments")
        self.expression(node.func.value)
        for argument in node.args:
            self.expression(argument)
        self.line = node.lineno
        self.emit("append" if name == "append" else "method", name)


def _written(arguments: ast.arguments) -> dict[str, Value]:
    """The defaults that are numbers, texts, truth values or None, as they are written."""
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


def _is_none(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is None


def _names_in(target: ast.expr) -> list[str]:
    """The names that a target binds."""
    return [n.id for n in ast.walk(target) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)]


def _stored(tree: ast.FunctionDef) -> Iterator[str]:
    """The names that a function assigns to; those of comprehensions are theirs alone."""
    waiting: list[ast.AST] = list(tree.body)
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id
        if isinstance(node, ast.comprehension):
            waiting += [node.iter, *node.ifs]
        else:
            waiting += ast.iter_child_nodes(node)


def _live(code: Sequence[Instruction]) -> tuple[frozenset[str], ...]:
    """For every instruction the variables that some way on reads before it writes them."""
    onward: list[list[int]] = []
    for number, (name, argument, _) in enumerate(code):
        targets = [] if name in ("jump", "return") else [number + 1]
        if name in ("jump", "unless", "or else", "and then", "next"):
            targets.append(argument)
        onward.append(targets)
    before: list[list[int]] = [[] for _ in code]
    for number, targets in enumerate(onward):
        for target in targets:
            before[target].append(number)
    live: list[frozenset[str]] = [frozenset()] * len(code)
    waiting = list(range(len(code)))
    queued = set(waiting)
    while waiting:
        number = waiting.pop()
        queued.discard(number)
        name, argument, _ = code[number]
        needed = frozenset[str]().union(*(live[target] for target in onward[number]))
        if name == "store":
            needed -= {argument}
        elif name in ("load", "add"):
            needed |= {argument}
        if needed != live[number]:
            live[number] = needed
            for earlier in before[number]:
                if earlier not in queued:
                    queued.add(earlier)
                    waiting.append(earlier)
    return tuple(live)
