"""What may be spent on a data set: the budget, and how costs add up.

* `Composition`: every release is (epsilon, delta)-private; epsilons and deltas add up (Dwork, Kenthapadi, McSherry, Mironov and Naor
  2006, theorem 1), also where later releases are chosen by what earlier ones showed.
* `ZeroConcentrated`: every release is rho-zCDP; the rhos add up (Bun and Steinke 2016, lemma 2.3), adaptively too.  A release that is
  epsilon-private counts with ``epsilon tanh(epsilon/2)``.
* `Quilts`: under a prior of chains costs do not add up, but quilt curves do (`privproof.release.ledger.quilt_accounting`); with a delta,
  as Rényi curves, and releases with Gaussian noise are taken.

A total is exact where that is short, and otherwise rounded up: a budget is never exceeded by rounding.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

from privproof.errors import BudgetError, FormatError
from privproof.exact import ZERO, Epsilon, Rational, delta, epsilon, fraction
from privproof.exact.balls import rational_bounds
from privproof.exact.rounding import to_grid
from privproof.profiles.measure_conversions import rho_of_epsilon
from privproof.release.ledger.account_files import account_document, account_from
from privproof.release.ledger.quilt_accounting import Accountant

_MOST_BITS = 4_000
"""Sums of logarithms have products of their arguments; with more bits a total is rounded up to a rational."""
_LONGEST = 24
"""An exact number with more characters is shown as a decimal."""
_GRID = 10**9
"""Totals that are rounded up are multiples of one part in so many: far below any budget's last digit."""


@dataclass(frozen=True)
class Cost:
    """What a release costs.

    Attributes:
        epsilon: its epsilon; None where it is stated in rho, or by entry.
        delta: its delta.
        rho: its rho.
        entry: under a prior, what it loses between two series that differ in one of the entries first..last.
        squared: instead, with Gaussian noise: the square of what one of them moves the answer, over the variance.
        first: the first of these entries.
        last: the last of them; None for the last of the series.
    """

    epsilon: Epsilon | None = None
    delta: Rational = field(default_factory=lambda: ZERO)
    rho: Epsilon | None = None
    entry: Rational | None = None
    first: int = 1
    last: int | None = None
    squared: Rational | None = None

    def document(self) -> dict[str, Any]:
        """The cost as plain data."""
        if self.squared is not None:
            return {"squared": str(self.squared), "first": self.first, "last": self.last}
        if self.entry is not None:
            return {"entry": str(self.entry), "first": self.first, "last": self.last}
        if self.rho is not None:
            return {"rho": str(self.rho)}
        return {"epsilon": str(self.epsilon), "delta": str(self.delta)}

    @classmethod
    def from_document(cls, given: Mapping[str, Any]) -> Cost:
        """The cost that plain data describe."""
        if "entry" in given or "squared" in given:
            entry, squared = (positive(given[name]) if name in given else None for name in ("entry", "squared"))
            last = None if given["last"] is None else int(given["last"])
            return cls(entry=entry, first=int(given["first"]), last=last, squared=squared)
        if "rho" in given:
            return cls(rho=epsilon(given["rho"]))
        return cls(epsilon=epsilon(given["epsilon"]), delta=delta(given["delta"]))

    def __str__(self) -> str:
        if self.entry is not None:
            return f"{self.entry} for each of the entries {self.first}..{self.last or ''}"
        if self.squared is not None:
            return f"{self.squared} squared for each of the entries {self.first}..{self.last or ''}"
        if self.rho is not None:
            return f"rho {_short(self.rho)}"
        assert self.epsilon is not None
        return f"epsilon {_short(self.epsilon)}" + (f", delta {self.delta}" if self.delta else "")


def positive(value: Any) -> Rational:
    """An exact positive number."""
    number = fraction(value)
    if number <= 0:
        raise BudgetError("cost", f"a release costs {number}", place="cost", hint="a number above 0")
    return epsilon(number).shift


