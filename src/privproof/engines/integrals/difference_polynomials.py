"""The integral of a product of functions of one variable each over a system of differences ``x_j - x_i >= c``, exactly.

A run of a threshold mechanism is such a system: a few thresholds, and many samples that each meet one or two of them.  It is
integrated by variable elimination.  The integrand is a sum of terms, and a term is a coefficient, a function
``sum c * x^k * e^(r*ε*x)`` by pieces for each variable, and differences between variables.

To integrate out s, with function h, is to know its largest lower bound ``l + c`` and its smallest upper bound ``u + d``; a
term splits into the disjoint cells where they are known.  If they name one variable, ``∫ h`` is a function of it.  If they
name two, it is ``H(u+d) - H(l+c)`` with ``H(x) = ∫_(-∞)^x h``, which is short but may subtract numbers that are almost equal.
In the other way, which n variables that look alike also take, u is put into each piece [p, q] of h.  Where ``l + c <= p``
the integral is the sum ``∫_(l+c)^p h + ∫_p^(u+d) h`` of a function of l and one of u, and the difference between l and u is
implied; where both are in the piece it is ``A(u+d) - A(l+c)`` with the antiderivative A of the piece, which has no constant.
The n variables together make n + 1 terms in each cell, by the binomial theorem.

Differences that follow from others and from the supports are dropped, terms whose differences have a cycle of nonnegative
weight have measure zero and are dropped, and terms that agree but for the function of one variable are added up.  All ends and
offsets are integers in a unit that makes them so.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from functools import reduce
from itertools import pairwise, product
from math import comb, lcm
from typing import Generic, NamedTuple, TypeAlias

from flint import fmpq

from privproof.engines.integrals.leaf_integrals import Halfspace
from privproof.engines.integrals.piecewise_functions import (
    Calculus,
    End,
    Function,
    K,
    Line,
    Piece,
    Ring,
    highest,
    lowest,
)
from privproof.exact.rationals import ONE, ZERO, Rational

Links: TypeAlias = dict[tuple[int, int], int]
"""``(i, j): c`` is the difference ``x_j - x_i >= c``."""


def is_difference(halfspace: Halfspace) -> bool:
    """Whether a halfspace, whose first factor is 1 or -1, bounds the difference of two noises."""
    return len(halfspace.coefficients) == 2 and halfspace.coefficients[0][1] == -halfspace.coefficients[1][1]


def integrate(
    functions: Mapping[int, Function[K]], halfspaces: Sequence[Halfspace], calculus: Calculus[K], *, careful: bool
) -> K:
    """The integral over a system of differences of the product of functions, one for each variable.

    Exactly zero if the system leaves a set of measure zero.  If `careful`, numbers that may be almost equal are not subtracted.
    """
    numbers: list[End] = [halfspace.constant for halfspace in halfspaces]
    numbers += [end for function in functions.values() for piece in function.pieces for end in (piece.low, piece.high)]
    unit = reduce(lcm, (int(number.q) for number in numbers if number is not None), 1)
    links: Links = {}
    for halfspace in halfspaces:
        (low, sign), (high, _) = halfspace.coefficients
        if sign > 0:
            low, high = high, low
        _tighten_link(links, low, high, -int((halfspace.constant * unit).p))
    return _Elimination(unit, calculus, careful=careful).integral(functions, links)


def _tighten_link(links: Links, low: int, high: int, offset: int) -> None:
    links[low, high] = max(offset, links.get((low, high), offset))


Span: TypeAlias = tuple[int | None, int | None]
"""The smallest interval that holds a support."""


def _irredundant(links: Links, spans: Mapping[int, Span]) -> Links | None:
    """The links that do not follow from the others and the spans, or None if they leave a set of measure zero.

    No cycle has weight zero, so that what is left does not depend on the order in which links are dropped.
    """
    place = {node: i for i, node in enumerate(spans, 1)}
    bound: list[list[int | None]] = [[None] * (len(spans) + 1) for _ in range(len(spans) + 1)]
    for (low, high), offset in links.items():
        bound[place[low]][place[high]] = offset
    for node, (bottom, top) in spans.items():
        bound[0][place[node]] = bottom
        bound[place[node]][0] = None if top is None else -top
    for middle, onward in enumerate(bound):
        through = [(end, weight) for end, weight in enumerate(onward) if weight is not None]
        for row in bound:
            first = row[middle]
            if first is not None:
                for end, second in through:
                    known = row[end]
                    if known is None or first + second > known:
                        row[end] = first + second
    for i, row in enumerate(bound):
        weight = row[i]
        if weight is not None and weight >= 0:
            return None

    def follows(low: int, high: int, offset: int) -> bool:
        for middle, first in enumerate(bound[low]):
            second = bound[middle][high]
            if middle not in (low, high) and first is not None and second is not None and first + second >= offset:
                return True
        return False

    return {
        (low, high): offset for (low, high), offset in links.items() if not follows(place[low], place[high], offset)
    }


# --- elimination of variables --------------------------------------------------------------------------------------------

Factors: TypeAlias = tuple[tuple[int, int], ...]
"""A product of powers of functions, which are known by their numbers, in their order."""
Bound: TypeAlias = tuple[int, int]
"""``(v, c)``: the variable v plus c."""


class _Term(NamedTuple, Generic[K]):
    coefficient: K
    factors: dict[int, Factors]
    links: Links


def _bounds(term: _Term[K], node: int) -> tuple[list[Bound], list[Bound]]:
    """The lower and the upper bounds of a variable."""
    lowers: list[Bound] = [(low, offset) for (low, high), offset in term.links.items() if high == node]
    uppers: list[Bound] = [(high, -offset) for (low, high), offset in term.links.items() if low == node]
    return lowers, uppers


def _others(term: _Term[K], *nodes: int) -> Hashable:
    """All of a term but the coefficient and the functions of these variables."""
    rest = tuple(sorted((node, factors) for node, factors in term.factors.items() if node not in nodes))
    return rest, frozenset(term.links.items())


class _Elimination(Generic[K]):
    """Integrals of terms; functions are numbered, and each is computed once."""

    def __init__(self, unit: int, calculus: Calculus[K], *, careful: bool) -> None:
        self.unit = unit
        self.calculus: Calculus[K] = calculus
        self.ring: Ring[K] = calculus.ring
        self.careful = careful
        self.one: K = self.ring.term(ONE, 0, ZERO)
        self.known: dict[Hashable, int] = {}
        self.values: list[Function[K]] = []
        self.totals: dict[int, K] = {}
        self.tidied: dict[Hashable, Links | None] = {}

    def integral(self, functions: Mapping[int, Function[K]], links: Links) -> K:
        """The integral of the product of functions over a system of differences."""
        factors: dict[int, Factors] = {node: ((self._given(function), 1),) for node, function in functions.items()}
        terms = [_Term(self.one, factors, links)]
        counts = dict.fromkeys(functions, 1)
        tidy = False
        while counts:
            terms = _alike(terms, counts)
            node, hard = _cheapest(terms, counts)
            if hard and not tidy:
                tidy = True
                terms = [_Term(one.coefficient, one.factors, kept) for one in terms for kept in self._tidy(one)]
                continue
            touched = sorted({other for term in terms for bounds in _bounds(term, node) for other, _ in bounds})
            times = counts.pop(node)
            terms = [made for term in terms for made in self._without(term, node, times)]
            terms = self._merged(terms, touched or list(counts)[:1])
        return self._added(term.coefficient for term in terms)

    def _added(self, values: Iterable[K]) -> K:
        total = self.ring.term(ZERO, 0, ZERO)
        for value in values:
            total = total + value
        return total

    def _without(self, term: _Term[K], node: int, times: int) -> Iterator[_Term[K]]:
        """The terms that are left when so many variables like this one are integrated out."""
        lowers: list[Bound]
        uppers: list[Bound]
        lowers, uppers = _bounds(term, node)
        number = self._realized(term.factors[node])
        factors = {other: kept for other, kept in term.factors.items() if other != node}
        links = {pair: offset for pair, offset in term.links.items() if node not in pair}
        neighbours = {other for other, _ in (*lowers, *uppers)}
        if not neighbours:
            coefficient = term.coefficient * _power(self._total(number), times)
            yield _Term(coefficient, factors, links)
        elif len(neighbours) == 1:
            [one] = neighbours
            message = self._message(number, [c for _, c in lowers], [d for _, d in uppers])
            yield _Term(term.coefficient, _with(factors, one, message, times), links)
        else:
            bottoms: list[Bound | None] = [*lowers] or [None]
            tops: list[Bound | None] = [*uppers] or [None]
            for low, high in product(bottoms, tops):
                cell = _Term(term.coefficient, factors, _order_bounds(links, lowers, low, uppers, high))
                if low is None or high is None or low[0] == high[0]:
                    yield from self._single(cell, number, low, high, times)
                else:
                    yield from self._double(cell, number, low, high, times)

    def _single(
        self, cell: _Term[K], number: int, low: Bound | None, high: Bound | None, times: int
    ) -> Iterator[_Term[K]]:
        """The integral between active bounds that name one variable."""
        if low and high and low[1] >= high[1]:
            return
        [node] = {bound[0] for bound in (low, high) if bound}
        message = self._message(number, [low[1]] if low else [], [high[1]] if high else [])
        made = _Term(cell.coefficient, _with(cell.factors, node, message, times), cell.links)
        for links in self._tidy(made):
            yield _Term(made.coefficient, made.factors, links)

    def _double(self, cell: _Term[K], number: int, low: Bound, high: Bound, times: int) -> Iterator[_Term[K]]:
        """The integral between active bounds that name two variables: at once, or for each piece of the upper one."""
        (one, c), (two, d) = low, high
        if times == 1 and not self.careful:
            whole = _Term(cell.coefficient, cell.factors, dict(cell.links))
            _tighten_link(whole.links, one, two, c - d)
            messages = self._message(number, [], [c]), self._message(number, [], [d])
            yield from self._expanded(whole, (one, messages[0]), (two, messages[1]), 1, sign=-1)
            return
        for start, stop, place in self._spans(self.values[number]):
            upper = _with(cell.factors, two, self._window(_shift_bound(start, d), _shift_bound(stop, d)), 1)
            if start is not None:
                apart = _Term(cell.coefficient, _with(upper, one, self._window(None, start - c), 1), cell.links)
                below = self._message(self._cut(number, None, start), [c], [])
                above = None if place is None else self._message(self._cut(number, start, stop), [], [d])
                yield from self._expanded(apart, (one, below), (two, above), times, sign=1)
            if place is not None:
                inside = _with(upper, one, self._window(_shift_bound(start, c), _shift_bound(stop, c)), 1)
                near = _Term(cell.coefficient, inside, dict(cell.links))
                _tighten_link(near.links, one, two, c - d)
                yield from self._expanded(
                    near, (one, self._inner(number, place, c)), (two, self._inner(number, place, d)), times, sign=-1
                )

    def _expanded(
        self, cell: _Term[K], one: tuple[int, int], two: tuple[int, int | None], times: int, *, sign: int
    ) -> Iterator[_Term[K]]:
        """The cell times a power of the second function plus or minus the first, by the binomial theorem."""
        for links in self._tidy(cell):
            for power in range(times + 1):
                if two[1] is None and power < times:
                    continue
                factors = _with(cell.factors, one[0], one[1], power)
                if two[1] is not None:
                    factors = _with(factors, two[0], two[1], times - power)
                scalar = self.ring.term(fmpq(sign**power * comb(times, power)), 0, ZERO)
                yield _Term(cell.coefficient * scalar, factors, links)

    def _tidy(self, term: _Term[K]) -> Sequence[Links]:
        """The links that matter, or nothing if the term is zero."""
        spans: dict[int, Span] = {}
        for node, factors in term.factors.items():
            pieces = [self.values[number].pieces for number, _ in factors]
            if not all(pieces):
                return ()
            low, high = highest(some[0].low for some in pieces), lowest(some[-1].high for some in pieces)
            spans[node] = (self._whole(low), self._whole(high))
        key = (frozenset(term.links.items()), tuple(spans.items()))
        if key not in self.tidied:
            self.tidied[key] = _irredundant(term.links, spans)
        links = self.tidied[key]
        return () if links is None else (links,)

    # --- sums of terms

    def _merged(self, terms: list[_Term[K]], touched: Sequence[int]) -> list[_Term[K]]:
        """Add up terms that agree but for the function of one variable."""
        for node in touched:
            terms = self._joined(terms, node)
        for one in touched:
            for two in touched:
                if one != two and len(terms) > 2:
                    terms = self._unrolled(terms, one, two)
        return terms

    def _joined(self, terms: list[_Term[K]], node: int) -> list[_Term[K]]:
        if len(terms) < 2:
            return terms
        groups: dict[Hashable, list[_Term[K]]] = {}
        for term in terms:
            groups.setdefault(_others(term, node), []).append(term)
        return [group[0] if len(group) == 1 else self._sum(group, node) for group in groups.values()]

    def _sum(self, group: Sequence[_Term[K]], node: int) -> _Term[K]:
        common, rests = _common([term.factors[node] for term in group])
        parts = [(term.coefficient, self._realized(rest)) for term, rest in zip(group, rests, strict=True)]
        total = self._new(self._combined(parts))
        return _Term(self.one, _with({**group[0].factors, node: common}, node, total, 1), group[0].links)

    def _unrolled(self, terms: list[_Term[K]], node: int, other: int) -> list[_Term[K]]:
        """Write the function of a variable in monomials where these are fewer than the terms that differ in two variables."""
        groups: dict[Hashable, list[_Term[K]]] = {}
        for term in terms:
            groups.setdefault(_others(term, node, other), []).append(term)
        made: list[_Term[K]] = []
        for group in groups.values():
            common, rests = _common([term.factors[node] for term in group])
            functions = [self.values[self._realized(rest)] for rest in rests] if len(group) > 2 else []
            monomials = {key for function in functions for key, _ in _monomials(function)}
            if not monomials or len(monomials) >= len(group):
                made += group
                continue
            parts: dict[Hashable, list[_Term[K]]] = {}
            for term, function in zip(group, functions, strict=True):
                for key, value in _monomials(function):
                    factors = _with({**term.factors, node: common}, node, self._monomial(*key), 1)
                    parts.setdefault(key, []).append(_Term(term.coefficient * value, factors, term.links))
            made += [self._sum(part, other) for part in parts.values()]
        return made

    def _combined(self, parts: Sequence[tuple[K, int]]) -> Function[K]:
        """The linear combination of functions."""
        functions = [self.values[number] for _, number in parts]
        grid = reduce(lcm, (function.grid for function in functions), 1)
        ends = {self._whole(end) for function in functions for piece in function.pieces for end in piece[:2]}
        cuts: list[int] = sorted(end for end in ends if end is not None)
        where: dict[int | None, int] = {cut: i for i, cut in enumerate(cuts, 1)}
        sums: list[dict[tuple[int, int], K]] = [{} for _ in range(len(cuts) + 1)]
        for (coefficient, _), function in zip(parts, functions, strict=True):
            finer = grid // function.grid
            for piece in function.pieces:
                scaled = {(k, n * finer): value * coefficient for (k, n), value in piece.terms.items()}
                first = 0 if piece.low is None else where[self._whole(piece.low)]
                last = len(sums) if piece.high is None else where[self._whole(piece.high)]
                for total in sums[first:last]:
                    for key, value in scaled.items():
                        total[key] = total[key] + value if key in total else value
        pieces: list[Piece[K]] = []
        for (low, high), total in zip(pairwise([None, *cuts, None]), sums, strict=True):
            terms = {key: value for key, value in total.items() if not self.ring.vanishes(value)}
            if terms:
                pieces.append(Piece(self._end(low), self._end(high), terms))
        return Function(grid, pieces)

    # --- numbered functions

    def _new(self, function: Function[K]) -> int:
        self.values.append(function)
        return len(self.values) - 1

    def _once(self, key: Hashable, made: Callable[[], Function[K]]) -> int:
        if key not in self.known:
            self.known[key] = self._new(made())
        return self.known[key]

    def _given(self, function: Function[K]) -> int:
        return self._once(("given", id(function)), lambda: function)

    def _window(self, low: int | None, high: int | None) -> int:
        piece: Piece[K] = Piece(self._end(low), self._end(high), {(0, 0): self.one})
        return self._once(("window", low, high), lambda: Function(1, [piece]))

    def _monomial(self, low: End, high: End, power: int, rate: Rational) -> int:
        piece: Piece[K] = Piece(low, high, {(power, int(rate.p)): self.one})
        return self._once(("monomial", low, high, power, rate), lambda: Function(int(rate.q), [piece]))

    def _cut(self, number: int, low: int | None, high: int | None) -> int:
        return self._product(number, self._window(low, high))

    def _product(self, one: int, two: int) -> int:
        return self._once(("product", one, two), lambda: self.calculus.product(self.values[one], self.values[two]))

    def _powered(self, number: int, times: int) -> int:
        if times == 1:
            return number
        key = ("power", number, times)
        if key not in self.known:
            half = self._powered(number, times // 2)
            self.known[key] = self._product(half, self._powered(number, times - times // 2))
        return self.known[key]

    def _realized(self, factors: Factors) -> int:
        if not factors:
            return self._window(None, None)
        numbers = [self._powered(number, times) for number, times in factors]
        return reduce(self._product, numbers)

    def _message(self, number: int, lowers: Sequence[int], uppers: Sequence[int]) -> int:
        """The integral of a function between x plus the lower and x plus the upper offsets, as a function of x."""
        bottoms: list[Line] = [(ONE, fmpq(c, self.unit)) for c in lowers]
        tops: list[Line] = [(ONE, fmpq(d, self.unit)) for d in uppers]
        key = ("message", number, tuple(lowers), tuple(uppers))
        return self._once(key, lambda: self.calculus.message(self.values[number], bottoms, tops))

    def _inner(self, number: int, place: int, shift: int) -> int:
        """The antiderivative of one piece without a constant, at x plus the shift, as a function of x.

        It is the message of the piece without its ends, because messages take antiderivatives as zero at infinity.
        """
        grid, pieces = self.values[number]
        low, high, terms = pieces[place]
        endless = self._once(("endless", number, place), lambda: Function(grid, [Piece(None, None, terms)]))
        window = self._window(_shift_bound(self._whole(low), shift), _shift_bound(self._whole(high), shift))
        return self._product(self._message(endless, [], [shift]), window)

    def _total(self, number: int) -> K:
        if number not in self.totals:
            self.totals[number] = self.calculus.total(self.values[number])
        return self.totals[number]

    # --- ends of pieces, in the unit

    def _end(self, value: int | None) -> End:
        return None if value is None else fmpq(value, self.unit)

    def _whole(self, value: End) -> int | None:
        return None if value is None else int((value * self.unit).p)

    def _spans(self, function: Function[K]) -> Iterator[tuple[int | None, int | None, int | None]]:
        """The pieces of a function and the gaps between and above them: both ends, and the number of the piece."""
        before: End = None
        for place, piece in enumerate(function.pieces):
            if place and before != piece.low:
                yield self._whole(before), self._whole(piece.low), None
            yield self._whole(piece.low), self._whole(piece.high), place
            before = piece.high
        if before is not None:
            yield self._whole(before), None, None


def _alike(terms: list[_Term[K]], counts: dict[int, int]) -> list[_Term[K]]:
    """Count variables that look alike in every term as one, unless a neighbour is counted already."""
    looks: dict[int, list[Hashable]] = {node: [] for node in counts}
    nearby: dict[int, set[int]] = {node: set() for node in counts}
    for term in terms:
        sides: dict[int, list[tuple[bool, int, int]]] = {node: [] for node in counts}
        for (low, high), offset in term.links.items():
            sides[low].append((True, high, offset))
            sides[high].append((False, low, offset))
            nearby[low].add(high)
            nearby[high].add(low)
        for node, links in sides.items():
            looks[node].append((term.factors[node], tuple(sorted(links))))
    first: dict[Hashable, int] = {}
    gone: set[int] = set()
    for node in list(counts):
        head = first.setdefault(tuple(looks[node]), node)
        if head != node and all(counts[other] == 1 for other in nearby[node] - gone):
            counts[head] += counts.pop(node)
            gone.add(node)
    if not gone:
        return terms
    return [
        _Term(
            term.coefficient,
            {node: factors for node, factors in term.factors.items() if node not in gone},
            {pair: offset for pair, offset in term.links.items() if gone.isdisjoint(pair)},
        )
        for term in terms
    ]


def _cheapest(terms: Sequence[_Term[K]], counts: Mapping[int, int]) -> tuple[int, bool]:
    """The variable whose elimination makes the fewest terms, and whether it has several neighbours in a term.

    A neighbour of variables that are counted as one must wait for them.
    """
    costs = dict.fromkeys(counts, 0)
    hard: set[int] = set()
    waiting: set[int] = set()
    for term in terms:
        sides: dict[int, tuple[set[int], set[int]]] = {node: (set(), set()) for node in counts}
        for low, high in term.links:
            sides[low][1].add(high)
            sides[high][0].add(low)
            waiting.update(one for one, two in ((low, high), (high, low)) if counts[two] > 1 and counts[one] == 1)
        for node, (below, above) in sides.items():
            around = len(below | above)
            costs[node] += min(around, 1)
            if around > 1:
                hard.add(node)
                costs[node] += 4 * max(1, len(below)) * max(1, len(above)) * (counts[node] + 1)
    node = min((node for node in counts if node not in waiting), key=lambda node: costs[node])
    return node, node in hard


def _order_bounds(
    links: Links, lowers: Sequence[Bound], low: Bound | None, uppers: Sequence[Bound], high: Bound | None
) -> Links:
    """The links, and those that make one lower bound the largest and one upper bound the smallest."""
    made = dict(links)
    for other, c in lowers:
        if low and other != low[0]:
            _tighten_link(made, other, low[0], c - low[1])
    for other, d in uppers:
        if high and other != high[0]:
            _tighten_link(made, high[0], other, high[1] - d)
    return made


def _with(factors: Mapping[int, Factors], node: int, number: int, times: int) -> dict[int, Factors]:
    """The same factors, and one more for this variable."""
    if times == 0:
        return dict(factors)
    counted = Counter(dict(factors[node]))
    counted[number] += times
    return {**factors, node: tuple(sorted(counted.items()))}


def _common(several: Sequence[Factors]) -> tuple[Factors, list[Factors]]:
    """The factors in all of several products, and what is left of each."""
    counted = [Counter(dict(factors)) for factors in several]
    shared = reduce(lambda one, two: one & two, counted)
    return tuple(sorted(shared.items())), [tuple(sorted((one - shared).items())) for one in counted]


def _monomials(function: Function[K]) -> Iterator[tuple[tuple[End, End, int, Rational], K]]:
    for low, high, terms in function.pieces:
        for (power, n), value in terms.items():
            yield (low, high, power, fmpq(n, function.grid)), value


def _power(value: K, times: int) -> K:
    if times == 1:
        return value
    half = _power(value, times // 2)
    return half * half * value if times % 2 else half * half


def _shift_bound(value: int | None, shift: int) -> int | None:
    return None if value is None else value - shift
