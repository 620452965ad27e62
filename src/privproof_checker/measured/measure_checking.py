"""What a certificate about another measure establishes: from the runs of a function, from a proof of an epsilon, or from settled shifts.

Settled shifts.  Suppose that an alignment shifts all noise but Gaussian noise at a cost of at most B, and each Gaussian noise by an s
that depends on what comes before its draw alone, with ``sum s^2/sigma^2 <= mu^2`` on every path (`programs.alignment`).  Then ``D_a <= B
+ a mu^2/2`` for every order a.  For with h the noise of run 1, f and g the densities of the other and the Gaussian noise, the law of run
2 is at least the image of ``f(h+s) g(h+s)`` under the map by which run 1 shows what it does; so the divergence is at most that of ``f(h)
g(h)`` from it, whose moment of order a is at most ``e^((a-1) B)`` times the mean of the product of ``(g_j(h_j)/g_j(h_j+s_j))^(a-1)``;
given what comes before, the mean of one factor is ``e^(a(a-1) s_j^2/(2 sigma_j^2))``.  The mean is no larger where the noise is discrete
and s an integer.  Where B is 0 and all noise continuous, both laws are made by one rule from a Brownian motion on [0, mu^2] with drift 0
or -1, so that no test is better than one of these: the mechanism is mu-GDP.
"""

from __future__ import annotations

from dataclasses import dataclass

from flint import arb

from privproof_checker.certificate_facts import verdict_of
from privproof_checker.claims import Claim, read_epsilon
from privproof_checker.from_epsilon import refuse_other_laws
from privproof_checker.integrals.normal_enclosures import normal_share
from privproof_checker.measured.gaussian_tradeoffs import read_points, some_test_is_better, told_no_better
from privproof_checker.measured.measure_laws import Piece, from_above, from_below
from privproof_checker.measured.measure_orders import BITS, below_line, divergence, met_rate, one_rate, read_schedules
from privproof_checker.numbers import INFINITE, ONE, Epsilon, Rational, epsilon
from privproof_checker.numbers.balls import precision, rational_bounds
from privproof_checker.outcomes import Accepted, Limits, Shifts, Verdict, refuse, within
from privproof_checker.plain_documents import a_list, a_number, a_text, an_integer, an_object, only_members, text
from privproof_checker.programs.program_inputs import Affine
from privproof_checker.runs import read_runs
from privproof_checker.runs.run_leaves import Ran
from privproof_checker.runs.shown import Observed, observe_tree

_MEASURES = ("rho", "mu", "renyi")
_CLAIMED = ("epsilon", "delta", "pointwise", "claim")
"""The members of a question that say what is claimed."""
_LARGEST_ORDER = 10**10
"""Orders beyond this are refused."""
_MOST_POWER = 100
"""Ratios are raised to powers up to this one where values are compared exactly; beyond, balls are."""
_MOST_POINT = 20_000
"""Epsilons at which tests are looked at; beyond, they are refused."""
_MOST_LOSS = 1_000
"""Beyond this epsilon nothing is concluded from it."""


@dataclass(frozen=True)
class _Budget:
    """What is claimed: a number; where it grows with the size or public numbers, `growing` says how, and the number is infinite."""

    order: Rational | None
    value: Epsilon
    growing: Affine | None = None


def check_measured(
    verdict: Verdict, asked: dict[str, object], certificate: dict[str, object], limits: Limits
) -> Accepted:
    """Check a certificate whose question is about another measure."""
    only_members(asked, ("kind", "measure", "budgets", "of"), "question")
    measure = asked.get("measure")
    if measure not in _MEASURES:
        refuse(f"expected a measure among {', '.join(_MEASURES)}", "question.measure")
    budgets = _budgets(str(measure), asked.get("budgets"), limits)
    of = an_object(asked.get("of"), "question.of")
    if any(name in of for name in (*_CLAIMED, "rate")):
        refuse("the question below a measure claims nothing", "question.of")
    evidence = an_object(certificate.get("evidence"), "evidence")
    method = a_text(evidence.get("method"), "evidence.method")
    if of.get("kind") == "release" and method in ("release", "entry", "shifts"):
        return _of_release(verdict, str(measure), budgets, of, certificate, limits)
    with precision(BITS):
        if (verdict, method) == ("proved", "settled"):
            return _from_shifts(str(measure), budgets, of, evidence, limits)
        if any(each.growing is not None for each in budgets):
            refuse("a value that grows is shown by shifts of Gaussian noise alone", "question.budgets")
        if (verdict, method) == ("proved", "pure"):
            return _from_epsilon(str(measure), budgets, of, evidence, limits)
        if (verdict, method) == ("proved", "range"):
            return _from_range(str(measure), budgets, of, evidence, limits)
        if of.get("kind") != "runs":
            refuse(f"{method[:40]!r} is evidence about functions that were run", "evidence.method")
        claim = Claim(INFINITE, Rational(0), pointwise=False)
        ran = read_runs(of, claim, limits, sampled=verdict == "refuted")
        checking = _Checking(str(measure), ran, limits)
        if (verdict, method) == ("proved", "divergences"):
            return checking.proved(budgets, evidence, certificate.get("below"))
        if verdict == "refuted":
            return checking.refuted(budgets, evidence)
    refuse(f"{method[:40]!r} is no evidence for {verdict}", "evidence.method")


