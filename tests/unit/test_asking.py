"""Asking: which requests are refused, with which words, and what a single word says."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from tests.commands import MODELS

from privproof import (
    Budget,
    HiddenMarkovModel,
    Horizon,
    LanguageError,
    Letter,
    Pair,
    Question,
    QuestionError,
    Scenario,
    Verdict,
    check,
    gaussian,
    integer,
    laplace,
    mechanism,
    pufferfish,
    queries,
    randomized_response,
    read_question,
    real_queries,
    records,
    smallest_delta,
    tight_epsilon,
    tight_mu,
    tight_renyi,
)
from privproof.asking import ask, delta_curve, renyi_curve
from privproof.compiling.posing import pose_question
from privproof.engines.engine_protocol import EngineRequest
from privproof.engines.words.definition_engine import word_probabilities
from privproof.library.laplace.sums import laplace_mechanism
from privproof.library.mechanisms import survey
from privproof.library.secret_examples import contagious, count, ill, noisy_count, well
from privproof.release.release_examples import entry_release

FAMILY = read_question(MODELS / "family.yaml")
ABOVE = read_question(MODELS / "streams" / "above_threshold.yaml")
SECRETS = pufferfish(noisy_count, prior=contagious, query=count, secrets={"ill": ill, "well": well})
HALTING = Question(
    model=(
        model := HiddenMarkovModel(
            states=["a", "b"],
            observations=["x"],
            emissions={"a": {"x": 1}, "b": {"x": 1}},
            transitions={"a": {"a": "1/2", "b": "1/2"}},
        )
    ),
    scenario=Scenario(pairs=(Pair.of(model, "often ~ always", {"a": "1/2", "b": "1/2"}, {"b": 1}),)),
    horizon=Horizon.up_to(2),
)


def about_word(question: Question, output: str) -> Verdict:
    """What one word of one letter says."""
    return ask(EngineRequest(question, word=(Letter(output),)), "definition")


WRONG: dict[str, tuple[Callable[[], object], str, str]] = {
    "no budget": (lambda: check(replace(FAMILY, budget=None)), "budget", "no budget is given"),
    "no budget for secrets": (lambda: check(SECRETS), "budget", "no budget is given"),
    "no such engine": (lambda: check(FAMILY, engine="oracle"), "engine", "there is no engine 'oracle'"),
    "an engine that does not fit": (lambda: check(FAMILY, engine="tensors"), "engine", "does not support the question"),
    "the solver has no tight epsilon": (
        lambda: tight_epsilon(FAMILY, engine="smt"),
        "engine",
        "it needs a budget to compare with",
    ),
    "the size of a model": (lambda: check(FAMILY, size=3), "size", "a model has the size it has"),
    "words of a program": (
        lambda: check(laplace_mechanism, horizon=Horizon.up_to(3)),
        "horizon",
        "for streams of every length",
    ),
    "a finite engine for a program": (
        lambda: check(laplace_mechanism, engine="tensors"),
        "engine",
        "does not answer questions of this kind",
    ),
    "an automaton of what reads no stream": (
        lambda: check(laplace_mechanism, engine="streams"),
        "engine",
        "it reads no stream",
    ),
    "a program of an automaton": (
        lambda: check(ABOVE, 1, engine="laplace"),
        "engine",
        "does not answer questions of this kind",
    ),
    "another engine for a release": (
        lambda: check(entry_release(), engine="tensors"),
        "engine",
        "does not answer questions of this kind",
    ),
    "another engine for the loss of a release": (
        lambda: tight_epsilon(entry_release(), engine="tensors"),
        "engine",
        "does not answer questions of this kind",
    ),
    "a word that is too long": (
        lambda: word_probabilities(FAMILY, None, (Letter("0"), Letter("0"))),
        "word",
        "the word has 2 letters",
    ),
    "a word that cannot be": (
        lambda: about_word(FAMILY, "7"),
        "word",
        "is compared under no pair",
    ),
}


@pytest.mark.parametrize(("ask", "code", "told"), WRONG.values(), ids=WRONG)
def test_a_wrong_request_is_told(ask: Callable[[], object], code: str, told: str) -> None:
    with pytest.raises(QuestionError, match=told) as problem:
        ask()
    assert problem.value.code == code
    assert problem.value.hint or problem.value.place


def test_both_probabilities_of_a_word_in_both_directions() -> None:
    found = word_probabilities(FAMILY, None, (Letter("0"),))
    assert {(w.left_probability, w.right_probability) for w in found} == {
        (Fraction(2, 3), Fraction(1, 6)),
        (Fraction(1, 6), Fraction(2, 3)),
    }
    assert word_probabilities(FAMILY, "another pair", (Letter("0"),)) == []


def test_a_word_that_breaks_the_budget_refutes_it_with_a_certificate() -> None:
    verdict = about_word(FAMILY, "0")
    assert (verdict.status, verdict.witness.ratio) == ("refuted", 4)
    assert verdict.certificate is not None


def test_a_word_that_breaks_nothing_proves_nothing() -> None:
    verdict = about_word(FAMILY.under(Budget.of("ln(4)")), "0")
    assert (verdict.status, str(verdict.lower)) == ("unknown", "ln(4)")
    assert "proves nothing" in verdict.reason
    assert verdict.certificate is None
    without = about_word(replace(FAMILY, budget=None), "1")
    assert (without.status, str(without.lower)) == ("unknown", "0")


def test_an_observer_of_events_sees_the_end() -> None:
    """One side stops after its first letter, the other goes on in half of its runs: that is all there is to see."""
    verdict = check(HALTING, "0", "1/4")
    assert any("sees that a run has halted" in note for note in verdict.notes)
    assert verdict.status == "refuted"
    assert check(HALTING, "0", "1/2").status == "proved"


def test_where_no_engine_fits_the_reasons_are_told() -> None:
    endless = replace(HALTING, horizon=Horizon.unbounded())
    verdict = check(endless, "1", "1/4")
    assert verdict.status == "unknown"
    assert "events: the horizon is unbounded" in verdict.reason


def test_a_mechanism_is_asked_at_its_own_claim() -> None:
    assert check(survey).status == "proved"
    assert str(tight_epsilon(survey).tight) == "ln(3)"


# --------------------------------------------------------------------------------------------------- files and functions


def test_a_question_in_a_file_is_asked_by_the_name_of_the_file() -> None:
    for name in (MODELS / "family.yaml", str(MODELS / "family.yaml")):
        assert check(name).certificate == check(FAMILY).certificate


def divided(data):
    return sum(data) / len(data) + np.random.laplace(0, 1)


def multiplied(data):
    return sum(x * x for x in data) + np.random.laplace(0, 1)


def spread(data):
    return max(data) - min(data) + np.random.laplace(0, 1)


def rounded(data):
    return round(sum(data) + np.random.laplace(0, 1))


@pytest.mark.parametrize("function", [divided, spread])
def test_where_the_translation_has_no_answer_the_function_is_run(function) -> None:
    verdict = check(function, 1, data=records(0, 1), size=2)
    assert (verdict.status, verdict.engine) == ("proved", "runs")


def test_rounding_what_is_released_is_translated() -> None:
    verdict = check(rounded, 1, data=records(0, 1), size=2)
    assert (verdict.status, verdict.engine) == ("proved", "laplace")


def test_without_a_size_a_function_with_finite_noise_is_run_on_several() -> None:
    def flipped(data):
        return [x if random.random() < 0.75 else 1 - x for x in data][::-1]

    assert check(flipped, "ln(3)", data=records(0, 1)).engine == "runs"
    assert check(flipped, "ln(3)", data=records(0, 1), size=5).engine != "runs"


@mechanism
def noisy_maximum(q: queries(0, 1)):
    return laplace(max(q), scale=1)


def test_what_runs_prove_at_some_sizes_is_told_and_is_no_proof_for_every_size() -> None:
    assert (check(noisy_maximum, 1, size=2).status, check(noisy_maximum, 1, size=2).engine) == ("proved", "runs")
    verdict = check(noisy_maximum, 1)
    assert verdict.status == "unknown"
    assert verdict.notes[-1] == "at noisy_maximum (sizes 1 to 4), 1 is proved by running it"


def test_a_function_that_cannot_be_run_either_stays_unknown_or_refused() -> None:
    with pytest.raises(LanguageError):
        check(multiplied, 1, data=real_queries(0, 1), size=2)


def test_a_quotient_of_noisy_numbers_is_shown_and_the_event_is_about_the_others() -> None:
    @mechanism(epsilon=1, neighbours="one")
    def mean(q: real_queries()):  # type: ignore[valid-type]
        total, size = laplace(sum(q), scale="1/2"), laplace(len(q), scale=1)
        return total, total / size

    assert check(mean).witness.output == "(≤0, any number)"
    assert check(mean, 3).status == "proved"


def test_deltas_and_divergences_are_asked_for_like_anything_else() -> None:
    @mechanism
    def count(n: integer(0, 1)):  # type: ignore[valid-type]
        return gaussian(n, sigma=2)

    @mechanism
    def told(n: integer(0, 1)):  # type: ignore[valid-type]
        return randomized_response(n, truth="3/4")

    curve = renyi_curve(pose_question(count), (2, 3))
    assert [str(verdict.tight) for _, verdict in curve] == ["1/4", "3/8"]
    assert smallest_delta(told, "ln(2)").upper == smallest_delta(told, "ln(2)").lower == Fraction(1, 4)
    with pytest.raises(QuestionError, match="an infinite epsilon needs no delta"):
        smallest_delta(told, "inf")


# ------------------------------------------------------------------------------------------- other measures, and deltas


@mechanism
def noisy_number(n: integer(0, 1)):
    return gaussian(n, sigma=2)


def test_other_measures_of_one_number():
    """Two normal laws at a distance of mu = 1/sigma have a divergence of order * mu^2 / 2."""
    assert str(tight_mu(noisy_number).tight) == "1/2"
    assert str(tight_renyi(noisy_number, 2).tight) == "1/4"
    with pytest.raises(QuestionError, match="epsilon and rho are claimed at once"):
        check(noisy_number, 1, rho=1)


def test_a_curve_of_deltas_is_that_of_single_ones():
    curve = delta_curve(pose_question(noisy_number), [1, 2])
    alone = [smallest_delta(noisy_number, each) for each in (1, 2)]
    assert [(found.lower, found.upper) for found in curve] == [(found.lower, found.upper) for found in alone]
    assert curve[0].lower > curve[1].upper > 0


def test_a_delta_that_nothing_decides_is_refused_with_the_reason():
    with pytest.raises(QuestionError, match="no coupling pays as little") as refused:
        smallest_delta(MODELS / "streams" / "branch_first.yaml", "1/2")
    assert refused.value.code == "delta"
