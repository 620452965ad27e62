"""Where schedulers can stay, and what they reach almost surely: end components and graph conditions on the options of nodes.

An *end component* is a set of nodes with options that never leave it and connect all of it (de Alfaro 1997): under every scheduler the
nodes and options that a run sees again and again are almost surely one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from privproof.logic.policy_iteration import Options, Row
from privproof.models.graph_algorithms import components, reachable


def end_components(
    options: Options, among: Iterable[int], allowed: Callable[[int, int], bool] = lambda node, option: True
) -> list[dict[int, list[int]]]:
    """The maximal end components among some nodes, by allowed options: for each its nodes with the options that stay.

    Components are found and options that leave theirs are dropped, until none does.
    """
    found: list[dict[int, list[int]]] = []
    inside = set(among)
    waiting = [{node: [c for c in range(len(options[node])) if allowed(node, c)] for node in inside}]
    while waiting:
        kept = waiting.pop()
        for node, own in kept.items():
            own[:] = [c for c in own if all(target in kept for target, _ in options[node][c][1])]
        following = {node: [t for c in own for t, _ in options[node][c][1]] for node, own in kept.items()}
        parts = components(list(kept), following.__getitem__)
        if len(parts) > 1:
            waiting.extend({node: list(kept[node]) for node in part} for part in parts)
        elif parts and following[parts[0][0]]:
            found.append(kept)
    return found


def surely_for_some(options: Options, goal: Sequence[bool]) -> list[bool]:
    """The nodes from which some scheduler reaches the goal almost surely.

    The largest set from each of whose nodes the goal can be reached by options that never leave the set.
    """
    into = _leading_to(options)
    inside = set(range(len(options)))
    while True:
        inner = [[inside.issuperset(target for target, _ in row) for _, row in own] for own in options]
        before = [[node for node, c in users if inner[node][c]] for users in into]
        reached = reachable([node for node in inside if goal[node]], before.__getitem__)
        if reached == inside:
            return [node in inside for node in range(len(options))]
        inside = reached


def surely_for_all(options: Options, goal: Sequence[bool]) -> list[bool]:
    """The nodes from which every scheduler reaches the goal almost surely: none may come to where it can avoid the goal for ever."""
    into = _leading_to(options)
    avoiding = [node for node, here in enumerate(avoidable(options, goal)) if here]
    may = reachable(avoiding, lambda target: [node for node, _ in into[target] if not goal[node]])
    return [node not in may for node in range(len(options))]


def avoidable(options: Sequence[Sequence[tuple[object, Row]]], goal: Sequence[bool]) -> list[bool]:
    """The nodes from which some scheduler never reaches the goal."""
    into = _leading_to(options)
    avoiding = [not here for here in goal]
    left = [len(own) for own in options]
    dead: set[tuple[int, int]] = set()
    waiting = [node for node, here in enumerate(goal) if here]
    while waiting:
        for node, c in into[waiting.pop()]:
            if (node, c) not in dead:
                dead.add((node, c))
                left[node] -= 1
                if left[node] == 0 and avoiding[node]:
                    avoiding[node] = False
                    waiting.append(node)
    return avoiding


def _leading_to(options: Sequence[Sequence[tuple[object, Row]]]) -> list[list[tuple[int, int]]]:
    """For every node the nodes, each with its option, that may lead to it."""
    into: list[list[tuple[int, int]]] = [[] for _ in options]
    for node, own in enumerate(options):
        for c, (_, row) in enumerate(own):
            for target, _ in row:
                into[target].append((node, c))
    return into