class SpendingRule(ABC):
    """A budget, and how costs add up to a total.

    Attributes:
        carries_on: whether a total and one more cost give the next total; otherwise all costs are needed.
    """

    carries_on: ClassVar[bool] = False

    @abstractmethod
    def document(self) -> dict[str, Any]:
        """The rule as plain data."""

    @abstractmethod
    def cost(self, cost: Cost) -> Cost:
        """The cost in the rule's own terms.

        Raises:
            BudgetError: the rule cannot count it.
        """

    @abstractmethod
    def total(self, before: Cost | None, earlier: Sequence[Cost], cost: Cost) -> Cost:
        """What everything costs together.

        Args:
            before: the total so far; None where earlier costs must be added up.
            earlier: the costs so far.
            cost: one more.

        Raises:
            BudgetError: that would be beyond the budget.
        """

    @abstractmethod
    def sums(self, total: Cost | None) -> tuple[Cost | None, Cost, Cost | None]:
        """The budget, what is spent and what is left; no budget is None."""


class _Additive(SpendingRule):
    """Costs of one kind that are simply added."""

    carries_on = True

    @property
    @abstractmethod
    def budget(self) -> Cost:
        """What may be spent."""

    def total(self, before: Cost | None, earlier: Sequence[Cost], cost: Cost) -> Cost:
        """The sum."""
        start = before
        if start is None:
            start = Cost(epsilon=Epsilon(), rho=Epsilon())
            for one in earlier:
                start = _add_costs(start, one)
        found, most = _add_costs(start, cost), self.budget
        for name, mine, allowed in (
            ("epsilon", found.epsilon, most.epsilon),
            ("delta", Epsilon(shift=found.delta), Epsilon(shift=most.delta)),
            ("rho", found.rho, most.rho),
        ):
            if mine is not None and allowed is not None and mine.compare(allowed) > 0:
                said = f"this release would bring {name} to {_short(mine)}, above {allowed}"
                raise BudgetError("budget", said, place="budget", hint=f"{_difference(most, start)} left")
        return found

    def sums(self, total: Cost | None) -> tuple[Cost | None, Cost, Cost | None]:
        """The budget, what is spent and what is left."""
        most = self.budget
        nothing = replace(most, epsilon=most.epsilon and Epsilon(), rho=most.rho and Epsilon(), delta=ZERO)
        spent = nothing if total is None else total
        return most, spent, _difference(most, spent)


@dataclass(frozen=True)
class Composition(_Additive):
    """Epsilons and deltas add up.

    >>> rule = Composition(epsilon(1), delta("1/100"))
    >>> total = rule.total(None, [], Cost(epsilon=epsilon("1/2"), delta=delta("1/1000")))
    >>> print(rule.total(total, [], Cost(epsilon=epsilon("1/2"))))
    epsilon 1, delta 1/1000
    >>> rule.total(total, [], Cost(epsilon=epsilon("0.6")))
    Traceback (most recent call last):
    ...
    privproof.errors.BudgetError: budget: this release would bring epsilon to 11/10, above 1 [budget]
      hint: epsilon 1/2, delta 9/1000 left
    """

    epsilon: Epsilon
    delta: Rational = field(default_factory=lambda: ZERO)

    @property
    def budget(self) -> Cost:
        """What may be spent."""
        return Cost(epsilon=self.epsilon, delta=self.delta)

    def document(self) -> dict[str, Any]:
        """The rule as plain data."""
        return {"rule": "composition", "epsilon": str(self.epsilon), "delta": str(self.delta)}

    def cost(self, cost: Cost) -> Cost:
        """The cost in epsilon and delta."""
        if cost.epsilon is None or cost.epsilon.infinite:
            raise BudgetError(
                "cost", f"this budget is in epsilon, and the cost is {cost}", place="cost", hint="--epsilon"
            )
        return cost


@dataclass(frozen=True)
class ZeroConcentrated(_Additive):
    """Rhos add up."""

    rho: Epsilon

    @property
    def budget(self) -> Cost:
        """What may be spent."""
        return Cost(rho=self.rho)

    def document(self) -> dict[str, Any]:
        """The rule as plain data."""
        return {"rule": "zcdp", "rho": str(self.rho)}

    def cost(self, cost: Cost) -> Cost:
        """The cost in rho: a pure epsilon counts with ``epsilon tanh(epsilon/2)``, rounded up."""
        if cost.rho is not None and not cost.rho.infinite:
            return cost
        if cost.epsilon is None or cost.epsilon.infinite or cost.delta:
            hint = "--rho, or --epsilon without a delta"
            raise BudgetError("cost", f"this budget is in rho, and the cost is {cost}", place="cost", hint=hint)
        return Cost(rho=_rounded_up(rational_bounds(rho_of_epsilon(cost.epsilon))[1]))


