"""The engine of composition: the smallest delta of several uses at an epsilon, enclosed, and the smallest epsilon at a delta.

From above: for every use losses on a lattice whose curve lies above that of all neighbours, composed (`lattices`, `losses`).  From
below: one use, as often as it is made, on one pair of neighbours; what other uses show only adds to it.  Where several functions take
the same data, all of them on one pair of data sets.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import TypeAlias

from flint import arb

from privproof.engines.composition.composed_losses import BITS, Losses, TooManyLosses
from privproof.engines.composition.composed_parts import FromRuns, Known, SeenPart, from_certificates
from privproof.engines.composition.hockey_stick_curves import common_divisor
from privproof.engines.composition.loss_lattices import HockeyStick, losses_above, losses_below
from privproof.engines.engine_protocol import EngineRequest
from privproof.engines.runs.runs_engine import all_runs
from privproof.engines.runs.runs_requests import as_run, is_of_every_size
from privproof.engines.search_monitor import Monitor, Progress, Stopped
from privproof.errors import LanguageError, QuestionError
from privproof.evidence.engine_answers import Answer
from privproof.evidence.verdicts import RunDetails
from privproof.exact import ZERO, Budget, Epsilon, Rational, epsilon, fraction, log
from privproof.exact.balls import precision, rational_bounds
from privproof.exact.rounding import to_digits
from privproof.scenarios import ComposedQuestion, Use

ENGINE = "composition"
_LEVELS = (64, 256, 1024, 4096, 16384)
"""Lattices that are tried, by the number of steps to the largest loss of the use with the smallest; each is four times as fine."""
_MOST_REACH = 60_000
"""Steps to the largest loss of one use; a lattice with more is not tried."""
_NARROW = Fraction(1, 10**4)
"""A finer lattice is tried while the bounds on delta are further apart than this share of it."""
_ENOUGH, _FINE = Fraction(1, 500), 4096
"""From this number of steps on, bounds that are further apart by at most this share will do: finer lattices take many seconds."""
_NOTHING = Fraction(1, 10**18)
"""Where delta is below this it counts as nothing, and the lattice ends there."""
_FARTHEST = 1_000.0
"""No loss beyond this is looked at."""
_CLEAR = Fraction(1, 10**9)
"""By this share bounds are widened before they are told, so that the checker's, which are rounded elsewhere, lie inside."""
_TINY = Fraction(1, 10**30)
"""And by this from above, where delta is next to nothing: masses are whole multiples of 2^-160, and there are many."""
_HALVINGS = 50
"""How often an interval of losses or epsilons is halved."""
_SIMPLE = 1_000
"""A largest loss next to a fraction with a smaller denominator, or the logarithm of one, is taken for it, and is on the lattice."""
_NEXT_TO = 1e-12
"""How near that is."""
_LARGEST_ROOT = 9_999
"""No smaller part of a logarithm is written down."""
_CLOSE = 1e-6
"""A largest loss that is beyond a point of the lattice by less than this part of a step is taken to be at it."""
_GRID = 10**6
"""The smallest epsilon at a delta is told in parts of this."""


_ENDING = "all runs are taken to end with probability 1, which is not proved"
"""What a composition of proofs relies on: that the laws of what is shown are whole, so that their curve can be turned round."""


_REST = "from below, an observer is taken to know which other records are in the sample"
"""What a refutation for Poisson samples relies on, unless there are no others."""


class CompositionEngine:
    """Bounds the delta of several uses."""

    name = ENGINE

    def supports(self, request: EngineRequest) -> str | None:
        """Why the engine does not answer the request, or None if it does."""
        budget = request.budget
        if request.word is not None:
            return "a word is asked about"
        if budget is not None and budget.pointwise:
            return "a delta for each output is not composed"
        return None

    def answers(self, request: EngineRequest, monitor: Monitor) -> Iterator[Answer]:
        """The claim, proved or refuted, or the bounds that are known."""
        question = request.question
        assert isinstance(question, ComposedQuestion)
        try:
            yield _Composing(request, question, monitor).answer()
        except LanguageError as problem:
            if problem.code not in ("noise", "integral", "size", "paths"):
                raise
            yield _unknown_answer(question, problem.message)
        except TooManyLosses as problem:
            yield _unknown_answer(question, str(problem))
        except Stopped:
            yield _unknown_answer(question, monitor.stopped() or "stopped")


