"""Path quantifiers and the long run against other ways: automata and fixed points; stationary distributions by elimination."""

from __future__ import annotations

import random
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from tests.amounts import selected
from tests.logic.automata import largest
from tests.logic.test_endless_formulas import random_formula
from tests.logic.test_logic_processes import random_process, with_labels
from tests.logic.test_rewards import Chain, chain_of, random_rewards, reached, solved

from privproof import model_check
from privproof.errors import QuestionError
from privproof.exact import fraction
from privproof.logic.decision_process import DecisionProcess
from privproof.logic.formulas import Not, parse_formula


def long_run(rows: Chain, gains: list[Fraction], state: int) -> Fraction:
    """The mean gain of a step: the stationary distribution of every bottom component, and the chances to end there."""
    seen = sorted(reached(rows, state, set()))
    recurrent = [s for s in seen if all(s in reached(rows, t, set()) for t in reached(rows, s, set()))]
    result = Fraction(0)
    for part in {frozenset(reached(rows, s, set())) for s in recurrent}:
        first, *others = sorted(part)
        columns = [{s: rows[s].get(t, Fraction(0)) for s in others} for t in range(len(rows))]
        weights = solved(columns, [rows[first].get(t, Fraction(0)) for t in range(len(rows))], others) | {
            first: Fraction(1)
        }
        mean = sum((weights[s] * gains[s] for s in part), Fraction(0)) / sum(weights.values())
        transient = [s for s in seen if s not in recurrent]
        entering = [sum((p for t, p in rows[s].items() if t in part), Fraction(0)) for s in range(len(rows))]
        chance = solved(rows, entering, transient).get(state, Fraction(int(state in part)))
        result += chance * mean
    return result


def as_chain(process: DecisionProcess) -> DecisionProcess:
    """The process of one action as a chain."""
    return replace(process, actions=(), action_of=np.zeros(0, np.int64))


@pytest.mark.parametrize("seed", selected(range(60), 6))
def test_the_long_run(seed):
    process = random_rewards(seed, actions=1, states=5)
    chain = as_chain(process)
    rows, gains = chain_of(process, (0,) * len(process))
    share = [Fraction(bool(marked)) for marked in process.labels["a"]]
    for formula, numbers in (("S=? [ a ]", share), ("R=? [ S ]", gains)):
        found = model_check(chain, formula, states=chain.names)
        likely = next(iter(found.measured.values()))
        for state in range(len(chain)):
            value = long_run(rows, numbers, state)
            assert fraction(likely.least(state).low) == value
            claim = formula.replace("=?", f"<={value}")
            assert model_check(chain, claim, states=[chain.names[state]]).status == "proved"
            sharper = formula.replace("=?", f">{value}")
            if formula[0] == "R" or value < 1:
                assert model_check(chain, sharper, states=[chain.names[state]]).status == "refuted"


def test_the_long_run_of_a_decision_process_is_refused():
    process = random_rewards(0)
    for formula in ("S=? [ a ]", "R=? [ S ]", "S>=1/2 [ a ]"):
        with pytest.raises(QuestionError, match="decision process"):
            model_check(process, formula)


def successors(process: DecisionProcess, state: int) -> set[int]:
    return {t for c in range(*process.choices[state : state + 2]) for t, _ in process.entries(c)}


def fixed_point(process: DecisionProcess, stay: set[int], goal: set[int], *, greatest: bool) -> set[int]:
    """Least: where a path through some states leads to a goal; greatest: where one also may stay there for ever."""
    found = set(range(len(process))) if greatest else set()
    while True:
        after = goal | {s for s in stay if successors(process, s) & found}
        if after == found:
            return found
        found = after


@pytest.mark.parametrize("seed", selected(range(40), 4))
def test_path_quantifiers_by_fixed_points(seed):
    process = with_labels(random_process(seed, states=5))
    states = set(range(len(process)))
    a, b = ({s for s in states if process.labels[label][s]} for label in "ab")
    some = {
        "X a": {s for s in states if successors(process, s) & a},
        "F a": fixed_point(process, states, a, greatest=False),
        "a U b": fixed_point(process, a, b, greatest=False),
        "G a": fixed_point(process, a, set(), greatest=True),
        "a W b": fixed_point(process, a, b, greatest=True),
        "b R a": fixed_point(process, a, a & b, greatest=True),
    }
    for path, wanted in some.items():
        found = model_check(process, f"E [ {path} ]", states=process.names)
        assert set(np.flatnonzero(found.truth == 1).tolist()) == wanted, path
        opposite = model_check(process, f"A [ !({path}) ]", states=process.names)
        assert set(np.flatnonzero(opposite.truth == 1).tolist()) == states - wanted, path
    nested = model_check(process, "E [ F A [ G a ] ]", states=process.names)
    always = states - fixed_point(process, states, states - a, greatest=False)
    reach = fixed_point(process, states, always, greatest=False)
    assert set(np.flatnonzero(nested.truth == 1).tolist()) == reach
    assert (nested.status == "proved") == (reach == states)


@pytest.mark.parametrize("seed", selected(range(100), 5))
def test_path_quantifiers_by_automata(seed):
    source = random.Random(seed)
    text = random_formula(source, 3)
    process = with_labels(random_process(seed, states=3, actions=1 + seed % 2))
    path = parse_formula(f"P>0 [ {text} ]").path
    some, none = largest(process.loosened, path), largest(process.loosened, Not(path))
    for asked in (process, as_chain(process)) if seed % 2 == 0 else (process,):
        for state in range(len(process)):
            name = [process.names[state]]
            assert model_check(asked, f"E [ {text} ]", states=name).status == ("proved" if some[state] else "refuted")
            assert model_check(asked, f"A [ {text} ]", states=name).status == ("refuted" if none[state] else "proved")


def test_an_unlikely_path_is_a_path():
    """Almost surely the goal is reached; but there is a path that never gets there."""
    chain = DecisionProcess.of(
        states=["here", "there"], transitions={"here": {"here": "1/2", "there": "1/2"}, "there": {"there": 1}}
    )
    assert model_check(chain, "P>=1 [ F there ]", states=["here"]).status == "proved"
    assert model_check(chain, "A [ F there ]", states=["here"]).status == "refuted"
    assert model_check(chain, "E [ G here ]", states=["here"]).status == "proved"
    assert model_check(chain, "S>=1 [ there ]", states=["here"]).status == "proved"
