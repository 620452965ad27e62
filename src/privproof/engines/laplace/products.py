"""Scales that are multiples of several public numbers: symbols for their products, and the exchange of costs between counters.

Noise of scale ``4*M*N`` shifted by 2 adds 1/2 to the counter of M N.  That N rounds of M steps cost no more than 1/2 is not linear in the
turns of both loops.  But where a round begins, its cost can be *paid in advance*: 1/2 is added to the counter of N, and taken away, M
times, from that of M N; so a round brings the counter of M N back to 0 at most, and N rounds add N/2 to the other.  An exchange leaves
the cost as it is, whatever is exchanged where; it is worth it at the entry of a loop that draws such noise inside of another loop.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations, permutations, product
from math import prod
from typing import TypeAlias

from privproof.compiling.rewriting import Unsupported
from privproof.compiling.scales import monomial
from privproof.engines.laplace.paths import Path
from privproof.engines.laplace.values import Term
from privproof.exact import ZERO, Rational, fraction
from privproof.language.inputs import Input
from privproof.language.syntax import Expression

_MOST_FACTORS = 4
"""A product in an expression has a symbol if it is of no more numbers, as in the checker: all its parts have symbols, too."""

Names: TypeAlias = tuple[str, ...]
"""Public numbers, sorted, with repetition."""


@dataclass(frozen=True)
class Exchange:
    """At the end of some paths `times` times `by` of the counter of `names` become `times` of the counter of the others.

    Attributes:
        names: the public numbers of the counter that is taken from.
        by: one of them.
        times: how many.
        between: the cuts between which the paths lead.
        most: what the other counter holds at most in the end, as a multiple of its product.
    """

    names: Names
    by: str
    times: Fraction
    between: frozenset[tuple[int, int]]
    most: Fraction

    @property
    def others(self) -> Names:
        """The names that are left."""
        at = self.names.index(self.by)
        return (*self.names[:at], *self.names[at + 1 :])

    def applies(self, path: Path) -> bool:
        """Whether it is made at the end of a path."""
        return (path.source, path.target) in self.between


def product_name(names: Names) -> str:
    """The symbol of a product; of one name, itself."""
    return " * ".join(names)


def product_in(expression: Expression, public: Names, lists: frozenset[str]) -> tuple[int, Names] | None:
    """An expression as a whole number times a product of at least two public numbers; None where it is none."""
    try:
        factor, powers = monomial(expression, public, lists)
    except Unsupported:
        return None
    names = tuple(sorted(name for name, power in powers.items() for _ in range(power)))
    if factor.q != 1 or not 2 <= len(names) <= _MOST_FACTORS or any(power < 0 for power in powers.values()):
        return None
    return int(factor.p), names


def with_parts(products: Iterator[Names]) -> tuple[Names, ...]:
    """Products of at least two numbers, and all products of some of them: each comes after its parts."""
    parts = (part for names in products for k in range(2, len(names) + 1) for part in combinations(names, k))
    return tuple(sorted(set(parts), key=lambda names: (len(names), names)))


def values_of(products: Sequence[Names], values: Mapping[str, int]) -> dict[str, int]:
    """The values of products."""
    return {product_name(names): prod(values[name] for name in names) for names in products}


def product_facts(
    names: Names, fixed: Mapping[str, Term], ranges: Mapping[str, tuple[int | None, int | None]]
) -> list[Term]:
    """What holds of a product: for every pair of bounds of its parts the product of the distances from them has a sign."""
    whole, found = fixed[product_name(names)], []
    for last in sorted(set(names)):
        at = names.index(last)
        first = (*names[:at], *names[at + 1 :])
        a, b = fixed[product_name(first)], fixed[last]
        for (i, x), (j, y) in product(enumerate(_range_of(first, ranges)), enumerate(ranges[last])):
            if x is not None and y is not None:
                linear = y * a + x * b - x * y
                found.append(whole >= linear if i == j else whole <= linear)
    return found


def _range_of(names: Names, ranges: Mapping[str, tuple[int | None, int | None]]) -> tuple[int | None, int | None]:
    """The bounds of a product; of several numbers where none of them is below 0."""
    if len(names) == 1:
        return ranges[names[0]]
    lows, highs = zip(*(ranges[name] for name in names), strict=True)
    if any(low is None or low < 0 for low in lows):
        return None, None
    return prod(lows), None if None in highs else prod(highs)


def whole_range(declared: Input) -> tuple[int | None, int | None]:
    """The least and the largest whole number of an input."""
    low, high = declared.low, declared.high
    return None if low is None else int(low.ceil()), None if high is None else int(high.floor())


def exchanges(
    groups: Sequence[Names], paths: Sequence[Path], spent: Mapping[Names, Rational]
) -> Iterator[tuple[tuple[Exchange, ...], dict[Names, Rational]]]:
    """Ways to exchange the costs of products, each with what every counter then spends; none at first where no loop is inside another.

    Args:
        groups: the counters; those of at least two public numbers are exchanged.
        paths: all paths between cuts.
        spent: what each counter spends, as a multiple of its product.
    """
    products = [group for group in groups if len(group) > 1]
    options = [list(_ways(group, paths)) for group in products]
    plain = ((), dict(spent))
    if not any(options):
        yield plain
        return
    for chosen in product(*([*each, ()] if each else [()] for each in options)):
        left, made = dict(spent), []
        for group, way in zip(products, chosen, strict=True):
            names = group
            for by, between in way:
                rate = left.pop(names, ZERO)
                step = Exchange(names, by, fraction(rate), between, Fraction(0))
                left[names] = ZERO
                names = step.others
                left[names] = left.get(names, ZERO) + rate
                made.append(step)
        yield tuple(_with_most(step, left) for step in made), left


def _with_most(step: Exchange, left: Mapping[Names, Rational]) -> Exchange:
    most = left[step.others]
    return Exchange(step.names, step.by, step.times, step.between, fraction(most))


def _ways(group: Names, paths: Sequence[Path]) -> Iterator[tuple[tuple[str, frozenset[tuple[int, int]]], ...]]:
    """Ways to exchange one counter: one name at the entry of the loop that draws the noise, the next at that of the loop around it."""
    edges = {(path.source, path.target) for path in paths if path.target is not None}
    entries = {(s, t) for s, t in edges if s < t and s in _reached(t, edges)}
    inner = {
        path.source
        for path in paths
        if any(drawn.group == group for drawn in path.drawn) and path.target is not None and path.source == path.target
    }
    levels: list[frozenset[tuple[int, int]]] = []
    while here := frozenset((s, t) for s, t in entries if t in inner):
        if here in levels:
            break
        levels.append(here)
        inner = {s for s, _ in here}
    for depth in range(min(len(levels), len(group) - 1), 0, -1):
        for names in dict.fromkeys(permutations(group, depth)):
            yield tuple(zip(names, levels, strict=False))


def _reached(start: int, edges: set[tuple[int, int]]) -> set[int]:
    """The cuts that paths lead to from a cut, one or more."""
    found: set[int] = set()
    waiting = [start]
    while waiting:
        here = waiting.pop()
        for source, target in edges:
            if source == here and target not in found:
                found.add(target)
                waiting.append(target)
    return found
