"""Multipliers for conditions of linear arithmetic: found here, with a solver's help, and checked without one.

The clauses are those of the checker, so that its numbers are meant.  A search with learning proposes truth values for all literals;
of the atoms that are needed to satisfy the clauses Z3 tells, over the reals, which clash, and the multipliers of a smallest clash
are the only solution of a system of equations.  Where the atoms have a solution in which an integer is not whole, its two sides are
named as a new atom.  What was learnt on the way, and was used in the end, are the steps of the refutation.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, NoReturn

import flint
import z3

from privproof.exact import ONE, ZERO, Rational
from privproof.exact.patience import pause
from privproof.models.graph_algorithms import reachable
from privproof_checker.linear.linear_normal import Clauses, LinearForm, clauses_of
from privproof_checker.linear.linear_rule import Refutation
from privproof_checker.outcomes import Refusal

MOST_CONFLICTS = 8_000
"""The search is given up after so many conflicts, about twenty seconds; then the certificate has no proof of the condition."""


class NoMultipliers(Exception):
    """No refutation was found."""


def refutations(conditions: Sequence[str]) -> list[dict[str, object] | None]:
    """Refutations of the negations of conditions, as certificates have them; None where none was found."""
    context = z3.Context()  # one for all: to make it takes as long as most of them
    return [_document(condition, context) for condition in conditions]


def _document(condition: str, context: z3.Context) -> dict[str, object] | None:
    try:
        found = multipliers(clauses_of(condition), context)
    except (NoMultipliers, Refusal):  # it does not follow, or is not linear
        return None
    return {
        "atoms": [[str(form.constant), *([n, str(x)] for n, x in form.parts)] for form in found.atoms],
        "lemmas": [[[literal, _plain(x)] for literal, x in lemma] for lemma in found.lemmas],
        "steps": [list(step) for step in found.steps],
    }


def _plain(value: Rational) -> object:
    return int(value.p) if value.q == 1 else str(value)


def multipliers(clauses: Clauses, context: z3.Context | None = None) -> Refutation:
    """A refutation of the clauses, Z3's terms in a context of their own or the given one.

    Raises:
        NoMultipliers: the search ends without one.
    """
    return _MultiplierSearch(clauses, z3.Context() if context is None else context).refutation()


@dataclass
class _Known:
    """A clause of the search: its literals, the clauses that it was learnt from, and the lemma that it is."""

    literals: list[int]
    sources: tuple[int, ...] = ()
    lemma: tuple[tuple[int, Rational], ...] | None = None


class _MultiplierSearch:
    def __init__(self, clauses: Clauses, context: z3.Context) -> None:
        self.numbers = clauses
        self.known: list[_Known] = []
        self.holds: set[int] = set()
        self.levels: dict[int, int] = {}
        self.reasons: dict[int, int] = {}
        self.trail: list[int] = []
        self.marks: list[int] = []
        self.done = 0
        self.watched: dict[int, list[int]] = {}
        self.order = list(range(1, clauses.size + 1))
        self.unsorted = False
        self.passed = 0
        self.activity: dict[int, float] = dict.fromkeys(self.order, 0.0)
        self.bump = 1.0
        self.phases: dict[int, bool] = {}
        self.atoms: list[LinearForm] = []
        self.clashes = _Clashes(clauses, context)
        for clause in clauses.clauses:
            self._store(_Known(list(dict.fromkeys(clause))))
        for lemma in _orders(clauses):
            self._store(_Known([-literal for literal, _ in lemma], lemma=lemma))

    def refutation(self) -> Refutation:
        conflicts = 0
        units = [n for n, each in enumerate(self.known) if len(each.literals) < 2]
        failed = self._assert_units(units)
        while True:
            pause()
            if failed is None:
                failed = self._propagate()
            if failed is not None:
                conflicts += 1
                if conflicts > MOST_CONFLICTS:
                    raise NoMultipliers(f"the search was given up after {MOST_CONFLICTS} conflicts")
                if not self.marks:
                    return self._trimmed(failed)
                failed = self._learn(failed)
                continue
            literal = self._decision()
            if literal:
                self.marks.append(len(self.trail))
                self._force(literal, -1)
                continue
            failed = self._theory()

    # the clauses and what they force

    def _store(self, known: _Known) -> int:
        at = len(self.known)
        self.known.append(known)
        for literal in known.literals[:2]:
            self.watched.setdefault(literal, []).append(at)
        return at

    def _force(self, literal: int, reason: int) -> None:
        self.holds.add(literal)
        self.levels[abs(literal)] = len(self.marks)
        self.reasons[abs(literal)] = reason
        self.trail.append(literal)

    def _assert_units(self, units: Sequence[int]) -> int | None:
        for at in units:
            literals = self.known[at].literals
            if not literals or -literals[0] in self.holds:
                return at
            if literals[0] not in self.holds:
                self._force(literals[0], at)
        return None

    def _propagate(self) -> int | None:
        holds = self.holds
        while self.done < len(self.trail):
            false = -self.trail[self.done]
            self.done += 1
            watching, self.watched[false] = self.watched.get(false, []), []
            for i, at in enumerate(watching):
                literals = self.known[at].literals
                if len(literals) < 2:
                    self.watched[false].append(at)
                    continue
                if literals[0] == false:
                    literals[0], literals[1] = literals[1], literals[0]
                if literals[0] in holds:
                    self.watched[false].append(at)
                    continue
                for k in range(2, len(literals)):
                    if -literals[k] not in holds:
                        literals[1], literals[k] = literals[k], literals[1]
                        self.watched.setdefault(literals[1], []).append(at)
                        break
                else:
                    self.watched[false].append(at)
                    if -literals[0] in holds:
                        self.watched[false].extend(watching[i + 1 :])
                        return at
                    self._force(literals[0], at)
        return None

    def _undo(self, level: int) -> None:
        mark = self.marks[level]
        for literal in self.trail[mark:]:
            self.phases[abs(literal)] = literal > 0
            self.holds.remove(literal)
        del self.trail[mark:], self.marks[level:]
        self.done, self.passed = mark, 0

    def _decision(self) -> int:
        if len(self.trail) == self.numbers.size:
            return 0
        if self.unsorted:
            self.order.sort(key=self.activity.__getitem__, reverse=True)
            self.unsorted, self.passed = False, 0
        while (chosen := self.order[self.passed]) in self.holds or -chosen in self.holds:
            self.passed += 1
        return chosen if self.phases.get(chosen, False) else -chosen  # most comparisons do not hold in most cases

    # what is learnt

    def _learn(self, failed: int) -> int | None:
        """Learn from a clause that fails, and go back; the number of a clause that fails even so."""
        top = max(self.levels[abs(each)] for each in self.known[failed].literals)
        if top == 0:
            self._undo(0)
            return failed
        if top < len(self.marks):
            self._undo(top)
        sources, seen, learnt, open_ = [failed], set(), [], 0
        literals, at = self.known[failed].literals, len(self.trail)
        while True:
            for each in literals:
                n = abs(each)
                if n in seen or each in self.holds:
                    continue
                seen.add(n)
                self.activity[n] += self.bump
                self.unsorted = True
                if self.levels[n] == 0:
                    sources.extend(self._roots(n))
                elif self.levels[n] == top:
                    open_ += 1
                else:
                    learnt.append(each)
            while True:
                at -= 1
                if abs(self.trail[at]) in seen:
                    break
            open_ -= 1
            if open_ == 0:
                break
            reason = self.reasons[abs(self.trail[at])]
            sources.append(reason)
            literals = self.known[reason].literals
        asserting = -self.trail[at]
        self.bump /= 0.95
        back = max((self.levels[abs(each)] for each in learnt), default=0)
        learnt.sort(key=lambda each: -self.levels[abs(each)])
        self._undo(back)
        new = self._store(_Known([asserting, *learnt], tuple(dict.fromkeys(sources))))
        self._force(asserting, new)
        return None

    def _roots(self, n: int) -> set[int]:
        """The clauses behind a literal that holds without any decision."""
        met = reachable([n], lambda each: map(abs, self.known[self.reasons[each]].literals))
        return {self.reasons[each] for each in met}

    def _trimmed(self, failed: int) -> Refutation:
        """What the last conflict rests on."""
        roots = {failed}.union(*(self._roots(abs(each)) for each in self.known[failed].literals))
        order = [self.known[at] for at in sorted(reachable(roots, lambda at: self.known[at].sources))]
        return Refutation(
            tuple(self.atoms),
            tuple(each.lemma for each in order if each.lemma is not None),
            tuple(tuple(each.literals) for each in order if each.sources),
        )

    # arithmetic

    def _theory(self) -> int | None:
        """A lemma against the truth values that are proposed, unless a new atom is named first."""
        needed = self._needed()
        while isinstance(found := self.clashes.clash(needed), LinearForm):
            size = self.numbers.size
            literal = self.numbers.at_least(found, strict=False)
            if self.numbers.size > size:
                self.atoms.append(found)
                self.order.append(self.numbers.size)
                self.activity[self.numbers.size] = self.bump
                self.unsorted = True
                return None
            needed.append(literal if literal in self.holds else -literal)
        clause = sorted((-literal for literal, _ in found), key=lambda each: -self.levels[abs(each)])
        return self._store(_Known(clause, lemma=found))

    def _needed(self) -> list[int]:
        """Atoms that hold, enough to satisfy every clause together with literals that are no atoms."""
        rows, holds, chosen = self.numbers.rows, self.holds, dict[int, None]()
        enough = {literal for literal in holds if abs(literal) not in rows}
        for clause in self.numbers.clauses:
            if enough.isdisjoint(clause):
                best = max((each for each in clause if each in holds), key=lambda each: self.activity[abs(each)])
                enough.add(best)
                chosen[best] = None
        return list(chosen)


def _orders(clauses: Clauses) -> Iterator[tuple[tuple[int, Rational], ...]]:
    """Of atoms about the same multiples of variables each gives the next weaker one."""
    alike: dict[tuple[tuple[int, Rational], ...], list[tuple[Rational, bool, int]]] = {}
    for literal, row in clauses.rows.items():
        alike.setdefault(row.form.parts, []).append((row.form.constant, not row.strict, literal))
    for atoms in alike.values():
        for (_, _, tight), (_, _, loose) in pairwise(sorted(atoms)):
            yield (tight, ONE), (-loose, ONE)


class _Clashes:
    """Which atoms clash, over the reals."""

    def __init__(self, clauses: Clauses, context: z3.Context) -> None:
        self.numbers = clauses
        self._context = context
        self._solver = z3.SimpleSolver(ctx=context)
        self._variables: dict[int, Any] = {}
        self._named: dict[int, Any] = {}
        self._kept: list[Any] = []
        self._literals: dict[int, int] = {}

    def clash(self, literals: Sequence[int]) -> tuple[tuple[int, Rational], ...] | LinearForm:
        """Literals that clash, with their multipliers; or a new atom, where they have a solution that is not whole."""
        answer = self._check(literals)
        if answer == z3.Z3_L_FALSE:
            core = self._core()
            return self._multiplied(core) or self._multiplied(self._smallest(core)) or self._none()
        if answer != z3.Z3_L_TRUE:
            raise NoMultipliers("Z3 does not decide some rows")
        model = self._solver.model()
        for n, variable in self._variables.items():
            if self.numbers.whole[n]:
                value = model.eval(variable, model_completion=True)
                if value.denominator_as_long() != 1:
                    floor = value.numerator_as_long() // value.denominator_as_long()
                    return LinearForm(((n, ONE),), Rational(-floor - 1))
        raise NoMultipliers("the condition does not follow")

    def _check(self, literals: Sequence[int]) -> int:
        named = [self._named.get(literal) or self._name(literal) for literal in literals]
        return int(
            z3.Z3_solver_check_assumptions(
                self._context.ref(), self._solver.solver, len(named), (z3.Ast * len(named))(*named)
            )
        )

    def _core(self) -> list[int]:
        """The literals of the last clash; Z3's vector is read as it is, because wrapping every name takes longer than the check."""
        context = self._context.ref()
        found = z3.Z3_solver_get_unsat_core(context, self._solver.solver)
        z3.Z3_ast_vector_inc_ref(context, found)
        size = z3.Z3_ast_vector_size(context, found)
        names = [z3.Z3_get_ast_id(context, z3.Z3_ast_vector_get(context, found, i)) for i in range(size)]
        z3.Z3_ast_vector_dec_ref(context, found)
        return [self._literals[name] for name in names]

    def _smallest(self, core: list[int]) -> list[int]:
        """Literals that clash, and none of which may be left out."""
        for literal in core:
            fewer = [each for each in core if each != literal]
            if len(fewer) < len(core) and self._check(fewer) == z3.Z3_L_FALSE:
                return self._smallest(self._core())
        return core

    def _none(self) -> NoReturn:
        raise NoMultipliers("rows that clash have no multipliers above 0")

    def _name(self, literal: int) -> Any:
        name = z3.Bool(f"l{literal}", self._context)
        self._kept.append(name)
        self._literals[name.get_id()] = literal
        row = self.numbers.row(literal)
        assert row is not None
        parts = [self._variable(n) * _number(x, self._context) for n, x in row.form.parts]
        total = z3.Sum(*parts) if len(parts) > 1 else parts[0]
        bound = _number(-row.form.constant, self._context)
        self._solver.add(z3.Implies(name, total > bound if row.strict else total >= bound))
        found = self._named[literal] = name.as_ast()
        return found

    def _variable(self, n: int) -> Any:
        if n not in self._variables:
            self._variables[n] = z3.Real(f"x{n}", self._context)
        return self._variables[n]

    def _multiplied(self, core: Sequence[int]) -> tuple[tuple[int, Rational], ...] | None:
        """The multipliers of rows that clash, where there is one dependence between them: so it is if none may be left out."""
        columns = [dict(row.form.parts) for row in map(self.numbers.row, core) if row is not None]
        found = _follow_multipliers(columns)
        if found is not None:
            return None if min(found) < 0 else tuple((k, x) for k, x in zip(core, found, strict=True) if x > 0)
        variables = sorted({n for column in columns for n in column})
        matrix = flint.fmpq_mat(len(variables), len(core), [c.get(n, ZERO) for n in variables for c in columns])
        reduced, rank = matrix.rref()
        if rank != len(core) - 1:
            return None
        pivots = [next(j for j in range(len(core)) if reduced[i, j] != 0) for i in range(rank)]
        free = next(j for j in range(len(core)) if j not in pivots)
        solution = [ZERO] * len(core)
        solution[free] = ONE
        for i, j in enumerate(pivots):
            solution[j] = -reduced[i, free]
        if any(x < 0 for x in solution):
            return None
        return tuple((literal, x) for literal, x in zip(core, solution, strict=True) if x > 0)


def _follow_multipliers(columns: Sequence[dict[int, Rational]]) -> list[Rational] | None:
    """The only multipliers, up to a factor, under which rows add up to 0, where one follows from the other; None where they do not.

    A variable whose multipliers are known but for one tells that one; most rows that clash are a chain of that kind.
    """
    places: dict[int, list[int]] = {}
    for k, column in enumerate(columns):
        for n in column:
            places.setdefault(n, []).append(k)
    found: list[Rational | None] = [None] * len(columns)
    found[0] = ONE
    left = {n: len(at) for n, at in places.items()}
    waiting = [0]
    while waiting:
        for n in columns[waiting.pop()]:
            left[n] -= 1
            if left[n] > 1:
                continue
            total, missing = ZERO, None
            for k in places[n]:
                known = found[k]
                if known is None:
                    missing = k
                else:
                    total += known * columns[k][n]
            if missing is not None:
                found[missing] = -total / columns[missing][n]
                waiting.append(missing)
            elif total != 0:
                return None
    return None if any(each is None for each in found) else [each for each in found if each is not None]


def _number(value: Rational, context: Any) -> Any:
    return z3.RealVal(str(value), context)
