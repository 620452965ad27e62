"""The command ``release``: a query of correlated data, answered with calibrated noise that is verified before anything leaves."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from privproof.cli.command_answers import console, current_answer, end, say, say_json, write
from privproof.cli.command_options import (
    AsJson,
    CertificateOut,
    LedgerAnalyst,
    LedgerDataset,
    LedgerNote,
    NoiseSeed,
    PaidFrom,
    RenyiTexts,
    ReportOut,
    RhoText,
    TimeLimit,
)
from privproof.cli.command_requests import REFUSED, STATUS, answer_if_stopped, renyi_orders, writable
from privproof.cli.command_worker import command, report_activity, set_time_limit
from privproof.errors import BudgetError, QuestionError

_METHODS = "auto, exact, coupling, wasserstein, quilt, contraction, spectral-tight, spectral, gk16, group, own."


@command("release")
def release(
    data: Annotated[
        list[str],
        typer.Argument(
            metavar="DATA...", help="CSV or Parquet files, or folders of them, read as one table; or see --sql."
        ),
    ],
    column: Annotated[str, typer.Option("--column", help="The column with the states, or with numbers (see --bins).")],
    query: Annotated[
        str,
        typer.Option(
            "--query",
            help="count:walk,run; histogram; shares; sum; mean; sum:walk=1/3,run=1; mean:walk=1; top:3; mode; median; quantile:1/4,3/4.",
        ),
    ],
    epsilon_: Annotated[str | None, typer.Option("--epsilon", help="The budget: 1, 1/2, ln(2).")] = None,
    rho: RhoText = None,
    renyi: RenyiTexts = None,
    prior: Annotated[
        str | None, typer.Option("--prior", metavar="FILE[:NAME]", help="The prior: a file of kind prior, or Python.")
    ] = None,
    fit: Annotated[list[Path] | None, typer.Option("--fit", help="Fit the prior to this public table.")] = None,
    fit_private: Annotated[
        bool, typer.Option("--fit-private", help="Fit the prior to the private data itself: a leak of its own.")
    ] = False,
    start: Annotated[
        str | None, typer.Option("--start", help="The first value of a fitted prior: stationary (default) or any.")
    ] = None,
    smoothing: Annotated[
        str | None, typer.Option("--smoothing", help="Added to every count of a fitted prior; default 1/2.")
    ] = None,
    confidence: Annotated[
        str | None,
        typer.Option(
            "--confidence", help="Fit a band: all chains that the table does not speak against, such as 0.95."
        ),
    ] = None,
    series: Annotated[
        str | None,
        typer.Option("--series", help="The column that tells series apart, or that names the nodes of a network."),
    ] = None,
    time: Annotated[str | None, typer.Option("--time", help="The column with times, for --gap.")] = None,
    gap: Annotated[
        str | None,
        typer.Option("--gap", help="A larger step of time than this splits a series (seconds for timestamps)."),
    ] = None,
    gaps: Annotated[
        str,
        typer.Option(
            "--gaps", help="What a gap or a missing entry means: joined (a longer distance), or independent parts."
        ),
    ] = "joined",
    bins: Annotated[
        str | None, typer.Option("--bins", metavar="LOW:WIDTH:HIGH", help="Bins for a column of numbers: 0:200:10200.")
    ] = None,
    states: Annotated[str | None, typer.Option("--states", help="The states, separated by commas.")] = None,
    delimiter: Annotated[
        str | None, typer.Option("--delimiter", help="What stands between two cells of a CSV.")
    ] = None,
    missing: Annotated[list[str] | None, typer.Option("--missing", help="A text that means a missing entry.")] = None,
    sql: Annotated[
        str | None,
        typer.Option("--sql", help="DATA is a database (SQLite, DuckDB, postgresql://...), and this query the table."),
    ] = None,
    jobs: Annotated[
        int, typer.Option("--jobs", min=1, help="So many processes count files, and parts of Parquet files.")
    ] = 1,
    account: PaidFrom = None,
    dataset: LedgerDataset = None,
    analyst: LedgerAnalyst = "",
    note: LedgerNote = "",
    method: Annotated[str, typer.Option("--method", help=_METHODS)] = "auto",
    noise: Annotated[
        str,
        typer.Option("--noise", help="geometric, in whole steps; laplace, on a fine lattice; gaussian, with --delta."),
    ] = "geometric",
    delta: Annotated[
        str | None, typer.Option("--delta", help="With Gaussian noise: the chance to lose more, 1e-6.")
    ] = None,
    seed: NoiseSeed = None,
    record: Annotated[Path | None, typer.Option("--record", help="Write the record (JSON) here.")] = None,
    save_prior: Annotated[Path | None, typer.Option("--save-prior", help="Write a fitted prior here.")] = None,
    as_json: AsJson = False,
    certificate: CertificateOut = None,
    report: ReportOut = None,
    time_limit: TimeLimit = None,
) -> None:
    """Release a query of correlated data with noise that keeps every entry secret within the budget.

    The noise is verified before anything is released. Exit status: 0 released, 2 the request was wrong, 3 its privacy was not proved
    and nothing is released. What would be beyond the budget of --account is refused with status 1.
    """
    from privproof.exact import epsilon as exact_epsilon  # here and below, because help needs none of it
    from privproof.release.ledger import Ledger
    from privproof.release.prior_files import prior_text
    from privproof.release.prior_loading import load_priors
    from privproof.release.release_records import print_record, record_data, record_page
    from privproof.release.table_release import Paid, Request, release_table
    from privproof.release.tables.table_files import Bins
    from privproof.release.tables.table_streams import query_rows
    from privproof.reporting import Fact, print_verdict
    from privproof.reporting.console_texts import print_facts

    if epsilon_ is None and rho is None and not renyi:
        raise QuestionError(
            "budget", "no budget is given", place="--epsilon", hint="--epsilon 1, --rho 1/8, --renyi 2=1/4"
        )
    answer_if_stopped(column, as_json=as_json, err="privproof: nothing was released\n")
    set_time_limit(time_limit)
    report_activity("calibrating the noise")
    writable(record, certificate, report, save_prior)
    if (prior is not None) + bool(fit) + fit_private != 1:
        raise QuestionError(
            "prior",
            "which prior? one of --prior, --fit and --fit-private",
            place="--prior",
            hint="--fit PUBLIC.csv, or --prior prior.yaml",
        )
    if states is not None and (prior is not None or bins is not None):
        raise QuestionError(
            "states", "the prior, or the bins, say which states there are", place="--states", hint="drop --states"
        )
    if confidence is not None and (prior is not None or start is not None or smoothing is not None):
        raise QuestionError(
            "confidence",
            "a band is fitted, starts anywhere, and is not smoothed",
            place="--confidence",
            hint="--fit PUBLIC.csv --confidence 0.95",
        )
    if prior is not None and (start is not None or smoothing is not None):
        raise QuestionError(
            "start",
            "a given prior says how it starts, and is not smoothed",
            place="--prior",
            hint="start: any in the file",
        )
    parts = None if bins is None else bins.split(":")
    if parts is not None and len(parts) != 3:
        raise QuestionError("bins", f"{bins!r} names no bins", place="--bins", hint="--bins 0:200:10200")
    if sql is not None and len(data) != 1:
        raise QuestionError("sql", f"{len(data)} databases for one query", place="--sql", hint="one database")
    request = Request(
        data=tuple(map(Path, data)) if sql is None else (query_rows(data[0], sql),),
        column=column,
        query=query,
        epsilon=None if epsilon_ is None else exact_epsilon(epsilon_),
        rho=rho,
        renyi=renyi_orders(renyi) or None,
        priors=None if prior is None else load_priors(prior),
        told=f"given in {prior}",
        public=tuple(fit or ()),
        start=start or "stationary",
        smoothing=smoothing or "1/2",
        confidence=confidence,
        series=series,
        time=time,
        gap=gap,
        gaps=gaps,
        delimiter=delimiter,
        bins=None if parts is None else Bins.of(*parts),
        states=None if states is None else tuple(state.strip() for state in states.split(",")),
        missing=tuple(missing or ()),
        method=method,
        noise=noise,
        delta=delta or 0,
        seed=seed,
        jobs=jobs,
        paid=None if account is None else Paid(Ledger(account), dataset, analyst, note),
    )
    try:
        found = release_table(request, compare=report is not None, told=report_activity)
    except BudgetError as problem:
        if request.paid is None or (problem.code, problem.place) != ("budget", "budget"):
            raise
        if as_json:
            say_json({"released": {}, "ledger": account, "reason": problem.message, "hint": problem.hint})
        else:
            print_facts(console(), "refused", f"{account}: {problem.message}", [Fact("left", problem.hint)])
        say("privproof: nothing was released", err=True)
        end(REFUSED)
    if save_prior is not None:
        write(save_prior, prior_text(found.priors))
    if found.released is None:
        if as_json:
            say_json(record_data(found))
        else:
            print_verdict(console(), found.verdict, command=None, asked_tight=False)
        say("privproof: nothing was released", err=True)
        end(STATUS["unknown"])
    current_answer().withdrawn = True
    if certificate is not None:
        write(certificate, json.dumps(found.verdict.certificate, ensure_ascii=False, indent=1) + "\n")
        found = replace(found, certificate=str(certificate))
    if report is not None:
        write(report, record_page(found).written(report))
    if record is not None:
        write(record, json.dumps(record_data(found), ensure_ascii=False, indent=1) + "\n")
    if as_json:
        say_json(record_data(found))
        for warning in found.source.warnings:
            say(warning, err=True)
        return
    files = (("record", record), ("certificate", certificate), ("report", report), ("saved prior", save_prior))
    more = [Fact(name, str(path)) for name, path in files if path is not None]
    print_record(console(), found, more=more)
