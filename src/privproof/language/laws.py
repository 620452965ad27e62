"""The laws of noise: for every noise function the distribution it draws from, as exact data.

A law is a `TableLaw` of outcomes, the two-sided `Geometric` or the `DiscreteGaussian` law on all integers, or a `Continuous` one.  All
readers of a mechanism take it from here: the sampler, the enumeration of runs, the translation into a model.  ``e^-epsilon`` is
irrational unless epsilon is the logarithm of a rational; where it is, the law itself uses the next larger multiple of 2^-64 (never less
noise than asked for), so that what is drawn and what is verified are one and the same exact distribution.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import exp, lcm
from typing import Any, TypeAlias

from flint import fmpz

from privproof.errors import LanguageError, PrivproofError
from privproof.exact import Epsilon, Rational, epsilon, fraction, rational, show
from privproof.exact.polynomials import Polynomial
from privproof.language.linear import Linear

HALF = Fraction(1, 2)
"""The probability of each sign of symmetric noise."""
_BITS = 64
"""A power of e that is not rational is rounded to a multiple of 2 to minus so many, towards more noise."""
_WIDEST = 100_000
"""Noise on bounded integers may take so many values, each with its exact probability; beyond, it is refused."""

TRUNCATED = "truncated_laplace"
"""Noise that does not leave a range: where it is shifted, so is its support."""
CONTINUOUS = ("laplace", "exponential", "gumbel", "gaussian", TRUNCATED)
"""Noise on the real line that translated functions may draw."""
WEIGHED = "weighed"
"""The draw of a place with probability proportional to e to the power of its score, see `language.weights`."""
GAUSSIAN = ("gaussian", "discrete_gaussian")
"""Noise without an epsilon of its own: what it gives away is a delta."""
WHOLE = ("geometric", "discrete_gaussian")
"""Noise on all integers, which is left open as continuous noise is."""


@dataclass(frozen=True)
class TableLaw:
    """Finitely many outcomes, each with its probability.

    Attributes:
        outcomes: as samplers draw them, which count with the integers of a fraction; engines compute with `possible` and `ranked`.
    """

    outcomes: tuple[tuple[Any, Fraction], ...]

    @cached_property
    def possible(self) -> tuple[tuple[Any, Rational], ...]:
        """The outcomes that can occur."""
        return tuple((v, p if isinstance(p, Polynomial) else rational(p)) for v, p in self.outcomes if p != 0)

    @cached_property
    def ranked(self) -> tuple[tuple[Any, Rational], ...]:
        """The outcomes that can occur, the likeliest first."""
        return tuple(sorted(self.possible, key=lambda outcome: -outcome[1]))

    @cached_property
    def weights(self) -> tuple[Rational, ...]:
        """The probabilities of the outcomes that can occur, the likeliest first."""
        return tuple(probability for _, probability in self.ranked)


@dataclass(frozen=True)
class Geometric:
    """The two-sided geometric law: center + k with probability (1-alpha)/(1+alpha) alpha^|k| for every integer k."""

    center: Any
    alpha: Fraction


@dataclass(frozen=True)
class DiscreteGaussian:
    """The discrete Gaussian law: center + k with probability proportional to ``e^(-k^2 / (2 variance))`` for every integer k."""

    center: Any
    variance: Fraction


@dataclass(frozen=True)
class Continuous:
    """Continuous noise: ``laplace``, ``exponential``, ``gumbel`` or ``gaussian``, at a center, with a scale (its standard deviation)."""

    kind: str
    center: Any
    scale: Any


@dataclass(frozen=True)
class Shaped:
    """Continuous noise of another shape.

    Attributes:
        kind: ``uniform_real``, ``truncated_laplace`` or ``staircase``.
        center: the number that it is added to.
        parameters: its width; its scale and bound; the length of its steps, their loss, and the share after which the density falls.
    """

    kind: str
    center: Any
    parameters: tuple[Fraction, ...]


Law: TypeAlias = "TableLaw | Geometric | DiscreteGaussian | Continuous | Shaped"


def geometric(value: object, alpha: object, epsilon: object, sensitivity: object) -> Law:
    """The law of `privproof.geometric`."""
    center = value if isinstance(value, Linear) else _whole(value, "value")
    return Geometric(center, _alpha(alpha, epsilon, sensitivity))


def discrete_gaussian(value: object, variance: object) -> Law:
    """The law of `privproof.discrete_gaussian`."""
    if isinstance(value, Linear) and value.kind is not int:
        raise LanguageError("noise", "value is no integer", hint="discrete noise is for integers")
    center = value if isinstance(value, Linear) else _whole(value, "value")
    return DiscreteGaussian(center, _positive(variance, "variance"))


def truncated_geometric(
    value: object, low: object, high: object, alpha: object, epsilon: object, sensitivity: object
) -> Law:
    """The law of `privproof.truncated_geometric`: the two-sided geometric law, clamped to low, ..., high.

    >>> truncated_geometric(0, 0, 2, "1/2", None, 1).outcomes
    ((0, Fraction(2, 3)), (1, Fraction(1, 6)), (2, Fraction(1, 6)))
    """
    center, least, most = _whole(value, "value"), _whole(low, "low"), _whole(high, "high")
    base = _alpha(alpha, epsilon, sensitivity)
    _ordered(least, most)
    if least == most:
        return TableLaw(((least, Fraction(1)),))
    inside = (1 - base) / (1 + base)

    def at_least(bound: int) -> Fraction:
        """The probability of the law at or above a bound."""
        distance = bound - center
        return base**distance / (1 + base) if distance > 0 else 1 - base ** (1 - distance) / (1 + base)

    rows = [(least, 1 - at_least(least + 1))]
    rows += [(z, inside * base ** abs(z - center)) for z in range(least + 1, most)]
    return TableLaw((*rows, (most, at_least(most))))


def exponential_mechanism(scores: object, epsilon_: object, sensitivity: object) -> Law:
    """The law of `privproof.exponential_mechanism`: index i with probability proportional to ``e^(epsilon score_i / (2 sensitivity))``.

    >>> exponential_mechanism([0, 1, 1], "ln(4)", 1).outcomes
    ((0, Fraction(1, 5)), (1, Fraction(2, 5)), (2, Fraction(2, 5)))
    """
    if not isinstance(scores, Sequence) or isinstance(scores, str) or not scores:
        raise LanguageError("noise", f"scores={scores!r} is not a list of numbers", hint="scores=[0, 2, 1]")
    numbers = [_exact(score, "scores") for score in scores]
    unit = Fraction(1, lcm(*(number.denominator for number in numbers)))
    base = _power(_epsilon(epsilon_), unit / (2 * _positive(sensitivity, "sensitivity")), up=False)
    least = min(numbers)
    weights = [base ** int((number - least) / unit) for number in numbers]
    total = sum(weights, Fraction(0))
    return TableLaw(tuple((index, weight / total) for index, weight in enumerate(weights)))


def draw_by_scores(scores: object) -> Law:
    """A place with probability proportional to e to the power of its score, as nearly as floats have it."""
    if not isinstance(scores, Sequence) or not scores:
        raise LanguageError("run", f"scores={scores!r}: there is nothing to choose", hint="scores=[0, 2, 1]")
    numbers = [_exact(score, "scores") for score in scores]
    weights = [Fraction(exp(number - max(numbers))) for number in numbers]
    return TableLaw(tuple((index, weight / sum(weights)) for index, weight in enumerate(weights)))


def choice_scale(epsilon_: object, sensitivity: object) -> Fraction:
    """The scale of the Gumbel noise with which the largest of all scores is where the exponential mechanism chooses."""
    loss = _epsilon(epsilon_)
    if loss.ratio != 1:
        raise LanguageError("noise", f"epsilon={loss} is no fraction, and scores are left open", hint='epsilon="1/2"')
    return 2 * _positive(sensitivity, "sensitivity") / fraction(loss.shift)


def bernoulli(p: object) -> Law:
    """The law of `privproof.bernoulli`."""
    probability = _probability(p, "p")
    return TableLaw(((True, probability), (False, 1 - probability)))


def uniform(low: object, high: object) -> Law:
    """The law of `privproof.uniform`."""
    least, most = _whole(low, "low"), _whole(high, "high")
    _ordered(least, most)
    return TableLaw(tuple((value, Fraction(1, most - least + 1)) for value in range(least, most + 1)))


def choice(table: object) -> Law:
    """The law of `privproof.choice`."""
    if isinstance(table, tuple):
        table = dict(table)
    if not isinstance(table, Mapping) or not table:
        raise LanguageError(
            "noise", f"table={table!r} is no table of probabilities", hint='choice({"a": "1/3", "b": "2/3"})'
        )
    rows = tuple((value, _probability(p, f"table[{value!r}]")) for value, p in table.items())
    total = sum((p for _, p in rows), Fraction(0))
    if total != 1:
        shown, off = (str(total), str(1 - total)) if isinstance(total, Polynomial) else (show(total), show(1 - total))
        raise LanguageError("noise", f"the probabilities sum to {shown} instead of 1: off by {off}")
    return TableLaw(rows)


def randomized_response(value: object, truth: object, among: object) -> Law:
    """The law of `privproof.randomized_response`: the value with probability truth, each other one equally often."""
    if among is None:
        if not isinstance(value, bool) and value not in (0, 1):
            raise LanguageError(
                "noise", f"value={value!r} is neither a bit nor a truth value", hint="among=('red', 'green', 'blue')"
            )
        among = (False, True) if isinstance(value, bool) else (0, 1)
    if not isinstance(among, Sequence) or isinstance(among, str) or len(among) < 2:
        raise LanguageError("noise", f"among={among!r} is not a tuple of two or more answers", hint="among=(0, 1, 2)")
    if len({(type(answer), answer) for answer in among}) < len(among) or len(set(among)) < len(among):
        raise LanguageError("noise", f"among={tuple(among)!r} names an answer twice", hint="name each answer once")
    if value not in among:
        raise LanguageError("noise", f"value={value!r} is not among {tuple(among)!r}", hint="add it to `among`")
    probability = _probability(truth, "truth")
    other = (1 - probability) / (len(among) - 1)
    return TableLaw(tuple((answer, probability if answer == value else other) for answer in among))


def laplace(value: object, scale: object) -> Law:
    """The law of `privproof.laplace`."""
    return Continuous("laplace", value, scale)


def exponential(value: object, scale: object) -> Law:
    """The law of `privproof.exponential`."""
    return Continuous("exponential", value, scale)


def gumbel(value: object, scale: object) -> Law:
    """The law of `privproof.gumbel`."""
    return Continuous("gumbel", value, scale)


def uniform_real(value: object, width: object) -> Law:
    """The law of `privproof.uniform_real`."""
    return Shaped("uniform_real", value, (_positive(width, "width"),))


def truncated_laplace(value: object, scale: object, bound: object) -> Law:
    """The law of `privproof.truncated_laplace`."""
    return Shaped(TRUNCATED, value, (_positive(scale, "scale"), _positive(bound, "bound")))


def staircase(value: object, epsilon_: object, sensitivity: object, share: object) -> Law:
    """The law of `privproof.staircase`."""
    loss, part = _epsilon(epsilon_), _probability(share, "share")
    if loss.infinite or loss.ratio != 1 or loss.shift <= 0:
        raise LanguageError("noise", f"epsilon={loss} is no fraction above 0", hint='epsilon="1/2"')
    return Shaped("staircase", value, (_positive(sensitivity, "sensitivity"), fraction(loss.shift), part))


def gaussian(value: object, sigma: object) -> Law:
    """The law of `privproof.gaussian`."""
    return Continuous("gaussian", value, sigma)


def _whole(value: object, name: str) -> int:
    if isinstance(value, Fraction) and value.denominator == 1:
        value = int(value)
    if not isinstance(value, int):
        raise LanguageError(
            "noise",
            f"{name}={value!r} is a {type(value).__name__}, not an integer",
            hint="discrete noise is for integers",
        )
    return int(value)


def _exact(value: Any, name: str) -> Fraction:
    try:
        return fraction(int(value) if isinstance(value, bool) else value)
    except PrivproofError as problem:
        raise LanguageError("noise", f"{name}: {problem.message}", hint=problem.hint) from None


def _ordered(low: int, high: int) -> None:
    if low > high:
        raise LanguageError("noise", f"Cannot have high={high} < low={low}", hint="low=0, high=5")
    if high - low >= _WIDEST:
        raise LanguageError("noise", f"{low}..{high} has more than {_WIDEST} values")


def _positive(value: object, name: str) -> Fraction:
    number = _exact(value, name)
    if number <= 0:
        raise LanguageError("noise", f"{name}={value!r} is not above 0", hint=f"{name}=1")
    return number


def _probability(value: Any, name: str) -> Any:
    """A probability: a number, or in a prior a polynomial in unknown parameters, whose range is checked later."""
    if isinstance(value, Polynomial):
        return value
    number = _exact(value, name)
    if not 0 <= number <= 1:
        raise LanguageError("noise", f"{name}={show(number)} is outside [0, 1]", hint=f'{name}="1/2"')
    return number


def _epsilon(value: Any) -> Epsilon:
    try:
        result = epsilon(value)
    except PrivproofError as problem:
        raise LanguageError("noise", f"epsilon: {problem.message}", hint=problem.hint) from None
    if result.infinite or result.compare(epsilon(0)) <= 0:
        raise LanguageError("noise", f"epsilon={value!r} is not a number above 0", hint='epsilon="ln(2)"')
    return result


def _alpha(alpha: object, epsilon_: object, sensitivity: object) -> Fraction:
    if (alpha is None) == (epsilon_ is None):
        raise LanguageError(
            "noise", "give exactly one of alpha and epsilon", hint='alpha="1/2", or epsilon="ln(2)" for the same'
        )
    if alpha is None:
        rounded = _power(_epsilon(epsilon_), -1 / _positive(sensitivity, "sensitivity"), up=True)
        if rounded >= 1:
            raise LanguageError("noise", f"epsilon={epsilon_!r} is too small: below 2^-{_BITS}", hint="alpha, exactly")
        return rounded
    base = _exact(alpha, "alpha")
    if not 0 < base < 1:
        raise LanguageError("noise", f"alpha={show(base)} is not between 0 and 1", hint='alpha="1/2"')
    return base


def _power(value: Epsilon, factor: Fraction, *, up: bool) -> Fraction:
    """``e^(epsilon * factor)``: exactly where it is rational, otherwise the next multiple of 2^-64 above or below.

    >>> _power(epsilon("ln(9/4)"), Fraction(-1, 2), up=True)
    Fraction(2, 3)
    """
    exponent = factor / value.root
    if value.shift == 0:
        above, below = (_root(int(part), exponent.denominator) for part in (value.ratio.p, value.ratio.q))
        if above is not None and below is not None:
            return Fraction(above, below) ** exponent.numerator
    scaled = Epsilon(value.ratio, value.root * factor.denominator, value.shift / factor.denominator)
    low, high = scaled.enclosure(4 * _BITS)
    times = factor.numerator
    bound = fraction(high if up == (times > 0) else low) ** times
    grid = bound * 2**_BITS
    return Fraction(-((-grid.numerator) // grid.denominator) if up else grid.numerator // grid.denominator, 2**_BITS)


def _root(value: int, degree: int) -> int | None:
    """The integer whose power is the value, if there is one."""
    root = int(fmpz(value).root(degree))
    return root if root**degree == value else None
