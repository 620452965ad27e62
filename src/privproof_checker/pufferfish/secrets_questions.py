"""Questions about secrets under a prior, read: parameters, constraints, rows of data with their weights, and pairs of secrets."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import prod

from privproof_checker.claims import Claim, read_claim
from privproof_checker.numbers import ONE, ZERO, Rational
from privproof_checker.outcomes import Limits, refuse, within
from privproof_checker.plain_documents import a_flag, a_list, a_number, a_text, an_object, only_members, text
from privproof_checker.pufferfish.polynomials import (
    NAME,
    Polynomial,
    at,
    combine_polynomials,
    constant,
    read_polynomial,
)

_MEMBERS = (
    "kind", "title", "parameters", "constraints", "data", "pairs", "relative", "epsilon", "delta", "pointwise",
)  # fmt: skip
MOST_PARAMETERS = 26
"""The letters of a tree of boxes name so many: further parameters are refused, further constraints are of no use to a tree."""
MOST_POWER = 1_000
"""The largest power of a factor in the evidence; beyond, it is refused before it is multiplied out."""


@dataclass(frozen=True)
class Parameter:
    """A parameter and its interval."""

    name: str
    low: Rational
    high: Rational
    low_open: bool
    high_open: bool

    def contains(self, value: Rational) -> bool:
        """Whether a value belongs to the interval."""
        above = value > self.low or (value == self.low and not self.low_open)
        return above and (value < self.high or (value == self.high and not self.high_open))


@dataclass(frozen=True)
class Constraint:
    """``expression >= 0``, or ``> 0`` if it is strict."""

    expression: Polynomial
    strict: bool


@dataclass(frozen=True)
class DatabaseRow:
    """A possible database: its weight under the prior, the distribution of the output, the secrets that hold."""

    weight: Polynomial
    outputs: Mapping[str, Rational]
    secrets: frozenset[str]


@dataclass(frozen=True)
class SecretsQuestion:
    """A question, read and checked."""

    parameters: tuple[Parameter, ...]
    constraints: tuple[Constraint, ...]
    rows: tuple[DatabaseRow, ...]
    outputs: tuple[str, ...]
    pairs: tuple[tuple[str, str], ...]
    claim: Claim

    @property
    def names(self) -> dict[str, int]:
        """The parameters by number."""
        return {each.name: number for number, each in enumerate(self.parameters)}

    @property
    def directed(self) -> tuple[tuple[str, str], ...]:
        """The pairs in both directions, each once."""
        return tuple(dict.fromkeys(each for s, t in self.pairs for each in ((s, t), (t, s))))

    def probability(self, secret: str, output: str | None = None) -> Polynomial:
        """The probability that a secret holds, and that the output is shown if one is given."""
        holding = [row for row in self.rows if secret in row.secrets]
        return combine_polynomials(
            (row.weight, ONE if output is None else row.outputs.get(output, ZERO)) for row in holding
        )

    def point(self, value: object, place: str, limits: Limits) -> tuple[Rational, ...]:
        """Values of all parameters, which must belong to the region."""
        given = an_object(value, place)
        only_members(given, self.names, place)
        result = []
        for each in self.parameters:
            if each.name not in given:
                refuse(f"the parameter {each.name!r} has no value", place)
            number = a_number(given[each.name], f"{place}.{each.name}", limits)
            if not each.contains(number):
                refuse(f"{each.name} = {text(number)} is outside its interval", f"{place}.{each.name}")
            result.append(number)
        for number_, constraint in enumerate(self.constraints):
            value_ = at(constraint.expression, result)
            if value_ < 0 or (value_ == 0 and constraint.strict):
                refuse(f"constraint {number_} does not hold at the values", place)
        return tuple(result)


def read_question(given: dict[str, object], limits: Limits) -> SecretsQuestion:
    """The question of a certificate."""
    only_members(given, _MEMBERS, "question")
    claim = read_claim(given, limits)
    parameters = _parameters(given.get("parameters", []), limits)
    names = {each.name: number for number, each in enumerate(parameters)}
    constraints = _constraints(given.get("constraints", []), names, limits)
    relative = a_flag(given.get("relative", False), "question.relative")
    rows = _rows(given.get("data"), names, limits, relative=relative)
    outputs = tuple(dict.fromkeys(output for row in rows for output in row.outputs))
    within(len(outputs), limits.symbols, "outputs", "question.data")
    secrets = {secret for row in rows for secret in row.secrets}
    pairs = _pairs(given.get("pairs"), secrets, limits)
    told = [row for row in rows if not _vanishes(row.weight, parameters)]
    if all((one in row.secrets) == (other in row.secrets) for one, other in pairs for row in told):
        refuse("the secrets of every pair hold in the same rows, so nothing is compared", "question.pairs")
    return SecretsQuestion(parameters, constraints, rows, outputs, pairs, claim)


def _vanishes(weight: Polynomial, parameters: tuple[Parameter, ...]) -> bool:
    """Whether a weight is zero wherever the parameters whose interval is a single number have it."""
    fixed = [each.low == each.high for each in parameters]
    terms: Polynomial = {}
    for exponents, factor in weight.items():
        powers = zip(parameters, exponents, fixed, strict=True)
        left = tuple(0 if point else exponent for exponent, point in zip(exponents, fixed, strict=True))
        value = factor * prod((each.low**exponent for each, exponent, point in powers if point), start=ONE)
        terms[left] = terms.get(left, ZERO) + value
    return all(value == 0 for value in terms.values())


def _parameters(value: object, limits: Limits) -> tuple[Parameter, ...]:
    listed = a_list(value, "question.parameters")
    within(len(listed), MOST_PARAMETERS, "parameters", "question.parameters")
    result: list[Parameter] = []
    for number, item in enumerate(listed):
        place = f"question.parameters[{number}]"
        given = an_object(item, place)
        only_members(given, ("name", "low", "high", "low_open", "high_open"), place)
        name = a_text(given.get("name"), f"{place}.name")
        if not NAME.fullmatch(name):
            refuse(f"{name[:40]!r} is no name of a parameter", f"{place}.name")
        if name in (each.name for each in result):
            refuse(f"the parameter {name!r} is given twice", f"{place}.name")
        low, high = (a_number(given.get(end), f"{place}.{end}", limits) for end in ("low", "high"))
        opens = [a_flag(given.get(end, False), f"{place}.{end}") for end in ("low_open", "high_open")]
        if low > high or (low == high and any(opens)):
            refuse(f"the interval of {name!r} is empty", place)
        result.append(Parameter(name, low, high, *opens))
    return tuple(result)


def _constraints(value: object, names: Mapping[str, int], limits: Limits) -> tuple[Constraint, ...]:
    listed = a_list(value, "question.constraints")
    within(len(listed), limits.symbols, "constraints", "question.constraints")
    result = []
    for number, item in enumerate(listed):
        place = f"question.constraints[{number}]"
        given = an_object(item, place)
        only_members(given, ("expression", "strict"), place)
        expression = read_polynomial(given.get("expression"), names, f"{place}.expression", limits)
        result.append(Constraint(expression, a_flag(given.get("strict", False), f"{place}.strict")))
    return tuple(result)


def _rows(value: object, names: Mapping[str, int], limits: Limits, *, relative: bool) -> tuple[DatabaseRow, ...]:
    """The rows; their weights sum to one, unless they are relative: the conditions do not depend on a factor for each secret."""
    listed = a_list(value, "question.data")
    within(len(listed), limits.states, "rows", "question.data")
    result = []
    for number, item in enumerate(listed):
        place = f"question.data[{number}]"
        given = an_object(item, place)
        only_members(given, ("title", "weight", "outputs", "secrets"), place)
        weight = read_polynomial(given.get("weight"), names, f"{place}.weight", limits)
        outputs = _outputs(given.get("outputs"), f"{place}.outputs", limits)
        secrets = [
            a_text(each, f"{place}.secrets[{i}]")
            for i, each in enumerate(a_list(given.get("secrets"), f"{place}.secrets"))
        ]
        result.append(DatabaseRow(weight, outputs, frozenset(secrets)))
    if not relative and combine_polynomials((row.weight, ONE) for row in result) != constant(ONE, len(names)):
        refuse("the weights do not sum to 1", "question.data")
    return tuple(result)


def _outputs(value: object, place: str, limits: Limits) -> dict[str, Rational]:
    result: dict[str, Rational] = {}
    for name, given in an_object(value, place).items():
        result[name] = a_number(given, f"{place}.{name}", limits)
        if result[name] < 0:
            refuse(f"the probability {text(result[name])} is below 0", f"{place}.{name}")
    total = sum(result.values(), ZERO)
    if total != 1:
        refuse(f"the probabilities sum to {text(total)} instead of 1", place)
    return result


def _pairs(value: object, secrets: set[str], limits: Limits) -> tuple[tuple[str, str], ...]:
    listed = a_list(value, "question.pairs")
    within(2 * len(listed), limits.pairs, "pairs", "question.pairs")
    if not listed:
        refuse("there is no pair of secrets, so nothing is compared", "question.pairs")
    return tuple(_pair(item, secrets, f"question.pairs[{number}]") for number, item in enumerate(listed))


def _pair(value: object, secrets: set[str], place: str) -> tuple[str, str]:
    both = [a_text(each, f"{place}[{i}]") for i, each in enumerate(a_list(value, place))]
    if len(both) != 2 or both[0] == both[1]:
        refuse("a pair names two different secrets", place)
    for i, secret in enumerate(both):
        if secret not in secrets:
            refuse(f"the secret {secret[:60]!r} holds in no row, so nothing is compared", f"{place}[{i}]")
    return both[0], both[1]
