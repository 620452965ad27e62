"""The rule of linear arithmetic: clauses without a solution, shown by rational multipliers and propagation.

*Lemma* (Farkas).  If a combination of rows ``e_i >= 0`` (or ``> 0``) with multipliers above 0 has no variable left, and its constant
is below 0 (or is 0, and one of the rows is strict), then the rows do not hold together.  So the clause of their negations is valid.

*Step* (propagation).  Suppose all literals of a clause to be false.  If the clauses known so far, each with one literal left that is
not yet false, force literals until one of them has none left, then the clause follows from them.

A refutation lists atoms to be named, lemmas, and clauses each of which follows by a step from the clauses before; the last step
is the empty clause.  A new atom is a definition and takes nothing away: a bound of an integer holds or its negation does.  Nothing is
searched for.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from privproof_checker.linear.linear_normal import Clause, Clauses, LinearForm
from privproof_checker.numbers import ZERO, Rational
from privproof_checker.numbers.patience import pause
from privproof_checker.outcomes import refuse


@dataclass(frozen=True)
class Refutation:
    """Why some clauses have no solution.

    Attributes:
        atoms: integer forms that become atoms, ``form >= 0``.
        lemmas: literals with their multipliers.
        steps: clauses that follow one after the other.
    """

    atoms: tuple[LinearForm, ...] = ()
    lemmas: tuple[tuple[tuple[int, Rational], ...], ...] = ()
    steps: tuple[Clause, ...] = ()


def check_refutation(clauses: Clauses, refutation: Refutation, place: str) -> None:
    """Refuse a refutation that does not show that the clauses have no solution; names its atoms in the clauses."""
    for form in refutation.atoms:
        if any(not 0 <= variable < len(clauses.whole) for variable, _ in form.parts):
            refuse("a variable that there is not", f"{place}.atoms")
        clauses.at_least(form, strict=False)
    known = Propagation(clauses.size, clauses.clauses)
    for i, lemma in enumerate(refutation.lemmas):
        known.add(valid_clause(clauses, lemma, f"{place}.lemmas[{i}]"))
    for i, step in enumerate(refutation.steps):
        if any(not 1 <= abs(literal) <= clauses.size for literal in step):
            refuse("a literal that there is not", f"{place}.steps[{i}]")
        if not known.fails(-literal for literal in step):
            refuse("this clause does not follow by propagation", f"{place}.steps[{i}]")
        known.add(step)
    if not known.fails(()):
        refuse("the clauses are not refuted", place)


def valid_clause(clauses: Clauses, lemma: Sequence[tuple[int, Rational]], place: str) -> Clause:
    """The clause of a lemma, whose rows do not hold together."""
    total, strict = LinearForm((), ZERO), False
    for literal, multiplier in lemma:
        row = clauses.row(literal)
        if row is None or multiplier <= 0:
            refuse("a lemma combines atoms with multipliers above 0", place)
        total = total.plus(row.form, multiplier)
        strict = strict or row.strict
    if total.parts or total.constant > 0 or (total.constant == 0 and not strict):
        refuse("the rows of the lemma may hold together", place)
    return tuple(-literal for literal, _ in lemma)


class Propagation:
    """Clauses, and what they force; each clause is watched at two of its literals.

    Literals that are forced without any supposition stay.
    """

    def __init__(self, size: int, clauses: Iterable[Clause] = ()) -> None:
        self.clauses: list[Clause] = []
        self._values: list[int] = [0] * (2 * size + 1)
        self._watched: list[list[int]] = [[] for _ in range(2 * size + 1)]
        self._pairs: list[list[int]] = []
        self._trail: list[int] = []
        self._done = 0
        self._failed = False
        for clause in clauses:
            self.add(clause)

    def add(self, clause: Clause) -> None:
        """One more clause."""
        at = len(self.clauses)
        kept = tuple(dict.fromkeys(clause))
        self.clauses.append(kept)
        free = [literal for literal in kept if self._values[literal] >= 0]
        pair = (sorted(free, key=lambda each: -self._values[each]) + [each for each in kept if each not in free])[:2]
        self._pairs.append(pair)
        for literal in pair:
            self._watched[literal].append(at)
        if not any(self._values[literal] > 0 for literal in kept):
            if not free:
                self._failed = True
            elif len(free) == 1:
                self._force(free[0])

    def fails(self, supposed: Iterable[int]) -> bool:
        """Whether propagation comes to a clause that fails if the literals are supposed."""
        pause()
        self._failed = self._failed or not self._propagate()
        if self._failed:
            return True
        before = len(self._trail)
        failed = False
        for literal in supposed:
            failed = failed or self._values[literal] < 0
            if self._values[literal] == 0:
                self._force(literal)
        failed = failed or not self._propagate()
        for literal in self._trail[before:]:
            self._values[literal] = self._values[-literal] = 0
        del self._trail[before:]
        self._done = before
        return failed

    def _force(self, literal: int) -> None:
        self._values[literal], self._values[-literal] = 1, -1
        self._trail.append(literal)

    def _propagate(self) -> bool:
        """Force what is forced; whether no clause fails."""
        values = self._values
        while self._done < len(self._trail):
            false = -self._trail[self._done]
            self._done += 1
            watching, self._watched[false] = self._watched[false], []
            for i, at in enumerate(watching):
                pair = self._pairs[at]
                if len(pair) < 2:
                    self._watched[false].append(at)
                    if values[pair[0]] < 0:
                        self._watched[false].extend(watching[i + 1 :])
                        return False
                    continue
                other = pair[1] if pair[0] == false else pair[0]
                if values[other] > 0:
                    self._watched[false].append(at)
                    continue
                for literal in self.clauses[at]:
                    if literal != false and literal != other and values[literal] >= 0:
                        pair[:] = [other, literal]
                        self._watched[literal].append(at)
                        break
                else:
                    self._watched[false].append(at)
                    if values[other] < 0:
                        self._watched[false].extend(watching[i + 1 :])
                        return False
                    self._force(other)
        return True
