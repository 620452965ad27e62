"""The reduction from satisfiability (FAIER paper, Theorem 5.2 and appendix 10.1): a family that is hard by design.

A formula in conjunctive normal form becomes a hidden Markov model with one pair of initial distributions.  A word
``X1 A1 X2 A2 ... Xn An top`` with Aj in {Tj, Fj} spells an assignment, and with s of the m clauses satisfied by it the ratio of its
probabilities is ``(8 s + 5 (m - s)) / (2 s + 5 (m - s))``.  So the largest ratio is exactly 4 if the formula is satisfiable and at most
``ratio_if_unsatisfiable(m) = (8 m - 3) / (2 m + 3)`` if not.

The paper takes epsilon = ln 4, where the model is private either way (the maximum of the *difference* is 0 exactly for satisfiable
formulas, but 0 is no violation).  A bound strictly between the two ratios makes the reduction right.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from privproof.errors import ModelError
from privproof.exact import Number, Rational, rational
from privproof.models import HiddenMarkovModel, Horizon
from privproof.scenarios import Pair, Question, Scenario

TOP, BOTTOM = "top", "bottom"


def satisfiability(clauses: Sequence[Sequence[int]], *, variables: int | None = None) -> Question:
    """The model of a formula: clauses of non-zero integers, k for the variable k and -k for its negation (as in DIMACS).

    >>> question = satisfiability([[1, -2], [-1]])
    >>> len(question.model.states), str(question.horizon)
    (56, 'up to 5')
    """
    count = max([variables or 0, *(abs(literal) for clause in clauses for literal in clause)])
    if not clauses or count == 0 or any(0 in clause for clause in clauses):
        raise ModelError(
            "formula", "a formula has at least one clause and one variable, and no literal 0", place="clauses"
        )
    half = Fraction(1, 2)
    transitions: dict[str, dict[str, Number]] = {}
    emissions: dict[str, dict[str, Number]] = {}
    last = {"A": {TOP: Fraction(4, 5), BOTTOM: Fraction(1, 5)}, "B": {TOP: Fraction(1, 5), BOTTOM: Fraction(4, 5)}}
    for group in "AB":
        for i, clause in enumerate(clauses, 1):
            for j in range(1, count + 1):
                for prime in ("", "'"):
                    here = f"{group}{prime}{i},{j}"
                    emissions[here] = {f"X{j}": 1}
                    transitions[here] = {f"{value}{here}": half for value in "TF"}
                    for value, literal in (("T", j), ("F", -j)):
                        satisfied = not prime or literal in clause
                        emissions[f"{value}{here}"] = {f"{value}{j}": 1}
                        transitions[f"{value}{here}"] = {f"{group}{'' if satisfied else prime}{i},{j + 1}": 1}
            emissions[f"{group}{i},{count + 1}"] = dict(last[group])
            emissions[f"{group}'{i},{count + 1}"] = {TOP: half, BOTTOM: half}
    observations = [f"{kind}{j}" for j in range(1, count + 1) for kind in "XTF"]
    model = HiddenMarkovModel(
        states=list(emissions), observations=[*observations, TOP, BOTTOM], transitions=transitions, emissions=emissions
    )
    share = Fraction(1, len(clauses))
    pair = Pair.of(
        model,
        "formula",
        {f"A'{i},1": share for i in range(1, len(clauses) + 1)},
        {f"B'{i},1": share for i in range(1, len(clauses) + 1)},
    )
    return Question(
        model=model,
        scenario=Scenario(pairs=(pair,)),
        horizon=Horizon.up_to(2 * count + 1),
        name=f"satisfiability, {count} variables, {len(clauses)} clauses",
    )


def ratio_if_unsatisfiable(clauses: int) -> Rational:
    """The largest ratio that the model of an unsatisfiable formula can have.

    >>> ratio_if_unsatisfiable(1), ratio_if_unsatisfiable(10)
    (1, 77/23)
    """
    return rational(8 * clauses - 3) / (2 * clauses + 3)


def assignment(word: Sequence[str]) -> dict[int, bool]:
    """The assignment that a witness word spells.

    >>> assignment(["X1", "T1", "X2", "F2", "top"])
    {1: True, 2: False}
    """
    return {int(symbol[1:]): symbol[0] == "T" for symbol in word if symbol[0] in "TF"}
