"""A few neighbouring data sets of a function whose data are numbers without end: what one of them refutes is refuted.

Of infinitely many data sets some are run: all entries at one level, which is 0, an end of the range or a number that the program speaks of,
and their neighbours at the edge of the relation: in a few patterns, and along the change that moves sums of data
furthest (`linear_releases`).  Nothing is proved by them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import chain, combinations, islice
from math import isqrt
from typing import Any, TypeAlias

from privproof.compiling.differing import differing_by_assignment, differs
from privproof.compiling.linear_releases import find_worst_change
from privproof.errors import LanguageError
from privproof.exact import fraction
from privproof.language.inputs import NORMS, Input, is_near
from privproof.language.mechanism import Mechanism
from privproof.language.syntax import Constant, Operation
from privproof.language.walking import reads, statements, within
from privproof.scenarios.program_questions import is_truncated

Data: TypeAlias = "dict[str, Any]"
"""The arguments of one run, by name: values, and tuples for lists."""

_LEVELS = 4
"""Levels that are tried: each is run with all its neighbours."""
_LEVELS_OF_ENDS = 16
"""The same beside truncated noise: three constants have nine sums and differences, and one of these is where a test becomes certain."""
_DECIDING = ("<", "<=", ">", ">=", "==", "!=", "min", "max", "abs", "//", "%")
"""Operations by which the level of data tells more than their changes do."""
_PAIRED = 4
"""Up to so many entries any two of them change together, too."""
_ROOTS = 10**6
"""A root that is no fraction is rounded to a multiple of the inverse of this."""


def spoken_constants(mechanism: Mechanism) -> list[Fraction]:
    """The numbers that a program speaks of."""
    found: dict[Fraction, None] = {}
    for statement in statements(mechanism.translated.body):
        for expression in reads(statement):
            for part in within(expression):
                if isinstance(part, Constant) and type(part.value) in (int, Fraction):
                    found.setdefault(Fraction(str(part.value)))
    for value in mechanism.parameters.values():
        if type(value) in (int, Fraction):
            found.setdefault(Fraction(value))
    return list(found)


def root_part(count: int) -> Fraction:
    """A fraction near 1/sqrt(count), and not above.

    >>> root_part(4), root_part(2)
    (Fraction(1, 2), Fraction(353553, 500000))
    """
    root = isqrt(count)
    return Fraction(1, root) if root * root == count else Fraction(isqrt(_ROOTS**2 // count), _ROOTS)


def sampled_pairs(mechanism: Mechanism, size: int | None) -> list[tuple[Data, Data]]:
    """Some data sets of a size, each with some neighbours of its."""
    relation = mechanism.neighbours
    most = _LEVELS
    try:
        constants = [Fraction(1), *spoken_constants(mechanism)] if _decides(mechanism) else []
        if constants and is_truncated(mechanism):
            constants, most = [*_ends(constants), *constants], _LEVELS_OF_ENDS
    except LanguageError:
        constants = [Fraction(1)]
    entries: list[tuple[str, Input]] = []
    for name, declared in mechanism.inputs.items():
        length = (declared.size or size or 0) if declared.shape == "list" else 1
        entries += [(name, declared)] * length
    private = [k for k, (_, declared) in enumerate(entries) if not declared.public]
    found: list[tuple[Data, Data]] = []
    furthest = find_worst_change(mechanism, size)
    levels = islice(dict.fromkeys((Fraction(0), *reversed(constants))), most)
    for level in levels:
        base = tuple(_nearest(declared, level) for _, declared in entries)
        patterns = _changes(str(relation), [entries[k][1] for k in private])
        for change in patterns if furthest is None else chain((furthest,), patterns):
            moved = list(base)
            for k, by in zip(private, change, strict=True):
                moved[k] = _moved(entries[k][1], base[k], by)
            one, other = (_data(mechanism.inputs, entries, values) for values in (base, moved))
            if are_near(mechanism, one, other) and (one, other) not in found:
                found.append((one, other))
    return found


def _ends(constants: Sequence[Fraction]) -> list[Fraction]:
    """Sums and differences of constants: where noise of a bound just reaches a threshold, and a test becomes certain."""
    return [sign * one + other for one in constants for other in constants for sign in (1, -1)]


def _decides(mechanism: Mechanism) -> bool:
    """Whether a program compares data or noisy numbers, so that it matters at which level its data are."""
    body = mechanism.translated.body
    high = differing_by_assignment(body, mechanism)
    return any(
        isinstance(part, Operation) and part.name in _DECIDING and differs(part, high, mechanism)
        for statement in statements(body)
        for expression in reads(statement)
        for part in within(expression)
    )


def are_near(mechanism: Mechanism, left: Mapping[str, Any], right: Mapping[str, Any]) -> bool:
    """Whether two data sets are neighbours, by a relation that has a name and keeps lengths."""
    relation = mechanism.neighbours
    changes: list[tuple[Input, Any, Any]] = []
    for name, declared in mechanism.inputs.items():
        one, other = ((side[name],) if declared.shape == "value" else side[name] for side in (left, right))
        if len(one) != len(other):
            return False
        changes += [(declared, a, b) for a, b in zip(one, other, strict=True) if (type(a), a) != (type(b), b)]
    if not changes or any(declared.public for declared, _, _ in changes):
        return False
    if relation in NORMS:
        bound = changes[0][0].within
        return bound is not None and is_near(str(relation), [Fraction(b) - Fraction(a) for _, a, b in changes], bound)
    numbers = [(d, a, b) for d, a, b in changes if d.within is not None]
    if any(abs(Fraction(b) - Fraction(a)) > fraction(d.within) for d, a, b in numbers if d.within is not None):
        return False
    if relation == "one":
        return len(changes) == 1
    if relation == "monotone":
        return len(numbers) == len(changes) and len({a < b for _, a, b in numbers}) == 1
    return relation == "each"


def _changes(relation: str, declared: Sequence[Input]) -> Iterator[tuple[Fraction, ...]]:
    """Changes of all entries at the edge of a relation, in a few patterns."""
    count = len(declared)
    most = [Fraction(1) if each.within is None else fraction(each.within) for each in declared]
    alone = [tuple(by if k == place else Fraction(0) for k, by in enumerate(most)) for place in {0, count - 1} if count]
    if relation not in ("one", "l1") and count > 1:
        part = root_part(count) if relation == "l2" else Fraction(1)
        yield tuple(part * by for by in most)
        if relation != "monotone":
            yield tuple(part * by * (-1) ** k for k, by in enumerate(most))
        for some in combinations(range(count), 2) if 2 < count <= _PAIRED else ():
            part = root_part(2) if relation == "l2" else Fraction(1)
            yield tuple(part * by if k in some else Fraction(0) for k, by in enumerate(most))
    for change in alone:
        yield change
        yield tuple(-by for by in change)


def _nearest(declared: Input, level: Fraction) -> Any:
    """The value of an input that is nearest to a number."""
    if declared.within is None:
        return (declared.values or (0,))[0]
    low, high = (None if end is None else fraction(end) for end in (declared.low, declared.high))
    value = level if low is None else max(low, level)
    value = value if high is None else min(high, value)
    if not declared.real and value.denominator != 1:
        value = Fraction(value.numerator // value.denominator)
    return int(value) if value.denominator == 1 else value


def _moved(declared: Input, value: Any, by: Fraction) -> Any:
    """A value that has changed, as far as its range allows, and the other way where it allows more there."""
    if declared.within is None:
        values = declared.values or (value,)
        return values[-1] if by else value
    ends = (_nearest(declared, Fraction(value) + change) for change in (by, -by))
    return max(ends, key=lambda end: abs(Fraction(end) - Fraction(value)))


def _data(inputs: Mapping[str, Input], entries: Sequence[tuple[str, Input]], values: Sequence[Any]) -> Data:
    result: Data = {}
    for name, declared in inputs.items():
        own = tuple(value for (of, _), value in zip(entries, values, strict=True) if of == name)
        result[name] = own if declared.shape == "list" else own[0]
    return result
