"""The trees of runs on many data sets, by as many processes as there are processors.

What is shared out are branches: the runs that begin with some choices.  A process makes runs of a branch for a moment and gives back the
leaves and the branches that are left, so that all are busy to the end, be there many data sets or one with a large tree.  The
leaves of a tree are ordered by their choices, so that it is the same tree however the work was shared.

The processes are copies of this one: nothing has to cross but branches and leaves.  Each looks at what the function can reach before
and after a branch, as this one does before and after all runs.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, Future, wait
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeAlias

from privproof.errors import LanguageError
from privproof.execution.workers import Parcel, Raised, Workers, processors, worker_result
from privproof.language.trees import MOST_LEAVES, Branch, TreeLeaf, explore_leaves, too_many

_ALONE = 1.0
"""Seconds after which other processes take part: to start them takes a tenth of that."""
_TURN = 0.25
"""Seconds of its processor in which a process makes runs before it gives back what is left: many times what sending takes."""
_LOOK = 0.05
"""Seconds between two looks at whether to stop, while other processes work."""

Task: TypeAlias = tuple[int, Branch]
"""A branch of the tree of a data set, which is known by its number."""


@dataclass(frozen=True)
class Turn:
    """What a process has done: for every branch that it took up the leaves, and what is left to do."""

    found: list[tuple[Task, list[TreeLeaf]]]
    left: list[Task]


@dataclass(frozen=True)
class Work:
    """What is run, and how it is watched.

    Attributes:
        calls: for every data set what runs the function on it.
        pause: called between runs; may raise to stop.
        watched: takes a turn and sees to it that nothing is kept from run to run.
    """

    calls: Sequence[Callable[[], Any]]
    pause: Callable[[], None]
    watched: Callable[[Callable[[], Turn]], Turn]

    def turn(self, tasks: Sequence[Task], seconds: float, clock: Callable[[], float]) -> Turn:
        """Make the runs of some branches, the last first, until the time is up."""
        ends = clock() + seconds

        def enough() -> bool:
            return clock() > ends

        found: list[tuple[Task, list[TreeLeaf]]] = []
        left = list(tasks)
        while left and not (found and enough()):
            number, branch = left.pop()
            leaves, after = explore_leaves(self.calls[number], branch, pause=self.pause, enough=enough)
            found.append(((number, branch), leaves))
            left += [(number, each) for each in after]
        return Turn(found, left)


def grow_trees(work: Work) -> list[tuple[TreeLeaf, ...]]:
    """The tree of every data set; what goes wrong in a process goes wrong here."""
    trees = _Trees(len(work.calls))
    with Workers(processors()) as workers:
        shared = workers.jobs > 1 and workers.copies
        trees.add(work.turn(trees.taken(1), _ALONE if shared else math.inf, time.perf_counter))
        if trees.waiting:
            _shared_out(trees, work, workers)
    return trees.whole()


class _Trees:
    """What is found of every tree, and the branches that wait."""

    def __init__(self, count: int) -> None:
        self.found: list[list[tuple[tuple[int, ...], list[TreeLeaf]]]] = [[] for _ in range(count)]
        self.counts = [0] * count
        self.waiting = [(number, Branch()) for number in reversed(range(count))]

    def taken(self, shares: int) -> list[Task]:
        """A share of what waits."""
        count = math.ceil(len(self.waiting) / shares)
        taken, self.waiting = self.waiting[-count:], self.waiting[:-count]
        return taken

    def add(self, turn: Turn) -> None:
        """Take in what a process has done."""
        for (number, branch), leaves in turn.found:
            self.found[number].append((branch.choices, leaves))
            self.counts[number] += len(leaves)
            if self.counts[number] > MOST_LEAVES:
                raise too_many(MOST_LEAVES)
        self.waiting += turn.left

    def whole(self) -> list[tuple[TreeLeaf, ...]]:
        """Every tree with its leaves in the order of their choices."""
        return [
            tuple(leaf for _, leaves in sorted(parts, key=lambda part: part[0]) for leaf in leaves)
            for parts in self.found
        ]


def _shared_out(trees: _Trees, work: Work, workers: Workers) -> None:
    job = workers.job(partial(_turn, workers.parcel(work)))
    busy: set[Future[Turn | Raised]] = set()
    try:
        while trees.waiting or busy:
            while trees.waiting and len(busy) < workers.jobs:
                busy.add(workers.submit(job, trees.taken(workers.jobs)))
            done, busy = wait(busy, timeout=_LOOK, return_when=FIRST_COMPLETED)
            work.pause()
            for future in done:
                trees.add(worker_result(future.result()))
    except BrokenExecutor:
        raise LanguageError(
            "run",
            "a process that runs the function ended in the middle of a run",
            hint="a smaller size, if memory ran out",
        ) from None


def _turn(parcel: Parcel[Work], tasks: list[Task]) -> Turn:
    work = parcel.open()
    return work.watched(lambda: work.turn(tasks, _TURN, time.process_time))
