"""Whether two transducers show the same: the one that the program is, and the one in the certificate.

Both read one input a step and write an output or nothing.  States of both that go on alike are put into classes, from the end
backwards (probabilistic bisimulation, Larsen and Skou 1991); on a step that repeats, by refining a partition until nothing
changes.  If both begin with the same mass in every class, every word has the same probability in both.  A model that shows the same and
makes its choices at other times is refused: of what compiles a text, the choice of a record alone makes one.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

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


def agree(program: Transducer, model: Transducer, work: Work) -> None:
    """Refuse unless every word has the same probability in the program and in the model, and both halt alike."""
    if len(program.starts) != len(model.starts):
        refuse("the program begins in another number of situations than the model", "question.scenario")
    if program.repeats != model.repeats or len(program.steps) != len(model.steps):
        refuse("the program has other steps than the model", "question.steps")
    if (program.finish is None) != (model.finish is None):
        refuse("the program shows its output at another time than the model", "question.finish")
    classes = _Classes((program, model), work)
    for number in range(len(program.starts)):
        if classes.sums(0, number) != classes.sums(1, number):
            refuse("the program does not do what the model does", "question.source")


class _Classes:
    """The classes of states that go on alike, level by level; a state that no step reads has halted, and is in class 0."""

    def __init__(self, sides: tuple[Transducer, Transducer], work: Work) -> None:
        self.sides, self.work = sides, work
        last = len(sides[0].steps)
        self.where: list[dict[State, int]] = [{} for _ in range(last + 1)]
        if sides[0].repeats:
            if last != 1:
                raise Beyond("a step that repeats after others", "question.steps")
            self._refined()
            return
        ends = [((side, state), row) for side in (0, 1) for state, row in (sides[side].finish or {}).items()]
        self.where[last] = _numbered((each, _said({("", ""): row})) for each, row in ends)
        for level in range(last - 1, -1, -1):
            self.where[level] = _numbered(self._onward(level, level + 1))

    def sums(self, side: int, start: int) -> Vector:
        """The mass that a beginning has in each class."""
        return self._sums(0, side, ((mass, state) for state, mass in self.sides[side].starts[start].items()))

    def _sums(self, level: int, side: int, masses: Iterable[tuple[Rational, State]]) -> Vector:
        result: Vector = {}
        for mass, state in masses:
            place = self.where[level].get((side, state), 0)
            result[place] = result.get(place, ZERO) + mass
        return {place: mass for place, mass in result.items() if mass != 0}

    def _onward(self, level: int, following: int) -> Iterator[tuple[State, State]]:
        """Where the states of a level go: for every letter the mass in each class of the next level."""
        for side, transducer in enumerate(self.sides):
            for state, row in transducer.steps[level].items():
                moves: dict[tuple[str, str | None], list[tuple[Rational, State]]] = {}
                for symbol, branches in row.items():
                    self.work.spend(len(branches))
                    for probability, output, target in branches:
                        moves.setdefault((symbol, output), []).append((probability, target))
                said = _said({letter: self._sums(following, side, found) for letter, found in moves.items()})
                yield (side, state), said

    def _refined(self) -> None:
        """The coarsest partition that no letter splits."""
        self.where[0] = dict.fromkeys(((side, state) for side in (0, 1) for state in self.sides[side].steps[0]), 1)
        count = 1
        while True:
            before = self.where[0]
            self.where[0] = _numbered([(state, (before[state], said)) for state, said in self._onward(0, 0)])
            found = len(set(self.where[0].values()))
            if found <= count:
                return
            count = found


def _numbered(said: Iterable[tuple[State, State]]) -> dict[State, int]:
    """Classes of states that say the same, numbered from 1 on."""
    known: dict[State, int] = {}
    return {state: known.setdefault(words, len(known) + 1) for state, words in said}


def _said(moves: Mapping[Any, Mapping[Any, Rational]]) -> State:
    return frozenset(
        (letter, frozenset((place, int(mass.p), int(mass.q)) for place, mass in sums.items() if mass != 0))
        for letter, sums in moves.items()
        if any(mass != 0 for mass in sums.values())
    )
