"""Accounts in files, so that what was released about a series last month counts this month: JSON that is read back exactly."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path
from typing import Any

from privproof.errors import FormatError
from privproof.exact import epsilon, fraction, rational
from privproof.formats import fields
from privproof.formats.documents import Node, located, read_document
from privproof.formats.prior_files import chain_from, prior_document
from privproof.release.accounting import Accountant, Spending

_HINT = "write it with write_account"


def write_account(account: Accountant, path: str | Path) -> None:
    """Write an account: its priors, its budget, and every release so far."""
    document: dict[str, Any] = {
        "kind": "account",
        "length": account.length,
        "budget": None if account.budget is None else str(account.budget),
        "chains": [prior_document(chain) for chain in account.chains],
        "spendings": [
            {
                "first": spent.first,
                "last": spent.last,
                "cost": str(spent.cost),
                "note": spent.note,
                "alone": None if spent.alone is None else str(spent.alone),
            }
            for spent in account.spendings
        ],
    }
    Path(path).write_text(json.dumps(document, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")


def read_account(path: str | Path) -> Accountant:
    """The account in a file.

    Raises:
        FormatError: the file is no account.
    """
    root = read_document(Path(path))
    with located(root, path):
        fields.known_keys(root, ("kind", "length", "budget", "chains", "spendings"), "")
        kind = fields.required(root, "kind", fields.name, hint=_HINT)
        if kind != "account":
            raise FormatError("kind", f"a file of kind {kind!r} is no account", place="kind", hint=_HINT)
        chains = [
            chain_from(fields.table(entry, f"chains[{i}]"), f"chains[{i}]")
            for i, entry in enumerate(fields.required(root, "chains", fields.series, hint=_HINT))
        ]
        budget = fields.optional(root, "budget", _text_or_nothing)
        account = Accountant.of(
            chains,
            length=_whole(fields.required(root, "length", fields.number, hint=_HINT)),
            epsilon=None if budget is None else epsilon(budget),
        )
        spendings = []
        for i, entry in enumerate(fields.required(root, "spendings", fields.series, hint=_HINT)):
            place = f"spendings[{i}]"
            given = fields.table(entry, place)
            fields.known_keys(given, ("first", "last", "cost", "note", "alone"), place)
            first, last = (
                _whole(fields.required(given, end, fields.number, place, hint=_HINT)) for end in ("first", "last")
            )
            cost = _exactly(fields.required(given, "cost", fields.text, place, hint=_HINT))
            alone = fields.optional(given, "alone", _text_or_nothing, place)
            if not 1 <= first <= last <= account.length or cost <= 0:
                raise FormatError("shape", f"entries {first}..{last} at {cost} each", place=place, hint=_HINT)
            note = fields.optional(given, "note", _text_or_nothing, place) or ""
            spendings.append(Spending(first, last, cost, note, None if alone is None else _exactly(alone)))
        return Accountant(account.chains, account.length, account.budget, tuple(spendings))


def _text_or_nothing(node: Node, place: str) -> str | None:
    if getattr(node, "kind", "") == "null" or node == "":
        return None
    return fields.text(node, place)


def _exactly(text: str) -> Fraction:
    return fraction(rational(text))


def _whole(value: object) -> int:
    number = fraction(rational(value))  # type: ignore[arg-type]
    if number.denominator != 1:
        raise FormatError("shape", f"{number} is no whole number", hint=_HINT)
    return int(number)
