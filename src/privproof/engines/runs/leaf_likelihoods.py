"""One noisy number that is moved: where its two laws have which likelihoods.

Noise of every kind is cut into *cells*, in which the two densities have a constant ratio, and *ramps*, along which the logarithm of the
ratio falls steadily.  With the masses (P, Q) of a cell, ``e^(loss) = P/Q``; on a ramp of length r of Laplace noise, in scales, the two
densities are ``k e^-t`` and ``k e^(t - s)`` for ``low <= t <= high``.  From these follow

* the excess at c: ``sum of max(0, P - c Q)``, and on a ramp the integral up to ``t = (s - ln c)/2``;
* the moment of order a: ``sum of P^a Q^(1-a)``, and on a ramp ``k e^((a-1)s) (e^-(2a-1)low - e^-(2a-1)high) / (2a-1)``.

Laplace noise moved by s scales has two cells, (1/2, e^-s/2) and its mirror image, and a ramp between its centers.  Truncated, it also has
a cell at each end that is impossible on one side.  Uniform noise has a cell that both laws share, and one at each end.  The staircase
(Geng and Viswanath 2014) has steps, and beyond the centers steps that repeat with a factor of e^-epsilon.  Two-sided geometric noise has
a cell for every integer between the centers, and one beyond each of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TypeAlias, TypeVar

from flint import arb, arb_series

from privproof.errors import LanguageError
from privproof.exact import ONE, ZERO, Rational

Order = TypeVar("Order", arb, arb_series)
"""The order of a moment: a number, or a power series around one, for derivatives."""

_MOST_CELLS = 100_000
"""Cells of one number; beyond, it is refused."""

Cell: TypeAlias = tuple[arb, arb]


@dataclass(frozen=True)
class MovedNumber:
    """A number with noise of its own that is moved.

    Attributes:
        law: the kind of noise, and its parameters.
        by: by how much the left law lies to the right of the other, in units of the noise.
    """

    law: tuple[str, Rational, *tuple[Rational, ...]]
    by: Rational


@dataclass(frozen=True)
class Ramp:
    """Two densities ``k e^-t`` and ``k e^(t - shift)`` for ``low <= t <= high``."""

    height: arb
    shift: arb
    low: arb
    high: arb

    def excess(self, c: arb) -> arb:
        """The integral of ``max(0, left - c right)``."""
        crossing = (self.shift - c.log()) / 2
        if crossing <= self.low:
            return arb(0)
        end = crossing.min(self.high).max(self.low)
        left = (-self.low).exp() - (-end).exp()
        right = (end - self.shift).exp() - (self.low - self.shift).exp()
        return self.height * (left - c * right)

    def moment(self, order: Order) -> Order:
        """The integral of ``left^order right^(1 - order)``."""
        slope = 2 * order - 1
        ends = (-slope * self.low).exp() - (-slope * self.high).exp()
        return ((order - 1) * self.shift).exp() * ends * self.height / slope


@dataclass(frozen=True)
class Likelihoods:
    """Two laws of a number, by how far their likelihoods are apart."""

    cells: tuple[Cell, ...]
    ramps: tuple[Ramp, ...] = ()

    def excess(self, c: arb) -> arb:
        """The largest ``P(E) - c Q(E)``."""
        return sum((positive(p - c * q) for p, q in self.cells), arb(0)) + sum(
            (r.excess(c) for r in self.ramps), arb(0)
        )

    def moment(self, order: Order) -> Order | None:
        """The sum of ``P^order Q^(1 - order)``; None where it is infinite, or may be."""
        total = order * 0
        for p, q in self.cells:
            if p.is_zero():
                continue
            if not (q > 0 and p > 0):
                return None
            total = total + ((order - 1) * (p / q).log()).exp() * p
        for ramp in self.ramps:
            total = total + ramp.moment(order)
        return total

    @property
    def loss(self) -> arb | None:
        """The largest logarithm of ``P/Q``; None where it is infinite, or may be."""
        most = arb(0)
        for p, q in self.cells:
            if p.is_zero():
                continue
            if not (q > 0 and p > 0):
                return None
            most = most.max((p / q).log())
        for ramp in self.ramps:
            most = most.max(ramp.shift - 2 * ramp.low)
        return most


def positive(value: arb) -> arb:
    """The larger of 0 and a number."""
    if value > 0:
        return value
    if value < 0:
        return arb(0)
    half = value.upper() / 2
    return arb(half, half)


def likelihoods(move: MovedNumber) -> Likelihoods:
    """The likelihoods of a number that is moved.

    Raises:
        LanguageError: noise of this kind is not known here, or is cut into too many cells.
    """
    kind, *parameters = move.law
    s = abs(move.by)
    match kind, parameters:
        case "laplace", [scale]:
            return _laplace(s / scale)
        case "exponential", [scale]:
            return _exponential(move.by / scale)
        case "uniform_real", [width]:
            return _uniform(s / width)
        case "truncated_laplace", [scale, reach]:
            return _truncated_likelihoods(s / scale, reach / scale)
        case "staircase", [step, loss, share]:
            return _staircase(s / step, loss, share)
        case "geometric", [alpha]:
            return _geometric(s, alpha)
        case "discrete_gaussian", _ if s.q != 1:
            return _APART
    raise LanguageError("noise", f"a number with {kind} noise is moved", hint="Laplace or Gaussian noise")


def _laplace(s: Rational) -> Likelihoods:
    half, tail = arb(1) / 2, (-arb(s)).exp() / 2
    return Likelihoods(((half, tail), (tail, half)), (Ramp(half, arb(s), arb(0), arb(s)),))


def _exponential(by: Rational) -> Likelihoods:
    rest = (-arb(abs(by))).exp()
    if by < 0:
        return Likelihoods(((1 - rest, arb(0)), (rest, arb(1))))
    return Likelihoods(((arb(1), rest), (arb(0), 1 - rest)))


def _uniform(s: Rational) -> Likelihoods:
    if s >= 1:
        return Likelihoods(((arb(1), arb(0)), (arb(0), arb(1))))
    shared, alone = arb(1 - s), arb(s)
    return Likelihoods(((alone, arb(0)), (shared, shared), (arb(0), alone)))


def _truncated_likelihoods(s: Rational, reach: Rational) -> Likelihoods:
    """Laplace noise between minus and plus `reach` scales; the left law around 0, the other around s."""
    if s >= 2 * reach:
        return Likelihoods(((arb(1), arb(0)), (arb(0), arb(1))))
    height = 1 / (2 * (1 - (-arb(reach)).exp()))

    def mass(low: Rational, high: Rational, center: Rational) -> arb:
        """The mass between two points on one side of a center."""
        near, far = sorted((abs(low - center), abs(high - center)))
        return height * ((-arb(near)).exp() - (-arb(far)).exp())

    cells: list[Cell] = []
    begin, end = s - reach, reach  # where both laws are possible
    alone = 1 - _share(begin, reach, height)
    cells += [(alone, arb(0)), (arb(0), alone)]
    if begin < 0:
        cells.append((mass(begin, ZERO, ZERO), mass(begin, ZERO, s)))
        cells.append((mass(s, end, ZERO), mass(s, end, s)))
    low, high = max(begin, ZERO), min(end, s)
    return Likelihoods(tuple(cells), (Ramp(height, arb(s), arb(low), arb(high)),))


def _share(begin: Rational, reach: Rational, height: arb) -> arb:
    """The mass of truncated noise above a point."""
    end = (-arb(reach)).exp()
    if begin >= 0:
        return height * ((-arb(begin)).exp() - end)
    return 1 - height * (arb(begin).exp() - end)


def _staircase(s: Rational, loss: Rational, share: Rational) -> Likelihoods:
    """Steps of length 1 in which the density falls by e^-loss after a share of them; the left law around 0, the other around s."""
    if s > _MOST_CELLS:
        raise LanguageError("noise", f"staircase noise is moved by {s} of its steps", hint="a larger sensitivity")
    fall = (-arb(loss)).exp()
    height = (1 - fall) / (2 * (arb(share) + fall * arb(1 - share)))

    def steps(center: Rational, low: Rational, high: Rational) -> list[Rational]:
        """Where the density around a center falls, between two points."""
        first, last = int((low - center).floor()) - 1, int((high - center).ceil()) + 1
        found = [center + k + part for k in range(first, last + 1) for part in (ZERO, share, 1 - share)]
        return [x for x in found if low < x < high]

    def density(x: Rational, center: Rational) -> arb:
        distance = abs(x - center)
        whole = distance.floor()
        return height * fall ** int(whole + (1 if distance - whole > share else 0))

    def cut(low: Rational, high: Rational, factor: arb) -> list[Cell]:
        ends = sorted({low, high, *steps(ZERO, low, high), *steps(s, low, high)})
        middles = [((a + b) / 2, arb(b - a) * factor) for a, b in pairwise(ends)]
        return [(density(x, ZERO) * length, density(x, s) * length) for x, length in middles]

    beyond = 1 / (1 - fall)
    return Likelihoods(
        (*cut(-ONE, ZERO, beyond), *(cut(ZERO, s, arb(1)) if s > 0 else ()), *cut(s, s + 1, beyond)),
    )


def _geometric(s: Rational, alpha: Rational) -> Likelihoods:
    """Two-sided geometric noise: the left law around 0, the other around s."""
    if s.q != 1:
        return _APART
    if s > _MOST_CELLS:
        raise LanguageError("noise", f"geometric noise is moved by {s}", hint="a smaller sensitivity")
    base, shift = arb(alpha), int(s)
    whole = 1 / (1 + base)
    inner = (1 - base) / (1 + base)
    cells = [(inner * base**z, inner * base ** (shift - z)) for z in range(1, shift)]
    far = whole * base**shift
    return Likelihoods(((whole, far), *cells, (far, whole)))


_APART = Likelihoods(((arb(1), arb(0)), (arb(0), arb(1))))
"""Two laws that show nothing in common: integers, and numbers between them."""


def product(parts: Sequence[Likelihoods]) -> tuple[Cell, ...]:
    """The cells of several independent numbers, all of them without ramps.

    Raises:
        LanguageError: there are too many.
    """
    result: list[Cell] = [(arb(1), arb(1))]
    for part in parts:
        if len(result) * len(part.cells) > _MOST_CELLS:
            raise LanguageError("noise", "several numbers with discrete likelihoods are moved at once", hint="fewer")
        result = [(p * x, q * y) for p, q in result for x, y in part.cells]
    return tuple(result)
