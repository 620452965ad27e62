"""Tables that are no files: frames of pandas and polars, Arrow data sets and streams, relations of DuckDB, cursors of databases.

All are read piece by piece, once.  Whatever gives Arrow batches gives them: a data set of pyarrow and a lazy frame of polars by
scanning, a relation of DuckDB or a cursor of ADBC by its reader, everything else by the Arrow stream interface
(``__arrow_c_stream__``).  A frame of pandas is converted some rows at a time.  Of a cursor (the database interface of Python, or a
result of SQLAlchemy) rows are fetched some at a time; its cells become texts as those of a Parquet file do.  The library of an object
is there already; `query_rows` imports that of a database.
"""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from datetime import date, datetime
from decimal import Decimal
from importlib import import_module
from pathlib import Path
from typing import Any

from privproof.errors import FormatError
from privproof.release.tables.table_columns import TextColumn
from privproof.release.tables.table_sources import Pieces, arrow_pieces, choose_columns, pyarrow

_READERS = ("to_arrow_reader", "fetch_arrow_reader")
"""Methods of DuckDB that give batches of so many rows; the second is the older name."""


def stream_name(table: Any) -> str:
    """What messages call an object that is a table.

    Raises:
        FormatError: it is none.
    """
    kind = table.kind if isinstance(table, QueryRows) else type(table)
    name = f"{kind.__name__} of {kind.__module__.split('.')[0].lstrip('_')}"
    known = ("__arrow_c_stream__", "to_batches", "collect_batches", "fetch_record_batch", "fetchmany", *_READERS)
    if not any(hasattr(table, each) for each in known) and not _is_pandas(table):
        raise FormatError(
            "table",
            f"{name} is no table",
            place="data",
            hint="a path, a frame of pandas or polars, a relation of DuckDB, a cursor after execute",
        )
    return name


def stream_pieces(table: Any, columns: Sequence[str], *, rows: int) -> Pieces:
    """The columns of an object that is a table, at most so many rows at a time.

    Raises:
        FormatError: no such column, cells that are no table's, or what the database says.
    """
    name = stream_name(table)
    chosen = list(dict.fromkeys(columns))
    arrow_less = not any(hasattr(table, each) for each in ("__arrow_c_stream__", "fetch_record_batch", *_READERS))
    if hasattr(table, "fetchmany") and arrow_less:
        return _fetch_pieces(table, name, chosen, rows=rows)
    return _batches(table, name, chosen, pyarrow(name, needed=True), rows=rows)


def query_rows(address: str, query: str) -> Any:
    """What a query finds in a database, as an object that is read piece by piece; nothing in the database can be changed.

    Args:
        address: a file of SQLite or DuckDB, ``postgresql://...``, or another address that SQLAlchemy knows.
        query: the query, in SQL.

    Raises:
        FormatError: no such database, or what it says about the query.
    """
    place = _WITHOUT_PASSWORD.sub(r"\1@", address)
    try:
        if address.startswith(("postgresql://", "postgres://")):
            connection = import_module("psycopg").connect(address)
            connection.read_only = True
            return QueryRows(connection, connection.cursor(name="privproof"), query)
        if "://" in address:
            alchemy = import_module("sqlalchemy")
            engine = alchemy.create_engine(address)
            return engine.connect().execution_options(stream_results=True).execute(alchemy.text(query))
        path = Path(address)
        with path.open("rb") as file:
            head = file.read(16)
        if head.startswith(b"SQLite format 3"):
            connection = sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro", uri=True)
            return QueryRows(connection, connection.cursor(), query)
        if head[8:12] == b"DUCK":
            return import_module("duckdb").connect(address, read_only=True).sql(query)
    except ImportError as problem:
        extra = {"psycopg": "'privproof[postgres]'"}.get(problem.name or "", problem.name)
        raise FormatError("extra", f"this needs {problem.name}", place=place, hint=f"pip install {extra}") from None
    except Exception as problem:  # every driver has errors of its own
        said = str(problem).strip().splitlines()
        raise FormatError(
            "query", f"the database says: {said[0] if said else type(problem).__name__}", place=place, hint="--sql"
        ) from None
    raise FormatError(
        "database", "this is no database", place=place, hint="a file of SQLite or DuckDB, postgresql://HOST/NAME"
    )


class QueryRows:
    """The rows of a query with the connection that they come through, which is closed after the last of them.

    Attributes:
        kind: the kind of the cursor that finds them.
        description: the columns, as a cursor has them.
    """

    def __init__(self, connection: Any, cursor: Any, query: str) -> None:
        self._open, self.kind = [cursor, connection], type(cursor)
        try:
            cursor.execute(query)
        except BaseException:
            self.close()
            raise
        self.description = cursor.description

    def fetchmany(self, size: int) -> list[Any]:
        """The next rows, at most so many; none after the last."""
        rows = list(self._open[0].fetchmany(size)) if self._open else []
        if not rows:
            self.close()
        return rows

    def close(self) -> None:
        """Let the database go."""
        while self._open:
            self._open.pop(0).close()

    def __del__(self) -> None:
        self.close()


