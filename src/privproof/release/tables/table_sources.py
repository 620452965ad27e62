"""Tables as files: CSV, plain or packed with gzip, and Parquet, piece by piece.

What a file is, its first bytes say.  With pyarrow (the optional extra ``privproof[data]``) pieces are Arrow arrays; without it CSV is
read by the standard library, more slowly and with the same result.  When pyarrow cannot parse a CSV file, the careful reader reads it
once more and says on which line the fault is.
"""

from __future__ import annotations

import csv
import gzip
import io
import zlib
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from difflib import get_close_matches
from importlib import import_module
from itertools import islice
from operator import itemgetter
from pathlib import Path
from typing import Any, Literal, TypeAlias

import numpy as np

from privproof.errors import FormatError
from privproof.release.tables.table_columns import ArrowColumn, Column, TextColumn

Backend: TypeAlias = Literal["auto", "arrow", "plain"]
Pieces: TypeAlias = "Generator[Mapping[str, Column], None, None]"
Kind: TypeAlias = Literal["csv", "gzip", "parquet"]

BLOCK = 1 << 20
"""The bytes of a CSV file that pyarrow parses at once; with it and the rows at once, memory does not depend on the length of the file."""
LINES = 1 << 12
"""The rows that are parsed at once without pyarrow, where every cell is a Python text and takes memory of its own."""
_NEEDS_ARROW = "pip install 'privproof[data]'"
_UNREADABLE = (UnicodeDecodeError, csv.Error, gzip.BadGzipFile, EOFError, zlib.error)


@dataclass(frozen=True)
class TableSource:
    """A file with a table.

    Attributes:
        path: where it is.
        columns: the columns to read; the first one should have few distinct texts, Parquet reads it as numbers of texts.
        delimiter: what stands between two cells of a CSV file; None for a tab in files called .tsv and a comma elsewhere.
        header: whether the first row of a CSV file names the columns; otherwise they are called 1, 2, 3.
        missing: the texts, next to the empty one, that stand for no value.
        groups: of a Parquet file, the first row group to read and the one after the last; None for all.
        constants: columns that are not in the file and have one value in all its rows: those of folders called ``column=value``.
        few: whether the first column has few distinct texts; a CSV file is then read with it as numbers of texts, too.
    """

    path: Path
    columns: tuple[str, ...]
    delimiter: str | None = None
    header: bool = True
    missing: tuple[str, ...] = ()
    groups: tuple[int, int] | None = None
    constants: Mapping[str, str] = field(default_factory=dict)
    few: bool = False

    @property
    def inside(self) -> tuple[str, ...]:
        """The columns that the file itself must have."""
        return tuple(name for name in dict.fromkeys(self.columns) if name not in self.constants)

    @property
    def between(self) -> str:
        """What stands between two cells."""
        if self.delimiter is not None:
            return self.delimiter
        name = self.path.name.lower().removesuffix(".gz")
        return "\t" if name.endswith((".tsv", ".tab")) else ","


def pieces(source: TableSource, *, rows: int, backend: Backend = "auto") -> Pieces:
    """The table's columns, at most so many rows at a time; pieces are never empty.

    Raises:
        FormatError: no file, no table, no such column, rows of unequal length.
    """
    found = _file_pieces(source, rows=rows, backend=backend)
    return found if not source.constants else _with_constants(source, found)


def _with_constants(source: TableSource, found: Pieces) -> Pieces:
    for piece in found:
        size = len(next(iter(piece.values())))
        yield {**piece, **{name: TextColumn([text] * size) for name, text in source.constants.items()}}


def _file_pieces(source: TableSource, *, rows: int, backend: Backend) -> Pieces:
    kind = _kind(source.path)
    arrow = None if backend == "plain" else pyarrow(source.path, needed=backend == "arrow" or kind == "parquet")
    if kind == "parquet":
        if arrow is None:
            raise FormatError("extra", "Parquet is read by pyarrow", place=str(source.path), hint=_NEEDS_ARROW)
        return _parquet_pieces(source, arrow, rows=rows)
    names, more = _names(source, packed=kind == "gzip")
    if arrow is None or not more:
        return _plain_pieces(source, names, rows=rows, packed=kind == "gzip")
    return _arrow_pieces(source, names, arrow, rows=rows, packed=kind == "gzip")


