"""The command ``explain``: why a mechanism with continuous noise is private, or what breaks it."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated

import typer

from privproof.asking import check as ask
from privproof.cli.command_answers import console, end
from privproof.cli.command_drafts import load_question, with_budget
from privproof.cli.command_options import Settings, Size, Target, TimeLimit
from privproof.cli.command_requests import STATUS, begin, one_size
from privproof.cli.command_worker import command, command_monitor
from privproof.errors import QuestionError
from privproof.evidence.verdicts import ProgramDetails
from privproof.reporting import print_explanation, print_verdict
from privproof.scenarios.program_questions import as_program


@command("explain")
def explain(
    target: Target,
    epsilon_: Annotated[
        str | None, typer.Option("--epsilon", help="The budget; default: the mechanism's own claim.")
    ] = None,
    size: Size = None,
    settings: Settings = None,
    time_limit: TimeLimit = None,
) -> None:
    """Why a mechanism is private: what every line pays; or what breaks it, and which changes would repair it."""
    begin(target, time_limit, as_json=False)
    question = with_budget(load_question(target, one_size(size), None, None, settings), epsilon_, None, pointwise=False)
    if not question.continuous:
        raise QuestionError(
            "question",
            "alignments explain mechanisms with continuous noise or numbers without bounds; this one has a finite model",
            place=target,
            hint=f"privproof check {target}",
        )
    if not question.claims:
        raise QuestionError(
            "budget", "nothing is claimed", place=target, hint=f"privproof explain {target} --epsilon 1"
        )
    with command_monitor() as monitor:
        program = as_program(question)
        verdict = ask(question, engine=None if program is None else "laplace", monitor=monitor)
        if verdict.status == "unknown" and program is not None and program.mechanism.stream is not None:
            verdict = ask(question, monitor=monitor)
        if verdict.status == "refuted" and program is not None and isinstance(verdict.details, ProgramDetails | None):
            from privproof.engines.laplace.engine import find_repairs  # here, because it brings a solver

            found = find_repairs(program, monitor) or (
                "no other claim, and no more noise at one line or at all, was proved",
            )
            verdict = replace(verdict, details=replace(verdict.details or ProgramDetails(), repairs=found))
    print_verdict(console(), verdict, command=None, asked_tight=False)
    if verdict.explanation is not None:
        print_explanation(console(), verdict.explanation)
    end(STATUS[verdict.status])
