"""A certificate that the checker does not accept: the verdict is unknown, and a warning says that something is wrong."""

from __future__ import annotations

import copy
from dataclasses import replace

import pytest

from privproof import check
from privproof.errors import CertificateRefused
from privproof.evidence.confirming import accepted
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
