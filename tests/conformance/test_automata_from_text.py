"""No automaton but that of the text is re-established: one part of either exchanged is refused, unless nothing changes by it."""

from __future__ import annotations

import copy
import random
from functools import cache

import pytest
from tests.conformance.stream_mutations import (
    alike,
    changed_automata,
    changed_texts,
    follow,
    random_data,
    run_text,
)

from privproof.compiling.streams import stream_question
from privproof.evidence.checker import Limits
from privproof.evidence.checker.outcomes import Refusal
from privproof.evidence.checker.telling import _from_source
from privproof.evidence.questions import question_document
from privproof.exact import Budget, epsilon
from privproof.library.streams.examples import ENTRIES
from privproof.scenarios.programs import program_question

MECHANISMS = {entry.mechanism.name: entry.mechanism for entry in ENTRIES}
RUNS = 30
FEW = 12
"""So many changes of each function in the quick suite; the slow one takes all."""


@cache
def document(name):
    question = stream_question(program_question(MECHANISMS[name]))
    return question_document(question.under(Budget(epsilon(1))))


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
        followed = [step for step in follow(document(name), numbers, noise) if step != "halted" and step != ("", [])]
        assert alike(wrote, followed, symbols)


def automaton_changes(name, few):
    found = list(changed_automata(document(name)))
    return found if few is None else random.Random(name).sample(found, min(few, len(found)))


def refused_automata(name, few):
    """How many changes were tried, and how many of them accepted; those change nothing."""
    rng, taken = random.Random(2), 0
    changes = automaton_changes(name, few)
    for what, changed in changes:
        if not accepts(changed):
            continue
        taken += 1
        names = {}
        for _ in range(RUNS):
            numbers, _, noise = random_data(rng, document(name))
            one, two = (follow(each, numbers, noise) for each in (document(name), changed))
            assert alike(one, two, names), what
    return len(changes), taken


def refused_texts(name, few):
    """The same for the text."""
    rng, taken = random.Random(3), 0
    texts = list(changed_texts(document(name)["source"]["program"]["functions"][0]["text"]))
    if few is not None:
        texts = random.Random(name).sample(texts, min(few, len(texts)))
    for text in texts:
        changed = copy.deepcopy(document(name))
        changed["source"]["program"]["functions"][0]["text"] = text
        if not accepts(changed):
            continue
        taken += 1
        names = {}
        for _ in range(RUNS):
            state = rng.getstate()
            wrote = []
            for each in (document(name), changed):
                rng.setstate(state)
                _, given, noise = random_data(rng, document(name))
                wrote.append(run_text(each, given, noise))
            assert None not in wrote, text
            assert alike(*wrote, names), text
    return len(texts), taken


@pytest.mark.parametrize("name", MECHANISMS)
def test_another_automaton_is_refused(name):
    tried, taken = refused_automata(name, FEW)
    assert taken < tried / 2


@pytest.mark.parametrize("name", MECHANISMS)
def test_another_text_is_refused(name):
    tried, taken = refused_texts(name, FEW)
    assert taken < tried / 2


@pytest.mark.slow
@pytest.mark.parametrize("name", MECHANISMS)
def test_every_other_automaton_and_text_is_refused(name):
    refused_automata(name, None)
    refused_texts(name, None)
