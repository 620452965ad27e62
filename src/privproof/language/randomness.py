"""Where randomness comes from: whole numbers below a bound, exactly uniform, and what can be built from them exactly.

Nothing here rounds: a coin with probability p/q compares a uniform number below q with p.  The secure source asks the operating
system; the seeded one repeats itself, for tests and audits.
"""

from __future__ import annotations

import math
import random
import secrets
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from fractions import Fraction
from typing import Protocol


class Source(Protocol):
    """A source of uniform whole numbers."""

    def below(self, bound: int) -> int:
        """A whole number in 0, ..., bound - 1, each with probability 1/bound."""

    def unit(self) -> float:
        """A float in the open interval (0, 1), for continuous noise."""


@dataclass(frozen=True)
class Secure:
    """The operating system's generator."""

    def below(self, bound: int) -> int:
        return secrets.randbelow(bound)

    def unit(self) -> float:
        return (secrets.randbits(53) + 0.5) * 2.0**-53


class Seeded:
    """A generator that gives the same numbers for the same seed; not for releasing data."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)

    def below(self, bound: int) -> int:
        return self._random.randrange(bound)

    def unit(self) -> float:
        return (self._random.getrandbits(53) + 0.5) * 2.0**-53


_SECURE = Secure()
_source: ContextVar[Source] = ContextVar("source", default=_SECURE)


def source() -> Source:
    """The source in use."""
    return _source.get()


@contextmanager
def seeded(seed: int) -> Iterator[None]:
    """Inside this context noise is drawn from a generator with a seed, so that a run can be repeated.

    >>> from privproof.language.noise import uniform
    >>> with seeded(7):
    ...     first = [uniform(1, 6) for _ in range(5)]
    >>> with seeded(7):
    ...     again = [uniform(1, 6) for _ in range(5)]
    >>> first == again
    True
    """
    token = _source.set(Seeded(seed))
    try:
        yield
    finally:
        _source.reset(token)


def coin(probability: Fraction) -> bool:
    """True with exactly this probability."""
    return source().below(probability.denominator) < probability.numerator


def pick(weights: Sequence[Fraction]) -> int:
    """An index, each with exactly its weight as probability; the weights sum to one."""
    scale = math.lcm(*(weight.denominator for weight in weights))
    drawn = source().below(scale)
    for index, weight in enumerate(weights):
        drawn -= int(weight * scale)
        if drawn < 0:
            return index
    raise AssertionError("the weights do not sum to one")


def failures(alpha: Fraction) -> int:
    """How often a coin with probability alpha shows True before it shows False: k with probability (1 - alpha) alpha^k."""
    count = 0
    while coin(alpha):
        count += 1
    return count


def exponential_unit() -> float:
    """A float from the exponential distribution with mean one."""
    return -math.log(source().unit())
