"""Probabilities of comparisons between independent noises, Gaussian noise among them, as balls.

Each noise is compared with constants and, in pairs, with others; the graph of the pairs is a forest.  In a tree of it every noise is
measured in a unit and from a zero in which it is compared with its parent itself.  Two methods:

* *One noise in the middle* (`_star`): all others meet it alone.  The integrand is a product of distribution functions and one density; it
  is entire between the places where one of them has a kink, and FLINT integrates it there with its own error bound.
* *Gaussian noise throughout* (`_tree`), compared with no constant: the trapezoidal rule.  A function f that is analytic within the strip
  ``|Im z| <= a`` with ``int |f(x + ib)| dx <= M`` there has ``|int f - h sum f(kh)| <= 2 M/(e^(2 pi a/h) - 1)`` (Trefethen and Weideman
  2014, theorem 5.1), and ``int_{-inf}^{kh} f`` is ``h sum_j (1/2 + Si(pi (k-j))/pi) f(jh)`` up to ``2 M h (1+pi)/(2 pi^2 a sinh(pi a/h))``.
  With ``|Phi(x+iy)| <= Phi(x) + c phi(x) <= Phi(1/c) + c phi(1/c)``, ``c = |y| e^(y^2/2)``, bounds on the strip follow from the ends of
  the tree inwards.  What is left out beyond the nodes is at most the mass of the density there.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence, Set
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from itertools import pairwise
from typing import TypeAlias

from flint import acb, arb, arb_mat, ctx

from privproof_checker.graph_algorithms import reachable
from privproof_checker.integrals.gaps import is_void, largest_gaps, needed_inequalities
from privproof_checker.numbers import Rational
from privproof_checker.outcomes import refuse

_STRIP = 1
"""Half the width of the strip, in the smallest standard deviation of a tree."""
_STEPS = 12
"""Nodes for each half width of the strip: the rule is then off by 10^-16 times its bound."""
_BLEND_STEPS = 7
"""The same for densities, which are computed at many points: off by 10^-19 times the bound."""
TAIL = {"gaussian": 10, "laplace": 60, "exponential": 60}
"""So many scales from its center a law is followed; what lies beyond is added as a ball."""
_MOST_NODES = 4_000
"""Nodes of the trapezoidal rule; a tree whose scales ask for more is refused."""
KINDS = ("gaussian", "laplace", "exponential")

Noise = tuple[str, Rational]
Inequality = tuple[dict[int, Rational], Rational]
"""The coefficients of noises, by number, and a constant: their sum is at least 0."""


@dataclass
class Vertex:
    """A noise as ``unit * x + zero``, between two ends of its own and two distances above its parent."""

    kind: str
    unit: Rational
    zero: Rational
    scale: Rational
    ends: list[Rational | None]
    gaps: list[Rational | None] = field(default_factory=lambda: [None, None])
    below: list[Vertex] = field(default_factory=list)

    @property
    def free(self) -> bool:
        """Whether no constant bounds it."""
        return self.ends == [None, None]

    @property
    def turned(self) -> bool:
        """Whether it grows as the noise falls."""
        return self.unit < 0

    @cached_property
    def spread(self) -> Rational:
        """Its scale."""
        return abs(self.unit) * self.scale


def forest_probability(noises: Sequence[Noise], inequalities: Sequence[Inequality], place: str) -> arb:
    """The probability that all inequalities hold."""
    read = _comparisons(len(noises), inequalities, place)
    if read is None:
        return arb(0)
    ends, pairs = read
    result = arb(1)
    waiting = set(range(len(noises)))
    while waiting:
        members = _connected(min(waiting), pairs)
        waiting -= members
        joined = [pair for pair in pairs if pair <= members]
        middle = max(members, key=lambda j: (sum(j in pair for pair in joined), -j))
        result *= _mass(_root_tree(middle, Rational(1), Rational(0), noises, ends, pairs, place), place)
    return result


def tree_around(
    atom: int, unit: Rational, zero: Rational, noises: Sequence[Noise], inequalities: Sequence[Inequality], place: str
) -> Vertex | None:
    """The noises that are connected with one, of which ``unit * x + zero`` is the value; None if inequalities contradict one another."""
    read = _comparisons(len(noises), inequalities, place)
    return None if read is None else _root_tree(atom, unit, zero, noises, *read, place)


_Pairs: TypeAlias = dict[frozenset[int], list[Inequality]]


def _comparisons(
    count: int, inequalities: Sequence[Inequality], place: str
) -> tuple[list[list[Rational | None]], _Pairs] | None:
    """The ends of every noise by itself, and the inequalities of two; None if some contradict one another.

    Where they go in a circle, as x < y < z and x < z do, those that follow from others are left out.
    """
    circle = _go_in_a_circle(inequalities)
    gaps = largest_gaps(inequalities) if circle or _come_again(inequalities) else None
    if gaps is not None:
        if is_void(gaps):
            return None
        inequalities = needed_inequalities(gaps) if circle else inequalities
    ends: list[list[Rational | None]] = [[None, None] for _ in range(count)]
    pairs: _Pairs = {}
    for factors, constant in inequalities:
        kept = {j: c for j, c in factors.items() if c != 0}
        if len(kept) > 2:
            refuse(f"{len(kept)} noises are compared at once", place)
        if not kept:
            if constant < 0:
                return None
        elif len(kept) == 1:
            [(j, c)] = kept.items()
            _narrow(ends[j], 0 if c > 0 else 1, -constant / c)
        else:
            pairs.setdefault(frozenset(kept), []).append((kept, constant))
    contradicted = any(low is not None and high is not None and low >= high for low, high in ends)
    return None if contradicted else (ends, pairs)


def _go_in_a_circle(inequalities: Sequence[Inequality]) -> bool:
    """Whether the pairs of noises that are compared are no forest."""
    trees: list[frozenset[int]] = []
    for pair in {frozenset(j for j, c in factors.items() if c != 0) for factors, _ in inequalities}:
        met = [tree for tree in trees if tree & pair]
        if len(pair) == 2 and any(pair <= tree for tree in met):
            return True
        trees = [tree for tree in trees if not tree & pair] + [pair.union(*met)]
    return False


def _come_again(inequalities: Sequence[Inequality]) -> bool:
    """Whether two noises are compared more than once."""
    pairs = [frozenset(j for j, c in factors.items() if c != 0) for factors, _ in inequalities]
    return any(len(pair) == 2 and pairs.count(pair) > 1 for pair in pairs)


def _root_tree(
    atom: int,
    unit: Rational,
    zero: Rational,
    noises: Sequence[Noise],
    ends: Sequence[list[Rational | None]],
    pairs: _Pairs,
    place: str,
) -> Vertex:
    members = _connected(atom, pairs)
    joined = {pair: listed for pair, listed in pairs.items() if pair <= members}
    if len(joined) != len(members) - 1:
        refuse("comparisons of noises form a cycle", place)
    kind, scale = noises[atom]
    own = [None if end is None else unit * end + zero for end in ends[atom]]
    root = Vertex(kind, unit, zero, scale, own if unit > 0 else own[::-1])
    _grow(root, atom, -1, noises, ends, joined, place)
    return root


def _narrow(ends: list[Rational | None], side: int, value: Rational) -> None:
    before = ends[side]
    if before is None or (value > before) == (side == 0):
        ends[side] = value


def _connected(start: int, pairs: _Pairs) -> Set[int]:
    return reachable([start], lambda atom: [other for pair in pairs if atom in pair for other in pair])


def _grow(
    vertex: Vertex,
    number: int,
    parent: int,
    noises: Sequence[Noise],
    ends: Sequence[list[Rational | None]],
    pairs: _Pairs,
    place: str,
) -> None:
    """Add what hangs below a vertex."""
    for pair, listed in pairs.items():
        if number not in pair or parent in pair:
            continue
        [child] = pair - {number}
        # c x_child + b x_parent + e >= 0, and the parent's value is v = unit x_parent + zero: with s = b/unit it is
        # s (v - w) >= 0 for the child's value w = -(c x_child + e)/s + zero.
        factors, constant = listed[0]
        slope = factors[number] / vertex.unit
        unit, zero = -factors[child] / slope, vertex.zero - constant / slope
        kind, scale = noises[child]
        own = [None if end is None else unit * end + zero for end in ends[child]]
        made = Vertex(kind, unit, zero, scale, own if unit > 0 else own[::-1])
        for other, also in listed:
            along = other[number] / vertex.unit
            if -other[child] / along != unit:
                refuse("two noises are compared in two ways that are not parallel", place)
            gap = also / along - constant / slope  # along (v - w + gap) >= 0
            _narrow(made.gaps, 1 if along > 0 else 0, gap)
        if made.gaps[0] is not None and made.gaps[1] is not None and made.gaps[0] >= made.gaps[1]:
            refuse("two comparisons of the same noises contradict one another", place)
        vertex.below.append(made)
        _grow(made, child, number, noises, ends, pairs, place)


def _mass(root: Vertex, place: str) -> arb:
    """The probability that a noise lies between its ends and all below it agree."""
    if not root.below:
        low, high = root.ends
        return _probability_between(root, low, high)
    if all(not child.below for child in root.below):
        return _star(root, place)
    vertices = list(_vertices(root))
    if all(v.kind == "gaussian" and v.free for v in vertices) and all(_plain(v) for v in vertices if v is not root):
        return _tree(root, vertices, place)
    refuse("noises that are not all Gaussian, or compared with constants, meet in more than one place", place)


def _vertices(vertex: Vertex) -> list[Vertex]:
    return [vertex] + [v for child in vertex.below for v in _vertices(child)]


def _plain(vertex: Vertex) -> bool:
    """Whether a vertex is compared with its parent once, or has nothing below it."""
    return not vertex.below or vertex.gaps in ([None, Rational(0)], [Rational(0), None])


def _share(vertex: Vertex, z: acb, *, after: bool) -> acb:
    """The probability to be below a value, continued from the values after its center, or before it."""
    w = (z - vertex.zero) / vertex.spread
    if vertex.kind == "gaussian":
        return (-w / acb(2).sqrt()).erfc() / 2
    if vertex.kind == "laplace":
        return 1 - (-w).exp() / 2 if after else w.exp() / 2
    if vertex.turned:
        return acb(1) if after else w.exp()
    return 1 - (-w).exp() if after else acb(0)


def density_of(vertex: Vertex, z: acb, *, after: bool) -> acb:
    """Its density at a value, continued from the values after its center, or before it."""
    w = (z - vertex.zero) / vertex.spread
    if vertex.kind == "gaussian":
        return (-w * w / 2).exp() / (2 * acb.pi()).sqrt() / vertex.spread
    if vertex.kind == "laplace":
        return (-w if after else w).exp() / 2 / vertex.spread
    if vertex.turned == after:
        return acb(0)
    return (w if vertex.turned else -w).exp() / vertex.spread


def _at(vertex: Vertex, value: Rational) -> arb:
    """The probability to be below a value."""
    return _share(vertex, acb(arb(value)), after=value >= vertex.zero).real


def _over(vertex: Vertex, value: Rational) -> arb:
    """The probability to be above a value, which is not lost in a difference from 1."""
    w, after = arb((value - vertex.zero) / vertex.spread), value >= vertex.zero
    if vertex.kind == "gaussian":
        return normal_share(-w)
    if vertex.kind == "laplace":
        return (-w).exp() / 2 if after else 1 - w.exp() / 2
    if vertex.turned:
        return arb(0) if after else 1 - w.exp()
    return (-w).exp() if after else arb(1)


def _probability_between(vertex: Vertex, low: Rational | None, high: Rational | None) -> arb:
    if low is not None and low >= vertex.zero:
        return _over(vertex, low) - (arb(0) if high is None else _over(vertex, high))
    top = arb(1) if high is None else _at(vertex, high)
    return top if low is None else top - _at(vertex, low)


def _star(root: Vertex, place: str) -> arb:
    """The probability that all noises agree with the one in the middle, which they meet alone."""
    reach = TAIL[root.kind] * root.spread
    low, high = root.ends
    start = root.zero - reach if low is None else low
    stop = root.zero + reach if high is None else high
    outside = arb(0)
    if low is None:
        outside += _at(root, start)
    if high is None:
        outside += _over(root, stop)
    if start >= stop:
        return up_to(_probability_between(root, low, high))
    cuts = {start, stop, *_kinks(root)}
    for child in root.below:
        for point in (*_kinks(child), *(end for end in child.ends if end is not None)):
            cuts |= {point - gap for gap in child.gaps if gap is not None}
    marks = sorted(cut for cut in cuts if start <= cut <= stop)
    total = arb(0)
    for one, two in pairwise(marks):
        middle = (one + two) / 2
        part = acb.integral(_integrand(root, middle), acb(arb(one)), acb(arb(two)))
        if not part.is_finite():
            refuse("an integral does not converge", place)
        total += part.real
    return total + up_to(outside)


def _integrand(root: Vertex, middle: Rational) -> Callable[[acb, object], acb]:
    """What is integrated near a value of the one in the middle: entire, so that nothing has to be asked."""
    after = middle >= root.zero
    factors = [share_near(child, middle) for child in root.below]

    def value(z: acb, _: object) -> acb:
        result = density_of(root, z, after=after)
        for factor in factors:
            result *= factor(z)
        return result

    return value


def _kinks(vertex: Vertex) -> list[Rational]:
    """Where its density is not smooth, but for its ends."""
    return [] if vertex.kind == "gaussian" else [vertex.zero]


def share_near(child: Vertex, middle: Rational) -> Callable[[acb], acb]:
    """The probability that a noise lies between its distances from the middle one and its own ends, near some value of that."""
    low, high = child.gaps

    def bound(gap: Rational | None, end: Rational | None, side: int) -> Callable[[acb], acb]:
        """The probability to be below the tighter of two bounds: the moving one, and the end that stays."""
        moving = None if gap is None else middle + gap
        fixed = end
        if gap is not None and moving is not None and (fixed is None or (moving > fixed) == (side == 0)):
            after = moving >= child.zero
            return lambda z: _share(child, z + gap if gap else z, after=after)
        if fixed is not None:
            constant = acb(_at(child, fixed))
            return lambda _: constant
        return lambda _: acb(side)

    if _empty(child, middle):
        return lambda _: acb(0)
    lower, upper = bound(low, child.ends[0], 0), bound(high, child.ends[1], 1)
    if low is None and child.ends[0] is None:
        return upper
    if high is None and child.ends[1] is None:
        return lambda z: 1 - lower(z)
    return lambda z: upper(z) - lower(z)


def _empty(child: Vertex, middle: Rational) -> bool:
    """Whether nothing lies between the tighter bounds near some value of the middle one."""
    lows = [v for v in (child.ends[0], None if child.gaps[0] is None else middle + child.gaps[0]) if v is not None]
    highs = [v for v in (child.ends[1], None if child.gaps[1] is None else middle + child.gaps[1]) if v is not None]
    return bool(lows and highs) and max(lows) >= min(highs)


def up_to(top: arb) -> arb:
    """Some number between 0 and another one."""
    half = top.upper() / 2
    return arb(half, half)


@dataclass(frozen=True)
class _TrapezoidNodes:
    """The nodes of the trapezoidal rule, and the strip."""

    first: arb
    step: arb
    count: int
    strip: arb

    def point(self, k: int) -> arb:
        return self.first + k * self.step


def _tree(root: Vertex, vertices: Sequence[Vertex], place: str) -> arb:
    """Gaussian noise in a tree."""
    nodes = _nodes(vertices, [v for v in vertices if v.below], None, _STEPS, place)
    strip, step = nodes.strip, nodes.step
    values, strength, _ = _weighted_density(root, nodes)
    edge = 2 * strength / ((2 * arb.pi() * strip / step).exp() - 1)
    return step * sum(values, arb(0)) + arb(0, edge.upper()) + up_to(_cut_off(root, nodes))


def _nodes(
    vertices: Sequence[Vertex], inner: Sequence[Vertex], scale: Rational | None, steps: int, place: str
) -> _TrapezoidNodes:
    """Nodes that reach beyond the vertices over which is integrated, in a strip for all of them and for a further scale."""
    scales = [v.spread for v in vertices] + ([] if scale is None else [scale])
    strip = arb(min(scales) * _STRIP)
    step = strip / steps
    low = min(v.zero - TAIL["gaussian"] * v.spread for v in inner)
    high = max(v.zero + TAIL["gaussian"] * v.spread for v in inner)
    count = int(float(((arb(high) - arb(low)) / step).upper())) + 2
    if count > _MOST_NODES:
        refuse(f"{count} nodes are needed", place)
    return _TrapezoidNodes(arb(low), step, count, strip)


@dataclass(frozen=True)
class Blend:
    """The density of ``v - t``, t the value of a tree and v Gaussian noise of a scale that nothing else is compared with.

    ``h sum W(kh) f_v(y + kh)`` with the density W of t; off by ``2 M/(e^(2 pi a/h) - 1)``, M at most that of W times the largest
    ``|f_v|`` in the strip, and by what W has beyond the nodes times the largest f_v.
    """

    points: tuple[tuple[arb, arb], ...]
    scale: Rational
    error: arb

    def density(self, middle: Rational, half: arb, a: Rational, b: Rational) -> arb:
        """The density around a number, within some distance, over ``e^(a y^2 + b y)``: exponents are expanded around the number."""
        least, flat = 1 / (2 * self.scale**2), arb(-a * middle**2 - b * middle)
        total = arb(0)
        for point, weight in self.points:
            x = arb(middle) + point
            slope = arb(-2 * a * middle - b) - arb(2 * least) * x
            total += weight * (flat - arb(least) * x * x + half * slope + half * half * arb(-least - a)).exp()
        off = self.error * (flat + half * arb(-2 * a * middle - b) - half * half * arb(a)).exp()
        return (total + arb(0, off.upper())) / ((2 * arb.pi()).sqrt() * arb(self.scale))


def blend(root: Vertex, scale: Rational, place: str) -> Blend | None:
    """The density of Gaussian noise less the value of a tree of Gaussian noise; None where the tree is of another kind."""
    vertices = _vertices(root)
    if not all(v.kind == "gaussian" and v.free for v in vertices) or not all(
        _plain(v) for v in vertices if v is not root
    ):
        return None
    nodes = _nodes(vertices, [root, *(v for v in vertices if v.below)], scale, _BLEND_STEPS, place)
    values, strength, _ = _weighted_density(root, nodes)
    across = nodes.strip / arb(scale)
    edge = 2 * strength * (across * across / 2).exp() / ((2 * arb.pi() * nodes.strip / nodes.step).exp() - 1)
    points = tuple((nodes.point(k), nodes.step * value) for k, value in enumerate(values))
    return Blend(points, scale, (edge + _cut_off(root, nodes)).upper())


def _cut_off(vertex: Vertex, nodes: _TrapezoidNodes) -> arb:
    """What the sum over the nodes leaves out: at most the mass of the density beyond the last but one on either side."""
    first, last = (nodes.point(1) - vertex.zero) / vertex.spread, (nodes.point(nodes.count - 2) - vertex.zero)
    return normal_share(first) + normal_share(-last / vertex.spread)


def _weighted_density(vertex: Vertex, nodes: _TrapezoidNodes) -> tuple[list[arb], arb, arb]:
    """The density where everything below agrees: at the nodes; a bound on its integral along lines of the strip; a bound in the strip."""
    values = [density_of(vertex, acb(nodes.point(k)), after=True).real for k in range(nodes.count)]
    across = nodes.strip / vertex.spread
    strength = (across * across / 2).exp()
    for child in vertex.below:
        factors, largest = _child_factors(child, nodes)
        values = [a * b for a, b in zip(values, factors, strict=True)]
        strength *= largest
    return values, strength.upper(), (strength / (2 * arb.pi()).sqrt() / vertex.spread).upper()


def _child_factors(child: Vertex, nodes: _TrapezoidNodes) -> tuple[list[arb], arb]:
    """The probability that a child and everything below it agree with its parent's value at each node; a bound in the strip."""
    if not child.below:
        low, high = child.gaps
        values = []
        for k in range(nodes.count):
            value = arb(1) if high is None else normal_share((nodes.point(k) + high - child.zero) / child.spread)
            values.append(
                value if low is None else value - normal_share((nodes.point(k) + low - child.zero) / child.spread)
            )
        bound = highest_share(nodes.strip / child.spread)
        return values, bound if low is None or high is None else 2 * bound
    inside, strength, top = _weighted_density(child, nodes)
    ratio = arb.pi() * nodes.strip / nodes.step
    error = 2 * strength * nodes.step * (1 + arb.pi()) / (2 * arb.pi() ** 2 * nodes.strip * ratio.sinh())
    error += 2 * _cut_off(child, nodes)  # no weight is above 1.1
    matrix = _running_weights(nodes.count, int(ctx.prec))
    column = matrix * arb_mat(nodes.count, 1, inside)
    below = [nodes.step * column[k, 0] + arb(0, error.upper()) for k in range(nodes.count)]
    if child.gaps[1] is None:  # above its parent
        whole = nodes.step * sum(inside, arb(0)) + arb(0, error.upper())
        below = [whole - value for value in below]
    return below, 1 + nodes.strip * top


