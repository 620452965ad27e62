"""``privproof logic`` as users meet it: verdicts, JSON, certificates, conversions, and one message for every wrong request."""

from __future__ import annotations

import json

import pytest
from tests.commands import MODELS
from tests.logic.test_jani import PRISM as AS_PRISM
from tests.logic.test_jani import WALK

SURVEY = """\
kind: markov-chain
title: survey
states: [plus, minus, yes, no, dead]
transitions:
  plus: {"yes": 3/4, "no": 1/4}
  minus: {"yes": 1/4, "no": 3/4}
  "yes": {dead: 1}
  "no": {dead: 1}
  dead: {dead: 1}
labels: {"yes": out1, "no": out0}
scenario:
  pairs:
    - {left: plus, right: minus}
"""

PRISM = """\
dtmc
const double p;
module survey
  s : [0..4];
  [] s=0 -> p : (s'=2) + 1-p : (s'=3);
  [] s=1 -> 1-p : (s'=2) + p : (s'=3);
  [] s=2 | s=3 -> (s'=4);
endmodule
init s<=1 endinit
label "out1" = s=2;
//@ neighbours s=0 ~ s=1
"""

MECHANISM = """\
from privproof import bernoulli, integer, mechanism

@mechanism
def survey(ill: integer(0, 1)):
    return ill if bernoulli("1/2") else int(bernoulli("1/2"))
"""


@pytest.fixture
def survey(tmp_path):
    (tmp_path / "survey.yaml").write_text(
        SURVEY.replace("left: plus, right: minus", "left: {plus: 1}, right: {minus: 1}")
    )
    return tmp_path


def test_a_formula_holds(command, survey):
    result = command("logic", "survey.yaml", "D[ln(3), 0](X out1) & D[ln(3), 0](X out0)")
    assert (result.returncode, result.stderr) == (0, "")
    assert "survey: D[ln(3), 0](X out1) & D[ln(3), 0](X out0) holds in plus, minus" in result.stdout
    assert "epsilon ln(3) ≈ 1.09861 at this delta" in result.stdout


def test_a_formula_fails(command, survey):
    result = command("logic", "survey.yaml", "D[1, 0](X out1)", "--json")
    assert result.returncode == 1
    said = json.loads(result.stdout)
    assert (said["verdict"], said["engine"], said["question"]["logic"]) == ("refuted", "logic", "dpCTL")
    witness = said["witness"]
    assert (witness["left"], witness["right"], witness["output"]) == ("plus", "minus", "X out1")
    assert (witness["left_probability"], witness["right_probability"], witness["ratio"]) == ("3/4", "1/4", "3")
    assert said["tight"]["ratio"] == "3"
    assert said["tight"]["exact"] == "ln(3)"


def test_a_number_is_asked_for(command, survey):
    result = command("logic", "survey.yaml", "P=? [ F out1 ]", "--state", "minus")
    assert result.returncode == 0
    assert "= computed  survey: P=? [ F out1 ] is 1/4 = 0.25" in result.stdout


def test_both_readings_are_told(command, survey):
    """By the older convention the probability would be 3/4, and the formula would hold."""
    text = "P>=3/4 [ X out1 & X out1 ]"
    result = command("logic", "survey.yaml", text, "--state", "plus", "--report", "r.html")
    assert result.returncode == 1
    told = "read as X (out1 & (X out1)), by PRISM's precedence; (X out1) & (X out1) is another formula"
    assert told in " ".join(result.stdout.split())
    assert "by PRISM" in (survey / "r.html").read_text(encoding="utf-8")
    said = json.loads(command("logic", "survey.yaml", text, "--state", "plus", "--json").stdout)
    assert said["question"]["formula"] == "P>=3/4 [ X (out1 & (X out1)) ]"
    assert [note for note in said["notes"] if note.startswith(told)]
    plain = json.loads(command("logic", "survey.yaml", said["question"]["formula"], "--state", "plus", "--json").stdout)
    assert (plain["verdict"], plain["notes"]) == ("refuted", [])


