"""Calls of what Python brings along: the built-in functions, and some of ``math``, ``itertools``, ``functools`` and ``numpy``.

Sequences of which only the elements matter (``range``, ``reversed``, ``zip``, ``map``, ...) stand wherever a function takes all
elements at once; a loop over one is `language.loops`.
"""

from __future__ import annotations

import ast
import copy
from abc import abstractmethod
from collections.abc import Callable

from privproof.errors import LanguageError
from privproof.language.arrays import BuiltIn
from privproof.language.data_keys import DataKeys
from privproof.language.folding import Unfoldable
from privproof.language.linear import CURVES
from privproof.language.resolving import ResolvedName, Unusable
from privproof.language.sources import UNFORESEEN
from privproof.language.syntax import (
    Assign,
    Constant,
    Element,
    Expression,
    Operation,
    Statement,
    Variable,
    index_loop,
)

BUILTINS = ("abs", "all", "any", "bool", "int", "len", "list", "max", "min", "sorted", "sum", "tuple")
MORE_BUILTINS = ("dict", "divmod", "format", "frozenset", "pow", "repr", "round", "set", "str")
_SEVERAL = ("max", "min", "sum")
_EAGER = ("all", "any", "list", "max", "min", "sorted", "sum", "tuple")
_LISTED = ("list of", "tuple of")


