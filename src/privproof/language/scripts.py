"""All runs of a Python function: a script makes every random choice of a run, and the choices that it does not make begin other runs.

This is the definition, taken literally.  The function is any callable that draws from the noise functions; it runs as it is, once for every
script, and nothing of the translation takes part.

Discrete noise takes its outcomes one after the other.  Noise that cannot be listed may be left open: it becomes an unknown number ``x_j``,
what the function computes from it are linear forms, and a comparison that is not settled goes both ways, like a choice without a
probability.  Every value of the noise then belongs to exactly one run, up to ties, which have probability zero.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from fractions import Fraction
from math import gcd, lcm, prod
from random import Random
from typing import Any, Generic, Literal, NamedTuple, TypeAlias, TypeVar

from privproof.errors import LanguageError, PrivproofError
from privproof.exact import ONE, ZERO, Rational, fraction, rational
from privproof.language.laws import WHOLE, Continuous, DiscreteGaussian, Geometric, Law, Shaped, TableLaw
from privproof.language.linear import Linear, Opaque, calling_frame, deciding, exactly, refuse
from privproof.language.noise import drawing
from privproof.language.steps import Stepped

_OPEN = 400
"""A run that leaves more noises open is refused: as a rule it is a loop that only its noise can end."""
_CHOICES = 3000
"""A run with open noise that is decided so often is refused: its beginnings, one for each choice, would fill the memory."""
_PATIENCE = 60
"""A run that draws so often after its given beginning is given up where outcomes are listed; the runs that branch off from it are not."""

Result = TypeVar("Result")

Order: TypeAlias = "Literal['likeliest', 'first'] | Random"
"""Which run comes next: the one with the likeliest beginning, the one that leaves the last run first, or any, with choices at random."""


@dataclass(frozen=True)
class ScriptedDraw:
    """A noise that was left open: its law at center 0.

    Attributes:
        kind: ``laplace``, ``exponential``, ``gaussian``, ``geometric``, ...
        scale: the scale of continuous noise; alpha of geometric noise; the variance of discrete Gaussian noise.
        line: the line of the source that draws it.
        more: further parameters, where the kind has some.
    """

    kind: str
    scale: Rational
    line: int = 0
    more: tuple[Rational, ...] = ()

    @property
    def law(self) -> tuple[str, Rational, *tuple[Rational, ...]]:
        """The kind and all parameters."""
        return (self.kind, self.scale, *self.more)


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


def weight_of(steps: Iterable[object]) -> Rational:
    """The probability of the discrete noise among some steps."""
    return prod((step.probabilities[step.chosen] for step in steps if isinstance(step, Draw)), start=ONE)


@dataclass(frozen=True)
class Scripted(Generic[Result]):
    """One run.

    Attributes:
        result: what the call returned; None where the run was given up.
        probability: the probability of its discrete noise.
        steps: the comparisons and the draws from finitely many outcomes, in order.
        noises: the noises left open, in the order they were drawn.
        ended: whether it came to its end, and was not given up.
        endless: whether some of its noise has infinitely many outcomes.
    """

    result: Result | None
    probability: Rational
    steps: tuple[Test | Draw, ...]
    noises: tuple[ScriptedDraw, ...]
    ended: bool
    endless: bool


class Beginning(NamedTuple):
    """The first choices of a run, and their probability."""

    choices: tuple[int, ...]
    probability: Rational


class GivenUp(BaseException):
    """A run draws noise again and again and is left."""


class Runs(Iterator[Scripted[Result]]):
    """All runs of a call, one after the other.

    Args:
        call: runs the function once.
        order: which run comes next.
        open_noise: whether geometric and continuous noise is left open.  Otherwise geometric noise takes its outcomes one after the
            other, and continuous noise is refused.

    Raises:
        LanguageError: something is done with open noise that is no linear form, or a run is too long; and what the call raises.

    >>> from privproof.language.noise import bernoulli, laplace
    >>> [(run.result, run.probability) for run in Runs(lambda: bernoulli("1/3") or bernoulli("1/2"))]
    [(True, 1/3), (True, 1/3), (False, 1/3)]
    >>> [(run.result, run.steps[0].halfspace) for run in Runs(lambda: laplace(3, scale=2) > 0, open_noise=True)]
    [(True, x0 + 3), (False, -x0 - 3)]
    """

    def __init__(self, call: Callable[[], Result], *, order: Order = "likeliest", open_noise: bool = False) -> None:
        self._call, self._order, self._open_noise = call, order, open_noise
        self._waiting: list[tuple[float, int, Beginning]] = [(-1.0, 0, Beginning((), ONE))]
        self._begun = 1

    @property
    def waiting(self) -> int:
        """How many runs have begun and were not made."""
        return len(self._waiting)

    def __next__(self) -> Scripted[Result]:
        if not self._waiting:
            raise StopIteration
        chance = self._order if isinstance(self._order, Random) else None
        script = _Script(self._next().choices, chance, open_noise=self._open_noise)
        result, ended = None, True
        try:
            with (
                drawing(script.draw),
                deciding(script.decide, script.equal, script.stepped) if self._open_noise else nullcontext(),
            ):
                result = self._call()
        except GivenUp:
            ended = False
        self._add(script.others)
        return Scripted(result, script.probability, tuple(script.steps), tuple(script.noises), ended, script.endless)

    def _next(self) -> Beginning:
        if isinstance(self._order, Random):
            return self._waiting.pop(self._order.randrange(len(self._waiting)))[2]
        return (heapq.heappop(self._waiting) if self._order == "likeliest" else self._waiting.pop())[2]

    def _add(self, others: Sequence[Beginning]) -> None:
        for other in reversed(others) if self._order == "first" else others:
            entry = (-float(other.probability), self._begun, other)
            self._begun += 1
            if self._order == "likeliest":
                heapq.heappush(self._waiting, entry)
            else:
                self._waiting.append(entry)


def weighted_results(
    call: Callable[[], Result],
    *,
    most: int = 100_000,
    enough: Fraction = Fraction(1, 10**6),
    longest: int | None = None,
) -> tuple[list[tuple[Result, Fraction]], Fraction]:
    """The results of a call on all its random choices with their probabilities, the likeliest first, and the mass left over.

    Args:
        call: runs the function once.
        most: after so many runs the rest is left over.
        enough: where there are infinitely many runs: a mass that may be left over.
        longest: a run with more random choices is taken for one of infinitely many; None where no run is, however long.

    >>> from privproof.language.noise import bernoulli
    >>> weighted_results(lambda: (bernoulli("1/3"), bernoulli("1/2")))[0][0]
    ((False, True), Fraction(1, 3))
    """
    found: list[tuple[Result, Fraction]] = []
    left_over, endless = ONE, False
    for number, run in enumerate(Runs(call), start=1):
        endless = endless or run.endless or not run.ended or (longest is not None and len(run.steps) > longest)
        if run.ended:
            left_over -= run.probability
            found.append((run.result, fraction(run.probability)))  # type: ignore[arg-type]
        if number >= most or (endless and left_over <= rational(enough)):
            break
    return found, fraction(left_over)


def record_run(
    call: Callable[[], Result], noise: Callable[[Law], Any], *, most: int | None = None
) -> tuple[Result, list[tuple[Law, Any]]]:
    """One run on noise that is handed to it, and what it drew from which laws.

    Args:
        call: runs the function once.
        noise: a value for a law.
        most: how often it may draw.

    Raises:
        GivenUp: it draws more often.
    """
    drawn: list[tuple[Law, Any]] = []

    def draw(law: Law) -> Any:
        if most is not None and len(drawn) >= most:
            raise GivenUp
        value = noise(law)
        drawn.append((law, value))
        return value

    with drawing(draw):
        return call(), drawn


class _Script:
    """Makes the choices of one run: those given, then the first of each or any, and notes the others."""

    def __init__(self, given: tuple[int, ...], chance: Random | None, *, open_noise: bool) -> None:
        self.given, self.chance, self.open_noise = given, chance, open_noise
        self.made: list[int] = []
        self.probability = ONE
        self.others: list[Beginning] = []
        self.steps: list[Test | Draw] = []
        self.noises: list[ScriptedDraw] = []
        self.endless = False
        self.known: dict[tuple[tuple[Any, Rational], ...], tuple[Rational | None, Rational | None]] = {}

    def choose(self, ways: int, weights: Sequence[Rational] = ()) -> int:
        """One of so many ways; with weights, each has its probability."""
        position = self._position()
        if position < len(self.given):
            chosen = self.given[position]
        else:
            chosen = 0 if self.chance is None else self.chance.randrange(ways)
            for other in range(ways):
                if other != chosen:
                    weight = self.probability * weights[other] if weights else self.probability
                    self.others.append(Beginning((*self.made, other), weight))
        if weights:
            self.probability *= weights[chosen]
        self.made.append(chosen)
        return chosen

    def count(self, weight: Callable[[int], Rational]) -> int:
        """One of infinitely many ways, the likeliest first; only the next one is noted, which will note the one after it."""
        position = self._position()
        self.endless = self.endless or position >= len(self.given) - 1
        chosen = self.given[position] if position < len(self.given) else 0
        if position >= len(self.given) - 1:
            self.others.append(Beginning((*self.made, chosen + 1), self.probability * weight(chosen + 1)))
        self.probability *= weight(chosen)
        self.made.append(chosen)
        return chosen

    def _position(self) -> int:
        position = len(self.made)
        if not self.open_noise and position > len(self.given) + _PATIENCE:
            raise GivenUp
        if self.open_noise and position > _CHOICES:
            refuse(
                "paths",
                f"a run makes more than {_CHOICES} comparisons and draws that are not settled",
                hint="a loop that surely ends, or a smaller size",
            )
        return position

    def draw(self, law: Law) -> Any:
        """The value of a noise."""
        match law:
            case TableLaw():
                chosen = self.choose(len(law.ranked), law.weights)
                self.steps.append(Draw(law.weights, chosen))
                value = law.ranked[chosen][0]
                return exactly(value) if self.open_noise else value
            case Geometric(center, alpha) if self.open_noise:
                return self.leave_open("geometric", center, rational(alpha))
            case DiscreteGaussian(center, variance) if self.open_noise:
                return self.leave_open("discrete_gaussian", center, rational(variance))
            case DiscreteGaussian():
                raise LanguageError("irrational", "the probabilities of discrete Gaussian noise are no fractions")
            case Geometric(center, alpha):
                return center + _outward(self.count(_weight(rational(alpha))))
            case Continuous(kind, center, scale) if self.open_noise:
                return self.leave_open(kind, center, scale_of(scale))
            case Shaped("truncated_laplace" as kind, center, (scale, bound)) if self.open_noise:
                return self.leave_open(kind, center, rational(scale), rational(bound))
            case Continuous(kind) | Shaped(kind):
                raise LanguageError("continuous", f"{kind} noise is continuous: its runs cannot be listed")

    def leave_open(self, kind: str, center: Any, scale: Rational, *more: Rational) -> Any:
        """The form of a noise that is not drawn."""
        if len(self.noises) > _OPEN:
            refuse(
                "draws",
                f"a run draws noise more than {_OPEN} times",
                hint="a loop that surely ends, or a smaller size",
            )
        middle = Linear.of(rational(center) if isinstance(center, str) else center)
        if middle is None:
            refuse("noise", f"{kind} noise is added to {center!r}, which is no number", hint=f"{kind}(0, ...)")
        noise = Linear.atom(len(self.noises))
        self.noises.append(ScriptedDraw(kind, scale, calling_frame().f_lineno, more))
        if kind == "exponential":
            self.known[next(iter(noise.terms.items())),] = (ZERO, None)
        return middle + noise

    def stepped(self, form: Linear, how: str, digits: Any = None) -> Linear | Stepped | None:
        """A rounded form: itself if it is a whole number, steps of it if all its noise is continuous; None for any other."""
        kinds = {self.noises[atom].kind == "geometric" if isinstance(atom, int) else None for atom in form.terms}
        if kinds == {True} and digits is None and all(n.q == 1 for n in (*form.terms.values(), form.constant)):
            return form
        plain = digits is None or (how == "round" and type(digits) is int)
        return Stepped(how, form, digits) if kinds == {False} and plain else None

    def decide(self, form: Linear, strict: bool) -> bool:  # noqa: FBT001
        """Whether the form is above zero: settled by what was decided before, or taken both ways.

        Strictness counts only where both sides are exact: for forms of inputs, and of noise on the integers.  A form in such noise alone is
        moved by half a step where it may be zero, so that it is settled as continuous noise is.
        """
        kinds = {self.noises[atom].kind in WHOLE if isinstance(atom, int) else None for atom in form.terms}
        settled = kinds in ({True}, {False})
        direction, bound, turned = normal(without_zero(form, strict=strict) if kinds == {True} else form)
        low, high = self.known.get(direction, (None, None))
        if settled:
            # direction * x >= bound (or <= bound, where turned); ties have probability zero
            if low is not None and low >= bound:
                return not turned
            if high is not None and high <= bound:
                return turned
        outcome = self.choose(2) == 0
        self.steps.append(Test(form, strict, outcome))
        if settled:
            if outcome != turned:
                low = bound if low is None else max(low, bound)
            else:
                high = bound if high is None else min(high, bound)
            self.known[direction] = (low, high)
        return outcome

    def equal(self, form: Linear) -> bool | None:
        """Whether a form is zero: with continuous noise in it never, up to probability zero; None for one such noise, or none at all.

        Two noisy numbers are tested as ``list.index`` does, which looks for one among others.
        """
        kinds = [self.noises[atom].kind for atom in form.terms if isinstance(atom, int)]
        if any(kind not in WHOLE for kind in kinds):
            return False if len(kinds) > 1 else None
        return all(self.decide(side, strict=False) for side in (form, -form)) if kinds else None


def without_zero(form: Linear, *, strict: bool) -> Linear:
    """A form in whole numbers that is above zero exactly where another is (at least zero, if not strict), and never zero."""
    factors = list(form.terms.values())
    below = lcm(*(int(factor.q) for factor in factors))
    step = rational(gcd(*(int((factor * below).p) for factor in factors))) / below
    if (form.constant / step).q != 1:
        return form
    return Linear(form.terms, form.constant + step / 2 * (-1 if strict else 1))


def _outward(number: int) -> int:
    """The whole numbers, the nearest to zero first."""
    distance = (number + 1) // 2
    return distance if number % 2 else -distance


def _weight(alpha: Rational) -> Callable[[int], Rational]:
    """The probabilities of geometric noise in the order of `_outward`."""
    return lambda number: (1 - alpha) / (1 + alpha) * alpha ** ((number + 1) // 2)


def normal(form: Linear) -> tuple[tuple[tuple[Any, Rational], ...], Rational, bool]:
    """A form as ``direction * x >= bound`` with a first coefficient 1; turned: ``<=``."""
    terms = sorted(form.terms.items(), key=lambda term: (isinstance(term[0], str), term[0]))
    first = terms[0][1]
    size = abs(first)
    sign = 1 if first > 0 else -1
    direction = tuple((atom, factor / size * sign) for atom, factor in terms)
    return direction, -form.constant / size * sign, sign < 0


def scale_of(value: Any) -> Rational:
    """The scale of noise: a number above zero; a float where the function runs as it is, with the exact value that it has."""
    if isinstance(value, Linear | Opaque):
        refuse("scale", "the scale of noise depends on noise or on the data", hint="a scale that is a constant")
    number = None if isinstance(value, str) else Linear.of(value)
    try:
        scale = rational(value) if number is None else number.constant
    except PrivproofError as problem:
        refuse("scale", f"scale: {problem.message}", hint=problem.hint or "scale=2")
    if scale <= 0:
        refuse("scale", f"scale={scale} is not above 0", hint="scale=1")
    return scale
