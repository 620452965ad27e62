"""The checker goes from the text of a mechanism with continuous noise to the instructions of its proof, and takes no others for them."""

from __future__ import annotations

import copy
import importlib
import json
from dataclasses import replace

import pytest
from tests.corpus import programs
from tests.instructions import outcome, question_of
from tests.laplace_programs import load

from privproof import check
from privproof.engines.laplace import engine
from privproof.errors import CertificateRefused
from privproof.evidence import gate
from privproof.library.laplace.laplace_examples import ENTRIES
from privproof_checker import Accepted, recheck

PROVED = [entry.mechanism for entry in ENTRIES if entry.known.startswith("proved")]
KEEPING_LISTS = {"binary_mechanism"}
"""That a text keeps the lists of its instructions is not re-established: such proofs say that they are taken from the compiler."""
LISTED = "@mechanism\ndef m(q: real_queries()):\n"
ONE = "@mechanism\ndef m(x: real()):\n"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("proofs")


@pytest.mark.diagonal
@pytest.mark.parametrize("convert", [True, False])
@pytest.mark.parametrize("mechanism", PROVED, ids=lambda mechanism: mechanism.name)
def test_the_instructions_of_every_proof_of_the_library_are_those_of_its_text(mechanism, convert):
    found = outcome(question_of(mechanism, convert=convert))
    if mechanism.name in KEEPING_LISTS:
        assert found == "Beyond: that the text keeps these lists is not re-established"
    else:
        assert found == "established"


@pytest.mark.diagonal
@pytest.mark.parametrize("convert", [True, False])
@pytest.mark.parametrize("program", programs("continuous", "followed"), ids=str)
def test_a_text_is_followed_to_its_instructions(folder, program, convert):
    assert outcome(question_of(load(folder, program), convert=convert)) == "established"


# ----------------------------------------------------------------------------------------------------------- what is not taken


@pytest.fixture(scope="module")
def proof():
    """A certificate of a proof, as plain data."""
    verdict = check(next(mechanism for mechanism in PROVED if mechanism.name == "sparse_vector"))
    return json.loads(json.dumps(verdict.certificate))


def test_a_proof_is_re_established_from_the_text(proof):
    assert proof["question"]["source"]["claims"] == "established"
    found = recheck(proof)
    assert isinstance(found, Accepted)
    assert found.details["source"]["taken"] == []
    assert "re-established from the source of sparse_vector: the instructions" in found.statement


TEXTS = [
    ("scale=2 / epsilon", "scale=3 / epsilon"),
    ("4 * N / epsilon", "4 / epsilon"),
    ("4 * N / epsilon", "4 * N * N / epsilon"),
    (">= noisy_threshold", "> noisy_threshold"),
    (">= noisy_threshold", ">= threshold"),
    ("count >= N", "count > N"),
    ("count = 0", "count = 1"),
    ("yield True", "yield False"),
    ("yield True", "yield answer"),
    ("yield True", "yield 'yes'; yield 'no'"),
    ("for answer in q:", "for answer in q:\n        laplace(answer, scale=1)"),
    ("laplace(threshold", "laplace(0"),
    ("laplace(threshold", "exponential(threshold"),
    ("return", "pass"),
]


@pytest.mark.parametrize(("old", "new"), TEXTS)
def test_another_text_than_that_of_a_proof_is_rejected(proof, old, new):
    changed = copy.deepcopy(proof)
    function = changed["question"]["source"]["program"]["functions"][0]
    function["meanings"]["exponential"] = {"noise": "exponential"}
    assert old in function["text"]
    start, body = function["text"].split('"""\n')
    function["text"] = f'{start}"""\n{body.replace(old, new, 1)}'
    assert not isinstance(recheck(changed), Accepted)


def test_other_inputs_sizes_and_relations_than_those_of_the_program_are_rejected(proof):
    for place, value in (("relation", "one"), ("size", 3)):
        changed = copy.deepcopy(proof)
        changed["question"]["source"][place] = value
        assert not isinstance(recheck(changed), Accepted)
    changed = copy.deepcopy(proof)
    changed["question"]["source"]["program"]["inputs"]["q"]["within"] = "2"
    assert not isinstance(recheck(changed), Accepted)


