"""Exact solutions that floating point guesses: the same as by elimination, or none; and policies that it improves."""

from __future__ import annotations

import random
from fractions import Fraction

import numpy as np
import pytest
from flint import fmpq, fmpq_mat
from tests.amounts import selected
from tests.logic.test_bounds_by_vectors import ENDLESS, random_process

from privproof.engines.search_monitor import Monitor
from privproof.logic import (
    exact_solving as exactly,
)
from privproof.logic import (
    policy_iteration as policies,
)
from privproof.logic import (
    rational_reconstruction as reconstructing,
)
from privproof.logic.automaton_products import product
from privproof.logic.optimal_schedulers import least_and_most
from privproof.logic.rational_reconstruction import reconstruct_rationals


def random_system(seed: int) -> tuple[list[dict[int, fmpq]], list[fmpq]]:
    """Rows of a chain that leaves somewhere, and what is known there; also with long denominators."""
    source = random.Random(seed)
    size = source.randint(1, 30)
    largest = source.choice((4, 1_000, 10**6))
    inside, outside = [], []
    for i in range(size):
        heads = source.sample(range(size), min(size, source.randint(1, 4)))
        parts = [source.randint(1, largest) for _ in heads]
        leaves = source.randint(1, largest) if i == 0 or source.random() < 0.3 else 0
        total = sum(parts) + leaves
        inside.append({k: fmpq(part, total) for k, part in zip(heads, parts, strict=True)})
        outside.append(fmpq(leaves, total) * fmpq(source.randint(0, 9), source.choice((9, 10**40 + 7))))
    return inside, outside


def by_elimination(inside: list[dict[int, fmpq]], outside: list[fmpq]) -> list[fmpq] | None:
    size = len(inside)
    matrix = fmpq_mat(size, size)
    for i, row in enumerate(inside):
        matrix[i, i] = 1
        for k, number in row.items():
            matrix[i, k] = matrix[i, k] - number
    if matrix.det() == 0:
        return None
    solution = matrix.solve(fmpq_mat(size, 1, outside))
    return [solution[i, 0] for i in range(size)]


@pytest.mark.parametrize("seed", selected(range(1_000), 40))
def test_the_solution_or_none(seed):
    inside, outside = random_system(seed)
    found, wanted = reconstruct_rationals(inside, outside, Monitor()), by_elimination(inside, outside)
    if found is not None:
        assert found == wanted
    assert found is not None or wanted is None or max(int(x.q).bit_length() for x in wanted) > 500


def test_a_part_that_is_never_left_has_no_solution():
    """Any number solves ``x = x``: one that is guessed would be as wrong as any other."""
    assert reconstruct_rationals([{1: fmpq(1)}, {0: fmpq(1)}], [fmpq(0), fmpq(0)], Monitor()) is None
    assert reconstruct_rationals([{0: fmpq(1)}, {0: fmpq(1, 2)}], [fmpq(0), fmpq(1, 2)], Monitor()) is None


def test_a_guess_that_does_not_solve_is_not_given(monkeypatch):
    inside, outside = [{0: fmpq(1, 2)}], [fmpq(1, 3)]
    assert reconstruct_rationals(inside, outside, Monitor()) == [fmpq(2, 3)]
    monkeypatch.setattr(reconstructing, "_fractions", lambda x, digits: [fmpq(5, 7)])
    assert reconstruct_rationals(inside, outside, Monitor()) is None


def test_long_denominators_are_left_to_elimination():
    inside, outside = [{0: fmpq(1, 2)}], [fmpq(1, 3**6_000)]
    assert reconstruct_rationals(inside, outside, Monitor()) is None


@pytest.mark.parametrize("seed", selected(range(800), 40))
def test_policies_that_floating_point_improves_give_the_same_numbers(seed, monkeypatch):
    process = random_process(seed, chain=False)
    source = random.Random(-seed)
    goal, stay = (np.array([source.random() < share for _ in range(len(process))]) for share in (0.25, 0.85))
    whole = product(process, [stay, goal], ENDLESS, range(len(process)), Monitor())
    plain = least_and_most(whole, Monitor())
    monkeypatch.setattr(exactly, "_FEW", 0)
    monkeypatch.setattr(policies, "_FEW", 1)
    assert least_and_most(whole, Monitor()) == plain
    assert all(0 <= Fraction(int(x.p), int(x.q)) <= 1 for side in plain for x in side)
