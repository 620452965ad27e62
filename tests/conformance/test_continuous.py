"""Programs with continuous noise against CPython: on every way through the function, the unlikely ones too."""

from __future__ import annotations

from dataclasses import replace
from random import Random

import pytest
from tests.amounts import selected
from tests.conformance.random_continuous import ContinuousAuthor, outcome
from tests.corpus import programs
from tests.laplace_programs import load

from privproof import LanguageError, check
from privproof.compiling.relational import program_for_alignment
from privproof.compiling.translation import program_agreement
from privproof.compiling.ways import ways

ONE = "@mechanism\ndef m(x: real()):\n    y = laplace(x, scale=1)\n"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("continuous")


@pytest.mark.parametrize("program", programs("continuous", "failing"), ids=str)
def test_a_function_that_fails_with_small_probability_is_refused(folder, program):
    with pytest.raises(LanguageError, match="the mechanism itself fails here"):
        check(load(folder, program), 1)


@pytest.mark.parametrize("program", programs("continuous", "printed"), ids=str)
def test_equal_numbers_that_print_differently_are_not_one_output(folder, program):
    mechanism = load(folder, program)
    assert "in how equal outputs print" in program_agreement(program_for_alignment(mechanism)).told
    assert check(mechanism, 1).status != "proved"


@pytest.mark.parametrize("program", programs("continuous", "optional"), ids=str)
def test_values_that_may_be_none_are_shown_as_the_function_shows_them(folder, program):
    assert program_agreement(program_for_alignment(load(folder, program))).told is None


def test_a_list_that_nothing_is_ever_written_to(folder):
    text = ONE + "    out = []\n    return out\n    out.append(y)\n"
    assert program_agreement(program_for_alignment(load(folder, text))).told is None


@pytest.mark.parametrize("convert", [True, False])
def test_what_is_guarded_is_not_read(folder, convert):
    text = "@mechanism\ndef m(q: real_queries(), x: real()):\n    best = None\n"
    text += "    if best is None or q[0] > best:\n        best = laplace(x, scale=1)\n    return best\n"
    assert program_agreement(program_for_alignment(load(folder, text), convert=convert)).told is None


def test_a_length_that_no_trial_has_is_told(folder):
    """Lists of all lengths are looked for, and not only those that trials have."""
    text = "@mechanism\ndef m(q: real_queries(), x: real()):\n    if len(q) > 700:\n        return 'long'\n"
    text += "    return laplace(x, scale=1) > 0\n"
    assert [side.outcome for side in program_agreement(program_for_alignment(load(folder, text))).missing] == [True]


def test_every_way_has_data_and_noise(folder):
    text = ONE + "    if y > 500 and x < -500:\n        return 'both'\n    return 'above' if y > 500 else 'below'\n"
    found = [way.leaf.output for way in ways(load(folder, text), 0, Random(1))]
    assert sorted(found) == ["above", "below", "both"]


def test_a_loop_that_noise_may_prolong_for_ever_is_walked_through(folder):
    text = ONE + "    n = 0\n    while y < 10:\n        y = y + 1\n        n += 1\n    return n > 3\n"
    found = [way.leaf.output for way in ways(load(folder, text), 0, Random(1))]
    assert {True, False} <= set(found)


def test_targets_are_assigned_in_order(folder):
    text = "@mechanism\ndef m(q: real_queries()):\n    for i, i in enumerate(q):\n        yield i\n"
    assert check(load(folder, text), 1).status == "refuted"


def test_a_program_that_forgets_a_way_is_told_apart(folder):
    mechanism = load(folder, ONE + "    return 'rare' if y > 5000 else 'often'\n")
    other = load(folder, ONE + "    return 'often'\n")
    mechanism.__dict__["kept"] = replace(mechanism._kept, translated=other.translated, flow=other.flow)
    assert "rare" in program_agreement(program_for_alignment(mechanism)).told


@pytest.mark.parametrize("first", selected(range(0, 60, 10), 2))
def test_random_programs_do_what_their_functions_do(folder, first):
    for seed in range(first, first + 10):
        text = ContinuousAuthor(seed).text
        try:
            outcome(load(folder, text))
        except AssertionError as problem:
            raise AssertionError(f"seed {seed}: {problem}\n{text}") from None


@pytest.mark.slow
@pytest.mark.parametrize("first", range(1000, 5000, 50))
def test_many_random_programs_do_what_their_functions_do(folder, first):
    for seed in range(first, first + 50):
        text = ContinuousAuthor(seed).text
        try:
            outcome(load(folder, text))
        except AssertionError as problem:
            raise AssertionError(f"seed {seed}: {problem}\n{text}") from None
