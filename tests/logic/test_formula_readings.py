"""The precedence of formulas: PRISM's, by a table and by PRISM's grammar written again, and notes where textbooks read otherwise."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.amounts import examples
from tests.certificates import recheck
from tests.logic.test_formulas import formulas

from privproof import model_check
from privproof.logic.formula_document import formula_data
from privproof.logic.formulas import (
    And,
    Atom,
    Formula,
    Iff,
    Implies,
    NextState,
    Not,
    Or,
    StepBound,
    Unary,
    Until,
    note_on_reading,
    parse_formula,
)
from privproof.logic.formulas.formula_readings import _TextbookReader
from privproof.logic.formulas.formula_syntax import Count
from privproof.logic.library.formula_examples import FORMULAS
from privproof.logic.library.logic_models import double_survey, survey
from privproof_checker import Accepted, Limits
from privproof_checker.logic.formulas import FormulaReader, formula_text

A, B, C, D = map(Atom, "abcd")


def path_of(text: str) -> Formula:
    return parse_formula(f"P>0 [ {text} ]").path


def finally_(inner: Formula) -> Formula:
    return Unary("F", inner)


def globally(inner: Formula) -> Formula:
    return Unary("G", inner)


def until(left: Formula, right: Formula) -> Formula:
    return Until("U", left, right)


AS_PRISM_PARSES = [
    ("F a & b", finally_(And((A, B)))),
    ("F a | b", finally_(Or((A, B)))),
    ("G a & b | c", globally(Or((And((A, B)), C)))),
    ("X a & b", NextState(And((A, B)))),
    ("F<=3 a & b", Unary("F", And((A, B)), StepBound(Count(), Count(3)))),
    ("G[1,2] a | b", Unary("G", Or((A, B)), StepBound(Count(1), Count(2)))),
    ("F a => b", finally_(Implies(A, B))),
    ("G a <=> b", globally(Iff(A, B))),
    ("F !a & b", finally_(And((Not(A), B)))),
    ("G F a & b", globally(finally_(And((A, B))))),
    ("a U b & c", until(A, And((B, C)))),
    ("a & b U c", until(And((A, B)), C)),
    ("a | b U c | d", until(Or((A, B)), Or((C, D)))),
    ("a => b U c => d", until(Implies(A, B), Implies(C, D))),
    ("!a U b", until(Not(A), B)),
    ("!a & b U !c | d", until(And((Not(A), B)), Or((Not(C), D)))),
    ("F a U b", until(finally_(A), B)),
    ("F a & b U G c", until(finally_(And((A, B))), globally(C))),
    ("a U X b | c", until(A, NextState(Or((B, C))))),
    ("a W b & c", Until("W", A, And((B, C)))),
    ("a & b R c", Until("R", And((A, B)), C)),
    ("a U<=5 b & c", Until("U", A, And((B, C)), StepBound(Count(), Count(5)))),
    ("(F a) & b", And((finally_(A), B))),
    ("(F a) & (G b)", And((finally_(A), globally(B)))),
    ("!(F a) | b", Or((Not(finally_(A)), B))),
    ("a & b | c & d", Or((And((A, B)), And((C, D))))),
    ("a => b => c", Implies(A, Implies(B, C))),
    ("a <=> b => c", Implies(Iff(A, B), C)),
    ("a => b <=> c", Implies(A, Iff(B, C))),
    ("a | b <=> c & d", Iff(Or((A, B)), And((C, D)))),
    ("a | b => c & d", Implies(Or((A, B)), And((C, D)))),
]
"""Texts with what PRISM's grammar (``PrismParser.jj``) makes of them."""

