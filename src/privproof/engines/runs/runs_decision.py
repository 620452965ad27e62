"""What the ways to decide from runs have in common: the question, the runs, what is said beside an answer."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any

from privproof.engines.runs.runs_certificates import runs_document
from privproof.engines.search_monitor import Monitor
from privproof.evidence.engine_answers import Answer
from privproof.evidence.verdicts import RunDetails
from privproof.exact import INFINITE, Budget, Epsilon
from privproof.language.laws import WHOLE
from privproof.language.recognition import IDEAL, floats_note
from privproof.scenarios import RunsQuestion

if TYPE_CHECKING:
    from privproof.compiling.runs import Runs

ENGINE = "runs"
_SAMPLED = "a few of infinitely many data sets were run, by which nothing is proved"


@dataclass
class Deciding:
    """What the runs of a function say about a claim."""

    question: RunsQuestion
    runs: Runs
    budget: Budget
    tight: bool
    monitor: Monitor
    excesses: dict[str, Any] = field(default_factory=dict)
    """The largest excesses by epsilon: they are the same whatever delta is claimed."""

    @cached_property
    def document(self) -> dict[str, Any]:
        return runs_document(self.runs)

    @property
    def notes(self) -> tuple[str, ...]:
        runs = self.runs
        pairs = f"{len(runs.pairs)} pairs of neighbours" if len(runs.pairs) > 1 else "one pair of neighbours"
        told = [f"{runs.cost}, {pairs}"]
        if self.question.reason:
            told.append(f"run as it is: {self.question.reason}")
        told += floats_note(runs.floats)
        if runs.asks:
            told.append(f"it asks for {', '.join(runs.asks[:3])}, which was as it was in these runs")
        if runs.relies_on:
            told.append("it relies on " + ", ".join(f"{name} = {value}" for name, value in runs.relies_on.items()))
        if any(noise.kind not in WHOLE for tree in runs.trees for leaf in tree for noise in leaf.noises):
            told.append(IDEAL)
        return tuple(told)

    @property
    def ordered(self) -> list[tuple[int, int]]:
        return [pair for i, j in self.runs.pairs for pair in ((i, j), (j, i))]

    def known(self, **more: Any) -> Answer:
        return Answer(
            **{
                "status": "unknown",
                "question": self.question.under(None if self.tight else self.budget),
                "engine": ENGINE,
                "compiled": self.document,
                "notes": self.notes,
                **more,
            }
        )

    def unknown(self, reason: str, **more: Any) -> Answer:
        """That nothing is known, with bounds."""
        return self.known(reason=reason, **more)

    def as_sampled(self, answer: Answer) -> Answer:
        """An answer as it is; of a few of infinitely many data sets nothing is proved, and bounds are from below."""
        if not self.runs.sampled:
            return answer
        details = answer.details
        if isinstance(details, RunDetails) and details.delta is not None:
            details = replace(details, delta=(details.delta[0], Fraction(1)))
        if answer.status == "refuted":
            more = {name: member for name, member in answer.more.items() if name != "above"}
            return replace(answer, details=details, upper=INFINITE, more=more)
        return self.unknown(_SAMPLED, lower=answer.lower, witness=answer.witness, details=details)

    def data_of(self, number: int) -> dict[str, Any]:
        """A data set as arguments of the function."""
        return {n: list(v) if isinstance(v, tuple) else v for n, v in self.runs.data[number].items()}


def max_of(one: Epsilon, other: Epsilon) -> Epsilon:
    """The larger of two."""
    return one if one.compare(other) >= 0 else other
