"""Integrals over registers, many at a time.

An integral over registers ``r_0 < r_1 < ...`` is that of a *monomial*: the densities of the noisy values in the registers, times powers of
the probabilities that others lie in some of the cells.  Those of one mechanism have the same few factors in different powers: where all
possible data are compared, ``f(r) F_0(r)^i F_1(r)^j`` for all i and j.  So the values at the nodes (`panels`) are a matrix for the
first powers and one for the others, and all integrals are one product of matrices, their errors another.

*Two registers.*  For every node h of the second, the first is integrated from the left end to h: whole panels by the rule, the last one
by the integral of its interpolant.  With ``|f(l)| <= A_p`` on the ellipse around panel p, and K a bound on the product of all other
factors for l on an ellipse and real h, this is off by at most ``sum of r_p A_p K (8 rho^-N/(1 - 1/rho) + (64/15) rho^(-2N)/(1 - rho^-2))``.
What is integrated over h continues to its ellipse: for complex h the way from the left end to h stays on the line, and in the last panel in
its ellipse, and is at most ``1 + (rho + 1/rho)/2`` times r long; K' bounds the other factors for l and h on ellipses.

For Gaussian noise, ``B = max of Phi(x) + c phi(x)`` (`curves`) bounds ``|Phi|`` near the line.  ``|Phi(h) - Phi(l)|`` is at most B for
real h, since ``|Phi(h) - Phi(x)| <= Phi(|x|)``; and at most ``2B - 1`` where both are complex: at real parts u >= 0 >= v it is at most
``(Phi(u) - 1/2 + c phi(u)) + (1/2 - Phi(v) + c phi(v))``, and on one side of 0 no more, because ``1/2 + c phi(0) <= B``.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import product
from math import comb
from typing import NamedTuple, TypeAlias

from flint import arb, arb_mat

from privproof.engines.integrals.density_curves import DensityLaw, LawCurve, highest_normal
from privproof.engines.integrals.integration_panels import RHO, Grid, cut_grid, errors, evenly, rule, tabulate_curve
from privproof.exact import Rational
from privproof.exact.balls import precision

BITS = 96
"""The precision of balls: rounding stays far below the errors of quadrature."""
_REACH = {1: {"gaussian": 9, "laplace": 42, "exponential": 42}, 2: {"gaussian": 8, "laplace": 34, "exponential": 34}}
"""A grid reaches so many scales beyond a center, by the number of registers: what lies beyond has a mass below 10^-18, or 10^-14."""
HUB_REACH = _REACH[1]
"""The same for one register."""
_LONGEST = Rational(3, 2)
"""Scales in a panel at most: its ellipse leaves the line by one scale, where 100 distribution functions are at most 10^11 together."""
_MOST_EXPANDED = 24
"""Probabilities of cells between two registers are expanded up to this power: beyond, there are more terms than nodes."""
_SPARSE = 10
"""If so many times more entries of a product of matrices would be computed than are wanted, those that are wanted are."""

Factor: TypeAlias = tuple[int, int]
"""The probability that a value of a law, by number, lies in some cells, as bits."""


class Monomial(NamedTuple):
    """The densities of registers, times powers of probabilities; laws by number."""

    densities: tuple[int, ...]
    powers: tuple[tuple[Factor, int], ...]


def integrals(
    laws: Sequence[DensityLaw], wanted: Iterable[Monomial], pause: Callable[[], None], grid: Grid | None = None
) -> dict[Monomial, arb]:
    """Enclosures of the integrals of monomials.

    Args:
        laws: the laws by number.
        wanted: the monomials.
        pause: called now and then.
        grid: for integrals over one register, where the same laws come again and again; it is cut at all kinks.
    """
    found: dict[Monomial, arb] = {}
    groups: dict[int, list[Monomial]] = {}
    for monomial in dict.fromkeys(wanted):
        groups.setdefault(len(monomial.densities), []).append(monomial)
    with precision(BITS):
        for count, group in groups.items():
            if count == 0:
                found |= dict.fromkeys(group, arb(1))
            else:
                found |= _over_line(laws, group, grid) if count == 1 else _over_pairs(laws, group, pause)
    return {each: _probability(ball) for each, ball in found.items()}


def _probability(ball: arb) -> arb:
    """A ball around a number that is known to lie between 0 and 1."""
    low, high = ball.lower(), ball.upper()
    low, high = (low if low > 0 else arb(0)), (high if high < 1 else arb(1))
    return ball if low >= ball.lower() and low > 0 and high < 1 else arb((low + high) / 2, ((high - low) / 2).upper())


def _grid(numbered: Sequence[DensityLaw], group: Sequence[Monomial], count: int) -> Grid:
    """A grid for all monomials of a group."""
    first = {law for each in group for law in each.densities}
    hubs = [numbered[law] for law in first]
    laws = hubs + [numbered[law] for law in {factor[0] for each in group for factor, _ in each.powers} - first]
    reach = _REACH[count]
    low = min(law.center - reach[law.kind] * law.scale for law in hubs)
    high = max(law.center + reach[law.kind] * law.scale for law in hubs)
    kinks = [kink for law in laws for kink in law.kinks]
    if count == 1:
        return cut_grid(low, high, kinks, sorted({(law.center, _LONGEST * law.scale) for law in laws}))
    return evenly(low, high, kinks, _LONGEST * min(law.scale for law in laws))


Vector: TypeAlias = "list[arb]"


def _values(grid: Grid, curve: LawCurve) -> tuple[Vector, Vector]:
    """The values of a curve at all nodes, and its bounds on all ellipses."""
    found = tabulate_curve(grid, curve)
    return [value for panel in found.values for value in panel], list(found.bounds)


def _weights(grid: Grid) -> Vector:
    _, weights, _ = rule(grid.bits)
    return [panel.radius * w for panel in grid.panels for w in weights]


def _times(one: Sequence[arb], other: Sequence[arb]) -> Vector:
    return [a * b for a, b in zip(one, other, strict=True)]


class _SplitMonomials:
    """Monomials as products of two parts: the powers of one factor, and everything else."""

    def __init__(self, group: Sequence[Monomial]) -> None:
        highest: dict[Factor, int] = {}
        for each in group:
            for factor, power in each.powers:
                highest[factor] = max(power, highest.get(factor, 0))
        self.factors = highest
        self.apart = max(highest, key=lambda factor: highest[factor], default=None)
        self.rights: dict[int, int] = {}
        self.lefts: dict[tuple[int, tuple[tuple[Factor, int], ...]], int] = {}
        self.places: dict[Monomial, tuple[int, int]] = {}
        for each in group:
            right = dict(each.powers).get(self.apart, 0) if self.apart is not None else 0
            left = each.densities[0], tuple(p for p in each.powers if p[0] != self.apart)
            self.places[each] = (
                self.lefts.setdefault(left, len(self.lefts)),
                self.rights.setdefault(right, len(self.rights)),
            )

    def products(
        self, start: Mapping[int, Vector], factors: Mapping[Factor, Vector], length: int
    ) -> list[list[arb]] | Callable[[int, int], arb]:
        """The sums over all entries of the products of a left and a right part: as a table, or one by one."""
        powers: dict[Factor, list[Vector]] = {}
        for factor, highest in self.factors.items():
            powers[factor] = [[arb(1)] * length, factors[factor]]
            for _ in range(highest - 1):
                powers[factor].append(_times(powers[factor][-1], factors[factor]))
        lefts = []
        begun: dict[object, Vector] = {}
        for law, rest in self.lefts:
            row = start[law]
            for number in range(len(rest)):
                key = (law, rest[: number + 1])
                if key not in begun:
                    factor, power = rest[number]
                    begun[key] = _times(row, powers[factor][power])
                row = begun[key]
            lefts.append(row)
        rights = [powers[self.apart][power] if self.apart is not None else [arb(1)] * length for power in self.rights]
        if len(lefts) * len(rights) > _SPARSE * len(self.places):
            return lambda i, j: sum(_times(lefts[i], rights[j]), arb(0))
        table = arb_mat(lefts) * arb_mat([list(column) for column in zip(*rights, strict=True)])
        return [[table[i, j] for j in range(len(rights))] for i in range(len(lefts))]


def _entry(table: list[list[arb]] | Callable[[int, int], arb], i: int, j: int) -> arb:
    return table(i, j) if callable(table) else table[i][j]


_SIDE = {1: "below", 2: "above"}


def _over_line(laws: Sequence[DensityLaw], group: Sequence[Monomial], grid: Grid | None) -> dict[Monomial, arb]:
    """Integrals over one register."""
    grid = grid or _grid(laws, group, 1)
    split = _SplitMonomials(group)
    weights = _weights(grid)
    start, bounds, tails = {}, {}, {}
    _, whole = errors()
    for law in {each.densities[0] for each in group}:
        values, moduli = _values(grid, LawCurve(laws[law], "density"))
        start[law] = _times(weights, values)
        bounds[law] = [panel.radius * whole * bound for panel, bound in zip(grid.panels, moduli, strict=True)]
        tails[law] = sum(laws[law].beyond(*grid.ends), arb(0)).upper()
    curves = {factor: _values(grid, LawCurve(laws[factor[0]], _SIDE[factor[1]])) for factor in split.factors}  # type: ignore[arg-type]
    table = split.products(start, {factor: values for factor, (values, _) in curves.items()}, len(weights))
    off = split.products(bounds, {factor: moduli for factor, (_, moduli) in curves.items()}, len(grid.panels))
    found = {}
    for each, (i, j) in split.places.items():
        half = tails[each.densities[0]] / 2
        found[each] = _entry(table, i, j) + arb(half, half) + arb(0, _entry(off, i, j).upper())
    return found


def _over_pairs(
    numbered: Sequence[DensityLaw], group: Sequence[Monomial], pause: Callable[[], None]
) -> dict[Monomial, arb]:
    """Integrals over two registers l < h.

    Powers of ``F(h) - F(l)`` and ``1 - F(h) + F(l)`` are expanded: a monomial is a sum of functions of h times functions of l, and all
    integrals are one product of matrices, of functions of h at the nodes and of running integrals of functions of l up to them.  A
    power p is at most 2^p in sum, which costs p bits.
    """
    highest = max(sum(power for (_, cells), power in each.powers if cells in _BOTH) for each in group)
    if highest > _MOST_EXPANDED:
        return _pair_by_pair(numbered, group, pause)
    with precision(BITS + highest):
        return _expanded_integrals(numbered, group, pause)


def _expanded_integrals(
    numbered: Sequence[DensityLaw], group: Sequence[Monomial], pause: Callable[[], None]
) -> dict[Monomial, arb]:
    grid = _grid(numbered, group, 2)
    _, weights, matrix = rule(grid.bits)
    count = len(weights)
    densities = {
        law: _values(grid, LawCurve(numbered[law], "density"))
        for law in sorted({x for e in group for x in e.densities})
    }
    shares = {
        (law, side): _values(grid, LawCurve(numbered[law], side))[0]  # type: ignore[arg-type]
        for law in {factor[0] for each in group for factor, _ in each.powers}
        for side in _SIDE.values()
    }
    inner, outer = _Functions(densities, shares), _Functions(densities, shares)
    sums = {each: list(_split_terms(each, inner, outer)) for each in group}
    pause()
    below = arb_mat(inner.values()).transpose()  # a row for each node
    width = below.ncols()
    before = [arb(0)] * width
    rows: list[list[arb]] = []
    for at, panel in enumerate(grid.panels):
        pause()
        block = arb_mat([[below[at * count + i, k] for k in range(width)] for i in range(count)])
        here = matrix * block
        rows += [[before[k] + panel.radius * here[i, k] for k in range(width)] for i in range(count)]
        whole = arb_mat([list(weights)]) * block
        before = [before[k] + panel.radius * whole[0, k] for k in range(width)]
    spread = _weights(grid)
    table = arb_mat([_times(spread, row) for row in outer.values()]) * arb_mat(rows)
    masses = {law: sum(_times(spread, values), arb(0)) for law, (values, _) in densities.items()}
    return {
        each: sum((times * table[i, k] for times, i, k in listed), arb(0))
        + _pair_error(numbered, each, grid, densities, masses)
        for each, listed in sums.items()
    }


class _Functions:
    """Densities times powers of distribution functions at the nodes, each once."""

    def __init__(
        self, densities: Mapping[int, tuple[Vector, Vector]], shares: Mapping[tuple[int, str], Vector]
    ) -> None:
        self.densities, self.shares = densities, shares
        self.numbers: dict[tuple[int, tuple[tuple[tuple[int, str], int], ...]], int] = {}
        self._known: dict[object, Vector] = {}

    def number(self, law: int, powers: Iterable[tuple[tuple[int, str], int]]) -> int:
        """The number of a function."""
        total = Counter[tuple[int, str]]()
        for share, power in powers:
            total[share] += power
        key = law, tuple(sorted((share, power) for share, power in total.items() if power))
        return self.numbers.setdefault(key, len(self.numbers))

    def values(self) -> list[Vector]:
        """The values of all functions."""
        return [self._at_nodes(law, powers) for law, powers in self.numbers]

    def _at_nodes(self, law: int, powers: tuple[tuple[tuple[int, str], int], ...]) -> Vector:
        if not powers:
            return self.densities[law][0]
        if (law, powers) not in self._known:
            share, power = powers[-1]
            fewer = (*powers[:-1], (share, power - 1)) if power > 1 else powers[:-1]
            self._known[law, powers] = _times(self._at_nodes(law, fewer), self.shares[share])
        return self._known[law, powers]


def _split_terms(each: Monomial, inner: _Functions, outer: _Functions) -> Iterator[tuple[int, int, int]]:
    """A monomial as a sum over functions of h, by number, and functions of l, with the number of times."""
    in_l, in_h, both = [], [], []
    for (law, cells), power in each.powers:
        if cells in _OUTER:
            in_h.append(((law, _OUTER[cells]), power))
        elif cells in _BOTH:
            both.append((law, cells, power))
        else:
            in_l.append(((law, "below" if cells == 0b001 else "above"), power))
    for taken in product(*(range(power + 1) for _, _, power in both)):
        times = 1
        more_l, more_h = list(in_l), list(in_h)
        for (law, cells, power), k in zip(both, taken, strict=True):
            times *= comb(power, k) * (-1 if cells == 0b010 and k % 2 else 1)
            more_l.append(((law, "below"), k))
            more_h.append(((law, "below" if cells == 0b010 else "above"), power - k))
        yield times, outer.number(each.densities[1], more_h), inner.number(each.densities[0], more_l)


def _pair_by_pair(
    numbered: Sequence[DensityLaw], group: Sequence[Monomial], pause: Callable[[], None]
) -> dict[Monomial, arb]:
    """The same where powers are too high to be expanded: for every node h the sum over those below."""
    grid = _grid(numbered, group, 2)
    _, weights, matrix = rule(grid.bits)
    count = len(weights)
    laws = sorted({law for each in group for law in each.densities})
    split = _SplitMonomials([_inner(each) for each in group])
    densities = {law: _values(grid, LawCurve(numbered[law], "density")) for law in laws}
    ends = {
        law: {side: _values(grid, LawCurve(numbered[law], side)) for side in _SIDE.values()}  # type: ignore[arg-type]
        for law in {factor[0] for each in group for factor, _ in each.powers}
    }
    found = dict.fromkeys(group, arb(0))
    masses = dict.fromkeys(laws, arb(0))
    for at, panel in enumerate(grid.panels):
        pause()
        length = (at + 1) * count
        before = [p.radius * w for p in grid.panels[:at] for w in weights]
        for node in range(count):
            spread = [*before, *(panel.radius * matrix[node, i] for i in range(count))]
            place = at * count + node
            weight = panel.radius * weights[node]
            start = {law: _times(spread, densities[law][0][:length]) for law in laws}
            factors = {factor: _cell(factor[1], ends[factor[0]], place, length) for factor in split.factors}
            table = split.products(start, factors, length)
            for law in laws:
                masses[law] += weight * densities[law][0][place]
            for each in group:
                i, j = split.places[_inner(each)]
                outside = weight * densities[each.densities[1]][0][place]
                for (law, cells), power in each.powers:
                    if cells in _OUTER:
                        outside *= ends[law][_OUTER[cells]][0][place] ** power
                found[each] += outside * _entry(table, i, j)
    return {each: ball + _pair_error(numbered, each, grid, densities, masses) for each, ball in found.items()}


_BOTH = (0b010, 0b101)
"""The cells of which both registers tell: between them, and outside of them."""
_OUTER = {0b011: "below", 0b100: "above"}
"""The cells of which only the second register tells: below h, and above it."""


def _inner(each: Monomial) -> Monomial:
    """The part of a monomial that is integrated over the first register."""
    return Monomial(each.densities[:1], tuple(p for p in each.powers if p[0][1] not in _OUTER))


def _cell(cells: int, ends: Mapping[str, tuple[Vector, Vector]], place: int, length: int) -> Vector:
    """The probability of cells at one value of the second register, for the values of the first."""
    below, above = ends["below"][0], ends["above"][0]
    if cells == 0b001:
        return below[:length]
    if cells == 0b110:
        return above[:length]
    if cells == 0b010:
        return [below[place] - each for each in below[:length]]
    assert cells == 0b101, cells
    return [above[place] + each for each in below[:length]]


def _pair_error(
    laws: Sequence[DensityLaw],
    each: Monomial,
    grid: Grid,
    densities: Mapping[int, tuple[Vector, Vector]],
    masses: Mapping[int, arb],
) -> arb:
    """The error of the quadrature over two registers, and of what lies beyond the grid."""
    within, whole = errors()
    first, second = each.densities
    rho = arb(RHO)
    across = max((panel.reach[2] for panel in grid.panels), key=float)
    inner = outer = arb(1)
    for (law, cells), power in each.powers:
        inner *= _modulus(laws[law], cells, across, both=False) ** power
        outer *= _modulus(laws[law], cells, across, both=True) ** power
    length = sum((p.radius * a for p, a in zip(grid.panels, densities[first][1], strict=True)), arb(0))
    error = length * inner * (within + whole) * masses[second].upper()
    way = 1 + (rho + 1 / rho) / 2
    around = sum((p.radius * b for p, b in zip(grid.panels, densities[second][1], strict=True)), arb(0))
    error += whole * around * way * length * outer
    tail = sum((sum(laws[law].beyond(*grid.ends), arb(0)) for law in (first, second)), arb(0)).upper() / 2
    return arb(0, error.upper()) + arb(tail, tail)


def _modulus(law: DensityLaw, cells: int, across: arb, *, both: bool) -> arb:
    """A bound on the probability of cells where the first register, or both, are off the line, anywhere along it."""
    if law.kind == "gaussian":
        most = highest_normal(across / law.scale)
        if cells == 0b101:
            return 2 * most if both else 1 + most
        return 2 * most - 1 if both and cells == 0b010 else most
    # pieces 1 - a e^-z and a e^-z with a <= 1 continue beyond their end by less than they leave the line
    return (4 if both else 2) + 2 * (across / law.scale).exp()
