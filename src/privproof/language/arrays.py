"""Arrays of numpy, as lists: what is done to an array at once is done to its elements one by one.

``data + np.random.laplace(0, s, size=len(data))`` becomes ``[x + np.random.laplace(0, s) for x in data]``, ``(data > 30).sum()`` becomes
``sum(1 for x in data if x > 30)``, ``data[data == v]`` a comprehension with a condition.  The rewriting is one of syntax trees, before
anything is translated; where it does not know that two arrays have the same length, or what an expression is, it leaves the
expression alone, and the reader refuses it.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TypeVar

from privproof.language.kept_noise import NoiseReading, Put, beside, index_of, is_stored

Node = TypeVar("Node", bound=ast.AST)

SAME_LENGTH = "size"
"""What all input lists of open length share."""
_COMBINED: dict[type[ast.operator], type[ast.boolop]] = {ast.BitAnd: ast.And, ast.BitOr: ast.Or}
_CENTERED = ("numpy.random.laplace", "numpy.random.normal", "numpy.random.gumbel")
_NOISE = (
    *_CENTERED,
    "numpy.random.exponential",
    "scipy.stats.laplace.rvs",
    "scipy.stats.norm.rvs",
    "scipy.stats.expon.rvs",
    "scipy.stats.gumbel_r.rvs",
)
_SIZE_AT = {"numpy.random.exponential": 1} | dict.fromkeys(
    (*_CENTERED, "scipy.stats.laplace.rvs", "scipy.stats.norm.rvs", "scipy.stats.gumbel_r.rvs"), 2
)
_PLACES = ("numpy.argmax", "numpy.argmin", "numpy.argsort")
_OF_NUMBERS = {"numpy.clip": "clip", "numpy.absolute": "abs", "numpy.maximum": "max", "numpy.minimum": "min"}
_TOTALS = {"sum": "numpy.sum", "max": "numpy.max", "min": "numpy.min", "any": "numpy.any", "all": "numpy.all"}


@dataclass(frozen=True)
class Vector:
    """An array, element by element.

    Attributes:
        base: the list that is walked over; None for one that is only noise.
        length: what the length is, if that is known: the name of a list, or a number.
        element: an element, in terms of `name`.
        name: what an element of the base is called.
        tests: which elements are kept.
        mask: whether the elements are truth values.
    """

    base: ast.expr | None
    length: object
    element: ast.expr
    name: str
    tests: tuple[ast.expr, ...] = ()
    mask: bool = False


class Arrays:
    """Rewrites expressions about arrays.

    Args:
        names: the inputs that are arrays, each with what its length is.
        called: the function of a library that an expression calls.
        fresh: makes a name that nothing else has.
        unchanged: the names of lists that the function never changes.
        lists: the names of lists that are given to it.
        changing: the names of the function's own that may change.
        once: the names that are assigned once.
        made: the length of an array that an expression makes, if that is known.
        reading: where a name is read, if that is one place.
        refuse: refuses an array in a place in which it is not followed.
    """

    def __init__(
        self,
        names: dict[str, object],
        called: Callable[[ast.expr], str | None],
        fresh: Callable[[], str],
        unchanged: frozenset[str] = frozenset(),
        lists: frozenset[str] = frozenset(),
        changing: frozenset[str] = frozenset(),
        once: frozenset[str] = frozenset(),
        made: Callable[[ast.expr], int | None] = lambda _: None,
        reading: Callable[[str], NoiseReading | None] = lambda _: None,
        refuse: Callable[[ast.AST], None] = lambda _: None,
    ) -> None:
        self.names = dict(names)
        self.lengths: dict[str, object] = {}
        self.aliases: dict[str, str] = {}
        self.unchanged = unchanged
        self.lists = lists
        self.called = called
        self.fresh = fresh
        self.met = bool(names)
        self.changing = changing
        self.once = once
        self.made = made
        self.reading = reading
        self.refuse = refuse
        self.noises: dict[str, tuple[Vector, NoiseReading]] = {}

    def statement(self, node: ast.stmt) -> ast.stmt:
        """A statement without arrays; what is inside of its blocks is rewritten when its time comes."""
        match node:
            case ast.Assign(targets=[ast.Name(id=name)], value=value):
                length = self.length_of(value)
                if isinstance(value, ast.Name) and value.id in self.names and not {name, value.id} <= self.unchanged:
                    self.refuse(value)
                found = self.vector(value)
                self.names.pop(name, None)
                self.lengths.pop(name, None)
                self.aliases.pop(name, None)
                if found is not None and isinstance(found.base, ast.Name) and isinstance(found.element, ast.Name):
                    same = found.base.id
                    if not found.tests and (same == name or (same in self.unchanged and name in self.unchanged)):
                        self.names[name] = found.length
                        if same != name:
                            self.aliases[name] = same
                        return _located(ast.Pass(), node)
                if found is not None and self.kept(name, found):
                    return _located(ast.Pass(), node)
                if found is not None:
                    self.names[name] = found.length if not found.tests else None
                    return _located(ast.Assign(list(node.targets), self.listed(found)), node)
                if length is not None:
                    self.lengths[name] = length
                many = self.made(value)
                if many is not None and name in self.once:
                    self.names[name] = many
                return _located(ast.Assign(list(node.targets), self.plain(value)), node)
            case ast.Assign(value=value):
                return _located(ast.Assign(list(node.targets), self.plain(value)), node)
            case ast.AugAssign(target=ast.Name(id=name) as target, op=op, value=value) if name in self.names:
                whole = ast.BinOp(ast.Name(name, ast.Load()), op, value)
                return self.statement(_located(ast.Assign([target], whole), node))
            case ast.AugAssign(target=target, op=op, value=value):
                return _located(ast.AugAssign(target, op, self.plain(value)), node)
            case ast.Return(value=value) if value is not None:
                found = self.vector(value)
                made = self.plain(value) if found is None else self.listed(found)
                return _located(ast.Return(made), node)
            case ast.Expr(value=value):
                return _located(ast.Expr(self.plain(value)), node)
            case ast.If(test=test):
                return _located(ast.If(self.plain(test), node.body, node.orelse), node)
            case ast.For(iter=over):
                drawn = self.drawn_each_turn(node)
                if drawn is not None:
                    return self.statement(drawn)
                found = self.vector(over)
                walked = self.plain(over) if found is None else self.listed(found)
                return _located(ast.For(node.target, walked, node.body, node.orelse), node)
            case _:
                return node

    def plain(self, node: ast.expr) -> ast.expr:
        """An expression that is no array, without the arrays inside it."""
        found = self.number(node)
        if found is not None:
            return _located(found, node)
        if isinstance(node, ast.Name) and node.id in self.noises:
            self.refuse(node)
        if isinstance(node, ast.Name) and node.id in self.aliases and isinstance(node.ctx, ast.Load):
            return _located(ast.Name(self.aliases[node.id], ast.Load()), node)
        if isinstance(node, ast.ListComp | ast.GeneratorExp):
            node = self.drawn_each_time(node)
        result = copy.copy(node)
        for field, value in ast.iter_fields(node):
            if isinstance(value, ast.expr):
                setattr(result, field, self.plain(value))
            elif isinstance(value, list):
                setattr(result, field, [self.plain(v) if isinstance(v, ast.expr) else v for v in value])
            if field == "keywords":
                setattr(
                    result, field, [_located(ast.keyword(k.arg, self.plain(k.value)), k) for k in getattr(node, field)]
                )
        return result

    def vector(self, node: ast.expr) -> Vector | None:
        """An expression as an array; None if it is none, or none that is known."""
        match node:
            case ast.Name(id=name) if name in self.noises and self.noises[name][1].loop is None:
                return self.noises[name][0]
            case ast.Name(id=name) if name in self.names:
                each = self.fresh()
                base = ast.Name(self.aliases.get(name, name), ast.Load())
                return Vector(base, self.names[name], ast.Name(each, ast.Load()), each)
            case ast.BinOp(left=left, op=op, right=right) if not isinstance(op, ast.MatMult):
                return self.combined(left, right, lambda a, b, sign=op: ast.BinOp(a, sign, b), op=op)  # type: ignore[misc]
            case ast.UnaryOp(op=sign, operand=operand):
                inner = self.vector(operand)
                if inner is None or isinstance(sign, ast.Not) or (isinstance(sign, ast.Invert) and not inner.mask):
                    return None
                turned = ast.Not() if isinstance(sign, ast.Invert) else sign
                return replace(inner, element=ast.UnaryOp(turned, inner.element))
            case ast.Compare(left=left, ops=[op], comparators=[right]) if not isinstance(
                op, ast.In | ast.NotIn | ast.Is | ast.IsNot
            ):
                found = self.combined(left, right, lambda a, b: ast.Compare(a, [op], [b]))
                return None if found is None else replace(found, mask=True)
            case ast.Subscript(value=held, slice=index) if not isinstance(index, ast.Slice | ast.Constant):
                return self.masked(held, index)
            case ast.Call(func=ast.Attribute(value=held, attr=method), args=args, keywords=[]):
                return self.method(node, held, method, args)
            case ast.Call():
                return self.function(node)
        return None

    def combined(
        self,
        left: ast.expr,
        right: ast.expr,
        make: Callable[[ast.expr, ast.expr], ast.expr],
        op: ast.operator | None = None,
    ) -> Vector | None:
        """Two arrays, or an array and a number, element by element."""
        one, other = self.vector(left), self.vector(right)
        if one is None and other is None:
            return None
        one, other = one or self.taken(left), other or self.taken(right)
        if op is not None and type(op) in _COMBINED:
            if one is None or other is None or not (one.mask and other.mask):
                return None
            joined = self.joined(one, other)
            if joined is None:
                return None
            base, first, second = joined
            return replace(base, element=ast.BoolOp(_COMBINED[type(op)](), [first, second]), mask=True)
        if isinstance(op, ast.BitXor | ast.LShift | ast.RShift | ast.FloorDiv | ast.Mod | ast.Pow):
            return None
        if one is None or other is None:
            held = one or other
            number = self.plain(right if one is not None else left)
            if held is None or not _steady(number) or (op is not None and held.mask):
                return None
            sides = (held.element, number) if one is not None else (number, held.element)
            return replace(held, element=make(*sides), mask=False)
        if op is not None and (one.mask or other.mask):
            return None
        joined = self.joined(one, other)
        if joined is None:
            return None
        base, first, second = joined
        return replace(base, element=make(first, second), mask=False)

    def joined(self, one: Vector, other: Vector) -> tuple[Vector, ast.expr, ast.expr] | None:
        """Two arrays of one length side by side: what is walked over, and an element of each."""
        if one.tests or other.tests:
            return None
        if one.length is None or one.length != other.length:
            return None
        if one.base is None or other.base is None:
            base = one if other.base is None else other
            return base, one.element, other.element
        if isinstance(one.base, ast.Name) and isinstance(other.base, ast.Name) and one.base.id == other.base.id:
            return one, one.element, _renamed(other.element, other.name, one.name)
        if not isinstance(one.base, ast.Name) or not isinstance(other.base, ast.Name):
            return None
        together = _call("zip", one.base, other.base)
        both = replace(one, base=together, name=f"{one.name} {other.name}")
        return both, one.element, other.element

    def masked(self, held: ast.expr, index: ast.expr) -> Vector | None:
        """``data[mask]``: the elements for which the mask holds."""
        inner, mask = self.vector(held), self.vector(index)
        if inner is None or mask is None or not mask.mask:
            return None
        joined = self.joined(inner, mask)
        if joined is None:
            return None
        base, element, test = joined
        return replace(base, element=element, tests=(test,), mask=inner.mask, length=None)

    def method(self, node: ast.Call, held: ast.expr, name: str, args: list[ast.expr]) -> Vector | None:
        """A method of an array that gives an array."""
        inner = self.vector(held)
        if inner is None:
            return self.function(node)
        match name, args:
            case "copy" | "tolist" | "flatten" | "ravel", []:
                return inner
            case "clip", [low, high] if not inner.mask:
                return self.clipped(inner, low, high)
            case "astype", [ast.Name(id="int" | "float")]:
                return replace(inner, element=_number(inner), mask=False) if inner.mask else inner
        return None

    def function(self, node: ast.Call) -> Vector | None:
        """A function of numpy that gives an array."""
        called, args = self.called(node), node.args
        if called in _NOISE:
            return self.noise(node, str(called))
        if node.keywords and called not in ("numpy.clip", "numpy.array", "numpy.asarray"):
            return None
        match called, args:
            case (("numpy.array" | "numpy.asarray"), [inner]) if all(k.arg == "dtype" for k in node.keywords):
                self.met = True
                found = self.vector(inner)
                if found is not None:
                    return found
                if isinstance(inner, ast.Name) and inner.id in self.lengths:
                    return None
                if isinstance(inner, ast.ListComp):
                    return self.comprehended(inner)
                each = self.fresh()
                length = self.given(inner)
                return (
                    None if length is None else Vector(copy.deepcopy(inner), length, ast.Name(each, ast.Load()), each)
                )
            case "numpy.clip", [inner, low, high] if not node.keywords:
                array = self.taken(inner)
                return None if array is None or array.mask else self.clipped(array, low, high)
            case "numpy.absolute", [inner]:
                array = self.taken(inner)
                if array is None or array.mask:
                    return None
                return replace(array, element=_call("abs", array.element))
            case (("numpy.maximum" | "numpy.minimum"), [left, right]):
                name = "max" if called == "numpy.maximum" else "min"
                return self.combined(left, right, lambda a, b: _call(name, a, b), op=ast.Add())
            case "numpy.where", [test, then, otherwise]:
                mask = self.vector(test)
                if mask is None or not mask.mask or mask.tests:
                    return None
                sides = [self.plain(each) for each in (then, otherwise)]
                arrays = [self.vector(each) for each in (then, otherwise)]
                if any(each is not None for each in arrays) or not all(map(_steady, sides)):
                    return None
                return replace(mask, element=ast.IfExp(mask.element, *sides), mask=False)
        return None

    def comprehended(self, node: ast.ListComp) -> Vector | None:
        """An array that is made of a list comprehension over one list."""
        match node.generators:
            case [ast.comprehension(target=ast.Name(id=name), iter=ast.Name() as base, ifs=[], is_async=0)]:
                length = self.given(base)
                return None if length is None else Vector(copy.deepcopy(base), length, copy.deepcopy(node.elt), name)
            case _:
                return None

    def taken(self, node: ast.expr) -> Vector | None:
        """An array, or a list that is given and that a function of numpy takes for one."""
        found = self.vector(node)
        if found is None and isinstance(node, ast.ListComp):
            self.met = True
            return self.comprehended(node)
        if found is not None or not isinstance(node, ast.Name) or node.id not in self.lists & self.unchanged:
            return found
        self.met = True
        each = self.fresh()
        return Vector(copy.deepcopy(node), ("list", node.id), ast.Name(each, ast.Load()), each)

    def given(self, node: ast.expr) -> object:
        """What the length of a list is that an array is made of."""
        if isinstance(node, ast.Name):
            return self.names.get(node.id, ("list", node.id))
        return None

    def noise(self, node: ast.Call, called: str) -> Vector | None:
        """Noise of a size: as many numbers as the size says, each drawn on its own."""
        place = _SIZE_AT.get(called)
        args = list(node.args)
        sizes = [k.value for k in node.keywords if k.arg == "size"]
        if place is not None and len(args) > place:
            sizes.append(args.pop(place))
        if len(sizes) != 1:
            centers = [*args[:1], *(k.value for k in node.keywords if k.arg == "loc")]
            if len(sizes) == 0 and called in _CENTERED and len(centers) == 1:
                center = self.vector(centers[0])
                if center is not None and not center.mask and not center.tests:
                    rest = [self.plain(each) for each in args[1:]]
                    named = [ast.keyword(k.arg, self.plain(k.value)) for k in node.keywords if k.arg != "loc"]
                    if all(map(_steady, (*rest, *(k.value for k in named)))):
                        made = ast.Call(node.func, [center.element, *rest], named)
                        return replace(center, element=_located(made, node))
            return None
        length = self.size(sizes[0])
        rest = [self.plain(each) for each in args]
        named = [ast.keyword(k.arg, self.plain(k.value)) for k in node.keywords if k.arg != "size"]
        if length is None or not all(map(_steady, (*rest, *(k.value for k in named)))):
            return None
        self.met = True
        return Vector(None, length, _located(ast.Call(node.func, rest, named), node), self.fresh())

    def size(self, node: ast.expr) -> object:
        """What a size is: the length of an array, or a number."""
        match node:
            case ast.Constant(value=int(number)) if not isinstance(number, bool):
                return number
            case ast.Name(id=name) if name in self.lengths:
                return self.lengths[name]
            case ast.Attribute(value=ast.Name(id=name), attr="shape" | "size") if name in self.names:
                return self.names[name]
            case ast.Tuple(elts=[inner]):
                return self.size(inner)
        return self.length_of(node)

    def length_of(self, node: ast.expr) -> object:
        """The length that an expression is: ``len(data)``, ``data.shape[0]``, ``data.size``."""
        match node:
            case ast.Call(func=ast.Name(id="len"), args=[ast.Name(id=name)], keywords=[]):
                return self.names.get(name, ("list", name))
            case ast.Subscript(
                value=ast.Attribute(value=ast.Name(id=name), attr="shape"), slice=ast.Constant(value=0)
            ) if name in self.names:
                return self.names[name]
            case ast.Attribute(value=ast.Name(id=name), attr="size") if name in self.names:
                return self.names[name]
        return None

    def kept(self, name: str, found: Vector) -> bool:
        """Whether noise that gets a name is drawn where it is read."""
        place = self.reading(name)
        moving = {part.id for part in ast.walk(found.element) if isinstance(part, ast.Name)} & self.changing
        if found.base is not None or place is None or moving or name not in self.unchanged:
            return False
        self.noises[name] = (found, place)
        return True

    def same_length(self, node: ast.expr, length: object) -> bool:
        """Whether an expression is a list, or a range, of a length."""
        match node:
            case ast.Name(id=name):
                return self.names.get(name, ("list", name)) == length
            case ast.Call(func=ast.Name(id="range"), args=[bound], keywords=[]):
                return self.size(bound) == length
        return False

    def drawn_each_turn(self, node: ast.For) -> ast.For | None:
        """A loop that reads one number of noise each turn, which is drawn in this turn; None for any other loop."""
        for name, (found, place) in self.noises.items():
            if place.loop is not node:
                continue
            split = beside(node.target, node.iter, name)
            if split is not None:
                target, over, number = split
                if not self.same_length(_first(over), found.length):
                    return None
                begin = _located(ast.Assign([ast.Name(number, ast.Store())], found.element), node)
                return _located(ast.For(target, over, [begin, *node.body], node.orelse), node)
            counted = index_of(node.target, node.iter)
            if counted is None or self.size(counted[1]) != found.length or is_stored(node.body, counted[0]):
                return None
            put = Put(found.element, name, counted[0])
            body = [put.visit(copy.deepcopy(each)) for each in node.body]
            return _located(ast.For(node.target, node.iter, body, node.orelse), node) if put.done == 1 else None
        return None

    def drawn_each_time(self, node: ast.ListComp | ast.GeneratorExp) -> ast.ListComp | ast.GeneratorExp:
        """A comprehension that reads one number of noise each turn, which is drawn there."""
        for name, (found, place) in self.noises.items():
            if place.loop is not node or len(node.generators) != 1 or node.generators[0].ifs:
                continue
            over = node.generators[0]
            split = beside(over.target, over.iter, name)
            if split is not None and self.same_length(_first(split[1]), found.length):
                put = Put(found.element, split[2])
                element, target, walked = put.visit(copy.deepcopy(node.elt)), split[0], split[1]
            else:
                counted = index_of(over.target, over.iter)
                if split is not None or counted is None or self.size(counted[1]) != found.length:
                    continue
                put = Put(found.element, name, counted[0])
                element, target, walked = put.visit(copy.deepcopy(node.elt)), over.target, over.iter
            if put.done == 1:
                return _located(type(node)(element, [ast.comprehension(target, walked, [], 0)]), node)
        return node

    def clipped(self, inner: Vector, low: ast.expr, high: ast.expr) -> Vector | None:
        """Numbers that are at least one bound and at most another."""
        bounds = [self.plain(each) for each in (low, high)]
        if not all(map(_steady, bounds)):
            return None
        return replace(inner, element=_call("min", _call("max", inner.element, bounds[0]), bounds[1]))

    def number(self, node: ast.expr) -> ast.expr | None:
        """An expression that makes a number of an array: its sum, its length; None for any other."""
        match node:
            case ast.Call(func=ast.Attribute(value=held, attr=name), args=[], keywords=[]) if name in _TOTALS:
                inner = self.vector(held)
                return None if inner is None else self.total(name, inner)
            case ast.Call(
                func=ast.Attribute(value=ast.Name() as held, attr="argmax" | "argmin" as name), args=[], keywords=[]
            ):
                inner = self.vector(held)
                return None if inner is None or inner.mask else self.place_of(name, self.plain(held))
            case ast.Call(func=ast.Name(id="len"), args=[held], keywords=[]):
                inner = self.vector(held)
                return None if inner is None or isinstance(held, ast.Name) else self.total("len", inner)
            case ast.Call(func=ast.Name(id="sum" | "max" | "min" | "any" | "all" as name), args=[held], keywords=[]):
                inner = self.vector(held)
                return None if inner is None else self.total(name, inner)
            case ast.Call(args=[held, *bounds], keywords=[]) if self.called(node) in _OF_NUMBERS:
                return self.of_numbers(str(self.called(node)), held, bounds)
            case ast.Call(args=[held], keywords=[]):
                called = self.called(node)
                inner = self.vector(held)
                if inner is None:
                    if called == "numpy.sum" and isinstance(held, ast.Name | ast.ListComp):
                        self.met = True
                        return _call("sum", self.plain(held))
                    return None
                for name, function in _TOTALS.items():
                    if called == function:
                        return self.total(name, inner)
                if called == "numpy.count_nonzero" and inner.mask:
                    return self.total("sum", inner)
                if called in _PLACES and not inner.mask and not isinstance(held, ast.Name):
                    return ast.Call(node.func, [self.listed(inner)], [])
            case ast.Subscript(
                value=ast.Attribute(value=ast.Name(id=name), attr="shape"), slice=ast.Constant(value=0)
            ) if name in self.names:
                return _call("len", self.plain(ast.Name(name, ast.Load())))
            case ast.Attribute(value=ast.Name(id=name), attr="size") if name in self.names:
                return _call("len", self.plain(ast.Name(name, ast.Load())))
        return None

    def of_numbers(self, called: str, held: ast.expr, bounds: list[ast.expr]) -> ast.expr | None:
        """What numpy does to a number as Python says it; None for arrays, and for lists, which it takes for arrays."""
        given = [held, *bounds]
        if any(isinstance(each, ast.List | ast.ListComp | ast.Tuple) or self.taken(each) is not None for each in given):
            return None
        self.met = True
        plain = [self.plain(each) for each in given]
        match _OF_NUMBERS[called], plain:
            case "clip", [number, low, high]:
                return _call("min", _call("max", number, low), high)
            case "abs", [number]:
                return _call("abs", number)
            case "max" | "min" as name, [one, other]:
                return _call(name, one, other)
        return None

    def place_of(self, name: str, held: ast.expr) -> ast.expr:
        """The first place of the largest or smallest element: ``max(range(len(xs)), key=lambda i: xs[i])``."""
        each = self.fresh()
        taken = ast.arguments(posonlyargs=[], args=[ast.arg(each)], kwonlyargs=[], kw_defaults=[], defaults=[])
        key = ast.Lambda(taken, ast.Subscript(copy.deepcopy(held), ast.Name(each, ast.Load()), ast.Load()))
        over = _call("range", _call("len", held))
        return ast.Call(BuiltIn(name.removeprefix("arg"), ast.Load()), [over], [ast.keyword("key", key)])

    def total(self, name: str, inner: Vector) -> ast.expr | None:
        """The sum, length, largest or smallest element of an array."""
        if inner.base is None:
            return None
        if name == "sum" and inner.mask:
            counted = replace(inner, element=ast.Constant(1), tests=(*inner.tests, inner.element), mask=False)
            return _call("sum", self.generated(counted))
        if name == "len":
            return _call("sum", self.generated(replace(inner, element=ast.Constant(1))))
        if name in ("any", "all") and not inner.mask:
            return None
        if isinstance(inner.base, ast.Name) and isinstance(inner.element, ast.Name) and not inner.tests:
            return _call(name, inner.base)
        return _call(name, self.generated(inner))

    def generated(self, inner: Vector) -> ast.GeneratorExp:
        """An array as what walks over it."""
        return ast.GeneratorExp(inner.element, [self.walked(inner)])

    def listed(self, inner: Vector) -> ast.expr:
        """An array as a list."""
        if isinstance(inner.base, ast.Name) and isinstance(inner.element, ast.Name) and not inner.tests:
            return _call("list", inner.base)
        return ast.ListComp(inner.element, [self.walked(inner)])

    def walked(self, inner: Vector) -> ast.comprehension:
        names = [ast.Name(each, ast.Store()) for each in inner.name.split()]
        target: ast.expr = names[0] if len(names) == 1 else ast.Tuple(list(names), ast.Store())
        base = inner.base
        if base is None:
            base = _call("range", self.written(inner.length))
        return ast.comprehension(target, base, list(inner.tests), 0)

    def written(self, length: object) -> ast.expr:
        """A length as an expression."""
        if isinstance(length, int):
            return ast.Constant(length)
        if isinstance(length, tuple):
            return _call("len", ast.Name(length[1], ast.Load()))
        held = next(name for name, known in self.names.items() if known == length)
        return _call("len", ast.Name(held, ast.Load()))


def _first(over: ast.expr) -> ast.expr:
    """What is walked over, of several side by side the first."""
    match over:
        case ast.Call(func=ast.Name(id="zip"), args=[first, *_]):
            return first
    return over


def _number(inner: Vector) -> ast.expr:
    return ast.IfExp(inner.element, ast.Constant(1), ast.Constant(0))


class BuiltIn(ast.Name):
    """The name of a built-in function that the rewriting calls, whatever stands under this name."""


BuiltIn.__name__ = "Name"  # by which ast finds how to write it


def _call(name: str, *arguments: ast.expr) -> ast.expr:
    return ast.Call(BuiltIn(name, ast.Load()), list(arguments), [])


def _steady(node: ast.expr) -> bool:
    """Whether an expression has the same value every time: it draws nothing."""
    fixed = (ast.Name, ast.Constant, ast.Attribute, ast.BinOp, ast.UnaryOp, ast.operator, ast.unaryop, ast.expr_context)
    return all(isinstance(part, fixed) for part in ast.walk(node))


def _located(node: Node, other: ast.AST) -> Node:
    """A node in the place of another."""
    ast.copy_location(node, other)
    for part in ast.walk(node):
        if "lineno" in part._attributes and not hasattr(part, "lineno"):
            ast.copy_location(part, other)
    return node


class _Renaming(ast.NodeTransformer):
    def __init__(self, old: str, new: str) -> None:
        self.old, self.new = old, new

    def visit_Name(self, node: ast.Name) -> ast.AST:
        return ast.copy_location(ast.Name(self.new, node.ctx), node) if node.id == self.old else node


def _renamed(node: ast.expr, old: str, new: str) -> ast.expr:
    """An expression in which a name is another one."""
    return _Renaming(old, new).visit(copy.deepcopy(node))  # type: ignore[no-any-return]
