"""Random mechanisms on lists: what is said of every length against the lengths themselves."""

from __future__ import annotations

from itertools import product

import pytest
from tests.amounts import selected
from tests.list_programs import list_program
from tests.programs import load

from privproof import PrivproofError, check, mechanism_question, tight_epsilon
from privproof.compiling.distributions import output_classes
from privproof.compiling.lengths import OpenModel, list_law
from privproof.evidence.checker import Accepted, recheck
from privproof.language.values import text

LONGEST = 6
"""Proofs are compared with all lists of so many elements."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("lists")


def laws(subject, size):
    """For every list of a size the law of the output, by its text."""
    found = {}
    for data in product((0, 1), repeat=size):
        found[data] = {text(v): p for v, p in output_classes(subject, {"q": list(data)}) if p != 0}
    return found


def related(left, right, relation):
    changes = [y - x for x, y in zip(left, right, strict=True) if x != y]
    if relation == "one":
        return len(changes) == 1
    return bool(changes) and (relation == "each" or len(set(changes)) == 1)


def worst(found, relation):
    """The largest ratio between neighbouring lists of one size; None for infinite."""
    result = 0
    for left, one in found.items():
        for right, other in found.items():
            if related(left, right, relation):
                for output, p in one.items():
                    if output not in other:
                        return None
                    result = max(result, p / other[output])
    return result


def compared(folder, seed):
    subject = load(folder, list_program(seed))
    try:
        question = mechanism_question(subject, every_length=True)
    except PrivproofError:
        return
    made = OpenModel(question.model, (), question.origin.inputs, question.origin.outputs)
    by_size = {}
    for size in range(LONGEST + 1):
        if size <= 4:
            by_size[size] = laws(subject, size)
        else:
            lists = product((0, 1), repeat=size)
            by_size[size] = {d: list_law(made, question.model.initial, [str(x) for x in d]) for d in lists}
        if size <= 4:
            for data, law in by_size[size].items():
                assert list_law(made, question.model.initial, [str(x) for x in data]) == law
    relation = ("each", "one", "monotone")[seed % 3]
    verdict = tight_epsilon(subject, neighbours=relation, time_limit=20)
    if verdict.status != "unknown":
        assert isinstance(recheck(verdict.certificate), Accepted)
    for found in by_size.values():
        ratio = worst(found, relation)
        if ratio is None:
            assert verdict.upper.infinite
        elif ratio > 0:
            assert verdict.upper.allows(ratio, 1)
    if verdict.status == "refuted" and verdict.growth is not None:
        assert check(subject, "ln(50)", neighbours=relation, time_limit=20).status in ("refuted", "unknown")


@pytest.mark.parametrize("seed", selected(range(3000), 25))
def test_proofs_for_every_length_agree_with_the_lengths(folder, seed):
    compared(folder, seed)
