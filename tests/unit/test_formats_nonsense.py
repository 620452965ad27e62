"""Model files: every kind of nonsense gets one message with a place, and never another exception."""

from __future__ import annotations

import json
import random
import re
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.amounts import examples

from privproof.errors import (
    BudgetError,
    FloatRefused,
    FormatError,
    ModelError,
    NumberError,
    PrivproofError,
    QuestionError,
    ScenarioError,
)
from privproof.formats import (
    document,
    dot,
    question_from_document,
    read_question,
    svg,
    write_question,
)

VALID = """\
kind: hmm
title: truncated geometric
states: [zero, one, two]
observations: ["0", "1", "2"]
transitions:                       # a state without a row makes no further step
  zero: {zero: 1/2, one: 1/2}
emissions:
  zero: {"0": 2/3, "1": 1/6, "2": 1/6}
  one:  {"0": 1/3, "1": 1/3, "2": 1/3}
  two:  {"0": 1/6, "1": 1/6, "2": 2/3}
scenario:
  pairs:                           # both directions are checked
    - {name: secret, left: {zero: 1}, right: {one: 1}}
  neighbours: {relation: each, within: 1, coordinates: {zero: [0], one: [1], two: [2]}}
  words: {only: ".*", without: [], ending: any}
horizon: up to 11
epsilon: ln(2)
delta: 0
"""

STREAM = """\
kind: transducer
states: [s, t]
inputs: ["0", "1"]
outputs: [below, above]
initial: {s: 1}
steps:
  - s:
      "0": [{probability: 1/3, to: s, output: below}, {probability: 2/3, to: t}]
      "1": [{probability: 1, to: t, output: above}]
repeats: true
scenario: {neighbours: {relation: one, within: any}}
horizon: unbounded
"""

CHAIN = """\
kind: markov-chain
states: [a, b, c]
transitions: {a: {b: 1/2, c: 1/2}}
labels: {b: [done], c: done}
scenario: {pairs: [{left: {a: 1}, right: {b: 1}, only: "'-' done?"}]}
"""


def _file(folder: Path, content: str | bytes, name: str = "model.yaml") -> Path:
    path = folder / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def _refused(folder: Path, content: str | bytes, name: str = "model.yaml") -> PrivproofError:
    with pytest.raises(PrivproofError) as caught:
        read_question(_file(folder, content, name))
    return caught.value


# ---------------------------------------------------------------------------------------------------------- nonsense

