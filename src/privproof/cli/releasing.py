"""The command ``release``: a query of correlated data, answered with calibrated noise that is verified before anything leaves."""

from __future__ import annotations

import json
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np
import typer
from rich.console import Console

from privproof.about_releases import check_release
from privproof.cli.common import STATUS, AsJson, CertificateOut, ReportOut, app, writable, write
from privproof.cli.loading import load_priors
from privproof.errors import QuestionError
from privproof.exact import epsilon as exact_epsilon
from privproof.exact import fraction, rational
from privproof.formats.prior_files import prior_text
from privproof.formats.tables import Bins, Reading, Summary, summarise
from privproof.language import seeded
from privproof.release import METHODS, calibrate, spent
from privproof.release.comparing import errors_by_method
from privproof.release.releasing import FITTED, exact_answers, noisy
from privproof.reporting import Fact, print_verdict
from privproof.reporting.records import Record, Source, print_record, record_data, record_page
from privproof.scenarios import Band, Chain
from privproof.scenarios.queries import parse_query

_BUDGETS = ("1/10", "1/5", "1/2", "1", "2", "5", "10")
_SEEDED = (
    "WARNING: the noise was drawn from a seed. Whoever knows the seed knows the truth: for tests, not for release."
)


@app.command()
def release(
    data: Annotated[list[Path], typer.Argument(metavar="DATA...", help="CSV or Parquet files, read as one table.")],
    column: Annotated[str, typer.Option("--column", help="The column with the states, or with numbers (see --bins).")],
    query: Annotated[
        str,
        typer.Option(
            "--query",
            help="count:walk,run; histogram; shares; sum; mean; sum:walk=1/3,run=1; mean:walk=1.",
        ),
    ],
    epsilon_: Annotated[str, typer.Option("--epsilon", help="The budget: 1, 1/2, ln(2).")],
    prior: Annotated[
        str | None, typer.Option("--prior", metavar="FILE[:NAME]", help="The prior: a file of kind prior, or Python.")
    ] = None,
    fit: Annotated[list[Path] | None, typer.Option("--fit", help="Fit the prior to this public table.")] = None,
    fit_private: Annotated[
        bool, typer.Option("--fit-private", help="Fit the prior to the private data itself: a leak of its own.")
    ] = False,
    start: Annotated[
        str, typer.Option("--start", help="The first value of a fitted prior: stationary or any.")
    ] = "stationary",
    smoothing: Annotated[str, typer.Option("--smoothing", help="Added to every count of a fitted prior.")] = "1/2",
    series: Annotated[str | None, typer.Option("--series", help="The column that tells series apart.")] = None,
    time: Annotated[str | None, typer.Option("--time", help="The column with times, for --gap.")] = None,
    gap: Annotated[
        str | None,
        typer.Option("--gap", help="A larger step of time than this splits a series (seconds for timestamps)."),
    ] = None,
    bins: Annotated[
        str | None, typer.Option("--bins", metavar="LOW:WIDTH:HIGH", help="Bins for a column of numbers: 0:200:10200.")
    ] = None,
    states: Annotated[str | None, typer.Option("--states", help="The states, separated by commas.")] = None,
    missing: Annotated[list[str] | None, typer.Option("--missing", help="A text that means a missing entry.")] = None,
    method: Annotated[str, typer.Option("--method", help=f"auto, {', '.join(METHODS)}.")] = "auto",
    noise: Annotated[
        str, typer.Option("--noise", help="geometric, in whole steps, or laplace, on a fine lattice.")
    ] = "geometric",
    seed: Annotated[
        int | None, typer.Option("--seed", help="Draw the noise from a seed: for tests, not for release.")
    ] = None,
    record: Annotated[Path | None, typer.Option("--record", help="Write the record (JSON) here.")] = None,
    save_prior: Annotated[Path | None, typer.Option("--save-prior", help="Write a fitted prior here.")] = None,
    as_json: AsJson = False,
    certificate: CertificateOut = None,
    report: ReportOut = None,
) -> None:
    """Release a query of correlated data with noise that keeps every entry secret within the budget.

    The noise is verified before anything is released. Exit status: 0 released, 2 the request was wrong, 3 its privacy was not proved
    and nothing is released.
    """
    writable(record, certificate, report, save_prior)
    budget = exact_epsilon(epsilon_)
    named = None if states is None else [state.strip() for state in states.split(",")]
    edges = None if bins is None else _bins(bins)

    def reading(paths: list[Path], known: list[str] | None) -> Reading:
        return Reading.of(
            paths,
            column=column,
            series=series,
            time=time,
            gap=None if gap is None else gap,
            bins=edges,
            states=None if edges is not None else known,
            missing=missing or (),
        )

    if (prior is not None) + bool(fit) + fit_private != 1:
        raise QuestionError(
            "prior",
            "which prior? one of --prior, --fit and --fit-private",
            place="--prior",
            hint="--fit PUBLIC.csv, or --prior prior.yaml",
        )
    public_named = named is not None or edges is not None
    summary: Summary | None = None
    priors: tuple[Chain, ...] | tuple[Band, ...]
    if prior is not None:
        priors, where = load_priors(prior), f"given in {prior}"
    elif fit:
        public = summarise(reading(fit, named))
        priors, where = (
            (_fitted(public, start, smoothing, named=public_named),),
            f"fitted to {', '.join(map(str, fit))} ({public})",
        )
    else:
        summary = summarise(reading(data, named))
        priors, where = (_fitted(summary, start, smoothing, named=public_named),), "fitted to the private data itself"
    if save_prior is not None:
        write(save_prior, prior_text(priors[0]))
    known = list(priors[0].states)
    if summary is None:
        summary = summarise(reading(data, known))
        _agree(summary, priors[0])
    middles = None if edges is None else dict(zip(edges.names, edges.middles, strict=True))
    asked = parse_query(query, known, middles)
    made = calibrate(
        priors,
        query=asked,
        epsilon=budget,
        lengths=list(summary.lengths),
        entries=summary.entries,
        method=method,  # type: ignore[arg-type]
        noise=noise,  # type: ignore[arg-type]
    )
    verdict = check_release(made.question)
    if verdict.status != "proved":
        print_verdict(Console(highlight=False, stderr=as_json), verdict, command=None, asked_tight=False)
        typer.echo("privproof: nothing was released", err=True)
        raise typer.Exit(STATUS["unknown"])
    counts = dict(zip(summary.states, summary.counts, strict=True))
    with nullcontext() if seed is None else seeded(seed):
        answer = noisy(made, exact_answers(asked, counts))
    source = Source(
        prior=where,
        data=_described(data, summary),
        private=fit_private,
        secure=seed is None,
        assumptions=_assumptions(summary, time, gap, priors),
        warnings=tuple(text for text, holds in ((FITTED, fit_private), (_SEEDED, seed is not None)) if holds),
    )
    written = None
    if certificate is not None and verdict.certificate is not None:
        write(certificate, json.dumps(verdict.certificate, ensure_ascii=False, indent=1) + "\n")
        written = str(certificate)
    account = max(
        (spent(one, max(summary.lengths), made.cost)[0] for one in priors if isinstance(one, Chain)), default=None
    )
    whole = Record(answer, verdict, source, written, account=account)
    if report is not None:
        errors = errors_by_method(
            priors, query=asked, epsilons=_BUDGETS, lengths=list(summary.lengths), entries=summary.entries
        )
        budgets = tuple(fraction(rational(text)) for text in _BUDGETS)
        write(report, record_page(replace(whole, errors=errors, budgets=budgets)))
    if record is not None:
        write(record, json.dumps(record_data(whole), ensure_ascii=False, indent=1) + "\n")
    if as_json:
        typer.echo(json.dumps(record_data(whole), ensure_ascii=False))
        for warning in source.warnings:
            typer.echo(warning, err=True)
        return
    files = (("record", record), ("certificate", certificate), ("report", report), ("saved prior", save_prior))
    more = [Fact(name, str(path)) for name, path in files if path is not None]
    print_record(Console(highlight=False), whole, more=more)


