"""Elimination of leaves: the noises of a conjunction of linear inequalities are integrated out while one meets only one other.

The graph has the noises as nodes, and the inequalities between two of them as edges.  A leaf y that meets only x contributes
``M(x) = ∫ f(y) dy`` from the largest lower bound to the smallest upper one, where f is its density times the messages that it
received; x is split where other bounds become active or a bound enters another piece of f.  Equal messages are computed once and
multiplied as powers.  What is left when no leaf is left has a cycle, or an inequality over three noises: a `Core`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Hashable, Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Generic, NamedTuple, Protocol, TypeVar

from privproof.engines.integrals.piecewise_functions import End, Line, highest, lowest
from privproof.errors import LanguageError
from privproof.exact.patience import pause
from privproof.exact.rationals import Rational
from privproof.models.graph_algorithms import group_numbers


@dataclass(frozen=True)
class Halfspace:
    """The points with ``sum coefficients[j] * x_j + constant >= 0``.

    Coefficients are pairs of the number of a noise and a factor other than zero, sorted by number.
    """

    coefficients: tuple[tuple[int, Rational], ...]
    constant: Rational

    def __post_init__(self) -> None:
        numbers = [number for number, _ in self.coefficients]
        if any(one >= two for one, two in pairwise(numbers)) or any(factor == 0 for _, factor in self.coefficients):
            raise LanguageError(
                "integral", f"coefficients={self.coefficients!r} are not sorted by noise, distinct and nonzero"
            )


F = TypeVar("F")
N = TypeVar("N", bound=Hashable)
N_contra = TypeVar("N_contra", bound=Hashable, contravariant=True)


class Elimination(Protocol[F, N_contra]):
    """What the elimination of leaves needs: integrals here, sums over the integers in `sums`."""

    def prior(self, noise: N_contra, low: End, high: End) -> F:
        """The density of a noise between two ends."""
        ...

    def product(self, left: F, right: F) -> F:
        """The product of two functions of the same noise."""
        ...

    def message(self, function: F, lowers: Sequence[Line], uppers: Sequence[Line]) -> F:
        """The measure between bounds, as a function of the neighbour."""
        ...


class Core(NamedTuple, Generic[F]):
    """What is left of one component: functions of its noises, and the halfspaces between them."""

    functions: dict[int, F]
    rest: list[Halfspace]


def eliminate(noises: Sequence[N], halfspaces: Iterable[Halfspace], algebra: Elimination[F, N]) -> list[Core[F]] | None:
    """Eliminate leaves in each component until none is left; None if a halfspace without noises is empty.

    A component that is a tree ends with a single noise.  Noises without a halfspace are left out.
    """
    kept: dict[Halfspace, None] = {}
    for halfspace in halfspaces:
        if halfspace.coefficients:
            kept[_unit(halfspace)] = None
        elif halfspace.constant < 0:
            return None
    peeling = _Peeling(noises, algebra)
    return [peeling.component(component) for component in _components(kept)]


def _unit(halfspace: Halfspace) -> Halfspace:
    head = abs(halfspace.coefficients[0][1])
    if head == 1:
        return halfspace
    return Halfspace(
        tuple((number, factor / head) for number, factor in halfspace.coefficients), halfspace.constant / head
    )


def _components(halfspaces: Collection[Halfspace]) -> list[list[Halfspace]]:
    """The halfspaces in groups that share no noise."""
    group = group_numbers([number for number, _ in halfspace.coefficients] for halfspace in halfspaces)
    found: dict[int, list[Halfspace]] = {}
    for halfspace in halfspaces:
        found.setdefault(group[halfspace.coefficients[0][0]], []).append(halfspace)
    return list(found.values())


class _Peeling(Generic[F, N]):
    """Functions and messages, each computed once for all noises that look alike."""

    def __init__(self, noises: Sequence[N], algebra: Elimination[F, N]) -> None:
        self.noises = noises
        self.algebra = algebra
        self.known: dict[Hashable, int] = {}
        self.values: list[F] = []

    def component(self, halfspaces: Sequence[Halfspace]) -> Core[F]:
        """Send messages from leaves to their neighbours, layer by layer."""
        alone: dict[int, list[Line]] = {}
        beside: dict[int, dict[int, list[Halfspace]]] = {}
        crowded: list[Halfspace] = []
        for halfspace in halfspaces:
            numbers = [number for number, _ in halfspace.coefficients]
            for number in numbers:
                alone.setdefault(number, [])
                beside.setdefault(number, {})
            if len(numbers) == 1:
                alone[numbers[0]].append((halfspace.coefficients[0][1], halfspace.constant))
            elif len(numbers) == 2:
                one, two = numbers
                beside[one].setdefault(two, []).append(halfspace)
                beside[two].setdefault(one, []).append(halfspace)
            else:
                crowded.append(halfspace)
        held = {number for halfspace in crowded for number, _ in halfspace.coefficients}
        received: dict[int, Counter[int]] = {number: Counter() for number in alone}
        while leaves := [number for number, others in beside.items() if len(others) == 1 and number not in held]:
            for leaf in leaves:
                if len(beside[leaf]) == 1:
                    [(neighbour, links)] = beside.pop(leaf).items()
                    del beside[neighbour][leaf]
                    function = self.function(leaf, alone[leaf], received[leaf])
                    received[neighbour][self.message(leaf, function, links)] += 1
        functions = {number: self.values[self.function(number, alone[number], received[number])] for number in beside}
        between = [halfspace for one in beside for two in beside[one] if one < two for halfspace in beside[one][two]]
        return Core(functions, between + crowded)

    def function(self, number: int, walls: Sequence[Line], received: Counter[int]) -> int:
        low = highest(-constant / factor for factor, constant in walls if factor > 0)
        high = lowest(-constant / factor for factor, constant in walls if factor < 0)
        key = (self.noises[number], low, high, tuple(sorted(received.items())))

        def made() -> F:
            factors = [self.algebra.prior(self.noises[number], low, high)]
            factors += [_power(self.values[message], times, self.algebra) for message, times in received.items()]
            return _balanced_product(factors, self.algebra)

        return self.once(key, made)

    def message(self, leaf: int, function: int, links: Sequence[Halfspace]) -> int:
        lowers: list[Line] = []
        uppers: list[Line] = []
        for link in links:
            (one, first), (_, second) = link.coefficients
            mine, theirs = (first, second) if one == leaf else (second, first)
            (lowers if mine > 0 else uppers).append((-theirs / mine, -link.constant / mine))
        key = (function, frozenset(lowers), frozenset(uppers))
        return self.once(key, lambda: self.algebra.message(self.values[function], lowers, uppers))

    def once(self, key: Hashable, made: Callable[[], F]) -> int:
        found = self.known.get(key)
        if found is None:
            pause()
            self.values.append(made())
            found = self.known[key] = len(self.values) - 1
        return found


def _power(function: F, times: int, algebra: Elimination[F, N]) -> F:
    if times == 1:
        return function
    half = _power(function, times // 2, algebra)
    square = algebra.product(half, half)
    return algebra.product(square, function) if times % 2 else square


def _balanced_product(factors: Sequence[F], algebra: Elimination[F, N]) -> F:
    if len(factors) == 1:
        return factors[0]
    middle = len(factors) // 2
    return algebra.product(_balanced_product(factors[:middle], algebra), _balanced_product(factors[middle:], algebra))
