"""The two runs of a proof as one program, printed as in the appendix of CheckDP (Wang, Ding, Kifer and Zhang 2020)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from fractions import Fraction

from privproof.compiling.differing import differs
from privproof.compiling.relational import Program
from privproof.compiling.scales import SQUARES
from privproof.compiling.sorts import SHIFTED
from privproof.engines.laplace.alignments import CONSTANT, Case, Shift, cases
from privproof.engines.laplace.conjectures import counter
from privproof.engines.laplace.expression_texts import Writer
from privproof.engines.laplace.paths import Path
from privproof.engines.laplace.proving import AlignmentProof
from privproof.exact import log
from privproof.language.flow import Test
from privproof.language.syntax import (
    Append,
    Assign,
    Block,
    Break,
    Conditional,
    Constant,
    Continue,
    Each,
    Element,
    Emit,
    Expression,
    If,
    Inline,
    Operation,
    Replace,
    Result,
    Return,
    Sample,
    Statement,
    Variable,
    While,
)
from privproof.language.values import MISSING

_LONGEST_UNIT = 20
"""A logarithm with a longer text, of an alpha that was rounded, is shown as a decimal number."""


def unit_words(proof: AlignmentProof, group: tuple[str, ...]) -> str:
    """The logarithm that geometric noise costs multiples of; where its ratio is long, a decimal number."""
    ratio = proof.blocks.logarithms[group]
    return group[0] if len(group[0]) <= _LONGEST_UNIT else log(ratio).decimal()


def times_words(factor: Fraction, unit: str) -> str:
    """A multiple of a unit."""
    return unit if factor == 1 else "0" if factor == 0 else f"{factor}*{unit}"


def _counter(proof: AlignmentProof, group: tuple[str, ...]) -> str:
    """The counter of a group as a variable: ``cost``, ``cost_N``, ``steps_2`` for ln(2)."""
    if group == SQUARES:
        return "squares"
    if group not in proof.blocks.logarithms:
        return counter(group).replace(" ", "_")
    short = re.sub(r"\W+", "_", group[0].removeprefix("ln")).strip("_")
    return f"steps_{short}" if len(short) <= _LONGEST_UNIT else f"steps_{list(proof.blocks.logarithms).index(group)}"


def common_cases(situations: list[list[str]]) -> str:
    """What several situations have in common."""
    shared = [part for part in situations[0] if all(part in other for other in situations[1:])]
    return " and ".join(shared)


def situation_words(path: Path, case: Case, program: Program, writer: Writer) -> list[str]:
    """When a case of a shift applies."""
    found = []
    for number, outcome in path.tests:
        step = program.code[number]
        assert isinstance(step, Test)
        if differs(step.test, program.high, program.mechanism):
            found.append(writer.decided(step.test, outcome=outcome))
    for atom in case:
        match atom:
            case ("index", r, _, holds):
                index = index_words(path, r, program, writer) + (f" + {program.offset}" if program.offset else "")
                found.append(f"{index} is {'' if holds else 'not '}the output")
            case ("output", k, value, holds):
                told = None if _tells_none(k, program) else value
                found.append(f"the output is {'' if holds else 'not '}{told!r}")
            case ("up", holds):
                found.append(f"the data go {'up' if holds else 'down'}")
    return found


def _tells_none(part: int, program: Program) -> bool:
    """Whether a part of the returned value tells whether the value is None."""
    for step in program.code:
        if isinstance(step, Return) and isinstance(step.value, Operation) and len(step.value.arguments) > part:
            shown = step.value.arguments[part]
            return isinstance(shown, Variable) and shown.name in program.optional.values()
    return False


def index_words(path: Path, number: int, program: Program, writer: Writer) -> str:
    """How the index of a read is written."""
    index = path.reads[number].index
    text = str(index)
    return text if text.lstrip("-").isdigit() else writer.text(_index(path, number, program))


def _index(path: Path, number: int, program: Program) -> Expression:
    """How the index of a read is written: the first such element in the path's instructions."""
    source = path.reads[number].source
    for step in program.code:
        for expression in _expressions(step):
            found = _element(expression, source)
            if found is not None:
                return found
    return Variable(source, program.code[0].place)


