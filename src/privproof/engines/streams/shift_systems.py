"""The answer to a stream automaton: a leak, or the exact cost of the best coupling with an execution that makes it pay that."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import inf

from privproof.engines.search_monitor import Monitor
from privproof.engines.streams.cost_cycles import CycleFamily
from privproof.engines.streams.cost_fronts import Fronts
from privproof.engines.streams.coupling_arena import Arena, arenas
from privproof.engines.streams.coupling_decision import Leak, joint_leak, leak, on_cycles
from privproof.engines.streams.stream_executions import repeat_cycles, worst
from privproof.engines.streams.stream_losses import can_happen
from privproof.errors import QuestionError
from privproof.exact import Rational
from privproof.models.stream_automaton import StreamAutomaton


@dataclass(frozen=True, eq=False)
class Solution:
    """What was found out about an automaton, in one arena.

    Attributes:
        fronts: what the adversary can reach, where no cycle leaks by itself.
        leak: why no coupling has a finite cost, if that is so and the structure was found.
        cost: the cost of the best coupling; None where there is none of finite cost.
        hardest: a path with cycles that makes every coupling pay the cost, where one was found.
        times: how often to go around its cycles.
        everywhere: the fronts of all arenas.
    """

    fronts: Fronts
    leak: Leak | None = None
    cost: Rational | None = None
    hardest: CycleFamily | None = None
    times: int = 1
    everywhere: tuple[Fronts, ...] = ()

    @property
    def arena(self) -> Arena:
        """The arena."""
        return self.fronts.arena

    @property
    def exact(self) -> bool:
        """Whether the cost is exact, or an upper bound only."""
        return self.hardest is not None


def decide(
    automaton: StreamAutomaton, relation: str = "each", within: Rational | None = None
) -> tuple[Arena, Leak] | None:
    """A structure that makes privacy impossible for every epsilon, or None: then couplings of finite cost exist.

    For one threshold this takes time linear in the automaton.

    Raises:
        QuestionError: no coupling of finite cost exists, and no structure that shows why was found.
    """
    for arena in arenas(automaton, relation, Rational(1) if within is None else within):
        unfolded = arena.unfolded()
        found = _possible(unfolded, leak(unfolded))
        if found is not None:
            return unfolded, found
        fronts = Fronts(unfolded)
        if len(automaton.thresholds) <= 1 and not fronts.tangled() and not _constants(automaton):
            continue
        fronts.explore()
        if fronts.broken is not None:
            found = _possible(unfolded, joint_leak(unfolded))
            if found is None:
                raise QuestionError("streams", "no coupling of finite cost exists, and the structure was not found")
            return unfolded, found
    return None


def _constants(automaton: StreamAutomaton) -> bool:
    """Whether something is compared with constants, or with a distance: paths may then be impossible."""
    return any(
        order.offset != 0 or None in (order.low, order.high) for step in automaton.transitions for order in step.guard
    )


def _possible(arena: Arena, found: Leak | None) -> Leak | None:
    """A structure, if runs can take its path."""
    if found is None:
        return None
    steps = [arena.edges[number].step for number in found.unrolled(2)[0]]
    return found if can_happen(arena.automaton, steps) else None


def solve(
    automaton: StreamAutomaton, relation: str = "each", within: Rational | None = None, monitor: Monitor | None = None
) -> Solution:
    """The answer for an automaton: of its arenas the one that costs most, or a leak."""
    best: Solution | None = None
    everywhere: list[Fronts] = []
    for arena in arenas(automaton, relation, Rational(1) if within is None else within):
        found = _solve_arena(arena.unfolded(), monitor or Monitor())
        if found.cost is None:
            return found
        everywhere.append(found.fronts)
        if best is None or best.cost is None or found.cost > best.cost:
            best = found
    assert best is not None
    return replace(best, everywhere=tuple(everywhere))


def _solve_arena(arena: Arena, monitor: Monitor) -> Solution:
    fronts = Fronts(arena, monitor)
    alone = len(arena.automaton.thresholds) <= 1
    found = _possible(arena, leak(arena) if alone else on_cycles(arena))
    if found is not None:
        return Solution(fronts, leak=found)
    fronts.explore()
    if fronts.broken is not None or fronts.cost == inf:
        return Solution(fronts, leak=_possible(arena, leak(arena)) or _possible(arena, joint_leak(arena)))
    cost = int(fronts.cost) * arena.unit
    execution = None if fronts.joined else worst(fronts)
    longer = None if execution is None else repeat_cycles(fronts, execution)
    hardest, times = longer or (None, 1)
    return Solution(fronts, cost=cost, hardest=hardest, times=times)
