"""Runs of a mechanism on its data: one of them, and all of them with their probabilities.

The Python function runs as it is, once for every sequence of outcomes that its noise may have (`scripts`), and every run adds its
probability to its output.  Nothing of the translation takes part, so it is a check on all of it.  The likeliest runs come first; where
there are too many (or infinitely many) the rest is left over, as a mass that is known exactly.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, nullcontext, redirect_stdout
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from privproof.errors import LanguageError
from privproof.language.inputs import as_given
from privproof.language.linear import beside_floats, counting_floats, exactly
from privproof.language.mechanism import Mechanism
from privproof.language.patterns import in_parts
from privproof.language.recognition import controlled_libraries
from privproof.language.scripts import weighted_results


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


def outputs(
    mechanism: Mechanism,
    arguments: Mapping[str, Any],
    *,
    most: int = 100_000,
    enough: Fraction = Fraction(1, 10**6),
    longest: int | None = None,
) -> Outputs:
    """All runs of a mechanism on its arguments, the likeliest first.

    Args:
        mechanism: the mechanism.
        arguments: its inputs by name.
        most: after so many runs the rest is left over.
        enough: where there are infinitely many runs: a mass that may be left over.
        longest: a run with more random choices is taken for one of infinitely many; None where no run is, however long.

    >>> from privproof.language import mechanism, one_of, randomized_response
    >>> @mechanism
    ... def survey(ill: one_of(True, False)):
    ...     return randomized_response(ill, truth="3/4")
    >>> outputs(survey, {"ill": True}).distribution()
    {'True': Fraction(3, 4), 'False': Fraction(1, 4)}
    """
    with recognised_noise(mechanism):  # once for all runs
        runs, left_over = weighted_results(
            lambda: run_once(mechanism, arguments), most=most, enough=enough, longest=longest
        )
    return Outputs(tuple(runs), left_over)


def run_once(
    mechanism: Mechanism, arguments: Mapping[str, Any], watch: Callable[[Sequence[Any]], None] | None = None
) -> Run:
    """One run of a mechanism on its arguments.

    Args:
        mechanism: the mechanism.
        arguments: its inputs by name.
        watch: called with the outputs so far after each of them; may raise to leave the run.
    """
    with recognised_noise(mechanism), redirect_stdout(_Silence()):
        return _ran(mechanism, arguments, watch)


class _Silence(io.TextIOBase):
    """Where what a mechanism prints goes while it is looked at."""

    def write(self, text: str) -> int:
        return len(text)


def recognised_noise(mechanism: Mechanism) -> AbstractContextManager[Any]:
    """Where noise of libraries is drawn like the noise of this package, if the mechanism was translated as having any."""
    kept = vars(mechanism).get("kept")
    ordinary = kept is not None and kept.translated.ordinary
    if not ordinary:
        return nullcontext()
    function: Any = mechanism.function
    entered = ExitStack()
    entered.enter_context(counting_floats())
    entered.enter_context(controlled_libraries(function.__globals__, getattr(function, "__self__", None)))
    return entered


def _ran(mechanism: Mechanism, arguments: Mapping[str, Any], watch: Callable[[Sequence[Any]], None] | None) -> Run:
    given = {name: list(value) if isinstance(value, list) else value for name, value in arguments.items()}
    for name, declared in mechanism.inputs.items():
        if declared.array and isinstance(given.get(name), list):
            given[name] = _array(given[name])
        elif declared.frame and isinstance(given.get(name), list):
            given[name] = as_given(declared, given[name])
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


def _array(values: list[Any]) -> Any:
    """A list as an array of numpy; what is no plain number stays what it is."""
    import numpy as np

    if all(isinstance(value, bool | int | str) for value in values):
        return np.array(values)
    made = np.empty(len(values), dtype=object)
    made[:] = values
    return made


def exact_run(
    mechanism: Mechanism,
    arguments: Mapping[str, Any],
    watch: Callable[[Sequence[Any]], None] | None = None,
    *,
    rounding: bool = False,
) -> Any:
    """What one run shows in which quotients of whole numbers are exact: what is returned, or the list of all that is written.

    Args:
        mechanism: what is run.
        arguments: its arguments.
        watch: is told what was written.
        rounding: whether sums and products of data with floats are rounded as Python does it.
    """
    kept = vars(mechanism).get("kept")
    if kept is not None and kept.translated.ordinary:  # its quotients are floats
        exact = mechanism
    else:
        exact = replace(mechanism, parameters={name: exactly(value) for name, value in mechanism.parameters.items()})
    given = beside_floats if kept is not None and kept.translated.floats and not rounding else exactly
    ran = run_once(exact, {name: given(value) for name, value in arguments.items()}, watch)
    return in_parts(ran.value if mechanism.stream is None else [value for step in ran.written for value in step])


def _stream(values: Sequence[Any], written: list[list[Any]]) -> Iterator[Any]:
    for value in values:
        written.append([])
        yield value
    raise _RanOut
