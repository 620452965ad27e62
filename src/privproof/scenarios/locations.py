"""Questions about mechanisms for locations: is the loss at most epsilon for each unit of distance?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from privproof.exact import Budget, Epsilon


@dataclass(frozen=True)
class LocationQuestion:
    """A mechanism that reports locations, and the epsilon that is claimed for each unit of distance.

    Attributes:
        mechanism: the mechanism.
        epsilon: the claim.
        sites: the sites that are compared; None for all places.
    """

    mechanism: Any
    epsilon: Epsilon
    sites: tuple[tuple[int, int], ...] | None = None

    @property
    def name(self) -> str:
        """How reports call it."""
        return str(self.mechanism)

    @property
    def budget(self) -> Budget:
        """The claim as a budget, for a unit of distance."""
        return Budget(self.epsilon)
