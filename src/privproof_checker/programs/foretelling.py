"""Gaussian noise whose shifts depend on the foretold result: prophecy is taxed.

Theorem.  Suppose that each shift of Gaussian noise depends on the inputs, on the foretold result and on the path before its draw
alone, that ``sum s^2 / sigma^2 <= mu^2`` on every path to that result, and that the result has at most m values.  Then
``P(E) <= e^(B+e) Q(E) + m H_mu(e)``.  For given the result a, the shifts are settled, and the noises that lead to it are
translated into such as lead to it on the other side, so that the part of E with the result a is bounded as if nothing were
foretold, with H_mu(e) for each a.  (Where a run does not lead to a, its shifts may be stopped as soon as they come to more than
mu^2: this changes nothing on the runs that do.) Where the result is all that is shown and every run ends, the factor is m - 1: an
event with all m results has probability 1 on both sides, and any other has at most m - 1 of them. The factor is needed: above
threshold with Gaussian noise alone gives away 0.0638 on a million answers, while H_mu is 0.016.

All discrete parts of the result are foretold.  How many values a truth value has is known, and a tag that is written down; of one
whole number the certificate says between which bounds it lies, expressions in the length of the lists and in public numbers, and the
checker shows it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from privproof_checker.graph_algorithms import beyond
from privproof_checker.numbers import ONE, ZERO
from privproof_checker.outcomes import Limits, refuse
from privproof_checker.plain_documents import an_object, only_members
from privproof_checker.programs.evaluating import Value
from privproof_checker.programs.flow import Flow
from privproof_checker.programs.instruction_kinds import (
    Assign,
    Coin,
    EmitOutput,
    Forget,
    Instruction,
    Jump,
    Program,
    Return,
    Sample,
    Test,
)
from privproof_checker.programs.program_expressions import BITS, Expression
from privproof_checker.programs.program_inputs import Affine, read_affine
from privproof_checker.programs.run_states import State
from privproof_checker.programs.terms import INT, REAL, both, number, plus, real, times

_PLACE = "evidence.foretold"


@dataclass(frozen=True)
class Foretold:
    """What the shifts of Gaussian noise may depend on.

    Attributes:
        many: for how many results delta is paid.
        ranges: between which bounds each whole number of the result lies; None where no shift depends on the result.
    """

    many: Affine = field(default_factory=lambda: Affine(ONE, {}))
    ranges: Mapping[int, tuple[Affine, Affine]] | None = None

    def obligations(self, result: Sequence[Value], state: State) -> Iterator[tuple[str, str]]:
        """That whole numbers lie between their bounds."""
        for position, (low, high) in (self.ranges or {}).items():
            value = real(result[position].one, INT)
            inside = both((f"(<= {_term(low, state)} {value})", f"(<= {value} {_term(high, state)})"))
            yield f"part {position} of the result lies between its bounds", inside


def _term(affine: Affine, state: State) -> str:
    parts = [number(affine.constant, REAL)]
    return plus(*parts, *(times(factor, f"(to_real {state.own(name)})", REAL) for name, factor in affine.terms.items()))


def _tags(position: int, flow: Flow) -> set[object]:
    """The tags that a part of the result may be; refuses any that is not written down."""
    found: set[object] = set()
    for step in flow.program.code:
        waiting = [step.parts[position]] if isinstance(step, Return) else []
        while waiting:
            part = waiting.pop()
            if part.head == "if":
                waiting += part.parts[1:]
            elif part.head == "literal":
                found.add(part.value)
            else:
                refuse(f"part {position} of the result may be any tag", part.place)
    return found


def read_foretold(value: object, flow: Flow, limits: Limits) -> Foretold:
    """What is foretold, and how many results there are."""
    given = an_object(value, _PLACE)
    declared = flow.program.declared
    many, ranges = ONE, {}
    for position, sort in flow.outputs.items():
        if sort == "int":
            place = f"{_PLACE}.{position}"
            ends = an_object(given.get(str(position)), place)
            only_members(ends, ("low", "high"), place)
            low, high = (
                read_affine(an_object(ends.get(end), f"{place}.{end}"), declared, f"{place}.{end}", limits)
                for end in ("low", "high")
            )
            ranges[position] = (low, high)
        else:
            many *= 2 if sort == "bool" else len(_tags(position, flow))
    if set(given) != {str(position) for position in ranges}:
        refuse("bounds are given for the whole numbers of the result, and for nothing else", _PLACE)
    if len(ranges) > 1:
        refuse("at most one whole number of the result is foretold here", _PLACE)
    width = Affine(ZERO, {})
    for low, high in ranges.values():
        width = high.minus(low)
    paid = Affine(width.constant + 1, width.terms).times(many)
    if _shows_nothing_else(flow) and ends_surely(flow.program):
        paid = Affine(paid.constant - 1, paid.terms)
    return Foretold(paid, ranges)


def _shows_nothing_else(flow: Flow) -> bool:
    """Whether the foretold parts of the result are all that is shown."""
    code = flow.program.code
    returned = (step for step in code if isinstance(step, Return))
    return all(len(step.parts) == len(flow.outputs) for step in returned) and not any(
        isinstance(step, EmitOutput) for step in code
    )


_PLAIN = (Assign, Sample, Coin, Test, Jump, Return, Forget)
"""The instructions of programs of which it is known that they end."""


def _may_fail(part: Expression) -> bool:
    """Whether an expression has no value for some numbers: a division by what may be 0, and operations on bits."""
    if part.head in BITS or (part.head in ("//", "%") and not (part.parts[1].constant or ZERO) > 0):
        return True
    return any(map(_may_fail, part.parts))


def _expressions(step: Instruction) -> Iterator[Expression]:
    """The expressions of a plain instruction."""
    match step:
        case Assign(_, value):
            yield value
        case Sample():
            yield from (part for part in (step.center, step.where) if part is not None)
        case Test(condition):
            yield condition
        case Return(parts):
            yield from parts


def ends_surely(program: Program) -> bool:
    """Whether every run ends with a result, whatever the data and the noise: nothing fails, every loop has a counter that rises to a limit.

    A run that never ends goes round in one loop for ever.  Let t be a test ``i < b`` of that loop which leaves it where it fails, b
    stay as it is in the loop, and i only become larger there, by literals.  If the run passes t again and again, and the steps that
    raise i again and again, then i exceeds b, and t fails.  So what is left to exclude are runs that go round without t, or without
    these steps, which are loops with fewer instructions.
    """
    plain = all(isinstance(step, _PLAIN) for step in program.code)
    fails = any(_may_fail(part) for step in program.code for part in _expressions(step))
    return plain and not fails and _ends_within(program, frozenset(range(len(program.code))))


def _ends_within(program: Program, inside: frozenset[int]) -> bool:
    """Whether no run stays among some instructions for ever."""
    reached = {at: beyond(at, lambda n: inside.intersection(program.following(n))) for at in inside}
    loops = {frozenset(n for n in reached[at] if at in reached[n]) for at in inside if at in reached[at]}
    return all(any(_counts_out(program, loop, at) for at in sorted(loop)) for loop in loops)


def _counts_out(program: Program, loop: frozenset[int], at: int) -> bool:
    """Whether a test ends a loop by a counter."""
    test = program.code[at]
    if not isinstance(test, Test) or test.otherwise in loop or test.condition.head != "<":
        return False
    counter, limit = test.condition.parts
    written = {name for n in loop if (name := getattr(program.code[n], "name", None)) is not None}
    if counter.head != "variable" or limit.head not in ("variable", "length", "literal") or limit.name in written:
        return False
    steps = frozenset(n for n in loop if getattr(program.code[n], "name", None) == counter.name)
    if not steps or not all(_raises(program.code[n], counter.name) for n in steps):
        return False
    return _ends_within(program, loop - {at}) and _ends_within(program, loop - steps)


def _raises(step: Instruction, name: str) -> bool:
    """Whether an instruction adds a literal above 0 to a variable."""
    if not isinstance(step, Assign) or step.value.head != "+":
        return False
    one, more = step.value.parts
    return one.head == "variable" and one.name == name and more.constant is not None and more.constant > 0
