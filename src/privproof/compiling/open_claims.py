"""The claim of a mechanism on lists of every length: a budget, and a rate at which e^epsilon grows with every element."""

from __future__ import annotations

import re
from itertools import pairwise

from privproof.errors import BudgetError, LanguageError, QuestionError
from privproof.exact import ONE, Budget, Rational, log, rational
from privproof.language.inputs import ADD_REMOVE
from privproof.language.mechanism import Mechanism
from privproof.models import Transducer

_CLAIMED = (1, 2, 3, 4, 5, 6, 7)
"""Sizes at which a claim is read to see how it grows: an expression that mentions the size twice is linear if it is at so many."""
_MOST_MENTIONS = 2
"""How often a claim may mention the size, so that it is known from its values at these sizes."""


def has_one_open_list(mechanism: Mechanism) -> bool:
    """Whether the length of one list is open, and this list is all that is private."""
    open_lists = [name for name, declared in mechanism.inputs.items() if declared.shape == "list" and not declared.size]
    private = [name for name, declared in mechanism.inputs.items() if not declared.public]
    relation = mechanism.neighbours
    return len(open_lists) == 1 and open_lists == private and not callable(relation)


def open_claim(mechanism: Mechanism) -> tuple[Budget | None, Rational]:
    """The claim about lists of every length: a budget, and the rate at which e^epsilon grows with every element.

    Raises:
        QuestionError: the claim grows in another way.
    """
    try:
        return mechanism.budget(None), ONE
    except (LanguageError, BudgetError):
        try:
            found = [mechanism.budget(size) for size in _CLAIMED]
        except (LanguageError, BudgetError):
            return mechanism.budget(None), ONE
    bounds = [None if budget is None else budget.epsilon.bound for budget in found]
    numbers = [rational(bound) for bound in bounds if bound is not None]
    claim = mechanism.claim
    few = claim is not None and len(re.findall(r"\bsize\b", str(claim.epsilon))) <= _MOST_MENTIONS
    few = few and mechanism.neighbours != ADD_REMOVE
    if few and len(numbers) == len(found) and found[0] is not None and found[0].delta == 0:
        rate = numbers[1] / numbers[0]
        if all(later == rate * earlier for earlier, later in pairwise(numbers)):
            start = numbers[0] / rate ** _CLAIMED[0]
            if start >= 1:
                return Budget(log(start)), rate
    raise how_long(
        next(name for name, declared in mechanism.inputs.items() if not declared.public),
        mechanism.name,
        LanguageError("budget", "the claim does not grow like ln(c) + size*ln(r) with rational c and r"),
    )


def how_long(name: str, place: str, problem: LanguageError | None = None) -> QuestionError:
    """That a size must be given, and why the question is not about every length."""
    why = ""
    if problem is not None:
        why = f" It is not asked about every length: {problem.message}{f', {problem.place}' if problem.place else ''}"
    hint = "--size 3, or size=3, or queries(0, 2, size=3)"
    return QuestionError("size", f"how long is {name}?{why}", place=place, hint=hint)


def refuse_one_more(model: Transducer) -> None:
    """Refuse a mechanism whose output shows where an element stands, or how many there are."""
    if model.marks:
        raise LanguageError("length", "it returns an index, which one element more would move", hint="--size 3")
    rows = (row for table in model.steps[0].values() for row in table.values())
    if any(branch.output is not None for row in rows for branch in row):
        raise LanguageError("length", "it returns a list that is as long as that of the data", hint="--size 3")
