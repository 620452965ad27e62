"""Single runs: shortest ones that settle a formula, and drawn ones."""

from __future__ import annotations

import pytest
from tests.property.test_logic_processes import random_process, with_labels
from tests.property.test_paths_and_long_run import as_chain, successors

from privproof import model_check
from privproof.engines.logic.checking import Checker
from privproof.engines.logic.engine import draw_runs
from privproof.engines.logic.traces import shortest_trace
from privproof.engines.monitor import Monitor
from privproof.errors import QuestionError
from privproof.exact import rational
from privproof.formulas import parse_formula
from privproof.library.logic import survey


def distance(process, start: int, goal: set[int]) -> int | None:
    """How many steps a state is from a goal."""
    seen, level, steps = {start}, {start}, 0
    while level:
        if level & goal:
            return steps
        level = {t for s in level for t in successors(process, s)} - seen
        seen |= level
        steps += 1
    return None


@pytest.mark.parametrize("seed", range(6))
def test_the_shortest_run_to_a_goal(seed):
    chain = as_chain(with_labels(random_process(seed, states=6, actions=1)))
    checker = Checker(chain, Monitor())
    path, truths = checker.path(parse_formula("P>0 [ F a ]").path)
    goal = {s for s in range(len(chain)) if chain.labels["a"][s]}
    for start in range(len(chain)):
        steps = distance(chain, start, goal)
        trace = shortest_trace(chain, truths, path, start)
        if steps is None:
            assert trace is None
            continue
        assert trace is not None
        assert (trace.outcome, len(trace.states) - 1, trace.states[0]) == ("satisfied", steps, start)
        probability = rational(1)
        for state, target in zip(trace.states, trace.states[1:], strict=False):
            probability *= dict(chain.entries(state))[target]
        assert trace.probability == probability


def test_a_safe_formula_is_violated_by_a_shortest_run():
    chain = survey()
    path, truths = Checker(chain, Monitor()).path(parse_formula("P>0 [ G !out1 ]").path)
    trace = shortest_trace(chain, truths, path, chain.state("plus"))
    assert trace is not None
    assert (trace.outcome, [chain.names[s] for s in trace.states]) == ("violated", ["plus", "yes"])


@pytest.mark.parametrize("actions", [1, 2])
def test_drawn_runs_are_runs(actions):
    process = with_labels(random_process(3, states=5, actions=actions))
    process = as_chain(process) if actions == 1 else process
    runs = draw_runs(process, "P=? [ F (a & X b) ]", count=20, steps=9, states=["s0", "s1"], seed=5)
    assert runs == draw_runs(process, "P=? [ F (a & X b) ]", count=20, steps=9, states=["s0", "s1"], seed=5)
    assert [run.states[0] for run in runs] == [0] * 20 + [1] * 20
    a, b = process.labels["a"], process.labels["b"]
    for run in runs:
        assert all(t in successors(process, s) for s, t in zip(run.states, run.states[1:], strict=False))
        assert len(run.actions) == (0 if actions == 1 else len(run.states) - 1)
        met = any(a[s] and b[t] for s, t in zip(run.states, run.states[1:], strict=False))
        assert met == (run.outcome == "satisfied") or run.stays
        assert run.outcome != "open" or len(run.states) == 10


def test_how_often_is_what_is_likely():
    runs = draw_runs(survey(), "P=? [ X out1 ]", count=4_000, states=["plus"], seed=0)
    share = sum(run.outcome == "satisfied" for run in runs) / len(runs)
    assert abs(share - 3 / 4) < 0.03  # four standard deviations


def test_what_cannot_be_drawn():
    with pytest.raises(QuestionError, match="none"):
        draw_runs(survey(), "P=? [ X out1 ]", count=0)


def test_a_violation_shows_a_run_of_each_side():
    found = model_check(survey(), "D[ln(2), 0](X out1)")
    close = next(iter(found.measured.values()))
    assert close.trace is not None
    worst = found.witness
    assert [str(close.trace(side).probability) for side in (worst.left, worst.right)] == ["3/4", "1/4"]
