"""A verdict as a value: it crosses processes, has one line, prints what the command prints, and shows itself in a notebook."""

from __future__ import annotations

import json
import pickle
import subprocess
import sys
from dataclasses import replace
from fractions import Fraction
from multiprocessing import get_context

import pytest
from tests.certificates import nested, recheck
from tests.commands import MODELS, environment

import privproof
from privproof import check, parse_formula, read_question, tight_epsilon
from privproof.evidence.gate import with_bounds
from privproof.exact import epsilon
from privproof.exact.probabilities import loss_of
from privproof.library import EXAMPLES
from privproof.library.noisy_max import noisy_max_question
from privproof.logic.formula_question import FormulaQuestion
from privproof.logic.library.logic_models import survey
from privproof.release import Chain, Laplace, PlanarGeometric, count, verify
from privproof.release.locations.location_question import LocationQuestion
from privproof_checker import Accepted

CHAIN = Chain.of({"rest": {"rest": "0.9", "walk": "0.1"}, "walk": {"rest": "0.4", "walk": "0.6"}})


def example(name):
    return next(e.question() for e in EXAMPLES if e.name == name)


KINDS = {
    "words, refuted": lambda: check(noisy_max_question(3, improved=False), "ln(2)"),
    "words, tight": lambda: tight_epsilon(noisy_max_question(2, improved=True)),
    "words, no epsilon": lambda: tight_epsilon(read_question(MODELS / "family.yaml")),
    "a function, proved": lambda: check(example("plain-geometric"), "100"),
    "secrets": lambda: tight_epsilon(example("contagious-count")),
    "a model with an unknown prior": lambda: check(read_question(MODELS / "unknown_prior.yaml"), "100"),
    "continuous noise, proved": lambda: check(example("laplace-mechanism")),
    "continuous noise, refuted": lambda: check(example("laplace-noisy-histogram-little-noise")),
    "a stream, proved": lambda: check(read_question(MODELS / "streams" / "above_threshold.yaml"), "100"),
    "a stream, refuted": lambda: check(read_question(MODELS / "streams" / "above_threshold.yaml"), "1/100"),
    "a release": lambda: verify(CHAIN, length=6, query=count("walk"), noise=Laplace.of(1), epsilon=1),
    "a formula": lambda: check(FormulaQuestion(survey(), parse_formula("D[ln(3), 0](X out1)"), (0, 1))),
    "a location": lambda: check(LocationQuestion(PlanarGeometric.of("ln(2)"), epsilon("ln(2)"))),
    "nothing known": lambda: check(noisy_max_question(2, improved=False), "1", engine="smt"),
}


@pytest.fixture(scope="module", params=KINDS, ids=str)
def verdict(request):
    return KINDS[request.param]()


def test_it_crosses_processes(verdict):
    again = pickle.loads(pickle.dumps(verdict))
    if verdict.question.family != "formula":  # a process is equal to itself alone
        assert again == verdict
    assert hash(again) == hash(verdict)
    assert str(again) == str(verdict)
    assert again.to_dict() == verdict.to_dict()
    if verdict.certificate is not None:
        assert isinstance(recheck(nested(again.certificate)), Accepted)
        with pytest.raises(TypeError, match="by the gate alone"):
            replace(again, certificate={})


def test_it_has_one_line(verdict):
    text = repr(verdict)
    assert "\n" not in text
    assert len(text) <= 120
    assert text.startswith(type(verdict).__name__)


def test_it_shows_itself(verdict):
    told = str(verdict)
    assert verdict.status in told.splitlines()[0]
    assert "engine" in told
    page = verdict._repr_html_()
    assert verdict.status in page
    assert page.count("<table>") == page.count("</table>") in (1, 2)  # what matters, and what else is known
    json.dumps(verdict.to_dict())


def test_a_report_is_a_page(tmp_path):
    path = tmp_path / "report.html"
    check(noisy_max_question(2, improved=False), "1").write_report(path)
    assert path.read_text(encoding="utf-8").startswith("<!doctype html>")


def test_a_name_cannot_break_the_page():
    question = replace(noisy_max_question(2, improved=False), name="<script>alert(1)</script>")
    verdict = check(question, "1")
    assert "<script>" not in verdict._repr_html_()


def test_it_prints_what_the_command_prints():
    told = subprocess.run(
        [sys.executable, "-m", "privproof", "check", str(MODELS / "geometric.yaml")],
        env=environment(),
        capture_output=True,
        encoding="utf-8",
        check=True,
    ).stdout
    verdict = check(str(MODELS / "geometric.yaml"))

    def plain(text):
        return [line for line in text.splitlines() if not line.lstrip().startswith(("engine", "replay"))]

    assert plain(told) == plain(str(verdict))


def _proved(size):
    return check(noisy_max_question(size, improved=False), "100")


def test_another_process_gives_a_verdict():
    with get_context("spawn").Pool(1) as pool:
        (verdict,) = pool.map(_proved, [2])
    here = _proved(2)
    assert (verdict.status, verdict.tight, nested(verdict.certificate)) == (
        here.status,
        here.tight,
        nested(here.certificate),
    )


def test_there_is_one_witness(verdict):
    witness = verdict.witness
    if witness is None:
        return
    assert type(witness) is privproof.Witness
    assert witness.observed.family == verdict.question.family
    assert (witness.left, witness.right) == witness.secrets
    assert witness.event == witness.observed.event
    for name in vars(witness.observed):
        assert getattr(witness, name) == getattr(witness.observed, name)
    with pytest.raises(AttributeError):
        _ = witness.nonsense
    if witness.ratio is not None:
        assert loss_of(witness.ratio, Fraction(1), 192).overlaps(witness.loss())


def test_a_witness_of_another_kind_is_not_shown():
    """A pattern of the function does not go with a verdict about the automaton made from it: only the bound does."""
    function, stream = KINDS["continuous noise, refuted"]().witness, KINDS["a stream, proved"]()
    raised = with_bounds(stream, lower=stream.lower, witness=function)
    assert raised.witness is None
    assert raised.to_dict()["witness"] is None
