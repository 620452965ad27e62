"""What a program shows at one size, as integrals over few noisy numbers: run once, with data and noise left open.

Noisy numbers that are alive at the head of a loop are *marks* on the line, ``m_0 < m_1 < ...``; all others are only known to lie in some
of the gaps between the marks (gap g lies below mark g).  A *bundle* is a set of ways: who sits on which mark, one tuple of noisy numbers
for each way, and for everybody else the gaps in which it may lie, the same on every way.  Its probability is

    sum over ways w of the integral over m_0 < m_1 < ... of  prod f_{w_i}(m_i)  prod over j not in w of  P(j lies in its gaps).

Three rules change bundles and never their probability:

* *mark*: a noisy number that may lie in some gaps sits on a new mark in one of them; the bundles for all these gaps together are the old
  one;
* *join*: of two bundles that exclude one another and are at the same instruction with the same variables, the ways are put together if
  everybody who is in no way of one lies in the same gaps in the other; or the gaps, if they differ for one noisy number alone;
* *release*: a mark i that no variable holds goes, if for given others every member of a set U sits on it on one way, nobody else depends
  on it, and the others of U lie in gap i alone (or all in gap i + 1).  Then the ways sum up to plus (minus) the derivative in m_i of the
  product over U of the probability of that gap, so that the integral over m_i leaves all of U between the neighbouring marks.

That a program ends, and reads its lists inside their bounds, is seen by running it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import count

from privproof_checker.numbers import ONE, ZERO, Rational
from privproof_checker.outcomes import refuse, within
from privproof_checker.programs.bundles import (
    MOST_MARKS,
    Bundle,
    Here,
    Noisy,
    Number,
    Shown,
    Value,
    added_numbers,
    as_number,
    computed_number,
    joined_together,
    plain_value,
    scaled_number,
    written_value,
)
from privproof_checker.programs.instruction_kinds import Assign, EmitOutput, Forget, Jump, Program, Return, Sample, Test
from privproof_checker.programs.program_expressions import Expression

_KINDS = ("gaussian", "laplace", "exponential")
_MOST_BUNDLES = 200_000
"""Bundles in all that come to the head of a loop or to the end; beyond, the program is refused."""
_MOST_STEPS = 5_000_000
"""Instructions in all; beyond, the program is refused."""


@dataclass(frozen=True)
class Unfolded:
    """All that a program shows, with its noisy numbers and the entries of its data."""

    noisy: tuple[Noisy, ...]
    shown: Mapping[Shown, tuple[Bundle, ...]]
    entries: tuple[str, ...]


def unfold(program: Program) -> Unfolded:
    """Run a program at its size; refuses what cannot be run with data and noise left open."""
    return Unfolding(program).result()


class Unfolding:
    """A program that is run with its data and its noise left open."""

    takes_public = False
    """Whether public inputs are open numbers, too, which are the same in both runs."""

    def __init__(self, program: Program) -> None:
        self.program = program
        declared = program.declared
        self.sizes: dict[str, int] = {}
        self.entries: list[str] = []
        self.noisy: list[Noisy] = []
        self.numbers: dict[Noisy, int] = {}
        self.steps = 0
        held: dict[str, Value] = {}
        for each in declared.inputs.values():
            if (each.public and not self.takes_public) or each.shape == "stream" or each.fields:
                refuse("a public input, a stream or rows are not run with open data", f"question.inputs.{each.name}")
            if not each.name.isidentifier():  # "~0" would be taken for a noisy number, "q[0]" for an entry
                refuse("an input whose name is no identifier", f"question.inputs.{each.name}")
            if each.shape == "list":
                size = declared.size if each.size is None else each.size
                if size is None:
                    refuse("the lists have no size", "question.size")
                self.sizes[each.name] = size
                self.entries += [] if each.public else [f"{each.name}[{i}]" for i in range(size)]
            else:
                self.entries += [] if each.public else [each.name]
                held[each.name] = (ZERO, ((each.name, ONE),))
        self.start = Here(0, held, frozenset({()}), {}, (), (), 0)
        self.alive = _alive(program)
        self.heads = _heads(program)

    def result(self) -> Unfolded:
        ended: dict[Shown, list[Here]] = {}
        waiting, count = [self.start], 0
        while waiting:
            stopped: dict[object, list[Here]] = {}
            for begun in waiting:
                for here in self.followed(begun):
                    count += 1
                    within(count, _MOST_BUNDLES, "bundles", "question.code")
                    if here.at < 0:
                        ended.setdefault(here.shown, []).append(here.again(held={}, drawn=()))
                    else:
                        held = tuple(sorted(here.held.items(), key=lambda item: item[0]))
                        stopped.setdefault((here.at, held, here.drawn, here.shown), []).append(here)
            waiting = [here for same in stopped.values() for here in joined_together(same)]
        shown = {
            output: tuple(Bundle(here.marks, here.ways, here.gaps) for here in joined_together(found))
            for output, found in ended.items()
        }
        return Unfolded(tuple(self.noisy), shown, tuple(self.entries))

    def followed(self, begun: Here) -> Iterator[Here]:
        """Where a bundle comes to: heads of loops, and the end."""
        stack = [begun]
        while stack:
            here = stack.pop()
            self.steps += 1
            within(self.steps, _MOST_STEPS, "steps", "question.code")
            for after in self.step(here):
                if after.at >= len(self.program.code):
                    refuse("the program runs past its last instruction", "question.code")
                if after.at < 0:
                    yield after
                elif after.at in self.heads:
                    kept = {name: v for name, v in after.held.items() if name in self.alive[after.at]}
                    yield from self.on_marks(after.again(held=kept))
                else:
                    stack.append(after)

    def on_marks(self, here: Here) -> Iterator[Here]:
        """With all noisy numbers that variables hold on marks."""
        loose = min((int(name[1:]) for name in here.names() if name[0] == "~"), default=None)
        if loose is None:
            yield here
            return
        beside = self.beside(loose, here)
        if beside is not None:
            yield from self.on_marks(self.in_units(loose, ONE, beside, "question.code", here))
            return
        within(here.marks + 1, MOST_MARKS, "noisy numbers kept at one time", "question.code")
        for gap in range(here.marks + 1):
            if here.gaps.get(loose, here.all_gaps) >> gap & 1:
                yield from self.on_marks(here.marked(loose, gap))

    def beside(self, who: int, here: Here) -> Number | None:
        """The data that stand beside a noisy number of which nothing is known, the same wherever it is held; None if none do."""
        found: set[tuple[tuple[str, Rational], ...]] = set()
        for value in here.held.values():
            factors = dict(value[1]) if isinstance(value, tuple) else {}
            factor = factors.pop(f"~{who}", None)
            if factor is not None:
                if who in here.gaps or any(name[0] in "~^" for name in factors):
                    return None
                found.add(scaled_number((ZERO, tuple(factors.items())), 1 / factor)[1])
        return (ZERO, found.pop()) if len(found) == 1 and found != {()} else None

    def step(self, here: Here) -> Iterator[Here]:
        match self.program.code[here.at]:
            case Assign(name, value):
                for each, found in self.values(value, here):
                    yield each.again(held={**each.held, name: found}, at=here.at + 1)
            case Forget(name):
                held = {known: value for known, value in here.held.items() if known != name}
                yield here.again(held=held, at=here.at + 1)
            case Test(condition, then, otherwise):
                for each, found in self.values(condition, here):
                    yield each.again(at=then if found else otherwise)
            case Jump(target):
                yield here.again(at=target)
            case Sample() as sample:
                for each, center in self.values(sample.center, here):
                    yield self.sampled(sample, as_number(center), each)
            case EmitOutput(parts, processed) | Return(parts, processed) as last:
                if processed:
                    refuse("an output is computed from what is released", "question.code")
                for each, values in self.several(parts, here):
                    shown = tuple(written_value(v, p) for v, p in zip(values, parts, strict=True))
                    at = -1 if isinstance(last, Return) else here.at + 1
                    yield each.again(shown=(*each.shown, shown), at=at)
            case other:
                refuse(f"{type(other).__name__.lower()} is not run with open noise", f"question.code[{here.at}]")

    def sampled(self, sample: Sample, center: Number, here: Here) -> Here:
        if sample.kind not in _KINDS or not (sample.kind == "gaussian" or sample.group == ()):
            refuse("noise on the integers, or with a scale that is public, is not open", f"question.code[{here.at}]")
        if any(name[0] in "~^" for name, _ in center[1]):
            refuse("noise around a noisy number", f"question.code[{here.at}]")
        before = dict(here.drawn).get(here.at, 0)
        drawn = tuple(sorted({**dict(here.drawn), here.at: before + 1}.items()))
        who = self.who(Noisy((here.at, before), sample.kind, sample.factor, center))
        return here.again(held={**here.held, sample.name: (ZERO, ((f"~{who}", ONE),))}, drawn=drawn, at=here.at + 1)

    def who(self, noisy: Noisy) -> int:
        if len(noisy.center[1]) > 1:
            refuse("noise around a number that depends on several entries of the data", "question.code")
        if noisy not in self.numbers:
            self.numbers[noisy] = len(self.noisy)
            self.noisy.append(noisy)
        return self.numbers[noisy]

    def several(self, parts: tuple[Expression, ...], here: Here) -> Iterator[tuple[Here, tuple[Value, ...]]]:
        """The values of several expressions, each found in the bundle in which those before were."""
        if not parts:
            yield here, ()
            return
        for each, first in self.values(parts[0], here):
            name = next(f"{_KEPT}{k}" for k in count() if f"{_KEPT}{k}" not in each.held)
            kept = each.again(held={**each.held, name: first})
            for after, rest in self.several(parts[1:], kept):
                held = dict(after.held)
                value = held.pop(name)
                yield after.again(held=held), (value, *rest)

    def values(self, expression: Expression, here: Here) -> Iterator[tuple[Here, Value]]:
        """The values that an expression may have, each in a bundle of its own."""
        head, parts = expression.head, expression.parts
        if head == "literal":
            value = expression.value
            assert value is not None
            tag = expression.sort == "tag"
            yield here, value if isinstance(value, bool) else int(value.p) if tag else (value, ())
        elif head == "variable":
            if expression.name not in here.held:
                refuse(f"{expression.name[:40]!r} has no value", expression.place)
            yield here, here.held[expression.name]
        elif head == "length":
            yield here, (Rational(self.sizes[expression.name]), ())
        elif head == "read":
            for each, index in self.values(parts[0], here):
                at = plain_value(index, expression)
                if not 0 <= at < self.sizes[expression.name]:
                    refuse("a list is read outside its bounds", expression.place)
                yield each, (ZERO, ((f"{expression.name}[{at}]", ONE),))
        elif head == "if":
            for each, holds in self.values(parts[0], here):
                yield from self.values(parts[1] if holds else parts[2], each)
        elif head in ("and", "or"):
            for each, holds in self.values(parts[0], here):
                if len(parts) == 1 or holds == (head == "or"):
                    yield each, holds
                else:
                    yield from self.values(replace(expression, parts=parts[1:]), each)
        elif head == "not":
            for each, holds in self.values(parts[0], here):
                yield each, not holds
        elif head in _COMPARISONS:
            for each, (one, two) in self.several(parts, here):
                yield from self.compared(head, one, two, expression, each)
        elif head in ("max", "min", "abs"):
            for each, found in self.several(parts, here):
                numbers = [as_number(value) for value in found]
                yield from self.extreme(
                    "max" if head == "abs" else head,
                    [*numbers, scaled_number(numbers[0], -ONE)] if head == "abs" else numbers,
                    expression,
                    each,
                )
        else:
            for each, found in self.several(parts, here):
                yield each, computed_number(head, [as_number(value) for value in found], expression)

    def extreme(
        self, head: str, numbers: list[Number], expression: Expression, here: Here
    ) -> Iterator[tuple[Here, Value]]:
        if len(numbers) == 1:
            yield here, numbers[0]
            return
        kept = here.again(held={**here.held, **{f"{_KEPT}m{k}": number for k, number in enumerate(numbers)}})
        for each, first in self.compared(">=" if head == "max" else "<=", numbers[0], numbers[1], expression, kept):
            held = dict(each.held)
            now = [as_number(held.pop(f"{_KEPT}m{k}")) for k in range(len(numbers))]
            yield from self.extreme(head, [now[0] if first else now[1], *now[2:]], expression, each.again(held=held))

    def compared(
        self, head: str, one: Value, two: Value, expression: Expression, here: Here
    ) -> Iterator[tuple[Here, bool]]:
        """How a comparison may go, in a bundle of its own each."""
        if not (isinstance(one, tuple) and isinstance(two, tuple)):
            yield here, (one == two) == (head == "==")
            return
        gap = added_numbers(one, scaled_number(two, -ONE))
        loud = [(name, factor) for name, factor in gap[1] if name[0] in "~^"]
        if not gap[1]:
            yield here, _COMPARISONS[head](gap[0])
        elif len(loud) != 2 or head in ("==", "!="):
            refuse("a test that is no comparison of two noisy numbers", expression.place)
        else:
            kept = here.again(held={**here.held, f"{_KEPT}gap": gap})
            for each, sign in self.signs(expression, kept):
                held = dict(each.held)
                del held[f"{_KEPT}gap"]
                yield each.again(held=held), _COMPARISONS[head](Rational(sign))

    def signs(self, expression: Expression, here: Here) -> Iterator[tuple[Here, int]]:
        """The signs that the difference of two noisy numbers may have."""
        gap = as_number(here.held[f"{_KEPT}gap"])
        loud = {name: factor for name, factor in gap[1] if name[0] in "~^"}
        rest = (gap[0], tuple(term for term in gap[1] if term[0][0] not in "~^"))
        loose = sorted(int(name[1:]) for name in loud if name[0] == "~")
        if len(loose) == 2:
            for place in range(here.marks + 1):
                if here.gaps.get(loose[0], here.all_gaps) >> place & 1:
                    yield from self.signs(expression, here.marked(loose[0], place))
            return
        if not loose:
            (low, one), (high, two) = sorted(loud.items(), key=lambda item: int(item[0][1:]))
            if one + two != 0 or rest != (ZERO, ()) or low == high:
                refuse("two noisy numbers are compared in different units", expression.place)
            yield here, 1 if two > 0 else -1
            return
        who = loose[0]
        [(mark, factor)] = [(name, f) for name, f in loud.items() if name[0] == "^"]
        slope, offset = -loud[f"~{who}"] / factor, scaled_number(rest, -1 / factor)
        if slope != 1 or offset != (ZERO, ()):
            here = self.in_units(who, slope, offset, expression.place, here)
            yield from self.signs(expression, here)
            return
        bits = here.gaps.get(who, here.all_gaps)
        lower = (2 << int(mark[1:])) - 1
        for part, sign in ((bits & lower, 1), (bits & ~lower, -1)):
            if part:
                gaps = {**here.gaps, who: part}
                if part == here.all_gaps:
                    del gaps[who]
                yield here.again(gaps=gaps), sign if factor > 0 else -sign

    def in_units(self, who: int, slope: Rational, offset: Number, place: str, here: Here) -> Here:
        """With ``z = slope * y + offset`` in the place of a noisy number y that nothing is known of."""
        if who in here.gaps:
            refuse("a noisy number is compared twice in different units", place)
        old = self.noisy[who]
        turned = old.kind == "exponential" and old.turned != (slope < 0)
        center = added_numbers(scaled_number(old.center, slope), offset)
        new = self.who(Noisy(old.draw, old.kind, abs(slope) * old.scale, center, turned))
        made: Number = scaled_number(added_numbers((ZERO, ((f"~{new}", ONE),)), scaled_number(offset, -ONE)), 1 / slope)

        def changed(value: Value) -> Value:
            factor = dict(value[1]).get(f"~{who}") if isinstance(value, tuple) else None
            if factor is None or not isinstance(value, tuple):
                return value
            return added_numbers(
                (value[0], tuple(t for t in value[1] if t[0] != f"~{who}")), scaled_number(made, factor)
            )

        return here.again(held={name: changed(value) for name, value in here.held.items()})


_KEPT = "\0kept "
"""Names of values that are kept while others are found; no variable has such a name."""
_COMPARISONS: dict[str, Callable[[Rational], bool]] = {
    "<": lambda gap: gap < 0,
    "<=": lambda gap: gap <= 0,
    ">": lambda gap: gap > 0,
    ">=": lambda gap: gap >= 0,
    "==": lambda gap: gap == 0,
    "!=": lambda gap: gap != 0,
}


def _alive(program: Program) -> list[frozenset[str]]:
    """For every instruction the variables that may be read before they are written again."""
    reads: list[frozenset[str]] = []
    writes: list[str | None] = []
    for step in program.code:
        found: tuple[Expression, ...] = ()
        match step:
            case Assign(_, value):
                found = (value,)
            case Sample():
                found = (step.center,)
            case Test(condition):
                found = (condition,)
            case EmitOutput(parts) | Return(parts):
                found = parts
        reads.append(frozenset(n for each in found for n in _variables(each)))
        writes.append(step.name if isinstance(step, Assign | Sample | Forget) else None)
    alive = [frozenset[str]()] * len(program.code)
    changed = True
    while changed:
        changed = False
        for number in range(len(program.code) - 1, -1, -1):
            after = [alive[k] for k in program.following(number) if k < len(program.code)]
            here = reads[number] | (frozenset().union(*after) - {writes[number]})
            changed = changed or here != alive[number]
            alive[number] = here
    return alive


def _variables(expression: Expression) -> Iterator[str]:
    if expression.head == "variable":
        yield expression.name
    for part in expression.parts:
        yield from _variables(part)


def _heads(program: Program) -> frozenset[int]:
    """Instructions that some instruction after them, or themselves, may jump back to."""
    return frozenset(k for n in range(len(program.code)) for k in program.following(n) if k <= n)