def _bins(text: str) -> Bins:
    parts = text.split(":")
    if len(parts) != 3:
        raise QuestionError("bins", f"{text!r} names no bins", place="--bins", hint="--bins 0:200:10200")
    return Bins.of(*parts)


def _fitted(summary: Summary, start: str, smoothing: str, *, named: bool) -> Chain:
    """The chain that a table suggests; states that were found in it stand in the order of the alphabet."""
    if start not in ("stationary", "any"):
        raise QuestionError("start", f"{start!r} is no start", place="--start", hint="stationary, any")
    word: Literal["stationary", "any"] = "any" if start == "any" else "stationary"
    order = list(range(len(summary.states)))
    if not named:
        order.sort(key=lambda i: summary.states[i])
    counts, states = summary.transitions[np.ix_(order, order)], [summary.states[i] for i in order]
    return Chain.counted(counts, states=states, smoothing=smoothing, initial=word, name="fitted chain")


def _agree(summary: Summary, prior: Chain | Band) -> None:
    if summary.states != prior.states:
        raise QuestionError(
            "states",
            f"the data have the states {', '.join(summary.states[:6])}, the prior {', '.join(prior.states[:6])}",
            place="--bins",
            hint="the same bins for both",
        )


def _described(paths: list[Path], summary: Summary) -> dict[str, Any]:
    return {
        "files": ", ".join(map(str, paths)),
        "rows": summary.rows,
        "entries": summary.entries,
        "missing": summary.missing,
        "series": summary.series,
        "chains": summary.chains,
        "longest": max(summary.lengths),
    }


def _assumptions(
    summary: Summary, time: str | None, gap: str | None, priors: tuple[Chain, ...] | tuple[Band, ...]
) -> tuple[str, ...]:
    result = [f"the entries follow {'the prior' if len(priors) == 1 else 'one of the priors'}: {priors[0]}"]
    if summary.chains > 1:
        split = (
            " and parts of a series on both sides of a gap or a missing entry"
            if summary.chains > summary.series
            else ""
        )
        result.append(f"different series{split} are independent of each other; the others may be known")
    return (*result, "the number of entries and the lengths of the series are public")
