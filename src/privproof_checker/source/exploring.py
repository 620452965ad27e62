"""All runs of a program at once: from where a run rests to the exact law of where it rests next.

A run *rests* where it waits for an input, and where it has ended.  Between two rests the runs that chance tells apart form a finite
Markov chain, whose nodes are runs that go on alike.  A loop that draws again until it is content makes a cycle in it; the mass that
passes through a cycle is the solution of a linear system.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import Any, TypeAlias

from flint import fmpq_mat

from privproof_checker.graph_algorithms import components
from privproof_checker.numbers import ONE, ZERO, Rational, rational
from privproof_checker.source.forms import Deciding
from privproof_checker.source.laws import Geometric
from privproof_checker.source.machine import Machine, released
from privproof_checker.source.running import ATOMS, Emit, End, Noise, Run, Wait, Work
from privproof_checker.source.values import Beyond, Split, Tail, Value, key

_MOST_IN_CYCLES = 300
"""The equations of one cycle are solved exactly, in a time that grows with the third power."""


@dataclass(frozen=True)
class Rest:
    """Where a run rests.

    Attributes:
        run: the run that waits; None if it has ended.
        value: what it has returned.
        written: what it has written since the last rest, tails without identity.
        key: tells rests apart.
    """

    run: Run | None
    value: Value
    written: tuple[Value, ...]
    key: Any

    @cached_property
    def _hash(self) -> int:
        return hash(self.key)

    def __hash__(self) -> int:
        return self._hash

    def __eq__(self, other: object) -> bool:
        return self is other or (isinstance(other, Rest) and self.key == other.key)


def rest(run: Run | None, place: Any, value: Value, written: tuple[Value, ...]) -> Rest:
    """A rest with its key."""
    return Rest(run, value, written, (place, key(value), key(written)))


@dataclass(frozen=True)
class Drawn:
    """A run that has drawn a value which holds nothing else: it is copied where it is met for the first time.

    Attributes:
        run: the run before.
        value: what goes on top of its stack.
        key: tells it apart.
    """

    run: Run
    value: Value
    key: Any


Law: TypeAlias = "dict[Rest, Rational]"
Following: TypeAlias = "list[tuple[Rational, Run | Rest | Drawn, tuple[Value, ...]]]"
Edges: TypeAlias = "dict[int, list[tuple[Rational, int]]]"


class Explorer:
    """Explores one program.

    Attributes:
        numbers: the nodes.
        edges: from a node to the next ones, with probabilities.
        rests: the nodes where runs rest.
        certain: from a node to the rest to which it leads at once.
    """

    def __init__(self, machine: Machine) -> None:
        self.machine = machine
        self.numbers: dict[Any, int] = {}
        self.edges: Edges = {}
        self.rests: dict[int, Rest] = {}
        self.certain: dict[int, int] = {}

    def onward(self, run: Run, written: tuple[Value, ...]) -> Following:
        """What follows a run: other runs by chance, or a rest.  The run is used up."""
        machine = self.machine
        match machine.go(run):
            case Wait():
                settled, place = machine.settled(run)
                return [(ONE, rest(settled, place, None, written), written)]
            case End(value):
                run.frames.clear()
                shown = released(machine, run, value)
                return [(ONE, rest(None, None, shown, written), written)]
            case Emit(value):
                machine.trim(run)
                return [(ONE, run, (*written, released(machine, run, value)))]
            case Noise(list() as outcomes) if all(type(value) in ATOMS for value, _ in outcomes):
                settled, place = machine.settled(run)
                before = self._number(("draws", place))
                return [(p, Drawn(settled, value, (before, key(value))), written) for value, p in outcomes]
            case Noise(list() as outcomes):
                found: Following = []
                for value, probability in outcomes:
                    after = machine.copied(run)
                    after.frames[-1].stack.append(value)
                    found.append((probability, after, written))
                return found
            case Noise(Geometric(center, alpha)):
                base = rational(alpha)
                aside = base / (1 + base)
                middle = machine.copied(run)
                middle.frames[-1].stack.append(center)
                up, down = (
                    machine.with_tail(machine.copied(run), Tail(-1, s, center + s, Fraction(alpha))) for s in (1, -1)
                )
                return [((1 - base) / (1 + base), middle, written), (aside, up, written), (aside, down, written)]
            case Split() as split:
                return [(p, after, written) for p, after in self._split(run, split)]
            case Noise() | Deciding():
                raise Beyond("continuous noise in a finite mechanism", "question.source")

    def _split(self, run: Run, split: Split) -> list[tuple[Rational, Run]]:
        """Draw the excess of a tail as far as it is asked for."""
        [alpha] = {t.alpha for t in self.machine.tails(run) if t.identity == split.identity}
        base = rational(alpha)
        found = []
        for excess in range(split.bound + 1):
            last = excess == split.bound

            def drawn(leaf: Value, excess: int = excess, *, last: bool = last) -> Value:
                if not isinstance(leaf, Tail) or leaf.identity != split.identity:
                    return leaf
                offset = leaf.offset + leaf.sign * excess
                return replace(leaf, offset=offset) if last else offset

            probability = base**excess * (ONE if last else ONE - base)
            found.append((probability, self.machine.copied(run, drawn)))
        return found

    def settle(self, run: Run) -> Law:
        """The law of where a run rests next, and of what it writes until then.  The run is used up."""
        start = self._number(
            ("start", len(self.numbers))
        )  # where a run was fed no other comes; if it comes back, to another node
        waiting: list[tuple[int, Run, tuple[Value, ...]]] = [(start, run, ())]
        while waiting:
            label, node, before = waiting.pop()
            if label in self.edges:
                continue
            listed: list[tuple[Rational, int]] = []
            for probability, found, written in self.onward(node, before):
                if isinstance(found, Rest):
                    target = self._number(("rest", found.key))
                    self.rests[target] = found
                elif isinstance(found, Drawn):
                    target = self._number((found.key, key(written)))
                    if target not in self.edges:
                        following = self.machine.copied(found.run)
                        following.frames[-1].stack.append(found.value)
                        waiting.append((target, following, written))
                else:
                    following, place = self.machine.settled(found)
                    target = self._number((place, key(written)))
                    if target not in self.edges:
                        waiting.append((target, following, written))
                listed.append((probability, self.certain.get(target, target)))
            self.edges[label] = listed
            if len(listed) == 1 and listed[0][0] == 1 and listed[0][1] in self.rests:
                self.certain[label] = listed[0][1]
        masses = _masses(start, self.edges, self.machine.work)
        result = {self.rests[label]: mass for label, mass in masses.items() if label in self.rests and mass != 0}
        if sum(result.values(), ZERO) != 1:
            raise Beyond("the mechanism does not end with probability one", "question.source")
        return result

    def _number(self, label: Any) -> int:
        """The number of a node; runs that go on alike have one, whatever they come from."""
        return self.numbers.setdefault(label, len(self.numbers))


def _masses(start: int, edges: Edges, work: Work) -> dict[int, Rational]:
    """How much mass passes through every node (a rest: arrives there)."""
    masses: dict[int, Rational] = {start: ONE}
    if not any(target in edges for _, target in edges[start]):
        work.spend(len(edges[start]))
        for probability, target in edges[start]:
            masses[target] = masses.get(target, ZERO) + probability
        return masses
    groups = components([start], lambda node: [target for _, target in edges.get(node, ())])[::-1]
    work.spend(len(groups))
    for group in groups:
        inside = set(group)
        if len(group) > 1 or any(target == group[0] for _, target in edges.get(group[0], ())):
            masses.update(_in_cycle(group, edges, masses))
        for node in group:
            mass = masses.get(node, ZERO)
            for probability, target in edges.get(node, ()):
                if target not in inside:
                    masses[target] = masses.get(target, ZERO) + mass * probability
    return masses


def _in_cycle(group: list[int], edges: Edges, masses: Mapping[int, Rational]) -> dict[int, Rational]:
    """The mass that passes through the nodes of a cycle: what comes from outside, and what comes back."""
    if len(group) > _MOST_IN_CYCLES:
        raise Beyond(f"a loop that draws again has more than {_MOST_IN_CYCLES} states", "question.source")
    place = {node: i for i, node in enumerate(group)}
    system = fmpq_mat(len(group), len(group))
    for node, i in place.items():
        system[i, i] += ONE
        for probability, target in edges[node]:
            if target in place:
                system[place[target], i] -= probability
    inflow = fmpq_mat(len(group), 1, [masses.get(node, ZERO) for node in group])
    try:
        solved = system.solve(inflow)
    except ZeroDivisionError:
        raise Beyond("a loop may go on for ever", "question.source") from None
    return {node: solved[i, 0] for node, i in place.items()}
