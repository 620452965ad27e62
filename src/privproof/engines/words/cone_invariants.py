"""Inductive cone invariants: proofs for words of every length.

Vectors reached by words are kept, for every location, until every product of a kept vector with a letter is dominated by kept vectors
or lies within the margin of its location (``alpha <= c m beta``) or a `simulation` (``alpha X <= c beta``).  Then the kept vectors G
satisfy

    every start is in cone(G) - R+,   g M_l is in cone(G) - R+ for every g in G and letter l,   g respects the bound where a word may end,

which proves the bound for words of every length by induction.

With a budget the search goes by length, so the first violation is the shortest.  Without one it goes by the largest ratio that a vector can
still lead to, ``max alpha_s / (m beta_s)``, and closes at a bound within a given precision of the best word found: a branch and bound over
words of all lengths.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from heapq import heapify, heappop, heappush, nsmallest
from math import inf
from typing import TypeAlias

from privproof.engines.search_monitor import Monitor, Progress, Stopped
from privproof.engines.words.cone_margins import margins
from privproof.engines.words.cone_simulation import simulation
from privproof.engines.words.dominance import Antichain, Dominated, is_dominated
from privproof.engines.words.frontier_search import SearchTrace
from privproof.engines.words.word_endings import Ending, Goal, Hit, Judge
from privproof.engines.words.word_potentials import Potential, potential_of
from privproof.engines.words.word_vectors import Reached, TensorProduct, initial, potential, quotient, round_outwards
from privproof.exact import ZERO, Rational, decimal, fraction, rational, simplest
from privproof.models import Word, WordProblem

Node: TypeAlias = tuple[int, int]
"""A location and the number of a generator there."""

Item: TypeAlias = tuple[float, int, Node]
"""An entry of the queue: how urgent (small is urgent), a number that tells entries apart, and the generator."""

_BATCH = 48
"""So many of the most promising vectors are expanded at once: matrices multiply many vectors faster than one by one."""
_PATIENCE = 40
"""So many vectors are expanded before linear programs are tried."""
_MOST_PROGRAMS = 600
"""So many linear programs are tried in all; afterwards only single generators dominate."""
_SIMULATIONS, _SIMULATED = 4, 60
"""So many simulations are looked for, each to bound so many of the most promising vectors."""
_LONGEST = 300
"""Words beyond this length are not looked at: their numbers have too many digits."""
_GUARD = 44
"""So many binary digits beyond the precision are kept where vectors are rounded."""
_HOPES = 60
"""So many linear programs may fail before no more are tried; a success restores some."""


@dataclass(frozen=True)
class Closed:
    """How a search ended.

    Attributes:
        found: a word that meets the goal.
        best: the word with the largest ratio seen.
        infinite: whether the best word is impossible on the right.
        trace: the invariant, if the search closed.
        bound: the ratio that the invariant proves, where no goal was given.
        stopped: why it did not close, or None.
        expanded: how many vectors were expanded.
        level: the length of the longest word looked at.
    """

    found: Word | None
    best: Word | None
    trace: SearchTrace | None
    bound: Rational | None
    stopped: str | None
    expanded: int
    level: int


class Invariant:
    """One search; see the module's docstring.

    Args:
        problem: a word problem.
        goal: what to look for, by length; without one the largest ratio is sought, best first.
        delta: what is subtracted from P, for each output.
        threshold: the bound to prove (with a goal), or the ratio of a known word.
        precision: how far, relatively, the proved bound may lie above the best word.
        exactly: keep vectors as they are; otherwise kept vectors of long numbers are rounded (see `round_outwards`) by far less than
            the precision, where a bound is at stake that is approached and not attained.
        monitor: progress and interrupts.
    """

    def __init__(
        self,
        problem: WordProblem,
        *,
        goal: Goal | None = None,
        delta: Rational = ZERO,
        threshold: Rational = ZERO,
        precision: Fraction = Fraction(1, 10**6),
        exactly: bool = False,
        monitor: Monitor | None = None,
    ) -> None:
        self.problem, self.goal, self.precision = problem, goal, precision
        self.bits = 0 if exactly or goal is not None or delta != 0 else _GUARD + int(1 / precision).bit_length()
        self.monitor = monitor or Monitor()
        self.judge = Judge(
            problem, goal=goal, delta=delta, threshold=threshold, rounded=self.bits > 0, monitor=self.monitor
        )
        self.weighted, self.threshold = delta != 0, self.judge.threshold
        self.margins = (Fraction(0),) * len(problem.locations) if self.weighted else margins(problem)
        self.products = [[TensorProduct(edge.left, edge.right) for edge in place.edges] for place in problem.locations]
        self.endings = [[Ending(final) for final in place.finals] for place in problem.locations]
        self.chains = [Antichain(weighted=self.weighted) for _ in problem.locations]
        self.levels: list[list[int]] = [[] for _ in problem.locations]
        self.queue: list[Item] = []
        self.needed = Fraction(0)
        self.trace = SearchTrace(last=-2, inductive=True)
        self.expanded = self.counter = self.level = 0
        self.programs = 0
        self.hopes = _HOPES
        self.potential = None if goal is None or not self.weighted else potential_of(problem, threshold, delta)
        if self.potential is not None:
            self._keep_potential(self.potential)
        for number, start in enumerate(problem.starts):
            vector = initial(number, start.left, start.right, weighted=self.weighted)
            if any(vector.left):
                self.trace.starts[number] = self._cover(start.location, vector, 0)

    def _keep_potential(self, found: Potential) -> None:
        """Keep the generators of a potential; their products need no search."""
        for location, place in enumerate(self.problem.locations):
            for generator in found.generators(location, place.left_size, place.right_size):
                self.chains[location].add(generator)
                self.levels[location].append(0)
        for location, place in enumerate(self.problem.locations):
            generators = list(self.chains[location].generators)
            for e, edge in enumerate(place.edges):
                for number, after in enumerate(self.products[location][e](generators, edge.letter)):
                    if after is None:
                        continue
                    kept = edge.target == location and (after.left, after.right) == (
                        generators[number].left,
                        generators[number].right,
                    )
                    reason = Dominated(by=((number, Fraction(1)),), scale=after.scale)
                    if not kept:
                        covered = found.cover(edge.target, after)
                        assert covered is not None
                        reason = covered
                    self.trace.forgotten[(0, location), number, e] = reason

    def run(self, *, most: int) -> Closed:
        """Go on until the search closes, the goal is met, or `most` vectors have been expanded."""
        while self.queue:
            reason = self.monitor.stopped()
            if reason is not None or self.expanded >= most or self.level >= _LONGEST:
                return self._outcome(None, reason or self._not_closed())
            batch = self._next()
            try:
                found = self._round(batch)
            except Stopped:
                self._put_back(batch)
                continue
            if found is not None or (self.goal is None and self.judge.ratio == inf):
                return self._outcome(found, None)
            kept, known = sum(map(len, self.chains)), self.judge.established()
            self.monitor.listen(
                Progress("inductive invariant", self.level, kept, self._lower(), self._upper(), established=known)
            )
        for location, chain in enumerate(self.chains):
            self.trace.kept[0, location] = chain.generators
        return self._outcome(None, None, closed=True)

    def _not_closed(self) -> str:
        return f"{self.expanded} vectors were expanded and the cone has not closed"

    def nearly_attained(self, closed: Closed) -> bool:
        """Whether the proved bound misses the best ratio by so little that rounding may be the reason."""
        if not self.bits or closed.trace is None:
            return False
        ratio = self.judge.attained()
        return ratio < self.needed <= ratio * (1 + Fraction(1, 2 ** (self.bits // 2)))

    def settle(self) -> Closed:
        """Close at the largest ratio that the vectors not yet expanded can still lead to, if that is finite."""
        left_over = [node for _, _, node in self.queue]
        quotients = [self._limit(*node) for node in left_over]
        if self.goal is not None or any(q is None for q in quotients):
            return self._outcome(None, self.monitor.stopped() or self._not_closed())
        self.needed = max(
            [self.needed, self.judge.attained() * (1 + self.precision), *(q for q in quotients if q is not None)]
        )
        self.trace.bound = self.needed
        for location, number in left_over:
            vector = self.chains[location].generators[number]
            within = self._within_margin(location, vector)
            for e, edge in enumerate(self.problem.locations[location].edges):
                (after,) = self.products[location][e]([vector], edge.letter)
                if after is None:
                    continue
                if within is not None and within <= self.needed:
                    reason = Dominated(diagonal=after.left, scale=after.scale)
                else:
                    _, number_of = self._simulated(location, vector)
                    reason = Dominated(simulated=after.left, simulation=number_of, scale=after.scale)
                self.trace.forgotten[(0, location), number, e] = reason
        self.queue = []
        return self.run(most=self.expanded)

    def simulate(self) -> None:
        """Look for a simulation that bounds the vectors not yet expanded."""
        if self.weighted or len(self.trace.simulations) == _SIMULATIONS:
            return
        nodes = [node for _, _, node in nsmallest(_SIMULATED, self.queue)]
        found = simulation(self.problem, self.margins, [(at, self.chains[at].generators[i]) for at, i in nodes])
        if found is None:
            return
        self.trace.simulations.append(found)
        if self.goal is None:
            self.queue = [(-self._promise(*node), counter, node) for _, counter, node in self.queue]
            heapify(self.queue)

    def bounded(self) -> bool:
        """Whether the vectors not yet expanded all have a limit, so that there is some epsilon."""
        return all(self._limit(*node) is not None for _, _, node in self.queue)

    def _limit(self, location: int, number: int) -> Fraction | None:
        """A ratio that no continuation of a kept vector exceeds, exactly; None where there is none."""
        vector = self.chains[location].generators[number]
        limits = (self._within_margin(location, vector), self._simulated(location, vector)[0])
        return min((limit for limit in limits if limit is not None), default=None)

    def _within_margin(self, location: int, vector: Reached) -> Fraction | None:
        """The smallest k with ``alpha <= k m beta``; None if there is none."""
        margin = self.margins[location]
        if margin == 0 or not covers(vector):
            return None
        return _largest_quotient(vector) / margin

    def _simulated(self, location: int, vector: Reached) -> tuple[Fraction | None, int]:
        """The smallest k with ``alpha X <= k beta`` for one of the simulations X, and which; None if there is none."""
        quotients = ((found.quotient(location, vector), number) for number, found in enumerate(self.trace.simulations))
        return min(((k, number) for k, number in quotients if k is not None), default=(None, 0))

    def _promise(self, location: int, number: int) -> float:
        """The limit, rounded; infinite where there is none."""
        vector, margin = self.chains[location].generators[number], self.margins[location]
        largest = inf if margin == 0 else _top(vector) / float(margin)
        within, _ = self._simulated(location, vector)
        return largest if within is None else min(largest, quotient(within.numerator, within.denominator))

    def _outcome(self, found: Word | None, stopped: str | None, *, closed: bool = False) -> Closed:
        best = self.judge.best_word()
        bound = None
        if closed and self.goal is None:
            bound = rational(self._final_bound())
            self.trace.bound = fraction(bound) if self.trace.bound is not None else None
        return Closed(found, best, self.trace if closed else None, bound, stopped, self.expanded, self.level)

    def _final_bound(self) -> Fraction:
        """The best ratio if the invariant proves it, else a simple number not far above."""
        ratio = self.judge.attained()
        if self.needed <= ratio:
            return ratio
        return simplest(self.needed, max(self.needed, ratio) * (1 + self.precision / 64))

    def _lower(self) -> str:
        ratio = self.judge.attained()
        return decimal(ratio) if ratio else ""

    def _upper(self) -> str:
        if self.goal is not None or not self.queue:
            return ""
        top = -self.queue[0][0]
        return f"{top:.6g}" if top < inf else ""

    def _bound(self) -> Fraction:
        """A ratio that need not be told from smaller ones."""
        return self.threshold if self.goal is not None else self.judge.attained() * (1 + self.precision)

    def _next(self) -> list[Item]:
        """The vectors to expand next: those of the smallest length, or the most promising ones."""
        batch: list[Item] = []
        first = self.queue[0][0]
        while self.queue and len(batch) < (10**9 if self.goal is not None else _BATCH):
            if self.goal is not None and self.queue[0][0] != first:
                break
            batch.append(heappop(self.queue))
        return batch

    def _put_back(self, batch: list[Item]) -> None:
        for item in batch:
            heappush(self.queue, item)

    def _round(self, batch: list[Item]) -> Word | None:
        """Expand vectors."""
        self.expanded += len(batch)
        by_location: dict[int, list[int]] = {}
        for _, _, (location, number) in batch:
            by_location.setdefault(location, []).append(number)
        candidates: list[tuple[tuple[tuple[int, int], int, int], int, Reached, int]] = []
        for location, numbers in by_location.items():
            vectors = [self.chains[location].generators[i] for i in numbers]
            for e, edge in enumerate(self.problem.locations[location].edges):
                for i, vector in zip(numbers, self.products[location][e](vectors, edge.letter), strict=True):
                    if vector is not None:
                        level = self.levels[location][i] + 1
                        candidates.append((((0, location), i, e), edge.target, vector, level))
        hits: list[Hit] = []
        for _, location, vector, _ in candidates:
            hits += self.judge.hits([vector], self.endings[location])
        if hits:
            return self.judge.simplest(hits)
        for origin, location, vector, level in sorted(candidates, key=lambda c: -potential(c[2])):
            self.monitor.pause()
            self.level = max(self.level, level)
            self.trace.forgotten[origin] = self._cover(location, vector, level)
        return None

    def _cover(self, location: int, vector: Reached, level: int) -> Dominated:
        """Why a vector needs no further thought, or keep it."""
        margin = self.margins[location]
        if margin > 0:
            bound = self._bound() * margin
            if bound > 0 and is_dominated(vector, bound):
                self.trace.bound = self._bound()
                self.needed = max(self.needed, _largest_quotient(vector) / margin)
                return Dominated(diagonal=vector.left, scale=vector.scale)
        limit, which = self._simulated(location, vector)
        if limit is not None and limit <= self._bound():
            self.trace.bound = self._bound()
            self.needed = max(self.needed, limit)
            return Dominated(simulated=vector.left, simulation=which, scale=vector.scale)
        chain = self.chains[location]
        if self.potential is not None:
            covered = self.potential.cover(location, vector)
            if covered is not None:
                return covered
        by = chain.dominator(vector)
        worth_it = self.hopes > 0 and self.programs < _MOST_PROGRAMS
        if by is None and self.expanded >= _PATIENCE and worth_it and not self.weighted:
            self.programs += 1
            combined = chain.cone(vector, self._bound() * margin)
            self.hopes += -1 if combined is None else 5
            if combined is not None:
                if combined.diagonal is not None:
                    self.trace.bound = self._bound()
                    self.needed = max(self.needed, self._bound())
                return combined
        if by is None:
            if self.bits and (limit is not None or (margin > 0 and covers(vector))):
                vector = round_outwards(vector, self.bits)
            number = chain.add(vector)
            self.levels[location].append(level)
            by = ((number, Fraction(1)),)
            self.counter += 1
            promise = float(level) if self.goal is not None else -self._promise(location, number)
            heappush(self.queue, (promise, self.counter, (location, number)))
        return Dominated(by=by, scale=vector.scale)


def covers(vector: Reached) -> bool:
    """Whether the right part has mass wherever the left part has."""
    return all(y or not x for x, y in zip(vector.left, vector.right, strict=True))


def _top(vector: Reached) -> float:
    """The largest quotient of a left and a right entry, rounded."""
    return max((quotient(x, y) for x, y in zip(vector.left, vector.right, strict=True)), default=0.0)


def _largest_quotient(vector: Reached) -> Fraction:
    p, q = 0, 1
    for x, y in zip(vector.left, vector.right, strict=True):
        if x * q > p * y:
            p, q = x, y
    return Fraction(p, q)
