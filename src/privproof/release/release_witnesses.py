"""What is seen of a release: the output at which a loss is attained, an event around it, and how likely it is given two values of an entry.

Under geometric noise an output is a number; under Laplace noise it is a narrow interval, because a single number has no mass.  At the least
and the greatest sum it is everything beyond, where the ratio stays the same.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeAlias

from flint import arb

from privproof.errors import QuestionError
from privproof.evidence.witnesses import ObservedRelease, ReleaseWitness, Witness
from privproof.exact import Rational, fraction, rational
from privproof.exact.balls import precision
from privproof.exact.probabilities import Ball
from privproof.release.release_losses import ReleaseLoss
from privproof.release.release_question import Geometric, Laplace, ReleaseQuestion
from privproof.release.sum_laws import SumLaws

_NARROW = Fraction(1, 10**6)
"""Half the width of the interval around the worst output, beside the scale: a single number has no mass."""

Ends: TypeAlias = tuple[Fraction | None, Fraction | None]
"""Of an interval; None where it is open."""
Event: TypeAlias = tuple[Ends, ...]
"""An interval for the released value, or one for every count of a histogram."""


@dataclass(frozen=True)
class Seen:
    """What is seen of a release.

    Attributes:
        question: the release.
        bin: the bin of a histogram whose count this is about.
    """

    question: ReleaseQuestion
    bin: str | None = None

    def interval(self, loss: ReleaseLoss) -> Event:
        """The event in the unit of the query: at the least or greatest sum everything beyond it, where the ratio stays the same.

        Elsewhere the sum itself under geometric noise, a narrow interval around it under Laplace noise; so for every count.
        """
        step, laws = fraction(self.question.query.step), loss.laws
        if laws.counts is not None:
            return tuple(
                self._around(number, 0, laws.counts.entries, step) for number in laws.counts.point(loss.output)
            )
        return (self._around(loss.output, laws.lowest, laws.lowest + laws.masses.shape[1] - 1, step),)

    def _around(self, output: int, lowest: int, highest: int, step: Fraction) -> Ends:
        middle = output * step
        if output == lowest:
            return None, middle
        if output == highest:
            return middle, None
        if isinstance(self.question.noise, Geometric):
            return middle, middle
        assert isinstance(self.question.noise, Laplace)
        half = min(fraction(self.question.noise.scale), step) * _NARROW
        return middle - half, middle + half

    def witness(self, loss: ReleaseLoss) -> ReleaseWitness:
        """The entry, its two values and the worst output."""
        return self.witnessed(loss.laws, loss.left, loss.right, self.interval(loss))

    def witnessed(self, laws: SumLaws, left_value: str, right_value: str, event: Event) -> ReleaseWitness:
        """An event with both probabilities, computed from the laws."""
        rows = self._rows(laws)
        with precision(256):
            left, right = (
                self._probability(rows[laws.values.index(value)], laws, event) for value in (left_value, right_value)
            )
        where = f"X_{laws.node}" if isinstance(laws.node, int) else str(laws.node)
        prior = self.question.priors[laws.prior]
        name = str(prior) + (f", length {laws.length}" if laws.length else "")
        return Witness(
            f"{where} = {left_value}",
            f"{where} = {right_value}",
            ObservedRelease(self._said(laws, event), name),
            Ball.of(left),
            Ball.of(right),
        )

    def _said(self, laws: SumLaws, event: Event) -> str:
        """The event in words; where there are several series, what others add is taken off."""
        alone = not laws.length or self.question.entries == laws.length
        others = "" if alone else ", less what other series add,"
        if laws.counts is not None:
            told = zip(self.question.query.bins, event, strict=True)
            return f"released counts{others} " + ", ".join(name + _event_words(*ends) for name, ends in told)
        what = "released value" if self.bin is None else f"released count of {self.bin}"
        return what + others + _event_words(*event[0])

    def _rows(self, laws: SumLaws) -> list[list[arb]]:
        try:
            return [[arb(p) for p in row] for row in laws.exactly()]
        except QuestionError:
            error = 2 * laws.error
            return [[arb(float(p), float(p) * error + 1e-290) for p in row] for row in laws.masses]

    def _probability(self, row: Sequence[arb], laws: SumLaws, event: Event) -> arb:
        """The probability that the noisy sum lies in an interval, or every noisy count in its own."""
        step = self.question.query.step
        total = arb(0)
        for offset, mass in enumerate(row):
            if mass.is_zero():
                continue
            centres = [laws.lowest + offset] if laws.counts is None else laws.counts.counts(offset)
            chance = mass
            for centre, ends in zip(centres, event, strict=True):
                chance *= self._within(*(None if end is None else rational(end) - centre * step for end in ends))
            total += chance
        return total

    def _within(self, low: Rational | None, high: Rational | None) -> arb:
        """The probability that the noise lies in an interval; by symmetry a sum or difference of small numbers far out."""
        if high is None or low is None:
            assert low is not None or high is not None
            return self._at_most(-low) if low is not None else self._at_most(high)  # type: ignore[arg-type]
        if low > 0:
            low, high = -high, -low
        noise = self.question.noise
        return self._at_most(high) - self._at_most(low - noise.step if isinstance(noise, Geometric) else low)

    def _at_most(self, away: Rational) -> arb:
        """The probability that the noise is at most so much."""
        noise = self.question.noise
        if isinstance(noise, Laplace):
            ratio = arb(away) / arb(noise.scale)
            return ratio.exp() / 2 if away <= 0 else 1 - (-ratio).exp() / 2
        assert isinstance(noise, Geometric)
        steps = away / noise.step
        whole = int(steps.p // steps.q)
        alpha = arb(noise.alpha)
        if whole < 0:
            return alpha**-whole / (1 + alpha)
        return 1 - alpha ** (whole + 1) / (1 + alpha)

    def exact_ratio(self, loss: ReleaseLoss) -> Fraction:
        """The ratio at the worst output, as a fraction."""
        noise, laws = self.question.noise, loss.laws
        assert isinstance(noise, Geometric)
        alpha = noise.alpha ** int((self.question.query.step / noise.step).p)
        rows = laws.exactly()
        sides = []
        for value in (loss.left, loss.right):
            row = rows[laws.values.index(value)]
            away = (self._distance(laws, c, loss.output) if mass else 0 for c, mass in enumerate(row))
            sides.append(sum((mass * alpha**far for far, mass in zip(away, row, strict=True)), Rational(0)))
        return fraction(sides[0] / sides[1])

    @staticmethod
    def _distance(laws: SumLaws, place: int, output: int) -> int:
        """How many steps an output is away from the sum at a place, all counts together."""
        if laws.counts is None:
            return abs(output - laws.lowest - place)
        both = zip(laws.counts.counts(place), laws.counts.point(output), strict=True)
        return sum(abs(here - there) for here, there in both)


def _event_words(low: Fraction | None, high: Fraction | None) -> str:
    if low is not None and high is not None:
        return f" = {low}" if low == high else f" within {float(low):.9g}..{float(high):.9g}"
    return f" at least {low}" if low is not None else f" at most {high}"
