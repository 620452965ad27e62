"""The PRISM language: what is read, what is refused and where, and what is written."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

from privproof import model_check
from privproof.errors import FormatError, ModelError, PrivproofError
from privproof.exact import rational
from privproof.logic.decision_process import DecisionProcess
from privproof.logic.formats.process_files import read_process
from privproof.logic.prism import explore, neighbours_from, parse_prism, write_prism

EXAMPLES = Path(__file__).parents[2] / "examples" / "models" / "prism"


def module(body, *, kind="dtmc", around=""):
    return f"{kind} module m {body} endmodule {around}"


def row(process, state, choice=0):
    """The distribution of a state's choice, by the names of the next states."""
    entries = process.entries(int(process.choices[process.state(state)]) + choice)
    return {process.names[target]: str(number) for target, number in entries}


def values(process, variable):
    return process.variables[variable].tolist()


# --- what is read ---------------------------------------------------------------------------------


def test_the_die():
    die = read_process(EXAMPLES / "die.pm")
    assert (len(die), len(die.targets), die.initial, die.is_chain) == (13, 20, (0,), True)
    assert list(die.names[:3]) == ["(s=0,d=0)", "(s=1,d=0)", "(s=2,d=0)"]
    assert row(die, "(s=3,d=0)") == {"(s=1,d=0)": "1/2", "(s=7,d=1)": "1/2"}
    assert np.flatnonzero(die.labels["six"]).tolist() == [die.state("(s=7,d=6)")]
    assert die.name == "die"


@pytest.mark.parametrize(
    ("name", "states", "choices", "transitions"),
    [("die.pm", 13, 13, 20), ("herman3.pm", 8, 8, 28), ("survey.pm", 18, 18, 27), ("consensus2.nm", 272, 400, 492)],
)
def test_the_examples_have_the_sizes_that_storm_finds(name, states, choices, transitions):
    process = read_process(EXAMPLES / name)
    assert (len(process), len(process.rows) - 1, len(process.targets)) == (states, choices, transitions)


def test_the_survey_says_its_neighbours():
    survey = read_process(EXAMPLES / "survey.pm")
    named = [(survey.names[a], survey.names[b]) for a, b in survey.neighbours]
    assert named == [
        ("(yes=0,asked=0,heard=0)", "(yes=1,asked=0,heard=0)"),
        ("(yes=1,asked=0,heard=0)", "(yes=2,asked=0,heard=0)"),
    ]
    assert survey.initial == (0, 1, 2)
    assert survey.labels["init"].tolist() == [True] * 3 + [False] * 15


def test_decimals_are_exact():
    process = parse_prism(module("x : [0..2]; [] x=0 -> 0.1:(x'=1) + 9e-1:(x'=2); [] x>0 -> true;"))
    assert row(process, "(x=0)") == {"(x=1)": "1/10", "(x=2)": "9/10"}


def test_branches_to_the_same_state_are_one_and_impossible_ones_none():
    process = parse_prism(module("x : [0..2]; [] true -> 1/3:(x'=1) + 1/3:(x'=1) + 1/3:true + 0:(x'=x+7);"))
    assert row(process, "(x=0)") == {"(x=1)": "2/3", "(x=0)": "1/3"}
    computed = parse_prism(module("x : [0..2]; [] x=0 -> x/2:(x'=7) + 1-x/2:(x'=1); [] x>0 -> true;"))
    assert row(computed, "(x=0)") == {"(x=1)": "1"}


def test_several_commands_of_a_chain_are_equally_likely():
    process = parse_prism(module("x : [0..2]; [] x=0 -> 1/2:(x'=1) + 1/2:true; [] x<=0 -> (x'=2); [] x>0 -> true;"))
    assert row(process, "(x=0)") == {"(x=0)": "1/4", "(x=1)": "1/4", "(x=2)": "1/2"}


def test_the_choices_of_a_decision_process_stay_apart():
    body = "x : [0..1]; [] x=0 -> (x'=1); [go] x=0 -> true; [] x=0 -> (x'=0); [go] true -> (x'=1);"
    process = parse_prism(module(body, kind="mdp"))
    assert process.actions == ("tau", "go", "tau#2", "go#2")
    assert [process.action(choice) for choice in range(5)] == ["tau", "go", "tau#2", "go#2", "go"]
    assert process.choices.tolist() == [0, 4, 5]


