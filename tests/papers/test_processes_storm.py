"""Decision processes against Storm: least and largest probabilities over all schedulers, exactly (slow; needs ``stormpy``)."""

from __future__ import annotations

import numpy as np
import pytest
from tests.property.test_logic_processes import random_process, with_labels

from privproof.engines.logic.checking import Checker
from privproof.engines.logic.schedulers import extremes
from privproof.engines.logic.storm import storm_extremes
from privproof.engines.monitor import Monitor
from privproof.formulas import parse_formula

pytest.importorskip("stormpy")
pytestmark = pytest.mark.slow

PATHS = (
    "F a",
    "a U b",
    "G !a",
    "X (a & X b)",
    "F (a & X b)",
    "a U (b & F a)",
    "F<=3 a",
    "(F a) & F b",
    "a W b",
    "b R a",
)


@pytest.mark.parametrize("path", PATHS)
def test_our_own_extremes_are_those_of_storm(path):
    for seed in range(40):
        process = with_labels(random_process(seed, states=5, actions=2 + seed % 2))
        checker = Checker(process, Monitor())
        normal, truths = checker.path(parse_formula(f"P>0 [ {path} ]").path)
        least, most, how = extremes(checker, normal, truths, range(len(process)))
        assert how == "exact"
        assert (list(least.values()), list(most.values())) == storm_extremes(process, truths, normal)


def test_formulas_that_need_an_automaton():
    """G F a is one minus F G !a, with least and largest exchanged, and at most F a."""
    for seed in range(20):
        process = with_labels(random_process(seed))
        values = {}
        for path in ("G F a", "F G !a", "F a"):
            checker = Checker(process, Monitor())
            formula = parse_formula(f"P=? [ {path} ]")
            checker.truth(formula)
            likely = checker.measured[formula]
            values[path] = np.array([[likely.least(s).low, likely.most(s).low] for s in range(len(process))])
        assert (values["G F a"] == 1 - values["F G !a"][:, ::-1]).all()
        assert (values["G F a"] <= values["F a"]).all()