def losses_from_above(question: ComposedQuestion, step: Epsilon, monitor: Monitor) -> tuple[Losses, ...]:
    """The losses of a composition whose functions are run, on a lattice of a given step, from above.

    Raises:
        QuestionError: lists of every size are asked about, of which not all can be run.
        TooManyLosses: the step is too small.
    """
    composing, reaches = _on_lattice(question, step, monitor)
    return composing.above(step, reaches)


def losses_from_below(question: ComposedQuestion, step: Epsilon, at: Epsilon, monitor: Monitor) -> Losses:
    """The losses of one pair of neighbours, that with the largest delta at an epsilon, from below, without slack.

    Raises:
        QuestionError: lists of every size are asked about, or nothing is known from below.
        TooManyLosses: the step is too small.
    """
    composing, reaches = _on_lattice(question, step, monitor)
    found = [losses.without_slack() for _, losses in composing.below(step, reaches)]
    if not found:
        raise QuestionError("composition", "nothing is known from below", place=question.name, hint="from above only")
    return max(found, key=lambda losses: float(losses.delta(at)))


def _on_lattice(question: ComposedQuestion, step: Epsilon, monitor: Monitor) -> tuple[_Composing, list[int]]:
    for use in question.uses:
        if is_of_every_size(use.of):
            raise QuestionError("size", "losses are made for lists of given sizes", place=use.of.name, hint="size=3")
    composing = _Composing(EngineRequest(question), question, monitor)
    size = float(step.ball(64))
    reaches = [max(1, math.ceil(float(reach.ball(64)) / size)) for reach in composing.reaches]
    if max(reaches) > _MOST_REACH:
        raise TooManyLosses(f"a step of {size:g} makes {max(reaches)} losses of one use, more than {_MOST_REACH}")
    return composing, reaches


def _unknown_answer(question: ComposedQuestion, reason: str) -> Answer:
    return Answer(status="unknown", question=question, engine=ENGINE, reason=reason)


Together: TypeAlias = tuple[tuple[int, SeenPart], ...]
"""Uses by their numbers, with two data sets that are the same for all of them."""


@dataclass(frozen=True)
class _LossLattice:
    """Losses at one step: composed from above, both ways, and from below."""

    step: Epsilon
    reaches: tuple[int, ...]
    above: tuple[Losses, ...]
    below: tuple[tuple[Together, Losses], ...]

    def upper(self, at: Epsilon) -> arb:
        """No delta is larger."""
        most = arb(0)
        for losses in self.above:
            most = most.max(losses.delta(at))
        return most.min(arb(1))

    def lower(self, at: Epsilon) -> tuple[arb, Together] | None:
        """Delta is at least this; by which uses, on which neighbours."""
        found = [(losses.delta(at), together) for together, losses in self.below]
        best = max(found, key=lambda item: float(item[0]), default=None)
        return best if best is not None and best[0] > 0 else None


@dataclass(frozen=True)
class _Single:
    """One use that is made once: its delta is on its own curve, and no losses are composed."""

    known: Known
    step: None = None
    reaches: tuple[None] = (None,)

    def upper(self, at: Epsilon) -> arb:
        """No delta is larger."""
        with precision(BITS):
            c = at.ball(BITS).exp()
            return self.known.above[0](c).max(self.known.above[1](c)).max(arb(0)).min(arb(1))

    def lower(self, at: Epsilon) -> tuple[arb, Together] | None:
        """Delta is at least this, on which neighbours."""
        with precision(BITS):
            c = at.ball(BITS).exp()
            found = [(seen.curve(c), seen) for seen in self.known.below]
        best = max(found, key=lambda item: float(item[0].mid()), default=None)
        return (best[0], ((0, best[1]),)) if best is not None and best[0] > 0 else None