def file_groups(path: Path) -> list[int] | None:
    """How many rows every row group of a Parquet file has; None for other files, and for what cannot be read."""
    try:
        arrow = pyarrow(path, needed=False) if _kind(path) == "parquet" else None
        if arrow is None:
            return None
        known = arrow.parquet.read_metadata(path)
        return [known.row_group(group).num_rows for group in range(known.num_row_groups)] or None
    except (FormatError, OSError, ValueError):  # who reads it says what is wrong
        return None


def _kind(path: Path) -> Kind:
    try:
        with path.open("rb") as file:
            head = file.read(1 << 16)
    except FileNotFoundError:
        raise FormatError("file", "there is no such file", place=str(path), hint="check the name of the file") from None
    except IsADirectoryError:
        raise FormatError("file", "this is a directory", place=str(path), hint="name the files in it") from None
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise FormatError("file", f"the file cannot be read: {reason}", place=str(path)) from None
    if not head:
        raise FormatError("empty", "the file is empty", place=str(path), hint="a first row that names the columns")
    if head.startswith(b"PAR1"):
        return "parquet"
    if path.suffix.lower() in (".parquet", ".pq"):
        raise FormatError("parquet", "this is no Parquet file: it does not begin with PAR1", place=str(path))
    if head.startswith(b"\x1f\x8b"):
        return "gzip"
    if b"\0" in head:
        raise _binary(path)
    return "csv"


def _binary(path: Path) -> FormatError:
    return FormatError("binary", "this is no text: it holds a byte 0", place=str(path), hint="CSV in UTF-8, or Parquet")


def pyarrow(place: object, *, needed: bool) -> Any:
    """The module pyarrow with the parts that are used here; None where it is not installed and not needed."""
    try:
        for part in ("compute", "csv", "parquet"):
            import_module(f"pyarrow.{part}")
        return import_module("pyarrow")
    except ImportError:
        if needed:
            raise FormatError(
                "extra", "this needs pyarrow, which is not installed", place=str(place), hint=_NEEDS_ARROW
            ) from None
        return None


def choose_columns(columns: Sequence[str], names: Sequence[str], place: str) -> None:
    """Complain about a column that is not there, or there twice."""
    for name in columns:
        if names.count(name) == 1:
            continue
        if name in names:
            raise FormatError("column", f"{names.count(name)} columns are called {name!r}", place=place)
        other = next((mark for mark in ";\t|" if len(names) == 1 and mark in names[0]), None)
        near = get_close_matches(name, names, n=1)
        listed = ", ".join(map(repr, names[:20])) + (", ..." if len(names) > 20 else "")
        raise FormatError(
            "column",
            f"there is no column {name!r}; the columns are {listed}",
            place=place,
            hint=f"delimiter: {other!r}" if other else f"did you mean {near[0]!r}?" if near else "one of these columns",
        )


class _Watched(io.RawIOBase):
    """A stream of bytes that counts lines and quotation marks, and notices bytes 0."""

    def __init__(self, stream: Any) -> None:
        self._stream = stream
        self.quotes = 0
        self.binary = False
        self._feeds = 0
        self._returns = 0
        self._last = b""

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1) -> bytes:
        data: bytes = self._stream.read(size)
        found = np.frombuffer(data, dtype=np.uint8)
        self.quotes += int(np.count_nonzero(found == ord('"')))
        self._feeds += int(np.count_nonzero(found == ord("\n")))
        self._returns += int(np.count_nonzero(found == ord("\r")))
        self.binary = self.binary or b"\0" in data
        self._last = data[-1:] or self._last
        return data

    @property
    def lines(self) -> int:
        """How many lines were read, if all of them end alike."""
        return (self._feeds or self._returns) + (self._last not in b"\r\n")

    def readinto(self, buffer: Any) -> int:
        data = self.read(len(buffer))
        buffer[: len(data)] = data
        return len(data)


