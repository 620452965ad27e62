"""A mechanism at one size as integrals over few numbers: its *registers*.

The program is run once, with the data left open, and no path is enumerated.  A noisy value that lives on at a loop head (a threshold, the
best so far, both ends of a range) is a *register*.  Registers are kept in order, ``r_0 < r_1 < ...``, so that they cut the line into
*cells*: cell c lies between ``r_(c-1)`` and ``r_c``.  Of every other noisy value all that counts is in which cells it may lie.  The
states that come to the same place with equal variables are added up.  Such a sum is a set P of tuples of noisy values, one for
each register, and a set of cells for every other value:

    sum over p in P of  f_p0(r_0) f_p1(r_1) ...  times the product over the others j of  P(value j lies in its cells).

A register that nobody reads any more is integrated out where that needs no integral (*Leibniz*): if for fixed other registers each
value of a set U takes its turn in register i while all others of U lie just below it, the sum is the derivative in ``r_i`` of the product
over U of ``F_j(r_i) - F_j(r_(i-1))``, and its integral puts all of U between ``r_(i-1)`` and ``r_(i+1)``; likewise just above.

What is left at the end is an integral over at most two registers for every outcome, whatever the size.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any, NoReturn

from privproof.compiling.register_states import (
    DrawnRegister,
    Outcome,
    RegisterForm,
    Registers,
    RegisterState,
    Term,
    Value,
    added_up,
)
from privproof.compiling.relational import Program, program_for_alignment
from privproof.compiling.rewriting import Unsupported
from privproof.compiling.sorts import CONTINUOUS, OTHERS, PLACE, PROCESSED, RANKED, output_parts
from privproof.errors import LanguageError
from privproof.exact import ONE, ZERO, Rational, rational
from privproof.language.flow import Jump, Next, Test
from privproof.language.laws import TRUNCATED
from privproof.language.mechanism import Mechanism
from privproof.language.syntax import (
    Assign,
    Conditional,
    Constant,
    Element,
    Emit,
    Expression,
    Operation,
    Place,
    Return,
    Sample,
    Variable,
)
from privproof.language.values import MISSING

_MOST_REGISTERS = 3
"""Registers while the program runs: one more than can be integrated over, because one of them may go."""
_MOST_INTEGRATED = 2
"""Registers that are left at the end: integrals over more are not computed."""
_MOST_STATES = 20_000
"""States that wait at loop heads at one time; noisy max has as many as there were answers, more tell that paths are enumerated."""
MOST_ROUNDS = 20_000
"""Rounds of loops; beyond, a loop is taken for one without end."""


def registers(mechanism: Mechanism, size: int | None) -> Registers:
    """Run a mechanism at a size with its data and its noise left open.

    Raises:
        Unsupported: it cannot be brought into this form; the message says why and where.
        LanguageError: it is outside the class.
    """
    try:
        program = program_for_alignment(mechanism, size=size, convert=False)
    except Unsupported as problem:
        try:
            program = program_for_alignment(mechanism, size=size, select=True)
        except Unsupported:
            raise problem from None
    outputs = [step.value for step in program.code if isinstance(step, Emit | Return)]
    made = [each for each in outputs if isinstance(each, Operation) and each.name in (PROCESSED, "tuple of")]
    for each in made:
        if each.name == PROCESSED or not each.arguments:
            raise Unsupported(f"an output is computed from what is released, {each.place}")
    if program.shown:
        raise Unsupported(f"an output is computed from what is released, {mechanism.place}")
    return OpenRun(program).run()


def lists_of(mechanism: Mechanism, size: int | None) -> dict[str, int]:
    """The length of every list.

    Raises:
        Unsupported: one is left open.
    """
    found = {}
    for name, declared in mechanism.inputs.items():
        if declared.shape == "stream":
            raise Unsupported(f"{name} is a stream without end; a list has a size")
        if declared.shape == "list":
            length = declared.size if declared.size is not None else size
            if length is None:
                raise Unsupported(f"the length of {name} is open; ask at a size")
            found[name] = length
    return found


class OpenRun:
    """Runs a program with open data and open noise, all states of a round together."""

    public_numbers = False
    """Whether public numbers are left open, too: as entries that do not change."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.mechanism = program.mechanism
        self.lengths = lists_of(self.mechanism, program.size)
        self.noises: list[DrawnRegister] = []
        self.numbers: dict[DrawnRegister, int] = {}
        self.entries: list[str] = []
        held: dict[str, Value] = {}
        for name, declared in self.mechanism.inputs.items():
            if declared.public and not self.public_numbers:
                what = "list" if declared.shape == "list" else "number"
                _refuse(f"the {what} {name} is public and may be any: its value is not said")
            if declared.shape == "list":
                self.entries += [] if declared.public else [f"{name}[{i}]" for i in range(self.lengths[name])]
            else:
                self.entries += [] if declared.public else [name]
                held[name] = RegisterForm(ZERO, ((name, ONE),))
        self.start = RegisterState(0, held)

    def run(self) -> Registers:
        """The outcomes."""
        ended: dict[tuple[Any, ...], list[RegisterState]] = {}
        waiting = [self.start]
        for _ in range(MOST_ROUNDS):
            if not waiting:
                break
            parked: dict[Any, list[RegisterState]] = {}
            for begun in waiting:
                for state in self.until_cut(begun):
                    if state.at < 0:
                        ended.setdefault(state.written, []).append(state)
                    else:
                        parked.setdefault(state.key(), []).append(state)
            waiting = []
            for same in parked.values():
                for state in added_up(same):
                    waiting += self.kept_apart(state)
            if len(waiting) > _MOST_STATES:
                _refuse(f"more than {_MOST_STATES} states at one time, {self.mechanism.place}")
        else:
            _refuse(f"a loop does not end within {MOST_ROUNDS} rounds, {self.mechanism.place}")
        outcomes = []
        for output, states in ended.items():
            for state in states:
                state.held = {}
                state.draws = {}
            groups: dict[int, list[RegisterState]] = {}
            for state in states:
                groups.setdefault(state.registers, []).append(state)
            made = [each for group in groups.values() for each in added_up(group, ended=True)]
            if any(each.registers > _MOST_INTEGRATED for each in made):
                _refuse(f"an output depends on the order of more than two noisy numbers, {self.mechanism.place}")
            outcomes.append(Outcome(output, tuple(Term(each.registers, each.tuples, each.cells) for each in made)))
        return Registers(self.program, tuple(self.noises), tuple(outcomes), tuple(self.entries))

    def kept_apart(self, state: RegisterState) -> list[RegisterState]:
        """The state with registers integrated out that nobody reads: one that is left over is too many."""
        dead = set(range(state.registers)) - {-1 - key for key in state.used()}
        if state.registers > _MOST_REGISTERS or (dead and state.registers >= _MOST_REGISTERS):
            names = sorted(n for n, v in state.held.items() if isinstance(v, RegisterForm) and v.noisy)
            _refuse(f"more than two noisy numbers are kept at one time ({', '.join(names)}), {self.mechanism.place}")
        return [state]

    def until_cut(self, begun: RegisterState) -> Iterator[RegisterState]:
        """The states in which a state comes to the next loop head or to the end."""
        waiting = [begun]
        while waiting:
            state = waiting.pop()
            for after in self.step(state):
                if after.at >= 0 and after.at in self.program.cuts:
                    live = set(self.program.live[after.at])
                    after.held = {name: value for name, value in after.held.items() if name in live}
                    yield from self.in_registers(after)
                elif after.at < 0:
                    yield after
                else:
                    waiting.append(after)

    def in_registers(self, state: RegisterState) -> Iterator[RegisterState]:
        """The state with every noisy value that lives on in a register, in every cell that it may lie in."""
        loose = sorted(key for key in state.used() if key >= 0)
        if not loose:
            yield state
            return
        units = self.units(loose[0], state)
        if units is not None:
            yield from self.in_registers(self.changed(loose[0], ONE, units, state))
            return
        for cell in state.places(loose[0]):
            yield from self.in_registers(state.with_register(loose[0], cell))

    def units(self, atom: int, state: RegisterState) -> RegisterForm | None:
        """What is added to a loose value wherever it is held, if data are: then the sum is what had better become the register."""
        if atom in state.cells:
            return None
        found = set()
        for value in state.held.values():
            factor = dict(value.noisy).get(atom) if isinstance(value, RegisterForm) else None
            if factor is not None:
                assert isinstance(value, RegisterForm)
                found.add(RegisterForm(ZERO, value.plain.times(1 / factor).terms) if len(value.noisy) == 1 else None)
        return next(iter(found)) if len(found) == 1 and found not in ({None}, {RegisterForm(ZERO)}) else None

    def step(self, state: RegisterState) -> Iterator[RegisterState]:
        """The states after an instruction."""
        match self.program.code[state.at]:
            case Assign(name, Constant(value)) if value is MISSING:
                yield self.after(state, name, None)
            case Assign(name, value):
                for each, found in self.values(value, state):
                    yield self.after(each, name, found)
            case Sample() as sample:
                yield from self.sampled(sample, state)
            case Test(test, then, otherwise):
                for each, holds in self.values(test, state):
                    each.at = then if holds else otherwise
                    yield each
            case Jump(target):
                state.at = target
                yield state
            case Emit(value) | Return(value) as last:
                shown = Operation("tuple of", tuple(output_parts(value)), value.place)
                for each, parts in self.values(shown, state):
                    written = tuple(self.output(part, value.place) for part in parts)
                    each.written = (*each.written, written)
                    each.at = each.at + 1 if isinstance(last, Emit) else -1
                    yield each
            case Next(_, stream, place):
                _refuse(f"{stream} is a stream, {place}")
            case other:
                _refuse(f"{type(other).__name__}, {other.place}")

    def after(self, state: RegisterState, name: str, value: Any) -> RegisterState:
        state.held[name] = value
        state.at += 1
        return state

    def output(self, shown: Any, place: Place) -> Any:
        """A part of an output."""
        if not isinstance(shown, RegisterForm):
            return shown
        if shown.terms:
            _refuse(f"a {'noisy number' if shown.noisy else 'number without noise'} is shown, {place}")
        return shown.constant

    def sampled(self, sample: Sample, state: RegisterState) -> Iterator[RegisterState]:
        """The states after a draw."""
        if sample.noise in (PLACE, OTHERS, RANKED):
            _refuse(f"a selection, {sample.place}")
        if sample.noise not in CONTINUOUS or sample.noise in ("gumbel", TRUNCATED):
            _refuse(f"{sample.noise} noise, {sample.place}")
        scale = self.program.scale(sample)
        if scale.names:
            _refuse(f"a scale that depends on {', '.join(scale.names)}, {sample.place}")
        for each, center in self.values(sample.arguments[0], state):
            if not isinstance(center, RegisterForm) or center.noisy:
                _refuse(f"noise around a noisy number, {sample.place}")
            made = each.copy()
            draw = (sample.site, made.draws.get(sample.site, 0))
            made.draws = {**made.draws, sample.site: draw[1] + 1}
            number = self.number(DrawnRegister(draw, sample.noise, scale.factor, center))
            made.held[sample.name] = RegisterForm(ZERO, ((number, ONE),))
            made.at += 1
            yield made

    def number(self, drawn: DrawnRegister) -> int:
        """The number of a noisy value."""
        if len(drawn.center.terms) > 1:
            names = ", ".join(str(name) for name, _ in drawn.center.terms[:3])
            _refuse(f"noise around a number that depends on several entries of the data: {names}")
        if drawn not in self.numbers:
            self.numbers[drawn] = len(self.noises)
            self.noises.append(drawn)
        return self.numbers[drawn]

    def values(self, expression: Expression, state: RegisterState) -> Iterator[tuple[RegisterState, Any]]:
        """What an expression may be, each with the state in which it is."""
        match expression:
            case Constant(value):
                yield state, _constant(value)
            case Variable(name):
                yield state, state.held.get(name)
            case Element(Variable(name), index, place):
                for each, at in self.values(index, state):
                    number = int(_number(at, place))
                    if not 0 <= number < self.lengths[name]:
                        raise LanguageError("index", f"{name}[{number}] is outside the list", place=str(place))
                    yield each, RegisterForm(ZERO, ((f"{name}[{number}]", ONE),))
            case Conditional(test, then, otherwise):
                for each, holds in self.values(test, state):
                    yield from self.values(then if holds else otherwise, each)
            case Operation("and" | "or" as name, (first, *rest), place):
                for each, holds in self.values(first, state):
                    if not rest or holds == (name == "or"):
                        yield each, holds
                    else:
                        yield from self.values(Operation(name, tuple(rest), place), each)
            case Operation("len" | "turns", (Variable(name),)):
                yield state, RegisterForm(rational(self.lengths[name]))
            case Operation(name, arguments, place):
                yield from self.operation(name, arguments, place, state)
            case _:
                _refuse(f"an expression, {expression.place}")

    def operation(
        self, name: str, arguments: Sequence[Expression], place: Place, state: RegisterState
    ) -> Iterator[tuple[RegisterState, Any]]:
        """What an operation may be: of its arguments one after the other."""
        waiting: list[tuple[RegisterState, tuple[str, ...]]] = [(state.copy(), ())]
        for number, argument in enumerate(arguments):  # noisy values may be renumbered by a later argument: hold them
            following = []
            for each, names in waiting:
                for after, value in self.values(argument, each):
                    holder = f" {number} {place}"
                    while holder in after.held:  # an operation around this one may stand at the same place
                        holder += "'"
                    after.held[holder] = value
                    following.append((after, (*names, holder)))
            waiting = following
        for each, names in waiting:
            if name in ("<", "<=", ">", ">=", "==", "!=", "is", "is not"):
                yield from self.compared(name, names, place, each)
            elif name in ("max", "min", "abs"):
                yield from self.extreme(name, names, place, each)
            else:
                operands = [each.held.pop(key) for key in names]
                yield each, _applied(name, operands, place)

    def compared(
        self, name: str, names: Sequence[str], place: Place, state: RegisterState
    ) -> Iterator[tuple[RegisterState, bool]]:
        """How a comparison may go."""
        one, two = (state.held[key] for key in names)
        if not (isinstance(one, RegisterForm) and isinstance(two, RegisterForm)):
            for key in names:
                del state.held[key]
            same = type(one) is type(two) and one == two
            yield state, same == (name in ("==", "is"))
            return
        gap = one.plus(two, -ONE)
        if not gap.terms:
            for key in names:
                del state.held[key]
            yield state, _SIGNS[name](gap.constant)
            return
        if not gap.noisy:
            _refuse(f"a test on the data themselves, {place}")
        if name in ("==", "!=", "is", "is not"):
            _refuse(f"a noisy number is tested for equality, {place}")
        if len(gap.noisy) != 2:
            many = "a number without noise" if len(gap.noisy) == 1 else "more than one noisy number"
            _refuse(f"a noisy number is compared with {many}, {place}")
        for each, sign in self.ordered(names, place, state):
            for key in names:
                del each.held[key]
            yield each, _SIGNS[name](rational(sign))

    def ordered(self, names: Sequence[str], place: Place, state: RegisterState) -> Iterator[tuple[RegisterState, int]]:
        """The states in which the difference of what two names hold has a sign."""
        gap = self.gap(names, state)
        (first, factor), (second, other) = gap.noisy
        if first >= 0 and second >= 0:  # one of two loose values becomes a register: the one that was drawn first
            for cell in state.places(first):
                yield from self.ordered(names, place, state.with_register(first, cell))
            return
        if first >= 0:
            (first, factor), (second, other) = (second, other), (first, factor)
        if second >= 0:
            state = self.levelled(second, gap, state, place)
            gap = self.gap(names, state)
            [(second, other)] = [(key, f) for key, f in gap.noisy if key >= 0]
            factor = -other
        elif factor != -other or gap.plain != RegisterForm(ZERO):
            _refuse(f"two noisy numbers are compared in different units, {place}")
        register = -1 - first
        if second < 0:  # registers are in order
            larger = first if register > -1 - second else second
            yield state.copy(), 1 if (factor if larger == first else other) > 0 else -1
            return
        below = (1 << (register + 1)) - 1
        mask = state.cells.get(second, state.everywhere)
        for part, lies_above in ((mask & below, False), (mask & ~below, True)):
            if part:
                made = state.copy()
                made.cells = {**state.cells, second: part}
                if part == made.everywhere:
                    del made.cells[second]
                yield made, 1 if (other > 0) == lies_above else -1

    def gap(self, names: Sequence[str], state: RegisterState) -> RegisterForm:
        one, two = (state.held[key] for key in names)
        assert isinstance(one, RegisterForm)
        assert isinstance(two, RegisterForm)
        return one.plus(two, -ONE)

    def levelled(self, atom: int, gap: RegisterForm, state: RegisterState, place: Place) -> RegisterState:
        """The state with a loose value in such units that it is compared with the register itself.

        ``f r + g y + c`` becomes ``f (r - z)`` with ``z = -(g y + c)/f``.
        """
        factors = dict(gap.noisy)
        other = next(factor for key, factor in factors.items() if key < 0)
        slope = -factors[atom] / other
        offset = gap.plain.times(-1 / other)
        if slope == 1 and offset == RegisterForm(ZERO):
            return state
        if atom in state.cells:
            _refuse(f"a noisy number is compared twice in different units, {place}")
        return self.changed(atom, slope, offset, state)

    def changed(self, atom: int, slope: Rational, offset: RegisterForm, state: RegisterState) -> RegisterState:
        """The state with ``slope y + offset`` in the place of a loose value y."""
        old = self.noises[atom]
        drawn = DrawnRegister(
            old.draw, old.kind, abs(slope) * old.scale, old.center.times(slope).plus(offset), old.turned != (slope < 0)
        )
        if drawn.kind != "exponential":
            drawn = replace(drawn, turned=False)
        made = state.copy()
        number = self.number(drawn)
        for name, value in made.held.items():
            factor = dict(value.noisy).get(atom) if isinstance(value, RegisterForm) else None
            if factor is not None:
                assert isinstance(value, RegisterForm)
                rest = RegisterForm(value.constant, tuple(term for term in value.terms if term[0] != atom))
                new = RegisterForm(ZERO, ((number, ONE),)).plus(offset, -ONE)  # slope times the old one
                made.held[name] = rest.plus(new, factor / slope)
        return made

    def extreme(
        self, name: str, names: Sequence[str], place: Place, state: RegisterState
    ) -> Iterator[tuple[RegisterState, Any]]:
        """What the largest, the smallest, or the absolute value may be."""
        if name == "abs":
            names = (*names, f" minus {place}")
            value = state.held[names[0]]
            state.held[names[1]] = _applied("neg", [value], place)
        if len(names) == 1:
            yield state, state.held.pop(names[0])
            return
        wanted = "<=" if name == "min" else ">="
        second, *rest = names[1:]
        for each, first in self.compared_kept(wanted, (names[0], second), place, state):
            gone, kept = (second, names[0]) if first else (names[0], second)
            del each.held[gone]
            yield from self.extreme("max" if name == "abs" else name, (kept, *rest), place, each)

    def compared_kept(
        self, name: str, names: Sequence[str], place: Place, state: RegisterState
    ) -> Iterator[tuple[RegisterState, bool]]:
        """How a comparison may go; what is compared stays held."""
        copies = tuple(f"{key} again" for key in names)
        for key, copy in zip(names, copies, strict=True):
            state.held[copy] = state.held[key]
        yield from self.compared(name, copies, place, state)


