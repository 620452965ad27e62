"""Spending: a cost is entered, if the budget allows, before noise is drawn; it is never given back.

    ledger = Ledger.create("survey.ledger", epsilon=4)
    entry = ledger.spend(epsilon="1/10", note="the weekly count")      # then release

or, where a release may fail after its noise was drawn::

    with ledger.reserve(epsilon="1/10") as reservation:
        answer = release(...)
        reservation.release(certificate=verdict.certificate)

What is reserved counts from that moment on, released or not: an answer may have been seen by somebody although the program that made it
has failed.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from types import TracebackType
from typing import Any

from privproof.errors import BudgetError, QuestionError
from privproof.exact import ZERO, EpsilonLike, Number, delta, epsilon, fraction
from privproof.release.ledger.ledger_data_sets import DataSet, charge, dataset_from, now, window_start
from privproof.release.ledger.ledger_entries import COUNTED, Entry, Kind, canonical, digest_of, next_entry
from privproof.release.ledger.ledger_stores import Transaction, store_at
from privproof.release.ledger.ledger_verification import Examination, examine
from privproof.release.ledger.quilt_accounting import Accountant
from privproof.release.ledger.spending_rules import Composition, Cost, Quilts, SpendingRule, ZeroConcentrated, positive

_VERSION = 1
"""Rises if the meaning of an entry changes."""
_WAIT = 30.0
"""Seconds to wait for others that write: each holds the ledger for milliseconds."""
_UNITS = {"s": 1, "min": 60, "h": 3_600, "d": 86_400, "w": 604_800}
_WINDOW = re.compile(r"([1-9][0-9]{0,8})\s*(s|min|h|d|w)")
DEFAULT = "default"
"""The data set that is meant where none is named."""


class Reservation:
    """A cost that has been set aside; see `Ledger.reserve`."""

    def __init__(self, ledger: Ledger, entry: Entry) -> None:
        self._ledger, self.entry = ledger, entry
        self.released: Entry | None = None

    def release(self, *, certificate: Mapping[str, Any] | None = None, note: str = "", seeded: bool = False) -> Entry:
        """Record that the release was made.

        Args:
            certificate: the certificate of its privacy.
            note: what else to say.
            seeded: whether its noise was drawn from a seed; then it is refused, unless the ledger is for tests.
        """
        self.released = self._ledger._released(self.entry, certificate, note, seeded=seeded)
        return self.released

    def __enter__(self) -> Reservation:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Nothing is given back."""


