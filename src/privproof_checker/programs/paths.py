"""Paths between the cuts of a program, and the alignment that a certificate gives for each of them.

A program is cut at some instructions, the first among them.  A path leads from a cut to the next one or to a return, and
is the sequence of the outcomes of its tests.  Every cycle has to pass a cut, so that the paths are finitely many; all of
them are found here, whatever the certificate lists.

The shift of a sample may depend on the inputs, on the foretold result and on the outcomes of tests, which both runs share,
and on nothing else: it is a constant, plus multiples of differences of entries read on the path, plus multiples of
differences of variables that no noise flows into, or only noise that is never shifted (`selections`).  These are the side
conditions of the soundness theorem: on each path the noise is translated or sheared, and paths do not overlap in run 2.

The shift of Gaussian noise is *settled*: it may depend on what comes before the draw, and on nothing that comes later, neither on the
outcomes of later tests nor on the foretold result.  Paths that share the way to the draw have the same.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from privproof_checker.numbers import Rational
from privproof_checker.outcomes import Limits, refuse, within
from privproof_checker.plain_documents import a_flag, a_list, a_number, a_text, an_integer, an_object, only_members
from privproof_checker.programs.flow import Flow
from privproof_checker.programs.instruction_kinds import NextValue, Program, Sample, Test
from privproof_checker.programs.program_expressions import Expression, ProgramReader
from privproof_checker.programs.symbol_products import Exchange, read_exchanges

_MOST_PATHS = 5_000
"""How many paths between cuts a program may have; beyond, the evidence is refused (more cuts make fewer paths)."""
_MOST_CASES = 100
"""The alignment of a path may have so many cases, each with so many conditions; beyond, it is refused."""
_PLACE = "evidence.paths"


@dataclass(frozen=True)
class ProgramPath:
    """A path.

    Attributes:
        start: the cut where it starts.
        steps: the instructions executed, in order.
        tests: its tests and their outcomes, in order.
        end: the cut where it ends; None for a return.
    """

    start: int
    steps: tuple[int, ...]
    tests: tuple[tuple[int, bool], ...]
    end: int | None

    def __str__(self) -> str:
        outcomes = ", ".join(f"{at} {'holds' if outcome else 'fails'}" for at, outcome in self.tests)
        return f"the path from {self.start}" + (f" where {outcomes}" if outcomes else "")


@dataclass(frozen=True)
class Shift:
    """A shift: a constant, multiples of differences of entries by number, and of differences of variables."""

    constant: Rational
    reads: tuple[tuple[int, Rational], ...]
    distances: tuple[tuple[str, Rational], ...]


@dataclass(frozen=True)
class CaseCondition:
    """That the index of an entry is a foretold output, that the output is a value, or (without an output) that monotone
    neighbours go up; or that it is not so."""

    output: int | None
    holds: bool
    read: int = -1
    value: Expression | None = None

    @property
    def plain(self) -> tuple[object, ...]:
        """The condition, wherever in the certificate it stands."""
        return self.output, self.holds, self.read, None if self.value is None else self.value.value


@dataclass(frozen=True)
class ShiftCase:
    """The shifts of the samples by instruction, where the conditions hold."""

    when: tuple[CaseCondition, ...]
    shifts: Mapping[int, Shift]


@dataclass(frozen=True)
class Settled:
    """The shift of Gaussian noise where the result is foretold to be so, with a bound on its size.

    `spread`: entries read before, each with a factor, whose differences bound it, where squares are counted in a norm.
    """

    when: tuple[CaseCondition, ...]
    shift: Shift
    reach: Rational
    spread: tuple[tuple[int, Rational], ...] = ()


@dataclass(frozen=True)
class Alignment:
    """The cases of a path; the first whose conditions hold counts, and without one nothing is shifted.

    The shifts of Gaussian noise are settled: of each the first whose conditions hold counts.  They depend on the direction in which
    the data go, and on the result only where delta pays for every result that may be foretold.  Costs are exchanged between counters
    where the path ends.
    """

    cases: tuple[ShiftCase, ...]
    place: str
    settled: Mapping[int, tuple[Settled, ...]] = field(default_factory=dict)
    exchanged: tuple[Exchange, ...] = ()


def paths_of(program: Program, cuts: frozenset[int]) -> list[ProgramPath]:
    """All paths of a program cut at these instructions."""
    found: list[ProgramPath] = []
    for cut in sorted(cuts):
        waiting: list[tuple[tuple[int, ...], tuple[tuple[int, bool], ...]]] = [((cut,), ())]
        while waiting:
            steps, tests = waiting.pop()
            at = steps[-1]
            targets = program.following(at)
            if not targets:
                found.append(ProgramPath(cut, steps, tests, None))
            for target, outcome in zip(targets, (True, False), strict=False):
                made = (*tests, (at, outcome)) if isinstance(program.code[at], Test) else tests
                if target in cuts:
                    found.append(ProgramPath(cut, steps, made, target))
                elif target in steps:
                    refuse(f"a cycle through instruction {target} passes no cut", "evidence.cuts")
                elif target >= len(program.code):
                    refuse("the code ends without a return", f"question.code[{at}]")
                else:
                    waiting.append(((*steps, target), made))
            within(len(found) + len(waiting), _MOST_PATHS, "paths", "evidence.cuts")
    return found


def read_cuts(value: object, program: Program, selections: Mapping[int, int]) -> frozenset[int]:
    """The cuts of a certificate, the first instruction among them."""
    listed = a_list(value, "evidence.cuts")
    cuts = [an_integer(item, f"evidence.cuts[{i}]") for i, item in enumerate(listed)]
    for i, cut in enumerate(cuts):
        if not 0 <= cut < len(program.code):
            refuse(f"there is no instruction {cut}", f"evidence.cuts[{i}]")
        if any(first < cut <= last for first, last in selections.items()):
            refuse("a selection is cut in the middle", f"evidence.cuts[{i}]")
    if 0 not in cuts or len(set(cuts)) < len(cuts):
        refuse("the cuts are different instructions, 0 among them", "evidence.cuts")
    return frozenset(cuts)


def read_alignments(
    value: object, paths: list[ProgramPath], flow: Flow, limits: Limits, *, foretold: bool = False
) -> dict[ProgramPath, Alignment]:
    """The alignment of each path; a path that is not listed is not shifted.

    Args:
        value: what the certificate lists.
        paths: all paths.
        flow: the program and its data flow.
        limits: how much is read.
        foretold: whether shifts of Gaussian noise may depend on the foretold result.
    """
    known = {(path.start, path.tests): path for path in paths}
    listed = a_list(value, _PLACE)
    within(len(listed), len(paths), "entries for paths", _PLACE)
    found: dict[ProgramPath, Alignment] = {}
    for i, item in enumerate(listed):
        place = f"{_PLACE}[{i}]"
        given = an_object(item, place)
        only_members(given, ("from", "tests", "cases", "settled", "exchanged"), place)
        tests = tuple(
            _outcome(test, f"{place}.tests[{k}]") for k, test in enumerate(a_list(given.get("tests"), f"{place}.tests"))
        )
        path = known.get((an_integer(given.get("from"), f"{place}.from"), tests))
        if path is None:
            refuse("there is no such path", place)
        if path in found:
            refuse("the path is listed twice", place)
        cases = a_list(given.get("cases"), f"{place}.cases")
        within(len(cases), _MOST_CASES, "cases", f"{place}.cases")
        reader = _CaseReader(flow, path, limits, foretold=foretold)
        settled = reader.settled(given.get("settled", {}), f"{place}.settled")
        read = tuple(reader.case(case, f"{place}.cases[{k}]") for k, case in enumerate(cases))
        exchanged = read_exchanges(given.get("exchanged", []), flow.program.declared, f"{place}.exchanged", limits)
        found[path] = Alignment(read, place, settled, exchanged)
    alignments = {path: found.get(path, Alignment((), _PLACE)) for path in paths}
    _check_shifts_settled(alignments, flow.program)
    _predictable(alignments, flow.program)
    return alignments


def _outcome(value: object, place: str) -> tuple[int, bool]:
    given = a_list(value, place)
    if len(given) != 2:
        refuse("expected an instruction and the outcome of its test", place)
    return an_integer(given[0], place), a_flag(given[1], place)


def _check_shifts_settled(alignments: Mapping[ProgramPath, Alignment], program: Program) -> None:
    """Where a value of a stream is taken, the shifts so far are the same on all paths that share the way to there.

    The mechanism may stay there for ever, so what comes later cannot count.
    """
    seen: dict[tuple[int, int, tuple[tuple[int, bool], ...]], object] = {}
    for path, alignment in alignments.items():
        for i, at in enumerate(path.steps):
            if isinstance(program.code[at], NextValue):
                before = frozenset(path.steps[:i])
                tests = tuple(test for test in path.tests if test[0] in before)
                early = [(case.when, {k: s for k, s in case.shifts.items() if k in before}) for case in alignment.cases]
                shifts = early if any(moved for _, moved in early) else []
                if seen.setdefault((path.start, at, tests), shifts) != shifts:
                    refuse(f"a shift before instruction {at} depends on what comes later", alignment.place)


def _predictable(alignments: Mapping[ProgramPath, Alignment], program: Program) -> None:
    """The shift of Gaussian noise is the same on all paths that share the way to its draw."""
    seen: dict[tuple[int, int, tuple[tuple[int, bool], ...]], object] = {}
    for path, alignment in alignments.items():
        for i, at in enumerate(path.steps):
            step = program.code[at]
            if isinstance(step, Sample) and step.gaussian:
                before = frozenset(path.steps[:i])
                tests = tuple(test for test in path.tests if test[0] in before)
                settled = [
                    ([each.plain for each in one.when], one.shift, one.reach, one.spread)
                    for one in alignment.settled.get(at, ())
                ]
                if seen.setdefault((path.start, at, tests), settled) != settled:
                    refuse(f"the shift of instruction {at} depends on what comes later", alignment.place)


class _CaseReader:
    """Reads the cases of one path."""

    def __init__(self, flow: Flow, path: ProgramPath, limits: Limits, *, foretold: bool) -> None:
        self.flow = flow
        self.foretold = foretold
        self.limits = limits
        drawn = {at: step for at in path.steps if isinstance(step := flow.program.code[at], Sample)}
        self.samples = [at for at, step in drawn.items() if not step.gaussian]
        self.gaussian = [at for at, step in drawn.items() if step.gaussian]
        declared = flow.program.declared
        numeric = {name for name, sort in flow.program.variables.items() if sort in ("int", "real")}
        numeric |= {each.name for each in declared.inputs.values() if each.shape == "value" and each.numeric}
        self.plain = ((numeric & flow.high) - flow.noisy) | flow.others

    def case(self, value: object, place: str) -> ShiftCase:
        given = an_object(value, place)
        only_members(given, ("when", "shifts"), place)
        conditions = self._when(given, place)
        shifts = {}
        for name, item in an_object(given.get("shifts"), f"{place}.shifts").items():
            at = next((number for number in self.samples if str(number) == name), None)
            if at is None:
                refuse(f"{name[:40]!r} is no sample of continuous noise on this path", f"{place}.shifts")
            shifts[at] = self._shift(item, f"{place}.shifts.{name}")
        return ShiftCase(conditions, shifts)

    def _when(self, given: dict[str, object], place: str) -> tuple[CaseCondition, ...]:
        when = a_list(given.get("when", []), f"{place}.when")
        within(len(when), _MOST_CASES, "conditions", f"{place}.when")
        return tuple(self._condition(item, f"{place}.when[{i}]") for i, item in enumerate(when))

    def settled(self, value: object, place: str) -> dict[int, tuple[Settled, ...]]:
        """The shifts of Gaussian noise."""
        found = {}
        for name, item in an_object(value, place).items():
            here = f"{place}.{name}"
            at = next((number for number in self.gaussian if str(number) == name), None)
            if at is None:
                refuse(f"{name[:40]!r} is no sample of Gaussian noise on this path", place)
            listed = item if isinstance(item, list) else [item]
            within(len(listed), _MOST_CASES, "cases", here)
            found[at] = tuple(self._settled(each, f"{here}[{k}]") for k, each in enumerate(listed))
        return found

    def _settled(self, value: object, place: str) -> Settled:
        given = an_object(value, place)
        only_members(given, ("when", "shift", "reach", "spread"), place)
        when = self._when(given, place)
        if not self.foretold and any(each.output is not None for each in when):
            refuse("a shift of Gaussian noise depends on what is foretold, for which nothing is paid", f"{place}.when")
        reach = a_number(given.get("reach"), f"{place}.reach", self.limits)
        if reach < 0:
            refuse("a reach is at least 0", f"{place}.reach")
        spread = self._multiples(given.get("spread", []), f"{place}.spread")
        if spread and self.flow.program.declared.relation != "l2":
            refuse("the squares of differences are counted in the norm l2 alone", f"{place}.spread")
        if len({read for read, _ in spread}) < len(spread):
            refuse("a read is named twice", f"{place}.spread")
        return Settled(when, self._shift(given.get("shift"), f"{place}.shift"), reach, spread)

    def _shift(self, value: object, place: str) -> Shift:
        given = an_object(value, place)
        only_members(given, ("constant", "reads", "distances"), place)
        constant = a_number(given.get("constant", 0), f"{place}.constant", self.limits)
        reads, distances = self._multiples(given.get("reads", []), f"{place}.reads"), []
        for i, item in enumerate(a_list(given.get("distances", []), f"{place}.distances")):
            variable, factor = _pair(item, f"{place}.distances[{i}]")
            name = a_text(variable, f"{place}.distances[{i}]")
            if name not in self.plain:
                refuse(
                    f"{name[:40]!r} is not a number that differs between the runs and is free of noise",
                    f"{place}.distances[{i}]",
                )
            distances.append((name, a_number(factor, f"{place}.distances[{i}]", self.limits)))
        return Shift(constant, reads, tuple(distances))

    def _multiples(self, value: object, place: str) -> tuple[tuple[int, Rational], ...]:
        """Entries read on the path by their numbers, each with a factor."""
        found = []
        for i, item in enumerate(a_list(value, place)):
            read, factor = _pair(item, f"{place}[{i}]")
            number = an_integer(read, f"{place}[{i}]")
            if not 0 <= number < self.limits.symbols:
                refuse(f"there is no read number {number}", f"{place}[{i}]")
            found.append((number, a_number(factor, f"{place}[{i}]", self.limits)))
        return tuple(found)

    def _condition(self, value: object, place: str) -> CaseCondition:
        given = a_list(value, place)
        if len(given) == 2 and given[0] == "up" and self.flow.program.declared.relation == "monotone":
            return CaseCondition(None, a_flag(given[1], place))
        if len(given) != 4 or given[0] not in ("index", "output"):
            refuse('expected ["index", read, output, flag] or ["output", output, value, flag]', place)
        output = an_integer(given[2 if given[0] == "index" else 1], place)
        if output not in self.flow.outputs:
            refuse(f"part {output} of the result is not foretold", place)
        sort, holds = self.flow.outputs[output], a_flag(given[3], place)
        if given[0] == "index":
            read = an_integer(given[1], place)
            if sort != "int" or not 0 <= read < self.limits.symbols:
                refuse("an index is compared with a foretold integer", place)
            return CaseCondition(output, holds, read=read)
        program = self.flow.program
        expression = ProgramReader({}, program.declared.inputs, program.tags, self.limits).of_sort(
            given[2], sort, place
        )
        if expression.head != "literal":
            refuse("an output is compared with a value", place)
        return CaseCondition(output, holds, value=expression)


def _pair(value: object, place: str) -> tuple[object, object]:
    given = a_list(value, place)
    if len(given) != 2:
        refuse("expected two parts", place)
    return given[0], given[1]
