"""Random mechanisms that draw lots about ties: what is taken for a lottery has the law of one, and its bounds hold on short lists.

The checker finds by itself, from the text, that they are lotteries, and the same ones.
"""

from __future__ import annotations

from itertools import product

import pytest
from tests.amounts import selected
from tests.lot_programs import lot_program
from tests.programs import load
from tests.property.test_lists_of_every_length import law_of, worst

from privproof import PrivproofError, tight_epsilon
from privproof.compiling.lotteries import lottery
from privproof.compiling.posing import with_neighbours
from privproof.evidence.question_sources import program_source
from privproof.exact import fraction
from privproof.models.lottery_model import win_probability
from privproof_checker.outcomes import DEFAULT_LIMITS, Refusal
from privproof_checker.source.lotteries import laws_of_levels
from privproof_checker.source.running import Work
from privproof_checker.source.source_member import read_source

LONGEST = 4
"""Lists of so many bits are compared."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("lots")


def compared(subject, relation):
    """Compare a lottery with the runs of the function on short lists; whether it is one."""
    try:
        model = lottery(subject)
    except PrivproofError:
        model = None
    try:
        read = read_source(program_source(subject, None), DEFAULT_LIMITS)
        laws = laws_of_levels(read, "q", [0, 1], Work(DEFAULT_LIMITS.source_steps))
    except Refusal:
        laws = None
    assert laws == (None if model is None else [list(law) for law in model.laws])
    if model is None:
        return False
    found = {}
    for size in range(1, LONGEST + 1):
        for data in product((0, 1), repeat=size):
            found[data] = law_of(subject, data)
            for place in range(size):
                rest = data[:place] + data[place + 1 :]
                mass = win_probability(model, data[place], {value: rest.count(value) for value in set(rest)})
                assert found[data].get(str(place), 0) == mass, data
    verdict = tight_epsilon(with_neighbours(subject, relation), time_limit=20)
    ratio = worst(found, relation)
    if ratio is None:
        assert verdict.upper.infinite
    else:
        assert verdict.upper.compare_bound(ratio) >= 0
    witness = verdict.witness
    if verdict.certificate is not None:
        assert verdict.certificate["question"]["source"]["claims"] == "established"
    if witness is not None and len(witness.left["q"]) <= LONGEST:
        for side, mass in ((witness.left, witness.left_probability), (witness.right, witness.right_probability)):
            assert fraction(found[tuple(side["q"])].get(str(witness.event), 0)) == mass
    return True


@pytest.mark.parametrize("seed", selected(range(400), 24))
def test_what_is_taken_for_a_lottery_is_one(seed, folder):
    compared(load(folder, lot_program(seed)), ("each", "one")[seed % 2])


def test_some_of_them_are_lotteries(folder):
    assert any(compared(load(folder, lot_program(seed)), "one") for seed in range(20))
