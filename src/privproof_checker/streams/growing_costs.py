"""Refutations by growth: a family of executions whose costs grow without bound, so that no finite epsilon holds.

A family of paths repeats some of its segments.  Its costs grow without bound if no choice of shifts costs nothing in some
repetition of every repeated segment.  For if the costs stay below a bound, all but a bounded number of the repetitions
cost nothing; among enough of them in a row some shifts of the thresholds occur twice, so that they lie on a cycle of
moves that cost nothing.  All such shifts are followed from segment to segment, and none may be left at the end.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product

from privproof_checker.graph_algorithms import components
from privproof_checker.numbers import INFINITE
from privproof_checker.outcomes import Accepted, Limits, refuse
from privproof_checker.plain_documents import a_list, a_text, names, only_members
from privproof_checker.streams.output_telling import tells_path
from privproof_checker.streams.shift_couplings import MOST_NAMES, SHIFTS, Kernels, Shifts
from privproof_checker.streams.stream_automata import Automaton
from privproof_checker.streams.stream_executions import Move, Segment, Situation, read_segments

_MOST_ITERATIONS = 100
"""How often a segment is repeated until its orders settle, a few times as a rule; a family that does not settle is refused."""


def refuted_by_growth(automaton: Automaton, evidence: dict[str, object], limits: Limits) -> Accepted:
    """Check a family of executions whose costs grow, so that no finite epsilon holds."""
    only_members(evidence, ("method", "kind", "thresholds", "segments"), "evidence")
    kind = a_text(evidence.get("kind"), "evidence.kind")
    if automaton.delta != 0:
        refuse("growing costs say nothing about a positive delta", "question.delta")
    if automaton.relation == "one":
        refuse("growing costs are no evidence where only one input differs", "question.relation")
    automaton.without_ties()
    chosen = a_list(evidence.get("thresholds"), "evidence.thresholds")
    watched = names(chosen, "evidence.thresholds", MOST_NAMES) if chosen else ()
    segments = read_segments(automaton, evidence.get("segments"), "evidence.segments", limits, growing=True)
    tells_path(automaton, (number for segment in segments for number, _ in segment.moves))
    _always_possible(automaton, segments)
    if _costs_are_bounded(automaton, segments, watched):
        refuse("some shifts keep the costs bounded", "evidence.segments")
    return Accepted(
        "refuted",
        f"no finite epsilon holds for {automaton.neighbours}: the costs of a family of executions grow without bound, "
        "and their losses with them",
        {"method": "growth", "kind": kind[:200], "thresholds": list(watched)},
        lower=INFINITE,
    )


def _always_possible(automaton: Automaton, segments: Sequence[Segment]) -> None:
    """Refuse a family whose orders contradict each other, however often its segments are repeated."""
    situation = Situation()
    for i, segment in enumerate(segments):
        place = f"evidence.segments[{i}]"
        before = situation.layout()
        for _ in range(_MOST_ITERATIONS):
            for number, _change in segment.moves:
                if not situation.take(automaton.transitions[number].step):
                    refuse("the orders of the executions contradict each other", place)
            now = situation.layout()
            if segment.times is not None or now == before:
                break
            before = now
        else:
            refuse(f"the orders have not settled after {_MOST_ITERATIONS} repetitions", place)


def _costs_are_bounded(automaton: Automaton, segments: Sequence[Segment], watched: tuple[str, ...]) -> bool:
    """Whether some shifts of the watched thresholds cost nothing in some repetition of every repeated segment."""
    shifts = _Shifts(automaton, watched)
    points = set(product(SHIFTS, repeat=len(watched)))
    for segment in segments:
        if segment.times is not None:
            points = shifts.image(points, segment)
            continue
        reached = shifts.closure(points, segment)
        free = {point: shifts.image({point}, segment, free=True) & reached for point in reached}
        cycles = [each for each in components(free, free.__getitem__) if len(each) > 1 or each[0] in free[each[0]]]
        points = shifts.closure({point for each in cycles for point in each}, segment)
    return bool(points)


class _Shifts:
    """How the shifts of the watched thresholds move; all constraints on other thresholds are dropped."""

    def __init__(self, automaton: Automaton, watched: tuple[str, ...]) -> None:
        self._automaton = automaton
        self._place = {name: i for i, name in enumerate(watched)}
        self._kernels = Kernels(lambda rate: 1, frozenset(watched))
        self._known: dict[tuple[Move, Shifts], list[tuple[Shifts, bool]]] = {}

    def image(self, points: set[Shifts], segment: Segment, *, free: bool = False) -> set[Shifts]:
        """The shifts after a segment; if `free`, by moves that cost nothing."""
        for move in segment.moves:
            points = {after for point in points for after, costless in self._after(move, point) if costless or not free}
        return points

    def closure(self, points: set[Shifts], segment: Segment) -> set[Shifts]:
        """The shifts after any number of repetitions of a segment."""
        reached = set(points)
        new = reached
        while new:
            new = self.image(new, segment) - reached
            reached |= new
        return reached

    def _after(self, move: Move, point: Shifts) -> list[tuple[Shifts, bool]]:
        """The shifts after a step at a finite cost, with whether it is 0."""
        key = (move, point)
        if key not in self._known:
            number, change = move
            found: list[tuple[dict[str, int], int]] = [({}, 0)]
            for part in self._kernels.parts(self._automaton.transitions[number].step.form, change):
                moves = part.moves.get(tuple(point[self._place[name]] for name in part.looked), ())
                found = [
                    ({**new, **{name: shifts[position] for name, position in part.stores}}, cost + more)
                    for new, cost in found
                    for shifts, more in moves
                ]
            self._known[key] = [
                (tuple(new.get(name, point[i]) for name, i in self._place.items()), cost == 0) for new, cost in found
            ]
        return self._known[key]
