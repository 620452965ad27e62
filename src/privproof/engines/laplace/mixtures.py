"""Mixtures over the coins of a record: amplification by subsampling, and answers of records at random that are added up.

A mechanism that tosses coins for every record is a mixture of the one that finds them in its records (`compiling.coins`).  Fix the coins
of all other records: they are the same in both runs.  Then the output has the law ``sum_s P(s) M_s`` in the first run and
``sum_t Q(t) M_t`` in the second, where s and t are *classes* of the record together with its coins.  Alignments bound ``M_s`` by
``rho_st M_t``, whatever the other records are.

*Theorem.*  If every ``P(s)`` is split up among classes t, ``P(s) = sum_t x_st``, and ``sum_s rho_st x_st <= c Q(t)`` for all t, then c
bounds the ratio.  *Proof.*  ``sum_s P(s) M_s = sum_st x_st M_s <= sum_st x_st rho_st M_t <= c sum_t Q(t) M_t``; average over the other
coins.  The smallest such c is a transportation problem, solved in rational numbers.

Where a record is added or removed, the run without it has the one class of a record that is not there.  With one coin, "the record is
taken", of probability p, this gives ``1 + p (e^a - 1)``; and where the record is replaced, with ``M_1 <= e^a M_1'`` and ``M_1 <= e^b M_0``,
``e^a (1 + r e^b) / (e^a + r e^b)`` for r = p/(1-p).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations_with_replacement, product
from math import prod
from typing import Any

from privproof.compiling.coins import VALUE, Tossed
from privproof.compiling.relational import Class, Program, program_for_alignment
from privproof.compiling.rewriting import Unsupported
from privproof.engines.laplace.horn import Bound
from privproof.engines.laplace.proving import AlignmentProof, cheapest
from privproof.engines.search_monitor import Monitor
from privproof.errors import LanguageError
from privproof.exact import ONE, ZERO, Epsilon, Rational, fraction, log, rational
from privproof.exact.balls import rational_bounds
from privproof.exact.shipping import ProgramTooLarge, Shares, cheapest_shipment
from privproof.language.evaluating import WRONG, evaluator
from privproof.language.flow import instruction_reads
from privproof.language.inputs import ADD_REMOVE
from privproof.language.row import Row
from privproof.language.syntax import Assign, Constant, Element, Expression, Operation, Variable
from privproof.language.walking import rewrite_expression, variables, within

_MOST_CLASSES = 16
"""Classes of a record with its coins: what is proved of every pair of them takes a fraction of a second each; more are not tried."""
_MOST_GROUPS = 12
"""Proofs of a tenth of a second each, as many as a second has room for; beyond them pairs share a proof that need not."""
_MOST_RECORDS = 24
"""Records are told apart where there are so many at most; beyond them, only by their coins."""
_MOST_OUTCOMES = 4_096
"""Outcomes of all coins of a record, which are listed; more are not tried."""
_DECIMALS = 10**15
"""A bound that is no logarithm of a rational number is rounded up to so many parts of one."""

Vector = tuple[Rational, ...]


@dataclass(frozen=True)
class Pairing:
    """Pairs of classes, and a proof of what a change of the record between them costs, either way."""

    between: tuple[tuple[int, int | None], ...]
    proof: AlignmentProof
    epsilon: Epsilon


@dataclass(frozen=True)
class Plan:
    """How the law of one record is covered by that of another; records by their numbers, None for one that is not there, or for any."""

    left: int | None
    right: int | None
    shares: Shares


@dataclass(frozen=True)
class Mixture:
    """A proof about a mechanism that tosses coins for its records.

    Attributes:
        tossed: the mechanism.
        program: that of the mechanism that tosses none.
        classes: the classes of a record with its coins.
        pairings: what changes cost.
        plans: how laws are covered; those of the numbers -1 have no record.
        ratio: e^epsilon is at most this.
        epsilon: the bound.
    """

    tossed: Tossed
    program: Program
    classes: tuple[Class, ...]
    pairings: tuple[Pairing, ...]
    plans: tuple[Plan, ...]
    epsilon: Epsilon


NOWHERE = -1
"""The number of the class, and of the record, that is not there."""


def mixture(tossed: Tossed, size: int | None, monitor: Monitor) -> Mixture | str:
    """The smallest bound that alignments and a mixture of them give; or why there is none."""
    try:
        program = program_for_alignment(tossed.mechanism, size=size)
    except (Unsupported, LanguageError) as problem:
        return str(problem)
    found = _told_apart(tossed, program) or _by_coins(tossed)
    if found is None:
        return "the coins of a record have too many outcomes"
    pairings, reason = [], ""
    for between in found.groups(added=program.relation == ADD_REMOVE):
        monitor.pause()
        chosen = tuple((found.classes[one], None if other is None else found.classes[other]) for one, other in between)
        proof = cheapest(tossed.mechanism, program, chosen, monitor)
        if isinstance(proof, AlignmentProof):
            pairings.append(Pairing(between, proof, spent_by(proof)))
        else:
            reason = proof.reason
    planned = _planned(tossed, program, found, tuple(pairings))
    return reason or planned if isinstance(planned, str) else planned


def factor(value: Epsilon) -> Rational:
    """A rational number that is e^epsilon, or a little above it."""
    return value.ratio if value.root == 1 and value.shift == 0 else value.enclosure()[1]


def spent_by(proof: AlignmentProof) -> Epsilon:
    """What an alignment costs at most."""

    def power(bound: Bound) -> Rational:
        return proof.blocks.logarithms[bound.group] ** int(bound.limit.constant.floor())

    logarithms = [bound for bound in proof.bounds if bound.group in proof.blocks.logarithms]
    shift = sum((bound.limit.constant for bound in proof.bounds if bound not in logarithms), ZERO)
    return Epsilon(prod(map(power, logarithms), start=ONE), 1, shift)


@dataclass(frozen=True)
class _Classes:
    """Classes of a record with its coins.

    Attributes:
        classes: the classes.
        laws: for every record, or for all of them, the probability of each class.
        vectors: what the records of a class add to the totals, where they all add the same.
    """

    classes: tuple[Class, ...]
    laws: tuple[Mapping[int, Rational], ...]
    vectors: tuple[Vector, ...] = ()

    def groups(self, *, added: bool) -> Iterator[tuple[tuple[int, int | None], ...]]:
        """The pairs of classes that are proved together: those that change the same totals by the same numbers.

        Where these are many, those that change some totals by the same numbers: a histogram has many cells and one scale.
        """
        numbers = range(len(self.classes))
        pairs: list[tuple[int, int | None]] = []
        pairs += [(n, None) for n in numbers] if added else combinations_with_replacement(numbers, 2)
        if not self.vectors:
            yield from ((pair,) for pair in pairs)
            return
        for same in (True, False):
            found: dict[tuple[tuple[int, Fraction], ...], list[tuple[int, int | None]]] = {}
            for one, other in pairs:
                there = self.vectors[one]
                back = (ZERO,) * len(there) if other is None else self.vectors[other]
                apart = [(k, abs(fraction(a - b))) for k, (a, b) in enumerate(zip(there, back, strict=True)) if a != b]
                moved = tuple(apart if same else sorted((0, by) for _, by in apart))
                found.setdefault(moved, []).append((one, other))
            if len(found) <= _MOST_GROUPS:
                break
        yield from map(tuple, found.values())


def _told_apart(tossed: Tossed, program: Program) -> _Classes | None:
    """Classes by what a record with its coins adds to the totals; None where records are not listed, or add what depends on more."""
    declared = tossed.original.inputs[tossed.source]
    if declared.fields or declared.values is None or len(declared.values) > _MOST_RECORDS:
        return None
    added = _added(program)
    if added is None:
        return None
    rows: dict[Vector, list[Mapping[str, object]]] = {}
    laws: list[dict[Vector, Rational]] = []
    for number, record in enumerate(declared.values):
        law: dict[Vector, Rational] = {}
        for outcome, probability in _outcomes(tossed, number):
            row = {VALUE: record, **outcome}
            try:
                vector = tuple(rational(fraction(each({"#": Row(**row)}))) for each in added)
            except WRONG:
                return None
            rows.setdefault(vector, []).append(row)
            law[vector] = law.get(vector, ZERO) + probability
        laws.append(law)
    if len(rows) > _MOST_CLASSES:
        return None
    order = {vector: number for number, vector in enumerate(rows)}
    numbered = tuple({order[vector]: p for vector, p in law.items()} for law in laws)
    return _Classes(tuple(map(tuple, rows.values())), numbered, tuple(rows))


def _by_coins(tossed: Tossed) -> _Classes | None:
    """Classes by how the coins fell, whatever the record; None where their law depends on it."""
    if any(len(coin.laws) > 1 for coin in tossed.coins):
        return None
    outcomes = list(_outcomes(tossed, 0))
    if len(outcomes) > _MOST_CLASSES:
        return None
    return _Classes(tuple((outcome,) for outcome, _ in outcomes), (dict(enumerate(p for _, p in outcomes)),))


def _outcomes(tossed: Tossed, record: int) -> Iterator[tuple[dict[str, object], Rational]]:
    """How the coins of a record may fall, with the probabilities."""
    laws = [coin.laws[record if len(coin.laws) > 1 else 0] for coin in tossed.coins]
    if prod(map(len, laws)) > _MOST_OUTCOMES:
        return
    for fallen in product(*laws):
        outcome = {coin.name: value for coin, (value, _) in zip(tossed.coins, fallen, strict=True)}
        yield outcome, prod((p for _, p in fallen), start=ONE)


def _added(program: Program) -> list[Any] | None:
    """What a record adds to every total, as functions of the record; None where this depends on more than the record."""
    constants: dict[str, Expression | None] = {}
    for step in program.code:
        if isinstance(step, Assign):
            constants[step.name] = step.value if step.name not in constants and _is_constant(step.value) else None
    found: dict[Expression, None] = {}
    for step in program.code:
        for expression in instruction_reads(step):
            for part in within(expression):
                if isinstance(part, Operation) and part.name == "total":
                    found[rewrite_expression(part.arguments[1], lambda e: _plain(e, constants))] = None
    if any(name != "#" for added in found for name in variables(added)):
        return None
    return [evaluator(added) for added in found]


def _is_constant(value: Expression) -> bool:
    return isinstance(value, Constant)


def _plain(expression: Expression, constants: Mapping[str, Expression | None]) -> Expression | None:
    """An expression without what only speaks of records."""
    match expression:
        case Operation("record", _, place):
            return Variable("#", place)
        case Operation("field", (record, name), place):
            return Element(record, name, place)
        case Variable(name):
            return constants.get(name)
        case _:
            return None


def _planned(tossed: Tossed, program: Program, found: _Classes, pairings: tuple[Pairing, ...]) -> Mixture | str:
    """The mixture, with a plan for every pair of records."""
    factors: dict[tuple[int, int], Rational] = {}
    for pairing in pairings:
        for one, other in pairing.between:
            there = NOWHERE if other is None else other
            factors[one, there] = factors[there, one] = factor(pairing.epsilon)
    absent = {NOWHERE: ONE}
    sides: list[tuple[int | None, int | None, Mapping[int, Rational], Mapping[int, Rational]]] = []
    if program.relation == ADD_REMOVE:
        for number, law in enumerate(found.laws):
            sides += [(number, None, law, absent), (None, number, absent, law)]
    elif len(found.laws) == 1:
        sides.append((0, 0, found.laws[0], found.laws[0]))
    else:
        numbers = range(len(found.laws))
        sides += [(a, b, found.laws[a], found.laws[b]) for a in numbers for b in numbers if a != b]
    most, plans = ONE, []
    for left, right, amounts, rooms in sides:
        try:
            shipped = cheapest_shipment(amounts, rooms, lambda s, t: factors.get((s, t)))
        except ProgramTooLarge:
            return "the coins of a record have too many outcomes"
        if shipped is None:
            return "an outcome of the coins is possible for one record and not for another"
        ratio, shares = shipped
        most = max(most, ratio)
        plans.append(Plan(left, right, shares))
    exact = all(pairing.epsilon.shift == 0 for pairing in pairings)
    return Mixture(
        tossed, program, found.classes, pairings, tuple(plans), log(most) if exact else rounded_up(log(most))
    )


def rounded_up(value: Epsilon) -> Epsilon:
    """A decimal fraction that is a little above an epsilon."""
    _, high = rational_bounds(value.ball())
    return Epsilon(shift=rational(Fraction(-(-fraction(high) * _DECIMALS // 1), _DECIMALS)))


def used_pairings(found: Mixture) -> list[Pairing]:
    """The pairings that the plans make use of."""
    moved = {frozenset(pair) for plan in found.plans for pair in plan.shares}

    def serves(pairing: Pairing) -> bool:
        return any(frozenset((one, NOWHERE if other is None else other)) in moved for one, other in pairing.between)

    return [pairing for pairing in found.pairings if serves(pairing)]
