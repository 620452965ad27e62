"""Tables in parts: tallies of parts join to the tally of the whole however it is split; folders, frames, relations and cursors."""

from __future__ import annotations

import pickle
import random
import sqlite3
from fractions import Fraction
from functools import partial
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.amounts import examples
from tests.release.test_tables import by_hand, consistent, facts, rows_in_time

from privproof.errors import FormatError
from privproof.execution.chunks import map_chunks
from privproof.execution.workers import Workers
from privproof.release import Chain, Request, calibrate, count, histogram, release, release_table
from privproof.release.tables import table_counting
from privproof.release.tables.table_counting import TablePart, count_part
from privproof.release.tables.table_files import ROWS_AT_ONCE, Bins, TableReading, summarise
from privproof.release.tables.table_streams import query_rows

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")


def inline(function, parts):
    """Counts here, and sends everything as if to another process."""
    for part in parts:
        sent, given = pickle.loads(pickle.dumps((function, part)))
        yield pickle.loads(pickle.dumps(sent(given)))


def table_of(rows):
    columns = {name: [str(row[i]) for row in rows] for i, name in enumerate(("who", "time"))}
    columns["time"] = [f"{float(row[1]):.1f}" for row in rows]
    return pa.table({**columns, "value": [row[2] or None for row in rows]})


def parts_of(table, cuts, folder):
    """Files that hold the rows between cuts, in order."""
    edges = [0, *sorted(cuts), len(table)]
    paths = []
    for number, (begin, end) in enumerate(pairwise(edges)):
        paths.append(folder / f"part-{number}.parquet")
        pq.write_table(table.slice(begin, end - begin), paths[-1])
    return paths


@pytest.fixture(scope="session")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("parts")


@settings(max_examples=examples(240))
@given(
    rows=rows_in_time(),
    cuts=st.lists(st.integers(0, 25), max_size=4),
    gap=st.sampled_from([None, "0", "0.1", "1", "5/2"]),
    known=st.booleans(),
    seed=st.integers(0, 99),
)
def test_tallies_form_a_monoid(folder, rows, cuts, gap, known, seed):
    """Neighbouring parts, empty ones among them, are joined in any order, and give what counting by hand gives."""
    if all(value == "" for _, _, value in rows):
        return
    states = ["walk", "rest", "run", "a,b", 'so "it" is', "ruhen äöü"] if known else None
    expected = by_hand(rows, gap=None if gap is None else Fraction(gap), states=states)
    paths = parts_of(table_of(rows), [min(cut, len(rows)) for cut in cuts], folder)
    options = {"column": "value", "series": "who", "time": "time", "gap": gap, "states": states}
    reading = TableReading.of(paths, **options)
    assert facts(summarise(reading, mapped=inline, rows=1 + seed % 5)) == expected

    source = random.Random(seed)
    counted = [
        (count_part(reading, part, rows=7, backend="auto"), part)
        for part in (TablePart(path, str(path)) for path in paths)
    ]
    while len(counted) > 1:
        at = source.randrange(len(counted) - 1)
        (left, part), (right, after) = counted[at : at + 2]
        left.join(right, after)
        counted[at : at + 2] = [(left, part)]
    tally, names = counted[0][0].tally, counted[0][0].states.names
    assert tuple(names) == expected["states"]
    assert (tuple(tally.counts), tuple(tally.firsts)) == (expected["counts"], expected["firsts"])
    assert tally.transitions.tolist() == expected["transitions"]
    assert (dict(tally.lengths()), tally.series) == (expected["lengths"], expected["series"])


@settings(max_examples=examples(60))
@given(seed=st.integers(0, 2**32 - 1), missing=st.booleans(), size=st.integers(1, 90), apart=st.booleans())
def test_one_series_is_counted_by_its_steps(folder, seed, missing, size, apart):
    """Pieces with few texts are counted by pairs of texts; with missing entries, and with many texts, row by row."""
    source = np.random.default_rng(seed)
    values = source.choice(["a", "b", "c", ""], 300, p=[0.5, 0.3, 0.15, 0.05] if missing else [0.5, 0.3, 0.2, 0])
    coded = pa.array([value or None for value in values.tolist()]).dictionary_encode()
    table = pa.table({"value": coded, "more": range(300)})
    pq.write_table(table, folder / "run.parquet", row_group_size=70)
    expected = by_hand([("all", 0, value) for value in values.tolist()])
    mapping = {"a": "x", "b": "y", "c": "x"}
    mapped = by_hand([("all", 0, value) for value in values.tolist()], state=mapping.__getitem__, states=["x", "y"])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(table_counting, "PART_ROWS", 100)
        how = {"rows": size, "mapped": inline if apart else None}
        reading = TableReading.of(folder / "run.parquet", column="value")
        assert facts(summarise(reading, **how)) == expected
        reading = TableReading.of(folder / "run.parquet", column="value", mapping=mapping)
        assert facts(summarise(reading, **how)) == mapped


