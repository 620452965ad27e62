"""Exact probabilities of polyhedra under independent continuous noise of scale ``c/ε``.

A run of a mechanism with concrete inputs is a conjunction of linear inequalities over its noises.  Its probability is an
integral of functions ``sum c * x^k * e^(r*ε*x)`` on rational intervals, which are closed under products, affine
substitution and integration: the result is an `ExponentialSum` in ε, or at a given ε a rigorous ball.

The noises are eliminated from the leaves of the graph whose edges are the inequalities between two noises.  A leaf y that
meets only x contributes ``M(x) = ∫ f(y) dy`` from the largest lower bound to the smallest upper one, where f is its density
times the messages that it received; x is split where other bounds become active or a bound enters another piece of f.
Equal messages are computed once and multiplied as powers.  What is left when no leaf is left (a cycle, or an inequality
over three noises) goes to `polyhedra`.  Inequalities hold with equality on a set of measure zero, so ``>`` and ``>=`` agree.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from functools import reduce
from itertools import combinations, pairwise
from math import comb, lcm
from typing import Generic, NamedTuple, Protocol, TypeAlias, TypeVar

from flint import arb, fmpq

from privproof.engines.laplace import polyhedra
from privproof.errors import LanguageError, NumberError
from privproof.exact.balls import precision
from privproof.exact.exponentials import ExponentialSum
from privproof.exact.rationals import ONE, ZERO, Rational

_GUARD = 32
"""Bits beyond those asked for, for what the arithmetic loses."""
_ACCURACY = 40
"""Bits of a probability that have to be certain; with fewer it is computed again at twice the precision."""
_MOST_BITS = 4096
"""Beyond this precision the closed form takes over, which loses nothing."""


@dataclass(frozen=True)
class Noise:
    """A noise centred at 0 of scale ``scale/ε``: ``laplace``, or ``exponential`` with support from 0 upwards."""

    kind: str
    scale: Rational

    def __post_init__(self) -> None:
        if self.kind not in ("laplace", "exponential"):
            raise LanguageError(
                "noise", f"kind={self.kind!r} is no continuous noise", hint='write "laplace" or "exponential"'
            )
        if self.scale <= 0:
            raise LanguageError("noise", f"scale={self.scale} is not above zero", hint="a scale is a positive number")


@dataclass(frozen=True)
class Halfspace:
    """The points with ``sum coefficients[j] * x_j + constant >= 0``.

    Coefficients are pairs of the number of a noise and a factor other than zero, sorted by number.
    """

    coefficients: tuple[tuple[int, Rational], ...]
    constant: Rational

    def __post_init__(self) -> None:
        numbers = [number for number, _ in self.coefficients]
        if any(one >= two for one, two in pairwise(numbers)) or any(factor == 0 for _, factor in self.coefficients):
            raise LanguageError(
                "integral", f"coefficients={self.coefficients!r} are not sorted by noise, distinct and nonzero"
            )


def probability(noises: Sequence[Noise], halfspaces: Sequence[Halfspace]) -> ExponentialSum:
    """The probability that all halfspaces hold, as a closed form in ε.

    >>> lap, below = Noise("laplace", fmpq(2)), Halfspace(((0, fmpq(-1)),), fmpq(-3))
    >>> probability([lap], [below]).text("ε")
    '1/2*e^(-3/2 ε)'
    >>> difference = Halfspace(((0, fmpq(1)), (1, fmpq(-1))), fmpq(-3))
    >>> probability([lap, lap], [difference]).text("ε")
    '1/2*e^(-3/2 ε) + 3/8*ε*e^(-3/2 ε)'
    """
    grid = reduce(lcm, (int(noise.scale.p) for noise in noises), 1)
    grid *= reduce(lcm, (int(halfspace.constant.q) for halfspace in halfspaces), 1)
    return _integral(noises, halfspaces, _Symbolic(grid))


def probability_ball(
    noises: Sequence[Noise], halfspaces: Sequence[Halfspace], epsilon: Rational, bits: int = 128
) -> arb:
    """A ball around the probability at this ε, exactly zero if the probability is.

    The precision starts at `bits` and doubles until the ball is known to a relative 2^-40; past 4096 bits the closed form
    takes over.

    >>> lap, below = Noise("laplace", fmpq(2)), Halfspace(((0, fmpq(-1)),), fmpq(-160))
    >>> print(probability_ball([lap], [below], fmpq(1)).str(20, radius=False))
    9.0242569392270758616e-36
    """
    if epsilon <= 0:
        raise NumberError("number", f"epsilon={epsilon} is not above zero", hint="the noise has scale c/epsilon")
    work = bits + _GUARD
    while work <= _MOST_BITS:
        with precision(work):
            ball = _integral(noises, halfspaces, _Numeric(epsilon))
        if ball.is_zero() or ball.rel_accuracy_bits() >= _ACCURACY:
            return ball
        work *= 2
    exact = probability(noises, halfspaces).at(epsilon)
    while not exact.is_zero:
        ball = exact.ball(1, work)
        if ball.rel_accuracy_bits() >= _ACCURACY:
            return ball
        work *= 2
    return arb(0)


# --- the two rings of coefficients ---------------------------------------------------------------------------------------

K = TypeVar("K", ExponentialSum, arb)


class Ring(Protocol[K]):
    """Where the coefficients live; they add, subtract and multiply by themselves."""

    def term(self, factor: Rational, power: int, exponent: Rational) -> K:
        """``factor * ε^power * e^(exponent*ε)``."""
        ...

    def vanishes(self, value: K) -> bool:
        """Whether the coefficient is known to be exactly zero."""
        ...


class _Symbolic:
    """Closed forms in ε."""

    def __init__(self, grid: int) -> None:
        self.grid = grid

    def term(self, factor: Rational, power: int, exponent: Rational) -> ExponentialSum:
        if self.grid % int(exponent.q):
            self.grid = lcm(self.grid, int(exponent.q))
        return ExponentialSum.term(factor, power, exponent, denominator=self.grid)

    def vanishes(self, value: ExponentialSum) -> bool:
        return value.is_zero


class _Numeric:
    """Balls at one ε, in the precision of the context."""

    def __init__(self, epsilon: Rational) -> None:
        self.epsilon = epsilon

    def term(self, factor: Rational, power: int, exponent: Rational) -> arb:
        value = arb(factor * self.epsilon**power if power else factor)
        return value * arb(exponent * self.epsilon).exp() if exponent else value

    def vanishes(self, value: arb) -> bool:
        return value.is_zero()


# --- functions of one noise ----------------------------------------------------------------------------------------------

End: TypeAlias = Rational | None
"""A finite end of an interval, or none."""
Line: TypeAlias = tuple[Rational, Rational]
"""``slope * x + intercept``."""


class Piece(NamedTuple, Generic[K]):
    """``sum c * x^k * e^(n/grid*ε*x)`` over the entries ``(k, n): c``, on one interval; the grid is the function's."""

    low: End
    high: End
    terms: dict[tuple[int, int], K]


