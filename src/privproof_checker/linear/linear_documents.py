"""Refutations of conditions in certificates, and who is asked for those that a certificate lacks.

A refutation is ``{"atoms": [[constant, [variable, coefficient], ...], ...], "lemmas": [[[literal, multiplier], ...], ...],
"steps": [[literal, ...], ...]}``; variables and literals are the numbers that `normal` gives them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TypeAlias

from privproof_checker.linear.linear_normal import LinearForm
from privproof_checker.linear.linear_rule import Refutation
from privproof_checker.numbers import Rational
from privproof_checker.outcomes import Limits, refuse, within
from privproof_checker.plain_documents import a_list, a_number, an_integer, only_members

_MEMBERS = ("atoms", "lemmas", "steps")
_MOST = 1_000_000
"""So many numbers may a refutation have; beyond, it is refused."""

Supplier: TypeAlias = Callable[[Sequence[str]], Sequence["dict[str, object] | None"]]
"""From conditions to refutations of their negations; None where there is none."""
_SUPPLIER: ContextVar[Supplier | None] = ContextVar("supplier", default=None)


@contextmanager
def supply_refutations(supplier: Supplier) -> Iterator[None]:
    """Ask for refutations that a certificate lacks; they are written into it, and read from there like all others."""
    token = _SUPPLIER.set(supplier)
    try:
        yield
    finally:
        _SUPPLIER.reset(token)


def complete(evidence: dict[str, object], conditions: Sequence[str]) -> None:
    """Write refutations into evidence, if somebody supplies them."""
    supplier = _SUPPLIER.get()
    if supplier is not None:
        evidence["multipliers"] = list(supplier(conditions))


def without_refutation(conditions: Sequence[str]) -> int | None:
    """The first condition for which nobody supplies a refutation, where somebody supplies them at all."""
    supplier = _SUPPLIER.get()
    found = () if supplier is None else supplier(conditions)
    return next((i for i, each in enumerate(found) if each is None), None)


def read_refutation(given: dict[str, object], place: str, limits: Limits) -> Refutation:
    """The refutation in a document."""
    only_members(given, _MEMBERS, place)
    counted = 0
    found: dict[str, list[list[object]]] = {}
    for name in _MEMBERS:
        found[name] = [a_list(each, f"{place}.{name}") for each in a_list(given.get(name, []), f"{place}.{name}")]
        counted += sum(1 + len(each) for each in found[name])
        within(counted, _MOST, "numbers of a refutation", place)
    return Refutation(
        tuple(_form(each, f"{place}.atoms", limits) for each in found["atoms"]),
        tuple(tuple(_pair(each, f"{place}.lemmas", limits) for each in listed) for listed in found["lemmas"]),
        tuple(tuple(an_integer(each, f"{place}.steps") for each in listed) for listed in found["steps"]),
    )


def _form(given: list[object], place: str, limits: Limits) -> LinearForm:
    if not given:
        refuse("a form has a constant", place)
    parts = dict(_pair(each, place, limits) for each in given[1:])
    if len(parts) != len(given) - 1 or any(x == 0 for x in parts.values()):
        refuse("a form has every variable once, and none of them 0 times", place)
    return LinearForm(tuple(sorted(parts.items())), a_number(given[0], place, limits))


def _pair(given: object, place: str, limits: Limits) -> tuple[int, Rational]:
    pair = a_list(given, place)
    if len(pair) != 2:
        refuse("expected a number and how many times it is taken", place)
    return an_integer(pair[0], place), a_number(pair[1], place, limits)
