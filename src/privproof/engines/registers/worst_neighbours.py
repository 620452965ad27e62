"""The largest excess over all neighbours with letters from a finite alphabet.

The excess of a pair of data sets is ``sum over outcomes o of max(0, p_o - e^epsilon q_o)``.  Which pair has most of it?

* *In order.*  An outcome that is settled at entry k depends on the letter there and on how often each letter came before, in each class of
  entries (sparse vector: all entries before are alike).  The worst pair follows from
  ``V(k, c, c') = max over letters b, b' of [excess settled at k + V(k+1, c+b, c'+b')]``.  Where every entry is a class of its own, these
  are all pairs of data sets.
* *Alike.*  If every outcome singles out one entry, and all others do the same in it (noisy max), only the number of entries with each pair
  of letters counts.

Probabilities are rounded outwards to multiples of 2^-60, ``e^epsilon q`` is cut at 1, and the recursion runs in whole numbers: once with
the ends that make excesses large, once with the others.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from math import comb, prod
from typing import TypeAlias

import numpy as np
from flint import arb, fmpz

from privproof.compiling.rewriting import Unsupported
from privproof.engines.registers.register_integrals import BITS
from privproof.engines.registers.register_roles import Role, Roles, ShapedOutcome, Sum, counts_of
from privproof.exact import Rational
from privproof.exact.balls import precision, rational_bounds
from privproof.memory import entries_within, memory_words

_UNIT = 60
"""Probabilities are multiples of 2 to minus this: sums of them are within the whole numbers of 64 bits."""
_MOST_ENTRIES = 2_000_000
"""Entries of a table of the recursion, or combinations of numbers of letters; beyond, the question is refused: it would take minutes."""

Letters: TypeAlias = tuple[int, ...]
Table: TypeAlias = "np.ndarray[tuple[int, ...], np.dtype[np.int64]]"


@dataclass(frozen=True)
class Alphabet:
    """Which data sets are neighbours.

    Attributes:
        relation: ``each``, ``one`` or ``monotone``.
        letters: for every entry the letters that it may be, by number.
        apart: for every entry the pairs of letters that may stand there in neighbours, equal ones among them.
    """

    relation: str
    letters: tuple[Letters, ...]
    apart: tuple[tuple[tuple[int, int], ...], ...]

    def directions(self) -> tuple[tuple[tuple[tuple[int, int], ...], ...], ...]:
        """The pairs of letters at every entry, for both directions where all go in one; letters are in order."""
        if self.relation != "monotone":
            return (self.apart,)
        return (
            tuple(tuple((a, b) for a, b in pairs if a <= b) for pairs in self.apart),
            tuple(tuple((a, b) for a, b in pairs if a >= b) for pairs in self.apart),
        )


@dataclass(frozen=True)
class Most:
    """The largest excess, enclosed, and the pair that has it.

    Attributes:
        lower: some pair has at least this.
        upper: no pair has more.
        left: the letters of the pair with the lower bound.
        right: those of its neighbour.
    """

    lower: Rational
    upper: Rational
    left: Letters
    right: Letters


class WorstNeighbours:
    """Excesses over all neighbours, at any epsilon; the probabilities are computed once."""

    def __init__(self, roles: Roles, alphabet: Alphabet, pause: Callable[[], None]) -> None:
        self.roles, self.alphabet, self.pause = roles, alphabet, pause
        self.kind: _InOrder | _Alike
        try:
            self.kind = _Alike(roles, alphabet)
        except _OtherKind:
            self.kind = _InOrder(roles, alphabet)
        for each in self.kind.sums():
            for monomial, _ in each:
                laws = (*monomial.densities, *(factor[0] for factor, _ in monomial.powers))
                if len(monomial.densities) > 1 and any(roles.laws[law].kind != "gaussian" for law in laws):
                    raise Unsupported(
                        "two noisy numbers are kept, and not all noise that is compared with them is Gaussian"
                    )
        first = [letters[0] for letters in alphabet.letters]
        whole = [roles.sum(each, roles.counted(each, first)) for each in roles.shaped]
        with precision(BITS):
            roles.evaluate((*self.kind.sums(), *whole), pause)
            self.balls = {each: roles.value(each) for each in self.kind.sums()}
            if not sum((roles.value(each) for each in whole), arb(0)).overlaps(arb(1)):
                raise Unsupported("the probabilities of all outcomes do not sum up to 1: an outcome was forgotten")
        self.rounded = {each: _outward(ball) for each, ball in self.balls.items()}

    def at(self, bound: arb) -> Most:
        """The largest excess at an epsilon, whose power of e is given."""
        self.pause()
        with precision(BITS):
            times = {each: _outward(bound * ball) for each, ball in self.balls.items()}
        low, left, right = self.kind.most(
            {e: p[0] for e, p in self.rounded.items()}, {e: q[1] for e, q in times.items()}
        )
        high, _, _ = self.kind.most({e: p[1] for e, p in self.rounded.items()}, {e: q[0] for e, q in times.items()})
        return Most(Rational(low, fmpz(2) ** _UNIT), Rational(high, fmpz(2) ** _UNIT), left, right)


def _outward(ball: arb) -> tuple[int, int]:
    """A number at least 0, cut at 1, in units rounded down and up."""
    whole = 1 << _UNIT
    low, high = rational_bounds(ball)
    return (
        max(0, int((low * whole).floor())) if low < 1 else whole,
        max(0, int((high * whole).ceil())) if high < 1 else whole,
    )


class _OtherKind(Exception):
    """The outcomes have another structure."""


class _InOrder:
    """Outcomes that are settled one after the other.

    Two entries are of one class if every outcome that is settled after both gives them the same role.
    """

    def __init__(self, roles: Roles, alphabet: Alphabet) -> None:
        self.roles, self.alphabet = roles, alphabet
        self.size = len(alphabet.letters)
        self.letters = len(roles.letters)
        none: Role = ()
        ends = [max(each.roles, default=0) for each in roles.shaped]
        self.settled = [
            [each for each, end in zip(roles.shaped, ends, strict=True) if end == entry] for entry in range(self.size)
        ]
        firsts: list[int] = []
        self.kinds: list[int] = []
        for entry in range(self.size):
            later = [each.roles for each, end in zip(roles.shaped, ends, strict=True) if end > entry]
            same = (
                number
                for number, first in enumerate(firsts)
                if all(each.get(first, none) == each.get(entry, none) for each in later)
            )
            kind = next(same, len(firsts)) if later else -1
            if kind == len(firsts):
                firsts.append(entry)
            self.kinds.append(kind)
        self.firsts = firsts
        self.shape = tuple(self.kinds.count(k) + 1 for k in range(len(firsts)) for _ in range(self.letters - 1))
        needed, room = 8 * prod(self.shape) ** 2, 8 * entries_within(_MOST_ENTRIES, 8)  # bytes of a number
        if needed > room:
            raise Unsupported(
                f"a table with {needed // 8} entries would be needed, {memory_words(needed)}, more than {memory_words(room)}: "
                "outcomes are neither settled in the order of the data, nor does each single out one entry"
            )
        self.places = [list(self.states(k)) for k in range(self.size)]
        self._sums = [
            [
                [[self.sum(each, k, state, letter) for letter in range(self.letters)] for each in self.settled[k]]
                for state in self.places[k]
            ]
            for k in range(self.size)
        ]

    def states(self, entry: int) -> Iterator[tuple[int, ...]]:
        """How often each letter but the first may have come before an entry, in each role."""
        ranges = []
        for kind in range(len(self.firsts)):
            seen = self.kinds[:entry].count(kind)
            ranges.append([c for c in product(range(seen + 1), repeat=self.letters - 1) if sum(c) <= seen])
        for parts in product(*ranges):
            yield tuple(count for part in parts for count in part)

    def sum(self, each: ShapedOutcome, entry: int, state: tuple[int, ...], letter: int) -> Sum:
        """The probability of an outcome that is settled at an entry, with a letter there."""
        found: dict[tuple[Role, int], int] = {}
        others = self.letters - 1
        for kind, first in enumerate(self.firsts):
            seen = self.kinds[:entry].count(kind)
            part = state[kind * others : (kind + 1) * others]
            role = each.roles.get(first)
            if seen and role is not None:
                for which, count in enumerate((seen - sum(part), *part)):
                    found[role, which] = found.get((role, which), 0) + count
        own = each.roles.get(entry)
        if own is not None:
            found[own, letter] = found.get((own, letter), 0) + 1
        return self.roles.sum(each, counts_of(found))

    def sums(self) -> Iterator[Sum]:
        """All that is needed."""
        return (s for level in self._sums for row in level for each in row for s in each)

    def most(self, mine: dict[Sum, int], other: dict[Sum, int]) -> tuple[int, Letters, Letters]:
        """The largest excess, in units, and the pair that has it."""
        return max((self._most(mine, other, pairs) for pairs in self.alphabet.directions()), key=lambda each: each[0])

    def _most(
        self, mine: dict[Sum, int], other: dict[Sum, int], pairs: Sequence[Sequence[tuple[int, int]]]
    ) -> tuple[int, Letters, Letters]:
        single = self.alphabet.relation == "one"
        both = self.shape + self.shape
        after = [np.zeros(both, dtype=np.int64)] * (2 if single else 1)
        levels = [after]
        excesses: list[dict[tuple[int, int], Table]] = []
        for entry in range(self.size - 1, -1, -1):
            excess = self._excess(entry, mine, other, pairs[entry])
            excesses.append(excess)
            found = []
            for flag in range(len(after)):
                best = np.full(both, -1, dtype=np.int64)
                for (a, b), gain in excess.items():
                    if single and a != b and flag:
                        continue
                    table = after[1 if single and a != b else flag]
                    np.maximum(best, gain + self._moved(table, entry, a, b), out=best)
                found.append(best)
            after = found
            levels.append(after)
        levels.reverse()
        excesses.reverse()
        state, changed = (0,) * len(both), 0
        left: list[int] = []
        right: list[int] = []
        for entry in range(self.size):
            target = levels[entry][changed][state]
            for (a, b), gain in excesses[entry].items():
                if single and a != b and changed:
                    continue
                following = 1 if single and a != b else changed
                if gain[state] + self._moved(levels[entry + 1][following], entry, a, b)[state] == target:
                    break
            else:
                raise AssertionError("the recursion has no way")
            left.append(a)
            right.append(b)
            state = self._after(state, entry, a, b)
            changed = following
        return int(levels[0][0][(0,) * len(both)]), tuple(left), tuple(right)

    def _after(self, state: tuple[int, ...], entry: int, a: int, b: int) -> tuple[int, ...]:
        axes = self._axes(entry, a, b)
        return tuple(count + (axis in axes) for axis, count in enumerate(state))

    def _axes(self, entry: int, a: int, b: int) -> set[int]:
        """The counts that a pair of letters at an entry makes larger."""
        if self.kinds[entry] < 0:
            return set()
        base = self.kinds[entry] * (self.letters - 1)
        found = {base + a - 1} if a else set()
        return found | ({len(self.shape) + base + b - 1} if b else set())

    def _moved(self, table: Table, entry: int, a: int, b: int) -> Table:
        """What comes after a pair of letters, by the counts before it; 0 beyond the table, where no data lead."""
        axes = self._axes(entry, a, b)
        if not axes:
            return table
        result = np.zeros_like(table)
        into = tuple(slice(0, -1) if axis in axes else slice(None) for axis in range(table.ndim))
        out_of = tuple(slice(1, None) if axis in axes else slice(None) for axis in range(table.ndim))
        result[into] = table[out_of]
        return result

    def _excess(
        self, entry: int, mine: dict[Sum, int], other: dict[Sum, int], pairs: Sequence[tuple[int, int]]
    ) -> dict[tuple[int, int], Table]:
        """The excess of what is settled at an entry, by the letters there and the counts before."""
        count = len(self.settled[entry])
        p, q = (np.zeros((count, self.letters, *self.shape), dtype=np.int64) for _ in range(2))
        for state, row in zip(self.places[entry], self._sums[entry], strict=True):
            for number in range(count):
                for letter in range(self.letters):
                    p[(number, letter, *state)] = mine[row[number][letter]]
                    q[(number, letter, *state)] = other[row[number][letter]]
        wide = (..., *(None for _ in self.shape))
        result = {}
        for a, b in pairs:
            total = np.zeros(self.shape + self.shape, dtype=np.int64)
            for number in range(count):
                total += np.maximum(0, p[number, a][wide] - q[number, b])
            result[a, b] = total
        return result


class _Alike:
    """Outcomes that single out one entry each; all others do the same in it."""

    def __init__(self, roles: Roles, alphabet: Alphabet) -> None:
        self.roles, self.alphabet = roles, alphabet
        self.size, self.letters = len(alphabet.letters), len(roles.letters)
        if len(set(alphabet.letters)) > 1 or len(set(alphabet.apart)) > 1 or len(roles.shaped) != self.size:
            raise _OtherKind
        own: set[Role] = set()
        rest: set[Role] = set()
        chosen: dict[int, ShapedOutcome] = {}
        if len({(each.fixed, each.registers) for each in roles.shaped}) > 1:
            raise _OtherKind
        for each in roles.shaped:
            if len(each.roles) != self.size:
                raise _OtherKind
            alone = [e for e, role in each.roles.items() if list(each.roles.values()).count(role) == 1]
            if self.size == 2:
                alone = alone[:1] if not own else [e for e in alone if each.roles[e] in own]
            if len(alone) != 1 or alone[0] in chosen:
                raise _OtherKind
            chosen[alone[0]] = each
            own.add(each.roles[alone[0]])
            rest |= {role for e, role in each.roles.items() if e != alone[0]}
        if len(own) != 1 or len(rest) != 1:
            raise _OtherKind
        self.own, self.rest = own.pop(), rest.pop()
        self.one = roles.shaped[0]
        self.totals = [c for c in product(range(self.size + 1), repeat=self.letters) if sum(c) == self.size]
        self._sums = {(c, b): self.sum(c, b) for c in self.totals for b in range(self.letters) if c[b]}

    def sum(self, counts: tuple[int, ...], letter: int) -> Sum:
        """The probability of the outcome that singles out an entry with a letter, by how often each letter occurs."""
        found = {(self.rest, b): count - (b == letter) for b, count in enumerate(counts)}
        found[self.own, letter] = found.get((self.own, letter), 0) + 1
        return self.roles.sum(self.one, counts_of(found))

    def sums(self) -> Iterator[Sum]:
        """All that is needed."""
        return iter(self._sums.values())

    def most(self, mine: dict[Sum, int], other: dict[Sum, int]) -> tuple[int, Letters, Letters]:
        """The largest excess, in units, and the pair that has it."""
        p, q = (np.zeros((self.letters, (self.size + 1) ** self.letters), dtype=np.int64) for _ in range(2))
        for (counts, letter), each in self._sums.items():
            code = sum(count * (self.size + 1) ** b for b, count in enumerate(counts))
            p[letter, code], q[letter, code] = mine[each], other[each]
        found = []
        for pairs in self.alphabet.directions():
            kinds = pairs[0]
            numbers = self._numbers(kinds)
            weights = [(self.size + 1) ** b for b in range(self.letters)]
            left = sum((numbers[:, k] * weights[a] for k, (a, _) in enumerate(kinds)), np.zeros(len(numbers), np.int64))
            right = sum(
                (numbers[:, k] * weights[b] for k, (_, b) in enumerate(kinds)), np.zeros(len(numbers), np.int64)
            )
            total = np.zeros(len(numbers), dtype=np.int64)
            for k, (a, b) in enumerate(kinds):
                total += numbers[:, k] * np.maximum(0, p[a, left] - q[b, right])
            at = int(np.argmax(total))
            sides = [kinds[k] for k in range(len(kinds)) for _ in range(int(numbers[at, k]))]
            found.append((int(total[at]), tuple(a for a, _ in sides), tuple(b for _, b in sides)))
        return max(found, key=lambda each: each[0])

    def _numbers(self, kinds: Sequence[tuple[int, int]]) -> Table:
        """How many entries may have each pair of letters."""
        if self.alphabet.relation == "one":
            same = [k for k, (a, b) in enumerate(kinds) if a == b]
            rows = []
            for rest in _compositions(self.size - 1, len(same)):
                for k, (a, b) in enumerate(kinds):
                    if a != b:
                        row = [0] * len(kinds)
                        for number, count in zip(same, rest, strict=True):
                            row[number] = int(count)
                        row[k] = 1
                        rows.append(row)
            return np.array(rows, dtype=np.int64)
        return _compositions(self.size, len(kinds))


def _compositions(total: int, parts: int) -> Table:
    """All ways to write a number as a sum of so many others, in order."""
    if comb(total + parts - 1, parts - 1) > _MOST_ENTRIES:
        raise Unsupported(f"{comb(total + parts - 1, parts - 1)} combinations of letters would have to be compared")
    rows = np.zeros((1, 0), dtype=np.int64)
    left = np.array([total], dtype=np.int64)
    for _ in range(parts - 1):
        repeats = left + 1
        rows = np.repeat(rows, repeats, axis=0)
        starts = np.repeat(np.cumsum(repeats) - repeats, repeats)
        counts = np.arange(len(rows), dtype=np.int64) - starts
        left = np.repeat(left, repeats) - counts
        rows = np.concatenate([rows, counts[:, None]], axis=1)
    return np.concatenate([rows, left[:, None]], axis=1)
