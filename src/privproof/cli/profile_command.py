"""The commands ``profile`` and ``delta``."""

from __future__ import annotations

import json
from typing import Annotated

import typer

from privproof.asking import delta_curve, delta_of, renyi_curve
from privproof.cli.command_answers import console, end, say, say_json, write
from privproof.cli.command_drafts import draft_question, load_question, together
from privproof.cli.command_options import (
    AsJson,
    CertificateOut,
    Compose,
    HorizonText,
    Inputs,
    NeighboursText,
    ReportOut,
    SamplingText,
    Settings,
    Size,
    Subsample,
    Target,
    TimeLimit,
)
from privproof.cli.command_requests import STATUS, begin, one_size, writable
from privproof.cli.command_worker import command, command_monitor
from privproof.cli.measures_command import ORDERS
from privproof.errors import QuestionError
from privproof.exact import epsilon, fraction, rational
from privproof.profiles import privacy_profile
from privproof.reporting import (
    curve_csv,
    curve_data,
    curve_page,
    delta_data,
    delta_page,
    print_curve,
    print_delta,
    print_profile,
    print_renyi,
    profile_data,
    profile_page,
    renyi_csv,
    renyi_data,
)

_LARGEST = 4
"""Where a delta never becomes 0, the curve goes to this epsilon unless another one is asked for."""


@command("profile")
def profile(
    target: Target,
    size: Size = None,
    settings: Settings = None,
    horizon: HorizonText = None,
    inputs: Inputs = None,
    neighbours: NeighboursText = None,
    pair: Annotated[str | None, typer.Option("--pair", help="Compare this pair only.")] = None,
    up_to: Annotated[
        str | None, typer.Option("--up-to", help="The largest epsilon; default: where delta is 0, or 4.")
    ] = None,
    points: Annotated[int, typer.Option("--points", min=2, max=10_001, help="How many epsilons.")] = 11,
    csv: Annotated[bool, typer.Option("--csv", help="Print epsilon,delta rows and nothing else.")] = False,
    compose: Compose = None,
    subsample: Subsample = None,
    sampled: SamplingText = None,
    renyi: Annotated[bool, typer.Option("--renyi", help="Rényi divergences by order, instead of deltas.")] = False,
    as_json: AsJson = False,
    report: ReportOut = None,
    time_limit: TimeLimit = None,
) -> None:
    """The privacy profile: the smallest delta for every epsilon, over all neighbours; of one use or of several together."""
    begin(target, time_limit, as_json=as_json)
    writable(report)
    question = load_question(target, one_size(size), horizon, pair, settings, inputs, neighbours)
    if renyi:
        if report is not None:
            raise QuestionError("report", "the report is about deltas", place="--report", hint="drop --renyi, or --csv")
        if compose is not None or subsample is not None:
            raise QuestionError(
                "composition", "--renyi is about one use", place="--renyi", hint="divergences of several uses add up"
            )
        with command_monitor() as monitor:
            divergences = renyi_curve(question, ORDERS, monitor)
        if csv:
            say(renyi_csv(divergences), end="")
        elif as_json:
            say_json(renyi_data(divergences))
        else:
            print_renyi(console(), divergences)
        return
    question = together(question, compose, subsample, sampled)
    end_ = None if up_to is None else rational(up_to)
    if question.family in ("runs", "program", "composed"):
        last = rational(_LARGEST) if end_ is None else end_
        with command_monitor() as monitor:
            found = delta_curve(question, [fraction(last * i / (points - 1)) for i in range(points)], monitor)
        if report is not None:
            write(report, curve_page(found).written(report))
        if csv:
            say(curve_csv(found), end="")
        elif as_json:
            say_json(curve_data(found))
        else:
            print_curve(console(), found)
        return
    curve = privacy_profile(question.words(place=target))
    if report is not None:
        write(report, profile_page(curve, points, up_to=end_).written(report))
    if csv:
        say(curve.csv(points, up_to=end_), end="")
    elif as_json:
        say_json(profile_data(curve, points, up_to=end_))
    else:
        print_profile(console(), curve, points, up_to=end_)


@command("delta")
def delta(
    target: Target,
    epsilon_: Annotated[str, typer.Option("--epsilon", help="The epsilon: ln(8/3), 1/2, 1.3, 0.")],
    size: Size = None,
    settings: Settings = None,
    inputs: Inputs = None,
    neighbours: NeighboursText = None,
    horizon: HorizonText = None,
    compose: Compose = None,
    subsample: Subsample = None,
    sampled: SamplingText = None,
    as_json: AsJson = False,
    certificate: CertificateOut = None,
    report: ReportOut = None,
    time_limit: TimeLimit = None,
) -> None:
    """The smallest delta at an epsilon, enclosed: proved from above, refuted from below."""
    begin(target, time_limit, as_json=as_json)
    writable(certificate, report)
    question = load_question(target, one_size(size), horizon, None, settings, inputs, neighbours)
    question = together(question, compose, subsample, sampled)
    draft_question(question, command=None, asked_tight=True, as_json=as_json)
    with command_monitor() as monitor:
        found = delta_of(question, epsilon(epsilon_), monitor)
    if certificate is not None and found.verdict.certificate is not None:
        write(certificate, json.dumps(found.verdict.certificate, ensure_ascii=False, indent=1) + "\n")
    written = None if certificate is None else str(certificate)
    if report is not None:
        write(report, delta_page(found, written).written(report))
    if as_json:
        say_json(delta_data(found, written))
    else:
        print_delta(console(), found)
    end(STATUS[found.verdict.status])
