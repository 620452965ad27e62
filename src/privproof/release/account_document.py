"""Questions about accounts as plain data: the priors, the length, what was released, and the claim."""

from __future__ import annotations

from privproof.release.account_question import AccountQuestion
from privproof.release.release_document import prior_document


def document(question: AccountQuestion, compiled: object) -> dict[str, object]:
    """The question as plain data."""
    budget = question.budget
    return {
        "kind": "account",
        "title": question.name or None,
        "priors": [prior_document(chain) for chain in question.chains],
        "length": question.length,
        "spendings": [
            {
                "first": spent.first,
                "last": spent.last,
                **({"cost": str(spent.cost)} if spent.squared == 0 else {"squared": str(spent.squared)}),
                "times": len(spent.notes),
                "notes": list(spent.notes),
            }
            for spent in question.spendings
        ],
        **({} if budget is None else {"epsilon": str(budget.epsilon)}),
        **({} if budget is None or budget.delta == 0 else {"delta": str(budget.delta)}),
    }