def test_texts_that_no_row_has_are_no_states(tmp_path):
    coded = pa.DictionaryArray.from_arrays(pa.array([2, 1, 1, 2, 2] * 9, pa.int32()), ["unused", "b", "c"])
    pq.write_table(pa.table({"v": coded}), tmp_path / "t.parquet")
    assert summarise(TableReading.of(tmp_path / "t.parquet", column="v")).states == ("c", "b")
    known = TableReading.of(tmp_path / "t.parquet", column="v", states=["b", "c"])
    assert summarise(known).counts == (18, 27)


def test_processes_count_parts(tmp_path, monkeypatch):
    source = np.random.default_rng(3)
    many = 4_000
    rows = [
        (f"s{who}", Fraction(time), value)
        for who, time, value in zip(
            source.integers(0, 40, many).tolist(),
            np.cumsum(source.integers(0, 3, many)).tolist(),
            source.choice(["a", "b", ""], many).tolist(),
            strict=True,
        )
    ]
    pq.write_table(table_of(rows), tmp_path / "t.parquet", row_group_size=500)
    monkeypatch.setattr(table_counting, "PART_ROWS", 900)
    reading = TableReading.of(tmp_path / "t.parquet", column="value", series="who", time="time", gap=20)
    with Workers(jobs=2) as workers:
        found = summarise(reading, mapped=partial(map_chunks, workers))
    consistent(found)
    assert facts(found) == by_hand(rows, gap=20)


def test_faults_are_told_where_they_are_whatever_the_parts(tmp_path, monkeypatch):
    monkeypatch.setattr(table_counting, "PART_ROWS", 2)

    def said(columns, code, **how):
        pq.write_table(pa.table(columns), tmp_path / "t.parquet", row_group_size=2)
        messages = set()
        for mapped in (None, inline):
            with pytest.raises(FormatError) as caught:
                summarise(TableReading.of(tmp_path / "t.parquet", column="v", **how), mapped=mapped)
            assert caught.value.code == code
            messages.add(caught.value.place)
        assert len(messages) == 1
        return messages.pop()

    values = ["a", "b", "a", "a", "b", "x"]
    assert said({"v": values}, "unknown-state", states=["a", "b"]).endswith("row 6: v")
    times = {"v": ["a"] * 6, "t": [1, 2, 3, 4, 3, 9]}
    assert said(times, "time-order", time="t").endswith("row 5: t")
    mixed = {"v": ["a"] * 6, "t": ["1", "2", "3", "4", "2024-03-01", "2024-03-02"]}
    assert said(mixed, "time", time="t").endswith("row 5: t")


# ------------------------------------------------------------------------------------------------------------- folders


def test_a_folder_is_a_table_in_the_order_of_names(tmp_path):
    for number, value in ((10, "c"), (2, "b"), (1, "a")):
        (tmp_path / f"part-{number}.csv").write_text(f"v\n{value}\n{value}\n", encoding="utf-8")
    (tmp_path / "_SUCCESS").write_text("", encoding="utf-8")
    (tmp_path / ".hidden.csv").write_text("v\nz\n", encoding="utf-8")
    for mapped in (None, inline):
        found = summarise(TableReading.of(tmp_path, column="v"), mapped=mapped)
        assert found.states == ("a", "b", "c")
        assert found.transitions.tolist() == [[1, 1, 0], [0, 1, 1], [0, 0, 1]]
    with pytest.raises(FormatError, match="named 2 times"):
        summarise(TableReading.of([tmp_path, tmp_path / "part-2.csv"], column="v"))
    (tmp_path / "none").mkdir()
    with pytest.raises(FormatError, match="the folder has no tables"):
        summarise(TableReading.of(tmp_path / "none", column="v"))


