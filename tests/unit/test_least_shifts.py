"""The least cost of shifts against another solver, on random rows, and against duality."""

from __future__ import annotations

import random

import numpy as np
import pytest
from scipy.optimize import linprog
from tests.amounts import selected

from privproof.engines.laplace.least_shifts import LeastShifts


@pytest.mark.parametrize("seed", selected(range(400), 40))
def test_random_rows(seed: int) -> None:
    """One program after the other with the same rows: each goes on from the basis of the one before."""
    chance = random.Random(seed)
    count, above, fixed = chance.randint(0, 5), chance.randint(0, 8), chance.randint(0, 2)

    def table(rows: int) -> np.ndarray:
        entries = [[chance.choice((-2, -1, -1, 0, 0, 0, 1, 1, 0.5, 3)) for _ in range(count)] for _ in range(rows)]
        return np.array(entries, dtype=float).reshape(rows, count)

    rows, equal = table(above), table(fixed)
    costs = [chance.choice((0.25, 0.5, 1.0, 2.0)) for _ in range(count)]
    never_down = [chance.random() < 0.2 for _ in range(count)]
    program = LeastShifts(costs, rows, equal, never_down)
    bounds = [(0, None)] * count + [(0, 0) if never else (0, None) for never in never_down]
    for _ in range(8):
        right = np.array([chance.choice((-2.0, -1.0, 0.0, 0.0, 1.0, 0.5)) for _ in range(above)])
        moved = np.array([chance.choice((-1.0, 0.0, 0.0, 1.0)) for _ in range(fixed)])
        found = program.solve(right, moved)
        if count == 0:
            fits = bool(np.all(right >= 0) and np.all(moved == 0))
            assert (found is not None) is fits
            continue
        expected = linprog(
            costs * 2,
            A_ub=np.hstack([-rows, rows]) if above else None,
            b_ub=right if above else None,
            A_eq=np.hstack([equal, -equal]) if fixed else None,
            b_eq=-moved if fixed else None,
            bounds=bounds,
        )
        assert (found is not None) is (expected.status == 0), (expected.message, found)
        if found is None:
            continue
        cost, shifts, prices = found
        assert cost == pytest.approx(expected.fun, abs=1e-7)
        assert np.all(rows @ shifts + right >= -1e-7)
        assert np.allclose(equal @ shifts + moved, 0, atol=1e-7)
        assert all(shift >= -1e-9 for shift, never in zip(shifts, never_down, strict=True) if never)
        assert cost == pytest.approx(float(np.dot(costs, np.abs(shifts))), abs=1e-7)
        assert cost == pytest.approx(float(prices @ np.concatenate([right, -moved])), abs=1e-7), "duality"
        assert np.all(prices[:above] <= 1e-9)
