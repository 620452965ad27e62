"""Alignments of two trees of runs: every way through the first is moved, by a shift of its noise, into a way through the second.

Let l be a leaf of the first tree and l' one of the second that shows the same.  A shift s with

* every noisy number that is shown, and everything opaque that was looked at, equal: ``f'(x + s) = f(x)``,
* every test on the way to l' implied by the tests on the way to l: ``f'(x + s) = sum of q_k f_k(x) + c`` with q, c >= 0,

moves l into l' and changes no output.  The density of the noise at ``x`` is at most ``e^cost`` times that at ``x + s``.  If different
leaves are moved into different leaves, every event has at most ``e^(largest cost)`` times its probability on the other side.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from privproof.engines.runs.least_shift_cost import least
from privproof.exact import ONE, ZERO, Epsilon, Rational, rational
from privproof.language.linear import Linear, Opaque
from privproof.language.trees import part_key

if TYPE_CHECKING:
    from privproof.language.scripts import ScriptedDraw
    from privproof.language.trees import TreeLeaf

_MOST_MATCHED = 40
"""Leaves that show the same and are matched in every way; with more of them each is moved to the one in its own place."""


@dataclass(frozen=True)
class Moved:
    """A leaf of the first tree and where it goes.

    Attributes:
        target: the number of the leaf of the second tree; None where no noise leads to the first leaf.
        shift: by how much every noise is moved.
        factors: for every test of the target how it follows: the factor of each test of the leaf.
        cost: what the move costs.
    """

    target: int | None
    shift: tuple[Rational, ...]
    factors: tuple[Mapping[int, Rational], ...]
    cost: Epsilon


def conditions(leaf: TreeLeaf) -> list[Linear]:
    """The forms that are at least zero on the way to a leaf: its tests, and exponential noise."""
    found = [test.halfspace for test in leaf.tests]
    return found + [Linear.atom(j) for j, noise in enumerate(leaf.noises) if noise.kind == "exponential"]


class Aligner:
    """Moves leaves to leaves; the same problem is solved once.

    Args:
        trees: the trees, by data set.
        places: for every data set a number; two that have the same one have equal trees.
    """

    def __init__(self, trees: Sequence[Sequence[TreeLeaf]], places: Sequence[int]) -> None:
        self.trees, self.places = trees, places
        self.aligned: dict[tuple[int, int], tuple[Moved, ...] | None] = {}
        self.known: dict[tuple[int, int], Moved | None] = {}
        self.problems: dict[Any, int] = {}
        self.numbers: dict[int, int] = {}

    def alignment(self, left: int, right: int) -> tuple[Moved, ...] | None:
        """Where all leaves of the first tree go, at the least largest cost that is found; None if some cannot be moved."""
        pair = self.places[left], self.places[right]
        if pair not in self.aligned:
            self.aligned[pair] = self._alignment(self.trees[left], self.trees[right])
        return self.aligned[pair]

    def _alignment(self, left: Sequence[TreeLeaf], right: Sequence[TreeLeaf]) -> tuple[Moved, ...] | None:
        groups: dict[str, list[int]] = {}
        for number, leaf in enumerate(right):
            groups.setdefault(leaf.outcome.shape, []).append(number)
        result: dict[int, Moved] = {}
        for shape, numbers in _group_by_shape(left).items():
            found = self._group([(i, left[i]) for i in numbers], [(j, right[j]) for j in groups.get(shape, ())])
            if found is None:
                return None
            result.update(found)
        return tuple(result[i] for i in range(len(left)))

    def _group(
        self, left: Sequence[tuple[int, TreeLeaf]], right: Sequence[tuple[int, TreeLeaf]]
    ) -> dict[int, Moved] | None:
        """Leaves that show the same, each moved to another one."""
        if len(left) == len(right) > _MOST_MATCHED:
            moved = {i: self.moved(leaf, j, other) for (i, leaf), (j, other) in zip(left, right, strict=True)}
            return None if any(each is None for each in moved.values()) else moved  # type: ignore[return-value]
        options: dict[int, list[Moved]] = {}
        for i, leaf in left:
            listed = [m for j, other in right if (m := self.moved(leaf, j, other)) is not None]
            if not listed:
                nowhere = _impossible(leaf)
                if nowhere is None:
                    return None
                listed = [nowhere]
            options[i] = listed
        costs = sorted({str(m.cost): m.cost for listed in options.values() for m in listed}.values(), key=_size)
        for bound in costs:
            within = {i: [m for m in listed if m.cost.compare(bound) <= 0] for i, listed in options.items()}
            matched = _match_leaves(within)
            if matched is not None:
                return matched
        return None

    def moved(self, left: TreeLeaf, number: int, right: TreeLeaf) -> Moved | None:
        """The cheapest move of a leaf to another one; None if there is none."""
        key = (self._problem(left), self._problem(right))
        if key not in self.known:
            self.known[key] = _cheapest(left, right)
        found = self.known[key]
        return None if found is None else Moved(number, found.shift, found.factors, found.cost)

    def _problem(self, leaf: TreeLeaf) -> int:
        """The number of all that matters about a leaf; the trees keep the leaves, so one is known by where it is."""
        if id(leaf) not in self.numbers:
            self.numbers[id(leaf)] = self.problems.setdefault(_problem_key(leaf), len(self.problems))
        return self.numbers[id(leaf)]


def _group_by_shape(leaves: Sequence[TreeLeaf]) -> dict[str, list[int]]:
    groups: dict[str, list[int]] = {}
    for number, leaf in enumerate(leaves):
        groups.setdefault(leaf.outcome.shape, []).append(number)
    return groups


def _problem_key(leaf: TreeLeaf) -> Any:
    return (
        leaf.noises,
        str(leaf.weight),
        tuple(part_key(form) for form in conditions(leaf)),
        tuple((part_key(g.condition), g.outcome) for g in leaf.guesses),
        tuple(part_key(part) for part in leaf.outcome.parts),
    )


def _size(value: Epsilon) -> float:
    return float(value.ball().mid())


def _match_leaves(options: Mapping[int, Sequence[Moved]]) -> dict[int, Moved] | None:
    """To every leaf one of its moves, no two to the same target."""
    taken: dict[int, int] = {}
    chosen: dict[int, Moved] = {}

    def place(leaf: int, seen: set[int]) -> bool:
        for move in options[leaf]:
            if move.target is None:
                chosen[leaf] = move
                return True
            if move.target in seen:
                continue
            seen.add(move.target)
            if move.target not in taken or place(taken[move.target], seen):
                taken[move.target] = leaf
                chosen[leaf] = move
                return True
        return False

    return chosen if all(place(leaf, set()) for leaf in options) else None


def _cheapest(left: TreeLeaf, right: TreeLeaf) -> Moved | None:
    """The least costly shift that moves one leaf into another."""
    if [_law(n) for n in left.noises] != [_law(n) for n in right.noises] or len(left.guesses) != len(right.guesses):
        return None
    equations = list(_equations(left, right))
    if any(each is None for each in equations):
        return None
    noises = [j for j, noise in enumerate(left.noises) if noise.kind != "uniform"]
    above, below = conditions(left), conditions(right)
    # Variables: the shifts (up and down), the factors of each test of the target, and what is left over in each of them.
    up = {j: 2 * k for k, j in enumerate(noises)}
    start = 2 * len(noises)
    width = start + len(below) * (len(above) + 1)
    rows: list[list[Rational]] = []
    values: list[Rational] = []

    def add(entries: Mapping[int, Rational], value: Rational) -> None:
        row = [ZERO] * width
        for column, entry in entries.items():
            row[column] += entry
        rows.append(row)
        values.append(value)

    def shifted(form: Linear) -> dict[int, Rational]:
        found: dict[int, Rational] = {}
        for atom, factor in form.terms.items():
            found[up[atom]], found[up[atom] + 1] = factor, -factor  # type: ignore[index]
        return found

    for one, other in equations:  # type: ignore[misc]
        add(shifted(other), one.constant - other.constant)
    for k, form in enumerate(below):
        first = start + k * (len(above) + 1)
        for atom in noises:
            parts = {first + m: each.terms[atom] for m, each in enumerate(above) if atom in each.terms}
            if parts or atom in form.terms:
                add(parts, form.terms.get(atom, ZERO))
        entries = {column: -entry for column, entry in shifted(form).items()}
        entries |= {first + m: each.constant for m, each in enumerate(above)}
        entries[first + len(above)] = ONE
        add(entries, form.constant)
    costs = [ZERO] * width
    for j in noises:
        weight = _weight(left.noises[j])
        costs[up[j]] = weight
        costs[up[j] + 1] = -weight if left.noises[j].kind == "exponential" else weight
    found = least(costs, rows, values)
    if found is None:
        return None
    shift = [ZERO] * len(left.noises)
    for j in noises:
        shift[j] = found[up[j]] - found[up[j] + 1]
        if left.noises[j].kind == "geometric" and shift[j].q != 1:
            return None
    factors = []
    for k in range(len(below)):
        first = start + k * (len(above) + 1)
        factors.append({m: found[first + m] for m in range(len(above)) if found[first + m] != 0})
    return Moved(None, tuple(shift), tuple(factors), cost_of(left, right, shift))


def _impossible(leaf: TreeLeaf) -> Moved | None:
    """That no noise leads to a leaf: its tests contradict one another."""
    above = conditions(leaf)
    atoms = sorted({atom for form in above for atom in form.terms}, key=str)
    rows = [[form.terms.get(atom, ZERO) for form in above] for atom in atoms]
    rows.append([form.constant for form in above])
    found = least([ZERO] * len(above), rows, [*(ZERO for _ in atoms), -ONE]) if above else None
    if found is None:
        return None
    factors = ({m: value for m, value in enumerate(found) if value != 0},)
    return Moved(None, (), factors, Epsilon())


def _law(noise: ScriptedDraw) -> tuple[str, Rational]:
    return noise.kind, noise.scale


def _weight(noise: ScriptedDraw) -> Rational:
    """What one step of a shift costs, near enough to look for a cheap one."""
    if noise.kind == "geometric":
        return rational(Fraction(float(Epsilon(ratio=1 / noise.scale).ball().mid())))
    return 1 / noise.scale


def cost_of(left: TreeLeaf, right: TreeLeaf, shift: Sequence[Rational]) -> Epsilon:
    """What a shift costs, exactly."""
    ratio, total = left.weight / right.weight, ZERO
    for noise, moved in zip(left.noises, shift, strict=True):
        if noise.kind == "geometric":
            ratio *= (1 / noise.scale) ** abs(int(moved.p))
        elif noise.kind == "exponential":
            total += moved / noise.scale
        elif noise.kind == "laplace":
            total += abs(moved) / noise.scale
    return Epsilon(ratio=ratio, shift=total)


def _equations(left: TreeLeaf, right: TreeLeaf) -> Iterator[tuple[Linear, Linear] | None]:
    """The forms that have to be equal; None where things are different that no shift can make equal."""
    for one, other in zip(left.outcome.parts, right.outcome.parts, strict=True):
        yield from _equal(one, other)
    for guess, same in zip(left.guesses, right.guesses, strict=True):
        if guess.outcome != same.outcome:
            yield None
            return
        yield from _equal(guess.condition, same.condition)


def _equal(one: Any, other: Any) -> Iterator[tuple[Linear, Linear] | None]:
    if isinstance(one, Linear) and isinstance(other, Linear):
        yield (one, other) if one.terms == other.terms else None
    elif isinstance(one, Opaque) and isinstance(other, Opaque):
        if one.operation != other.operation or len(one.parts) != len(other.parts):
            yield None
            return
        for a, b in zip(one.parts, other.parts, strict=True):
            yield from _equal(a, b)
    elif part_key(one) != part_key(other):
        yield None
