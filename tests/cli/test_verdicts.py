"""What the commands print and write, and the status with which they end."""

from __future__ import annotations

import json
import re
import shlex
import signal
import subprocess
import time

import pytest
from tests.commands import GEOMETRIC, MODELS, ROOT, environment

from privproof.library import EXAMPLES
from privproof.logic.library.formula_examples import FORMULAS

FIELDS = {"verdict", "engine", "question", "tight", "witness", "certificate", "seconds", "notes"}
TIGHT = {"ratio", "epsilon", "lower", "upper"}
WITNESS = {"left", "right", "output", "left_probability", "right_probability", "ratio"}


# ------------------------------------------------------------------------------------------------------ status and JSON


def test_proved(command):
    status, said = command.json("check", "model.yaml")
    assert status == 0
    assert said.keys() >= FIELDS
    assert said["verdict"] == "proved"
    assert said["certificate"] is None
    assert said["question"]["epsilon"] == "ln(2)"
    assert said["tight"].keys() >= TIGHT
    assert said["seconds"] >= 0
    assert isinstance(said["notes"], list)


def test_refuted(command):
    status, said = command.json("check", MODELS / "family.yaml")
    assert status == 1
    assert said["verdict"] == "refuted"
    assert said["witness"].keys() >= WITNESS
    assert said["witness"]["left_probability"] == "2/3"
    assert said["witness"]["right_probability"] == "1/6"
    assert said["witness"]["ratio"] == "4"
    assert said["witness"]["left"] == {"zero": "1"}
    assert said["witness"]["output"] == ["0"]


def test_the_tight_epsilon(command):
    status, said = command.json("epsilon", MODELS / "activity.yaml")
    assert status == 0
    assert said["tight"]["ratio"] == said["witness"]["ratio"] == "75099/9097"
    assert said["tight"]["epsilon"] == "2.110862554"
    assert float(said["tight"]["lower"]) < float(said["tight"]["upper"]) < float(said["tight"]["lower"]) + 1e-9


def test_no_epsilon_at_all(command):
    command.write("bare.yaml", GEOMETRIC.replace('{"0": 1/3, "1": 1/3, "2": 1/3}', '{"1": 1}'))
    status, said = command.json("epsilon", "bare.yaml")
    assert status == 1
    assert said["verdict"] == "refuted"
    assert said["tight"]["epsilon"] == "inf"
    assert said["tight"]["ratio"] is None
    assert said["witness"]["ratio"] == "inf"
    assert said["witness"]["right_probability"] == "0"


def test_inputs_of_a_transducer_are_the_two_sides_of_a_witness(command):
    status, said = command.json("epsilon", f"{ROOT / 'examples' / '04_noisy_max.py'}:improved", "--size", 3)
    assert status == 0
    assert said["tight"]["ratio"] == "24/7"
    assert (said["witness"]["left"], said["witness"]["right"]) == (["1", "1", "1"], ["0", "2", "2"])
    assert said["witness"]["output"] == ["1"]


def test_text_says_the_same(command):
    result = command("check", "model.yaml")
    assert result.returncode == 0
    assert result.stderr == ""
    assert result.stdout.startswith("✓ proved  geometric is ln(2)-private\n")
    refuted = command("check", "model.yaml", "--epsilon", "1/2")
    assert refuted.returncode == 1
    assert refuted.stdout.startswith("✗ refuted  geometric is not 1/2-private\n")


@pytest.mark.parametrize(
    ("epsilon", "status"),
    [("0.69", 1), ("0.6932", 0), ("inf", 0), ("0", 1), ("ln(2)/2", 1), ("ln(2)+1/3", 0), ("2*ln(2)", 0)],
)
def test_budgets(command, epsilon, status):
    assert command("check", "model.yaml", "--epsilon", epsilon).returncode == status


def test_delta(command):
    """At epsilon 0 the largest sum over outputs is 2/3 - 1/3; for one output alone it is the same here."""
    assert command("check", "model.yaml", "--epsilon", 0, "--delta", "1/3").returncode == 0
    status, said = command.json("check", "model.yaml", "--epsilon", 0, "--delta", "0.33")
    assert status == 1
    assert said["question"]["delta"] == "33/100"
    assert command("check", "model.yaml", "--epsilon", 0, "--delta", "1/3", "--pointwise").returncode == 0


