"""Mechanisms with continuous noise on the command line: verdicts, refusals with their place, explanations, repairs."""

from __future__ import annotations

import json

import pytest

GOOD = """\
from fractions import Fraction
from privproof import integer, laplace, mechanism, public, real, real_queries, real_stream


@mechanism(epsilon="epsilon")
def noisy_max(q: real_queries(), epsilon=1):
    best, winner = None, None
    for i, answer in enumerate(q):
        noisy = laplace(answer, scale=2 / epsilon)
        if best is None or noisy > best:
            best, winner = noisy, i
    return winner


@mechanism(epsilon="epsilon")
def largest(q: real_queries(), epsilon=1):
    best = 0
    for i, answer in enumerate(q):
        noisy = laplace(answer, scale=2 / epsilon)
        if i == 0 or noisy > best:
            best = noisy
    return best


@mechanism(epsilon="(1 + 6*N) / 4")
def thresholded(q: real_queries(), threshold: public(real()), N: public(integer(low=1))):
    noisy_threshold = laplace(threshold, scale=4)
    released = []
    count = 0
    for answer in q:
        if laplace(answer, scale=Fraction(4, 3)) >= noisy_threshold:
            released.append("above")
            count += 1
            if count == N:
                break
        else:
            released.append("below")
    return released


@mechanism(epsilon=1, neighbours="one")
def half_the_noise(q: real_queries()):
    return laplace(sum(q), scale=Fraction(1, 2))


@mechanism(epsilon=1)
def online(answers: real_stream(), threshold: public(real())):
    noisy_threshold = laplace(threshold, scale=2)
    for answer in answers:
        if laplace(answer, scale=4) >= noisy_threshold:
            yield True
            return
        yield False
"""


@pytest.fixture
def programs(command):
    command.write("programs.py", GOOD)
    return command


@pytest.mark.parametrize("name", ["noisy_max", "thresholded", "online"])
def test_a_proof_is_told_line_by_line_and_its_certificate_is_accepted(programs, name):
    result = programs("check", f"programs.py:{name}", "--certificate", "c.json", "--engine", "laplace")
    assert result.returncode == 0, result.stderr
    assert "proved" in result.stdout
    assert "alignment" in result.stdout
    assert "line" in result.stdout
    again = programs("recheck", "c.json")
    assert again.returncode == 0
    assert "accepted" in again.stdout


def test_a_refutation_has_both_probabilities_and_a_certificate(programs):
    status, answer = programs.json("check", "programs.py:largest", "--certificate", "c.json")
    assert status == 1
    assert answer["verdict"] == "refuted"
    assert answer["engine"] == "laplace"
    witness = answer["witness"]
    assert "e^(" in witness["left_probability"]
    low, high = map(float, witness["loss"])
    assert 1 < low <= high
    assert float(answer["tight"]["lower"]) > 1
    assert programs("recheck", "c.json").returncode == 0


def test_a_certificate_for_a_smaller_claim_is_rejected(programs):
    assert programs("check", "programs.py:noisy_max", "--certificate", "c.json").returncode == 0
    document = json.loads((programs.folder / "c.json").read_text(encoding="utf-8"))
    document["question"]["epsilon"] = "99/100"
    document["question"]["claim"]["constant"] = "99/100"
    programs.write("d.json", json.dumps(document))
    assert programs("recheck", "d.json").returncode == 2


def test_the_tight_epsilon_is_a_formula_where_it_depends_on_the_size(programs):
    status, answer = programs.json("epsilon", "programs.py:largest")
    assert (status, answer["formula"]) == (0, "size/2")
    status, answer = programs.json("epsilon", "programs.py:half_the_noise")
    assert (status, answer["tight"]["exact"]) == (0, "2")


MEASURED = """\
from privproof import gaussian, mechanism, records


@mechanism(rho="1/8")
def count(data: records(0, 1)):
    return gaussian(sum(data), sigma=2)
"""


def test_other_measures_of_every_length(command):
    command.write("measured.py", MEASURED)
    for measure, value in (("rho", "1/8"), ("mu", "1/2")):
        status, answer = command.json(measure, "measured.py", "--certificate", "c.json")
        assert (status, answer["verdict"], answer["measure"]["exact"]) == (0, "proved", value)
        assert "lists of every length" in command(measure, "measured.py").stdout
        assert command("recheck", "c.json").returncode == 0
    assert command("check", "measured.py").returncode == 0
    assert "2,0.25,0.25" in command("renyi", "measured.py", "--orders", "2", "--csv").stdout


def test_sizes_show_where_privacy_ends(programs):
    result = programs("check", "programs.py:largest", "--size", "2..3")
    assert result.returncode == 1
    assert "n = 2   ✓ proved" in result.stdout
    assert "n = 3   ✗ refuted" in result.stdout


def test_an_explanation_has_the_two_runs_as_one_program(programs):
    result = programs("explain", "programs.py:thresholded")
    assert result.returncode == 0
    assert "assert noisy' >= noisy_threshold'" in result.stdout
    assert "cost" in result.stdout
    assert "What the theorem asks for" in result.stdout


def test_an_explanation_of_a_refutation_names_the_line_and_proved_repairs(programs):
    result = programs("explain", "programs.py:half_the_noise")
    assert result.returncode == 1
    assert "has to pay 2" in result.stdout
    assert "claim epsilon = 2: then it is proved" in result.stdout
    assert "by 2: then it is proved" in result.stdout


def test_a_report_is_written(programs):
    assert programs("check", "programs.py:noisy_max", "--report", "r.html").returncode == 0
    page = (programs.folder / "r.html").read_text(encoding="utf-8")
    assert "The two runs as one program" in page
    assert programs("check", "programs.py:largest", "--report", "r.html").returncode == 1
    assert "Both distributions" in (programs.folder / "r.html").read_text(encoding="utf-8")


