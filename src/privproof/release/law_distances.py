"""The Wasserstein mechanism (Song, Wang and Chaudhuri 2017): noise for the distance that two laws can be moved into each other.

``W_infinity(mu, nu)`` is the least w for which mass can be moved from mu to nu with no piece moved further than w.  On a line it is
the least w with ``F(t) <= G(t + w)`` and ``G(t) <= F(t + w)`` for all t, where F and G are the cumulative sums.  It jumps where a
tiny mass appears or vanishes, so rounding must not decide: cumulative sums are compared with their error, from below or
(equivalently) from above, and where both are too close the exact rationals decide.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from privproof.errors import QuestionError
from privproof.exact import ZERO, Rational
from privproof.release.sum_laws import SumLaws

_SHORT = 200
"""Laws with more outcomes, whose tails are below the range of floats, are not compared here; another method is named."""


@dataclass(frozen=True)
class Distance:
    """The largest distance found, in steps, and where.

    Attributes:
        steps: the distance.
        laws: the entry.
        left: a value of it.
        right: the other value.
        exact: whether no smaller distance suffices; otherwise it is an upper bound.
    """

    steps: int
    laws: SumLaws | None
    left: str
    right: str
    exact: bool = True


def largest_distance(found: Iterable[SumLaws]) -> Distance:
    """The largest distance between the laws of two values of one entry.

    >>> from privproof.exact import rational
    >>> from privproof.release.sum_laws import listed_laws
    >>> third = rational("1/3")
    >>> laws = listed_laws({"a": {0: third, 3: third, 7: third}, "b": {0: third, 4: third, 7: third}})
    >>> largest_distance([laws]).steps
    1
    """
    best = Distance(0, None, "", "")
    for laws in found:
        if laws.counts is not None:
            raise QuestionError(
                "query", "the distance between laws is that of sums", place="query", hint='method="exact", or "quilt"'
            )
        number = len(laws.values)
        if not laws.complete and laws.masses.shape[1] > _SHORT:
            raise QuestionError(
                "size",
                "the tails of the laws are too small for floats",
                place="length",
                hint='method="exact", or "quilt"',
            )
        cumulative = np.cumsum(laws.masses, axis=1)
        remaining = np.cumsum(laws.masses[:, ::-1], axis=1)[:, ::-1]
        error = laws.error + (laws.masses.shape[1] + 2) * 2.0**-53
        exact: tuple[tuple[Rational, ...], ...] | None = None
        for x in range(number):
            for y in range(number):
                if x == y:
                    continue
                sure, maybe = (
                    _shift_bounds(cumulative, remaining, x, y, error) if laws.complete else (0, laws.masses.shape[1])
                )
                steps, known = maybe, True
                if sure < maybe and maybe > best.steps:
                    try:
                        exact = exact or laws.exactly()
                        steps = exact_distance(exact[x], exact[y])
                    except QuestionError:
                        known = False
                if steps > best.steps:
                    best = Distance(steps, laws, laws.values[x], laws.values[y], known)
    return best


def _shift_bounds(cumulative: np.ndarray, remaining: np.ndarray, x: int, y: int, error: float) -> tuple[int, int]:
    """The least w with F(t) <= G(t + w) for all t: a bound from below that is sure, and one from above.

    For every t the least shift at which G reaches F(t); G reaches it surely, or perhaps, up to the error on both sides.
    """
    width = cumulative.shape[1]
    low, high = 1 - 2 * error, 1 + 2 * error
    places = np.arange(width)
    surely = np.searchsorted(cumulative[y] * low, cumulative[x] * high, side="left")
    perhaps = np.searchsorted(cumulative[y] * high, cumulative[x] * low, side="left")
    # the same from above: G(t + w) >= F(t) iff what remains beyond t + w under G is at most what remains beyond t under F
    beyond_x = np.append(remaining[x][1:], 0.0)
    beyond_y = np.append(remaining[y][1:], 0.0)
    falling = -beyond_y
    surely_above = np.searchsorted(falling * high, -beyond_x * low, side="left")
    perhaps_above = np.searchsorted(falling * low, -beyond_x * high, side="left")
    at_least = np.maximum(np.minimum(perhaps, width - 1), np.minimum(perhaps_above, width - 1))
    at_most = np.minimum(np.minimum(surely, width - 1), np.minimum(surely_above, width - 1))
    matters = cumulative[x] > 0
    sure = int(np.max(np.where(matters, at_least - places, 0), initial=0))
    maybe = int(np.max(np.where(matters, at_most - places, 0), initial=0))
    return max(0, sure), max(0, maybe)


def exact_distance(left: Sequence[Rational], right: Sequence[Rational]) -> int:
    """The least w with F(t) <= G(t + w) for all t, exactly."""
    worst, reached, place, total = 0, ZERO, -1, ZERO
    for t, mass in enumerate(left):
        if mass == 0:
            continue
        total += mass
        while reached < total:
            place += 1
            reached += right[place]
        worst = max(worst, place - t)
    return worst