def test_modules_synchronise_on_common_actions():
    process = parse_prism(
        """
        mdp
        module m x : [0..1]; [go] x=0 -> 1/2:(x'=1) + 1/2:true; [own] true -> true; endmodule
        module n y : [0..1]; [go] y=0 -> 1/3:(y'=1) + 2/3:true; [go] true -> (y'=0); endmodule
        """
    )
    start = "(x=0,y=0)"
    assert [process.action(c) for c in range(3)] == ["own", "go", "go#2"]
    assert row(process, start, 1) == {"(x=1,y=1)": "1/6", "(x=1,y=0)": "1/3", "(x=0,y=1)": "1/6", "(x=0,y=0)": "1/3"}
    assert row(process, start, 2) == {"(x=1,y=0)": "1/2", "(x=0,y=0)": "1/2"}
    blocked = process.state("(x=1,y=0)")
    assert [process.action(c) for c in range(*process.choices[blocked : blocked + 2])] == ["own"]


def test_an_action_whose_command_is_never_enabled_still_blocks():
    text = "mdp module m x : [0..1]; [go] true -> (x'=1); [] true -> true; endmodule module n y : bool; [go] false -> true; endmodule"
    assert len(parse_prism(text)) == 1


def test_a_copy_renames_inside_formulas():
    process = parse_prism(
        """
        dtmc
        formula ahead = x>y;
        module m x : [0..2]; [] x<2 & !ahead -> (x'=x+1); endmodule
        module n = m [x=y, y=x] endmodule
        """,
        self_loops=True,
    )
    # n moves where y is not ahead of x
    assert row(process, "(x=1,y=0)") == {"(x=1,y=1)": "1"}
    assert row(process, "(x=0,y=0)") == {"(x=1,y=0)": "1/2", "(x=0,y=1)": "1/2"}


def test_a_copy_of_a_copy():
    process = parse_prism(
        """
        dtmc
        module a x : [0..1] init k; [go] x<top -> (x'=1); [go] x=top -> true; endmodule
        module b = a [x=y, k=l, top=high] endmodule
        module c = b [y=z, l=k, go=stop] endmodule
        const int k = 0; const int l = 1; const int top = 1; const int high = 1;
        """
    )
    assert process.names[0] == "(x=0,y=1,z=0)"
    assert row(process, "(x=0,y=1,z=0)") == {"(x=1,y=1,z=0)": "1/2", "(x=0,y=1,z=1)": "1/2"}


def test_constants_in_any_order_and_from_outside():
    text = "dtmc const int N = 2*M; const M; const double p; module m x : [0..N]; [] x<N -> p:(x'=N) + 1-p:true; [] x=N -> true; endmodule"
    process = parse_prism(text, constants={"M": "2", "p": "1/7"})
    assert row(process, "(x=0)") == {"(x=4)": "1/7", "(x=0)": "6/7"}


@pytest.mark.parametrize(
    ("expression", "value"),
    [
        ("2+3*4-5", 9),
        ("-x*2 + 20", 14),
        ("2-1-1", 0),
        ("floor(7/2)", 3),
        ("ceil(-7/2)", -3),
        ("round(5/2)", 3),
        ("floor(8/2/2)", 2),
        ("mod(-1, 5)", 4),
        ("pow(2, 10)", 1024),
        ("pow(x, 2)", 9),
        ("x^2", 9),
        ("2*x^2 + 1", 19),
        ("2^3^2", 512),
        ("-2^2", 4),
        ("floor(16*0.5^2)", 4),
        ("floor(4*pow(2, -1.0))", 2),
        ("false => true => false ? 1 : 0", 1),
        ("func(max, 1, x, 2)", 3),
        ("min(4, 2.5) < 3 ? 1 : 2", 1),
        ("x=3 ? b ? 10 : 11 : 12", 10),
        ("!x=1 & b ? 1 : 0", 1),
        ("false => false & false ? 1 : 0", 1),
        ("true | false & false ? 1 : 0", 1),
        ("(b <=> x>0) ? 1 : 0", 1),
        ("b = true ? 1 : 0", 1),
        ("b != (x<5) ? 1 : 0", 0),
        ("0.1 + 0.2 = 0.3 ? 1 : 0", 1),
        ("floor(1e3)", 1000),
        ("1 = 1.0 ? 1 : 0", 1),
    ],
)
def test_expressions(expression, value):
    variables = "x : [0..5] init 3; b : bool init true; y : [-50..2000] init -50;"
    text = module(f"{variables} [] y=-50 -> (y'={expression}); [] y!=-50 -> true;")
    process = parse_prism(text)
    assert values(process, "y") == [-50, value]
    constant = expression.replace("x", "3").replace("ma3", "max").replace("b", "true")
    assert values(
        parse_prism(f"dtmc const int c = {constant}; module m y : [-50..2000] init c; [] true -> true; endmodule"), "y"
    ) == [value]


