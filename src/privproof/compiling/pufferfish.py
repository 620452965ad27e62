"""A Pufferfish question becomes a table: for every class of data sets its probability, the secrets that hold, the outputs.

The prior's data sets come with probabilities that are polynomials in its unknown parameters; the mechanism's outputs on each of them with
rational ones.  Data sets on which the same secrets hold and the mechanism behaves alike are one row.  Conditioning on a secret is
division by the sum of its rows, done by clearing denominators, so every comparison is one of polynomials.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from privproof.compiling.distributions import output_classes
from privproof.compiling.exploring import Explorer
from privproof.compiling.outputs import Symbols, borders
from privproof.errors import LanguageError, ScenarioError
from privproof.exact import ZERO, Rational
from privproof.exact.polynomials import Polynomial
from privproof.exact.regions import Region
from privproof.language import Mechanism
from privproof.language.values import plain, tails, text
from privproof.models.conditions import Condition, Conditions
from privproof.scenarios.pufferfish import PufferfishQuestion

_MOST_ROWS = 20_000


@dataclass(frozen=True)
class Row:
    """Data sets that are alike.

    Attributes:
        weight: their probability, in the unknown parameters.
        outputs: the probability of every output on them.
        secrets: the secrets that hold.
        example: one of them, as it prints.
    """

    weight: Polynomial
    outputs: Mapping[str, Rational]
    secrets: frozenset[str]
    example: str


@dataclass(frozen=True)
class Table:
    """What a Pufferfish question compares.

    Attributes:
        question: the question.
        region: where the unknown parameters range.
        rows: the classes of data sets.
        outputs: all outputs.
        impossible: secrets that no data set of the prior satisfies.
    """

    question: PufferfishQuestion
    region: Region
    rows: tuple[Row, ...]
    outputs: tuple[str, ...]
    impossible: tuple[str, ...]

    def probability(self, secret: str) -> Polynomial:
        """The probability of a secret."""
        return self._sum(row.weight for row in self.rows if secret in row.secrets)

    def joint(self, output: str, secret: str) -> Polynomial:
        """The probability that the output is shown and the secret holds."""
        held = (row for row in self.rows if secret in row.secrets and output in row.outputs)
        return self._sum(row.weight * row.outputs[output] for row in held)

    def _sum(self, parts: Any) -> Polynomial:
        return sum(parts, Polynomial.constant(0, self.region.names))

    @property
    def pairs(self) -> tuple[tuple[str, str], ...]:
        """The ordered pairs that are compared: both directions, both secrets possible."""
        both = [p for s, t in self.question.pairs for p in ((s, t), (t, s))]
        return tuple(dict.fromkeys(p for p in both if not set(p) & set(self.impossible)))

    def conditions(self) -> Conditions:
        """The comparisons of polynomials that the question comes to."""
        listed = []
        chance = {s: self.probability(s) for s in self.question.secrets}
        joint = {(o, s): self.joint(o, s) for o in self.outputs for s in self.question.secrets}
        for s, t in self.pairs:
            scale = chance[s] * chance[t]
            for o in self.outputs:
                left, right = joint[o, s] * chance[t], joint[o, t] * chance[s]
                if not left.is_zero:
                    listed.append(Condition((s, t), o, left, right, scale))
        return Conditions(self.region, tuple(listed))


def table(question: PufferfishQuestion) -> Table:
    """The table of a Pufferfish question.

    Raises:
        LanguageError: the prior or the mechanism is outside the language, or infinite.
        ScenarioError: a secret or the query fails on a data set.
    """
    data = _data(question)
    names = list(question.secrets)
    shown: dict[str, list[tuple[Any, Rational]]] = {}
    grouped: dict[tuple[frozenset[str], str], tuple[Polynomial, str]] = {}
    zero = Polynomial.constant(0, question.prior.region.names)
    for value, weight in data:
        held = frozenset(s for s in names if _asked(question.secrets[s], value, f"secrets.{s}"))
        arguments = _read(question, value)
        key = repr(arguments)
        if key not in shown:
            shown[key] = _outputs(question.mechanism, arguments)
        before, example = grouped.get((held, key), (zero, repr(value)))
        grouped[held, key] = (before + weight, example)
    limits = borders(output for listed in shown.values() for output, _ in listed)
    refined = {
        key: [(r, p * q) for output, p in listed for r, q in limits.refined(output)] for key, listed in shown.items()
    }
    symbols = Symbols(output for listed in refined.values() for output, _ in listed)
    rows = []
    for (held, key), (weight, example) in grouped.items():
        outputs: dict[str, Rational] = {}
        for output, p in refined[key]:
            outputs[symbols.name(output)] = outputs.get(symbols.name(output), ZERO) + p
        rows.append(Row(weight, outputs, held, example))
    impossible = tuple(s for s in names if not any(s in row.secrets and not row.weight.is_zero for row in rows))
    return Table(question, question.prior.region, tuple(rows), tuple(symbols.values), impossible)


def _data(question: PufferfishQuestion) -> list[tuple[Any, Polynomial]]:
    """The data sets of the prior with their probabilities."""
    prior = question.prior
    explorer = Explorer(prior.flow)
    found = explorer.settle(explorer.state(0, prior.store))
    if len(found) > _MOST_ROWS:
        raise LanguageError("size", f"the prior has {len(found)} data sets, more than {_MOST_ROWS}", place=prior.name)
    result = []
    for rest, weight in found.items():
        if any(True for _ in tails(rest.value)):
            raise LanguageError(
                "unbounded",
                f"the prior draws {text(rest.value)}: infinitely many data sets",
                place=prior.name,
                hint="clamp it",
            )
        whole = weight if isinstance(weight, Polynomial) else Polynomial.constant(weight, prior.region.names)
        result.append((plain(rest.value), whole))
    return result


def _asked(function: Any, value: Any, place: str) -> Any:
    try:
        return function(value)
    except Exception as error:
        raise ScenarioError(
            "python",
            f"it fails on the data {value!r}: {type(error).__name__}: {error}",
            place=place,
            hint="a function of the data",
        ) from None


def _read(question: PufferfishQuestion, value: Any) -> dict[str, Any]:
    """The arguments of the mechanism on a data set, without the public ones."""
    mechanism = question.mechanism
    private = [name for name, declared in mechanism.inputs.items() if not declared.public]
    asked = value if question.query is None else _asked(question.query, value, "query")
    if len(private) == 1 and not isinstance(asked, dict):
        declared = mechanism.inputs[private[0]]
        if declared.shape != "value" and isinstance(asked, tuple):
            asked = list(asked)
        return {private[0]: asked}
    if not isinstance(asked, dict) or set(asked) != set(private):
        raise ScenarioError(
            "query", f"the query gives {asked!r}", place="query", hint=f"a dict with the inputs {', '.join(private)}"
        )
    return dict(asked)


def _outputs(mechanism: Mechanism, arguments: dict[str, Any]) -> list[tuple[Any, Rational]]:
    """The outputs on a data set; where there are public inputs, for each of their values by itself."""
    public = {n: i for n, i in mechanism.inputs.items() if i.public}
    if not public:
        return output_classes(mechanism, arguments)
    raise LanguageError(
        "input",
        f"{mechanism.name} has public inputs ({', '.join(public)})",
        place=mechanism.name,
        hint="make them parameters and ask for each value: mechanism.having(...)",
    )
