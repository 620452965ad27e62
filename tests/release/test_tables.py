"""Tables in one pass: both ways of reading agree with counting by hand, wherever the pieces end; what is refused, and where."""

from __future__ import annotations

import csv
import gzip
import io
import subprocess
import sys
from collections import Counter
from datetime import datetime
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.amounts import examples

from privproof.errors import FormatError
from privproof.exact import rational
from privproof.release.tables import table_sources
from privproof.release.tables.table_cells import instant
from privproof.release.tables.table_files import Bins, TableReading, summarise

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")

BACKENDS = ("arrow", "plain")


def facts(summary):
    """A summary as plain data."""
    return {
        "states": summary.states,
        "counts": summary.counts,
        "rows": summary.rows,
        "missing": summary.missing,
        "series": summary.series,
        "lengths": dict(summary.lengths),
        "firsts": summary.firsts,
        "transitions": summary.transitions.tolist(),
    }


def by_hand(rows, *, state=lambda value: value, states=None, gap=None):
    """The facts from rows (series, time, value), by following the definition; times are fractions."""
    chains, open_chains, last = [], {}, {}
    found = list(states or ())
    for who, time, value in rows:
        if gap is not None and who in last and time - last[who] > gap:
            open_chains.pop(who, None)
        last[who] = time
        if value in ("", None):
            open_chains.pop(who, None)
            continue
        name = state(value)
        if name not in found:
            found.append(name)
        if who not in open_chains:
            open_chains[who] = []
            chains.append(open_chains[who])
        open_chains[who].append(name)
    counts = Counter(name for chain in chains for name in chain)
    steps = Counter(step for chain in chains for step in pairwise(chain))
    return {
        "states": tuple(found),
        "counts": tuple(counts[name] for name in found),
        "rows": len(rows),
        "missing": sum(value in ("", None) for _, _, value in rows),
        "series": len(last),
        "lengths": dict(sorted(Counter(map(len, chains)).items())),
        "firsts": tuple(Counter(chain[0] for chain in chains)[name] for name in found),
        "transitions": [[steps[a, b] for b in found] for a in found],
    }


def consistent(summary):
    assert summary.entries + summary.missing == summary.rows
    assert sum(length * many for length, many in summary.lengths.items()) == summary.entries
    assert sum(summary.firsts) == summary.chains
    assert summary.transitions.sum() == summary.entries - summary.chains


def written(rows, names=("who", "time", "value"), **how):
    text = io.StringIO()
    csv.writer(text, **how).writerows([names, *rows])
    return text.getvalue()


@pytest.fixture
def table(tmp_path):
    """Writes a text into a file and returns its path."""

    def write(text, name="data.csv"):
        path = tmp_path / name
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return path

    return write


@pytest.fixture(scope="session")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("tables")


def refused(reading, code, *, backend="auto", rows=2):
    with pytest.raises(FormatError) as error:
        summarise(reading, backend=backend, rows=rows)
    assert error.value.code == code
    return str(error.value)


VALUES = st.sampled_from(["rest", "walk", "run", "a,b", 'so "it" is', "", "ruhen äöü"])


@st.composite
def rows_in_time(draw, values=VALUES):
    """Rows of several mixed series whose times ascend within every series."""
    clock = {}
    rows = []
    for who in draw(st.lists(st.sampled_from("xyz"), min_size=1, max_size=25)):
        clock[who] = clock.get(who, Fraction(0)) + draw(st.sampled_from([0, 1, 2, Fraction(1, 10), Fraction(5, 2)]))
        rows.append((who, clock[who], draw(values)))
    return rows


def as_decimals(rows):
    return [(who, str(time) if time.denominator == 1 else f"{float(time):.1f}", value) for who, time, value in rows]


