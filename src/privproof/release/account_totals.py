"""Certified totals of accounts: the quilts by which several releases lose no more than their total, as evidence.

The checker computes influences and costs again (`privproof_checker.release.account_checking`).  That every release costs what
was entered is a premise: the certificate of each says it of the release itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import pairwise

from privproof.exact import Rational
from privproof.release.account_question import Spent
from privproof.release.curve_accounts import curves_looked_at
from privproof.release.markov_chains import Chain
from privproof.release.quilt_sums import Spending, looked_at, pieces_of


def listed_spendings(spendings: Sequence[Spending]) -> tuple[Spent, ...]:
    """The releases, those that cost the same at the same entries together."""
    found: dict[tuple[int, int, Fraction, Fraction], list[str]] = {}
    for spent in spendings:
        found.setdefault((spent.first, spent.last, spent.cost, spent.squared), []).append(spent.note)
    return tuple(Spent(*key, tuple(notes)) for key, notes in found.items())


def total_ranges(
    chain: Chain, length: int, spendings: Sequence[Spending], delta: Rational, *, curves: bool
) -> list[list[int | None]]:
    """For all entries the distances of their quilt nodes: ``[first, last, left, right]``, neighbours that have the same together."""
    found = (
        curves_looked_at(chain, length, spendings, delta)
        if curves
        else looked_at(chain, length, pieces_of(spendings, length))
    )
    known: dict[int, tuple[bool, int | None, int | None]] = {}
    for node, standing, first, last in found:
        left = node - first + 1 if first > 1 else None
        right = last - node + 1 if last < length else None
        known[node] = (standing, left, right)
    nodes = sorted(known)
    ranges: list[list[int | None]] = [[nodes[0], nodes[0], *known[nodes[0]][1:]]]
    if nodes[0] > 1:
        ranges.insert(0, [1, nodes[0] - 1, *known[nodes[0]][1:]])
    for before, node in pairwise(nodes):
        if node > before + 1:
            of = before if known[before][0] and not known[node][0] else node
            ranges.append([before + 1, node - 1, *known[of][1:]])
        ranges.append([node, node, *known[node][1:]])
    if nodes[-1] < length:
        ranges.append([nodes[-1] + 1, length, *known[nodes[-1]][1:]])
    return _merge_ranges(ranges, spendings, length)


def _merge_ranges(ranges: list[list[int | None]], spendings: Sequence[Spending], length: int) -> list[list[int | None]]:
    """The ranges, neighbours with the same distances and the same costs between together."""
    windows = sorted({(spent.first, spent.last) for spent in spendings})

    def overlaps(each: list[int | None]) -> list[list[int]]:
        found = []
        for node in (each[0], each[1]):
            assert node is not None
            first = 1 if each[2] is None else max(1, node - each[2] + 1)
            last = length if each[3] is None else min(length, node + each[3] - 1)
            found.append([max(0, min(last, b) - max(first, a) + 1) for a, b in windows])
        return found

    result: list[list[int | None]] = []
    alike: list[int] | None = (
        None  # what releases look at in the last range, where that is the same for all its entries
    )
    for each in ranges:
        first, last = overlaps(each)
        if result and result[-1][2:] == each[2:] and first == last == alike:
            result[-1][1] = each[1]
        else:
            result.append(list(each))
            alike = first if first == last else None
    return result
