"""Margins: how far two equal situations can still drift apart from each location, entry by entry.

If every entry of ``A_l`` is at most ``rho`` times the same entry of ``B_l``, then a vector with ``alpha <= k beta`` has
``alpha A_l <= k rho beta B_l``.  The *margin* m of a location is the smallest product of ``1/rho`` along any word from there (at most one),
so that ``alpha <= c m beta`` implies ``P(w) <= c Q(w)`` for every continuation w.  Where both sides share their matrices the margin
is one; where some word lets the factor grow without end it is zero, and says nothing.
"""

from __future__ import annotations

from fractions import Fraction
from math import inf

from privproof.exact import fraction
from privproof.exact.rational_matrices import Matrix
from privproof.models import Location, WordProblem
from privproof.models.graph_algorithms import components

_NO_WAY = Fraction(0)
"""The drift of letters that the left side cannot take: nothing follows them that could count."""


def margins(problem: WordProblem) -> tuple[Fraction, ...]:
    """The margin of every location, exactly.

    Strongly connected components are gone through from the last to the first, so that only what lies on cycles is iterated: there as
    many rounds as there are locations are enough, unless the factor grows around a cycle, and then from all locations of the component.
    """
    places = problem.locations
    known: dict[tuple[int, int], Fraction | None] = {}
    shrinking: list[dict[int, Fraction | None]] = []
    for place in places:
        steepest: dict[int, Fraction | None] = {}
        for edge in place.edges:
            key = (id(edge.left), id(edge.right))
            if key not in known:
                known[key] = _drift(edge.left, edge.right)
            rho, before = known[key], steepest.get(edge.target, _NO_WAY)
            if rho != 0:
                steepest[edge.target] = None if rho is None or before is None else max(rho, before)
        shrinking.append(steepest)
    result = [Fraction(1) if _fair(place) else Fraction(0) for place in places]

    def lower(location: int) -> bool:
        """Take the letters that follow into account; whether the margin has become smaller."""
        least = min(
            (Fraction(0) if rho is None else result[t] / rho for t, rho in shrinking[location].items()),
            default=result[location],
        )
        smaller = least < result[location]
        if smaller:
            result[location] = least
        return smaller

    for component in reversed(components(range(len(places)), shrinking.__getitem__)):
        rounds = 1 if len(component) == 1 and component[0] not in shrinking[component[0]] else len(component) + 1
        for number in range(rounds):
            lowered = [lower(location) for location in component]
            if not any(lowered):
                break
            if number == len(component):
                for location in component:
                    result[location] = Fraction(0)
    return tuple(result)


def _fair(place: Location) -> bool:
    return place.left_size == place.right_size and all(final.left == final.right for final in place.finals)


def _drift(left: Matrix, right: Matrix) -> Fraction | None:
    """The largest quotient of an entry of `left` and the same entry of `right`; None if it is infinite."""
    if left is right:
        return Fraction(1)
    if len(left.rows) != len(right.rows) or left.columns != right.columns:
        return None
    largest: Fraction | float = Fraction(0)
    for above, below in zip(left.rows, right.rows, strict=True):
        entries = dict(below)
        for column, entry in above:
            largest = max(largest, fraction(entry / entries[column]) if column in entries else inf)
    return largest if isinstance(largest, Fraction) else None
