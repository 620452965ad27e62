"""What noise gives away: delta, from what the shifts of Gaussian noise come to in squares, what is left of epsilon, and broken promises.

Let ``sum s^2/variance <= m`` on every path, with shifts that are settled when the noise is drawn.  Continuous noise gives away
``H_mu(e)`` with ``mu^2 = m`` (`alignment`); m may grow with the size.  Where there is discrete noise, whose shifts are integers, each
of these is a bound, and the least of them counts:

* *zCDP*.  Given what came before, the moment of order a of one draw is at most ``e^(a(a-1) s^2/(2 variance))``, for discrete noise as for
  continuous noise (`integrals.whole`).  So with other noise that costs B, ``D_a <= B + a m/2``, and delta is at most
  ``e^((a-1)(a m/2 - e)) / (a-1) * (1 - 1/a)^a`` for every a > 1 (Canonne, Kamath and Steinke 2020, proposition 12).
* *Counts*.  All noise is discrete, of one variance v, and shifted by at most 1: then at most ``k = floor(m v)`` draws are shifted.  Both
  laws are made, by the same rule, from k independent integers around 1 or around 0: each draw that is shifted takes the next of them.
* *All at once*.  All noise is discrete, and no run comes to a draw twice.  The excess of integers that are moved by d_1, ..., d_k rises
  with every ``|d_i|``: the best event is a set of outcomes ``sum of a_i z_i >= n`` with all ``a_i >= 0`` where all ``d_i >= 0``, and its
  probability rises with every d_i on the one side, and stays as it is on the other.  So if draw i is shifted by at most r_i, the
  excess is at most that of integers moved by all r_i at once; this holds, from the last draw to the first, also for shifts that
  depend on the draws before.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import exp, log

from flint import arb

from privproof_checker.integrals.normal_enclosures import normal_excess
from privproof_checker.integrals.whole import whole_excess
from privproof_checker.numbers import Epsilon, Rational
from privproof_checker.numbers.balls import precision, rational_bounds
from privproof_checker.outcomes import refuse
from privproof_checker.programs.program_inputs import Affine, Declared

_MOST_BLOCKS = 20_000
"""Blocks of sizes on which squares that grow are compared with delta, one ball each; beyond, the evidence is refused."""
BITS = 192
"""Bits of the one inequality that is decided by balls; a delta that agrees with the exact one in more digits is refused."""
_MOST_COUNTS = 5_000
"""So many draws that are shifted by 1 are put together; beyond, zCDP bounds them."""
_HALVINGS = 50
"""How often the interval of orders is cut in the search for a good one; every order gives a true bound."""
_PLACE = "evidence.bounds"


@dataclass(frozen=True)
class GaussianDraws:
    """The discrete Gaussian noise of a program: its draws, each with its variance and the most that it is shifted by.

    `once`: no run comes to one of them twice; `alone`: there is no continuous Gaussian noise.
    """

    draws: tuple[tuple[Rational, int], ...]
    once: bool
    alone: bool


def given_away(
    squares: Affine,
    many: Affine,
    broken: arb,
    total: Affine,
    product: Rational,
    declared: Declared,
    drawn: GaussianDraws | None,
) -> None:
    """Refuse costs that may exceed the claim.

    Args:
        squares: what Gaussian noise comes to at most, mu^2; it may grow with the size or a public number.
        many: how many results are foretold to its shifts; 1 where they depend on none.
        broken: how likely a promise is to be broken.
        total: what other noise costs at most, besides the logarithm of the product.
        product: the logarithm of this is what geometric noise costs at most.
        declared: the claim.
        drawn: the discrete Gaussian noise, where there is some.
    """
    least = squares.times(Rational(-1)).largest(declared.ranges)
    if declared.epsilon is None or least is None or least > 0:
        refuse("a delta is given away beside an epsilon that is a number, for squares that are at least 0", _PLACE)
    largest = total.largest(declared.ranges)
    if largest is None:
        refuse(f"the bound {str(total)[:200]} has no largest value", _PLACE)
    other = Epsilon(ratio=product, shift=largest)
    if other.compare(declared.epsilon) > 0:
        refuse(f"other noise may cost {str(other)[:200]}, more than {declared.claimed}", _PLACE)
    with precision(BITS):
        left = None if declared.epsilon.infinite else declared.epsilon.ball(BITS) - other.ball(BITS)
        _, rest = rational_bounds(broken)
        growing = [name for name, factor in squares.terms.items() if factor != 0]
        if growing and left is not None:
            _given_away_by_growing(squares, many, rest, left, declared, drawn, growing[0])
            return
        each = _excess(squares.constant, left, drawn)
    delta = many.times(each)
    delta = Affine(delta.constant + rest, delta.terms)
    beyond = delta.minus(declared.given).largest(declared.ranges)
    if beyond is None or beyond > 0:
        shown = f"{float(each):.12g} times {many}, and {float(rest):.12g}"
        refuse(f"with mu^2 = {str(squares)[:200]} delta may be {shown}, more than {str(declared.given)[:200]}", _PLACE)


def _excess(squares: Rational, left: arb | None, drawn: GaussianDraws | None) -> Rational:
    """The delta of squares of at most so much, rounded up; ``left`` is what is left of epsilon, None where that is infinite."""
    if squares == 0 or left is None:
        return Rational(0)
    found = normal_excess(arb(squares).sqrt(), left) if drawn is None else _of_integers(squares, left, drawn)
    return rational_bounds(found)[1]


def _given_away_by_growing(
    squares: Affine, many: Affine, rest: Rational, left: arb, declared: Declared, drawn: GaussianDraws | None, name: str
) -> None:
    """Refuse squares that grow with a number where delta does not grow as fast.

    What is true with squares of at most m(n) is true wherever they are at most that: so if what m(b) gives away is at most the delta
    that is claimed at a, then so it is at all sizes from a to b.  Beyond a size at which delta is 1 there is nothing to show.
    """
    parts = (squares, many, declared.given)
    if any(factor != 0 and (other != name or factor < 0) for part in parts for other, factor in part.terms.items()):
        refuse(f"where squares grow with {name[:40]!r}, delta and the number of results do with nothing else", _PLACE)
    low, high = declared.ranges[name]
    if low is None:
        refuse(f"squares grow with {name[:40]!r}, which has no least value", _PLACE)
    last = None if high is None else int(high.floor())
    here, wide = int(low.ceil()), 1
    for _ in range(_MOST_BLOCKS):
        claimed = _value(declared.given, name, here)
        if claimed >= 1 or (last is not None and here > last):
            return
        end = here + wide - 1 if last is None else min(here + wide - 1, last)
        needed = _value(many, name, end) * _excess(_value(squares, name, end), left, drawn) + rest
        if needed <= claimed:
            here, wide = end + 1, 2 * wide
        elif end > here:
            wide = (end - here + 1) // 2
        else:
            told = f"with mu^2 = {str(squares)[:200]} delta may be {float(needed):.12g}"
            refuse(f"{told} where {name[:40]} is {here}, more than {float(claimed):.12g}", _PLACE)
    refuse(f"delta grows too slowly with {name[:40]!r} to be compared at all sizes", _PLACE)


def _value(part: Affine, name: str, at: int) -> Rational:
    """The value of an expression in one name."""
    return part.constant + part.terms.get(name, Rational(0)) * at


def _of_integers(squares: Rational, left: arb, drawn: GaussianDraws) -> arb:
    """The least of the bounds that hold."""
    found = [_by_zcdp(squares / 2, left)]
    variances = {(int(variance.p), int(variance.q)) for variance, _ in drawn.draws}
    if drawn.alone and len(variances) == 1 and all(by <= 1 for _, by in drawn.draws):
        variance = drawn.draws[0][0]
        count = int((squares * variance).floor())
        if count <= _MOST_COUNTS:
            found.append(whole_excess(((variance, 1),) * count, left.exp()) if count else arb(0))
    if drawn.alone and drawn.once:
        shifted = tuple((variance, by) for variance, by in drawn.draws if by)
        found.append(whole_excess(shifted, left.exp()) if shifted else arb(0))
    best = found[0]
    for each in found[1:]:
        best = each if each.upper() < best.upper() else best
    return best


def _by_zcdp(rho: Rational, left: arb) -> arb:
    """The delta of zCDP at the best order that is found."""
    slope, room = float(rho), float(left)
    low, high = -18.0, 18.0
    for _ in range(_HALVINGS):
        one, two = low + (high - low) / 3, high - (high - low) / 3
        values = []
        for each in (one, two):
            above = exp(each)  # the order less 1
            values.append(above * ((1 + above) * slope - room) + above * log(above / (1 + above)) - log(1 + above))
        low, high = (low, two) if values[0] < values[1] else (one, high)
    more = arb(exp((low + high) / 2))
    order = 1 + more
    return ((more * (order * arb(rho) - left)).exp() * (more / order) ** more / order).min(arb(1))
