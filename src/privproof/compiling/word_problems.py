"""A question about a finite model becomes a word problem.

For a hidden Markov model the letters are observations.  The first letter reads the emission of the initial state, every later one
a transition and an emission: ``diag(e_l)``, then ``T diag(e_l)``.  For a transducer a letter is (left input, right input, output);
the adversary chooses the inputs, so all neighbouring inputs are decided in one go.  The graph of locations carries what the
horizon does not: the restriction on words, the step, and the memory of the neighbour relation (has the one change happened? in
which direction do inputs move?).  Where one list has an element more, one letter is read by one side alone, and the other side stays as
it is.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

from privproof.compiling.lumping import Classes, lump
from privproof.errors import PrivproofError, QuestionError, ScenarioError
from privproof.exact import ONE, ZERO, Rational, rational
from privproof.exact.patience import pause
from privproof.exact.rational_matrices import Matrix
from privproof.models import (
    Distribution,
    Edge,
    Final,
    HiddenMarkovModel,
    Horizon,
    Letter,
    Location,
    MarkovChain,
    ProblemStart,
    Transducer,
    WordProblem,
    longest_word,
)
from privproof.models.graph_algorithms import reachable
from privproof.scenarios import Neighbours, Pair, Question, Words, automaton, ordered_pairs


@dataclass(frozen=True)
class Begin:
    """What a start stands for: an ordered pair, and the output in which its words end where one is written at the end."""

    pair: Pair
    finish: str | None = None


@dataclass(frozen=True)
class Compiled:
    """A word problem with its way back to the model.

    Attributes:
        question: the question.
        problem: the word problem, lumped, its horizon resolved.
        begins: what each start of the problem stands for.
        left: for every location and model state the coordinate of the left vector (None: the state does not count there);
            at the end, where only the mass is left, one coordinate.
        right: the same for the right vector.
        notes: what the reader of a verdict must know.
    """

    question: Question
    problem: WordProblem
    begins: tuple[Begin, ...]
    left: tuple[Classes, ...]
    right: tuple[Classes, ...]
    notes: tuple[str, ...] = ()


def word_problem(question: Question, *, together: bool = False, alike: bool = False) -> Compiled:
    """The word problem that a question about a finite model poses, both directions of every pair included.

    Args:
        question: the question.
        together: where an output is written at the end: whether all outputs belong to one start, as sums over outcomes need it.
            Otherwise every output has a start of its own.
        alike: whether both sides may start alike everywhere, so that nothing is compared; otherwise such a question is refused.

    >>> from privproof.models import HiddenMarkovModel
    >>> from privproof.scenarios import Pair, Scenario
    >>> coin = HiddenMarkovModel(states=["a", "b"], observations=["0", "1"],
    ...     emissions={"a": {"0": "2/3", "1": "1/3"}, "b": {"0": "1/3", "1": "2/3"}})
    >>> scenario = Scenario(pairs=(Pair.of(coin, "secret", {"a": 1}, {"b": 1}),))
    >>> problem = word_problem(Question(model=coin, scenario=scenario)).problem
    >>> str(problem.horizon), problem.word(0, (Letter("0"),)).ratio
    ('1', 2)
    """
    model = question.model
    if isinstance(model, Transducer):
        if not alike:
            refuse_equal_sides(question, model, ordered_pairs(question))
        raw = _transducer(question, model, together=together)
    else:
        raw = _hidden(question, model.hidden() if isinstance(model, MarkovChain) else model)
    lumped = lump(_with_horizon(question, raw.problem))
    left, right = _composed(raw, lumped.left), _composed(raw, lumped.right)
    before = sum(place.left_size for place in raw.problem.locations)
    after = sum(place.left_size for place in lumped.problem.locations)
    notes = raw.notes if after == before else (*raw.notes, f"lumping: {before} coordinates became {after}")
    return Compiled(question, lumped.problem, raw.begins, left, right, notes)


@dataclass(frozen=True)
class _Raw:
    """A word problem before lumping; `origins` names the model's state (its index) behind each coordinate of a location."""

    problem: WordProblem
    begins: tuple[Begin, ...]
    origins: tuple[tuple[int, ...], ...]
    size: int
    notes: tuple[str, ...] = ()


