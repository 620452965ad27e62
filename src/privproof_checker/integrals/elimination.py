"""Probabilities that independent noises satisfy linear inequalities: noises are integrated, or summed, out one after the other.

What is left at any time is a product of *factors*, functions of some of the noises, and inequalities.  A factor is a sum over polyhedra of
terms ``c e^k * product over i of y_i^m_i e^(r_i y_i)``, each 0 outside of its polyhedron.  A noise with few neighbours goes next (bucket
elimination; Dechter, 1999): the factors in which it occurs are multiplied out, their polyhedra with its inequalities are split by which of
its lower bounds is the largest and which of its upper bounds the smallest (Fourier and Motzkin), and between these two it is
integrated.  Polyhedra without interior are left out, so that the probability is 0 exactly if none is left.

`Reals` are Laplace and exponential noises, exactly or in balls; all integrands are products of densities, so that nothing cancels between
polyhedra.  `Integers` are geometric noises: bounds belong to what is summed up, of equal bounds the first one counts, and where a bound has
a factor before its noise the residues of the other noises are gone through, so that it is an integer.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import product
from math import comb, lcm
from operator import add
from typing import Any, ClassVar, Generic, NamedTuple, TypeAlias, TypeVar

from flint import arb, fmpq

from privproof_checker.integrals.integral_regions import (
    Form,
    Mark,
    Region,
    bounds,
    form_of,
    is_hollow,
    order_condition,
    region_of,
)
from privproof_checker.numbers.patience import pause

K = TypeVar("K", bound=Any)
"""Rational numbers, or balls."""

Key: TypeAlias = tuple[Any, ...]
"""k, and then r and m of each noise.  Rates of real noises are integers, in a unit; those of integers are the `Log` of numbers."""
Terms: TypeAlias = dict[Key, K]
Law: TypeAlias = tuple[str, fmpq]
"""The kind, ``laplace``, ``exponential`` or ``geometric``, and the scale or alpha."""

_LARGEST_POWER = 10_000
"""How far from 0 a bound of an integer may be, since numbers are raised to it exactly; beyond, the probability is unresolved."""
_WIDEST = 12
"""The largest factor of an integer whose residues are gone through; beyond, the probability is unresolved."""


class Unresolved(ArithmeticError):
    """The probability takes more precision or more work than allowed."""


_BETWEEN = 16
"""Of so many counts one is an opportunity to stop."""


class TermWork:
    """Counts terms, up to a bound."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._terms = 0
        self._asked = 0

    def count(self, terms: int) -> None:
        """Add some, or raise `Unresolved`."""
        if self._asked % _BETWEEN == 0:
            pause()
        self._asked += 1
        self._terms += terms
        if self._terms > self._most:
            raise Unresolved(f"more than {self._most} products of terms are needed")


class Log:
    """The logarithm of a positive rational number."""

    __slots__ = ("_hash", "of")

    def __init__(self, of: fmpq) -> None:
        self.of, self._hash = of, hash((int(of.p), int(of.q)))

    def __add__(self, other: Log) -> Log:
        return Log(self.of * other.of)

    def __mul__(self, times: int) -> Log:
        return Log(self.of**times)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Log) and self.of == other.of

    def __hash__(self) -> int:
        return self._hash


class EliminationFactor(NamedTuple, Generic[K]):
    """The noises that a function depends on, and its terms by polyhedra."""

    scope: tuple[int, ...]
    cells: dict[Region, Terms[K]]


