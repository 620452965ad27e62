"""Lists of noisy values of which one among the largest is drawn by lot: the largest so far is kept instead, with a lot for every tie.

``random.choice([i for i, v in enumerate(noisy) if v == max(noisy)])`` is one of the places of a largest value, each with the same
probability.  So is the place that a loop keeps that takes the k-th of several equal values with probability 1/k: by induction over k, each
of the first k - 1 has probability 1/(k-1) * (1 - 1/k) = 1/k.  An empty list has no largest value: there the function fails, whatever the
noise.
"""

from __future__ import annotations

from privproof.language.syntax import (
    Append,
    Assign,
    Block,
    Break,
    Constant,
    Continue,
    Element,
    Expression,
    If,
    Operation,
    Return,
    Sample,
    Statement,
    Variable,
    While,
)
from privproof.language.walking import reads, statements, variables, writes

_BETTER = {"max": ">", "min": "<"}


class _Other(Exception):
    """The statements do something else."""


def lots_kept(body: Block) -> Block | None:
    """The body with a lot for every tie, where it draws one place among the largest values of a list; None where it does not."""
    for number, loop in enumerate(body):
        if isinstance(loop, While) and (counter := _counter(loop)) is not None:
            for added in loop.body:
                if isinstance(added, Append):
                    try:
                        return _rewritten(body, number, loop, added, counter)
                    except _Other:
                        continue
    return None


def _counter(loop: While) -> str | None:
    """The counter of a loop over all elements of an input, which goes up by one at its outermost level."""
    match loop.test:
        case Operation("<", (Variable(counter), Operation("turns" | "len", (Variable(),)))):
            steps = [s for s in statements(loop.body) if writes(s) == counter]
            return counter if len(steps) == 1 and steps[0] in loop.body and _steps(steps[0], counter) else None
    return None


def _steps(statement: Statement, counter: str) -> bool:
    match statement:
        case Assign(name, Operation("+", (Variable(read), Constant(1)))):
            return name == counter == read
    return False


def _rewritten(body: Block, number: int, loop: While, added: Append, counter: str) -> Block:
    before, after = body[:number], body[number + 1 :]
    listed = added.name
    begins = [s for s in before if writes(s) == listed]
    cut = any(isinstance(s, Break | Continue | Return | While) for s in statements(loop.body))
    if cut or len(begins) != 1 or not _is_empty(begins[0]) or sum(writes(s) == listed for s in statements(body)) != 2:
        raise _Other
    inside = [s for s in statements((*before, loop)) if listed in {name for e in reads(s) for name in variables(e)}]
    if inside or not _begins_at_zero(before, counter):
        raise _Other
    extreme, lot = _Tail(listed).read(after)
    place = added.place
    best, new, ties, drawn, here, chosen = (
        Variable(f"{listed}.{what}", place) for what in ("best", "new", "ties", "lot", "here", "chosen")
    )
    none = Operation("is", (best, Constant(None, place)), place)
    better = Operation("or", (none, Operation(_BETTER[extreme], (new, best), place)), place)
    take = Assign(chosen.name, here, place)
    more = Assign(ties.name, Operation("+", (ties, Constant(1, place)), place), place)
    chance = Operation("Fraction", (Constant(1, place), ties), place)
    tie: Block = (more, Sample(drawn.name, "bernoulli", (chance,), lot.site, place), If(drawn, (take,), (), place))
    first: Block = (Assign(best.name, new, place), take, Assign(ties.name, Constant(1, place), place))
    equal = If(Operation("==", (new, best), place), tie, (), place)
    kept: Block = (Assign(new.name, added.value, place), If(better, first, (equal,), place))
    turn: list[Statement] = [Assign(here.name, Variable(counter, place), place)]
    for statement in loop.body:
        turn += kept if statement is added else (statement,)
    start = [Assign(name.name, Constant(value, place), place) for name, value in ((best, None), (chosen, 0), (ties, 0))]
    begun = [s for s in before if s is not begins[0]]
    return (*begun, *start, While(loop.test, tuple(turn), loop.place), Return(chosen, lot.place))


