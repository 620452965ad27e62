"""Where randomness comes from: whole numbers below a bound, exactly uniform, and what can be built from them exactly.

Nothing here rounds: a coin with probability p/q compares a uniform number below q with p.  The secure source asks the operating
system; the seeded one repeats itself, for tests and audits.

A call of a mechanism draws from whatever `seeded` says around it.  A release does not: it takes the source that `release_source`
gives, which is the operating system's generator unless the release itself was asked for with a seed.  So no seed that somebody
left open, in this function or in another that is suspended, can be behind a released number.
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
from typing import Protocol, TypeAlias

from privproof.errors import QuestionError


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


class Chance(random.Random):
    """A generator for searches: its methods are its own, whatever stands in ``random.Random`` while a function runs under control."""

    choice, choices = random.Random.choice, random.Random.choices
    getrandbits = random.Random.getrandbits
    _randbelow = random.Random._randbelow  # type: ignore[attr-defined]
    random = random.Random.random


_SECURE = Secure()
_source: ContextVar[Source] = ContextVar("source", default=_SECURE)


def source() -> Source:
    """The source in use."""
    return _source.get()


Seed: TypeAlias = "int | Seeded | None"
"""What a release may be asked with: a seed, or a seeded generator that goes on; None for the operating system's generator."""


def release_source(seed: Seed) -> Source:
    """The source of the noise of a release: the operating system's generator, or a seeded one where the release asks for it.

    >>> with seeded(7):
    ...     release_source(None)
    Secure()
    """
    if seed is None:
        return _SECURE
    if isinstance(seed, Seeded):
        return seed
    if not isinstance(seed, int) or isinstance(seed, bool):
        raise QuestionError("seed", f"{seed!r} is no seed", place="seed", hint="a whole number, or none for a release")
    return Seeded(seed)


@contextmanager
def drawing_from(drawn: Source) -> Iterator[None]:
    """Inside this context mechanisms draw from the given source."""
    token = _source.set(drawn)
    try:
        yield
    finally:
        _source.reset(token)


@contextmanager
def seeded(seed: int) -> Iterator[None]:
    """Inside this context mechanisms draw from a generator with a seed, so that a run can be repeated; releases do not.

    >>> from privproof.language.noise import uniform
    >>> with seeded(7):
    ...     first = [uniform(1, 6) for _ in range(5)]
    >>> with seeded(7):
    ...     again = [uniform(1, 6) for _ in range(5)]
    >>> first == again
    True
    """
    with drawing_from(Seeded(seed)):
        yield


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


def exponential_coin(exponent: Fraction) -> bool:
    """True with probability ``e^-exponent``, for an exponent of at least 0 (Canonne, Kamath and Steinke 2020, algorithm 1).

    For an exponent of at most 1: how often do coins with probabilities exponent/1, exponent/2, ... show True in a row?  At least k times
    with probability ``exponent^k / k!``, so an even number of times with probability ``1 - exponent + exponent^2/2! - ...``.
    """
    while exponent > 1:
        if not exponential_coin(Fraction(1)):
            return False
        exponent -= 1
    tried = 1
    while coin(exponent / tried):
        tried += 1
    return tried % 2 == 1


def discrete_laplace(scale: int) -> int:
    """k with probability proportional to ``e^(-|k| / scale)``, for a whole scale (algorithm 2 of the same)."""
    while True:
        rest = source().below(scale)
        if not exponential_coin(Fraction(rest, scale)):
            continue
        times = 0
        while exponential_coin(Fraction(1)):
            times += 1
        size = rest + scale * times
        negative = coin(Fraction(1, 2))
        if size or not negative:
            return -size if negative else size


def discrete_normal(variance: Fraction) -> int:
    """k with probability proportional to ``e^(-k^2 / (2 variance))`` (algorithm 3): rejected from a discrete Laplace law, exactly."""
    scale = math.isqrt(math.floor(variance)) + 1
    while True:
        drawn = discrete_laplace(scale)
        if exponential_coin((abs(drawn) - variance / scale) ** 2 / (2 * variance)):
            return drawn


def exponential_unit() -> float:
    """A float from the exponential distribution with mean one."""
    return -math.log(source().unit())


def normal_unit() -> float:
    """A float from the normal distribution with mean zero and standard deviation one (Box and Muller 1958)."""
    return math.sqrt(2 * exponential_unit()) * math.cos(2 * math.pi * source().unit())
