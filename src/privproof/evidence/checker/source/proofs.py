"""Proofs with continuous noise: the instructions that an alignment is about do what the text does, for all inputs and all noise.

Both sides run next to each other on numbers that are left open.  Where one of them asks what is not known, both ways are followed.  What
can be observed must agree, in the same order: noise of the same kind around the same centre with the same scale, the elements of a
stream, the outputs (`recoding`), the end.  At the heads of loops the runs are cut (`cuts`), so that finitely many steps speak of all
lengths.  A run that goes on for ever on one side does so on the other: no side waits for ever while the other one runs.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import islice
from random import Random
from typing import Any, NoReturn

from privproof.evidence.checker.outcomes import Limits, Refusal, refuse
from privproof.evidence.checker.programs.inputs import Declared, read_declared
from privproof.evidence.checker.programs.instructions import (
    Coin,
    Emit,
    Instruction,
    Next,
    Return,
    Sample,
    Whole,
    read_program,
)
from privproof.evidence.checker.source.cuts import Cut, numbers_of, with_numbers
from privproof.evidence.checker.source.declared import Findings, Source, same_inputs
from privproof.evidence.checker.source.following import (
    APPEND,
    END,
    HEAD,
    NOISE,
    WAIT,
    YIELD,
    Follower,
    Following,
    Sink,
)
from privproof.evidence.checker.source.given import Given
from privproof.evidence.checker.source.instructed import Executing, Held, Instructed, scale_of
from privproof.evidence.checker.source.laws import SIGNATURES, Continuous, law
from privproof.evidence.checker.source.machine import Run, Work
from privproof.evidence.checker.source.operations import Fails, elements
from privproof.evidence.checker.source.recoding import Recoding
from privproof.evidence.checker.source.sampled import Sampled
from privproof.evidence.checker.source.symbols import (
    PLACE,
    Atom,
    Facts,
    Open,
    Path,
    Term,
    is_whole,
    parts_of,
    plus,
)
from privproof.evidence.checker.source.values import Beyond, Cells, Value, Walk, frozen

_MOST_CUTS = 500
_MOST_STEPS = 4_000
_LONGEST_RUN = 200
_RUNS = 100
_STEP = 20
"""How many instructions take about as long as one step of the comparison."""


def establish_proof(source: Source, asked: dict[str, object], limits: Limits, work: Work) -> Findings:
    """Refuse if the instructions of a question are not those of the source."""
    declared = read_declared(asked, limits)
    same_inputs(source, declared)
    if source.member.get("size") != declared.size:
        refuse("the question is about lists of another length than the program", f"{PLACE}.size")
    comparison = Comparison(source, asked, declared, limits, work)
    try:
        comparison.run()
    except Beyond:
        raise
    except Refusal as problem:
        Comparison(source, asked, declared, limits, work).run_by_chance()
        raise Beyond(problem.reason, problem.place) from None
    return Findings()


@dataclass(eq=False)
class Both:
    """Both sides on their way.

    Attributes:
        ours: the instructions.
        text: the text.
        facts: what is known.
        stop: where the instructions have stopped: before what can be observed, or (None) at the head of a loop.
        halt: where the text has stopped; None if it runs.
        stopped: whether the instructions have stopped.
        written: whether something was put out.
        cut: the cut where it comes from.
        moved: whether the instructions, and the text, have gone on since then.
    """

    ours: Executing
    text: Following
    facts: Facts
    stop: Instruction | None = None
    stopped: bool = False
    halt: str | None = None
    written: bool = False
    cut: int = -1
    moved: tuple[bool, bool] = (False, False)


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
        self.program = read_program(asked, declared, limits)
        self.given = Given(source, declared, self.path)
        self.instructed = Instructed(self.program, self.path, work, self.given.lists)
        emits = any(isinstance(step, Emit) for step in self.program.code)
        collects = emits and not source.mechanism.generator
        self.follower = Follower(source.functions, work, self.path, collects=collects)
        self.recoding = Recoding(self.path)
        self.places: list[_Place] = []
        self.numbers: dict[Any, int] = {}
        self.edges: set[tuple[int, int, bool, bool]] = set()
        self.belongs: dict[Any, Any] = {}
        self.coins: dict[int, Any] = {}
        self.steps = 0
        self.sampled: Sampled | None = None

    def run(self) -> None:
        """Compare everything, or refuse."""
        for variables, arguments in self.given.beginnings(self.program.tags):
            run = self.follower.begin({**self.source.parameters, **arguments})
            self._follow(Both(Executing(0, variables), Following(run), Facts(self.path.atoms)))
        while any(place.waiting for place in self.places):
            number = next(i for i, place in enumerate(self.places) if place.waiting)
            self.places[number].waiting = False
            self._follow(self._from_cut(number))
        self.recoding.finish()
        for side in (0, 1):
            if _endless({(a, b) for a, b, *moved in self.edges if a >= 0 and not moved[side]}):
                raise Beyond("a loop of one side has no counterpart on the other", PLACE)

    def run_by_chance(self) -> None:
        """Refuse if both sides differ on numbers that are drawn by chance."""
        random = Random(0)
        beginnings = list(islice(self.given.beginnings(self.program.tags), _RUNS))
        for _ in range(_RUNS):
            self.sampled = Sampled(self.path, random)
            variables, arguments = random.choice(beginnings)
            run = self.follower.begin({**self.source.parameters, **arguments})
            self.steps = max(0, _MOST_STEPS - _LONGEST_RUN)
            try:
                self._follow(Both(Executing(0, variables), Following(run), Facts(self.path.atoms)))
            except Beyond:
                continue
        self.recoding.finish()

    # ------------------------------------------------------------------------------------------------------------- following

    def _follow(self, first: Both) -> None:
        """Follow both sides on all ways to the next cuts, or to the end."""
        waiting = [first]
        while waiting:
            both = waiting.pop()
            self.work.spend(_STEP)
            self.steps += 1
            if self.steps > _MOST_STEPS:
                raise Beyond(f"the comparison takes more than {_MOST_STEPS} steps", PLACE)
            self.path.facts = both.facts
            try:
                following = self._onward(both)
            except Fails as problem:
                raise Beyond(f"the function may fail: {problem.reason}", self.follower.place(both.text.run)) from None
            except Open as question:
                following = []
                outcomes = (True, False) if self.sampled is None else (self.sampled.answer(question.asked),)
                for outcome in outcomes:
                    facts = self.path.facts.after(question.asked, outcome=outcome)
                    if facts is not None:
                        following.append(self._copied(both, facts))
            waiting += following

    def _copied(self, both: Both, facts: Facts) -> Both:
        ours = Executing(both.ours.at, dict(both.ours.variables), both.ours.leaving)
        text = Following(self.follower.copied(both.text.run), both.text.leaving)
        return Both(ours, text, facts, both.stop, both.stopped, both.halt, both.written, both.cut, both.moved)

    def _onward(self, both: Both) -> list[Both]:
        """How both sides go on, one step further."""
        if not both.stopped:
            both.stop = self.instructed.advance(both.ours)
            both.stopped = True
        if both.halt is None:
            both.halt = self.follower.advance(both.text)
        if both.stop is None or both.halt == HEAD:
            if self.sampled is None:
                self._arrive(both)
                return []
            both.ours.leaving |= both.stop is None
            both.text.leaving |= both.halt == HEAD
            both.stopped, both.halt = both.stop is not None, None if both.halt == HEAD else both.halt
            both.facts = self.path.facts
            return [both]
        both.facts = self.path.facts
        return self._observed(both, both.stop, both.halt)

    def _observed(self, both: Both, stop: Instruction, halt: str) -> list[Both]:
        """Both sides are about to do what can be observed: is it the same?"""
        run = both.text.run
        match stop, halt:
            case Next(), str() if halt == WAIT:
                self._element(both, stop)
                self._passed(both).text.leaving = True
                return [both]
            case Sample() | Coin() | Whole(), str() if halt == NOISE:
                return self._noise(both, stop)
            case Emit(), str() if halt in (YIELD, APPEND):
                self._written(both, stop, halt)
            case Return(), str() if halt == END:
                self._ended(both, stop)
                return []
            case _, str() if halt == APPEND and not isinstance(self.follower.collected(run.frames[-1]), Sink):
                self.follower.instruction(run)
                both.halt, both.moved = None, (both.moved[0], True)
                both.text.leaving = False
                return [both]
            case _:
                self._differ(both, f"the text comes to {_SAID[halt]}, the instructions to something else")
        return [self._passed(both)]

    def _differ(self, both: Both, reason: str) -> NoReturn:
        refuse(f"{reason} ({self.follower.place(both.text.run)})", f"question.code[{both.ours.at}]")

    def _passed(self, both: Both) -> Both:
        """Both sides have done it."""
        both.ours.at += 1
        both.ours.leaving = both.text.leaving = False
        both.stop, both.stopped, both.halt = None, False, None
        both.moved = (True, True)
        both.facts = self.path.facts
        return both

    def _element(self, both: Both, stop: Next) -> None:
        """The next element of the stream."""
        value = self.path.term(self.path.atoms.new(self.given.element))
        both.ours.variables[stop.name] = value
        both.text.run = self.follower.fed(both.text.run, stop.stream, None, value)

    def _noise(self, both: Both, stop: Sample | Coin | Whole) -> list[Both]:
        frame = both.text.run.frames[-1]
        name, names = self.follower.functions[frame.function].code[frame.at][1]
        at = len(frame.stack) - len(names)
        given = {**SIGNATURES[name].defaults, **dict(zip(names, frame.stack[at:], strict=True))}
        kind = {Sample: getattr(stop, "kind", ""), Coin: "bernoulli", Whole: "uniform"}[type(stop)]
        if name != kind:
            self._differ(both, f"the text draws {name}, the instructions {kind}")
        outcomes: list[tuple[Held, Value]] = []
        match stop:
            case Sample():
                outcomes.append(self._continuous(both, stop, given))
            case Coin():
                outcomes += [(drawn, drawn) for drawn in self._coin(both, given["p"])]
            case Whole(_, low, high):
                ends = [self.instructed.number(end, both.ours) for end in (low, high)]
                if not all(is_whole(given[end]) for end in ("low", "high")):
                    raise Beyond("a bound of a random number is no whole number", PLACE)
                for end, mine in zip(("low", "high"), ends, strict=True):
                    if not self.path.same(mine.parts, parts_of(given[end])):
                        self._differ(both, f"the random whole number has another bound {end}")
                if self.path.less(ends[1], ends[0]):
                    raise Beyond("there may be no number to draw", self.follower.place(both.text.run))
                drawn = self.path.term(self.path.atoms.new(Atom(whole=True)))
                self.path.assume("at least", plus(drawn.parts, ends[0].parts, -1))
                self.path.assume("at least", plus(ends[1].parts, drawn.parts, -1))
                outcomes.append((drawn, drawn))
        found = []
        for own, theirs in outcomes:
            after = self._copied(both, self.path.facts)
            after.ours.variables[stop.name] = own
            top = after.text.run.frames[-1]
            top.stack[at:] = [theirs]
            top.at += 1
            found.append(self._passed(after))
        return found if self.sampled is None else [self.sampled.random.choice(found)]

    def _coin(self, both: Both, probability: Value) -> list[bool]:
        """The sides of a coin.  Both runs toss the same one: its probability depends on nothing but the instruction."""
        if isinstance(probability, Term):
            raise Beyond("the probability of a coin is left open", self.follower.place(both.text.run))
        outcomes = law("bernoulli", {"p": probability})
        assert isinstance(outcomes, list)
        if self.coins.setdefault(both.ours.at, outcomes) != outcomes:
            raise Beyond("a coin has several probabilities", self.follower.place(both.text.run))
        return [side for side, _ in outcomes]

    def _continuous(self, both: Both, stop: Sample, given: Mapping[str, Value]) -> tuple[Held, Value]:
        """Laplace or exponential noise: the same centre, the same scale."""
        center, scale = given["value"], given["scale"]
        if not isinstance(scale, Term):
            found = law(stop.kind, {"value": 0, "scale": scale})
            assert isinstance(found, Continuous)
            scale = found.scale
        if not self.path.same(scale_of(stop, self.given.numbers), parts_of(scale)):
            self._differ(both, "the noise has another scale in the text")
        mine = self.instructed.number(stop.center, both.ours)
        if not self.path.same(mine.parts, parts_of(center)):
            self._differ(both, "the noise has another centre in the text")
        noise = self.path.term(self.path.atoms.new(Atom(whole=False)))
        return Term(plus(mine.parts, noise.parts), whole=False), Term(plus(parts_of(center), noise.parts), whole=False)

    def _written(self, both: Both, stop: Emit, halt: str) -> None:
        """An output on the way."""
        parts = self._parts(both, stop)
        frame = both.text.run.frames[-1]
        value = frozen(frame.stack[-1])
        if halt == APPEND:
            holder = self.follower.collected(frame)
            if not isinstance(holder, Sink):
                if both.written:
                    raise Beyond("outputs are collected in two lists", self.follower.place(both.text.run))
                both.text.run = _collecting(both.text.run, holder)
                frame = both.text.run.frames[-1]
            name = self.follower.functions[frame.function].code[frame.at][0]
            frame.stack[-2 if name == "append" else -1 :] = [None] if name == "append" else []
        else:
            frame.stack.pop()
        frame.at += 1
        both.written = True
        self.recoding.note("output", parts, value, f"question.code[{both.ours.at}]")

    def _parts(self, both: Both, stop: Emit | Return) -> list[tuple[str, Held]]:
        """What the instructions put out, with its sorts."""
        return [(part.sort, self.instructed.value(part, both.ours)) for part in stop.parts]

    def _ended(self, both: Both, stop: Return) -> None:
        """The last output, and the end."""
        parts = self._parts(both, stop)
        value = both.text.run.frames[-1].stack[-1]
        if self.follower.collects:
            if not both.written and isinstance(value, Cells | tuple) and not elements(value):
                value = Sink("list" if isinstance(value, Cells) else "tuple")
            if not isinstance(value, Sink):
                self._differ(both, "the text returns something else than the list of the outputs")
            value = ("the outputs", value.kind)
        else:
            value = frozen(value)
        self.recoding.note("end", parts, value, f"question.code[{both.ours.at}]")

    # ------------------------------------------------------------------------------------------------------------------ cuts

    def _arrive(self, both: Both) -> None:
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


_SAID = {NOISE: "noise", YIELD: "an output", APPEND: "an output", WAIT: "the next element of a stream", END: "its end"}


def _collecting(run: Run, cells: Cells) -> Run:
    """The run with a list as the one that outputs are collected in."""
    sink = Sink()

    def change(value: Value) -> Value:
        if value is cells:
            return sink
        if isinstance(value, tuple):
            return tuple(map(change, value))
        if isinstance(value, Cells) and not value.fixed:
            value.items[:] = map(change, value.items)
        if isinstance(value, Walk) and walks(value):
            raise Beyond("a list is walked over and collects outputs", PLACE)
        return value

    def walks(walk: Walk) -> bool:
        return walk.over is cells or any(map(walks, walk.inner))

    for frame in run.frames:
        frame.variables = {name: change(value) for name, value in frame.variables.items()}
        frame.stack[:] = map(change, frame.stack)
    return run


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
