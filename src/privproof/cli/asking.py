"""The commands that ask: ``check``, ``epsilon``, ``profile``, ``recheck``."""

from __future__ import annotations

import shlex
from typing import Annotated

import typer

from privproof.asking import ask as ask_request
from privproof.asking import check as ask
from privproof.asking import tight_epsilon
from privproof.cli.common import (
    asking,
    asking_sizes,
    begin,
    budgeted,
    command_of,
    finish,
    finish_table,
    loaded,
    named_sizes,
    one_size_only,
    renyi_orders,
    writable,
)
from privproof.cli.options import (
    AsJson,
    CertificateOut,
    DeltaText,
    EngineName,
    HorizonText,
    Inputs,
    MuText,
    NeighboursText,
    Pointwise,
    RenyiTexts,
    ReportOut,
    RhoText,
    Settings,
    Size,
    Target,
    TimeLimit,
)
from privproof.cli.working import command, monitored
from privproof.engines.engine import Request
from privproof.errors import QuestionError
from privproof.evidence import Verdict
from privproof.exact.measures import measured_budgets
from privproof.models import Letter, Transducer
from privproof.profiles.sizes import over_sizes
from privproof.scenarios import AnyQuestion, Question


@command("check")
def check(
    target: Target,
    epsilon_: Annotated[
        str | None, typer.Option("--epsilon", help="The budget: ln(8/3), 1/2, 1.3, ln(2)+1/2, inf.")
    ] = None,
    delta_: DeltaText = None,
    pointwise: Pointwise = False,
    rho: RhoText = None,
    mu: MuText = None,
    renyi: RenyiTexts = None,
    size: Size = None,
    settings: Settings = None,
    inputs: Inputs = None,
    neighbours: NeighboursText = None,
    horizon: HorizonText = None,
    engine: EngineName = None,
    pair: Annotated[str | None, typer.Option("--pair", help="Compare this pair only.")] = None,
    word: Annotated[
        str | None, typer.Option("--word", help="Compare this one word only: letters o or v|w or v|w:o.")
    ] = None,
    as_json: AsJson = False,
    certificate: CertificateOut = None,
    report: ReportOut = None,
    time_limit: TimeLimit = None,
) -> None:
    """Is the mechanism private within the budget?"""
    begin(target, time_limit, as_json=as_json)
    writable(certificate, report)
    budgets = measured_budgets(rho, mu, renyi_orders(renyi))

    def question_at(number: int | None) -> AnyQuestion:
        question = loaded(target, number, horizon, pair, settings, inputs, neighbours, run=engine == "runs")
        question = budgeted(question, epsilon_, delta_, budgets, pointwise=pointwise)
        if word is None and not question.claims:
            raise QuestionError(
                "budget",
                "neither the command nor the file names a budget",
                place=target,
                hint=f"privproof check {target} --epsilon 'ln(2)', or privproof epsilon {target}",
            )
        return question

    sizes = named_sizes(size)
    one_size_only(sizes, certificate, report)
    if len(sizes) > 1:
        with monitored() as monitor:
            table = over_sizes(
                lambda n: ask(question_at(n), engine=engine, monitor=monitor),
                [n for n in sizes if n],
                monitor=monitor,
                so_far=lambda table: asking_sizes(table, asked_tight=False, as_json=as_json),
            )
        finish_table(table, asked_tight=False, as_json=as_json)
    question = question_at(sizes[0])
    measures: list[tuple[str, object]] = [("--rho", rho), ("--mu", mu), *(("--renyi", each) for each in renyi or ())]
    asked = command_of(
        target, sizes[0], horizon, epsilon_, delta_, settings, inputs, neighbours, measures, pointwise=pointwise
    )
    asking(question, command=asked, asked_tight=False, as_json=as_json)
    if word is not None:
        verdict = _one_word(question.words(place="--word"), word)
        finish(verdict, command=asked, asked_tight=False, as_json=as_json, certificate=certificate, report=report)
    with monitored() as monitor:
        verdict = ask(question, engine=engine, monitor=monitor)
    finish(verdict, command=asked, asked_tight=False, as_json=as_json, certificate=certificate, report=report)


def _one_word(question: Question, text: str) -> Verdict:
    """The verdict that one word gives."""
    try:
        letters = tuple(_letter(part, question) for part in shlex.split(text))
    except ValueError as error:
        raise QuestionError("word", f"{text!r} cannot be read: {error}", place="--word") from None
    try:
        return ask_request(Request(question, word=letters))
    except QuestionError as error:
        error.place = "--word" if error.place == "word" else error.place
        raise


def _letter(text: str, question: Question) -> Letter:
    """The letter ``o``, ``v|w`` or ``v|w:o``; names with bars and colons in them are told by what the model knows."""
    model = question.model
    if isinstance(model, Transducer):
        sides = (*model.inputs, None)
        known = [
            Letter(output, left, right)
            for left in sides
            if text.startswith(f"{left or ''}|")
            for right in sides
            if text.startswith(f"{left or ''}|{right or ''}") and (left, right) != (None, None)
            for output in (None, *model.outputs)
        ]
        for letter in (*known, *map(Letter, model.outputs)):
            if str(letter) == text:
                return letter
    inputs, colon, output = text.rpartition(":")
    if not colon:
        inputs, output = (text, "") if "|" in text else ("", text)
    if not inputs:
        return Letter(text)
    left, bar, right = inputs.partition("|")
    return Letter(output or None, left, right) if bar else Letter(text)


@command("epsilon")
def epsilon_command(
    target: Target,
    delta_: DeltaText = None,
    pointwise: Pointwise = False,
    size: Size = None,
    settings: Settings = None,
    inputs: Inputs = None,
    neighbours: NeighboursText = None,
    horizon: HorizonText = None,
    engine: EngineName = None,
    pair: Annotated[str | None, typer.Option("--pair", help="Compare this pair only.")] = None,
    as_json: AsJson = False,
    certificate: CertificateOut = None,
    report: ReportOut = None,
    time_limit: TimeLimit = None,
) -> None:
    """The tight epsilon: exact, or certified lower and upper bounds."""
    begin(target, time_limit, as_json=as_json)
    writable(certificate, report)
    sizes = named_sizes(size)
    one_size_only(sizes, certificate, report)
    asked = command_of(target, sizes[0], horizon, None, delta_, settings, inputs, neighbours, pointwise=pointwise)
    with monitored() as monitor:

        def answer(number: int | None) -> Verdict:
            question = loaded(target, number, horizon, pair, settings, inputs, neighbours, run=engine == "runs")
            if len(sizes) == 1:
                asking(question, command=asked, asked_tight=True, as_json=as_json)
            return tight_epsilon(question, delta_ or 0, pointwise=pointwise, engine=engine, monitor=monitor)

        if len(sizes) > 1:
            table = over_sizes(
                answer,
                [n for n in sizes if n],
                monitor=monitor,
                so_far=lambda table: asking_sizes(table, asked_tight=True, as_json=as_json),
            )
            finish_table(table, asked_tight=True, as_json=as_json)
        verdict = answer(sizes[0])
    finish(verdict, command=asked, asked_tight=True, as_json=as_json, certificate=certificate, report=report)