def _of_release(
    verdict: Verdict,
    measure: str,
    budgets: list[_Budget],
    of: dict[str, object],
    certificate: dict[str, object],
    limits: Limits,
) -> Accepted:
    """What is established about a noisy query of correlated data."""
    from privproof_checker.release.release_divergences import Bound
    from privproof_checker.release.release_measures import check_measured_release

    if measure == "mu" or any(each.growing is not None for each in budgets):
        refuse("of a release rho and Rényi divergences are bounded, by numbers", "question.measure")
    return check_measured_release(verdict, [Bound(each.order, each.value) for each in budgets], of, certificate, limits)


def _budgets(measure: str, value: object, limits: Limits) -> list[_Budget]:
    found = []
    for number, item in enumerate(a_list(value, "question.budgets")):
        place = f"question.budgets[{number}]"
        given = an_object(item, place)
        only_members(given, ("order", "value", "claim"), place)
        order = None if measure != "renyi" else a_number(given.get("order"), f"{place}.order", limits)
        if order is not None and not 1 <= order <= _LARGEST_ORDER:
            refuse(f"there is no order {text(order)} here", f"{place}.order")
        if measure != "renyi" and "order" in given:
            refuse("only Rényi divergences have an order", place)
        if "claim" in given:
            if measure == "mu" or "value" in given:
                refuse("a value that grows is for rho and Rényi divergences, in the place of a number", place)
            found.append(_Budget(order, INFINITE, _read_growing_value(given["claim"], f"{place}.claim", limits)))
            continue
        bound = read_epsilon(given.get("value"), f"{place}.value", limits)
        if bound.infinite:
            refuse("an infinite value claims nothing", place)
        found.append(_Budget(order, bound))
    within(len(found), limits.symbols, "values", "question.budgets")
    if not found or (measure != "renyi" and len(found) > 1):
        refuse("expected a value, and of Rényi divergences one or several", "question.budgets")
    return found


def _read_growing_value(value: object, place: str, limits: Limits) -> Affine:
    """A value that grows; whether there are such names is known where it is compared."""
    given = an_object(value, place)
    only_members(given, ("constant", "terms"), place)
    terms = {
        name: a_number(factor, f"{place}.terms.{name[:40]}", limits)
        for name, factor in an_object(given.get("terms"), f"{place}.terms").items()
    }
    return Affine(a_number(given.get("constant"), f"{place}.constant", limits), terms)


def _budgets_text(measure: str, budgets: list[_Budget]) -> str:
    values = [each.value if each.growing is None else each.growing for each in budgets]
    return ", ".join(
        f"{measure} = {value}" if each.order is None else f"Rényi divergence {value} of order {text(each.order)}"
        for each, value in zip(budgets, values, strict=True)
    )


def _from_epsilon(
    measure: str, budgets: list[_Budget], of: dict[str, object], evidence: dict[str, object], limits: Limits
) -> Accepted:
    """From a certificate of an epsilon: randomised response with it has the largest divergences, and is told apart best."""
    accepted, asked = _inner(of, evidence, limits)
    if asked.get("delta", "0") not in ("0", 0):
        refuse("an epsilon with a delta bounds no divergence", "evidence.certificate.question.delta")
    loss = accepted.upper
    if accepted.verdict != "proved" or loss is None or loss.compare(epsilon(_MOST_LOSS)) > 0:
        refuse("no epsilon is established from which anything follows", "evidence.certificate")
    most = loss.ball(BITS)
    share = 1 / (1 + (-most).exp())
    for each in budgets:
        claimed = each.value.ball(BITS)
        exact = None if measure == "mu" else _exactly_of_response(each.order, loss)
        if exact is not None:
            holds = each.value.compare(exact) >= 0
        elif measure == "mu":
            holds = share <= normal_share(claimed / 2)
        elif each.order is None or each.order == 1:
            holds = most * (most / 2).tanh() <= claimed
        else:
            more = arb(each.order - 1)
            total = share * (more * most).exp() + (1 - share) * (-more * most).exp()
            holds = total.log() <= more * claimed
        if not holds:
            refuse(f"epsilon {loss} does not show {_budgets_text(measure, [each])}", "evidence")
    return Accepted(
        "proved",
        f"{accepted.statement}; randomised response with this epsilon is within {_budgets_text(measure, budgets)}",
        {"method": "pure", "epsilon": str(loss)},
        lower=epsilon(0),
        upper=budgets[0].value,
    )


