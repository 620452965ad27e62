"""Ratio cones: bounds on how much likelier every future is from one state than from another.

At a location let ``h = A_w f`` and ``g = B_w f`` be the columns of a word w that follows: the probability of the rest, by state, on the
left and on the right.  A ratio ``rho_st`` bounds ``h_s <= rho_st g_t`` for every w.  Ratios hold if they hold for the final columns, and
for every letter, given those at its target: ``row_s(A_l) h <= rho_st row_t(B_l) g``, which is a linear program with a dual (see
`shipping`).  They are a multiplicative bisimulation metric (Chatzikokolakis, Gebler, Palamidessi and Xu, CONCUR 2014).

Locations are of three kinds:

* *same*: from here on both sides take the same matrices, so that h = g, and ``rho_ss = 1``;
* *past*: up to here both sides took the same matrices from the same beginning, so that both vectors are the same, among the multiples of
  finitely many generators (see `pasts`);
* *pair*: neither.

A neighbour relation with one change leads from pasts over a change to futures that are the same.  If ``x A_l h <= c x B_l g`` for every
generator x of the pasts, every letter out of them and all h, g within the ratios of its target, then ``P(w) <= c Q(w)`` for every word:
both sides are linear in x and in (h, g).

Ratios are raised from those of the final columns until they hold, and only where they are asked for, from the changes on.  What is asked
for once more often than it should be is extrapolated: a guess that turns out to hold is as good as any.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal, TypeAlias

from privproof.engines.search_monitor import Monitor
from privproof.engines.words.reachable_pasts import Pasts, find_pasts
from privproof.exact import ONE, ZERO, Rational, fraction, rational, simplest
from privproof.exact.rational_matrices import Matrix, Vector
from privproof.exact.rounding import to_grid
from privproof.exact.shipping import ProgramTooLarge, Shares, cheapest_shipment
from privproof.models import WordProblem

Kind: TypeAlias = Literal["past", "same", "pair"]
Ratio: TypeAlias = tuple[int, int, int]
"""A location, a state on the left and a state on the right."""

Task: TypeAlias = tuple[str, int, int, int, int]
"""What needs ratios: ("past", location, generator, edge, 0), ("start", start, 0, 0, 0) or ("ratio", location, state, state, edge)."""

_PATIENT_RAISES, _MOST_RAISES = 3, 45
"""Every so many raises a ratio is extrapolated instead; after the last of them it is taken for infinite."""
_LOWERINGS = 6
"""So often guesses that turned out to be too large are lowered, and the search begins again from there."""
_DIGITS = 10**30
"""A ratio with a larger denominator is rounded upwards, to a multiple of the inverse: exact ones have shorter denominators."""
_LARGEST = 10**12
"""A ratio beyond this is taken for infinite: it would be of no use."""
_MOST_PROGRAMS = 20_000
"""Linear programs until the search is given up; each takes a millisecond or so."""


@dataclass(frozen=True)
class RatioCones:
    """Ratios that hold, why, and the bound that follows.

    Attributes:
        bound: ``P(w) <= bound Q(w)`` for every word.
        kinds: the kind of every location.
        pasts: the generators of the pasts.
        ratios: by location the ratios that are used, by states.
        shares: for every ratio and edge out of its location, for every generator and edge, for every start: the multipliers at the target.
    """

    bound: Rational
    kinds: tuple[Kind, ...]
    pasts: Pasts
    ratios: Mapping[int, Mapping[tuple[int, int], Rational]]
    ratio_shares: Mapping[tuple[Ratio, int], Shares]
    past_shares: Mapping[tuple[int, int, int], Shares]
    start_shares: Mapping[int, Shares]


def location_kinds(problem: WordProblem, alike: Sequence[bool]) -> tuple[Kind, ...]:
    """The kinds of the locations; `alike` says where both sides have the same coordinates."""
    equal: dict[tuple[int, int], bool] = {}

    def common(left: Matrix, right: Matrix) -> bool:
        key = (id(left), id(right))
        if key not in equal:
            equal[key] = left is right or left == right
        return equal[key]

    numbers = range(len(problem.locations))
    same = {
        i
        for i in numbers
        if alike[i]
        and all(final.left == final.right for final in problem.locations[i].finals)
        and all(common(edge.left, edge.right) for edge in problem.locations[i].edges)
    }
    while True:
        kept = {i for i in same if all(edge.target in same for edge in problem.locations[i].edges)}
        if kept == same:
            break
        same = kept
    past = {i for i in numbers if alike[i] and i not in same}
    past -= {start.location for start in problem.starts if start.left != start.right}
    while True:
        spoilt = {
            edge.target
            for i in numbers
            for edge in problem.locations[i].edges
            if edge.target in past and not (i in past and common(edge.left, edge.right))
        }
        if not spoilt:
            break
        past -= spoilt
    return tuple("same" if i in same else "past" if i in past else "pair" for i in numbers)


def find_ratio_cones(
    problem: WordProblem, kinds: tuple[Kind, ...], *, aim: Rational = ONE, monitor: Monitor
) -> RatioCones | str:
    """Ratio cones with a small bound, or why there are none; a bound below `aim` is known to be impossible."""
    places = [i for i, kind in enumerate(kinds) if kind == "past"]
    best: RatioCones | str = "no ratio of futures is bounded"
    known: Mapping[Ratio, Rational | None] = {}
    for pasts in find_pasts(problem, places, monitor=monitor):
        found, known = _smallest(problem, kinds, pasts, aim, monitor, known)
        if isinstance(found, str):
            best = found if isinstance(best, str) else best
            if monitor.stopped() is not None:
                break
        elif isinstance(best, str) or found.bound < best.bound:
            best = found
            if best.bound <= aim:
                break
    return best


def _smallest(
    problem: WordProblem,
    kinds: tuple[Kind, ...],
    pasts: Pasts,
    aim: Rational,
    monitor: Monitor,
    known: Mapping[Ratio, Rational | None],
) -> tuple[RatioCones | str, Mapping[Ratio, Rational | None]]:
    """The smallest bound that lowering guesses leads to, beginning with ratios that are known, and the ratios at the end."""
    search = _RatioSearch(problem, kinds, pasts, monitor, known)
    best = search.run()
    ratios = search.values
    for _ in range(_LOWERINGS):
        if isinstance(best, str) or best.bound <= aim or not search.guessed:
            break
        search = _RatioSearch(problem, kinds, pasts, monitor, search.lowered())
        found = search.run()
        if isinstance(found, str):
            break
        if found.bound < best.bound:
            best, ratios = found, search.values
    return best, ratios


class _RatioSearch:
    """Raises ratios until they hold."""

    def __init__(
        self,
        problem: WordProblem,
        kinds: tuple[Kind, ...],
        pasts: Pasts,
        monitor: Monitor,
        begin: Mapping[Ratio, Rational | None],
    ) -> None:
        self.problem, self.kinds, self.pasts, self.monitor = problem, kinds, pasts, monitor
        self.values: dict[Ratio, Rational | None] = dict(begin)
        self.guessed: dict[Ratio, Rational] = {}
        self.history: dict[Ratio, list[float]] = {}
        self.raises: dict[Ratio, int] = {}
        self.asked: set[Ratio] = set()
        self.users: dict[Ratio, set[Task]] = {}
        self.results: dict[Task, tuple[Rational, Shares] | None] = {}
        self.waiting: deque[Task] = deque()
        self.queued: set[Task] = set()
        self.programs = 0
        self.ends = [_ends(problem, location) for location in range(len(problem.locations))]
        self.widest = _widest(self.ends)

    def value(self, location: int, s: int, t: int) -> Rational | None:
        """The ratio as it is now; None for infinite."""
        if s == t and self.kinds[location] == "same":
            return ONE
        ratio = (location, s, t)
        if ratio not in self.values:
            self.values[ratio] = self._at_the_end(location, s, t)
        return self.values[ratio]

    def _at_the_end(self, location: int, s: int, t: int) -> Rational | None:
        """What the ratio is at least, by the words that end here or with the next letter; None for infinite."""
        result = ZERO
        for left, right in self.ends[location]:
            if left[s] != 0:
                if right[t] == 0:
                    return None
                result = max(result, left[s] / right[t])
        return result

    def run(self) -> RatioCones | str:
        roots = list(self._roots())
        for root in roots:
            self._ask(root)
        while self.waiting:
            reason = self.monitor.stopped()
            if reason is not None:
                return reason
            if self.programs > _MOST_PROGRAMS:
                return f"the ratios of futures did not settle within {_MOST_PROGRAMS} linear programs"
            task = self.waiting.popleft()
            self.queued.discard(task)
            try:
                self._solve(task)
            except ProgramTooLarge:
                return "a linear program of the ratios of futures is too large"
        bound = ONE
        for root in roots:
            result = self.results[root]
            if result is None:
                return "some future may follow from one side and not from the other, as far as ratios tell"
            bound = max(bound, result[0])
        return self._collected(bound, roots)

    def _roots(self) -> Iterator[Task]:
        for location, generators in self.pasts.generators.items():
            for number in range(len(generators)):
                for e, edge in enumerate(self.problem.locations[location].edges):
                    if self.kinds[edge.target] != "past":
                        yield ("past", location, number, e, 0)
        for number, start in enumerate(self.problem.starts):
            if self.kinds[start.location] != "past":
                yield ("start", number, 0, 0, 0)

    def _ask(self, task: Task) -> None:
        if task not in self.queued:
            self.queued.add(task)
            self.waiting.append(task)

    def _sides(self, task: Task) -> tuple[int, dict[int, Rational], dict[int, Rational]]:
        """The target of a task, and the two vectors there that are compared."""
        match task:
            case ("past", location, number, e, _):
                edge = self.problem.locations[location].edges[e]
                generator = self.pasts.generators[location][number]
                return edge.target, _sparse(edge.left.after(generator)), _sparse(edge.right.after(generator))
            case ("start", number, _, _, _):
                start = self.problem.starts[number]
                return start.location, _sparse(start.left), _sparse(start.right)
            case (_, location, s, t, e):
                edge = self.problem.locations[location].edges[e]
                return edge.target, dict(edge.left.rows[s]), dict(edge.right.rows[t])

    def _solve(self, task: Task) -> None:
        """The smallest factor of a task; ratios that its solution uses are asked for."""
        self.programs += 1
        target, amounts, rooms = self._sides(task)
        found = cheapest_shipment(amounts, rooms, lambda s, t: self.value(target, s, t)) if amounts else (ZERO, {})
        self.results[task] = found
        if found is not None:
            for s, t in found[1]:
                if s == t and self.kinds[target] == "same":
                    continue
                used = (target, s, t)
                self.users.setdefault(used, set()).add(task)
                if used not in self.asked:
                    self.asked.add(used)
                    for e in range(len(self.problem.locations[target].edges)):
                        self._ask(("ratio", *used, e))
        if task[0] == "ratio":
            self._raise((task[1], task[2], task[3]), None if found is None else found[0])

    def _raise(self, ratio: Ratio, needed: Rational | None) -> None:
        """Raise a ratio to what follows from the others, where that is more."""
        now = self.value(*ratio)
        if now is None or (needed is not None and needed <= now):
            return
        count = self.raises[ratio] = self.raises.get(ratio, 0) + 1
        raised = needed
        if raised is not None:
            raised = self._extrapolated(ratio, raised, count)
        self.values[ratio] = raised
        for task in self.users.pop(ratio, ()):
            self._ask(task)

    def _extrapolated(self, ratio: Ratio, needed: Rational, count: int) -> Rational | None:
        """What a ratio is raised to: what is needed, or, every so often, the simplest number near the limit of what was needed."""
        if needed > _LARGEST or count > _MOST_RAISES:
            return None
        known = self.history.setdefault(ratio, [])
        known.append(int(needed.p) / int(needed.q))
        if count % _PATIENT_RAISES == 0:
            x, y, z = known[-3:]
            if 0 < z - y < y - x:
                ahead = (z - y) ** 2 / ((y - x) - (z - y))
                doubt = ahead / 2 ** (count // _PATIENT_RAISES)
                low = max(fraction(needed), Fraction(z + ahead - doubt))
                self.guessed[ratio] = needed
                guess = rational(simplest(low, max(low, Fraction(z + ahead + doubt))))
                return self.widest if self.widest is not None and needed <= self.widest < guess else guess
        if needed.q > _DIGITS:
            return to_grid(needed, up=True, parts=_DIGITS)
        return needed

    def lowered(self) -> dict[Ratio, Rational | None]:
        """The ratios, those that were guessed and need not be so large at what the others ask for, or simpler and below it."""
        result = dict(self.values)
        for ratio, least in self.guessed.items():
            now = self.values[ratio]
            location, s, t = ratio
            at_the_end = self._at_the_end(location, s, t)
            answers = [
                self.results.get(("ratio", *ratio, e)) for e in range(len(self.problem.locations[location].edges))
            ]
            if now is None or at_the_end is None or any(answer is None for answer in answers):
                continue
            asked = max([at_the_end, *(answer[0] for answer in answers if answer is not None)])
            if asked < now:
                low = max(fraction(least), fraction(asked - 4 * (now - asked)), fraction(at_the_end))
                result[ratio] = rational(simplest(min(low, fraction(asked)), fraction(asked)))
        return result

    def _collected(self, bound: Rational, roots: list[Task]) -> RatioCones:
        """The ratios that the roots use, directly or not, with all multipliers."""
        ratios: dict[int, dict[tuple[int, int], Rational]] = {}
        shares: dict[tuple[Ratio, int], Shares] = {}
        past_shares: dict[tuple[int, int, int], Shares] = {}
        start_shares: dict[int, Shares] = {}
        waiting = list(roots)
        while waiting:
            task = waiting.pop()
            result = self.results[task]
            assert result is not None
            target = self._sides(task)[0]
            used = {(s, t): share for (s, t), share in result[1].items() if s != t or self.kinds[target] != "same"}
            match task:
                case ("past", location, number, e, _):
                    past_shares[location, number, e] = used
                case ("start", number, _, _, _):
                    start_shares[number] = used
                case (_, location, s, t, e):
                    shares[(location, s, t), e] = used
            for s, t in used:
                here = ratios.setdefault(target, {})
                if (s, t) not in here:
                    value = self.values[target, s, t]
                    assert value is not None
                    here[s, t] = value
                    waiting += [("ratio", target, s, t, e) for e in range(len(self.problem.locations[target].edges))]
        return RatioCones(bound, self.kinds, self.pasts, ratios, shares, past_shares, start_shares)


def _ends(problem: WordProblem, location: int) -> list[tuple[Vector, Vector]]:
    """The columns of the words that end at a location, and of those that end with the next letter, because nothing follows it."""
    here = problem.locations[location]
    found = [(final.left, final.right) for final in here.finals]
    for edge in here.edges:
        target = problem.locations[edge.target]
        if not target.edges:
            found += [(edge.left.before(final.left), edge.right.before(final.right)) for final in target.finals]
    return found


def _widest(ends: Sequence[Sequence[tuple[Vector, Vector]]]) -> Rational | None:
    """The largest quotient of two entries of the columns of one end; None for infinite.

    Where letters keep the mass, futures are mixtures of ends, so that no ratio is larger.
    """
    result = ONE
    for columns in ends:
        for left, right in columns:
            above, below = max(left, default=ZERO), min(right, default=ONE)
            if below == 0:
                return None
            result = max(result, above / below)
    return result


def _sparse(vector: Vector) -> dict[int, Rational]:
    return {i: x for i, x in enumerate(vector) if x != 0}
