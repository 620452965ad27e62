"""Random priors with parameters: what is proved has no counterexample on dense grids, what is violated is so exactly."""

from __future__ import annotations

import json
from dataclasses import replace
from itertools import product

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.amounts import examples
from tests.certificates import recheck
from tests.tables import proved_certificate, refuted_certificate

from privproof.engines.parametric import Proof, Undecided, Violation, prove, supremum
from privproof.engines.search_monitor import Monitor
from privproof.evidence.documents.secrets_document import table_document
from privproof.exact import Budget, Rational, log
from privproof.exact.polynomials import Polynomial
from privproof.exact.regions import ParameterRegion
from privproof.models.parameter_conditions import (
    Condition,
    ConditionRow,
    ConditionTable,
    RegionConditions,
    conditions_of,
)
from privproof_checker import Accepted

ZERO = Rational(0)
CALM = settings(max_examples=examples(60), deadline=None, suppress_health_check=[HealthCheck.too_slow])
INTERVALS = ("0 < {} < 1", "0 <= {} <= 1", "1/4 <= {} < 3/4", "0 < {} <= 1/2", "1/3 < {} < 1")
CONSTRAINTS = ("p + q <= 1", "q <= p", "p < q", "p*q <= 1/4", "p^2 + q^2 <= 1", "p + q >= 1/2", "2*p <= 1 + q")


@st.composite
def regions(draw, most=2):
    count = draw(st.integers(0 if most < 2 else 1, most))
    names = ("p", "q", "r")[:count]
    parameters = {name: draw(st.sampled_from(INTERVALS)).format(name) for name in names}
    constraints = draw(st.lists(st.sampled_from(CONSTRAINTS), max_size=2, unique=True)) if count >= 2 else []
    return ParameterRegion.of(parameters, constraints)


@st.composite
def tables(draw):
    """Persons with independent states, each ill with one of the parameters; random outputs; one or two secrets."""
    region = draw(regions())
    persons = [draw(st.sampled_from(region.names)) for _ in range(draw(st.integers(1, 3)))]
    outputs = draw(st.integers(2, 3))
    rows = []
    for database in product((0, 1), repeat=len(persons)):
        weight = Polynomial.constant(1, region.names)
        for name, ill in zip(persons, database, strict=True):
            p = Polynomial.parameter(name, region.names)
            weight = weight * (p if ill else 1 - p)
        parts = [draw(st.integers(0 if draw(st.integers(0, 5)) == 0 else 1, 9)) for _ in range(outputs)]
        parts[0] += 1
        shown = {f"o{i}": Rational(part, sum(parts)) for i, part in enumerate(parts)}
        secrets = ["ill" if database[0] else "well", *(["many"] if sum(database) > 1 else ["few"])]
        rows.append(ConditionRow(weight, shown, tuple(secrets)))
    pairs = [("ill", "well")]
    if len(persons) > 1 and draw(st.booleans()):
        pairs.append(("many", "few"))
    return ConditionTable(region, tuple(rows), tuple(pairs))


@st.composite
def loose(draw):
    """One condition with polynomials that are not probabilities, non-negative by their form."""
    region = draw(regions())

    def polynomial(least):
        total = Polynomial.constant(draw(st.integers(least, 2)), region.names)
        for _ in range(draw(st.integers(0, 4))):
            term = Polynomial.constant(draw(st.integers(1, 4)), region.names)
            for name in region.names:
                p = Polynomial.parameter(name, region.names)
                term = term * p ** draw(st.integers(0, 2)) * (1 - p) ** draw(st.integers(0, 2))
            total = total + term
        return total

    one = Polynomial.constant(1, region.names)
    return RegionConditions(region, (Condition(("s", "t"), "o", polynomial(0), polynomial(0), one),))


def grid(region, steps=12):
    """Points of the region on a dense grid, close to its border too."""
    lines = []
    for interval in region.box:
        width = interval.high - interval.low
        shares = [Rational(k, steps) for k in range(steps + 1)] + [Rational(1, 1000), Rational(999, 1000)]
        lines.append([interval.low + width * share for share in shares])
    for values in product(*lines):
        point = dict(zip(region.names, values, strict=True))
        if region.contains(point):
            yield point


def excess(condition, point, c, delta):
    """How far a condition is violated at a point, by its definition."""
    scale = condition.scale.at(point)
    if scale == 0:
        return ZERO
    return condition.left.at(point) / scale - c * condition.right.at(point) / scale - delta


def no_violation(conditions, c, delta):
    points = list(grid(conditions.region))
    assert all(excess(condition, point, c, delta) <= 0 for condition in conditions.listed for point in points)


def exact_violation(conditions, found, c, delta):
    assert conditions.region.contains(found.values)
    assert found.condition in conditions.listed
    assert excess(found.condition, found.values, c, delta) == found.left - c * found.right - delta > 0


