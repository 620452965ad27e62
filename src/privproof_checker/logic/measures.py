"""The probability of a path formula in a Markov chain, without any automaton on infinite words.

Walk through the chain and keep the obligation that the rest of the path must satisfy (see `obligations`): the product
is a finite Markov chain, and the probability p of success is a function of its nodes.

**In a bottom component B of the product p is constant, 0 or 1.**  Along a path, p of the node at step n is the
probability of success given the first n steps; it converges to 0 or 1 almost surely (Levy's 0-1 law), and the path
visits every node of B again and again.  So the probability of a formula is that of reaching the bottom components where
p = 1: a linear system, solved component by component.

**Which of both.**  Let C be the bottom component of the chain below B.  "h holds again and again" is an event that does
not change when the path loses its first steps, so in C it has probability 0 or 1, for every path formula h.  For
endless untils, ``f U g`` holds again and again if and only if g does.  Let u' be the obligation u with each endless
``f U g``, inner ones first, replaced by ``f' W g'`` (weak until) if g' holds again and again in C, and by false if not;
u' is safe.

1. Almost surely from some step on, u and u' agree at every step: if g recurs, ``f U g`` and ``f W g`` are the same
   everywhere, and if it does not, ``f U g`` fails from some step on.  So g recurs if and only if g' does, and g' does
   if and only if from some state of C it has positive probability.
2. u' implies u almost surely in C (negations stand at leaves, and false implies all).

So p = 1 in B if and only if u' has positive probability from some node (s, u) of B: if it has, p > 0 by 2; and if p =
1, the obligation u_n after n steps holds, hence by 1 for large n also u_n' with a probability that tends to 1.  A safe
u' has positive probability from s if and only if its product with the chain reaches a node from which false is not
reachable.  All this is reachability in graphs.

Nexts, and untils between present formulas, need no product: their values are computed backwards, step by step.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from flint import arb, fmpq

from privproof_checker.graph_algorithms import bottom, components, reachable, reverse_edges
from privproof_checker.logic.decision_processes import ProcessWalk, Value
from privproof_checker.logic.formulas import TRUE, Leaf, Next, Path, PathNot, PathSeveral, State, Until
from privproof_checker.logic.monitor_products import MonitorProduct, explore
from privproof_checker.logic.obligations import Obligations, Truths
from privproof_checker.logic.solving import eliminate, one_step
from privproof_checker.numbers import ONE, ZERO
from privproof_checker.outcomes import refuse

Holds = Callable[[State, Iterable[int]], dict[int, bool | None]]
"""The truth of a state formula in states of the process."""

_MOST_WORK = 60_000_000
"""Edges passed in all steps of bounded formulas, each counted once per 64 bits of the probabilities; beyond, it is refused."""


class Measure:
    """Probabilities of path formulas on one chain; None where a state formula inside is not known."""

    def __init__(self, walk: ProcessWalk, holds: Holds) -> None:
        self.walk, self.holds = walk, holds
        self.work = 0

    def of(self, path: Path, starts: Iterable[int]) -> dict[int, Value | None]:
        """The probability of a path formula from some states of the walk."""
        asked = list(dict.fromkeys(starts))
        match path:
            case Leaf(state):
                return {s: _sure(truth) for s, truth in self._present(state, asked).items()}
            case PathNot(inner):
                return {s: _complement(p) for s, p in self.of(inner, asked).items()}
            case PathSeveral():
                return self._several(path, asked)
            case Next(steps, inner):
                return self._iterated(asked, steps, TRUE.state, self.of(inner, self.walk.reached(asked)))
            case Until(Leaf(left), Leaf(right), low, high) if low > 0 or high is not None:
                within_reach = self.walk.reached(asked)
                if high is None:
                    last = self.by_product(Until(Leaf(left), Leaf(right), 0, None), within_reach)
                else:
                    last = {s: _sure(truth) for s, truth in self._present(right, within_reach).items()}
                    last = self._iterated(within_reach, high - low, left, last, goal=right)
                return self._iterated(asked, low, left, last)
        return self.by_product(path, asked)

    def _several(self, path: PathSeveral, asked: list[int]) -> dict[int, Value | None]:
        """Where all parts but one are about the present, that one alone is measured."""
        every, parts = path.every, path.parts
        later = [part for part in parts if not isinstance(part, Leaf)]
        if len(later) != 1:
            return self.by_product(path, asked)
        result: dict[int, Value | None] = {}
        found = [self._present(part.state, asked) for part in parts if isinstance(part, Leaf)]
        for s in asked:
            truths = [truth[s] for truth in found]
            if (not every) in truths:
                result[s] = ZERO if every else ONE
            elif None in truths:
                result[s] = None
        result.update(self.of(later[0], [s for s in asked if s not in result]))
        return result

    def _present(self, state: State, asked: Iterable[int]) -> dict[int, bool | None]:
        """The truth of a state formula in states of the walk."""
        shows = {s: self.walk.shows[s] for s in asked}
        truth = self.holds(state, shows.values())
        return {s: truth[shown] for s, shown in shows.items()}

    def _iterated(
        self, asked: list[int], steps: int, keep: State, last: dict[int, Value | None], *, goal: State | None = None
    ) -> dict[int, Value | None]:
        """The expected value after some steps: 0 where ``keep`` fails before, 1 where the goal is met before."""
        if steps == 0:
            return {s: last[s] for s in asked}
        domain = self.walk.reached(asked)
        kept = self._present(keep, domain)
        met = self._present(goal, domain) if goal is not None else dict.fromkeys(domain, False)
        moving = [s for s in domain if kept[s] is True and met[s] is False]
        values: dict[int, Value | None] = dict(last)
        fixed: dict[int, Value | None] = {}
        for s in domain:
            if met[s] is True:
                fixed[s] = ONE
            elif met[s] is None or kept[s] is None:
                fixed[s] = None
            elif kept[s] is False:
                fixed[s] = ZERO
        edges = sum(len(self.walk.rows[s][0]) for s in moving) + 1
        for _ in range(steps):
            following: dict[int, Value | None] = dict(fixed)
            for s in moving:
                following[s] = one_step(self.walk.rows[s][0], values)
            same = all(following[s] is values[s] or _equal(following[s], values[s]) for s in domain)
            values = following
            if same:
                break
            size = max((value.q.bit_length() for value in values.values() if isinstance(value, fmpq)), default=1)
            self.work += edges * (1 + size // 64)
            if self.work > _MOST_WORK:
                refuse(f"{steps} steps of this process are too much work", "question.formula")
        return {s: values[s] for s in asked}

    def by_product(self, path: Path, starts: Iterable[int]) -> dict[int, Value | None]:
        """The probability of any path formula, by the product."""
        obligations = Obligations()
        root = obligations.of(path)
        asked = list(starts)
        truths = self._truths(obligations, asked)
        product = explore(self.walk, obligations, truths, ((s, root) for s in asked))
        values = self._solved(product, _Bottoms(self.walk, obligations, truths))
        return {s: values[product.number[s, root]] for s in asked}

    def _truths(self, obligations: Obligations, asked: list[int]) -> list[Truths | None]:
        """The truths of the leaves in all states within reach."""
        domain = self.walk.reached(asked)
        columns = [self._present(leaf, domain) for leaf in obligations.leaves]
        result: list[Truths | None] = [None] * len(self.walk.rows)
        for s in domain:
            result[s] = tuple(column[s] for column in columns)
        return result

    def _solved(self, product: MonitorProduct, bottoms: _Bottoms) -> list[Value | None]:
        """The probability of success in every node."""
        following = product.following()
        parts = components(range(len(following)), following.__getitem__)
        yes: set[int] = set()
        no: set[int] = set()
        unknown = set(product.unknown)
        for part in parts:
            if part[0] not in unknown and bottom(part, following):
                success = bottoms.succeed(product, part)
                (unknown if success is None else yes if success else no).update(part)
        before = reverse_edges(following).__getitem__
        may_win, may_lose, unsure = reachable(yes, before), reachable(no, before), reachable(unknown, before)
        values: list[Value | None] = [None] * len(product.nodes)
        for part in parts:
            first = part[0]
            if first in unsure:
                continue
            if first not in may_win or first not in may_lose:
                for node in part:
                    values[node] = ONE if node in may_win else ZERO
            elif len(part) == 1 and first not in following[first]:
                values[first] = one_step(product.rows[first][0], values)
            else:
                solve_component(part, [product.rows[node][0] for node in part], values)
        return values


def solve_component(part: list[int], rows: Sequence[Sequence[tuple[int, Value]]], values: list[Value | None]) -> None:
    """Fill in the values of a component that is left almost surely, the values outside being known."""
    local = {node: i for i, node in enumerate(part)}
    inside: list[dict[int, Value]] = []
    worth: list[Value] = []
    outside: list[Value] = []
    for row in rows:
        inner: dict[int, Value] = {}
        gain: Value = ZERO
        leaving: Value = ZERO
        for target, p in row:
            if target in local:
                inner[local[target]] = p
                continue
            value = values[target]
            assert value is not None
            gain, leaving = gain + p * value, leaving + p
        inside.append(inner)
        worth.append(gain)
        outside.append(leaving)
    for node, value in zip(part, eliminate(inside, worth, outside), strict=True):
        values[node] = value


class _Bottoms:
    """Decides whether obligations succeed in bottom components of the product."""

    def __init__(self, walk: ProcessWalk, obligations: Obligations, truths: Sequence[Truths | None]) -> None:
        self.walk, self.obligations, self.truths = walk, obligations, truths
        self.recurring: dict[tuple[frozenset[int], int], bool] = {}

    def succeed(self, product: MonitorProduct, part: list[int]) -> bool | None:
        """Whether the probability of success is 1 (otherwise it is 0); None if a state formula is not known."""
        nodes = [product.nodes[node] for node in part]
        obligations = self.obligations
        if nodes[0][1] in (obligations.true, obligations.false):
            return nodes[0][1] == obligations.true
        if all(obligations.safe(obligation) for _, obligation in nodes):
            return True
        if all(obligations.co_safe(obligation) for _, obligation in nodes):
            return False
        below = frozenset(s for s, _ in nodes)
        try:
            limits = {
                each: obligations.in_the_limit(each, lambda goal: self.recurs(below, goal))
                for each in {obligation for _, obligation in nodes}
            }
            return self.possible((s, limits[obligation]) for s, obligation in nodes)
        except _NotKnown:
            return None

    def recurs(self, below: frozenset[int], goal: int) -> bool:
        """Whether a safe obligation holds again and again in a bottom component of the chain."""
        key = (below, goal)
        if key not in self.recurring:
            self.recurring[key] = self.possible((s, goal) for s in below)
        return self.recurring[key]

    def possible(self, starts: Iterable[tuple[int, int]]) -> bool:
        """Whether a safe obligation has positive probability from one of some nodes."""
        product = explore(self.walk, self.obligations, self.truths, starts)
        if product.unknown:
            raise _NotKnown
        following = product.following()
        lost = [i for i, (_, obligation) in enumerate(product.nodes) if obligation == self.obligations.false]
        return len(reachable(lost, reverse_edges(following).__getitem__)) < len(following)


class _NotKnown(Exception):
    """A state formula is not known in a bottom component."""


def _sure(truth: bool | None) -> Value | None:  # noqa: FBT001
    return None if truth is None else ONE if truth else ZERO


def _complement(p: Value | None) -> Value | None:
    return None if p is None else ONE - p


def _equal(one: Value | None, other: Value | None) -> bool:
    """Whether both are the same exact number."""
    return not isinstance(one, arb) and not isinstance(other, arb) and one == other