def _composed(raw: _Raw, classes: tuple[Classes, ...]) -> tuple[Classes, ...]:
    """From model states through coordinates to classes."""
    result = []
    for origin, here in zip(raw.origins, classes, strict=True):
        if not origin:
            result.append(here)
            continue
        whole: list[int | None] = [None] * raw.size
        for coordinate, state in enumerate(origin):
            whole[state] = here[coordinate]
        result.append(tuple(whole))
    return tuple(result)


def _with_horizon(question: Question, problem: WordProblem) -> WordProblem:
    model, wanted = question.model, question.horizon
    if isinstance(model, Transducer) and model.of_every_length:
        if wanted is not None and wanted.high is not None:
            raise QuestionError(
                "horizon", "lists of every length are asked about", place="horizon", hint="leave the horizon out"
            )
        return problem
    if isinstance(model, Transducer) and model.finish is not None:
        length = len(model.steps) + 1
        if wanted is not None and wanted.high is not None and wanted != Horizon.exactly(length):
            raise QuestionError(
                "horizon",
                f"the mechanism ends after {length} letters, so the horizon {wanted} does not fit",
                place="horizon",
                hint="leave the horizon out",
            )
        return replace(problem, horizon=Horizon.exactly(length))
    if wanted is not None and wanted.high is not None:
        return replace(problem, horizon=wanted)
    longest = longest_word(problem)
    if longest is None:
        return replace(problem, horizon=Horizon.unbounded())
    return replace(problem, horizon=Horizon.up_to(max(longest, 1)))


def _vector(entries: Distribution, states: tuple[str, ...]) -> tuple[Rational, ...]:
    return tuple(entries.get(state, ZERO) for state in states)


def _hidden(question: Question, model: HiddenMarkovModel) -> _Raw:
    states = model.states
    index = {state: i for i, state in enumerate(states)}
    chain = Matrix.of(len(states), ({index[t]: p for t, p in model.transitions.get(s, {}).items()} for s in states))
    shows = {o: tuple(model.emissions[s].get(o, ZERO) for s in states) for o in model.observations}
    first = {o: Matrix.diagonal(column) for o, column in shows.items()}
    later = {o: chain.scaled_columns(column) for o, column in shows.items()}
    words = question.scenario.words
    finals = _finals(words, tuple(model.halts(state) for state in states))
    pairs = ordered_pairs(question)
    locations: list[Location] = []
    beginnings: dict[str | None, int] = {}
    for only in dict.fromkeys(pair.only for pair in pairs):
        graph = automaton(replace(words, only=only if only is not None else words.only), model.observations)
        size, offset = len(graph.moves), len(locations)
        beginnings[only] = offset
        for phase, matrices in ((0, first), (1, later)):
            for number, moves in enumerate(graph.moves):
                edges = tuple(
                    Edge(Letter(symbol), offset + size + target, matrices[symbol], matrices[symbol])
                    for symbol, target in moves.items()
                    if not matrices[symbol].is_zero
                )
                ends = finals if phase and number in graph.accepting else ()
                locations.append(Location(len(states), len(states), edges, ends))
    starts = tuple(
        ProblemStart(pair.name, beginnings[pair.only], _vector(pair.left, states), _vector(pair.right, states))
        for pair in pairs
    )
    problem = WordProblem(tuple(locations), starts, Horizon.unbounded(), common=True)
    origins = (tuple(range(len(states))),) * len(_reachable(problem))
    begins = tuple(Begin(pair) for pair in pairs)
    return _Raw(_trimmed(problem), begins, origins, len(states), _halting_notes(question, model))


