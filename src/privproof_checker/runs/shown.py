"""What the leaves of a tree show, and how far apart the same things are on two trees.

Leaves are put together by what they show: the shape, the forms of the noisy numbers in it and of those that something was done to or
decided by, without their constants.  An observer who is also told these numbers sees no less.  What is shown is then, on either side, with
probability p (q) a vector ``B x + m`` (``B x + n``) of noises that no test looked at.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeAlias

from flint import arb, fmpq_mat

from privproof_checker.integrals.compared import whole_probability
from privproof_checker.integrals.normal_enclosures import KINDS, forest_probability
from privproof_checker.integrals.probabilities import Integrator
from privproof_checker.integrals.whole import Shifted
from privproof_checker.numbers import ONE, ZERO, Rational
from privproof_checker.outcomes import refuse
from privproof_checker.programs.open_trees import WHOLE, Done, Linear, Part
from privproof_checker.runs.moved import Moved
from privproof_checker.runs.run_leaves import Law, RunLeaf, Tree
from privproof_checker.runs.sums import likelihood

BITS = 128
"""The precision of balls: finer than that of what is claimed with balls, so that rounding refuses nothing."""


@dataclass
class Seen:
    """What is shown with some probability: numbers ``B x + m``.

    Attributes:
        probability: the probability.
        rows: the factors B, row by row.
        laws: the laws of x.
        constants: m.
        weight: the probability as a fraction, where no test looked at open noise.
        shape: what is shown besides.
        opaque: whether something was done to noisy numbers, or decided by it.
    """

    probability: arb
    rows: tuple[tuple[tuple[int, Rational], ...], ...]
    laws: tuple[Law, ...]
    constants: tuple[Rational, ...]
    weight: Rational | None
    shape: str
    opaque: bool


Observed: TypeAlias = dict[object, list[Seen]]
"""What a tree shows, by everything but constants."""


def observe_tree(tree: Tree, place: str) -> Observed:
    """What the leaves of a tree show, by shape, forms and laws."""
    found: Observed = {}
    for leaf in tree:
        forms: list[Linear] = []
        shown = tuple(_skeleton(part, forms) for part in leaf.parts)
        guessed = tuple((_skeleton(step.about, forms), step.outcome) for step in leaf.guesses)  # type: ignore[arg-type]
        mine = sorted({j for form in forms for j, _ in form.factors})
        if any(j in mine for form in leaf.conditions[: tests_of(leaf)] for j, _ in form.factors):
            refuse("a noisy number is shown that a test looked at", place)
        rows = tuple(tuple((mine.index(j), c) for j, c in form.factors) for form in forms)
        laws = tuple(leaf.noises[j] for j in mine)
        key = (leaf.shape, shown, guessed, rows, laws)
        constants = tuple(form.constant for form in forms)
        probability = probability_of(leaf, (), place)
        weight = None if tests_of(leaf) else leaf.weight
        opaque = bool(leaf.guesses) or any(isinstance(part, Done) for part in leaf.parts)
        for other in found.setdefault(key, []):
            if other.constants == constants:
                other.probability += probability
                other.weight = None if weight is None or other.weight is None else weight + other.weight
                break
        else:
            found[key].append(Seen(probability, rows, laws, constants, weight, leaf.shape, opaque))
    return found


def tests_of(leaf: RunLeaf) -> int:
    """How many tests are on the way to a leaf."""
    return sum(step.kind == "test" for step in leaf.steps)


def _skeleton(part: Part, forms: list[Linear]) -> object:
    """What was done to numbers, with the numbers themselves put aside."""
    if isinstance(part, Linear):
        forms.append(part)
        return len(forms) - 1
    if isinstance(part, Done):
        return (part.operation, tuple(_skeleton(each, forms) for each in part.parts))
    return part


def probability_of(leaf: RunLeaf, also: tuple[Linear, ...], place: str) -> arb:
    """The probability of the tests on the way to a leaf: integers are summed, the rest integrated."""
    tests = [*leaf.conditions[: tests_of(leaf)], *also]
    whole = [form for form in tests if any(leaf.noises[j][0] in WHOLE for j, _ in form.factors)]
    rest = [form for form in tests if form not in whole]
    result = arb(leaf.weight)
    compared = any(len(form.factors) > 1 for form in whole)
    if compared or any(leaf.noises[j][0] == "discrete_gaussian" for form in whole for j, _ in form.factors):
        if any(leaf.noises[j][0] not in WHOLE for form in whole for j, _ in form.factors):
            refuse("noise of two kinds is compared", place)
        result *= whole_probability(tuple(law[:2] for law in leaf.noises), tuple(whole), BITS)
    elif whole:
        alone = RunLeaf(leaf.noises, (), leaf.shape, ())
        result *= likelihood(alone, whole, Integrator(), place).ball(BITS)
    tested = {j for form in rest for j, _ in form.factors}
    laws = [law[:2] for law in leaf.noises]
    inequalities = [(dict(form.factors), form.constant) for form in rest]
    for j in sorted(tested):
        kind, scale, *more = leaf.noises[j]
        if kind == "truncated_laplace":  # Laplace noise, given that it is within its bound
            [bound] = more
            laws[j] = ("laplace", scale)
            inequalities += [({j: ONE}, bound), ({j: -ONE}, bound)]
            result /= -(-arb(bound / scale)).expm1()
        elif kind not in KINDS:
            refuse("noise of two kinds is compared", place)
    order = {j: k for k, j in enumerate(sorted(tested))}
    renamed = [({order[j]: c for j, c in factors.items()}, constant) for factors, constant in inequalities]
    return result * forest_probability([laws[j] for j in order], renamed, place)


def pair_observations(left: Observed, right: Observed) -> Iterator[tuple[Seen, Seen | None]]:
    """What the left tree shows, each with what stands in its place on the right; None where nothing does."""
    for key, mine in left.items():
        others = right.get(key, [])
        for number, seen in enumerate(mine):
            yield seen, others[number] if len(mine) == len(others) else None


def distance_between(mine: Seen, other: Seen) -> Apart | None:
    """How far apart the same thing is on two trees."""
    return apart(mine, [a - b for a, b in zip(mine.constants, other.constants, strict=True)])


@dataclass(frozen=True)
class Apart:
    """How far two vectors of the same noise are apart: Gaussian noise by the square of mu, other numbers one by one.

    Integers with discrete Gaussian noise that are moved by integers stand for themselves, each with its variance.
    """

    square: Rational
    moved: tuple[Moved, ...]
    whole: Shifted = ()


def apart(seen: Seen, moves: list[Rational]) -> Apart | None:
    """How far two vectors are apart; None where no noise makes up for a move."""
    if not any(moves):
        return Apart(ZERO, ())
    times: dict[int, int] = {}
    for row in seen.rows:
        for j, _ in row:
            times[j] = times.get(j, 0) + 1
    normal: list[int] = []
    others: list[Moved] = []
    whole: list[tuple[Rational, int]] = []
    for k, row in enumerate(seen.rows):
        kinds = {seen.laws[j][0] for j, _ in row}
        if kinds == {"gaussian"}:
            normal.append(k)
        elif moves[k] != 0 or kinds:
            if any(times[j] > 1 for j, _ in row):
                return None
            if moves[k] != 0:
                if len(row) != 1:
                    return None
                [(j, factor)] = row
                by = moves[k] / factor
                if kinds == {"discrete_gaussian"} and by.q == 1:
                    whole.append((seen.laws[j][1], int(by.p)))
                else:
                    others.append((seen.laws[j], by))
    if all(moves[k] == 0 for k in normal):
        return Apart(ZERO, tuple(others), tuple(whole))
    entries = [_common(seen, a, b) for a in normal for b in normal]
    covariance = fmpq_mat(len(normal), len(normal), entries)
    if covariance.det() == 0:
        return None
    column = fmpq_mat(len(normal), 1, [moves[k] for k in normal])
    return Apart((column.transpose() * covariance.solve(column))[0, 0], tuple(others), tuple(whole))


def _common(seen: Seen, a: int, b: int) -> Rational:
    """The covariance of two numbers."""
    other = dict(seen.rows[b])
    return sum((c * other[j] * seen.laws[j][1] ** 2 for j, c in seen.rows[a] if j in other), ZERO)