def test_a_condition_guards_what_follows_it():
    process = parse_prism(module("x : [0..1]; [] x=0 | 1/x>0 -> (x'=1);"))
    assert len(process) == 2
    parse_prism("dtmc const int N = 0; module m x : [0..1]; [] N=0 ? true : 1/N>0 -> true; endmodule")


def test_many_commands_are_found_by_the_value_they_ask_for():
    steps = "".join(f"[] s={i} & !b -> 1/2:(s'={i + 1}) + 1/2:(s'=0)&(b'=true);" for i in range(20))
    plain = "".join(f"[a{i}] s={i} -> (s'={19 - i}) & (b'=false);" for i in range(20))
    process = parse_prism(module(f"s : [0..20]; b : bool; {steps} {plain} [] s=20 -> true; [z] b -> true;", kind="mdp"))
    assert len(process) == 22
    assert [process.action(c) for c in range(*process.choices[:2])] == ["tau", "a0"]
    assert row(process, "(s=0,b=true)") == {"(s=19,b=false)": "1"}
    assert row(process, "(s=0,b=true)", 1) == {"(s=0,b=true)": "1"}


def test_deadlocks():
    text = module("x : [0..3]; [] x<1 -> 1/2:(x'=1) + 1/2:(x'=2);")
    with pytest.raises(ModelError, match=r"^text: 2 states have no transition: \(x=1\), \(x=2\) \[deadlock\]"):
        parse_prism(text)
    process = parse_prism(text, self_loops=True)
    assert process.labels["deadlock"].tolist() == [False, True, True]
    assert row(process, "(x=1)") == {"(x=1)": "1"}
    assert parse_prism(text.replace("dtmc", "mdp"), self_loops=True).actions == ("tau",)


def test_initial_states_by_a_condition():
    around = "init x>y & b & mod(x,2)=0 endinit"
    process = parse_prism(module("x : [0..4]; y : [0..4]; b : bool; [] true -> true;", around=around))
    assert [process.names[s] for s in process.initial][:2] == ["(x=2,y=0,b=true)", "(x=2,y=1,b=true)"]
    assert len(process.initial) == len(process) == 6
    wide = "dtmc module m " + "".join(f"v{i} : [0..999]; " for i in range(9)) + "[] true -> true; endmodule init "
    assert len(parse_prism(wide + " & ".join(f"v{i}={i}" for i in range(9)) + " endinit")) == 1


@pytest.mark.parametrize(
    "condition",
    [
        "x+y=3 & z",
        "x<2 & y=2*x | x=3 & !z",
        "(x>y | z) & (x=0 | y=0)",
        "x=1 & (y=1 & (z & true))",
        "x=0 & false | y=3 & x=3",
        "mod(x+y, 2)=1",
        "z => x=y",
    ],
)
def test_initial_states_are_all_that_satisfy_the_condition(condition):
    process = parse_prism(
        module("x : [0..3]; y : [0..3]; z : bool; [] true -> true;", around=f"init {condition} endinit")
    )
    python = condition.replace("mod(x+y, 2)=1", "(x+y) % 2 == 1").replace("z => x=y", "not z or x==y")
    for sign, word in (("&", " and "), ("|", " or "), ("!", " not "), ("true", "True"), ("false", "False")):
        python = python.replace(sign, word)
    python = re.sub(r"(?<![=<>])=(?!=)", "==", python)
    every = [(x, y, z) for x in range(4) for y in range(4) for z in (False, True)]
    wanted = [(x, y, z) for x, y, z in every if eval(python, {"x": x, "y": y, "z": z})]
    assert list(process.names) == [f"(x={x},y={y},z={str(z).lower()})" for x, y, z in wanted]


def test_initial_states_in_wide_ranges():
    """Few states, told by sums and alternatives, where the ranges have 10^12 combinations."""
    wide = "a : [0..9999]; b : [0..9999]; c : [0..9999]; d : int; [] true -> true;"
    told = "a<3 & b=a*1000 & c+b=a+7000 & d>=-1 & d<=1 | a=9999 & b=9999 & c=9999 & d=5"
    process = parse_prism(module(wide, around=f"init {told} endinit"))
    assert len(process) == 10
    assert process.names[9] == "(a=9999,b=9999,c=9999,d=5)"
    with pytest.raises(FormatError, match="values of 'd' would have to be tried"):
        parse_prism(module(wide, around="init a=0 & b=0 & c=0 endinit"))
    with pytest.raises(FormatError, match="more than 100 states"):
        parse_prism(module(wide, around="init a=0 & b=0 & d=0 endinit"), most_states=100)


