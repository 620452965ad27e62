"""Conjectures about where the one change is: in programs that read a list of which one entry changes.

What a proof has to know there is of few forms.  A number differs by nothing or by the whole change; where it differs, another one does not,
and the entry that changes was read before; what was spent is at most a multiple of how far a counter, or the place of a list at which
the runs differ, has come, and of less as long as the entry that changes has not been read.  For a tree of sums, with p the level at
which the lists of partial sums differ: ``cost <= p + 1``, and where the sum that is carried differs, ``cost <= level``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fractions import Fraction
from itertools import accumulate

from privproof.compiling.kept_lists import FILLED
from privproof.compiling.list_parts import POSITION
from privproof.engines.laplace.blocks import Blocks
from privproof.engines.laplace.solver import z3
from privproof.engines.laplace.values import Term, number, real
from privproof.exact import fraction
from privproof.language.flow import Test, instruction_reads
from privproof.language.syntax import Assign, Constant, Operation
from privproof.language.walking import within

_SIMPLE = 2
"""So many cuts has a program with one loop: there the simple bounds do."""
_NEAR = (-1, 0, 1)
"""What may be added to a counter where another one is compared with it: one turn of a loop more or less."""
_PASSED = (-2, -1, 0, 1)
"""The same where the index of the change is compared with it: counters that begin at 1 are one further inside of a turn."""


def is_about_change(blocks: Blocks) -> bool:
    """Whether conjectures of these forms are tried: one entry changes, and lists are kept or there are several loops."""
    nested = len(blocks.program.cuts) > _SIMPLE
    return "changed" in blocks.fixed and "by" in blocks.fixed and (bool(blocks.program.kept) or nested)


def sums_parts(blocks: Blocks) -> bool:
    """Whether sums of parts of a list are read, which differ where the entry that changes lies in the part."""
    return any(
        isinstance(part, Operation) and part.name == POSITION
        for step in blocks.program.code
        for expression in instruction_reads(step)
        for part in within(expression)
    )


def plain_conjectures(blocks: Blocks, state: Mapping[str, Term]) -> Iterator[Term]:
    """What is settled first: which numbers are the same in both runs, and which counters go together."""
    counters = _counters(blocks, state)
    tops = _tops(blocks)
    for k, count in enumerate(counters):
        for more in _NEAR:
            yield count >= more
            for other in (*counters[:k], *tops):
                yield count == other + more
    for name, term in state.items():
        if ": distance" in name:
            yield term == 0


def change_conjectures(
    blocks: Blocks, state: Mapping[str, Term], costs: dict[tuple[str, ...], Term], settled: list[Term]
) -> Iterator[Term]:
    """Conjectures about a state, where one entry changes.

    Args:
        blocks: the program.
        state: the symbols of the state, by name.
        costs: the counters of costs, by their groups.
        settled: what holds of `plain_conjectures`.
    """
    known, nested = {term.sexpr() for term in settled}, not blocks.program.kept
    changed = blocks.fixed["changed"]
    apart = {name: term for name, term in state.items() if ": distance" in name and (term == 0).sexpr() not in known}
    places = {name: state[name.replace(": distance ", ": place ")] for name in apart if ": distance " in name}
    idle = [
        term for name, term in state.items() if ": place " in name and all(term is not each for each in places.values())
    ]
    tops = _tops(blocks)
    counters: list[Term] = []
    for count in _counters(blocks, state):
        equal = [other for other in (*counters, *tops) for more in _NEAR if (count == other + more).sexpr() in known]
        if not equal and all(count is not each for each in idle):
            counters.append(count)
    for count in counters:
        for more in _NEAR:
            for other in (*counters, *tops):
                if other is not count:
                    yield count <= other + more
    for name, term in apart.items():
        differs = z3.Not(term == 0)
        yield term == 0
        yield z3.Implies(differs, real(term) == real(blocks.fixed["by"]))
        for other in apart.values():
            if other is not term:
                yield z3.Implies(differs, other == 0)
                yield z3.Implies(differs, z3.Not(other == 0))
        for more in _PASSED:
            for count in counters:
                yield z3.Implies(differs, changed < count + more)
                yield z3.Implies(differs, changed >= count + more)
        if name in places:
            place = places[name]
            yield z3.Implies(differs, place >= 0)
            for count in counters:
                if count is not place:
                    for more in (0, 1):
                        yield z3.Implies(differs, count + more <= place)
                        yield z3.Implies(differs, place + more <= count)
    for group, cost in costs.items():
        yield cost >= 0
        yield cost <= 0
        if nested:
            for spent in _spent_in_order(blocks, group):
                yield cost <= number(spent)
                for seen in counters:
                    yield z3.Implies(changed >= seen, cost <= number(spent))
        for step in _steps(blocks, group):
            yield cost <= number(step)
            for seen in counters:
                for more in _PASSED:
                    yield z3.Implies(changed >= seen + more, cost <= 0)
            for count in counters:
                for more in _NEAR:
                    most = cost <= number(step) * real(count + more)
                    yield most
                    for seen in counters if nested else ():
                        yield z3.Implies(changed >= seen, most)
                    for name, term in apart.items():
                        differs = z3.Not(term == 0)
                        yield z3.Implies(differs, most)
                        if name in places and places[name] is not count:
                            yield z3.Implies(z3.And(differs, places[name] <= count), most)


def _tops(blocks: Blocks) -> list[Term]:
    """What counters end at: the size, public numbers, constants that they are compared with, and the lengths that lists are given."""
    given = {
        step.value.arguments[0].value
        for step in blocks.program.code
        if isinstance(step, Assign) and isinstance(step.value, Operation) and step.value.name == FILLED
        if isinstance(step.value.arguments[0], Constant)
    }
    given |= {
        end.value
        for step in blocks.program.code
        if isinstance(step, Test) and isinstance(step.test, Operation) and step.test.name == "<"
        if isinstance(end := step.test.arguments[1], Constant)
    }
    fixed = [blocks.fixed[name] for name in ("size", *blocks.mechanism.public_numbers) if name in blocks.fixed]
    return [*fixed, *(z3.IntVal(value) for value in sorted(v for v in given if isinstance(v, int) and v > 0))]


def _counters(blocks: Blocks, state: Mapping[str, Term]) -> list[Term]:
    """The whole numbers of a state that both runs share."""
    return [
        term
        for name, term in state.items()
        if z3.is_int(term) and ": distance" not in name and name not in _others(blocks)
    ]


def _others(blocks: Blocks) -> frozenset[str]:
    """The variables that are no whole numbers, or may differ between the runs."""
    return frozenset(
        name for name, sort in blocks.program.sorts.items() if sort != "int" or name in blocks.program.high
    )


def _steps(blocks: Blocks, group: tuple[str, ...]) -> list[Fraction]:
    """What one noise of a group costs where its centre moves by the whole change."""
    moved = [fraction(each.within) for each in blocks.program.inputs.values() if each.within is not None]
    factors = {drawn.factor for path in blocks.paths for drawn in path.drawn if drawn.group == group}
    return sorted({max(moved, default=Fraction(1)) / factor for factor in factors})


def _spent_in_order(blocks: Blocks, group: tuple[str, ...]) -> list[Fraction]:
    """What the noises of a group cost where the centres of the first so many of them move by the whole change, each once."""
    moved = [fraction(each.within) for each in blocks.program.inputs.values() if each.within is not None]
    factors = {drawn.instruction: drawn.factor for path in blocks.paths for drawn in path.drawn if drawn.group == group}
    each = [max(moved, default=Fraction(1)) / factors[at] for at in sorted(factors)]
    return sorted(set(accumulate(each)))
