"""The truth of state formulas: true, false, or not known (None) where the evidence and the numbers do not decide it."""

from __future__ import annotations

from collections.abc import Iterable

from privproof_checker.logic.decision_processes import Process, ProcessWalk, Value, ends, in_words, paths_of, walk_of
from privproof_checker.logic.extremes import extremes, is_supported
from privproof_checker.logic.formulas import (
    Expected,
    FormulaReader,
    Not,
    Path,
    Private,
    Probability,
    ProbabilityRange,
    Several,
    SomePath,
    State,
    States,
    Steady,
    privates,
)
from privproof_checker.logic.longrun import long_run
from privproof_checker.logic.measures import Measure
from privproof_checker.logic.query_pairs import PairFacts, Pairs, surely_fails, surely_holds
from privproof_checker.logic.recurring import any_extremes
from privproof_checker.logic.rewards import expectations
from privproof_checker.numbers import ONE, ZERO
from privproof_checker.outcomes import Limits, refuse
from privproof_checker.plain_documents import a_list, an_object, only_members


class Truth:
    """Evaluates state formulas on one process, with the evidence about its formulas of D.

    Attributes:
        found: for operators the probabilities found in states, in words.
        compared: how many ordered pairs of neighbours were compared.
    """

    def __init__(self, process: Process, limits: Limits) -> None:
        self.process, self.limits = process, limits
        self.walk = walk_of(process)
        self.found: dict[Probability | Expected | Steady | Private, dict[int, str]] = {}
        self.compared: set[tuple[Private, int, int]] = set()
        self.violations: dict[tuple[Private, int], str] = {}
        self._known: dict[State, dict[int, bool | None]] = {}
        self._evidence: dict[Private, list[tuple[object, list[object], str]]] = {}
        self._facts: dict[Private, PairFacts] = {}

    def read_evidence(self, value: object, formula: State, reader: FormulaReader, place: str) -> None:
        """The evidence about the formulas of D inside a formula."""
        inside = set(privates(formula))
        for i, item in enumerate(a_list(value, place)):
            here = f"{place}[{i}]"
            given = an_object(item, here)
            only_members(given, ("formula", "pairs", "certificates"), here)
            about = reader.private(given.get("formula"), f"{here}.formula")
            if about not in inside:
                refuse("this formula of D does not occur in the question", f"{here}.formula")
            if self.process.chain:
                refuse("a Markov chain needs no evidence about pairs", here)
            certificates = a_list(given.get("certificates", []), f"{here}.certificates")
            self._evidence.setdefault(about, []).append((given.get("pairs"), certificates, here))

    def check_evidence(self) -> None:
        """Refuse evidence that does not establish what it says, needed or not."""
        for formula in self._evidence:
            self._established(formula)

    def holds(self, formula: State, states: Iterable[int]) -> dict[int, bool | None]:
        """The truth of a formula in some states."""
        known = self._known.setdefault(formula, {})
        missing = [s for s in dict.fromkeys(states) if s not in known]
        if missing:
            known.update(self._evaluated(formula, missing))
        return known

    def _evaluated(self, formula: State, states: list[int]) -> dict[int, bool | None]:
        match formula:
            case States(members, _):
                return {s: s in members for s in states}
            case Not(inner):
                truth = self.holds(inner, states)
                return {s: _negate_truth(truth[s]) for s in states}
            case Several(every, parts):
                columns = [self.holds(part, states) for part in parts]
                return {s: _several([column[s] for column in columns], every=every) for s in states}
            case Probability():
                return self._probability(formula, states)
            case Expected():
                return self._expected(formula, states)
            case Steady():
                return self._steady(formula, states)
            case SomePath(path):
                walk = paths_of(self.walk)
                return {
                    s: None if both is None else both[1] == 1 for s, both in self._extremes(walk, path, states).items()
                }
            case Private():
                if self.process.chain:
                    return self._private(formula, states)
                facts = self._established(formula)
                return {s: self._judged(formula, facts, s) for s in states}
        raise AssertionError(formula)

    def _probability(self, formula: Probability, states: list[int]) -> dict[int, bool | None]:
        notes = self.found.setdefault(formula, {})
        result: dict[int, bool | None] = {}
        if self.process.chain:
            for s, p in Measure(self.walk, self.holds).of(formula.path, states).items():
                result[s] = None if p is None else _in(formula.within, p)
                notes[s] = "not known" if p is None else in_words(p)
            return result
        for s, both in self._extremes(self.walk, formula.path, states).items():
            result[s] = None if both is None else _several([_in(formula.within, p) for p in both], every=True)
            notes[s] = "not known" if both is None else f"from {in_words(both[0])} to {in_words(both[1])}"
        return result

    def _extremes(self, walk: ProcessWalk, path: Path, states: list[int]) -> dict[int, tuple[Value, Value] | None]:
        """The least and the greatest probability of a path formula over all schedulers."""
        if not is_supported(path):
            return any_extremes(walk, self.holds, path, states)
        found = extremes(walk, self.holds, path, states)
        return {s: found.at(s) for s in states}

    def _steady(self, formula: Steady, states: list[int]) -> dict[int, bool | None]:
        if not self.process.chain:
            refuse("the long run of a decision process is not supported", "question.formula")
        notes = self.found.setdefault(formula, {})
        domain = self.walk.reached(states)
        inside = self.holds(formula.state, domain)
        if not self.process.exact or any(inside[s] is None for s in domain):
            notes.update(dict.fromkeys(states, "not known"))
            return dict.fromkeys(states)
        numbers = [ONE if inside.get(s) else ZERO for s in range(len(self.process.names))]
        found = long_run([rows[0] for rows in self.walk.rows], numbers, states)
        notes.update({s: in_words(value) for s, value in found.items()})
        return {s: _in(formula.within, value) for s, value in found.items()}

    def _expected(self, formula: Expected, states: list[int]) -> dict[int, bool | None]:
        notes = self.found.setdefault(formula, {})
        if not self.process.exact:
            notes.update(dict.fromkeys(states, "not known"))
            return dict.fromkeys(states)
        result: dict[int, bool | None] = {}
        for s, both in expectations(self.process, formula, self.holds, states).items():
            result[s] = None if both is None else all(formula.within.contains(value) for value in both)
            if both is None:
                notes[s] = "not known"
            else:
                low, high = ("infinite" if value is None else in_words(value) for value in both)
                notes[s] = low if self.process.chain else f"from {low} to {high}"
        return result

    def _private(self, formula: Private, states: list[int]) -> dict[int, bool | None]:
        """D on a chain."""
        asked = {t for s in states for t in self.process.neighbours[s]}.union(states)
        measured = Measure(self.walk, self.holds).of(formula.path, sorted(asked))
        notes = self.found.setdefault(formula, {})
        notes.update({s: "not known" if p is None else in_words(p) for s, p in measured.items()})
        result: dict[int, bool | None] = {}
        for s in states:
            verdicts: list[bool | None] = []
            for t in sorted(self.process.neighbours[s]):
                one, two = measured[s], measured[t]
                if one is None or two is None:
                    verdicts.append(None)
                elif surely_fails(formula, one, two) or surely_fails(formula, two, one):
                    verdicts.append(False)
                    self.violations[formula, s] = (
                        f"the probability is {in_words(one)} in the state {self.process.names[s]} and {in_words(two)} in "
                        f"its neighbour {self.process.names[t]}"
                    )
                else:
                    verdicts.append(
                        True if surely_holds(formula, one, two) and surely_holds(formula, two, one) else None
                    )
                self.compared |= {(formula, s, t), (formula, t, s)}
            result[s] = _several(verdicts, every=True)
        return result

    def _established(self, formula: Private) -> PairFacts:
        if formula not in self._facts:
            pairs = Pairs(self.process, formula, self.holds, self.limits)
            for value, certificates, place in self._evidence.get(formula, []):
                pairs.check(value, certificates, place)
            self._facts[formula] = pairs.facts
            self.compared |= {(formula, s, t) for s, t in pairs.facts.holding | pairs.facts.violated.keys()}
        return self._facts[formula]

    def _judged(self, formula: Private, facts: PairFacts, state: int) -> bool | None:
        """D on a decision process: by the pairs of the evidence."""
        ordered = [pair for t in self.process.neighbours[state] for pair in ((state, t), (t, state))]
        for pair in ordered:
            if pair in facts.violated:
                self.violations[formula, state] = facts.violated[pair]
                return False
        return True if all(pair in facts.holding for pair in ordered) else None


def _negate_truth(truth: bool | None) -> bool | None:  # noqa: FBT001
    return None if truth is None else not truth


def _several(truths: list[bool | None], *, every: bool) -> bool | None:
    """The conjunction (``every``) or disjunction of truths."""
    if (not every) in truths:
        return not every
    return None if None in truths else every


def _in(within: ProbabilityRange, p: Value) -> bool | None:
    """Whether a probability is in a range; None if that is not certain."""
    low, high = ends(p)
    if within.above_low(low) and within.below_high(high):
        return True
    return None if within.above_low(high) and within.below_high(low) else False
