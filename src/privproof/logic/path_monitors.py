"""Bounds on the probabilities of path formulas on large chains, beside deterministic monitors.

A path formula is a Boolean combination of co-safe formulas g, and of ``G g``.  Both have a monitor whose mark is seen again and again if
and only if the formula holds: of g once what is left of it by progression is true; of ``G g`` whenever a batch of what was asked for
becomes true, after which the rest is the next batch.  In a bottom component of the product of the chain and all monitors the marks that
are seen again and again are those that occur in it, almost surely.  So the probability is that of reaching a bottom component in which
they make the formula true, which `bounding` encloses.

What shows this to others is the class of every node (the marks of its bottom component, or -1 outside), and ranks: towards the bottom
components, and inside of them towards every mark.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from privproof.engines.search_monitor import Monitor
from privproof.logic.decision_process import Bools, DecisionProcess, Ints, Numbered
from privproof.logic.exact_solving import TooLarge
from privproof.logic.formulas import And, Formula, FormulaFamily, Iff, Implies, Not, Or
from privproof.logic.linear_recurrences import end_parts
from privproof.logic.path_probabilities import (
    FALSE,
    TRUE,
    Path,
    canonical,
    conjunction,
    cosafe,
    negation,
    normal,
    progress,
)
from privproof.logic.query_vectors import Columns
from privproof.logic.value_bounds import BoundSearch, until_bounds

_MOST_MARKS = 8
"""Monitors of one formula: a class is a set of marks, and all of them are gone through."""
_MOST_LEAVES = 20
"""State formulas inside: their truths are the bits of one number."""
_MOST_POSITIONS = 64
"""Positions of the monitors: the product is so many times as large as the chain."""
_MOST_NODES = 20_000_000
"""Nodes of a product; beyond, it takes gigabytes."""


Holds: TypeAlias = "Callable[[int], bool]"
"""Whether a formula holds of a path with these marks seen again and again, as bits."""


@dataclass(frozen=True, eq=False)
class Monitored:
    """Bounds over the nodes of the product, by position and then by state, with what shows them.

    Attributes:
        letters: for every state which letter the monitors read there.
        steps: for every position and letter the next position.
        low: from below.
        high: from above.
        classes: the marks that are seen again and again, as bits; -1 outside of bottom components.
        leaving: ranks that fall towards bottom components.
        again: for every mark ranks that fall towards it, inside of bottom components.
    """

    letters: Ints
    steps: Ints
    low: Ints
    high: Ints
    classes: Ints
    leaving: Ints
    again: tuple[Ints, ...]


def _opposite(holds: Holds) -> Holds:
    return lambda seen: not holds(seen)


def _join_parts(parts: Sequence[Holds], *, every: bool) -> Holds:
    return lambda seen: (all if every else any)(part(seen) for part in parts)


class _Monitors:
    """The monitors of a formula, in the order of its text; a position has of each the batch, the rest, and whether the mark is seen."""

    def __init__(self, formula: Formula) -> None:
        self.leaves: dict[Formula, int] = {}
        self.asked: list[tuple[Path, bool]] = []
        self.holds = self._read(formula)

    def _read(self, formula: Formula) -> Holds:
        path = normal(formula, lambda leaf: self.leaves.setdefault(leaf, len(self.leaves)))
        if cosafe(path):
            return self._mark(path, always=False)
        match formula:
            case Not(inner):
                return _opposite(self._read(inner))
            case And(parts) | Or(parts):
                return _join_parts([self._read(part) for part in parts], every=isinstance(formula, And))
            case Implies(left, right):
                return _join_parts([_opposite(self._read(left)), self._read(right)], every=False)
            case Iff(left, right):
                one, other = self._read(left), self._read(right)
                return lambda seen: one(seen) == other(seen)
            case FormulaFamily(quantifier):
                return _join_parts([self._read(part) for part in formula.instances()], every=quantifier == "all")
        return self._single(path)

    def _single(self, path: Path) -> Holds:
        if cosafe(path):
            return self._mark(path, always=False)
        if path[0] == "not":
            return _opposite(self._single(path[1]))
        if cosafe(negation(path)):
            return _opposite(self._mark(negation(path), always=False))
        if path[0] == "U" and path[1] == TRUE and path[3:] == (0, None) and cosafe(negation(path[2])):
            return _opposite(self._mark(negation(path[2]), always=True))
        raise TooLarge("the formula has no deterministic monitors here")

    def _mark(self, path: Path, *, always: bool) -> Holds:
        path = canonical(path)
        if (path, always) not in self.asked:
            self.asked.append((path, always))
        bit = 1 << self.asked.index((path, always))
        return lambda seen: bool(seen & bit)

    @property
    def first(self) -> tuple[Path, ...]:
        return tuple((asked, TRUE, not always and asked == TRUE) for asked, always in self.asked)

    def after(self, position: tuple[Path, ...], truth: Sequence[bool]) -> tuple[Path, ...]:
        result: list[Path] = []
        for (asked, always), (batch, rest, _) in zip(self.asked, position, strict=True):
            now = progress(batch, truth)
            if not always:
                result.append((now, TRUE, now == TRUE))
                continue
            later = canonical(conjunction([progress(rest, truth), asked]))
            if FALSE in (now, later):
                result.append((FALSE, FALSE, False))
            else:
                result.append((later, TRUE, True) if now == TRUE else (now, later, False))
        return tuple(result)


def monitored_bounds(
    columns: Columns, formula: Formula, decided: Callable[[Formula], Bools | None], monitor: Monitor
) -> Monitored | None:
    """Bounds on the probability of a path formula from every state of a chain; None where a formula inside is not decided.

    Raises:
        TooLarge: the formula has no monitors here, or none were found.
    """
    monitors = _Monitors(formula)
    if len(monitors.asked) > _MOST_MARKS or len(monitors.leaves) > _MOST_LEAVES:
        raise TooLarge(f"the formula needs more than {_MOST_MARKS} monitors, or {_MOST_LEAVES} state formulas")
    count = len(columns)
    codes = np.zeros(count, np.int64)
    for leaf, i in monitors.leaves.items():
        truth = decided(leaf)
        if truth is None:
            return None
        codes |= truth.astype(np.int64) << i
    found, kind = np.unique(codes, return_inverse=True)
    read = kind.reshape(-1)
    letters = [[bool(code >> i & 1) for i in range(len(monitors.leaves))] for code in found.tolist()]
    positions = [monitors.first]
    numbers, steps = {monitors.first: 0}, []
    for position in positions:
        own = []
        for letter in letters:
            onward = monitors.after(position, letter)
            if onward not in numbers:
                numbers[onward] = len(positions)
                positions.append(onward)
            own.append(numbers[onward])
        steps.append(own)
        if len(positions) > _MOST_POSITIONS or len(positions) * count > _MOST_NODES:
            raise TooLarge("the monitors of the formula have too many positions")
    table = np.array(steps, np.int64)
    product = _product(columns.process, table, read)
    seen = np.repeat([[last for _, _, last in position] for position in positions], count, axis=0).T
    return _monitor_bounds(product, monitors, seen, read, table, monitor)


def _product(process: DecisionProcess, steps: Ints, letters: Ints) -> Columns:
    """The chain beside the monitors; the nodes of a position follow each other."""
    count, size = len(process), len(steps)
    lengths = np.diff(process.rows)
    shifts = np.concatenate([np.repeat(onward[letters] * count, lengths) for onward in steps])
    return Columns(
        DecisionProcess(
            names=Numbered(size * count),
            choices=np.arange(size * count + 1),
            rows=np.append(0, np.cumsum(np.tile(lengths, size))),
            targets=np.tile(process.targets, size) + shifts,
            values=np.tile(process.values, size),
            numbers=process.numbers,
        )
    )


def _monitor_bounds(
    columns: Columns, monitors: _Monitors, seen: Bools, letters: Ints, steps: Ints, monitor: Monitor
) -> Monitored:
    nodes = len(columns)
    everything = np.ones(nodes, np.bool_)
    part, _, bottom = end_parts(columns, everything, monitor)
    marks = np.zeros(int(part.max()) + 1, np.int64)
    for i, here in enumerate(seen):
        met = np.zeros(len(marks), np.bool_)
        met[part[bottom & here]] = True
        marks |= met.astype(np.int64) << i
    classes = np.where(bottom, marks[part], -1)
    holding = np.array([monitors.holds(each) for each in range(1 << len(monitors.asked))])
    won = bottom & holding[classes]
    found = until_bounds(columns, everything, won, monitor, largest=False)
    search = BoundSearch(columns, everything, ~everything, monitor)
    _, leaving = search.towards(bottom, everything)
    again = tuple(search.towards(here & bottom, everything)[1] for here in seen)
    return Monitored(letters, steps, found.low.values, found.high.values, classes, leaving, again)
