"""Choices by weights that are powers of e: ``random.choices(range(n), weights=[math.exp(epsilon * s / 2) for s in scores])[0]``.

This is the exponential mechanism as it is written most often, and it is read as a choice by its scores, the exponents.  What these are
computed from, and that the weights are divided by their sum, is followed; everything else that is done to weights is not read.

Python rounds such weights.  What is read here is the choice with the weights that are meant: exponents and powers are real numbers, as the
noise of libraries is read as the ideal noise that it names.
"""

from __future__ import annotations

import ast
import copy
from abc import abstractmethod
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TypeVar

from privproof.language.arrays import Arrays
from privproof.language.folding import Unfoldable, exact
from privproof.language.laws import WEIGHED
from privproof.language.ordinary import Ordinary
from privproof.language.sources import UNFORESEEN
from privproof.language.syntax import Element, Expression, Place, Sample, Statement, Variable

Node = TypeVar("Node", bound=ast.AST)

_EXPONENTIALS = ("math.exp", "numpy.exp")
_WRAPPED = ("numpy.array", "numpy.asarray")


@dataclass(frozen=True)
class Weights:
    """Weights that are powers of e.

    Attributes:
        scores: the exponents: a list, or the name of one.
        divided: whether they are divided by their sum.
    """

    scores: ast.expr
    divided: bool = False


