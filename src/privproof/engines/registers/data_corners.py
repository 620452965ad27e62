"""The largest excess over all neighbours with real answers: the neighbour is a corner, the data are searched box by box.

An entry of the data *pulls* towards an outcome o if no other outcome becomes likelier where the entry rises (or: where it falls), for every
value of all noise but its own.  Noisy max and the first answer above a threshold are of this kind.  Let every entry pull.

*Corner theorem.*  The probability of an event S rises with an entry that pulls towards a member of S, and falls with the others.  So of all
neighbours of given data the one that is least likely to show S has every entry moved by the sensitivity, away from S.

*Boxes.*  Given all noise but that of entry i, an event is a comparison of the noisy entry with a number, so its probability is
``Phi((q_i - t)/sigma)`` or one minus that, and its second derivative in ``q_i`` is at most ``phi(1)/sigma^2`` (Laplace: ``1/(2 b^2)``).  A
function whose second derivative is at least -K on a segment of half length h is at most ``K h^2/2`` above its larger end; one entry after
the other, ``P_q(S) - e^epsilon P_q'(S)`` is on a box at most its largest value at a corner of the box, plus ``sum K_i h_i^2/2`` with
``K_i = (1 + e^epsilon) phi(1)/sigma_i^2``.  It is also at most ``P(S)`` at the likeliest corner, minus ``e^epsilon P_q'(S)`` at the least
likely one.

*Rays.*  Beyond some bound an entry is not followed.  Where it goes away from what it pulls to, o: ``P(S)`` there is between
``P(S without o)`` and ``P(S with o)`` at its end.  Where it goes towards o: between those of the members of S that do not depend on it,
and of S with all that depend on it.  Where all noise moves with all entries, only differences count: the largest entry is at 0, all
others below.

*Shifts.*  S is an event about normal numbers whose means move by ``s_i``, so its excess is at most ``H_mu(epsilon)`` with
``mu^2 = sum (s_i/sigma_i)^2``; if only differences count, any number may be taken from all ``s_i``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from heapq import heappop, heappush
from itertools import count, pairwise, product

from flint import arb

from privproof.compiling.register_states import Registers
from privproof.compiling.rewriting import Unsupported
from privproof.engines.integrals.integration_panels import Grid, evenly
from privproof.engines.registers.hill_climbing import Rough, as_float, climb
from privproof.engines.registers.pulled_events import Event, Point, pulls, taking_part
from privproof.engines.registers.register_integrals import BITS, HUB_REACH
from privproof.engines.registers.register_roles import Roles
from privproof.exact import ONE, ZERO, Rational
from privproof.exact.balls import precision, rational_bounds
from privproof.exact.normal import normal_excess

_MOST_FREE = 2
"""Entries of which boxes are searched: of three, as many boxes as there is time for do not get below the bound by shifts."""
_MOST_CLIMBED = 3
"""Entries of which all events are searched from below; there are twice as many for every outcome more."""
_MOST_ENTRIES = 10
"""Entries where all are alike: beyond, a search from below takes minutes."""
_BOXES = 15_000
"""Boxes that are cut in two at most: about as many as fit into half a minute."""
_TOGETHER = 200
"""Boxes that are cut at one time, so that many integrals share their tables."""
_REACH = {"gaussian": 6, "laplace": 16}
"""Scales beyond which an entry is not followed: what it may still change is below 10^-6."""
_PANEL = 4
"""Scales in a panel: its ellipse leaves the line by less than three, where a few factors are at most 10^4 together."""
_UNSURE = Rational(1, 10**16)
"""What is left of an excess that is shown: more than the errors of the checker, which are others."""
_CLOSE = Rational(1, 10**9)
"""Bounds closer than this are not brought closer."""


@dataclass(frozen=True)
class Reals:
    """Which real data are neighbours.

    Attributes:
        relation: ``each``, ``one`` or ``monotone``.
        within: by how much each entry may move.
        lows: the least value of each entry.
        highs: the largest.
    """

    relation: str
    within: Point
    lows: tuple[Rational | None, ...]
    highs: tuple[Rational | None, ...]

    @property
    def narrow(self) -> bool:
        """Whether every entry may move from any value to any other, so that the worst data are corners too."""
        return self.relation == "each" and all(
            low is not None and high is not None and high - low <= within
            for low, high, within in zip(self.lows, self.highs, self.within, strict=True)
        )


@dataclass(frozen=True)
class Span:
    """Where an entry lies: between two ends; one that is None is beyond all numbers."""

    low: Rational | None
    high: Rational | None

    @property
    def free(self) -> bool:
        """Whether both ends are numbers, and not the same."""
        return self.low is not None and self.high is not None and self.low < self.high


@dataclass(frozen=True)
class _Case:
    """An event, and for each entry where it goes on the other side: up (1), down (-1) or nowhere (0)."""

    event: Event
    moves: tuple[int, ...]


@dataclass(frozen=True)
class FoundCorner:
    """What was found out.

    Attributes:
        lower: a pair has at least this.
        upper: no pair has more.
        left: the data of the pair.
        right: its neighbour.
        event: the event.
        searched: whether the upper bound is as good as boxes make it.
    """

    lower: Rational
    upper: Rational
    left: Point
    right: Point
    event: Event
    searched: bool = False


class Corners:
    """Excesses over all neighbours with real answers."""

    def __init__(self, model: Registers, reals: Reals, pause: Callable[[], None]) -> None:
        self.model, self.reals, self.pause = model, reals, pause
        self.pulls = pulls(model)
        self.size = len(self.pulls)
        self.noises = [model.noises[atom] for atom in taking_part(model)]
        if any(term.registers != 1 for outcome in model.outcomes for term in outcome.terms):
            raise Unsupported("real answers: an outcome depends on the order of more than one kept number and others")
        if len({each.draw for each in self.noises}) != len(self.noises):
            raise Unsupported("real answers: a noisy number is compared in different units")
        for entry, pull in zip(model.entries, self.pulls, strict=True):
            if sum(each.entry == entry for each in self.noises) != 1 or pull.kind not in _REACH:
                raise Unsupported(
                    f"real answers: {entry} is not the center of one number with Gaussian or Laplace noise"
                )
        self.differences = (
            len(self.noises) == self.size
            and all(each.center.terms[0][1] == 1 for each in self.noises)
            and all(bound is None for bound in (*reals.lows, *reals.highs))
        )
        self.roles = Roles(model, ())
        self.alike = self.differences and self._alike()
        free = self.size - self.differences
        self.searched = free <= _MOST_FREE
        normal = all(pull.kind == "gaussian" for pull in self.pulls)
        few = free <= _MOST_CLIMBED or (self.alike and self.size <= _MOST_ENTRIES)
        if not (self.searched or (normal and few)):
            raise Unsupported(f"real answers: {free} entries are free, and boxes are searched in up to {_MOST_FREE}")
        self.grid = self._grid()
        self._found: dict[str, FoundCorner] = {}
        self._known: dict[Point, list[arb]] = {}
        self._numbers: dict[Rational, int] = {}

    def _grid(self) -> Grid | None:
        """One grid for all data; None where kinks move with them."""
        noises = self.model.noises
        if any(p.kind != "gaussian" for p in self.pulls):
            return None
        hubs = [noises[a] for o in self.model.outcomes for t in o.terms for each in t.tuples for a in each]
        narrowest = min(each.scale for each in self.noises)
        around = []
        for each in hubs:
            far = HUB_REACH[each.kind] * each.scale
            if each.entry is None:
                around += [each.center.constant - far, each.center.constant + far]
            else:
                entry = self.model.entries.index(each.entry)
                there = self._reach(entry) + self.reals.within[entry]
                least = there if self.differences else max(there, *map(abs, self._ends(entry)))
                above = self.reals.within[entry] if self.differences else least
                centers = (each.center.constant + f * each.center.terms[0][1] for f in (-least, above))
                around += [end + sign * far for end in centers for sign in (1, -1)]
        kinks = {each.center.constant for each in self.noises if each.kind != "gaussian"}
        with precision(BITS):
            return evenly(min(around), max(around), kinks, _PANEL * narrowest)

    def _ends(self, entry: int) -> list[Rational]:
        return [ZERO, *(end for end in (self.reals.lows[entry], self.reals.highs[entry]) if end is not None)]

    def _alike(self) -> bool:
        """Whether entries may change places: every outcome singles out the entry that pulls to it, and all do the same."""
        if sorted(each.towards for each in self.pulls) != list(range(len(self.model.outcomes))):
            return False
        if len({(p.scale, w) for p, w in zip(self.pulls, self.reals.within, strict=True)}) > 1:
            return False
        kinds = set()
        for entry, each in enumerate(self.pulls):
            shaped = self.roles.shaped[each.towards]
            others = {role for other, role in shaped.roles.items() if other != entry}
            if len(shaped.roles) != self.size or len(others) > 1:
                return False
            kinds.add((shaped.fixed, shaped.registers, shaped.roles[entry], *others))
        return len(kinds) == 1

    def probabilities(self, points: Iterable[Point]) -> None:
        """Integrate the probabilities of all outcomes at some data."""
        missing = [point for point in dict.fromkeys(points) if point not in self._known]
        for value in {value for point in missing for value in point} - set(self._numbers):
            self._numbers[value] = len(self._numbers)
        self.roles.letters = tuple(self._numbers)
        sums = {}
        for point in missing:
            letters = [self._numbers[value] for value in point]
            sums[point] = [self.roles.sum(each, self.roles.counted(each, letters)) for each in self.roles.shaped]
        self.roles.evaluate((each for row in sums.values() for each in row), self.pause, self.grid)
        for point, row in sums.items():
            self._known[point] = [self.roles.value(each) for each in row]
            if not sum(self._known[point], arb(0)).overlaps(arb(1)):
                raise Unsupported("the probabilities of all outcomes do not sum up to 1: an outcome was forgotten")

    def probability(self, point: Point, event: Event) -> arb:
        """The probability of an event at data that were integrated."""
        known = self._known[point]
        inside = sum((known[outcome] for outcome in event), arb(0))
        outside = 1 - sum((known[outcome] for outcome in range(len(known)) if outcome not in event), arb(0))
        return inside if inside.rad() <= outside.rad() else outside

    def cases(self) -> Iterator[_Case]:
        """All events, up to symmetry, with the neighbours that are least likely to show them."""
        outcomes = range(len(self.model.outcomes))
        if self.alike:
            events = [frozenset(p.towards for p in self.pulls[:k]) for k in range(1, self.size)]
        else:
            sets = product((False, True), repeat=len(outcomes))
            events = [frozenset(o for o, taken in zip(outcomes, each, strict=True) if taken) for each in sets]
            events = [each for each in events if 0 < len(each) < len(outcomes)]
        for event in events:
            away = tuple(-p.rising if p.towards in event else p.rising for p in self.pulls)
            if self.reals.relation == "each":
                yield _Case(event, away)
            elif self.reals.relation == "monotone":
                for sign in (1, -1):
                    yield _Case(event, tuple(move if move == sign else 0 for move in away))
            else:
                for entry in range(self.size):
                    yield _Case(event, tuple(move if k == entry else 0 for k, move in enumerate(away)))

    def moved(self, point: Point, case: _Case) -> Point:
        """The neighbour of some data."""
        found = []
        for value, move, within, low, high in zip(
            point, case.moves, self.reals.within, self.reals.lows, self.reals.highs, strict=True
        ):
            there = value + move * within
            there = there if low is None else max(low, there)
            found.append(there if high is None else min(high, there))
        return tuple(found)

    def start(self, case: _Case) -> Iterator[tuple[Span, ...]]:
        """Boxes that cover all data."""
        if not self.differences:
            yield from product(*(self._spans(entry) for entry in range(self.size)))
            return
        tops: Iterable[int] = range(self.size)
        if self.alike:  # the largest entry is in the event, or it is not; which one does not matter where all may move
            tops = (0, self.size - 1) if self.reals.relation != "one" else range(self.size)
        for top in tops:
            rest = [self._below(entry) if entry != top else [Span(ZERO, ZERO)] for entry in range(self.size)]
            yield from product(*rest)

    def _reach(self, entry: int) -> Rational:
        """How far an entry is followed: a power of two in sensitivities, so that moved ends are ends."""
        far = max(_REACH.get(each.kind, 16) * each.scale + abs(each.center.constant) for each in self.noises)
        reach = self.reals.within[entry]
        while reach < far:
            reach *= 2
        return reach

    def _below(self, entry: int) -> list[Span]:
        reach = self._reach(entry)
        return [Span(None, -reach), Span(-reach, ZERO)]

    def _spans(self, entry: int) -> list[Span]:
        """Cut where a neighbour begins to stay within the bounds."""
        low, high, within = self.reals.lows[entry], self.reals.highs[entry], self.reals.within[entry]
        reach = self._reach(entry)
        first = -reach if low is None else low
        last = max(first, reach) if high is None else high
        if low is None and high is not None:
            first = min(first, high)
        inner = [first, last]
        inner += [] if low is None else [low + within]
        inner += [] if high is None else [high - within]
        ends = sorted({end for end in inner if first <= end <= last})
        spans = [Span(a, b) for a, b in pairwise(ends)] or [Span(first, first)]
        spans += [Span(None, first)] if low is None else []
        return spans + ([Span(last, None)] if high is None else [])

    def sides(self, case: _Case, box: Sequence[Span]) -> tuple[Event, Event, dict[int, tuple[Rational, Rational]]]:
        """Events that bound the excess on a box, on the left and on the right; for entries on rays the values there."""
        left = right = case.event
        fixed: dict[int, tuple[Rational, Rational]] = {}
        for entry, span in enumerate(box):
            if span.low is not None and span.high is not None:
                continue
            pull, within = self.pulls[entry], self.reals.within[entry]
            end = span.high if span.low is None else span.low
            assert end is not None
            outward = -1 if span.low is None else 1
            towards = outward == pull.rising
            there = end - outward * within if case.moves[entry] else end  # nearest to the others
            one, two = end, there
            if towards:
                if pull.towards in left:
                    left |= pull.moved
                if pull.towards not in right:
                    right, two = right - pull.moved, end
            else:
                if pull.towards not in left:
                    left |= {pull.towards}
                if pull.towards in right:
                    right, two = right - {pull.towards}, end
            fixed[entry] = one, two
        return left, right, fixed

    def corners(self, case: _Case, box: Sequence[Span]) -> Iterator[tuple[Point, Point]]:
        """The corners of a box with their neighbours."""
        _, _, fixed = self.sides(case, box)
        ends = []
        for entry, span in enumerate(box):
            if entry in fixed:
                ends.append([fixed[entry][0]])
            else:
                assert span.low is not None
                assert span.high is not None
                ends.append([span.low, span.high] if span.free else [span.low])
        for point in product(*ends):
            there = self.moved(point, case)
            yield point, tuple(fixed[k][1] if k in fixed else value for k, value in enumerate(there))

    def bends(self, box: Sequence[Span], bound: arb) -> list[arb]:
        """By how much each entry may lift the middle of a box above its corners."""
        most = (-arb(1) / 2).exp() / (2 * arb.pi()).sqrt()  # phi(1)
        found = []
        for pull, span in zip(self.pulls, box, strict=True):
            half = arb((span.high - span.low) / 2) if span.low is not None and span.high is not None else arb(0)
            curve = most if pull.kind == "gaussian" else arb(1) / 2
            found.append((1 + bound) * curve * half * half / 2 / pull.scale**2)
        return found

    def most_on(self, case: _Case, box: Sequence[Span], bound: arb) -> arb:
        """An upper bound on the excess on a box whose corners were integrated."""
        left, right, fixed = self.sides(case, box)
        pairs = list(self.corners(case, box))
        values = [(self.probability(one, left) - bound * self.probability(two, right)).upper() for one, two in pairs]
        bent = (max(values, key=float) + sum(self.bends(box, bound), arb(0))).upper()
        up, down = (
            next(n for n, pair in enumerate(pairs) if self._extreme(pair[0], box, fixed, event, up=most))
            for event, most in ((left, True), (right, False))
        )
        monotone = (self.probability(pairs[up][0], left) - bound * self.probability(pairs[down][1], right)).upper()
        return bent if bent < monotone else monotone

    def _extreme(
        self, point: Point, box: Sequence[Span], fixed: Mapping[int, object], event: Event, *, up: bool
    ) -> bool:
        """Whether of all corners of a box an event is likeliest at one, or least likely."""
        for entry, (value, span, pull) in enumerate(zip(point, box, self.pulls, strict=True)):
            rises = (pull.rising > 0) == (pull.towards in event)
            if entry not in fixed and value != (span.high if rises == up else span.low):
                return False
        return True

    def cut(self, box: tuple[Span, ...], bound: arb) -> list[tuple[Span, ...]]:
        """A box in two, where it bends most."""
        bends = self.bends(box, bound)
        entry = max((k for k, span in enumerate(box) if span.free), key=lambda k: float(bends[k]), default=None)
        if entry is None:
            return []
        span = box[entry]
        assert span.low is not None
        assert span.high is not None
        middle = (span.low + span.high) / 2
        halves = (Span(span.low, middle), Span(middle, span.high))
        return [(*box[:entry], half, *box[entry + 1 :]) for half in halves]

    def shifted(self, bound: arb) -> Rational:
        """An upper bound by shifts alone."""
        if any(pull.kind != "gaussian" for pull in self.pulls):
            return ONE
        weights = [(w / p.scale) ** 2 for p, w in zip(self.pulls, self.reals.within, strict=True)]
        if self.reals.relation == "one":
            squares = max(weights)
        elif self.alike:
            size, half = self.size, self.size // 2
            across = 4 if self.reals.relation == "each" else 1
            squares = weights[0] * Rational(across * half * (size - half), size)
        else:
            squares = sum(weights, ZERO)
        return rational_bounds(normal_excess(arb(squares).sqrt(), bound.log()))[1]

    def climbed(self, bound: arb) -> FoundCorner:
        """A pair with a large excess, by a search with floats."""
        best = FoundCorner(ZERO, ONE, (), (), frozenset())
        rough = Rough(self.model, self.pulls)
        times = float(bound)
        tops: list[tuple[float, int, Point, _Case]] = []
        for case in self.cases():
            self.pause()
            begin = self._inside((ZERO,) * self.size)
            back = tuple(v - m * w / 2 for v, m, w in zip(begin, case.moves, self.reals.within, strict=True))

            def value(point: Point, case: _Case = case) -> float:
                one, two = (rough.probabilities(side) for side in (point, self.moved(point, case)))
                return sum(one[k] - times * two[k] for k in case.event)

            for start in (begin, self._inside(back)):
                top, here = climb(value, start, self._groups(case), self.reals.within, self._inside)
                tops.append((top, len(tops), here, case))
        for top, _, here, case in sorted(tops, reverse=True):
            if top <= 0:
                break
            there = self.moved(here, case)
            self.probabilities((here, there))
            exact = self.probability(here, case.event) - bound * self.probability(there, case.event)
            lower = rational_bounds(exact)[0] - _UNSURE
            if lower > 0:
                return FoundCorner(lower, ONE, here, there, case.event)
        return best

    def _inside(self, point: Point) -> Point:
        found = []
        for value, low, high in zip(point, self.reals.lows, self.reals.highs, strict=True):
            value = value if low is None else max(low, value)
            found.append(value if high is None else min(high, value))
        return tuple(found)

    def _groups(self, case: _Case) -> list[tuple[int, ...]]:
        """Entries that are moved together: each alone, or where there are many, those in the event and the others."""
        if self.size - self.differences <= _MOST_CLIMBED:
            return [(entry,) for entry in range(self.size - self.differences)]
        inside = tuple(k for k, pull in enumerate(self.pulls) if pull.towards in case.event)
        return [inside, inside[:1]]

    def at(self, bound: arb, name: str, enough: Rational | None = None) -> FoundCorner:
        """The largest excess, enclosed.

        Args:
            bound: e^epsilon.
            name: what the epsilon is called: what was found is kept under this name.
            enough: where all boxes are below this, or a pair is above it, nothing more is searched.
        """
        with precision(BITS):
            if name not in self._found:
                shifted = self.shifted(bound)
                if enough is not None and shifted <= enough:
                    return FoundCorner(ZERO, shifted, (), (), frozenset())
                self._found[name] = replace(self.climbed(bound), upper=shifted)
            found = self._found[name]
            if self.searched and not found.searched and (enough is None or found.lower <= enough < found.upper):
                upper = max(ZERO, min(found.upper, self._over_boxes(bound, found.lower, enough)))
                self._found[name] = replace(found, upper=upper, searched=enough is None)
        return self._found[name]

    def _over_boxes(self, bound: arb, lower: Rational, enough: Rational | None) -> Rational:
        """An upper bound: the box with the largest bound is cut again and again."""
        goal = as_float(lower + _CLOSE if enough is None else enough)
        number = count()
        heap: list[tuple[float, int, _Case, tuple[Span, ...], arb]] = []
        waiting = [(case, box) for case in self.cases() for box in self.start(case)]
        done = 0
        while True:
            self.pause()
            self.probabilities(point for case, box in waiting for pair in self.corners(case, box) for point in pair)
            for case, box in waiting:
                most = self.most_on(case, box, bound)
                heappush(heap, (-float(most), next(number), case, box, most))
            waiting = []
            while heap and len(waiting) < _TOGETHER and -heap[0][0] > goal and done < _BOXES:
                *_, case, box, most = heappop(heap)
                halves = self.cut(box, bound)
                if not halves:
                    return min(ONE, rational_bounds(most)[1])
                waiting += [(case, half) for half in halves]
                done += 1
            if not waiting:
                highest = max((each[4] for each in heap), key=float)
                return min(ONE, rational_bounds(highest.upper())[1])