_SIGNS = {
    "<": lambda gap: gap < 0,
    "<=": lambda gap: gap <= 0,
    ">": lambda gap: gap > 0,
    ">=": lambda gap: gap >= 0,
    "==": lambda gap: gap == 0,
    "!=": lambda gap: gap != 0,
    "is": lambda gap: gap == 0,
    "is not": lambda gap: gap != 0,
}


def _constant(value: object) -> Any:
    if isinstance(value, bool) or value is None or isinstance(value, str):
        return value
    if isinstance(value, int | Fraction):
        return RegisterForm(rational(value))
    _refuse(f"the constant {value!r}")


def _number(value: Any, place: Place) -> Rational:
    if not isinstance(value, RegisterForm) or value.terms:
        _refuse(f"a number is needed that neither the data nor noise change, {place}")
    return value.constant


def _applied(name: str, operands: Sequence[Any], place: Place) -> Any:
    """An operation on values."""
    match name, operands:
        case ("not", [bool() as value]):
            return not value
        case ("bool", [bool() as value]):
            return value
        case ("+" | "extend", [RegisterForm() as one, RegisterForm() as two]):
            return one.plus(two)
        case ("-", [RegisterForm() as one, RegisterForm() as two]):
            return one.plus(two, -ONE)
        case ("neg", [RegisterForm() as one]):
            return one.times(-ONE)
        case ("pos" | "whole", [RegisterForm() as one]):
            return one
        case ("*", [RegisterForm() as one, RegisterForm() as two]):
            if one.terms:
                one, two = two, one
            return two.times(_number(one, place))
        case ("/", [RegisterForm() as one, RegisterForm() as two]):
            return one.times(1 / _number(two, place))
        case ("//" | "%", [RegisterForm() as one, RegisterForm() as two]):
            above, below = (int(_number(each, place)) for each in (one, two))
            return RegisterForm(rational(above // below if name == "//" else above % below))
        case ("tuple of", _):
            return tuple(operands)
        case _:
            _refuse(f"{name}, {place}")


def _refuse(what: str) -> NoReturn:
    raise Unsupported(what)
