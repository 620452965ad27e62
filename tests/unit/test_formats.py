"""Model files: round trips, the schema, drawings, and every kind of nonsense."""

from __future__ import annotations

import json
import shutil
import subprocess
import xml.dom.minidom
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from privproof.errors import (
    PrivproofError,
    QuestionError,
    ScenarioError,
)
from privproof.exact import Budget, rational
from privproof.formats import (
    document,
    dot,
    model_schema,
    question_from_document,
    read_question,
    svg,
    write_question,
    yaml_text,
)
from privproof.formats.document_writing import to_yaml
from privproof.formats.json_text import parse_json
from privproof.formats.yaml_text import parse_yaml
from privproof.models import HiddenMarkovModel, Horizon, MarkovChain, Transducer
from privproof.scenarios import Neighbours, Pair, Question, Scenario, Words

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


def questions() -> list[Question]:
    """One question of every kind, with every field in use."""
    model = HiddenMarkovModel(
        states=["no", "0", "null", "a.b", 'quo"te', "1e3", " two  words ", "ü☃😀", "line\nbreak\x00"],
        observations=["yes", "~"],
        transitions={"no": {"0": "1/3", "null": "2/3"}, "a.b": {"a.b": 1}},
        emissions={
            state: {"yes": "1/7", "~": "6/7"}
            for state in ["no", "0", "null", "a.b", 'quo"te', "1e3", " two  words ", "ü☃😀", "line\nbreak\x00"]
        },
    )
    chain = MarkovChain(
        states=["a", "b"], transitions={"a": {"a": "1/2", "b": "1/2"}}, labels={"b": ["x", "y"], "a": []}
    )
    stream = Transducer(
        states=["s", "t"],
        inputs=["0", "1"],
        outputs=["below", "above"],
        initial={"s": 1},
        steps=[{"s": {"0": [("1/3", "s", "below"), ("2/3", "t")], "1": [(1, "t", "above")]}}],
        repeats=True,
    )
    survey = Transducer(
        states=["s", "yes", "no"],
        inputs=["yes", "no"],
        outputs=["Y", "N"],
        initial={"s": 1},
        steps=[{"s": {"yes": [("3/4", "yes"), ("1/4", "no")], "no": [("1/4", "yes"), ("3/4", "no")]}}],
        finish={"yes": {"Y": 1}, "no": {"N": 1}},
    )
    pair = Pair.of(model, "no ~ 0", {"no": "1/3", "null": "2/3"}, {"0": 1}, only="yes '~'*")
    return [
        Question(
            model=model,
            scenario=Scenario(pairs=(pair,), words=Words(only="yes (.)*", without=("~",), ending="visible")),
            horizon=Horizon.up_to(11),
            budget=Budget.of("ln(2)/3 + 1/2", "1e-5", pointwise=True),
            name="all: #fields",
        ),
        Question(
            model=chain,
            scenario=Scenario(
                neighbours=Neighbours.monotone(within="1/2", coordinates={"a": [0, "1/2"], "b": ["1/2", 1]})
            ),
            horizon=Horizon.exactly(3),
            budget=Budget.of("inf"),
        ),
        Question(
            model=stream,
            scenario=Scenario(neighbours=Neighbours.each(within=None)),
            horizon=Horizon.unbounded(),
            budget=Budget.of("0"),
            name="stream",
        ),
        Question(model=survey, scenario=Scenario(neighbours=Neighbours.pairs([(["yes"], ["no"])]))),
        Question(model=survey, scenario=Scenario(neighbours=Neighbours.one(within=None)), budget=Budget.of("ln(3)")),
    ]


KINDS = pytest.mark.parametrize("question", questions(), ids=["hmm", "chain", "stream", "pairs", "finite"])


def _file(folder: Path, content: str | bytes, name: str = "model.yaml") -> Path:
    path = folder / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


# ------------------------------------------------------------------------------------------------------- round trips


@KINDS
def test_document_round_trip(question: Question) -> None:
    said = document(question)
    assert question_from_document(said) == question
    assert question_from_document(json.loads(json.dumps(said))) == question
    assert document(question_from_document(said)) == said


@KINDS
@pytest.mark.parametrize("suffix", ["yaml", "yml", "json"])
def test_file_round_trip(question: Question, suffix: str, tmp_path: Path) -> None:
    path = tmp_path / f"{question.name and 'x'}.{suffix}" if question.name else tmp_path / f".{suffix}"
    write_question(question, path)
    again = read_question(path)
    assert again.model == question.model
    assert (again.scenario, again.horizon, again.budget) == (question.scenario, question.horizon, question.budget)
    assert again.name == (question.name or path.stem)


