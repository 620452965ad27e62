"""All runs of a mechanism whose continuous noise is left open: the function itself, run on linear forms.

Every continuous noise becomes a number ``x_j`` that is not drawn; what the function computes are linear forms in these numbers, and every
comparison that is not settled is taken both ways.  The result is a finite tree: at its inner nodes a form is compared with zero
(or discrete noise is drawn), at its leaves stands an output.  Every value of the noise belongs to exactly one leaf, up to ties, which have
probability zero.  Nothing of the translation takes part: this is the definition, taken literally.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from random import Random
from typing import Any, TypeAlias

from privproof.errors import LanguageError, PrivproofError
from privproof.exact import ONE, ZERO, Rational, fraction, rational
from privproof.language.laws import Continuous, Geometric, Law, Table
from privproof.language.linear import Linear, Opaque, calling_frame, deciding, exactly, refuse
from privproof.language.mechanism import Mechanism
from privproof.language.noise import drawing
from privproof.language.patterns import matching
from privproof.language.running import run

_MOST = 100_000
"""The ways through a mechanism, unless the caller says otherwise; beyond, it is refused with a hint to take a smaller size."""
_DRAWS = 400
"""A run that draws noise more often is refused: as a rule it is a loop that only its noise can end."""
_CHOICES = 3000
"""A run that is decided so often is given up: its beginnings, one for each choice, would fill the memory."""


@dataclass(frozen=True)
class Drawn:
    """A noise that was left open: its law at center 0.

    Attributes:
        kind: ``laplace``, ``exponential`` or ``geometric``.
        scale: the scale of continuous noise; alpha of geometric noise.
        line: the line of the source that draws it.
    """

    kind: str
    scale: Rational
    line: int = 0


@dataclass(frozen=True)
class Test:
    """A comparison that both ways were open for: whether a form is at least (strictly: above) zero, and how it went."""

    form: Linear
    strict: bool
    outcome: bool

    @property
    def halfspace(self) -> Linear:
        """The form that is at least zero on this side of the test."""
        return self.form if self.outcome else -self.form


@dataclass(frozen=True)
class Draw:
    """Discrete noise that was drawn: the probabilities of its outcomes, and which one came."""

    probabilities: tuple[Rational, ...]
    chosen: int


@dataclass(frozen=True)
class Leaf:
    """One way through the mechanism.

    Attributes:
        noises: the noises left open, in the order they were drawn.
        steps: the comparisons and the discrete noise on the way.
        output: what was returned, or the list of what was yielded: forms and constants; None where the run was left early.
        complete: whether the run came to its end.
    """

    noises: tuple[Drawn, ...]
    steps: tuple[Test | Draw, ...]
    output: Any
    complete: bool = True

    @property
    def tests(self) -> tuple[Test, ...]:
        """The comparisons on the way."""
        return tuple(step for step in self.steps if isinstance(step, Test))

    def within(self, pattern: Any) -> list[Linear] | None:
        """When the output lies in a pattern: the forms that must not be negative; None if it never does."""
        return matching(pattern, self.output, discrete=any(noise.kind == "geometric" for noise in self.noises))

    @property
    def weight(self) -> Rational:
        """The probability of the discrete noise on the way."""
        total = ONE
        for step in self.steps:
            if isinstance(step, Draw):
                total *= step.probabilities[step.chosen]
        return total


Follow: TypeAlias = Callable[[Sequence[Any]], bool]
"""Whether a run is still of interest after the outputs so far."""


class _Left(BaseException):
    """The run is of no further interest."""


def leaves(
    mechanism: Mechanism,
    arguments: Mapping[str, Any],
    *,
    follow: Follow | None = None,
    most: int = _MOST,
    pause: Callable[[], None] = lambda: None,
) -> tuple[Leaf, ...]:
    """All ways through a mechanism on its arguments; numbers among these may be forms.

    Args:
        mechanism: the mechanism.
        arguments: its inputs by name.
        follow: for a generator: whether to go on after the outputs so far; a run that is left is a leaf that is not complete.
        most: how many ways there may be.
        pause: called between runs; may raise to stop.

    Raises:
        LanguageError: something is done with noise that is no linear form, or there are too many ways.

    >>> from privproof.language import laplace, mechanism, real
    >>> @mechanism
    ... def positive(x: real()):
    ...     return laplace(x, scale=2) > 0
    >>> [(leaf.tests[0].halfspace, leaf.output) for leaf in leaves(positive, {"x": 3})]
    [(x0 + 3, True), (-x0 - 3, False)]
    """
    waiting: list[tuple[int, ...]] = [()]
    found: list[Leaf] = []
    while waiting:
        pause()
        leaf, others = walk(mechanism, arguments, waiting.pop(), follow=follow)
        found.append(leaf)
        waiting.extend(reversed(others))
        if len(found) + len(waiting) > most:
            raise LanguageError(
                "paths", f"there are more than {most} ways through it", place=mechanism.place, hint="a smaller size"
            )
    return tuple(found)


def walk(
    mechanism: Mechanism,
    arguments: Mapping[str, Any],
    choices: tuple[int, ...] = (),
    *,
    follow: Follow | None = None,
    failing: bool = False,
    chance: Random | None = None,
) -> tuple[Leaf, list[tuple[int, ...]]]:
    """One way through a mechanism, which begins with the choices given; and the beginnings of the ways that branch off after them.

    Args:
        mechanism: the mechanism.
        arguments: its inputs by name.
        choices: how the first tests and draws go.
        follow: for a generator: whether to go on after the outputs so far.
        failing: whether a run that fails is a leaf that is not complete, and no error.
        chance: decides how the other tests and draws go; without it the first way is taken.
    """
    exact = replace(mechanism, parameters={name: exactly(value) for name, value in mechanism.parameters.items()})
    given = {name: exactly(value) for name, value in arguments.items()}
    player = _Player(choices, chance)
    complete, output = True, None
    try:
        with drawing(player.draw), deciding(player.decide):
            ran = run(exact, given, _watched(follow))
        output = ran.value if mechanism.stream is None else [value for step in ran.written for value in step]
    except _Left:
        complete = False
    except LanguageError as problem:
        if not failing or problem.code != "run":
            raise
        complete = False
    return Leaf(tuple(player.noises), tuple(player.steps), output, complete), player.others


def _watched(follow: Follow | None) -> Callable[[Sequence[Any]], None] | None:
    if follow is None:
        return None

    def watch(written: Sequence[Any]) -> None:
        if not follow(written):
            raise _Left

    return watch


class _Player:
    """Makes the decisions of one run: those given, then the first way of each, and notes the others."""

    def __init__(self, given: tuple[int, ...], chance: Random | None = None) -> None:
        self.given = given
        self.chance = chance
        self.made: list[int] = []
        self.noises: list[Drawn] = []
        self.steps: list[Test | Draw] = []
        self.others: list[tuple[int, ...]] = []
        self.known: dict[tuple[tuple[Any, Rational], ...], tuple[Rational | None, Rational | None]] = {}

    def choose(self, ways: int) -> int:
        position = len(self.made)
        if position > _CHOICES:
            refuse(
                "paths",
                f"a run makes more than {_CHOICES} comparisons and draws that are not settled",
                hint="a loop that surely ends, or a smaller size",
            )
        if position < len(self.given):
            chosen = self.given[position]
        else:
            chosen = 0 if self.chance is None else self.chance.randrange(ways)
            self.others += [(*self.made, other) for other in range(ways) if other != chosen]
        self.made.append(chosen)
        return chosen

    def draw(self, law: Law) -> Any:
        if len(self.noises) > _DRAWS:
            refuse(
                "draws",
                f"a run draws noise more than {_DRAWS} times",
                hint="a loop that surely ends, or a smaller size",
            )
        match law:
            case Table():
                chosen = self.choose(len(law.ranked))
                self.steps.append(Draw(tuple(probability for _, probability in law.ranked), chosen))
                return exactly(law.ranked[chosen][0])
            case Geometric(center, alpha):
                return self.open("geometric", center, rational(alpha))
            case Continuous(kind, center, scale):
                return self.open(kind, center, scale_of(scale))

    def open(self, kind: str, center: Any, scale: Rational) -> Any:
        middle = Linear.of(rational(center) if isinstance(center, str) else center)
        if middle is None:
            refuse("noise", f"{kind} noise is added to {center!r}, which is no number", hint=f"{kind}(0, ...)")
        noise = Linear.atom(len(self.noises))
        self.noises.append(Drawn(kind, scale, calling_frame().f_lineno))
        if kind == "exponential":
            self.known[next(iter(noise.terms.items())),] = (ZERO, None)
        return middle + noise

    def decide(self, form: Linear, strict: bool) -> bool:  # noqa: FBT001
        """Whether the form is above zero: settled by what was decided before, or taken both ways.

        Strictness counts only where both sides are exact: for forms of inputs, and of geometric noise.
        """
        direction, bound, turned = _normal(form)
        low, high = self.known.get(direction, (None, None))
        continuous = all(isinstance(atom, int) and self.noises[atom].kind != "geometric" for atom in form.terms)
        if continuous:
            # direction * x >= bound (or <= bound, where turned); ties have probability zero
            if low is not None and low >= bound:
                return not turned
            if high is not None and high <= bound:
                return turned
        outcome = self.choose(2) == 0
        self.steps.append(Test(form, strict, outcome))
        if continuous:
            if outcome != turned:
                low = bound if low is None else max(low, bound)
            else:
                high = bound if high is None else min(high, bound)
            self.known[direction] = (low, high)
        return outcome


def _normal(form: Linear) -> tuple[tuple[tuple[Any, Rational], ...], Rational, bool]:
    """A form as ``direction * x >= bound`` with a first coefficient 1; turned: ``<=``."""
    terms = sorted(form.terms.items(), key=lambda term: (isinstance(term[0], str), term[0]))
    first = terms[0][1]
    size = abs(first)
    sign = 1 if first > 0 else -1
    direction = tuple((atom, factor / size * sign) for atom, factor in terms)
    return direction, -form.constant / size * sign, sign < 0


def scale_of(value: Any) -> Rational:
    """The scale of noise: a number above zero, a float with the exact value that it has."""
    if isinstance(value, Linear | Opaque):
        refuse("scale", "the scale of noise depends on noise or on the data", hint="a scale that is a constant")
    number = None if isinstance(value, str) else Linear.of(value)
    try:
        scale = rational(value) if number is None else number.constant
    except PrivproofError as problem:
        refuse("scale", f"scale: {problem.message}", hint=problem.hint or "scale=2")
    if scale <= 0:
        refuse("scale", f"scale={fraction(scale)} is not above 0", hint="scale=1")
    return scale
