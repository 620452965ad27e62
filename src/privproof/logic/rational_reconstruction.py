"""The exact solution of ``x = A x + b`` by floating point: refined to many digits, guessed as fractions, and checked exactly.

One factorisation in floating point solves the system to some 40 binary digits; what is left, computed in whole numbers, is solved by the
same factors, and so on: each round adds as many digits.  The entries are then the simplest fractions near by, over one common denominator
as long as that fits (the solution of such a system has one).  **The guess is put into the equations, exactly**, and given only if it
solves them; every run leaves, which is looked at on the graph, so that there is one solution.  Where denominators are long, nothing is
found, and elimination is for it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import lcm
from typing import TypeAlias

import numpy as np
from flint import fmpq
from numpy.typing import NDArray

from privproof.engines.search_monitor import Monitor
from privproof.exact import ZERO, Rational
from privproof.models.graph_algorithms import reachable

_FIRST = 192
"""Binary digits at which fractions are guessed first; then at twice as many, and so on."""
_MOST = 8_192
"""Binary digits; with longer denominators elimination is quicker."""
_MOST_WORK = 4_000_000
"""Products of whole numbers, in all rounds: a few seconds."""
_GAINED = 40
"""Binary digits that a round adds, of the 52 of a float."""
_LEAST_GAINED = 8
"""If a round adds fewer, because what is left grows, floating point is of no use here."""
_LOOSE = 12
"""Last binary digits that are not relied on."""
_SURE = 24
"""A fraction is taken for the number if it is shorter by so many digits than what any number has near it."""

Rows: TypeAlias = "Sequence[dict[int, Rational]]"
Floats: TypeAlias = NDArray[np.float64]


def reconstruct_rationals(inside: Rows, outside: Sequence[Rational], monitor: Monitor) -> list[Rational] | None:
    """The solution, given the entries of A by row and b; None where it is not found so."""
    over = [
        lcm(int(known.q), *(int(number.q) for number in row.values()))
        for row, known in zip(inside, outside, strict=True)
    ]
    if max(over).bit_length() > _MOST or not _leaves(inside):
        return None
    solve = _solver(inside)
    if solve is None:
        return None
    whole = [[(k, int((number * d).p)) for k, number in row.items()] for row, d in zip(inside, over, strict=True)]
    goal = [int((known * d).p) for known, d in zip(outside, over, strict=True)]
    entries = len(inside) + sum(map(len, whole))
    digits, wanted, work = 0, _FIRST, 0
    x = [0] * len(inside)  # times 2^digits
    left = goal  # over (x - A x) falls short of over b by so much, times 2^digits
    while wanted <= _MOST:
        while digits < wanted:
            monitor.pause()
            work += entries
            missing = solve(np.array([value / d for value, d in zip(left, over, strict=True)]))
            step = _GAINED - max(0, int(np.ceil(np.log2(max(1.0, float(np.abs(missing).max()))))))
            if work > _MOST_WORK or step < _LEAST_GAINED or not np.isfinite(missing).all():
                return None
            added = [int(value) for value in np.rint(np.ldexp(missing, step)).tolist()]
            digits += step
            x = [(value << step) + more for value, more in zip(x, added, strict=True)]
            left = [
                (value << step) - d * more + sum([n * added[k] for k, n in row])
                for value, d, more, row in zip(left, over, added, whole, strict=True)
            ]
        guess = _fractions(x, digits)
        if guess is not None and _solves(inside, outside, guess):
            return guess
        wanted *= 2
    return None


def _leaves(inside: Rows) -> bool:
    """Whether a row whose sum is below 1 can be reached from every row."""
    into: list[list[int]] = [[] for _ in inside]
    for i, row in enumerate(inside):
        for k in row:
            into[k].append(i)
    leaky = [i for i, row in enumerate(inside) if sum(row.values(), ZERO) < 1]
    return len(reachable(leaky, into.__getitem__)) == len(inside)


def _fractions(x: Sequence[int], digits: int) -> list[Rational] | None:
    """The simplest fractions near numbers that are given times a power of two; None where there are no short ones."""
    unit, loose = 1 << digits, 1 << _LOOSE
    most = digits // 2 - _SURE
    common = 1
    result: list[Rational] = []
    for value in x:
        scaled = value * common
        nearest = (scaled + unit // 2) >> digits
        if abs(scaled - (nearest << digits)) > loose * common:
            common *= _denominator(scaled, unit, loose * common)
            if common.bit_length() > most:
                return None
            nearest = (value * common + unit // 2) >> digits
        result.append(fmpq(nearest, common))
    return result


def _denominator(value: int, unit: int, loose: int) -> int:
    """The denominator of the first continued fraction of value / unit that is near enough."""
    above, below = value, unit
    before, here = 1, 0
    while below:
        whole, rest = divmod(above, below)
        before, here = here, whole * here + before
        if rest <= loose * here:  # by so much here * value differs from a multiple of the unit
            break
        above, below = below, rest
    return here


def _solves(inside: Rows, outside: Sequence[Rational], x: Sequence[Rational]) -> bool:
    return all(
        sum((number * x[k] for k, number in row.items()), known) == x[i]
        for i, (row, known) in enumerate(zip(inside, outside, strict=True))
    )


def _solver(inside: Rows) -> Callable[[Floats], Floats] | None:
    from scipy.sparse import csc_matrix
    from scipy.sparse.linalg import splu

    size = len(inside)
    tails = np.array([i for i, row in enumerate(inside) for _ in row], np.int64)
    heads = np.array([k for row in inside for k in row], np.int64)
    numbers = np.array([int(p.p) / int(p.q) for row in inside for p in row.values()], np.float64)
    diagonal = np.arange(size)
    system = csc_matrix(
        (
            np.concatenate([np.ones(size), -numbers]),
            (np.concatenate([diagonal, tails]), np.concatenate([diagonal, heads])),
        ),
        shape=(size, size),
    )
    try:
        factors = splu(system, permc_spec="MMD_AT_PLUS_A", diag_pivot_thresh=0.0, options={"SymmetricMode": True})
    except (RuntimeError, MemoryError):
        return None
    return lambda right: np.asarray(factors.solve(right), np.float64)
