"""Situations in which something is seen on the way: words of observations, and inputs chosen by what was seen before.

A node is a point of a run as an observer sees it: both vectors (how likely each state is, together with what was seen) and the
number of letters so far.  An outcome may end there; otherwise the adversary chooses a pair of inputs and an output is seen.  For a
quantity F that adds up over outcomes (the hockey-stick divergence as a whole curve, the sum inside a Rényi divergence)

    F(node) = F(outcome that ends here) + max over pairs of inputs of the sum over outputs of F(next node),

so all strategies are covered without being listed.  F is homogeneous, and vectors that are multiples of each other are one node.
A hidden Markov model is the case without choices.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from math import gcd, lcm
from typing import TypeAlias, TypeVar

from flint import fmpq

from privproof.compiling import given_in_advance, word_problem
from privproof.errors import QuestionError
from privproof.exact import ONE, ZERO, Rational
from privproof.exact.rational_matrices import Matrix, Vector
from privproof.models import Branch, Edge, Horizon, Transducer, WordProblem
from privproof.models.halting import can_halt
from privproof.profiles.compared_situations import InputMove, Output, SeenOutcome, Situation, SituationComparison
from privproof.profiles.delta_curves import Curve, Likelihood, hull, middles, together, worst_of
from privproof.scenarios import Neighbours, Question

_MOST_NODES = 300_000
"""Points that runs can reach, over all letters; beyond, the question is refused with a hint to take a shorter horizon."""
_MOST_OUTCOMES = 200_000
"""The outcomes that one comparison lists; beyond, the question is refused with a hint to take a shorter horizon."""
_FEW = 5
"""So many values of e^epsilon are tried to find a comparison that alone is the whole envelope; then the search is given up."""

T = TypeVar("T")
Whole: TypeAlias = tuple[int, ...]


@dataclass(frozen=True)
class Choice:
    """A pair of inputs (or none to choose), and for every output a factor and the node it leads to, by number."""

    left: str | None
    right: str | None
    onward: tuple[tuple[str | None, Rational, int], ...]


@dataclass(frozen=True)
class GameNode:
    """A point of a run.

    Attributes:
        ended: the likelihood of the outcome that ends here, if one does.
        seen: the likelihoods of the single words that are compared here.
        choices: what may happen next.
    """

    ended: Likelihood | None
    seen: tuple[Likelihood, ...]
    choices: tuple[Choice, ...]


@dataclass(frozen=True, eq=False)
class Game:
    """All runs of a question, up to its horizon.

    Attributes:
        nodes: every node after all that lead to it.
        starts: for every ordered pair of initial distributions its name, a factor and its first node.
    """

    nodes: tuple[GameNode, ...]
    starts: tuple[tuple[str, Rational, int], ...]

    def values(
        self,
        ended: Callable[[Likelihood], T],
        total: Callable[[list[T]], T],
        best: Callable[[list[T]], T],
        scaled: Callable[[T, Rational], T],
    ) -> list[T]:
        """The value of every node, by the recursion in the module's docstring."""
        result: list[T] = [total([])] * len(self.nodes)
        for number in reversed(range(len(self.nodes))):
            node = self.nodes[number]
            parts = [] if node.ended is None else [ended(node.ended)]
            if node.choices:
                parts.append(
                    best([total([scaled(result[t], f) for _, f, t in choice.onward]) for choice in node.choices])
                )
            result[number] = total(parts)
        return result

    def value(
        self,
        ended: Callable[[Likelihood], T],
        total: Callable[[list[T]], T],
        best: Callable[[list[T]], T],
        scaled: Callable[[T, Rational], T],
    ) -> T:
        """The largest value of a start."""
        values = self.values(ended, total, best, scaled)
        return best([scaled(values[first], factor) for _, factor, first in self.starts])

    @property
    def envelope(self) -> Curve:
        """The curve above all strategies of all starts."""
        return self.value(lambda pair: Curve.of([pair]), together, worst_of, Curve.scaled)

    @property
    def single(self) -> Curve:
        """The curve above all single words."""
        result: list[Curve] = [Curve(())] * len(self.nodes)
        for number in reversed(range(len(self.nodes))):
            node = self.nodes[number]
            onward = (result[t].scaled(f).corners for choice in node.choices for _, f, t in choice.onward)
            result[number] = hull([*node.seen, *(corner for corners in onward for corner in corners)])
        return worst_of([result[first].scaled(factor) for _, factor, first in self.starts])

    def worst_at(self, c: Rational) -> SituationComparison:
        """The comparison of a best strategy at c; outcomes that are impossible on the left are left out."""
        values = self.values(
            lambda pair: max(ZERO, pair[0] - c * pair[1]),
            lambda parts: sum(parts, ZERO),
            max,
            lambda value, factor: value * factor,
        )
        name, factor, first = max(self.starts, key=lambda start: values[start[2]] * start[1])

        def chosen(node: GameNode) -> Choice:
            return max(node.choices, key=lambda choice: sum((values[t] * f for _, f, t in choice.onward), ZERO))

        outcomes: list[SeenOutcome] = []
        moves: list[InputMove] = []
        stack: list[tuple[int, Rational, Output]] = [(first, factor, ())]
        while stack:
            number, weight, word = stack.pop()
            node = self.nodes[number]
            if node.ended is not None:
                outcomes.append(SeenOutcome(word, node.ended[0] * weight, node.ended[1] * weight))
                if len(outcomes) > _MOST_OUTCOMES:
                    raise QuestionError(
                        "size", f"more than {_MOST_OUTCOMES} outcomes", place="horizon", hint="a shorter horizon"
                    )
            if node.choices:
                choice = chosen(node)
                if choice.left is not None and choice.right is not None:
                    moves.append(InputMove(word, choice.left, choice.right))
                stack.extend((t, weight * f, (*word, output)) for output, f, t in reversed(choice.onward))
        return SituationComparison(_situation(name, moves), tuple(outcomes))

    def attaining(self) -> SituationComparison | None:
        """A comparison that alone is the whole envelope, if a short search finds one."""
        envelope = self.envelope
        for c in middles(envelope)[:_FEW]:
            comparison = self.worst_at(c)
            if comparison.curve == envelope:
                return comparison
        return None


