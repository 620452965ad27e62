"""Questions about locations: is ``P(z | x) <= e^(epsilon d(x, x')) P(z | x')`` for all places x, x' and all reports z?

d is the Euclidean distance and epsilon a rate per unit of distance (Andres et al., CCS 2013).  Sites are points (i step, j step) of a
grid.  Mechanisms:

* **planar geometric** noise of a rate r: ``P(n) = e^(-r step |n|) / Z`` on all offsets n of the grid; then nothing more (``grid``), or
  the nearest site of a map, of several the first in order, and what a table puts in its place (``clamped``), or drawn again until it
  lies on the map (``resampled``);
* **planar Laplace** noise with density ``r^2 / (2 pi) e^(-r |z - x|)``: on the ``plane``, or drawn again until it lies on a rectangle
  (``resampled``), or with its northern part multiplied by ``sin(latitude)`` (``shrunk north-south``);
* a **table** of exact probabilities.

**Proved** by the *triangle inequality*: ``|z - x'| <= |z - x| + d(x, x')`` gives the rate r to planar noise, whose normaliser does not
depend on x, and what is done to the report afterwards adds nothing; so r <= epsilon is all there is to check.  Not so for resampling.
Or by *every pair*: all probabilities are computed.

**Refuted** by *one output*: both probabilities (or densities, which are continuous) are computed, and enclosed in balls.
"""

from __future__ import annotations

from flint import arb

from privproof_checker.claims import loss_at_least
from privproof_checker.numbers.balls import precision
from privproof_checker.outcomes import Accepted, Limits, Verdict, refuse, within
from privproof_checker.plain_documents import a_list, a_number, a_text, an_object, only_members, require_name
from privproof_checker.release.locations.location_laws import BITS, ReportLaw
from privproof_checker.release.locations.location_questions import (
    LocationQuestion,
    PlanarNoise,
    Plane,
    ReportTable,
    Site,
    read_place,
    read_question,
    read_site,
)
from privproof_checker.release.locations.planar_densities import compare_densities, difference, length_of


def check_location(
    verdict: Verdict, asked: dict[str, object], certificate: dict[str, object], limits: Limits
) -> Accepted:
    """Check a certificate whose question is about locations."""
    question = read_question(asked, limits)
    evidence = an_object(certificate.get("evidence"), "evidence")
    method = a_text(evidence.get("method"), "evidence.method")
    if verdict == "refuted":
        if method != "one output":
            refuse(f"{method[:40]!r} is no evidence for refuted", "evidence.method")
        return _check_refutation(question, evidence, limits)
    only_members(evidence, ("method", "attained"), "evidence")
    if method == "triangle inequality":
        details: dict[str, object] = {"method": method}
        scope = _by_triangle(question)
    elif method == "every pair":
        count, scope = _by_pairs(question, limits)
        details = {"method": method, "comparisons": count}
    else:
        refuse(f"{method[:40]!r} is no evidence for proved", "evidence.method")
    statement = f"P(z|x) <= e^(epsilon d(x,x')) P(z|x') for {scope}, with epsilon = {question.epsilon.show()} per unit of distance"
    if evidence.get("attained") is not None:
        loss = _attained_loss(question, an_object(evidence["attained"], "evidence.attained"), limits)
        details["attained"] = loss.str(12)
        statement += f"; a loss of {loss.str(9, radius=False)} per unit of distance is attained"
        return Accepted("proved", statement, details, lower=loss_at_least(loss))
    return Accepted("proved", statement, details)


def _by_triangle(question: LocationQuestion) -> str:
    """The pairs for which the triangle inequality shows the claim."""
    mechanism = question.mechanism
    if isinstance(mechanism, ReportTable):
        refuse("a table is no planar noise", "evidence.method")
    if mechanism.ending not in ("grid", "clamped", "plane"):
        refuse(
            f"the normaliser of {mechanism.ending} noise is not the same everywhere", "question.mechanism.outputs.kind"
        )
    if mechanism.rate.compare(question.epsilon) > 0:
        refuse(
            f"the rate {mechanism.rate.show()} is above epsilon = {question.epsilon.show()}", "question.mechanism.rate"
        )
    return (
        "all places x, x' and all reports z"
        if mechanism.ending == "plane"
        else "all sites x, x' of the grid and all reports z"
    )


def _by_pairs(question: LocationQuestion, limits: Limits) -> tuple[int, str]:
    """Compare everything; the number of comparisons, and what was compared."""
    mechanism = question.mechanism
    if isinstance(mechanism, Plane) or (isinstance(mechanism, PlanarNoise) and mechanism.map is None):
        refuse("there are infinitely many places", "evidence.method")
    if isinstance(mechanism, ReportTable):
        everywhere = tuple(mechanism.rows)
    else:
        assert mechanism.map is not None
        everywhere = mechanism.map.sites
    sites = everywhere if question.sites is None else question.sites
    for site in sites:
        if site not in set(everywhere):
            refuse(f"the site {site} is not among those of the mechanism", "question.sites")
    if len(sites) < 2:
        refuse("fewer than two sites compare with nothing, or the map is too large", "question.sites")
    law = ReportLaw(mechanism, limits)
    outputs = law.outputs()
    count = len(sites) * (len(sites) - 1) * len(outputs)
    within(count, limits.words, "comparisons", "question.sites")
    for left, right, output in law.open(sites, outputs, question.epsilon):
        if law.exceeds(left, right, output, question.epsilon) is not False:
            refuse(f"the claim is not shown for {left}, {right} and the report {output}", "evidence.method")
    scope = f"all {len(sites)} sites x, x' of the {'table' if isinstance(mechanism, ReportTable) else 'map'}"
    return (
        count,
        f"{scope if question.sites is None else f'the {len(sites)} sites listed'} and all {len(outputs)} reports z",
    )


