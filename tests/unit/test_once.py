"""Nothing is computed twice on one request: calls are counted where the same work used to be done again."""

from __future__ import annotations

import sys
from collections import Counter

import pytest
from tests.commands import MODELS
from typer.testing import CliRunner

from privproof import check, model_check
from privproof.cli.application import application
from privproof.compiling import optionals, relational
from privproof.engines.laplace import events
from privproof.errors import FormulaError
from privproof.language import flow
from privproof.library.laplace.laplace_noisy_max import noisy_max
from privproof.logic.formulas import formula_parser as reading
from privproof.logic.formulas import read_formula
from privproof.logic.library.logic_models import survey
from privproof.release import Chain, calibrate, count, histogram, verify
from privproof.release import sum_laws as laws
from privproof.release.error_comparison import errors_by_method
from privproof.release.influence_costs import QueryLaws
from privproof.scenarios import program_questions as programs

CHAIN = Chain.of({"rest": {"rest": "0.9", "walk": "0.1"}, "walk": {"rest": "0.4", "walk": "0.6"}})


def calls(run):
    """How often the functions watched are called."""
    watched = {
        f.__code__: name
        for name, f in {
            "laws": laws._exact,
            "relational": relational._prepared,
            "refuse_outside": relational.refuse_outside,
            "optional": optionals.split_optional_variables,
            "tree": events.tree,
            "posed": programs.program_question,
            "kept": flow.flow,
            "parsed": reading.FormulaReader.whole,
        }.items()
    }
    found = Counter()

    def listen(frame, event, _):
        if event == "call" and frame.f_code in watched:
            found[watched[frame.f_code]] += 1

    sys.setprofile(listen)
    try:
        run()
    finally:
        sys.setprofile(None)
    return found


@pytest.mark.parametrize("method", ["auto", "exact", "wasserstein"])
def test_a_release_computes_its_laws_once(method):
    length = 12

    def release():
        made = calibrate(CHAIN, length=length, query=count("walk"), epsilon=1, method=method)
        assert verify(made).status == "proved"

    once = calls(lambda: QueryLaws((CHAIN,), (length,), count("walk")).by("exact"))
    assert calls(release)["laws"] == once["laws"] > 0


def test_a_comparison_of_methods_computes_its_laws_once():
    once = calls(lambda: QueryLaws((CHAIN,), (12,), count("walk")).by("exact"))
    compared = calls(
        lambda: errors_by_method(
            CHAIN, query=count("walk"), epsilons=(1, 2), lengths=(12,), methods=("exact", "wasserstein")
        )
    )
    assert compared["laws"] == once["laws"]


def test_laws_of_another_query_are_not_taken():
    one, other = (
        calibrate(CHAIN, length=6, query=query, epsilon=1) for query in (count("walk"), histogram(CHAIN.states))
    )
    assert one.laws.fit(one.question)
    assert not one.laws.fit(other.question)
    assert verify(one.__class__(other.question, other.plan, laws=one.laws)).to_dict() | {"seconds": 0} == verify(
        other
    ).to_dict() | {"seconds": 0}


@pytest.mark.parametrize(("budget", "forms", "trees"), [(None, 3, 0), ("1/10", 3, 2)])
def test_a_program_is_prepared_once(budget, forms, trees):
    """As it stands, as a selection, and without conversions for words of many answers."""
    found = calls(lambda: check(noisy_max, budget))
    assert (found["relational"], found["refuse_outside"], found["optional"], found["tree"]) == (forms,) * 3 + (trees,)
    assert found["posed"] == 1
    assert found["kept"] <= 1 + forms, "the function as it is now, and the program"


def test_a_formula_is_read_once():
    text = "D[ln(3), 0](X out1)"
    by_both_conventions = 2
    assert calls(lambda: model_check(survey(), text))["parsed"] == by_both_conventions
    asked = read_formula(text)
    assert calls(lambda: model_check(survey(), asked))["parsed"] == 1
    runner = CliRunner()
    arguments = ["logic", str(MODELS / "logic" / "interactive_survey.yaml"), text]
    told = calls(lambda: runner.invoke(application("logic"), arguments))
    assert told["parsed"] == by_both_conventions


@pytest.mark.parametrize(
    ("text", "column"),
    [("P>=1/2 [ F out2 ]", 11), ('P>=1/2 [ F "out2" ]', 11), ("P>=1/2 [ F out1 & out ]", 18)],
)
def test_an_unknown_name_has_its_caret(text, column):
    with pytest.raises(FormulaError) as problem:
        model_check(survey(), text)
    assert problem.value.shown.splitlines()[1].index("^") - 4 == column
