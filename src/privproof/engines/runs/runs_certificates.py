"""The runs of a function as plain data, and the evidence from them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from privproof.engines.runs.run_alignments import Moved
from privproof.engines.runs.runs_divergence import OutcomeRegion
from privproof.engines.runs.runs_measures import ShapedEvent
from privproof.language.constants import typed_document
from privproof.language.linear import Linear, Opaque
from privproof.language.scripts import Draw, Test

if TYPE_CHECKING:
    from privproof.compiling.runs import Runs
    from privproof.language.trees import Step, TreeLeaf


def runs_document(runs: Runs) -> dict[str, Any]:
    """The data sets, the declarations and the trees of runs as plain data; trees that are equal are written once."""
    shapes: dict[str, str] = {}
    tables: dict[tuple[Any, ...], int] = {}
    trees: list[Any] = []
    numbers: dict[str, int] = {}
    places = []
    for tree in runs.trees:
        written = _tree_data(tree, tables)
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
        **({"sampled": True} if runs.sampled else {}),
        "relation": relation if isinstance(relation, str) else "function",
        **({} if isinstance(relation, str) else {"pairs": [list(pair) for pair in runs.pairs]}),
        "sizes": list(runs.sizes),
        "data": [{name: typed_document(value) for name, value in each.items()} for each in runs.data],
        "tables": [[str(p) for p in table] for table in tables],
        "trees": trees,
        "runs": places,
        "outputs": shapes,
    }


def _input(declared: Any) -> dict[str, Any]:
    open_numbers = {
        "values": None,
        "real": declared.real,
        "low": None if declared.low is None else str(declared.low),
        "high": None if declared.high is None else str(declared.high),
    }
    return {
        "shape": declared.shape,
        **(open_numbers if declared.values is None else {"values": [typed_document(v) for v in declared.values]}),
        "within": None if declared.within is None else str(declared.within),
        "public": declared.public,
        "size": declared.size,
        "text": declared.text,
    }


def _tree_data(tree: Sequence[TreeLeaf], tables: dict[tuple[Any, ...], int]) -> list[dict[str, Any]]:
    """The leaves of a tree; the steps that one has in common with the leaf before are not written again."""
    result = []
    known: dict[int, list[Any]] = {}
    before: list[Any] = []
    for leaf in tree:
        opened = open_noises(leaf)
        number = {atom: k for k, atom in enumerate(opened)}
        steps = []
        for step in leaf.steps:
            if id(step) not in known:
                known[id(step)] = _step(step, number, tables)
            steps.append(known[id(step)])
        after = next((k for k, (one, two) in enumerate(zip(before, steps, strict=False)) if one != two), 0)
        result.append(
            {
                "noises": [[leaf.noises[j].kind, *map(str, leaf.noises[j].law[1:])] for j in opened],
                **({"after": after} if after else {}),
                "steps": steps[after:],
                "shape": leaf.outcome.shape,
                "parts": [_part(part, number) for part in leaf.outcome.parts],
            }
        )
        before = steps
    return result


def whole_tree(written: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """The leaves of a tree as it is written, each with all its steps."""
    result: list[dict[str, Any]] = []
    for leaf in written:
        begun = result[-1]["steps"][: leaf["after"]] if "after" in leaf else []
        result.append({**{k: v for k, v in leaf.items() if k != "after"}, "steps": [*begun, *leaf["steps"]]})
    return result


def open_noises(leaf: TreeLeaf) -> list[int]:
    """The noises of a leaf that are left open; uniform numbers are drawn as far as they are looked at."""
    return [j for j, noise in enumerate(leaf.noises) if noise.kind != "uniform"]


def _step(step: Step, number: Mapping[int, int], tables: dict[tuple[Any, ...], int]) -> list[Any]:
    if isinstance(step, Draw):
        return ["draw", tables.setdefault(step.probabilities, len(tables)), step.chosen]
    if isinstance(step, Test):
        return ["test", _part(step.form, number), step.outcome]
    return ["guess", _part(step.condition, number), step.outcome]


def _part(part: Any, number: Mapping[int, int]) -> dict[str, Any]:
    if isinstance(part, Linear):
        terms = sorted((number[atom], factor) for atom, factor in part.terms.items() if isinstance(atom, int))
        return {"x": [[atom, str(factor)] for atom, factor in terms], "constant": str(part.constant)}
    if isinstance(part, Opaque):
        return {"done": part.operation, "to": [_part(each, number) for each in part.parts]}
    return {"value": f"{type(part).__name__} {part!r}"}


def table_evidence() -> dict[str, Any]:
    """The evidence that the probabilities of all outcomes on all neighbours are near enough: nothing, they are summed again."""
    return {"method": "table"}


def alignment_evidence(runs: Runs, moves: Mapping[tuple[int, int], Sequence[Moved]]) -> dict[str, Any]:
    """The evidence of a proof by alignment: for all ordered pairs of neighbours where every leaf goes."""
    listed: list[Any] = []
    known: dict[str, int] = {}
    numbers: dict[int, int] = {}
    pairs = []
    for (left, right), moved in moves.items():
        if id(moved) not in numbers:
            written = [_move_data(each, leaf) for each, leaf in zip(moved, runs.trees[left], strict=True)]
            numbers[id(moved)] = known.setdefault(repr(written), len(listed))
            listed += [written] if numbers[id(moved)] == len(listed) else []
        pairs.append([left, right, numbers[id(moved)]])
    return {"method": "alignment", "alignments": listed, "pairs": pairs}


def _move_data(moved: Moved, leaf: TreeLeaf) -> dict[str, Any]:
    return {
        "to": moved.target,
        "shift": [str(moved.shift[j]) for j in open_noises(leaf)] if moved.shift else [],
        "factors": [[[m, str(q)] for m, q in each.items()] for each in moved.factors],
    }


def divergence_evidence() -> dict[str, Any]:
    """The evidence that no event is beyond epsilon by more than delta: nothing, the bounds are computed again."""
    return {"method": "divergence"}


def excess_evidence(left: int, right: int) -> dict[str, Any]:
    """The evidence of a refutation: two neighbours, whose excess is computed again."""
    return {"method": "excess", "left": left, "right": right}


def region_evidence(left: int, right: int, regions: Sequence[OutcomeRegion]) -> dict[str, Any]:
    """The evidence of a refutation: two neighbours, and outcomes with halfspaces or intervals of their noisy numbers."""

    def where(region: OutcomeRegion) -> dict[str, Any]:
        if region.part is None:
            return {"factors": [str(factor) for factor in region.factors], "end": str(region.end)}
        ends = [[None if end is None else str(end) for end in interval] for interval in region.within]
        return {"part": region.part, "within": ends}

    listed = [{"shape": each.shape, **where(each)} for each in regions]
    return {"method": "regions", "left": left, "right": right, "regions": listed}


def event_evidence(left: int, right: int, event: ShapedEvent) -> dict[str, Any]:
    """The evidence of a refutation: two neighbours and an event."""
    within = [[None if end is None else str(end) for end in ends] for ends in event.within]
    return {"method": "event", "left": left, "right": right, "shapes": list(event.shapes), "within": within}