def test_integers_without_bounds():
    process = parse_prism(module("x : int init 2; y : int; [] x>0 -> (x'=x-1) & (y'=y-3); [] x=0 -> true;"))
    assert list(process.names) == ["(x=2,y=0)", "(x=1,y=-3)", "(x=0,y=-6)"]
    with pytest.raises(FormatError, match="more than 50 reachable states") as caught:
        parse_prism(module("x : int; [] true -> (x'=x+1);"), most_states=50)
    assert "no end of states" in caught.value.hint


def test_comments_are_passed_over():
    assert len(parse_prism(module("x : [0..1]; // @ no remark\n [] true -> true;", around="// [] nonsense"))) == 1


COLLECTING = """
module m x : [0..2]; [go] x=0 -> (x'=1); [] x=0 -> (x'=2); [go] x=1 -> 1/2:(x'=1) + 1/2:(x'=2); endmodule
module n y : bool; [] x=2 & !y -> (y'=true); endmodule
rewards "r" x<2 : 1 + x; x=0 : 1/2; [go] true : 3 * x + 1; [] x=0 : 6; endrewards
rewards true : 2; endrewards
"""


def test_rewards_of_states_and_choices():
    """By hand; a state that only stays because it has no command gains by itself, but not by staying."""
    process = parse_prism("mdp" + COLLECTING, self_loops=True)
    found = process.reward("")
    names = list(process.names)
    assert names == ["(x=0,y=false)", "(x=1,y=false)", "(x=2,y=false)", "(x=2,y=true)"]
    assert [str(found.of_state(s)) for s in range(4)] == ["3/2", "2", "0", "0"]
    gains = {
        (s, process.action(c)): str(found.of_choice(c)) for s in range(4) for c in range(*process.choices[s : s + 2])
    }
    assert gains[0, "go"] == "1"
    assert gains[0, "~m"] == "6"
    assert gains[1, "go"] == "4"
    assert gains[2, "~n"] == "0"
    assert {value for (state, _), value in gains.items() if state == 3} == {"0"}
    assert list(process.rewards) == ["r", "2"]
    assert process.reward("2").of_state(3) == 2
    chain = parse_prism("dtmc" + COLLECTING, self_loops=True)
    assert [str(chain.reward("r").of_choice(c)) for c in range(4)] == ["7/2", "4", "0", "0"]  # (1 + 6)/2: blended


def test_rewards_survive_writing():
    for kind in ("mdp", "dtmc"):
        process = parse_prism(kind + COLLECTING.replace("endmodule\nmodule n", "[] y -> true; endmodule\nmodule n"))
        again = parse_prism(write_prism(process))
        for name in process.rewards:
            one, two = process.reward(name), again.reward(name)
            for part in ("states", "choices"):
                listed = [[str(each.numbers[i]) for i in getattr(each, part)] for each in (one, two)]
                assert listed[0] == listed[1]


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        ("x=0 : -1;", "the reward -1 is negative"),
        ("x=0 : 1 - 2*x;", None),
        ("true : 1 - 2*x;", "the reward -1 is negative"),
        ("true : true;", "a reward is a number"),
        ("[stop] true : 1;", "unknown action 'stop'"),
        ("true : 1/x;", "divided by zero"),
    ],
)
def test_rewards_that_are_wrong(lines, message):
    """They stand in the way only of those who ask about them or write them; what is no number at all cannot be read."""
    text = module(
        "x : [0..1]; [go] x=0 -> (x'=1); [] x=1 -> true;",
        around=f'rewards "fine" true : 1; endrewards rewards "bad" {lines} endrewards',
    )
    if message == "a reward is a number":
        with pytest.raises(FormatError, match=message):
            parse_prism(text)
        return
    process = parse_prism(text)
    assert process.reward("fine").of_state(0) == 1
    found = model_check(process, 'R{"fine"}=? [ F x=1 ]')
    assert [str(measured.least(0).low) for measured in found.measured.values()] == ["1"]
    if message is None:
        assert process.reward("bad").of_state(0) == 1
        return
    for use in (lambda: model_check(process, 'R{"bad"}=? [ F x=1 ]'), lambda: write_prism(process)):
        for _ in range(2):
            with pytest.raises(FormatError, match=message) as found:
                use()
            assert found.value.place.startswith("text:")


