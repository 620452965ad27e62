"""One chunk of runs of a callable, on one data set: seeded before it begins, made at once or a few at a time.

Before a chunk begins, every source of randomness within reach gets a seed of its own: Python's `random`, numpy's global generator,
privproof's own noise, and a numpy generator that is handed over where the callable asks for one.  Where time is limited the runs on two
data sets take turns, and each keeps its sources in between: so the runs of a chunk are the same, however they are cut, and a limit only
ends them earlier.
"""

from __future__ import annotations

import copy
import functools
import inspect
import random
import reprlib
import time
import traceback
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, redirect_stdout
from dataclasses import dataclass
from fractions import Fraction
from io import TextIOBase
from itertools import islice
from math import inf
from types import BuiltinFunctionType, FunctionType
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from privproof.audits.sampling.output_tables import Piece, RaisedOutput, Unprintable, pieces
from privproof.language.randomness import Seeded, drawing_from

if TYPE_CHECKING:
    from privproof.audits.sampling.function_calls import FunctionCalls

_ALWAYS = 8
"""A function that fails in so many calls one after the other fails on these data: that is a mistake, and no output."""
_LONGEST = 1_000_000
"""Values that a generator may yield in one run; more are refused, since it may never end."""
_TURN = 0.25
"""Seconds of calls on one data set before those on the other have their turn, where time is limited: so both have about as many."""
_LOOK = 0.01
"""Seconds between two looks at the clock: calls are made in groups that take about so long."""


class _SwallowedPrints(TextIOBase):
    """Swallows what a callable prints: that is no output of it."""

    def write(self, text: str) -> int:
        return len(text)


@dataclass(frozen=True)
class Failure:
    """What went wrong in a chunk; it travels between processes."""

    message: str
    hint: str


class _Miscounted(Exception):
    """A call for many runs has returned another number of outputs."""


class _Endless(Exception):
    """An iterator yields more than anybody would wait for."""


class Stopper(Protocol):
    """What knows whether to stop."""

    def stopped(self) -> str | None:
        """Why to stop now, or None."""


