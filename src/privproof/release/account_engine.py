"""The engine for accounts: do several releases about the same series lose no more together than is claimed?

Quilts show it, each entry with its own: what all releases cost at the entries between its nodes, in losses or with a delta in Rényi
divergences, and what the nodes tell.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

from privproof.engines.engine_protocol import Answers, EngineRequest
from privproof.engines.search_monitor import Monitor
from privproof.errors import QuestionError
from privproof.evidence.engine_answers import Answer
from privproof.exact import Budget, Rational, epsilon, rational
from privproof.exact.balls import rational_bounds
from privproof.release.account_question import AccountQuestion
from privproof.release.account_totals import total_ranges
from privproof.release.curve_accounts import loss_beside_delta
from privproof.release.markov_chains import Chain
from privproof.release.quilt_sums import Spending, pieces_of, total_loss

ENGINE = "account"
_NOTE = "that every release costs no more by entry than was entered is a premise"


class AccountEngine:
    """Answers questions about accounts."""

    name = ENGINE

    def supports(self, request: EngineRequest) -> str | None:
        """Why the engine does not answer the request, or None if it does."""
        return "a word is asked about" if request.word is not None else None

    def answers(self, request: EngineRequest, monitor: Monitor) -> Answers:
        """Whether the claim is proved by quilts, or what they show."""
        question, budget = request.question, request.budget
        assert isinstance(question, AccountQuestion)
        assert budget is not None
        spendings = [
            Spending(spent.first, spent.last, spent.cost, note, None, spent.squared)
            for spent in question.spendings
            for note in spent.notes
        ]
        if budget.delta == 0 and any(spent.squared for spent in spendings):
            raise QuestionError("delta", "with Gaussian noise an account has a delta", place="delta", hint="delta=1e-6")
        found = [_total(chain, question.length, spendings, budget.delta) for chain in question.chains]
        total = max(loss for loss, _ in found)
        top = epsilon(rational(total))
        claimed = question.under(Budget(top, budget.delta) if request.tight else budget)
        assert claimed.budget is not None
        unknown = Answer(status="unknown", question=claimed, engine=ENGINE, upper=top, notes=(_NOTE,))
        if rational(total) > rational_bounds(claimed.budget.epsilon.ball(192))[1]:
            yield replace(unknown, reason=f"quilts show {float(total):.6g}, and no less")
            return
        ranges = [
            total_ranges(chain, question.length, spendings, budget.delta, curves=curves)
            for chain, (_, curves) in zip(question.chains, found, strict=True)
        ]
        sharper = {"bounds": {"upper": str(top)}} if top.compare(claimed.budget.epsilon) < 0 else {}
        proved = replace(unknown, status="proved", evidence={"method": "quilts", "ranges": ranges})
        yield replace(proved, more=sharper, tentative=True)
        yield replace(proved, upper=claimed.budget.epsilon)


def _total(chain: Chain, length: int, spendings: list[Spending], delta: Rational) -> tuple[Fraction, bool]:
    """What quilts show that all lose together, and whether it is by curves."""
    sure = all(spent.squared == 0 for spent in spendings)
    pure = total_loss(chain, length, pieces_of(spendings, length)) if sure else None
    if delta == 0:
        assert pure is not None
        return pure, False
    beside = loss_beside_delta(chain, length, spendings, delta)
    return (beside, True) if pure is None or beside < pure else (pure, False)
