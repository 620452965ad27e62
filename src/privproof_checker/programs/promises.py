"""Proofs up to bad noise: promises that noise may break, at the price of the probability that it does.

Theorem.  Suppose that an alignment works on all runs 1 except those in a set Bad.  Then ``P(E) <= e^B Q(E) + P(Bad)``, and with
Gaussian noise ``P(E) <= e^(B+e) Q(E) + H_mu(e) + P(Bad)``: the noises of the other runs are translated as before, and are a part of
what they were.

Bad is the set of runs in which a *promise* is broken.  A promise is given at a draw whose centre differs between the runs, and says
on which side the noise does not go far: *below*: noise < c; *above*: noise > -c; *against*: it does not go far to where its centre
comes from.  Whether it is given depends on the inputs and on the path before the draw alone, because no noise flows into
the centre; or it is given always.  So if no run gives it more than N times, ``P(Bad) <= N P(noise >= c)``: the noise at a draw is
independent of what comes before it, and what counts are the draws up to the first that breaks it.

Noise that run 2 draws by itself.  Suppose that at some draws, told by the inputs and the path before, the noise ξ of run 1 and the
noise ζ of run 2 have nothing to do with each other, and that the alignment of the other noise works for every ξ and for every ζ < c.
Then each such draw costs ``ln(1/P(noise < c))``.  For on each path π, with k such draws and the shifts s of the other noise h, and
for every ξ, ``∫ f(h) [run 1 with (h, ξ) takes π and writes E] <= e^B ∫ f(h+s) [run 2 with (h+s, ζ) takes π and writes E]`` for every
ζ < c; average over these ζ, which gives the factor ``P(noise < c)^-k`` and at most what run 2 does in all, and then over ξ.

A promise with a member `paid` is given where the centre falls.  Where it rises from 0 or below, the noise of run 2 is such a ζ, and a
shift of at least this size, whose cost is counted and which is not made, pays for it: a count that rises from 0 is a key that run 1 does
not hold, and so does not look at its noise.  Where a record is replaced, one count falls and one rises: delta pays for the first alone.

Truncated noise lies between -b and b in every run 1, and so must the shifted noise of run 2, or its density there is 0: this is one
more condition of an alignment.  Within its range the density is that of Laplace noise, up to a constant, and a shift costs as much.
Where the range is left, a promise has to say that the noise does not come so near its end.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from flint import arb

from privproof_checker.integrals.normal_enclosures import normal_share
from privproof_checker.integrals.whole import whole_share
from privproof_checker.numbers import Rational
from privproof_checker.numbers.balls import precision
from privproof_checker.outcomes import Limits, refuse, within
from privproof_checker.plain_documents import a_list, a_number, a_text, an_integer, an_object, only_members
from privproof_checker.programs.flow import Flow
from privproof_checker.programs.instruction_kinds import NextValue, Sample
from privproof_checker.programs.instructions import TRUNCATED
from privproof_checker.programs.program_expressions import parts_within

_SIDES = ("below", "above", "against")
_MOST_TIMES = 1_000_000
"""How often a promise may be given; beyond, it is refused."""
_BITS = 128
"""Bits of the balls in which a shift is compared with what it pays for; a comparison that they leave open is refused."""
_PLACE = "evidence.promises"


@dataclass(frozen=True)
class Promise:
    """A promise.

    Attributes:
        number: which one it is.
        side: on which side the noise does not go far.
        beyond: how far it goes at least where the promise is broken.
        times: how often it is given at most.
        always: whether it is given at every draw.
        paid: the size of the shift that pays for noise which run 2 draws by itself; None where it draws none.
        sample: a draw at which it is given; the others have the same law.
    """

    number: int
    side: str
    beyond: Rational
    times: int
    always: bool
    paid: Rational | None
    sample: Sample

    @property
    def cost(self) -> str:
        """The symbol that counts how often it was given."""
        return f"cost tail {self.number}"

    def price(self) -> arb:
        """How likely it is to be broken, at all draws together."""
        sample, c = self.sample, self.beyond
        if sample.whole and sample.gaussian:
            return self.times * whole_share([(sample.variance, Rational(1))], -c)
        if sample.kind == "geometric":
            alpha = arb(sample.alpha)
            return self.times * alpha ** int(c.p) / (1 + alpha)
        scales = arb(c / sample.factor)
        if sample.bound is not None:  # the share of Laplace noise from c to the bound, of that within the bound
            last = (-arb(sample.bound / sample.factor)).exp()
            return self.times * ((-scales).exp() - last) / (2 * (1 - last)) if c < sample.bound else arb(0)
        return self.times * (normal_share(-scales) if sample.kind == "gaussian" else (-scales).exp() / 2)

    def kept(self, noise: str, gap: str, far: str) -> str:
        """That the noise keeps it, as a term; far is how far it must not go."""
        below, above = f"(< {noise} {far})", f"(< (- {far}) {noise})"
        if self.side == "against":
            return f"(ite (< {gap} 0) {below} {above})" if self.sample.whole else f"(ite (< {gap} 0.0) {below} {above})"
        return below if self.side == "below" else above


def read_promises(value: object, flow: Flow, limits: Limits) -> dict[int, Promise]:
    """The promises of a certificate, by the instruction at which they are given."""
    found: dict[int, Promise] = {}
    listed = a_list(value, _PLACE)
    within(len(listed), len(flow.program.code), "promises", _PLACE)
    for number, item in enumerate(listed):
        place = f"{_PLACE}[{number}]"
        given = an_object(item, place)
        only_members(given, ("instructions", "side", "beyond", "times", "always", "paid"), place)
        always = given.get("always", False)
        if not isinstance(always, bool):
            refuse("expected true or false", f"{place}.always")
        side = a_text(given.get("side"), f"{place}.side")
        if side not in _SIDES:
            refuse(f"{side[:40]!r} is none of {', '.join(_SIDES)}", f"{place}.side")
        beyond = a_number(given.get("beyond"), f"{place}.beyond", limits)
        times = an_integer(given.get("times"), f"{place}.times")
        if beyond <= 0 or not 0 <= times <= _MOST_TIMES:
            refuse("expected a distance above 0, and how often the promise is given", place)
        samples: dict[int, Sample] = {}
        for k, at in enumerate(a_list(given.get("instructions"), f"{place}.instructions")):
            here = f"{place}.instructions[{k}]"
            instruction = an_integer(at, here)
            step = flow.program.code[instruction] if 0 <= instruction < len(flow.program.code) else None
            if not isinstance(step, Sample) or instruction in found or instruction in samples:
                refuse("expected instructions that draw noise, each once", here)
            _check_tails_known(step, flow, here)
            if not always:
                _predictable(step, flow, here)
            samples[instruction] = step
        if not samples:
            refuse("a promise is given somewhere", f"{place}.instructions")
        first, *others = samples.values()
        if any(each.law != first.law for each in others):
            refuse("a promise is about noise of one law", f"{place}.instructions")
        if first.whole and beyond.q != 1:
            refuse("integers are promised to stay within an integer", f"{place}.beyond")
        paid = a_number(given["paid"], f"{place}.paid", limits) if "paid" in given else None
        promise = Promise(number, side, beyond, times, always, paid, first)
        if paid is not None:
            _paid_for(promise, paid, flow, f"{place}.paid")
        found |= dict.fromkeys(samples, promise)
    return found


def _check_tails_known(sample: Sample, flow: Flow, place: str) -> None:
    """Refuse noise whose tails are not known here."""
    if any(isinstance(step, NextValue) for step in flow.program.code):
        refuse("nothing is promised beside a stream", place)
    of_number = sample.kind in ("laplace", TRUNCATED) and not sample.group
    known = sample.gaussian or sample.kind == "geometric" or of_number
    if not known or flow.selections:
        refuse(
            "nothing is promised of such noise: of another kind, of a scale that is no number, of a selection", place
        )


def _predictable(sample: Sample, flow: Flow, place: str) -> None:
    """Refuse noise around a centre that noise flows into."""
    if any(part.head == "variable" and part.name in flow.noisy for part in parts_within(sample.center)):
        refuse("noise flows into the centre, so whether it differs is not known before the draw", place)


def _paid_for(promise: Promise, paid: Rational, flow: Flow, place: str) -> None:
    """Refuse a shift whose cost is less than ``ln(1/P(noise < c))``, and noise of which nothing is proved here."""
    sample = promise.sample
    if promise.side != "below" or promise.always or sample.kind not in ("laplace", "geometric"):
        refuse("run 2 draws Laplace or geometric noise by itself that stays below", place)
    if any(isinstance(step, Sample) and step.gaussian for step in flow.program.code):
        refuse("run 2 draws nothing by itself beside Gaussian noise", place)
    if paid <= 0 or (sample.whole and paid.q != 1):
        refuse("a shift that pays is above 0, of integers an integer", place)
    with precision(_BITS):
        once = replace(promise, times=1).price()
        left = arb(sample.alpha) ** int(paid.p) if sample.whole else (-arb(paid / sample.factor)).exp()
        if not left <= 1 - once:
            refuse("the cost of the shift does not pay for what is promised of run 2", place)


def prices(promises: Mapping[int, Promise]) -> arb:
    """How likely any promise is to be broken."""
    total = arb(0)
    for promise in {each.number: each for each in promises.values()}.values():
        total += promise.price()
    return total
