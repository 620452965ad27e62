"""Where runs of a PRISM model start: the initial values, or the states that satisfy ``init ... endinit``.

The condition is taken apart into alternatives (``|``) and, within each, into parts (``&``).  Variables are decided one after the
other: first those that few values are left for, by the parts that speak of them alone, and those that complete a part; every part
is asked as soon as all its variables are decided.  So what is tried stays near to what there is in the end, whatever the ranges.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from privproof.errors import FormatError
from privproof.logic.prism.expression_meanings import ExpressionMeaning, Trouble
from privproof.logic.prism.label_states import CHUNK, ranges_of
from privproof.logic.prism.module_system import Slot, System
from privproof.logic.prism.state_coding import Code, used_slots
from privproof.logic.prism.transition_tables import State

_WIDEST = 5_000_000
"""Values of one variable that are tried one after the other, where no part of the condition says between which numbers it lies."""
_MOST_TRIED = 100_000_000
"""Partial states that are tried for one alternative; beyond, which takes minutes, the condition is refused."""


def initial_states(system: System, most: int) -> list[State]:
    """The initial states, in the order of their values; not more than so many."""
    if system.start is None:
        return [tuple(slot.initial for slot in system.slots)]
    found: set[State] = set()
    for alternative in system.start.args if system.start.op == "|" else (system.start,):
        found.update(_Alternative(system, tuple(_parts(alternative)), most).states())
        if len(found) > most:
            _refuse(system, f"init ... endinit has more than {most} states", "make the ranges smaller")
    if not found:
        raise FormatError("initial", "no state satisfies init ... endinit", place=system.source.place(system.start_at))
    return sorted(found)


def _parts(condition: ExpressionMeaning) -> Iterator[ExpressionMeaning]:
    if condition.op == "&":
        for part in condition.args:
            yield from _parts(part)
    else:
        yield condition


def _refuse(system: System, message: str, hint: str) -> None:
    raise FormatError("size", message, place=system.source.place(system.start_at), hint=hint)


class _Alternative:
    """One alternative of the condition: parts that hold together."""

    def __init__(self, system: System, parts: tuple[ExpressionMeaning, ...], most: int) -> None:
        self.system, self.parts, self.most = system, parts, most
        self.values = [self._alone(number, slot) for number, slot in enumerate(system.slots)]

    def states(self) -> list[State]:
        """The states, each as a tuple in the order of the slots."""
        if any(part.op == "const" and not part.value for part in self.parts):
            return []
        order: list[int] = []
        found: list[State] = [()]
        rest = set(range(len(self.values)))
        tried = 0
        while rest:
            decided = sum(1 << slot for slot in order)
            slot = min(rest, key=lambda each: self._cost(decided, each))
            rest.remove(slot)
            order.append(slot)
            asked = self._completed(decided, slot)
            tried += len(found) * len(self.values[slot])
            if tried > _MOST_TRIED:
                _refuse(
                    self.system,
                    f"more than {_MOST_TRIED} combinations of values would have to be tried for init ... endinit",
                    "give the variables initial values, or ask for single values: x=0 & ...",
                )
            found = self._extended(found, slot, asked, tuple(order))
        place = sorted(range(len(order)), key=order.__getitem__)
        return [tuple([state[at] for at in place]) for state in found]

    def _cost(self, decided: int, slot: int) -> tuple[bool, bool, int, int]:
        """What speaks against deciding a variable now: several values, no part that it completes, and how many values."""
        count = len(self.values[slot])
        return count > 1, not self._completed(decided, slot), count, slot

    def _completed(self, decided: int, slot: int) -> list[ExpressionMeaning]:
        """The parts, of several variables, all of which are decided with this one."""
        with_it = decided | 1 << slot
        return [
            part for part in self.parts if part.uses >> slot & 1 and part.uses != 1 << slot and not part.uses & ~with_it
        ]

    def _extended(
        self, found: list[State], slot: int, asked: Sequence[ExpressionMeaning], order: tuple[int, ...]
    ) -> list[State]:
        """The partial states with every value of one more variable that the parts allow."""
        result: list[State] = []
        values = self.values[slot]
        size = max(1, CHUNK // max(1, len(values)))
        for begin in range(0, len(found), size):
            chunk = [(*state, value) for state in found[begin : begin + size] for value in values]
            result += _filter_states(asked, chunk, order)
            if len(result) > self.most:
                _refuse(self.system, f"init ... endinit has more than {self.most} states", "make the ranges smaller")
        return result

    def _alone(self, number: int, slot: Slot) -> list[int]:
        """The values of a variable that the parts about it alone allow."""
        low, high = slot.low, slot.high
        alone = [part for part in self.parts if part.uses == 1 << number]
        for part in alone:
            ends = ranges_of(part)
            if ends:
                low, high = max(low, min(end[0] for end in ends)), min(high, max(end[1] for end in ends))
        if high - low >= _WIDEST:
            _refuse(
                self.system,
                f"more than {_WIDEST} values of {slot.name!r} would have to be tried for init ... endinit",
                f"say in it between which numbers {slot.name} lies",
            )
        return [value for (value,) in _filter_states(alone, [(value,) for value in range(low, high + 1)], (number,))]


def _filter_states(conditions: Sequence[ExpressionMeaning], states: list[State], slots: tuple[int, ...]) -> list[State]:
    """The states, given as values of some slots, in which all conditions hold."""
    for condition in conditions:
        places = [slots.index(slot) for slot in used_slots(condition.uses)]
        try:
            kept = Code().column(condition)([tuple([state[place] for place in places]) for state in states])
        except Trouble as trouble:
            raise FormatError(trouble.code, trouble.message, place=trouble.place, hint=trouble.hint) from None
        states = [state for state, keep in zip(states, kept, strict=True) if keep]
    return states
