"""The JSON Schema of certificates: it follows from the table of rules, and certificates fit it."""

from __future__ import annotations

import json

import pytest
from jsonschema import Draft202012Validator
from tests.amounts import spread
from tests.certificates import nested
from tests.regression.certificate_schema import FILE, kinds_of_questions, schema

from privproof import check, tight_epsilon
from privproof.library import EXAMPLES

DOCUMENT = json.loads(FILE.read_text(encoding="utf-8"))
SCHEMA = Draft202012Validator(DOCUMENT)


def test_it_is_a_schema():
    Draft202012Validator.check_schema(DOCUMENT)


def test_it_follows_from_the_table_of_rules():
    assert schema(DOCUMENT) == DOCUMENT, "python -m tests.regression.certificate_schema writes it anew"
    assert set(DOCUMENT["properties"]["question"]["properties"]["kind"]["enum"]) == kinds_of_questions()


@pytest.mark.parametrize("example", spread(EXAMPLES, 5), ids=lambda example: example.name)
def test_certificates_fit(example):
    question = example.question()
    verdict = check(question) if question.claims else tight_epsilon(question)
    if not verdict.certificate:
        return
    certificate = json.loads(json.dumps(dict(verdict.certificate)))
    assert not list(SCHEMA.iter_errors(certificate))
    for name in certificate:
        assert list(SCHEMA.iter_errors({each: part for each, part in certificate.items() if each != name}))
    last = certificate["facts"][-1]
    for wrong in ({"rule": "belief"}, {"hint": {"trust": "me"}}, {"uses": [-1]}, {"claim": "likely"}):
        assert list(SCHEMA.iter_errors({**certificate, "facts": [*certificate["facts"][:-1], {**last, **wrong}]}))
    assert list(SCHEMA.iter_errors(nested(certificate)))
