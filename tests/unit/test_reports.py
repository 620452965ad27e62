"""Reports of verdicts that others found: what is admitted is what would be found here, and no report makes a verdict."""

from __future__ import annotations

import copy
import json
import random
from dataclasses import replace

import pytest
from tests.amounts import spread
from tests.certificates import nested
from tests.cli.test_errands import TEXT

import privproof
import privproof.store.question_digests
from privproof import laplace, mechanism, queries, real_queries, truncated_geometric
from privproof.asking import check, question_with_claim, tight_epsilon
from privproof.compiling.posing import pose_question
from privproof.evidence.gate import Refusal
from privproof.evidence.verdicts import Verdict
from privproof.language import Mechanism, integer
from privproof.library import mechanisms
from privproof.projects.mechanism_discovery import find_targets
from privproof.projects.project_errands import _readmit_told, errand
from privproof.projects.project_results import CheckOutput, told_result
from privproof.store.stored_asking import document_entry, entry_document, reported_entry, reported_verdict

LIBRARY = {name: value for name, value in vars(mechanisms).items() if isinstance(value, Mechanism)}


@mechanism
def sparse(q: real_queries(size=3)):
    threshold = laplace(0, scale=2)
    for i, value in enumerate(q):
        if laplace(value, scale=4) > threshold:
            return i
    return -1


@mechanism
def leaking(q: real_queries(size=3)):
    threshold = laplace(0, scale=2)
    for i, value in enumerate(q):
        if value > threshold:
            return i
    return -1


@mechanism
def fair(q: queries(0, 2)):
    return [truncated_geometric(each, alpha="1/2", low=0, high=2) for each in q]


@mechanism
def unfair(q: queries(0, 2)):
    return [truncated_geometric(each, alpha="1/9", low=0, high=2) for each in q]


def asked(subject, epsilon, size=None):
    return question_with_claim(pose_question(subject, size=size).under(None), epsilon)


def report(question, **options):
    """What is sent about a question, after it has crossed."""
    verdict = check(question, **options) if question.claims else tight_epsilon(question, **options)
    sent = json.loads(json.dumps(entry_document(reported_entry(verdict, question))))
    return verdict, document_entry(sent)


def same(one, other):
    return all(
        getattr(one, name) == getattr(other, name)
        for name in ("status", "engine", "lower", "upper", "certified", "notes", "certificate", "witness")
    )


@pytest.mark.parametrize("name", spread(sorted(LIBRARY), 4))
def test_an_honest_report_is_the_verdict_that_would_be_found(name):
    open_lists = any(each.shape == "list" and each.size is None for each in LIBRARY[name].inputs.values())
    posed = pose_question(LIBRARY[name], size=2 if open_lists else None)
    for question in (question_with_claim(posed.under(None), "1"), posed.under(None)):
        verdict, entry = report(question)
        found = reported_verdict(entry, question)
        assert isinstance(found, Verdict), found
        assert same(found, verdict)


def test_alignments_cross():
    for subject, status in ((sparse, "proved"), (leaking, "refuted")):
        question = asked(subject, "1")
        verdict, entry = report(question)
        assert verdict.status == status
        found = reported_verdict(entry, question)
        assert isinstance(found, Verdict), found
        assert same(found, verdict)


def test_a_report_about_something_else_is_refused():
    cases = [
        (asked(fair, "2", 3), asked(fair, "2", 4)),  # another size
        (asked(fair, "2", 3), asked(fair, "1", 3)),  # another claim
        (asked(fair, "2", 3), asked(unfair, "2", 3)),  # another function
        (asked(sparse, "1"), asked(leaking, "1")),
        (
            asked(fair, "2", 2),
            question_with_claim(pose_question(fair, size=2, neighbours="one").under(None), "2"),
        ),  # other neighbours
    ]
    for theirs, mine in cases:
        _, entry = report(theirs)
        assert isinstance(reported_verdict(entry, mine), Refusal)


