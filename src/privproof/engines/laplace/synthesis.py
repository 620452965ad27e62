"""Finding an alignment: guesses from counterexamples, counterexamples to guesses, on small instances.

An instance fixes the size and the public whole numbers, so that all its runs can be followed.  A guess is tried on every run of the
instances; where it fails, the solver gives data, noise and output at which it does.  At these values the requirements are linear in
the shifts that are sought, and the next guess satisfies them all.  Coefficients are searched on a grid of small numbers, the smallest
first: real coefficients need not converge.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import product
from types import MappingProxyType
from typing import Any, TypeAlias

from privproof.compiling.differing import differs
from privproof.compiling.scales import SQUARES
from privproof.compiling.sorts import BITS, RANKED
from privproof.engines.laplace.alignments import (
    CONSTANT,
    Alignment,
    Case,
    Feature,
    Shift,
    Where,
    cases,
    condition,
    features,
    shift_term,
    told_before,
)
from privproof.engines.laplace.blocks import Blocks
from privproof.engines.laplace.locality import Locality
from privproof.engines.laplace.norms import spread, square_bound
from privproof.engines.laplace.one_change import sums_parts
from privproof.engines.laplace.paths import DrawnNoise, Obligation, Path
from privproof.engines.laplace.products import product_name, values_of
from privproof.engines.laplace.solver import Substitution, ask_solver, true, z3
from privproof.engines.laplace.values import Term, number, real, size_of
from privproof.engines.search_monitor import Monitor
from privproof.exact import Epsilon, fraction, log
from privproof.exact.affine import Affine
from privproof.exact.balls import rational_bounds
from privproof.language.flow import Test, instruction_reads
from privproof.language.syntax import Sample, Variable
from privproof.language.walking import variables

_ROUNDS = 60
"""Guesses, each refuted by a run of the one before, until the form of alignments is given up."""
_EFFORT = 3_000_000
"""Z3's resource limit of one query about runs; the guesses, which pile up, have ten times as much. No clock is involved."""


_MOST_TURNS = 64
"""A loop that goes on for a product of public numbers is followed to its end if these are no more; runs of nested loops get long."""
_DECIMALS = 10**12
"""A logarithm counts with twelve decimals while alignments are searched for; whether costs are within the budget is decided exactly."""
_SLACK = Fraction(1, 10**9)
"""How much more than the budget costs in logarithms may be in the search: decimals must not exclude what costs exactly the budget."""


@dataclass(frozen=True)
class Instance:
    """Values for the size and the public whole numbers, and which runs are followed.

    Attributes:
        values: by name.
        changes: how often the letter may change along a run; None for all runs.
    """

    values: Mapping[str, int]
    changes: int | None = None


Spent: TypeAlias = "Sequence[tuple[Instance, Mapping[tuple[str, ...], Fraction]]]"
"""What each counter was seen to spend at most, by instance."""


def most_spent(spent: Spent) -> dict[tuple[str, ...], Fraction]:
    """What each counter was seen to spend at most."""
    result: dict[tuple[str, ...], Fraction] = {}
    for _, costs in spent:
        for group, value in costs.items():
            result[group] = max(result.get(group, Fraction(0)), value)
    return result


@dataclass(frozen=True)
class Step:
    """A path of a run: with its case, and the symbols made for it."""

    path: Path
    case: Case
    fresh: tuple[tuple[Term, Term], ...]


@dataclass(frozen=True)
class Counterexample:
    """A run at which an alignment fails.

    Attributes:
        instance: the instance.
        steps: the paths.
        values: the value of every symbol.
        failed: what fails.
    """

    instance: Instance
    steps: tuple[Step, ...]
    values: Mapping[str, Term]
    failed: Obligation | None

    @property
    def unsafe(self) -> bool:
        """Whether a list is read past its end, or a number is used that is None."""
        return self.failed is not None and self.failed.what.endswith(("past its end", "is a number"))


_ONE_WAY: tuple[Case, ...] = ((("up", True),), (("up", False),))
"""The first condition of a case in which all data move in one direction."""


