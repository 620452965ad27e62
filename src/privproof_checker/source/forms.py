"""Linear forms in continuous noise that is left open, and who decides whether one is above zero.

In the refutation of a mechanism with continuous noise every noise is a number ``x_j`` that is not drawn.  What the mechanism
computes are linear forms in these numbers; a comparison whose outcome is open is taken both ways.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, TypeAlias

from privproof_checker.outcomes import Refusal
from privproof_checker.source.values import Beyond

_LARGEST_BITS = 20_000
"""As large the numbers of a form may be: those of the program are no larger."""


@dataclass(frozen=True)
class Form:
    """A constant plus multiples of noises, by their numbers."""

    constant: Fraction
    terms: Mapping[int, Fraction] = field(default_factory=dict)

    @classmethod
    def of(cls, value: Any) -> Form:
        """A number, or a form, as a form."""
        if isinstance(value, Form):
            return value
        if not isinstance(value, int | Fraction):
            raise Refusal(f"noise is combined with {type(value).__name__}", "")
        return cls(Fraction(value))

    def __add__(self, other: Form) -> Form:
        terms = dict(self.terms)
        for noise, factor in other.terms.items():
            terms[noise] = terms.get(noise, Fraction(0)) + factor
        return _small(Form(self.constant + other.constant, {j: f for j, f in sorted(terms.items()) if f}))

    def __sub__(self, other: Form) -> Form:
        return self + other.times(Fraction(-1))

    def times(self, factor: Fraction) -> Form:
        """The form, every part times a number."""
        return _small(Form(self.constant * factor, {j: f * factor for j, f in self.terms.items() if factor}))


def _small(form: Form) -> Form:
    """The form, if its numbers are not too large."""
    for number in (form.constant, *form.terms.values()):
        if max(number.numerator.bit_length(), number.denominator.bit_length()) > _LARGEST_BITS:
            raise Beyond("a number with too many digits", "")
    return form


class Deciding(Exception):
    """The run asks whether a form is above zero (at least zero, if not strict), and that is open."""

    def __init__(self, form: Form, *, strict: bool) -> None:
        super().__init__()
        self.form = form
        self.strict = strict


Known: TypeAlias = "Callable[[Form, bool], bool | None]"
"""Whether a form is above zero (at least zero, if not strict), as far as that was decided before; None if it is open."""

_known: ContextVar[Known | None] = ContextVar("known", default=None)
_tied: ContextVar[Callable[[Form], bool]] = ContextVar("tied", default=lambda _: False)


@contextmanager
def knowing(known: Known, tied: Callable[[Form], bool] = lambda _: False) -> Iterator[None]:
    """Inside this context comparisons are settled by what was decided before, and forms of noise may be zero where `tied` says so."""
    token, other = _known.set(known), _tied.set(tied)
    try:
        yield
    finally:
        _tied.reset(other)
        _known.reset(token)


def is_zero(form: Form) -> bool | None:
    """Whether a form is zero; None where continuous noise takes part, of which that has probability zero."""
    if not form.terms:
        return form.constant == 0
    if not _tied.get()(form):
        return None
    return above_zero(form, strict=False) and above_zero(form.times(Fraction(-1)), strict=False)


def above_zero(form: Form, *, strict: bool) -> bool:
    """Whether a form is above zero; asks where noise takes part and nothing has decided it."""
    if not form.terms:
        return form.constant > 0 if strict else form.constant >= 0
    known = _known.get()
    found = None if known is None else known(form, strict)
    if found is None:
        raise Deciding(form, strict=strict)
    return found
