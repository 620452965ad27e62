"""Properties as PRISM writes them, with known answers worked out by hand."""

from __future__ import annotations

import pytest

from privproof import FormulaError, QuestionError, model_check
from privproof.errors import FormatError, PrivproofError
from privproof.exact import fraction
from privproof.logic.path_measures import ValueBetween
from privproof.logic.prism.prism_model import explore
from privproof.logic.prism.prism_properties import read_property
from privproof.logic.prism.property_files import parse_properties
from privproof.logic.state_filters import apply_filter

DIE = """
dtmc
const int N = 7;
formula finished = s=N;
module die
  s : [0..7] init 0;
  d : [0..6] init 0;
  big : bool init false;
  [] s=0 -> 1/2 : (s'=1) + 1/2 : (s'=2);
  [] s=1 -> 1/2 : (s'=3) + 1/2 : (s'=4);
  [] s=2 -> 1/2 : (s'=5) + 1/2 : (s'=6);
  [] s=3 -> 1/2 : (s'=1) + 1/2 : (s'=7) & (d'=1);
  [] s=4 -> 1/2 : (s'=7) & (d'=2) + 1/2 : (s'=7) & (d'=3);
  [] s=5 -> 1/2 : (s'=7) & (d'=4) & (big'=true) + 1/2 : (s'=7) & (d'=5) & (big'=true);
  [] s=6 -> 1/2 : (s'=2) + 1/2 : (s'=7) & (d'=6) & (big'=true);
  [] s=7 -> true;
endmodule
label "done" = finished;
"""
"""Knuth and Yao's die."""

CHOICE = """
module m
  x : [0..3];
  [a] x=0 -> 1/2:(x'=1) + 1/2:(x'=2);
  [b] x=0 -> 1/4:(x'=1) + 3/4:(x'=3);
  [] x>0 -> true;
endmodule
"""
"""A decision process: x becomes 1 with probability 1/2 or 1/4."""