class GaveUp(Exception):
    """No alignment was found; the message says why."""


@dataclass
class Synthesis:
    """The search for an alignment of a program within a budget."""

    blocks: Blocks
    budget: Affine
    monitor: Monitor
    half: bool = False
    tied: bool = False
    own: bool = False
    last: Counterexample | None = None
    exact: Epsilon | None = None
    squares: Callable[[Mapping[str, int]], Fraction] = lambda _: Fraction(0)
    """The most that Gaussian noise may cost, at a size and public numbers."""

    def __post_init__(self) -> None:
        self.unknowns: dict[tuple[Where, int, Feature], Any] = {}
        self.solver = z3.Solver()
        self.solver.set("rlimit", _EFFORT * 10)
        self.made = 0
        self.split = {path: cases(self.blocks, path) for path in self.blocks.paths}
        self.seen: list[Counterexample] = []
        self.by_source: dict[int, list[Path]] = {}
        for path in self.blocks.paths:
            self.by_source.setdefault(path.source, []).append(path)
        self.locality = Locality(self.blocks) if self.own else None
        self.units = {group: _near(log(ratio)) for group, ratio in self.blocks.logarithms.items()}
        self._features: dict[tuple[Path, int], Mapping[Feature, Term]] = {}
        self._prepared: tuple[Alignment, dict[tuple[Path, Case], _Ready]] | None = None

    def aligned(self, instances: Sequence[Instance]) -> Alignment:
        """An alignment that no run of the instances refutes.

        Raises:
            GaveUp: there is none of the form.
        """
        for round_ in range(_ROUNDS):
            self.monitor.pause()
            try:
                guess = self.centred(apart=True) if round_ == 0 and not self.unknowns else self.guess()
            except GaveUp:
                guess = self.centred(apart=False)
                if any(self.refuting(guess, instance) is not None for instance in instances):
                    raise
                return guess
            found = next((c for c in (self.refuting(guess, i) for i in instances) if c is not None), None)
            if found is None:
                return guess
            self.last = found
            self.seen.append(found)
            if found.unsafe:
                raise GaveUp("unsafe")
            if found.failed is not None and found.failed in found.steps[-1].path.safety:
                raise GaveUp(f"it is not known that {found.failed.what}, {found.failed.place}")
            self.require(found)
        raise GaveUp("the search for an alignment did not end")

    def centred(self, *, apart: bool) -> Alignment:
        """The alignment that the Laplace mechanism suggests: noise moves against its centre, so that the noisy number stays.

        The values of a selection move as far as the largest of the others does, so that all of them stay as far apart as they are.

        Args:
            apart: whether those of which only the order counts move as far as any of them may if the budget is right: half of it, or
                all of it if they move in one direction.
        """
        shifts: dict[tuple[Where, int], Shift] = {}
        for path in self.blocks.paths:
            for case in self.split[path]:
                for drawn in path.drawn:
                    sample = self.blocks.program.code[drawn.instruction]
                    assert isinstance(sample, Sample)
                    center = sample.arguments[0]
                    if isinstance(center, Variable) and center.name in drawn.distances:
                        factors: dict[Feature, Fraction] = {("distance", center.name): Fraction(-1)}
                        others = self.blocks.others_of(drawn.instruction)
                        unread = others is not None and not {sample.name, others} & self.read_values
                        if apart and (unread or drawn.kind == "gumbel") and not self.budget.terms and not drawn.group:
                            share = Fraction(1, 2) if case[:1] not in _ONE_WAY else Fraction(case[0][1])
                            factors[CONSTANT] = share * fraction(self.budget.constant) * drawn.factor
                        elif others is not None:
                            factors[("distance", others)] = Fraction(1)
                        shifts[((path.source, path.tests, case), drawn.instruction)] = Shift(factors)
        return Alignment(shifts)

    @cached_property
    def read_values(self) -> frozenset[str]:
        """The variables that are read by more than the order of a selection."""
        steps = [s for s in self.blocks.program.code if not (isinstance(s, Sample) and s.noise == RANKED)]
        return frozenset(name for step in steps for read in instruction_reads(step) for name in variables(read))

    def guess(self) -> Alignment:
        """The smallest alignment that satisfies all requirements."""
        if not self.unknowns:
            return Alignment({})
        weight = z3.Sum([size_of(x) for x in self.unknowns.values()])
        low, high = 0, None
        model = None
        bound = 0
        while True:
            self.solver.push()
            self.solver.add(weight <= bound)
            verdict = ask_solver(self.solver)
            if verdict == z3.sat:
                model = self.solver.model()
                high = bound
            self.solver.pop()
            if verdict == z3.unknown:
                raise GaveUp("the solver gave up on a guess")
            if verdict == z3.unsat:
                low = bound + 1
                if high is None:
                    if bound > 4 * len(self.unknowns):
                        raise GaveUp("no alignment of the form satisfies the requirements")
                    bound = max(1, 2 * bound) if bound >= 8 else bound + 1
                    continue
            if high is not None and low >= high:
                break
            bound = (low + (high or low)) // 2
        assert model is not None
        unit = Fraction(1, 2) if self.half else Fraction(1)
        whole = {drawn.instruction for path in self.blocks.paths for drawn in path.drawn if drawn.whole}
        found: dict[tuple[Where, int], dict[Feature, Fraction]] = {}
        for (where, instruction, feature), unknown in self.unknowns.items():
            value = model.eval(unknown, model_completion=True).as_long() * (1 if instruction in whole else unit)
            if value:
                found.setdefault((where, instruction), {})[feature] = Fraction(value)
        shifts = {}
        for path in self.blocks.paths:
            for case in self.split[path]:
                for drawn in path.drawn:
                    factors = found.get((self.where(path, case, drawn), drawn.instruction), {})
                    known = self.features(path, drawn)
                    kept = {feature: factor for feature, factor in factors.items() if feature in known}
                    shifts[((path.source, path.tests, case), drawn.instruction)] = Shift(kept)
        return Alignment(shifts)

    def features(self, path: Path, drawn: DrawnNoise) -> Mapping[Feature, Term]:
        """What the shift of a noise may be a multiple of: (own) only what meets the noise."""
        key = (path, drawn.instruction)
        if key not in self._features:
            self._features[key] = (
                features(path, drawn) if self.locality is None else self.locality.features(path, drawn)
            )
        return self._features[key]

    def where(self, path: Path, case: Case, drawn: DrawnNoise | None = None) -> Where:
        """What the shift of a noise on a path may depend on: its tests and what is foretold; of Gaussian noise, the tests before.

        Tied: only the tests that data or noise take part in.  Own: only the tests and outputs that this noise has a part in.
        """
        if drawn is not None and drawn.settled:
            told = told_before(case, drawn, foretell=self.blocks.foretell)
            return path.source, path.tests[: drawn.tests], told
        if self.locality is not None and drawn is not None:
            return path.source, self.locality.tests(path, drawn.instruction), self.locality.foretold(path, case, drawn)
        if not self.tied:
            return path.source, path.tests, case
        program = self.blocks.program
        told = tuple(
            (number, outcome)
            for number, outcome in path.tests
            if isinstance(step := program.code[number], Test) and differs(step.test, program.high, program.mechanism)
        )
        return path.source, told, case

    def unknown(self, where: Where, instruction: int, feature: Feature) -> Any:
        """The coefficient of a feature, as a whole number of units."""
        key = (where, instruction, feature)
        if key not in self.unknowns:
            found = z3.Int(f"theta {len(self.unknowns)}")
            self.unknowns[key] = found
            most = 4 if self.half else 2
            if feature == CONSTANT:
                most *= max(1, int(max(self._within, default=Fraction(1))))
            self.solver.add(found >= -most, found <= most)
        return self.unknowns[key]

    @property
    def _within(self) -> list[Fraction]:
        inputs = self.blocks.program.inputs.values()
        return [fraction(d.within) for d in inputs if d.within is not None and not d.public]

    def refuting(self, guess: Alignment, instance: Instance) -> Counterexample | None:
        """A run of an instance at which an alignment fails."""
        return _Search(self, guess, instance).found()

    def spent(self, guess: Alignment, listed: Sequence[Instance]) -> Spent:
        """The most that an alignment spends from each counter, relative to its public numbers, on instances where no run refutes it."""
        result = []
        for instance in listed:
            search = _Search(self, guess, instance)
            search.spent = {}
            search.found()
            result.append((instance, search.spent))
        return result

    def prepared_for(self, guess: Alignment) -> dict[tuple[Path, Case], _Ready]:
        """What paths do with the shifts of a guess in place, as far as one of its searches has needed it."""
        if self._prepared is None or self._prepared[0] is not guess:
            self._prepared = (guess, {})
        return self._prepared[1]

    def renamed(self, path: Path) -> tuple[tuple[Term, Term], ...]:
        """New symbols for what a path reads and draws."""
        self.made += 1
        result = []
        for old in path.fresh:
            name = f"{old.decl().name()}@{self.made}"
            result.append((old, z3.Const(name, old.sort())))
        return tuple(result)

    def _squared(self, coefficient: Term, unit: Fraction) -> Term:
        """The square of a constant shift whose coefficient is looked for."""
        most = (4 if self.half else 2) * max(1, int(max(self._within, default=Fraction(1))))
        result = z3.RealVal(0)
        for size in range(1, most + 1):
            result = z3.If(size_of(coefficient) == size, number((size * unit) ** 2), result)
        return result

    def cost(
        self,
        path: Path,
        shifts: Mapping[int, Term],
        instance: Instance,
        constant: Mapping[int, tuple[Term, Term]] | None = None,
        squares: Mapping[int, Term] = MappingProxyType({}),
    ) -> dict[tuple[str, ...], Term]:
        """What a path costs, by group; in logarithms, as a multiple of them.

        Args:
            path: the path.
            shifts: its shifts.
            instance: the size and the public numbers.
            constant: of Gaussian noise whose shift is looked for, when it is a constant, and what is its square then.
            squares: bounds on the squares of shifts of Gaussian noise, where there are better ones than by their reaches.
        """
        total: dict[tuple[str, ...], Term] = {}
        for drawn in path.drawn:
            more = real(drawn.cost(shifts[drawn.instruction], squares.get(drawn.instruction)))
            if constant and drawn.instruction in constant:
                alone, square = constant[drawn.instruction]
                more = z3.If(alone, square / number(drawn.factor**2), more)
            for name in drawn.group if not drawn.whole and not drawn.settled else ():
                more = more / instance.values[name]
            total[drawn.group] = total.get(drawn.group, z3.RealVal(0)) + more
            if drawn.promised is not None:
                group, given = drawn.promised
                total[group] = total.get(group, z3.RealVal(0)) + given
        return total

    def within(self, costs: Mapping[tuple[str, ...], Term], instance: Instance) -> Term:
        """That costs are within the budget; logarithms count with decimals, so that this only searches where there are some."""
        promised = {promise.group: Fraction(promise.times) for promise in self.blocks.promises}
        apart = {SQUARES: self.squares(instance.values), **promised}
        total = [number(self.units.get(group, 1)) * term for group, term in costs.items() if group not in apart]
        within = z3.Sum(z3.RealVal(0), *total) <= number(self.allowed(instance))
        return z3.And(within, *(costs[group] <= number(most) for group, most in apart.items() if group in costs))

    def allowed(self, instance: Instance) -> Fraction:
        """The budget of an instance."""
        if self.budget.ratio is not None:
            return _near(self.budget.value_at(instance.values)) + _SLACK
        if self.exact is None or self.exact.infinite or not self.units:
            return fraction(self.budget.at(instance.values))
        return _near(self.exact) + _SLACK

    def require(self, found: Counterexample) -> None:
        """Add what an alignment must do at a counterexample."""
        strong = self._requirement(found, strong=True)
        self.solver.push()
        self.solver.add(strong)
        if ask_solver(self.solver) == z3.sat:
            self.solver.pop()
            self.solver.add(strong)
            return
        self.solver.pop()
        self.solver.add(self._requirement(found, strong=False))
        if ask_solver(self.solver) == z3.unsat:
            raise GaveUp("no alignment of the form satisfies the requirements")

    def _requirement(self, found: Counterexample, *, strong: bool) -> Term:
        unit = Fraction(1, 2) if self.half else Fraction(1)
        instance = found.instance
        fixed = [(t, found.values[n]) for n, t in self.blocks.fixed.items() if n in found.values]
        state: dict[str, Term] = self.blocks.initial()
        needed: list[Term] = []
        cost: dict[tuple[str, ...], Term] = {}
        for step in found.steps:
            path = step.path
            place = [*fixed]
            place += [(t, state[n]) for n, t in self.blocks.state(path.source).items()]
            for old, new in step.fresh:
                place.append((old, found.values[new.decl().name()]))
            shifts: dict[int, Term] = {}
            constant: dict[int, tuple[Term, Term]] = {}
            for drawn in path.drawn:
                where = self.where(path, step.case, drawn)
                put = Substitution(place)
                total = z3.IntVal(0) if drawn.whole else z3.RealVal(0)
                for feature, term in self.features(path, drawn).items():
                    coefficient = self.unknown(where, drawn.instruction, feature)
                    if not drawn.whole:
                        coefficient = z3.ToReal(coefficient) * number(unit)
                    total = total + coefficient * put(term)
                shifts[drawn.instruction] = z3.simplify(total)
                if drawn.settled:
                    others = [
                        self.unknown(where, drawn.instruction, f) for f in self.features(path, drawn) if f != CONSTANT
                    ]
                    alone = self.unknown(where, drawn.instruction, CONSTANT)
                    constant[drawn.instruction] = z3.And(*(x == 0 for x in others)), self._squared(alone, unit)
                place.append((drawn.shift, shifts[drawn.instruction]))
            put = Substitution(place)
            for obligation in path.obligations:
                if strong and obligation.gap is not None:
                    needed.append(put.plain(obligation.gap) >= 0)
                else:
                    needed.append(put.plain(obligation.condition))
            for group, more in self.cost(path, shifts, instance, constant).items():
                cost[group] = cost.get(group, z3.RealVal(0)) + put.plain(more)
            if path.looks:
                needed.append(self.within(cost, instance))
            if path.target is None:
                needed += [put.plain(t) for t in self.blocks.kept(path)]
            state = {n: put(t) for n, t in path.after.items()}
        needed.append(self.within(cost, instance))
        return z3.simplify(z3.And(*needed))


