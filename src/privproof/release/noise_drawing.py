"""Noise drawn exactly: whole numbers of steps, from uniform random bits, without floating point.

The number of failures before a success, Pr(G >= n) = q^n, is ``floor(ln U / ln q)`` for a uniform U.  Bits of U are drawn until the
floor is certain in ball arithmetic, so the law is exact for every q that balls can enclose, rational or ``e^-rate``.  A two-sided
draw is the difference of two such numbers.

Laplace noise is drawn on a lattice much finer than its scale that contains all possible answers.  There the ratio of probabilities
equals the ratio of the densities, so what is proved about the density holds for what is drawn, and no rounding leaks.

Gaussian noise is discrete from the start, and drawn as in the language of mechanisms (`language.randomness`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from flint import arb, fmpz

from privproof.exact import Rational, fraction
from privproof.exact.balls import precision
from privproof.language.randomness import discrete_normal, drawing_from
from privproof.release.release_question import Gaussian, Geometric, Laplace, Noise

if TYPE_CHECKING:
    from privproof.language.randomness import Source

_BITS = 96
"""Random bits are drawn so many at a time until they decide the number; one draw is enough as a rule."""
_FINER = 2**20
"""Laplace noise is drawn on a lattice at least so many times finer than its scale."""


def draw(noise: Noise, step: Rational, source: Source) -> Rational:
    """Noise for an answer that is a multiple of the step."""
    if isinstance(noise, Geometric):
        return noise.step * _two_sided(noise, noise.step, source)
    if isinstance(noise, Gaussian):
        with drawing_from(source):
            return noise.step * discrete_normal(fraction(noise.variance / (noise.step * noise.step)))
    unit = lattice(noise, step)
    return unit * _two_sided(noise, unit, source)


def lattice(noise: Laplace, step: Rational) -> Rational:
    """The lattice that Laplace noise is drawn on: the step, divided by a power of two until it is fine."""
    unit = step
    while unit * _FINER > noise.scale:
        unit /= 2
    return unit


def _two_sided(noise: Noise, unit: Rational, source: Source) -> int:
    return failures(noise, unit, source) - failures(noise, unit, source)


def failures(noise: Noise, unit: Rational, source: Source) -> int:
    """A number n with probability ``(1 - q) q^n``, where ``q = e^(-rate * unit)``."""
    bits, drawn = _BITS, source.below(1 << _BITS)
    while True:
        with precision(bits + 64):
            scale = arb(2) ** -bits
            rate = noise.rate(bits + 64) * arb(unit)
            low, high = arb(fmpz(drawn)) * scale, arb(fmpz(drawn + 1)) * scale
            if drawn > 0:
                most, least = (-low.log() / rate).floor(), (-high.log() / rate).floor()
                found, other = most.unique_fmpz(), least.unique_fmpz()
                if found is not None and found == other:
                    return int(found)
        bits, drawn = bits + _BITS, (drawn << _BITS) + source.below(1 << _BITS)