@dataclass(frozen=True)
class Quilts(SpendingRule):
    """Under a prior of chains, quilt curves add up.

    Attributes:
        account: the priors, the length of the series and the budget, with nothing spent.
    """

    account: Accountant

    def document(self) -> dict[str, Any]:
        """The rule as plain data."""
        return {"rule": "quilts", "account": account_document(replace(self.account, spendings=()))}

    def cost(self, cost: Cost) -> Cost:
        """The cost by entry."""
        if cost.entry is None and cost.squared is None:
            hint = "--epsilon is what a release loses between two series that differ in one entry"
            raise BudgetError("cost", f"under a prior a cost is by entry, and this is {cost}", place="cost", hint=hint)
        return cost

    def total(self, before: Cost | None, earlier: Sequence[Cost], cost: Cost) -> Cost:
        """What all releases lose together, over all entries."""
        account = replace(self.account, budget=None)
        for one in earlier:
            account = _enter_cost(account, one)
        found = _enter_cost(replace(account, budget=self.account.budget), cost)
        return Cost(epsilon=epsilon(found.epsilon), delta=self.account.delta)

    def sums(self, total: Cost | None) -> tuple[Cost | None, Cost, Cost | None]:
        """The budget, what is spent and what is left."""
        beside = self.account.delta
        spent = Cost(epsilon=Epsilon() if total is None or total.epsilon is None else total.epsilon, delta=beside)
        if self.account.budget is None:
            return None, spent, None
        most = Cost(epsilon=self.account.budget, delta=beside)
        return most, spent, replace(_difference(most, spent), delta=beside)


def _enter_cost(account: Accountant, cost: Cost) -> Accountant:
    """The account with one more cost."""
    return account.spending(
        None if cost.entry is None else fraction(cost.entry),
        squared=None if cost.squared is None else fraction(cost.squared),
        first=cost.first,
        last=cost.last,
    )


def rule_from(given: Mapping[str, Any]) -> SpendingRule:
    """The rule that plain data describe.

    Raises:
        FormatError: they describe none.
    """
    match given.get("rule"):
        case "composition":
            return Composition(epsilon(given["epsilon"]), delta(given["delta"]))
        case "zcdp":
            return ZeroConcentrated(epsilon(given["rho"]))
        case "quilts":
            return Quilts(account_from(given["account"]))
    raise FormatError("ledger", f"{given.get('rule')!r} is no rule of a ledger", hint="a newer privproof wrote it")


def _add_costs(left: Cost, right: Cost) -> Cost:
    """The sum of two costs of one kind; each measure that the right one has is kept."""
    return Cost(
        epsilon=None if right.epsilon is None else _plus(left.epsilon, right.epsilon),
        delta=left.delta + right.delta,
        rho=None if right.rho is None else _plus(left.rho, right.rho),
    )


def _difference(left: Cost, right: Cost) -> Cost:
    return Cost(
        epsilon=None if left.epsilon is None else left.epsilon.minus(right.epsilon or Epsilon()),
        delta=left.delta - right.delta,
        rho=None if left.rho is None else left.rho.minus(right.rho or Epsilon()),
    )


def _plus(left: Epsilon | None, right: Epsilon) -> Epsilon:
    total = (left or Epsilon()).plus(right)
    if int(total.ratio.p).bit_length() + int(total.ratio.q).bit_length() > _MOST_BITS:
        return _rounded_up(rational_bounds(total.ball(192))[1])
    return total


def _rounded_up(value: Rational) -> Epsilon:
    return Epsilon(shift=to_grid(value, up=True, parts=_GRID))


def _short(value: Epsilon) -> str:
    text = str(value)
    return text if len(text) <= _LONGEST else f"≈ {value.decimal()}"
