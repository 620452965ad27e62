"""The head of a certificate about a formula, whatever form its process has: what is asked, by which evidence, and what follows."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from privproof_checker.logic.formulas import FormulaReader, State, a_state, formula_text, privates, states_of
from privproof_checker.outcomes import refuse
from privproof_checker.plain_documents import a_text, a_text_or_null, an_object, only_members

_MOST_WORDS = 2_000
"""Characters of a formula that the statement tells."""
_MOST_NAMED = 20
"""States that the statement names."""


@dataclass(frozen=True)
class AskedFormula:
    """A formula, the states that it is asked about, and the evidence.

    Attributes:
        formula: the formula.
        states: the states.
        names: the names of all states of the process.
        evidence: the evidence.
        comparing: whether the operator D occurs in the formula.
    """

    formula: State
    states: list[int]
    names: Sequence[str]
    evidence: dict[str, object]
    comparing: bool

    def settled(
        self, verdict: str, holds: Callable[[list[int]], Mapping[int, bool | None]], *, compared: bool
    ) -> tuple[Literal["proved", "refuted"], list[int], str]:
        """Refuse unless the verdict follows; otherwise the verdict, the states that it is about, and the statement.

        Args:
            verdict: proved or refuted.
            holds: where the formula holds among some states (None: not known).
            compared: whether some state has a neighbour other than itself.
        """
        words = formula_text(self.formula)
        words = words if len(words) <= _MOST_WORDS else f"{words[:_MOST_WORDS]} ..."
        if verdict == "proved":
            if self.comparing and not compared:
                refuse(
                    "no state has a neighbour other than itself, so nothing is compared", "question.process.neighbours"
                )
            found = holds(self.states)
            for s in self.states:
                if found[s] is not True:
                    reason = "it fails" if found[s] is False else "it is not established"
                    refuse(f"{reason} in the state {self.names[s][:60]!r}", "question.states")
            several = "s" if len(self.states) > 1 else ""
            return "proved", self.states, f"{words} holds in the state{several} {self._named()}"
        state = a_state(self.evidence.get("state"), len(self.names), "evidence.state")
        if state not in self.states:
            refuse("this state is not asked about", "evidence.state")
        value = holds([state])[state]
        if value is not False:
            reason = "the formula holds there" if value else "it is not established that the formula fails"
            refuse(reason, "evidence.state")
        return "refuted", [state], f"{words} fails in the state {self.names[state]}"

    def _named(self) -> str:
        listed = ", ".join(self.names[s] for s in self.states[:_MOST_NAMED])
        others = len(self.states) - _MOST_NAMED
        return f"{listed} and {others} others" if others > 0 else listed


def read_asked(
    question: dict[str, object],
    certificate: dict[str, object],
    reader: FormulaReader,
    method: str,
    members: tuple[str, ...],
) -> AskedFormula:
    """Read what is asked about a process that is read already, and the evidence, of a method that has some members."""
    only_members(question, ("kind", "title", "process", "formula", "text", "states"), "question")
    a_text_or_null(question.get("text"), "question.text")
    formula = reader.state(question.get("formula"), "question.formula")
    states = states_of(question.get("states"), len(reader.names), "question.states")
    if not states:
        refuse("no state is asked about", "question.states")
    if certificate.get("witness") is not None:
        refuse("a formula has no witness beside its evidence", "witness")
    evidence = an_object(certificate.get("evidence"), "evidence")
    only_members(evidence, ("method", "state", *members), "evidence")
    if a_text(evidence.get("method"), "evidence.method") != method:
        refuse(f"the evidence for this question has the method {method}", "evidence.method")
    return AskedFormula(formula, states, reader.names, evidence, any(True for _ in privates(formula)))