class _Composing:
    def __init__(self, request: EngineRequest, question: ComposedQuestion, monitor: Monitor) -> None:
        self.request, self.monitor = request, monitor
        self.known: list[Known] = []
        uses: list[Use] = []
        for number, use in enumerate(question.uses):
            found, known = request.shared(f"use {number}", lambda number=number, use=use: self._known(number, use))  # type: ignore[misc]
            uses.append(found)
            self.known.append(known)
        self.question = replace(question, uses=tuple(uses))

    def _known(self, number: int, use: Use) -> tuple[Use, Known]:
        """A use as it was looked at, and what is known of it."""
        run = as_run(use.of)
        if run is None or is_of_every_size(use.of):
            of, certificates = self.request.prepared["proved"](use.of)
            if certificates:
                return replace(use, of=of), from_certificates(certificates, use.sampling)
        if run is None:
            raise LanguageError("noise", f"nothing is proved about {use.of.name}, so nothing about several uses")
        sized, runs = all_runs(run, self.monitor)
        return replace(use, of=sized), FromRuns(runs, use.sampling, self.monitor).known()

    @cached_property
    def reaches(self) -> list[Epsilon]:
        """For each use a loss beyond which its delta counts as nothing."""
        return [self._reach(known, use.times) for known, use in zip(self.known, self.question.uses, strict=True)]

    def _reach(self, known: Known, times: int) -> Epsilon:
        """The largest loss that counts, both ways; where it is next to a simple number, that."""
        with precision(BITS):
            nothing = arb(Rational(_NOTHING.numerator, _NOTHING.denominator * times))

            def counts(curve: HockeyStick, floor: arb, at: float) -> bool:
                return bool(curve(arb(at).exp()) - floor > nothing)

            most = 0.0
            for curve in known.above:
                floor = curve(arb(_FARTHEST).exp()).lower()
                low, high = 0.0, 1 / 64
                while high < _FARTHEST and counts(curve, floor, high):
                    low, high = high, 2 * high
                for _ in range(_HALVINGS):
                    middle = (low + high) / 2
                    low, high = (middle, high) if counts(curve, floor, middle) else (low, middle)
                most = max(most, high)
        return _simple(most)

    def lattice(self, level: int) -> _LossLattice | _Single | None:
        """The losses of a level; None where there would be too many."""
        if [use.times for use in self.question.uses] == [1]:
            return _Single(self.known[0])
        return self.request.shared(f"lattice {level}", lambda: self._lattice(_LEVELS[level]))

    def _lattice(self, fine: int) -> _LossLattice | None:
        balls = [float(reach.ball(64)) for reach in self.reaches]
        least = self.reaches[balls.index(min(balls))]
        if least.ratio != 1 and least.root * fine > _LARGEST_ROOT:
            return None
        step = self._unit(max(balls)) or _part(least, fine)
        size = float(step.ball(64))
        reaches = tuple(max(1, math.ceil(ball / size - _CLOSE)) for ball in balls)
        if max(reaches) > _MOST_REACH:
            return None
        self.monitor.listen(Progress(f"composing with losses in steps of {size:.3g}"))
        return _LossLattice(step, reaches, self.above(step, reaches), self.below(step, reaches))

    def below(self, step: Epsilon, reaches: Sequence[int]) -> tuple[tuple[Together, Losses], ...]:
        """The composed losses from below, on the neighbours that may be the worst."""
        chosen: list[Together] = [
            ((number, seen),) for number, known in enumerate(self.known) for seen in self._worth(number, known)
        ]
        chosen += self.request.shared("same data", lambda: _on_the_same_data(self.known))
        below = []
        for together in chosen:
            total: Losses | None = None
            for number, seen in together:
                losses = losses_below(seen.curve, step, reaches[number], seen.certain)
                losses = losses.times(self.question.uses[number].times)
                total = losses if total is None else total.joined(losses)
                self.monitor.pause()
            assert total is not None
            below.append((together, total))
        return tuple(below)

    def above(self, step: Epsilon, reaches: Sequence[int]) -> tuple[Losses, ...]:
        """The composed losses from above: once where both ways are alike, else for the data with more records first, and last."""
        above = []
        ways = 1 if all(known.above[0] is known.above[1] for known in self.known) else 2
        for way in range(ways):
            total: Losses | None = None
            for known, use, reach in zip(self.known, self.question.uses, reaches, strict=True):
                losses = losses_above(known.above[way], step, reach).times(use.times)
                total = losses if total is None else total.joined(losses)
                self.monitor.pause()
            assert total is not None
            above.append(total)
        return tuple(above)

    def _unit(self, largest: float) -> Epsilon | None:
        """The largest step with all losses on the lattice, where there is one and it is not too small."""
        found = ZERO
        for known in self.known:
            if known.unit is None:
                return None
            found = common_divisor(found, known.unit)
        step = fraction(found)
        return epsilon(step) if step * _MOST_REACH > largest else None

    def _worth(self, number: int, known: Known) -> Sequence[SeenPart]:
        """The neighbours that may be the worst: those with the largest curve somewhere."""
        return self.request.shared(
            f"worst of use {number}", lambda: _largest_somewhere(known.below, self.reaches[number])
        )

    def answer(self) -> Answer:
        """What is known about the claim, or about the smallest epsilon at a delta."""
        if self.request.tight:
            return self._smallest(fraction(self.request.delta))
        budget = self.question.budget
        assert budget is not None
        if budget.epsilon.infinite:
            return _unknown_answer(self.question, "an infinite epsilon needs no delta")
        lattice, low, high = self._narrowest(budget.epsilon)
        claimed = fraction(budget.delta)
        details = RunDetails((_round_delta(low, up=False), _round_delta(high, up=True)))
        if _round_delta(high, up=True) <= claimed:
            return self._answer("proved", details, evidence=self._proof(lattice), upper=budget.epsilon)
        worst = lattice.lower(budget.epsilon)
        if worst is not None and _round_delta(low, up=False) >= claimed:
            return self._answer("refuted", details, evidence=_refutation(lattice, worst), lower=budget.epsilon)
        reason = "the delta lies between what is proved and what is refuted"
        return self._answer("unknown", details, reason=reason)

    def _narrowest(self, at: Epsilon) -> tuple[_LossLattice | _Single, Fraction, Fraction]:
        """The coarsest lattice whose bounds on delta are near to each other, with these; else the finest there is room for."""
        best: tuple[_LossLattice | _Single, Fraction, Fraction] | None = None
        for level in range(len(_LEVELS)):
            lattice = self.lattice(level)
            if lattice is None:
                break
            high = fraction(rational_bounds(lattice.upper(at))[1])
            worst = lattice.lower(at)
            low = Fraction(0) if worst is None else fraction(rational_bounds(worst[0])[0])
            before = best
            if best is None or high - low < best[2] - best[1]:
                best = lattice, low, high
            # what is between them need not be due to the lattice, where little is known from below
            settled = before is not None and max(before[2] - high, low - before[1]) <= _NARROW * high
            share = _ENOUGH if _LEVELS[level] >= _FINE else _NARROW
            if high - low <= max(share * high, _NOTHING) or settled or lattice.step is None:
                break
        if best is None:
            raise TooManyLosses("the largest losses of the uses are too far apart for one lattice")
        return best

    def _smallest(self, delta: Fraction) -> Answer:
        """The smallest epsilon at a delta, between two numbers."""
        if delta == 0:
            return self._answer("unknown", None, reason="a composition is looked at with a delta above 0")
        low, high = Fraction(0), Fraction(1, 8)
        lattice = self.lattice(0)
        if lattice is None:
            raise TooManyLosses("the largest losses of the uses are too far apart for one lattice")

        def enough(chosen: _LossLattice | _Single, at: Fraction) -> bool:
            return _round_delta(fraction(rational_bounds(chosen.upper(epsilon(at)))[1]), up=True) <= delta

        while not enough(lattice, high):
            low, high = high, 2 * high
            if high > _FARTHEST:
                return self._answer("unknown", None, reason=f"no epsilon up to {_FARTHEST:g} is proved at this delta")
        lattice, _, _ = self._narrowest(epsilon(high))
        low, high = Fraction(0), high
        for _ in range(_HALVINGS):
            middle = Fraction(round((low + high) / 2 * _GRID), _GRID)
            if middle in (low, high):
                break
            low, high = (low, middle) if enough(lattice, middle) else (middle, high)
        below = self._largest_refuted(lattice, delta, high)
        budget = Budget(epsilon(high), Rational(delta.numerator, delta.denominator))
        more, lower = ({}, epsilon(0)) if below is None else below
        return self._answer(
            "proved",
            None,
            question=self.question.under(budget),
            evidence=self._proof(lattice),
            more=more,
            upper=budget.epsilon,
            lower=lower,
        )

    def _largest_refuted(
        self, lattice: _LossLattice | _Single, delta: Fraction, below: Fraction
    ) -> tuple[dict[str, object], Epsilon] | None:
        """The largest epsilon that is too small at a delta, in thousandths, with what shows it."""

        def beyond(at: Fraction) -> tuple[arb, Together] | None:
            worst = lattice.lower(epsilon(at))
            told = worst is not None and _round_delta(fraction(rational_bounds(worst[0])[0]), up=False) >= delta
            return worst if told else None

        low, high = 0, math.ceil(below * 1000)
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (middle, high) if beyond(Fraction(middle, 1000)) else (low, middle)
        worst = beyond(Fraction(low, 1000))
        if low == 0 or worst is None:
            return None
        found = epsilon(Fraction(low, 1000))
        return {"below": {"epsilon": str(found), "evidence": _refutation(lattice, worst)}}, found

    def _proof(self, lattice: _LossLattice | _Single) -> dict[str, object]:
        uses = [{**known.evidence, **_ends(reach)} for known, reach in zip(self.known, lattice.reaches, strict=True)]
        return {"method": "composition", **_steps(lattice), "uses": uses}

    def _answer(self, status: str, details: RunDetails | None, **more: object) -> Answer:
        return Answer(
            **{  # type: ignore[arg-type]
                "status": status,
                "question": self.question,
                "engine": ENGINE,
                "compiled": tuple(known.compiled for known in self.known),
                "details": details,
                "notes": (
                    *((_ENDING,) if any("certificates" in known.evidence for known in self.known) else ()),
                    *(
                        (_REST,)
                        if any(use.sampling and use.sampling.kind == "poisson" for use in self.question.uses)
                        else ()
                    ),
                ),
                **more,
            }
        )