@dataclass(frozen=True)
class _Ready:
    """What a path does, with shifts in place: when it is taken, what is needed, and the state behind it."""

    taken: Term
    exact: tuple[Term, ...]
    shifts: Mapping[int, Term]
    squares: Mapping[int, Term]
    obligations: tuple[Term, ...]
    foretold: tuple[Term, ...]
    kept: tuple[Term, ...]
    after: Mapping[str, Term]


class _Search:
    """Follows the runs of one instance."""

    def __init__(self, synthesis: Synthesis, guess: Alignment, instance: Instance) -> None:
        self.synthesis, self.guess, self.instance = synthesis, guess, instance
        self.blocks = synthesis.blocks
        self.solver = z3.SolverFor("QF_LIRA")
        self.solver.set("rlimit", _EFFORT)
        self.prophecy = bool(self.blocks.prophesied)
        self.fixed = [
            (self.blocks.fixed[n], z3.IntVal(v)) for n, v in instance.values.items() if n in self.blocks.fixed
        ]
        self.solver.add(Substitution(self.fixed).plain(self.blocks.facts))
        products = set(map(product_name, self.blocks.products))
        turns = sum(v for n, v in instance.values.items() if n not in products)
        turns += sum(v for n, v in instance.values.items() if n in products and v <= _MOST_TURNS)
        self.deepest = turns + 4 * len(self.blocks.program.cuts) + 4
        self.spent: dict[tuple[str, ...], Fraction] | None = None
        self.ready = synthesis.prepared_for(guess)
        self.costs: dict[tuple[Path, Case], Mapping[tuple[str, ...], Term]] = {}
        self.deepest = max(self.deepest, 2 * instance.values.get("size", 0) + 6)
        if sums_parts(self.blocks):  # loops over lists of a length of their own, as often as there are loops
            longest = max((declared.size or 0 for declared in self.blocks.program.inputs.values()), default=0)
            self.deepest = max(self.deepest, len(self.blocks.program.cuts) * (min(longest, _MOST_TURNS) + 4))

    def found(self) -> Counterexample | None:
        return self.follow(0, self.blocks.initial(), (), {}, true(), 0, None)

    def follow(
        self,
        cut: int,
        state: dict[str, Term],
        steps: tuple[Step, ...],
        cost: dict[tuple[str, ...], Term],
        ok: Term,
        changes: int,
        before: Any,
    ) -> Counterexample | None:
        if len(steps) > self.deepest:
            return None
        for path in self.synthesis.by_source.get(cut, ()):
            for case in self.synthesis.split[path]:
                letter = (path.tests, case)
                changed = changes + (
                    before is not None and before[0] == cut and before[1] != letter and path.target is not None
                )
                if self.instance.changes is not None and changed > self.instance.changes:
                    continue
                result = self.take(path, case, state, steps, cost, ok, changed, (cut, letter))
                if result is not None:
                    return result
        return None

    def take(
        self,
        path: Path,
        case: Case,
        state: dict[str, Term],
        steps: tuple[Step, ...],
        cost: Term,
        ok: Term,
        changes: int,
        letter: Any,
    ) -> Counterexample | None:
        self.synthesis.monitor.pause()
        ready = self.prepared(path, case)
        fresh = self.synthesis.renamed(path)
        begun = [*self.fixed, *((t, state[n]) for n, t in self.blocks.state(path.source).items())]
        computed = self.computed(path, begun)
        put = Substitution([*begun, *((old, computed.get(old.get_id(), new)) for old, new in fresh)])
        taken = put(ready.taken)
        if z3.is_false(taken):
            return None

        solver = self.solver
        solver.push()
        try:
            solver.add(taken)
            solver.add(*map(put, ready.exact))
            solver.add(*(new == computed[old.get_id()] for old, new in fresh if old.get_id() in computed))
            ends_longer_run = bool(steps) and path.target is None
            if not ends_longer_run and ask_solver(solver) == z3.unsat:
                return None  # at the end of a longer run, what fails is asked for together with whether there is a run
            here = (*steps, Step(path, case, fresh))
            for obligation in path.safety:
                wrong = z3.Not(put(obligation.condition))
                if (result := self.fails([wrong], here, obligation)) is not None:
                    return result
            more = {group: put(term) for group, term in self.cost(path, case, ready).items()}
            cost = {
                g: z3.simplify(cost.get(g, z3.RealVal(0)) + more.get(g, z3.RealVal(0))) for g in self.blocks.counters
            }
            obligations = [
                (o, put(condition_)) for o, condition_ in zip(path.obligations, ready.obligations, strict=True)
            ]
            within = self.synthesis.within(cost, self.instance)
            if not self.prophecy:
                for obligation, holds in obligations:
                    if not z3.is_true(holds) and (result := self.fails([z3.Not(holds)], here, obligation)) is not None:
                        return result
                ends = path.target is None or path.looks
                if ends and (result := self.fails([z3.Not(within)], here, None)) is not None:
                    return result
            else:
                ok = z3.simplify(z3.And(ok, *(holds for _, holds in obligations)))
                if path.target is None:
                    assume = [put(t) for t in ready.foretold]
                    keep = [put(t) for t in ready.kept]
                    wrong = z3.Not(z3.And(ok, within, *keep))
                    if (result := self.fails([*assume, wrong], here, None)) is not None:
                        return result
            if path.target is None:
                if self.spent is not None:
                    self.measure(cost, [put(t) for t in ready.foretold])
                return None
            after = {n: put(t) for n, t in ready.after.items()}
            return self.follow(path.target, after, here, cost, ok, changes, letter)
        finally:
            solver.pop()

    def computed(self, path: Path, begun: list[tuple[Term, Term]]) -> dict[int, Term]:
        """The numbers that operations on bits give on a path, by their symbols, where what they are of is known."""
        found: dict[int, Term] = {}
        own = {old.get_id() for old in path.fresh}
        known = list(begun)
        for value, name, a, b in self.blocks.remainders:
            if value.get_id() in own and name in BITS:
                one, other = map(Substitution(known), (a, b))
                if z3.is_int_value(one) and z3.is_int_value(other):
                    result = on_bits(name, one.as_long(), other.as_long())
                    if result is not None:
                        found[value.get_id()] = z3.IntVal(result)
                        known.append((value, found[value.get_id()]))
        return found

    def prepared(self, path: Path, case: Case) -> _Ready:
        """What a path does in a case, with the shifts of the guess in place."""
        key = (path, case)
        if key not in self.ready:
            shifts = {
                d.instruction: shift_term(self.guess.shift(path, case, d.instruction), path, d) for d in path.drawn
            }
            shifted = Substitution([(d.shift, shifts[d.instruction]) for d in path.drawn])
            fresh = {old.get_id() for old in path.fresh}
            self.ready[key] = _Ready(
                shifted(z3.And(path.condition, condition(self.blocks, path, case))),
                tuple(
                    value == (a / b if name == "//" else a % b)
                    for value, name, a, b in self.blocks.remainders
                    if value.get_id() in fresh and name not in BITS
                ),
                shifts,
                self.squares(path, case),
                tuple(shifted(o.condition) for o in path.obligations),
                tuple(map(shifted, self.blocks.foretold(path))) if path.target is None else (),
                tuple(map(shifted, self.blocks.kept(path))) if path.target is None else (),
                {name: shifted(term) for name, term in path.after.items()},
            )
        return self.ready[key]

    def cost(self, path: Path, case: Case, ready: _Ready) -> Mapping[tuple[str, ...], Term]:
        """What a path costs in a case."""
        key = (path, case)
        if key not in self.costs:
            self.costs[key] = self.synthesis.cost(path, ready.shifts, self.instance, squares=ready.squares)
        return self.costs[key]

    def squares(self, path: Path, case: Case) -> dict[int, Term]:
        """Bounds on the squares of shifts by the squares of changes."""
        found = ((d, spread(self.blocks, path, d, self.guess.shift(path, case, d.instruction))) for d in path.drawn)
        return {drawn.instruction: square_bound(path, entries) for drawn, entries in found if entries}

    def measure(self, cost: dict[tuple[str, ...], Term], foretold: list[Term]) -> None:
        """Note the most that each counter can hold at the end of the run, if it ends as is foretold."""
        assert self.spent is not None
        for group, total in cost.items():
            most = z3.Optimize()
            most.add(*self.solver.assertions(), *foretold)
            handle = most.maximize(total)
            if ask_solver(most) == z3.sat:
                value = most.upper(handle)
                if z3.is_rational_value(value) or z3.is_int_value(value):
                    self.spent[group] = max(self.spent.get(group, Fraction(0)), Fraction(str(value)))

    def fails(self, terms: list[Term], steps: tuple[Step, ...], failed: Obligation | None) -> Counterexample | None:
        """A counterexample, at the corners of the neighbours where there is one there; costs are counted where there is none."""
        if self.spent is not None or any(z3.is_false(z3.simplify(t)) for t in terms):
            return None
        answer, values = self.valued(terms, steps)
        if answer == z3.unsat:
            return None  # as nearly always: one question instead of two
        _, at_corners = self.valued([*terms, *self.corners(steps)], steps)
        found = values if at_corners is None else at_corners
        return None if found is None else Counterexample(self.instance, steps, found, failed)

    def valued(self, terms: list[Term], steps: tuple[Step, ...]) -> tuple[Any, dict[str, Term] | None]:
        """Whether terms can hold where the run is, and values of the symbols of its steps at which they do, if the solver found some."""
        solver = self.solver
        solver.push()
        try:
            solver.add(*terms)
            answer = ask_solver(solver)
            if answer != z3.sat:
                return answer, None
            model = solver.model()
            values: dict[str, Term] = {}
            for name, term in self.blocks.fixed.items():
                known = next((v for t, v in self.fixed if t.eq(term)), None)
                values[name] = known if known is not None else model.eval(term, model_completion=True)
            for step in steps:
                for _, new in step.fresh:
                    values[new.decl().name()] = model.eval(new, model_completion=True)
            return answer, values
        finally:
            solver.pop()

    def corners(self, steps: tuple[Step, ...]) -> Iterator[Term]:
        program = self.blocks.program
        if "by" in self.blocks.fixed and self.synthesis._within:
            widest = max(self.synthesis._within)
            by = real(self.blocks.fixed["by"])
            yield z3.Or(by == number(widest), by == -number(widest))
        moved = [(name, self.blocks.fixed.get(f"{name}: distance")) for name in program.inputs]
        for step in steps:
            moved += [(old.decl().name().partition(": distance!")[0], new) for old, new in step.fresh if _moves(old)]
        for source, distance in moved:
            if distance is None or source not in program.inputs or program.inputs[source].within is None:
                continue
            bound = number(program.inputs[source].within)
            ends = [real(distance) == -bound, real(distance) == bound]
            if program.relation == "monotone":
                ends.append(real(distance) == 0)
            yield z3.Or(*ends)


