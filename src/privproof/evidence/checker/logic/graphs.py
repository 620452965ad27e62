"""Finite graphs: strongly connected components, and what can reach what."""

from __future__ import annotations

from collections.abc import Iterable, Sequence


def components(following: Sequence[Sequence[int]]) -> list[list[int]]:
    """The strongly connected components, each after all those that it can reach (Tarjan 1972, without recursion).

    >>> components([[1], [0, 2], [2], [2]])
    [[2], [1, 0], [3]]
    """
    size = len(following)
    order, low = [-1] * size, [0] * size
    inside = [False] * size
    stack: list[int] = []
    result: list[list[int]] = []
    clock = 0
    for root in range(size):
        if order[root] >= 0:
            continue
        order[root] = low[root] = clock
        clock += 1
        stack.append(root)
        inside[root] = True
        path = [(root, iter(following[root]))]
        while path:
            node, targets = path[-1]
            for target in targets:
                if order[target] < 0:
                    order[target] = low[target] = clock
                    clock += 1
                    stack.append(target)
                    inside[target] = True
                    path.append((target, iter(following[target])))
                    break
                if inside[target]:
                    low[node] = min(low[node], order[target])
            else:
                path.pop()
                if path:
                    above = path[-1][0]
                    low[above] = min(low[above], low[node])
                if low[node] == order[node]:
                    component: list[int] = []
                    while not component or component[-1] != node:
                        component.append(stack.pop())
                        inside[component[-1]] = False
                    result.append(component)
    return result


def bottom(component: Sequence[int], following: Sequence[Sequence[int]]) -> bool:
    """Whether no edge leaves a component."""
    members = set(component)
    return all(target in members for node in component for target in following[node])


def preceding(following: Sequence[Sequence[int]]) -> list[list[int]]:
    """The edges backwards."""
    result: list[list[int]] = [[] for _ in following]
    for node, targets in enumerate(following):
        for target in targets:
            result[target].append(node)
    return result


def backwards(before: Sequence[Sequence[int]], goals: Iterable[int]) -> set[int]:
    """The nodes that can reach a goal, the goals included."""
    seen = set(goals)
    waiting = list(seen)
    while waiting:
        for node in before[waiting.pop()]:
            if node not in seen:
                seen.add(node)
                waiting.append(node)
    return seen
