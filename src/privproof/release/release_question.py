"""Releases as questions: a query of correlated data, answered with noise, under a class of priors.

The secrets are the values of single entries: for every entry i and any two values x, x' that are possible for it, the released
value must be about as likely given X_i = x as given X_i = x'.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import isqrt
from typing import ClassVar, TypeAlias

from flint import arb

from privproof.errors import QuestionError, ScenarioError
from privproof.exact import Budget, Number, Rational, decimal, rational, show
from privproof.exact.balls import precision
from privproof.exact.measures import MeasuredBudget
from privproof.release.bayes_networks import Network
from privproof.release.gaussian_chains import GaussianChain
from privproof.release.hidden_chains import Hidden
from privproof.release.markov_chains import Band, Chain
from privproof.release.series_queries import Query
from privproof.scenarios.any_question import AnyQuestion, Family

_NEAR = rational("1/1000000")
"""An alpha nearer to 1 is shown by its distance from 1, since its first digits are all nines."""
_LARGEST = rational(10**200)
"""Floats look for verdicts: the size of noise, its step and alpha are within this and its inverse, which any query and budget fit in."""


def _measurable(*numbers: tuple[str, Rational]) -> None:
    """Complain about noise so large or so small that floats cannot hold it."""
    for name, number in numbers:
        if not 1 / _LARGEST <= number <= _LARGEST:
            raise ScenarioError(
                "noise", f"{name} = {decimal(number)}", place="noise", hint="between 10^-200 and 10^200 is possible"
            )


@dataclass(frozen=True)
class Geometric:
    """Two-sided geometric noise in whole steps: k steps with probability ``(1 - alpha)/(1 + alpha) alpha^|k|``."""

    alpha: Rational
    step: Rational

    @classmethod
    def of(cls, alpha: Number, *, step: Number = 1) -> Geometric:
        """The noise, from exact numbers."""
        ratio, unit = rational(alpha), rational(step)
        if not 0 < ratio < 1 or unit <= 0:
            raise ScenarioError(
                "noise", f"alpha = {show(ratio)}, step = {show(unit)}", place="noise", hint="0 < alpha < 1"
            )
        _measurable(("alpha", ratio), ("step", unit))
        return cls(ratio, unit)

    def rate(self, bits: int = 128) -> arb:
        """What one unit of distance costs: the logarithm of the ratio of probabilities."""
        with precision(bits):
            return -arb(self.alpha).log() / arb(self.step)

    @property
    def expected(self) -> Rational:
        """The expected size of the noise: ``2 alpha / (1 - alpha^2)`` steps."""
        return self.step * 2 * self.alpha / (1 - self.alpha * self.alpha)

    def __str__(self) -> str:
        near = 1 - self.alpha
        ratio = show(self.alpha) if near > _NEAR else f"1 - {decimal(near)}"
        return f"geometric noise with alpha = {ratio}" + ("" if self.step == 1 else f" in steps of {self.step}")


@dataclass(frozen=True)
class Laplace:
    """Laplace noise: the density is ``e^(-|w|/scale) / (2 scale)``."""

    scale: Rational

    @classmethod
    def of(cls, scale: Number) -> Laplace:
        """The noise, from an exact number."""
        width = rational(scale)
        if width <= 0:
            raise ScenarioError("noise", f"scale = {show(width)}", place="noise", hint="a scale above 0")
        _measurable(("scale", width))
        return cls(width)

    def rate(self, bits: int = 128) -> arb:
        """What one unit of distance costs."""
        with precision(bits):
            return 1 / arb(self.scale)

    @property
    def expected(self) -> Rational:
        """The expected size of the noise."""
        return self.scale

    def __str__(self) -> str:
        return f"Laplace noise of scale {show(self.scale)}"


@dataclass(frozen=True)
class Gaussian:
    """Discrete Gaussian noise: a multiple w of the step with a probability proportional to ``e^(-w^2 / (2 variance))``.

    >>> Gaussian.of(9)
    Gaussian(variance=9, step=1)
    """

    variance: Rational
    step: Rational

    @classmethod
    def of(cls, variance: Number, *, step: Number = 1) -> Gaussian:
        """The noise, from exact numbers."""
        spread, unit = rational(variance), rational(step)
        if spread <= 0 or unit <= 0:
            raise ScenarioError(
                "noise", f"variance = {show(spread)}, step = {show(unit)}", place="noise", hint="a variance above 0"
            )
        _measurable(("variance", spread), ("step", unit))
        return cls(spread, unit)

    def rate(self, bits: int = 128) -> arb:
        """None: the loss of a distance has no bound, so what an entry costs is no number.

        Raises:
            QuestionError: always.
        """
        raise QuestionError(
            "noise",
            "with Gaussian noise an entry has no cost: the loss has no bound without a delta",
            place="noise",
            hint="geometric or Laplace noise for accounts and quilts",
        )

    @property
    def expected(self) -> Rational:
        """A bound on the expected size of the noise: the standard deviation of the continuous noise, rounded up to a thousandth."""
        return Rational(isqrt(int((self.variance * 10**6).ceil())) + 1, 1000)

    def __str__(self) -> str:
        steps = "" if self.step == 1 else f" in steps of {self.step}"
        return f"discrete Gaussian noise of variance {show(self.variance)}{steps}"


Noise: TypeAlias = "Geometric | Laplace | Gaussian"
Prior: TypeAlias = Chain | Hidden | Band | Network | GaussianChain


@dataclass(frozen=True, kw_only=True)
class ReleaseQuestion(AnyQuestion):
    """A query of a series or a network, answered with noise, under a class of priors.

    Attributes:
        priors: the class: chains (hidden ones too), or one band, or networks; privacy is asked under each of them.
        lengths: how long the series are; empty for networks, which have their nodes.  Series are independent of each other, and
            whoever looks at the release may know all but one of them: losses are those of a single series of each length.
        entries: how many entries there are in all, which is public; a mean is divided by it.
        gaps: whether entries may be missing inside the series; the lengths count those that are there.
        query: what is asked.
        noise: what is added to every component of the answer.
        budget: the claim, if one is made.
        measures: instead of a budget, what is claimed of another measure: rho, or Rényi divergences by order.
        name: how reports call it.
    """

    family: ClassVar[Family] = "release"
    private: ClassVar[str] = "Pufferfish private"

    priors: tuple[Prior, ...]
    lengths: tuple[int, ...] = ()
    entries: int = 1
    gaps: bool = False
    query: Query
    noise: Noise
    budget: Budget | None = None
    measures: tuple[MeasuredBudget, ...] = ()
    name: str = ""

    @property
    def own_budgets(self) -> tuple[MeasuredBudget, ...]:
        """What is claimed of another measure than epsilon."""
        return self.measures

    def under(self, budget: Budget | None) -> ReleaseQuestion:
        """The same question with another claim."""
        return replace(self, budget=budget)


def notes_on(question: ReleaseQuestion) -> tuple[str, ...]:
    """What the reader of a verdict must know."""
    query = question.query
    if question.gaps:
        return ("entries may be missing: what lies behind a gap is further away and tells less, so the quilts hold",)
    if query.kind == "function":
        return (f"that one entry moves {query.name} by at most {query.sensitivity} is stated, not verified",)
    return ()