def _steps(lattice: _LossLattice | _Single) -> dict[str, object]:
    return {} if lattice.step is None else {"step": str(lattice.step)}


def _ends(reach: int | None) -> dict[str, object]:
    return {} if reach is None else {"reach": reach}


def _refutation(lattice: _LossLattice | _Single, worst: tuple[arb, Together]) -> dict[str, object]:
    first, *also = (
        {**_ends(lattice.reaches[number]), "use": number, "left": seen.left, "right": seen.right}
        for number, seen in worst[1]
    )
    return {"method": "losses", **_steps(lattice), **first, **({"also": also} if also else {})}


def _on_the_same_data(uses: Sequence[Known]) -> list[Together]:
    """The most different pairs of data sets that are neighbours in all uses, if there are several uses with the same data."""
    common = [data for data in uses[0].everywhere if all(data in known.everywhere for known in uses[1:])]
    if len(uses) == 1:
        return []
    different: dict[tuple[int, ...], Together] = {}
    for data in common:
        found = [known.everywhere[data] for known in uses]
        different.setdefault(
            tuple(curve for curve, _ in found), tuple((number, seen) for number, (_, seen) in enumerate(found))
        )
    with precision(BITS):
        one = arb(1)
        rated = [(sum(float(seen.curve(one).mid()) for _, seen in each), each) for each in different.values()]
    return [each for _, each in sorted(rated, key=lambda item: item[0], reverse=True)[:_MOST_DIFFERENT]]