@contextmanager
def _open_stream(path: Path, *, packed: bool) -> Iterator[_Watched]:
    with gzip.open(path, "rb") if packed else path.open("rb") as stream:
        yield _Watched(stream)


def _csv_rows(source: TableSource, stream: _Watched, *, strict: bool = False) -> Any:
    text = io.TextIOWrapper(io.BufferedReader(stream, 1 << 16), encoding="utf-8-sig", newline="")
    return csv.reader(text, delimiter=source.between, strict=strict)


def _names(source: TableSource, *, packed: bool) -> tuple[tuple[str, ...], bool]:
    """The names of the columns, with a complaint if one that is asked for is missing; and whether anything follows them."""
    if len(source.between) != 1 or source.between in '"\r\n':
        raise FormatError(
            "delimiter", f"{source.between!r} is not one character", place="delimiter", hint=', or ; or "\\t"'
        )
    try:
        with _open_stream(source.path, packed=packed) as stream:
            reader = _csv_rows(source, stream)
            first: list[str] = next(reader, [])
            more = not source.header or next(reader, None) is not None
            binary = stream.binary
    except _UNREADABLE:
        raise _fault(source, (), packed=packed) from None
    if binary:
        raise _binary(source.path)
    if not first:
        raise FormatError(
            "header", "the first line is empty", place=f"{source.path}: line 1", hint="name the columns there"
        )
    names = tuple(first) if source.header else tuple(str(i + 1) for i in range(len(first)))
    choose_columns(source.inside, names, str(source.path))
    return names, more


def _plain_pieces(source: TableSource, names: Sequence[str], *, rows: int, packed: bool) -> Pieces:
    width = len(names)
    chosen = [itemgetter(names.index(name)) for name in source.inside]
    try:
        with _open_stream(source.path, packed=packed) as stream:
            reader = _csv_rows(source, stream)
            count = int(source.header)
            if source.header:
                next(reader)
            while piece := list(islice(reader, min(rows, LINES))):
                if width > 1:
                    piece = [row for row in piece if row]
                else:
                    piece = [row or [""] for row in piece]
                if not {width}.issuperset(map(len, piece)) or stream.binary:
                    raise _fault(source, names, packed=packed)
                count += len(piece)
                if piece:
                    yield {
                        name: TextColumn(list(map(get, piece))) for name, get in zip(source.inside, chosen, strict=True)
                    }
            _check_quotes(source, names, stream, count, packed=packed)
    except _UNREADABLE:
        raise _fault(source, names, packed=packed) from None


def _arrow_pieces(source: TableSource, names: Sequence[str], arrow: Any, *, rows: int, packed: bool) -> Pieces:
    columns = list(source.inside)
    try:
        with _open_stream(source.path, packed=packed) as stream:
            opened = arrow.csv.open_csv(
                stream,
                read_options=arrow.csv.ReadOptions(
                    block_size=BLOCK, column_names=None if source.header else list(names)
                ),
                parse_options=arrow.csv.ParseOptions(
                    delimiter=source.between, newlines_in_values=True, ignore_empty_lines=len(names) > 1
                ),
                convert_options=arrow.csv.ConvertOptions(
                    include_columns=columns,
                    column_types={name: _csv_type(source, name, arrow) for name in columns},
                    strings_can_be_null=True,
                    null_values=["", *source.missing],
                ),
            )
            count = int(source.header)
            with opened as reader:
                for batch in reader:
                    if stream.binary:
                        raise _fault(source, names, packed=packed)
                    count += batch.num_rows
                    yield from arrow_pieces(batch, arrow, rows)
            _check_quotes(source, names, stream, count, packed=packed)
    except (*_UNREADABLE, arrow.ArrowException) as error:
        raise _fault(source, names, packed=packed, otherwise=str(error)) from None


def _csv_type(source: TableSource, name: str, arrow: Any) -> Any:
    few = source.few and name == source.columns[0]
    return arrow.dictionary(arrow.int32(), arrow.string()) if few else arrow.string()


