"""The engine for mechanisms that read one value and write one output agrees with the others."""

from __future__ import annotations

import pytest
from tests.cases import CASES
from tests.certificates import recheck

from privproof import check, integer, mechanism, tight_epsilon, truncated_geometric
from privproof.engines.words.table_engine import one_step
from privproof_checker import Accepted

ONE_STEP = [case for case in CASES if one_step(case.question()) is not None]


def test_there_are_such_cases():
    assert len(ONE_STEP) >= 5


@pytest.mark.parametrize("case", ONE_STEP, ids=lambda case: case.name)
def test_it_agrees_with_the_frontier(case):
    by_table = tight_epsilon(case.question())
    assert by_table.engine == "table"
    by_frontier = tight_epsilon(case.question(), engine="frontier")
    assert by_table.lower.compare(by_frontier.lower) == 0
    assert by_table.status == by_frontier.status
    assert isinstance(recheck(by_table.certificate), Accepted)


@mechanism(neighbours="monotone")
def noisy(x: integer(-2, 3, sensitivity=2)):
    return truncated_geometric(x, alpha="1/3", low=-2, high=3)


@pytest.mark.parametrize("engine", ["table", "tensors", "frontier"])
def test_every_engine_on_one_value(engine):
    assert str(tight_epsilon(noisy, engine=engine).tight) == "ln(9)"
    assert check(noisy, "ln(9)", engine=engine).status == "proved"
    refuted = check(noisy, "ln(8)", engine=engine)
    assert refuted.status == "refuted"
    assert refuted.witness.ratio == 9


def test_pointwise_delta():
    assert check(noisy, "ln(3)", "1/2", pointwise=True).status == "proved"
    assert check(noisy, "ln(3)", "1/100", pointwise=True).status == "refuted"