class Weighing(Ordinary):
    """Reads choices by weights that are powers of e."""

    arrays: Arrays
    weights: dict[str, Weights]
    """The names that stand for weights."""
    totals: dict[str, str]
    """The names that stand for the sum of weights, with the name of these."""

    @abstractmethod
    def known(self, node: ast.expr, name: str) -> bool:
        """Whether an expression is the call of a built-in function, and not of something else by that name."""

    @abstractmethod
    def library_called(self, node: ast.expr) -> str | None:
        """The function of a library that an expression calls."""

    def without_weights(self, node: ast.stmt) -> ast.stmt:
        """A statement of the function's own block that only makes weights, as one that keeps their scores; any other as it is."""
        if not self.shared.ordinary or self.branches or self.nested:
            return node
        match node:
            case ast.Assign(targets=[ast.Name(id=name)], value=value):
                made, total = self._weights(value), self._total(value)
                self._forget(node)
                if total is not None:
                    self.totals[name] = total
                    return _located(ast.Pass(), node)
                if made is None:
                    return node
                if isinstance(made.scores, ast.Name):
                    self.weights[name] = made
                    return _located(ast.Pass(), node)
                kept = self.shared.name("w").replace("#", "_scores_")
                self.names[kept] = kept
                self.weights[name] = replace(made, scores=ast.Name(kept, ast.Load()))
                return _located(ast.Assign([ast.Name(kept, ast.Store())], made.scores), node)
            case ast.AugAssign(target=ast.Name(id=name), op=ast.Div(), value=value) if name in self.weights:
                if self._total_of(value, name):
                    self.weights[name] = replace(self.weights[name], divided=True)
                    return _located(ast.Pass(), node)
        self._forget(node)
        return node

    def _forget(self, node: ast.stmt) -> None:
        """Names that are assigned to stand for other things from here on."""
        stored = {p.id for p in ast.walk(node) if isinstance(p, ast.Name) and not isinstance(p.ctx, ast.Load)}
        for name in stored:
            self.weights.pop(name, None)
            self.totals.pop(name, None)
        for name in [total for total, of in self.totals.items() if of in stored]:
            del self.totals[name]

    def _weights(self, node: ast.expr) -> Weights | None:
        """An expression as weights that are powers of e; None if it is something else."""
        if self.foreseen(node) is not UNFORESEEN:
            return None
        match node:
            case ast.Name(id=name) if name in self.weights:
                return self.weights[name]
            case ast.ListComp(elt=element, generators=[ast.comprehension(target=target, iter=over, ifs=[]) as turn]):
                exponent = self._exponent(element)
                own = {p.id for p in ast.walk(target) if isinstance(p, ast.Name)}
                if exponent is not None:
                    score = self._ideal(self._without_common(exponent, own))
                    return Weights(_located(ast.ListComp(score, [copy.deepcopy(turn)]), node))
                match element, target, over:
                    case ast.BinOp(ast.Name(id=one), ast.Div(), total), ast.Name(id=each), ast.Name(id=name) if (
                        one == each and name in self.weights and self._total_of(total, name)
                    ):
                        return replace(self.weights[name], divided=True)
            case ast.BinOp(above, ast.Div(), total) if (held := self._named(above)) is not None:
                return replace(self.weights[held], divided=True) if self._total_of(total, held) else None
            case ast.Call(args=[inner], keywords=[]) if self.library_called(node) in _WRAPPED:
                return self._weights(inner)
            case ast.Call(args=[inner], keywords=[]) if self.library_called(node) == "numpy.exp":
                scores = self._ideal(self._without_common(inner, None))
                return Weights(scores) if self.arrays.vector(scores) is not None else None
        return None

    def _named(self, node: ast.expr) -> str | None:
        """The name of weights that an expression is, or is an array of."""
        match node:
            case ast.Name(id=name) if name in self.weights:
                return name
            case ast.Call(args=[inner], keywords=[]) if self.library_called(node) in _WRAPPED:
                return self._named(inner)
            case _:
                return None

    def _exponent(self, node: ast.expr) -> ast.expr | None:
        """What e is raised to."""
        match node:
            case ast.Call(args=[exponent], keywords=[]) if self.library_called(node) in _EXPONENTIALS:
                return exponent
            case _:
                return None

    def _without_common(self, node: ast.expr, own: set[str] | None) -> ast.expr:
        """An exponent without what is taken from it or added to it for all elements alike: all weights are multiplied by one number.

        Args:
            node: the exponent.
            own: the names that stand for an element; None where the exponents are an array.
        """
        match node:
            case ast.BinOp(left=left, op=ast.Sub() | ast.Add(), right=right) if self._is_common(right, own):
                return self._without_common(left, own)
            case ast.BinOp(left=left, op=ast.Add(), right=right) if self._is_common(left, own):
                return self._without_common(right, own)
            case ast.BinOp(left=left, op=ast.Mult() | ast.Div() as op, right=right) if self._is_common(right, own):
                return _located(ast.BinOp(self._without_common(left, own), op, right), node)
            case ast.BinOp(left=left, op=ast.Mult() as op, right=right) if self._is_common(left, own):
                return _located(ast.BinOp(left, op, self._without_common(right, own)), node)
            case _:
                return node

    def _is_common(self, node: ast.expr, own: set[str] | None) -> bool:
        """Whether an expression is one number for all elements: constants, and the largest or the sum of a list."""
        if self.foreseen(node) is not UNFORESEEN:
            return True
        match node:
            case ast.Name(id=name):
                return own is not None and name not in own
            case ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr="max" | "min"), args=[], keywords=[]):
                return own is None or name not in own
            case ast.Call(args=[ast.Name(id=name)], keywords=[]):
                called = self.library_called(node) in ("numpy.max", "numpy.min")
                return (called or self.known(node, "max") or self.known(node, "min")) and (
                    own is None or name not in own
                )
            case _:
                return False

    def _total(self, node: ast.expr) -> str | None:
        """The weights whose sum an expression is."""
        match node:
            case ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr="sum"), args=[], keywords=[]):
                return name if name in self.weights else None
            case ast.Call(args=[ast.Name(id=name)], keywords=[]) if name in self.weights:
                summed = self.known(node, "sum") or self.library_called(node) in ("numpy.sum", "math.fsum")
                return name if summed else None
            case _:
                return None

    def _total_of(self, node: ast.expr, name: str) -> bool:
        """Whether an expression is the sum of these weights."""
        if isinstance(node, ast.Name):
            return self.totals.get(node.id) == name
        return self._total(node) == name

    def _ideal(self, node: ast.expr) -> ast.expr:
        """An expression with its constants as exact numbers, and with products in the place of quotients by them."""
        try:
            value = self.compute(node)
        except Unfoldable:
            value = None
        number = exact(value) if type(value) is float else value
        if type(number) in (int, Fraction):
            return _located(ast.Constant(number), node)  # type: ignore[arg-type]
        match node:
            case ast.BinOp(left=left, op=ast.Div(), right=right):
                below = self._ideal(right)
                if isinstance(below, ast.Constant) and isinstance(below.value, int | Fraction) and below.value:
                    share = _located(ast.Constant(Fraction(1) / below.value), right)  # type: ignore[arg-type]
                    return _located(ast.BinOp(self._ideal(left), ast.Mult(), share), node)
            case ast.BinOp(left=left, op=op, right=right):
                return _located(ast.BinOp(self._ideal(left), op, self._ideal(right)), node)
            case ast.UnaryOp(op=sign, operand=operand):
                return _located(ast.UnaryOp(sign, self._ideal(operand)), node)
        return node

    def one_of_several(self, node: ast.expr, out: list[Statement]) -> Expression | None:
        """``random.choices(values, weights=...)[0]``; None for anything else."""
        match node:
            case ast.Subscript(value=ast.Call() as call, slice=ast.Constant(value=0)) if self.shared.ordinary:
                several = [k.value for k in call.keywords if k.arg == "k"]
                one = not several or (isinstance(several[0], ast.Constant) and several[0].value == 1)
                named = {k.arg: k.value for k in call.keywords if k.arg != "k"}
                given = dict(zip(("population", "weights"), call.args, strict=False)) | named
                if one and given.keys() == {"population", "weights"} and self.library_called(call) == "random.choices":
                    found = self._weights(given["weights"])
                    if found is not None:
                        return self._drawn(given["population"], found, out, self.place(node))
        return super().one_of_several(node, out)

    def chosen(self, node: ast.Call, given: dict[str, ast.expr], out: list[Statement], here: Place) -> Expression:
        """``np.random.choice(values, p=probabilities)``."""
        found = self._weights(given["p"]) if given.keys() == {"a", "p"} else None
        if found is None or not found.divided:
            return super().chosen(node, given, out, here)
        return self._drawn(given["a"], found, out, here)

    def _drawn(self, among: ast.expr, weights: Weights, out: list[Statement], here: Place) -> Expression:
        """One of some values, or one of so many numbers, by its score."""
        scores = self.kept(self.expression(weights.scores, out), out, here)
        self.shared.drawn = True
        match among:
            case ast.Call(args=[_], keywords=[]) if self.known(among, "range") or self.known(among, "len"):
                values = None
            case _ if type(self.foreseen(among)) is int:
                values = None
            case _:
                values = self.kept(self.expression(among, out), out, here)
        place = Variable(self.shared.name("z"), here)
        out.append(Sample(place.name, WEIGHED, (scores,), self.shared.sites, here))
        self.shared.sites += 1
        return place if values is None else Element(values, place, here)


def _located(node: Node, at: ast.AST) -> Node:
    return ast.fix_missing_locations(ast.copy_location(node, at))