EDITS: list[tuple[str, str, type[PrivproofError], str]] = [
    (
        'two:  {"0": 1/6',
        'two:  {"0": 1/7',
        ModelError,
        r":10:3: emissions\.two: .*41/42.*1/42 .*missing \[row-sum\]\n  hint: ",
    ),
    (
        "zero: {zero: 1/2, one: 1/2}",
        "zero: {zero: 1/2, one: 2/3}",
        ModelError,
        r":6:3: transitions\.zero: .*7/6.*1/6 .*too much",
    ),
    (
        "zero: {zero: 1/2, one: 1/2}",
        "zero: {zero: 3/2, one: -1/2}",
        ModelError,
        r":6:16: transitions\.zero\.zero: .*3/2.*outside",
    ),
    (
        "zero: {zero: 1/2, one: 1/2}",
        "zero: {zero: 1/2, on: 1/2}",
        ModelError,
        r":6:3: transitions\.zero: unknown state 'on'",
    ),
    ("  zero: {zero: 1/2, one: 1/2}", "  zro: {zero: 1}", ModelError, r":5:1: transitions: unknown state 'zro'"),
    ("  zero: {zero: 1/2, one: 1/2}", "  zero: {}", ModelError, r":6:3: transitions\.zero: .*sum to 0"),
    ("right: {one: 1}", "right: {oone: 1}", ScenarioError, r":13:39: pairs\.secret\.right: unknown state 'oone'"),
    ("right: {one: 1}", "right: {one: 1/2}", ScenarioError, r":13:39: pairs\.secret\.right: .*1/2 .*missing"),
    (", right: {one: 1}", "", FormatError, r":13:7: scenario\.pairs\[0\]: the key 'right' is missing"),
    (
        "{name: secret, left: {zero: 1}, right: {one: 1}}",
        "nothing",
        FormatError,
        r":13:7: scenario\.pairs\[0\]: expected a mapping",
    ),
    (
        '"0": 2/3',
        '"0": 0.6',
        FloatRefused,
        r':8:15: emissions\.zero\.0: 0\.6 .*5404319552844595/9007199254740992 \[float\]\n.*"0\.6"',
    ),
    ('"0": 2/3', '"0": 1e-1', FloatRefused, r'1e-1 is a float.*\n.*"1e-1" \(quoted\) for exactly 1/10, or 1/10'),
    ('"0": 2/3', '"0": .5', FloatRefused, r":8:15: .*1/2"),
    ('"0": 2/3', '"0": .inf', FloatRefused, r"no number"),
    ('"0": 2/3', '"0": .nan', FloatRefused, r"no number"),
    ('"0": 2/3', '"0": 1e999', FloatRefused, r"no number"),
    ('"0": 2/3', '"0": 1.0e-300', FloatRefused, r"binary fraction"),
    ('"0": 2/3', '"0": "1e9999"', NumberError, r":8:15: emissions\.zero\.0: .*4000 digits"),
    ('"0": 2/3', '"0": "1e99999"', NumberError, r"exponent 99999"),
    ('"0": 2/3', '"0": 1/0', NumberError, r"divides by zero"),
    ('"0": 2/3', '"0": two thirds', NumberError, r"not an exact number"),
    ('"0": 2/3', '"0": "٣"', NumberError, r"not an exact number"),
    ('"0": 2/3', '"0": 0x10', NumberError, r"not an exact number"),
    ('"0": 2/3', '"0": true', NumberError, r"truth value"),
    ('"0": 2/3', '"0": null', FormatError, r":8:15: emissions\.zero\.0: expected a number and found nothing"),
    ('"0": 2/3', '"0": ', FormatError, r"emissions\.zero\.0: expected a number and found nothing"),
    ('"0": 2/3', '"0": [2/3]', FormatError, r"expected a number and found a list"),
    ('"0": 2/3', '"0": ' + "9" * 5000, NumberError, r":8:15: emissions\.zero\.0: .*4000 digits"),
    ('"0": 2/3', '"0": ' + "9" * 3000, ModelError, r":8:15: emissions\.zero\.0: .*outside"),
    ('"0": 2/3', '"0": 2/3, "0": 2/3', FormatError, r":8:20: the key '0' is given twice \(first on line 8\)"),
    ('"0": 2/3', "? [a] : 2/3", FormatError, r":8:12: a list or mapping cannot be a key"),
    ('"0": 2/3', "null: 2/3", FormatError, r":8:10: null is no name \[null\]"),
    ("kind: hmm", "kind: mdp", FormatError, r":1:7: kind: a decision process is asked about by formulas"),
    ("kind: hmm", "kind: stream-automaton", FormatError, r"the key 'observations' does not fit here"),
    ("kind: hmm", "kind: hm", FormatError, r":1:7: kind: 'hm' .*\[kind\]\n  hint: did you mean 'hmm'"),
    ("kind: hmm", "kind: [hmm]", FormatError, r"kind: expected a name and found a list"),
    ("kind: hmm", "kind:", FormatError, r"kind: expected a name and found nothing"),
    ("kind: hmm\n", "", FormatError, r":1:1: the key 'kind' is missing \[missing-key\]\n  hint: kind: hmm"),
    ("kind: hmm", "kind: markov-chain", FormatError, r":4:1: observations: .*\n  hint: it belongs to kind: hmm"),
    ("title: truncated geometric", "title: {a: b}", FormatError, r"title: expected a text"),
    ("title: truncated geometric", "title:", FormatError, r"title: expected a text and found nothing"),
    (
        "title: truncated geometric",
        "titel: x",
        FormatError,
        r":2:1: titel: unknown key 'titel' .*\n  hint: did you mean 'title'",
    ),
    ("title: truncated geometric", "initial: {zero: 1}", FormatError, r":2:1: initial: .*\n.*scenario\.pairs"),
    ("title: truncated geometric", "title: !!python/object:os.system x", FormatError, r":2:8: the tag .*not allowed"),
    ("title: truncated geometric", "title: !secret x", FormatError, r":2:8: the tag !secret is not allowed"),
    ("title: truncated geometric", "title: *nobody", FormatError, r":2:8: the alias \*nobody stands for nothing"),
    ("title: truncated geometric", "title: &t [*t]", FormatError, r"stands for nothing"),
    ("title: truncated geometric", "title: " + "[" * 50 + "]" * 50, FormatError, r"nests deeper"),
    ("title: truncated geometric", "title: " + "[" * 50_000, FormatError, r"nests deeper"),
    ("title: truncated geometric", 'title: "\\ud800"', FormatError, r":2:"),
    ("title: truncated geometric", "title: \x07", FormatError, r":2:8: the character '\\x07'"),
    ("title: truncated geometric", "\ttitle: x", FormatError, r":2:1: .*tab.*\n.*spaces"),
    (
        "states: [zero, one, two]",
        "states: zero",
        FormatError,
        r":3:9: states: expected a list and found the text 'zero'",
    ),
    ("states: [zero, one, two]", "states: []", ModelError, r":3:1: states: there is no state"),
    ("states: [zero, one, two]", "states: [zero, one, two, two]", ModelError, r":3:1: states: .*twice"),
    ("states: [zero, one, two]", "states: [zero, one, two, ~]", FormatError, r":3:26: states\[3\]: expected a name"),
    ("states: [zero, one, two]", 'states: [zero, one, two, ""]', FormatError, r"states\[3\]: expected a name"),
    ("states: [zero, one, two]", "states: [zero, [one], two]", FormatError, r":3:16: states\[1\]: .*a list"),
    (
        "states: [zero, one, two]",
        "states: {zero: 1}",
        FormatError,
        r":3:1: states: expected a list and found a mapping",
    ),
    ("states: [zero, one, two]\n", "", FormatError, r"the key 'states' is missing"),
    ("states: [zero, one, two]", "states: [zero, one, two", FormatError, r":4:13: .*\n  hint: close what is open"),
    ('observations: ["0", "1", "2"]\n', "", FormatError, r"the key 'observations' is missing"),
    ('  two:  {"0": 1/6, "1": 1/6, "2": 2/3}\n', "", ModelError, r":7:1: emissions\.two: .*sum to 0"),
    (
        "relation: each",
        "relation: echo",
        FormatError,
        r":14:26: scenario\.neighbours\.relation: .*\n  hint: did you mean 'each'",
    ),
    ("relation: each, ", "", FormatError, r":14:3: scenario\.neighbours: the key 'relation' is missing"),
    ("within: 1", "within: 0", ScenarioError, r":14:3: neighbours: .*\[empty-relation\]\n  hint"),
    ("within: 1", "within: -1", ScenarioError, r"\[empty-relation\]"),
    ("within: 1", "within: 1/3", ScenarioError, r":14:3: neighbours: no two states .*\[empty-relation\]"),
    ("within: 1", "within: 0.5", FloatRefused, r":14:40: scenario\.neighbours\.within"),
    ("within: 1", "within: far", NumberError, r"scenario\.neighbours\.within"),
    (
        "within: 1",
        "pairs: []",
        FormatError,
        r":14:32: scenario\.neighbours\.pairs: .*\n  hint: relation: each does not use it",
    ),
    ("one: [1]", "one: [1, 2]", ScenarioError, r"different sizes"),
    ("one: [1]", "on: [1]", ScenarioError, r"coordinates\.on: unknown state 'on'"),
    ("coordinates: {zero: [0], one: [1], two: [2]}", "coordinates: 3", FormatError, r"coordinates: expected a mapping"),
    (", coordinates: {zero: [0], one: [1], two: [2]}", "", ScenarioError, r":14:3: neighbours\.coordinates"),
    (
        "each, within: 1, coordinates: {zero: [0], one: [1], two: [2]}",
        "pairs",
        FormatError,
        r"the key 'pairs' is missing",
    ),
    (
        "each, within: 1, coordinates: {zero: [0], one: [1], two: [2]}",
        "pairs, pairs: []",
        ScenarioError,
        r"\[empty-relation\]",
    ),
    (
        "each, within: 1, coordinates: {zero: [0], one: [1], two: [2]}",
        "pairs, pairs: [[[a]]]",
        FormatError,
        r"two sides, not 1",
    ),
    ('only: ".*"', 'only: "3"', ScenarioError, r":15:17: words\.only: unknown observation '3'"),
    ('only: ".*"', 'only: "(0"', ScenarioError, r":15:17: words\.only: .*not closed"),
    ('only: ".*"', 'only: "' + "(" * 3000 + '"', ScenarioError, r"too many parentheses"),
    ("without: []", "without: [9]", ScenarioError, r"words\.without: unknown observation '9'"),
    ("without: []", 'without: ["0", "1", "2"]', ScenarioError, r"no word is left"),
    ("ending: any", "ending: all", FormatError, r"scenario\.words\.ending: 'all' is none of"),
    ("name: secret", 'only: "9"', ScenarioError, r":13:14: scenario\.pairs\[0\]\.only: unknown observation '9'"),
    ("name: secret", "nam: secret", FormatError, r":13:8: scenario\.pairs\[0\]\.nam: unknown key 'nam'"),
    ("horizon: up to 11", "horizon: 0", QuestionError, r":16:10: horizon: horizon=0: .*at least one letter"),
    ("horizon: up to 11", "horizon: -3", QuestionError, r"horizon=-3"),
    ("horizon: up to 11", "horizon: up to 0", QuestionError, r"horizon=0"),
    ("horizon: up to 11", "horizon: forever", QuestionError, r":16:10: horizon: 'forever' is not a horizon"),
    ("horizon: up to 11", "horizon: 2.5", FormatError, r"horizon: expected a horizon and found 2\.5"),
    ("horizon: up to 11", "horizon: " + "9" * 5000, QuestionError, r"too long"),
    ("horizon: up to 11", "horizon: [1]", FormatError, r"expected a horizon and found a list"),
    ("epsilon: ln(2)", "epsilon: -1", BudgetError, r":17:10: epsilon: epsilon=-1 is below zero"),
    ("epsilon: ln(2)", "epsilon: ln(1/2)", BudgetError, r"below zero"),
    ("epsilon: ln(2)", "epsilon: ln(0)", BudgetError, r":17:10: epsilon: "),
    ("epsilon: ln(2)", "epsilon: lots", BudgetError, r":17:10: epsilon: "),
    ("epsilon: ln(2)", "epsilon: 0.69", FloatRefused, r":17:10: epsilon: .*\n  hint: write \"0\.69\""),
    ("epsilon: ln(2)", "epsilon: .inf", FloatRefused, r"hint: write inf"),
    ("epsilon: ln(2)", "epsilon: " + "(" * 3000, NumberError, r":17:10: epsilon: "),
    ("epsilon: ln(2)", "epsilon: {}", FormatError, r"epsilon: expected a number"),
    ("epsilon: ln(2)\n", "", BudgetError, r":17:8: delta: delta is given without an epsilon"),
    ("delta: 0", "delta: 2", BudgetError, r":18:8: delta: delta=2 is outside"),
    ("delta: 0", "delta: -1/2", BudgetError, r"outside"),
    ("delta: 0", "delta: 1e-5", FloatRefused, r":18:8: delta: .*\n.*exactly 1/100000"),
    ("delta: 0", "pointwise: yes", FormatError, r"pointwise: expected true or false"),
    ("delta: 0", "--- \nkind: hmm", FormatError, r":18:1: a second document begins"),
    ("delta: 0", "delta", FormatError, r":1[89]:"),
    ("delta: 0", "horizon: 3", FormatError, r":18:1: the key 'horizon' is given twice \(first on line 16\)"),
]


