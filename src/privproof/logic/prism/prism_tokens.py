"""The words of a PRISM text: names, numbers, quoted labels and signs, each with its place.

Comments are passed over, except lines that begin with ``//@``: those speak to this package (`Tokens.remarks`).
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Collection
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cached_property
from typing import NoReturn

from privproof.errors import FormatError
from privproof.exact.parsing import Cursor, Lexicon, TextToken

WORDS = frozenset(
    re.findall(
        r"\w+",
        "bool ceil clock const ctmc double dtmc endinit endinvariant endmodule endobservables endrewards endsystem false "
        "floor formula func global init int invariant label log max mdp min mod module nondeterministic observable "
        "observables of pomdp pow probabilistic pta rate rewards round smg stochastic system true",
    )
)
"""The words that are no names."""

_LEXICON = Lexicon(
    space=r"[ \t\r\n\f]",
    comment=r"//[^\n]*",
    name="[A-Za-z_][A-Za-z0-9_]*",
    number=r"[0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?|(?<!\.)\.[0-9]+(?:[eE][+-]?[0-9]+)?",
    label=r'"[^"\n]*"',
    sign=r"<=>|=>|<=|>=|!=|->|\.\.|[-+*/^()\[\]{}<>=!&|?:;,'~]",
)
_REMARK = re.compile(r"//@[ \t]*")


@dataclass(frozen=True)
class PrismSource:
    """A text and what messages call it.

    >>> PrismSource("die.pm", "dtmc\\nmodule die").place(12)
    'die.pm:2:8'
    """

    name: str
    text: str

    @cached_property
    def _lines(self) -> list[int]:
        return [0, *(match.end() for match in re.finditer("\n", self.text))]

    def line(self, offset: int) -> int:
        """The number of the line of an offset."""
        return bisect_right(self._lines, offset)

    def place(self, offset: int) -> str:
        """Where an offset is, as ``file:line:column``."""
        line = self.line(offset)
        return f"{self.name}:{line}:{offset - self._lines[line - 1] + 1}"

    def refuse(self, offset: int, code: str, message: str, *, hint: str = "") -> NoReturn:
        """Raise the complaint about what stands at an offset."""
        raise FormatError(code, message, place=self.place(offset), hint=hint)

    def unknown(self, offset: int, what: str, name: str, known: Collection[str]) -> NoReturn:
        """Raise the complaint about a name that does not exist, with the nearest that does."""
        near = get_close_matches(name, known, n=1)
        listed = ", ".join(list(known)[:8]) + (", ..." if len(known) > 8 else "")
        hint = f"did you mean {near[0]!r}?" if near else f"known: {listed}" if known else f"no {what} is declared"
        self.refuse(offset, "unknown-name", f"unknown {what} {name!r}", hint=hint)


class PrismTokens(Cursor):
    """The tokens of a source, or of a stretch of it: ``name``, ``number``, ``label`` in its quotes, or ``sign``.

    Attributes:
        source: the text they are of.
        remarks: the ``//@`` comments: where their text begins, and the text.

    >>> found = PrismTokens(PrismSource("", "x' = 0.5; // comment\\n//@ neighbours a ~ b"))
    >>> [found.take().text for _ in range(6)], found.remarks
    (['x', "'", '=', '0.5', ';', ''], ((25, 'neighbours a ~ b'),))
    """

    def __init__(self, source: PrismSource, *, begin: int = 0, end: int | None = None) -> None:
        self.source = source
        kept: list[TextToken] = []
        remarks: list[tuple[int, str]] = []
        for token in _LEXICON.tokens(source.text, begin, end):
            if token.kind != "comment":
                kept.append(token)
            elif remark := _REMARK.match(token.text):
                remarks.append((token.start + remark.end(), token.text[remark.end() :].rstrip()))
        self.remarks = tuple(remarks)
        super().__init__(source.text, kept, begin=begin)
        if bad := self.unreadable():
            if bad.text == '"':
                source.refuse(bad.start, "syntax", 'a quoted label has no closing "', hint='write "name"')
            source.refuse(bad.start, "syntax", f"unexpected character {bad.text!r}")

    def expect(self, text: str, *, after: str = "") -> TextToken:
        """Take a sign or a word that must come."""
        if not self.sees(text):
            self.expected(f"'{text}'" + (f" after {after}" if after else ""))
        return self.take()

    def name(self, what: str, *, besides: Collection[str] = ()) -> str:
        """Take a name that must come; it may also be one of some words that are no names elsewhere."""
        token = self.token
        if token.kind != "name":
            self.expected(f"the name of {what}")
        if token.text in WORDS and token.text not in besides:
            self.source.refuse(
                token.start,
                "syntax",
                f"expected the name of {what}, found the keyword {token.text!r}",
                hint="rename it",
            )
        return self.take().text

    def label(self) -> str:
        """Take a quoted label that must come."""
        if self.token.kind != "label":
            self.expected('a quoted label such as "done"')
        return self.take().text[1:-1]

    def found(self) -> str:
        """How messages call the coming token."""
        if self.at_end:
            return "the end of the text"
        quote, text = ('"', self.token.text[1:-1]) if self.token.kind == "label" else ("'", self.token.text)
        return f"{quote}{text if len(text) <= 40 else f'{text[:36]}...'}{quote}"

    def expected(self, what: str, *, hint: str = "") -> NoReturn:
        """Raise the complaint that something else was expected here."""
        self.source.refuse(self.token.start, "syntax", f"expected {what}, found {self.found()}", hint=hint)
