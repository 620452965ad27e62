"""Epsilons: numbers ``ln(ratio)/root + shift``, compared exactly, and with them the decisive comparison ``P <= e^epsilon Q + delta``.

Theorem (Lindemann).  ``e^x`` is transcendental for every rational x other than 0.  So ``ln(r) + s`` with r > 0 and s rational is 0 only
if r = 1 and s = 0: otherwise ``e^(-s)`` would be the rational r.  Whether such a number is below, at or above 0 is therefore seen from
r and s where one of them says it alone, and settled by balls of more and more bits where they pull apart, since it is not 0 then.
All comparisons of this module are of that kind: roots are multiplied away first.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from math import lcm
from typing import NoReturn

from flint import arb, fmpq

from privproof_checker.numbers.balls import precision, rational_bounds
from privproof_checker.numbers.rationals import ONE, ZERO, Number, Rational, decimal, rational

_LARGEST_ROOT = 10_000
"""A logarithm times a number with a larger numerator or denominator is refused: it becomes a power and a root."""
_MOST_SHOWN = 60
"""Characters of an exact text; a longer one is shown as a decimal."""


def _sign(ratio: Rational, shift: Rational) -> int:
    """The sign of ``ln(ratio) + shift``, exactly."""
    one, two = (ratio > 1) - (ratio < 1), (shift > 0) - (shift < 0)
    if one * two >= 0:
        return one or two
    bits = 64
    while True:
        with precision(bits):
            ball = arb(ratio).log() + arb(shift)
        if ball > 0:
            return 1
        if ball < 0:
            return -1
        bits *= 2


@dataclass(frozen=True)
class Epsilon:
    """An exact epsilon ``ln(ratio)/root + shift``, or an infinite one.

    >>> epsilon("2*ln(3)/4 + 1/2"), epsilon("ln(8)/3").compare(epsilon("ln(2)")), epsilon("ln(2)").compare(epsilon("0.693"))
    (Epsilon('ln(3)/2 + 1/2'), 0, 1)
    """

    ratio: Rational = ONE
    root: int = 1
    shift: Rational = ZERO
    infinite: bool = False

    def __repr__(self) -> str:
        return f"Epsilon({str(self)!r})"

    def __str__(self) -> str:
        if self.infinite:
            return "inf"
        logarithm = f"ln({self.ratio})" if self.root == 1 else f"ln({self.ratio})/{self.root}"
        if self.ratio == 1:
            return str(self.shift)
        if self.shift == 0:
            return logarithm
        return f"{logarithm} {'-' if self.shift < 0 else '+'} {abs(self.shift)}"

    def show(self) -> str:
        """The exact text and a decimal.

        >>> epsilon("ln(8)").show(), epsilon("0.5").show(), epsilon(1).show()
        ('ln(8) ≈ 2.07944', '1/2 = 0.5', '1')
        """
        if self.infinite:
            return "inf (no epsilon at all)"
        exact = str(self)
        near = decimal(self.shift if self.ratio == 1 else rational_bounds(self.ball())[0])
        if exact == near:
            return exact
        if len(exact) > _MOST_SHOWN:
            return f"≈ {near}"
        return f"{exact} {'=' if self.ratio == 1 and rational(near) == self.shift else '≈'} {near}"

    def ball(self, bits: int = 128) -> arb:
        """A ball around a finite epsilon."""
        with precision(bits):
            return arb(self.ratio).log() / self.root + arb(self.shift)

    @property
    def bound(self) -> Rational | None:
        """``e^epsilon``, where it is seen to be rational."""
        return None if self.infinite or self.root != 1 or self.shift != 0 else self.ratio

    def enclosure(self, bits: int = 128) -> tuple[Rational, Rational]:
        """Rationals ``low <= e^epsilon <= high`` for a finite epsilon."""
        if self.infinite:
            raise ValueError("an infinite epsilon has no bound")
        if self.bound is not None:
            return self.bound, self.bound
        with precision(bits):
            return rational_bounds(self.ball(bits).exp())

    def compare(self, other: Epsilon) -> int:
        """The sign of the difference, exactly."""
        if self.infinite or other.infinite:
            return self.infinite - other.infinite
        shared = lcm(self.root, other.root)
        ratio = self.ratio ** (shared // self.root) / other.ratio ** (shared // other.root)
        return _sign(ratio, (self.shift - other.shift) * shared)

    def compare_bound(self, value: Rational) -> int:
        """The sign of ``e^epsilon - value``, exactly."""
        if self.infinite or value <= 0:
            return 1
        return _sign(self.ratio / value**self.root, self.shift * self.root)

    def allows(self, left: Rational, right: Rational, delta: Rational | int = 0) -> bool:
        """The decisive comparison ``left <= e^epsilon * right + delta`` of probabilities, exactly; infinity times 0 is 0.

        >>> epsilon("ln(2)").allows(fmpq(2, 3), fmpq(1, 3)), epsilon("0.693").allows(fmpq(2, 3), fmpq(1, 3))
        (True, False)
        """
        excess = left - delta
        return excess <= 0 or (right > 0 and self.compare_bound(excess / right) >= 0)

    def plus(self, other: Epsilon) -> Epsilon:
        """The sum, exactly."""
        if self.infinite or other.infinite:
            return INFINITE
        shared = lcm(self.root, other.root)
        ratio = self.ratio ** (shared // self.root) * other.ratio ** (shared // other.root)
        return _simplest(ratio, shared, self.shift + other.shift)

    def minus(self, other: Epsilon) -> Epsilon:
        """The difference from a finite epsilon, exactly; it may be below 0."""
        return self if self.infinite else self.plus(other.times(-ONE))

    def times(self, factor: Rational) -> Epsilon:
        """A finite epsilon multiplied by a number, exactly.

        >>> epsilon("ln(2) + 1").times(fmpq(3, 2))
        Epsilon('ln(8)/2 + 3/2')

        Raises:
            ValueError: powers and roots would be too large.
        """
        if self.ratio == 1:
            return Epsilon(shift=self.shift * factor)
        if abs(factor.p) > _LARGEST_ROOT or factor.q * self.root > _LARGEST_ROOT:
            raise ValueError(f"the factor {factor} of a logarithm is too fine")
        return _simplest(self.ratio ** int(factor.p), self.root * int(factor.q), self.shift * factor)


INFINITE = Epsilon(infinite=True)


def _simplest(ratio: Rational, root: int, shift: Rational) -> Epsilon:
    """The same epsilon with the least root: ln(4)/2 is ln(2)."""
    for part in (part for part in range(root, 1, -1) if root % part == 0):
        above, below = ratio.p.root(part), ratio.q.root(part)
        if above**part == ratio.p and below**part == ratio.q:
            return Epsilon(fmpq(above, below), root // part, shift)
    return Epsilon(ratio, root, shift)


def smallest_epsilon(left: Rational, right: Rational, delta: Rational | int = 0) -> Epsilon:
    """The smallest epsilon that allows two probabilities at a delta.

    >>> smallest_epsilon(fmpq(2, 3), fmpq(1, 6)), smallest_epsilon(fmpq(1, 4), fmpq(1, 2)), smallest_epsilon(fmpq(1, 4), ZERO)
    (Epsilon('ln(4)'), Epsilon('0'), Epsilon('inf'))
    """
    excess = left - delta
    if excess <= 0 or excess <= right:
        return Epsilon()
    return INFINITE if right == 0 else Epsilon(ratio=excess / right)


def epsilon(value: Number | float) -> Epsilon:
    """The epsilon that a number or a text is: sums, products and quotients of numbers and of logarithms of numbers, or ``inf``.

    A float is the decimal that it prints as.

    >>> epsilon("(1 + 1)*ln(3/2)"), epsilon("-ln(1/2)"), epsilon(0.1)
    (Epsilon('ln(9/4)'), Epsilon('ln(2)'), Epsilon('1/10'))

    Raises:
        ValueError: it is none, or it is below 0.
    """
    written = repr(float(value)) if isinstance(value, float) else value
    if isinstance(written, str):
        found = INFINITE if written.strip().lower() in ("inf", "infinity", "∞") else _EpsilonReading(written).whole()
    else:
        found = Epsilon(shift=rational(written))
    if not found.infinite and found.compare(Epsilon()) < 0:
        raise ValueError(f"epsilon = {str(value)[:60]} is below 0")
    return found


_TOKEN = re.compile(r"\s*(?:(?P<number>[0-9.](?:[0-9.]|[eE][-+]?)*)|(?P<sign>ln|log|[-+*/()]))", re.ASCII)
_DEEPEST = 50
"""Parentheses and minus signs of a text, which is read by recursion."""


class _EpsilonReading:
    """``sum := product (+|- product)*``, ``product := factor (*|/ factor)*``, ``factor := number | - factor | ln(sum) | (sum)``."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.tokens: list[str] = []
        at, stripped = 0, text.rstrip()
        while at < len(stripped):
            found = _TOKEN.match(stripped, at)
            if found is None:
                self.fail("is no epsilon")
            self.tokens.append(found["number"] or found["sign"])
            at = found.end()
        if sum(token in ("(", "-") for token in self.tokens) > _DEEPEST:
            self.fail("has too many parentheses and minus signs")
        self.tokens.reverse()

    def fail(self, why: str) -> NoReturn:
        raise ValueError(f"{self.text[:60]!r} {why}")

    def taken(self, *tokens: str) -> str:
        """The next token, if it is one of these, and then the one after it is next."""
        return self.tokens.pop() if self.tokens and self.tokens[-1] in tokens else ""

    def whole(self) -> Epsilon:
        value = self.sum()
        if self.tokens:
            self.fail("goes on after its end")
        return value

    def sum(self) -> Epsilon:
        total = self.product()
        while sign := self.taken("+", "-"):
            more = self.product()
            total = total.plus(more) if sign == "+" else total.minus(more)
        return total

    def product(self) -> Epsilon:
        value = self.factor()
        while sign := self.taken("*", "/"):
            other = self.factor()
            if sign == "/":
                if other.ratio != 1 or other.shift == 0:
                    self.fail("divides by a logarithm or by 0")
                value = value.times(1 / other.shift)
            elif other.ratio == 1:
                value = value.times(other.shift)
            elif value.ratio == 1:
                value = other.times(value.shift)
            else:
                self.fail("multiplies two logarithms")
        return value

    def factor(self) -> Epsilon:
        if self.taken("-"):
            return self.factor().times(-ONE)
        logarithm = self.taken("ln", "log")
        if self.taken("("):
            value = self.sum()
            if not self.taken(")"):
                self.fail("has an open parenthesis")
            if logarithm and (value.ratio != 1 or value.shift <= 0):
                self.fail("has a logarithm of what is no number above 0")
            return Epsilon(ratio=value.shift) if logarithm else value
        if logarithm or not self.tokens:
            self.fail("ends too early" if not self.tokens else "has a logarithm without parentheses")
        return Epsilon(shift=rational(self.tokens.pop()))
