"""The machine on numbers that are left open: it follows the text of a mechanism for all inputs and all noise at once.

Lists that are given are `Answers`: an entry is an atom, named by the list and the index.  ``range`` is a `Span`, so that a loop over it
need not be unrolled.  A comparison that the facts do not settle raises `Open` before anything has happened, so that the instruction can be
tried again.  The machine *stops* at the head of a loop, and before it does what can be observed: noise, outputs, the next element of a
stream, the end.  Where the function might raise an exception, it gives up.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial

from privproof_checker.source.arithmetic import OPERATORS, exact_divide
from privproof_checker.source.code import successors
from privproof_checker.source.facts import Asked, Path
from privproof_checker.source.functions import FUNCTIONS
from privproof_checker.source.machine import Machine
from privproof_checker.source.operations import exact_float, infinite
from privproof_checker.source.reading import Function
from privproof_checker.source.running import Frame, Run, Work
from privproof_checker.source.symbols import (
    PLACE,
    Atom,
    Opaque,
    Parts,
    Term,
    is_whole,
    key_of,
    number_of,
    parts_of,
    plus,
    times,
)
from privproof_checker.source.values import UNREAD, Beyond, Cells, Stream, Value, Walk, Want, within
from privproof_checker.source.walks import EXHAUSTED

HEAD, NOISE, YIELD, APPEND, WAIT, END = "head", "noise", "yield", "append", "wait", "end"
"""Where the machine stops."""
OPEN = 10
"""How many instructions on numbers take as long as one on numbers that are left open."""
_ORDERS = ("Lt", "LtE", "Gt", "GtE")


@dataclass(frozen=True, eq=False)
class Answers(Opaque):
    """A list of numbers that is given: its name, its length, and what its entries are."""

    name: str
    length: Value
    entry: Atom


@dataclass(frozen=True, eq=False)
class Span(Opaque):
    """``range(start, stop, step)``."""

    start: Value
    stop: Value
    step: int


@dataclass(frozen=True, eq=False)
class Summing(Opaque):
    """``sum`` of a list that is given, as far as it has come."""

    over: Answers
    position: Value
    total: Value


@dataclass(frozen=True, eq=False)
class Sink(Opaque):
    """The list that is only appended to and then returned: what was put into it is an output by then."""

    kind: str = "list"


@dataclass(eq=False)
class Following:
    """A run that is followed; if it is leaving the head of a loop, that does not count as one."""

    run: Run
    leaving: bool = False


class Follower(Machine):
    """Follows a program.

    Attributes:
        path: what is known on the way.
        heads: for every function the instructions that a loop comes back to.
        collects: whether outputs may be collected in a list.
    """

    def __init__(self, functions: Sequence[Function], work: Work, path: Path, *, collects: bool) -> None:
        super().__init__(functions, work)
        self.path = path
        self.ordinary = any(function.ordinary for function in functions)
        self.collects = collects
        self.operators = {sign: partial(self._operated, sign) for sign in OPERATORS}
        self.heads = [_heads(function) for function in functions]

    def advance(self, side: Following) -> str:
        """Run to the next stop."""
        run = side.run
        try:
            while True:
                stop = self._stop(run, leaving=side.leaving)
                if stop is not None:
                    return stop
                self.work.spend(OPEN)
                self.instruction(run)
                side.leaving = False
        except Want:
            return WAIT
        except Beyond as problem:
            problem.place = self.place(run)
            raise

    def place(self, run: Run) -> str:
        """Where a run is."""
        frame = run.frames[-1]
        function = self.functions[frame.function]
        return f"{PLACE}: {function.name}, line {function.code[frame.at][2] + function.line - 1}"

    def _stop(self, run: Run, *, leaving: bool) -> str | None:
        frame = run.frames[-1]
        name, _, _ = self.functions[frame.function].code[frame.at]
        summing = name == "builtin" and bool(frame.stack) and isinstance(frame.stack[-1], Summing)
        if not leaving and (summing or frame.at in self.heads[frame.function]):
            return HEAD
        match name:
            case "noise":
                return NOISE
            case "yield":
                return YIELD
            case "return" if len(run.frames) == 1:
                return END
            case "append" | "add" if self.collects and isinstance(self.collected(frame), Sink | Cells):
                holder = self.collected(frame)
                return APPEND if isinstance(holder, Sink) or not (holder.items or holder.fixed) else None
        return None

    def collected(self, frame: Frame) -> Value:
        """The list that the next instruction appends to."""
        name, argument, _ = self.functions[frame.function].code[frame.at]
        return frame.stack[-2] if name == "append" else frame.variables.get(argument)

    def instruction(self, run: Run) -> None:
        """One instruction that cannot be observed."""
        frame = run.frames[-1]
        name, argument, _ = self.functions[frame.function].code[frame.at]
        stack = frame.stack
        if name == "method" and argument != "copy" and any(map(left_open, stack[-2:])):
            raise Beyond(f"{argument}() of what is left open", PLACE)
        if name != "builtin":
            super().instruction(run)
            return
        function, count = argument
        at = len(stack) - (1 if stack and isinstance(stack[-1], Summing) else count)
        stack[at:] = [self._built_in(function, stack[at:])]
        if not isinstance(stack[-1], Summing):
            frame.at += 1

    def _truth(self, value: Value) -> bool:
        if isinstance(value, Answers):
            return self.path.holds("above", parts_of(value.length))
        return not self.path.equal(value, 0) if isinstance(value, Opaque) else super()._truth(value)

    def _signed(self, sign: str, value: Value) -> Value:
        if not isinstance(value, Opaque):
            return super()._signed(sign, value)
        if sign == "Not":
            return not self._truth(value)
        return value if sign == "UAdd" else number_of(plus({}, parts_of(value), -1), whole=is_whole(value))

    def _compared(self, sign: str, left: Value, right: Value) -> bool:
        if sign in ("Is", "IsNot") or not (left_open(left) or left_open(right)):
            return super()._compared(sign, left, right)
        if not (isinstance(left, Term) or isinstance(right, Term)):
            raise Beyond("what is left open is compared", PLACE)
        if sign in ("Eq", "NotEq"):
            other = left if isinstance(right, Term) else right
            if other is None or isinstance(other, str):
                return sign == "NotEq"
            if infinite(other):
                return sign == "NotEq"
            return self.path.equal(left, right) == (sign == "Eq")
        if sign not in _ORDERS:
            raise Beyond("a number that is left open is looked for in a list", PLACE)
        if infinite(left) or infinite(right):  # the other one is a number
            return (infinite(left) < infinite(right)) == (sign in ("Lt", "LtE"))
        left, right = exact_float(left), exact_float(right)
        if sign in ("Lt", "Gt"):
            return self.path.less(*((left, right) if sign == "Lt" else (right, left)))
        return not self.path.less(*((right, left) if sign == "LtE" else (left, right)))

    def _operated(self, sign: str, left: Value, right: Value) -> Value:
        """An operator."""
        if not (isinstance(left, Term) or isinstance(right, Term)):
            return exact_divide(left, right) if sign == "Div" and not self.ordinary else OPERATORS[sign](left, right)
        one, other = parts_of(left), parts_of(right)
        whole = is_whole(left) and is_whole(right)
        match sign:
            case "Add" | "Sub":
                return number_of(plus(one, other, 1 if sign == "Add" else -1), whole=whole)
            case "Mult":
                return number_of(times(one, other), whole=whole)
            case "Div" if not isinstance(right, Term) and right and not (self.ordinary and whole):
                return number_of(times(one, {(): 1 / Fraction(right)}), whole=False)
            case "FloorDiv" | "Mod":
                if self.path.facts.answer(Asked("zero", other)) is not False:
                    raise Beyond("a divisor may be 0", PLACE)
                return self.path.divided(left, right, sign)
        raise Beyond(f"{sign} of numbers that are left open", PLACE)

    def _element(self, sequence: Value, index: Value) -> Value:
        if isinstance(sequence, Answers):
            return self.entry(sequence, self._index(sequence, index))
        return super()._element(sequence, index)

    def entry(self, answers: Answers, index: Value) -> Term:
        """An entry of a list."""
        return entry_of(self.path, answers.name, parts_of(index), answers.entry)

    def _index(self, answers: Answers, index: Value) -> Value:
        """An index, from the front; within the list."""
        if isinstance(index, bool) or not is_whole(index):
            raise Beyond("an index is no whole number", PLACE)
        if self.path.less(index, 0):
            index = number_of(plus(parts_of(index), parts_of(answers.length)), whole=True)
            if self.path.less(index, 0):
                raise Beyond(f"an index may lie outside of {answers.name!r}", PLACE)
        if not self.path.less(index, answers.length):
            raise Beyond(f"an index may lie outside of {answers.name!r}", PLACE)
        return index

    def _begin_walk(self, stack: list[Value], kind: str, count: int) -> None:
        if kind == "elements" and isinstance(stack[-1], Answers | Span):
            over = stack[-1]
            stack[-1] = Walk(over, "elements", over.start if isinstance(over, Span) else 0)
        elif kind in ("enumerate", "uncounted") and isinstance(stack[-1], Term):
            if not stack[-1].whole:
                raise Beyond("enumerate begins with what is no whole number", PLACE)
            stack[-2:] = [Walk(None, kind, stack[-1], [stack[-2]])]
        else:
            super()._begin_walk(stack, kind, count)

    def _next(self, walk: Walk) -> Value:
        over = walk.over
        if isinstance(over, Answers):
            inside = self.path.less(walk.position, over.length)
            return self.entry(over, walk.position) if inside else EXHAUSTED
        if isinstance(over, Span):
            near, far = (walk.position, over.stop) if over.step > 0 else (over.stop, walk.position)
            return walk.position if self.path.less(near, far) else EXHAUSTED
        return super()._next(walk)

    def _advance(self, walk: Walk) -> None:
        for inner in walk.inner:
            self._advance(inner)
        if isinstance(walk.over, Stream):
            walk.over.given = UNREAD
        elif walk.kind != "uncounted":
            step = walk.over.step if isinstance(walk.over, Span) else 1
            walk.position = self._operated("Add", walk.position, step)

    def _built_in(self, name: str, values: list[Value]) -> Value:
        first = values[0] if values else None
        if name == "range":
            return self._span(values)
        if name == "len" and isinstance(first, Answers):
            return first.length
        if name == "sum" and isinstance(first, Answers):
            return Summing(first, 0, values[1] if len(values) > 1 else 0)
        if name == "sum" and isinstance(first, Summing):
            if not self.path.less(first.position, first.over.length):
                return first.total
            total = self._operated("Add", first.total, self.entry(first.over, first.position))
            return Summing(first.over, self._operated("Add", first.position, 1), total)
        if name in ("list", "tuple") and isinstance(first, Sink):
            return Sink(name)
        if not any(map(left_open, values)) or (name in ("len", "list", "tuple") and isinstance(first, Cells | tuple)):
            return FUNCTIONS[name][0](*values)
        return self._number(name, values)

    def _span(self, values: list[Value]) -> Span:
        if any(isinstance(value, bool) or not is_whole(value) for value in values):
            raise Beyond("a bound of a range is no whole number", PLACE)
        start, stop = (0, values[0]) if len(values) == 1 else values[:2]
        step = values[2] if len(values) > 2 else 1
        if not isinstance(step, int) or step == 0:
            raise Beyond("a range has a step that is no number other than 0", PLACE)
        return Span(start, stop, step)

    def _number(self, name: str, values: list[Value]) -> Value:
        """A function of numbers, some of them left open."""
        first = values[0]
        held = first.items if isinstance(first, Cells) else first if isinstance(first, tuple) else None
        match name:
            case "abs" if isinstance(first, Term):
                return self._signed("USub", first) if self.path.less(first, 0) else first
            case "int" if isinstance(first, Term) and first.whole:
                return first
            case "bool" if isinstance(first, Term):
                return self._truth(first)
            case "Fraction":
                below = values[1] if len(values) > 1 else 1
                return self._operated("Div", number_of(parts_of(first), whole=False), below)
            case "sum" if held is not None:
                total = values[1] if len(values) > 1 else 0
                for value in held:
                    total = self._operated("Add", total, value)
                return total
            case "max" | "min" if len(values) > 1 or held:
                best, *others = values if len(values) > 1 or held is None else held
                for other in others:
                    if self._compared("Lt" if name == "max" else "Gt", best, other):
                        best = other
                return best
        raise Beyond(f"{name} of a number that is left open", PLACE)


def _heads(function: Function) -> frozenset[int]:
    """The instructions that a loop comes back to."""
    onward = successors(function.code)
    reached, waiting = {0}, [0]
    while waiting:
        targets = onward[waiting.pop()]
        waiting += [target for target in targets if target not in reached]
        reached.update(targets)
    return frozenset(target for at in reached for target in onward[at] if target <= at)


def left_open(value: Value) -> bool:
    """Whether a value is left open, or holds something that is."""
    return any(isinstance(each, Opaque) for each in within(value))


def entry_of(path: Path, name: str, index: Parts, entry: Atom) -> Term:
    """The entry of a list at an index."""
    stable = path.atoms.stable(index)
    known = Atom(entry.whole, stable, entry.low, entry.high)
    return path.term(path.atoms.named(("read", name, key_of(index)), known))
