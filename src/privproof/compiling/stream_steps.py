"""The steps of a function on a stream: from one number to the next, with every noise left open.

The function's instructions are followed.  What is in the variables are constants and linear forms in *samples* (noise with its center,
drawn since the last number) and *thresholds* (samples that were kept).  Every comparison that is not settled is taken both ways and
becomes a part of the guard; what is still needed when the next number is read makes the state.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, TypeAlias

from privproof.compiling.program_follower import OPERATIONS
from privproof.compiling.rewriting import Unsupported
from privproof.errors import LanguageError
from privproof.exact import ZERO, Rational, rational
from privproof.exact.patience import pause
from privproof.language.flow import Jump, Next, Test
from privproof.language.inputs import Input
from privproof.language.linear import Linear, deciding, exactly
from privproof.language.mechanism import Mechanism
from privproof.language.patterns import ANY, pattern_text, word
from privproof.language.syntax import (
    Append,
    Assign,
    Conditional,
    Constant,
    Element,
    Emit,
    Expression,
    Operation,
    Place,
    Replace,
    Return,
    Variable,
)
from privproof.language.syntax import Sample as Draw
from privproof.language.values import MISSING, shown_name
from privproof.models.stream_automaton import (
    Order,
    StreamSample,
    StreamValue,
    Term,
    Transition,
    negate_comparison,
    possible,
)

Store: TypeAlias = dict[str, Any]

_MOST_STATES = 3_000
"""States in all; beyond it a counter is taken to grow without bound, and the function is no automaton."""
_MOST_STEPS = 100_000
"""Instructions without reading a number; beyond it a loop is taken for one that does not end."""
_MOST_SAMPLES = 400
"""Noise drawn for one number of the stream; beyond it a loop is taken for one that does not end."""
_MOST_DECISIONS = 60
"""Comparisons on one way through a step: every one may double the ways."""
_MOST_MERGED = 60
"""With more transitions in one step none are joined: all pairs are tried, again after every success."""
_PUBLIC = "public "
_READ = "number of the stream"
_SECRET = "secret "


@dataclass(frozen=True)
class StreamState:
    """Where the function waits for the next number: an instruction, and the values that are needed from there on."""

    at: int
    values: tuple[tuple[str, Any], ...]
    key: object


@dataclass(frozen=True)
class StreamStep:
    """One way from a state to the next number, or to the end.

    Attributes:
        moved: for every noise what public inputs add to its center.
    The others are those of a transition.
    """

    transition: Transition
    outputs: tuple[Any, ...]
    lines: tuple[int, ...]
    target: StreamState | None
    moved: tuple[Mapping[int | str, Rational], ...]


def _excludes_zero(declared: Input) -> bool:
    return (declared.low is not None and declared.low > 0) or (declared.high is not None and declared.high < 0)


class StreamReader:
    """Follows the instructions of one function."""

    def __init__(self, mechanism: Mechanism) -> None:
        self.mechanism = mechanism
        self.flow = mechanism.flow
        self.beginning = self._begin()

    def _begin(self) -> StreamState:
        store: Store = {name: exactly(value) for name, value in self.mechanism.parameters.items()}
        secrets = 0
        for name, declared in self.mechanism.inputs.items():
            match declared.shape:
                case "value" if declared.public:
                    if declared.values is not None or declared.within is None or _excludes_zero(declared):
                        raise Unsupported(f"{name}: {declared} beside the stream")
                    store[name] = Linear.atom(_PUBLIC + name)
                case "value":
                    secrets += 1
                    stream = self.mechanism.inputs[self.mechanism.stream or ""]
                    if secrets > 1 or declared.within != stream.within or not declared.real:
                        raise Unsupported(f"{name}: {declared} beside the stream")
                    store[name] = Linear.atom(_SECRET + name)
                case "list":
                    raise Unsupported(f"{name}: {declared} beside the stream")
        return replace(self.state(0, store), key="the beginning")

    def state(self, at: int, store: Store) -> StreamState:
        """The state at an instruction."""
        live = self.flow.live[at] if at < len(self.flow.live) else ()
        values = tuple((name, store[name]) for name in live if store.get(name, MISSING) is not MISSING)
        return StreamState(at, values, (at, tuple((name, _key(value)) for name, value in values)))

    def explored(self) -> list[tuple[StreamState, StreamStep]]:
        """All ways between the states that can be reached."""
        found: list[tuple[StreamState, StreamStep]] = []
        seen = {self.beginning.key}
        waiting = [self.beginning]
        for state in waiting:  # grows while it is read
            for step in self.steps(state):
                found.append((state, step))
                if step.target is not None and step.target.key not in seen:
                    seen.add(step.target.key)
                    waiting.append(step.target)
                    if len(waiting) > _MOST_STATES:
                        raise Unsupported(f"it has more than {_MOST_STATES} states: does a counter grow without bound?")
        return found

    def steps(self, state: StreamState) -> list[StreamStep]:
        """All ways from a state to the next number."""
        found: list[StreamStep] = []
        waiting: list[tuple[bool, ...]] = [()]
        while waiting:
            way = _Way(self, state, waiting.pop())
            found.append(way.followed())
            waiting.extend(reversed(way.others))
        return _merged(found)


def _merged(steps: list[StreamStep]) -> list[StreamStep]:
    """Steps that differ in the outcome of one comparison only are one step without it."""
    found = list(steps)
    again = len(steps) <= _MOST_MERGED
    while again:
        again = False
        for i, one in enumerate(found):
            for j in range(i + 1, len(found)):
                joined = _joined(one, found[j])
                if joined is not None:
                    found[i] = joined
                    del found[j]
                    again = True
                    break
            if again:
                break
    return found


def _joined(one: StreamStep, other: StreamStep) -> StreamStep | None:
    here, there = one.transition, other.transition
    if (one.target and one.target.key) != (other.target and other.target.key) or one.outputs != other.outputs:
        return None
    if replace(here, guard=()) != replace(there, guard=()) or one.moved != other.moved:
        return None
    apart = [order for order in here.guard if order not in there.guard]
    more = [order for order in there.guard if order not in here.guard]
    if len(apart) != 1 or more != [negate_comparison(apart[0])]:
        return None
    guard = tuple(order for order in here.guard if order != apart[0])
    lines = tuple(dict.fromkeys((*one.lines, *other.lines)))
    return replace(one, transition=replace(here, guard=guard), lines=lines)


class _Way:
    """One way from a state to the next number."""

    def __init__(self, reader: StreamReader, state: StreamState, given: tuple[bool, ...]) -> None:
        self.reader, self.state, self.given = reader, state, given
        self.made: list[bool] = []
        self.others: list[tuple[bool, ...]] = []
        self.store: Store = dict(state.values)
        self.samples: list[StreamSample] = []
        self.moved: list[Mapping[int | str, Rational]] = []
        self.guard: list[Order] = []
        self.outputs: list[Any] = []
        self.values: list[StreamValue] = []
        self.lines: list[int] = []
        self.place: Place | None = None
        self.raw: dict[str, int] = {}

    def followed(self) -> StreamStep:
        """The step."""
        try:
            with deciding(self.decide):
                return self._followed()
        except LanguageError as problem:
            raise Unsupported(f"{problem.message}, at {self.place}") from None
        except (TypeError, ValueError, ZeroDivisionError, KeyError, IndexError, AttributeError) as problem:
            raise Unsupported(f"{type(problem).__name__}: {problem}, at {self.place}") from None

    def _followed(self) -> StreamStep:
        code = self.reader.flow.code
        at = self.state.at
        reading = self.state is not self.reader.beginning
        for _ in range(_MOST_STEPS):
            if at >= len(code):
                return self.ended(None)
            step = code[at]
            self.place = step.place
            if not self.lines or self.lines[-1] != step.place.line:
                self.lines.append(step.place.line)
            at += 1
            match step:
                case Next(name):
                    if not reading:
                        return self.ended(at - 1)
                    reading = False
                    self.store[name] = Linear.atom(_READ)
                case Assign(name, value):
                    if isinstance(value, Constant) and value.value is MISSING:
                        self.store.pop(name, None)
                    else:
                        self.store[name] = self.fresh(value, at)
                case Append(name, value):
                    self.store[name] = [*self.store[name], self.fresh(value, at)]
                case Replace(name, index, value):
                    cells = list(self.store[name])
                    cells[self.value(index)] = self.fresh(value, at)
                    self.store[name] = cells
                case Draw():
                    self.store[step.name] = self.drawn(step)
                case Emit(value):
                    self.write(self.fresh(value, at))
                case Test(test, then, otherwise):
                    at = then if self.truth(self.value(test)) else otherwise
                case Jump(target):
                    at = target
                case Return(value):
                    if not self.reader.mechanism.generator:
                        self.write(self.value(value))
                    return self.ended(None)
        raise Unsupported(f"more than {_MOST_STEPS} steps without reading a number, at {self.place}")

    def truth(self, value: Any) -> bool:
        if isinstance(value, Linear):
            raise Unsupported(f"a noisy number is used as a truth value, at {self.place}")
        return bool(value)

    def value(self, expression: Expression) -> Any:
        match expression:
            case Constant(value):
                return exactly(value)
            case Variable(name):
                if name not in self.store:
                    raise Unsupported(f"{shown_name(name)} is read before it is assigned, at {expression.place}")
                return self.store[name]
            case Element(sequence, index):
                return self.value(sequence)[self.value(index)]
            case Conditional(test, then, otherwise):
                return self.value(then if self.truth(self.value(test)) else otherwise)
            case Operation("and", arguments):
                return all(self.truth(self.value(a)) for a in arguments)
            case Operation("or", arguments):
                return any(self.truth(self.value(a)) for a in arguments)
            case Operation("tuple of", arguments):
                return tuple(self.value(a) for a in arguments)
            case Operation("list of" | "fixed list of", arguments):
                return [self.value(a) for a in arguments]
            case Operation("list" | "tuple" as name, arguments):
                return (list if name == "list" else tuple)(self.value(arguments[0]) if arguments else ())
            case Operation("Fraction", arguments):
                return Fraction(*(self.value(a) for a in arguments))
            case Operation(name, arguments) if name in OPERATIONS:
                return _exact(OPERATIONS[name], [self.value(a) for a in arguments])
            case Operation(name):
                raise Unsupported(f"{name} at {expression.place}")
        raise Unsupported(f"an expression at {expression.place}")

    def fresh(self, expression: Expression, following: int) -> Any:
        """A value that no other name has: a list under two names could be changed under one of them."""
        value = self.value(expression)
        live = self.reader.flow.live
        needed = live[following] if following < len(live) else ()
        shared = isinstance(expression, Element) or (isinstance(expression, Variable) and expression.name in needed)
        if _holds_list(value) and (shared or isinstance(expression, Conditional)):
            raise Unsupported(f"a list that has two names, at {self.place}")
        return value

    def drawn(self, step: Draw) -> Any:
        """The form of a noisy number: a new sample, and what else is in the center."""
        if step.noise != "laplace":
            raise Unsupported(f"{step.noise} noise at {step.place}: only laplace noise")
        center = Linear.of(self.value(step.arguments[0]))
        scale = self.value(step.arguments[1])
        if isinstance(scale, str):
            scale = rational(scale)
        if center is None or isinstance(scale, Linear) or rational(scale) <= 0:
            raise Unsupported(f"the noise at {step.place} has no number as its center, or no constant scale above 0")
        reads, rest = 0, dict(center.terms)
        for atom, factor in center.terms.items():
            if isinstance(atom, str) and (atom == _READ or atom.startswith((_SECRET, _PUBLIC))):
                del rest[atom]
                if atom.startswith(_PUBLIC):
                    continue
                if abs(factor) != 1 or reads:
                    raise Unsupported(f"the noise at {step.place} hides {abs(factor)} times a number of the data")
                reads = 1 if factor > 0 else -1
        if len(self.samples) >= _MOST_SAMPLES:
            raise Unsupported(f"more than {_MOST_SAMPLES} samples for one number, at {step.place}")
        self.samples.append(StreamSample(1 / rational(scale), reads, center.constant))
        self.moved.append({a: f for a, f in center.terms.items() if isinstance(a, str) and a.startswith(_PUBLIC)})
        return Linear.atom(len(self.samples) - 1) + Linear(rest, ZERO)

    def term(self, atom: int | str) -> Term:
        """A noise or threshold as the automaton knows it; a number of the data itself is a sample without noise."""
        if isinstance(atom, int):
            return atom
        if atom.startswith(_PUBLIC):
            raise Unsupported(f"{atom.removeprefix(_PUBLIC)} is compared without noise, at {self.place}")
        if atom == _READ or atom.startswith(_SECRET):
            if atom not in self.raw:
                self.raw[atom] = len(self.samples)
                self.samples.append(StreamSample(None, 1))
            return self.raw[atom]
        return atom

    def difference(self, form: Linear) -> tuple[Term, Term, Rational]:
        """A form as the difference of two noisy numbers, plus a constant."""
        terms = sorted(form.terms.items(), key=lambda item: -item[1])
        if len(terms) == 1:
            atom, factor = terms[0]
            plus, minus = (self.term(atom), None) if factor > 0 else (None, self.term(atom))
            return plus, minus, form.constant / abs(factor)
        if len(terms) == 2 and terms[0][1] == -terms[1][1]:
            return self.term(terms[0][0]), self.term(terms[1][0]), form.constant / terms[0][1]
        raise Unsupported(f"a comparison, or a number that is written, of more than two noisy numbers, at {self.place}")

    def decide(self, form: Linear, strict: bool) -> bool:  # noqa: FBT001
        """Whether a form is above zero: settled, or taken both ways."""
        pause()
        high, low, constant = self.difference(form)
        if all(term is None or (isinstance(term, int) and self.samples[term].rate is None) for term in (high, low)):
            raise Unsupported(f"a number of the data is compared with a constant, without noise, at {self.place}")
        if len(self.made) >= _MOST_DECISIONS:
            raise Unsupported(f"more than {_MOST_DECISIONS} comparisons for one number, at {self.place}")
        above, below = Order(low, high, -constant), Order(high, low, constant)
        can = [possible([*self.guard, order]) for order in (above, below)]
        if can[0] != can[1]:
            return can[0]
        place = len(self.made)
        if place < len(self.given):
            outcome = self.given[place]
        else:
            outcome = True
            self.others.append((*self.made, False))
        self.made.append(outcome)
        self.guard.append(above if outcome else below)
        return outcome

    def write(self, value: Any) -> None:
        """Note an output, with its noisy numbers."""
        self.outputs.append(word(value))
        self._numbers(value)

    def _numbers(self, value: Any) -> None:
        if isinstance(value, Linear):
            plus, minus, _ = self.difference(value)
            if max(map(abs, value.terms.values())) != 1:
                raise Unsupported(f"a multiple of a noisy number is written, at {self.place}")
            self.values.append(StreamValue(plus, minus, value.constant))
        elif isinstance(value, list | tuple):
            for part in value:
                self._numbers(part)

    def ended(self, at: int | None) -> StreamStep:
        """The step, and the state in which it leaves the function; samples that are needed become thresholds."""
        target = None
        stores: list[tuple[str, int]] = []
        if at is not None:
            live = [name for name in self.reader.flow.live[at] if name in self.store]
            kept = {atom for name in live for atom in _atoms(self.store[name]) if isinstance(atom, str)}
            if any(atom == _READ or atom.startswith(_SECRET) for atom in kept):
                raise Unsupported(f"a number of the data is kept for later, at {self.place}")
            slots: dict[int, str] = {}
            for name in live:
                for place, atom in _places(name, self.store[name]):
                    if isinstance(atom, int) and atom not in slots:
                        slot, number = place, 2
                        while slot in kept or slot in slots.values():
                            slot, number = f"{place}_{number}", number + 1
                        slots[atom] = slot
            for atom, slot in slots.items():
                stores.append((slot, atom))
            store = {name: _renamed(self.store[name], slots) for name in live}
            target = self.reader.state(at, store)
        transition = Transition(
            "",
            "",
            tuple(self.samples),
            tuple(self.guard),
            stores=tuple(stores),
            symbol=", ".join(pattern_text(_dotted(output)) for output in self.outputs),
            values=tuple(self.values),
        )
        return StreamStep(transition, tuple(self.outputs), tuple(self.lines), target, tuple(self.moved))


def _exact(operation: Callable[..., Any], values: list[Any]) -> Any:
    if operation is OPERATIONS["/"]:
        left, right = values
        if isinstance(left, Linear) or isinstance(right, Linear):
            return left / right
    return operation(*values)


class _Dot:
    """The place of a noisy number in an output."""

    def __repr__(self) -> str:
        return "·"


def _dotted(output: Any) -> Any:
    if isinstance(output, list | tuple):
        return type(output)(_dotted(part) for part in output)
    return _Dot() if output is ANY or output == ANY else output


def _atoms(value: Any) -> list[int | str]:
    if isinstance(value, Linear):
        return list(value.terms)
    if isinstance(value, list | tuple):
        return [atom for part in value for atom in _atoms(part)]
    return []


def _places(name: str, value: Any) -> list[tuple[str, int | str]]:
    """The noisy numbers in a variable, each with a name."""
    if isinstance(value, Linear):
        return [(shown_name(name), atom) for atom in value.terms]
    if isinstance(value, list | tuple):
        return [found for number, part in enumerate(value) for found in _places(f"{shown_name(name)}[{number}]", part)]
    return []


def _renamed(value: Any, slots: Mapping[int, str]) -> Any:
    if isinstance(value, Linear):
        terms: dict[int | str, Rational] = {
            slots[atom] if isinstance(atom, int) else atom: factor for atom, factor in value.terms.items()
        }
        return Linear(terms, value.constant)
    if isinstance(value, list | tuple):
        return type(value)(_renamed(part, slots) for part in value)
    return value


def _holds_list(value: Any) -> bool:
    if isinstance(value, tuple):
        return any(_holds_list(part) for part in value)
    return isinstance(value, list)


def _key(value: Any) -> object:
    """Something that tells values apart."""
    if isinstance(value, Linear):
        return ("form", tuple(sorted((str(atom), str(f)) for atom, f in value.terms.items())), str(value.constant))
    if isinstance(value, list | tuple):
        return (type(value).__name__, tuple(_key(part) for part in value))
    return (type(value).__name__ if isinstance(value, bool | str) or value is None else "", str(value))


def state_names(reader: StreamReader, steps: Sequence[tuple[StreamState, StreamStep]]) -> dict[object, str]:
    """Names for states: the line that waits for a number, and the constants that differ."""
    states = list({state.key: state for source, step in steps for state in (source, step.target) if state}.values())
    names: dict[object, str] = {}
    lines = {state.at for state in states}
    for state in states:
        if state.key == reader.beginning.key:
            name = "start"
        else:
            told = [
                f"{shown_name(name)}={value}"
                for name, value in state.values
                if not _atoms(value) and name not in reader.mechanism.parameters
            ]
            line = f"line {reader.flow.code[state.at].place.line}" if len(lines) > 2 or not told else ""
            name = " ".join([line, *told]).strip() or "wait"
        unique, number = name, 2
        while unique in names.values():
            unique, number = f"{name} #{number}", number + 1
        names[state.key] = unique
    return names
