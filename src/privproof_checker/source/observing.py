"""What can be observed of a text and of its instructions: is it the same?

Noise of the same kind and scale, on the integers with the same centre; the next element of a stream; an output, on the way or in a list
that is returned; the end.  Both sides have stopped before they do it, and do it together.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, NoReturn

from privproof_checker.numbers import fraction
from privproof_checker.outcomes import refuse
from privproof_checker.programs.instruction_kinds import Coin, EmitOutput, Instruction, NextValue, Return, Sample, Whole
from privproof_checker.source.facts import Facts, Path
from privproof_checker.source.following import APPEND, END, NOISE, WAIT, YIELD, Follower, Following, Sink
from privproof_checker.source.instructed import Executing, Held, Instructed, scale_of
from privproof_checker.source.laws import Continuous, DiscreteGaussian, Geometric, Truncated, law
from privproof_checker.source.libraries import noise_meant
from privproof_checker.source.machine import noise_arguments
from privproof_checker.source.open_arguments import Given
from privproof_checker.source.operations import elements
from privproof_checker.source.recoding import Recoding
from privproof_checker.source.symbols import PLACE, Atom, Term, is_whole, parts_of, plus
from privproof_checker.source.values import Beyond, Cells, Value, Walk, frozen


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


class Observer:
    """Lets both sides do what can be observed, or refuses."""

    def __init__(self, instructed: Instructed, follower: Follower, given: Given, path: Path) -> None:
        self.instructed, self.follower, self.given, self.path = instructed, follower, given, path
        self.recoding = Recoding(path)
        self.coins: dict[int, Any] = {}

    def copied(self, both: Both, facts: Facts) -> Both:
        """A copy, with other facts."""
        ours = Executing(both.ours.at, dict(both.ours.variables), both.ours.leaving)
        text = Following(self.follower.copied(both.text.run), both.text.leaving)
        return Both(ours, text, facts, both.stop, both.stopped, both.halt, both.written, both.cut, both.moved)

    def observed(self, both: Both, stop: Instruction, halt: str) -> list[Both]:
        """Both sides are about to do what can be observed: is it the same?"""
        run = both.text.run
        match stop, halt:
            case NextValue(), str() if halt == WAIT:
                self._element(both, stop)
                self._passed(both).text.leaving = True
                return [both]
            case Sample() | Coin() | Whole(), str() if halt == NOISE:
                return self._noise(both, stop)
            case EmitOutput(), str() if halt in (YIELD, APPEND):
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

    def _element(self, both: Both, stop: NextValue) -> None:
        """The next element of the stream."""
        value = self.path.term(self.path.atoms.new(self.given.element))
        both.ours.variables[stop.name] = value
        both.text.run = self.follower.fed(both.text.run, stop.stream, None, value)

    def _noise(self, both: Both, stop: Sample | Coin | Whole) -> list[Both]:
        frame = both.text.run.frames[-1]
        name, names = self.follower.functions[frame.function].code[frame.at][1]
        at, written = noise_arguments(frame, name, names)
        name, given = noise_meant(name, written)
        kind = {Sample: getattr(stop, "kind", ""), Coin: "bernoulli", Whole: "uniform"}[type(stop)]
        if name != kind:
            self._differ(both, f"the text draws {name}, the instructions {kind}")
        outcomes: list[tuple[Held, Value]] = []
        match stop:
            case Sample():
                drawn_ = self._integer if stop.whole else self._continuous
                outcomes.append(drawn_(both, stop, given))
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
        return [self._drawn(both, stop, at, own, theirs) for own, theirs in outcomes]

    def _drawn(self, both: Both, stop: Sample | Coin | Whole, at: int, own: Held, theirs: Value) -> Both:
        """Both sides with the value of a noise."""
        after = self.copied(both, self.path.facts)
        after.ours.variables[stop.name] = own
        top = after.text.run.frames[-1]
        top.stack[at:] = [theirs]
        top.at += 1
        return self._passed(after)

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
        """Continuous noise: the same scale.  Both add the same noise, each to its own centre: what comes of that must agree later."""
        name = "sigma" if stop.kind == "gaussian" else "scale"
        center, scale = given["value"], given[name]
        if stop.bound is not None:
            if any(isinstance(given[each], Term) for each in ("scale", "bound")):
                raise Beyond(
                    "the scale or the bound of truncated noise is left open", self.follower.place(both.text.run)
                )
            truncated = law(stop.kind, {**given, "value": 0})
            assert isinstance(truncated, Truncated)
            if truncated.bound != fraction(stop.bound):
                self._differ(both, "the noise has another bound in the text")
            scale = truncated.scale
        elif not isinstance(scale, Term):
            found = law(stop.kind, {"value": 0, name: scale})
            assert isinstance(found, Continuous)
            scale = found.scale
        if not self.path.same(scale_of(stop, self.given.scales), parts_of(scale)):
            self._differ(both, "the noise has another scale in the text")
        mine = self.instructed.number(stop.center, both.ours)
        noise = self.path.term(self.path.atoms.new(Atom(whole=False)))
        return Term(plus(mine.parts, noise.parts), whole=False), Term(plus(parts_of(center), noise.parts), whole=False)

    def _integer(self, both: Both, stop: Sample, given: Mapping[str, Value]) -> tuple[Held, Value]:
        """Noise on the integers: the same centre, a whole number, and the same alpha or variance."""
        center = given["value"]
        if not is_whole(center):
            raise Beyond(
                f"{stop.kind} noise is added to what may be no whole number", self.follower.place(both.text.run)
            )
        if any(isinstance(value, Term) for name, value in given.items() if name != "value"):
            raise Beyond("alpha or a variance is left open", self.follower.place(both.text.run))
        found = law(stop.kind, {**given, "value": 0})
        if isinstance(found, DiscreteGaussian):
            same = found.variance == fraction(stop.factor)
        else:
            assert isinstance(found, Geometric)
            same = found.alpha == fraction(stop.alpha)
        if not same:
            self._differ(both, "the noise has another alpha or variance in the text")
        mine = self.instructed.number(stop.center, both.ours)
        if not self.path.same(mine.parts, parts_of(center)):
            self._differ(both, "the noise has another centre in the text")
        noise = self.path.term(self.path.atoms.new(Atom(whole=True)))
        return Term(plus(mine.parts, noise.parts), whole=True), Term(plus(parts_of(center), noise.parts), whole=True)

    def _written(self, both: Both, stop: EmitOutput, halt: str) -> None:
        """An output on the way."""
        parts = self._parts(both, stop)
        frame = both.text.run.frames[-1]
        value = frozen(frame.stack[-1])
        if halt == APPEND:
            holder = self.follower.collected(frame)
            if not isinstance(holder, Sink):
                if both.written:
                    raise Beyond("outputs are collected in two lists", self.follower.place(both.text.run))
                both.text.run = self.follower.copied(both.text.run, _collecting(holder))
                frame = both.text.run.frames[-1]
            name = self.follower.functions[frame.function].code[frame.at][0]
            frame.stack[-2 if name == "append" else -1 :] = [None] if name == "append" else []
        else:
            frame.stack.pop()
        frame.at += 1
        both.written = True
        self.recoding.note("output", parts, value, f"question.code[{both.ours.at}]")

    def _parts(self, both: Both, stop: EmitOutput | Return) -> list[tuple[str, Held]]:
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


_SAID = {NOISE: "noise", YIELD: "an output", APPEND: "an output", WAIT: "the next element of a stream", END: "its end"}


def _collecting(cells: Cells) -> Callable[[Value], Value]:
    """The change that makes a list the one that outputs are collected in."""
    sink = Sink()

    def change(value: Value) -> Value:
        if isinstance(value, Walk) and value.over is cells:
            raise Beyond("a list is walked over and collects outputs", PLACE)
        return sink if value is cells else value

    return change
