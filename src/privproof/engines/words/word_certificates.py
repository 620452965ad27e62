"""From an engine's finding to a certificate: plain data (JSON) in the model's own terms, see docs/reference/certificates.md."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import gcd, lcm
from typing import TYPE_CHECKING, TypeAlias

from privproof.engines.words.cone_margins import margins
from privproof.engines.words.cone_simulation import Simulation
from privproof.engines.words.cone_trimming import trim_cone
from privproof.engines.words.dominance import Dominated
from privproof.engines.words.frontier_search import Counted, Place, SearchTrace
from privproof.engines.words.problem_letters import begin_document, letter_document, numbers_document
from privproof.engines.words.pumped_words import Pump
from privproof.engines.words.ratio_certificates import ratio_evidence
from privproof.engines.words.word_findings import ConeProof, EnumerationProof, Proof, RatioProof, WorstWayProof
from privproof.engines.words.word_vectors import Reached
from privproof.evidence.witnesses import WordWitness
from privproof.exact import ZERO, Rational, fraction, rational, text
from privproof.exact.rational_matrices import Matrix

if TYPE_CHECKING:
    from privproof.compiling import Begin, Classes, Compiled

Multiples: TypeAlias = "list[list[object]] | dict[str, object]"
_ANY_LEVEL = -1
"""Stands for all lengths, where one set of generators serves them."""
_NOTHING = Reached((), (), 0, 0)


def word_evidence(witness: WordWitness) -> dict[str, object]:
    """The word of a witness with both probabilities."""
    return {
        "method": "word",
        "left": numbers_document(witness.left),
        "right": numbers_document(witness.right),
        "word": [letter_document(letter) for letter in witness.observed.letters],
        "ending": witness.observed.ending,
        "left_probability": text(witness.left_probability),
        "right_probability": text(witness.right_probability),
    }


def event_evidence(event: Sequence[WordWitness], length: int) -> dict[str, object]:
    """The outcomes of an event, for an observer of so many letters."""
    first = event[0]
    return {
        "method": "event",
        "left": numbers_document(first.left),
        "right": numbers_document(first.right),
        "length": length,
        "words": [[letter_document(letter) for letter in witness.observed.letters] for witness in event],
    }


def pump_evidence(compiled: Compiled, pump: Pump) -> dict[str, object]:
    """A pump: three words, two vectors, two rates."""
    pair = compiled.begins[pump.start].pair
    result: dict[str, object] = {
        "method": "pump",
        "left": numbers_document(pair.left),
        "right": numbers_document(pair.right),
    }
    if pair.only is not None:
        result["only"] = pair.only
    left, right = compiled.left[pump.location], compiled.right[pump.location]
    if not _identity(left) or not _identity(right):
        result["classes"] = {"left": list(left), "right": list(right)}
    return result | {
        "before": [letter_document(letter) for letter in pump.before],
        "repeated": [letter_document(letter) for letter in pump.repeated],
        "after": [letter_document(letter) for letter in pump.after],
        "ending": pump.final,
        "left_vector": [[i, str(x)] for i, x in enumerate(pump.left) if x != 0],
        "right_vector": [[i, str(x)] for i, x in enumerate(pump.right) if x != 0],
        "left_rate": str(pump.left_rate),
        "right_rate": str(pump.right_rate),
    }


def proof_evidence(compiled: Compiled, proof: Proof) -> dict[str, object]:
    """The evidence of a proof."""
    if isinstance(proof, ConeProof):
        return trim_cone(_Cone(compiled, proof.trace).evidence())
    if isinstance(proof, RatioProof):
        return ratio_evidence(proof.compiled, proof.cones)
    if isinstance(proof, WorstWayProof):
        return {"method": "worst way"}
    return {"method": "enumeration" if isinstance(proof, EnumerationProof) else "tensors"}


class _Cone:
    """Writes the trace of a frontier search as nodes, generators and multipliers.

    A place where vectors were kept is a node.  Where the search used diagonal generators, they are added to every node, and
    places without kept vectors share one node a location that holds nothing else; it leads to itself and its like.  Places of the
    last level are nodes of their own all the same: what does not count where words end was left out there.
    """

    def __init__(self, compiled: Compiled, trace: SearchTrace) -> None:
        self.compiled, self.trace, self.problem = compiled, trace, compiled.problem
        self.places = sorted(place for place, kept in trace.kept.items() if kept)
        self.margins = (
            margins(self.problem) if trace.bound is not None else (Fraction(0),) * len(self.problem.locations)
        )
        self.places += [
            (trace.last, location)
            for location in trace.counted
            if self.margins[location] and not trace.kept.get((trace.last, location))
        ]
        self.places += [(_ANY_LEVEL, location) for location, margin in enumerate(self.margins) if margin]
        self.simulations = trace.simulations if trace.bound is not None else []
        self.numbers = {place: number for number, place in enumerate(self.places)}

    def _at(self, level: int, location: int) -> Place | None:
        """The place that stands for a level and a location; None where nothing can be left to cover."""
        if (level, location) in self.numbers:
            return (level, location)
        return (_ANY_LEVEL, location) if self.margins[location] else None

    def evidence(self) -> dict[str, object]:
        return {
            "method": "cone",
            "nodes": [*(self._node(place) for place in self.places), *self._hopeless()],
            "starts": [self._start(number, begin) for number, begin in enumerate(self.compiled.begins)],
        }

    def _hopeless(self) -> list[dict[str, object]]:
        """A node without any coordinate, for starts from which no compared word can occur on the left."""
        if len(self.trace.starts) == len(self.compiled.begins):
            return []
        nowhere = [None] * len(self.compiled.question.model.states)
        return [{"generators": [_generator(_NOTHING)], "next": [], "classes": {"left": nowhere, "right": nowhere}}]

    def _start(self, number: int, begin: Begin) -> dict[str, object]:
        place = self._at(0, self.problem.starts[number].location)
        covered = self.trace.starts.get(number)
        result = begin_document(begin)
        if covered is None or place is None:
            return result | {"node": len(self.places), "multipliers": []}
        return result | {"node": self.numbers[place], "multipliers": self._multipliers(place, covered, (0, place[1]))}

    def _kept(self, place: Place) -> list[Reached]:
        return self.trace.kept.get(place, [])

    def _last(self, place: Place) -> bool:
        return place[0] == self.trace.last

    def _node(self, place: Place) -> dict[str, object]:
        level, location = place
        here = self.problem.locations[location]
        kept = self._kept(place)
        onward = []
        for number, edge in enumerate(() if self._last(place) else here.edges):
            target = self._at(level if level == _ANY_LEVEL or self.trace.inductive else level + 1, edge.target)
            if target is not None:
                reasons = [self.trace.forgotten.get((place, i, number)) for i in range(len(kept))]
                reached = (level + 1, edge.target)
                rows = [[] if reason is None else self._multipliers(target, reason, reached) for reason in reasons]
                if self.margins[location]:
                    rows += [self._row(place, target, edge.left, s) for s in range(here.left_size)]
                for which in range(len(self.simulations)):
                    rows += self._simulated_rows(place, target, edge.left, which)
                if any(rows):
                    letter = letter_document(edge.letter)
                    onward.append({"letter": letter, "node": self.numbers[target], "multipliers": rows})
        generators = [self._generator(place, vector) for vector in kept]
        generators += self._diagonal(place)
        for found in self.simulations:
            generators += self._simulation(location, found)
        result: dict[str, object] = {"generators": generators, "next": onward}
        left, right = self.compiled.left[location], self.compiled.right[location]
        if self._last(place):
            left, right = (_after(c, n) for c, n in zip((left, right), self.trace.counted[location], strict=True))
        if not _identity(left) or not _identity(right):
            result["classes"] = {"left": list(left), "right": list(right)}
        return result

    def _generator(self, place: Place, vector: Reached) -> dict[str, object]:
        if place not in self.trace.active or self._last(place):
            return _generator(vector)
        location, (left, right) = self.problem.locations[place[1]], self.trace.active[place]
        return {
            "left": {
                "size": location.left_size,
                "entries": [[i, x] for i, x in zip(left, vector.left, strict=True) if x],
            },
            "right": {
                "size": location.right_size,
                "entries": [[i, x] for i, x in zip(right, vector.right, strict=True) if x],
            },
            "weight": vector.weight,
        }

    def _size(self, place: Place) -> int:
        if not self._last(place):
            return self.problem.locations[place[1]].left_size
        return 1 + max((c for c in self.trace.counted[place[1]][0] if c is not None), default=-1)

    def _quotient(self, location: int) -> Fraction:
        """The largest quotient of a left and a right entry that is safe at a location."""
        assert self.trace.bound is not None
        return self.trace.bound * self.margins[location]

    def _diagonal(self, place: Place) -> list[dict[str, object]]:
        """The generators ``(c m e_s, e_s)`` in integers, where the search used them."""
        if not self.margins[place[1]]:
            return []
        safe = self._quotient(place[1])
        size = self._size(place)
        return [
            {"left": _unit(size, s, safe.numerator), "right": _unit(size, s, safe.denominator), "weight": 0}
            for s in range(size)
        ]

    def _simulation(self, location: int, found: Simulation) -> list[dict[str, object]]:
        """The generators ``(c e_s, X_s)`` of a simulation in integers."""
        assert self.trace.bound is not None
        p, q = self.trace.bound.numerator, self.trace.bound.denominator
        rows = found.rows.get(location, ())
        return [
            {"left": _unit(len(rows), s, p * found.scales[location]), "right": [q * x for x in row], "weight": 0}
            for s, row in enumerate(rows)
        ]

    def _offset(self, place: Place, which: int) -> int:
        """The number of the first generator of a simulation."""
        before = sum(len(found.rows.get(place[1], ())) for found in self.simulations[:which])
        return len(self._kept(place)) + (self._size(place) if self.margins[place[1]] else 0) + before

    def _multipliers(self, place: Place, reason: Dominated, reached: Place) -> Multiples:
        """How a vector reached at one place is covered at the place that stands for it."""
        offset = len(self._kept(place))
        if reason.simulated is not None:
            assert self.trace.bound is not None
            offset, scales = self._offset(place, reason.simulation), self.simulations[reason.simulation].scales
            share = reason.scale / (self.trace.bound.numerator * scales[place[1]])
            return _multiples([(offset + s, x) for s, x in enumerate(reason.simulated) if x], share)
        if reason.diagonal is None:
            return _multiples(reason.by, reason.scale)
        p = self._quotient(place[1]).numerator
        active = self.trace.active[reached][0] if reached in self.trace.active else range(len(reason.diagonal))
        factors: list[tuple[int, int | Fraction]] = [(index, factor * p) for index, factor in reason.by]
        factors += [(offset + active[s], x) for s, x in enumerate(reason.diagonal) if x]
        return _multiples(factors, reason.scale / p)

    def _simulated_rows(self, source: Place, target: Place, matrix: Matrix, which: int) -> list[Multiples]:
        """How the products of the generators of a simulation are covered: by the rows of the matrix."""
        scales = self.simulations[which].scales
        if source[1] not in scales:
            return []
        offset, share = self._offset(target, which), Fraction(scales[source[1]], scales[target[1]])
        return [_multiples([(offset + column, fraction(entry)) for column, entry in row], share) for row in matrix.rows]

    def _row(self, source: Place, target: Place, matrix: Matrix, state: int) -> Multiples:
        """How the product of a diagonal generator is covered: by the row of the matrix."""
        offset = len(self._kept(target))
        factor = rational(self._quotient(source[1]).numerator) / self._quotient(target[1]).numerator
        sums: dict[int, Rational] = {}
        for column, entry in matrix.rows[state]:
            counted = self.trace.counted[target[1]][0][column] if self._last(target) else column
            if counted is not None:
                sums[counted] = sums.get(counted, ZERO) + entry * factor
        return _multiples([(offset + c, fraction(entry)) for c, entry in sorted(sums.items())])


def _after(classes: Classes, counted: Counted) -> Classes:
    """From states through coordinates to what the final columns count."""
    return tuple(None if c is None else counted[c] for c in classes)


def _multiples(factors: Sequence[tuple[int, int | Fraction]], scale: Fraction = Fraction(1)) -> Multiples:
    """Multipliers times a scale; more than one over their common denominator."""
    if len(factors) < 2:
        return [[index, text(factor * scale)] for index, factor in factors]
    common = lcm(*(factor.denominator for _, factor in factors))
    whole = [factor.numerator * (common // factor.denominator) * scale.numerator for _, factor in factors]
    over = common * scale.denominator
    shared = gcd(over, *whole)
    return {"over": over // shared, "by": [[i, x // shared] for (i, _), x in zip(factors, whole, strict=True)]}


def _generator(vector: Reached) -> dict[str, object]:
    return {"left": list(vector.left), "right": list(vector.right), "weight": vector.weight}


def _unit(size: int, state: int, value: int) -> dict[str, object]:
    return {"size": size, "entries": [[state, value]]}


def _identity(classes: Classes) -> bool:
    return classes == tuple(range(len(classes)))
