"""Lotteries on lists of every length: a bound by a stretch, and lists that come near to it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from fractions import Fraction

from privproof.engines.engine_protocol import Answers, Request
from privproof.engines.lotteries.lottery_certificates import levels_evidence, lists_evidence, stretch_evidence
from privproof.engines.lotteries.lottery_lists import LotteryLists, worst_lists
from privproof.engines.lotteries.lottery_stretching import Pair, largest_level_ratio, stretched
from privproof.engines.search_monitor import Monitor, Progress, Stopped
from privproof.evidence.engine_answers import Answer
from privproof.evidence.witnesses import LotteryWitness, ObservedWinner, Witness
from privproof.exact import INFINITE, Budget, Rational, epsilon, fraction, show, smallest_epsilon
from privproof.language.running import outputs
from privproof.models.lottery_model import win_probability
from privproof.scenarios import LotteryQuestion

_RUNS = 400
"""Runs of the function on one list, the likeliest random choices first; the mass of those that were not made is told."""
_RUN_LENGTHS = (1, 2, 3)
"""Lengths of lists on which the function itself is run."""


class LotteryEngine:
    """A bound for every length, and lists that come near to it."""

    name = "lottery"

    def supports(self, request: Request) -> str | None:
        """Why the engine does not answer the request, or None if it does."""
        return "one word is asked about" if request.word is not None else None

    def answers(self, request: Request, monitor: Monitor) -> Answers:
        """The bound and the lists."""
        question, budget = request.question, request.budget
        assert isinstance(question, LotteryQuestion)
        assert budget is not None
        search = _Search(question, budget, monitor, tight=request.tight)
        try:
            search.run()
        except Stopped:
            search.stopped = monitor.stopped() or "stopped"
        yield from search.answers()


@dataclass
class _Search:
    """What is found.

    Attributes:
        upper: the largest ratio that is possible on lists of any length; None where none is shown.
        evidence: what shows it.
        best: the worst lists found.
        stopped: why the search was given up.
    """

    question: LotteryQuestion
    budget: Budget
    monitor: Monitor
    tight: bool
    upper: Rational | None = None
    evidence: dict[str, object] = field(default_factory=dict)
    best: LotteryLists | None = None
    stopped: str | None = None

    def run(self) -> None:
        self.monitor.listen(Progress("lottery"))
        model, near = self.question.model, list(self.question.near())
        self.bound(near)
        for found in worst_lists(model, self.question.relation, near, self.upper, self.monitor):
            self.best = found
            self.monitor.listen(Progress("lottery", established=smallest_epsilon(found.left, found.right)))
            if not self.tight and self.violated():
                return

    def bound(self, near: list[Pair]) -> None:
        """The bound by a stretch, or by the laws of levels where one element changes."""
        model = self.question.model
        if self.question.relation == "one":
            self.upper, self.evidence = largest_level_ratio(model, near), levels_evidence()
            return
        if self.question.relation == "each":
            parts = {"each": stretched(model, near)}
        else:
            values = model.values
            parts = {
                "up": stretched(model, [(x, y) for x, y in near if values[x] < values[y]]),
                "down": stretched(model, [(x, y) for x, y in near if values[x] > values[y]]),
            }
        ratios = [part.ratio for part in parts.values()]
        self.upper = None if None in ratios else max(ratio for ratio in ratios if ratio is not None)
        self.evidence = stretch_evidence(parts)

    def violated(self) -> bool:
        """Whether the worst lists break the claim."""
        if self.best is None:
            return False
        if self.tight:
            return self.best.right == 0 and self.best.left > self.budget.delta
        return not self.budget.epsilon.allows(self.best.left, self.best.right, self.budget.delta)

    # ----------------------------------------------------------------------------------------------------------- answers

    def answers(self) -> Iterator[Answer]:
        best, delta = self.best, self.budget.delta
        lower = epsilon(0) if best is None else smallest_epsilon(best.left, best.right, delta)
        upper = INFINITE if self.upper is None else smallest_epsilon(self.upper, 1)
        known = Answer(
            status="unknown",
            question=self.question.under(None if self.tight else self.budget),
            engine=LotteryEngine.name,
            lower=lower,
            upper=upper,
            witness=None if best is None else self.witness(best),
            notes=(
                f"{self.question.model.levels} levels; the lot falls on each of the highest with the same probability",
            ),
            reason=self.stopped or "neither the bound by a stretch nor the lists that were tried decide it",
        )
        shown = {} if best is None else {"witness": lists_evidence(best)}
        if best is not None and self.violated():
            above = {"above": {"epsilon": str(upper), "evidence": self.evidence}}
            more = {} if upper.infinite or self.tight or delta != 0 else above
            evidence = lists_evidence(best)
            asked = self.question.under(self.budget)
            yield from self.run_again(replace(known, status="refuted", question=asked, evidence=evidence, more=more))
        elif not upper.infinite and (self.tight or upper.compare(self.budget.epsilon) <= 0):
            asked_for = replace(self.budget, epsilon=upper) if self.tight else self.budget
            sharper = {} if upper.compare(asked_for.epsilon) >= 0 else {"bounds": {"upper": str(upper)}}
            proved = replace(known, status="proved", question=self.question.under(asked_for), evidence=self.evidence)
            yield from self.run_again(replace(proved, more={**shown, **sharper}))
        else:
            yield known

    def witness(self, lists: LotteryLists) -> LotteryWitness:
        sides = [self.question.data(lists.side(number)) for number in (0, 1)]
        return Witness(sides[0], sides[1], ObservedWinner("0", 0), fraction(lists.left), fraction(lists.right))

    # -------------------------------------------------------------------------------------------------- running it again

    def run_again(self, answer: Answer) -> Iterator[Answer]:
        """The answer if running the function itself agrees with the lottery on some lists, otherwise unknown."""
        least, tried = Fraction(1), self._lists()
        for data in tried:
            arguments = self.question.data(data)
            runs = outputs(self.question.mechanism, arguments, most=_RUNS)
            least = min(least, 1 - runs.left_over)
            seen: dict[int, Fraction] = {}
            other: str | None = None
            for ran, p in runs.runs:
                if type(ran.value) is int and 0 <= ran.value < len(data):
                    seen[ran.value] = seen.get(ran.value, Fraction(0)) + p
                else:
                    other = f"the function gives {ran.value!r:.60}, the lottery does not"
            for place in range(len(data)):
                rest: dict[int, int] = {}
                for number in (*data[:place], *data[place + 1 :]):
                    rest[number] = rest.get(number, 0) + 1
                mass = fraction(win_probability(self.question.model, data[place], rest))
                found = seen.get(place, Fraction(0))
                if not found <= mass <= found + runs.left_over:
                    other = f"the lottery gives {show(mass)} for {place}, running the function {show(found)}"
            if other is not None:
                reason = f"on {arguments} {other}"
                yield replace(answer, status="unknown", lower=epsilon(0), upper=INFINITE, witness=None, reason=reason)
                return
        share = "" if least == 1 else f" (at least {int(least * 1000) / 10} % of all random choices)"
        said = f"running the function itself on {len(tried)} lists{share} agrees with the lottery"
        yield replace(answer, notes=(*answer.notes, said))

    def _lists(self) -> list[tuple[int, ...]]:
        """Short lists in which the values take turns, and both lists of the witness where they are short."""
        values = len(self.question.model.values)
        found = [tuple((length - place) % values for place in range(length)) for length in _RUN_LENGTHS]
        if self.best is not None and self.best.length <= _RUN_LENGTHS[-1]:
            found += [tuple(self.best.side(number)) for number in (0, 1)]
        return list(dict.fromkeys(found))
