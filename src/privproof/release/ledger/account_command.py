"""The command ``account``: the ledger of what was released and what it cost."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from privproof.cli.command_answers import console, end, say, say_json, write
from privproof.cli.command_options import AsJson
from privproof.cli.command_requests import writable
from privproof.cli.command_worker import WHY, command, on_interrupt
from privproof.errors import BudgetError, FormatError, QuestionError
from privproof.formats.document_nodes import file_text
from privproof.release.ledger import Cost, DataSet, Entry, Ledger
from privproof.release.ledger.account_files import read_account
from privproof.release.ledger.quilt_accounting import Accountant
from privproof.release.locations.location_findings import LocationFinding
from privproof.release.markov_chains import Chain
from privproof.release.prior_loading import load_priors
from privproof.reporting import Fact
from privproof.reporting.console_texts import print_facts
from privproof.reporting.html_pages import Page

Action = Literal["create", "add", "spend", "show", "history", "verify", "export"]
REFUSED = 1
"""The status of a spending that is beyond the budget, and of a ledger in which something is wrong."""
_COLUMNS = (
    "sequence",
    "time",
    "dataset",
    "kind",
    "analyst",
    "cost",
    "total",
    "note",
    "seeded",
    "certificate",
    "digest",
)


@command("account")
def account(
    action: Annotated[
        Action, typer.Argument(metavar="ACTION", help="create, add, spend, show, history, verify or export.")
    ],
    ledger: Annotated[str, typer.Argument(metavar="LEDGER", help="A file, or postgresql://user@host/database.")],
    out: Annotated[Path | None, typer.Argument(metavar="[OUT]", help="For export: .csv, .json or .html.")] = None,
    epsilon: Annotated[str | None, typer.Option("--epsilon", help="The budget, or what a release costs.")] = None,
    delta: Annotated[str, typer.Option("--delta", help="Its delta.")] = "0",
    rho: Annotated[str | None, typer.Option("--rho", help="Instead of an epsilon: rho, of zCDP.")] = None,
    dataset: Annotated[str | None, typer.Option("--dataset", help="The data set, where there are several.")] = None,
    note: Annotated[str, typer.Option("--note", help="What is released.")] = "",
    analyst: Annotated[str, typer.Option("--analyst", help="Who releases it.")] = "",
    certificate: Annotated[
        Path | None,
        typer.Option(
            "--certificate",
            help="For spend: the certificate of its privacy, which is kept. For show, under a prior: write that of the total here.",
        ),
    ] = None,
    window: Annotated[
        str | None,
        typer.Option("--window", help="For create and add: the budget holds in every such stretch of time: 30d."),
    ] = None,
    old: Annotated[
        Path | None, typer.Option("--from", help="For create: an account file under a prior; its releases are entered.")
    ] = None,
    prior: Annotated[
        str | None,
        typer.Option("--prior", metavar="FILE[:NAME]", help="For create and add: the budget is under this prior."),
    ] = None,
    length: Annotated[
        int | None, typer.Option("--length", min=1, help="With --prior: the length of the longest series.")
    ] = None,
    entries: Annotated[
        str | None,
        typer.Option("--entries", metavar="FIRST..LAST", help="Under a prior: the entries a release looks at."),
    ] = None,
    head: Annotated[
        str | None, typer.Option("--head", help="For verify: a digest that was noted down; it must still be there.")
    ] = None,
    tests: Annotated[bool, typer.Option("--for-tests", help="For create: take releases with seeded noise.")] = False,
    as_json: AsJson = False,
) -> None:
    """The ledger: what was released about data sets, what it cost, and what is left.

    `create` makes a ledger with a budget, `add` one more data set, `spend` enters what a release costs before it is made, if the budget
    allows. `show` tells what is left, `history` every entry, `verify` checks all of it again, `export` writes it.

    Exit status: 0 done, 1 beyond the budget (spend) or something is wrong (verify), 2 the request itself was wrong.
    """
    on_interrupt(lambda _: {"err": f"privproof: {WHY}: the history says what was entered\n"})
    if (out is not None) != (action == "export"):
        hint = f"privproof account export {ledger} OUT.csv"
        raise QuestionError(
            "usage", "export, and nothing else, has a file to write to", place=f"account {action}", hint=hint
        )
    match action:
        case "create":
            name = dataset or "default"
            if old is not None and (prior is not None or length is not None):
                said = "the account file says under which prior its budget is"
                raise QuestionError("account", said, place="--from", hint="drop --prior and --length")
            given = _account_under(prior, length, epsilon, delta) if old is None else read_account(old)
            made = Ledger.create(
                ledger,
                epsilon=None if given is not None and old is None else epsilon,
                delta="0" if given is not None and old is None else delta,
                rho=rho,
                account=given,
                dataset=name,
                window=window,
                tests=tests,
            )
            _show(made, as_json=as_json)
        case "add":
            if dataset is None:
                raise QuestionError("dataset", "a data set has a name", place="account add", hint="--dataset NAME")
            found = Ledger(ledger)
            given = _account_under(prior, length, epsilon, delta)
            found.add_dataset(
                dataset,
                epsilon=epsilon if given is None else None,
                delta=delta if given is None else "0",
                rho=rho,
                account=given,
                window=window,
            )
            _show(found, as_json=as_json)
        case "spend":
            _spend(Ledger(ledger), epsilon, delta, rho, dataset, analyst, note, certificate, entries, as_json=as_json)
        case "show":
            if certificate is not None:
                _certify(Ledger(ledger), dataset, certificate)
            _show(Ledger(ledger), as_json=as_json)
        case "history":
            _history(Ledger(ledger).history(dataset), as_json=as_json)
        case "verify":
            _verify(Ledger(ledger), head, as_json=as_json)
        case "export":
            assert out is not None
            _export(Ledger(ledger), dataset, out)


def _account_under(prior: str | None, length: int | None, epsilon: str | None, delta: str) -> Accountant | None:
    """The account of a budget under a prior; None where there is no prior."""
    if prior is None and length is None:
        return None
    if prior is None or length is None or epsilon is None:
        raise QuestionError(
            "account",
            "a budget under a prior has the prior, the length of the longest series, and an epsilon",
            place="--prior",
            hint="--prior prior.yaml --length 600 --epsilon 4",
        )
    listed = load_priors(prior)
    chains = [each for each in listed if isinstance(each, Chain)]
    for each in listed:
        if not isinstance(each, Chain):
            raise QuestionError(
                "prior", f"{each} has no account", place=prior, hint="chains of which every state is seen"
            )
    return Accountant.of(chains, length=length, epsilon=epsilon, delta=delta)


def _spend(
    ledger: Ledger,
    epsilon: str | None,
    delta: str,
    rho: str | None,
    dataset: str | None,
    analyst: str,
    note: str,
    certificate: Path | None,
    entries: str | None,
    *,
    as_json: bool,
) -> None:
    document = None if certificate is None else _document(certificate)
    cost: dict[str, Any] = {"epsilon": epsilon, "delta": delta, "rho": rho}
    if entries is not None:
        first, dots, last = entries.partition("..")
        if not dots or not first.isdecimal() or not (last.isdecimal() or not last):
            raise QuestionError("entries", f"{entries!r} are no entries", place="--entries", hint="--entries 1..100")
        cost = {"entry": epsilon, "rho": rho, "delta": delta, "first": int(first), "last": int(last) if last else None}
    try:
        entry = ledger.spend(**cost, dataset=dataset, analyst=analyst, note=note, certificate=document)
    except BudgetError as problem:
        if problem.code != "budget":
            raise
        if as_json:
            say_json({"spent": False, "ledger": ledger.name, "reason": problem.message, "hint": problem.hint})
        else:
            print_facts(
                console(),
                "refused",
                f"{ledger.name}: {problem.message}",
                [Fact("left", problem.hint.removesuffix(" left"))],
            )
        end(REFUSED)
    known = ledger.datasets[entry.dataset]
    budget, spent, left = known.rule.sums(entry.total)
    if as_json:
        sums = _sums_data(known, entry.total)
        say_json({"spent": True, "ledger": ledger.name, "entry": _plain(entry), **sums})
    else:
        facts = [
            Fact("entry", f"{entry.sequence}, {entry.time}"),
            Fact("data set", entry.dataset),
            Fact("total", f"{spent} of {budget or 'no limit'}" + _in_window(known)),
            Fact("left", str(left or "no limit")),
            Fact("digest", entry.digest),
        ]
        print_facts(console(), "spent", f"{ledger.name}: {entry.cost}", facts)
    end(0)


def _document(path: Path) -> Mapping[str, Any]:
    try:
        found = json.loads(file_text(path))
    except ValueError as problem:
        raise FormatError("certificate", f"no certificate: {problem}", place=str(path)) from None
    if not isinstance(found, dict):
        raise FormatError("certificate", "a certificate is a JSON object", place=str(path))
    return found


def _show(ledger: Ledger, *, as_json: bool) -> None:
    known = ledger.datasets
    if as_json:
        listed = []
        for one in known.values():
            said = {"rule": one.rule.document()["rule"], "releases": one.spendings, "window_seconds": one.window}
            listed.append({"dataset": one.name, **said, **_sums_data(one, one.total)})
        say_json({"ledger": ledger.name, "datasets": listed, "head": ledger.head})
        end(0)
    facts = []
    for one in known.values():
        budget, spent, left = one.rule.sums(one.total)
        releases = f"{one.spendings} release{'' if one.spendings == 1 else 's'}"
        facts.append(
            Fact(
                one.name, f"{spent} of {budget or 'no limit'}{_in_window(one)} in {releases}\n{left or 'no limit'} left"
            )
        )
    facts.append(Fact("digest", ledger.head))
    print_facts(console(), "ledger", ledger.name, facts)
    end(0)


def _certify(ledger: Ledger, dataset: str | None, path: Path) -> None:
    """Write the certificate of what all releases about a data set lose together under its prior."""
    from privproof.release.release_verification import verify

    writable(path)
    verdict = verify(ledger.account(dataset))
    assert not isinstance(verdict, LocationFinding)
    if verdict.certificate is None:
        raise QuestionError("account", "the total is not proved", place=ledger.name, hint="privproof account verify")
    write(path, json.dumps(verdict.certificate, ensure_ascii=False, indent=1) + "\n")


def _sums_data(one: DataSet, total: Cost | None) -> dict[str, Any]:
    """What may be spent, is spent and is left, as exact texts."""
    names = ("budget", "total", "left")
    return {
        name: None if cost is None else cost.document() for name, cost in zip(names, one.rule.sums(total), strict=True)
    }


def _in_window(one: DataSet) -> str:
    return "" if one.window is None else f" in every {one.window:,} s"


def _history(found: list[Entry], *, as_json: bool) -> None:
    if as_json:
        say_json({"entries": [_plain(entry) for entry in found]})
    else:
        for entry in found:
            said = " ".join(part for part in (entry.body.get("analyst", ""), entry.body.get("note", "")) if part)
            cost = entry.cost
            what = str(cost) if cost is not None else _what(entry)
            say(
                f"{entry.sequence:>6}  {entry.time[:19]}Z  {entry.dataset:<12} {entry.kind:<9} {what}"
                + (f"  ({said})" if said else "")
            )
    end(0)


def _what(entry: Entry) -> str:
    match entry.kind:
        case "released":
            return f"what entry {entry.body['reserved']} reserved"
        case "dataset":
            return ", ".join(
                f"{key} {value}" for key, value in entry.body["rule"].items() if not isinstance(value, dict)
            )
        case _:
            return ""


def _plain(entry: Entry) -> dict[str, Any]:
    body = {key: value for key, value in entry.body.items() if key != "previous"}
    return {**body, "digest": entry.digest}


def _verify(ledger: Ledger, head: str | None, *, as_json: bool) -> None:
    found = ledger.verify(head=head)
    if as_json:
        say_json(
            {
                "ledger": ledger.name,
                "sound": not found.problems,
                "entries": found.entries,
                "certificates": found.certificates,
                "head": found.head,
                "problems": list(found.problems),
            }
        )
    else:
        status = "unsound" if found.problems else "sound"
        said = f"{len(found.problems)} problems" if found.problems else "the chain is whole, and no budget was exceeded"
        facts = [
            Fact("entries", str(found.entries)),
            Fact("certificates", f"{found.certificates} accepted by the independent checker"),
            *(Fact("problem", problem) for problem in found.problems),
            Fact("digest", found.head),
        ]
        print_facts(console(), status, f"{ledger.name}: {said}", facts)
    end(REFUSED if found.problems else 0)


def _export(ledger: Ledger, dataset: str | None, out: Path) -> None:
    writable(out)
    found = ledger.history(dataset)
    match out.suffix.lower():
        case ".csv":
            text = io.StringIO()
            table = csv.writer(text, lineterminator="\n")
            table.writerow(_COLUMNS)
            table.writerows([_cells(entry) for entry in found])
            write(out, text.getvalue())
        case ".json":
            write(out, json.dumps([_plain(entry) for entry in found], ensure_ascii=False, indent=1) + "\n")
        case ".html":
            facts = []
            for one in ledger.datasets.values():
                budget, spent, left = one.rule.sums(one.total)
                facts.append(
                    Fact(one.name, f"{spent} of {budget or 'no limit'}{_in_window(one)}; {left or 'no limit'} left")
                )
            facts += [
                Fact(str(entry.sequence), "; ".join(cell for cell in map(str, _cells(entry)[1:8]) if cell))
                for entry in found
            ]
            data = {"ledger": ledger.name, "entries": [_plain(entry) for entry in found]}
            write(out, Page("computed", ledger.name, tuple(facts), "", data).written(out))
        case other:
            raise FormatError("suffix", f"unknown suffix {other!r}", place=str(out), hint=".csv, .json or .html")
    say(f"{out} written")
    end(0)


def _cells(entry: Entry) -> list[Any]:
    body = entry.body
    return [
        entry.sequence,
        entry.time,
        entry.dataset,
        entry.kind,
        body.get("analyst", ""),
        "" if entry.cost is None else str(entry.cost),
        "" if entry.total is None else str(entry.total),
        body.get("note", ""),
        body.get("seeded", ""),
        body.get("certificate") or "",
        entry.digest,
    ]
