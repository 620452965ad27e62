"""Powers of a transition matrix: their zeros exactly, their entries as balls or as rationals; and possible states.

A power is a product of powers with a single hexadecimal digit, and all of them are kept, so that exponents that share
digits share products.  Which entries are zero is found from sets of successors alone: a ball around a tiny positive
number is then known to be positive, and a zero to be zero.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Generic, TypeVar

from privproof_checker.numbers.patience import pause
from privproof_checker.outcomes import refuse
from privproof_checker.release.release_priors import Chain, support

Matrix = TypeVar("Matrix")

_DIGIT = 4
"""Exponents are split into digits of so many bits: neighbouring exponents then share most of the products that make them."""
_MOST_SUPPORTS = 50_000
"""The sets of possible states, entry by entry, are followed until they repeat; a chain that needs more of them is refused."""
_MOST_WORK = 12_000_000_000
"""The elementary operations of one check, counted before they are made; beyond, the evidence is refused."""


class OperationWork:
    """Counts elementary operations, and refuses beyond a limit."""

    def __init__(self, limit: int = _MOST_WORK) -> None:
        self.limit, self.done = limit, 0

    def add(self, amount: int) -> None:
        """So much more is to be done."""
        pause()
        self.done += amount
        if self.done > self.limit:
            refuse("the check takes more operations than the limit", "evidence")


class Powers(Generic[Matrix]):
    """The powers of something, each computed once.

    >>> powers = Powers(3, lambda left, right: left * right)
    >>> powers(5), powers(300) == 3**300
    (243, True)
    """

    def __init__(self, base: Matrix, product: Callable[[Matrix, Matrix], Matrix]) -> None:
        self.product = product
        self.found: dict[int, Matrix] = {1: base}

    def __call__(self, exponent: int) -> Matrix:
        """The power of an exponent of at least 1."""
        if exponent not in self.found:
            self.found[exponent] = self.product(*map(self, self._parts(exponent)))
        return self.found[exponent]

    def _parts(self, exponent: int) -> tuple[int, int]:
        """Two smaller exponents with this sum."""
        place = (exponent.bit_length() - 1) // _DIGIT * _DIGIT
        rest = exponent & ((1 << place) - 1)
        if rest:
            return exponent - rest, rest
        if exponent == 1 << place:
            return exponent // 2, exponent // 2
        return exponent - (1 << place), 1 << place


Pattern = tuple[int, ...]


def following_states(among: int, pattern: Sequence[int]) -> int:
    """The states that may follow one of a set, as bits.

    >>> following_states(0b01, (0b10, 0b11)), following_states(0b11, (0b10, 0b11))
    (2, 3)
    """
    result = 0
    for state, successors in enumerate(pattern):
        if among >> state & 1:
            result |= successors
    return result


def patterns(chain: Chain) -> Powers[Pattern]:
    """The zeros of the powers of the transition matrix."""
    return Powers(chain.pattern, lambda left, right: tuple(following_states(row, right) for row in left))


def members(bits: int) -> list[int]:
    """The numbers in a set of bits.

    >>> members(0b1011)
    [0, 1, 3]
    """
    return [place for place in range(bits.bit_length()) if bits >> place & 1]


class Supports:
    """Which states are possible for every entry of a series; if the start may be any, under some start.

    The set of one entry determines that of the next, so the sequence of sets runs into a cycle.

    >>> swap = Chain(("a", "b"), ((0, 1), (1, 0)), "given", (1, 0))
    >>> supports = Supports(swap)
    >>> supports.at(1), supports.at(1000), supports.union(1, 1000), supports.compares(1000)
    (1, 2, 3, False)
    """

    def __init__(self, chain: Chain) -> None:
        self.pattern, self.values = chain.pattern, chain.values
        everywhere = (1 << chain.size) - 1
        self.sets = [everywhere if chain.start is None else support(chain.start)]
        self.seen = {self.sets[0]: 0}
        self.cycle: int | None = None

    def _until(self, count: int) -> None:
        """Find so many sets, or the cycle."""
        while self.cycle is None and len(self.sets) < count:
            following = following_states(self.sets[-1], self.pattern)
            if following in self.seen:
                self.cycle = len(self.sets) - self.seen[following]
                return
            if len(self.sets) >= _MOST_SUPPORTS:
                refuse(f"the sets of possible states do not repeat within {_MOST_SUPPORTS} entries", "question.priors")
            self.seen[following] = len(self.sets)
            self.sets.append(following)

    def at(self, entry: int) -> int:
        """The states that are possible for an entry, the first being 1."""
        self._until(entry)
        if entry <= len(self.sets):
            return self.sets[entry - 1]
        assert self.cycle is not None
        begin = len(self.sets) - self.cycle
        return self.sets[begin + (entry - 1 - begin) % self.cycle]

    def union(self, first: int, last: int) -> int:
        """The states that are possible for one of the entries from first to last."""
        self._until(last)
        if self.cycle is not None:
            last = min(last, max(first, len(self.sets) + 1) + self.cycle)
        result = 0
        for entry in range(first, last + 1):
            result |= self.at(entry)
        return result

    def compares(self, length: int) -> bool:
        """Whether some entry has two possible values."""
        self._until(length)
        return any(len({self.values[x] for x in members(each)}) > 1 for each in self.sets[:length])
