"""Programs whose only noise is one selection with Gumbel noise: the range of their losses, which bounds all divergences.

*Theorem* (bounded range; Dong, Durfee and Rogers 2020, Cesar and Rogers 2021).  If the losses ``ln(P(y)/Q(y))`` of all outcomes y lie in
an interval of length r, then ``D_a(P, Q) <= a r^2/8`` for every order a > 1.  For with ``K(t) = ln of the mean under Q of (P/Q)^t``,
``K(0) = K(1) = 0``, and K''(t) is the variance of the loss under a tilted law, at most ``r^2/4`` (Popoviciu); hence
``K(a) <= a(a-1) r^2/8``.

The place with the largest of independent values ``f(i) + Gumbel(b)`` is i with a probability proportional to ``e^(f(i)/b)``.  On two
neighbours its losses are ``(f(i) - f'(i))/b`` plus a constant, so that their range is that of the changes of the centres, over b.

Here the program draws nothing else, comes to one such selection at most, and reads its values nowhere else.  So everything that it shows
is a function of the data and the place; that it is the same for both neighbours follows from the alignment, which shows that run 2
takes the path of run 1 and shows the same whatever the place is.  Where no selection is made there is nothing random.

It matters that the noise is Gumbel noise and that the largest value is taken: with exponential noise (permute-and-flip), Laplace noise, or
the smallest value, the losses have another range.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from privproof_checker.numbers import Rational
from privproof_checker.outcomes import Limits, refuse
from privproof_checker.plain_documents import a_number
from privproof_checker.programs.flow import afterwards
from privproof_checker.programs.instruction_kinds import (
    Assign,
    EmitOutput,
    Jump,
    Others,
    Program,
    Ranked,
    Return,
    Sample,
    SelectionPlace,
    Test,
)
from privproof_checker.programs.program_expressions import Expression

_PLACE = "evidence.range"
_DETERMINED = (Assign, EmitOutput, Jump, Others, SelectionPlace, Ranked, Return, Sample, Test)
"""The instructions that such a program may have: nothing else is random, or any value."""


def read_range(value: object, program: Program, selections: Mapping[int, int], limits: Limits) -> Rational:
    """The range of losses that is claimed, of a program that has one; the alignment shows that centres change within it."""
    found = a_number(value, _PLACE, limits)
    inside = {at for first, last in selections.items() for at in range(first, last + 1)}
    values: set[str] = set()
    for at, step in enumerate(program.code):
        if not isinstance(step, _DETERMINED):
            refuse(f"a program with a {type(step).__name__.lower()} has no range here", f"question.code[{at}]")
        if isinstance(step, Sample):
            if step.kind != "gumbel" or step.group != () or at not in inside or step.where is not None:
                refuse("a range is one of Gumbel noise of a fixed scale, in a selection", f"question.code[{at}]")
            values.add(step.name)
        elif isinstance(step, Others):
            values.add(step.name)
    for first, last in selections.items():
        block = program.code[first : last + 1]
        ranked = block[-1]
        if sum(isinstance(step, SelectionPlace) for step in block) != 1 or not isinstance(ranked, Ranked):
            refuse("a range is one of a selection of one place", f"question.code[{first}]")
        if program_sample(block).name != ranked.names[0]:
            refuse("the smallest of values with Gumbel noise has no range here", f"question.code[{last}]")
        if any(at in selections for at in afterwards(program, last)):
            refuse("a run may come to several selections", f"question.code[{first}]")
    for at, step in enumerate(program.code):
        if any(name in values for each in _expressions(step) for name in _names(each)):
            refuse("a noisy value of the selection is read", f"question.code[{at}]")
    return found


def program_sample(block: tuple[object, ...]) -> Sample:
    """The draw of a selection of one place."""
    return next(step for step in block if isinstance(step, Sample))


def _expressions(step: object) -> Iterator[Expression]:
    match step:
        case Assign(_, value):
            yield value
        case Sample():
            yield step.center
        case Test(condition):
            yield condition
        case EmitOutput(parts) | Return(parts):
            yield from parts


def _names(expression: Expression) -> Iterator[str]:
    if expression.head == "variable":
        yield expression.name
    for part in expression.parts:
        yield from _names(part)
