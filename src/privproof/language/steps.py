"""Rounded noisy numbers: steps of a form.

``round``, ``floor``, ``ceil`` and ``int`` grow with what they are given and take a constant value between their steps.  So a rounded
number is at most c where the number itself is at most some bound, and events of rounded numbers are events of the numbers: nothing is
approximated.  On which side of a step its end lies does not count for continuous noise, which meets it with probability zero.
"""

from __future__ import annotations

from fractions import Fraction
from math import floor
from typing import Any, NoReturn

from privproof.language.linear import Linear, Opaque, refuse

_HALF = Fraction(1, 2)
"""Where ``round`` goes from one whole number to the next."""


class Stepped(Opaque):
    """A rounded form with continuous noise.

    >>> Stepped("round", Linear.atom(0)).at_most(Fraction(3)), Stepped("floor", Linear.atom(0)).at_least(Fraction(3))
    (-x0 + 7/2, x0 - 3)
    >>> Stepped("round", Linear.atom(0), 1).at_most(Fraction(1, 10))
    -x0 + 1/20
    """

    __slots__ = ("digits", "form", "how")

    def __init__(self, how: str, form: Linear, digits: int | None = None) -> None:
        super().__init__(how, (form,) if digits is None else (form, digits))
        self.how, self.form, self.digits = how, form, digits

    def __reduce__(self) -> tuple[Any, ...]:
        return Stepped, (self.how, self.form, self.digits)

    def at_most(self, bound: Fraction) -> Linear:
        """The form that is not negative where the rounded number is at most a bound."""
        return _form(self._last(bound) - self.form)

    def at_least(self, bound: Fraction) -> Linear:
        """The form that is not negative where the rounded number is at least a bound."""
        return _form(self.form + Stepped(_TURNED[self.how], -self.form, self.digits)._last(-bound))

    def _last(self, bound: Fraction) -> Fraction:
        """The largest number that is rounded to something that is at most a bound, or the end of such numbers."""
        if self.digits is not None:
            unit = Fraction(10) ** -self.digits
            step = floor(bound / unit)
            while _as_float((step + 1) * unit) <= bound:
                step += 1
            while _as_float(step * unit) > bound:
                step -= 1
            return (step + _HALF) * unit
        step = floor(bound)
        match self.how:
            case "round" | "rint":
                return step + _HALF
            case "ceil":
                return Fraction(step)
            case "floor":
                return Fraction(step + 1)
            case _:  # towards zero
                return Fraction(step + 1 if step >= 0 else step)

    def _beside(self, other: Any, *, below: bool, strict: bool) -> Any:
        """Whether the rounded number is at most (below) or at least a constant; strictly: it is not at least (at most) it."""
        if isinstance(other, Linear | Opaque) or Linear.of(other) is None:
            self._refused()
        bound = Fraction(other)
        if strict:
            return not self._beside(other, below=not below, strict=False)
        return (self.at_most(bound) if below else self.at_least(bound)) >= 0

    def __lt__(self, other: Any) -> Any:
        return self._beside(other, below=True, strict=True)

    def __le__(self, other: Any) -> Any:
        return self._beside(other, below=True, strict=False)

    def __gt__(self, other: Any) -> Any:
        return self._beside(other, below=False, strict=True)

    def __ge__(self, other: Any) -> Any:
        return self._beside(other, below=False, strict=False)

    def __eq__(self, other: object) -> Any:
        if not isinstance(other, int | float | Fraction | Linear | Opaque):
            return False
        return self._beside(other, below=True, strict=False) and self._beside(other, below=False, strict=False)

    def __ne__(self, other: object) -> Any:
        return not self == other

    __hash__ = Opaque.__hash__

    def _refused(self, *_: Any) -> NoReturn:
        refuse("rounding", "a rounded noisy number is computed with", hint="round what is shown, and nothing before")

    __add__ = __sub__ = __mul__ = __truediv__ = _refused
    __radd__ = __rsub__ = __rmul__ = __rtruediv__ = _refused
    __neg__ = __abs__ = exp = log = sqrt = _refused

    def _again(self, *digits: Any) -> Any:
        """Rounded again: a whole number stays what it is."""
        return self if self.digits is None and not digits else self._refused()

    __round__ = __floor__ = __ceil__ = __trunc__ = _again


def shown_form(output: Any) -> Linear | None:
    """The form behind a noisy number that is shown, rounded or not; None for anything else."""
    if type(output) is Stepped:
        return output.form
    return output if isinstance(output, Linear) else None


_TURNED = {"floor": "ceil", "ceil": "floor", "round": "round", "rint": "rint", "trunc": "trunc"}
"""Rounding of the negative number."""


def _form(value: Any) -> Linear:
    found = Linear.of(value)
    assert found is not None
    return found


def _as_float(number: Fraction) -> Fraction:
    """The float nearest to a decimal number: what ``round(x, digits)`` gives, exactly."""
    return Fraction(float(number))
