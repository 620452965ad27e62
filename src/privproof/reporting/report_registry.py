"""How questions of one kind are told: one report for each kind, registered by it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from privproof.capabilities import kind_of, load_named
from privproof.evidence.verdicts import Unknown, Verdict
from privproof.evidence.witnesses import AnyWitness
from privproof.exact.number_texts import outward
from privproof.reporting.replay_commands import ReplayCommand
from privproof.reporting.report_facts import Fact, tight_fact
from privproof.scenarios import AnyQuestion

if TYPE_CHECKING:
    from privproof.profiles.output_laws import OutputLaws, SeenOutput

Q = TypeVar("Q", bound=AnyQuestion)
W = TypeVar("W", bound=AnyWitness)


class Report(ABC, Generic[Q, W]):
    """How questions of one kind, and the verdicts on them, are told; the general words are here."""

    def claim(self, question: Q) -> str:
        """What is claimed, as an adjective: ``ln(2)-private``."""
        budget = question.budget
        if budget is None:
            return question.private
        if budget.delta == 0:
            return f"{budget.epsilon}-{question.private}"
        each = " for each output" if budget.pointwise else ""
        return f"({budget.epsilon}, {budget.delta})-{question.private}{each}"

    def headline(self, verdict: Verdict, question: Q, *, asked_tight: bool) -> str:
        """The verdict in one sentence."""
        name = question.name or "the mechanism"
        if not asked_tight:
            claim = self.claim(question)
            if verdict.status == "unknown":
                return f"{name}: not known whether it is {claim}"
            return f"{name} is {'' if verdict.status == 'proved' else 'not '}{claim}"
        if verdict.lower.infinite:
            return f"{name}: there is no epsilon at all"
        if verdict.tight is not None:
            return f"{name}: the tight epsilon is {verdict.tight.show()}"
        low, high = outward(verdict.lower, up=False, digits=9), outward(verdict.upper, up=True, digits=9)
        if verdict.upper.infinite:
            return f"{name}: the tight epsilon is at least {low}; no upper bound is proved"
        return f"{name}: the tight epsilon lies between {low} and {high}"

    @abstractmethod
    def compared(self, question: Q) -> list[Fact]:
        """What is compared."""

    def shown(self, verdict: Verdict, question: Q, *, command: ReplayCommand | None, asked_tight: bool) -> list[Fact]:
        """The witness, or the proof."""
        return []

    def tight(self, verdict: Verdict, question: Q) -> str:
        """What is known about the smallest epsilon."""
        if verdict.lower.infinite:
            grows = "the ratio grows without bound" if verdict.growth else "the output is impossible on one side"
            return f"none: {grows}"
        if verdict.tight is not None:
            return verdict.tight.show()
        upper = "no upper bound proved" if verdict.upper.infinite else f"at most {verdict.upper.show()}"
        return f"at least {verdict.lower.show()}; {upper}"

    def facts(self, verdict: Verdict, question: Q, *, command: ReplayCommand | None, asked_tight: bool) -> list[Fact]:
        """Everything a reader needs, in order."""
        result = list(self.compared(question))
        if isinstance(verdict, Unknown):
            result.append(Fact("reason", verdict.reason))
        result += self.shown(verdict, question, command=command, asked_tight=asked_tight)
        result.append(tight_fact(verdict, self.tight(verdict, question)))
        result.append(Fact("engine", f"{verdict.engine}, {verdict.seconds:.2f} s"))
        return [*result, *(Fact("note", note) for note in verdict.notes)]

    def sides(self, witness: W, question: Q) -> str:
        """Both situations of a witness and its output, in one line; empty where that is not short."""
        return ""

    @abstractmethod
    def question_data(self, question: Q) -> dict[str, Any]:
        """The question as plain data, beyond its name and its budget."""

    def witness_data(self, witness: W, question: Q) -> dict[str, Any]:
        """A witness as plain data: what every witness has."""
        return {
            "output": [witness.seen],
            "left_probability": str(witness.left_probability),
            "right_probability": str(witness.right_probability),
        }

    def more_data(self, verdict: Verdict, question: Q) -> dict[str, Any]:
        """What the verdict says beyond what every verdict says, as plain data."""
        return {}

    def laws(self, verdict: Verdict, question: Q) -> OutputLaws | None:
        """Both distributions of what is seen in the two situations of the witness; None where there is none."""
        witness: Any = verdict.witness
        if witness is None:
            return None
        from privproof.profiles.output_laws import laws_of  # here, because most answers show no distributions

        left, right = self.situations(witness, question)
        return laws_of(witness, self.law_rows(witness, question), left, right)

    def situations(self, witness: W, question: Q) -> tuple[str, str]:
        """Both situations of a witness, in words."""
        return str(witness.left), str(witness.right)

    def law_rows(self, witness: W, question: Q) -> Sequence[SeenOutput] | None:
        """What may be seen in the two situations, with its probabilities; None where that cannot be told."""
        return None

    def drawn(self, verdict: Verdict, question: Q) -> list[str]:
        """The mechanism, as parts of a page: sources and drawings."""
        return []


def report_of(question: AnyQuestion) -> Report[Any, Any]:
    """The report of a question's kind."""
    report: Report[Any, Any] = load_named(kind_of(question.family).report)()
    return report
