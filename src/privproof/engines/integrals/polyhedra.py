"""The integral of a product of functions of one noise each over any polyhedron, exactly.

The noises are integrated out one at a time.  Between them the integrand is a sum over cells, polyhedra on which it is one
exponential polynomial ``sum c * Π x_j^(k_j) * e^(ε * Σ r_j x_j)``.  A noise that has several lower and several upper bounds in
a cell splits it into the cells where one of each is active (Fourier and Motzkin's elimination keeps the shadow; here the
integral on it is kept too).  Cells whose interior is empty are dropped, redundant bounds are dropped, and cells with the
same bounds are added up.  Emptiness is decided by a simplex method in rational arithmetic, so no cell of positive measure is
ever lost, and the integral is zero exactly if no cell is left.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import reduce
from math import lcm
from typing import Generic, TypeAlias, TypeVar

from flint import fmpq

from privproof.engines.integrals.leaf_integrals import Halfspace
from privproof.engines.integrals.piecewise_functions import Function, K, Ring, Terms, antiderivative, gather
from privproof.exact.rationals import ONE, ZERO, Rational

Row: TypeAlias = tuple[Rational, ...]
"""``sum row[j] * x_j + row[-1] > 0``, scaled so that the first factor is 1 or -1."""
Key: TypeAlias = tuple[tuple[int, ...], tuple[int, ...]]
"""The powers of the noises, and their rates over a grid."""


def integrate(functions: Mapping[int, Function[K]], halfspaces: Sequence[Halfspace], ring: Ring[K]) -> K:
    """The integral over the polyhedron of the product of functions, one for each noise in the halfspaces."""
    numbers = sorted(functions)
    place = {number: i for i, number in enumerate(numbers)}
    rows: list[Row] = []
    for halfspace in halfspaces:
        row = [ZERO] * len(numbers) + [halfspace.constant]
        for number, factor in halfspace.coefficients:
            row[place[number]] = factor
        rows.append(tuple(row))
    nothing = ((0,) * len(numbers), (0,) * len(numbers))
    ordered = [functions[number] for number in numbers]
    start = _interior(rows, _hulls(ordered))
    cells = {} if start is None else {start: {nothing: ring.term(ONE, 0, ZERO)}}
    level = _Level(ordered, 1, cells, ring)
    while level.functions:
        level = level.without(level.cheapest())
    total = ring.term(ZERO, 0, ZERO)
    for terms in level.cells.values():
        for value in terms.values():
            total = total + value
    return total


class _Level(Generic[K]):
    """The noises that are left with their functions, and the cells with what was integrated out so far."""

    def __init__(
        self, functions: list[Function[K]], grid: int, cells: dict[frozenset[Row], dict[Key, K]], ring: Ring[K]
    ) -> None:
        self.functions: list[Function[K]] = functions
        self.grid = grid
        self.cells: dict[frozenset[Row], dict[Key, K]] = cells
        self.ring: Ring[K] = ring
        self.powers: dict[tuple[Row, int], dict[tuple[int, ...], Rational]] = {}

    def cheapest(self) -> int:
        """The noise whose elimination makes the fewest cells."""

        def cost(place: int) -> int:
            total = 0
            for rows in self.cells:
                above = sum(row[place] > 0 for row in rows)
                below = sum(row[place] < 0 for row in rows)
                for low, high, _ in self.functions[place].pieces:
                    total += max(1, above + (low is not None)) * max(1, below + (high is not None))
            return total

        return min(range(len(self.functions)), key=cost)

    def without(self, place: int) -> _Level[K]:
        """Integrate out one noise."""
        function = self.functions[place]
        rest = self.functions[:place] + self.functions[place + 1 :]
        hulls = _hulls(rest)
        before = lcm(self.grid, function.grid)
        after = before
        for rows in self.cells:
            for row in rows:
                if row[place]:
                    after = reduce(lcm, (before * int((factor / row[place]).q) for factor in row[:-1]), after)
        cells: dict[frozenset[Row], dict[Key, K]] = {}
        regions: dict[frozenset[Row], frozenset[Row] | None] = {}
        for rows, terms in self.cells.items():
            free = [_drop_entry(row, place) for row in rows if not row[place]]
            lowers: list[Row] = [_solve_row(row, place) for row in rows if row[place] > 0]
            uppers: list[Row] = [_solve_row(row, place) for row in rows if row[place] < 0]
            for low, high, density in function.pieces:
                inner = self._inner(terms, density, place, before, function.grid)
                flat: Row = (ZERO,) * len(rest)
                bottoms = lowers if low is None or (*flat, low) in lowers else [*lowers, (*flat, low)]
                tops = uppers if high is None or (*flat, high) in uppers else [*uppers, (*flat, high)]
                at_bottom = [self._substituted(inner, place, line, before, after) for line in bottoms]
                at_top = [self._substituted(inner, place, line, before, after) for line in tops]
                for i, j, region in _split_cells(free, bottoms, tops, hulls, regions):
                    total = cells.setdefault(region, {})
                    if j is not None:
                        gather(total, at_top[j], self.ring)
                    if i is not None:
                        gather(total, at_bottom[i], self.ring, minus=True)
        return _Level(rest, after, cells, self.ring)

    def _inner(self, terms: dict[Key, K], density: Terms[K], place: int, grid: int, density_grid: int) -> dict[Key, K]:
        """The antiderivative of the terms times the density, over the finer grid."""
        times, finer = grid // self.grid, grid // density_grid
        product: dict[Key, K] = {}
        for (powers, rates), value in terms.items():
            scaled = tuple(rate * times for rate in rates) if times != 1 else rates
            for (k, n), height in density.items():
                here = (_move_entry(powers, place, k), _move_entry(scaled, place, n * finer))
                gather(product, {here: value * height}, self.ring)
        made: dict[Key, K] = {}
        for (powers, rates), value in product.items():
            for power, factor, weight in antiderivative(powers[place], fmpq(rates[place], grid)):
                key = (_replace_entry(powers, place, power), rates)
                gather(made, {key: value * self.ring.term(factor, weight, ZERO)}, self.ring)
        return made

    def _substituted(self, terms: dict[Key, K], place: int, line: Row, before: int, after: int) -> dict[Key, K]:
        """The terms with the noise replaced by an affine form of the others."""
        times = after // before
        slopes = [int((factor * times).p) for factor in line[:-1]]
        made: dict[Key, K] = {}
        for (powers, rates), value in terms.items():
            rate = rates[place]
            others = [r * times for r in _drop_entry(rates, place)]
            moved = tuple(r + rate * slope for r, slope in zip(others, slopes, strict=True))
            shifted = value * self.ring.term(ONE, 0, fmpq(rate, before) * line[-1])
            kept = _drop_entry(powers, place)
            for extra, factor in self._power(line, powers[place]).items():
                key = (tuple(a + b for a, b in zip(kept, extra, strict=True)), moved)
                gather(made, {key: shifted * factor}, self.ring)
        return made

    def _power(self, line: Row, degree: int) -> dict[tuple[int, ...], Rational]:
        """The power of an affine form, as a polynomial."""
        if degree == 0:
            return {(0,) * (len(line) - 1): ONE}
        if (line, degree) not in self.powers:
            made: dict[tuple[int, ...], Rational] = {}
            for powers, factor in self._power(line, degree - 1).items():
                for i, slope in enumerate(line):
                    if slope:
                        key = powers if i == len(line) - 1 else _move_entry(powers, i, 1)
                        made[key] = made.get(key, ZERO) + factor * slope
            self.powers[line, degree] = {key: factor for key, factor in made.items() if factor}
        return self.powers[line, degree]


def _split_cells(
    free: list[Row],
    lowers: Sequence[Row],
    uppers: Sequence[Row],
    hulls: Sequence[Row],
    regions: dict[frozenset[Row], frozenset[Row] | None],
) -> Iterable[tuple[int | None, int | None, frozenset[Row]]]:
    """The cells in which one lower and one upper bound are active, with a nonempty interior."""
    for i in range(len(lowers)) or (None,):
        above = free if i is None else [*free, *(_minus(lowers[i], row) for k, row in enumerate(lowers) if k != i)]
        if i is not None and len(lowers) > 1 and _known_region(above, hulls, regions) is None:
            continue
        for j in range(len(uppers)) or (None,):
            rows = above
            if j is not None:
                rows = [*rows, *(_minus(row, uppers[j]) for k, row in enumerate(uppers) if k != j)]
                if i is not None:
                    rows = [*rows, _minus(uppers[j], lowers[i])]
            region = _known_region(rows, hulls, regions)
            if region is not None:
                yield i, j, region


def _known_region(
    rows: Sequence[Row], hulls: Sequence[Row], regions: dict[frozenset[Row], frozenset[Row] | None]
) -> frozenset[Row] | None:
    tidy = _tidy_rows(rows)
    if tidy is None:
        return None
    if tidy not in regions:
        regions[tidy] = _irredundant(tidy, hulls)
    return regions[tidy]


def _interior(rows: Sequence[Row], hulls: Sequence[Row]) -> frozenset[Row] | None:
    return _known_region(rows, hulls, {})


def _tidy_rows(rows: Iterable[Row]) -> frozenset[Row] | None:
    """The rows scaled, of parallel ones only the tightest; None if one of them cannot hold."""
    tightest: dict[tuple[tuple[int, int], ...], Row] = {}
    for row in rows:
        head = next((abs(factor) for factor in row[:-1] if factor), None)
        if head is None:
            if row[-1] <= 0:
                return None
            continue
        unit = row if head == 1 else tuple(factor / head for factor in row)
        direction = tuple((int(factor.p), int(factor.q)) for factor in unit[:-1])
        before = tightest.get(direction)
        if before is None or unit[-1] < before[-1]:
            tightest[direction] = unit
    return frozenset(tightest.values())


def _irredundant(rows: frozenset[Row], hulls: Sequence[Row]) -> frozenset[Row] | None:
    """The rows that matter, or None if the interior is empty."""
    if not feasible([*rows, *hulls]):
        return None
    kept = sorted(rows, reverse=True)
    for row in list(kept):
        others = [other for other in kept if other is not row]
        if len(kept) + len(hulls) > 1 and not feasible([*others, *hulls, tuple(-factor for factor in row)]):
            kept = others
    return frozenset(kept)


def feasible(rows: Sequence[Row]) -> bool:
    """Whether some point makes every ``sum row[j] * x_j + row[-1]`` positive, exactly.

    The simplex method for ``max t`` under ``row·(x, 1) >= t`` and ``t <= 1``, by Bland's rule, which stops when t > 0.

    >>> feasible([(ONE, ZERO), (-ONE, ONE)]), feasible([(ONE, ZERO), (-ONE, ZERO)])
    (True, False)
    """
    if not rows or all(row[-1] > 0 for row in rows):
        return True
    size = len(rows[0]) - 1
    # A line reads: slack = line[:size]·x + line[size]*t + line[-1].  Nonbasic variables are named by `outside`:
    # x_j is j and never comes back once it is inside, t is `size`, and slacks are above it.
    lines = [[*row[:-1], -ONE, row[-1]] for row in rows]
    lines.append([ZERO] * size + [-ONE, ONE])
    outside = list(range(size + 1))
    inside = list(range(size + 1, size + 1 + len(lines)))
    worst = min(range(len(lines)), key=lambda i: lines[i][-1])
    _pivot(lines, outside, inside, worst, size)
    objective = worst
    while lines[objective][-1] <= 0:
        goal = lines[objective]
        entering = -1
        for place in sorted(range(size + 1), key=lambda place: outside[place]):
            if goal[place] > 0 or (goal[place] and outside[place] < size):
                entering = place
                break
        if entering < 0:
            return False
        sign = 1 if goal[entering] > 0 else -1
        leaving, ratio = -1, ZERO
        for i, line in enumerate(lines):
            if inside[i] <= size:
                continue
            step = line[entering] * sign
            if step < 0:
                bound = -line[-1] / step
                if leaving < 0 or bound < ratio or (bound == ratio and inside[i] < inside[leaving]):
                    leaving, ratio = i, bound
        if leaving < 0:
            return True
        _pivot(lines, outside, inside, leaving, entering)
    return True


def _pivot(lines: list[list[Rational]], outside: list[int], inside: list[int], row: int, column: int) -> None:
    line = lines[row]
    factor = -1 / line[column]
    solved = [value * factor for value in line]
    solved[column] = -factor
    lines[row] = solved
    for i, other in enumerate(lines):
        weight = other[column]
        if i != row and weight:
            changed = [a + weight * b if b else a for a, b in zip(other, solved, strict=True)]
            changed[column] = weight * solved[column]
            lines[i] = changed
    outside[column], inside[row] = inside[row], outside[column]


def _hulls(functions: Sequence[Function[K]]) -> list[Row]:
    """The smallest box that holds the supports."""
    rows: list[Row] = []
    for i, function in enumerate(functions):
        if not function.pieces:
            return [(*((ZERO,) * len(functions)), -ONE)]
        low, high = function.pieces[0].low, function.pieces[-1].high
        unit: Row = tuple(ONE if j == i else ZERO for j in range(len(functions)))
        if low is not None:
            rows.append((*unit, -low))
        if high is not None:
            rows.append((*(-factor for factor in unit), high))
    return rows


def _solve_row(row: Row, place: int) -> Row:
    """The bound on one noise, as an affine form of the others."""
    return tuple(-factor / row[place] for i, factor in enumerate(row) if i != place)


def _minus(left: Row, right: Row) -> Row:
    return tuple(a - b for a, b in zip(left, right, strict=True))


T = TypeVar("T")


def _drop_entry(values: tuple[T, ...], place: int) -> tuple[T, ...]:
    return values[:place] + values[place + 1 :]


def _replace_entry(values: tuple[int, ...], place: int, value: int) -> tuple[int, ...]:
    return (*values[:place], value, *values[place + 1 :])


def _move_entry(values: tuple[int, ...], place: int, step: int) -> tuple[int, ...]:
    return _replace_entry(values, place, values[place] + step)
