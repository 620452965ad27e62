"""How large the ratio becomes: the supremum of ``(left - delta scale) / right`` over a region and its conditions.

From below it is met at a point of the region, or approached along a segment that enters the region from a point of its
border: with ``left(x + t d) - delta scale(x + t d)`` and ``right(x + t d)`` as polynomials in t, the limit for t -> 0 is the
quotient of their lowest coefficients where these belong to the same power, and infinite where the one below vanishes faster.
From above it is proved: ``c right + delta scale - left`` is non-negative for a c that is the supremum itself, where the two
meet, or lies above it by less than the precision asked for.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import product

import numpy as np
from numpy.typing import NDArray

from privproof.engines.parametric.condition_decision import BOXES, Proof, Task, Undecided, Violation
from privproof.engines.parametric.simple_points import Evaluator, Values, as_floats, simple_points
from privproof.engines.search_monitor import Monitor, Progress, Stopped
from privproof.exact import Rational, fraction, rational, show, simplest
from privproof.exact.polynomials import Polynomial
from privproof.models.parameter_conditions import Condition, RegionConditions

_ROUNDS = 30
"""Times that a bound is raised by a violation found, or that a bracket is widened; then the bracket is as it is."""
_CORNERS = 2_000
"""Corners, and simple points of the border, at which ratios are looked at; with more corners than that none are."""
_KEPT = 24
"""So many of the best points are computed exactly and climbed from."""
_STEPS = 60
"""Steps of a local search, which halves its stride when nothing nearby is larger."""
_SIMPLE = 10_000
"""A point with a larger denominator was found by floats, and is hardly where the supremum is attained."""
_ZERO = Rational(0)
"""The number zero."""


@dataclass(frozen=True)
class Supremum:
    """A certified bracket of the supremum, which counts as 0 where it would be negative.

    Attributes:
        lower: the supremum is at least this; None where it is infinite.
        upper: the supremum is at most this, by `proof`; None where nothing is proved.
        attained: whether `lower` is the ratio at `point` itself.
        point: where the lower bound is attained or approached.
        direction: along which direction from `point` the lower bound is approached, unless it is attained.
        condition: the condition behind the lower bound; None where all ratios found are at most 0.
        proof: why nothing exceeds the upper bound.
        notes: what else is known.
    """

    lower: Rational | None
    upper: Rational | None
    attained: bool
    point: Values
    direction: Values | None
    condition: Condition | None
    proof: Proof | None = None
    notes: tuple[str, ...] = ()

    @property
    def infinite(self) -> bool:
        """Whether the ratio grows without bound."""
        return self.lower is None

    @property
    def exact(self) -> bool:
        """Whether both bounds meet (an infinite supremum is exact)."""
        return self.lower is None or self.lower == self.upper


def supremum(
    conditions: RegionConditions,
    delta: Rational,
    monitor: Monitor,
    *,
    precision: Rational = Rational(1, 10**6),  # noqa: B008
    boxes: int = BOXES,
) -> Supremum:
    """The supremum of the ratios: exact where possible, else a bracket of a relative width of `precision` if that is found.

    >>> from privproof.exact.regions import ParameterRegion
    >>> parts = [Polynomial.of(text, ("p",)) for text in ("2*(1 - p)", "1 - p^2", "1")]
    >>> asked = RegionConditions(ParameterRegion.of({"p": "0 < p < 1"}), (Condition(("ill", "well"), "yes", *parts),))
    >>> found = supremum(asked, Rational(0), Monitor())
    >>> found.lower, found.exact, found.attained, found.point, found.direction
    (2, True, False, {'p': 0}, {'p': 1/2})
    """
    ascent = _Ascent(Task(conditions, delta, monitor, boxes), precision)
    try:
        return ascent.climb()
    except Stopped:
        reason = monitor.stopped() or "stopped"
        return replace(ascent.best, notes=(*ascent.best.notes, reason))


class _Ascent:
    """Raises the lower bound until an upper bound is proved beside it."""

    def __init__(self, task: Task, precision: Rational) -> None:
        self.task, self.region, self.precision = task, task.region, precision
        self.listed = task.conditions.listed
        self.tops = [
            condition.left - condition.scale * task.delta if task.delta != 0 else condition.left
            for condition in self.listed
        ]
        self._evaluator = Evaluator([*self.tops, *(condition.right for condition in self.listed)])
        self.best = Supremum(_ZERO, None, attained=False, point={}, direction=None, condition=None)

    def climb(self) -> Supremum:
        reason = self.task.reason_against()
        if reason is None and (self.task.inner is None or self.task.possible() is None):
            reason = "no parameters were found at which the secrets compared are possible"
        if reason is not None:
            return replace(self.best, notes=(reason,))
        self._survey()
        if self.best.infinite:
            return self.best
        notes: tuple[str, ...] = ()
        for _ in range(_ROUNDS):
            self.task.monitor.pause()
            assert self.best.lower is not None
            self.task.monitor.listen(Progress("bounding the ratio", lower=show(self.best.lower)))
            if any(x.q > _SIMPLE for x in self.best.point.values()):
                break  # found by floats: near the supremum, hardly the supremum itself
            self.task.critical = [self.best.point] if self.best.point else []
            decision = self.task.decide(self.best.lower, ask_solvers=False)
            if isinstance(decision, Proof):
                return replace(self.best, upper=self.best.lower, proof=decision)
            if isinstance(decision, Undecided):
                notes = decision.notes
                break
            if not self._improve(decision):
                break
            if self.best.infinite:
                return self.best
        return self._bracket(notes)

    def _bracket(self, notes: tuple[str, ...]) -> Supremum:
        """An upper bound just above the lower bound, or as near to it as one is found."""
        width = self.precision
        for _ in range(_ROUNDS):
            self.task.monitor.pause()
            lower = self.best.lower
            if lower is None:
                return self.best
            least = max(lower, Rational(1, 1000))
            upper = rational(simplest(fraction(lower + least * width / 2), fraction(lower + least * width)))
            self.task.monitor.listen(Progress("bounding the ratio", lower=show(lower), upper=show(upper)))
            decision = self.task.decide(upper, ask_solvers=False)
            if isinstance(decision, Proof):
                return replace(self.best, upper=upper, proof=decision, notes=notes)
            if isinstance(decision, Violation):
                self._improve(decision)
            else:
                notes = (decision.reason,)
                width *= 10
                if width > 10**6:
                    break
        return replace(self.best, notes=notes)

    def _survey(self) -> None:
        """The largest ratio at simple points, at the border, and at what a local search makes of them."""
        inside = [dict(point) for point in self.task.points]
        border = simple_points(self.region, most=_CORNERS, closed=True)
        ranked = self._ranked([*inside, *self._corners(), *border])
        for point, condition in ranked[:_KEPT]:
            self._consider(point, condition)
        for point, condition in self._vanishing([*self._corners(), *border]):
            self._consider(point, condition)
            if self.best.infinite:
                return
        starts: dict[int, Values] = {}
        for point, condition in ranked:
            starts.setdefault(condition, point)
        for condition, point in list(starts.items())[:_KEPT]:
            self._local(point, condition)

    def _corners(self) -> list[Values]:
        """The corners of the cube of coordinates, as parameters."""
        names = self.region.names
        if 2 ** len(names) > _CORNERS:
            return []
        result = []
        for ends in product((0, 1), repeat=len(names)):
            values = dict.fromkeys(names, _ZERO)
            shares = dict(zip(names, ends, strict=True))
            for each in self.task.coordinates:
                values[each.name] = (each.high if shares[each.name] else each.low).at(values)
            result.append(values)
        return result

    def _vanishing(self, points: Sequence[Values]) -> list[tuple[Values, int]]:
        """Points where the output is impossible on the right, with the condition; first those where it is not on the left."""
        count = len(self.listed)
        values = self._evaluator.at(as_floats(points, self.region.names))
        above, below = values[:, :count], values[:, count:]
        certain = np.argwhere((np.abs(below) < 1e-13) & (above > 1e-9))
        doubtful = np.argwhere((np.abs(below) < 1e-13) & (np.abs(above) <= 1e-9))
        return [(points[int(i)], int(j)) for i, j in [*certain[:_KEPT], *doubtful[: 8 * _KEPT]]]

    def _ranked(self, points: Sequence[Values]) -> list[tuple[Values, int]]:
        """Points with the condition of the largest ratio there, the largest first, by floats."""
        rough = self._rough(as_floats(points, self.region.names))
        finite = np.where(np.isfinite(rough), rough, -1.0)
        finite = np.round(
            finite / max(float(finite.max(initial=0.0)), 1e-9), 11
        )  # equal ratios: the simpler point first
        order = np.argsort(-finite, axis=None, kind="stable")[: 4 * _KEPT + len(points)]
        pairs = [divmod(int(index), rough.shape[1]) for index in order]
        return [(points[row], column) for row, column in pairs if finite[row, column] > 0]

    def _rough(self, points: NDArray[np.float64]) -> NDArray[np.float64]:
        """Ratios in floats: points x conditions; not a number where both sides vanish."""
        count = len(self.listed)
        values = self._evaluator.at(points)
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.where(values[:, count:] > 1e-12, values[:, :count] / values[:, count:], np.nan)

    def _local(self, start: Values, condition: int) -> None:
        """Climb from a point in floats, and consider simple points near the top."""
        names = self.region.names
        if not names or len(names) > 7:
            return
        lows = np.array([float(i.low) for i in self.region.box])
        highs = np.array([float(i.high) for i in self.region.box])
        here = as_floats([start], names)[0]
        moves = np.array(list(product((-1.0, 0.0, 1.0), repeat=len(names))))
        sides = Evaluator([constraint.expression for constraint in self.region.constraints])
        value, step = self._rough(here[np.newaxis])[0, condition], 0.25
        for _ in range(_STEPS):
            near = np.clip(here + step * moves * (highs - lows), lows, highs)
            rough = self._rough(near)[:, condition]
            if self.region.constraints:
                rough = np.where((sides.at(near) >= -1e-12).all(axis=1), rough, np.nan)
            rough = np.where(np.isfinite(rough), rough, -np.inf)
            top = int(rough.argmax())
            if rough[top] > value * (1 + 1e-12):
                value, here = rough[top], near[top]
            else:
                step /= 2
                if step < 1e-9:
                    break
        if self.best.lower is not None and value < float(self.best.lower) * (1 + 1e-12):
            return
        for denominator in (10, 100, 10**4, 10**7):
            near_here = {
                n: rational(Fraction(float(x)).limit_denominator(denominator)) for n, x in zip(names, here, strict=True)
            }
            self._consider(near_here, condition)

    def _improve(self, violation: Violation) -> bool:
        """Take a violation as the new lower bound, and climb from it."""
        before = self.best.lower
        condition = next(i for i, each in enumerate(self.listed) if each is violation.condition)
        self._consider(violation.values, condition)
        if not self.best.infinite:
            self._local(violation.values, condition)
        return self.best.lower != before

    def _consider(self, point: Values, condition: int) -> None:
        """Raise the lower bound by the ratio at a point of the region, or by the limit towards a point of its border."""
        for direction in self._directions(point):
            if self.best.infinite:
                return
            limit = self._limit(point, direction, condition)
            if limit is None:
                continue
            value, attained = limit
            better = value is None or self.best.lower is None or value > self.best.lower
            same = value == self.best.lower and attained and not self.best.attained
            if better or same:
                self.best = Supremum(
                    value, None, attained, dict(point), None if attained else direction, self.listed[condition]
                )
            if attained:
                return

    def _directions(self, point: Values) -> Iterable[Values]:
        """From a point towards inner points of the region."""
        inner = self.task.inner
        if inner is None:
            return
        yield {n: inner[n] - point[n] for n in self.region.names}
        for other in self.task.points[:12]:
            yield {n: other[n] - point[n] for n in self.region.names}

    def _limit(self, point: Values, direction: Values, condition: int) -> tuple[Rational | None, bool] | None:
        """The limit of the ratio along a segment (None: infinite) and whether it is attained at its end.

        None where the segment does not enter the region, or the output never occurs on both sides along it.
        """
        asked = self.listed[condition]
        if self.region.contains(point):
            below = asked.right.at(point)
            if asked.scale.at(point) > 0 and below > 0:
                return self.tops[condition].at(point) / below, True
            if asked.scale.at(point) > 0 and self.tops[condition].at(point) > 0:
                return None, True
        if not self._enters(point, direction):
            return None
        if all(value == 0 for value in _along(asked.scale, point, direction)):
            return None
        above, below_ = _along(self.tops[condition], point, direction), _along(asked.right, point, direction)
        first = next((i for i, value in enumerate(above) if value != 0), None)
        second = next((i for i, value in enumerate(below_) if value != 0), None)
        if first is None or (second is not None and first > second):
            return _ZERO, False
        if second is None or first < second:
            return (None, False) if above[first] > 0 else None
        return above[first] / below_[second], False

    def _enters(self, point: Values, direction: Values) -> bool:
        """Whether ``point + t direction`` is in the region for all small t > 0."""
        for name, interval in zip(self.region.names, self.region.box, strict=True):
            at, slope = point[name], direction[name]
            low = at > interval.low or (at == interval.low and (slope > 0 or (slope == 0 and not interval.low_open)))
            high = at < interval.high or (
                at == interval.high and (slope < 0 or (slope == 0 and not interval.high_open))
            )
            if not (low and high):
                return False
        for constraint in self.region.constraints:
            lowest = next((v for v in _along(constraint.expression, point, direction) if v != 0), _ZERO)
            if lowest < 0 or (lowest == 0 and constraint.strict):
                return False
        return True


def _along(polynomial: Polynomial, point: Values, direction: Values) -> list[Rational]:
    """The coefficients of ``polynomial(point + t direction)`` in t, the constant first."""
    if not polynomial.names:
        return [polynomial.number or _ZERO]
    t = Polynomial.parameter("t", ("t",))
    line = [(t * direction[name] + point[name]).value for name in polynomial.names]
    result = Polynomial(polynomial.value.compose(*line, ctx=t.value.context()), ("t",))
    terms = result.terms
    return [terms.get((power,), _ZERO) for power in range(result.degrees[0] + 1)]
