"""Probabilities that independent Laplace and exponential, or geometric, noises satisfy linear inequalities, exactly or in balls.

Noises in groups without a common inequality are integrated apart, and equal groups once.

    >>> one = fmpq(1)
    >>> str(Integrator().probability([("laplace", one)], [(((0, one),), -one)]))
    '1/2*e^(-1)'
    >>> str(Integrator().probability([("laplace", one)] * 2, [(((0, one), (1, -one)), fmpq(0))]))
    '1/2'
    >>> half = ("geometric", fmpq(1, 2))
    >>> Integrator().sum_probability([half, half], [(((0, one), (1, -one)), fmpq(0))])
    16/27
"""

from __future__ import annotations

from collections.abc import Sequence
from math import lcm
from typing import TypeAlias

from flint import arb, ctx, fmpq

from privproof_checker.integrals.elimination import Integers, Law, Reals, TermWork, Unresolved
from privproof_checker.integrals.integral_regions import Form, form_of
from privproof_checker.numbers.exponentials import ExponentialSum

MOST_WORK = 3_000_000
"""Products of terms for the integrals of all leaves of a question; beyond, they are `Unresolved` and the evidence is refused."""
MOST_PRODUCTS = 200_000_000
"""The same for one integral in balls."""
MOST_BITS = 16384
"""The precision beyond which integrals in balls are given up."""
_ENOUGH_BITS = 44
"""A probability known to so many bits is exact enough; with fewer it is computed again with twice the precision."""

Inequality: TypeAlias = tuple[tuple[tuple[int, fmpq], ...], fmpq]
"""The coefficients of a linear form by noise, and its constant: it is at least 0."""
Group: TypeAlias = tuple[tuple[Law, ...], frozenset[Form]]
"""Noises that are connected by inequalities, called by their order."""


class Integrator:
    """Integrates exactly, with a memory of what it has integrated and a bound on the work."""

    def __init__(self) -> None:
        self._known: dict[Group, ExponentialSum] = {}
        self._sums: dict[Group, fmpq] = {}
        self._work = TermWork(MOST_WORK)

    def probability(self, laws: Sequence[Law], forms: Sequence[Inequality]) -> ExponentialSum:
        """The probability that all forms in Laplace and exponential noises are at least 0.

        Raises:
            Unresolved: if it takes too much work.
        """
        groups = _groups(laws, forms, whole=False)
        total = ExponentialSum.constant(0 if groups is None else 1)
        for group in groups or ():
            if group not in self._known:
                steps = Reals[fmpq](dict(enumerate(group[0])), group[1], self._work, exact=True)
                terms = (ExponentialSum.term(v, fmpq(k, steps.unit)) for (k,), v in steps.value().items())
                self._known[group] = sum(terms, ExponentialSum.constant(0))
            total = total * self._known[group]
        return total

    def sum_probability(self, laws: Sequence[Law], forms: Sequence[Inequality]) -> fmpq:
        """The probability that all forms in geometric noises are at least 0.

        Raises:
            Unresolved: if it takes too much work.
        """
        groups = _groups(laws, forms, whole=True)
        total = fmpq(0 if groups is None else 1)
        for group in groups or ():
            if group not in self._sums:
                alphas = {node: alpha for node, (_, alpha) in enumerate(group[0])}
                self._sums[group] = sum(Integers(alphas, group[1], self._work).value().values(), fmpq(0))
            total *= self._sums[group]
        return total


def probability_ball(laws: Sequence[Law], forms: Sequence[Inequality], bits: int = 256) -> arb:
    """The probability that all forms in Laplace and exponential noises are at least 0, computed with so many bits or more.

    Returns:
        A ball with a relative error below 2^-40; exactly 0 if there is no solution, or only solutions on a plane.

    Raises:
        Unresolved: if the precision `MOST_BITS` or a bound on the work does not suffice.
    """
    groups = _groups(laws, forms, whole=False)
    if groups is None:
        return arb(0)
    while bits <= MOST_BITS:
        found, work = arb(1), TermWork(MOST_PRODUCTS)
        known: dict[Group, arb] = {}
        with ctx.workprec(bits):
            for group in groups:
                if group not in known:
                    steps = Reals[arb](dict(enumerate(group[0])), group[1], work, exact=False)
                    known[group] = sum(steps.value().values(), arb(0))
                found *= known[group]
        if found.is_zero() or found.rel_accuracy_bits() >= _ENOUGH_BITS:
            return found
        bits *= 2
    raise Unresolved(f"{MOST_BITS} bits do not separate a probability of {len(laws)} noises from 0")


def _groups(laws: Sequence[Law], forms: Sequence[Inequality], *, whole: bool) -> list[Group] | None:
    """The inequalities in groups that share no noise; None if one without noise does not hold."""
    groups: list[tuple[set[int], list[Form]]] = []
    for pairs, constant in forms:
        below = lcm(*(int(factor.q) for _, factor in pairs))
        scaled = constant * below
        made = form_of({node: int((f * below).p) for node, f in pairs}, int(scaled.p), int(scaled.q), whole=whole)
        if isinstance(made, bool):
            if constant < 0:
                return None
            continue
        nodes, listed = {node for node, _ in made[0]}, [made]
        apart = []
        for others, known in groups:
            if others.isdisjoint(nodes):
                apart.append((others, known))
            else:
                nodes |= others
                listed += known
        groups = [*apart, (nodes, listed)]
    found = []
    for nodes, listed in groups:
        order = {node: place for place, node in enumerate(_in_order(nodes, listed, laws))}
        renamed = [(tuple(sorted((order[n], f) for n, f in pairs)), above, below) for pairs, above, below in listed]
        found.append((tuple(laws[node] for node in order), frozenset(renamed)))
    return found


def _in_order(nodes: set[int], forms: Sequence[Form], laws: Sequence[Law]) -> list[int]:
    """Noises by their laws and by the forms in which they stand, so that groups that differ in names alone are the same, most often.

    Noises are independent: what they are called changes no probability.
    """
    if len(nodes) == 1:
        return list(nodes)
    stands: dict[int, list[tuple[int, int, int, list[int]]]] = {node: [] for node in nodes}
    for pairs, above, below in forms:
        factors = sorted(factor for _, factor in pairs)
        for node, factor in pairs:
            stands[node].append((factor, above, below, factors))
    return sorted(nodes, key=lambda node: (laws[node], sorted(stands[node]), node))
