"""Affine expressions in named numbers: budgets such as ``(1 + 6*N)/4``, ``size/2`` and ``(1 + 2*N)*ln(2)``."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NoReturn

from flint import fmpz

from privproof.errors import BudgetError, NumberError
from privproof.exact.budgets import Epsilon
from privproof.exact.parsing import ArithmeticReader, Lexicon, TextToken
from privproof.exact.rationals import ONE, ZERO, Rational, rational

_LEXICON = Lexicon(number=r"(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]+)?", name=r"[^\W0-9]\w*", sign="[-+*/()]")
_LONGEST = 2000
"""A text with more characters is refused before it is read; claims have a few dozen."""
_SHOWN = 80
"""So many characters of a text stand in a message."""


@dataclass(frozen=True)
class Affine:
    """A constant plus multiples of named numbers; or all of it times the logarithm of a ratio that is no power of another.

    >>> read_affine("(1 + 6*N) / 4", ["N"])
    Affine('1/4 + 3/2*N')
    >>> read_affine("size/2", ["size"]).at({"size": 5})
    5/2
    >>> read_affine("(1 + N)*ln(4)", ["N"]), read_affine("(1 + N)*ln(4)", ["N"]).value_at({"N": 2})
    (Affine('(2 + 2*N)*ln(2)'), Epsilon('ln(64)'))
    """

    constant: Rational
    terms: tuple[tuple[str, Rational], ...] = ()
    ratio: Rational | None = None

    def value_at(self, values: Mapping[str, Any]) -> Epsilon:
        """Its value, with the logarithm."""
        factor = self.at(values)
        return Epsilon(shift=factor) if self.ratio is None else Epsilon(self.ratio ** int(factor.p), int(factor.q))

    def at(self, values: Mapping[str, Any]) -> Rational:
        """Its value; without the logarithm, where there is one."""
        return self.constant + sum((factor * rational(values[name]) for name, factor in self.terms), ZERO)

    def plus(self, other: Affine, sign: int = 1) -> Affine:
        """The sum (or difference) of two."""
        factors = dict(self.terms)
        for name, factor in other.terms:
            factors[name] = factors.get(name, ZERO) + sign * factor
        return affine(self.constant + sign * other.constant, factors, self.ratio)

    def times(self, factor: Rational) -> Affine:
        """A multiple."""
        return affine(self.constant * factor, {name: value * factor for name, value in self.terms}, self.ratio)

    def __str__(self) -> str:
        shown = [] if self.constant == 0 and self.terms else [str(self.constant)]
        for name, factor in self.terms:
            size = abs(factor)
            text = name if size == 1 else f"{name}/{size.q}" if size.p == 1 else f"{size}*{name}"
            shown.append(text if factor > 0 else f"-{text}")
        text = " + ".join(shown).replace("+ -", "- ")
        return text if self.ratio is None else f"{text if len(shown) == 1 else f'({text})'}*ln({self.ratio})"

    def __repr__(self) -> str:
        return f"Affine({str(self)!r})"


def affine(constant: Rational, factors: Mapping[str, Rational], ratio: Rational | None = None) -> Affine:
    """An affine expression; terms that vanish are dropped."""
    return Affine(constant, tuple(sorted((name, f) for name, f in factors.items() if f != 0)), ratio)


def as_power(ratio: Rational) -> tuple[Rational, int]:
    """A ratio above 1 as a power of one that is none: the base and the exponent.

    >>> as_power(rational(4)), as_power(rational("27/8")), as_power(rational(6))
    ((2, 2), (3/2, 3), (6, 1))
    """
    for power in range(int(ratio.p).bit_length(), 1, -1):
        above, below = (int(fmpz(part).root(power)) for part in (ratio.p, ratio.q))
        if above**power == ratio.p and below**power == ratio.q:
            return rational(above) / below, power
    return ratio, 1


def read_affine(text: str, names: Collection[str]) -> Affine:
    """The affine expression that a text denotes.

    Raises:
        BudgetError: it is none, or speaks of other names.
    """
    reader = _AffineReader(text, names)
    return reader.read_whole(reader.sum, behind="an operator or the end")


class _AffineReader(ArithmeticReader[Affine]):
    """Reads arithmetic over numbers and names."""

    def __init__(self, text: str, names: Collection[str]) -> None:
        self.names = names
        super().__init__(text, _LEXICON.tokens(text[: _LONGEST + 1]))
        if len(text) > _LONGEST:
            raise self.error(f"has {len(text)} characters, more than {_LONGEST}")

    def error(
        self, message: str, *, hint: str = "an affine expression reads like (1 + 6*N)/4, size/2 or 2"
    ) -> BudgetError:
        shown = self.text if len(self.text) <= _SHOWN else f"{self.text[: _SHOWN - 3]}..."
        return BudgetError("budget", f"{shown!r} {message}", hint=hint)

    def expected(self, what: str) -> NoReturn:
        found = "the end" if self.at_end else f"{self.token.text!r} at position {self.token.start}"
        raise self.error(f"cannot be read: expected {what}, found {found}")

    def too_deep(self) -> NoReturn:
        raise self.error(f"nests deeper than {self.deepest}")

    def joined(self, operands: Sequence[Affine], signs: Sequence[TextToken]) -> Affine:
        (left, right), (sign,) = operands, signs
        if sign.text in ("+", "-") and left.ratio != right.ratio:
            raise self.error("adds a logarithm and something else")
        if (
            sign.text != "+"
            and sign.text != "-"
            and right.ratio is not None
            and (sign.text == "/" or left.ratio is not None)
        ):
            raise self.error("divides by a logarithm, or multiplies two")
        match sign.text:
            case "+" | "-":
                return left.plus(right, 1 if sign.text == "+" else -1)
            case "/":
                if right.terms or right.constant == 0:
                    raise self.error(f"divides by {right}")
                return left.times(1 / right.constant)
        if left.terms and right.terms:
            raise self.error("multiplies two names")
        made = left.times(right.constant) if left.terms else right.times(left.constant)
        return Affine(made.constant, made.terms, left.ratio if right.ratio is None else right.ratio)

    def negated(self, value: Affine) -> Affine:
        return value.times(-ONE)

    def logarithm(self) -> Affine:
        """What follows ``ln``: a number above 1, in parentheses."""
        inner = self.parenthesis() if self.sees("(") else self.atom()
        if inner.terms or inner.ratio is not None or inner.constant <= 1:
            raise self.error(f"has the logarithm of {inner}", hint="the logarithm of a number above 1: N*ln(2)")
        base, power = as_power(inner.constant)
        return Affine(rational(power), (), base)

    def atom(self) -> Affine:
        if self.token.kind not in ("number", "name"):
            self.expected("a number, a name or a parenthesis")
        token = self.take()
        if token.kind == "name" and token.text == "ln" and token.text not in self.names:
            return self.logarithm()
        if token.kind == "name":
            if token.text not in self.names:
                raise self.error(f"speaks of {token.text!r}", hint=f"known here: {', '.join(self.names) or 'none'}")
            return Affine(ZERO, ((token.text, ONE),))
        try:
            return Affine(rational(token.text))
        except NumberError as error:
            raise self.error(f"cannot be read: {error.message}") from None
