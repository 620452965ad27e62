"""Probabilities that numbers with Gumbel noise come in a partial order, exactly.

Numbers ``c_i + g_i`` with independent Gumbel noise of one scale b come in the descending order i_1, ..., i_n with probability
``w_(i_1) / (w_(i_1) + ... + w_(i_n)) * w_(i_2) / (w_(i_2) + ... + w_(i_n)) * ...``, where ``w_i = e^(c_i / b)`` (Yellott 1977).  All total
orders are listed, and those that the forms allow are added up.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import permutations

from flint import fmpq

from privproof_checker.integrals.elimination import Law, Unresolved
from privproof_checker.integrals.probabilities import Inequality
from privproof_checker.numbers.exponentials import ExponentialSum

_MOST = 7
"""So many numbers with Gumbel noise in one group, of which all orders are listed; beyond, a probability is not established."""


def order_probability(laws: Sequence[Law], forms: Sequence[Inequality]) -> ExponentialSum:
    """The probability that all forms in Gumbel noises are at least 0.

    Raises:
        Unresolved: a form is no comparison of two numbers, these have several centres, or there are too many.
    """
    distances: dict[tuple[int, int], fmpq] = {}
    before: set[tuple[int, int]] = set()
    for factors, constant in forms:
        if not factors:
            if constant < 0:
                return ExponentialSum.constant(0)
            continue
        if len(factors) != 2 or factors[0][1] + factors[1][1] != 0 or laws[factors[0][0]] != laws[factors[1][0]]:
            raise Unresolved("Gumbel noise is compared with something else than Gumbel noise of its scale")
        (larger, factor), (smaller, _) = factors if factors[0][1] > 0 else factors[::-1]
        before.add((larger, smaller))
        for pair, distance in (((larger, smaller), constant / factor), ((smaller, larger), -constant / factor)):
            if distances.setdefault(pair, distance) != distance:
                raise Unresolved("two numbers with Gumbel noise are compared at two distances")
    total, known = ExponentialSum.constant(1), set[int]()
    for start, _ in distances:
        if start not in known:
            centers = _centers(start, distances)
            known |= centers.keys()
            scaled = {node: center / laws[node][1] for node, center in centers.items()}
            total = total * _sum_over_orders(scaled, {pair for pair in before if pair[0] in centers})
    return total


def _centers(start: int, distances: dict[tuple[int, int], fmpq]) -> dict[int, fmpq]:
    """Centres of the numbers that are compared with one another, from those of pairs."""
    centers = {start: fmpq(0)}
    while True:
        more = {b: centers[a] - d for (a, b), d in distances.items() if a in centers and b not in centers}
        if not more:
            break
        centers |= more
    if any(a in centers and centers[a] - centers[b] != d for (a, b), d in distances.items()):
        raise Unresolved("numbers with Gumbel noise have several centres")
    if len(centers) > _MOST:
        raise Unresolved(f"more than {_MOST} numbers with Gumbel noise are compared")
    return centers


def _sum_over_orders(centers: dict[int, fmpq], before: set[tuple[int, int]]) -> ExponentialSum:
    """The sum over all total orders in which every pair comes in its order."""
    weights = {node: ExponentialSum.term(1, center) for node, center in centers.items()}
    tops = {larger for larger, _ in before}
    if len(tops) == 1 and len(before) == len(centers) - 1:  # the first of all orders that one of them leads
        [top] = tops
        return weights[top].over(sum(weights.values(), ExponentialSum.constant(0)))
    total: ExponentialSum = ExponentialSum.constant(0)
    for order in permutations(centers):
        rank = {node: number for number, node in enumerate(order)}
        if all(rank[larger] < rank[smaller] for larger, smaller in before):
            chance: ExponentialSum = ExponentialSum.constant(1)
            for number, node in enumerate(order[:-1]):
                left = sum((weights[other] for other in order[number:]), ExponentialSum.constant(0))
                chance = chance * weights[node].over(left)
            total = total + chance
    return total