def test_folders_that_say_a_column(tmp_path):
    for name, values in (("ann%20b", ["a", "b"]), ("bob", ["b", None])):
        place = tmp_path / "year=2024" / f"who={name}"
        place.mkdir(parents=True)
        pq.write_table(pa.table({"v": values}), place / "0.parquet")
    found = summarise(TableReading.of(tmp_path, column="v", series="who"))
    assert (found.series, dict(found.lengths), found.missing) == (2, {1: 1, 2: 1}, 1)
    assert dict(summarise(TableReading.of(tmp_path, column="v")).lengths) == {3: 1}
    with pytest.raises(FormatError, match="no column 'year'"):
        summarise(TableReading.of(tmp_path, column="year"))
    other = tmp_path / "year=2024" / "who=__HIVE_DEFAULT_PARTITION__"
    other.mkdir()
    pq.write_table(pa.table({"v": ["a"]}), other / "0.parquet")
    with pytest.raises(FormatError, match="there is no series"):
        summarise(TableReading.of(tmp_path, column="v", series="who"))


# ------------------------------------------------------------------------------------------------ frames and databases

ROWS = [("x", 1, "a", 0.5), ("y", 1, "b", 1.5), ("x", 2, "b", 2.0), ("y", 3, None, 0.25), ("x", 7, "a", 3.0)]
NAMES = ("who", "t", "v", "watts")


def columns():
    return dict(zip(NAMES, map(list, zip(*ROWS, strict=True)), strict=True))


def pandas_frame():
    return pytest.importorskip("pandas").DataFrame(columns())


def pandas_categories():
    return pandas_frame().astype({"v": "category"})


def polars_frame():
    return pytest.importorskip("polars").DataFrame(columns())


def polars_categories():
    polars = pytest.importorskip("polars")
    return polars_frame().with_columns(polars.col("v").cast(polars.Categorical))


def lazy_frame():
    return polars_frame().lazy()


def duckdb_relation():
    duckdb = pytest.importorskip("duckdb")
    connection = duckdb.connect()
    connection.execute("CREATE TABLE t (who TEXT, t INTEGER, v TEXT, watts DOUBLE)")
    connection.executemany("INSERT INTO t VALUES (?, ?, ?, ?)", ROWS)
    return connection.sql("SELECT * FROM t")


def duckdb_query():
    relation = duckdb_relation()
    return relation.query("r", "SELECT v, who, t, watts FROM r")


def sqlite_cursor():
    connection = sqlite3.connect(":memory:")
    connection.execute("CREATE TABLE t (who, t, v, watts)")
    connection.executemany("INSERT INTO t VALUES (?, ?, ?, ?)", ROWS)
    return connection.execute("SELECT v, t, who, watts FROM t ORDER BY rowid")


def sqlalchemy_result():
    alchemy = pytest.importorskip("sqlalchemy")
    connection = alchemy.create_engine("sqlite://").connect()
    connection.exec_driver_sql("CREATE TABLE t (who, t, v, watts)")
    connection.exec_driver_sql("INSERT INTO t VALUES (?, ?, ?, ?)", ROWS)
    return connection.execute(alchemy.text("SELECT * FROM t ORDER BY rowid"))


def arrow_table():
    return pa.table(columns())


def arrow_reader():
    return arrow_table().to_reader(max_chunksize=2)


def arrow_dataset():
    return pytest.importorskip("pyarrow.dataset").dataset(arrow_table())


TABLES = (
    *(pandas_frame, pandas_categories, polars_frame, polars_categories, lazy_frame, duckdb_relation, duckdb_query),
    *(sqlite_cursor, sqlalchemy_result, arrow_table, arrow_reader, arrow_dataset),
)


@pytest.mark.parametrize("made", TABLES)
def test_frames_relations_and_cursors_are_tables(made):
    expected = by_hand([(who, time, value) for who, time, value, _ in ROWS], gap=1, states=["a", "b"])
    for rows in (2, ROWS_AT_ONCE):
        reading = TableReading.of(made(), column="v", series="who", time="t", gap=1, states=["a", "b"])
        assert facts(summarise(reading, rows=rows)) == expected
    binned = summarise(TableReading.of(made(), column="watts", bins=Bins.between([0, 1, "1.5", 4])))
    assert binned.counts == (2, 0, 3)
    assert facts(summarise(TableReading.of(made(), column="v"))) == by_hand(
        [("all", 0, value) for _, _, value, _ in ROWS]
    )
    with pytest.raises(FormatError, match="no column 'w'"):
        summarise(TableReading.of(made(), column="w"))


def sqlite_address(folder):
    with sqlite3.connect(folder / "t.sqlite") as connection:
        connection.execute("CREATE TABLE t (who, t, v, watts)")
        connection.executemany("INSERT INTO t VALUES (?, ?, ?, ?)", ROWS)
    return str(folder / "t.sqlite")


