"""The distribution of a mechanism's output by running the function itself on all its random choices.

This is the definition, taken literally: the Python function runs as it is, once for every sequence of outcomes that its noise may
have, and every run adds its probability to its output.  Nothing of the translation takes part, so it is a check on all of it.
The likeliest runs come first; where there are too many (or infinitely many) the rest is left over, as a mass that is known exactly.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import count
from typing import Any, TypeVar

from privproof.errors import LanguageError
from privproof.exact import ONE, ZERO, Rational, fraction, rational
from privproof.language.laws import Continuous, Geometric, Law, Table
from privproof.language.mechanism import Mechanism
from privproof.language.noise import drawing

Result = TypeVar("Result")


@dataclass(frozen=True)
class Run:
    """What a run showed.

    Attributes:
        value: what the function returned; for a generator the list of what it yielded.
        written: for a stream, what it wrote after each answer that it read (what it wrote before the first counts for the first).
        ended: whether it ended by itself (always, unless the stream ran out).
    """

    value: Any
    written: tuple[tuple[Any, ...], ...] = ()
    ended: bool = True


@dataclass(frozen=True)
class Outputs:
    """Runs with their probabilities, and the mass of the runs not made."""

    runs: tuple[tuple[Run, Fraction], ...]
    left_over: Fraction

    def probability(self, event: Callable[[Run], bool]) -> tuple[Fraction, Fraction]:
        """Bounds on the probability of an event: equal if no run is left over."""
        found = sum((p for run, p in self.runs if event(run)), Fraction(0))
        return found, found + self.left_over

    def distribution(self) -> dict[str, Fraction]:
        """The probability of every output seen, by how it prints.

        Raises:
            LanguageError: runs are left over, so the probabilities are not exact.
        """
        if self.left_over:
            raise LanguageError(
                "runs", f"runs with probability {self.left_over} were not made", hint="allow more runs: most=1000000"
            )
        result: dict[str, Fraction] = {}
        for run, p in self.runs:
            result[repr(run.value)] = result.get(repr(run.value), Fraction(0)) + p
        return result


class _RanOut(BaseException):
    """The stream has no further answer."""


class _TooLong(BaseException):
    """A run draws noise again and again and is given up."""


_DRAWS = 60
"""A run that draws so often after its given beginning is given up; the runs that branch off from it are not."""


@dataclass(order=True)
class _Path:
    """A sequence of choices, likelier ones first."""

    unlikely: float
    number: int
    choices: tuple[int, ...] = field(compare=False)


def outputs(
    mechanism: Mechanism, arguments: Mapping[str, Any], *, most: int = 100_000, enough: Fraction = Fraction(1, 10**6)
) -> Outputs:
    """All runs of a mechanism on its arguments, the likeliest first.

    Args:
        mechanism: the mechanism.
        arguments: its inputs by name.
        most: after so many runs the rest is left over.
        enough: where there are infinitely many runs: a mass that may be left over.

    >>> from privproof.language import mechanism, one_of, randomized_response
    >>> @mechanism
    ... def survey(ill: one_of(True, False)):
    ...     return randomized_response(ill, truth="3/4")
    >>> outputs(survey, {"ill": True}).distribution()
    {'True': Fraction(3, 4), 'False': Fraction(1, 4)}
    """
    runs, left_over = explored(lambda: run(mechanism, arguments), most=most, enough=enough)
    return Outputs(tuple(runs), left_over)


def explored(
    call: Callable[[], Result], *, most: int = 100_000, enough: Fraction = Fraction(1, 10**6)
) -> tuple[list[tuple[Result, Fraction]], Fraction]:
    """The results of a call on all its random choices with their probabilities, the likeliest first, and the mass left over.

    >>> from privproof.language.noise import bernoulli
    >>> explored(lambda: (bernoulli("1/3"), bernoulli("1/2")))[0][0]
    ((False, True), Fraction(1, 3))
    """
    waiting = [_Path(-1.0, 0, ())]
    numbers = count(1)
    found: list[tuple[Result, Fraction]] = []
    made = ZERO
    endless = False
    tried, given_up = 0, False
    while waiting and tried < most and not (endless and 1 - made <= rational(enough)):
        path = heapq.heappop(waiting)
        player = _Player(path.choices)
        tried += 1
        try:
            with drawing(player.draw):
                result = call()
            made += player.probability
            found.append((result, fraction(player.probability)))
        except _TooLong:
            given_up = True
        endless = endless or player.endless or given_up
        for choices, probability in player.others:
            heapq.heappush(waiting, _Path(-float(probability), next(numbers), choices))
    return found, fraction(1 - made) if waiting or given_up else Fraction(0)


class _Player:
    """Gives the noise functions the outcomes of one path, and notes the paths that branch off after its given beginning."""

    def __init__(self, choices: tuple[int, ...]) -> None:
        self.given = choices
        self.made: list[int] = []
        self.probability = ONE
        self.others: list[tuple[tuple[int, ...], Rational]] = []
        self.endless = False

    def draw(self, law: Law) -> Any:
        position = len(self.made)
        if position > len(self.given) + _DRAWS:
            raise _TooLong
        if position < len(self.given):
            chosen = self.given[position]
        else:
            chosen = 0
        if position >= len(self.given) - 1:
            self._branch(law, chosen, new=position >= len(self.given))
        self.made.append(chosen)
        value, probability = _outcome(law, chosen)
        self.probability *= probability
        return value

    def _branch(self, law: Law, chosen: int, *, new: bool) -> None:
        """Note the other outcomes; of infinitely many only the next one, which will note the one after it."""
        beginning = tuple(self.made)
        if isinstance(law, Table):
            if new:
                for other in range(1, len(law.ranked)):
                    self.others.append(((*beginning, other), self.probability * _outcome(law, other)[1]))
        elif isinstance(law, Geometric):
            self.endless = True
            self.others.append(((*beginning, chosen + 1), self.probability * _outcome(law, chosen + 1)[1]))


def _outcome(law: Law, chosen: int) -> tuple[Any, Rational]:
    match law:
        case Table():
            return law.ranked[chosen]
        case Geometric(center, alpha):
            distance = (chosen + 1) // 2
            value = center + (distance if chosen % 2 else -distance)
            base = rational(alpha)
            return value, (1 - base) / (1 + base) * base**distance
        case Continuous(kind):
            raise LanguageError("continuous", f"{kind} noise is continuous: its runs cannot be listed")


def run(
    mechanism: Mechanism, arguments: Mapping[str, Any], watch: Callable[[Sequence[Any]], None] | None = None
) -> Run:
    """One run of a mechanism on its arguments.

    Args:
        mechanism: the mechanism.
        arguments: its inputs by name.
        watch: called with the outputs so far after each of them; may raise to leave the run.
    """
    given = {name: list(value) if isinstance(value, list) else value for name, value in arguments.items()}
    written: list[list[Any]] = []
    stream = mechanism.stream
    if stream is not None:
        given[stream] = _stream(given[stream], written)
    early: list[Any] = []
    try:
        result = mechanism(**given)
        if mechanism.generator:
            collected = []
            for value in result:
                collected.append(value)
                if watch is not None:
                    watch(collected)
                (written[-1] if written else early).append(value)
            result = collected
        elif stream is not None:
            (written[-1] if written else early).append(result)
        ended = True
    except _RanOut:
        result, ended = None, False
    except LanguageError:
        raise
    except Exception as error:
        shown = ", ".join(f"{name}={value!r}" for name, value in arguments.items())
        raise LanguageError(
            "run",
            f"{type(error).__name__}: {error}, on {shown}",
            place=mechanism.name,
            hint="the mechanism itself fails here",
        ) from None
    if written:
        written[0] = early + written[0]
    elif stream is not None and early:
        written = [early]
    return Run(result, tuple(map(tuple, written)), ended)


def _stream(values: Sequence[Any], written: list[list[Any]]) -> Iterator[Any]:
    for value in values:
        written.append([])
        yield value
    raise _RanOut