def _check_quotes(source: TableSource, names: Sequence[str], stream: _Watched, rows: int, *, packed: bool) -> None:
    """Complain about a quotation mark that is not closed: it would swallow rows.

    Where every line is a row, and quotation marks are pairs, nothing was swallowed; otherwise the careful reader decides.
    """
    if stream.binary or stream.quotes % 2 or (stream.quotes and stream.lines != rows):
        fault = _fault(source, names, packed=packed)
        if fault.code != "csv":
            raise fault


def _parquet_pieces(source: TableSource, arrow: Any, *, rows: int) -> Pieces:
    types = arrow.types
    columns = list(source.inside)
    place = str(source.path)
    try:
        schema = arrow.parquet.read_schema(source.path)
        choose_columns(source.inside, tuple(schema.names), place)
        for name in columns:
            if types.is_nested(schema.field(name).type):
                raise FormatError("column", f"the cells of {name!r} are {schema.field(name).type}", place=place)
        coded = [name for name in columns[:1] if types.is_string(schema.field(name).type)]
        with arrow.parquet.ParquetFile(source.path, read_dictionary=coded, buffer_size=1 << 20) as file:
            for group in range(*(source.groups or (0, file.num_row_groups))):
                for batch in file.iter_batches(batch_size=rows, row_groups=[group], columns=columns):
                    yield from arrow_pieces(batch, arrow, rows)
    except (arrow.ArrowException, OSError) as error:
        raise FormatError("parquet", f"the Parquet file cannot be read: {error}", place=place) from None


def arrow_pieces(batch: Any, arrow: Any, rows: int) -> Pieces:
    """The columns of a batch, at most so many rows at a time."""
    for begin in range(0, batch.num_rows, rows):
        part = batch.slice(begin, rows)
        yield {
            name: ArrowColumn(_plain_texts(part.column(name), arrow), arrow=arrow, compute=arrow.compute)
            for name in part.schema.names
        }


def _plain_texts(array: Any, arrow: Any) -> Any:
    """An array whose texts, of whichever of Arrow's kinds, are of the first one."""
    types = arrow.types
    if types.is_dictionary(array.type):
        known = _plain_texts(array.dictionary, arrow)
        return array if known is array.dictionary else arrow.DictionaryArray.from_arrays(array.indices, known)
    if types.is_large_string(array.type) or types.is_string_view(array.type):
        return array.cast(arrow.string())
    return array


def _fault(source: TableSource, names: Sequence[str], *, packed: bool, otherwise: str = "") -> FormatError:
    """What is wrong with a CSV file, on which line; the code is csv where the careful reader finds nothing wrong."""
    place = str(source.path)
    line = 0
    try:
        with _open_stream(source.path, packed=packed) as stream:
            reader = _csv_rows(source, stream, strict=True)
            for row in reader:
                line = reader.line_num
                if stream.binary:
                    return _binary(source.path)
                if names and row and len(row) != len(names):
                    return FormatError(
                        "row",
                        f"{len(row)} cells, expected {len(names)}",
                        place=f"{place}: line {line}",
                        hint="quote cells that contain the delimiter",
                    )
    except UnicodeDecodeError:
        return _no_text(source.path, packed=packed)
    except csv.Error as error:
        return FormatError("quotes", str(error), place=f"{place}: after line {line}", hint="close every quotation mark")
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        return FormatError("gzip", f"the packed file is damaged: {error}", place=place)
    return FormatError("csv", otherwise or "the file cannot be parsed", place=place)


def _no_text(path: Path, *, packed: bool) -> FormatError:
    """The first line that is not UTF-8."""
    with _open_stream(path, packed=packed) as stream:
        for number, line in enumerate(io.BufferedReader(stream), start=1):
            if b"\0" in line:
                break
            try:
                line.decode()
            except UnicodeDecodeError as error:
                return FormatError(
                    "encoding",
                    f"the file is not UTF-8 text: byte 0x{line[error.start]:02x}",
                    place=f"{path}: line {number}",
                    hint="save it as UTF-8",
                )
    return _binary(path)
