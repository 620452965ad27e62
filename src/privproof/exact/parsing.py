"""Reading small languages: a lexicon cuts a text into tokens with places, a cursor goes through them, and `climb` reads operators.

Budgets, polynomials, affine expressions, regular expressions over observations, formulas, the guards of stream automata and PRISM
models are read with these.  Each reader says in its own words what is wrong: what cannot be cut is a token of its own kind, and a
cursor leaves it to its reader how to complain.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import NamedTuple, NoReturn, TypeVar

UNREADABLE = "unreadable"
"""The kind of a character with which no token begins."""

END = "end"
"""The kind of the token behind the last one."""


class Token(NamedTuple):
    """A token: its kind, its text as it is written, and where it stands."""

    kind: str
    text: str
    start: int
    end: int


class Lexicon:
    """The kinds of tokens of a language: a regular expression for each, without capturing groups; the first that matches counts.

    Args:
        space: the character class of what may stand between tokens.
        kinds: the regular expressions.

    >>> lexicon = Lexicon(number="[0-9]+", name="[a-z]+", sign="[*]")
    >>> [(token.kind, token.text, token.start) for token in lexicon.tokens("12 * a ! ")]
    [('number', '12', 0), ('sign', '*', 3), ('name', 'a', 5), ('unreadable', '!', 7)]
    """

    def __init__(self, *, space: str = r"\s", **kinds: str) -> None:
        self._kinds = (*kinds, UNREADABLE)
        table = "|".join(f"({pattern})" for pattern in kinds.values())
        self._pattern = re.compile(rf"{space}*+(?:{table}|((?s:.))|\Z)")

    def tokens(self, text: str, begin: int = 0, end: int | None = None) -> Iterator[Token]:
        """The tokens of a text, or of a stretch of it; together with the space between them they are the whole."""
        for match in self._pattern.finditer(text, begin, len(text) if end is None else end):
            group = match.lastindex
            if group is not None:
                yield Token(self._kinds[group - 1], match[group], match.start(group), match.end())


class Cursor(ABC):
    """A place among tokens: looks at what comes, and takes it.

    Signs and words are told by their text; quoted tokens keep their quotation marks, so that they are neither.

    Attributes:
        text: the text that the tokens are of.
        token: the token that comes; at the end, and ever after, one of the kind ``end`` with no text.

    >>> class Reader(Cursor):
    ...     def expected(self, what):
    ...         raise ValueError(f"expected {what} at {self.token.start}")
    >>> reader = Reader("f(x", Lexicon(name="[a-z]", sign="[()]").tokens("f(x"))
    >>> reader.take().text, reader.sees("x", ahead=1), reader.accept("[", "(")
    ('f', True, Token(kind='sign', text='(', start=1, end=2))
    >>> reader.take().text, reader.at_end
    ('x', True)
    >>> reader.expect(")")
    Traceback (most recent call last):
    ...
    ValueError: expected ')' at 3
    """

    def __init__(self, text: str, tokens: Iterable[Token], *, begin: int = 0) -> None:
        self.text = text
        self._tokens = list(tokens)
        self._at = 0
        last = self._tokens[-1].end if self._tokens else begin
        self._tokens.append(Token(END, "", last, last))
        self.token = self._tokens[0]

    def unreadable(self) -> Token | None:
        """The first token that cannot be read."""
        return next((token for token in self._tokens if token.kind == UNREADABLE), None)

    @property
    def at_end(self) -> bool:
        """Whether nothing more comes."""
        return self.token.kind == END

    def take(self) -> Token:
        """The coming token, taken; the end stays where it is."""
        token = self.token
        if token.kind != END:
            self._at += 1
            self.token = self._tokens[self._at]
        return token

    def sees(self, text: str, *, ahead: int = 0) -> bool:
        """Whether a sign or a word comes, or stands so many tokens behind the coming one."""
        at = self._at + ahead
        return at < len(self._tokens) and self._tokens[at].text == text

    def ends(self, *, ahead: int = 0) -> bool:
        """Whether nothing comes, or nothing stands so many tokens behind the coming one."""
        return self._at + ahead >= len(self._tokens) - 1

    def accept(self, *texts: str) -> Token | None:
        """The coming token, taken, if it is one of these."""
        return self.take() if self.token.text in texts else None

    def expect(self, text: str) -> Token:
        """The coming token, taken; it must be this one."""
        if self.token.text != text:
            self.expected(repr(text))
        return self.take()

    @abstractmethod
    def expected(self, what: str) -> NoReturn:
        """Raise the complaint that something else should come; every reader has its own."""


_T = TypeVar("_T")


def climb(
    cursor: Cursor,
    levels: Mapping[str, int],
    operand: Callable[[], _T],
    join: Callable[[_T, Token, _T], _T],
) -> _T:
    """What operands and binary operators denote, joined as soon as they are read; operators of a level group to the left.

    Args:
        cursor: where the first operand begins.
        levels: how tightly each operator binds, from 1.
        operand: reads an operand.
        join: what two operands with an operator between them denote.

    >>> class Reader(Cursor):
    ...     def expected(self, what):
    ...         raise ValueError(f"expected {what}")
    >>> reader = Reader("7 - 2 * 3 - 1", Lexicon(number="[0-9]", sign="[-*]").tokens("7 - 2 * 3 - 1"))
    >>> climb(reader, {"-": 1, "*": 2}, lambda: reader.take().text, lambda a, sign, b: f"({a}{sign.text}{b})")
    '((7-(2*3))-1)'
    """
    waiting: list[tuple[_T, Token, int]] = []
    value = operand()
    while True:
        level = levels.get(cursor.token.text, 0)
        while waiting and waiting[-1][2] >= level:
            left, sign, _ = waiting.pop()
            value = join(left, sign, value)
        if level == 0:
            return value
        waiting.append((value, cursor.take(), level))
        value = operand()