class Ledger:
    """An append-only record of releases and their costs, at a path (SQLite) or the address of a PostgreSQL database.

    Every method is one transaction: processes and threads may use the same ledger at once, and no budget is exceeded however they
    meet.

    Args:
        address: the path, or ``postgresql://...``.
        wait: how many seconds to wait for others that write.

    >>> import tempfile
    >>> folder = tempfile.TemporaryDirectory()
    >>> ledger = Ledger.create(f"{folder.name}/survey.ledger", epsilon=1)
    >>> ledger.spend(epsilon="ln(2)", note="the first question").sequence
    2
    >>> ledger.spend(epsilon="1/2")
    Traceback (most recent call last):
    ...
    privproof.errors.BudgetError: budget: this release would bring epsilon to ln(2) + 1/2, above 1 [budget]
      hint: epsilon ln(1/2) + 1 left
    >>> ledger.verify().problems
    ()
    >>> folder.cleanup()
    """

    def __init__(self, address: str | Path, *, wait: float = _WAIT) -> None:
        self._store = store_at(address, wait=wait)
        self.name = self._store.name

    def __repr__(self) -> str:
        return f"Ledger({self.name!r})"

    @classmethod
    def create(
        cls,
        address: str | Path,
        *,
        epsilon: EpsilonLike | None = None,
        delta: Number = 0,
        rho: EpsilonLike | None = None,
        account: Accountant | None = None,
        dataset: str = DEFAULT,
        window: str | None = None,
        tests: bool = False,
        wait: float = _WAIT,
    ) -> Ledger:
        """Make a ledger, with one data set; the arguments are those of `add_dataset`.

        Args:
            address: the path, or the address of a database.
            epsilon: the budget in epsilon.
            delta: its delta.
            rho: instead, the budget in rho (zCDP).
            account: instead, an account under a prior; what was spent in it is entered.
            dataset: what the data set is called.
            window: for a budget that holds in every stretch of time, its length.
            tests: whether releases with seeded noise are taken.
            wait: how many seconds to wait for others that write.
        """
        rule = _rule(epsilon, delta, rho, account)
        seconds = _seconds(window)
        ledger = cls(address, wait=wait)
        ledger._store.create()
        with ledger._store.writing() as found:
            start = next_entry(None, "ledger", now(), version=_VERSION, tests=tests)
            found.add(start)
            _enter_dataset(found, start, dataset, rule, seconds)
            for spent in (
                () if account is None else account.spendings
            ):  # all or none: a part would leave too much to spend
                cost = _by_entry(spent.cost or None, spent.squared or None, spent.first, spent.last)
                ledger._enter_cost(found, "spent", cost, dataset, "", spent.note, None, seeded=False)
        return ledger

    def add_dataset(
        self,
        name: str,
        *,
        epsilon: EpsilonLike | None = None,
        delta: Number = 0,
        rho: EpsilonLike | None = None,
        account: Accountant | None = None,
        window: str | None = None,
    ) -> Entry:
        """Add a data set with a budget of its own.

        Args:
            name: what it is called.
            epsilon: its budget in epsilon; costs add up.
            delta: the delta of that budget.
            rho: instead, its budget in rho (zCDP).
            account: instead, priors, a length and a budget: costs add up by quilt curves.
            window: for a budget that holds in every stretch of time, its length: ``"30 d"``, ``"24 h"``.
        """
        rule, seconds = _rule(epsilon, delta, rho, account), _seconds(window)
        with self._store.writing() as found:
            if name in _datasets(found):
                raise QuestionError(
                    "dataset", f"the ledger has a data set {name!r}", place=self.name, hint="another name"
                )
            return _enter_dataset(found, _last(found), name, rule, seconds)

    def spend(
        self,
        *,
        epsilon: EpsilonLike | None = None,
        delta: Number = 0,
        rho: EpsilonLike | None = None,
        entry: Number | None = None,
        squared: Number | None = None,
        first: int = 1,
        last: int | None = None,
        dataset: str | None = None,
        analyst: str = "",
        note: str = "",
        certificate: Mapping[str, Any] | None = None,
        seeded: bool = False,
    ) -> Entry:
        """Enter what a release costs, if the budget allows; release only after this returns.

        Args:
            epsilon: its epsilon.
            delta: its delta.
            rho: its rho.
            entry: under a prior, what it loses between two series that differ in one of its entries.
            squared: under a prior and a delta, of a release with Gaussian noise: the square of what one entry moves it, over the variance.
            first: under a prior, the first entry that it looks at.
            last: the last one; without it the last of the series.
            dataset: the data set; needed where there are several.
            analyst: who releases.
            note: what.
            certificate: the certificate of its privacy, which is kept, and checked again by `verify`.
            seeded: whether its noise is drawn from a seed; then it is refused, unless the ledger is for tests.

        Raises:
            BudgetError: the budget would be exceeded; nothing was entered.
            FormatError: the ledger cannot be used.
        """
        cost = _single_cost(epsilon, delta, rho, entry, squared, first, last)
        return self._charge("spent", cost, dataset, analyst, note, certificate, seeded=seeded)

    def reserve(
        self,
        *,
        epsilon: EpsilonLike | None = None,
        delta: Number = 0,
        rho: EpsilonLike | None = None,
        entry: Number | None = None,
        squared: Number | None = None,
        first: int = 1,
        last: int | None = None,
        dataset: str | None = None,
        analyst: str = "",
        note: str = "",
    ) -> Reservation:
        """Set a cost aside before noise is drawn; the arguments are those of `spend`.

        Args:
            epsilon: its epsilon.
            delta: its delta.
            rho: its rho.
            entry: under a prior, its cost by entry.
            squared: under a prior and a delta, of a release with Gaussian noise: the square of what one entry moves it, over the variance.
            first: under a prior, the first entry that it looks at.
            last: the last one.
            dataset: the data set.
            analyst: who releases.
            note: what.

        Raises:
            BudgetError: the budget would be exceeded; nothing was entered.
        """
        cost = _single_cost(epsilon, delta, rho, entry, squared, first, last)
        return Reservation(self, self._charge("reserved", cost, dataset, analyst, note, None, seeded=False))

    def _charge(
        self,
        kind: Kind,
        cost: Cost,
        dataset: str | None,
        analyst: str,
        note: str,
        certificate: Mapping[str, Any] | None,
        *,
        seeded: bool,
    ) -> Entry:
        with self._store.writing() as found:
            return self._enter_cost(found, kind, cost, dataset, analyst, note, certificate, seeded=seeded)

    def _enter_cost(
        self,
        found: Transaction,
        kind: Kind,
        cost: Cost,
        dataset: str | None,
        analyst: str,
        note: str,
        certificate: Mapping[str, Any] | None,
        *,
        seeded: bool,
    ) -> Entry:
        known = _datasets(found)
        name = _dataset_name(known, dataset, self.name)
        self._take_seeded(found, seeded=seeded)
        before, moment = _last(found), now()
        charged = known[name].rule.cost(cost)
        total = charge(found, known[name], max(moment, before.time), charged)
        said = {
            "dataset": name,
            "cost": charged.document(),
            "total": total.document(),
            "analyst": analyst,
            "note": note,
            "seeded": seeded,
            "certificate": _keep_certificate(found, certificate),
        }
        entry = next_entry(before, kind, moment, **said)
        found.add(entry)
        return entry

    def _released(self, reserved: Entry, certificate: Mapping[str, Any] | None, note: str, *, seeded: bool) -> Entry:
        with self._store.writing() as found:
            self._take_seeded(found, seeded=seeded)
            if found.entry(reserved.sequence) != reserved:
                raise QuestionError("ledger", f"entry {reserved.sequence} is another one", place=self.name)
            said = {
                "dataset": reserved.dataset,
                "reserved": reserved.sequence,
                "note": note,
                "seeded": seeded,
                "certificate": _keep_certificate(found, certificate),
            }
            entry = next_entry(_last(found), "released", now(), **said)
            found.add(entry)
        return entry

    def _take_seeded(self, found: Transaction, *, seeded: bool) -> None:
        begin = found.entry(0)
        if seeded and not (begin is not None and begin.body.get("tests")):
            raise QuestionError(
                "seed",
                "noise that is drawn from a seed hides nothing, and this ledger is not for tests",
                place=self.name,
                hint="release without a seed; Ledger.create(..., tests=True) is for tests",
            )

    @property
    def datasets(self) -> dict[str, DataSet]:
        """The data sets, with what has been spent on each."""
        with self._store.reading() as found:
            known = _datasets(found)
            return {name: _total_spendings(found, one) for name, one in known.items()}

    def history(self, dataset: str | None = None) -> list[Entry]:
        """All entries, or those about a data set."""
        with self._store.reading() as found:
            return [entry for entry in found.all() if dataset in (None, entry.dataset)]

    def account(self, dataset: str | None = None) -> Accountant:
        """All releases about a data set whose budget is under a prior, as an account without a budget; `release.verify` proves its total.

        What is noted of each holds the number of its entry, and the digest of its certificate where one is kept.

        Raises:
            QuestionError: there is no such data set, or its budget is not under a prior.
        """
        known = self.datasets
        name = dataset if dataset is not None else next(iter(known)) if len(known) == 1 else None
        rule = known[name].rule if name is not None and name in known else None
        if not isinstance(rule, Quilts):
            said = "which data set?" if rule is None else f"the budget of {name} is not under a prior"
            raise QuestionError("dataset", said, place=self.name, hint=f"--dataset, one of {', '.join(known)}")
        found = replace(rule.account, budget=None, spendings=())
        for entry in self.history(name):
            cost = entry.cost if entry.kind in COUNTED else None
            if cost is not None:
                shown = entry.body.get("certificate")
                parts = (f"entry {entry.sequence}", entry.body.get("note"), shown and f"certificate {shown}")
                found = found.spending(
                    None if cost.entry is None else fraction(cost.entry),
                    squared=None if cost.squared is None else fraction(cost.squared),
                    first=cost.first,
                    last=cost.last,
                    note=", ".join(str(part) for part in parts if part),
                )
        return found

    @property
    def head(self) -> str:
        """The digest of the last entry, which tells whether anything before was changed."""
        with self._store.reading() as found:
            return _last(found).digest

    def verify(self, *, head: str | None = None) -> Examination:
        """Check everything again: the chain, every total against its budget, every certificate.

        Args:
            head: the digest of an entry that was noted down before; it must still be there.
        """
        with self._store.reading() as found:
            return examine(found, head=head)


