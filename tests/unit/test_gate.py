"""The gate: no verdict but by the certificate that was checked, and none that says more than it."""

from __future__ import annotations

import ast
import copy
import json
from contextlib import contextmanager
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from types import SimpleNamespace

import pytest
from tests.cases import CASES
from tests.certificates import nested, recheck

import privproof
import privproof_checker as checker
from privproof import check, epsilon, laplace, mechanism, randomized_response, records, tight_epsilon
from privproof.compiling.covering import Covered
from privproof.engines.parametric import Proof
from privproof.engines.words.word_findings import EnumerationProof, Finding, TensorProof
from privproof.errors import CertificateRefused
from privproof.evidence import Proved, Refuted, Unknown, gate
from privproof.evidence import engine_answers as answers
from privproof.evidence.engine_answers import Answer
from privproof.exact import INFINITE, Budget
from privproof.formats import read_question
from privproof.library.laplace.laplace_noisy_max import noisy_max_little_noise
from privproof.library.laplace.sums import laplace_mechanism, noisy_histogram_all_change
from privproof.library.noisy_max import noisy_max_question
from privproof.logic.formula_engine import model_check
from privproof.logic.library.logic_models import survey
from privproof.release import Chain, Laplace, Map, PlanarGeometric, Resampled, clamped, verify, verify_locations
from privproof.release.release_examples import lecture_release
from privproof.release.series_queries import count, histogram
from privproof_checker import Accepted, Rejected, front
from privproof_checker.certificate_facts import verdict_of

ROOT = Path(privproof.__file__).parent
EXAMPLE_FILES = ROOT.parent.parent / "examples"


# ------------------------------------------------------------------------------------------------- who makes verdicts


MAKERS = ("Proved", "Refuted", "Seal")


def calls(folder):
    """Every place below a folder that may make a proved or refuted verdict, or a seal; annotations and isinstance make none."""
    for path in sorted(folder.rglob("*.py")):
        text = path.read_text(encoding="utf-8")
        if not any(word in text for word in MAKERS):
            continue
        tree = ast.parse(text)
        harmless = {id(part) for node in ast.walk(tree) for part in _harmless(node)}
        for node in ast.walk(tree):
            named = node.id if isinstance(node, ast.Name) else node.attr if isinstance(node, ast.Attribute) else ""
            if named in MAKERS and id(node) not in harmless:
                yield str(path.relative_to(folder)), named


def _harmless(node):
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "isinstance":
        yield from (part for argument in node.args[1:] for part in ast.walk(argument))
    for name in ("annotation", "returns"):
        if getattr(node, name, None) is not None:
            yield from ast.walk(getattr(node, name))


def test_verdicts_are_made_in_one_module():
    assert {where for where, _ in calls(ROOT)} <= {"evidence/gate.py"}


@pytest.mark.parametrize(
    "line", ["Proved(q, 'e')", "made = Refuted", "verdicts.Proved(q, 'e')", "Seal()", "map(Proved, xs)"]
)
def test_a_maker_elsewhere_would_be_seen(tmp_path, line):
    (tmp_path / "engine.py").write_text(line)
    assert list(calls(tmp_path))


def test_a_type_test_is_no_maker(tmp_path):
    (tmp_path / "page.py").write_text("def f(v: Proved) -> Refuted:\n    return isinstance(v, Proved | Refuted)")
    assert not list(calls(tmp_path))


@pytest.mark.parametrize("kind", [Proved, Refuted])
def test_nothing_else_can_make_one(kind):
    with pytest.raises(TypeError, match="by the gate alone"):
        kind(noisy_max_question(2, improved=True), "an engine")


def test_what_was_checked_cannot_be_changed_afterwards():
    verdict = check(noisy_max_question(2, improved=True), "3")
    other = check(noisy_max_question(3, improved=True), "2")
    for changed in (
        {"question": other.question},
        {"certificate": other.certificate},
        {"certificate": copy.deepcopy(verdict.certificate)},
        {"lower": epsilon(0)},
        {"upper": epsilon("1/100")},
        {"witness": None},
        {"seal": other.seal},
        {"seal": None},
        {"certified": replace(verdict.certified, lower=not verdict.certified.lower)},
    ):
        with pytest.raises(TypeError, match="by the gate alone"):
            replace(verdict, **changed)
    assert replace(verdict, notes=("a remark",), seconds=1.0).status == "proved"