class Function(NamedTuple, Generic[K]):
    """A function that is positive inside its pieces, which are in order, and zero elsewhere."""

    grid: int
    pieces: list[Piece[K]]


class Calculus(Generic[K]):
    """Densities, products, messages and integrals of functions with coefficients in a ring."""

    def __init__(self, ring: Ring[K]) -> None:
        self.ring: Ring[K] = ring

    def prior(self, noise: Noise, low: End, high: End) -> Function[K]:
        """The density of a noise between two ends."""
        grid, rate = int(noise.scale.p), int(noise.scale.q)
        two_sided = noise.kind == "laplace"
        height = self.ring.term((fmpq(1, 2) if two_sided else ONE) / noise.scale, 1, ZERO)
        pieces: list[Piece[K]] = [Piece(None, ZERO, {(0, rate): height})] if two_sided else []
        pieces.append(Piece(ZERO, None, {(0, -rate): height}))
        window = Function(1, [Piece(low, high, {(0, 0): self.ring.term(ONE, 0, ZERO)})])
        return self.product(Function(grid, pieces), window)

    def product(self, left: Function[K], right: Function[K]) -> Function[K]:
        """The product, on the common refinement of the pieces."""
        grid = lcm(left.grid, right.grid)
        ones, twos = _finer(left, grid), _finer(right, grid)
        pieces: list[Piece[K]] = []
        i = j = 0
        while i < len(ones) and j < len(twos):
            one, two = ones[i], twos[j]
            low, high = highest((one.low, two.low)), lowest((one.high, two.high))
            if low is None or high is None or low < high:
                pieces.append(Piece(low, high, self._times(one.terms, two.terms)))
            if one.high is not None and (two.high is None or one.high <= two.high):
                i += 1
            else:
                j += 1
        return Function(grid, pieces)

    def message(self, function: Function[K], lowers: Sequence[Line], uppers: Sequence[Line]) -> Function[K]:
        """The integral of the function from the largest lower to the smallest upper bound, as a function of x."""
        pieces = function.pieces
        steps = [slope / function.grid for slope, _ in (*lowers, *uppers)]
        grid = reduce(lcm, (int(step.q) for step in steps), 1)
        inner = [self._antiderivative(piece.terms, function.grid) for piece in pieces]
        whole = [self._value(inside, piece, function.grid) for inside, piece in zip(inner, pieces, strict=True)]
        composed: dict[tuple[int, bool, int], dict[tuple[int, int], K]] = {}

        def along(place: int, bound: int, *, upper: bool) -> dict[tuple[int, int], K]:
            if (place, upper, bound) not in composed:
                line = uppers[bound] if upper else lowers[bound]
                composed[place, upper, bound] = self._substituted(inner[place], line, function.grid, grid)
            return composed[place, upper, bound]

        made: list[Piece[K]] = []
        spans = [(piece.low, piece.high) for piece in pieces]
        for low, high, (first, last, start, stop) in regions(spans, lowers, uppers):
            terms: dict[tuple[int, int], K] = {}
            if stop is not None:
                self._gather(terms, along(last, stop, upper=True))
                if first != last or start is None:
                    self._point(terms, inner[last], pieces[last].low, function.grid, minus=True)
            if start is not None:
                self._gather(terms, along(first, start, upper=False), minus=True)
                if first != last or stop is None:
                    self._point(terms, inner[first], pieces[first].high, function.grid)
            for place in range(first if start is None else first + 1, last + 1 if stop is None else last):
                self._gather(terms, {(0, 0): whole[place]})
            made.append(Piece(low, high, terms))
        return Function(grid, made)

    def total(self, function: Function[K]) -> K:
        """The integral over all of the line."""
        result = self.ring.term(ZERO, 0, ZERO)
        for piece in function.pieces:
            result = result + self._value(self._antiderivative(piece.terms, function.grid), piece, function.grid)
        return result

    def _times(self, left: dict[tuple[int, int], K], right: dict[tuple[int, int], K]) -> dict[tuple[int, int], K]:
        product: dict[tuple[int, int], K] = {}
        for (k, n), one in left.items():
            for (j, m), two in right.items():
                key = (k + j, n + m)
                before = product.get(key)
                product[key] = one * two if before is None else before + one * two
        return {key: value for key, value in product.items() if not self.ring.vanishes(value)}

    def _antiderivative(self, terms: dict[tuple[int, int], K], grid: int) -> dict[tuple[int, int], K]:
        made: dict[tuple[int, int], K] = {}
        for (k, n), value in terms.items():
            for power, factor, weight in polyhedra.antiderivative(k, fmpq(n, grid)):
                self._gather(made, {(power, n): value * self.ring.term(factor, weight, ZERO)})
        return made

    def _value(self, inside: dict[tuple[int, int], K], piece: Piece[K], grid: int) -> K:
        """The integral over a whole piece."""
        terms: dict[tuple[int, int], K] = {}
        self._point(terms, inside, piece.high, grid)
        self._point(terms, inside, piece.low, grid, minus=True)
        return terms.get((0, 0), self.ring.term(ZERO, 0, ZERO))

    def _point(
        self,
        total: dict[tuple[int, int], K],
        inside: dict[tuple[int, int], K],
        end: End,
        grid: int,
        *,
        minus: bool = False,
    ) -> None:
        """Add or subtract the value at an end; at infinity, where densities decay, it is zero."""
        if end is None:
            return
        for (k, n), value in inside.items():
            if k == 0 or end != 0:
                at_end = value * self.ring.term(end**k, 0, fmpq(n, grid) * end)
                self._gather(total, {(0, 0): at_end}, minus=minus)

    def _substituted(
        self, terms: dict[tuple[int, int], K], line: Line, before: int, after: int
    ) -> dict[tuple[int, int], K]:
        """The function of ``slope*x + intercept``, its rates over another grid."""
        slope, intercept = line
        step = slope / before
        times = int(step.p) * (after // int(step.q))
        made: dict[tuple[int, int], K] = {}
        for (k, n), value in terms.items():
            for power in range(k + 1):
                if intercept == 0 and power != k:
                    continue
                factor = comb(k, power) * slope**power * intercept ** (k - power)
                moved = value * self.ring.term(factor, 0, fmpq(n, before) * intercept)
                self._gather(made, {(power, n * times): moved})
        return made

    def _gather(self, total: dict[tuple[int, int], K], terms: dict[tuple[int, int], K], *, minus: bool = False) -> None:
        for key, value in terms.items():
            before = total.get(key)
            if before is None:
                total[key] = -value if minus else value
                continue
            together = before - value if minus else before + value
            if self.ring.vanishes(together):
                del total[key]
            else:
                total[key] = together


def lowest(ends: Iterable[End]) -> End:
    """The smallest upper end, where none is infinity."""
    finite = [end for end in ends if end is not None]
    return min(finite) if finite else None


def highest(ends: Iterable[End]) -> End:
    """The largest lower end, where none is minus infinity."""
    finite = [end for end in ends if end is not None]
    return max(finite) if finite else None


def _finer(function: Function[K], grid: int) -> list[Piece[K]]:
    times = grid // function.grid
    if times == 1:
        return function.pieces
    return [
        Piece(low, high, {(k, n * times): value for (k, n), value in terms.items()})
        for low, high, terms in function.pieces
    ]


Active: TypeAlias = tuple[int, int, int | None, int | None]
"""The first and last piece that meet the bounds, and the bounds that cut into them."""


def regions(
    spans: Sequence[tuple[End, End]], lowers: Sequence[Line], uppers: Sequence[Line], *, integers: bool = False
) -> list[tuple[End, End, Active]]:
    """The intervals of x on which the same bounds cut the same pieces, and which these are.

    Over the integers all intervals, also the spans and the bounds, hold their lower end and not their upper one.
    """
    ends = [end for span in spans for end in span if end is not None]
    lines = [*lowers, *uppers]
    cuts: list[Rational] = [(end - intercept) / slope for slope, intercept in lines for end in ends]
    cuts += [(d - b) / (a - c) for (a, b), (c, d) in combinations(lines, 2) if a != c]
    if integers:
        cuts = [fmpq(cut.ceil()) for cut in cuts]
    cuts.sort()
    walls: list[End] = [None, *(cut for i, cut in enumerate(cuts) if i == 0 or cut != cuts[i - 1]), None]
    found: list[tuple[End, End, Active]] = []
    for low, high in pairwise(walls):
        active = _active(spans, lowers, uppers, _inside(low, high, integers=integers))
        if active is None:
            continue
        if found and low is not None and found[-1][1] == low and found[-1][2] == active:
            low = found.pop()[0]
        found.append((low, high, active))
    return found


def _inside(low: End, high: End, *, integers: bool) -> Rational:
    """A point of the interval at which no two bounds meet, unless it is the only integer there."""
    if high is None:
        return ZERO if low is None else low + 1
    return high - 1 if low is None or integers else (low + high) / 2


def _active(
    spans: Sequence[tuple[End, End]], lowers: Sequence[Line], uppers: Sequence[Line], x: Rational
) -> Active | None:
    bottoms = [slope * x + intercept for slope, intercept in lowers]
    tops = [slope * x + intercept for slope, intercept in uppers]
    bottom, top = highest(bottoms), lowest(tops)
    if bottom is not None and top is not None and bottom >= top:
        return None
    met = [
        place
        for place, (low, high) in enumerate(spans)
        if (bottom is None or high is None or high > bottom) and (top is None or low is None or low < top)
    ]
    if not met:
        return None
    first, last = met[0], met[-1]
    low, high = spans[first][0], spans[last][1]
    start = bottoms.index(bottom) if bottom is not None and (low is None or low < bottom) else None
    stop = tops.index(top) if top is not None and (high is None or high > top) else None
    return first, last, start, stop


# --- elimination of leaves -----------------------------------------------------------------------------------------------

F = TypeVar("F")
N = TypeVar("N", bound=Hashable)
N_contra = TypeVar("N_contra", bound=Hashable, contravariant=True)


class Elimination(Protocol[F, N_contra]):
    """What the elimination of leaves needs: integrals here, sums over the integers in `sums`."""

    def prior(self, noise: N_contra, low: End, high: End) -> F:
        """The density of a noise between two ends."""
        ...

    def product(self, left: F, right: F) -> F:
        """The product of two functions of the same noise."""
        ...

    def message(self, function: F, lowers: Sequence[Line], uppers: Sequence[Line]) -> F:
        """The measure between bounds, as a function of the neighbour."""
        ...


class Core(NamedTuple, Generic[F]):
    """What is left of one component: functions of its noises, and the halfspaces between them."""

    functions: dict[int, F]
    rest: list[Halfspace]


def eliminate(noises: Sequence[N], halfspaces: Iterable[Halfspace], algebra: Elimination[F, N]) -> list[Core[F]] | None:
    """Eliminate leaves in each component until none is left; None if a halfspace without noises is empty.

    A component that is a tree ends with a single noise.  Noises without a halfspace are left out.
    """
    kept: dict[Halfspace, None] = {}
    for halfspace in halfspaces:
        if halfspace.coefficients:
            kept[_unit(halfspace)] = None
        elif halfspace.constant < 0:
            return None
    peeling = _Peeling(noises, algebra)
    return [peeling.component(component) for component in _components(kept)]


def _unit(halfspace: Halfspace) -> Halfspace:
    head = abs(halfspace.coefficients[0][1])
    if head == 1:
        return halfspace
    return Halfspace(
        tuple((number, factor / head) for number, factor in halfspace.coefficients), halfspace.constant / head
    )


def _components(halfspaces: Iterable[Halfspace]) -> list[list[Halfspace]]:
    groups: list[tuple[set[int], list[Halfspace]]] = []
    for halfspace in halfspaces:
        numbers, members = {number for number, _ in halfspace.coefficients}, [halfspace]
        apart: list[tuple[set[int], list[Halfspace]]] = []
        for group in groups:
            if group[0] & numbers:
                numbers, members = numbers | group[0], group[1] + members
            else:
                apart.append(group)
        groups = [*apart, (numbers, members)]
    return [members for _, members in groups]


class _Peeling(Generic[F, N]):
    """Functions and messages, each computed once for all noises that look alike."""

    def __init__(self, noises: Sequence[N], algebra: Elimination[F, N]) -> None:
        self.noises = noises
        self.algebra = algebra
        self.known: dict[Hashable, int] = {}
        self.values: list[F] = []

    def component(self, halfspaces: Sequence[Halfspace]) -> Core[F]:
        """Send messages from leaves to their neighbours, layer by layer."""
        alone: dict[int, list[Line]] = {}
        joined: dict[int, dict[int, list[Halfspace]]] = {}
        crowded: list[Halfspace] = []
        for halfspace in halfspaces:
            numbers = [number for number, _ in halfspace.coefficients]
            for number in numbers:
                alone.setdefault(number, [])
                joined.setdefault(number, {})
            if len(numbers) == 1:
                alone[numbers[0]].append((halfspace.coefficients[0][1], halfspace.constant))
            elif len(numbers) == 2:
                one, two = numbers
                joined[one].setdefault(two, []).append(halfspace)
                joined[two].setdefault(one, []).append(halfspace)
            else:
                crowded.append(halfspace)
        held = {number for halfspace in crowded for number, _ in halfspace.coefficients}
        received: dict[int, Counter[int]] = {number: Counter() for number in alone}
        while leaves := [number for number, others in joined.items() if len(others) == 1 and number not in held]:
            for leaf in leaves:
                if len(joined[leaf]) == 1:
                    [(neighbour, links)] = joined.pop(leaf).items()
                    del joined[neighbour][leaf]
                    function = self.function(leaf, alone[leaf], received[leaf])
                    received[neighbour][self.message(leaf, function, links)] += 1
        functions = {number: self.values[self.function(number, alone[number], received[number])] for number in joined}
        between = [halfspace for one in joined for two in joined[one] if one < two for halfspace in joined[one][two]]
        return Core(functions, between + crowded)

    def function(self, number: int, walls: Sequence[Line], received: Counter[int]) -> int:
        low = highest(-constant / factor for factor, constant in walls if factor > 0)
        high = lowest(-constant / factor for factor, constant in walls if factor < 0)
        key = (self.noises[number], low, high, tuple(sorted(received.items())))

        def made() -> F:
            factors = [self.algebra.prior(self.noises[number], low, high)]
            factors += [_power(self.values[message], times, self.algebra) for message, times in received.items()]
            return _balanced(factors, self.algebra)

        return self.once(key, made)

    def message(self, leaf: int, function: int, links: Sequence[Halfspace]) -> int:
        lowers: list[Line] = []
        uppers: list[Line] = []
        for link in links:
            (one, first), (_, second) = link.coefficients
            mine, theirs = (first, second) if one == leaf else (second, first)
            (lowers if mine > 0 else uppers).append((-theirs / mine, -link.constant / mine))
        key = (function, frozenset(lowers), frozenset(uppers))
        return self.once(key, lambda: self.algebra.message(self.values[function], lowers, uppers))

    def once(self, key: Hashable, made: Callable[[], F]) -> int:
        if key not in self.known:
            self.values.append(made())
            self.known[key] = len(self.values) - 1
        return self.known[key]


def _power(function: F, times: int, algebra: Elimination[F, N]) -> F:
    if times == 1:
        return function
    half = _power(function, times // 2, algebra)
    square = algebra.product(half, half)
    return algebra.product(square, function) if times % 2 else square


def _balanced(factors: Sequence[F], algebra: Elimination[F, N]) -> F:
    if len(factors) == 1:
        return factors[0]
    middle = len(factors) // 2
    return algebra.product(_balanced(factors[:middle], algebra), _balanced(factors[middle:], algebra))


def _integral(noises: Sequence[Noise], halfspaces: Sequence[Halfspace], ring: Ring[K]) -> K:
    for halfspace in halfspaces:
        for number, _ in halfspace.coefficients:
            if not 0 <= number < len(noises):
                raise LanguageError("integral", f"the halfspace {halfspace} names the noise {number} of {len(noises)}")
    calculus = Calculus(ring)
    cores = eliminate(noises, halfspaces, calculus)
    if cores is None:
        return ring.term(ZERO, 0, ZERO)
    totals: dict[int, K] = {}
    result = ring.term(ONE, 0, ZERO)
    for functions, rest in cores:
        if len(functions) == 1:
            [function] = functions.values()
            if id(function) not in totals:
                totals[id(function)] = calculus.total(function)
            result = result * totals[id(function)]
        else:
            result = result * polyhedra.integrate(functions, rest, ring)
        if ring.vanishes(result):
            break
    return result
