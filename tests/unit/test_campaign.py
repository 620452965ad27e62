"""A campaign finds the same whatever the number of workers, and loses nothing where a command dies."""

from __future__ import annotations

import pytest
from tests.amounts import selected
from tests.campaign import chunks_of, collect_cases, run_campaign

PASSING = """
import pytest

@pytest.mark.parametrize("n", range(3))
def test_small(n):
    assert n < 3
"""
FAILING = """
import os
import pytest

@pytest.mark.parametrize("n", range(2))
def test_mixed(n):
    assert os.environ["PRIVPROOF_EXAMPLES"] == "all"
    assert n == 0
"""
DYING = """
import os

def test_that_ends_its_process():
    os._exit(9)
"""


@pytest.mark.parametrize("jobs", selected([2, 1], 1))
def test_a_campaign_finds_the_same_for_every_number_of_workers(jobs, tmp_path):
    for name, text in (("a", PASSING), ("b", FAILING), ("c", DYING)):
        (tmp_path / f"test_{name}.py").write_text(text)
    cases = collect_cases(["."], [], tmp_path)
    assert len(cases) == 6
    found = list(run_campaign(cases, jobs=jobs, folder=tmp_path))
    assert [each.cases for each in found] == chunks_of(cases)
    assert [each.failed for each in found] == [
        (),
        ("test_b.py::test_mixed[1]",),
        ("test_c.py::test_that_ends_its_process",),
    ]
    assert "assert 1 == 0" in found[1].told


def test_chunks_are_of_one_file_each_in_their_order():
    cases = ["a::1", "a::2", "a::3", "b::1", "a::4"]
    assert chunks_of(cases, 2) == [("a::1", "a::2"), ("a::3",), ("b::1",), ("a::4",)]
