"""The tokens of a formula's text, and the numbers in it; every complaint has a caret under its place."""

from __future__ import annotations

from typing import NoReturn

from privproof.errors import FormulaError, PrivproofError
from privproof.exact import Rational, rational
from privproof.exact.parsing import Cursor, Lexicon
from privproof.logic.formulas.formula_syntax import Count, StepBound

_LEXICON = Lexicon(
    quoted=r"\"(?:[^\"\\\n]|\\.)*\"",
    number=r"[0-9]+(?:\.(?!\.)[0-9]*)?(?:[eE][+-]?[0-9]+)?|\.[0-9]+",
    name=r"[A-Za-z_{][A-Za-z0-9_{}']*",
    mark=r"<->|<=>|->|=>|<=|>=|!=|==|&&|\|\||\.\.|=\?|[-+*/^!&|()\[\]{},:=<>?~]",
)
_LONGEST = 20_000
"""A text with more characters is refused before it is read."""
LARGEST_COUNT = 10**6
"""The largest number of steps in a bound; beyond, the formula is refused."""


def place_of(text: str, name: str) -> int:
    """Where a name stands in a text, as a word of its own or in quotation marks; at the beginning where it does not.

    >>> place_of("P>=1/2 [ F P2 ]", "P"), place_of("P>0 [ F out & \\"out\\" ]", "out"), place_of("true", "out3")
    (0, 8, 0)
    """
    found = (token.start for token in _LEXICON.tokens(text) if token.text in (name, f'"{name}"'))
    return next(found, 0)


class FormulaTokens(Cursor):
    """A text as tokens, read from left to right.

    Attributes:
        scope: the variables of the families around the coming token: whole numbers, or names.
    """

    def __init__(self, text: str) -> None:
        self.scope: dict[str, type] = {}
        if len(text) > _LONGEST:
            raise FormulaError(
                "formula", f"the formula has {len(text)} characters, more than {_LONGEST}", place="formula"
            )
        super().__init__(text, _LEXICON.tokens(text))
        if token := self.unreadable():
            what = "an unclosed quotation mark" if token.text == '"' else repr(token.text)
            self.complain(f"cannot read {what}", token.start)

    def complain(self, message: str, at: int, *, hint: str = "") -> NoReturn:
        """Raise the complaint about a position."""
        raise FormulaError.under(self.text, at, message, hint=hint)

    def found(self) -> str:
        """The coming token, for messages; ``.5`` is called ``0.5``."""
        zero = "0" if self.token.kind == "number" and self.token.text.startswith(".") else ""
        return "the end" if self.at_end else repr(zero + self.token.text)

    def expected(self, what: str, *, hint: str = "") -> NoReturn:
        """Raise the complaint that something else was expected here."""
        self.complain(f"expected {what} and found {self.found()}", self.token.start, hint=hint)

    def number(self) -> Rational:
        """An exact number."""
        start = end = self.token.start
        while self.token.kind == "number" or self.token.text in ("/", "-", "+"):
            end = self.take().end
        if start == end:
            self.expected("a number", hint="for instance 1/2 or 0.5")
        text = self.text[start:end]
        try:
            return rational("0" + text if text.startswith(".") else text)
        except PrivproofError as error:
            self.complain(error.message, start, hint=error.hint)

    def whole_number(self) -> int:
        """A whole number."""
        token = self.token
        if token.kind != "number" or not token.text.isdigit() or len(token.text) > 9:
            self.expected("a whole number")
        return int(self.take().text)

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
            return Count(0, ((self.take().text, 1),))
        if token.kind == "name":
            known = ", ".join(name for name, kind in self.scope.items() if kind is int)
            self.expected(
                "a number of steps",
                hint=f"variables here: {known}" if known else "a variable is bound by a family: all k in 0..9: ...",
            )
        value = self.steps(1)
        while self.accept("*"):
            if self.token.kind == "name" and self.scope.get(self.token.text) is int:
                return Count(0, ((self.take().text, value),))
            value = self.steps(value)
        return Count(value)

    def steps(self, factor: int) -> int:
        """A whole number times a factor, not too large."""
        start = self.token.start
        value = factor * self.whole_number()
        if value > LARGEST_COUNT:
            self.complain(f"{value} is beyond {LARGEST_COUNT} steps", start)
        return value

    def bound(self) -> StepBound:
        """What stands right behind a temporal operator: ``<=k``, ``<k``, ``>=k``, ``=k`` or ``[a,b]``; nothing for no bound."""
        place = self.token.start
        if self.accept("["):
            low = self.linear()
            self.expect(",")
            high = self.linear()
            self.expect("]")
            if not low.terms and low.constant < 0:
                self.complain(f"[{low},{high}] begins {-low.constant} steps before the first", place)
            if not (low.terms or high.terms) and low.constant > high.constant:
                self.complain(f"[{low},{high}] has no step", place)
            return StepBound(low, high)
        sign = self.accept("<=", "<", ">=", ">", "=")
        if sign is None:
            return StepBound()
        count = self.count()
        if sign.text == "<":
            if not count.terms and count.constant == 0:
                self.complain("<0 has no step", place)
            return StepBound(Count(), Count(count.constant - 1, count.terms))
        if sign.text == ">":
            return StepBound(Count(count.constant + 1, count.terms))
        return {"<=": StepBound(Count(), count), ">=": StepBound(count), "=": StepBound(count, count)}[sign.text]
