"""Runs of ordinary Python callables: the same call again and again, and its outputs as `Samples`.

The runs are made in chunks of a fixed size.  Before a chunk begins, every source of randomness within reach gets a seed that is
derived from the seed of all runs and the number of the chunk: Python's `random`, numpy's global generator, privproof's own noise,
and a numpy generator that is handed over where the callable asks for one.  So the runs do not depend on how many processes share
the work.  A callable with a source of its own cannot be seeded; then all its runs are made in one process, because processes that
begin with a copy of one hidden state would repeat each other's runs, and runs that are not independent prove nothing.
"""

from __future__ import annotations

import copy
import functools
import inspect
import multiprocessing
import pickle
import random
import reprlib
import sys
import traceback
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager, redirect_stdout
from dataclasses import dataclass, field, replace
from fractions import Fraction
from io import TextIOBase
from itertools import islice
from types import BuiltinFunctionType, FunctionType
from typing import Any, TypeAlias

import numpy as np

from privproof.engines.sampling.outputs import Piece, Raised, Unprintable, pieces
from privproof.engines.sampling.samples import Record, Samples
from privproof.errors import LanguageError
from privproof.language.randomness import seeded

Draw: TypeAlias = Callable[[Mapping[str, object], int, int], Samples]

_CALLS = 2**12
"""Calls in one parcel, each with a seed of its own, so that the runs do not depend on how many processes share them."""
_BATCH = 2**16
"""The same in runs, where one call makes many of them: what their outputs need in memory."""
_TRIED = 64
"""Runs made twice with one seed to see whether they repeat."""
_ALWAYS = 8
"""A function that fails in so many calls one after the other fails on these data: that is a mistake, and no output."""
_LONGEST = 1_000_000
"""Values that a generator may yield in one run; more are refused, since it may never end."""


@dataclass(frozen=True, eq=False)
class Calls:
    """Runs a callable: ``Calls("f", f)(arguments, count, seed)``.

    Attributes:
        name: the name of the callable, for messages.
        function: the callable.
        batched: whether one call makes many runs: it gets their number as ``count=`` and returns that many outputs.
        rng: the keyword under which it wants a numpy generator.
        processes: how many processes share the runs.
        positional: whether all arguments are passed by position.
        adapt: makes the value that is passed from the name and the value of an argument.
        seeding: makes the callable for one chunk from its seed, where it has a source of randomness that can be replaced.
        independent: whether its own source is independent in every process, as the operating system's is.
        constants: arguments that are the same in every run.
    """

    name: str
    function: Callable[..., Any]
    batched: bool = False
    rng: str | None = None
    processes: int = 1
    positional: bool = False
    adapt: Callable[[str, Any], Any] | None = None
    seeding: Callable[[int], Callable[..., Any]] | None = None
    independent: bool = False
    constants: Mapping[str, object] = field(default_factory=dict)

    def takes(self, name: str) -> bool:
        """Whether the callable has a parameter of a name."""
        try:
            return name in inspect.signature(self.function).parameters
        except (TypeError, ValueError):
            return False

    def having(self, constants: Mapping[str, object]) -> Calls:
        """The same callable with some arguments given; fractions are passed as floats."""
        floats = {name: float(v) if isinstance(v, Fraction) else v for name, v in constants.items()}
        return replace(self, constants={**self.constants, **floats})

    def __call__(self, arguments: Mapping[str, object], count: int, seed: int) -> Samples:
        """The outputs of so many runs.

        Raises:
            LanguageError: a call fails, or its output cannot be told apart from others.
        """
        if count < 1:
            raise LanguageError("count", f"count={count} is not a number of runs", place="count", hint="count=100_000")
        if self.adapt is not None:
            arguments = {name: self.adapt(name, value) for name, value in arguments.items()}
        arguments = {**arguments, **self.constants}
        job = _Job(self, dict(arguments), count, seed)
        return job.samples(together=self.processes > 1 and job.chunks > 1 and self._divisible(arguments))

    def _divisible(self, arguments: Mapping[str, object]) -> bool:
        """Whether processes that begin with a copy of this one make independent runs."""
        return self.independent or repeats(
            lambda given, count, seed: _Job(self, dict(given), count, seed).samples(together=False), arguments
        )


