"""JSON text to a document, with lines and columns, which the standard reader does not keep."""

from __future__ import annotations

import json
import re

from privproof.errors import FormatError
from privproof.formats.document_nodes import (
    DEEPEST,
    DocumentTable,
    Node,
    Scalar,
    ScalarKind,
    Series,
    checked_text,
    complaint,
)

_SPACE = re.compile(r"[ \t\n\r]*")
_STRING = re.compile(r'"(?:[^"\\\x00-\x1f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*"')
_NUMBER = re.compile(r"(-?(?:0|[1-9][0-9]*))(\.[0-9]+)?([eE][+-]?[0-9]+)?")
_WORDS: dict[str, ScalarKind] = {"true": "boolean", "false": "boolean", "null": "null"}


def parse_json(text: str) -> Node:
    """The document that a JSON text says.

    >>> parse_json('{"kind": "hmm", "states": ["a", "b"]}')
    {'kind': 'hmm', 'states': ['a', 'b']}
    >>> parse_json('{"kind": "hmm",\\n "states": ["a" "b"]}')
    Traceback (most recent call last):
    ...
    privproof.errors.FormatError: 2:17: expected , or ] and found '"' [syntax]
      hint: check the commas, the quotes and the brackets here

    Raises:
        FormatError: the text is no JSON; the place is ``line:column``.
    """
    return _JsonReader(text).whole()


class _JsonReader:
    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0
        self.line = 1
        self.line_start = 0
        self.counted = 0

    def whole(self) -> Node:
        node = self.value(0)
        self.space()
        if self.at < len(self.text):
            raise self.expected("the end of the text")
        return node

    def here(self) -> Scalar:
        """The present position: lines are counted from the last position asked for."""
        breaks = self.text.count("\n", self.counted, self.at)
        if breaks:
            self.line += breaks
            self.line_start = self.text.rfind("\n", 0, self.at) + 1
        self.counted = self.at
        return Scalar("", line=self.line, column=self.at - self.line_start + 1)

    def space(self) -> str:
        match = _SPACE.match(self.text, self.at)
        assert match is not None
        self.at = match.end()
        return self.text[self.at : self.at + 1]

    def expected(self, what: str) -> FormatError:
        if self.at >= len(self.text):
            return complaint(
                self.here(), "syntax", f"the text ends where {what} is expected", hint='close what is open: ] } or "'
            )
        return complaint(
            self.here(),
            "syntax",
            f"expected {what} and found {self.text[self.at]!r}",
            hint="check the commas, the quotes and the brackets here",
        )

    def value(self, depth: int) -> Node:
        head = self.space()
        if depth > DEEPEST:
            raise complaint(self.here(), "depth", f"the document nests deeper than {DEEPEST}")
        if head == "{":
            return self.table(depth)
        if head == "[":
            return self.series(depth)
        if head == '"':
            return self.string()
        here = self.here()
        number = _NUMBER.match(self.text, self.at)
        if number is not None:
            self.at = number.end()
            kind: ScalarKind = "float" if number[2] or number[3] else "integer"
            return Scalar(number[0], line=here.line, column=here.column, kind=kind)
        for word, meaning in _WORDS.items():
            if self.text.startswith(word, self.at):
                self.at += len(word)
                return Scalar(word, line=here.line, column=here.column, kind=meaning)
        raise self.expected("a value")

    def string(self) -> Scalar:
        here = self.here()
        match = _STRING.match(self.text, self.at)
        if match is None:
            raise complaint(
                here, "syntax", "this text is not closed, or holds what must be escaped", hint='close it with "'
            )
        self.at = match.end()
        text = checked_text(str(json.loads(match[0])), here.line, here.column)
        return Scalar(text, line=here.line, column=here.column)

    def table(self, depth: int) -> DocumentTable:
        here = self.here()
        result = DocumentTable(here.line, here.column)
        self.at += 1
        if self.space() == "}":
            self.at += 1
            return result
        while True:
            if self.space() != '"':
                raise self.expected("a key in quotes")
            key = self.string()
            if self.space() != ":":
                raise self.expected(":")
            self.at += 1
            result.add(key, self.value(depth + 1))
            if self.next("}"):
                return result

    def series(self, depth: int) -> Series:
        here = self.here()
        result = Series(here.line, here.column)
        self.at += 1
        if self.space() == "]":
            self.at += 1
            return result
        while True:
            result.append(self.value(depth + 1))
            if self.next("]"):
                return result

    def next(self, closing: str) -> bool:
        """Read a comma, or the closing bracket (True)."""
        head = self.space()
        if head not in (",", closing) or not head:
            raise self.expected(f", or {closing}")
        self.at += 1
        return head == closing