def test_certificates_are_written_and_rechecked(command, survey):
    for formula, status in (("D[ln(3), 0](X out1)", 0), ("D[1, 0](X out1)", 1), ("P>=1/4 [ F out1 ]", 1)):
        made = command("logic", "survey.yaml", formula, "--certificate", "c.json", "--report", "r.html")
        assert made.returncode == status
        checked = command("recheck", "c.json")
        assert (checked.returncode, checked.stderr) == (0, "")
        assert "accepted" in checked.stdout
        assert "survey" in (survey / "r.html").read_text(encoding="utf-8")


def test_a_changed_certificate_is_rejected(command, survey):
    command("logic", "survey.yaml", "D[ln(3), 0](X out1)", "--certificate", "c.json")
    text = (survey / "c.json").read_text(encoding="utf-8").replace("ln(3)", "ln(2)")
    (survey / "c.json").write_text(text, encoding="utf-8")
    assert command("recheck", "c.json").returncode == 2


def test_prism_models_and_their_constants(command, tmp_path):
    (tmp_path / "survey.pm").write_text(PRISM)
    formula = "D[ln(3), 0](X out1)"
    missing = command("logic", "survey.pm", formula)
    assert missing.returncode == 2
    assert "--set p=" in missing.stderr
    deadlock = command("logic", "survey.pm", formula, "--set", "p=3/4")
    assert deadlock.returncode == 2
    assert "(s=4)" in deadlock.stderr
    assert "--self-loops" in deadlock.stderr
    assert command("logic", "survey.pm", formula, "--set", "p=3/4", "--self-loops").returncode == 0
    assert command("logic", "survey.pm", formula, "--set", "p=4/5", "--self-loops").returncode == 1
    variables = command("logic", "survey.pm", "P=? [ F s=2 ]", "--set", "p=3/4", "--self-loops", "--json")
    assert {e["probability"] for e in json.loads(variables.stdout)["operators"][0]["states"]} == {"3/4", "1/4"}


@pytest.mark.parametrize("suffix", [".pm", ".drn", ".json", ".yaml"])
def test_conversions_keep_what_a_formula_says(command, survey, suffix):
    assert command("convert", "survey.yaml", f"other{suffix}").returncode == 0
    for formula, status in (("D[ln(3), 0](X out1)", 0), ("D[ln(2), 0](X out0)", 1)):
        assert command("logic", f"other{suffix}", formula).returncode == status


def test_a_formula_is_asked_of_a_mechanism(command, tmp_path):
    (tmp_path / "survey.py").write_text(MECHANISM)
    result = command("logic", "survey.py:survey", 'D[ln(3), 0](X "1")')
    assert (result.returncode, result.stderr) == (0, "")
    assert "3/4 = 0.75 against 1/4 = 0.25" in result.stdout
    assert command("logic", "survey.py:survey", 'P>=1/2 [ X "1" ]').returncode == 1


def test_another_neighbour_relation(command, survey):
    result = command("logic", "survey.yaml", "D[0, 0](X out1)", "--neighbours", "yes ~ no")
    assert result.returncode == 0
    assert "yes, no" in result.stdout


def test_decision_processes_in_the_examples(command):
    model = str(MODELS / "logic" / "interactive_survey.yaml")
    result = command("logic", model, "D[ln(3), 0](X out1)")
    assert result.returncode == 1
    assert "actions        H" in result.stdout
    assert command("logic", model, "D[ln(4), 0](X out1)").returncode == 0


def test_a_formula_that_is_neither_safe_nor_co_safe(command):
    result = command("logic", str(MODELS / "logic" / "interactive_survey.yaml"), "P>=1 [ G F out1 ]")
    assert result.returncode == 1


WRONG = {
    "P>=1/2 [ F out1": ("expected ']'", "^"),
    "P>=1/2 [ F out2 ]": ("unknown label or state 'out2'", "did you mean 'out1'?", "^"),
    "F out1": ("outside P, R, D, E and A", "^"),
    "D[-1, 0](X out1)": ("below zero", "^"),
    "D[1, 0](P=? [ F out1 ])": ("only be the whole formula", "^"),
    "P>=3/2 [ F out1 ]": ("no probability", "^"),
    "P>=1/2 [ x >= 3 U out1 ]": ("the model has none",),
    "": ("expected a formula", "^"),
}


