"""Secrets under priors on the command line: Python files, model files, certificates, nonsense."""

from __future__ import annotations

import json

import pytest

FAMILY = """\
from privproof import bernoulli, integer, mechanism, prior, pufferfish, truncated_geometric

@mechanism(epsilon="ln(2)")
def noisy(count: integer(0, 2)):
    return truncated_geometric(count, alpha="1/2", low=0, high=2)

@prior(p="0 < p < 1")
def family(p):
    ill = bernoulli(p)
    return ill, ill

@prior
def certain():
    return (True, True)

SECRETS = {"ill": lambda data: data[0], "well": lambda data: not data[0]}
john = pufferfish(noisy, prior=family, query=sum, secrets=SECRETS)
nobody = pufferfish(noisy, prior=certain, query=sum, secrets=SECRETS)
"""

MODEL = """\
kind: hmm
states: [zero, one, two]
observations: ["0", "1", "2"]
emissions:
  zero: {"0": 2/3, "1": 1/6, "2": 1/6}
  one: {"0": 1/3, "1": 1/3, "2": 1/3}
  two: {"0": 1/6, "1": 1/6, "2": 2/3}
scenario:
  parameters: {a: "[0, 1]", b: "[0, 1]"}
  constraints: [a + b <= 1]
  pairs:
    - name: John
      left: {zero: a, one: b, two: 1 - a - b}
      right: {zero: 1}
horizon: 1
"""


def test_a_secret_is_refuted_with_the_odds(command):
    command.write("family.py", FAMILY)
    result = command("check", "family.py:john", "--certificate", "john.json", "--report", "john.html")
    assert result.returncode == 1
    for part in ("p = 1/2", "given ill: probability 2/3", "1 before the output is seen, 4 after"):
        assert part in result.stdout
    assert command("recheck", "john.json").returncode == 0
    assert "def family" in (command.folder / "john.html").read_text(encoding="utf-8")
    forged = json.loads((command.folder / "john.json").read_text(encoding="utf-8"))
    forged["question"]["epsilon"] = "ln(4)"
    command.write("forged.json", json.dumps(forged))
    assert command("recheck", "forged.json").returncode == 2


def test_the_json_object(command):
    command.write("family.py", FAMILY)
    status, answer = command.json("epsilon", "family.py:john")
    assert status == 0
    assert answer["question"]["kind"] == "pufferfish"
    assert answer["tight"]["ratio"] == "4"
    assert answer["witness"]["prior_odds"] == "1"
    assert answer["witness"]["posterior_odds"] == "4"


def test_an_impossible_secret_is_unknown(command):
    command.write("family.py", FAMILY)
    result = command("check", "family.py:nobody")
    assert result.returncode == 3
    assert "nothing is compared" in result.stdout
    assert "'well'" in result.stdout


def test_a_distribution_that_is_not_known_at_all(command):
    command.write("unknown.yaml", MODEL)
    status, answer = command.json("epsilon", "unknown.yaml")
    assert status == 0
    assert answer["tight"]["ratio"] == "4"
    assert command("check", "unknown.yaml", "--epsilon", "ln(4)").returncode == 0
    assert command("check", "unknown.yaml", "--epsilon", "ln(3)").returncode == 1


@pytest.mark.parametrize(
    ("old", "new", "part"),
    [
        ('a: "[0, 1]"', 'a: "[1, 0]"', "is empty"),
        ('a: "[0, 1]"', "a: somewhere", "is no interval"),
        ("a + b <= 1", "a + b", "is no constraint"),
        ("a + b <= 1", "a + c <= 1", "unexpected 'c'"),
        ("zero: a,", "zero: a/b,", "division"),
        ("zero: a,", "three: a,", "unknown state 'three'"),
        ("horizon: 1", "horizon: unbounded", "bounded horizon"),
        ("scenario:\n", "scenario:\n  neighbours: {relation: each}\n", "neighbours"),
    ],
)
def test_wrong_parameters(command, old, new, part):
    assert old in MODEL
    command.write("wrong.yaml", MODEL.replace(old, new))
    result = command("epsilon", "wrong.yaml")
    assert result.returncode == 2
    assert part in result.stderr
    assert "wrong.yaml" in result.stderr


@pytest.mark.parametrize(
    "given",
    [
        ("convert", "family.py:john", "out.yaml"),
        ("profile", "family.py:john"),
        ("check", "family.py:john", "--word", "2"),
        ("check", "family.py:john", "--horizon", "3"),
        ("check", "family.py:john", "--epsilon", "ln(2)", "--delta", "1/2"),
        ("check", "family.py:john", "--epsilon", "inf"),
    ],
)
def test_what_does_not_apply_is_said(command, given):
    command.write("family.py", FAMILY)
    result = command(*given)
    assert result.returncode == 2
    assert result.stderr.startswith("privproof: ")
