"""Gaussian noise whose shifts depend on the foretold result: prophecy is taxed.

Theorem.  Suppose that each shift of Gaussian noise depends on the inputs, on the foretold result and on the path before its draw
alone, that ``sum s^2 / sigma^2 <= mu^2`` on every path to that result, and that the result has at most m values.  Then
``P(E) <= e^(B+e) Q(E) + m H_mu(e)``.  For given the result a, the shifts are settled, and the noises that lead to it are
translated into such as lead to it on the other side, so that the part of E with the result a is bounded as if nothing were
foretold, with H_mu(e) for each a.  (Where a run does not lead to a, its shifts may be stopped as soon as they come to more than
mu^2: this changes nothing on the runs that do.)  The factor is needed: above threshold with Gaussian noise alone gives away 0.0638 on
a million answers, while H_mu is 0.016.

All discrete parts of the result are foretold.  How many values a truth value has is known, and a tag that is written down; of one
whole number the certificate says between which bounds it lies, expressions in the length of the lists and in public numbers, and the
checker shows it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from privproof.evidence.checker.documents import an_object, only_members
from privproof.evidence.checker.outcomes import Limits, refuse
from privproof.evidence.checker.programs.evaluating import Value
from privproof.evidence.checker.programs.flow import Flow
from privproof.evidence.checker.programs.inputs import Affine, read_affine
from privproof.evidence.checker.programs.instructions import Return
from privproof.evidence.checker.programs.states import State
from privproof.evidence.checker.programs.terms import INT, REAL, both, number, plus, real, times
from privproof.exact import ONE

_PLACE = "evidence.foretold"


@dataclass(frozen=True)
class Foretold:
    """What the shifts of Gaussian noise may depend on.

    Attributes:
        many: how many results there are.
        ranges: between which bounds each whole number of the result lies; None where no shift depends on the result.
    """

    many: Affine = field(default_factory=lambda: Affine(ONE, {}))
    ranges: Mapping[int, tuple[Affine, Affine]] | None = None

    def obligations(self, result: Sequence[Value], state: State) -> Iterator[tuple[str, str]]:
        """That whole numbers lie between their bounds."""
        for position, (low, high) in (self.ranges or {}).items():
            value = real(result[position].one, INT)
            inside = both((f"(<= {_term(low, state)} {value})", f"(<= {value} {_term(high, state)})"))
            yield f"part {position} of the result lies between its bounds", inside


def _term(affine: Affine, state: State) -> str:
    parts = [number(affine.constant, REAL)]
    return plus(*parts, *(times(factor, f"(to_real {state.own(name)})", REAL) for name, factor in affine.terms.items()))


def _tags(position: int, flow: Flow) -> set[object]:
    """The tags that a part of the result may be; refuses any that is not written down."""
    found: set[object] = set()
    for step in flow.program.code:
        waiting = [step.parts[position]] if isinstance(step, Return) else []
        while waiting:
            part = waiting.pop()
            if part.head == "if":
                waiting += part.parts[1:]
            elif part.head == "literal":
                found.add(part.value)
            else:
                refuse(f"part {position} of the result may be any tag", part.place)
    return found


def read_foretold(value: object, flow: Flow, limits: Limits) -> Foretold:
    """What is foretold, and how many results there are."""
    given = an_object(value, _PLACE)
    declared = flow.program.declared
    many, ranges = ONE, {}
    for position, sort in flow.outputs.items():
        if sort == "int":
            place = f"{_PLACE}.{position}"
            ends = an_object(given.get(str(position)), place)
            only_members(ends, ("low", "high"), place)
            low, high = (
                read_affine(an_object(ends.get(end), f"{place}.{end}"), declared, f"{place}.{end}", limits)
                for end in ("low", "high")
            )
            ranges[position] = (low, high)
        else:
            many *= 2 if sort == "bool" else len(_tags(position, flow))
    if set(given) != {str(position) for position in ranges}:
        refuse("bounds are given for the whole numbers of the result, and for nothing else", _PLACE)
    if not ranges:
        return Foretold(Affine(many, {}), {})
    if len(ranges) > 1:
        refuse("at most one whole number of the result is foretold here", _PLACE)
    [(low, high)] = ranges.values()
    width = high.minus(low)
    return Foretold(Affine(width.constant + 1, width.terms).times(many), ranges)