@pytest.mark.parametrize(
    ("old", "new", "error", "message"), EDITS, ids=[f"{i}-{e[1][:30]!r}" for i, e in enumerate(EDITS)]
)
def test_nonsense(old: str, new: str, error: type[PrivproofError], message: str, tmp_path: Path) -> None:
    assert old in VALID
    problem = _refused(tmp_path, VALID.replace(old, new, 1))
    assert type(problem) is error
    assert re.search(message, str(problem)), str(problem)
    assert problem.place.startswith(str(tmp_path / "model.yaml"))
    assert re.search(r"model\.yaml:\d+:\d+", problem.place)
    assert len(str(problem)) < 800 or len(new) > 1000


STREAM_EDITS = [
    (
        '"1": [{probability: 1, to: t, output: above}]',
        "",
        ModelError,
        r":7:5: steps\[0\]\.s: the input '1' is not covered",
    ),
    ("probability: 2/3", "probability: 1/3", ModelError, r":8:7: steps\[0\]\.s\.0: .*2/3"),
    ("probability: 2/3", "probability: 5/3", ModelError, r":8:7: steps\[0\]\.s\.0: .*outside"),
    (
        "probability: 2/3",
        "probability: 0.6",
        FloatRefused,
        r":8:69: steps\[0\]\.s\.0\[1\]\.probability: 0\.6 is a float",
    ),
    ("probability: 2/3, ", "", FormatError, r"steps\[0\]\.s\.0\[1\]: the key 'probability' is missing"),
    ("output: below", "ouput: below", FormatError, r"unknown key 'ouput' .*\n  hint: did you mean 'output'"),
    ("output: below", "output: null", FormatError, r"expected a name and found nothing"),
    ("output: below", "output: under", ModelError, r"unknown output 'under'"),
    ("to: s", "to: u", ModelError, r"unknown state 'u'"),
    ("repeats: true", "repeats: 1", FormatError, r":10:10: repeats: expected true or false"),
    ("repeats: true", "finish: {s: {below: 1}}", ModelError, r"finish"),
    ("repeats: true", "repeats: true\nfinish: {s: {below: 1}}", ModelError, r"has no output|without an output"),
    ("repeats: true", 'repeats: true\nmarks: {"0*": "0"}', ModelError, r"lists of every length"),
    ("within: any", "coordinates: {s: 0}", FormatError, r"only for kind: hmm or markov-chain"),
    ("one, within: any", 'pairs, pairs: [[["0"], ["2"]]]', ScenarioError, r"pairs\[0\]\[1\]\[0\]: unknown input '2'"),
    ("one, within: any", 'pairs, pairs: [[["0"], ["1", "1"]]]', ScenarioError, r"differ in length"),
    ("neighbours: {relation: one, within: any}", "", ScenarioError, r":11:1: scenario: .*\[empty-relation\]"),
    (
        "{neighbours: {relation: one, within: any}}",
        "",
        FormatError,
        r"scenario: expected a mapping and found nothing .*\n.*relation: each",
    ),
    ("steps:\n", "stps:\n", FormatError, r":6:1: stps: unknown key 'stps'"),
    ("steps:\n  - s:", "steps:\n  s:", FormatError, r":6:1: steps: expected a list and found a mapping"),
    ("initial: {s: 1}\n", "", FormatError, r"the key 'initial' is missing .*\n  hint: initial: \{s: 1\}"),
]


