"""Deltas over events, in balls, where Gaussian noise is drawn or noisy numbers are shown; also the smallest epsilon at one."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from functools import cached_property

from flint import arb

from privproof.engines.runs.runs_certificates import divergence_evidence, excess_evidence, region_evidence
from privproof.engines.runs.runs_decision import Deciding, max_of
from privproof.engines.runs.runs_divergence import Excess, LeafDivergence, distinct_pairs
from privproof.errors import LanguageError
from privproof.evidence.certificate_documents import lower_bound
from privproof.evidence.engine_answers import Answer
from privproof.evidence.verdicts import RunDetails
from privproof.evidence.witnesses import ObservedRun, RunWitness, Witness
from privproof.exact import Epsilon, Rational, epsilon
from privproof.exact.balls import precision, rational_bounds
from privproof.exact.probabilities import Ball
from privproof.exact.rounding import to_digits, to_grid
from privproof.language.laws import WHOLE

_BITS = 96
"""The precision of balls around e^epsilon and excesses."""
_MOST_EPSILON = 10_000
"""Claims with a larger epsilon are not decided: no ball around e^epsilon is of use, and the checker reads none."""
_LARGEST_EPSILON = 1_000
"""Where a larger epsilon would be needed at a delta, the search for the smallest ends."""
_SUMMED = 96
"""Where integers are compared a delta is larger by 2 to the minus this: the checker's sums lack a little, so that it finds no 0."""
_HALVINGS = 40
"""How often the interval of the smallest epsilon at a delta is halved: to a trillionth."""
_LEAST = 8_192
"""Events that are less likely than 2 to the minus this are not written down: their fractions would have thousands of digits."""
_GRID = 10**9
"""The smallest epsilon at a delta is rounded up to a multiple of its inverse, so that it can be written down."""