def test_conditions_about_states():
    model = explore(
        module("x : [0..3]; [] x<3 -> (x'=x+1); [] x=3 -> true;", around='formula f = x>1; label "top" = x=3;')
    )
    assert model.satisfying("f").tolist() == [False, False, True, True]
    assert model.satisfying('"top" | "init"').tolist() == [True, False, False, True]
    assert model.satisfying("x=0 | (x>=2 & x<=2)").tolist() == [True, False, True, False]
    assert model.satisfying("(x>=2 & x<=1) | x<=0 | x<=1").tolist() == [True, True, False, False]
    assert model.satisfying("true").tolist() == [True] * 4
    with pytest.raises(FormatError, match=r"^condition:1:2: 1 is divided by zero"):
        model.satisfying("1/x>0")
    assert neighbours_from(model, 'f ~ "init"; x=1 ~ x=0') == ((0, 2), (0, 3), (0, 1))
    assert neighbours_from(model.process, '"top" ~ x<=1;') == ((0, 3), (1, 3))


def test_too_many_neighbours():
    text = module("x : [0..1999]; [] true -> (x'=mod(x+1,2000));", around="\n//@ neighbours true ~ true")
    with pytest.raises(FormatError, match=r"^text:2:16: 2000 states ~ 2000 states: more than 1000000 pairs"):
        parse_prism(text)


def test_too_many_states():
    with pytest.raises(FormatError, match=r"^text: the model has more than 100 reachable states \[size\]"):
        parse_prism(module("x : [0..1999]; [] true -> (x'=mod(x+1,2000));"), most_states=100)


def test_nothing_of_the_text_is_run():
    commands = "[] index -> true; [] v0=0 -> (v0'=1)&(k0'=!k0); [] v0=1 -> true;"
    around = "const int __import__ = 1; formula index = v0=5;"
    process = parse_prism(module(f"v0 : [0..__import__]; k0 : bool; {commands}", around=around))
    assert list(process.names) == ["(v0=0,k0=false)", "(v0=1,k0=true)"]


# --- what is refused ------------------------------------------------------------------------------

