"""Proofs about programs at one size that only show sums of data and Gaussian noise: all noise is shifted by one matrix.

Several sums of the same entries, or entries that are shown more than once, move together; alignments bound each by itself.  The matrix of
shifts (`compiling.linear_releases`) has the exact squared distance, so that what it does not prove holds for no other shifts either,
unless data have bounds.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from privproof.compiling.covering import told_coverage
from privproof.compiling.linear_releases import LinearRelease, linear_release, most_squares
from privproof.compiling.rewriting import Unsupported
from privproof.compiling.translation import program_agreement
from privproof.engines.laplace.squares import delta_of, enough
from privproof.errors import LanguageError
from privproof.evidence.engine_answers import Answer
from privproof.evidence.verdicts import ProgramDetails
from privproof.exact import Epsilon, Rational, decimal, rational
from privproof.exact.affine import Affine
from privproof.exact.number_texts import short
from privproof.scenarios import ProgramQuestion


@dataclass(frozen=True)
class ByMatrix:
    """An answer by a matrix, and whether it is about several numbers: of one, an alignment says more."""

    answer: Answer
    several: bool


def answer_by_matrix(question: ProgramQuestion, epsilon: Epsilon, delta: Rational, engine: str) -> ByMatrix | None:
    """A proof by a matrix of shifts, or that no shifts prove the claim; None where the program is of another form.

    Args:
        question: the question.
        epsilon: what is claimed.
        delta: what is claimed.
        engine: who answers.
    """
    if epsilon.infinite:
        return None
    try:
        found = linear_release(question.mechanism, question.size)
        squares = most_squares(found)
    except (Unsupported, LanguageError):
        return None
    needed = delta_of(squares, Fraction(0), epsilon, None)
    if not enough(squares, Fraction(0), epsilon, delta, None):
        declared = [each for each in question.mechanism.inputs.values() if not each.public]
        if any(each.low is not None or each.high is not None for each in declared):
            return None  # then not every change is possible, and others may know
        reason = f"{_told(found, squares)}: that gives away {decimal(rational(needed), digits=6)}"
        return ByMatrix(Answer(status="unknown", question=question, engine=engine, reason=reason), found.shown > 1)
    tried = program_agreement(found.program)
    if tried.told is not None:
        return None
    said = f"the function and the program that is proved agree on {tried.runs} runs with the same data and noise"
    answer = Answer(
        status="proved",
        question=question,
        engine=engine,
        evidence=_evidence(found, squares),
        compiled=found.program,
        upper=epsilon,
        details=ProgramDetails(delta=(Fraction(0), needed), costs=(Fraction(0), Affine(rational(squares)))),
        notes=(_told(found, squares), said + told_coverage(tried)),
    )
    return ByMatrix(answer, found.shown > 1)


def _told(found: LinearRelease, squares: Fraction) -> str:
    """What the matrix is, in words."""
    moved = "one number moves" if found.shown == 1 else f"{found.shown} numbers move together"
    return f"{moved} by at most {short(rational(squares))} in squares, in standard deviations of Gaussian noise"


def _evidence(found: LinearRelease, squares: Fraction) -> dict[str, object]:
    return {
        "method": "matrix",
        "shifts": [[str(x) for x in line] for line in found.shifts],
        "squares": str(squares),
    }
