"""Affine expressions in named numbers: budgets such as ``(1 + 6*N)/4`` and ``size/2``."""

from __future__ import annotations

import ast
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

from privproof.errors import BudgetError
from privproof.exact.rationals import ZERO, Rational, rational


@dataclass(frozen=True)
class Affine:
    """A constant plus multiples of named numbers.

    >>> read_affine("(1 + 6*N) / 4", ["N"])
    Affine('1/4 + 3/2*N')
    >>> read_affine("size/2", ["size"]).at({"size": 5})
    5/2
    """

    constant: Rational
    terms: tuple[tuple[str, Rational], ...] = ()

    def at(self, values: Mapping[str, Any]) -> Rational:
        """Its value."""
        return self.constant + sum((factor * rational(values[name]) for name, factor in self.terms), ZERO)

    def plus(self, other: Affine, sign: int = 1) -> Affine:
        """The sum (or difference) of two."""
        factors = dict(self.terms)
        for name, factor in other.terms:
            factors[name] = factors.get(name, ZERO) + sign * factor
        return affine(self.constant + sign * other.constant, factors)

    def times(self, factor: Rational) -> Affine:
        """A multiple."""
        return affine(self.constant * factor, {name: value * factor for name, value in self.terms})

    def __str__(self) -> str:
        shown = [] if self.constant == 0 and self.terms else [str(self.constant)]
        for name, factor in self.terms:
            size = abs(factor)
            text = name if size == 1 else f"{name}/{size.q}" if size.p == 1 else f"{size}*{name}"
            shown.append(text if factor > 0 else f"-{text}")
        return " + ".join(shown).replace("+ -", "- ")

    def __repr__(self) -> str:
        return f"Affine({str(self)!r})"


def affine(constant: Rational, factors: Mapping[str, Rational]) -> Affine:
    """An affine expression; terms that vanish are dropped."""
    return Affine(constant, tuple(sorted((name, f) for name, f in factors.items() if f != 0)))


def read_affine(text: str, names: Collection[str]) -> Affine:
    """The affine expression that a text denotes.

    Raises:
        BudgetError: it is none, or speaks of other names.
    """
    hint = "an affine expression reads like (1 + 6*N)/4, size/2 or 2"
    try:
        tree = ast.parse(text.strip(), mode="eval").body
    except SyntaxError:
        raise BudgetError("budget", f"{text!r} cannot be read", hint=hint) from None

    def read(node: ast.expr) -> Affine:
        match node:
            case ast.Constant(value=int() | float() as value) if not isinstance(value, bool):
                return Affine(rational(ast.get_source_segment(text.strip(), node) or str(value)))
            case ast.Name(id=name):
                if name not in names:
                    known = ", ".join(names) or "none"
                    raise BudgetError("budget", f"{text!r} speaks of {name!r}", hint=f"known here: {known}")
                return Affine(ZERO, ((name, rational(1)),))
            case ast.UnaryOp(op=ast.USub(), operand=operand):
                return read(operand).times(rational(-1))
            case ast.BinOp(left=left, op=ast.Add() | ast.Sub() as op, right=right):
                return read(left).plus(read(right), 1 if isinstance(op, ast.Add) else -1)
            case ast.BinOp(left=left, op=ast.Mult(), right=right):
                a, b = read(left), read(right)
                if a.terms and b.terms:
                    raise BudgetError("budget", f"{text!r} multiplies two names", hint=hint)
                return a.times(b.constant) if a.terms else b.times(a.constant)
            case ast.BinOp(left=left, op=ast.Div(), right=right):
                a, b = read(left), read(right)
                if b.terms or b.constant == 0:
                    raise BudgetError("budget", f"{text!r} divides by {b}", hint=hint)
                return a.times(1 / b.constant)
            case _:
                raise BudgetError("budget", f"{text!r} is no affine expression", hint=hint)

    return read(tree)
