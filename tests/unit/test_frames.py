"""Noise that is not drawn yet is an object: tables and arrays of it are refused where somebody could see that."""

from __future__ import annotations

import random

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from tests.amounts import selected

from privproof import LanguageError, audit, check, frame, integer, laplace, one_of, real, recheck, records, rows
from privproof.formats.python_files import read_input


def noisy(rows):
    return sum(rows) + np.random.laplace()


def left_out(rows):
    return float(pd.DataFrame({"n": [1], "m": [noisy(rows)]}).sum(numeric_only=True).sum())


def of_numbers(rows):
    return float(pd.DataFrame({"n": [noisy(rows)]}).select_dtypes("number").sum().sum())


def assigned(rows):
    table = pd.DataFrame({"a": [1.0]})
    table["b"] = noisy(rows)
    return float(table.sum(numeric_only=True).sum())


def put(rows):
    column = pd.Series([1.0, 2.0])
    column.iloc[0] = noisy(rows)
    return float(column.sum())


def mapped(rows):
    return float(pd.Series(rows).map(lambda x: x + np.random.laplace()).nlargest(1).iloc[0])


def added(rows):
    return list(pd.Series(rows) + np.random.laplace(size=len(rows)))


def computed(rows):
    return pd.DataFrame({"a": rows}).apply(lambda column: column.sum() + np.random.laplace()).round().iloc[0]


def coerced(rows):
    return bool(np.isnan(pd.to_numeric(np.array([noisy(rows)]), errors="coerce")).any())


def grouped(rows):
    return pd.Series(rows).groupby([0] * len(rows)).agg(lambda group: group.sum() + np.random.laplace()).iloc[0]


@pytest.mark.parametrize(
    "function",
    [left_out, of_numbers, assigned, put, mapped, added, computed, coerced, grouped],
    ids=lambda f: f.__name__,
)
def test_noise_in_a_table_is_refused(function):
    with pytest.raises(LanguageError) as refused:
        check(function, "0.1", rows=records(0, 1), size=2)
    assert refused.value.code in ("frame", "float")


def kind(rows):
    return sum(rows) if np.issubdtype(np.array([noisy(rows)]).dtype, np.number) else 0


def spread_out(rows):
    return sum(rows) if (np.arange(2) + np.random.laplace()).dtype.kind == "f" else 0


def element(rows):
    return sum(rows) if isinstance(np.array([noisy(rows)])[0], np.floating) else 0


def by_text(rows):
    return sum(rows) if getattr(np.array([noisy(rows)]), "dt" + "ype").kind == "f" else 0


def by_memory(rows):
    return sum(rows) if memoryview(np.array([noisy(rows)])).format == "d" else 0


@pytest.mark.parametrize("function", [kind, spread_out, element, by_text, by_memory], ids=lambda f: f.__name__)
def test_what_asks_for_the_kind_of_an_array_is_refused(function):
    with pytest.raises(LanguageError, match="a noisy number is put into an array") as refused:
        check(function, "0.1", rows=records(0, 1), size=2)
    assert refused.value.code == "kind"
    assert "test_frames.py" in str(refused.value)


def counted(rows):
    counts = pd.Series(rows).value_counts().reindex([0, 1], fill_value=0)
    return (counts.to_numpy() + np.random.laplace(size=2)).tolist()


def total(rows):
    return pd.DataFrame({"a": rows})["a"].sum() + np.random.laplace()


def test_tables_without_noise_and_arrays_with_it():
    assert check(counted, 2, rows=records(0, 1), size=2).status == "proved"
    assert check(counted, 1, rows=records(0, 1), size=2).status == "refuted"
    assert check(total, 1, rows=records(0, 1), size=2).status == "proved"


# --------------------------------------------------------------------------------------------------- tables as data and outputs

PEOPLE = rows(age=integer(0, 0), city=one_of("A", "B"))


def in_town(table):
    return int((table["city"] == "A").sum()) + np.random.laplace()


def in_arrow(table):
    return table["city"].to_pylist().count("A") + np.random.laplace()