def test_one_pair_alone(command):
    assert command("check", MODELS / "family.yaml", "--pair", "John is well ~ John is ill").returncode == 1
    assert command("check", "model.yaml:one ~ both").returncode == 0
    status, said = command.json("check", "model.yaml", "--pair", "one ~ both")
    assert (status, said["question"]["scenario"]) == (0, "2 ordered pairs of initial distributions")


def test_help_promises_the_status(command):
    result = command("--help")
    assert result.returncode == 0
    assert "0 proved, 1 refuted, 2 the request itself was wrong, 3 unknown" in " ".join(result.stdout.split())
    for name in ("check", "epsilon", "recheck", "convert", "examples"):
        assert name in result.stdout
        assert command(name, "--help").returncode == 0


# ------------------------------------------------------------------------------------------------- a witness, replayed


@pytest.mark.parametrize(
    ("target", "options"),
    [
        (MODELS / "family.yaml", []),
        (MODELS / "survey.yaml", ["--epsilon", "ln(2)"]),
        (MODELS / "activity.yaml", ["--epsilon", "1"]),
        (f"{ROOT / 'examples' / '04_noisy_max.py'}:naive", ["--epsilon", "ln(2)"]),
    ],
    ids=["hmm", "stream", "longer words", "one output at the end"],
)
def test_a_witness_replayed_has_the_same_probabilities(command, target, options):
    status, found = command.json("check", target, *options)
    assert status == 1
    witness = found["witness"]
    word = " ".join(map(shlex.quote, witness["word"]))
    status, again = command.json("check", target, *options, "--pair", witness["pair"], "--word", word)
    assert status == 1
    assert again["witness"] == witness


def test_the_printed_command_replays_the_witness(command):
    """In a pipe lines may be folded; joined again they are a command that a shell runs as it is."""
    result = command("check", MODELS / "family.yaml")
    lines = [line.strip() for line in result.stdout.splitlines()]
    first = next(i for i, line in enumerate(lines) if line.startswith("replay"))
    last = next(i for i, line in enumerate(lines) if line.startswith("tight epsilon"))
    printed = " ".join(lines[first:last]).removeprefix("replay").strip()
    program, *arguments = shlex.split(printed)
    assert program == "privproof"
    again = command(*arguments)
    assert again.returncode == 1
    assert "2/3" in again.stdout
    assert "1/6" in again.stdout


def test_one_word_that_breaks_nothing_proves_nothing(command):
    status, said = command.json("check", "model.yaml", "--word", "0")
    assert (status, said["verdict"]) == (3, "unknown")
    assert said["witness"]["ratio"] == "2"


# ------------------------------------------------------------------------------------------- files that are written


def test_a_report_is_a_page_of_its_own(command):
    result = command("check", MODELS / "family.yaml", "--report", "report.html", "--certificate", "family.json")
    assert result.returncode == 1
    page = (command.folder / "report.html").read_text(encoding="utf-8")
    assert page.startswith("<!doctype html>")
    assert page.rstrip().endswith("</html>")
    assert "refuted" in page
    assert "2/3" in page
    assert "<svg" in page
    assert not re.search(r'(src|href)="https?:', page), "the page loads nothing"
    assert json.loads((command.folder / "family.json").read_text(encoding="utf-8"))["facts"][-1]["claim"] == "refuted"


def test_markup_in_names_is_escaped(command):
    command.write("evil.yaml", GEOMETRIC.replace("title: geometric", 'title: "<script>alert(1)</script>"'))
    assert command("check", "evil.yaml", "--report", "report.html").returncode == 0
    assert "<script>" not in (command.folder / "report.html").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", ["family", "geometric", "activity", "survey"])
def test_yaml_and_json_and_back(command, name):
    for source, target in ((MODELS / f"{name}.yaml", "one.json"), ("one.json", "two.yaml"), ("two.yaml", "three.json")):
        result = command("convert", source, target)
        assert (result.returncode, result.stdout) == (0, f"{target} written\n")
    assert (command.folder / "one.json").read_bytes() == (command.folder / "three.json").read_bytes()
    first, again = (command.json("epsilon", where)[1] for where in (MODELS / f"{name}.yaml", "three.json"))
    assert first["tight"] == again["tight"]
    assert first["witness"] == again["witness"]


