"""The command ``locations``: places and traces of a table, reported with noise that is verified before anything leaves."""

from __future__ import annotations

import csv
import io
import json
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
    TimeLimit,
)
from privproof.cli.command_requests import REFUSED, STATUS, answer_if_stopped, writable
from privproof.cli.command_worker import command, report_activity, set_time_limit
from privproof.errors import BudgetError, FormatError, QuestionError
from privproof.exact import show
from privproof.reporting import Fact
from privproof.reporting.console_texts import print_facts


@command("locations")
def locations(
    data: Annotated[Path, typer.Argument(metavar="DATA", help="A CSV file with a row for every place.")],
    epsilon_: Annotated[
        str, typer.Option("--epsilon", help="The level of all reports of a person together: ln(4), 1/2.")
    ],
    radius: Annotated[
        str, typer.Option("--radius", help="Within so many metres no two places are told apart beyond the level.")
    ],
    reference: Annotated[
        str, typer.Option("--reference", metavar="LAT,LON", help="A public place nearby: 50.0875,14.4213.")
    ],
    latitude: Annotated[str, typer.Option("--latitude", help="The column with latitudes, in degrees.")] = "latitude",
    longitude: Annotated[
        str, typer.Option("--longitude", help="The column with longitudes, in degrees.")
    ] = "longitude",
    trace: Annotated[
        str | None,
        typer.Option(
            "--trace", help="The column that says whose place it is; without it every row is somebody else's."
        ),
    ] = None,
    reports: Annotated[
        int | None,
        typer.Option("--reports", min=1, help="Rows that a person may have; default: as many as somebody has."),
    ] = None,
    step: Annotated[
        str | None, typer.Option("--step", help="The step of the grid in metres; default: a tenth of the radius.")
    ] = None,
    optimal: Annotated[
        Path | None,
        typer.Option(
            "--optimal",
            metavar="MAP",
            help="A CSV file of public places, in the same columns: of all tables for these few, take the best.",
        ),
    ] = None,
    share: Annotated[
        str | None,
        typer.Option("--share", help="The column of the map that says how often people are there; default: alike."),
    ] = None,
    account: PaidFrom = None,
    dataset: LedgerDataset = None,
    analyst: LedgerAnalyst = "",
    note: LedgerNote = "",
    seed: NoiseSeed = None,
    out: Annotated[Path | None, typer.Option("--out", help="Write the reports (CSV) here.")] = None,
    as_json: AsJson = False,
    certificate: CertificateOut = None,
    time_limit: TimeLimit = None,
) -> None:
    """Report places and traces of a table with noise: near places are hardly told apart.

    The noise is verified before anything is released. Exit status: 0 released, 1 beyond the budget of --account, 2 the request was
    wrong, 3 its privacy was not proved and nothing is released.
    """
    from privproof.release.ledger import Ledger  # here, because no other command needs them
    from privproof.release.locations.location_maps import Projection
    from privproof.release.locations.location_traces import column_of, map_of, release_traces, whereabouts_in
    from privproof.release.locations.optimal_tables import Optimal
    from privproof.release.table_release import Paid

    answer_if_stopped(str(data), as_json=as_json, err="privproof: nothing was released\n")
    set_time_limit(time_limit)
    writable(out, certificate)
    if optimal is None and share is not None:
        raise QuestionError("share", "shares are about a map", place="--share", hint="--optimal MAP.csv --share visits")
    if optimal is not None and optimal.resolve() == data.resolve():
        raise QuestionError(
            "map", "the map is made of the private places themselves", place="--optimal", hint="a file of public places"
        )
    if optimal is not None and step is None:
        raise QuestionError(
            "step", "how coarse is the grid of the map?", place="--optimal", hint=f"--step {radius}: metres"
        )
    north, comma, east = reference.partition(",")
    if not comma:
        raise QuestionError(
            "reference", f"{reference!r} is no place", place="--reference", hint="--reference 50.0875,14.4213"
        )
    around = Projection.at(north.strip(), east.strip())
    places = whereabouts_in(_rows(data), latitude, longitude, trace)
    known, likely = None, None
    if optimal is not None and step is not None:
        public = _rows(optimal)
        listed = whereabouts_in(public, latitude, longitude, file=str(optimal))
        shares = None if share is None else column_of(public, share, file=str(optimal))
        known, likely = map_of(listed, shares, around=around, step=step)
    try:
        found = release_traces(
            places,
            epsilon_,
            radius=radius,
            around=around,
            step=step,
            reports=reports,
            map=known,
            prior=likely,
            paid=None if account is None else Paid(Ledger(account), dataset, analyst, note),
            seed=seed,
            told=report_activity,
        )
    except BudgetError as problem:
        if account is None or (problem.code, problem.place) != ("budget", "budget"):
            raise
        if as_json:
            say_json({"released": [], "ledger": account, "reason": problem.message, "hint": problem.hint})
        else:
            print_facts(console(), "refused", f"{account}: {problem.message}", [Fact("left", problem.hint)])
        say("privproof: nothing was released", err=True)
        end(REFUSED)
    if found.verdict.status != "proved":
        say("privproof: nothing was released: the rate of the noise was not proved", err=True)
        end(STATUS["unknown"])
    current_answer().withdrawn = True
    if certificate is not None:
        write(certificate, json.dumps(found.verdict.certificate, ensure_ascii=False, indent=1) + "\n")
    table = io.StringIO()
    writer = csv.writer(table, lineterminator="\n")
    names = ["latitude", "longitude"] if trace is None else [trace, "latitude", "longitude"]
    writer.writerow(names)
    writer.writerows(row[-len(names) :] for row in found.rows)
    if out is not None:
        write(out, table.getvalue())
    error = (
        f"{float(found.noise.expected_distance):.0f} m from the place's site in the mean, under the map's shares"
        if isinstance(found.noise, Optimal)
        else "half of the reports within {:.0f} m, 95 % within {:.0f} m".format(
            *(float(found.noise.accuracy(part)) for part in ("1/2", "0.95"))
        )
    )
    people = (
        "for each report" if found.reports == 1 else f"for all reports of a person together, {found.reports} at most"
    )
    promise = f"{found.level.show()} within {show(found.radius)} m, {people}"
    facts = [
        Fact("promise", promise),
        Fact("noise", str(found.noise)),
        Fact("error", error),
        Fact("not hidden", "how many rows there are, and whose they are"),
    ]
    if seed is not None:
        facts.append(Fact("warning", "the noise is drawn from a seed: for tests, not for release"))
    if found.entry is not None:
        facts.append(Fact("ledger", f"{account}, entry {found.entry.sequence}"))
    if as_json:
        said = {fact.label.replace(" ", "_"): fact.text for fact in facts}
        say_json({"released": [dict(zip(names, row[-len(names) :], strict=True)) for row in found.rows], **said})
        return
    if out is None:
        say(table.getvalue(), end="")
        return
    sentence = f"{len(found.rows)} places of {data} are reported with noise"
    print_facts(console(), "proved", sentence, [*facts, Fact("reports", str(out))])


def _rows(path: Path) -> list[dict[str, str]]:
    try:
        with path.open(newline="", encoding="utf-8-sig") as file:
            return list(csv.DictReader(file, restval=""))
    except (OSError, UnicodeDecodeError, csv.Error) as problem:
        raise FormatError("file", f"cannot read: {problem}", place=str(path)) from None