def value(text: str, model: str = DIE):
    """What a property says: a number, a truth value, or what its filter makes."""
    asked = read_property(explore(model), text)
    process = asked.model.process
    states = None if asked.states is None else [process.names[s] for s in asked.states]
    found = model_check(process, asked.written, states=states)
    made = apply_filter(found, asked.aggregate or "print").value
    if isinstance(made, ValueBetween):
        return fraction(made.low)
    return tuple(fraction(end.low) for end in made) if isinstance(made, tuple) else made


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("P=? [ F s=N & d=6 ]", "1/6"),
        ("P=? [ F (s=N & d=6) ]", "1/6"),
        ('P=? [ F "done" & d+1=N ]', "1/6"),
        ("P=? [ F finished & big ]", "1/2"),
        ("P=? [ F finished & !big ]", "1/2"),
        ("P=? [ F d=min(5, 7) | d=max(1, s-4) ]", "1/3"),
        ("P=? [ F mod(d,2)=0 & s=7 ]", "1/2"),
        ("P=? [ F (s=7 ? d>4 : false) ]", "1/3"),
        ("P=? [ s<7 U d=1 ]", "1/6"),
        ("P=? [ X s=1 & !big ]", "1/2"),
        ("P=? [ X X s+d=3 ]", "1/4"),
        ("P=? [ F<=(N-4) s=7 ]", "3/4"),
        ("P=? [ F<=3 s=N ]", "3/4"),
        ("P=? [ F<=N-4 s=7 ]", "3/4"),
        ("P=? [ F<=N (s=7) & (d=1 | true) ]", "63/64"),
        ("P=? [ F[N-6,3] s=7 ]", "3/4"),
        ("P=? [ F[N-5,2^2-1] (s=7) ]", "3/4"),
        ("P=? [ X^(N-6) s=1 ]", "1/2"),
        ("P=? [ X^2 s=2^2 ]", "1/4"),
        ("P=? [ F s=7 & d=6 {s=6} ]", "2/3"),
        ("P=? [ F s=7 & d=6 {s<7}{max} ]", "2/3"),
        ("filter(max, P=? [ F s=7 & d=6 ], s<7)", "2/3"),
        ("filter(min, P=? [ F s=7 & d=6 ], s=2 | s=6)", "1/3"),
        ("filter(sum, P=? [ F s=7 & d=6 ], s=2 | s=6)", "1"),
        ("filter(avg, P=? [ F s=7 & d=6 ], s=2 | s=6)", "1/2"),
        ('filter(state, P=? [ F d=1 ], "init")', "1/6"),
    ],
)
def test_probabilities(text, wanted):
    assert str(value(text)) == wanted


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("P>=1/6 [ F s=7 & d=6 ]", True),
        ("P>1/6 [ F s=7 & d=6 ]", False),
        ("P>=1-5/6 [ F s=7 & d=6 ]", True),
        ("P>1/(N-1) [ F s=7 & d=6 ]", False),
        ('filter(forall, P>=1 [ F "done" ])', True),
        ("filter(exists, P>=2/3 [ F d=6 ], s<7)", True),
        ("filter(exists, P>2/3 [ F d=6 ], s<7)", False),
        ("filter(count, P>0 [ F d=6 ])", 4),
        ("filter(first, P>0 [ F d=6 ], s>0 & s<7)", False),
        ('P>=1 [ F "deadlock" ]', False),
        ("P>=1 [ true U s=7 ] & !big", True),
        ("s=0 => P>0 [ X s=1 ]", True),
        ("A [ F s=7 ]", False),
        ("E [ G s<7 ]", True),
        ("S>=1 [ s=7 ]", True),
    ],
)
def test_truths(text, wanted):
    assert value(text) is wanted or value(text) == wanted


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("Pmax=? [ F x=1 ]", "1/2"),
        ("Pmin=? [ F x=1 ]", "1/4"),
        ("Pmax=? [ G x!=1 ]", "3/4"),
        ("filter(range, P=? [ F x=1 ], x=0)", "(1/4, 1/2)"),
        ("Pmax>=1/2 [ F x=1 ]", "True"),
        ("Pmax>1/2 [ F x=1 ]", "False"),
        ("Pmax<=1/2 [ F x=1 ]", "True"),
        ("Pmin<=1/4 [ F x=1 ]", "True"),
        ("Pmin<1/4 [ F x=1 ]", "False"),
        ("Pmin>=1/4 [ F x=1 ]", "True"),
        ("Pmax>=0 [ F x=1 ]", "True"),
        ("P<=1/3 [ F x=1 ]", "False"),
    ],
)
def test_one_side_of_all_schedulers(text, wanted):
    found = value(text, CHOICE)  # a model that does not say what it is, is a decision process, as in PRISM
    shown = f"({', '.join(map(str, found))})" if isinstance(found, tuple) else str(found)
    assert shown == wanted


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("multi(Pmax=? [ F s=7 ])", "several objectives at once cannot be asked"),
        ("<<1>> Pmax=? [ F s=7 ]", "games and coalitions cannot be asked"),
        ("P=? [ F s ]", "arithmetic cannot be asked"),
        ('P=? [ F "nowhere" ]', 'the model has no label "nowhere"'),
        ("P=? [ F<=(1-N) s=7 ]", "-6 is no number of steps"),
        ("filter(median, P=? [ F s=7 ])", "expected what the filter makes of the values"),
        ("filter(max, P=? [ F s=7 ], s>8)", "no reachable state satisfies"),
        ("filter(max, F s=7)", "a temporal operator stands outside"),
        ("P=? [ F t=7 ]", "unknown variable 't'"),
        ("1 - P=? [ F s ]", "arithmetic cannot be asked"),
        ('1 - P=? [ F "nowhere" ]', 'the model has no label "nowhere"'),
        ("P=? [ F s=7 ] +", "expected an expression"),
        ("P=? [ F s=7 ] & big", "the operand of '&' is a condition"),
        ("P=? [ F s=7 ] + big", "the operand of '+' is a number"),
        ("1 ? P=? [ F s=7 ] : 2", "what stands before '?' is a condition"),
        ("log(P=? [ F s=7 ], 2)", "log has no exact value"),
        ("P=? [ F P=? [ X s=1 ] > 1/2 ]", "expected ']' and found '>'"),
        ("2*filter(count, true, P>0 [ F s=7 ])", "the states of a filter are told by a condition"),
    ],
)
def test_what_cannot_be_asked_is_told_by_name(text, message):
    with pytest.raises((FormulaError, QuestionError)) as caught:
        value(text)
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("text", "model", "message"),
    [
        ("filter(state, P=? [ F s=7 ], s<7)", DIE, "7 states satisfy the condition"),
        ("filter(max, P>0 [ F s=7 ], s<7)", DIE, "the formula holds or fails"),
        ("filter(count, P=? [ F s=7 ], s<7)", DIE, "the formula asks for a number"),
        ("filter(max, P=? [ F x=1 ], x=0)", CHOICE, "of least or of largest values"),
    ],
)
def test_filters_that_do_not_fit(text, model, message):
    with pytest.raises(QuestionError) as caught:
        value(text, model)
    assert message in str(caught.value)


