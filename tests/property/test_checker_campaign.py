"""The campaign against the checker, on a few certificates: nothing false is accepted, and what is false is told apart from what is true."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.amounts import examples
from tests.checker_campaign import Kept, attack, below, by_topic, contradictions, main, survey

from privproof import check, tight_epsilon
from privproof.library import EXAMPLES
from privproof_checker.numbers import epsilon

SOME = ("survey", "naive-noisy-max", "laplace-mechanism", "stream-ranges", "rappor", "laplace-noisy-max-value")


@pytest.fixture(scope="module")
def kept(tmp_path_factory):
    folder = tmp_path_factory.mktemp("kept")
    for example in EXAMPLES:
        if example.name in SOME:
            question = example.question()
            verdict = check(question) if question.claims else tight_epsilon(question)
            (folder / f"{example.name}.json").write_text(json.dumps(dict(verdict.certificate)))
    return folder


def test_nothing_false_is_accepted(kept):
    documents = [survey(path) for path in sorted(kept.glob("*.json"))]
    assert all(isinstance(each, Kept) for each in documents)
    assert not list(contradictions(documents))
    topics = by_topic(documents)
    for each in documents:
        found = attack(each, topics[each.topic], examples(8), seed=1)
        assert not found.accepted
        assert not found.broken
        assert found.tried or not each.lower


def test_what_is_accepted_is_told(kept, monkeypatch):
    """Where the bounds are taken for others than they are, true claims are asked as false ones, and their acceptance is noticed."""
    each = survey(kept / "survey.json")
    other = Kept(each.path, each.topic, each.kind, "100", each.upper, each.seconds)
    assert attack(each, [other], 0, seed=1).accepted
    [told] = contradictions([each, other])
    assert "at least 100" in told


@pytest.mark.parametrize("bound", ["ln(3)", "1", "1/1000", "ln(4)+1/2", "inf", "4000"])
def test_a_smaller_epsilon(bound):
    less = below(bound)
    assert less is not None
    assert epsilon(less).compare(epsilon(bound)) < 0


def test_the_command(kept, capsys):
    assert main([str(kept), "--mutants", "1", "--jobs", "1"]) == 0
    told = capsys.readouterr().out
    assert f"{len(SOME)} documents without privproof: 0 problems" in told
    assert ": 0 accepted" in told


def test_a_changed_document_is_a_problem(tmp_path: Path, kept, capsys):
    document = json.loads((kept / "survey.json").read_text())
    document["question"]["epsilon"] = "1/100"
    (tmp_path / "changed.json").write_text(json.dumps(document))
    assert main([str(tmp_path), "--mutants", "1", "--jobs", "1"]) == 1
    assert "PROBLEM rejected" in capsys.readouterr().out
