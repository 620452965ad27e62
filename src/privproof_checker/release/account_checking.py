"""Accounts: what several releases about the same series lose together, by quilts.

The question lists what was released: for release k the entries from first to last that it looks at, and either a cost b, what it loses at
most between two series that differ in one of these entries, or, with discrete Gaussian noise, the square m^2 of what one entry moves its
answer, over the variance.  That every release keeps what is said of it is a premise; a release may be chosen by what earlier ones showed,
with a delta only what it asks, not its noise and its entries.

**Theorem.** Let a quilt of X_i have the influence I, and let release k look at n_k of the entries between its nodes.  Let B be the sum of
``n_k b_k``, G the sum of ``(n_k m_k)^2/2``, and R the sum of G and of all ``x tanh(x/2)`` with ``x = n_k b_k``.  Then X_i is secret within
``I + B`` if all have a cost, and beside delta within each of ``I + B + loss(G)``, ``I + loss(R)`` and ``loss(R + I tanh(I/2))``, where
loss(rho) is that of divergences of at most ``a rho`` beside delta (`losses`).

*Proof.* Given the quilt and what is beyond, moving the entries between loses at most ``n_k b_k`` in release k, whatever was shown before,
and losses add up; that is B, and with the ratio of the laws of the quilt ``I + B``.  In divergences release k has at most
``a x tanh(x/2)`` (Bun and Steinke 2016) or ``a (n_k m_k)^2/2``; these add up (Mironov 2017), mixtures over the entries between have no more
(quasi-convexity), and what the quilt tells comes first in the sum, with ``a I tanh(I/2)`` at most, or stays outside of the conversion as a
factor, and so does a loss of at most B. QED
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from flint import arb

from privproof_checker.claims import read_epsilon
from privproof_checker.numbers import ONE, ZERO, Epsilon, Rational, epsilon
from privproof_checker.numbers.balls import precision
from privproof_checker.outcomes import Accepted, Limits, Verdict, refuse, within
from privproof_checker.plain_documents import (
    a_list,
    a_number,
    a_text_or_null,
    an_integer,
    an_object,
    only_members,
    text,
)
from privproof_checker.release.markov_quilts import Judge, QuiltRange, ranges_of
from privproof_checker.release.release_losses import Allowance, Laplace
from privproof_checker.release.release_priors import Chain, read_priors
from privproof_checker.release.transition_powers import OperationWork

_LONGEST = 1_000_000_000
"""The longest series that may be asked about; beyond, the question is refused."""
_MOST_LOOKS = 20_000_000
"""Ranges times releases times places at which what they cost is looked at; beyond, the evidence is refused."""
_BITS = 192
"""The precision at which costs are compared with the claim."""
_HALVINGS = 60
"""Bisections for the influence that is left beside a delta."""


@dataclass(frozen=True)
class Spending:
    """What one release costs, or several alike: the entries, the cost by entry or the square of what an entry moves, and how often."""

    first: int
    last: int
    cost: Rational
    squared: Rational
    times: int


@dataclass(frozen=True, kw_only=True)
class AccountAllowance(Allowance):
    """A claim, and what the releases cost at the entries between the nodes of a quilt.

    Attributes:
        pure: B of the theorem.
        gaussian: G of the theorem.
        concentrated: R of the theorem, as a number that is not below it.
    """

    pure: Rational
    gaussian: Rational
    concentrated: Rational

    def left(self, entries: int) -> arb:
        """The largest influence that one of the bounds allows."""
        claimed = self.claimed()
        if self.delta == 0:
            return claimed - arb(self.pure)
        options = [claimed - arb(self.pure) - self._beside(self.gaussian), claimed - self._beside(self.concentrated)]
        if self.gaussian == 0:
            options.append(claimed - arb(self.pure))
        options.append(arb(self._joined))
        best = options[0]
        for option in options[1:]:
            best = best.max(option.lower())
        return best

    def affords(self, ratio: Rational, entries: int) -> bool | None:
        """Whether an influence ``ln(ratio)`` is within what is left."""
        if self.gaussian == 0 and Epsilon(ratio=ratio, shift=self.pure).compare(self.epsilon) <= 0:
            return True
        if self.delta == 0:
            return False
        with precision(_BITS):
            rest = self.left(entries) - arb(ratio).log()
            return True if rest >= 0 else False if rest < 0 else None

    def _beside(self, rho: Rational) -> arb:
        return arb(0) if rho == 0 else self.beside_delta(rho)

    @cached_property
    def _joined(self) -> Rational:
        """An influence that may be added up with the divergences of the releases; -1 where there is none."""
        with precision(_BITS):
            claimed = self.claimed()

            def allowed(told: Rational) -> bool:
                more = _above(arb(told) * (arb(told) / 2).tanh())
                return bool(self._beside(self.concentrated + more) <= claimed)

            if not allowed(ZERO):
                return Rational(-1)
            low, high = ZERO, Rational(1)
            while allowed(high) and high < 1000:
                low, high = high, 2 * high
            for _ in range(_HALVINGS):
                middle = (low + high) / 2
                low, high = (middle, high) if allowed(middle) else (low, middle)
            return low


def _above(ball: arb) -> Rational:
    """A short number that is not below a ball."""
    scaled = (ball * arb(2) ** 80).upper().ceil().unique_fmpz()
    if scaled is None:
        refuse("a cost is too large", "question.spendings")
    return Rational(int(scaled), 2**80)


def check_account(
    verdict: Verdict, asked: dict[str, object], certificate: dict[str, object], limits: Limits
) -> Accepted:
    """Check a certificate whose question is about an account."""
    only_members(asked, ("kind", "title", "priors", "length", "spendings", "epsilon", "delta"), "question")
    a_text_or_null(asked.get("title"), "question.title")
    claimed = read_epsilon(asked.get("epsilon"), "question.epsilon", limits)
    delta = a_number(asked.get("delta", 0), "question.delta", limits)
    if claimed.infinite or not 0 <= delta < 1:
        refuse("an account claims an epsilon, and a delta from 0 to below 1", "question.epsilon")
    priors = read_priors(asked.get("priors"), limits)
    length = an_integer(asked.get("length"), "question.length")
    if not 1 <= length <= _LONGEST:
        refuse(f"a length is between 1 and {_LONGEST}", "question.length")
    spendings = list(_spendings(asked.get("spendings"), length, limits))
    if not spendings:
        refuse("nothing was released, so nothing is claimed", "question.spendings")
    if delta == 0 and any(each.squared != 0 for each in spendings):
        refuse("with Gaussian noise an account has a delta", "question.delta")
    evidence = an_object(certificate.get("evidence"), "evidence")
    if verdict != "proved" or evidence.get("method") != "quilts":
        refuse("an account is shown by quilts", "evidence.method")
    only_members(evidence, ("method", "ranges"), "evidence")
    listed = a_list(evidence.get("ranges"), "evidence.ranges")
    if len(listed) != len(priors):
        refuse(f"{len(listed)} lists are given for {len(priors)} priors", "evidence.ranges")
    work, count, compared, looks = OperationWork(), 0, False, 0
    for number, (chain, ranges) in enumerate(zip(priors, listed, strict=True)):
        if not isinstance(chain, Chain):
            refuse("accounts are of chains", f"question.priors[{number}]")
        judge = Judge(chain, _allowance(claimed, delta, spendings, [0] * len(spendings), [0] * len(spendings)), work)
        place = f"evidence.ranges[{number}]"
        known: dict[tuple[int, ...], AccountAllowance] = {}
        for i, each in enumerate(ranges_of(ranges, length, place, limits)):
            count += 1
            within(count, limits.pairs, "ranges", "evidence.ranges")
            overlaps, together, seen = _overlaps(each, spendings)
            looks += seen
            within(looks, _MOST_LOOKS, "costs looked at", "evidence.ranges")
            key = (*overlaps, -1, *together)
            if key not in known:
                known[key] = _allowance(claimed, delta, spendings, overlaps, together)
            judge.allowance = known[key]
            judge.check(each, f"{place}[{i}]")
        compared = compared or judge.supports.compares(length)
    if not compared:
        refuse("no entry has two possible values, so nothing is compared", "question.priors")
    budget = f"epsilon = {claimed.show()}" + (f", delta = {text(delta)}" if delta != 0 else "")
    many = sum(each.times for each in spendings)
    what = "one prior" if len(priors) == 1 else f"each of {len(priors)} priors"
    return Accepted(
        "proved",
        f"{many} releases together keep every entry of a series of length {length} within {budget} under {what}, assuming that each "
        "costs at the entries that it looks at no more than is said",
        {"method": "quilts", "ranges": count, "releases": many},
        lower=epsilon(0),
        upper=claimed,
    )


def _spendings(value: object, length: int, limits: Limits) -> Iterator[Spending]:
    listed = a_list(value, "question.spendings")
    within(len(listed), limits.pairs, "releases", "question.spendings")
    for i, item in enumerate(listed):
        place = f"question.spendings[{i}]"
        given = an_object(item, place)
        only_members(given, ("first", "last", "cost", "squared", "times", "notes"), place)
        for note in a_list(given.get("notes", []), f"{place}.notes"):
            a_text_or_null(note, f"{place}.notes")
        first, last = (an_integer(given.get(end), f"{place}.{end}") for end in ("first", "last"))
        times = an_integer(given.get("times", 1), f"{place}.times")
        cost, squared = (a_number(given.get(name, 0), f"{place}.{name}", limits) for name in ("cost", "squared"))
        if not 1 <= first <= last <= length or times < 1:
            refuse(f"the entries {first} to {last} are not in the series", place)
        if cost < 0 or squared < 0 or (cost == 0) == (squared == 0):
            refuse("a release has a cost above 0, or a square", place)
        yield Spending(first, last, cost, squared, times)


def _overlaps(each: QuiltRange, spendings: Sequence[Spending]) -> tuple[list[int], list[int], int]:
    """The most entries that every release looks at between the quilt nodes of any node of a range; those of the node that costs the most.

    Between two neighbouring places at which an edge of the window meets an edge of a release, all overlaps are linear in the node: so the
    largest cost is at such a place, or at an end of the range.
    """

    def window(node: int) -> tuple[int, int]:
        first = 1 if each.left is None else max(1, node - each.left + 1)
        last = each.length if each.right is None else min(each.length, node + each.right - 1)
        return first, last

    places = {each.first, each.last}
    if each.first < each.last:
        edges = {
            1,
            each.length,
            *(end for one in spendings for end in (one.first, one.last, one.first - 1, one.last + 1)),
        }
        for edge in edges:
            for shift in (0 if each.left is None else each.left - 1, 0 if each.right is None else 1 - each.right):
                places.update(
                    node
                    for node in (edge + shift - 1, edge + shift, edge + shift + 1)
                    if each.first <= node <= each.last
                )
    most, worst, together = [0] * len(spendings), ZERO, [0] * len(spendings)
    for node in places:
        first, last = window(node)
        here = [max(0, min(last, one.last) - max(first, one.first) + 1) for one in spendings]
        cost = sum((one.cost * (many * one.times) for one, many in zip(spendings, here, strict=True)), ZERO)
        most = list(map(max, most, here))
        if cost > worst:
            worst, together = cost, here
    return most, together, len(places) * len(spendings)


def _allowance(
    claimed: Epsilon, delta: Rational, spendings: Sequence[Spending], most: Sequence[int], together: Sequence[int]
) -> AccountAllowance:
    """What is left of a claim where releases look at so many entries; costs are those of the node that costs the most."""
    pure = sum((one.cost * (many * one.times) for one, many in zip(spendings, together, strict=True)), ZERO)
    gaussian = sum((one.squared * (many**2 * one.times) / 2 for one, many in zip(spendings, most, strict=True)), ZERO)
    concentrated = gaussian
    if delta != 0:
        with precision(_BITS):
            for one, many in zip(spendings, most, strict=True):
                if one.cost != 0 and many:
                    loss = arb(one.cost * many)
                    concentrated += _above(loss * (loss / 2).tanh()) * one.times
    return AccountAllowance(
        claimed,
        ZERO,
        Laplace(ONE),
        delta,
        pure=pure,
        gaussian=gaussian,
        concentrated=concentrated,
    )
