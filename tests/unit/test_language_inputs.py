"""Declared inputs, parameters and relations of a mechanism, and what a sequence of sizes suggests."""

from __future__ import annotations

from fractions import Fraction
from typing import Annotated

import pytest

from privproof import (
    LanguageError,
    QuestionError,
    ScenarioError,
    integer,
    mechanism,
    mechanism_question,
    one_of,
    output_distribution,
    public,
    queries,
    randomized_response,
    real,
    records,
    rows,
    seeded,
    stream,
    stream_of,
    tight_epsilon,
)
from privproof.exact import INFINITE, epsilon
from privproof.profiles.size_sweeps import over_sizes, trend


@pytest.mark.parametrize(
    ("declare", "said"),
    [
        (lambda: queries(2, 0), "high=0 < low=2"),
        (lambda: queries("1/2", 1), "the bounds of an integer are integers"),
        (lambda: queries(0, 1, sensitivity=0), "sensitivity=0 is not above 0"),
        (lambda: integer(0, 1, sensitivity=-1), "sensitivity=-1 is not above 0"),
        (lambda: queries(0, 1, size=0), "size=0"),
        (lambda: queries(0, 1, size=True), "size=True"),
        (lambda: records(), "no value is given"),
        (lambda: records(["a", "b"]), "one by one"),
        (lambda: one_of(1, 1), "twice"),
        (lambda: one_of(1, True), "twice"),
        (lambda: stream_of(0.5, 1), "0.5 is a float"),
        (lambda: one_of([1], 2), "is a list"),
        (lambda: public(3), "declares no input"),
    ],
)
def test_a_declaration_that_makes_no_sense_is_refused(declare, said):
    with pytest.raises(LanguageError, match=r".") as caught:
        declare()
    assert said in str(caught.value)
    assert caught.value.place


def test_a_mechanism_needs_a_private_input():
    with pytest.raises(LanguageError, match="nothing says what 'q' may be"):

        @mechanism
        def undeclared(q):
            return q

    with pytest.raises(LanguageError, match="no input is declared that could be private"):

        @mechanism
        def open_to_all(q: public(queries(0, 1))):
            return q[0]

    with pytest.raises(LanguageError, match="open-ended"):

        @mechanism
        def many(*q: queries(0, 1)):
            return q[0]

    with pytest.raises(LanguageError, match="two streams"):

        @mechanism
        def both(s: stream(0, 1), t: public(stream(0, 1))):
            yield 1


@pytest.mark.parametrize("wrong", [0.5, object(), {1: 0.5}])
def test_a_parameter_that_is_not_exact_is_no_matter_until_it_is_translated(wrong):
    @mechanism
    def parametric(q: queries(0, 1), k=wrong):
        return k

    assert parametric([1]) == wrong
    with pytest.raises(LanguageError) as caught:
        _ = parametric.translated
    assert "test_language_inputs.py:" in caught.value.place


def test_a_mechanism_says_which_relations_there_are():
    with pytest.raises(LanguageError, match="each, one, monotone"):
        mechanism(neighbours="all")(lambda q: q)
    with pytest.raises(LanguageError, match="not a function"):
        mechanism(3)
    with pytest.raises(LanguageError, match="a delta without an epsilon"):

        @mechanism(delta="1/2")
        def claimed(q: queries(0, 1)):
            return q[0]


@mechanism(epsilon="ln(3)")
def survey(q: Annotated[list[int], "the answers", records(0, 1)], weight: Fraction = Fraction(3, 4), label: str = "x"):
    """A survey."""
    return [randomized_response(v, truth=weight) for v in q]


def test_a_mechanism_is_the_function_it_was():
    assert survey.__name__ == "survey"
    assert survey.__doc__ == "A survey."
    assert list(survey.inputs) == ["q"]
    assert dict(survey.parameters) == {"weight": Fraction(3, 4), "label": "x"}
    assert survey.inputs["q"].values == (0, 1)
    with seeded(1):
        assert survey([0, 1], weight=1) == [0, 1]
        assert survey([0, 1], 1) == [0, 1]


def test_other_parameters_make_another_mechanism():
    sure = survey.having(weight=1)
    assert sure([1, 0, 1]) == [1, 0, 1]
    assert output_distribution(sure, [1, 0]) == {(1, 0): 1}
    assert output_distribution(survey, [1]) == {(0,): Fraction(1, 4), (1,): Fraction(3, 4)}
    assert output_distribution(survey, [1], weight="2/3") == {(0,): Fraction(1, 3), (1,): Fraction(2, 3)}
    assert dict(survey.parameters)["weight"] == Fraction(3, 4)
    assert tight_epsilon(survey, size=2).tight == epsilon("ln(3)")
    assert tight_epsilon(survey.having(weight="2/3"), size=2).tight == epsilon("ln(2)")
    with pytest.raises(LanguageError, match="no parameter 'q'"):
        survey.having(q=1)
    with pytest.raises(LanguageError, match="float"):
        _ = survey.having(weight=0.5).translated


