"""Does the prepared program do what the function does?  Both are run on the same data and the same noise, many times.

The function runs as it is, with noise that is handed to it; the program is followed instruction by instruction with exact numbers.
The outputs must be equal, every time.  Data and noise are searched for until every condition of the program has gone both ways.
"""

from __future__ import annotations

import math
import operator
import random
from collections.abc import Callable, Mapping
from dataclasses import replace
from fractions import Fraction
from typing import Any

from privproof.compiling.coins import Tossed
from privproof.compiling.covering import Choices, Conditions, Covered, Side, Watch, cover
from privproof.compiling.fallen import Disagreement, fallen_coins
from privproof.compiling.relational import Program
from privproof.compiling.scales import SIZE
from privproof.compiling.sorts import CONTINUOUS, PROCESSED, RANKED, is_choice
from privproof.compiling.ways import Way, ways
from privproof.errors import LanguageError
from privproof.exact import fraction
from privproof.exact.patience import pause
from privproof.language.flow import Jump, Next, Test, following
from privproof.language.inputs import Input
from privproof.language.laws import (
    WEIGHED,
    WHOLE,
    Continuous,
    DiscreteGaussian,
    Geometric,
    Law,
    Table,
    truncated_geometric,
)
from privproof.language.linear import Linear, Opaque, Ratio, exactly
from privproof.language.mechanism import Mechanism
from privproof.language.more_operations import MORE, converted
from privproof.language.patterns import in_parts
from privproof.language.randomness import Chance
from privproof.language.running import exact_run, recognised_noise
from privproof.language.scripts import recorded
from privproof.language.syntax import (
    Assign,
    Conditional,
    Constant,
    Element,
    Emit,
    Expression,
    Operation,
    Place,
    Return,
    Sample,
    Variable,
)
from privproof.language.values import MISSING
from privproof.language.walking import statements
from privproof.models.graphs import reachable

_FARTHEST = 12
"""Geometric noise of a trial is at most so far from its center: as far as data are, so that comparisons go both ways."""
_PARTS = (7, 7, 2)
"""Noise of a trial is 40 times one over one of these from its centre at most, so that thresholds far from the data are passed."""
_SPREAD = 5
"""Noise that the function does not draw is one number after the other of a sequence that jumps by this factor."""
_LONGEST = 5
"""The longest list of a trial: as long as every order of its values is soon met."""
_MOST_STEPS = 20_000
"""Instructions of one run of a trial; beyond it a loop is taken for one that does not end, and refused."""


class _Endless(Exception):
    """The program does not end within the steps it is given."""


class _Tie(Exception):
    """Two noisy values are equal, which has probability zero: which of them comes first is not said."""


class _Disagree(ValueError):
    """The program draws noise or reads data where the function does not, or differently."""


def agreement(program: Program, tossed: Tossed | None = None) -> Covered:
    """Trials of the program beside the function: on data and noise that are searched for, and on some for every way through it.

    Args:
        program: the program.
        tossed: where its records say how the coins fell that the function tosses for them: the function, and which they are.

    Raises:
        LanguageError: the function itself fails.
    """
    conditions, least = Conditions(program.code), _least_size(program)
    sought = list(conditions.sides()) if tossed else _sides_of_some_length(program, conditions, least)
    with recognised_noise(_function(program, tossed)):  # once for all trials
        covered = cover(sought, lambda choices, watch: _by_choice(program, tossed, least, conditions, choices, watch))
    told = covered.told or _on_every_way(program, tossed, least)
    return replace(covered, told=told)


def _function(program: Program, tossed: Tossed | None) -> Mechanism:
    """The function that a program is compared with."""
    return program.mechanism if tossed is None else tossed.original


def _by_choice(
    program: Program, tossed: Tossed | None, least: int, conditions: Conditions, choices: Choices, watch: Watch
) -> str | None:
    """How the program and the function differ on chosen data and noise, in words; None if they do not."""

    def noise(law: Law) -> Any:
        match law:
            case Continuous(kind, center, scale):
                moved = Fraction(choices.randint(0 if kind == "exponential" else -40, 40), choices.choice(_PARTS))
                return Ratio(exactly(center) + moved * Fraction(scale))
            case Geometric(center) | DiscreteGaussian(center):
                return exactly(center) + choices.randint(-_FARTHEST, _FARTHEST)
            case Table():
                return exactly(choices.choice(law.ranked)[0])

    size = program.size if program.size is not None else choices.randint(least, _LONGEST)
    arguments = _arguments(_function(program, tossed).inputs, size, choices)
    return _difference(program, tossed, arguments, noise, conditions, watch)