_MOST_DIFFERENT = 3
"""So many pairs of data sets, those with the largest total variation in all uses, are composed from below: each takes a lattice."""


def _largest_somewhere(pairs: Sequence[SeenPart], reach: Epsilon) -> list[SeenPart]:
    """Of curves those that are the largest at some points of the lattice."""
    if not pairs:
        return []
    with precision(BITS):
        end = reach.ball(BITS)
        places = [(end * k / _LOOKED_AT).exp() for k in range(_LOOKED_AT)]
        chosen = {max(range(len(pairs)), key=lambda n: float(pairs[n].curve(c).mid())) for c in places}
    return [pairs[n] for n in sorted(chosen)]


_LOOKED_AT = 4
"""At so many points between 1 and the largest loss curves are compared, to choose the neighbours that bound delta from below."""


def _simple(value: float) -> Epsilon:
    """A number a little above a positive one, or the simple one next to it."""
    near = Fraction(value).limit_denominator(_SIMPLE)
    if near > 0 and abs(float(near) - value) < _NEXT_TO * value:
        return epsilon(near)
    if value < 20:
        ratio = Fraction(math.exp(value)).limit_denominator(_SIMPLE)
        if ratio > 1 and abs(math.log(ratio) - value) < _NEXT_TO * value:
            return log(Rational(ratio.numerator, ratio.denominator))
    return epsilon(Fraction(math.ceil(value * _GRID * 1.001), _GRID))


def _part(reach: Epsilon, number: int) -> Epsilon:
    """A part of an epsilon."""
    return epsilon(f"{reach}/{number}") if reach.ratio != 1 else epsilon(fraction(reach.shift) / number)


def _round_delta(value: Fraction, *, up: bool) -> Fraction:
    """A delta a little further out, with some digits."""
    if value <= 0:
        return Fraction(0)
    wide = min(value * (1 + _CLEAR) + _TINY, Fraction(1)) if up else value * (1 - _CLEAR)
    return to_digits(wide, up=up)
