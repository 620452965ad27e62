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
from privproof.exact.matrices import Matrix
from privproof.models import Location, WordProblem


def margins(problem: WordProblem) -> tuple[Fraction, ...]:
    """The margin of every location, exactly."""
    places = problem.locations
    known: dict[tuple[int, int], Fraction | None] = {}
    edges: list[list[tuple[int, Fraction | None]]] = []
    for place in places:
        listed = []
        for edge in place.edges:
            key = (id(edge.left), id(edge.right))
            if key not in known:
                known[key] = _drift(edge.left, edge.right)
            listed.append((edge.target, known[key]))
        edges.append(listed)
    result = [Fraction(1) if _fair(place) else Fraction(0) for place in places]
    for _ in places:
        lowered = [min([m, *(_through(result[t], rho) for t, rho in edges[i])]) for i, m in enumerate(result)]
        if lowered == result:
            return tuple(result)
        result = lowered
    while True:
        lowered = [min([m, *(_through(result[t], rho) for t, rho in edges[i])]) for i, m in enumerate(result)]
        if lowered == result:
            return tuple(result)
        result = [Fraction(0) if after < before else before for before, after in zip(result, lowered, strict=True)]


def _fair(place: Location) -> bool:
    return place.left_size == place.right_size and all(final.left == final.right for final in place.finals)


def _through(margin: Fraction, rho: Fraction | None) -> Fraction:
    if rho is None or margin == 0:
        return Fraction(0)
    return margin / rho if rho > 0 else Fraction(1)


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