def _situation(name: str, moves: list[InputMove]) -> Situation:
    """The situation of a strategy; the inputs alone where they do not depend on what is seen."""
    steps: dict[int, set[tuple[str, str]]] = {}
    for move in moves:
        steps.setdefault(len(move.after), set()).add((move.left, move.right))
    if all(len(inputs) == 1 for inputs in steps.values()):
        fixed = [next(iter(steps[step])) for step in sorted(steps)]
        return Situation(name, tuple(left for left, _ in fixed), tuple(right for _, right in fixed))
    return Situation(name, moves=tuple(moves))


def game(question: Question) -> Game:
    """The game of a question with a bounded horizon.

    >>> from privproof.library.above_threshold import above_threshold
    >>> played = game(replace(above_threshold(), horizon=Horizon.up_to(3)))
    >>> played.envelope.epsilon().show()
    'ln(8) ≈ 2.07944'
    """
    asked = _shown_at_the_end(given_in_advance(question))
    ending = asked.scenario.words.ending
    if ending == "complete" or (ending == "any" and can_halt(asked.model)):
        words = replace(asked.scenario.words, ending="visible")
        asked = replace(asked, scenario=replace(asked.scenario, words=words))
    problem = word_problem(asked.under(None)).problem
    if problem.horizon.high is None:
        raise QuestionError(
            "horizon", "the horizon is unbounded, so outputs are never complete", place="horizon", hint="up to 5"
        )
    return _GameBuilder(problem, ending).game()


def _shown_at_the_end(question: Question) -> Question:
    """The same mechanism with its last output written by one more step, so that it may also write on the way."""
    model, relation = question.model, question.scenario.neighbours
    if not isinstance(model, Transducer) or model.finish is None:
        return question
    last = {
        state: {v: [Branch(p, state, output) for output, p in row.items()] for v in model.inputs}
        for state, row in model.finish.items()
    }
    longer = Transducer(
        states=model.states,
        inputs=model.inputs,
        outputs=model.outputs,
        initial=model.initial,
        steps=[*model.steps, last],
    )
    if relation is not None and relation.kind == "pairs":
        idle = model.inputs[0]
        relation = Neighbours.pairs(((*left, idle), (*right, idle)) for left, right in relation.listed)
    return replace(
        question,
        model=longer,
        scenario=replace(question.scenario, neighbours=relation),
        horizon=Horizon.exactly(len(longer.steps)),
    )


