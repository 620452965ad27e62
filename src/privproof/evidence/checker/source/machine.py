"""The machine that runs the code of a program, one instruction after the other, as far as chance or an input decides.

A run is a list of frames: where each function is, its variables, and its stack.  It can be copied at any moment, and two runs
with the same key go on in the same way: the key leaves out what no instruction will look at again.  An instruction either
happens completely or, where it has to wait for an input or for more of a noise, not at all, so that it can be tried again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any, TypeAlias

from privproof.evidence.checker.outcomes import Refusal
from privproof.evidence.checker.source.forms import Deciding, Form
from privproof.evidence.checker.source.laws import SIGNATURES, Law, law
from privproof.evidence.checker.source.libraries import LIBRARY, library_law, library_value
from privproof.evidence.checker.source.operations import (
    COMPARISONS,
    FUNCTIONS,
    METHODS,
    OPERATORS,
    SIGNS,
    appended,
    element,
    elements,
    exact_divide,
    fails,
    in_place,
    part,
    put,
    table,
    text_of,
    truth,
    unpacked,
    whole,
    with_entry,
)
from privproof.evidence.checker.source.reading import Function
from privproof.evidence.checker.source.values import (
    FORGOTTEN,
    UNREAD,
    Beyond,
    Cells,
    Labelled,
    Member,
    Split,
    Stream,
    Table,
    Tail,
    Value,
    Walk,
    Want,
    anonymous,
    frozen,
    key,
    tails,
    with_items,
)

_DEEPEST = 40
"""Calls inside each other; beyond, nothing is established about the source."""
_SETTLING = 25
"""How many instructions take about as long as looking through a run with few variables."""
_EXHAUSTED = object()
_ATOMS = frozenset((int, bool, str, type(None), Fraction, float, Member))
"""The types of values that hold nothing else, and no noise."""


# ---------------------------------------------------------------------------------------------------------------- events


@dataclass(frozen=True)
class Noise:
    """Noise is drawn; its value goes on top of the stack."""

    law: Law


@dataclass(frozen=True)
class Wait:
    """An input is needed that is not there yet."""


@dataclass(frozen=True)
class Emit:
    """An output is written."""

    value: Value


@dataclass(frozen=True)
class End:
    """The run has ended with a value."""

    value: Value


Event: TypeAlias = "Noise | Wait | Emit | End | Split | Deciding"


@dataclass(eq=False)
class Frame:
    """A function that runs: the next instruction, the variables, the stack."""

    function: int
    at: int
    variables: dict[str, Value]
    stack: list[Value] = field(default_factory=list)


@dataclass(eq=False)
class Run:
    """A run: the frames, the innermost last."""

    frames: list[Frame]


class Work:
    """How much may still be done before the checker gives up."""

    def __init__(self, most: int) -> None:
        self.most = self.left = most

    def spend(self, amount: int) -> None:
        """Count some work."""
        self.left -= amount
        if self.left < 0:
            raise Beyond(f"it takes more than {self.most} steps", "question.source")


class Machine:
    """Runs a program.

    Attributes:
        functions: the code; the mechanism is the first.
        work: what may still be done.
        operators: what the operators do: in programs with continuous noise ``/`` is the exact quotient.
    """

    def __init__(self, functions: Sequence[Function], work: Work, *, exact_quotients: bool = False) -> None:
        self.functions = functions
        self.work = work
        self.operators: Mapping[str, Callable[[Value, Value], Value]] = (
            {**OPERATORS, "Div": exact_divide} if exact_quotients else OPERATORS
        )
        self.laws: dict[Any, Law] = {}
        self.unbounded = False

    def begin(self, arguments: Mapping[str, Value]) -> Run:
        """A run of the mechanism on its arguments."""
        return Run([Frame(0, 0, dict(arguments))])

    def go(self, run: Run) -> Event:
        """Run until chance, an input, an output or the end."""
        taken = 0
        try:
            while True:
                taken += 1
                if taken >= 2000:
                    self.work.spend(taken)
                    taken = 0
                event = self.instruction(run)
                if event is not None:
                    return event
        except Want:
            return Wait()
        except (Split, Deciding) as event:
            return event
        except Refusal as problem:
            frame = run.frames[-1]
            function = self.functions[frame.function]
            line = function.code[frame.at][2] + function.line - 1
            problem.place = problem.place or f"question.source: {function.name}, line {line}"
            raise
        finally:
            self.work.spend(taken)

    def instruction(self, run: Run) -> Event | None:
        """One instruction; an event where the run does not go on by itself."""
        frame = run.frames[-1]
        name, argument, _ = self.functions[frame.function].code[frame.at]
        stack = frame.stack
        match name:
            case "load":
                if argument not in frame.variables:
                    fails(f"the variable {argument.partition('#')[0]!r} has no value yet")
                stack.append(frame.variables[argument])
            case "store":
                frame.variables[argument] = stack.pop()
            case "constant":
                stack.append(argument)
            case "operate":
                stack[-2:] = [self.operators[argument](stack[-2], stack[-1])]
            case "compare":
                stack[-2:] = [COMPARISONS[argument](stack[-2], stack[-1])]
            case "unless":
                holds = truth(stack[-1])
                stack.pop()
                if not holds:
                    frame.at = argument
                    return None
            case "jump":
                frame.at = argument
                return None
            case "and then" | "or else":
                if truth(stack[-1]) == (name == "or else"):
                    frame.at = argument
                    return None
                stack.pop()
            case "next":
                value = _peek(stack[-1])
                if value is _EXHAUSTED:
                    stack.pop()
                    frame.at = argument
                    return None
                _advance(stack[-1])
                stack.append(value)
            case "return":
                return self._return(run)
            case "noise":
                return self._noise(frame, *argument)
            case "yield":
                value = frozen(stack[-1])
                stack.pop()
                frame.at += 1
                return Emit(value)
            case "call":
                self._call(run, *argument)
                return None
            case _:
                self._other(frame, name, argument)
        frame.at += 1
        return None

    def _other(self, frame: Frame, name: str, argument: Any) -> None:
        stack = frame.stack
        match name:
            case "pop":
                stack.pop()
            case "twice":
                stack.extend(stack[-argument:])
            case "tuple" | "list" | "table":
                count = 2 * argument if name == "table" else argument
                items = stack[len(stack) - count :]
                made = tuple(items) if name == "tuple" else Cells(items) if name == "list" else table(items)
                stack[len(stack) - count :] = [made]
            case "element":
                stack[-2:] = [element(stack[-2], stack[-1])]
            case "part":
                stack[-3:] = [part(stack[-3], stack[-2], stack[-1])]
            case "put":
                put(stack[-2], stack[-1], stack[-3])
                del stack[-3:]
            case "put new":
                put(stack[-3], stack[-2], stack[-1])
                del stack[-3:]
            case "change":
                stack[-2:] = [in_place(argument, stack[-2], stack[-1], self.operators)]
            case "sign":
                stack[-1] = SIGNS[argument](stack[-1])
            case "unpack":
                stack[-1:] = reversed(unpacked(stack[-1], argument))
            case "append":
                appended(stack[-2], stack[-1])
                stack[-2:] = [None]
            case "add":
                appended(frame.variables[argument], stack[-1])
                stack.pop()
            case "walk":
                _walk(stack, *argument)
            case "record":
                name, fields, sequence = argument
                made = Labelled.of(name, fields, stack[len(stack) - len(fields) :], sequence=sequence)
                stack[len(stack) - len(fields) :] = [made]
            case "text":
                stack[-1] = text_of(stack[-1], argument)
            case "texts":
                at = len(stack) - argument
                stack[at:] = ["".join(stack[at:])]
            case "entry":
                frame.variables[argument] = with_entry(frame.variables[argument], stack[-2], stack[-1])
                del stack[-2:]
            case "raise":
                fails("an exception is raised")
            case "library":
                function, count = argument
                at = len(stack) - count
                stack[at:] = [library_value(function, stack[at:])]
            case "builtin":
                function, count = argument
                at = len(stack) - count
                self.work.spend(sum(map(_weight, stack[at:])))
                stack[at:] = [FUNCTIONS[function][0](*stack[at:])]
            case "method":
                function, count = METHODS[argument]
                at = len(stack) - count - 1
                self.work.spend(_weight(stack[at]))
                stack[at:] = [function(*stack[at:])]
            case _:
                raise AssertionError(name)

    def _return(self, run: Run) -> Event | None:
        frame = run.frames[-1]
        if len(run.frames) == 1:
            return End(frozen(frame.stack[-1]))
        run.frames.pop()
        run.frames[-1].stack.append(frame.stack[-1])
        return None

    def _call(self, run: Run, number: int, names: Sequence[str]) -> None:
        if len(run.frames) >= _DEEPEST:
            raise Beyond("calls are nested too deeply", "")
        frame, function = run.frames[-1], self.functions[number]
        at = len(frame.stack) - len(names)
        given = dict(zip(names, frame.stack[at:], strict=True))
        del frame.stack[at:]
        frame.at += 1
        run.frames.append(Frame(number, 0, {**function.defaults, **given}))

    def _noise(self, frame: Frame, name: str, names: Sequence[str]) -> Event:
        at = len(frame.stack) - len(names)
        known_defaults = (SIGNATURES[name] if name in SIGNATURES else LIBRARY[name]).defaults
        given = {**known_defaults, **dict(zip(names, frame.stack[at:], strict=True))}
        if name in LIBRARY:
            found = library_law(name, given)
            del frame.stack[at:]
            frame.at += 1
            return Noise(found)
        try:
            known = (name, *((each, key(_plain(value))) for each, value in sorted(given.items())))
        except TypeError:
            found = law(name, given)
        else:
            if known not in self.laws:
                self.laws[known] = law(name, given)
                self.work.spend(len(self.laws[known]) if isinstance(self.laws[known], list) else 1)  # type: ignore[arg-type]
            found = self.laws[known]
        del frame.stack[at:]
        frame.at += 1
        return Noise(found)

    # ------------------------------------------------------------------------------------------------- copies and keys

    def copied(self, run: Run, change: Callable[[Value], Value] | None = None) -> Run:
        """A copy; with a change to the values in it that are no lists."""
        copier = _Copier(change)
        frames = []
        for frame in run.frames:
            variables = {name: copier.value(value) for name, value in frame.variables.items()}
            frames.append(Frame(frame.function, frame.at, variables, [copier.value(value) for value in frame.stack]))
        self.work.spend(copier.count)
        return Run(frames)

    def trim(self, run: Run) -> None:
        """Drop what no instruction will look at again."""
        for frame in run.frames:
            live = self.functions[frame.function].live[frame.at]
            if len(live) < len(frame.variables) or not frame.variables.keys() <= live:
                frame.variables = {name: value for name, value in frame.variables.items() if name in live}
        _forget(run)

    def settled(self, run: Run) -> tuple[Run, Any]:
        """The run without what no instruction will look at again, and its key."""
        self.trim(run)
        numbers: dict[int, int] = {}
        if self.unbounded:
            for tail in self.tails(run):
                numbers.setdefault(tail.identity, len(numbers))
        if any(old != new for old, new in numbers.items()):
            run = self.copied(run, lambda leaf: _renumbered(leaf, numbers))
        keeper = _Keys()
        parts = []
        for frame in run.frames:
            variables = tuple((name, keeper.key(frame.variables[name])) for name in sorted(frame.variables))
            parts.append((frame.function, frame.at, variables, tuple(map(keeper.key, frame.stack))))
        self.work.spend(_SETTLING + keeper.count)
        return run, tuple(parts)

    def with_tail(self, run: Run, tail: Tail) -> Run:
        """The run with a new tail on the stack, under a number of its own."""
        self.unbounded = True
        taken = [other.identity for value in _values(run) for other in tails(value)]
        run.frames[-1].stack.append(replace(tail, identity=1 + max(taken, default=-1)))
        return run

    def fed(self, run: Run, name: str, number: int | None, value: Value) -> Run:
        """A copy with the answer of a number of an input list filled in, or with the next element of a stream."""
        result = self.copied(run)
        for holder in _holders(result):
            if holder.name != name:
                continue
            if isinstance(holder, Stream):
                holder.given = value
            elif number is not None and holder.items[number] is UNREAD:
                holder.items[number] = value
        return result

    def tails(self, run: Run) -> list[Tail]:
        """The tails that the run still holds."""
        return [tail for value in _values(run) for tail in tails(value)]


def _weight(value: Value) -> int:
    if isinstance(value, Cells):
        return 1 + len(value.items)
    return 1 + len(value) if isinstance(value, tuple | str | range) else 1


def _plain(value: Value) -> Value:
    """A list as the tuple of its elements, for a key."""
    if isinstance(value, Cells):
        return (FORGOTTEN, *(_plain(item) for item in elements(value)))
    if isinstance(value, tuple):
        return tuple(map(_plain, value))
    if isinstance(value, Form):
        raise TypeError
    return value


def _renumbered(value: Value, numbers: Mapping[int, int]) -> Value:
    return replace(value, identity=numbers[value.identity]) if isinstance(value, Tail) else value


# ----------------------------------------------------------------------------------------------------------------- walks


def _walk(stack: list[Value], kind: str, count: int) -> None:
    """Begin to walk over what is on top of the stack."""
    match kind:
        case "zip":
            if any(map(_over_stream, stack[-count:])):
                raise Beyond("zip with a stream, which would take a number too many", "")
            stack[-count:] = [Walk(None, "zip", 0, stack[-count:])]
        case "enumerate" | "uncounted":
            start = whole(stack[-1], "where enumerate begins")
            stack[-2:] = [Walk(None, kind, start, [stack[-2]])]
        case _:
            over = stack[-1]
            if not isinstance(over, Cells | Stream | range | tuple | str):
                over = tuple(elements(over))
            stack[-1] = Walk(over)


def _over_stream(walk: Walk) -> bool:
    return isinstance(walk.over, Stream) or any(map(_over_stream, walk.inner))


def _peek(walk: Walk) -> Value:
    """The next element, which is not taken yet."""
    if walk.kind == "zip":
        found = []
        for inner in walk.inner:
            value = _peek(inner)
            if value is _EXHAUSTED:
                return _EXHAUSTED
            found.append(value)
        return tuple(found)
    if walk.kind in ("enumerate", "uncounted"):
        value = _peek(walk.inner[0])
        return value if value is _EXHAUSTED else (walk.position, value)
    over = walk.over
    if isinstance(over, Stream):
        if over.given is UNREAD:
            raise Want
        return over.given
    items = over.items if isinstance(over, Cells) else over
    if walk.position >= len(items):
        return _EXHAUSTED
    if items[walk.position] is UNREAD:
        raise Want
    return items[walk.position]


def _advance(walk: Walk) -> None:
    for inner in walk.inner:
        _advance(inner)
    if isinstance(walk.over, Stream):
        walk.over.given = UNREAD
    elif walk.kind != "uncounted":
        walk.position += 1


# ------------------------------------------------------------------------------------------------------- going through all


def _values(run: Run) -> Iterator[Value]:
    """All that a run holds: variables and stacks, the values in walks too."""
    for frame in run.frames:
        for name in sorted(frame.variables):
            yield from _unwalked(frame.variables[name])
        for value in frame.stack:
            yield from _unwalked(value)


def _unwalked(value: Value) -> Iterator[Value]:
    if isinstance(value, Walk):
        if value.over is not None and not isinstance(value.over, Stream):
            yield value.over
        for inner in value.inner:
            yield from _unwalked(inner)
    else:
        yield value


def _holders(run: Run) -> Iterator[Any]:
    """The lists and streams that a run holds, each once."""
    waiting: list[Value] = []
    seen: set[int] = set()
    for frame in run.frames:
        waiting += [*frame.variables.values(), *frame.stack]
    while waiting:
        value = waiting.pop()
        if isinstance(value, Walk):
            waiting += [value.over, *value.inner]
        elif isinstance(value, tuple):
            waiting += value
        elif isinstance(value, Stream) and id(value) not in seen:
            seen.add(id(value))
            yield value
        elif isinstance(value, Cells) and id(value) not in seen:
            seen.add(id(value))
            yield value
            if value.name is None:
                waiting += value.items


def _forget(run: Run) -> None:
    """Drop the elements of lists that only loops hold, and that these have passed."""
    if not any(isinstance(value, Walk) for frame in run.frames for value in frame.stack):
        return
    held: set[int] = set()
    walked: dict[int, tuple[Cells, int]] = {}
    seen: set[int] = set()

    def look(value: Value) -> None:
        if isinstance(value, Walk):
            over = value.over
            if isinstance(over, Cells):
                position = min(value.position, walked[id(over)][1]) if id(over) in walked else value.position
                walked[id(over)] = (over, position)
                inside(over)
            elif isinstance(over, tuple):
                look(over)
            for inner in value.inner:
                look(inner)
        elif isinstance(value, Cells):
            held.add(id(value))
            inside(value)
        elif isinstance(value, tuple):
            for item in value:
                look(item)
        elif isinstance(value, Table):
            for row in value.rows:
                look(row)

    def inside(cells: Cells) -> None:
        if id(cells) not in seen:
            seen.add(id(cells))
            for item in cells.items:
                look(item)

    for frame in run.frames:
        for value in (*frame.variables.values(), *frame.stack):
            look(value)
    for number, (cells, position) in walked.items():
        if number not in held and (not cells.fixed or cells.name is not None):
            cells.items[:position] = [FORGOTTEN] * min(position, len(cells.items))


class _Copier:
    """Copies values; what is one list stays one list."""

    def __init__(self, change: Callable[[Value], Value] | None) -> None:
        self.change = change
        self.known: dict[int, Any] = {}
        self.count = 0

    def value(self, value: Value) -> Value:
        self.count += 1
        if type(value) in _ATOMS:
            return value
        if isinstance(value, tuple):
            if not value:
                return value
            items = [self.value(item) for item in value]
            same = all(x is y for x, y in zip(items, value, strict=True))
            return value if same else with_items(value, items)
        if isinstance(value, Cells):
            if value.fixed and value.name is None and self.change is None:
                return value
            if id(value) not in self.known:
                self.known[id(value)] = copy = Cells([], value.fixed, value.name)
                copy.items = [self.value(item) for item in value.items]
            return self.known[id(value)]
        if isinstance(value, Walk):
            return Walk(self.value(value.over), value.kind, value.position, [self.value(w) for w in value.inner])
        if isinstance(value, Stream):
            if id(value) not in self.known:
                self.known[id(value)] = Stream(value.name, value.given)
            return self.known[id(value)]
        if isinstance(value, Table):
            return Table(tuple((self.value(k), self.value(v)) for k, v in value.rows))
        return value if self.change is None else self.change(value)


class _Keys:
    """Keys of values; lists by number, so that one list under two names differs from two lists."""

    def __init__(self) -> None:
        self.numbers: dict[int, int] = {}
        self.count = 0

    def key(self, value: Value) -> Any:
        self.count += 1
        if type(value) in _ATOMS:
            return key(value)
        if isinstance(value, Cells):
            if id(value) in self.numbers:
                return ("again", self.numbers[id(value)])
            self.numbers[id(value)] = number = len(self.numbers)
            return ("list", number, value.fixed, value.name, *map(self.key, value.items))
        if isinstance(value, Stream):
            return ("stream", value.name, key(value.given))
        if isinstance(value, Walk):
            over = value.over
            if isinstance(over, str | range):
                return ("walk", "rest", key(over[value.position :]))
            if isinstance(over, tuple):
                return ("walk", "rest", *map(self.key, over[value.position :]))
            position = 0 if isinstance(over, Stream) else value.position
            return ("walk", value.kind, position, over is None or self.key(over), *map(self.key, value.inner))
        if type(value) is tuple:
            return ("tuple", *map(self.key, value))
        if isinstance(value, Labelled):
            return ("labelled", value.name, value.labels, *map(self.key, value))
        if isinstance(value, Table):
            return ("table", *((self.key(k), self.key(v)) for k, v in value.rows))
        if isinstance(value, Form):
            return ("form", value.constant, *value.terms.items())
        return key(value)


def released(machine: Machine, run: Run, value: Value) -> Value:
    """An output as it is shown: an unbounded number in it occurs once, and the run never looks at it again."""
    seen = {tail.identity for tail in machine.tails(run)}
    for tail in tails(value):
        if tail.identity in seen:
            raise Beyond("an unbounded noisy number is shown and used again", "question.source")
        seen.add(tail.identity)
    return anonymous(value)
