"""What noise means: for every noise function of the language the law that it draws from, from its definition.

A law is a list of outcomes with their probabilities, or the two-sided geometric law, or continuous noise.  Where alpha is given by
epsilon and ``e^(-epsilon/sensitivity)`` is irrational, alpha is the next larger multiple of 2^-64; the base of the exponential
mechanism is the next smaller one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import lcm
from typing import TypeAlias

from flint import fmpz

from privproof_checker.numbers import Epsilon, Rational, epsilon, fraction, rational
from privproof_checker.source.forms import Form
from privproof_checker.source.operations import elements, equal, fails, number, real, unknown
from privproof_checker.source.values import Cells, Table, Tail, Value

_BITS = 64
"""A power of e that is not rational is rounded, up or down, to a multiple of 2 to minus so many, just as the language rounds it."""
_WIDEST = 20_000
"""Noise on bounded integers may take so many values; beyond, nothing is established about the source."""
_LARGEST_EXPONENT = 20_000
"""The largest exponent to which a base is raised exactly; beyond, nothing is established about the source."""


@dataclass(frozen=True)
class Geometric:
    """center + k with probability ``(1-alpha)/(1+alpha) alpha^|k|`` for every whole number k."""

    center: Value
    alpha: Fraction


@dataclass(frozen=True)
class Continuous:
    """Laplace, exponential or Gaussian noise of a scale, added to a center."""

    kind: str
    center: Value
    scale: Fraction


@dataclass(frozen=True)
class Truncated:
    """Laplace noise of a scale that is known to lie between -bound and bound, added to a center."""

    center: Value
    scale: Fraction
    bound: Fraction


@dataclass(frozen=True)
class DiscreteGaussian:
    """center + k with probability proportional to ``e^(-k^2/(2 variance))`` for every whole number k."""

    center: Value
    variance: Fraction


Law: TypeAlias = "list[tuple[Value, Rational]] | Geometric | DiscreteGaussian | Continuous | Truncated"


@dataclass(frozen=True)
class Signature:
    """The parameters of a noise function: how many may be given by position, and the defaults of the others."""

    names: tuple[str, ...]
    positional: int
    defaults: Mapping[str, Value]


_ALPHA: Mapping[str, Value] = {"alpha": None, "epsilon": None, "sensitivity": 1}
SIGNATURES: Mapping[str, Signature] = {
    "geometric": Signature(("value", "alpha", "epsilon", "sensitivity"), 1, _ALPHA),
    "truncated_geometric": Signature(("value", "low", "high", "alpha", "epsilon", "sensitivity"), 1, _ALPHA),
    "exponential_mechanism": Signature(("scores", "epsilon", "sensitivity"), 1, {"sensitivity": 1}),
    "bernoulli": Signature(("p",), 1, {}),
    "uniform": Signature(("low", "high"), 2, {}),
    "choice": Signature(("table",), 1, {}),
    "randomized_response": Signature(("value", "truth", "among"), 1, {"among": None}),
    "laplace": Signature(("value", "scale"), 1, {}),
    "exponential": Signature(("value", "scale"), 1, {}),
    "gumbel": Signature(("value", "scale"), 1, {}),
    "gaussian": Signature(("value", "sigma"), 1, {}),
    "truncated_laplace": Signature(("value", "scale", "bound"), 1, {}),
    "discrete_gaussian": Signature(("value", "variance"), 1, {}),
}


def law(noise: str, arguments: Mapping[str, Value]) -> Law:
    """The law of a noise function at its arguments.

    >>> law("truncated_geometric", {"value": 0, "low": 0, "high": 2, "alpha": "1/2", "epsilon": None, "sensitivity": 1})
    [(0, 2/3), (1, 1/6), (2, 1/6)]
    """
    a = arguments
    match noise:
        case "geometric":
            return Geometric(_center(a["value"]), _alpha(a))
        case "discrete_gaussian":
            variance = _exact(a["variance"])
            if variance <= 0:
                fails("a variance is above 0")
            return DiscreteGaussian(_center(a["value"]), variance)
        case "truncated_geometric":
            return _truncated(_whole(a["value"]), _whole(a["low"]), _whole(a["high"]), _alpha(a))
        case "exponential_mechanism":
            return _exponential_mechanism(a["scores"], a["epsilon"], a["sensitivity"])
        case "bernoulli":
            p = _probability(a["p"])
            return _possible([(True, p), (False, 1 - p)])
        case "uniform":
            low, high = _whole(a["low"]), _whole(a["high"])
            _ordered(low, high)
            return [(value, Rational(1, high - low + 1)) for value in range(low, high + 1)]
        case "choice":
            return _choice(a["table"])
        case "randomized_response":
            return _response(a["value"], a["truth"], a["among"])
        case "laplace" | "exponential" | "gumbel" | "gaussian":
            scale = _exact(a["sigma" if noise == "gaussian" else "scale"])
            if scale <= 0:
                fails("a scale is above 0")
            return Continuous(noise, a["value"], scale)
        case "truncated_laplace":
            scale, bound = _exact(a["scale"]), _exact(a["bound"])
            if scale <= 0 or bound <= 0:
                fails("a scale and a bound are above 0")
            return Truncated(a["value"], scale, bound)
        case _:
            unknown(f"the noise {noise!r}")


def _possible(rows: Sequence[tuple[Value, Fraction]]) -> list[tuple[Value, Rational]]:
    return [(value, rational(p)) for value, p in rows if p != 0]


def _center(value: Value) -> Value:
    return value if isinstance(value, Form) else _whole(value)


def _whole(value: Value) -> int:
    if isinstance(value, Tail | Form):
        unknown("noise that is not drawn is an argument of noise")
    if isinstance(value, Fraction) and value.denominator == 1:
        return int(value)
    if not isinstance(value, int):
        fails("discrete noise is for whole numbers")
    return int(value)


def _exact(value: Value) -> Fraction:
    """An exact number: a whole number, a fraction, or a text such as ``1/3`` or ``0.25``."""
    if isinstance(value, Tail | Form):
        unknown("noise that is not drawn is an argument of noise")
    if isinstance(value, str):
        if len(value) > 1000 or "e" in value.lower():
            unknown("a long number, or one with an exponent, as a text")
        try:
            return Fraction(value.strip())
        except (ValueError, ZeroDivisionError):
            unknown(f"{value[:40]!r} is no plain number")
    if not real(value):
        fails(f"{type(value).__name__} is no number")
    return Fraction(value)


def _probability(value: Value) -> Fraction:
    p = _exact(value)
    if not 0 <= p <= 1:
        fails("a probability is outside [0, 1]")
    return p


def _ordered(low: int, high: int) -> None:
    if low > high:
        fails("low is above high")
    if high - low >= _WIDEST:
        unknown("noise with too many values")


def _truncated(center: int, low: int, high: int, alpha: Fraction) -> Law:
    """The mass of the two-sided law at or beyond a bound moves to the bound."""
    _ordered(low, high)
    if low == high:
        return [(low, Rational(1))]
    if max(abs(low - center), abs(high - center)) > _LARGEST_EXPONENT:
        unknown("geometric noise that is too far from its bounds")

    def density(k: int) -> Fraction:
        return (1 - alpha) / (1 + alpha) * alpha ** abs(k - center)

    def upper(k: int) -> Fraction:
        """The mass at k and above."""
        beyond = alpha ** abs(k - center) / (1 + alpha)
        return beyond if k >= center else 1 - alpha * beyond

    rows = [(low, 1 - upper(low + 1)), *((k, density(k)) for k in range(low + 1, high)), (high, upper(high))]
    return _possible(rows)


def _exponential_mechanism(scores: Value, given: Value, sensitivity: Value) -> Law:
    if not isinstance(scores, Cells | tuple):
        fails("scores are a list")
    numbers = [_exact(score) for score in elements(scores)]
    if not numbers:
        fails("there is no score")
    unit = Fraction(1, lcm(*(n.denominator for n in numbers)))
    base = _power(_budget(given), unit / (2 * _positive(sensitivity)), up=False)
    least = min(numbers)
    exponents = [int((n - least) / unit) for n in numbers]
    if max(exponents) > _LARGEST_EXPONENT:
        unknown("scores that are too far apart")
    weights = [base**k for k in exponents]
    total = sum(weights, Fraction(0))
    return _possible([(i, weight / total) for i, weight in enumerate(weights)])


def _choice(table: Value) -> Law:
    if not isinstance(table, Table) or not table.rows:
        fails("choice() takes a table of probabilities")
    rows = [(value, _probability(p)) for value, p in table.rows]
    if sum((p for _, p in rows), Fraction(0)) != 1:
        fails("the probabilities of a choice do not sum to 1")
    return _possible(rows)


def _response(value: Value, truth: Value, among: Value) -> Law:
    if isinstance(value, Tail | Form):
        unknown("noise that is not drawn is an argument of noise")
    if among is None:
        if not (isinstance(value, int) and value in (0, 1)):
            if isinstance(value, Fraction):
                unknown("randomized response on a fraction")
            fails("randomized response on what is no bit")
        answers: Sequence[Value] = (False, True) if isinstance(value, bool) else (0, 1)
    else:
        if not isinstance(among, Cells | tuple):
            fails("among is a tuple")
        answers = elements(among)
    if len(answers) < 2 or any(equal(x, y) for i, x in enumerate(answers) for y in answers[:i]):
        fails("among names an answer twice, or only one")
    if not any(equal(answer, value) for answer in answers):
        fails("the value is not among the answers")
    p = _probability(truth)
    other = (1 - p) / (len(answers) - 1)
    return _possible([(answer, p if equal(answer, value) else other) for answer in answers])


def _positive(value: Value) -> Fraction:
    found = _exact(value)
    if found <= 0:
        fails("a sensitivity is above 0")
    return found


def _budget(value: Value) -> Epsilon:
    if not (isinstance(value, str) or number(value)) or isinstance(value, bool):
        unknown("an epsilon that is no number or text")
    if isinstance(value, str) and len(value) > 200:
        unknown("a long epsilon")
    try:
        found = epsilon(value)
    except Exception:
        unknown("an epsilon that is no number")
    if found.infinite or found.compare(epsilon(0)) <= 0:
        fails("epsilon is not a number above 0")
    return found


def _alpha(a: Mapping[str, Value]) -> Fraction:
    if (a["alpha"] is None) == (a["epsilon"] is None):
        fails("exactly one of alpha and epsilon is given")
    if a["alpha"] is None:
        alpha = _power(_budget(a["epsilon"]), -1 / _positive(a["sensitivity"]), up=True)
    else:
        alpha = _exact(a["alpha"])
    if not 0 < alpha < 1:
        fails("alpha is not between 0 and 1")
    return alpha


def _power(value: Epsilon, factor: Fraction, *, up: bool) -> Fraction:
    """``e^(epsilon * factor)``, exactly where it is rational, otherwise the next multiple of 2^-64 above or below.

    >>> _power(epsilon("ln(9/4)"), Fraction(-1, 2), up=True)
    Fraction(2, 3)
    """
    exponent = factor / value.root
    if exponent.denominator > 1000 or abs(exponent.numerator) > _LARGEST_EXPONENT:
        unknown("an epsilon with too fine a sensitivity")
    if value.shift == 0:
        roots = [fmpz(part).root(exponent.denominator) for part in (value.ratio.p, value.ratio.q)]
        if all(
            root**exponent.denominator == part for root, part in zip(roots, (value.ratio.p, value.ratio.q), strict=True)
        ):
            return Fraction(int(roots[0]), int(roots[1])) ** exponent.numerator
    scaled = Epsilon(value.ratio, value.root * factor.denominator, value.shift / factor.denominator)
    low, high = scaled.enclosure(4 * _BITS)
    bound = fraction(high if up == (factor > 0) else low) ** factor.numerator
    grid = bound * 2**_BITS
    return Fraction(-((-grid.numerator) // grid.denominator) if up else grid.numerator // grid.denominator, 2**_BITS)