def duckdb_address(folder):
    with pytest.importorskip("duckdb").connect(str(folder / "t.duckdb")) as connection:
        connection.execute("CREATE TABLE t (who TEXT, t INTEGER, v TEXT, watts DOUBLE)")
        connection.executemany("INSERT INTO t VALUES (?, ?, ?, ?)", ROWS)
    return str(folder / "t.duckdb")


def sqlalchemy_address(folder):
    pytest.importorskip("sqlalchemy")
    return f"sqlite:///{sqlite_address(folder)}"


@pytest.mark.parametrize("made", [sqlite_address, duckdb_address, sqlalchemy_address])
def test_addresses_of_databases(made, tmp_path):
    address = made(tmp_path)
    check_address(address, may_write=made is sqlalchemy_address)


def check_address(address, *, may_write=False):
    """What a query finds is a table; a query that changes something is refused, where the driver can."""
    expected = by_hand([(who, time, value) for who, time, value, _ in ROWS], gap=1, states=["a", "b"])
    for rows in (2, ROWS_AT_ONCE):
        found = query_rows(address, "SELECT v, t, who FROM t")
        reading = TableReading.of(found, column="v", series="who", time="t", gap=1, states=["a", "b"])
        assert facts(summarise(reading, rows=rows)) == expected
    with pytest.raises(FormatError, match="the database says"):
        query_rows(address, "SELECT v FROM nowhere")
    if not may_write:
        with pytest.raises(FormatError, match="the database says"):
            query_rows(address, "DELETE FROM t")
    found = query_rows(address, "SELECT v FROM t")
    assert facts(summarise(TableReading.of(found, column="v"))) == by_hand(
        [("all", 0, value) for _, _, value, _ in ROWS]
    )


def test_what_is_no_table_is_refused():
    for made in (7, {"v": ["a"]}, object()):
        with pytest.raises(FormatError, match="is no table"):
            TableReading.of(made, column="v")
    cursor = sqlite3.connect(":memory:").cursor()
    with pytest.raises(FormatError, match="no rows"):
        summarise(TableReading.of(cursor, column="v"))
    cursor.execute("SELECT x'ff' AS v")
    with pytest.raises(FormatError, match="no text"):
        summarise(TableReading.of(cursor, column="v"))


def test_series_beyond_the_memory_that_may_be_taken_are_told(monkeypatch):
    monkeypatch.setattr("privproof.memory.MemoryGrowth.beyond", lambda self: "out of memory: 9 MiB are taken")
    with pytest.raises(FormatError, match="there are 2 series and 2 states") as caught:
        summarise(TableReading.of(arrow_table(), column="v", series="who"))
    assert caught.value.code == "memory"


# ------------------------------------------------------------------------------------------------------------- releases

CHAIN = Chain.of({"a": {"a": "0.9", "b": "0.1"}, "b": {"a": "0.4", "b": "0.6"}})


def test_frames_in_and_frames_out():
    """The same release of a frame, of a file of it, and of its series; what is released goes into frames again."""
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"v": ["a", "b", "b", "a"] * 10})
    said = []
    asked = Request(data=frame, column="v", query="histogram", epsilon="ln(2)", priors=CHAIN, seed=1)
    record = release_table(asked, told=said.append)
    assert record.verdict.status == "proved"
    assert record.source.data["files"] == "DataFrame of pandas"
    assert any("method quilt" in text for text in said)
    again = calibrate(CHAIN, length=40, query=histogram(CHAIN.states), epsilon="ln(2)")
    assert release(again, frame["v"].tolist(), seed=1).values == record.released.values
    out = pa.table(record.released)
    assert out.column("name").to_pylist() == ["a", "b"]
    assert [Fraction(text) for text in out.column("exact").to_pylist()] == list(record.released.values.values())
    assert out.column("value").to_pylist() == [float(value) for value in record.released.values.values()]


def test_polars_takes_what_was_released():
    polars = pytest.importorskip("polars")
    made = calibrate(CHAIN, length=4, query=count("b"), epsilon=1)
    assert polars.DataFrame(release(made, ["a", "b", "b", "a"], seed=1)).columns == ["name", "value", "exact"]


def test_a_prior_that_is_fitted_to_the_very_frame_is_told():
    frame = pa.table({"v": ["a", "b", "b", "a"] * 10})
    record = release_table(Request(data=frame, public=frame, column="v", query="count:b", epsilon=1, seed=1))
    assert record.source.private
    assert any("fitted to the private data" in text for text in record.source.warnings)
