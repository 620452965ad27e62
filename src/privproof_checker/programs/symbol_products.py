"""Products of public integers: symbols for them, what is known of each, and the exchange of costs between counters.

Noise whose scale is a multiple of M and N adds to the counter ``cost M N``, in parts of 1/(M N).  What is asked of it is linear all the
same, in two ways.

*A symbol for the product.*  ``M * N`` is a symbol that keeps its value.  Nothing is known of it but inequalities of McCormick (1976):
``(M - low) (N - low) >= 0``, and so for each pair of declared bounds.  They hold of the product, so that what follows for every
number with these properties follows for the product.

*Exchange.*  Where a path ends, ``times * M`` parts of 1/(M N) may become ``times`` parts of 1/N: the same cost.  The sum of all counters,
each divided by its product, is what the shifts have cost, before and after.  Where M is the size and 0, nothing is drawn with
a scale that is a multiple of it, and the exchange only adds to the sum of the others.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations

from privproof_checker.numbers import ONE, ZERO, Rational
from privproof_checker.outcomes import Limits, refuse, within
from privproof_checker.plain_documents import a_list, a_number, a_text, an_object, only_members
from privproof_checker.programs.instructions import read_group
from privproof_checker.programs.program_expressions import Expression
from privproof_checker.programs.program_inputs import ADD_REMOVE, SIZE, Declared
from privproof_checker.programs.terms import INT, number, plus, times

_MOST_FACTORS = 4
"""A product in an expression has a symbol if it is of at most so many names; of more, nothing is known: all parts have symbols, too."""
_MOST_EXCHANGES = 100
"""A path may exchange costs so many times; beyond, the evidence is refused."""

Range = tuple[Rational | None, Rational | None]
"""The least and the largest value, where there are such."""


@dataclass(frozen=True)
class Exchange:
    """An exchange: `times` times `by` of the counter of `names` become `times` of the counter of the others."""

    names: tuple[str, ...]
    by: str
    times: Rational

    @property
    def others(self) -> tuple[str, ...]:
        """The names that are left."""
        at = self.names.index(self.by)
        return (*self.names[:at], *self.names[at + 1 :])


def product_of(names: tuple[str, ...]) -> str:
    """The symbol of a product; of one name, itself."""
    return " * ".join(names)


def monomial(expression: Expression, declared: Declared) -> tuple[Rational, tuple[str, ...]] | None:
    """An expression as a number times a product of public integers and of `size`, sorted; None where it is something else."""
    if expression.constant is not None:
        return expression.constant, ()
    if expression.head == "variable":
        known = declared.inputs.get(expression.name)
        public = known is not None and (known.shape, known.sort, known.public) == ("value", "int", True)
        return (ONE, (expression.name,)) if public else None
    if expression.head == "length":
        common = declared.relation != ADD_REMOVE and declared.inputs[expression.name].size is None
        return (ONE, (SIZE,)) if common else None
    if expression.head != "*" or expression.sort != "int":
        return None
    parts = [monomial(part, declared) for part in expression.parts]
    factor: Rational = ONE
    names: tuple[str, ...] = ()
    for part in parts:
        if part is None:
            return None
        factor, names = factor * part[0], (*names, *part[1])
    return (factor, tuple(sorted(names))) if len(names) <= _MOST_FACTORS else None


def with_parts(products: Iterator[tuple[str, ...]]) -> tuple[tuple[str, ...], ...]:
    """Products of at least two names, and all products of some of them: each comes after its parts."""
    parts = (part for names in products for k in range(2, len(names) + 1) for part in combinations(names, k))
    return tuple(sorted(set(parts), key=lambda names: (len(names), names)))


def inequalities(names: tuple[str, ...], declared: Declared, own: dict[str, str]) -> Iterator[str]:
    """What is known of a product, whose symbols are `own`: for each pair of bounds that the product of both distances is at least 0."""
    whole = own[product_of(names)]
    for last in sorted(set(names)):
        at = names.index(last)
        first = (*names[:at], *names[at + 1 :])
        a, b = own[product_of(first)], own[last]
        for one, upper in zip(_range(first, declared), (False, True), strict=True):
            for other, above in zip(_range((last,), declared), (False, True), strict=True):
                if one is not None and other is not None:
                    # (a - one) (b - other) is at least 0 where both are bounds from the same side, and at most 0 otherwise
                    linear = plus(times(other, a, INT), times(one, b, INT), number(-one * other, INT))
                    yield f"({'>=' if upper == above else '<='} {whole} {linear})"


def _range(names: tuple[str, ...], declared: Declared) -> Range:
    """Bounds of a product, rounded to integers inwards; of several names where none of them is below 0."""
    ranges = declared.ranges
    low: Rational | None = ONE
    high: Rational | None = ONE
    for name in names:
        least, most = ranges[name]
        if least is None or (len(names) > 1 and least < 0):
            low = None
        else:
            low = None if low is None else low * Rational(least.ceil())
        high = None if high is None or most is None else high * Rational(most.floor())
    return low, high if low is not None or len(names) == 1 else None


def read_exchanges(value: object, declared: Declared, place: str, limits: Limits) -> tuple[Exchange, ...]:
    """The exchanges at the end of a path."""
    listed = a_list(value, place)
    within(len(listed), _MOST_EXCHANGES, "exchanges", place)
    found = []
    for i, item in enumerate(listed):
        here = f"{place}[{i}]"
        given = an_object(item, here)
        only_members(given, ("names", "by", "times"), here)
        names = read_group(given.get("names"), declared, f"{here}.names")
        by = a_text(given.get("by"), f"{here}.by")
        if len(names) < 2 or by not in names:
            refuse("an exchange is by one of at least two names", here)
        rate = a_number(given.get("times"), f"{here}.times", limits)
        if rate < ZERO:
            refuse("an exchange is of a number that is at least 0", f"{here}.times")
        found.append(Exchange(names, by, rate))
    return tuple(found)