@settings(max_examples=examples(120))
@given(
    rows=rows_in_time(),
    size=st.integers(1, 9),
    gap=st.sampled_from([None, "0", "0.1", "1", "5/2"]),
    block=st.booleans(),
)
def test_both_ways_agree_with_counting_by_hand(folder, rows, size, gap, block):
    if all(value == "" for _, _, value in rows):
        return
    expected = by_hand(rows, gap=None if gap is None else Fraction(gap))
    path = folder / "mixed.csv"
    path.write_text(written(as_decimals(rows)), encoding="utf-8", newline="")
    columns = {name: [row[i] or None for row in as_decimals(rows)] for i, name in enumerate(("who", "time", "value"))}
    pq.write_table(pa.table(columns), folder / "mixed.parquet", row_group_size=4)
    options = {"column": "value", "series": "who", "time": "time", "gap": gap}
    with pytest.MonkeyPatch.context() as patch:
        if block:
            patch.setattr(table_sources, "BLOCK", 64)
        for backend in BACKENDS:
            summary = summarise(TableReading.of(path, **options), rows=size, backend=backend)
            consistent(summary)
            assert facts(summary) == expected
    assert facts(summarise(TableReading.of(folder / "mixed.parquet", **options), rows=size)) == expected


@settings(max_examples=examples(60))
@given(rows=rows_in_time(), size=st.integers(1, 7))
def test_without_series_and_times(folder, rows, size):
    rows = [("all", time, value) for _, time, value in rows]
    if all(value == "" for _, _, value in rows):
        return
    path = folder / "single.csv"
    path.write_text(written([[value] for _, _, value in rows], ["value"]), encoding="utf-8", newline="")
    for backend in BACKENDS:
        assert facts(summarise(TableReading.of(path, column="value"), rows=size, backend=backend)) == by_hand(rows)


NEAR_EDGES = st.sampled_from(
    [
        *("0.3", "0.30", "3e-1", "+.3", "0.29999999999999999999", "0.3000000000000000000001", "0.1", "0.7", "-4"),
        *(" 0.2 ", "00.6", "0.6", "0.600", "0.59999999999999997", "1", "1.0", "0", "-0", "-1e-400", "1e400"),
        *("9" * 40, "5.", ""),
    ]
) | st.decimals(-1, 2, places=2, allow_nan=False).map(str)


