"""Texts of certificates that are read token by token, with parentheses: words over observations, and polynomials."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import NoReturn, TypeVar

from privproof_checker.outcomes import refuse, within

T = TypeVar("T")


class TextReader:
    """The tokens of a text, from the first to the last."""

    def __init__(self, text: str, token: re.Pattern[str], most: int, deepest: int, place: str) -> None:
        self.place, self.deepest, self.depth = place, deepest, 0
        self.tokens: list[str] = []
        at, end = 0, len(text.rstrip())
        while at < end:
            match = token.match(text, at)
            if match is None:
                refuse(f"cannot read {text[at : at + 20]!r}", place)
            self.tokens.append(match.group().strip())
            within(len(self.tokens), most, "tokens of an expression", place)
            at = match.end()
        self.tokens.reverse()

    @property
    def coming(self) -> str:
        """The next token; nothing at the end."""
        return self.tokens[-1] if self.tokens else ""

    def unexpected(self) -> NoReturn:
        """Refuse the next token."""
        refuse(f"unexpected {repr(self.coming[:40]) if self.tokens else 'the end'} in an expression", self.place)

    def take(self) -> str:
        """The next token, which there must be."""
        if not self.tokens:
            self.unexpected()
        return self.tokens.pop()

    def accept(self, *tokens: str) -> str:
        """The next token, if it is one of these."""
        return self.tokens.pop() if self.coming in tokens else ""

    def whole(self, read: Callable[[], T]) -> T:
        """What is read, to the end."""
        result = read()
        if self.tokens:
            self.unexpected()
        return result

    def closed(self, read: Callable[[], T]) -> T:
        """What is read behind an opening parenthesis, up to the closing one."""
        self.depth += 1
        within(self.depth, self.deepest, "nested parentheses", self.place)
        inner = read()
        if not self.accept(")"):
            self.unexpected()
        self.depth -= 1
        return inner
