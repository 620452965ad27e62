"""A ledger checked again, from its first entry to its last: the chain of digests, every total against its budget, every certificate."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from privproof.errors import PrivproofError
from privproof.exact import delta, epsilon
from privproof.release.ledger.ledger_data_sets import DataSet, dataset_from, total_after
from privproof.release.ledger.ledger_entries import COUNTED, Entry, digest_of
from privproof.release.ledger.ledger_stores import Transaction
from privproof.release.ledger.spending_rules import Cost
from privproof_checker import Rejected, recheck


@dataclass(frozen=True)
class Examination:
    """What checking a ledger found.

    Attributes:
        entries: how many entries it has.
        certificates: how many of them have a certificate that the checker accepted.
        head: the digest of the last entry.
        problems: what is wrong, each with the number of the entry.
    """

    entries: int
    certificates: int
    head: str
    problems: tuple[str, ...]


def examine(found: Transaction, *, head: str | None = None) -> Examination:
    """Check a ledger again: every total is computed anew, from the one before or from all costs.

    Args:
        found: its entries.
        head: the digest of an entry that was noted down before; it must still be there.
    """
    problems: list[str] = []
    datasets: dict[str, DataSet] = {}
    paid: dict[str, list[Entry]] = {}
    accepted: dict[str, bool] = {}
    before: Entry | None = None
    entries = found.all()
    for place, entry in enumerate(entries):
        here = f"entry {place}"
        if entry.sequence != place:
            problems.append(f"{here}: it has the number {entry.sequence}")
        if digest_of(entry.text) != entry.digest:
            problems.append(f"{here}: its digest is another one: it was changed")
        if entry.body.get("previous") != ("" if before is None else before.digest):
            problems.append(f"{here}: it does not follow the entry before")
        if before is not None and entry.time < before.time:
            problems.append(f"{here}: it is older than the entry before")
        try:
            problems += [f"{here}: {said}" for said in _entry_problems(found, entry, datasets, paid, accepted)]
        except PrivproofError as problem:
            problems.append(f"{here}: {problem.message}")
        except (KeyError, TypeError, ValueError) as problem:
            problems.append(f"{here}: it lacks something: {problem}")
        before = entry
    problems += [f"entry {number}: the table says otherwise than the entry" for number in found.disagreeing()]
    if not entries or entries[0].kind != "ledger":
        problems.append("the ledger has no beginning")
    if head is not None and head not in {entry.digest for entry in entries}:
        problems.append(f"no entry has the digest {head}: entries are missing, or were changed")
    last = "" if before is None else before.digest
    return Examination(len(entries), sum(accepted.values()), last, tuple(problems))


def _entry_problems(
    found: Transaction,
    entry: Entry,
    datasets: dict[str, DataSet],
    paid: dict[str, list[Entry]],
    accepted: dict[str, bool],
) -> list[str]:
    problems: list[str] = []
    if entry.kind == "dataset":
        if entry.dataset in datasets:
            problems.append(f"the data set {entry.dataset!r} is there twice")
        datasets[entry.dataset] = dataset_from(entry)
    elif entry.kind in COUNTED:
        dataset = datasets.get(entry.dataset)
        if dataset is None:
            return [f"there is no data set {entry.dataset!r}"]
        earlier = paid.setdefault(entry.dataset, [])
        problems += _total_problems(dataset, earlier, entry)
        earlier.append(entry)
    elif entry.kind == "released":
        reserved = found.entry(int(entry.body["reserved"]))
        if reserved is None or reserved.kind != "reserved" or reserved.sequence >= entry.sequence:
            problems.append(f"nothing was reserved by entry {entry.body['reserved']}")
    if entry.body.get("seeded") and not _for_tests(found):
        problems.append("its noise was drawn from a seed, and the ledger is not for tests")
    digest = entry.body.get("certificate")
    if digest is not None:
        document = found.certificate(digest)
        if digest not in accepted:
            accepted[digest], said = _certificate(document, digest)
            problems += said
        cost = entry.cost if entry.kind in COUNTED else None
        if cost is not None and accepted[digest] and document is not None:
            problems += _claim_problems(json.loads(document), cost)
    return problems


def _for_tests(found: Transaction) -> bool:
    begin = found.entry(0)
    return begin is not None and bool(begin.body.get("tests"))


def _total_problems(dataset: DataSet, earlier: list[Entry], entry: Entry) -> list[str]:
    cost, total = entry.cost, entry.total
    assert cost is not None
    again = total_after(dataset, earlier, entry.time, cost)
    return [] if again == total else [f"its total is {total}, and what was spent is {again}"]


def _certificate(document: str | None, digest: str) -> tuple[bool, list[str]]:
    if document is None:
        return False, [f"its certificate {digest[:12]} is missing"]
    if digest_of(document) != digest:
        return False, [f"its certificate {digest[:12]} was changed"]
    outcome = recheck(json.loads(document))
    if isinstance(outcome, Rejected):
        return False, [f"its certificate {digest[:12]} is rejected: {outcome.reason}"]
    if outcome.verdict != "proved":
        return False, [f"its certificate {digest[:12]} refutes a claim"]
    return True, []


def _claim_problems(document: Mapping[str, Any], cost: Cost) -> list[str]:
    """Complain where a certificate proves less than was paid for."""
    question = document.get("question", {})
    if cost.epsilon is None or not isinstance(question, dict) or "epsilon" not in question:
        return []
    try:
        proved, share = epsilon(str(question["epsilon"])), delta(str(question.get("delta", 0)))
    except PrivproofError:
        return []
    if proved.compare(cost.epsilon) > 0 or share > cost.delta:
        return [f"its certificate proves epsilon {proved}, delta {share}, and {cost} was paid"]
    return []
