"""Chains as priors: what an adversary believes about a correlated series, such as one person's activity minute by minute.

A series X_1, ..., X_T is drawn from a Markov chain; the secrets are the values of its entries, and for every entry i no two values
x, x' that are both possible may be told apart (Song, Wang and Chaudhuri 2017).  A class of priors is

* a finite set of `Chain`s, each with a first distribution that is given, stationary, or any at all; or
* a `Band`: all chains, also ones that change from step to step, whose transition probabilities stay within bounds.

Entries are exact: fitted chains are fractions of counts.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, TypeAlias

import numpy as np
from flint import arb, fmpq, fmpq_mat

from privproof.errors import ScenarioError
from privproof.exact import ONE, ZERO, Number, Rational, from_float, rational, show
from privproof.exact.balls import precision
from privproof.models.finite_distributions import distinct_names, distribution

_PARTS = 1_000_000
"""Ends of confidence intervals are multiples of a millionth: finer than a million tries can tell."""
Row: TypeAlias = tuple[Rational, ...]
Start: TypeAlias = "Literal['stationary', 'any'] | tuple[Rational, ...]"


@dataclass(frozen=True)
class Chain:
    """A Markov chain as a prior.

    Attributes:
        states: the values of the series.
        rows: the transition probabilities, row by row in the order of the states.
        start: the distribution of the first value, ``"stationary"``, or ``"any"`` for every distribution.
        name: how reports call it.
    """

    states: tuple[str, ...]
    rows: tuple[Row, ...]
    start: Start = "stationary"
    name: str = ""

    @classmethod
    def of(
        cls,
        transitions: Mapping[str, Mapping[str, Number]],
        *,
        initial: Literal["stationary", "any"] | Mapping[str, Number] = "stationary",
        name: str = "",
    ) -> Chain:
        """A chain from exact numbers.

        Raises:
            ModelError: a row that does not sum to one, an unknown state, a probability outside [0, 1].
            ScenarioError: a stationary start where several distributions are stationary.

        >>> Chain.of({"rest": {"rest": "0.9", "walk": "0.1"}, "walk": {"rest": "0.4", "walk": "0.6"}}).stationary
        (4/5, 1/5)
        """
        states = distinct_names(list(transitions), what="state", place="transitions")
        rows = []
        for state in states:
            row = distribution(
                transitions[state], among=states, what="state", place=f"transitions.{state}", error=ScenarioError
            )
            rows.append(tuple(row.get(target, ZERO) for target in states))
        return cls(states, tuple(rows), _start(initial, states), name)._checked()

    @classmethod
    def from_floats(
        cls,
        matrix: Sequence[Sequence[float]],
        *,
        states: Sequence[str] | None = None,
        initial: Literal["stationary", "any"] | Sequence[float] = "stationary",
        name: str = "",
    ) -> Chain:
        """A chain from a matrix of floats: the exact value of every float, every row divided by its exact sum."""

        def normal(row: Sequence[float], place: str) -> Row:
            exact = [from_float(float(value)) for value in row]
            total = sum(exact, ZERO)
            if any(value < 0 for value in exact) or not fmpq(999, 1000) < total < fmpq(1001, 1000):
                raise ScenarioError("row-sum", f"the entries sum to {show(total)}", place=place, hint="rows sum to 1")
            return tuple(value / total for value in exact)

        names = distinct_names(
            [str(i) for i in range(len(matrix))] if states is None else list(states), what="state", place="states"
        )
        for i, row in enumerate(matrix):
            if len(row) != len(names) or len(matrix) != len(names):
                raise ScenarioError(
                    "row", f"{len(matrix)} rows, {len(row)} entries, {len(names)} states", place=f"matrix[{i}]"
                )
        rows = tuple(normal(row, f"matrix[{i}]") for i, row in enumerate(matrix))
        if not isinstance(initial, str) and len(initial) != len(names):
            raise ScenarioError("row", f"{len(initial)} entries, {len(names)} states", place="initial")
        start: Start = initial if isinstance(initial, str) else normal(initial, "initial")
        return cls(names, rows, start, name)._checked()

    @classmethod
    def fit(
        cls,
        series: Iterable[Sequence[str]],
        *,
        states: Sequence[str] | None = None,
        smoothing: Number = "1/2",
        initial: Literal["stationary", "any"] = "stationary",
        name: str = "",
    ) -> Chain:
        """The chain that series suggest: transitions counted, with so much added to every count, as exact fractions.

        The series should be public ones: a prior that was fitted to the private data itself is a leak of its own.

        >>> Chain.fit([["a", "a", "b", "a"]], smoothing=0).rows
        ((1/2, 1/2), (1, 0))
        """
        counts, names = count_transitions(series, states)
        return cls.counted(counts, states=names, smoothing=smoothing, initial=initial, name=name)

    @classmethod
    def counted(
        cls,
        counts: np.ndarray,
        *,
        states: Sequence[str],
        smoothing: Number = "1/2",
        initial: Literal["stationary", "any"] = "stationary",
        name: str = "",
    ) -> Chain:
        """The chain with given counts of transitions, with so much added to every count."""
        more = rational(smoothing)
        if more < 0:
            raise ScenarioError("smoothing", f"it is {show(more)}", place="smoothing", hint="0 or more, such as 1/2")
        rows = []
        for state, row in zip(states, counts.tolist(), strict=True):
            total = sum(row) + more * len(row)
            if total == 0:
                raise ScenarioError(
                    "row", f"nothing follows {state!r} in the data", place="series", hint="smoothing above 0"
                )
            rows.append(tuple((count + more) / total for count in row))
        return cls(tuple(states), tuple(rows), initial, name)._checked()

    def _checked(self) -> Chain:
        if len(self.states) < 2:
            raise ScenarioError("states", "a chain with one state keeps no secret", place="states", hint="two or more")
        if self.start == "stationary":
            assert self.stationary
        return self

    @cached_property
    def stationary(self) -> Row:
        """The distribution that a step does not change, exactly.

        Raises:
            ScenarioError: there are several, because the chain falls into parts that never meet.
        """
        size = len(self.states)
        system = fmpq_mat(
            size, size, [self.rows[j][i] - (1 if i == j else 0) for i in range(size) for j in range(size)]
        )
        for j in range(size):
            system[size - 1, j] = ONE
        try:
            found = system.solve(fmpq_mat(size, 1, [ZERO] * (size - 1) + [ONE]))
        except ZeroDivisionError:
            raise ScenarioError(
                "stationary",
                "several distributions are stationary: the chain falls into parts that never meet",
                place="initial",
                hint='initial="any", or the first distribution',
            ) from None
        return tuple(found[i, 0] for i in range(size))

    @property
    def law(self) -> Row | None:
        """The distribution of the first value; None where it may be any."""
        if self.start == "any":
            return None
        return self.stationary if self.start == "stationary" else self.start

    @cached_property
    def matrix(self) -> np.ndarray:
        """The transition probabilities as floats, each the nearest one."""
        return np.array([[float(p) for p in row] for row in self.rows])

    @cached_property
    def support(self) -> np.ndarray:
        """Which transitions are possible, however small their probability."""
        return np.array([[p != 0 for p in row] for row in self.rows])

    def following(self, possible: np.ndarray) -> np.ndarray:
        """Which states are possible one step after these."""
        found: np.ndarray = (possible.astype(np.float32) @ self.support) > 0
        return found

    def starting(self, initial: Literal["stationary", "any"] | Mapping[str, Number] | Sequence[Number]) -> Chain:
        """The same steps from another first distribution: by state, or as a row in the order of the states."""
        given: Any = initial
        if isinstance(initial, list | tuple) and len(initial) == len(self.states):
            given = dict(zip(self.states, initial, strict=True))
        return Chain(self.states, self.rows, _start(given, self.states), self.name)._checked()

    def __repr__(self) -> str:
        return f"<{self}>"

    def __str__(self) -> str:
        start = self.start if isinstance(self.start, str) else "given"
        return f"{self.name or 'a chain'} on {len(self.states)} states, {start} start"


@dataclass(frozen=True)
class Band:
    """All chains whose transition probabilities lie within bounds; they may change from step to step, and start anywhere.

    Attributes:
        states: the values of the series.
        low: the least transition probabilities, row by row.
        high: the greatest.
        name: how reports call it.
    """

    states: tuple[str, ...]
    low: tuple[Row, ...]
    high: tuple[Row, ...]
    name: str = ""

    @classmethod
    def of(cls, transitions: Mapping[str, Mapping[str, tuple[Number, Number] | Number]], *, name: str = "") -> Band:
        """A band from pairs (least, greatest), or single numbers.

        >>> band = Band.of({"a": {"a": ("0.3", "0.7"), "b": ("0.3", "0.7")}, "b": {"a": ("0.3", "0.7"), "b": ("0.3", "0.7")}})
        >>> band.low[0], band.high[0]
        ((3/10, 3/10), (7/10, 7/10))
        """
        states = distinct_names(list(transitions), what="state", place="transitions")
        low: list[Row] = []
        high: list[Row] = []
        for state in states:
            given = transitions[state]
            for target in given:
                if target not in states:
                    raise ScenarioError("unknown-name", f"unknown state {target!r}", place=f"transitions.{state}")
            ends = [_ends(given.get(target, 0), f"transitions.{state}.{target}") for target in states]
            least, greatest = sum((a for a, _ in ends), ZERO), sum((b for _, b in ends), ZERO)
            if least > 1 or greatest < 1:
                raise ScenarioError(
                    "row-sum",
                    f"no distribution lies between: the least sum to {show(least)}, the greatest to {show(greatest)}",
                    place=f"transitions.{state}",
                )
            low.append(tuple(a for a, _ in ends))
            high.append(tuple(b for _, b in ends))
        if len(states) < 2:
            raise ScenarioError("states", "a chain with one state keeps no secret", place="states", hint="two or more")
        return cls(states, tuple(low), tuple(high), name)

    @classmethod
    def fit(
        cls,
        series: Iterable[Sequence[str]],
        *,
        confidence: Number = "0.95",
        states: Sequence[str] | None = None,
        name: str = "",
    ) -> Band:
        """All chains that series do not speak against: with this confidence the chain that they were drawn from is among them.

        >>> band = Band.fit([["a", "b"] * 200, ["a", "a", "b", "b"] * 50])
        >>> [f"{float(low):.3f}..{float(high):.3f}" for low, high in zip(band.low[0], band.high[0])]
        ['0.096..0.259', '0.741..0.904']
        """
        counts, names = count_transitions(series, states)
        return cls.counted(counts, states=names, confidence=confidence, name=name)

    @classmethod
    def counted(cls, counts: np.ndarray, *, states: Sequence[str], confidence: Number = "0.95", name: str = "") -> Band:
        """The band of `fit` from counts of transitions.

        Each of the k^2 probabilities has an interval of which all together hold with the confidence (`confidence_interval`).
        """
        level = 1 - rational(confidence)
        if not 0 < level < 1:
            raise ScenarioError(
                "confidence", f"it is {show(1 - level)}", place="confidence", hint="between 0 and 1, such as 0.95"
            )
        share = level / len(states) ** 2
        ends = [[confidence_interval(int(k), int(sum(row)), share) for k in row] for row in counts.tolist()]
        low, high = (tuple(tuple(pair[side] for pair in row) for row in ends) for side in (0, 1))
        return cls(tuple(states), low, high, name or f"all chains within {show(1 - level)} confidence")

    def __repr__(self) -> str:
        return f"<{self}>"

    def __str__(self) -> str:
        return f"{self.name or 'a band of chains'} on {len(self.states)} states, any start"


def count_transitions(
    series: Iterable[Sequence[str]], states: Sequence[str] | None
) -> tuple[np.ndarray, tuple[str, ...]]:
    """How often every state follows every other, and the states: those that are named, or all that occur."""
    listed = [list(values) for values in series]
    seen = dict.fromkeys(value for values in listed for value in values)
    names = distinct_names(sorted(seen) if states is None else list(states), what="state", place="states")
    index = {state: i for i, state in enumerate(names)}
    counts = np.zeros((len(names), len(names)), dtype=np.int64)
    for values in listed:
        try:
            codes = np.fromiter((index[value] for value in values), dtype=np.int64, count=len(values))
        except KeyError as missing:
            raise ScenarioError(
                "unknown-name", f"unknown state {missing.args[0]!r}", place="series", hint="name it in states"
            ) from None
        np.add.at(counts, (codes[:-1], codes[1:]), 1)
    return counts, names


def confidence_interval(hits: int, tries: int, level: Rational) -> tuple[Rational, Rational]:
    """An interval that fails to hold a probability, at any number of tries, with a probability of at most the level.

    How often a chain leaves a state is itself random, so an interval for a fixed number of tries does not do.  Under p, with k hits in n
    tries, ``1 / ((n + 1) C(n, k) p^k (1 - p)^(n - k))`` is the mean over all p' of the ratio of the probabilities under p' and p: a
    martingale that begins at 1, and by Ville's inequality it ever reaches 1/level with a probability of at most the level.  So those p
    count for which ``(n + 1) C(n, k) p^k (1 - p)^(n - k)`` is above the level, an interval around k/n.  Its ends are rounded outward,
    to millionths that are shown to be outside.

    >>> [f"{float(end):.4f}" for end in confidence_interval(30, 100, rational("0.05"))]
    ['0.1694', '0.4572']
    """
    if tries == 0:
        return ZERO, ONE
    with precision(128):
        known = (arb(tries + 1).log() + arb(tries + 1).lgamma() - arb(hits + 1).lgamma()) - arb(
            tries - hits + 1
        ).lgamma()

        def outside(part: int) -> bool:
            if not 0 < part < _PARTS:
                return hits < tries if part else hits > 0
            p = arb(part) / _PARTS
            return bool(known + hits * p.log() + (tries - hits) * (1 - p).log() < arb(level).log())

        nearest = hits * _PARTS // tries
        below, low = -1, nearest  # below is outside, low may be inside
        while low - below > 1:
            middle = (below + low) // 2
            below, low = (middle, low) if outside(middle) else (below, middle)
        high, above = nearest, _PARTS + 1
        while above - high > 1:
            middle = (above + high) // 2
            high, above = (high, middle) if outside(middle) else (middle, above)
    return Rational(max(below, 0), _PARTS), Rational(min(above, _PARTS), _PARTS)


def _ends(value: tuple[Number, Number] | list[Number] | Number, place: str) -> tuple[Rational, Rational]:
    low, high = value if isinstance(value, tuple | list) else (value, value)
    ends = rational(low), rational(high)
    if not 0 <= ends[0] <= ends[1] <= 1:
        raise ScenarioError(
            "probability", f"[{show(ends[0])}, {show(ends[1])}] is no interval within [0, 1]", place=place
        )
    return ends


def _start(initial: Literal["stationary", "any"] | Mapping[str, Number], states: tuple[str, ...]) -> Start:
    if not isinstance(initial, Mapping):
        if initial not in ("stationary", "any"):
            raise ScenarioError(
                "initial",
                f"{initial!r} is no first distribution",
                place="initial",
                hint='"stationary", "any", or a row',
            )
        return initial
    row = distribution(initial, among=states, what="state", place="initial", error=ScenarioError)
    return tuple(row.get(state, ZERO) for state in states)
