"""Cells that are alike and independent: a few of them stand for all, and for nothing else."""

from __future__ import annotations

from copy import deepcopy
from functools import cache
from itertools import product
from math import exp, log
from random import Random

import numpy as np
import pytest
from tests.amounts import patience, selected
from tests.certificates import nested, recheck
from tests.laplace_programs import load

from privproof import check, geometric, integer, laplace, mechanism, one_of, records, rows
from privproof.compiling.cells import few_cells
from privproof.compiling.relational import program_for_alignment
from privproof_checker import Rejected

KEYS = tuple(f"k{i}" for i in range(16))
"""So many keys that sixty thousand sets of them may pass a threshold."""


@mechanism
def sparse(data: records(*KEYS)):
    out = {}
    for key in KEYS:
        count = data.count(key)
        if count > 0:
            noisy = laplace(count, scale=1)
            if noisy > 10:
                out[key] = noisy
    return out


@mechanism
def sparse_whole(data: records(*KEYS, "none of them")):
    return [key for key in KEYS if data.count(key) > 0 and geometric(data.count(key), alpha="1/2") > 10]


@mechanism
def sums(data: rows(city=one_of(*KEYS), age=integer(0, 120))):
    return [laplace(sum(r.age for r in data if r.city == key), scale=120) for key in KEYS]


TAIL = exp(-9) / 2
"""How likely a key that occurs once passes the threshold."""


def test_a_histogram_of_the_keys_that_occur():
    verdict = check(sparse, epsilon=1, delta=f"{TAIL * 1.00001:.12f}", neighbours="add-remove")
    assert (verdict.status, nested(verdict.certificate)["evidence"]["method"]) == ("proved", "cells")
    assert check(sparse, epsilon=1, delta=f"{TAIL * 0.999:.12f}", neighbours="add-remove").status == "refuted"
    assert check(sparse, epsilon=2, delta=f"{2 * TAIL * 1.00001:.12f}", neighbours="one").status == "proved"


def test_noise_on_the_integers_and_records_that_are_of_no_cell():
    tail = f"{2.0**-10 / 1.5 * 1.00001:.12f}"
    assert check(sparse_whole, epsilon="ln(2)", delta=tail, neighbours="add-remove").status == "proved"
    below = f"{2.0**-10 / 1.5 * 0.999:.12f}"
    assert check(sparse_whole, epsilon="ln(2)", delta=below, neighbours="add-remove").status == "refuted"


@pytest.mark.parametrize(("neighbours", "epsilon"), [("add-remove", 1), ("one", 2)])
def test_what_a_field_tells(neighbours, epsilon):
    verdict = check(sums, epsilon=epsilon, neighbours=neighbours)
    assert (verdict.status, nested(verdict.certificate)["evidence"]["method"]) == ("proved", "cells")
    assert nested(verdict.certificate)["evidence"]["field"] == "city"
    assert check(sums, epsilon=f"{epsilon - 0.1}", neighbours=neighbours).status == "refuted"


# ------------------------------------------------------------------------------------------- against the laws of two cells


def law(cell: tuple[int, int, int | None, bool], count: int) -> np.ndarray:
    """The law of what a cell shows: of every number, and at last that it shows nothing."""
    weight, power, threshold, only_present = cell
    alpha = 0.5**power
    places = np.arange(-60, 90)
    if only_present and count == 0:
        return np.array([0.0] * len(places) + [1.0])
    chance = (1 - alpha) / (1 + alpha) * alpha ** np.abs(places - weight * count)
    passes = np.ones(len(places), bool) if threshold is None else places > threshold
    return np.append(np.where(passes, chance, 0), chance[~passes].sum())


def excess(cells: list[tuple[int, int, int | None, bool]], neighbours: str, epsilon: float) -> float:
    """The largest delta over all data, of which no cell has more than four records."""
    most = 0.0
    if neighbours == "add-remove":
        for cell, n in product(set(cells), range(5)):
            for left, right in ((law(cell, n), law(cell, n + 1)), (law(cell, n + 1), law(cell, n))):
                most = max(most, np.maximum(left - exp(epsilon) * right, 0).sum())
        return most
    for (i, one), (j, other) in product(enumerate(cells), repeat=2):
        if i != j:
            for n, m in product(range(3), repeat=2):
                left = np.outer(law(one, n), law(other, m + 1))
                right = np.outer(law(one, n + 1), law(other, m))
                most = max(most, np.maximum(left - exp(epsilon) * right, 0).sum())
    return most


TEXT = """
KEYS = {keys}

@mechanism(neighbours={neighbours!r})
def m(data: records(*KEYS, "none of them")):
    out = []
    for key in KEYS:
        count = data.count(key)
        if key in {odd}:
{one}
        else:
{other}
    return out
"""


def cell_text(cell: tuple[int, int, int | None, bool]) -> str:
    weight, power, threshold, only_present = cell
    lines = [f"noisy = geometric({weight} * count, alpha='1/{2**power}')"]
    shown = "out.append((key, noisy))"
    lines.append(shown if threshold is None else f"if noisy > {threshold}:\n                {shown}")
    if only_present:
        lines = ["if count > 0:", *(f"    {line}".replace("\n", "\n    ") for line in lines)]
    return "\n".join(f"            {line}" for line in lines)


