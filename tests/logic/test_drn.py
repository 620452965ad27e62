"""Storm's DRN format: what is read, what is refused and on which line, and what is written."""

from __future__ import annotations

import numpy as np
import pytest

from privproof.errors import FormatError, ModelError
from privproof.exact import rational
from privproof.logic.decision_process import DecisionProcess
from privproof.logic.formats.drn_files import parse_drn, read_drn, write_drn

# as Storm exports it
EXPORTED = """// Exported by storm
// Original model type: MDP
@type: MDP
@value_type: rational
@parameters

@reward_models
steps
@nr_states
3
@nr_choices
5
@model
state 0 [1] init
//[!b\t& s=0]
\taction __NOLABEL__ [0]
\t\t1 : 1/3
\t\t2 : 2/3
\taction __NOLABEL__ [0]
\t\t2 : 1
state 1 [0, 1/2] done "odd label"
\taction a [1]
\t\t1 : 0.25
\t\t2 : 7.5e-1
state 2 [0] done
\taction a
\t\t1 : 1
\taction a
\t\t2 : 1
"""


def drn(body, *, kind="DTMC", states=2, header=""):
    return f"@type: {kind}\n{header}@nr_states\n{states}\n@model\n{body}"


def test_what_storm_exports():
    process = parse_drn(EXPORTED)
    assert process.actions == ("tau", "tau#2", "a", "a#2")
    assert process.choices.tolist() == [0, 2, 3, 5]
    assert process.entries(0) == [(1, rational("1/3")), (2, rational("2/3"))]
    assert process.entries(2) == [(1, rational("1/4")), (2, rational("3/4"))]
    assert {label: np.flatnonzero(marks).tolist() for label, marks in process.labels.items()} == {
        "init": [0],
        "done": [1, 2],
        "odd label": [1],
    }
    assert (process.initial, list(process.names)) == ((0,), ["0", "1", "2"])


def test_chains_with_and_without_actions():
    with_actions = parse_drn(drn("state 0 init\n\taction 0\n\t\t1 : 1\nstate 1\n\taction 0\n\t\t1 : 1\n"))
    without = parse_drn(drn("state 0 init\n1:1\nstate 1\n  1  :  1"))
    for process in (with_actions, without):
        assert process.is_chain
        assert process.targets.tolist() == [1, 1]


def test_zeros_are_no_transitions():
    process = parse_drn(drn("state 0\n\t0 : 0\n\t1 : 1\nstate 1\n\t1 : 1.0\n"))
    assert process.targets.tolist() == [1, 1]
    assert process.numbers == (rational(1),)


def test_placeholders():
    process = parse_drn(drn("state 0\n\t0 : $0\n\t1 : $0\nstate 1\n\t1 : 1\n", header="@placeholders\n$0 : 1/2\n"))
    assert process.entries(0) == [(0, rational("1/2")), (1, rational("1/2"))]


def test_neighbours():
    process = parse_drn(
        drn("state 0\n\t1 : 1\n//@ neighbours 1 ~ 0\nstate 1\n\t1 : 1\n//@ neighbours 0 ~ 1\n//@neighbours 1~1")
    )
    assert process.neighbours == ((0, 1),)


def test_deadlocks():
    text = drn("state 0 init\nstate 1\n\t0 : 1\n")
    with pytest.raises(ModelError, match=r"^text: one state has no transition: 0 \[deadlock\]"):
        parse_drn(text)
    process = parse_drn(text, self_loops=True)
    assert process.targets.tolist() == [0, 0]
    assert process.labels["deadlock"].tolist() == [True, False]


