"""Reading small languages: a lexicon cuts a text into tokens with places, a cursor goes through them, and `climb` reads operators.

Budgets, polynomials, affine expressions, regular expressions over observations, formulas, the guards of stream automata and PRISM
models are read with these, their operators by a table of each language.  Each reader says in its own words what is wrong: what cannot
be cut is a token of its own kind, and a cursor leaves it to its reader how to complain.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import ClassVar, Generic, Literal, NamedTuple, NoReturn, TypeVar

UNREADABLE = "unreadable"
"""The kind of a character with which no token begins."""

END = "end"
"""The kind of the token behind the last one."""


_T = TypeVar("_T")


class TextToken(NamedTuple):
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

    def tokens(self, text: str, begin: int = 0, end: int | None = None) -> Iterator[TextToken]:
        """The tokens of a text, or of a stretch of it; together with the space between them they are the whole."""
        for match in self._pattern.finditer(text, begin, len(text) if end is None else end):
            group = match.lastindex
            if group is not None:
                yield TextToken(self._kinds[group - 1], match[group], match.start(group), match.end())


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
    ('f', True, TextToken(kind='sign', text='(', start=1, end=2))
    >>> reader.take().text, reader.at_end
    ('x', True)
    >>> reader.expect(")")
    Traceback (most recent call last):
    ...
    ValueError: expected ')' at 3
    """

    deepest: ClassVar[int] = 100
    """How deep what is read may nest; beyond, it is refused before the recursion over it is too deep for Python."""

    def __init__(self, text: str, tokens: Iterable[TextToken], *, begin: int = 0) -> None:
        self.text = text
        self._tokens = list(tokens)
        self._at = self._depth = 0
        last = self._tokens[-1].end if self._tokens else begin
        self._tokens.append(TextToken(END, "", last, last))
        self.token = self._tokens[0]

    def unreadable(self) -> TextToken | None:
        """The first token that cannot be read."""
        return next((token for token in self._tokens if token.kind == UNREADABLE), None)

    @property
    def at_end(self) -> bool:
        """Whether nothing more comes."""
        return self.token.kind == END

    @property
    def ended(self) -> int:
        """Where the last token that was taken ends."""
        return self._tokens[self._at - 1].end if self._at else 0

    @property
    def place(self) -> tuple[int, int]:
        """Where the cursor is, to come back to."""
        return self._at, self._depth

    @place.setter
    def place(self, place: tuple[int, int]) -> None:
        self._at, self._depth = place
        self.token = self._tokens[self._at]

    def take(self) -> TextToken:
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

    def accept(self, *texts: str) -> TextToken | None:
        """The coming token, taken, if it is one of these."""
        return self.take() if self.token.text in texts else None

    def expect(self, text: str) -> TextToken:
        """The coming token, taken; it must be this one."""
        if self.token.text != text:
            self.expected(repr(text))
        return self.take()

    def read_whole(self, read: Callable[[], _T], *, behind: str = "the end") -> _T:
        """What is read, with nothing behind it."""
        value = read()
        if not self.at_end:
            self.expected(behind)
        return value

    def enter(self) -> None:
        """What comes stands inside of what has come."""
        self._depth += 1
        if self._depth > self.deepest:
            self.too_deep()

    def leave(self) -> None:
        """What was entered ends here."""
        self._depth -= 1

    @contextmanager
    def deeper(self) -> Iterator[None]:
        """Inside, what comes stands inside of what has come."""
        self.enter()
        yield
        self.leave()

    def too_deep(self) -> NoReturn:
        """Raise the complaint that what comes nests too deep."""
        self.expected(f"no more than {self.deepest} parentheses inside each other")

    @abstractmethod
    def expected(self, what: str) -> NoReturn:
        """Raise the complaint that something else should come; every reader has its own."""


class Operator(NamedTuple, Generic[_T]):
    """An operator.

    Attributes:
        level: how tightly it binds, from 1.
        join: what its operands denote, by their signs.
        groups: whether those of a level are joined two by two, from the left or from the right, or as many as stand in a row.
    """

    level: int
    join: Callable[[Sequence[_T], Sequence[TextToken]], _T]
    groups: Literal["left", "right", "together"] = "left"


