"""Ways that differ only in the order in which noises came out, as one way; comparisons that follow from others are dropped.

The best of n values is found by n - 1 comparisons, in 2^(n-1) ways; all that the ways to one winner have in common is that the others are
below it.  Ways with the same draws, the same noises and the same numbers in what they show are zones of one space (`zones`), which are
joined.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from privproof.engines.integrals.integral_enclosures import FormCondition
from privproof.engines.integrals.integration_zones import Zone, all_joined, zone_of
from privproof.engines.runs.leaf_groups import CONTINUOUS
from privproof.exact import Rational
from privproof.language.linear import Linear
from privproof.language.scripts import Draw, Test
from privproof.language.trees import part_key

if TYPE_CHECKING:
    from privproof.language.trees import TreeLeaf

_MOST_WAYS = 64
"""Ways of one kind that are compared with one another; beyond, they are left as they are."""


def join_ways(leaves: Sequence[TreeLeaf]) -> tuple[TreeLeaf, ...]:
    """Leaves of one shape with the same probabilities, fewer where some fit."""
    kinds: dict[Any, list[tuple[TreeLeaf, Zone]]] = {}
    found: list[TreeLeaf] = []
    for leaf in leaves:
        zone = _zone(leaf)
        if zone is None:
            found.append(leaf)
            continue
        draws = tuple(step.chosen for step in leaf.steps if isinstance(step, Draw))
        key = draws, leaf.weight, leaf.noises, tuple(map(part_key, leaf.outcome.parts))
        kinds.setdefault(key, []).append((leaf, zone))
    for same in kinds.values():
        zones = [zone for _, zone in same]
        first = same[0][0]
        rest = tuple(step for step in first.steps if not isinstance(step, Test))
        joined = all_joined(zones) if len(zones) <= _MOST_WAYS else [zone for zone in zones if not zone.empty]
        for zone in joined:
            tests = tuple(_test(each) for each in zone.conditions())
            found.append(replace(first, steps=(*rest, *tests)))
    return tuple(found)


def _test(condition: FormCondition) -> Test:
    terms: dict[int | str, Rational] = dict(condition.factors.items())
    return Test(Linear(terms, condition.constant), strict=False, outcome=True)


def in_a_circle(leaf: TreeLeaf) -> bool:
    """Whether the noises that tests compare in pairs are no forest."""
    trees: list[set[Any]] = []
    for pair in {frozenset(test.form.terms) for test in leaf.tests if len(test.form.terms) == 2}:
        met = [tree for tree in trees if tree & pair]
        if any(pair <= tree for tree in met):
            return True
        trees = [tree for tree in trees if not tree & pair] + [set(pair).union(*met)]
    return False


def _zone(leaf: TreeLeaf) -> Zone | None:
    """The noises that lead to a leaf; None where they are no zone."""
    atoms = {atom for test in leaf.tests for atom in test.form.terms}
    if leaf.guesses or any(leaf.noises[atom].kind not in CONTINUOUS for atom in atoms):  # type: ignore[index]
        return None
    conditions = (FormCondition(dict(test.halfspace.terms), test.halfspace.constant) for test in leaf.tests)  # type: ignore[arg-type]
    return zone_of(len(leaf.noises), conditions)
