"""Functions that are run as they are: the verdict from the trees of all their runs.

Where every outcome is closed (no noisy number is shown, nothing opaque decides), its probability on every data set is exact, and
so is the answer.  Otherwise an alignment of the trees bounds the loss from above, and events bound it from below.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any

from privproof.compiling.runs import ran
from privproof.engines.engine_protocol import EngineRequest
from privproof.engines.laplace.losses import Loss
from privproof.engines.runs.far_sizes import far_size
from privproof.engines.runs.run_alignments import Aligner, Moved
from privproof.engines.runs.runs_certificates import alignment_evidence, event_evidence, table_evidence
from privproof.engines.runs.runs_decision import ENGINE, Deciding, max_of
from privproof.engines.runs.runs_deltas import DeltaDeciding, delta_details
from privproof.engines.runs.runs_measures import Interval, ShapedEvent, has_atoms, likelihood, share
from privproof.engines.search_monitor import Monitor, Progress, Stopped
from privproof.errors import LanguageError
from privproof.evidence.certificate_documents import lower_bound
from privproof.evidence.engine_answers import Answer
from privproof.evidence.witnesses import ObservedRun, RunWitness, Witness
from privproof.exact import (
    INFINITE,
    ONE,
    ZERO,
    Budget,
    Epsilon,
    Rational,
    epsilon,
    fraction,
    rational,
    smallest_epsilon,
)
from privproof.exact.exponentials import ExponentialSum
from privproof.language.inputs import ADD_REMOVE
from privproof.language.linear import Linear
from privproof.scenarios import RunsQuestion

if TYPE_CHECKING:
    from privproof.compiling.runs import Runs
    from privproof.language.trees import TreeLeaf

_SECONDS = 3.0
"""Where no size is asked for, a further size is tried if those before took less than this, times the growth from one to the next."""
_LARGEST_SIZE = 4
"""Where no size is asked for, no larger one is tried."""
_LARGEST_TRUNCATED = 8
"""The same beside truncated noise: a test of a count becomes certain only where the count has passed a threshold by the bound."""
_ROUNDING = Fraction(1, 10**9)
"""A claim that is missed by less than this is missed because floats are rounded, as a rule, and that is said."""
_FAR = (0, 4, 16, 64)
"""How many scales beyond the data the ends of an event are tried: losses come near to their limit as they move away."""


class RunsEngine:
    """Runs the function on every data set and every random choice."""

    name = ENGINE

    def supports(self, request: EngineRequest) -> str | None:
        """Why the engine does not answer the request, or None if it does."""
        return "a word is asked about, and the function has none" if request.word is not None else None

    def answers(self, request: EngineRequest, monitor: Monitor) -> Iterator[Answer]:
        """The exact answer where there is one; otherwise the bounds from both sides."""
        asked = request.question
        assert isinstance(asked, RunsQuestion)
        budget = request.budget
        assert budget is not None
        try:
            if asked.sizes is None and not request.tight:
                yield from _refuted_afar(asked, budget, monitor)
            question, runs = request.shared("runs", lambda: all_runs(asked, monitor))
        except LanguageError as problem:
            if asked.reason and problem.code != "hidden":
                problem.hint = f"{problem.hint}{'; ' if problem.hint else ''}it is run because of this: {asked.reason}"
            raise
        except Stopped:
            said = f"{monitor.stopped() or 'stopped'}: the function has more random choices than could be run"
            yield Answer(status="unknown", question=asked, engine=self.name, reason=said)
            return
        excesses = request.shared("largest excesses", dict[str, Any])
        deciding = _RunsDeciding(question.under(asked.budget), runs, budget, request.tight, monitor, excesses)
        try:
            yield from map(deciding.as_sampled, deciding.answers())
        except Stopped:
            yield deciding.unknown(monitor.stopped() or "stopped")


def _refuted_afar(question: RunsQuestion, budget: Budget, monitor: Monitor) -> Iterator[Answer]:
    """A refutation of a claim far from the truth, at the one size at which it is expected to fail."""
    far = far_size(question.mechanism, budget, monitor.pause)
    if far is None:
        return
    monitor.listen(Progress(f"running {question.mechanism.name} at size {far}"))
    asked = replace(question, sizes=(far,), sampled=True)
    runs = ran(question.mechanism, (far,), sampled=True, pause=monitor.pause)
    deciding = _RunsDeciding(asked, runs, budget, tight=False, monitor=monitor, excesses={})
    yield from (answer for answer in map(deciding.as_sampled, deciding.answers()) if answer.status == "refuted")


def all_runs(question: RunsQuestion, monitor: Monitor) -> tuple[RunsQuestion, Runs]:
    """The runs at the sizes asked for; where none is, at as many as there is time for."""
    mechanism = question.mechanism

    if question.sizes is not None:
        monitor.listen(Progress(f"running {mechanism.name}"))
        return question, ran(mechanism, question.sizes or [None], sampled=question.sampled, pause=monitor.pause)
    found: Runs | None = None
    shortest = 0 if mechanism.neighbours == ADD_REMOVE else 1
    sizes: tuple[int, ...] = (0,) if shortest == 0 else ()
    before = 0.0
    while not sizes or sizes[-1] < _largest(found):
        larger = (*sizes, sizes[-1] + 1 if sizes else shortest)
        monitor.listen(Progress(f"running {mechanism.name} at size {larger[-1]}"))
        begun = time.perf_counter()
        try:
            following = ran(mechanism, larger, known=found, sampled=question.sampled, pause=monitor.pause)
        except LanguageError as problem:
            if found is None or problem.code not in ("size", "paths"):
                raise
            break
        taken = time.perf_counter() - begun
        found, sizes = following, larger
        if taken * max(2.0, taken / before if before else 2.0) > _SECONDS:
            break
        before = taken
    assert found is not None
    return replace(question, sizes=sizes), found


def _largest(found: Runs | None) -> int:
    further = found is not None and not found.sampled and found.tests_truncated
    return _LARGEST_TRUNCATED if further else _LARGEST_SIZE


class _RunsDeciding(Deciding):
    """What the runs of a function say about a claim."""

    def answers(self) -> Iterator[Answer]:
        """Exact probabilities where there are any, alignments and events otherwise."""
        rows: list[dict[str, ExponentialSum]] | None = None
        if self.runs.in_balls:
            yield from self.by_excess()
            return
        if self.runs.closed:
            try:
                rows = self.rows()
            except LanguageError as problem:
                if problem.code not in ("noise", "integral"):
                    raise
        if rows is not None:
            yield from self.by_table(rows)
        elif self.budget.delta != 0:
            yield from self.by_excess()
        else:
            yield from self.by_alignment()

    def by_excess(self) -> Iterator[Answer]:
        """What is decided in balls."""
        shared = (self.question, self.runs, self.budget, self.tight, self.monitor, self.excesses)
        yield from DeltaDeciding(*shared).answers()

    def rows(self) -> list[dict[str, ExponentialSum]]:
        """For every data set the probability of every outcome."""
        kept: dict[int, dict[str, ExponentialSum]] = {}
        result = []
        for number, tree in zip(self.document["runs"], self.runs.trees, strict=True):
            if number not in kept:
                self.monitor.pause()
                row: dict[str, ExponentialSum] = {}
                for leaf in tree:
                    part = share(leaf)
                    shape = leaf.outcome.shape
                    row[shape] = row[shape] + part if shape in row else part
                kept[number] = {shape: p for shape, p in row.items() if not p.is_zero}
            result.append(kept[number])
        return result

    def by_table(self, rows: Sequence[Mapping[str, ExponentialSum]]) -> Iterator[Answer]:
        """The answer from the probabilities of all outcomes."""
        if self.budget.delta != 0 and not self.budget.pointwise:
            yield from self.over_events(rows)
            return
        worst: _FoundEvent | None = None
        seen: set[tuple[int, int]] = set()
        places = self.document["runs"]
        numbers = [_rationals(row) for row in rows]
        for i, j in self.ordered:
            self.monitor.pause()
            if (places[i], places[j]) in seen:
                continue
            seen.add((places[i], places[j]))
            for shape in self.worst_shapes(rows[i], rows[j], numbers[i], numbers[j]):
                zero = ExponentialSum.constant(0)
                found = _FoundEvent(i, j, (shape,), rows[i][shape], rows[j].get(shape, zero), self.budget.delta)
                if worst is None or found.above(worst):
                    worst = found
        assert worst is not None
        yield from self.judged(worst, worst.bounds(), table_evidence())

    def worst_shapes(
        self,
        left: Mapping[str, ExponentialSum],
        right: Mapping[str, ExponentialSum],
        above: Mapping[str, Rational] | None,
        below: Mapping[str, Rational] | None,
    ) -> Iterable[str]:
        """The outcomes of a pair that may ask for most: where all probabilities are rational the one that does, otherwise all."""
        if above is None or below is None:
            return left
        best, p0, q0 = "", ZERO, ONE
        for shape, p in above.items():
            q = below.get(shape, ZERO)
            if not best or (p - self.budget.delta) * q0 > p0 * q:
                best, p0, q0 = shape, p - self.budget.delta, q
        return (best,)

    def over_events(self, rows: Sequence[Mapping[str, ExponentialSum]]) -> Iterator[Answer]:
        """A delta over events: the outcomes that are too likely on the left, together."""
        if self.tight:
            yield from self.least_epsilon(rows)
            return
        worst: tuple[ExponentialSum, _FoundEvent] | None = None
        for i, j in self.ordered:
            self.monitor.pause()
            excess, found = self.excess(rows, i, j, self.budget.epsilon)
            if worst is None or excess.compare(worst[0], 1) > 0:
                worst = (excess, found)
        assert worst is not None
        excess, found = worst
        beyond = (excess - ExponentialSum.constant(self.budget.delta)).sign(1) > 0
        near = excess.ball(1, 192)
        details = delta_details(near, near)
        if beyond and self.budget.epsilon.root != 1 and not found.exceeds(self.budget.epsilon):
            yield self.unknown("an event is too near to what epsilon and delta allow to be told apart")
        elif beyond:
            yield replace(self.refuted(found, found.bounds()[0]), details=details)
        else:
            yield self.known(status="proved", evidence=table_evidence(), upper=self.budget.epsilon, details=details)

    def excess(
        self, rows: Sequence[Mapping[str, ExponentialSum]], i: int, j: int, bound: Epsilon
    ) -> tuple[ExponentialSum, _FoundEvent]:
        """By how much the likeliest event on the left is beyond what epsilon allows, and the event."""
        zero = ExponentialSum.constant(0)
        left, right, shapes = zero, zero, []
        for shape, p in rows[i].items():
            q = rows[j].get(shape, zero)
            if _FoundEvent(i, j, (shape,), p, q, ZERO).exceeds(bound):
                left, right = left + p, right + q
                shapes.append(shape)
        found = _FoundEvent(i, j, tuple(shapes), left, right, self.budget.delta)
        return found.excess(bound), found

    def least_epsilon(self, rows: Sequence[Mapping[str, ExponentialSum]]) -> Iterator[Answer]:
        """The smallest epsilon at a delta, where all probabilities are rational: the largest over all pairs of a sorted sum."""
        numbers = [known for row in rows if (known := _rationals(row)) is not None]
        if len(numbers) < len(rows):
            yield self.unknown(
                "the smallest epsilon at a delta is found where all probabilities are rational; ask with an epsilon"
            )
            return
        worst = epsilon(0)
        found: _FoundEvent | None = None
        for i, j in self.ordered:
            self.monitor.pause()
            value, shapes = _smallest(numbers[i], numbers[j], self.budget.delta)
            if found is None or value.compare(worst) > 0:
                zero = ExponentialSum.constant(0)
                left = sum((rows[i][s] for s in shapes), zero)
                right = sum((rows[j].get(s, zero) for s in shapes), zero)
                worst, found = value, _FoundEvent(i, j, shapes, left, right, self.budget.delta)
        assert found is not None
        yield from self.judged(found, (worst, worst), table_evidence())

    def by_alignment(self) -> Iterator[Answer]:
        """The largest cost over all ordered pairs of neighbours from above, an event of the costliest from below."""
        aligner = Aligner(self.runs.trees, self.document["runs"])
        moves: dict[tuple[int, int], tuple[Moved, ...]] = {}
        worst: tuple[Epsilon, tuple[int, int], int] | None = None
        failed: tuple[int, int] | None = None
        for pair in self.ordered:
            self.monitor.pause()
            found = aligner.alignment(*pair)
            if found is None:
                failed = pair
                break
            moves[pair] = found
            for number, moved in enumerate(found):
                if worst is None or moved.cost.compare(worst[0]) > 0:
                    worst = (moved.cost, pair, number)
        events = self.candidates(worst, failed)
        best = self.best(events)
        lower = epsilon(0) if best is None else best.bounds()[0]
        upper = INFINITE if failed is not None or worst is None else max_of(worst[0], epsilon(0))
        if best is not None and (lower.infinite if self.tight else best.exceeds(self.budget.epsilon)):
            more = (
                {}
                if upper.infinite
                else {"above": {"epsilon": str(upper), "evidence": alignment_evidence(self.runs, moves)}}
            )
            yield self.refuted(best, lower, upper=upper, more=more)
            return
        if not upper.infinite and (self.tight or upper.compare(self.budget.epsilon) <= 0):
            yield self.proved(upper, lower, best, alignment_evidence(self.runs, moves))
            return
        what = "no alignment of the runs" if upper.infinite else f"an alignment of the runs shows {upper.show()} only"
        yield self.unknown(
            f"{what}, and no event is beyond the claim", lower=lower, upper=upper, witness=self.witness(best)
        )

    def candidates(
        self, worst: tuple[Epsilon, tuple[int, int], int] | None, failed: tuple[int, int] | None
    ) -> Iterator[tuple[int, int, ShapedEvent]]:
        """Events of the pair that costs most, or that cannot be aligned: first those of the costliest leaf."""
        if failed is None and worst is not None:
            (i, j), number = worst[1], worst[2]
            first = [self.runs.trees[i][number]]
        else:
            (i, j), first = failed or self.ordered[0], []
        for leaf in (*first, *self.runs.trees[i]):
            yield from ((i, j, event) for event in self.events(leaf, i, j))
        if failed is not None:
            for leaf in self.runs.trees[j]:
                yield from ((j, i, event) for event in self.events(leaf, j, i))

    def events(self, leaf: TreeLeaf, left: int, right: int) -> Iterator[ShapedEvent]:
        """Events of what a leaf shows: everything of its shape, and half-lines for its noisy numbers."""
        shape, text = leaf.outcome.shape, leaf.outcome.text
        yield ShapedEvent((shape,), (), text)
        parts = leaf.outcome.parts
        linear = [part for part in parts if isinstance(part, Linear)]
        if not linear:
            return
        other = next((each for each in self.runs.trees[right] if each.outcome.shape == shape), None)
        for far in _FAR:
            for turned in (1, -1):
                ends: list[Interval] = []
                for number, part in enumerate(parts):
                    if not isinstance(part, Linear):
                        ends.append((None, None))
                        continue
                    against = None if other is None else other.outcome.parts[number]
                    move = part.constant - against.constant if isinstance(against, Linear) else ZERO
                    if move == 0 and other is not None:
                        ends.append((None, None))
                        continue
                    scales = [leaf.noises[a].scale for a in part.terms if leaf.noises[a].kind != "geometric"]  # type: ignore[index]
                    reach = far * max([1, *(int(s.ceil()) for s in scales)])
                    above = (move >= 0) == (turned > 0)
                    centers = [part.constant] + ([against.constant] if isinstance(against, Linear) else [])
                    end = fraction(max(centers)) + reach if above else fraction(min(centers)) - reach
                    ends.append((end, None) if above else (None, end))
                yield ShapedEvent((shape,), tuple(ends), _words(text, ends))

    def best(self, events: Iterator[tuple[int, int, ShapedEvent]]) -> _FoundEvent | None:
        """The event with the largest loss."""
        best: _FoundEvent | None = None
        seen: set[tuple[int, int, ShapedEvent]] = set()
        for i, j, event in events:
            if (i, j, event) in seen:
                continue
            seen.add((i, j, event))
            self.monitor.pause()
            try:
                trees = self.runs.trees[i], self.runs.trees[j]
                whole = any(has_atoms(leaf) for t in trees for leaf in t if leaf.outcome.shape in event.shapes)
                p = likelihood(trees[0], event, upper=False, whole=whole)
                q = likelihood(trees[1], event, upper=True, whole=whole)
            except LanguageError as problem:
                if problem.code not in ("noise", "integral"):
                    raise
                continue
            if p.is_zero:
                continue
            found = _FoundEvent(i, j, event.shapes, p, q, self.budget.delta, event)
            if best is None or found.above(best):
                best = found
        return best

    def judged(self, worst: _FoundEvent, bounds: tuple[Epsilon, Epsilon], evidence: dict[str, Any]) -> Iterator[Answer]:
        """What the worst event says, where it is known that there is none worse."""
        lower, upper = bounds
        if lower.infinite or (not self.tight and worst.exceeds(self.budget.epsilon)):
            more = {} if upper.infinite else {"above": {"epsilon": str(upper), "evidence": evidence}}
            yield self.refuted(worst, lower, upper=upper, more=more)
        else:
            yield self.proved(upper, lower, worst, evidence)

    def proved(self, upper: Epsilon, lower: Epsilon, best: _FoundEvent | None, evidence: dict[str, Any]) -> Answer:
        budget = replace(self.budget, epsilon=upper) if self.tight else self.budget
        more: dict[str, Any] = {}
        if best is not None and lower.compare(epsilon(0)) > 0:
            more["below"] = lower_bound(lower, event_evidence(best.left, best.right, best.event_of(self.texts)))
        if upper.compare(budget.epsilon) < 0:
            more["bounds"] = {"upper": str(upper)}
        return self.known(
            status="proved",
            question=self.question.under(budget),
            evidence=evidence,
            more=more,
            lower=lower,
            upper=upper,
            witness=self.witness(best),
        )

    def refuted(
        self, found: _FoundEvent, lower: Epsilon, *, upper: Epsilon = INFINITE, more: Mapping[str, Any] | None = None
    ) -> Answer:
        evidence = event_evidence(found.left, found.right, found.event_of(self.texts))
        return self.known(
            status="refuted",
            question=self.question.under(self.budget),
            evidence=evidence,
            more=more or {},
            lower=lower,
            upper=upper,
            witness=self.witness(found),
            notes=(*self.near_miss(found), *self.notes),
        )

    def near_miss(self, found: _FoundEvent) -> tuple[str, ...]:
        """What to say where the claim is missed by no more than floats round."""
        bound = self.budget.epsilon
        if self.tight or bound.infinite or self.budget.delta != 0 or not (self.runs.floats or found.rounded):
            return ()
        more = Epsilon(bound.ratio, bound.root, bound.shift + rational(_ROUNDING))
        if found.exceeds(more):
            return ()
        return (
            f"the claim is missed by less than {float(_ROUNDING)}: that is how floats in the function are rounded; "
            "with exact numbers (Fraction) it may hold, and a slightly larger epsilon does",
        )

    @cached_property
    def texts(self) -> dict[str, str]:
        return dict(self.document["outputs"])

    def witness(self, found: _FoundEvent | None) -> RunWitness | None:
        if found is None:
            return None
        sides = [self.data_of(k) for k in (found.left, found.right)]
        event = found.event_of(self.texts)
        return Witness(sides[0], sides[1], ObservedRun(event.text), found.p, found.q)


@dataclass(frozen=True)
class _FoundEvent:
    """An event with its probabilities on two neighbours."""

    left: int
    right: int
    shapes: tuple[str, ...]
    p: ExponentialSum
    q: ExponentialSum
    delta: Rational
    event: ShapedEvent | None = None

    @property
    def rounded(self) -> bool:
        """Whether it has numbers such as floats make: a power of two below the line that nobody writes."""
        terms = (*self.p.at(1).terms, *self.q.at(1).terms)
        return any(number.q > 2**40 for term in terms for number in (term[0], term[2]))

    @property
    def loss(self) -> Loss:
        return Loss({}, {}, None, self.p - ExponentialSum.constant(self.delta), self.q)

    def bounds(self) -> tuple[Epsilon, Epsilon]:
        """The epsilon that it asks for: exactly where that can be written down, otherwise from below and from above."""
        one, two = self.p.at(1).rational, self.q.at(1).rational
        if one is not None and two is not None:
            exact = smallest_epsilon(one, two, self.delta)
            return exact, exact
        if self.loss.left_probability.sign(1) <= 0:
            return epsilon(0), epsilon(0)
        lower = max_of(self.loss.lower(), epsilon(0))
        if lower.infinite or not self.exceeds(lower):
            return lower, lower
        step = Fraction(1, 10**14)
        upper = epsilon(fraction(lower.shift) + step) if lower.ratio == 1 else INFINITE
        return lower, upper

    def exceeds(self, bound: Epsilon) -> bool:
        return self.loss.exceeds(bound)

    def excess(self, bound: Epsilon) -> ExponentialSum:
        if bound.infinite:
            return self.p if self.q.is_zero else ExponentialSum.constant(0)
        if bound.root != 1:  # never less than it is
            return self.p - self.q * bound.enclosure()[0]
        return self.p - (self.q * bound.ratio).scaled(bound.shift)

    def above(self, other: _FoundEvent) -> bool:
        """Whether it asks for more than another event."""
        one, two = (each.p - ExponentialSum.constant(each.delta) for each in (self, other))
        if one.sign(1) <= 0:
            return False
        if two.sign(1) <= 0 or other.q.is_zero:
            return not other.q.is_zero or two.sign(1) <= 0
        return (one * other.q - two * self.q).sign(1) > 0

    def event_of(self, texts: Mapping[str, str]) -> ShapedEvent:
        if self.event is not None:
            return self.event
        return ShapedEvent(
            self.shapes, (), " or ".join(texts[s] for s in self.shapes[:4]) + (", ..." if len(self.shapes) > 4 else "")
        )


def _rationals(row: Mapping[str, ExponentialSum]) -> dict[str, Rational] | None:
    """The probabilities of a row, where all are rational."""
    found = {shape: number for shape, p in row.items() if (number := p.at(1).rational) is not None}
    return found if len(found) == len(row) else None


def _words(text: str, ends: Sequence[Interval]) -> str:
    """An event in words: where stars stand, the bounds."""
    pieces = text.split("*")
    if len(pieces) != len(ends) + 1:
        return text
    shown = ["any number" if e == (None, None) else f"≥{e[0]}" if e[0] is not None else f"≤{e[1]}" for e in ends]
    return "".join(piece + bound for piece, bound in zip(pieces, [*shown, ""], strict=True))


def _smallest(
    left: Mapping[str, Rational], right: Mapping[str, Rational], delta: Rational
) -> tuple[Epsilon, tuple[str, ...]]:
    """The least epsilon with ``sum of max(0, P - e^epsilon Q) <= delta``, and the event that asks for it.

    The sum is convex and piecewise linear in e^epsilon with breaks at the quotients; outcomes are taken in their order.
    """
    ranked = sorted(
        left, key=lambda s: (right.get(s, ZERO) != 0, -(left[s] / right[s]) if right.get(s, ZERO) else ZERO)
    )
    p, q = ZERO, ZERO
    shapes: list[str] = []
    best = epsilon(0)
    event: tuple[str, ...] = ()
    for shape in ranked:
        p, q = p + left[shape], q + right.get(shape, ZERO)
        shapes.append(shape)
        asked = smallest_epsilon(p, q, delta)
        if asked.compare(best) > 0:
            best, event = asked, tuple(shapes)
    return best, event or tuple(ranked[:1])