@pytest.mark.parametrize(("old", "new", "error", "message"), STREAM_EDITS, ids=[repr(e[1][:30]) for e in STREAM_EDITS])
def test_nonsense_in_a_transducer(
    old: str, new: str, error: type[PrivproofError], message: str, tmp_path: Path
) -> None:
    assert old in STREAM
    problem = _refused(tmp_path, STREAM.replace(old, new, 1))
    assert type(problem) is error
    assert re.search(message, str(problem)), str(problem)


@pytest.mark.parametrize(
    ("content", "code"),
    [
        (b"", "empty"),
        (b"  \n\n", "empty"),
        (b"# only a comment\n", "empty"),
        (b"\xff\xfe\x00\x01junk", "encoding"),
        (b"kind: \xc3\x28\n", "encoding"),
        (bytes(range(256)) * 4, "encoding"),
        (b"\x00\x00\x00\x00", "encoding"),
        (b"\x7fELF\x02\x01\x01", "encoding"),
        (b"- a\n- b\n", "shape"),
        (b"hello", "shape"),
        (b"42", "shape"),
        (b"%YAML 9.9\n---\na: b", "syntax"),
        (b"{", "syntax"),
        (b"kind: 'hmm", "syntax"),
        (b"\xef\xbb\xbf", "empty"),
    ],
    ids=repr,
)
def test_files_that_are_no_documents(content: bytes, code: str, tmp_path: Path) -> None:
    problem = _refused(tmp_path, content)
    assert isinstance(problem, FormatError)
    assert problem.code == code, str(problem)
    assert problem.place.startswith(str(tmp_path / "model.yaml"))
    assert problem.hint


