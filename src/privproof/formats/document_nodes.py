"""Documents: what a YAML or JSON text says, as tables, series and scalars that remember where they stand.

A scalar keeps its text as written, and beside it what the text would be to an ordinary reader (`Scalar.kind`).
So ``no``, ``0`` and ``1e3`` are good names of states, whereas an unquoted ``0.5`` where a number is wanted can be
told apart from ``"0.5"``.

A complaint about a document names the place by a dotted path, such as ``emissions.zero``; `with_file_place` finds the line
and the column of the path and puts the file in front of it: ``model.yaml:9:3: emissions.zero: ...``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from fractions import Fraction
from pathlib import Path
from typing import Literal, TypeAlias

from flint import fmpq, fmpz

from privproof.errors import FormatError, PrivproofError
from privproof.exact import rational

ScalarKind: TypeAlias = Literal["text", "integer", "float", "boolean", "null"]
Node: TypeAlias = "Scalar | DocumentTable | Series"

PRISM = (".pm", ".nm", ".prism", ".sm")
JANI = ".jani"
AS_PRISM = (*PRISM, JANI)
OURS = (".yaml", ".yml", ".json")
"""What the names of files end with: of models of PRISM, of JANI, of those that are read as such, and of documents."""
DEEPEST = 32
"""How deep tables and series may nest; a model file needs 7."""


class Scalar(str):
    """A text as written, where it stands, and what it would be to an ordinary reader.

    >>> half = Scalar("0.5", line=3, column=7, kind="float")
    >>> half == "0.5", half.kind, half.line
    (True, 'float', 3)
    """

    __slots__ = ("column", "kind", "line")
    line: int
    column: int
    kind: ScalarKind

    def __new__(cls, text: str, *, line: int = 0, column: int = 0, kind: ScalarKind = "text") -> Scalar:
        self = super().__new__(cls, text)
        self.line, self.column, self.kind = line, column, kind
        return self

    @property
    def shown(self) -> str:
        """How messages call the scalar: quoted where it is a text, shortened where it is long."""
        text = str(self) if len(self) <= 60 else f"{self[:50]}..."
        return repr(text) if self.kind == "text" else (text or "nothing")


class DocumentTable(dict[Scalar, Node]):
    """A mapping whose keys are scalars, and where it stands."""

    __slots__ = ("column", "line")

    def __init__(self, line: int = 0, column: int = 0) -> None:
        super().__init__()
        self.line, self.column = line, column

    def add(self, key: Scalar, value: Node) -> None:
        """Add an entry; a key given twice is refused."""
        if key.kind == "null":
            raise complaint(key, "null", f"{key.shown} is no name", hint='quote it if it is a name: "null"')
        if key in self:
            first = next(known for known in self if known == key)
            before = f" (first on line {first.line})" if first.line else ""
            raise complaint(
                key, "duplicate-key", f"the key {str(key)!r} is given twice{before}", hint="keep one of the two"
            )
        self[key] = value


class Series(list[Node]):
    """A list, and where it stands."""

    __slots__ = ("column", "line")

    def __init__(self, line: int = 0, column: int = 0) -> None:
        super().__init__()
        self.line, self.column = line, column


def what(node: Node) -> str:
    """How messages call a node."""
    if isinstance(node, DocumentTable):
        return "a mapping"
    if isinstance(node, Series):
        return "a list"
    return {"text": f"the text {node.shown}", "null": "nothing"}.get(node.kind, node.shown)


def complaint(node: Node, code: str, message: str, *, hint: str = "") -> FormatError:
    """A FormatError at the line and column of a node; the file is still to be put in front."""
    return FormatError(code, message, place=f"{node.line}:{node.column}" if node.line else "", hint=hint)


def checked_text(text: str, line: int, column: int) -> str:
    """The text, unless it holds half a surrogate pair, which no file can hold."""
    if not text.isascii() and any("\ud800" <= character <= "\udfff" for character in text):
        raise complaint(Scalar("", line=line, column=column), "encoding", "half a surrogate pair is no character")
    return text


def read_document(path: str | Path) -> DocumentTable:
    """The document in a file: JSON where the name ends in ``.json``, YAML otherwise.

    Raises:
        FormatError: the file cannot be read, or is not a document; the message says where.
    """
    from privproof.formats.json_text import parse_json
    from privproof.formats.yaml_text import parse_yaml

    path = Path(path)
    text = _text(path)
    try:
        node = parse_json(text) if path.suffix.lower() == ".json" else parse_yaml(text)
        if not isinstance(node, DocumentTable):
            raise complaint(
                node,
                "shape",
                f"a model file is a mapping, not {what(node)}",
                hint="begin with a line such as kind: hmm",
            )
    except FormatError as error:
        error.place = f"{path}:{error.place}" if error.place else str(path)
        raise
    return node


def _text(path: Path) -> str:
    text = file_text(path)
    if not text.strip():
        raise FormatError("empty", "the file is empty", place=str(path), hint="begin with a line such as kind: hmm")
    return text


def file_text(path: str | Path) -> str:
    """The text of a file.

    Raises:
        FormatError: it cannot be read, or is no text.
    """
    place = str(path)
    try:
        data = Path(path).read_bytes()
    except FileNotFoundError:
        raise FormatError("file", "there is no such file", place=place, hint="check the name of the file") from None
    except IsADirectoryError:
        raise FormatError("file", "this is a directory", place=place, hint="name a file in it") from None
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise FormatError("file", f"the file cannot be read: {reason}", place=place) from None
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        column = error.start - data.rfind(b"\n", 0, error.start)
        raise FormatError(
            "encoding",
            f"the file is not UTF-8 text: byte 0x{data[error.start]:02x}",
            place=f"{place}:{line}:{column}",
            hint="save the file as UTF-8 text",
        ) from None


def from_plain(value: object, *, depth: int = 0) -> Node:
    """The document that plain Python data says; its places have no lines.

    >>> from_plain({"a": [1, "1/2", True, None]})
    {'a': ['1', '1/2', 'true', 'null']}
    """
    if depth > DEEPEST:
        raise FormatError("depth", f"the document nests deeper than {DEEPEST}")
    if isinstance(value, Scalar | DocumentTable | Series):
        return value
    if isinstance(value, Mapping):
        table = DocumentTable()
        for key, entry in value.items():
            if isinstance(key, bool) or not isinstance(key, str | int):
                raise FormatError("shape", f"the key {key!r} is no text", hint="keys are texts")
            table.add(_plain_scalar(key), from_plain(entry, depth=depth + 1))
        return table
    if isinstance(value, list | tuple):
        series = Series()
        series.extend(from_plain(entry, depth=depth + 1) for entry in value)
        return series
    return _plain_scalar(value)


def _plain_scalar(value: object) -> Scalar:
    if value is None:
        return Scalar("null", kind="null")
    if isinstance(value, bool):
        return Scalar(str(value).lower(), kind="boolean")
    if isinstance(value, str):
        return value if isinstance(value, Scalar) else Scalar(value)
    if isinstance(value, int | fmpz):
        return Scalar(str(fmpz(value)), kind="integer")
    if isinstance(value, float):
        return Scalar(repr(value), kind="float")
    if isinstance(value, Fraction | fmpq):
        return Scalar(str(rational(value)))
    raise FormatError(
        "shape", f"a document has no place for a {type(value).__name__}", hint="use texts, integers, lists and dicts"
    )


@contextmanager
def with_file_place(document: DocumentTable, source: str | Path | None = None) -> Iterator[None]:
    """Put the file, the line and the column in front of the dotted place of every complaint raised inside.

    >>> from privproof.formats.yaml_text import parse_yaml
    >>> document = parse_yaml("emissions:\\n  zero: {a: 1}")
    >>> with with_file_place(document, "model.yaml"):
    ...     raise FormatError("row-sum", "no", place="emissions.zero.b")
    Traceback (most recent call last):
    ...
    privproof.errors.FormatError: model.yaml:2:3: emissions.zero.b: no [row-sum]
    """
    try:
        yield
    except PrivproofError as error:
        line, column = _position(document, error.place, of_key=error.code == "unknown-key")
        position = f"{line}:{column}" if line else ""
        found = ":".join(part for part in (str(source) if source is not None else "", position) if part)
        if found:
            error.at(found)
        elif not error.place:
            error.place = "document"
        raise


def _position(document: DocumentTable, place: str, *, of_key: bool) -> tuple[int, int]:
    """The line and column of a dotted place, or of the nearest one around it that stands in the document."""
    known = dict(_places(document, of_key=of_key))
    for prefix in ("", "scenario."):
        rest = prefix + place
        while rest and rest != "scenario":
            if rest in known:
                return known[rest]
            rest = rest[: max(rest.rfind("."), rest.rfind("["), 0)]
    return known.get(place, (document.line, document.column))


def _places(root: DocumentTable, *, of_key: bool) -> Iterator[tuple[str, tuple[int, int]]]:
    """Every dotted place with its position: a scalar's own unless `of_key`, otherwise the key's."""
    waiting: list[tuple[str, Node]] = [("", root)]
    while waiting:
        place, node = waiting.pop()
        if isinstance(node, DocumentTable):
            for key, value in node.items():
                path = f"{place}.{key}" if place else str(key)
                at = value if isinstance(value, Scalar) and not of_key else key
                yield path, (at.line, at.column)
                waiting.append((path, value))
        elif isinstance(node, Series):
            for number, value in enumerate(node):
                paths = [f"{place}[{number}]"]
                if isinstance(value, DocumentTable) and isinstance(value.get(Scalar("name")), Scalar):
                    paths.append(f"{place}.{value[Scalar('name')]}")
                for path in paths:
                    yield path, (value.line, value.column)
                    waiting.append((path, value))


class Exact(str):
    """The text of an exact number: a text in JSON, unquoted in YAML."""

    __slots__ = ()