# --------------------------------------------------------------------------------------------- one of every kind


def _chain():
    return Chain.of({"rest": {"rest": "0.9", "walk": "0.1"}, "walk": {"rest": "0.4", "walk": "0.6"}})


def _model(name):
    return read_question(EXAMPLE_FILES / "models" / name)


ASKED = {
    "tensors, proved": lambda: check(noisy_max_question(2, improved=True), "3"),
    "tensors, another size": lambda: check(noisy_max_question(3, improved=True), "3"),
    "tensors, another epsilon": lambda: check(noisy_max_question(2, improved=True), "2"),
    "tensors, refuted": lambda: check(noisy_max_question(3, improved=False), "ln(2)"),
    "tensors, tight": lambda: tight_epsilon(noisy_max_question(2, improved=True)),
    "cone, proved": lambda: check(_model("survey.yaml"), "3", engine="frontier"),
    "word, refuted": lambda: check(_model("survey.yaml"), "1/100", engine="frontier"),
    "event, refuted": lambda: check(_model("survey.yaml"), "1/100", "1/1000"),
    "event, proved": lambda: check(_model("survey.yaml"), "3", "1/1000"),
    "every length, proved": lambda: check(_model("activity.yaml"), "6"),
    "parameters, proved": lambda: check(_model("unknown_prior.yaml"), "3"),
    "parameters, refuted": lambda: check(_model("unknown_prior.yaml"), "1/100"),
    "stream, proved": lambda: check(_model("streams/above_threshold.yaml"), "100"),
    "stream, tight": lambda: tight_epsilon(_model("streams/above_threshold.yaml")),
    "stream, refuted": lambda: check(_model("streams/above_threshold.yaml"), "1/100"),
    "stream, none": lambda: tight_epsilon(_model("streams/no_cutoff.yaml")),
    "release, refuted": lambda: check(lecture_release()),
    "release, proved": lambda: verify(_chain(), length=8, query=count("walk"), noise=Laplace.of(8), epsilon=1),
    "release, another prior": lambda: verify(
        Chain.of({"rest": {"rest": "0.8", "walk": "0.2"}, "walk": {"rest": "0.4", "walk": "0.6"}}),
        length=8,
        query=count("walk"),
        noise=Laplace.of(8),
        epsilon=1,
    ),
    "formula, proved": lambda: model_check(survey(), "D[ln(3), 0](X out1)").verdict,
    "formula, refuted": lambda: model_check(survey(), "D[ln(2), 0](X out1)").verdict,
    "formula, another": lambda: model_check(survey(), "D[ln(4), 0](X out1)").verdict,
    "program, proved": lambda: check(laplace_mechanism, "1"),
    "program, tight": lambda: tight_epsilon(laplace_mechanism),
    "program, for every size": lambda: tight_epsilon(noisy_histogram_all_change),
    "event, tight": lambda: tight_epsilon(_model("survey.yaml"), "1/4"),
    "release, refuted by a bin": lambda: verify(
        _chain(), length=8, query=histogram(["rest", "walk"]), noise=Laplace.of(1), epsilon="1/10"
    ),
    "program, refuted": lambda: check(noisy_max_little_noise, "1/4"),
    "location, proved": lambda: (
        verify_locations(clamped(PlanarGeometric.of("ln(2)"), Map.rectangle((0, 0), (3, 3)))).verdict
    ),
    "location, refuted": lambda: (
        verify_locations(Resampled(PlanarGeometric.of("ln(2)"), Map.rectangle((0, 0), (3, 3)))).verdict
    ),
}


@contextmanager
def listening():
    """The answers that pass the gate inside the block, each with its certificate."""
    heard = []
    confirm = gate.confirm

    def listen(answer, certificate):
        found = confirm(answer, certificate)
        if not isinstance(found, gate.Refusal):
            heard.append((answer, certificate))
        return found

    gate.confirm = listen
    try:
        yield heard
    finally:
        gate.confirm = confirm


