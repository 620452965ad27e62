"""The extremes of any path formula over the schedulers of a decision process, by progression, without automata on infinite words.

**Theorem** (Esparza, Kretinsky and Sickert, "One theorem to rule them all", LICS 2018).  Write f with negations at its leaves; let
U be its untils without end, and V its releases without end.  A path w satisfies f if and only if there are sets M of untils and N
of releases such that

1. for some i the rest of w from i on satisfies ``g[M]``, g being what f has progressed to after i steps;
2. for every ``a U b`` of M, ``b[N]`` holds of w again and again;
3. for every ``a R b`` of N, ``b[M]`` holds of w from some step on, for ever.

Here ``[M]`` makes ``a U b`` a weak until where it is in M, and false elsewhere, which leaves a safe formula; ``[N]`` makes ``a R
b`` true where it is in N, and ``b U (a & b)`` elsewhere, which leaves a co-safe one.  All three are run by progression: (1) and (3)
are safe formulas, violated when they become false; each formula of (2) ticks when it has become true, and begins anew.

*Phase 1* is the product of the process and f.  A node of it is **won** if for some M and N a scheduler wins from there almost
surely: in the product with the safe formula of (1) and (3), and with the formulas of (2), it never meets false and hears every tick
again and again.  This is decided on the graph: the scheduler has to come, almost surely and without meeting false, to an end
component in which every tick is heard.

**The largest probability of f is that of reaching a won node.**  *At least*: from there the scheduler satisfies f almost surely, by
the theorem.  *At most*: some scheduler with finite memory is best.  In a bottom component of its chain, "holds again and again" has
probability 0 or 1 for every formula; this fixes M and N.  The events that (1) and (3) hold from step i on grow with i, and exhaust
f within the runs that end in the component; so their probability, given the first i steps, tends to 1 almost surely on f (Levy),
and it depends on finitely many nodes: on nodes seen again and again it is 1, and they are won.  The least probability is one minus
the largest of the negation.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain as chained
from itertools import combinations, pairwise
from typing import TypeAlias

import numpy as np

from privproof.engines.search_monitor import Monitor
from privproof.exact import ONE, ZERO, Rational
from privproof.logic.decision_process import Bools, DecisionProcess
from privproof.logic.end_components import end_components, surely_for_some
from privproof.logic.exact_solving import Exactly, TooLarge
from privproof.logic.path_probabilities import (
    FALSE,
    TRUE,
    Path,
    after,
    conjunction,
    disjunction,
    leaves,
    negation,
    progress,
    unfold_untils,
)
from privproof.logic.policy_iteration import Option, Row, exact_row, graph_of, settle

Positive: TypeAlias = Path
"""A formula with negations at its leaves only; ``("U", a, b)`` and ``("R", a, b)`` are without end."""
Guess: TypeAlias = "frozenset[Positive]"
Asked: TypeAlias = "tuple[Path, ...]"
"""What is asked of the rest of a run: formulas that progress beside each other."""

_MOST_OPERATORS = 10
"""Untils and releases without end in one formula: each doubles the guesses that are tried; beyond, the formula is too large."""
_MOST_NODES = 400_000
"""Nodes of a product; beyond, it is too large for this way."""


def extremes_of_any(
    process: DecisionProcess, truths: Sequence[Bools], path: Path, monitor: Monitor
) -> tuple[list[Rational], list[Rational]]:
    """The least and the largest probability of a path formula, from all states.

    Raises:
        TooLarge: there are too many operators, or the products are too large.
    """
    path = unfold_untils(path)
    largest = _largest(process, truths, path, monitor)
    least = _largest(process, truths, negation(path), monitor)
    return [1 - value for value in least], largest


def _largest(process: DecisionProcess, truths: Sequence[Bools], path: Path, monitor: Monitor) -> list[Rational]:
    walk = _RecurrentWalk(process, truths, monitor)
    first = _Product(
        walk, ((s, (path,)) for s in range(len(process))), lambda asked, truth: (progress(asked[0], truth),)
    )
    operators = operators_of(positive(path))
    if len(operators) > _MOST_OPERATORS:
        raise TooLarge(f"the formula has {len(operators)} endless operators, more than {_MOST_OPERATORS}")
    won = [asked == (TRUE,) for _, asked in first.nodes]
    tried: set[tuple[Asked, Guess]] = set()
    for again, lasting in _guesses(operators):
        ticks = tuple(dict.fromkeys(strong(until[2], lasting) for until in sorted(again, key=repr)))
        safe = conjunction(always(weak(release[2], again)) for release in sorted(lasting, key=repr))
        if FALSE in ticks or safe == FALSE or ((safe, *ticks), again) in tried:
            continue
        tried.add(((safe, *ticks), again))
        _win(walk, first, won, again, safe, tuple(tick for tick in ticks if tick != TRUE))
        if all(won[number] for number in range(len(first.nodes)) if first.nodes[number][1] != (FALSE,)):
            break
    values = _winning_probabilities(first.options, won, monitor)
    return [values[first.numbers[s, (path,)]] for s in range(len(process))]


def _winning_probabilities(
    options: Sequence[Sequence[Option]], won: Sequence[bool], monitor: Monitor
) -> list[Rational]:
    """The largest probability of reaching a won node."""
    kept = [[] if here else list(own) for own, here in zip(options, won, strict=True)]
    graph = graph_of(kept)
    goal = np.array(won, np.bool_)
    can = graph.reaching(goal, np.ones(len(kept), np.bool_))
    values = [ONE if here else ZERO for here in won]
    order, starts = graph.order(can & ~goal)
    arithmetic = Exactly((), monitor)
    nodes, begins = order.tolist(), starts.tolist()
    for begin, end in pairwise(begins):
        monitor.pause()
        settle(kept, nodes[begin:end], values, arithmetic, largest=True)
    return values


def _win(
    walk: _RecurrentWalk, first: _Product, won: list[bool], again: Guess, safe: Path, ticks: tuple[Path, ...]
) -> None:
    """Mark the nodes of phase 1 from which one guess wins almost surely."""
    beginnings = tuple(eventually(tick) for tick in ticks)
    starts: dict[int, tuple[int, Asked]] = {}
    for number, (state, asked) in enumerate(first.nodes):
        if not won[number] and asked[0] not in (TRUE, FALSE):
            now = conjunction([weak(positive(asked[0]), again), safe])
            if now != FALSE:
                starts[number] = (state, (now, *beginnings))
    if not starts:
        return
    heard: dict[Asked, dict[int, frozenset[int]]] = {}

    def step(asked: Asked, truth: Sequence[bool]) -> Asked:
        now = progress(asked[0], truth)
        if now == FALSE:
            return (FALSE,)
        later = [progress(each, truth) for each in asked[1:]]
        return (now, *(begin if each == TRUE else each for each, begin in zip(later, beginnings, strict=True)))

    second = _Product(walk, starts.values(), step)
    alive = [asked[0] != FALSE for _, asked in second.nodes]
    options = [
        [option for option in own if all(alive[target] for target, _ in option[1])] if here else []
        for own, here in zip(second.options, alive, strict=True)
    ]
    goal = [asked == (TRUE,) for _, asked in second.nodes]
    for part in end_components(options, [node for node, here in enumerate(alive) if here]):
        every = set(range(len(ticks)))
        for node in part:
            every -= _heard_ticks(walk, second.nodes[node], heard)
            if not every:
                break
        if not every:
            for node in part:
                goal[node] = True
    winning = surely_for_some(options, goal)
    for number, start in starts.items():
        if winning[second.numbers[start]]:
            won[number] = True


def _heard_ticks(
    walk: _RecurrentWalk, node: tuple[int, Asked], known: dict[Asked, dict[int, frozenset[int]]]
) -> frozenset[int]:
    """The ticks that are heard when a node is left."""
    state, asked = node
    there = known.setdefault(asked, {})
    if state not in there:
        truth = walk.truth(state)
        there[state] = frozenset(i for i, each in enumerate(asked[1:]) if progress(each, truth) == TRUE)
    return there[state]


def _guesses(operators: list[Positive]) -> Iterator[tuple[Guess, Guess]]:
    """Every pair of a set of untils and a set of releases, small ones first."""
    untils = [f for f in operators if f[0] == "U"]
    releases = [f for f in operators if f[0] == "R"]
    for again in _subsets(untils):
        for lasting in _subsets(releases):
            yield frozenset(again), frozenset(lasting)


def _subsets(things: list[Positive]) -> Iterator[tuple[Positive, ...]]:
    return chained.from_iterable(combinations(things, size) for size in range(len(things) + 1))


class _RecurrentWalk:
    """A process to walk on, with the truths of leaves."""

    def __init__(self, process: DecisionProcess, truths: Sequence[Bools], monitor: Monitor) -> None:
        begins = process.choices.tolist()
        self.rows: list[list[Row]] = [
            [exact_row(process, c) for c in range(begins[s], begins[s + 1])] for s in range(len(process))
        ]
        self.tables = [truth.tolist() for truth in truths]
        self.monitor = monitor

    def truth(self, state: int) -> list[bool]:
        """The truth of the leaves in a state."""
        return [table[state] for table in self.tables]


class _Product:
    """Nodes (state, what is asked of the paths that begin there), from some on; nodes of which true or false is asked are not left."""

    def __init__(
        self,
        walk: _RecurrentWalk,
        starts: Iterable[tuple[int, Asked]],
        step: Callable[[Asked, Sequence[bool]], Asked],
    ) -> None:
        self.nodes: list[tuple[int, Asked]] = list(dict.fromkeys(starts))
        self.numbers = {node: number for number, node in enumerate(self.nodes)}
        self.options: list[list[Option]] = []
        progressed: dict[tuple[Asked, tuple[bool, ...]], Asked] = {}
        used: dict[Asked, list[int]] = {}
        while len(self.options) < len(self.nodes):
            if len(self.options) % 1_024 == 0:
                walk.monitor.pause()
            if len(self.nodes) > _MOST_NODES:
                raise TooLarge("the product of the process and the formula is too large for exact arithmetic")
            state, asked = self.nodes[len(self.options)]
            if asked[0] == FALSE or asked == (TRUE,):
                self.options.append([])
                continue
            if asked not in used:
                used[asked] = sorted({leaf for each in asked for leaf in leaves(each)})
            signature = tuple([walk.tables[leaf][state] for leaf in used[asked]])
            onward = progressed.get((asked, signature))
            if onward is None:
                onward = progressed[asked, signature] = step(asked, walk.truth(state))
            self.options.append([(ZERO, self._moved(row, onward)) for row in walk.rows[state]])

    def _moved(self, row: Row, asked: Asked) -> Row:
        result = []
        for target, number in row:
            node = (target, asked)
            place = self.numbers.get(node)
            if place is None:
                place = self.numbers[node] = len(self.nodes)
                self.nodes.append(node)
            result.append((place, number))
        return tuple(result)


def positive(path: Path, *, truth: bool = True) -> Positive:
    """A formula without bounded untils, or its negation, with negations at its leaves only."""
    match path[0]:
        case "leaf":
            return path if truth else ("not", path)
        case "true" | "false":
            return path if truth else negation(path)
        case "not":
            return positive(path[1], truth=not truth)
        case "and" | "or":
            parts = [positive(part, truth=truth) for part in path[1:]]
            return conjunction(parts) if (path[0] == "and") == truth else disjunction(parts)
        case "X":
            return after(positive(path[1], truth=truth), path[2])
    left, right = (positive(part, truth=truth) for part in path[1:3])
    return ("U" if truth else "R", left, right)


def operators_of(formula: Positive) -> list[Positive]:
    """The untils and releases inside of a formula, each once."""
    found: dict[Positive, None] = {}
    waiting = [formula]
    while waiting:
        f = waiting.pop()
        if f[0] in ("U", "R"):
            found[f] = None
        waiting.extend(part for part in f[1:] if isinstance(part, tuple))
    return list(found)


def weak(formula: Positive, again: Guess) -> Path:
    """The safe formula in which untils that hold again and again are weak, and the others are false."""

    def change(f: Positive) -> Path:
        left, right = weak(f[1], again), weak(f[2], again)
        if f[0] == "U":
            return release(right, disjunction([left, right])) if f in again else FALSE
        return release(left, right)

    return _through(formula, change, lambda part: weak(part, again))


def strong(formula: Positive, lasting: Guess) -> Path:
    """The co-safe formula in which releases that hold from some step on are true, and the others are strong."""

    def change(f: Positive) -> Path:
        if f[0] == "R" and f in lasting:
            return TRUE
        left, right = strong(f[1], lasting), strong(f[2], lasting)
        return until(left, right) if f[0] == "U" else until(right, conjunction([left, right]))

    return _through(formula, change, lambda part: strong(part, lasting))


def _through(formula: Positive, change: Callable[[Positive], Path], again: Callable[[Positive], Path]) -> Path:
    match formula[0]:
        case "and":
            return conjunction(map(again, formula[1:]))
        case "or":
            return disjunction(map(again, formula[1:]))
        case "X":
            return after(again(formula[1]), formula[2])
        case "U" | "R":
            return change(formula)
    return formula


def until(left: Path, right: Path) -> Path:
    """``left U right``, without end."""
    if right in (TRUE, FALSE) or left == FALSE:
        return right
    return ("U", left, right, 0, None)


def release(left: Path, right: Path) -> Path:
    """``left R right``, without end."""
    return negation(until(negation(left), negation(right)))


def always(inner: Path) -> Path:
    """``G inner``."""
    return release(FALSE, inner)


def eventually(inner: Path) -> Path:
    """``F inner``."""
    return until(TRUE, inner)