REFUSED = [
    ("", "text:1:1: expected a module, found the end of the text [syntax]"),
    (
        "hello",
        "text:1:1: expected a declaration (dtmc, mdp, const, formula, label, global, module, init, rewards or system), "
        "found 'hello' [syntax]",
    ),
    ("ctmc", "text:1:1: 'ctmc': continuous-time Markov chains are not read [unsupported]"),
    ("pomdp", "text:1:1: 'pomdp': partially observable models are not read [unsupported]"),
    ("dtmc", "text:1:5: expected a module, found the end of the text [syntax]"),
    ("dtmc\nmdp", "text:2:1: the model was said to be a dtmc before [twice]"),
    (
        "dtmc\nmodule m\n  x : [0..3]\n  [] true -> true;\nendmodule",
        "text:4:3: expected ';' after the variable x, found '[' [syntax]",
    ),
    (module("x : [0..3]; [] x=0 -> (x'=1)"), "text:1:44: expected ';' after the command, found 'endmodule' [syntax]"),
    (module("x : [0..3]; [] x=0 -> (x=1);"), "text:1:42: expected ':' after the probability, found ';' [syntax]"),
    (module("x : [0..3]; [] x=0 & -> true;"), "text:1:36: expected an expression, found '->' [syntax]"),
    (
        module("x : [0..3]; [] (x=0 -> true;"),
        "text:1:35: expected ')' after the expression in parentheses, found '->' [syntax]",
    ),
    (
        module("x : [0..3]; [] x=0 -> 1/2 : (x'=1) + 1/2;"),
        "text:1:55: expected ':' after the probability, found ';' [syntax]",
    ),
    (module("x : [0..3]; [] x=0 # true;"), "text:1:34: unexpected character '#' [syntax]"),
    (
        module("x : [0..3]; [true] x=0 -> true;"),
        "text:1:28: expected the name of an action, found the keyword 'true' [syntax]",
    ),
    (module("x : [0..3]; true;"), "text:1:27: expected a variable, a command or 'endmodule', found 'true' [syntax]"),
    (module("x : [0..3]; [] x -> true;"), "text:1:30: a guard is a condition, this is an integer [type]"),
    (module("x : [0..3]; [] !x -> true;"), "text:1:31: the operand of '!' is a condition, this is an integer [type]"),
    (
        module("x : [0..3]; [] x+true=1 -> true;"),
        "text:1:32: the operand of '+' is a number, this is a condition (bool): true [type]",
    ),
    (
        module("x : [0..3]; [] true -> (x'=x/2);"),
        "text:1:43: the new value of 'x' is an integer, this is a number (double) [type]",
    ),
    (
        module("x : [0..3]; [] true -> (x'=true);"),
        "text:1:42: the new value of 'x' is a number, this is a condition (bool): true [type]",
    ),
    (module("x : [0..3]; [] true -> (y'=1);"), "text:1:39: unknown variable 'y' [unknown-name]"),
    (module("x : [0..3]; [] true -> (x'=1)&(x'=2);"), "text:1:46: 'x' is changed twice in one update [twice]"),
    (module("x : [3..0]; [] true -> true;"), "text:1:15: the range [3..0] of 'x' is empty [range]"),
    (
        module("x : [0..3] init 7; [] true -> true;"),
        "text:1:31: the initial value of 'x' is 7, outside its range [0..3] [range]",
    ),
    (
        module("x : [0..1.5]; [] true -> true;"),
        "text:1:23: a bound is an integer, this is a number (double): 3/2 [type]",
    ),
    (
        module("x : [0..99999999999999999999]; [] true -> true;"),
        "text:1:23: a bound is 99999999999999999999, beyond 2^62 [range]",
    ),
    (module("x : clock; [] true -> true;"), "text:1:19: 'x' is a clock: timed automata are not read [unsupported]"),
    (
        module("x : [0..1]; [] true -> [1/4,1/2]:(x'=1) + [1/2,3/4]:(x'=0);"),
        "text:1:38: intervals of probabilities are not read [unsupported]",
    ),
    (module("x : [0..1]; x : bool; [] true -> true;"), "text:1:27: 'x' is declared twice (first on line 1) [twice]"),
    (module("[] true -> true;"), "text:1:1: the model has no variable [variables]"),
    (module("x : [0..N];", around="const int N;"), "text:1:47: the constant 'N' has no value [constant]"),
    (
        module("x : [0..N];", around="const int N = M; const int M = N;"),
        "text:1:64: the constants define each other: N -> M -> N [circle]",
    ),
    (
        module("x : [0..N];", around="const int N = 1.5;"),
        "text:1:51: the constant 'N' is an integer, this is a number (double): 3/2 [type]",
    ),
    (
        module("x : [0..1]; [] f -> true;", around="formula f = g; formula g = f;"),
        "text:1:78: the formulas define each other: f -> g -> f [circle]",
    ),
    (module("x : [0..1]; [] 1/x > 0 -> true;"), "text:1:31: 1 is divided by zero in the state (x=0) [division]"),
    (
        module("x : [0..1]; [] mod(x, x)=0 -> true;"),
        "text:1:30: mod(0, 0) needs a positive divisor in the state (x=0) [division]",
    ),
    (
        module("x : [2..3]; [] pow(x, 1/2)>1 -> true;"),
        "text:1:30: pow(2, 1/2) has no exact value: it is no rational number in the state (x=2) [power]",
    ),
    (
        module("x : [0..1]; [] pow(2, 99999999)>1 -> true;"),
        "text:1:30: pow(2, 99999999) has more than 100000 bits [power]",
    ),
    (module("x : [0..1]; [] log(x, 2)=0 -> true;"), "text:1:30: log has no exact value [unsupported]"),
    (module("x : [0..1]; [] mn(x, 2)=0 -> true;"), "text:1:30: unknown function 'mn' [unknown-name]"),
    (module("x : [0..1]; [] floor(1,2)=0 -> true;"), "text:1:30: floor takes 1 argument, not 2 [arguments]"),
    (module("x : [0..1]; [] 1e99999=0 -> true;"), "text:1:30: the exponent 99999 is beyond ±10000 [number]"),
    (
        module("x : [0..1]; [] " + "(" * 200 + "true" + ")" * 200 + " -> true;"),
        "text:1:130: the expression nests deeper than 100 [depth]",
    ),
    (module('x : [0..1]; [] "a" -> true;'), 'text:1:30: the label "a" cannot stand here [label]'),
    (
        module("x : [0..3]; [] true -> (x'=x+1);"),
        "text:1:38: the new value 4 of 'x' is outside its range [0..3] in the state (x=3) [range]",
    ),
    (
        module("x : [0..3]; [] x=0 -> 0.5:(x'=1)+0.4:(x'=2);"),
        "text:1:27: the probabilities of the command sum to 9/10 = 0.9 instead of 1: 1/10 = 0.1 is missing in the state (x=0) [row-sum]",
    ),
    (
        module("x : [0..3]; [] x<3 -> (x+1)/2:(x'=x+1)+1/2:true;"),
        "text:1:27: the probabilities of the command sum to 3/2 = 1.5 instead of 1: 1/2 = 0.5 is too much in the state (x=1) [row-sum]",
    ),
    (
        module("x : [0..1]; [] true -> 2:true + -1:(x'=1);"),
        "text:1:47: the probability -1 is negative in the state (x=0) [probability]",
    ),
    (
        module("x : [0..1]; [] true -> true;", around="module n y : bool; [] y -> (x'=0); endmodule"),
        "text:1:82: the module n changes 'x', which belongs to the module m [owner]",
    ),
    (
        module(
            "x : [0..1]; [a] true -> (g'=true);",
            around="global g : bool; module n y : bool; [a] true -> true; endmodule",
        ),
        "text:1:40: the global variable 'g' is changed by [a], which several modules share [owner]",
    ),
    (
        module("x : [0..1]; [] true -> true;", around="module n = k [x=y] endmodule"),
        "text:1:65: unknown module 'k' [unknown-name]",
    ),
    (
        module("x : [0..1]; [] true -> true;", around="module n = m [y=z] endmodule"),
        "text:1:67: the variable 'x' of m is not renamed [renaming]",
    ),
    (
        module("x : [0..1]; [] true -> true;", around="module n = m [x=x] endmodule"),
        "text:1:67: 'x' is declared twice (first on line 1) [twice]",
    ),
    (
        'dtmc "system" m',
        "text:1:6: expected a declaration (dtmc, mdp, const, formula, label, global, module, init, rewards or system), "
        'found "system" [syntax]',
    ),
    (
        module("x : [0..1]; [] true -> true;", around="system m m endsystem"),
        "text:1:63: expected 'endsystem' after the composition, found 'm' [syntax]",
    ),
    (
        module("x : [0..1]; [] true -> true;", around='label "init" = true;'),
        'text:1:60: the label "init" is built in [label]',
    ),
    (
        module("x : [0..1]; [] true -> true;", around='label "a" = x;'),
        'text:1:66: the label "a" is a condition, this is an integer [type]',
    ),
    (
        module("x : [0..1]; [] true -> true;", around='label "a = x=1;'),
        'text:1:60: a quoted label has no closing " [syntax]',
    ),
    (
        module("x : [0..1] init 0; [] true -> true;", around="init x=0 endinit"),
        "text:1:31: the variable 'x' has an initial value beside the init ... endinit block [initial]",
    ),
    (
        module("x : [0..1]; [] true -> true;", around="init x=5 endinit"),
        "text:1:60: no state satisfies init ... endinit [initial]",
    ),
    (
        module("x : [0..1]; [] true -> true;", around="rewards true : 1;"),
        "text:1:62: expected 'endrewards', found the end of the text [syntax]",
    ),
    (
        module("x : [0..1]; [] true -> true;", around="\n//@ neighbors x=0 ~ x=1"),
        "text:2:5: unknown remark 'neighbors' [remark]",
    ),
    (
        module("x : [0..1]; [] true -> true;", around="\n//@ neighbours x=0 ~ x=1"),
        "text:2:16: no reachable state satisfies the right side [neighbours]",
    ),
    (
        module("x : [0..1]; [] true -> true;", around="\n//@ neighbours x=0"),
        "text:2:19: expected '~' after the condition of one neighbour, found the end of the text [syntax]",
    ),
    (
        module("x : [0..1]; [] true -> true;", around='\n//@ neighbours x=0 ~ "foo"'),
        "text:2:22: unknown label 'foo' [unknown-name]",
    ),
    (
        module("x : [0..1]; [] true -> true;", around="\n//@ neighbours x=0 ~ x=0"),
        "text:2:16: both sides are the same single state [neighbours]",
    ),
]


