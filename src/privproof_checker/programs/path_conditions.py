"""Conditions of alignments, and that they are valid: by the multipliers that the evidence has for them.

The conditions are linear over integers and reals and without quantifiers.  A condition is valid if its negation has no solution, and
`linear` says how multipliers show that.  Nothing is searched for and no solver is asked: a condition without multipliers is refused.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from privproof_checker.linear.linear_documents import complete, read_refutation, without_refutation
from privproof_checker.linear.linear_normal import clauses_of
from privproof_checker.linear.linear_rule import check_refutation
from privproof_checker.outcomes import Limits, refuse
from privproof_checker.plain_documents import a_list, an_object
from privproof_checker.programs.terms import both


@dataclass(frozen=True)
class Condition:
    """That the goal follows from what is known, for all values of the symbols.

    Attributes:
        place: what is at stake, as a place in the certificate.
        symbols: the sorts of the symbols.
        known: the premises.
        goals: what has to follow, each with words.
    """

    place: str
    symbols: Mapping[str, str]
    known: tuple[str, ...]
    goals: tuple[tuple[str, str], ...]

    def script(self, definitions: str, goals: tuple[tuple[str, str], ...] | None = None) -> str:
        """The negation, as SMT-LIB text."""
        lines = ["(set-logic ALL)", definitions]
        lines += [f"(declare-const {symbol} {sort})" for symbol, sort in self.symbols.items()]
        lines += [f"(assert {term})" for term in self.known]
        lines.append(f"(assert (not {both(term for _, term in (self.goals if goals is None else goals))}))")
        return "\n".join(lines)


def establish(
    conditions: Sequence[Condition], definitions: str, evidence: dict[str, object], limits: Limits
) -> dict[str, object]:
    """Refuse conditions that are not shown to be valid; how many there are, and what shows them."""
    place = "evidence.multipliers"
    scripts = [condition.script(definitions) for condition in conditions]
    if "multipliers" not in evidence:
        complete(evidence, scripts)
    if "multipliers" not in evidence:
        refuse("the conditions have no multipliers; a new check of the program finds them", place)
    given = a_list(evidence["multipliers"], place)
    if len(given) != len(conditions):
        refuse(f"there are {len(conditions)} conditions, and {len(given)} refutations of their negations", place)
    lemmas = 0
    for i, (condition, item) in enumerate(zip(conditions, given, strict=True)):
        here = f"{place}[{i}]"
        if item is None:
            _refuse_condition(condition, definitions)
        refutation = read_refutation(an_object(item, here), here, limits)
        check_refutation(clauses_of(scripts[i]), refutation, here)
        lemmas += len(refutation.lemmas)
    return {"conditions": len(conditions), "lemmas": lemmas}


def _refuse_condition(condition: Condition, definitions: str) -> None:
    """Refuse a condition without multipliers, with the first of its goals that has none, where somebody looks for them."""
    goals = [[goal] for goal in condition.goals]
    first = without_refutation([condition.script(definitions, (goal,)) for goal in condition.goals])
    told = condition.goals if first is None else goals[first]
    refuse(f"{'; '.join(words for words, _ in told)}: this does not follow by multipliers", condition.place)