@lru_cache(maxsize=2)
def _running_weights(count: int, bits: int) -> arb_mat:
    """The weights ``1/2 + Si(pi (k-j))/pi``."""
    half = arb(1) / 2
    weights = [half + (arb.pi() * d).si() / arb.pi() for d in range(count)]
    return arb_mat(
        count, count, [weights[k - j] if k >= j else 1 - weights[j - k] for k in range(count) for j in range(count)]
    )


def normal_share(x: arb) -> arb:
    """How much of the standard normal law lies below a number."""
    return (x * _unit(ctx.prec)).erfc() / 2


@lru_cache(maxsize=8)
def _unit(bits: int) -> arb:
    """What a number is multiplied with before the error function is taken, at a precision."""
    return -1 / arb(2).sqrt()


def highest_share(across: arb) -> arb:
    """A bound on the normal distribution function within some distance of the line."""
    c = across * (across * across / 2).exp()
    return normal_share(1 / c) + c * (-1 / (2 * c * c)).exp() / (2 * arb.pi()).sqrt()


def normal_excess(mu: arb, e: arb) -> arb:
    """The largest ``P(E) - e^e Q(E)`` of two standard normal laws that are mu > 0 apart."""
    return normal_share(mu / 2 - e / mu) - e.exp() * normal_share(-mu / 2 - e / mu)
