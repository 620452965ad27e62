"""Claims with a delta about real answers at one size: the worst neighbour is a corner, and the data are covered by boxes.

An entry of the data *leans* to something shown, s, if of everything else that is shown the probability falls where the entry rises (or
where it falls), whatever all other noise is: its noisy number lies in all gaps below some mark (above it), or sits on the one mark with
everybody else above it (below).
If every entry leans, the probability of an event rises with the entries that lean into it, and falls with the others (or the other way
round).  Hence:

* Among all neighbours of given data an event is least likely where every entry has moved as far as it may, away from the event.
* If every entry may move between any two of its values, the likeliest data are the opposite corner: comparing the ends of all ranges
  compares everything.
* Given all noise but one, an event is ``y > t`` or ``y < t`` for a noisy number y around an entry.  So its probability has a second
  derivative in this entry of at most ``phi(1)/sigma^2``, or ``1/(2 b^2)`` for Laplace noise, and ``P(E) - c P'(E)`` is on a box with
  the half lengths h at most the largest value at a corner plus ``sum (1 + c) K_i h_i^2 / 2``.  It is also at most P(E) at its likeliest
  corner minus ``c P'(E)`` at the least likely.
* On a ray an entry goes on for ever, beyond its end x.  Where it goes away from s: ``P_x(E - s) <= P(E) <= P_x(E + s)``, because everything
  but s becomes likelier.  Where it goes towards s: P(E) is at least what is in E and does not depend on the entry, and at most E with
  everything that depends on it.
* If every noisy number is around one entry, with the factor 1, a number added to all entries changes nothing: one entry is at 0 and
  the largest.

All noisy numbers have draws of their own, so that an event is one of independent numbers whose centers are the entries.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise, product

from flint import arb

from privproof_checker.integrals.normal_enclosures import normal_excess
from privproof_checker.numbers import ZERO, Epsilon, Rational
from privproof_checker.numbers.balls import precision
from privproof_checker.outcomes import Accepted, refuse, within
from privproof_checker.plain_documents import only_members, text
from privproof_checker.programs.bundles import Bundle
from privproof_checker.programs.excesses import ShownTable, largest_excess, the_bound
from privproof_checker.programs.instruction_kinds import Program
from privproof_checker.programs.program_inputs import Declared
from privproof_checker.programs.registers import Unfolded, unfold

_BITS = 128
"""The precision of balls: rounding stays far below the width of what is claimed."""
_FOLLOWED = {"gaussian": 6, "laplace": 16, "exponential": 16}
"""Scales up to which entries are followed; beyond, they are on rays, and little changes."""
_MOST_BOXES = 100_000
"""Boxes in all; beyond, the evidence is refused."""
_MOST_EVENTS = 5_000
"""Events that are gone through; beyond, the evidence is refused."""

Data = tuple[Rational, ...]
Event = frozenset[int]
End = Rational | None
Box = tuple[tuple[End, End], ...]


@dataclass(frozen=True)
class _Lean:
    """What an entry leans to, where it rises or falls; what depends on it; its noise."""

    to: int
    rising: bool
    depending: Event
    kind: str
    scale: Rational


@dataclass(frozen=True)
class _Ranges:
    """The entries: how far each may move, between which ends."""

    reach: Data
    lows: tuple[End, ...]
    highs: tuple[End, ...]

    @property
    def short(self) -> bool:
        """Whether each entry may move between any two of its values."""
        return all(
            low is not None and high is not None and high - low <= reach
            for reach, low, high in zip(self.reach, self.lows, self.highs, strict=True)
        )


def proved_by_corners(program: Program, evidence: dict[str, object]) -> Accepted:
    """Check that no event is more than delta beyond what epsilon allows, on all neighbours with real entries."""
    only_members(evidence, ("method",), "evidence")
    declared = program.declared
    bound = the_bound(declared)
    if declared.relation not in ("each", "one", "monotone"):
        refuse("neighbours have lists of one length", "question.relation")
    ranges = _ranges(declared)
    unfolded = unfold(program)
    leans = _leans(unfolded)
    delta = declared.delta
    with precision(_BITS):
        if declared.relation == "each" and ranges.short:
            told = _at_ends(unfolded, ranges, bound, delta)
        else:
            told = _Covering(unfolded, leans, ranges, declared.relation, bound.ball(_BITS).exp(), delta).told()
    return Accepted(
        "proved",
        f"on all neighbours with real entries no event is more than {text(delta)} beyond what epsilon allows",
        {"method": "corners", **told},
        upper=bound,
    )


def _ranges(declared: Declared) -> _Ranges:
    reach: list[Rational] = []
    lows: list[End] = []
    highs: list[End] = []
    for each in declared.inputs.values():
        if each.sort != "real" or each.values is not None or each.within is None:
            refuse("an entry is no real number that moves by a distance at most", f"question.inputs.{each.name}")
        count = 1 if each.shape == "value" else (declared.size if each.size is None else each.size)
        if count is None:
            refuse("the lists have no size", "question.size")
        reach += [each.within] * count
        lows += [each.low] * count
        highs += [each.high] * count
    return _Ranges(tuple(reach), tuple(lows), tuple(highs))


def _leans(unfolded: Unfolded) -> list[_Lean]:
    found = []
    for entry in unfolded.entries:
        around = [number for number in _taking_part(unfolded) if unfolded.noisy[number].entry == entry]
        ways = []
        for bundles in unfolded.shown.values():
            signs = {
                sign if unfolded.noisy[who].center[1][0][1] > 0 else -sign
                for who in around
                for sign in (_sign(bundles, who),)
            }
            ways.append(0 if signs <= {0} else 2 if len(signs - {0}) > 1 or not signs <= {-1, 0, 1} else sum(signs))
        for rising in (True, False):
            others = [number for number, way in enumerate(ways) if way not in (0, -1 if rising else 1)]
            if len(others) == 1:
                noisy = unfolded.noisy[around[0]]
                depending = frozenset(number for number, way in enumerate(ways) if way != 0)
                scale = noisy.scale / abs(noisy.center[1][0][1])
                found.append(_Lean(others[0], rising, depending, noisy.kind, scale))
                break
        else:
            refuse("where an entry rises, more than one thing that is shown becomes likelier", "question.code")
    return found


def _taking_part(unfolded: Unfolded) -> list[int]:
    """The noisy numbers on which something depends that is shown."""
    bundles = [bundle for each in unfolded.shown.values() for bundle in each]
    return sorted({who for each in bundles for who in (*each.gaps, *(w for way in each.ways for w in way))})


def _sign(bundles: Sequence[Bundle], who: int) -> int:
    """Whether the probability rises (1) or falls (-1) with a noisy number, or does not depend on it (0); 2 for none of these."""
    signs = set()
    for bundle in bundles:
        if bundle.ways == {(who,)} and len(set(bundle.gaps.values())) <= 1:
            signs |= {1 if gaps == 0b01 else -1 for gaps in bundle.gaps.values()}  # all others lie on one side of it
        elif any(who in way for way in bundle.ways):
            return 2
        elif who in bundle.gaps:
            taken = [bool(bundle.gaps[who] >> gap & 1) for gap in range(bundle.marks + 1)]
            if taken not in (sorted(taken), sorted(taken, reverse=True)):
                return 2
            signs.add(-1 if taken[0] else 1)
    return 2 if len(signs) > 1 else signs.pop() if signs else 0


def _at_ends(unfolded: Unfolded, ranges: _Ranges, bound: Epsilon, delta: Rational) -> dict[str, object]:
    """The ends of all ranges are compared."""
    ends = [
        tuple(sorted({end for end in pair if end is not None})) for pair in zip(ranges.lows, ranges.highs, strict=True)
    ]
    letters = tuple(sorted({end for pair in ends for end in pair}))
    pairs = [[(letters.index(a), letters.index(b)) for a in each for b in each] for each in ends]
    table, most = largest_excess(unfolded, letters, "each", pairs, bound)
    if most > delta:
        refuse(f"an event may be {float(most.p) / float(most.q):.10g} beyond what epsilon allows", "evidence")
    return {"entries": len(ends), "integrals": len(table.balls)}


class _Covering:
    """All data are covered by boxes on each of which no event has an excess above delta."""

    def __init__(
        self,
        unfolded: Unfolded,
        leans: list[_Lean],
        ranges: _Ranges,
        relation: str,
        times: arb,
        delta: Rational,
    ) -> None:
        self.unfolded, self.leans, self.ranges, self.relation = unfolded, leans, ranges, relation
        self.times, self.delta = times, delta
        self.size, self.count = len(leans), len(unfolded.shown)
        noisy = self.noisy = [unfolded.noisy[who] for who in _taking_part(unfolded)]
        if len({each.draw for each in noisy}) < len(noisy):
            refuse("a draw is compared in different units, or has different centers", "question.code")
        for entry, lean in zip(unfolded.entries, leans, strict=True):
            if sum(each.entry == entry for each in noisy) != 1 or lean.kind not in ("gaussian", "laplace"):
                refuse("an entry is not the center of one number with Gaussian or Laplace noise", "question.code")
        unbounded = all(end is None for end in (*ranges.lows, *ranges.highs))
        self.floating = unbounded and all(each.center[1] and each.center[1][0][1] == 1 for each in noisy)
        self.alike = self.floating and self._alike()
        self.table = ShownTable(unfolded, ())
        self.letters: dict[Rational, int] = {}
        self.known: dict[Data, list[arb]] = {}
        top = (-arb(1) / 2).exp() / (2 * arb.pi()).sqrt()
        self.curves = [
            (1 + times) * (top if lean.kind == "gaussian" else arb(1) / 2) / 2 / arb(lean.scale) ** 2 for lean in leans
        ]

    def _alike(self) -> bool:
        """Whether entries may change places: each outcome has one entry on its one mark, all others below (or above) it."""
        taken = set()
        for number, bundles in enumerate(self.unfolded.shown.values()):
            if len(bundles) != 1 or bundles[0].marks != 1 or len(bundles[0].ways) != 1:
                return False
            [[who]] = bundles[0].ways
            others = set(_taking_part(self.unfolded)) - {who}
            if {bundles[0].gaps.get(each) for each in others} not in ({0b01}, {0b10}) or who in bundles[0].gaps:
                return False
            entry = self.unfolded.entries.index(str(self.unfolded.noisy[who].entry))
            if self.leans[entry].to != number:
                return False
            taken.add(entry)
        laws = {(lean.kind, lean.scale, lean.rising) for lean in self.leans}
        centers = {each.center[0] for each in self.noisy}
        return len(taken) == self.size == self.count and len(laws) == len(centers) == len(set(self.ranges.reach)) == 1

    def told(self) -> dict[str, object]:
        """Refuses data on which an event may have too much."""
        if self.by_shifts():
            return {"entries": self.size, "boxes": 0}
        boxes = 0
        waiting = [(event, moves, box) for event, moves in self.events() for box in self.start(moves)]
        while waiting:
            boxes += len(waiting)
            within(boxes, _MOST_BOXES, "boxes", "evidence")
            self.evaluate(
                [data for event, moves, box in waiting for pair in self.corners(event, moves, box)[2] for data in pair]
            )
            following = []
            for event, moves, box in waiting:
                if not self.largest(event, moves, box) <= arb(self.delta):
                    following += [(event, moves, half) for half in self.halves(box)]
            waiting = following
        return {"entries": self.size, "boxes": boxes, "data": len(self.known)}

    def by_shifts(self) -> bool:
        """Whether the normal law alone, moved as far as the entries move, is within delta."""
        if any(lean.kind != "gaussian" for lean in self.leans):
            return False
        weights = [(reach / lean.scale) ** 2 for reach, lean in zip(self.ranges.reach, self.leans, strict=True)]
        squares = max(weights) if self.relation == "one" else sum(weights, ZERO)
        if self.alike and self.relation == "each":  # k entries move up and the rest down: less their mean
            squares = max(weights[0] * Rational(4 * k * (self.size - k), self.size) for k in range(self.size))
        return bool(squares == 0 or normal_excess(arb(squares).sqrt(), self.times.log()) <= arb(self.delta))

    def events(self) -> Iterator[tuple[Event, tuple[int, ...]]]:
        """Events, with where each entry goes on the other side."""
        if self.alike:
            events = [frozenset(lean.to for lean in self.leans[:k]) for k in range(1, self.size)]
        else:
            within(2**self.count, _MOST_EVENTS, "events", "question.code")
            taken = product((False, True), repeat=self.count)
            events = [frozenset(k for k, each in enumerate(row) if each) for row in taken]
        for event in events:
            away = tuple(-1 if (lean.to in event) == lean.rising else 1 for lean in self.leans)
            if self.relation == "each":
                yield event, away
            elif self.relation == "one":
                for entry in range(self.size):
                    yield event, tuple(move if k == entry else 0 for k, move in enumerate(away))
            else:
                yield event, tuple(max(0, move) for move in away)
                yield event, tuple(min(0, move) for move in away)

    def start(self, moves: tuple[int, ...]) -> Iterator[Box]:
        """Boxes that cover all data."""
        widest = max(_FOLLOWED[each.kind] * each.scale + abs(each.center[0]) for each in self.noisy)
        far = []
        for reach in self.ranges.reach:
            end = reach
            while end < widest:
                end *= 2
            far.append(end)
        if self.floating:
            largest = range(self.size)
            if self.alike and self.relation != "one":  # all in the event may change places, and all others
                largest = (0, self.size - 1)  # type: ignore[assignment]
            for top in largest:
                yield from product(
                    *([(ZERO, ZERO)] if k == top else [(None, -far[k]), (-far[k], ZERO)] for k in range(self.size))
                )
            return
        spans: list[list[tuple[End, End]]] = []
        for low, high, end, reach in zip(self.ranges.lows, self.ranges.highs, far, self.ranges.reach, strict=True):
            first: Rational = low if low is not None else -end if high is None else min(-end, high)
            last: Rational = high if high is not None else max(end, first)
            inner = [first, last, *([] if low is None else [low + reach]), *([] if high is None else [high - reach])]
            stops = sorted({stop for stop in inner if first <= stop <= last})
            parts: list[tuple[End, End]] = list(pairwise(stops)) or [(first, first)]
            spans.append(parts + ([(None, first)] if low is None else []) + ([(last, None)] if high is None else []))
        yield from product(*spans)

    def moved(self, value: Rational, entry: int, move: int) -> Rational:
        there = value + move * self.ranges.reach[entry]
        low, high = self.ranges.lows[entry], self.ranges.highs[entry]
        there = there if low is None else max(low, there)
        return there if high is None else min(high, there)

    def corners(self, event: Event, moves: tuple[int, ...], box: Box) -> tuple[Event, Event, list[tuple[Data, Data]]]:
        """An event that is at least as likely on the left, one at most as likely on the right, and the corners on both sides."""
        above = below = event
        choices: list[list[tuple[Rational, Rational]]] = []
        for entry, ((low, high), move, lean) in enumerate(zip(box, moves, self.leans, strict=True)):
            if low is not None and high is not None:
                ends = [low] if low == high else [low, high]
                choices.append([(end, self.moved(end, entry, move)) for end in ends])
                continue
            end = low if low is not None else high
            assert end is not None
            upwards = high is None
            back = end if move == 0 else end - self.ranges.reach[entry] * (1 if upwards else -1)
            if upwards == lean.rising:  # towards
                above = above | lean.depending if lean.to in above else above
                leaving = lean.to not in below
                below = below - lean.depending if leaving else below
            else:
                above = above | {lean.to}
                leaving = lean.to in below
                below = below - {lean.to}
            choices.append([(end, end if leaving else back)])
        pairs = [(tuple(a for a, _ in corner), tuple(b for _, b in corner)) for corner in product(*choices)]
        return above, below, pairs

    def largest(self, event: Event, moves: tuple[int, ...], box: Box) -> arb:
        """A bound on the excess of an event on a box."""
        above, below, pairs = self.corners(event, moves, box)
        ps, qs = [self.of(one, above) for one, _ in pairs], [self.times * self.of(two, below) for _, two in pairs]
        bend = arb(0)
        for (low, high), curve in zip(box, self.curves, strict=True):
            if low is not None and high is not None:
                bend += curve * arb((high - low) / 2) ** 2
        excesses = [p - q for p, q in zip(ps, qs, strict=True)]
        if all(end is not None for span in box for end in span) and any(each > arb(self.delta) for each in excesses):
            refuse("an event is more than delta beyond what epsilon allows, at a corner of a box", "evidence")
        bent = max((each.upper() for each in excesses), key=float) + bend
        steep = max((p.upper() for p in ps), key=float) - min((q.lower() for q in qs), key=float)
        return bent.upper() if bent.upper() < steep.upper() else steep.upper()

    def of(self, data: Data, event: Event) -> arb:
        """The probability of an event, from the smaller of it and its complement."""
        balls = self.known[data]
        if 2 * len(event) <= self.count:
            return sum((balls[k] for k in event), arb(0))
        return 1 - sum((ball for k, ball in enumerate(balls) if k not in event), arb(0))

    def halves(self, box: Box) -> list[Box]:
        """A box cut in two where it bends most."""
        best, where = arb(0), None
        for entry, ((low, high), curve) in enumerate(zip(box, self.curves, strict=True)):
            if low is not None and high is not None and low < high:
                bend = curve * arb(high - low) ** 2
                if where is None or bend > best:
                    best, where = bend, entry
        if where is None:
            refuse("an event may be more than delta beyond what epsilon allows where entries are far apart", "evidence")
        low, high = box[where]
        assert low is not None
        assert high is not None
        middle = (low + high) / 2
        return [(*box[:where], half, *box[where + 1 :]) for half in ((low, middle), (middle, high))]

    def evaluate(self, wanted: Sequence[Data]) -> None:
        """The probabilities of all that is shown, at some data."""
        missing = [data for data in dict.fromkeys(wanted) if data not in self.known]
        for value in {value for data in missing for value in data} - set(self.letters):
            self.letters[value] = len(self.letters)
        self.table.letters = tuple(self.letters)
        sums = {
            data: [self.table.on(k, [self.letters[value] for value in data]) for k in range(self.count)]
            for data in missing
        }
        self.table.evaluate()
        for data, row in sums.items():
            self.known[data] = [self.table.balls[each] for each in row]
            if not sum(self.known[data], arb(0)).overlaps(arb(1)):
                refuse("the probabilities of all that is shown do not sum up to 1", "question.code")