def _exactly_of_response(order: Rational | None, loss: Epsilon) -> Epsilon | None:
    """The divergence of randomised response, or its rho, where its epsilon is the logarithm of a ratio r and powers are small.

    It answers rightly with probability ``r/(1+r)``.  So ``D_1 = ln(r) (r-1)/(r+1)``, which is rho, and for a whole order a
    ``e^((a-1) D_a) = (r^a + r^(1-a))/(1+r)``.
    """
    ratio = loss.ratio
    if loss.shift != 0 or loss.root != 1 or ratio <= 1:
        return None
    if order is None or order == 1:
        slope = (ratio - 1) / (ratio + 1)
        return None if slope.q > _MOST_POWER else Epsilon(ratio ** int(slope.p), int(slope.q))
    if order.q != 1 or order > _MOST_POWER:
        return None
    power = int(order.p)
    return Epsilon((ratio**power + ratio ** (1 - power)) / (1 + ratio), power - 1)


def _inner(of: dict[str, object], evidence: dict[str, object], limits: Limits) -> tuple[Accepted, dict[str, object]]:
    """What the certificate inside establishes, which is about the same question, and its question."""
    from privproof_checker.front import check_document

    only_members(evidence, ("method", "certificate"), "evidence")
    inner = an_object(evidence.get("certificate"), "evidence.certificate")
    asked = an_object(inner.get("question"), "evidence.certificate.question")
    if verdict_of(inner) != "proved" or "epsilon" not in asked or "rate" in asked:
        refuse("expected a proof of one epsilon", "evidence.certificate")
    if {name: part for name, part in asked.items() if name not in _CLAIMED} != of:
        refuse("this is about another question", "evidence.certificate.question")
    if asked.get("kind") != "release":  # whose epsilon is about whole laws, of any two values in both orders
        refuse_other_laws(asked, "evidence.certificate.question")
    return check_document(inner, limits), asked


def _from_shifts(
    measure: str, budgets: list[_Budget], of: dict[str, object], evidence: dict[str, object], limits: Limits
) -> Accepted:
    """From a proof by alignment: what its shifts come to bounds all divergences."""
    accepted, _ = _inner(of, evidence, limits)
    shifts = accepted.shifts
    if accepted.verdict != "proved" or shifts is None:
        refuse("expected a proof by alignment, with costs that are bounded by numbers", "evidence.certificate")
    others, squares = shifts.others, shifts.squares
    most = squares.largest(shifts.ranges)
    for each in budgets:
        if each.growing is not None:
            holds = _grows_within(each, each.growing, shifts)
        elif most is None:
            holds = False
        elif measure == "mu":
            if shifts.discrete:
                refuse("discrete Gaussian noise is told apart better than normal noise", "evidence.certificate")
            rational_ = each.value.ratio == 1 and each.value.shift**2 >= most
            holds = others.compare(epsilon(0)) == 0 and (rational_ or bool(each.value.ball(BITS) ** 2 >= arb(most)))
        else:
            more = most / 2 * (1 if each.order is None else each.order)  # for rho: B + a mu^2/2 <= rho a from a = 1 on
            holds = each.value.compare(Epsilon(others.ratio, others.root, others.shift + more)) >= 0
        if not holds:
            told = f"shifts that cost {others} and come to {str(squares)[:200]} in squares"
            refuse(f"{told} do not show {_budgets_text(measure, [each])}", "evidence")
    return Accepted(
        "proved",
        f"{accepted.statement}; the shifts of Gaussian noise are settled: within {_budgets_text(measure, budgets)}",
        {
            "method": "settled",
            "others": str(others),
            "squares": str(squares)[:200],
        },
        lower=epsilon(0),
        upper=budgets[0].value,
    )


