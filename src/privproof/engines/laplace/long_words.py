"""One long word of a program on open noise, in time that grows with its length and no faster.

A leak that grows with the number of answers is shown by hundreds of them.  Running the function anew for every comparison that might have
gone otherwise takes the square of that many turns.  The prepared program has a state that can be copied: it is followed instruction by
instruction, a comparison that is open goes both ways, and a way that writes another letter than the word has is left at once.  As a rule
one way is left over, with one threshold and many answers compared with it; its probability is a single integral.

That the program does what the function does is tried by whoever uses this, and the checker follows the text.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias

from privproof.compiling.program_follower import Follower, writes_on_the_way
from privproof.compiling.relational import Program
from privproof.compiling.rewriting import Unsupported
from privproof.compiling.scales import SIZE
from privproof.exact import ZERO, Rational, rational
from privproof.language.branching import BranchLeaf
from privproof.language.flow import Jump, Next
from privproof.language.flow import Test as Branch
from privproof.language.laws import WHOLE
from privproof.language.linear import Linear, deciding
from privproof.language.patterns import matching
from privproof.language.scripts import ScriptedDraw, Test, normal, without_zero
from privproof.language.syntax import Append, Assign, Constant, Emit, Replace, Return, Sample
from privproof.language.values import MISSING

_OPEN = ("laplace", "exponential", "geometric")
"""Noise that is left open here: probabilities of its comparisons are known exactly."""
_MOST_WAYS = 64
"""So many ways may be open at once, or write the word; beyond, it is no matter of one integral."""
_MOST_STEPS = 200
"""Instructions for each letter of the word, on one way; beyond, it is left to others."""

Direction: TypeAlias = tuple[tuple[Any, Rational], ...]


@dataclass
class _Way:
    """A run on its way: where it is, what it holds, what it wrote, drew and decided."""

    at: int = 0
    values: dict[str, Any] = field(default_factory=dict)
    written: list[Any] = field(default_factory=list)
    noises: list[ScriptedDraw] = field(default_factory=list)
    steps: list[Test] = field(default_factory=list)
    known: dict[Direction, tuple[Rational | None, Rational | None]] = field(default_factory=dict)
    told: dict[tuple[Direction, Rational, bool, bool], bool] = field(default_factory=dict)
    read: int = 0
    turns: int = 0

    def copied(self) -> _Way:
        """The same, apart."""
        values = {name: list(v) if isinstance(v, list) else v for name, v in self.values.items()}
        return replace(
            self,
            values=values,
            written=self.written[:],
            noises=self.noises[:],
            steps=self.steps[:],
            known=dict(self.known),
            told=dict(self.told),
        )

    def settled(self, form: Linear) -> bool:
        """Whether what is known of a form settles others in its direction: it has noise alone, all of whole numbers or none."""
        kinds = {self.noises[atom].kind in WHOLE if isinstance(atom, int) else None for atom in form.terms}
        return kinds in ({True}, {False})

    def asked(self, form: Linear, *, strict: bool) -> tuple[Direction, Rational, bool]:
        """A comparison in its normal form, without ties of whole numbers."""
        whole = all(isinstance(atom, int) and self.noises[atom].kind in WHOLE for atom in form.terms)
        return normal(without_zero(form, strict=strict) if whole else form)

    def decided(self, form: Linear, *, strict: bool) -> bool | None:
        """How a comparison goes, where that is known."""
        direction, bound, turned = self.asked(form, strict=strict)
        if not self.settled(form):
            return self.told.get((direction, bound, turned, strict))
        low, high = self.known.get(direction, (None, None))
        if low is not None and low >= bound:
            return not turned
        if high is not None and high <= bound:
            return turned
        return None

    def decide(self, form: Linear, *, strict: bool, outcome: bool) -> None:
        """Note how a comparison goes."""
        direction, bound, turned = self.asked(form, strict=strict)
        self.steps.append(Test(form, strict, outcome))
        if not self.settled(form):
            self.told[direction, bound, turned, strict] = outcome
            return
        low, high = self.known.get(direction, (None, None))
        if outcome != turned:
            low = bound if low is None else max(low, bound)
        else:
            high = bound if high is None else min(high, bound)
        self.known[direction] = (low, high)


class _Open(Exception):
    """A comparison may go both ways."""

    def __init__(self, form: Linear, *, strict: bool) -> None:
        super().__init__()
        self.form, self.strict = form, strict


class _OpenFollower(Follower):
    """Follows one instruction of a way at a time, with noise left open."""

    def __init__(self, program: Program, arguments: Mapping[str, Any], pattern: Sequence[Any]) -> None:
        super().__init__(program, arguments, None)
        self.pattern = pattern
        self.way = _Way()

    def above(self, form: Linear, strict: bool) -> bool:  # noqa: FBT001
        """How a comparison goes on the way that is followed.

        Raises:
            _Open: it may go both ways.
        """
        found = self.way.decided(form, strict=strict)
        if found is None:
            raise _Open(form, strict=strict)
        return found

    def noise(self, step: Sample) -> Any:
        """A noise that is left open."""
        center = self.value(step.arguments[0]) if step.arguments else None
        if step.where is not None and not self.value(step.where):
            return center
        if step.noise not in _OPEN:
            raise Unsupported(f"{step.noise} noise is not left open here")
        scale = self.program.scale(step)
        number = scale.alpha if step.noise == "geometric" else rational(scale.factor)
        for name in scale.names:
            number *= self.size if name == SIZE else rational(self.arguments[name])
        middle = Linear.of(center)
        if middle is None:
            raise Unsupported(f"noise around {center!r}")
        own = Linear.atom(len(self.way.noises))
        self.way.noises.append(ScriptedDraw(step.noise, number, step.place.line))
        if step.noise == "exponential":
            self.way.known[next(iter(own.terms.items())),] = (ZERO, None)
        return middle + own

    def write(self, value: Any) -> bool:
        """Write a letter; whether the way may still write the word."""
        number = len(self.way.written)
        self.way.written.append(value)
        if number >= len(self.pattern):
            return False
        whole = any(noise.kind in WHOLE for noise in self.way.noises)
        return matching(self.pattern[number], value, discrete=whole) is not None

    def onward(self, way: _Way) -> bool | None:
        """Follow a way to its end: whether it writes the word; None where it still may, and a comparison is open.

        Raises:
            _Open: this comparison, before the instruction that asks for it.
        """
        self.way, self.values = way, way.values
        limit = _MOST_STEPS * (len(self.pattern) + 1)
        while way.turns < limit:
            way.turns += 1
            step = self.program.code[way.at]
            following = way.at + 1
            match step:
                case Assign(name, value):
                    if not (isinstance(value, Constant) and value.value is MISSING):
                        self.values[name] = self.value(value)
                case Replace(name, index, value):
                    self.values[name][self.value(index)] = self.value(value)
                case Append(name, value):
                    self.values[name].append(self.value(value))
                case Sample():
                    self.values[step.name] = self.noise(step)
                case Emit(value, place):
                    if not self.write(self.shown(value, place)):
                        return False
                case Next(name, stream):
                    if way.read >= len(self.arguments[stream]):
                        return len(way.written) == len(self.pattern)
                    self.values[name] = self.arguments[stream][way.read]
                    way.read += 1
                case Branch(test, then, otherwise):
                    following = then if self.value(test) else otherwise
                case Jump(target):
                    following = target
                case Return(value, place):
                    plain = isinstance(value, Constant) and value.value is None
                    if (not plain or place in self.program.shown) and not self.write(self.shown(value, place)):
                        return False
                    return len(way.written) == len(self.pattern)
                case _:
                    raise Unsupported(f"{type(step).__name__} is not followed")
            way.at = following
        raise Unsupported("a run takes too many steps")


def word_leaves(
    program: Program,
    arguments: Mapping[str, Any],
    pattern: Sequence[Any],
    pause: Callable[[], None] = lambda: None,
) -> tuple[BranchLeaf, ...]:
    """The ways through a program that may write a word; all others do not.

    Args:
        program: a program that writes one letter after the other.
        arguments: its inputs; numbers among these may be forms.
        pattern: the word, with `Between` in the place of noisy numbers.
        pause: called on the way; may raise to stop.

    Raises:
        Unsupported: the program does something else, or too many ways stay open.
        LanguageError: something is done with noise that is no linear form.

    >>> from privproof.compiling.relational import program_for_alignment
    >>> from privproof.language import laplace, mechanism, real_queries
    >>> @mechanism
    ... def above(q: real_queries()):
    ...     threshold = laplace(0, scale=2)
    ...     for answer in q:
    ...         yield laplace(answer, scale=4) >= threshold
    >>> [leaf] = word_leaves(program_for_alignment(above, convert=False), {"q": [0, 1]}, [True, False])
    >>> [test.halfspace for test in leaf.tests]
    [-x0 + x1, x0 - x2 - 1]
    """
    if not writes_on_the_way(program) or program.offset or program.kept:
        raise Unsupported("it does not write letter by letter")
    follower = _OpenFollower(program, arguments, pattern)
    waiting, found = deque([_Way()]), []
    with deciding(follower.above, lambda _: None):
        while waiting:
            pause()
            way = waiting.popleft()  # the shortest one: most ways end at their next letter
            try:
                if follower.onward(way):
                    found.append(BranchLeaf(tuple(way.noises), tuple(way.steps), way.written))
            except _Open as question:
                for outcome in (False, True):
                    other = way.copied() if not outcome else way
                    other.decide(question.form, strict=question.strict, outcome=outcome)
                    waiting.append(other)
            if len(waiting) + len(found) > _MOST_WAYS:
                raise Unsupported("too many ways may write the word")
    return tuple(found)
