"""Expressions: from the syntax of Python to expressions without noise, with the samples as statements before them."""

from __future__ import annotations

import ast
import inspect
import math
from abc import abstractmethod
from collections.abc import Callable
from fractions import Fraction
from types import BuiltinFunctionType, FunctionType, MappingProxyType, MethodType
from typing import Any, NoReturn, TypeAlias

from privproof.errors import LanguageError
from privproof.language.arrays import BuiltIn
from privproof.language.calls import BUILTINS, MORE_BUILTINS
from privproof.language.infinities import Infinities
from privproof.language.noise import NOISES
from privproof.language.objects import Built
from privproof.language.resolving import ResolvedName, Unusable
from privproof.language.syntax import (
    Assign,
    Conditional,
    Constant,
    Element,
    Expression,
    If,
    Operation,
    Place,
    Sample,
    Statement,
    Variable,
)
from privproof.language.values import Member

BINARY: dict[type[ast.operator], str] = {
    ast.Add: "+",
    ast.Sub: "-",
    ast.Mult: "*",
    ast.Div: "/",
    ast.FloorDiv: "//",
    ast.Mod: "%",
    ast.Pow: "**",
    ast.BitAnd: "&",
    ast.BitOr: "|",
    ast.BitXor: "^",
    ast.LShift: "<<",
    ast.RShift: ">>",
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
METHODS = {"count": "count", "index": "index", "copy": "copy"}
INSTEAD_OF_METHOD = {
    "bit_length": "the number of levels as a parameter, or as a public number: levels: public(integer(low=1))",
    "mean": "add noise first and divide then, (xs.sum() + noise) / len(xs): the quotient of what is released costs nothing",
    "pop": "x = xs[-1], then xs = xs[:-1]",
    "sort": "xs = sorted(xs)",
    "insert": "xs = xs[:i] + [x] + xs[i:]",
    "update": "table[key] = value",
}
_MEAN = "add noise first and divide then, (sum(xs) + noise) / len(xs): the quotient of what is released costs nothing"
_NO_BEST = "begin with None, best = None, and ask: best is None or noisy > best"
_INSTEAD_OF = {
    "float": 'Fraction("0.5")',
    "sqrt": "compare squares: x * x <= n",
    "isinstance": "declare the values in the signature",
    "input": "declare what is read in the signature",
    "mean": _MEAN,
}
_SINGLE = (None, True, False)
_FUNCTIONS = (FunctionType, BuiltinFunctionType, MethodType, type)


Given: TypeAlias = "tuple[ast.FunctionDef | ast.Lambda, ExpressionReading] | ResolvedName"
"""A function that is defined inside another, with who reads that; or one of a module."""


class ExpressionReading(Infinities):
    """Reads expressions; loops and calls are read by those who know statements."""

    spelled: dict[int, ast.Dict]
    """Tables that hold all arguments of a call, by the number of the call."""
    functions: dict[str, Given]
    """Functions that are defined inside the one that is read."""

    @abstractmethod
    def inside(self, node: ast.Call, name: str, out: list[Statement]) -> Expression:
        """A call of a function that is defined inside this one."""

    @abstractmethod
    def largest(self, node: ast.AST, held: ast.ListComp, out: list[Statement]) -> Expression:
        """Where a list that a comprehension makes has its first largest element."""

    @abstractmethod
    def stream(self, over: ast.expr) -> str | None:
        """The stream that an expression names."""

    @abstractmethod
    def inline(self, node: ast.Call, called: object, out: list[Statement], built: Built | None = None) -> Expression:
        """A call of another function, of a mechanism around one, or of a method of an object that was made of constants."""

    def expression(self, node: ast.expr, out: list[Statement]) -> Expression:
        here = self.place(node)
        if self.is_beginning(node):
            return Constant(None, here)
        computed = self.known_value(node, here)
        if computed is not None:
            return computed
        match node:
            case ast.Constant(value=value):
                return self.constant(node, value, here)
            case ast.Name(id=name):
                return self.name(node, name, here)
            case ast.Attribute(value=ast.Name(id=name) as value, attr=field) if (
                name in self.names and field in self.shared.fields
            ):
                return Element(self.name(value, name, here), Constant(field, here), here)
            case ast.Attribute():
                held = self.attribute_of(node, out)
                return self.outside(node, here) if held is None else held
            case ast.JoinedStr():
                return self.written_text(node, out)
            case ast.BinOp(left=left, op=op, right=right):
                sign = BINARY.get(type(op))
                if sign is None:
                    self.refuse(node, "the operator @", "a sum of products")
                paired = self.two_sided(node, out)
                if paired is not None:
                    return paired
                self.refuse_arrays(left, right)
                sides = self.operands(left, right, out, here)
                if sign == "/" and self.shared.ordinary and not self.is_noisy(*sides) and not _halved_length(*sides):
                    self.refuse(
                        node,
                        "a quotient of data, which Python rounds,",
                        _MEAN,
                    )
                return Operation(sign, sides, here)
            case ast.UnaryOp(op=op, operand=operand):
                self.refuse_arrays(operand)
                inner = self.expression(operand, out)
                if isinstance(op, ast.Invert):
                    return Operation("~", (inner,), here)
                if isinstance(op, ast.USub) and isinstance(inner, Constant) and isinstance(inner.value, int):
                    return Constant(-inner.value, here)
                sign = "not" if isinstance(op, ast.Not) else "neg" if isinstance(op, ast.USub) else "pos"
                return Operation(sign, (inner,), here)
            case ast.BoolOp(op=op, values=values):
                return self.logic("and" if isinstance(op, ast.And) else "or", values, out, here)
            case ast.Compare():
                return self.compare(node, out)
            case ast.IfExp(test=test, body=body, orelse=orelse):
                return self.conditional(test, body, orelse, out, here)
            case ast.Tuple(elts=elements) | ast.List(elts=elements):
                kind = "tuple of" if isinstance(node, ast.Tuple) else "list of"
                if any(isinstance(each, ast.Starred) for each in elements):
                    return self.spread_out(node, elements, out)
                return Operation(kind, tuple(self.expression(e, out) for e in elements), here)
            case ast.Set(elts=elements):
                if any(isinstance(each, ast.Starred) for each in elements):
                    self.unknown(node)
                listed = Operation("tuple of", tuple(self.expression(e, out) for e in elements), here)
                return Operation("set", (listed,), here)
            case ast.SetComp(elt=inner, generators=generators):
                made = ast.copy_location(ast.ListComp(inner, generators), node)
                return Operation("set", (self.comprehension(made, out),), here)
            case ast.DictComp():
                table = self.table_value(node, out)
                return self.table_built(node, out) if table is None else table
            case ast.Dict(keys=keys, values=values):
                if any(key is None for key in keys):
                    self.refuse(node, "** in a table", "write the table out")
                entries = [self.expression(e, out) for pair in zip(keys, values, strict=True) for e in pair if e]
                return Operation("table of", tuple(entries), here)
            case ast.Subscript(value=ast.Name(id=name), slice=index) if name in self.tables or name in self.counters:
                found = self.looked_up(name, index, out, here)
                assert found is not None
                return found
            case ast.Subscript(value=value, slice=index):
                return self.element(value, index, out, here)
            case ast.ListComp():
                return self.comprehension(node, out)
            case ast.GeneratorExp():
                self.refuse(node, "a generator expression by itself", "a list: [x for x in xs]")
            case ast.Call():
                return self.call(node, out)
            case ast.NamedExpr(target=ast.Name(id=name), value=value):
                return self.named(node, name, value, out)
            case ast.Yield():
                self.refuse(node, "yield inside an expression", "yield in a statement of its own")
            case _:
                self.unknown(node)

    def refuse_arrays(self, *operands: ast.expr) -> None:
        """Refuse to compute with whole arrays as if they were lists."""
        for each in operands:
            if isinstance(each, ast.Name) and each.id in self.tables and self.tables[each.id].kind == "array":
                self.refuse(each, f"the array {each.id} in this place", f"[x for x in {each.id}]")

    def named(self, node: ast.NamedExpr, name: str, value: ast.expr, out: list[Statement]) -> Expression:
        """``(name := value)``, where nothing to the left in the same statement reads the name."""
        here = self.place(node)
        before = [
            part
            for part in ast.walk(self.current or node)
            if isinstance(part, ast.Name)
            and part.id == name
            and (part.lineno, part.col_offset) < (node.lineno, node.col_offset)
        ]
        if before or self.names.get(name, "").startswith("#x") or name in self.shared.streams:
            self.refuse(node, f"{name} := after {name} was read", "assign in a statement of its own")
        kept = self.shared.name("k")
        out.append(Assign(kept, self.expression(value, out), here))
        out.append(Assign(self.names[name], Variable(kept, here), here))
        return Variable(kept, here)

    def operands(
        self, left: ast.expr, right: ast.expr, out: list[Statement], here: Place
    ) -> tuple[Expression, Expression]:
        """Two operands; in ordinary code what is added to noise is known before the noise is drawn, as an alignment needs it."""
        if not self.shared.ordinary:
            return self.expression(left, out), self.expression(right, out)
        first: list[Statement] = []
        second: list[Statement] = []
        for number, beside in ((left, right), (right, left)):
            if type(self.foreseen(number)) is float and type(self.foreseen(beside)) is not float:
                value = self.expression(beside, out)
                if self.is_noisy(value):  # the sum is a real number, as noise is
                    known = self.number(number, out)
                    return (known, value) if number is left else (value, known)
                self.expression(number, out)  # which refuses it
        one, other = self.expression(left, first), self.expression(right, second)
        if second:
            one = self.kept(one, first, here)
        elif first and any(isinstance(step, Sample) for step in first):
            other = self.kept(other, out, here)
        out += [*first, *second]
        return one, other

    def constant(self, node: ast.AST, value: object, here: Place) -> Constant:
        if isinstance(value, float) and (self.exactly or self.shared.ordinary):
            return self.floating(value, here)
        if isinstance(value, float) and math.isinf(value):
            raise LanguageError("float", f"{value!r} is no number", place=str(here), hint=_NO_BEST)
        if isinstance(value, float):
            hint = f'Fraction("{value!r}") for exactly that number'
            raise LanguageError("float", f"{value!r} is a float", place=str(here), hint=hint)
        if type(value) in (bool, int, str, Fraction, type(None), Member):
            return Constant(value, here)
        self.refuse(node, f"the constant {value!r}", "whole numbers, Fraction, texts, True, False, None")

    def name(self, node: ast.expr, name: str, here: Place) -> Expression:
        if name in self.tables:
            if self.tables[name].kind == "counting":
                self.refuse(node, f"{name}, which counts what it does not know,", f"dict({name})")
            return self.whole_table(node, self.tables[name], here)
        if name in self.counters:
            self.refuse(
                node,
                f"all counts of {name}: its keys come from data, and in their order",
                f"{name}[key] for the keys that are public, or sorted({name})",
            )
        if name in self.names:
            if self.names[name] in self.shared.streams:
                self.refuse(node, f"the stream {name} outside a loop", f"for value in {name}:")
            return Variable(self.names[name], here)
        return self.outside(node, here)

    def outside(self, node: ast.expr, here: Place) -> Expression:
        """A constant of the module, of a closure, or of another module."""
        try:
            found = self.meaning(node)
        except Unusable as problem:
            raise self.outside_reason(node, problem) from None
        if found.kind == "members":
            self.shared.object_fields |= {"name", "value"}
            return Operation("tuple of", tuple(Constant(each, here) for each in found.value), here)
        if found.kind != "constant":
            self.refuse(node, f"`{ast.unparse(node)}` as a value", "call it")
        if isinstance(found.value, Member):
            self.shared.object_fields |= {"name", "value"}
        return self.fixed(node, found.value, here)

    def fixed(self, node: ast.AST, value: object, here: Place) -> Expression:
        """A value that is known beforehand."""
        match value:
            case tuple() | list():
                kind = "tuple of" if isinstance(value, tuple) else "fixed list of"
                return Operation(kind, tuple(self.fixed(node, item, here) for item in value), here)
            case dict() | MappingProxyType():
                entries = [self.fixed(node, part, here) for pair in value.items() for part in pair]
                return Operation("table of", tuple(entries), here)
            case _:
                return self.constant(node, value, here)

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
        tossed = self.coin(node, out) or self.against_infinity(node, out)
        if tossed is not None:
            return tossed
        operands = [self.number(node.left, out)]
        for op, operand in zip(node.ops, node.comparators, strict=True):
            before: list[Statement] = []
            among = isinstance(op, ast.In | ast.NotIn)
            value = self.sequence(operand, before) if among else self.number(operand, before)
            if before and len(operands) > 1:
                self.refuse(operand, "noise late in a chain of comparisons", "draw it in a statement before")
            out.extend(before)
            operands.append(value)
        tests = []
        for op, left, right in zip(node.ops, operands, operands[1:], strict=False):
            name = _COMPARE[type(op)]
            if name in ("is", "is not") and not (
                isinstance(right, Constant)
                and (any(right.value is v for v in _SINGLE) or isinstance(right.value, Member))
            ):
                self.refuse(node, "is", "==")
            tests.append(Operation(name, (left, right), here))
        return tests[0] if len(tests) == 1 else Operation("and", tuple(tests), here)

    def conditional(
        self,
        test: ast.expr,
        then: ast.expr,
        otherwise: ast.expr,
        out: list[Statement],
        here: Place,
        read: Callable[[ast.expr, list[Statement]], Expression] | None = None,
    ) -> Expression:
        condition = self.expression(test, out)
        first: list[Statement] = []
        second: list[Statement] = []
        one, other = ((read or self.expression)(part, before) for part, before in ((then, first), (otherwise, second)))
        if not first and not second:
            return Conditional(condition, one, other, here)
        kept = self.shared.name("c")
        out.append(If(condition, (*first, Assign(kept, one, here)), (*second, Assign(kept, other, here)), here))
        return Variable(kept, here)

    def element(self, value: ast.expr, index: ast.expr, out: list[Statement], here: Place) -> Expression:
        chosen = self.one_of_several(ast.copy_location(ast.Subscript(value, index, ast.Load()), value), out)
        if chosen is not None:
            return chosen
        sequence = self.expression(value, out)
        if not isinstance(index, ast.Slice):
            return Element(sequence, self.expression(index, out), here)
        nothing = Constant(None, here)
        start, stop = (
            nothing if bound is None else self.expression(bound, out) for bound in (index.lower, index.upper)
        )
        if index.step is None:
            return Operation("slice", (sequence, start, stop), here)
        return Operation("slice", (sequence, start, stop, self.expression(index.step, out)), here)

    def call(self, node: ast.Call, out: list[Statement]) -> Expression:
        here = self.place(node)
        if id(node) in self.spelled:
            rows = zip(self.spelled[id(node)].keys, self.spelled[id(node)].values, strict=True)
            named = [ast.keyword(str(key.value), value) for key, value in rows if isinstance(key, ast.Constant)]
            return self.call(ast.copy_location(ast.Call(node.func, [], named), node), out)
        if id(node) in self.made:
            return self.largest(node, self.made[id(node)], out)
        if (
            isinstance(node.func, ast.Name)
            and node.func.id in self.functions
            and not _starred(node)
            and not isinstance(node.func, BuiltIn)
        ):
            return self.inside(node, node.func.id, out)
        held = self.called_object(node.func)
        if held is not None and not _starred(node):
            behind = held[0].method(held[1])
            if behind is not None:
                return self.inline(node, behind, out, held[0])
        if isinstance(node.func, ast.Attribute) and isinstance(node.func.value, ast.expr):
            root = node.func
            while isinstance(root, ast.Attribute):
                root = root.value  # type: ignore[assignment]
            if not isinstance(root, ast.Name) or (root.id in self.names and root.id not in self.generators):
                return self.method(node, node.func, out)
        try:
            found = self.meaning(node.func)
        except Unusable as problem:
            made = self.text_made(node, out)
            if made is not None:
                return made
            self.refuse_call(node, problem)
        if found.kind == "record":
            return self.record(node, found.value, out)
        if found.kind == "members":
            return self.member(node, found.value, out)
        if _starred(node):
            self.refuse(node, "a starred argument", "write the arguments out")
        if found.kind == "library":
            computed = self.library_value(node, found.value, out)
            if computed is not None:
                return computed
        if found.kind == "noise":
            return self.noise(node, found.value, out)
        if found.kind == "library" and self.shared.ordinary:
            return self.library(node, found.value, out)
        if found.kind == "function":
            return self.inline(node, found.value, out)
        if found.kind == "builtin":
            if found.value == "Fraction":
                if node.keywords:
                    self.refuse(node, "Fraction with keywords", "Fraction(1, 3)")
                return Operation("Fraction", tuple(self.expression(a, out) for a in node.args), here)
            if found.value in BUILTINS:
                return self.builtin(node, found.value, out)
            if found.value in MORE_BUILTINS:
                return self.more_built_in(node, found.value, out)
            if found.value == "float" and len(node.args) == 1 and not node.keywords:
                value = self.expression(node.args[0], out)
                if self.is_noisy(value):
                    return Operation("float", (value,), here)
            if found.value == "range":
                self.refuse(node, "range as a value", "list(range(...))")
            if found.value in ("enumerate", "zip", "map", "filter", "reversed"):
                self.refuse(node, f"{found.value} outside a loop", f"list({found.value}(...))")
        if found.kind == "library":
            self.shared.drawn = True
            self.refuse_call(node, Unusable("", ""))
        self.refuse_call(node, Unusable("", "", found.value))

    def refuse_call(self, node: ast.Call, problem: Unusable) -> NoReturn:
        """Refuse the call of something that a mechanism cannot call."""
        called, written = problem.found, ast.unparse(node.func)
        name = written.rpartition(".")[2]
        hint = _INSTEAD_OF.get(name, "functions of the language, noise, " + ", ".join(BUILTINS))
        if _owner(called) in ("random", "secrets") or "random" in written:
            hint = "use privproof's noise: " + ", ".join(NOISES)
        elif name not in _INSTEAD_OF and called is not None and not isinstance(called, str):
            hint = f"a function with a def of its own, not a {type(called).__name__}"
        self.refuse(node, f"calling {written}", hint)

    def method(self, node: ast.Call, function: ast.Attribute, out: list[Statement]) -> Expression:
        here = self.place(node)
        if function.attr == "append":
            self.refuse(node, "append inside an expression", "append in a statement of its own")
        made = self.of_table(node, function, out)
        if made is None and function.attr == "pop" and node is self.whole:
            made = self.popped(node, function, out)
        if made is None:
            made = self.text_method(node, function, out)
        if made is None:
            made = self.view(node, function, out)
        if made is not None:
            return made
        if function.attr not in METHODS or node.keywords:
            hint = INSTEAD_OF_METHOD.get(function.attr, "append, count, index, copy")
            self.refuse(node, f"the method .{function.attr}", hint)
        holder = self.expression(function.value, out)
        arguments = tuple(self.expression(a, out) for a in node.args)
        return Operation(METHODS[function.attr], (holder, *arguments), here)

    def noise(self, node: ast.Call, name: str, out: list[Statement]) -> Expression:
        here = self.place(node)
        signature = inspect.signature(NOISES[name].function)
        keywords: dict[str, Any] = {str(k.arg): k.value for k in node.keywords}
        try:
            bound = signature.bind(*node.args, **keywords)
        except TypeError as problem:
            raise LanguageError(
                "noise",
                f"{name}: {problem}",
                place=str(here),
                hint=f"{name}({', '.join(map(_argument, signature.parameters.values()))})",
            ) from None
        given = {name: self.expression(argument, out) for name, argument in self.in_order(node, bound.arguments)}
        arguments = [given.get(p.name, Constant(p.default, here)) for p in signature.parameters.values()]
        kept = self.shared.name("z")
        out.append(Sample(kept, name, tuple(arguments), self.shared.sites, here))
        self.shared.sites += 1
        return Variable(kept, here)

    def in_order(self, node: ast.Call, bound: dict[str, Any]) -> list[tuple[str, ast.expr]]:
        """The arguments of a call with the names of their parameters, in the order in which they are evaluated."""
        written = [*node.args, *(k.value for k in node.keywords)]
        names = {id(argument): name for name, argument in bound.items()}
        return [(names[id(argument)], argument) for argument in written]


def _halved_length(above: Expression, below: Expression) -> bool:
    """Whether a length is divided by a power of two, which Python does not round."""
    match above, below:
        case Operation("len"), Constant(int() as power) if type(power) is int:
            return power > 0 and power & (power - 1) == 0
        case _:
            return False


def _starred(node: ast.Call) -> bool:
    """Whether arguments are given by ``*`` or ``**``."""
    return any(isinstance(argument, ast.Starred) for argument in node.args) or any(k.arg is None for k in node.keywords)


def _argument(parameter: inspect.Parameter) -> str:
    """A parameter of a noise function as a caller writes it."""
    if parameter.kind is parameter.KEYWORD_ONLY:
        return (
            f"{parameter.name}=..." if parameter.default is parameter.empty else f"{parameter.name}={parameter.default}"
        )
    return parameter.name


def _owner(called: object) -> str:
    """The package that a function belongs to."""
    if not isinstance(called, _FUNCTIONS):
        return ""
    module = called.__module__ or type(getattr(called, "__self__", None)).__module__
    return str(module).partition(".")[0]
