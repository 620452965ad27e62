"""The commands ``rho``, ``mu`` and ``renyi``: the smallest values of other measures than epsilon and delta."""

from __future__ import annotations

from typing import Annotated

import typer

from privproof.asking import ask, renyi_curve
from privproof.cli.command_answers import console, end, say, say_json
from privproof.cli.command_drafts import command_of, draft_question, finish, load_question
from privproof.cli.command_options import (
    AsJson,
    CertificateOut,
    Inputs,
    NeighboursText,
    ReportOut,
    Settings,
    Size,
    Target,
    TimeLimit,
)
from privproof.cli.command_requests import STATUS, begin, one_size, writable
from privproof.cli.command_worker import command, command_monitor
from privproof.engines.engine_protocol import EngineRequest
from privproof.exact.measures import MU, RHO, Measure, MeasuredBudget
from privproof.reporting import print_renyi, renyi_csv, renyi_data

ORDERS = ("1", "3/2", "2", "3", "4", "8", "16", "32", "64")
"""The orders of Rényi divergences, unless others are asked for."""


@command("rho")
def rho(
    target: Target,
    size: Size = None,
    settings: Settings = None,
    inputs: Inputs = None,
    neighbours: NeighboursText = None,
    as_json: AsJson = False,
    certificate: CertificateOut = None,
    report: ReportOut = None,
    time_limit: TimeLimit = None,
) -> None:
    """The smallest rho of zCDP, enclosed.

    Proved from above, refuted from below.
    """
    _smallest(RHO, target, size, settings, inputs, neighbours, as_json, certificate, report, time_limit)


@command("mu")
def mu(
    target: Target,
    size: Size = None,
    settings: Settings = None,
    inputs: Inputs = None,
    neighbours: NeighboursText = None,
    as_json: AsJson = False,
    certificate: CertificateOut = None,
    report: ReportOut = None,
    time_limit: TimeLimit = None,
) -> None:
    """The smallest mu of Gaussian differential privacy, enclosed.

    Proved from above, refuted from below.
    """
    _smallest(MU, target, size, settings, inputs, neighbours, as_json, certificate, report, time_limit)


def _smallest(
    measure: Measure,
    target: str,
    size: Size,
    settings: Settings,
    inputs: Inputs,
    neighbours: NeighboursText,
    as_json: AsJson,
    certificate: CertificateOut,
    report: ReportOut,
    time_limit: TimeLimit,
) -> None:
    begin(target, time_limit, as_json=as_json)
    writable(certificate, report)
    number = one_size(size)
    asked = command_of(target, number, None, None, None, settings, inputs, neighbours, pointwise=False)
    question = load_question(target, number, None, None, settings, inputs, neighbours).measured(
        (MeasuredBudget(measure),)
    )
    draft_question(question, command=asked, asked_tight=True, as_json=as_json)
    with command_monitor() as monitor:
        verdict = ask(EngineRequest(question, tight=True), None, monitor)
    finish(verdict, command=asked, asked_tight=True, as_json=as_json, certificate=certificate, report=report)


@command("renyi")
def renyi(
    target: Target,
    orders: Annotated[str, typer.Option("--orders", help="The orders, from 1 on, with commas between.")] = ",".join(
        ORDERS
    ),
    size: Size = None,
    settings: Settings = None,
    inputs: Inputs = None,
    neighbours: NeighboursText = None,
    csv: Annotated[bool, typer.Option("--csv", help="Print order,lower,upper rows and nothing else.")] = False,
    as_json: AsJson = False,
    time_limit: TimeLimit = None,
) -> None:
    """Rényi divergences at some orders, enclosed.

    The largest over all neighbours.
    """
    begin(target, time_limit, as_json=as_json)
    question = load_question(target, one_size(size), None, None, settings, inputs, neighbours)
    with command_monitor() as monitor:
        found = renyi_curve(question, [part.strip() for part in orders.split(",")], monitor)
    if csv:
        say(renyi_csv(found), end="")
    elif as_json:
        say_json(renyi_data(found))
    else:
        print_renyi(console(), found)
    proved = all(verdict.status != "unknown" for _, verdict in found)
    end(STATUS["proved" if proved else "unknown"])
