"""One corpus of questions with known answers: adding a case here tests every engine that supports it.

The library's examples and small variants of them, each with its largest ratio: a number, or INFINITE where some output
is possible on one side only.  `small` cases are also enumerated by brute force.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction

from privproof.compiling import mechanism_question
from privproof.language import Mechanism
from privproof.library import (
    above_threshold,
    above_threshold_two_copies,
    contagious,
    geometric,
    geometric_chain,
    mechanisms,
    noisy_max_hmm,
    noisy_max_question,
    satisfiability,
)
from privproof.models import HiddenMarkovModel, Horizon, Transducer
from privproof.scenarios import Neighbours, Pair, Question, Scenario, Words
from tests.brute import INFINITE


@dataclass(frozen=True)
class Case:
    """A question and its largest ratio.

    Attributes:
        name: the identifier of the tests on it.
        question: makes the question, without a budget.
        ratio: the largest ratio of all words compared.
        small: whether brute force can enumerate it.
        costly: engines for which the case takes too long here.
    """

    name: str
    question: Callable[[], Question]
    ratio: Fraction | str
    small: bool = True
    costly: tuple[str, ...] = ()


def _hidden(emissions, left, right, *, transitions=None, horizon=None, words=None) -> Question:
    symbols = list(dict.fromkeys(symbol for row in emissions.values() for symbol in row))
    model = HiddenMarkovModel(
        states=list(emissions), observations=symbols, emissions=emissions, transitions=transitions or {}
    )
    scenario = Scenario(pairs=(Pair.of(model, "pair", left, right),), words=words or Words())
    return Question(model=model, scenario=scenario, horizon=horizon or Horizon.exactly(1), name="case")


def randomised_response(horizon: Horizon) -> Question:
    """One secret bit reported again and again through randomised response with truth 3/4."""
    emissions = {"no": {"N": "3/4", "Y": "1/4"}, "yes": {"N": "1/4", "Y": "3/4"}}
    stay = {"no": {"no": 1}, "yes": {"yes": 1}}
    return _hidden(emissions, {"no": 1}, {"yes": 1}, transitions=stay, horizon=horizon)


def equal_sides() -> Question:
    """Two different states that show the same: every output is equally likely on both sides."""
    emissions = {"a": {"x": "1/3", "y": "2/3"}, "b": {"x": "1/3", "y": "2/3"}}
    moves = {"a": {"a": "1/2", "b": "1/2"}, "b": {"b": 1}}
    return _hidden(emissions, {"a": 1}, {"b": 1}, transitions=moves, horizon=Horizon.up_to(3))


def one_side() -> Question:
    """A mixture on the left, and on the right one state that shows the same."""
    emissions = {"a": {"x": "1/3", "y": "2/3"}, "b": {"x": "1/5", "y": "4/5"}, "c": {"x": "4/15", "y": "11/15"}}
    return _hidden(emissions, {"a": "1/2", "b": "1/2"}, {"c": 1}, horizon=Horizon.exactly(1))


def disjoint_supports() -> Question:
    """No output is possible on both sides."""
    return _hidden({"a": {"x": 1}, "b": {"y": 1}}, {"a": 1}, {"b": 1})


def impossible_later() -> Question:
    """Equal at first, told apart with certainty by the third letter."""
    emissions = {"a": {"x": 1}, "b": {"x": 1}, "end": {"y": 1}}
    moves = {"a": {"a": "1/2", "end": "1/2"}, "b": {"b": 1}, "end": {"end": 1}}
    return _hidden(emissions, {"a": 1}, {"b": 1}, transitions=moves, horizon=Horizon.up_to(3))


def restricted() -> Question:
    """Randomised response where only words without the answer yes are compared: the ratio is one-sided."""
    question = randomised_response(Horizon.exactly(2))
    return replace(question, scenario=replace(question.scenario, words=Words(only="N .")))


def survey(relation: Neighbours, horizon: Horizon) -> Question:
    """Randomised response to a stream of questions."""
    answers = {"0": [("1/4", "s", "Y"), ("3/4", "s", "N")], "1": [("3/4", "s", "Y"), ("1/4", "s", "N")]}
    model = Transducer(
        states=["s"], inputs=["0", "1"], outputs=["Y", "N"], initial={"s": 1}, steps=[{"s": answers}], repeats=True
    )
    return Question(model=model, scenario=Scenario(neighbours=relation), horizon=horizon, name="survey")


def leaky() -> Question:
    """A finite mechanism that writes 1 only if the input is 1."""
    model = Transducer(
        states=["s", "zero", "one"],
        inputs=["0", "1"],
        outputs=["0", "1"],
        initial={"s": 1},
        steps=[{"s": {"0": [(1, "zero")], "1": [("1/2", "zero"), ("1/2", "one")]}}],
        finish={"zero": {"0": 1}, "one": {"1": 1}},
    )
    return Question(model=model, scenario=Scenario(neighbours=Neighbours.one(within=1)), name="leaky")


def constant() -> Question:
    """A finite mechanism that ignores its two inputs."""
    step = {"s": {v: [("1/3", "s"), ("2/3", "t")] for v in "01"}, "t": {v: [(1, "t")] for v in "01"}}
    model = Transducer(
        states=["s", "t"],
        inputs=["0", "1"],
        outputs=["a", "b"],
        initial={"s": 1},
        steps=[step, step],
        finish={"s": {"a": 1}, "t": {"a": "1/2", "b": "1/2"}},
    )
    return Question(model=model, scenario=Scenario(neighbours=Neighbours.each(within=1)), name="constant")


def _listed_pairs() -> Question:
    question = noisy_max_question(2, improved=True)
    return replace(question, scenario=Scenario(neighbours=Neighbours.pairs([("11", "02"), ("00", "01")])))


def _noisy_max(size: int, relation: str, *, improved: bool) -> Callable[[], Question]:
    return lambda: noisy_max_question(size, improved=improved, relation=relation)


def _posed(mechanism: Mechanism, *, size: int | None = None) -> Callable[[], Question]:
    return lambda: mechanism_question(mechanism, size=size).under(None)


CASES: tuple[Case, ...] = (
    Case("geometric", geometric, Fraction(2)),
    Case("geometric-third", lambda: geometric(alpha="1/3", high=3), Fraction(3)),
    Case("geometric-chain", geometric_chain, Fraction(2)),
    Case("contagious", contagious, Fraction(4)),
    Case("contagious-four", lambda: contagious(high=4), Fraction(16)),
    Case("response-1", lambda: randomised_response(Horizon.exactly(1)), Fraction(3)),
    Case("response-up-to-4", lambda: randomised_response(Horizon.up_to(4)), Fraction(81)),
    Case("response-3", lambda: randomised_response(Horizon.exactly(3)), Fraction(27)),
    Case("equal-sides", equal_sides, Fraction(1)),
    Case("one-side", one_side, Fraction(1)),
    Case("disjoint", disjoint_supports, INFINITE),
    Case("impossible-later", impossible_later, INFINITE),
    Case("restricted", restricted, Fraction(9), small=False),
    Case("survey-one", lambda: survey(Neighbours.one(within=1), Horizon.up_to(3)), Fraction(3)),
    Case("survey-each", lambda: survey(Neighbours.each(within=1), Horizon.up_to(3)), Fraction(27)),
    Case("leaky", leaky, INFINITE),
    Case("constant", constant, Fraction(1)),
    Case("naive-2", _noisy_max(2, "each", improved=False), Fraction(4)),
    Case("naive-3", _noisy_max(3, "each", improved=False), Fraction(8)),
    Case("improved-2", _noisy_max(2, "each", improved=True), Fraction(12, 5)),
    Case("improved-3", _noisy_max(3, "each", improved=True), Fraction(24, 7), costly=("smt",)),
    Case("naive-3-one", _noisy_max(3, "one", improved=False), Fraction(2)),
    Case("improved-3-monotone", _noisy_max(3, "monotone", improved=True), Fraction(40, 21), costly=("smt",)),
    Case("listed-pairs", _listed_pairs, Fraction(12, 5), small=False),
    Case("naive-3-hmm", lambda: noisy_max_hmm(3, improved=False), Fraction(8), small=False, costly=("smt",)),
    Case("above-threshold-2", lambda: replace(above_threshold(), horizon=Horizon.up_to(2)), Fraction(4)),
    Case(
        "above-threshold-4",
        lambda: replace(above_threshold(), horizon=Horizon.up_to(4)),
        Fraction(16),
        small=False,
        costly=("smt",),
    ),
    Case(
        "two-copies-5",
        lambda: above_threshold_two_copies(horizon=Horizon.up_to(5)),
        Fraction(4),
        small=False,
        costly=("smt",),
    ),
    Case("satisfiable", lambda: satisfiability([[1, -2], [-1]]), Fraction(4), small=False),
    Case("unsatisfiable", lambda: satisfiability([[1], [-1]]), Fraction(13, 7), small=False),
    Case("plain-geometric-mechanism", _posed(mechanisms.plain_geometric), Fraction(2)),
    Case("bounded-geometric-mechanism", _posed(mechanisms.bounded_geometric), Fraction(2)),
    Case("noisy-count-mechanism", _posed(mechanisms.noisy_count, size=3), Fraction(2)),
    Case("naive-mechanism", _posed(mechanisms.naive_noisy_max, size=3), Fraction(8)),
    Case("improved-mechanism", _posed(mechanisms.improved_noisy_max, size=2), Fraction(12, 5)),
    Case("above-mechanism", _posed(mechanisms.discrete_above_threshold, size=2), Fraction(4)),
    Case("survey-mechanism", _posed(mechanisms.survey), Fraction(3)),
    Case("double-survey-mechanism", _posed(mechanisms.double_survey), Fraction(9)),
    Case("interactive-survey-mechanism", _posed(mechanisms.interactive_survey, size=2), Fraction(16), small=False),
    Case("exponential-mechanism", _posed(mechanisms.exponential_choice, size=2), Fraction(5, 2)),
    Case("permute-and-flip-mechanism", _posed(mechanisms.permute_and_flip, size=2), Fraction(4)),
    Case("rappor-mechanism", _posed(mechanisms.rappor), Fraction(9)),
    Case("subsampling-mechanism", _posed(mechanisms.subsampling_majority, size=2), INFINITE),
)
