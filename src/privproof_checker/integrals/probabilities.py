"""Probabilities that independent Laplace and exponential noises satisfy linear inequalities, exactly.

Noises in groups without a common inequality are integrated apart, and equal groups once.

    >>> one = fmpq(1)
    >>> str(Integrator().probability([("laplace", one)], [(((0, one),), -one)]))
    '1/2*e^(-1)'
    >>> str(Integrator().probability([("laplace", one)] * 2, [(((0, one), (1, -one)), fmpq(0))]))
    '1/2'
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from typing import TypeAlias

from flint import fmpq

from privproof_checker.integrals.buckets import Integral, System
from privproof_checker.integrals.integers import sum_probability
from privproof_checker.integrals.planes import Plane, plane
from privproof_checker.integrals.polyhedra import dense_integral
from privproof_checker.integrals.rings import Exact, K, Ring, Unresolved, Work
from privproof_checker.numbers.exponentials import ExponentialSum

_MOST_WORK = 3_000_000
"""Products of terms for the integrals of all leaves of a question; beyond, they are `Unresolved` and the evidence is refused."""
_FEW_CELLS = 50_000
"""Work after which a group counts as dense, and is split into polyhedra instead: most groups take a tenth of it or less."""

Law: TypeAlias = tuple[str, fmpq]
"""The kind, ``laplace``, ``exponential`` or ``geometric``, and the scale or alpha."""

Form: TypeAlias = tuple[tuple[tuple[int, fmpq], ...], fmpq]
"""The coefficients of a linear form by noise, and its constant."""


class Integrator:
    """Integrates exactly, with a memory of what it has integrated and a bound on the work."""

    def __init__(self) -> None:
        self._known: dict[Hashable, ExponentialSum] = {}
        self._sums: dict[Hashable, fmpq] = {}
        self._work = Work(_MOST_WORK)

    def probability(self, laws: Sequence[Law], forms: Sequence[Form]) -> ExponentialSum:
        """The probability that all forms in the noises are at least 0.

        Raises:
            Unresolved: if it takes too much work.
        """
        tightest: dict[tuple[tuple[int, fmpq], ...], fmpq] = {}
        for pairs, constant in forms:
            if pairs:
                lead = abs(pairs[0][1])
                scaled, value = tuple((node, factor / lead) for node, factor in pairs), constant / lead
                tightest[scaled] = min(value, tightest.get(scaled, value))
            elif constant < 0:
                return ExponentialSum.constant(0)
        used = {node for pairs in tightest for node, _ in pairs}
        system = within(
            {node: (*laws[node], fmpq(0)) for node in sorted(used)},
            (plane(pairs, constant) for pairs, constant in tightest.items()),
        )
        return ExponentialSum.constant(0) if system is None else integral(system, Exact(), self._group, self._known)

    def sum_probability(self, laws: Sequence[Law], forms: Sequence[Form]) -> fmpq:
        """The probability that all forms in geometric noises are at least 0.

        Raises:
            Unresolved: if it takes too much work.
        """
        if not forms:
            return fmpq(1)
        alphas = {node: number for node, (kind, number) in enumerate(laws) if kind == "geometric"}
        look = ("sum", tuple(sorted(alphas.items())), frozenset(forms))
        if look not in self._sums:
            self._sums[look] = sum_probability(alphas, forms, self._work)
        return self._sums[look]

    def _group(self, system: System) -> ExponentialSum:
        try:
            return Integral(system, Exact(), Work(_FEW_CELLS, self._work)).value()
        except Unresolved:
            return dense_integral(system, Exact(), self._work)


def within(laws: Mapping[int, tuple[str, fmpq, fmpq]], sides: Iterable[tuple[Plane, bool]]) -> System | None:
    """The system, or None if it asks for both sides of a plane."""
    inside: dict[Plane, bool] = {}
    for each, above in sides:
        if inside.setdefault(each, above) != above:
            return None
    return System(laws, inside)


def integral(system: System, ring: Ring[K], solve: Callable[[System], K], known: dict[Hashable, K]) -> K:
    """The probability of a system, by groups that share planes; those of equal shape are known after the first."""
    total = ring.number(fmpq(1))
    for group in _groups(system):
        places = {node: i for i, node in enumerate(group.laws)}
        shape = frozenset(
            (tuple((places[node], factor) for node, factor in pairs), constant, above)
            for (pairs, constant), above in group.inside.items()
        )
        look = (tuple(group.laws.values()), shape)
        if look not in known:
            known[look] = solve(group)
        total = total * known[look]
        if ring.vanishes(total):
            break
    return total


def _groups(system: System) -> list[System]:
    """The noises in groups that share planes, in their order."""
    leader = {node: node for node in system.laws}

    def led(node: int) -> int:
        while leader[node] != node:
            leader[node] = leader[leader[node]]
            node = leader[node]
        return node

    for pairs, _ in system.inside:
        for node, _ in pairs:
            leader[led(node)] = led(pairs[0][0])
    laws: dict[int, dict[int, tuple[str, fmpq, fmpq]]] = {}
    inside: dict[int, dict[Plane, bool]] = {}
    for node, law in system.laws.items():
        laws.setdefault(led(node), {})[node] = law
    for each, above in system.inside.items():
        inside.setdefault(led(each[0][0][0]), {})[each] = above
    return [System(found, inside.get(head, {})) for head, found in laws.items()]
