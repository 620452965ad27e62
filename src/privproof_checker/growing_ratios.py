"""Losses that grow with the list: a proof with a rate, and a family of words that attains it, for ever.

**Theorem.** Let ``P_k`` and ``Q_k`` be the probabilities of the words ``u v^k w``, where v leads back to where it begins, and let the
matrices of v have m rows.  If ``P_k = c r^n Q_k`` (n the number of inputs) for 2m consecutive k, then for all later k.

*Proof.* ``P_k = x A^k y`` satisfies the linear recurrence of the characteristic polynomial of A (Cayley and Hamilton), of degree m, and
``c r^n Q_k``, which is computed by the matrices of the right side times r, one of degree m as well.  The difference satisfies
the recurrence of the product of both polynomials, of order 2m and with leading coefficient 1, so 2m zeros in a row are followed
by zeros alone. QED
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from privproof_checker.claims import as_rational
from privproof_checker.machines import TransducerSystem
from privproof_checker.outcomes import Limits, refuse, within
from privproof_checker.plain_documents import an_integer, an_object, only_members
from privproof_checker.systems import (
    Edge,
    Question,
    Start,
    columns,
    matching_starts,
    on_common_denominator,
    path_edges,
    product,
    read_final,
    total,
)
from privproof_checker.word_probabilities import read_word

Words: TypeAlias = "tuple[tuple[Edge, ...], tuple[Edge, ...], tuple[Edge, ...]]"
"""The edges of u, of v and of w."""

_PLACE = "growth.family"
_MOST_SUPPORTS = 5_000
"""Sets of states that are followed until one comes up again."""


@dataclass(frozen=True)
class Family:
    """The lengths of the lists for which a claim is attained: from `least` on, in steps of `step`."""

    least: int
    step: int


def attained_for_ever(question: Question, value: object, limits: Limits) -> Family:
    """Check a family of words that attains the claim of a question; refuses one that does not."""
    family = an_object(value, _PLACE)
    only_members(family, ("left", "right", "before", "repeated", "after", "ending", "first"), _PLACE)
    machine = question.system
    if not isinstance(machine, TransducerSystem) or not machine.open_ended or question.claim.delta != 0:
        refuse("a family is about lists of every length, without delta", _PLACE)
    if question.claim.epsilon.bound is None:
        refuse("e^epsilon is no rational number, and cannot be attained", "growth.epsilon")
    start = matching_starts(question, family, _PLACE, limits)[0]
    before, repeated, after = (
        read_word(family.get(name), f"{_PLACE}.{name}", limits) for name in ("before", "repeated", "after")
    )
    first = an_integer(family.get("first"), f"{_PLACE}.first")
    count = 2 * len(question.states)
    within(first + count, limits.horizon, "repetitions", f"{_PLACE}.first")
    if first < 0 or not repeated:
        refuse("something is repeated, at least 0 times", _PLACE)
    u = path_edges(question, start.location, before, f"{_PLACE}.before")
    at = u[-1].target if u else start.location
    v = path_edges(question, at, repeated, f"{_PLACE}.repeated")
    if v[-1].target != at:
        refuse("the repeated word does not lead back to where it begins", f"{_PLACE}.repeated")
    w = path_edges(question, at, after, f"{_PLACE}.after")
    end = w[-1].target if w else at
    counted = read_final(question, end, family, _PLACE).counted
    _equal(question, start, (u, v, w), counted, first, count)
    _possible(start, (u, v, w), counted, first)
    inputs = [sum(letter.left is not None for letter in word) for word in (before, repeated, after)]
    return Family(inputs[0] + first * inputs[1] + inputs[2], inputs[1])


def _equal(
    question: Question,
    start: Start,
    words: Words,
    counted: frozenset[int],
    first: int,
    count: int,
) -> None:
    """Refuse unless both sides are equal for so many consecutive members."""
    u, v, w = words
    _, (left, right) = on_common_denominator(start.left, start.right)
    for edge in u:
        left, right = product(left, edge.left), product(right, edge.right)
    for k in range(first + count):
        if k >= first:
            one, other = dict(left), dict(right)
            for edge in w:
                one, other = product(one, edge.left), product(other, edge.right)
            if question.claim.sign(as_rational(total(one, counted)), as_rational(total(other, counted))) != 0:
                refuse(f"with {k} repetitions the word does not attain the claim", _PLACE)
        for edge in v:
            left, right = product(left, edge.left), product(right, edge.right)


def _possible(start: Start, words: Words, counted: frozenset[int], first: int) -> None:
    """Refuse unless the left side can produce every member of the family."""
    u, v, w = words
    support = _after(frozenset(i for i, mass in start.left if mass != 0), u)
    seen: set[frozenset[int]] = set()
    k = 0
    while support not in seen:
        if k >= first:
            seen.add(support)
            within(len(seen), _MOST_SUPPORTS, "sets of states", _PLACE)
            if not _after(support, w) & counted:
                refuse(f"with {k} repetitions the word is impossible", _PLACE)
        support = _after(support, v)
        k += 1


def _after(support: frozenset[int], edges: tuple[Edge, ...]) -> frozenset[int]:
    for edge in edges:
        support = frozenset(j for i in support for j in columns(edge.left, i))
    return support
