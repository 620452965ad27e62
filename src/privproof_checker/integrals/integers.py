"""Probabilities of linear inequalities between independent geometric noises, as rational numbers.

A noise is the integer k with probability ``(1-alpha)/(1+alpha) alpha^|k|``. The noises are summed out one after the other. What
is left at any time is a sum over regions, each a conjunction of inequalities with integer coefficients, of terms ``c Π x^d b^x``;
regions that are equal are added up. To sum out a noise its mass joins the terms, for the integers below 0 and from 0 on, and a
region is split by which lower bound is the largest and which upper bound the smallest. With coefficients 1 and -1 the bounds are
integers, so nothing is lost or counted twice; larger ones are made so by going through the residues of the other noises. The sum
of ``x^d b^x`` between two bounds is the difference of two sums that do not end: to the right if b < 1, to the left if b > 1; for
b = 1 it is a polynomial in the bounds.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import product
from math import comb, gcd, lcm
from typing import NamedTuple, TypeAlias

from flint import fmpq

from privproof_checker.integrals.rings import Unresolved, Work

Whole: TypeAlias = tuple[tuple[tuple[int, int], ...], int]
"""Integer coefficients by noise, none of them 0, sorted, and a constant: a form that is at least 0, or a bound."""
Region: TypeAlias = frozenset[Whole]
Factors: TypeAlias = tuple[tuple[int, int, fmpq], ...]
"""``Π x^d b^x``: the noise, d and b, sorted; left out where the factor is 1."""
Terms: TypeAlias = dict[Factors, fmpq]


class _Cell(NamedTuple):
    """A region, the noises whose mass is among the terms, and the terms."""

    region: Region
    massive: frozenset[int]
    terms: Terms


_LARGEST_POWER = 10_000
"""How far from 0 a bound may be, since numbers are raised to it exactly; beyond, the probability is unresolved."""
_WIDEST = 12
"""The largest coefficient whose residues are gone through; beyond, the probability is unresolved."""


def sum_probability(
    alphas: Mapping[int, fmpq], forms: Iterable[tuple[tuple[tuple[int, fmpq], ...], fmpq]], work: Work
) -> fmpq:
    """The probability that all forms in geometric noises are at least 0.

    >>> half, tie = fmpq(1, 2), ((((0, fmpq(1)), (1, fmpq(-1))), fmpq(0)),)
    >>> sum_probability({0: half, 1: half}, tie, Work(1000))
    16/27

    Raises:
        Unresolved: it takes too much work.
    """
    region = _region([_whole(pairs, constant) for pairs, constant in forms])
    if region is None:
        return fmpq(0)
    total = fmpq(1)
    for group in _groups(region):
        total *= _summed(alphas, group, work)
    return total


def _whole(pairs: Sequence[tuple[int, fmpq]], constant: fmpq) -> Whole:
    """The same integer points by coprime integer coefficients and an integer constant."""
    kept = sorted((node, factor) for node, factor in pairs if factor != 0)
    if not kept:
        return (), 0 if constant >= 0 else -1
    below = lcm(*(int(factor.q) for _, factor in kept))
    whole = [(node, int((factor * below).p)) for node, factor in kept]
    unit = gcd(*(factor for _, factor in whole))
    return tuple((node, factor // unit) for node, factor in whole), int((constant * below / unit).floor())


def _region(forms: Iterable[Whole]) -> Region | None:
    """The tightest form of each direction; None if two of them contradict each other."""
    tightest: dict[tuple[tuple[int, int], ...], int] = {}
    for pairs, constant in forms:
        if not pairs:
            if constant < 0:
                return None
            continue
        unit = gcd(*(factor for _, factor in pairs))
        direction, bound = tuple((node, factor // unit) for node, factor in pairs), constant // unit
        tightest[direction] = min(bound, tightest.get(direction, bound))
    for direction, bound in tightest.items():
        other = tightest.get(tuple((node, -factor) for node, factor in direction))
        if other is not None and bound + other < 0:
            return None
    return frozenset(tightest.items())


def _groups(region: Region) -> list[Region]:
    """The forms in groups that share no noise."""
    groups: list[tuple[set[int], set[Whole]]] = []
    for form in region:
        nodes, forms = {node for node, _ in form[0]}, {form}
        apart = []
        for others, known in groups:
            if others & nodes:
                nodes |= others
                forms |= known
            else:
                apart.append((others, known))
        groups = [*apart, (nodes, forms)]
    return [frozenset(forms) for _, forms in groups]


def _summed(alphas: Mapping[int, fmpq], region: Region, work: Work) -> fmpq:
    """The probability of a region."""
    left = {node for pairs, _ in region for node, _ in pairs}
    cells = [_Cell(region, frozenset(), {(): fmpq(1)})]
    while left and cells:
        node = min(left, key=lambda each: (_effort(cells, each), each))
        left.discard(node)
        found: dict[tuple[Region, frozenset[int]], Terms] = {}
        for cell in cells:
            for massive in _with_mass(cell, node, alphas, work):
                for even in _even(massive, node, alphas, work):
                    for onward in _between(even, node, work):
                        total = found.setdefault((onward.region, onward.massive & left), {})
                        _add(total, onward.terms, fmpq(1))
                        work.count(len(onward.terms) + 1)
        cells = [_Cell(*place, terms) for place, terms in found.items() if terms]
    return sum((cell.terms.get((), fmpq(0)) for cell in cells), fmpq(0))


def _effort(cells: Sequence[_Cell], node: int) -> tuple[int, int]:
    """How much splitting it takes to sum out a noise: by residues, and by pairs of bounds."""
    widest, pairs = 1, 0
    for cell in cells:
        found = [factor for form in cell.region for each, factor in form[0] if each == node]
        widest = max([widest, *map(abs, found)])
        pairs += (1 + sum(f > 0 for f in found)) * (1 + sum(f < 0 for f in found))
    return widest, pairs


def _with_mass(cell: _Cell, node: int, alphas: Mapping[int, fmpq], work: Work) -> Iterator[_Cell]:
    """The cell with the mass of a noise among its terms: where it is below 0, and where it is not."""
    if node in cell.massive:
        yield cell
        return
    alpha = alphas[node]
    height = (1 - alpha) / (1 + alpha)
    for wall, base in (((((node, -1),), -1), 1 / alpha), ((((node, 1),), 0), alpha)):
        region = _region((*cell.region, wall))
        if region is not None:
            work.count(len(cell.terms))
            terms = {_times(factors, node, 0, base): value * height for factors, value in cell.terms.items()}
            yield _Cell(region, cell.massive | {node}, terms)


def _even(cell: _Cell, node: int, alphas: Mapping[int, fmpq], work: Work) -> Iterator[_Cell]:
    """The cell, in parts in which the coefficient of a noise is 1 or -1 wherever it occurs."""
    wide = next((form for form in sorted(cell.region) if abs(dict(form[0]).get(node, 0)) > 1), None)
    if wide is None:
        yield cell
        return
    modulus = abs(dict(wide[0])[node])
    if modulus > _WIDEST:
        raise Unresolved(f"a coefficient is larger than {_WIDEST}")
    others = [other for other, factor in wide[0] if factor % modulus]
    parts = [cell]
    for other in others:
        parts = [made for part in parts for made in _with_mass(part, other, alphas, work)]
    for part, rests in product(parts, product(range(modulus), repeat=len(others))):
        forms: list[Whole] = list(part.region)
        terms = part.terms
        for other, rest in zip(others, rests, strict=True):
            value: Whole = (((other, modulus),), rest)
            forms = [_put(form, other, value) for form in forms]
            terms = _substituted(terms, other, value, work)
        region = _region(forms)
        if region is not None:
            yield from _even(_Cell(region, part.massive, terms), node, alphas, work)


def _between(cell: _Cell, node: int, work: Work) -> Iterator[_Cell]:
    """The cells that are left when a noise is summed out, between the largest lower bound and the smallest upper one."""
    lowers: list[Whole] = []
    uppers: list[Whole] = []
    others: list[Whole] = []
    for pairs, constant in sorted(cell.region):
        own = dict(pairs).get(node, 0)
        rest = tuple((each, -own * factor) for each, factor in pairs if each != node)
        if own == 0:
            others.append((pairs, constant))
        else:
            (lowers if own > 0 else uppers).append((rest, -own * constant))
    ends: tuple[Sequence[Whole | None], Sequence[Whole | None]] = (lowers or (None,), uppers or (None,))
    for low in ends[0]:
        for high in ends[1]:
            forms = list(others)
            if low is not None:
                at = lowers.index(low)
                forms += [_minus(low, each, int(k < at)) for k, each in enumerate(lowers) if k != at]
            if high is not None:
                at = uppers.index(high)
                forms += [_minus(each, high, int(k < at)) for k, each in enumerate(uppers) if k != at]
            if low is not None and high is not None:
                forms.append(_minus(high, low, 0))
            region = _region(forms)
            if region is not None:
                yield _Cell(region, cell.massive - {node}, _sums(cell.terms, node, low, high, work))


def _sums(terms: Terms, node: int, low: Whole | None, high: Whole | None, work: Work) -> Terms:
    """The sums of terms over a noise between two bounds, which belong to it."""
    found: Terms = {}
    for factors, value in terms.items():
        degree, base = next(((d, b) for each, d, b in factors if each == node), (0, fmpq(1)))
        rest = tuple(factor for factor in factors if factor[0] != node)
        ends: list[tuple[Whole | None, int, int]]
        if base < 1:
            ends = [(low, 0, 1), (high, 1, -1)]
        elif base > 1:
            ends = [(high, 0, 1), (low, -1, -1)]
        else:
            ends = [(high, 1, 1), (low, 0, -1)]
        if ends[0][0] is None or (base == 1 and ends[1][0] is None):
            raise Unresolved("a sum does not end")
        for bound, further, sign in ends:
            if bound is not None:
                at: Whole = (bound[0], bound[1] + further)
                for power, share in enumerate(_endless(degree, base)):
                    if share:
                        made = _substituted({_times(rest, node, power, base): value * share}, node, at, work)
                        _add(found, made, fmpq(sign))
    return found


@lru_cache(maxsize=4096)
def _endless(degree: int, base: fmpq) -> tuple[fmpq, ...]:
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
        return tuple(found)
    inward = base if base < 1 else 1 / base
    sums = [1 / (1 - inward)]
    for j in range(1, degree + 1):
        sums.append(inward / (1 - inward) * sum((comb(j, i) * sums[i] for i in range(j)), fmpq(0)))
    signs = [fmpq(1 if base < 1 or j % 2 == 0 else -1) for j in range(degree + 1)]
    return tuple(comb(degree, power) * signs[degree - power] * sums[degree - power] for power in range(degree + 1))


def _times(factors: Factors, node: int, degree: int, base: fmpq) -> Factors:
    """A product, times ``x^d b^x``."""
    kept = []
    for each, d, b in factors:
        if each == node:
            degree, base = degree + d, base * b
        else:
            kept.append((each, d, b))
    return tuple(_in_order(kept, node, degree, base))


def _in_order(kept: list[tuple[int, int, fmpq]], node: int, degree: int, base: fmpq) -> list[tuple[int, int, fmpq]]:
    """Factors by noise, one more among them unless it is 1."""
    more = [] if degree == 0 and base == 1 else [(node, degree, base)]
    return sorted([*kept, *more], key=lambda factor: factor[0])


def _substituted(terms: Terms, node: int, value: Whole, work: Work) -> Terms:
    """Terms with a form in the place of a noise."""
    pairs, constant = value
    if abs(constant) > _LARGEST_POWER or any(abs(factor) > _LARGEST_POWER for _, factor in pairs):
        raise Unresolved("a bound is too far away")
    found: Terms = {}
    for factors, value_ in terms.items():
        degree, base = next(((d, b) for each, d, b in factors if each == node), (0, fmpq(1)))
        rest = tuple(factor for factor in factors if factor[0] != node)
        for other, factor in pairs:
            rest = _times(rest, other, 0, base**factor)
        made: Terms = {rest: value_ * base**constant}
        for _ in range(degree):
            more: Terms = {}
            for each, share in made.items():
                _add(more, {each: share}, fmpq(constant))
                for other, factor in pairs:
                    _add(more, {_times(each, other, 1, fmpq(1)): share}, fmpq(factor))
            made = more
            work.count(len(made))
        _add(found, made, fmpq(1))
    work.count(len(found))
    return found


def _add(total: Terms, terms: Terms, factor: fmpq) -> None:
    for key, value in terms.items():
        together = total.get(key, fmpq(0)) + factor * value
        if together == 0:
            total.pop(key, None)
        else:
            total[key] = together


def _put(form: Whole, node: int, value: Whole) -> Whole:
    """A form with another in the place of a noise."""
    own = dict(form[0]).get(node, 0)
    return _combined(form, value, own, {node}) if own else form


def _minus(left: Whole, right: Whole, less: int) -> Whole:
    pairs, constant = _combined(left, right, -1, set())
    return pairs, constant - less


def _combined(left: Whole, right: Whole, times: int, without: set[int]) -> Whole:
    """One form plus so many times another; of the first one some noises are left out."""
    factors = {node: factor for node, factor in left[0] if node not in without}
    for node, factor in right[0]:
        factors[node] = factors.get(node, 0) + times * factor
    return tuple(sorted((node, factor) for node, factor in factors.items() if factor)), left[1] + times * right[1]
