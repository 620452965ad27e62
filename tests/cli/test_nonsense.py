"""Requests that make no sense: each gets one message (the place, the exact value found, mostly a hint) and status 2."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from tests.commands import GEOMETRIC


def complaint(result, *parts, hint=True):
    """The one message on the error stream; every part must be in it."""
    assert result.returncode == 2, result
    assert result.stdout == ""
    lines = result.stderr.splitlines()
    assert lines[0].startswith("privproof: ")
    assert sum("privproof: " in line for line in lines) == 1
    assert len(lines) == (2 if hint else len(lines))
    if hint:
        assert lines[1].startswith("  hint: ")
        assert len(lines[1]) > len("  hint: ")
    for part in parts:
        assert part in result.stderr
    return result.stderr


MODEL_FILES = {
    "a row that does not sum to one": (('zero: {"0": 2/3,', 'zero: {"0": 1/2,'), ["emissions.zero", "5/6", "1/6"]),
    "a row that sums to more than one": (
        ('zero: {"0": 2/3,', 'zero: {"0": 5/6,'),
        ["emissions.zero", "7/6", "too much"],
    ),
    "an unknown state": (("right: {one: 1}", "right: {eno: 1}"), ["pair", "'eno'", "one"]),
    "an unknown observation": (('one:  {"0": 1/3', 'one:  {"9": 1/3'), ["emissions.one", "'9'"]),
    "a probability above one": (('zero: {"0": 2/3,', 'zero: {"0": 7/6,'), ["emissions.zero.0", "7/6", "[0, 1]"]),
    "a probability below zero": (('zero: {"0": 2/3,', 'zero: {"0": -1/6,'), ["emissions.zero.0", "-1/6", "[0, 1]"]),
    "a float": (('zero: {"0": 2/3,', 'zero: {"0": .nan,'), ["zero"]),
    "an exponent beyond reason": (('zero: {"0": 2/3,', 'zero: {"0": 1e99999,'), ["zero"]),
    "no number": (('zero: {"0": 2/3,', 'zero: {"0": most,'), ["zero", "most"]),
    "an unknown kind": (("kind: hmm", "kind: hhmm"), ["kind", "hhmm"]),
    "a budget below zero": (("epsilon: ln(2)", "epsilon: -1"), ["epsilon", "-1", "below zero"]),
    "a logarithm below zero": (("epsilon: ln(2)", "epsilon: ln(1/2)"), ["epsilon", "ln(1/2)", "below zero"]),
    "an unknown field": (("horizon: 1", "horizonn: 1"), ["horizonn"]),
    "a horizon of zero": (("horizon: 1", "horizon: 0"), ["horizon", "0"]),
    "a state named twice": (("[zero, one, two]", "[zero, one, one]"), ["states", "one"]),
    "a state without emissions": (("[zero, one, two]", "[zero, one, two, three]"), ["three"]),
    "YAML that is none": (("states: [zero", "states: [[zero"), [":"]),
    "a field given twice": (("horizon: 1", "horizon: 1\nhorizon: 2"), ["horizon"]),
}


@pytest.mark.parametrize("name", MODEL_FILES)
def test_model_files(command, name):
    (old, new), parts = MODEL_FILES[name]
    assert old in GEOMETRIC
    command.write("wrong.yaml", GEOMETRIC.replace(old, new))
    complaint(command("check", "wrong.yaml"), "wrong.yaml", *parts)


def test_a_division_by_zero_in_a_model_file(command):
    command.write("wrong.yaml", GEOMETRIC.replace("2/3", "2/0", 1))
    complaint(command("check", "wrong.yaml"), "wrong.yaml:6", "emissions.zero.0", "2/0", hint=False)


def test_a_float_in_json(command):
    """In JSON a number is either whole or a decimal; the exact value of a decimal is what its digits say."""
    text = '{"kind": "hmm", "states": ["a"], "observations": ["o"], "emissions": {"a": {"o": 0.3}}, "scenario": {}}'
    command.write("wrong.json", text)
    complaint(command("check", "wrong.json", "--epsilon", 1), "wrong.json", "3/10")


@pytest.mark.parametrize(
    "scenario", ["{}", "{pairs: []}", "{neighbours: {relation: each, within: 1/2, coordinates: {zero: [0], one: [1]}}}"]
)
def test_an_empty_relation(command, scenario):
    head = GEOMETRIC[: GEOMETRIC.index("scenario:")]
    command.write("wrong.yaml", f"{head}scenario: {scenario}\nhorizon: 1\nepsilon: 1\n")
    message = complaint(command("check", "wrong.yaml"))
    assert "neighbour" in message or "pair" in message


@pytest.mark.parametrize("within", ["0", "-1"])
def test_a_relation_that_lets_nothing_change(command, within):
    head = GEOMETRIC[: GEOMETRIC.index("scenario:")]
    relation = f"{{relation: each, within: {within}, coordinates: {{zero: [0], one: [1]}}}}"
    command.write("wrong.yaml", f"{head}scenario: {{neighbours: {relation}}}\nhorizon: 1\nepsilon: 1\n")
    complaint(command("check", "wrong.yaml"), "wrong.yaml", "neighbours", f"within={within}")


@pytest.mark.parametrize("fraction", [0.1, 0.35, 0.6, 0.85])
def test_a_truncated_file(command, fraction):
    command.write("cut.yaml", GEOMETRIC[: int(len(GEOMETRIC) * fraction)])
    complaint(command("check", "cut.yaml", "--epsilon", 1), "cut.yaml")


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("empty.yaml", b""),
        ("blank.yaml", b"\n  \n# nothing\n"),
        ("empty.json", b""),
        ("junk.yaml", bytes(range(256))),
        ("junk.json", b"\x89PNG\r\n\x1a\n\x00\x00\xff\xfe"),
        ("list.yaml", b"- 1\n- 2\n"),
        ("text.json", b'"hmm"'),
        ("cut.json", b'{"kind": "hmm", "states": ["a"'),
        ("model.txt", b"kind: hmm"),
        ("model", b"kind: hmm"),
    ],
)
def test_files_that_are_no_models(command, name, content):
    command.write(name, content)
    complaint(command("check", name, "--epsilon", 1), name)


def test_files_that_are_not_there(command):
    complaint(command("check", "missing.yaml", "--epsilon", 1), "missing.yaml", "no such file")
    complaint(command("check", "missing.py:thing", "--epsilon", 1), "missing.py", "no such file", hint=False)
    (command.folder / "empty").mkdir()
    complaint(command("check", "empty", "--epsilon", 1), "empty: no mechanism was found")
    complaint(command("epsilon", "empty"), "directory")
    complaint(command("check", "", "--epsilon", 1), hint=False)


@pytest.mark.skipif(os.geteuid() == 0, reason="an administrator may read everything")
def test_a_file_that_may_not_be_read(command):
    (command.folder / "model.yaml").chmod(0)
    complaint(command("check", "model.yaml"), "model.yaml", hint=False)


# ----------------------------------------------------------------------------------------------------------- options


OPTIONS = {
    "epsilon below zero": (["--epsilon", "-1"], ["epsilon", "-1", "below zero"]),
    "a logarithm of a negative number": (["--epsilon", "ln(-1)"], ["ln(-1)"]),
    "a logarithm of zero": (["--epsilon", "ln(0)"], ["ln(0)"]),
    "an empty epsilon": (["--epsilon", ""], ["''"]),
    "not a number": (["--epsilon", "nan"], ["nan"]),
    "a division by zero": (["--epsilon", "1/0"], ["1/0"]),
    "an unfinished epsilon": (["--epsilon", "ln(2"], ["ln(2", "the end"]),
    "two logarithms multiplied": (["--epsilon", "ln(2)*ln(3)"], ["ln(2)*ln(3)"]),
    "minus infinity": (["--epsilon", "-inf"], ["-inf"]),
    "delta above one": (["--epsilon", "1", "--delta", "2"], ["delta=2", "[0, 1]"]),
    "delta below zero": (["--epsilon", "1", "--delta", "-1/2"], ["delta=-1/2", "[0, 1]"]),
    "an unknown engine": (["--engine", "warp"], ["engine", "'warp'", "frontier"]),
    "horizon 0": (["--horizon", "0"], ["horizon=0", "at least one letter"]),
    "horizon -3": (["--horizon", "-3"], ["horizon=-3", "at least one letter"]),
    "horizon abc": (["--horizon", "abc"], ["'abc'", "horizon"]),
    "horizon 2.5": (["--horizon", "2.5"], ["'2.5'", "horizon"]),
    "an enormous horizon": (["--horizon", "9" * 25], ["9" * 25, "beyond"]),
    "a size for a model file": (["--size", "3"], ["--size"]),
    "an unknown pair": (["--pair", "none ~ two"], ["'none ~ two'", "none ~ one"]),
    "an unknown letter": (["--word", "7"], ["--word", "'7'"]),
    "a word that is too long": (["--word", "0 1"], ["word", "2 letters"]),
    "an empty word": (["--word", ""], ["word", "0 letters"]),
}


@pytest.mark.parametrize("name", OPTIONS)
def test_options(command, name):
    given, parts = OPTIONS[name]
    complaint(command("check", "model.yaml", *given), *parts)


def test_a_word_with_an_open_quotation_mark(command):
    complaint(command("check", "model.yaml", "--word", "'0"), "--word", "'0", hint=False)


def test_delta_that_is_no_number(command):
    complaint(command("check", "model.yaml", "--epsilon", 1, "--delta", "x"), "'x'")
    complaint(command("epsilon", "model.yaml", "--delta", "x"), "'x'")


def test_delta_without_epsilon_is_not_forgotten(command):
    """The file's epsilon and the command's delta make the budget."""
    command.write("tight.yaml", GEOMETRIC.replace("epsilon: ln(2)", "epsilon: 0"))
    assert command("check", "tight.yaml").returncode == 1
    assert command("check", "tight.yaml", "--delta", "1/3").returncode == 0
    complaint(command("check", "tight.yaml", "--delta", 2), "delta=2")


def test_a_missing_epsilon(command):
    command.write("open.yaml", GEOMETRIC.replace("epsilon: ln(2)\n", ""))
    complaint(command("check", "open.yaml"), "open.yaml", "budget", "--epsilon", "privproof epsilon")


def test_an_engine_that_does_not_support_the_question(command):
    complaint(command("check", "model.yaml", "--engine", "tensors"), "engine", "tensors", hint=False)
    complaint(command("epsilon", "model.yaml", "--engine", "smt"), "engine", "smt", "budget", hint=False)
    complaint(command("check", "model.yaml", "--engine", "events"), "engine", "events", "delta", hint=False)


def test_unknown_commands_and_options(command):
    for given in (
        ["frobnicate"],
        ["check", "model.yaml", "--frobnicate"],
        ["recheck"],
        ["convert", "model.yaml"],
    ):
        result = command(*given)
        assert result.returncode == 2
        assert result.stdout == ""
        assert "Error" in result.stderr
    complaint(command("check"), "nothing is named to check")
    result = command("check", "model.yaml", "--size", "many")
    assert result.returncode == 2
    assert "--size" in result.stderr


def test_an_unknown_example(command):
    complaint(command("examples", "nope"), "'nope'", "privproof examples")


# -------------------------------------------------------------------------------------------------- where output goes


@pytest.mark.parametrize(
    "given",
    [
        ["convert", "model.yaml", "nowhere/out.yaml"],
        ["convert", "model.yaml", "nowhere/out.json"],
        ["convert", "model.yaml", "nowhere/out.dot"],
        ["convert", "model.yaml", "nowhere/out.smt2"],
        ["check", "model.yaml", "--certificate", "nowhere/out.json"],
        ["check", "model.yaml", "--report", "nowhere/out.html"],
        ["examples", "geometric", "--write", "nowhere/out.yaml"],
    ],
    ids=["yaml", "json", "dot", "smt2", "certificate", "report", "example"],
)
def test_a_folder_that_does_not_exist(command, given):
    complaint(command(*given), given[-1], "No such file or directory", hint=False)


@pytest.mark.parametrize("verb", ["check", "epsilon"])
@pytest.mark.parametrize("option", ["--certificate", "--report"])
def test_output_is_looked_at_before_the_question(command, verb, option):
    result = command(verb, "missing.yaml", option, "nowhere/out")
    complaint(result, "nowhere/out", "No such file or directory", hint=False)
    complaint(command(verb, "missing.yaml", option, "model.yaml/out"), "Not a directory", hint=False)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no full device")
def test_a_verdict_is_shown_even_if_it_cannot_be_written(command):
    result = command("check", "model.yaml", "--certificate", "/dev/full")
    assert result.returncode == 2
    assert "proved" in result.stdout
    assert "not written" in result.stdout
    assert "cannot write" in result.stderr


def test_output_onto_a_folder(command):
    (command.folder / "folder.json").mkdir()
    complaint(command("check", "model.yaml", "--certificate", "folder.json"), "folder.json", hint=False)
    complaint(command("convert", "model.yaml", "folder.json"), "folder.json", hint=False)


@pytest.mark.skipif(os.geteuid() == 0, reason="an administrator may write everywhere")
def test_a_file_that_may_not_be_written(command):
    command.write("fixed.json", "{}")
    (command.folder / "fixed.json").chmod(0o444)
    complaint(command("check", "model.yaml", "--certificate", "fixed.json"), "fixed.json", hint=False)


def test_an_unknown_suffix(command):
    complaint(command("convert", "model.yaml", "out.doc"), "'.doc'", ".yaml")
    complaint(command("convert", "model.yaml", "out"), "out")


def test_smtlib_needs_a_budget_and_an_end(command):
    command.write("open.yaml", GEOMETRIC.replace("epsilon: ln(2)\n", ""))
    complaint(command("convert", "open.yaml", "out.smt2"), "--epsilon")
    endless = GEOMETRIC.replace(
        "emissions:", "transitions: {zero: {zero: 1}, one: {one: 1}, two: {two: 1}}\nemissions:"
    )
    command.write("endless.yaml", endless.replace("horizon: 1", "horizon: unbounded"))
    complaint(command("convert", "endless.yaml", "out.smt2"), "--horizon")


# --------------------------------------------------------------------------------------------------- Python files


PYTHON_FILES = {
    "a syntax error": ("x = 1\ndef f(:\n", "", ["wrong.py:2", "SyntaxError"], False),
    "an exception": ("x = 1\n\n1 / 0\n", "", ["wrong.py:3", "ZeroDivisionError", "division by zero"], False),
    "an import that fails": ("import nothing_of_the_kind\n", "", ["wrong.py:1", "nothing_of_the_kind"], False),
    "no question": ("x = 1\n", "", ["wrong.py", "none"], True),
    "an unknown name": ("def mine():\n    return 1\n", ":yours", ["wrong.py", "'yours'", "mine"], True),
    "a name that is no question": ("x = 1\n", ":x", ["wrong.py", "'x'", "int"], False),
    "a function that makes no question": ("def mine():\n    return 1\n", ":mine", ["wrong.py:mine", "int"], False),
    "a function that fails": ("def mine():\n    return {}[1]\n", ":mine", ["wrong.py:2", "KeyError"], False),
    "a model error": (
        "from privproof import HiddenMarkovModel\n"
        "HiddenMarkovModel(states=['a'], observations=['o'], emissions={'a': {'o': '1/2'}})\n",
        "",
        ["wrong.py", "emissions.a", "1/2"],
        True,
    ),
    "a float in the model": (
        "from privproof import HiddenMarkovModel\n"
        "HiddenMarkovModel(states=['a'], observations=['o'], emissions={'a': {'o': 0.1}})\n",
        "",
        ["wrong.py", "emissions.a.o", "0.1", "3602879701896397/36028797018963968", "from_float"],
        True,
    ),
    "an exit": ("import sys\nsys.exit(0)\n", "", ["wrong.py"], False),
}


@pytest.mark.parametrize("name", PYTHON_FILES)
def test_python_files(command, name):
    text, wanted, parts, hint = PYTHON_FILES[name]
    command.write("wrong.py", text)
    complaint(command("check", f"wrong.py{wanted}", "--epsilon", 1), *parts, hint=hint)


SIZED = """\
from privproof.library import noisy_max_question

def mine(size):
    return noisy_max_question(size, improved=False)

def fixed():
    return mine(2)
"""


def test_sizes(command):
    command.write("sized.py", SIZED)
    complaint(command("check", "sized.py:mine", "--epsilon", 1), "sized.py:mine", "--size")
    complaint(command("check", "sized.py:fixed", "--epsilon", 1, "--size", 3), "sized.py:fixed", "size")
    complaint(command("check", "sized.py:mine", "--epsilon", 1, "--size", 0), "--size", "'0'")
    complaint(command("check", "sized.py:mine", "--epsilon", 1, "--size", -1), "--size", "-1")
    assert command("check", "sized.py:mine", "--epsilon", "ln(4)", "--size", 2).returncode == 0
