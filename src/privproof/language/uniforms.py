"""Uniform random numbers: ``random.random() < p`` is a coin, and a number that is drawn and compared later is one as well.

``u = random.random()`` draws nothing that could be told exactly; what counts is how ``u`` compares with the numbers that it meets.  Where
these are constants t_1 < ... < t_k, all that is known of ``u`` is an interval, of which its ends are kept; a comparison with a number
inside of it draws on which side ``u`` is, and the interval shrinks.  This is the law of a uniform number, and the order of draws is that
of a function that is run under control (`language.trees`).  Where ``u`` is compared once, with anything, it is drawn there.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations

from privproof.errors import LanguageError
from privproof.language.folding import Unfoldable
from privproof.language.resolving import Unusable
from privproof.language.syntax import Assign, Block, Constant, Expression, If, Operation, Place, Statement, Variable
from privproof.language.weights import Weighing

_UNIT = ("random.random", "numpy.random.random", "numpy.random.random_sample", "numpy.random.rand")
_BETWEEN = {"random.uniform": ("a", "b"), "numpy.random.uniform": ("low", "high")}
_TURNED = {ast.Lt: ast.Gt, ast.LtE: ast.GtE, ast.Gt: ast.Lt, ast.GtE: ast.LtE}
_MOST = 6
"""Numbers that a kept uniform number is compared with: every pair of them is a coin of its own, 15 for 6."""
_AROUND = (ast.For, ast.While, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp, ast.Lambda, ast.FunctionDef)


@dataclass(frozen=True)
class Range:
    """The interval in which a uniform number lies."""

    low: Fraction
    high: Fraction

    def share(self, at: Fraction) -> Fraction:
        """How likely the number is below another one."""
        return min(max((at - self.low) / (self.high - self.low), Fraction(0)), Fraction(1))


@dataclass(frozen=True)
class Kept:
    """A uniform number that has a name.

    Attributes:
        within: where it lies.
        marks: the probabilities to be below the numbers that it is compared with, in order, from 0 to 1; None where it is drawn by its
            only comparison.
    """

    within: Range
    marks: tuple[Fraction, ...] | None


class Uniforms(Weighing):
    """Reads comparisons of uniform random numbers."""

    uniforms: dict[str, Kept]
    """Names that stand for a uniform number."""

    def unit(self, node: ast.expr) -> Range | None:
        """Where the number lies that an expression draws, if it draws a uniform one."""
        if not self.shared.ordinary or not isinstance(node, ast.Call):
            return None
        try:
            found = self.meaning(node.func)
        except (LanguageError, Unusable):
            return None
        if found.kind != "library":
            return None
        if found.value in _UNIT and not node.args and not node.keywords:
            return Range(Fraction(0), Fraction(1))
        names = _BETWEEN.get(str(found.value))
        if names is None or len(node.args) > 2 or any(k.arg not in names[len(node.args) :] for k in node.keywords):
            return None
        given = dict(zip(names, node.args, strict=False)) | {str(k.arg): k.value for k in node.keywords}
        if found.value == "random.uniform" and len(given) < 2:
            return None
        try:
            low, high = (
                self.compute(given[name]) if name in given else end for name, end in zip(names, (0, 1), strict=True)
            )
        except Unfoldable:
            return None
        if not all(type(end) in (int, float) for end in (low, high)) or not low < high:
            return None
        width = Fraction(high - low) if found.value == "random.uniform" else Fraction(high) - Fraction(low)
        return Range(Fraction(low), Fraction(low) + width)

    def uniform_kept(self, name: str, value: ast.expr, out: list[Statement], here: Place) -> bool:
        """``name = random.random()``, where the number is only compared; False for anything else."""
        within = self.unit(value)
        if within is None or self.nested or name in self.shared.given:
            return False
        asked = list(self._comparisons(name))
        loads = sum(isinstance(p, ast.Name) and p.id == name and isinstance(p.ctx, ast.Load) for p in self.parts)
        if not asked or loads != len(asked):
            return False
        if loads == 1 and self._drawn_once(name):
            self.uniforms[name] = Kept(within, None)
            return True
        numbers = [number for _, _, other in asked for number in self._numbers(other)]
        shares = {within.share(number) for number in numbers if number is not None}
        if None in numbers or len(shares) > _MOST or shares & {0, 1}:
            return False
        marks = tuple(sorted({Fraction(0), Fraction(1), *shares}))
        kept = Kept(within, marks)
        if self.uniforms.setdefault(name, kept) != kept:
            return False
        self.shared.drawn = True
        out += [Assign(self._end(name, 0), Constant(0, here), here)]
        out += [Assign(self._end(name, 1), Constant(len(marks) - 1, here), here)]
        return True

    def _end(self, name: str, side: int) -> str:
        """The variable that holds an end of the interval that is left, as a number of a mark."""
        return f"{self.names[name]}#{('low', 'high')[side]}"

    def _comparisons(self, name: str) -> Iterator[tuple[ast.Compare, type[ast.cmpop], ast.expr]]:
        """The comparisons of a name with something else, the name on the left."""
        for part in self.parts:
            found = self._turned(part, lambda node: isinstance(node, ast.Name) and node.id == name)
            if found is not None:
                yield found

    def _turned(self, part: ast.AST, is_it: object) -> tuple[ast.Compare, type[ast.cmpop], ast.expr] | None:
        """A comparison with what is looked for on the left."""
        if not isinstance(part, ast.Compare) or len(part.ops) != 1 or type(part.ops[0]) not in _TURNED:
            return None
        left, op, right = part.left, type(part.ops[0]), part.comparators[0]
        if is_it(right) and not is_it(left):  # type: ignore[operator]
            left, op, right = right, _TURNED[op], left
        return (part, op, right) if is_it(left) and not is_it(right) else None  # type: ignore[operator]

    def _numbers(self, node: ast.expr) -> Iterator[Fraction | None]:
        """The constants that an expression may be; None among them if it may be anything else."""
        if isinstance(node, ast.IfExp) and self.foreseen_number(node) is None:
            yield from self._numbers(node.body)
            yield from self._numbers(node.orelse)
        else:
            yield self.foreseen_number(node)

    def foreseen_number(self, node: ast.expr) -> Fraction | None:
        """The exact value of a number that is known while the function is read."""
        try:
            value = self.compute(node)
        except Unfoldable:
            return None
        return Fraction(value) if type(value) in (int, float, Fraction) and abs(value) < float("inf") else None

    def _drawn_once(self, name: str) -> bool:
        """Whether a name is read once, in a statement after the one that draws it, and in no loop that this is outside of."""
        for holder in self.parts:
            for _, block in ast.iter_fields(holder):
                if not isinstance(block, list):
                    continue
                stored = [i for i, s in enumerate(block) if isinstance(s, ast.Assign) and _is_name(s.targets[0], name)]
                if len(stored) == 1:
                    return any(_read_straight(s, name) for s in block[stored[0] + 1 :])
        return False

    def coin(self, node: ast.Compare, out: list[Statement]) -> Expression | None:
        """``random() < p`` and its kin, also of a number that was drawn before; None for any other comparison."""
        here = self.place(node)
        named = self._turned(node, lambda each: isinstance(each, ast.Name) and each.id in self.uniforms)
        if named is not None:
            _, op, right = named
            left = (
                node.left if isinstance(node.left, ast.Name) and node.left.id in self.uniforms else node.comparators[0]
            )
            assert isinstance(left, ast.Name)
            kept = self.uniforms[left.id]
            below = (
                self._toss(node, kept.within, right, out)
                if kept.marks is None
                else self._placed(left.id, kept, right, out, here)
            )
        else:
            found = self._turned(node, lambda each: isinstance(each, ast.expr) and self.unit(each) is not None)
            if found is None:
                return None
            _, op, right = found
            within = self.unit(node.left) or self.unit(node.comparators[0])
            assert within is not None
            below = self._toss(node, within, right, out)
        return below if op in (ast.Lt, ast.LtE) else Operation("not", (below,), here)

    def _toss(self, node: ast.Compare, within: Range, right: ast.expr, out: list[Statement]) -> Expression:
        """Whether a fresh number is below another one."""
        here = self.place(node)
        probability = self.number(right, out)
        if within != Range(Fraction(0), Fraction(1)):
            if not isinstance(probability, Constant) or not isinstance(probability.value, int | Fraction):
                self.refuse(node, "a uniform number beside what is no constant", "random.random() < p")
            probability = Constant(within.share(Fraction(probability.value)), here)
        if isinstance(probability, Constant) and not (
            isinstance(probability.value, int | Fraction) and 0 <= probability.value <= 1
        ):
            self.refuse(node, f"a probability of {probability.value}", "a probability between 0 and 1")
        return self.draw("bernoulli", (probability,), out, here)

    def _placed(self, name: str, kept: Kept, right: ast.expr, out: list[Statement], here: Place) -> Expression:
        """Whether a number that was drawn before is below another one; what was not decided before is now."""
        assert kept.marks is not None
        if isinstance(right, ast.IfExp) and self.foreseen_number(right) is None:
            test = self.expression(right.test, out)
            sides: list[list[Statement]] = [[], []]
            values = [
                self._placed(name, kept, branch, inner, here)
                for branch, inner in zip((right.body, right.orelse), sides, strict=True)
            ]
            result = self.shared.name("c")
            then, otherwise = (
                (*inner, Assign(result, value, here)) for inner, value in zip(sides, values, strict=True)
            )
            out.append(If(test, then, otherwise, here))
            return Variable(result, here)
        number = self.foreseen_number(right)
        assert number is not None
        mark = kept.marks.index(kept.within.share(number))
        below = self.shared.name("c")
        low, high = (Variable(self._end(name, side), here) for side in (0, 1))
        at = Constant(mark, here)
        tail: Block = ()
        inside = [(a, b) for a, b in combinations(range(len(kept.marks)), 2) if a < mark < b]
        for a, b in inside:
            begin, end = kept.marks[a], kept.marks[b]
            tossed: list[Statement] = []
            drawn = self.draw("bernoulli", (Constant((kept.marks[mark] - begin) / (end - begin), here),), tossed, here)
            known = (
                Assign(below, drawn, here),
                If(drawn, (Assign(high.name, at, here),), (Assign(low.name, at, here),), here),
            )
            here_now = Operation("and", (_equal(low, a, here), _equal(high, b, here)), here)
            tail = (If(here_now, (*tossed, *known), tail, here),)
        beneath = Operation("<=", (at, low), here)
        above = Operation("<=", (high, at), here)
        told: Block = (If(above, (Assign(below, Constant(value=True, place=here), here),), tail, here),)
        out.append(If(beneath, (Assign(below, Constant(value=False, place=here), here),), told, here))
        return Variable(below, here)


def _equal(variable: Variable, number: int, here: Place) -> Expression:
    return Operation("==", (variable, Constant(number, here)), here)


def _is_name(node: ast.expr, name: str) -> bool:
    return isinstance(node, ast.Name) and node.id == name


def _read_straight(statement: ast.AST, name: str) -> bool:
    """Whether a name is read in a statement, and in no loop or function inside of it."""
    if isinstance(statement, _AROUND):
        return False
    if isinstance(statement, ast.Name):
        return statement.id == name and isinstance(statement.ctx, ast.Load)
    return any(_read_straight(part, name) for part in ast.iter_child_nodes(statement))