AS_STORM_PARSES = [
    ("F a & X a", finally_(And((A, NextState(A))))),
    ("a & F b", And((A, finally_(B)))),
    ("a & F b & c", And((A, finally_(And((B, C)))))),
    ("a & F b | c", And((A, finally_(Or((B, C)))))),
    ("!F a & b", Not(finally_(And((A, B))))),
    ("a | X b U c", until(Or((A, NextState(B))), C)),
    ("F a & G b", finally_(And((A, globally(B))))),
]
"""PRISM refuses a temporal operator below a Boolean one; Storm lets it reach as far as it can."""


@pytest.mark.parametrize(("text", "formula"), [*AS_PRISM_PARSES, *AS_STORM_PARSES], ids=lambda part: str(part)[:40])
def test_the_table(text, formula):
    assert path_of(text) == formula


@pytest.mark.parametrize(
    ("text", "formula"),
    [
        ("a U b U c", until(A, until(B, C))),
        ("a -> G b", Implies(A, globally(B))),
        ("G a -> F b", globally(Implies(A, finally_(B)))),
        ("a <-> b <-> c", Iff(A, Iff(B, C))),
    ],
)
def test_what_neither_takes(text, formula):
    assert path_of(text) == formula


# --------------------------------------------------------------------------------------------------- PRISM's grammar


class Refused(Exception):
    """Not in PRISM's grammar."""


class Prism:
    """The productions of PRISM's properties for path formulas over labels, one method each."""

    def __init__(self, text: str) -> None:
        self.rest = re.findall(r"<=>|=>|[!&|()]|[A-Za-z]+", text)

    def takes(self, *tokens: str) -> str | None:
        return self.rest.pop(0) if self.rest and self.rest[0] in tokens else None

    def whole(self) -> Formula:
        found = self.temporal_binary()
        if self.rest:
            raise Refused
        return found

    def temporal_binary(self) -> Formula:
        left = self.temporal_unary()
        operator = self.takes("U", "W", "R")
        return left if operator is None else Until(operator, left, self.temporal_unary())

    def temporal_unary(self) -> Formula:
        operator = self.takes("X", "F", "G")
        if operator is None:
            return self.implies()
        return NextState(self.temporal_unary()) if operator == "X" else Unary(operator, self.temporal_unary())

    def implies(self) -> Formula:
        left = self.iff()
        return Implies(left, self.implies()) if self.takes("=>") else left

    def iff(self) -> Formula:
        left = self.either()
        while self.takes("<=>"):
            left = Iff(left, self.either())
        return left

    def either(self) -> Formula:
        parts = [self.both()]
        while self.takes("|"):
            parts.append(self.both())
        return parts[0] if len(parts) == 1 else Or(tuple(parts))

    def both(self) -> Formula:
        parts = [self.negated()]
        while self.takes("&"):
            parts.append(self.negated())
        return parts[0] if len(parts) == 1 else And(tuple(parts))

    def negated(self) -> Formula:
        return Not(self.negated()) if self.takes("!") else self.basic()

    def basic(self) -> Formula:
        if self.takes("("):
            inner = self.temporal_binary()
            if not self.takes(")"):
                raise Refused
            return inner
        label = self.takes("a", "b", "c", "d")
        if label is None:
            raise Refused
        return Atom(label)


def to_the_right(formula: Formula) -> Formula:
    """With chains of equivalences grouped to the right, which changes nothing of what they mean."""
    match formula:
        case Not(inner):
            return Not(to_the_right(inner))
        case NextState(inner):
            return NextState(to_the_right(inner))
        case Unary(operator, inner):
            return Unary(operator, to_the_right(inner))
        case And(parts):
            return And(tuple(map(to_the_right, parts)))
        case Or(parts):
            return Or(tuple(map(to_the_right, parts)))
        case Implies(left, right):
            return Implies(to_the_right(left), to_the_right(right))
        case Until(operator, left, right):
            return Until(operator, to_the_right(left), to_the_right(right))
        case Iff(Iff(first, second), third):
            return to_the_right(Iff(first, Iff(second, third)))
        case Iff(left, right):
            return Iff(to_the_right(left), to_the_right(right))
    return formula


