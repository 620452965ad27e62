"""Cone dominance: which vectors a search may forget.

A vector y = (alpha, beta) is dominated by vectors g_i when ``sum lambda_i alpha_i >= alpha`` and ``sum lambda_i beta_i <= beta``
componentwise for some lambda >= 0 (and ``sum lambda_i weight_i <= weight`` where a delta counts).  Matrices and final columns
are non-negative, so for every continuation w

    P_y(w) - c Q_y(w)  <=  sum lambda_i (P_i(w) - c Q_i(w)):

if no continuation of the g_i violates, none of y does, for every c at once.  Where left and right share their matrices, ``(c e_s, e_s)``
is safe for every state s, which adds: y is safe once ``alpha <= c beta``.

Floating point proposes lambda (one generator: an interval of quotients; several: a linear program); integers decide.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from flint import fmpq_mat
from numpy.typing import NDArray

from privproof.engines.words.word_vectors import Reached, quotient
from privproof.exact import fraction, rational

Multipliers = tuple[tuple[int, Fraction], ...]
"""Pairs (index of a generator, its multiplier)."""

_MOST_EQUATIONS = 40
"""So many unknowns at most are solved for exactly where a linear program ends on the boundary: vectors have long numbers."""
_TOLERANCE = 1e-9
"""Floats within this are taken for equal when candidates are sought; each is then compared exactly, a missed one costs time."""
_TINY = 1e-13
"""Multipliers of a linear program below this are noise of the solver, and are left out before the exact check."""


def floats(vector: Reached, *, weighted: bool) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The vector in floating point, scaled to largest entry one; the weight counts as one more right entry."""
    right = (*vector.right, vector.weight) if weighted else vector.right
    top = max(max(vector.left, default=0), max(right, default=0), 1)
    return np.array([x / top for x in vector.left]), np.array([x / top for x in right])


def single(vector: Reached, by: Reached, *, weighted: bool) -> Fraction | None:
    """A multiplier with which `by` alone dominates the vector, exactly; None if there is none."""
    low_p, low_q = 0, 1
    for x, y in zip(vector.left, by.left, strict=True):
        if x:
            if not y:
                return None
            if x * low_q > low_p * y:
                low_p, low_q = x, y
    for x, y in zip(vector.right, by.right, strict=True):
        if y and low_p * y > x * low_q:
            return None
    if weighted and low_p * by.weight > vector.weight * low_q:
        return None
    return Fraction(low_p, low_q)


def dominates(
    vector: Reached,
    generators: Sequence[Reached],
    multipliers: Multipliers,
    diagonal: Sequence[Fraction],
    bound: Fraction,
) -> bool:
    """Whether multiples of generators, and what diagonal ones contribute to the left part, dominate the vector, exactly."""
    left: list[Fraction] = list(diagonal) or [Fraction(0)] * len(vector.left)
    right = [x / bound for x in diagonal] if diagonal else [Fraction(0)] * len(vector.right)
    for index, factor in multipliers:
        generator = generators[index]
        for i, x in enumerate(generator.left):
            if x:
                left[i] += factor * x
        for i, x in enumerate(generator.right):
            if x:
                right[i] += factor * x
    return all(s >= x for s, x in zip(left, vector.left, strict=True)) and all(
        s <= x for s, x in zip(right, vector.right, strict=True)
    )


def is_dominated(vector: Reached, bound: Fraction, *, strictly: bool = False) -> bool:
    """Whether ``alpha <= bound * beta`` componentwise; strictly: with equality only where both are zero."""
    p, q = bound.numerator, bound.denominator
    if strictly:
        return all(x * q < p * y or x == y == 0 for x, y in zip(vector.left, vector.right, strict=True))
    return all(x * q <= p * y for x, y in zip(vector.left, vector.right, strict=True))


@dataclass(frozen=True)
class Dominated:
    """Why a product is covered: by multipliers on kept generators, by diagonal generators ``(k e_s, e_s)``, or by those of a simulation.

    Of the latter two is given what they contribute to the left part, by state.  The product is `scale` times the integer vector
    that was compared; `simulation` is the number of the simulation.
    """

    by: Multipliers = ()
    diagonal: tuple[int | Fraction, ...] | None = None
    simulated: tuple[int, ...] | None = None
    simulation: int = 0
    scale: Fraction = Fraction(1)


