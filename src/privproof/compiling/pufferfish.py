"""A Pufferfish question becomes a table: for every class of data sets its probability, the secrets that hold, the outputs.

The prior's data sets come with probabilities that are polynomials in its unknown parameters; the mechanism's outputs on each of them with
rational ones.  Data sets on which the same secrets hold and the mechanism behaves alike are one row.  Conditioning on a secret is
division by the sum of its rows, done by clearing denominators, so every comparison is one of polynomials.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property, singledispatch
from typing import Any

from privproof.compiling.distributions import output_classes
from privproof.compiling.exploring import Explorer
from privproof.compiling.outputs import named_rows
from privproof.compiling.trials import shown_by
from privproof.errors import LanguageError, QuestionError, ScenarioError
from privproof.exact import ONE, ZERO, Rational
from privproof.exact.polynomials import Polynomial
from privproof.exact.regions import ParameterRegion
from privproof.language import Mechanism, Prior
from privproof.language.running import outputs as runs_of
from privproof.language.scripts import weighted_results
from privproof.language.values import plain, tails, text
from privproof.models import HiddenMarkovModel, MarkovChain
from privproof.models.parameter_conditions import ConditionRow, ConditionTable
from privproof.scenarios import fits
from privproof.scenarios.parametric_questions import ParametricPair, ParametricQuestion, UnderPriors
from privproof.scenarios.pufferfish_questions import PufferfishQuestion

_MOST_ROWS = 20_000
"""Data sets of a prior, or words with the states that they lead to: rows of a table of polynomials. More are refused."""
_MOST_RUNS = 2_000
"""Runs of the prior, and of the mechanism on each data set, in the comparison with the function itself."""


@dataclass(frozen=True)
class Compared:
    """What a question under priors compares.

    Attributes:
        question: the question.
        rows: the classes of data sets.
        named: the pairs of secrets that must not be told apart.
        secrets: the names of all secrets.
        relative: whether the weights are probabilities only up to a factor for each secret.
        shown: what the outputs stand for, where a mechanism writes them.
        sides: of a model, the two sides of every pair.
    """

    question: UnderPriors
    rows: tuple[ConditionRow, ...]
    named: tuple[tuple[str, str], ...]
    secrets: tuple[str, ...]
    relative: bool = False
    shown: Mapping[str, Any] = field(default_factory=dict)
    sides: tuple[ParametricPair, ...] = ()

    @property
    def region(self) -> ParameterRegion:
        """Where the unknown parameters range."""
        return self.question.unknowns

    @cached_property
    def impossible(self) -> tuple[str, ...]:
        """Secrets that no data set of the prior satisfies."""
        whole = ConditionTable(self.region, self.rows, ())
        return tuple(s for s in self.secrets if self.region.vanishes(whole.probability(s)))

    @cached_property
    def alike(self) -> tuple[tuple[str, str], ...]:
        """Pairs of secrets that hold on the same data sets of the prior, so that there is nothing to tell apart."""
        possible = [pair for pair in self.named if not set(pair) & set(self.impossible)]
        if self.sides:
            same = {named for named, pair in zip(self.named, self.sides, strict=True) if self._same(pair)}
            return tuple(pair for pair in possible if pair in same)
        rows = [set(row.secrets) for row in self.rows if not self.region.vanishes(row.weight)]
        return tuple((s, t) for s, t in possible if all((s in held) == (t in held) for held in rows))

    def _same(self, pair: ParametricPair) -> bool:
        """Whether both sides of a pair are the same distribution, each divided by its sum."""
        zero = Polynomial.constant(0, self.region.names)
        left, right = (sum(side.values(), zero) for side in (pair.left, pair.right))
        return all(
            self.region.vanishes(pair.left.get(state, zero) * right - pair.right.get(state, zero) * left)
            for state in {**pair.left, **pair.right}
        )

    @cached_property
    def table(self) -> ConditionTable:
        """The rows with the pairs of which both secrets are possible, and are not the same."""
        pairs = tuple(p for p in self.named if not set(p) & set(self.impossible) and p not in self.alike)
        return ConditionTable(self.region, self.rows, pairs, relative=self.relative)


@singledispatch
def secrets_table(question: UnderPriors) -> Compared:
    """The table of a question under priors with unknown parameters.

    Raises:
        LanguageError: the prior or the mechanism is outside the language, or infinite.
        ScenarioError: a secret or the query fails on a data set.
    """
    raise AssertionError(question)


@secrets_table.register
def _of_functions(question: PufferfishQuestion) -> Compared:
    data = data_sets(question.prior)
    names = list(question.secrets)
    shown: dict[str, list[tuple[Any, Rational]]] = {}
    grouped: dict[tuple[frozenset[str], str], tuple[Polynomial, str]] = {}
    zero = Polynomial.constant(0, question.prior.region.names)
    explorer = Explorer(question.mechanism.flow)
    for value, weight in data:
        held = frozenset(s for s in names if _asked(question.secrets[s], value, f"secrets.{s}"))
        arguments = _read(question, value)
        key = repr(arguments)
        if key not in shown:
            shown[key] = _outputs(question.mechanism, arguments, explorer)
        before, example = grouped.get((held, key), (zero, repr(value)))
        grouped[held, key] = (before + weight, example)
    outputs, values = named_rows(shown)
    rows = tuple(
        ConditionRow(weight, outputs[key], tuple(sorted(held)), example)
        for (held, key), (weight, example) in grouped.items()
    )
    return Compared(question, rows, question.pairs, tuple(names), shown=values)


def data_sets(prior: Prior) -> list[tuple[Any, Polynomial]]:
    """The data sets of a prior with their probabilities, polynomials in its unknown parameters."""
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


def run_again(
    question: PufferfishQuestion, pattern: Any, values: Mapping[str, Fraction], pair: tuple[str, str]
) -> tuple[list[tuple[Fraction, Fraction]], bool] | None:
    """Bounds on the probability of an output given each secret, by running the prior and the mechanism on all their choices.

    Returns:
        The bounds for both secrets, and whether all runs were made; None if there are too many data sets.
    """
    data, left_over = weighted_results(lambda: question.prior(**values), most=_MOST_RUNS)
    if left_over:
        return None
    seen: dict[str, tuple[Fraction, Fraction]] = {}
    chance = dict.fromkeys(pair, Fraction(0))
    joint = {secret: [Fraction(0), Fraction(0)] for secret in pair}
    whole = True
    for value, p in data:
        for secret in pair:
            if _asked(question.secrets[secret], value, f"secrets.{secret}"):
                arguments = _read(question, value)
                if repr(arguments) not in seen:
                    runs = runs_of(question.mechanism, arguments, most=_MOST_RUNS)
                    whole = whole and not runs.left_over
                    found = sum(
                        (q for run, q in runs.runs if fits(pattern, shown_by(question.mechanism, run))), Fraction(0)
                    )
                    seen[repr(arguments)] = (found, found + runs.left_over)
                low, high = seen[repr(arguments)]
                chance[secret] += p
                joint[secret][0] += p * low
                joint[secret][1] += p * high
    if not all(chance.values()):
        return None
    return [(joint[s][0] / chance[s], joint[s][1] / chance[s]) for s in pair], whole


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


def _outputs(mechanism: Mechanism, arguments: dict[str, Any], explorer: Explorer) -> list[tuple[Any, Rational]]:
    """The outputs on a data set; where there are public inputs, for each of their values by itself."""
    public = {n: i for n, i in mechanism.inputs.items() if i.public}
    if not public:
        return output_classes(mechanism, arguments, explorer)
    raise LanguageError(
        "input",
        f"{mechanism.name} has public inputs ({', '.join(public)})",
        place=mechanism.name,
        hint="make them parameters and ask for each value: mechanism.having(...)",
    )


@secrets_table.register
def _of_model(question: ParametricQuestion) -> Compared:
    """A row for every state of either side of a pair; an output is what is seen in the end.

    That is a word of the full length of the horizon, or a shorter one after which the run has halted.  What is seen after fewer letters
    is a function of it, so it need not be compared.
    """
    model = question.model.hidden() if isinstance(question.model, MarkovChain) else question.model
    length = question.horizon.high
    if length is None:
        raise QuestionError(
            "horizon", "unknown parameters need a bounded horizon", place="horizon", hint="horizon: 3, or up to 3"
        )
    seen: dict[str, dict[str, Rational]] = {}
    rows: list[ConditionRow] = []
    named = []
    for pair in question.pairs:
        sides = (f"{pair.name}: left", f"{pair.name}: right")
        named.append(sides)
        for secret, side in zip(sides, (pair.left, pair.right), strict=True):
            for state, weight in side.items():
                if state not in seen:
                    seen[state] = words_from(model, state, length)
                if not weight.is_zero:
                    rows.append(ConditionRow(weight, seen[state], (secret,), state))
    secrets = tuple(name for sides in named for name in sides)
    return Compared(question, tuple(rows), tuple(named), secrets, relative=True, sides=question.pairs)


def words_from(model: HiddenMarkovModel, state: str, length: int) -> dict[str, Rational]:
    """The distribution of what is seen from a state."""
    level: dict[tuple[str, tuple[str, ...]], Rational] = {(state, ()): ONE}
    result: dict[str, Rational] = {}
    for number in range(1, length + 1):
        shown: dict[tuple[str, tuple[str, ...]], Rational] = {}
        for (here, word), mass in level.items():
            for letter, p in model.emissions[here].items():
                key = (here, (*word, letter))
                shown[key] = shown.get(key, ZERO) + mass * p
        level = {}
        for (here, word), mass in shown.items():
            if number == length or model.halts(here):
                label = " ".join(word) + (" (halted)" if number < length else "")
                result[label] = result.get(label, ZERO) + mass
                continue
            for target, p in model.transitions[here].items():
                level[target, word] = level.get((target, word), ZERO) + mass * p
        if len(level) > _MOST_ROWS:
            raise QuestionError(
                "horizon",
                f"more than {_MOST_ROWS} words and states after {number} letters",
                place="horizon",
                hint="a shorter one",
            )
    return result
