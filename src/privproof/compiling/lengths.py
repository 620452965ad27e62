"""Lists of every length: the loop over a list is followed once, whatever the length, and the output is written where the list ends.

The list is an `OpenList`, its counter a `Turn`: a run goes on until it asks for the next element, or whether there is one.  Then it
rests, and is given an element or the end.  If it rests in finitely many states, this is a transducer that repeats its step, with the law
of the output at the end of the list in every state (``P(o | x1 ... xn) = a M_x1 ... M_xn f_o``).

An index that is returned is *foretold* by marks: a marked element is one whose index counts as known (see `indices`).  How many marks are
needed, and as far as which index is known exactly, is found by trying: what is compared with an index, and the constants that are
returned where an index may be, say it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from types import MappingProxyType
from typing import Any, TypeAlias

from privproof.compiling.exploring import Explorer, Rest, State
from privproof.compiling.outputs import Path, leaves, named_rows
from privproof.compiling.steps import input_names
from privproof.errors import LanguageError
from privproof.exact import ONE, ZERO, Rational
from privproof.language.flow import flow
from privproof.language.indices import Early, Foretold, Index, Length, OpenList, Turn
from privproof.language.inputs import Input
from privproof.language.syntax import Assign, Block, Constant, Expression, Operation, Statement, Variable
from privproof.language.values import Tail, indices, text, with_indices
from privproof.language.walking import reads, statements, with_blocks, within
from privproof.models import Branch, Transducer
from privproof.scenarios import told_indices

_MOST_STATES = 1_000
"""States between two elements; with more of them a counter or a list is taken to grow with the length, and a size is asked for."""
_MOST_MOVES = 30_000
"""States times values of an element: each is a run that is followed through all its random choices."""
_LATEST = 24
"""The largest index that is known exactly: every one of them multiplies the states."""
_MOST_MARKS = 2
"""Indices in one output: each multiplies the locations of the problem."""
MARK = "*"
"""What the name of a marked input ends in."""

Node: TypeAlias = "tuple[int, Rest]"
"""How many elements were marked, and where the run rests."""


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

    Raises:
        LanguageError: the loop does not allow it; the message says why and where.
    """
    counters = loop_counters(body, fed)
    problem: LanguageError | None = None
    for chosen in dict.fromkeys((counters, counters | own_counters(body))):
        explorer = Explorer(flow(_counting(body, fed, chosen), lists, given=given))
        try:
            return _adapted(explorer, fed, declared, stores, state_name)
        except LanguageError as found:
            problem = problem or found
    assert problem is not None
    raise problem


def _adapted(
    explorer: Explorer,
    fed: str,
    declared: Input,
    stores: Sequence[Mapping[str, Any]],
    state_name: Callable[[Explorer, Rest], str],
) -> OpenModel:
    """The model with as many marks, and as many indices known exactly, as it turns out to need."""
    known, marks = -1, 0
    while True:
        search = _Search(explorer, fed, declared, known, marks)
        try:
            search.explore(stores)
            needed = search.marks_needed()
        except Early as early:
            known = max(known + 1, early.number)
            if known > _LATEST:
                raise LanguageError(
                    "length", f"an index is compared with {early.number}, beyond {_LATEST}", hint="--size 3"
                ) from None
            continue
        if needed <= marks:
            return search.made(state_name)
        if needed > _MOST_MARKS:
            raise LanguageError("length", f"an output has {needed} indices, more than {_MOST_MARKS}", hint="--size 3")
        marks = needed


# ------------------------------------------------------------------------------------------------------------ counters


def loop_counters(body: Block, fed: str) -> frozenset[str]:
    """The variables that are compared with the length of a list."""
    names = {fed}
    lengths: set[str] = set()

    def length(expression: Expression) -> bool:
        match expression:
            case Operation("len" | "turns", (Variable(name),)):
                return name in names
            case Operation("whole", (inner,)):
                return length(inner)
            case Variable(name):
                return name in lengths
        return False

    found: set[str] = set()
    count = -1
    while count != len(names) + len(lengths):
        count = len(names) + len(lengths)
        for statement in statements(body):
            match statement:
                case Assign(name, Variable(other)) if other in names:
                    names.add(name)
                case Assign(name, value) if length(value):
                    lengths.add(name)
    for statement in statements(body):
        for expression in reads(statement):
            for part in within(expression):
                match part:
                    case Operation("<", (Variable(name), stop)) | Operation(">", (stop, Variable(name))) if length(
                        stop
                    ):
                        found.add(name)
    return frozenset(found)