def _total_spendings(found: Transaction, dataset: DataSet) -> DataSet:
    paid = found.of_dataset(dataset.name, COUNTED)
    total = paid[-1].total if paid else None
    if dataset.window is not None:
        since = window_start(now(), dataset.window)
        recent = [cost for entry in paid if entry.time >= since and (cost := entry.cost) is not None]
        total = dataset.rule.total(None, recent[:-1], recent[-1]) if recent else None
    return replace(dataset, total=total, spendings=len(paid))


def _datasets(found: Transaction) -> dict[str, DataSet]:
    return {entry.dataset: dataset_from(entry) for entry in found.of_kind("dataset")}


def _enter_dataset(found: Transaction, before: Entry, name: str, rule: SpendingRule, window: int | None) -> Entry:
    entry = next_entry(before, "dataset", now(), dataset=name, rule=rule.document(), window=window)
    found.add(entry)
    return entry


def _last(found: Transaction) -> Entry:
    last = found.last()
    if last is None:
        raise QuestionError(
            "ledger", "the ledger has no beginning", hint="it was not made to its end; make another one"
        )
    return last


def _dataset_name(known: Mapping[str, DataSet], dataset: str | None, place: str) -> str:
    listed = ", ".join(known)
    if dataset is None:
        if len(known) != 1:
            raise QuestionError(
                "dataset", f"the ledger has {len(known)} data sets", place=place, hint=f"name one: {listed}"
            )
        return next(iter(known))
    if dataset not in known:
        raise QuestionError("dataset", f"the ledger has no data set {dataset!r}", place=place, hint=f"known: {listed}")
    return dataset