def test_rounded_rows_are_read_where_that_is_asked_for():
    text = drn("state 0\n\t0 : 0.333333333333\n\t1 : 0.666666666666\nstate 1\n\t1 : 1\n")
    with pytest.raises(FormatError) as caught:
        parse_drn(text)
    assert caught.value.message == (
        "the probabilities of state 0 sum to 999999999999/1000000000000 ≈ 1 instead of 1: "
        "1/1000000000000 = 1e-12 is missing"
    )
    assert "rounded=True" in caught.value.hint
    assert parse_drn(text, rounded=True).entries(0) == [(0, rational("1/3")), (1, rational("2/3"))]
    with pytest.raises(FormatError, match="is missing"):
        parse_drn(drn("state 0\n\t0 : 0.999\nstate 1\n\t1 : 1\n"), rounded=True)


ONE = "state 0\n\t1 : 1\n"
REFUSED = [
    ("", "text:1: expected @model, found the end of the text [syntax]"),
    ("hello", "text:1: expected a line such as @type: DTMC or @model, found 'hello' [syntax]"),
    ("@model\nstate 0\n\t0 : 1", "text:1: the text does not say its type before @model [syntax]"),
    ("@type: CTMC", "text:1: models of the type 'CTMC' are not read [unsupported]"),
    ("\n@type: POMDP", "text:2: models of the type 'POMDP' are not read [unsupported]"),
    (
        "@type: DTMC\n@value_type: double-interval",
        "text:2: values of the type 'double-interval' are not read [unsupported]",
    ),
    ("@type: DTMC\n@parameters\np q\n", "text:3: the model has parameters: 'p q' [unsupported]"),
    ("@type: DTMC\n@nr_states\nmany", "text:3: expected a number after @nr_states, found 'many' [syntax]"),
    (drn(""), "text:4: expected state 0, found the end of the text [syntax]"),
    (drn("state 1\n"), "text:5: expected state 0, found 'state 1' [state]"),
    (drn(ONE + "state 2\n"), "text:7: expected state 1, found 'state 2' [state]"),
    (drn("state\n"), "text:5: expected state 0, found 'state' [state]"),
    (drn("\t0 : 1\n"), "text:5: a transition before the first state [syntax]"),
    (drn("\taction a\n"), "text:5: an action before the first state [syntax]"),
    (
        drn("state 0\n\t1 : 1/2\n"),
        "text:6: the probabilities of state 0 sum to 1/2 = 0.5 instead of 1: 1/2 = 0.5 is missing [row-sum]",
    ),
    (
        drn("state 0\n\taction a\n\t\t0 : 3/4\n\t\t1 : 0.5\n"),
        "text:6: the probabilities of state 0 sum to 5/4 = 1.25 instead of 1: 1/4 = 0.25 is too much [row-sum]",
    ),
    (
        drn("state 0\n\taction a\n" + ONE),
        "text:6: the probabilities of state 0 sum to 0 instead of 1: 1 is missing [row-sum]",
    ),
    (drn("state 0\n\t1 : 1/2\n\t1 : 1/2\n"), "text:6: state 1 stands twice in a row of state 0 [twice]"),
    (drn("state 0\n\t1 : -1\n"), "text:6: the probability -1 is outside [0, 1] [probability]"),
    (drn("state 0\n\t1 : p\n"), "text:6: 'p' is not an exact number [number]"),
    (drn("state 0\n\t1 : nan\n"), "text:6: 'nan' is not an exact number [number]"),
    (drn("state 0\n\t1 : 1/0\n"), "text:6: '1/0' divides by zero [number]"),
    (drn("state 0\n\t1 : [0.1,0.2]\n"), "text:6: the interval [0.1,0.2]: interval models are not read [unsupported]"),
    (drn("state 0\n\taction a\n\t\tx : 1\n"), "text:7: expected the number of a state before ':', found 'x' [syntax]"),
    (
        drn("state 0\n\taction a\n\t\t-1 : 1\n"),
        "text:7: expected the number of a state before ':', found '-1' [syntax]",
    ),
    (
        drn("state 0\n\taction a\n\t\t1_0 : 1\n"),
        "text:7: expected the number of a state before ':', found '1_0' [syntax]",
    ),
    (
        drn("state 0\n\t" + "9" * 30 + " : 1\n"),
        f"text:6: expected the number of a state before ':', found '{'9' * 30}' [syntax]",
    ),
    (drn(ONE + "state 1\n\t0 : 1/2\n\t5 : 1/2\n"), "text:9: unknown state 5 [unknown-name]"),
    (
        drn(ONE + "state 1\n\t0 : 1\nwhat\n"),
        "text:9: expected a state, an action or a transition, found 'what' [syntax]",
    ),
    (drn(ONE + "state 1\n\t0 : 1\n", states=3), "text:8: @nr_states says 3, but there are 2 [count]"),
    (
        drn(ONE + "state 1\n\t0 : 1\n", header="@nr_choices\n5\n"),
        "text:10: @nr_choices says 5, but there are 2 [count]",
    ),
    (
        drn("state 0\n\taction a\n\t\t0 : 1\n\taction b\n\t\t0 : 1\n"),
        "text:9: state 0 of a DTMC has 2 choices [choices]",
    ),
    (drn("state 0 !3 init\n\t0 : 1\n"), "text:5: '!3 init': rates are not read [unsupported]"),
    (drn("state 0 {1} init\n\t0 : 1\n"), "text:5: '{1} init': observations are not read [unsupported]"),
    (drn("state 0 [1, 2\n\t0 : 1\n"), "text:5: the rewards '[1, 2' have no closing ] [syntax]"),
    (drn('state 0 "open\n\t0 : 1\n'), "text:5: expected a label, found '\"open' [label]"),
    (drn(ONE + "//@ neighbours 0 ~ x\n"), "text:7: '//@ neighbours 0 ~ x' is no remark [remark]"),
    (drn(ONE + "state 1\n\t0 : 1\n//@ neighbours 0 ~ 7\n"), "text:9: unknown state 7 [unknown-name]"),
]


