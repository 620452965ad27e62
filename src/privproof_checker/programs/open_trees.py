"""Trees of runs: every way that a mechanism can go on fixed inputs, with the noise left open.

A leaf lists the laws of the noises drawn on its way, the steps of the way and whether the run belongs to the event.  A step
is a *test*, a linear form in the noises that is at least 0 or at most 0, or a *draw* of discrete noise with the
probabilities of all its outcomes.  The leaves are those of a tree if at every node all leaves through it go on with the same
test or draw and every outcome has a leaf; then exactly one leaf is reached, except on a set of probability 0.  A form on
which ties have a positive probability would break this, and is refused.  Of a tree that is not whole only leaves in the
event are listed: outcomes without a leaf are said to lead out of it, as the mark of a leaf says, and at most one is reached.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import gcd, lcm
from typing import TypeAlias

from privproof_checker.integrals.elimination import Law, Unresolved
from privproof_checker.integrals.integral_orders import order_probability
from privproof_checker.integrals.probabilities import Inequality, Integrator
from privproof_checker.numbers import ONE, ZERO, Rational
from privproof_checker.numbers.exponentials import ExponentialSum
from privproof_checker.outcomes import Limits, refuse, within
from privproof_checker.plain_documents import (
    a_flag,
    a_list,
    a_number,
    a_text,
    an_integer,
    an_object,
    only_members,
    text,
)

_MOST_LEAVES = 50_000
"""A tree of runs may have so many leaves; beyond, it is refused."""
_MOST_STEPS = 2_000
"""A leaf may have so many steps, and so many forms of its event besides; beyond, it is refused."""
_MOST_NOISES = 2_500
"""A leaf may draw so many noises; beyond, it is refused."""
_MOST_DIGITS = 300
"""The digits of a numerator or denominator in a form or a law; beyond, its exponential might not be told from 0, and it is refused."""
_LARGEST_EXPONENT = 10**12
"""The largest exponent of e, up or down, in a probability; beyond, it is refused before it is evaluated."""
_KINDS = ("laplace", "exponential", "geometric", "gumbel")
WHOLE = ("geometric", "discrete_gaussian")
"""Kinds of noise that are whole numbers."""
_APART = ("geometric", "gumbel")
"""Noise that is compared with noise of its own kind alone, and summed up by itself."""


@dataclass(frozen=True)
class Linear:
    """A linear form in the noises of a leaf, by their numbers."""

    factors: tuple[tuple[int, Rational], ...]
    constant: Rational

    def turned(self) -> Linear:
        """The negative of the form."""
        return Linear(tuple((j, -c) for j, c in self.factors), -self.constant)

    def moved(self, shift: tuple[Rational, ...]) -> Linear:
        """The form at noises that are shifted."""
        return Linear(self.factors, self.constant + sum((c * shift[j] for j, c in self.factors), ZERO))


@dataclass(frozen=True)
class Done:
    """Something that was done to forms, opaque values and constants."""

    operation: str
    parts: tuple[Part, ...]


Part: TypeAlias = "Linear | Done | str"


@dataclass(frozen=True)
class Step:
    """One step of a way: what it is about, and how it came out.

    Attributes:
        kind: ``test`` (whether a form is at least 0), ``draw`` (of discrete noise with these probabilities), or ``guess``.
        about: the form, the probabilities, or what is guessed.
        outcome: 0 or 1, or the number of the outcome of a draw.
    """

    kind: str
    about: Part | tuple[Rational, ...]
    outcome: int

    @property
    def outcomes(self) -> set[int]:
        """The outcomes that are possible."""
        return {k for k, p in enumerate(self.about) if p > 0} if isinstance(self.about, tuple) else {0, 1}

    @property
    def mentioned(self) -> set[int]:
        """The noises that the step is about."""
        return set() if isinstance(self.about, tuple) else set(_mentioned(self.about))


def _mentioned(part: Part) -> list[int]:
    if isinstance(part, Linear):
        return [j for j, _ in part.factors]
    return [j for each in part.parts for j in _mentioned(each)] if isinstance(part, Done) else []


@dataclass(frozen=True)
class RunWay:
    """A way to the end of a run: the laws of its noises, and its steps."""

    noises: tuple[tuple[str, Rational, *tuple[Rational, ...]], ...]
    steps: tuple[Step, ...]

    @property
    def weight(self) -> Rational:
        """The probability of the discrete noise on the way."""
        total = ONE
        for step in self.steps:
            if isinstance(step.about, tuple):
                total *= step.about[step.outcome]
        return total

    @property
    def tests(self) -> list[Linear]:
        """The forms that are at least 0 on this way by its tests."""
        found = []
        for step in self.steps:
            if step.kind == "test":
                assert isinstance(step.about, Linear)
                found.append(step.about if step.outcome else step.about.turned())
        return found


@dataclass(frozen=True)
class EventLeaf(RunWay):
    """A way to the end, and the part of it that belongs to the event."""

    noises: tuple[Law, ...]
    event: bool
    also: tuple[Linear, ...]
    place: str


def read_leaves(value: object, place: str, limits: Limits, *, whole: bool = True) -> list[EventLeaf]:
    """The leaves of a tree; refuses what is no tree, and a whole one in which an outcome has no leaf."""
    listed = a_list(value, place)
    within(len(listed), _MOST_LEAVES, "leaves", place)
    if not listed:
        refuse("there is no leaf", place)
    leaves = [_leaf(item, f"{place}[{i}]", limits) for i, item in enumerate(listed)]
    refuse_no_tree(leaves, place, whole=whole)
    return leaves


def refuse_no_tree(leaves: Sequence[RunWay], place: str, *, whole: bool = True) -> None:
    """Refuse leaves that are not those of a tree, or of a whole tree in which an outcome has no leaf."""
    waiting = [(list(range(len(leaves))), 0)]
    while waiting:
        through, depth = waiting.pop()
        first = f"{place}[{through[0]}]"
        if any(len(leaves[k].steps) == depth for k in through):
            if len(through) > 1:
                refuse("another leaf continues or repeats this way", first)
            continue
        noises, step = leaves[through[0]].noises, leaves[through[0]].steps[depth]
        mentioned = step.mentioned
        groups: dict[int, list[int]] = {}
        for k in through:
            other = leaves[k].steps[depth]
            alike = (other.kind, other.about) == (step.kind, step.about)
            if not alike or any(leaves[k].noises[j] != noises[j] for j in mentioned):
                refuse(f"step {depth} differs from that of {first}, which has come the same way", f"{place}[{k}]")
            groups.setdefault(other.outcome, []).append(k)
        if whole and not step.outcomes <= groups.keys():
            refuse(f"no leaf has the other outcome of step {depth}", first)
        waiting.extend((group, depth + 1) for group in groups.values())


def probability(leaf: EventLeaf, integrator: Integrator) -> ExponentialSum:
    """The probability of the part of a leaf that belongs to the event."""
    weight = leaf.weight
    if weight == 0 or not leaf.event:
        return ExponentialSum.constant(0)
    by_kind: dict[str, list[Inequality]] = {"geometric": [], "gumbel": [], "": []}
    for form in [*leaf.also, *leaf.tests]:
        kind = next((leaf.noises[j][0] for j, _ in form.factors if leaf.noises[j][0] in _APART), "")
        by_kind[kind].append((form.factors, form.constant))
    try:
        weight *= integrator.sum_probability(leaf.noises, by_kind["geometric"])
        found = integrator.probability(leaf.noises, by_kind[""])
        if by_kind["gumbel"]:
            found = found * order_probability(leaf.noises, by_kind["gumbel"])
    except Unresolved as error:
        refuse(f"the probability is too complicated to be integrated here: {error}", leaf.place)
    if any(abs(exponent) > _LARGEST_EXPONENT for exponent in found.exponents):
        refuse("the probability has an exponent that is too large", leaf.place)
    return found * weight


def moderate(value: object, place: str, limits: Limits, most: int = _MOST_DIGITS) -> Rational:
    """A number in a form or a law; beyond some size its exponentials could no longer be told from 0."""
    number = a_number(value, place, limits)
    within(max(len(str(number.p)), len(str(number.q))), most, "digits of a number", place)
    return number


def _leaf(value: object, place: str, limits: Limits) -> EventLeaf:
    given = an_object(value, place)
    only_members(given, ("noises", "steps", "event", "also", "output"), place)
    a_text(given.get("output", ""), f"{place}.output")
    listed = a_list(given.get("noises"), f"{place}.noises")
    within(len(listed), _MOST_NOISES, "noises", f"{place}.noises")
    noises = tuple(read_law(item, f"{place}.noises[{i}]", limits) for i, item in enumerate(listed))
    steps = a_list(given.get("steps"), f"{place}.steps")
    within(len(steps), _MOST_STEPS, "steps", f"{place}.steps")
    made = tuple(_step(item, noises, f"{place}.steps[{i}]", limits) for i, item in enumerate(steps))
    also = a_list(given.get("also", []), f"{place}.also")
    within(len(also), _MOST_STEPS, "forms", f"{place}.also")
    forms = tuple(_form(item, noises, f"{place}.also[{i}]", limits) for i, item in enumerate(also))
    return EventLeaf(noises, made, a_flag(given.get("event"), f"{place}.event"), forms, place)


def read_law(
    value: object, place: str, limits: Limits, most: int = _MOST_DIGITS, kinds: tuple[str, ...] = _KINDS
) -> Law:
    """The kind of a noise and its number."""
    given = a_list(value, place)
    if len(given) != 2 or given[0] not in kinds:
        refuse(f"expected a kind among {', '.join(kinds)}, and a number", place)
    kind, number = str(given[0]), moderate(given[1], place, limits, most)
    if number <= 0 or (kind == "geometric" and number >= 1):
        refuse(f"{kind} noise has no parameter {text(number)}", place)
    return kind, number


def _step(value: object, noises: tuple[Law, ...], place: str, limits: Limits) -> Step:
    given = a_list(value, place)
    if len(given) != 3 or given[0] not in ("test", "draw"):
        refuse("expected a test and its outcome, or a draw and its outcome", place)
    if given[0] == "test":
        form = _form(given[1], noises, place, limits)
        refuse_ties(form, noises, place)
        return Step("test", form, int(a_flag(given[2], place)))
    listed = a_list(given[1], place)
    within(len(listed), limits.symbols, "outcomes", place)
    probabilities = read_chances(listed, place, limits)
    outcome = an_integer(given[2], place)
    if not 0 <= outcome < len(probabilities):
        refuse(f"a draw has no outcome {outcome}", place)
    return Step("draw", probabilities, outcome)


def read_chances(listed: list[object], place: str, limits: Limits) -> tuple[Rational, ...]:
    """The probabilities of the outcomes of a draw."""
    chances = tuple(a_number(item, place, limits) for item in listed)
    if any(p < 0 for p in chances) or sum(chances, ZERO) != 1:
        refuse("the probabilities of a draw are at least 0 and sum to 1", place)
    return chances


def _form(value: object, noises: tuple[Law, ...], place: str, limits: Limits) -> Linear:
    form = read_form(an_object(value, place), len(noises), place, limits)
    for kind in _APART:
        if len({noises[j][0] == kind for j, _ in form.factors}) > 1:
            refuse(f"a form with {kind} noise mentions no other noise", place)
    return form


def read_form(given: dict[str, object], noises: int, place: str, limits: Limits, most: int = _MOST_DIGITS) -> Linear:
    """A form in so many noises."""
    only_members(given, ("x", "constant"), place)
    factors: dict[int, Rational] = {}
    for item in a_list(given.get("x"), f"{place}.x"):
        pair = a_list(item, f"{place}.x")
        if len(pair) != 2:
            refuse("expected the number of a noise and its coefficient", f"{place}.x")
        noise = an_integer(pair[0], f"{place}.x")
        if not 0 <= noise < noises or noise in factors:
            refuse(f"there is no noise {noise}, or it is mentioned twice", f"{place}.x")
        factors[noise] = moderate(pair[1], f"{place}.x", limits, most)
    kept = tuple((j, factor) for j, factor in sorted(factors.items()) if factor != 0)
    return Linear(kept, moderate(given.get("constant", 0), f"{place}.constant", limits, most))


def refuse_ties(form: Linear, noises: tuple[Law, ...], place: str) -> None:
    """Refuse a test that may come out either way with a positive probability: of 0, or of integers alone."""
    if not form.factors and form.constant == 0:
        refuse("the test of 0 may come out either way", place)
    discrete = bool(form.factors) and all(noises[j][0] in WHOLE for j, _ in form.factors)
    if discrete and (form.constant / step_of(form)).q == 1:
        refuse("the test of noise on the integers may come out either way; move it by less than one step", place)


def step_of(form: Linear) -> Rational:
    """The steps in which a form in whole numbers moves: the largest number that its coefficients are multiples of."""
    below = lcm(*(int(factor.q) for _, factor in form.factors))
    return Rational(gcd(*(int((factor * below).p) for _, factor in form.factors)), below)