_WITHOUT_PASSWORD = re.compile(r"(://[^:/@]+):[^@]*@")


def _is_pandas(table: Any) -> bool:
    return type(table).__module__.split(".")[0] == "pandas" and hasattr(table, "iloc") and hasattr(table, "columns")


def _batches(table: Any, name: str, columns: list[str], arrow: Any, *, rows: int) -> Pieces:
    try:
        for batch in _arrow_batches(table, name, columns, arrow, rows):
            choose_columns(columns, tuple(batch.schema.names), name)
            yield from arrow_pieces(batch.select(columns), arrow, rows)
    except (arrow.ArrowException, TypeError) as problem:
        raise FormatError("table", f"the table cannot be read: {problem}", place=name) from None


def _arrow_batches(table: Any, name: str, columns: list[str], arrow: Any, rows: int) -> Iterable[Any]:
    if _is_pandas(table):
        choose_columns(columns, tuple(map(str, table.columns)), name)
        return _slice_frame(table, columns, arrow, rows)
    if hasattr(table, "scanner") and hasattr(table, "to_batches"):
        choose_columns(columns, tuple(table.schema.names), name)
        return table.to_batches(columns=columns, batch_size=rows)  # type: ignore[no-any-return]
    if hasattr(table, "collect_batches"):
        choose_columns(columns, tuple(table.collect_schema().names()), name)
        found = table.select(columns).collect_batches(chunk_size=rows, maintain_order=True)
        return (batch for frame in found for batch in arrow.RecordBatchReader.from_stream(frame))
    for reader in _READERS:
        if hasattr(table, reader):
            return getattr(table, reader)(rows)  # type: ignore[no-any-return]
    if hasattr(table, "fetch_record_batch"):
        return table.fetch_record_batch()  # type: ignore[no-any-return]
    return arrow.RecordBatchReader.from_stream(table)  # type: ignore[no-any-return]


def _slice_frame(frame: Any, columns: list[str], arrow: Any, rows: int) -> Iterator[Any]:
    """A frame of pandas, some rows at a time; the columns are called by texts, whatever they are called there."""
    places = [list(map(str, frame.columns)).index(name) for name in columns]
    for begin in range(0, len(frame), rows):
        part = frame.iloc[begin : begin + rows, places]
        arrays = [arrow.array(part.iloc[:, i], from_pandas=True) for i in range(len(columns))]
        yield arrow.RecordBatch.from_arrays([_whole(each, arrow) for each in arrays], names=columns)


def _whole(array: Any, arrow: Any) -> Any:
    return array.combine_chunks() if isinstance(array, arrow.ChunkedArray) else array


def _fetch_pieces(cursor: Any, name: str, columns: list[str], *, rows: int) -> Pieces:
    described = getattr(cursor, "description", None)
    if described is None and hasattr(cursor, "keys"):
        described = [(each,) for each in cursor.keys()]  # noqa: SIM118 - a result of SQLAlchemy is no mapping
    if described is None:
        raise FormatError("table", "the cursor has no rows", place=name, hint="cursor.execute('SELECT ...') before")
    names = tuple(str(each[0]) for each in described)
    choose_columns(columns, names, name)
    places = [names.index(each) for each in columns]
    while found := cursor.fetchmany(rows):
        yield {
            each: TextColumn([cell_text(row[at], name, each) for row in found])
            for each, at in zip(columns, places, strict=True)
        }


def cell_text(value: Any, place: str, column: str) -> str:
    """The text of a cell of a database, empty where it has no value; numbers as Arrow writes them, with one zero.

    >>> [cell_text(value, "", "") for value in (None, True, 7, 0.5, -0.0, 1e3, Decimal("2.50"), datetime(2024, 3, 1, 12))]
    ['', 'true', '7', '0.5', '0', '1000', '2.50', '2024-03-01T12:00:00']
    """
    if value is None:
        return ""
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value)
    if isinstance(value, float):
        return repr(value + 0.0).removesuffix(".0")
    if isinstance(value, Decimal):
        return format(value, "f")
    if isinstance(value, datetime | date):
        return value.isoformat()
    what = f"a {type(value).__name__}"
    if isinstance(value, bytes | memoryview):
        try:
            return bytes(value).decode()
        except UnicodeDecodeError:
            what = "bytes that are no text in UTF-8"
    raise FormatError(
        "cell",
        f"a cell is {what}",
        place=f"{place}: {column}",
        hint="CAST(... AS TEXT) in the query",
    )
