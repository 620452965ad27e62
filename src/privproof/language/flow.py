"""The flow of a mechanism: its statements as a list of instructions with jumps, and what is still needed at each of them.

A state of a running mechanism is the number of the next instruction and the values of the variables that are *live* there, that is,
read before they are written again.  Two runs that agree on these behave alike from then on, however they came there; this is
what keeps the models of mechanisms small.  The same holds for a list of answers that is read from front to back: an answer
that no later instruction can read is forgotten.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import TypeAlias

from privproof.exact.patience import pause
from privproof.language.syntax import (
    Append,
    Assign,
    Block,
    Break,
    Constant,
    Continue,
    Each,
    Element,
    Emit,
    Expression,
    If,
    Inline,
    Operation,
    Place,
    Replace,
    Result,
    Return,
    Sample,
    Statement,
    Variable,
    While,
)
from privproof.language.values import MISSING
from privproof.language.walking import parts, reads, variables, writes


@dataclass(frozen=True)
class Test:
    """Go to one of two instructions."""

    test: Expression
    then: int
    otherwise: int
    place: Place


@dataclass(frozen=True)
class Jump:
    """Go to an instruction."""

    target: int
    place: Place


@dataclass(frozen=True)
class Next:
    """Take the next value of a stream."""

    name: str
    stream: str
    place: Place


Instruction: TypeAlias = "Assign | Replace | Append | Sample | Emit | Return | Test | Jump | Next"


@dataclass(frozen=True)
class Window:
    """Which answers of a list may still be read: those from ``variable + offset`` on."""

    variable: str
    offset: int


@dataclass(frozen=True)
class Flow:
    """Instructions, and for each of them what is needed from there on.

    Attributes:
        code: the instructions; the first one is number 0.
        live: for every instruction the variables that may be read before they are written, sorted.
        windows: for every instruction the lists of answers of which only a window may still be read.
    """

    code: tuple[Instruction, ...]
    live: tuple[tuple[str, ...], ...]
    windows: tuple[dict[str, Window], ...]


def flow(body: Block, lists: Iterable[str] = (), given: Iterable[str] = ()) -> Flow:
    """The flow of a mechanism's body.

    Args:
        body: its statements.
        lists: the inputs that are lists of answers.
        given: the variables that have a value at the beginning.
    """
    writer = _Writer()
    writer.block(body)
    code = _shortened(writer.code)
    after = [following(i, instruction) for i, instruction in enumerate(code)]
    sure = _assigned(code, after, frozenset(given))
    live = _live(code, after, sure)
    code = tuple(
        Jump(i + 1, step.place) if _idle(step, live[i + 1] if i + 1 < len(live) else frozenset(), sure[i]) else step
        for i, step in enumerate(code)
    )
    return Flow(code, tuple(tuple(sorted(names)) for names in live), _windows(code, after, tuple(lists)))


class _Writer:
    """Writes blocks as instructions."""

    def __init__(self) -> None:
        self.code: list[Instruction] = []
        self.loops: list[tuple[int, list[int]]] = []
        self.calls: list[tuple[str, list[int]]] = []

    def block(self, block: Block) -> None:
        for statement in block:
            self.statement(statement)

    def jump(self, place: Place, target: int = -1) -> int:
        self.code.append(Jump(target, place))
        return len(self.code) - 1

    def land(self, jumps: Iterable[int]) -> None:
        for number in jumps:
            self.code[number] = Jump(len(self.code), self.code[number].place)

    def statement(self, statement: Statement) -> None:
        match statement:
            case If(test, then, otherwise, place):
                at = self.jump(place)
                self.block(then)
                end = self.jump(place)
                other = len(self.code)
                self.block(otherwise)
                self.code[at] = Test(test, at + 1, other, place)
                self.land([end])
            case While(test, body, place):
                head = self.jump(place)
                self.loops.append((head, []))
                self.block(body)
                self.jump(place, head)
                self.code[head] = Test(test, head + 1, len(self.code), place)
                self.land(self.loops.pop()[1])
            case Each(name, stream, body, place):
                head = len(self.code)
                self.code.append(Next(name, stream, place))
                self.loops.append((head, []))
                self.block(body)
                self.jump(place, head)
                self.land(self.loops.pop()[1])
            case Break(place):
                self.loops[-1][1].append(self.jump(place))
            case Continue(place):
                self.jump(place, self.loops[-1][0])
            case Inline(result, body, place):
                self.calls.append((result, []))
                outer, self.loops = self.loops, []
                self.block(body)
                self.loops = outer
                self.land(self.calls.pop()[1])
            case Result(value, place):
                name, jumps = self.calls[-1]
                self.code.append(Assign(name, value, place))
                jumps.append(self.jump(place))
            case _:
                self.code.append(statement)


def _shortened(code: list[Instruction]) -> tuple[Instruction, ...]:
    """The same instructions without jumps to jumps, and without those that cannot be reached."""

    def final(target: int) -> int:
        seen = set()
        while target < len(code) and isinstance(jump := code[target], Jump) and target not in seen:
            seen.add(target)
            target = jump.target
        return target

    aimed: list[Instruction] = []
    for instruction in code:
        match instruction:
            case Jump(target, place):
                aimed.append(Jump(final(target), place))
            case Test(test, then, otherwise, place):
                if isinstance(test, Constant):
                    aimed.append(Jump(final(then if test.value else otherwise), place))
                else:
                    aimed.append(Test(test, final(then), final(otherwise), place))
            case _:
                aimed.append(instruction)
    reached: set[int] = set()
    waiting = [0]
    while waiting:
        number = waiting.pop()
        if number not in reached:
            reached.add(number)
            waiting.extend(following(number, aimed[number]))
    kept = sorted(reached)
    moved = {old: new for new, old in enumerate(kept)}
    result: list[Instruction] = []
    for old in kept:
        instruction = aimed[old]
        match instruction:
            case Jump(target):
                result.append(replace(instruction, target=moved[target]))
            case Test(_, then, otherwise):
                result.append(replace(instruction, then=moved[then], otherwise=moved[otherwise]))
            case _:
                result.append(instruction)
    return tuple(result)


def following(number: int, instruction: Instruction) -> tuple[int, ...]:
    """The instructions that may follow."""
    match instruction:
        case Jump(target):
            return (target,)
        case Test(_, then, otherwise):
            return (then, otherwise)
        case Return():
            return ()
        case _:
            return (number + 1,)


def instruction_reads(instruction: Instruction) -> tuple[Expression, ...]:
    """The expressions that an instruction evaluates."""
    match instruction:
        case Test(test):
            return (test,)
        case Jump() | Next():
            return ()
        case _:
            return reads(instruction)


def _writes(instruction: Instruction) -> str | None:
    match instruction:
        case Next(name):
            return name
        case Test() | Jump():
            return None
        case _:
            return writes(instruction)


@dataclass(frozen=True)
class _Names:
    """A set of variables, as the bits of a number: a program with a thousand cells has ten thousand of both variables and instructions."""

    numbers: Mapping[str, int]
    bits: int

    def __contains__(self, name: str) -> bool:
        number = self.numbers.get(name)
        return number is not None and bool(self.bits >> number & 1)


def _assigned(code: tuple[Instruction, ...], after: list[tuple[int, ...]], given: frozenset[str]) -> list[_Names]:
    """For every instruction the variables that surely have a value there."""
    everything = dict.fromkeys([*sorted(given), *(name for step in code if (name := _writes(step)) is not None)])
    numbers = {name: number for number, name in enumerate(everything)}
    sure = [(1 << len(numbers)) - 1] * len(code)
    sure[0] = (1 << len(given)) - 1
    waiting = [0]
    reached: set[int] = set()
    while waiting:
        pause()
        number = waiting.pop()
        reached.add(number)
        step = code[number]
        out = sure[number]
        if (name := _writes(step)) is not None:
            missing = isinstance(step, Assign) and isinstance(step.value, Constant) and step.value.value is MISSING
            own = 1 << numbers[name]
            out = out & ~own if missing else out | own
        for target in after[number]:
            both = sure[target] & out
            if target not in reached or both != sure[target]:
                sure[target] = both
                waiting.append(target)
    return [_Names(numbers, each) for each in sure]


def _live(code: tuple[Instruction, ...], after: list[tuple[int, ...]], sure: list[_Names]) -> list[frozenset[str]]:
    read: list[frozenset[str]] = []
    for instruction in code:
        names = {name for expression in instruction_reads(instruction) for name in variables(expression)}
        if isinstance(instruction, Replace | Append):
            names.add(instruction.name)
        read.append(frozenset(names))
    live: list[frozenset[str]] = [frozenset()] * len(code)
    before: list[list[int]] = [[] for _ in code]
    for number, following in enumerate(after):
        for target in following:
            before[target].append(number)
    waiting = list(range(len(code)))
    while waiting:
        pause()
        number = waiting.pop()
        out = frozenset().union(*(live[target] for target in after[number]))
        written = _writes(code[number])
        here = out if _idle(code[number], out, sure[number]) else read[number] | (out - {written})
        if here != live[number]:
            live[number] = here
            waiting.extend(before[number])
    return live


def _idle(instruction: Instruction, needed: frozenset[str], sure: _Names) -> bool:
    """Whether an instruction only computes what nobody needs, and cannot go wrong: then it needs nothing itself."""
    return (
        isinstance(instruction, Assign)
        and instruction.name not in needed
        and all(_harmless(expression, sure) for expression in instruction_reads(instruction))
    )


def _harmless(expression: Expression, sure: _Names) -> bool:
    """Whether an expression cannot go wrong: constants, variables that surely have a value, and counters of loops."""
    match expression:
        case Constant():
            return True
        case Variable(name):
            return name in sure
        case Operation("+", (Variable(name), Constant(int()))):
            return name in sure and name.startswith(("#i", "#n")) and "." not in name
        case _:
            return False


def _windows(
    code: tuple[Instruction, ...], after: list[tuple[int, ...]], lists: tuple[str, ...]
) -> tuple[dict[str, Window], ...]:
    accesses: dict[str, list[Window | str | None]] = {}
    for name in lists:
        accesses[name] = [_access(instruction, name) for instruction in code]
    if not any(isinstance(access, Window) for each in accesses.values() for access in each):
        return tuple({} for _ in code)
    reachable = _reachable(after)
    forward = {
        number: _advances(instruction) for number, instruction in enumerate(code) if _writes(instruction) is not None
    }
    result: list[dict[str, Window]] = []
    for number in range(len(code)):
        windows: dict[str, Window] = {}
        for name in lists:
            seen = [accesses[name][i] for i in reachable[number] if accesses[name][i] is not None]
            if not seen or any(isinstance(window, str) for window in seen):
                continue
            found = [window for window in seen if isinstance(window, Window)]
            variable = found[0].variable
            if any(window.variable != variable for window in found):
                continue
            if all(forward[i] for i in reachable[number] if _writes(code[i]) == variable):
                windows[name] = Window(variable, min(window.offset for window in found))
        result.append(windows)
    return tuple(result)


def _reachable(after: list[tuple[int, ...]]) -> list[frozenset[int]]:
    result = []
    for number in range(len(after)):
        seen: set[int] = set()
        waiting = [number]
        while waiting:
            current = waiting.pop()
            if current not in seen:
                seen.add(current)
                waiting.extend(after[current])
        result.append(frozenset(seen))
    return result


def _access(instruction: Instruction, name: str) -> Window | str | None:
    """How an instruction reads a list of answers: not at all, from one place on, or anyhow."""
    found: list[Window | str] = []

    def look(expression: Expression) -> None:
        match expression:
            case Operation("len" | "turns", (Variable(listed),)) if listed == name:
                return
            case Element(Variable(listed), index) if listed == name:
                found.append(_position(index) or "anywhere")
                look(index)
                return
            case Variable(listed) if listed == name:
                found.append("anywhere")
        for part in parts(expression):
            look(part)

    for expression in instruction_reads(instruction):
        look(expression)
    if _writes(instruction) == name:
        found.append("anywhere")
    if not found:
        return None
    windows = [window for window in found if isinstance(window, Window)]
    if len(windows) < len(found) or len({window.variable for window in windows}) > 1:
        return "anywhere"
    return Window(windows[0].variable, min(window.offset for window in windows))


def _position(index: Expression) -> Window | None:
    match index:
        case Variable(name):
            return Window(name, 0)
        case Operation("+", (Variable(name), Constant(int(offset)))):
            return Window(name, offset)
        case Operation("-", (Variable(name), Constant(int(offset)))):
            return Window(name, -offset)
        case _:
            return None


def _advances(instruction: Instruction) -> bool:
    """Whether an assignment only ever makes its variable larger."""
    match instruction:
        case Assign(name, Operation("+" | "extend", (Variable(same), Constant(int(step))))):
            return name == same and step >= 0
        case _:
            return False
