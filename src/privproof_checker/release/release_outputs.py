"""Proofs by laws: the law of the sum given every value of every entry, with the noise, compared output by output.

Given X_i = x the output z has a probability (or density) proportional to ``sum over c of mu_x(c) B^|z - c|``, with B the
factor by which the noise falls over one unit.  Between two neighbouring atoms the ratio of two such sums is a quotient of
linear functions of ``B^(-2z)``, hence monotone, and outside all atoms it is constant.  So its largest value is found at an
atom, and comparing at all points of the grid between the least and the greatest atom is enough.  Histograms: see `counts`.

Floating point shows most nodes of a chain, with a bound on its errors (`rounded_laws`).  Balls decide where the two sides
differ.  Where they may be equal, geometric noise leaves a comparison of rationals.  With Laplace noise B is transcendental, so
two sides that are polynomials in B are equal only if all coefficients are.
"""

from __future__ import annotations

from typing import Any

from flint import arb, fmpz_poly

from privproof_checker.numbers import Rational
from privproof_checker.numbers.balls import precision
from privproof_checker.outcomes import Accepted, Limits, refuse, within
from privproof_checker.plain_documents import only_members
from privproof_checker.release.histogram_sums import Counts
from privproof_checker.release.release_events import add_attained_loss
from privproof_checker.release.release_losses import Allowance, Gaussian, Laplace, Noise
from privproof_checker.release.release_questions import Release
from privproof_checker.release.rounded_laws import shown_by_rounding
from privproof_checker.release.sum_laws import ChainSums, Laws, SumLaw, Sums, every, number

_BITS = (128, 512)
"""The precisions at which outputs are compared with the claim, in this order; what the last leaves open is decided exactly."""
_MOST_BALLS = 2_000_000
"""Outputs of histograms, at all nodes, that floating point leaves to balls, some ten seconds; beyond, the evidence is refused."""
_MOST_TIES = 200_000_000
"""Terms visited where equal sides are compared exactly; beyond, the evidence is refused."""
_MOST_DIGITS = 20_000_000
"""The bits of the powers of alpha where equal sides are compared exactly; beyond, the claim counts as not shown."""


def proved_by_laws(release: Release, evidence: dict[str, object], limits: Limits) -> Accepted:
    """Check that no output of any node tells two values apart by more than epsilon."""
    only_members(evidence, ("method", "attained"), "evidence")
    compared = 0
    for place, allowance, found in every(release):
        compared += _check_outputs(found, allowance, place)
    if not compared:
        refuse("no entry has two possible values, so nothing is compared", "question.priors")
    details = {"method": "laws", "outputs": compared}
    return add_attained_loss(release, evidence, Accepted("proved", release.claim(), details), limits)


def _check_outputs(found: Sums, allowance: Allowance, place: str) -> int:
    """Refuse unless the claim holds at all outputs of all nodes; how many they are."""
    shown: dict[int, int] = {}
    if isinstance(found, ChainSums):
        with precision(_BITS[0]):
            shown = shown_by_rounding(found, allowance.claimed().exp(), decay(allowance.noise, step_of(found)))
    compared = sum(shown.values())
    pending: dict[Any, list[int]] = {node: [] for node in found.nodes if node not in shown}
    if not pending:
        return compared
    if found.counts is not None:
        within(len(pending) * found.counts.outputs, _MOST_BALLS, "outputs of a histogram in balls", place)
    for level, bits in enumerate(_BITS):
        left: dict[Any, list[int]] = {}
        with precision(bits):
            bound, factor = allowance.claimed().exp(), decay(allowance.noise, step_of(found))
            for node, laws in found.balls(pending):
                if len(laws) < 2:
                    continue
                answer, outputs = _compare_outputs(found, laws, bound, factor)
                compared += outputs if level == 0 else 0
                if answer is None:
                    refuse(f"the claim does not hold at the node {node}: some output tells its values apart", place)
                if answer:
                    left[node] = answer
        pending = left
        if not pending:
            return compared
    _check_ties(found, pending, allowance, place)
    return compared


def decay(noise: Noise, unit: Rational) -> arb:
    """The factor by which the noise falls over one unit, at the current precision."""
    return (-noise.rate() * arb(unit)).exp()


def _compare_outputs(found: Sums, laws: Laws, bound: arb, factor: arb) -> tuple[list[int] | None, int]:
    """The outputs where balls leave it open whether the claim holds, and how many outputs there are; None if it fails."""
    low, high = min(law.low for law in laws.values()), max(law.high for law in laws.values())
    if found.counts is not None:
        low, noisy = 0, [_noisy_counts(found, found.counts, law, factor) for law in laws.values()]
    else:
        noisy = [_noisy(law, low, high, factor) for law in laws.values()]
    first, *others = noisy
    most, least = first, first
    for other in others:
        most = [a.max(b) for a, b in zip(most, other, strict=True)]
        least = [a.min(b) for a, b in zip(least, other, strict=True)]
    unclear: list[int] = []
    for place, (above, below) in enumerate(zip(most, least, strict=True)):
        limit = bound * below
        if above <= limit:
            continue
        if above > limit:
            return None, 0
        unclear.append(low + place)
    return unclear, len(most)


