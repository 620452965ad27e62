"""Tables of secrets under priors with parameters, built by enumeration of all databases: the examples of the papers, and random ones."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

from privproof.engines.parametric.parametric_certificates import point_evidence, proof_evidence
from privproof.evidence.certificate_documents import draft
from privproof.evidence.documents.secrets_document import table_document
from privproof.evidence.witnesses import ObservedOutput, Witness
from privproof.exact import ONE, ZERO, Rational, fraction
from privproof.exact.polynomials import Polynomial
from privproof.exact.regions import ParameterRegion
from privproof.models.parameter_conditions import Condition, ConditionRow, ConditionTable, RegionConditions

GEOMETRIC = (
    (Rational(2, 3), Rational(1, 6), Rational(1, 6)),
    (Rational(1, 3), Rational(1, 3), Rational(1, 3)),
    (Rational(1, 6), Rational(1, 6), Rational(2, 3)),
)
"""The truncated 1/2-geometric mechanism on a count of 0, 1 or 2: rows are counts, columns outputs."""


def one(region, left, right, scale="1", *, constraints=()):
    """Conditions with a single one, from texts."""
    where = ParameterRegion.of(region, constraints)
    parts = [Polynomial.of(text, where.names) for text in (left, right, scale)]
    return RegionConditions(where, (Condition(("s", "t"), "o", *parts),))


def counting(*, by_count):
    """Example 4.5: two people, each ill with probability p; the secret is the count, as printed, or one person's state."""
    p = Polynomial.parameter("p", ("p",))
    rows = []
    for database in product((0, 1), repeat=2):
        weight = p**0
        for ill in database:
            weight = weight * (p if ill else 1 - p)
        count = sum(database)
        secrets = ("ill",) if database[0] else ("well",)
        if by_count:
            secrets = tuple(name for name, holds in (("some", count != 0), ("not all", count != 2)) if holds)
        rows.append(ConditionRow(weight, {str(o): GEOMETRIC[count][o] for o in range(3)}, secrets))
    pair = ("some", "not all") if by_count else ("ill", "well")
    return ConditionTable(ParameterRegion.of({"p": "0 < p < 1"}), tuple(rows), (pair,))


def noisy_max(diseases=3, *, contagious=False):
    """Examples 6.2 and 6.3: two people, several diseases, the disease with the largest noisy count (ties at random)."""
    names = tuple(f"p{letter}" for letter in "ABCDEF"[:diseases])
    rows = []
    for counts, weight in _databases(names, contagious=contagious):
        outputs = {}
        for noisy in product(range(3), repeat=diseases):
            chance = ONE
            for (count, _), shown in zip(counts, noisy, strict=True):
                chance *= GEOMETRIC[count][shown]
            winners = [i for i, shown in enumerate(noisy) if shown == max(noisy)]
            for winner in winners:
                outputs[f"~{winner + 1}"] = outputs.get(f"~{winner + 1}", ZERO) + chance / len(winners)
        rows.append(ConditionRow(weight, outputs, ("John is ill",) if counts[0][1] else ("John is well",)))
    region = ParameterRegion.of({name: f"0 < {name} < 1" for name in names})
    return ConditionTable(region, tuple(rows), (("John is ill", "John is well"),))


def _databases(names, *, contagious):
    """For every database: the count of every disease with John's state, and the weight; the first disease may be contagious."""
    for database in product(tuple(product((0, 1), repeat=2)), repeat=len(names)):
        if contagious and database[0][0] != database[0][1]:
            continue
        weight = Polynomial.constant(1, names)
        for number, (name, people) in enumerate(zip(names, database, strict=True)):
            p = Polynomial.parameter(name, names)
            for ill in people[:1] if contagious and number == 0 else people:
                weight = weight * (p if ill else 1 - p)
        yield [(first + second, first) for first, second in database], weight


def simplex():
    """Three kinds of people with unknown shares that sum to one; two overlapping secrets."""
    names = ("p", "q")
    p, q = (Polynomial.parameter(name, names) for name in names)
    table = ((p, "1/2", ("s",)), (q, "1/3", ("s", "t")), (1 - p - q, "1/6", ("t",)))
    rows = tuple(_binary(weight, chance, secrets) for weight, chance, secrets in table)
    return ConditionTable(
        ParameterRegion.of({"p": "0 <= p <= 1", "q": "0 <= q <= 1"}, ["p + q <= 1"]), rows, (("s", "t"),)
    )


def rare_causes():
    """Two rare causes: both secrets are impossible at the corner p = q = 0, where the condition vanishes to second order."""
    names = ("p", "q")
    p, q = (Polynomial.parameter(name, names) for name in names)
    table = (
        (2 * p / 5, "9/10", ("s",)),
        (q / 5, "1/2", ("s",)),
        (p / 5, "9/10", ("t",)),
        (2 * q / 5, "1/2", ("t",)),
        (1 - 3 * p / 5 - 3 * q / 5, "1/2", ()),
    )
    rows = tuple(_binary(weight, chance, secrets) for weight, chance, secrets in table)
    return ConditionTable(ParameterRegion.of({"p": "0 < p < 1", "q": "0 < q <= 1/2"}), rows, (("s", "t"),))


def _binary(weight, chance, secrets):
    yes = Rational(*map(int, chance.split("/")))
    return ConditionRow(weight, {"yes": yes, "no": 1 - yes}, secrets)


def proved_certificate(table, budget, proof, monitor, *, witness=None):
    """The certificate of a proof about a table; None where the sign of a weight is not established."""
    evidence = proof_evidence(table, proof, monitor)
    more = {} if witness is None else {"witness": point_evidence(as_witness(witness))}
    return None if evidence is None else _certificate("proved", table, budget, evidence) | more


def refuted_certificate(table, budget, violation):
    """The certificate of parameters that violate a budget."""
    evidence = {"method": "parameters", **point_evidence(as_witness(violation))}
    return _certificate("refuted", table, budget, evidence)


def _certificate(verdict, table, budget, evidence):
    return draft(verdict, table_document(table, budget), evidence)


def as_witness(violation):
    """A violation as the witness that a verdict shows."""
    values = {name: fraction(value) for name, value in violation.values.items()}
    left, right = fraction(violation.left), fraction(violation.right)
    condition = violation.condition
    observed = ObservedOutput(condition.output, values, Fraction(1), Fraction(1), left, right)
    return Witness(*condition.pair, observed, left, right)
