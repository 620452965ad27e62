"""Lotteries: every element of a list draws a level, and the lot falls on each of those with the highest level alike.

A question lists the values of an element and for each of them the law of its level, from the lowest level 0 to the highest L - 1. The
output is an index. Lists of every length are compared.

**Two lists.** Let the winner have the law p, and others the laws p_j, with ``B_j(k)`` the probability of a level below k. It wins at level
k if nobody is above; if t others are at level k as well, with probability 1/(t + 1). So it wins with probability

    sum over k of p(k) * sum over t of a_t / (t + 1),   where the a_t are the coefficients of  product over j of (B_j(k) + p_j(k) s).

**A stretch** proves for lists of every length. ``a_t / (t + 1)`` is what the integral of ``a_t s^t`` from 0 to 1 is, so with
``F_j(y) = B_j(k) + (y - k) p_j(k)`` for k <= y < k + 1 the probability is the integral of ``p(floor y) * product over j of F_j(y)`` over
0 <= y < L. Let phi be linear on pieces that cover 0 to L, each inside of one level and onto an interval inside of one level, and let the
images of later pieces lie above those of earlier ones. Suppose that on every piece, for all values x, x' that an element may have on the
two sides, equal ones too,

    F_x(y) <= F_x'(phi(y)),        p_x(floor y) <= c * phi'(y) * p_x'(floor phi(y)).

Both sides of the first inequality are linear on a piece, so its two ends suffice. Then the integral on the left side is at most
c times the integral of ``phi'(y) p_x'(floor phi(y)) * product of F_j'(phi(y))``, and the substitution z = phi(y) turns that into a part of
the integral on the right side: the images of pieces do not overlap. Under ``monotone`` all elements go up, or all go down: one phi each.

**Levels** proves for lists in which one element changes, of every length. If the winner changes, one factor p(k) does, for every k. If
another one changes, one factor ``B_j(k) + s p_j(k)``, which is a sum of probabilities of levels with weights that do not change. A ratio of
such sums is at most the largest ratio of their terms.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from fractions import Fraction
from math import comb
from typing import TypeAlias

from privproof_checker.claims import read_claim
from privproof_checker.numbers import ONE, ZERO, Rational, rational
from privproof_checker.outcomes import Accepted, Limits, refuse, within
from privproof_checker.plain_documents import (
    a_list,
    a_number,
    a_text,
    a_text_or_null,
    an_integer,
    an_object,
    only_members,
    text,
)
from privproof_checker.source.values import Value, key, read_value

_MEMBERS = ("kind", "title", "epsilon", "delta", "pointwise", "values", "relation", "within", "laws", "source")
_MOST_LEVELS = 2_000
"""Levels of a lottery; beyond, the certificate is refused."""
_MOST_COMPARISONS = 20_000_000
"""Pieces times pairs of values; beyond, the certificate is refused."""
_LONGEST = 2_000
"""Elements of a list whose probabilities are computed; beyond, the certificate is refused."""

Pair: TypeAlias = tuple[int, int]


def check_lottery(verdict: str, asked: dict[str, object], certificate: dict[str, object], limits: Limits) -> Accepted:
    """Check a certificate whose question is about a lottery."""
    only_members(asked, _MEMBERS, "question")
    a_text_or_null(asked.get("title"), "question.title")
    claim = read_claim(asked, limits)
    lottery = _read(asked, limits)
    evidence = an_object(certificate.get("evidence"), "evidence")
    method = a_text(evidence.get("method"), "evidence.method")
    details: dict[str, object] = {"method": method, "levels": lottery.levels}
    if (verdict, method) == ("refuted", "lists"):
        left, right = lottery.shown(evidence, "evidence")
        if claim.holds(left, right):
            refuse(f"the lists do not violate the claim: {_told(left, right)}", "evidence")
        statement = f"not private with {claim}: {_told(left, right)}"
        return Accepted("refuted", statement, details, lower=claim.needs(left, right))
    bound: Rational | None
    if verdict == "proved" and method == "stretch":
        bound = lottery.stretched(evidence, limits)
    elif verdict == "proved" and method == "levels":
        only_members(evidence, ("method",), "evidence")
        bound = lottery.by_levels()
    else:
        refuse(f"{method[:40]!r} is no evidence for {verdict[:40]}", "evidence.method")
    if bound is None or not claim.holds_without_delta(bound, ONE):
        refuse(f"the ratio is shown to be at most {'infinite' if bound is None else text(bound)[:80]}", "evidence")
    statement = f"private with {claim}; compared: lists of every length, {lottery.relation}"
    if "witness" not in certificate:
        return Accepted("proved", statement, details)
    left, right = lottery.shown(an_object(certificate["witness"], "witness"), "witness")
    if not claim.holds(left, right):
        refuse("the witness violates the claim that is said to be proved", "witness")
    return Accepted("proved", f"{statement}; {_told(left, right)}", details, lower=claim.needs(left, right))


def _told(left: Rational, right: Rational) -> str:
    ratio = text(left / right)[:80] if right != 0 else "infinite"
    return f"the ratio of the probabilities that an element wins is {ratio}"


class _Lottery:
    """A lottery, with its neighbours."""

    def __init__(self, relation: str, values: list[Value], near: Rational | None, laws: list[list[Rational]]) -> None:
        self.relation, self.laws, self.levels = relation, laws, len(laws[0])
        self.below = []
        for law in laws:
            sums = [ZERO]
            for probability in law:
                sums.append(sums[-1] + probability)
            self.below.append(sums)
        numbers = None if near is None else [_number(value) for value in values]
        self.changes: set[Pair] = set()
        self.upwards: set[Pair] = set()
        for x in range(len(values)):
            for y in range(len(values)):
                if x == y:
                    continue
                if numbers is not None and near is not None and abs(numbers[x] - numbers[y]) > near:
                    continue
                self.changes.add((x, y))
                if numbers is not None and numbers[x] < numbers[y]:
                    self.upwards.add((x, y))
        if not self.changes:
            refuse("no two values are neighbours", "question.values")

    # ------------------------------------------------------------------------------------------------------------- two lists

    def shown(self, evidence: Mapping[str, object], place: str) -> tuple[Rational, Rational]:
        """Both probabilities that the first element wins, on neighbouring lists."""
        only_members(evidence, ("method", "winner", "others"), place)
        winner = self._pair(a_list(evidence.get("winner"), f"{place}.winner"), f"{place}.winner")
        others: list[tuple[Pair, int]] = []
        for item in a_list(evidence.get("others"), f"{place}.others"):
            row = a_list(item, f"{place}.others")
            if len(row) != 3:
                refuse("others are two values and how often they occur", f"{place}.others")
            count = an_integer(row[2], f"{place}.others")
            if count < 1:
                refuse("others occur at least once", f"{place}.others")
            others.append((self._pair(row[:2], f"{place}.others"), count))
        within(sum(count for _, count in others), _LONGEST, "elements of a list", f"{place}.others")
        self._neighbours([(winner, 1), *others], place)
        sides = [self._wins(winner[side], [(pair[side], count) for pair, count in others]) for side in (0, 1)]
        return sides[0], sides[1]

    def _pair(self, row: list[object], place: str) -> Pair:
        numbers = [an_integer(item, place) for item in row]
        if len(numbers) != 2 or not all(0 <= number < len(self.laws) for number in numbers):
            refuse("expected the numbers of two values", place)
        return numbers[0], numbers[1]

    def _neighbours(self, elements: list[tuple[Pair, int]], place: str) -> None:
        changed = [(pair, count) for pair, count in elements if pair[0] != pair[1]]
        allowed = bool(changed) and all(pair in self.changes for pair, _ in changed)
        if self.relation == "one":
            allowed = allowed and sum(count for _, count in changed) == 1
        if self.relation == "monotone":
            allowed = allowed and len({pair in self.upwards for pair, _ in changed}) == 1
        if not allowed:
            refuse("the lists are no neighbours", place)

    def _wins(self, winner: int, others: list[tuple[int, int]]) -> Rational:
        total = ZERO
        for level, own in enumerate(self.laws[winner]):
            if own == 0:
                continue
            ways = [ONE]
            for value, count in others:
                lower, here = self.below[value][level], self.laws[value][level]
                group = [comb(count, t) * lower ** (count - t) * here**t for t in range(count + 1)]
                longer = [ZERO] * (len(ways) + count)
                for i, one in enumerate(ways):
                    for j, other in enumerate(group):
                        longer[i + j] += one * other
                ways = longer
            total += own * sum((way / (ties + 1) for ties, way in enumerate(ways)), ZERO)
        return total

    # ------------------------------------------------------------------------------------------------------------- the bounds

    def by_levels(self) -> Rational | None:
        """The largest ratio of the probabilities of a level, if one element changes; None if it is infinite."""
        if self.relation != "one":
            refuse("the laws of levels bound what one element gives away", "evidence.method")
        best = ONE
        for x, y in self.changes:
            for one, other in zip(self.laws[x], self.laws[y], strict=True):
                if one != 0 and other == 0:
                    return None
                if one != 0:
                    best = max(best, one / other)
        return best

    def stretched(self, evidence: Mapping[str, object], limits: Limits) -> Rational:
        """The bound that stretches show."""
        only_members(evidence, ("method", "pieces"), "evidence")
        given = an_object(evidence.get("pieces"), "evidence.pieces")
        directions: dict[str, Iterable[Pair]] = {"each": self.changes}
        if self.relation == "monotone":
            directions = {"up": self.upwards, "down": self.changes - self.upwards}
        if set(given) != set(directions):
            refuse(f"expected stretches for {', '.join(directions)}", "evidence.pieces")
        best = ONE
        for name, changes in directions.items():
            best = max(best, self._stretch(given[name], changes, f"evidence.pieces.{name}", limits))
        return best

    def _stretch(self, value: object, changes: Iterable[Pair], place: str, limits: Limits) -> Rational:
        pairs = [*changes, *((x, x) for x in range(len(self.laws)))]
        rows = a_list(value, place)
        within(len(rows) * len(pairs), _MOST_COMPARISONS, "comparisons of a stretch", place)
        reached, image, best = ZERO, ZERO, ONE
        for number, item in enumerate(rows):
            here = f"{place}[{number}]"
            ends = [rational(a_number(end, here, limits)) for end in a_list(item, here)]
            if len(ends) != 4:
                refuse("a piece goes from y to y, onto z to z", here)
            start, end, low, high = ends
            if start != reached or not start < end or not image <= low < high:
                refuse("pieces follow each other and rise", here)
            level, other = self._level(start, end, here), self._level(low, high, here)
            reached, image = end, high
            for x, y in pairs:
                for one, two in ((start, low), (end, high)):
                    if self._share(x, level, one) > self._share(y, other, two):
                        refuse("a piece does not rise far enough", here)
                own, theirs = self.laws[x][level] * (end - start), self.laws[y][other] * (high - low)
                if own > 0 and theirs == 0:
                    refuse("a piece leads to a level that cannot be drawn", here)
                if own > 0:
                    best = max(best, own / theirs)
        if reached != self.levels:
            refuse("the pieces do not reach the highest level", place)
        return best

    def _level(self, start: Rational, end: Rational, place: str) -> int:
        """The level that an interval lies in."""
        level = int(start.p // start.q)
        if not 0 <= level < self.levels or end > level + 1:
            refuse("an interval lies inside of one level", place)
        return level

    def _share(self, value: int, level: int, at: Rational) -> Rational:
        """``F(y)``, at a place within a level or at its end."""
        return self.below[value][level] + (at - level) * self.laws[value][level]


def _number(value: Value) -> Rational:
    if isinstance(value, bool) or not isinstance(value, int | Fraction):
        refuse("values that differ by amounts are numbers", "question.values")
    return rational(value)


def _read(asked: dict[str, object], limits: Limits) -> _Lottery:
    listed = a_list(asked.get("values"), "question.values")
    within(len(listed), limits.symbols, "values", "question.values")
    values = [read_value(item, f"question.values[{i}]") for i, item in enumerate(listed)]
    if len({key(value) for value in values}) < len(values):
        refuse("a value is listed twice", "question.values")
    relation = a_text(asked.get("relation"), "question.relation")
    if relation not in ("each", "one", "monotone"):
        refuse("expected each, one or monotone", "question.relation")
    near = None if asked.get("within") is None else rational(a_number(asked["within"], "question.within", limits))
    if near is None and relation == "monotone":
        refuse("what has no order does not move in one direction", "question.within")
    laws = []
    for i, item in enumerate(a_list(asked.get("laws"), "question.laws")):
        place = f"question.laws[{i}]"
        law = [rational(a_number(each, place, limits)) for each in a_list(item, place)]
        if any(probability < 0 for probability in law) or sum(law, ZERO) != 1:
            refuse("the probabilities of levels sum to one", place)
        laws.append(law)
    if len(laws) != len(values) or len({len(law) for law in laws}) != 1:
        refuse("every value has a law of the same levels", "question.laws")
    within(len(laws[0]), _MOST_LEVELS, "levels", "question.laws")
    return _Lottery(relation, values, near, laws)
