"""What the leaves of a tree show: outcomes, the noisy numbers in them, and how far these are apart on two trees.

Leaves that show the same, with the same noise in it, around the same numbers are one *group*.  Two groups of two trees that differ in these
numbers alone are two laws of the same noise, moved: numbers with Gaussian noise by a distance mu with ``mu^2 = d S^-1 d`` (S their
covariance, d the difference of the means), integers with discrete Gaussian noise on a lattice of losses (`discrete_normal`), and each
other number with noise of its own by so many units of it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from flint import arb, fmpq_mat

from privproof.engines.integrals.discrete_normal import Lattice, lattice
from privproof.engines.integrals.integral_enclosures import FormCondition, probability
from privproof.engines.integrals.integration_grids import grid_probability
from privproof.engines.integrals.leaf_sums import geometric_probability
from privproof.engines.laplace.events import halfspace
from privproof.engines.runs.leaf_likelihoods import MovedNumber
from privproof.errors import LanguageError
from privproof.exact import ONE, ZERO, Rational, rational
from privproof.language.laws import TRUNCATED, WHOLE
from privproof.language.linear import Linear, Opaque
from privproof.language.trees import part_key

if TYPE_CHECKING:
    from privproof.language.scripts import Test
    from privproof.language.trees import TreeLeaf


@dataclass(frozen=True)
class Group:
    """Leaves that show the same, with the same noise in it, around the same numbers.

    Attributes:
        shape: what is shown.
        text: the same for readers.
        p: their probability.
        shown: the noisy numbers but for their constants: coefficients and laws; whether something was done to them.
        means: their constants.
        opaque: whether something was done to noisy numbers, or decided by it.
        weight: their probability as a fraction, where no test looked at open noise.
    """

    shape: str
    text: str
    p: arb
    shown: tuple[Any, ...]
    means: tuple[Rational, ...]
    opaque: bool
    weight: Rational | None

    def joined(self, other: Group) -> Group:
        """Both groups as one."""
        weight = None if self.weight is None or other.weight is None else self.weight + other.weight
        p = self.p + other.p if weight is None else arb(weight)
        return Group(self.shape, self.text, p, self.shown, self.means, self.opaque or other.opaque, weight)


def group_of(leaf: TreeLeaf) -> Group:
    """What a leaf shows, with its probability."""
    numbers, done = _numbers(leaf)
    own = {atom for form in numbers for atom in form.terms}
    if looked_at(leaf):
        raise LanguageError(
            "integral",
            f"a noisy number is shown that a test looked at before: {leaf.outcome.text}",
            hint="show a number with fresh noise",
        )
    order = {atom: k for k, atom in enumerate(sorted(own, key=str))}
    rows = tuple(tuple((order[a], f) for a, f in sorted(form.terms.items(), key=str)) for form in numbers)
    laws = tuple(leaf.noises[a].law for a in order)  # type: ignore[index]
    means = tuple(form.constant for form in numbers)
    weight = None if leaf.tests else leaf.weight
    shown = (rows, laws, done)
    return Group(
        leaf.outcome.shape, leaf.outcome.text, way_probability(leaf, leaf.tests), shown, means, bool(done), weight
    )


def looked_at(leaf: TreeLeaf) -> bool:
    """Whether a test looked at noise of a number that is shown, or that something was done to or decided by."""
    numbers, _ = _numbers(leaf)
    tested = {atom for test in leaf.tests for atom in test.form.terms}
    return any(tested & form.terms.keys() for form in numbers)


def _numbers(leaf: TreeLeaf) -> tuple[list[Linear], tuple[Any, ...]]:
    """The noisy numbers that an outcome shows or hides behind something, and what was done to them."""
    found: list[Linear] = []

    def visit(part: Any) -> Any:
        if isinstance(part, Linear):
            found.append(part)
            return len(found) - 1
        if isinstance(part, Opaque):
            return (part.operation, *(visit(each) for each in part.parts))
        return part_key(part)

    shown = [visit(part) for part in leaf.outcome.parts]
    guesses = [(visit(guess.condition), guess.outcome) for guess in leaf.guesses]
    done = tuple(each for each in (*shown, *guesses) if isinstance(each, tuple))
    return found, done


def way_probability(leaf: TreeLeaf, tests: Iterable[Test]) -> arb:
    """The probability of what is drawn on the way to a leaf and of some of its tests.

    Raises:
        LanguageError: noise is compared in ways for which there is no integral here.
    """
    forms = [test.halfspace for test in tests]
    whole = {j for j, noise in enumerate(leaf.noises) if noise.kind in WHOLE}
    mixed = [form for form in forms if 0 < len(whole & form.terms.keys()) < len(form.terms)]
    if mixed:
        raise LanguageError("noise", "integer and continuous noise are compared", hint="one kind of noise")
    integers = [form for form in forms if whole & form.terms.keys()]
    result = arb(leaf.weight)
    mentioned = {leaf.noises[atom].kind for form in integers for atom in form.terms}  # type: ignore[index]
    if "discrete_gaussian" in mentioned:
        result *= _on_grid(
            tuple((noise.kind, noise.scale) for noise in leaf.noises),
            tuple((tuple(sorted(form.terms.items(), key=str)), form.constant) for form in integers),
        )
    elif integers:
        geometric = [j for j, noise in enumerate(leaf.noises) if noise.kind == "geometric"]
        place = {j: k for k, j in enumerate(geometric)}
        moved = [halfspace(Linear({place[a]: f for a, f in e.terms.items()}, e.constant)) for e in integers]  # type: ignore[index]
        alphas = [leaf.noises[j].scale for j in geometric]
        result *= arb(rational(geometric_probability(alphas, moved, [False] * len(moved))))
    others = [form for form in forms if not whole & form.terms.keys()]
    tested = sorted({atom for form in others for atom in form.terms}, key=str)
    unknown = {leaf.noises[atom].kind for atom in tested} - {*CONTINUOUS, TRUNCATED}  # type: ignore[index]
    if unknown:
        raise LanguageError("integral", f"{min(unknown)} noise is compared", hint="show the number, and compare later")
    kinds = [noise.kind if noise.kind in CONTINUOUS else "gaussian" for noise in leaf.noises]
    for atom in tested:
        noise = leaf.noises[atom]  # type: ignore[index]
        if noise.kind == TRUNCATED:  # Laplace noise, given that it is within its bound
            [bound] = noise.more
            kinds[atom] = "laplace"  # type: ignore[index]
            others += [Linear({atom: ONE}, bound), Linear({atom: -ONE}, bound)]
            result /= -(-arb(bound / noise.scale)).expm1()
    return result * _continuous(
        tuple((kind, noise.scale) for kind, noise in zip(kinds, leaf.noises, strict=True)),
        tuple((tuple(sorted(form.terms.items(), key=str)), form.constant) for form in others),
    )


CONTINUOUS = ("gaussian", "laplace", "exponential")


@lru_cache(maxsize=4096)
def _on_grid(noises: tuple[Any, ...], forms: tuple[Any, ...]) -> arb:
    return grid_probability(noises, [(dict(terms), constant) for terms, constant in forms])


@lru_cache(maxsize=4096)
def _continuous(noises: tuple[Any, ...], forms: tuple[Any, ...]) -> arb:
    return probability(noises, [FormCondition(dict(terms), constant) for terms, constant in forms])


def group_leaves(leaves: Iterable[TreeLeaf]) -> list[Group]:
    """The groups of leaves of one shape.

    Raises:
        LanguageError: noise is compared in ways for which there is no integral here, or shown after it was compared.
    """
    found: list[Group] = []
    for leaf in leaves:
        made = group_of(leaf)
        for number, other in enumerate(found):
            if other.shown == made.shown and other.means == made.means:
                found[number] = other.joined(made)
                break
        else:
            found.append(made)
    return found


def groups_by_shape(tree: Sequence[TreeLeaf]) -> dict[str, list[Group]]:
    """The groups of a tree, by what is shown.

    Raises:
        LanguageError: as above.
    """
    leaves: dict[str, list[TreeLeaf]] = {}
    for leaf in tree:
        leaves.setdefault(leaf.outcome.shape, []).append(leaf)
    return {shape: group_leaves(listed) for shape, listed in leaves.items()}


@dataclass(frozen=True)
class Spread:
    """How far apart two laws of noisy numbers are.

    Attributes:
        square: the square of mu, for numbers with Gaussian noise.
        moves: the other numbers that are moved, each with noise of its own.
        lattice: the integers with discrete Gaussian noise that are moved by integers; None where none is.
        direction: the factors of the halfspaces on which they differ most, where these are halfspaces.
        variance: the variance along them; for one number with Laplace noise its scale; nothing on a lattice.
    """

    square: Rational
    moves: tuple[MovedNumber, ...]
    lattice: Lattice | None
    direction: tuple[Rational, ...]
    variance: Rational

    @property
    def stepped(self) -> bool:
        """Whether all of it is integers with discrete Gaussian noise."""
        return self.square == 0 and self.lattice is not None and not self.moves

    @property
    def alone(self) -> bool:
        """Whether all of it is one number with Laplace noise."""
        return self.square == 0 and self.lattice is None and [move.law[0] for move in self.moves] == ["laplace"]


def spread_of(shown: tuple[Any, ...], move: Sequence[Rational]) -> Spread | None:
    """The distance between numbers with the same noise around means that differ; None if no noise makes up for it."""
    rows, laws, _ = shown
    normal: list[int] = []
    moves: list[MovedNumber] = []
    whole: dict[int, tuple[Rational, int]] = {}
    used = [atom for row in rows for atom, _ in row]
    direction = [ZERO] * len(rows)
    variance = ZERO
    for number, (row, by) in enumerate(zip(rows, move, strict=True)):
        if {laws[atom][0] for atom, _ in row} <= {"gaussian"}:
            normal.append(number)
            continue
        if any(used.count(atom) > 1 for atom, _ in row):
            return None
        if by == 0:
            continue
        if len(row) > 1:
            return None
        atom, factor = row[0]
        if laws[atom][0] == "discrete_gaussian" and (by / factor).q == 1:
            whole[number] = laws[atom][1], int((by / factor).p)
            continue
        moves.append(MovedNumber(laws[atom], by / factor))
        direction[number] = Rational(1 if by > 0 else -1)
        variance = abs(factor) * laws[atom][1]
    square = ZERO
    if any(move[number] != 0 for number in normal):
        direction = [ZERO] * len(rows)
        shared = [number for number in normal if any(f for _, f in rows[number])]
        covariance = fmpq_mat(
            len(shared), len(shared), [_covariance(rows[i], rows[j], laws) for i in shared for j in shared]
        )
        if len(shared) < len(normal) or covariance.det() == 0:
            return None
        solved = covariance.solve(fmpq_mat(len(shared), 1, [move[number] for number in shared]))
        for k, number in enumerate(shared):
            direction[number] = solved[k, 0]
        square = sum((direction[number] * move[number] for number in shared), ZERO)
        variance = square
    steps = lattice(list(whole.values()))
    if steps is not None and square == 0:
        for number, (spread, way) in whole.items():
            direction[number] = way / spread / steps.unit / rows[number][0][1]
    return Spread(square, tuple(moves), steps, tuple(direction), variance)


def _covariance(one: Any, other: Any, laws: Sequence[Any]) -> Rational:
    second = dict(other)
    return sum((f * second[a] * laws[a][1] ** 2 for a, f in one if a in second), ZERO)
