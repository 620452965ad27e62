"""Data and noise for the ways through a function with continuous noise, the unlikely ones too.

The function runs on linear forms (`language.branching`), every comparison both ways; a way is a system of linear inequalities in its
inputs and its noise.  A point inside is looked for by relaxation (Agmon, Motzkin and Schoenberg, 1954): step by step onto the
inequalities that are violated, which arrives wherever the system has an inside.  Floating point only searches: what is found is
rational and checked, and what is not found is left out.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, TypeAlias

from privproof.errors import LanguageError
from privproof.exact import fraction, rational
from privproof.language.branching import BranchLeaf, Ways
from privproof.language.inputs import Input
from privproof.language.laws import TRUNCATED, WHOLE
from privproof.language.linear import Atom, Linear
from privproof.language.mechanism import Mechanism
from privproof.language.scripts import Draw

_WAYS = 60
"""How many ways are looked at for each size; a run of the function is cheap beside a proof."""
_ANSWERS = 1000
"""How many answers all ways of a size may read together, beyond the first five: long runs take longer than short ones."""
_ROUNDS = 200
"""Passes over the inequalities of a way; a way whose point is not found by then is not tried."""
_MARGINS = (1.0, 1e-3)
"""How far inside the inequalities a point shall lie: far where there is room, near the border otherwise."""

Point: TypeAlias = dict[Atom, Fraction]


@dataclass(frozen=True)
class Way:
    """One way through a function.

    Attributes:
        leaf: its tests, noises and output, with inputs and noise left open; its output is None where the run fails.
        arguments: inputs that go this way, with the noise.
        noises: the continuous noise, without its center, in the order in which it is drawn.
        choices: the outcomes of the discrete noise, by number.
    """

    leaf: BranchLeaf
    arguments: Mapping[str, Any]
    noises: tuple[Fraction, ...]
    choices: tuple[int, ...]


def ways(mechanism: Mechanism, size: int, chance: random.Random) -> Iterator[Way]:
    """Ways through a mechanism on lists of a size, in random order, each with a point inside; those that fail included.

    >>> from privproof.language import laplace, mechanism, real
    >>> @mechanism
    ... def rare(x: real()):
    ...     return laplace(x, scale=2) > 1000
    >>> [way.leaf.output for way in ways(rare, 0, random.Random(1))]
    [True, False]
    """
    given = {name: _open(name, declared, size, chance) for name, declared in mechanism.inputs.items()}
    all_ways = Ways(mechanism, given, failing=True, order=chance)
    for _ in range(min(_WAYS, max(5, _ANSWERS // max(size, 1)))):
        try:
            leaf = next(all_ways, None)
        except LanguageError:
            return  # what is done with forms is outside the class; the trials at random remain
        if leaf is None:
            return
        point = inside(leaf, mechanism, given, chance)
        if point is not None:
            arguments = {name: _filled(value, point) for name, value in given.items()}
            noises = tuple(point.get(number, Fraction(0)) for number in range(len(leaf.noises)))
            yield Way(leaf, arguments, noises, tuple(step.chosen for step in leaf.steps if isinstance(step, Draw)))


def _open(name: str, declared: Input, size: int, chance: random.Random) -> Any:
    """An input with a symbol for every number; an input that is no number has some value."""
    places = [name]
    if declared.shape != "value":
        places = [f"{name}[{i}]" for i in range(size if declared.size is None else declared.size)]
    if declared.fields:
        filled = [declared.some(lambda each: _some(each, chance)) for _ in places]
    elif declared.within is None and declared.values is not None:
        filled = [chance.choice(declared.values) for _ in places]
    else:
        filled = [Linear.atom(place) for place in places]
    if declared.public and not declared.real:
        low = 0 if declared.low is None else int(declared.low)
        filled = [chance.choice(declared.values) if declared.values else low + chance.randint(0, 3) for _ in places]
    return filled[0] if declared.shape == "value" else filled


def _some(declared: Input, chance: random.Random) -> Any:
    """Some value of an input, a field of a row."""
    if declared.values is not None:
        return chance.choice(declared.values)
    low = Fraction(-3) if declared.low is None else fraction(declared.low)
    high = low + 6 if declared.high is None else fraction(declared.high)
    value = low + (high - low) * Fraction(chance.randint(0, 6), 6)
    return value if declared.real and value.denominator > 1 else int(value)


def _filled(value: Any, point: Point) -> Any:
    if isinstance(value, list):
        return [_filled(item, point) for item in value]
    if isinstance(value, Linear):
        found = point[next(iter(value.terms))]
        return int(found) if found.denominator == 1 else found
    return value


def inside(leaf: BranchLeaf, mechanism: Mechanism, given: Mapping[str, Any], chance: random.Random) -> Point | None:
    """Inputs and noise for which a run takes a way, inside all its inequalities; None if none is found."""
    wanted = [test.halfspace for test in leaf.tests]
    whole: set[Atom] = {i for i, noise in enumerate(leaf.noises) if noise.kind in WHOLE}
    names: list[Atom] = list(range(len(leaf.noises)))
    for name, declared in mechanism.inputs.items():
        for form in given[name] if isinstance(given[name], list) else [given[name]]:
            if isinstance(form, Linear):
                names += form.terms
                whole.update(() if declared.real else form.terms)
                wanted += [] if declared.low is None else [_form(form - fraction(declared.low))]
                wanted += [] if declared.high is None else [_form(fraction(declared.high) - form)]
    wanted += [Linear.atom(i) for i, noise in enumerate(leaf.noises) if noise.kind == "exponential"]
    ranges = ((Linear.atom(i), noise.more[0]) for i, noise in enumerate(leaf.noises) if noise.kind == TRUNCATED)
    wanted += [side for atom, bound in ranges for side in (bound - atom, bound + atom)]
    for margin in _MARGINS:
        start = {name: chance.uniform(-3, 3) for name in names}
        for fixed in (set[Atom](), whole) if whole else (set[Atom](),):
            start |= {name: float(round(start[name])) for name in fixed}
            _relax(wanted, start, fixed, margin)
        for point in (
            {name: Fraction(round(8 * value), 8) for name, value in start.items()},
            {name: Fraction(value) for name, value in start.items()},
        ):
            if all(_holds(form, point, whole) for form in wanted):
                return point
    return None


def _holds(form: Linear, point: Point, whole: set[Atom]) -> bool:
    """Whether a point lies inside an inequality; on its border only if it is about whole numbers alone."""
    value = form.constant + sum((a * rational(point[atom]) for atom, a in form.terms.items()), rational(0))
    return value > 0 or (value == 0 and not form.terms.keys() - whole)


def _form(value: Any) -> Linear:
    form = Linear.of(value)
    assert form is not None
    return form


def _relax(wanted: Sequence[Linear], point: dict[Atom, float], fixed: set[Atom], margin: float) -> None:
    """Move a point towards all inequalities, in place."""
    rows = []
    for form in wanted:
        terms = [(atom, float(a)) for atom, a in form.terms.items()]
        free = [(atom, a) for atom, a in terms if atom not in fixed]
        if free:
            rows.append((terms, free, float(form.constant), sum(a * a for _, a in free)))
    for _ in range(_ROUNDS):
        still = True
        for terms, free, constant, length in rows:
            short = margin - constant - sum(a * point[atom] for atom, a in terms)
            if short > 0:
                still = False
                for atom, a in free:
                    point[atom] += 1.5 * short / length * a
        if still:
            return