_NEAR = 1e-9
"""Probabilities of a choice that are so near to each other are the same: both are rounded."""
_SIZES = (0, 1, 2)
"""Lists of these lengths are gone through on every way."""


def _sides_of_some_length(program: Program, conditions: Conditions, least: int) -> list[Side]:
    """The sides of conditions that lists of some length may take: where lengths are compared with numbers, the length decides.

    On lists that are too short the function fails, whatever the data: what is done there is never seen.  Of all other lengths those
    beside the numbers stand for the rest.
    """
    shortest = max(least, program.least)
    limits = {
        limit + by
        for step in program.code
        if isinstance(step, Test)
        for limit in _limits(step.test) or ()
        for by in (-1, 0, 1)
    }
    lengths = {shortest, *(each for each in limits if each > shortest)} if program.size is None else {program.size}
    taken: set[tuple[int, bool]] = set()
    reached: set[int] = set()
    for length in lengths:
        lists = {n: range(length if d.size is None else d.size) for n, d in program.inputs.items() if d.shape == "list"}
        decide = _Follower(program, lists, None).value

        def onward(number: int, decide: Callable[[Expression], Any] = decide) -> list[int]:
            step = program.code[number]
            if not isinstance(step, Test):
                return list(following(number, step))
            both = (False, True) if _limits(step.test) is None else (bool(decide(step.test)),)
            taken.update((number, side) for side in both)
            return [step.then if side else step.otherwise for side in both]

        reached |= reachable([0], onward)
    return [
        side
        for side in conditions.sides()
        if side.number in reached
        and ((side.number, side.outcome) in taken or side.part > 0 or not isinstance(program.code[side.number], Test))
    ]


def _limits(test: Expression) -> list[int] | None:
    """The numbers that lengths of lists are compared with, where a test is about nothing else."""
    match test:
        case Operation(
            "<" | "<=" | ">" | ">=" | "==" | "!=", (Operation("turns" | "len", (Variable(),)), Constant(int(limit)))
        ):
            return [limit]
        case _:
            return None


def _on_every_way(program: Program, tossed: Tossed | None, least: int) -> str | None:
    """How the program and the function differ on some data and noise for every way through the function at small sizes.

    Equal outputs that print differently are one output to the program, and two to an observer.
    """
    shown: dict[str, str] = {}
    conditions, watch = Conditions(program.code), Watch(frozenset())
    for size in [each for each in _SIZES if each >= least] if program.size is None else (program.size,):
        for way in ways(_function(program, tossed), size, Chance(1)):
            told = _difference(program, tossed, way.arguments, _along(way), conditions, watch)
            if told is None and way.leaf.complete:
                printed = repr(_types(way.leaf.output))
                before = shown.setdefault(repr(_plain_form(way.leaf.output)), printed)
                told = None if before == printed else f"in how equal outputs print: {before} and {printed}"
            if told is not None:
                return told
    return None


def _least_size(program: Program) -> int:
    """The least length of the lists: ordinary code may fail on empty ones, which have no neighbours if nothing else is private."""
    private = [declared for declared in program.inputs.values() if not declared.public]
    lists = all(declared.shape == "list" and declared.size is None for declared in private)
    return int(lists and program.mechanism.translated.ordinary)


def _along(way: Way) -> Callable[[Law], Any]:
    """The noise of one way through the function; where it goes further than on numbers that are left open, some noise."""
    noises, choices = iter(way.noises), iter(way.choices)

    def noise(law: Law) -> Any:
        match law:
            case Continuous(_, center):
                return Ratio(exactly(center) + next(noises, Fraction(0)))
            case Geometric(center) | DiscreteGaussian(center):
                return exactly(center) + next(noises, Fraction(0))
            case Table():
                return exactly(law.ranked[next(choices, 0)][0])  # truncated noise is none where its centre is left open

    return noise