class Calls(DataKeys):
    """Reads calls of functions that Python brings along."""

    made: dict[int, ast.ListComp]
    """Lists that are made only for a call that looks for their largest element, by the number of the call."""

    @abstractmethod
    def extreme(self, node: ast.AST, name: str, over: ast.expr, by: ast.Lambda, out: list[Statement]) -> Expression:
        """``max`` or ``min`` by a key."""

    @abstractmethod
    def fold(self, node: ast.AST, name: str, generator: ast.GeneratorExp, out: list[Statement]) -> Expression:
        """``sum``, ``any`` or ``all`` of a generator."""

    @abstractmethod
    def largest(self, node: ast.AST, held: ast.ListComp, out: list[Statement]) -> Expression:
        """Where a list that a comprehension makes has its first largest element."""

    def found(self, node: ast.expr) -> ResolvedName | None:
        """What a name outside stands for; None if it is nothing that a mechanism may use."""
        root = node
        while isinstance(root, ast.Attribute):
            root = root.value
        inside = isinstance(root, ast.Name) and root.id in self.names and root.id not in self.generators
        if not isinstance(root, ast.Name) or (inside and not isinstance(root, BuiltIn)):
            return None
        try:
            return self.meaning(node)
        except (LanguageError, Unusable):
            return None

    def known(self, node: ast.expr, name: str) -> bool:
        """Whether an expression is the call of a built-in function, and not of something else by that name."""
        return (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Name)
            and node.func.id == name
            and self.built_in(node.func) == name
        )

    def built_in(self, node: ast.expr) -> str | None:
        """The built-in function that a name outside stands for."""
        found = self.found(node)
        return str(found.value) if found is not None and found.kind == "builtin" else None

    def library_called(self, node: ast.expr) -> str | None:
        """The function of a library that an expression calls."""
        if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name | ast.Attribute):
            return None
        found = self.found(node.func)
        return str(found.value) if found is not None and found.kind == "library" else None

    def sequence(self, node: ast.expr, out: list[Statement]) -> Expression:
        """An expression where only its elements matter, so that it may be a range, or what walks over other sequences."""
        here = self.place(node)
        if isinstance(node, ast.GeneratorExp):
            return self.comprehension(node, out)
        if isinstance(node, ast.Name) and node.id in self.tables:
            return Operation("list of", tuple(self.keys_of(node, self.tables[node.id], here)), here)
        if not isinstance(node, ast.Call):
            return self.expression(node, out)
        name = self.built_in(node.func) if isinstance(node.func, ast.Name) else None
        plain = not any(isinstance(argument, ast.Starred) for argument in node.args)
        match name, node.args:
            case "range", bounds:
                numbers = tuple(Operation("whole", (self.expression(a, out),), self.place(a)) for a in bounds)
                return Operation("range", numbers, here)
            case "reversed", [inner] if plain and not node.keywords:
                return Operation("reversed", (self.sequence(inner, out),), here)
            case "zip", lists if plain and not node.keywords:
                return Operation("zip", tuple(self.sequence(each, out) for each in lists), here)
            case "enumerate", [inner, *start] if plain and len(start) + len(node.keywords) <= 1:
                begin = [*start, *(k.value for k in node.keywords if k.arg == "start")]
                if len(begin) == len(start) + len(node.keywords):
                    first = self.sequence(inner, out)
                    number = self.expression(begin[0], out) if begin else Constant(0, here)
                    return Operation("enumerate", (first, number), here)
            case "map" | "filter", [function, over] if plain and not node.keywords:
                return self.comprehension(self.mapped(node, str(name), function, over), out)
        called = self.library_called(node)
        if called in ("itertools.accumulate", "numpy.cumsum") and len(node.args) == 1 and not node.keywords and plain:
            return Operation("accumulate", (self.sequence(node.args[0], out),), here)
        return self.expression(node, out)

    def mapped(self, node: ast.Call, name: str, function: ast.expr, over: ast.expr) -> ast.GeneratorExp:
        """``map(f, xs)`` and ``filter(f, xs)`` as a comprehension."""
        item = ast.Name(self.shared.name("u").replace("#", "_each_"), ast.Store())
        read = ast.Name(item.id, ast.Load())
        applied = self.applied(function, read)
        if applied is None:
            self.refuse(function, f"this function in {name}", "a lambda, or the name of a function")
        made = (
            ast.GeneratorExp(applied, [ast.comprehension(item, over, [], 0)])
            if name == "map"
            else ast.GeneratorExp(read, [ast.comprehension(item, over, [applied], 0)])
        )
        return ast.fix_missing_locations(ast.copy_location(made, node))

    def applied(self, function: ast.expr, argument: ast.Name) -> ast.expr | None:
        """The call of a function of one argument, as an expression; None where it is no such function."""
        match function:
            case ast.Lambda(
                args=ast.arguments(args=[only], posonlyargs=[], kwonlyargs=[], vararg=None, kwarg=None)
            ) if not function.args.defaults:
                return _Renamed(only.arg, argument.id).visit(_copied(function.body))  # type: ignore[no-any-return]
            case ast.Attribute(value=ast.Name(id=name), attr="get") if name in self.tables or name in self.counters:
                return ast.Subscript(ast.Name(name, ast.Load()), argument, ast.Load())
            case ast.Attribute(value=ast.Name(id=name), attr="__getitem__") if name in self.names:
                return ast.Subscript(ast.Name(name, ast.Load()), argument, ast.Load())
            case ast.Attribute(value=ast.Name(id=name), attr="count") if name in self.names:
                return ast.Call(_copied(function), [argument], [])
            case ast.Name() | ast.Attribute():
                return ast.Call(_copied(function), [argument], [])
        return None

    def spread_out(self, node: ast.Tuple | ast.List, elements: list[ast.expr], out: list[Statement]) -> Expression:
        """A list or tuple with stars in it: the parts, one after the other."""
        here = self.place(node)
        made = "list" if isinstance(node, ast.List) else "tuple"
        whole: Expression | None = None
        for element in elements:
            part: Expression = (
                Operation(made, (self.sequence(element.value, out),), here)
                if isinstance(element, ast.Starred)
                else Operation(f"{made} of", (self.expression(element, out),), here)
            )
            whole = part if whole is None else Operation("+", (whole, part), here)
        assert whole is not None
        return whole

    def table_built(self, node: ast.DictComp, out: list[Statement]) -> Expression:
        """A comprehension of a table whose keys are not known while it is read: entry by entry, in a loop."""
        here = self.place(node)
        kept = self.shared.name("l")
        out.append(Assign(kept, Operation("table of", (), here), here))

        def add(inner: list[Statement]) -> None:
            known, value = self.expression(node.key, inner), self.expression(node.value, inner)
            inner.append(Assign(kept, Operation("with entry", (Variable(kept, here), known, value), here), here))

        self.generate(node, node.generators, add, out)
        return Variable(kept, here)

    def view(self, node: ast.Call, function: ast.Attribute, out: list[Statement]) -> Expression | None:
        """``items``, ``keys``, ``values`` and ``get`` of a table; None for any other method."""
        here = self.place(node)
        if node.keywords or any(isinstance(argument, ast.Starred) for argument in node.args):
            return None
        if function.attr in ("items", "keys", "values") and not node.args:
            return Operation(function.attr, (self.expression(function.value, out),), here)
        if function.attr == "get" and len(node.args) in (1, 2):
            given = [self.expression(each, out) for each in (function.value, *node.args)]
            return Operation("get", (*given, *([Constant(None, here)] if len(given) == 2 else [])), here)
        return None

    def popped(self, node: ast.Call, function: ast.Attribute, out: list[Statement]) -> Expression | None:
        """``xs.pop()`` where it is all of a statement's value; None for any other list."""
        here = self.place(node)
        if not isinstance(function.value, ast.Name) or function.value.id not in self.names or len(node.args) > 1:
            return None
        name = self.names[function.value.id]
        if name in self.shared.given or node.keywords or function.value.id in self.tables:
            return None
        index = self.kept(self.expression(node.args[0], out) if node.args else Constant(-1, here), out, here)
        taken = self.shared.name("k")
        out.append(Assign(taken, Element(Variable(name, here), index, here), here))
        out.append(Assign(name, Operation("without", (Variable(name, here), index), here), here))
        return Variable(taken, here)

    def builtin(self, node: ast.Call, name: str, out: list[Statement]) -> Expression:
        """A call of one of the functions that take numbers and sequences."""
        here = self.place(node)
        if name == "int" and len(node.args) == 1 and self.is_whole(node.args[0]):
            return self.expression(node.args[0], out)
        keywords = {str(k.arg): k.value for k in node.keywords}
        extra = keywords.pop("default", None) if name in ("min", "max") else None
        given = list(node.args)
        by = keywords.get("key")
        if name in ("max", "min") and len(given) == 1 and by is not None and len(keywords) == 1 and extra is None:
            return self.extreme(node, name, given[0], self.one_argument(by), out)
        if name == "sorted" and len(given) == 1 and keywords.keys() <= {"reverse", "key"} and keywords:
            return self.ordered(node, given[0], keywords, out)
        if name == "sum" and "start" in keywords:
            given.append(keywords.pop("start"))
        if keywords:
            self.refuse(node, f"{name} with {', '.join(keywords)}", f"a loop, or {name} without it")
        if len(given) != 1 and name not in _SEVERAL and not (name in ("list", "tuple") and not given):
            self.refuse(node, f"{name} with {len(given)} arguments", f"{name}(x)")
        if name == "sum" and len(given) == 1:
            part = self.part_of_list(given[0])
            given = given if part is None else [part]
        generator = given[0] if len(given) == 1 else None
        plain = isinstance(generator, ast.ListComp) and isinstance(generator.elt, ast.Name | ast.Constant)
        if self.shared.ordinary and name == "len" and plain:
            assert isinstance(generator, ast.ListComp)
            counted = ast.GeneratorExp(ast.copy_location(ast.Constant(1), generator.elt), generator.generators)
            return self.fold(node, "sum", ast.copy_location(counted, generator), out)
        if isinstance(generator, ast.GeneratorExp) and name in ("sum", "any", "all"):
            return self.fold(node, name, generator, out)
        measured = name == "len" and (self.known(given[0], "range") or isinstance(given[0], ast.Name))
        floats = [type(self.foreseen(each)) is float for each in given]
        if name in ("max", "min") and len(given) > 1 and any(floats):
            others = [self.expression(each, out) for each, known in zip(given, floats, strict=True) if not known]
            read = self.number if self.is_noisy(*others) else self.expression  # which refuses a float
            rest = iter(others)
            arguments = [read(each, out) if known else next(rest) for each, known in zip(given, floats, strict=True)]
        elif name in _EAGER or measured:
            arguments = [self.sequence(each, out) if len(given) == 1 else self.expression(each, out) for each in given]
        else:
            arguments = [self.expression(each, out) for each in given]
        if extra is not None:
            return Operation(f"{name} or", (*arguments, self.expression(extra, out)), here)
        return _simplified(Operation(name, tuple(arguments), here))

    def part_of_list(self, node: ast.expr) -> ast.GeneratorExp | None:
        """The elements of ``data[1:]``, as those of all of the list whose index fits; None for anything else."""
        match node:
            case ast.Subscript(value=ast.Name(id=name) as whole, slice=ast.Slice(lower=lower, upper=upper, step=None)):
                pass
            case _:
                return None
        ends = [None if end is None else self.foreseen(end) for end in (lower, upper)]
        numbers = all(end is None or (type(end) is int and end >= 0) for end in ends)
        if not numbers or self.names.get(name) not in self.shared.lists or not self.shared.ordinary:
            return None
        index, item = (self.shared.name("u").replace("#", "_each_") for _ in range(2))
        at = ast.Name(index, ast.Load())
        tests = [
            ast.Compare(at, [sign], [end]) for sign, end in ((ast.GtE(), lower), (ast.Lt(), upper)) if end is not None
        ]
        target = ast.Tuple([ast.Name(index, ast.Store()), ast.Name(item, ast.Store())], ast.Store())
        walked = ast.Call(BuiltIn("enumerate", ast.Load()), [whole], [])
        made = ast.GeneratorExp(ast.Name(item, ast.Load()), [ast.comprehension(target, walked, list(tests), 0)])
        return ast.fix_missing_locations(ast.copy_location(made, node))

    def is_whole(self, node: ast.expr) -> bool:
        """Whether an expression is the index of a largest element, which is a whole number already."""
        return id(node) in self.made or self.library_called(node) in ("numpy.argmax", "numpy.argmin")

    def one_argument(self, function: ast.expr) -> ast.Lambda:
        """A key as a lambda."""
        if isinstance(function, ast.Lambda):
            return function
        item = ast.Name(self.shared.name("u").replace("#", "_each_"), ast.Load())
        applied = self.applied(function, item)
        if applied is None:
            self.refuse(function, "this key", "key=lambda x: ...")
        taken = ast.arguments(posonlyargs=[], args=[ast.arg(item.id)], kwonlyargs=[], kw_defaults=[], defaults=[])
        return ast.fix_missing_locations(ast.copy_location(ast.Lambda(taken, applied), function))

    def key_parameter(self, by: ast.Lambda) -> str:
        """The one parameter of a key."""
        given = by.args
        if (
            len(given.args) != 1
            or given.defaults
            or given.vararg
            or given.kwarg
            or given.kwonlyargs
            or given.posonlyargs
        ):
            self.refuse(by, "a key of more than one parameter", "key=lambda x: ...")
        return given.args[0].arg

    def ordered(
        self, node: ast.Call, over: ast.expr, keywords: dict[str, ast.expr], out: list[Statement]
    ) -> Expression:
        """``sorted`` with a key, or turned around."""
        here = self.place(node)
        reverse = (
            self.expression(keywords["reverse"], out) if "reverse" in keywords else Constant(value=False, place=here)
        )
        if "key" not in keywords and isinstance(reverse, Constant):
            return Operation("sorted down" if reverse.value else "sorted", (self.sequence(over, out),), here)
        walked = self.kept(Operation("list", (self.sequence(over, out),), here), out, here)
        if "key" not in keywords:
            return Operation("sorted by", (walked, walked, reverse), here)
        assert isinstance(walked, Variable)
        by = self.one_argument(keywords["key"])
        kept, at = self.shared.name("l"), self.shared.name("i")
        count = Variable(at, here)
        parameter = self.key_parameter(by)
        with self.inner_names([parameter]):
            body: list[Statement] = [Assign(self.names[parameter], Element(walked, count, here), here)]
            value = self.expression(by.body, body)
        body.append(
            Assign(kept, Operation("+", (Variable(kept, here), Operation("list of", (value,), here)), here), here)
        )
        out += [Assign(kept, Operation("list of", (), here), here), Assign(at, Constant(0, here), here)]
        out.append(index_loop(count, walked, body))
        return Operation("sorted by", (walked, Variable(kept, here), reverse), here)

    def first_in_order(
        self, node: ast.Call, count: ast.expr, over: ast.expr, out: list[Statement], *, largest: bool
    ) -> Expression | None:
        """``heapq.nlargest`` and ``heapq.nsmallest``: the first elements of a list that is sorted; None where it is open how many."""
        here, known = self.place(node), self.foreseen(count)
        if type(known) is not int or known < 0:
            return None
        turned = ast.copy_location(ast.Constant(largest), node)
        keywords = {"reverse": turned, **{str(each.arg): each.value for each in node.keywords}}
        ordered = self.ordered(node, over, keywords, out)
        return Operation("slice", (ordered, Constant(None, here), Constant(known, here)), here)

    def more_built_in(self, node: ast.Call, name: str, out: list[Statement]) -> Expression:
        """A call of one of the functions that make texts, sets, tables and whole numbers."""
        here = self.place(node)
        if node.keywords and name != "dict":
            self.refuse(node, f"{name} with {node.keywords[0].arg}", f"{name}(x)")
        match name, node.args:
            case "round", [value] | [value, _]:
                digits = [self.expression(each, out) for each in node.args[1:]]
                return Operation("round", (self.expression(value, out), *digits), here)
            case "str" | "repr", [value]:
                return self.piece(value, "!s" if name == "str" else "!r", out, here)
            case "format", [value] | [value, _]:
                how = self.foreseen_text(node.args[1]) if len(node.args) == 2 else ""
                if how is not None:
                    return self.piece(value, f":{how}", out, here)
            case "pow", [base, exponent]:
                return Operation("**", (self.expression(base, out), self.expression(exponent, out)), here)
            case "divmod", [left, right]:
                sides = tuple(self.kept(self.expression(each, out), out, here) for each in (left, right))
                return Operation("tuple of", (Operation("//", sides, here), Operation("%", sides, here)), here)
            case "set" | "frozenset", []:
                return Operation("set", (), here)
            case "set" | "frozenset", [value]:
                return Operation("set", (self.sequence(value, out),), here)
            case "dict", [ast.Name(id=table)] if table in self.tables and not node.keywords:
                return self.whole_table(node, self.tables[table], here)
            case "dict", []:
                if all(k.arg is not None for k in node.keywords):
                    rows = [(Constant(k.arg, here), self.expression(k.value, out)) for k in node.keywords]
                    return Operation("table of", tuple(part for row in rows for part in row), here)
            case "dict", [value] if not node.keywords and self.known(value, "zip"):
                assert isinstance(value, ast.Call)
                if len(value.args) == 2 and not value.keywords:
                    return self.table_built(self.zipped_table(value), out)
        self.refuse(node, f"{name} with these arguments", f"{name}(x)")

    def zipped_table(self, node: ast.Call) -> ast.DictComp:
        """``dict(zip(keys, values))`` as a comprehension."""
        names = [self.shared.name("u").replace("#", "_each_") for _ in range(2)]
        key, value = (ast.Name(name, ast.Load()) for name in names)
        target = ast.Tuple([ast.Name(name, ast.Store()) for name in names], ast.Store())
        made = ast.DictComp(key, value, [ast.comprehension(target, node, [], 0)])
        return ast.fix_missing_locations(ast.copy_location(made, node))

    def library_value(self, node: ast.Call, name: str, out: list[Statement]) -> Expression | None:
        """The call of a function of a library that draws nothing; None for those that do."""
        here = self.place(node)
        given = node.args
        if any(isinstance(argument, ast.Starred) for argument in given):
            return None
        if name.startswith("math.") or name in ("numpy.floor", "numpy.ceil"):
            try:
                known = self.compute(node)
            except Unfoldable:
                known = UNFORESEEN
            whole = name.removeprefix("math.")
            if known is UNFORESEEN and whole in ("floor", "ceil", "trunc") and len(given) == 1 and not node.keywords:
                return Operation(whole, (self.expression(given[0], out),), here)
            if type(known) in (int, bool):
                return Constant(known, here)
        if name in ("numpy.round", "numpy.around", "numpy.rint") and len(given) in (1, 2) and not node.keywords:
            value, *digits = (self.expression(each, out) for each in given)
            if self.is_noisy(value):
                return Operation("round", (value, *digits), here)
        library, _, short = name.rpartition(".")
        plain = len(given) == 1 and not node.keywords and not self.shared.tried  # its errors end the run
        if plain and library in ("math", "numpy") and short in CURVES:
            value = self.expression(given[0], out)
            if self.is_noisy(value):
                return Operation("curve", (Constant(name, here), value), here)
        match name, given:
            case "functools.reduce", [ast.Lambda() as function, over, *start] if not node.keywords and len(start) < 2:
                return self.reduced(node, function, over, start, out)
            case "numpy.argmax", [ast.Name(id=named)] if not node.keywords and named in self.tables:
                keys = self.keys_of(given[0], self.tables[named], here)
                return self.first_largest([Constant(i, here) for i in range(len(keys))], keys, ">", out, here)
            case (("numpy.argmax" | "numpy.argmin" | "numpy.argsort"), [ast.Name() | ast.ListComp() as inner]) if (
                not node.keywords
            ):
                return Operation(name.removeprefix("numpy."), (self.expression(inner, out),), here)
            case (("heapq.nlargest" | "heapq.nsmallest"), [count, over]) if {k.arg for k in node.keywords} <= {"key"}:
                return self.first_in_order(node, count, over, out, largest=name == "heapq.nlargest")
            case "itertools.accumulate", [inner] if not node.keywords:
                self.refuse(node, "accumulate outside a loop", "list(itertools.accumulate(xs))")
            case (("collections.Counter" | "collections.defaultdict"), _):
                self.refuse(
                    node, f"{name.rpartition('.')[2]} in this place", "counts = Counter(data), then counts[key]"
                )
        return None

    @abstractmethod
    def reduced(
        self, node: ast.Call, function: ast.Lambda, over: ast.expr, start: list[ast.expr], out: list[Statement]
    ) -> Expression:
        """``functools.reduce`` as a loop."""

    @abstractmethod
    def generate(
        self,
        node: ast.AST,
        generators: list[ast.comprehension],
        last: Callable[[list[Statement]], None],
        out: list[Statement],
        *,
        nested: bool = False,
    ) -> None:
        """The nested loops of a comprehension."""

    def text_made(self, node: ast.Call, out: list[Statement]) -> Expression | None:
        """``dict.fromkeys(KEYS, value)``, where the keys are known; None for any other call."""
        here = self.place(node)
        match node.func:
            case ast.Attribute(value=ast.Name(id="dict"), attr="fromkeys") if "dict" not in self.names:
                made = self.entries_of(node, None, out, here)
                if made is None:
                    return None
                entries: list[Expression] = []
                for key, value in made[1]:
                    entries += [self.fixed(node, key, here), value(out) if callable(value) else value]
                return Operation("table of", tuple(entries), here)
        return None


