"""Repairs: one change of a refuted mechanism after which the claim, or another claim, is proved.

Tried are another claim (the formula that the least costs follow), and more noise at one line, or at all: a factor, or a public number.
The least costs at small sizes sort out most candidates; what is left is proved by an alignment, for every size, before it is suggested.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from privproof.compiling.sorts import CONTINUOUS
from privproof.engines.laplace.changes import summed_alone
from privproof.engines.laplace.proving import FORMS, AlignmentProof, prove
from privproof.engines.laplace.refuting import publics
from privproof.engines.laplace.tight import formula
from privproof.engines.laplace.worst import Region, long_regions, private_names, regions, worst
from privproof.engines.search_monitor import Monitor
from privproof.exact import fraction, rational
from privproof.exact.affine import Affine
from privproof.language.mechanism import Mechanism
from privproof.language.syntax import Constant, Expression, Operation, Sample, Statement, Variable
from privproof.language.taint import samples

_FACTORS = (Fraction(3, 2), Fraction(2), Fraction(3), Fraction(4))
"""By how much more noise, or a larger claim, is tried as a repair; each suggestion has been proved."""


@dataclass(frozen=True)
class Factor:
    """By what the scale of some noise is multiplied: a number, times a public number."""

    number: Fraction
    name: str = ""

    def at(self, public: Mapping[str, Any]) -> Fraction:
        """Its value."""
        return self.number * (public[self.name] if self.name else 1)

    def __str__(self) -> str:
        if not self.name:
            return str(self.number)
        return self.name if self.number == 1 else f"{self.number}*{self.name}"


@dataclass(frozen=True)
class Repair:
    """A change that was proved.

    Attributes:
        claim: another claim, or None.
        lines: the lines whose noise grows.
        factor: by what.
        mechanism: the changed mechanism.
        proof: the proof.
    """

    claim: Affine | None
    lines: tuple[int, ...]
    factor: Factor | None
    mechanism: Mechanism
    proof: AlignmentProof

    def __str__(self) -> str:
        if self.claim is not None:
            return f"claim epsilon = {self.claim}"
        where = f"line {self.lines[0]}" if len(self.lines) == 1 else f"lines {', '.join(map(str, self.lines))}"
        return f"multiply the scale of the noise at {where} by {self.factor}"


def repairs(
    mechanism: Mechanism, relation: str, claim: Affine, monitor: Monitor, *, size: int | None = None
) -> Iterator[Repair]:
    """Changes after which a claim is proved, the simplest first."""
    guessed = None if summed_alone(mechanism) else formula(mechanism, relation, size, monitor)
    if guessed is not None and guessed != claim:
        found = prove(mechanism, guessed, monitor, size=size)
        if isinstance(found, AlignmentProof):
            yield Repair(guessed, (), None, mechanism, found)
    lines = sorted({s.place.line for s in samples(mechanism.translated.body) if s.noise in CONTINUOUS})
    if guessed is None:
        yield from _multiplied(mechanism, claim, tuple(lines), monitor, size)
        return
    listed = _costed(mechanism, size, monitor)
    if not listed:
        return
    names = mechanism.public_numbers
    by_name = [Factor(f, n) for n in names for f in (Fraction(1), Fraction(2))]
    factors = [*by_name, *(Factor(f) for f in _FACTORS)]
    if guessed is not None and not guessed.terms:
        factors = [Factor(f) for f in _FACTORS]
        if not claim.terms and claim.constant > 0:
            factors.insert(0, Factor(fraction(guessed.constant / claim.constant)))
    elif guessed is not None:
        factors = [factor for factor in by_name if factor.name in dict(guessed.terms)]
    done = 0
    for chosen in [*((line,) for line in lines), *([tuple(lines)] if len(lines) > 1 else [])]:
        if done and len(chosen) > 1:
            return
        for factor in factors:
            monitor.pause()
            if not _enough(mechanism, relation, claim, listed, chosen, factor, monitor):
                continue
            changed = louder(mechanism, chosen, factor)
            found = prove(changed, claim, monitor, size=size, forms=FORMS[:2])
            if isinstance(found, AlignmentProof):
                yield Repair(None, chosen, factor, changed, found)
                done += 1
                break


def _multiplied(
    mechanism: Mechanism, claim: Affine, lines: tuple[int, ...], monitor: Monitor, size: int | None
) -> Iterator[Repair]:
    """Where the costs tell nothing: a multiple of the claim, and as many times the noise."""
    for factor in _FACTORS:
        larger = claim.times(rational(factor))
        found = prove(mechanism, larger, monitor, size=size, forms=FORMS[:2])
        if isinstance(found, AlignmentProof):
            yield Repair(larger, (), None, mechanism, found)
            changed = louder(mechanism, lines, Factor(factor))
            again = prove(changed, claim, monitor, size=size, forms=FORMS[:2])
            if isinstance(again, AlignmentProof):
                yield Repair(None, lines, Factor(factor), changed, again)
            return


def _costed(
    mechanism: Mechanism, size: int | None, monitor: Monitor
) -> list[tuple[int | None, dict[str, Any], list[Region]]]:
    """Ways through the mechanism at small sizes."""
    open_size = any(d.shape == "list" and d.size is None for d in mechanism.inputs.values())
    sizes: list[int | None] = [size] if size is not None or not open_size else [2, 3, 6]
    result = []
    for public in publics(mechanism, numbers=(1, 3)):
        for n in sizes:
            found = (
                long_regions(mechanism, n, public, monitor)
                if n is not None and n > 3
                else regions(mechanism, n, public)
            )
            result.append((n, public, found))
    return result


def _enough(
    mechanism: Mechanism,
    relation: str,
    claim: Affine,
    listed: list[tuple[int | None, dict[str, Any], list[Region]]],
    lines: tuple[int, ...],
    factor: Factor,
    monitor: Monitor,
) -> bool:
    """Whether the least costs with more noise stay within the claim at the sizes tried."""
    for size, public, found in listed:
        by = rational(factor.at(public))
        louder_ = [
            replace(one, noises=tuple(replace(n, scale=n.scale * by) if n.line in lines else n for n in one.noises))
            for one in found
        ]
        if not louder_:
            continue
        names = private_names(mechanism, size)
        allowed = claim.at({**public, "size": size or 0})
        if worst(mechanism, relation, louder_, names, monitor.pause)[0].cost > float(allowed) + 1e-9:
            return False
    return True


def louder(mechanism: Mechanism, lines: tuple[int, ...], factor: Factor) -> Mechanism:
    """The mechanism with the scales at some lines multiplied; for proofs only, the function itself stays as it is."""

    def scaled(statement: Statement) -> Statement:
        if isinstance(statement, Sample):
            if statement.noise not in CONTINUOUS or statement.place.line not in lines:
                return statement
            center, scale, *rest = statement.arguments
            by: Expression = Constant(factor.number, statement.place)
            if factor.name:
                by = Operation("*", (by, Variable(factor.name, statement.place)), statement.place)
            return replace(statement, arguments=(center, Operation("*", (scale, by), statement.place), *rest))
        fields = {
            name: tuple(scaled(s) for s in getattr(statement, name))
            for name in ("then", "otherwise", "body")
            if hasattr(statement, name)
        }
        return replace(statement, **fields) if fields else statement  # type: ignore[arg-type]

    translated = mechanism.translated
    return replace(mechanism, proposed=replace(translated, body=tuple(scaled(s) for s in translated.body)))
