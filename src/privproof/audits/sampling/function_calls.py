"""Runs of ordinary Python callables: the same call again and again, and its outputs as `Samples`.

The runs are made in chunks of a fixed size, each with a seed that is derived from the seed of all runs and the number of the chunk
(`sampling.sides`).  So the runs do not depend on how many processes share the work.  A callable with a source of its own cannot be
seeded; then all its runs are made in one process, because processes that begin with a copy of one hidden state would repeat each
other's runs, and runs that are not independent prove nothing.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from math import inf
from typing import Any, TypeAlias

import numpy as np

from privproof.audits.sampling.output_samples import SampleRecorder, Samples
from privproof.audits.sampling.output_tables import Piece
from privproof.audits.sampling.two_sides import Failure, SampledSide, own_states
from privproof.errors import LanguageError
from privproof.execution.chunks import ATTEMPTS, map_chunks
from privproof.execution.workers import Parcel, Workers

Draw: TypeAlias = Callable[[Mapping[str, object], int, int], Samples]

_CALLS = 2**12
"""Calls in one parcel, each with a seed of its own, so that the runs do not depend on how many processes share them."""
_BATCH = 2**16
"""The same in runs, where one call makes many of them: what their outputs need in memory."""
GRAIN = 0.05
"""Seconds of runs that a worker is given at once: a hundred times what giving them takes, and a twentieth of what a limit may be late."""
_TRIED = 64
"""Runs made twice with one seed to see whether they repeat."""


@dataclass(frozen=True, eq=False)
class FunctionCalls:
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

    def having(self, constants: Mapping[str, object]) -> FunctionCalls:
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
        arguments = self.passed(arguments)
        if self.processes == 1 or count <= self.chunk_size or not self.divisible(arguments):
            return self.samples(arguments, count, seed)
        with Workers(self.processes) as workers:
            work = functools.partial(_made_there, workers.parcel(self, self.name))
            parts = self.parts(arguments, count, seed)
            found = map_chunks(workers, work, parts, attempts=self.attempts, grain=GRAIN)
            return self.assembled(count, found)

    @property
    def chunk_size(self) -> int:
        """How many runs have a seed together."""
        return _BATCH if self.batched else _CALLS

    @property
    def attempts(self) -> int:
        """How often runs may be begun whose process is lost: such as cannot be repeated would be chosen by having ended well."""
        return 1 if self.independent else ATTEMPTS

    def passed(self, arguments: Mapping[str, object]) -> dict[str, object]:
        """The arguments as the callable gets them."""
        if self.adapt is not None:
            arguments = {name: self.adapt(name, value) for name, value in arguments.items()}
        return {**arguments, **self.constants}

    def parts(self, passed: Mapping[str, object], count: int, seed: int) -> list[ChunkRuns]:
        """So many runs on arguments as they are passed, in chunks."""
        return [ChunkRuns(dict(passed), count, seed, number) for number in range(-(-count // self.chunk_size))]

    def assembled(self, count: int, found: Iterable[list[Piece] | Failure]) -> Samples:
        """The runs of all chunks.

        Raises:
            LanguageError: a call fails, or its output cannot be told apart from others.
        """
        record = SampleRecorder(count, generator=False)
        for number, part in enumerate(found):
            for runs, column in self.pieces_of(part):
                record.write(runs + number * self.chunk_size, column)
        return record.samples()

    def samples(self, passed: Mapping[str, object], count: int, seed: int) -> Samples:
        """So many runs on arguments as they are passed, made by this process."""
        return self.assembled(count, (chunk_outputs(self, part) for part in self.parts(passed, count, seed)))

    def pieces_of(self, found: list[Piece] | Failure) -> list[Piece]:
        """The outputs of a chunk.

        Raises:
            LanguageError: a call fails, or its output cannot be told apart from others.
        """
        if isinstance(found, Failure):
            raise LanguageError("call", found.message, place=self.name, hint=found.hint)
        return found

    def divisible(self, passed: Mapping[str, object]) -> bool:
        """Whether processes that begin with a copy of this one make independent runs."""
        return self.independent or repeats(self.samples, passed)


def repeats(draw: Draw, arguments: Mapping[str, object], *, seed: int = 0) -> bool:
    """Whether a few runs are the same when they are made twice with one seed.

    >>> import random
    >>> repeats(FunctionCalls("coin", lambda: random.random() < 0.5), {})
    True
    >>> repeats(FunctionCalls("secret", lambda: random.SystemRandom().random()), {})
    False
    """
    first, second = (draw(arguments, _TRIED, seed) for _ in range(2))
    return (
        first.texts == second.texts
        and np.array_equal(first.codes, second.codes)
        and len(first.floats) == len(second.floats)
        and all(np.array_equal(a, b, equal_nan=True) for a, b in zip(first.floats, second.floats, strict=True))
    )


@dataclass(frozen=True)
class ChunkRuns:
    """The runs of a chunk: what is passed, how many there are in all chunks together, the seed of them all, and which chunk it is."""

    passed: dict[str, object]
    count: int
    seed: int
    number: int


def chunk_outputs(calls: FunctionCalls, part: ChunkRuns) -> list[Piece] | Failure:
    """The outputs of one chunk."""
    with own_states():
        side = SampledSide(calls, part.passed, part.count, part.seed, part.number)
        side.advance(inf)
    return side.pieces()


def _made_there(parcel: Parcel[FunctionCalls], part: ChunkRuns) -> list[Piece] | Failure:
    return chunk_outputs(parcel.open(), part)


def as_floats(value: object) -> Any:
    """A number, or the numbers of a list, as floats; for callables that compute with floats."""
    if isinstance(value, list | tuple):
        return type(value)(map(as_floats, value))
    return float(value) if isinstance(value, int | Fraction) and not isinstance(value, bool) else value
