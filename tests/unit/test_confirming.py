"""A certificate that the checker does not accept: the verdict is unknown, and a warning says that something is wrong."""

from __future__ import annotations

import copy
from dataclasses import replace

import pytest

from privproof import check
from privproof.errors import CertificateRefused
from privproof.evidence.confirming import accepted
from privproof.formats import question_from_document
from privproof.library.noisy_max import noisy_max_question


def broken():
    verdict = check(noisy_max_question(3, improved=False), "ln(2)")
    certificate = copy.deepcopy(verdict.certificate)
    certificate["evidence"]["left_probability"] = "1/3"
    return replace(verdict, certificate=certificate)


def test_a_refused_certificate_gives_an_unknown_verdict_and_a_warning():
    with pytest.warns(CertificateRefused, match="the checker does not accept the certificate"):
        verdict = accepted(broken())
    assert verdict.status == "unknown"
    assert "the checker does not accept the certificate" in verdict.reason


def test_in_the_tests_it_is_an_error():
    with pytest.raises(CertificateRefused):
        accepted(broken())


def test_data_that_tie_are_moved_aside():
    """Without noise a number at the border belongs to two guards as they are written in certificates."""
    document = {
        "kind": "stream-automaton",
        "states": {"start": {"scale": 4, "reads": "nothing"}, "bare": {"scale": 0}, "done": {}},
        "transitions": [
            {"from": "start", "to": "bare", "store": "x"},
            {"from": "bare", "to": "done", "when": "sample < 1", "output": "a"},
            {"from": "bare", "to": "done", "when": "sample >= 1", "output": "b"},
        ],
        "scenario": {"neighbours": {"relation": "each", "within": 1}},
    }
    verdict = check(question_from_document(document), 2)
    assert verdict.status == "refuted"
    assert verdict.lower.infinite