@KINDS
def test_written_yaml_means_the_same_to_an_ordinary_reader(question: Question) -> None:
    loaded = yaml.safe_load(to_yaml(document(question)))
    assert list(loaded["states"]) == list(question.model.states)
    assert question_from_document(loaded, name=question.name) == question


def test_the_written_yaml_is_tidy(tmp_path: Path) -> None:
    path = tmp_path / "out.yaml"
    write_question(read_question(_file(tmp_path, VALID)), path)
    assert '  zero: {"0": 2/3, "1": 1/6, "2": 1/6}\n' in path.read_text()
    assert "    - {name: secret, left: {zero: 1}, right: {one: 1}}\n" in path.read_text()


def test_wide_rows_are_folded(tmp_path: Path) -> None:
    states = [f"state number {i}" for i in range(60)]
    chain = MarkovChain(states=states, transitions={s: dict.fromkeys(states, "1/60") for s in states})
    question = Question(
        model=chain, scenario=Scenario(pairs=(Pair.of(chain, "p", {states[0]: 1}, {states[1]: 1}),)), name="w"
    )
    write_question(question, tmp_path / "wide.yaml")
    assert max(map(len, (tmp_path / "wide.yaml").read_text().splitlines())) <= 100
    assert read_question(tmp_path / "wide.yaml") == question


names = st.text(min_size=1, max_size=8).filter(
    lambda s: not any("\ud800" <= c <= "\udfff" for c in s)
) | st.sampled_from(
    [
        "no",
        "0x1",
        "1:30",
        "=",
        "<<",
        "- a",
        "a: b",
        "#",
        "'",
        "x" * 1500,
        "2001-01-01",
        "[",
        "&a",
        "*a",
        "!t",
        "%",
        "@",
        "`",
    ]
)


@given(
    st.lists(names, min_size=2, max_size=5, unique=True), st.text(st.characters(exclude_categories=["Cs"]), max_size=30)
)
def test_any_name_survives(states: list[str], title: str) -> None:
    labels = [s for s in states if "," not in s and s != "-"]
    chain = MarkovChain(
        states=states, transitions={states[0]: {s: f"1/{len(states)}" for s in states}}, labels={states[0]: labels}
    )
    pair = Pair.of(chain, states[0], {states[0]: 1}, {states[1]: 1})
    question = Question(model=chain, scenario=Scenario(pairs=(pair,)), name=title)
    text = to_yaml(document(question))
    assert question_from_document(parse_yaml(text)) == question  # type: ignore[arg-type]
    assert question_from_document(parse_json(json.dumps(document(question)))) == question  # type: ignore[arg-type]


def test_the_pure_python_yaml_reader_agrees(monkeypatch: pytest.MonkeyPatch) -> None:
    fast = [parse_yaml(text) for text in (VALID, STREAM, CHAIN)]
    monkeypatch.setattr(yaml_text, "_LOADER", yaml.SafeLoader)
    assert [parse_yaml(text) for text in (VALID, STREAM, CHAIN)] == fast


def test_names_are_texts_as_written(tmp_path: Path) -> None:
    text = CHAIN.replace("[a, b, c]", "[no, 0, 1e3, 0.5, true]").replace("{b: 1/2, c: 1/2}", "{no: 1/2, 0.5: 1/2}")
    text = text.replace("{a:", "{no:").replace("{b: [done], c: done}", "{0: yes}").replace("{b: 1}", "{0: 1}")
    model = read_question(_file(tmp_path, text.replace("'-' done?", "'-'"))).model
    assert model.states == ("no", "0", "1e3", "0.5", "true")
    assert isinstance(model, MarkovChain)
    assert dict(model.transitions["no"]) == {"no": rational("1/2"), "0.5": rational("1/2")}
    assert all(type(name) is str for name in (*model.states, *model.transitions, *model.labels["0"]))


def test_quoted_decimals_are_exact(tmp_path: Path) -> None:
    text = VALID.replace('"0": 2/3, "1": 1/6', '"0": "0.50", "1": " 1 / 3 "')
    model = read_question(_file(tmp_path, text)).model
    assert isinstance(model, HiddenMarkovModel)
    assert model.emissions["zero"]["0"] == rational("1/2")


def test_anchors_and_aliases(tmp_path: Path) -> None:
    text = VALID.replace('one:  {"0": 1/3, "1": 1/3, "2": 1/3}', "one: *row").replace('zero: {"0"', 'zero: &row {"0"')
    model = read_question(_file(tmp_path, text)).model
    assert isinstance(model, HiddenMarkovModel)
    assert model.emissions["one"] == model.emissions["zero"]


