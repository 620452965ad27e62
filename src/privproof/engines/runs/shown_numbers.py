"""Outcomes with one number whose law is more than noise that is moved: it was tested before it was shown, or comes from several ways.

On either side the number has a density, the sum over all ways to the outcome (`densities`), f on the left and g on the right.  Let
``h = f - c g``.  The largest ``P(E) - c Q(E)`` over events of the outcome is the integral of ``max(0, h)``, and E is where h is positive.
The line is cut into cells, at the places where a density is not smooth and then in halves, until the mean value form ``r(m) +
r'(cell) (cell - m)`` of h over some density, ``r = h/f_0``, tells the sign of h, or the integral of what is positive is as good as
0.  From above, probabilities of the cells where h is positive are taken, and of those whose sign is open what h is at most, times
their length; from below, any cells make an event.

Other numbers of the outcome may be there too, if everything about them is the same on all ways and both sides: given them, nothing changes.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NoReturn, TypeAlias

from flint import arb

from privproof.engines.integrals.gap_densities import GapDensity
from privproof.engines.integrals.integral_enclosures import FormCondition
from privproof.engines.integrals.noise_densities import Exponent, NumberDensity, ball_of
from privproof.engines.runs.leaf_groups import CONTINUOUS, way_probability
from privproof.errors import LanguageError
from privproof.exact import Rational
from privproof.language.linear import Linear
from privproof.language.trees import part_key

if TYPE_CHECKING:
    from privproof.language.trees import TreeLeaf

_SMALL = 80
"""Cells that add at most 2 to the minus this are left open: all of them together stay below what other errors add."""
_SMALL_INTEGRAL = 50
"""The same where a density is an integral with errors of its own, of about 10^-17."""
_CHECKED = 64
"""An excess counts as larger by 2 to the minus this: the checker has cells of its own."""
_CHECKED_INTEGRAL = 46
"""The same where the number is compared with other noises: the checker has integrals of its own."""
_MOST_CELLS = 10_000
"""Cells of one outcome; a pair of densities without ties needs a few hundred."""
_MOST_INTEGRALS = 600
"""The same where a density at a point is an integral, which takes hundredths of a second."""

ShownDensity: TypeAlias = NumberDensity | GapDensity
"""The density of one noise that is shown, or of two."""
Interval: TypeAlias = "tuple[Rational | None, Rational | None]"
"""From one end to another; None for no end."""


@dataclass(frozen=True)
class NumberLaws:
    """The laws of the number of an outcome that is not the same on all ways.

    Attributes:
        part: which of the noisy numbers of the outcome it is.
        left: its densities on the ways of the left tree.
        right: the same on the right.
    """

    part: int
    left: tuple[ShownDensity, ...]
    right: tuple[ShownDensity, ...]

    def masses(self, intervals: Sequence[Interval]) -> tuple[arb, arb]:
        """The probability to lie in some intervals, on either side."""
        p, q = (
            sum((each.mass(low, high) for each in side for low, high in intervals), arb(0))
            for side in (self.left, self.right)
        )
        return p, q

    def excess(self, bound: arb) -> NumberExcess:
        """The largest excess of an event of the number.

        Raises:
            LanguageError: too many cells are needed.
        """
        everything = (*self.left, *self.right)
        low = min(each.ends[0] for each in everything)
        high = max(each.ends[1] for each in everything)
        marks = sorted({low, high, *(cut for each in everything for cut in each.cuts if low < cut < high)})
        cells = _Cells(self, bound)
        for one, two in pairwise(marks):
            cells.add(one, two)
        intervals = tuple(
            (None if one == low else one, None if two == high else two) for one, two in _join_cells(cells.positive)
        )
        p, q = self.masses(intervals)
        beyond = sum((each.beyond(low, high) for each in self.left), arb(0))
        beyond += bound * sum((each.beyond(low, high) for each in self.right), arb(0))
        compared = any(each.compared for each in everything)
        upper = (p - bound * q).upper() + cells.open + beyond + arb(2) ** -(_CHECKED_INTEGRAL if compared else _CHECKED)
        return NumberExcess(upper.upper().max(arb(0)), intervals, p, q)


@dataclass(frozen=True)
class NumberExcess:
    """No event has more than `upper`; the number lies in the intervals with probability p on the left, q on the right."""

    upper: arb
    intervals: tuple[Interval, ...]
    p: arb
    q: arb


@dataclass(frozen=True)
class _DensityPiece:
    """A function ``factor * e^exponent * agreement`` on an interval, and the density that it is of."""

    factor: arb
    exponent: Exponent
    density: ShownDensity


class _Cells:
    """Cells by the sign of ``f - c g``."""

    def __init__(self, laws: NumberLaws, bound: arb) -> None:
        self.laws = laws
        self.bound = bound
        closed = all(isinstance(each, NumberDensity) for each in (*laws.left, *laws.right))
        self.small = arb(2) ** -(_SMALL if closed else _SMALL_INTEGRAL)
        self.left_over = _MOST_CELLS if closed else _MOST_INTEGRALS
        self.positive: list[tuple[Rational, Rational]] = []
        self.open = arb(0)

    def add(self, low: Rational, high: Rational) -> None:
        """Cut an interval on which all densities are smooth."""
        pieces = self._pieces((low + high) / 2)
        waiting = [(low, high)] if pieces else []
        while waiting:
            one, two = waiting.pop()
            middle, length = (one + two) / 2, arb(two - one)
            base = pieces[0].exponent
            central = sum((_value(each, base, middle, middle)[0] for each in pieces), arb(0))
            slope = sum((_value(each, base, one, two)[1] for each in pieces), arb(0))
            value = central + arb(0, (abs(slope) * length / 2).upper())
            size = _power(base, one, two).upper() * length
            most, least = ((each * size).upper() for each in (value.upper(), -value.lower()))
            if value > 0:
                self.positive.append((one, two))
            elif most <= self.small:
                self.open += most.max(arb(0))
                if (
                    central.mid() > 0 and least <= self.small
                ):  # for the event: it has a simpler description with such cells
                    self.positive.append((one, two))
                    self.open += least.max(arb(0))
            else:
                self.left_over -= 1
                if self.left_over < 0:
                    raise LanguageError(
                        "integral",
                        "two laws of a number that was tested before it is shown are too nearly alike to be told apart",
                        hint="another epsilon",
                    )
                waiting += [(middle, two), (one, middle)]

    def _pieces(self, middle: Rational) -> list[_DensityPiece]:
        """The functions of which ``f - c g`` is made around a point, those that are multiples of one another as one.

        Only so is a tie seen to be one: Laplace noise at two places has densities with a constant ratio beyond both.
        """
        found: dict[Any, _DensityPiece] = {}
        for side, sign in ((self.laws.left, arb(1)), (self.laws.right, -self.bound)):
            for density in side:
                exponent = density.exponent(middle)
                if exponent is None:
                    continue
                key = (exponent[:2], density.key if density.compared else None)
                factor = sign * density.weight * density.height
                if key in found:
                    before = found[key]
                    factor = before.factor + factor * arb(exponent[2] - before.exponent[2]).exp()
                    exponent = before.exponent
                found[key] = _DensityPiece(factor, exponent, density)
        return list(found.values())


def _value(piece: _DensityPiece, base: Exponent, low: Rational, high: Rational) -> tuple[arb, arb]:
    """A function over e to another exponent, on an interval, and its slope."""
    a, b, c = (x - y for x, y in zip(piece.exponent, base, strict=True))
    power = piece.factor * _power((a, b, c), low, high)
    value, rise = piece.density.agreement(low, high)
    return power * value, power * (rise + value * (arb(2 * a) * ball_of(low, high) + arb(b)))


def _power(exponent: Exponent, low: Rational, high: Rational) -> arb:
    """e to a polynomial on an interval."""
    a, b, c = exponent
    middle = (low + high) / 2
    away = arb(0, arb((high - low) / 2).upper())
    around = arb(a * middle**2 + b * middle + c)
    return (around + arb(2 * a * middle + b) * away + arb(a) * away * away).exp() if low < high else around.exp()


def _join_cells(cells: Iterable[tuple[Rational, Rational]]) -> Iterator[tuple[Rational, Rational]]:
    """Cells that meet, as one."""
    last: tuple[Rational, Rational] | None = None
    for low, high in sorted(cells):
        if last is not None and last[1] == low:
            last = last[0], high
            continue
        if last is not None:
            yield last
        last = low, high
    if last is not None:
        yield last


def number_laws(left: Sequence[TreeLeaf], right: Sequence[TreeLeaf]) -> NumberLaws:
    """The laws of the one number in which the ways to an outcome differ.

    Args:
        left: the leaves of the outcome on the left.
        right: the same on the right.

    Raises:
        LanguageError: they differ in more, or something was done to the number or decided by it.
    """
    ways = [[_NumberWay.of(leaf) for leaf in side] for side in (left, right)]
    first = ways[0][0]
    differ = [
        k
        for k in range(len(first.leaf.outcome.parts))
        if any(way.about(k) != first.about(k) for side in ways for way in side)
    ]
    if not differ:  # any number will do, since all have the same law
        differ = [0]
    if len(differ) > 1:
        _refuse(
            first.leaf, "several noisy numbers are shown that tests looked at before, or that come from several ways"
        )
    [part] = differ
    return NumberLaws(part, *(tuple(_densities(side, part)) for side in ways))


@dataclass(frozen=True)
class _NumberWay:
    """A leaf, and for each of its noises with which others it is connected by comparisons or in a number that is shown."""

    leaf: TreeLeaf
    connected: dict[Any, frozenset[Any]]

    @classmethod
    def of(cls, leaf: TreeLeaf) -> _NumberWay:
        """The way to a leaf."""
        if leaf.guesses or not all(isinstance(part, Linear) for part in leaf.outcome.parts):
            _refuse(
                leaf, "something was done to a noisy number or decided by it, beside one that a test looked at before"
            )
        joined: dict[Any, frozenset[Any]] = {}
        for form in (*(test.form for test in leaf.tests), *leaf.outcome.parts):
            atoms = frozenset(atom for each in form.terms for atom in joined.get(each, {each}))
            joined.update(dict.fromkeys(atoms, atoms))
        return cls(leaf, joined)

    def together(self, part: int) -> frozenset[Any]:
        """The noises that a number has to do with."""
        form = self.leaf.outcome.parts[part]
        assert isinstance(form, Linear)
        return frozenset(atom for each in form.terms for atom in self.connected[each])

    def about(self, part: int) -> tuple[Any, ...]:
        """All that there is about a number: its noises, the tests of these, and what is shown of them."""
        atoms = self.together(part)
        order = {atom: str(k) for k, atom in enumerate(sorted(atoms))}

        def renamed(form: Any) -> Any:
            return part_key(Linear({order[a]: f for a, f in form.terms.items()}, form.constant))

        tests = tuple(renamed(test.halfspace) for test in self.leaf.tests if atoms & test.form.terms.keys())
        shown = tuple((k, renamed(each)) for k, each in enumerate(self.leaf.outcome.parts) if atoms & each.terms.keys())
        return tuple(self.leaf.noises[atom].law for atom in sorted(atoms)), tests, shown


def _densities(ways: Sequence[_NumberWay], part: int) -> Iterator[ShownDensity]:
    """The densities of a number on several ways; ways on which they are multiples of one another are put together."""
    found: dict[Any, ShownDensity] = {}
    for way in ways:
        leaf, atoms = way.leaf, sorted(way.together(part))
        form = leaf.outcome.parts[part]
        assert isinstance(form, Linear)
        shown = [k for k, each in enumerate(leaf.outcome.parts) if set(atoms) & each.terms.keys()]
        if shown != [part]:
            _refuse(leaf, "several noisy numbers are shown that have noise in common, and tests looked at it")
        kinds = {leaf.noises[atom].kind for atom in atoms}
        if not kinds <= set(CONTINUOUS):
            _refuse(leaf, f"a number with {min(kinds - set(CONTINUOUS))} noise is shown that a test looked at before")
        if len(form.terms) > 2:
            _refuse(leaf, "a sum of noises is shown that tests looked at before, or that comes from several ways")
        order = {each: k for k, each in enumerate(atoms)}
        tests, rest = (
            [test for test in leaf.tests if bool(set(atoms) & test.form.terms.keys()) == its] for its in (True, False)
        )
        conditions = tuple(
            FormCondition({order[a]: f for a, f in test.halfspace.terms.items()}, test.halfspace.constant)
            for test in tests
        )
        noises = tuple((leaf.noises[each].kind, leaf.noises[each].scale) for each in atoms)
        weight = way_probability(leaf, rest)
        own = tuple((order[atom], factor) for atom, factor in form.terms.items())
        made: ShownDensity
        if len(own) == 1:
            made = NumberDensity(weight, noises, conditions, *own[0], form.constant)
        else:
            made = GapDensity(weight, noises, conditions, own, form.constant)
        found[made.key] = made if made.key not in found else replace(made, weight=found[made.key].weight + weight)
    yield from found.values()


def _refuse(leaf: TreeLeaf, what: str) -> NoReturn:
    raise LanguageError("integral", f"{what}: {leaf.outcome.text}", hint="show a number with fresh noise")