class SampledSide:
    """The runs of one chunk on one data set.  They can be made a few at a time: their sources of randomness are kept in between.

    Attributes:
        made: how many there are by now.
        failure: what went wrong.
    """

    def __init__(self, calls: FunctionCalls, passed: Mapping[str, object], count: int, seed: int, number: int) -> None:
        self.calls, self.arguments = calls, dict(passed)
        self.count = min(calls.chunk_size, count - number * calls.chunk_size)
        self.made = 0
        self.failure: Failure | None = None
        self._outputs: Any = []
        self._plain: set[type] = set()
        self._last: Exception | None = None
        self._function: Callable[[], Any] | None = None
        self._states: tuple[Any, Any] | None = None
        sequence = np.random.SeedSequence(seed % 2**128, spawn_key=(number,))
        self._words = [word.generate_state(8) for word in sequence.spawn(4)]
        self._seed, noise = (int.from_bytes(state.tobytes(), "little") for state in self._words[2:])
        self._source = Seeded(noise)

    @property
    def done(self) -> bool:
        """Whether there is nothing left to do."""
        return self.made == self.count or self.failure is not None

    def advance(self, seconds: float, least: int = 0) -> None:
        """Make runs for about so long, or so many if that takes longer; in the global generators, which are the caller's to keep."""
        if self.done:
            return
        if self._states is None:
            random.seed(self._words[0].tobytes())
            np.random.seed(self._words[1])
        else:
            random.setstate(self._states[0])
            np.random.set_state(self._states[1])
        with drawing_from(self._source), redirect_stdout(_SwallowedPrints()):
            try:
                self._advance(seconds, least)
            except _Endless as error:
                self.failure = Failure(f"{self._shown()} raised ValueError: {error}", "an iterator that ends")
            except _Miscounted as error:
                told = f"{self._shown(count=self.count)} returned {error}"
                self.failure = Failure(told, "one output for every run, count in all")
            except (Exception, SystemExit) as error:
                self.failure = Failure(f"{self._shown()} raised {type(error).__name__}: {error}", _where(error))
        if not self.done:
            self._states = (random.getstate(), np.random.get_state())

    def _advance(self, seconds: float, least: int) -> None:
        if self._function is None:
            self._function = self._call()
        if self.calls.batched:
            self._outputs = self._together(self._function())
            self.made = self.count
            return
        now = time.monotonic()
        until, group = now + seconds, 1 if seconds < inf else self.count
        while self.made < self.count and (self.made < least or now < until):
            self._calls(self._function, min(group, self.count - self.made))
            before, now = now, time.monotonic()
            group = 2 * group if now - before < _LOOK else max(1, group // 2)
        failed = self._last is not None and all(type(output) is RaisedOutput for output in self._outputs)
        if self._last is not None and failed and self.made == self.count >= _ALWAYS:
            raise self._last

    def _calls(self, call: Callable[[], Any], count: int) -> None:
        """So many calls; of one that fails the output is what it raises: that it fails is seen by whoever waits for it."""
        for _ in range(count):
            try:
                output = call()
                if type(output) not in self._plain:
                    output = self._listed(output)
                self._outputs.append(output)
            except _Endless:
                raise
            except Exception as error:
                self._last = error
                self._outputs.append(RaisedOutput(type(error).__name__))
        self.made += count

    def _listed(self, output: Any) -> Any:
        """The output; of an iterator, the list of what it yields."""
        if not isinstance(output, Iterator):
            self._plain.add(type(output))
            return output
        found = list(islice(output, _LONGEST + 1))
        if len(found) > _LONGEST:
            raise _Endless(f"it yields more than {_LONGEST} values")
        return found

    def pieces(self, first: int | None = None) -> list[Piece] | Failure:
        """The outputs, or those of the first runs."""
        if self.failure is not None:
            return self.failure
        try:
            return pieces(self._outputs if first is None else self._outputs[:first])
        except Unprintable as error:
            hint = "return numbers, texts, truth values, None, or lists of them"
            return Failure(f"{self._shown()} returns {error}", hint)
        except (Exception, SystemExit) as error:
            return Failure(f"{self._shown()} raised {type(error).__name__}: {error}", _where(error))

    def _call(self) -> Callable[[], Any]:
        calls = self.calls
        function = calls.function if calls.seeding is None else calls.seeding(self._seed)
        positional, named = _split_arguments(function, self.arguments, positional=calls.positional)
        if calls.rng is not None:
            named[calls.rng] = np.random.default_rng(self._seed)
        if calls.batched:
            named["count"] = self.count
        return _call(function, positional, named, kept=calls.rng)

    def _together(self, outputs: Any) -> Any:
        """The outputs of a call that makes many runs."""
        if not isinstance(outputs, Iterable) and not hasattr(outputs, "__array__"):
            raise _Miscounted(f"{outputs!r}, no list of outputs")
        if not isinstance(outputs, list | np.ndarray):
            outputs = np.asarray(outputs) if hasattr(outputs, "__array__") else list(outputs)
        if isinstance(outputs, np.ndarray) and outputs.ndim == 0:
            raise _Miscounted("one output")
        if len(outputs) != self.count:
            raise _Miscounted(f"{len(outputs)} outputs")
        return outputs

    def _shown(self, **more: Any) -> str:
        shown = reprlib.Repr()
        shown.maxlist = shown.maxtuple = 8
        shown.maxother = shown.maxstring = 60
        listed = ", ".join(f"{name}={shown.repr(value)}" for name, value in {**self.arguments, **more}.items())
        return f"{self.calls.name}({listed})"


def both_sides(sides: tuple[SampledSide, SampledSide], watch: Stopper | None, least: int = 0) -> int:
    """Make the runs of a chunk on both data sets, in turns where time is limited; how many there are on each of them.

    Args:
        sides: the runs of the two data sets.
        watch: whether to stop; None for never.
        least: so many are made in any case.
    """
    with own_states():
        while not all(side.done for side in sides):
            for side in sides:
                side.advance(inf if watch is None else _TURN, least)
            if any(side.failure for side in sides) or (watch is not None and watch.stopped() is not None):
                break
    return min(side.made for side in sides)


def _where(error: BaseException) -> str:
    """The line that raised an exception."""
    frames = traceback.extract_tb(error.__traceback__)
    own = (__file__, pieces.__code__.co_filename)
    outside = [frame for frame in frames if frame.filename not in own]
    return f"{outside[-1].filename}:{outside[-1].lineno}" if outside else "do the names of the arguments fit?"


@contextmanager
def own_states() -> Iterator[None]:
    """Leaves Python's and numpy's global generators as they were."""
    python, legacy = random.getstate(), np.random.get_state()
    try:
        yield
    finally:
        random.setstate(python)
        np.random.set_state(legacy)


def _split_arguments(
    function: Callable[..., Any], arguments: Mapping[str, object], *, positional: bool
) -> tuple[list[Any], dict[str, object]]:
    """The arguments by position, and those by name."""
    try:
        parameters = {} if positional else dict(inspect.signature(function).parameters)
    except (TypeError, ValueError):
        positional = True
    if positional:
        return list(arguments.values()), {}
    first: list[Any] = []
    named = dict(arguments)
    for name, parameter in parameters.items():
        if parameter.kind is parameter.POSITIONAL_ONLY and name in named:
            first.append(named.pop(name))
        elif parameter.kind is parameter.VAR_POSITIONAL and not any(known in parameters for known in named):
            first += named.values()
            named = {}
    return first, named


def _call(
    function: Callable[..., Any], positional: list[Any], named: dict[str, object], *, kept: str | None
) -> Callable[[], Any]:
    """One call; what it could change of its arguments is copied for it, but not the generator that it is given."""
    copiers = {name: _copier(value) for name, value in named.items() if name != kept and not _is_immutable(value)}
    fixed = {name: value for name, value in named.items() if name not in copiers}
    if not all(map(_is_immutable, positional)):
        makers = list(map(_copier, positional))
        return lambda: function(*[make() for make in makers], **fixed, **{n: make() for n, make in copiers.items()})
    prepared = functools.partial(function, *positional, **fixed)
    if not copiers:
        return prepared
    if len(copiers) == 1:  # the usual case, in half the time
        ((only, make_only),) = copiers.items()
        return lambda: prepared(**{only: make_only()})
    return lambda: prepared(**{name: make() for name, make in copiers.items()})


_FIXED = (bool, int, float, complex, str, bytes, Fraction, range, type(None), np.generic, type)


def _is_immutable(value: object) -> bool:
    """Whether nothing can change a value."""
    if isinstance(value, tuple | frozenset):
        return all(map(_is_immutable, value))
    return isinstance(value, (*_FIXED, FunctionType, BuiltinFunctionType))


def _copier(value: object) -> Callable[[], Any]:
    if type(value) is list and all(map(_is_immutable, value)):
        return value.copy
    if type(value) is np.ndarray and value.dtype != object:
        return value.copy
    return (lambda: value) if _is_immutable(value) else functools.partial(copy.deepcopy, value)
