"""Influences of quilts in a chain, twice: as upper bounds in balls, and exactly in rationals.

For an ordered pair of states (x, x') the influence of a node b later is the largest ``P^b(x, z) / P^b(x', z)``, and that
of a node a earlier is ``m(x') / m(x)`` times the largest ``P^a(y, x) / P^a(y, x')``, with m the distribution of the node
itself (Song, Wang and Chaudhuri, SIGMOD 2017).  A quotient 0/0 does not count, and with a positive numerator over 0 the
influence is infinite, which is written None.

The two kits have the same methods.  In `LogarithmBounds` a ratio is the integer ``ln(ratio) 2^bits`` rounded up; in `Ratios` it is
the ratio itself.  Their `within` answers None where it cannot tell.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from operator import sub
from typing import Any, Protocol, TypeAlias

from flint import arb, arb_mat, fmpq_mat

from privproof_checker.numbers import ONE, Rational
from privproof_checker.numbers.balls import precision
from privproof_checker.outcomes import refuse
from privproof_checker.release.release_losses import Allowance
from privproof_checker.release.release_priors import Chain
from privproof_checker.release.transition_powers import OperationWork, Pattern, Powers, members, patterns

Ratio: TypeAlias = Any
"""A ratio of a kit, or None if it is infinite; ratios of one kit are compared with each other."""
Table: TypeAlias = "list[list[Ratio]]"
"""A ratio for every ordered pair of states; the diagonal means nothing."""
Pairs: TypeAlias = "dict[tuple[int, int], Ratio]"

_MOST_EXACT = 30_000_000
"""The bits of all entries of an exact power of a chain; beyond, there are only the bounds of the other kits."""


class TooLarge(Exception):
    """Exact numbers have become too large."""


class Kit(Protocol):
    """Arithmetic with influences."""

    nothing: Ratio
    furthest: int

    def rows(self, steps: int) -> Table:
        """For (x, x') the largest ``P^steps(x, z) / P^steps(x', z)``."""

    def columns(self, steps: int, among: int) -> Table:
        """For (x, x') the largest ``P^steps(y, x) / P^steps(y, x')`` over the states y of a set."""

    def marginals(self, first: int, last: int) -> Pairs:
        """For (x, x') the largest ``m_i(x') / m_i(x)`` over the entries from first to last where both are possible."""

    def start(self) -> Pairs:
        """For (x, x') the ratio ``m_1(x') / m_1(x)`` of the start, where both are possible."""

    def join(self, left: Ratio, right: Ratio) -> Ratio:
        """The product of two ratios."""

    def within(self, ratio: Ratio, entries: int, allowance: Allowance) -> bool | None:
        """Whether the claim affords a ratio and so many entries."""


class LogarithmBounds:
    """Upper bounds of logarithms, as integers."""

    def __init__(self, chain: Chain, bits: int, work: OperationWork) -> None:
        self.chain, self.bits, self.work = chain, bits, work
        self.nothing = 0
        self.furthest = max(16, min(4096, 12_000_000 // chain.size**2))
        self._infinite = 1 << (bits + 90)
        self._blurred, self._error = False, 0
        self._patterns: Powers[Pattern] = patterns(chain)
        with precision(bits):
            base = arb_mat([[arb(entry) for entry in row] for row in chain.rows])
        self._powers: Powers[arb_mat] = Powers(base, self._product)
        self._ends: dict[int, tuple[list[list[int]], list[list[int]]]] = {}
        self._tables: dict[tuple[int, int], Table] = {}
        self._marginals: list[tuple[list[int], list[int], list[int]]] = []
        self._vector: arb_mat | None = None
        self._left: dict[tuple[int, Allowance], tuple[int, int]] = {}

    def _product(self, left: arb_mat, right: arb_mat) -> arb_mat:
        self.work.add(3 * self.chain.size**3)
        return left * right

    def _logarithms(self, row: Sequence[arb], possible: int) -> tuple[list[int], list[int]]:
        """Integers above and below the logarithms; where the entry is zero such that differences come out right."""
        scale = arb(2) ** self.bits
        above, below = [], []
        for place, entry in enumerate(row):
            if not possible >> place & 1:
                above.append(-4 * self._infinite)
                below.append(-self._infinite)
            elif entry > 0:
                under, over = _whole_ends(entry.log() * scale)
                above.append(over)
                below.append(under)
                self._error = max(self._error, above[-1] - below[-1])
            else:
                self._blurred = True
                above.append(self._infinite)
                below.append(-self._infinite)
        return above, below

    def _of(self, steps: int) -> tuple[list[list[int]], list[list[int]]]:
        """The logarithms of a power, above and below."""
        if steps not in self._ends:
            pattern = self._patterns(steps)
            with precision(self.bits):
                rows = self._powers(steps).tolist()
                both = [self._logarithms(row, possible) for row, possible in zip(rows, pattern, strict=True)]
            self._ends[steps] = [above for above, _ in both], [below for _, below in both]
        return self._ends[steps]

    def _largest(self, above: Iterable[Sequence[int]], below: Sequence[Sequence[int]]) -> Table:
        self.work.add(12 * self.chain.size**3)
        half = self._infinite // 2
        found = [[max(map(sub, over, under)) for under in below] for over in above]
        return [[None if each > half else each for each in row] for row in found]

    def rows(self, steps: int) -> Table:
        """For (x, x') the largest ``P^steps(x, z) / P^steps(x', z)``."""
        if (steps, -1) not in self._tables:
            self._tables[steps, -1] = self._largest(*self._of(steps))
        return self._tables[steps, -1]

    def columns(self, steps: int, among: int) -> Table:
        """For (x, x') the largest ``P^steps(y, x) / P^steps(y, x')`` over the states y of a set."""
        if (steps, among) not in self._tables:
            above, below = ([rows[y] for y in members(among)] for rows in self._of(steps))
            self._tables[steps, among] = self._largest(list(zip(*above, strict=True)), list(zip(*below, strict=True)))
        return self._tables[steps, among]

    def _until(self, entry: int) -> None:
        """Find the distributions of the entries so far, as logarithms."""
        start = self.chain.start
        assert start is not None
        with precision(self.bits):
            while len(self._marginals) < entry:
                self.work.add(200 * self.chain.size**2)
                if self._vector is None:
                    self._vector = arb_mat([[arb(weight) for weight in start]])
                    possible = sum(1 << place for place, weight in enumerate(start) if weight != 0)
                else:
                    self._vector = self._vector * self._powers(1)
                    before = self._marginals[-1][2]
                    possible = 0
                    for state in before:
                        possible |= self.chain.pattern[state]
                above, below = self._logarithms(self._vector.entries(), possible)
                self._marginals.append((above, below, members(possible)))

    def marginals(self, first: int, last: int) -> Pairs:
        """For (x, x') the largest ``m_i(x') / m_i(x)`` over the entries from first to last where both are possible."""
        self._until(last)
        size, never = self.chain.size, -8 * self._infinite
        best = [[never] * size for _ in range(size)]
        for above, below, possible in self._marginals[first - 1 : last]:
            self.work.add(15 * size * len(possible))
            for x in possible:
                under = below[x]
                best[x] = list(map(max, best[x], [over - under for over in above]))
        lowest = -2 * self._infinite
        return {
            (x, other): None if ratio > self._infinite // 2 else ratio
            for x, row in enumerate(best)
            for other, ratio in enumerate(row)
            if other != x and ratio > lowest
        }

    def start(self) -> Pairs:
        """For (x, x') the ratio ``m_1(x') / m_1(x)`` of the start, where both are possible."""
        return self.marginals(1, 1)

    def join(self, left: Ratio, right: Ratio) -> Ratio:
        """The product of two ratios: the sum of their logarithms."""
        return None if left is None or right is None else left + right

    def within(self, ratio: Ratio, entries: int, allowance: Allowance) -> bool | None:
        """Whether the claim affords a ratio and so many entries."""
        if ratio is not None:
            key = (entries, allowance)
            if key not in self._left:
                with precision(self.bits):
                    self._left[key] = _whole_ends(allowance.left(entries) * arb(2) ** self.bits)
            low, high = self._left[key]
            if ratio <= low:
                return True
            if ratio - 8 * self._error <= high:
                return None
        return None if self._blurred else False


def _whole_ends(ball: arb) -> tuple[int, int]:
    """Integers below and above a ball."""
    below, above = ball.lower().floor().unique_fmpz(), ball.upper().ceil().unique_fmpz()
    if below is None or above is None:
        refuse("a number is too large for its precision", "evidence")
    return int(below), int(above)


class Ratios:
    """Ratios of rationals; raises `TooLarge`."""

    def __init__(self, chain: Chain, work: OperationWork) -> None:
        self.chain, self.work = chain, work
        self.nothing = ONE
        self.furthest = 64
        self._powers: Powers[fmpq_mat] = Powers(fmpq_mat([list(row) for row in chain.rows]), self._product)
        self._tables: dict[tuple[int, int], Table] = {}
        self._marginals: list[Sequence[Rational]] = [chain.start] if chain.start is not None else []

    def _product(self, left: fmpq_mat, right: fmpq_mat) -> fmpq_mat:
        size = sum(max(int(entry.q.bit_length()) for entry in matrix.entries()) for matrix in (left, right))
        if size * self.chain.size**2 > _MOST_EXACT:
            raise TooLarge
        self.work.add(self.chain.size**3 * (10 + size // 64))
        return left * right

    def _largest(self, above: Sequence[Sequence[Rational]]) -> Table:
        self.work.add(20 * self.chain.size**3)
        return [[_largest(over, under) for under in above] for over in above]

    def rows(self, steps: int) -> Table:
        """For (x, x') the largest ``P^steps(x, z) / P^steps(x', z)``."""
        if (steps, -1) not in self._tables:
            self._tables[steps, -1] = self._largest(self._powers(steps).tolist())
        return self._tables[steps, -1]

    def columns(self, steps: int, among: int) -> Table:
        """For (x, x') the largest ``P^steps(y, x) / P^steps(y, x')`` over the states y of a set."""
        if (steps, among) not in self._tables:
            rows = self._powers(steps).tolist()
            self._tables[steps, among] = self._largest(list(zip(*(rows[y] for y in members(among)), strict=True)))
        return self._tables[steps, among]

    def marginals(self, first: int, last: int) -> Pairs:
        """For (x, x') the largest ``m_i(x') / m_i(x)`` over the entries from first to last where both are possible."""
        while len(self._marginals) < last:
            following = self._product(fmpq_mat([list(self._marginals[-1])]), self._powers(1))
            self._marginals.append(following.entries())
        result: Pairs = {}
        for row in self._marginals[first - 1 : last]:
            possible = [x for x, weight in enumerate(row) if weight > 0]
            for x in possible:
                for other in possible:
                    if other != x:
                        result[x, other] = max(result.get((x, other), row[other] / row[x]), row[other] / row[x])
        return result

    def start(self) -> Pairs:
        """For (x, x') the ratio ``m_1(x') / m_1(x)`` of the start, where both are possible."""
        return self.marginals(1, 1)

    def join(self, left: Ratio, right: Ratio) -> Ratio:
        """The product of two ratios."""
        return None if left is None or right is None else left * right

    def within(self, ratio: Ratio, entries: int, allowance: Allowance) -> bool | None:
        """Whether the claim affords a ratio and so many entries."""
        return False if ratio is None else allowance.affords(ratio, entries)


def _largest(above: Sequence[Rational], below: Sequence[Rational]) -> Rational | None:
    """The largest quotient, where 0/0 does not count; None if a positive number is divided by 0."""
    result = Rational(0)
    for over, under in zip(above, below, strict=True):
        if over != 0:
            if under == 0:
                return None
            result = max(result, over / under)
    return result


def kits(chain: Chain, work: OperationWork) -> tuple[Callable[[], Kit], ...]:
    """The kits for a chain, from the quickest to the exact one."""
    return (
        lambda: LogarithmBounds(chain, 128, work),
        lambda: LogarithmBounds(chain, 512, work),
        lambda: Ratios(chain, work),
    )