def _is_empty(statement: Statement) -> bool:
    return isinstance(statement, Assign) and statement.value == Operation("list of", (), statement.value.place)


def _begins_at_zero(before: Block, counter: str) -> bool:
    begun = [s for s in statements(before) if writes(s) == counter]
    match begun:
        case [Assign(_, Constant(0)) as begin]:
            return begin in before
    return False


class _Tail:
    """What is done with the list after the loop that fills it."""

    def __init__(self, listed: str) -> None:
        self.lists = {listed}
        self.extremes: dict[str, str] = {}
        self.sizes: set[str] = set()
        self.zeros: set[str] = set()
        self.empty: set[str] = set()
        self.tied: dict[str, str] = {}

    def read(self, block: Block) -> tuple[str, Sample]:
        """Whether the largest or the smallest are drawn from, and the statement that draws."""
        for number, statement in enumerate(block):
            match statement:
                case Assign(name, value):
                    self._assign(name, value)
                case While():
                    self._collect(statement)
                case Sample(name, "uniform", (Constant(0), last)):
                    match last, block[number + 1]:
                        case (
                            Operation("+", (Operation("len", (Variable(one),)), Constant(-1))),
                            Return(Element(Variable(other), Variable(drawn))),
                        ) if one in self.tied and self.tied.get(other) == self.tied[one] and drawn == name:
                            return self.tied[one], statement
                    raise _Other
                case _:
                    raise _Other
        raise _Other

    def _assign(self, name: str, value: Expression) -> None:
        known = (self.lists, self.extremes, self.sizes, self.zeros, self.empty, self.tied)
        if any(name in names for names in known):
            raise _Other
        match value:
            case Variable(other) if other in self.lists:
                self.lists.add(name)
            case Variable(other) if other in self.tied:
                self.tied[name] = self.tied[other]
            case Constant(0):
                self.zeros.add(name)
            case Operation("list of", ()):
                self.empty.add(name)
            case _ if (extreme := self._extreme(value)) is not None:
                self.extremes[name] = extreme
            case _ if self._size(value):
                self.sizes.add(name)
            case _:
                raise _Other

    def _extreme(self, expression: Expression) -> str | None:
        match expression:
            case Operation("max" | "min" as extreme, (Variable(name),)) if name in self.lists:
                return extreme
            case Variable(name):
                return self.extremes.get(name)
        return None

    def _size(self, expression: Expression) -> bool:
        match expression:
            case Operation("whole", (inner,)):
                return self._size(inner)
            case Operation("len" | "turns", (Variable(name),)):
                return name in self.lists
            case Variable(name):
                return name in self.sizes
        return False

    def _collect(self, loop: While) -> None:
        """A loop that puts every place of an extreme value into an empty list, in order."""
        match loop.test:
            case Operation("<", (Variable(counter), size)) if counter in self.zeros and self._size(size):
                pass
            case _:
                raise _Other
        here, values = {counter}, set[str]()
        stepped, found = False, ""

        def is_value(expression: Expression) -> bool:
            match expression:
                case Element(Variable(name), Variable(index)):
                    return name in self.lists and index in here
                case Variable(name):
                    return name in values
            return False

        for statement in loop.body:
            match statement:
                case Assign(name, Variable(index)) if index in here and name != counter:
                    here.add(name)
                case Assign() if not stepped and _steps(statement, counter):
                    stepped = True
                    here.discard(counter)
                case Assign(name, value) if is_value(value) and name not in here and name != counter:
                    values.add(name)
                case If(Operation("==", (one, other)), (Append(name, Variable(index)),), ()) if (
                    not found and name in self.empty and index in here
                ):
                    value, top = (one, other) if is_value(one) else (other, one)
                    extreme = self._extreme(top)
                    if not is_value(value) or extreme is None:
                        raise _Other
                    found = extreme
                    self.empty.discard(name)
                    self.tied[name] = extreme
                case _:
                    raise _Other
        own = here | values | {counter}
        known = (self.lists, self.extremes, self.sizes, self.empty, self.tied)
        if not (stepped and found) or any(own.intersection(names) for names in known):
            raise _Other
        self.zeros.discard(counter)