def _expressions(step: object) -> Iterator[Expression]:
    for name in ("value", "test"):
        if hasattr(step, name):
            yield getattr(step, name)
    yield from getattr(step, "arguments", ())


def _element(expression: Expression, source: str) -> Expression | None:
    match expression:
        case Element(Variable(name), index) if name == source:
            return index
        case Operation(_, arguments):
            return next((f for a in arguments if (f := _element(a, source)) is not None), None)
        case Conditional(test, then, otherwise):
            return next((f for a in (test, then, otherwise) if (f := _element(a, source)) is not None), None)
        case _:
            return None


def shift_words(shift: Shift, path: Path, writer: Writer, program: Program) -> str:
    """A shift as a text; ``d(x)`` is how much x differs in the second run."""
    parts: list[tuple[Fraction, str]] = []
    if shift.factors.get(CONSTANT):
        parts.append((shift.factors[CONSTANT], ""))
    for feature, factor in shift.factors.items():
        if feature == CONSTANT or not factor:
            continue
        if feature[0] == "read":
            source = path.reads[feature[1]].source
            name = f"d({source}[{index_words(path, feature[1], program, writer)}])"
        else:
            name = f"d({writer.name(feature[1])})"
        parts.append((factor, name))
    shown = ""
    for factor, name in parts:
        size = str(abs(factor)) if not name else name if abs(factor) == 1 else f"{abs(factor)}*{name}"
        sign = ("-" if factor < 0 else "") if not shown else (" - " if factor < 0 else " + ")
        shown += sign + size
    return shown or "0"


