"""The runs that a witness shows: of all that settle the formula a shortest, and of those a likeliest; by enumeration."""

from __future__ import annotations

import random
from fractions import Fraction

import numpy as np
import pytest
from tests.amounts import selected

from privproof.exact import fraction
from privproof.logic.counterexample_traces import shortest_trace
from privproof.logic.decision_process import DecisionProcess
from privproof.logic.path_probabilities import FALSE, TRUE, progress

PATHS = (
    ("U", ("true",), ("leaf", 0), 0, 3),
    ("U", ("not", ("leaf", 1)), ("leaf", 0), 0, None),
    ("not", ("U", ("true",), ("leaf", 0), 0, 2)),
)


@pytest.mark.parametrize("seed", selected(range(300), 24))
def test_a_shortest_and_of_those_a_likeliest(seed):
    draw = random.Random(seed)
    names = [f"s{i}" for i in range(draw.randint(2, 5))]
    rows = {}
    for name in names:
        targets = draw.sample(names, draw.randint(1, len(names)))
        parts = [draw.choice((1, 2, 3, 7)) for _ in targets]
        rows[name] = {t: Fraction(p, sum(parts)) for t, p in zip(targets, parts, strict=True)}
    chain = DecisionProcess.of(states=names, transitions=rows)
    truths = [np.array([draw.random() < 0.3 for _ in names]) for _ in range(2)]
    path = PATHS[seed % len(PATHS)]

    def settled(level, wanted):
        return [p for states, p, left in level if left == wanted]

    def after(left, state):
        return left if left in (TRUE, FALSE) else progress(left, [bool(each[state]) for each in truths])

    level, violated = [((0,), Fraction(1), after(path, 0))], None
    wanted = None
    for steps in range(7):
        if settled(level, TRUE):
            wanted = (steps, max(settled(level, TRUE)), "satisfied")
            break
        if violated is None and settled(level, FALSE):
            violated = (steps, max(settled(level, FALSE)), "violated")
        level = [
            ((*states, t), p * fraction(q), after(left, t))
            for states, p, left in level
            if left != FALSE
            for t, q in chain.entries(states[-1])
        ]
    found = shortest_trace(chain, truths, path, 0)
    wanted = wanted or violated
    assert (found is None) == (wanted is None)
    if found is not None:
        assert (len(found.states) - 1, fraction(found.probability), found.outcome) == wanted
