"""Decision processes against Storm: least and largest probabilities over all schedulers, exactly (slow; needs ``stormpy``)."""

from __future__ import annotations

import random

import numpy as np
import pytest
from tests.amounts import selected
from tests.logic.test_bounds_by_vectors import random_process as random_sparse_process
from tests.logic.test_logic_processes import random_process, with_labels
from tests.papers.storm_extremes import storm_extremes

from privproof import model_check
from privproof.engines.search_monitor import Monitor
from privproof.logic.decision_process import DecisionProcess
from privproof.logic.formulas import parse_formula
from privproof.logic.large_processes import path_bounds
from privproof.logic.model_checking import Checker
from privproof.logic.optimal_schedulers import extremes
from privproof.logic.path_measures import ValueBetween
from privproof.logic.query_vectors import UNITS, Columns

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


def random_path(source: random.Random, depth: int) -> str:
    """A path formula over a and b, with so many levels at most."""
    if depth == 0:
        return source.choice(("a", "b", "!a", "a & b", "a | b", "true"))
    inner = random_path(source, depth - 1)
    kind = source.choice(("X", "F", "G", "F<=2", "G<=3", "!", "U", "W", "R", "U<=2", "&", "|"))
    if kind in ("U", "W", "R", "U<=2", "&", "|"):
        return f"(({inner}) {kind} ({random_path(source, source.randint(0, depth - 1))}))"
    return f"({kind} ({inner}))"


def confirmed(process: DecisionProcess, path: str, state: int, found: tuple[ValueBetween, ValueBetween]) -> None:
    """Let the independent checker decide: Storm 2.0.0 gives 0 for the most of ``f U g`` in states where it gives 1 for that of g."""
    least, most = (str(between.low) for between in found)
    for claim, status in (
        (f"P>={least}", "proved"),
        (f"P<={most}", "proved"),
        *([(f"P>{least}", "refuted")] if least != "1" else []),
        *([(f"P<{most}", "refuted")] if most != "0" else []),
    ):
        verdict = model_check(process, f"{claim} [ {path} ]", states=[process.names[state]], certify=True)
        assert (claim, verdict.status) == (claim, status)


def compared(seed: int) -> int:
    """Compare a random formula on a random process with Storm in all states, exactly and by vectors; how many numbers were compared."""
    source = random.Random(seed)
    process = random_sparse_process(seed, chain=seed % 3 == 0)
    path = parse_formula(f"P>0 [ {random_path(source, source.choice((1, 2, 2, 3)))} ]").path
    checker = Checker(process, Monitor(), always_exact=True)
    normal, truths = checker.path(path)
    try:
        theirs = storm_extremes(process, truths, normal)
    except RuntimeError as problem:
        if "Invalid item count" not in str(problem):  # what Storm cannot do: some products of its own
            raise
        return 0
    asked = parse_formula(f"P=? [ {path} ]")
    checker.truth(asked)
    likely = checker.measured[asked]
    bounds = path_bounds(Columns(process), path, lambda inner: checker.decided([inner])[0], Monitor())
    for s in range(len(process)):
        ours = (likely.least(s), likely.most(s))
        for side, (between, number) in enumerate(zip(ours, (theirs[0][s], theirs[1][s]), strict=True)):
            assert between.exact
            if between.low != number:
                confirmed(process, str(path), s, ours)
            if bounds is not None:
                low, high = (bounds.least, bounds.most)[side]
                assert int(low[s]) <= between.low * UNITS <= int(high[s]), (seed, str(path), s)
    return 2 * len(process)


@pytest.mark.parametrize("batch", selected(range(200), 2))
def test_random_formulas_have_the_numbers_of_storm(batch):
    assert sum(compared(seed) for seed in range(100 * batch, 100 * batch + 100)) > 500
