"""Invariants by conjecture: simple bounds are assumed at every cut, and dropped until those that are left keep each other.

Spacer finds invariants of any form, but whether it finds one at all is a matter of luck where counters, costs and public numbers meet.
What is needed there is simple as a rule: a cost is at most a multiple of a counter, a distance lies between two constants, a counter is
at most what the test of its loop says and one step more.  All such bounds are assumed together; a path that breaks some of them drops
these; what is left in the end holds (Flanagan and Leino 2001, "Houdini, an annotation assistant for ESC/Java").
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from types import MappingProxyType

from privproof.engines.laplace.blocks import Blocks
from privproof.engines.laplace.one_change import change_conjectures, is_about_change, plain_conjectures
from privproof.engines.laplace.products import product_name
from privproof.engines.laplace.solver import Substitution, ask_solver, true, z3
from privproof.engines.laplace.values import Term, number, real
from privproof.exact import Rational

_FACTORS = (*tuple(Fraction(1, k) for k in (8, 6, 4, 3, 2)), Fraction(1), Fraction(3, 2), Fraction(2))
"""Multiples of a counter that a cost may be at most: what noise of the usual scales costs in one step."""
_ENDS = tuple(Fraction(k, 2) for k in range(-4, 5))
"""Constants between which distances and costs may lie."""
_STEPS = (-2, -1, 0, 1, 2)
"""What may be added to a multiple of a public number that bounds a counter."""
_EFFORT = 400_000
"""Z3's resource limit of one question; a conjecture that is not settled by then is dropped."""


@dataclass(frozen=True)
class Implication:
    """What must hold at a cut after a path, given what holds at the cut before it.

    Attributes:
        source: the cut before; None for the start.
        before: the symbols there.
        fresh: the symbols of what is read and drawn on the path.
        body: when the path is taken.
        target: the cut after; None where the path must not be taken at all.
        after: the terms of the symbols there.
    """

    source: int | None
    before: tuple[Term, ...]
    fresh: tuple[Term, ...]
    body: Term
    target: int | None
    after: tuple[Term, ...]


def counter(group: tuple[str, ...]) -> str:
    """The name of the counter of a group."""
    return " ".join(("cost", *group))


def symbols(blocks: Blocks, cut: int) -> dict[str, Term]:
    """All symbols that an invariant may speak of."""
    result = {**blocks.fixed, **blocks.state(cut)}
    for group in blocks.counters:
        made = z3.Int if group in blocks.logarithms else z3.Real
        result[counter(group)] = made(counter(group))
    if blocks.prophesied:
        result["ok"] = z3.Bool("ok")
    return result


def conjecture_invariants(
    blocks: Blocks,
    steps: Sequence[Implication],
    pause: Callable[[], None] = lambda: None,
    limits: Mapping[tuple[str, ...], Term] = MappingProxyType({}),
    slopes: Mapping[tuple[str, ...], Sequence[Rational]] = MappingProxyType({}),
) -> dict[int, Term] | None:
    """Formulas for the cuts, made of simple bounds, if such are enough.

    Args:
        blocks: the program.
        steps: what must be kept.
        pause: called now and then.
        limits: those of the counters in the end.
        slopes: how much the limit of a counter grows with a number.
    """
    held = {
        cut: [*_conjectures(blocks, cut), *_limited(limits), *_growing(blocks, cut, limits, slopes)]
        for cut in blocks.program.cuts
    }
    if not blocks.program.kept:
        _keep(blocks, steps, held, pause)
        if _suffices(steps, held):
            return _formulas(held)
    if not is_about_change(blocks):
        return None
    settled = {cut: list(plain_conjectures(blocks, blocks.state(cut))) for cut in blocks.program.cuts}
    _keep(blocks, steps, settled, pause)
    for cut in held:
        costs = {group: z3.Real(counter(group)) for group in blocks.counters if group not in blocks.logarithms}
        held[cut] = [*settled[cut], *change_conjectures(blocks, blocks.state(cut), costs, settled[cut])]
    _keep(blocks, steps, held, pause)
    return _formulas(held) if _suffices(steps, held) else None


def _formulas(held: Mapping[int, list[Term]]) -> dict[int, Term]:
    return {cut: z3.And(*terms) if terms else true() for cut, terms in held.items()}


def _keep(blocks: Blocks, steps: Sequence[Implication], held: dict[int, list[Term]], pause: Callable[[], None]) -> None:
    """Drop conjectures until those that are left keep each other."""
    before = -1
    while before != (before := sum(map(len, held.values()))):
        for step in steps:
            if step.target is not None:
                pause()
                _drop(blocks, step, held)