def _difference(
    program: Program,
    tossed: Tossed | None,
    arguments: Mapping[str, Any],
    noise: Callable[[Law], Any],
    conditions: Conditions,
    watch: Watch,
) -> str | None:
    """How the program and the function differ on data and noise, in words; None if they do not."""
    mechanism = _function(program, tossed)
    given = arguments
    if any(is_choice(step, WEIGHED) for step in program.sites):
        given = {name: _in_floats(value) for name, value in arguments.items()}  # exponents are floats
        arguments = {name: _in_fractions(value) for name, value in given.items()}
    try:
        shown, drawn = recorded(lambda: exact_run(mechanism, given), noise)
    except LanguageError as problem:
        if problem.code == "run" and _lengths(program, arguments) < program.least:
            return None  # it fails whatever the data
        if problem.code == "run" and problem.message.startswith("ZeroDivisionError") and _processes(program):
            return None  # noise that is 0 has probability zero, and a public number is the same in both runs
        raise
    given = arguments
    if tossed is not None:
        try:
            rows, drawn = fallen_coins(tossed, arguments, drawn)
        except Disagreement as problem:
            return f"on {dict(arguments)}: {problem}"
        given = {**arguments, tossed.source: rows}
    follower = _Follower(program, given, drawn)
    try:
        followed = follower.output(lambda number: conditions.notice(number, follower.value, watch))
    except _Disagree as problem:
        return f"on {dict(arguments)}: {problem}"
    except _Tie:
        return None
    listed = in_parts(shown)
    if isinstance(listed, tuple) and listed[:1] == ("table",) and _writes_on_the_way(program):
        shown = list(listed[1:])  # a table is what it was given, entry by entry
    flat = followed if mechanism.stream is not None or _writes_on_the_way(program) else followed[-1]
    if _told(program, _plain(shown)) != _plain(flat):
        return f"on {dict(arguments)} the function shows {shown!r}, the program {flat!r}"
    return None


def _in_floats(value: Any) -> Any:
    """Data with floats in the place of fractions."""
    if isinstance(value, list):
        return [_in_floats(each) for each in value]
    return float(value) if isinstance(value, Fraction) else value


def _in_fractions(value: Any) -> Any:
    """Data with the exact values of their floats."""
    if isinstance(value, list):
        return [_in_fractions(each) for each in value]
    return Fraction(value) if isinstance(value, float) else value


def _processes(program: Program) -> bool:
    """Whether an output is computed from what is released."""
    outputs = [step.value for step in program.code if isinstance(step, Emit | Return)]
    return bool(program.shown) or any(isinstance(value, Operation) and value.name == PROCESSED for value in outputs)


def _lengths(program: Program, arguments: Mapping[str, Any]) -> int:
    """The length of the shortest list."""
    return min((len(arguments[name]) for name in program.lists), default=0)


def _plain_form(value: Any) -> Any:
    """An output with equal numbers alike, lists and tuples too; noisy numbers are all alike."""
    if isinstance(value, list | tuple):
        return [_plain_form(item) for item in value]
    return "a number" if isinstance(value, Linear | Opaque) else _plain(value)


def _types(value: Any) -> Any:
    """An output as it prints, noisy numbers all alike."""
    if isinstance(value, list | tuple):
        return type(value)(_types(item) for item in value)
    return "a number" if isinstance(value, Linear | Opaque) else value


def _writes_on_the_way(program: Program) -> bool:
    return program.mechanism.generator or any(isinstance(s, Emit) for s in statements(program.body))


def _plain(value: Any) -> Any:
    value = in_parts(value)
    if type(value).__name__ == "bool_":
        value = bool(value)
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if isinstance(value, bool) or value is None or isinstance(value, str):
        return (type(value).__name__, value)
    return ("number", Fraction(value))


def _told(program: Program, shown: Any) -> Any:
    """An output as the program shows it: without the constant that is added to a number afterwards."""
    if program.offset and isinstance(shown, tuple) and shown[0] == "number":
        return ("number", shown[1] - program.offset)
    return shown