def test_defaults(tmp_path: Path) -> None:
    question = read_question(_file(tmp_path, CHAIN, "my chain.yaml"))
    assert (question.name, question.horizon, question.budget) == ("my chain", None, None)
    assert question.scenario.pairs[0].name == "pair 1"
    assert read_question(_file(tmp_path, "\ufeff" + VALID)).name == "truncated geometric"
    assert read_question(_file(tmp_path, VALID.replace("\n", "\r\n"))).name == "truncated geometric"


def test_a_model_without_a_scenario(tmp_path: Path) -> None:
    path = _file(tmp_path, CHAIN[: CHAIN.index("scenario")])
    with pytest.raises(
        ScenarioError, match=r"model\.yaml:1:1: .*\[no-scenario\]\n  hint: scenario: \{pairs: "
    ) as caught:
        read_question(path)
    pasted = path.read_text() + caught.value.hint + "\n"
    assert read_question(_file(tmp_path, pasted)).scenario.pairs[0].name == "secret"


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("3", Horizon.exactly(3)),
        ('"3"', Horizon.exactly(3)),
        ("up to 11", Horizon.up_to(11)),
        ("unbounded", Horizon.unbounded()),
    ],
)
def test_horizons(written: str, meant: Horizon, tmp_path: Path) -> None:
    assert read_question(_file(tmp_path, VALID.replace("up to 11", written))).horizon == meant


@pytest.mark.parametrize(("low", "high"), [(2, 5), (0, 3), (3, 2), (2, None), (0, 0)])
def test_a_horizon_without_words_is_refused(low: int, high: int | None) -> None:
    with pytest.raises(QuestionError, match="one length, or every length from 1 on"):
        Horizon(low, high)


# ------------------------------------------------------------------------------------------------------------ schema


def test_the_schema_is_one() -> None:
    Draft202012Validator.check_schema(model_schema())


@KINDS
def test_what_is_written_fits_the_schema(question: Question) -> None:
    Draft202012Validator(model_schema()).validate(document(question))
    Draft202012Validator(model_schema()).validate(yaml.safe_load(to_yaml(document(question))))


@pytest.mark.parametrize("text", [VALID, STREAM, CHAIN], ids=["hmm", "transducer", "chain"])
def test_the_examples_fit_the_schema(text: str, tmp_path: Path) -> None:
    assert read_question(_file(tmp_path, text))
    Draft202012Validator(model_schema()).validate(yaml.safe_load(text))


MISFITS: list[dict[str, Any]] = [
    {"kind": "mdp"},
    {"horizon": 0},
    {"horizon": "up to 0"},
    {"emissions": {"zero": {"0": 0.5}}},
    {"emissions": {"zero": {"0": "half"}}},
    {"delta": -0.5},
    {"labels": {}},
    {"extra": 1},
    {"states": []},
    {"scenario": {}},
    {"scenario": {"neighbours": {"relation": "pairs"}}},
    {"scenario": {"neighbours": {"relation": "each", "pairs": []}}},
    {"epsilon": None},
]


@pytest.mark.parametrize("change", MISFITS, ids=str)
def test_the_schema_and_the_reader_refuse_alike(change: dict[str, Any]) -> None:
    said = yaml.safe_load(VALID) | change
    assert not Draft202012Validator(model_schema()).is_valid(said)
    with pytest.raises(PrivproofError):
        question_from_document(said)


# ------------------------------------------------------------------------------------------------------------ drawings


@KINDS
def test_drawings_are_well_formed(question: Question) -> None:
    for subject in (question, question.model):
        drawing = svg(subject)
        parsed = xml.dom.minidom.parseString(drawing)
        assert parsed.documentElement is not None
        assert parsed.documentElement.tagName == "svg"
        assert "\x00" not in dot(subject)
        for state in question.model.states:
            if state.isalnum():
                assert f">{state}<" in drawing


@pytest.mark.skipif(shutil.which("dot") is None, reason="Graphviz is not installed")
@KINDS
def test_graphviz_reads_the_digraph(question: Question) -> None:
    done = subprocess.run(["dot", "-Tplain"], input=dot(question), capture_output=True, text=True, check=True)
    assert sum(line.startswith("node n") for line in done.stdout.splitlines()) == len(question.model.states)


def test_large_models_are_cut_with_a_note() -> None:
    states = [f"s{i}" for i in range(100)]
    chain = MarkovChain(states=states, transitions={a: {b: 1} for a, b in pairwise(states)})
    drawing = svg(chain)
    assert "60 of 100 states are drawn" in drawing
    assert ">s59<" in drawing
    assert ">s60<" not in drawing
