"""Questions about mechanisms for locations: is the loss at most epsilon for each unit of distance?"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

from privproof.errors import QuestionError
from privproof.exact import Budget, Epsilon
from privproof.release.locations.location_channels import LocationMechanism
from privproof.release.locations.planar_noise import Site
from privproof.scenarios.any_question import AnyQuestion, Family


@dataclass(frozen=True)
class LocationQuestion(AnyQuestion):
    """A mechanism that reports locations, and the epsilon that is claimed for each unit of distance.

    Attributes:
        mechanism: the mechanism.
        epsilon: the claim.
        sites: the sites that are compared; None for all places.
    """

    family: ClassVar[Family] = "location"

    mechanism: LocationMechanism
    epsilon: Epsilon
    sites: tuple[Site, ...] | None = None

    def under(self, budget: Budget | None) -> LocationQuestion:
        """The same question with another claim for each unit of distance."""
        if budget is not None and budget.delta != 0:
            raise QuestionError("delta", "locations are asked about without a delta", place="delta", hint="drop it")
        return self if budget is None else replace(self, epsilon=budget.epsilon)

    @property
    def name(self) -> str:
        """How reports call it."""
        return str(self.mechanism)

    @property
    def budget(self) -> Budget:
        """The claim as a budget, for a unit of distance."""
        return Budget(self.epsilon)
