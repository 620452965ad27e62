"""Mechanisms that take one of the largest noisy values by lot, whatever the length of the list: their lottery.

The loop keeps the best value so far, its place and a *count* of how often it has occurred; a new value that equals the best is taken with
probability one over the count.  The count grows with the list, so the loop rests in infinitely many states.  But what it does depends on
the count in one way only, and that is looked at:

* the count is set to constants, gone up by constants, and read by one draw: ``bernoulli(1 / (count + c))``, or ``uniform(a, count + c)``
  of which only ``== a`` is asked; in a turn this draw is made once at the most.  So the probability of everything else that a
  turn may do is ``A + B / (count + j)`` with numbers A, B and j, and two such functions that agree at four counts are the same;
* the turn is run, exactly and on all its random choices, from the beginning, and from every best value with four counts.  It must be
  that of a lottery: from the beginning every best value v is reached with a probability p_x(v) that depends on the element x, its place is
  taken and the count set to c; from a best value v a better one w is reached with p_x(w), and is treated in the same way; with p_x(v) there
  is a tie, the count goes up by one, and the place is taken with probability 1/k, where k is how many values are equal by now; otherwise
  nothing changes.  Which values are better than which must be a total order.

By induction over the list the best value is the largest level drawn, the count is c + (how many elements drew it) - 1, and its place is
one of these, each with the same probability.  At the end the place is returned.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, TypeAlias

from privproof.compiling.counters import counting, loop_counters, other_names
from privproof.compiling.exploring import ExplorationState, Explorer, Rest
from privproof.compiling.lengths import TurnSearch
from privproof.errors import PrivproofError
from privproof.exact import ONE, ZERO, Rational
from privproof.exact.patience import pause
from privproof.language.evaluating import Store
from privproof.language.flow import flow
from privproof.language.indices import Early, Foretold, Index, Length, OpenList, Stuck, Turn
from privproof.language.mechanism import Mechanism
from privproof.language.syntax import (
    Assign,
    Block,
    Constant,
    Expression,
    Operation,
    Sample,
    Statement,
    Variable,
    While,
)
from privproof.language.values import indices, key
from privproof.language.walking import parts, reads, statements, variables, writes
from privproof.models.lottery_model import Lottery
from privproof.scenarios import LotteryQuestion

_MOST_RUNS = 1_500
"""Best values times values of an element: each is a turn that is run with four counts, some seconds in all."""
_COUNTS = 4
"""Counts from which a turn is run; three points tell functions ``A + B / (count + j)`` apart."""
_RELATIONS = ("each", "one", "monotone")

_Level: TypeAlias = tuple[Any, ...]
"""A best value: the key of all that the loop keeps beside the place, the count and its own counter."""
_Law: TypeAlias = "dict[tuple[_Level, int, int], Rational]"
"""Where a turn leads: the best value, the place (1: that of this turn, 0: the former one) and the count, with probabilities."""


class _NoLottery(Exception):
    """The mechanism is no lottery."""


def lottery_question(mechanism: Mechanism) -> LotteryQuestion | None:
    """The question about lists of every length that a mechanism poses if it is a lottery; None where it is none."""
    if mechanism.generator or mechanism.neighbours not in _RELATIONS:
        return None
    model = lottery(mechanism.pinned())
    return (
        None
        if model is None
        else LotteryQuestion(mechanism=mechanism.pinned(), model=model, budget=mechanism.budget(None))
    )


def lottery(mechanism: Mechanism) -> Lottery | None:
    """The lottery that a mechanism is on lists of every length; None where it is none."""
    [(fed, declared), *others] = mechanism.inputs.items()
    if others or declared.shape != "list" or declared.size is not None or not declared.values or declared.public:
        return None
    body = mechanism.translated.body
    count = _count(body)
    if count is None or (declared.within is None and mechanism.neighbours == "monotone"):
        return None
    counted = counting(body, fed, loop_counters(body, fed))
    try:
        explorer = Explorer(flow(counted, [fed], given=(fed, *mechanism.parameters)))
        search = TurnSearch(explorer, other_names(body, fed), fed, declared, known=-1, marks=1)
        store = {**mechanism.parameters, fed: OpenList(begun=False, beyond=-1)}
        return _Turns(search, count, declared.values).lottery(explorer.state(0, store))
    except (_NoLottery, PrivproofError, Early, Stuck):
        return None


# ---------------------------------------------------------------------------------------------------------------- the count


def _count(body: Block) -> str | None:
    """The variable that counts ties: the only draw that reads it is made once in a turn, and nothing else depends on it."""
    loops = [s for s in statements(body) if isinstance(s, While)]
    if len(loops) != 1 or loops[0] not in body:
        return None
    inside = list(statements(loops[0].body))
    for sample in inside:
        if isinstance(sample, Sample) and sample.noise in ("bernoulli", "uniform"):
            for name in {name for e in sample.arguments for name in variables(e)}:
                if _lot(sample, name, body) and _only_counts(body, name, sample, inside):
                    return name
    return None


def _only_counts(body: Block, name: str, lot: Sample, inside: list[Statement]) -> bool:
    """Whether a variable is only set to whole numbers, gone up, and read by one draw inside of the loop."""
    for statement in statements(body):
        if statement is lot:
            continue
        match statement:
            case Assign(written, Constant(value)) if written == name and type(value) is int:
                continue
            case Assign(written, value) if written == name:
                if statement not in inside or _linear(value, name) is None:
                    return False
                continue
        if writes(statement) == name or any(name in variables(e) for e in reads(statement)):
            return False
    return True


def _lot(sample: Sample, name: str, body: Block) -> bool:
    """Whether a draw is ``bernoulli(1 / (count + c))``, or ``uniform(a, count + c)`` of which only ``== a`` is asked."""
    match sample:
        case Sample(_, "bernoulli", (Operation("Fraction", (Constant(1), below)),)):
            return _linear(below, name) is not None
        case Sample(_, "uniform", (Constant(low), high)):
            return type(low) is int and _linear(high, name) is not None and _asks_equal(body, sample)
    return False


def _linear(expression: Expression, name: str) -> int | None:
    """What is added to a variable; None for every other expression."""
    match expression:
        case Variable(read) if read == name:
            return 0
        case Operation("whole", (inner,)):
            return _linear(inner, name)
        case Operation("+" | "-" | "extend" as sign, (left, Constant(number))) if type(number) is int:
            found = _linear(left, name)
            return None if found is None else found + (-number if sign == "-" else number)
        case Operation("+", (Constant(number), right)) if type(number) is int:
            found = _linear(right, name)
            return None if found is None else found + number
    return None


def _asks_equal(body: Block, sample: Sample) -> bool:
    """Whether of a draw from a, a + 1, ... it is only asked whether it is a."""
    low = sample.arguments[0]

    def fine(expression: Expression) -> bool:
        match expression:
            case Operation("==", (Variable(read), Constant(number))) if read == sample.name:
                return isinstance(low, Constant) and type(number) is int and number == low.value
            case Variable(read):
                return read != sample.name
        return all(map(fine, parts(expression)))

    draws = [s for s in statements(body) if writes(s) == sample.name]
    return draws == [sample] and all(fine(e) for s in statements(body) for e in reads(s))


# ---------------------------------------------------------------------------------------------------------------- the turns


class _Turns:
    """Turns of the loop, from the beginning and from every best value."""

    def __init__(self, search: TurnSearch, count: str, values: tuple[Any, ...]) -> None:
        self.search, self.explorer, self.count, self.values = search, search.explorer, count, values
        self.found: dict[_Level, ExplorationState] = {}
        self.begun: int | None = None

    def lottery(self, state: ExplorationState) -> Lottery:
        """The lottery.

        Raises:
            _NoLottery: a turn does something else.
        """
        if self.search.writes:
            raise _NoLottery
        [(start, mass), *more] = self.explorer.settle(state).items()
        if more or mass != ONE or start.state is None:
            raise _NoLottery
        firsts = [self._first(start, value) for value in self.values]
        levels = list(dict.fromkeys(level for law in firsts for level in law))
        if len(levels) * len(self.values) > _MOST_RUNS:
            raise _NoLottery
        assert self.begun is not None
        reached: dict[_Level, list[list[_Law]]] = {}
        for level in levels:
            self._returned(level)
            reached[level] = [[self._law(level, value, plus) for plus in range(_COUNTS)] for value in self.values]
        better = {
            level: {after for laws in found for law in laws for after, _, _ in law if after != level}
            for level, found in reached.items()
        }
        order = sorted(levels, key=lambda level: -len(better[level]))
        if any(better[level] != set(order[rank + 1 :]) for rank, level in enumerate(order)):
            raise _NoLottery
        for level, found in reached.items():
            for first, laws in zip(firsts, found, strict=True):
                if laws != [self._expected(level, first, plus, better[level]) for plus in range(_COUNTS)]:
                    raise _NoLottery
        return Lottery(self.values, tuple(tuple(law.get(level, ZERO) for level in order) for law in firsts))

    def _first(self, start: Rest, value: Any) -> dict[_Level, Rational]:
        """The law of the level of an element."""
        law: dict[_Level, Rational] = {}
        for level, place, count, mass, state in self._turn(start, value):
            self.begun = count if self.begun is None else self.begun
            if place != 1 or count != self.begun:
                raise _NoLottery
            self.found.setdefault(level, state)
            law[level] = law.get(level, ZERO) + mass
        return law

    def _at(self, level: _Level, plus: int, place: int = 0) -> Rest:
        """The loop with a best value that has occurred `plus` times more than once."""
        state = self.found[level]
        assert self.begun is not None
        store: Store = {}
        for name, value in state.store(self.explorer.flow).items():
            store[name] = Foretold(place, -1, value.plus) if isinstance(value, Foretold) else value
        store[self.count] = self.begun + plus
        return Rest.of(self.explorer.state(state.at, store), None, ())

    def _turn(self, rest: Rest, value: Any) -> Iterator[tuple[_Level, int, int, Rational, ExplorationState]]:
        """Where a turn leads, place by place; the element of this turn is the one that is foretold."""
        for mass, (_, target), written in self.search.moved((0, rest), value, marked=True):
            if target.state is None or written is not None:
                raise _NoLottery
            store = target.state.store(self.explorer.flow)
            places = [
                held
                for each in store.values()
                for held in indices(each)
                if not isinstance(held, Turn | OpenList | Length)
            ]
            [place] = places if len(places) == 1 else [None]
            count = store.get(self.count)
            plain = any(each is place for each in store.values())
            if type(count) is not int or not isinstance(place, Foretold) or not plain:
                raise _NoLottery
            kept = ((name, each) for name, each in sorted(store.items()) if name != self.count)
            level = tuple((name, key(each)) for name, each in kept if not isinstance(each, Index | OpenList))
            level += (("the place", place.plus),)
            yield level, place.mark, count, mass, target.state

    def _law(self, level: _Level, value: Any, plus: int) -> _Law:
        """What a turn does."""
        pause()
        law: _Law = {}
        for after, place, count, mass, _ in self._turn(self._at(level, plus), value):
            law[after, place, count] = law.get((after, place, count), ZERO) + mass
        return law

    def _expected(self, level: _Level, first: Mapping[_Level, Rational], plus: int, better: set[_Level]) -> _Law:
        """What the turn of a lottery does."""
        assert self.begun is not None
        count, equal = self.begun + plus, plus + 2
        tie = first.get(level, ZERO)
        rises = {(after, 1, self.begun): first.get(after, ZERO) for after in better}
        taken = {(level, 1, count + 1): tie / equal, (level, 0, count + 1): tie * (equal - 1) / equal}
        stays = {(level, 0, count): ONE - tie - sum(rises.values(), ZERO)}
        return {outcome: mass for outcome, mass in {**rises, **taken, **stays}.items() if mass != 0}

    def _returned(self, level: _Level) -> None:
        """Refuse a mechanism that returns something else than the place."""
        for place in (0, 1):
            found = list(self.search.ended((1, self._at(level, 0, place))))
            match found:
                case [(Foretold(mark, _, 0), mass)] if mark == place and mass == ONE:
                    continue
            raise _NoLottery
