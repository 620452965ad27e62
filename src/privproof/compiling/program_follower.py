"""A prepared program followed instruction by instruction, with exact numbers and the noise that its function drew.

What the program does otherwise than the function (a draw too many, another law, an element that is not there) ends the run: that is a
difference.  Two equal noisy values of a selection have probability zero, so nothing is said of them.
"""

from __future__ import annotations

import math
import operator
import random
from collections.abc import Callable, Iterator, Mapping
from fractions import Fraction
from typing import Any

from privproof.compiling.relational import Program
from privproof.compiling.scales import SIZE
from privproof.compiling.sorts import CONTINUOUS, PROCESSED, RANKED
from privproof.exact import fraction
from privproof.exact.patience import pause
from privproof.language.flow import Jump, Next, Test
from privproof.language.laws import (
    WHOLE,
    Continuous,
    DiscreteGaussian,
    Geometric,
    Law,
    Shaped,
    TableLaw,
)
from privproof.language.linear import Ratio, curve
from privproof.language.more_operations import MORE, convert_in_format
from privproof.language.syntax import (
    Append,
    Assign,
    Conditional,
    Constant,
    Element,
    Emit,
    Expression,
    Operation,
    Place,
    Replace,
    Return,
    Sample,
    Variable,
)
from privproof.language.values import MISSING
from privproof.language.walking import statements

FARTHEST = 12
"""Geometric noise of a trial is at most so far from its center: as far as data are, so that comparisons go both ways."""
_SPREAD = 5
"""Noise that the function does not draw is one number after the other of a sequence that jumps by this factor."""
_MOST_STEPS = 20_000
"""Instructions of one run of a trial; beyond it a loop is taken for one that does not end, and refused."""
_NEAR = 1e-9
"""Probabilities of a choice that are so near to each other are the same: both are rounded."""


class EndlessRun(Exception):
    """The program does not end within the steps it is given."""


class TiedNoise(Exception):
    """Two noisy values are equal, which has probability zero: which of them comes first is not said."""


class ProgramDiffers(ValueError):
    """The program draws noise or reads data where the function does not, or differently."""


