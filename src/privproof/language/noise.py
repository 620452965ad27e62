"""Noise, as functions that a mechanism calls.

Called normally they sample: from a cryptographically secure generator, or from a seeded one inside `privproof.seeded`.  Discrete
noise is sampled exactly, without floating point, from the law that `language.laws` gives it, the same law that is verified.
Continuous noise (`laplace`, `exponential`, `gumbel`, `gaussian`) is sampled as a float: for experiments and audits, not for releasing data,
because the gaps between floats can leak (Mironov 2012).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any, TypeVar

from privproof.errors import LanguageError
from privproof.exact import EpsilonLike, Number
from privproof.language import laws
from privproof.language.laws import Continuous, DiscreteGaussian, Geometric, Law, Shaped, TableLaw
from privproof.language.linear import Linear, Opaque, note_problem
from privproof.language.randomness import coin, discrete_normal, exponential_unit, failures, normal_unit, pick, source
from privproof.language.values import key

Value = TypeVar("Value")


def geometric(
    value: int, *, alpha: Number | None = None, epsilon: EpsilonLike | None = None, sensitivity: Number = 1
) -> int:
    """The value plus two-sided geometric noise: value + k with probability ``(1-alpha)/(1+alpha) alpha^|k|``.

    Args:
        value: an integer.
        alpha: the ratio of neighbouring probabilities, between 0 and 1.
        epsilon: instead of alpha: ``alpha = e^(-epsilon/sensitivity)``.
        sensitivity: by how much the value may differ between neighbours; counts only together with epsilon.
    """
    drawn: int = _drawn(laws.geometric, value, alpha, epsilon, sensitivity)
    return drawn


def discrete_gaussian(value: int, *, variance: Number) -> int:
    """The value plus discrete Gaussian noise: value + k with probability proportional to ``e^(-k^2 / (2 variance))``.

    It is sampled exactly, without floating point (Canonne, Kamath and Steinke 2020).

    Args:
        value: an integer.
        variance: a fraction above 0: the square of what the standard deviation of normal noise would be.
    """
    drawn: int = _drawn(laws.discrete_gaussian, value, variance)
    return drawn


def truncated_geometric(
    value: int,
    *,
    low: int,
    high: int,
    alpha: Number | None = None,
    epsilon: EpsilonLike | None = None,
    sensitivity: Number = 1,
) -> int:
    """Geometric noise clamped to low, ..., high (Ghosh, Roughgarden and Sundararajan 2009)."""
    if isinstance(value, Linear):  # a value that is left open has no table: its noise stays open, too
        laws.truncated_geometric(0, low, high, alpha, epsilon, sensitivity)
        noisy = geometric(value, alpha=alpha, epsilon=epsilon, sensitivity=sensitivity)
        return low if noisy <= low else high if noisy >= high else noisy
    drawn: int = _drawn(laws.truncated_geometric, value, low, high, alpha, epsilon, sensitivity)
    return drawn


def exponential_mechanism(scores: Sequence[Number], *, epsilon: EpsilonLike, sensitivity: Number = 1) -> int:
    """The index i of a score, with probability proportional to ``e^(epsilon score_i / (2 sensitivity))`` (McSherry and Talwar 2007)."""
    if isinstance(scores, list | tuple) and not scores:
        raise LanguageError("run", f"scores={scores!r}: there is nothing to choose", hint="scores=[0, 2, 1]")
    if any(
        isinstance(score, Linear) for score in scores
    ):  # scores that are left open have no table: noise stays open, too
        scale = laws.choice_scale(epsilon, sensitivity)
        noisy = [gumbel(score, scale=scale) for score in scores]
        best = 0
        for place in range(1, len(noisy)):
            best = place if noisy[place] > noisy[best] else best
        return best
    drawn: int = _drawn(
        laws.exponential_mechanism, tuple(scores) if isinstance(scores, list) else scores, epsilon, sensitivity
    )
    return drawn


def bernoulli(p: Number) -> bool:
    """True with probability p."""
    drawn: bool = _drawn(laws.bernoulli, p)
    return drawn


def uniform(low: int, high: int) -> int:
    """One of the integers low, ..., high, all equally likely."""
    drawn: int = _drawn(laws.uniform, low, high)
    return drawn


def choice(table: Mapping[Value, Number]) -> Value:
    """One of the keys of a table, with the probability that stands beside it."""
    drawn: Value = _drawn(laws.choice, tuple(table.items()) if isinstance(table, Mapping) else table)
    return drawn


def randomized_response(value: Value, *, truth: Number, among: Sequence[Value] | None = None) -> Value:
    """The value with probability `truth`, otherwise one of the other answers, all equally likely (Warner 1965).

    Args:
        value: the true answer.
        truth: the probability of the true answer.
        among: all answers; without it the value is a bit or a truth value.
    """
    drawn: Value = _drawn(laws.randomized_response, value, truth, among)
    return drawn


def laplace(value: Any, *, scale: Any) -> float:
    """The value plus Laplace noise of the given scale."""
    drawn: float = _drawn(laws.laplace, value, scale)
    return drawn


def exponential(value: Any, *, scale: Any) -> float:
    """The value plus (one-sided) exponential noise of the given scale."""
    drawn: float = _drawn(laws.exponential, value, scale)
    return drawn


def gumbel(value: Any, *, scale: Any) -> float:
    """The value plus Gumbel noise of the given scale: at most x above it with probability ``e^(-e^(-x/scale))``.

    The place of the largest of several such values is i with probability proportional to ``e^(value_i / scale)``, as in the exponential
    mechanism.
    """
    drawn: float = _drawn(laws.gumbel, value, scale)
    return drawn


def gaussian(value: Any, *, sigma: Any) -> float:
    """The value plus Gaussian noise with the given standard deviation."""
    drawn: float = _drawn(laws.gaussian, value, sigma)
    return drawn


def uniform_real(value: Any, *, width: Any) -> float:
    """The value plus noise that is uniform on an interval of the given width around 0."""
    drawn: float = _drawn(laws.uniform_real, value, width)
    return drawn


def truncated_laplace(value: Any, *, scale: Any, bound: Any) -> float:
    """The value plus Laplace noise that is known to lie between -bound and bound (Geng, Ding, Guo and Kumar 2020)."""
    drawn: float = _drawn(laws.truncated_laplace, value, scale, bound)
    return drawn


def staircase(value: Any, *, epsilon: EpsilonLike, sensitivity: Number = 1, share: Number = "1/2") -> float:
    """The value plus staircase noise (Geng and Viswanath 2014): its density falls by e^-epsilon over every sensitivity.

    Args:
        value: a number.
        epsilon: a fraction above 0.
        sensitivity: by how much the value may differ between neighbours: the length of a step.
        share: after which share of each step the density falls.
    """
    drawn: float = _drawn(laws.staircase, value, epsilon, sensitivity, share)
    return drawn


@dataclass(frozen=True)
class Noise:
    """A noise function and the law behind it; the law takes the function's arguments in the order of its signature."""

    function: Callable[..., Any]
    law: Callable[..., Law]
    discrete: bool = True