class Elimination(ABC, Generic[K]):
    """Takes noises away that are connected with one another."""

    whole: ClassVar[bool]
    nothing: ClassVar[object]
    """The rate of what does not depend on a noise."""

    def __init__(self, nodes: Iterable[int], forms: Iterable[Form], work: TermWork) -> None:
        self.nodes, self.forms, self.work = list(nodes), list(forms), work
        self.factors: list[EliminationFactor[K]] = []

    @abstractmethod
    def number(self, value: fmpq) -> K:
        """A rational number."""

    @abstractmethod
    def law(self, node: int) -> EliminationFactor[K]:
        """The density of a noise, or its masses."""

    @abstractmethod
    def sign(self, rate: Any) -> int:
        """Whether something with a rate grows."""

    @abstractmethod
    def power(self, rate: Any, above: int, below: int) -> tuple[Any, K]:
        """What a factor with a rate is at a fraction: k, and a number."""

    @abstractmethod
    def summed(self, rate: Any, coefficients: Mapping[int, K]) -> tuple[list[K], tuple[int, int, int, int]]:
        """The q for which ``e^(r x) * sum of q_k x^k`` at two ends gives the integral of that with given coefficients.

        Also how often the upper end counts, how far beyond it that is, and both for the lower end.
        """

    def value(self) -> Terms[K]:
        """The probability, as numbers by their k; without any if it is 0."""
        region = region_of(self.forms, whole=self.whole)
        if region is None or is_hollow(region, whole=self.whole):
            return {}
        self.forms = sorted(region)
        self.factors = [self.law(node) for node in self.nodes]
        while self.nodes:
            node, width = self._cheapest()
            self.nodes.remove(node)
            found = self._eliminated(node, wide=width > 1)
            if not found.cells:
                return {}
            self.factors.append(found)
        result: Terms[K] = {(self.nothing,): self.number(fmpq(1))}
        for factor in self.factors:  # one for each group of noises without a common inequality
            result = self._product(result, factor.cells[frozenset()])
        return result

    def _cheapest(self) -> tuple[int, int]:
        """The noise with the smallest factors and the fewest neighbours, among several the one that makes fewest neighbours; its factor."""
        beside: dict[int, set[int]] = {node: set() for node in self.nodes}
        for scope in (*([n for n, _ in pairs] for pairs, _, _ in self.forms), *(f.scope for f in self.factors)):
            for node in scope if len(scope) > 1 else ():
                beside[node].update(scope)
        widest = self._widest()
        effort = {node: (widest[node], len(near)) for node, near in beside.items()}
        least = min(effort.values())
        nodes = [node for node in self.nodes if effort[node] == least]
        if least[1] < 3 or len(nodes) == 1:
            return nodes[0], least[0]
        missing = {n: sum(two not in beside[one] for one in beside[n] for two in beside[n]) for n in nodes}
        return min(nodes, key=lambda node: (missing[node], node)), least[0]

    def _widest(self) -> dict[int, int]:
        """The largest factor of each noise in inequalities; 1 for real numbers, for which it does not matter."""
        found = dict.fromkeys(self.nodes, 1)
        for region in (
            (self.forms, *(region for factor in self.factors for region in factor.cells)) if self.whole else ()
        ):
            for pairs, _, _ in region:
                for node, factor in pairs:
                    found[node] = max(found[node], abs(factor))
        return found

    def _eliminated(self, node: int, *, wide: bool) -> EliminationFactor[K]:
        """What is left of everything in which a noise occurs; of everything, where its factors are wide."""
        own = [form for form in self.forms if wide or any(n == node for n, _ in form[0])]
        factors = [factor for factor in self.factors if wide or node in factor.scope]
        self.forms = [form for form in self.forms if form not in own]
        self.factors = [factor for factor in self.factors if not (wide or node in factor.scope)]
        near = {n for form in own for n, _ in form[0]}.union(*(factor.scope for factor in factors)) - {node}
        rest = tuple(sorted(near))
        scope = (node, *rest)
        start = region_of(own, whole=self.whole)
        assert start is not None
        cells: dict[Region, Terms[K]] = {start: {(self.nothing, *(self.nothing, 0) * len(scope)): self.number(fmpq(1))}}
        for factor in sorted(factors, key=lambda each: len(each.cells)):
            cells = self._multiplied(cells, _widen_scope(factor, scope, self.nothing).cells)
        found: dict[Region, Terms[K]] = {}
        for region, terms in self._even(cells, scope):
            for low, high, cell in self._split(region, node):
                self._integrate(terms, rest, low, high, found.setdefault(cell, {}))
        return EliminationFactor(rest, {region: terms for region, terms in found.items() if terms})

    def _multiplied(self, one: dict[Region, Terms[K]], two: dict[Region, Terms[K]]) -> dict[Region, Terms[K]]:
        found: dict[Region, Terms[K]] = {}
        for first, left in one.items():
            for second, right in two.items():
                region = region_of((*first, *second), whole=self.whole)
                if region is not None:
                    terms = self._product(left, right)
                    if region in found:
                        for key, value in terms.items():
                            _add(found[region], key, value)
                    else:
                        found[region] = terms
        return found

    def _product(self, left: Terms[K], right: Terms[K]) -> Terms[K]:
        self.work.count(len(left) * len(right))
        total: Terms[K] = {}
        for key, value in left.items():
            for other, factor in right.items():
                _add(total, tuple(map(add, key, other)), value * factor)
        return total

    def _even(self, cells: dict[Region, Terms[K]], scope: tuple[int, ...]) -> Iterable[tuple[Region, Terms[K]]]:
        """The cells, in parts in which the bounds of the first noise are bounds."""
        return cells.items()

    def _split(self, region: Region, node: int) -> Iterator[tuple[Mark | None, Mark | None, Region]]:
        """The largest lower and the smallest upper bound of a noise, and where they are."""
        lowers, uppers, others = bounds(region, node)
        for i, low in enumerate(lowers) if lowers else [(0, None)]:
            for j, high in enumerate(uppers) if uppers else [(0, None)]:
                conditions: list[Form | bool] = []
                for k, each in enumerate(lowers):
                    if low is not None and k != i:
                        conditions.append(order_condition(each, low, int(self.whole and k < i), whole=self.whole))
                for k, each in enumerate(uppers):
                    if high is not None and k != j:
                        conditions.append(order_condition(high, each, int(self.whole and k < j), whole=self.whole))
                if low is not None and high is not None:
                    conditions.append(order_condition(low, high, 0, whole=self.whole))
                if False in conditions:
                    continue
                forms = [each for each in conditions if not isinstance(each, bool)]
                cell = region_of([*others, *forms], whole=self.whole) if forms else frozenset(others)
                if cell is not None and not is_hollow(cell, whole=self.whole):
                    yield low, high, cell

    def _integrate(
        self, terms: Terms[K], rest: tuple[int, ...], low: Mark | None, high: Mark | None, total: Terms[K]
    ) -> None:
        """Add the integral over the first noise, between two marks in the others."""
        self.work.count(len(terms))
        by_rate: dict[tuple[Any, Key], dict[int, K]] = {}
        for key, value in terms.items():
            by_rate.setdefault((key[1], (key[0], *key[3:])), {})[key[2]] = value
        for (rate, others), coefficients in by_rate.items():
            sign = self.sign(rate)
            if (low is None and sign <= 0) or (high is None and sign >= 0):
                raise Unresolved("a term does not fall off towards infinity")
            polynomial, (upper, further, lower, back) = self.summed(rate, coefficients)
            for mark, times, more in ((high, upper, further), (low, lower, back)):
                if mark is not None:
                    for key, value in self._at((mark[0], mark[1] + more, mark[2]), rate, polynomial, others, rest):
                        _add(total, key, value * times)
        self.work.count(len(total))

    def _at(
        self, mark: Mark, rate: Any, polynomial: list[K], others: Key, rest: Sequence[int]
    ) -> Iterator[tuple[Key, K]]:
        """The terms of ``e^(r x) * sum of q_k x^k`` at a mark, times those of the other variables."""
        pairs, above, below = mark
        assert below == 1 or rate % below == 0, "rates are in too large a unit"
        more, factor = self.power(rate, above, below)
        base = list(others)
        base[0] = base[0] + more
        places = [2 * rest.index(node) + 1 for node, _ in pairs]
        for here, (_, slope) in zip(places, pairs, strict=True):
            base[here] = base[here] + (rate * slope // below if below > 1 else rate * slope)
        slopes = [slope if below == 1 else fmpq(slope, below) for _, slope in pairs]
        for power, coefficient in enumerate(_shift_polynomial(polynomial, above if below == 1 else fmpq(above, below))):
            if coefficient == 0:
                continue
            value = coefficient * factor
            for powers, times in _expand_power(slopes, power):
                key = list(base)
                for here, degree in zip(places, powers, strict=True):
                    key[here + 1] += degree
                yield tuple(key), value if times == 1 else value * times


class Reals(Elimination[K]):
    """Laplace and exponential noises, by their kinds and scales."""

    whole = False
    nothing = 0

    def __init__(self, laws: Mapping[int, Law], forms: Iterable[Form], work: TermWork, *, exact: bool) -> None:
        super().__init__(laws, forms, work)
        # lengths are measured so that constants are integers, and rates in a unit
        length = lcm(*(below for _, _, below in self.forms))
        self.forms = [(pairs, above * (length // below), 1) for pairs, above, below in self.forms]
        self.laws = {node: (kind, scale * length) for node, (kind, scale) in laws.items()}
        self.unit = lcm(*(int(scale.p) for _, scale in self.laws.values()))
        self.exact = exact
        self._known: dict[int, Any] = {}

    def number(self, value: fmpq) -> K:
        return value if self.exact else arb(value)  # type: ignore[return-value]

    def law(self, node: int) -> EliminationFactor[K]:
        kind, scale = self.laws[node]
        rate = int((self.unit / scale).p)
        sides = ((1, -rate),) if kind == "exponential" else ((1, -rate), (-1, rate))
        height = self.number(1 / (len(sides) * scale))
        return EliminationFactor(
            (node,), {frozenset([(((node, side),), 0, 1)]): {(0, r, 0): height} for side, r in sides}
        )

    def sign(self, rate: int) -> int:
        return (rate > 0) - (rate < 0)

    def power(self, rate: int, above: int, below: int) -> tuple[int, K]:
        exponent = rate * above // below
        if self.exact:
            return exponent, self.number(fmpq(1))
        if exponent not in self._known:
            self._known[exponent] = arb(fmpq(exponent, self.unit)).exp()
        return 0, self._known[exponent]

    def summed(self, rate: int, coefficients: Mapping[int, K]) -> tuple[list[K], tuple[int, int, int, int]]:
        degree, zero = max(coefficients), self.number(fmpq(0))
        given: list[K] = [coefficients.get(power, zero) for power in range(degree + 1)]
        found: list[K] = [zero] * (degree + 2)
        if rate == 0:
            for power, value in enumerate(given):
                found[power + 1] = value * fmpq(1, power + 1)
        else:
            for power in range(degree, -1, -1):
                found[power] = (given[power] - (power + 1) * found[power + 1]) * fmpq(self.unit, rate)
        return found, (1, 0, -1, 0)

    def _even(self, cells: dict[Region, Terms[K]], scope: tuple[int, ...]) -> Iterable[tuple[Region, Terms[K]]]:
        """The same; rates are measured in a smaller unit where a bound has fractions, in all the factors."""
        node = scope[0]
        times = lcm(*(below * abs(f) for region in cells for pairs, _, below in region for n, f in pairs if n == node))
        if times > 1:
            self.unit *= times
            self._known.clear()
            self.factors = [
                EliminationFactor(f.scope, {r: _finer(t, times) for r, t in f.cells.items()}) for f in self.factors
            ]
            cells = {region: _finer(terms, times) for region, terms in cells.items()}
        return cells.items()


class Integers(Elimination[fmpq]):
    """Geometric noises, by their alphas."""

    whole = True
    nothing = Log(fmpq(1))

    def __init__(self, alphas: Mapping[int, fmpq], forms: Iterable[Form], work: TermWork) -> None:
        super().__init__(alphas, forms, work)
        self.alphas = alphas

    def number(self, value: fmpq) -> fmpq:
        return value

    def law(self, node: int) -> EliminationFactor[fmpq]:
        alpha = self.alphas[node]
        sides = (((node, 1), 0, Log(alpha)), ((node, -1), -1, Log(1 / alpha)))
        height = (1 - alpha) / (1 + alpha)
        return EliminationFactor(
            (node,), {frozenset([((side,), by, 1)]): {(self.nothing, r, 0): height} for side, by, r in sides}
        )

    def sign(self, rate: Log) -> int:
        return (rate.of > 1) - (rate.of < 1)

    def power(self, rate: Log, above: int, below: int) -> tuple[Log, fmpq]:
        if abs(above) > _LARGEST_POWER:
            raise Unresolved("a bound is too far away")
        return self.nothing, rate.of**above

    def summed(self, rate: Log, coefficients: Mapping[int, fmpq]) -> tuple[list[fmpq], tuple[int, int, int, int]]:
        found = [fmpq(0)] * (max(coefficients) + 2)
        for degree, value in coefficients.items():
            for power, share in enumerate(_endless(degree, rate.of)):
                found[power] += value * share
        sign = self.sign(rate)
        return found, (-1, 1, 1, 0) if sign < 0 else (1, 0, -1, -1) if sign > 0 else (1, 1, -1, 0)

    def _even(self, cells: dict[Region, Terms[fmpq]], scope: tuple[int, ...]) -> Iterator[tuple[Region, Terms[fmpq]]]:
        for region, terms in cells.items():
            yield from self._in_residues(region, terms, scope)

    def _in_residues(
        self, region: Region, terms: Terms[fmpq], scope: tuple[int, ...]
    ) -> Iterator[tuple[Region, Terms[fmpq]]]:
        """A cell, in parts in which the factor of the first noise is 1 or -1 wherever it occurs."""
        wide = next((form for form in sorted(region) if abs(dict(form[0]).get(scope[0], 0)) > 1), None)
        if wide is None:
            yield region, terms
            return
        modulus = abs(dict(wide[0])[scope[0]])
        if modulus > _WIDEST:
            raise Unresolved(f"a coefficient is larger than {_WIDEST}")
        others = [other for other, factor in wide[0] if factor % modulus]
        for rests in product(range(modulus), repeat=len(others)):
            made, forms = terms, list(region)
            for other, rest in zip(others, rests, strict=True):  # is so many times another integer, and a rest
                put: list[Form | bool] = []
                for pairs, above, _ in forms:
                    factor = dict(pairs).get(other, 0)
                    put.append(form_of({**dict(pairs), other: modulus * factor}, above + rest * factor, 1, whole=True))
                forms = [each for each in put if not isinstance(each, bool)]
                made = self._placed(made, scope, other, (((other, modulus),), rest, 1))
            part = region_of(forms, whole=True)
            if part is not None:
                yield from self._in_residues(part, made, scope)

    def _placed(self, terms: Terms[fmpq], scope: tuple[int, ...], node: int, mark: Mark) -> Terms[fmpq]:
        """Terms with a mark in the place of a noise."""
        found: Terms[fmpq] = {}
        here = 2 * scope.index(node) + 1
        for key, value in terms.items():
            rate, degree = key[here : here + 2]
            others = (*key[:here], self.nothing, 0, *key[here + 2 :])
            for made, share in self._at(mark, rate, [fmpq(0)] * degree + [value], others, scope):
                _add(found, made, share)
        self.work.count(len(found))
        return found


# Terms


def _add(total: Terms[K], key: Key, value: K) -> None:
    known = total.get(key)
    if known is not None:
        value = known + value
        if value == 0:
            del total[key]
            return
    total[key] = value


def _shift_polynomial(polynomial: list[K], distance: int | fmpq) -> list[K]:
    """The coefficients of a polynomial at x plus a distance, by Horner's rule."""
    if distance == 0:
        return polynomial
    result: list[K] = []
    for coefficient in reversed(polynomial):
        result.insert(0, coefficient)
        for power in range(len(result) - 1):
            result[power] = result[power] + result[power + 1] * distance
    return result


def _expand_power(slopes: Sequence[int | fmpq], degree: int) -> Iterator[tuple[tuple[int, ...], int | fmpq]]:
    """The power of a linear form without a constant: powers of the variables, and coefficients."""
    if not slopes:
        yield from [((), 1)] if degree == 0 else ()
        return
    slope, *others = slopes
    if not others:
        yield (degree,), slope**degree
        return
    for first in range(degree + 1):
        times = comb(degree, first) * slope**first
        for rest, factor in _expand_power(others, degree - first):
            yield (first, *rest), times * factor


def _widen_scope(factor: EliminationFactor[K], scope: tuple[int, ...], nothing: object) -> EliminationFactor[K]:
    """The same factor as a function of more variables."""
    if factor.scope == scope:
        return factor
    places = {node: 2 * place + 1 for place, node in enumerate(factor.scope)}
    chosen = [places.get(node, -1) for node in scope]
    cells: dict[Region, Terms[K]] = {}
    for region, terms in factor.cells.items():
        cells[region] = {
            (key[0], *(e for at in chosen for e in (key[at : at + 2] if at > 0 else (nothing, 0)))): value
            for key, value in terms.items()
        }
    return EliminationFactor(scope, cells)


def _finer(terms: Terms[K], times: int) -> Terms[K]:
    """The same terms with rates in a unit so many times smaller."""
    return {
        tuple([entry if place and place % 2 == 0 else entry * times for place, entry in enumerate(key)]): value
        for key, value in terms.items()
    }


def _endless(degree: int, base: fmpq) -> list[fmpq]:
    """The p with ``p(l) b^l`` the sum of ``x^d b^x`` over all x from l on (b < 1), or up to l (b > 1); b = 1: over 0 <= x < l.

    For x = l + m, the power is the sum of ``comb(d, j) l^(d-j) m^j``, and ``A_j``, the sum of ``m^j b^m`` over m from 0 on, satisfies
    ``A_j = b/(1-b) * sum of comb(j, i) A_i over i < j``.
    """
    if base == 1:
        # the differences of l^(d+1) are sums of comb(d+1, i) l^i over i <= d
        found = [fmpq(0)] * (degree + 2)
        found[degree + 1] = fmpq(1, degree + 1)
        for lower in range(degree):
            for power, share in enumerate(_endless(lower, base)):
                found[power] -= fmpq(comb(degree + 1, lower), degree + 1) * share
        return found
    inward = base if base < 1 else 1 / base
    sums = [1 / (1 - inward)]
    for j in range(1, degree + 1):
        sums.append(inward / (1 - inward) * sum((comb(j, i) * sums[i] for i in range(j)), fmpq(0)))
    signs = [1 if base < 1 or j % 2 == 0 else -1 for j in range(degree + 1)]
    return [comb(degree, power) * signs[degree - power] * sums[degree - power] for power in range(degree + 1)]
