"""Finite probability distributions by name, checked: every entry in [0, 1], the sum exactly one."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from difflib import get_close_matches
from types import MappingProxyType
from typing import TypeAlias

from privproof.errors import ModelError, PrivproofError
from privproof.exact import ZERO, Number, Rational, rational, show

Distribution: TypeAlias = Mapping[str, Rational]


def distribution(
    entries: Mapping[str, Number],
    *,
    among: Collection[str],
    what: str,
    place: str,
    error: type[PrivproofError] = ModelError,
) -> Distribution:
    """The distribution that the entries denote, without its zeros.

    Args:
        entries: name to probability.
        among: the names that exist.
        what: what a name is ("state", "observation"), for messages.
        place: where the entries stand, for messages.
        error: the class of a complaint.

    >>> dict(distribution({"a": "1/3", "b": "2/3", "c": 0}, among=("a", "b", "c"), what="state", place="left"))
    {'a': 1/3, 'b': 2/3}
    >>> distribution({"a": "1/3", "b": "1/2"}, among=("a", "b"), what="state", place="left")
    Traceback (most recent call last):
    ...
    privproof.errors.ModelError: left: the probabilities sum to 5/6 ≈ 0.833333 instead of 1: 1/6 ≈ 0.166667 is missing [row-sum]
      hint: for instance a: 1/2
    """
    result: dict[str, Rational] = {}
    for name, number in entries.items():
        known_name(name, among=among, what=what, place=place, error=error)
        try:
            probability = rational(number)
        except PrivproofError as problem:
            raise problem.at(f"{place}.{name}") from None
        if not 0 <= probability <= 1:
            raise error(
                "probability",
                f"the probability {show(probability)} is outside [0, 1]",
                place=f"{place}.{name}",
                hint="a probability is a number from 0 to 1",
            )
        if probability != 0:
            result[name] = probability
    total = sum(result.values(), ZERO)
    if total != 1:
        gap = 1 - total
        hint = "give at least one entry"
        if result:
            first = next((n for n, p in result.items() if 0 <= p + gap <= 1), None)
            hint = f"for instance {first}: {result[first] + gap}" if first else "divide every entry by the sum"
        kind = "is missing" if gap > 0 else "is too much"
        raise error(
            "row-sum",
            f"the probabilities sum to {show(total)} instead of 1: {show(abs(gap))} {kind}",
            place=place,
            hint=hint,
        )
    return MappingProxyType(result)


def known_name(
    name: str, *, among: Collection[str], what: str, place: str, error: type[PrivproofError] = ModelError
) -> None:
    """Complain unless the name exists, with the nearest names that do."""
    if name in among:
        return
    near = get_close_matches(str(name), [str(known) for known in among], n=1)
    listed = ", ".join(list(among)[:8]) + (", ..." if len(among) > 8 else "")
    hint = f"did you mean {near[0]!r}?" if near else f"known: {listed}"
    raise error("unknown-name", f"unknown {what} {name!r}", place=place, hint=hint, name=str(name))


def distinct_names(names: Collection[str], *, what: str, place: str) -> tuple[str, ...]:
    """The names as a tuple; complain about none, an empty one, or one given twice."""
    if isinstance(names, str):
        raise ModelError("names", f"{names!r} is one text, not a list of names", place=place)
    result = tuple(names)
    if not result:
        raise ModelError("names", f"there is no {what}", place=place, hint=f"name at least one {what}")
    seen: set[str] = set()
    for name in result:
        if not isinstance(name, str) or not name:
            raise ModelError("names", f"{name!r} is not a name", place=place, hint="a name is a non-empty text")
        if name in seen:
            raise ModelError("names", f"the {what} {name!r} is named twice", place=place, hint="names are distinct")
        seen.add(name)
    return result
