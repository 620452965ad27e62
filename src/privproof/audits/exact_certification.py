"""Certifying what sampling found: the exact probabilities of an event on two data sets, and whether they break a budget.

A candidate of an audit is *real* if its exact probabilities break the budget and *spurious* if they do not, whatever the runs said.  An
event that consists of several parts has a part whose ratio is at least that of the whole, so without a delta the part with the largest
ratio decides; with a delta the parts together do.  Where not all parts can be looked at, an event may still be real, but nothing more is
said about it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import combinations as pairs
from itertools import product
from math import ceil, exp, floor, prod
from typing import Any, Final, TypeAlias

from privproof.audits.audit_findings import CertifiedCandidate, Judgement
from privproof.audits.event_probabilities import check_arguments, privacy_loss
from privproof.audits.sampling.output_events import Event, ListBeginning, OneOf, outputs_in_patterns, patterns_of_event
from privproof.audits.sampling.output_forms import numbers_of
from privproof.compiling.distributions import beginning_probability, output_probabilities, tail
from privproof.engines import Monitor
from privproof.engines.laplace.losses import Loss, Trees
from privproof.errors import QuestionError
from privproof.exact import ZERO, Budget, Epsilon, epsilon, fraction, smallest_epsilon
from privproof.exact.balls import rational_bounds
from privproof.exact.exponentials import ExponentialSum
from privproof.language import Mechanism
from privproof.language.patterns import Between
from privproof.scenarios import is_program

_PARTS = 1_000
"""An event of more outputs is cut to its first so many: a part of it, whose probabilities are exact all the same."""
_CONTINUOUS_PARTS = 8
"""The same for continuous noise, where every output is an integration."""
_MOST_INTERVALS = 8
"""An output with more numbers of which only an interval is known is not certified."""


_NOTHING: Final = object()
_Exact: TypeAlias = Fraction | ExponentialSum


@dataclass(frozen=True)
class _EventPart:
    """A part of an event with its exact probabilities on both sides."""

    pattern: object
    left: Fraction
    right: Fraction


@dataclass(frozen=True)
class Suspect:
    """An event that may tell two data sets apart by more than a budget.

    Attributes:
        mechanism: the mechanism.
        left: the arguments that make the event likelier.
        right: the other arguments.
        event: the event.
        budget: what it is compared with; None for nothing.
    """

    mechanism: Mechanism
    left: Mapping[str, object]
    right: Mapping[str, object]
    event: Event
    budget: Budget | None

    def judged(self, exactly: Event, p: _Exact, q: _Exact, loss: Epsilon, judgement: Judgement) -> CertifiedCandidate:
        """The same with exact probabilities of the event, or of a part of it."""
        return CertifiedCandidate(self.left, self.right, self.event, exactly, p, q, loss, judgement)


def certify_suspect(suspect: Suspect, outputs: Sequence[object], monitor: Monitor) -> CertifiedCandidate | None:
    """A suspect with its exact probabilities; None where its event has no pattern that the exact engines know.

    A half-space has no pattern: the output, or the interval of outputs, that tells the two data sets apart most takes its place.

    Args:
        suspect: the event and the data sets.
        outputs: the outputs that occurred.
        monitor: an opportunity to stop.
    """
    event = suspect.event
    patterns = patterns_of_event(event, outputs)
    whole = isinstance(event, OneOf)
    mechanism, one = check_arguments(suspect.mechanism, suspect.left)
    _, other = check_arguments(mechanism, suspect.right)
    given = replace(suspect, mechanism=mechanism, left=one, right=other)
    if is_program(mechanism):
        if not patterns:
            found = privacy_loss(mechanism, suspect.left, suspect.right)
            given, patterns = replace(given, left=dict(found.left), right=dict(found.right)), (found.event,)
        few = patterns[:_CONTINUOUS_PARTS]
        return _continuous(given, few, monitor, whole=whole and len(few) == len(patterns))
    if (
        isinstance(event, ListBeginning)
        and not any(map(_intervals, event.items))
        and (mechanism.stream is None or mechanism.generator)
    ):
        p, q = (beginning_probability(mechanism, event.items, side) for side in (one, other))
        return _judge_suspect(given, event, p, q, whole=True)
    patterns = patterns or tuple(outputs)
    if any(isinstance(number, Fraction) for output in outputs for number in numbers_of(output)):
        whole = whole and not any(map(_intervals, patterns))
        patterns = outputs_in_patterns(patterns, outputs)
    if max(map(_intervals, patterns), default=_MOST_INTERVALS + 1) > _MOST_INTERVALS:
        return None
    some = patterns[:_PARTS]
    return _discrete(given, some, whole=whole and len(some) == len(patterns))


def _intervals(pattern: object) -> int:
    """How many numbers of a pattern lie in intervals."""
    if isinstance(pattern, list | tuple):
        return sum(map(_intervals, pattern))
    return int(isinstance(pattern, Between))


def _continuous(suspect: Suspect, patterns: Sequence[object], monitor: Monitor, *, whole: bool) -> CertifiedCandidate:
    left, right, budget = suspect.left, suspect.right, suspect.budget
    trees = Trees(suspect.mechanism, monitor)
    losses = [trees.loss(left, right, pattern) for pattern in patterns]
    share = ZERO if budget is None else budget.delta
    chosen: Sequence[object] = patterns
    together = losses[0]
    if len(patterns) > 1 and share != 0 and not any(_overlap(trees, left, right, *two) for two in pairs(patterns, 2)):
        for more in losses[1:]:
            together = replace(
                together,
                left_probability=together.left_probability + more.left_probability,
                right_probability=together.right_probability + more.right_probability,
            )
    elif len(patterns) > 1:
        number = max(range(len(patterns)), key=lambda i: trees.ratio(left, right, patterns[i]))
        chosen, together = [patterns[number]], losses[number]
        whole = whole and share == 0
    for side in (together.left_probability, together.right_probability):
        _possible(
            OneOf(tuple(chosen)), smaller=side.sign(1) < 0, larger=(ExponentialSum.constant(1) - side).sign(1) < 0
        )
    breaks = budget is not None and _exceeds(together, budget)
    if not breaks and budget is not None and share == 0:
        breaks_too = next((i for i, loss in enumerate(losses) if _exceeds(loss, budget)), None)
        if breaks_too is not None:
            chosen, together, breaks = [patterns[breaks_too]], losses[breaks_too], True
    reduced = replace(together, left_probability=together.left_probability - ExponentialSum.constant(share))
    asked = reduced.lower() if reduced.left_probability.sign(1) > 0 else epsilon(0)
    loss = asked if asked.compare(epsilon(0)) > 0 else epsilon(0)
    judgement: Judgement = "real" if breaks else "spurious" if budget is not None and whole else "exact"
    p, q = together.left_probability, together.right_probability
    return suspect.judged(OneOf(tuple(chosen)), p, q, loss, judgement)


def _possible(event: Event, *, smaller: bool, larger: bool) -> None:
    """Refuse what is no probability: then the parts of an event were not what they seemed."""
    if smaller or larger:
        raise QuestionError("event", f"the parts of the event overlap: {event}", place="event", hint="report this")


def _exceeds(loss: Loss, budget: Budget) -> bool:
    return not loss.left_probability.is_zero and loss.exceeds(budget.epsilon, budget.delta)


def _overlap(trees: Trees, left: Mapping[str, object], right: Mapping[str, object], one: Any, other: Any) -> bool:
    """Whether two parts have something in common that is possible on either side."""
    common = _common(one, other)
    if common is _NOTHING:
        return False
    found = trees.loss(left, right, common)
    return not (found.left_probability.is_zero and found.right_probability.is_zero)


def _common(one: Any, other: Any) -> Any:
    """The pattern of what lies in two patterns, or nothing."""
    match one, other:
        case Between(), Between():
            low = max((x.low for x in (one, other) if x.low is not None), default=None)
            high = min((x.high for x in (one, other) if x.high is not None), default=None)
            return _NOTHING if low is not None and high is not None and low > high else Between(low, high)
        case (list(), list()) | (tuple(), tuple()):
            if len(one) != len(other):
                return _NOTHING
            inner = [_common(x, y) for x, y in zip(one, other, strict=True)]
            return _NOTHING if any(part is _NOTHING for part in inner) else type(one)(inner)
        case _:
            if isinstance(one, Between) or isinstance(other, Between):
                return other if isinstance(one, Between) else one
            return one if one == other else _NOTHING


def as_loss(found: CertifiedCandidate) -> Loss | None:
    """A certified candidate of a mechanism with continuous noise, as a loss; None where it is not one pattern."""
    p, q = found.left_probability, found.right_probability
    if isinstance(p, Fraction) or isinstance(q, Fraction):
        return None
    if not isinstance(found.exactly, OneOf) or len(found.exactly.patterns) != 1:
        return None
    return Loss(found.left, found.right, found.exactly.patterns[0], p, q)


def _discrete(suspect: Suspect, patterns: Sequence[object], *, whole: bool) -> CertifiedCandidate:
    mechanism, budget = suspect.mechanism, suspect.budget
    wanted = [list(_explorer_outputs(mechanism, _signed_outputs(pattern))) for pattern in patterns]
    flat = [output for terms in wanted for _, output in terms]
    sides = [iter(output_probabilities(mechanism, flat, given)) for given in (suspect.left, suspect.right)]
    parts = []
    for pattern, terms in zip(patterns, wanted, strict=True):
        found = [[sign * next(side) for sign, _ in terms] for side in sides]
        parts.append(_EventPart(pattern, sum(found[0], Fraction(0)), sum(found[1], Fraction(0))))
    chosen = parts
    if budget is None or budget.delta == 0:
        chosen = [max(parts, key=_ratio)]
    else:
        chosen = _exceeding_parts(parts, budget)
    p, q = (sum((getattr(part, side) for part in chosen), Fraction(0)) for side in ("left", "right"))
    return _judge_suspect(suspect, OneOf(tuple(part.pattern for part in chosen)), p, q, whole=whole)


def _judge_suspect(suspect: Suspect, exactly: Event, p: Fraction, q: Fraction, *, whole: bool) -> CertifiedCandidate:
    budget = suspect.budget
    for side in (p, q):
        _possible(exactly, smaller=side < 0, larger=side > 1)
    breaks = budget is not None and not budget.epsilon.allows(p, q, budget.delta)
    judgement: Judgement = "real" if breaks else "spurious" if budget is not None and whole else "exact"
    share = Fraction(0) if budget is None else fraction(budget.delta)
    return suspect.judged(exactly, p, q, smallest_epsilon(p, q, share), judgement)


def _ratio(part: _EventPart) -> tuple[bool, Fraction]:
    return part.right == 0 and part.left > 0, part.left / part.right if part.right else part.left


def _exceeding_parts(parts: Sequence[_EventPart], budget: Budget) -> list[_EventPart]:
    """The parts that count towards delta: those likelier than ``e^epsilon`` times the other side; floats choose, nothing is decided."""
    if budget.epsilon.infinite:
        chosen = [part for part in parts if part.right == 0]
    else:
        factor = exp(min(700.0, float(rational_bounds(budget.epsilon.ball())[1])))
        chosen = [part for part in parts if float(part.left) > factor * float(part.right)]
    return chosen or list(parts)


def _signed_outputs(pattern: object) -> Iterator[tuple[int, Any]]:
    """A pattern as a signed sum of outputs with tails, as exact discrete probabilities know them."""
    match pattern:
        case Between(None, None):
            yield from ((1, tail(0, upward=True)), (1, tail(-1, upward=False)))
        case Between(low, None):
            assert low is not None
            yield 1, tail(ceil(low), upward=True)
        case Between(None, high):
            assert high is not None
            yield 1, tail(floor(high), upward=False)
        case Between(low, high):
            assert low is not None
            assert high is not None
            yield from ((1, tail(ceil(low), upward=True)), (-1, tail(floor(high) + 1, upward=True)))
        case list() | tuple():
            for terms in product(*map(list, map(_signed_outputs, pattern))):
                yield prod(sign for sign, _ in terms), type(pattern)(output for _, output in terms)
        case _:
            yield 1, pattern


def _explorer_outputs(mechanism: Mechanism, terms: Iterable[tuple[int, Any]]) -> Iterator[tuple[int, Any]]:
    """Outputs as the explorer shows them: what a mechanism on a stream returns is what it writes; at the end of the stream, nothing."""
    for sign, output in terms:
        if mechanism.stream is None or mechanism.generator:
            yield sign, output
        else:
            yield sign, [output]
            if output is None:
                yield sign, []