def _finals(words: Words, halted: tuple[bool, ...]) -> tuple[Final, ...]:
    everything = (ONE,) * len(halted)
    stopped = tuple(ONE if h else ZERO for h in halted)
    return {
        "any": (Final("any", everything, everything),),
        "complete": (Final("complete", stopped, stopped),),
        "visible": (Final("any", everything, everything), Final("complete", stopped, stopped)),
    }[words.ending]


def _halting_notes(question: Question, model: HiddenMarkovModel) -> tuple[str, ...]:
    horizon = question.horizon
    one_step = horizon is not None and horizon.high == 1
    if question.scenario.words.ending != "any" or one_step or not model.transitions:
        return ()
    halting = {o for s in model.states if model.halts(s) for o in model.emissions[s]}
    going_on = {o for s in model.states if not model.halts(s) for o in model.emissions[s]}
    if halting & going_on:
        return (
            "words are compared as prefixes: that a run has halted is not itself observed "
            "(scenario: {words: {ending: visible}} compares halting too)",
        )
    return ()


def _reachable(problem: WordProblem) -> list[int]:
    starts = {start.location for start in problem.starts}
    return sorted(reachable(starts, lambda location: [edge.target for edge in problem.locations[location].edges]))


def _trimmed(problem: WordProblem) -> WordProblem:
    """Only the locations that a start can reach."""
    kept = _reachable(problem)
    number = {old: new for new, old in enumerate(kept)}
    locations = tuple(
        replace(
            problem.locations[old],
            edges=tuple(replace(edge, target=number[edge.target]) for edge in problem.locations[old].edges),
        )
        for old in kept
    )
    return replace(
        problem, locations=locations, starts=tuple(replace(s, location=number[s.location]) for s in problem.starts)
    )


Memory: TypeAlias = Hashable
Inputs: TypeAlias = "tuple[str | None, str | None, Memory]"
Choices: TypeAlias = Callable[[int, Memory], Iterator[Inputs]]
"""From (step, memory) to the pairs of inputs that may come next (None: nothing is read), each with the memory afterwards."""


def _transducer(question: Question, model: Transducer, *, together: bool) -> _Raw:
    words = question.scenario.words
    if words.only is not None or words.without or any(pair.only for pair in question.scenario.pairs):
        raise ScenarioError(
            "words",
            "a transducer's words cannot be restricted by outputs",
            place="words",
            hint="only `ending` applies here",
        )
    builder = _Builder(question, model, together=together)
    begins = [Begin(pair, output) for pair in builder.pairs for output in builder.finishes]
    starts = []
    for begin in begins:
        location = builder.location((0, builder.memory, begin.finish, 0))
        left, right = (_on(side, model, builder.supports[0, 0]) for side in (begin.pair.left, begin.pair.right))
        starts.append(ProblemStart(begin.pair.name, location, left, right))
    builder.build()
    numbers = range(len(builder.numbers))
    problem = WordProblem(tuple(builder.locations[i] for i in numbers), tuple(starts), Horizon.unbounded())
    notes = _OPEN if model.of_every_length and question.origin is not None else ()
    return _Raw(problem, tuple(begins), tuple(builder.origins[i] for i in numbers), len(model.states), notes)


_OPEN = (
    "the loop over the list is followed once, for lists of every length, the empty one included; --size 3: lists of 3",
)
"""What is said of a mechanism on lists of every length."""


_Node: TypeAlias = "tuple[int, Memory, str | None, int]"
"""A step, the memory of the neighbour relation, the output in which the words end (None: any), and how many inputs were marked."""


