"""Where one can stay for ever in a decision process, and what one reaches almost surely: on the rows of its nodes alone."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from privproof_checker.graph_algorithms import components, reachable
from privproof_checker.logic.decision_processes import Row


def edges_before(rows: Sequence[Sequence[Row]], allowed: Callable[[int, Row], bool]) -> list[list[int]]:
    """The edges of allowed rows, backwards."""
    result: list[list[int]] = [[] for _ in rows]
    for node, own in enumerate(rows):
        for row in own:
            if allowed(node, row):
                for target, _ in row:
                    result[target].append(node)
    return result


def reached_for_sure(rows: Sequence[Sequence[Row]], goals: Sequence[bool]) -> set[int]:
    """The nodes from which some scheduler reaches a goal almost surely.

    They are the largest set from each of whose nodes a goal can be reached by rows that never leave the set.  By such rows the chance
    to be there within as many steps as there are nodes is at least some p > 0, again and again; and the nodes from which some
    scheduler gets there almost surely form such a set.
    """
    inside = set(range(len(rows)))
    while True:
        kept = inside
        before = edges_before(rows, lambda node, row: node in kept and all(target in kept for target, _ in row))  # noqa: B023
        inside = set(reachable([node for node in kept if goals[node]], before.__getitem__))
        if inside == kept:
            return inside


def end_components(rows: Sequence[Sequence[Row]]) -> list[list[int]]:
    """The maximal end components: sets in which one can stay, going from each node to each."""
    result: list[list[int]] = []
    waiting = [list(range(len(rows)))]
    while waiting:
        members = set(waiting.pop())
        following = {
            node: [t for row in rows[node] if all(t in members for t, _ in row) for t, _ in row] for node in members
        }
        parts = components(sorted(members), following.__getitem__)
        if len(parts) > 1:
            waiting.extend(parts)
        elif parts and following[parts[0][0]]:
            result.append(parts[0])
    return result
