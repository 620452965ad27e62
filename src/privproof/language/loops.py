"""Loops: every loop over a list becomes a while loop with a counter of its own; the loop over a stream stays one."""

from __future__ import annotations

import ast
from abc import abstractmethod
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import TypeAlias

from privproof.language.expressions import ExpressionReading
from privproof.language.syntax import (
    Append,
    Assign,
    Block,
    Break,
    Conditional,
    Constant,
    Each,
    Element,
    Expression,
    If,
    Inline,
    Operation,
    Place,
    Sample,
    Statement,
    Variable,
    While,
    index_loop,
)
from privproof.language.walking import statements, variables, writes

_LAZY = ("reversed", "zip", "enumerate", "accumulate")
"""What walks over other sequences while it is walked over."""
_EAGER_CALLS = ("list", "tuple", "sorted", "sum", "len", "max", "min", "set")
Pairs: TypeAlias = tuple[tuple[ast.expr, Expression], ...]
"""Targets with their values, in the order in which they are assigned."""


@dataclass(frozen=True)
class LoopTurn:
    """The turns of a loop.

    Attributes:
        node: the loop.
        target: what takes the element of each turn.
        body: writes the statements of a turn.
        first: the targets that stand before this one, with their values.
        onward: what is done after the targets have their values.
    """

    node: ast.AST
    target: ast.expr
    body: Callable[[], Block]
    first: Pairs = ()
    onward: Block = ()


