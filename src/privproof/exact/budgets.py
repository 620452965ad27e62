"""Budgets: epsilon and delta as exact numbers, and `e^epsilon` compared exactly with rationals.

An epsilon is kept as ``ln(ratio)/root + shift`` with ratio > 0 and shift rational and root a positive integer,
or it is infinite.  This form is closed under sums and rational multiples, so ``4*ln(2)``, ``ln(2)+1/2`` and
``ln(3)/2`` are all exact.  Its bound is ``c = e^epsilon = (ratio * e^(shift*root))^(1/root)``:

* shift = 0: comparing ``c`` with a rational ``t`` is comparing ``ratio`` with ``t^root``: exact arithmetic;
* shift != 0: ``e^(shift*root)`` is transcendental (Lindemann), so ``c`` never equals a rational and the
  comparison settles in ball arithmetic at some precision.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from math import lcm
from typing import NoReturn, TypeAlias

from flint import arb, fmpq, fmpz

from privproof.errors import BudgetError, NumberError, PrivproofError
from privproof.exact.balls import precision, rational_bounds
from privproof.exact.parsing import ArithmeticReader, Lexicon, TextToken
from privproof.exact.rationals import ONE, ZERO, Number, Rational, fraction, rational
from privproof.exact.rationals import decimal as rounded

_LARGEST_ROOT = 10_000
"""A factor of a logarithm becomes a power and a root of its argument; one with a larger numerator or denominator is refused."""
_DEEPEST = 50
"""A text with more opening parentheses and minus signs is refused, long before the recursion of the reader is too deep for Python."""
_LEXICON = Lexicon(number=r"(?:[0-9.]|[eE][-+]?)+", sign="ln|log|[-+*/()]")


@dataclass(frozen=True)
class Epsilon:
    """An exact privacy budget ``ln(ratio)/root + shift``, possibly infinite.

    >>> epsilon("4*ln(2)")
    Epsilon('ln(16)')
    >>> epsilon("ln(2) + 1/2").show()
    'ln(2) + 1/2 ≈ 1.19315'
    >>> epsilon("ln(24/7)").compare_bound(rational("3.5")), epsilon("1/2").compare_bound(rational("1.6"))
    (-1, 1)
    """

    ratio: Rational = field(default_factory=lambda: ONE)
    root: int = 1
    shift: Rational = field(default_factory=lambda: ZERO)
    infinite: bool = False

    def __repr__(self) -> str:
        return f"Epsilon({str(self)!r})"

    def __str__(self) -> str:
        if self.infinite:
            return "inf"
        logarithm = f"ln({self.ratio})" + (f"/{self.root}" if self.root > 1 else "")
        if self.shift == 0:
            return logarithm if self.ratio != 1 else "0"
        if self.ratio == 1:
            return str(self.shift)
        return f"{logarithm} {'-' if self.shift < 0 else '+'} {abs(self.shift)}"

    def decimal(self, *, digits: int = 6) -> str:
        """The value rounded to so many significant digits."""
        if self.infinite:
            return "inf"
        if self.ratio == 1:
            return rounded(self.shift, digits=digits)
        middle, _ = rational_bounds(self.ball(64 + 4 * digits))
        return rounded(middle, digits=digits)

    def show(self) -> str:
        """Both forms: ``ln(8) ≈ 2.07944``."""
        if self.infinite:
            return "inf (no epsilon at all)"
        exact, rounded = str(self), self.decimal()
        if exact == rounded:
            return exact
        same = self.ratio == 1 and rational(rounded) == self.shift
        return f"{exact} {'=' if same else '≈'} {rounded}" if len(exact) <= 60 else f"≈ {rounded}"

    def ball(self, bits: int = 128) -> arb:
        """A ball that contains epsilon."""
        with precision(bits):
            return arb(self.ratio).log() / self.root + arb(self.shift)

    @property
    def bound(self) -> Fraction | None:
        """``e^epsilon`` when it is rational.

        >>> epsilon("ln(24/7)").bound == Fraction(24, 7), epsilon("1/2").bound
        (True, None)
        """
        return fraction(self.ratio) if self.shift == 0 and self.root == 1 and not self.infinite else None

    def compare_bound(self, value: Number) -> int:
        """The sign of ``e^epsilon - value``, exactly."""
        number = rational(value)
        if self.infinite or number <= 0:
            return 1
        target = number**self.root
        if self.shift == 0:
            return (self.ratio > target) - (self.ratio < target)
        bits = 64
        while True:
            with precision(bits):
                difference = arb(self.ratio) * arb(self.shift * self.root).exp() - arb(target)
            if difference > 0:
                return 1
            if difference < 0:
                return -1
            bits *= 2

    def allows(self, left: Number, right: Number, delta: Number = 0) -> bool:
        """Whether ``left <= e^epsilon * right + delta``, exactly; with an infinite epsilon, infinity times zero is zero.

        >>> epsilon("ln(2)").allows(rational("2/3"), rational("1/3")), epsilon("0.69").allows(rational(2), rational(1))
        (True, False)
        """
        excess, below = rational(left) - rational(delta), rational(right)
        if excess <= 0:
            return True
        if below == 0:
            return False
        return self.compare_bound(excess / below) >= 0

    def enclosure(self, bits: int = 128) -> tuple[Rational, Rational]:
        """Rationals ``low <= e^epsilon <= high``, equal when the bound is rational.

        >>> low, high = epsilon("1").enclosure(64)
        >>> low < high, float(high - low) < 1e-15, epsilon("ln(3)").enclosure()
        (True, True, (3, 3))
        """
        if self.infinite:
            raise BudgetError("budget", "an infinite epsilon has no bound")
        if self.bound is not None:
            return self.ratio, self.ratio
        with precision(bits):
            return rational_bounds(self.ball(bits).exp())

    def plus(self, other: Epsilon) -> Epsilon:
        """The sum, exactly.

        >>> epsilon("ln(2)").plus(epsilon("ln(4) + 1/2"))
        Epsilon('ln(8) + 1/2')
        """
        if self.infinite or other.infinite:
            return Epsilon(infinite=True)
        return _add(self, other)

    def minus(self, other: Epsilon) -> Epsilon:
        """The difference from a finite epsilon, exactly; it may be below zero.

        >>> epsilon("ln(8) + 1").minus(epsilon("ln(2)"))
        Epsilon('ln(4) + 1')
        """
        return self if self.infinite else _add(self, _times(other, fmpq(-1)))

    def compare(self, other: Epsilon) -> int:
        """The sign of ``self - other``, exactly."""
        if self.infinite or other.infinite:
            return int(self.infinite) - int(other.infinite)
        if self.shift == other.shift:
            mine, theirs = self.ratio**other.root, other.ratio**self.root
            return (mine > theirs) - (mine < theirs)
        bits = 64
        while True:
            with precision(bits):
                difference = self.ball(bits) - other.ball(bits)
            if difference > 0:
                return 1
            if difference < 0:
                return -1
            bits *= 2


EpsilonLike: TypeAlias = "Epsilon | Number"

INFINITE = Epsilon(infinite=True)


def log(ratio: Number) -> Epsilon:
    """The epsilon whose bound ``e^epsilon`` is the given ratio.

    >>> log("24/7").show()
    'ln(24/7) ≈ 1.23214'
    """
    value = rational(ratio)
    if value <= 0:
        raise BudgetError("budget", f"ln({value}) does not exist")
    return Epsilon(ratio=value)


def epsilon(value: EpsilonLike) -> Epsilon:
    """The epsilon that a number or a text denotes: ``ln(8/3)``, ``1/2``, ``1.3``, ``ln(2)+1/2``, ``inf``.

    >>> epsilon("ln(4)/2"), epsilon("ln(2)/3"), epsilon("1.3"), epsilon("inf")
    (Epsilon('ln(2)'), Epsilon('ln(2)/3'), Epsilon('13/10'), Epsilon('inf'))
    >>> epsilon("-1")
    Traceback (most recent call last):
    ...
    privproof.errors.BudgetError: epsilon=-1 is below zero [budget]
      hint: a privacy budget is at least 0
    """
    parsed = value if isinstance(value, Epsilon) else _read_epsilon(_decimal(value))
    if parsed.compare(Epsilon()) < 0:
        raise BudgetError("budget", f"epsilon={value} is below zero", hint="a privacy budget is at least 0")
    return parsed


def smallest_epsilon(left: Number, right: Number, delta: Number = 0) -> Epsilon:
    """The smallest epsilon with ``left <= e^epsilon * right + delta``.

    >>> smallest_epsilon("2/3", "1/6"), smallest_epsilon("1/4", "1/2"), smallest_epsilon("1/4", 0), smallest_epsilon("1/4", 0, "1/4")
    (Epsilon('ln(4)'), Epsilon('0'), Epsilon('inf'), Epsilon('0'))
    """
    excess, below = rational(left) - rational(delta), rational(right)
    if excess <= 0 or excess <= below:
        return epsilon(0)
    return INFINITE if below == 0 else log(excess / below)


def delta(value: Number) -> Rational:
    """A delta: an exact number in [0, 1].

    >>> delta("1e-5")
    1/100000
    """
    number = rational(_decimal(value))
    if not 0 <= number <= 1:
        raise BudgetError("budget", f"delta={value} is outside [0, 1]", hint="delta is a probability")
    return number


def _decimal(value: Number) -> Number:
    """A budget; a float is the decimal number that it prints as, which is what whoever wrote it meant."""
    return repr(float(value)) if isinstance(value, float) else value


def _read_epsilon(value: Number) -> Epsilon:
    if not isinstance(value, str):
        return Epsilon(shift=rational(value))
    if value.strip().lower() in ("inf", "infinity", "∞"):
        return INFINITE
    try:
        reader = _EpsilonReader(value)
        return reader.read_whole(reader.sum)
    except BudgetError:
        raise
    except PrivproofError as error:
        raise BudgetError("budget", f"{value!r}: {error.message}", hint=error.hint or _FORMS) from None


_FORMS = "an epsilon reads like ln(8/3), 1/2, 1.3, 4*ln(2), ln(2)+1/2 or inf"


class _EpsilonReader(ArithmeticReader[Epsilon]):
    """Reads arithmetic over numbers and logarithms of numbers."""

    def __init__(self, text: str) -> None:
        if text.count("(") + text.count("-") > _DEEPEST:
            raise BudgetError("budget", f"more than {_DEEPEST} parentheses and minus signs", hint=_FORMS)
        super().__init__(text, _LEXICON.tokens(text))

    def error(self, message: str) -> BudgetError:
        return BudgetError("budget", f"{self.text!r}{message}", hint=_FORMS)

    def expected(self, what: str) -> NoReturn:
        found, at = ("the end", len(self.text)) if self.at_end else (repr(self.token.text[0]), self.token.start)
        raise self.error(f": unexpected {found} at position {at}")

    def joined(self, operands: Sequence[Epsilon], signs: Sequence[TextToken]) -> Epsilon:
        (left, right), (sign,) = operands, signs
        match sign.text:
            case "+" | "-":
                return _add(left, _times(right, ONE if sign.text == "+" else -ONE))
            case "/":
                if right.ratio != 1 or right.shift == 0:
                    raise self.error(f" divides by {right}")
                return _times(left, 1 / right.shift)
        if right.ratio == 1:
            return _times(left, right.shift)
        if left.ratio == 1:
            return _times(right, left.shift)
        raise self.error(" multiplies two logarithms")

    def negated(self, value: Epsilon) -> Epsilon:
        return _times(value, -ONE)

    def atom(self) -> Epsilon:
        if self.accept("ln", "log"):
            inner = self.parenthesis()
            if inner.ratio != 1 or inner.shift <= 0:
                raise self.error(f": ln({inner}) is not supported")
            return Epsilon(ratio=inner.shift)
        if self.token.kind != "number":
            self.expected("a number")
        try:
            return Epsilon(shift=rational(self.take().text))
        except NumberError as error:
            raise self.error(f": {error.message}") from None


def _add(left: Epsilon, right: Epsilon) -> Epsilon:
    root = lcm(left.root, right.root)
    ratio = left.ratio ** (root // left.root) * right.ratio ** (root // right.root)
    return _simplest(ratio, root, left.shift + right.shift)


def _times(value: Epsilon, factor: Rational) -> Epsilon:
    if value.ratio == 1:
        return Epsilon(shift=value.shift * factor)
    if abs(factor.p) > _LARGEST_ROOT or factor.q * value.root > _LARGEST_ROOT:
        raise BudgetError("budget", f"the factor {factor} of a logarithm is too fine", hint=_FORMS)
    return _simplest(value.ratio ** int(factor.p), value.root * int(factor.q), value.shift * factor)


def _simplest(ratio: Rational, root: int, shift: Rational) -> Epsilon:
    """Take perfect powers out of the root: ln(4)/2 is ln(2)."""
    for divisor in range(root, 1, -1):
        if root % divisor == 0:
            above, below = _whole_root(ratio.p, divisor), _whole_root(ratio.q, divisor)
            if above is not None and below is not None:
                return Epsilon(ratio=fmpq(above, below), root=root // divisor, shift=shift)
    return Epsilon(ratio=ratio, root=root, shift=shift)


def _whole_root(value: fmpz, degree: int) -> fmpz | None:
    low, high = fmpz(0), fmpz(1) << (int(value).bit_length() // degree + 1)
    while low < high:
        middle = (low + high) // 2
        if middle**degree < value:
            low = middle + 1
        else:
            high = middle
    return low if low**degree == value else None


@dataclass(frozen=True)
class Budget:
    """An epsilon and a delta.

    With delta above zero there are two readings, and they differ: over *events*, ``P(E) <= e^epsilon Q(E) + delta`` for
    every set of outputs E, which is (epsilon, delta)-differential privacy; over single *outputs*, the same for every one
    output, which is weaker.  `pointwise` chooses the second.

    >>> Budget.of("ln(2)", "0.01")
    Budget(epsilon=Epsilon('ln(2)'), delta=1/100, pointwise=False)
    """

    epsilon: Epsilon
    delta: Rational = field(default_factory=lambda: ZERO)
    pointwise: bool = False

    @classmethod
    def of(cls, epsilon_: EpsilonLike, delta_: Number = 0, *, pointwise: bool = False) -> Budget:
        """A budget from anything that denotes an epsilon and a delta."""
        return cls(epsilon(epsilon_), delta(delta_), pointwise)

    def __str__(self) -> str:
        if self.delta == 0:
            return str(self.epsilon)
        return f"({self.epsilon}, {self.delta}{', for each output' if self.pointwise else ''})"
