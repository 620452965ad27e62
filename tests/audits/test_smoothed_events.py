"""Rare events that a model of all outputs foretells: what it says is near the truth, and what is wrong is dropped."""

from __future__ import annotations

from math import log

import numpy as np
import pytest

from privproof import audit, laplace, mechanism, queries
from privproof.audits.sampling.adjacent_data import Adjacent
from privproof.audits.sampling.event_search import EventSearch
from privproof.audits.sampling.event_tallies import Crew
from privproof.audits.sampling.features import GroupCounts
from privproof.audits.sampling.output_events import Having, occurs
from privproof.audits.sampling.program_lanes import sample
from privproof.audits.sampling.runnable_functions import runnable
from privproof.audits.sampling.search_aims import Aim
from privproof.audits.sampling.smoothed_counts import ForetoldCount, foretold_unions
from privproof.audits.sampling.tradeoff_curves import EpsilonAt
from privproof.engines import Monitor

PAIR = ([1] * 5 + [0] * 5, [0] * 5 + [1] * 5)
GROUPS = GroupCounts(((0, 1, 2, 3, 4), (5, 6, 7, 8, 9)), False)


@mechanism(epsilon=1)
def without_end(q: queries()):
    threshold = laplace(0, scale=2)
    return [laplace(a, scale=2) >= threshold for a in q]


@mechanism
def coins(q: queries()):
    """The two data sets are told apart by nothing."""
    return [laplace(0, scale=1) >= 0 for _ in q]


def drawn(subject, runs, seed):
    return [sample(subject, {"q": side}, runs, seed=seed + i) for i, side in enumerate(PAIR)]


def test_what_is_foretold_is_near_the_truth():
    found = foretold_unions(GROUPS, *drawn(without_end, 40_000, 1))
    rarest = found[0]
    assert rarest.event == Having(GROUPS, (5,))  # no False among the first five, five among the others
    assert log(rarest.left / rarest.right) == pytest.approx(4.03, abs=0.35)  # by exact probabilities 4.0308
    left, right = (int(occurs(rarest.event, side).sum()) for side in drawn(without_end, 40_000, 7))
    assert rarest.holds(left, right, 40_000)


def test_what_counts_speak_against_is_dropped():
    wrong = ForetoldCount(Having(GROUPS, (5,)), 0.01, 0.0001, 20.0)
    assert not wrong.holds(400, 40, 40_000)
    assert wrong.holds(400, 4, 40_000)


def test_a_model_and_fresh_counts_are_joined():
    """Five occurrences in 40,000 runs, and a model that is worth fifteen: twenty in the runs of both together."""
    foretold = ForetoldCount(Having(GROUPS, (5,)), 0.01, 0.0001, 15.0)
    assert foretold.joined(5, 40_000) == (pytest.approx(20 / 190_000), 20.0)


def test_what_a_model_knows_grows_with_the_runs():
    few, many = (foretold_unions(GROUPS, *drawn(without_end, runs, 1)) for runs in (4_000, 60_000))
    assert 0 < few[0].occurrences < many[0].occurrences < 30


def test_pairs_with_rare_events_are_told_from_others_by_few_runs():
    """Of one half against the other every event that some hundred runs count loses less than a shift of all answers seems to promise."""
    search = EventSearch(Crew.of(runnable(without_end)), Aim((EpsilonAt(),)), np.random.SeedSequence(5), Monitor())
    search.test_runs = 200_000
    halves, shifted = Adjacent({"q": PAIR[0]}, {"q": PAIR[1]}), Adjacent({"q": [1] * 10}, {"q": [0] * 10})
    for _ in range(5):
        one, other = (search._candidate(pair, 1_000).worth for pair in (halves, shifted))
        assert one > other + 0.5


def test_nothing_is_foretold_where_nothing_tells():
    for each in foretold_unions(GROUPS, *drawn(coins, 20_000, 3)):
        assert log(each.left / each.right) < 0.5


@pytest.mark.slow
def test_bounds_of_sparse_vector_without_a_cut_off():
    """Events of two thousandths are not left for their few counts; the best one promises 3.44."""
    bounds = [
        float(audit(without_end, pairs=[PAIR], samples=200_000, confidence="0.9", seed=seed, exact=False).epsilon)
        for seed in range(8)
    ]
    assert np.mean(bounds) > 3.35
    assert np.mean(np.array(bounds) > 4.0308) <= 0.3