@st.composite
def texts(draw, depth=4):
    """Texts of path formulas, with parentheses here and there; PRISM reads about half of them."""
    if depth == 0:
        return draw(st.sampled_from("abcd"))
    inner = texts(depth=depth - 1)
    match draw(st.sampled_from(["leaf", "unary", "not", "()", "boolean", "boolean", "boolean", "until"])):
        case "leaf":
            return draw(st.sampled_from("abcd"))
        case "unary":
            return f"{draw(st.sampled_from('XFG'))} {draw(inner)}"
        case "not":
            return f"!{draw(inner)}"
        case "()":
            return f"({draw(inner)})"
        case "boolean":
            return f"{draw(inner)} {draw(st.sampled_from(['&', '|', '=>', '<=>']))} {draw(inner)}"
    return f"{draw(inner)} {draw(st.sampled_from('UWR'))} {draw(inner)}"


@settings(
    max_examples=examples(600), deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much]
)
@given(texts())
def test_prisms_grammar(text):
    """What PRISM accepts is read as PRISM reads it; and the canonical text of anything is in PRISM's grammar."""
    ours = path_of(text)
    try:
        theirs = Prism(text).whole()
    except Refused:
        theirs = None
    if theirs is not None:
        assert to_the_right(ours) == to_the_right(theirs), text
    written = str(ours).replace("<->", "<=>").replace("->", "=>")
    assert Prism(written).whole() == ours, written


# -------------------------------------------------------------------------------------------------------------- notes


@settings(
    max_examples=examples(300), deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large]
)
@given(formulas())
def test_a_canonical_text_means_the_same_in_both_conventions(formula):
    text = str(formula)
    assert parse_formula(text) == _TextbookReader(text).whole() == formula
    assert note_on_reading(text) is None


