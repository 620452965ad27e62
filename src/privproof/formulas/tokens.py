"""The tokens of a formula's text, and the numbers in it; every complaint has a caret under its place."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import NoReturn, cast

from privproof.errors import FormulaError, PrivproofError
from privproof.exact import Rational, rational
from privproof.formulas.syntax import Bound, Count

_TOKEN = re.compile(
    r"\s*(?:(?P<quoted>\"(?:[^\"\\\n]|\\.)*\")|(?P<number>[0-9]+(?:\.(?!\.)[0-9]*)?(?:[eE][+-]?[0-9]+)?)"
    r"|(?P<name>[A-Za-z_{][A-Za-z0-9_{}']*)|(?P<mark><->|<=>|->|=>|<=|>=|!=|==|&&|\|\||\.\.|=\?|[-+*/^!&|()\[\]{},:=<>?~]))"
)
_LONGEST = 20_000
"""A text with more characters is refused before it is read."""
_LARGEST_COUNT = 10**6
"""The largest number of steps in a bound; beyond, the formula is refused."""


@dataclass(frozen=True)
class Token:
    """A token: its kind, its text, and where it stands."""

    kind: str
    text: str
    start: int
    end: int


class Tokens:
    """A text as tokens, read from left to right.

    Attributes:
        text: the text.
        at: which token comes next.
        scope: the variables of the families around that token: whole numbers, or names.
    """

    def __init__(self, text: str) -> None:
        self.text = text
        self.scope: dict[str, type] = {}
        if len(text) > _LONGEST:
            raise FormulaError(
                "formula", f"the formula has {len(text)} characters, more than {_LONGEST}", place="formula"
            )
        self.tokens: list[Token] = []
        at = 0
        while text[at:].strip():
            match = _TOKEN.match(text, at)
            if match is None:
                start = at + len(text[at:]) - len(text[at:].lstrip())
                small = re.match(r"\.[0-9]+", text[start:])
                if small is not None:
                    self.tokens.append(Token("number", "0" + small[0], start, start + len(small[0])))
                    at = start + len(small[0])
                    continue
                what = "an unclosed quotation mark" if text[start] == '"' else repr(text[start])
                self.complain(f"cannot read {what}", start)
            kind = cast(str, match.lastgroup)
            self.tokens.append(Token(kind, match[kind], match.start(kind), match.end(kind)))
            at = match.end()
        self.tokens.append(Token("end", "", len(text.rstrip()), len(text.rstrip())))
        self.at = 0

    def complain(self, message: str, at: int, *, hint: str = "") -> NoReturn:
        """Raise the complaint about a position."""
        raise FormulaError.under(self.text, at, message, hint=hint)

    @property
    def token(self) -> Token:
        """The token that comes next."""
        return self.tokens[self.at]

    def found(self) -> str:
        """The next token, for messages."""
        return repr(self.token.text) if self.token.kind != "end" else "the end"

    def accept(self, *texts: str) -> Token | None:
        """The next token, taken, if it is one of these."""
        token = self.token
        if token.kind in ("mark", "name") and token.text in texts:
            self.at += 1
            return token
        return None

    def expect(self, text: str) -> Token:
        """The next token, taken; it must be this one."""
        token = self.accept(text)
        if token is None:
            self.complain(f"expected {text!r} and found {self.found()}", self.token.start)
        return token

    def number(self) -> Rational:
        """An exact number."""
        start = self.token.start
        begin = self.at
        while self.token.kind == "number" or self.token.text in ("/", "-", "+"):
            self.at += 1
        text = self.text[start : self.tokens[self.at - 1].end].strip() if self.at > begin else ""
        if not text:
            self.complain(f"expected a number and found {self.found()}", start, hint="for instance 1/2 or 0.5")
        try:
            return rational("0" + text if text.startswith(".") else text)
        except PrivproofError as error:
            self.complain(error.message, start, hint=error.hint)

    def whole_number(self) -> int:
        """A whole number."""
        token = self.token
        if token.kind != "number" or not token.text.isdigit() or len(token.text) > 9:
            self.complain(f"expected a whole number and found {self.found()}", token.start)
        self.at += 1
        return int(token.text)

    def count(self) -> Count:
        """A number of steps: a number, a variable of a family, or a linear expression in parentheses."""
        if self.accept("("):
            total = self.linear()
            self.expect(")")
            return total
        return self.term()

    def linear(self) -> Count:
        """Terms joined by signs; small enough in every number."""
        total = Count() if self.token.text == "-" else self.term()
        while True:
            sign = self.accept("+", "-")
            if sign is None:
                return total
            other = self.term()
            factor = 1 if sign.text == "+" else -1
            terms = dict(total.terms)
            for name, times in other.terms:
                terms[name] = terms.get(name, 0) + factor * times
            total = Count(total.constant + factor * other.constant, tuple((n, f) for n, f in terms.items() if f != 0))

    def term(self) -> Count:
        """A number, a variable of a family, or their product."""
        token = self.token
        if token.kind == "name" and self.scope.get(token.text) is int:
            self.at += 1
            return Count(0, ((token.text, 1),))
        if token.kind == "name":
            known = ", ".join(name for name, kind in self.scope.items() if kind is int)
            self.complain(
                f"expected a number of steps and found {self.found()}",
                token.start,
                hint=f"variables here: {known}" if known else "a variable is bound by a family: all k in 0..9: ...",
            )
        value = self.steps(1)
        while self.accept("*"):
            name = self.token
            if name.kind == "name" and self.scope.get(name.text) is int:
                self.at += 1
                return Count(0, ((name.text, value),))
            value = self.steps(value)
        return Count(value)

    def steps(self, factor: int) -> int:
        """A whole number times a factor, not too large."""
        start = self.token.start
        value = factor * self.whole_number()
        if value > _LARGEST_COUNT:
            self.complain(f"{value} is beyond {_LARGEST_COUNT} steps", start)
        return value

    def bound(self) -> Bound:
        """What stands right behind a temporal operator: ``<=k``, ``<k``, ``>=k``, ``=k`` or ``[a,b]``; nothing for no bound."""
        place = self.token.start
        if self.accept("["):
            low = self.linear()
            self.expect(",")
            high = self.linear()
            self.expect("]")
            if not (low.terms or high.terms) and low.constant > high.constant:
                self.complain(f"[{low},{high}] has no step", place)
            return Bound(low, high)
        sign = self.accept("<=", "<", ">=", ">", "=")
        if sign is None:
            return Bound()
        count = self.count()
        if sign.text == "<":
            if not count.terms and count.constant == 0:
                self.complain("<0 has no step", place)
            return Bound(Count(), Count(count.constant - 1, count.terms))
        if sign.text == ">":
            return Bound(Count(count.constant + 1, count.terms))
        return {"<=": Bound(Count(), count), ">=": Bound(count), "=": Bound(count, count)}[sign.text]
