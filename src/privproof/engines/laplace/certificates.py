"""The evidence of verdicts about continuous noise: an alignment with its invariants, or a mixture of such; two trees and an event."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from math import gcd, lcm
from typing import Any

from privproof.compiling.relational import Program
from privproof.compiling.scales import SQUARES
from privproof.engines.laplace.alignments import CONSTANT, Case, Shift, cases, told_before
from privproof.engines.laplace.losses import Loss
from privproof.engines.laplace.mixtures import NOWHERE, Mixture, used_pairings
from privproof.engines.laplace.norms import spread
from privproof.engines.laplace.paths import DrawnNoise as Shifted
from privproof.engines.laplace.promises import Promise
from privproof.engines.laplace.proving import AlignmentProof
from privproof.engines.laplace.symbols import Results
from privproof.exact import rational
from privproof.exact.affine import Affine
from privproof.language.branching import BranchLeaf
from privproof.language.constants import typed_document
from privproof.language.laws import WHOLE
from privproof.language.linear import Linear
from privproof.language.patterns import Between, pattern_text
from privproof.language.row import Row
from privproof.language.scripts import Draw, ScriptedDraw
from privproof.language.scripts import Test as Branching

CONDITIONS = (
    "shifts depend on the data, the decisions that both runs share, and the foretold output, and on nothing else",
    "no shift depends on the distance of a value that noise takes part in, but for noise that is never shifted",
    "only discrete outputs are foretold",
    "the neighbour relation is symmetric, so one direction is both",
    "scales are the same in both runs and above zero",
    "lists are read inside their bounds",
    "the claim is about runs that end",
)
"""The side conditions of the soundness theorem, as the checker verifies them."""


def conditions(proof: AlignmentProof) -> tuple[str, ...]:
    """The side conditions of the soundness theorem for a proof."""
    whole = any(sample.noise in WHOLE for sample in proof.program.sites)
    more = ("shifts of noise on the integers are whole numbers",) if whole else ()
    settled = ("shifts of Gaussian noise depend on what comes before it is drawn alone",)
    few = "two places" if proof.blocks.places > 1 else "one place"
    kept = (f"in a list that is kept the two runs differ at {few} at most",) if proof.program.kept else ()
    return (*CONDITIONS, *more, *(settled if SQUARES in proof.blocks.groups else ()), *kept)


def _affine(value: Affine) -> dict[str, object]:
    return {"constant": str(value.constant), "terms": {name: str(factor) for name, factor in value.terms}}


def proof_evidence(proof: AlignmentProof) -> dict[str, object]:
    """The evidence of a proof: an alignment, of the whole program or of some of its cells."""
    cells = proof.program.cells
    if cells is None:
        return alignment_evidence(proof)
    return {
        "method": "cells",
        "cells": list(cells.bounds),
        "kept": list(cells.kept),
        **({} if cells.field is None else {"field": cells.field}),
        "records": [_plain(each) for each in cells.records],
        "alignment": alignment_evidence(proof),
    }


def alignment_evidence(proof: AlignmentProof) -> dict[str, object]:
    """The evidence of a proof by alignment."""
    bounds: list[dict[str, object]] = []
    for bound in proof.bounds:
        ratio = proof.blocks.logarithms.get(bound.group)
        if bound.group == SQUARES:
            growing = bool(bound.limit.terms)
            bounds.append({"squares": _affine(bound.limit) if growing else str(bound.limit.constant)})
        elif ratio is not None and bound.limit.terms:
            bounds.append({"ratio": str(ratio), **_affine(bound.limit)})
        elif ratio is not None:
            bounds.append({"ratio": str(ratio), "times": int(bound.limit.constant.floor())})
        elif bound.group:
            bounds.append({"names": list(bound.group), "factor": str(bound.limit.constant)})
        else:
            bounds.append({"names": [], **_affine(bound.limit)})
    return {
        "method": "alignment",
        "conditions": list(conditions(proof)),
        "cuts": list(proof.program.cuts),
        "bounds": bounds,
        "paths": _paths(proof),
        **({"promises": _promises(proof)} if proof.blocks.promises else {}),
        **({"places": proof.blocks.places} if proof.program.kept else {}),
        **({"foretold": _foretold(results)} if (results := proof.blocks.results) is not None else {}),
        "invariants": {str(cut): _smt(formula) for cut, formula in proof.invariants.formulas.items()},
    }


def _foretold(results: Results) -> dict[str, object]:
    return {str(k): {"low": _affine(Affine(low)), "high": _affine(high)} for k, (low, high) in results.ranges.items()}


def _promises(proof: AlignmentProof) -> list[dict[str, object]]:
    given = [
        {drawn.instruction for path in proof.blocks.paths for drawn in path.drawn if _gives(drawn, promise)}
        for promise in proof.blocks.promises
    ]
    return [
        {
            "instructions": sorted(at),
            "side": each.side,
            "beyond": str(each.far),
            "times": each.times,
            **({"always": True} if each.always else {}),
            **({} if each.paid is None else {"paid": str(each.paid)}),
        }
        for each, at in zip(proof.blocks.promises, given, strict=True)
    ]


def _gives(drawn: Shifted, promise: Promise) -> bool:
    return drawn.promised is not None and drawn.promised[0] == promise.group


def mixture_evidence(found: Mixture) -> dict[str, object]:
    """The evidence of a proof by a mixture of alignments."""
    pairings = [
        {
            "between": [list(pair) for pair in pairing.between],
            "epsilon": str(pairing.epsilon),
            "alignment": alignment_evidence(pairing.proof),
        }
        for pairing in used_pairings(found)
    ]
    plans = [
        {
            "left": plan.left,
            "right": plan.right,
            "shares": [[*(None if n == NOWHERE else n for n in pair), str(x)] for pair, x in plan.shares.items()],
        }
        for plan in found.plans
    ]
    classes = [[{part: _plain(value) for part, value in row.items()} for row in rows] for rows in found.classes]
    return {"method": "mixture", "classes": classes, "pairings": pairings, "plans": plans}


def _plain(value: object) -> object:
    return value if isinstance(value, bool | str | None) else str(value)


def _smt(formula: Any) -> str:
    text: str = formula.sexpr()
    return " ".join(text.split())


def _paths(proof: AlignmentProof) -> list[dict[str, object]]:
    result = []
    for path in proof.blocks.paths:
        listed = []
        settled: dict[str, dict[Case, dict[str, object]]] = {}
        for case in cases(proof.blocks, path):
            shifts = {}
            for drawn in path.drawn:
                shift = proof.alignment.shift(path, case, drawn.instruction)
                if any(shift.factors.values()) and drawn.settled:
                    told = told_before(case, drawn, foretell=proof.blocks.foretell)
                    given: dict[str, object] = {"shift": _shift(shift), "reach": str(shift.reach(drawn.reach))}
                    entries = spread(proof.blocks, path, drawn, shift)
                    given |= {"spread": [[r, str(factor)] for r, factor in entries]} if entries else {}
                    when = {"when": [_atom(atom, proof.program) for atom in told]} if told else {}
                    settled.setdefault(str(drawn.instruction), {})[told] = {**when, **given}
                elif any(shift.factors.values()):
                    shifts[str(drawn.instruction)] = _shift(shift)
            if shifts:
                listed.append({"when": [_atom(atom, proof.program) for atom in case], "shifts": shifts})
        exchanged = [
            {"names": list(each.names), "by": each.by, "times": str(each.times)}
            for each in proof.blocks.exchanges
            if each.applies(path)
        ]
        if listed or settled or exchanged:
            tests = [[number, outcome] for number, outcome in path.tests]
            aligned = {"from": path.source, "tests": tests, "cases": listed}
            listed_by = {at: _alone(list(given.values())) for at, given in settled.items()}
            more = {"settled": listed_by} if settled else {}
            result.append({**aligned, **more, **({"exchanged": exchanged} if exchanged else {})})
    return result


def _alone(given: list[dict[str, object]]) -> object:
    """The shifts of one noise; the only one where it depends on nothing that is foretold."""
    return given[0] if len(given) == 1 and "when" not in given[0] else given


def _atom(atom: tuple[Any, ...], program: Program) -> list[object]:
    match atom:
        case ("output", k, bool() as value, holds):
            return ["output", k, ["bool", value], holds]
        case ("output", k, value, holds):
            return ["output", k, ["tag", value], holds]
        case _:
            return list(atom)


def _shift(shift: Shift) -> dict[str, object]:
    reads = [[feature[1], str(f)] for feature, f in shift.factors.items() if feature[0] == "read" and f]
    distances = [[feature[1], str(f)] for feature, f in shift.factors.items() if feature[0] == "distance" and f]
    return {"constant": str(shift.factors.get(CONSTANT, Fraction(0))), "reads": reads, "distances": distances}


def loss_evidence(loss: Loss, trees: tuple[tuple[BranchLeaf, ...], tuple[BranchLeaf, ...]]) -> dict[str, object]:
    """The evidence of a refutation: both trees, and which leaves the event has."""
    rest = {"rest": "outside"} if loss.partial else {}
    sides = [
        {"arguments": _arguments(arguments), "leaves": [_leaf(leaf, loss.event) for leaf in leaves], **rest}
        for arguments, leaves in zip((loss.left, loss.right), trees, strict=True)
    ]
    event = {"event": pattern_text(loss.event), "pattern": pattern_document(loss.event)}
    return {"method": "loss", **event, "left": sides[0], "right": sides[1]}


def pattern_document(pattern: Any) -> dict[str, object]:
    """An event as plain data: values with their types, and ``between`` in the place of noisy numbers."""
    match pattern:
        case Between(low, high):
            return {"between": [None if end is None else str(end) for end in (low, high)]}
        case list() | tuple():
            kind = "list" if isinstance(pattern, list) else "tuple"
            return {kind: [pattern_document(part) for part in pattern]}
        case bool() | str() | None:
            return typed_document(pattern)
        case int():
            return typed_document(int(pattern))
        case _:
            return typed_document(Fraction(pattern))


def _arguments(values: Mapping[str, object]) -> dict[str, object]:
    def plain(value: Any) -> Any:
        if isinstance(value, list | tuple):
            return [plain(item) for item in value]
        if isinstance(value, Row):
            return {part: plain(item) for part, item in value.items()}
        return value if isinstance(value, bool) or value is None else str(value)

    return {name: plain(value) for name, value in values.items()}


def _form(form: Linear) -> dict[str, object]:
    terms = sorted((atom, factor) for atom, factor in form.terms.items() if isinstance(atom, int))
    return {"x": [[atom, str(factor)] for atom, factor in terms], "constant": str(form.constant)}


def _leaf(leaf: BranchLeaf, event: Any) -> dict[str, object]:
    also = leaf.within(event) if leaf.complete else None
    return {
        "noises": [[noise.kind, str(noise.scale)] for noise in leaf.noises],
        "steps": [_step(step, leaf.noises) for step in leaf.steps],
        "event": also is not None,
        "also": [_form(form) for form in also or ()],
        "output": pattern_text(leaf.output) if leaf.complete else "another",
    }


def _step(step: Branching | Draw, noises: Sequence[ScriptedDraw]) -> list[object]:
    if isinstance(step, Draw):
        return ["draw", [str(p) for p in step.probabilities], step.chosen]
    return ["test", _form(_without_ties(step, noises)), step.outcome]


def _without_ties(test: Branching, noises: Sequence[ScriptedDraw]) -> Linear:
    """A form that is at least 0 exactly where the test holds: of geometric noise, moved by half a step where it may be 0."""
    factors = list(test.form.terms.values())
    if not all(isinstance(atom, int) and noises[atom].kind in WHOLE for atom in test.form.terms):
        return test.form
    below = lcm(*(int(factor.q) for factor in factors))
    step = rational(gcd(*(int((factor * below).p) for factor in factors))) / below
    if (test.form.constant / step).q != 1:
        return test.form
    return Linear(test.form.terms, test.form.constant + step / 2 * (-1 if test.strict else 1))