@pytest.mark.parametrize("formula", WRONG)
def test_wrong_formulas(command, survey, formula):
    result = command("logic", "survey.yaml", formula)
    assert (result.returncode, result.stdout) == (2, "")
    assert result.stderr.startswith("privproof: formula")
    assert "Traceback" not in result.stderr
    for part in WRONG[formula]:
        assert part in result.stderr


BROKEN = {
    "a row that does not sum to one": (('"yes": 3/4, "no": 1/4', '"yes": 3/4, "no": 1/5'), ("5:3", "1/20", "missing")),
    "an unknown state": (('"no": 1/4}', '"on": 1/4}'), ("5:", "'on'")),
    "a deadlock": (("  dead: {dead: 1}\n", ""), ("dead", "--self-loops")),
    "a neighbour that does not exist": (("right: minus", "right: mines"), ("mines", "minus")),
    "an enclosure from zero": (('"yes": 3/4', '"yes": [0, 3/4]'), ("leaves open",)),
    "another kind": (("kind: markov-chain", "kind: hmm"), ("markov-chain | mdp",)),
}


@pytest.mark.parametrize("what", BROKEN)
def test_broken_models(command, tmp_path, what):
    (old, new), parts = BROKEN[what]
    assert old in SURVEY
    (tmp_path / "m.yaml").write_text(SURVEY.replace(old, new))
    result = command("logic", "m.yaml", "D[ln(3), 0](X out1)")
    assert (result.returncode, result.stdout) == (2, "")
    assert result.stderr.startswith("privproof: m.yaml")
    for part in parts:
        assert part in result.stderr


def test_check_points_to_formulas(command, tmp_path):
    (tmp_path / "survey.pm").write_text(PRISM)
    result = command("check", "survey.pm", "--epsilon", "1")
    assert result.returncode == 2
    assert "privproof logic survey.pm" in result.stderr


COINS = """
dtmc
const int N = 3;
module coins
  n : [0..N];
  heads : [0..N];
  [] n<N -> 1/2:(n'=n+1) & (heads'=heads+1) + 1/2:(n'=n+1);
  [] n=N -> true;
endmodule
"""
PROPERTIES = """
const int k;  // so many heads
label "wanted" = n=N & heads=k;
P=? [ F "wanted" ];
"likely": P>=3/8 [ F
   "wanted" ]
R=? [ F n=N ]
"surely": P>=1 [ F heads+1=k & n=N ]
"""


def test_a_file_of_properties(command, tmp_path):
    (tmp_path / "coins.pm").write_text(COINS)
    (tmp_path / "coins.props").write_text(PROPERTIES)
    asked = ("logic", "coins.pm", "coins.props", "--set", "k=2")
    every = command(*asked, "--json")
    assert every.returncode == 1
    listed = json.loads(every.stdout)
    assert [one["verdict"] for one in listed["properties"]] == ["proved", "proved", "unknown", "refuted"]
    assert [one["property"] for one in listed["properties"]] == ["line 4", "likely", "line 7", "surely"]
    assert listed["properties"][0]["operators"][0]["states"][0]["probability"] == "3/8"
    assert "the model has no rewards" in listed["properties"][2]["reason"]
    assert "- not asked  line 7" in command(*asked).stdout
    one = command(*asked, "--property", "likely")
    assert (one.returncode, one.stderr) == (0, "")
    assert "property       likely" in one.stdout
    assert "known whether" not in command(*asked, "--property", "4").stdout
    assert "line 4" not in command(*asked, "--property", "unlikely").stdout
    assert "hint: 4, likely, 7, surely" in command(*asked, "--property", "unlikely").stderr
    assert command(*asked, "--certificate", "c.json").returncode == 2
    assert "the constant 'k' has no value" in command("logic", "coins.pm", "coins.props").stderr
    assert "is 3/8" in command("logic", "coins.pm", "P=? [ F heads=N-1 & n=N ]").stdout


