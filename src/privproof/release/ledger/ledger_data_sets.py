"""Data sets of a ledger: what may be spent on each, for ever or in every stretch of time, and what a further cost makes of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from privproof.release.ledger.ledger_entries import COUNTED, Entry
from privproof.release.ledger.ledger_stores import Transaction
from privproof.release.ledger.spending_rules import Cost, SpendingRule, rule_from


@dataclass(frozen=True)
class DataSet:
    """A data set, and what may be spent on it.

    Attributes:
        name: what it is called.
        rule: the budget, and how costs add up.
        window: where a budget is for every stretch of time: how many seconds; None for ever.
        total: what has been spent, in the present window.
        spendings: how many releases were paid for, ever.
    """

    name: str
    rule: SpendingRule
    window: int | None = None
    total: Cost | None = None
    spendings: int = 0

    @property
    def carries_on(self) -> bool:
        """Whether the last total and one more cost give the next total."""
        return self.window is None and self.rule.carries_on


def charge(found: Transaction, dataset: DataSet, time: str, cost: Cost) -> Cost:
    """The total after one more cost, by what the ledger holds.

    Raises:
        BudgetError: that would be beyond the budget.
    """
    since = "" if dataset.window is None else window_start(time, dataset.window)
    earlier = found.of_dataset(dataset.name, COUNTED, since=since, latest=dataset.carries_on)
    return total_after(dataset, earlier, time, cost)


def total_after(dataset: DataSet, earlier: Sequence[Entry], time: str, cost: Cost) -> Cost:
    """The total after one more cost, given the entries about the data set that cost something; where totals carry on, the last will do.

    Raises:
        BudgetError: that would be beyond the budget.
    """
    if dataset.carries_on:
        return dataset.rule.total(earlier[-1].total if earlier else None, [], cost)
    since = "" if dataset.window is None else window_start(time, dataset.window)
    costs = [one for entry in earlier if entry.time >= since and (one := entry.cost) is not None]
    return dataset.rule.total(None, costs, cost)


def window_start(time: str, seconds: int) -> str:
    """The beginning of the stretch of time that ends at a moment."""
    return _stamp(datetime.fromisoformat(time) - timedelta(seconds=seconds))


def dataset_from(entry: Entry) -> DataSet:
    """The data set that an entry describes."""
    return DataSet(entry.dataset, rule_from(entry.body["rule"]), entry.body.get("window"))


def now() -> str:
    """The present moment, in UTC."""
    return _stamp(datetime.now(UTC))


def _stamp(moment: datetime) -> str:
    """A moment as text; texts are ordered as the moments are."""
    return moment.astimezone(UTC).isoformat(timespec="microseconds")