def own_counters(body: Block) -> frozenset[str]:
    """The variables that begin at a number and are counted up one by one."""
    begun, up = set(), set()
    for statement in statements(body):
        match statement:
            case Assign(name, Constant(value)) if type(value) is int:
                begun.add(name)
            case _ if (counter := _counted_up(statement)) is not None:
                up.add(counter)
    return frozenset(begun & up)


def _counted_up(statement: Statement) -> str | None:
    """The variable that a statement makes larger by one."""
    match statement:
        case Assign(name, Operation("+" | "extend", (Variable(same), Constant(1)))) if name == same:
            return name
    return None


def _counting(body: Block, fed: str, counters: frozenset[str]) -> Block:
    """The statements with counters that begin at the first element of a list."""

    def change(block: Block) -> Block:
        result: list[Statement] = []
        for statement in block:
            match statement:
                case Assign(name, Constant(value) as begin, place) if name in counters and type(value) is int:
                    first = Operation("first turn", (Variable(fed, place), begin), place)
                    result.append(replace(statement, value=first))
                case Assign(name, Operation(_, (Variable() as counter, _)), place) if (
                    name in counters and _counted_up(statement) is not None
                ):
                    result.append(replace(statement, value=Operation("next turn", (counter,), place)))
                case _:
                    result.append(with_blocks(statement, change))
        return tuple(result)

    return change(body)


# ------------------------------------------------------------------------------------------------------------- search


