"""Programs at one size that only show sums of data and Gaussian noise: one matrix of shifts, and what it comes to in squares.

The program is run once with data and noise left open, and no test looks at either.  So there is one path, on which the numbers ``A q + b
+ N z`` are shown, with independent normal z_k of variance v_k.  Let ``N S = A``.  Then the run on q + d shows with the noise ``z - S d``
what the run on q shows with z: shifts that depend on the data alone, so that the theorem of `alignment` holds with ``mu^2`` the largest
value over all neighbours of

    sum over k of (S d)_k^2 / v_k  =  d' G d,    G = S' V^-1 S.

It is at most m if, with ``|d_i| <= s_i`` and s the one sensitivity within a norm,

* l2: ``m I - s^2 G`` is positive semidefinite, which elimination shows in rationals;
* l1, or one entry: ``s_i^2 G_ii <= m`` for every i, since a convex function is largest at a corner of its polytope;
* each entry: the same at all corners of the box, of which one sign is free, or ``sum |G_ij| s_i s_j <= m``; where all changes go in one
  direction, the corners with 0 in the place of -1, or the sum of what is above 0.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product

from flint import arb

from privproof_checker.numbers import ONE, ZERO, Rational, epsilon
from privproof_checker.outcomes import Accepted, Limits, Shifts, refuse, within
from privproof_checker.plain_documents import a_list, a_number, only_members, text
from privproof_checker.programs.bundles import Here, Number, added_numbers
from privproof_checker.programs.gaussian import given_away
from privproof_checker.programs.instruction_kinds import EmitOutput, Program, Return, Sample
from privproof_checker.programs.program_inputs import NORMS, Affine, Declared
from privproof_checker.programs.registers import Unfolding

_MOST_CORNERS = 12
"""Entries up to which all corners of the box are compared; beyond, the products of all changes are added up by their sizes."""
_MOST_SHOWN = 500
"""Numbers that are shown, noises and entries at most; beyond, the evidence is refused."""

Matrix = list[list[Rational]]


class _Linear(Unfolding):
    """A program whose outputs are sums of data and Gaussian noise."""

    takes_public = True

    def __init__(self, program: Program) -> None:
        super().__init__(program)
        self.variances: list[Rational] = []
        self.rows: list[Number] = []

    def run(self) -> None:
        """Follow the one path, and note all numbers that are shown."""
        waiting = [self.start]
        while waiting:
            ways = [here for begun in waiting for here in self.followed(begun)]
            if len(ways) != 1:
                refuse("a test has two ways", "question.code")
            waiting = [here for here in ways if here.at >= 0]

    def on_marks(self, here: Here) -> Iterator[Here]:
        """No noisy number is compared, so that none needs a mark."""
        yield here

    def step(self, here: Here) -> Iterator[Here]:
        """The bundle after an instruction; an output may be computed from its parts, which are what is compared."""
        match self.program.code[here.at]:
            case EmitOutput(parts) | Return(parts) as last:
                for each, values in self.several(parts, here):
                    self.rows += [value for value in values if isinstance(value, tuple) and value[1]]
                    within(len(self.rows), _MOST_SHOWN, "numbers that are shown", "question.code")
                    yield each.again(at=-1 if isinstance(last, Return) else here.at + 1)
            case _:
                yield from super().step(here)

    def sampled(self, sample: Sample, center: Number, here: Here) -> Here:
        """Noise around 0, added to its center."""
        if sample.kind != "gaussian":
            refuse("only normal noise is shifted by a matrix", f"question.code[{here.at}]")
        noise: Number = (ZERO, ((f"~{len(self.variances)}", ONE),))
        self.variances.append(sample.factor**2)
        within(len(self.variances), _MOST_SHOWN, "noises", "question.code")
        return here.again(held={**here.held, sample.name: added_numbers(center, noise)}, at=here.at + 1)

    def signs(self, expression: object, here: Here) -> Iterator[tuple[Here, int]]:
        """No test on noisy numbers."""
        refuse("a test on noisy numbers", f"question.code[{here.at}]")


def proved_by_matrix(program: Program, evidence: dict[str, object], limits: Limits) -> Accepted:
    """Check that shifts of all noise by one matrix prove the claim."""
    only_members(evidence, ("method", "shifts", "squares"), "evidence")
    declared = program.declared
    run = _Linear(program)
    run.run()
    within(len(run.entries), _MOST_SHOWN, "entries", "question.size")
    shifts = _read_shifts(evidence.get("shifts"), len(run.variances), len(run.entries), limits)
    for row in run.rows:
        terms = dict(row[1])
        for j, entry in enumerate(run.entries):
            moved = sum((f * shifts[int(name[1:])][j] for name, f in row[1] if name[0] == "~"), ZERO)
            if moved != terms.get(entry, ZERO):
                refuse("the shifts do not make up for a change of the data", "evidence.shifts")
    squares = a_number(evidence.get("squares"), "evidence.squares", limits)
    gram = [
        [
            sum((line[i] * line[j] / v for line, v in zip(shifts, run.variances, strict=True) if line[i]), ZERO)
            for j in range(len(run.entries))
        ]
        for i in range(len(run.entries))
    ]
    reach = [_reach(declared, entry) for entry in run.entries]
    if not _is_bounded(gram, reach, declared.relation, squares):
        refuse(f"a change of the data may come to more than {text(squares)} in squares", "evidence.squares")
    given_away(Affine(squares, {}), Affine(ONE, {}), arb(0), Affine(ZERO, {}), ONE, declared, None)
    return Accepted(
        "proved",
        f"every set of outputs is at most e^epsilon times as likely, plus delta = {str(declared.given)[:200]}, under any neighbouring "
        f"inputs, with {declared.claimed}; neighbours differ as in {declared.relation!r}",
        {"method": "matrix", "shown": len(run.rows), "squares": text(squares)},
        shifts=Shifts(epsilon(0), Affine(squares, {})),
    )


def _read_shifts(value: object, noises: int, entries: int, limits: Limits) -> Matrix:
    lines = [a_list(line, f"evidence.shifts[{k}]") for k, line in enumerate(a_list(value, "evidence.shifts"))]
    if len(lines) != noises or any(len(line) != entries for line in lines):
        refuse(f"expected a shift of each of {noises} noises for each of {entries} entries", "evidence.shifts")
    return [[a_number(x, f"evidence.shifts[{k}]", limits) for x in line] for k, line in enumerate(lines)]


def _reach(declared: Declared, entry: str) -> Rational:
    """By how much an entry may change."""
    found = declared.inputs[entry.partition("[")[0]]
    if not found.numeric or found.within is None:
        refuse("an entry is no number that changes by a distance at most", f"question.inputs.{found.name}")
    return found.within


def _is_bounded(gram: Matrix, reach: Sequence[Rational], relation: str, most: Rational) -> bool:
    """Whether ``d' G d <= most`` for all changes d between neighbours."""
    count = range(len(reach))
    scaled = [[gram[i][j] * reach[i] * reach[j] for j in count] for i in count]
    if relation == "l2":
        return _semidefinite([[(most if i == j else ZERO) - scaled[i][j] for j in count] for i in count])
    if relation in ("one", *NORMS):
        return most >= 0 and all(scaled[i][i] <= most for i in count)
    if relation not in ("each", "monotone"):
        refuse("neighbours have lists of one length", "question.relation")
    if len(reach) > _MOST_CORNERS:
        parts = (abs(x) if relation == "each" else max(x, ZERO) for row in scaled for x in row)
        return sum(parts, ZERO) <= most
    signs = (ONE, -ONE) if relation == "each" else (ONE, ZERO)
    for corner in product(signs, repeat=len(reach)):
        if sum((corner[i] * scaled[i][j] * corner[j] for i in count for j in count if corner[i] != 0), ZERO) > most:
            return False
        if relation == "each" and corner and corner[0] < 0:
            break  # the other half has all signs changed
    return most >= 0


def _semidefinite(rows: Matrix) -> bool:
    """Whether a symmetric matrix is positive semidefinite: all pivots of its elimination are, and rows of a pivot 0 are 0."""
    rest = [list(row) for row in rows]
    while rest:
        first = rest[0]
        pivot = first[0]
        if pivot < 0 or (pivot == 0 and any(x != 0 for x in first)):
            return False
        rest = [
            [x - (row[0] / pivot * y if pivot != 0 else ZERO) for x, y in zip(row[1:], first[1:], strict=True)]
            for row in rest[1:]
        ]
    return True
