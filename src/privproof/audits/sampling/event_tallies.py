"""Runs of a subject by several workers: samples for the search, and for the test how often fixed events occur.

The runs of a test are cut into chunks of a fixed size, and every chunk has its seeds by its number: so the counts are the same for every
number of workers, and a time limit changes only how many of the chunks, from the first on, are worked on.  Of a chunk only counts come
back; the outputs of the first ones come with them, for a histogram.  So a test takes as little memory for a billion runs as for a million.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain
from typing import TypeVar

import numpy as np

from privproof.audits.sampling.adjacent_data import Adjacent
from privproof.audits.sampling.confidence_intervals import special
from privproof.audits.sampling.function_calls import GRAIN, ChunkRuns, FunctionCalls, chunk_outputs
from privproof.audits.sampling.output_events import Event, occurs
from privproof.audits.sampling.output_samples import SampleRecorder, Samples, together
from privproof.audits.sampling.output_tables import Piece
from privproof.audits.sampling.runnable_functions import Runnable
from privproof.audits.sampling.sample_columns import Array
from privproof.audits.sampling.two_sides import Failure, SampledSide, Stopper, both_sides
from privproof.engines.search_monitor import Monitor, Progress
from privproof.exact.patience import OUT_OF_TIME
from privproof.execution.chunks import ATTEMPTS, map_chunks
from privproof.execution.workers import Parcel, Workers

Chunk = TypeVar("Chunk")
Result = TypeVar("Result")

_TOGETHER = 2**18
"""Runs with one seed of a mechanism in the language: what their columns need in memory."""
_CALLED_TOGETHER = 2**14
"""The same of an ordinary function, which is slower; its chunks are a quarter of that."""
_BATCHED_TOGETHER = 2**16
"""The same of a function that makes many runs in one call."""
_FIRST_LOOK = 2**7
"""Runs on each side before the first look of a test that may stop."""
_BETWEEN_LOOKS = 8
"""So many times fewer runs than were made before lie between two looks: not more than this part of them is made in vain."""
_FEWEST = 2**6
"""Runs on each side that are made even if there is no time left: a test of none would say nothing."""
_PATIENCE = 1.0
"""Seconds at least in which workers may end what is under way when time is up: they look at the clock by themselves."""


@dataclass(frozen=True)
class Crew:
    """A subject, and the workers that run it.

    Attributes:
        subject: what is run.
        workers: who runs it; alone where its runs cannot be shared out.
        parcel: the subject, as workers know it.
    """

    subject: Runnable
    workers: Workers
    parcel: Parcel[Runnable]

    @classmethod
    def of(
        cls, subject: Runnable, workers: Workers | None = None, arguments: Mapping[str, object] | None = None
    ) -> Crew:
        """Workers that run a subject, this process alone where a hidden source of randomness would be copied into them.

        Args:
            subject: what is run.
            workers: who runs it; None for this process.
            arguments: some data set, on which it is tried whether runs repeat.
        """
        workers = Workers() if workers is None else workers
        special()  # before processes are made, which are copies of this one
        calls = subject.draw if isinstance(subject.draw, FunctionCalls) and not workers.alone else None
        if calls is not None and (arguments is None or not calls.divisible(calls.passed(arguments))):
            workers = Workers()
        return cls(subject, workers, workers.parcel(subject, subject.name))

    @property
    def attempts(self) -> int:
        """How often work is given out whose worker is lost."""
        return self.subject.draw.attempts if isinstance(self.subject.draw, FunctionCalls) else ATTEMPTS

    def each(
        self, function: Callable[[Parcel[Runnable], Chunk], Result], chunks: Iterable[Chunk], monitor: Monitor
    ) -> Iterator[Result]:
        """What a function makes of the subject and every chunk, in order; it ends early where the monitor stops it."""
        work = partial(function, self.parcel)
        return map_chunks(self.workers, work, chunks, stopped=monitor.stopped, attempts=self.attempts)

    def samples(self, sides: Sequence[tuple[Mapping[str, object], int]], count: int) -> list[Samples]:
        """So many runs on every data set, each with a seed."""
        draw = self.subject.draw
        if self.workers.alone:
            return [draw(arguments, count, seed) for arguments, seed in sides]
        if isinstance(draw, FunctionCalls):
            return [self._called(draw, draw.passed(arguments), count, seed) for arguments, seed in sides]
        chunks = [(arguments, count, seed) for arguments, seed in sides]
        return list(map_chunks(self.workers, partial(_draw_samples, self.parcel), chunks, attempts=self.attempts))

    def _called(self, calls: FunctionCalls, passed: Mapping[str, object], count: int, seed: int) -> Samples:
        work, parts = partial(_chunk_pieces, self.parcel), calls.parts(passed, count, seed)
        found = map_chunks(self.workers, work, parts, attempts=self.attempts, grain=GRAIN)
        return calls.assembled(count, found)


def _draw_samples(parcel: Parcel[Runnable], given: tuple[Mapping[str, object], int, int]) -> Samples:
    return parcel.open().draw(*given)


def _chunk_pieces(parcel: Parcel[Runnable], part: ChunkRuns) -> list[Piece] | Failure:
    calls = parcel.open().draw
    assert isinstance(calls, FunctionCalls)
    return chunk_outputs(calls, part)


def seed_number(sequence: np.random.SeedSequence) -> int:
    """A seed as a number."""
    high, low = sequence.generate_state(2, np.uint64).tolist()
    return int(high) << 64 | int(low)


@dataclass(frozen=True)
class EventTally:
    """How often events occurred.

    Attributes:
        runs: how many runs there were on each side.
        counts: for every event how often it occurred on the left and on the right.
        first: what the first runs wrote, on the left and on the right.
    """

    runs: int
    counts: Array
    first: tuple[Samples, Samples]


@dataclass(frozen=True)
class _Chunk:
    """Some of the runs of a test: those of one number among so many that have their seeds together, on the left and on the right."""

    count: int
    seeds: tuple[int, int]
    number: int
    first: bool


@dataclass(frozen=True)
class _Counted:
    """What comes back of a chunk: how many runs were made on each side, counts, and of the first chunks what they wrote."""

    runs: int
    counts: Array
    written: tuple[Samples, Samples] | None = None
    failure: Failure | None = None


@dataclass(frozen=True)
class _Until:
    """A time limit, on whatever machine."""

    moment: float

    def stopped(self) -> str | None:
        """Why to stop now, or None."""
        return OUT_OF_TIME if time.time() > self.moment else None


def tally(
    crew: Crew,
    pair: Adjacent,
    events: Sequence[Event],
    runs: int,
    seeds: np.random.SeedSequence,
    monitor: Monitor,
    enough: Callable[[Array, int], bool] | None = None,
) -> EventTally:
    """How often events occur in fresh runs on both data sets.

    Where time is up fewer runs are made: that does not depend on what they write, so the counts mean what they say.

    Args:
        crew: what is run, and who runs it.
        pair: the data sets.
        events: the events, which were fixed before.
        runs: how many runs on each side.
        seeds: where the seeds of the runs come from.
        monitor: progress, a time limit.
        enough: looks at the counts and the runs of every chunk, in order, and says whether more are needed; what it says depends on the
            counts, so they mean only what it makes of them.

    Raises:
        LanguageError: a call fails, or its output cannot be told apart from others.
    """
    work = partial(_count_events, crew.parcel, pair, tuple(events))
    watch: Stopper | None = monitor
    if not crew.workers.alone:
        watch = None if monitor.deadline is None else _Until(time.time() + monitor.deadline - time.monotonic())
    chunks = _chunks(crew.subject, runs, seeds, looks=enough is not None)
    first = next(chunks)
    found = map_chunks(
        crew.workers,
        partial(work, watch),
        chain([first], chunks),
        stopped=monitor.stopped,
        patience=max(_PATIENCE, monitor.grace),
        attempts=crew.attempts,
        grain=GRAIN,
    )
    made, totals = 0, np.zeros((len(events), 2), dtype=np.int64)
    written: list[tuple[Samples, Samples]] = []
    for part in found:
        _add(crew.subject, part, totals, written)
        made += part.runs
        monitor.listen(Progress(f"testing, {made} of {runs} runs on each side"))
        if enough is not None and part.runs and enough(part.counts, part.runs):
            break
    if not made:
        part = work(_Until(0.0), first, least=_FEWEST)
        _add(crew.subject, part, totals, written)
        made = part.runs
    return EventTally(
        made, totals, (together([left for left, _ in written]), together([right for _, right in written]))
    )


def recounts(
    crew: Crew,
    asked: Sequence[tuple[Adjacent, Sequence[Event]]],
    runs: int,
    seeds: np.random.SeedSequence,
    monitor: Monitor,
) -> list[Array]:
    """How often events of several pairs occur, each pair in so many runs on both sides; too few where the monitor stops it.

    Raises:
        LanguageError: a call fails, or its output cannot be told apart from others.
    """
    chunks = (
        (number, replace(chunk, first=False))
        for number, each in enumerate(seeds.spawn(len(asked)))
        for chunk in _chunks(crew.subject, runs, each, looks=False)
    )
    work = partial(_recount_events, crew.parcel, tuple(asked))
    totals = [np.zeros((len(events), 2), dtype=np.int64) for _, events in asked]
    for number, part in map_chunks(
        crew.workers, work, chunks, stopped=monitor.stopped, attempts=crew.attempts, grain=GRAIN
    ):
        _add(crew.subject, part, totals[number], [])
    return totals


def _recount_events(
    parcel: Parcel[Runnable], asked: Sequence[tuple[Adjacent, Sequence[Event]]], chunk: tuple[int, _Chunk]
) -> tuple[int, _Counted]:
    return chunk[0], _count_events(parcel, *asked[chunk[0]], None, chunk[1])


def _add(subject: Runnable, part: _Counted, totals: Array, written: list[tuple[Samples, Samples]]) -> None:
    if part.failure is not None:
        assert isinstance(subject.draw, FunctionCalls)
        subject.draw.pieces_of(part.failure)
    totals += part.counts
    if part.written is not None:
        written.append(part.written)


def _chunks(subject: Runnable, runs: int, seeds: np.random.SeedSequence, *, looks: bool) -> Iterator[_Chunk]:
    """The runs of a test in chunks, which depend on nothing but their number; small ones at first where each is looked at."""
    seeded = size = _TOGETHER
    if isinstance(subject.draw, FunctionCalls):
        seeded = _BATCHED_TOGETHER if subject.draw.batched else _CALLED_TOGETHER
        size = min(seeded, subject.draw.chunk_size)
    start = 0
    while start < runs:
        together = max(_FIRST_LOOK, start // _BETWEEN_LOOKS) if looks else seeded
        count = min(seeded, together, runs - start)
        one, other = map(seed_number, seeds.spawn(2))
        for number in range(-(-count // size)):
            yield _Chunk(count, (one, other), number, start + count <= seeded)
        start += count


def _count_events(
    parcel: Parcel[Runnable],
    pair: Adjacent,
    events: Sequence[Event],
    watch: Stopper | None,
    chunk: _Chunk,
    least: int = 0,
) -> _Counted:
    """How often the events occur in the runs of a chunk."""
    nothing = np.zeros((len(events), 2), dtype=np.int64)
    if watch is not None and watch.stopped() is not None and not least:
        return _Counted(0, nothing)
    subject = parcel.open()
    found: list[Samples] = []
    if isinstance(subject.draw, FunctionCalls):
        calls = subject.draw
        given = zip((pair.left, pair.right), chunk.seeds, strict=True)
        left, right = (SampledSide(calls, calls.passed(side), chunk.count, each, chunk.number) for side, each in given)
        made = both_sides((left, right), watch, least)
        for side in (left, right):
            pieces = side.pieces(made)
            if isinstance(pieces, Failure):
                return _Counted(0, nothing, failure=pieces)
            if made:
                found.append(_record_pieces(pieces, made))
    else:
        made = chunk.count
        found = [subject.draw(s, made, each) for s, each in zip((pair.left, pair.right), chunk.seeds, strict=True)]
    if not made:
        return _Counted(0, nothing)
    counts = np.array([[int(occurs(event, side).sum()) for side in found] for event in events], dtype=np.int64)
    return _Counted(made, counts, (found[0], found[1]) if chunk.first else None)


def _record_pieces(pieces: Iterable[Piece], count: int) -> Samples:
    record = SampleRecorder(count, generator=False)
    for runs, column in pieces:
        record.write(runs, column)
    return record.samples()
