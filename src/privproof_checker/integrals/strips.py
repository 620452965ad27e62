"""Integrals over one or two ordered numbers of densities times powers of probabilities, as balls.

A *product* has densities ``f_i`` of numbers ``m_0 < m_1 < ...`` and powers of the probabilities that others lie in some of the gaps that
these leave.

* *Gaussian laws throughout*: the trapezoidal rule with step h.  On one number, ``f`` is analytic everywhere, and for ``|b| <= a`` the
  integral of ``|f(x + ib)|`` is at most ``M = e^(a^2/2s^2) prod B(a/s_j)``, where ``B(y) = Phi(1/c) + c phi(1/c)``,
  ``c = y e^(y^2/2)``, bounds ``|Phi|``
  within y of the line.  So the rule is off by at most ``2M/(e^(2 pi a/h) - 1)`` (Trefethen and Weideman 2014, theorem 5.1), and by what
  lies beyond its nodes.
* *Two numbers* l < h: for every node h the integral over l up to h is the sum over nodes with the weights ``1/2 + Si(pi (k-j))/pi``, off
  by at most ``N h (1+pi)/(2 pi^2 a sinh(pi a/h))``, N the integrals of the modulus along both edges of the strip.  What is summed over h is
  analytic too: the way to a complex h runs along the line and then across, so that its modulus is at most
  ``K e^(a^2/2s^2) (1 + a e^(a^2/2t^2)/(t sqrt(2 pi)))`` in integral, s and t the deviations of h and l.  K bounds the probabilities:
  ``|Phi(h) - Phi(l)| <= 2B - 1`` where both are complex (at real parts on both sides of 0 it is at most the sum of
  ``Phi(|u|) - 1/2 + c phi(u)`` over the two, on one side of 0 no more because ``1/2 + c phi(0) <= B``), and ``<= B`` where h is real.
* *Laplace and exponential laws*, or laws of very different scales, one number: `panels`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product as iterate_over
from math import comb, gcd, lcm

from flint import arb, arb_mat, arb_poly, ctx

from privproof_checker.integrals.normal_enclosures import highest_share, normal_share, up_to
from privproof_checker.integrals.panels import PanelLaw, rule_for
from privproof_checker.numbers import Rational
from privproof_checker.numbers.balls import precision
from privproof_checker.outcomes import refuse, within

_REACH = 9
"""So many deviations from its center a density is followed; what lies beyond, less than 10^-18, is added as a ball."""
_NEAR = 8
"""The same for two numbers with Gaussian laws: less than 10^-14 lies beyond."""
_ACROSS = Rational(3, 4)
"""Half the width of the strip, in the smallest deviation: 100 distribution functions are at most 3000 there together."""
_SINGLE, _DOUBLE = 56, 34
"""Exponents: the step is such that the rule is off by e to minus the first on one number, by e to minus the second on two, times its
bound."""
_SINGLE_BITS, _DOUBLE_BITS = 100, 80
"""The precision of balls on one number and on two: rounding stays far below what the rule is off by."""
_MOST_NODES = 20_000
"""Nodes of the rule on one number; laws that ask for more are refused."""
_MOST_PAIRS = 3_000
"""Nodes of the rule on each of two numbers; laws that ask for more are refused."""
_MOST_EXPANDED = 24
"""Probabilities are expanded up to this power; beyond, there are more terms than nodes."""


Product = tuple[tuple[int, ...], tuple[tuple[tuple[int, int], int], ...]]
"""The laws of the ordered numbers, by number, and ``((law, gaps), power)`` in order; gaps as bits, gap g below number g."""


def integrate(laws: Sequence[PanelLaw], products: Iterable[Product]) -> dict[Product, arb]:
    """Enclosures of integrals."""
    result: dict[Product, arb] = {}
    groups: dict[tuple[int, bool], list[Product]] = {}
    for product in dict.fromkeys(products):
        used = {*product[0], *(law for (law, _), _ in product[1])}
        normal = all(laws[law].kind == "gaussian" for law in used)
        groups.setdefault((len(product[0]), normal), []).append(product)
    for (count, normal), group in groups.items():
        if count == 0:
            result |= {product: arb(1) for product in group}
        elif count == 1 and normal and _narrow(laws, group):
            with precision(min(ctx.prec, _SINGLE_BITS)):
                result |= _single(laws, group)
        elif count == 1:
            result |= _in_panels(laws, group)
        elif count == 2 and normal:
            with precision(min(ctx.prec, _DOUBLE_BITS)):
                result |= _double(laws, group)
        else:
            refuse("an integral over more than two numbers, or over two with noise that is not Gaussian", "evidence")
    return result


@dataclass(frozen=True)
class _StripNodes:
    """Nodes of the trapezoidal rule, a step apart; the strip is half as wide as it may be."""

    first: Rational
    count: int
    apart: Rational
    step: arb
    strip: arb

    @property
    def last(self) -> Rational:
        return self.first + self.apart * (self.count - 1)

    def relative(self, laws: Iterable[PanelLaw]) -> tuple[Rational, dict[PanelLaw, range]]:
        """All nodes in deviations from the centers of laws, as whole multiples of one number."""
        listed = {law: ((self.first - law.center) / law.scale, self.apart / law.scale) for law in laws}
        whole = lcm(1, *(int(each.q) for pair in listed.values() for each in pair))
        found = {}
        for law, (begin, step) in listed.items():
            start, by = int((begin * whole).p), int((step * whole).p)
            found[law] = range(start, start + self.count * by, by)
        return Rational(1, whole), found


class _Standard:
    """What laws have at nodes, from the standard normal law at multiples of a number: of an argument and its negative computed once."""

    def __init__(self, nodes: _StripNodes, laws: Iterable[PanelLaw]) -> None:
        self._nodes = nodes
        self._unit, self._at = nodes.relative(laws)
        self._shares: dict[int, arb] = {}
        self._bells: dict[int, arb] = {}

    def below(self, law: PanelLaw) -> list[arb]:
        """How much of a law lies below every node."""
        known = self._shares
        for k in self._at[law]:
            if k not in known:
                share = known[abs(k)] = normal_share(arb(abs(k) * self._unit))
                known[-abs(k)] = 1 - share if k else share
        return [known[k] for k in self._at[law]]

    def weighted(self, law: PanelLaw) -> list[arb]:
        """The density of a law at every node, times the step."""
        known = self._bells
        for k in self._at[law]:
            if k not in known:
                u = arb(k * self._unit)
                known[k] = known[-k] = (-u * u / 2).exp()
        times = self._nodes.step / law.scale / (2 * arb.pi()).sqrt()
        return [known[k] * times for k in self._at[law]]


def _strip(laws: Sequence[PanelLaw], group: Sequence[Product]) -> Rational:
    """Half the width of the strip."""
    return _ACROSS * min(
        laws[law].scale for product in group for law in (*product[0], *(j for (j, _), _ in product[1]))
    )


def _narrow(laws: Sequence[PanelLaw], group: Sequence[Product]) -> bool:
    """Whether the rule on one number has few nodes: no law is so much wider than another."""
    widest = max(2 * _REACH * laws[j].scale for product in group for j in product[0])
    return bool(widest <= _MOST_NODES // 2 * _strip(laws, group) * Rational(22, 7) / (_SINGLE // 2))


def _nodes(laws: Sequence[PanelLaw], group: Sequence[Product], exponent: int, limit: int) -> _StripNodes:
    hubs = {law for product in group for law in product[0]}
    strip = _strip(laws, group)
    reach = _REACH if limit == _MOST_NODES else _NEAR
    low = min(laws[j].center - reach * laws[j].scale for j in hubs)
    high = max(laws[j].center + reach * laws[j].scale for j in hubs)
    step = strip * Rational(22, 7) / exponent
    grid = _grid([laws[j] for product in group for j in (*product[0], *(factor for (factor, _), _ in product[1]))])
    if grid >= 4 * step:  # then whole steps lie between centers, and laws of one scale have the same at many nodes
        step = grid / (grid / step).ceil()
    center = laws[min(hubs)].center
    first = center - step * ((center - low) / step).ceil()
    count = int(((high - first) / step).ceil()) + 1
    within(count, limit, "nodes of the trapezoidal rule", "evidence")
    return _StripNodes(first, count, step, arb(step), arb(strip))


def _grid(laws: Sequence[PanelLaw]) -> Rational:
    """The largest number of which all distances of centers are multiples; 0 where there are none."""
    away = [law.center - laws[0].center for law in laws]
    whole = lcm(1, *(int(each.q) for each in away))
    return Rational(gcd(*(int((each * whole).p) for each in away)), whole)


def _outside(law: PanelLaw, nodes: _StripNodes) -> arb:
    """The mass beyond the last but one node on either side: at least what the sum leaves out."""
    below = normal_share(arb((nodes.first + nodes.apart - law.center) / law.scale))
    return (below + normal_share(arb((law.center - nodes.last + nodes.apart) / law.scale))).upper()


class _StripRows:
    """Sums over nodes of products, as entries of products of two matrices: of everything but one factor, and of the powers of that."""

    def __init__(self, group: Sequence[Product]) -> None:
        tops: dict[tuple[int, int], int] = {}
        for _, powers in group:
            for factor, power in powers:
                tops[factor] = max(tops.get(factor, 0), power)
        self.tops = tops
        self.last = max(tops, key=lambda factor: (tops[factor], factor)) if tops else None
        self.first: dict[tuple[int, tuple[tuple[tuple[int, int], int], ...]], int] = {}
        self.second: dict[int, int] = {}
        self.at = {}
        for product in group:
            rest = tuple(each for each in product[1] if each[0] != self.last)
            power = sum(each[1] for each in product[1] if each[0] == self.last)
            row = self.first.setdefault((product[0][0], rest), len(self.first))
            self.at[product] = row, self.second.setdefault(power, len(self.second))

    def sums(
        self, starts: Mapping[int, list[arb]], factors: Mapping[tuple[int, int], list[arb]]
    ) -> Callable[[int, int], arb]:
        raised: dict[tuple[int, int], list[list[arb]]] = {}
        for factor, top in self.tops.items():
            rows = [[arb(1)] * len(factors[factor]), factors[factor]]
            for _ in range(top - 1):
                rows.append([a * b for a, b in zip(rows[-1], factors[factor], strict=True)])
            raised[factor] = rows
        lefts = []
        for law, rest in self.first:
            row = starts[law]
            for factor, power in rest:
                row = [a * b for a, b in zip(row, raised[factor][power], strict=True)]
            lefts.append(row)
        if self.last is None:
            totals = [sum(row, arb(0)) for row in lefts]
            return lambda i, _: totals[i]
        rights = [raised[self.last][power] for power in self.second]
        if len(lefts) * len(rights) > 8 * len(self.at):  # few are wanted: one by one is less work than all
            return lambda i, j: sum((a * b for a, b in zip(lefts[i], rights[j], strict=True)), arb(0))
        table = arb_mat(lefts) * arb_mat(rights).transpose()
        return lambda i, j: table[i, j]


def _single(laws: Sequence[PanelLaw], group: Sequence[Product]) -> dict[Product, arb]:
    """Gaussian laws, one number."""
    nodes = _nodes(laws, group, _SINGLE // 2, _MOST_NODES)
    rows = _StripRows(group)
    hubs = {product[0][0] for product in group}
    standard = _Standard(nodes, (laws[j] for j in (*hubs, *(j for j, _ in rows.tops))))
    starts = {j: standard.weighted(laws[j]) for j in hubs}
    sums = rows.sums(starts, _both_sides(rows.tops, lambda j: standard.below(laws[j])))
    edge = 2 / ((2 * arb.pi() * nodes.strip / nodes.step).exp() - 1)
    highest = {j: highest_share(nodes.strip / laws[j].scale) for j, _ in rows.tops}
    rise = {j: edge * ((nodes.strip / laws[j].scale) ** 2 / 2).exp() for j in starts}
    beyond = {j: up_to(_outside(laws[j], nodes)) for j in starts}
    result = {}
    for product, (i, k) in rows.at.items():
        bound = rise[product[0][0]]
        for (j, _), power in product[1]:
            bound *= highest[j] ** power
        result[product] = sums(i, k) + arb(0, bound.upper()) + beyond[product[0][0]]
    return result


def _both_sides(
    wanted: Iterable[tuple[int, int]], below: Callable[[int], list[arb]]
) -> dict[tuple[int, int], list[arb]]:
    """Shares of laws below one number and above it, from those below."""
    known = {j: below(j) for j in {j for j, _ in wanted}}
    return {(j, gaps): known[j] if gaps == 0b01 else [1 - share for share in known[j]] for j, gaps in wanted}


_MIXED = (0b010, 0b101)
"""The gaps of which both numbers tell."""
_OF_SECOND = (0b011, 0b100)
"""The gaps of which only the second number tells."""


def _double(laws: Sequence[PanelLaw], group: Sequence[Product]) -> dict[Product, arb]:
    """Gaussian laws, two numbers l < h.

    ``(F(h) - F(l))^p`` and ``(1 - F(h) + F(l))^p`` are expanded into powers of F(h) or 1 - F(h) times powers of F(l): with the weights
    ``w(h, l)`` of the inner rule all sums ``sum over h, l of A(h) w(h, l) B(l)`` are entries of one product of three matrices.  What is
    expanded to the power p is at most ``2^p`` in sum, so there are p bits more.
    """
    highest = max(sum(power for (_, gaps), power in powers if gaps in _MIXED) for _, powers in group)
    if highest > _MOST_EXPANDED:
        return _node_by_node(laws, group)
    with precision(ctx.prec + highest):
        return _expanded_integrals(laws, group)


_Listed = dict[int, list[arb]]
"""By the number of a law, a number for every node."""


def _at_nodes(
    laws: Sequence[PanelLaw], group: Sequence[Product], nodes: _StripNodes
) -> tuple[_Listed, _Listed, _Listed]:
    """The densities of the ordered numbers, times the step, and the shares of all others below and above."""
    hubs = {j for product in group for j in product[0]}
    used = {j for _, powers in group for (j, _), _ in powers}
    standard = _Standard(nodes, (laws[j] for j in hubs | used))
    below = {j: standard.below(laws[j]) for j in used}
    above = {j: [1 - share for share in shares] for j, shares in below.items()}
    return {j: standard.weighted(laws[j]) for j in hubs}, below, above


def _expanded_integrals(laws: Sequence[PanelLaw], group: Sequence[Product]) -> dict[Product, arb]:
    nodes = _nodes(laws, group, _DOUBLE, _MOST_PAIRS)
    count = nodes.count
    bells, below, above = _at_nodes(laws, group, nodes)
    outer, inner = _Monomials(bells, below, above), _Monomials(bells, below, above)
    terms = {product: list(_expand_product(product, outer, inner)) for product in group}
    half = arb(1) / 2
    steps = [half + (arb.pi() * d).si() / arb.pi() for d in range(count)]
    weights = arb_poly([1 - step for step in reversed(steps[1:])] + steps)
    running = []
    for row in inner.values():  # the weights tell of the distance of two nodes alone: a product of polynomials
        found = weights * arb_poly(row)
        running.append([found[count - 1 + k] for k in range(count)])
    table = arb_mat(outer.values()) * arb_mat(running).transpose()
    return {
        product: sum((times * table[i, k] for times, i, k in listed), arb(0)) + _double_error(laws, product, nodes)
        for product, listed in terms.items()
    }


def _node_by_node(laws: Sequence[PanelLaw], group: Sequence[Product]) -> dict[Product, arb]:
    """Two numbers, where powers are too high to be expanded: one sum over l for every node h."""
    nodes = _nodes(laws, group, _DOUBLE, _MOST_PAIRS)
    count = nodes.count
    inner = {p: ((p[0][0],), tuple(each for each in p[1] if each[0][1] not in _OF_SECOND)) for p in group}
    rows = _StripRows(list(dict.fromkeys(inner.values())))
    bells, below, above = _at_nodes(laws, group, nodes)
    half = arb(1) / 2
    steps = [half + (arb.pi() * d).si() / arb.pi() for d in range(count)]
    totals = {product: arb(0) for product in group}
    for k in range(count):
        weights = [steps[k - j] if j <= k else 1 - steps[j - k] for j in range(count)]
        starts = {law: [w * v for w, v in zip(weights, bells[law], strict=True)] for law in {p[0][0] for p in group}}
        factors = {}
        for j, gaps in rows.tops:
            if gaps == 0b001:
                factors[j, gaps] = below[j]
            elif gaps == 0b110:
                factors[j, gaps] = above[j]
            elif gaps == 0b010:
                factors[j, gaps] = [below[j][k] - v for v in below[j]]
            else:
                factors[j, gaps] = [above[j][k] + v for v in below[j]]
        sums = rows.sums(starts, factors)
        for product in group:
            value = bells[product[0][1]][k]
            for (j, gaps), power in product[1]:
                if gaps in _OF_SECOND:
                    value *= (below if gaps == 0b011 else above)[j][k] ** power
            totals[product] += value * sums(*rows.at[inner[product]])
    return {product: totals[product] + _double_error(laws, product, nodes) for product in group}


class _Monomials:
    """Densities times powers of shares at all nodes, each by the number of its row."""

    def __init__(
        self, bells: Mapping[int, list[arb]], below: Mapping[int, list[arb]], above: Mapping[int, list[arb]]
    ) -> None:
        self.bells, self.shares = bells, (below, above)
        self.rows: dict[tuple[int, tuple[tuple[int, int, int], ...]], int] = {}
        self._known: dict[tuple[int, tuple[tuple[int, int, int], ...]], list[arb]] = {}

    def row(self, law: int, powers: Iterable[tuple[int, int, int]]) -> int:
        """The number of the density of a law times powers, each with a law, the side (0 below, 1 above) and the exponent."""
        total: dict[tuple[int, int], int] = {}
        for j, side, power in powers:
            total[j, side] = total.get((j, side), 0) + power
        key = law, tuple(sorted((j, side, power) for (j, side), power in total.items() if power))
        return self.rows.setdefault(key, len(self.rows))

    def values(self) -> list[list[arb]]:
        """All rows."""
        return [self._values(*key) for key in self.rows]

    def _values(self, law: int, powers: tuple[tuple[int, int, int], ...]) -> list[arb]:
        if not powers:
            return self.bells[law]
        key = law, powers
        if key not in self._known:
            *rest, (j, side, power) = powers
            before = self._values(law, (*rest, *([(j, side, power - 1)] if power > 1 else [])))
            self._known[key] = [a * b for a, b in zip(before, self.shares[side][j], strict=True)]
        return self._known[key]


def _expand_product(product: Product, outer: _Monomials, inner: _Monomials) -> Iterator[tuple[int, int, int]]:
    """A product as a sum: how often, and the numbers of a row in h and of a row in l."""
    (first, second), powers = product
    fixed_l = [(j, 0 if gaps == 0b001 else 1, power) for (j, gaps), power in powers if gaps in (0b001, 0b110)]
    fixed_h = [(j, 0 if gaps == 0b011 else 1, power) for (j, gaps), power in powers if gaps in _OF_SECOND]
    mixed = [(j, gaps, power) for (j, gaps), power in powers if gaps in _MIXED]
    if len(fixed_l) + len(fixed_h) + len(mixed) != len(powers):
        refuse("a number lies in gaps that are not known here", "question.code")
    for chosen in iterate_over(*(range(power + 1) for _, _, power in mixed)):
        times = 1
        in_l, in_h = list(fixed_l), list(fixed_h)
        for (j, gaps, power), taken in zip(mixed, chosen, strict=True):
            times *= comb(power, taken) * (-1 if gaps == 0b010 and taken % 2 else 1)
            in_l.append((j, 0, taken))
            in_h.append((j, 0 if gaps == 0b010 else 1, power - taken))
        yield times, outer.row(second, in_h), inner.row(first, in_l)


def _double_error(laws: Sequence[PanelLaw], product: Product, nodes: _StripNodes) -> arb:
    first, second = (laws[j] for j in product[0])
    strip, step, pi = nodes.strip, nodes.step, arb.pi()
    one = both = beyond = arb(1)
    for (j, gaps), power in product[1]:
        top = highest_share(strip / laws[j].scale)
        one *= (1 + top if gaps == 0b101 else top) ** power
        both *= (2 * top if gaps == 0b101 else 2 * top - 1 if gaps == 0b010 else top) ** power
        beyond *= arb(2) ** power if gaps == 0b101 else arb(1)  # for l above h a difference may be down to -1
    rise = [((strip / law.scale) ** 2 / 2).exp() for law in (first, second)]
    running = 2 * rise[0] * one * step * (1 + pi) / (2 * pi**2 * strip * (pi * strip / step).sinh())
    inside = running + 2 * beyond * _outside(first, nodes)  # no weight is above 1.1
    modulus = both * rise[1] * (1 + strip * rise[0] / (first.scale * (2 * pi).sqrt()))
    outer = 2 * modulus / ((2 * pi * strip / step).exp() - 1)
    mass = 1 + 2 / ((2 * pi * strip / step).exp() - 1) * rise[1]  # the rule's own sum over the density of h
    return arb(0, (inside * mass + outer).upper()) + up_to(_outside(second, nodes) * (1 + inside.upper()))


def _in_panels(laws: Sequence[PanelLaw], group: Sequence[Product]) -> dict[Product, arb]:
    """Laws with kinks, one number."""
    rows = _StripRows(group)
    tops: dict[int, int] = {}
    for (j, _), power in rows.tops.items():
        tops[j] = tops.get(j, 0) + power
    hubs = {product[0][0] for product in group}
    most = max(sum(power for _, power in product[1]) for product in group)
    rule = rule_for([laws[j] for j in hubs], [(laws[j], power) for j, power in tops.items()], most)
    factors = _both_sides(rows.tops, lambda j: rule.shares(laws[j]))
    sums = rows.sums({j: rule.densities(laws[j]) for j in hubs}, factors)
    off = {j: arb(0, rule.error) + up_to(rule.outside(laws[j])) for j in hubs}
    return {product: sums(i, k) + off[product[0][0]] for product, (i, k) in rows.at.items()}
