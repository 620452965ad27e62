"""From an engine's finding to a certificate: plain data (JSON) in the model's own terms, see docs/reference/certificates.md."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from privproof.compiling import Begin, Classes, Compiled
from privproof.engines import ConeProof, EnumerationProof, Proof
from privproof.engines.words.dominance import Dominated
from privproof.engines.words.frontier import Counted, Place, Trace
from privproof.engines.words.vectors import Reached
from privproof.evidence.verdicts import Witness
from privproof.exact import ZERO, Budget, Rational
from privproof.exact.matrices import Matrix
from privproof.formats import document
from privproof.models import Distribution, Letter
from privproof.scenarios import Question

FORMAT, VERSION = "privproof-certificate", 1


def certificate(
    question: Question, budget: Budget, verdict: str, evidence: Mapping[str, Any], witness: Witness | None = None
) -> dict[str, Any]:
    """A certificate for a verdict on a question under a budget."""
    result: dict[str, Any] = {
        "format": FORMAT,
        "version": VERSION,
        "verdict": verdict,
        "question": document(question.under(budget)),
        "evidence": dict(evidence),
    }
    if witness is not None:
        result["witness"] = word_evidence(witness)
    return result


def letter_document(letter: Letter) -> dict[str, str | None]:
    """A letter as plain data."""
    if letter.left is None:
        return {"output": letter.output}
    return {"left": letter.left, "right": letter.right, "output": letter.output}


def _numbers(entries: Distribution) -> dict[str, str]:
    return {name: str(probability) for name, probability in entries.items()}


def word_evidence(witness: Witness) -> dict[str, Any]:
    """The word of a witness with both probabilities."""
    return {
        "method": "word",
        "left": _numbers(witness.left),
        "right": _numbers(witness.right),
        "word": [letter_document(letter) for letter in witness.letters],
        "ending": witness.ending,
        "left_probability": str(witness.left_probability),
        "right_probability": str(witness.right_probability),
    }


def event_evidence(event: Sequence[Witness]) -> dict[str, Any]:
    """The outcomes of an event."""
    first = event[0]
    return {
        "method": "event",
        "left": _numbers(first.left),
        "right": _numbers(first.right),
        "words": [[letter_document(letter) for letter in witness.letters] for witness in event],
    }


def proof_evidence(compiled: Compiled, proof: Proof) -> dict[str, Any]:
    """The evidence of a proof."""
    if isinstance(proof, ConeProof):
        return _Cone(compiled, proof.trace).evidence()
    return {"method": "enumeration" if isinstance(proof, EnumerationProof) else "tensors"}


class _Cone:
    """Writes the trace of a frontier search as nodes, generators and multipliers."""

    def __init__(self, compiled: Compiled, trace: Trace) -> None:
        self.compiled, self.trace, self.problem = compiled, trace, compiled.problem
        self.places = sorted(place for place, kept in trace.kept.items() if kept or trace.bound is not None)
        self.numbers = {place: number for number, place in enumerate(self.places)}

    def evidence(self) -> dict[str, Any]:
        return {
            "method": "cone",
            "nodes": [self._node(place) for place in self.places],
            "starts": [self._start(number, begin) for number, begin in enumerate(self.compiled.begins)],
        }

    def _start(self, number: int, begin: Begin) -> dict[str, Any]:
        place = (0, self.problem.starts[number].location)
        result: dict[str, Any] = {"left": _numbers(begin.pair.left), "right": _numbers(begin.pair.right)}
        if begin.pair.only is not None:
            result["only"] = begin.pair.only
        if begin.finish is not None:
            result["finish"] = begin.finish
        return result | {
            "node": self.numbers.get(place, 0),
            "multipliers": self._multipliers(place, self.trace.starts[number]),
        }

    def _node(self, place: Place) -> dict[str, Any]:
        level, location = place
        here = self.problem.locations[location]
        kept = self.trace.kept[place]
        generators = [_generator(vector) for vector in kept] + self._diagonal(place)
        onward = []
        for number, edge in enumerate(here.edges if level < self.trace.last else ()):
            target = (level + 1, edge.target)
            if target in self.numbers:
                reasons = [self.trace.forgotten.get((place, i, number)) for i in range(len(kept))]
                rows = [[] if reason is None else self._multipliers(target, reason) for reason in reasons]
                if self.trace.bound is not None:
                    rows += [self._row(target, edge.left, s) for s in range(here.left_size)]
                if any(rows):
                    letter = letter_document(edge.letter)
                    onward.append({"letter": letter, "node": self.numbers[target], "multipliers": rows})
        result: dict[str, Any] = {"generators": generators, "next": onward}
        left, right = self.compiled.left[location], self.compiled.right[location]
        if level == self.trace.last:
            left, right = (_after(c, n) for c, n in zip((left, right), self.trace.counted[location], strict=True))
        if not _identity(left) or not _identity(right):
            result["classes"] = {"left": list(left), "right": list(right)}
        return result

    def _size(self, place: Place) -> int:
        if place[0] < self.trace.last:
            return self.problem.locations[place[1]].left_size
        return 1 + max((c for c in self.trace.counted[place[1]][0] if c is not None), default=-1)

    def _diagonal(self, place: Place) -> list[dict[str, Any]]:
        """The generators ``(c e_s, e_s)`` in integers, where the search used them."""
        if self.trace.bound is None:
            return []
        p, q = self.trace.bound.numerator, self.trace.bound.denominator
        size = self._size(place)
        return [{"left": _unit(size, s, p), "right": _unit(size, s, q), "weight": 0} for s in range(size)]

    def _multipliers(self, place: Place, reason: Dominated) -> list[list[Any]]:
        if reason.diagonal is None:
            return [[index, str(factor * reason.scale)] for index, factor in reason.by]
        assert self.trace.bound is not None
        offset, p = len(self.trace.kept[place]), self.trace.bound.numerator
        return [[offset + s, str(x * reason.scale / p)] for s, x in enumerate(reason.diagonal) if x]

    def _row(self, target: Place, matrix: Matrix, state: int) -> list[list[Any]]:
        """How the product of a diagonal generator is covered: by the row of the matrix."""
        offset = len(self.trace.kept[target])
        if target[0] < self.trace.last:
            return [[offset + column, str(entry)] for column, entry in matrix.rows[state]]
        sums: dict[int, Rational] = {}
        for column, entry in matrix.rows[state]:
            counted = self.trace.counted[target[1]][0][column]
            if counted is not None:
                sums[counted] = sums.get(counted, ZERO) + entry
        return [[offset + c, str(entry)] for c, entry in sorted(sums.items())]


def _after(classes: Classes, counted: Counted) -> Classes:
    """From states through coordinates to what the final columns count."""
    return tuple(None if c is None else counted[c] for c in classes)


def _generator(vector: Reached) -> dict[str, Any]:
    return {"left": list(vector.left), "right": list(vector.right), "weight": vector.weight}


def _unit(size: int, state: int, value: int) -> list[int]:
    return [value if i == state else 0 for i in range(size)]


def _identity(classes: Classes) -> bool:
    return classes == tuple(range(len(classes)))
