"""Executions of stream automata: whether they are possible, and what they show about the loss.

Let V be the least cost of a shift coupling (see `couplings`) along a path with differences D of the inputs.  If the
orders of the path can hold together, V is not only an upper bound: among the inputs ``x + t D`` and ``x + (t + 1) D``,
with t = 0, 1, 2, ... and numbers written that stay in windows, there are two under which the probabilities of the path
differ by a factor as close to e^V as one likes.  (The orders and windows describe a polyhedron that moves away from the
means with t at a cost of V for every step, up to a constant, so its probability is at most a polynomial in t times
e^(-V t); were every factor below e^(V - h), it could not fall that fast.)  Integer shifts of -1, 0 and 1 suffice for the
least cost, since the constraints are differences.  The path must be what the output shows (`telling`), and all its samples
have noise.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from math import inf

from privproof_checker.numbers import Rational, epsilon
from privproof_checker.outcomes import Limits, refuse, within
from privproof_checker.plain_documents import a_flag, a_list, an_integer, an_object, only_members
from privproof_checker.streams.automaton_steps import AutomatonStep, live_thresholds
from privproof_checker.streams.cost_products import Products
from privproof_checker.streams.order_systems import ZERO, OrderBounds, Term
from privproof_checker.streams.output_telling import tells_path
from privproof_checker.streams.shift_couplings import SHIFTS
from privproof_checker.streams.stream_automata import Automaton

Move = tuple[int, int]
"""The number of a transition, and the difference of the inputs."""


@dataclass(frozen=True)
class Segment:
    """A part of an execution; `times` is None if it is repeated as often as one likes."""

    moves: tuple[Move, ...]
    times: int | None


def check_execution_cost(
    automaton: Automaton, products: Products, unit: Rational, value: object, limits: Limits
) -> None:
    """Refuse an execution whose cost is not at least epsilon."""
    given = an_object(value, "evidence.attained")
    only_members(given, ("segments",), "evidence.attained")
    place = "evidence.attained.segments"
    segments = read_segments(automaton, given.get("segments"), place, limits, growing=False)
    tells_path(automaton, (number for segment in segments for number, _ in segment.moves))
    steps = [transition.step for transition in automaton.transitions]
    dead = _dead(automaton, segments)
    situation = Situation()
    here = products.zero
    for i, segment in enumerate(segments):
        before: object = None
        assert segment.times is not None
        for _ in range(segment.times):
            for number, change in segment.moves:
                gone = dead[automaton.transitions[number].target]
                if not situation.take(steps[number], gone):
                    refuse("the orders of the execution contradict each other", f"{place}[{i}]")
                here = products.forgotten(products.advanced(steps[number].form, change, here), gone)
            if segment.times == 1:
                break
            now = (here, situation.layout())
            if now == before:
                break
            before = now
    cost = here.bound()
    if cost == inf:
        refuse("the execution has no coupling at all", place)
    if automaton.epsilon.compare(epsilon(unit * int(cost))) > 0:
        refuse(f"the execution attains {unit * int(cost)}, less than epsilon = {automaton.epsilon}", place)


# Reading executions


def read_segments(automaton: Automaton, value: object, place: str, limits: Limits, *, growing: bool) -> list[Segment]:
    """The segments of an execution, from the initial state on, with differences that the relation allows."""
    result = []
    state = automaton.initial
    total = 0
    for i, item in enumerate(a_list(value, place)):
        here = f"{place}[{i}]"
        given = an_object(item, here)
        only_members(given, ("steps", "repeated" if growing else "times"), here)
        times: int | None
        if growing:
            times = None if a_flag(given.get("repeated"), f"{here}.repeated") else 1
        else:
            times = an_integer(given.get("times"), f"{here}.times")
            if times < 1:
                refuse("a segment occurs at least once", f"{here}.times")
        moves = []
        first = state
        for j, step in enumerate(a_list(given.get("steps"), f"{here}.steps")):
            move, state = _move(automaton, step, state, f"{here}.steps[{j}]")
            moves.append(move)
        if not moves:
            refuse("a segment has no steps", f"{here}.steps")
        if times != 1 and state != first:
            refuse("a segment that is repeated does not end where it begins", f"{here}.steps")
        total += len(moves) * (times or 1)
        within(total, limits.horizon, "steps", place)
        result.append(Segment(tuple(moves), times))
    if automaton.relation == "monotone" and {change for s in result for _, change in s.moves} >= {-1, 1}:
        refuse("the inputs differ in both directions", place)
    if automaton.relation == "one":
        changed = sum((segment.times or 2) * sum(change != 0 for _, change in segment.moves) for segment in result)
        if changed > 1:
            refuse(f"{changed} inputs differ instead of one", place)
    return result


def _move(automaton: Automaton, value: object, state: int, place: str) -> tuple[Move, int]:
    listed = [an_integer(entry, place) for entry in a_list(value, place)]
    if len(listed) != 2:
        refuse("a step is the number of a transition and a difference", place)
    number, change = listed
    if not 0 <= number < len(automaton.transitions):
        refuse(f"there is no transition {number}", place)
    transition = automaton.transitions[number]
    if transition.source != state:
        refuse(f"transition {number} does not begin where the execution is", place)
    if transition.step.some:
        refuse("the guard has alternatives, for which couplings may be worse than the loss", place)
    if change not in (SHIFTS if transition.step.reads else (0,)):
        refuse(f"{change} is no difference of the inputs of this step", place)
    return (number, change), transition.target


def _dead(automaton: Automaton, segments: Iterable[Segment]) -> dict[int, frozenset[str]]:
    """The thresholds that the execution does not look at again before it replaces them, for each state."""
    used = [automaton.transitions[i] for i in sorted({i for segment in segments for i, _ in segment.moves})]
    everything = frozenset(name for each in used for name in (*each.step.looked, *each.step.stores))
    return {state: everything - live for state, live in live_thresholds(used).items()}


# Whether the orders of an execution can hold together


class Situation:
    """The values of the thresholds during an execution, as far as its orders bound them.

    A threshold is a value plus a constant; two thresholds stored from one sample are the same value.  Value 0 is the
    constant 0.  The input of a step can be chosen freely, so a sample without noise that reads it is a value as well.
    """

    def __init__(self) -> None:
        self._bounds = OrderBounds([0])
        self._terms: dict[str, tuple[int, Rational]] = {}
        self._values = 0

    def take(self, step: AutomatonStep, gone: frozenset[str] = frozenset()) -> bool:
        """Take a step and forget thresholds; False if the orders contradict each other."""
        drawn: dict[Term, tuple[int, Rational]] = {}
        read: tuple[int, int] | None = None
        for i in step.drawn:
            sample = step.samples[i]
            if sample.rate is not None:
                drawn[i] = (self._new(), ZERO)
            elif sample.reads == 0:
                drawn[i] = (0, sample.mean)
            else:
                if read is None:
                    read = (sample.reads, self._new())
                if read[0] != sample.reads:
                    refuse("samples without noise read the input and its negative in one step", "evidence")
                drawn[i] = (read[1], sample.mean)
        for low, high, offset in step.guard:
            (one, less), (two, more) = (self._term(term, drawn) for term in (low, high))
            if not self._bounds.add(one, two, offset + less - more):
                return False
        for name, sample_number in step.stores.items():
            self._terms[name] = drawn[sample_number]
        for name in gone:
            self._terms.pop(name, None)
        self._bounds.keep({0, *(value for value, _ in self._terms.values())})
        return True

    def _new(self) -> int:
        self._values += 1
        self._bounds.value(self._values)
        return self._values

    def _term(self, term: Term, drawn: dict[Term, tuple[int, Rational]]) -> tuple[int, Rational]:
        if term is None:
            return 0, ZERO
        return self._terms[term] if isinstance(term, str) else drawn[term]

    def layout(self) -> object:
        """All that is known, in a form that is the same for situations between which nothing can tell."""
        numbers: dict[int, tuple[int, Rational]] = {0: (0, ZERO)}
        placed = []
        for name in sorted(self._terms):
            value, constant = self._terms[name]
            number, base = numbers.setdefault(value, (len(numbers), constant))
            placed.append((name, number, constant - base))
        bounds = frozenset(
            (numbers[low][0], numbers[high][0], bound + numbers[high][1] - numbers[low][1])
            for low, row in self._bounds.after.items()
            for high, bound in row.items()
        )
        return tuple(placed), bounds
