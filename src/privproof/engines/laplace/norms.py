"""Neighbours within a norm: how far all entries of a list change together, along a run.

Of a list whose changes are within a norm, two things are kept besides the state: how many entries are *passed*, and what is *spent* of the
norm by those that were read: the sum of ``|d|`` (l1) or of ``d^2`` (l2) over them.  An entry that is not passed yet adds its change when
it is read, and is passed then, together with all before it; one that is passed adds nothing.  So no entry is counted twice, and what is
spent is at most the sensitivity, or its square.

Squares are no linear functions of changes, so each has a symbol of its own.  A shift s of Gaussian noise with ``|s| <= sum k_r |d_r|`` over
entries r read before costs ``s^2 <= (sum k_r^2) (sum d_r^2)``, by Cauchy and Schwarz: linear in these symbols.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from privproof.engines.laplace.alignments import CONSTANT, Shift, shift_term
from privproof.engines.laplace.blocks import Blocks
from privproof.engines.laplace.paths import DrawnNoise, Path
from privproof.engines.laplace.solver import ask_solver, z3
from privproof.engines.laplace.values import Term, number, real, size_of

_EFFORT = 400_000
"""Z3's resource limit of one question; a shift that is not bounded by then is counted by its reach."""
_TRIED = 6
"""Multiples of changes that are tried where a shift is no sum of them: each is a question to the solver."""


def spread(blocks: Blocks, path: Path, drawn: DrawnNoise, shift: Shift) -> tuple[tuple[int, Fraction], ...]:
    """Entries read before a draw of Gaussian noise, each with the multiple of its change, that bound a shift together.

    Empty where the squares of changes are not known, or the shift is no sum of changes.
    """
    reads = {r: read for r, read in enumerate(path.reads[: drawn.reads]) if read.square is not None and not read.hidden}
    if not drawn.settled or not reads or shift.factors.get(CONSTANT) or not any(shift.factors.values()):
        return ()
    moved = shift_term(shift, path, drawn)
    held = _symbols(moved)
    named = {r: read.distance for r, read in reads.items() if read.distance.get_id() in held}
    if not named:
        return ()
    for factors in _multiples(moved, named):
        if _bounds(blocks, path, moved, {r: (named[r], factor) for r, factor in factors.items()}):
            return tuple(sorted((r, factor) for r, factor in factors.items() if factor))
    return ()


def _multiples(moved: Term, named: dict[int, Term]) -> Iterator[dict[int, Fraction]]:
    """Multiples of changes that may bound a shift: its own where it is a sum of them, else numbers that it speaks of, the least first."""
    still = [(distance, z3.RealVal(0)) for distance in named.values()]
    exact: dict[int, Fraction] = {}
    for r, distance in named.items():
        alone = [(other, z3.RealVal(int(other.eq(distance)))) for other in named.values()]
        factor = z3.simplify(z3.substitute(moved, *alone) - z3.substitute(moved, *still))
        if z3.is_rational_value(factor):
            exact[r] = abs(Fraction(str(factor)))
    if len(exact) == len(named):
        yield exact
        return
    for factor in sorted({Fraction(1), *_numerals(moved)} - {Fraction(0)})[:_TRIED]:
        yield dict.fromkeys(named, factor)


def square_bound(path: Path, entries: tuple[tuple[int, Fraction], ...]) -> Term:
    """What the square of a shift is at most that such entries bound."""
    total = z3.Sum([path.reads[r].square for r, _ in entries])
    return number(sum((factor**2 for _, factor in entries), Fraction(0))) * total


def _bounds(blocks: Blocks, path: Path, moved: Term, entries: dict[int, tuple[Term, Fraction]]) -> bool:
    """Whether changes bound a shift wherever the path is taken."""
    solver = z3.SolverFor("QF_LIRA")
    solver.set("rlimit", _EFFORT)
    most = z3.Sum([number(factor) * size_of(distance) for distance, factor in entries.values()])
    solver.add(blocks.facts, path.condition, size_of(real(moved)) > most)
    return bool(ask_solver(solver) == z3.unsat)


def _symbols(term: Term) -> set[int]:
    """The symbols in a term, by their numbers."""
    return {each.get_id() for each in _parts(term) if z3.is_const(each)}


def _numerals(term: Term) -> set[Fraction]:
    """The sizes of the numbers in a term."""
    return {abs(Fraction(str(each))) for each in _parts(term) if z3.is_rational_value(each)}


def _parts(term: Term) -> Iterator[Term]:
    waiting = [term]
    while waiting:
        each = waiting.pop()
        yield each
        waiting.extend(each.children())
