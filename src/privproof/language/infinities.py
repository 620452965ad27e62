"""A best value so far that begins at infinity: ``best = -math.inf``, ``lowest = float("inf")``.

Infinity is no number of a model.  A name that begins there, and is asked nothing but whether a finite number lies above or below it, has
no value yet: it is None, ``noisy > best`` is ``best is None or noisy > best``, and ``max(best, noisy)`` is the number alone.
"""

from __future__ import annotations

import ast
import math
from collections.abc import Iterator

from privproof.language.calls import Calls
from privproof.language.syntax import Conditional, Constant, Expression, Operation, Statement, Variable

_ABOVE = {ast.Gt: ">", ast.GtE: ">="}
_BELOW = {ast.Lt: "<", ast.LtE: "<="}
_KEEPS = {"max": -math.inf, "min": math.inf}
"""The infinity at which a largest and a smallest number begin."""


class Infinities(Calls):
    """Reads comparisons with names that begin at infinity."""

    _begun: dict[str, float] | None = None

    def endless(self) -> dict[str, float]:
        """The names that begin at infinity, each with the one at which it does, and are only compared with finite numbers."""
        if self._begun is None:
            self._begun = {}
            begun: dict[str, set[float]] = {}
            for name, value in self._assigned():
                found = self._infinity(value)
                if found is not None:
                    begun.setdefault(name, set()).add(found)
            once = {name: min(found) for name, found in begun.items() if len(found) == 1}
            while any(not self._only_compared(name, once) for name in once):
                once = {name: sign for name, sign in once.items() if self._only_compared(name, once)}
            self._begun = once
        return self._begun

    def is_beginning(self, node: ast.expr) -> bool:
        """Whether an expression is the infinity at which a name begins."""
        if not isinstance(node, ast.UnaryOp | ast.Call | ast.Attribute | ast.Name) or self._infinity(node) is None:
            return False
        return any(_where(value) == _where(node) for name, value in self._assigned() if name in self.endless())

    def against_infinity(self, node: ast.Compare, out: list[Statement]) -> Expression | None:
        """A comparison of a number with a name that begins at infinity; None for any other."""
        sides = self._sides(node)
        if sides is None:
            return None
        name, number = sides
        here = self.place(node)
        value = self.kept(self.number(number, out), out, here)
        best = Variable(self.names[name], here)
        begins = Operation("is", (best, Constant(None, here)), here)
        sign = (_ABOVE | _BELOW)[type(node.ops[0])]
        pair = (value, best) if number is node.left else (best, value)
        beyond = (sign in (">", ">=")) == (
            number is node.left
        )  # asked is whether the number lies above the name's value
        asked = Operation(sign, pair, here)
        if beyond == (self.endless()[name] < 0):
            return Operation("or", (begins, asked), here)
        return Operation("and", (Operation("not", (begins,), here), asked), here)

    def builtin(self, node: ast.Call, name: str, out: list[Statement]) -> Expression:
        """A call of one of the functions that take numbers and sequences; the largest so far, where there is none yet."""
        number = self._larger(node, self.endless()) if name in _KEEPS else None
        if number is None:
            return super().builtin(node, name, out)
        here = self.place(node)
        held, value = number
        kept = self.kept(self.number(value, out), out, here)
        best = Variable(self.names[held], here)
        pair = (best, kept) if node.args[1] is value else (kept, best)
        begins = Operation("is", (best, Constant(None, here)), here)
        return Conditional(begins, kept, Operation(name, pair, here), here)

    def _infinity(self, node: ast.expr) -> float | None:
        value = self.foreseen(node)
        return value if type(value) is float and math.isinf(value) else None

    def _assigned(self) -> Iterator[tuple[str, ast.expr]]:
        """All names with the values that they are assigned."""
        for part in self.parts:
            match part:
                case ast.Assign(targets=targets, value=value):
                    for target in targets:
                        yield from _pairs(target, value)
                case ast.AnnAssign(target=target, value=ast.expr() as value):
                    yield from _pairs(target, value)

    def _sides(self, node: ast.Compare) -> tuple[str, ast.expr] | None:
        """The name and the number of ``number > name`` or ``name > number``; None where it is no such comparison."""
        match node:
            case ast.Compare(left=left, ops=[ast.Lt() | ast.LtE() | ast.Gt() | ast.GtE()], comparators=[right]):
                begun = [
                    (side.id, other)
                    for side, other in ((left, right), (right, left))
                    if isinstance(side, ast.Name) and side.id in self.endless()
                ]
                return begun[0] if len(begun) == 1 else None
        return None

    def _larger(self, node: ast.Call, begun: dict[str, float]) -> tuple[str, ast.expr] | None:
        """The name and the number of ``max(name, number)``, where the name begins below all numbers; of ``min`` above."""
        match node:
            case ast.Call(func=ast.Name(id=called), args=[left, right], keywords=[]) if self.known(node, called):
                found = [
                    (side.id, other)
                    for side, other in ((left, right), (right, left))
                    if isinstance(side, ast.Name) and side.id in begun
                ]
                if len(found) == 1 and begun[found[0][0]] == _KEEPS.get(called):
                    return found[0]
        return None

    def _only_compared(self, name: str, begun: dict[str, float]) -> bool:
        """Whether a name is only assigned to, compared with a finite number, or handed to a name that begins where it does."""
        paired = list(self._assigned())
        stores = sum(isinstance(p, ast.Name) and p.id == name and not isinstance(p.ctx, ast.Load) for p in self.parts)
        if stores != sum(held == name for held, _ in paired) or name in self.shared.given:
            return False
        fine: list[ast.expr] = [v for held, v in paired if begun.get(held) == begun[name] and isinstance(v, ast.Name)]
        for part in self.parts:
            match part:
                case ast.Compare(left=left, ops=[ast.Lt() | ast.LtE() | ast.Gt() | ast.GtE()], comparators=[right]):
                    both = [isinstance(side, ast.Name) and side.id in begun for side in (left, right)]
                    finite = not any(self._infinity(side) is not None for side in (left, right))
                    if sum(both) == 1 and finite:
                        fine += [left, right]
                case ast.Call() if (found := self._larger(part, begun)) is not None:
                    fine += [side for side in part.args if side is not found[1]]
        loads = [p for p in self.parts if isinstance(p, ast.Name) and p.id == name and isinstance(p.ctx, ast.Load)]
        return all(any(load is each for each in fine) for load in loads)


def _pairs(target: ast.expr, value: ast.expr) -> Iterator[tuple[str, ast.expr]]:
    """The names of a target with their values, as far as both are written out."""
    match target, value:
        case ast.Name(id=name), _:
            yield name, value
        case ((ast.Tuple(elts=targets) | ast.List(elts=targets)), (ast.Tuple(elts=values) | ast.List(elts=values))) if (
            len(targets) == len(values)
        ):
            for one, part in zip(targets, values, strict=True):
                yield from _pairs(one, part)


def _where(node: ast.expr) -> tuple[int, int, int | None, int | None]:
    return node.lineno, node.col_offset, node.end_lineno, node.end_col_offset
