"""Laws of a sum given one entry, from the definition: for every node i and every possible value x of X_i.

A polynomial whose coefficient at c is the probability of the sum c makes sums of entries products.  Along a chain,
``A_i[x]`` is that of the entries up to i together with X_i = x, and ``B_i[x]`` that of the entries after i given X_i = x;
the law given X_i = x is their product divided by its total; of a hidden chain, the products of all states that show x are
added up first.  The coefficients are integers over a common denominator, or balls.  All terms are positive, so balls stay
narrow relative to what they enclose.

Sums are counted in units: the value of the coefficient c is ``offset + c unit``.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import gcd, isqrt, lcm
from typing import Any, TypeAlias

from flint import arb, arb_poly, fmpz, fmpz_poly

from privproof_checker.numbers import ZERO, Rational
from privproof_checker.outcomes import refuse, within
from privproof_checker.release.bayes_networks import worlds
from privproof_checker.release.histogram_sums import Counts, sum_of_counts
from privproof_checker.release.release_losses import Allowance
from privproof_checker.release.release_priors import Band, Chain, GaussianChain, Network
from privproof_checker.release.release_questions import Histogram, Release, Sum

_MOST_TERMS = 15_000_000
"""The coefficients of the laws of the sum at all nodes; beyond, the question is refused (a shorter series, a coarser query)."""
_MOST_SPAN = 200_000
"""From the least to the greatest value of the sum, in units of the query; a wider sum is refused."""
_MOST_BITS = 2_000_000_000
"""The bits of the exact laws of those nodes that balls leave open; beyond, the evidence is refused."""

Polynomial: TypeAlias = Any
"""A polynomial of balls, or one of integers."""
Number: TypeAlias = Any
"""A ball, or an integer."""


@dataclass(frozen=True)
class SumLaw:
    """A law times its mass: the coefficients from low to high, and their sum.

    Attributes:
        low: the least sum that is possible.
        terms: the coefficients from the least to the greatest possible sum.
        mass: their sum.
    """

    low: int
    terms: Sequence[Any]
    mass: Any

    @property
    def high(self) -> int:
        """The greatest sum that is possible."""
        return self.low + len(self.terms) - 1


Laws: TypeAlias = "Mapping[str, SumLaw]"


class ChainSums:
    """The laws of the sum of a series of a chain whose start is known; of a histogram, those of the sum that tells its counts."""

    def __init__(self, chain: Chain, length: int, asked: Sum | Histogram, place: str) -> None:
        assert chain.start is not None
        query, self.counts = _telling_sum(asked, [chain.values], length, place)
        self.chain, self.length, self.place = chain, length, place
        self.offset, self.unit, self.weights = _grid(query, [chain.values])
        self.offset *= length
        self.weight = self.weights[0]
        self.span = max(self.weight) * length
        within(self.span, _MOST_SPAN, "values of the sum", place)
        within((self.span + 1) * length * chain.size, _MOST_TERMS, "terms of the laws", place)

    @property
    def nodes(self) -> range:
        """The nodes."""
        return range(1, self.length + 1)

    @property
    def bits(self) -> int:
        """About how many bits the exact laws of one node have."""
        whole = lcm(*(int(entry.q) for row in self.chain.rows for entry in row))
        return (self.span + 1) * self.chain.size * self.length * whole.bit_length()

    def balls(self, nodes: Collection[int]) -> Iterator[tuple[int, Laws]]:
        """The laws of some nodes in balls of the current precision."""
        assert self.chain.start is not None
        rows = [[arb(entry) for entry in row] for row in self.chain.rows]
        yield from self._laws([arb(entry) for entry in self.chain.start], rows, arb_poly, nodes)

    def exactly(self, nodes: Collection[int]) -> Iterator[tuple[int, Laws]]:
        """The laws of some nodes in integers."""
        assert self.chain.start is not None
        within(self.bits * len(nodes), _MOST_BITS, "bits of the exact laws", self.place)
        yield from self._laws(_whole([self.chain.start])[0], _whole(self.chain.rows), fmpz_poly, nodes)

    def _laws(
        self,
        start: Sequence[Number],
        rows: Sequence[Sequence[Number]],
        polynomial: Callable[[list[Number]], Polynomial],
        nodes: Collection[int],
    ) -> Iterator[tuple[int, Laws]]:
        """The laws; the polynomials of later entries are kept at few nodes, which are the wanted ones, or found again in between."""
        successors = [
            [(z, row[z]) for z in range(len(row)) if self.chain.pattern[y] >> z & 1] for y, row in enumerate(rows)
        ]
        one = polynomial([_one(rows)])
        block = isqrt(self.length - 1) + 1
        wanted = set(nodes)
        few = len(wanted) <= block
        later = [one] * self.chain.size
        kept = {self.length: later}
        for node in range(self.length - 1, min(wanted, default=self.length) - 1 if few else 0, -1):
            later = self._earlier(later, successors)
            if node in wanted if few else node % block == 0:
                kept[node] = later
        earlier = [
            one.left_shift(weight) * entry if known != 0 else None
            for weight, entry, known in zip(self.weight, start, self.chain.start or (), strict=True)
        ]
        inside = kept if few else {}
        for node in self.nodes:
            if node not in inside and not few:
                end = min(node + (-node) % block, self.length)
                inside = {end: kept.pop(end)}
                for before in range(end - 1, node - 1, -1):
                    inside[before] = self._earlier(inside[before + 1], successors)
            if node in wanted:
                wanted.remove(node)
                sides: dict[str, list[tuple[Polynomial, Polynomial]]] = {}
                for x, so_far, after in zip(self.chain.values, earlier, inside[node], strict=True):
                    if so_far is not None:
                        sides.setdefault(x, []).append((so_far, after))
                yield node, {x: _law(both) for x, both in sides.items()}
            if not wanted:
                return
            earlier = self._following(earlier, successors)

    def _earlier(self, later: list[Polynomial], successors: Sequence[Sequence[tuple[int, Number]]]) -> list[Polynomial]:
        """``B_i`` from ``B_(i+1)``."""
        shifted = [each.left_shift(weight) for each, weight in zip(later, self.weight, strict=True)]
        result = []
        for row in successors:
            total = shifted[row[0][0]] * row[0][1]
            for z, entry in row[1:]:
                total = total + shifted[z] * entry
            result.append(total)
        return result

    def _following(
        self, earlier: Sequence[Polynomial | None], successors: Sequence[Sequence[tuple[int, Number]]]
    ) -> list[Polynomial | None]:
        """``A_(i+1)`` from ``A_i``; None where a state is impossible."""
        result: list[Polynomial | None] = [None] * self.chain.size
        for each, row in zip(earlier, successors, strict=True):
            if each is not None:
                for z, entry in row:
                    known, more = result[z], each * entry
                    result[z] = more if known is None else known + more
        return [
            None if each is None else each.left_shift(weight) for each, weight in zip(result, self.weight, strict=True)
        ]


def _one(rows: Sequence[Sequence[Number]]) -> Number:
    return arb(1) if isinstance(rows[0][0], arb) else fmpz(1)


def _whole(rows: Sequence[Sequence[Rational]]) -> list[list[fmpz]]:
    """The rows times their common denominator."""
    scale = lcm(*(int(entry.q) for row in rows for entry in row))
    return [[fmpz((entry * scale).p) for entry in row] for row in rows]


def _law(sides: Sequence[tuple[Polynomial, Polynomial]]) -> SumLaw:
    """The law from both polynomials of every state that shows the value; what lies outside its ends is exactly zero."""
    low = min(_lowest(before) + _lowest(after) for before, after in sides)
    high = max(before.degree() + after.degree() for before, after in sides)
    whole, mass = sides[0][0] * sides[0][1], _mass(*sides[0])
    for before, after in sides[1:]:
        whole, mass = whole + before * after, mass + _mass(before, after)
    return SumLaw(low, whole.coeffs()[low : high + 1], mass)


def _mass(before: Polynomial, after: Polynomial) -> Number:
    return before(1) * after(1) if isinstance(before, fmpz_poly) else before(1)


def _lowest(polynomial: Polynomial) -> int:
    return next(place for place, term in enumerate(polynomial.coeffs()) if not _vanishes(term))


def _vanishes(term: Number) -> bool:
    return bool(term.is_zero()) if isinstance(term, arb) else bool(term == 0)


class NetworkSums:
    """The laws of the sum over the nodes of a network, by enumeration of all values; of a histogram as for chains."""

    def __init__(self, network: Network, asked: Sum | Histogram, place: str) -> None:
        query, self.counts = _telling_sum(asked, [node.values for node in network.nodes], len(network.nodes), place)
        self.offset, self.unit, self.weights = _grid(query, [node.values for node in network.nodes])
        self.span = sum(max(weights) for weights in self.weights)
        self.nodes = tuple(node.name for node in network.nodes)
        within(self.span, _MOST_SPAN, "values of the sum", place)
        within((self.span + 1) * len(self.nodes), _MOST_TERMS, "terms of the laws", place)
        chances: list[dict[str, dict[int, Rational]]] = [{} for _ in self.nodes]
        for values, chance in worlds(network, place):
            total = sum(weights[value] for weights, value in zip(self.weights, values, strict=True))
            for node, value, found in zip(network.nodes, values, chances, strict=True):
                law = found.setdefault(node.values[value], {})
                law[total] = law.get(total, ZERO) + chance
        self._found = dict(
            zip(self.nodes, ({x: _law_of_masses(law) for x, law in found.items()} for found in chances), strict=True)
        )

    def exactly(self, nodes: Collection[str]) -> Iterator[tuple[str, Laws]]:
        """The laws of some nodes in integers."""
        for node in self.nodes:
            if node in nodes:
                yield node, self._found[node]

    def balls(self, nodes: Collection[str]) -> Iterator[tuple[str, Laws]]:
        """The laws of some nodes in balls of the current precision."""
        for node, laws in self.exactly(nodes):
            yield (
                node,
                {x: SumLaw(law.low, [arb(term) for term in law.terms], arb(law.mass)) for x, law in laws.items()},
            )


Sums: TypeAlias = "ChainSums | NetworkSums"


def _telling_sum(
    query: Sum | Histogram, values: Sequence[Sequence[str]], entries: int, place: str
) -> tuple[Sum, Counts | None]:
    return (query, None) if isinstance(query, Sum) else sum_of_counts(query, values, entries, place)


def number(found: Sums, place: int) -> int:
    """The sum at a place of a law that tells the counts of a histogram."""
    return int((found.offset + found.unit * place).p)


def _law_of_masses(law: Mapping[int, Rational]) -> SumLaw:
    low, high = min(law), max(law)
    (terms,) = _whole([[law.get(total, ZERO) for total in range(low, high + 1)]])
    return SumLaw(low, terms, sum(terms, fmpz(0)))


def _grid(query: Sum, values: Sequence[Sequence[str]]) -> tuple[Rational, Rational, list[list[int]]]:
    """The least sum, a unit that all differences are multiples of, and what every value adds to the least, in units.

    >>> _grid(Sum({"a": Rational(3), "b": Rational(7)}, Rational(1)), [["a", "b"]])
    (3, 4, [[0, 1]])
    """
    steps = [[int((query.weight(value) / query.step).p) for value in each] for each in values]
    above = [[step - min(each) for step in each] for each in steps]
    common = gcd(*(step for each in above for step in each)) or 1
    offset = query.step * sum(min(each) for each in steps)
    return offset, query.step * common, [[step // common for step in each] for each in above]


def sums(prior: Chain | Network, length: int | None, query: Sum | Histogram, place: str) -> Sums:
    """The laws of the sum or histogram under a prior."""
    if isinstance(prior, Network):
        return NetworkSums(prior, query, place)
    if prior.start is None:
        refuse("the start may be any, so there is no one law of the sum", place)
    assert length is not None
    return ChainSums(prior, length, query, place)


def every(release: Release) -> Iterator[tuple[str, Allowance, Sums]]:
    """The sums under every prior and for every length, with the place of the prior."""
    if not isinstance(release.query, Sum | Histogram):
        refuse("this method is for sums and histograms", "question.query")
    for number, prior in enumerate(release.priors):
        place = f"question.priors[{number}]"
        if isinstance(prior, Band | GaussianChain):
            refuse("a band has no one law of the sum", place)
        for length in release.lengths or (None,):
            yield place, release.allowance(prior), sums(prior, length, release.query, place)