def turned(certificate, verdict):
    """The same certificate, whose last fact claims another verdict."""
    *facts, last = certificate["facts"]
    return {**certificate, "facts": [*facts, {**last, "claim": verdict}]}


@pytest.fixture(scope="module")
def admitted():
    """One answer of every kind with the certificate by which it passed."""
    found = {}
    for name, ask in ASKED.items():
        with listening() as heard:
            verdict = ask()
        assert verdict.status in ("proved", "refuted"), (name, verdict)
        found[name] = next(pair for pair in heard if pair[1] is verdict.certificate)
    return found


def test_the_very_document_is_attached():
    for name, ask in ASKED.items():
        with listening() as heard:
            verdict = ask()
        assert any(certificate is verdict.certificate for _, certificate in heard), name
        assert json.loads(json.dumps(verdict.certificate)), name


def test_no_answer_passes_by_the_certificate_of_another(admitted):
    tried = 0
    for name, (answer, own) in admitted.items():
        for other, (_, certificate) in admitted.items():
            if name != other and certificate["question"] != own["question"]:
                assert isinstance(gate.confirm(answer, certificate), gate.Refusal), (name, other)
                tried += 1
    assert tried > 400


def mutants(certificate):
    """The certificate with one part exchanged for something that means another thing."""
    for verdict in ("proved", "refuted", "unknown"):
        if verdict != verdict_of(certificate):
            yield "verdict", turned(certificate, verdict)
    question = certificate["question"]
    exchanged = {
        "epsilon": ("1/7", "ln(5)", "inf", "0"),
        "delta": ("1/7", "0"),
        "pointwise": (True, False),
        "horizon": ("1", "2", "up to 3", "unbounded"),
        "relation": ("each", "one", "monotone"),
        "size": (1, 2, 7, None),
        "within": ("2", "1/2"),
        "claim": ({"constant": "1/7", "terms": {}},),
        "states": ([0], [1], ["a", "b"]),
        "formula": (["true"], ["label", "out1"]),
        "kind": ("hmm", "transducer", "stream", "program", "release", "logic", "location", "pufferfish"),
        "lengths": ([3], [9]),
        "priors": ([],),
        "noise": ({"kind": "laplace", "scale": "100"},),
        "parameters": ([],),
        "pairs": ([],),
    }
    for member, values in exchanged.items():
        for value in values:
            if member in question and question[member] != value:
                yield member, {**certificate, "question": {**question, member: value}}
    for member in question:
        if member != "title":
            less = {name: value for name, value in question.items() if name != member}
            yield f"no {member}", {**certificate, "question": less}
    scenario = question.get("scenario")
    if isinstance(scenario, dict) and isinstance(scenario.get("neighbours"), dict):
        for relation in ("each", "one", "monotone"):
            if scenario["neighbours"].get("relation") != relation:
                near = {**scenario["neighbours"], "relation": relation}
                yield (
                    "relation",
                    {**certificate, "question": {**question, "scenario": {**scenario, "neighbours": near}}},
                )
    yield "facts", {**certificate, "facts": []}
    yield "format", {**certificate, "format": "something else"}


@pytest.mark.parametrize("name", ASKED)
def test_one_part_exchanged_and_it_does_not_pass(name, admitted):
    answer, certificate = admitted[name]
    tried = 0
    for part, mutant in mutants(certificate):
        assert isinstance(gate.confirm(answer, mutant), gate.Refusal), (name, part)
        tried += 1
    assert tried >= 8


@pytest.mark.parametrize("name", ASKED)
def test_an_answer_that_says_something_else_does_not_pass(name, admitted):
    answer, certificate = admitted[name]
    flipped = "refuted" if answer.status == "proved" else "proved"
    assert isinstance(gate.confirm(replace(answer, status=flipped), certificate), gate.Refusal)
    outcome = gate.recheck(certificate)
    if outcome.upper is not None and not outcome.upper.infinite:
        above = epsilon(Fraction(10**6))
        assert isinstance(gate.confirm(replace(answer, lower=above, upper=INFINITE), certificate), gate.Refusal)
    if outcome.lower is not None and outcome.lower.compare(epsilon(0)) > 0:
        nothing = replace(answer, lower=epsilon(0), upper=epsilon(0))
        assert isinstance(gate.confirm(nothing, certificate), gate.Refusal)