class DeltaDeciding(Deciding):
    """What the runs of a function say about a delta."""

    def answers(self) -> Iterator[Answer]:
        """A delta over events, in balls: from above by the distance of what is shown, from below by an event."""
        if self.budget.pointwise and self.budget.delta != 0:
            yield self.unknown("a delta for each output, where noisy numbers are shown, means nothing")
            return
        if not self.tight and self.budget.epsilon.compare(epsilon(_MOST_EPSILON)) > 0:
            yield self.unknown(
                f"where noise is Gaussian or shown with a delta, no epsilon above {_MOST_EPSILON} is decided"
            )
            return
        try:
            yield from self.within_delta() if not self.tight else self.least_within_delta()
        except LanguageError as problem:
            if problem.code not in ("noise", "integral"):
                raise
            yield self.unknown(problem.message)

    def most(self, bound: Epsilon) -> tuple[arb, tuple[int, int, Excess]]:
        """A bound on the excess of every event on all neighbours, and the pair that has it, with an event."""
        if str(bound) not in self.excesses:
            self.excesses[str(bound)] = self._most(bound)
        found: tuple[arb, tuple[int, int, Excess]] = self.excesses[str(bound)]
        return found

    def _most(self, bound: Epsilon) -> tuple[arb, tuple[int, int, Excess]]:
        with precision(_BITS):
            divergence = LeafDivergence(bound.ball(_BITS).exp(), by_density=True)
        found: tuple[arb, tuple[int, int, Excess]] | None = None
        for i, j in distinct_pairs(self.ordered, self.document["runs"]):
            self.monitor.pause()
            excess = _drop_tiny_event(divergence.excess(self.runs.trees[i], self.runs.trees[j]))
            upper = excess.upper.upper()
            if found is None or upper > found[0]:
                found = upper, (i, j, excess)
        assert found is not None
        return (found[0] + arb(2) ** -_SUMMED).upper() if self._compares_integers else found[0], found[1]

    @cached_property
    def _compares_integers(self) -> bool:
        return any(
            leaf.noises[atom].kind in WHOLE
            for tree in self.runs.trees
            for leaf in tree
            for test in leaf.tests
            for atom in test.form.terms
            if isinstance(atom, int)
        )

    def within_delta(self) -> Iterator[Answer]:
        """Whether the claim holds."""
        bound = self.budget.epsilon
        upper, (i, j, excess) = self.most(bound)
        with precision(_BITS):
            event = excess.lower(bound.ball(_BITS).exp())
            shown = bool(event > self.budget.delta)
            below = event if shown or event.lower() >= excess.least.lower() else excess.least
            proved, refuted = upper <= self.budget.delta, below > self.budget.delta
            details = delta_details(below, upper)
        if proved:
            yield self.known(
                status="proved",
                evidence=divergence_evidence(),
                upper=bound,
                details=details,
            )
            return
        witness = self.region_witness(i, j, excess)
        if refuted:
            yield self.known(
                status="refuted",
                question=self.question.under(self.budget),
                evidence=region_evidence(i, j, excess.regions) if shown else excess_evidence(i, j),
                lower=_epsilon_of(excess, self.budget.delta, bound) if shown else bound,
                witness=witness if shown else None,
                details=details,
            )
            return
        yield self.unknown(
            "the delta that is claimed lies between what is proved and what is refuted",
            witness=witness,
            details=details,
        )

    def least_within_delta(self) -> Iterator[Answer]:
        """The smallest epsilon at a delta, between two numbers that differ by little."""
        if self.budget.delta == 0:
            yield self.unknown(
                "with Gaussian, uniform or truncated noise there is no epsilon without a delta: ask with one (--delta 1e-6)"
            )
            return
        low = high = Fraction(0)
        while not self._holds(high):
            if high > _LARGEST_EPSILON:
                yield self.unknown(f"no epsilon up to {_LARGEST_EPSILON} is enough")
                return
            low, high = high, 2 * high or Fraction(1)
        for _ in range(_HALVINGS if high > 0 else 0):
            middle = (low + high) / 2
            low, high = (low, middle) if self._holds(middle) else (middle, high)
        upper = epsilon(to_grid(high, up=True, parts=_GRID))
        _, (i, j, excess) = self.most(epsilon(low))
        lower = _epsilon_of(excess, self.budget.delta, epsilon(0))
        more = {}
        if lower.compare(epsilon(0)) > 0 and excess.regions:
            more["below"] = lower_bound(lower, region_evidence(i, j, excess.regions))
        yield self.known(
            status="proved",
            question=self.question.under(replace(self.budget, epsilon=upper)),
            evidence=divergence_evidence(),
            more=more,
            lower=lower if more else epsilon(0),
            upper=upper,
            witness=self.region_witness(i, j, excess),
        )

    def _holds(self, value: Fraction) -> bool:
        upper, _ = self.most(epsilon(value))
        return bool(upper <= self.budget.delta)

    def region_witness(self, left: int, right: int, excess: Excess) -> RunWitness | None:
        """An event with its probabilities, enclosed."""
        if not excess.regions:
            return None
        text = " or ".join(region.text for region in excess.regions[:4]) + (", ..." if len(excess.regions) > 4 else "")
        sides = [self.data_of(k) for k in (left, right)]
        return Witness(sides[0], sides[1], ObservedRun(text), Ball.of(excess.p), Ball.of(excess.q))


def _epsilon_of(excess: Excess, delta: Rational, least: Epsilon) -> Epsilon:
    """The epsilon that an event asks for at a delta, rounded down; at least a given one."""
    with precision(_BITS):
        if not (excess.p > delta and excess.q > 0):
            return least
        low, _ = rational_bounds(((excess.p - arb(delta)) / excess.q).log())
    found = epsilon(to_grid(low, up=False)) if low > 0 else least
    return max_of(found, least)


def _drop_tiny_event(excess: Excess) -> Excess:
    """An excess without its event where that is too unlikely to be written down."""
    return excess if excess.p > arb(2) ** -_LEAST else Excess(excess.upper, excess.least, (), arb(0), arb(0))


def delta_details(low: arb, high: arb) -> RunDetails:
    """Between which numbers a delta lies."""
    return RunDetails((_outward(low, up=False), _outward(high, up=True)))


def _outward(value: arb, *, up: bool) -> Fraction:
    """An end of a ball around a number that is at least 0, with some digits, rounded outwards."""
    ball = value.upper() if up else value.lower()
    if ball <= 0:
        return Fraction(0)
    if ball < arb(2) ** -_LEAST:
        return Fraction(1, 2**_LEAST) if up else Fraction(0)
    return to_digits(rational_bounds(ball)[up], up=up)