@pytest.mark.parametrize(("text", "message"), REFUSED, ids=[message[:60] for _, message in REFUSED])
def test_refused_on_its_line(text, message):
    with pytest.raises(FormatError) as caught:
        parse_drn(text)
    assert str(caught.value).splitlines()[0] == message


def test_written_models_are_read_again(tmp_path):
    process = DecisionProcess.of(
        states=["a", "b", "c"],
        actions=["go", "go#2", "two words"],
        transitions={
            "a": {"go": {"b": "1/3", "c": "2/3"}, "go#2": {"a": 1}, "two words": {"c": 1}},
            "b": {"two words": {"a": 1}},
            "c": {"go": {"c": 1}},
        },
        labels={"a": ["x", "odd label"], "c": ["x", "ä"]},
        initial=["b", "c"],
        neighbours=[("a", "c")],
    )
    path = tmp_path / "model.drn"
    path.write_text(write_drn(process), encoding="utf-8")
    again = read_drn(path)
    for field in ("choices", "rows", "targets"):
        assert getattr(again, field).tolist() == getattr(process, field).tolist()
    assert [again.entries(c) for c in range(5)] == [process.entries(c) for c in range(5)]
    assert [again.action(c) for c in range(5)] == [process.action(c) for c in range(5)]
    assert {label: marks.tolist() for label, marks in again.labels.items() if label != "init"} == {
        label: marks.tolist() for label, marks in process.labels.items()
    }
    assert (again.initial, again.related, again.name) == ((1, 2), ((0, 2),), "model")


def test_what_cannot_be_written():
    unknown = DecisionProcess.of(
        states=["a", "b"], transitions={"a": {"a": ["0.1", "0.2"], "b": ["0.8", "0.9"]}}, self_loops=True
    )
    with pytest.raises(FormatError, match=r"the probability \[1/10, 1/5\] is not exact"):
        write_drn(unknown)
    quoted = DecisionProcess.of(states=["a"], transitions={}, labels={"a": 'a "quoted" one'}, self_loops=True)
    with pytest.raises(FormatError, match="cannot be written in a DRN file"):
        write_drn(quoted)