@pytest.mark.parametrize(
    "content",
    [
        "",
        "{",
        "[1, 2]",
        '{"a": 1,}',
        '{"a": 01}',
        '{"a" 1}',
        "{a: 1}",
        '{"a": NaN}',
        '{"a": "x}',
        '{"a": 1} x',
        '{"a": "\\x"}',
        '{"kind": "hmm", "kind": "hmm"}',
        '{"a": "\\ud800"}',
        "[" * 5000,
        '{"a":' * 5000,
        "null",
        '"text"',
        "\x00",
        "{'a': 1}",
        "1e5",
    ],
    ids=lambda text: repr(text[:20]),
)
def test_files_that_are_no_json(content: str, tmp_path: Path) -> None:
    assert isinstance(_refused(tmp_path, content, "model.json"), FormatError)


def test_json_places(tmp_path: Path) -> None:
    said = json.loads(json.dumps(document(read_question(_file(tmp_path, VALID)))))
    said["emissions"]["two"]["0"] = 0.25
    problem = _refused(tmp_path, json.dumps(said, indent=2), "model.json")
    assert isinstance(problem, FloatRefused)
    line = json.dumps(said, indent=2).splitlines().index('      "0": 0.25,') + 1
    assert f"model.json:{line}:12: emissions.two.0: 0.25 is a float" in str(problem)
    assert isinstance(_refused(tmp_path, '{"kind": "hmm", "states": [null]}', "model.json"), FormatError)