class Follower:
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
        self.record_place = 0
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
                case Replace(name, index, value):
                    held, place = self.values[name], self.value(index)
                    if not -len(held) <= place < len(held):
                        raise ProgramDiffers(f"{name} is changed at {place}")
                    held[place] = self.value(value)
                case Append(name, value):
                    self.values[name].append(self.value(value))
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
                    elif not writes_on_the_way(self.program):
                        self.written.append(None)
                    return self.written
                case _:
                    raise ProgramDiffers(f"{type(step).__name__} is not followed")
        raise EndlessRun

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
                        raise TiedNoise
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
        if not isinstance(law, TableLaw):
            return False
        scores = []
        for place in range(count):
            self.values[name] = place
            scores.append(Fraction(self.value(center.value)) / fraction(self.program.scale(sample).factor))
        weights = [math.exp(score - max(scores)) for score in scores]
        shares = dict(law.outcomes)
        expected = [weight / sum(weights) for weight in weights]
        if any(abs(float(shares.get(i, 0)) - share) > _NEAR for i, share in enumerate(expected)):
            raise ProgramDiffers(f"the choice at {sample.place} has another law")
        self.position += 1
        self.ranked = [(Fraction(0), chosen), (Fraction(0), chosen)]
        self.values[name] = chosen
        return True

    def noise(self, step: Sample) -> Any:
        """The noise that the function drew.

        Noise that the function does not draw is any number: nothing may depend on it.
        """
        if step.where is not None and not self.value(step.where):
            self.idle = (self.idle * _SPREAD + 1) % FARTHEST
            return self.value(step.arguments[0]) + (self.idle - FARTHEST // 2)
        if self.drawn is None:
            assert self.chance is not None
            if step.noise in CONTINUOUS:
                moved = Fraction(self.chance.randint(0 if step.noise == "exponential" else -40, 40), 7)
                return Fraction(self.value(step.arguments[0])) + moved
            if step.noise in WHOLE:
                return self.value(step.arguments[0]) + self.chance.randint(-FARTHEST, FARTHEST)
            low, high = (self.value(a) for a in step.arguments[:2]) if step.noise == "uniform" else (0, 1)
            chosen = self.chance.randint(low, high)
            return chosen if step.noise == "uniform" else chosen == 1
        if self.position >= len(self.drawn):
            raise ProgramDiffers("the program draws more noise than the function")
        law, value = self.drawn[self.position]
        self.position += 1
        if step.noise == "geometric":
            return self.geometric(step, law, value)
        if step.noise == "discrete_gaussian":
            expected_ = DiscreteGaussian(int(self.value(step.arguments[0])), fraction(self.program.scale(step).factor))
            if law != expected_:
                raise ProgramDiffers(f"the noise at {step.place} has another law")
        if step.noise in CONTINUOUS:
            scale = self.program.scale(step)
            expected = fraction(scale.factor)
            for name in scale.names:
                expected *= self.size if name == SIZE else self.arguments[name]
            center = Fraction(self.value(step.arguments[0]))
            if not isinstance(law, Continuous | Shaped):
                raise ProgramDiffers(f"the noise at {step.place} has another law")
            # it may have drawn it around another number, and added the rest
            moved = center - Fraction(law.center)
            value = value if moved == 0 else Ratio(Fraction(value) + moved)
            own = (law.scale,) if isinstance(law, Continuous) else law.parameters
            wanted = (expected,) if scale.bound is None else (expected, fraction(scale.bound))
            if (step.noise, wanted) != (law.kind, tuple(map(Fraction, own))):
                raise ProgramDiffers(f"the noise at {step.place} has another law")
        return value

    def geometric(self, step: Sample, law: Law, value: Any) -> Any:
        """The value of geometric noise."""
        if law != Geometric(int(self.value(step.arguments[0])), fraction(self.program.scale(step).alpha)):
            raise ProgramDiffers(f"the noise at {step.place} has another law")
        return value

    def value(self, expression: Expression) -> Any:
        match expression:
            case Constant(value):
                return value
            case Variable(name):
                return self.arguments[name] if name in self.arguments else self.values.get(name)
            case Element(Variable(name), index):
                at = self.value(index)
                if not 0 <= at < len(self.arguments[name]):
                    raise ProgramDiffers(f"{name} is read at {at}")
                return self.arguments[name][at]
            case Conditional(test, then, otherwise):
                return self.value(then if self.value(test) else otherwise)
            case Operation("and", arguments):
                return all(self.value(a) for a in arguments)
            case Operation("or", arguments):
                return any(self.value(a) for a in arguments)
            case Operation("total", (Variable(name), added)):
                return self.total(name, added)
            case Operation("entry", (Variable(name), index)):
                held, at = self.values[name], self.value(index)
                if not -len(held) <= at < len(held):
                    raise ProgramDiffers(f"{name} is read at {at}")
                return held[at]
            case Operation("record"):
                return self.record
            case Operation("position"):
                return self.record_place
            case Operation("field", (inner, Constant(str() as part))):
                return self.value(inner)[part]
            case Operation(name, arguments) if name in OPERATIONS:
                return OPERATIONS[name](*(self.value(a) for a in arguments))
        raise ProgramDiffers(f"an expression at {expression.place}")

    @property
    def size(self) -> int:
        """The length of the lists whose length is left open."""
        return next(len(self.arguments[n]) for n in self.program.lists if self.program.inputs[n].size is None)

    def total(self, name: str, added: Expression) -> Any:
        """The sum of an expression over the records of a list."""
        found: Any = 0
        for _ in self.records(name):
            pause()
            found += self.value(added)
        return found

    def records(self, name: str) -> Iterator[None]:
        """Goes through the records of a list: while one is given out, expressions are about it."""
        for place, record in enumerate(self.arguments[name]):
            self.record, self.record_place = record, place
            yield
        self.record = None


def writes_on_the_way(program: Program) -> bool:
    """Whether a program has outputs on the way that are shown as they are."""
    return program.mechanism.generator or any(isinstance(s, Emit) for s in statements(program.body))


def _formatted(value: Any, conversion: str, specification: str = "") -> str:
    """A value in a text; what was computed from noisy numbers prints in the formats of a float, as these do."""
    return format(convert_in_format(Ratio(value) if type(value) is Fraction else value, conversion), specification)


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
    "filled": lambda count, value: [value] * count,
    "copied": list,
    "part": lambda values, low, high: sum(values[low:high]),
    "length": len,
    ">>": operator.rshift,
    "<<": operator.lshift,
    "&": operator.and_,
    "|": operator.or_,
    "^": operator.xor,
    "bit_length": int.bit_length,
    "tuple of": lambda *a: tuple(a),
    "list of": lambda *a: list(a),
    "sorted": lambda a: sorted(a),
    "set": lambda a: set(a),
    "table of": lambda *a: dict(zip(a[::2], a[1::2], strict=True)),
    **{name: MORE[name] for name in ("text of", "join", "text method")},
    "format": lambda value, how: _formatted(value, *how.split(":", 1)),
    "float": float,
    "curve": curve,
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
