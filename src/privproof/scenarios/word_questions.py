"""Scenarios and questions: a mechanism, the two situations that must look alike, the horizon and the budget."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, ClassVar, TypeAlias

from privproof.errors import ScenarioError
from privproof.exact import ONE, Budget, Number, Rational, log
from privproof.language.inputs import ADD_REMOVE
from privproof.models import Distribution, HiddenMarkovModel, Horizon, Letter, MarkovChain, Transducer
from privproof.models.finite_distributions import distribution
from privproof.scenarios.any_question import AnyQuestion, Family, no_such_pair
from privproof.scenarios.neighbours import Neighbours
from privproof.scenarios.output_origins import REVERSED, Origin
from privproof.scenarios.word_sets import Words

if TYPE_CHECKING:
    from privproof.language import Mechanism

Model: TypeAlias = "HiddenMarkovModel | MarkovChain | Transducer"


@dataclass(frozen=True)
class Pair:
    """Two initial distributions that must not be told apart; both directions are checked.

    Attributes:
        name: how messages call the pair.
        left: one initial distribution.
        right: the other.
        only: a restriction on words for this pair alone; it replaces the scenario's.
    """

    name: str
    left: Distribution
    right: Distribution
    only: str | None = None

    @classmethod
    def of(
        cls,
        model: Model,
        name: str,
        left: Mapping[str, Number],
        right: Mapping[str, Number],
        *,
        only: str | None = None,
    ) -> Pair:
        """A pair on the states of a model, checked."""
        known = frozenset(model.states)

        def side(entries: Mapping[str, Number], which: str) -> Distribution:
            return distribution(entries, among=known, what="state", place=f"pairs.{name}.{which}", error=ScenarioError)

        return cls(name, side(left, "left"), side(right, "right"), only)


@dataclass(frozen=True, kw_only=True)
class Scenario:
    """Which situations must look alike, and which words are compared."""

    pairs: tuple[Pair, ...] = ()
    neighbours: Neighbours | None = None
    words: Words = field(default_factory=Words)


@dataclass(frozen=True, kw_only=True)
class Question(AnyQuestion):
    """A mechanism, a scenario, a horizon, and a budget ("is it private?") or none ("how private is it?").

    Attributes:
        model: the mechanism.
        scenario: what must look alike.
        horizon: the lengths compared; None for the natural one (all there are).
        budget: the claim, if one is made.
        name: how reports call the mechanism.
        origin: the mechanism that the model was made from, if it was made from one.
        rate: on lists of every length, by how much the allowed ratio grows with every element: the claim is epsilon + n ln(rate).
    """

    family: ClassVar[Family] = "words"

    model: Model
    scenario: Scenario
    horizon: Horizon | None = None
    budget: Budget | None = None
    name: str = ""
    origin: Origin | None = None
    rate: Rational = ONE

    def grown(self, letters: Sequence[Letter]) -> Rational:
        """By how much the ratio of a word may be larger than e^epsilon."""
        return self.rate ** sum(letter.left is not None for letter in letters)

    @property
    def growth_words(self) -> str:
        """The part of the claim that grows with the list, to be followed by the rest; empty where none does."""
        return "" if self.rate == 1 else f"size*{log(self.rate)}"

    def __post_init__(self) -> None:
        relation = self.scenario.neighbours
        if isinstance(self.model, Transducer) and relation is not None and relation.kind == "add-remove":
            _refuse_one_more(self.model)

    def under(self, budget: Budget | None) -> Question:
        """The same question with another budget, which does not grow with the list."""
        return replace(self, budget=budget, rate=ONE)

    def growing(self, budget: Budget | None) -> Question:
        """The same question with another budget beside what grows with the list."""
        return replace(self, budget=budget)

    def lasting(self, horizon: Horizon, *, place: str = "horizon") -> Question:
        """The same question about words of other lengths."""
        return replace(self, horizon=horizon)

    def only(self, pair: str, *, place: str = "pair") -> Question:
        """The same question about one of its pairs alone."""
        chosen = [each for each in ordered_pairs(self) if each.name == pair]
        if not chosen:
            no_such_pair(pair, list(dict.fromkeys(each.name for each in ordered_pairs(self))))
        pairs = (replace(chosen[0]),)
        if isinstance(self.model, Transducer):
            return replace(self, scenario=replace(self.scenario, pairs=pairs))
        return replace(self, scenario=Scenario(pairs=pairs, words=self.scenario.words))

    def words(self, *, place: str) -> Question:
        """The question itself: it is about words."""
        return self

    @property
    def functions(self) -> tuple[Mechanism, ...]:
        """The mechanism that the model was made from, if it was made from one."""
        return () if self.origin is None else (self.origin.mechanism,)

    @property
    def of_every_length(self) -> bool:
        """Whether its model reads lists of every length."""
        return isinstance(self.model, Transducer) and self.model.of_every_length

    @property
    def list_size(self) -> int | None:
        """The length of the list that is fed to its model, one element a step; of lists of two lengths, the longer one."""
        if self.origin is not None and self.origin.fed is None and self.origin.mechanism.neighbours == ADD_REMOVE:
            data = [values for inputs in self.origin.inputs.values() for values in inputs.values()]
            return max((len(values) for values in data if isinstance(values, list)), default=None)
        fed = self.origin is not None and self.origin.fed is not None and self.origin.mechanism.stream is None
        if not fed or not isinstance(self.model, Transducer) or self.model.of_every_length:
            return None
        return len(self.model.steps)


def _refuse_one_more(model: Transducer) -> None:
    """Refuse a transducer for which a list with one element more means nothing.

    Raises:
        ScenarioError: it does not read lists of every length alike, or shows more than its output at the end.
    """
    branches = (b for step in model.steps for row in step.values() for listed in row.values() for b in listed)
    why = None
    if not model.of_every_length:
        why = "the mechanism reads lists of one length, or a stream"
    elif len(model.steps) > 1:
        why = "the steps of the mechanism differ, so that what an element does depends on its place"
    elif model.marks:
        why = "the mechanism shows the index of an element, and with one element more the indices differ"
    elif any(branch.output is not None for branch in branches):
        why = "the mechanism writes on the way"
    if why is not None:
        raise ScenarioError(
            "neighbours",
            f"one input is added or removed, but {why}",
            place="neighbours",
            hint="one step with repeats: true and finish",
        )


def ordered_pairs(question: Question) -> tuple[Pair, ...]:
    """Every ordered pair of initial distributions that must be compared: both directions of each.

    Raises:
        ScenarioError: there is nothing to compare.
    """
    model, scenario = question.model, question.scenario
    pairs = list(scenario.pairs)
    relation = scenario.neighbours
    if not isinstance(model, Transducer) and relation is not None:
        pairs += _neighbouring_states(model, relation)
    if isinstance(model, Transducer) and not pairs:
        if relation is None:
            raise ScenarioError(
                "empty-relation",
                "the scenario names no pairs and no neighbours, so there is nothing to compare",
                place="scenario",
                hint="scenario: {neighbours: {relation: each, within: 1}}",
            )
        pairs = [Pair("neighbours", model.initial, model.initial)]
    if not pairs:
        raise ScenarioError(
            "empty-relation",
            "the scenario compares nothing: no pair is named and no two states are neighbours",
            place="scenario",
            hint="scenario: {pairs: [{name: secret, left: {state1: 1}, right: {state2: 1}}]}",
        )
    if not isinstance(model, Transducer) and all(pair.left == pair.right for pair in pairs):
        raise ScenarioError(
            "empty-relation",
            "both sides of every pair are the same, so there is nothing to compare",
            place="scenario.pairs",
            hint="scenario: {pairs: [{name: secret, left: {state1: 1}, right: {state2: 1}}]}",
        )
    both: dict[tuple[object, ...], Pair] = {}
    for pair in pairs:
        turned = pair.name.removesuffix(REVERSED) if pair.name.endswith(REVERSED) else pair.name + REVERSED
        for one in (pair, Pair(turned, pair.right, pair.left, pair.only)):
            key = (tuple(sorted(one.left.items())), tuple(sorted(one.right.items())), one.only)
            both.setdefault(key, one)
    return tuple(both.values())


def _neighbouring_states(model: HiddenMarkovModel | MarkovChain, relation: Neighbours) -> list[Pair]:
    if relation.kind == "pairs":
        raise ScenarioError(
            "neighbours", "pairs of states are named under `pairs`", place="neighbours", hint="scenario: {pairs: [...]}"
        )
    if relation.coordinates is None:
        raise ScenarioError(
            "neighbours",
            "the relation does not say which data set a state stands for",
            place="neighbours.coordinates",
            hint="coordinates: {state1: [0, 1], state2: [1, 1]}",
        )
    names = list(relation.coordinates)
    found = [
        Pair.of(model, f"{left} ~ {right}", {left: 1}, {right: 1})
        for i, left in enumerate(names)
        for right in names[i + 1 :]
        if relation.related(relation.coordinates[left], relation.coordinates[right])
    ]
    if not found:
        raise ScenarioError(
            "empty-relation",
            f"no two states are neighbours when {relation}",
            place="neighbours",
            hint="widen the relation",
        )
    return found
