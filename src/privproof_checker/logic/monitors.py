"""Path formulas beside a chain in columns: deterministic monitors, and which of their marks are seen again and again.

A path formula is a Boolean combination of formulas of two kinds, each of which has a *monitor* that reads the states of a path:

* g is **co-safe**: the monitor keeps what is left of g, and its mark is seen once that is true, and ever after.  So g holds if and only if
  the mark is seen again and again.  A safe formula is the negation of a co-safe one.
* ``G g``, g co-safe: every step asks for g anew.  The monitor keeps a batch, what is left of all that was asked for before the batch began,
  and beside it what is left of the rest.  Its mark is seen when the batch becomes true; the rest is the next batch.  Every batch is a
  conjunction of finitely many co-safe formulas, so it becomes true, after finitely many steps, if and only if all of them hold: ``G g``
  holds if and only if the mark is seen again and again.  ``F h``, h safe, is the negation of such a formula.

Monitors together have finitely many *positions*; a node of the product is a position (before the state is read) and a state.  The
evidence may write what it says by positions of its own, with a table of their steps: whatever they are, the product is taken with both,
and what is said of a node depends on the position of the evidence and the state.  It has vectors L and U over the nodes, and of every node
its *class*: -1, or the set of marks that a run sees again and again which stays in the class, as bits.  Checked is at the nodes T with
``L > 0``:

1. ``L(v) <= sum p(w) L(w)``.  L is 0 outside of T and at most 1, so it is at most the probability of staying in T for ever.
2. From a node of class -1 a next one is outside of T, or of another class, or of a smaller rank (ranks are whole numbers above 0).
3. From a node of another class every next one in T is of the same class; the marks at the node are in the class; and for every mark of
   the class that is not at the node a next one is outside of T, or has the mark, or is of a smaller rank (of this mark).
4. The formula is true of a path whose marks seen again and again are the class.

A run that stays in T leaves class -1 almost surely (2), stays in one class (3), and sees its marks again and again, almost surely, and no
others (3): the formula holds (4).  So L bounds the probability of the formula from below; and ``1 - U`` bounds that of its negation, by the
same conditions where ``U < 1``, with a formula that is false in 4.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np

from privproof_checker.logic.columns import ONE, Columns, Flags, Ints, read_column
from privproof_checker.logic.formulas import Leaf, Path, PathNot, PathSeveral, Several, State, Until
from privproof_checker.logic.obligations import Obligations
from privproof_checker.outcomes import refuse, within
from privproof_checker.plain_documents import a_list, an_integer, only_members

Position: TypeAlias = "tuple[tuple[int, int, bool], ...]"
"""Of every monitor: what is left of the batch, what is left of the rest, and whether the mark is seen."""
Condition: TypeAlias = Callable[[int], bool]
"""Whether the formula holds of a path with these marks seen again and again, as bits."""

_MOST_MARKS = 8
"""Monitors of one formula; beyond, it is refused."""
_MOST_LEAVES = 20
"""State formulas inside of one formula: their truths are the bits of one number."""
_MOST_POSITIONS = 256
"""Positions of the monitors of a formula; beyond, it is refused."""
_MOST_NODES = 50_000_000
"""Nodes of a product; beyond, the formula is refused."""


class Monitors:
    """The monitors of one path formula."""

    def __init__(self, path: Path) -> None:
        self._obligations = Obligations()
        self._asked: list[tuple[int, bool]] = []
        self.condition = self._read(path)

    @property
    def leaves(self) -> list[State]:
        """The state formulas whose truths the monitors read."""
        return self._obligations.leaves

    @property
    def count(self) -> int:
        """How many monitors there are."""
        return len(self._asked)

    def _read(self, path: Path) -> Condition:
        obligation = self._obligations.of(path)
        if self._obligations.co_safe(obligation):
            return self._mark(obligation, always=False)
        match path:
            case PathNot(inner):
                holds = self._read(inner)
                return lambda seen: not holds(seen)
            case PathSeveral(every, parts):
                each = [self._read(part) for part in parts]
                return lambda seen: (all if every else any)(part(seen) for part in each)
        opposite = self._obligations.of(PathNot(path))
        if self._obligations.co_safe(opposite):
            violated = self._mark(opposite, always=False)
            return lambda seen: not violated(seen)
        match path:
            case Until(Leaf(Several(True, ())), inner, 0, None):
                avoided = self._obligations.of(PathNot(inner))
                if self._obligations.co_safe(avoided):
                    always = self._mark(avoided, always=True)
                    return lambda seen: not always(seen)
        refuse("this path formula is not supported for a process in columns", "question.formula")

    def _mark(self, obligation: int, *, always: bool) -> Condition:
        asked = (obligation, always)
        if asked not in self._asked:
            within(len(self._asked), _MOST_MARKS - 1, "monitors", "question.formula")
            self._asked.append(asked)
        bit = 1 << self._asked.index(asked)
        return lambda seen: bool(seen & bit)

    @property
    def first(self) -> Position:
        """The position before anything is read."""
        true = self._obligations.true
        return tuple((asked, true, not always and asked == true) for asked, always in self._asked)

    def seen(self, position: Position) -> int:
        """The marks at a position, as bits."""
        return sum(seen << i for i, (_, _, seen) in enumerate(position))

    def after(self, position: Position, truths: tuple[bool, ...]) -> Position:
        """The position after a state with these truths of the leaves."""
        true, false = self._obligations.true, self._obligations.false
        result: list[tuple[int, int, bool]] = []
        for (asked, always), (batch, rest, _) in zip(self._asked, position, strict=True):
            batch = self._left(batch, truths)
            if not always:
                result.append((batch, true, batch == true))
                continue
            rest = self._obligations.together((self._left(rest, truths), asked))
            if false in (batch, rest):
                result.append((false, false, False))
            else:
                result.append((rest, true, True) if batch == true else (batch, rest, False))
        return tuple(result)

    def _left(self, obligation: int, truths: tuple[bool, ...]) -> int:
        left = self._obligations.left(obligation, truths)
        assert left is not None
        return left


def check_monitored(
    process: Columns, path: Path, truths: Callable[[State], Flags], given: dict[str, object], place: str
) -> tuple[Ints, Ints]:
    """Bounds on the probability of a path formula from every state of a chain, as the evidence gives them, checked.

    Args:
        process: the chain.
        path: the formula.
        truths: where state formulas hold.
        given: the evidence.
        place: where it stands.
    """
    monitors = Monitors(path)
    within(len(monitors.leaves), _MOST_LEAVES, "state formulas in a path formula", "question.formula")
    codes = np.zeros(len(process), np.int64)
    for i, leaf in enumerate(monitors.leaves):
        codes |= truths(leaf).astype(np.int64) << i
    table = _read_table(given.get("steps"), f"{place}.steps")
    named = read_column(given.get("letters"), len(process), f"{place}.letters")
    if named.min() < 0 or named.max() >= len(table[0]):
        refuse("there is no such letter", f"{place}.letters")
    found, kind = np.unique(codes * len(table[0]) + named, return_inverse=True)
    letters = [
        (tuple(bool(both // len(table[0]) >> i & 1) for i in range(len(monitors.leaves))), both % len(table[0]))
        for both in found.tolist()
    ]
    positions, steps = _explore_positions(monitors, table, letters)
    product = _Product(process, np.array(steps, np.int64), kind.reshape(-1))
    seen = np.repeat([monitors.seen(position) for position, _ in positions], len(process))
    return _check_vectors(
        product, monitors, seen, _Written(given, len(table), len(process), [p for _, p in positions], place)
    )


def _read_table(value: object, place: str) -> list[list[int]]:
    """The steps of the positions of the evidence: by every letter the next."""
    rows = [
        [an_integer(onward, f"{place}[{i}]") for onward in a_list(row, f"{place}[{i}]")]
        for i, row in enumerate(a_list(value, place))
    ]
    within(len(rows), _MOST_POSITIONS, "positions", place)
    within(max(map(len, rows), default=0), 1 << _MOST_LEAVES, "letters", place)
    if not rows or not rows[0] or any(len(row) != len(rows[0]) for row in rows):
        refuse("every position has a step by every letter", place)
    if any(not 0 <= onward < len(rows) for row in rows for onward in row):
        refuse("there is no such position", place)
    return rows


def _explore_positions(
    monitors: Monitors, table: list[list[int]], letters: list[tuple[tuple[bool, ...], int]]
) -> tuple[list[tuple[Position, int]], list[list[int]]]:
    """The positions of the monitors with those of the evidence, in order, and from each by every letter the next."""
    numbers = {(monitors.first, 0): 0}
    positions, steps = [(monitors.first, 0)], []
    for position, other in positions:
        own = []
        for truths, letter in letters:
            onward = (monitors.after(position, truths), table[other][letter])
            if onward not in numbers:
                numbers[onward] = len(positions)
                within(len(positions), _MOST_POSITIONS - 1, "positions of monitors", "question.formula")
                positions.append(onward)
            own.append(numbers[onward])
        steps.append(own)
    return positions, steps


class _Product:
    """A chain beside monitors."""

    def __init__(self, process: Columns, steps: Ints, letters: Ints) -> None:
        self._process, self._steps, self._letters = process, steps, letters
        within(len(self), _MOST_NODES, "nodes of a product", "question.formula")

    def __len__(self) -> int:
        return len(self._steps) * len(self._process)

    def choices(self) -> list[Columns]:
        """For every position the choices of its nodes: their owners and targets are nodes."""
        process, count = self._process, len(self._process)
        lengths = _lengths(process)
        return [
            replace(
                process,
                owner=process.owner + position * count,
                targets=process.targets + np.repeat(onward[self._letters] * count, lengths),
            )
            for position, onward in enumerate(self._steps)
        ]


@dataclass(frozen=True)
class _Written:
    """Columns of the evidence, over the nodes of its own positions; read for those of the product."""

    given: dict[str, object]
    size: int
    states: int
    positions: list[int]
    place: str

    def column(self, value: object, name: str) -> Ints:
        rows = read_column(value, self.size * self.states, f"{self.place}.{name}").reshape(self.size, self.states)
        return rows[self.positions].reshape(-1)

    def named(self, name: str) -> Ints:
        return self.column(self.given.get(name), name)


def _check_vectors(product: _Product, monitors: Monitors, seen: Ints, written: _Written) -> tuple[Ints, Ints]:
    given, place = written.given, written.place
    only_members(given, ("formula", "letters", "steps", "low", "high", "classes", "leaving", "again"), place)
    low, high = written.named("low"), written.named("high")
    for name, vector in (("low", low), ("high", high)):
        if vector.min() < 0 or vector.max() > ONE:
            refuse("a bound is from 0 to 1, in units of 2^-52", f"{place}.{name}")
    classes = written.named("classes")
    if classes.min() < -1 or classes.max() >= 1 << monitors.count:
        refuse("a class is -1 or a set of marks", f"{place}.classes")
    listed = a_list(given.get("again"), f"{place}.again")
    if len(listed) != monitors.count:
        refuse(f"{monitors.count} columns of ranks are expected, one for every mark", f"{place}.again")
    leaving = written.named("leaving")
    again = [written.column(column, f"again[{i}]") for i, column in enumerate(listed)]
    holding = np.array([monitors.condition(marks) for marks in range(1 << monitors.count)])
    blocks = product.choices()
    for name, vector, wanted in (("low", low, True), ("high", ONE - high, False)):
        here = f"{place}.{name}"
        inside = vector > 0
        settled = inside & (classes >= 0)
        if (settled & (seen & ~classes != 0)).any():
            refuse("a node has a mark that is not in its class", here)
        if (holding[classes[settled]] != wanted).any():
            refuse("a class does not decide the formula as the bound needs it", here)
        ranked = [(inside & (classes < 0), leaving)]
        ranked += [(settled & (classes >> i & 1 == 1) & (seen >> i & 1 == 0), ranks) for i, ranks in enumerate(again)]
        for block in blocks:
            _check_block(block, vector, inside, classes, ranked, here)
    return low[: len(blocks[0].owner)], high[: len(blocks[0].owner)]


def _check_block(
    block: Columns, vector: Ints, inside: Flags, classes: Ints, ranked: list[tuple[Flags, Ints]], place: str
) -> None:
    """Refuse unless the nodes of one position meet the conditions."""
    own = block.owner
    _, below = block.compared(vector)
    if (inside[own] & ~below).any():
        refuse("a node's bound is above what it leads to", place)
    # the least and the greatest class of the next nodes in T are the node's own, if it is not -1
    onward = inside[block.targets]
    apart = onward & (classes[block.targets] != np.repeat(classes[own], _lengths(block)))
    if (np.logical_or.reduceat(apart, block.first_entry) & (inside & (classes >= 0))[own]).any():
        refuse("a class is left for another", place)
    for considered, given in ranked:
        ranks = np.where(considered, given, 0)
        mine = ranks[own]
        nearest = np.minimum.reduceat(ranks[block.targets], block.first_entry)
        if (considered[own] & ((mine < 1) | (nearest >= mine))).any():
            refuse("a node leads to none of a smaller rank", place)


def _lengths(block: Columns) -> Ints:
    return np.diff(np.append(block.first_entry, len(block.targets)))