def changed(entry, change):
    certificate = copy.deepcopy(dict(entry.certificate))
    change(certificate)
    return replace(entry, certificate=certificate)


def test_changed_reports_are_refused():
    question = asked(fair, "2", 2)
    _, good = report(question)
    refuted = asked(unfair, "1/2", 2)
    _, bad = report(refuted)

    def takes(certificate):
        certificate["question"]["source"] |= {"claims": "taken", "reason": "because"}

    def other_model(certificate):
        takes(certificate)
        certificate["question"] = {
            **nested(good.certificate)["question"],
            "source": {**refuted_source, "claims": "taken", "reason": "because"},
        }

    refuted_source = nested(bad.certificate)["question"]["source"]
    cases = [
        (replace(good, certificate=nested(bad.certificate)), question),
        (replace(good, certificate=None), question),
        (replace(good, record=b"nothing"), question),
        (replace(good, record=bad.record), question),
        (changed(good, takes), question),
        (changed(good, lambda c: c.update(verdict="refuted")), question),
        (changed(good, lambda c: c["question"].update(source=None)), question),
        (changed(good, lambda c: c["question"].pop("source")), question),
        (changed(good, lambda c: c["question"].update(epsilon="1")), question),
        (changed(good, lambda c: c["question"].update(title="another")), question),
        (changed(good, other_model), refuted),
        (
            replace(good, certificate={**nested(good.certificate), "question": nested(bad.certificate)["question"]}),
            refuted,
        ),
    ]
    for entry, mine in cases:
        assert isinstance(reported_verdict(entry, mine), Refusal)


def test_instructions_that_are_not_those_of_the_text_are_refused():
    _, good = report(asked(sparse, "1"))
    question = asked(leaking, "1")
    mine = tight_epsilon(question.under(None))
    source = (nested(check(question).certificate) or {})["question"]["source"]
    assert mine.status != "proved" or mine.upper.infinite

    def lies(certificate):
        certificate["question"]["source"] = source
        certificate["question"]["title"] = question.name

    assert isinstance(reported_verdict(changed(good, lies), question), Refusal)

    def takes(certificate):
        lies(certificate)
        certificate["question"]["source"] = {**source, "claims": "taken", "reason": "because"}

    assert isinstance(reported_verdict(changed(good, takes), question), Refusal)


def test_bounds_beyond_the_certificate_are_not_certified():
    from privproof.store import stored_records as records

    question = pose_question(fair, size=2).under(None)
    verdict, entry = report(question)
    kept = {name: getattr(verdict, name) for name in records._KEPT} | {"notes": (), "reason": ""}
    kept["upper"] = privproof.epsilon("1/8")  # below the smallest epsilon
    import io

    file = io.BytesIO()
    records._RecordWriter(file, privproof.store.question_digests.question_functions(question)).dump(kept)
    assert isinstance(reported_verdict(replace(entry, record=file.getvalue()), question), Refusal)


def test_code_that_is_run_beside_its_model_is_asked_about_here():
    def ordinary(x: integer(0, 1)):
        return x if random.random() < 0.75 else 1 - x

    question = question_with_claim(pose_question(ordinary).under(None), "2")
    verdict, entry = report(question)
    assert verdict.status == "proved"
    assert isinstance(reported_verdict(entry, question), Refusal)


@pytest.mark.parametrize("status", [0, 1, 3])
def test_a_project_is_not_deceived(status, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "tight.py").write_text(TEXT.format(epsilon="1/2"))
    (target,) = find_targets(["tight.py"])
    here = errand(("check", "--no-cache", "--part", "--json", "--", target.text), target.file, 60.0)
    lie = {"sentence": "private", "text": "private", "shown": "private", "line": 1, "kept": False}
    lie["data"] = {"verdict": "proved", "reason": "so it is"}
    result = told_result(target, _readmit_told(target, here, CheckOutput(status, json.dumps(lie))), 0.0)
    assert result.outcome == ("unknown" if status == 3 else "refuted")
    assert result.data["verdict"] == result.outcome
