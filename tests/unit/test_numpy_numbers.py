"""Functions of numpy on single numbers, and on lists that are written where they are used."""

from __future__ import annotations

import numpy as np
import pytest

from privproof import LanguageError, check, laplace, mechanism, real, real_queries, rows

ROWS = rows(value=real())


def clipped_one_by_one(data):
    return laplace(np.sum([np.clip(r.value, -5, 5) for r in data]), scale=5)


def clipped_at_once(data):
    return laplace(np.sum(np.clip([r.value for r in data], -5, 5)), scale=5)


def largest_and_smallest(data):
    return laplace(sum(np.minimum(np.maximum(r.value, -5), 5) for r in data), scale=5)


def sizes(data):
    return laplace(sum(np.clip(np.abs(r.value), 0, 5) for r in data), scale=5)


@pytest.mark.parametrize("function", [clipped_one_by_one, clipped_at_once, largest_and_smallest, sizes])
def test_clipped_sums_lose_what_one_record_adds(function):
    asked = mechanism(function, inputs={"data": ROWS}, neighbours="add-remove")
    assert check(asked, 1).status == "proved"
    assert check(asked, "0.99").status == "refuted"


def test_one_side_alone_is_no_bound():
    def below(data):
        return laplace(sum(np.minimum(r.value, 5) for r in data), scale=5)

    asked = mechanism(below, inputs={"data": ROWS}, neighbours="add-remove")
    assert check(asked, 1).status == "refuted"


def test_a_mean_is_refused_with_what_to_write():
    def mean(q):
        return laplace(np.mean(q), scale=1)

    with pytest.raises(LanguageError, match="the noise first") as refused:
        check(mechanism(mean, inputs={"q": real_queries()}), 1)
    assert "np.mean" in str(refused.value)


def test_a_list_that_was_built_is_no_number():
    def built(q):
        kept = []
        for x in q:
            if x > 0:
                kept.append(x)
            kept.append(1)
        return laplace(np.clip(kept, 0, 1), scale=1)

    try:
        verdict = check(mechanism(built, inputs={"q": real_queries()}, neighbours="one"), 1)
    except LanguageError:
        return
    assert verdict.status != "proved"