RATIOS = st.fractions(min_value=1, max_value=6, max_denominator=12).map(lambda x: Rational(x.numerator, x.denominator))
DELTAS = st.sampled_from([ZERO, ZERO, Rational(1, 10), Rational(1, 3)])


@CALM
@given(tables(), RATIOS, DELTAS)
def test_verdicts_on_tables_are_right_and_pass_the_checker(table, c, delta):
    conditions = conditions_of(table)
    decision = prove(conditions, c, delta, Monitor(), ask_solvers=False, boxes=4_000)
    budget = Budget(log(c), delta, pointwise=True)
    if isinstance(decision, Proof):
        no_violation(conditions, c, delta)
        document = proved_certificate(table, budget, decision, Monitor())
    elif isinstance(decision, Violation):
        exact_violation(conditions, decision, c, delta)
        document = refuted_certificate(table, budget, decision)
    else:
        assert isinstance(decision, Undecided)
        return
    assert document is not None
    outcome = recheck(json.loads(json.dumps(document)))
    assert isinstance(outcome, Accepted), outcome


@CALM
@given(tables(), st.data(), RATIOS, RATIOS)
def test_evidence_moved_to_another_question_is_accepted_only_if_that_holds_too(table, data, c, other_c):
    decision = prove(conditions_of(table), c, ZERO, Monitor(), ask_solvers=False, boxes=4_000)
    if not isinstance(decision, Proof):
        return
    document = proved_certificate(table, Budget(log(c)), decision, Monitor())
    row = data.draw(st.integers(0, len(table.rows) - 1))
    parts = [data.draw(st.integers(1, 9)) for _ in table.outputs]
    outputs = {name: Rational(part, sum(parts)) for name, part in zip(table.outputs, parts, strict=True)}
    rows = [replace(each, outputs=outputs) if i == row else each for i, each in enumerate(table.rows)]
    region = data.draw(regions().filter(lambda each: each.names == table.region.names))
    for moved in (
        replace(table, rows=tuple(rows)),
        replace(table, region=region),
        replace(table, region=replace(table.region, constraints=region.constraints)),
        replace(table, region=replace(table.region, box=region.box)),
    ):
        bound = other_c if data.draw(st.booleans()) else c
        question = table_document(moved, Budget(log(bound)))
        if isinstance(recheck({**document, "question": question}), Accepted):
            no_violation(conditions_of(moved), bound, ZERO)


@CALM
@given(loose(), RATIOS, DELTAS)
def test_verdicts_on_polynomials_are_right(conditions, c, delta):
    decision = prove(conditions, c, delta, Monitor(), ask_solvers=False, boxes=4_000)
    if isinstance(decision, Proof):
        no_violation(conditions, c, delta)
    elif isinstance(decision, Violation):
        exact_violation(conditions, decision, c, delta)


@CALM
@given(st.one_of(tables().map(conditions_of), loose()), DELTAS)
def test_suprema_enclose_the_ratios_on_a_grid(conditions, delta):
    found = supremum(conditions, delta, Monitor(), boxes=4_000)
    if found.condition is not None:
        check_lower(found, conditions, delta)
    if found.upper is not None:
        assert found.proof is not None
        assert found.lower is not None
        assert found.lower <= found.upper
        no_violation(conditions, found.upper, delta)
    elif found.infinite:
        assert found.condition is not None


@CALM
@given(tables())
def test_proofs_of_suprema_pass_the_checker(table):
    found = supremum(conditions_of(table), ZERO, Monitor(), boxes=4_000)
    if found.proof is not None:
        budget = Budget(log(max(found.upper, Rational(1))))
        outcome = recheck(proved_certificate(table, budget, found.proof, Monitor()))
        assert isinstance(outcome, Accepted), outcome


def check_lower(found, conditions, delta):
    """The lower bound is met at its point, or approached along its direction."""
    condition = found.condition

    def ratio(point):
        above = condition.left.at(point) - delta * condition.scale.at(point)
        below = condition.right.at(point)
        return above / below if below != 0 else Rational(10**9) if above > 0 else ZERO

    if found.attained:
        assert conditions.region.contains(found.point)
        assert condition.scale.at(found.point) > 0
        assert ratio(found.point) == (found.lower if found.lower is not None else Rational(10**9))
        return
    near = []
    for power in (30, 60):
        share = Rational(1, 2**power)
        near.append({n: found.point[n] + share * found.direction[n] for n in conditions.region.names})
        assert conditions.region.contains(near[-1])
        assert condition.scale.at(near[-1]) > 0
    if found.lower is None:
        assert ratio(near[1]) >= 10**6
    else:
        assert abs(ratio(near[1]) - found.lower) < Rational(1, 10**6)