def test_a_condition_has_the_name_of_its_text_and_no_other_label_is_taken_for_it():
    text = DIE + 'label "s+d=3" = false;'
    asked = read_property(explore(text), 'P>0 [ F s+d=3 ] & !P>0 [ F "s+d=3" ]')
    found = model_check(asked.model.process, asked.written)
    assert found.status == "proved"
    assert str(found.formula) == 'P>0 [ F "(s+d=3)" ] & !P>0 [ F "s+d=3" ]'


def test_the_variable_of_a_family_is_not_taken_for_a_constant():
    asked = read_property(
        explore(DIE.replace("const int N = 7;", "const int N = 7; const int k = 3;")), "all k in 1..6: P>0 [ F d=k ]"
    )
    assert next(str(part) for part in asked.written.formula.instances()) == "P>0 [ F (d = 1) ]"
    assert model_check(asked.model.process, asked.written).status == "proved"


FILE = """
// what a die does
const int k;          // a side
const int last = k + 1;
label "side" = s=N & d=k;
// RESULT: 1/6
P=? [ F "side" ];
"fair": P>=1/6 [ F
   "side" ]
  & P<=1/6 [ F d=k ]
P=? [ F<=last
  s=N ];
R=? [ F s=7 ]
"not fair" : P>1/6 [ F "side" ]
"""


def test_a_file_of_properties():
    file = parse_properties(FILE, name="die.props")
    assert [(one.name, one.line) for one in file.properties] == [("", 7), ("fair", 8), ("", 11), ("", 13), ("", 14)]
    model = file.on(explore(DIE), {"k": "2"})
    assert model.scope.constants["last"] == 3
    found = [read_property(model, one.text) for one in file.properties[:3]]
    assert [model_check(one.model.process, one.written).status for one in found] == ["proved"] * 3


def test_names_of_the_model_are_not_declared_again():
    for text in ("const int N = 3;", "const int s = 3;", 'label "done" = s=1;'):
        with pytest.raises(FormatError, match="declared in the model too"):
            parse_properties(text).on(explore(DIE), {})


GUARDED = """dtmc
const int c = 0;
module m
  s : [0..3] init 0;
  [] s<3 -> 1/2:(s'=s+1) + 1/2:true;
  [] s=3 -> true;
endmodule
"""


@pytest.mark.parametrize(
    ("text", "status"),
    [
        ("c=0 | pow(2,c-1)>0", "proved"),
        ("c!=0 & pow(2,c-1)>0", "refuted"),
        ("c!=0 => pow(2,c-1)>0", "proved"),
        ("P>=1 [ s=0 | 1/s>1/4 U s=3 ]", "proved"),
        ("P>=1 [ F (s!=0 & 1/s<1/2) & s=3 ]", "proved"),
        ("P>=1/2 [ F<=1 s>0 & 1/s<2 ]", "proved"),
        ("P>=1 [ F s=pow(4,1/2) ]", "proved"),
        ("P>=1 [ F s=pow(8,2/3) ]", "refuted"),
    ],
)
def test_what_a_condition_does_not_need_may_have_no_value(text, status):
    found = read_property(explore(GUARDED), text)
    assert model_check(found.model.process, found.written).status == status


@pytest.mark.parametrize(
    "text", ["1/s>0", "P=? [ F 1/s>0 | s=0 ]", "P=? [ F s=pow(2,1/2) ]", "P=? [ F s=pow(-8,1/3) ]"]
)
def test_what_a_condition_needs_must_have_a_value(text):
    with pytest.raises(PrivproofError, match=r"divided by zero|no exact value"):
        read_property(explore(GUARDED), text)


def test_a_name_that_the_model_does_not_have_is_said():
    for text in ("P=? [ F s=k ]", "P=? [ F<=k s=1 ]"):
        with pytest.raises(FormulaError, match="no constant or variable 'k'"):
            read_property(explore(GUARDED), text)
