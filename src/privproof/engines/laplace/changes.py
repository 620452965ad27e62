"""Neighbouring lists of records that are worth trying: short ones, in which one record changes, or is there on one side only.

Corners and linear programs are for numbers that move; a record is one of those declared.  Tried are the values at the ends of their
range, those at which the program's own constants make a difference, and a few between, beside equal records of which there are none, one or
several: what depends on a count is reached by so many of them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fractions import Fraction
from itertools import islice, permutations, product
from typing import Any

from privproof.compiling.sampled import spoken_constants
from privproof.exact import fraction
from privproof.language.inputs import ADD_REMOVE, Input
from privproof.language.mechanism import Mechanism
from privproof.language.row import Row

_FEW = 10
"""Up to so many different records are tried; of more, those at the ends and at the program's constants."""
_PARTS = 4
"""So many values of a field are tried, together with those of the others."""
_BESIDE = 3
"""So many different records stand beside the one that changes, each in a list of nothing else."""
_MOST = 120
"""Pairs of lists that are tried at one length; what is not tried is not refuted, and never proved by it."""
NO_INPUTS: Mapping[str, Input] = {}
_FAR = 1000
"""How far a number without a bound is from those that the program speaks of: far enough for what grows with it to show."""


def summed_alone(mechanism: Mechanism) -> bool:
    """Whether neighbours are looked for among lists of records: some have no distance, or lengths differ."""
    private = [declared for declared in mechanism.inputs.values() if not declared.public]
    return mechanism.neighbours == ADD_REMOVE or any(declared.within is None for declared in private)


def changed_lists(
    mechanism: Mechanism, size: int | None, public: Mapping[str, Any], few: Mapping[str, Input] = NO_INPUTS
) -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
    """Neighbouring data of a size, under ``add-remove`` of that size and one less; each pair in both orders.

    Args:
        mechanism: the mechanism.
        size: the size.
        public: the public inputs.
        few: inputs of which some values stand for all.
    """
    constants = spoken_constants(mechanism)
    listed = [name for name, declared in mechanism.inputs.items() if declared.public and declared.shape == "list"]
    if mechanism.neighbours == ADD_REMOVE and any(mechanism.inputs[name].size is None for name in listed):
        return  # the lists of one data set have one length, and so no neighbour beside a public list is shorter
    for name in listed:
        declared = mechanism.inputs[name]
        public = {**public, name: tried_values(declared, constants)[:1] * (declared.size or size or 1)}
    private = {name: few.get(name, declared) for name, declared in mechanism.inputs.items() if not declared.public}
    some = {name: tried_values(declared, constants) for name, declared in private.items()}
    found = (
        pair
        for name in private
        for beside in some[name][:_BESIDE]
        for pair in _pairs(name, some, beside, private, size, lengths=mechanism.neighbours == ADD_REMOVE)
    )
    seen: list[Any] = []
    for one, other in islice(found, _MOST):
        if (one, other) not in seen:
            seen += [(one, other), (other, one)]
            for left, right in ((one, other), (other, one)):
                yield {**public, **left}, {**public, **right}


def _pairs(
    name: str,
    some: Mapping[str, list[Any]],
    beside: Any,
    private: Mapping[str, Input],
    size: int | None,
    *,
    lengths: bool,
) -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
    """Data that differ in one entry of one input."""
    base: dict[str, Any] = {}
    for each, declared in private.items():
        length = declared.size or size or 1
        first = beside if each == name else some[each][0]
        base[each] = first if declared.shape == "value" else [first] * length
    declared = private[name]
    if declared.shape == "value":
        for one, other in permutations(some[name], 2):
            if _close(declared, one, other):
                yield {**base, name: one}, {**base, name: other}
        return
    rest = base[name][1:]
    if lengths:
        for one in some[name]:
            yield {**base, name: [*rest, one]}, {**base, name: rest}
        return
    for one, other in permutations(some[name], 2):
        if _close(declared, one, other):
            yield {**base, name: [*rest, one]}, {**base, name: [*rest, other]}


def _close(declared: Input, one: Any, other: Any) -> bool:
    return declared.within is None or abs(other - one) <= declared.within


def tried_values(declared: Input, constants: list[Fraction]) -> list[Any]:
    """Some values of an input, the most different ones first."""
    if declared.fields:
        parts = [tried_values(each, constants)[:_PARTS] for _, each in declared.fields]
        names = [name for name, _ in declared.fields]
        made = [Row(**dict(zip(names, each, strict=True))) for each in islice(product(*parts), _FEW * _FEW)]
        return [made[0], *reversed(made[1:])][:_FEW]
    if declared.values is not None:
        listed = list(declared.values)
        if len(listed) <= _FEW:
            return [listed[0], listed[-1], *listed[1:-1]] if len(listed) > 1 else listed
        known = [v for v in listed if isinstance(v, int | Fraction) and any(abs(v - c) <= 1 for c in constants)]
        return list(dict.fromkeys((listed[0], listed[-1], *known, *listed[1 : _FEW - 1])))[:_FEW]
    low = None if declared.low is None else fraction(declared.low)
    high = None if declared.high is None else fraction(declared.high)
    near = [value for c in (*constants, Fraction(0)) for value in (c, c - 1, c + 1)]
    ends = [low if low is not None else min(near) - _FAR, high if high is not None else max(near) + _FAR]
    inside = [v for v in (*ends, *near) if (low is None or v >= low) and (high is None or v <= high)]
    whole = inside if declared.real else [v for v in inside if v.denominator == 1]
    return [int(v) if v.denominator == 1 else v for v in dict.fromkeys(whole)][:_FEW]
