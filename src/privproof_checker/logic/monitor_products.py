"""The product of a walk and the obligations of a path formula: nodes (state, obligation that its path must satisfy)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from privproof_checker.logic.decision_processes import ProcessWalk, Row
from privproof_checker.logic.obligations import Obligations, Truths
from privproof_checker.outcomes import within

_MOST_NODES = 1_000_000
"""Pairs of a state and an obligation that may be reached; beyond, the question is refused."""
_MOST_EDGES = 4_000_000
"""Transitions between such pairs, over all actions; beyond, the question is refused."""

Truth = Callable[[int], Truths]


@dataclass
class MonitorProduct:
    """The reachable product.  Nodes whose obligation is true, false or unknown have no edges.

    Attributes:
        nodes: the nodes.
        number: the nodes by number.
        rows: for every node its rows of numbers of nodes and probabilities, one for each choice.
        unknown: the nodes from which the step is unknown.
    """

    nodes: list[tuple[int, int]]
    number: dict[tuple[int, int], int]
    rows: list[list[Row]]
    unknown: set[int]

    def following(self) -> list[list[int]]:
        """The graph."""
        return [list({target for row in rows for target, _ in row}) for rows in self.rows]


def explore(
    walk: ProcessWalk, obligations: Obligations, truths: Sequence[Truths | None], starts: Iterable[tuple[int, int]]
) -> MonitorProduct:
    """The product from some nodes; ``truths`` are the truths of the leaves in the states of the walk."""
    nodes = list(dict.fromkeys(starts))
    number = {node: i for i, node in enumerate(nodes)}
    rows: list[list[Row]] = []
    unknown: set[int] = set()
    decided = (obligations.true, obligations.false)
    edges = 0
    while len(rows) < len(nodes):
        state, obligation = nodes[len(rows)]
        if obligation in decided:
            rows.append([])
            continue
        here = truths[state]
        assert here is not None
        left = obligations.left(obligation, here)
        if left is None:
            unknown.add(len(rows))
            rows.append([])
            continue
        found: list[Row] = []
        for row in walk.rows[state]:
            moved = []
            for target, p in row:
                node = (target, left)
                at = number.get(node)
                if at is None:
                    at = number[node] = len(nodes)
                    nodes.append(node)
                moved.append((at, p))
            edges += len(moved)
            found.append(tuple(moved))
        rows.append(found)
        within(len(nodes), _MOST_NODES, "nodes of the product of process and formula", "question")
        within(edges, _MOST_EDGES, "edges of the product of process and formula", "question")
    return MonitorProduct(nodes, number, rows, unknown)
