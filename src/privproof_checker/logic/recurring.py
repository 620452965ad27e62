"""The extremes of a path formula that is neither safe nor co-safe, over all schedulers of a decision process.

Write f with negations at its leaves; it has endless untils and endless releases.  For a set A of untils, *weak* formulas have the
untils ``g U h`` of A made ``g W h`` and the others false: they are safe.  For a set L of releases, *strong* formulas have the
releases ``g R h`` of L made true and the others ``h U (g & h)``: they are co-safe.

**Theorem** (Esparza, Kretinsky and Sickert, "One theorem to rule them all", LICS 2018).  A path satisfies f if and only if for some
A and L

1. after some n steps, what is left of f, made weak, holds;
2. for every ``g U h`` of A, h made strong holds again and again;
3. for every ``g R h`` of L, h made weak holds at all steps from some step on.

A node (state, obligation u) of the product of process and f is *won* if for some A and L a scheduler achieves almost surely that u
made weak holds, that the formulas of 3 hold at all steps, and those of 2 again and again.

**The greatest probability of f is that of reaching a won node.**  A scheduler that gets there goes on as the winning one does, and
satisfies f, by the theorem.  Conversely, some scheduler with finite memory attains the greatest probability.  In a bottom component
of its chain every path formula holds again and again with probability 0 or 1, and the same is true of "from some step on"; so A and
L can be chosen once for the component.  The event that 1 and 3 hold from step n on grows with n, and its union with 2 is f, up to
probability 0.  Given the first n steps its probability tends to 1 on f (Levy's 0-1 law), and it depends on the node and the memory
alone, of which there are finitely many: what is seen again and again on f has probability 1, and is won.  The least probability is
one minus the greatest of the negation.

Winning is decided on the graph of the product with the formulas of 1, 2 and 3: one must come, almost surely and without meeting a
false obligation, to an end component in which every formula of 2 becomes true, after which it begins anew.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import combinations

from privproof_checker.graph_algorithms import components
from privproof_checker.logic.decision_processes import ProcessWalk, Row, Value
from privproof_checker.logic.end_components import end_components, reached_for_sure
from privproof_checker.logic.extremes import optimum
from privproof_checker.logic.formulas import Path, PathNot
from privproof_checker.logic.measures import Holds
from privproof_checker.logic.monitor_products import MonitorProduct, explore
from privproof_checker.logic.obligations import Obligations, Truths
from privproof_checker.numbers import ONE
from privproof_checker.outcomes import within

_MOST_OPERATORS = 10
"""Endless untils and releases of one formula; beyond, it is refused: all their subsets are tried."""
_MOST_NODES = 1_000_000
"""Nodes of one product with guessed sets; beyond, the question is refused."""


def any_extremes(
    walk: ProcessWalk, holds: Holds, path: Path, starts: Iterable[int]
) -> dict[int, tuple[Value, Value] | None]:
    """The least and the greatest probability of any path formula from some states; None where a formula inside is not known."""
    asked = list(dict.fromkeys(starts))
    if not walk.exact:
        return dict.fromkeys(asked)
    high = _greatest(walk, holds, path, asked)
    low = _greatest(walk, holds, PathNot(path), asked)
    if high is None or low is None:
        return dict.fromkeys(asked)
    return {s: (ONE - low[s], high[s]) for s in asked}


def _greatest(walk: ProcessWalk, holds: Holds, path: Path, asked: list[int]) -> dict[int, Value] | None:
    obligations = Obligations()
    root = obligations.of(path)
    domain = walk.reached(asked)
    columns = [holds(leaf, domain) for leaf in obligations.leaves]
    truths: list[Truths | None] = [None] * len(walk.rows)
    for s in domain:
        truths[s] = tuple(column[s] for column in columns)
    product = explore(walk, obligations, truths, ((s, root) for s in asked))
    if product.unknown:
        return None
    untils, releases = obligations.endless(root)
    within(len(untils) + len(releases), _MOST_OPERATORS, "endless operators of a formula", "question.formula")
    won = {i for i, (_, obligation) in enumerate(product.nodes) if obligation == obligations.true}
    for again in _subsets(untils):
        for lasting in _subsets(releases):
            won |= _won_nodes(walk, obligations, truths, product, again, lasting, won)
    rows: list[list[Row]] = [[] if node in won else own for node, own in enumerate(product.rows)]
    final = MonitorProduct(product.nodes, product.number, rows, set())
    following = final.following()
    values = optimum(final, components(range(len(rows)), following.__getitem__), won, greatest=True)
    result: dict[int, Value] = {}
    for s in asked:
        value = values[product.number[s, root]]
        if value is None:
            return None
        result[s] = value
    return result


def _subsets(things: list[int]) -> Iterator[frozenset[int]]:
    for size in range(len(things) + 1):
        yield from map(frozenset, combinations(things, size))


def _won_nodes(
    walk: ProcessWalk,
    obligations: Obligations,
    truths: Sequence[Truths | None],
    product: MonitorProduct,
    again: frozenset[int],
    lasting: frozenset[int],
    known: set[int],
) -> set[int]:
    """The nodes that are won by the guess, beside those that are known to be."""
    goals = sorted({obligations.some_time(until, lasting) for until in again} - {obligations.true})
    safe = obligations.together(obligations.for_ever(release, again) for release in sorted(lasting))
    if obligations.false in (safe, *goals):
        return set()
    starts: dict[int, tuple[int, ...]] = {}
    for i, (state, obligation) in enumerate(product.nodes):
        if i not in known and obligation != obligations.false:
            held = obligations.together((obligations.weakened(obligation, again), safe))
            if held != obligations.false:
                starts[i] = (state, held, *goals)
    nodes = list(dict.fromkeys(starts.values()))
    number = {node: i for i, node in enumerate(nodes)}
    rows: list[list[Row]] = []
    heard: list[frozenset[int]] = []
    while len(rows) < len(nodes):
        state, held, *waiting = nodes[len(rows)]
        here = truths[state]
        assert here is not None
        left = obligations.left(held, here)
        after = [obligations.left(each, here) for each in waiting]
        assert left is not None
        heard.append(frozenset(i for i, each in enumerate(after) if each == obligations.true))
        if left == obligations.false:
            rows.append([])
            continue
        onward = [goal if each == obligations.true else each for each, goal in zip(after, goals, strict=True)]
        found: list[Row] = []
        for row in walk.rows[state]:
            moved = []
            for target, p in row:
                node = (target, left, *(each for each in onward if each is not None))
                at = number.get(node)
                if at is None:
                    at = number[node] = len(nodes)
                    nodes.append(node)
                moved.append((at, p))
            found.append(tuple(moved))
        rows.append(found)
        within(len(nodes), _MOST_NODES, "nodes of the product of process and formula", "question")
    good = [False] * len(nodes)
    for part in end_components(rows):
        if len(frozenset().union(*(heard[member] for member in part))) == len(goals):
            for member in part:
                good[member] = True
    winning = reached_for_sure(rows, good)
    return {i for i, node in starts.items() if number[node] in winning}
