"""Rényi divergences in balls, and that they stay below a line through the origin.

For pieces with probabilities p, q, Gaussian rate r and moments M of other numbers,
``K(a) = ln sum of p (p/q)^(a-1) e^(a(a-1)r) M(a)`` and ``D_a = K(a)/(a-1)``, ``D_1 = K'(1)``.  To prove: ``D_a <= rho a``
for all a > 1.  Let r be the least rate, R the largest with discrete Gaussian noise added to it (its moment is at most that of continuous
noise, and the same at integer orders), L the largest loss apart from both.

* ``p^a q^(1-a) <= p e^((a-1)L)``, so ``D_a <= L + R a``.  If nothing but Gaussian noise tells the sides apart, L = 0.
* Without Gaussian noise the two laws come by one channel from randomised response with parameter L (Kairouz, Oh, Viswanath
  2015), for which ``D_a <= a L tanh(L/2)``; Gaussian noise adds at most R a.
* ``E_a = D_a - r a`` is ``D_a`` with all rates less by r, hence a Rényi divergence, hence nondecreasing in a.  So if ``E(b) <= (rho - r)
  a`` with a < b, the claim holds between a and b.  Up from an order a_m with ``L <= (rho - R) a_m`` it holds by the first point.
* If ``K'' <= 2 rho`` from 1 to b, ``rho a(a-1) - K(a)`` is convex there, 0 at 1, with derivative ``rho - D_1`` there; so if that is at
  least 0 the claim holds up to b.  ``K''`` is enclosed piece by piece, by power series around balls of orders.
* The same function h at most u away from an order m is at least ``h(m) - |h'(m)| u - max(0, -h'') u^2/2``.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

from flint import arb, arb_series, ctx

from privproof_checker.integrals.whole import whole_moment
from privproof_checker.measured.measure_laws import Piece
from privproof_checker.numbers import ONE, ZERO, Epsilon, Rational, epsilon
from privproof_checker.outcomes import Limits, refuse, within
from privproof_checker.plain_documents import a_list, a_number, an_object, only_members
from privproof_checker.runs.moved import Order

BITS = 192
"""The precision of balls: finer than that of what is claimed, so that rounding refuses nothing."""
_MOST_ORDERS = 5_000
"""Orders of a schedule; beyond, it is refused."""


def cumulant(pieces: list[Piece], order: Order, less: Rational) -> Order | None:
    """``K``, with rates less by a number; None where it is infinite, or not known."""
    total = order * 0
    for piece in pieces:
        if piece.p.is_zero():
            continue
        if not (piece.p > 0 and piece.q > 0):
            return None
        share = ((order - 1) * (piece.p / piece.q).log() + order * (order - 1) * arb(piece.rate - less)).exp() * piece.p
        for each in piece.pairings:
            moment = each.moment(order)
            if moment is None:
                return None
            share = share * moment
        if piece.distance.whole:
            share = share * whole_moment(piece.distance.whole, order)
        total = total + share
    return total.log()


def derivatives(pieces: list[Piece], order: arb, less: Rational) -> tuple[arb, arb] | None:
    """The first two derivatives of ``K``."""
    before = ctx.cap
    ctx.cap = 3
    try:
        found = cumulant(pieces, arb_series([order, 1]), less)
        return None if found is None else (found[1], 2 * found[2])
    finally:
        ctx.cap = before


def divergence(pieces: list[Piece], order: Rational, less: Rational = ZERO) -> arb | None:
    """The Rényi divergence of an order."""
    if order == 1:
        found = derivatives(pieces, arb(1), less)
        return None if found is None else found[0]
    value = cumulant(pieces, arb(order), less)
    return None if value is None else value / arb(order - 1)


def one_rate(pieces: list[Piece]) -> Rational | None:
    """The rate of Gaussian noise, where nothing else tells the sides apart and it is the same everywhere: a bound of every order."""
    rates = {(int(piece.slope.p), int(piece.slope.q)) for piece in pieces}
    return pieces[0].slope if len(rates) == 1 and all(piece.normal for piece in pieces) else None


def met_rate(pieces: list[Piece], order: Rational) -> Rational | None:
    """The same where it is met at an order: with discrete noise at integers."""
    return one_rate(pieces) if order.q == 1 or not any(piece.distance.whole for piece in pieces) else None


def most_loss(pieces: list[Piece]) -> arb | None:
    """The largest loss apart from Gaussian noise."""
    most = arb(0)
    for piece in pieces:
        if piece.p.is_zero():
            continue
        loss = piece.loss()
        if loss is None:
            return None
        most = most.max(loss)
    return most


@dataclass(frozen=True)
class Schedule:
    """The ends of the pieces of a convex start, and the orders behind it, each reached by a step of a ladder or by a cell."""

    convex: list[Rational]
    steps: list[tuple[str, Rational]]


def read_schedules(value: object, limits: Limits) -> list[Schedule]:
    """The schedules of evidence."""
    found = []
    for number, item in enumerate(a_list(value, "evidence.schedules")):
        place = f"evidence.schedules[{number}]"
        given = an_object(item, place)
        only_members(given, ("convex", "steps"), place)
        listed = a_list(given.get("convex"), f"{place}.convex")
        steps = [a_list(each, f"{place}.steps") for each in a_list(given.get("steps"), f"{place}.steps")]
        within(len(listed) + len(steps), _MOST_ORDERS, "orders", place)
        if any(len(each) != 2 or each[0] not in ("ladder", "cell") for each in steps):
            refuse("expected steps of a ladder and cells", f"{place}.steps")
        made = Schedule(
            [a_number(each, f"{place}.convex", limits) for each in listed],
            [(str(each[0]), a_number(each[1], f"{place}.steps", limits)) for each in steps],
        )
        rising = [ONE, *made.convex, *(order for _, order in made.steps)]
        if any(a >= b for a, b in pairwise(rising)):
            refuse("orders rise, from 1 on", place)
        found.append(made)
    return found


def below_line(pieces: list[Piece], rho: Epsilon, schedules: list[Schedule]) -> bool:
    """Whether ``D_a <= rho a`` for all a > 1, by one of the schedules or without."""
    loss = most_loss(pieces)
    if loss is None:
        return False
    least, most = min(piece.rate for piece in pieces), max(piece.slope for piece in pieces)
    if all(piece.normal for piece in pieces):
        return rho.compare(epsilon(most)) >= 0
    line = rho.ball(BITS)
    rest = line - arb(most)
    if loss <= rest or loss * (loss / 2).tanh() <= rest:
        return True
    return any(_climbs(pieces, line - arb(least), rest, loss, least, each) for each in schedules)


def _above_zero(pieces: list[Piece], room: arb, least: Rational, low: Rational, high: Rational) -> bool:
    """Whether ``h(a) = room a(a-1) - K(a)`` is at least 0 between two orders, by its values in the middle and its second derivative."""
    middle, radius = arb(low + high) / 2, arb(high - low) / 2
    value = cumulant(pieces, middle, least)
    here = derivatives(pieces, middle, least)
    around = derivatives(pieces, middle + radius * arb(0, 1), least)
    if value is None or here is None or around is None:
        return False
    bend = around[1] - 2 * room
    lost = abs(room * (2 * middle - 1) - here[0]) * radius + bend.max(arb(0)) * radius * radius / 2
    return bool(room * middle * (middle - 1) - value - lost >= 0)


def _climbs(
    pieces: list[Piece],
    room: arb,
    rest: arb,
    loss: arb,
    least: Rational,
    schedule: Schedule,
) -> bool:
    at, convex = ONE, schedule.convex
    if convex:
        start = derivatives(pieces, arb(1), least)
        if start is None or not start[0] <= room:
            return False
        for low, high in pairwise([ONE, *convex]):
            radius = arb(high - low) / 2
            found = derivatives(pieces, arb(low + high) / 2 + radius * arb(0, 1), least)
            if found is None or not found[1] <= 2 * room:
                return False
        at = convex[-1]
    for kind, order in schedule.steps:
        if kind == "cell":
            holds = _above_zero(pieces, room, least, at, order)
        else:
            value = divergence(pieces, order, least)
            holds = value is not None and bool(value <= room * arb(at))
        if not holds:
            return False
        at = order
    return bool(loss <= rest * arb(at))