@dataclass
class _Unfinished(Generic[_T]):
    """Operands with the signs between them, or a sign before its operand, while the last one is read; `least`: how tight that binds."""

    operator: Operator[_T]
    signs: list[TextToken]
    least: int
    operands: list[_T] = field(default_factory=list)
    nested: bool = False


def climb(
    cursor: Cursor,
    operators: Mapping[str, Operator[_T]],
    operand: Callable[[], _T],
    *,
    prefixes: Mapping[str, Operator[_T]] | None = None,
    loosest: int = 1,
) -> _T:
    """What operands and operators denote, joined as soon as they are read.

    What stands to the right of one that groups to the right, or behind a prefix, is inside of it; the cursor counts how deep.

    Args:
        cursor: where the first operand begins.
        operators: those between two operands, by their signs.
        operand: reads an operand.
        prefixes: those before an operand; one takes what binds at least as tightly as itself, and as any operator before it.
        loosest: operators that bind less tightly are not read.

    >>> class Reader(Cursor):
    ...     def expected(self, what):
    ...         raise ValueError(f"expected {what}")
    >>> reader = Reader("7 - 2 * 3 - 1", Lexicon(number="[0-9]", sign="[-*]").tokens("7 - 2 * 3 - 1"))
    >>> minus, times = (Operator(level, lambda parts, signs: f"({signs[0].text.join(parts)})") for level in (1, 2))
    >>> climb(reader, {"-": minus, "*": times}, lambda: reader.take().text)
    '((7-(2*3))-1)'
    """
    waiting: list[_Unfinished[_T]] = []
    while True:
        while prefixes and (prefix := prefixes.get(cursor.token.text)):
            least = max(prefix.level, waiting[-1].least if waiting else loosest)
            waiting.append(_Unfinished(prefix, [cursor.take()], least, nested=True))
            cursor.enter()
        value = operand()
        operator = operators.get(cursor.token.text)
        level = 0 if operator is None or operator.level < loosest else operator.level
        while waiting and level < waiting[-1].least:
            last = waiting[-1]
            last.operands.append(value)
            if last.operator.groups == "together" and last.operator.level == level:
                last.signs.append(cursor.take())
                break
            waiting.pop()
            if last.nested:
                cursor.leave()
            value = last.operator.join(last.operands, last.signs)
        else:
            if operator is None or level == 0:
                return value
            right = operator.groups == "right"
            waiting.append(_Unfinished(operator, [cursor.take()], level if right else level + 1, [value], right))
            if right:
                cursor.enter()


class ArithmeticReader(Cursor, Generic[_T]):
    """Reads ``+ - * / ( )``; what operands are, and what is denoted, is for each reader to say."""

    signs: ClassVar[tuple[str, ...]] = ("-",)
    """What may stand before an operand, as often as one likes."""

    def sum(self) -> _T:
        """A sum, or what binds tighter."""
        levels = {"+": 1, "-": 1, "*": 2, "/": 2}
        return climb(self, {sign: Operator(level, self.joined) for sign, level in levels.items()}, self.operand)

    def operand(self) -> _T:
        """An operand, with signs before it and a power behind it."""
        negative = False
        while sign := self.accept(*self.signs):
            negative ^= sign.text == "-"
        value = self.raised(self.parenthesis() if self.sees("(") else self.atom())
        return self.negated(value) if negative else value

    def parenthesis(self) -> _T:
        """A sum in parentheses."""
        self.expect("(")
        with self.deeper():
            value = self.sum()
        self.expect(")")
        return value

    def raised(self, value: _T) -> _T:
        """What an operand denotes with the power behind it, where there are powers."""
        return value

    @abstractmethod
    def atom(self) -> _T:
        """An operand that is no sum in parentheses."""

    @abstractmethod
    def negated(self, value: _T) -> _T:
        """What a minus before an operand denotes."""

    @abstractmethod
    def joined(self, operands: Sequence[_T], signs: Sequence[TextToken]) -> _T:
        """What two operands with a sign between them denote."""
