"""Probabilities of comparisons between independent integers with discrete Gaussian or geometric noise, in balls.

The comparisons of two noises are the edges of a forest.  Each noise is followed as far as its mass counts; from the leaves of a tree to its
root, every noise tells its parent, for each value of that, how likely it and all behind it agree: a difference of two running sums.
What lies beyond the values that are followed is added as a ball.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate
from math import ceil, isqrt, lcm, log, log1p
from typing import TypeAlias

from flint import arb, ctx

from privproof.errors import LanguageError
from privproof.exact import Rational

Noise: TypeAlias = "tuple[str, Rational]"
"""``discrete_gaussian`` and its variance, or ``geometric`` and its alpha."""

_MOST_VALUES = 100_000
"""Values of one noise that are followed; beyond, sums take seconds, and are refused."""


@dataclass(frozen=True)
class _Comparison:
    """``own * x + other * y + constant >= 0`` in integers, seen from the noise x."""

    own: int
    other: int
    constant: int

    def ends(self, y: int, low: int, high: int) -> tuple[int, int]:
        """Where x lies for a value of y, within two ends."""
        rest = -(self.other * y + self.constant)
        if self.own > 0:
            return max(low, -(-rest // self.own)), high
        return low, min(high, rest // self.own)


def grid_probability(noises: Sequence[Noise], forms: Sequence[tuple[Mapping[int, Rational], Rational]]) -> arb:
    """The probability that all forms are at least 0: of each the factors of the noises, by their numbers, and the constant.

    Raises:
        LanguageError: three noises are compared at once or in a circle, or they are too wide.
    """
    ends: dict[int, list[tuple[int, int]]] = {}
    edges: dict[tuple[int, int], list[tuple[int, int, int]]] = {}
    for factors, constant in forms:
        kept = sorted((atom, factor) for atom, factor in factors.items() if factor != 0)
        scale = lcm(*(int(each.q) for each in (constant, *(factor for _, factor in kept))))
        whole = [int((factor * scale).p) for _, factor in kept]
        rest = int((constant * scale).p)
        if not kept:
            if rest < 0:
                return arb(0)
        elif len(kept) == 1:
            ends.setdefault(kept[0][0], []).append((whole[0], rest))
        elif len(kept) == 2:
            edges.setdefault((kept[0][0], kept[1][0]), []).append((whole[0], whole[1], rest))
        else:
            raise LanguageError("integral", f"{len(kept)} noisy integers are compared at once", hint="compare two")
    return _Forest(noises, ends, edges).probability()


class _Forest:
    def __init__(
        self,
        noises: Sequence[Noise],
        ends: dict[int, list[tuple[int, int]]],
        edges: dict[tuple[int, int], list[tuple[int, int, int]]],
    ) -> None:
        self.noises, self.edges = noises, edges
        self.near: dict[int, list[int]] = {atom: [] for atom in ends}
        for first, second in edges:
            self.near.setdefault(first, []).append(second)
            self.near.setdefault(second, []).append(first)
        self.ends = ends
        self.seen: set[int] = set()

    def probability(self) -> arb:
        """The product over the trees."""
        result, missing = arb(1), arb(0)
        for root in sorted(self.near):
            if root in self.seen:
                continue
            _, values = self._below(root, None)
            result *= sum(values, arb(0))
        for atom in self.near:
            missing += _masses_and_tail(*self.noises[atom], ctx.prec)[1]
        return result + arb(0.5, 0.5) * missing

    def _below(self, atom: int, parent: int | None) -> tuple[int, list[arb]]:
        """For every value of a noise its probability times that of everything behind it; the first value."""
        if atom in self.seen:
            raise LanguageError("integral", "noisy integers are compared in a circle", hint="fewer comparisons")
        self.seen.add(atom)
        masses, _ = _masses_and_tail(*self.noises[atom], ctx.prec)
        reach = len(masses) - 1
        low, high = -reach, reach
        for factor, constant in self.ends.get(atom, ()):
            low, high = _Comparison(factor, 0, constant).ends(0, low, high)
        values = [masses[abs(x)] for x in range(low, high + 1)]
        for other in self.near[atom]:
            if other == parent:
                continue
            first, told = self._below(other, atom)
            sums = [arb(0), *accumulate(told)]
            last = first + len(told) - 1
            given = self._seen_from(other, atom)
            for place in range(len(values)):
                start, end = first, last
                for comparison in given:
                    start, end = comparison.ends(low + place, start, end)
                values[place] *= sums[end - first + 1] - sums[start - first] if start <= end else arb(0)
        return low, values

    def _seen_from(self, atom: int, parent: int) -> list[_Comparison]:
        if (atom, parent) in self.edges:
            return [_Comparison(a, b, c) for a, b, c in self.edges[atom, parent]]
        return [_Comparison(b, a, c) for a, b, c in self.edges[parent, atom]]


@lru_cache(maxsize=256)
def _masses_and_tail(kind: str, parameter: Rational, bits: int) -> tuple[list[arb], arb]:
    """The probabilities of 0, 1, 2, ... as far as they count, and that of all that lies beyond, on both sides."""
    if kind == "geometric":
        reach = ceil(bits * log(2) / -log1p(-float(1 - parameter)))
    else:
        reach = isqrt(ceil(2 * float(parameter) * bits * log(2))) + 1
    if reach > _MOST_VALUES:
        raise LanguageError("integral", f"{kind} noise of {parameter} is compared", hint="less noise")
    if kind == "geometric":
        alpha = arb(parameter)
        masses = [(1 - alpha) / (1 + alpha) * alpha**x for x in range(reach + 1)]
        return masses, 2 * alpha ** (reach + 1) / (1 + alpha)
    weights = [arb(-Rational(x * x) / (2 * parameter)).exp() for x in range(reach + 1)]
    x = reach + 1
    beyond = 2 * arb(-Rational(x * x) / (2 * parameter)).exp() / (1 - arb(-Rational(2 * x + 1) / (2 * parameter)).exp())
    total = 2 * sum(weights[1:], weights[0] / 2) + arb(0.5, 0.5) * beyond
    return [weight / total for weight in weights], beyond / total
