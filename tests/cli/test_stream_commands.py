"""The commands on stream automata: from functions and from files, and what they say about input that is none."""

from __future__ import annotations

import json

import pytest

from privproof.errors import PrivproofError
from privproof.formats import model_schema, read_question
from privproof.scenarios import StreamQuestion

FUNCTIONS = """
from privproof import laplace, mechanism, real_stream, real, public


@mechanism(epsilon=1)
def above(answers: real_stream(), limit: public(real())):
    threshold = laplace(limit, scale=2)
    for answer in answers:
        if laplace(answer, scale=4) >= threshold:
            yield "above"
            return
        yield "below"


@mechanism(epsilon=1)
def forever(answers: real_stream()):
    threshold = laplace(0, scale=2)
    for answer in answers:
        yield laplace(answer, scale=2) >= threshold


@mechanism(epsilon=1)
def remembers(answers: real_stream()):
    threshold = laplace(0, scale=2)
    last = 0
    for answer in answers:
        yield laplace(answer + last, scale=4) >= threshold
        last = answer
"""

FILE = """
kind: stream-automaton
title: above
states:
  start: {scale: 2, reads: nothing}
  wait: {scale: 4}
  done: {}
transitions:
  - {from: start, to: wait, store: x}
  - {from: wait, to: wait, when: sample < x, output: below}
  - {from: wait, to: done, when: sample >= x, output: above}
scenario: {neighbours: {relation: each, within: 1}}
epsilon: 1
"""


@pytest.fixture
def run(command):
    command.write("mine.py", FUNCTIONS)
    command.write("above.yaml", FILE)
    return command


def test_a_function_is_proved_and_its_certificate_accepted(run):
    result = run("check", "mine.py:above", "--certificate", "c.json")
    assert result.returncode == 0
    assert "threshold by +1" in result.stdout
    assert "tight epsilon  1" in result.stdout
    assert "streams" in result.stdout
    assert run("recheck", "c.json").returncode == 0


def test_a_changed_certificate_is_rejected(run):
    run("check", "mine.py:above", "--certificate", "c.json")
    certificate = json.loads((run.folder / "c.json").read_text())
    certificate["question"]["epsilon"] = "9/10"
    (run.folder / "c.json").write_text(json.dumps(certificate))
    assert run("recheck", "c.json").returncode == 2


def test_a_leak_is_drawn_with_both_streams_and_the_fewest_repetitions(run):
    result = run("check", "mine.py:forever", "--certificate", "c.json", "--report", "r.html")
    assert result.returncode == 1
    assert "leaking pair" in result.stdout
    assert "each cycle 2 times, the fewest that do" in result.stdout
    assert run("recheck", "c.json").returncode == 0
    page = (run.folder / "r.html").read_text()
    assert "<svg" in page
    assert "● " in page


def test_no_epsilon_at_all_as_json(run):
    result = run("epsilon", "mine.py:forever", "--json")
    assert result.returncode == 1
    said = json.loads(result.stdout)
    assert said["verdict"] == "refuted"
    assert said["tight"]["epsilon"] == "inf"
    assert said["leak"]["kind"] == "leaking pair"
    assert [segment["repeated"] for segment in said["leak"]["segments"]] == [False, True, True]
    assert said["witness"]["left"]["answers"] == [0, 0, 0, 0]


def test_a_file_says_the_same_as_the_function(run):
    result = run("epsilon", "above.yaml", "--json")
    assert result.returncode == 0
    said = json.loads(result.stdout)
    assert said["tight"]["exact"] == "1"
    assert said["question"]["kind"] == "stream-automaton"
    assert said["shifts"][0]["shift"] == "x by +1"


def test_a_function_becomes_a_file_and_drawings(run):
    for name in ("a.yaml", "a.json", "a.svg", "a.dot"):
        assert run("convert", "mine.py:above", name).returncode == 0
    question = read_question(run.folder / "a.yaml")
    assert isinstance(question, StreamQuestion)
    assert question == read_question(run.folder / "a.json")
    assert run("epsilon", "a.yaml").returncode == 0
    assert "Lap(number, 4)" in (run.folder / "a.svg").read_text()


def test_the_file_fits_the_schema(run):
    jsonschema = pytest.importorskip("jsonschema")
    run("convert", "above.yaml", "a.json")
    jsonschema.validate(json.loads((run.folder / "a.json").read_text()), model_schema())


def test_a_function_of_another_shape_says_why_and_the_laplace_engine_answers(run):
    result = run("check", "mine.py:remembers", "--engine", "streams")
    assert result.returncode == 2
    assert "a number of the data is kept for later" in result.stderr
    assert run("convert", "mine.py:remembers", "a.yaml").returncode == 2


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("sample < x", "sample < y", "unknown threshold 'y'"),
        ("sample < x", "sample >= x", "may be taken at once"),
        ("sample < x", "sample < x and", "is no comparison"),
        ("sample < x", "sample < x and sample >= x or sample < x", "both `and` and `or`"),
        ("sample < x", "sample ~ x", "cannot be read"),
        ("sample < x", "x < x", "with itself"),
        ("sample < x", "sample < 2 * x", "cannot be read"),
        ("store: x", "output: start", "unknown threshold 'x'"),
        ("store: x", "store: sample", "no name of a threshold"),
        ("scale: 4", "scale: -4", "not above 0"),
        ("scale: 4", "scale: 0.5", "float"),
        ("{scale: 4}", "{}", "draws no sample"),
        ("to: wait, store", "to: wayt, store", "unknown state 'wayt'"),
        ("relation: each", "relation: pairs", "none of each, one, monotone"),
        ("within: 1", "within: 0", "not above 0"),
        ("scenario:", "scenary:", "did you mean 'scenario'"),
        ("output: above", "output: fresh", "draws no fresh sample"),
        ("epsilon: 1", "epsilon: -1", "epsilon"),
        ("epsilon: 1", "epsilon: 1\nhorizon: 3", "streams of every length"),
        ("reads: nothing", "reads: something", "none of number, nothing"),
    ],
)
def test_nonsense_gets_one_message_with_its_place(tmp_path, old, new, said):
    path = tmp_path / "wrong.yaml"
    path.write_text(FILE.replace(old, new, 1))
    with pytest.raises(PrivproofError) as problem:
        read_question(path)
    assert said in str(problem.value)
    assert "wrong.yaml:" in str(problem.value)
    assert "hint" in str(problem.value)


def test_nonsense_on_the_command_line(run):
    run.write("wrong.yaml", FILE.replace("sample < x", "sample < y"))
    result = run("check", "wrong.yaml")
    assert result.returncode == 2
    assert "unknown threshold 'y'" in result.stderr
    assert "Traceback" not in result.stderr


def test_a_threshold_that_may_be_compared_before_it_is_stored(tmp_path):
    path = tmp_path / "wrong.yaml"
    path.write_text(FILE.replace("title: above", "title: above\ninitial: wait"))
    with pytest.raises(PrivproofError, match="before it is stored"):
        read_question(path)


def test_profiles_and_formulas_do_not_apply(run):
    for command in ("profile", "explain"):
        result = run(command, "above.yaml")
        assert "Traceback" not in result.stderr
        assert result.returncode in (0, 2)
