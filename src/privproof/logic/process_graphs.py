"""Graphs of chains as arrays: who can reach whom, and in which order to solve.

The sparse matrices of scipy are imported where they are used: that takes a while, and few commands need them.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from privproof.logic.decision_process import Bools, Ints

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix


@dataclass(frozen=True, eq=False)
class ProcessGraph:
    """A weighted graph: node ``i`` has the edges ``rows[i] .. rows[i+1]-1``, each with a target and the index of a number."""

    rows: Ints
    targets: Ints
    values: Ints

    def __len__(self) -> int:
        return len(self.rows) - 1

    @cached_property
    def sources(self) -> Ints:
        """The source of every edge."""
        return np.repeat(np.arange(len(self), dtype=np.int64), np.diff(self.rows))

    @cached_property
    def pattern(self) -> csr_matrix:
        """Where there are edges."""
        from scipy.sparse import csr_matrix

        ones = np.ones(len(self.targets), np.int32)
        return csr_matrix((ones, self.targets, self.rows), shape=(len(self), len(self)))

    def leading(self, nodes: Bools) -> Bools:
        """The nodes from which a step leads into the nodes."""
        return np.asarray(self.pattern @ nodes.astype(np.int32) > 0)

    @cached_property
    def lists(self) -> tuple[list[int], list[int], list[int]]:
        """The arrays as lists, which are faster one entry at a time."""
        return self.rows.tolist(), self.targets.tolist(), self.values.tolist()

    @classmethod
    def sorted_by_source(cls, nodes: int, sources: Ints, targets: Ints, values: Ints) -> ProcessGraph:
        """The graph of edges given in any order."""
        from scipy.sparse import csr_matrix

        edges = len(sources)
        table = csr_matrix((np.ones(edges, np.bool_), (sources, np.arange(edges))), shape=(nodes, max(edges, 1)))
        order = table.indices  # a counting sort: linear, where argsort is not
        return cls(table.indptr.astype(np.int64), targets[order], values[order])

    def reaching(self, goal: Bools, through: Bools) -> Bools:
        """The nodes from which a path through nodes of `through` leads to the goal (the goal included)."""
        from scipy.sparse import csr_matrix
        from scipy.sparse.csgraph import breadth_first_order

        count, narrow = len(self), index_kind(len(self))
        lengths = np.diff(self.rows)
        used = np.repeat(through, lengths)
        hits = np.flatnonzero(goal).astype(narrow)
        if not len(hits):
            return goal.copy()
        # the reversed edges, and one extra node from which every goal is a step away
        tails = np.append(self.targets[used].astype(narrow), np.full(len(hits), count, narrow))
        heads = np.append(np.repeat(np.arange(count, dtype=narrow), lengths * through), hits)
        backwards = csr_matrix((np.ones(len(tails), np.int8), (tails, heads)), shape=(count + 1, count + 1))
        del used, tails, heads
        found = np.zeros(count + 1, np.bool_)
        found[breadth_first_order(backwards, count, directed=True, return_predecessors=False)] = True
        return found[:count]

    def reachable(self, start: Bools) -> Bools:
        """The nodes that paths from the start lead to (the start included)."""
        from scipy.sparse import csr_matrix
        from scipy.sparse.csgraph import breadth_first_order

        count, hits = len(self), np.flatnonzero(start)
        rows = np.concatenate([self.rows, [self.rows[-1] + len(hits)]])
        forwards = csr_matrix(
            (np.ones(len(self.targets) + len(hits), np.int8), np.concatenate([self.targets, hits]), rows),
            shape=(count + 1, count + 1),
        )
        found = np.zeros(count + 1, np.bool_)
        found[breadth_first_order(forwards, count, directed=True, return_predecessors=False)] = True
        return found[:count]

    def cut(self, nodes: Bools) -> ProcessGraph:
        """The graph with the edges from some nodes only."""
        kept = nodes[self.sources]
        rows = np.concatenate([[0], np.cumsum(np.where(nodes, np.diff(self.rows), 0))])
        return ProcessGraph(rows, self.targets[kept], self.values[kept])

    def only(self, nodes: Bools) -> ProcessGraph:
        """The graph of nodes that lead nowhere else."""
        kept = nodes[self.sources]
        rows = np.concatenate([[0], np.cumsum(np.diff(self.rows)[nodes])])
        return ProcessGraph(rows, (np.cumsum(nodes) - 1)[self.targets[kept]], self.values[kept])

    def order(self, among: Bools) -> tuple[Ints, Ints]:
        """The nodes of `among` so that each comes after those it leads to, and where each strongly connected part begins."""
        from scipy.sparse import csr_matrix

        nodes = np.flatnonzero(among)
        place = np.full(len(self), -1, np.int64)
        place[nodes] = np.arange(len(nodes))
        inside = among[self.sources] & among[self.targets]
        tails, heads = place[self.sources[inside]], place[self.targets[inside]]
        if not len(nodes):
            return nodes, np.zeros(1, np.int64)
        links = csr_matrix((np.ones(len(tails), np.int8), (tails, heads)), shape=(len(nodes), len(nodes)))
        order, starts = parts_in_order(links)
        return nodes[order], starts


def index_kind(count: int) -> type[np.signedinteger[Any]]:
    """The integers that number so many nodes and one more in sparse matrices, which copy others."""
    return np.int32 if count < 2**31 - 1 else np.int64


def parts_in_order(links: csr_matrix) -> tuple[Ints, Ints]:
    """The rows of a square matrix so that each comes after those its entries lead to, and where each strongly connected part begins."""
    from scipy.sparse.csgraph import connected_components

    count, part = connected_components(links, directed=True, connection="strong")
    rank = _ranks(count, np.repeat(part, np.diff(links.indptr)), part[links.indices])[part]
    order = np.argsort(rank, kind="stable")
    starts = np.concatenate([[0], np.flatnonzero(np.diff(rank[order])) + 1, [len(rank)]])
    return order, starts.astype(np.int64)


def _ranks(count: int, tails: NDArray[Any], heads: NDArray[Any]) -> Ints:
    """A number for every part so that edges lead from larger numbers to smaller ones."""
    ranks = np.arange(count, dtype=np.int64)
    if np.all(tails >= heads):
        return ranks
    if np.all(tails <= heads):
        return ranks[::-1].copy()
    waiting = np.zeros(count, np.int64)
    across = tails != heads
    tails, heads = tails[across], heads[across]
    np.add.at(waiting, tails, 1)
    into = ProcessGraph.sorted_by_source(count, heads, tails, np.zeros(len(tails), np.int64))
    ready = list(np.flatnonzero(waiting == 0))
    done = 0
    while ready:
        part = ready.pop()
        ranks[part] = done
        done += 1
        for before in into.targets[into.rows[part] : into.rows[part + 1]]:
            waiting[before] -= 1
            if waiting[before] == 0:
                ready.append(before)
    return ranks
