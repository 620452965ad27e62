"""A verdict for the appendix of a paper: the claim, the mechanism, and the proof or the counterexample, as LaTeX.

The text needs no package but ``amsmath``, so that plain pdflatex sets it.  It says what the verdict says and no more: exact numbers stay
exact, what is established by search over all cases is called that, and the certificate is named by its digest, so that a reader can
have the very proof checked by the independent checker.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Sequence
from fractions import Fraction

from privproof.evidence.verdicts import Explanation, Unknown, Verdict
from privproof.evidence.witnesses import AnyWitness
from privproof.exact import Epsilon
from privproof.exact.number_texts import rounded_decimal
from privproof.exact.probabilities import Probability, ball_of_probability, exactly, is_zero
from privproof.language import Mechanism, Prior
from privproof.reporting.report_registry import report_of
from privproof.reporting.verdict_wording import headline

_LONG = 60
"""Characters of an exact number that are still written out; a longer one is rounded, and the text says so."""
_WIDE = 60
"""Characters of a line of source that fit between the margins; a longer one is broken."""

_SPECIAL = {
    "\\": r"\textbackslash{}",
    "{": r"\{",
    "}": r"\}",
    "$": r"\$",
    "&": r"\&",
    "#": r"\#",
    "_": r"\_",
    "%": r"\%",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    '"': r"\char34{}",
    "'": r"\textquotesingle{}",
    "≥": r"$\ge$",
    "≤": r"$\le$",
    "≈": r"$\approx$",
    "ε": r"$\varepsilon$",
    "δ": r"$\delta$",
    "·": r"$\cdot$",
    "×": r"$\times$",
    "∞": r"$\infty$",
    "−": r"$-$",
    "…": r"\dots{}",
    "↻": "(again)",
    "▸": r"$\triangleright$",
    "●": r"$\bullet$",
    "→": r"$\to$",
}
_LETTER = re.compile(r"[ -~ÄÖÜäöüßÀ-ÅÈ-ÏÒ-ÖÙ-ÜÇÑà-åè-ïò-öù-üçñ]")
"""What the fonts that pdflatex loads by itself have."""


def escape_latex(text: str) -> str:
    """A text such that pdflatex sets it as it is; what it has no letter for is shown by its number.

    >>> escape_latex("50 % of {a_b}: ≥1"), escape_latex("\u65e5")
    ('50 \\\\% of \\\\{a\\\\_b\\\\}: $\\\\ge$1', '[U+65E5]')
    """
    return "".join(
        _SPECIAL.get(c, c if _LETTER.match(c) else " " if c.isspace() else f"[U+{ord(c):04X}]") for c in text
    )


def number(value: Fraction) -> str:
    """A fraction in mathematics.

    >>> number(Fraction(17, 54)), number(Fraction(-2))
    ('\\\\frac{17}{54}', '-2')
    """
    sign = "-" if value < 0 else ""
    if value.denominator == 1:
        return str(value)
    return f"{sign}\\frac{{{abs(value.numerator)}}}{{{value.denominator}}}"


def formula(text: str) -> str:
    """A sum of exponentials, or a budget, as the program writes it, in mathematics.

    >>> formula("1/4*e^(-1)"), formula("2*ln(3) + 1/2")
    ('\\\\tfrac{1}{4}\\\\,e^{-1}', '2\\\\,\\\\ln(3) + \\\\tfrac{1}{2}')
    """
    found = re.sub(r"e\^\(([^()]*)\)", lambda m: f"e^{{{m[1]}}}", text)
    inside = r"(?<![\w{/.])(\d+)/(\d+)(?![\w/.}])"
    found = re.sub(inside, r"\\tfrac{\1}{\2}", found)
    return found.replace("*", r"\,").replace("ln(", r"\ln(").replace("exp(", r"\exp(")


def latex(verdict: Verdict, *, standalone: bool = True) -> str:
    """A verdict as LaTeX.

    Args:
        verdict: the verdict.
        standalone: whether it is a document that can be set by itself; otherwise a part of one that loads ``amsmath``.
    """
    name = verdict.question.name or "the mechanism"
    title = headline(verdict, asked_tight=verdict.asked_tight)
    parts = [f"\\section*{{{escape_latex(title)}}}", *_claim(verdict)]
    functions = [each for each in verdict.question.functions if isinstance(each, Mechanism | Prior)]
    if functions:
        parts.append(r"\paragraph{The mechanism.}")
        parts += [_source(each) for each in functions]
    parts += _verdict_paragraphs(verdict)
    parts += _evidence(verdict, name)
    body = "\n\n".join(parts) + "\n"
    if not standalone:
        return body
    return (
        f"\\documentclass{{article}}\n\\usepackage{{amsmath}}\n\\begin{{document}}\n\\sloppy\n{body}\\end{{document}}\n"
    )


def _claim(verdict: Verdict) -> list[str]:
    report, question = report_of(verdict.question), verdict.question
    told = "; ".join(fact.text for fact in report.compared(question))
    result = [f"\\paragraph{{What is compared.}} {escape_latex(told)}."]
    budget = question.budget
    if budget is None or verdict.asked_tight or question.measured_words:
        return result
    delta = "" if budget.delta == 0 else f" + {number(Fraction(str(budget.delta)))}"
    wanted = f"\\Pr[M(D) \\in E] \\;\\le\\; e^{{\\varepsilon}}\\,\\Pr[M(D') \\in E]{delta}"
    where = f"\\qquad \\varepsilon = {_epsilon(budget.epsilon)}"
    return [*result, f"The claim is that for all such $D$, $D'$ and every event $E$\n\\[ {wanted}, {where}. \\]"]


def _verdict_paragraphs(verdict: Verdict) -> list[str]:
    """The counterexample, the alignment, or why nothing is known."""
    result: list[str] = []
    if isinstance(verdict, Unknown):
        result.append(f"\\paragraph{{Nothing is decided.}} {escape_latex(verdict.reason)}.")
    if verdict.witness is not None:
        result += _witness(verdict, verdict.witness)
    if verdict.explanation is not None:
        result += _alignment(verdict.explanation)
    if verdict.leak is not None:
        result.append(f"\\paragraph{{The structure.}} {escape_latex(verdict.leak.sentence)}.")
    if verdict.shifts:
        rows = [(s.step, s.change, s.shift, s.cost, "any" if s.times == 0 else str(s.times)) for s in verdict.shifts]
        result.append("\\paragraph{The shifts of the execution that costs most.}")
        result.append(_table(("step", "change", "shift", "cost", "times"), rows))
    return result


def _witness(verdict: Verdict, witness: AnyWitness) -> list[str]:
    report, question = report_of(verdict.question), verdict.question
    left, right = report.situations(witness, question)
    refuted = verdict.status == "refuted"
    heading = "The counterexample." if refuted else "The pair that comes nearest."
    said = (
        f"\\paragraph{{{heading}}} Let $D$ be {_code(left)} and $D'$ be {_code(right)}, and let $E$ be the event that what is "
        f"seen is {_code(witness.seen)}. Then"
    )
    rows = [
        f"\\Pr[M(D) \\in E] &{_is(witness.left_probability)}",
        f"\\Pr[M(D') \\in E] &{_is(witness.right_probability)}",
    ]
    if not witness.infinite:
        ratio = witness.ratio
        related = "=" if ratio is not None else "\\approx"
        value = rounded_decimal(witness.loss(192).exp()) if ratio is None else number(ratio)
        rows.append(f"\\frac{{\\Pr[M(D) \\in E]}}{{\\Pr[M(D') \\in E]}} &{related} {_plain(value)}")
    result = [said, "\\begin{align*}\n" + ", \\\\\n".join(rows) + ".\n\\end{align*}"]
    budget = question.budget
    if refuted and witness.infinite:
        result.append("The event is impossible on the right and possible on the left: no factor bounds the ratio.")
    elif refuted and budget is not None and budget.delta == 0 and not verdict.asked_tight:
        bound = rounded_decimal(budget.epsilon.ball(192).exp())
        result.append(f"This exceeds $e^{{\\varepsilon}} \\approx {_plain(bound)}$, so the claim does not hold.")
    return result


def _alignment(found: Explanation) -> list[str]:
    rows = [(str(c.line), c.code, c.when or "always", c.shift, c.cost) for c in found.charges]
    result = [
        "\\paragraph{Proof by alignment.} Take a run on the data $D$. Move its noise as the table says, and the run on $D'$ gives the "
        "same output; what moving it costs, as a logarithm of a ratio of densities, is in the last column. Here $d(x)$ is by how much "
        "$x$ differs.",
        _table(("line", "noise", "when", "shift", "cost"), rows),
        escape_latex("; ".join(found.total)[:1].upper() + "; ".join(found.total)[1:]) + ".",
    ]
    if found.conditions:
        listed = "\n".join(f"\\item {escape_latex(condition)}" for condition in found.conditions)
        result.append(f"The side conditions were checked:\n\\begin{{itemize}}\n{listed}\n\\end{{itemize}}")
    return result


def _evidence(verdict: Verdict, name: str) -> list[str]:
    result = []
    if verdict.tight is not None and not verdict.tight.infinite:
        result.append(f"The smallest $\\varepsilon$ is exactly ${_epsilon(verdict.tight)}$.")
    if verdict.certificate is not None:
        text = json.dumps(verdict.certificate, sort_keys=True, separators=(",", ":"), ensure_ascii=False, default=str)
        digest = hashlib.sha256(text.encode("utf-8", "backslashreplace")).hexdigest()
        halves = f"\\texttt{{{digest[:32]}}} \\texttt{{{digest[32:]}}}"
        how = "" if verdict.witness is not None or verdict.explanation is not None else "by search over all cases; "
        result.append(
            f"\\paragraph{{Evidence.}} This was established by privproof ({how}engine {_code(verdict.engine)}), with a certificate that an "
            "independent checker accepted. The certificate, as JSON with sorted keys and without spaces, has the SHA-256 digest "
            f"{halves}; \\texttt{{privproof recheck}} checks it again."
        )
    notes = [escape_latex(note) for note in verdict.notes]
    if notes:
        listed = "\n".join(f"\\item {note}." for note in notes)
        result.append(f"\\paragraph{{What it rests on.}}\n\\begin{{itemize}}\n{listed}\n\\end{{itemize}}")
    return result


def _is(value: Probability) -> str:
    """A probability as the right side of an equation: exactly where that is short, otherwise rounded."""
    if is_zero(value):
        return "= 0"
    exact = exactly(value)
    if exact is not None:
        return (
            f"= {number(exact)}"
            if len(str(exact)) <= _LONG
            else f"\\approx {_plain(rounded_decimal(ball_of_probability(value, 192)))}"
        )
    written = str(value)
    about = _plain(rounded_decimal(ball_of_probability(value, 192)))
    if "e^" in written and len(written) <= _LONG:
        return f"= {formula(written)} \\approx {about}"
    return f"\\approx {about}"


def _epsilon(value: Epsilon) -> str:
    return "\\infty" if value.infinite else formula(str(value))


def _plain(value: str) -> str:
    """A decimal number in mathematics."""
    return re.sub(r"e([+-]?\d+)$", lambda m: f" \\cdot 10^{{{int(m[1])}}}", value)


def _code(text: str) -> str:
    return f"\\texttt{{{escape_latex(text)}}}"


def _table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [" & ".join(f"\\textit{{{head}}}" for head in heads) + r" \\ \hline"]
    lines += [" & ".join(_cell(cell) for cell in row) + r" \\" for row in rows]
    share = 0.9 / len(heads)
    columns = "".join(f"p{{{share:.2f}\\textwidth}}" for _ in heads)
    return (
        f"\\noindent{{\\footnotesize\\setlength{{\\tabcolsep}}{{3pt}}\\begin{{tabular}}{{{columns}}}\n"
        + "\n".join(lines)
        + "\n\\end{tabular}}"
    )


def _cell(text: str) -> str:
    """Code in a cell; it may be broken after commas, operators and brackets."""
    return "\\texttt{" + re.sub(r"([,*/()+-])", r"\1\\allowbreak{}", escape_latex(text)) + "}"


def _source(function: Mechanism | Prior) -> str:
    program = function.program if function.pin is None else function.pin
    lines = [part for each in program.functions for line in each.text.splitlines() for part in _break_line(line)]
    told = "\\\\\n".join(f"\\mbox{{}}{escape_latex(line).replace(' ', '~')}" for line in lines)
    return f"{{\\footnotesize\\ttfamily\\noindent\n{told}\n\\par}}"


def _break_line(line: str) -> list[str]:
    """A line of source in pieces that fit."""
    pieces = [line[:_WIDE]]
    rest = line[_WIDE:]
    while rest:
        pieces.append("        " + rest[: _WIDE - 8])
        rest = rest[_WIDE - 8 :]
    return pieces