def _noisy(law: SumLaw, low: int, high: int, factor: arb) -> list[arb]:
    """The law with noise, up to the factor of the noise, at every point from low to high."""
    zero = arb(0)
    scale = 1 / law.mass
    return _spread_noise(
        [zero] * (law.low - low) + [term * scale for term in law.terms] + [zero] * (high - law.high), factor
    )


def _noisy_counts(found: Sums, counts: Counts, law: SumLaw, factor: arb) -> list[arb]:
    """The law of a histogram with noise on every count, up to the factor of the noise, at every place of its box."""
    scale, box = 1 / law.mass, [arb(0)] * counts.outputs
    for place, term in enumerate(law.terms, law.low):
        if not term.is_zero():
            box[counts.place(number(found, place))] = term * scale
    for j in range(counts.bins):
        stride = counts.base**j
        for first in range(counts.outputs):
            if first // stride % counts.base == 0:
                line = slice(first, first + stride * counts.entries + 1, stride)
                box[line] = _spread_noise(box[line], factor)
    return box


def _spread_noise(terms: list[arb], factor: arb) -> list[arb]:
    """What lies on a line with noise, up to the factor of the noise, at each of its points."""
    zero = arb(0)
    after = [zero] * len(terms)
    running = zero
    for place in range(len(terms) - 1, 0, -1):
        running = (running + terms[place]) * factor
        after[place - 1] = running
    running = zero
    result = []
    for term, more in zip(terms, after, strict=True):
        running = running * factor + term
        result.append(running + more)
    return result


def _check_ties(found: Sums, pending: dict[Any, list[int]], allowance: Allowance, place: str) -> None:
    """Refuse unless the claim holds at the outputs that balls left open."""
    count = sum(len(outputs) for outputs in pending.values())
    for node, laws in found.exactly(pending):
        within(count * len(laws) ** 2 * (found.span + 1), _MOST_TIES, "comparisons of equal sides", place)
        for output in pending[node]:
            for x, law in laws.items():
                for other in laws:
                    if x != other and not _holds(found, law, laws[other], output, allowance):
                        refuse(f"the claim cannot be shown at the node {node}", place)


def _holds(found: Sums, law: SumLaw, other: SumLaw, output: int, allowance: Allowance) -> bool:
    """Whether the claim holds at an output for an ordered pair, exactly."""
    left, right = _masses_by_distance(found, law, output), _masses_by_distance(found, other, output)
    noise, unit = allowance.noise, step_of(found)
    if isinstance(noise, Laplace):
        with precision(_BITS[-1]):
            factor = decay(noise, unit)
            sides = [_horner(terms, factor) / arb(each.mass) for terms, each in ((left, law), (right, other))]
            if sides[0] <= allowance.claimed().exp() * sides[1]:
                return True
        return _same(left, law.mass, right, other.mass, unit, noise, allowance)
    if isinstance(noise, Gaussian):
        return False
    steps = unit / noise.step
    size = max(len(left), len(right)) * int(steps.p) * int(noise.alpha.q.bit_length())
    if steps.q != 1 or size > _MOST_DIGITS:
        return False
    ratio = noise.alpha ** int(steps.p)
    exact = [fmpz_poly(terms)(ratio) / Rational(each.mass) for terms, each in ((left, law), (right, other))]
    return allowance.epsilon.allows(exact[0], exact[1])


def _same(
    left: list[Any], mass: Any, right: list[Any], other_mass: Any, unit: Rational, noise: Laplace, allowance: Allowance
) -> bool:
    """Whether the left side equals e^epsilon times the right one, as polynomials in the factor of the noise."""
    shift = allowance.epsilon.shift * noise.scale / unit
    if shift.q != 1 or abs(int(shift.p)) > max(len(left), len(right)):
        return False
    places, root = int(shift.p), allowance.epsilon.root

    def at(terms: list[Any], exponent: int) -> Rational:
        return Rational(terms[exponent] if 0 <= exponent < len(terms) else 0)

    exponents = range(min(0, -places), max(len(left), len(right) - places))
    return all(
        (at(left, exponent) * other_mass) ** root
        == allowance.epsilon.ratio * (at(right, exponent + places) * mass) ** root
        for exponent in exponents
    )


def step_of(found: Sums) -> Rational:
    """The distance of neighbouring outputs: counts move by ones, whatever numbers tell them."""
    return found.unit if found.counts is None else Rational(1)


def _masses_by_distance(found: Sums, law: SumLaw, output: int) -> list[Any]:
    """The masses by their distance to an output; of a histogram, to a point of its box."""
    counts = found.counts
    if counts is not None:
        result = [0] * (counts.bins * counts.entries + 1)
        for place, term in enumerate(law.terms, law.low):
            if term != 0:
                result[counts.distance(number(found, place), output)] += term
        return result
    result = [0] * (max(abs(output - law.low), abs(output - law.high)) + 1)
    for place, term in enumerate(law.terms, law.low):
        result[abs(output - place)] += term
    return result


def _horner(terms: list[Any], factor: arb) -> arb:
    result = arb(0)
    for term in reversed(terms):
        result = result * factor + arb(term)
    return result
