"""What a function does only on long lists is compared with its program on lists that are as long as the numbers in its comparisons."""

from __future__ import annotations

import pytest

from privproof import check, laplace, mechanism, queries
from privproof.compiling import summaries, translation
from privproof.language.syntax import Constant

LIMIT = 300


def functions():
    """Functions that add up on long lists alone, made anew, so that nothing of them is kept from another test."""

    @mechanism(epsilon=1, neighbours="one")
    def by_length(q: queries(0, 10, sensitivity=10)):
        total = 0
        if len(q) > LIMIT:
            total = sum(x for x in q)
        return laplace(total, scale=10)

    @mechanism(epsilon=1, neighbours="one")
    def by_number(q: queries(0, 10, sensitivity=10)):
        total = 0
        if len(q) > 40:
            for x in q:
                total += x
        return laplace(total, scale=10)

    return by_length, by_number


def test_sums_of_long_lists_are_proved():
    assert [check(function).status for function in functions()] == ["proved", "proved"]


def lose_what_is_added(monkeypatch):
    monkeypatch.setattr(summaries, "_number", lambda added: Constant(1, added.place))


@pytest.mark.parametrize("number", [0, 1])
def test_a_sum_that_was_translated_wrongly_is_not_proved(monkeypatch, number):
    lose_what_is_added(monkeypatch)
    assert check(functions()[number], "1/100").status != "proved"


def test_without_long_lists_it_would_be(monkeypatch):
    lose_what_is_added(monkeypatch)
    monkeypatch.setattr(translation, "_on_long_lists", lambda *given: None)
    assert check(functions()[1], "1/100").status == "proved"
