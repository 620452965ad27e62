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

WORDS = frozenset(
    re.findall(
        r"\w+",
        "bool ceil clock const ctmc double dtmc endinit endinvariant endmodule endobservables endrewards endsystem false "
        "floor formula func global init int invariant label log max mdp min mod module nondeterministic observable "
        "observables of pomdp pow probabilistic pta rate rewards round smg stochastic system true",
    )
)
"""The words that are no names."""

_TOKEN = re.compile(
    r"[ \t\r\n\f]*"
    r"(?:(?P<comment>//[^\n]*)"
    r"|(?P<name>[A-Za-z_][A-Za-z0-9_]*)"
    r"|(?P<number>[0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?|(?<!\.)\.[0-9]+(?:[eE][+-]?[0-9]+)?)"
    r'|(?P<label>"[^"\n]*")'
    r"|(?P<sign><=>|=>|<=|>=|!=|->|\.\.|[-+*/()\[\]{}<>=!&|?:;,'~])"
    r"|(?P<bad>[^ \t\r\n\f]))"
)
_REMARK = re.compile(r"//@[ \t]*")


@dataclass(frozen=True)
class Source:
    """A text and what messages call it.

    >>> Source("die.pm", "dtmc\\nmodule die").place(12)
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


@dataclass(frozen=True)
class Tokens:
    """The tokens of a source, as parallel lists that end with a token of kind ``end``.

    Attributes:
        source: the text they are of.
        kinds: ``name``, ``number``, ``label``, ``sign`` or ``end``.
        texts: the text of each; a label without its quotes.
        offsets: where each begins.
        remarks: the ``//@`` comments: where their text begins, and the text.
    """

    source: Source
    kinds: list[str]
    texts: list[str]
    offsets: list[int]
    remarks: tuple[tuple[int, str], ...]


def tokens(source: Source, *, begin: int = 0, end: int | None = None) -> Tokens:
    """The tokens of a source, or of a stretch of it.

    >>> found = tokens(Source("", "x' = 0.5; // comment\\n//@ neighbours a ~ b"))
    >>> found.texts, found.remarks
    (['x', "'", '=', '0.5', ';', ''], ((25, 'neighbours a ~ b'),))
    """
    kinds: list[str] = []
    texts: list[str] = []
    offsets: list[int] = []
    remarks: list[tuple[int, str]] = []
    end = begin + len(source.text[begin:end].rstrip(" \t\r\n\f"))
    last = begin
    for match in _TOKEN.finditer(source.text, begin, end):
        kind = match.lastgroup
        assert kind is not None
        text, at = match.group(kind), match.start(kind)
        if kind == "comment":
            remark = _REMARK.match(text)
            if remark:
                remarks.append((at + remark.end(), text[remark.end() :].rstrip()))
            continue
        if kind == "bad":
            if text == '"':
                source.refuse(at, "syntax", 'a quoted label has no closing "', hint='write "name"')
            source.refuse(at, "syntax", f"unexpected character {text!r}")
        last = match.end()
        kinds.append(kind)
        texts.append(text[1:-1] if kind == "label" else text)
        offsets.append(at)
    kinds.append("end")
    texts.append("")
    offsets.append(last)
    return Tokens(source, kinds, texts, offsets, tuple(remarks))


class Cursor:
    """A place among tokens: looks at what comes, takes what is expected, complains otherwise."""

    def __init__(self, stream: Tokens) -> None:
        self.source = stream.source
        self.kinds, self.texts, self.offsets = stream.kinds, stream.texts, stream.offsets
        self.at = 0

    @property
    def offset(self) -> int:
        """Where the coming token begins."""
        return self.offsets[self.at]

    def sees(self, text: str, *, ahead: int = 0) -> bool:
        """Whether a sign or a word comes."""
        at = self.at + ahead
        return at < len(self.texts) and self.texts[at] == text and self.kinds[at] in ("sign", "name")

    def skip(self, text: str) -> bool:
        """Take a sign or a word if it comes."""
        if self.texts[self.at] == text and self.kinds[self.at] in ("sign", "name"):
            self.at += 1
            return True
        return False

    def take(self, text: str, *, after: str = "") -> int:
        """Take a sign or a word that must come; where it was."""
        if not self.skip(text):
            self.expected(f"'{text}'" + (f" after {after}" if after else ""))
        return self.offsets[self.at - 1]

    def name(self, what: str) -> str:
        """Take a name that must come."""
        text = self.texts[self.at]
        if self.kinds[self.at] != "name":
            self.expected(f"the name of {what}")
        if text in WORDS:
            self.source.refuse(
                self.offset, "syntax", f"expected the name of {what}, found the keyword {text!r}", hint="rename it"
            )
        self.at += 1
        return text

    def label(self) -> str:
        """Take a quoted label that must come."""
        if self.kinds[self.at] != "label":
            self.expected('a quoted label such as "done"')
        self.at += 1
        return self.texts[self.at - 1]

    def found(self) -> str:
        """How messages call the coming token."""
        kind, text = self.kinds[self.at], self.texts[self.at]
        text = text if len(text) <= 40 else f"{text[:36]}..."
        return {"end": "the end of the text", "label": f'"{text}"'}.get(kind, f"'{text}'")

    def expected(self, what: str, *, hint: str = "") -> NoReturn:
        """Raise the complaint that something else was expected here."""
        self.source.refuse(self.offset, "syntax", f"expected {what}, found {self.found()}", hint=hint)
