"""The machine that runs the code of a program, one instruction after the other, as far as chance or an input decides.

A run is a list of frames: where each function is, its variables, and its stack.  It can be copied at any moment, and two runs
with the same key go on in the same way: the key leaves out what no instruction will look at again.  An instruction either
happens completely or, where it has to wait for an input or for more of a noise, not at all, so that it can be tried again.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from privproof_checker.outcomes import Refusal
from privproof_checker.source.arithmetic import OPERATORS, SIGNS, exact_divide
from privproof_checker.source.forms import Deciding, Form
from privproof_checker.source.functions import FUNCTIONS, METHODS
from privproof_checker.source.laws import SIGNATURES, Law, law
from privproof_checker.source.libraries import LIBRARY, library_law, library_value
from privproof_checker.source.operations import (
    COMPARISONS,
    appended,
    element,
    elements,
    fails,
    in_place,
    part,
    put,
    table,
    text_of,
    truth,
    unpacked,
    with_entry,
)
from privproof_checker.source.reading import Function
from privproof_checker.source.running import (
    Copier,
    Emit,
    End,
    Event,
    Frame,
    Keys,
    Noise,
    Run,
    Wait,
    Work,
    forget_passed,
    held_values,
    holders,
)
from privproof_checker.source.values import (
    FORGOTTEN,
    UNREAD,
    Beyond,
    Cells,
    Labelled,
    Split,
    Stream,
    Tail,
    Value,
    Walk,
    Want,
    anonymous,
    frozen,
    key,
    tails,
)
from privproof_checker.source.walks import EXHAUSTED, advance, begin_walk, element_at, peek

_DEEPEST = 40
"""Calls inside each other; beyond, nothing is established about the source."""
_SETTLING = 25
"""How many instructions take about as long as looking through a run with few variables."""


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
                stack[-2:] = [self._compared(argument, stack[-2], stack[-1])]
            case "unless":
                holds = self._truth(stack[-1])
                stack.pop()
                if not holds:
                    frame.at = argument
                    return None
            case "jump":
                frame.at = argument
                return None
            case "and then" | "or else":
                if self._truth(stack[-1]) == (name == "or else"):
                    frame.at = argument
                    return None
                stack.pop()
            case "next":
                value = peek(stack[-1], self._next)
                if value is EXHAUSTED:
                    stack.pop()
                    frame.at = argument
                    return None
                self._advance(stack[-1])
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

    def _truth(self, value: Value) -> bool:
        return truth(value)

    def _compared(self, sign: str, left: Value, right: Value) -> bool:
        return COMPARISONS[sign](left, right)

    def _signed(self, sign: str, value: Value) -> Value:
        return SIGNS[sign](value)

    def _element(self, sequence: Value, index: Value) -> Value:
        return element(sequence, index)

    def _begin_walk(self, stack: list[Value], kind: str, count: int) -> None:
        begin_walk(stack, kind, count)

    def _next(self, walk: Walk) -> Value:
        return element_at(walk)

    def _advance(self, walk: Walk) -> None:
        advance(walk)

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
                stack[-2:] = [self._element(stack[-2], stack[-1])]
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
                stack[-1] = self._signed(argument, stack[-1])
            case "unpack":
                stack[-1:] = reversed(unpacked(stack[-1], argument))
            case "append":
                appended(stack[-2], stack[-1])
                stack[-2:] = [None]
            case "add":
                appended(frame.variables[argument], stack[-1])
                stack.pop()
            case "walk":
                self._begin_walk(stack, *argument)
            case "record":
                name, fields, sequence, given, late = argument
                at = len(stack) - len(given)
                values = {**late, **dict(zip(given, stack[at:], strict=True))}
                labels = [f"{field}=" for field in fields]
                stack[at:] = [Labelled.of(name, labels, map(values.__getitem__, fields), sequence=sequence)]
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
        at, given = noise_arguments(frame, name, names)
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

    def copied(self, run: Run, change: Callable[[Value], Value] | None = None) -> Run:
        """A copy; with a change to the values in it that are no lists."""
        copier = Copier(change)
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
        forget_passed(run)

    def settled(self, run: Run) -> tuple[Run, Any]:
        """The run without what no instruction will look at again, and its key."""
        self.trim(run)
        numbers: dict[int, int] = {}
        if self.unbounded:
            for tail in self.tails(run):
                numbers.setdefault(tail.identity, len(numbers))
        if any(old != new for old, new in numbers.items()):
            run = self.copied(run, lambda leaf: _renumbered(leaf, numbers))
        keeper = Keys()
        parts = []
        for frame in run.frames:
            variables = tuple((name, keeper.key(frame.variables[name])) for name in sorted(frame.variables))
            parts.append((frame.function, frame.at, variables, tuple(map(keeper.key, frame.stack))))
        self.work.spend(_SETTLING + keeper.count)
        return run, tuple(parts)

    def with_tail(self, run: Run, tail: Tail) -> Run:
        """The run with a new tail on the stack, under a number of its own."""
        self.unbounded = True
        taken = [other.identity for value in held_values(run) for other in tails(value)]
        run.frames[-1].stack.append(replace(tail, identity=1 + max(taken, default=-1)))
        return run

    def fed(self, run: Run, name: str, number: int | None, value: Value) -> Run:
        """A copy with the answer of a number of an input list filled in, or with the next element of a stream."""
        result = self.copied(run)
        for holder in holders(result):
            if holder.name != name:
                continue
            if isinstance(holder, Stream):
                holder.given = value
            elif number is not None and holder.items[number] is UNREAD:
                holder.items[number] = value
        return result

    def tails(self, run: Run) -> list[Tail]:
        """The tails that the run still holds."""
        return [tail for value in held_values(run) for tail in tails(value)]


def noise_arguments(frame: Frame, name: str, names: Sequence[str]) -> tuple[int, dict[str, Value]]:
    """The arguments of a noise that a run is about to draw, and where on the stack they begin."""
    at = len(frame.stack) - len(names)
    defaults = (SIGNATURES[name] if name in SIGNATURES else LIBRARY[name]).defaults
    return at, {**defaults, **dict(zip(names, frame.stack[at:], strict=True))}


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


def released(machine: Machine, run: Run, value: Value) -> Value:
    """An output as it is shown: an unbounded number in it occurs once, and the run never looks at it again."""
    seen = {tail.identity for tail in machine.tails(run)}
    for tail in tails(value):
        if tail.identity in seen:
            raise Beyond("an unbounded noisy number is shown and used again", "question.source")
        seen.add(tail.identity)
    return anonymous(value)
