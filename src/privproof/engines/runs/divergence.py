"""How far the likeliest event of one tree of runs is beyond what epsilon allows on another tree: enclosures, for noise of any kind.

The *excess* of two trees at epsilon is the largest ``P(E) - e^epsilon Q(E)`` over all events E: the least delta.  Events split by what is
shown besides noisy numbers:

* nothing else: ``max(0, p - e^epsilon q)``;
* numbers with noise of their own, that no test looked at.  With Gaussian noise these are two normal laws with equal covariance S and means
  that differ by d, so their distance is ``mu^2 = d S^-1 d``, and with the probabilities p and q of getting there the excess is
  ``p H(mu, e)`` with ``e = epsilon + ln(q/p)`` and ``H(mu, e) = Phi(mu/2 - e/mu) - exp(e) Phi(-mu/2 - e/mu)``, reached on a halfspace.
  Laplace noise that is moved by B scales in all changes no probability by more than ``e^B``: at most ``p H(mu, e - B)``.  One number with
  Laplace noise alone: exactly ``p (1 - exp(min(e, (e - B)/2)))`` where that is above 0, reached on a half-line.

Something that was done to noisy numbers (rounding, formatting) tells no more than the numbers do: a bound from above.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from flint import arb, fmpq_mat

from privproof.engines.integrals.curves import Law, normal_below
from privproof.engines.integrals.enclosures import BITS, Condition, probability
from privproof.engines.integrals.sums import geometric_probability
from privproof.engines.laplace.events import halfspace
from privproof.engines.runs.measures import has_atoms
from privproof.errors import LanguageError
from privproof.exact import ZERO, Rational, rational
from privproof.exact.balls import precision, rational_bounds
from privproof.language.linear import Linear, Opaque
from privproof.language.trees import Leaf, part_key

_DECIMALS = 10**6
"""The end of a halfspace is rounded to so many parts of 1: the excess is flat where it is largest."""


@dataclass(frozen=True)
class Region:
    """Outcomes of one shape; where it has noisy numbers, those in a halfspace: ``sum of factors * numbers >= end``."""

    shape: str
    text: str
    factors: tuple[Rational, ...] = ()
    end: Rational = field(default_factory=lambda: ZERO)


@dataclass(frozen=True)
class Excess:
    """The largest excess of an event, enclosed.

    Attributes:
        upper: no event has more.
        regions: an event.
        p: its probability on the left.
        q: its probability on the right.
    """

    upper: arb
    regions: tuple[Region, ...]
    p: arb
    q: arb

    def lower(self, bound: arb) -> arb:
        """Its excess, where it is largest."""
        return self.p - bound * self.q


class Divergence:
    """Excesses of pairs of trees at one epsilon; what is computed for a tree is kept."""

    def __init__(self, bound: arb) -> None:
        self.bound = bound
        self.groups: dict[int, dict[str, list[_Group]]] = {}

    def excess(self, left: Sequence[Leaf], right: Sequence[Leaf]) -> Excess:
        """The excess of two trees.

        Raises:
            LanguageError: noise is compared in ways for which there is no integral here.
        """
        with precision(BITS):
            found = self._excess(self._grouped(left), self._grouped(right))
        if any(
            leaf.guesses or has_atoms(leaf) for leaf in right
        ):  # what is shown there may be equal to what is shown elsewhere
            return Excess(found.upper, (), arb(0), arb(0))
        return found

    def _grouped(self, tree: Sequence[Leaf]) -> dict[str, list[_Group]]:
        if id(tree) not in self.groups:
            found: dict[str, list[_Group]] = {}
            for leaf in tree:
                made = _group(leaf)
                same = found.setdefault(made.shape, [])
                for number, other in enumerate(same):
                    if other.shown == made.shown and other.means == made.means:
                        same[number] = other.joined(made)
                        break
                else:
                    same.append(made)
            self.groups[id(tree)] = found
        return self.groups[id(tree)]

    def _excess(self, left: dict[str, list[_Group]], right: dict[str, list[_Group]]) -> Excess:
        upper, p, q = arb(0), arb(0), arb(0)
        regions: list[Region] = []
        for shape, mine in left.items():
            others = right.get(shape, [])
            if len(mine) == 1 and len(others) <= 1:
                found = _of_group(mine[0], others[0] if others else None, self.bound)
                upper += found.upper
                if found.regions and found.p - self.bound * found.q > 0:
                    p, q = p + found.p, q + found.q
                    regions += found.regions
            else:
                upper += _matched(mine, others, self.bound)
        return Excess(upper, tuple(regions), p, q)


# ------------------------------------------------------------------------------------------------------------ groups


@dataclass(frozen=True)
class _Group:
    """Leaves that show the same, with the same noise in it, around the same numbers.

    Attributes:
        shape: what is shown.
        text: the same for readers.
        p: their probability.
        shown: the noisy numbers but for their constants: coefficients and laws; whether something was done to them.
        means: their constants.
        opaque: whether something was done to noisy numbers, or decided by it.
    """

    shape: str
    text: str
    p: arb
    shown: tuple[Any, ...]
    means: tuple[Rational, ...]
    opaque: bool

    def joined(self, other: _Group) -> _Group:
        """Both groups as one."""
        return _Group(
            self.shape, self.text, self.p + other.p, self.shown, self.means, opaque=self.opaque or other.opaque
        )


def _group(leaf: Leaf) -> _Group:
    numbers, done = _numbers(leaf)
    looked_at = {atom for test in leaf.tests for atom in test.form.terms}
    own = {atom for form in numbers for atom in form.terms}
    if looked_at & own:
        raise LanguageError(
            "integral",
            f"a noisy number is shown that a test looked at before: {leaf.outcome.text}",
            hint="show a number with fresh noise",
        )
    order = {atom: k for k, atom in enumerate(sorted(own, key=str))}
    rows = tuple(tuple((order[a], f) for a, f in sorted(form.terms.items(), key=str)) for form in numbers)
    laws = tuple((leaf.noises[a].kind, leaf.noises[a].scale) for a in order)  # type: ignore[index]
    means = tuple(form.constant for form in numbers)
    return _Group(leaf.outcome.shape, leaf.outcome.text, _share(leaf), (rows, laws, done), means, opaque=bool(done))


def _numbers(leaf: Leaf) -> tuple[list[Linear], tuple[Any, ...]]:
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


def _share(leaf: Leaf) -> arb:
    """The probability of the tests on the way to a leaf."""
    forms = [test.halfspace for test in leaf.tests]
    whole = {j for j, noise in enumerate(leaf.noises) if noise.kind == "geometric"}
    place = {j: k for k, j in enumerate(sorted(whole))}
    mixed = [form for form in forms if 0 < len(whole & form.terms.keys()) < len(form.terms)]
    if mixed:
        raise LanguageError("noise", "geometric and continuous noise are compared", hint="one kind of noise")
    integers = [form for form in forms if whole & form.terms.keys()]
    result = arb(leaf.weight)
    if integers:
        moved = [halfspace(Linear({place[a]: f for a, f in e.terms.items()}, e.constant)) for e in integers]  # type: ignore[index]
        alphas = [leaf.noises[j].scale for j in sorted(whole)]
        result *= arb(rational(geometric_probability(alphas, moved, [False] * len(moved))))
    others = [form for form in forms if not whole & form.terms.keys()]
    return result * _continuous(
        tuple((noise.kind if noise.kind in _CONTINUOUS else "gaussian", noise.scale) for noise in leaf.noises),
        tuple((tuple(sorted(form.terms.items(), key=str)), form.constant) for form in others),
    )


_CONTINUOUS = ("gaussian", "laplace", "exponential")


@lru_cache(maxsize=4096)
def _continuous(noises: tuple[Any, ...], forms: tuple[Any, ...]) -> arb:
    return probability(noises, [Condition(dict(terms), constant) for terms, constant in forms])


# ---------------------------------------------------------------------------------------------------------- excesses


def _matched(mine: Sequence[_Group], others: Sequence[_Group], bound: arb) -> arb:
    """A bound for groups that show the same around different numbers: each is compared with the one in its place."""
    if len(mine) != len(others):
        return sum((group.p.upper() for group in mine), arb(0))
    return sum((_of_group(a, b, bound).upper for a, b in zip(mine, others, strict=True)), arb(0))


def _of_group(mine: _Group, other: _Group | None, bound: arb) -> Excess:
    """The excess of one group on each side."""
    everything = Region(mine.shape, mine.text)
    if other is None:
        return Excess(mine.p.upper(), () if mine.opaque else (everything,), mine.p, arb(0))
    if mine.shown != other.shown:
        return Excess(mine.p.upper(), (), arb(0), arb(0))
    move = tuple(a - b for a, b in zip(mine.means, other.means, strict=True))
    if not any(move):
        least = mine.p - bound * other.p
        return Excess(_positive(least), (everything,) if least > 0 else (), mine.p, other.p)
    rows, laws, _ = mine.shown
    spread = _spread(rows, laws, move)
    if spread is None:
        return Excess(mine.p.upper(), (), arb(0), arb(0))
    upper = _height(mine.p.upper(), other.p.lower(), bound, spread).upper()
    region = None if mine.opaque or (spread.cost != 0 and not spread.alone) else _halfspace(mine, other, spread, bound)
    if region is None:
        return Excess(upper, (), arb(0), arb(0))
    p, q = (group.p * _beyond(region, group.means, spread) for group in (mine, other))
    return Excess(upper, (region,), p, q)


@dataclass(frozen=True)
class _Spread:
    """How far apart two laws of noisy numbers are.

    Attributes:
        square: the square of mu, for Gaussian noise.
        cost: what moving the other noise costs.
        alone: whether all of it is one number with Laplace noise.
        direction: the factors of the halfspaces on which they differ most.
        variance: the variance along them; for one number with Laplace noise its scale.
    """

    square: Rational
    cost: Rational
    alone: bool
    direction: tuple[Rational, ...]
    variance: Rational


def _spread(rows: Sequence[Any], laws: Sequence[Any], move: Sequence[Rational]) -> _Spread | None:
    """The distance between numbers with the same noise around means that differ; None if no noise makes up for it."""
    cost = ZERO
    normal: list[int] = []
    moved_others: list[int] = []
    used = [atom for row in rows for atom, _ in row]
    for number, (row, by) in enumerate(zip(rows, move, strict=True)):
        if {laws[atom][0] for atom, _ in row} <= {"gaussian"}:
            normal.append(number)
            continue
        if any(used.count(atom) > 1 for atom, _ in row):
            return None
        if by == 0:
            continue
        atom, factor = row[0]
        if len(row) > 1 or laws[atom][0] != "laplace":
            return None
        cost += abs(by / factor) / laws[atom][1]
        moved_others.append(number)
    direction = [ZERO] * len(rows)
    square = variance = ZERO
    alone = len(moved_others) == 1 and not any(move[number] for number in normal)
    if alone:
        [number] = moved_others
        direction[number] = Rational(1 if move[number] > 0 else -1)
        variance = abs(rows[number][0][1]) * laws[rows[number][0][0]][1]
    moved = [number for number in normal if move[number] != 0]
    if moved:
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
    return _Spread(square, cost, alone, tuple(direction), variance)


def _covariance(one: Any, other: Any, laws: Sequence[Any]) -> Rational:
    second = dict(other)
    return sum((f * second[a] * laws[a][1] ** 2 for a, f in one if a in second), ZERO)


def _height(p: arb, q: arb, bound: arb, spread: _Spread) -> arb:
    """``p H(mu, e - B)`` with ``e = epsilon + ln(q/p)``: the largest ``P(E) - e^epsilon Q(E)``."""
    if not p > 0:
        return arb(0)
    if not q > 0:
        return p
    e = (bound * q / p).log()
    if spread.alone:
        return _positive(p * (1 - e.min((e - spread.cost) / 2).exp()))
    e -= spread.cost
    if spread.square == 0:
        return _positive(p * (1 - e.exp()))
    mu = arb(spread.square).sqrt()
    return _positive(p * (normal_below(mu / 2 - e / mu) - e.exp() * normal_below(-mu / 2 - e / mu)))


def _halfspace(mine: _Group, other: _Group, spread: _Spread, bound: arb) -> Region | None:
    """The halfspace where the densities differ by more than epsilon allows, its end rounded."""
    if not mine.p > 0 or not other.p > 0:
        return None
    e = (bound * other.p / mine.p).log()
    if spread.alone:
        if not -spread.cost < e < spread.cost:
            return None
        e *= spread.variance / 2
    middle = sum((f * (a + b) for f, a, b in zip(spread.direction, mine.means, other.means, strict=True)), ZERO) / 2
    low, _ = rational_bounds(e)
    least = min(abs(f) for f in spread.direction if f != 0)
    factors = tuple(f / least for f in spread.direction)
    end = (middle + low) / least
    end = Rational(int((end * _DECIMALS).floor()), _DECIMALS)
    return Region(mine.shape, _words(mine.text, factors, end), factors, end)


def _beyond(region: Region, means: Sequence[Rational], spread: _Spread) -> arb:
    """The probability of a halfspace, around some means."""
    place = sum((f * m for f, m in zip(region.factors, means, strict=True)), ZERO)
    scale = next(f / d for f, d in zip(region.factors, spread.direction, strict=True) if d != 0)
    if spread.alone:
        return Law("laplace", place, spread.variance).above(region.end)
    return normal_below(arb(place - region.end) / (arb(spread.variance).sqrt() * arb(scale)))


def _words(text: str, factors: Sequence[Rational], end: Rational) -> str:
    names = [f"y{k}" for k in range(len(factors))]
    if len(factors) == 1:
        return text.replace("*", f"{'≥' if factors[0] > 0 else '≤'}{float(end / factors[0]):.6g}")
    pieces = text.split("*")
    filled = (
        "".join(a + b for a, b in zip(pieces, [*names, ""], strict=False)) if len(pieces) == len(names) + 1 else text
    )
    shown = " + ".join(
        name if f == 1 else f"-{name}" if f == -1 else f"{float(f):.6g} {name}"
        for name, f in zip(names, factors, strict=True)
        if f != 0
    ).replace("+ -", "- ")
    return f"{filled} with {shown} ≥ {float(end):.6g}"


def _positive(value: arb) -> arb:
    """The larger of 0 and a number."""
    if value > 0:
        return value
    if value < 0:
        return arb(0)
    half = value.upper() / 2
    return arb(half, half)


def distinct_pairs(pairs: Sequence[tuple[int, int]], places: Sequence[int]) -> Iterator[tuple[int, int]]:
    """One pair of data sets for every pair of trees that are compared."""
    seen: set[tuple[int, int]] = set()
    for i, j in pairs:
        if (places[i], places[j]) not in seen:
            seen.add((places[i], places[j]))
            yield i, j
