"""Questions about stream automata: solve, turn the solution into a verdict, and let the independent checker confirm it."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from math import inf

from privproof.engines.monitor import Monitor, Progress, Stopped
from privproof.engines.streams.deciding import Leak
from privproof.engines.streams.executions import repeated
from privproof.engines.streams.losses import Loss, can_happen, countable, losses, tangle
from privproof.engines.streams.solving import Solution, solve
from privproof.errors import QuestionError
from privproof.evidence import Leaking, StreamWitness, Unknown, Verdict
from privproof.evidence.explaining_streams import leaking, shift_table, witnessed
from privproof.evidence.gate import Answer, admit, examine
from privproof.evidence.stream_certificates import coupling_evidence, growth_evidence, loss_evidence
from privproof.exact import INFINITE, Budget, Epsilon, Rational, epsilon
from privproof.exact.balls import rational_bounds
from privproof.scenarios import StreamQuestion

ENGINE = "streams"
_ATTEMPTS = 6
_NEAR = Rational(1, 1000)
_FAR, _PACE = 1 << 12, 16
_TANGLED, _LONG = 40, 400


def check_stream(question: StreamQuestion, monitor: Monitor) -> Verdict:
    """Is the mechanism private within its budget, on streams of every length?"""
    begun = time.perf_counter()
    if question.budget is None:
        raise QuestionError("budget", "no budget is given", hint="ask for one, such as 1, or for the tight epsilon")
    if question.budget.epsilon.infinite:
        raise QuestionError(
            "budget",
            "an infinite epsilon claims next to nothing",
            hint="ask for one, such as 1, or for the tight epsilon",
        )
    search = _Search(question, monitor)
    return replace(search.answer(tight=False), seconds=time.perf_counter() - begun)


def tight_stream(question: StreamQuestion, delta: Rational, monitor: Monitor) -> Verdict:
    """The smallest epsilon, exactly; or that there is none."""
    begun = time.perf_counter()
    if delta != 0:
        raise QuestionError(
            "delta", "a delta with continuous noise", place="delta", hint="privproof check with a budget"
        )
    search = _Search(question.under(None), monitor)
    return replace(search.answer(tight=True), seconds=time.perf_counter() - begun)


@dataclass
class _Search:
    """One question, and what is known so far."""

    question: StreamQuestion
    monitor: Monitor
    lower: Epsilon = field(default_factory=lambda: epsilon(0))
    upper: Epsilon = INFINITE
    witness: StreamWitness | None = None

    def answer(self, *, tight: bool) -> Verdict:
        """The verdict."""
        if not self.question.automaton.reading:
            return self.unknown("nothing is compared: no run reads a number of the stream")
        try:
            self.monitor.listen(Progress("looking for the best coupling"))
            solution = solve(self.question.automaton, self.question.relation, self.question.within, self.monitor)
            if solution.cost is None:
                return self.leaking(solution, tight=tight)
            self.upper = epsilon(solution.cost)
            return self.measured(solution) if tight else self.compared(solution)
        except Stopped:
            return self.unknown(self.monitor.stopped() or "stopped")

    def unknown(self, reason: str, notes: Sequence[str] = ()) -> Unknown:
        """What is known."""
        return Unknown(
            self.question,
            ENGINE,
            lower=self.lower,
            upper=self.upper,
            witness=self.witness,
            reason=reason,
            notes=tuple(notes),
        )

    # --------------------------------------------------------------------------------------------------- finite cost

    def measured(self, solution: Solution) -> Verdict:
        """The tight epsilon: the cost of the best coupling."""
        assert solution.cost is not None
        question = self.question.under(Budget(epsilon(solution.cost)))
        exact = self.exact(solution)
        notes = []
        if exact:
            self.near(solution)
            notes.append("the loss comes as near to the tight epsilon as one likes, for data further and further apart")
        return self.proved(question, solution, exact=exact, notes=notes)

    def compared(self, solution: Solution) -> Verdict:
        """Proved where the cost is within the budget; otherwise the loss that is above it."""
        assert solution.cost is not None
        budget = self.question.budget
        assert budget is not None
        if self.upper.compare(budget.epsilon) <= 0:
            exact = self.exact(solution)
            if exact:
                self.near(solution)
            return self.proved(self.question, solution, exact=exact)
        if solution.hardest is not None:
            self.monitor.listen(Progress("looking for data that break the budget"))
            steps, changes = _steps(solution, solution.hardest.unrolled(solution.times))
            found = self.beyond(steps, changes, budget)
            if found is not None:
                return self.refuted(found, solution, times=solution.times)
        notes = [f"the best coupling costs {solution.cost}", *self.remarks(solution)]
        why = "no coupling pays as little as the budget, and no data that break it were found"
        return self.unknown(why, notes)

    def exact(self, solution: Solution) -> bool:
        """Whether the cost is also a lower bound: its execution is an event that can happen."""
        if solution.hardest is None or not self.question.free or solution.cost == 0:
            return False
        steps, _ = _steps(solution, solution.hardest.unrolled(solution.times))
        automaton = self.question.automaton
        taken = [automaton.transitions[number] for number in dict.fromkeys(steps)]
        if any(step.some or any(sample.rate is None for sample in step.samples) for step in taken):
            return False
        return automaton.tells(steps) and can_happen(automaton, steps)

    def near(self, solution: Solution) -> None:
        """Data whose loss is near the cost."""
        assert solution.hardest is not None
        assert solution.cost is not None
        steps, changes = _steps(solution, solution.hardest.unrolled(solution.times))
        automaton = self.question.automaton
        if tangle(automaton, steps) > _TANGLED or len(steps) > _LONG:
            return
        try:
            for found in losses(automaton, steps, changes, self.question.within, self.monitor, most=_FAR, pace=_PACE):
                self.keep(found)
                low = rational_bounds(found.ball())[0]
                if low >= solution.cost * (1 - _NEAR):
                    return
        except OverflowError:
            return

    def keep(self, found: Loss) -> None:
        """Remember a loss that is larger than those known."""
        if found.infinite:
            self.lower = INFINITE
        else:
            low, _ = rational_bounds(found.ball())
            low = _rounded(low)
            if low <= 0 or epsilon(low).compare(self.lower) <= 0:
                return
            self.lower = epsilon(low)
        self.witness = witnessed(self.question, found, None)

    def proved(
        self, question: StreamQuestion, solution: Solution, *, exact: bool, notes: Sequence[str] = ()
    ) -> Verdict:
        """The verdict of a coupling, if the checker accepts its table."""
        lower = self.upper if exact else self.lower
        if not exact and solution.hardest is not None:
            steps, _ = _steps(solution, solution.hardest.unrolled(1))
            state = question.automaton.ambiguous(steps)
            if state is not None:
                told = f"what is written in state {state!r} does not tell which transition was taken"
                notes = (*notes, f"{told}: the bound is proved, and may be larger than needed")
        assert question.budget is not None
        sharper = self.upper.compare(question.budget.epsilon) < 0
        answer = Answer(
            status="proved",
            question=question,
            engine=ENGINE,
            evidence=coupling_evidence(solution, attained=exact),
            more={"bounds": {"upper": str(self.upper)}} if sharper else {},
            lower=lower,
            upper=self.upper,
            witness=self.witness,
            shifts=shift_table(question, solution),
            notes=(*self.remarks(solution), *notes),
        )
        if not exact:
            return admit(answer)
        passed = examine(answer)
        return passed if isinstance(passed, Verdict) else self.proved(question, solution, exact=False, notes=notes)

    def remarks(self, solution: Solution) -> list[str]:
        """What a reader should know about the bounds."""
        found = [self.question.trials] if self.question.trials else []
        if solution.fronts.joined:
            found.append(
                "the adversary's choices were too many to keep apart: the upper bound may be larger than needed"
            )
        if not self.question.automaton.telling:
            found.append("nothing is written, so nothing can be told apart")
        stuck = self.question.automaton.stuck
        if stuck is not None:
            found.append(
                f"in state {stuck!r} it may be that no guard holds; that a run stops there is not compared: "
                "write a transition for it if an observer can tell"
            )
        if not self.question.free:
            found.append(
                "the data have bounds, several values are written for one number, or numbers without noise among constants: "
                "the bound is proved, and may be larger than needed"
            )
        if any(step.some for step in self.question.automaton.transitions):
            found.append("a guard with `or` is coupled comparison by comparison: the bound may be larger than needed")
        return found

    # -------------------------------------------------------------------------------------------------- infinite cost

    def leaking(self, solution: Solution, *, tight: bool) -> Verdict:
        """No coupling has a finite cost: refuted, where what is written tells the execution."""
        automaton = self.question.automaton
        leak = solution.leak
        if leak is None:
            return self.unknown("no coupling of finite cost exists, and the structure behind it was not found")
        drawn = leaking(self.question, solution, leak)
        if tight:
            return self.without_end(solution, leak, drawn)
        budget = self.question.budget
        assert budget is not None
        self.monitor.listen(Progress("looking for data that break the budget"))
        found = self.repetitions(solution, leak, budget)
        if found is not None:
            loss, times = found
            return self.refuted(loss, solution, times=times, leak=drawn)
        why = f"{drawn.sentence}: no coupling has a finite cost"
        numbers = [number for steps, _ in drawn.segments for number in steps]
        if any(automaton.transitions[number].some for number in numbers):
            why += "; but a guard with `or` may be coupled in other ways than comparison by comparison"
        state = automaton.ambiguous(numbers)
        if state is not None:
            why += f"; but what is written in state {state!r} does not tell which transition was taken"
        return replace(self.unknown(why), leak=drawn)

    def without_end(self, solution: Solution, leak: Leak, drawn: Leaking) -> Verdict:
        """No epsilon at all: the structure's cost grows without bound."""
        numbers = [number for steps, _ in drawn.segments for number in steps]
        certain = self.question.automaton.tells(numbers) and self.question.relation != "one" and self.question.free
        path = [solution.arena.step(number) for segment in leak.segments for number in segment.edges]
        certain = certain and not any(step.some for step in path)
        found = self.repetitions(solution, leak, Budget(epsilon(1)))
        if found is not None:
            self.keep(found[0])
            self.witness = witnessed(self.question, *found)
        bare = any(sample.rate is None for step in path for sample in step.samples)
        if not certain or (bare and not (found is not None and found[0].infinite)):
            return replace(self.unknown(f"{drawn.sentence}: no coupling has a finite cost"), leak=drawn)
        question = self.question.under(Budget(INFINITE))
        if found is not None and found[0].infinite:
            evidence = loss_evidence(found[0])
        else:
            evidence = growth_evidence(solution, leak)
        return admit(
            Answer(
                status="refuted",
                question=question,
                engine=ENGINE,
                evidence=evidence,
                lower=INFINITE,
                witness=self.witness,
                leak=drawn,
            )
        )

    def repetitions(self, solution: Solution, leak: Leak, budget: Budget) -> tuple[Loss, int] | None:
        """The fewest repetitions of a structure that break a budget, with data that do."""
        low, _ = rational_bounds(budget.epsilon.ball(128))
        bound = low / solution.arena.unit
        above = int(bound.p // bound.q)
        for _ in range(_ATTEMPTS):
            found = repeated(solution.fronts, leak, above)
            if found is None:
                return None
            times, execution = found
            steps, changes = _steps(solution, (execution.edges, execution.changes))
            if not self.seen(steps):
                return None
            loss = self.beyond(steps, changes, budget)
            if loss is not None:
                return loss, times
            if execution.value == inf:
                return None
            above = max(above + 1, int(execution.value))
        return None

    def seen(self, steps: Sequence[int]) -> bool:
        """Whether an execution is an event of the output that can happen, and that can be integrated."""
        automaton = self.question.automaton
        tells = automaton.tells(steps)
        if not self.question.free or not (tells or automaton.observable):
            return False
        if not countable(automaton, steps):
            return False
        return not tells or can_happen(automaton, steps)

    def beyond(self, steps: Sequence[int], changes: Sequence[int], budget: Budget) -> Loss | None:
        """Data for which an execution's loss is above a budget; None if there are none among those looked at."""
        if not self.seen(steps):
            return None
        try:
            for found in losses(self.question.automaton, steps, changes, self.question.within, self.monitor):
                self.keep(found)
                if found.exceeds(budget.epsilon, budget.delta):
                    return found
        except OverflowError:
            return None
        return None

    def refuted(self, found: Loss, solution: Solution, *, times: int | None, leak: Leaking | None = None) -> Verdict:
        """The verdict of a loss above the budget, if the checker accepts it."""
        budget = self.question.budget
        assert budget is not None
        lower = INFINITE if found.infinite else epsilon(max(_rounded(rational_bounds(found.ball())[0]), Rational(0)))
        above = {}
        if not self.upper.infinite:
            above = {"above": {"epsilon": str(self.upper), "evidence": coupling_evidence(solution, attained=False)}}
        return admit(
            Answer(
                status="refuted",
                question=self.question,
                engine=ENGINE,
                evidence=loss_evidence(found),
                more=above,
                lower=lower if budget.delta == 0 else budget.epsilon,
                upper=self.upper,
                witness=witnessed(self.question, found, times),
                leak=leak,
                notes=tuple(self.remarks(solution)),
            )
        )


def _steps(solution: Solution, path: tuple[Sequence[int], Sequence[int]]) -> tuple[tuple[int, ...], tuple[int, ...]]:
    edges, changes = path
    return tuple(solution.arena.edges[number].step for number in edges), tuple(changes)


def _rounded(value: Rational) -> Rational:
    """A number with twelve digits that is not above another."""
    scaled = value * 10**12
    return Rational(int(scaled.p // scaled.q), 10**12)
