"""Every engine keeps the one protocol, and engines that support the same question never contradict each other."""

from __future__ import annotations

import inspect
from itertools import combinations
from typing import get_args

import pytest
import z3
from tests.amounts import spread
from tests.cases import CASES
from tests.certificates import recheck
from tests.commands import MODELS

from privproof import check, parse_formula, read_question
from privproof.asking import ask
from privproof.engines import ENGINES, EngineRequest, Monitor
from privproof.engines.laplace.engine import AlignmentEngine
from privproof.errors import QuestionError
from privproof.evidence.engine_answers import Answer
from privproof.evidence.gate import first_admitted
from privproof.evidence.verdicts import Verdict
from privproof.exact import Budget, epsilon
from privproof.library import EXAMPLES
from privproof.logic.formula_question import FormulaQuestion
from privproof.logic.library.logic_models import survey
from privproof.release import Channel, Map, PlanarGeometric, Resampled, clamped
from privproof.release.locations.location_question import LocationQuestion
from privproof.scenarios import Family
from privproof_checker import Accepted


def example(name):
    return next(e.question() for e in EXAMPLES if e.name == name)


TOWN = Map.rectangle((0, 0), (3, 3))
CHANNEL = Channel.of({(0, 0): {"a": "2/3", "b": "1/3"}, (1, 0): {"a": "1/3", "b": "2/3"}})
QUESTIONS = {
    "a table": lambda: example("plain-geometric").under(Budget(epsilon("ln(2)"))),
    "a table, broken": lambda: example("plain-geometric").under(Budget(epsilon("1/100"))),
    "words": lambda: read_question(MODELS / "family.yaml"),
    "words of every length": lambda: example("above-threshold-unbounded"),
    "a delta over events": lambda: read_question(MODELS / "survey.yaml").under(Budget.of("ln(2)", "1/4")),
    "a function on a stream": lambda: example("stream-above-threshold"),
    "a function on a stream, broken": lambda: example("stream-sparse-vector-no-cutoff"),
    "continuous noise": lambda: example("laplace-mechanism"),
    "continuous noise, broken": lambda: example("laplace-noisy-histogram-little-noise"),
    "a stream automaton": lambda: read_question(MODELS / "streams" / "above_threshold.yaml"),
    "secrets": lambda: example("contagious-count"),
    "an unknown prior": lambda: read_question(MODELS / "unknown_prior.yaml"),
    "a release": lambda: example("release-independent"),
    "a formula": lambda: FormulaQuestion(survey(), parse_formula("D[ln(3), 0](X out1)"), (0, 1)),
    "locations": lambda: LocationQuestion(clamped(PlanarGeometric.of("ln(2)"), TOWN), epsilon("ln(2)")),
    "locations, broken": lambda: LocationQuestion(Resampled(PlanarGeometric.of("ln(2)"), TOWN), epsilon("ln(2)")),
    "a channel": lambda: LocationQuestion(CHANNEL, epsilon("ln(2)")),
    **{f"case {case.name}": case.question for case in spread([case for case in CASES if case.small], 8)},
}


def requests(question):
    """Whether the claim holds, and how small epsilon may be."""
    if question.claims:
        yield EngineRequest(question)
    yield EngineRequest(question, tight=True)


def test_every_engine_is_registered_once():
    names = [engine.name for engine in ENGINES]
    assert len(set(names)) == len(names)
    families = {family for engine in ENGINES for family in engine.families}
    assert families == set(get_args(Family))


@pytest.mark.parametrize("registered", ENGINES, ids=lambda engine: engine.name)
def test_an_engine_is_what_its_entry_says(registered):
    engine = registered.load()
    assert engine.name == registered.name
    assert list(inspect.signature(engine.supports).parameters) == ["request"]
    assert list(inspect.signature(engine.answers).parameters) == ["request", "monitor"]
    assert inspect.isgeneratorfunction(engine.answers)
    assert engine.supports.__doc__
    assert engine.answers.__doc__


@pytest.mark.parametrize("name", QUESTIONS)
def test_engines_that_support_a_question_agree(name):
    question = QUESTIONS[name]()
    for request in requests(question):
        found: dict[str, Verdict] = {}
        for registered in ENGINES:
            if question.family not in registered.families:
                continue
            engine = registered.load()
            reason = engine.supports(request)
            if reason is not None:
                assert reason, "a reason is a sentence"
                with pytest.raises(QuestionError, match="engine"):
                    ask(request, registered.name)
                continue
            answers = list(_until_one_passes(engine.answers(request, Monitor())))
            assert all(isinstance(answer, Answer) and answer.engine == engine.name for answer in answers)
            found[engine.name] = first_admitted(answers)
        assert found or request.tight, "some engine answers"
        for verdict in found.values():
            if verdict.status != "unknown":
                assert isinstance(recheck(verdict.certificate), Accepted)
        for one, other in combinations(found.values(), 2):
            assert {one.status, other.status} != {"proved", "refuted"} or request.tight
            assert one.lower.compare(other.upper) <= 0
            assert other.lower.compare(one.upper) <= 0


def _until_one_passes(answers):
    for answer in answers:
        yield answer
        if first_admitted([answer]).status == answer.status:
            return


def test_a_search_that_is_left_leaves_the_solver_as_it_was():
    before = z3.main_ctx()
    found = AlignmentEngine().answers(EngineRequest(QUESTIONS["continuous noise"]()), Monitor())
    assert next(found).status == "proved"
    assert z3.main_ctx() is before


@pytest.mark.parametrize("name", ["nonsense", "table", "laplace", "release"])
def test_an_engine_that_is_not_for_the_question_is_refused(name):
    with pytest.raises(QuestionError, match="engine") as refused:
        check(QUESTIONS["secrets"](), 1, engine=name)
    assert "parametric" in refused.value.hint


def test_what_cannot_be_asked_about_is_told():
    for subject in (3, object(), None, [1, 2]):
        with pytest.raises(QuestionError, match="nothing that can be asked about"):
            check(subject, 1)
