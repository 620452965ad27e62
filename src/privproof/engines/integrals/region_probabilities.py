"""Exact probabilities of polyhedra under independent continuous noise of scale ``c/ε``: the one integrator of the engines.

A run of a mechanism with concrete inputs is a conjunction of linear inequalities over its noises.  Its probability is an
integral of piecewise exponential polynomials (`functions`): an `ExponentialSum` in ε, or at a given ε a rigorous ball.

Noises that meet only one other are integrated out first (`leaves`).  What is left goes to `differences` if all inequalities compare
two noises, as the thresholds of a stream do, and to `polyhedra` otherwise.  Inequalities hold with equality on a set of measure
zero, so ``>`` and ``>=`` agree.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from functools import reduce
from math import lcm

from flint import arb

from privproof.engines.integrals import difference_polynomials as differences
from privproof.engines.integrals import polyhedra
from privproof.engines.integrals.leaf_integrals import Core, Halfspace, eliminate
from privproof.engines.integrals.piecewise_functions import Calculus, CentredNoise, Function, K, Numeric, Ring, Symbolic
from privproof.errors import LanguageError, NumberError
from privproof.exact.balls import precision
from privproof.exact.exponentials import ExponentialSum
from privproof.exact.rationals import ONE, ZERO, Rational

_GUARD = 32
"""Bits beyond those asked for, for what the arithmetic loses."""
_ACCURACY = 40
"""Bits of a probability that have to be certain; with fewer it is computed again at twice the precision."""
_MOST_BITS = 4096
"""Beyond this precision the closed form takes over, which loses nothing."""


def probability(noises: Sequence[CentredNoise], halfspaces: Sequence[Halfspace]) -> ExponentialSum:
    """The probability that all halfspaces hold, as a closed form in ε.

    >>> lap, below = CentredNoise("laplace", Rational(2)), Halfspace(((0, Rational(-1)),), Rational(-3))
    >>> probability([lap], [below]).text("ε")
    '1/2*e^(-3/2 ε)'
    >>> difference = Halfspace(((0, Rational(1)), (1, Rational(-1))), Rational(-3))
    >>> probability([lap, lap], [difference]).text("ε")
    '1/2*e^(-3/2 ε) + 3/8*ε*e^(-3/2 ε)'
    """
    grid = reduce(lcm, (int(noise.scale.p) for noise in noises), 1)
    grid *= reduce(lcm, (int(halfspace.constant.q) for halfspace in halfspaces), 1)
    return _integral(noises, halfspaces, Symbolic(grid))


def probability_ball(
    noises: Sequence[CentredNoise], halfspaces: Sequence[Halfspace], epsilon: Rational, bits: int = 128
) -> arb:
    """A ball around the probability at this ε, exactly zero if the probability is.

    The precision starts at `bits` and doubles until the ball is known to a relative 2^-40, and only the first attempt
    subtracts carelessly; past 4096 bits the closed form takes over.

    >>> lap, below = CentredNoise("laplace", Rational(2)), Halfspace(((0, Rational(-1)),), Rational(-160))
    >>> print(probability_ball([lap], [below], Rational(1)).str(20, radius=False))
    9.0242569392270758616e-36
    """
    if epsilon <= 0:
        raise NumberError("number", f"epsilon={epsilon} is not above zero", hint="the noise has scale c/epsilon")
    work = bits + _GUARD
    while work <= _MOST_BITS:
        with precision(work):
            ball = _integral(noises, halfspaces, Numeric(epsilon), careful=work > bits + _GUARD)
        if ball.is_zero() or ball.rel_accuracy_bits() >= _ACCURACY:
            return ball
        work *= 2
    exact = probability(noises, halfspaces).at(epsilon)
    while not exact.is_zero:
        ball = exact.ball(1, work)
        if ball.rel_accuracy_bits() >= _ACCURACY:
            return ball
        work *= 2
    return arb(0)


def difference(low: int | None, high: int | None, offset: Rational) -> Halfspace:
    """The points with ``x_high - x_low >= offset``, where None is the constant 0.

    >>> between = [difference(0, 1, ZERO), difference(1, 2, ZERO), difference(0, 2, ONE)]
    >>> probability([CentredNoise("laplace", ONE)] * 3, between).text("ε")
    '1/12*e^(-ε) + 1/4*ε*e^(-ε) + 1/12*e^(-2 ε)'
    """
    ends = [] if low == high else [(end, sign) for end, sign in ((low, -ONE), (high, ONE)) if end is not None]
    return Halfspace(tuple(sorted(ends)), -offset)


def _integral(
    noises: Sequence[CentredNoise], halfspaces: Sequence[Halfspace], ring: Ring[K], *, careful: bool = False
) -> K:
    for halfspace in halfspaces:
        for number, _ in halfspace.coefficients:
            if not 0 <= number < len(noises):
                raise LanguageError("integral", f"the halfspace {halfspace} names the noise {number} of {len(noises)}")
    calculus = Calculus(ring)
    cores = eliminate(noises, halfspaces, calculus)
    if cores is None:
        return ring.term(ZERO, 0, ZERO)
    known: dict[Hashable, K] = {}
    result = ring.term(ONE, 0, ZERO)
    for core in cores:
        look = _look(core)
        if look not in known:
            known[look] = _core(core, calculus, careful=careful)
        result = result * known[look]
        if ring.vanishes(result):
            break
    return result


def _look(core: Core[Function[K]]) -> Hashable:
    """What the integral of a core depends on."""
    place = {number: i for i, number in enumerate(core.functions)}
    return tuple(map(id, core.functions.values())), frozenset(
        (tuple((place[number], factor) for number, factor in halfspace.coefficients), halfspace.constant)
        for halfspace in core.rest
    )


def _core(core: Core[Function[K]], calculus: Calculus[K], *, careful: bool) -> K:
    functions, rest = core
    if len(functions) == 1:
        [function] = functions.values()
        return calculus.total(function)
    if all(differences.is_difference(halfspace) for halfspace in rest):
        return differences.integrate(functions, rest, calculus, careful=careful)
    return polyhedra.integrate(functions, rest, calculus.ring)
