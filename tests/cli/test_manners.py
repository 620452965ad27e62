"""How the command behaves towards those who type it: short options, completion, standard input, slips of the pen."""

from __future__ import annotations

import shlex
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from tests.cli.test_projects import COIN, LEAKING
from tests.commands import ROOT, Command, environment

import privproof


def test_short_options(command):
    assert command("-V").stdout == command("--version").stdout == f"privproof {privproof.__version__}\n"
    assert command("-h").stdout == command("--help").stdout
    assert "--epsilon" in command("check", "-h").stdout
    assert command("check", "model.yaml", "-q").stdout.count("\n") == 1


def test_what_is_tried_is_said(tmp_path):
    command = Command(tmp_path, supervised=True)
    result = command("check", "model.yaml", "-v")
    assert "trying the engine" in result.stderr
    assert command("check", "model.yaml").stderr == ""


def read(tmp_path, text, *given):
    return subprocess.run(
        [sys.executable, "-m", "privproof", "check", *given],
        input=text, cwd=tmp_path, env=environment(), capture_output=True, encoding="utf-8", timeout=200, check=False,
    )  # fmt: skip


def test_standard_input(tmp_path):
    done = read(tmp_path, COIN, "-")
    assert (done.returncode, done.stdout.splitlines()[0]) == (0, "✓ proved  coin (1 record) is ln(3)-private")
    assert "-- -:NAME; found: raw, scaled" in read(tmp_path, LEAKING, "-").stderr
    assert read(tmp_path, LEAKING, "--", "-:raw").returncode == 1


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (["chek", "model.yaml"], "Did you mean 'check'"),
        (["check", "model.yaml", "--epsilom", 1], "--epsilon"),
        (["examples", "naive-noisy-mx"], "did you mean 'naive-noisy-max'?"),
        (["check", "model.yaml", "--engine", "tensor"], "did you mean 'tensors'?"),
        (["check", "coins.py:coyn"], "did you mean 'coin'?"),
        (["check", "coin.py:coin"], "did you mean 'coins.py'?"),
        (["check", "modell.yaml", "coins.py"], "did you mean 'model.yaml'?"),
        (["check", "coins.py", "--fail-on", "unknwn"], "did you mean 'unknown'?"),
    ],
)
def test_slips_of_the_pen(command, given, said):
    command.write("coins.py", COIN)
    result = command(*given)
    assert result.returncode == 2
    assert said in result.stderr + result.stdout


@pytest.mark.parametrize(("words", "completed"), [("privproof ch", "check"), ("privproof check --eps", "--epsilon")])
def test_completion(tmp_path, words, completed):
    code = "import sys; sys.argv = ['privproof']; from privproof.cli import main; main()"
    variables = {"COMP_WORDS": words, "COMP_CWORD": str(words.count(" ")), "_PRIVPROOF_COMPLETE": "complete_bash"}
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, env=environment() | variables, capture_output=True, encoding="utf-8",
        timeout=100, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stdout.split()) == (0, [completed])


# ----------------------------------------------------------------------------------------------- what other projects copy


def lines_run(document):
    return [step["run"] for job in document["jobs"].values() for step in job["steps"] if "run" in step]


@pytest.mark.parametrize("which", ["hook", "workflow"])
def test_what_projects_copy_runs(command, which):
    """The commands of the hook and of the workflow, in a project with settings."""
    if which == "hook":
        (hook,) = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text(encoding="utf-8"))
        assert {"id", "name", "entry", "language"} <= set(hook)
        run = hook["entry"]
    else:
        document = yaml.safe_load((ROOT / "examples" / "ci" / "privproof.yml").read_text(encoding="utf-8"))
        assert True in document or "on" in document  # YAML 1.1 reads the word on as true
        install, run = lines_run(document)
        assert install.startswith("pip install privproof")
    program, *given = shlex.split(run)
    assert program == "privproof"
    command.write("coins.py", COIN)
    command.write("pyproject.toml", '[tool.privproof]\npaths = ["coins.py", "model.yaml"]\n')
    result = command(*given)
    assert (result.returncode, result.stdout.splitlines()[-1]) == (0, "2 in 2 files: 2 proved")
    for option in ("--sarif", "--junit"):
        if option in given:
            assert (command.folder / Path(given[given.index(option) + 1])).is_file()