def test_missing_files_and_directories(tmp_path: Path) -> None:
    for path in (tmp_path, tmp_path / "nothing.yaml", tmp_path / ("x" * 3000), Path("a\x00b")):
        with pytest.raises(FormatError) as caught:
            read_question(path)
        assert caught.value.code == "file"
    with pytest.raises(FormatError, match="cannot write"):
        write_question(question_from_document(yaml.safe_load(CHAIN)), tmp_path / "no" / "such" / "folder.yaml")


def test_aliases_cannot_explode(tmp_path: Path) -> None:
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 10)}]" for i in range(1, 12)]
    problem = _refused(tmp_path, "\n".join(lines))
    assert problem.code == "alias"


@pytest.mark.parametrize(
    "said",
    [
        {},
        {1: 2},
        {None: 2},
        {("a",): 2},
        {"kind": None},
        {"kind": object()},
        {"kind": "hmm", "states": {1, 2}},
        {"kind": "hmm", "states": b"zero"},
        {"kind": "hmm", "states": ["a"], "observations": ["o"], "emissions": {"a": {"o": 0.1}}},
        {"kind": "hmm", "states": ["a"], "observations": ["o"], "emissions": {"a": {"o": float("nan")}}},
        {"kind": "hmm", "states": ["a"], "observations": ["o"], "emissions": {"a": {"o": 10**5000}}},
        {"kind": "hmm", "states": ["a"], "observations": ["o"], "emissions": {"a": {"o": 1 + 0j}}},
        {"a": 1, 1: 2, "1": 3},
        [],
        None,
        "text",
    ],
)
def test_plain_nonsense(said: Any) -> None:
    with pytest.raises(PrivproofError) as caught:
        question_from_document(said)
    assert caught.value.place


