"""What model checking a formula establishes: in which states it holds, and the probabilities behind it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from privproof.drawing.showing import ShownText
from privproof.evidence.verdicts import Status, Verdict
from privproof.logic.decision_process import DecisionProcess
from privproof.logic.formulas import Expected, Formula, FormulaFamily, OfPaths, Private, Probable, Steady, sublogic
from privproof.logic.formulas.sublogics import outermost_privates, subformulas
from privproof.logic.path_measures import Closeness, Gap, Likelihood, Truths, worst_of


@dataclass(frozen=True, eq=False, repr=False)
class Satisfaction(ShownText):
    """The answer to "in which states does the formula hold?".

    Attributes:
        process: the Markov chain or decision process.
        formula: the formula.
        asked: the states the verdict is about.
        chosen: how these states were chosen.
        truth: for every state 1 (holds), 0 (fails) or -1 (not decided).
        measured: what is behind the P and D formulas inside, inner ones first.
        reasons: why something is not decided.
        notes: what else the reader should know.
        verdict: the verdict with its certificate; None where nothing is certified.
        seconds: how long it took.
    """

    process: DecisionProcess
    formula: Formula
    asked: tuple[int, ...]
    chosen: str
    truth: Truths
    measured: Mapping[Formula, Likelihood | Closeness]
    reasons: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    verdict: Verdict | None = None
    seconds: float = 0.0
    engine: str = field(default="logic", init=False)

    def __repr__(self) -> str:
        return f"Satisfaction({str(self.formula)!r}, {len(self.asked)} states asked, status={self.status!r})"

    @property
    def status(self) -> Status:
        """Proved where the formula holds in every asked state, refuted where it fails in one of them, by a certificate.

        A formula that asks for probabilities makes no claim: it is answered, or unknown.
        """
        if self.is_query:
            return self.computed
        return "unknown" if self.verdict is None else self.verdict.status

    @property
    def certificate(self) -> Mapping[str, object] | None:
        """The certificate that the checker has accepted, if there is one."""
        return None if self.verdict is None else self.verdict.certificate

    @property
    def computed(self) -> Status:
        """What the engine computed, certified or not."""
        found = {int(self.truth[s]) for s in self.asked}
        if self.is_query and any(likely.how == "not decided" for likely in self.measured.values()):
            return "unknown"
        if 0 in found:
            return "refuted"
        return "unknown" if -1 in found else "proved"

    @property
    def in_columns(self) -> bool:
        """Whether vectors bound all probabilities behind it, so that its certificate has the process in columns."""
        inside = list(subformulas(self.formula))
        if any(isinstance(f, FormulaFamily) for f in inside):
            return False
        operators = [f for f in inside if isinstance(f, Probable | Expected | Steady | Private | OfPaths)]
        found = [self.measured.get(f) for f in operators]
        return bool(found) and all(each is not None and _in_columns(each) for each in found)

    @property
    def is_query(self) -> bool:
        """Whether the formula asks for a number (``P=?``, ``R=?``, ``S=?``) instead of a truth."""
        return isinstance(self.formula, Probable | Expected | Steady) and self.formula.within is None

    @property
    def sublogic(self) -> str:
        """The smallest logic that the formula belongs to."""
        return sublogic(self.formula)

    def holds(self, state: str) -> bool | None:
        """Whether the formula holds in a state; None where that is not decided."""
        truth = int(self.truth[self.process.state(state)])
        return None if truth < 0 else truth == 1

    def worst(self, closeness: Closeness) -> Gap | None:
        """The worst pair of neighbours among those of the asked states."""
        gaps = [closeness.worst(state) for state in self.asked]
        return worst_of([gap for gap in gaps if gap is not None])

    @property
    def witness(self) -> Gap | None:
        """The worst pair of the outermost D: of the first that fails, or else is not decided, or else is the tightest."""
        outermost = set(outermost_privates(self.formula))
        found = [self.worst(m) for m in self.measured.values() if isinstance(m, Closeness) and m.formula in outermost]
        return worst_of([gap for gap in found if gap is not None])


def _in_columns(found: Likelihood | Closeness) -> bool:
    return found.bounds is not None or (isinstance(found, Closeness) and found.far is not None)
