"""Wrong verdicts that an attack found, each with the smallest mechanism that had one."""

from __future__ import annotations

import pytest

from privproof import (
    check,
    geometric,
    integer,
    mechanism,
    mechanism_question,
    one_of,
    output_probability,
    queries,
    records,
)
from privproof.errors import LanguageError


@mechanism(epsilon="ln(2)", neighbours="monotone")
def record_beside_a_number(age: integer(0, 1), diagnosis: one_of("well", "ill")):
    return diagnosis


@mechanism(epsilon="ln(2)", neighbours="monotone")
def records_beside_numbers(q: queries(0, 1), who: records("well", "ill")):
    return who[0]


@pytest.mark.parametrize("asked", [record_beside_a_number, records_beside_numbers], ids=lambda m: m.name)
def test_records_have_no_direction_so_that_monotone_neighbours_leave_none_out(asked):
    size = 1 if asked is records_beside_numbers else None
    with pytest.raises(LanguageError, match="has no order"):
        check(asked, size=size)


@mechanism(epsilon="ln(2)")
def noise_in_a_table(x: integer(0, 2)):
    return {"a": geometric(x, alpha="1/2")}


def test_unbounded_noise_in_a_table_is_refused():
    assert check(noise_in_a_table).engine == "runs"
    with pytest.raises(LanguageError, match="stands in a table"):
        mechanism_question(noise_in_a_table)
    with pytest.raises(LanguageError, match="stands in a table"):
        output_probability(noise_in_a_table, {"a": 5}, x=0)


@mechanism(epsilon="ln(2)")
def records_first(r: records("a", "b"), q: queries(0, 1)):
    return geometric(sum(q), alpha="1/2")


@mechanism(epsilon="ln(2)")
def queries_first(q: queries(0, 1), r: records("a", "b")):
    return geometric(sum(q), alpha="1/2")


def test_the_relation_does_not_depend_on_the_order_of_arguments():
    assert records_first.neighbours == queries_first.neighbours == "each"
    assert check(records_first, size=2).status == check(queries_first, size=2).status == "refuted"
