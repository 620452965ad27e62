"""Trials that cover: data and noise are searched for until every branch of a translation has gone both ways.

A trial runs a function and its translation on the same data and the same noise.  Data and noise are made of *choices*, numbers that
can be repeated and changed one by one.  A branch that chance does not take is approached: where its condition fails, the
*distance* says by how much (Korel 1990: for ``a == b`` it is ``|a - b|``, for ``and`` the sum of the parts, for ``or`` the least),
and choices are changed as long as the distance falls.  Everything is a function of the translation: the same question gives the
same trials.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from random import Random
from typing import Any, TypeAlias

from privproof.errors import PrivproofError
from privproof.exact.patience import pause
from privproof.language.evaluating import WRONG
from privproof.language.flow import Instruction, Test, instruction_reads
from privproof.language.randomness import Chance
from privproof.language.syntax import Conditional, Constant, Expression, Operation, Place, Variable
from privproof.language.values import equal, truth
from privproof.language.walking import parts

Branch: TypeAlias = Hashable

_LEAST, _MOST = 60, 400
"""So many trials are made in any case, and so many where a branch is not yet taken."""
_VALUES = 12
"""So many other values are tried for one choice."""
_IDLE = 60
"""After so many trials that come no nearer, a branch is left for the others."""
_TOLD = 4
"""So many branches that were not taken are named."""


class Choices:
    """Numbers below given widths: the given ones first, then new ones by chance; all are remembered."""

    def __init__(self, given: Sequence[int], chance: Random) -> None:
        self.given, self.chance = given, chance
        self.made: list[int] = []
        self.widths: list[int] = []

    def below(self, width: int) -> int:
        """The next number below a width."""
        at = len(self.made)
        value = self.given[at] % width if at < len(self.given) else self.chance.randrange(width)
        self.made.append(value)
        self.widths.append(width)
        return value

    def choice(self, items: Sequence[Any]) -> Any:
        """One of several items."""
        return items[self.below(len(items))]

    def randint(self, low: int, high: int) -> int:
        """A number from `low` to `high`."""
        return low + self.below(high - low + 1)


@dataclass
class Watch:
    """What a trial is asked to notice: the branches it takes, and how near it comes to those that are still wanted."""

    wanted: frozenset[Branch]
    taken: set[Branch] = field(default_factory=set)
    missed: dict[Branch, float] = field(default_factory=dict)

    def miss(self, branch: Branch, distance: Callable[[], float]) -> None:
        """A branch was not taken, by so much; asked for only where it matters."""
        if branch in self.wanted:
            self.missed[branch] = min(self.missed.get(branch, float("inf")), distance())


@dataclass(frozen=True)
class Covered:
    """What trials have shown.

    Attributes:
        told: how the two disagree, or None.
        runs: how many trials were made.
        taken: the branches that were taken.
        missing: those that were not.
        fresh: the choices of the trials that took a branch for the first time.
    """

    told: str | None
    runs: int
    taken: frozenset[Branch]
    missing: tuple[Branch, ...]
    fresh: tuple[tuple[int, ...], ...] = ()


Attempt: TypeAlias = Callable[[Choices, Watch], "str | None"]
"""Makes one trial: how the two disagree, or None."""


def cover(branches: Iterable[Branch], attempt: Attempt, *, least: int = _LEAST, most: int = _MOST) -> Covered:
    """Make trials until every branch was taken, or so many were made."""
    return _Search(tuple(dict.fromkeys(branches)), attempt, most).run(least)


class _Search:
    def __init__(self, branches: tuple[Branch, ...], attempt: Attempt, most: int) -> None:
        self.branches, self.attempt, self.most = branches, attempt, most
        self.chance = Chance(0)
        self.taken: set[Branch] = set()
        self.near: dict[Branch, tuple[float, Choices]] = {}
        self.idle: dict[Branch, int] = {}
        self.fresh: list[tuple[int, ...]] = []
        self.runs = 0
        self.told: str | None = None

    def run(self, least: int) -> Covered:
        for _ in range(least):
            self.trial(())
        while self.runs < self.most and self.told is None:
            missing = [b for b in self.branches if b not in self.taken]
            if not missing:
                break
            open_ = [b for b in missing if b in self.near and self.idle.get(b, 0) < _IDLE]
            if open_:
                self.approach(min(open_, key=lambda b: (self.idle.get(b, 0), self.near[b][0])))
            else:
                self.trial(())
        missing = [b for b in self.branches if b not in self.taken]
        return Covered(self.told, self.runs, frozenset(self.taken), tuple(missing), tuple(self.fresh))

    def trial(self, given: Sequence[int]) -> None:
        if self.told is not None:
            return
        pause()
        choices = Choices(given, self.chance)
        watch = Watch(frozenset(b for b in self.branches if b not in self.taken))
        self.runs += 1
        self.told = self.attempt(choices, watch)
        if not watch.taken <= self.taken:
            self.fresh.append(tuple(choices.made))
        self.taken |= watch.taken
        for branch, distance in watch.missed.items():
            if branch not in self.near or distance < self.near[branch][0]:
                self.near[branch] = (distance, choices)
                self.idle[branch] = 0

    def approach(self, branch: Branch) -> None:
        """Change the choices of the trial that came nearest to a branch, one at a time and then two."""
        before, choices = self.near[branch]
        order = list(range(len(choices.made)))
        self.chance.shuffle(order)
        for position in order:
            width = choices.widths[position]
            values = range(width) if width <= _VALUES else [self.chance.randrange(width) for _ in range(_VALUES)]
            near = [v for v in (choices.made[position] - 1, choices.made[position] + 1) if 0 <= v < width]
            for value in dict.fromkeys((*near, *values)):
                if value == choices.made[position]:
                    continue
                self.idle[branch] = self.idle.get(branch, 0) + 1
                self.trial((*choices.made[:position], value, *choices.made[position + 1 :]))
                if self.runs >= self.most or self.told is not None or branch in self.taken:
                    return
                if self.near[branch][0] < before or self.idle[branch] >= _IDLE:
                    return
        changed = list(choices.made)
        for position in order[:2]:
            changed[position] = self.chance.randrange(choices.widths[position])
        self.idle[branch] = self.idle.get(branch, 0) + 1
        self.trial(changed)


@dataclass(frozen=True)
class Side:
    """One way that a condition can go: the number of its instruction and of the condition in it, its place, the outcome."""

    number: int
    part: int
    outcome: bool
    place: Place = field(compare=False)

    def __str__(self) -> str:
        return f"line {self.place.line} {'true' if self.outcome else 'false'}"


Evaluate: TypeAlias = Callable[[Expression], Any]
"""The value of an expression at this point of a trial."""
Records: TypeAlias = Callable[[str], "Iterable[object]"]
"""Goes through the records of a list: while one is given out, expressions are evaluated for it."""


def _no_records(_: str) -> Iterable[object]:
    return ()


def _conditionals(expression: Expression) -> Iterator[Conditional]:
    if isinstance(expression, Conditional):
        yield expression
    for part in parts(expression):
        yield from _conditionals(part)


class Conditions:
    """The conditions of a program: what instructions test, and the tests of conditional expressions; constants decide nothing."""

    def __init__(self, code: Sequence[Instruction]) -> None:
        self.code = code
        self.known: dict[tuple[int, int], tuple[Side, Side]] = {}
        for number, step in enumerate(code):
            found = [(step.test, step.place)] if isinstance(step, Test) else []
            found += [(c.test, c.place) for whole in instruction_reads(step) for c in _conditionals(whole)]
            for part, (test, place) in enumerate(found):
                if not isinstance(test, Constant):
                    both = Side(number, part, False, place), Side(number, part, True, place)  # noqa: FBT003
                    self.known[number, id(test)] = both
        self.numbers = {number for number, _ in self.known}

    def sides(self) -> Iterator[Side]:
        """Both sides of every condition."""
        for both in self.known.values():
            yield from both

    def notice(self, number: int, evaluate: Evaluate, watch: Watch, records: Records = _no_records) -> None:
        """Notice which way the conditions of an instruction go that is about to be executed; those of a sum for every record."""
        if number not in self.numbers:
            return
        step = self.code[number]
        walk = _Walk(number, self.known, evaluate, watch, records)
        for whole in instruction_reads(step):
            walk.through(whole)
        if isinstance(step, Test):
            walk.decided(step.test)


@dataclass(frozen=True)
class _Walk:
    """The walk through the expressions of an instruction that is about to be executed."""

    number: int
    known: Mapping[tuple[int, int], tuple[Side, Side]]
    evaluate: Evaluate
    watch: Watch
    records: Records

    def through(self, expression: Expression) -> None:
        """The conditions of an expression that is evaluated; those of parts that are passed over are not decided."""
        match expression:
            case Conditional(test, then, otherwise):
                self.through(test)
                self.through(then if self.decided(test) else otherwise)
            case Operation("and" | "or" as name, arguments):
                for argument in arguments:
                    self.through(argument)
                    if truth(self.evaluate(argument)) != (name == "and"):
                        return
            case Operation("total", (Variable(name), added)):
                if any(True for _ in _conditionals(added)):
                    for _ in self.records(name):
                        self.through(added)
            case _:
                for part in parts(expression):
                    self.through(part)

    def decided(self, test: Expression) -> bool:
        """Which way a condition goes; that is noticed."""
        outcome = truth(self.evaluate(test))
        both = self.known.get((self.number, id(test)))
        if both is not None:
            self.watch.taken.add(both[outcome])
            self.watch.miss(both[not outcome], lambda: distance(test, self.evaluate, wanted=not outcome))
        return outcome


_OPPOSITE = {"==": "!=", "!=": "==", "<": ">=", ">=": "<", ">": "<=", "<=": ">"}


def distance(expression: Expression, evaluate: Evaluate, *, wanted: bool) -> float:
    """How far a condition is from an outcome: 0 where it has it, otherwise the larger the farther, below 1 for each part.

    What cannot be evaluated, because a part before it guards it, is as far away as can be.
    """
    try:
        match expression:
            case Operation("not", (part,)):
                return distance(part, evaluate, wanted=not wanted)
            case Operation("and" | "or" as name, arguments):
                parts = [distance(a, evaluate, wanted=wanted) for a in arguments]
                return sum(parts) if (name == "and") == wanted else min(parts)
            case Operation(name, (left, right)) if name in _OPPOSITE:
                gap = _gap(name if wanted else _OPPOSITE[name], evaluate(left), evaluate(right))
                return gap / (1 + gap)
            case _:
                return 0.0 if truth(evaluate(expression)) == wanted else 0.5
    except (*WRONG, PrivproofError):
        return 1.0


def _gap(name: str, left: Any, right: Any) -> float:
    """By how much a comparison fails; 0 where it holds."""
    if not all(isinstance(x, int | float | Fraction) for x in (left, right)):
        same = equal(left, right)
        return 0.0 if same == (name == "==") else 1.0
    difference = float(left - right)
    match name:
        case "==":
            return abs(difference)
        case "!=":
            return 0.0 if difference else 1.0
        case "<" | "<=":
            holds = difference < 0 or (name == "<=" and difference == 0)
            return 0.0 if holds else 1 + difference
        case _:
            holds = difference > 0 or (name == ">=" and difference == 0)
            return 0.0 if holds else 1 - difference


def told_coverage(found: Covered) -> str:
    """Which branches were taken, and the first that were not, as the end of a sentence; empty where there are none.

    >>> told_coverage(Covered(None, 60, frozenset({1, 2}), ()))
    ' (both ways that conditions can go)'
    >>> told_coverage(Covered(None, 400, frozenset({1, 2, 3}), ("line 7 true",)))
    ' (3 of 4 ways that conditions can go; never: line 7 true)'
    """
    count = len(found.taken) + len(found.missing)
    if not count:
        return ""
    if not found.missing:
        all_of_them = {1: "the only way", 2: "both ways"}.get(count, f"all {count} ways")
        return f" ({all_of_them} that conditions can go)"
    few = ", ".join(dict.fromkeys(map(str, found.missing[:_TOLD])))
    more = f" and {len(found.missing) - _TOLD} more" if len(found.missing) > _TOLD else ""
    return f" ({len(found.taken)} of {count} ways that conditions can go; never: {few}{more})"
