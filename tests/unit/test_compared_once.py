"""What the checker compares of a text and its instructions is compared once for several bounds, and anew for anything else."""

from __future__ import annotations

import copy
import json

import pytest
from benchmarks.gaussian import noisy_max

from privproof import check
from privproof_checker import Accepted, Rejected, recheck
from privproof_checker.source import proofs


@pytest.fixture(scope="module")
def certificate():
    return check(noisy_max, "1/10", "1/2", size=2).certificate


@pytest.fixture
def compared(monkeypatch):
    """What was compared."""
    proofs._last.set(None)
    seen, run = [], proofs.Comparison.run
    monkeypatch.setattr(proofs.Comparison, "run", lambda self: seen.append(self) or run(self))
    return seen


def changed(certificate, change):
    other = copy.deepcopy(certificate)
    change(other["question"])
    return recheck(other)


def test_once_for_another_delta(certificate, compared):
    assert isinstance(recheck(certificate), Accepted)
    assert isinstance(recheck(certificate), Accepted)
    assert isinstance(changed(certificate, lambda asked: asked.update(delta="3/4")), Accepted)
    assert len(compared) == 1


def test_a_delta_that_is_too_small(certificate, compared):
    assert isinstance(recheck(certificate), Accepted)
    assert isinstance(changed(certificate, lambda asked: asked.update(delta="1/1000000")), Rejected)
    assert isinstance(changed(certificate, lambda asked: asked.update(delta="-1")), Rejected)


def test_another_text(certificate, compared):
    assert isinstance(recheck(certificate), Accepted)

    def other(asked):
        [function] = asked["source"]["program"]["functions"]
        assert "sigma=4" in function["text"]
        function["text"] = function["text"].replace("sigma=4", "sigma=5")

    assert isinstance(changed(certificate, other), Rejected)
    assert isinstance(changed(certificate, other), Rejected), "what is refused is not kept"
    assert len(compared) == 3


def test_other_instructions(certificate, compared):
    assert isinstance(recheck(certificate), Accepted)

    def other(asked):
        asked["code"] = json.loads(json.dumps(asked["code"]).replace('"4"', '"5"'))
        assert asked["code"] != certificate["question"]["code"]

    assert isinstance(changed(certificate, other), Rejected)
    assert len(compared) == 2