class _Builder:
    """Builds the locations of a transducer's problem from the starts on.

    Where an output is written at the end, each output has locations of its own: with the end in view, far more states are alike.
    """

    def __init__(self, question: Question, model: Transducer, *, together: bool) -> None:
        self.model = model
        self.words = question.scenario.words
        self.pairs = ordered_pairs(question)
        relation = question.scenario.neighbours
        self.memory, self.choices = input_choices(relation, model)
        self.lengths_differ = relation is not None and relation.kind == "add-remove"
        self.supports = _supports(model, self.pairs)
        self.finishes: tuple[str | None, ...] = (None,)
        if model.finish is not None and not together:
            ending = {output for row in model.finish.values() for output in row}
            self.finishes = tuple(output for output in model.outputs if output in ending)
        if model.marks:
            self.finishes = tuple(model.foretold)
        self.marked = {name: marked for marked, name in model.marks.items()}
        self.numbers: dict[_Node, int] = {}
        self.waiting: list[_Node] = []
        self.locations: dict[int, Location] = {}
        self.origins: dict[int, tuple[int, ...]] = {}
        self.matrices: dict[tuple[int, int, str], dict[str | None, Matrix]] = {}
        self.rate = question.rate
        self.grown: dict[int, Matrix] = {}
        if self.rate <= 0 or (self.rate != 1 and (self.lengths_differ or not model.of_every_length)):
            raise QuestionError(
                "rate",
                "a claim grows with lists of every length, the same on both sides, and with a rate above 0",
                place="rate",
                hint="rate: 2",
            )

    def location(self, node: _Node) -> int:
        """The number of a node; a new one waits to be built."""
        if node not in self.numbers:
            self.numbers[node] = len(self.numbers)
            self.waiting.append(node)
        return self.numbers[node]

    def build(self) -> None:
        """Build every location that waits."""
        ended = len(self.model.steps) + 1
        while self.waiting:
            pause()
            node = self.waiting.pop()
            step, memory, output, seen = node
            number = self.numbers[node]
            if step == ended:
                self.locations[number] = Location(1, 1, (), (Final("any", (ONE,), (ONE,)),))
                self.origins[number] = ()
                continue
            support = self.supports[step, seen]
            edges: tuple[Edge, ...] = ()
            if self.model.step(step) is not None:
                edges = tuple(self._edges(node))
            ending = not self.lengths_differ or memory == 1  # before, the two lists are the same
            if ending and self.model.finish is not None and (self.model.repeats or self.model.step(step) is None):
                end = self.location((ended, None, None, 0))
                shown = self.model.outputs if output is None else (output,)
                ends = (edge for o in shown for edge in _finishing(self.model, support, o, end))
                edges = edges if seen < self._needed(output) else (*edges, *ends)
            self.origins[number] = support
            finals = _stream_finals(self.model, self.words, step, support)
            self.locations[number] = Location(len(support), len(support), edges, finals)

    def _needed(self, output: str | None) -> int:
        """How many inputs are marked in the words that end in an output."""
        return 0 if output is None else self.model.foretold.get(output, 0)

    def _edges(self, node: _Node) -> Iterator[Edge]:
        step, memory, output, seen = node
        onward = min(step + 1, len(self.model.steps) - int(self.model.repeats))
        for left, right, after in self.choices(step, memory):
            yield from self._letters(step, seen, left, right, self.location((onward, after, output, seen)), seen)
            if seen < self._needed(output) and left is not None and right is not None:
                target = self.location((onward, after, output, seen + 1))
                yield from self._letters(step, seen, self.marked[left], self.marked[right], target, seen + 1)

    def _letters(
        self, step: int, seen: int, left: str | None, right: str | None, target: int, after: int
    ) -> Iterator[Edge]:
        """The edges of two inputs, one for every output that is written."""
        other = self._matrices(step, seen, right, after)
        for written, matrix in self._matrices(step, seen, left, after).items():
            empty = Matrix.of(matrix.columns, ({} for _ in matrix.rows))
            yield Edge(Letter(written, left, right), target, matrix, self._scaled(other.get(written, empty)))

    def _scaled(self, matrix: Matrix) -> Matrix:
        """A matrix of the right side times the rate at which the claim grows."""
        if self.rate == 1:
            return matrix
        if id(matrix) not in self.grown:
            self.grown[id(matrix)] = matrix.scaled_columns((self.rate,) * matrix.columns)
        return self.grown[id(matrix)]

    def _matrices(self, step: int, seen: int, symbol: str | None, after: int) -> dict[str | None, Matrix]:
        if symbol is None:  # nothing is read
            return {None: Matrix.diagonal([ONE] * len(self.supports[step, seen]))}
        if (step, seen, symbol) not in self.matrices:
            targets = self.supports[min(step + 1, len(self.model.steps) - int(self.model.repeats)), after]
            self.matrices[step, seen, symbol] = _matrices(self.model, step, symbol, self.supports[step, seen], targets)
        return self.matrices[step, seen, symbol]