RUIN = """
dtmc
const int N;
const double p;
module m x : [0..N] init 1; [] x>0 & x<N -> p:(x'=x+1) + 1-p:(x'=x-1); endmodule
rewards "steps" true : 1; endrewards
"""


def test_constants_and_ranges_of_them(command, tmp_path):
    (tmp_path / "ruin.pm").write_text(RUIN)
    asked = ("logic", "ruin.pm", "P=? [ F x=N ]", "--self-loops")
    one = command(*asked, "-const", "N=4,p=1/2")
    assert "is 1/4 = 0.25" in one.stdout
    several = command(*asked, "--const", "N=2:4, p=1/2")
    assert several.stdout.splitlines() == [
        "N=2  P=? [ F (x = 2) ]: 1/2 = 0.5",
        "N=3  P=? [ F (x = 3) ]: 1/3 ≈ 0.333333",
        "N=4  P=? [ F (x = 4) ]: 1/4 = 0.25",
    ]
    bounds = command(
        "logic", "ruin.pm", "P>=1/3 [ F x=N ]", "--self-loops", "--const", "N=3,p=0.25:0.25:0.75", "--json"
    )
    found = json.loads(bounds.stdout)
    assert bounds.returncode == 1
    assert [(each["constants"], each["verdict"]) for each in found["properties"]] == [
        ("p=1/4", "refuted"),
        ("p=1/2", "proved"),
        ("p=3/4", "proved"),
    ]
    assert command(*asked, "--const", "N=5:2,p=1").returncode == 2
    assert "gives no constant a value" in command(*asked, "--const", "N").stderr
    assert "--set p=" in command(*asked, "--const", "N=3").stderr


FLOATS = """@type: DTMC
@parameters

@reward_models

@nr_states
3
@nr_choices
3
@model
state 0 init
\taction 0
\t\t1 : 0.3333333333
\t\t2 : 0.6666666666
state 1
\taction 0
\t\t1 : 1
state 2 done
"""


def test_rounded_files_and_loops(command, tmp_path):
    (tmp_path / "floats.drn").write_text(FLOATS)
    asked = ("logic", "floats.drn", "P=? [ F done ]", "--self-loops")
    assert "--rounded" in command(*asked).stderr
    found = command(*asked, "--rounded")
    assert found.returncode == 0
    assert "is 6666666666/9999999999 ≈ 0.666667" in found.stdout or "is 2/3 ≈ 0.666667" in found.stdout
    assert "1 rows of the file miss the sum 1 by rounding" in found.stdout
    assert command("convert", "floats.drn", "exact.pm", "--rounded").returncode == 2  # a state has no transition
    assert command("convert", "floats.drn", "exact.pm", "--rounded", "--self-loops").returncode == 0
    again = command("logic", "exact.pm", 'P=? [ F "done" ]')
    assert again.stdout.splitlines()[0].split(" is ")[1] == found.stdout.splitlines()[0].split(" is ")[1]
    assert command("logic", "exact.pm", 'P=? [ F "done" ]', "--rounded").returncode == 2


def test_the_witness_is_that_of_the_outermost_operator(command, tmp_path):
    """The inner D fails in a state, the outer one holds: what the verdict is about stands on top."""
    (tmp_path / "nested.yaml").write_text(NESTED)
    asked = command("logic", "nested.yaml", "D[ln(2), 0](F !D[0, 0](X yes))", "--json")
    answer = json.loads(asked.stdout)
    assert answer["verdict"] == "proved"
    assert answer["witness"]["holds"] is True
    assert answer["witness"]["output"] == "F !D[0, 0](X yes)"
    assert answer["tight"]["exact"] == "0"
    assert [each["formula"] for each in answer["operators"]] == ["D[0, 0](X yes)", "D[ln(2), 0](F !D[0, 0](X yes))"]


