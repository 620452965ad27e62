"""Functions of one noise: ``sum c * x^k * e^(r*ε*x)`` on rational intervals, with coefficients in one of two rings.

They are closed under products, affine substitution and integration, and the densities of Laplace and exponential noise of scale
``c/ε`` are among them.  Coefficients are `ExponentialSum` in ε, which are exact for every ε at once, or balls at a given ε.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from functools import reduce
from itertools import combinations, pairwise
from math import comb, factorial, lcm
from typing import Generic, NamedTuple, Protocol, TypeAlias, TypeVar

from flint import arb, fmpq

from privproof.errors import LanguageError
from privproof.exact.exponentials import ExponentialSum
from privproof.exact.patience import pause
from privproof.exact.rationals import ONE, ZERO, Rational

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


class Symbolic:
    """Closed forms in ε."""

    def __init__(self, grid: int) -> None:
        self.grid = grid

    def term(self, factor: Rational, power: int, exponent: Rational) -> ExponentialSum:
        if self.grid % int(exponent.q):
            self.grid = lcm(self.grid, int(exponent.q))
        return ExponentialSum.term(factor, power, exponent, denominator=self.grid)

    def vanishes(self, value: ExponentialSum) -> bool:
        return value.is_zero


class Numeric:
    """Balls at one ε, in the precision of the context, which must not change."""

    def __init__(self, epsilon: Rational) -> None:
        self.epsilon = epsilon
        self.exponentials: dict[tuple[int, int], arb] = {}

    def term(self, factor: Rational, power: int, exponent: Rational) -> arb:
        value = arb(factor * self.epsilon**power if power else factor)
        if not exponent:
            return value
        key = (int(exponent.p), int(exponent.q))
        if key not in self.exponentials:
            self.exponentials[key] = arb(exponent * self.epsilon).exp()
        return value * self.exponentials[key]

    def vanishes(self, value: arb) -> bool:
        return value.is_zero()


@dataclass(frozen=True)
class CentredNoise:
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


# --- functions of one noise ----------------------------------------------------------------------------------------------

End: TypeAlias = Rational | None
"""A finite end of an interval, or none."""
Line: TypeAlias = tuple[Rational, Rational]
"""``slope * x + intercept``."""


Terms: TypeAlias = dict[tuple[int, int], K]
"""``sum c * x^k * e^(n/grid*ε*x)`` over the entries ``(k, n): c``; the grid is the function's."""


class Piece(NamedTuple, Generic[K]):
    """A sum of terms on one interval."""

    low: End
    high: End
    terms: Terms[K]


class Function(NamedTuple, Generic[K]):
    """A function that is positive inside its pieces, which are in order, and zero elsewhere."""

    grid: int
    pieces: list[Piece[K]]


class Calculus(Generic[K]):
    """Densities, products, messages and integrals of functions with coefficients in a ring."""

    def __init__(self, ring: Ring[K]) -> None:
        self.ring: Ring[K] = ring

    def prior(self, noise: CentredNoise, low: End, high: End) -> Function[K]:
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
        composed: dict[tuple[int, bool, int], Terms[K]] = {}

        def along(place: int, bound: int, *, upper: bool) -> Terms[K]:
            if (place, upper, bound) not in composed:
                line = uppers[bound] if upper else lowers[bound]
                composed[place, upper, bound] = self._substituted(inner[place], line, function.grid, grid)
            return composed[place, upper, bound]

        made: list[Piece[K]] = []
        spans = [(piece.low, piece.high) for piece in pieces]
        for low, high, (first, last, start, stop) in regions(spans, lowers, uppers):
            terms: Terms[K] = {}
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

    def _times(self, left: Terms[K], right: Terms[K]) -> Terms[K]:
        product: Terms[K] = {}
        for (k, n), one in left.items():
            pause()
            for (j, m), two in right.items():
                key = (k + j, n + m)
                before = product.get(key)
                product[key] = one * two if before is None else before + one * two
        return {key: value for key, value in product.items() if not self.ring.vanishes(value)}

    def _antiderivative(self, terms: Terms[K], grid: int) -> Terms[K]:
        made: Terms[K] = {}
        for (k, n), value in terms.items():
            pause()
            for power, factor, weight in antiderivative(k, fmpq(n, grid)):
                self._gather(made, {(power, n): value * self.ring.term(factor, weight, ZERO)})
        return made

    def _value(self, inside: Terms[K], piece: Piece[K], grid: int) -> K:
        """The integral over a whole piece."""
        terms: Terms[K] = {}
        self._point(terms, inside, piece.high, grid)
        self._point(terms, inside, piece.low, grid, minus=True)
        return terms.get((0, 0), self.ring.term(ZERO, 0, ZERO))

    def _point(
        self,
        total: Terms[K],
        inside: Terms[K],
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

    def _substituted(self, terms: Terms[K], line: Line, before: int, after: int) -> Terms[K]:
        """The function of ``slope*x + intercept``, its rates over another grid."""
        slope, intercept = line
        step = slope / before
        times = int(step.p) * (after // int(step.q))
        made: Terms[K] = {}
        for (k, n), value in terms.items():
            pause()
            for power in range(k + 1):
                if intercept == 0 and power != k:
                    continue
                factor = comb(k, power) * slope**power * intercept ** (k - power)
                moved = value * self.ring.term(factor, 0, fmpq(n, before) * intercept)
                self._gather(made, {(power, n * times): moved})
        return made

    def _gather(self, total: Terms[K], terms: Terms[K], *, minus: bool = False) -> None:
        gather(total, terms, self.ring, minus=minus)


X = TypeVar("X", bound=Hashable)


def gather(total: dict[X, K], terms: dict[X, K], ring: Ring[K], *, minus: bool = False) -> None:
    """Add terms to others, or subtract them; those that vanish are dropped."""
    for key, value in terms.items():
        before = total.get(key)
        if before is None:
            total[key] = -value if minus else value
            continue
        together = before - value if minus else before + value
        if ring.vanishes(together):
            del total[key]
        else:
            total[key] = together


def antiderivative(degree: int, rate: Rational) -> list[tuple[int, Rational, int]]:
    """The antiderivative of ``x^degree * e^(rate*ε*x)`` without its exponential: ``(power of x, factor, power of ε)``.

    >>> antiderivative(1, fmpq(1, 2))
    [(1, 2, -1), (0, -4, -2)]
    """
    if rate == 0:
        return [(degree + 1, fmpq(1, degree + 1), 0)]
    return [
        (degree - i, (-1) ** i * fmpq(factorial(degree), factorial(degree - i)) / rate ** (i + 1), -i - 1)
        for i in range(degree + 1)
    ]


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