class _GameBuilder:
    """Builds the nodes level by level."""

    def __init__(self, problem: WordProblem, ending: str) -> None:
        assert problem.horizon.high is not None
        self.problem, self.length, self.ending = problem, problem.horizon.high, ending
        self.compared = {"any": ("any",), "complete": ("complete",), "visible": ("any", "complete")}[ending]
        self.nodes: list[GameNode] = []
        self.waiting: list[tuple[int, Whole, Whole]] = []
        self.numbers: dict[tuple[int, Whole, Whole], int] = {}
        self.groups = [_groups(place.edges) for place in problem.locations]

    def game(self) -> Game:
        starts = []
        for start in self.problem.starts:
            (left, right), scale = _on_common_denominator(start.left, start.right)
            factor, number = self._number(start.location, left, right)
            starts.append((start.name, factor / scale, number))
        level = 0
        while self.waiting:
            current, self.waiting, self.numbers = self.waiting, [], {}
            base = len(self.nodes) + len(current)
            for location, left, right in current:
                choices = tuple(self._choices(location, left, right, base)) if level < self.length else ()
                ended, seen = self._ends(location, left, right, level)
                self.nodes.append(GameNode(ended, seen, choices))
            if len(self.nodes) + len(self.waiting) > _MOST_NODES:
                raise QuestionError(
                    "size",
                    f"more than {_MOST_NODES} points of runs within {level + 1} letters",
                    place="horizon",
                    hint="a shorter horizon",
                )
            level += 1
        return Game(tuple(self.nodes), tuple(starts))

    def _number(self, location: int, left: Sequence[int], right: Sequence[int]) -> tuple[Rational, int]:
        """The factor and the place in its level of a node."""
        factor = gcd(*left, *right)
        key = (location, tuple(x // factor for x in left), tuple(x // factor for x in right))
        if key not in self.numbers:
            self.numbers[key] = len(self.waiting)
            self.waiting.append(key)
        return fmpq(factor), self.numbers[key]

    def _choices(self, location: int, left: Whole, right: Whole, base: int) -> Iterator[Choice]:
        known = set()
        for edges in self.groups[location]:
            onward = []
            for edge in edges:
                above = _after(left, edge.left)
                if any(above):
                    below = _after(right, edge.right)
                    scale = lcm(edge.left.denominator, edge.right.denominator)
                    above = [x * (scale // edge.left.denominator) for x in above]
                    below = [x * (scale // edge.right.denominator) for x in below]
                    factor, number = self._number(edge.target, above, below)
                    onward.append((edge.letter.output, factor / scale, base + number))
            if onward and tuple(onward) not in known:
                known.add(tuple(onward))
                yield Choice(edges[0].letter.left, edges[0].letter.right, tuple(onward))

    def _ends(
        self, location: int, left: Whole, right: Whole, level: int
    ) -> tuple[Likelihood | None, tuple[Likelihood, ...]]:
        place = self.problem.locations[location]
        masses = {f.name: (_mass(left, f.left), _mass(right, f.right)) for f in place.finals}
        seen: tuple[Likelihood, ...] = ()
        if level and self.problem.horizon.counts(level):
            seen = tuple(masses[name] for name in self.compared if name in masses)
        over = level == self.length or not place.edges
        if over and self.ending == "complete" and masses.get("any") != masses.get("complete"):
            raise QuestionError(
                "horizon",
                f"some runs have not ended after {level} letters, so their outputs are not complete",
                place="horizon",
                hint="a longer horizon, or ending: visible",
            )
        ended = masses.get("any" if over and "any" in masses else "complete")
        return (ended if ended is not None and ended[0] != 0 else None), seen


def _groups(edges: tuple[Edge, ...]) -> list[list[Edge]]:
    """The edges by the pair of inputs to choose, equal inputs first."""
    grouped: dict[tuple[str | None, str | None], list[Edge]] = {}
    for edge in edges:
        grouped.setdefault((edge.letter.left, edge.letter.right), []).append(edge)
    return sorted(grouped.values(), key=lambda group: group[0].letter.changed)


def _on_common_denominator(left: Vector, right: Vector) -> tuple[tuple[Whole, Whole], int]:
    scale = lcm(1, *(int(x.q) for x in (*left, *right)))
    one, other = (tuple(int(x.p) * (scale // int(x.q)) for x in side) for side in (left, right))
    return (one, other), scale


def _after(vector: Whole, matrix: Matrix) -> list[int]:
    result = [0] * matrix.columns
    for weight, row in zip(vector, matrix.integers, strict=True):
        if weight:
            for column, entry in row:
                result[column] += weight * entry
    return result


def _mass(vector: Whole, final: Vector) -> Rational:
    return sum((x * weight for x, weight in zip(vector, final, strict=True) if x), 0 * ONE)