OUTSIDE = {
    "a scale of data": ("x: real()", "return laplace(x, scale=1 + abs(x))", "scale", ":5:12"),
    "a product": ("x: real(), y: real()", "return laplace(x * y, scale=1)", "product", ":5:20"),
    "an equality": ("x: real()", "return laplace(x, scale=1) == 3", "equality", ":5:12"),
    "past the end": ("q: real_queries()", "return laplace(q[0] + q[1], scale=2)", "index", ":5:"),
    "a scale of zero": ("x: real()", "return laplace(x, scale=0)", "scale", ":5:12"),
    "rounding": ("x: real()", "return laplace(laplace(x, scale=1) // 1, scale=1)", "rounding", ":5:20"),
    "a quotient": ("x: real()", "return laplace(1 / laplace(x, scale=1), scale=1)", "quotient", ":5:20"),
    "a float": ("x: real()", "return laplace(x, scale=0.5)", "float", ":5:"),
    "a quotient of whole numbers": ("x: real()", "return laplace(x, scale=1 / 3)", "float", ":5"),
    "None as a number": (
        "x: real()",
        "y = None\n    if laplace(x, scale=1) > 0:\n        y = 1\n    return y + 1",
        "value",
        ":8",
    ),
}


@pytest.mark.parametrize("name", OUTSIDE)
def test_what_is_outside_the_class_is_refused_with_its_place(command, name):
    signature, body, code, place = OUTSIDE[name]
    command.write(
        "outside.py",
        f"from privproof import *\n\n@mechanism(epsilon=1)\ndef outside({signature}):\n    {body}\n",
    )
    result = command("check", "outside.py:outside")
    assert result.returncode == 2, result.stdout
    assert f"[{code}]" in result.stderr
    assert place in result.stderr
    assert "Traceback" not in result.stderr


def test_claims_that_speak_of_unknown_names_are_refused(command):
    command.write(
        "claims.py",
        'from privproof import *\n\n@mechanism(epsilon="size / 2")\ndef one(x: real()):\n    return laplace(x, scale=1)\n',
    )
    result = command("check", "claims.py:one")
    assert result.returncode == 2
    assert "'size'" in result.stderr


def test_finite_engines_do_not_know_continuous_noise(programs):
    result = programs("check", "programs.py:noisy_max", "--engine", "tensors")
    assert result.returncode == 2
    assert "laplace" in result.stderr


def test_the_explanation_is_for_continuous_noise(command):
    command.write(
        "survey.py",
        "from privproof import *\n\n@mechanism(epsilon='ln(3)')\ndef s(x: one_of(0, 1)):\n    return randomized_response(x, truth='3/4')\n",
    )
    result = command("explain", "survey.py:s")
    assert result.returncode == 2
    assert "finite model" in result.stderr


def test_a_boundary_over_sizes_is_named(programs):
    result = programs("check", "programs.py:largest", "--size", "1..4")
    assert "proved up to n = 2, refuted from n = 3 on" in result.stdout


def test_single_outputs_have_no_delta(programs):
    result = programs("check", "programs.py:largest", "--delta", "1/10", "--pointwise")
    assert result.returncode == 2
    assert "--pointwise" in result.stderr


def test_a_delta_counts_in_a_refutation(programs):
    assert programs("check", "programs.py:half_the_noise", "--epsilon", "1", "--delta", "1/100").returncode == 1
    assert programs("check", "programs.py:half_the_noise", "--epsilon", "2", "--delta", "1/100").returncode == 0


def test_a_scale_that_may_be_zero_is_refused(command):
    command.write(
        "scales.py",
        "from privproof import *\n\n@mechanism(epsilon=1)\ndef f(x: real(), N: public(integer())):\n"
        "    return laplace(x, scale=N)\n",
    )
    result = command("check", "scales.py:f")
    assert result.returncode == 2
    assert "integer(low=1)" in result.stderr


IDIOMS = """\
from privproof import *


@mechanism(epsilon=1)
def counted_from_one(q: real_queries()):
    best, winner = 0, 0
    for i, answer in enumerate(q):
        noisy = laplace(answer, scale=2)
        if i == 0 or noisy > best:
            best, winner = noisy, i + 1
    return winner


@mechanism(epsilon=1)
def moved_at_the_end(q: real_queries()):
    best, winner = 0, 0
    for i, answer in enumerate(q):
        noisy = laplace(answer, scale=2)
        if i == 0 or noisy > best:
            best, winner = noisy, i
    return winner + 1


@mechanism(epsilon=1)
def endless(x: real(), N: public(integer(low=1))):
    i = 0
    while i < N:
        y = laplace(x, scale=N)
    return 1


@mechanism(epsilon="1", neighbours="one")
def clipped(q: real_queries(sensitivity=100)):
    total = 0
    for x in q:
        total += min(max(x, 0), 10)
    return laplace(total, scale=9)
"""


def test_a_constant_added_to_the_index_changes_nothing(command):
    command.write("idioms.py", IDIOMS)
    for name in ("counted_from_one", "moved_at_the_end"):
        assert command("check", f"idioms.py:{name}").returncode == 0
        assert command("check", f"idioms.py:{name}", "--epsilon", "9/10").returncode == 1


def test_a_loop_that_does_not_end_is_refused(command):
    command.write("idioms.py", IDIOMS)
    result = command("check", "idioms.py:endless")
    assert result.returncode == 2
    assert "[loop]" in result.stderr


def test_a_repair_is_found_where_the_data_branch(command):
    command.write("idioms.py", IDIOMS)
    result = command("explain", "idioms.py:clipped")
    assert result.returncode == 1
    assert "claim epsilon = 3/2: then it is proved" in result.stdout