# -------------------------------------------------------------------------------------------- what a certificate shows


@pytest.mark.parametrize(
    "name",
    [
        "tensors, proved",
        "tensors, refuted",
        "tensors, tight",
        "stream, proved",
        "stream, tight",
        "program, tight",
        "event, tight",
    ],
)
def test_both_bounds_are_certified_where_that_is_cheap(name):
    verdict = ASKED[name]()
    assert verdict.tight is not None
    assert verdict.certified.lower
    assert verdict.certified.upper
    assert not verdict.uncertified


def test_a_bound_that_the_certificate_does_not_show_says_so(admitted):
    answer, certificate = admitted["tensors, proved"]
    sharper = gate.confirm(replace(answer, lower=answer.lower, upper=answer.upper), certificate)
    assert sharper.certified.upper
    plain = {name: part for name, part in nested(certificate).items() if name not in ("bounds", "witness")}
    verdict = gate.confirm(answer, plain)
    assert (verdict.certified.lower, verdict.certified.upper) == (False, False)
    assert verdict.uncertified == "not certified"


def test_bounds_from_elsewhere_are_not_certified():
    verdict = check(noisy_max_question(2, improved=True), "3")
    raised = gate.with_bounds(verdict, lower=epsilon("0"), upper=epsilon("5/2"))
    assert raised.certified.lower
    assert raised.certified.upper
    with pytest.raises(ValueError, match="the certificate shows"):
        gate.with_bounds(verdict, lower=epsilon(4))


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_the_corpus_is_certified_from_both_sides(case):
    verdict = tight_epsilon(case.question())
    assert verdict.certified.lower, verdict
    assert verdict.certified.upper, verdict


# --------------------------------------------------------------------------------------------------- engines that lie


def lie_about_tensors(monkeypatch):
    from privproof.engines.words.bounded_engines import TensorEngine

    monkeypatch.setattr(TensorEngine, "check", lambda *_: Finding(epsilon(0), epsilon("1/100"), proof=TensorProof()))
    return lambda: check(noisy_max_question(2, improved=False), "1/2", engine="tensors")


def lie_about_words(monkeypatch):
    from privproof.engines.words.bounded_engines import FrontierEngine

    monkeypatch.setattr(
        FrontierEngine, "check", lambda *_: Finding(epsilon(0), epsilon("1/100"), proof=EnumerationProof())
    )
    return lambda: check(_model("survey.yaml"), "1/100", engine="frontier")


def lie_about_streams(monkeypatch):
    from privproof.engines.streams import stream_engine as about_streams

    true = about_streams.solve

    def cheap(*given):
        return replace(true(*given), cost=epsilon("1/100").shift)

    monkeypatch.setattr(about_streams, "solve", cheap)
    return lambda: check(_model("streams/above_threshold.yaml"), "1/50")


def lie_about_priors(monkeypatch):
    from privproof.engines.parametric import parametric_engine as under_priors

    true = under_priors.prove

    def always(conditions, bound, delta, monitor):
        found = true(conditions, 100, delta, monitor)
        assert isinstance(found, Proof)
        return replace(found, bound=bound)

    monkeypatch.setattr(under_priors, "prove", always)
    return lambda: check(_model("unknown_prior.yaml"), "1/100")


def lie_about_releases(monkeypatch):
    from privproof.release import release_engine as about_releases

    true = about_releases.loss_of
    monkeypatch.setattr(about_releases, "largest_loss", lambda laws, a: replace(true(laws[0], a), low=0.0, high=1e-9))
    monkeypatch.setattr(about_releases, "loss_of", lambda laws, a: replace(true(laws, a), low=0.0, high=1e-9))
    return lambda: verify(_chain(), length=8, query=count("walk"), noise=Laplace.of(1), epsilon="1/100")


