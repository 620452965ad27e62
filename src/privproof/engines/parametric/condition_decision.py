"""Deciding conditions on parameters: a tree of boxes for every condition, or parameters that violate one.

With c and delta given, a condition says that ``F = c right + delta scale - left`` is non-negative on the region.  The
polynomials share factors that vanish on the border of the region (the probability of a secret, say), which keep small boxes
from closing; and F may be the square of something where an optimum is touched inside.  So F is written as a product, every
factor of odd power gets a tree of its own, and factors of even power need none.

A proof is only what the integers of `search.settle` established.  A violation is a point of the region at which F < 0
exactly and both secrets are possible.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import prod
from typing import TypeAlias

import numpy as np

from privproof.engines.parametric import second_solvers as solvers
from privproof.engines.parametric.bernstein_boxes import (
    Coordinate,
    Tensor,
    coefficients,
    compose_polynomial,
    coordinate_polynomials,
    coordinates,
    cut_box,
    size,
)
from privproof.engines.parametric.box_search import LARGEST, LETTERS, ConstraintSide, boxes_of, grow, settle
from privproof.engines.parametric.simple_points import (
    Evaluator,
    Values,
    as_floats,
    inner_point,
    parameters_at,
    shares_of,
    simple_points,
    simplify_point,
)
from privproof.engines.search_monitor import Monitor, Progress, Stopped
from privproof.exact import Rational, show
from privproof.exact.polynomials import Polynomial
from privproof.exact.regions import ParameterRegion
from privproof.models.parameter_conditions import Condition, RegionConditions

BOXES = 20_000
"""Boxes that one condition may be divided into; what is open by then is handed to the solvers, or unknown."""
_LARGEST_FACTORED = 3_000
"""Polynomials with more terms are not factored, which would take longer than it saves; they are decided as they are."""
_ASKED = 4
"""So many open conditions are put to the solvers, which take long on each."""
_CRITICAL = 500
"""So many simple points are tried as places where a polynomial touches zero."""
_CUTS = 3
"""So many of these are tried as corners of boxes."""


@dataclass(frozen=True)
class PolynomialFactor:
    """A factor of F with its power, and the tree that shows it non-negative on the region (empty for an even power)."""

    polynomial: Polynomial
    power: int
    tree: str


@dataclass(frozen=True)
class ConditionProof:
    """Why a condition holds: the product of the factors is ``c right + delta scale - left``, and none is negative."""

    pair: tuple[str, str]
    output: str
    factors: tuple[PolynomialFactor, ...]


@dataclass(frozen=True)
class Proof:
    """Every condition holds.

    Attributes:
        bound: the c for which it is proved.
        delta: the delta for which it is proved.
        coordinates: how the region was straightened; the trees cut the cube of these coordinates.
        conditions: one proof a condition, in their order.
        points: points of the region; at each pair of secrets one of them makes both secrets possible.
        boxes: how many boxes the trees have.
    """

    bound: Rational
    delta: Rational
    coordinates: tuple[Coordinate, ...]
    conditions: tuple[ConditionProof, ...]
    points: tuple[Values, ...]
    boxes: int


@dataclass(frozen=True)
class Violation:
    """Parameters at which a condition fails: ``left > c right + delta``, both conditional probabilities exact."""

    values: Values
    condition: Condition
    left: Rational
    right: Rational

    @property
    def ratio(self) -> Rational | None:
        """``left / right``; None where the output is impossible on the right."""
        return None if self.right == 0 else self.left / self.right


@dataclass(frozen=True)
class Undecided:
    """Neither was found.

    Attributes:
        reason: why not.
        open: the conditions that are neither proved nor violated.
        proved: how many conditions are proved.
        notes: what else is known, such as the opinion of a solver.
    """

    reason: str
    open: tuple[Condition, ...] = ()
    proved: int = 0
    notes: tuple[str, ...] = ()


Decision: TypeAlias = Proof | Violation | Undecided


class _Violated(Exception):
    def __init__(self, violation: Violation) -> None:
        super().__init__()
        self.violation = violation


def prove(
    conditions: RegionConditions,
    c: Rational,
    delta: Rational,
    monitor: Monitor,
    *,
    boxes: int = BOXES,
    ask_solvers: bool = True,
) -> Decision:
    """Whether every condition holds on the region, for given c and delta.

    Args:
        conditions: the region and its conditions.
        c: the bound on the ratio.
        delta: what is forgiven, for each output.
        monitor: how to stop.
        boxes: how many boxes may be looked at for one polynomial.
        ask_solvers: whether solvers, where installed, may look for violations of the conditions left open.

    >>> names = ("p",)
    >>> parts = [Polynomial.of(text, names) for text in ("1 + p", "1 - p/2", "1")]
    >>> asked = RegionConditions(ParameterRegion.of({"p": "0 < p < 1"}), (Condition(("ill", "well"), "yes", *parts),))
    >>> prove(asked, Rational(4), Rational(0), Monitor()).conditions[0].factors[0].tree
    '.'
    >>> prove(asked, Rational(2), Rational(0), Monitor()).values
    {'p': 2/3}
    """
    task = Task(conditions, delta, monitor, boxes)
    try:
        return task.decide(c, ask_solvers=ask_solvers)
    except Stopped:
        return Undecided(monitor.stopped() or "stopped", conditions.listed)


def non_negative(
    polynomials: Sequence[Polynomial], region: ParameterRegion, monitor: Monitor, *, boxes: int = BOXES
) -> list[str | None]:
    """Trees that show polynomials non-negative on the region, in the coordinates of the region; None where none is found.

    >>> region = ParameterRegion.of({"p": "0 <= p <= 1", "q": "0 <= q <= 1"}, ["p + q <= 1"])
    >>> non_negative([Polynomial.of(text, ("p", "q")) for text in ("1 - p - q", "p - q")], region, Monitor())
    ['.', None]
    """
    task = Task(RegionConditions(region, ()), Rational(0), monitor, boxes)
    result: list[str | None] = []
    for polynomial in polynomials:
        try:
            result.append(task.tree(polynomial, polynomial, None))
        except Stopped:
            result.append(None)
    return result


class Task:
    """Conditions on a region, prepared once for many values of c."""

    def __init__(self, conditions: RegionConditions, delta: Rational, monitor: Monitor, boxes: int) -> None:
        self.conditions, self.region = conditions, conditions.region
        self.delta, self.monitor, self.boxes = delta, monitor, boxes
        self.coordinates = coordinates(self.region)
        self.values = coordinate_polynomials(self.region.names, self.coordinates)
        self.sides = self._sides()
        self.critical: list[Values] = []
        self._common: dict[int, Polynomial] = {}

    @cached_property
    def inner(self) -> Values | None:
        """A point inside the region, if one is found."""
        return inner_point(self.region, self.coordinates)

    @cached_property
    def points(self) -> list[Values]:
        """Points of the region, the simple ones first."""
        found = simple_points(self.region)
        return found if self.inner is None or self.inner in found[:1] else [*found, self.inner]

    def _sides(self) -> list[ConstraintSide]:
        result = []
        for number, constraint in enumerate(self.region.constraints[: len(LETTERS)]):
            inside = compose_polynomial(constraint.expression, self.values)
            if size(inside) <= LARGEST:
                tensor = coefficients(inside)
                if np.min(tensor) < 0 or (constraint.strict and np.min(tensor) == 0 == np.max(tensor)):
                    result.append(ConstraintSide(number, tensor, constraint.strict))
        return result

    def decide(self, c: Rational, *, ask_solvers: bool) -> Decision:
        """All conditions for one c."""
        listed = self.conditions.listed
        reason = self.reason_against()
        if reason is not None:
            return Undecided(reason, listed)
        points = self.possible()
        if points is None:
            return Undecided("no parameters were found at which the secrets compared are possible", listed)
        found = self.simple_violation(c)
        if found is not None:
            return found
        proved: list[ConditionProof] = []
        known: dict[Polynomial, tuple[PolynomialFactor, ...] | None] = {}
        left_open: list[Condition] = []
        for number, condition in enumerate(listed):
            self.monitor.listen(Progress(f"condition {number + 1} of {len(listed)}"))
            difference = _difference(condition, c, self.delta)
            if difference not in known:
                try:
                    known[difference] = self.factors(condition, difference)
                except _Violated as violated:
                    return violated.violation
            factors = known[difference]
            if factors is None:
                left_open.append(condition)
            else:
                proved.append(ConditionProof(condition.pair, condition.output, factors))
        if not left_open:
            count = sum(boxes_of(factor.tree) for each in proved for factor in each.factors)
            return Proof(c, self.delta, self.coordinates, tuple(proved), points, count)
        notes: list[str] = []
        for condition in left_open[:_ASKED] if ask_solvers else ():
            self.monitor.pause()
            violation = self._ask(condition, c, notes)
            if violation is not None:
                return violation
        first = left_open[0]
        which = f"output {first.output!r} of {first.pair[0]!r} against {first.pair[1]!r}"
        many = f" and {len(left_open) - 1} more" if len(left_open) > 1 else ""
        return Undecided(
            f"the boxes did not close for {which}{many}", tuple(left_open), len(proved), tuple(dict.fromkeys(notes))
        )

    def reason_against(self) -> str | None:
        """Why the conditions are not asked at all."""
        if not self.conditions.listed:
            return "there is no condition"
        if len(self.region.names) > len(LETTERS):
            return f"{len(self.region.names)} parameters are more than {len(LETTERS)}"
        return None

    def possible(self) -> tuple[Values, ...] | None:
        """Points of the region that make the secrets of every pair possible; None where some pair has none."""
        result: list[Values] = []
        scales = {condition.scale: None for condition in self.conditions.listed}
        for scale in scales:
            if not any(scale.at(point) > 0 for point in result):
                tried = [*([self.inner] if self.inner is not None else []), *self.points]
                point = next((point for point in tried if scale.at(point) > 0), None)
                if point is None:
                    return None
                result.append(point)
        return tuple(result)

    def simple_violation(self, c: Rational) -> Violation | None:
        """A violation at a point with small denominators."""
        listed = self.conditions.listed
        differences = [_difference(condition, c, self.delta) for condition in listed]
        if not self.points:
            return None
        if not self.region.names:
            return next((v for condition in listed if (v := self.violation(condition, c, {}))), None)
        evaluator = Evaluator(differences)
        rough = evaluator.at(as_floats(self.points, self.region.names))
        suspicious = rough < -1e-13 * np.abs(evaluator.matrix).sum(axis=0)
        for row in np.flatnonzero(suspicious.any(axis=1)):
            for column in sorted(np.flatnonzero(suspicious[row]), key=lambda j: (rough[row, j], j)):
                found = self.violation(listed[int(column)], c, self.points[int(row)])
                if found is not None:
                    return found
        return None

    def violation(self, condition: Condition, c: Rational, values: Values) -> Violation | None:
        """The violation at a point of the region, if there is one: exact."""
        scale = condition.scale.at(values)
        if scale <= 0:
            return None
        left, right = condition.left.at(values) / scale, condition.right.at(values) / scale
        if left <= c * right + self.delta or not self.region.contains(values):
            return None
        return Violation(dict(values), condition, left, right)

    def factors(self, condition: Condition, difference: Polynomial) -> tuple[PolynomialFactor, ...] | None:
        """A product of factors none of which is negative; None where none is found.

        Raises:
            _Violated: the search came upon a violation.
        """
        if difference.is_zero:
            return (PolynomialFactor(difference, 1, "."),)
        inside = compose_polynomial(difference, self.values)
        if size(inside) <= LARGEST and np.min(coefficients(inside)) >= 0:
            return (PolynomialFactor(difference, 1, "."),)
        pieces = self._pieces(condition, difference)
        if pieces is None:
            return self._whole(condition, difference)
        result: list[PolynomialFactor] = []
        for polynomial, power in pieces:
            tree = "" if power % 2 == 0 else self.tree(polynomial, difference, condition)
            if tree is None:
                return None if len(pieces) == 1 else self._whole(condition, difference)
            result.append(PolynomialFactor(polynomial, power, tree))
        product = prod((factor.polynomial**factor.power for factor in result), start=difference**0)
        return tuple(result) if product == difference else self._whole(condition, difference)

    def _whole(self, condition: Condition, difference: Polynomial) -> tuple[PolynomialFactor, ...] | None:
        tree = self.tree(difference, difference, condition)
        return None if tree is None else (PolynomialFactor(difference, 1, tree),)

    def _pieces(self, condition: Condition, difference: Polynomial) -> list[tuple[Polynomial, int]] | None:
        """Factors and powers whose product is the difference, each positive somewhere in the region."""
        names = difference.names
        key = id(condition)
        if key not in self._common:
            self._common[key] = _common(condition, self.delta)
        common = self._common[key]
        sources = [common, difference.divided(common)] if common.number is None else [difference]
        constant = Rational(1)
        powers: dict[Polynomial, int] = {}
        for source in sources:
            if len(source.terms) > _LARGEST_FACTORED:
                powers[source] = powers.get(source, 0) + 1
                continue
            number, parts = source.value.factor_squarefree()
            constant *= number
            for part, power in parts:
                polynomial = Polynomial(part, names)
                powers[polynomial] = powers.get(polynomial, 0) + int(power)
        result: list[tuple[Polynomial, int]] = []
        for polynomial, power in powers.items():
            value = next((v for point in self.points[:50] if (v := polynomial.at(point)) != 0), None)
            if value is None:
                return None
            flipped = value < 0
            constant = -constant if flipped and power % 2 else constant
            result.append((-polynomial if flipped else polynomial, power))
        if constant < 0:
            return None
        return [(Polynomial.constant(constant, names), 1), *result] if constant != 1 else result

    def tree(self, polynomial: Polynomial, difference: Polynomial, condition: Condition | None) -> str | None:
        """A tree that shows a polynomial non-negative on the region."""
        inside = compose_polynomial(polynomial, self.values)
        if size(inside) > LARGEST:
            return None
        tensor = coefficients(inside)

        def confirm(point: Sequence[float]) -> bool:
            def holds(values: Values) -> bool:
                return difference.at(values) < 0 and (condition is None or condition.scale.at(values) > 0)

            found = simplify_point(
                parameters_at(point, self.region.names, self.coordinates), self.region, self.inner, holds
            )
            if found is None:
                return False
            if condition is None:
                return True
            scale = condition.scale.at(found)
            raise _Violated(
                Violation(found, condition, condition.left.at(found) / scale, condition.right.at(found) / scale)
            )

        grown = grow(tensor, self.sides, self.monitor, boxes=self.boxes, confirm=confirm)
        written = settle(tensor, self.sides, grown, self.monitor) if grown.complete else None
        if written is None and condition is not None:
            cuts = (self._cut(tensor, self.sides, point) for point in self._touching(polynomial))
            written = next((found for found in cuts if found is not None), None)
        return written

    def _touching(self, polynomial: Polynomial) -> Iterator[dict[int, Rational]]:
        """Points inside the cube, by axis, where the polynomial vanishes: simple ones, or ones known to be critical."""
        count = 0
        for point in [*self.critical, *self.points[:_CRITICAL]]:
            if polynomial.at(point) == 0:
                shares = shares_of(point, self.coordinates)
                inner = {axis: x for axis, name in enumerate(self.region.names) if 0 < (x := shares[name]) < 1}
                if inner:
                    yield inner
                    count += 1
                    if count == _CUTS:
                        return

    def _cut(self, tensor: Tensor, sides: list[ConstraintSide], shares: dict[int, Rational]) -> str | None:
        """A tree that begins with cuts through a point, so that it becomes a corner of the boxes."""
        if not shares:
            grown = grow(tensor, sides, self.monitor, boxes=self.boxes, confirm=lambda _: False)
            return settle(tensor, sides, grown, self.monitor) if grown.complete else None
        axis = min(shares)
        rest = {other: share for other, share in shares.items() if other != axis}
        both = cut_box(tensor, axis, shares[axis])
        outer = [cut_box(side.tensor, axis, shares[axis]) for side in sides]
        parts = []
        for which, part in enumerate(both):
            inside = [replace(side, tensor=pair[which]) for side, pair in zip(sides, outer, strict=True)]
            written = self._cut(part, inside, rest)
            if written is None:
                return None
            parts.append(written)
        return f"{LETTERS[axis]}({shares[axis]}){parts[0]}{parts[1]}"

    def _ask(self, condition: Condition, c: Rational, notes: list[str]) -> Violation | None:
        """Let the solvers look for a violation; what they say otherwise is a note."""
        difference = _difference(condition, c, self.delta)
        which = f"{condition.output!r} of {condition.pair[0]!r} against {condition.pair[1]!r} at c = {show(c)}"
        for opinion in solvers.opinions(difference, condition.scale, self.region):
            if opinion.values is not None:
                found = self.violation(condition, c, opinion.values)
                if found is not None:
                    return found
            if opinion.verdict == "unsat":
                notes.append(f"{opinion.solver} finds no violation for {which}; there is no certificate for that")
                return None
        return None


def _difference(condition: Condition, c: Rational, delta: Rational) -> Polynomial:
    """``c right + delta scale - left``."""
    result = condition.right * c - condition.left
    return result + condition.scale * delta if delta != 0 else result


def _common(condition: Condition, delta: Rational) -> Polynomial:
    """What divides both sides of a condition whatever c is."""
    shared = condition.left.common(condition.right)
    if delta != 0:
        shared = shared.common(condition.scale)
    return Polynomial.constant(1, shared.names) if shared.is_zero else shared
