"""Programs at one size that only show sums of data and Gaussian noise, ``A q + b + N z``: how far a change of the data moves them.

No test looks at data or noise, so there is one path.  A change d of the data is undone by a change S d of the noise with ``N S = A``, and
among all such S the one of least squares is ``S = V N' (N V N')^-1 A``, V being the variances of the noise z.  What d comes to in squares
is then ``d' G d`` with the *Gram matrix* ``G = A' (N V N')^-1 A``, and this is the exact squared distance of the two normal laws, in
standard deviations.  Its largest value over all neighbours is found for every relation by itself:

* within l2, s^2 times the largest eigenvalue of G;
* within l1, or where one entry changes, at an entry alone, since ``d' G d`` is convex: the largest ``s_i^2 G_ii``;
* where every entry changes by itself, at a corner of the box of changes, for the same reason.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product

import numpy as np
from flint import fmpq_mat

from privproof.compiling.register_states import DrawnRegister, RegisterForm, RegisterState
from privproof.compiling.registers import MOST_ROUNDS, OpenRun
from privproof.compiling.relational import Program, program_for_alignment
from privproof.compiling.rewriting import Unsupported
from privproof.errors import LanguageError
from privproof.exact import ONE, ZERO, Rational, fraction, rational
from privproof.language.mechanism import Mechanism
from privproof.language.syntax import Place, Sample

_MOST_CORNERS = 12
"""Entries up to which all corners are compared, 2^11 with one sign fixed; beyond, all products of changes are added up by their size."""
_MOST_SHOWN = 200
"""Numbers that are shown at most: exact matrices of that many rows take seconds."""
_GRID = 10**15
"""An eigenvalue that is no simple fraction is rounded up to a multiple of its inverse."""
_SIMPLE = 10_000
"""Denominators up to which an eigenvalue is tried as a fraction: it is one for most matrices that people write."""
_ROUNDING = Fraction(1, 10**13)
"""How far an eigenvalue that was computed in floats may be from a fraction that it is taken for."""
_FINE = 10**9
"""Changes along an eigenvector are rounded towards 0, to multiples of its inverse."""


@dataclass(frozen=True)
class LinearRelease:
    """What a program shows.

    Attributes:
        program: the program.
        entries: the names of the entries of the data that may change.
        reach: by how much each may change.
        shifts: by how much each noise moves with each entry, S.
        gram: what changes come to in squares, G.
        shown: how many numbers are shown.
    """

    program: Program
    entries: tuple[str, ...]
    reach: tuple[Fraction, ...]
    shifts: tuple[tuple[Rational, ...], ...]
    gram: tuple[tuple[Fraction, ...], ...]
    shown: int


def linear_release(mechanism: Mechanism, size: int | None) -> LinearRelease:
    """Run a mechanism at a size with its data and its noise left open.

    Raises:
        Unsupported: something else is shown, or a test looks at data or noise; the message says what and where.
        LanguageError: it is outside the class.
    """
    program = program_for_alignment(mechanism, size=size, convert=False)
    if program.kept:
        raise Unsupported(f"a list is kept, {mechanism.place}")
    run = _Showing(program)
    rows = [part for parts in run.end().written for part in parts if isinstance(part, RegisterForm) and part.terms]
    if len(rows) > _MOST_SHOWN:
        raise Unsupported(f"more than {_MOST_SHOWN} numbers are shown, {mechanism.place}")
    reach = tuple(_reach(mechanism, name) for name in run.entries)
    shifts, gram = _least_squares(rows, run.noises, run.entries)
    return LinearRelease(program, tuple(run.entries), reach, shifts, gram, len(rows))


class _Showing(OpenRun):
    """Runs a program whose outputs are sums of data and Gaussian noise."""

    public_numbers = True

    def end(self) -> RegisterState:
        """How the run ends: in one way, because no test has two."""
        state = self.start
        for _ in range(MOST_ROUNDS):
            [state] = self.until_cut(state)
            if state.at < 0:
                return state
        raise Unsupported(f"a loop does not end within {MOST_ROUNDS} rounds, {self.mechanism.place}")

    def in_registers(self, state: RegisterState) -> Iterator[RegisterState]:
        """The state as it is: no noisy value is compared."""
        yield state

    def output(self, shown: object, place: Place) -> object:
        """A part of an output as it is."""
        return shown

    def ordered(self, names: Sequence[str], place: Place, state: RegisterState) -> Iterator[tuple[RegisterState, int]]:
        """No comparison of noisy numbers."""
        raise Unsupported(f"a test on noisy numbers, {place}")

    def sampled(self, sample: Sample, state: RegisterState) -> Iterator[RegisterState]:
        """The state after a draw: noise around 0 is added to the center, whatever that is."""
        if sample.noise != "gaussian":
            raise Unsupported(f"{sample.noise} noise, {sample.place}")
        scale = self.program.scale(sample)
        if scale.names:
            raise Unsupported(f"a scale that depends on {', '.join(scale.names)}, {sample.place}")
        for each, center in self.values(sample.arguments[0], state):
            if not isinstance(center, RegisterForm):
                raise Unsupported(f"noise around what is no number, {sample.place}")
            number = len(self.noises)
            self.noises.append(DrawnRegister((sample.site, number), sample.noise, scale.factor, RegisterForm(ZERO)))
            each.held[sample.name] = center.plus(RegisterForm(ZERO, ((number, ONE),)))
            each.at += 1
            yield each


def _reach(mechanism: Mechanism, entry: str) -> Fraction:
    within = mechanism.inputs[entry.partition("[")[0]].within
    if within is None:
        raise Unsupported(f"{entry} may change in any way")
    return fraction(within)


def _least_squares(
    rows: Sequence[RegisterForm], noises: Sequence[DrawnRegister], entries: Sequence[str]
) -> tuple[tuple[tuple[Rational, ...], ...], tuple[tuple[Fraction, ...], ...]]:
    """The shifts S and the Gram matrix G.

    Raises:
        Unsupported: something is shown of the data that no noise covers.
    """
    keys: list[int | str] = [*range(len(noises)), *entries]
    many, shown = len(noises), [[dict(row.terms).get(key, ZERO) for key in keys] for row in rows]
    reduced, rank = fmpq_mat(shown).rref() if shown else (fmpq_mat(0, len(keys)), 0)
    lines = [[reduced[i, j] for j in range(len(keys))] for i in range(rank)]
    if any(not any(line[:many]) for line in lines):
        raise Unsupported("something is shown of the data that no noise covers")
    if not lines:
        return ((ZERO,) * len(entries),) * many, ((Fraction(0),) * len(entries),) * len(entries)
    noise, data = fmpq_mat([line[:many] for line in lines]), fmpq_mat([line[many:] for line in lines])
    variances = fmpq_mat(many, many)
    for k, drawn in enumerate(noises):
        variances[k, k] = drawn.scale**2
    moved = variances * noise.transpose()
    solved = (noise * moved).solve(data)
    shifts, gram = moved * solved, data.transpose() * solved
    return (
        tuple(tuple(shifts[k, j] for j in range(len(entries))) for k in range(many)),
        tuple(tuple(fraction(gram[i, j]) for j in range(len(entries))) for i in range(len(entries))),
    )


def most_squares(release: LinearRelease) -> Fraction:
    """What a change of the data comes to in squares at most, as a rational that is never too small.

    Raises:
        Unsupported: neighbours are others than these.
    """
    gram, reach = release.gram, release.reach
    relation = release.program.relation
    if relation == "l2":
        return max(reach, default=Fraction(0)) ** 2 * _eigenvalue(gram)
    if relation in ("l1", "one"):
        return max((by**2 * gram[i][i] for i, by in enumerate(reach)), default=Fraction(0))
    if relation not in ("each", "monotone"):
        raise Unsupported(f"neighbours={relation!r}: lists of one length are compared")
    if len(reach) <= _MOST_CORNERS:
        return max(_squares(gram, reach, corner) for corner in _corners(relation, len(reach)))
    pairs = [(gram[i][j] * one * two) for i, one in enumerate(reach) for j, two in enumerate(reach)]
    return sum((abs(each) if relation == "each" else max(each, Fraction(0)) for each in pairs), Fraction(0))


def worst_change(release: LinearRelease) -> tuple[Fraction, ...] | None:
    """A change of the data at the edge of the relation that moves what is shown furthest, about; None where none is known."""
    gram, reach, relation = release.gram, release.reach, release.program.relation
    if not reach:
        return None
    if relation == "l2":
        _, vectors = np.linalg.eigh(np.array([[float(x) for x in row] for row in gram]))
        return tuple(by * Fraction(math.trunc(x * _FINE), _FINE) for by, x in zip(reach, vectors[:, -1], strict=True))
    if relation in ("l1", "one"):
        best = max(range(len(reach)), key=lambda i: reach[i] ** 2 * gram[i][i])
        return tuple(by if i == best else Fraction(0) for i, by in enumerate(reach))
    if relation in ("each", "monotone") and len(reach) <= _MOST_CORNERS:
        corner = max(_corners(relation, len(reach)), key=lambda corner: _squares(gram, reach, corner))
        return tuple(by * sign for by, sign in zip(reach, corner, strict=True))
    return None


def find_worst_change(mechanism: Mechanism, size: int | None) -> tuple[Fraction, ...] | None:
    """The change that tells apart best what a mechanism shows at a size; None where it shows something else than sums."""
    try:
        return worst_change(linear_release(mechanism, size))
    except (Unsupported, LanguageError):
        return None


def _corners(relation: str, count: int) -> Iterator[tuple[int, ...]]:
    """The corners of the box of changes, up to their sign."""
    values = (1, -1) if relation == "each" else (1, 0)
    return ((1, *rest) if relation == "each" else rest for rest in product(values, repeat=count - (relation == "each")))


def _squares(gram: Sequence[Sequence[Fraction]], reach: Sequence[Fraction], corner: Sequence[int]) -> Fraction:
    change = [by * sign for by, sign in zip(reach, corner, strict=True)]
    return sum(
        (x * sum(g * y for g, y in zip(row, change, strict=True)) for row, x in zip(gram, change, strict=True) if x),
        Fraction(0),
    )


def _eigenvalue(gram: Sequence[Sequence[Fraction]]) -> Fraction:
    """The largest eigenvalue, exactly where it is a simple fraction, otherwise rounded up a little."""
    if not any(any(row) for row in gram):
        return Fraction(0)
    about = float(np.linalg.eigvalsh(np.array([[float(x) for x in row] for row in gram]))[-1])
    simple = Fraction(about).limit_denominator(_SIMPLE)
    if abs(simple - Fraction(about)) <= simple * _ROUNDING and bounds_form(gram, simple):
        return simple
    rounded, step = Fraction(math.ceil(Fraction(about) * _GRID), _GRID), Fraction(1, _GRID)
    while not bounds_form(gram, rounded + step):
        step *= 4
    return rounded + step


def bounds_form(gram: Sequence[Sequence[Fraction]], most: Fraction) -> bool:
    """Whether ``most I - G`` is positive semidefinite, by elimination.

    >>> two = [[Fraction(2), Fraction(1)], [Fraction(1), Fraction(2)]]
    >>> bounds_form(two, Fraction(3)), bounds_form(two, Fraction(299, 100))
    (True, False)
    """
    count = len(gram)
    left = [[rational(most if i == j else 0) - rational(gram[i][j]) for j in range(count)] for i in range(count)]
    for k in range(count):
        pivot = left[k][k]
        if pivot < 0 or (pivot == 0 and any(left[k][j] != 0 for j in range(k, count))):
            return False
        for i in range(k + 1, count) if pivot else ():
            if left[i][k]:
                factor = left[i][k] / pivot
                for j in range(k + 1, count):
                    left[i][j] -= factor * left[k][j]
    return True
