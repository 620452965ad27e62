"""How often garbage is looked for while certificates are checked, and afterwards."""

from __future__ import annotations

import gc

import pytest

from privproof_checker.collected_outcomes import collected_seldom


@pytest.fixture(autouse=True)
def _as_before():
    before = gc.get_threshold()
    yield
    gc.set_threshold(*before)


@pytest.mark.parametrize("before", [(700, 10, 10), (0, 10, 10), (1_000_000, 5, 5)])
def test_set_again(before):
    gc.set_threshold(*before)
    with collected_seldom():
        assert gc.get_threshold()[0] >= before[0]
        assert gc.get_threshold()[1:] == before[1:]
        assert (gc.get_threshold()[0] == 0) == (before[0] == 0)
    assert gc.get_threshold() == before


def test_set_again_after_an_error():
    gc.set_threshold(700, 10, 10)
    with pytest.raises(ValueError, match="wrong"), collected_seldom():
        raise ValueError("wrong")
    assert gc.get_threshold() == (700, 10, 10)


def test_in_any_order():
    gc.set_threshold(700, 10, 10)
    one, two = collected_seldom(), collected_seldom()
    one.__enter__()
    two.__enter__()
    one.__exit__(None, None, None)
    assert gc.get_threshold()[0] > 700
    two.__exit__(None, None, None)
    assert gc.get_threshold() == (700, 10, 10)