class Printer:
    """Prints the two runs as one program."""

    def __init__(self, proof: AlignmentProof, writer: Writer) -> None:
        self.proof, self.writer, self.program = proof, writer, proof.program
        self.places = {step.site: number for number, step in enumerate(self.program.code) if isinstance(step, Sample)}

    def lines(self) -> Iterator[str]:
        """The program, line by line."""
        mechanism = self.program.mechanism
        yield f"{mechanism.name}({', '.join(mechanism.inputs)}):"
        for group in self.proof.blocks.groups:
            yield f"    {_counter(self.proof, group)} = 0"
        yield from self.block(self.program.body, 1)

    def high(self, expression: Expression) -> bool:
        return differs(expression, self.program.high, self.program.mechanism)

    def block(self, block: Block, depth: int) -> Iterator[str]:
        hidden = {name for walk in self.writer.walks.values() for name in (walk.counter,)}
        for before, statement in zip((None, *block), block, strict=False):
            if isinstance(statement, Assign) and statement.name in hidden:
                continue
            if not (isinstance(statement, Return) and isinstance(before, Return)):
                yield from self.statement(statement, depth)

    def statement(self, statement: Statement, depth: int) -> Iterator[str]:
        pad = "    " * depth
        write = self.writer.text
        match statement:
            case Assign(name, value):
                if (isinstance(value, Constant) and value.value is MISSING) or name in self.writer.made:
                    return
                mine = self.writer.name(name)
                if mine == write(value):
                    return
                yield f"{pad}{mine} = {write(value)}"
                if (
                    name in self.program.high
                    and self.program.sorts.get(name) in ("int", "real")
                    and not isinstance(value, Conditional)
                ):
                    yield f"{pad}d({mine}) = {self.distance(value)}"
                elif name in self.program.high:
                    yield f"{pad}{mine}' = {self.primed(value)}"
            case Replace(name, at, value):
                yield f"{pad}{self.writer.name(name)}[{write(at)}] = {write(value)}"
                if name in self.program.high:
                    yield f"{pad}d({self.writer.name(name)}[{write(at)}]) = {self.distance(value)}"
            case Append(name, value):
                yield f"{pad}{self.writer.name(name)}.append({write(value)})"
            case Sample(name, "place" | "others" as kind):
                mine = self.writer.name(name)
                of = "the place of a noisy value" if kind == "place" else "the first noisy value at all other places"
                yield f"{pad}{mine} = {of}"
                if kind == "others":
                    yield f"{pad}d({mine}) = between the least and the largest change there"
            case Sample(_, "ranked", values):
                if len(values) > 1:
                    yield f"{pad}assert {' >= '.join(self.primed(value) for value in values)}"
            case Sample():
                yield from self.sample(statement, pad)
            case If(test, then, otherwise):
                yield f"{pad}if {write(test)}:"
                if self.high(test):
                    yield f"{pad}    assert {self.primed(test)}"
                yield from self.block(then, depth + 1)
                if not then and not self.high(test):
                    yield f"{pad}    pass"
                if otherwise or self.high(test):
                    yield f"{pad}else:"
                    if self.high(test):
                        yield f"{pad}    assert not ({self.primed(test)})"
                    yield from self.block(otherwise, depth + 1)
            case While(_, body) if id(statement) in self.writer.walks:
                walk = self.writer.walks[id(statement)]
                index, item = self.writer.name(walk.counter), self.writer.name(walk.item)
                yield f"{pad}for {index}, {item} in enumerate({write(walk.sequence)}):"
                if walk.item in self.program.high:
                    yield f"{pad}    d({item}) = d({write(walk.sequence)}[{index}])"
                yield from self.block(body[2 if not walk.number else 3 :], depth + 1)
            case While(test, body):
                yield f"{pad}while {write(test)}:"
                if self.high(test):
                    yield f"{pad}    assert {self.primed(test)}"
                yield from self.block(body, depth + 1)
                if self.high(test):
                    yield f"{pad}assert not ({self.primed(test)})"
            case Each(name, stream, body):
                yield f"{pad}for {self.writer.name(name)} in {stream}:"
                yield f"{pad}    assert {self.within()}"
                yield from self.block(body, depth + 1)
            case Emit(value):
                yield f"{pad}yield {write(value)}"
                if self.high(value):
                    yield f"{pad}assert {self.same(value)}"
            case Return(value):
                yield from self.returned(value, pad)
            case Break():
                yield f"{pad}break"
            case Continue():
                yield f"{pad}continue"
            case Inline(_, body):
                yield from self.block(body, depth)
            case Result(value):
                yield f"{pad}# the function called gives {write(value)}"
            case _:
                yield f"{pad}..."

    def returned(self, value: Expression, pad: str) -> Iterator[str]:
        if self.high(value):
            if self.proof.blocks.prophesied:
                yield f"{pad}if {self.writer.text(value)} == output:"
                yield f"{pad}    assert {self.primed(value)} == output and {self.within()}"
            else:
                yield f"{pad}assert {self.same(value)} and {self.within()}"
        else:
            yield f"{pad}assert {self.within()}"
        yield f"{pad}return" + (
            "" if isinstance(value, Constant) and value.value is None else f" {self.writer.text(value)}"
        )

    def within(self) -> str:
        """That the counters are within their bounds."""
        parts = []
        together, apart = self.proof.counted_together(), {e.others for e in self.proof.blocks.exchanges}
        apart |= {each.names for each in self.proof.blocks.exchanges}
        if together is not None:
            shares = [f"{_counter(self.proof, group)}/({'*'.join(group)})" for group in together[0]]
            parts.append(f"{' + '.join(shares)} <= {together[1]}")
        for bound in self.proof.bounds:
            if bound.group in apart:
                continue
            name = _counter(self.proof, bound.group)
            plain = not bound.group or bound.group == SQUARES or bound.group in self.proof.blocks.logarithms
            limit = str(bound.limit) if plain else f"{bound.limit}*{'*'.join(bound.group)}".removeprefix("1*")
            parts.append(f"{name} <= {limit}")
        return " and ".join(parts)

    def sample(self, sample: Sample, pad: str) -> Iterator[str]:
        name = self.writer.name(sample.name)
        if sample.noise not in SHIFTED:
            yield f"{pad}{name} = {sample.noise}(...)"
            return
        yield f"{pad}{name} = {self.writer.noise(sample)}"
        instruction = self.places.get(sample.site)  # none where it is never reached
        shifts: dict[str, list[list[str]]] = {}
        drawn = None
        for path in self.proof.blocks.paths:
            for case in cases(self.proof.blocks, path):
                for one in path.drawn:
                    if one.instruction == instruction:
                        drawn = one
                        shift = self.proof.alignment.shift(path, case, instruction)
                        text = shift_words(shift, path, self.writer, self.program)
                        shifts.setdefault(text, []).append(situation_words(path, case, self.program, self.writer))
        if drawn is None:
            return
        yield f"{pad}shift = {self.choice(shifts)}"
        scale = (
            "*".join([str(drawn.factor), *drawn.group])
            if drawn.factor != 1 or not drawn.group
            else "*".join(drawn.group)
        )
        group = _counter(self.proof, drawn.group)
        per = str(drawn.factor)
        share = "abs(shift)" if per == "1" else f"abs(shift)/{per if per.isdigit() else f'({per})'}"
        if drawn.settled and drawn.whole:
            share, told = f"shift**2/{per if per.isdigit() else f'({per})'}", ""
        elif drawn.settled:
            share, told = f"(shift/{per if per.isdigit() else f'({per})'})**2", ""
        elif drawn.whole:
            share, told = (
                times_words(1 / drawn.factor, "abs(shift)"),
                f"    # times {unit_words(self.proof, drawn.group)}",
            )
        else:
            told = f"    # scale {scale}" if drawn.group else ""
        yield f"{pad}{group} = {group} + {share}{told}"
        center = self.distance(sample.arguments[0])
        yield f"{pad}d({name}) = {'shift' if center == '0' else f'{center} + shift'}"

    def choice(self, shifts: dict[str, list[list[str]]]) -> str:
        """A shift that depends on the situation, as conditional expressions."""
        listed = [(text, common_cases(situations)) for text, situations in shifts.items()]
        listed.sort(key=lambda item: (item[0] == "0", not item[1]))
        if len(listed) == 1:
            return listed[0][0]
        *some, (last, _) = listed
        return " ".join(f"{text} if {when or '...'} else" for text, when in some) + f" {last}"

    def distance(self, expression: Expression) -> str:
        """The distance of a number, as a text."""
        if not self.high(expression):
            return "0"
        match expression:
            case Variable(name):
                return f"d({self.writer.name(name)})"
            case Element(sequence, index):
                return f"d({self.writer.text(sequence)}[{self.writer.text(index)}])"
            case Operation("+" | "extend" | "-" as name, (left, right)):
                a, b = self.distance(left), self.distance(right)
                sign = "-" if name == "-" else "+"
                if b == "0":
                    return a
                return (f"-{b}" if sign == "-" else b) if a == "0" else f"{a} {sign} {b}"
            case Operation("neg", (inner,)):
                return f"-{self.distance(inner)}"
            case Operation("*" | "/" as name, (left, right)):
                if self.high(left):
                    return f"({self.distance(left)}) {name} {self.writer.text(right, 7)}"
                return f"{self.writer.text(left, 7)} {name} ({self.distance(right)})"
            case _:
                return f"({self.primed(expression)}) - ({self.writer.text(expression)})"

    def primed(self, expression: Expression) -> str:
        """An expression in the second run."""

        def twin(e: Expression) -> Expression:
            match e:
                case Variable(name, place) if name in self.program.high:
                    return Variable(f"{self.writer.name(name)}'", place)
                case Element(Variable(name, inner), index, place) if name in self.program.high:
                    return Element(Variable(f"{name}'", inner), index, place)
                case Operation("len" | "turns"):
                    return e
                case Operation(name, arguments, place):
                    return Operation(name, tuple(twin(a) for a in arguments), place)
                case Conditional(test, then, otherwise, place):
                    return Conditional(twin(test), twin(then), twin(otherwise), place)
                case _:
                    return e

        return self.writer.text(twin(expression))

    def same(self, value: Expression) -> str:
        """That an output is the same in both runs."""
        parts = value.arguments if isinstance(value, Operation) and value.name == "tuple of" else (value,)
        return " and ".join(f"{self.distance(p)} == 0" for p in parts if self.high(p))
