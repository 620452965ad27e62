"""Validity of conditions: by the multipliers that the evidence has for them, and without a solver.

The conditions are linear over integers and reals and without quantifiers.  A condition is valid if its negation has no solution, and
`linear` says how multipliers show that.

Where the evidence has none, as in older certificates, an SMT solver is asked: cvc5 if it is installed, otherwise Z3.  It is loaded
then and not before, its effort is bounded in its own units, and what it showed is said to be shown by a solver.
"""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import ceil, inf
from typing import Any

from privproof_checker.documents import a_list, an_object
from privproof_checker.linear.documents import complete, read_refutation
from privproof_checker.linear.normal import clauses_of
from privproof_checker.linear.rule import refuted
from privproof_checker.numbers.patience import pause, seconds_left
from privproof_checker.outcomes import Limits, refuse
from privproof_checker.programs.terms import both

_CVC5_EFFORT = 5_000_000
"""The resource limit of one question to cvc5; beyond, the answer is unknown and the condition is refused."""
_Z3_EFFORT = 200_000_000
"""The resource limit of one question to Z3, which counts differently; beyond, the answer is unknown and the condition is refused."""


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
) -> str | None:
    """Refuse conditions that are not found to be valid; the solver that was asked, if one was."""
    place = "evidence.multipliers"
    scripts = [condition.script(definitions) for condition in conditions]
    if "multipliers" not in evidence:
        complete(evidence, scripts)
    given = a_list(evidence.get("multipliers", [None] * len(conditions)), place)
    if len(given) != len(conditions):
        refuse(f"there are {len(conditions)} conditions, and {len(given)} refutations of their negations", place)
    solver: Solver | None = None
    for i, (condition, item) in enumerate(zip(conditions, given, strict=True)):
        if item is None:
            solver = solver or Solver()
            solver.establish(condition, definitions)
        else:
            here = f"{place}[{i}]"
            refuted(clauses_of(scripts[i]), read_refutation(an_object(item, here), here, limits), here)
    return None if solver is None else f"{solver.name} {solver.version}"


class Solver:
    """The solver that is installed."""

    def __init__(self) -> None:
        self._module: Any
        if importlib.util.find_spec("cvc5") is not None:
            self.name, self._module = "cvc5", importlib.import_module("cvc5")
            self.version = str(self._module.__version__)
        elif importlib.util.find_spec("z3") is not None:
            self.name, self._module = "z3", importlib.import_module("z3")
            self.version = str(self._module.get_version_string())
        else:
            refuse("neither cvc5 nor Z3 is installed, and one of them is needed for this evidence", "evidence")

    def establish(self, condition: Condition, definitions: str) -> None:
        """Refuse a condition that is not found to be valid."""
        if self._answer(condition.script(definitions)) == "unsat":
            return
        for goal in condition.goals:
            answer = self._answer(condition.script(definitions, (goal,)))
            if answer != "unsat":
                found = "this does not follow" if answer == "sat" else "the solver does not decide it"
                refuse(f"{goal[0]}: {found}", condition.place)
        refuse("the solver decides the parts but not the whole", condition.place)

    def _answer(self, script: str) -> str:
        pause()
        answer = self._cvc5(script) if self.name == "cvc5" else self._z3(script)
        if answer == "unknown":
            pause()  # not for the solver to say where it was cut
        return answer

    def _cvc5(self, script: str) -> str:
        cvc5 = self._module
        solver = cvc5.Solver(cvc5.TermManager())
        solver.setOption("rlimit", str(_CVC5_EFFORT))
        if (left := seconds_left()) < inf:
            solver.setOption("tlimit-per", str(ceil(1000 * left)))
        parser = cvc5.InputParser(solver)
        parser.setStringInput(cvc5.InputLanguage.SMT_LIB_2_6, script, "condition")
        symbols = parser.getSymbolManager()
        while True:
            command = parser.nextCommand()
            if command.isNull():
                break
            said = command.invoke(solver, symbols)
            if said and "error" in str(said):
                return "unknown"
        result = solver.checkSat()
        return "unsat" if result.isUnsat() else "sat" if result.isSat() else "unknown"

    def _z3(self, script: str) -> str:
        z3 = self._module
        solver = z3.Solver(ctx=z3.Context())
        solver.set("rlimit", _Z3_EFFORT)
        if (left := seconds_left()) < inf:
            solver.set("timeout", ceil(1000 * left))
        solver.from_string(script)
        return str(solver.check())
