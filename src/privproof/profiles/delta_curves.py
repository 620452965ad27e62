"""Curves: a privacy profile as the likelihoods of one pair of distributions.

For two distributions P and Q and ``c = e^epsilon >= 0`` the hockey-stick divergence is

    delta(c) = sum over outputs o of max(0, P(o) - c Q(o)).

It depends on P and Q only through their *likelihoods*: the pairs (P(o), Q(o)), where outputs with the same ratio P/Q may be
merged.  Sorted by falling ratio and summed up they are the corners of the Neyman-Pearson curve, which is concave, and
``delta(c)`` is the largest value of ``p - c q`` over its corners.  So the two operations that a profile needs are geometry:

* disjoint outcomes together (a sum of profiles): the two lists of likelihoods merged;
* the worst of several pairs (a maximum of profiles): the concave hull of all corners.

The likelihoods of that hull are a pair of distributions again, the *dominating pair* (Zhu, Dong and Wang, "Optimal accounting of
differential privacy via characteristic function", AISTATS 2022): it is at least as easy to tell apart as any pair of neighbours, and k
copies of it are at least as easy to tell apart as any adaptive composition of k uses.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import TypeAlias

from privproof.errors import QuestionError
from privproof.exact import INFINITE, ONE, ZERO, Epsilon, EpsilonLike, Number, Rational, decimal, epsilon, log
from privproof.exact import delta as exact_delta

Likelihood: TypeAlias = tuple[Rational, Rational]
"""The probability of some outputs on the left and on the right."""

_BITS = 192
"""The precision of e^epsilon in the bounds of delta, where it is not rational."""
_MOST_LIKELIHOODS = 200_000
"""A composition with more different likelihood ratios is refused with a hint at numerical accountants."""


@dataclass(frozen=True)
class RealEnclosure:
    """Rationals between which a real number surely lies.

    >>> from privproof.exact import rational
    >>> print(RealEnclosure(rational("1/3"), rational("1/3") + rational("1e-30")))
    0.333333
    """

    low: Rational
    high: Rational

    def __str__(self) -> str:
        shown = decimal(self.low), decimal(self.high)
        return shown[0] if shown[0] == shown[1] else f"between {decimal(self.low, digits=12)} and {shown[1]}"


@dataclass(frozen=True)
class Curve:
    """The likelihoods of a pair of distributions, by falling ratio, equal ratios merged; outputs impossible on the left left out.

    >>> from privproof.exact import rational as q
    >>> survey = Curve.of([(q("1/4"), q("3/4")), (q("3/4"), q("1/4"))])
    >>> survey.at(q(1)), survey.at(q(2)), survey.delta("ln(2)"), survey.epsilon("1/4")
    (1/2, 1/4, 1/4, Epsilon('ln(2)'))
    """

    likelihoods: tuple[Likelihood, ...]

    @classmethod
    def of(cls, likelihoods: Iterable[Likelihood]) -> Curve:
        """The curve of likelihoods in any order."""
        certain = ZERO
        listed: list[tuple[Rational, Rational, Rational]] = []
        for p, q in likelihoods:
            if q == 0:
                certain += p
            elif p != 0:
                listed.append((p / q, p, q))
        listed.sort(key=lambda item: item[0], reverse=True)
        merged: list[Likelihood] = [(certain, ZERO)] if certain != 0 else []
        last: Rational | None = None
        for ratio, p, q in listed:
            if ratio == last:
                merged[-1] = (merged[-1][0] + p, merged[-1][1] + q)
            else:
                merged.append((p, q))
            last = ratio
        return cls(tuple(merged))

    @cached_property
    def corners(self) -> tuple[Likelihood, ...]:
        """The sums of the first, the first two, ... likelihoods: (left, right) probabilities of the events worth considering."""
        result, left, right = [], ZERO, ZERO
        for p, q in self.likelihoods:
            left, right = left + p, right + q
            result.append((left, right))
        return tuple(result)

    def event(self, budget: EpsilonLike) -> Likelihood:
        """The probabilities of the worst event, ``{o : P(o) > e^epsilon Q(o)}``, on the left and on the right."""
        bound = epsilon(budget)
        low, high = 0, len(self.likelihoods)
        while low < high:
            middle = (low + high) // 2
            p, q = self.likelihoods[middle]
            if bound.allows(p, q):
                high = middle
            else:
                low = middle + 1
        return self.corners[low - 1] if low else (ZERO, ZERO)

    def at(self, c: Rational) -> Rational:
        """delta at ``c = e^epsilon``, for every c >= 0."""
        best = ZERO
        for p, q in self.corners:
            if p - c * q < best:
                break
            best = p - c * q
        return best

    def delta(self, budget: EpsilonLike) -> Rational | RealEnclosure:
        """The smallest delta for an epsilon: exact where ``e^epsilon`` is rational or does not matter, otherwise enclosed."""
        low, high = self.bounds(budget)
        return low if low == high else RealEnclosure(low, high)

    def bounds(self, budget: EpsilonLike) -> tuple[Rational, Rational]:
        """Rationals between which the smallest delta for an epsilon lies; equal where it is known exactly."""
        bound = epsilon(budget)
        left, right = self.event(bound)
        if right == 0:
            return left, left
        low, high = bound.enclosure(_BITS)
        return max(ZERO, left - high * right), left - low * right

    def epsilon(self, delta: Number = 0) -> Epsilon:
        """The smallest epsilon, at least 0, for which delta suffices."""
        allowed = exact_delta(delta)
        for number, (left, right) in enumerate(self.corners):
            following = self.likelihoods[number + 1 : number + 2]
            lowest = following[0][0] / following[0][1] if following else ZERO
            if left - lowest * right > allowed:
                if right == 0:
                    return INFINITE
                bound = (left - allowed) / right
                return log(bound) if bound > 1 else Epsilon()
        return Epsilon()

    def scaled(self, factor: Rational) -> Curve:
        """Both sides times a factor."""
        return self if factor == 1 else Curve(tuple((p * factor, q * factor) for p, q in self.likelihoods))

    def composed(self, other: Curve | int | None = None, *, times: int = 1) -> Curve:
        """The curve of independent uses: every combination of outputs, those with the same ratio merged.

        Args:
            other: the curve of another mechanism that is used beside this one; or how often this one is used.
            times: how often all of it is used.

        >>> from privproof.exact import rational as q
        >>> survey = Curve.of([(q("3/4"), q("1/4")), (q("1/4"), q("3/4"))])
        >>> survey.composed(2).likelihoods
        ((9/16, 1/16), (3/8, 3/8), (1/16, 9/16))
        >>> survey.composed(survey.composed(2)) == survey.composed(3) == survey.composed(times=3)
        True
        """
        if isinstance(other, int):
            return self.composed(times=other * times)
        if times < 1:
            raise QuestionError("composition", f"times={times}: a mechanism is used at least once", hint="times=10")
        result: Curve | None = None
        square = self if other is None else _product(self, other)
        while True:
            if times % 2:
                result = square if result is None else _product(result, square)
            times //= 2
            if result is not None and not times:
                return result
            square = _product(square, square)


def _product(left: Curve, right: Curve) -> Curve:
    """The curve of two independent uses."""
    merged: dict[Rational | None, Likelihood] = {}
    for p, q in left.likelihoods:
        for r, s in right.likelihoods:
            above, below = p * r, q * s
            ratio = above / below if below != 0 else None
            known = merged.get(ratio)
            merged[ratio] = (above, below) if known is None else (known[0] + above, known[1] + below)
        if len(merged) > _MOST_LIKELIHOODS:
            raise QuestionError(
                "size",
                f"the composition has more than {_MOST_LIKELIHOODS} different likelihood ratios",
                place="composition",
                hint="fewer uses, or privproof.profiles.privacy_loss_distribution for a numerical accountant",
            )
    return Curve.of(merged.values())


def together(curves: Iterable[Curve]) -> Curve:
    """The curve of disjoint outcomes: the sum of the curves as functions of c."""
    listed = list(curves)
    return listed[0] if len(listed) == 1 else Curve.of(pair for curve in listed for pair in curve.likelihoods)


def worst_of(curves: Iterable[Curve]) -> Curve:
    """The smallest curve above all given ones: their maximum as functions of c."""
    listed = list(curves)
    return listed[0] if len(listed) == 1 else hull(corner for curve in listed for corner in curve.corners)


def hull(points: Iterable[Likelihood]) -> Curve:
    """The curve of the concave hull of points (left, right probability of an event): the maximum of ``max(0, p - c q)`` over them.

    >>> from privproof.exact import rational as q
    >>> hull([(q("1/2"), q("1/4")), (q("1/2"), q("1/2")), (q(1), q(1)), (q("3/4"), q("3/4"))]).likelihoods
    ((1/2, 1/4), (1/2, 3/4))
    """
    highest: dict[Rational, Rational] = {}
    for p, q in points:
        if p > highest.get(q, ZERO):
            highest[q] = p
    chain: list[Likelihood] = [(highest.pop(ZERO, ZERO), ZERO)]
    for q in sorted(highest):
        p = highest[q]
        if p <= chain[-1][0]:
            continue
        while len(chain) > 1:
            (p0, q0), (p1, q1) = chain[-2:]
            if (p1 - p0) * (q - q0) > (p - p0) * (q1 - q0):
                break
            chain.pop()
        chain.append((p, q))
    return Curve(tuple(_differences(chain)))


def _differences(chain: list[Likelihood]) -> Iterator[Likelihood]:
    left, right = ZERO, ZERO
    for p, q in chain:
        if p != left:
            yield p - left, q - right
        left, right = p, q


def middles(curve: Curve) -> tuple[Rational, ...]:
    """One c inside every piece on which the curve is a straight line in c, from large c to small.

    >>> from privproof.exact import rational as q
    >>> middles(Curve(((q("3/4"), q("1/4")), (q("1/4"), q("3/4")))))
    (4, 5/3, 1/6)
    """
    ratios = [p / q for p, q in curve.likelihoods if q != 0]
    ends = [ratios[0] + 2, *ratios, ZERO] if ratios else [ONE, ZERO]
    return tuple((high + low) / 2 for high, low in pairwise(ends))
