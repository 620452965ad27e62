"""No text is taken for instructions that do something else: one small change to either, and both are run on the same data and noise."""

from __future__ import annotations

from random import Random

import pytest
from tests.amounts import selected
from tests.conformance.random_continuous import ContinuousAuthor
from tests.instructions import changed_codes, changed_texts, difference, outcome, question_of
from tests.laplace_programs import Author, load

from privproof.compiling.rewriting import Unsupported
from privproof.errors import PrivproofError
from privproof.library.laplace.laplace_examples import ENTRIES

MECHANISMS = {entry.mechanism.name: entry.mechanism for entry in ENTRIES}
FEW = ("noisy_max", "above_threshold", "sparse_vector_gap", "partial_sum", "smart_sum", "noisy_histogram")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("changed")


def changed(question, random, share):
    """Change a question in many ways; how many of those that are established were run, all of them in vain."""
    assert difference(question, random) is None
    seen = 0
    for changes in (changed_codes, changed_texts):
        for other in changes(question, random):
            if random.random() < share and outcome(other) == "established":
                assert difference(other, random, runs=60) is None, other
                seen += 1
    return seen


@pytest.mark.parametrize("name", FEW)
def test_a_small_change_is_noticed(name):
    question = question_of(MECHANISMS[name])
    assert outcome(question) == "established"
    assert changed(question, Random(name), share=0.12) < 40


def random_question(text, folder, seed, **options):
    """The question of a random mechanism; None where there is none, or none that can be run here."""
    try:
        question = question_of(load(folder, text), **options)
    except (Unsupported, PrivproofError):
        return None
    streamed = any(each["shape"] == "stream" for each in question["inputs"].values())
    return None if streamed or outcome(question) != "established" else question


@pytest.mark.parametrize("seed", selected(range(0, 40, 4), 4))
def test_random_mechanisms_do_what_their_instructions_do(folder, seed):
    for text in (Author(seed).text, ContinuousAuthor(seed).text):
        question = random_question(text, folder, seed)
        if question is not None:
            assert difference(question, Random(seed), runs=20) is None


@pytest.mark.slow
@pytest.mark.parametrize("convert", [True, False])
@pytest.mark.parametrize("name", MECHANISMS)
def test_every_small_change_is_noticed(name, convert):
    question = question_of(MECHANISMS[name], convert=convert)
    if outcome(question) == "established":
        changed(question, Random(name), share=1)


@pytest.mark.slow
@pytest.mark.parametrize("author", [Author, ContinuousAuthor])
@pytest.mark.parametrize("seed", selected(range(1000, 1100), 1))
def test_small_changes_of_random_mechanisms_are_noticed(folder, seed, author):
    question = random_question(author(seed).text, folder, seed, convert=seed % 2 == 0)
    if question is not None:
        changed(question, Random(seed), share=0.2)
