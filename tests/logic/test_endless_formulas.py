"""Path formulas that are neither safe nor co-safe, on decision processes: against automata, on chains, and by the checker."""

from __future__ import annotations

import random
from dataclasses import replace

import numpy as np
import pytest
from tests.amounts import selected
from tests.logic.automata import largest
from tests.logic.test_logic_processes import random_process, with_labels

from privproof import model_check
from privproof.engines.search_monitor import Monitor
from privproof.exact import fraction
from privproof.logic.automaton_products import product_decides
from privproof.logic.decision_process import DecisionProcess
from privproof.logic.formulas import Not, parse_formula
from privproof.logic.model_checking import Checker
from privproof.logic.optimal_schedulers import extremes
from privproof.logic.recurrence_probabilities import extremes_of_any

WRITTEN = (
    "G F a",
    "F G a",
    "(G F a) & (G F b)",
    "(G F a) -> (G F b)",
    "G (a -> F b)",
    "(F G a) | (G F b)",
    "F (a & G F b)",
    "(G !b) & (G F a)",
    "(F b) & (F G !a)",
    "G F (a & X b)",
    "a U (G b)",
    "(F a) W (G b)",
    "G ((X a) | (b U a))",
    "(a W b) & (F (b & X a))",
    "F G (a | X X b)",
)


def random_formula(source: random.Random, depth: int) -> str:
    if depth == 0 or source.random() < 0.15:
        return source.choice(("a", "b", "!a", "!b"))
    operator = source.choice("FGXUURW&|FG")
    if operator in "FGX":
        return f"{operator} ({random_formula(source, depth - 1)})"
    return f"(({random_formula(source, depth - 1)}) {operator} ({random_formula(source, depth - 1)}))"


def found(process: DecisionProcess, path: str) -> tuple[list, list]:
    checker = Checker(process, Monitor())
    normal, truths = checker.path(parse_formula(f"P>0 [ {path} ]").path)
    least, most = extremes_of_any(process, truths, normal, Monitor())
    if product_decides(normal):  # another way to the same numbers
        others = extremes(checker, normal, truths, range(len(process)))
        assert others is not None
        assert (list(others[0].values()), list(others[1].values())) == (least, most)
    return list(map(fraction, least)), list(map(fraction, most))


def compare(process: DecisionProcess, path: str) -> None:
    least, most = found(process, path)
    formula = parse_formula(f"P>0 [ {path} ]").path
    assert most == largest(process, formula)
    assert least == [1 - value for value in largest(process, Not(formula))]


@pytest.mark.diagonal
@pytest.mark.parametrize("path", WRITTEN)
@pytest.mark.parametrize("seed", selected(range(20), 2))
def test_written_formulas_against_automata(path, seed):
    compare(with_labels(random_process(seed, states=3 + seed % 2, actions=2)), path)


@pytest.mark.parametrize("seed", selected(range(300), 12))
def test_random_formulas_against_automata(seed):
    source = random.Random(seed)
    path = random_formula(source, source.choice((2, 2, 3)))
    compare(with_labels(random_process(seed, states=3, actions=2)), path)


@pytest.mark.parametrize("seed", selected(range(100), 4))
def test_a_process_of_one_action_is_a_chain(seed):
    source = random.Random(seed)
    path = random_formula(source, 3)
    process = with_labels(random_process(seed, actions=1))
    chain = replace(process, actions=(), action_of=np.zeros(0, np.int64))
    likely = next(iter(model_check(chain, f"P=? [ {path} ]").measured.values()))
    least, most = found(process, path)
    assert least == most == [fraction(likely.least(s).low) for s in range(len(process))]


@pytest.mark.parametrize("path", WRITTEN)
@pytest.mark.parametrize("seed", selected(range(10), 1))
def test_bounds_are_certified(path, seed):
    """The claim at the extreme holds, and the sharper one fails; both pass the checker, which has its own way."""
    process = with_labels(random_process(seed, states=4, actions=2))
    least, most = found(process, path)
    for state in (0, 2):
        name = [process.names[state]]
        assert model_check(process, f"P>={least[state]} [ {path} ]", states=name).status == "proved"
        assert model_check(process, f"P<={most[state]} [ {path} ]", states=name).status == "proved"
        if least[state] < 1:
            assert model_check(process, f"P>{least[state]} [ {path} ]", states=name).status == "refuted"
        if most[state] > 0:
            assert model_check(process, f"P<{most[state]} [ {path} ]", states=name).status == "refuted"
