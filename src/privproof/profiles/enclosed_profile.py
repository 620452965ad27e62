"""Privacy profiles between two curves, where noise is continuous.

Such a profile is a question; every point of it is asked for when it is looked at, proved from above and refuted from
below, and what engines prepare for one point serves all others.  Profiles are composed by composing their questions, so that the
composition is enclosed from both sides as well.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from privproof.compiling.composing import composed
from privproof.drawing.showing import ShownCard
from privproof.errors import QuestionError
from privproof.exact import Epsilon, EpsilonLike, Number, Rational, decimal, rational
from privproof.exact import epsilon as exact_epsilon
from privproof.profiles.delta_curves import RealEnclosure
from privproof.profiles.loss_distributions import composed_loss_distribution
from privproof.profiles.profile import Profile
from privproof.profiles.smallest_delta import SmallestDelta
from privproof.scenarios import AnyQuestion

_LARGEST = 4
"""Where delta never becomes 0, points go to this epsilon unless another one is asked for."""


@dataclass(frozen=True)
class Asking:
    """How a profile asks about its points."""

    delta: Callable[[AnyQuestion, Epsilon, dict[str, Any]], SmallestDelta]
    epsilon: Callable[[AnyQuestion, Number], Epsilon | None]


@dataclass(frozen=True)
class EnclosedProfile(ShownCard):
    """How private a mechanism is, for every epsilon: two curves with the true one between them.

    Attributes:
        question: what is asked about, without a claim.
        asking: the two ways to ask: for the smallest delta at an epsilon, and for the smallest epsilon that is proved at a delta.
    """

    question: AnyQuestion
    asking: Asking = field(repr=False, compare=False)
    found: dict[Epsilon, SmallestDelta] = field(default_factory=dict, repr=False, compare=False)
    prepared: dict[str, Any] = field(default_factory=dict, repr=False, compare=False)

    @property
    def name(self) -> str:
        """What it is the profile of."""
        return self.question.name

    def at(self, epsilon: EpsilonLike) -> SmallestDelta:
        """The smallest delta for an epsilon, with the two verdicts that enclose it and their certificates."""
        bound = exact_epsilon(epsilon)
        if bound not in self.found:
            self.found[bound] = self.asking.delta(self.question, bound, self.prepared)
        return self.found[bound]

    def bounds(self, epsilon: EpsilonLike) -> tuple[Rational, Rational]:
        """Rationals between which the smallest delta lies."""
        found = self.at(epsilon)
        return rational(found.lower), rational(found.upper)

    def delta(self, epsilon: EpsilonLike) -> RealEnclosure:
        """The smallest delta for an epsilon, enclosed."""
        return RealEnclosure(*self.bounds(epsilon))

    def epsilon(self, delta: Number) -> Epsilon:
        """The smallest epsilon that is proved for a delta.

        Raises:
            QuestionError: none is proved.
        """
        found = self.asking.epsilon(self.question, delta)
        if found is None or found.infinite:
            raise QuestionError(
                "delta", f"no epsilon is proved at delta {delta}", place=self.name, hint="a larger delta, or a size"
            )
        return found

    def composed(self, *others: EnclosedProfile | Profile, times: int = 1) -> EnclosedProfile:
        """The profile of this mechanism and others together on the same data, all of it so many times, adaptively.

        Args:
            others: profiles of mechanisms that are used beside this one; a finite one is taken by its question.
            times: how often all of it is used.
        """
        return EnclosedProfile(composed(*(each.question for each in (self, *others)), times=times), self.asking)

    def points(self, count: int = 101, *, up_to: Number = _LARGEST) -> tuple[SmallestDelta, ...]:
        """The smallest deltas at so many evenly spaced epsilons, from 0 on."""
        if count < 2:
            raise QuestionError("points", f"count={count}: a curve has at least two points", hint="count=101")
        end = rational(up_to)
        return tuple(self.at(exact_epsilon(end * i / (count - 1))) for i in range(count))

    def csv(self, count: int = 101, *, up_to: Number = _LARGEST) -> str:
        """The points as lines ``epsilon,lower,upper``, to six digits."""
        rows = [
            (each.epsilon.decimal(), decimal(rational(each.lower)), decimal(rational(each.upper)))
            for each in self.points(count, up_to=up_to)
        ]
        return "".join(",".join(row) + "\n" for row in (("epsilon", "lower", "upper"), *rows))

    def loss_distribution(self, *, interval: Number = "1e-3", pessimistic: bool = True, at: EpsilonLike = 1) -> Any:
        """The losses for `dp_accounting`, as by `privproof.profiles.composed_loss_distribution`."""
        return composed_loss_distribution(composed(self.question), interval=interval, pessimistic=pessimistic, at=at)
