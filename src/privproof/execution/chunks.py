"""Chunks of work, shared out to workers, and their results in the order of the chunks.

What the results are depends on the chunks alone, never on how many workers there are.  What a time limit or an interrupt changes is how
many chunks are worked on: always the first ones.  A chunk whose worker was lost is given to another; only what was under way is
done again.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, CancelledError, Executor, Future, wait
from dataclasses import dataclass
from itertools import islice
from typing import Any, TypeVar

from privproof.errors import QuestionError
from privproof.execution.workers import ChunkJob, Workers, worker_result

Chunk = TypeVar("Chunk")
Result = TypeVar("Result")

ATTEMPTS = 3
"""How often a chunk is given to a worker: one that ends three processes would end every other, too."""
_AHEAD = 2
"""Chunks under way for every worker, so that none waits for this process; a second is kept ready."""
_BUFFERED = 8
"""Chunks for every worker between the first that is not done and the last that is given out: what their results need in memory."""
_MOST = 64
"""Chunks that are given out together at most, whatever they take: what the results of some need in memory."""
_LOOK = 0.05
"""Seconds between two looks at whether to stop, while others work."""


def map_chunks(
    executor: Workers | Executor | None,
    function: Callable[[Chunk], Result],
    chunks: Iterable[Chunk],
    *,
    stopped: Callable[[], str | None] = lambda: None,
    patience: float = 0.0,
    attempts: int = ATTEMPTS,
    grain: float = 0.0,
) -> Generator[Result, None, None]:
    """What a function makes of every chunk, in the order of the chunks.

    Args:
        executor: who works; None for this process, chunk by chunk, as results are asked for.
        function: works on a chunk; where others work, a function that can be pickled: one of a module, or a `functools.partial` of one.
        chunks: the chunks; taken up as workers become free, so that there may be very many.
        stopped: why to stop now, or None; asked now and then.  The results end then, those of the first chunks are given.
        patience: seconds that chunks under way are waited for after that.
        attempts: how often a chunk is given out whose worker is lost; 1 where doing it twice would not be the same.
        grain: where chunks are small, so many of them are given out together that they take about so many seconds.

    >>> list(map_chunks(None, abs, [-1, 2, -3]))
    [1, 2, 3]

    Raises:
        QuestionError: a worker is lost on the same chunk again and again, or the executor does not work.
    """
    workers = executor if isinstance(executor, Workers) else Workers(executor=executor)
    if workers.alone:
        for chunk in chunks:
            if stopped() is not None:
                return
            yield function(chunk)
        return
    sharing = _Sharing(workers, workers.job(_Several(function)), iter(chunks), attempts, grain)
    try:
        yield from sharing.results(stopped, patience)
    finally:
        workers.abandon([each.future for each in sharing.sent])


@dataclass(frozen=True)
class _Several:
    """A function of one chunk, for some of them in their order; and how many seconds they took."""

    function: Callable[[Any], Any]

    def __call__(self, chunks: Sequence[Any]) -> tuple[list[Any], float]:
        begun = time.perf_counter()
        return [self.function(chunk) for chunk in chunks], time.perf_counter() - begun


@dataclass
class _Sent:
    """Chunks that are given out together: to whom, and how often they were."""

    chunks: list[Any]
    future: Future[Any]
    attempt: int = 1


class _Sharing:
    """The chunks of one call, in their order: those that are given out, and those that are left."""

    def __init__(self, workers: Workers, job: ChunkJob, left: Iterator[Any], attempts: int, grain: float) -> None:
        self.workers, self.job, self.left, self.attempts = workers, job, left, attempts
        self.grain, self.together = grain, 1
        self.sent: deque[_Sent] = deque()

    def results(self, stopped: Callable[[], str | None], patience: float) -> Iterator[Any]:
        until: float | None = None
        while True:
            if until is None and stopped() is not None:
                until = time.monotonic() + patience
            if until is None:
                self._give_out()
            if not self.sent:
                return
            if self.sent[0].future.done():
                found = self._answer(self.sent[0])
                if found is not self:
                    self.sent.popleft()
                    results, seconds = found
                    self.together = max(1, min(_MOST, int(self.grain * len(results) / max(seconds, 1e-9))))
                    yield from results
            elif until is not None and time.monotonic() >= until:
                return
            else:
                wait([each.future for each in self.sent if not each.future.done()], _LOOK, FIRST_COMPLETED)

    def _give_out(self) -> None:
        """Keep all workers busy."""
        width = self.workers.width
        while len(self.sent) < _BUFFERED * width and sum(not e.future.done() for e in self.sent) < _AHEAD * width:
            chunks = list(islice(self.left, self.together))
            if not chunks:
                return
            self.sent.append(_Sent(chunks, self._submitted(chunks)))

    def _submitted(self, chunks: list[Any]) -> Future[Any]:
        try:
            return self.workers.submit(self.job, chunks)
        except BrokenExecutor as error:  # a worker was lost between two chunks
            self._again(error)
            return self.workers.submit(self.job, chunks)

    def _answer(self, sent: _Sent) -> Any:
        """The results of chunks, and their seconds; this object itself where they were given out once more."""
        try:
            found = sent.future.result()
        except BrokenExecutor as error:
            self._again(error)
            return self
        except (Exception, CancelledError) as error:
            told = str(error).splitlines()[0] if str(error) else ""
            said = f"the executor has no answer: {type(error).__name__}{': ' if told else ''}{told}"
            hint = "are all workers alive, with the same versions of Python and privproof?"
            raise QuestionError("executor", said, place="executor", hint=hint) from error
        return worker_result(found)

    def _again(self, error: BrokenExecutor) -> None:
        """Give out once more what was under way when a process was lost."""
        if not self.workers.renew():
            said = "the executor that is given is broken: one of its processes has ended"
            raise QuestionError("executor", said, place="executor", hint="a new one") from error
        for sent in self.sent:
            if sent.future.done() and not isinstance(sent.future.exception(), BrokenExecutor):
                continue
            if sent.attempt >= self.attempts:
                times = "once" if sent.attempt == 1 else f"{sent.attempt} times"
                said = f"a process has ended {times} without an answer, on the same piece of work"
                hint = "is there memory enough (--memory-limit)? jobs=1 shows what happens"
                raise QuestionError("worker", said, place="jobs", hint=hint) from error
            sent.attempt += 1
            sent.future = self.workers.submit(self.job, sent.chunks)
