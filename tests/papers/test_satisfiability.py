"""Theorem 5.2 of the FAIER paper at size: random formulas, the verdict against a SAT solver, witnesses that spell an assignment."""

from __future__ import annotations

import random

import pytest
from tests.certificates import recheck

from privproof import check, log
from privproof.library.satisfiability import assignment, ratio_if_unsatisfiable, satisfiability
from privproof_checker import Accepted

z3 = pytest.importorskip("z3")


def formula(variables: int, clauses: int, *, seed: int, width: int = 3) -> list[list[int]]:
    source = random.Random(seed)
    return [
        [source.choice((1, -1)) * v for v in source.sample(range(1, variables + 1), min(width, variables))]
        for _ in range(clauses)
    ]


def satisfiable(clauses: list[list[int]]) -> bool:
    """Z3 as a SAT solver."""
    solver = z3.Solver()
    for clause in clauses:
        solver.add(z3.Or([z3.Bool(f"x{abs(k)}") if k > 0 else z3.Not(z3.Bool(f"x{abs(k)}")) for k in clause]))
    return solver.check() == z3.sat


def assert_decided(clauses: list[list[int]], variables: int) -> bool:
    """The verdict at a bound between the two ratios says whether the formula is satisfiable; which it says is returned."""
    bound = (ratio_if_unsatisfiable(len(clauses)) + 4) / 2
    verdict = check(satisfiability(clauses, variables=variables), log(bound))
    assert verdict.status == ("refuted" if satisfiable(clauses) else "proved")
    assert isinstance(recheck(verdict.certificate), Accepted)
    if verdict.status == "refuted":
        values = assignment(verdict.witness.output)
        assert verdict.witness.ratio == 4
        assert all(any(values[abs(k)] == (k > 0) for k in clause) for clause in clauses)
    return verdict.status == "refuted"


def test_small_formulas():
    answers = {assert_decided(formula(3, 4 + 2 * seed, seed=seed, width=2), 3) for seed in range(5)}
    assert answers == {True, False}


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(
    ("variables", "clauses", "width"),
    [(4, 12, 2), (6, 20, 3), (6, 40, 3), (8, 30, 3), (8, 40, 2), (10, 30, 3), (10, 40, 2), (12, 40, 3), (12, 40, 2)],
)
def test_random_formulas(variables, clauses, width, seed):
    assert_decided(formula(variables, clauses, seed=100 * variables + seed, width=width), variables)


@pytest.mark.slow
def test_both_answers_occur_at_the_largest_size():
    assert {satisfiable(formula(12, 40, seed=1200, width=3)), satisfiable(formula(12, 40, seed=1200, width=2))} == {
        True,
        False,
    }
