"""Running a mechanism on all its random choices at once.

A mechanism that has read some of its inputs is in a *state*: the next instruction and the values that are still needed.  From a state it
runs, drawing noise, until it *rests*: it waits for an input, or it has ended.  `Explorer.settle` gives the exact distribution of
where it rests and what it has written on the way.  Between two rests the runs form a Markov chain; a loop that may repeat (rejection
sampling) makes a cycle in it, which is solved as a linear system over the rationals.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any, TypeAlias

from flint import fmpq_mat

from privproof.errors import LanguageError
from privproof.exact import ONE, ZERO, Rational, rational, show
from privproof.exact.patience import pause
from privproof.exact.polynomials import Polynomial
from privproof.language.evaluating import WRONG, Store, evaluator, problem
from privproof.language.flow import Flow, Instruction, Jump, Next, Test
from privproof.language.indices import NOT_A_NUMBER, Stuck, Wanting
from privproof.language.laws import Continuous, DiscreteGaussian, Geometric, Law, Shaped, TableLaw
from privproof.language.more_operations import TWO_NAMES
from privproof.language.noise import NOISES
from privproof.language.operations import short
from privproof.language.syntax import (
    Append,
    Assign,
    Conditional,
    Element,
    Emit,
    Expression,
    Operation,
    Place,
    Replace,
    Return,
    Sample,
    Variable,
)
from privproof.language.values import (
    FORGOTTEN,
    MISSING,
    Answers,
    Cells,
    Lookup,
    Named,
    Splitting,
    Tail,
    indices,
    key,
    mark_shared,
    plain,
    shown_name,
    shows_set,
    tails,
    text,
    truth,
    with_tails,
)
from privproof.language.walking import parts
from privproof.models.graph_algorithms import components

_MOST_STEPS = 1_000_000
"""Instructions in a row without noise or input; beyond it a loop is taken for one that does not end, and refused."""
_MOST_NODES = 200_000
"""States between two inputs: their chain is solved exactly, by linear algebra where it has cycles. More are refused."""
_WIDEST_SPLIT = 10_000
"""A tail is drawn value by value as far as it is compared; what is compared further away is refused."""


@dataclass(frozen=True)
class ExplorationState:
    """Where a run is: the next instruction and the values that are needed from there on."""

    at: int
    values: tuple[Any, ...] = field(compare=False)
    key: tuple[Any, ...] = field(repr=False)

    def store(self, flow: Flow) -> Store:
        """The variables with their values."""
        named = zip(flow.live[self.at], self.values, strict=True)
        return {name: value for name, value in named if value is not MISSING}


@dataclass(frozen=True)
class Rest:
    """Where a run rests: waiting in a state, or ended with a value; and what it has written since the last rest.

    Attributes:
        state: the state, None if the run has ended.
        value: the value returned.
        written: the outputs written on the way.
        key: tells rests apart.
    """

    state: ExplorationState | None
    value: Any = field(compare=False)
    written: tuple[Any, ...] = field(compare=False)
    key: tuple[Any, ...] = field(repr=False)

    @classmethod
    def of(cls, state: ExplorationState | None, value: Any, written: tuple[Any, ...]) -> Rest:
        """A rest with its key."""
        return cls(state, value, written, (state and state.key, key(value), key(written)))


Node: TypeAlias = "tuple[ExplorationState, tuple[Any, ...]]"


class Explorer:
    """Explores one mechanism."""

    def __init__(self, flow: Flow) -> None:
        self.flow = flow
        self.steps: list[Callable[[Store], Any]] = []
        for number, step in enumerate(flow.code):
            try:
                self.steps.append(self._compiled(number, step))
            except RecursionError:
                raise _too_deep(step.place) from None
        self.laws: dict[tuple[Any, ...], list[tuple[Any, Rational]]] = {}
        self.followed: dict[Any, list[tuple[Rational, Node | Rest]]] | None = None

    def state(self, at: int, store: Store) -> ExplorationState:
        """The state at an instruction: what is needed, tails numbered in the order in which they occur."""
        windows = self.flow.windows[at]
        values = []
        for name in self.flow.live[at]:
            value = store.get(name, MISSING)
            if name in windows and isinstance(value, Answers):
                window = windows[name]
                start = store.get(window.variable)
                if isinstance(start, int) and start + window.offset > 0:
                    gone = min(start + window.offset, len(value))
                    if (
                        gone and value[gone - 1] is not FORGOTTEN
                    ):  # from the front on, so all before it are forgotten too
                        value = Answers((*((FORGOTTEN,) * gone), *value[gone:]))
            values.append(value)
        numbers: dict[int, int] = {}
        for value in values:
            if type(value) is not int:
                for tail in tails(value):
                    numbers.setdefault(tail.identity, len(numbers))
        if numbers:
            values = [with_tails(v, lambda t: replace(t, identity=numbers[t.identity])) for v in values]
        return ExplorationState(at, tuple(values), (at, tuple(map(key, values))))

    def _drawn(self, at: int, store: Store, name: str, values: Sequence[Any]) -> list[ExplorationState]:
        """The states at an instruction after a variable was drawn: where values are plain numbers, they differ in its place alone."""
        windows = self.flow.windows[at]
        counts = name in windows or any(window.variable == name for window in windows.values())
        if counts or any(type(value) is not int for value in values):
            return [self.state(at, {**store, name: _numbered(value, store)}) for value in values]
        first = self.state(at, {**store, name: values[0]})
        if name not in self.flow.live[at]:
            return [first] * len(values)
        place = self.flow.live[at].index(name)
        held_before, held_after = first.values[:place], first.values[place + 1 :]
        (_, keys) = first.key
        key_before, key_after = keys[:place], keys[place + 1 :]
        return [
            ExplorationState(at, (*held_before, value, *held_after), (at, (*key_before, key(value), *key_after)))
            for value in values
        ]

    def _compiled(self, number: int, step: Instruction) -> Callable[[Store], Any]:
        """A function that changes the store and returns the number of the next instruction, where it is not random."""
        following = number + 1
        match step:
            case Jump(target):
                return lambda store: target
            case Test(test, then, otherwise):
                condition = evaluator(test)
                return lambda store: then if truth(condition(store)) else otherwise
            case Assign():
                return self._assigning(step, following)
            case Append(name, value):
                evaluate = evaluator(value)
                whole, looping = self._aliased(value, following), into_itself(step)

                def append(store: Store) -> int:
                    changeable(store, name)
                    new = evaluate(store)
                    if has_list(new):
                        if looping:
                            raise Stuck(ITSELF)
                        _share(store, whole)
                    short(len(store[name].items) + 1)
                    store[name] = Cells((*store[name].items, mark_shared(new)))
                    return following

                return append
            case Replace(name, index, value):
                at, evaluate = evaluator(index), evaluator(value)
                whole, looping = self._aliased(value, following), into_itself(step)

                def put(store: Store) -> int:
                    changeable(store, name)
                    new, position = evaluate(store), at(store)
                    if has_list(new):
                        if looping:
                            raise Stuck(ITSELF)
                        _share(store, whole)
                    cells = list(store[name].items)
                    if isinstance(position, Tail):
                        raise Stuck("an unbounded noisy number is an index")
                    cells[position] = mark_shared(new)
                    store[name] = Cells(tuple(cells))
                    return following

                return put
            case Emit(value) | Return(value):
                output = evaluator(value)
                kept = self._aliased(value, following) if isinstance(step, Emit) else ()

                def release(store: Store) -> Any:
                    found = mark_shared(output(store))
                    if shows_set(found):
                        raise Stuck("a set is shown, in an order of its own; return sorted(...)")
                    _share(store, kept)
                    return found

                return release
            case Sample(_, noise, arguments):
                evaluators = [evaluator(argument) for argument in arguments]
                return lambda store: self._law(noise, [mark_shared(e(store)) for e in evaluators])
            case Next():
                return lambda store: following

    def _assigning(self, step: Assign, following: int) -> Callable[[Store], int]:
        name, evaluate = step.name, evaluator(step.value)
        whole, looping = self._aliased(step.value, following), into_itself(step)
        very = set(itself(step.value)).intersection(whole)
        if not whole and not looping:

            def assign(store: Store) -> int:
                value = evaluate(store)
                store[name] = mark_shared(value) if isinstance(value, Answers) else value
                return following

            return assign

        def assign_shared(store: Store) -> int:
            new = evaluate(store)
            if looping and isinstance(new, Cells):
                raise Stuck(ITSELF)
            if has_list(new):
                _share(store, [other for other in whole if other != name])
                if _share(store, [other for other in very if other != name]):
                    new = mark_shared(new)
            store[name] = mark_shared(new) if isinstance(new, Answers) else new
            return following

        return assign_shared

    def _aliased(self, value: Expression, following: int) -> tuple[str, ...]:
        """The variables of which the value may hold the very list, and which are needed afterwards."""
        live = self.flow.live[following] if following < len(self.flow.live) else ()
        return tuple(name for name in dict.fromkeys(aliased_variables(value)) if name in live)

    def _law(self, noise: str, arguments: list[Any]) -> list[tuple[Any, Rational]]:
        """The outcomes of a law: values or tails of identity -1, with their probabilities."""
        found = (noise, *map(key, arguments))
        if found not in self.laws:
            if any(True for argument in arguments for _ in tails(argument)):
                raise Stuck("an unbounded noisy number is an argument of noise")
            if any(True for argument in arguments for _ in indices(argument)):
                raise Stuck(NOT_A_NUMBER)
            self.laws[found] = law_outcomes(NOISES[noise].law(*map(plain, arguments)), noise)
        return self.laws[found]

    def _onward(self, state: ExplorationState, written: tuple[Any, ...]) -> list[tuple[Rational, Node | Rest]]:
        """What follows a state: the run goes on until it is random, writes, or rests."""
        if self.followed is None:
            return self._follow(state, written)
        name = _name((state, written))
        found = self.followed.get(name)
        if found is None:
            if len(self.followed) >= _MOST_NODES:
                self.followed.clear()
            found = self.followed[name] = self._follow(state, written)
        return found

    def remember(self) -> None:
        """Follow every state once: different answers often lead to the same one after a draw.

        Only where a list has a size: keys do not tell how far the index of an open list is known, which one exploration keeps and the
        next one changes.
        """
        self.followed = {}

    def _follow(self, state: ExplorationState, written: tuple[Any, ...]) -> list[tuple[Rational, Node | Rest]]:
        store = state.store(self.flow)
        at = state.at
        code, steps = self.flow.code, self.steps
        for _ in range(_MOST_STEPS):
            step = code[at]
            try:
                result = steps[at](store)
            except Wanting:
                waiting = self.state(at, store)
                return [(ONE, Rest.of(waiting, None, written))]
            except Splitting as split:
                return self._split(at, store, written, split)
            except (*WRONG, LanguageError) as error:
                raise problem(error, step.place) from None
            except RecursionError:
                raise _too_deep(step.place) from None
            match step:
                case Next():
                    return [(ONE, Rest.of(self.state(at, store), None, written))]
                case Sample(name):
                    states = self._drawn(at + 1, store, name, [value for value, _ in result])
                    return [(p, (after, written)) for (_, p), after in zip(result, states, strict=True)]
                case Emit(_, place):
                    after_it = self.state(at + 1, store)
                    names = self.flow.live[at + 1]
                    kept = {t.identity for name in names for t in tails(store.get(name))}
                    return [(ONE, (after_it, (*written, _released(result, kept, place))))]
                case Return(_, place):
                    return [(ONE, Rest.of(None, _released(result, set(), place), written))]
                case _:
                    at = result
        raise LanguageError(
            "endless",
            f"more than {_MOST_STEPS} steps without noise or input",
            place=str(code[at].place),
            hint="does the loop end?",
        )

    def _split(
        self, at: int, store: Store, written: tuple[Any, ...], split: Splitting
    ) -> list[tuple[Rational, Node | Rest]]:
        """Draw the excess of a tail as far as it is asked for."""
        if split.bound > _WIDEST_SPLIT:
            raise LanguageError(
                "unbounded",
                f"an unbounded noisy number is compared with one that is {split.bound} away",
                place=str(self.flow.code[at].place),
            )
        alpha = next(t.alpha for v in store.values() for t in tails(v) if t.identity == split.identity)
        base = rational(alpha)
        following: list[tuple[Rational, Node | Rest]] = []
        for excess in range(split.bound + 1):
            last = excess == split.bound
            probability = base**excess * (ONE if last else ONE - base)

            def drawn(tail: Tail, excess: int = excess, *, last: bool = last) -> Any:
                if tail.identity != split.identity:
                    return tail
                offset = tail.offset + tail.sign * excess
                return replace(tail, offset=offset) if last else offset

            after = {name: with_tails(value, drawn) for name, value in store.items()}
            following.append((probability, (self.state(at, after), written)))
        return following

    def settle(self, state: ExplorationState) -> dict[Rest, Rational]:
        """The distribution of where a run from a state rests, and of what it writes until then."""
        first = self._onward(state, ())
        if len(first) == 1 and isinstance(rest := first[0][1], Rest):  # nothing is random
            pause()
            return {rest: ONE}
        ended = self._end_of_draw(first)
        if ended is not None:
            pause()
            return ended
        start: Node = (state, ())
        edges: dict[Any, list[tuple[Rational, Any]]] = {}
        nodes: dict[Any, Node] = {_name(start): start}
        rests: dict[Any, Rest] = {}
        waiting = [_name(start)]
        while waiting:
            pause()
            name = waiting.pop()
            if name in edges:
                continue
            listed = []
            for probability, node in self._onward(*nodes[name]) if edges else first:
                if isinstance(node, Rest):
                    label: Any = ("rest", node.key)
                    rests[label] = node
                else:
                    label = _name(node)
                    if label not in nodes:
                        nodes[label] = node
                        waiting.append(label)
                listed.append((probability, label))
            edges[name] = listed
            if len(edges) > _MOST_NODES:
                place = str(self.flow.code[nodes[name][0].at].place)
                raise LanguageError(
                    "states",
                    f"more than {_MOST_NODES} states between two inputs; {self.growing(nodes[name][0])}",
                    place=place,
                    hint="bound the loop, or make its counter go away",
                )
        masses = _masses(_name(start), edges)
        result: dict[Rest, Rational] = {}
        for label, rest in rests.items():
            if masses.get(label, ZERO) != 0:
                result[rest] = result.get(rest, ZERO) + masses[label]
        total = sum(result.values(), ZERO)
        if total != 1:
            raise LanguageError(
                "endless",
                f"the mechanism never ends with probability {show(1 - total)}",
                place=str(self.flow.code[state.at].place),
                hint="make the loop end",
            )
        return result

    def _end_of_draw(self, first: list[tuple[Rational, Node | Rest]]) -> dict[Rest, Rational] | None:
        """The distribution after a draw where nothing else is random; None where something is."""
        result: dict[Rest, Rational] = {}
        for probability, node in sorted(first, key=lambda each: not isinstance(each[1], Rest)):
            ends = [(ONE, node)] if isinstance(node, Rest) else self._onward(*node)
            if len(ends) != 1 or not isinstance(rest := ends[0][1], Rest):
                return None
            if probability != 0:
                result[rest] = result.get(rest, ZERO) + probability
        return result if sum(result.values(), ZERO) == 1 else None

    def growing(self, state: ExplorationState) -> str:
        """The variables of a state with their values, in words."""
        shown = [
            f"{shown_name(name)} = {text(value)}"
            for name, value in state.store(self.flow).items()
            if not isinstance(value, Answers) and (not name.startswith("#") or "." in name)
        ]
        return "the last: " + ", ".join(shown)[:120]

    def given(self, state: ExplorationState, value: Any) -> ExplorationState:
        """The state after the stream has given a value to the `Next` instruction that waits for it."""
        step = self.flow.code[state.at]
        assert isinstance(step, Next)
        return self.state(state.at + 1, {**state.store(self.flow), step.name: value})


def _too_deep(place: Place) -> LanguageError:
    return LanguageError(
        "size", "an expression is nested too deeply", place=str(place), hint="split it into statements"
    )


def aliased_variables(expression: Expression) -> Iterator[str]:
    """The variables of which the value of an expression may be the very list, or hold it.

    What the value of a variable holds was marked when it was put there.
    """
    yield from itself(expression)
    yield from inside(expression)


def itself(expression: Expression) -> Iterator[str]:
    """The variables whose very list the value of an expression may be."""
    match expression:
        case Variable(name):
            yield name
        case Element(sequence):
            yield from inside(sequence)
        case Conditional(_, then, otherwise):
            yield from itself(then)
            yield from itself(otherwise)
        case Operation("max" | "min", (only,)):
            yield from inside(only)
        case Operation("max or" | "min or", (first, default)):
            yield from inside(first)
            yield from itself(default)
        case Operation("sum", (_, start)):
            yield from itself(start)
        case Operation("get", (table, _, default)):
            yield from inside(table)
            yield from itself(default)
        case Operation("attribute", (holder, _)):
            yield from inside(holder)
        case Operation("and" | "or" | "max" | "min", arguments):
            for argument in arguments:
                yield from itself(argument)
        case _:
            pass


def inside(expression: Expression) -> Iterator[str]:
    """The variables whose very list an element of the value of an expression may be, or hold."""
    match expression:
        case Operation(name, arguments) if name in _HOLDING:
            for argument in arguments:
                yield from aliased_variables(argument)
        case Operation("sum", (Operation(name, summands), *start)) if name in _HOLDING:
            for part in (*summands, *start):
                yield from inside(part)
        case _:
            for part in parts(expression):
                yield from inside(part)


_HOLDING = ("tuple of", "list of", "table of", "fixed list of", "record of", "with entry", "zip", "items")
"""Operations whose value holds the very lists that its arguments are."""


def into_itself(step: Assign | Append | Replace) -> bool:
    """Whether a statement may put a list into itself."""
    match step:
        case Assign(name, Operation("extend", (_, more))):
            return name in inside(more)
        case Append(name, value) | Replace(name, _, value):
            return name in aliased_variables(value)
        case _:
            return False


ITSELF = "a list is put into itself; put a copy there: list(xs)"


def has_list(value: Any) -> bool:
    """Whether a value is a list or holds one."""
    match value:
        case Cells():
            return True
        case Lookup(rows):
            return any(has_list(item) for _, item in rows)
        case tuple():
            return any(map(has_list, value))
        case Named(_, inner):
            return any(map(has_list, inner))
        case _:
            return False


def _share(store: Store, names: Iterable[str]) -> bool:
    """Mark the lists among the variables as having a second name; whether there are any."""
    lists = [name for name in names if isinstance(store.get(name), Cells)]
    for name in lists:
        store[name] = mark_shared(store[name])
    return bool(lists)


def changeable(store: Store, name: str) -> None:
    value = store.get(name)
    if isinstance(value, Lookup):
        raise Stuck("a table is changed; use a list with one element for every key")
    if isinstance(value, Answers):
        raise Stuck("the input itself is changed; change a copy: xs = list(q)")
    if not isinstance(value, Cells):
        raise TypeError(f"{shown_name(name)!r} is not a list")
    if value.shared:
        raise Stuck(TWO_NAMES)


def _released(value: Any, kept: set[int], place: Place) -> Any:
    """An output: an unbounded number in it must occur once, and never again."""
    seen = set(kept)
    for tail in tails(value):
        if tail.identity in seen:
            stuck = Stuck("an unbounded noisy number is released and used again")
            raise problem(stuck, place)
        seen.add(tail.identity)
    return with_tails(value, lambda tail: replace(tail, identity=-1))


def _numbered(value: Any, store: Store) -> Any:
    """A new tail gets a number that no other in the store has."""
    if not isinstance(value, Tail):
        return value
    taken = [tail.identity for other in store.values() for tail in tails(other)]
    return replace(value, identity=1 + max(taken, default=-1))


def law_outcomes(law: Law, noise: str) -> list[tuple[Any, Rational]]:
    """The outcomes of a law with their probabilities; beyond its center geometric noise has two tails."""
    match law:
        case TableLaw():
            return list(law.possible)
        case Geometric(center, alpha):
            base = rational(alpha)
            aside = base / (1 + base)
            up, down = Tail(-1, 1, center + 1, Fraction(alpha)), Tail(-1, -1, center - 1, Fraction(alpha))
            return [(center, (1 - base) / (1 + base)), (up, aside), (down, aside)]
        case DiscreteGaussian():
            raise LanguageError(
                "irrational", "discrete Gaussian noise has probabilities that are no fractions: no finite model has it"
            )
        case Continuous() | Shaped():
            raise LanguageError(
                "continuous",
                f"{noise} noise is continuous: no finite model has it",
                hint="geometric noise is its discrete form",
            )


def _name(node: Node) -> Any:
    state, written = node
    return (state.key, key(written))


def _masses(start: Any, edges: dict[Any, list[tuple[Rational, Any]]]) -> dict[Any, Rational]:
    """How much mass passes each node (an end: arrives there), cycles summed up exactly."""
    masses: dict[Any, Rational] = {start: ONE}
    for group in components([start], lambda node: [target for _, target in edges.get(node, ())]):
        if len(group) > 1 or any(target == group[0] for _, target in edges.get(group[0], ())):
            position = {node: i for i, node in enumerate(group)}
            system = fmpq_mat(len(group), len(group))
            for i in range(len(group)):
                system[i, i] = ONE
            for node, i in position.items():
                for probability, target in edges[node]:
                    if target in position:
                        system[position[target], i] -= probability
            if any(isinstance(p, Polynomial) for node in group for p, _ in edges[node]):
                raise LanguageError(
                    "unknown", "a loop may repeat with a probability that is not known", hint="draw without a loop"
                )
            inflow = fmpq_mat(len(group), 1, [masses.get(node, ZERO) for node in group])
            try:
                solved = system.solve(inflow)
            except ZeroDivisionError:  # nothing leaves the group
                masses.update(dict.fromkeys(group, ZERO))
                continue
            for node, i in position.items():
                masses[node] = solved[i, 0]
        inside = set(group)
        for node in group:
            mass = masses.get(node, ZERO)
            for probability, target in edges.get(node, ()):
                if target not in inside:
                    masses[target] = masses.get(target, ZERO) + mass * probability
    return masses