class _Search:
    """The states between two elements, and where an element leads from each.

    Args:
        explorer: runs the mechanism.
        fed: the list.
        declared: its declaration.
        known: the largest index that is known exactly.
        marks: how many elements are foretold.
    """

    def __init__(self, explorer: Explorer, fed: str, declared: Input, known: int, marks: int) -> None:
        self.explorer, self.fed, self.declared = explorer, fed, declared
        self.known, self.marks = known, marks
        self.begins: list[dict[Node, Rational]] = []
        self.moves: dict[Node, dict[tuple[Any, bool], list[tuple[Rational, Node]]]] = {}
        self.ends: dict[Node, list[tuple[Any, Rational]]] = {}

    def explore(self, stores: Sequence[Mapping[str, Any]]) -> None:
        """Follow the loop from every beginning until nothing is new."""
        assert self.declared.values is not None
        letters = [
            (value, marked) for marked in ((False, True) if self.marks else (False,)) for value in self.declared.values
        ]
        for store in stores:
            state = self.explorer.state(0, {**store, self.fed: OpenList(begun=False)})
            self.begins.append({(0, rest): p for rest, p in self.explorer.settle(state).items()})
        waiting = list(dict.fromkeys(node for begin in self.begins for node in begin))
        found = set(waiting)
        for node in waiting:  # grows while it is read
            self.ends[node] = list(self._ended(node))
            self.moves[node] = {}
            for value, marked in letters:
                row = self.moves[node][value, marked] = list(self._moved(node, value, marked=marked))
                for _, target in row:
                    if target not in found:
                        found.add(target)
                        waiting.append(target)
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

    def _moved(self, node: Node, value: Any, *, marked: bool) -> Iterator[tuple[Rational, Node]]:
        """Where an element leads."""
        seen, rest = node
        mark = seen + 1 if marked and seen < self.marks else 0
        after = max(seen, mark)
        if rest.state is None:
            yield ONE, (after, rest)
            return

        def read(index: Any) -> Any:
            match index:
                case Turn(0, at, _, plus):
                    return Turn(-1, at if at is not None and at <= self.known else None, self.known, plus)
                case OpenList():
                    return OpenList(begun=True, element=(value,))
            return index

        for target, p in self.explorer.settle(self._with(rest.state, read)).items():
            yield p, (after, self._resolved(target, mark))

    def _resolved(self, rest: Rest, mark: int) -> Rest:
        """A rest in which the index of the element that was read is foretold, or an earlier one like the others."""

        def settle(index: Any) -> Any:
            match index:
                case Turn(-1, at, _, plus):
                    return Foretold(mark, self.known, plus) if at is None else at + plus
                case OpenList():
                    return OpenList(begun=True)
            return index

        if rest.state is None:
            return Rest.of(None, with_indices(rest.value, settle), rest.written)
        return Rest.of(self._with(rest.state, settle), None, rest.written)

    def _ended(self, node: Node) -> Iterator[tuple[Any, Rational]]:
        """What is returned where the list ends."""
        rest = node[1]
        if rest.state is None:
            yield rest.value, ONE
            return

        def stop(index: Any) -> Any:
            match index:
                case Turn(0, at, _, plus):
                    return Length(plus) if at is None else at + plus
                case OpenList():
                    return OpenList(begun=True, length=length)
                case Length(plus) if length is not None:
                    return length + plus
            return index

        length = next((i.at for v in rest.state.values for i in indices(v) if isinstance(i, Turn)), None)
        for found, p in self.explorer.settle(self._with(rest.state, stop)).items():
            if found.state is not None:
                raise LanguageError("length", "the list is read beyond its end", hint="--size 3")
            yield found.value, p

    def _with(self, state: State, change: Callable[[Any], Any]) -> State:
        store = {name: with_indices(value, change) for name, value in state.store(self.explorer.flow).items()}
        return self.explorer.state(state.at, store)

    # ----------------------------------------------------------------------------------------------------- the outputs

    def marks_needed(self) -> int:
        """How many indices an output has at the most.

        Raises:
            Early: a constant is returned that may be an index as well.
        """
        values = [value for row in self.ends.values() for value, _ in row]
        held = [list(indices(value)) for value in values]
        if any(not isinstance(index, Foretold) for row in held for index in row):
            raise LanguageError("length", "the length of the list, or the list, is returned", hint="--size 3")
        places: dict[Path, list[Any]] = {}
        for value in values:
            for path, leaf in leaves(value):
                places.setdefault(path, []).append(leaf)
        for listed in places.values():
            if any(isinstance(leaf, Index) for leaf in listed):
                self._told_apart(listed)
        return max(map(len, held), default=0)

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
        last, outputs = named_rows(self.ends)
        foretold = {name: needed for name, value in outputs.items() if (needed := _foretold(value)) is not None}
        begins = [{names[node]: p for node, p in begin.items()} for begin in self.begins]
        model = Transducer(
            states=list(names.values()),
            inputs=list(called.values()),
            outputs=list(outputs),
            initial=begins[0],
            steps=[
                {
                    names[node]: {called[letter]: [Branch(p, names[t]) for p, t in row] for letter, row in rows.items()}
                    for node, rows in self.moves.items()
                }
            ],
            repeats=True,
            finish={names[node]: row for node, row in last.items()},
            marks={marked[value]: plain[value] for value in marked},
            foretold=foretold if self.marks else {},
        )
        inputs = MappingProxyType({name: value for (value, _), name in called.items()})
        return OpenModel(model, begins, inputs, MappingProxyType(dict(outputs)))


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
            for output, mass in _finished(model, begin, word).items():
                if model.foretold.get(output, 0 if not model.marks else -1) == count:
                    said = text(told_indices(made.outputs[output], places))
                    result[said] = result.get(said, ZERO) + mass
    return {said: mass for said, mass in result.items() if mass != 0}


def _finished(model: Transducer, begin: Mapping[str, Rational], word: Sequence[str]) -> dict[str, Rational]:
    """The law of what is written after a word of inputs."""
    assert model.finish is not None
    masses = dict(begin)
    for symbol in word:
        after: dict[str, Rational] = {}
        for state, mass in masses.items():
            for branch in model.steps[0][state][symbol]:
                after[branch.target] = after.get(branch.target, ZERO) + mass * branch.probability
        masses = after
    result: dict[str, Rational] = {}
    for state, mass in masses.items():
        for output, p in model.finish[state].items():
            result[output] = result.get(output, ZERO) + mass * p
    return result
