"""A proof by alignment in words: what every line pays, and the two runs as one program.

The program is printed as in the appendix of CheckDP (Wang, Ding, Kifer and Zhang 2020): the mechanism's own statements, and between
them what the second run adds: how far its values are from the first run's (``x'-x`` is written ``d(x)``), the assertions that it
decides and writes alike, and the counters of what the shifts cost.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from flint import arb

from privproof.compiling.scales import SQUARES
from privproof.engines.laplace.alignments import Shift, cases
from privproof.engines.laplace.certificates import conditions
from privproof.engines.laplace.expression_texts import Writer
from privproof.engines.laplace.horn import Bound
from privproof.engines.laplace.paths import DrawnNoise, Path
from privproof.engines.laplace.printing import (
    Printer,
    common_cases,
    shift_words,
    situation_words,
    times_words,
    unit_words,
)
from privproof.engines.laplace.promises import Promise
from privproof.engines.laplace.proving import AlignmentProof, steps_of
from privproof.engines.laplace.squares import given_away
from privproof.evidence.verdicts import Charge, Explanation
from privproof.exact import decimal, fraction, rational
from privproof.exact.affine import Affine
from privproof.exact.balls import precision, rational_bounds
from privproof.exact.number_texts import rounded_decimal, short
from privproof.language.syntax import Sample

_BITS = 128
"""Bits of a delta that is shown."""
_GRID = 10**30
"""A delta is rounded up to a multiple of its inverse, so that it can be written down."""


def explanation(proof: AlignmentProof) -> Explanation:
    """Why the claim of a proof holds, in words."""
    writer = Writer(proof.program.body)
    together = proof.counted_together()
    exchanged = {group for each in proof.blocks.exchanges for group in (each.names, each.others)}
    joint = []
    if together is not None:
        grown = " or ".join(" * ".join(group) for group in together[0])
        joint.append(f"noise whose scale grows with {grown} costs at most {together[1]}")
    totals = [_total(proof, bound) for bound in proof.bounds if bound.group not in exchanged]
    return Explanation(
        tuple(_charges(proof, writer)),
        (*totals, *joint, *map(_promise_words, proof.blocks.promises)),
        "\n".join(Printer(proof, writer).lines()),
        conditions(proof),
    )


def _total(proof: AlignmentProof, bound: Bound) -> str:
    group, limit = bound.group, bound.limit
    if group == SQUARES and (found := _given_away(proof)) is not None:
        left, delta = found
        with precision(_BITS):
            told = "nothing" if delta == 0 else rounded_decimal(delta)
        if (results := proof.blocks.results) is not None:
            fewer = "" if results.paid == results.many else ", all but one,"
            told += f" for each of {results.many} results{fewer}"
        return f"Gaussian noise: squares of at most {short(limit.constant)} give away {told} where {left} is left of epsilon"
    if group == SQUARES:
        return f"Gaussian noise comes to at most {limit} in squares"
    if group in proof.blocks.logarithms:
        return f"geometric noise costs at most {times_words(Fraction(str(limit.constant)), unit_words(proof, group))}"
    if not group:
        return f"noise of a fixed scale costs at most {limit}"
    return f"noise whose scale grows with {' * '.join(group)} costs at most {limit}"


def _promise_words(promise: Promise) -> str:
    far, price = decimal(rational(promise.far), digits=6), decimal(rational(promise.price), digits=6)
    where = {
        "below": f"{far} or more",
        "above": f"-{far} or less",
        "against": f"{far} or further to where it came from",
    }
    often = "" if promise.times == 1 else f", {promise.times} times"
    drawn = "where it is drawn" if promise.always else "where its centre differs"
    drawn = drawn if promise.paid is None else "where its centre falls"
    return (
        f"up to bad noise: {drawn}{often}, {promise.law.kind} noise is {where[promise.side]} with probability {price}"
    )


def costs_of(proof: AlignmentProof) -> tuple[Fraction, Affine] | None:
    """What other noise costs, and what Gaussian noise comes to in squares, which may grow; None where there is none."""
    squares = next((bound.limit for bound in proof.bounds if bound.group == SQUARES), None)
    if squares is None:
        return None
    others = sum((fraction(bound.limit.constant) for bound in proof.bounds if bound.group != SQUARES), Fraction(0))
    return others, squares


def _given_away(proof: AlignmentProof) -> tuple[Fraction, arb] | None:
    """What other noise leaves of epsilon to Gaussian noise, and the delta that this gives away; None where it grows."""
    costs = costs_of(proof)
    if costs is None or costs[1].terms:
        return None
    left = fraction(proof.budget.constant) - costs[0]
    with precision(_BITS):
        return left, given_away(
            fraction(costs[1].constant), arb(rational(left)), steps_of(proof.blocks, proof.alignment)
        )


def given_away_by(proof: AlignmentProof) -> tuple[Fraction, Fraction] | None:
    """Between which numbers the smallest delta lies; None where nothing is given away."""
    found = _given_away(proof)
    if found is None and not proof.blocks.promises:
        return None
    total = sum((promise.price for promise in proof.blocks.promises), Fraction(0))
    if found is not None:
        _, high = rational_bounds(found[1])
        results = proof.blocks.results
        many = Affine(rational(1)) if results is None else results.paid
        if many.terms and proof.program.size is None:
            return None
        times = fraction(many.at({"size": proof.program.size or 0}))
        total += times * Fraction(-int(-high.p * _GRID // high.q), _GRID)
    return Fraction(0), min(Fraction(1), total)


def _charges(proof: AlignmentProof, writer: Writer) -> Iterator[Charge]:
    program = proof.program
    lines: dict[tuple[int, str, str, str], list[list[str]]] = {}
    quiet: dict[int, Charge] = {}
    for path in proof.blocks.paths:
        for case in cases(proof.blocks, path):
            for drawn in path.drawn:
                sample = program.code[drawn.instruction]
                assert isinstance(sample, Sample)
                shift = proof.alignment.shift(path, case, drawn.instruction)
                code = writer.noise(sample)
                if not any(shift.factors.values()):
                    quiet[drawn.instruction] = Charge(sample.place.line, code, "otherwise", "0", "0")
                    continue
                entry = (
                    drawn.instruction,
                    code,
                    shift_words(shift, path, writer, program),
                    cost_words(shift, path, drawn, proof, writer),
                )
                lines.setdefault(entry, []).append(situation_words(path, case, program, writer))
    seen: set[int] = set()
    for (instruction, code, shift_, cost), situations in sorted(lines.items(), key=lambda item: item[0][0]):
        seen.add(instruction)
        line = program.code[instruction].place.line
        yield Charge(line, code, common_cases(situations), shift_, cost)
    for instruction, charge in sorted(quiet.items()):
        yield charge if instruction in seen else Charge(charge.line, charge.code, "", "0", "0")


def cost_words(shift: Shift, path: Path, drawn: DrawnNoise, proof: AlignmentProof, writer: Writer) -> str:
    """What a shift costs at most: its largest size divided by the scale; a formula where the size is not known."""
    inputs = proof.program.inputs
    sizes: list[Fraction] = []
    for (kind, name), factor in shift.factors.items():
        source = path.reads[name].source if kind == "read" else name
        if kind != "constant" and factor:
            within = inputs[source].within if source in inputs else None
            if within is None:
                moved = shift_words(shift, path, writer, proof.program)
                moved = moved.removeprefix("-") if len(shift.factors) == 1 else moved
                if drawn.settled:
                    square = short(rational(drawn.variance))
                    return f"({moved})^2/{square if square.isdigit() else f'({square})'}"
                if drawn.whole:
                    return f"|{moved}|*{times_words(1 / drawn.factor, unit_words(proof, drawn.group))}"
                scale = "*".join([str(drawn.factor), *drawn.group])
                return f"|{moved}|" if scale == "1" else f"|{moved}|/{scale if scale.isdigit() else f'({scale})'}"
            sizes.append(abs(factor) * fraction(within))
    widest = max(sizes, default=Fraction(0)) if proof.program.relation == "one" else sum(sizes, Fraction(0))
    if drawn.settled:
        return short(rational(shift.reach(drawn.reach) ** 2 / drawn.variance))
    cost = (abs(shift.constant) + widest) / drawn.factor
    if not drawn.group:
        return str(cost)
    if drawn.whole:
        return times_words(cost, unit_words(proof, drawn.group))
    below = [*([str(cost.denominator)] if cost.denominator > 1 else []), *drawn.group]
    return f"{cost.numerator}/{below[0]}" if len(below) == 1 else f"{cost.numerator}/({'*'.join(below)})"
