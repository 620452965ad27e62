"""Lotteries: the text of a mechanism draws by lot, with the laws of levels that a question has, on lists of every length.

The list is left open (`OpenList`): a turn of the loop is run on every value of an element, with all its random choices.  Some kinds of
values hide what grows with the list, and the program may ask of them what is said here and nothing else:

* `Place`, an index, is kept and returned;
* `Count`, how many values are equal by now, goes up and down by whole numbers and gives the probability of a lot: ``Fraction(1, count)``
  as that of a coin, or a whole number that is drawn from so many of which only whether it is the first is asked (`Above`: it is not);
* `Gathered`, a list that a loop fills, is gone through by the next loop.

**Lists.**  The first loop appends one number for every element, drawn with a probability ``p_x`` that depends on the element x, and keeps
nothing else.  The second goes through these, of which only whether they are the largest is asked (`Level`, `Extreme`; or the smallest), and
keeps the indices of those that are, nothing else.  One of these indices is drawn, each alike, and returned.

**The turns of a reservoir.** The first turn leads from the beginning to a *level*, all that the loop keeps beside the place and the
count, with a probability ``p_x`` that depends on the element x; the place is that of this turn, and the count is c.  A turn from a level
v with the count n does what that of a lottery does: to every better level w with ``p_x(w)``, with the place of this turn and the count c;
with ``p_x(v)`` the count is n + 1 and the place is that of this turn with probability 1/k, where k = n - c + 2 values are equal by now;
else nothing changes.  Which levels are better than which is a total order.  At the end the place is returned.  By induction over the list
the level is the highest one drawn, the count is c - 1 + (how many drew it), and the place is one of theirs, each alike.

**Every count.**  What is asked of a count does not depend on how large it is, so a turn makes the same graph of runs for every n, in which
only the T lots have probabilities 1/(n + j) and 1 - 1/(n + j).  By Cramer's rule, with the rows of the lots multiplied by n + j, the
probability of where a turn leads is a quotient of polynomials in n of degree T at most.  That of a lottery is one of degree 1.  Both agree
for every n if they agree at T + 2 numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, TypeAlias

from privproof_checker.numbers import ONE, ZERO, Rational, rational
from privproof_checker.outcomes import Limits, refuse
from privproof_checker.plain_documents import a_list, a_number
from privproof_checker.source.exploring import Explorer, Rest
from privproof_checker.source.machine import Machine, noise_arguments
from privproof_checker.source.operations import Fails
from privproof_checker.source.running import Event, Frame, Noise, Run, Work, holders
from privproof_checker.source.source_member import PLACE, Findings, Source
from privproof_checker.source.values import (
    ENDED,
    Beyond,
    Cells,
    Gathered,
    OpenList,
    Place,
    Sealed,
    Value,
    key,
    read_value,
)

_MOST_LOTS = 20
"""Lots in the graph of one turn; more are no lottery, and each takes another count to be compared at."""
_RELATIONS = ("each", "one", "monotone")
_NUMBERS, _INDICES = "numbers", "indices"
"""What the list that the first loop fills is called, and that of the second."""

_Level: TypeAlias = Any
_Law: TypeAlias = "dict[tuple[_Level, bool, Any], Rational]"
"""Where a turn leads: the level, whether the place is that of this turn, and the key of the count, with probabilities."""


def establish_lottery(source: Source, asked: Mapping[str, object], limits: Limits, work: Work) -> Findings:
    """Refuse if the question is not about the lottery that the text is; give up where the text is not followed."""
    if len(source.inputs) != 1 or len(source.private) != 1 or source.mechanism.generator:
        raise Beyond("other inputs than one private list", PLACE)
    [declared] = source.private
    if declared.shape != "list" or declared.own_size is not None or declared.values is None:
        raise Beyond("no list of open length with finitely many values", PLACE)
    near = None if asked.get("within") is None else rational(a_number(asked["within"], "question.within", limits))
    if source.relation not in _RELATIONS or (asked.get("relation"), near) != (source.relation, declared.within):
        refuse("the question has other neighbours than the program", "question.relation")
    values = [read_value(item, "question.values") for item in a_list(asked.get("values"), "question.values")]
    if {key(value) for value in values} != {key(value) for value in declared.values}:
        refuse("the values are not those of the input", "question.values")
    try:
        found = laws_of_levels(source, declared.name, values, work)
    except Fails as problem:
        raise Beyond(f"the function may fail: {problem.reason}", problem.place) from None
    given = [
        [rational(a_number(each, "question.laws", limits)) for each in a_list(law, "question.laws")]
        for law in a_list(asked.get("laws"), "question.laws")
    ]
    if found != given:
        refuse("the laws of levels are not those of the program", "question.laws")
    return Findings()


def laws_of_levels(source: Source, name: str, values: Sequence[Value], work: Work) -> list[list[Rational]]:
    """For every value the probabilities of the levels; gives up where the text is not found to be a lottery.

    In a reservoir the count is the variable with which it is one.
    """
    turns = _Turns(source, name, work)
    start = turns.begun()
    if turns.fills(start):
        return turns.by_lists(start, values)
    firsts = [turns.turn(start, value) for value in values]
    runs = [one.run for law in firsts for one in law]
    problem = Beyond("nothing counts how many values are equal", PLACE)
    for count in sorted(set.intersection(*(set(_numbers(run)) for run in runs if run is not None))):
        try:
            return turns.lottery(count, values, firsts)
        except (Beyond, Fails) as other:
            problem = Beyond(other.reason, other.place)
    raise problem


def _empty(value: Value) -> bool:
    return isinstance(value, Cells) and not value.items and not value.fixed


def _numbers(run: Run) -> list[str]:
    """The variables of the mechanism that hold whole numbers."""
    return [name for name, value in run.frames[0].variables.items() if type(value) is int]


# ------------------------------------------------------------------------------------------------------ what hides a count


@dataclass(frozen=True, eq=False)
class Count(Sealed):
    """A count, of which only the sum with whole numbers is known, and what it is for the law of a lot."""

    number: int
    plus: int = 0

    @property
    def mark(self) -> tuple[Any, ...]:
        """What was added."""
        return ("count", self.plus)

    @property
    def value(self) -> int:
        """The number that it stands for."""
        return self.number + self.plus


@dataclass(frozen=True, eq=False)
class Share(Sealed):
    """One over a count: the probability of a coin."""

    count: Count


@dataclass(frozen=True, eq=False)
class Above(Sealed):
    """A whole number that was drawn, and is not the first of those that it was drawn from."""

    first: int

    def equals(self, other: Value) -> bool:
        """Whether it is the first, and nothing else."""
        return False if type(other) is int and other == self.first else super().equals(other)


@dataclass(frozen=True, eq=False)
class Extreme(Sealed):
    """The largest of the numbers of a list, or the smallest."""

    largest: bool

    def equals(self, other: Value) -> bool:
        """Whether a number of the list is it."""
        return other.top if isinstance(other, Level) else super().equals(other)


@dataclass(frozen=True, eq=False)
class Level(Sealed):
    """A number of a list, of which it is known whether it is the extreme one."""

    top: bool

    def equals(self, other: Value) -> bool:
        """Whether the extreme number is this one."""
        return self.top if isinstance(other, Extreme) else super().equals(other)


class _LotMachine(Machine):
    """A machine on which counts are hidden; it counts the lots that are drawn, and notes which extremes are asked for."""

    def __init__(self, source: Source, work: Work) -> None:
        super().__init__(source.functions, work)
        known = self.operators
        self.operators = {**known, "Add": _moved(known["Add"], 1), "Sub": _moved(known["Sub"], -1)}
        self.lots = 0
        self.extremes: set[bool] = set()

    def _other(self, frame: Frame, name: str, argument: Any) -> None:
        stack = frame.stack
        if name == "builtin" and argument == ("Fraction", 2) and isinstance(stack[-1], Count):
            if type(stack[-2]) is not int or stack[-2] != 1:
                raise Beyond("another share than one over a count", PLACE)
            stack[-2:] = [Share(stack[-1])]
            return
        if name == "builtin" and argument in (("max", 1), ("min", 1)) and isinstance(stack[-1], Gathered):
            if not stack[-1].complete or stack[-1].name != _NUMBERS:
                raise Beyond("the extreme of another list than that of all noisy numbers", PLACE)
            self.extremes.add(argument[0] == "max")
            stack[-1:] = [Extreme(argument[0] == "max")]
            return
        super()._other(frame, name, argument)

    def _noise(self, frame: Frame, name: str, names: Sequence[str]) -> Event:
        at, given = noise_arguments(frame, name, names)
        if not any(isinstance(value, Sealed) for value in frame.stack[at:]):
            return super()._noise(frame, name, names)
        if name == "random.choice" and isinstance(frame.stack[-1], Gathered):
            if not frame.stack[-1].complete or frame.stack[-1].name != _INDICES:
                raise Beyond("one of another list than that of the indices is drawn", PLACE)
            del frame.stack[at:]
            frame.at += 1
            return Noise([(Place(here=False), ONE)])
        first, among = _lot(name, given)
        if among < 1:
            raise Fails("a lot among none", "")
        self.lots += 1
        del frame.stack[at:]
        frame.at += 1
        other = False if first is True else Above(first)
        rows = [(first, Rational(1, among)), (other, ONE - Rational(1, among))]
        return Noise([(value, p) for value, p in rows if p != 0])


def _moved(operator: Callable[[Value, Value], Value], sign: int) -> Callable[[Value, Value], Value]:
    """Addition or subtraction that knows counts."""

    def apply(left: Value, right: Value) -> Value:
        if isinstance(left, Count) and type(right) is int:
            return replace(left, plus=left.plus + sign * right)
        if isinstance(right, Count) and type(left) is int and sign > 0:
            return replace(right, plus=right.plus + left)
        return operator(left, right)

    return apply


def _lot(name: str, given: Mapping[str, Value]) -> tuple[Any, int]:
    """What a lot gives where it falls on the first, and among how many it is drawn."""
    low: Value
    match name, list(given.values()):
        case "bernoulli", [Share(count)]:
            return True, count.value
        case (("uniform" | "random.randint"), [low, Count() as high]) if type(low) is int:
            return low, high.value - low + 1
        case (("random.randrange" | "secrets.randbelow"), [Count() as high, *rest]) if rest in ([], [None]):
            return 0, high.value
        case "random.randrange", [low, Count() as high] if type(low) is int:
            return low, high.value - low
    raise Beyond("a count, or an index, is an argument of other noise than a lot", PLACE)


# ----------------------------------------------------------------------------------------------------------------- the turns


class _Turns:
    """Turns of the loop over a list of open length."""

    def __init__(self, source: Source, name: str, work: Work) -> None:
        self.machine = _LotMachine(source, work)
        self.arguments = {**source.parameters, name: OpenList(name)}
        self.name = name

    def begun(self) -> Run:
        """The run that waits for the first element."""
        law = Explorer(self.machine).settle(self.machine.begin(self.arguments))
        [(one, mass), *more] = law.items()
        if more or mass != 1 or one.run is None or one.written:
            raise Beyond("something is drawn or written before the loop", PLACE)
        return one.run

    def fed(self, run: Run, name: str, value: Value) -> dict[Rest, Rational]:
        """Where an element of a list leads, or its end."""

        def earlier(leaf: Value) -> Value:
            return Place(here=False) if isinstance(leaf, Place) else leaf

        given = self.machine.copied(run, earlier)
        for holder in holders(given):
            if isinstance(holder, OpenList) and holder.name == name:
                holder.given = value
        law = Explorer(self.machine).settle(given)
        if any(one.written for one in law):
            raise Beyond("what is returned is not all that is shown", PLACE)
        return law

    def turn(self, run: Run, value: Value) -> dict[Rest, Rational]:
        """Where a turn on an element leads, or the end of the list."""
        law = self.fed(run, self.name, value)
        if any((one.run is None) != (value is ENDED) for one in law):
            raise Beyond("the loop ends before the list", PLACE)
        return law

    # --------------------------------------------------------------------------------------------------------------- lists

    def fills(self, run: Run) -> bool:
        """Whether a loop that is about to begin fills a list."""
        return any(map(_empty, run.frames[-1].variables.values()))

    def by_lists(self, run: Run, values: Sequence[Value]) -> list[list[Rational]]:
        """The laws of levels, if the mechanism draws by lists."""
        first = self._filling(run, _NUMBERS)
        laws: list[dict[Value, Rational]] = []
        for value in values:
            law: dict[Value, Rational] = {}
            for one, mass in self.fed(first, self.name, value).items():
                found = self._appended(one, first, _NUMBERS)
                if len(found) != 1 or isinstance(found[0], bool) or not isinstance(found[0], int | Fraction):
                    raise Beyond("a turn appends something else than one exact number", PLACE)
                law[found[0]] = law.get(found[0], ZERO) + mass
            laws.append(law)
        second = self._filling(self._ended(first, self.name, _NUMBERS), _INDICES)
        for top in (True, False):
            for one in self.fed(second, _NUMBERS, Level(top)):
                found = self._appended(one, second, _INDICES)
                if [isinstance(each, Place) and each.here for each in found] != [True] * top:
                    raise Beyond("the second loop keeps something else than the indices of the extreme numbers", PLACE)
        if self._ended(second, _NUMBERS, _INDICES) is not None or len(self.machine.extremes) != 1:
            raise Beyond("something else than one of the indices is drawn and returned", PLACE)
        [largest] = self.machine.extremes
        order = sorted({level for law in laws for level in law}, reverse=not largest)
        return [[law.get(level, ZERO) for level in order] for law in laws]

    def _filling(self, run: Run | None, name: str) -> Run:
        """A run that is about to begin a loop, with the list that it fills hidden."""
        if run is None or len(run.frames) != 1:
            raise Beyond("the loop is not one of the mechanism itself", PLACE)
        copy = self.machine.copied(run)
        variables = copy.frames[0].variables
        empty = [held for held, value in variables.items() if _empty(value)]
        if len(empty) != 1:
            raise Beyond("a loop does not fill one list", PLACE)
        variables[empty[0]] = Gathered(name)
        return copy

    def _appended(self, one: Rest, before: Run, name: str) -> tuple[Value, ...]:
        """What a turn has appended, if it has done nothing else."""
        if one.run is None:
            raise Beyond("the loop ends before the list", PLACE)
        after = self.machine.copied(one.run)
        [filled] = [held for held in holders(after) if isinstance(held, Gathered) and held.name == name]
        new, filled.new = filled.new, ()
        if self.machine.settled(after)[1] != self.machine.settled(self.machine.copied(before))[1]:
            raise Beyond("a turn does something else than append", PLACE)
        return new

    def _ended(self, run: Run, over: str, filled: str) -> Run | None:
        """Where the end of a loop leads: to another loop, or to the end with an index."""
        copy = self.machine.copied(run)
        for held in holders(copy):
            if isinstance(held, Gathered) and held.name == filled:
                held.complete, held.walked = True, False
        [(one, mass), *more] = self.fed(copy, over, ENDED).items()
        if more or mass != 1 or (one.run is None and not isinstance(one.value, Place)):
            raise Beyond("something else than an index is drawn or returned after a loop", PLACE)
        return one.run

    # ---------------------------------------------------------------------------------------------------------- a reservoir

    def parts(self, run: Run, count: str) -> tuple[_Level, bool, Value]:
        """The level, whether the place is that of this turn, and the count."""
        places: list[Place] = []

        def hidden(leaf: Value) -> Value:
            if isinstance(leaf, Place):
                places.append(leaf)
                return Place(here=False)
            return leaf

        if len(run.frames) != 1 or count not in run.frames[0].variables:
            raise Beyond("the loop is not one of the mechanism itself", PLACE)
        copy = self.machine.copied(run, hidden)
        if len(places) != 1:
            raise Beyond(f"the loop keeps {len(places)} indices, not one", PLACE)
        held = copy.frames[0].variables.pop(count)
        return self.machine.settled(copy)[1], places[0].here, held

    def lottery(
        self, count: str, values: Sequence[Value], firsts: Sequence[Mapping[Rest, Rational]]
    ) -> list[list[Rational]]:
        """The laws of levels, if a variable is the count of a lottery."""
        begun = {self.parts(one.run, count)[2] for law in firsts for one in law if one.run is not None}
        if len(begun) != 1:
            raise Beyond("the count does not begin with one number", PLACE)
        [first] = begun
        states: dict[_Level, Run] = {}
        laws: list[dict[_Level, Rational]] = []
        for law in firsts:
            own: dict[_Level, Rational] = {}
            for one, mass in law.items():
                assert one.run is not None
                level, here, _ = self.parts(one.run, count)
                if not here:
                    raise Beyond("the first element is not the best so far", PLACE)
                states.setdefault(level, one.run)
                own[level] = own.get(level, ZERO) + mass
            laws.append(own)
        better: dict[_Level, set[_Level]] = {}
        for level, run in states.items():
            self._returned(self._at(run, count, first, 0))
            better[level] = {
                after
                for value in values
                for after, _, _ in self._law(self._at(run, count, first, 0), value, count)
                if after != level
            }
        order = sorted(states, key=lambda level: -len(better[level]))
        if any(better[level] != set(order[rank + 1 :]) for rank, level in enumerate(order)):
            raise Beyond("the levels have no order", PLACE)
        for level, run in states.items():
            for value, own in zip(values, laws, strict=True):
                self._compare(level, run, count, first, value, own, better[level])
        return [[own.get(level, ZERO) for level in order] for own in laws]

    def _at(self, run: Run, count: str, first: int, plus: int) -> Run:
        """A level with a count."""
        copy = self.machine.copied(run)
        copy.frames[0].variables[count] = Count(first + plus)
        return copy

    def _law(self, run: Run, value: Value, count: str) -> _Law:
        law: _Law = {}
        for one, mass in self.turn(run, value).items():
            assert one.run is not None
            level, here, held = self.parts(one.run, count)
            place = (level, here, key(held))
            law[place] = law.get(place, ZERO) + mass
        return law

    def _compare(
        self,
        level: _Level,
        run: Run,
        count: str,
        first: int,
        value: Value,
        own: Mapping[_Level, Rational],
        better: set[_Level],
    ) -> None:
        """Refuse to follow where a turn does something else than that of a lottery, at some count."""
        tie = own.get(level, ZERO)
        lots, plus = 0, 0
        while plus < lots + 2:
            before = self.machine.lots
            found = self._law(self._at(run, count, first, plus), value, count)
            drawn = self.machine.lots - before
            if (plus and drawn != lots) or drawn > _MOST_LOTS:
                raise Beyond("lots that are drawn are not the same at all counts, or too many", PLACE)
            lots, equal = drawn, plus + 2
            expected = {(after, True, key(first)): own.get(after, ZERO) for after in better}
            expected[level, True, ("count", 1)] = tie / equal
            expected[level, False, ("count", 1)] = tie * (equal - 1) / equal
            expected[level, False, ("count", 0)] = ONE - tie - sum((own.get(w, ZERO) for w in better), ZERO)
            if found != {where: mass for where, mass in expected.items() if mass != 0}:
                raise Beyond("a turn does something else than that of a lottery", PLACE)
            plus += 1

    def _returned(self, run: Run) -> None:
        """Refuse to follow where something else than the place is returned."""
        for one in self.turn(run, ENDED):
            if not isinstance(one.value, Place):
                raise Beyond("something else than the index of a highest value is returned", PLACE)
