"""Trials of a translation: every branch is taken, and a translation that is wrong in a rare branch is caught."""

from __future__ import annotations

from dataclasses import replace
from random import Random

import pytest

from privproof import (
    bernoulli,
    check,
    integer,
    laplace,
    mechanism,
    public,
    queries,
    randomized_response,
    real_queries,
    real_stream,
    stream,
    tight_epsilon,
    truncated_geometric,
)
from privproof.compiling import mechanism_question, translated_rightly
from privproof.compiling.covering import Choices, Watch, cover
from privproof.compiling.relational import program_for_alignment
from privproof.compiling.streams import stream_question
from privproof.compiling.translation import program_agreement
from privproof.language import flow as flows
from privproof.language.syntax import Constant, Operation
from privproof.library.mechanisms import improved_noisy_max
from privproof.scenarios import program_question


@mechanism
def rare_data(q: queries(0, 9, size=4)):
    if q[0] == 3 and q[1] == 7 and q[2] == 1 and q[3] == 8:
        return 0
    return bernoulli("1/2")


@mechanism
def rare_noise(x: integer(0, 3)):
    first = truncated_geometric(x, alpha="1/2", low=-20, high=20)
    second = truncated_geometric(x, alpha="1/2", low=-20, high=20)
    if first == 17 and second == -16:
        return "both"
    return "one" if first < second else "other"


@mechanism
def counted(values: stream(0, 1)):
    n = 0
    for value in values:
        n = n + randomized_response(value, truth="3/4")
        if n == 7:
            yield "seven"
            return
        yield "less"


@mechanism
def never(x: integer(0, 3)):
    if x > 5:
        return 1
    return bernoulli("1/2")


@mechanism(epsilon="1")
def clipped(q: real_queries(), n: public(integer(0, 9))):
    total = 0
    if n == 7:
        total = 1
    return laplace(total + (q[0] if len(q) > 0 else 0), scale=1)


@mechanism(epsilon="1")
def watched(values: real_stream()):
    threshold = laplace(0, scale=2)
    for value in values:
        if laplace(value, scale=4) >= threshold:
            yield "above"
            return
        yield "below"


def tried(asked):
    question = mechanism_question(asked)
    return translated_rightly(question, question.origin)


@pytest.mark.parametrize(("asked", "ways"), [(rare_data, "both ways"), (rare_noise, "all 4"), (counted, "both ways")])
def test_every_condition_goes_both_ways(asked, ways):
    told, said = tried(asked)
    assert told is None
    assert ways in said


def test_a_branch_that_is_never_taken_is_named():
    told, said = tried(never)
    assert told is None
    line = never.translated.body[0].place.line
    assert f"(1 of 2 ways that conditions can go; never: line {line} true)" in said


def changed(asked, before, after):
    """The mechanism with another constant in its translation, not in its function."""

    def exchanged(expression):
        if isinstance(expression, Constant) and expression.value == before:
            return replace(expression, value=after)
        if isinstance(expression, Operation):
            return replace(expression, arguments=tuple(map(exchanged, expression.arguments)))
        return expression

    flow = asked.flow
    code = tuple(replace(s, test=exchanged(s.test)) if isinstance(s, flows.Test) else s for s in flow.code)
    assert code != flow.code
    wrong = replace(asked)
    wrong.__dict__["kept"] = replace(asked._kept, flow=replace(flow, code=code))
    return wrong


@pytest.mark.parametrize(("asked", "before", "after"), [(rare_data, 8, 6), (rare_noise, 17, 18), (counted, 7, 8)])
def test_a_translation_that_is_wrong_in_a_rare_branch_is_caught(asked, before, after):
    question = mechanism_question(asked)
    wrong = replace(question.origin, mechanism=changed(asked, before, after))
    told, _ = translated_rightly(question, wrong)
    assert told is not None
    assert told.startswith("on {")


def test_the_conditions_of_programs_are_covered():
    found = program_agreement(program_for_alignment(clipped))
    assert found.told is None
    assert found.missing == ()
    assert found.runs >= 60


def test_the_transitions_of_automata_are_covered():
    asked = stream_question(program_question(watched))
    assert (
        asked.trials
        == "the function and the automaton agree on 60 runs with the same data and noise (all 3 transitions)"
    )
    assert asked.trials in check(watched).notes


@pytest.mark.parametrize("size", [3, 5, pytest.param(11, marks=pytest.mark.slow)])
def test_the_function_is_run_however_many_queries_there_are(size):
    notes = tight_epsilon(improved_noisy_max, size=size).notes
    assert any(note.startswith("running the function itself on") and "ways" in note for note in notes), notes


def test_choices_can_be_repeated():
    first = Choices((), Random(1))
    made = [first.below(10), first.choice("abc"), first.randint(-2, 2)]
    again = Choices(first.made, Random(2))
    assert [again.below(10), again.choice("abc"), again.randint(-2, 2)] == made


def test_a_search_that_finds_a_disagreement_stops():
    def attempt(choices: Choices, watch: Watch) -> str | None:
        return "different" if choices.below(50) == 7 else None

    found = cover((), attempt, least=1000)
    assert found.told == "different"
    assert found.runs < 1000
