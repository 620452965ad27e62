"""Gaussian chains: given two values of an entry the series have the same law, shifted, and noise covers the shift of the answer.

**Theorem.** Let all entries be normal with variance V, every one independent of those before given the one between, and let r_t be the
correlation of X_t and X_(t+1).  Given ``X_i = a`` the series is ``a r_ij + Z_j``, up to means, where r_ij is the product of the
correlations between i and j, and the law of Z does not depend on a.  So a series given a and one given b, drawn with the same Z, differ by
``(a - b) r_ij`` at j, and the rounded answer by at most k steps, where k is the least whole number of steps that is not below

    distance  times  max |sum over j of c_j w_j r_ij|,        c_j = 1, or from 0 to 1 where entries are cut off at a range:

cut off, numbers differ by a part of what they did.  What is released given a and given b
are mixtures, with the law of Z as weights, of noise moved by at most k steps.  H, the excess of (epsilon, delta), and the moments of
divergences are jointly convex and rise with the distance, so they are at most those of noise and noise moved by k steps.  QED

*Start.* Where X_1 has less variance and every next one is ``r_t X_t`` and an independent normal number that makes up for V, all variances
are at most V, and rise towards it: the regression of X_t on X_(t+1) is r_t times a number from 0 to 1.  So before i intervals
are stretched to hold 0.

*Bound and attainment.*  The sums are ``R_t = c_t w_t + r_t R_(t+1)``, where every number occurs once; so interval arithmetic finds their
exact range.  Once numbers are long they are rounded outwards to a grid, n times at most, and the range is known up to 2n units of it.
The class holds, if it says nothing of the variance, series that hardly vary, with the correlations at the end of this range and with
means that put an entry well within the range or far beyond it.  There the answer, rounded, moves by ``floor(L / step)`` steps wherever
it is, and by ``ceil(L / step)`` from a suitable place, which can be chosen where nothing is cut off.  So the excess, and the divergences,
of noise and noise so moved are limits of those of series in the class, and a claim that they exceed strictly is exceeded.

*What the series vary by themselves.*  Where nothing is cut off, the answer given ``X_i = a`` is normal before it is rounded; its mean moves
by at most d, and its variance is s^2.  Tell, beside what is released, its distance t from its mean given a, less ``d - k step`` given b
(k any whole number).  The laws of t are normal with means that differ by ``d - k step``: Rényi divergences of at most
``alpha (d - k step)^2 / 2s^2``.  Given t the answers differ by at most k steps after rounding: ``alpha (k step)^2 / 2 variance``.
Divergences of what is told one after the other add up.  For V at least v the least s^2 is v times the least one for variance 1:
``Q_t = Q_(t+1) + (1 - r_t^2) R_(t+1)^2``, bounded at the ends of the intervals.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

from flint import arb, fmpq

from privproof_checker.numbers import INFINITE, ONE, ZERO, Epsilon, Rational, epsilon
from privproof_checker.numbers.balls import precision
from privproof_checker.outcomes import Accepted, Limits, Verdict, refuse, within
from privproof_checker.plain_documents import a_number, only_members
from privproof_checker.release.release_divergences import moved_noise, response, within_bound
from privproof_checker.release.release_losses import Allowance, Gaussian, GeometricNoise, Laplace
from privproof_checker.release.release_priors import GaussianChain
from privproof_checker.release.release_questions import LinearQuery, Release
from privproof_checker.release.sum_couplings import Tails, few_steps

_PREC = 192
"""The precision at which claims are compared; what it leaves open is refused."""
_SHORT = 1024
"""The bits of a denominator up to which sums stay exact; longer ones are rounded outwards to multiples of 2^-256."""
_UNIT = 256
_LONG = 1_000_000
"""Bits of the ratio of a loss; a longer one is not written down, and counts for nothing."""
_LONGEST = 2_000_000
"""Entries of all series that are looked at; more are refused."""


@dataclass(frozen=True)
class Moved:
    """How the answer moves.

    Attributes:
        least: the answer moves by so many steps or more for some series; None where that is not known.
        steps: and never by more.
        node: an entry with which it moves furthest.
        own: with Gaussian noise, a number rho such that all divergences are at most rho times their order; None where there is none.
    """

    least: int | None
    steps: int
    node: int
    own: Rational | None


def check_shifts(verdict: Verdict, release: Release, evidence: dict[str, object]) -> Accepted:
    """Compare the noise with the shift of the answer; the claim is one of epsilon, and of delta with Gaussian noise."""
    only_members(evidence, ("method",), "evidence")
    found = answer_moved(release)
    details = {"method": "shifts", "steps": found.steps, "node": found.node}
    with precision(_PREC):
        if verdict == "refuted":
            if found.least is None or not _exceeds_claim(release, found.least):
                refuse("the claim is not shown to be exceeded", "evidence")
            shown = (None if release.delta != 0 else _loss(release, found.least)) or release.epsilon
            said = f"entry {found.node} moves the answer by {found.least} steps for some series"
            claimed = f"{release.claim().split(' holds ')[0]} is violated with {release.noise}: {said}"
            return Accepted("refuted", claimed, details, lower=shown, upper=INFINITE)
        if not _keeps_claim(release, found):
            refuse(f"the noise does not cover {found.steps} steps", "evidence")
        upper = (None if release.delta != 0 else _loss(release, found.steps)) or release.epsilon
        lower = None if release.delta != 0 or found.least is None else _loss(release, found.least)
        return Accepted("proved", release.claim(), details, lower=lower or epsilon(ZERO), upper=upper)


def shifts_within(release: Release, evidence: dict[str, object]) -> None:
    """Refuse unless the divergences that are claimed are kept."""
    only_members(evidence, ("method",), "evidence.proofs")
    bound, noise, found = release.bound, release.noise, answer_moved(release)
    assert bound is not None
    distance = _grid(release) * found.steps
    with precision(_PREC):
        times = ONE if bound.order is None else bound.order
        if isinstance(noise, Gaussian):
            moved = [distance**2 / (2 * noise.variance), *([] if found.own is None else [found.own])]
            kept = bound.value.compare(epsilon(min(moved) * times)) >= 0
        elif bound.order is None:
            kept = bool(response(None, noise.rate() * arb(distance)) <= bound.value.ball(_PREC))
        else:
            kept = within_bound(bound, moved_noise(noise, bound.order, distance), bound.order)
    if not kept:
        refuse(f"noise moved by {found.steps} steps is not within {bound}", "evidence.proofs")


def divergence_reached(
    release: Release, given: dict[str, object], place: str, limits: Limits
) -> tuple[arb, Rational, str]:
    """A divergence that some series have at an order, from below, at the current precision."""
    only_members(given, ("method", "order"), place)
    order, found = a_number(given.get("order"), f"{place}.order", limits), answer_moved(release)
    if found.least is None or order < 1 or (isinstance(release.noise, Gaussian) and order.q != 1):
        refuse("no divergence of this order is known from below", f"{place}.order")
    reached = moved_noise(release.noise, order, _grid(release) * found.least)
    return reached, order, f"entry {found.node} moves the answer by {found.least} steps"


def _grid(release: Release) -> Rational:
    assert isinstance(release.query, LinearQuery)
    return release.query.step


def _loss(release: Release, steps: int) -> Epsilon | None:
    """What noise that is moved by so many steps loses; None where the number is too long."""
    noise, distance = release.noise, _grid(release) * steps
    if isinstance(noise, Laplace):
        return epsilon(distance / noise.scale)
    assert isinstance(noise, GeometricNoise)
    times = int((distance / noise.step).p)
    long = times * noise.alpha.q.bit_length() > _LONG
    return None if long else Epsilon(ratio=noise.alpha**-times)


def _allowance(release: Release) -> Allowance:
    return Allowance(release.epsilon, ONE, release.noise, release.delta)


def _keeps_claim(release: Release, found: Moved) -> bool:
    distance, noise = _grid(release) * found.steps, release.noise
    if not isinstance(noise, Gaussian):
        return bool(_allowance(release).affords_distance(ONE, distance))
    excess = _excess(release, found.steps)
    if excess is not None and excess <= arb(release.delta):
        return True
    rhos = [distance**2 / (2 * noise.variance)] * (excess is None) + ([] if found.own is None else [found.own])
    return any(_allowance(release).beside_delta(rho) <= _allowance(release).claimed() for rho in rhos)


def _exceeds_claim(release: Release, steps: int) -> bool:
    if isinstance(release.noise, Gaussian):
        excess = _excess(release, steps)
        return excess is not None and bool(excess > arb(release.delta))
    return _allowance(release).affords_distance(ONE, _grid(release) * steps) is False


def _excess(release: Release, steps: int) -> arb | None:
    """The least delta for noise that is moved by so many steps; None where it has too many steps to add up."""
    noise = release.noise
    assert isinstance(noise, Gaussian)
    variance, finer = noise.variance / (noise.step * noise.step), int((_grid(release) / noise.step).p)
    if not few_steps(variance, steps * finer):
        return None
    return Tails(variance, steps * finer, "question.noise").delta(_allowance(release).claimed(), steps * finer)


Ends: TypeAlias = "tuple[Rational, Rational]"


def answer_moved(release: Release) -> Moved:
    """How far the rounded answer moves, over all lengths and entries."""
    query, (prior,) = release.query, release.priors
    if not isinstance(prior, GaussianChain) or not isinstance(query, LinearQuery):
        refuse("shifts are those of linear queries under a Gaussian chain", "evidence.method")
    within(sum(release.lengths), _LONGEST, "entries", "question.lengths")
    most, node, rounded, rhos = -ONE, 0, False, []
    for length in release.lengths:
        weights = query.of(length)
        steps = prior.between(length)
        before = [(min(low, ZERO), max(high, ZERO)) for low, high in steps] if prior.narrower else steps
        left, long = _ends(weights[:-1], before, cut=prior.cut)
        right, longer = _ends(weights[:0:-1], steps[::-1], cut=prior.cut)
        right, rounded = right[::-1], rounded or long or longer
        own = [(min(w, ZERO), max(w, ZERO)) if prior.cut else (w, w) for w in weights]
        ranges = [(w[0] + a[0] + b[0], w[1] + a[1] + b[1]) for w, a, b in zip(own, left, right, strict=True)]
        for number, (low, high) in enumerate(ranges, 1):
            if max(-low, high) > most:
                most, node = max(-low, high), number
        if prior.variance > 0 and not prior.cut and isinstance(release.noise, Gaussian):
            one = [ZERO] * length if prior.narrower else _least_variances(left, weights, steps)
            other = _least_variances(right[::-1], weights[::-1], steps[::-1])[::-1]
            varied = (prior.variance * (a + b) for a, b in zip(one, other, strict=True))
            moves = (prior.distance * max(-low, high) for low, high in ranges)
            rhos += [
                _rho_of_move(move, s, release.noise.variance, query.step) for move, s in zip(moves, varied, strict=True)
            ]
    steps_above = _steps(most * prior.distance, query.step)
    slack = Rational(2 * max(release.lengths), 1 << _UNIT) if rounded else ZERO
    surely = (most - slack) * prior.distance / query.step
    least = int(surely.floor() if prior.cut else surely.ceil())
    known = prior.variance == 0 and not prior.narrower
    return Moved(least if known else None, steps_above, node, max(rhos, default=None))


def _steps(distance: Rational, step: Rational) -> int:
    return int((distance / step).ceil())


def _ends(weights: Sequence[Rational], steps: Sequence[Ends], *, cut: bool) -> tuple[list[Ends], bool]:
    """The ranges of what lies on one side of every entry adds, from the outermost entry inwards, and whether any was rounded."""
    result, low, high, long = [(ZERO, ZERO)], ZERO, ZERO, False
    for weight, (least, most) in zip(weights, steps, strict=True):
        low += min(weight, ZERO) if cut else weight
        high += max(weight, ZERO) if cut else weight
        corners = (least * low, least * high, most * low, most * high)
        low, high = min(corners), max(corners)
        long = long or max(low.q.bit_length(), high.q.bit_length()) > _SHORT
        if long:
            low = fmpq((low * 2**_UNIT).floor(), 2**_UNIT)
            high = fmpq((high * 2**_UNIT).ceil(), 2**_UNIT)
        result.append((low, high))
    return result, long


def _least_variances(sums: Sequence[Ends], weights: Sequence[Rational], steps: Sequence[Ends]) -> list[Rational]:
    """For variance 1, the least variance of what lies on one side of every entry adds, given it; rounded down."""
    result = [ZERO]
    for (low, high), weight, (least, most) in zip(sums, weights, steps, strict=False):
        ends = low + weight, high + weight
        size = ZERO if ends[0] <= 0 <= ends[1] else min(abs(ends[0]), abs(ends[1]))
        found = result[-1] + (1 - max(least * least, most * most)) * size * size
        result.append(fmpq((found * 2**64).floor(), 2**64))
    return result


def _rho_of_move(move: Rational, varied: Rational, variance: Rational, step: Rational) -> Rational:
    """The divergence for every order, of what the series vary and the noise, if noise covers a good number of steps."""
    covered = _steps(move, step)
    if varied > 0:
        covered = min(covered, int((move * variance / (variance + varied) / step).floor()))
    rest, noise = max(move - covered * step, ZERO), (covered * step) ** 2 / (2 * variance)
    return noise if rest == 0 else rest * rest / (2 * varied) + noise