_MOST_BITS = 64
"""Powers and shifts in instances are of numbers with so many bits at most: instances are small."""


def on_bits(name: str, one: int, other: int) -> int | None:
    """What an operation on bits gives; None where it fails, or gives no whole number, or a huge one."""
    if name == "bit_length":
        return one.bit_length()
    if name in ("**", "<<", ">>") and not 0 <= other <= _MOST_BITS:
        return None
    operations: dict[str, Callable[[int, int], int]] = {
        "**": operator.pow,
        "<<": operator.lshift,
        ">>": operator.rshift,
        "&": operator.and_,
        "|": operator.or_,
        "^": operator.xor,
    }
    return operations[name](one, other)


def _moves(symbol: Term) -> bool:
    """Whether a symbol is the distance of something that is read."""
    return ": distance!" in symbol.decl().name()


def _near(value: Epsilon) -> Fraction:
    """An epsilon with some decimals, rounded down."""
    low, _ = rational_bounds(value.ball(128))
    return Fraction(int(low.p * _DECIMALS // low.q), _DECIMALS)


def instances(blocks: Blocks, *, pump: int = 0) -> list[Instance]:
    """Small instances, all runs of them; or longer ones, with runs that change their letter at most once."""
    program = blocks.program
    names = program.mechanism.public_numbers
    sized = "size" in blocks.fixed and program.size is None

    def values(name: str, wanted: Sequence[int]) -> list[int]:
        declared = program.inputs[name]
        low = None if declared.low is None else int(declared.low.p // declared.low.q)
        high = None if declared.high is None else int(declared.high.p // declared.high.q)
        kept = [v for v in wanted if (low is None or v >= low) and (high is None or v <= high)]
        return kept or [low if low is not None else high if high is not None else 0]

    streams = any(d.shape == "stream" for d in program.inputs.values())
    sizes = [program.size or 0] if not sized else ([0, 1, 2, 3] if not pump else [pump])
    if sized and not blocks.measured:
        sizes = [1]  # any: nothing depends on it
    wanted = [1, 2] if not pump else sorted({1, 3, max(1, pump // 2)})
    result = []
    for size in sizes if (sized or program.size is not None) else [0]:
        for combination in product(*(values(name, wanted) for name in names)):
            given = dict(zip(names, combination, strict=True))
            if "size" in blocks.fixed:
                given["size"] = size
            given |= values_of(blocks.products, given)
            result.append(Instance(given, 1 if pump else (1 if size > 2 and len(names) > 2 else None)))
    if streams and not sized:
        result = [Instance(i.values, 1 if pump else None) for i in result]
    return result