def refuse_endless(program: Program, *, runs: int = 30, seed: int = 2) -> None:
    """Refuse a program that does not end on some data and noise, before the function itself is run on them.

    Raises:
        LanguageError: it does not end.
    """
    chance, least = Chance(seed), _least_size(program)
    for _ in range(runs):
        size = program.size if program.size is not None else chance.randint(least, _LONGEST)
        arguments = _arguments(program.inputs, size, chance)
        try:
            _Follower(program, arguments, None, chance).output()
        except _Endless:
            shown = ", ".join(f"{name}={value}" for name, value in arguments.items())
            raise LanguageError(
                "loop",
                f"a loop does not end on {shown}",
                place=program.mechanism.place,
                hint="a loop must end with probability one",
            ) from None
        except (_Disagree, _Tie, TypeError, ZeroDivisionError):
            continue


def sample_arguments(mechanism: Mechanism, *, size: int, chance: Choices) -> dict[str, Any]:
    """Some data for a mechanism."""
    return _arguments(mechanism.inputs, size, chance)


def _arguments(inputs: Mapping[str, Input], size: int, chance: random.Random | Choices) -> dict[str, Any]:
    result: dict[str, Any] = {}
    for name, declared in inputs.items():
        if declared.shape == "value":
            result[name] = _number(declared, chance)
        else:
            length = declared.size if declared.size is not None else size
            result[name] = [declared.some(lambda each: _number(each, chance)) for _ in range(length)]
    return result


def _number(declared: Input, chance: random.Random | Choices) -> Any:
    if declared.values is not None:
        return chance.choice(declared.values)
    low = Fraction(-8) if declared.low is None else fraction(declared.low)
    high = low + 16 if declared.high is None else fraction(declared.high)
    if declared.low is None and declared.high is not None:
        low = high - 16
    if declared.public and not declared.real:
        high = min(high, low + 4)
    if not declared.real:
        return chance.randint(int(low), int(high))
    return low + (high - low) * Fraction(chance.randint(0, 12), 12)


