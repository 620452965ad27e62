"""The language against CPython: the exact distribution of the output by the translation, and by running the function itself.

Every construct of the reference page stands in `tests/corpus/constructs`, in all its positions; a program from a grammar puts them
together at random.  A program is refused or agrees; one that fails when CPython runs it is refused.
"""

from __future__ import annotations

import warnings
from dataclasses import replace
from random import Random

import pytest
from tests.amounts import selected
from tests.conformance.random_programs import Author, compare, compare_all
from tests.corpus import programs
from tests.programs import load

from privproof import LanguageError, mechanism_question

HEAD = "@mechanism\ndef m(q: queries(0, 1), x: integer(0, 1)):\n"
AGREEING = {"agrees", "agrees in part"}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("language")


@pytest.mark.parametrize("program", programs("constructs"), ids=str)
def test_a_construct_means_what_it_means_in_cpython(folder, program):
    refused = {"refused": True, "agrees": False}[program.expected]
    with warnings.catch_warnings(action="ignore", category=SyntaxWarning):
        mechanism = load(folder, program)
    said = compare_all(mechanism, lanes=50)
    assert refused or said.keys() <= AGREEING
    if refused:
        assert not said.keys() <= AGREEING
        with pytest.raises(LanguageError):
            mechanism_question(mechanism, size=None if mechanism.stream else 2)


def agrees(folder, seed, *, lanes):
    author, random = Author(seed), Random(seed)
    with warnings.catch_warnings(action="ignore", category=SyntaxWarning):
        mechanism = load(folder, author.text)
    try:
        compare_all(mechanism, most=300, lanes=lanes, some=random)
    except AssertionError as problem:
        raise AssertionError(f"seed {seed}: {problem}\n{author.text}") from None


@pytest.mark.parametrize("first", selected(range(0, 300, 20), 4))
def test_random_programs_are_refused_or_agree(folder, first):
    for seed in range(first, first + 20):
        agrees(folder, seed, lanes=50 if seed % 5 == 0 else 0)


@pytest.mark.slow
@pytest.mark.parametrize("first", selected(range(10_000, 40_000, 100), 1))
def test_many_random_programs_are_refused_or_agree(folder, first):
    for seed in range(first, first + 100):
        agrees(folder, seed, lanes=50 if seed % 5 == 0 else 0)


def test_a_difference_is_seen(folder):
    """The comparison can fail: a model that forgets what was drawn is told apart."""
    mechanism = load(folder, HEAD + "    return x + uniform(0, 1)\n")
    other = load(folder, HEAD + "    return x + uniform(0, 2)\n")
    mechanism.__dict__["kept"] = replace(mechanism._kept, translated=other.translated, flow=other.flow)
    with pytest.raises(AssertionError, match="by the translation"):
        compare(mechanism, {"q": [0, 0], "x": 0})