def _simplified(operation: Operation) -> Expression:
    """``max``, ``min``, ``sum`` and ``len`` of a list that is written out, without the list."""
    match operation:
        case Operation("max" | "min" as name, (Operation(listed, parts),), place) if (
            listed in _LISTED and len(parts) > 1
        ):
            return Operation(name, parts, place)
        case Operation("list" | "tuple" as name, (Operation(listed, parts),), place) if listed in _LISTED:
            return Operation(f"{name} of", parts, place)
        case Operation("len", (Operation(listed, parts),), place) if listed in _LISTED:
            return Constant(len(parts), place) if all(isinstance(p, Variable | Constant) for p in parts) else operation
        case Operation("sum", (Operation(listed, (first, *rest)),), place) if listed in _LISTED:
            total: Expression = Operation("+", (Constant(0, place), first), place)
            for part in rest:
                total = Operation("+", (total, part), place)
            return total
        case _:
            return operation


def _copied(node: ast.expr) -> ast.expr:
    """A copy of an expression, which may be changed."""
    return copy.deepcopy(node)


class _Renamed(ast.NodeTransformer):
    """An expression in which a name is another one."""

    def __init__(self, old: str, new: str) -> None:
        self.old, self.new = old, new

    def visit_Name(self, node: ast.Name) -> ast.AST:
        return ast.copy_location(ast.Name(self.new, node.ctx), node) if node.id == self.old else node

    def visit_Lambda(self, node: ast.Lambda) -> ast.AST:
        return node
