"""What an exploration remembers: the states by number, the distinct probabilities, the rows of commands."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

from privproof.exact import ONE, ZERO, Rational, rational, show
from privproof.logic.prism.expression_meanings import Trouble

State: TypeAlias = tuple[int, ...]

_MOST_REMEMBERED = 500_000
"""A table of results is emptied when it has so many entries, to bound the memory; what is needed again is computed again."""


class ProbabilityNumbers:
    """The distinct probabilities, by number; sums and products of them are computed once.

    >>> numbers = ProbabilityNumbers()
    >>> half, third = numbers.number(rational("1/2")), numbers.number(rational("1/3"))
    >>> numbers.all[numbers.plus[half, third]], numbers.all[numbers.times[half, third]], len(numbers.all)
    (5/6, 1/6, 4)
    """

    def __init__(self) -> None:
        self.all: list[Rational] = []
        self._known: dict[Rational, int] = {}
        self.plus = _OperationTable(self, lambda a, b: a + b)
        self.times = _OperationTable(self, lambda a, b: a * b)

    def number(self, value: Rational) -> int:
        """Which number a probability is."""
        found = self._known.get(value)
        if found is None:
            found = self._known[value] = len(self.all)
            self.all.append(value)
        return found


class _OperationTable(dict[tuple[int, int], int]):
    def __init__(self, numbers: ProbabilityNumbers, operation: Callable[[Rational, Rational], Rational]) -> None:
        super().__init__()
        self._numbers, self._operation = numbers, operation

    def __missing__(self, key: tuple[int, int]) -> int:
        if len(self) >= _MOST_REMEMBERED:
            self.clear()
        first, second = (self._numbers.all[number] for number in key)
        found = self[key] = self._numbers.number(self._operation(first, second))
        return found


class StateNumbers(dict[State, int]):
    """The states found so far and their numbers; a new one gets the next."""

    def __init__(self, most: int, full: Callable[[int], Exception]) -> None:
        super().__init__()
        self.states: list[State] = []
        self._most, self._full = most, full

    def __missing__(self, state: State) -> int:
        number = len(self.states)
        if number >= self._most:
            raise self._full(number)
        self[state] = number
        self.states.append(state)
        return number


class Probabilities(dict[Any, tuple[int, ...]]):
    """The probabilities of a command's branches, by the values of the variables that they depend on; -1 stands for zero.

    Args:
        numbers: where the probabilities are numbered.
        compute: the probabilities, from the values of the variables.
        place: where the command stands.
        places: where its branches stand.
    """

    def __init__(
        self, numbers: ProbabilityNumbers, compute: Callable[[Any], Sequence[Any]], place: str, places: Sequence[str]
    ) -> None:
        super().__init__()
        self._numbers, self._compute, self._place, self._places = numbers, compute, place, places

    def __missing__(self, key: Any) -> tuple[int, ...]:
        if len(self) >= _MOST_REMEMBERED:
            self.clear()
        values = [rational(value) for value in self._compute(key)]
        for value, place in zip(values, self._places, strict=True):
            if value < 0:
                raise Trouble(place, "probability", f"the probability {show(value)} is negative")
        total = sum(values, ZERO)
        if total != ONE:
            raise Trouble(
                self._place,
                "row-sum",
                f"the probabilities of the command sum to {show(total)} instead of 1: {show(abs(1 - total))} is "
                + ("too much" if total > 1 else "missing"),
                "the probabilities of a command sum to exactly one",
            )
        found = self[key] = tuple([self._numbers.number(value) if value else -1 for value in values])
        return found
