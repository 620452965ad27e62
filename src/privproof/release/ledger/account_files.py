"""Accounts in files, so that what was released about a series last month counts this month: JSON that is read back exactly.

Several processes may spend from one account.  `spend` reads the account, checks its budget and writes it back under one lock, so no
two of them can spend the same rest.  `write_account` takes the same lock, and refuses to write over what others have spent since.  A
file is replaced as a whole: on a full disk, or where the machine stops half-way, the account of before is there.
"""

from __future__ import annotations

import json
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

from privproof.errors import FormatError
from privproof.exact import Number, epsilon, fraction
from privproof.formats import document_fields as fields
from privproof.formats.document_nodes import DocumentTable, Node, from_plain, read_document, with_file_place
from privproof.formats.whole_files import write_whole
from privproof.release.calibration import Calibrated
from privproof.release.ledger.file_locks import file_lock
from privproof.release.ledger.quilt_accounting import Accountant, Spending
from privproof.release.prior_files import chain_from, prior_document

_HINT = "write it with write_account"
_WAIT = 30.0
"""Seconds to wait for others: twenty that spend at once take a few seconds, since each computes what all releases lose together."""


def spend(
    path: str | Path,
    cost: Number | Calibrated | None = None,
    *,
    squared: Number | None = None,
    first: int = 1,
    last: int | None = None,
    note: str = "",
    wait: float = _WAIT,
) -> Accountant:
    """Enter a release into the account in a file, if its budget allows; release only after this returns.

    Args:
        path: the file.
        cost: what the release loses between two series that differ in one of its entries, or the calibrated release.
        squared: with Gaussian noise, instead of a cost; see `Accountant.spending`.
        first: the first entry it looks at.
        last: the last one; without it the last of the series.
        note: what it is.
        wait: how many seconds to wait for others that use the account.

    Returns:
        The account as it is in the file now.

    Raises:
        BudgetError: the budget would be exceeded; the file is as it was.
        FormatError: the file is no account, cannot be written, or others hold it for too long; it is as it was.
    """
    with file_lock(path, wait=wait):
        account = read_account(path).spending(cost, squared=squared, first=first, last=last, note=note)
        _write(account, path)
    return account


def write_account(account: Accountant, path: str | Path, *, wait: float = _WAIT) -> None:
    """Write an account: its priors, its budget, and every release so far.

    Raises:
        FormatError: the file cannot be written, or holds what this account does not have: another account, or releases that others
            have entered since; it is as it was.
    """
    with file_lock(path, wait=wait):
        if Path(path).exists():
            _continues(account, read_account(path), str(path))
        _write(account, path)


def _continues(account: Accountant, known: Accountant, place: str) -> None:
    """Complain unless the account begins with everything that is known."""
    if replace(account, spendings=()) != replace(known, spendings=()):
        raise FormatError(
            "account",
            "the file holds another account, with other priors, another length or another budget",
            place=place,
            hint="write to another file, or move this one away",
        )
    entered = len(known.spendings)
    if account.spendings[:entered] != known.spendings:
        raise FormatError(
            "account",
            f"the file holds {entered} releases, and this account does not begin with them: writing it would lose some",
            place=place,
            hint="release.spend(path, cost) reads, checks and writes at once; or read the account again",
        )


def account_document(account: Accountant) -> dict[str, Any]:
    """An account as plain data."""
    return {
        "kind": "account",
        "length": account.length,
        "budget": None if account.budget is None else str(account.budget),
        **({} if account.delta == 0 else {"delta": str(account.delta)}),
        "chains": [prior_document(chain) for chain in account.chains],
        "spendings": [
            {
                "first": spent.first,
                "last": spent.last,
                "cost": str(spent.cost),
                "note": spent.note,
                "alone": None if spent.alone is None else str(spent.alone),
                **({} if spent.squared == 0 else {"squared": str(spent.squared)}),
            }
            for spent in account.spendings
        ],
    }


def _write(account: Accountant, path: str | Path) -> None:
    write_whole(path, json.dumps(account_document(account), ensure_ascii=False, indent=1) + "\n")


def read_account(path: str | Path) -> Accountant:
    """The account in a file.

    Raises:
        FormatError: the file is no account.
    """
    return _account(read_document(Path(path)), path)


def account_from(document: dict[str, Any]) -> Accountant:
    """The account that plain data describe."""
    root = from_plain(document)
    assert isinstance(root, DocumentTable)
    return _account(root, "account")


def _account(root: DocumentTable, path: str | Path) -> Accountant:
    with with_file_place(root, path):
        fields.known_keys(root, ("kind", "length", "budget", "delta", "chains", "spendings"), "")
        kind = fields.required_field(root, "kind", fields.name, hint=_HINT)
        if kind != "account":
            raise FormatError("kind", f"a file of kind {kind!r} is no account", place="kind", hint=_HINT)
        chains = [
            chain_from(fields.table(entry, f"chains[{i}]"), f"chains[{i}]")
            for i, entry in enumerate(fields.required_field(root, "chains", fields.series, hint=_HINT))
        ]
        budget = fields.optional(root, "budget", _text_or_nothing)
        account = Accountant.of(
            chains,
            length=_whole(fields.required_field(root, "length", fields.number, hint=_HINT)),
            epsilon=None if budget is None else epsilon(budget),
            delta=_exactly(fields.optional(root, "delta", fields.text) or "0"),
        )
        spendings = []
        for i, entry in enumerate(fields.required_field(root, "spendings", fields.series, hint=_HINT)):
            place = f"spendings[{i}]"
            given = fields.table(entry, place)
            fields.known_keys(given, ("first", "last", "cost", "note", "alone", "squared"), place)
            first, last = (
                _whole(fields.required_field(given, end, fields.number, place, hint=_HINT)) for end in ("first", "last")
            )
            cost = _exactly(fields.required_field(given, "cost", fields.text, place, hint=_HINT))
            alone = fields.optional(given, "alone", _text_or_nothing, place)
            squared = _exactly(fields.optional(given, "squared", fields.text, place) or "0")
            fits = (cost > 0 and squared == 0) or (cost == 0 and squared > 0 and account.delta > 0)
            if not 1 <= first <= last <= account.length or not fits:
                raise FormatError("shape", f"entries {first}..{last} at {cost} each", place=place, hint=_HINT)
            note = fields.optional(given, "note", _text_or_nothing, place) or ""
            spendings.append(Spending(first, last, cost, note, None if alone is None else _exactly(alone), squared))
        return replace(account, spendings=tuple(spendings))


def _text_or_nothing(node: Node, place: str) -> str | None:
    if getattr(node, "kind", "") == "null" or node == "":
        return None
    return fields.text(node, place)


def _exactly(text: str) -> Fraction:
    return fraction(text)


def _whole(value: object) -> int:
    number = fraction(value)  # type: ignore[arg-type]
    if number.denominator != 1:
        raise FormatError("shape", f"{number} is no whole number", hint=_HINT)
    return int(number)
