"""Leaves with the same draws, noises and numbers that differ in how noises compare: joined where together they are one set of noises."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from privproof_checker.integrals.gaps import Gaps, largest_gaps, needed_inequalities, unions
from privproof_checker.integrals.normal_enclosures import KINDS
from privproof_checker.programs.open_trees import Linear, Step
from privproof_checker.runs.run_leaves import RunLeaf

_MOST_LEAVES = 64
"""Leaves that are compared with one another; more are left as they are."""


def ways_joined(leaves: Sequence[RunLeaf]) -> list[RunLeaf]:
    """Leaves of one shape that are as likely together as those given, with any numbers in them; fewer where some fit."""
    found: list[RunLeaf] = []
    alike: dict[object, list[tuple[RunLeaf, Gaps]]] = {}
    for leaf in leaves:
        gaps = _gaps(leaf)
        if gaps is None:
            found.append(leaf)
        else:
            draws = tuple((step.about, step.outcome) for step in leaf.steps if step.kind == "draw")
            alike.setdefault((draws, leaf.noises, leaf.parts), []).append((leaf, gaps))
    for listed in alike.values():
        first = listed[0][0]
        if not 1 < len(listed) <= _MOST_LEAVES:
            found += [leaf for leaf, _ in listed]
            continue
        kept = tuple(step for step in first.steps if step.kind == "draw")
        for gaps in unions([gaps for _, gaps in listed]):
            tests = (
                Step("test", Linear(tuple(sorted(factors.items())), constant), 1)
                for factors, constant in needed_inequalities(gaps)
            )
            found.append(replace(first, steps=(*kept, *tests)))
    return found


def _gaps(leaf: RunLeaf) -> Gaps | None:
    """The gaps between the noises that lead to a leaf; None where something else decides."""
    tests = [step for step in leaf.steps if step.kind == "test"]
    forms = leaf.conditions[: len(tests)]
    if leaf.guesses or any(leaf.noises[j][0] not in KINDS for form in forms for j, _ in form.factors):
        return None
    return largest_gaps((dict(form.factors), form.constant) for form in forms)