def _check_refutation(question: LocationQuestion, given: dict[str, object], limits: Limits) -> Accepted:
    only_members(given, ("method", "left", "right", "output", "left_probability", "right_probability"), "evidence")
    mechanism = question.mechanism
    if isinstance(mechanism, Plane):
        left, right, apart, what = compare_densities(question, mechanism, given, limits)
    else:
        one, other, output = _read_sites(question, given, "evidence", limits)
        law = ReportLaw(mechanism, limits)
        if law.exceeds(one, other, output, question.epsilon) is not True:
            refuse("this report does not exceed the claim", "evidence.output")
        left, right = (law.probability(site, output, BITS[0]) for site in (one, other))
        apart, what = law.distance(one, other), "probability"
    for side, ball in (("left", left), ("right", right)):
        _agrees(given.get(f"{side}_probability"), ball, f"evidence.{side}_probability", limits)
    places = [str(given.get(name))[:60] for name in ("left", "right", "output")]
    statement = (
        f"the places {places[0]} and {places[1]} are {apart.str(9, radius=False)} apart, and the report {places[2]} has {what} "
        f"{left.str(9, radius=False)} against {right.str(9, radius=False)}: "
        f"more than e^(epsilon d) times, epsilon = {question.epsilon.show()}"
    )
    return Accepted(
        "refuted",
        statement,
        {
            "method": "one output",
            f"left_{what}": left.str(12),
            f"right_{what}": right.str(12),
            "distance": apart.str(12),
        },
        lower=loss_at_least((left / right).log() / apart),
    )


def _attained_loss(question: LocationQuestion, given: dict[str, object], limits: Limits) -> arb:
    """The loss of a pair at a report, which must lie within the bounds given."""
    only_members(given, ("left", "right", "output", "loss"), "evidence.attained")
    mechanism = question.mechanism
    if isinstance(mechanism, Plane):
        left, right, output = (
            read_place(given.get(name), f"evidence.attained.{name}", limits) for name in ("left", "right", "output")
        )
        if left == right:
            refuse("both places are the same", "evidence.attained")
        with precision(BITS[0]):
            gap = length_of(difference(output, right)) - length_of(difference(output, left))
            loss = mechanism.rate.ball(BITS[0]) * gap / length_of(difference(left, right))
    else:
        one, other, seen = _read_sites(question, given, "evidence.attained", limits)
        law = ReportLaw(mechanism, limits)
        with precision(BITS[0]):
            loss = law.logarithm(one, other, seen, BITS[0]) / law.distance(one, other)
    if not loss.is_finite():
        refuse("the loss of the witness is not finite", "evidence.attained")
    _agrees(given.get("loss"), loss, "evidence.attained.loss", limits)
    return loss


def _read_sites(
    question: LocationQuestion, given: dict[str, object], place: str, limits: Limits
) -> tuple[Site, Site, object]:
    """Two different sites and a report."""
    left, right = (read_site(given.get(name), f"{place}.{name}") for name in ("left", "right"))
    if left == right:
        refuse("both sites are the same", place)
    if question.sites is not None and not {left, right} <= set(question.sites):
        refuse("the question is not about these sites", place)
    mechanism = question.mechanism
    if isinstance(mechanism, ReportTable):
        for site in (left, right):
            if site not in mechanism.rows:
                refuse(f"the table has no site {site}", place)
        output = a_text(given.get("output"), f"{place}.output")
        require_name(output, {name for row in mechanism.rows.values() for name in row}, "output", f"{place}.output")
        return left, right, output
    if isinstance(mechanism, PlanarNoise) and mechanism.ending == "resampled":
        assert mechanism.map is not None
        for site in (left, right):
            if mechanism.map.nearest(site) != site:
                refuse(f"the site {site} is not on the map", place)
    return left, right, read_site(given.get("output"), f"{place}.output")


def _agrees(value: object, ball: arb, place: str, limits: Limits) -> None:
    """Refuse bounds that the computed number is certainly not within; none given is fine."""
    if value is None:
        return
    both = a_list(value, place)
    if len(both) != 2:
        refuse("expected two bounds", place)
    low, high = (a_number(each, place, limits) for each in both)
    if ball < arb(low) or ball > arb(high) or low > high:
        refuse(f"it is {ball.str(9)}, which is not within the bounds given", place)
