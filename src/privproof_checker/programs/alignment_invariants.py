"""Invariants: terms of SMT-LIB in a certificate, read against a short list of functions and written anew.

Allowed are ``and or not => = < <= > >= + - * / ite to_real to_int let true false``, numerals, decimals, and the symbols
of the state, with or without bars.  Products have one factor that is not a constant at most, and divisors are constants
other than 0.  Whatever else occurs is refused.  The term is typed and rewritten over our own symbols.

    >>> read_invariant("(<= (/ |cost N| 2) (to_real |N|))",
    ...     {"cost N": StateSymbol("cost N", "s0", REAL), "N": StateSymbol("N", "s1", INT)}, "here")
    '(<= (* (/ 1.0 2.0) s0) (to_real s1))'
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from privproof_checker.numbers import Rational, rational
from privproof_checker.outcomes import refuse, within
from privproof_checker.programs.terms import BOOL, INT, REAL, StateSymbol, number, real

_TOKEN = re.compile(r"\s*(?:(?P<sign>[()])|\|(?P<quoted>[^|\\]*)\||(?P<simple>[A-Za-z0-9~!@$%^&*_+=<>.?/-]+))")
_NUMERAL = re.compile(r"(?:0|[1-9][0-9]*)(?:\.[0-9]+)?")
_DEEPEST = 150
"""An invariant nested more deeply than this is refused, before the recursion over it is too deep for Python."""
_MOST_TOKENS = 200_000
"""An invariant may have so many parentheses, names and numbers; beyond, it is refused."""


@dataclass(frozen=True)
class _Atom:
    text: str
    quoted: bool


@dataclass(frozen=True)
class _InvariantTerm:
    """A term in our own words, with its sort, and its value if it is a constant number."""

    text: str
    sort: str
    constant: Rational | None = None


def read_invariant(text: str, symbols: Mapping[str, StateSymbol], place: str) -> str:
    """The formula in our own symbols."""
    outer = {name: _InvariantTerm(symbol.own, symbol.sort) for name, symbol in symbols.items()}
    term = _Writer(place).term(_parse_term(text, place), outer)
    if term.sort != BOOL:
        refuse("an invariant is a formula", place)
    return term.text


def _parse_term(text: str, place: str) -> object:
    """The S-expression in a text: nested lists of atoms."""
    stack: list[list[object]] = [[]]
    at, count, end = 0, 0, len(text.rstrip())
    while at < end:
        match = _TOKEN.match(text, at)
        if match is None:
            refuse(f"unexpected character {text[at : at + 20].strip()[:1]!r}", place)
        at = match.end()
        count += 1
        within(count, _MOST_TOKENS, "tokens", place)
        if match["sign"] == "(":
            stack.append([])
            within(len(stack), _DEEPEST, "levels of nesting", place)
        elif match["sign"] == ")":
            if len(stack) == 1:
                refuse("a closing parenthesis too many", place)
            done = stack.pop()
            stack[-1].append(done)
        elif match["quoted"] is not None:
            stack[-1].append(_Atom(match["quoted"], quoted=True))
        else:
            stack[-1].append(_Atom(match["simple"], quoted=False))
    if len(stack) != 1 or len(stack[0]) != 1:
        refuse("expected one term", place)
    return stack[0][0]


class _Writer:
    def __init__(self, place: str) -> None:
        self.place = place
        self._bound = 0

    def term(self, given: object, scope: Mapping[str, _InvariantTerm]) -> _InvariantTerm:
        if isinstance(given, _Atom):
            return self._atom(given, scope)
        assert isinstance(given, list)
        if not given or not isinstance(given[0], _Atom) or given[0].quoted:
            refuse("a term starts with the name of a function", self.place)
        head = given[0].text
        if head == "let":
            return self._let(given, scope)
        operands = [self.term(item, scope) for item in given[1:]]
        if not operands:
            refuse(f"{head[:40]} of nothing", self.place)
        if head in ("and", "or", "not", "=>"):
            return self._logic(head, operands)
        if head in ("=", "<", "<=", ">", ">="):
            return self._comparison(head, operands)
        if head == "ite":
            return self._choice(operands)
        if head in ("+", "-", "*", "/", "to_real", "to_int"):
            return self._arithmetic(head, operands)
        refuse(f"{head[:40]!r} is no function of invariants", self.place)

    def _atom(self, atom: _Atom, scope: Mapping[str, _InvariantTerm]) -> _InvariantTerm:
        if not atom.quoted and _NUMERAL.fullmatch(atom.text):
            within(len(atom.text), 10_000, "digits of a number", self.place)
            value, sort = rational(atom.text), REAL if "." in atom.text else INT
            return _InvariantTerm(number(value, sort), sort, value)
        if not atom.quoted and atom.text in ("true", "false"):
            return _InvariantTerm(atom.text, BOOL)
        if atom.text not in scope:
            refuse(f"unknown symbol {atom.text[:60]!r}", self.place)
        return scope[atom.text]

    def _let(self, given: list[object], scope: Mapping[str, _InvariantTerm]) -> _InvariantTerm:
        if len(given) != 3 or not isinstance(given[1], list) or not given[1]:
            refuse("let has bindings and a term", self.place)
        inner, written = dict(scope), []
        named = set()
        for binding in given[1]:
            if not isinstance(binding, list) or len(binding) != 2 or not isinstance(binding[0], _Atom):
                refuse("a binding is a symbol and a term", self.place)
            name, value = binding[0].text, self.term(binding[1], scope)
            if name in named or (not binding[0].quoted and (name in ("true", "false") or _NUMERAL.fullmatch(name))):
                refuse(f"{name[:40]!r} cannot be bound here", self.place)
            named.add(name)
            own = f"b{self._bound}"
            self._bound += 1
            inner[name] = _InvariantTerm(own, value.sort, value.constant)
            written.append(f"({own} {value.text})")
        body = self.term(given[2], inner)
        return _InvariantTerm(f"(let ({' '.join(written)}) {body.text})", body.sort, body.constant)

    def _logic(self, head: str, operands: list[_InvariantTerm]) -> _InvariantTerm:
        if any(each.sort != BOOL for each in operands):
            refuse(f"{head} takes formulas", self.place)
        if (head == "not" and len(operands) != 1) or (head == "=>" and len(operands) < 2):
            refuse(f"{head} with {len(operands)} operands", self.place)
        return _InvariantTerm(f"({head} {' '.join(each.text for each in operands)})", BOOL)

    def _comparison(self, head: str, operands: list[_InvariantTerm]) -> _InvariantTerm:
        if len(operands) < 2:
            refuse(f"{head} with one operand", self.place)
        if head == "=" and all(each.sort == BOOL for each in operands):
            return _InvariantTerm(f"(= {' '.join(each.text for each in operands)})", BOOL)
        _, texts = self._numbers(head, operands)
        return _InvariantTerm(f"({head} {' '.join(texts)})", BOOL)

    def _choice(self, operands: list[_InvariantTerm]) -> _InvariantTerm:
        if len(operands) != 3 or operands[0].sort != BOOL:
            refuse("ite takes a formula and two terms", self.place)
        test, *values = operands
        if all(each.sort == BOOL for each in values):
            return _InvariantTerm(f"(ite {test.text} {values[0].text} {values[1].text})", BOOL)
        sort, texts = self._numbers("ite", values)
        return _InvariantTerm(f"(ite {test.text} {texts[0]} {texts[1]})", sort)

    def _arithmetic(self, head: str, operands: list[_InvariantTerm]) -> _InvariantTerm:
        sort, texts = self._numbers(head, operands)
        constants = [each.constant for each in operands]
        if head in ("to_real", "to_int"):
            if len(operands) != 1:
                refuse(f"{head} has one operand", self.place)
            if head == "to_real":
                return _InvariantTerm(real(texts[0], sort), REAL, constants[0])
            return _InvariantTerm(texts[0] if sort == INT else f"(to_int {texts[0]})", INT)
        if head == "-" and len(operands) == 1:
            return _InvariantTerm(f"(- {texts[0]})", sort, None if constants[0] is None else -constants[0])
        if len(operands) < 2:
            return operands[0] if head in ("+", "*") else refuse(f"{head} with one operand", self.place)
        if head == "/":
            return self._quotient(operands)
        if head == "*":
            return self._product(operands, sort)
        known = [each for each in constants if each is not None]
        value = None
        if len(known) == len(constants):
            value = sum(known[1:], known[0]) if head == "+" else known[0] - sum(known[1:], Rational(0))
        return _InvariantTerm(f"({head} {' '.join(texts)})", sort, value)

    def _quotient(self, operands: list[_InvariantTerm]) -> _InvariantTerm:
        divisor = Rational(1)
        for each in operands[1:]:
            if each.constant is None or each.constant == 0:
                refuse("a divisor is a constant other than 0", self.place)
            divisor *= each.constant
        above = operands[0]
        if above.constant is not None:
            return _InvariantTerm(number(above.constant / divisor, REAL), REAL, above.constant / divisor)
        return _InvariantTerm(f"(* {number(1 / divisor, REAL)} {real(above.text, above.sort)})", REAL)

    def _product(self, operands: list[_InvariantTerm], sort: str) -> _InvariantTerm:
        factor, others = Rational(1), []
        for each in operands:
            if each.constant is None:
                others.append(each)
            else:
                factor *= each.constant
        if len(others) > 1:
            refuse("a product has two factors that are not constants", self.place)
        if not others:
            return _InvariantTerm(number(factor, sort), sort, factor)
        other = others[0].text if sort == INT else real(others[0].text, others[0].sort)
        return _InvariantTerm(f"(* {number(factor, sort)} {other})", sort)

    def _numbers(self, head: str, operands: list[_InvariantTerm]) -> tuple[str, list[str]]:
        """The common sort of numbers, and their terms in it."""
        sorts = {each.sort for each in operands}
        if BOOL in sorts:
            refuse(f"{head} takes numbers", self.place)
        if sorts == {INT}:
            return INT, [each.text for each in operands]
        return REAL, [real(each.text, each.sort) for each in operands]
