"""The argument of an accepted certificate: every rule is told, and every verdict of the library."""

from __future__ import annotations

import json
import re

import pytest
from tests.amounts import spread

from privproof import check, tight_epsilon
from privproof.library import EXAMPLES
from privproof_checker import recheck, rules
from privproof_checker.derived_facts import argument, argument_text
from privproof_checker.rules import rule_of


def explained(example):
    question = example.question()
    verdict = check(question) if question.claims else tight_epsilon(question)
    return None if not verdict.certificate else recheck(dict(verdict.certificate))


@pytest.mark.parametrize("example", spread(EXAMPLES, 6), ids=lambda example: example.name)
def test_every_verdict_has_an_argument(example):
    accepted = explained(example)
    if accepted is None:
        return
    facts = argument(accepted)
    assert any(fact.claim.startswith(accepted.verdict) for fact in facts)
    for fact in facts:
        assert fact.rule
        assert fact.claim
        assert fact.why.endswith(".")
    lines = argument_text(accepted).splitlines()
    assert max(map(len, lines)) <= 110
    assert lines[-1].strip().endswith("question.")


def test_every_theorem_is_a_sentence_of_its_own():
    for (kind, method), rule in rules.RULES.items():
        assert rule_of(kind, method) is rule
        assert rule.theorem[0].isupper() or rule.theorem.startswith("bound * Q"), method
        assert rule.theorem.endswith("."), method
        assert all(words.count("{}") == 1 for _, words in rule.figures)
    assert rule_of("hmm", "word") is rule_of("transducer", "word")


def test_the_command_tells_the_argument(command):
    example = next(each for each in EXAMPLES if each.name == "survey")
    file = command.write("survey.json", json.dumps(dict(tight_epsilon(example.question()).certificate)))
    done = command("recheck", file, "--explain")
    assert done.returncode == 0
    assert re.search(r"2 +\w+ +proved: ", done.stdout)
    assert "Trusted: this checker" in done.stdout
    _, data = command.json("recheck", file, "--explain")
    assert data["argument"]
    assert all(set(each) == {"facts", "rule", "claim", "why", "uses"} for each in data["argument"])
    assert "argument" not in command.json("recheck", file)[1]