@settings(max_examples=examples(300), deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(texts())
def test_a_note_exactly_where_the_meaning_changed(text):
    whole = f"P>0 [ {text} ]"
    note = note_on_reading(whole)
    assert (note is None) == (parse_formula(whole) == _TextbookReader(whole).whole())


@pytest.mark.parametrize(
    ("text", "taken", "other"),
    [
        ("P>0 [ F a & b ]", "F (a & b)", "(F a) & b"),
        ("a & P>0 [ X F<=3 a | b ] & c", "X F<=3 (a | b)", "(X F<=3 a) | b"),
        ("D[1, 0](a & b U c)", "(a & b) U c", "a & (b U c)"),
        ("all k in 0..3: D[1, 0](G[1,k] a{k} & X^(k + 1) b)", "G[1,k] (a{k} & (X^(k + 1) b))", "(G[1,k] a{k}) & (X^(k + 1) b)"),
        ("a <-> b -> c", "(a <-> b) -> c", "a <-> (b -> c)"),
        ("P>0 [ F a & b ] & P>0 [ G a | b ]", "P>0 [ F (a & b) ] & P>0 [ G (a | b) ]", "P>0 [ (F a) & b ] & P>0 [ (G a) | b ]"),
    ],
)  # fmt: skip
def test_notes(text, taken, other):
    note = note_on_reading(text)
    assert note == f"read as {taken}, by PRISM's precedence; {other} is another formula: parentheses make it plain"


def test_a_text_too_deep_in_the_other_convention():
    note = note_on_reading("P>0 [ " + "a -> b <-> " * 100 + "a ]")
    assert "nests deeper" in note


def test_a_note_is_not_endless():
    assert len(note_on_reading("P>0 [ F " + " & ".join(["a"] * 2000) + " ]")) < 1000


def test_the_verdict_carries_the_note():
    """The survey asked twice: yes and then yes has probability 9/16, yes at first 3/4, at both readings of one text."""
    process = double_survey()
    text = "P=? [ X out1 & X out1 ]"
    found = model_check(process, text, states=["plus"])
    assert str(found.formula) == "P=? [ X (out1 & (X out1)) ]"
    assert [note for note in found.notes if "read as" in note] == [
        "read as X (out1 & (X out1)), by PRISM's precedence; (X out1) & (X out1) is another formula: parentheses make it plain"
    ]
    (nested,) = found.measured.values()
    (flat,) = model_check(process, "P=? [ (X out1) & (X out1) ]", states=["plus"]).measured.values()
    state = process.state("plus")
    assert (str(nested.least(state).low), str(flat.least(state).low)) == ("9/16", "3/4")


def test_no_note_where_nothing_changed():
    assert model_check(survey(), "D[ln(3), 0](X out1) & D[ln(3), 0](X out0)").notes == ()
    assert model_check(survey(), parse_formula("P=? [ X out1 & X out1 ]")).notes == ()


@pytest.mark.parametrize("example", FORMULAS, ids=lambda example: example.name)
def test_the_library_is_read_alike_in_both_conventions(example):
    assert note_on_reading(example.formula) is None


# ------------------------------------------------------------------------------------------------------- certificates


OLDER = {
    "format": "privproof-certificate",
    "version": 1,
    "verdict": "proved",
    "question": {
        "kind": "logic",
        "title": "survey",
        "process": {
            "states": ["plus", "yes", "no"],
            "actions": [],
            "rows": [
                [[None, [[1, "3/4"], [2, "1/4"]]]],
                [[None, [[2, "1"]]]],
                [[None, [[2, "1"]]]],
            ],
            "labels": {"out1": [1], "done": [2]},
            "neighbours": [],
        },
        "formula": [
            "P",
            {"low": "1", "low_included": True, "high": "1", "high_included": True},
            ["and", ["U", ["true"], ["label", "done"], 0, None], ["not", ["label", "out1"]]],
        ],
        "text": "P=1 [ F done & !out1 ]",
        "states": [0],
    },
    "evidence": {"method": "logic"},
}
"""A certificate of before PRISM's precedence: its text is read otherwise now, and its formula is a tree."""


def test_a_certificate_of_before_means_what_it_meant():
    outcome = recheck(OLDER)
    assert isinstance(outcome, Accepted)
    assert outcome.statement.startswith("P[1, 1]((F done) & !out1) holds in the state plus")
    assert note_on_reading(OLDER["question"]["text"]) is not None


def test_the_text_of_a_certificate_means_nothing():
    """Neither reading of the text is what is established: that is the tree alone, and it is told with parentheses."""
    for text in ("P=1 [ F (done & !out1) ]", "P=1 [ (F done) & !out1 ]", "false", None):
        outcome = recheck({**OLDER, "question": {**OLDER["question"], "text": text}})
        assert isinstance(outcome, Accepted)
        assert "(F done) & !out1" in outcome.statement


@settings(max_examples=examples(150), deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(texts())
def test_what_the_checker_tells_is_read_alike_in_both_conventions(text):
    """Its words are another writer's; where they are in the language at all they mean the formula of the certificate."""
    process = replace(survey(), labels={name: survey().labels["out1"] for name in "abcd"})
    formula = parse_formula(f"P>=1/2 [ {text} ]")
    labels = {name: frozenset(int(s) for s in carried.nonzero()[0]) for name, carried in process.labels.items()}
    reader = FormulaReader(tuple(process.names), labels, Limits())
    words = formula_text(reader.state(formula_data(formula, process), "formula")).replace("P[1/2, 1](", "P>=1/2 [ ", 1)
    told = f"{words[:-1]} ]"
    assert note_on_reading(told) is None, told
    assert _plain(formula_data(parse_formula(told), process)) == _plain(formula_data(formula, process))


def _plain(tree):
    """A formula of a certificate without double negations: the checker tells ``!F !a`` as ``G a``."""
    if not isinstance(tree, list):
        return tree
    found = [_plain(part) for part in tree]
    return found[1][1] if found[0] == "not" and found[1][0] == "not" else found
