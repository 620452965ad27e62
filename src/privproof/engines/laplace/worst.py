"""The worst neighbours at a given size: a linear program for every way through the mechanism.

A way through the mechanism is a region of its noise: ``A h + B q + c >= 0``.  If the data move by v, shifting the noise by s keeps the
region where ``A s + B v >= 0`` (and keeps a released noisy number where its own row vanishes), and costs ``sum |s_j| / c_j``.  The smallest
cost V(v) bounds the loss of the region, whatever the data are; V is convex, so its largest value over the neighbours is
at a corner.  Floating point finds the shifts, rational arithmetic verifies them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import product
from math import log
from typing import Any

import numpy as np

from privproof.compiling.sampled import root_part
from privproof.engines.laplace.least_shifts import LeastShifts, Lost
from privproof.engines.laplace.solver import ask_solver, z3
from privproof.engines.search_monitor import Monitor
from privproof.errors import LanguageError
from privproof.exact import Rational, fraction
from privproof.language.branching import BranchLeaf, leaves
from privproof.language.inputs import NORMS, Input
from privproof.language.linear import Linear
from privproof.language.mechanism import Mechanism
from privproof.language.patterns import key, word
from privproof.language.scripts import Draw, ScriptedDraw
from privproof.language.steps import shown_form

_ALL_CORNERS = 3
"""Up to so many private values all corners are looked at, which double with each; beyond it one climbs from a few."""
_DENOMINATOR = 2_000
"""Shifts are simple fractions of the scales; what is found in floats is rounded to one and verified exactly."""
_ALL_SIGNS = 5
"""Up to so many values all signs of changes at the edge of a norm are looked at, which double with each."""
_CLIMBS = 12
"""Steps uphill from each beginning; a climb ends sooner where no corner beside it is worse."""
_FLIPPED = 12
"""Up to so many private values each is turned around once more at the end."""
_DIGITS = 9
"""Digits of a cost that count when costs are compared: sums of floats in another order differ in later ones."""
_MERGED = 64
"""Regions of one output are joined where they are at most so many: joining asks a solver about each of them."""
_FEW = 40
"""At larger sizes all ways are followed only if there are at most so many."""
_LONG = 20
"""Beyond this size a word changes its letter in the middle or at the end only."""


@dataclass(frozen=True)
class Region:
    """One way through the mechanism, with the data left open.

    Attributes:
        word: the pattern of its outputs.
        noises: the laws of its noise.
        tests: the forms that are not negative on it.
        released: the noisy numbers among its outputs.
        draws: the discrete noise on the way.
    """

    word: Any
    noises: tuple[ScriptedDraw, ...]
    tests: tuple[Linear, ...]
    released: tuple[Linear, ...]
    draws: tuple[Draw, ...] = ()


@dataclass(frozen=True)
class WorstPath:
    """A region, a corner of the neighbours, and the least cost of a shift there, infinite if there is none."""

    region: Region
    corner: Mapping[str, Fraction]
    cost: float
    shifts: tuple[float, ...] = ()


def open_names(name: str, declared: Input, size: int | None) -> list[str]:
    """The names of the numbers of an input."""
    return [name] if declared.shape == "value" else [f"{name}[{i}]" for i in range(declared.size or size or 0)]


def private_names(mechanism: Mechanism, size: int | None) -> list[str]:
    """The names of the private numbers."""
    inputs = mechanism.inputs.items()
    return [n for name, declared in inputs if not declared.public for n in open_names(name, declared, size)]


def atoms(mechanism: Mechanism, size: int | None, public: Mapping[str, object]) -> dict[str, object]:
    """Arguments with a symbol for every private and every real public number; other public inputs have their value."""
    arguments: dict[str, object] = {}
    for name, declared in mechanism.inputs.items():
        if declared.public and not declared.real:
            some = [declared.values[0] if declared.values else 0]
            arguments[name] = public[name] if declared.shape == "value" else some * (declared.size or size or 0)
            continue
        forms = [Linear.atom(n) for n in open_names(name, declared, size)]
        arguments[name] = forms[0] if declared.shape == "value" else forms
    return arguments


def regions(
    mechanism: Mechanism,
    size: int | None,
    public: Mapping[str, object],
    pause: Callable[[], None] = lambda: None,
    follow: Any = None,
    most: int = 4_000,
) -> list[Region]:
    """All ways through the mechanism at a size."""
    listed = leaves(mechanism, atoms(mechanism, size, public), pause=pause, follow=follow, most=most)
    return merge_regions([region(leaf) for leaf in listed if leaf.complete])


def merge_regions(found: Sequence[Region]) -> list[Region]:
    """Regions of one output whose union is again given by comparisons, as one.

    The comparisons that all regions of an output imply hold on their union; where they imply in turn that some region holds, they are the
    union.  Noisy max needs it: how the losers were ordered shows in no output.
    """
    groups: dict[str, list[dict[str, Linear]]] = {}
    some: dict[str, Region] = {}
    for one in found:
        name = f"{key(one.word)} {one.released} {one.noises} {one.draws}"
        groups.setdefault(name, []).append({repr(form): form for form in one.tests})
        some.setdefault(name, one)
    result = []
    for name, members in groups.items():
        if 1 < len(members) <= _MERGED:
            members = _joined(members, some[name].noises)
        result += [replace(some[name], tests=tuple(forms.values())) for forms in members]
    return result


def _joined(members: list[dict[str, Linear]], noises: Sequence[ScriptedDraw]) -> list[dict[str, Linear]]:
    """The regions as one, if their union is given by comparisons that occur in them; otherwise as they are."""
    known: dict[str, Linear] = {}
    for member in members:
        known.update(member)
    terms = {name: _term(form) >= 0 for name, form in known.items()}
    support = [z3.Real(str(j)) >= 0 for j, noise in enumerate(noises) if noise.kind == "exponential"]

    def never(*conditions: Any) -> bool:
        solver = z3.SolverFor("QF_LRA")
        solver.add(*support, *conditions)
        return bool(ask_solver(solver) == z3.unsat)

    shared = dict(known)
    for member in members:
        own = [terms[name] for name in member]
        shared = {n: f for n, f in shared.items() if n in member or never(*own, z3.Not(terms[n]))}
    outside = [z3.Not(z3.And(*(terms[name] for name in member))) for member in members]
    return [shared] if never(*(terms[name] for name in shared), *outside) else members


def _term(form: Linear) -> Any:
    total = z3.RealVal(str(form.constant))
    for atom, factor in form.terms.items():
        total = total + z3.RealVal(str(factor)) * z3.Real(str(atom))
    return total


def long_regions(mechanism: Mechanism, size: int, public: Mapping[str, object], monitor: Monitor) -> list[Region]:
    """Ways through the mechanism at a larger size: all of them where they are few, otherwise those that change their letter once."""
    if not mechanism.generator:
        try:
            return regions(mechanism, size, public, monitor.pause, most=_FEW)
        except LanguageError as problem:
            if problem.code != "paths":
                raise
            return []
    letters: dict[str, object] = {}
    for region in regions(mechanism, min(2, size), public, monitor.pause):
        if isinstance(region.word, list):
            for letter in region.word:
                letters.setdefault(key(letter), letter)
    found: dict[str, Region] = {}
    for first in letters.values():
        for second in letters.values():
            counts = {size // 2, size - 1} if size > _LONG else {0, 1, size // 2, size - 2, size - 1, size}
            for count in sorted(counts & set(range(size + 1))):
                pattern = [first] * count + [second] * (size - count)
                for region in regions(mechanism, size, public, monitor.pause, follow=_prefix(pattern)):
                    found.setdefault(key(region.word), region)
    return list(found.values())


def _prefix(pattern: Sequence[object]) -> Any:
    def follow(written: Sequence[object]) -> bool:
        return len(written) <= len(pattern) and key(word(written[-1])) == key(pattern[len(written) - 1])

    return follow


def region(leaf: BranchLeaf) -> Region:
    """A leaf as a region."""
    released = tuple(form for form in _forms(leaf.output))
    draws = tuple(step for step in leaf.steps if isinstance(step, Draw))
    return Region(word(leaf.output), leaf.noises, tuple(test.halfspace for test in leaf.tests), released, draws)


def _forms(output: object) -> Iterator[Linear]:
    form = shown_form(output)
    if form is not None:
        yield form
    elif isinstance(output, list | tuple):
        for part in output:
            yield from _forms(part)


def corners(mechanism: Mechanism, relation: str, names: Sequence[str]) -> Iterator[dict[str, Fraction]]:
    """The corners of the set of neighbours; within the norm l2, which has none, some data at its edge."""
    within = [_within(mechanism.inputs[name.partition("[")[0]]) for name in names]
    zero = dict.fromkeys(names, Fraction(0))
    if relation == "l2":
        yield from _at_the_edge(names, within[0] if within else Fraction(0))
    elif relation in ("one", "l1"):
        for name, bound in zip(names, within, strict=True):
            for sign in (1, -1):
                yield {**zero, name: sign * bound}
    elif relation == "monotone":
        for sign in (1, -1):
            for chosen in product((1, 0), repeat=len(names)):
                if any(chosen):
                    yield {n: sign * c * b for n, c, b in zip(names, chosen, within, strict=True)}
    else:
        for chosen in product((1, -1), repeat=len(names)):
            yield {n: c * b for n, c, b in zip(names, chosen, within, strict=True)}


def _at_the_edge(names: Sequence[str], within: Fraction) -> Iterator[dict[str, Fraction]]:
    """Changes of all values alike, in a few patterns of signs, and of one alone, whose squares come to at most that of a sensitivity."""
    count = len(names)
    if count > 1:
        part = root_part(count)
        signs = product((1, -1), repeat=count) if count <= _ALL_SIGNS else _few_signs(count)
        for chosen in signs:
            yield {n: sign * part * within for n, sign in zip(names, chosen, strict=True)}
    zero = dict.fromkeys(names, Fraction(0))
    for name in names[:_ALL_SIGNS]:
        for sign in (1, -1):
            yield {**zero, name: sign * within}


def _few_signs(count: int) -> list[tuple[int, ...]]:
    """All up, all down, in turn, and one half against the other."""
    half = count // 2
    turns = tuple((-1) ** k for k in range(count))
    return [(1,) * count, (-1,) * count, turns, (1,) * half + (-1,) * (count - half)]


def _within(declared: Input) -> Fraction:
    assert declared.within is not None
    return fraction(declared.within)


class LinearProgram:
    """The linear program of a region, for any corner."""

    def __init__(self, region: Region, names: Sequence[str]) -> None:
        self.region, self.names = region, names
        count = len(region.noises)
        rows, data = _matrix(region.tests, count, names)
        equal, moved = _matrix(region.released, count, names)
        self.data, self.moved = data, moved
        weights = [-log(float(n.scale)) if n.kind == "geometric" else float(1 / n.scale) for n in region.noises]
        never_down = [n.kind in ("exponential", "gumbel") for n in region.noises]
        self.program = LeastShifts(weights, rows, equal, never_down)

    def solve(self, corner: Mapping[str, Fraction]) -> tuple[float, tuple[float, ...]]:
        """The least cost at a corner and the shifts; infinite if nothing keeps the region."""
        cost, shifts, _ = self.slope(corner)
        return cost, shifts

    def slope(self, corner: Mapping[str, Fraction]) -> tuple[float, tuple[float, ...], Any]:
        """The same, and how the cost grows with each value of the data."""
        move = np.array([float(corner[name]) for name in self.names])
        try:
            found = self.program.solve(self.data @ move, self.moved @ move)
        except Lost:
            found = None  # nothing is known; what is looked for instead is verified
        if found is None:
            return np.inf, (), None
        cost, shifts, prices = found
        above = len(self.data)
        return cost, tuple(shifts), prices[:above] @ self.data - prices[above:] @ self.moved


def _matrix(forms: Sequence[Linear], count: int, names: Sequence[str]) -> tuple[Any, Any]:
    place = {name: i for i, name in enumerate(names)}
    rows, data = np.zeros((len(forms), count)), np.zeros((len(forms), len(names)))
    for i, form in enumerate(forms):
        for atom, factor in form.terms.items():
            if isinstance(atom, int):
                rows[i, atom] = float(factor)
            elif atom in place:
                data[i, place[atom]] = float(factor)
    return rows, data


def worst(
    mechanism: Mechanism,
    relation: str,
    found: Sequence[Region],
    names: Sequence[str],
    pause: Callable[[], None] = lambda: None,
) -> list[WorstPath]:
    """For every region its worst corner, the costliest first."""
    result: list[WorstPath] = []
    if not names:
        return result
    few = relation in ("one", *NORMS) or len(names) <= _ALL_CORNERS
    listed = list(corners(mechanism, relation, names)) if few else None
    for one in found:
        pause()
        program = LinearProgram(one, names)
        if listed is None:
            result.append(_climbed(mechanism, relation, program, names))
            continue
        result.append(max((WorstPath(one, corner, *program.solve(corner)) for corner in listed), key=_rank))
    return sorted(result, key=_rank, reverse=True)


def _rank(one: WorstPath) -> float:
    """The cost without the digits in which computations of one number differ: of equal costs the first counts, on every machine."""
    return round(one.cost, _DIGITS)


def _climbed(mechanism: Mechanism, relation: str, program: LinearProgram, names: Sequence[str]) -> WorstPath:
    """A corner from which the slope leads to no worse one; from a few beginnings."""
    within = {name: _within(mechanism.inputs[name.partition("[")[0]]) for name in names}
    letters = _letters(program.region.word, len(names))
    kinds = sorted(set(letters))
    starts = (
        [dict(zip(kinds, signs, strict=True)) for signs in product((1, -1), repeat=min(len(kinds), 3))]
        if len(kinds) <= 3
        else []
    )
    beginnings = [{n: s[letter] * within[n] for n, letter in zip(names, letters, strict=True)} for s in starts]
    beginnings = beginnings or [{n: s * within[n] for n in names} for s in (1, -1)]
    if relation == "monotone":
        halves = (max, min)
        beginnings = [{n: half(v, Fraction(0)) for n, v in b.items()} for half in halves for b in beginnings]
    best: WorstPath | None = None
    for corner in beginnings:
        for _ in range(_CLIMBS):
            if not any(corner.values()):
                break
            cost, shifts, slope = program.slope(corner)
            if best is not None and cost <= best.cost + 1e-12:
                break
            best = WorstPath(program.region, corner, cost, shifts)
            if slope is None:
                break
            corner = _steepest(relation, names, within, slope)
    assert best is not None
    if relation == "each" and len(names) <= _FLIPPED and not isinstance(program.region.word, list):
        for name in names:
            corner = {**best.corner, name: -best.corner[name]}
            cost, shifts = program.solve(corner)
            if cost > best.cost + 1e-12:
                best = WorstPath(program.region, corner, cost, shifts)
    return best


def _steepest(relation: str, names: Sequence[str], within: Mapping[str, Fraction], slope: Any) -> dict[str, Fraction]:
    """The corner at which a linear function is largest."""
    if relation == "monotone":
        sign = 1 if slope[slope > 0].sum() >= -slope[slope < 0].sum() else -1
        return {n: sign * within[n] if sign * g > 0 else Fraction(0) for n, g in zip(names, slope, strict=True)}
    return {n: within[n] if g > 0 else -within[n] for n, g in zip(names, slope, strict=True)}


def _letters(pattern: object, count: int) -> list[str]:
    """One letter of the output for every value, where the output is a list; the last one is repeated."""
    listed = [repr(part) for part in pattern] if isinstance(pattern, list) else []
    listed = listed[:count]
    return listed + [listed[-1] if listed else ""] * (count - len(listed))


def simplest(shift: float) -> Fraction:
    """The simple rational that a shift was found near."""
    return Fraction(shift).limit_denominator(_DENOMINATOR)


def verify_shift_cost(region: Region, corner: Mapping[str, Fraction], shifts: Sequence[float]) -> Fraction | None:
    """The exact cost of shifts, if they keep the region; the floats are rounded to simple rationals first.

    Not for geometric noise: its shifts are whole numbers, and their cost is no rational.
    """
    if any(noise.kind == "geometric" for noise in region.noises):
        return None
    exact = [simplest(shift) for shift in shifts]

    def moved(form: Linear) -> Fraction:
        total = Fraction(0)
        for atom, factor in form.terms.items():
            by = exact[atom] if isinstance(atom, int) else corner.get(atom, Fraction(0))
            total += fraction(factor) * by
        return total

    if any(moved(form) < 0 for form in region.tests) or any(moved(form) != 0 for form in region.released):
        return None
    if any(n.kind in ("exponential", "gumbel") and s < 0 for n, s in zip(region.noises, exact, strict=True)):
        return None
    scales: list[Rational] = [noise.scale for noise in region.noises]
    return sum((abs(s) / fraction(c) for s, c in zip(exact, scales, strict=True)), Fraction(0))
