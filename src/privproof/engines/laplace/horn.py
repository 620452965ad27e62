"""From an alignment to a proof for every size: the verification conditions as constrained Horn clauses, and their invariant.

One relation for every cut, one clause for every path and case; Z3's Spacer finds formulas for the relations, the invariants, or says
that there is a run that fails.  Costs are counted in one counter for every product of public numbers that scales are multiples of, so that
everything stays linear: noise of scale ``4*N`` shifted by 2 adds 1/2 to the counter of N.  Geometric noise has a counter of whole numbers
for every logarithm: noise with alpha = 1/4 shifted by 3 adds 6 to the counter of ln(2).  Gaussian noise has one counter, of squares.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from privproof.compiling.scales import SQUARES
from privproof.engines.laplace.alignments import Alignment, cases, condition, shift_term
from privproof.engines.laplace.blocks import Blocks
from privproof.engines.laplace.conjectures import Implication, conjecture_invariants, counter, symbols
from privproof.engines.laplace.norms import spread, square_bound
from privproof.engines.laplace.one_change import is_about_change, sums_parts
from privproof.engines.laplace.paths import Path
from privproof.engines.laplace.products import product_name
from privproof.engines.laplace.solver import Substitution, ask_solver, effort_for_attempt, false, true, z3
from privproof.engines.laplace.symbols import COUNTED
from privproof.engines.laplace.values import Term, number, real
from privproof.engines.search_monitor import Monitor
from privproof.exact import Epsilon, Rational, log, rational
from privproof.exact.affine import Affine
from privproof.exact.balls import rational_bounds

_EFFORTS = ((1_500_000, (1, 2, 5, 0)), (8_000_000, (3, 4)), (60_000_000, (6,)))
"""How much is tried, with which seeds: whether Spacer finds an invariant at once is a matter of luck."""

_WEIGHT = 6
"""How much longer the steps of Spacer take than those of a solver for formulas without loops."""
_LITTLE = (1_500_000, 1)
"""An effort and a seed where Spacer is asked for a run that fails, and little else."""


@dataclass(frozen=True)
class Bound:
    """What one counter must not exceed at the end.

    Attributes:
        group: the public numbers of the counter.
        limit: for the empty group and for squares: an affine expression; otherwise the factor of the product of the group, or of the
            logarithm.
    """

    group: tuple[str, ...]
    limit: Affine

    def term(self, blocks: Blocks) -> Term:
        """The bound as a term."""
        if self.group == SQUARES:
            return affine(self.limit, blocks)
        if self.group in blocks.logarithms:
            whole = not self.limit.terms and self.limit.constant.q == 1
            return z3.IntVal(int(self.limit.constant.p)) if whole else affine(self.limit, blocks)
        if self.group:
            return number(self.limit.constant) * real(blocks.fixed[product_name(self.group)])
        return affine(self.limit, blocks)


def affine(expression: Affine, blocks: Blocks) -> Term:
    """A budget as a term."""
    total = number(expression.constant)
    for name, factor in expression.terms:
        total = total + number(factor) * real(blocks.fixed[name])
    return total


@dataclass(frozen=True)
class Invariants:
    """Formulas for the cuts, over the symbols of the state and the fixed ones."""

    formulas: Mapping[int, Term]
    bounds: tuple[Bound, ...]


Outcome = Literal["fails", "unknown"]


def invariants(
    blocks: Blocks,
    alignment: Alignment,
    bounds: tuple[Bound, ...],
    monitor: Monitor | None = None,
    *,
    patient: bool = True,
) -> Invariants | Outcome:
    """Invariants that prove an alignment, or why there are none; without patience with the least effort, where there are other ways."""
    steps = implications(blocks, alignment, bounds)
    watch = Monitor() if monitor is None else monitor
    limits = {bound.group: bound.term(blocks) for bound in bounds if bound.group not in blocks.logarithms}
    slopes: dict[tuple[str, ...], list[Rational]] = {
        bound.group: [factor for _, factor in bound.limit.terms] for bound in bounds if bound.group == SQUARES
    }
    if all(path.target is None for path in blocks.paths):
        direct = _without_loops(steps, watch)
        if direct != "unknown":
            return direct if isinstance(direct, str) else Invariants({0: true()}, bounds)
    if blocks.program.kept:  # places and distances of lists are beyond what Spacer finds, but for runs that fail
        simple = conjecture_invariants(blocks, steps, watch.pause, limits, slopes)
        return _attempt(blocks, steps, bounds, *_LITTLE) if simple is None else Invariants(simple, bounds)
    told = sums_parts(blocks) and is_about_change(blocks)  # the forms that are conjectured are what is needed as a rule
    if told and (simple := conjecture_invariants(blocks, steps, watch.pause, limits, slopes)) is not None:
        return Invariants(simple, bounds)
    efforts = [
        (effort, seeds)
        for effort, seeds in _EFFORTS
        if effort == _EFFORTS[0][0] or effort <= effort_for_attempt(effort, _WEIGHT)
    ]
    for effort, seeds in efforts if patient else efforts[:1]:
        for seed in seeds:
            watch.pause()
            found = _attempt(blocks, steps, bounds, effort, seed)
            if found != "unknown":
                return found
        if (
            not told
            and effort == _EFFORTS[0][0]
            and (simple := conjecture_invariants(blocks, steps, watch.pause, limits, slopes)) is not None
        ):
            return Invariants(simple, bounds)
    return "unknown"


def _without_loops(steps: Sequence[Implication], watch: Monitor) -> Outcome | None:
    """None where a program that passes no cut twice keeps everything, from its beginning on: nothing has to be found."""
    begin = next(step.body for step in steps if step.source is None)
    for step in steps:
        if step.source is None:
            continue
        watch.pause()
        solver = z3.Solver()
        solver.set("rlimit", _EFFORTS[1][0])
        solver.add(begin, step.body)
        verdict = ask_solver(solver)
        if verdict != z3.unsat:
            return "fails" if verdict == z3.sat else "unknown"
    return None


def _attempt(
    blocks: Blocks, steps: Sequence[Implication], bounds: tuple[Bound, ...], effort: int, seed: int
) -> Invariants | Outcome:
    z3.set_param("fp.spacer.random_seed", seed)
    solver = z3.SolverFor("HORN")
    solver.set("rlimit", effort_for_attempt(effort, _WEIGHT))
    solver.set("random_seed", seed)
    relations: dict[int, Any] = {}
    for cut in blocks.program.cuts:
        sorts = [term.sort() for term in symbols(blocks, cut).values()]
        relations[cut] = z3.Function(f"at {cut}", *sorts, z3.BoolSort())
    for step in steps:
        before = [] if step.source is None else [relations[step.source](*step.before)]
        head = false() if step.target is None else relations[step.target](*step.after)
        solver.add(_clause([*step.before, *step.fresh], z3.And(*before, step.body), head))
    verdict = ask_solver(solver, _WEIGHT)
    if verdict == z3.unsat:
        return "fails"
    if verdict == z3.unknown:
        return "unknown"
    model = solver.model()
    formulas = {}
    for cut, relation in relations.items():
        found = model[relation]
        body = found.else_value() if isinstance(found, z3.FuncInterp) else found
        terms = list(symbols(blocks, cut).values())
        if body is None:
            formulas[cut] = true()
            continue
        if isinstance(found, z3.FuncInterp) and found.num_entries():
            return "unknown"
        formulas[cut] = _plain(z3.simplify(z3.substitute_vars(body, *terms)))
        if _divides(formulas[cut]):
            return "unknown"
    return Invariants(formulas, bounds)


def _divides(formula: Term) -> bool:
    """Whether a formula divides whole numbers, which certificates do not; another seed gives another one."""
    waiting = [formula]
    while waiting:
        term = waiting.pop()
        if z3.is_app(term) and term.decl().kind() in (z3.Z3_OP_IDIV, z3.Z3_OP_MOD, z3.Z3_OP_REM):
            return True
        waiting.extend(term.children())
    return False


def _plain(formula: Term) -> Term:
    """The formula without quantifiers."""
    waiting = [formula]
    while waiting:
        term = waiting.pop()
        if z3.is_quantifier(term):
            return z3.simplify(z3.Then("simplify", "qe", "simplify")(formula).as_expr())
        waiting.extend(term.children())
    return formula


def _clause(variables: list[Term], body: Term, head: Term) -> Term:
    return z3.ForAll(variables, z3.Implies(body, head)) if variables else z3.Implies(body, head)


def implications(blocks: Blocks, alignment: Alignment, bounds: tuple[Bound, ...]) -> list[Implication]:
    """What must hold at the start and along every path."""
    start = symbols(blocks, 0)
    initial = [blocks.facts]
    for name, term in start.items():
        if name.startswith(("cost", *COUNTED)):
            initial.append(term == 0)
        elif name == "ok":
            initial.append(term)
    terms = tuple(start.values())
    result = [Implication(None, terms, (), z3.And(*initial), 0, terms)]
    for path in blocks.paths:
        for case in cases(blocks, path):
            result += _along(blocks, alignment, path, case, bounds)
    return result


def _along(blocks: Blocks, alignment: Alignment, path: Path, case: Any, bounds: tuple[Bound, ...]) -> list[Implication]:
    """What a path must keep."""
    before = symbols(blocks, path.source)
    shifts = {d.instruction: shift_term(alignment.shift(path, case, d.instruction), path, d) for d in path.drawn}
    inner = [(d.shift, shifts[d.instruction]) for d in path.drawn]
    shifted = Substitution(inner)

    def put(term: Term) -> Term:
        return shifted.plain(term) if inner else term

    terms = tuple(before.values())
    taken = [blocks.facts, put(path.condition), condition(blocks, path, case)]
    costs = {counter(group): before[counter(group)] for group in blocks.counters}
    for drawn in path.drawn:
        name = counter(drawn.group)
        entries = spread(blocks, path, drawn, alignment.shift(path, case, drawn.instruction))
        square = square_bound(path, entries) if entries else None
        costs[name] = costs[name] + drawn.cost(shifts[drawn.instruction], square)
        if drawn.promised is not None:
            name = counter(drawn.promised[0])
            costs[name] = costs[name] + put(drawn.promised[1])
    for exchange in blocks.exchanges:
        if exchange.applies(path):
            less, more = counter(exchange.names), counter(exchange.others)
            costs[less] = costs[less] - number(exchange.times) * real(blocks.fixed[exchange.by])
            costs[more] = costs[more] + number(exchange.times)
    within = []
    for bound in bounds:
        cost, limit = costs[counter(bound.group)], bound.term(blocks)
        within.append(cost <= limit if z3.is_int(limit) else real(cost) <= limit)
    obligations = [put(o.condition) for o in path.obligations]
    result = []

    def never(*bad: Term) -> None:
        result.append(Implication(path.source, terms, path.fresh, z3.And(*taken, *bad), None, ()))

    for safe in path.safety:
        never(z3.Not(put(safe.condition)))
    for promise in blocks.promises:
        never(costs[counter(promise.group)] > promise.times)
    ok = None
    if blocks.prophesied:
        ok = z3.And(before["ok"], *obligations)
    elif obligations:
        never(z3.Not(z3.And(*obligations)))
    if path.looks:
        never(z3.Not(z3.And(*within)))
    if path.target is None and blocks.results is not None:
        for k, (low, high) in blocks.results.ranges.items():
            value = real(put(path.parts[k].one))
            never(z3.Or(value < number(low), value > affine(high, blocks)))
    if path.target is None:
        if ok is None:
            never(z3.Not(z3.And(*within)))
        else:
            kept = map(put, blocks.kept(path))
            never(*map(put, blocks.foretold(path)), z3.Not(z3.And(ok, *kept, *within)))
        return result
    after = symbols(blocks, path.target)
    values = []
    for name, term in after.items():
        if name in blocks.fixed:
            values.append(term)
        elif name in costs:
            values.append(costs[name])
        elif name == "ok":
            values.append(ok)
        else:
            values.append(put(path.after[name]))
    result.append(Implication(path.source, terms, path.fresh, z3.And(*taken), path.target, tuple(values)))
    return result


def share_budget(
    budget: Affine, blocks: Blocks, spent: Mapping[tuple[str, ...], Rational], exact: Epsilon | None = None
) -> tuple[Bound, ...] | None:
    """A budget shared out among the counters: what each was seen to spend, and the rest to the last; None if it does not fit.

    Args:
        budget: the budget; where it is one number with a logarithm, a rational a little below it.
        blocks: whose counters they are.
        spent: what each counter was seen to spend.
        exact: the budget where it is one number, exactly; needed where there is geometric noise.
    """
    if not blocks.logarithms and budget.ratio is not None:
        return None
    counted = (*blocks.groups, *(each.others for each in blocks.exchanges if each.others not in blocks.groups))
    counted = tuple(dict.fromkeys(counted))
    if not blocks.logarithms:
        return _shared(budget, counted, spent)
    if budget.ratio is not None:
        [group, *more] = blocks.groups
        fits = not more and blocks.logarithms.get(group) == budget.ratio
        return (Bound(group, Affine(budget.constant, budget.terms)),) if fits else None
    if exact is None or exact.infinite:
        return None
    others = tuple(group for group in counted if group not in blocks.logarithms)
    if not others and len(blocks.logarithms) == 1:
        [(group, ratio)] = blocks.logarithms.items()
        return (Bound(group, Affine(rational(most_times(ratio, exact)))),)
    bounds: list[Bound] = []
    left = exact
    for group, ratio in blocks.logarithms.items():
        times = int(spent.get(group, rational(0)).ceil())
        bounds.append(Bound(group, Affine(rational(times))))
        left = Epsilon(left.ratio / ratio ** (times * left.root), left.root, left.shift)
    if left.compare(Epsilon()) < 0:
        return None
    if others:
        low, _ = rational_bounds(left.ball())
        rest = _shared(Affine(left.shift if left.ratio == 1 else low), others, spent)
        return None if rest is None else (*bounds, *rest)
    return tuple(bounds)


def most_times(ratio: Rational, exact: Epsilon) -> int:
    """The largest k with ``k ln(ratio) <= exact``.

    >>> from privproof.exact import epsilon
    >>> most_times(rational(2), epsilon("2*ln(2)")), most_times(rational(2), epsilon("1.38"))
    (2, 1)
    """
    _, high = rational_bounds(exact.ball() / log(ratio).ball())
    times = int(high.floor())
    while times > 0 and log(ratio**times).compare(exact) > 0:
        times -= 1
    return times


def _shared(
    budget: Affine, groups: tuple[tuple[str, ...], ...], spent: Mapping[tuple[str, ...], Rational]
) -> tuple[Bound, ...] | None:
    if groups == ((),):
        return (Bound((), budget),)
    if () not in groups and len(groups) == 1 and not budget.terms:
        return (Bound(groups[0], budget),)
    left = budget
    result: list[Bound] = []
    for group in groups:
        if group == ():
            continue
        factor = spent.get(group, rational(0))
        result.append(Bound(group, Affine(factor)))
        left = Affine(left.constant - factor, left.terms)
    if () in groups:
        result.insert(0, Bound((), left))
    elif left.constant < 0 and not left.terms:
        return None
    return tuple(result)
