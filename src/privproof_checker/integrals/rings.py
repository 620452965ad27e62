"""Where the coefficients of integrals live, and how much work they may take: sums of exponentials, which are exact, or balls."""

from __future__ import annotations

from typing import Protocol, TypeVar

from flint import arb, fmpq

from privproof_checker.numbers.exponentials import ExponentialSum
from privproof_checker.numbers.patience import pause

K = TypeVar("K", ExponentialSum, arb)


class Unresolved(ArithmeticError):
    """The probability takes more precision or more work than allowed."""


class Work:
    """Counts terms, up to a bound, and those of a part also for the whole."""

    def __init__(self, most: int, whole: Work | None = None) -> None:
        self._most = most
        self._whole = whole
        self._terms = 0

    def count(self, terms: int) -> None:
        """Add some, or raise `Unresolved`."""
        pause()
        self._terms += terms
        if self._terms > self._most:
            raise Unresolved(f"more than {self._most} products of terms are needed")
        if self._whole is not None:
            self._whole.count(terms)


class Ring(Protocol[K]):
    """Coefficients, which add, subtract and multiply by themselves and by rational numbers."""

    def number(self, value: fmpq) -> K:
        """A rational number."""
        ...

    def exponential(self, exponent: fmpq) -> K:
        """Its exponential."""
        ...

    def vanishes(self, value: K) -> bool:
        """Whether it is known to be 0."""
        ...

    def power(self, value: K, exponent: int) -> K:
        """A power of it."""
        ...

    def size(self, value: K) -> int:
        """How many terms it has."""
        ...


class Exact:
    """Sums of exponentials."""

    def number(self, value: fmpq) -> ExponentialSum:
        return ExponentialSum.constant(value)

    def exponential(self, exponent: fmpq) -> ExponentialSum:
        return ExponentialSum.term(1, exponent)

    def vanishes(self, value: ExponentialSum) -> bool:
        return value.is_zero

    def power(self, value: ExponentialSum, exponent: int) -> ExponentialSum:
        if exponent == 0:
            return ExponentialSum.constant(1)
        half = self.power(value, exponent // 2)
        return half * half * value if exponent % 2 else half * half

    def size(self, value: ExponentialSum) -> int:
        return value.size


class Balls:
    """Balls in the precision of the context."""

    def number(self, value: fmpq) -> arb:
        return arb(value)

    def exponential(self, exponent: fmpq) -> arb:
        return arb(exponent).exp()

    def vanishes(self, value: arb) -> bool:
        return value.is_zero()

    def power(self, value: arb, exponent: int) -> arb:
        return value**exponent

    def size(self, value: arb) -> int:
        return 1
