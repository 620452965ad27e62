"""Gaussian chains as priors: what an adversary believes about a correlated series of real numbers, such as readings of a meter.

All entries have normal laws with one variance, and given an entry what comes before it and what comes after it are independent.  The
class of priors is all such series in which the correlation of every entry with the next one lies within bounds.  The means may be
anything, also others for every entry: they move no difference between two laws.  So may the variance be, or anything from a number on.

The secrets are the values of single entries: any two numbers a and b that are no further apart than a distance.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import repeat
from typing import Any, Literal, TypeAlias

from privproof.errors import ScenarioError
from privproof.exact import ZERO, Number, Rational, decimal, rational, show

_LARGEST = rational(10**40)
"""The search for a noise uses floats: how far values are apart, and their variance, stay within this and its inverse, or are refused."""

Ends: TypeAlias = tuple[Rational, Rational]
"""The least and the greatest number of an interval."""
Correlation: TypeAlias = "Number | tuple[Number, Number] | list[Number]"
"""A correlation, or the least and the greatest one."""


@dataclass(frozen=True)
class GaussianChain:
    """All Gaussian chains with such correlations.

    Attributes:
        steps: the bounds on the correlation of an entry with the next one: one pair for all steps, or one for each.
        distance: so far the two values of an entry are apart at most that must not be told apart.
        values: the range of the values; entries are cut off at its ends before anything is computed from them.  None for all numbers.
        start: whether the first entry varies as much as the others, or (``"narrower"``) at most as much, so that it may be known.
        variance: what the variance of an entry is at least; 0 where nothing is said.
        name: how reports call it.
    """

    steps: tuple[Ends, ...]
    distance: Rational
    values: Ends | None = None
    start: Literal["stationary", "narrower"] = "stationary"
    variance: Rational = ZERO
    name: str = ""

    @classmethod
    def of(
        cls,
        correlation: Correlation,
        *,
        distance: Number | None = None,
        values: tuple[Number, Number] | None = None,
        start: Literal["stationary", "narrower"] = "stationary",
        variance: Number | None = None,
        name: str = "",
    ) -> GaussianChain:
        """All chains whose neighbours have this correlation, or one within bounds (low, high), which may change from step to step.

        Args:
            correlation: a number, or the least and the greatest one.
            distance: so far two values of an entry may be apart; without it as far as the range of the values.
            values: the least and the greatest value.
            start: ``"stationary"``, or ``"narrower"`` where the first entry may vary less than the others.
            variance: what the variance of an entry is at least, where that is to count (the method ``own``).
            name: how reports call it.

        Raises:
            ScenarioError: a correlation that is not between -1 and 1, no range and no distance, or a distance beyond the range.

        >>> GaussianChain.of(("0.8", "0.9"), values=(0, 100))
        <a Gaussian chain with correlations 4/5..9/10, values within 0..100, distance 100>
        """
        return cls._made((_bounds(correlation, "correlation"),), distance, values, start, variance, name)

    @classmethod
    def schedule(
        cls,
        correlations: Sequence[Correlation],
        *,
        distance: Number | None = None,
        values: tuple[Number, Number] | None = None,
        start: Literal["stationary", "narrower"] = "stationary",
        variance: Number | None = None,
        name: str = "",
    ) -> GaussianChain:
        """The same with a correlation, or bounds, for every step: one less than there are entries."""
        steps = tuple(_bounds(each, f"correlations[{i}]") for i, each in enumerate(correlations))
        if len(steps) < 2:
            raise ScenarioError(
                "correlation", f"{len(steps)} steps", place="correlations", hint="GaussianChain.of for a single one"
            )
        return cls._made(steps, distance, values, start, variance, name)

    @classmethod
    def _made(
        cls,
        steps: tuple[Ends, ...],
        distance: Number | None,
        values: Any,
        start: Any,
        variance: Number | None,
        name: str,
    ) -> GaussianChain:
        limits = None
        if values is not None:
            if not isinstance(values, tuple | list) or len(values) != 2:
                raise ScenarioError("values", f"{values!r} is no range", place="values", hint="values=(0, 100)")
            limits = rational(values[0]), rational(values[1])
            if limits[0] >= limits[1]:
                said = f"the range {show(limits[0])}..{show(limits[1])} is empty"
                raise ScenarioError("values", said, place="values", hint="the least value first")
        if distance is None and limits is None:
            raise ScenarioError(
                "secrets",
                "how far apart are the values that must not be told apart?",
                place="distance",
                hint="values=(0, 100), or distance=20",
            )
        apart = rational(distance) if distance is not None else limits[1] - limits[0]  # type: ignore[index]
        if apart <= 0:
            raise ScenarioError("secrets", f"distance = {show(apart)}", place="distance", hint="a distance above 0")
        if limits is not None and apart > limits[1] - limits[0]:
            said = f"no two values within {show(limits[0])}..{show(limits[1])} are {show(apart)} apart"
            raise ScenarioError("secrets", said, place="distance", hint=f"at most {show(limits[1] - limits[0])}")
        if start not in ("stationary", "narrower"):
            raise ScenarioError("start", f"{start!r} is no start", place="start", hint='"stationary" or "narrower"')
        least = ZERO if variance is None else rational(variance)
        if variance is not None and least <= 0:
            raise ScenarioError("variance", f"it is {show(least)}", place="variance", hint="above 0, or nothing")
        for what, number in (("distance", apart), ("variance", least)):
            if number != 0 and not 1 / _LARGEST <= number <= _LARGEST:
                said = f"{what} = {decimal(number)}; between 10^-40 and 10^40 is possible"
                raise ScenarioError(what, said, place=what, hint="another unit: thousands instead of single ones")
        return cls(steps, apart, limits, start, least, name)

    @property
    def states(self) -> tuple[str, ...]:
        """None: values are numbers and have no names."""
        return ()

    def bounds(self, length: int) -> Iterator[Ends]:
        """The bounds on the correlation of every entry with the next one, in a series of this length.

        Raises:
            ScenarioError: there is another number of steps.
        """
        if len(self.steps) > 1 and len(self.steps) != length - 1:
            said = f"correlations for {len(self.steps)} steps, and a series of length {length}"
            raise ScenarioError("length", said, place="length", hint=f"length={len(self.steps) + 1}")
        return iter(self.steps) if len(self.steps) > 1 else repeat(self.steps[0], length - 1)

    def over_gaps(self) -> GaussianChain:
        """The class where entries may be missing: the correlation over a gap is a product, nearer to 0 than its factors.

        Raises:
            ScenarioError: every step has correlations of its own, and a missing entry moves them.
        """
        if len(self.steps) > 1:
            raise ScenarioError(
                "gaps", "entries are missing, and every step has its own correlation", place="correlations"
            )
        low, high = self.steps[0]
        most = max(-low, high)
        return replace(self, steps=((ZERO if low >= 0 else -most, most),))

    def cut(self, value: Rational) -> Rational:
        """A value, or the end of the range that it lies beyond."""
        return value if self.values is None else min(max(value, self.values[0]), self.values[1])

    def __repr__(self) -> str:
        return f"<{self}>"

    def __str__(self) -> str:
        low, high = min(low for low, _ in self.steps), max(high for _, high in self.steps)
        told = f"correlation {low}" if low == high else f"correlations {low}..{high}"
        within = "" if self.values is None else f", values within {self.values[0]}..{self.values[1]}"
        start = "" if self.start == "stationary" else ", narrower start"
        varies = "" if self.variance == 0 else f", variance {self.variance} or more"
        return f"{self.name or 'a Gaussian chain'} with {told}{within}, distance {self.distance}{varies}{start}"


def _bounds(given: Any, place: str) -> Ends:
    pair = given if isinstance(given, tuple | list) else (given, given)
    if len(pair) != 2:
        raise ScenarioError("correlation", f"{given!r}", place=place, hint='"0.9", or ("0.8", "0.95")')
    low, high = rational(pair[0]), rational(pair[1])
    if not -1 < low <= high < 1:
        said = f"correlation {show(low)}" if low == high else f"correlations from {show(low)} to {show(high)}"
        hint = "between -1 and 1; entries that determine each other are one entry"
        raise ScenarioError("correlation", said, place=place, hint=hint)
    return low, high
