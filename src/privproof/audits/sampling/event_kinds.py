"""Kinds of events: many at once, with how often each occurred on two data sets, and the best of them by what these counts are worth."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

import numpy as np

from privproof.audits.sampling.confidence_intervals import Floats
from privproof.audits.sampling.output_events import Event, OneOf
from privproof.audits.sampling.sample_columns import Array

Score: TypeAlias = Callable[[Array, Array], Floats]
"""How much counts on the left and on the right are worth."""


@dataclass(frozen=True)
class Proposal:
    """An event, and how often it occurred on both data sets where it was learnt."""

    event: Event
    left: int
    right: int


@dataclass(frozen=True)
class EventKind:
    """Events of one kind: how often each occurred on both data sets, and the event itself where it is asked for."""

    left: Array
    right: Array
    made: Callable[[int], Event]

    def turned(self) -> EventKind:
        """The same with both data sets exchanged."""
        return EventKind(self.right, self.left, self.made)


NO_EVENTS: Final = EventKind(np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64), lambda i: OneOf(()))


def best_of(kind: EventKind, score: Score, keep: int) -> list[Proposal]:
    """The best events of a kind that occurred on the left, each once."""
    possible = np.flatnonzero(kind.left)
    if not len(possible):
        return []
    worth = score(kind.left[possible], kind.right[possible])
    chosen: dict[str, Proposal] = {}
    for i in possible[np.argsort(-worth, kind="stable")[: 4 * keep]].tolist():
        proposal = Proposal(kind.made(i), int(kind.left[i]), int(kind.right[i]))
        chosen.setdefault(repr(proposal.event), proposal)
        if len(chosen) == keep:
            break
    return list(chosen.values())


def counted_kind(made: Callable[[int], Event], left: Iterable[int], right: Iterable[int]) -> EventKind:
    """Events with their counts, one by one."""
    return EventKind(np.array([*left], dtype=np.int64), np.array([*right], dtype=np.int64), made)


def kind_of(proposals: Sequence[Proposal]) -> EventKind:
    """Proposals as a kind, so that the best of them can be chosen."""
    return counted_kind(lambda i: proposals[i].event, (p.left for p in proposals), (p.right for p in proposals))
