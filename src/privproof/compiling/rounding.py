"""Where rounding decides: a function on floats, and the same function on the exact values of the same floats.

Verdicts are about the function on real numbers.  What runs computes with floats, and nearly always the two go the same way: their outputs
are alike to many digits.  A test that rounding decides, as ``y + 1e30 == 1e30`` or ``(y + 0.1) - y != 0.1``, goes one way in the one and
another way in the other, with a probability that is not small; then a verdict would be about a function that nobody runs.  So a few runs
are made in both ways, with the same data and the same noise.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from math import expm1, isfinite, log
from statistics import NormalDist
from typing import Any

from privproof.errors import LanguageError
from privproof.exact import fraction
from privproof.language.laws import Continuous, DiscreteGaussian, Geometric, Law, Shaped, TableLaw
from privproof.language.linear import Linear, Ratio, exactly
from privproof.language.outcomes import outcome
from privproof.language.randomness import Chance
from privproof.language.scripts import GivenUp, Test, record_run
from privproof.language.trees import TreeLeaf

_MOST_DRAWS = 300
"""Noise drawn in one run; a longer run is not compared."""
_ALIKE = 1e-6
"""Outputs that differ by a smaller share are alike: rounding alone makes no larger difference unless it cancels nearly everything."""
_UNIT = 1 << 53
"""Uniform floats have so many values."""


def rounding_difference(call: Callable[[], Any], chance: Chance) -> str | None:
    """How a run on floats differs from the run on their exact values, in words; None where they are alike, or cannot be compared.

    Args:
        call: runs the function once, on the same data.
        chance: where the noise comes from.
    """
    try:
        rounded, drawn = record_run(call, lambda law: _float_noise(law, chance), most=_MOST_DRAWS)
        values = iter(value for _, value in drawn)
        exact, _ = record_run(call, lambda law: _exact_value(next(values)), most=len(drawn))
    except (GivenUp, StopIteration, LanguageError, OverflowError):
        return None  # another number of draws, or a failure: what is wrong then is told elsewhere
    if alike(rounded, exact):
        return None
    return f"with floats it shows {rounded!r}, with their exact values {exact!r}: rounding decides"


def tree_difference(call: Callable[[], Any], tree: Sequence[TreeLeaf], chance: Chance) -> str | None:
    """How a run on floats differs from the way that a tree has for the same noise; None where they are alike, or cannot be compared.

    Args:
        call: runs the function once, on the data of the tree.
        tree: all ways through the function on these data, with noise left open.
        chance: where the noise comes from.
    """
    if any(not isinstance(step, Test) for leaf in tree for step in leaf.steps):
        return None  # discrete noise, or a condition that nothing decides
    try:
        rounded, drawn = record_run(call, lambda law: _float_noise(law, chance), most=_MOST_DRAWS)
    except (GivenUp, Exception):  # a run that fails shows that, too; only what it returns is compared here
        return None
    if not _is_plain(rounded) or any(not isinstance(law, Continuous) for law, _ in drawn):
        return None
    noises = [Fraction(value) - Fraction(float(law.center)) for law, value in drawn if isinstance(law, Continuous)]
    taken = [leaf for leaf in tree if len(leaf.noises) == len(noises) and all(_holds(t, noises) for t in leaf.tests)]
    if len(taken) != 1:
        return None
    shown = taken[0].outcome
    if shown.told:
        return None  # noisy numbers in texts, which write them in their own way
    found = re.fullmatch(_NOISY.sub(_NUMBER, re.escape(shown.shape)), outcome(rounded).shape)
    names = [int(name) for name in re.findall(r"#(\d+)", shown.shape)]
    if found is not None and all(
        _has_value(shown.parts[n], noises, t) for n, t in zip(names, found.groups(), strict=True)
    ):
        return None
    return f"with floats it shows {rounded!r}, on real numbers {shown.text}: rounding decides"


_NOISY = re.compile(r"\\#\d+")
_NUMBER = r"[\\w.]+\\(([^()]*)\\)"


def _is_plain(value: Any) -> bool:
    """Whether an output is made of numbers, texts, lists, tuples and dictionaries of Python only."""
    if type(value) in (list, tuple):
        return all(map(_is_plain, value))
    if type(value) is dict:
        return all(map(_is_plain, (*value, *value.values())))
    return value is None or type(value) in (bool, int, float, str)


def _value(form: Linear, noises: Sequence[Fraction]) -> Fraction | None:
    """A form at given noise; None where it has something else in it."""
    if not all(isinstance(atom, int) and atom < len(noises) for atom in form.terms):
        return None
    terms = (fraction(factor) * noises[atom] for atom, factor in form.terms.items() if isinstance(atom, int))
    return sum(terms, fraction(form.constant))


def _holds(test: Test, noises: Sequence[Fraction]) -> bool:
    value = _value(test.form, noises)
    return value is None or (value > 0 if test.strict else value >= 0) == test.outcome


def _has_value(part: Any, noises: Sequence[Fraction], text: str) -> bool:
    """Whether a text is about the number that a noisy number has at given noise; what cannot be told is taken for right."""
    value = _value(part, noises) if isinstance(part, Linear) else None
    if value is None:
        return True
    try:
        return alike(float(text), value)
    except ValueError:  # no number at all
        return False


def _exact_value(value: Any) -> Any:
    return Ratio(Fraction(value)) if isinstance(value, float) else value


def _float_noise(law: Law, chance: Chance) -> Any:
    """Noise as a program draws it, where it is continuous a float."""
    match law:
        case Continuous(kind, center, scale):
            return float(center) + float(scale) * _standard(kind, (chance.randrange(_UNIT) + 0.5) / _UNIT)
        case Geometric(center) | DiscreteGaussian(center):
            return exactly(center) + chance.randrange(-3, 4)
        case TableLaw():
            return exactly(chance.choice(law.ranked)[0])
        case Shaped("truncated_laplace", center, (scale, bound)):
            u = (chance.randrange(_UNIT) + 0.5) / _UNIT
            inside = _standard("laplace", 0.5 + (u - 0.5) * -expm1(-bound / scale))
            return float(center) + float(scale) * inside
        case Shaped():
            raise GivenUp


def _standard(kind: str, u: float) -> float:
    """Standard noise of a kind, from a uniform number."""
    match kind:
        case "laplace":
            return log(2 * u) if u < 0.5 else -log(2 * (1 - u))
        case "exponential":
            return -log(u)
        case "gaussian":
            return NormalDist().inv_cdf(u)
        case _:
            return -log(-log(u))


def alike(rounded: Any, exact: Any) -> bool:
    """Whether two outputs are of one form, and their numbers nearly the same; texts may write numbers in two ways, and are left alone.

    >>> alike([0.1, "a"], [Fraction(1, 10), "b"]), alike(0, Fraction(1, 3)), alike([1], [1, 2])
    (True, False, False)
    """
    if isinstance(rounded, str) and isinstance(exact, str):
        return True
    if isinstance(rounded, Mapping) and isinstance(exact, Mapping):
        return len(rounded) == len(exact) and alike(list(rounded.values()), list(exact.values()))
    if isinstance(rounded, list | tuple) and isinstance(exact, list | tuple):
        return len(rounded) == len(exact) and all(map(alike, rounded, exact))
    try:
        one, other = float(rounded), float(exact)
    except (TypeError, ValueError, OverflowError):
        return type(rounded) is type(exact)
    if not isfinite(one) or not isfinite(other):
        return one == other
    return abs(one - other) <= _ALIKE * max(1.0, abs(one), abs(other))
