"""The JSON Schema of certificates: every rule of the checker is in it, and certificates fit it."""

from __future__ import annotations

import json
from importlib.resources import files
from itertools import chain

import pytest
from jsonschema import Draft202012Validator
from tests.amounts import spread

from privproof import check, tight_epsilon
from privproof.library import EXAMPLES
from privproof_checker import rules
from privproof_checker.front import _KINDS

DOCUMENT = json.loads(files("privproof_checker").joinpath("certificate.schema.json").read_text(encoding="utf-8"))
SCHEMA = Draft202012Validator(DOCUMENT)


def test_it_is_a_schema():
    Draft202012Validator.check_schema(DOCUMENT)


def test_it_has_every_kind_and_every_method():
    assert set(DOCUMENT["properties"]["question"]["properties"]["kind"]["enum"]) == {*_KINDS, *rules.WORDS}
    methods = {}
    for rule in DOCUMENT["allOf"]:
        asked = rule["if"]["properties"].get("question", {}).get("properties", {}).get("kind", {})
        if "const" in asked:
            methods[asked["const"]] = set(rule["then"]["properties"]["evidence"]["properties"]["method"]["enum"])
    for kind, method in rules._RULES:
        for each in rules.WORDS if kind == "words" else (kind,):
            assert method in methods[each]
    assert set(chain.from_iterable(methods.values())) == {method for _, method in rules._RULES} | {"epsilon"}


@pytest.mark.parametrize("example", spread(EXAMPLES, 5), ids=lambda example: example.name)
def test_certificates_fit(example):
    question = example.question()
    verdict = check(question) if question.claims else tight_epsilon(question)
    if not verdict.certificate:
        return
    certificate = json.loads(json.dumps(dict(verdict.certificate)))
    assert not list(SCHEMA.iter_errors(certificate))
    for name in ("format", "verdict", "question", "evidence"):
        assert list(SCHEMA.iter_errors({each: part for each, part in certificate.items() if each != name}))
    assert list(SCHEMA.iter_errors({**certificate, "evidence": {"method": "belief"}}))
