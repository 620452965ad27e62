"""Promises: noise whose centre differs, or that is truncated, does not go far, except with a small probability that is paid for by delta.

An alignment need not work on all runs: what it does on a set of runs with probability delta does not matter.  A key that only one side
holds passes a threshold, a test passes next to where it must not, noise leaves the range of truncated noise: all this takes noise that
goes far.  How far is not read off the program: it is as far as the claimed delta pays for.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from math import ceil, exp, floor, inf, log, sqrt
from statistics import NormalDist
from typing import Literal

from flint import arb

from privproof.compiling.relational import Program
from privproof.compiling.scales import Scale
from privproof.compiling.sorts import OTHERS, PLACE, RANKED
from privproof.engines.integrals.discrete_normal import Lattice
from privproof.exact import fraction, rational
from privproof.exact.balls import precision, rational_bounds
from privproof.exact.normal import normal_below
from privproof.language.flow import instruction_reads
from privproof.language.laws import GAUSSIAN, TRUNCATED, WHOLE
from privproof.language.syntax import Expression, Operation
from privproof.language.walking import variables, within

Side = Literal["below", "above", "against"]

_BITS = 128
"""Bits of the balls; the checker decides with its own."""
_GRID = 10**9
"""How far noise may go is rounded up to multiples of its inverse scale."""
_KINDS = ("laplace", "gaussian", TRUNCATED, *WHOLE)
"""Noise whose tails are known."""
_COMPARED = ("<", "<=", ">", ">=", "==", "!=")
_TIMES = (1, 2)
"""How often a promise may be given: a record that is added or removed changes one count, one that is replaced two."""
_SIDES: tuple[Side, ...] = ("against", "below", "above")


@dataclass(frozen=True)
class PromiseLaw:
    """The law of noise: its kind, and its scale, alpha for geometric noise, the variance for discrete Gaussian noise.

    Attributes:
        kind: the kind.
        scale: the scale.
        bound: of truncated noise how far it goes.
    """

    kind: str
    scale: Fraction
    bound: Fraction | None = None

    @classmethod
    def of(cls, kind: str, scale: Scale) -> PromiseLaw:
        """The law of noise of a kind, whose scale is a number."""
        bound = None if scale.bound is None else fraction(scale.bound)
        return cls(kind, fraction(scale.alpha if kind == "geometric" else scale.factor), bound)

    @property
    def sides(self) -> tuple[Side, ...]:
        """What may be promised: of truncated noise first that it stays in its range when it makes up for its centre."""
        return _SIDES[1:] if self.bound is None else _SIDES

    def beyond(self, far: Fraction) -> arb:
        """How likely it is to go so far to one side."""
        if self.kind == "geometric":
            alpha = arb(rational(self.scale))
            return alpha ** int(far) / (1 + alpha)
        if self.kind == "discrete_gaussian":
            return Lattice(((rational(self.scale), 1),)).above(int(far))
        scales = arb(rational(far / self.scale))
        if self.bound is not None:
            last = arb(rational(-self.bound / self.scale)).exp()
            return ((-scales).exp() - last) / (2 * (1 - last)) if far < self.bound else arb(0)
        return normal_below(-scales) if self.kind == "gaussian" else (-scales).exp() / 2

    def farthest(self, share: Fraction) -> Fraction | None:
        """About the least distance that it goes to one side with at most this probability; None where it is 0 or below."""
        if not 0 < share < Fraction(1, 2):
            return None
        found = {
            "laplace": lambda p: -log(2 * p),
            TRUNCATED: lambda p: -log(2 * p + (1 - 2 * p) * exp(-float((self.bound or 0) / self.scale))),
            "gaussian": lambda p: -NormalDist().inv_cdf(p),
            "discrete_gaussian": lambda p: -NormalDist().inv_cdf(p) * sqrt(self.scale),
            "geometric": lambda p: log(p * (1 + self.scale)) / log(self.scale),
        }[self.kind](float(share))
        if not 0 < found < inf:
            return None
        whole = self.kind in WHOLE
        far = Fraction(floor(found)) if whole else Fraction(floor(found * _GRID), _GRID) * self.scale
        step = Fraction(1) if whole else self.scale / _GRID
        with precision(_BITS):
            for _ in range(4):
                if far > 0 and self.beyond(far) <= arb(rational(share)):
                    return far
                far += step
        return None


@dataclass(frozen=True)
class Promise:
    """A promise about all noise of one law around centres that differ.

    Attributes:
        number: which one it is.
        law: the law.
        side: on which side the noise does not go far; *against*: to where its centre comes from.
        far: how far it goes where the promise is broken.
        times: how often it is given at most.
        always: whether it is given at every draw, also where the centre is the same: a threshold may move.
        paid: whether it is given only where the centre falls.  Where it rises from 0 or below, the two runs draw by themselves, run 2
            keeps the promise, and a shift of at least this size has to pay for it.
    """

    number: int
    law: PromiseLaw
    side: Side
    far: Fraction
    times: int
    always: bool = False
    paid: Fraction | None = None

    @property
    def group(self) -> tuple[str, ...]:
        """What counts how often it is given."""
        return ("tail", str(self.number))

    @property
    def price(self) -> Fraction:
        """How likely it is to be broken, at all draws together, rounded up."""
        with precision(_BITS):
            _, high = rational_bounds(self.times * self.law.beyond(self.far))
        return Fraction(ceil(fraction(high) * 10**30), 10**30)

    def within(self, delta: Fraction) -> Promise | None:
        """The same promise at another price, if there is one."""
        far = self.law.farthest(delta / self.times)
        return None if far is None else replace(self, far=far)

    def alone(self) -> Promise | None:
        """The same where the centre falls; run 2 keeps it where the centre rises, and a shift pays for that, if it can."""
        kept = 1 - float(self.price) / self.times
        if self.law.kind == "laplace" and 0 < kept < 1:
            return replace(self, paid=Fraction(ceil(-log(kept) * _GRID) + 1, _GRID) * self.law.scale)
        return replace(self, paid=Fraction(1)) if self.law.kind == "geometric" and self.law.scale < kept else None


def _compares(part: Expression, program: Program) -> bool:
    """Whether noise takes part in a comparison."""
    return isinstance(part, Operation) and part.name in _COMPARED and bool(program.noisy.intersection(variables(part)))


def laws(program: Program) -> tuple[PromiseLaw, ...]:
    """The laws of noise that something may be promised about."""
    if program.mechanism.stream is not None or any(step.noise in (PLACE, OTHERS, RANKED) for step in program.sites):
        return ()
    if not any(step.noise == TRUNCATED for step in program.sites) and not any(
        _compares(part, program) for step in program.code for e in instruction_reads(step) for part in within(e)
    ):
        return ()  # how far noise goes makes no difference
    known = [step for step in program.sites if step.noise in _KINDS and not program.scale(step).names]
    return tuple(dict.fromkeys(PromiseLaw.of(step.noise, program.scale(step)) for step in known))


def promises(program: Program, delta: Fraction) -> Iterator[Promise]:
    """Promises that a delta pays for, the likeliest to help first."""
    known = laws(program)
    twice = program.relation == "one" and not any(law.kind in GAUSSIAN for law in known)
    for always in (False, True):
        for times in _TIMES:
            for side in _SIDES:
                for law in known:
                    far = law.farthest(delta / times)
                    if far is None or side not in law.sides or (always and law.bound is None):
                        continue
                    given = Promise(0, law, side, far, times, always)
                    yield given
                    alone = given.alone() if twice and (times, side, always) == (1, "below", False) else None
                    if alone is not None:
                        yield alone
