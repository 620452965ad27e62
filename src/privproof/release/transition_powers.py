"""How much a value of a chain tells about values further away: bounds on logarithms of ratios, rounded outward.

For the powers P^n of a transition matrix

    forth(n)[x, x'] = max_z log P^n(x, z) / P^n(x', z)         what X_{i+n} tells about X_i
    back(n)[x, x']  = max_y log P^n(y, x) / P^n(y, x')         what X_{i-n} tells, up to the ratio of Pr(X_i = x') and Pr(X_i = x)

Powers are computed in floating point.  All their terms are positive, so that every product and sum errs by a known factor: after n
multiplications of k x k matrices an entry is right up to ``(1 + u)^(n (k + 3))`` with u = 2^-53, whatever the order of summation.
The logarithms are widened by this, and by the rounding of the logarithm itself; entries so small that they might underflow count as
zero below a fraction line and as the threshold above it.  So the tables are upper bounds of the exact ones, and close to them.
"""

from __future__ import annotations

import numpy as np

from privproof.memory import entries_within
from privproof.release.markov_chains import Chain

UNIT = 2.0**-53
"""The rounding unit of doubles."""
_TINY = 1e-280
"""Entries of a power below this have lost digits, and count as possibly zero."""
_CONSECUTIVE = 1024
"""Powers up to which all are computed."""
_GROWTH = 0.005
"""Beyond it every next power is higher by this share: any distance gives a valid quilt."""
_MOST_ENTRIES = 10_000_000
"""Numbers in all tables of powers together, for memory; quilts do not reach further."""
_HUGE = 1e100
"""Stands for infinity while differences are taken, which infinities do not survive."""


class Powers:
    """The tables of one chain, at growing distances.

    Distances are 1, 2, 3, ... up to a thousand, and beyond that every half percent: leaving quilts out costs a little noise, never
    privacy.
    """

    def __init__(self, chain: Chain) -> None:
        self.matrix = chain.matrix
        self.size = len(chain.states)
        self.distances = np.zeros(0, dtype=np.int64)
        self._steps = chain.support
        self._forth = np.zeros((0, self.size**2))
        self._back = np.zeros((0, self.size**2))
        self._latest = (self.matrix, self._steps)

    def reach(self, width: int) -> int:
        """Grow the tables to a distance of at least the width, if they may; the number of distances up to it."""
        while self.furthest < width and self._grow():
            pass
        return int(np.searchsorted(self.distances, width, side="right"))

    @property
    def furthest(self) -> int:
        """The largest distance in the tables."""
        return int(self.distances[-1]) if len(self.distances) else 0

    @property
    def forth(self) -> np.ndarray:
        """The tables, one row for every distance, one column for every pair."""
        return self._forth[: len(self.distances)]

    @property
    def back(self) -> np.ndarray:
        """The same in the other direction."""
        return self._back[: len(self.distances)]

    def forth_at(self, distance: int) -> np.ndarray:
        """The table of a distance, or of the nearest smaller one, which is above it: tables fall with the distance."""
        place = self.reach(distance) - 1
        found: np.ndarray = self.forth[place]
        return found

    def back_at(self, distance: int) -> np.ndarray:
        """The same in the other direction."""
        place = self.reach(distance) - 1
        found: np.ndarray = self.back[place]
        return found

    def _grow(self) -> bool:
        number = len(self.distances)
        if number == max(16, entries_within(_MOST_ENTRIES, 16) // self.size**2):  # two tables of floats
            return False
        power, support = self._latest
        last = self.furthest
        if number:
            gap = 1 if last < _CONSECUTIVE else max(1, int(last * _GROWTH))
            step = self.matrix if gap == 1 else np.linalg.matrix_power(self.matrix, gap)
            steps = self._steps if gap == 1 else _boolean_power(self._steps, gap)
            power, support = power @ step, (support.astype(np.float32) @ steps) > 0
            last += gap
            self._latest = (power, support)
        else:
            last = 1
        if number == len(self._forth):
            more = np.zeros((max(32, number), self.size**2))
            self._forth = np.concatenate([self._forth, more])
            self._back = np.concatenate([self._back, more])
        factor = 2 * last * (self.size + 3) * UNIT * 1.01
        self._forth[number] = widest(power, support, factor).ravel()
        self._back[number] = widest(np.ascontiguousarray(power.T), support.T, factor).ravel()
        self.distances = np.append(self.distances, last)
        return True


def widest(rows: np.ndarray, support: np.ndarray, factor: float) -> np.ndarray:
    """For any two rows the largest logarithm of the ratio of their entries, widened by a relative error of their quotient."""
    whole = bool((rows > _TINY).all())
    if whole:
        above = below = np.log(rows)
        least = float(below.min())
    else:
        below = np.log(np.maximum(rows, _TINY))
        least = float(below.min())
        above = np.where(support, below, -2 * _HUGE)
        below = np.where(rows > _TINY, below, -_HUGE)
    ratios = np.ascontiguousarray(above.T)[:, :, None] - np.ascontiguousarray(below.T)[:, None, :]
    result: np.ndarray = ratios.max(axis=0)
    if not whole:
        result = np.where(result > _HUGE / 4, np.inf, np.where(result < -_HUGE / 4, -np.inf, result))
    result += factor + 8 * UNIT * abs(least) + 1e-15
    np.fill_diagonal(result, -np.inf)
    return result


def _boolean_power(support: np.ndarray, exponent: int) -> np.ndarray:
    result = np.eye(len(support), dtype=bool)
    base = support
    while exponent:
        if exponent & 1:
            result = (result.astype(np.float32) @ base) > 0
        base = (base.astype(np.float32) @ base) > 0
        exponent >>= 1
    return result
