"""YAML text to a document, event by event, so that nothing is constructed that a model file has no use for.

Scalars stay texts.  Tags are refused, so no text can name a Python object.  An alias stands for its anchor, and what
aliases stand for in all is bounded, so a short text cannot grow without end.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import yaml
from yaml.reader import Reader

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

_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_MOST_ALIASED = 200_000
"""The entries that all aliases of a file stand for; beyond, it is refused, since aliases of aliases grow exponentially."""

_INTEGER = re.compile(r"[+-]?[0-9]+")
_FLOAT = re.compile(
    r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?|[+-]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN)"
)
_BOOLEAN = frozenset(("true", "True", "TRUE", "false", "False", "FALSE"))
_NULL = frozenset(("", "~", "null", "Null", "NULL"))


def parse_yaml(text: str) -> Node:
    """The document that a YAML text says.

    >>> parse_yaml("kind: hmm\\nstates: [no, 0, 1e3]")
    {'kind': 'hmm', 'states': ['no', '0', '1e3']}
    >>> parse_yaml("kind: hmm\\nstates: [zero, one")
    Traceback (most recent call last):
    ...
    privproof.errors.FormatError: 2:18: the text ends inside a list that begins at 2:9 [syntax]
      hint: close what is open: ] } or a quote

    Raises:
        FormatError: the text is no YAML, or uses what a model file may not; the place is ``line:column``.
    """
    reader = _YamlReader(text)
    try:
        return reader.whole()
    except FormatError:
        raise
    except yaml.MarkedYAMLError as error:
        raise _syntax_complaint(error, text) from None
    except yaml.YAMLError as error:
        raise _unreadable(error, text) from None
    except (ValueError, OverflowError) as error:  # an escape beyond Unicode, in the reader without libyaml
        raise FormatError("syntax", f"this is no YAML: {error}", hint="check the escapes in quoted texts") from None


class _YamlReader:
    def __init__(self, text: str) -> None:
        self.events: Iterator[yaml.Event] = yaml.parse(text, Loader=_LOADER)
        self.anchors: dict[str, tuple[Node, int]] = {}
        self.nodes = 0
        self.aliased = 0

    def whole(self) -> Node:
        next(self.events)
        if isinstance(next(self.events), yaml.StreamEndEvent):
            raise FormatError("empty", "the file is empty", hint="begin with a line such as kind: hmm")
        node = self.node(next(self.events), 0)
        next(self.events)
        more = next(self.events)
        if not isinstance(more, yaml.StreamEndEvent):
            raise complaint(
                _at(more), "syntax", "a second document begins", hint="a model file holds one: remove the line ---"
            )
        return node

    def node(self, event: yaml.Event, depth: int) -> Node:
        here = _at(event)
        if isinstance(event, yaml.AliasEvent):
            return self.alias(event, here)
        tag = getattr(event, "tag", None)
        if tag is not None:
            raise complaint(here, "tag", f"the tag {tag} is not allowed", hint="remove the tag; quote what is a text")
        if depth > DEEPEST:
            raise complaint(here, "depth", f"the document nests deeper than {DEEPEST}")
        before = self.nodes + self.aliased
        self.nodes += 1
        node: Node
        if isinstance(event, yaml.ScalarEvent):
            node = _scalar(event)
        elif isinstance(event, yaml.SequenceStartEvent):
            node = Series(here.line, here.column)
            while not isinstance(inner := next(self.events), yaml.SequenceEndEvent):
                node.append(self.node(inner, depth + 1))
        else:
            node = DocumentTable(here.line, here.column)
            while not isinstance(inner := next(self.events), yaml.MappingEndEvent):
                key = self.node(inner, depth + 1)
                if not isinstance(key, Scalar):
                    raise complaint(_at(inner), "shape", "a list or mapping cannot be a key", hint="keys are names")
                node.add(Scalar(key, line=_at(inner).line, column=_at(inner).column, kind=key.kind), self.value(depth))
        anchor = getattr(event, "anchor", None)
        if anchor is not None:
            self.anchors[anchor] = (node, self.nodes + self.aliased - before)
        return node

    def value(self, depth: int) -> Node:
        return self.node(next(self.events), depth + 1)

    def alias(self, event: yaml.AliasEvent, here: Scalar) -> Node:
        name = str(event.anchor)
        if name not in self.anchors:
            raise complaint(
                here, "alias", f"the alias *{name} stands for nothing", hint=f"an anchor &{name} comes before it"
            )
        node, size = self.anchors[name]
        self.aliased += size
        if self.aliased > _MOST_ALIASED:
            raise complaint(
                here, "alias", f"the aliases stand for more than {_MOST_ALIASED} entries", hint="write the entries out"
            )
        return node


def _at(event: yaml.Event) -> Scalar:
    mark = event.start_mark
    assert mark is not None
    return Scalar("", line=mark.line + 1, column=mark.column + 1)


def _scalar(event: yaml.ScalarEvent) -> Scalar:
    here = _at(event)
    text = checked_text(str(event.value), here.line, here.column)
    kind = plain_kind(text) if event.implicit[0] and not event.style else "text"
    return Scalar(text, line=here.line, column=here.column, kind=kind)


def plain_kind(text: str) -> ScalarKind:
    """What an unquoted text is to a YAML reader.

    >>> [plain_kind(text) for text in ("12", "0.5", "1e3", "true", "~", "no", "1/2")]
    ['integer', 'float', 'float', 'boolean', 'null', 'text', 'text']
    """
    if _INTEGER.fullmatch(text):
        return "integer"
    if _FLOAT.fullmatch(text):
        return "float"
    if text in _BOOLEAN:
        return "boolean"
    return "null" if text in _NULL else "text"


_OPENED = {
    "flow sequence": "a list",
    "flow mapping": "a mapping",
    "quoted scalar": "quotes",
}


def _syntax_complaint(error: yaml.MarkedYAMLError, text: str) -> FormatError:
    mark, begun = error.problem_mark or error.context_mark, error.context_mark
    context, problem = str(error.context or ""), str(error.problem or "this is no YAML")
    place = f"{mark.line + 1}:{mark.column + 1}" if mark is not None else ""
    since = f" that begins at {begun.line + 1}:{begun.column + 1}" if begun is not None else ""
    opened = next((name for part, name in _OPENED.items() if part in context), "")
    lines = text.rstrip().split("\n")
    if opened and mark is not None and (mark.line, mark.column) >= (len(lines) - 1, len(lines[-1])):
        place = f"{len(lines)}:{len(lines[-1])}"
        return FormatError(
            "syntax", f"the text ends inside {opened}{since}", place=place, hint="close what is open: ] } or a quote"
        )
    if "\t" in problem or "\\t" in problem or "tab " in problem:
        return FormatError("syntax", problem, place=place, hint="indent by spaces, not by tabs")
    if opened:
        return FormatError(
            "syntax",
            f"{problem}, inside {opened}{since}",
            place=place,
            hint="close what is open, or write the missing comma",
        )
    message = f"{context}: {problem}" if context else problem
    return FormatError("syntax", message, place=place, hint="check the indentation, the colons and the brackets here")


def _unreadable(error: yaml.YAMLError, text: str) -> FormatError:
    match = Reader.NON_PRINTABLE.search(text)
    if match is None:
        return FormatError("syntax", f"this is no YAML: {error}", hint="save the file as plain text")
    found = match.start()
    line, column = text.count("\n", 0, found) + 1, found - text.rfind("\n", 0, found)
    return FormatError(
        "encoding",
        f"the character {text[found]!r} cannot stand in a YAML text",
        place=f"{line}:{column}",
        hint="save the file as plain text",
    )
