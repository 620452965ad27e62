"""Verdicts as LaTeX: the numbers of the verdict, balanced, of the characters that plain pdflatex knows; set by it where it is there."""

from __future__ import annotations

import random
import re
import shutil
import subprocess

import pytest

from privproof import (
    check,
    integer,
    laplace,
    mechanism,
    privacy_profile,
    queries,
    real,
    records,
    tight_epsilon,
    truncated_geometric,
)
from privproof.errors import FormatError
from privproof.library.noisy_max import noisy_max_question
from privproof.reporting.latex_tables import escape_latex, formula, latex
from privproof.reporting.profile_texts import profile_page


@mechanism(epsilon="ln(2)")
def noisy_max(q: queries(0, 2), label='50 % of {a_b} ~ "x" \\ #1 ^ $ & <é> 日'):
    best, winner = -1, 0
    for i, value in enumerate(q):
        noisy = truncated_geometric(value, alpha="1/2", low=0, high=2)
        if (
            noisy > best
        ):  # ≥ would break ties otherwise, and this remark is rather long, so that its line has to be broken
            best, winner = noisy, i
    return winner


@mechanism(epsilon="1/2")
def released(x: real()):
    return laplace(x, scale=1)


def warner(answers: records(0, 1)):
    return [a if random.random() < 0.75 else 1 - a for a in answers]


@mechanism(epsilon="0")
def shown(x: integer(0, 1)):
    return x


ASKED = {
    "refuted": lambda: check(noisy_max, size=3),
    "tight": lambda: tight_epsilon(noisy_max, size=2),
    "alignment": lambda: check(released, "1"),
    "continuous": lambda: check(released),
    "model": lambda: check("examples/models/family.yaml"),
    "stream": lambda: check("examples/models/streams/no_cutoff.yaml"),
    "stream proved": lambda: check("examples/models/streams/above_threshold.yaml"),
    "function": lambda: check(warner, "ln(3)", size=2),
    "secrets": lambda: check("examples/priors/family.py:in_the_family"),
    "impossible": lambda: check(shown, "5"),
    "unknown": lambda: check("examples/models/activity.yaml", "1", time_limit=0),
}


@pytest.fixture(scope="module")
def written():
    return {name: asked() for name, asked in ASKED.items()}


@pytest.mark.parametrize("name", ASKED)
def test_the_text_is_balanced_and_plain(written, name):
    text = written[name].to_latex(standalone=True)
    assert text.startswith("\\documentclass{article}\n\\usepackage{amsmath}\n\\begin{document}")
    assert re.findall(r"\\usepackage(?:\[.*?\])?\{(.*?)\}", text) == ["amsmath"]
    bare = re.sub(r"\\[\\{}$%&#_]", "", text)
    assert bare.count("{") == bare.count("}")
    assert bare.count("$") % 2 == 0
    begun, ended = re.findall(r"\\begin\{(.*?)\}", text), re.findall(r"\\end\{(.*?)\}", text)
    assert sorted(begun) == sorted(ended)
    assert all(ord(c) < 256 for c in text)
    assert written[name].to_latex() in text


def test_the_counterexample_has_the_numbers_of_the_witness(written):
    text = written["refuted"].to_latex()
    witness = written["refuted"].witness
    for p in (witness.left_probability, witness.right_probability):
        assert f"\\frac{{{p.numerator}}}{{{p.denominator}}}" in text
    assert "The counterexample" in text
    assert "truncated\\_geometric" in text
    assert "[U+65E5]" not in text.split("What is compared")[0]


def test_what_is_not_refuted_has_no_counterexample(written):
    for name in ("alignment", "tight", "unknown"):
        assert "counterexample" not in written[name].to_latex()
    assert "Proof by alignment" in written["alignment"].to_latex()
    assert "Nothing is decided" in written["unknown"].to_latex()
    assert "SHA-256" not in written["unknown"].to_latex()
    assert "impossible on the right" in written["impossible"].to_latex()


def test_texts_and_formulas():
    assert escape_latex("\\a_b{c}") == "\\textbackslash{}a\\_b\\{c\\}"
    assert formula("1/2*e^(-3/2) - 1/192*e^(-5/2)") == "\\tfrac{1}{2}\\,e^{-3/2} - \\tfrac{1}{192}\\,e^{-5/2}"


def test_a_report_is_written_as_its_name_ends(written, tmp_path):
    path = tmp_path / "appendix.tex"
    written["model"].write_report(path)
    assert path.read_text(encoding="utf-8") == latex(written["model"])
    page = profile_page(privacy_profile(noisy_max_question(2, improved=True)), 5)
    with pytest.raises(FormatError, match="only verdicts are written as LaTeX"):
        page.written(path)


@pytest.mark.slow  # starts another program, which is not everywhere
@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="pdflatex is not installed")
@pytest.mark.parametrize("name", ASKED)
def test_pdflatex_sets_it(written, name, tmp_path):
    (tmp_path / "a.tex").write_text(written[name].to_latex(standalone=True), encoding="utf-8")
    done = subprocess.run(
        ["pdflatex", "-halt-on-error", "-interaction=nonstopmode", "a.tex"],
        cwd=tmp_path,
        capture_output=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout.decode("utf-8", "replace")[-2000:]
