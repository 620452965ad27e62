"""Random mechanisms on lists: what is said of every length against the lengths themselves."""

from __future__ import annotations

from itertools import product
from time import process_time

import pytest
from tests.amounts import selected
from tests.certificates import recheck
from tests.list_programs import list_program, longer_program
from tests.programs import load

from privproof import PrivproofError, check, mechanism_question, tight_epsilon
from privproof.compiling.distributions import output_classes
from privproof.compiling.lengths import OpenModel, list_law
from privproof.language.values import Cells, text
from privproof_checker import Accepted

LONGEST = 6
"""Proofs are compared with all lists of so many elements."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("lists")


def law_of(subject, data):
    """The law of the output on one list, by its text."""
    found = output_classes(subject, {"q": list(data)})
    return {text(Cells(v) if subject.generator else v): p for v, p in found if p != 0}


def related(left, right, relation):
    if relation == "add-remove":
        short, long = sorted((left, right), key=len)
        return len(short) + 1 == len(long) and any(long[:i] + long[i + 1 :] == short for i in range(len(long)))
    if len(left) != len(right):
        return False
    changes = [y - x for x, y in zip(left, right, strict=True) if x != y]
    if relation == "one":
        return len(changes) == 1
    return bool(changes) and (relation == "each" or len(set(changes)) == 1)


def worst(found, relation):
    """The largest ratio between neighbouring lists; None for infinite."""
    result = 0
    for left, one in found.items():
        for right, other in found.items():
            if related(left, right, relation):
                for output, p in one.items():
                    if output not in other:
                        return None
                    result = max(result, p / other[output])
    return result


def compared(subject, relation, longest=LONGEST):
    """Compare what is said of every length with the lengths up to the longest; whether something was said."""
    try:
        question = mechanism_question(subject, every_length=True)
    except PrivproofError:
        return False
    made = OpenModel(question.model, (), question.origin.inputs, question.origin.outputs)
    found = {}
    for size in range(longest + 1):
        for data in product((0, 1), repeat=size):
            found[data] = list_law(made, question.model.initial, [str(x) for x in data])
            if size <= 4:
                assert found[data] == law_of(subject, data), data
    verdict = tight_epsilon(subject, neighbours=relation, time_limit=20)
    if verdict.status != "unknown":
        assert isinstance(recheck(verdict.certificate), Accepted)
    if verdict.question.family != "words":  # of a few sizes only
        return False
    ratio = worst(found, relation)
    if ratio is None:
        assert verdict.upper.infinite
    elif ratio > 0:
        assert verdict.upper.allows(ratio, 1)
    if verdict.status == "refuted" and verdict.growth is not None:
        assert check(subject, "ln(50)", neighbours=relation, time_limit=20).status in ("refuted", "unknown")
    return True


@pytest.mark.parametrize("seed", selected(range(3000), 12))
def test_proofs_for_every_length_agree_with_the_lengths(folder, seed):
    compared(load(folder, list_program(seed)), ("each", "one", "monotone")[seed % 3])


@pytest.mark.parametrize("seed", selected(range(3000), 10))
def test_lists_that_are_filled_counts_that_are_cut_and_lengths_agree_as_well(folder, seed):
    compared(load(folder, longer_program(seed)), ("one", "add-remove")[seed % 2])


@pytest.mark.parametrize("seed", [581, 641])
def test_a_list_that_grows_with_the_data_is_told_in_seconds(folder, seed):
    begun = process_time()
    with pytest.raises(
        PrivproofError, match=r"held between two elements, and more with every element: the last: .*out = "
    ):
        mechanism_question(load(folder, longer_program(seed)), every_length=True)
    assert process_time() - begun < 20  # it took more than minutes
