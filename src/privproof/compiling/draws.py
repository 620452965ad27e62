"""A mechanism whose noise is only shown, never looked at, as a model of `separate draws <privproof.models.draws_model>`.

The function is run without noise: what is drawn is a token that remembers its law.  Tokens may be copied, put into lists and tuples and
returned; a mechanism that does anything else with noise has no such model.  A loop over the private list is compiled once: its index
may only fetch the next entry, so a turn does the same whatever its number, and a state is what is still needed of the other
variables.  A list to which tokens are appended is emptied at every turn: its parts are written on the way.

Where several numbers of a state change (the cells of a histogram) the states are the combinations of their values.  Then there is one
pass for each number that changes, in which the others are *forgotten*: a sum with a forgotten number is forgotten, noise around it is
left to another pass, and a test of it is refused.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from math import inf
from typing import Any, TypeAlias

import numpy as np

from privproof.compiling.draw_states import (
    FORGET,
    WRITTEN,
    NotSeparate,
    Token,
    Written,
    count_marks,
    differing_numbers,
    forgotten_value,
    holds_forgotten,
    items_of,
    refuse_no_number,
    refuse_other_marks,
    state_key,
    tokens_in,
)
from privproof.compiling.exploring import Explorer
from privproof.compiling.list_sums import summing_flow
from privproof.compiling.programs import mechanism_question
from privproof.errors import LanguageError
from privproof.exact.patience import pause
from privproof.language.evaluating import WRONG, Store, evaluator
from privproof.language.flow import Flow, Jump, Next, Test, instruction_reads
from privproof.language.indices import Wanting
from privproof.language.laws import Continuous, TableLaw
from privproof.language.mechanism import Mechanism
from privproof.language.noise import NOISES
from privproof.language.syntax import (
    Append,
    Assign,
    Constant,
    Element,
    Emit,
    Expression,
    Operation,
    Replace,
    Return,
    Sample,
    Variable,
)
from privproof.language.values import FORGOTTEN, UNREAD, Answers, Cells, Lookup, key, mark_shared, plain, shared_value
from privproof.language.walking import variables, within
from privproof.models.draws_model import EXACTLY, Draws, Moves, NoiseCall, Pass, Shape
from privproof.scenarios import DrawsQuestion, Question

_MOST_TURNS = 200_000
"""Turns of loops that are run, one for every state and value, at some 25 microseconds each; beyond, there is no model."""
_MANY_TURNS = 5_000
"""Turns of one pass from which on it is taken apart, if several numbers of a state change: some tenths of a second."""
_MOST_PASSES = 300
"""Passes into which one is taken apart, one for each number that changes."""
_MOST_STEPS = 100_000
"""Instructions of one turn; beyond, the loop is taken for one that does not end."""
_LARGE = 50_000
"""Combinations of data and output from which on separate draws are looked for: a smaller table is listed, with engines for its words."""
_MOST_VALUES = 1_000
"""Values of an entry: neighbours are pairs of them."""


_Path: TypeAlias = tuple[str, int | None]
"""Where a number is in a state: the name of a variable, and an index where that is a list or a tuple."""


@dataclass(frozen=True)
class _Loop:
    """A loop over the private list: the instruction that tests for its end, the first of its body, the one after it, its index."""

    head: int
    body: int
    after: int
    index: str


@dataclass(frozen=True)
class _Leaves:
    """What is returned: the laws of its parts (None for what was written on the way), and its shape."""

    laws: tuple[int | None, ...]
    forgotten: tuple[bool, ...]
    shape: Shape


def draws_question(mechanism: Mechanism, *, size: int | None, least: int = _LARGE) -> DrawsQuestion | None:
    """The question about separate draws that a mechanism poses; None if it has no such model, or a small table.

    Args:
        mechanism: the mechanism.
        size: the length of its list, where the declaration leaves it open.
        least: as many combinations of data and output there are at least.
    """
    pinned = mechanism.pinned()
    opened = [declared for declared in pinned.inputs.values() if declared.shape == "list" and declared.size is None]
    if (size is not None) != bool(opened) or (size is not None and size < 1):
        return None  # it is told what is wrong where the question about words is made
    model = separate_draws(pinned, size)
    if model is None or _combinations(model) < least:
        return None

    def as_words() -> Question:
        return mechanism_question(mechanism, size=size)

    length = model.size if opened or any(i.shape == "list" for i in pinned.inputs.values()) else None
    budget = pinned.budget(length)
    return DrawsQuestion(mechanism=pinned, model=model, as_words=as_words, size=size, budget=budget)


def _combinations(model: Draws) -> int:
    """How many combinations of data and output there are, as far as it matters."""
    found = 1
    for _ in range(model.size):
        found *= len(model.values)
        if found > _LARGE:
            return found
    for law in model.drawn((0,) * model.size):
        found *= _outcomes(model, model.laws[law])
        if found > _LARGE:
            return found
    return found


def _outcomes(model: Draws, call: NoiseCall) -> int:
    """How many outcomes a law has; on all integers as many as are told apart."""
    match call.noise:
        case "truncated_geometric":
            return int(call.arguments[2]) - int(call.arguments[1]) + 1
        case "geometric":
            centers = [law.arguments[0] for law in model.laws if law.noise == "geometric"]
            return int(max(centers) - min(centers)) + 3
        case _ if call.noise == EXACTLY:
            return 1
        case _:
            found = NOISES[call.noise].law(*call.arguments)
            return len(found.outcomes) if isinstance(found, TableLaw) else 1


def separate_draws(mechanism: Mechanism, size: int | None) -> Draws | None:
    """The model of separate draws of a mechanism at a size, or None if it has none."""
    private = [(name, declared) for name, declared in mechanism.inputs.items() if not declared.public]
    if len(private) != 1 or len(mechanism.inputs) != 1 or mechanism.generator or mechanism.stream is not None:
        return None
    ((name, declared),) = private
    if declared.values is None or not 2 <= len(declared.values) <= _MOST_VALUES:
        return None
    if mechanism.neighbours not in ("each", "one", "monotone"):
        return None
    length = (declared.size or size) if declared.shape == "list" else 1
    if length is None:
        return None
    try:
        flow = summing_flow(mechanism)
        _only_shown(flow)
        compiler = _Compiler(mechanism, flow, name, declared.values, length)
        return compiler.lists() if declared.shape == "list" else compiler.whole()
    except (NotSeparate, LanguageError, Wanting, RecursionError, *WRONG):
        return None


def _only_shown(flow: Flow) -> None:
    """Refuse a mechanism that looks at what is drawn: noise may be copied, put into tuples and lists, and returned."""
    noisy: set[str] = {step.name for step in flow.code if isinstance(step, Sample)}
    while True:
        before = len(noisy)
        for step in flow.code:
            match step:
                case Assign(name, value) | Append(name, value):
                    if _carried(value, noisy):
                        noisy.add(name)
                case Return(value):
                    _carried(value, noisy)
                case Test(test):
                    _unread(test, noisy)
                case Sample(_, _, arguments):
                    for argument in arguments:
                        _unread(argument, noisy)
                case Replace(name, index, value):
                    _unread(index, noisy)
                    _unread(value, noisy)
                    if name in noisy:
                        raise NotSeparate("a list of noise is changed")
                case Emit() | Next():
                    raise NotSeparate("outputs on the way")
                case Jump():
                    pass
        if len(noisy) == before:
            return


def _carried(value: Expression, noisy: set[str]) -> bool:
    """Whether an expression carries noise; refuses one that does more with it."""
    match value:
        case Variable(name):
            return name in noisy
        case Operation("tuple of" | "list of" | "tuple" | "list", arguments):
            carrying = [_carried(argument, noisy) for argument in arguments]  # all are looked at
            return any(carrying)
        case _:
            _unread(value, noisy)
            return False


def _unread(value: Expression, noisy: set[str]) -> None:
    if not noisy.isdisjoint(variables(value)):
        raise NotSeparate("noise is looked at")


class _Compiler:
    def __init__(self, mechanism: Mechanism, flow: Flow, name: str, values: tuple[Any, ...], size: int) -> None:
        self.flow, self.name, self.values, self.size = flow, name, values, size
        self.parameters = {n: shared_value(value) for n, value in mechanism.parameters.items()}
        self.steps = Explorer(flow).steps
        self.arguments = {
            number: [evaluator(argument) for argument in step.arguments]
            for number, step in enumerate(flow.code)
            if isinstance(step, Sample)
        }
        self.laws: dict[Any, int] = {}
        self.calls: list[NoiseCall] = []
        self.known: set[Any] = set()
        self.turns = 0

    def _law(self, noise: str, arguments: tuple[Any, ...]) -> int:
        found = (noise, *map(key, arguments))
        if found not in self.laws:
            given = tuple(map(plain, arguments))
            if noise != EXACTLY:
                self._possible(noise, given)
            self.laws[found] = len(self.calls)
            self.calls.append(NoiseCall(noise, given))
        return self.laws[found]

    def _possible(self, noise: str, given: tuple[Any, ...]) -> None:
        """Refuse arguments that the noise does not take; geometric noise takes every whole number alike."""
        wide = noise in ("geometric", "truncated_geometric") and type(given[0]) is int
        alike = (noise, repr(given[1:] if wide else given))
        if alike in self.known:
            return
        if isinstance(NOISES[noise].law(*given), Continuous):
            raise NotSeparate("continuous noise")
        self.known.add(alike)

    def _token(self, number: int, store: Store) -> Token:
        step = self.flow.code[number]
        assert isinstance(step, Sample)
        arguments = tuple(mark_shared(e(store)) for e in self.arguments[number])
        if any(holds_forgotten(argument) for argument in arguments):
            return Token(None)
        return Token(self._law(step.noise, arguments))

    def _run(self, at: int, store: Store, heads: frozenset[int]) -> tuple[int, Any]:
        """Run until the test of a loop, or to the end: the number of the instruction, and what is returned."""
        code, steps = self.flow.code, self.steps
        for _ in range(_MOST_STEPS):
            if at in heads:
                return at, None
            step = code[at]
            if isinstance(step, Sample):
                store[step.name] = self._token(at, store)
                at += 1
                continue
            result = steps[at](store)
            if isinstance(step, Return):
                return at, result
            at = result
        raise NotSeparate("a loop does not end")

    def _leaves(self, value: Any, written: int) -> _Leaves:
        """The parts of what is returned."""
        laws: list[int | None] = []
        forgotten: list[bool] = []
        seen: set[int] = set()
        marks = 0

        def shape(inner: Any) -> Shape:
            nonlocal marks
            match inner:
                case Written():
                    marks += 1
                    return "written"
                case Token():
                    if id(inner) in seen:
                        raise NotSeparate("one draw is shown twice")
                    seen.add(id(inner))
                    laws.append(inner.law)
                    forgotten.append(inner.law is None)
                    return "part"
                case Cells(items):
                    return ("list", tuple(map(shape, items)))
                case tuple() if not isinstance(inner, Answers):
                    return ("tuple", tuple(map(shape, inner)))
                case Answers() | Lookup():
                    raise NotSeparate("the data themselves are returned")
                case _:
                    hidden = holds_forgotten(inner)
                    laws.append(None if hidden else self._law(EXACTLY, (inner,)))
                    forgotten.append(hidden)
                    return "part"

        made = shape(value)
        if marks != (1 if written else 0):
            raise NotSeparate("what was written on the way is not shown once")
        return _Leaves(tuple(laws), tuple(forgotten), made)

    def whole(self) -> Draws:
        """One value is read: a state for each."""
        ends: list[tuple[int, ...] | None] = [None]
        shape: Shape | None = None
        for value in self.values:
            _, returned = self._run(0, {**self.parameters, self.name: value}, frozenset())
            leaves = self._leaves(returned, 0)
            if shape not in (None, leaves.shape):
                raise NotSeparate("outputs have different shapes")
            shape = leaves.shape
            ends.append(tuple(law for law in leaves.laws if law is not None))
        count = len(self.values)
        moves = (tuple(range(1, count + 1)), *(() for _ in self.values))
        only = Pass(moves, (), tuple(ends))
        assert shape is not None
        return self._draws([only], tuple(range(only.parts_at_the_end)), shape)

    def _draws(self, passes: list[Pass], order: tuple[int, ...], shape: Shape) -> Draws:
        """The model; of the laws those that are drawn from."""
        numbers: dict[int, int] = {}

        def renumbered(laws: tuple[int, ...]) -> tuple[int, ...]:
            return tuple(numbers.setdefault(law, len(numbers)) for law in laws)

        made = tuple(
            Pass(
                each.moves,
                tuple(tuple(map(renumbered, row)) for row in each.written),
                tuple(None if laws is None else renumbered(laws) for laws in each.ends),
            )
            for each in passes
        )
        return Draws(self.values, self.size, tuple(self.calls[law] for law in numbers), made, order, shape)

    def lists(self) -> Draws:
        """A list is read, in one or more passes."""
        loops = {loop.head: loop for loop in self._loops()}
        self.heads = frozenset(loops)
        self.loops = loops
        self.apart = True
        try:
            return self._together(self._explored({}))
        except _TakeApart as several:
            paths, head, passes = several.paths, several.head, several.passes
        if passes:
            return self._put_together([self._explored({}, only=number) for number in range(passes)])
        try:
            return self._put_together([self._explored({head: frozenset(paths) - {kept}}) for kept in paths])
        except (NotSeparate, *WRONG):  # a number was needed after all
            return self._together(self._explored({}))

    def _loops(self) -> Iterator[_Loop]:
        code = self.flow.code
        fetched: dict[str, int] = {}
        for number, step in enumerate(code):
            match step:
                case Test(
                    Operation("<", (Variable(index), Operation("turns" | "len", (Variable(name),)))), body, after
                ) if name == self.name:
                    if body != number + 1 or after <= number:
                        raise NotSeparate("a loop of another form")
                    fetched[index] = fetched.get(index, 0) + 1
                    yield _Loop(number, body, after, index)
        for step in code:
            self._index_only(step, set(fetched))
        if max(fetched.values(), default=0) > 1:
            raise NotSeparate("two loops with one index")

    def _index_only(self, step: Any, indices: set[str]) -> None:
        """Refuse a mechanism that does more with the index of a loop than to fetch the next entry, or more with the list than that."""
        match step:
            case Assign(name, Constant(0)) if name in indices:
                return
            case Assign(name, Operation("+", (Variable(other), Constant(1)))) if name == other and name in indices:
                return
            case Test(Operation("<", (Variable(), Operation("turns" | "len", (Variable(name),))))) if name == self.name:
                return
            case Assign(name) | Replace(name) | Append(name) | Sample(name) if name in indices or name == self.name:
                raise NotSeparate("the index, or the list itself, is changed")
            case Jump():
                return
        for expression in instruction_reads(step):
            plain_reads = [e for e in within(expression) if isinstance(e, Variable)]
            allowed = 0
            for inner in within(expression):
                match inner:
                    case Element(Variable(name), Variable(index)) if name == self.name and index in indices:
                        allowed += 2
                    case Operation("turns" | "len", (Variable(name),)) if name == self.name:
                        allowed += 1
            if sum(e.name == self.name or e.name in indices for e in plain_reads) != allowed:
                raise NotSeparate("the index of a loop, or the list, is used for more")

    def _explored(self, forget: dict[int, frozenset[_Path]], *, only: int | None = None) -> tuple[list[Pass], _Leaves]:
        """All passes of the mechanism, or only one, with some numbers forgotten, and what is returned."""
        store: Store = {**self.parameters, self.name: Answers((UNREAD,) * self.size)}
        self.only = only
        at, returned = self._onward(0, store, only or 0)
        if at not in self.heads:
            laws = self._leaves(returned, 0)
            alone = Pass(((0,) * len(self.values),), (), (tuple(law or 0 for law in laws.laws),))
            return [alone], laws
        passes: list[Pass] = []
        written = 0
        while True:
            made, at, store, returned = self._pass(at, store, forget.get(at, frozenset()), len(passes))
            written += made.parts_on_the_way + made.parts_at_the_end
            passes.append(made)
            if at not in self.heads:
                leaves = self._leaves(returned, written)
                last = [self._leaves(value, written) for value in self.ended]
                if any(each.shape != leaves.shape or each.forgotten != leaves.forgotten for each in last):
                    raise NotSeparate("outputs have different shapes")
                rows = iter(last)
                ends = tuple(None if e is None else (*e, *(law or 0 for law in next(rows).laws)) for e in made.ends)
                passes[-1] = replace(made, ends=ends)
                return passes, leaves
            if len(passes) > _MOST_PASSES:
                raise NotSeparate("too many passes")

    def _onward(self, at: int, store: Store, most: float) -> tuple[int, Any]:
        """Run on, past so many loops; the numbers that they change are forgotten."""
        at, returned = self._run(at, store, self.heads)
        while at in self.heads and most > 0:
            loop = self.loops[at]
            for name in self._changed(loop):
                if name in store:
                    store[name] = forgotten_value(store[name])
                elif name in self.flow.live[loop.after]:
                    raise NotSeparate("a loop gives a variable its first value")
            store[loop.index] = self.size
            at, returned = self._run(loop.after, store, self.heads)
            most -= 1
        return at, returned

    def _changed(self, loop: _Loop) -> list[str]:
        """The variables that a loop changes and that are read after it."""
        code = self.flow.code[loop.body : loop.after]
        if any(isinstance(step, Sample | Append) for step in code):
            raise NotSeparate("a loop that is left out draws noise")
        names = {step.name for step in code if isinstance(step, Assign | Replace)}
        return sorted(names.intersection(self.flow.live[loop.after]) - {loop.index})

    def _pass(self, head: int, store: Store, forget: frozenset[_Path], number: int) -> tuple[Pass, int, Store, Any]:
        """One pass over the list, and where it leads: the same place for all data, or the end."""
        loop = self.loops[head]
        if store.get(loop.index) != 0:
            raise NotSeparate("a loop that does not begin at the first entry")
        names = [name for name in self.flow.live[head] if name not in (loop.index, self.name)]
        rest = (UNREAD,) * (self.size - 1)
        answers = [Answers((value, *rest)) for value in self.values]
        hidden = _by_name(forget)
        first = self._state(store, names, hidden)
        if self._emptied(first):
            raise NotSeparate("noise that was drawn before the data are read is in a list")
        states: list[Store] = [first]
        known: dict[int, tuple[Any, Any]] = {}
        numbers: dict[Any, int] = {state_key(first, names, known): 0}
        moves: list[tuple[int, ...]] = []
        written: list[tuple[tuple[int, ...], ...]] = []
        levels = [0]
        while len(moves) < len(states):
            state, level = states[len(moves)], levels[len(moves)]
            row: list[int] = []
            shown: list[tuple[int, ...]] = []
            for answer in answers if level < self.size else ():
                self.turns += 1
                pause()
                if self.turns > _MOST_TURNS:
                    raise NotSeparate("too many turns")
                after: Store = {**state, loop.index: 0, self.name: answer}
                at, _ = self._run(loop.body, after, self.heads)
                if at != head or after.get(loop.index) != 1:
                    raise NotSeparate("a turn that does not lead to the next")
                new = self._state(after, names, hidden)
                refuse_other_marks(state, new)
                shown.append(self._emptied(new))
                found = state_key(new, names, known)
                if found not in numbers:
                    numbers[found] = len(states)
                    states.append(new)
                    levels.append(level + 1)
                row.append(numbers[found])
            moves.append(tuple(row))
            written.append(tuple(shown))
            if len(moves) * len(answers) > _MANY_TURNS and not forget and self.apart:
                self.apart = False
                self._take_apart(head, states, names)
        parts_written = {len(laws) for row in written for laws in row}
        if len(parts_written) != 1:
            raise NotSeparate("turns write different numbers of parts")
        on_the_way = tuple(row or ((0,) * max(parts_written),) * len(self.values) for row in written)
        return self._ended(loop, states, tuple(moves), on_the_way if parts_written != {0} else (), number)

    def _ended(
        self, loop: _Loop, states: list[Store], moves: Moves, written: Any, number: int
    ) -> tuple[Pass, int, Store, Any]:
        """The end of a pass: what is run from every state in which the data may end."""
        gone = Answers((FORGOTTEN,) * self.size)
        ends: list[tuple[int, ...] | None] = []
        self.ended: list[Any] = []
        onward: tuple[int, Any, Store] | None = None
        known: dict[int, tuple[Any, Any]] = {}
        for state, possible in zip(states, _at_the_end(moves, self.size), strict=True):
            if not possible:
                ends.append(None)
                continue
            store: Store = {**state, loop.index: self.size, self.name: gone}
            if self.only is not None:
                for name in self._changed(loop):
                    forgotten_value(store[name])  # the other passes take it for a number
            at, returned = self._onward(loop.after, store, 0 if self.only is None else inf)
            if at in self.heads:
                names = [n for n in self.flow.live[at] if n != self.name]
                new = {name: store[name] for name in names if name in store}
                refuse_other_marks(state, new)
                ends.append(self._emptied(new))
                found = (at, state_key(new, names, known), {**new, self.name: Answers((UNREAD,) * self.size)})
                if onward is not None and onward[:2] != found[:2]:
                    raise _TakeApart(loop.head, [], self._count_passes())
            else:
                ends.append(())
                self.ended.append(returned)
                found = (at, None, {})
                if onward is not None and onward[0] in self.heads:
                    raise NotSeparate("some data end earlier than others")
            onward = found if onward is None else onward
        assert onward is not None
        if len({len(laws) for laws in ends if laws is not None}) != 1:
            raise NotSeparate("passes write different numbers of parts")
        last = self.ended[0] if self.ended else None
        return Pass(moves, written, tuple(ends)), onward[0], dict(onward[2]), last

    def _state(self, store: Store, names: list[str], forget: Mapping[str, tuple[int, ...]]) -> Store:
        """What is needed of a store, some of its numbers forgotten."""
        state = {name: store[name] for name in names if name in store}
        for name, indices in forget.items():
            value = state.get(name)
            if not indices:
                refuse_no_number(value)
                state[name] = FORGET
                continue
            if not isinstance(value, Cells | tuple):
                raise NotSeparate("what is forgotten is no list any more")
            items = list(items_of(value))
            for index in indices:
                refuse_no_number(items[index])
                items[index] = FORGET
            state[name] = Cells(tuple(items), value.shared) if isinstance(value, Cells) else tuple(items)
        return state

    def _emptied(self, state: Store) -> tuple[int, ...]:
        """Take the parts out of the one list of noise, and leave a mark: the laws of these parts."""
        lists = [
            name
            for name, value in state.items()
            if isinstance(value, Cells) and any(isinstance(item, Token) for item in value.items)
        ]
        if not lists:
            return ()
        if len(lists) > 1:
            raise NotSeparate("two lists of noise")
        value = state[lists[0]]
        new = [item for item in value.items if not isinstance(item, Written)]
        if len(new) < len(value.items) and not isinstance(value.items[0], Written):
            raise NotSeparate("a list of noise is not in order")
        if len(new) == len(value.items) and any(map(count_marks, state.values())):
            raise NotSeparate("two lists of noise")
        if any(isinstance(item, Cells | tuple | Lookup) for item in new):
            raise NotSeparate("a list of lists of noise")
        laws = []
        for item in new:
            law = item.law if isinstance(item, Token) else self._law(EXACTLY, (item,))
            if law is None:
                raise NotSeparate("a part of another pass is written on the way")
            laws.append(law)
        if len({id(item) for item in new if isinstance(item, Token)}) < sum(isinstance(item, Token) for item in new):
            raise NotSeparate("one draw is shown twice")
        held_elsewhere = {id(t) for name, v in state.items() if name != lists[0] for t in tokens_in(v)}
        if any(id(item) in held_elsewhere for item in new):
            raise NotSeparate("one draw is kept twice")
        state[lists[0]] = replace(value, items=(WRITTEN,))
        return tuple(laws)

    def _count_passes(self) -> int:
        """How many passes there are."""
        store: Store = {**self.parameters, self.name: Answers((UNREAD,) * self.size)}
        for most in range(1, _MOST_PASSES):
            if self._onward(0, dict(store), most)[0] not in self.heads:
                return most
        raise NotSeparate("too many passes")

    def _take_apart(self, head: int, states: list[Store], names: list[str]) -> None:
        """Go over to one pass for each number that changes, if several do."""
        paths: list[_Path] = []
        for name in names:
            held_values = [state.get(name) for state in states]
            first = held_values[0]
            if isinstance(first, Cells | tuple) and not isinstance(first, Answers):
                length = len(items_of(first))
                if any(not isinstance(v, type(first)) or len(items_of(v)) != length for v in held_values):
                    continue
                for index in range(length):
                    inner = [items_of(v)[index] for v in held_values]
                    if differing_numbers(inner):
                        paths.append((name, index))
            elif differing_numbers(held_values):
                paths.append((name, None))
        if 2 <= len(paths) <= _MOST_PASSES:
            raise _TakeApart(head, paths, 0)

    def _together(self, found: tuple[list[Pass], _Leaves]) -> Draws:
        """The model of one exploration, in which nothing is forgotten."""
        passes, leaves = found
        return self._draws(passes, tuple(range(len(leaves.laws))), leaves.shape)

    def _put_together(self, slices: list[tuple[list[Pass], _Leaves]]) -> Draws:
        """The model of several explorations: every part from the first in which it is not forgotten."""
        leaves = [each for _, each in slices]
        if any(each.shape != leaves[0].shape for each in leaves) or any(len(passes) != 1 for passes, _ in slices):
            raise NotSeparate("passes that are taken apart differ")
        if any(passes[0].written for passes, _ in slices):
            raise NotSeparate("parts are written on the way of a pass that is taken apart")
        passes: list[Pass] = []
        order: dict[int, int] = {}
        for (made,), each in ((tuple(p), leaf) for p, leaf in slices):
            own = [i for i, hidden in enumerate(each.forgotten) if not hidden and i not in order]
            if not own:
                continue
            for place, i in enumerate(own):
                order[i] = sum(p.parts_at_the_end for p in passes) + place
            ends = tuple(None if laws is None else tuple(laws[i] for i in own) for laws in made.ends)
            passes.append(replace(made, ends=ends))
        if len(order) < len(leaves[0].laws):
            raise NotSeparate("a part depends on two numbers that change")
        return self._draws(passes, tuple(order[i] for i in range(len(order))), leaves[0].shape)


def _by_name(paths: Iterable[_Path]) -> dict[str, tuple[int, ...]]:
    """Paths by the name of their variable; no index for the variable itself."""
    found: dict[str, tuple[int, ...]] = {}
    for name, index in sorted(paths, key=str):
        found[name] = (*found.get(name, ()), *(() if index is None else (index,)))
    return found


class _TakeApart(NotSeparate):
    """A pass has too many states, and several numbers in them change; or what follows a pass depends on it, and there are several."""

    def __init__(self, head: int, paths: list[_Path], passes: int) -> None:
        super().__init__()
        self.head, self.paths, self.passes = head, paths, passes


def _at_the_end(moves: Moves, size: int) -> list[bool]:
    """In which states data of a size may end."""
    width = len(moves[0])
    table = np.array([row or (-1,) * width for row in moves], dtype=np.int64).T
    current = np.zeros(len(moves), dtype=bool)
    current[0] = True
    for _ in range(size):
        following = np.zeros_like(current)
        for row in table:
            reached = row[current]
            following[reached[reached >= 0]] = True
        current = following
    return [bool(x) for x in current]
