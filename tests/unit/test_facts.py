"""The language of certificates: facts in order, each used once, hints with the fields of their rule, and documents of version 1."""

from __future__ import annotations

import copy
import json
from pathlib import Path

import pytest
from tests.certificates import nested
from tests.checker_campaign import spoilt

from privproof import check, tight_epsilon
from privproof.library import EXAMPLES
from privproof.library.laplace.sums import laplace_mechanism
from privproof_checker import Accepted, Rejected, recheck
from privproof_checker.certificate_argument import WITNESSES
from privproof_checker.certificate_facts import FORMAT, verdict_of
from privproof_checker.hints import TYPES
from privproof_checker.rules import RULES
from privproof_checker.version_one import second_version

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "certificates.md"
SOME = ("survey", "naive-noisy-max", "laplace-mechanism", "stream-ranges", "rappor")


@pytest.fixture(scope="module")
def documents():
    found = {}
    for example in EXAMPLES:
        if example.name in SOME:
            question = example.question()
            verdict = check(question) if question.claims else tight_epsilon(question)
            found[example.name] = json.loads(json.dumps(dict(verdict.certificate)))
    return found


@pytest.fixture(scope="module")
def proof():
    return json.loads(json.dumps(dict(tight_epsilon(laplace_mechanism).certificate)))


def rejected(document, place=None):
    outcome = recheck(document)
    assert isinstance(outcome, Rejected), outcome
    assert outcome.place != "checker", outcome
    if place is not None:
        assert outcome.place == place
    return outcome.reason


def test_what_is_written_is_accepted_and_its_order_counts(documents):
    for document in documents.values():
        assert document["format"] == FORMAT
        assert isinstance(recheck(document), Accepted)
        for told, facts in spoilt(document["facts"]):
            assert rejected({**document, "facts": facts}), told


def test_version_1_there_and_back(documents):
    for document in documents.values():
        before = nested(document)
        assert before["version"] == 1
        assert "facts" not in before
        assert second_version(before)["question"] == document["question"]
        one, two = recheck(before), recheck(document)
        assert (one.verdict, one.statement, one.lower, one.upper) == (two.verdict, two.statement, two.lower, two.upper)
        assert second_version(document) == document
        assert verdict_of(before) == verdict_of(document)


@pytest.mark.parametrize(
    ("change", "place"),
    [
        ({"version": 3}, "version"),
        ({"version": True}, "version"),
        ({"format": "privproof-certificate/3"}, "format"),
        ({"verdict": "unknown"}, "verdict"),
        ({"evidence": []}, "evidence"),
        ({"evidence": {"method": "epsilon", "epsilon": "1", "trust": "me"}}, "document"),
    ],
)
def test_other_versions_are_refused_clearly(documents, change, place):
    rejected({**nested(documents["survey"]), **change}, place)


def test_a_member_that_is_not_named_is_refused(documents):
    for document in documents.values():
        assert "unknown member" in rejected({**document, "verdict": "proved"}, "document")


def facts_of(document, rule):
    return [number for number, fact in enumerate(document["facts"]) if fact["rule"] == rule]


def test_every_condition_is_met_by_exactly_one_fact(proof):
    linear, [alignment] = facts_of(proof, "linear"), facts_of(proof, "alignment")
    assert proof["facts"][alignment]["uses"] == linear
    assert [proof["facts"][number]["claim"] for number in linear] == [{"contradiction": k} for k in range(len(linear))]
    turned = copy.deepcopy(proof)
    turned["facts"][alignment]["uses"].reverse()
    assert "met by a contradiction of this number" in rejected(turned)
    for wrong in ({"contradiction": len(linear)}, {"contradiction": -1}, {"part": 0}, "proved", {}, None, [0]):
        other = copy.deepcopy(proof)
        other["facts"][linear[0]]["claim"] = wrong
        rejected(other, f"facts[{linear[0]}]")
    exchanged = copy.deepcopy(proof)
    hints = [exchanged["facts"][number].get("hint", {}) for number in linear]
    for number, hint in zip(linear, reversed(hints), strict=True):
        exchanged["facts"][number]["hint"] = hint
    rejected(exchanged)


def test_a_sharper_or_another_claim_is_what_is_checked(proof):
    [loss], [alignment] = facts_of(proof, "loss"), facts_of(proof, "alignment")
    for number, claim in (
        (loss, {"refuted": {"epsilon": "1"}}),
        (loss, {"refuted": {"epsilon": "1", "delta": "0"}}),
        (loss, {"proved": {"epsilon": "1"}}),
        (loss, "refuted"),
        (loss, "source"),
        (alignment, {"proved": {"epsilon": "1/2"}}),
        (alignment, {"proved": {"epsilon": "2"}}),
        (alignment, {"proved": {"relation": "one"}}),
        (alignment, {"refuted": {"epsilon": "1"}}),
    ):
        other = copy.deepcopy(proof)
        other["facts"][number]["claim"] = claim
        rejected(other)


def test_the_text_has_its_fact(proof):
    [source], last = facts_of(proof, "source"), len(proof["facts"]) - 1
    without = copy.deepcopy(proof)
    without["facts"][last]["uses"].remove(source)
    assert "no later fact uses this one" in rejected(without, f"facts[{source}]")
    del without["facts"][source]
    for fact in without["facts"]:
        fact["uses"] = [use - (use > source) for use in fact.get("uses", [])]
    assert "about the source" in rejected(without)
    none = copy.deepcopy(proof)
    del none["question"]["source"]
    rejected(none)


def test_a_place_is_that_of_a_fact(proof):
    linear = next(
        number for number in facts_of(proof, "linear") if proof["facts"][number].get("hint", {}).get("lemmas")
    )
    other = copy.deepcopy(proof)
    other["facts"][linear]["hint"]["lemmas"][0] = 7
    rejected(other, f"facts[{linear}].hint.lemmas")
    [alignment] = facts_of(proof, "alignment")
    del other["facts"][alignment]["hint"]["cuts"]
    rejected(other, f"facts[{alignment}].hint.cuts")


def test_long_chains_of_facts_are_refused(documents):
    document = documents["survey"]
    facts = list(document["facts"])
    for _ in range(100):
        facts.append({"rule": "verdict", "claim": "proved", "uses": [len(facts) - 1]})
    assert "beyond the limit" in rejected({**document, "facts": facts})
    many = [{"rule": "verdict", "claim": "proved", "uses": [0] * 100_000}]
    assert "earlier facts alone" in rejected({**document, "facts": many})


@pytest.mark.parametrize("facts", [None, {}, [], [None], [[]], [{}], [{"rule": 1}], [{"rule": "word"}], ["proved"]])
def test_what_is_no_list_of_facts(documents, facts):
    rejected({**documents["survey"], "facts": facts})


def test_one_table_of_rules_and_every_rule_on_the_page():
    page = PAGE.read_text(encoding="utf-8")
    for (kind, name), rule in RULES.items():
        assert f"`{name}`" in page or name in ("triangle inequality", "every pair", "one output"), (kind, name)
        assert rule.theorem
        for field in rule.hint.fields.values():
            assert field.type in TYPES
    for name in ("linear", "source", "growth", "epsilon", "verdict"):
        assert f"`{name}`" in page
    assert all((kind, name) in RULES for kind, name in WITNESSES.items())