NOISES: dict[str, Noise] = {
    "geometric": Noise(geometric, laws.geometric),
    "discrete_gaussian": Noise(discrete_gaussian, laws.discrete_gaussian),
    "truncated_geometric": Noise(truncated_geometric, laws.truncated_geometric),
    "exponential_mechanism": Noise(exponential_mechanism, laws.exponential_mechanism),
    "bernoulli": Noise(bernoulli, laws.bernoulli),
    "uniform": Noise(uniform, laws.uniform),
    "choice": Noise(choice, laws.choice),
    "randomized_response": Noise(randomized_response, laws.randomized_response),
    "laplace": Noise(laplace, laws.laplace, discrete=False),
    "exponential": Noise(exponential, laws.exponential, discrete=False),
    "gumbel": Noise(gumbel, laws.gumbel, discrete=False),
    "gaussian": Noise(gaussian, laws.gaussian, discrete=False),
    laws.TRUNCATED: Noise(truncated_laplace, laws.truncated_laplace, discrete=False),
}


def sample(law: Law) -> Any:
    """A value drawn from a law; exactly, where it is discrete."""
    match law:
        case TableLaw(outcomes):
            return outcomes[pick([p for _, p in outcomes])][0]
        case Geometric(center, alpha):
            if coin((1 - alpha) / (1 + alpha)):
                return center
            distance = 1 + failures(alpha)
            return center + distance if coin(laws.HALF) else center - distance
        case DiscreteGaussian(center, variance):
            return center + discrete_normal(variance)
        case Shaped(kind, center, parameters):
            return float(center) + _shaped(kind, parameters)
        case Continuous("gaussian", center, scale):
            return float(center) + normal_unit() * float(Fraction(scale))
        case Continuous("gumbel", center, scale):
            return float(center) - math.log(exponential_unit()) * float(Fraction(scale))
        case Continuous(kind, center, scale):
            size = exponential_unit() * float(Fraction(scale))
            return float(center) + (size if kind == "exponential" or coin(laws.HALF) else -size)


def _shaped(kind: str, parameters: tuple[Fraction, ...]) -> float:
    """A float from noise of another shape, around 0."""
    if kind == "uniform_real":
        return (source().unit() - 0.5) * float(parameters[0])
    if kind == "truncated_laplace":
        scale, bound = map(float, parameters)
        while (size := exponential_unit() * scale) > bound:
            pass
    else:
        step, loss, share = map(float, parameters)
        later = (1 - share) * math.exp(-loss)
        begin = source().unit() < share / (share + later) if share else False
        inside = share * source().unit() if begin else share + (1 - share) * source().unit()
        size = step * (math.floor(exponential_unit() / loss) + inside)
    return size if coin(laws.HALF) else -size


_drawer: ContextVar[Callable[[Law], Any]] = ContextVar("drawer", default=sample)


def draw_from(law: Law) -> Any:
    """A value of a law, asked of whoever draws at the moment."""
    return _drawer.get()(law)


def is_drawing() -> bool:
    """Whether noise is asked of somebody, and not sampled."""
    return _drawer.get() is not sample


def _drawn(law: Callable[..., Law], *arguments: Any) -> Any:
    return _drawer.get()(_law(law, arguments))


def _law(law: Callable[..., Law], arguments: tuple[Any, ...]) -> Law:
    """The law at the arguments, kept where they can be compared (and 1 is not confused with True)."""
    if any(isinstance(argument, Linear | Opaque) for argument in arguments):
        try:
            return law(*arguments)
        except LanguageError as problem:
            raise note_problem(problem) from None
    try:
        return _kept(law, arguments, (key(arguments), tuple(map(type, arguments))))
    except TypeError:
        return law(*arguments)


@lru_cache(maxsize=4096)
def _kept(law: Callable[..., Law], arguments: tuple[Any, ...], told_apart: Any) -> Law:
    return law(*arguments)


@contextmanager
def drawing(drawer: Callable[[Law], Any]) -> Iterator[None]:
    """Inside this context every noise function asks the drawer for its value."""
    token = _drawer.set(drawer)
    try:
        yield
    finally:
        _drawer.reset(token)
