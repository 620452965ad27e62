"""Refutations by an event: an interval of released values that is too likely given one value of an entry.

Both probabilities are computed from the definition: the law of the sum given the value, times the chance that the noise
carries each sum into the interval.  Also the loss that is attained at one output, which a proof may add.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, TypeAlias

from flint import arb, ctx

from privproof_checker.claims import loss_at_least
from privproof_checker.numbers import INFINITE, Epsilon, Rational, epsilon
from privproof_checker.numbers.balls import precision
from privproof_checker.outcomes import Accepted, Limits, refuse
from privproof_checker.plain_documents import (
    a_list,
    a_number,
    a_text,
    an_integer,
    an_object,
    only_members,
    require_name,
    text,
)
from privproof_checker.release.release_losses import Gaussian, GeometricNoise, Noise
from privproof_checker.release.release_priors import Band, GaussianChain, Network
from privproof_checker.release.release_questions import Histogram, Release, Sum
from privproof_checker.release.sum_laws import Laws, SumLaw, Sums, number, sums

_BITS = (128, 512, 2048)
"""The precisions at which an event or an output is compared with the claim, in this order; what the last leaves open is refused."""


Interval: TypeAlias = "tuple[Rational | None, Rational | None]"


@dataclass(frozen=True)
class Compared:
    """A node under a prior, and two values of it; the laws of all its values at the first precision."""

    sums: Sums
    node: Any
    left: str
    right: str
    said: str
    first: Laws

    def laws(self) -> tuple[SumLaw, SumLaw]:
        """Both laws, in balls of the current precision."""
        laws = self.first
        if ctx.prec != _BITS[0]:
            ((_, laws),) = self.sums.balls([self.node])
        return laws[self.left], laws[self.right]


def _read_compared(release: Release, given: dict[str, object], place: str) -> Compared:
    """The node and the two values that a document names; both must be possible."""
    if not isinstance(release.query, Sum | Histogram):
        refuse("outputs are compared for sums and histograms", "question.query")
    number = an_integer(given.get("prior"), f"{place}.prior")
    if not 0 <= number < len(release.priors):
        refuse(f"there is no prior {number}", f"{place}.prior")
    prior = release.priors[number]
    if isinstance(prior, Band | GaussianChain):
        refuse("a band has no one law of the sum", f"{place}.prior")
    node: int | str
    if isinstance(prior, Network):
        if given.get("length") is not None:
            refuse("a network has its nodes and no length", f"{place}.length")
        found = sums(prior, None, release.query, f"{place}.prior")
        node = require_name(a_text(given.get("node"), f"{place}.node"), found.nodes, "node", f"{place}.node")  # type: ignore[arg-type]
        said = f"node {node!r}"
    else:
        length = an_integer(given.get("length"), f"{place}.length")
        if length not in release.lengths:
            refuse(f"the question has no series of length {length}", f"{place}.length")
        found = sums(prior, length, release.query, f"{place}.prior")
        node = an_integer(given.get("node"), f"{place}.node")
        if not 1 <= node <= length:
            refuse(f"there is no node {node}", f"{place}.node")
        said = f"entry {node} of a series of {length}"
    left, right = (a_text(given.get(side), f"{place}.{side}") for side in ("left", "right"))
    if left == right:
        refuse("the two values are the same", place)
    with precision(_BITS[0]):
        ((_, laws),) = found.balls([node])  # type: ignore[list-item]
    for side, value in (("left", left), ("right", right)):
        require_name(value, laws, "possible value", f"{place}.{side}")
    return Compared(found, node, left, right, said, laws)


def refuted_by_event(release: Release, evidence: dict[str, object], limits: Limits) -> Accepted:
    """Check that an interval of released values is more likely than the claim allows.

    Of a histogram one count is looked at: its noise is its own, so its law is that of the count with noise.  Or all of them are, with an
    interval each.
    """
    members = ("low", "high", "bin") if "box" not in evidence else ("box",)
    only_members(evidence, ("method", "prior", "length", "node", "left", "right", *members), "evidence")
    told = "the released value"
    if "box" in evidence:
        if not isinstance(release.query, Histogram):
            refuse("only a histogram has several counts", "evidence.box")
        told = "the list of released counts"
    elif isinstance(release.query, Histogram):
        name = require_name(a_text(evidence.get("bin"), "evidence.bin"), release.query.bins, "bin", "evidence.bin")
        release = replace(release, query=Sum({name: Rational(1)}, Rational(1)))
        told = f"the released count of {name!r}"
    elif "bin" in evidence:
        refuse("only a histogram has bins", "evidence.bin")
    if len(release.lengths) > 1:
        told += ", less what the other series add,"
    compared = _read_compared(release, evidence, "evidence")
    event = _intervals(release, evidence, limits)
    allowance = release.allowance(release.priors[0])
    for bits in _BITS:
        with precision(bits):
            chances = [_chance(law, compared.sums, release.noise, event) for law in compared.laws()]
            rest = chances[0] - allowance.claimed().exp() * chances[1]
            if rest < 0 or rest > 0:
                break
    if not rest > 0:
        refuse(f"{_ball_text(chances[0])} does not exceed e^epsilon times {_ball_text(chances[1])}", "evidence")
    left, right = (_ball_text(chance) for chance in chances)
    interval = " x ".join(
        f"[{'-inf' if low is None else text(low)}, {'inf' if high is None else text(high)}]" for low, high in event
    )
    return Accepted(
        "refuted",
        f"epsilon = {release.epsilon.show()} is violated with {release.noise}: {told} is in {interval} with "
        f"probability {left} if the {compared.said} is {compared.left!r}, and {right} if it is {compared.right!r}",
        {"method": "event", "left_probability": left, "right_probability": right, "interval": interval},
        lower=_needed_epsilon(chances),
    )


def _needed_epsilon(chances: list[arb]) -> Epsilon:
    """An epsilon that the event asks for at least."""
    if chances[1] == 0:
        return INFINITE
    with precision(_BITS[-1]):
        return loss_at_least((chances[0] / chances[1]).log())


def _intervals(release: Release, evidence: dict[str, object], limits: Limits) -> list[Interval]:
    """The interval of the event, or one for every count of a histogram."""
    if "box" not in evidence:
        return [_interval([evidence.get("low"), evidence.get("high")], ("evidence.low", "evidence.high"), limits)]
    assert isinstance(release.query, Histogram)
    listed = a_list(evidence["box"], "evidence.box")
    if len(listed) != len(release.query.bins):
        refuse(f"{len(listed)} intervals are given for {len(release.query.bins)} bins", "evidence.box")
    event = []
    for i, item in enumerate(listed):
        ends = a_list(item, f"evidence.box[{i}]")
        if len(ends) != 2:
            refuse("an interval has two ends", f"evidence.box[{i}]")
        event.append(_interval(ends, (f"evidence.box[{i}][0]", f"evidence.box[{i}][1]"), limits))
    return event


def _interval(ends: list[object], places: tuple[str, str], limits: Limits) -> Interval:
    """An interval that is not empty; None for an end that is infinite."""
    low = None if ends[0] == "-inf" else a_number(ends[0], places[0], limits)
    high = None if ends[1] == "inf" else a_number(ends[1], places[1], limits)
    if low is not None and high is not None and low > high:
        refuse(f"the interval from {text(low)} to {text(high)} is empty", places[0])
    return low, high


def _values(found: Sums, place: int) -> list[Rational]:
    """The sum at a place of a law, or the counts that it tells."""
    if found.counts is None:
        return [found.offset + found.unit * place]
    return [Rational(count) for count in found.counts.of(number(found, place))]


def _chance(law: SumLaw, found: Sums, noise: Noise, event: list[Interval]) -> arb:
    """The probability that the sum plus noise, or each count plus its own, is in its interval, ends included."""
    total = arb(0)
    for place, term in enumerate(law.terms, law.low):
        if not term.is_zero():
            for value, ends in zip(_values(found, place), event, strict=True):
                term = term * noise_mass_between(noise, *(None if end is None else end - value for end in ends))
            total += term
    return arb(total / law.mass)


def noise_mass_between(noise: Noise, low: Rational | None, high: Rational | None) -> arb:
    """The probability that the noise is between low and high, both included; None is no end.

    >>> noise_mass_between(GeometricNoise(Rational(1, 2), Rational(1)), Rational(-1), Rational(1, 2)).str(5, radius=False)
    '0.50000'
    """
    if isinstance(noise, GeometricNoise):
        low = None if low is None else Rational(-_floor(-low / noise.step))
        high = None if high is None else Rational(_floor(high / noise.step))
        logarithm, whole, width = arb(noise.alpha).log(), 1 / (1 + arb(noise.alpha)), Rational(1)
    elif isinstance(noise, Gaussian):
        refuse("events are for Laplace and geometric noise", "question.noise")
    else:
        logarithm, whole, width = -1 / arb(noise.scale), arb(1) / 2, Rational(0)
    if low is not None and high is not None and low > high:
        return arb(0)

    def beyond(end: Rational | None) -> arb:
        """The probability of an end above 0 or more."""
        return arb(0) if end is None else whole * (logarithm * arb(end)).exp()

    if low is not None and low >= 0:
        return beyond(low) - beyond(None if high is None else high + width)
    if high is not None and high <= 0:
        return beyond(-high) - beyond(None if low is None else width - low)
    return 1 - beyond(None if high is None else high + width) - beyond(None if low is None else width - low)


def _floor(value: Rational) -> int:
    return int(value.p // value.q)


def _ball_text(ball: arb) -> str:
    return str(ball.str(12, radius=False))


def add_attained_loss(release: Release, evidence: dict[str, object], accepted: Accepted, limits: Limits) -> Accepted:
    """What was accepted, with the loss that is attained at an output if the evidence gives one."""
    if evidence.get("attained") is None:
        return accepted
    place = "evidence.attained"
    given = an_object(evidence["attained"], place)
    only_members(given, ("prior", "length", "node", "left", "right", "output", "loss"), place)
    compared = _read_compared(release, given, place)
    output = _output(release, given.get("output"), f"{place}.output", limits)
    ends = [
        a_number(end, f"{place}.loss[{i}]", limits) for i, end in enumerate(a_list(given.get("loss"), f"{place}.loss"))
    ]
    if len(ends) != 2 or ends[0] > ends[1]:
        refuse("expected a lower and an upper bound of the loss", f"{place}.loss")
    for bits in _BITS:
        with precision(bits):
            likely = [_density(law, compared.sums, release.noise, output) for law in compared.laws()]
            loss = (likely[0] / likely[1]).log()
            shown = _ball_text(loss)
            if loss >= arb(ends[0]) and loss <= arb(ends[1]):
                break
            if loss < arb(ends[0]) or loss > arb(ends[1]):
                refuse(f"the loss at this output is {shown}", f"{place}.loss")
    else:
        refuse(f"the loss at this output, about {shown}, cannot be told from its bounds", f"{place}.loss")
    return replace(
        accepted,
        statement=f"{accepted.statement}; the loss {shown} is attained at the output {', '.join(map(text, output))} if the "
        f"{compared.said} is {compared.left!r} rather than {compared.right!r}",
        details={**accepted.details, "attained": shown, "attained_bounds": [text(end) for end in ends]},
        lower=epsilon(max(ends[0], Rational(0))),
    )


def _output(release: Release, value: object, place: str, limits: Limits) -> list[Rational]:
    """A released number, or one for every bin of a histogram."""
    if isinstance(release.query, Histogram):
        output = [a_number(item, f"{place}[{i}]", limits) for i, item in enumerate(a_list(value, place))]
        if len(output) != len(release.query.bins):
            refuse(f"{len(output)} numbers are given for {len(release.query.bins)} bins", place)
    else:
        output = [a_number(value, place, limits)]
    for each in output:
        if isinstance(release.noise, GeometricNoise) and (each / release.noise.step).q != 1:
            refuse(f"{text(each)} is never released: it is no multiple of the step", place)
    return output


def _density(law: SumLaw, found: Sums, noise: Noise, output: list[Rational]) -> arb:
    """The probability or density of an output, up to the factor of the noise."""
    total, rate = arb(0), noise.rate()
    for place, term in enumerate(law.terms, law.low):
        if not term.is_zero():
            both = zip(output, _values(found, place), strict=True)
            distance = sum((abs(there - here) for there, here in both), Rational(0))
            total += term * (-rate * arb(distance)).exp()
    return arb(total / law.mass)