@pytest.mark.parametrize(("text", "message"), REFUSED, ids=[message[:60] for _, message in REFUSED])
def test_refused_at_its_place(text, message):
    with pytest.raises(FormatError) as caught:
        parse_prism(text)
    assert str(caught.value).splitlines()[0] == message


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"N": "true"}, "--set N:1:1: the constant 'N' is a number, this is a condition (bool): true [type]"),
        ({"N": "1/2"}, "--set N:1:2: the constant 'N' is an integer, this is a number (double): 1/2 [type]"),
        ({"N": "x"}, "--set N:1:1: unknown name 'x' [unknown-name]"),
        ({"N": "3 4"}, "--set N:1:3: expected an operator or the end of the expression, found '4' [syntax]"),
        ({"N": "3", "NN": "4"}, "--set NN:1:1: unknown constant 'NN' [unknown-name]"),
        ({"N": "3", "K": "4"}, "--set K:1:1: the constant 'K' has a value on line 1 of text [constant]"),
    ],
)
def test_constants_from_outside_refused(given, message):
    with pytest.raises(FormatError) as caught:
        parse_prism(module("x : [0..N]; [] true -> true;", around="const int N; const int K = 1;"), constants=given)
    assert str(caught.value).splitlines()[0] == message


def test_a_missing_constant_says_how_to_give_it():
    with pytest.raises(FormatError) as caught:
        parse_prism(module("x : [0..1]; [] true -> p:true;", around="const double p;"))
    assert caught.value.hint == "--set p=1/3"