def _on(entries: Distribution, model: Transducer, support: tuple[int, ...]) -> tuple[Rational, ...]:
    return tuple(entries.get(model.states[i], ZERO) for i in support)


def _supports(model: Transducer, pairs: tuple[Pair, ...]) -> dict[tuple[int, int], tuple[int, ...]]:
    """Which states can be occupied before each step when so many inputs were marked, as indices."""
    index = {state: i for i, state in enumerate(model.states)}
    last = len(model.steps) - int(model.repeats)
    most = max(model.foretold.values(), default=0)
    found: dict[tuple[int, int], set[str]] = {(0, 0): {state for pair in pairs for state in (*pair.left, *pair.right)}}
    waiting = [(0, 0)]
    while waiting:
        number, seen = waiting.pop()
        here, step = found[number, seen], model.step(number)
        if step is None:
            continue
        for more in range(1 + (seen < most)):
            symbols = [symbol for symbol in model.inputs if (symbol in model.marks) == bool(more)]
            onward = {b.target for s in here if s in step for symbol in symbols for b in step[s][symbol]}
            place = (min(number + 1, last), seen + more)
            if place not in found or not onward <= found[place]:
                found[place] = found.get(place, set()) | onward
                waiting.append(place)
    return {place: tuple(sorted(index[s] for s in states)) for place, states in found.items()}


def _matrices(
    model: Transducer, step: int, symbol: str, sources: tuple[int, ...], targets: tuple[int, ...]
) -> dict[str | None, Matrix]:
    """For every output the matrix of one step under one input."""
    table = model.step(step)
    assert table is not None
    column = {model.states[i]: j for j, i in enumerate(targets)}
    rows: dict[str | None, list[dict[int, Rational]]] = {}
    for number, i in enumerate(sources):
        for branch in table.get(model.states[i], {}).get(symbol, ()):
            listed = rows.setdefault(branch.output, [{} for _ in sources])
            j = column[branch.target]
            listed[number][j] = listed[number].get(j, ZERO) + branch.probability
    return {output: Matrix.of(len(targets), listed) for output, listed in rows.items()}


def _finishing(model: Transducer, support: tuple[int, ...], output: str, end: int) -> Iterator[Edge]:
    assert model.finish is not None
    column = Matrix.of(1, ({0: model.finish[model.states[i]].get(output, ZERO)} for i in support))
    if not column.is_zero:
        yield Edge(Letter(output), end, column, column)


def _stream_finals(model: Transducer, words: Words, step: int, support: tuple[int, ...]) -> tuple[Final, ...]:
    if model.finish is not None:
        return ()
    table = model.step(step)
    return _finals(words, tuple(table is None or model.states[i] not in table for i in support))


def input_choices(relation: Neighbours | None, model: Transducer) -> tuple[Memory, Choices]:
    """The memory a relation starts with, and its choices."""
    if relation is None:
        return 0, lambda step, memory: ((v, v, 0) for v in model.data)
    if relation.kind == "pairs":
        return _listed_choices(relation, model)
    if relation.kind == "add-remove":
        return 0, _one_more(model)
    numbers = _numbers(model) if relation.kind == "monotone" else {}

    near = near_inputs(relation, model)

    def choices(step: int, memory: Memory) -> Iterator[Inputs]:
        for v, w in near:
            if v == w or relation.kind == "each":
                yield v, w, memory
            elif relation.kind == "one":
                if memory == 0:
                    yield v, w, 1
            else:
                direction = (numbers[v] < numbers[w]) - (numbers[v] > numbers[w])
                if direction == 0 or memory in (0, direction):
                    yield v, w, direction or memory

    return 0, choices


