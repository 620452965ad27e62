"""Questions about secrets under a prior with unknown parameters (Kifer and Machanavajjhala, "Pufferfish", TODS 2014).

A question lists *data*: rows, each with its probability under the prior (a polynomial in the parameters), the
distribution of the mechanism's output on it, and the secrets that hold.  With ``P(s)`` the sum of the weights of the rows
where s holds, and ``P(o, s)`` the same sum with each weight times the probability of the output o, the claim is

    Pr(o | s) <= e^epsilon Pr(o | t) + delta

for all parameters in the region that make both secrets possible, both directions of all pairs, and all outputs.

**Proved.** Where both secrets are possible this is ``F = c P(o, t) P(s) + delta P(s) P(t) - P(o, s) P(t) >= 0`` with c =
e^epsilon; and since no weight is negative, F grows with c, so a rational c below e^epsilon suffices.  F is given as a
product; every factor of odd power has a tree of boxes (see `bernstein`).  Trees live in *coordinates*: in some order,
each parameter is ``low + (high - low) t`` where low and high are polynomials in the parameters before it. If low <=
parameter <= high holds in the region, every point of the region is the image of a point t of the cube [0, 1]^n. That is
so where low and high are numbers at or beyond the ends of the interval, or the difference is a positive multiple of a
constraint, or of ``high - low`` of a later parameter.

**Refuted.** The prior at given parameters is computed, and both conditional probabilities from it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from privproof_checker.numbers import ONE, ZERO, Rational, smallest_epsilon
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
from privproof_checker.pufferfish.bernstein import Boxes, CubeSide, Grid, check_tree, grid
from privproof_checker.pufferfish.polynomials import (
    Polynomial,
    at,
    compose_polynomial,
    constant,
    has_parameter,
    multiple,
    parameter,
    plus,
    power,
    read_polynomial,
    scale_polynomial,
    times,
)
from privproof_checker.pufferfish.secrets_questions import MOST_PARAMETERS, MOST_POWER, SecretsQuestion, read_question


def check_pufferfish(
    verdict: Verdict, asked: dict[str, object], certificate: dict[str, object], limits: Limits
) -> Accepted:
    """Check a certificate whose question is about secrets."""
    question = read_question(asked, limits)
    evidence, witness = an_object(certificate.get("evidence"), "evidence"), certificate.get("witness")
    method = a_text(evidence.get("method"), "evidence.method")
    if method != {"proved": "bernstein", "refuted": "parameters"}[verdict]:
        refuse(f"{method[:40]!r} is no evidence for {verdict}", "evidence.method")
    if verdict == "refuted":
        return _check_refutation(question, evidence, limits)
    if witness is None:
        return _check_proof(question, evidence, limits)
    found = _conditional(question, an_object(witness, "witness"), "witness", limits)
    if not question.claim.holds(found.left, found.right):
        refuse("the witness violates the claim that is said to be proved", "witness")
    accepted = _check_proof(question, evidence, limits)
    excess = found.left - question.claim.delta
    tight = found.right > 0 and excess > 0 and question.claim.epsilon.compare_bound(excess / found.right) == 0
    statement = f"{accepted.statement}; the witness has the ratio {found.ratio()}"
    statement += ", so this epsilon is attained and no smaller one holds" if tight else ""
    details = {**accepted.details, "witness_ratio": found.ratio(), "tight": tight}
    lower = question.claim.needs(found.left, found.right)
    return replace(accepted, statement=statement, details=details, lower=lower)


@dataclass(frozen=True)
class Conditional:
    """An output under two secrets at given parameters."""

    pair: tuple[str, str]
    output: str
    left: Rational
    right: Rational

    def ratio(self) -> str:
        """The ratio in words."""
        return text(self.left / self.right) if self.right != 0 else "infinite"


def _conditional(question: SecretsQuestion, given: dict[str, object], place: str, limits: Limits) -> Conditional:
    """Both conditional probabilities, recomputed from the rows at the given parameters."""
    only_members(given, ("method", "values", "pair", "output", "left", "right"), place)
    values = question.point(given.get("values"), f"{place}.values", limits)
    s, t = _read_directed_pair(question, given.get("pair"), f"{place}.pair")
    output = require_name(a_text(given.get("output"), f"{place}.output"), question.outputs, "output", f"{place}.output")
    masses = {s: ZERO, t: ZERO}
    joint = {s: ZERO, t: ZERO}
    for number, row in enumerate(question.rows):
        weight = at(row.weight, values)
        if weight < 0:
            refuse(f"the weight of row {number} is negative at the values", f"{place}.values")
        for secret in (s, t):
            if secret in row.secrets:
                masses[secret] += weight
                joint[secret] += weight * row.outputs.get(output, ZERO)
    for secret, mass in masses.items():
        if mass <= 0:
            refuse(f"the secret {secret[:60]!r} is impossible at the values", f"{place}.values")
    left, right = joint[s] / masses[s], joint[t] / masses[t]
    for name, found in (("left", left), ("right", right)):
        if a_number(given.get(name), f"{place}.{name}", limits) != found:
            refuse(f"the probability is {text(found)}", f"{place}.{name}")
    return Conditional((s, t), output, left, right)


def _read_directed_pair(question: SecretsQuestion, value: object, place: str) -> tuple[str, str]:
    both = [a_text(each, f"{place}[{i}]") for i, each in enumerate(a_list(value, place))]
    if len(both) != 2 or (both[0], both[1]) not in question.directed:
        refuse("the question does not compare this pair", place)
    return both[0], both[1]


def _check_refutation(question: SecretsQuestion, evidence: dict[str, object], limits: Limits) -> Accepted:
    found = _conditional(question, evidence, "evidence", limits)
    if question.claim.holds(found.left, found.right):
        refuse(f"the claim holds at these parameters: the ratio is {found.ratio()}", "evidence")
    s, t = found.pair
    return Accepted(
        "refuted",
        f"{question.claim} is violated: the output {found.output!r} has probability {text(found.left)} given {s!r} and "
        f"{text(found.right)} given {t!r}; the ratio is {found.ratio()}",
        {
            "method": "parameters",
            "left_probability": text(found.left),
            "right_probability": text(found.right),
            "ratio": found.ratio(),
        },
        lower=question.claim.needs(found.left, found.right),
    )


def _check_proof(question: SecretsQuestion, evidence: dict[str, object], limits: Limits) -> Accepted:
    only_members(evidence, ("method", "bound", "coordinates", "points", "weights", "conditions"), "evidence")
    if question.claim.events:
        refuse("the conditions are for each output, and the claim is over events: say pointwise", "question.pointwise")
    bound = a_number(evidence.get("bound"), "evidence.bound", limits)
    if bound < 0 or question.claim.epsilon.compare_bound(bound) < 0:
        refuse(f"the bound {text(bound)} is not between 0 and e^epsilon", "evidence.bound")
    _possible(question, evidence.get("points"), limits)
    cube = _Cube(question, evidence.get("coordinates"), limits)
    trees = a_list(evidence.get("weights"), "evidence.weights")
    if len(trees) != len(question.rows):
        refuse(f"{len(trees)} trees are given for {len(question.rows)} weights", "evidence.weights")
    for number, (tree, row) in enumerate(zip(trees, question.rows, strict=True)):
        cube.check(tree, row.weight, f"evidence.weights[{number}]")
    conditions = _conditions(question, evidence.get("conditions"), cube, bound, limits)
    return Accepted(
        "proved",
        f"{question.claim} holds for {len(question.directed)} ordered pairs of secrets and {len(question.outputs)} "
        f"outputs, for all parameters in the region",
        {
            "method": "bernstein",
            "conditions": conditions,
            "boxes": cube.boxes.count,
            "bound": text(bound),
            "parameters": len(question.parameters),
        },
        upper=smallest_epsilon(bound, ONE),
    )


def _possible(question: SecretsQuestion, value: object, limits: Limits) -> None:
    """Refuse unless every pair is compared somewhere: at one of the given points both secrets are possible."""
    listed = a_list(value, "evidence.points")
    within(len(listed), limits.pairs, "points", "evidence.points")
    points = [question.point(item, f"evidence.points[{i}]", limits) for i, item in enumerate(listed)]
    masses = {secret: question.probability(secret) for pair in question.pairs for secret in pair}
    for s, t in question.pairs:
        if not any(at(masses[s], point) > 0 and at(masses[t], point) > 0 for point in points):
            refuse(
                f"at none of the points are {s[:60]!r} and {t[:60]!r} both possible, so nothing is compared",
                "evidence.points",
            )


class _Cube:
    """The cube of coordinates, and trees on it."""

    def __init__(self, question: SecretsQuestion, value: object, limits: Limits) -> None:
        self.question, self.limits = question, limits
        self.size = len(question.parameters)
        self.values = self._coordinates(value)
        self.boxes = Boxes(limits)
        self.sides = [
            CubeSide(self.grid(each.expression, f"question.constraints[{number}]"), each.strict)
            for number, each in enumerate(question.constraints[:MOST_PARAMETERS])
        ]

    def _coordinates(self, value: object) -> list[Polynomial]:
        """Every parameter in the coordinates; refuse coordinates that might miss a point of the region."""
        listed = a_list(value, "evidence.coordinates")
        names = self.question.names
        order: list[tuple[int, Polynomial, Polynomial, str]] = []
        for number, item in enumerate(listed):
            place = f"evidence.coordinates[{number}]"
            given = an_object(item, place)
            only_members(given, ("name", "low", "high"), place)
            index = names[require_name(a_text(given.get("name"), f"{place}.name"), names, "parameter", f"{place}.name")]
            low, high = (
                read_polynomial(given.get(end), names, f"{place}.{end}", self.limits) for end in ("low", "high")
            )
            before = {each[0] for each in order}
            if index in before:
                refuse("the parameter has coordinates already", place)
            if any(has_parameter(end, k) for end in (low, high) for k in range(self.size) if k not in before):
                refuse("an end depends on a parameter that does not come before", place)
            order.append((index, low, high, place))
        if len(order) != self.size:
            refuse("not every parameter has coordinates", "evidence.coordinates")
        self._enclosing(order)
        values: list[Polynomial] = [{} for _ in range(self.size)]
        for index, low, high, place in order:
            start = compose_polynomial(low, values, self.size, place, self.limits)
            width = plus(compose_polynomial(high, values, self.size, place, self.limits), start, -ONE)
            values[index] = plus(start, times(width, parameter(index, self.size), place, self.limits))
        return values

    def _enclosing(self, order: Sequence[tuple[int, Polynomial, Polynomial, str]]) -> None:
        """Refuse unless every parameter lies between its ends wherever the region is."""
        facts = [constraint.expression for constraint in self.question.constraints]
        for index, low, high, place in reversed(order):
            each = self.question.parameters[index]
            here = parameter(index, self.size)
            zero = (0,) * self.size
            enough = {
                "low": set(low) <= {zero} and low.get(zero, ZERO) <= each.low,
                "high": set(high) <= {zero} and high.get(zero, ZERO) >= each.high,
            }
            for end, gap in (("low", plus(here, low, -ONE)), ("high", plus(high, here, -ONE))):
                factors = (multiple(gap, fact) for fact in facts)
                if not enough[end] and not any(factor is not None and factor > 0 for factor in factors):
                    refuse(f"nothing says that {each.name} stays inside this end", f"{place}.{end}")
            facts.append(plus(high, low, -ONE))

    def grid(self, polynomial: Polynomial, place: str) -> Grid:
        """The coefficients of a polynomial on the cube."""
        inside = compose_polynomial(polynomial, self.values, self.size, place, self.limits)
        return grid(inside, self.size, place, self.limits)

    def check(self, tree: object, polynomial: Polynomial, place: str) -> None:
        """Refuse unless a tree shows the polynomial to be non-negative on the region."""
        written = a_text(tree, place)
        within(len(written), 4 * self.limits.nodes, "characters of a tree", place)
        check_tree(written, self.grid(polynomial, place), self.sides, self.boxes, place)


def _conditions(question: SecretsQuestion, value: object, cube: _Cube, bound: Rational, limits: Limits) -> int:
    """Check the conditions, which must be all: every ordered pair with every output, once."""
    listed = a_list(value, "evidence.conditions")
    expected = {(pair, output) for pair in question.directed for output in question.outputs}
    secrets = {secret: question.probability(secret) for pair in question.pairs for secret in pair}
    joint: dict[tuple[str, str], Polynomial] = {}

    def shown(output: str, secret: str) -> Polynomial:
        if (output, secret) not in joint:
            joint[output, secret] = question.probability(secret, output)
        return joint[output, secret]

    for number, item in enumerate(listed):
        place = f"evidence.conditions[{number}]"
        given = an_object(item, place)
        only_members(given, ("pair", "output", "tree", "factors"), place)
        s, t = _read_directed_pair(question, given.get("pair"), f"{place}.pair")
        output = a_text(given.get("output"), f"{place}.output")
        if ((s, t), output) not in expected:
            refuse("this condition is unknown or given twice", place)
        expected.remove(((s, t), output))
        right = times(shown(output, t), secrets[s], place, limits)
        left = times(shown(output, s), secrets[t], place, limits)
        forgiven = scale_polynomial(times(secrets[s], secrets[t], place, limits), question.claim.delta)
        difference = plus(plus(scale_polynomial(right, bound), forgiven), left, -ONE)
        if ("tree" in given) == ("factors" in given):
            refuse("a condition has either a tree or factors", place)
        if "tree" in given:
            cube.check(given["tree"], difference, f"{place}.tree")
        else:
            _factors(question, given["factors"], difference, cube, f"{place}.factors", limits)
    if expected:
        (s, t), output = min(expected)
        refuse(f"{len(expected)} conditions are missing, such as {output!r} for {s!r} and {t!r}", "evidence.conditions")
    return len(listed)


def _factors(
    question: SecretsQuestion, value: object, difference: Polynomial, cube: _Cube, place: str, limits: Limits
) -> None:
    """Refuse unless the product of the factors is the difference and no factor of odd power is negative."""
    product = constant(ONE, cube.size)
    for number, item in enumerate(a_list(value, place)):
        here = f"{place}[{number}]"
        given = an_object(item, here)
        only_members(given, ("polynomial", "power", "tree"), here)
        factor = read_polynomial(given.get("polynomial"), question.names, f"{here}.polynomial", limits)
        exponent = an_integer(given.get("power", 1), f"{here}.power")
        if not 1 <= exponent <= MOST_POWER:
            refuse(f"a power is between 1 and {MOST_POWER}", f"{here}.power")
        if exponent % 2:
            cube.check(given.get("tree"), factor, f"{here}.tree")
        product = times(product, power(factor, exponent, cube.size, here, limits), here, limits)
    if product != difference:
        refuse("the product of the factors is not the condition", place)
