"""What is written for the program that was extracted from the proofs in Coq; that program itself is built and asked by `make proofs`."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

import pytest

from privproof import check, tight_epsilon
from privproof.library import EXAMPLES

CORPUS = Path(__file__).parents[2] / "proofs" / "corpus.py"


@pytest.fixture(scope="module")
def corpus():
    spec = importlib.util.spec_from_file_location("privproof_proofs_corpus", CORPUS)
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    yield module
    del sys.modules[spec.name]


def certificate(name):
    question = next(each.question() for each in EXAMPLES if each.name == name)
    verdict = check(question) if question.claims else tight_epsilon(question)
    return verdict.certificate


@pytest.mark.parametrize(
    ("name", "rule"),
    [("delta-gaussian-count", "linear"), ("geometric-chain", "dominate"), ("independent-count", "nonneg")],
)
def test_every_rule_is_met(corpus, name, rule):
    lines, left = [], corpus.Left()
    assert corpus.write([(name, certificate(name))], lines.append, left) == 1
    assert rule in {line[0] for line in lines}
    assert not left.reasons
    numbers = {word for line in lines for word in line[2].split()} - {"number", "powers", "leaf", "split"}
    assert all(part.lstrip("-").isdecimal() for word in numbers for part in word.split("/"))


def test_logarithms_and_numbers_that_pull_apart(corpus):
    lines = []
    for ratio, shift in (("1/2", "1/2"), ("1/2", "3/4"), ("2", "-1/2"), ("2", "-3/4"), ("2", "1/2")):
        numbers = corpus.fmpq(*map(int, (ratio + "/1").split("/")[:2])), corpus.fmpq(*map(int, shift.split("/")))
        corpus.of_sign(*numbers, corpus.budgets._sign(*numbers), lines.append)
    assert [" ".join(map(str, line)) for line in lines] == [
        "above 1/2 1 1/2",
        "below 3/4 1 1/2",
        "above 1/2 2 1",
        "below 3/4 2 1",
    ]