def test_plain_data_that_contains_itself() -> None:
    said: dict[str, Any] = {"kind": "hmm"}
    said["states"] = said
    with pytest.raises(FormatError, match="depth"):
        question_from_document(said)


# ------------------------------------------------------------------------------------------------------------- fuzzing


def _harmless(folder: Path, content: bytes, name: str) -> None:
    path, place = _file(folder, content, name), ""
    try:
        question = read_question(path)
    except PrivproofError as problem:
        place = problem.place
    if place:
        assert place.startswith(str(path))
    else:
        assert question_from_document(document(question)) == question
        svg(question)
        dot(question)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=examples(300))
@given(st.data())
def test_mutated_texts_never_crash(tmp_path: Path, data: st.DataObject) -> None:
    text = data.draw(st.sampled_from([VALID, STREAM, CHAIN]))
    name = data.draw(st.sampled_from(["model.yaml", "model.json"]))
    if name.endswith("json"):
        text = json.dumps(yaml.safe_load(text))
    content = bytearray(text.encode())
    for _ in range(data.draw(st.integers(1, 4))):
        start = data.draw(st.integers(0, len(content)))
        size = data.draw(st.integers(0, 12))
        piece = bytes(content[start : start + size])
        change = data.draw(
            st.sampled_from(
                [b"", piece + piece, b"\n", b"{", b"]", b"0", b"-", b": ", b'"', b"\xff", b"null", b"&a ", b"*a", b"!"]
            )
            | st.binary(max_size=4)
        )
        content[start : start + size] = change
    _harmless(tmp_path, bytes(content), name)


junk: st.SearchStrategy[Any] = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=4)
    | st.sampled_from(["0", "zero", "1/2", "any"]),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3) | st.just("zero"), inner, max_size=3)
    ),
    max_leaves=5,
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=examples(300))
@given(st.sampled_from([VALID, STREAM, CHAIN]), st.randoms(use_true_random=False), junk)
def test_mutated_documents_never_crash(tmp_path: Path, text: str, chance: random.Random, other: Any) -> None:
    said: Any = yaml.safe_load(text)
    node = said
    while True:
        key = chance.choice(list(node) if isinstance(node, dict) else range(len(node)))
        if chance.random() < 0.3 or not (isinstance(node[key], dict | list) and node[key]):
            break
        node = node[key]
    match chance.randrange(3):
        case 0:
            del node[key]
        case 1:
            node[key] = other
        case _ if isinstance(node, dict):
            node[chance.choice(["extra", "zero", "name", "0"])] = node.pop(key)
        case _:
            node.append(node[key])
    place = ""
    try:
        question = question_from_document(said)
    except PrivproofError as problem:
        place = problem.place
    assert place or question_from_document(document(question)) == question
    _harmless(tmp_path, yaml.safe_dump(said).encode("utf-8", "replace"), "model.yaml")