def test_the_relation_follows_from_the_inputs():
    assert records("a", "b").relation == "one"
    assert queries(0, 1).relation == "each"
    assert integer(0, 1).relation == "each"
    assert one_of("a", "b").relation == "each"
    assert stream_of("a", "b").relation == "one"


def test_inputs_outside_their_declaration_are_refused():
    with pytest.raises(LanguageError, match="2 is not a value of"):
        output_distribution(survey, [0, 2])
    with pytest.raises(LanguageError, match="is not a list"):
        output_distribution(survey, 1)


def test_a_size_is_asked_for_where_it_is_open_and_only_there():
    with pytest.raises(QuestionError, match="how long is q"):
        mechanism_question(survey)
    with pytest.raises(QuestionError, match="at least one element"):
        mechanism_question(survey, size=0)

    @mechanism
    def fixed(q: queries(0, 1, size=2)):
        return randomized_response(q[0], truth="3/4")

    with pytest.raises(QuestionError, match="no list of open length"):
        mechanism_question(fixed, size=3)
    assert tight_epsilon(fixed).tight == epsilon("ln(3)")


def test_a_relation_that_relates_nothing_is_refused():
    def nobody(left, right):
        return False

    @mechanism(neighbours=nobody)
    def alone(x: integer(0, 1)):
        return x

    with pytest.raises(ScenarioError, match="no two data sets are neighbours"):
        mechanism_question(alone)


def test_a_relation_of_the_user_counts_in_both_directions():
    def up(left, right):
        return left < right

    @mechanism(neighbours=up)
    def report(x: integer(0, 2)):
        return randomized_response(x, truth="1/2", among=(0, 1, 2))

    assert tight_epsilon(report).tight == epsilon("ln(2)")


# ---------------------------------------------------------------------------------------------------------------- sizes


def test_a_table_over_sizes():
    table = over_sizes(lambda size: tight_epsilon(survey, size=size), [1, 2, 3])
    assert table.status == "proved"
    assert table.trend == "measured for n = 1..3: ln(3) ≈ 1.09861 each time; nothing is proved beyond n = 3"


@pytest.mark.parametrize(
    ("values", "said"),
    [
        (["ln(2)"], "measured for n = 1: ln(2)"),
        (["ln(2)", "ln(4)", "ln(8)"], "grows by ln(2)"),
        (["ln(2)", "ln(2)", "ln(3)"], "does not fall"),
        (["ln(3)", "ln(2)", "ln(3)"], "goes up and down"),
        (["ln(3)", "ln(2)"], "falls, from ln(3)"),
        (["ln(2)", None], "not tight at every size"),
        (["ln(2)", INFINITE], "no epsilon at all from n = 2 on"),
        (["ln(3/2)", "ln(7/4)", "ln(15/8)", "ln(31/16)"], "as if it approached ln(2)"),
    ],
)
def test_a_trend_says_what_was_measured_and_no_more(values, said):
    given = [epsilon(v) if isinstance(v, str) else v for v in values]
    words = trend(list(range(1, len(given) + 1)), given)
    assert said in words
    assert words.endswith(f"nothing is proved beyond n = {len(given)}")


def test_one_bound_may_be_left_out():
    positive = integer(low=1)
    assert (repr(positive), positive.low, positive.high, positive.values) == ("integer(low=1)", 1, None, None)
    assert repr(queries(high=5)) == "queries(high=5)"
    with pytest.raises(LanguageError, match="the bounds of an integer are integers"):
        integer(low="1/2")


@pytest.mark.parametrize(
    ("given", "hint"),
    [
        (lambda: records(integer(0, 10)), r"records(*range(0, 11))"),
        (lambda: records(rows(age=integer(0, 3))), "rows(age=integer(0, 3)) by itself"),
        (lambda: records(one_of("a", "b")), "records('a', 'b')"),
        (lambda: records(real(0, 1)), "rows(x=real(0, 1))"),
    ],
)
def test_a_declaration_in_the_place_of_values_is_refused_with_what_to_write(given, hint):
    with pytest.raises(LanguageError, match="is a declaration") as problem:
        given()
    assert hint in problem.value.hint
