"""Polynomials with rational coefficients in named parameters: what probabilities become when a prior is not known exactly."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any, NoReturn

from flint import Ordering, fmpq, fmpq_mpoly, fmpq_mpoly_ctx, fmpz

from privproof.errors import NumberError
from privproof.exact.parsing import ArithmeticReader, Lexicon, TextToken
from privproof.exact.rationals import Number, Rational, rational

_LARGEST_POWER = 1_000
"""The largest exponent of a polynomial; beyond, the text is refused, and ``**`` is not defined."""
_LEXICON = Lexicon(number=r"[0-9]+(?:\.[0-9]+)?", name="[A-Za-z_][A-Za-z_0-9]*", sign=r"\*\*|[-+*/^()]")


class Polynomial:
    """A polynomial in named parameters; arithmetic with numbers and with polynomials in the same parameters.

    >>> p = Polynomial.parameter("p", ("p", "q"))
    >>> (1 - p) ** 2 * 2
    Polynomial('2*p^2 - 4*p + 2')
    >>> Polynomial.of("(1 - p)^2 + q/3", ("p", "q")).at({"p": "1/2", "q": 1})
    7/12
    """

    __slots__ = ("names", "value")

    def __init__(self, value: fmpq_mpoly, names: tuple[str, ...]) -> None:
        self.value = value
        self.names = names

    @classmethod
    def parameter(cls, name: str, names: Sequence[str]) -> Polynomial:
        """One of the parameters."""
        listed = tuple(names)
        return cls(_context(listed).gens()[listed.index(name)], listed)

    @classmethod
    def constant(cls, value: Number, names: Sequence[str]) -> Polynomial:
        """A number as a polynomial."""
        return cls(_context(tuple(names)).constant(rational(value)), tuple(names))

    @classmethod
    def of(cls, text: str, names: Sequence[str]) -> Polynomial:
        """The polynomial that a text denotes: ``(1 - p)^2 / 4``.

        Raises:
            NumberError: the text is no polynomial in these parameters.
        """
        reader = _PolynomialReader(text, tuple(names))
        return reader.read_whole(reader.sum)

    def __reduce__(self) -> tuple[Any, ...]:
        terms = [(tuple(map(int, powers)), str(factor)) for powers, factor in self.value.to_dict().items()]
        return _of_terms, (terms, self.names)

    def _other(self, other: object) -> fmpq_mpoly | Rational | None:
        if isinstance(other, Polynomial):
            if other.names != self.names:
                raise NumberError("parameters", f"{self} and {other} have different parameters")
            return other.value
        if isinstance(other, bool) or not isinstance(other, int | Fraction | fmpq | fmpz):
            return None
        return rational(other)

    def __add__(self, other: object) -> Polynomial:
        value = self._other(other)
        return NotImplemented if value is None else Polynomial(self.value + value, self.names)

    __radd__ = __add__

    def __neg__(self) -> Polynomial:
        return Polynomial(-self.value, self.names)

    def __sub__(self, other: object) -> Polynomial:
        value = self._other(other)
        return NotImplemented if value is None else Polynomial(self.value - value, self.names)

    def __rsub__(self, other: object) -> Polynomial:
        value = self._other(other)
        return NotImplemented if value is None else Polynomial(value - self.value, self.names)

    def __mul__(self, other: object) -> Polynomial:
        value = self._other(other)
        return NotImplemented if value is None else Polynomial(self.value * value, self.names)

    __rmul__ = __mul__

    def __pow__(self, power: object) -> Polynomial:
        if not isinstance(power, int) or not 0 <= power <= _LARGEST_POWER:
            return NotImplemented
        return Polynomial(self.value**power, self.names)

    def __truediv__(self, other: object) -> Polynomial:
        value = self._other(other)
        if isinstance(value, fmpq_mpoly):
            if not value.is_constant():
                raise NumberError("parameters", f"{self} is divided by {other}, which is no number")
            value = fmpq(0) if value.is_zero() else value.leading_coefficient()
        if value is None:
            return NotImplemented
        return Polynomial(self.value / value, self.names)

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Polynomial) and other.names != self.names:
            return False
        value = self._other(other)
        return value is not None and bool(self.value == value)

    def __hash__(self) -> int:
        return hash((self.names, str(self.value)))

    def __repr__(self) -> str:
        return f"Polynomial({str(self)!r})"

    def __str__(self) -> str:
        return str(self.value)

    @property
    def terms(self) -> dict[tuple[int, ...], Rational]:
        """The coefficients by exponents."""
        return dict(self.value.to_dict())

    @property
    def degrees(self) -> tuple[int, ...]:
        """The degree in every parameter."""
        return tuple(max(0, int(d)) for d in self.value.degrees())

    @property
    def is_zero(self) -> bool:
        return bool(self.value.is_zero())

    @property
    def number(self) -> Rational | None:
        """The value of a constant polynomial."""
        if self.is_zero:
            return fmpq(0)
        return self.value.leading_coefficient() if self.value.is_constant() else None

    def at(self, point: Mapping[str, Number]) -> Rational:
        """The value at a point."""
        if not self.names:
            return self.number or fmpq(0)
        result: Any = self.value(*(rational(point[name]) for name in self.names))
        return rational(result)

    def having(self, values: Mapping[str, Number]) -> Polynomial:
        """The polynomial with some parameters at values.

        >>> Polynomial.of("p * q - p", ["p", "q"]).having({"q": 1}).is_zero
        True
        """
        terms: dict[tuple[int, ...], Rational] = {}
        for exponents, factor in self.terms.items():
            kept = []
            for name, exponent in zip(self.names, exponents, strict=True):
                if name in values:
                    factor = factor * rational(values[name]) ** int(exponent)
                kept.append(0 if name in values else int(exponent))
            terms[tuple(kept)] = terms.get(tuple(kept), fmpq(0)) + factor
        return Polynomial(_context(self.names).from_dict(terms), self.names)

    def common(self, other: Polynomial) -> Polynomial:
        """The greatest common divisor."""
        return Polynomial(self.value.gcd(other.value), self.names)

    def divided(self, factor: Polynomial) -> Polynomial:
        """The quotient by a divisor."""
        return Polynomial(self.value / factor.value, self.names)


def _of_terms(terms: list[tuple[tuple[int, ...], str]], names: tuple[str, ...]) -> Polynomial:
    """The polynomial of these powers and factors, which comes from another process."""
    return Polynomial(_context(names).from_dict({powers: rational(factor) for powers, factor in terms}), names)


def _context(names: tuple[str, ...]) -> fmpq_mpoly_ctx:
    return fmpq_mpoly_ctx.get(names, Ordering.lex)


class _PolynomialReader(ArithmeticReader[Polynomial]):
    """Reads arithmetic over numbers and parameters, and powers."""

    deepest = 150
    signs = ("-", "+")

    def __init__(self, text: str, names: tuple[str, ...]) -> None:
        self.names = names
        super().__init__(text, _LEXICON.tokens(text))
        if token := self.unreadable():
            raise self.error(f"cannot read {text[token.start :].strip()[:20]!r}")

    def error(self, message: str) -> NumberError:
        known = ", ".join(self.names) or "none"
        return NumberError(
            "expression", f"{self.text!r}: {message}", hint=f"an expression such as (1 - p)^2; parameters: {known}"
        )

    def expected(self, what: str) -> NoReturn:
        if what == repr(")"):
            raise self.error("a parenthesis is not closed")
        raise self.error("it ends too early" if self.at_end else f"unexpected {self.token.text!r}")

    def too_deep(self) -> NoReturn:
        raise self.error(f"it nests deeper than {self.deepest}")

    def joined(self, operands: Sequence[Polynomial], signs: Sequence[TextToken]) -> Polynomial:
        (left, right), (sign,) = operands, signs
        match sign.text:
            case "+":
                return left + right
            case "-":
                return left - right
            case "*":
                return left * right
        divisor = right.number
        if divisor is None or divisor == 0:
            raise self.error("division by something that is no number")
        return left / divisor

    def negated(self, value: Polynomial) -> Polynomial:
        return -value

    def raised(self, value: Polynomial) -> Polynomial:
        if self.accept("^", "**"):
            exponent = self.take().text
            if not exponent.isdigit() or rational(exponent) > _LARGEST_POWER:
                raise self.error(f"the power {exponent!r} is no whole number up to {_LARGEST_POWER}")
            value = value ** int(rational(exponent).p)
        return value

    def atom(self) -> Polynomial:
        if self.token.kind == "number":
            return Polynomial.constant(self.take().text, self.names)
        if self.token.text in self.names:
            return Polynomial.parameter(self.take().text, self.names)
        self.expected("an operand")
