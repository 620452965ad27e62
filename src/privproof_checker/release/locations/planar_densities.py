"""Densities of planar noise at one report, enclosed in balls."""

from __future__ import annotations

from flint import acb, arb, fmpq

from privproof_checker.numbers import Rational
from privproof_checker.numbers.balls import precision
from privproof_checker.outcomes import Limits, refuse
from privproof_checker.release.locations.location_laws import BITS
from privproof_checker.release.locations.location_questions import LocationQuestion, Place, Plane, read_place


def compare_densities(
    question: LocationQuestion, mechanism: Plane, given: dict[str, object], limits: Limits
) -> tuple[arb, arb, arb, str]:
    """Both densities at a report and the distance of the places; refuse unless the claim is exceeded."""
    left, right = (read_place(given.get(name), f"evidence.{name}", limits) for name in ("left", "right"))
    if left == right:
        refuse("both places are the same", "evidence")
    if mechanism.ending == "shrunk north-south" and mechanism.latitude == 0:
        if left[1] == right[1] or given.get("output") != f"north = {left[1]}":
            refuse(
                "at the equator the report keeps the coordinate north: name the event of the left place",
                "evidence.output",
            )
        with precision(BITS[0]):
            return arb(1), arb(0), length_of(difference(left, right)), "probability"
    output = read_place(given.get("output"), "evidence.output", limits)
    if mechanism.ending == "resampled":
        for place in (left, right, output):
            if not all(0 <= place[k] <= mechanism.size[k] for k in (0, 1)):
                refuse("a place is not on the map", "evidence")
    for bits in (64, *BITS[:2]):
        with precision(bits):
            one, other = (_density(mechanism, place, output, bits) for place in (left, right))
            apart = length_of(difference(left, right))
            if one > (question.epsilon.ball(bits) * apart).exp() * other:
                return one, other, apart, "density"
    refuse("this report does not exceed the claim", "evidence.output")


def _density(mechanism: Plane, place: Place, output: Place, bits: int) -> arb:
    rate = mechanism.rate.ball(bits)
    away = difference(output, place)
    constant = rate**2 / (2 * arb.pi())
    if mechanism.ending == "shrunk north-south":
        factor = abs((arb(mechanism.latitude) * arb.pi() / 180).sin())
        return constant / factor * (-rate * (arb(away[0]) ** 2 + (arb(away[1]) / factor) ** 2).sqrt()).exp()
    plain = constant * (-rate * length_of(away)).exp()
    return plain / _inside(mechanism, place, rate) if mechanism.ending == "resampled" else plain


def _inside(mechanism: Plane, place: Place, rate: arb) -> arb:
    """The probability that the noise around a place stays on the rectangle: an integral along its four sides.

    A piece dt of a side at distance D, t away from the foot of the perpendicular, is seen under the angle ``D dt / (D^2 + t^2)``, and in
    its direction the noise stays inside with probability ``1 - (1 + r s) e^(-r s)``, ``s = sqrt(D^2 + t^2)``.
    """

    def along(far: Rational, end: Rational) -> arb:
        if far == 0 or end == 0:
            return arb(0)
        wide = arb(far)

        def seen(t: acb, analytic: object) -> acb:
            square = t * t + wide * wide
            length = rate * square.sqrt(analytic=bool(analytic))
            return (1 - (1 + length) * (-length).exp()) * wide / square

        return acb.integral(seen, 0, arb(end)).real

    (x, y), (width, height) = place, mechanism.size
    total = arb(0)
    for far in (x, width - x):
        total += along(far, y) + along(far, height - y)
    for far in (y, height - y):
        total += along(far, x) + along(far, width - x)
    return total / (2 * arb.pi())


def difference(one: Place, other: Place) -> Place:
    """From the second place to the first."""
    return one[0] - other[0], one[1] - other[1]


def length_of(offset: Place) -> arb:
    """The length of an offset, enclosed."""
    return arb(fmpq(offset[0] ** 2 + offset[1] ** 2)).sqrt()
