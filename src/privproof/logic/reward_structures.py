"""Rewards of a process: what a run collects in its states and by its choices."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from privproof.errors import ModelError
from privproof.exact import ZERO, Rational, show

Ints: TypeAlias = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Rewards:
    """Numbers, none of them negative, for the states and the choices of a process.

    A run collects the reward of a state, and that of the choice taken there, when it leaves the state.

    Attributes:
        states: for every state which of `numbers` is its reward.
        choices: for every choice which of `numbers` is its reward; of an action whose reward depends on chance, the expected one.
        numbers: the distinct rewards.
    """

    states: Ints
    choices: Ints
    numbers: tuple[Rational, ...]

    @classmethod
    def of(cls, states: Iterable[Rational], choices: Iterable[Rational], *, place: str = "rewards") -> Rewards:
        """The rewards of states and choices, given one after the other.

        >>> from privproof.exact import rational
        >>> found = Rewards.of([rational(1), rational(0)], [rational("1/2")])
        >>> found.of_state(0), found.of_choice(0), found.leaving(1, 0)
        (1, 1/2, 1/2)
        """
        known: dict[Rational, int] = {ZERO: 0}
        listed = [
            np.array([known.setdefault(number, len(known)) for number in part], np.int64) for part in (states, choices)
        ]
        least = min(known)
        if least < 0:
            raise ModelError(
                "reward", f"the reward {show(least)} is negative", place=place, hint="rewards are 0 or more"
            )
        return cls(listed[0], listed[1], tuple(known))

    def of_state(self, state: int) -> Rational:
        """The reward of a state."""
        return self.numbers[int(self.states[state])]

    def of_choice(self, choice: int) -> Rational:
        """The reward of a choice."""
        return self.numbers[int(self.choices[choice])]

    def leaving(self, state: int, choice: int) -> Rational:
        """What a run collects that leaves a state by a choice."""
        return self.of_state(state) + self.of_choice(choice)

    def extended(self, choices: int) -> Rewards:
        """The rewards with one more state and so many more choices, all of reward 0."""
        zero = self.numbers.index(ZERO) if ZERO in self.numbers else len(self.numbers)
        numbers = self.numbers if zero < len(self.numbers) else (*self.numbers, ZERO)
        return Rewards(np.append(self.states, zero), np.append(self.choices, np.full(choices, zero)), numbers)
