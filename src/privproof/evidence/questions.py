"""The question of a certificate: what a question of any kind is as plain data, for the checker to read."""

from __future__ import annotations

from typing import Any

from privproof.evidence.logic_certificates import formula_document
from privproof.evidence.parametric_certificates import table_document
from privproof.evidence.release_certificates import release_document
from privproof.evidence.sources import finite_source, loss_source, taken_source
from privproof.evidence.stream_certificates import stream_document
from privproof.formats import document
from privproof.scenarios import (
    FormulaQuestion,
    LocationQuestion,
    ParametricQuestion,
    ProgramQuestion,
    PufferfishQuestion,
    ReleaseQuestion,
    StreamQuestion,
    Verified,
)

_AUTOMATON = "the checker does not follow streams of real numbers from the text to an automaton yet"


class OtherQuestion(ValueError):
    """What an engine worked on is not what was asked."""


def question_document(question: Verified, compiled: Any = None) -> dict[str, Any]:
    """A question with its claim as plain data.

    Args:
        question: the question.
        compiled: what it became, where the certificate is about that: for secrets under a prior the table of rows, for a proof about
            continuous noise the program of instructions, for locations the mechanism as plain data.

    Raises:
        OtherQuestion: what it became is that of another question.
    """
    match question:
        case StreamQuestion():
            made = question.mechanism
            return _with(stream_document(question), None if made is None else taken_source(made, _AUTOMATON))
        case ProgramQuestion():
            from privproof.evidence.program_certificates import program_document  # here, because it loads a solver

            if compiled is not None and (compiled.mechanism, compiled.size) != (question.mechanism, question.size):
                raise OtherQuestion(f"the program is that of {compiled.mechanism.name} at size {compiled.size}")
            if compiled is None:
                return _with(program_document(question, None), loss_source(question.mechanism, question.size))
            return _with(program_document(question, compiled), loss_source(question.mechanism, question.size))
        case PufferfishQuestion() | ParametricQuestion():
            assert question.budget is not None
            if compiled.question.under(question.budget) != question:
                raise OtherQuestion("the table is that of another question")
            return table_document(compiled.table, question.budget)
        case ReleaseQuestion():
            return release_document(question)
        case FormulaQuestion():
            return formula_document(question)
        case LocationQuestion():
            listed = {} if question.sites is None else {"sites": [list(site) for site in question.sites]}
            return {"kind": "location", "mechanism": compiled, "epsilon": str(question.epsilon), **listed}
        case _:
            return _with(document(question), finite_source(question))


def _with(said: dict[str, Any], source: dict[str, Any] | None) -> dict[str, Any]:
    """A document with the source of the mechanism, where there is one."""
    return said if source is None else {**said, "source": source}