def _suffices(steps: Sequence[Implication], held: Mapping[int, list[Term]]) -> bool:
    """Whether what is held excludes the paths that must not be taken."""
    return all(ask_solver(_asked(step, held)) == z3.unsat for step in steps if step.target is None)


def _asked(step: Implication, held: Mapping[int, list[Term]]) -> Term:
    """A solver that knows when a path is taken, and what is assumed where it begins."""
    solver = z3.SolverFor("QF_LIRA")
    solver.set("rlimit", _EFFORT)
    solver.add(step.body)
    if step.source is not None:
        solver.add(*held[step.source])
    return solver


def _drop(blocks: Blocks, step: Implication, held: dict[int, list[Term]]) -> None:
    """Drop the conjectures that a path breaks."""
    assert step.target is not None
    names = symbols(blocks, step.target).values()
    solver = _asked(step, held)
    left = list(held[step.target])
    behind = Substitution(list(zip(names, step.after, strict=True)))
    put = {term.get_id(): behind.plain(term) for term in left}
    while left:
        solver.push()
        solver.add(z3.Not(z3.And(*(put[term.get_id()] for term in left))))
        answer = ask_solver(solver)
        if answer == z3.sat:
            model = solver.model()
            left = [t for t in left if z3.is_true(model.eval(put[t.get_id()], model_completion=True))]
        solver.pop()
        if answer == z3.unsat:
            break
        if answer == z3.unknown:
            left = [t for t in left if _follows(solver, put[t.get_id()])]
            break
    held[step.target] = left


def _follows(solver: Term, term: Term) -> bool:
    solver.push()
    solver.add(z3.Not(term))
    answer = ask_solver(solver)
    solver.pop()
    return bool(answer == z3.unsat)


def _conjectures(blocks: Blocks, cut: int) -> Iterator[Term]:
    """Simple bounds of the state at a cut."""
    state = blocks.state(cut)
    costs = [z3.Real(counter(group)) for group in blocks.counters if group not in blocks.logarithms]
    public = [blocks.fixed[name] for name in blocks.mechanism.public_numbers if name in blocks.fixed]
    sizes = [blocks.fixed["size"]] if "size" in blocks.fixed else []
    counters = [
        term
        for name, term in state.items()
        if blocks.program.sorts.get(name) == "int" and name not in blocks.program.high
    ]
    for cost in costs:
        yield cost >= 0
        for end in _ENDS:
            if end >= 0:
                yield cost <= number(end)
        for count in counters:
            for factor in _FACTORS:
                yield cost <= number(factor) * real(count)
    yield from _exchange_conjectures(blocks, counters)
    products = [blocks.fixed[product_name(names)] for names in blocks.products]
    for count in counters:
        for step in _STEPS:
            yield count >= step
            for top in (*sizes, *public, *products):
                yield count <= top + step
            for top in public:
                yield count <= 2 * top + step
    for name, term in state.items():
        if name.endswith(": distance"):
            for end in _ENDS:
                yield real(term) <= number(end)
                yield real(term) >= number(end)


def _limited(limits: Mapping[tuple[str, ...], Term]) -> list[Term]:
    """That no counter ever holds more than in the end."""
    return [z3.Real(counter(group)) <= limit for group, limit in limits.items()]


def _growing(
    blocks: Blocks,
    cut: int,
    limits: Mapping[tuple[str, ...], Term],
    slopes: Mapping[tuple[str, ...], Sequence[Rational]],
) -> Iterator[Term]:
    """That a counter whose limit grows with a number has grown as much with a counter of the program, and no more."""
    counted = [
        real(term)
        for name, term in blocks.state(cut).items()
        if blocks.program.sorts.get(name) == "int" and name not in blocks.program.high
    ]
    tops = [real(blocks.fixed[name]) for name in (*blocks.mechanism.public_numbers, "size") if name in blocks.fixed]
    for group, factors in slopes.items():
        cost = z3.Real(counter(group))
        for factor in factors:
            for count in counted:
                yield cost <= number(factor) * count
                yield from (cost <= limits[group] - number(factor) * (top - count) for top in tops)


def _exchange_conjectures(blocks: Blocks, counters: Sequence[Term]) -> Iterator[Term]:
    """Bounds of costs that are paid in advance: what is left of the payment, and how often it was made."""
    for each in blocks.exchanges:
        paid = number(each.times) * real(blocks.fixed[each.by])
        cost, other = z3.Real(counter(each.names)), z3.Real(counter(each.others))
        for count in counters:
            for factor in dict.fromkeys((each.times, *_FACTORS)):
                yield cost + paid <= number(factor) * real(count)
            for step in (0, 1):
                yield other <= number(each.most) * real(count + step)
