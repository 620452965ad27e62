"""From ratio cones to a certificate: nodes with ratios or generators, and multipliers, in the model's own terms."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from privproof.engines.words.problem_letters import begin_document, letter_document
from privproof.engines.words.ratio_cones import RatioCones
from privproof.engines.words.reachable_pasts import Multiples
from privproof.exact.shipping import Shares

if TYPE_CHECKING:
    from privproof.compiling import Compiled


def ratio_evidence(compiled: Compiled, cones: RatioCones) -> dict[str, object]:
    """The evidence of a proof by ratio cones."""
    return _Writing(compiled, cones).evidence()


class _Writing:
    """Writes every location as a node: its ratios, or its generators, in order, and for each letter their multipliers."""

    def __init__(self, compiled: Compiled, cones: RatioCones) -> None:
        self.compiled, self.cones, self.problem = compiled, cones, compiled.problem
        self.numbers = {
            location: {states: number for number, states in enumerate(ratios)}
            for location, ratios in cones.ratios.items()
        }

    def evidence(self) -> dict[str, object]:
        return {
            "method": "ratios",
            "nodes": [self._node(location) for location in range(len(self.problem.locations))],
            "starts": [self._start(number) for number in range(len(self.problem.starts))],
        }

    def _node(self, location: int) -> dict[str, object]:
        kind = self.cones.kinds[location]
        result: dict[str, object] = {"kind": kind}
        if kind == "past":
            generators = self.cones.pasts.generators.get(location, ())
            result["generators"] = [
                [[i, str(x)] for i, x in enumerate(generator) if x != 0] for generator in generators
            ]
        else:
            ratios = self.cones.ratios.get(location, {})
            result["ratios"] = [[s, t, str(rho)] for (s, t), rho in ratios.items()]
        left, right = self.compiled.left[location], self.compiled.right[location]
        if left != tuple(range(len(left))) or right != left:
            result["classes"] = {"left": list(left), "right": list(right)}
        result["next"] = [
            {
                "letter": letter_document(edge.letter),
                "node": edge.target,
                "multipliers": list(self._step(location, e, edge.target)),
            }
            for e, edge in enumerate(self.problem.locations[location].edges)
        ]
        return result

    def _step(self, location: int, e: int, target: int) -> Iterable[list[list[object]]]:
        if self.cones.kinds[location] != "past":
            for s, t in self.cones.ratios.get(location, {}):
                yield self._shares(target, self.cones.ratio_shares[(location, s, t), e])
            return
        for number in range(len(self.cones.pasts.generators.get(location, ()))):
            if self.cones.kinds[target] == "past":
                yield _multiples(self.cones.pasts.steps[location, number, e])
            else:
                yield self._shares(target, self.cones.past_shares[location, number, e])

    def _shares(self, target: int, shares: Shares) -> list[list[object]]:
        return [[self.numbers[target][states], str(share)] for states, share in shares.items()]

    def _start(self, number: int) -> dict[str, object]:
        result, location = begin_document(self.compiled.begins[number]), self.problem.starts[number].location
        if self.cones.kinds[location] == "past":
            multipliers = _multiples(self.cones.pasts.starts[number])
        else:
            multipliers = self._shares(location, self.cones.start_shares[number])
        return result | {"node": location, "multipliers": multipliers}


def _multiples(multiples: Multiples) -> list[list[object]]:
    return [[index, str(share)] for index, share in multiples.items()]
