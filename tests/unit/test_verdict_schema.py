"""What is printed as JSON fits the schema that is shipped, for every kind of question."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator
from tests.commands import forked

from privproof import bernoulli, check, composed, integer, laplace, mechanism, queries, real, records, tight_epsilon
from privproof.library.noisy_max import noisy_max_question
from privproof.reporting.verdict_schema import verdict_schema

PYTHON = ["python", "-m", "privproof"]
SCHEMA = Draft202012Validator(verdict_schema())


@mechanism(epsilon=1)
def released(x: real()):
    return laplace(x, scale=1)


def flipped(bit):
    return {"bit": bit if bernoulli("3/4") else 1 - bit}


def counted(q: queries()):
    return laplace(sum(q), scale=1)


ANSWERS = {
    "word, proved": lambda: check("examples/models/family.yaml"),
    "tight": lambda: tight_epsilon(noisy_max_question(2, improved=True)),
    "program": lambda: check(released),
    "program, refuted": lambda: check(released, "1/2"),
    "program, unknown": lambda: check(counted, 1, time_limit=0.001),
    "runs": lambda: check(flipped, 1, bit=integer(0, 1), engine="runs"),
    "mechanism, no epsilon at all": lambda: check(lambda rows: rows[0], 1, rows=records(0, 1), size=1),
    "stream": lambda: check("examples/models/streams/no_cutoff.yaml", 1),
    "delta": lambda: check(noisy_max_question(2, improved=True), "1", "1/100"),
    "parametric": lambda: check("examples/models/unknown_prior.yaml"),
    "measured": lambda: check(released, rho=1),
    "composed": lambda: check(composed(released, times=2), 2),
}


@pytest.mark.parametrize("ask", ANSWERS.values(), ids=ANSWERS)
def test_a_verdict_fits(ask):
    found = json.loads(json.dumps(ask().to_dict()))
    SCHEMA.validate(found)
    del found["tight"]["lower"]
    assert not SCHEMA.is_valid(found)


@pytest.mark.parametrize(
    "arguments",
    [
        ("check", "examples/models/family.yaml"),
        ("check", "nosuch.yaml"),
        ("check", "examples/models/family.yaml", "examples/mechanisms/bounded.py"),
        ("epsilon", "examples/mechanisms/noisy_max.py:improved", "--size", "2..3"),
        ("examples", "noisy-max"),
    ],
    ids=" ".join,
)
def test_what_the_command_prints_fits(arguments):
    SCHEMA.validate(json.loads(forked([*PYTHON, *arguments, "--json"], Path()).stdout))


def test_the_command_prints_the_schemas():
    assert json.loads(forked([*PYTHON, "schema"], Path()).stdout) == verdict_schema()
    assert json.loads(forked([*PYTHON, "schema", "model"], Path()).stdout)["properties"]["kind"]