class Antichain:
    """The generators kept at one place, with fast tests whether a new vector is dominated by them."""

    def __init__(self, *, weighted: bool) -> None:
        self.weighted = weighted
        self.generators: list[Reached] = []
        self._left = np.zeros((0, 0))
        self._right = np.zeros((0, 0))

    def __len__(self) -> int:
        return len(self.generators)

    def add(self, vector: Reached) -> int:
        """Keep the vector; its number."""
        number = len(self.generators)
        left, right = floats(vector, weighted=self.weighted)
        if number == len(self._left):
            room = max(16, 2 * number)
            self._left = np.vstack([self._left.reshape(number, len(left)), np.zeros((room - number, len(left)))])
            self._right = np.vstack([self._right.reshape(number, len(right)), np.zeros((room - number, len(right)))])
        self._left[number], self._right[number] = left, right
        self.generators.append(vector)
        return number

    def dominator(self, vector: Reached) -> Multipliers | None:
        """One kept generator that dominates the vector, if there is one."""
        count = len(self.generators)
        if count == 0:
            return None
        left, right = floats(vector, weighted=self.weighted)
        present = left > 0
        with np.errstate(divide="ignore", invalid="ignore", over="ignore", under="ignore"):
            low = np.max(left[present] / self._left[:count, present], axis=1)
            high = np.min(
                np.where(self._right[:count] > 0, right / self._right[:count], np.inf), axis=1, initial=np.inf
            )
        for index in np.flatnonzero(low <= high * (1 + _TOLERANCE)):
            factor = single(vector, self.generators[int(index)], weighted=self.weighted)
            if factor is not None:
                return ((int(index), factor),)
        return None

    def cone(self, vector: Reached, bound: Fraction, *, most: int = 80) -> Dominated | None:
        """Multiples of several kept generators, and of diagonal ones ``(bound e_s, e_s)`` where bound > 0, that dominate the vector.

        A linear program proposes them with the least use of the right part; they are inflated by a little and checked exactly.  Where
        all of the right part is needed there is nothing to inflate: then the equations that the solution meets are solved exactly.
        """
        from scipy.optimize import linprog  # here, because it is slow to import and seldom needed

        count = len(self.generators)
        if count < 2 and (count == 0 or bound == 0):
            return None
        left, right = floats(vector, weighted=False)
        chosen = np.arange(count)
        if count > most:
            weights = self._left[:count].sum(axis=1) / np.maximum(self._right[:count].sum(axis=1), 1e-300)
            chosen = np.argsort(-weights)[:most]
        columns = [self._left[chosen].T, self._right[chosen].T]
        size = len(left)
        if bound > 0:
            share = quotient(bound.denominator, bound.numerator)
            columns = [np.hstack([columns[0], np.eye(size)]), np.hstack([columns[1], np.eye(size) * share])]
        width = columns[0].shape[1]
        above = np.hstack([-columns[0], np.zeros((size, 1))])
        below = np.hstack([columns[1], -right[:, None]])
        result = linprog(
            np.append(np.zeros(width), 1.0),
            A_ub=np.vstack([above, below]),
            b_ub=np.append(-left, np.zeros(len(right))),
            bounds=(0, None),
            method="highs",
        )
        if result.status != 0 or result.x is None or result.x[width] > 1 + _TOLERANCE:
            return None
        solution = np.where(result.x[:width] > _TINY, result.x[:width], 0.0)
        if result.x[width] > 1 - _TOLERANCE:
            return self._on_the_boundary(vector, bound, chosen, solution, columns, (left, right))
        scale = max(*vector.left, *vector.right, 1)
        inflated = Fraction(1) + Fraction(_TOLERANCE) / 4
        by = []
        for index, factor in zip(chosen, solution, strict=False):
            if factor:
                generator = self.generators[int(index)]
                top = max(*generator.left, *generator.right, 1)
                by.append((int(index), Fraction(float(factor)) * inflated * scale / top))
        diagonal = [Fraction(float(x)) * inflated * scale for x in solution[len(chosen) :]] if bound > 0 else []
        if not dominates(vector, self.generators, tuple(by), diagonal, bound):
            return None
        return Dominated(by=tuple(by), diagonal=tuple(diagonal) if diagonal else None, scale=vector.scale)

    def _on_the_boundary(
        self,
        vector: Reached,
        bound: Fraction,
        chosen: NDArray[np.int64],
        solution: NDArray[np.float64],
        columns: Sequence[NDArray[np.float64]],
        sides: Sequence[NDArray[np.float64]],
    ) -> Dominated | None:
        """The multiples that meet the inequalities with equality where the solution of the linear program does, exactly."""
        used = [int(i) for i in np.flatnonzero(solution)]
        if not used or len(used) > _MOST_EQUATIONS:
            return None
        tight = [np.flatnonzero(np.abs(a @ solution - b) <= _TOLERANCE) for a, b in zip(columns, sides, strict=True)]
        rows: list[list[int | Fraction]] = []
        for on_left, places in zip((True, False), tight, strict=True):
            for s in places:
                row = [self._entry(int(s), i, chosen, bound, on_left=on_left) for i in used]
                if any(row):
                    rows.append([*row, (vector.left if on_left else vector.right)[int(s)]])
        solved = _solve_equations(rows, len(used))
        if solved is None or any(x < 0 for x in solved):
            return None
        by = tuple((int(chosen[i]), x) for i, x in zip(used, solved, strict=True) if i < len(chosen) and x)
        diagonal = [Fraction(0)] * len(vector.left) if bound > 0 else []
        for i, x in zip(used, solved, strict=True):
            if i >= len(chosen):
                diagonal[i - len(chosen)] = x
        if not dominates(vector, self.generators, by, diagonal, bound):
            return None
        return Dominated(by=by, diagonal=tuple(diagonal) if diagonal else None, scale=vector.scale)

    def _entry(
        self, state: int, column: int, chosen: NDArray[np.int64], bound: Fraction, *, on_left: bool
    ) -> int | Fraction:
        """What a generator, or a diagonal one, has at a state."""
        if column >= len(chosen):
            same = column - len(chosen) == state
            return Fraction(0) if not same else Fraction(1) if on_left else 1 / bound
        generator = self.generators[int(chosen[column])]
        return (generator.left if on_left else generator.right)[state]


def _solve_equations(rows: Sequence[Sequence[int | Fraction]], unknowns: int) -> list[Fraction] | None:
    """The solution of linear equations (each with its right side last), unknowns that are left open set to 0; None without one."""
    if not rows:
        return None
    table = fmpq_mat(len(rows), unknowns + 1, [rational(x) for row in rows for x in row])
    reduced, rank = table.rref()
    result = [Fraction(0)] * unknowns
    for i in range(rank):
        lead = next(j for j in range(unknowns + 1) if reduced[i, j] != 0)
        if lead == unknowns:
            return None
        value = reduced[i, unknowns]
        result[lead] = fraction(value)
    return result
