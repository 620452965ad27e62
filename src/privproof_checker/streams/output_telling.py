"""What the output of a stream automaton tells about the path that was taken.

A transition is *told* if no other transition of its state writes the same, or nothing in the middle of a run, and if
it writes something, or is always taken, or is a last step: it ends the run where one of the guards always holds, so that
a run which writes nothing more has taken it.  If all transitions of a path are told, the path is an event of the output.
Otherwise all paths that write the same are one, as long as only steps before the first guard and last steps write
nothing.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import product

from privproof_checker.outcomes import refuse
from privproof_checker.streams.stream_automata import Automaton

_MOST_ORDERS = 10
"""All truth values of so many orders are tried to see that some guard always holds; with more orders that counts as not shown."""


def tells_path(automaton: Automaton, numbers: Iterable[int]) -> None:
    """Refuse a path that the output does not tell, or on which noise is missing."""
    for number in dict.fromkeys(numbers):
        transition = automaton.transitions[number]
        place = f"question.transitions[{number}]"
        if not tells_transition(automaton, number):
            refuse("what this transition writes does not tell that it was taken", place)
        if any(sample.rate is None for sample in transition.step.samples):
            refuse("a sample without noise is no part of an execution whose cost is attained", place)


def tells_transition(automaton: Automaton, number: int) -> bool:
    """Whether what is written tells that a transition was taken."""
    transition = automaton.transitions[number]
    written = (transition.symbol, len(transition.step.values))
    for other in automaton.leaving[transition.source]:
        each = automaton.transitions[other]
        if other != number and (each.symbol, len(each.step.values)) == written:
            return False
        if other != number and each.silent and not _last(automaton, other):
            return False
    return not transition.silent or not transition.step.guard or _last(automaton, number)


def check_output_event(automaton: Automaton, numbers: Iterable[int]) -> None:
    """Refuse a path if the paths that write the same as it are not one event of the output."""
    if all(tells_transition(automaton, number) for number in dict.fromkeys(numbers)):
        return
    beginning = _first_transitions(automaton)
    for number, transition in enumerate(automaton.transitions):
        if transition.silent and number not in beginning and not _last(automaton, number):
            refuse(
                "a step in the middle writes nothing, so the output does not tell where a run is",
                f"question.transitions[{number}]",
            )


def _first_transitions(automaton: Automaton) -> set[int]:
    """The transitions that every run takes first."""
    found: set[int] = set()
    state = automaton.initial
    while len(automaton.leaving[state]) == 1:
        number = automaton.leaving[state][0]
        if number in found or automaton.transitions[number].step.guard:
            break
        found.add(number)
        state = automaton.transitions[number].target
    return found


def _last(automaton: Automaton, number: int) -> bool:
    """Whether a transition ends the run, in a state where one of the guards always holds."""
    transition = automaton.transitions[number]
    if automaton.leaving[transition.target]:
        return False
    steps = [automaton.transitions[i].step for i in automaton.leaving[transition.source]]
    orders = []
    for step in steps:
        for low, high, offset in step.guard:
            if (low, high, offset) not in orders and (high, low, -offset) not in orders:
                orders.append((low, high, offset))
    if len(orders) > _MOST_ORDERS:
        return False
    for signs in product((True, False), repeat=len(orders)):
        held = {
            (low, high, offset) if sign else (high, low, -offset)
            for (low, high, offset), sign in zip(orders, signs, strict=True)
        }
        if not any(
            not step.guard or (any if step.some else all)(order in held for order in step.guard) for step in steps
        ):
            return False
    return True
