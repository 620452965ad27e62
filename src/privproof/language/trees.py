"""Every way through a function: the function itself, run again and again, with each random choice made in turn.

Discrete noise is drawn from its table, one outcome after the other.  Continuous noise and noise on all integers stay open: a number
``x_j`` that is not drawn, what is computed from it are linear forms, and a comparison that is not settled is taken both ways.  A uniform
number between 0 and 1 is drawn as far as it is looked at: ``random() < 3/4`` is a coin.  What is no linear form (a product,
rounding) is opaque: known is only what was done to which forms.

The function runs as it is, so its meaning is what Python does.  Two runs with the same beginning of choices must go the same
way; where they do not, something besides the recognised noise has a part in them, and there is no tree.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from functools import cache
from typing import Any, NoReturn, TypeAlias

from privproof.errors import LanguageError
from privproof.exact import ONE, ZERO, Rational, fraction, rational
from privproof.language.formatting import reaches
from privproof.language.laws import WHOLE, Continuous, DiscreteGaussian, Geometric, Law, Shaped, TableLaw
from privproof.language.linear import Linear, Opaque, calling_frame, deciding, opaque_forms, refuse
from privproof.language.noise import drawing
from privproof.language.outcomes import Outcome, Part, outcome
from privproof.language.scripts import Draw, ScriptedDraw, Test, normal, scale_of, weight_of

MOST_LEAVES = 200_000
"""Ways through a function on one data set; beyond, memory and patience end, and a smaller size is asked for."""
_MOST_CHOICES = 500
"""A run that is decided so often is given up: as a rule it is a loop that only its noise can end, and every turn is one more run."""
_LONGEST = 10_000
"""An iterator that is returned may have so many elements; beyond, it is as a rule one without an end, and is refused."""
_WIDEST = 100_000
"""A uniform number may be rounded to so many whole numbers; beyond, it is refused."""
_NAMED = re.compile(r"(?<=')\w+(?=')|^integer(?= division)")
"""What errors of Python say is at fault."""
_OTHERS = frozenset(("integer", "NoneType", "str", "list", "dict", "tuple", "set", "bytes"))
"""Kinds of values, as errors name them, that no noisy number is taken for."""
_SECRET = os.urandom(8).hex()
"""A text that no function writes by itself."""
_HALF = rational("1/2")
"""Forms in noise on the integers are moved by half a step, so that they are never zero."""


@dataclass(frozen=True)
class Guess:
    """A condition on opaque values, and how it came out."""

    condition: Opaque
    outcome: bool


Step: TypeAlias = "Draw | Test | Guess"


@dataclass(frozen=True)
class TreeLeaf:
    """One way through a function.

    Attributes:
        noises: the noises left open, in the order in which they were drawn.
        steps: the draws, tests and guesses on the way.
        outcome: what it shows at the end.
    """

    noises: tuple[ScriptedDraw, ...]
    steps: tuple[Step, ...]
    outcome: Outcome

    @property
    def weight(self) -> Rational:
        """The probability of the discrete noise on the way."""
        return weight_of(self.steps)

    @property
    def tests(self) -> tuple[Test, ...]:
        """The comparisons of forms on the way."""
        return tuple(step for step in self.steps if isinstance(step, Test))

    @property
    def guesses(self) -> tuple[Guess, ...]:
        """The conditions on opaque values on the way."""
        return tuple(step for step in self.steps if isinstance(step, Guess))


class Wayward(LanguageError):
    """Two runs with the same choices went different ways."""


def leaves(
    call: Callable[[], Any], *, most: int = MOST_LEAVES, pause: Callable[[], None] = lambda: None
) -> tuple[TreeLeaf, ...]:
    """All ways through a call.

    Args:
        call: runs the function on its data; called again and again.
        most: how many ways there may be.
        pause: called between runs; may raise to stop.

    Raises:
        Wayward: two runs with the same choices went different ways.
        LanguageError: there are too many ways, or noise is used in a way that has no meaning here.

    >>> from privproof.language.noise import bernoulli, laplace
    >>> [(leaf.weight, leaf.outcome.text) for leaf in leaves(lambda: bernoulli("1/4") or bernoulli("1/2"))]
    [(3/8, 'True'), (3/8, 'False'), (1/4, 'True')]
    >>> [leaf.outcome.text for leaf in leaves(lambda: max(0, laplace(3, scale=1)))]
    ['*', '0']
    """
    found, _ = explore_leaves(call, Branch(), most=most, pause=pause)
    return tuple(found)


@dataclass(frozen=True)
class Branch:
    """Runs that are not made yet: those that begin with some choices, and the steps that these are made at.

    Runs with the same first choices hold the same steps: they are kept, sent and written once.
    """

    choices: tuple[int, ...] = ()
    steps: tuple[Step, ...] = ()


def explore_leaves(
    call: Callable[[], Any],
    branch: Branch,
    *,
    most: int = MOST_LEAVES,
    pause: Callable[[], None] = lambda: None,
    enough: Callable[[], bool] = lambda: False,
) -> tuple[list[TreeLeaf], list[Branch]]:
    """The leaves of a branch in the order of their choices, and the branches after them that are left where it is enough."""
    found: list[TreeLeaf] = []
    fixed = len(branch.choices)
    player = _Player(branch.choices, branch.steps)
    while True:
        pause()
        found.append(player.played(call))
        if len(found) > most:
            raise too_many(most)
        left = [place for place in range(len(player.made) - 1, fixed - 1, -1) if player.open_at(place)]
        if not left or enough():
            return found, [each for place in left for each in player.branches(place)]
        following = next(player.branches(left[0]))
        player = _Player(following.choices, following.steps)


def too_many(most: int) -> LanguageError:
    """The complaint that there are more ways through a function than can be gone."""
    return LanguageError("paths", f"there are more than {most} ways through it", hint="a smaller size, or fewer values")


def replay_leaf(
    call: Callable[[], Any], leaf: TreeLeaf, *, times: int = 1, pause: Callable[[], None] = lambda: None
) -> None:
    """Run a call again, so many times, with the choices of a leaf.

    Raises:
        Wayward: it does not go the same way, or does not show the same.
    """
    shown = _key(leaf.outcome)
    for _ in range(times):
        pause()
        player = _Player(tuple(_position(step) for step in leaf.steps), list(leaf.steps))
        again = player.played(call)
        same = len(again.steps) == len(leaf.steps) and all(map(_same, again.steps, leaf.steps))
        if not same or again.noises != leaf.noises or _key(again.outcome) != shown:
            _astray(f"it showed {leaf.outcome.text} and then {again.outcome.text}")


def _key(shown: Outcome) -> tuple[Any, ...]:
    return shown.shape, tuple(part_key(part) for part in shown.parts)


def part_key(part: Any) -> Any:
    """What tells noisy numbers apart."""
    if isinstance(part, Linear):
        return tuple(sorted((str(atom), str(factor)) for atom, factor in part.terms.items())), str(part.constant)
    if isinstance(part, Opaque):
        return part.operation, tuple(part_key(each) for each in part.parts)
    return type(part).__name__, repr(part)


def _position(step: Step) -> int:
    return step.chosen if isinstance(step, Draw) else 1 - int(step.outcome)


def _same(one: Step, other: Step) -> bool:
    """Whether two runs came to the same draw or test, however it came out."""
    match one, other:
        case Draw(), Draw():
            return one is other or one.probabilities == other.probabilities
        case Test(), Test():
            return bool(part_key(one.form) == part_key(other.form))
        case Guess(), Guess():
            return bool(part_key(one.condition) == part_key(other.condition))
        case _:
            return False


def _astray(what: str) -> NoReturn:
    raise Wayward(
        "hidden",
        f"two runs with the same random choices differ: {what}",
        hint="something else has a part in it: unrecognised randomness, time, a file, or state that is kept from run to run",
    )


_playing: ContextVar[_Player | None] = ContextVar("playing", default=None)


def playing() -> _Player | None:
    """The run that is under way, if one is."""
    return _playing.get()


@contextmanager
def _in_play(player: _Player) -> Iterator[None]:
    token = _playing.set(player)
    try:
        yield
    finally:
        _playing.reset(token)


class _Player:
    """Makes the decisions of one run: those given, then the first way of each."""

    def __init__(self, given: tuple[int, ...], expected: Sequence[Step]) -> None:
        self.given = given
        self.expected = expected
        self.made: list[int] = []
        self.ways: list[int] = []
        self.steps: list[Step] = []
        self.noises: list[ScriptedDraw] = []
        self.known: dict[tuple[tuple[Any, Rational], ...], tuple[Rational | None, Rational | None]] = {}
        self.guessed: dict[Any, bool] = {}
        self.units: dict[int, tuple[Rational, Rational]] = {}
        self.tokens: dict[str, Part] = {}
        self.printed: list[str] = []
        self.objects = False
        self.problem: LanguageError | None = None

    def played(self, call: Callable[[], Any]) -> TreeLeaf:
        """The leaf that a run ends in."""
        with ExitStack() as stack:
            for context in (drawing(self.draw), deciding(self.decide), opaque_forms(self), _in_play(self)):
                stack.enter_context(context)
            value, error = self._ended(call)
            shown = outcome(value, self.tokens, error)
        if self.problem is not None:
            raise self.problem
        if len(self.steps) < len(self.given):
            _astray(f"one made {len(self.given)} choices or more, the other {len(self.steps)}")
        return TreeLeaf(tuple(self.noises), tuple(self.steps), self._checked(shown))

    def open_at(self, place: int) -> bool:
        """Whether a choice can be made otherwise, by a later outcome."""
        return self.made[place] + 1 < self.ways[place]

    def branches(self, place: int) -> Iterator[Branch]:
        """The runs that go the same way up to a choice and make it by a later outcome."""
        made, steps = tuple(self.made[:place]), tuple(self.steps[: place + 1])
        for chosen in range(self.made[place] + 1, self.ways[place]):
            yield Branch((*made, chosen), steps)

    def _ended(self, call: Callable[[], Any]) -> tuple[Any, BaseException | None]:
        """What a call returns, and what it raises; of an iterator what it yields before it raises."""
        listed: list[Any] | None = None
        try:
            value = call()
            if isinstance(value, Linear | Opaque) or not hasattr(value, "__next__"):
                return value, None
            listed = []
            for each in value:
                listed.append(each)
                if len(listed) > _LONGEST:
                    raise LanguageError(
                        "output", f"an output has more than {_LONGEST} elements", hint="islice(values, 10)"
                    )
        except (LanguageError, KeyboardInterrupt):
            raise
        except BaseException as error:  # what the function itself raises is what it shows
            self.doubted(error)
            return listed, error
        return listed, None

    def refused(self, problem: LanguageError) -> None:
        """Take note that something was refused, in case that the function catches it."""
        self.problem = self.problem or problem

    def doubted(self, error: BaseException) -> None:
        """Take note of an error that may come from a number that is left open, where a number that is drawn makes none."""
        kinds = [*((TypeError, AttributeError) if self.noises else ()), *((ZeroDivisionError,) if self.objects else ())]
        if isinstance(error, tuple(kinds)) and not 0 < len(named := set(_NAMED.findall(str(error)))) == len(
            named & _OTHERS
        ):
            self.refused(
                LanguageError(
                    "noise",
                    f"something is done that a noisy number has no meaning for here: {type(error).__name__}: {error}",
                    hint="compare noise, add it and return it",
                )
            )

    def _checked(self, shown: Outcome) -> Outcome:
        if set(self.tokens) - shown.told or any(token in shown.shape for token in self.printed):
            raise LanguageError(
                "text",
                "the text of a noisy number is used",
                hint="return the number itself: formatting what is released tells no more and no less",
            )
        for atom in {a for part in shown.parts for a in _atoms(part)}:
            if self.noises[atom].kind == "uniform":
                raise LanguageError(
                    "uniform",
                    f"a uniform random number, drawn in line {self.noises[atom].line}, is in the output",
                    hint="compare it with a number, or round it",
                )
        return shown

    def choose(self, ways: int, step: Callable[[int], Step]) -> int:
        """The way that is taken; the step is noted and must be the one that was met before."""
        place = len(self.made)
        if place > _MOST_CHOICES:
            refuse(
                "paths",
                f"a run makes more than {_MOST_CHOICES} random choices",
                hint="a loop that ends after so many turns, whatever its noise is, or a smaller size",
            )
        chosen = self.given[place] if place < len(self.given) else 0
        if chosen >= ways:
            _astray("a draw has fewer outcomes than before")
        made = step(chosen)
        if place < len(self.given):
            before = self.expected[place]
            if not _same(made, before):
                _astray(f"random choice number {place + 1} is another one")
            if _position(before) == chosen:
                made = before
        self.made.append(chosen)
        self.ways.append(ways)
        self.steps.append(made)
        return chosen

    def draw(self, law: Law) -> Any:
        """Noise from a law."""
        match law:
            case TableLaw():
                return law.ranked[self._drawn([p for _, p in law.ranked])][0]
            case Geometric(center, alpha):
                return self._open("geometric", center, rational(alpha))
            case DiscreteGaussian(center, variance):
                return self._open("discrete_gaussian", center, rational(variance))
            case Continuous(kind, center, scale):
                return self._open(kind, center, scale_of(scale))
            case Shaped(kind, center, parameters):
                first, *more = map(rational, parameters)
                return self._open(kind, center, first, tuple(more))

    def unit(self) -> Linear:
        """A uniform number between 0 and 1."""
        number = len(self.noises)
        self.units[number] = (ZERO, ONE)
        self.noises.append(_uniform(calling_frame().f_lineno))
        return Linear.atom(number)

    def _drawn(self, probabilities: list[Rational]) -> int:
        if len(probabilities) == 1:
            return 0
        chances = tuple(probabilities)
        return self.choose(len(chances), lambda chosen: Draw(chances, chosen))

    def _open(self, kind: str, center: Any, scale: Rational, more: tuple[Rational, ...] = ()) -> Any:
        if isinstance(center, Opaque):
            refuse(
                "noise",
                f"{kind} noise is added to a number that is rounded or multiplied noise",
                hint=f"{kind}(0, ...)",
            )
        middle = Linear.of(rational(center) if isinstance(center, str) else center)
        if middle is None:
            refuse("noise", f"{kind} noise is added to {center!r}, which is no number", hint=f"{kind}(0, ...)")
        noise = Linear({len(self.noises): ONE}, ZERO, int if kind in WHOLE else float)
        self.noises.append(ScriptedDraw(kind, scale, calling_frame().f_lineno, more))
        if kind == "exponential":
            self.known[next(iter(noise.terms.items())),] = (ZERO, None)
        return middle + noise

    def decide(self, form: Linear, strict: bool) -> bool:  # noqa: FBT001
        """Whether a form is above zero: settled by what was decided before, or taken both ways."""
        if any(atom in self.units for atom in form.terms):
            return self._below_unit(form)
        kinds = {self.noises[atom].kind for atom in form.terms if isinstance(atom, int)}
        if kinds and kinds <= set(WHOLE):
            form = _between_steps(form, strict=strict)
        direction, bound, turned = normal(form)
        low, high = self.known.get(direction, (None, None))
        # direction * x >= bound (or <= bound, where turned); ties have probability zero
        if low is not None and low >= bound:
            return not turned
        if high is not None and high <= bound:
            return turned
        outcome = self.choose(2, lambda chosen: Test(form, strict=False, outcome=chosen == 0)) == 0
        if outcome != turned:
            low = bound if low is None else max(low, bound)
        else:
            high = bound if high is None else min(high, bound)
        self.known[direction] = (low, high)
        return outcome

    def _below_unit(self, form: Linear) -> bool:
        atom, factor = self._alone(form)
        low, high = self.units[atom]
        at = -form.constant / factor
        if at <= low or at >= high:
            return (at <= low) == (factor > 0)
        share = (at - low) / (high - low)
        above = self._drawn([share, 1 - share]) == 1
        self.units[atom] = (at, high) if above else (low, at)
        return above == (factor > 0)

    def _alone(self, form: Linear) -> tuple[int, Rational]:
        if len(form.terms) != 1:
            refuse(
                "uniform",
                "a uniform random number is compared with other noise",
                hint="compare it with a number, or use laplace(), exponential(), bernoulli()",
            )
        [(atom, factor)] = form.terms.items()
        assert isinstance(atom, int)
        return atom, factor

    def refuse_logarithm(self, name: str, value: Part) -> None:
        """Refuse noise that is made by hand: the logarithm of a uniform number."""
        if any(atom in self.units for atom in _atoms(value)):
            refuse(
                "uniform",
                f"{name} of a uniform random number: noise that is made by hand is not recognised",
                hint="np.random.laplace(0, scale), np.random.exponential(scale); for whole numbers geometric(0, alpha=...) of privproof",
            )

    def guess(self, condition: Opaque) -> bool:
        """Whether a condition holds of which only the parts are known: both ways, but the same way for the same condition."""
        if any(atom in self.units for part in condition.parts for atom in _atoms(part)):
            refuse(
                "uniform",
                "a uniform random number is multiplied or rounded with other noise",
                hint="laplace(), bernoulli()",
            )
        key = part_key(condition)
        if key not in self.guessed:
            self.guessed[key] = self.choose(2, lambda chosen: Guess(condition, chosen == 0)) == 0
        return self.guessed[key]

    def equal(self, form: Linear) -> bool:
        """Whether a form is zero: for continuous noise never, up to probability zero."""
        if any(self.noises[atom].kind not in WHOLE for atom in form.terms if isinstance(atom, int)):
            return False
        return all(self.decide(side, strict=False) for side in (form, -form))

    def whole(self, form: Linear, how: str) -> Any:
        """A uniform number rounded to a whole one, which is drawn; a form in noise on the integers is one already."""
        if not any(atom in self.units for atom in form.terms):
            return form if how not in ("int", "index") and self._is_whole(form) else None
        if how == "index":
            return None
        atom, factor = self._alone(form)
        low, high = (factor * end + form.constant for end in self.units[atom])
        low, high = min(low, high), max(low, high)
        move = _HALF if how == "round" else ONE if how == "ceil" else ZERO
        first, last = int((low + move).floor()), int((high + move).floor())
        if last - first > _WIDEST:
            refuse("uniform", f"a uniform number is rounded to more than {_WIDEST} values", hint="a smaller range")
        pieces: list[tuple[int, Rational, Rational]] = []
        for value in range(first, last + 1):
            start, end = max(low, value - move), min(high, value + 1 - move)
            if start < end:
                pieces.append((value, start, end))
        chosen = pieces[self._drawn([(end - start) / (high - low) for _, start, end in pieces])]
        value, start, end = chosen
        ends = sorted(((start - form.constant) / factor, (end - form.constant) / factor))
        self.units[atom] = (ends[0], ends[1])
        return value + 1 if how in ("int", "trunc") and end <= 0 and start < 0 else value

    def _is_whole(self, form: Linear) -> bool:
        return form.kind is int

    def formatted(self, value: Part, how: str, spec: str) -> str:
        """What stands for the text of a noisy number, where it is printed or returned and nothing looks at it."""
        where = reaches(calling_frame())
        if where is None:
            refuse(
                "text",
                "the text of a noisy number is used",
                hint="return the number itself: formatting what is released tells no more and no less",
            )
        token = f"⟦{_SECRET}{len(self.tokens) + len(self.printed)}⟧"
        if where == "printed":
            self.printed.append(token)
            return token
        self.tokens[token] = Opaque(f"{how} {spec!r}" if spec else how, (value,))
        return token


@cache
def _uniform(line: int) -> ScriptedDraw:
    """A uniform number that is drawn in a line, which leaves share."""
    return ScriptedDraw("uniform", ONE, line)


def _between_steps(form: Linear, *, strict: bool) -> Linear:
    """A form in noise on the integers, moved so that it cannot be zero: whole numbers are at least 0 if they are above -1/2."""
    whole = all(factor.q == 1 for factor in form.terms.values()) and form.constant.q == 1
    if not whole:
        scale = 1
        for number in (*form.terms.values(), form.constant):
            scale *= int(number.q)
        form = form.times(rational(scale))
    return Linear(form.terms, form.constant + (-_HALF if strict else _HALF))


def _atoms(part: Any) -> Iterator[int]:
    """The noises in a part of an outcome."""
    if isinstance(part, Linear):
        yield from (atom for atom in part.terms if isinstance(atom, int))
    elif isinstance(part, Opaque):
        for each in part.parts:
            yield from _atoms(each)


def tables(found: Sequence[TreeLeaf]) -> dict[str, Rational]:
    """The probability of every outcome, where no noise is left open."""
    result: dict[str, Rational] = {}
    for leaf in found:
        result[leaf.outcome.shape] = result.get(leaf.outcome.shape, ZERO) + leaf.weight
    return result


def shares(found: Sequence[TreeLeaf]) -> list[tuple[str, Any]]:
    """Every outcome as it prints, with its probability."""
    texts = {leaf.outcome.shape: leaf.outcome.text for leaf in found}
    return [(texts[shape], fraction(p)) for shape, p in tables(found).items()]
