"""Selections: blocks of instructions that draw a noisy value for every entry of a list, or so many, and bind what the largest are.

A block with k places is, in this order and without a way in from elsewhere,

* ``place`` k times: a place of the list, other than those before;
* ``assign`` k times: the centre of the noise at each place, one expression but for the place, free of noise;
* ``others``, unless the list has k entries: the largest value at all other places;
* ``sample`` k times: the values at the places, noise of one kind and scale around the centres;
* ``ranked``: these values, then that of the others, in this order: every one is at least the next (or in the reverse order: every one is
  at most the next, and the others have the smallest).

Its meaning: every entry of the list has a noisy value, independent of all else.  The places are those of the k largest ones, in
order; equal values have probability 0, because the noise is continuous, and only such noise is allowed here.

Why shifts may speak of the others.  Fix neighbouring inputs and a path, places included.  The noise at all other places is not shifted.
So the largest value at other places, and how far it is from that of run 2, depend on noise that is the same in both runs.  A shift that
reads it, the inputs and the path is a shear: for fixed noise at the other places it is a translation, so it is injective and keeps volumes,
and by Fubini the price is the largest ``sum |s| / scale``.  Images of different paths are disjoint as before: run 2 has the same
places, because its values come in the same order.  A shift never reads noise that is itself shifted: that would be no shear.
"""

from __future__ import annotations

from privproof_checker.outcomes import refuse
from privproof_checker.programs.instruction_kinds import (
    Assign,
    Instruction,
    Jump,
    Others,
    Program,
    Ranked,
    Sample,
    SelectionPlace,
    Test,
)
from privproof_checker.programs.program_expressions import Expression

_RELATIONS = ("each", "one", "monotone")
"""Neighbours whose lists have the same length; otherwise the other places of the two runs are not the same. A number of places is
the same in both runs."""
_CONTINUOUS = ("laplace", "exponential", "gumbel")
"""Noise without ties: of geometric noise two values may be the largest."""


def selections_of(program: Program) -> dict[int, int]:
    """The blocks of a program: the number of the first instruction of each, and that of its last; refuses what is none."""
    found: dict[int, int] = {}
    inside: set[int] = set()
    for at, step in enumerate(program.code):
        if isinstance(step, SelectionPlace) and not step.before:
            end = _block(program, at)
            found[at] = end
            inside.update(range(at + 1, end + 1))
        elif isinstance(step, SelectionPlace | Others | Ranked) and at not in inside:
            refuse("this is no part of a selection", f"question.code[{at}]")
    for at, step in enumerate(program.code):
        targets = (
            (step.target,) if isinstance(step, Jump) else (step.then, step.otherwise) if isinstance(step, Test) else ()
        )
        if any(target in inside for target in targets):
            refuse("a way leads into the middle of a selection", f"question.code[{at}]")
    listed = any(isinstance(step, SelectionPlace) and isinstance(step.listed, str) for step in program.code)
    if listed and program.declared.relation not in _RELATIONS:
        refuse(
            f"neighbours that differ as in {program.declared.relation!r} have no selection in common",
            "question.relation",
        )
    return found


def _block(program: Program, start: int) -> int:
    """The last instruction of the block that begins here."""
    code = program.code

    def at(number: int) -> Instruction:
        if number >= len(code):
            refuse("a selection has no end", f"question.code[{start}]")
        return code[number]

    def unlike(number: int, what: str) -> None:
        refuse(f"a selection has {what} here", f"question.code[{number}]")

    places: list[str] = []
    number = start
    while isinstance(step := at(number), SelectionPlace):
        if step.before != tuple(places) or step.name in places or step.listed != _selected_list(code[start]):
            unlike(number, "a place other than those before")
        places.append(step.name)
        number += 1
    centers: list[str] = []
    first: Expression | None = None
    for place in places:
        step = at(number)
        if not isinstance(step, Assign) or step.name in (*places, *centers):
            unlike(number, "the centre at a place")
        assert isinstance(step, Assign)
        first = first or step.value
        if not same_but(first, places[0], step.value, place):
            unlike(number, "one centre for all places")
        centers.append(step.name)
        number += 1
    other = at(number)
    others = [other.name] if isinstance(other, Others) else []
    if isinstance(other, Others):
        if (other.listed, other.center, other.places) != (_selected_list(code[start]), centers[0], tuple(places)):
            unlike(number, "the others of these places")
        number += 1
    values: list[str] = []
    law = None
    for center in centers:
        step = at(number)
        if not isinstance(step, Sample) or step.kind not in _CONTINUOUS:
            unlike(number, "continuous noise at a place")
        assert isinstance(step, Sample)
        law = law or step.law
        if step.law != law or (step.center.head, step.center.name) != ("variable", center):
            unlike(number, "noise of one kind and scale around the centres")
        values.append(step.name)
        number += 1
    last = at(number)
    names = [*values, *others]
    if not isinstance(last, Ranked) or last.names not in (tuple(names), tuple(reversed(names))):
        unlike(number, "the order of its values")
    every = [*places, *centers, *names]
    if len(set(every)) < len(every):
        refuse("a selection needs different names", f"question.code[{start}]")
    return number


def _selected_list(step: Instruction) -> str | int:
    assert isinstance(step, SelectionPlace)
    return step.listed


def same_but(one: Expression, name: str, other: Expression, renamed: str) -> bool:
    """Whether two expressions are the same but for the name of one variable."""
    if one.head == "variable" and one.name == name:
        return other.head == "variable" and other.name == renamed
    if (one.head, one.sort, one.name, one.value, len(one.parts)) != (
        other.head,
        other.sort,
        other.name,
        other.value,
        len(other.parts),
    ):
        return False
    return all(same_but(left, name, right, renamed) for left, right in zip(one.parts, other.parts, strict=True))
