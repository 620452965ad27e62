"""No automaton but that of the text is re-established: one part of either exchanged is refused, unless nothing changes by it."""

from __future__ import annotations

import copy
import random
from functools import cache

import pytest
from tests.amounts import selected
from tests.conformance.stream_mutations import (
    alike,
    changed_automata,
    changed_texts,
    follow,
    random_data,
    run_text,
)
from tests.conformance.stream_programs import Late, limited, loaded, source

from privproof.compiling.rewriting import Unsupported
from privproof.compiling.streams import stream_question
from privproof.evidence.question_documents import question_document
from privproof.exact import Budget, epsilon
from privproof.library.streams.stream_examples import ENTRIES
from privproof.scenarios.program_questions import program_question
from privproof_checker import Limits
from privproof_checker.established_texts import _from_source
from privproof_checker.outcomes import Refusal

MECHANISMS = {entry.mechanism.name: entry.mechanism for entry in ENTRIES}
RUNS = 30
FEW = 12
"""So many changes of each function in the quick suite; the slow one takes all."""


def document_of(mechanism):
    question = stream_question(program_question(mechanism))
    return question_document(question.under(Budget(epsilon(1))))


@cache
def document(name):
    return document_of(MECHANISMS[name])


def accepts(asked, method="coupling"):
    try:
        found = _from_source(asked, {"method": method}, Limits())
    except Refusal:
        return False
    assert found.from_source
    return not found.taken


@pytest.mark.parametrize("name", MECHANISMS)
def test_every_stream_function_of_the_library_is_re_established(name):
    assert accepts(document(name))
    assert accepts(document(name), "growth")


@pytest.mark.parametrize("name", MECHANISMS)
def test_the_automaton_and_the_text_write_the_same(name):
    rng = random.Random(1)
    symbols = {}
    for _ in range(RUNS):
        numbers, given, noise = random_data(rng, document(name))
        wrote = run_text(document(name), given, noise)
        followed = follow(document(name), numbers, noise)
        assert alike(wrote, followed, symbols)


def some_of(found, few):
    """All of them, or a few that are always the same."""
    return found if few is None else random.Random(len(found)).sample(found, min(few, len(found)))


def accepted_automata(asked, few):
    """How many changes of an automaton were tried, and how many of them accepted: those that change nothing."""
    rng, taken = random.Random(2), 0
    changes = some_of(list(changed_automata(asked)), few)
    for what, changed in changes:
        if not accepts(changed):
            continue
        taken += 1
        names = {}
        for _ in range(RUNS):
            numbers, _, noise = random_data(rng, asked)
            one, two = (follow(each, numbers, noise) for each in (asked, changed))
            assert alike(one, two, names), what
    return len(changes), taken


def accepted_texts(asked, few):
    """The same for the text."""
    rng, taken = random.Random(3), 0
    texts = some_of(list(changed_texts(asked["source"]["program"]["functions"][0]["text"])), few)
    for text in texts:
        changed = copy.deepcopy(asked)
        changed["source"]["program"]["functions"][0]["text"] = text
        if not accepts(changed):
            continue
        taken += 1
        names = {}
        for _ in range(RUNS):
            state = rng.getstate()
            wrote = []
            for each in (asked, changed):
                rng.setstate(state)
                _, given, noise = random_data(rng, asked)
                wrote.append(run_text(each, given, noise))
            assert None not in wrote, text
            assert alike(*wrote, names), text
    return len(texts), taken


@pytest.mark.parametrize("name", selected(MECHANISMS, 10))
def test_another_automaton_is_refused(name):
    tried, taken = accepted_automata(document(name), FEW)
    assert taken < tried / 2


@pytest.mark.parametrize("name", selected(MECHANISMS, 10))
def test_another_text_is_refused(name):
    tried, taken = accepted_texts(document(name), FEW)
    assert taken < tried / 2


@pytest.mark.slow
@pytest.mark.parametrize("name", MECHANISMS)
def test_every_other_automaton_and_text_is_refused(name):
    accepted_automata(document(name), None)
    accepted_texts(document(name), None)


@pytest.mark.parametrize("seed", selected(range(1, 13), 1))
def test_random_functions_are_re_established_and_no_others(seed, tmp_path):
    rng = random.Random(seed)
    found = loaded(tmp_path, [source(rng, f"random_{i}") for i in range(4)], f"random_streams_{seed}")
    assert found
    for mechanism in found:
        try:
            with limited(10):
                asked = document_of(mechanism)
        except (Unsupported, Late):
            continue
        assert accepts(asked), mechanism.name
        accepted_automata(asked, FEW)
        accepted_texts(asked, FEW)
