"""The command ``audit``: a statistical test, then exact certification of what it found."""

from __future__ import annotations

import ast
import json
import shlex
from fractions import Fraction
from typing import Annotated, Any

import typer

from privproof.audits.audit_data import audit_data
from privproof.audits.audit_findings import Audit
from privproof.audits.audit_pages import audit_page
from privproof.audits.audit_texts import print_audit
from privproof.audits.sampling import runnable
from privproof.cli.command_answers import console, end, rendered_text, say_json, write
from privproof.cli.command_options import (
    AsJson,
    CertificateOut,
    Cluster,
    DeltaText,
    Inputs,
    Jobs,
    MuText,
    RenyiTexts,
    ReportOut,
    RhoText,
    TimeLimit,
)
from privproof.cli.command_requests import AGAINST, STATUS, begin, measure_options, named_sizes, renyi_orders, writable
from privproof.cli.command_worker import WHY, command, command_monitor, on_interrupt, report_activity
from privproof.errors import QuestionError
from privproof.execution.workers import cluster
from privproof.loading.file_targets import parameters_of
from privproof.loading.function_loading import load_subject
from privproof.loading.question_loading import inputs_of
from privproof.reporting import Fact


@command("audit")
def audit(
    target: Annotated[
        str,
        typer.Argument(
            metavar="FILE[:NAME]", help="A Python file and a mechanism, a function or an object to run in it."
        ),
    ],
    epsilon_: Annotated[
        str | None, typer.Option("--epsilon", help="The budget to test; default: the mechanism's own claim.")
    ] = None,
    delta_: DeltaText = None,
    rho: RhoText = None,
    mu: MuText = None,
    renyi: RenyiTexts = None,
    curve: Annotated[
        str | None,
        typer.Option("--curve", metavar="EPSILONS", help="Bound delta at these epsilons, all together: 0,1/2,1,2."),
    ] = None,
    size: Annotated[
        str | None,
        typer.Option("--size", help="The length of lists and streams: 3, or a range 2..8; default: several."),
    ] = None,
    settings: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="NAME=VALUE", help="A parameter or a public input; may be repeated."),
    ] = None,
    inputs: Inputs = None,
    left: Annotated[
        str | None, typer.Option("--left", help="One data set, in Python: [1, 1], or {'q': [1, 1], 'N': 1}.")
    ] = None,
    right: Annotated[str | None, typer.Option("--right", help="Its neighbour.")] = None,
    neighbours: Annotated[
        str | None, typer.Option("--neighbours", help="each, one, monotone or add-remove; default: as declared.")
    ] = None,
    samples: Annotated[
        int | None,
        typer.Option(
            "--samples", min=100, help="Runs on each side; default: 2000000, or up to 100000 of a plain function."
        ),
    ] = None,
    search: Annotated[
        int | None,
        typer.Option(
            "--search", min=100, help="About how many runs the search may make; default: 3 times --samples, or 3000000."
        ),
    ] = None,
    confidence: Annotated[str, typer.Option("--confidence", help="How sure the bounds are, together.")] = "0.95",
    stop_early: Annotated[
        bool,
        typer.Option("--stop-early", help="End the test when its runs speak against the claim; --samples is the most."),
    ] = False,
    seed: Annotated[int, typer.Option("--seed", min=0, help="Repeats an audit.")] = 0,
    jobs: Jobs = None,
    cluster_: Cluster = None,
    exact: Annotated[
        bool, typer.Option("--exact/--no-exact", help="Ask the exact engines about what was found.")
    ] = True,
    as_json: AsJson = False,
    certificate: CertificateOut = None,
    report: ReportOut = None,
    time_limit: TimeLimit = None,
) -> None:
    """Test a mechanism by running it, then certify exactly what was found: real or spurious.

    Status 1 only where exact probabilities break the budget; where runs alone speak against it, status 4.
    """
    from privproof.audits.audit_request import audit as ask  # here, because it brings the exact engines

    begin(target, time_limit, as_json=as_json)
    writable(certificate, report)
    subject = load_subject(target)
    declared = inputs_of(inputs) or None
    pairs = None
    if (left is None) != (right is None):
        raise QuestionError("pair", "one data set alone", place="--left, --right", hint="give both")
    if left is not None and right is not None:
        exactly = bool(runnable(subject, inputs=declared).inputs)
        pairs = [(_literal(left, "--left", exactly=exactly), _literal(right, "--right", exactly=exactly))]
    sizes = named_sizes(size)

    def repeated(found: Audit) -> str:
        """The command that repeats the audit."""
        given: list[tuple[str, object]] = [
            ("--epsilon", epsilon_),
            ("--delta", delta_),
            *measure_options(rho, mu, renyi),
            ("--curve", curve),
            ("--size", size),
            ("--left", left),
            ("--right", right),
        ]
        given += [("--input", each) for each in inputs or ()]
        given += [("--set", setting) for setting in settings or ()]
        runs = samples if stop_early else found.samples
        given += [("--neighbours", neighbours), ("--samples", runs), ("--search", search), ("--seed", seed)]
        if confidence != "0.95":
            given.append(("--confidence", confidence))
        parts = [str(part) for option, value in given if value is not None for part in (option, value)]
        parts += ["--stop-early"] if stop_early else []
        parts += [] if exact else ["--no-exact"]
        return shlex.join(["privproof", "audit", target, *parts])

    def so_far(found: Audit) -> None:
        """If the command is stopped from now on, this is what the runs say."""
        told = repeated(found)
        if as_json:
            said = {**audit_data(found, command=told), "certificate": None, "reason": WHY}
            on_interrupt(lambda _: {"object": said})
            return
        text = rendered_text(lambda console: print_audit(console, found, command=told, more=[Fact("reason", WHY)]))
        on_interrupt(lambda _: {"out": text})

    report_activity("auditing")
    with cluster(cluster_) as executor, command_monitor() as monitor:
        found = ask(
            subject,
            epsilon_,
            delta_ or 0,
            rho=rho,
            mu=mu,
            renyi=renyi_orders(renyi) or None,
            curve=[part.strip() for part in curve.split(",")] if curve else (),
            pairs=pairs,
            inputs=declared,
            neighbours=neighbours,
            size=None if size is None else sizes[0] if len(sizes) == 1 else [n for n in sizes if n],
            fixed=parameters_of(settings),
            samples=samples,
            search=search,
            confidence=confidence,
            stop_early=stop_early,
            seed=seed,
            jobs=jobs,
            executor=executor,
            exact=exact,
            monitor=monitor,
            so_far=so_far,
        )
    written = None
    if certificate is not None and found.verdict is not None and found.verdict.certificate is not None:
        write(certificate, json.dumps(found.verdict.certificate, ensure_ascii=False, indent=1) + "\n")
        written = str(certificate)
    asked = repeated(found)
    if report is not None:
        write(report, audit_page(found, command=asked).written(report))
    if as_json:
        say_json({**audit_data(found, command=asked), "certificate": written})
    else:
        more = []
        if certificate is not None:
            more.append(Fact("certificate", written or "none: only a verdict of an exact engine has one"))
        if report is not None:
            more.append(Fact("report", str(report)))
        print_audit(console(), found, command=asked, more=more)
    end(AGAINST if found.status == "unknown" and found.violated else STATUS[found.status])


def _literal(text: str, place: str, *, exactly: bool) -> Any:
    """A value in Python's notation; where values are exact, decimals mean what they say."""
    try:
        value = ast.literal_eval(text)
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        raise QuestionError(
            "pair", f"{text!r} is no value in Python's notation", place=place, hint="[1, 0, 1], 3, 'yes', {'q': [1, 2]}"
        ) from None
    return _exact(value) if exactly else value


def _exact(value: Any) -> Any:
    match value:
        case float():
            return Fraction(repr(value))
        case list() | tuple():
            return type(value)(map(_exact, value))
        case dict():
            return {key: _exact(item) for key, item in value.items()}
        case _:
            return value
