"""The runs of a function as plain data, and the evidence from them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from privproof.compiling.runs import Runs
from privproof.engines.runs.alignments import Moved
from privproof.engines.runs.measures import Event
from privproof.language.constants import typed_document
from privproof.language.linear import Linear, Opaque
from privproof.language.scripts import Draw, Test
from privproof.language.trees import Leaf, Step


def runs_document(runs: Runs) -> dict[str, Any]:
    """The data sets, the declarations and the trees of runs as plain data; trees that are equal are written once."""
    shapes: dict[str, str] = {}
    trees: list[Any] = []
    numbers: dict[str, int] = {}
    places = []
    for tree in runs.trees:
        written = [_leaf(leaf) for leaf in tree]
        for leaf in tree:
            shapes.setdefault(leaf.outcome.shape, leaf.outcome.text)
        key = repr(written)
        if key not in numbers:
            numbers[key] = len(trees)
            trees.append(written)
        places.append(numbers[key])
    relation = runs.mechanism.neighbours
    return {
        "function": {"name": runs.mechanism.name, "digest": runs.digest},
        "inputs": {name: _input(declared) for name, declared in runs.mechanism.inputs.items()},
        "relation": relation if isinstance(relation, str) else "function",
        **({} if isinstance(relation, str) else {"pairs": [list(pair) for pair in runs.pairs]}),
        "sizes": list(runs.sizes),
        "data": [{name: typed_document(value) for name, value in each.items()} for each in runs.data],
        "trees": trees,
        "runs": places,
        "outputs": shapes,
    }


def _input(declared: Any) -> dict[str, Any]:
    return {
        "shape": declared.shape,
        "values": [typed_document(value) for value in declared.values],
        "within": None if declared.within is None else str(declared.within),
        "public": declared.public,
        "size": declared.size,
        "text": declared.text,
    }


def _leaf(leaf: Leaf) -> dict[str, Any]:
    return {
        "noises": [[noise.kind, str(noise.scale)] for noise in leaf.noises],
        "steps": [_step(step) for step in leaf.steps],
        "shape": leaf.outcome.shape,
        "parts": [_part(part) for part in leaf.outcome.parts],
    }


def _step(step: Step) -> list[Any]:
    if isinstance(step, Draw):
        return ["draw", [str(p) for p in step.probabilities], step.chosen]
    if isinstance(step, Test):
        return ["test", _part(step.form), step.outcome]
    return ["guess", _part(step.condition), step.outcome]


def _part(part: Any) -> dict[str, Any]:
    if isinstance(part, Linear):
        terms = sorted((atom, factor) for atom, factor in part.terms.items() if isinstance(atom, int))
        return {"x": [[atom, str(factor)] for atom, factor in terms], "constant": str(part.constant)}
    if isinstance(part, Opaque):
        return {"done": part.operation, "to": [_part(each) for each in part.parts]}
    return {"value": f"{type(part).__name__} {part!r}"}


def table_evidence() -> dict[str, Any]:
    """The evidence that the probabilities of all outcomes on all neighbours are near enough: nothing, they are summed again."""
    return {"method": "table"}


def alignment_evidence(moves: Mapping[tuple[int, int], Sequence[Moved]]) -> dict[str, Any]:
    """The evidence of a proof by alignment: for all ordered pairs of neighbours where every leaf goes."""
    listed: list[Any] = []
    known: dict[str, int] = {}
    pairs = []
    for (left, right), moved in moves.items():
        written = [_moved(each) for each in moved]
        key = repr(written)
        if key not in known:
            known[key] = len(listed)
            listed.append(written)
        pairs.append([left, right, known[key]])
    return {"method": "alignment", "alignments": listed, "pairs": pairs}


def _moved(moved: Moved) -> dict[str, Any]:
    return {
        "to": moved.target,
        "shift": [str(s) for s in moved.shift],
        "factors": [[[m, str(q)] for m, q in each.items()] for each in moved.factors],
    }


def event_evidence(left: int, right: int, event: Event) -> dict[str, Any]:
    """The evidence of a refutation: two neighbours and an event."""
    within = [[None if end is None else str(end) for end in ends] for ends in event.within]
    return {"method": "event", "left": left, "right": right, "shapes": list(event.shapes), "within": within}
