"""Finite graphs: what can be reached, strongly connected components, and groups that sets join.

For graphs whose nodes are any values; those of large models, which are arrays, are in `privproof.logic.process_graphs`.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator
from typing import TypeVar

N = TypeVar("N", bound=Hashable)


def components(roots: Iterable[N], following: Callable[[N], Iterable[N]]) -> list[list[N]]:
    """The strongly connected components that can be reached, each before those that it leads to (Tarjan 1972, without recursion).

    >>> edges = {"a": "b", "b": "ac", "c": "c", "d": "c"}
    >>> components(edges, edges.__getitem__)
    [['d'], ['b', 'a'], ['c']]
    """
    order: dict[N, int] = {}
    low: dict[N, int] = {}
    stack: list[N] = []
    open_nodes: set[N] = set()
    found: list[list[N]] = []
    path: list[tuple[N, Iterator[N]]] = []

    def enter(node: N) -> None:
        order[node] = low[node] = len(order)
        stack.append(node)
        open_nodes.add(node)
        path.append((node, iter(following(node))))

    for root in roots:
        if root not in order:
            enter(root)
        while path:
            node, targets = path[-1]
            for target in targets:
                if target not in order:
                    enter(target)
                    break
                if target in open_nodes:
                    low[node] = min(low[node], order[target])
            else:
                path.pop()
                if path:
                    above = path[-1][0]
                    low[above] = min(low[above], low[node])
                if low[node] == order[node]:
                    group: list[N] = []
                    while not group or group[-1] != node:
                        group.append(stack.pop())
                        open_nodes.discard(group[-1])
                    found.append(group)
    return found[::-1]


def reachable(roots: Iterable[N], following: Callable[[N], Iterable[N]]) -> set[N]:
    """The roots, and all nodes that paths from them lead to.

    >>> edges = {"a": "b", "b": "ac", "c": "c", "d": "c"}
    >>> sorted(reachable("b", edges.__getitem__))
    ['a', 'b', 'c']
    """
    seen = set(roots)
    waiting = list(seen)
    while waiting:
        for node in following(waiting.pop()):
            if node not in seen:
                seen.add(node)
                waiting.append(node)
    return seen


def group_numbers(sets: Iterable[Iterable[N]]) -> dict[N, int]:
    """For every member of the sets the number of its group, where sets that share a member are in one group.

    >>> group_numbers([[1, 2], [3], [4, 2], []])
    {1: 0, 2: 0, 3: 1, 4: 0}
    """
    leader: dict[N, N] = {}

    def led(node: N) -> N:
        while leader[node] != node:
            leader[node] = leader[leader[node]]
            node = leader[node]
        return node

    for several in sets:
        nodes = list(several)
        for node in nodes:
            leader.setdefault(node, node)
            leader[led(node)] = led(nodes[0])
    numbers: dict[N, int] = {}
    return {node: numbers.setdefault(led(node), len(numbers)) for node in leader}