WRONG = {
    "a coin that the data bias": (
        ONE + "    y = laplace(x, scale=1)\n    return bernoulli('1/3'), y\n",
        "'1/3'",
        "'1/3' if x > 0 else '2/3'",
    ),
    "an output that tells more": (ONE + "    y = laplace(x, scale=1)\n    return y > 0\n", "y > 0", "y > 0, x"),
    "an output that is another": (ONE + "    y = laplace(x, scale=1)\n    return y\n", "return y", "return x"),
    "an output that is hidden": (ONE + "    y = laplace(x, scale=1)\n    return y\n", "return y", "return 2 * y"),
    "noise that is used twice": (
        ONE + "    y = laplace(x, scale=1)\n    z = laplace(x, scale=1)\n    return y, z\n",
        "return y, z",
        "return y, y",
    ),
    "noise that depends on noise": (
        ONE + "    y = laplace(x, scale=1)\n    z = laplace(x, scale=1)\n    return y, z\n",
        "z = laplace(x,",
        "z = laplace(y,",
    ),
    "an index that is off": (
        LISTED + "    for i in range(len(q)):\n        yield laplace(q[i], scale=1)\n",
        "q[i]",
        "q[i - 1]",
    ),
    "an entry that is left out": (
        LISTED + "    for i in range(len(q)):\n        yield laplace(q[i], scale=1)\n",
        "range(len(q))",
        "range(len(q) - 1)",
    ),
    "a read that fails": (
        LISTED + "    for i in range(len(q)):\n        yield laplace(q[i], scale=1)\n",
        "yield",
        "q[i + 1]\n        yield",
    ),
    "a division that fails": (
        ONE + "    y = laplace(x, scale=1)\n    return y\n",
        "return y",
        "k = 0\n    1 // k\n    return y",
    ),
    "a loop that never ends": (
        ONE + "    y = laplace(x, scale=1)\n    return y\n",
        "return y",
        "while x > 0:\n        pass\n    return y",
    ),
    "a list that is also read": (
        LISTED + "    out = []\n    for a in q:\n        out.append(laplace(a, scale=1))\n    return out\n",
        "return out",
        "return len(out)",
    ),
    "a list that is emptied": (
        LISTED + "    out = []\n    for a in q:\n        out.append(laplace(a, scale=1))\n    return out\n",
        "return out",
        "return []",
    ),
    "a list that is compared": (
        LISTED + "    out = []\n    for a in q:\n        out.append(laplace(a, scale=1))\n    return out\n",
        "return out",
        "return out == []",
    ),
    "a list that is begun again": (
        LISTED + "    out = []\n    for a in q:\n        out.append(laplace(a, scale=1))\n    return out\n",
        "for a in q:",
        "for a in q:\n        out = []",
    ),
    "a list that is walked over": (
        LISTED + "    out = []\n    for a in q:\n        out.append(laplace(a, scale=1))\n    return out\n",
        "return out",
        "for a in out:\n        out.append(a)\n    return out",
    ),
    "data that are returned": (
        LISTED + "    return laplace(sum(q), scale=1)\n",
        "return laplace(sum(q), scale=1)",
        "laplace(sum(q), scale=1)\n    return q",
    ),
    "data that are compared": (
        LISTED + "    y = laplace(sum(q), scale=1)\n    return y > 0\n",
        "return y > 0",
        "return y > 0 and q != [1, 2]",
    ),
    "types that tell": (
        ONE + "    y = laplace(x, scale=1)\n    return 1 if y > 0 else 0\n",
        "1 if y > 0 else 0",
        "1 if y > 0 else (0 if x > 0 else Fraction(0))",
    ),
}


@pytest.mark.parametrize("name", WRONG)
def test_a_text_that_does_something_else_is_not_taken_for_its_instructions(folder, name):
    text, old, new = WRONG[name]
    question = question_of(load(folder, text))
    assert outcome(question) == "established"
    function = question["source"]["program"]["functions"][0]
    assert old in function["text"]
    function["text"] = function["text"].replace(old, new)
    function["meanings"]["Fraction"] = {"builtin": "Fraction"}
    assert outcome(question) != "established"


@pytest.fixture
def more_noise(monkeypatch):
    """As if the compiler were wrong and its trials blind: the instructions of a mechanism draw more noise than its text."""
    compiling = importlib.import_module("privproof.compiling.relational")
    honest, tried = compiling.shifted_scales, engine.program_agreement

    def doubled(*arguments):
        return {site: replace(scale, factor=scale.factor * 2) for site, scale in honest(*arguments).items()}

    monkeypatch.setattr(compiling, "shifted_scales", doubled)
    monkeypatch.setattr(engine, "program_agreement", lambda *given: replace(tried(*given), told=None))
    return next(mechanism for mechanism in PROVED if mechanism.name == "laplace_mechanism")


def test_a_proof_about_another_program_does_not_pass_the_gate(more_noise):
    with pytest.warns(CertificateRefused, match="the noise has another scale in the text"):
        assert check(more_noise, 1).status != "proved"


def test_without_the_second_look_of_the_gate_it_would_be_taken_from_the_compiler(more_noise, monkeypatch):
    monkeypatch.setattr(gate, "_by_chance", lambda *given: None)
    verdict = check(more_noise, 1)
    assert verdict.certificate["question"]["source"]["claims"] == "taken"
    found = json.loads(json.dumps(verdict.certificate))
    found["question"]["source"]["claims"] = "established"
    assert recheck(found).reason.startswith("the noise has another scale in the text")
