"""Noise in the plane: what hides a location so that places are told apart the less, the nearer they are.

A mechanism is *epsilon-geo-indistinguishable* (Andres, Bordenabe, Chatzikokolakis and Palamidessi, CCS 2013) if

    P(z | x) <= e^(epsilon d(x, x')) P(z | x')      for all places x, x' and all reports z,

with d the Euclidean distance; epsilon is a rate, per unit of distance.  Level l within radius r is the rate l / r.  Two kinds of
noise:

* `PlanarGeometric`, the one to release with: ``P(z | x) = e^(-epsilon |z - x|) / Z`` on the sites of an infinite grid.  Z is the
  same for all x, so the triangle inequality is the whole proof.  It is sampled exactly: every random decision compares uniform
  bits, as many as it takes, with a rigorous enclosure of a probability.
* `PlanarLaplace`, the continuous law with density ``epsilon^2 / (2 pi) e^(-epsilon |z - x|)``, to calculate with.  Drawn in
  floating point it is for experiments; `GridLaplace` rounds it to a grid and pays for the finite precision (Theorem 4.1 there).

Sums over the grid come from Poisson's summation formula: the Fourier transform of ``e^(-g |x|)`` is ``2 pi g / (g^2 + 4 pi^2
|k|^2)^(3/2)``, and its expansion in g has as coefficients sums of powers of |k|, which are ``4 zeta(s) beta(s)``.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, lru_cache
from math import cos, isqrt, log, sin, tau
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
from flint import arb, fmpq, fmpz

from privproof.errors import BudgetError, ScenarioError
from privproof.exact import ONE, Epsilon, EpsilonLike, Number, Rational, epsilon, rational, show
from privproof.exact.balls import precision, rational_bounds
from privproof.language.randomness import release_source

if TYPE_CHECKING:
    from privproof.language.randomness import Seed, Source

Site: TypeAlias = tuple[int, int]

_WORD = 64
"""Random bits are drawn so many at a time until they decide a coin, and probabilities are computed with as many bits to spare."""
_SERIES_BELOW = 2  # rates per step at which the series in the rate takes over from direct summation
_MOST_SQUARED = 1_000_000
"""Up to this squared radius, in steps, the sites of a disc are added one by one; beyond, integrals enclose the sum."""
_MOST_REPORTS = 10_000
"""The largest number of reports that are accounted together; beyond, it is refused."""
_FARTHEST = 30
"""The largest radius times epsilon; beyond, radii drawn from 53 bits are too far apart, and the noise is refused."""


def per_distance(level: EpsilonLike, *, within: Number) -> Epsilon:
    """The rate at which places up to so far apart are indistinguishable to the level.

    >>> per_distance("ln(4)", within="0.2"), per_distance(1, within=200)
    (Epsilon('ln(1024)'), Epsilon('1/200'))
    """
    radius = _positive(within, "within")
    try:
        return _rate(epsilon(f"({epsilon(level)})/({radius})"), "level")
    except BudgetError as error:
        hint = "take a larger unit of distance, or a level without ln"
        raise ScenarioError(
            "location", f"{level} within {show(radius)}: {error.message}", place="within", hint=hint
        ) from None


@dataclass(frozen=True)
class PlanarLaplace:
    """The continuous planar Laplace law; its radius has the gamma distribution of shape 2.

    Attributes:
        epsilon: the rate, per unit of distance.

    >>> noise = PlanarLaplace.of(per_distance("ln(4)", within="0.2"))
    >>> print(noise.expected_distance().str(6, radius=False), noise.accuracy("0.95").str(6, radius=False))
    0.288539 0.684395
    """

    epsilon: Epsilon

    @classmethod
    def of(cls, rate: EpsilonLike) -> PlanarLaplace:
        """The law of the given rate."""
        return cls(_rate(rate, "epsilon"))

    def density(self, distance: arb | Number, bits: int = 128) -> arb:
        """The density so far from the true place."""
        with precision(bits):
            rate = self.epsilon.ball(bits)
            return rate**2 / (2 * arb.pi()) * (-rate * _ball(distance)).exp()

    def covered(self, radius: arb | Number, bits: int = 128) -> arb:
        """The probability of a report within the radius: ``1 - (1 + epsilon r) e^(-epsilon r)``."""
        with precision(bits):
            reach = self.epsilon.ball(bits) * _ball(radius)
            return 1 - (1 + reach) * (-reach).exp()

    def accuracy(self, probability: Number, bits: int = 128) -> arb:
        """The radius within which a report lies with the probability."""
        share = _probability(probability)
        with precision(bits):
            return _radius(arb(share)) / self.epsilon.ball(bits)

    def expected_distance(self, bits: int = 128) -> arb:
        """The expected distance of a report: ``2 / epsilon``."""
        with precision(bits):
            return 2 / self.epsilon.ball(bits)

    def sample(self, x: float = 0.0, y: float = 0.0, *, seed: Seed = None) -> tuple[float, float]:
        """A report as two floats, for experiments only: the gaps between floats tell where the place was.

        Release with `PlanarGeometric`, or on a grid with `GridLaplace`.
        """
        uniform = release_source(seed).unit
        radius = -(log(uniform()) + log(uniform())) / float(self.epsilon.ball(64).mid())
        angle = tau * uniform()
        return x + radius * cos(angle), y + radius * sin(angle)

    def after(self, reports: int) -> Epsilon:
        """What so many independent reports of the same place cost."""
        return several(self.epsilon, reports)

    def __str__(self) -> str:
        return f"planar Laplace noise, epsilon = {self.epsilon.show()} per unit of distance"


def precision_epsilon(
    rate: EpsilonLike, *, step: Number, largest_radius: Number, angle_precision: Number = "1e-16"
) -> Rational:
    """The rate to draw with so that planar Laplace noise of finite precision, rounded to a grid, has the given rate.

    Theorem 4.1 of Andres et al.: with ``q = step / (largest_radius angle_precision)``, drawing with epsilon' gives epsilon for
    places and reports within the largest radius of each other, if ``epsilon' + 1/step ln((q + 2 e^(epsilon' step)) / (q - 2
    e^(epsilon' step))) <= epsilon`` (and the radius is at least as precise as ``largest_radius angle_precision``).

    Returns:
        a rational that satisfies it, at most 10^-12 of itself below the largest that does.

    Raises:
        ScenarioError: the grid is too fine, the radius too large, or the precision too coarse for any epsilon'.

    >>> from privproof.exact import decimal
    >>> decimal(precision_epsilon("ln(1024)", step="1/1000", largest_radius=100), digits=9)
    '6.93147177'
    """
    wanted = _rate(rate, "epsilon")
    unit, reach = _positive(step, "step"), _positive(largest_radius, "largest_radius")
    fine = _positive(angle_precision, "angle_precision")
    cells = unit / (reach * fine)

    def enough(candidate: Rational) -> bool:
        with precision(256):
            swollen = 2 * (arb(candidate) * arb(unit)).exp()
            if not swollen < arb(cells):
                return False
            paid = arb(candidate) + ((arb(cells) + swollen) / (arb(cells) - swollen)).log() / arb(unit)
            return bool(paid <= wanted.ball(256))

    low, high = fmpq(0), rational_bounds(wanted.ball(256))[1]
    if not enough(low):
        raise ScenarioError(
            "location",
            f"a grid of step {show(unit)} is too fine for angles that are {show(fine)} precise at a radius of {show(reach)}: "
            f"the rounding alone costs more than epsilon = {wanted.show()}",
            place="step",
            hint="a larger step, a smaller largest_radius, or PlanarGeometric, which has no rounding",
        )
    while high - low > low / 10**12:
        middle = (low + high) / 2
        low, high = (middle, high) if enough(middle) else (low, middle)
    digits = fmpz(10) ** 15
    shorter = fmpq((low * digits).floor(), digits)
    return shorter if shorter > 0 and enough(shorter) and low - shorter <= low / 10**12 else low


@dataclass(frozen=True)
class GridLaplace:
    """Planar Laplace noise, drawn in floating point and rounded to a grid, with what the finite precision costs taken off epsilon.

    The promise holds for places and reports within `largest_radius` of each other.

    Attributes:
        epsilon: the rate that is promised.
        step: the step of the grid.
        largest_radius: how far a report may be from the places that are to be confused.
        drawn: the rate of the noise that is drawn.
    """

    epsilon: Epsilon
    step: Rational
    largest_radius: Rational
    drawn: Rational

    @classmethod
    def of(
        cls, rate: EpsilonLike, *, step: Number, largest_radius: Number, angle_precision: Number = "1e-15"
    ) -> GridLaplace:
        """The mechanism of the given rate; see `precision_epsilon`.

        Angles come from 53 random bits, which are 7e-16 apart.  So do radii; beyond 30/epsilon they are too far apart.

        Raises:
            ScenarioError: the precision is too coarse, or the largest radius is beyond what the drawn radii resolve.
        """
        inner = precision_epsilon(rate, step=step, largest_radius=largest_radius, angle_precision=angle_precision)
        reach = rational(largest_radius) * inner
        if reach > _FARTHEST:
            raise ScenarioError(
                "location",
                f"largest_radius * epsilon = {show(reach)}, beyond {_FARTHEST}: reports so far away are not drawn finely",
                place="largest_radius",
                hint="a smaller largest_radius, or PlanarGeometric, which is drawn exactly",
            )
        return cls(_rate(rate, "epsilon"), rational(step), rational(largest_radius), inner)

    def release(self, x: float, y: float, *, seed: Seed = None) -> Site:
        """The site of the grid that is nearest to a drawn report; from the operating system's generator, unless a test gives a seed."""
        width = float(self.step)
        noisy = PlanarLaplace.of(self.drawn).sample(x, y, seed=seed)
        return round(noisy[0] / width), round(noisy[1] / width)

    def after(self, reports: int) -> Epsilon:
        """What so many independent reports of the same place cost."""
        return several(self.epsilon, reports)


@dataclass(frozen=True)
class PlanarGeometric:
    """Noise on the sites of an infinite grid: ``P(z | x) = e^(-epsilon |z - x|) / Z``, drawn exactly.

    A site (i, j) is the place (i step, j step).  The promise is about sites; a place is first moved to its nearest site, see
    `level`.

    Attributes:
        epsilon: the rate, per unit of distance.
        step: the step of the grid, in the unit of distance.

    >>> noise = PlanarGeometric.of(per_distance("ln(4)", within=200), step=20)
    >>> [noise.release((0, 0), seed=seed) for seed in range(7, 11)]  # a seed for a test: leave it away
    [(-3, -3), (-20, 45), (-4, -4), (8, -21)]
    """

    epsilon: Epsilon
    step: Rational

    @classmethod
    def of(cls, rate: EpsilonLike, *, step: Number = 1) -> PlanarGeometric:
        """The noise of the given rate per unit of distance, on a grid of the given step."""
        return cls(_rate(rate, "epsilon"), _positive(step, "step"))

    def rate(self, bits: int = 128) -> arb:
        """What a step of the grid costs."""
        with precision(bits):
            return self.epsilon.ball(bits) * arb(self.step)

    def weight(self, squared: int, bits: int = 128) -> arb:
        """``e^(-epsilon |n|)`` for an offset with this squared length in steps."""
        with precision(bits):
            return (-self.rate(bits) * arb(squared).sqrt()).exp()

    def normaliser(self, bits: int = 128) -> arb:
        """The sum of the weights of all sites.

        >>> print(PlanarGeometric.of("1/10").normaliser().str(12, radius=False))
        628.341408251
        """
        return _moments(self.epsilon, self.step, bits)[0]

    def probability(self, site: Site, output: Site, bits: int = 128) -> arb:
        """The probability that the site is reported as the output."""
        squared = (site[0] - output[0]) ** 2 + (site[1] - output[1]) ** 2
        with precision(bits):
            return self.weight(squared, bits) / self.normaliser(bits)

    def expected_distance(self, bits: int = 128) -> arb:
        """The expected distance of a report from the site, in the unit of distance."""
        total, moment = _moments(self.epsilon, self.step, bits)
        with precision(bits):
            return arb(self.step) * moment / total

    def covered(self, radius: Number, bits: int = 128) -> arb:
        """The probability of a report within the radius (included)."""
        reach = rational(radius) / self.step
        if reach < 0:
            raise ScenarioError("location", f"radius = {show(rational(radius))}", place="radius", hint="0 or more")
        squared = int((reach * reach).floor())
        total = self.normaliser(bits)
        if squared <= _MOST_SQUARED:
            *_, (_, inside) = self._cumulative(squared, bits)
            with precision(bits):
                return inside / total
        with precision(bits):
            low, high = ((self._beyond(arb(reach), side) / total) for side in (-1, 1))
            return (1 - low).union(1 - high)

    def accuracy(self, probability: Number, bits: int = 128) -> arb:
        """The least radius within which a report lies with the probability; a wide ball where the grid is very fine.

        >>> print(PlanarGeometric.of("1/10").accuracy("1/2").str(8, radius=False))
        16.763055
        """
        share = _probability(probability)
        total = self.normaliser(bits)
        with precision(bits):
            rest = (1 - arb(share)) * total * self.rate(bits) ** 2 / (2 * arb.pi())
            swelling = (self.rate(bits) * _half_diagonal()).exp()
            fitting = rest / swelling
            high = _half_diagonal() + (_radius(1 - fitting) / self.rate(bits) if fitting < 1 else arb(0))
            most = int(rational_bounds(high * high)[1].ceil())
            if most > _MOST_SQUARED:
                low = (
                    _radius(1 - rest * swelling) / self.rate(bits) - _half_diagonal() if rest * swelling < 1 else arb(0)
                )
                return arb(self.step) * low.union(high)
            first = None
            for squared, inside in self._cumulative(most, bits):
                if inside >= arb(share) * total:
                    return arb(self.step) * (arb(squared).sqrt() if first is None else first.union(arb(squared).sqrt()))
                if first is None and not inside < arb(share) * total:
                    first = arb(squared).sqrt()
        raise AssertionError("the radius is within its bound")

    def _cumulative(self, most: int, bits: int) -> list[tuple[int, arb]]:
        """The squared lengths of offsets up to a bound, each with the weight of all offsets up to it."""
        side = isqrt(most)
        squares = np.arange(side + 1, dtype=np.int64) ** 2
        counts = np.zeros(most + 1, dtype=np.int64)
        for i, square in enumerate(squares.tolist()):
            inside = squares[squares <= most - square] + square
            counts[inside[0]] += 2 if i else 1
            counts[inside[1:]] += 4 if i else 2
        result = []
        with precision(bits):
            total, rate = arb(0), self.rate(bits)
            for squared in np.flatnonzero(counts).tolist():
                total += int(counts[squared]) * (-rate * arb(squared).sqrt()).exp()
                result.append((squared, total))
        return result

    def _beyond(self, reach: arb, side: int) -> arb:
        """A bound of the weight of all offsets longer than the reach: from below (-1) or above (1), by integrals over the cells."""
        rate, half = self.rate(128), _half_diagonal()
        start = rate * (reach - side * half)
        return (side * rate * half).exp() * 2 * arb.pi() / rate**2 * (1 + start) * (-start).exp()

    def release(self, site: Site, *, seed: Seed = None) -> Site:
        """A report of a site, drawn exactly; the noise does not depend on the site.

        It comes from the operating system's generator.  With a seed, for tests alone, it can be repeated; whoever knows the seed knows
        the site.

        Offsets with weights ``a^(|i| + |j|)``, where ``a = e^(-g / sqrt 2)`` and g is the rate for one step, are drawn, and kept
        with probability ``e^(-g (|n| - (|i| + |j|) / sqrt 2))``, which is at most one because ``|n| >= (|i| + |j|) / sqrt 2``.
        """
        here, source = a_site(site, "site"), release_source(seed)
        while True:
            i, j = self._coordinate(source), self._coordinate(source)
            if abs(i) == abs(j) or _draw_decision(source, lambda bits, i=i, j=j: self._kept(i, j, bits)):  # type: ignore[misc]
                return here[0] + i, here[1] + j

    def _kept(self, i: int, j: int, bits: int) -> arb:
        with precision(bits):
            excess = arb(i * i + j * j).sqrt() - (abs(i) + abs(j)) / arb(2).sqrt()
            return (-self.rate(bits) * excess).exp()

    def _coordinate(self, source: Source) -> int:
        """An integer i with probability proportional to ``a^|i|``."""
        while True:
            size = self._size(source)
            if source.below(2):
                return size
            if size > 0:
                return -size

    def _size(self, source: Source) -> int:
        """A number k >= 0 with probability ``(1 - a) a^k``: its binary digits are independent, with odds ``a^(2^digit)``."""
        size = 0
        while self._coin(source, None):
            size += 1
        for digit in range(self._digits - 1, -1, -1):
            size = 2 * size + int(self._coin(source, digit))
        return size

    @cached_property
    def _digits(self) -> int:
        """So many binary digits are drawn singly; what is above them is a small number of units."""
        digits = 0
        while self.rate(64) * (1 << digits) < 1:
            digits += 1
        return digits

    def _chance(self, digit: int | None, bits: int) -> arb:
        with precision(bits):
            share = self.rate(bits) / arb(2).sqrt()
            if digit is None:
                return (-share * (1 << self._digits)).exp()
            return 1 / (1 + (share * (1 << digit)).exp())

    @cached_property
    def _thresholds(self) -> dict[int | None, tuple[int, int]]:
        return {digit: _ends(self._chance(digit, 2 * _WORD), _WORD) for digit in (None, *range(self._digits))}

    def _coin(self, source: Source, digit: int | None) -> bool:
        return _draw_decision(source, lambda bits: self._chance(digit, bits), self._thresholds[digit])

    def site(self, x: Number, y: Number) -> Site:
        """The site nearest to a place; a place half-way goes up.

        >>> PlanarGeometric.of(1, step=10).site("14.9", -26)
        (1, -3)
        """
        half = fmpq(1, 2)
        return int((rational(x) / self.step + half).floor()), int((rational(y) / self.step + half).floor())

    def level(self, distance: Number, bits: int = 128) -> arb:
        """To which level two places so far apart are indistinguishable, before they are moved to their sites.

        Moving both to the nearest sites can take them a diagonal of a cell further apart: ``epsilon (distance + sqrt(2) step)``.
        """
        with precision(bits):
            return self.epsilon.ball(bits) * (arb(rational(distance)) + arb(2).sqrt() * arb(self.step))

    def after(self, reports: int) -> Epsilon:
        """What so many independent reports of the same site cost: the rates add.

        >>> PlanarGeometric.of("ln(2)", step=1).after(5)
        Epsilon('ln(32)')
        """
        return several(self.epsilon, reports)

    def __str__(self) -> str:
        return f"planar geometric noise, epsilon = {self.epsilon.show()} per unit of distance, on a grid of step {self.step}"


@lru_cache(maxsize=64)
def _moments(rate: Epsilon, step: Rational, bits: int) -> tuple[arb, arb]:
    """The sums over the grid of ``e^(-g |n|)`` and of ``|n| e^(-g |n|)``, with g the rate for one step."""
    work = bits + 32
    with precision(work):
        by_step = rate.ball(work) * arb(step)
        return _by_series(by_step, work) if by_step < _SERIES_BELOW else _directly(by_step, work)


def _by_series(rate: arb, bits: int) -> tuple[arb, arb]:
    """``2 pi / g^2 + g / (4 pi^2) sum_m C(-3/2, m) (g / 2 pi)^(2m) 4 zeta(m + 3/2) beta(m + 3/2)``, and minus its derivative in g.

    The terms from M on are at most a geometric series, because the sums of powers of |k| >= 1 decrease in m.
    """
    small = (rate / (2 * arb.pi())) ** 2
    total, moment, coefficient, m = arb(0), arb(0), arb(1), 0
    largest = _powers(0, bits)
    while True:
        growth = small * (1 + arb(1) / (2 * m + 2)) * (2 * m + 3) / (2 * m + 1)
        remaining = abs(coefficient) * (2 * m + 1) * largest / (1 - growth)
        if growth < 1 and remaining < arb(2) ** -bits:
            break
        total += coefficient * _powers(m, bits)
        moment += coefficient * (2 * m + 1) * _powers(m, bits)
        coefficient *= -small * (2 * m + 3) / (2 * m + 2)
        m += 1
    error = remaining.union(-remaining)
    flat = 1 / (4 * arb.pi() ** 2)
    return 2 * arb.pi() / rate**2 + rate * flat * (total + error), 4 * arb.pi() / rate**3 - flat * (moment + error)


@lru_cache(maxsize=4096)
def _powers(m: int, bits: int) -> arb:
    """The sum over all k != 0 of the grid of ``|k|^(-2s)``, s = m + 3/2: ``4 zeta(s) beta(s)``."""
    with precision(bits):
        s = arb(m) + arb(3) / 2
        beta = (s.zeta(arb(1) / 4) - s.zeta(arb(3) / 4)) / arb(4) ** s
        return 4 * s.zeta() * beta


def _directly(rate: arb, bits: int) -> tuple[arb, arb]:
    """The sums over offsets with |i|, |j| <= R; the 8k offsets with max(|i|, |j|) = k > R are at least k long."""
    reach = 2 + int(rational_bounds((bits + 16) * arb(2).log() / rate)[1].ceil())
    total, moment = arb(1), arb(0)
    for i in range(1, reach + 1):
        for j in range(i + 1):
            length = arb(i * i + j * j).sqrt()
            weight = (4 if j in (0, i) else 8) * (-rate * length).exp()
            total += weight
            moment += weight * length
    ratio, start = (-rate).exp(), reach + 1
    tail = 8 * ratio**start * start**2 * (1 + ratio) / (1 - ratio) ** 3
    return total + tail.union(arb(0)), moment + tail.union(arb(0))


def _ends(ball: arb, bits: int) -> tuple[int, int]:
    """Whole numbers around ``ball 2^bits``: not above it, and not below it."""
    with precision(bits + _WORD):
        low, high = (bound * fmpz(2) ** bits for bound in rational_bounds(ball))
    return int(low.floor()), int(high.ceil())


def _draw_decision(source: Source, probability: Callable[[int], arb], ends: tuple[int, int] | None = None) -> bool:
    """True with exactly the probability that the balls enclose: bits of a uniform number are drawn until they decide."""
    bits, drawn = _WORD, source.below(1 << _WORD)
    while True:
        low, high = ends if ends is not None else _ends(probability(bits + _WORD), bits)
        if drawn < low:
            return True
        if drawn >= high:
            return False
        bits, drawn, ends = bits + _WORD, (drawn << _WORD) | source.below(1 << _WORD), None


def several(rate: Epsilon, reports: int) -> Epsilon:
    """The rate of so many independent reports together."""
    if isinstance(reports, bool) or not isinstance(reports, int) or not 1 <= reports <= _MOST_REPORTS:
        raise ScenarioError(
            "location", f"reports = {reports!r}", place="reports", hint=f"a whole number from 1 to {_MOST_REPORTS}"
        )
    return epsilon(f"{reports}*({rate})")


def a_site(value: Site, place: str) -> Site:
    """A pair of whole numbers."""
    given = tuple(value) if isinstance(value, tuple | list) else ()
    if len(given) != 2 or any(isinstance(each, bool) or not isinstance(each, int) for each in given):
        raise ScenarioError(
            "location",
            f"{value!r} is no site of a grid",
            place=place,
            hint="two whole numbers, such as (3, -1); see PlanarGeometric.site",
        )
    return given[0], given[1]


def _radius(share: arb) -> arb:
    """The r with ``1 - (1 + r) e^(-r)`` the share: ``-1 - W(-1, (share - 1) / e)``."""
    return -1 - ((share - 1) * (-arb(1)).exp()).lambertw(-1)


def _half_diagonal() -> arb:
    return arb(2).sqrt() / 2


def _ball(value: arb | Number) -> arb:
    return value if isinstance(value, arb) else arb(rational(value))


def _rate(value: EpsilonLike, place: str) -> Epsilon:
    found = epsilon(value)
    if found.infinite or found.compare(Epsilon()) == 0:
        raise ScenarioError(
            "location",
            f"epsilon = {found} per unit of distance",
            place=place,
            hint="a finite epsilon above 0, such as per_distance('ln(4)', within=200)",
        )
    return found


def _positive(value: Number, place: str) -> Rational:
    number = rational(value)
    if number <= 0:
        raise ScenarioError("location", f"{place} = {show(number)}", place=place, hint="a number above 0")
    return number


def _probability(value: Number) -> Rational:
    share = rational(value)
    if not 0 < share < ONE:
        raise ScenarioError(
            "location", f"probability = {show(share)}", place="probability", hint='between 0 and 1, such as "0.95"'
        )
    return share
