"""Finite graphs: strongly connected components, and what can reach what."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence, Set
from typing import TypeVar

Node = TypeVar("Node", bound=Hashable)


def components(roots: Iterable[Node], following: Callable[[Node], Iterable[Node]]) -> list[list[Node]]:
    """The strongly connected components that can be reached, each after all those that it leads to (Tarjan 1972, without recursion).

    >>> components(range(4), [[1], [0, 2], [2], [2]].__getitem__)
    [[2], [1, 0], [3]]
    """
    order: dict[Node, int] = {}
    low: dict[Node, int] = {}
    stack: list[Node] = []
    inside: set[Node] = set()
    result: list[list[Node]] = []
    for root in roots:
        path: list[tuple[Node, Iterator[Node]]] = []
        entered = [root] if root not in order else []
        while entered or path:
            for node in entered:
                order[node] = low[node] = len(order)
                stack.append(node)
                inside.add(node)
                path.append((node, iter(following(node))))
            entered = []
            node, targets = path[-1]
            for target in targets:
                if target not in order:
                    entered = [target]
                    break
                if target in inside:
                    low[node] = min(low[node], order[target])
            if entered:
                continue
            path.pop()
            if path:
                above = path[-1][0]
                low[above] = min(low[above], low[node])
            if low[node] == order[node]:
                component: list[Node] = []
                while not component or component[-1] != node:
                    component.append(stack.pop())
                    inside.discard(component[-1])
                result.append(component)
    return result


def bottom(component: Sequence[int], following: Sequence[Sequence[int]]) -> bool:
    """Whether no edge leaves a component."""
    members = set(component)
    return all(target in members for node in component for target in following[node])


def reverse_edges(following: Sequence[Sequence[int]]) -> list[list[int]]:
    """The edges backwards."""
    result: list[list[int]] = [[] for _ in following]
    for node, targets in enumerate(following):
        for target in targets:
            result[target].append(node)
    return result


def reachable(roots: Iterable[Node], following: Callable[[Node], Iterable[Node]]) -> Set[Node]:
    """The roots and all nodes that paths from them lead to, in the order in which they are met.

    >>> list(reachable([1], [[1], [0, 2], [2], [2]].__getitem__))
    [1, 0, 2]
    """
    seen = dict.fromkeys(roots)
    waiting = list(seen)
    while waiting:
        for node in following(waiting.pop()):
            if node not in seen:
                seen[node] = None
                waiting.append(node)
    return seen.keys()


def beyond(node: Node, following: Callable[[Node], Iterable[Node]]) -> Set[Node]:
    """The nodes that paths of at least one edge lead to; the node itself only where it lies on a cycle.

    >>> beyond(1, [[1], [2], [2]].__getitem__), beyond(2, [[1], [2], [2]].__getitem__)
    (dict_keys([2]), dict_keys([2]))
    """
    return reachable(following(node), following)
