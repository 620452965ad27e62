"""The engine for stream automata: solve, and say what the solution shows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from math import inf

from privproof.compiling.rewriting import Unsupported
from privproof.compiling.streams import stream_question
from privproof.engines.engine_protocol import Answers, EngineRequest, Remark
from privproof.engines.search_monitor import Monitor, Progress, Stopped
from privproof.engines.streams.coupling_decision import Leak
from privproof.engines.streams.shift_systems import Solution, solve
from privproof.engines.streams.stream_certificates import coupling_evidence, growth_evidence, loss_evidence
from privproof.engines.streams.stream_executions import fewest_repetitions
from privproof.engines.streams.stream_explanation import explain_leak, loss_evidence_of_stream, shift_table
from privproof.engines.streams.stream_losses import StreamLoss, can_happen, countable, losses, tangle
from privproof.errors import QuestionError
from privproof.evidence.engine_answers import Answer
from privproof.evidence.verdicts import Leaking, StreamDetails
from privproof.evidence.witnesses import StreamWitness
from privproof.exact import INFINITE, Budget, Epsilon, Rational, epsilon
from privproof.exact.balls import rational_bounds
from privproof.exact.rounding import to_grid
from privproof.scenarios import AnyQuestion, ProgramQuestion, StreamQuestion

ENGINE = "streams"
_ATTEMPTS = 6
"""Times that a longer execution is tried where data for the shorter one do not break the budget yet."""
_NEAR = Rational(1, 1000)
"""A loss this near to the cost, relatively, is shown beside a proof; nearer ones only make the numbers long."""
_FAR, _PACE = 1 << 12, 16
"""How far data are moved apart for it at the most, and by what factor at each try."""
_TANGLED, _LONG = 40, 400
"""Executions more entangled, or longer, than this are not integrated for it, which would take longer than the proof."""


class StreamEngine:
    """Decides stream automata, and functions on streams that have the shape of one."""

    name = ENGINE

    def supports(self, request: EngineRequest) -> str | None:
        """Why the engine does not answer the request, or None if it does."""
        found = request.once(ENGINE, lambda: _automaton(request.question))
        return found if isinstance(found, str) else None

    def answers(self, request: EngineRequest, monitor: Monitor) -> Answers:
        """What the best coupling says, on streams of every length."""
        question = request.once(ENGINE, lambda: _automaton(request.question))
        assert isinstance(question, StreamQuestion)
        last = question is request.question
        if request.tight:
            if request.delta != 0:
                raise QuestionError(
                    "delta", "a delta with continuous noise", place="delta", hint="privproof check with a budget"
                )
            question = question.under(None)
        elif question.budget is None or question.budget.epsilon.infinite:
            said = "no budget is given" if question.budget is None else "an infinite epsilon claims next to nothing"
            raise QuestionError("budget", said, hint="ask for one, such as 1, or for the tight epsilon")
        for answer in _StreamSearch(question, monitor).answers(tight=request.tight):
            yield answer if last else replace(answer, pass_on=True)


def _automaton(question: AnyQuestion) -> StreamQuestion | str:
    """The question about the stream automaton that a function is, or why it is none."""
    if isinstance(question, StreamQuestion):
        return question
    assert isinstance(question, ProgramQuestion)
    if question.mechanism.stream is None:
        return "it reads no stream"
    if question.claim is not None and question.budget is None:
        return Remark("not a stream automaton: the claim depends on public numbers")
    try:
        return stream_question(question)
    except Unsupported as problem:
        return Remark(f"not a stream automaton: {problem}")


@dataclass
class _StreamSearch:
    """One question, and what is known so far."""

    question: StreamQuestion
    monitor: Monitor
    lower: Epsilon = field(default_factory=lambda: epsilon(0))
    upper: Epsilon = INFINITE
    witness: StreamWitness | None = None

    def answers(self, *, tight: bool) -> Iterator[Answer]:
        """The answers, the sharpest first."""
        if not self.question.automaton.reading:
            yield self.unknown("nothing is compared: no run reads a number of the stream")
            return
        try:
            self.monitor.listen(Progress("looking for the best coupling"))
            solution = solve(self.question.automaton, self.question.relation, self.question.within, self.monitor)
            if solution.cost is None:
                yield self.leaking(solution, tight=tight)
                return
            self.upper = epsilon(solution.cost)
            yield from self.measured(solution) if tight else self.compared(solution)
        except Stopped:
            yield self.unknown(self.monitor.stopped() or "stopped")

    def unknown(self, reason: str, notes: Sequence[str] = (), leak: Leaking | None = None) -> Answer:
        """What is known."""
        return Answer(
            status="unknown",
            question=self.question,
            engine=ENGINE,
            lower=self.lower,
            upper=self.upper,
            witness=self.witness,
            details=StreamDetails(leak),
            reason=reason,
            notes=tuple(notes),
        )

    def measured(self, solution: Solution) -> Iterator[Answer]:
        """The tight epsilon: the cost of the best coupling."""
        assert solution.cost is not None
        question = self.question.under(Budget(epsilon(solution.cost)))
        exact = self.exact(solution)
        notes = []
        if exact:
            self.near(solution)
            notes.append("the loss comes as near to the tight epsilon as one likes, for data further and further apart")
        yield from self.proved(question, solution, exact=exact, notes=notes)

    def compared(self, solution: Solution) -> Iterator[Answer]:
        """Proved where the cost is within the budget; otherwise the loss that is above it."""
        assert solution.cost is not None
        budget = self.question.budget
        assert budget is not None
        if self.upper.compare(budget.epsilon) <= 0:
            exact = self.exact(solution)
            if exact:
                self.near(solution)
            yield from self.proved(self.question, solution, exact=exact)
            return
        if solution.hardest is not None:
            self.monitor.listen(Progress("looking for data that break the budget"))
            steps, changes = _steps(solution, solution.hardest.unrolled(solution.times))
            found = self.beyond(steps, changes, budget)
            if found is not None:
                yield self.refuted(found, solution, times=solution.times)
                return
        notes = [f"the best coupling costs {solution.cost}", *self.remarks(solution)]
        why = "no coupling pays as little as the budget, and no data that break it were found"
        yield self.unknown(why, notes)

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

    def keep(self, found: StreamLoss) -> None:
        """Remember a loss that is larger than those known."""
        if found.infinite:
            self.lower = INFINITE
        else:
            low, _ = rational_bounds(found.ball())
            low = to_grid(low, up=False)
            if low <= 0 or epsilon(low).compare(self.lower) <= 0:
                return
            self.lower = epsilon(low)
        self.witness = loss_evidence_of_stream(self.question, found, None)

    def proved(
        self, question: StreamQuestion, solution: Solution, *, exact: bool, notes: Sequence[str] = ()
    ) -> Iterator[Answer]:
        """What a coupling says: with the lower bound that its execution attains, or without."""
        lower = self.upper if exact else self.lower
        if not exact and solution.hardest is not None:
            steps, _ = _steps(solution, solution.hardest.unrolled(1))
            state = question.automaton.ambiguous(steps)
            if state is not None:
                told = f"what is written in state {state!r} does not tell which transition was taken"
                notes = (*notes, f"{told}: the bound is proved, and may be larger than needed")
        assert question.budget is not None
        sharper = self.upper.compare(question.budget.epsilon) < 0
        yield Answer(
            status="proved",
            question=question,
            engine=ENGINE,
            evidence=coupling_evidence(solution, attained=exact),
            more={"bounds": {"upper": str(self.upper)}} if sharper else {},
            lower=lower,
            upper=self.upper,
            witness=self.witness,
            details=StreamDetails(shifts=shift_table(question, solution)),
            notes=(*self.remarks(solution), *notes),
            tentative=exact,
        )
        if exact:
            yield from self.proved(question, solution, exact=False, notes=notes)

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

    def leaking(self, solution: Solution, *, tight: bool) -> Answer:
        """No coupling has a finite cost: refuted, where what is written tells the execution."""
        automaton = self.question.automaton
        leak = solution.leak
        if leak is None:
            return self.unknown("no coupling of finite cost exists, and the structure behind it was not found")
        drawn = explain_leak(self.question, solution, leak)
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
        return self.unknown(why, leak=drawn)

    def without_end(self, solution: Solution, leak: Leak, drawn: Leaking) -> Answer:
        """No epsilon at all: the structure's cost grows without bound."""
        numbers = [number for steps, _ in drawn.segments for number in steps]
        certain = self.question.automaton.tells(numbers) and self.question.relation != "one" and self.question.free
        path = [solution.arena.step(number) for segment in leak.segments for number in segment.edges]
        certain = certain and not any(step.some for step in path)
        found = self.repetitions(solution, leak, Budget(epsilon(1)))
        if found is not None:
            self.keep(found[0])
            self.witness = loss_evidence_of_stream(self.question, *found)
        bare = any(sample.rate is None for step in path for sample in step.samples)
        if not certain or (bare and not (found is not None and found[0].infinite)):
            return self.unknown(f"{drawn.sentence}: no coupling has a finite cost", leak=drawn)
        question = self.question.under(Budget(INFINITE))
        if found is not None and found[0].infinite:
            evidence = loss_evidence(found[0])
        else:
            evidence = growth_evidence(solution, leak)
        return Answer(
            status="refuted",
            question=question,
            engine=ENGINE,
            evidence=evidence,
            lower=INFINITE,
            witness=self.witness,
            details=StreamDetails(drawn),
        )

    def repetitions(self, solution: Solution, leak: Leak, budget: Budget) -> tuple[StreamLoss, int] | None:
        """The fewest repetitions of a structure that break a budget, with data that do."""
        low, _ = rational_bounds(budget.epsilon.ball(128))
        bound = low / solution.arena.unit
        above = int(bound.p // bound.q)
        for _ in range(_ATTEMPTS):
            found = fewest_repetitions(solution.fronts, leak, above)
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

    def beyond(self, steps: Sequence[int], changes: Sequence[int], budget: Budget) -> StreamLoss | None:
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

    def refuted(
        self, found: StreamLoss, solution: Solution, *, times: int | None, leak: Leaking | None = None
    ) -> Answer:
        """What a loss above the budget says."""
        budget = self.question.budget
        assert budget is not None
        lower = (
            INFINITE
            if found.infinite
            else epsilon(max(to_grid(rational_bounds(found.ball())[0], up=False), Rational(0)))
        )
        above = {}
        if not self.upper.infinite:
            above = {"above": {"epsilon": str(self.upper), "evidence": coupling_evidence(solution, attained=False)}}
        return Answer(
            status="refuted",
            question=self.question,
            engine=ENGINE,
            evidence=loss_evidence(found),
            more=above,
            lower=lower if budget.delta == 0 else budget.epsilon,
            upper=self.upper,
            witness=loss_evidence_of_stream(self.question, found, times),
            details=StreamDetails(leak),
            notes=tuple(self.remarks(solution)),
        )


def _steps(solution: Solution, path: tuple[Sequence[int], Sequence[int]]) -> tuple[tuple[int, ...], tuple[int, ...]]:
    edges, changes = path
    return tuple(solution.arena.edges[number].step for number in edges), tuple(changes)