NESTED = """
kind: markov-chain
states: [left, right, one, two, yes, no]
transitions:
  left: {one: 1/2, two: 1/2}
  right: {one: 1/2, two: 1/2}
  one: {yes: 3/4, no: 1/4}
  two: {yes: 1/4, no: 3/4}
  yes: {yes: 1}
  no: {no: 1}
scenario:
  pairs:
    - {name: outer, left: {left: 1}, right: {right: 1}}
    - {name: inner, left: {one: 1}, right: {two: 1}}
"""


def test_runs_are_drawn(command, tmp_path):
    (tmp_path / "ruin.pm").write_text(RUIN)
    asked = (
        "logic",
        "ruin.pm",
        "P=? [ F x=N ]",
        "--self-loops",
        "--const",
        "N=2,p=1/2",
        "--simulate",
        "5",
        "--seed",
        "1",
    )
    shown = command(*asked)
    assert shown.returncode == 0
    assert shown.stdout.count("(x=1) -> (x=") == 5
    assert "nothing is proved by them" in shown.stdout
    assert shown.stdout == command(*asked).stdout
    found = json.loads(command(*asked, "--json").stdout)
    assert {run["outcome"] for run in found["runs"]} <= {"satisfied", "violated"}


REFERRING = """
const int unused;
const int k;
"sure": P>=1 [ F n=N ];
"asks": P=? [ F n=N ];
filter(forall, "sure" <=> n<=N);
filter(count, "asks");
"circle": "circle" & true;
filter(forall, n=k)
"""


def test_properties_that_speak_of_others(command, tmp_path):
    """A constant that nothing speaks of needs no value; one that a property speaks of is told there."""
    (tmp_path / "coins.pm").write_text(COINS)
    (tmp_path / "coins.props").write_text(REFERRING)
    found = json.loads(command("logic", "coins.pm", "coins.props", "--json").stdout)["properties"]
    assert [each["verdict"] for each in found] == ["proved", "proved", "proved", "unknown", "unknown", "unknown"]
    assert found[2]["filter"] == {"kind": "forall", "states": 10, "value": True}
    assert "a filter 'count' is not for such values" in found[3]["reason"]
    assert "no label" in found[4]["reason"]
    assert "the constant 'k' has no value" in found[5]["reason"]


def test_the_number_in_the_first_line_is_that_of_the_whole_formula(command, tmp_path):
    """Not that of an operator inside, which is listed before it."""
    model = tmp_path / "step.pm"
    model.write_text(
        "dtmc module m s : [0..2]; [] s<2 -> 1/3:(s'=s+1) + 2/3:true; [] s=2 -> true; endmodule", encoding="utf-8"
    )
    found = command("logic", model, "P=? [ F P>=1/3 [ X s=2 ] ]")
    assert found.stdout.splitlines()[0].endswith("P=? [ F P>=1/3 [ X (s = 2) ] ] is 1")


def test_jani_files_have_properties(command, tmp_path):
    (tmp_path / "walk.jani").write_text(json.dumps(WALK), encoding="utf-8")
    (tmp_path / "walk.pm").write_text(AS_PRISM, encoding="utf-8")
    asked = ("--const", "p=4/5", "--json")
    found = command("logic", "walk.jani", "walk.jani", "--property", "most", *asked)
    same = command("logic", "walk.pm", "Pmax=? [ F<=6 at=1 & n=N ]", *asked)
    ours, theirs = (json.loads(each.stdout) for each in (found, same))
    numbers = [each["operators"][0]["states"][0] for each in (ours.get("properties", [ours])[0], theirs)]
    assert numbers[0]["most"] == numbers[1]["most"] != "0"
    refused = command("logic", "walk.jani", "walk.jani", "--property", "cost", "--const", "p=4/5")
    assert "Emax" in refused.stdout + refused.stderr
    assert command("convert", "walk.jani", "out.pm", "--const", "p=4/5").returncode == 0
    in_words = command("logic", "walk.jani", "P>=1/2 [ F won & t ]", "--const", "p=4/5")
    assert in_words.returncode == 1
