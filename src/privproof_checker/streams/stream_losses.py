"""Refutations by a loss: two neighbouring sequences of inputs, and an event that is too likely under the first.

The event is that, after so many steps, the run has not halted, the symbols written are those of the given path, and the
numbers written lie in their windows.  Its probability is the sum over all executions of this length that write the same
(a step that writes nothing leaves no trace).  An execution is a system of orders between independent Laplace noises,
several systems that exclude each other if a guard has alternatives; the probability of each is integrated in balls.  Where
terms without noise are compared the order holds or not.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from flint import arb, ctx

from privproof_checker.claims import loss_at_least
from privproof_checker.integrals.elimination import Unresolved
from privproof_checker.integrals.probabilities import Inequality, probability_ball
from privproof_checker.numbers import INFINITE, Epsilon, Rational
from privproof_checker.outcomes import Accepted, Limits, refuse, within
from privproof_checker.plain_documents import a_list, a_number, an_integer, only_members, text
from privproof_checker.streams.automaton_steps import Transition
from privproof_checker.streams.order_systems import ZERO, Order, Term
from privproof_checker.streams.output_telling import check_output_event
from privproof_checker.streams.stream_automata import Automaton

_MOST_EXECUTIONS = 2000
"""Executions that write the same, and systems of orders that they come to; beyond, the evidence is refused."""
_BITS = (256, 1024, 2048)
"""The precisions at which the loss is compared with the claim, in this order; what the last leaves open is refused."""

Inputs = Sequence[Rational | None]
Window = tuple[Rational | None, Rational | None]
Place = tuple[int | None, Rational]
"""A number: a noise (None: no noise) plus a constant."""


def refuted_by_loss(automaton: Automaton, evidence: dict[str, object], limits: Limits) -> Accepted:
    """Check that the loss of an event exceeds the claim."""
    only_members(evidence, ("method", "steps", "left", "right", "windows"), "evidence")
    path = _path(automaton, evidence.get("steps"), limits)
    check_output_event(
        automaton, [an_integer(number, "evidence.steps") for number in a_list(evidence["steps"], "evidence.steps")]
    )
    left, right = (_inputs(path, evidence.get(side), f"evidence.{side}", limits) for side in ("left", "right"))
    _neighbours(automaton, left, right)
    windows = _windows(path, evidence.get("windows"), limits)
    executions = _alike(automaton, path)
    for bits in _BITS:
        with ctx.workprec(bits):
            above, below = (_chance(automaton, executions, side, windows, bits) for side in (left, right))
            exceeds = _exceeds(automaton, above, below, bits)
        if exceeds:
            break
        if exceeds is not None:
            refuse(f"{_ball_text(above)} does not exceed {_limit(automaton, below)}", "evidence")
    else:
        refuse(f"{_BITS[-1]} bits do not tell whether the loss exceeds the claim", "evidence")
    return Accepted(
        "refuted",
        f"after {len(path)} steps an event has probability {_ball_text(above)} on the left inputs, more than "
        f"{_limit(automaton, below)}",
        {"method": "loss", "left": _ball_text(above), "right": _ball_text(below), "executions": len(executions)},
        lower=_needed_epsilon(automaton, above, below),
    )


def _needed_epsilon(automaton: Automaton, above: arb, below: arb) -> Epsilon:
    """An epsilon that the event asks for at least."""
    if below == 0:
        return INFINITE
    with ctx.workprec(_BITS[0]):
        return loss_at_least(((above - arb(automaton.delta)) / below).log())


def _ball_text(value: arb) -> str:
    return str(value.str(10, radius=False))


def _limit(automaton: Automaton, below: arb) -> str:
    more = "" if automaton.delta == 0 else f" plus {text(automaton.delta)}"
    return f"e^({automaton.epsilon}) times the probability {_ball_text(below)} on the right inputs{more}"


def _exceeds(automaton: Automaton, above: arb, below: arb, bits: int) -> bool | None:
    """Whether the loss exceeds the claim; None if the balls do not tell."""
    excess = above - arb(automaton.delta)
    if not automaton.epsilon.infinite:
        excess -= automaton.epsilon.ball(bits).exp() * below
    elif not below.is_zero():
        return False
    if excess > 0:
        return True
    return False if excess <= 0 else None


# Reading


def _path(automaton: Automaton, value: object, limits: Limits) -> list[Transition]:
    listed = a_list(value, "evidence.steps")
    within(len(listed), limits.horizon, "steps", "evidence.steps")
    state = automaton.initial
    path = []
    for i, item in enumerate(listed):
        number = an_integer(item, f"evidence.steps[{i}]")
        if not 0 <= number < len(automaton.transitions):
            refuse(f"there is no transition {number}", f"evidence.steps[{i}]")
        transition = automaton.transitions[number]
        if transition.source != state:
            refuse(f"transition {number} does not begin where the execution is", f"evidence.steps[{i}]")
        path.append(transition)
        state = transition.target
    return path


def _per_step(path: Sequence[Transition], value: object, place: str) -> list[object]:
    listed = a_list(value, place)
    if len(listed) != len(path):
        refuse(f"expected {len(path)} entries, one for each step, found {len(listed)}", place)
    return listed


def _inputs(path: Sequence[Transition], value: object, place: str, limits: Limits) -> list[Rational | None]:
    result: list[Rational | None] = []
    for i, (transition, item) in enumerate(zip(path, _per_step(path, value, place), strict=True)):
        if transition.step.reads != (item is not None):
            refuse("a step has an input if and only if it reads one", f"{place}[{i}]")
        result.append(None if item is None else a_number(item, f"{place}[{i}]", limits))
    return result


def _neighbours(automaton: Automaton, left: Inputs, right: Inputs) -> None:
    pairs = zip(left, right, strict=True)
    changes = [two - one for one, two in pairs if one is not None and two is not None and one != two]
    if not changes:
        refuse("the two sides have the same inputs", "evidence.right")
    if any(abs(change) > automaton.within for change in changes):
        refuse(f"two inputs differ by more than {text(automaton.within)}", "evidence.right")
    if automaton.relation == "one" and len(changes) > 1:
        refuse(f"{len(changes)} inputs differ instead of one", "evidence.right")
    if automaton.relation == "monotone" and min(changes) < 0 < max(changes):
        refuse("the inputs differ in both directions", "evidence.right")


def _windows(path: Sequence[Transition], value: object, limits: Limits) -> list[list[Window]]:
    """The windows of the steps that write something."""
    result = []
    for i, (transition, item) in enumerate(zip(path, _per_step(path, value, "evidence.windows"), strict=True)):
        place = f"evidence.windows[{i}]"
        windows = []
        for given in a_list(item, place):
            ends = [None if end is None else a_number(end, place, limits) for end in a_list(given, place)]
            if len(ends) != 2:
                refuse("a window has two ends", place)
            windows.append((ends[0], ends[1]))
        if len(windows) != len(transition.step.values):
            refuse(f"expected {len(transition.step.values)} windows, one for each value", place)
        if not transition.silent:
            result.append(windows)
    return result


def _alike(automaton: Automaton, path: Sequence[Transition]) -> list[tuple[Transition, ...]]:
    """All executions of the same length that write the same."""
    written = [(each.symbol, len(each.step.values)) for each in path if not each.silent]
    found: list[tuple[tuple[Transition, ...], int, int]] = [((), 0, automaton.initial)]
    for done in range(1, len(path) + 1):
        longer = []
        for taken, count, state in found:
            for number in automaton.leaving[state]:
                each = automaton.transitions[number]
                if each.silent:
                    new = count
                elif count < len(written) and written[count] == (each.symbol, len(each.step.values)):
                    new = count + 1
                else:
                    continue
                if len(written) - new <= len(path) - done:
                    longer.append(((*taken, each), new, each.target))
        within(len(longer), _MOST_EXECUTIONS, "executions that write the same", "evidence.steps")
        found = longer
    result = [taken for taken, count, _ in found if count == len(written)]
    for taken in result:
        if any(one.step.reads != two.step.reads for one, two in zip(taken, path, strict=True)):
            refuse("executions that write the same read inputs in different steps", "evidence.steps")
    return result


# Probabilities


def _chance(
    automaton: Automaton,
    executions: Sequence[Sequence[Transition]],
    inputs: Inputs,
    windows: Sequence[Sequence[Window]],
    bits: int,
) -> arb:
    """A ball for the probability of the event."""
    total = arb(0)
    count = 0
    for execution in executions:
        run = _StreamRun()
        written = iter(windows)
        for transition, value in zip(execution, inputs, strict=True):
            run.tied = transition.source in automaton.tied
            run.take(transition, ZERO if value is None else value, () if transition.silent else next(written))
        count += len(run.systems)
        within(count, _MOST_EXECUTIONS, "systems of orders", "evidence.steps")
        for system in run.systems:
            try:
                total += probability_ball(
                    [("laplace", scale) for scale in run.scales], [_inequality(*order) for order in system], bits
                )
            except Unresolved as error:
                refuse(f"a probability is out of reach: {error}", "evidence")
    return total


def _inequality(low: int | None, high: int | None, offset: Rational) -> Inequality:
    """That one noise is so much above another; None stands for 0."""
    signs = sorted((node, sign) for node, sign in ((low, -1), (high, 1)) if node is not None)
    return tuple((node, Rational(sign)) for node, sign in signs), -offset


@dataclass
class _StreamRun:
    """An execution under given inputs: its noises, and systems of orders between them that exclude each other."""

    scales: list[Rational] = field(default_factory=list)
    systems: list[list[tuple[int | None, int | None, Rational]]] = field(default_factory=lambda: [[]])
    thresholds: dict[str, Place] = field(default_factory=dict)
    tied: bool = False

    def take(self, transition: Transition, value: Rational, windows: Sequence[Window]) -> None:
        """Take a step with an input."""
        step = transition.step
        drawn: list[Place] = []
        for sample in step.samples:
            constant = sample.reads * value + sample.mean
            if sample.rate is None:
                drawn.append((None, constant))
            else:
                drawn.append((len(self.scales), constant))
                self.scales.append(1 / sample.rate)
        if step.some:
            self._one_of(step.guard, drawn)
        else:
            for low, high, offset in step.guard:
                self._require(low, high, offset, drawn, tied=self.tied)
        for (plus, minus, constant), (least, most) in zip(step.values, windows, strict=True):
            if least is not None:
                self._require(minus, plus, least - constant, drawn)
            if most is not None:
                self._require(plus, minus, constant - most, drawn)
        self.thresholds.update({name: drawn[number] for name, number in step.stores.items()})

    def _order(
        self, low: Term, high: Term, offset: Rational, drawn: Sequence[Place]
    ) -> tuple[int | None, int | None, Rational]:
        """The order between noises; with both the same it says that 0 is at least the offset."""
        (one, less), (two, more) = (self._place(term, drawn) for term in (low, high))
        return one, two, offset + less - more

    def _place(self, term: Term, drawn: Sequence[Place]) -> Place:
        if term is None:
            return None, ZERO
        return self.thresholds[term] if isinstance(term, str) else drawn[term]

    def _require(self, low: Term, high: Term, offset: Rational, drawn: Sequence[Place], *, tied: bool = False) -> None:
        order = self._order(low, high, offset, drawn)
        if order[0] != order[1]:
            for system in self.systems:
                system.append(order)
        elif tied and order[2] == 0:
            refuse("terms tie where the guards of a state hold together", "evidence")
        elif order[2] > 0:
            self.systems = []

    def _one_of(self, guard: Sequence[Order], drawn: Sequence[Place]) -> None:
        """Each of the orders in turn, with the opposites of those before it."""
        opposites: list[tuple[int | None, int | None, Rational]] = []
        result = []
        for low, high, offset in guard:
            one, two, least = self._order(low, high, offset, drawn)
            if one == two:
                if self.tied and least == 0:
                    refuse("terms tie where the guards of a state hold together", "evidence")
                if least <= 0:
                    result += [[*system, *opposites] for system in self.systems]
                    break
                continue
            result += [[*system, *opposites, (one, two, least)] for system in self.systems]
            opposites.append((two, one, -least))
            within(len(result), _MOST_EXECUTIONS, "systems of orders", "evidence.steps")
        self.systems = result
