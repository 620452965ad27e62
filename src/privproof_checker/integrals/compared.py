"""Comparisons of integers with discrete Gaussian and geometric noise: their probability, between two numbers.

Everything is counted in units of ``2^-bits``.  The probabilities of single values are rounded down, and values whose probability is rounded
to 0 are left out; sums of products are rounded down again.  Whatever the comparisons are, what they lack is then at most all that the laws
lack of 1, and one unit for each value and comparison.  Each integer is compared with constants, and with others in pairs that form no
circle.  Integers are taken away one after the other, each compared with one other at most: for every value v of that one it
leaves behind the sum of its own masses over the values that are allowed beside v.
"""

from __future__ import annotations

from functools import lru_cache
from itertools import accumulate
from math import lcm

from flint import arb

from privproof_checker.integrals.whole import one_law
from privproof_checker.numbers import Rational
from privproof_checker.numbers.balls import precision
from privproof_checker.outcomes import refuse
from privproof_checker.programs.open_trees import Linear

_MOST_VALUES = 200_000
"""Values of one integer; beyond, it is refused."""
_PLACE = "question.trees"


@lru_cache(maxsize=4096)
def whole_probability(laws: tuple[tuple[str, Rational], ...], forms: tuple[Linear, ...], bits: int) -> arb:
    """The probability that all forms are at least 0."""
    mentioned = sorted({j for form in forms for j, _ in form.factors})
    weights: dict[int, dict[int, int]] = {}
    lacking = 0
    for j in mentioned:
        side = _side(*laws[j], bits)
        weights[j] = {x: side[abs(x)] for x in range(1 - len(side), len(side))}
        lacking += (1 << bits) - sum(weights[j].values())
    pairs: dict[frozenset[int], list[dict[int, int]]] = {}
    for form in forms:
        whole = lcm(int(form.constant.q), *(int(c.q) for _, c in form.factors))
        made = {j: int((c * whole).p) for j, c in form.factors}
        constant = int((form.constant * whole).p)
        if not made and constant < 0:
            return arb(0)
        if len(made) == 1:
            [(j, c)] = made.items()
            weights[j] = {x: w for x, w in weights[j].items() if c * x + constant >= 0}
        elif len(made) == 2:
            pairs.setdefault(frozenset(made), []).append({**made, -1: constant})
        elif len(made) > 2:
            refuse("three integers are compared at once", _PLACE)
    while pairs:
        alone = [j for j in mentioned if sum(j in pair for pair in pairs) == 1]
        if not alone:
            refuse("integers are compared in a circle", _PLACE)
        [pair] = [each for each in pairs if alone[0] in each]
        gone, [other] = alone[0], pair - {alone[0]}
        lacking += len(weights[other])
        weights[other] = _combine_masses(weights.pop(gone), weights[other], gone, other, pairs.pop(pair), bits)
        mentioned.remove(gone)
    total = 1 << bits
    for j in mentioned:
        total = total * sum(weights[j].values()) >> bits
        lacking += 1
    with precision(bits):
        return (arb(total) + arb(0.5, 0.5) * lacking) / arb(1 << bits)


def _combine_masses(
    mine: dict[int, int], theirs: dict[int, int], gone: int, other: int, tests: list[dict[int, int]], bits: int
) -> dict[int, int]:
    """The masses of one integer, each times what another has where the tests between them hold."""
    if not mine:
        return {}
    low = min(mine)
    running = [0, *accumulate(mine.values())]  # the values follow one another
    found = {}
    for v, weight in theirs.items():
        start, end = low, low + len(mine)
        for test in tests:
            factor, need = test[gone], -test[other] * v - test[-1]  # factor * x >= need
            if factor > 0:
                start = max(start, -(-need // factor))
            else:
                end = min(end, need // factor + 1)
        if start < end:
            found[v] = weight * (running[end - low] - running[start - low]) >> bits
    return _without_gaps(found)


def _without_gaps(masses: dict[int, int]) -> dict[int, int]:
    """Masses of all integers from the first to the last."""
    return {x: masses.get(x, 0) for x in range(min(masses), max(masses) + 1)} if masses else {}


def _side(kind: str, number: Rational, bits: int) -> list[int]:
    """Lower bounds of the probabilities of 0, 1, 2, ..., up to where they are rounded to 0."""
    if kind == "discrete_gaussian":
        return one_law(number, bits)
    mass = (1 - number) / (1 + number) * (1 << bits)
    found: list[int] = []
    while mass >= 1 and len(found) <= _MOST_VALUES:
        found.append(int(mass.floor()))
        mass = Rational(int((mass * number * (1 << bits)).floor()), 1 << bits)
    if len(found) > _MOST_VALUES:
        refuse("geometric noise that is too wide is compared with discrete Gaussian noise", _PLACE)
    return found
