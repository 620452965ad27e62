"""Noise that is not drawn yet is an object: tables and arrays of it are refused where somebody could see that."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from privproof import LanguageError, check, records


def noisy(rows):
    return sum(rows) + np.random.laplace()


def left_out(rows):
    return float(pd.DataFrame({"n": [1], "m": [noisy(rows)]}).sum(numeric_only=True).sum())


def selected(rows):
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
    "function", [left_out, selected, assigned, put, mapped, added, computed, coerced, grouped], ids=lambda f: f.__name__
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
