"""What a certificate about Rényi divergences of a release establishes: a proof for every value that is claimed, or an entry that refutes.

Every value has a proof of its own: quilts, parts or contraction (`divergences`), a coupling of the laws, the laws themselves at an order,
or, for rho, a ladder of orders (`noisy_laws`).

*Coupling.*  Let pi couple the laws of a sum given two values of an entry.  The moment ``sum of P^a Q^(1-a)`` is jointly convex, so that of
what is released is at most the mean over pi of the moment of noise and noise moved by the distance; the Kullback-Leibler divergence
likewise.  For rho the largest distance that pi moves anything counts.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any

from flint import arb

from privproof_checker.numbers import INFINITE, ONE, ZERO, Epsilon, Rational, epsilon
from privproof_checker.numbers.balls import precision
from privproof_checker.outcomes import Accepted, Limits, Verdict, refuse, within
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
from privproof_checker.release.bayes_networks import proved_by_network_quilts
from privproof_checker.release.contraction import proved_by_contraction
from privproof_checker.release.gaussian_shifts import divergence_reached, shifts_within
from privproof_checker.release.markov_quilts import proved_by_quilts
from privproof_checker.release.mixture_parts import proved_by_parts
from privproof_checker.release.noisy_laws import BITS, limit_terms, released_pairs, told_by_others, whole_order
from privproof_checker.release.release_divergences import (
    Bound,
    least_value,
    moved_moment,
    moved_noise,
    response,
    within_bound,
)
from privproof_checker.release.release_losses import Gaussian, Laplace
from privproof_checker.release.release_priors import Band, Chain, GaussianChain, Network
from privproof_checker.release.release_questions import Release, Sum, read_unclaimed_release
from privproof_checker.release.sum_couplings import couple_laws
from privproof_checker.release.sum_laws import SumLaw, Sums, every, sums

_MOST_ORDERS = 1_000
"""Orders of a ladder; beyond, it is refused."""
_NOTHING = epsilon(ZERO)
"""What is known from below where another value than the first is exceeded."""
_LARGEST_ORDER = 10_000
"""Laws are compared at orders up to this one."""


def check_measured_release(
    verdict: Verdict, bounds: Sequence[Bound], of: dict[str, object], certificate: Mapping[str, object], limits: Limits
) -> Accepted:
    """Check a certificate about the divergences of a release."""
    release = read_unclaimed_release(of, limits)
    evidence = an_object(certificate.get("evidence"), "evidence")
    method = a_text(evidence.get("method"), "evidence.method")
    if (verdict, method) in (("refuted", "entry"), ("refuted", "shifts")):
        return _check_refutation(release, bounds, evidence, limits)
    if (verdict, method) != ("proved", "release"):
        refuse(f"{method[:40]!r} is no evidence for {verdict[:40]}", "evidence.method")
    only_members(evidence, ("method", "proofs"), "evidence")
    proofs = a_list(evidence.get("proofs"), "evidence.proofs")
    if len(proofs) != len(bounds):
        refuse("every value has its proof", "evidence.proofs")
    methods = []
    for number, (bound, proof) in enumerate(zip(bounds, proofs, strict=True)):
        given = an_object(proof, f"evidence.proofs[{number}]")
        methods.append(_check_proof(replace(release, bound=bound), given, limits))
    lower = epsilon(0)
    if certificate.get("below") is not None:
        lower = _below(release, bounds, an_object(certificate["below"], "below"), limits)
    claims = [replace(release, bound=bound).claim() for bound in bounds]
    told = {"method": "release", "by": ", ".join(dict.fromkeys(methods)), "priors": len(release.priors)}
    return Accepted("proved", "; ".join(claims), told, lower=lower, upper=bounds[0].value)


def _check_proof(release: Release, proof: dict[str, object], limits: Limits) -> str:
    """Refuse unless the proof shows the value; its method."""
    method = a_text(proof.get("method"), "evidence.proofs.method")
    chains = all(isinstance(prior, Chain) for prior in release.priors)
    if release.gaussian_chain and method == "shifts":
        shifts_within(release, proof)
    elif release.gaussian_chain:
        refuse(f"{method[:40]!r} shows nothing under this prior", "evidence.proofs.method")
    elif method == "quilts" and release.networks:
        proved_by_network_quilts(release, proof, limits)
    elif method == "quilts" and chains:
        proved_by_quilts(release, proof, limits)
    elif method == "parts" and chains:
        proved_by_parts(release, proof, limits)
    elif method == "contraction" and not release.networks:
        proved_by_contraction(release, proof, limits)
    elif method in _BY_LAWS:
        if not isinstance(release.query, Sum):
            refuse("laws are those of sums", "question.of.query")
        if not _BY_LAWS[method](release, proof, limits):
            refuse("no entry has two possible values, so nothing is compared", "question.of.priors")
    else:
        refuse(f"{method[:40]!r} shows nothing about divergences here", "evidence.proofs.method")
    return method


def _release_bound(release: Release) -> Bound:
    assert release.bound is not None
    return release.bound


def _check_coupling(release: Release, proof: dict[str, object], limits: Limits) -> int:
    """Couple the laws of every node."""
    only_members(proof, ("method",), "evidence.proofs")
    bound, noise, compared = _release_bound(release), release.noise, 0
    with precision(192):
        for place, _, found in every(release):
            if not isinstance(noise, Laplace) and (found.unit / noise.step).q != 1:
                refuse("the sums are no multiples of the step of the noise", "question.of.noise.step")
            nodes: Collection[Any] = found.nodes
            costs: dict[int, arb] = {}
            for node, laws in found.exactly(nodes):
                for x, y in ((x, y) for x in laws for y in laws if x < y):
                    compared += 1
                    if not _within_coupling(bound, release, found.unit, couple_laws(laws[x], laws[y]), costs):
                        refuse(f"at the node {node} the coupled laws are not within {bound}", place)
    return compared


def _within_coupling(
    bound: Bound, release: Release, unit: Rational, moved: Mapping[int, Any], costs: dict[int, arb]
) -> bool:
    noise, order = release.noise, bound.order
    if order is None:
        furthest = unit * max(moved)
        if isinstance(noise, Gaussian):
            return bound.value.compare(epsilon(furthest**2 / (2 * noise.variance))) >= 0
        return bool(response(None, noise.rate() * arb(furthest)) <= bound.value.ball(192))
    cost: Callable[..., arb] = moved_noise if order == 1 else moved_moment
    for d in moved:
        if d not in costs:
            costs[d] = cost(noise, order, unit * d)
    mean = sum((costs[d] * arb(mass) for d, mass in moved.items()), arb(0)) / arb(sum(moved.values()))
    found = mean if order == 1 else mean.log() / arb(order - 1)
    if isinstance(noise, Gaussian) and len(moved) == 1:
        return bound.value.compare(epsilon(order * (unit * max(moved)) ** 2 / (2 * noise.variance))) >= 0
    return within_bound(bound, found, order)


def _by_laws(release: Release, proof: dict[str, object], limits: Limits) -> int:
    """Enclose the divergence of an order at every node."""
    only_members(proof, ("method",), "evidence.proofs")
    bound, compared, terms = _release_bound(release), 0, 0
    if bound.order is None:
        refuse("the laws are compared at one order", "evidence.proofs.method")
    order = whole_order(bound.order)
    within(int(order.ceil()), _LARGEST_ORDER, "the order", "question.budgets")
    with precision(BITS):
        for place, _, found in every(release):
            nodes: Collection[Any] = found.nodes
            for node, x, y, seen in released_pairs(found, release.noise, order, nodes):
                compared, terms = compared + 1, terms + len(seen.left)
                limit_terms(terms)
                if not within_bound(bound, seen.at_most(order), bound.order):
                    refuse(f"at the node {node} {x[:40]!r} and {y[:40]!r} are not within {bound}", place)
    return compared


def _by_ladder(release: Release, proof: dict[str, object], limits: Limits) -> int:
    """Climb from order to order at every node."""
    only_members(proof, ("method", "orders"), "evidence.proofs")
    bound, noise, compared, terms = _release_bound(release), release.noise, 0, 0
    listed = a_list(proof.get("orders"), "evidence.proofs.orders")
    within(len(listed), _MOST_ORDERS, "orders", "evidence.proofs.orders")
    orders = [ONE, *(a_number(each, "evidence.proofs.orders", limits) for each in listed)]
    if bound.order is not None or isinstance(noise, Laplace):
        refuse("a ladder shows rho, of noise on a grid", "evidence.proofs.method")
    if any(a >= b for a, b in pairwise(orders)) or orders[-1] > _LARGEST_ORDER or len(orders) < 2:
        refuse(f"orders rise, from 1 up to at most {_LARGEST_ORDER}", "evidence.proofs.orders")
    assert isinstance(release.query, Sum)
    with precision(BITS):
        for place, _, found in every(release):
            laws = dict(found.balls(found.nodes))  # type: ignore[arg-type]
            nodes: Collection[Any] = found.nodes
            for node, x, y, seen in released_pairs(found, noise, orders[-1], nodes):
                compared, terms = compared + 1, terms + len(seen.left) * len(orders)
                limit_terms(terms)
                for below, order in pairwise(orders):
                    if not seen.at_most(order) <= bound.value.ball(BITS) * arb(below):
                        refuse(f"at the node {node} the order {text(order)} is not reached from {text(below)}", place)
                weighs = release.query.weight(x) - release.query.weight(y)
                if not _from_there_on(bound, release, found, laws[node][x], laws[node][y], weighs, orders[-1]):
                    refuse(f"at the node {node} nothing bounds the orders above {text(orders[-1])}", place)
    return compared


def _from_there_on(
    bound: Bound, release: Release, found: Sums, one: SumLaw, other: SumLaw, weighs: Rational, last: Rational
) -> bool:
    """Whether all orders from one on are within rho, by what the sum of all other entries tells."""
    moved = weighs / found.unit
    if moved.q != 1:
        refuse("two values of an entry differ by no whole number of units", "question.of.query")
    told = told_by_others(one, other, int(moved.p))
    if told is None:
        return False
    value, noise = bound.value.ball(BITS), release.noise
    if isinstance(noise, Gaussian):
        return bool(told <= (value - arb(weighs * weighs / (2 * noise.variance))) * arb(last))
    return bool(told + noise.rate() * arb(abs(weighs)) <= value * arb(last))


_BY_LAWS: Mapping[str, Callable[[Release, dict[str, object], Limits], int]] = {
    "coupling": _check_coupling,
    "laws": _by_laws,
    "ladder": _by_ladder,
}


def _at_entry(release: Release, given: dict[str, object], place: str, limits: Limits) -> tuple[arb, Rational, str]:
    """A bound from below on the divergence of an order, at the entry and the values that are named."""
    if release.gaussian_chain:
        return divergence_reached(release, given, place, limits)
    only_members(given, ("method", "prior", "length", "node", "left", "right", "order"), place)
    order = a_number(given.get("order"), f"{place}.order", limits)
    if not 1 <= order <= _LARGEST_ORDER:
        refuse(f"there is no order {text(order)} here", f"{place}.order")
    if not isinstance(release.query, Sum):
        refuse("divergences are compared for sums", "question.of.query")
    number = an_integer(given.get("prior"), f"{place}.prior")
    if not 0 <= number < len(release.priors):
        refuse(f"there is no prior {number}", f"{place}.prior")
    prior = release.priors[number]
    if isinstance(prior, Band | GaussianChain):
        refuse("a band has no one law of the sum", f"{place}.prior")
    length = None
    if not isinstance(prior, Network):
        length = an_integer(given.get("length"), f"{place}.length")
        if length not in release.lengths:
            refuse(f"the question has no series of length {length}", f"{place}.length")
    found = sums(prior, length, release.query, f"{place}.prior")
    node = given.get("node")
    if not isinstance(node, int | str) or isinstance(node, bool) or node not in found.nodes:
        refuse("there is no such node", f"{place}.node")
    left, right = (a_text(given.get(side), f"{place}.{side}") for side in ("left", "right"))
    with precision(BITS):
        pairs = {(x, y): seen for _, x, y, seen in released_pairs(found, release.noise, whole_order(order), [node])}
        if (left, right) not in pairs:
            require_name(left, {x for x, _ in pairs}, "possible value", f"{place}.left")
            refuse("these are no two possible values of the node", f"{place}.right")
        said = f"the node {node!r} is {left[:40]!r} rather than {right[:40]!r}"
        return pairs[left, right].at_least(order), order, said


def _check_refutation(
    release: Release, bounds: Sequence[Bound], evidence: dict[str, object], limits: Limits
) -> Accepted:
    """Check that the divergence of an order is beyond some value at an entry."""
    found, order, said = _at_entry(release, evidence, "evidence", limits)
    with precision(BITS):
        for bound in bounds:
            if bound.order not in (None, order) or (bound.order is None and order == 1):
                continue
            if found > bound.value.ball(BITS) * (arb(order) if bound.order is None else 1):
                shown = str(found.str(12, radius=False))
                return Accepted(
                    "refuted",
                    f"{bound} is violated with {release.noise}: the divergence of order {text(order)} is {shown} or more if {said}",
                    {"method": "entry", "divergence": shown, "order": text(order)},
                    lower=least_value(bound, found, order) if bound is bounds[0] else _NOTHING,
                    upper=INFINITE,
                )
    refuse(f"no value of {', '.join(map(str, bounds))} is exceeded", "evidence")


def _below(release: Release, bounds: Sequence[Bound], given: dict[str, object], limits: Limits) -> Epsilon:
    """The value that a measure has at least, which an entry shows."""
    only_members(given, ("value", "evidence"), "below")
    shown = an_object(given.get("evidence"), "below.evidence")
    found, order, _ = _at_entry(release, shown, "below.evidence", limits)
    bound = bounds[0]
    if len(bounds) > 1 or (bound.order is None and order == 1) or bound.order not in (None, order):
        refuse("this says nothing about the value that is proved", "below")
    value = a_number(given.get("value"), "below.value", limits)
    with precision(BITS):
        if not found >= arb(value) * (arb(order) if bound.order is None else 1):
            refuse(f"the measure is not shown to be {text(value)} or more", "below")
    if epsilon(value).compare(bound.value) > 0:
        refuse(f"{text(value)} cannot be too small, as {bound.value} is enough", "below.value")
    return epsilon(value)
