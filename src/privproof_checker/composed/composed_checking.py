"""What a certificate about several uses together establishes."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import lru_cache

from flint import arb

from privproof_checker.certificate_facts import verdict_of
from privproof_checker.claims import Claim, read_claim, read_epsilon
from privproof_checker.composed.composed_curves import (
    Laws,
    from_points,
    of_a_share,
    with_record_first,
    with_record_second,
)
from privproof_checker.composed.loss_lattices import Curve, Lattice, lattice_above, lattice_below, value_at
from privproof_checker.numbers import INFINITE, Epsilon, Rational, epsilon
from privproof_checker.outcomes import Accepted, Limits, Verdict, refuse, within
from privproof_checker.plain_documents import a_list, a_number, a_text, an_integer, an_object, only_members, text
from privproof_checker.runs import read_runs

_CLAIMED = ("epsilon", "delta", "pointwise", "claim", "rate")
"""The members of a question that say what is claimed."""
_WHOLE = ("program", "runs", "draws")
"""Kinds of questions whose neighbours are compared both ways, over everything that is shown."""
_RELATIONS = {"poisson": "add-remove", "without-replacement": "one"}
"""The neighbours of ways of sampling."""
_MOST_REACH = 100_000
"""Points of a lattice on either side of 0; beyond, it is refused."""
_MOST_TIMES = 10**6
"""Uses of a mechanism; beyond, they are refused."""
_MOST_USES = 1_000
"""Mechanisms that are used together; beyond, they are refused."""


def check_composed(
    verdict: Verdict, asked: dict[str, object], certificate: dict[str, object], limits: Limits
) -> Accepted:
    """Check a certificate whose question is about several uses."""
    only_members(asked, ("kind", "title", "uses", "epsilon", "delta"), "question")
    claim = read_claim(asked, limits)
    if claim.epsilon.infinite:
        refuse("an infinite epsilon claims nothing", "question.epsilon")
    evidence = an_object(certificate.get("evidence"), "evidence")
    method = a_text(evidence.get("method"), "evidence.method")
    uses = [an_object(use, "question.uses") for use in a_list(asked.get("uses"), "question.uses")]
    within(len(uses), _MOST_USES, "mechanisms", "question.uses")
    if not uses:
        refuse("nothing is used", "question.uses")
    if (verdict, method) == ("proved", "composition"):
        return _check_proof(claim, uses, evidence, limits)
    if (verdict, method) == ("refuted", "losses"):
        return _check_refutation(claim, uses, evidence, limits)
    refuse(f"{method[:40]!r} is no evidence for {verdict}", "evidence.method")


def _check_proof(claim: Claim, uses: list[dict[str, object]], evidence: dict[str, object], limits: Limits) -> Accepted:
    only_members(evidence, ("method", "step", "uses"), "evidence")
    parts = a_list(evidence.get("uses"), "evidence.uses")
    if len(parts) != len(uses):
        refuse("every use has its evidence", "evidence.uses")
    largest = arb(0)
    ways = (0, 1) if any("sampling" in use for use in uses) else (0,)
    for way in ways:
        if "step" not in evidence:
            curve, _ = _curve_above(json.dumps([_made_once(uses), parts[0]], sort_keys=True), way, limits)
            largest = largest.max(value_at(curve, claim.epsilon))
            continue
        step = _step(evidence, limits)
        total: Lattice | None = None
        for use, part in zip(uses, parts, strict=True):
            lattice = _above(json.dumps([use, part], sort_keys=True), step, way, limits)
            total = lattice if total is None else total.product(lattice)
        assert total is not None
        largest = largest.max(total.excess(claim.epsilon, step))
    if not largest <= claim.delta:
        refuse(f"delta may be {largest.str(12, radius=False)}, more than {text(claim.delta)}", "evidence")
    number = sum(an_integer(use.get("times"), "question.uses") for use in uses)
    return Accepted(
        "proved",
        f"{number} uses together have a delta of at most {text(claim.delta)} at epsilon {claim.epsilon}",
        {"method": "composition", "uses": number},
    )


def _check_refutation(
    claim: Claim, uses: list[dict[str, object]], evidence: dict[str, object], limits: Limits
) -> Accepted:
    only_members(evidence, ("method", "step", "reach", "use", "left", "right", "also"), "evidence")
    if "step" not in evidence:
        return _refuted_once(claim, _made_once(uses), evidence, limits)
    step = _step(evidence, limits)
    first = {name: evidence.get(name) for name in ("use", "reach", "left", "right")}
    total: Lattice | None = None
    seen: set[int] = set()
    sides: set[str] = set()
    for part in [
        first,
        *(an_object(each, "evidence.also") for each in a_list(evidence.get("also", []), "evidence.also")),
    ]:
        only_members(part, ("use", "reach", "left", "right"), "evidence.also")
        number = an_integer(part.get("use"), "evidence.use")
        if not 0 <= number < len(uses) or number in seen:
            refuse("there is no such use, or it is named twice", "evidence.use")
        seen.add(number)
        left, right = (an_integer(part.get(side), f"evidence.{side}") for side in ("left", "right"))
        document = json.dumps(uses[number], sort_keys=True)
        lattice = _below(document, step, _reach(part), left, right, limits)
        total = lattice if total is None else total.product(lattice)
        sides.add(_data_sets(uses[number], left, right))
    if len(seen) > 1 and (len(sides) > 1 or any("sampling" in uses[number] for number in seen)):
        refuse("several uses are compared on the same two data sets, all of them whole", "evidence.also")
    assert total is not None
    return _accept_excess(claim, total.excess(claim.epsilon, step))


def _refuted_once(claim: Claim, use: dict[str, object], evidence: dict[str, object], limits: Limits) -> Accepted:
    """A use that is made once is on its own curve."""
    only_members(evidence, ("method", "use", "left", "right"), "evidence")
    if an_integer(evidence.get("use"), "evidence.use") != 0:
        refuse("there is one use", "evidence.use")
    left, right = (an_integer(evidence.get(side), f"evidence.{side}") for side in ("left", "right"))
    curve, _, _ = _curve_of_a_pair(json.dumps(use, sort_keys=True), left, right, limits)
    return _accept_excess(claim, value_at(curve, claim.epsilon))


def _accept_excess(claim: Claim, found: arb) -> Accepted:
    if not found > claim.delta:
        refuse(f"a delta of {found.str(12, radius=False)} is not above {text(claim.delta)}", "evidence")
    return Accepted(
        "refuted",
        f"two data sets have a delta of at least {found.str(12, radius=False)}, more than {text(claim.delta)}",
        {"method": "losses", "delta": found.str(20, radius=False)},
        lower=claim.epsilon,
    )


def _made_once(uses: list[dict[str, object]]) -> dict[str, object]:
    """The only use, made once: where no step is given."""
    if len(uses) != 1 or an_integer(uses[0].get("times"), "question.uses.times") != 1:
        refuse("losses of several uses are composed on a lattice, of which the step is given", "evidence.step")
    return uses[0]


def _data_sets(use: dict[str, object], left: int, right: int) -> str:
    """Two data sets of a use, as text: that is the same where names, types and values of all inputs are."""
    listed = a_list(an_object(use.get("of"), "question.uses.of").get("data"), "question.uses.of.data")
    return json.dumps([listed[left], listed[right]], sort_keys=True)


def _step(evidence: dict[str, object], limits: Limits) -> Epsilon:
    step = read_epsilon(evidence.get("step"), "evidence.step", limits)
    if step.infinite or step.compare(epsilon(0)) <= 0 or step.compare(epsilon(_MOST_TIMES)) > 0:
        refuse("a step is above 0", "evidence.step")
    return step


def _reach(part: dict[str, object]) -> int:
    reach = an_integer(part.get("reach"), "evidence.reach")
    if not 1 <= reach <= _MOST_REACH:
        refuse(f"a lattice goes from 1 to {_MOST_REACH} steps", "evidence.reach")
    return reach


def _use(use: dict[str, object], limits: Limits) -> tuple[dict[str, object], int, tuple[str, Rational] | None]:
    """The question about one use, how often it is made, and how data are sampled."""
    only_members(use, ("of", "times", "sampling"), "question.uses")
    of = an_object(use.get("of"), "question.uses.of")
    if any(name in of for name in _CLAIMED):
        refuse("the question about one use claims nothing", "question.uses.of")
    times = an_integer(use.get("times"), "question.uses.times")
    if not 1 <= times <= _MOST_TIMES:
        refuse(f"a mechanism is used from once to {_MOST_TIMES} times", "question.uses.times")
    if "sampling" not in use:
        return of, times, None
    given = an_object(use["sampling"], "question.uses.sampling")
    only_members(given, ("kind", "rate"), "question.uses.sampling")
    kind = a_text(given.get("kind"), "question.uses.sampling.kind")
    rate = a_number(given.get("rate"), "question.uses.sampling.rate", limits)
    if kind not in _RELATIONS or not 0 < rate <= 1:
        refuse("expected a way of sampling and a rate from 0 to 1", "question.uses.sampling")
    if of.get("kind") not in ("runs", "program") or of.get("relation") != _RELATIONS[kind]:
        refuse(f"this way of sampling is for functions with the neighbours {_RELATIONS[kind]}", "question.uses.of")
    for name, item in an_object(of.get("inputs"), "question.uses.of.inputs").items():
        given = an_object(item, f"question.uses.of.inputs.{name}")
        lists = given.get("shape") == "list" and given.get("within") is None and "fields" not in given
        if kind != "poisson" and given.get("public") is not True and not lists:
            refuse("a record that is not sampled gives its place to any other one", f"question.uses.of.inputs.{name}")
    return of, times, (kind, rate)


@lru_cache(maxsize=8)
def _above(document: str, step: Epsilon, way: int, limits: Limits) -> Lattice:
    """The masses of all uses of one mechanism, from above; kept by the whole text that they follow from."""
    curve, times = _curve_above(document, way, limits)
    return lattice_above(curve, step, _reach(json.loads(document)[1])).power(times)


def _curve_above(document: str, way: int, limits: Limits) -> tuple[Curve, int]:
    """The curve of one use from above, and how often it is made."""
    use, part = json.loads(document)
    of, times, sampling = _use(use, limits)
    method = part.get("method")
    if method == "laws" and of.get("kind") == "runs":
        only_members(part, ("method", "reach"), "evidence.uses")
        curve: Curve = Laws(read_runs(of, Claim(INFINITE, Rational(0), pointwise=False), limits)).above()
    elif method == "certificates":
        only_members(part, ("method", "reach", "certificates"), "evidence.uses")
        curve = _establish_curve(of, a_list(part.get("certificates"), "evidence.uses.certificates"), limits)
    else:
        refuse("this is no evidence about one use", "evidence.uses.method")
    if sampling is not None:
        kind, rate = sampling
        made: Callable[[Curve, Rational], Curve] = (
            of_a_share if kind != "poisson" else with_record_second if way else with_record_first
        )
        curve = made(curve, rate)
    return curve, times


def _establish_curve(of: dict[str, object], certificates: list[object], limits: Limits) -> Curve:
    """The curve that certificates about one mechanism establish."""
    from privproof_checker.front import check_document

    points: list[tuple[Epsilon, Rational]] = []
    mus: list[Epsilon] = []
    for number, item in enumerate(certificates):
        place = f"evidence.uses.certificates[{number}]"
        inner = an_object(item, place)
        asked = an_object(inner.get("question"), place)
        if verdict_of(inner) != "proved":
            refuse("expected a proof", place)
        if asked.get("kind") == "measured":
            if asked.get("of") != of or asked.get("measure") != "mu":
                refuse("this is about another question, or another measure", place)
            accepted = check_document(inner, limits)
            if accepted.upper is None or accepted.upper.infinite:
                refuse("no mu is established", place)
            mus.append(accepted.upper)
            continue
        if {name: each for name, each in asked.items() if name not in _CLAIMED} != of or "rate" in asked:
            refuse("this is about another question", place)
        _both_ways(asked)
        claim = read_claim(asked, limits)
        if claim.epsilon.infinite or (claim.pointwise and claim.delta != 0) or not _is_a_number(asked, claim, limits):
            refuse("expected a proof of one epsilon, with a delta over events", place)
        if check_document(inner, limits).verdict != "proved":
            refuse("nothing is proved", place)
        points.append((claim.epsilon, claim.delta))
    return from_points(points, mus)


def _is_a_number(asked: dict[str, object], claim: Claim, limits: Limits) -> bool:
    """Whether what is claimed is the epsilon, and no expression in sizes or public numbers."""
    if "claim" not in asked:
        return True
    given = an_object(asked["claim"], "question.claim")
    number = read_epsilon(given.get("constant"), "question.claim", limits)
    return set(given) == {"constant", "terms"} and given["terms"] == {} and number.compare(claim.epsilon) == 0


def _both_ways(asked: dict[str, object]) -> None:
    """Refuse questions that do not compare whole laws of what is shown, both ways."""
    scenario = asked.get("scenario")
    ends = asked.get("kind") == "transducer" and asked.get("finish") is not None
    if asked.get("kind") in _WHOLE:
        return
    if ends and isinstance(scenario, dict) and "words" not in scenario and "pairs" not in scenario:
        return
    refuse("uses of this kind are not composed here", "question.uses.of")


@lru_cache(maxsize=8)
def _below(document: str, step: Epsilon, reach: int, left: int, right: int, limits: Limits) -> Lattice:
    """The masses of all uses of one mechanism on two data sets, from below; kept by the whole text that they follow from."""
    curve, alone, times = _curve_of_a_pair(document, left, right, limits)
    return lattice_below(curve, step, reach, alone).power(times)


def _curve_of_a_pair(document: str, left: int, right: int, limits: Limits) -> tuple[Curve, arb, int]:
    """The curve of one use on two data sets, what is possible on the left alone, and how often it is made."""
    of, times, sampling = _use(json.loads(document), limits)
    if of.get("kind") != "runs":
        refuse("two data sets are of a function that was run", "question.uses.of")
    ran = read_runs(of, Claim(INFINITE, Rational(0), pointwise=False), limits)
    if (left, right) not in ran.neighbours.pairs:
        refuse("these are no neighbours", "evidence.right")
    curve, alone = Laws(ran).pair(left, right)
    if sampling is not None:
        kind, rate = sampling
        if kind != "poisson":
            refuse("nothing is known from below of samples without replacement", "evidence")
        listed = a_list(of.get("data"), "question.uses.of.data")
        if _records(listed[left]) > _records(listed[right]):
            curve, alone = with_record_first(curve, rate), alone * arb(rate)
        else:
            curve, alone = with_record_second(curve, rate), arb(0)
    return curve, alone, times


def _records(data: object) -> int:
    """How many entries the lists of a data set have."""
    given = an_object(data, "question.uses.of.data")
    return sum(
        len(a_list(each["tuple"], "data")) for each in given.values() if isinstance(each, dict) and "tuple" in each
    )