@settings(max_examples=examples(120))
@given(values=st.lists(NEAR_EDGES, min_size=1, max_size=30), size=st.integers(1, 9))
def test_decimals_are_put_into_the_exact_bins(folder, values, size):
    if all(value == "" for value in values):
        return
    bins = Bins.of(0, "0.1", 1)

    def exact(text):
        tenths = int(Fraction(text) * 10 // 1)
        return bins.names[min(max(tenths, 0), 9)]

    rows = [("all", 0, value) for value in values]
    expected = by_hand(rows, state=exact, states=bins.names)
    path = folder / "binned.csv"
    path.write_text(written([[value, "x"] for value in values], ["value", "more"]), encoding="utf-8", newline="")
    pq.write_table(pa.table({"value": [value or None for value in values]}), folder / "binned.parquet")
    for backend in BACKENDS:
        assert (
            facts(summarise(TableReading.of(path, column="value", bins=bins), rows=size, backend=backend)) == expected
        )
    reading = TableReading.of(folder / "binned.parquet", column="value", bins=bins)
    assert facts(summarise(reading, rows=size)) == expected


def test_floats_in_parquet_stand_for_their_shortest_decimal(tmp_path):
    values = [0.3, 0.1 + 0.2, 0.7, 0.6, 0.35, None, -1.0, 5.0]
    bins = Bins.of(0, "0.1", 1)
    expected = by_hand(
        [("all", 0, "" if value is None else repr(value)) for value in values],
        state=lambda text: bins.names[min(max(int(Fraction(text) * 10 // 1), 0), 9)],
        states=bins.names,
    )
    for kind in (pa.float64(), pa.float32()):
        path = tmp_path / f"{kind}.parquet"
        pq.write_table(pa.table({"value": pa.array(values, kind)}), path)
        assert facts(summarise(TableReading.of(path, column="value", bins=bins))) == expected
    path = tmp_path / "whole.parquet"
    pq.write_table(pa.table({"value": pa.array([2**53, 2**53 + 1, 2**53 + 2], pa.int64())}), path)
    edges = Bins.between([0, 2**53 + 1, 2**54])
    assert summarise(TableReading.of(path, column="value", bins=edges)).counts == (1, 2)
    path = tmp_path / "exact.parquet"
    pq.write_table(pa.table({"value": pa.array(["0.30", "0.29"]).cast(pa.decimal128(5, 2))}), path)
    assert summarise(TableReading.of(path, column="value", bins=Bins.between([0, "0.3", 1]))).counts == (1, 1)


def test_floats_that_are_no_numbers_are_missing_only_if_one_says_so(tmp_path):
    path = tmp_path / "gaps.parquet"
    pq.write_table(pa.table({"value": pa.array([1.0, float("nan"), 2.0])}), path)
    bins = Bins.of(0, 1, 4)
    message = refused(TableReading.of(path, column="value", bins=bins), "number")
    assert "row 2: value: 'nan' is no number" in message
    summary = summarise(TableReading.of(path, column="value", bins=bins, missing=["nan"]))
    assert (summary.missing, dict(summary.lengths)) == (1, {1: 2})


def test_bins_are_named_exactly_and_checked():
    assert Bins.of(0, 200, 600).names == ("0..200", "200..400", "400..600")
    assert Bins.of("-0.5", "1/4", 0).names == ("-0.5..-0.25", "-0.25..0")
    assert Bins.of(0, "1/3", 1).names == ("0..1/3", "1/3..2/3", "2/3..1")
    for arguments in ((0, 3, 10), (0, 0, 1), (1, 1, 1), (0, 1, 5000)):
        with pytest.raises(FormatError, match="bins"):
            Bins.of(*arguments)
    with pytest.raises(FormatError, match="do not ascend"):
        Bins.between([0, 2, 1])
    with pytest.raises(FormatError, match="beyond 1e300"):
        Bins.between([0, "1e301"])


@given(text=st.from_regex(r"[+-]?[0-9]{1,30}(\.[0-9]{0,30})?(e[+-]?[0-9]{1,2})?", fullmatch=True))
def test_a_bin_holds_its_decimals(text):
    edges = [Fraction(-1), Fraction(1, 3), Fraction(1, 2), Fraction(2**60 + 1), Fraction(10**25)]
    found = Bins.between(edges).find(text)
    assert found == min(max(sum(Fraction(text) >= edge for edge in edges) - 1, 0), 3)


def test_states_from_a_mapping(table):
    path = table("v\n1\n2\n3\n2\n")
    for backend in BACKENDS:
        reading = TableReading.of(path, column="v", mapping={"1": "low", "2": "high", "3": "high", "4": "out"})
        assert facts(summarise(reading, backend=backend)) | {"series": 1} == by_hand(
            [("", 0, "low"), ("", 0, "high"), ("", 0, "high"), ("", 0, "high")], states=("low", "high", "out")
        )
        some = TableReading.of(path, column="v", mapping={"1": "low", "2": "high"})
        assert "row 3: v: the mapping has no state for '3'" in refused(some, "unknown-value", backend=backend)
        binned = TableReading.of(path, column="v", bins=Bins.of(0, 2, 4), mapping={"0..2": "low", "2..4": "high"})
        assert summarise(binned, backend=backend).counts == (1, 3)


def test_states_that_are_known_keep_their_order_and_others_are_refused(table):
    path = table("v\nwalk\nrest\nwlak\n")
    for backend in BACKENDS:
        message = refused(TableReading.of(path, column="v", states=["rest", "walk"]), "unknown-state", backend=backend)
        assert "data.csv: row 3: v: 'wlak' is none of the states" in message
        assert "did you mean 'walk'?" in message
        summary = summarise(TableReading.of(path, column="v", states=["rest", "wlak", "run", "walk"]), backend=backend)
        assert summary.counts == (1, 1, 0, 1)
        assert summarise(TableReading.of(path, column="v"), rows=1, backend=backend).states == ("walk", "rest", "wlak")


def test_too_many_states_are_refused(table):
    path = table("v\n" + "".join(f"{i % 3000}\n" for i in range(5000)))
    for backend in BACKENDS:
        message = refused(TableReading.of(path, column="v"), "states", backend=backend, rows=100)
        assert "row 2001" in message
        assert "bins" in message


def test_many_states_are_counted_sparsely(table):
    values = [str(i * i % 1999) for i in range(6000)]
    path = table("v\n" + "\n".join(values))
    expected = by_hand([("", 0, value) for value in values])
    for backend in BACKENDS:
        assert facts(summarise(TableReading.of(path, column="v"), rows=500, backend=backend)) == expected


def test_missing_entries_end_chains(table):
    path = table("v,w\na,1\nNA,2\nb,3\n,4\n,5\nb,6\na,7\n")
    for backend in BACKENDS:
        summary = summarise(TableReading.of(path, column="v", missing=["NA"]), rows=1, backend=backend)
        assert (summary.missing, dict(summary.lengths), summary.firsts) == (3, {1: 2, 2: 1}, (1, 2))
        assert "NA" in summarise(TableReading.of(path, column="v"), backend=backend).states


def test_empty_lines(table):
    """They are skipped, except where there is one column only: there they are empty cells."""
    for backend in BACKENDS:
        two = summarise(TableReading.of(table("v,w\na,1\n\nb,2\n\n"), column="v"), backend=backend)
        assert (two.rows, dict(two.lengths)) == (2, {2: 1})
        one = summarise(TableReading.of(table("v\na\n\nb\n"), column="v"), backend=backend)
        assert (one.rows, one.missing, dict(one.lengths)) == (3, 1, {1: 2})


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_ends_of_lines_marks_and_quotes(table, end):
    text = "\ufeff" + end.join(["v,w", '"a",1', 'a,"two\nlines"', "b,3"])
    for backend in BACKENDS:
        summary = summarise(TableReading.of(table(text), column="v"), backend=backend, rows=1)
        assert (summary.states, summary.counts) == (("a", "b"), (2, 1))


def test_packed_tabbed_and_headless_files(table):
    text = "v\tw\na\t1\nb\t2\n"
    for backend in BACKENDS:
        for path in (
            table(text, "data.tsv"),
            table(gzip.compress(text.encode()), "data.tsv.gz"),
            table(gzip.compress(text[:6].encode()) + gzip.compress(text[6:].encode()), "parts.tsv.gz"),
        ):
            assert summarise(TableReading.of(path, column="v"), backend=backend).counts == (1, 1)
        bare = table("a;1\nb;2\n", "bare.txt")
        summary = summarise(TableReading.of(bare, column="1", delimiter=";", header=False), backend=backend)
        assert summary.states == ("a", "b")


def test_timestamps(table, tmp_path):
    moments = ["2024-03-01 00:00:00", "2024-03-01T00:01", "2024-03-01 00:02:00.000000001", "2024-03-01 00:03:00"]
    path = table(written([[moment, "a"] for moment in moments], ["t", "v"]))
    zoned = [
        "2024-03-31T01:59:00+01:00",
        "2024-03-31T03:00:00+02:00",
        "2024-03-31T01:01:00Z",
        "2024-03-31 01:02:00-0000",
    ]
    other = table(written([[moment, "a"] for moment in zoned], ["t", "v"]), "zoned.csv")
    for backend in BACKENDS:
        for gap, lengths in ((60, {2: 2}), ("60.000000001", {4: 1}), ("59.9999999999", {1: 2, 2: 1})):
            summary = summarise(TableReading.of(path, column="v", time="t", gap=gap), backend=backend, rows=1)
            assert dict(summary.lengths) == lengths
        assert dict(summarise(TableReading.of(other, column="v", time="t", gap=60), backend=backend).lengths) == {4: 1}
    for unit in ("s", "ms", "us", "ns"):
        for zone in (None, "Europe/Vienna"):
            times = pa.array([datetime(2024, 3, 1, 0, minute) for minute in (0, 1, 3, 4)]).cast(pa.timestamp(unit))
            times = times if zone is None else times.cast(pa.timestamp(unit, "UTC")).cast(pa.timestamp(unit, zone))
            pq.write_table(pa.table({"t": times, "v": list("abba")}), tmp_path / "t.parquet")
            reading = TableReading.of(tmp_path / "t.parquet", column="v", time="t", gap=60)
            assert dict(summarise(reading, rows=3).lengths) == {2: 2}
    days = pa.array([datetime(2024, 3, day) for day in (1, 2, 4)]).cast(pa.date32())
    pq.write_table(pa.table({"t": days, "v": list("abb")}), tmp_path / "t.parquet")
    reading = TableReading.of(tmp_path / "t.parquet", column="v", time="t", gap=86_400)
    assert dict(summarise(reading).lengths) == {1: 1, 2: 1}


@pytest.mark.parametrize(
    "times",
    [
        ["0.1", "0.2", "0.3", "0.4"],
        ["-0.3", "-0.2", "-.1", "0"],
        ["1e-1", " 0.2", "+0.3", "0.40"],
        [0.1, 0.2, 0.3, 0.4],
        ["4000000000000000000.1", "4000000000000000000.2", "4000000000000000000.3", "4000000000000000000.4"],
    ],
)
def test_tenths_are_exactly_a_tenth_apart(table, tmp_path, times):
    path = table(written([[time, "a"] for time in times], ["t", "v"]))
    pq.write_table(pa.table({"t": times, "v": ["a"] * 4}), tmp_path / "t.parquet")
    for gap, lengths in (("0.1", {4: 1}), ("0.0999999999999999999999", {1: 4})):
        for backend in BACKENDS:
            for rows in (1, 3, 10):
                summary = summarise(TableReading.of(path, column="v", time="t", gap=gap), backend=backend, rows=rows)
                assert dict(summary.lengths) == lengths
        reading = TableReading.of(tmp_path / "t.parquet", column="v", time="t", gap=gap)
        assert dict(summarise(reading).lengths) == lengths


def test_the_widest_steps_do_not_overflow(table):
    path = table(f"t,v\n{-(2**63)},a\n0.5,a\n{2**63 - 1},b\n")
    for backend in BACKENDS:
        for gap, lengths in ((2**63 - 1, {1: 1, 2: 1}), (2**64, {3: 1}), (10**30, {3: 1}), (5, {1: 3})):
            for rows in (1, 5):
                summary = summarise(TableReading.of(path, column="v", time="t", gap=gap), backend=backend, rows=rows)
                assert dict(summary.lengths) == lengths


@given(st.decimals(-(10**15), 10**15, places=12, allow_nan=False))
def test_instants_are_exact(number):
    whole, parts = instant(str(number), "numbers")
    assert whole + Fraction(parts, 10**18) == Fraction(number)


def test_times_that_descend_are_refused(table):
    path = table("who,t,v\nx,1,a\ny,0,a\nx,2,a\ny,3,a\nx,1.5,a\nx,0,a\n")
    for backend in BACKENDS:
        for rows in (1, 2, 3, 10):
            message = refused(
                TableReading.of(path, column="v", series="who", time="t"), "time-order", backend=backend, rows=rows
            )
            assert "row 5: t:" in message


@pytest.mark.parametrize(
    ("cells", "row", "said"),
    [
        (["1", ""], 2, "there is no time"),
        (["1", "noon"], 2, "'noon' is no time"),
        (["noon"], 1, "'noon' is no time"),
        ([""], 1, "is no time"),
        (["1", "0x10"], 2, "'0x10' is no time"),
        (["1", "2024-03-01"], 2, "is one of the local times, and the times before are numbers"),
        (["2024-03-01", "2024-03-01T10:00Z"], 2, "is one of the zoned times, and the times before are local times"),
        (["1", "1." + "1" * 19], 2, "is beyond what is read exactly"),
        (["1", "1e19"], 2, "is beyond what is read exactly"),
        (["1", "1e99999999999999999999"], 2, "is beyond what is read exactly"),
        (["2024-03-01", "2024-02-30"], 2, "is beyond what is read exactly"),
        (["2024-03-01", "2524-03-01"], 2, "is beyond what is read exactly"),
    ],
)
def test_times_that_are_none(table, cells, row, said):
    path = table(written([[cell, "a"] for cell in cells], ["t", "v"]))
    for backend in BACKENDS:
        for rows in (1, 5):
            message = refused(TableReading.of(path, column="v", time="t"), "time", backend=backend, rows=rows)
            assert f"row {row}: t:" in message
            assert said in message


def test_rows_without_a_series_are_refused(table):
    path = table("who,v\nx,a\n,b\n")
    for backend in BACKENDS:
        message = refused(TableReading.of(path, column="v", series="who"), "series", backend=backend)
        assert "row 2: who: there is no series" in message


def test_columns_that_are_not_there(table, tmp_path):
    path = table("state,time\na,1\n")
    pq.write_table(pa.table({"state": ["a"], "time": [1]}), tmp_path / "t.parquet")
    for one in (path, tmp_path / "t.parquet"):
        message = refused(TableReading.of(one, column="stat"), "column")
        assert "there is no column 'stat'; the columns are 'state', 'time'" in message
        assert "did you mean 'state'?" in message
    assert "delimiter: ';'" in refused(TableReading.of(table("state;time\na;1\n"), column="state"), "column")
    assert "2 columns are called 'v'" in refused(TableReading.of(table("v,v\na,1\n"), column="v"), "column")
    pq.write_table(pa.table({"v": [[1, 2]]}), tmp_path / "t.parquet")
    assert "list" in refused(TableReading.of(tmp_path / "t.parquet", column="v"), "column")


def test_files_that_are_no_tables(table, tmp_path):
    def said(path, code, **how):
        messages = {refused(TableReading.of(path, column="v"), code, backend=backend, **how) for backend in BACKENDS}
        assert all(str(path) in message for message in messages)
        return messages.pop()

    said(tmp_path / "none.csv", "file")
    said(tmp_path, "file")
    said(table(""), "empty")
    said(table("v\n"), "empty")
    said(table("v"), "empty")
    assert "all 2 entries are missing" in said(table("v,w\n,1\n,2\n"), "empty")
    said(table("\nv\na\n"), "header")
    said(table(b"\x7fELF\0\0\0\1"), "binary")
    said(table(b"v,w\n" + b"a,b\n" * 50_000 + b"a,\0b\n"), "binary", rows=10_000)
    assert "line 3: the file is not" in said(table(b"v,w\na,b\n\xff\xfe\xfd,b\n"), "encoding")
    said(table(gzip.compress(b"v\na\nb\n" * 100)[:-20], "cut.csv.gz"), "gzip")
    said(table(b"\x1f\x8bno gzip at all", "no.csv.gz"), "gzip")
    message = said(table("v,w\na,1\n\nb,2\nc,3,4\nd,5\n"), "row")
    assert "line 5: 3 cells, expected 2" in message
    assert "line 3: 1 cells, expected 2" in said(table("v,w\na,1\nb\n"), "row")
    assert "after line 2" in said(table('v,w\na,1\nb,"2\nc,3\nd,4\n'), "quotes")
    assert "after line 2" in said(table('v,w\na,1\nb,"2\nc,3\nd,"4\ne,5\n'), "quotes")
    assert "after line 2" in said(table('v,w\n5",1\nb,"2\nc,3\nd,4'), "quotes")


def test_quotation_marks_in_the_middle_of_a_cell_are_letters(table):
    for backend in BACKENDS:
        assert summarise(TableReading.of(table('v,w\n5" pipe,1\n'), column="v"), backend=backend).states == ('5" pipe',)


def test_damaged_parquet_is_refused(table, tmp_path):
    path = tmp_path / "whole.parquet"
    pq.write_table(pa.table({"v": ["a", "b"] * 500}), path)
    data = path.read_bytes()
    refused(TableReading.of(table(data[:-30], "cut.parquet"), column="v"), "parquet")
    refused(TableReading.of(table("v\na\n", "no.parquet"), column="v"), "parquet")
    refused(TableReading.of(table(b"PAR1" + b"\0" * 100 + b"PAR1", "zero.parquet"), column="v"), "parquet")
    refused(TableReading.of(path, column="v"), "extra", backend="plain")
    assert summarise(TableReading.of(table(data, "named.csv"), column="v")).counts == (500, 500)


def test_without_pyarrow(table, tmp_path, monkeypatch):
    def absent(name):
        raise ImportError(name)

    pq.write_table(pa.table({"v": ["a"]}), tmp_path / "t.parquet")
    monkeypatch.setattr(table_sources, "import_module", absent)
    assert summarise(TableReading.of(table("v\na\n"), column="v")).counts == (1,)
    for path in (tmp_path / "t.parquet", table("v\na\n")):
        assert "privproof[data]" in refused(TableReading.of(path, column="v"), "extra", backend="arrow")
    assert "pip install 'privproof[data]'" in refused(TableReading.of(tmp_path / "t.parquet", column="v"), "extra")


def test_numbers_that_are_none(table):
    path = table("v\n1\n2\nmany\n3\n")
    for backend in BACKENDS:
        for rows in (1, 2, 10):
            message = refused(
                TableReading.of(path, column="v", bins=Bins.of(0, 1, 4)), "number", backend=backend, rows=rows
            )
            assert "row 3: v: 'many' is no number" in message
    for text in ("1_0", "inf", "nan", "0x1", "1e", "٣", "1,5", "1/2", "1e99999999999999999999"):
        path = table(written([["1"], [text]], ["v"]))
        for backend in BACKENDS:
            message = refused(TableReading.of(path, column="v", bins=Bins.of(0, 1, 4)), "number", backend=backend)
            assert "row 2" in message


def test_readings_that_make_no_sense():
    for options in (
        {"gap": 1},
        {"gap": -1, "time": "t"},
        {"bins": Bins.of(0, 1, 2), "mapping": {"0..1": "low"}},
        {"bins": Bins.of(0, 1, 2), "states": ["0..1"]},
        {"mapping": {"1": "a"}, "states": ["b"]},
        {"states": ["a", "a"]},
        {"states": []},
        {"states": "ab"},
        {"missing": "NA"},
    ):
        with pytest.raises(FormatError):
            TableReading.of("data.csv", column="v", **options)
    with pytest.raises(FormatError):
        TableReading.of([], column="v")


def test_parquet_categories_and_other_kinds(tmp_path):
    path = tmp_path / "t.parquet"
    coded = pa.DictionaryArray.from_arrays(pa.array([2, 1, None, 2]), ["unused", "b", "c"])
    pq.write_table(pa.table({"v": coded, "n": [7, 8, 8, 7], "yes": [True, False, None, True]}), path)
    summary = summarise(TableReading.of(path, column="v", series="n"), rows=3)
    assert (summary.states, summary.counts, dict(summary.lengths)) == (("c", "b"), (2, 1), {1: 1, 2: 1})
    assert summarise(TableReading.of(path, column="n")).states == ("7", "8")
    assert summarise(TableReading.of(path, column="yes")).states == ("true", "false")
    pq.write_table(pa.table({"v": pa.array(["a", None], pa.large_string()), "w": [b"x", b"y"]}), path)
    assert summarise(TableReading.of(path, column="v", series="w")).counts == (1,)


def test_several_files_are_one_table(table, tmp_path):
    first, second = table("who,v\nx,a\ny,b\n", "1.csv"), table("who,v\nx,b\nz,\n", "2.csv")
    pq.write_table(pa.table({"who": ["x", "y"], "v": ["c", "c"]}), tmp_path / "3.parquet")
    summary = summarise(TableReading.of([first, second, tmp_path / "3.parquet"], column="v", series="who"))
    assert facts(summary) == by_hand(
        [("x", 0, "a"), ("y", 0, "b"), ("x", 0, "b"), ("z", 0, ""), ("x", 0, "c"), ("y", 0, "c")]
    )
    message = refused(TableReading.of([first, second], column="v", states=["a"]), "unknown-state")
    assert "1.csv: row 2" in message
    wrong = table("who,v\nx,a\ny,d\n", "4.csv")
    assert "4.csv: row 2" in refused(TableReading.of([first, wrong], column="v", states=["a", "b"]), "unknown-state")


def test_series_called_by_numbers_and_otherwise(table):
    """Whole numbers are kept apart from names, until both occur; 7 and 07 are two series."""
    names = ["7", "8", "7", "-3", "07", "8", "x", "7", "+7", "9" * 30, "8", "07", "0", "-0"]
    rows = [(name, 0, "a") for name in names]
    path = table(written([[who, value] for who, _, value in rows], ["who", "v"]))
    for backend in BACKENDS:
        for size in (1, 2, 3, 4, 20):
            summary = summarise(TableReading.of(path, column="v", series="who"), rows=size, backend=backend)
            assert facts(summary) == by_hand(rows)
        some = TableReading.of(path, column="v", series="who", missing=["-3"])
        assert "row 4: who" in refused(some, "series", backend=backend)


def test_merging_is_for_series_that_have_nothing_in_common(table):
    one = summarise(TableReading.of(table("v\na\nb\nb\n"), column="v"))
    two = summarise(TableReading.of(table("v\nb\n\nc\nb\n"), column="v"))
    both = one.merge(two)
    consistent(both)
    rows = [("1", 0, "a"), ("1", 0, "b"), ("1", 0, "b"), ("2", 0, "b"), ("2", 0, ""), ("2", 0, "c"), ("2", 0, "b")]
    assert facts(both) == by_hand(rows)
    assert both.total({"b": rational("1/2"), "z": rational(7)}) == 2
    assert str(both) == "6 entries in 3 states, 3 chains, 1 missing"
    with pytest.raises(ValueError, match="read-only"):
        both.transitions[0, 0] = 1


@settings(max_examples=examples(25))
@given(seed=st.integers(0, 2**32 - 1))
def test_longer_tables_with_many_series(folder, seed):
    random = np.random.default_rng(seed)
    many = int(random.integers(1, 400))
    names = [f"s{i}" for i in random.integers(0, int(random.integers(1, 120)), many)]
    if random.integers(2):
        names.sort()
    values = random.choice(["a", "b", "c", ""], many, p=[0.4, 0.3, 0.2, 0.1]).tolist()
    steps = random.choice([1, 2, 7], many).cumsum().tolist()
    rows = list(zip(names, map(Fraction, steps), values, strict=True))
    if not any(values):
        return
    path = folder / "longer.csv"
    path.write_text(written(rows), encoding="utf-8")
    gap = int(random.integers(1, 60))
    reading = TableReading.of(path, column="value", series="who", time="time", gap=gap)
    for backend in BACKENDS:
        summary = summarise(reading, rows=int(random.integers(1, 100)), backend=backend)
        assert facts(summary) == by_hand(rows, gap=gap)


GROWN = """
import resource, sys
from privproof.release.tables.table_files import Bins, TableReading, summarise
path, binned = sys.argv[1:]
if binned == "yes":
    reading = TableReading.of(path, column="watts", series="who", time="time", gap=60, bins=Bins.of(0, 200, 10000))
else:
    reading = TableReading.of(path, column="state", series="who", time="time", gap=60)
summary = summarise(reading)
assert summary.series == 1000, summary
print(summary.entries, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024)
"""


@pytest.mark.slow
@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_memory_does_not_grow_with_the_number_of_rows(tmp_path, ending):
    """Ten million rows need hardly more memory than one million, and a few hundred megabytes at most."""
    arrow_csv = pytest.importorskip("pyarrow.csv")
    piece = 1_000_000
    peaks = {}
    for many in (1, 10):
        path = tmp_path / f"grown.{ending}"
        random = np.random.default_rng(7)
        writer = None
        for part in range(many):
            rows = np.arange(part * piece, (part + 1) * piece)
            states = pa.DictionaryArray.from_arrays(random.integers(0, 4, piece), ["rest", "walk", "run", "sleep"])
            columns = {
                "who": pa.array(rows % 1000),
                "time": pa.array(rows // 1000 * 60),
                "state": states.cast(pa.string()),
                "watts": np.round(random.gamma(2, 400, piece), 1),
            }
            batch = pa.table(columns)
            if writer is None:
                writer = (arrow_csv.CSVWriter if ending == "csv" else pq.ParquetWriter)(path, batch.schema)
            writer.write_table(batch)
        writer.close()
        for binned in ("yes", "no"):
            done = subprocess.run(
                [sys.executable, "-c", GROWN, str(path), binned],
                capture_output=True,
                text=True,
                check=True,
                timeout=300,
            )
            entries, peak = map(int, done.stdout.split())
            assert entries == many * piece
            peaks[many, binned] = peak
        path.unlink()
    assert max(peaks.values()) < 400
    for binned in ("yes", "no"):
        assert peaks[10, binned] < peaks[1, binned] + 100


@pytest.mark.parametrize(
    ("ids", "lengths"),
    [([1e10, 1e10, 1e10, 0.5], {1: 1, 3: 1}), ([0.0, -0.0, 0.0, -0.0], {4: 1}), ([7.0, 7.0, 8.0, 7.0], {1: 1, 3: 1})],
)
def test_floats_as_series_ids_are_told_apart_by_value(tmp_path, ids, lengths):
    arrow, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    path = tmp_path / "ids.parquet"
    parquet.write_table(arrow.table({"id": arrow.array(ids), "s": ["a", "a", "b", "a"]}), path)
    for rows in (1, 2, 100):
        found = summarise(TableReading.of(path, column="s", series="id", states=["a", "b"]), rows=rows)
        assert dict(found.lengths) == lengths


def test_a_float_that_is_no_number_is_no_series_id(tmp_path):
    arrow, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    path = tmp_path / "ids.parquet"
    parquet.write_table(arrow.table({"id": arrow.array([1.0, float("nan")]), "s": ["a", "b"]}), path)
    with pytest.raises(FormatError, match="series"):
        summarise(TableReading.of(path, column="s", series="id", states=["a", "b"]))