def _keep_certificate(found: Transaction, certificate: Mapping[str, Any] | None) -> str | None:
    if certificate is None:
        return None
    text = canonical(json.loads(json.dumps(certificate)))
    digest = digest_of(text)
    found.keep(digest, text)
    return digest


def _rule(
    epsilon_: EpsilonLike | None, delta_: Number, rho: EpsilonLike | None, account: Accountant | None
) -> SpendingRule:
    given = [value for value in (epsilon_, rho, account) if value is not None]
    if len(given) != 1:
        raise BudgetError(
            "budget", "a data set has one budget: epsilon, rho, or an account under a prior", hint="epsilon=4"
        )
    if epsilon_ is None:
        _no_delta(
            delta_, "a budget in rho" if account is None else "a budget under a prior, but for that of its account,"
        )
    if account is not None:
        return Quilts(replace(account, spendings=()))
    if rho is not None:
        return ZeroConcentrated(epsilon(rho))
    assert epsilon_ is not None
    return Composition(epsilon(epsilon_), delta(delta_))


def _no_delta(given: Number, what: str) -> None:
    """Complain about a delta that nothing would count."""
    if delta(given) != ZERO:
        raise BudgetError("delta", f"{what} has no delta", place="delta", hint="an epsilon with a delta, or no delta")


def _by_entry(entry: Number | None, squared: Number | None, first: int, last: int | None) -> Cost:
    """A cost under a prior."""
    if squared is not None:
        return Cost(squared=positive(squared), first=first, last=last)
    return Cost(entry=positive(entry), first=first, last=last)


def _single_cost(
    epsilon_: EpsilonLike | None,
    delta_: Number,
    rho: EpsilonLike | None,
    entry: Number | None,
    squared: Number | None,
    first: int,
    last: int | None,
) -> Cost:
    given = [value for value in (epsilon_, rho, entry, squared) if value is not None]
    if len(given) != 1:
        raise BudgetError(
            "cost", "a release has one cost: epsilon (with a delta), rho, or by entry", hint='epsilon="1/10"'
        )
    if epsilon_ is None:
        _no_delta(delta_, "a cost in rho" if rho is not None else "a cost by entry")
    if entry is not None or squared is not None:
        return _by_entry(entry, squared, first, last)
    cost = Cost(rho=epsilon(rho)) if rho is not None else Cost(epsilon=epsilon(epsilon_ or 0), delta=delta(delta_))
    if (cost.epsilon or cost.rho or epsilon(0)).compare(epsilon(0)) == 0 and cost.delta == ZERO:
        raise BudgetError("cost", "a release that costs nothing needs no entry", place="cost", hint="a number above 0")
    return cost


def _seconds(window: str | None) -> int | None:
    if window is None:
        return None
    found = _WINDOW.fullmatch(window.strip())
    if found is None:
        raise QuestionError(
            "window", f"{window!r} is no length of time", place="window", hint='"30 d", "24 h", "90 min"'
        )
    return int(found[1]) * _UNITS[found[2]]
