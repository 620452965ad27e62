"""The evidence of verdicts about stream automata: a coupling, a loss, or a structure whose loss grows."""

from __future__ import annotations

from collections.abc import Iterable
from math import inf

from privproof.engines.streams.cost_fronts import Fronts, Product
from privproof.engines.streams.coupling_decision import Leak
from privproof.engines.streams.shift_systems import Solution
from privproof.engines.streams.stream_losses import StreamLoss
from privproof.exact import Rational


def _number(value: Rational | None) -> str | None:
    return None if value is None else str(value)


def coupling_evidence(solution: Solution, *, attained: bool) -> dict[str, object]:
    """The evidence of a coupling: for every node the costs that the adversary can reach, which no step leads out of."""
    evidence: dict[str, object] = {
        "method": "coupling",
        "unit": str(solution.arena.unit),
        "arenas": [_arena(fronts) for fronts in solution.everywhere],
    }
    if attained and solution.hardest is not None:
        evidence["attained"] = {
            "segments": [
                {"steps": _steps(solution, s.edges, s.changes), "times": solution.times if s.repeated else 1}
                for s in solution.hardest.segments
            ]
        }
    return evidence


def _steps(solution: Solution, edges: Iterable[int], changes: Iterable[int]) -> list[list[int]]:
    arena = solution.arena
    return [[arena.edges[number].step, change] for number, change in zip(edges, changes, strict=True)]


def _arena(fronts: Fronts) -> dict[str, object]:
    arena = fronts.arena
    nodes = []
    for node, (changed, known) in enumerate(arena.marks):
        following: dict[str, list[int]] = {}
        for number in arena.leaving[node]:
            edge = arena.edges[number]
            listed = following.setdefault(str(edge.step), [])
            if edge.target not in listed:
                listed.append(edge.target)
        nodes.append(
            {
                "state": arena.states[node],
                "changed": changed,
                "known": sorted(list(pair) for pair in known),
                "products": [_product(found) for found in fronts.at[node]],
                "next": following,
            }
        )
    return {"changes": list(arena.changes), "nodes": nodes}


def _product(found: Product) -> list[dict[str, object]]:
    return [
        {"names": list(names), "front": [[None if c == inf else c for c in vector] for vector in front]}
        for names, front in found.items()
    ]


def loss_evidence(found: StreamLoss) -> dict[str, object]:
    """The evidence of a loss: the transitions, both streams, and where written numbers shall lie."""
    return {
        "method": "loss",
        "steps": list(found.steps),
        "left": [_number(value) for value in found.left],
        "right": [_number(value) for value in found.right],
        "windows": [[[str(w.low), str(w.high)] for w in windows] for windows in found.windows],
    }


def growth_evidence(solution: Solution, leak: Leak) -> dict[str, object]:
    """The evidence of a structure whose cost grows without bound."""
    return {
        "method": "growth",
        "kind": leak.kind,
        "thresholds": list(leak.thresholds),
        "segments": [{"steps": _steps(solution, s.edges, s.changes), "repeated": s.repeated} for s in leak.segments],
    }
