"""Expressions of Python as instructions, in the order in which Python evaluates: operators, comprehensions and calls."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from privproof_checker.source.code import CodeWriter, bound_names
from privproof_checker.source.functions import FUNCTIONS, KINDS, METHODS
from privproof_checker.source.heads import Head, Meaning
from privproof_checker.source.laws import SIGNATURES, Signature
from privproof_checker.source.libraries import BETWEEN, COIN, COMPUTED, LIBRARY, UNIT
from privproof_checker.source.values import Value

OPERATORS = ("Add", "Sub", "Mult", "Div", "FloorDiv", "Mod", "Pow", "BitAnd", "BitOr", "BitXor", "LShift", "RShift")
_WALKS = ("enumerate", "zip")
_EXTREMES: Mapping[str, str] = {"numpy.argmax": "index of max", "numpy.argmin": "index of min"}
"""Functions of numpy for one list."""
_EAGER = ("all", "any", "list", "max", "min", "sorted", "sum", "tuple")


class ExpressionReader(CodeWriter):
    """Reads the expressions of one function, which may call the others."""

    def __init__(self, head: Head, heads: Sequence[Head]) -> None:
        super().__init__(head)
        self.heads = heads
        self.loaded = {n.id for n in ast.walk(head.tree) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load)}

    def store(self, target: ast.expr) -> None:
        """Pop a value into a target."""
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

    def expression(self, node: ast.expr) -> None:
        """Push the value of an expression."""
        self.enter(node)
        match node:
            case ast.Constant(value=value):
                if type(value) not in (bool, int, str, type(None), float) or (
                    isinstance(value, float) and value - value != 0
                ):
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
                if type(op).__name__ not in OPERATORS:
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
            case ast.Subscript() if self.one_of_several(node):
                pass
            case ast.Subscript(value=value, slice=index) if not isinstance(index, ast.Slice):
                self.expression(value)
                self.expression(index)
                self.emit("element")
            case ast.ListComp():
                self.comprehension(node)
            case ast.DictComp():
                self.table_made(node)
            case ast.JoinedStr():
                self.text(node)
            case ast.Call():
                self.call(node)
            case _:
                self.refuse(node, f"the expression {type(node).__name__}")
        self.depth -= 1

    def text(self, node: ast.JoinedStr) -> None:
        """An f-string: its pieces, one after the other."""
        for part in node.values:
            match part:
                case ast.Constant(value=str(written)):
                    self.emit("constant", written)
                case ast.FormattedValue(value=value, conversion=conversion, format_spec=None | ast.JoinedStr() as how):
                    pieces = [] if how is None else how.values
                    if any(not isinstance(piece, ast.Constant) for piece in pieces):
                        self.refuse(part, "a format that is computed")
                    told = "".join(str(piece.value) for piece in pieces if isinstance(piece, ast.Constant))
                    self.expression(value)
                    self.emit("text", f"{'' if conversion < 0 else '!' + chr(conversion)}:{told}")
                case _:
                    self.refuse(node, "this text")
        self.emit("texts", len(node.values))

    def table_made(self, node: ast.DictComp) -> None:
        """A table, entry by entry."""

        def add(kept: str) -> None:
            self.expression(node.key)
            self.expression(node.value)
            self.emit("entry", kept)

        self.gathered(node, ("table", 0), self.slot("table"), add)

    def called(self, node: ast.expr, kind: str) -> Any:
        """The function of a kind that an expression calls, by its name."""
        meaning = self.meaning(node.func) if isinstance(node, ast.Call) else None
        return meaning.value if meaning is not None and meaning.kind == kind else None

    def one_of_several(self, node: ast.Subscript) -> bool:
        """``random.choices(values, weights)[0]``; whether it was one."""
        call = node.value
        first = isinstance(node.slice, ast.Constant) and node.slice.value == 0
        if not (isinstance(call, ast.Call) and first and self.called(call, "library") == "random.choices"):
            return False
        rest = [k for k in call.keywords if k.arg != "k"]
        once = all(isinstance(k.value, ast.Constant) and k.value.value == 1 for k in call.keywords if k.arg == "k")
        if not once or any(k.arg is None for k in rest) or any(isinstance(a, ast.Starred) for a in call.args):
            return False
        self.noise(ast.copy_location(ast.Call(call.func, call.args, rest), call), "random.choices", LIBRARY)
        return True

    def noise(self, node: ast.Call, name: str, known: Mapping[str, Signature]) -> None:
        """Push what a noise draws."""
        self.emit("noise", (name, self.arguments(node, known[name])))

    def coin(self, node: ast.Compare) -> bool:
        """``random() < p`` and its kin; whether it was one."""
        if len(node.ops) != 1 or not isinstance(node.ops[0], ast.Lt | ast.LtE | ast.Gt | ast.GtE):
            return False
        below, sides = isinstance(node.ops[0], ast.Lt | ast.LtE), (node.left, node.comparators[0])
        named = [self.called(side, "library") for side in sides]
        plain = [isinstance(side, ast.Call) and not side.args and not side.keywords for side in sides]
        drawn = [name in BETWEEN or (name in UNIT and bare) for name, bare in zip(named, plain, strict=True)]
        if drawn.count(True) != 1:
            return False
        number, name = sides[drawn.index(True)], named[drawn.index(True)]
        assert isinstance(number, ast.Call)
        ends = self.arguments(number, BETWEEN[name]) if name in BETWEEN else ()
        self.expression(sides[drawn.index(False)])
        self.emit("noise", (name, (*ends, "at")) if name in BETWEEN else (COIN, ("p",)))
        if below == drawn[1]:
            self.emit("sign", "Not")
        return True

    def compare(self, node: ast.Compare) -> None:
        """A chain: every operand once, and no further than the first comparison that fails."""
        if self.coin(node):
            return
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
        if not isinstance(root, ast.Name):
            return None
        if self.is_local(root.id) and not (root is not node and root.id == self.owner):
            return None
        return self.head.meanings.get(ast.unparse(node))

    @property
    def owner(self) -> str | None:
        """The parameter that may stand for the object whose method is read: at most its attributes are, and they are constants."""
        first = self.head.parameters[:1]
        uses = [n for n in ast.walk(self.head.tree) if isinstance(n, ast.Name) and first == (n.id,)]
        held = [n.value for n in ast.walk(self.head.tree) if isinstance(n, ast.Attribute)]
        return first[0] if first and all(any(use is each for each in held) for use in uses) else None

    def walk(self, over: ast.expr, target: ast.expr | None = None) -> None:
        """Begin to walk over what a loop is over; a number of ``enumerate`` that nothing reads is not counted."""
        name = self.called(over, "builtin")
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
        self.scopes.append({name: self.slot(name) for name in bound_names(first.target)})
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

        def add(kept: str) -> None:
            self.expression(node.elt)
            self.emit("add", kept)

        self.gathered(node, ("list", 0), self.slot("list"), add)

    def gathered(
        self,
        node: ast.ListComp | ast.GeneratorExp | ast.DictComp,
        begun: tuple[str, int],
        kept: str,
        add: Callable[[str], None],
    ) -> None:
        """What a comprehension makes in a slot: how it begins, and what writes the code that adds one element."""
        self.no_name_twice(node)
        self.emit(*begun)
        self.emit("store", kept)
        self.generate(node.generators, lambda _: add(kept))
        self.emit("load", kept)

    def no_name_twice(self, node: ast.ListComp | ast.GeneratorExp | ast.DictComp) -> None:
        """Two loops of one comprehension share their scope in Python; the reader gives each its own."""
        bound: list[str] = []
        for generator in node.generators:
            bound += set(bound_names(generator.target))
        if len(set(bound)) < len(bound):
            self.refuse(node, "a name that two loops of a comprehension bind")
        for i, generator in enumerate(node.generators):
            later = {name for other in node.generators[i:] for name in bound_names(other.target)}
            if i and any(isinstance(n, ast.Name) and n.id in later for n in ast.walk(generator.iter)):
                self.refuse(node, "a name that is bound later in the comprehension")
            known = {name for other in node.generators[i + 1 :] for name in bound_names(other.target)}
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

        def add(kept: str) -> None:
            self.emit("load", kept)
            self.expression(node.elt)
            self.emit("operate", "Add")
            self.emit("store", kept)

        self.gathered(node, ("constant", 0), self.slot("sum"), add)

    def call(self, node: ast.Call) -> None:
        """Push what a call returns."""
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
                self.noise(node, meaning.value, SIGNATURES)
            case "library" if meaning.value in _EXTREMES and len(node.args) == 1 and not node.keywords:
                self.expression(node.args[0])
                self.emit("builtin", (_EXTREMES[meaning.value], 1))
            case "library" if meaning.value in COMPUTED and len(node.args) == 1 and not node.keywords:
                self.expression(node.args[0])
                self.emit("library", (meaning.value, 1))
            case "library":
                if meaning.value not in LIBRARY or meaning.value in (*BETWEEN, "random.choices"):
                    self.refuse(node, f"the function {ast.unparse(node.func)[:60]}")
                self.noise(node, meaning.value, LIBRARY)
            case "record":
                self.record(node, meaning.value)
            case "function":
                head = self.heads[meaning.value]
                if head.generator:
                    self.refuse(node, "a call of a generator")
                taken = Signature(head.parameters, head.positional, head.defaults)
                self.emit("call", (meaning.value, self.arguments(node, taken)))
            case _:
                self.refuse(node, "a call of a constant")

    def record(self, node: ast.Call, meaning: tuple[str, tuple[str, ...], tuple[Value, ...], bool]) -> None:
        """A named tuple, or an object of a data class: its values in the order of its fields."""
        name, fields, defaults, sequence = meaning
        late = dict(zip(fields[len(fields) - len(defaults) :], defaults, strict=True))
        given = self.arguments(node, Signature(fields, len(fields), late))
        self.emit("record", (name, fields, sequence, given, late))

    def arguments(self, node: ast.Call, taken: Signature) -> tuple[str, ...]:
        """Push the arguments in the order in which they are written; which parameters they are for."""
        if len(node.args) > taken.positional:
            self.refuse(node, "a call with too many arguments")
        names = [*taken.names[: len(node.args)], *(str(k.arg) for k in node.keywords)]
        if len(set(names)) < len(names) or not set(names) <= set(taken.names):
            self.refuse(node, "a call with a parameter that is given twice, or does not exist")
        if not set(taken.names) <= {*names, *taken.defaults}:
            self.refuse(node, "a call without an argument that has no default")
        for argument in (*node.args, *(k.value for k in node.keywords)):
            self.expression(argument)
        self.line = node.lineno
        return tuple(names)

    def kinds_asked(self, node: ast.Call) -> tuple[str, ...] | None:
        """The types that ``isinstance`` asks for, by their names; None if it asks for others."""
        if len(node.args) != 2 or node.keywords:
            return None
        asked = node.args[1].elts if isinstance(node.args[1], ast.Tuple) else [node.args[1]]
        found = [self.meaning(each) for each in asked]
        names = [each.value for each in found if each is not None and each.kind == "builtin" and each.value in KINDS]
        return tuple(names) if len(names) == len(asked) else None

    def built_in(self, node: ast.Call, name: str) -> None:
        """A call of a function that is built in."""
        if name == "isinstance":
            kinds = self.kinds_asked(node)
            if kinds is None:
                self.refuse(node, "isinstance of these types")
            self.expression(node.args[0])
            self.emit("constant", kinds)
            self.emit("builtin", ("isinstance", 2))
            return
        keywords = [str(k.arg) for k in node.keywords]
        if name in ("max", "min", "sorted") and "key" in keywords:
            self.by_key(node, name)
            return
        wanted = name
        if name in ("max", "min") and keywords == ["default"] and len(node.args) == 1:
            wanted = f"{name} or"
        elif name == "sum" and keywords == ["start"] and len(node.args) == 1:
            pass
        elif name == "sorted" and keywords == ["reverse"] and _flag(node.keywords[0].value) is not None:
            wanted = "sorted down" if _flag(node.keywords[0].value) else "sorted"
            node = ast.copy_location(ast.Call(node.func, node.args, []), node)
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

    def by_key(self, node: ast.Call, name: str) -> None:
        """``max``, ``min`` or ``sorted`` of the indices of a list, with its elements, or these with another sign, as the key."""
        given = {str(k.arg): k.value for k in node.keywords}
        down = _flag(given.get("reverse", ast.Constant(value=False)))
        found = _element_key(given["key"])
        measured = node.args[0].args if len(node.args) == 1 and isinstance(node.args[0], ast.Call) else []
        over = node.args[0] if len(measured) == 1 and not getattr(node.args[0], "keywords", [1]) else None
        if over is None or self.called(over, "builtin") != "range" or self.called(measured[0], "builtin") != "len":
            self.refuse(node, f"{name} with key")
        if (
            found is None
            or down is None
            or not set(given) <= {"key", "reverse"}
            or (name != "sorted" and len(given) > 1)
        ):
            self.refuse(node, f"{name} with this key")
        listed, negative = found
        if not self.is_local(listed.id):
            self.refuse(node, f"{name} with this key")
        self.expression(listed)
        self.expression(measured[0])
        self.line = node.lineno
        if name == "sorted":
            self.emit("builtin", ("sorted indices down" if down != negative else "sorted indices", 2))
        else:
            self.emit("builtin", ("index of max" if (name == "max") != negative else "index of min", 2))

    def method(self, node: ast.Call) -> None:
        """A call of a method of a list, a table or a text."""
        if not isinstance(node.func, ast.Attribute) or node.keywords:
            self.refuse(node, f"the call `{ast.unparse(node)[:60]}`")
        name = node.func.attr
        if name == "get" and len(node.args) in (1, 2):
            for part in (node.func.value, *node.args):
                self.expression(part)
            self.emit("builtin", ("get", 1 + len(node.args)))
            return
        if name != "append" and name not in METHODS:
            self.refuse(node, f"the method {name[:40]}")
        count = 1 if name == "append" else METHODS[name][1]
        if len(node.args) != count:
            self.refuse(node, f"the method {name} with {len(node.args)} arguments")
        self.expression(node.func.value)
        for argument in node.args:
            if name == "join" and isinstance(argument, ast.GeneratorExp):
                self.comprehension(argument)
            else:
                self.expression(argument)
        self.line = node.lineno
        self.emit("append" if name == "append" else "method", name)


def _flag(node: ast.expr) -> bool | None:
    """A truth value that is written out; None for everything else."""
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, bool) else None


def _element_key(node: ast.expr) -> tuple[ast.Name, bool] | None:
    """The list of ``lambda i: xs[i]`` or ``xs.__getitem__``, and whether the sign is another one; None for another function."""
    match node:
        case ast.Attribute(value=ast.Name() as listed, attr="__getitem__"):
            return listed, False
        case ast.Lambda(
            args=ast.arguments(
                posonlyargs=[], args=[ast.arg(arg=name)], vararg=None, kwonlyargs=[], kwarg=None, defaults=[]
            )
        ):
            body, negative = node.body, False
            if isinstance(body, ast.UnaryOp) and isinstance(body.op, ast.USub):
                body, negative = body.operand, True
            match body:
                case ast.Subscript(value=ast.Name() as listed, slice=ast.Name(id=index)) if index == name != listed.id:
                    return listed, negative
    return None