def test_pictures_and_smtlib(command):
    for suffix, begins in (("dot", "digraph"), ("svg", "<svg")):
        assert command("convert", MODELS / "activity.yaml", f"out.{suffix}").returncode == 0
        assert begins in (command.folder / f"out.{suffix}").read_text(encoding="utf-8")
    assert command("convert", MODELS / "activity.yaml", "out.smt2", "--epsilon", "ln(3)").returncode == 0
    script = (command.folder / "out.smt2").read_text(encoding="utf-8")
    assert "(check-sat)" in script
    assert "QF_LRA" in script
    z3 = pytest.importorskip("z3")
    solver = z3.Solver()
    solver.from_string(script)
    assert solver.check() == z3.sat, "ln(3) is refuted by five hours"


# --------------------------------------------------------------------------------------------------------- the library


def test_the_list_of_examples(command):
    result = command("examples")
    assert result.returncode == 0
    every = [example.name for example in (*EXAMPLES, *FORMULAS)]
    for name in every:
        assert name in result.stdout
    listed = command("examples", "--json")
    assert [entry["name"] for entry in json.loads(listed.stdout)] == every


@pytest.mark.parametrize("name", ["geometric", "contagious", "improved-noisy-max-transducer", "satisfiability"])
def test_an_example_comes_to_its_known_verdict(command, name):
    example = next(e for e in EXAMPLES if e.name == name)
    result = command("examples", name)
    assert result.returncode == (1 if example.known.startswith("refuted") else 0)
    assert f"known: {example.known}" in result.stdout


def test_an_example_is_written_as_a_model_file(command):
    assert command("examples", "contagious", "--write", "contagious.yaml").returncode == 0
    assert command("check", "contagious.yaml").returncode == 1


# -------------------------------------------------------------------------------------------------------- out of time

LONG = """\
from dataclasses import replace
from pathlib import Path

import privproof.engines.words.frontier_search as frontier
from privproof.library import above_threshold
from privproof.models import Horizon

question = replace(above_threshold(high=5), horizon=Horizon.up_to(60))
plain = frontier.Frontier._prune


def noted(self, level, *given):
    if level > 2:
        Path("searching").touch()
    return plain(self, level, *given)


frontier.Frontier._prune = noted
"""
"""A question with very many words; it tells, by a file, when the search has come to words of some length."""


@pytest.mark.parametrize("options", [["epsilon"], ["check", "--epsilon", "100"]], ids=["epsilon", "check"])
def test_no_time_at_all(command, options):
    command.write("long.py", LONG)
    status, said = command.json(options[0], "long.py", *options[1:], "--time-limit", 0)
    assert (status, said["verdict"], said["certificate"]) == (3, "unknown", None)
    assert "out of time" in said["reason"]
    assert said["tight"]["upper"] == "inf"
    assert float(said["tight"]["lower"]) >= 0
    text = command(options[0], "long.py", *options[1:], "--time-limit", 0)
    assert text.returncode == 3
    assert text.stdout.startswith("? unknown")


def test_a_time_limit_keeps_what_is_established(command):
    command.supervised = True
    command.write("long.py", LONG)
    status, said = command.json("epsilon", "long.py", "--time-limit", 1)
    assert status == 3
    assert float(said["tight"]["lower"]) > 1
    assert said["witness"] is not None
    assert said["seconds"] < 60


@pytest.mark.parametrize("options", [["epsilon"], ["check", "--epsilon", "100"]], ids=["epsilon", "check"])
def test_an_interrupt_keeps_what_is_established(command, options):
    command.write("long.py", LONG)
    process = subprocess.Popen(
        command.arguments(options[0], "long.py", *options[1:], "--json"),
        cwd=command.folder,
        env=environment(),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        encoding="utf-8",
    )
    try:
        waiting = time.monotonic() + 60
        while not (command.folder / "searching").exists() and time.monotonic() < waiting:
            time.sleep(0.02)
        time.sleep(0.2)
        process.send_signal(signal.SIGINT)
        output, errors = process.communicate(timeout=120)
    finally:
        process.kill()
        process.wait()
    assert errors == ""
    assert process.returncode == 3
    said = json.loads(output)
    assert said["verdict"] == "unknown"
    assert "interrupted" in said["reason"]
    assert float(said["tight"]["lower"]) > 0
    assert said["witness"]["ratio"] not in (None, "0")
