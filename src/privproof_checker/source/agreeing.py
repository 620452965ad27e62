"""Whether two transducers show the same: the one that the program is, and the one in the certificate.

Both read one input a step and write an output or nothing.  States of both that go on alike are put into classes first, from
the end backwards (probabilistic bisimulation, Larsen and Skou 1991); on a step that repeats, by refining a partition until
nothing changes.  If both begin with the same mass in every class they agree.  Otherwise the difference of the two
distributions is followed through all letters, as far as it is linearly independent of what was followed before, and no
word may tell the two apart (Schützenberger 1961, Tzeng 1992).  Either way the answer is exact.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from flint import fmpq

from privproof_checker.numbers import ZERO, Rational
from privproof_checker.outcomes import refuse
from privproof_checker.source.running import Work
from privproof_checker.source.values import Beyond

State: TypeAlias = Any
"""Whatever tells states apart."""
Branch: TypeAlias = "tuple[Rational, str | None, State]"
"""The probability, the output, and the next state."""
Row: TypeAlias = "Mapping[str, Sequence[Branch]]"
"""From an input to the branches."""
Mass: TypeAlias = "Mapping[State, Rational]"
Vector: TypeAlias = "dict[int, Rational]"
Moves: TypeAlias = "dict[tuple[str, str | None], Vector]"

_MOST_CLASSES = 600
"""Beyond so many classes differences are not followed: their basis would be too large."""


@dataclass(frozen=True)
class Transducer:
    """A transducer with its beginnings.

    Attributes:
        starts: for every situation the distribution to begin with.
        steps: for every step the rows of the states that go on; the others have halted.
        repeats: whether the last step is taken again and again.
        finish: after the last step, the distribution of the last output; None where nothing is shown then.
    """

    starts: Sequence[Mass]
    steps: Sequence[Mapping[State, Row]]
    repeats: bool
    finish: Mapping[State, Mapping[str, Rational]] | None


def agree(program: Transducer, model: Transducer, work: Work, *, halting: bool) -> None:
    """Refuse if some word tells the program and the model apart; also a word that has ended, where halting is seen."""
    if len(program.starts) != len(model.starts):
        refuse("the program begins in another number of situations than the model", "question.scenario")
    if program.repeats != model.repeats or len(program.steps) != len(model.steps):
        refuse("the program has other steps than the model", "question.steps")
    if (program.finish is None) != (model.finish is None):
        refuse("the program shows its output at another time than the model", "question.finish")
    classes = _Classes((program, model), work)
    for number in range(len(program.starts)):
        difference = _difference(*(classes.sums(side, number) for side in (0, 1)))
        if difference:
            _followed(difference, classes, work, halting=halting)


def _difference(left: Vector, right: Vector) -> Vector:
    result = dict(left)
    for place, mass in right.items():
        result[place] = result.get(place, ZERO) - mass
    return {place: mass for place, mass in result.items() if mass != 0}


class _Classes:
    """The classes of states that go on alike, level by level, and how a class goes on."""

    def __init__(self, sides: tuple[Transducer, Transducer], work: Work) -> None:
        self.sides = sides
        self.work = work
        self.repeats = sides[0].repeats
        self.last = len(sides[0].steps)
        self.finish: list[Mapping[str, Rational]] = []
        self.moves: list[list[Moves]] = [[] for _ in range(self.last)]
        self.where: list[dict[State, int]] = [{} for _ in range(self.last + 1)]
        if self.repeats:
            if self.last != 1:
                raise Beyond("a step that repeats after others", "question.steps")
            self._refined()
        else:
            self._ended()
            for level in range(self.last - 1, -1, -1):
                self._level(level)

    def level(self, number: int) -> int:
        """The level after so many letters."""
        return 0 if self.repeats else number

    def sums(self, side: int, start: int) -> Vector:
        """The mass that a beginning has in each class."""
        result: Vector = {}
        for state, mass in self.sides[side].starts[start].items():
            place = self._class(0, (side, state))
            result[place] = result.get(place, ZERO) + mass
        return {place: mass for place, mass in result.items() if mass != 0}

    def _class(self, level: int, state: State) -> int:
        """The class of a state; one that no step reads has halted: class 0."""
        return self.where[level].get(state, 0)

    def _ended(self) -> None:
        """After the last step: by the last output."""
        known: dict[State, int] = {}
        self.finish.append({})
        for side, transducer in enumerate(self.sides):
            for state, row in (transducer.finish or {}).items():
                said = frozenset((name, _plain(p)) for name, p in row.items() if p != 0)
                if said not in known:
                    known[said] = len(self.finish)
                    self.finish.append({name: p for name, p in row.items() if p != 0})
                self.where[self.last][side, state] = known[said]

    def _moves(self, level: int, row: Row, side: int) -> Moves:
        """Where a state goes: for every letter the mass in each class of the next level."""
        result: Moves = {}
        following = self.level(level + 1) if self.repeats else level + 1
        for symbol, branches in row.items():
            self.work.spend(len(branches))
            for probability, output, target in branches:
                sums = result.setdefault((symbol, output), {})
                place = self._class(following, (side, target))
                sums[place] = sums.get(place, ZERO) + probability
        return result

    def _level(self, level: int) -> None:
        known: dict[State, int] = {}
        self.moves[level].append({})
        for side, transducer in enumerate(self.sides):
            for state, row in transducer.steps[level].items():
                moves = self._moves(level, row, side)
                said = _said(moves)
                if said not in known:
                    known[said] = len(self.moves[level])
                    self.moves[level].append(moves)
                self.where[level][side, state] = known[said]

    def _refined(self) -> None:
        """The coarsest partition that no letter splits."""
        states = [(side, state) for side in (0, 1) for state in self.sides[side].steps[0]]
        self.where[0] = dict.fromkeys(states, 1)
        count = 1
        while True:
            known: dict[State, int] = {}
            found: list[Moves] = [{}]
            where: dict[State, int] = {}
            for side, state in states:
                moves = self._moves(0, self.sides[side].steps[0][state], side)
                said = (self.where[0][side, state], _said(moves))
                if said not in known:
                    known[said] = len(found)
                    found.append(moves)
                where[side, state] = known[said]
            self.where[0] = where
            if len(known) == count:
                break
            count = len(known)
        for (side, state), place in where.items():
            found[place] = self._moves(0, self.sides[side].steps[0][state], side)
        self.moves = [found]


def _plain(value: Rational) -> tuple[int, int]:
    return int(value.p), int(value.q)


def _said(moves: Moves) -> State:
    return frozenset(
        (letter, frozenset((place, _plain(mass)) for place, mass in sums.items() if mass != 0))
        for letter, sums in moves.items()
        if any(mass != 0 for mass in sums.values())
    )


def _followed(difference: Vector, classes: _Classes, work: Work, *, halting: bool) -> None:
    """Refuse if a word has another probability in the program than in the model."""
    bases: dict[int, _Basis] = {}
    waiting: list[tuple[int, Vector, tuple[tuple[str, str | None], ...]]] = [(0, difference, ())]
    while waiting:
        level, vector, word = waiting.pop()
        if classes.sides[0].finish is None and (sum(vector.values(), ZERO) != 0 or (halting and 0 in vector)):
            _told_apart(word)
        if not classes.repeats and level == classes.last:
            _same_ends(vector, classes, word)
            continue
        if max(vector, default=0) > _MOST_CLASSES:
            raise Beyond("the program and the model have too many classes of states to compare", "question.steps")
        basis = bases.setdefault(level, _Basis(work))
        if not basis.adds(vector):
            continue
        after: dict[tuple[str, str | None], Vector] = {}
        for place, mass in vector.items():
            for letter, sums in classes.moves[level][place].items():
                reached = after.setdefault(letter, {})
                work.spend(len(sums))
                for target, probability in sums.items():
                    reached[target] = reached.get(target, ZERO) + mass * probability
        for letter, reached in after.items():
            rest = {place: mass for place, mass in reached.items() if mass != 0}
            if rest:
                waiting.append((classes.level(level + 1), rest, (*word, letter)))


def _same_ends(vector: Vector, classes: _Classes, word: Sequence[tuple[str, str | None]]) -> None:
    sums: dict[str, Rational] = {}
    for place, mass in vector.items():
        for name, probability in classes.finish[place].items():
            sums[name] = sums.get(name, ZERO) + mass * probability
    for name, total in sums.items():
        if total != 0:
            _told_apart((*word, ("", name)))


def _told_apart(word: Sequence[tuple[str, str | None]]) -> None:
    shown = " ".join(f"{symbol}:{output}" if symbol and output else symbol or str(output) for symbol, output in word)[
        :120
    ]
    refuse(f"the program does not do what the model does: {shown or 'at the beginning'}", "question.source")


class _Basis:
    """Linearly independent vectors, each reduced by those before it."""

    def __init__(self, work: Work) -> None:
        self.rows: dict[int, Vector] = {}
        self.work = work

    def adds(self, vector: Vector) -> bool:
        """Whether a vector is independent of those so far; if so it is added."""
        rest = dict(vector)
        for lead, row in self.rows.items():
            factor = rest.get(lead, ZERO)
            if factor != 0:
                self.work.spend(len(row))
                for place, entry in row.items():
                    rest[place] = rest.get(place, ZERO) - factor * entry
                rest = {place: entry for place, entry in rest.items() if entry != 0}
        if not rest:
            return False
        lead = min(rest)
        scale: fmpq = rest[lead]
        self.rows[lead] = {place: entry / scale for place, entry in rest.items()}
        return True
