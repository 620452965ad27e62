"""What the outputs of a model stand for, and the outputs of a program by their names in the model.

An output of the model stands for what is shown in one step: values that print in a certain way.  An unbounded noisy number is
shown as "at least b" or "at most b".  Given that it is at least b, by how much it exceeds b has one law, whatever the inputs
were, so "at least b" tells two situations apart exactly as well as all numbers from b on together.  For that no other output may
hold one of these numbers at the same position, and all such noise at one position has one alpha: both are checked.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction

from privproof_checker.numbers import ONE, Rational, rational
from privproof_checker.outcomes import refuse
from privproof_checker.plain_documents import a_list, an_object
from privproof_checker.source.values import (
    END,
    Beyond,
    Tail,
    Value,
    frozen,
    leaves,
    printed,
    read_value,
    with_leaves,
)

_PLACE = "question.source.outputs"
_WIDEST = 10_000
"""The named values that one shown result may stand for; beyond, nothing is established about the source."""


class Outputs:
    """The names of outputs.

    Attributes:
        ends: whether the end of a run is shown as an output of its own.
        lengths: how many values each name stands for.
    """

    def __init__(self, value: object) -> None:
        self.names: dict[tuple[str, ...], str] = {}
        self.lengths: dict[str | None, int] = {None: 0}
        self.borders: dict[tuple[tuple[int, ...], int], int] = {}
        self.alphas: dict[tuple[tuple[int, ...], int], Fraction] = {}
        self.ends = False
        for name, listed in an_object(value, _PLACE).items():
            values = tuple(_shown(item, f"{_PLACE}.{name}") for item in a_list(listed, f"{_PLACE}.{name}"))
            text = tuple(map(printed, values))
            if text in self.names:
                refuse("two names stand for one output", f"{_PLACE}.{name}")
            self.names[text] = name
            self.lengths[name] = sum(v is not END for v in values)
            self.ends = self.ends or any(v is END for v in values)
            for path, leaf in leaves(values):
                if isinstance(leaf, Tail) and self.borders.setdefault((path, leaf.sign), leaf.offset) != leaf.offset:
                    refuse("unbounded numbers at one position begin at different borders", f"{_PLACE}.{name}")
        for (path, sign), border in self.borders.items():
            if sign > 0 and border <= self.borders.get((path, -1), border - 1):
                refuse("an output is at least and at most some number", _PLACE)

    def named(self, values: Sequence[Value]) -> list[tuple[str, Rational]]:
        """The names of what is shown, with probabilities where an unbounded number is drawn as far as the names tell."""
        result: list[tuple[Value, Rational]] = [(tuple(values), ONE)]
        for path, leaf in leaves(tuple(values)):
            if isinstance(leaf, Tail):
                drawn = self._drawn(path, leaf)
                if len(result) * len(drawn) > _WIDEST:
                    raise Beyond("an output with too many values", _PLACE)
                result = [(with_leaves(v, _putting(path, new)), p * q) for v, p in result for new, q in drawn]
        return [(self._name(shown), p) for shown, p in result]

    def _drawn(self, path: tuple[int, ...], leaf: Tail) -> list[tuple[Value, Rational]]:
        place = (path, leaf.sign)
        if place not in self.borders:
            refuse("the program shows an unbounded number where the model has none", _PLACE)
        if self.alphas.setdefault(place, leaf.alpha) != leaf.alpha:
            raise Beyond("geometric noise of two laws is shown at one position", _PLACE)
        distance = (self.borders[place] - leaf.offset) * leaf.sign
        if distance < 0:
            refuse("the program tells unbounded numbers apart further than the model", _PLACE)
        if distance > _WIDEST:
            raise Beyond("an output with too many values", _PLACE)
        base = rational(leaf.alpha)
        drawn: list[tuple[Value, Rational]] = [
            (leaf.offset + leaf.sign * k, base**k * (ONE - base)) for k in range(distance)
        ]
        return [*drawn, (Tail(-1, leaf.sign, self.borders[place], leaf.alpha), base**distance)]

    def _name(self, shown: Value) -> str:
        text = tuple(map(printed, shown))
        if text not in self.names:
            refuse(f"the program shows {'; '.join(text)[:80]}, which no output of the model stands for", _PLACE)
        for path, leaf in leaves(shown):
            if type(leaf) is int:
                for sign in (1, -1):
                    if (path, sign) in self.borders and (leaf - self.borders[path, sign]) * sign >= 0:
                        refuse(f"the output {leaf} is also one of those from {self.borders[path, sign]} on", _PLACE)
        return self.names[text]


def _putting(path: tuple[int, ...], new: Value) -> Callable[[tuple[int, ...], Value], Value]:
    return lambda where, old: new if where == path else old


def _shown(value: object, place: str) -> Value:
    """A value in an output of the model."""
    if isinstance(value, dict) and list(value) == ["end"]:
        return END
    return frozen(read_value(value, place))
