"""What is known of the curve of each use: from the runs of a function both ways, from proofs of epsilons and deltas from above."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

from flint import arb

from privproof.engines.composition.composed_losses import BITS
from privproof.engines.composition.hockey_stick_curves import (
    alike,
    certain_mass,
    common_divisor,
    common_loss,
    gaussian,
    largest,
    pair_above,
    pair_enclosed,
    sampled_first,
    sampled_second,
    through_points,
    without_replacement,
)
from privproof.engines.composition.loss_lattices import HockeyStick
from privproof.engines.divergences.divergence_parts import ComparedTrees, compare_runs
from privproof.engines.runs.runs_certificates import runs_document
from privproof.engines.search_monitor import Monitor
from privproof.evidence.question_documents import without_budget
from privproof.exact import ZERO, Epsilon, Rational, epsilon, rational
from privproof.scenarios import Sampling

if TYPE_CHECKING:
    from privproof.compiling.runs import Runs

_PARTS = 192
"""The precision of the probabilities of parts: lines over short stretches need many digits."""


@dataclass(frozen=True)
class SeenPart:
    """Two neighbours, and the curve of what is seen of them, in the order in which they are compared.

    Attributes:
        left: the number of the data set on the left.
        right: the number of the data set on the right.
        curve: the curve, enclosed.
        certain: what is possible on the left alone, at least.
    """

    left: int
    right: int
    curve: HockeyStick
    certain: arb


@dataclass(frozen=True)
class Known:
    """What is known of one use.

    Attributes:
        above: upper bounds of the curve, for the two ways in which all uses go.
        below: pairs of neighbours with their curves; where two have the same curve, one of them.
        everywhere: all pairs by their data, whole data alone; each has the number of its curve.
        compiled: the question as plain data, or what it is made from.
        unit: a number of which all losses are multiples; None where that is not known.
        evidence: what the checker needs to bound the curve from above.
    """

    above: tuple[HockeyStick, HockeyStick]
    below: tuple[SeenPart, ...]
    compiled: Mapping[str, Any]
    unit: Rational | None = None
    evidence: dict[str, object] = field(default_factory=lambda: {"method": "laws"})
    everywhere: Mapping[str, tuple[int, SeenPart]] = field(default_factory=dict)


def _ways(curve: HockeyStick, sampling: Sampling | None) -> tuple[HockeyStick, HockeyStick]:
    if sampling is None:
        return curve, curve
    if sampling.kind == "poisson":
        return sampled_first(curve, sampling.rate), sampled_second(curve, sampling.rate)
    both = without_replacement(curve, sampling.rate)
    return both, both


@dataclass
class FromRuns:
    """What the runs of a function say."""

    runs: Runs
    sampling: Sampling | None
    monitor: Monitor

    @cached_property
    def document(self) -> dict[str, Any]:
        """The runs as plain data."""
        return runs_document(self.runs)

    @cached_property
    def pairs(self) -> list[ComparedTrees]:
        """All neighbours with different laws, in both orders."""
        return compare_runs(self.runs, self.document["runs"], self.monitor, _PARTS)

    def known(self) -> Known:
        """What is known."""
        curves: dict[object, HockeyStick] = {}
        for pair in self.pairs:
            trees = self.runs.trees[pair.left], self.runs.trees[pair.right]
            curves.setdefault(alike(pair.above) or (pair.left, pair.right), self._watched(pair_above(pair, trees)))
        above = _ways(largest(list(curves.values())), self.sampling)
        return Known(above, tuple(self._below()), self.document, self._unit(), everywhere=self._everywhere())

    def _everywhere(self) -> dict[str, tuple[int, SeenPart]]:
        """All pairs of neighbours by the text of their data, where the data are not sampled."""
        found: dict[str, tuple[int, SeenPart]] = {}
        numbers: dict[object, int] = {}
        for pair in self.pairs if self.sampling is None else ():
            if not pair.below:
                continue
            number = numbers.setdefault(alike(pair.below), len(numbers))
            data = json.dumps([self.document["data"][side] for side in (pair.left, pair.right)], sort_keys=True)
            curve = self._watched(pair_enclosed(pair))
            found[data] = number, SeenPart(pair.left, pair.right, curve, certain_mass(pair))
        return found

    def _unit(self) -> Rational | None:
        """A number of which all losses are multiples."""
        found = ZERO
        for pair in self.pairs if self.sampling is None else ():
            unit = common_loss(pair.above)
            if unit is None:
                return None
            found = common_divisor(found, unit)
        return found if found != 0 else None

    def _watched(self, curve: HockeyStick) -> HockeyStick:
        def value(c: arb) -> arb:
            self.monitor.pause()
            return curve(c)

        return value

    def _below(self) -> list[SeenPart]:
        found, known = [], set()
        for pair in self.pairs:
            first = self._records(pair.left) > self._records(pair.right)
            key = alike(pair.below), self.sampling is not None and first
            if not pair.below or key in known:
                continue
            known.add(key)
            curve, certain = self._watched(pair_enclosed(pair)), certain_mass(pair)
            if self.sampling is not None:
                if self.sampling.kind != "poisson":
                    return []
                rate = self.sampling.rate
                if first:
                    curve, certain = sampled_first(curve, rate), certain * arb(rate)
                else:
                    curve, certain = sampled_second(curve, rate), arb(0) if rate < 1 else certain
            found.append(SeenPart(pair.left, pair.right, curve, certain))
        return found

    def _records(self, number: int) -> int:
        return sum(len(value) for value in self.runs.data[number].values() if isinstance(value, tuple))


def from_certificates(certificates: Sequence[Mapping[str, Any]], sampling: Sampling | None) -> Known:
    """What follows from proofs of deltas at epsilons, or of a mu; those about another question than the first are left out."""
    certificates = [each for each in certificates if _about(each) == _about(certificates[0])]
    points: dict[str, tuple[Epsilon, Rational]] = {}
    curves = []
    for certificate in certificates:
        asked = certificate["question"]
        if asked["kind"] == "measured":
            curves.append(gaussian(epsilon(asked["budgets"][0]["value"]), BITS))
        else:
            points[asked["epsilon"]] = epsilon(asked["epsilon"]), rational(asked.get("delta", "0"))
    if points:
        ordered = sorted(points.values(), key=lambda point: float(point[0].ball(_PARTS)))
        curves.append(through_points(ordered, BITS))

    def least(c: arb) -> arb:
        best = arb(1)
        for curve in curves:
            best = best.min(curve(c).upper())
        return best

    evidence: dict[str, object] = {"method": "certificates", "certificates": certificates}
    return Known(_ways(least, sampling), (), _about(certificates[0]), evidence=evidence)


def _about(certificate: Mapping[str, Any]) -> Mapping[str, Any]:
    """The question of a certificate, without what it claims."""
    asked: Mapping[str, Any] = certificate["question"]
    return without_budget(asked["of"] if asked["kind"] == "measured" else asked)
