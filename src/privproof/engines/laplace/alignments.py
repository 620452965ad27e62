"""Alignments: by how much every noise is shifted in the second run.

A shift is a constant plus multiples of the distances of what is read on the path, of variables that are free of noise, and of the largest
of the other values of a selection, whose noise is never shifted.  It may depend on the path (the decisions that both runs share) and, where
the returned value is foretold, on that value; on nothing else.  The shift of Gaussian noise is *settled* when it is drawn: it depends
on the data and the decisions before, and on nothing that comes later or is foretold.  These are the side conditions of the soundness
theorem: on every piece of the first run's noise the alignment is a translation, or a shear along noise that stays where it is, and
different pieces have disjoint images, because the second run repeats decisions and output.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import product
from typing import Any, TypeAlias

from privproof.engines.laplace.blocks import Blocks
from privproof.engines.laplace.paths import DrawnNoise, Path
from privproof.engines.laplace.solver import true, z3
from privproof.engines.laplace.values import Term, number, real

Case: TypeAlias = tuple[tuple[Any, ...], ...]
"""A conjunction of ``("index", r, k, bool)``: the r-th read has the foretold index; ``("output", k, value, bool)``: the output is that;
``("up", bool)``: monotone neighbours go up."""

Feature: TypeAlias = "tuple[str, Any]"
"""``("constant", 0)``, ``("read", r)`` or ``("distance", variable)``."""

CONSTANT: Feature = ("constant", 0)


@dataclass(frozen=True)
class Shift:
    """A shift as multiples of features."""

    factors: Mapping[Feature, Fraction] = field(default_factory=dict)

    @property
    def constant(self) -> Fraction:
        """The constant part."""
        return self.factors.get(CONSTANT, Fraction(0))

    def reach(self, most: Fraction) -> Fraction:
        """A bound on its size: its own where it is a number, else the one that it was sought within."""
        moving = any(factor for feature, factor in self.factors.items() if feature != CONSTANT)
        return most if moving else abs(self.constant)


Where: TypeAlias = tuple[int, tuple[tuple[int, bool], ...], Case]
"""A path by its source and tests, and a case of it."""


@dataclass(frozen=True)
class Alignment:
    """A shift for every instruction that draws noise, by path and case; zero where nothing is said."""

    shifts: Mapping[tuple[Where, int], Shift]

    def shift(self, path: Path, case: Case, instruction: int) -> Shift:
        """The shift of an instruction on a path in a case."""
        return self.shifts.get(((path.source, path.tests, case), instruction), Shift())


def cases(blocks: Blocks, path: Path) -> tuple[Case, ...]:
    """How a path splits by what is foretold."""
    if not path.drawn:
        return ((),)
    atoms: list[list[Any]] = []
    if "up" in blocks.fixed:
        atoms.append([("up", True), ("up", False)])
    for k, sort in blocks.prophesied.items():
        if sort == "int":
            told = [r for r, read in enumerate(path.reads) if not read.hidden]
            atoms += [[("index", r, k, True), ("index", r, k, False)] for r in told]
        elif sort == "bool":
            atoms.append([("output", k, True, True), ("output", k, True, False)])
        else:
            values = list(blocks.program.tags)
            atoms.append([("output", k, v, True) for v in values])
    return tuple(tuple(combination) for combination in product(*atoms))


def told_before(case: Case, drawn: DrawnNoise, *, foretell: bool) -> Case:
    """What Gaussian noise is told when it is drawn: where the data go, and of what is foretold, indices of what was read before."""
    known = {"up", "output"} if foretell else {"up"}
    return tuple(a for a in case if a[0] in known or (foretell and a[0] == "index" and a[1] < drawn.reads))


def condition(blocks: Blocks, path: Path, case: Case) -> Term:
    """A case as a formula."""
    found = []
    for atom in case:
        match atom:
            case ("up", holds):
                test = blocks.fixed["up"]
            case ("index", r, k, holds):
                test = path.reads[r].index == blocks.fixed[f"output {k}"]
            case ("output", k, value, holds):
                output = blocks.fixed[f"output {k}"]
                if blocks.prophesied[k] == "bool":
                    test = output == z3.BoolVal(value)
                else:
                    test = output == blocks.program.tags[value]
        found.append(test if holds else z3.Not(test))
    return z3.And(*found) if found else true()


def features(path: Path, drawn: DrawnNoise) -> dict[Feature, Term]:
    """What the shift of a noise may be a multiple of; of geometric noise, whole numbers."""
    result: dict[Feature, Term] = {CONSTANT: z3.IntVal(1) if drawn.whole else z3.RealVal(1)}
    known = []
    for r, read in enumerate(path.reads):
        if read.hidden or (drawn.settled and r >= drawn.reads):
            continue
        if not drawn.whole or z3.is_int(read.distance):
            result[("read", r)] = read.distance if drawn.whole else real(read.distance)
        known.append(read.distance.sexpr())
    for name, distance in drawn.distances.items():
        term = z3.simplify(distance)
        if drawn.whole and not z3.is_int(term):
            continue
        if term.sexpr() in known or z3.is_rational_value(term) or z3.is_int_value(term):
            continue
        known.append(term.sexpr())
        result[("distance", name)] = distance if drawn.whole else real(distance)
    return result


def shift_term(shift: Shift, path: Path, drawn: DrawnNoise) -> Term:
    """A shift as a term."""
    terms = features(path, drawn)
    total = z3.IntVal(0) if drawn.whole else z3.RealVal(0)
    for feature, factor in shift.factors.items():
        if factor:
            term = terms.get(feature)
            if term is None:
                term = drawn.distances[feature[1]] if drawn.whole else real(drawn.distances[feature[1]])
            total = total + (z3.IntVal(int(factor)) if drawn.whole else number(factor)) * term
    return z3.simplify(total)