class _Follower:
    """Follows the instructions of a program with numbers."""

    def __init__(
        self,
        program: Program,
        arguments: Mapping[str, Any],
        drawn: list[tuple[Law, Any]] | None,
        chance: random.Random | None = None,
    ) -> None:
        self.program, self.arguments, self.drawn, self.chance = program, arguments, drawn, chance
        self.values: dict[str, Any] = {}
        self.written: list[Any] = []
        self.position = 0
        self.idle = 0
        self.read = 0
        self.record: Any = None
        self.ranked: list[tuple[Any, int]] = []
        """The values of a selection with their places, the first rank first; those that were taken are gone."""

    def output(self, notice: Callable[[int], None] = lambda _: None) -> list[Any]:
        """Everything that is written, and what is returned; `notice` is told the number of every instruction before it."""
        at = 0
        for _ in range(_MOST_STEPS):
            pause()
            step = self.program.code[at]
            notice(at)
            at += 1
            match step:
                case Assign(name, value):
                    if not (isinstance(value, Constant) and value.value is MISSING):
                        self.values[name] = self.value(value)
                case Sample(_, "place" | "others" | "ranked"):
                    self.select(at - 1, step)
                case Sample(_, kind) if kind in CONTINUOUS and self.ranked and step.name.startswith("#value"):
                    self.values[step.name] = self.ranked.pop(0)[0]
                case Sample():
                    self.values[step.name] = self.noise(step)
                case Emit(value, place):
                    self.written.append(self.shown(value, place))
                case Next(name, stream):
                    if self.read >= len(self.arguments[stream]):
                        return self.written
                    self.values[name] = self.arguments[stream][self.read]
                    self.read += 1
                case Test(test, then, otherwise):
                    at = then if self.value(test) else otherwise
                case Jump(target):
                    at = target
                case Return(value, place):
                    if not (isinstance(value, Constant) and value.value is None) or place in self.program.shown:
                        self.written.append(self.shown(value, place))
                    elif not _writes_on_the_way(self.program):
                        self.written.append(None)
                    return self.written
                case _:
                    raise _Disagree(f"{type(step).__name__} is not followed")
        raise _Endless

    def shown(self, expression: Expression, place: Place) -> Any:
        """An output; a truth value and a number that stand for a value that may be None are that value again."""
        if place in self.program.shown:
            return self.value(self.program.shown[place])
        if isinstance(expression, Operation) and expression.name == PROCESSED:
            expression = expression.arguments[0]
        if not (isinstance(expression, Operation) and expression.name == "tuple of" and self.program.optional):
            return self.value(expression)
        flags = set(self.program.optional.values())
        result: list[Any] = []
        paired = False
        given = list(expression.arguments)
        while given:
            part = given.pop(0)
            match part, given[:1]:
                case Variable(flag), [Conditional(Variable(same), Constant(), Variable())] if flag == same in flags:
                    number = self.value(given.pop(0))
                    result.append(None if self.value(part) else number)
                    paired = True
                case _:
                    result.append(self.value(part))
        return result[0] if paired and len(result) == 1 else tuple(result)

    def select(self, at: int, step: Sample) -> None:
        """A part of a selection: its first place draws all its values."""
        code = self.program.code
        match step:
            case Sample(name, "place", (length, *before)):
                if not before:
                    end = next(
                        i for i in range(at, len(code)) if isinstance(s := code[i], Sample) and s.noise == RANKED
                    )
                    block = code[at : end + 1]
                    center = next(s for s in block if isinstance(s, Assign))
                    sample = next(s for s in block if isinstance(s, Sample) and s.noise in CONTINUOUS)
                    if self._chosen(name, center, sample, self.value(length)):
                        return
                    drawn = []
                    for place in range(self.value(length)):
                        self.values[name] = place
                        self.values[center.name] = self.value(center.value)
                        drawn.append((self.noise(sample), place))
                    if len({value for value, _ in drawn}) < len(drawn):
                        raise _Tie
                    last = block[-1]
                    assert isinstance(last, Sample)
                    down = isinstance(last.arguments[0], Variable) and last.arguments[0].name == sample.name
                    self.ranked = sorted(drawn, key=operator.itemgetter(0), reverse=down)
                self.values[name] = self.ranked[len(before)][1]
            case Sample(name, "others", (_, _, *places)):
                self.values[name] = self.ranked[len(places)][0]
            case Sample(_, "ranked"):
                self.ranked = []

    def _chosen(self, name: str, center: Assign, sample: Sample, count: int) -> bool:
        """Whether the function chose the place of a selection by a table of probabilities: those of the largest with Gumbel noise."""
        if sample.noise != "gumbel" or self.drawn is None or self.position >= len(self.drawn):
            return False
        law, chosen = self.drawn[self.position]
        if not isinstance(law, Table):
            return False
        scores = []
        for place in range(count):
            self.values[name] = place
            scores.append(Fraction(self.value(center.value)) / fraction(self.program.scale(sample).factor))
        weights = [math.exp(score - max(scores)) for score in scores]
        shares = dict(law.outcomes)
        expected = [weight / sum(weights) for weight in weights]
        if any(abs(float(shares.get(i, 0)) - share) > _NEAR for i, share in enumerate(expected)):
            raise _Disagree(f"the choice at {sample.place} has another law")
        self.position += 1
        self.ranked = [(Fraction(0), chosen), (Fraction(0), chosen)]
        self.values[name] = chosen
        return True

    def noise(self, step: Sample) -> Any:
        """The noise that the function drew.

        Noise that the function does not draw is any number: nothing may depend on it.
        """
        if step.where is not None and not self.value(step.where):
            self.idle = (self.idle * _SPREAD + 1) % _FARTHEST
            return self.value(step.arguments[0]) + (self.idle - _FARTHEST // 2)
        if self.drawn is None:
            assert self.chance is not None
            if step.noise in CONTINUOUS:
                moved = Fraction(self.chance.randint(0 if step.noise == "exponential" else -40, 40), 7)
                return Fraction(self.value(step.arguments[0])) + moved
            if step.noise in WHOLE:
                return self.value(step.arguments[0]) + self.chance.randint(-_FARTHEST, _FARTHEST)
            low, high = (self.value(a) for a in step.arguments[:2]) if step.noise == "uniform" else (0, 1)
            chosen = self.chance.randint(low, high)
            return chosen if step.noise == "uniform" else chosen == 1
        if self.position >= len(self.drawn):
            raise _Disagree("the program draws more noise than the function")
        law, value = self.drawn[self.position]
        self.position += 1
        if step.noise == "geometric":
            return self.geometric(step, law, value)
        if step.noise == "discrete_gaussian":
            expected_ = DiscreteGaussian(int(self.value(step.arguments[0])), fraction(self.program.scale(step).factor))
            if law != expected_:
                raise _Disagree(f"the noise at {step.place} has another law")
        if step.noise in CONTINUOUS:
            scale = self.program.scale(step)
            expected = fraction(scale.factor)
            for name in scale.names:
                expected *= self.size if name == SIZE else self.arguments[name]
            center = Fraction(self.value(step.arguments[0]))
            if isinstance(law, Continuous) and center != Fraction(
                law.center
            ):  # it may have drawn it around another number, and added the rest
                moved, law = center - Fraction(law.center), Continuous(law.kind, center, law.scale)
                value = Ratio(Fraction(value) + moved)
            if not isinstance(law, Continuous) or (step.noise, center, expected) != (
                law.kind,
                Fraction(law.center),
                Fraction(law.scale),
            ):
                raise _Disagree(f"the noise at {step.place} has another law")
        return value

    def geometric(self, step: Sample, law: Law, value: Any) -> Any:
        """The value of geometric noise; where the function draws it clamped, beyond the bound that it came to."""
        center, alpha = int(self.value(step.arguments[0])), fraction(self.program.scale(step).alpha)
        expected: Law = Geometric(center, alpha)
        moved = 0
        if isinstance(law, Table):
            values = [each for each, _ in law.outcomes]
            expected = truncated_geometric(center, values[0], values[-1], alpha, None, 1)
            moved = (value == values[-1]) * _FARTHEST if value != values[0] else -_FARTHEST
        if law != expected:
            raise _Disagree(f"the noise at {step.place} has another law")
        return value + moved

    def value(self, expression: Expression) -> Any:
        match expression:
            case Constant(value):
                return value
            case Variable(name):
                return self.arguments[name] if name in self.arguments else self.values.get(name)
            case Element(Variable(name), index):
                at = self.value(index)
                if not 0 <= at < len(self.arguments[name]):
                    raise _Disagree(f"{name} is read at {at}")
                return self.arguments[name][at]
            case Conditional(test, then, otherwise):
                return self.value(then if self.value(test) else otherwise)
            case Operation("and", arguments):
                return all(self.value(a) for a in arguments)
            case Operation("or", arguments):
                return any(self.value(a) for a in arguments)
            case Operation("total", (Variable(name), added)):
                return self.total(name, added)
            case Operation("record"):
                return self.record
            case Operation("field", (inner, Constant(str() as part))):
                return self.value(inner)[part]
            case Operation(name, arguments) if name in OPERATIONS:
                return OPERATIONS[name](*(self.value(a) for a in arguments))
        raise _Disagree(f"an expression at {expression.place}")

    @property
    def size(self) -> int:
        """The length of the lists whose length is left open."""
        return next(len(self.arguments[n]) for n in self.program.lists if self.program.inputs[n].size is None)

    def total(self, name: str, added: Expression) -> Any:
        """The sum of an expression over the records of a list."""
        found: Any = 0
        for record in self.arguments[name]:
            pause()
            self.record = record
            found += self.value(added)
        self.record = None
        return found


OPERATIONS: dict[str, Callable[..., Any]] = {
    "+": operator.add,
    "extend": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "repeat": operator.mul,
    "/": lambda a, b: Fraction(a) / Fraction(b),
    "//": operator.floordiv,
    "%": operator.mod,
    "neg": operator.neg,
    "pos": operator.pos,
    "whole": operator.pos,
    "not": operator.not_,
    "bool": bool,
    "abs": abs,
    "max": max,
    "min": min,
    "sum": sum,
    "count": lambda values, value: list(values).count(value),
    "len": len,
    "turns": len,
    "tuple of": lambda *a: tuple(a),
    "list of": lambda *a: list(a),
    "sorted": lambda a: sorted(a),
    "set": lambda a: set(a),
    "table of": lambda *a: dict(zip(a[::2], a[1::2], strict=True)),
    **{name: MORE[name] for name in ("text of", "join", "text method")},
    "format": lambda value, how: format(converted(value, how.partition(":")[0]), how.partition(":")[2]),
    "float": float,
    "record of": lambda shape, *a: (shape.name, *a),
    "round": round,
    "floor": math.floor,
    "ceil": math.ceil,
    "trunc": math.trunc,
    "int": int,
    "**": operator.pow,
    "is": operator.is_,
    "is not": operator.is_not,
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