def test_formulas_that_explode_are_refused():
    doubling = "formula f0 = x+1;" + "".join(f"formula f{i + 1} = f{i}*f{i};" for i in range(60))
    with pytest.raises(FormatError, match="more than 100000 parts"):
        parse_prism(module("x : [0..1]; [] f60>0 -> true;", around=doubling))
    nesting = "formula f0 = x;" + "".join(f"formula f{i + 1} = (f{i}+1)*2;" for i in range(200))
    with pytest.raises(FormatError, match="nests deeper than 150"):
        parse_prism(module("x : [0..1]; [] f200>0 -> true;", around=nesting))


@pytest.mark.parametrize("text", ["+".join(["x"] * 5000) + ">0", "|".join(["x=0"] * 5000), "(" * 99 + "x=0" + ")" * 99])
def test_long_expressions_are_read(text):
    assert len(parse_prism(module(f"x : [0..1]; [] {text} -> true; [] true -> true;"))) == 1


@pytest.mark.parametrize(
    "around",
    ['label "a" = f;', 'label "a" = 1/y > 0;', "formula g = f;\n//@ neighbours g ~ y=0", "const int c = floor(1/0);"],
)
def test_division_by_zero_outside_of_commands(around):
    text = "dtmc formula f = 1/0 > 0; module m y : [0..1]; [] true -> true; endmodule " + around
    with pytest.raises(FormatError, match=r"text:1:[0-9]+: 1 is divided by zero"):
        parse_prism(text)


def test_probabilities_without_a_value():
    with pytest.raises(FormatError, match=r"text:1:39: 1 is divided by zero"):
        parse_prism(module("x : [0..1]; [] x=0 -> (1/0):(x'=1);"))


def test_files(tmp_path):
    with pytest.raises(FormatError, match="there is no such file"):
        read_process(tmp_path / "none.pm")
    (tmp_path / "bytes.pm").write_bytes(b"dtmc\n\xff")
    with pytest.raises(FormatError, match=r"bytes.pm:2:1: the file is not UTF-8 text: byte 0xff"):
        read_process(tmp_path / "bytes.pm")
    (tmp_path / "folder.pm").mkdir()
    with pytest.raises(FormatError, match="this is a directory"):
        read_process(tmp_path / "folder.pm")


# --- what is written ------------------------------------------------------------------------------


def test_written_models_are_read_again():
    process = DecisionProcess.of(
        states=["a", "b", "c", "odd // name"],
        actions=["go", "tau", "two words", "true"],
        transitions={
            "a": {"go": {"b": "1/3", "c": "2/3"}, "tau": {"a": 1}, "two words": {"c": 1}, "true": {"b": 1}},
            "b": {"go": {"a": 1}},
            "c": {"go": {"c": 1}},
        },
        labels={"a": "x", "c": ["x", "y"]},
        initial=["b"],
        neighbours=[("a", "odd // name")],
        self_loops=True,
    )
    text = write_prism(process)
    again = parse_prism(text)
    assert values(again, "s") == [1, 3, 0, 2]
    assert again.initial == (0,)
    assert set(again.actions) == {"go", "tau", "a_two_words", "a_true"}
    assert again.labels["x"].tolist() == [False, False, True, True]
    assert again.related == ((1, 2),)
    assert again.entries(int(again.choices[2])) == [(0, rational("1/3")), (3, rational("2/3"))]


def test_enclosures_are_not_written():
    process = DecisionProcess.of(
        states=["a", "b"], transitions={"a": {"a": ["0.1", "0.2"], "b": ["0.8", "0.9"]}}, self_loops=True
    )
    with pytest.raises(FormatError, match=r"the probability \[1/10, 1/5\] of a -> a is not exact"):
        write_prism(process)


def test_the_label_init_is_reserved():
    process = DecisionProcess.of(
        states=["a", "b"], transitions={}, labels={"a": "init"}, initial=["b"], self_loops=True
    )
    with pytest.raises(FormatError, match="the label 'init' marks other states"):
        write_prism(process)


def test_labels_that_cannot_be_written():
    process = DecisionProcess.of(states=["a"], transitions={}, labels={"a": 'a "quoted" one'}, self_loops=True)
    with pytest.raises(PrivproofError, match="cannot be written in PRISM"):
        write_prism(process)


def test_an_action_may_be_called_like_a_function():
    text = "mdp module m x : [0..1]; [round] x=0 -> (x'=1); [mod] x=1 -> true; endmodule rewards [round] true : 2; endrewards"
    assert parse_prism(text).actions == ("round", "mod")
