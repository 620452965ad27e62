"""Accounting by quilt curves: what several releases about the same series cost together.

Pufferfish privacy does not compose in general; quilts do.  If entry j costs b_j in all (the sum of what every release loses between
two series that differ in it), then

    total loss  =  max over entries i of  min over quilts Q of  ( influence(Q | X_i) + sum of b_j over the entries between the nodes
    of Q ).

With a delta, releases add up as Rényi curves where that is less (`curve_accounts`), and releases with Gaussian noise count.

It covers sequential releases (costs add up), parallel ones (disjoint parts of the series), sliding windows, adaptively chosen
queries, and every mechanism that states what an entry costs, also one of another library.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property

from privproof.errors import BudgetError, QuestionError, ScenarioError
from privproof.exact import ZERO, Budget, Epsilon, EpsilonLike, Number, Rational, fraction
from privproof.exact import delta as exact_delta
from privproof.exact import epsilon as exact_epsilon
from privproof.release.account_question import AccountQuestion
from privproof.release.account_totals import listed_spendings
from privproof.release.calibration import Calibrated
from privproof.release.curve_accounts import loss_beside_delta
from privproof.release.influence_costs import budget_below, upper
from privproof.release.markov_chains import Chain
from privproof.release.quilt_sums import Spending, pieces_of, total_loss
from privproof.release.release_premises import hides
from privproof.release.release_question import Gaussian

__all__ = ["Accountant", "Spending"]


@dataclass(frozen=True)
class Accountant:
    """What has been released about a series, and what it costs in all.

    Attributes:
        chains: the class of priors.
        length: the length of the series.
        budget: what may be spent in all; None for no limit.
        spendings: the releases so far.
        delta: what the budget has beside epsilon; 0 for a pure one.
    """

    chains: tuple[Chain, ...]
    length: int
    budget: Epsilon | None = None
    spendings: tuple[Spending, ...] = ()
    delta: Rational = field(default_factory=lambda: ZERO)

    @classmethod
    def of(
        cls,
        chains: Chain | Sequence[Chain],
        *,
        length: int,
        epsilon: EpsilonLike | None = None,
        delta: Number = 0,
    ) -> Accountant:
        """An accountant of a series about which nothing was released yet.

        >>> chain = Chain.of({"rest": {"rest": "0.9", "walk": "0.1"}, "walk": {"rest": "0.4", "walk": "0.6"}})
        >>> accountant = Accountant.of(chain, length=100, epsilon=3)
        >>> for _ in range(5):
        ...     accountant = accountant.spending("0.0778818", note="a count of all entries, private at epsilon = 1")
        Traceback (most recent call last):
        ...
        privproof.errors.BudgetError: budget: this release would bring the loss to 3.02504, above 3 [budget]
          hint: at most 0.07287 for each of these entries is left
        >>> f"{float(accountant.epsilon):.4f}"
        '2.6356'
        """
        listed = (chains,) if isinstance(chains, Chain) else tuple(chains) if isinstance(chains, list | tuple) else ()
        if not listed or not all(isinstance(chain, Chain) for chain in listed):
            raise ScenarioError("prior", f"{chains!r} holds no chains", place="chains", hint="a Chain")
        if not isinstance(length, int) or length < 1:
            raise ScenarioError("length", f"{length!r} is no length", place="length", hint="length=100")
        return cls(listed, length, None if epsilon is None else exact_epsilon(epsilon), (), exact_delta(delta))

    def spending(
        self,
        cost: Number | Calibrated | None = None,
        *,
        squared: Number | None = None,
        first: int = 1,
        last: int | None = None,
        note: str = "",
    ) -> Accountant:
        """The account after another release about the entries first..last.

        Args:
            cost: what the release loses between two series that differ in one of its entries, or the calibrated release.
            squared: with Gaussian noise, instead of a cost: the square of the most that one entry moves the answer (of a vector, its
                Euclidean length), divided by the variance; for accounts with a delta.
            first: the first entry it looks at.
            last: the last one; without it the last of the series.
            note: what it was.

        Raises:
            BudgetError: the budget would be exceeded, with what is left.
        """
        paid, square = _costs(cost, squared)
        end = self.length if last is None else last
        if paid < 0 or square < 0 or (paid == 0) == (square == 0):
            raise BudgetError("cost", f"an entry costs {paid or square}", place="cost", hint="a number above 0")
        if square > 0 and self.delta == 0:
            raise BudgetError(
                "delta",
                "a release with Gaussian noise counts in an account with a delta, and this one has none",
                place="delta",
                hint='Accountant.of(..., epsilon=3, delta="1e-6")',
            )
        if not 1 <= first <= end <= self.length:
            raise ScenarioError(
                "entries", f"{first}..{end} are no entries of a series of length {self.length}", place="first"
            )
        alone = self._alone(cost, first, end) if isinstance(cost, Calibrated) else None
        after = replace(self, spendings=(*self.spendings, Spending(first, end, paid, note, alone, square)))
        if self.budget is not None and after.epsilon > self._allowed:
            left = self.left(first=first, last=end)
            said = f"this release would bring the loss to {float(after.epsilon):.6g}, above {self.budget}"
            hint = "nothing is left" if left == 0 else f"at most {float(left):.4g} for each of these entries is left"
            raise BudgetError("budget", said, place="budget", hint=hint)
        return after

    def _alone(self, made: Calibrated, first: int, last: int) -> Fraction | None:
        """What a release loses by itself, where it was calibrated for this very series under these very priors."""
        question = made.question
        fits = question.priors == self.chains and self.length in question.lengths
        if not fits or (first, last) != (1, self.length) or made.method == "gk16" or question.budget is None:
            return None
        return upper(question.budget.epsilon.ball()) if question.budget.delta <= self.delta else None

    @property
    def _allowed(self) -> Fraction:
        assert self.budget is not None
        return Fraction(budget_below(self.budget))

    @cached_property
    def epsilon(self) -> Fraction:
        """What all releases lose together, rounded up; with a delta, beside it."""
        if not self.spendings:
            return Fraction(0)
        total = max(self._loss(chain, self.spendings) for chain in self.chains)
        alone = self.spendings[0].alone if len(self.spendings) == 1 else None
        return total if alone is None else min(total, alone)

    @property
    def simple(self) -> Fraction:
        """What adding up every release's own loss would give."""
        return sum((max(self._loss(chain, [s]) for chain in self.chains) for s in self.spendings), Fraction(0))

    def _loss(self, chain: Chain, spendings: Sequence[Spending]) -> Fraction:
        """What some releases lose together under one chain."""
        sure = all(spent.squared == 0 for spent in spendings)
        pure = total_loss(chain, self.length, pieces_of(spendings, self.length)) if sure else None
        if self.delta == 0:
            assert pure is not None
            return pure
        beside = loss_beside_delta(chain, self.length, spendings, self.delta)
        return beside if pure is None else min(pure, beside)

    @property
    def question(self) -> AccountQuestion:
        """The claim that all releases lose together no more than their total by quilts; `release.verify` proves it.

        Raises:
            QuestionError: nothing was released yet.
            ScenarioError: no entry has two possible values.
        """
        if not self.spendings:
            raise QuestionError("account", "nothing was released yet", place="account", hint="account.spending(...)")
        if not any(hides(chain, self.length) for chain in self.chains):
            said = f"no entry has two possible values under {self.chains[0]}"
            raise ScenarioError("secrets", said, place="chains", hint="a chain with something to hide")
        total = max(self._loss(chain, self.spendings) for chain in self.chains)
        return AccountQuestion(
            chains=self.chains,
            length=self.length,
            spendings=listed_spendings(self.spendings),
            budget=Budget(exact_epsilon(total), self.delta),
        )

    def left(self, *, first: int = 1, last: int | None = None, digits: int = 4) -> Fraction:
        """The largest cost for each of the entries first..last that the budget still allows, rounded down."""
        if self.budget is None:
            raise QuestionError("budget", "there is no budget", place="budget", hint="Accountant.of(..., epsilon=3)")
        end = self.length if last is None else last
        free = replace(self, budget=None)
        low, high = Fraction(0), Fraction(1)
        while free.spending(high, first=first, last=end).epsilon <= self._allowed:
            low, high = high, 2 * high
        for _ in range(60):
            middle = (low + high) / 2
            if free.spending(middle, first=first, last=end).epsilon <= self._allowed:
                low = middle
            else:
                high = middle
            if low > 0 and high - low < low / 10 ** (digits + 1):
                break
        return low


def _costs(cost: Number | Calibrated | None, squared: Number | None) -> tuple[Fraction, Fraction]:
    """What an entry costs, and its square under Gaussian noise; one of them is 0."""
    if isinstance(cost, Calibrated):
        return (Fraction(0), cost.squared) if isinstance(cost.noise, Gaussian) else (cost.cost, Fraction(0))
    return (Fraction(0) if cost is None else fraction(cost)), (Fraction(0) if squared is None else fraction(squared))