def _grows_within(budget: _Budget, claimed: Affine, shifts: Shifts) -> bool:
    """Whether what shifts come to is within a value that grows, at all sizes and public numbers."""
    if any(name not in shifts.ranges for name, factor in claimed.terms.items() if factor != 0):
        refuse("the value grows with what is neither the size nor a public integer", "question.budgets")
    if shifts.others.ratio != 1:
        refuse("beside a value that grows other noise costs no logarithms", "question.budgets")
    needed = shifts.squares.times((ONE if budget.order is None else budget.order) / 2)
    needed = Affine(needed.constant + shifts.others.shift, needed.terms)
    beyond = needed.minus(claimed).largest(shifts.ranges)
    return beyond is not None and beyond <= 0


def _from_range(
    measure: str, budgets: list[_Budget], of: dict[str, object], evidence: dict[str, object], limits: Limits
) -> Accepted:
    """From a proof by alignment that shows the range r of all losses (`programs.ranges`): ``D_a <= a r^2/8``."""
    accepted, asked = _inner(of, evidence, limits)
    if asked.get("delta", "0") not in ("0", 0) or accepted.verdict != "proved" or accepted.range is None:
        refuse("expected a proof of an epsilon by alignment that shows the range of losses", "evidence.certificate")
    rate = accepted.range**2 / 8
    for each in budgets:
        if measure == "mu" or each.value.compare(epsilon(rate * (1 if each.order is None else each.order))) < 0:
            refuse(f"losses within {text(accepted.range)} do not show {_budgets_text(measure, [each])}", "evidence")
    return Accepted(
        "proved",
        f"{accepted.statement}; all losses lie within {text(accepted.range)} of each other: within {_budgets_text(measure, budgets)}",
        {"method": "range", "range": text(accepted.range)},
        lower=epsilon(0),
        upper=budgets[0].value,
    )