class Loops(ExpressionReading):
    """Reads loops and comprehensions."""

    lazy: set[ast.AST]
    """Calls that do not walk over all elements."""

    @abstractmethod
    def block(self, nodes: Iterable[ast.stmt]) -> Block:
        """A sequence of statements."""

    @abstractmethod
    def store(self, target: ast.expr, value: Expression, out: list[Statement], here: Place) -> None:
        """``target = value``."""

    def loop(self, node: ast.While, out: list[Statement]) -> None:
        if node.orelse:
            self.refuse(node, "else after while", "put the statements after the loop")
        here = self.place(node)
        before: list[Statement] = []
        self.branches += 1
        test = self.expression(node.test, before)
        body = self.block(node.body)
        self.branches -= 1
        if before:
            leave = If(Operation("not", (test,), here), (Break(here),), (), here)
            out.append(While(Constant(value=True, place=here), (*before, leave, *body), here))
        else:
            out.append(While(test, body, here))

    def walk(self, node: ast.For, out: list[Statement]) -> None:
        if node.orelse:
            self.refuse(node, "else after for", "put the statements after the loop")
        self.iterate(LoopTurn(node, node.target, lambda: self.block(node.body)), node.iter, out)

    def iterate(self, turn: LoopTurn, over: ast.expr, out: list[Statement]) -> None:
        """``for target in over: body``."""
        here = self.place(turn.node)
        turns = None if turn.first or turn.onward else self.written_out(turn.node, turn.target, over)
        if turns is not None:
            for item in turns:
                with self.bound_to(turn.target, item, out, here):
                    out.extend(turn.body())
            return
        added = self.sums_so_far(over)
        if added is not None:
            self.iterate_sums(turn, added, out)
            return
        self.branches += 1
        self.walk_on(turn, over, out)
        self.branches -= 1

    def sums_so_far(self, over: ast.expr) -> ast.expr | None:
        """What is added up by ``itertools.accumulate(xs)`` or ``np.cumsum(xs)``; None for anything else."""
        match over:
            case ast.Call(args=[inner], keywords=[]) if self.shared.ordinary and self.plain(inner):
                known = self.library_called(over) in ("itertools.accumulate", "numpy.cumsum")
                return inner if known and isinstance(inner, ast.Name) else None
        return None

    def iterate_sums(self, turn: LoopTurn, over: ast.expr, out: list[Statement]) -> None:
        """A loop over the sums of the first elements of a list, as one over the elements with the sum so far in a variable."""
        here = self.place(turn.node)
        total = Variable(self.shared.name("a"), here)
        item = ast.copy_location(ast.Name(self.shared.name("u").replace("#", "_each_"), ast.Store()), over)
        self.names[item.id] = item.id
        out.append(Assign(total.name, Constant(0, here), here))

        def body() -> Block:
            more = Operation("+", (total, Variable(self.names[item.id], here)), here)
            inner: list[Statement] = [Assign(total.name, more, here)]
            self.store(turn.target, total, inner, here)
            return (*inner, *turn.body())

        self.iterate(replace(turn, target=item, body=body), over, out)

    def written_out(self, node: ast.AST, target: ast.expr, over: ast.expr) -> list[Expression] | None:
        """What a loop over public keys is over, turn by turn; None for a loop that stays one."""
        pairs = isinstance(target, ast.Tuple) and isinstance(over, ast.Name | ast.Tuple | ast.List | ast.Attribute)
        if not (self.about_tables(node) or pairs) or node in self.lazy:
            return None
        if isinstance(node, ast.For) and (_leaves_early(node.body) or _names(target) & _stored(node.body)):
            return None
        return self.static_items(over)

    def walk_on(self, turn: LoopTurn, over: ast.expr, out: list[Statement]) -> None:
        """A loop that stays one."""
        node, target, first = turn.node, turn.target, turn.first
        here = self.place(node)
        counter = self.shared.name("i")
        count = Variable(counter, here)
        stream = self.stream(over)
        if stream is not None:
            value = self.shared.name("v")
            head = self.bind((*first, (target, Variable(value, here))), here)
            out.append(Each(value, stream, (*head, *turn.onward, *turn.body()), here))
            return
        backward = paired = False
        lazy: Expression | None = None
        walked: list[tuple[ast.expr, Expression]] = []
        self.refuse_lazy(over)
        match over:
            case ast.Call(args=[inner], keywords=[]) if self.known(over, "reversed") and self.plain(inner):
                walked, backward = [(target, self.held(self.sequence(inner, out), out, here))], True
            case ast.Call(args=arguments, keywords=[]) if self.known(over, "range") and 1 <= len(arguments) <= 3:
                self.count_up(turn, arguments, out)
                return
            case ast.Call(args=[inner, *rest], keywords=keywords) if self.known(over, "enumerate"):
                if len(rest) + len(keywords) > 1 or any(k.arg != "start" for k in keywords):
                    self.refuse(node, "enumerate with these arguments", "for i, x in enumerate(xs, start=1):")
                start = rest[0] if rest else next((k.value for k in keywords if k.arg == "start"), None)
                paired = not (isinstance(target, ast.Tuple) and len(target.elts) == 2)
                if isinstance(target, ast.Tuple) and not paired:
                    number, item = target.elts
                    if start is not None or not self.plain(inner):
                        index = self.shared.name("n")
                        begin = Constant(0, here) if start is None else _whole(self.expression(start, out))
                        out.append(Assign(index, begin, here))
                        more = Operation("+", (Variable(index, here), Constant(1, here)), here)
                        pairs = (*first, (number, Variable(index, here)))
                        onward = (*turn.onward, Assign(index, more, here))
                        self.iterate(replace(turn, target=item, first=pairs, onward=onward), inner, out)
                        return
                    walked = [(item, self.held(self.expression(inner, out), out, here))]
                    first = (*first, (number, count))
            case ast.Call(args=sequences, keywords=[]) if self.known(over, "zip") and len(sequences) >= 2:
                if any(self.stream(s) is not None for s in sequences):
                    self.refuse(node, "zip with a stream", "enumerate the stream and index the list")
                paired = not (isinstance(target, ast.Tuple) and len(target.elts) == len(sequences))
                if isinstance(target, ast.Tuple) and not paired:
                    parts = [self.sequence(s, out) for s in sequences]
                    computed = tuple(p for p in parts if isinstance(p, Operation))
                    if any(p.name in ("reversed", "zip", "enumerate") for p in computed):
                        lazy = Operation("zip", computed, here)
                    walked = [(name, self.held(p, out, here)) for name, p in zip(target.elts, parts, strict=True)]
            case _:
                pass
        if not walked:
            if paired and not self.stream_free(over):
                self.refuse(node, "a stream in pairs", "for i, x in enumerate(stream):")
            made = self.sequence(over, out)
            walked = [(target, self.held(made, out, here))]
            lazy = made if isinstance(made, Operation) and made.name in _LAZY else None
        lengths = tuple(Operation("turns", (value,), here) for _, value in walked)
        stop = lengths[0] if len(lengths) == 1 else Operation("min", lengths, here)
        out.append(Assign(counter, Constant(0, here), here))
        place: Expression = count
        if backward:
            place = Operation("-", (Operation("-", (stop, Constant(1, here)), here), count), here)
        pairs = (*first, *((name, Element(value, place, here)) for name, value in walked))
        after = Assign(counter, Operation("+", (count, Constant(1, here)), here), here)
        block = (*self.bind(pairs, here), after, *turn.onward, *turn.body())
        if backward:
            self.refuse_changes(block, walked[0][1], node)
        if lazy is not None:
            self.refuse_changes(block, lazy, node)
        out.append(While(Operation("<", (count, stop), here), self.unhurt(block, walked, node), here))

    def refuse_lazy(self, over: ast.expr) -> None:
        """Refuse what computes its elements only when the loop asks for them: the loop may have changed what they are made of."""
        for part in ast.walk(over):
            if isinstance(part, ast.GeneratorExp) and part is over:
                self.refuse(over, "a generator expression in a loop", "a list: [x for x in xs]")
            if isinstance(part, ast.Call) and any(self.known(part, name) for name in ("map", "filter")):
                eager = isinstance(over, ast.Call) and any(self.known(over, name) for name in _EAGER_CALLS)
                if not eager:
                    self.refuse(over, "map or filter in a loop", "list(map(...))")

    def refuse_changes(self, turn: Block, value: Expression, node: ast.AST) -> None:
        """Refuse a loop that changes a list which it does not walk over from front to back."""
        read = set(variables(value))
        for statement in statements(turn):
            if writes(statement) in read:
                self.refuse(node, "changing a list that a loop walks over", "a loop over a copy: list(xs)")

    def stream_free(self, over: ast.expr) -> bool:
        """Whether no stream takes part."""
        return not any(isinstance(part, ast.expr) and self.stream(part) is not None for part in ast.walk(over))

    def bind(self, pairs: Pairs, here: Place) -> Block:
        """Give the targets of a loop their values, from left to right.

        Python has all values before it assigns the first of them; this shows where a target is an element of a list.
        """
        out: list[Statement] = []
        if len(pairs) > 1 and any(isinstance(part, ast.Subscript) for target, _ in pairs for part in ast.walk(target)):
            kept = [(target, self.shared.name("t"), value) for target, value in pairs]
            out.extend(Assign(name, value, here) for _, name, value in kept)
            pairs = tuple((target, Variable(name, here)) for target, name, _ in kept)
        for target, value in pairs:
            self.store(target, value, out, here)
        return tuple(out)

    def plain(self, over: ast.expr) -> bool:
        """Whether an expression is a list by itself: no stream, and none of the loops over several things."""
        return self.stream(over) is None and not any(self.known(over, name) for name in ("range", "enumerate", "zip"))

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

    def count_up(self, turn: LoopTurn, arguments: list[ast.expr], out: list[Statement]) -> None:
        """``for target in range(...): body``."""
        node = turn.node
        here = self.place(node)
        given = [_whole(self.expression(argument, out)) for argument in arguments]
        start, stop = (Constant(0, here), given[0]) if len(given) == 1 else (given[0], given[1])
        step = given[2] if len(given) == 3 else Constant(1, here)
        if isinstance(step, Constant) and not (isinstance(step.value, int) and step.value != 0):
            self.refuse(node, "a step that is not a whole number", "range(start, stop, 1)")
        counter = self.shared.name("i")
        count = Variable(counter, here)
        out.append(Assign(counter, start, here))
        end = self.constant_in(stop, out, here)
        if not isinstance(step, Constant):
            step = self.constant_in(Operation("stride", (step,), here), out, here)
        head = self.bind((*turn.first, (turn.target, count)), here)
        after = Assign(counter, Operation("+", (count, step), here), here)
        below, above = (Operation(sign, (count, end), here) for sign in ("<", ">"))
        if isinstance(step, Constant):
            test: Expression = below if step.value > 0 else above  # type: ignore[operator]
        else:
            test = Conditional(Operation(">", (step, Constant(0, here)), here), below, above, here)
        out.append(While(test, (*head, after, *turn.onward, *turn.body()), here))

    def constant_in(self, value: Expression, out: list[Statement], here: Place) -> Expression:
        """A value that stays what it is now: a constant, the length of an input, or a variable of its own."""
        if isinstance(value, Constant):
            return value
        name = self.shared.name("e")
        out.append(Assign(name, value, here))
        return Variable(name, here)

    def as_it_is(self, value: Expression, out: list[Statement], here: Place) -> Expression:
        """A value as it is now, in a variable of its own, whatever the variables in it become later; a tuple part by part."""
        match value:
            case Constant():
                return value
            case Variable(name) if name[:2] == "#z":
                return value
            case Operation("tuple of", parts):
                return Operation("tuple of", tuple(self.as_it_is(part, out, here) for part in parts), value.place)
        name = self.shared.name("t")
        self.note_noise(name, value)
        out.append(Assign(name, value, here))
        return Variable(name, here)

    def comprehension(self, node: ast.ListComp | ast.GeneratorExp, out: list[Statement]) -> Expression:
        """A list, built by a loop."""
        here = self.place(node)
        if self.about_tables(node):
            listed: list[Expression] = []

            def keep() -> None:
                listed.append(self.as_it_is(self.expression(node.elt, out), out, here))

            before, sites = len(out), self.shared.sites
            if self.spelled_out(node.generators, keep, out):
                return Operation("list of", tuple(listed), here)
            del out[before:]
            self.shared.sites = sites
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
        *,
        nested: bool = False,
    ) -> None:
        """The nested loops of a comprehension; `last` writes the innermost statements.

        All targets are names of one scope, which only the first list is outside of.
        """
        here = self.place(node)
        if not generators:
            last(out)
            return
        first, *others = generators
        if self.stream(first.iter) is not None:
            self.refuse(node, "a comprehension over a stream", "for value in stream:")
        bound = _names(first.target)
        later = {name for other in others for name in _names(other.target)}
        if bound & _names(first.iter):
            self.refuse(node, "one name for the list and its elements", "[x for x in xs]")
        if any(later & _names(part) for part in (*first.ifs, *([first.iter] if nested else []))):
            self.refuse(node, "a name that is read before its for", "[x + y for x in xs for y in ys if x < y]")
        if any(isinstance(part, ast.Subscript) for part in ast.walk(first.target)):
            self.refuse(first.target, "an element of a list as the target of a comprehension", "a loop")

        def body() -> Block:
            inner: list[Statement] = []
            target = inner
            for condition in first.ifs:
                test = self.expression(condition, target)
                deeper: list[Statement] = []
                target.append(If(test, (), (), here))
                nest.append((target, deeper, test))
                target = deeper
            self.generate(node, others, last, target, nested=True)
            for holder, content, test in reversed(nest):
                holder[-1] = If(test, tuple(content), (), here)
            nest.clear()
            return tuple(inner)

        nest: list[tuple[list[Statement], list[Statement], Expression]] = []
        with self.inner_names(bound):
            self.iterate(LoopTurn(node, first.target, body), first.iter, out)

    def largest(self, node: ast.AST, held: ast.ListComp, out: list[Statement]) -> Expression:
        """Where a list that a comprehension makes has its first largest element: found on the way, without the list."""
        here = self.place(node)
        number, best, place = (self.shared.name(stem) for stem in ("n", "b", "w"))
        out.extend(Assign(name, Constant(0, here), here) for name in (number, best, place))
        count = Variable(number, here)

        def compare(inner: list[Statement]) -> None:
            value = self.held(self.expression(held.elt, inner), inner, here)
            first = Operation("==", (count, Constant(0, here)), here)
            larger = Operation("or", (first, Operation(">", (value, Variable(best, here)), here)), here)
            inner.append(If(larger, (Assign(best, value, here), Assign(place, count, here)), (), here))
            inner.append(Assign(number, Operation("+", (count, Constant(1, here)), here), here))

        self.generate(node, held.generators, compare, out)
        return Variable(place, here)

    def extreme(self, node: ast.AST, name: str, over: ast.expr, by: ast.Lambda, out: list[Statement]) -> Expression:
        """``max`` or ``min`` by a key: the first element whose key no other one exceeds."""
        here = self.place(node)
        parameter = self.key_parameter(by)
        turns = self.static_items(over) if self.about_tables(over, by) else None
        if turns:
            return self.extreme_of(turns, ">" if name == "max" else "<", by, out, here)
        walked = self.held(Operation("list", (self.sequence(over, out),), here), out, here)
        best, found, place = (self.shared.name(stem) for stem in ("b", "f", "i"))
        at = Variable(place, here)
        out.append(Assign(found, Element(walked, Constant(0, here), here), here))
        out.extend(Assign(each, Constant(0, here), here) for each in (best, place))
        with self.inner_names([parameter]):
            item = Variable(self.names[parameter], here)
            body: list[Statement] = [Assign(item.name, Element(walked, at, here), here)]
            value = self.held(self.expression(by.body, body), body, here)
        sign = ">" if name == "max" else "<"
        first = Operation("==", (at, Constant(0, here)), here)
        better = Operation("or", (first, Operation(sign, (value, Variable(best, here)), here)), here)
        body.append(If(better, (Assign(best, value, here), Assign(found, item, here)), (), here))
        out.append(index_loop(at, walked, body))
        return Variable(found, here)

    def extreme_of(
        self, turns: list[Expression], sign: str, by: ast.Lambda, out: list[Statement], here: Place
    ) -> Expression:
        """``max`` or ``min`` by a key over public keys, written out."""
        target = ast.Name(by.args.args[0].arg, ast.Store())
        values = []
        with self.inner_names([target.id]):
            for item in turns:
                with self.bound_to(target, item, out, here):
                    values.append(self.held(self.expression(by.body, out), out, here))
        return self.first_largest(turns, values, sign, out, here)

    def first_largest(
        self, listed: list[Expression], values: list[Expression], sign: str, out: list[Statement], here: Place
    ) -> Expression:
        """The first of several whose value no other one exceeds, all written out."""
        best, found = self.shared.name("b"), self.shared.name("f")
        out += [Assign(best, values[0], here), Assign(found, listed[0], here)]
        for item, value in zip(listed[1:], values[1:], strict=True):
            taken = (Assign(best, value, here), Assign(found, item, here))
            out.append(If(Operation(sign, (value, Variable(best, here)), here), taken, (), here))
        return Variable(found, here)

    def reduced(
        self, node: ast.Call, function: ast.Lambda, over: ast.expr, start: list[ast.expr], out: list[Statement]
    ) -> Expression:
        """``functools.reduce`` as a loop."""
        here = self.place(node)
        if len(function.args.args) != 2 or function.args.defaults or function.args.vararg or function.args.kwarg:
            self.refuse(node, "reduce with this function", "a lambda of two parameters")
        walked = self.held(self.sequence(over, out), out, here)
        kept, at = self.shared.name("a"), self.shared.name("i")
        count = Variable(at, here)
        first = self.expression(start[0], out) if start else Element(walked, Constant(0, here), here)
        out += [Assign(kept, first, here), Assign(at, Constant(0 if start else 1, here), here)]
        left, right = (argument.arg for argument in function.args.args)
        with self.inner_names([left, right]):
            body: list[Statement] = [
                Assign(self.names[left], Variable(kept, here), here),
                Assign(self.names[right], Element(walked, count, here), here),
            ]
            body.append(Assign(kept, self.expression(function.body, body), here))
        out.append(index_loop(count, walked, body))
        return Variable(kept, here)

    def fold(self, node: ast.AST, name: str, generator: ast.GeneratorExp, out: list[Statement]) -> Expression:
        """``sum``, ``any`` or ``all`` of a generator: one variable instead of a list."""
        here = self.place(node)
        if name != "sum":
            self.lazy.add(node)
        kept = self.shared.name("a")
        first = {"sum": 0, "any": False, "all": True}[name]
        out.append(Assign(kept, Constant(first, here), here))

        def add(inner: list[Statement]) -> None:
            value = self.expression(generator.elt, inner)
            if name == "sum":
                inner.append(Assign(kept, Operation("+", (Variable(kept, here), value), here), here))
            else:
                decided: Block = (Assign(kept, Constant(name == "any", here), here),)
                if len(generator.generators) == 1:
                    decided = (*decided, Break(here))
                test = value if name == "any" else Operation("not", (value,), here)
                inner.append(If(test, decided, (), here))

        self.generate(node, generator.generators, add, out)
        return Variable(kept, here)


def _leaves_early(body: list[ast.stmt]) -> bool:
    """Whether statements leave the loop around them, or go on with its next turn."""
    waiting: list[ast.AST] = list(body)
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.Break | ast.Continue):
            return True
        if not isinstance(node, ast.For | ast.While | ast.FunctionDef):
            waiting += ast.iter_child_nodes(node)
        else:
            waiting += getattr(node, "orelse", [])
    return False


def _stored(body: list[ast.stmt]) -> set[str]:
    """The names that statements assign to."""
    return {
        part.id
        for statement in body
        for part in ast.walk(statement)
        if isinstance(part, ast.Name) and not isinstance(part.ctx, ast.Load)
    }


def _names(node: ast.AST) -> set[str]:
    """The names in an expression."""
    return {part.id for part in ast.walk(node) if isinstance(part, ast.Name)}


def _whole(value: Expression) -> Expression:
    """The value, checked to be a whole number; a truth value counts as 0 or 1."""
    if isinstance(value, Constant) and isinstance(value.value, int):
        return Constant(int(value.value), value.place)
    return Operation("whole", (value,), value.place)
