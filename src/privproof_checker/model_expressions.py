"""Regular expressions over observations, by derivatives (Brzozowski, "Derivatives of regular expressions", JACM
1964).

The derivative of a language L by a symbol a is ``{w : a w in L}``.  It is computed on the expression:

    d(0) = d(1) = 0             d(S) = 1 if a is in S, else 0            (S: one symbol out of a set)
    d(x | y) = d(x) | d(y)      d(x*) = d(x+) = d(x) x*
    d(x y)   = d(x) y           and also d(y), if x matches the empty word.

Up to associativity, commutativity and idempotence of ``|``, which the constructors below build in, an expression has
finitely many derivatives (Theorem 5.2 there), so they are the locations of a deterministic automaton. Observations
that no compared word contains are taken out of the expression first; then a derivative other than 0 always matches
some word.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass
from typing import TypeAlias

from privproof_checker.outcomes import Limits, refuse, within
from privproof_checker.text_reading import TextReader


@dataclass(frozen=True)
class ObservationSymbol:
    """One symbol out of a set."""

    among: frozenset[str]


@dataclass(frozen=True)
class Sequence:
    """One after the other; the empty sequence matches the empty word alone."""

    parts: tuple[Expression, ...]


@dataclass(frozen=True)
class Choice:
    """Any of them; the empty choice matches nothing."""

    parts: frozenset[Expression]


@dataclass(frozen=True)
class Star:
    """Any number of times."""

    inner: Expression


@dataclass(frozen=True)
class Plus:
    """At least once."""

    inner: Expression


Expression: TypeAlias = "ObservationSymbol | Sequence | Choice | Star | Plus"

NOTHING = Choice(frozenset())
EMPTY_WORD = Sequence(())


def one_of(among: Collection[str]) -> Expression:
    """One symbol out of a set; nothing if the set is empty."""
    return ObservationSymbol(frozenset(among)) if among else NOTHING


def in_sequence(*parts: Expression) -> Expression:
    """The parts one after the other."""
    flat: list[Expression] = []
    for part in parts:
        if part == NOTHING:
            return NOTHING
        flat.extend(part.parts if isinstance(part, Sequence) else (part,))
    return flat[0] if len(flat) == 1 else Sequence(tuple(flat))


def either(*parts: Expression) -> Expression:
    """Any of the parts."""
    flat: set[Expression] = set()
    for part in parts:
        flat |= part.parts if isinstance(part, Choice) else {part}
    return next(iter(flat)) if len(flat) == 1 else Choice(frozenset(flat))


def repeat_expression(inner: Expression) -> Expression:
    """The inner expression any number of times."""
    if inner in (NOTHING, EMPTY_WORD):
        return EMPTY_WORD
    return inner if isinstance(inner, Star) else Star(inner)


def at_least_once(inner: Expression) -> Expression:
    """The inner expression once or more."""
    return inner if inner in (NOTHING, EMPTY_WORD) or isinstance(inner, Star | Plus) else Plus(inner)


def matches_empty(expression: Expression) -> bool:
    """Whether the empty word matches."""
    match expression:
        case ObservationSymbol():
            return False
        case Sequence(parts):
            return all(matches_empty(part) for part in parts)
        case Choice(choices):
            return any(matches_empty(part) for part in choices)
        case Star():
            return True
        case Plus(inner):
            return matches_empty(inner)


def derivative(expression: Expression, symbol: str) -> Expression:
    """What may follow the symbol.

    >>> a, b = one_of("a"), one_of("b")
    >>> derivative(in_sequence(a, repeat_expression(b)), "a") == repeat_expression(b)
    True
    """
    match expression:
        case ObservationSymbol(among):
            return EMPTY_WORD if symbol in among else NOTHING
        case Sequence(parts):
            found: list[Expression] = []
            for i, part in enumerate(parts):
                found.append(in_sequence(derivative(part, symbol), *parts[i + 1 :]))
                if not matches_empty(part):
                    break
            return either(*found)
        case Choice(choices):
            return either(*(derivative(part, symbol) for part in choices))
        case Star(inner):
            return in_sequence(derivative(inner, symbol), expression)
        case Plus(inner):
            return in_sequence(derivative(inner, symbol), repeat_expression(inner))


_TOKEN = re.compile(r"\s*(?:'[^']*'|[()|*+?.]|[^\s()|*+?.']+)")
_AFTER_A_PART = ("", ")", "|", "*", "+", "?")
_DEEPEST = 30
"""Parentheses nested more deeply than this are refused, long before the recursion of the reader is too deep for Python."""


class _WordsReader(TextReader):
    """Reads an expression: names side by side, ``|``, ``*``, ``+``, ``?``, ``.`` for any observation, parentheses."""

    def __init__(
        self, text: str, alphabet: Collection[str], without: Collection[str], place: str, limits: Limits
    ) -> None:
        super().__init__(text, _TOKEN, limits.expression, _DEEPEST, place)
        self.alphabet = frozenset(alphabet)
        self.without = frozenset(without)

    def choice(self) -> Expression:
        parts = [self.sequence()]
        while self.accept("|"):
            parts.append(self.sequence())
        return either(*parts)

    def sequence(self) -> Expression:
        parts: list[Expression] = []
        while self.coming not in _AFTER_A_PART:
            parts.append(self.repetition())
        return in_sequence(*parts)

    def repetition(self) -> Expression:
        result = self.atom()
        while sign := self.accept("*", "+", "?"):
            if sign == "*":
                result = repeat_expression(result)
            elif sign == "+":
                result = at_least_once(result)
            else:
                result = either(result, EMPTY_WORD)
        return result

    def atom(self) -> Expression:
        if self.accept("("):
            return self.closed(self.choice)
        if self.accept("."):
            return one_of(self.alphabet - self.without)
        name = self.take().strip("'")
        if name not in self.alphabet:
            refuse(f"unknown observation {name!r}", self.place)
        return one_of(frozenset((name,)) - self.without)


class Languages:
    """The derivatives met so far, by number, so that a location is a number."""

    def __init__(self, limits: Limits) -> None:
        self.limits = limits
        self.expressions: list[Expression] = []
        self.numbers: dict[Expression, int] = {}
        self.moves: dict[tuple[int, str], int | None] = {}
        self.accepts: list[bool] = []

    def number(self, expression: Expression) -> int:
        """The number of an expression."""
        if expression not in self.numbers:
            count = len(self.expressions) + 1
            within(count, self.limits.derivatives, "derivatives of an expression", "question.scenario")
            self.numbers[expression] = len(self.expressions)
            self.expressions.append(expression)
            self.accepts.append(matches_empty(expression))
        return self.numbers[expression]

    def after(self, language: int, symbol: str) -> int | None:
        """The number of the derivative; None where no word of the language goes on with the symbol."""
        if (language, symbol) not in self.moves:
            result = derivative(self.expressions[language], symbol)
            self.moves[language, symbol] = None if result == NOTHING else self.number(result)
        return self.moves[language, symbol]


def read_expression(
    text: str | None, alphabet: Collection[str], without: Collection[str], place: str, limits: Limits
) -> Expression:
    """The words that a restriction leaves."""
    if text is None:
        return repeat_expression(one_of(frozenset(alphabet) - frozenset(without)))
    reader = _WordsReader(text, alphabet, without, place, limits)
    return reader.whole(reader.choice)
