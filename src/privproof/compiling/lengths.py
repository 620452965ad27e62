"""Lists of every length: the loop over a list is followed once, whatever the length, and the output is written where the list ends.

The list is an `OpenList`, its counter a `Turn`: a run goes on until it asks for the next element, or whether there is one.  Then it
rests, and is given an element or the end.  If it rests in finitely many states, this is a transducer that repeats its step, with the law
of the output at the end of the list in every state (``P(o | x1 ... xn) = a M_x1 ... M_xn f_o``).

A run that asks for the length, or for one of the first elements, before it has read so many rests as well; what it is given then is kept
*ahead* of the loop, which takes from there first.  So an element is given once, and every run is the run of the mechanism, only paused.

An index that is returned is *foretold* by marks: a marked element is one whose index counts as known (see `indices`).  How many marks are
needed, and as far as which index is known exactly, is found by trying: what is compared with an index or with the length, and the
constants that are returned where an index may be, say it.

A list that is filled in the loop and returned is written on the way (see `writing`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from types import MappingProxyType
from typing import Any, TypeAlias

from privproof.compiling.counters import counting, loop_counters, other_names, own_counters, reading_on
from privproof.compiling.exploring import ExplorationState, Explorer, Rest
from privproof.compiling.outputs import Path, Symbols, borders, leaves, named_rows, several
from privproof.compiling.steps import input_names
from privproof.compiling.writing import output_tokens, refuse_ambiguous, writing, written_list, yielding
from privproof.errors import LanguageError
from privproof.exact import ONE, ZERO, Rational
from privproof.language.flow import flow
from privproof.language.indices import (
    Early,
    Foretold,
    Index,
    Length,
    OpenList,
    Turn,
    Wanting,
    WantingLength,
)
from privproof.language.inputs import Input
from privproof.language.syntax import Block, Emit
from privproof.language.values import Tail, holds_written, indices, text, with_indices, with_written
from privproof.models import Branch, Transducer
from privproof.scenarios import whole_output

_MOST_STATES = 1_000
"""States between two elements; with more of them a counter or a list is taken to grow with the length, and a size is asked for."""
_MOST_MOVES = 30_000
"""States times values of an element: each is a run that is followed through all its random choices."""
_MOST_HELD, _LONG = 20_000, 200
"""Parts of the values of all states together, where one has many: a list that grows makes each state longer than the one before."""
_MOST_RESUMED = 5_000
"""Runs that are resumed with an element kept ahead of the loop: with many such elements each state has as many as they have outcomes."""
_LATEST = 24
"""The largest index that is known exactly: every one of them multiplies the states."""
_MOST_MARKS = 2
"""Indices in one output: each multiplies the locations of the problem."""
MARK = "*"
"""What the name of a marked input ends in."""

Node: TypeAlias = "tuple[int, Rest]"
"""How many elements were marked, and where the run rests."""
Outcome: TypeAlias = "tuple[Rational, Node, tuple[Any, ...] | None]"
"""Where an element leads: the probability, the node, and what is written (None: nothing)."""


@dataclass(frozen=True)
class OpenModel:
    """A mechanism on lists of every length.

    Attributes:
        model: the transducer.
        begins: for every value of the public inputs how it begins.
        inputs: what the inputs of the model stand for.
        outputs: what its outputs stand for; an index that is foretold is a `Foretold`.
    """

    model: Transducer
    begins: Sequence[Mapping[str, Rational]]
    inputs: Mapping[str, Any]
    outputs: Mapping[str, Any]


def open_model(
    body: Block,
    lists: Sequence[str],
    given: Sequence[str],
    fed: str,
    declared: Input,
    stores: Sequence[Mapping[str, Any]],
    state_name: Callable[[Explorer, Rest], str],
    *,
    generator: bool = False,
) -> OpenModel:
    """The transducer of a mechanism on lists of every length.

    Args:
        body: its statements.
        lists: the inputs that are lists.
        given: the variables that have a value at the beginning.
        fed: the list.
        declared: its declaration.
        stores: for every value of the public inputs the variables with their values, without the list.
        state_name: how a state is called.
        generator: whether it yields its outputs.

    Raises:
        LanguageError: the loop does not allow it; the message says why and where.
    """
    names, counters = other_names(body, fed), loop_counters(body, fed)
    listed = None if generator else written_list(body, fed)
    shown = yielding(body) if generator else body if listed is None else writing(body, listed)
    problem: LanguageError | None = None
    for chosen in dict.fromkeys((counters, counters | own_counters(body))):
        explorer = Explorer(flow(counting(shown, fed, chosen), lists, given=given))
        try:
            return _adapted(explorer, names, fed, declared, stores, state_name)
        except LanguageError as found:
            problem = problem or found
    assert problem is not None
    raise problem


def _adapted(
    explorer: Explorer,
    names: frozenset[str],
    fed: str,
    declared: Input,
    stores: Sequence[Mapping[str, Any]],
    state_name: Callable[[Explorer, Rest], str],
) -> OpenModel:
    """The model with as many marks, and as many indices known exactly, as it turns out to need."""
    known, marks = -1, 0
    while True:
        search = TurnSearch(explorer, names, fed, declared, known, marks)
        try:
            search.explore(stores)
            needed = search.marks_needed()
        except Early as early:
            known = max(known + 1, early.number)
            if known > _LATEST:
                raise LanguageError(
                    "length",
                    f"an index, or the length, is compared with {early.number}, beyond {_LATEST}",
                    hint="--size 3",
                ) from None
            continue
        if needed <= marks:
            return search.made(state_name)
        if needed > _MOST_MARKS:
            raise LanguageError("length", f"an output has {needed} indices, more than {_MOST_MARKS}", hint="--size 3")
        marks = needed


class TurnSearch:
    """The states between two elements, and where an element leads from each.

    Args:
        explorer: runs the mechanism.
        names: the variables that may stand for the list.
        fed: the list.
        declared: its declaration.
        known: the largest index that is known exactly.
        marks: how many elements are foretold.
    """

    def __init__(
        self, explorer: Explorer, names: frozenset[str], fed: str, declared: Input, known: int, marks: int
    ) -> None:
        self.explorer, self.fed, self.declared = explorer, fed, declared
        self.known, self.marks = known, marks
        self.reading = reading_on(explorer.flow, names)
        self.begins: list[dict[Node, Rational]] = []
        self.moves: dict[Node, dict[tuple[Any, bool], list[Outcome]]] = {}
        self.ends: dict[Node, list[tuple[Any, Rational]]] = {}
        self.writes = any(isinstance(step, Emit) for step in explorer.flow.code)
        self.kept_ahead = False
        self.resumed = 0
        self.held = 0

    def explore(self, stores: Sequence[Mapping[str, Any]]) -> None:
        """Follow the loop from every beginning until nothing is new."""
        assert self.declared.values is not None
        letters = [
            (value, marked) for marked in ((False, True) if self.marks else (False,)) for value in self.declared.values
        ]
        for store in stores:
            state = self.explorer.state(0, {**store, self.fed: OpenList(begun=False, beyond=self.known)})
            self.begins.append({(0, rest): p for rest, p in self.explorer.settle(state).items()})
        waiting = list(dict.fromkeys(node for begin in self.begins for node in begin))
        found = set(waiting)
        for node in waiting:  # grows while it is read
            self.ends[node] = list(self.ended(node))
            self.moves[node] = {}
            for value, marked in letters:
                row = self.moves[node][value, marked] = list(self.moved(node, value, marked=marked))
                for _, target, _ in row:
                    if target not in found:
                        found.add(target)
                        waiting.append(target)
            held = 0 if node[1].state is None else sum(1 for value in node[1].state.values for _ in leaves(value))
            self.held += held
            if self.held > _MOST_HELD and held > _LONG:
                raise LanguageError(
                    "length",
                    f"{held} values are held between two elements, and more with every element: {self._told(node)}",
                    hint="--size 3, or bound what grows with the list",
                )
            if len(waiting) > _MOST_STATES or len(self.moves) * len(letters) > _MOST_MOVES:
                raise LanguageError(
                    "length",
                    f"more than {min(_MOST_STATES, _MOST_MOVES // len(letters))} states between two elements: "
                    f"{self._told(waiting[-1])}",
                    hint="--size 3, or bound what grows with the list",
                )

    def _told(self, node: Node) -> str:
        state = node[1].state
        return "what is returned grows with the list" if state is None else self.explorer.growing(state)

    def moved(self, node: Node, value: Any, *, marked: bool) -> Iterator[Outcome]:
        """Where an element leads, and what is written on the way; what was written before the first element is shown here."""
        seen, rest = node
        mark = seen + 1 if marked and seen < self.marks else 0
        after = max(seen, mark)
        if rest.state is None:
            yield ONE, (after, Rest.of(None, rest.value, ())), rest.written or None
            return
        wants_length = self._wants_length(rest.state)
        keeps = wants_length and self.reading[rest.state.at]
        self.kept_ahead |= keeps

        def given(index: Any) -> Any:
            match index:
                case OpenList():
                    more = ((value, mark),) if keeps else ()
                    return replace(index, least=self._counted(index.least), ahead=(*index.ahead, *more))
                case Length():
                    return replace(index, least=self._counted(index.least))
            return index

        state = self._with(rest.state, given)
        law = self._settled(state if wants_length else self._turned(state, value, mark))
        for target, p in law.items():
            yield p, (after, Rest.of(target.state, target.value, ())), (*rest.written, *target.written) or None

    def _counted(self, least: int) -> int:
        return min(least + 1, self.known + 1)

    def _settled(self, state: ExplorationState) -> dict[Rest, Rational]:
        """Where a run rests when the loop has taken all that was kept ahead of it, and what it has written since."""
        result: dict[Rest, Rational] = {}
        waiting = [(state, (), ONE)]
        for here, written, mass in waiting:  # grows while it is read
            for rest, p in self.explorer.settle(here).items():
                shown = (*written, *map(self._put, rest.written))
                if rest.state is None:
                    found = Rest.of(None, with_indices(rest.value, self._resolved), shown)
                elif self._wants_length(rest.state):
                    found = Rest.of(rest.state, None, shown)
                else:
                    between = self._with(rest.state, self._resolved)
                    ahead = self._list(between).ahead
                    if ahead:
                        self._resume()
                        waiting.append((self._turned(self._shorter(between), *ahead[0]), shown, mass * p))
                        continue
                    found = Rest.of(between, None, shown)
                result[found] = result.get(found, ZERO) + mass * p
        return result

    def _turned(self, state: ExplorationState, value: Any, mark: int) -> ExplorationState:
        """A state between two turns with the next element read."""

        def read(index: Any) -> Any:
            match index:
                case Turn(0, at, _, plus):
                    return Turn(-1, at if at is not None and at <= self.known else None, self.known, plus, mark)
                case OpenList():
                    return replace(index, begun=True, element=(value,))
            return index

        return self._with(state, read)

    def _shorter(self, state: ExplorationState) -> ExplorationState:
        """A state with the first element that is kept ahead taken away."""
        return self._with(state, lambda i: replace(i, ahead=i.ahead[1:]) if isinstance(i, OpenList) else i)

    def _resolved(self, index: Any) -> Any:
        """An index after a turn: that of the element that was read is foretold, or an earlier one like the others."""
        match index:
            case Turn(-1, at, _, plus, mark):
                return Foretold(mark, self.known, plus) if at is None else at + plus
            case OpenList():
                return replace(index, element=())
        return index

    def _wants_length(self, state: ExplorationState) -> bool:
        """Whether a run that rests waits for more than the next element of its loop."""
        try:
            self.explorer.steps[state.at](state.store(self.explorer.flow))
        except WantingLength:
            return True
        except Wanting:
            return False
        raise AssertionError("a run rests and waits for nothing")

    def _list(self, state: ExplorationState) -> OpenList:
        return next(i for value in state.values for i in indices(value) if isinstance(i, OpenList))

    def ended(self, node: Node) -> Iterator[tuple[Any, Rational]]:
        """What is returned where the list ends, with what is written until then."""
        rest = node[1]
        if rest.state is None:
            yield self._finished(rest.value, rest.written), ONE
            return
        count = next(i.least for v in rest.state.values for i in indices(v) if isinstance(i, OpenList | Length))
        length = count if count <= self.known else None

        def stop(index: Any) -> Any:
            match index:
                case OpenList():
                    return replace(index, length=length, ended=True, beyond=-1)
                case Length(plus, least):
                    return Length(plus, least) if length is None else length + plus
            return index

        def beyond(index: Any) -> Any:
            match index:
                case Turn(0, _, _, plus):
                    return Length(plus, self.known + 1) if length is None else length + plus
            return index

        waiting = [(self._with(rest.state, stop), self._wants_length(rest.state), rest.written, ONE)]
        for state, goes_on, written, mass in waiting:  # grows while it is read
            if not goes_on:
                state = self._with(state, self._resolved)
                ahead = self._list(state).ahead
                state = self._turned(self._shorter(state), *ahead[0]) if ahead else self._with(state, beyond)
            for found, p in self.explorer.settle(state).items():
                shown = (*written, *map(self._put, found.written))
                if found.state is None:
                    yield self._finished(with_indices(found.value, self._resolved), shown), mass * p
                    continue
                if not any(isinstance(i, Turn) and i.offset == 0 for v in found.state.values for i in indices(v)):
                    raise LanguageError("length", "the list is read beyond its end", hint="--size 3")
                self._resume()
                waiting.append((found.state, False, shown, mass * p))

    def _resume(self) -> None:
        """Count a run that goes on with what was kept ahead."""
        self.resumed += 1
        if self.resumed > _MOST_RESUMED:
            raise LanguageError(
                "length",
                f"the length is compared with {self.known}, and too much is kept until so many elements are read",
                hint="--size 3, or compare it with a smaller number",
            )

    def _put(self, value: Any) -> Any:
        """A value that is put into the list that is written on the way.

        The index of the element of this turn is told by the step that writes it.
        """

        def told(index: Any) -> Any:
            match index:
                case Turn(-1, None, _, plus):
                    return Turn(-1, None, self.known, plus)
                case Turn(-1, int(at), _, plus):
                    return at + plus
            raise LanguageError("length", "another index than that of the element is put into a list", hint="--size 3")

        return with_indices(value, told)

    def _finished(self, value: Any, written: tuple[Any, ...]) -> Any:
        """What is returned, with what was written last in the list that was written on the way."""
        if self.writes and not holds_written(value):
            raise LanguageError("length", "a list is filled and not returned in every case", hint="--size 3")
        return with_written(value, lambda found: replace(found, last=written))

    def _with(self, state: ExplorationState, change: Callable[[Any], Any]) -> ExplorationState:
        store = {name: with_indices(value, change) for name, value in state.store(self.explorer.flow).items()}
        return self.explorer.state(state.at, store)

    def marks_needed(self) -> int:
        """How many indices an output has at the most.

        Raises:
            Early: a constant is returned that may be an index as well.
        """
        values = [value for row in self.ends.values() for value, _ in row]
        held = [list(indices(value)) for value in values]
        if any(not isinstance(index, Foretold) for row in held for index in row):
            raise LanguageError("length", "the length of the list, or the list, is returned", hint="--size 3")
        if self.kept_ahead and any(True for shown in self._shown() for _ in indices(shown)):
            raise LanguageError("length", "an index is put into a list after the length was asked for", hint="--size 3")
        for whole in (values, [value for shown in self._shown() for value in shown]):
            places: dict[Path, list[Any]] = {}
            for value in whole:
                for path, leaf in leaves(value):
                    places.setdefault(path, []).append(leaf)
            for listed in places.values():
                if any(isinstance(leaf, Index) for leaf in listed):
                    self._told_apart(listed)
        return max(map(len, held), default=0)

    def _shown(self) -> list[tuple[Any, ...]]:
        """What single steps write."""
        rows = (row for table in self.moves.values() for row in table.values())
        return [shown for row in rows for _, _, shown in row if shown is not None]

    def _told_apart(self, listed: Sequence[Any]) -> None:
        """Refuse what may stand in one place of the output beside an index, and be the same."""
        (plus, *others) = {leaf.plus for leaf in listed if isinstance(leaf, Index)}
        if others or any(isinstance(leaf, Tail) for leaf in listed):
            raise LanguageError("length", "an index, or something else unbounded, is returned", hint="--size 3")
        for leaf in listed:
            if type(leaf) is int and leaf - plus > self.known:
                raise Early(leaf - plus)

    def made(self, state_name: Callable[[Explorer, Rest], str]) -> OpenModel:
        """The transducer."""
        names: dict[Node, str] = {}
        taken: dict[str, int] = {}
        for node in self.moves:
            said = state_name(self.explorer, node[1]) + (", marked" if node[0] else "") + MARK * max(0, node[0] - 1)
            taken[said] = count = taken.get(said, 0) + 1
            names[node] = said if count == 1 else f"{said} ({count})"
        plain = input_names(self.declared)
        marked = {value: name + MARK for value, name in plain.items()} if self.marks else {}
        called = {(value, False): name for value, name in plain.items()}
        called |= {(value, True): name for value, name in marked.items()}
        last, results = named_rows(self.ends)
        on_the_way = borders(self._shown())
        letters = Symbols(several(v) for shown in self._shown() for v, _ in on_the_way.refined(shown))
        if not letters.values.keys().isdisjoint(results):
            raise LanguageError("length", "a value in the list is called like what is returned", hint="--size 3")
        outputs = {**letters.values, **results}
        foretold = {name: needed for name, value in results.items() if (needed := _foretold(value)) is not None}
        begins = [_named(begin, names) for begin in self.begins]

        def branches(row: Sequence[Outcome]) -> Iterator[Branch]:
            for p, target, shown in row:
                if shown is None:
                    yield Branch(p, names[target])
                else:
                    for value, q in on_the_way.refined(shown):
                        yield Branch(p * q, names[target], letters.name(several(value)))

        model = Transducer(
            states=list(names.values()),
            inputs=list(called.values()),
            outputs=list(outputs),
            initial=begins[0],
            steps=[
                {
                    names[node]: {called[letter]: list(branches(row)) for letter, row in rows.items()}
                    for node, rows in self.moves.items()
                }
            ],
            repeats=True,
            finish={names[node]: row for node, row in last.items()},
            marks={marked[value]: plain[value] for value in marked},
            foretold=foretold if self.marks else {},
        )
        if self.writes:
            refuse_ambiguous(model, begins, output_tokens(letters.values, results))
        inputs = MappingProxyType({name: value for (value, _), name in called.items()})
        return OpenModel(model, begins, inputs, MappingProxyType(outputs))


def _named(begin: Mapping[Node, Rational], names: Mapping[Node, str]) -> dict[str, Rational]:
    return {names[node]: p for node, p in begin.items()}


def _foretold(value: Any) -> int | None:
    """How many elements must be marked for an output to say which; None where it does not say it of all."""
    found = {index.mark for index in indices(value) if isinstance(index, Foretold)}
    return len(found) if found == set(range(1, len(found) + 1)) else None


def list_law(made: OpenModel, begin: Mapping[str, Rational], names: Sequence[str]) -> dict[str, Rational]:
    """The law of the output on one list, by the texts of outputs: what the model says of it, with every index foretold in its turn."""
    model = made.model
    marked = {name: mark for mark, name in model.marks.items()}
    result: dict[str, Rational] = {}
    for count in range(max(model.foretold.values(), default=0) + 1):
        for places in combinations(range(len(names)), count):
            word = [marked[name] if i in places else name for i, name in enumerate(names)]
            for letters, mass in _word_law(model, begin, word).items():
                if model.foretold.get(letters[-1] or "", 0 if not model.marks else -1) == count:
                    said = text(whole_output(made.outputs, letters, places))
                    result[said] = result.get(said, ZERO) + mass
    return {said: mass for said, mass in result.items() if mass != 0}


def _word_law(
    model: Transducer, begin: Mapping[str, Rational], word: Sequence[str]
) -> dict[tuple[str | None, ...], Rational]:
    """The law of what is written in the steps of a word of inputs, and after it."""
    assert model.finish is not None
    masses: dict[tuple[str, tuple[str | None, ...]], Rational] = {(state, ()): mass for state, mass in begin.items()}
    for symbol in word:
        after: dict[tuple[str, tuple[str | None, ...]], Rational] = {}
        for (state, shown), mass in masses.items():
            for branch in model.steps[0][state][symbol]:
                node = (branch.target, (*shown, branch.output))
                after[node] = after.get(node, ZERO) + mass * branch.probability
        masses = after
    result: dict[tuple[str | None, ...], Rational] = {}
    for (state, shown), mass in masses.items():
        for output, p in model.finish[state].items():
            result[*shown, output] = result.get((*shown, output), ZERO) + mass * p
    return result