def repeats(draw: Draw, arguments: Mapping[str, object], *, seed: int = 0) -> bool:
    """Whether a few runs are the same when they are made twice with one seed.

    >>> repeats(Calls("coin", lambda: random.random() < 0.5), {})
    True
    >>> repeats(Calls("secret", lambda: random.SystemRandom().random()), {})
    False
    """
    first, second = (draw(arguments, _TRIED, seed) for _ in range(2))
    return (
        first.texts == second.texts
        and np.array_equal(first.codes, second.codes)
        and len(first.floats) == len(second.floats)
        and all(np.array_equal(a, b, equal_nan=True) for a, b in zip(first.floats, second.floats, strict=True))
    )


# --------------------------------------------------------------------------------------------------------------- chunks


class _Silence(TextIOBase):
    """Swallows what a callable prints: that is no output of it."""

    def write(self, text: str) -> int:
        return len(text)


@dataclass(frozen=True)
class _Failure:
    """What went wrong in a chunk; it travels between processes."""

    message: str
    hint: str


class _Miscounted(Exception):
    """A call for many runs has returned another number of outputs."""


@dataclass(frozen=True, eq=False)
class _Job:
    """So many runs on the same arguments."""

    calls: Calls
    arguments: dict[str, object]
    count: int
    seed: int

    @property
    def size(self) -> int:
        return _BATCH if self.calls.batched else _CALLS

    @property
    def chunks(self) -> int:
        return -(-self.count // self.size)

    def samples(self, *, together: bool) -> Samples:
        """All runs, made by this process or by several together."""
        record = Record(self.count, generator=False)
        for number, found in enumerate(self._shared() if together else self._alone()):
            if isinstance(found, _Failure):
                raise LanguageError("call", found.message, place=self.calls.name, hint=found.hint)
            for runs, column in found:
                record.write(runs + number * self.size, column)
        return record.samples()

    def _alone(self) -> Iterator[list[Piece] | _Failure]:
        for number in range(self.chunks):
            with _own_states():
                found = self.chunk(number)
            yield found

    def _shared(self) -> Iterator[list[Piece] | _Failure]:
        context = multiprocessing.get_context(_start_method())
        if context.get_start_method() != "fork":
            self._send()
        workers = min(self.calls.processes, self.chunks)
        pool = ProcessPoolExecutor(workers, mp_context=context, initializer=_begin, initargs=(self,))
        try:
            with warnings.catch_warnings():
                warnings.filterwarnings("ignore", message=".*fork", category=DeprecationWarning)
                waiting = pool.map(_chunk, range(self.chunks))
            yield from waiting
        except BrokenProcessPool:
            raise LanguageError(
                "call",
                f"a process that called {self._shown()} has ended without an answer",
                place=self.calls.name,
                hint="processes=1",
            ) from None
        finally:
            pool.shutdown(wait=True, cancel_futures=True)

    def _send(self) -> None:
        try:
            pickle.dumps(self)
        except Exception as error:
            raise LanguageError(
                "processes",
                f"{self.calls.name} cannot be sent to another process: {error}",
                place=f"processes={self.calls.processes}",
                hint="processes=1, or a function at the top level of a module",
            ) from None

    def chunk(self, number: int) -> list[Piece] | _Failure:
        """The runs of one chunk."""
        count = min(self.size, self.count - number * self.size)
        sequence = np.random.SeedSequence(self.seed % 2**128, spawn_key=(number,))
        words = [word.generate_state(8) for word in sequence.spawn(4)]
        random.seed(words[0].tobytes())
        np.random.seed(words[1])
        fresh, noise = (int.from_bytes(state.tobytes(), "little") for state in words[2:])
        with seeded(noise), redirect_stdout(_Silence()):
            try:
                return pieces(self._outputs(count, fresh))
            except Unprintable as error:
                return _Failure(
                    f"{self._shown()} returns {error}", "return numbers, texts, truth values, None, or lists of them"
                )
            except _Miscounted as error:
                return _Failure(
                    f"{self._shown(count=count)} returned {error}", "one output for every run, count in all"
                )
            except (Exception, SystemExit) as error:
                return _Failure(f"{self._shown()} raised {type(error).__name__}: {error}", _where(error))

    def _outputs(self, count: int, seed: int) -> Any:
        calls = self.calls
        function = calls.function if calls.seeding is None else calls.seeding(seed)
        positional, named = _passed(function, self.arguments, positional=calls.positional)
        if calls.rng is not None:
            named[calls.rng] = np.random.default_rng(seed)
        if not calls.batched:
            return _each(_call(function, positional, named, kept=calls.rng), count)
        outputs = _call(function, positional, {**named, "count": count}, kept=calls.rng)()
        if not isinstance(outputs, Iterable) and not hasattr(outputs, "__array__"):
            raise _Miscounted(f"{outputs!r}, no list of outputs")
        if not isinstance(outputs, list | np.ndarray):
            outputs = np.asarray(outputs) if hasattr(outputs, "__array__") else list(outputs)
        if isinstance(outputs, np.ndarray) and outputs.ndim == 0:
            raise _Miscounted("one output")
        if len(outputs) != count:
            raise _Miscounted(f"{len(outputs)} outputs")
        return outputs

    def _shown(self, **more: Any) -> str:
        shown = reprlib.Repr()
        shown.maxlist = shown.maxtuple = 8
        shown.maxother = shown.maxstring = 60
        listed = ", ".join(f"{name}={shown.repr(value)}" for name, value in {**self.arguments, **more}.items())
        return f"{self.calls.name}({listed})"


def _where(error: BaseException) -> str:
    """The line that raised an exception."""
    frames = traceback.extract_tb(error.__traceback__)
    own = (__file__, pieces.__code__.co_filename)
    outside = [frame for frame in frames if frame.filename not in own]
    return f"{outside[-1].filename}:{outside[-1].lineno}" if outside else "do the names of the arguments fit?"


@contextmanager
def _own_states() -> Iterator[None]:
    """Leaves Python's and numpy's global generators as they were."""
    python, legacy = random.getstate(), np.random.get_state()
    try:
        yield
    finally:
        random.setstate(python)
        np.random.set_state(legacy)


# ------------------------------------------------------------------------------------------------------------ processes

_job: _Job | None = None


def _start_method() -> str:
    return "fork" if "fork" in multiprocessing.get_all_start_methods() and sys.platform != "win32" else "spawn"


def _begin(job: _Job) -> None:
    global _job
    _job = job


def _chunk(number: int) -> list[Piece] | _Failure:
    assert _job is not None
    return _job.chunk(number)


# ---------------------------------------------------------------------------------------------------------------- calls


def _passed(
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
    copiers = {name: _copier(value) for name, value in named.items() if name != kept and not _fixed(value)}
    fixed = {name: value for name, value in named.items() if name not in copiers}
    if not all(map(_fixed, positional)):
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


def _fixed(value: object) -> bool:
    """Whether nothing can change a value."""
    if isinstance(value, tuple | frozenset):
        return all(map(_fixed, value))
    return isinstance(value, (*_FIXED, FunctionType, BuiltinFunctionType))


def _copier(value: object) -> Callable[[], Any]:
    if type(value) is list and all(map(_fixed, value)):
        return value.copy
    if type(value) is np.ndarray and value.dtype != object:
        return value.copy
    return (lambda: value) if _fixed(value) else functools.partial(copy.deepcopy, value)


def _each(call: Callable[[], Any], count: int) -> list[Any]:
    """The outputs of so many calls; of an iterator, the list of what it yields; of a call that fails, what it raises.

    Raises:
        Exception: all calls fail, with what the last of them raises.
    """
    try:
        outputs = [call() for _ in range(count)]
    except Exception:
        outputs = _with_failures(call, count)
    if any(issubclass(kind, Iterator) for kind in set(map(type, outputs))):
        return list(map(_listed, outputs))
    return outputs


def _with_failures(call: Callable[[], Any], count: int) -> list[Any]:
    """The outputs of calls some of which fail; that they do is seen by whoever waits for them."""
    outputs: list[Any] = []
    failure: Exception | None = None
    for _ in range(count):
        try:
            outputs.append(call())
        except Exception as error:
            failure = error
            outputs.append(Raised(type(error).__name__))
    if failure is not None and count >= _ALWAYS and all(type(output) is Raised for output in outputs):
        raise failure
    return outputs


def _listed(output: object) -> Any:
    if not isinstance(output, Iterator):
        return output
    found = list(islice(output, _LONGEST + 1))
    if len(found) > _LONGEST:
        raise ValueError(f"it yields more than {_LONGEST} values")
    return found


def as_floats(value: object) -> Any:
    """A number, or the numbers of a list, as floats; for callables that compute with floats."""
    if isinstance(value, list | tuple):
        return type(value)(map(as_floats, value))
    return float(value) if isinstance(value, int | Fraction) and not isinstance(value, bool) else value
