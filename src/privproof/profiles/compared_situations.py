"""Two situations that must look alike, and the two distributions of what is seen in them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias

from privproof.exact import Rational
from privproof.profiles.delta_curves import Curve

Output: TypeAlias = tuple["str | None", ...]
"""What was seen, letter by letter; None where a step showed nothing."""


@dataclass(frozen=True)
class SeenOutcome:
    """What an observer may have seen in the end, with its probability in both situations."""

    output: Output
    left: Rational
    right: Rational

    def __str__(self) -> str:
        return " ".join("·" if symbol is None else symbol for symbol in self.output) or "nothing"


@dataclass(frozen=True)
class InputMove:
    """A choice of inputs in a situation where they depend on what was seen: after these outputs, these two inputs."""

    after: Output
    left: str
    right: str

    def __str__(self) -> str:
        seen = " ".join("·" if symbol is None else symbol for symbol in self.after)
        return f"{f'after {seen}: ' if seen else ''}{self.left} | {self.right}"


@dataclass(frozen=True)
class Situation:
    """Two situations that must look alike.

    Attributes:
        pair: the name of the pair of initial distributions (the public inputs, or the secret).
        left: the inputs on the left, where they are fixed beforehand.
        right: the inputs on the right.
        moves: the inputs on both sides, where they are chosen by what was seen before.
    """

    pair: str
    left: tuple[str, ...] = ()
    right: tuple[str, ...] = ()
    moves: tuple[InputMove, ...] = ()

    def __str__(self) -> str:
        parts = [] if self.pair == "neighbours" else [self.pair]
        if self.left or self.right:
            parts.append(f"inputs {' '.join(self.left)} against {' '.join(self.right)}")
        if self.moves:
            parts.append(f"inputs {'; '.join(map(str, self.moves))}")
        return ", ".join(parts) or self.pair


@dataclass(frozen=True)
class SituationComparison:
    """Two situations and the two distributions of what is seen."""

    situation: Situation
    outcomes: tuple[SeenOutcome, ...]

    @cached_property
    def curve(self) -> Curve:
        """The likelihoods."""
        return Curve.of((outcome.left, outcome.right) for outcome in self.outcomes)