def lie_about_formulas(monkeypatch):
    from privproof.logic.model_checking import Checker

    true = Checker.truth
    monkeypatch.setattr(Checker, "truth", lambda self, formula: 1 - true(self, formula))
    return lambda: model_check(survey(), "D[ln(2), 0](X out1)")


def lie_about_locations(monkeypatch):
    from privproof.release.locations.site_comparisons import SiteComparison

    true = SiteComparison._found

    def proved(self, status, worst, bits, method, reason=""):
        return true(self, "proved", worst, bits, "triangle inequality", reason)

    monkeypatch.setattr(SiteComparison, "_found", proved)
    return lambda: verify_locations(Resampled(PlanarGeometric.of("ln(2)"), Map.rectangle((0, 0), (3, 3))))


def lie_about_programs(monkeypatch):
    from privproof.engines.laplace import engine as about_programs
    from privproof.library.laplace.laplace_noisy_max import noisy_max as honest
    from privproof.library.laplace.laplace_noisy_max import noisy_max_little_noise as broken

    true = about_programs.attempts

    def swapped(mechanism, claim, monitor, size=None, **_):
        yield from true(honest, claim, monitor, size=size)

    monkeypatch.setattr(about_programs, "attempts", swapped)
    monkeypatch.setattr(about_programs, "program_agreement", lambda *_: Covered(None, 60, frozenset(), ()))
    monkeypatch.setattr(about_programs.Refuter, "stage", lambda *_: None)
    monkeypatch.setattr(about_programs.Refuter, "pumped", lambda *_: None)
    return lambda: check(broken, engine="laplace")  # others refute it by running it


LIES = [value for name, value in list(globals().items()) if name.startswith("lie_about_")]


@pytest.mark.parametrize("lie", LIES, ids=lambda lie: lie.__name__)
def test_an_engine_that_lies_is_not_believed(lie, monkeypatch):
    ask = lie(monkeypatch)
    with pytest.warns(CertificateRefused):
        verdict = ask()
    assert verdict.status == "unknown"


@pytest.mark.parametrize("lie", LIES, ids=lambda lie: lie.__name__)
def test_without_the_gate_the_lie_is_told(lie, monkeypatch):
    """The test above can fail: with a checker that accepts everything the lie becomes a verdict."""
    ask = lie(monkeypatch)

    def believing(certificate):
        return Accepted(verdict_of(certificate), "so it is said", question=certificate["question"])

    monkeypatch.setattr(gate, "recheck", believing)
    monkeypatch.setattr(answers, "question_document", lambda question, compiled=None: {"kind": "anything"})
    assert ask().status != "unknown"


def test_what_does_not_pass_keeps_nothing_but_the_reason():
    answer = Answer(
        status="proved",
        question=noisy_max_question(2, improved=False).under(Budget(epsilon("1/100"))),
        engine="an engine",
        evidence={"method": "tensors"},
        lower=epsilon("1/100"),
        upper=epsilon("1/100"),
    )
    with pytest.warns(CertificateRefused, match="does not accept"):
        verdict = gate.admit(answer)
    assert isinstance(verdict, Unknown)
    assert (verdict.lower, verdict.upper, verdict.certificate) == (epsilon(0), INFINITE, None)


def test_the_memory_of_the_tests_holds_whole_documents(monkeypatch):
    """What the gate had checked is known again in a copy; what differs in one number is checked, and refused."""
    certificate = json.loads(json.dumps(check(noisy_max_question(2, improved=False), "ln(4)").certificate))
    monkeypatch.setattr(checker, "recheck", lambda document, limits: (asked.append(document), real(document))[1])
    asked, real = [], checker.front.recheck
    assert isinstance(recheck(certificate), Accepted)
    assert asked == []
    certificate["question"]["epsilon"] = "ln(2)"
    assert isinstance(recheck(certificate), Rejected)
    assert asked == [certificate]


@mechanism(epsilon="ln(3)")
def survey_of_one(data: records(0, 1, size=1)):
    return randomized_response(data[0], truth="3/4")


def _proof():
    """An answer that passes, with its certificate and what the checker says of it."""
    with listening() as heard:
        check(noisy_max_question(2, improved=True), "ln(4)")
    answer, certificate = heard[-1]
    return answer, certificate, gate.recheck(certificate)