def some_cells(seed: int) -> tuple[str, list[tuple[int, int, int | None, bool]], str, int]:
    """A program of cells of one or two kinds, its cells, the neighbours, and how many times ln(2) shifts cost that make up for a record."""
    random = Random(seed)
    kinds = []
    for _ in range(random.choice((1, 1, 2))):
        threshold = random.choice((None, 2, 6))
        only_present = random.random() < (0.5 if threshold else 0.1)  # with no threshold a key is seen at once
        kinds.append((random.choice((1, 1, 2)), random.choice((1, 2)), threshold, only_present))
    keys = tuple(f"k{i}" for i in range(random.choice((7, 11))))
    odd = tuple(random.sample(keys, random.choice((1, 2, 3))))
    neighbours = random.choice(("one", "add-remove"))
    one, other = kinds[0], kinds[-1]
    text = TEXT.format(keys=keys, odd=odd, neighbours=neighbours, one=cell_text(one), other=cell_text(other))
    cells = [one if key in odd else other for key in keys]
    costs = sorted(weight * power for weight, power, _, _ in cells)
    return text, cells, neighbours, sum(costs[-(2 if neighbours == "one" else 1) :])


def compared(folder, seed: int, seconds: float) -> tuple[str, str]:
    """Compare the verdicts on a delta that is too small and on one that is enough with the truth; both as words."""
    text, cells, neighbours, doublings = some_cells(seed)
    function = load(folder, text)
    truth = excess(cells, neighbours, doublings * log(2))
    found = []
    for delta in (truth * 0.9, min(truth * 1.01 + 1e-9, 1)):
        verdict = check(function, epsilon=f"{doublings}*ln(2)", delta=f"{delta:.15f}", time_limit=seconds)
        assert verdict.status != ("proved" if delta < truth - 1e-12 else "refuted"), (text, truth, delta)
        found.append(verdict.status if delta < 1 else "none")
    return found[0], found[1]


@pytest.mark.parametrize("seed", selected(range(300), 2))
def test_verdicts_against_the_laws_of_all_pairs_of_cells(tmp_path, seed):
    """Cells of one or two kinds: what is proved holds, and what is refuted does not."""
    compared(tmp_path, seed, patience(8))


# ----------------------------------------------------------------------------------------------------------------- traps


@mechanism
def one_is_louder(data: records(*KEYS[:8])):
    return [laplace(data.count(key), scale=(2 if key != "k5" else 1)) for key in KEYS[:8]]


@mechanism
def carried(data: records(*KEYS)):
    out = []
    total = laplace(0, scale=1)
    for key in KEYS:
        total = total + data.count(key)
        out.append(total)
    return out


@mechanism
def two_cells_of_one_record(data: records(*KEYS[:8])):
    return [laplace(sum(1 for r in data if r in (key, "k0")), scale=1) for key in KEYS[:8]]


@pytest.mark.parametrize("function", [one_is_louder, carried, two_cells_of_one_record])
def test_cells_that_are_not_alike_or_not_independent(function):
    assert check(function, epsilon="0.9", neighbours="add-remove").status == "refuted"


@cache
def _certificate() -> dict[str, object]:
    return nested(check(sparse, epsilon=2, delta="1/1000", neighbours="one").certificate)


def _altered(change) -> Rejected:
    """What the checker says of a certificate that was changed."""
    document = deepcopy(dict(_certificate()))
    change(document["question"], document["evidence"])
    return recheck(document)


def _one_cell(question, evidence):
    evidence["kept"] = evidence["kept"][:1]


def _one_record(question, evidence):
    evidence["records"] = evidence["records"][:1]


def _other_threshold(question, evidence):
    at = evidence["cells"][-3]
    place = next(i for i in range(at, len(question["code"])) if question["code"][i][0] == "test")
    question["code"][place][1][2][2] = ["int", 1]


def _other_scale(question, evidence):
    at = evidence["cells"][-3]
    place = next(i for i in range(at, len(question["code"])) if question["code"][i][0] == "sample")
    question["code"][place][4]["factor"] = "1/2"


def _other_record(question, evidence):
    text = str(question["code"]).replace("'k15'", "'k14'")
    question["code"] = eval(text)  # the text of a list of lists


def _shared_variable(question, evidence):
    last = evidence["cells"][-2]
    place = next(i for i in range(last, len(question["code"])) if question["code"][i][0] == "sample")
    first = next(step for step in question["code"] if step[0] == "sample")
    question["code"][place][3] = ["variable", first[1]]


def _bounds_in_the_middle(question, evidence):
    evidence["cells"][5] += 4


def _a_jump_out(question, evidence):
    last = evidence["cells"][-2]
    place = next(i for i in range(last, len(question["code"])) if question["code"][i][0] == "jump")
    question["code"][place][1] = 0


@pytest.mark.parametrize(
    "change",
    [
        _one_cell,
        _one_record,
        _other_threshold,
        _other_scale,
        _other_record,
        _shared_variable,
        _bounds_in_the_middle,
        _a_jump_out,
    ],
)
def test_a_certificate_about_other_cells_is_rejected(change):
    assert isinstance(_altered(change), Rejected)


def test_few_cells_are_kept():
    program = few_cells(program_for_alignment(sparse))
    assert program.cells is not None
    assert (len(program.cells.kept), len(program.code)) == (2, 25)
    assert few_cells(program_for_alignment(carried)).cells is None