class _Checking:
    """Checks evidence from the runs of a function."""

    def __init__(self, measure: str, ran: Ran, limits: Limits) -> None:
        self.measure, self.ran, self.limits = measure, ran, limits
        self._seen: dict[int, Observed] = {}

    def seen(self, number: int) -> Observed:
        """What a tree shows."""
        if number not in self._seen:
            self._seen[number] = observe_tree(self.ran.trees[number], f"question.of.trees[{number}]")
        return self._seen[number]

    def proved(self, budgets: list[_Budget], evidence: dict[str, object], below: object) -> Accepted:
        """That every pair of neighbours is within all values."""
        only_members(evidence, ("method", "proofs"), "evidence")
        proofs = [an_object(each, "evidence.proofs") for each in a_list(evidence.get("proofs"), "evidence.proofs")]
        if len(proofs) != len(budgets):
            refuse("every value has its proof", "evidence.proofs")
        for budget, proof in zip(budgets, proofs, strict=True):
            self._holds(budget, proof)
        lower = epsilon(0)
        if below is not None:
            given = an_object(below, "below")
            only_members(given, ("value", "evidence"), "below")
            lower = read_epsilon(given.get("value"), "below.value", self.limits)
            if len(budgets) > 1 or lower.compare(budgets[0].value) > 0:
                refuse(f"{lower} cannot be too small, as {budgets[0].value} is enough", "below.value")
            shown = an_object(given.get("evidence"), "below.evidence")
            self._exceeds(_Budget(budgets[0].order, lower), shown, strictly=False)
        pairs = len(self.ran.neighbours.pairs)
        return Accepted(
            "proved",
            f"{pairs} ordered pairs of neighbours are within {_budgets_text(self.measure, budgets)}",
            {"method": "divergences", "pairs": pairs},
            lower=lower,
            upper=budgets[0].value,
        )

    def _holds(self, budget: _Budget, proof: dict[str, object]) -> None:
        names = {"rho": ("schedules",), "mu": ("points",), "renyi": ()}[self.measure]
        only_members(proof, names, "evidence.proofs")
        schedules = read_schedules(proof.get("schedules"), self.limits) if self.measure == "rho" else []
        points = read_points(proof.get("points"), self.limits) if self.measure == "mu" else []
        for i, j in sorted(self.ran.compared):
            pieces = from_above(self.seen(i), self.seen(j))
            holds = False
            if pieces and self.measure == "rho":
                holds = below_line(pieces, budget.value, schedules)
            elif pieces and self.measure == "mu":
                holds = told_no_better(pieces, budget.value, points)
            elif pieces and budget.order is not None:
                rate = one_rate(pieces)
                found = divergence(pieces, budget.order)
                exact = rate is not None and budget.value.compare(epsilon(rate * budget.order)) >= 0
                holds = exact or (found is not None and bool(found <= budget.value.ball(BITS)))
            if not holds:
                refuse(
                    f"trees {i} and {j} are not shown to be within {_budgets_text(self.measure, [budget])}", "evidence"
                )

    def refuted(self, budgets: list[_Budget], evidence: dict[str, object]) -> Accepted:
        """That some pair of neighbours is beyond some value."""
        beyond = [each for each in budgets if self._exceeds(each, evidence, strictly=True)]
        if not beyond:
            refuse(f"no value of {_budgets_text(self.measure, budgets)} is exceeded", "evidence")
        return Accepted(
            "refuted",
            f"two neighbours are beyond {_budgets_text(self.measure, beyond)}",
            {"method": a_text(evidence.get("method"), "evidence.method")},
            lower=max_value(beyond[0].value, self._needed(evidence)),
            upper=INFINITE,
        )

    def _exceeds(self, budget: _Budget, evidence: dict[str, object], *, strictly: bool) -> bool:
        """Whether a pair of neighbours is beyond a value; where that need not be strictly, it is refused if it is not at it or beyond."""
        method = a_text(evidence.get("method"), "evidence.method")
        left, right = (an_integer(evidence.get(side), f"evidence.{side}") for side in ("left", "right"))
        if (left, right) not in self.ran.neighbours.pairs:
            refuse("these are no neighbours", "evidence.right")
        i, j = self.ran.places[left], self.ran.places[right]
        pieces = from_below(self.seen(i), self.seen(j), (self.ran.trees[i], self.ran.trees[j]))
        if self.measure == "mu":
            only_members(evidence, ("method", "left", "right", "epsilon"), "evidence")
            e = a_number(evidence.get("epsilon"), "evidence.epsilon", self.limits)
            if method != "point" or not 0 <= e <= _MOST_POINT:
                refuse("expected an epsilon at which an event is beyond", "evidence")
            found = some_test_is_better(pieces, budget.value, e)
            rate = None if any(piece.distance.whole for piece in pieces) else one_rate(pieces)
            if not found and not strictly and rate is not None and budget.value.ratio == 1:
                found = bool(2 * rate == budget.value.shift**2)
        else:
            only_members(evidence, ("method", "left", "right", "order"), "evidence")
            order = a_number(evidence.get("order"), "evidence.order", self.limits)
            if method != "order" or not 1 <= order <= _LARGEST_ORDER or (self.measure == "rho" and order == 1):
                refuse("expected an order, and for rho one above 1", "evidence.order")
            if budget.order is not None and order != budget.order:
                return False
            found = self._divergence_beyond(pieces, order, budget.value)
            rate = met_rate(pieces, order)
            if not found and not strictly and rate is not None:
                exact = rate if self.measure == "rho" else rate * order
                found = budget.value.compare(epsilon(exact)) <= 0
        if not found and not strictly:
            refuse(f"the measure is not shown to be {budget.value} or more", "below")
        return found

    def _divergence_beyond(self, pieces: list[Piece], order: Rational, value: Epsilon) -> bool:
        if any(piece.certain for piece in pieces):
            return True
        found = divergence(pieces, order)
        claimed = value.ball(BITS) * (arb(order) if self.measure == "rho" else arb(1))
        return found is not None and bool(found > claimed)

    def _needed(self, evidence: dict[str, object]) -> Epsilon:
        """How large the measure is by a pair at least, rounded down."""
        left, right = (an_integer(evidence.get(side), f"evidence.{side}") for side in ("left", "right"))
        i, j = self.ran.places[left], self.ran.places[right]
        pieces = from_below(self.seen(i), self.seen(j), (self.ran.trees[i], self.ran.trees[j]))
        if any(piece.certain for piece in pieces):
            return INFINITE
        if self.measure == "mu":
            return epsilon(0)
        order = a_number(evidence.get("order"), "evidence.order", self.limits)
        rate = met_rate(pieces, order)
        if rate is not None:
            return epsilon(rate if self.measure == "rho" else rate * order)
        found = divergence(pieces, order)
        if found is None:
            return epsilon(0)
        low, _ = rational_bounds(found / arb(order) if self.measure == "rho" else found)
        return epsilon(max(Rational(int((low * 10**15).floor()), 10**15), Rational(0)))


def max_value(one: Epsilon, other: Epsilon) -> Epsilon:
    """The larger of two values."""
    return one if one.compare(other) >= 0 else other
