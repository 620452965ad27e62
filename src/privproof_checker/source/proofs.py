"""Proofs with continuous noise: the instructions that an alignment is about do what the text does, for all inputs and all noise.

Both sides run next to each other on numbers that are left open.  Where one of them asks what is not known, both ways are followed.  What
can be observed must agree, in the same order: noise of the same kind around the same centre with the same scale, the elements of a
stream, the outputs (`recoding`), the end.  At the heads of loops the runs are cut (`cuts`), so that finitely many steps speak of all
lengths.  A run that goes on for ever on one side does so on the other: no side waits for ever while the other one runs.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from contextvars import ContextVar
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from privproof_checker.outcomes import Limits, Refusal, refuse
from privproof_checker.programs.instruction_kinds import EmitOutput, Program, Return, SelectionPlace
from privproof_checker.programs.instructions import read_program
from privproof_checker.programs.program_inputs import Declared, read_declared
from privproof_checker.source.cuts import Cut, numbers_of, with_numbers
from privproof_checker.source.establishing import look_again
from privproof_checker.source.facts import Asked, Facts, Open, Path
from privproof_checker.source.following import HEAD, Follower, Following
from privproof_checker.source.instructed import Executing, Held, Instructed
from privproof_checker.source.observing import Both, Observer
from privproof_checker.source.open_arguments import Given
from privproof_checker.source.operations import Fails
from privproof_checker.source.rank_cases import Case, case_of, longest_told
from privproof_checker.source.running import Run, Work
from privproof_checker.source.selections import Numbers, final_runs
from privproof_checker.source.source_member import Findings, Source, same_inputs
from privproof_checker.source.symbols import PLACE, Atom, Term, is_whole, parts_of, plus
from privproof_checker.source.totals import unfolded
from privproof_checker.source.values import Beyond, Value

_MOST_CUTS = 500
"""Pairs of loop heads that are compared; beyond them the comparison gives up."""
_MOST_STEPS = 4_000
"""Steps of the comparison; beyond them it gives up."""
_MOST_TOTALLED = 300
"""The same where the instructions have totals: what is to be found about their loops is found in the first steps, and lists that the
text keeps beside them make ever new states."""
_STEP = 20
"""How many instructions take about as long as one step of the comparison."""


_last: ContextVar[tuple[str, Findings] | None] = ContextVar("last", default=None)
"""What was compared last, in full, and what came of it."""


def establish_proof(source: Source, asked: dict[str, object], limits: Limits, work: Work) -> Findings:
    """Refuse if the instructions of a question are not those of the source.

    Bounds on one mechanism differ in their delta alone, of which nothing here speaks: what was compared last is not compared again.
    """
    declared = read_declared(asked, limits)
    rest = {name: member for name, member in asked.items() if name != "delta"}
    told, last = json.dumps([source.member, rest, repr(limits)], sort_keys=True), _last.get()
    if last is None or last[0] != told:
        last = told, _compared(source, asked, declared, limits, work)
        _last.set(last)
    return last[1]


def _compared(source: Source, asked: dict[str, object], declared: Declared, limits: Limits, work: Work) -> Findings:
    same_inputs(source, declared)
    if source.member.get("size") != declared.size:
        refuse("the question is about lists of another length than the program", f"{PLACE}.size")
    if "coins" in asked:
        raise Beyond("that these coins are tossed for every record is not re-established", "question.coins")
    program = read_program(asked, declared, limits)
    if program.kept:
        raise Beyond("that the text keeps these lists is not re-established", "question.lists")
    if any(isinstance(step, EmitOutput | Return) and step.processed for step in program.code):
        raise Beyond("that an output is computed from these parts is not re-established", "question.code")
    comparison = Comparison(source, asked, declared, limits, work)
    if any(isinstance(step, SelectionPlace) for step in program.code):
        return _establish_selection(source, program, comparison)
    try:
        comparison.run()
    except Beyond:
        raise
    except Refusal as problem:
        look_again(source, asked, declared, limits, work)
        raise Beyond(problem.reason, problem.place) from None
    return Findings()


def _establish_selection(source: Source, program: Program, comparison: Comparison) -> Findings:
    """Give up, or find that the text makes the selections of the instructions, and then does what they do."""
    if len(source.inputs) != 1 or len(comparison.program.code) != len(program.code):
        raise Beyond("a selection beside other inputs than one list, or among totals, is not re-established", PLACE)
    [declared] = source.inputs.values()
    if declared.shape != "list" or declared.own_size is not None or source.member.get("size") is not None:
        raise Beyond("a selection of something else than a list of open length is not re-established", PLACE)
    most = longest_told(program)
    failing: list[str] = []
    try:
        for length in (*range(1, most + 1), None):
            case = case_of(program, declared.name, length, most)
            runs = final_runs(source, declared.name, case, length, most, comparison.work)
            for run in runs:
                comparison.begin_selected(declared.name, case, run, length, most)
            failing += [] if runs else [f"longer than {most}" if length is None else f"of {length}"]
        comparison.settle()
    except Beyond:
        raise
    except Refusal as problem:
        raise Beyond(problem.reason, problem.place) from None
    return Findings(notes=(f"every run on lists {', '.join(failing)} fails",) if failing else ())


@dataclass(eq=False)
class _Place:
    """A cut, with both sides as they first came there."""

    both: Both
    cut: Cut
    names: list[str]
    waiting: bool = True


class Comparison:
    """Compares the text of a mechanism with its instructions."""

    def __init__(
        self, source: Source, asked: dict[str, object], declared: Declared, limits: Limits, work: Work
    ) -> None:
        self.source, self.work = source, work
        self.path = Path()
        written = read_program(asked, declared, limits)
        self.program = unfolded(written)
        self.most = _MOST_STEPS if len(self.program.code) == len(written.code) else _MOST_TOTALLED
        self.given = Given(source, declared, self.path)
        self.instructed = Instructed(self.program, self.path, work, self.given.lists)
        emits = any(isinstance(step, EmitOutput) for step in self.program.code)
        collects = emits and not source.mechanism.generator
        self.follower = Follower(source.functions, work, self.path, collects=collects)
        self.observer = Observer(self.instructed, self.follower, self.given, self.path)
        self.places: list[_Place] = []
        self.numbers: dict[Any, int] = {}
        self.edges: set[tuple[int, int, bool, bool]] = set()
        self.belongs: dict[Any, Any] = {}
        self.steps = 0

    def run(self) -> None:
        """Compare everything, or refuse."""
        for variables, arguments in self.given.beginnings(self.program.tags):
            self.begin(variables, arguments)
        self.settle()

    def begin(self, variables: dict[str, Held], arguments: Mapping[str, Value]) -> None:
        """Follow both sides from their beginning on."""
        run = self.follower.begin({**self.source.parameters, **arguments})
        self._follow(Both(Executing(0, variables), Following(run), Facts(self.path.atoms)))

    def begin_selected(self, name: str, case: Case, run: Run, length: int | None, most: int) -> None:
        """Follow both sides from the end of their selections on, on lists of a length, or of all that are longer than a number."""
        path, answers = self.path, self.given.lists[name]
        path.facts = Facts(path.atoms)
        size = parts_of(answers.length)
        path.assume("at least", plus(size, {(): Fraction(most + 1 if length is None else length)}, -1))
        if length is not None:
            path.assume("at least", plus({(): Fraction(length)}, size, -1))
        held: dict[str, Held] = {}
        values: dict[tuple[int, int], Term] = {}
        places: dict[tuple[int, int], Term] = {}
        for number, block in enumerate(case.blocks, start=1):
            for rank, place in enumerate(block.places, start=1):
                found = path.term(path.atoms.new(Atom(whole=True, stable=True, low=Fraction(0))))
                path.assume("above", plus(size, found.parts, -1))
                held[place] = places[number, rank] = found
            for rank, each in enumerate(block.names(), start=1):
                own = path.term(path.atoms.new(Atom(whole=False, stable=True)))
                held[each] = values[number, rank] = own
                if rank > 1:
                    first, second = values[number, rank - 1].parts, own.parts
                    path.assume("above", plus(first, second, -1) if block.largest else plus(second, first, -1))
        numbers = Numbers(values, places, lambda place: self.follower.entry(answers, place), answers)
        text = Following(self.follower.copied(run, numbers.of))
        self._follow(Both(Executing(case.at, held), text, path.facts))

    def settle(self) -> None:
        """Follow what is left at the heads of loops, or refuse."""
        while any(place.waiting for place in self.places):
            number = next(i for i, place in enumerate(self.places) if place.waiting)
            self.places[number].waiting = False
            self._follow(self._from_cut(number))
        self.observer.recoding.finish()
        for side in (0, 1):
            if _endless({(a, b) for a, b, *moved in self.edges if a >= 0 and not moved[side]}):
                raise Beyond("a loop of one side has no counterpart on the other", PLACE)

    def _follow(self, first: Both) -> None:
        """Follow both sides on all ways to the next cuts, or to the end."""
        waiting = [first]
        while waiting:
            both = waiting.pop()
            self.work.spend(_STEP)
            self.steps += 1
            if self.steps > self.most:
                raise Beyond(f"the comparison takes more than {self.most} steps", PLACE)
            self.path.facts = both.facts
            try:
                following = self.onward(both)
            except Fails as problem:
                raise Beyond(f"the function may fail: {problem.reason}", self.follower.place(both.text.run)) from None
            except Open as question:
                following = []
                for outcome in self.answers(question.asked):
                    facts = self.path.facts.after(question.asked, outcome=outcome)
                    if facts is not None:
                        following.append(self.observer.copied(both, facts))
            waiting += following

    def answers(self, asked: Asked) -> Sequence[bool]:
        """The answers to a question that are followed, where nothing settles it."""
        return (True, False)

    def onward(self, both: Both) -> list[Both]:
        """How both sides go on, one step further."""
        if not both.stopped:
            both.stop = self.instructed.advance(both.ours)
            both.stopped = True
        if both.halt is None:
            both.halt = self.follower.advance(both.text)
        if both.stop is None or both.halt == HEAD:
            return self.arrive(both)
        both.facts = self.path.facts
        return self.observer.observed(both, both.stop, both.halt)

    def arrive(self, both: Both) -> list[Both]:
        """Both sides are at a cut: what was known there is weakened by what holds now."""
        self.work.spend(_STEP)
        self.follower.trim(both.text.run)
        both.ours.variables = self.instructed.trimmed(both.ours)
        held = both.ours.variables
        names = [name for name, value in held.items() if isinstance(value, Term)]
        theirs, shape = numbers_of(both.text.run)
        numbers = [*(held[name] for name in names), *theirs]
        fixed = tuple((name, "number" if isinstance(value, Term) else value) for name, value in held.items())
        place = (both.ours.at, both.stop is None, both.halt, both.written, fixed, shape)
        number = self.numbers.setdefault(place, len(self.numbers))
        if number == len(self.places):
            if number >= _MOST_CUTS:
                raise Beyond("the loops have too many states", PLACE)
            self.places.append(_Place(both, Cut(self.path, numbers), names))
        elif self.places[number].cut.weaken(numbers):
            self.places[number].waiting = True
        self.edges.add((both.cut, number, *both.moved))
        return []

    def _from_cut(self, number: int) -> Both:
        """Both sides at a cut, with all that is known there and nothing else."""
        place = self.places[number]
        first, cut = place.both, place.cut
        values = cut.numbers()
        variables = dict(first.ours.variables)
        for name, value in zip(place.names, values, strict=False):
            variables[name] = Term(parts_of(value), is_whole(value))
        run = with_numbers(first.text.run, values[len(place.names) :])
        leaves, turns = self._leaving(first)
        ours = Executing(first.ours.at, variables, leaving=leaves or first.ours.leaving)
        text = Following(run, leaving=turns or first.text.leaving)
        halt = None if turns else first.halt
        return Both(ours, text, cut.known(), first.stop, not leaves, halt, first.written, number, (leaves, turns))

    def _leaving(self, both: Both) -> tuple[bool, bool]:
        """Which sides leave the heads of loops where they are.

        Loops whose heads are met together for the first time belong together, and are left together; a side that is in another loop
        than the one that belongs to the other's is left to go on alone.
        """
        if both.stop is not None or both.halt != HEAD:
            return both.stop is None, both.halt == HEAD
        ours, text = both.ours.at, tuple((frame.function, frame.at) for frame in both.text.run.frames)
        if ours not in self.belongs and text not in self.belongs:
            self.belongs[ours], self.belongs[text] = text, ours
        if ours in self.belongs and text in self.belongs:
            return True, True
        return ours not in self.belongs, text not in self.belongs


def _endless(edges: set[tuple[int, int]]) -> bool:
    """Whether there is a cycle."""
    onward: dict[int, set[int]] = {}
    for a, b in edges:
        onward.setdefault(a, set()).add(b)
    left = dict(onward)
    while left:
        ends = [a for a, targets in left.items() if not any(b in left for b in targets)]
        if not ends:
            return True
        for a in ends:
            del left[a]
    return False
