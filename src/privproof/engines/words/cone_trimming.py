"""What nothing uses is left out of a cone certificate.

A generator is *used* if a start, or the product of a used generator with a letter, is covered with the help of it.  Right parts of
used generators lie on coordinates that the right side can occupy, because multiples of them stay below a vector that is reached.
Diagonal generators, and those of a simulation, are written for every coordinate; of those that are not used a checker would have
to be shown something that no word needs.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any


def trim_cone(evidence: dict[str, Any]) -> dict[str, Any]:
    """The evidence with the used generators alone; a node keeps its number.

    >>> node = {"generators": [{"left": [1], "right": [0]}, {"left": [1], "right": [1]}], "next": []}
    >>> start = {"left": {"s": "1"}, "right": {"s": "1"}, "node": 0, "multipliers": [[1, "1"]]}
    >>> trimmed = trim_cone({"method": "cone", "nodes": [node], "starts": [start]})
    >>> trimmed["nodes"][0]["generators"], trimmed["starts"][0]["multipliers"]
    ([{'left': [1], 'right': [1]}], [[0, '1']])
    """
    nodes, starts = evidence["nodes"], evidence["starts"]
    used: list[set[int]] = [set() for _ in nodes]
    waiting = [(start["node"], index) for start in starts for index in _indices(start["multipliers"])]
    while waiting:
        number, index = waiting.pop()
        if index not in used[number]:
            used[number].add(index)
            for entry in nodes[number]["next"]:
                waiting.extend((entry["node"], i) for i in _indices(entry["multipliers"][index]))
    places = [{old: new for new, old in enumerate(sorted(kept))} for kept in used]
    return evidence | {
        "nodes": [_trim_node(node, kept, places) for node, kept in zip(nodes, used, strict=True)],
        "starts": [s | {"multipliers": _renumber_multipliers(s["multipliers"], places[s["node"]])} for s in starts],
    }


def _trim_node(node: dict[str, Any], kept: set[int], places: list[dict[int, int]]) -> dict[str, Any]:
    onward = []
    for entry in node["next"]:
        rows = [_renumber_multipliers(entry["multipliers"][i], places[entry["node"]]) for i in sorted(kept)]
        if any(rows):
            onward.append(entry | {"multipliers": rows})
    return node | {"generators": [node["generators"][i] for i in sorted(kept)], "next": onward}


def _indices(multipliers: Any) -> Iterator[int]:
    listed = multipliers["by"] if isinstance(multipliers, dict) else multipliers
    return (index for index, _ in listed)


def _renumber_multipliers(multipliers: Any, places: dict[int, int]) -> Any:
    if isinstance(multipliers, dict):
        return multipliers | {"by": [[places[index], factor] for index, factor in multipliers["by"]]}
    return [[places[index], factor] for index, factor in multipliers]