def test_tables_as_data():
    assert check(in_town, 1, table=frame(PEOPLE), size=2).status == "proved"
    assert check(in_town, "0.9", table=frame(PEOPLE), size=1).status == "refuted"
    assert check(in_town, 1, table=frame(PEOPLE), neighbours="add-remove", size=1).status == "proved"
    assert check(in_arrow, 1, table=frame(PEOPLE, "pyarrow"), size=1).status == "proved"
    verdict = check("tests/unit/test_frames.py:in_town", "0.5", inputs=dict([read_input(f"table={frame(PEOPLE)}")]))
    assert verdict.status == "refuted"
    assert recheck(verdict.certificate).verdict == "refuted"
    found = audit(in_town, "0.5", inputs={"table": frame(PEOPLE)}, size=1, samples=1000, search=2000)
    assert found.violated


def test_a_loop_over_a_table_goes_over_columns_and_is_not_translated():
    def looped(table):
        return sum(1 for each in table) + laplace(0, scale=1)

    assert check(looped, 0, table=frame(PEOPLE), neighbours="add-remove", size=1).status == "proved"


def test_polars_as_data():
    pytest.importorskip("polars", reason="polars is not installed")
    assert check(in_town, 1, table=frame(PEOPLE, "polars"), size=2).status == "proved"


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        (lambda: frame(records(0, 1)), "declares no rows"),
        (lambda: frame(rows(x=real(0, 1))), "any real number"),
        (lambda: frame(PEOPLE, "excel"), "has no tables"),
        (lambda: check(in_town, 1, table=pd.DataFrame({"city": ["A"]})), "table is data, a DataFrame of pandas"),
        (lambda: check(in_town, 1, table=np.array([1])), "table is data, a ndarray of numpy"),
    ],
)
def test_what_declares_no_table(wrong, said):
    with pytest.raises(LanguageError, match=said):
        wrong()


def flipped(bit):
    return bit if random.random() < 0.75 else 1 - bit


OUTPUTS = [
    lambda s: pd.DataFrame({"x": [flipped(s[0])], "y": [1.5]}),
    lambda s: pd.Series({"x": flipped(s[0])}),
    lambda s: pd.Series([1, 2], name=str(flipped(s[0]))),
    lambda s: pd.DataFrame({"x": [1]}, index=[flipped(s[0])]),
    lambda s: pa.table({"x": [flipped(s[0])]}),
    lambda s: pa.array([flipped(s[0])]),
    lambda s: pa.table({"x": [1]}).replace_schema_metadata({"k": str(flipped(s[0]))}),
    lambda s: pd.Series([1], dtype="int64" if flipped(s[0]) else "int32"),
    lambda s: {"a": np.array([flipped(s[0])])},
]


@pytest.mark.parametrize("made", selected(OUTPUTS, 5))
def test_tables_as_outputs_are_told_apart_by_all_that_they_hold(made):
    def shown(s):
        return made(s)

    assert check(shown, "ln(3)", s=records(0, 1), size=1).status == "proved"
    assert check(shown, 1, s=records(0, 1), size=1).status == "refuted"


def test_columns_that_hold_more_than_their_values_are_refused():
    def shown(s):
        return pd.Series(pd.Categorical(["a"], categories=["a", "b"] if s[0] else ["a"]))

    with pytest.raises(LanguageError, match="nothing says when two of them show the same"):
        check(shown, 1, s=records(0, 1), size=1)


@pytest.mark.parametrize("make", [np.array, pd.Series, pa.array], ids=["numpy", "pandas", "pyarrow"])
def test_an_audit_of_data_prints_what_the_command_prints(make):
    def summed(column):
        return pd.DataFrame({"n": [round(sum(np.asarray(column)) + np.random.laplace())]})

    found = audit(summed, 1, pairs=[(make([0, 1]), make([1, 1]))], samples=500, search=1000)
    assert str(found).startswith("? unknown  summed: not known whether it is 1-private")
    assert "\n" not in repr(found)
    assert repr(found).startswith("Audit('summed', claim='1', epsilon>=")