def test_what_the_checker_establishes_is_compared_with_what_is_claimed(monkeypatch):
    answer, certificate, outcome = _proof()
    assert isinstance(gate.confirm(answer, certificate), gate.Verdict)
    formula = SimpleNamespace(growth=SimpleNamespace(formula=SimpleNamespace(told="size*ln(2)")))
    for other, claimed, said in (
        (replace(outcome, question="nothing"), answer, "no question"),
        (replace(outcome, verdict="refuted"), answer, "it is refuted"),
        (replace(outcome, upper=epsilon(5)), answer, "another epsilon"),
        (outcome, replace(answer, details=formula), "another formula"),
        (replace(outcome, details={"growth": "size*ln(3)"}), replace(answer, details=formula), "another formula"),
    ):
        monkeypatch.setattr(gate, "recheck", lambda certificate, other=other: other)
        told = gate.confirm(claimed, certificate)
        assert isinstance(told, gate.Refusal)
        assert said in told.reason


def test_what_was_kept_is_compared_with_what_is_asked_now(monkeypatch):
    answer, certificate, outcome = _proof()
    asked = answer.question
    assert isinstance(gate.readmit(answer, certificate, asked), Proved)
    question = certificate["question"]
    wider = asked.under(Budget(epsilon("ln(3)")))
    for said, kept, document, now in (
        ("something else", answer, {**certificate, "question": None}, asked),
        ("something else", answer, turned(certificate, "refuted"), asked),
        ("its claim", answer, certificate, wider),
        ("its epsilon", answer, {**certificate, "question": {**question, "epsilon": "ln(5)"}}, asked),
        ("its delta", answer, {**certificate, "question": {**question, "delta": "1/7"}}, asked),
        ("its title", answer, {**certificate, "question": {**question, "title": "another"}}, asked),
        ("its model", answer, {**certificate, "question": {**question, "more": 1}}, asked),
        ("does not accept", answer, {**certificate, "facts": certificate["facts"][-1:]}, asked),
    ):
        told = gate.readmit(kept, document, now)
        assert isinstance(told, gate.Refusal)
        assert said in told.reason
    for other, reason in (
        (replace(outcome, verdict="refuted"), "something else"),
        (replace(outcome, question={}), "something else"),
        (replace(outcome, upper=epsilon(5)), "another epsilon"),
    ):
        monkeypatch.setattr(gate, "recheck", lambda document, other=other: other)
        told = gate.readmit(answer, certificate, asked)
        assert isinstance(told, gate.Refusal)
        assert reason in told.reason


def test_what_was_kept_about_another_program_is_not_taken():
    with listening() as heard:
        check(survey_of_one)
    answer, certificate = heard[-1]
    asked, question = answer.question, certificate["question"]
    assert isinstance(gate.readmit(answer, certificate, asked), Proved)
    other = {**certificate, "question": {**question, "source": {**question["source"], "program": {}}}}
    told = gate.readmit(answer, other, asked)
    assert isinstance(told, gate.Refusal)
    assert "its program" in told.reason


@mechanism
def lettered(data: records("a", "b")):
    return laplace(data.count("a"), scale=1)


def test_a_text_beyond_the_checker_is_said_to_be_taken_and_nothing_is_established_twice(monkeypatch):
    seen = []
    established = front._establish_fact
    monkeypatch.setattr(front, "_establish_fact", lambda *given: seen.append(given) or established(*given))
    verdict = check(lettered, epsilon=1)
    assert verdict.status == "proved"
    assert len(seen) == 1
    assert verdict.certificate["question"]["source"]["claims"] == "taken"
    monkeypatch.undo()
    found = front.recheck(json.loads(json.dumps(verdict.certificate)))
    assert isinstance(found, Accepted)
    assert found.details["source"]["taken"]


def test_without_the_gate_a_text_beyond_the_checker_is_not_taken():
    certificate = copy.deepcopy(check(lettered, epsilon=1).certificate)
    source = certificate["question"]["source"]
    source["claims"] = "established"
    del source["reason"]
    found = front.recheck(certificate)
    assert isinstance(found, Rejected)
    assert found.beyond