def _one_more(model: Transducer) -> Choices:
    """The choices where one list has one element more: once, one side reads it and the other one nothing."""

    def choices(step: int, memory: Memory) -> Iterator[Inputs]:
        yield from ((v, v, memory) for v in model.data)
        if memory == 0:
            yield from ((v, None, 1) for v in model.data)
            yield from ((None, v, 1) for v in model.data)

    return choices


def refuse_equal_sides(question: Question, model: Transducer, pairs: Sequence[Pair]) -> None:
    """Refuse a question about a transducer in which both sides start alike and read the same inputs.

    Raises:
        ScenarioError: nothing is compared.
    """
    relation = question.scenario.neighbours
    if relation is None or relation.kind == "pairs":
        alike = relation is None or all(left == right for left, right in relation.listed)
        if alike and all(pair.left == pair.right for pair in pairs):
            raise ScenarioError(
                "empty-relation",
                "both sides start alike and read the same inputs, so there is nothing to compare",
                place="scenario",
                hint="scenario: {neighbours: {relation: each, within: 1}}",
            )
    elif relation.kind != "add-remove" and len(near_inputs(relation, model)) == len(model.data):
        raise ScenarioError(
            "empty-relation",
            f"no two inputs are neighbours when {relation}",
            place="neighbours",
            hint="widen the relation, or give the input more than one value",
        )


def near_inputs(relation: Neighbours, model: Transducer) -> list[tuple[str, str]]:
    """The pairs of inputs that neighbours may read in a step (the only one, where pairs are listed), equal ones included."""
    equal = [(v, v) for v in model.data]
    if relation.kind == "pairs":
        listed = [(x[0], y[0]) for x, y in relation.listed]
        return [*equal, *dict.fromkeys(side for v, w in listed for side in ((v, w), (w, v)) if v != w)]
    if relation.within is None:
        return [(v, w) for v in model.data for w in model.data]
    numbers = _numbers(model)
    ordered = sorted(model.data, key=lambda name: numbers[name])
    result = []
    first = 0
    for v in ordered:
        while numbers[v] - numbers[ordered[first]] > relation.within:
            first += 1
        for w in ordered[first:]:
            if numbers[w] - numbers[v] > relation.within:
                break
            result.append((v, w))
    return result


def _listed_choices(relation: Neighbours, model: Transducer) -> tuple[Memory, Choices]:
    listed = [pair for left, right in relation.listed for pair in ((left, right), (right, left))]
    for left, right in listed:
        for name in (*left, *right):
            if name not in model.inputs:
                raise ScenarioError("unknown-name", f"unknown input {name!r}", place="neighbours.pairs")
        if model.finish is not None and len(left) != len(model.steps):
            raise ScenarioError(
                "neighbours",
                f"{left} has {len(left)} inputs, the mechanism reads {len(model.steps)}",
                place="neighbours.pairs",
                hint="give one input a step",
            )
    sequences = [tuple(zip(left, right, strict=True)) for left, right in listed]

    def choices(step: int, memory: Memory) -> Iterator[Inputs]:
        assert isinstance(memory, tuple)
        for letter in dict.fromkeys(
            s[len(memory)] for s in sequences if len(s) > len(memory) and s[: len(memory)] == memory
        ):
            yield letter[0], letter[1], (*memory, letter)

    return (), choices


def _numbers(model: Transducer) -> dict[str, Rational]:
    numbers: dict[str, Rational] = {}
    for name in model.data:
        try:
            numbers[name] = rational(name)
        except PrivproofError:
            raise ScenarioError(
                "neighbours",
                f"the input {name!r} is not a number, so it has no distance to the others",
                place="inputs",
                hint="name inputs by numbers, or use within: any",
            ) from None
    return numbers
