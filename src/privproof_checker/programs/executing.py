"""Execution of one path in two runs at once, symbolically.

Run 1 takes the path; that run 2 takes it too is an obligation at every test that is high.  The noise of run 2 is the
noise of run 1 plus the shift, at the cost ``|shift| / factor`` in the group of the scale.  The shift of geometric noise is
an integer by its form: integer multiples of differences of integers, and an integer.  The shift of Gaussian noise is
settled before it is drawn.  An obligation is immediate, or,
where the result is foretold, deferred: then it has to hold only in runs whose result is the foretold one.  Reads outside a
list are never deferred.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise

from privproof_checker.numbers import ZERO, Rational
from privproof_checker.outcomes import refuse
from privproof_checker.programs.evaluating import Evaluator, Value
from privproof_checker.programs.instruction_kinds import (
    Assign,
    Coin,
    Copy,
    EmitOutput,
    Fill,
    Forget,
    Instruction,
    NextValue,
    Others,
    Put,
    Ranked,
    Return,
    Sample,
    SelectionPlace,
    Test,
    Whole,
)
from privproof_checker.programs.paths import Alignment, CaseCondition, ProgramPath, Shift
from privproof_checker.programs.program_expressions import Expression
from privproof_checker.programs.program_inputs import SIZE
from privproof_checker.programs.promises import Promise
from privproof_checker.programs.ranges import program_sample
from privproof_checker.programs.run_states import (
    State,
    cost_of,
    distance_at,
    distance_of,
    length_of,
    other_of,
    output_of,
    place_of,
    read_of,
)
from privproof_checker.programs.symbol_products import Exchange
from privproof_checker.programs.terms import (
    BOOL,
    INT,
    KINDS,
    REAL,
    both,
    implies,
    number,
    plus,
    real,
    times,
    zero,
)


class Execution:
    """A path executed with an alignment.

    Attributes:
        evaluator: the symbols introduced on the path, what is known of them, and the immediate obligations.
        deferred: what has to hold if the result is the foretold one, each with words.
        result: the parts of the result, where the path ends with one.
    """

    def __init__(
        self,
        state: State,
        path: ProgramPath,
        alignment: Alignment,
        promises: Mapping[int, Promise],
        bounds: Mapping[str, str],
        losses: Rational | None = None,
    ) -> None:
        self.state = state
        self.flow = state.flow
        self.program = state.flow.program
        self.path = path
        self.alignment = alignment
        self.promises = promises
        self.bounds = bounds
        self.losses = losses
        self.evaluator = Evaluator(state, alignment.place)
        self.deferred: list[tuple[str, str]] = []
        self.result: tuple[Value, ...] = ()
        self._numbers: set[int] = set()
        self._distances: set[int] = set()
        self._whole: set[int] = set()
        outcomes = dict(path.tests)
        for at in path.steps:
            self._step(at, outcome=outcomes.get(at))
        for exchange in alignment.exchanged:
            self._exchange(exchange)
        self._reads_exist()

    @property
    def now(self) -> dict[str, str]:
        """The terms of the changing symbols."""
        return self.evaluator.now

    def _exchange(self, exchange: Exchange) -> None:
        """Parts of one counter become parts of another, at the same cost."""
        taken, given = cost_of(exchange.names), cost_of(exchange.others)
        less = times(-exchange.times, f"(to_real {self.state.own(exchange.by)})", REAL)
        self.now[taken] = self.evaluator.named(plus(self.now[taken], less), REAL)
        self.now[given] = self.evaluator.named(plus(self.now[given], number(exchange.times, REAL)), REAL)

    def within_bounds(self) -> str:
        """That the costs are within the bounds now."""
        parts = []
        for cost, bound in self.bounds.items():
            counted = self.state.symbols[cost].sort == INT and not bound.isdigit()
            parts.append(f"(<= {real(self.now[cost], INT) if counted else self.now[cost]} {bound})")
        return both(parts)

    def foretold(self) -> tuple[str, str]:
        """That run 1 gives the foretold result, and what has to hold then."""
        premise, goal = [], [self.now["ok"], *(term for _, term in self.deferred), self.within_bounds()]
        for position, value in enumerate(self.result):
            if position in self.flow.outputs:
                output = self.state.own(output_of(position))
                premise.append(f"(= {value.one} {output})")
                goal.append(f"(= {value.two} {output})")
            else:
                goal.append(value.equal)
        return both(premise), both(goal)

    def _oblige(self, words: str, term: str) -> None:
        (self.deferred if self.flow.prophecy else self.evaluator.obligations).append((words, term))

    def _step(self, at: int, *, outcome: bool | None) -> None:
        evaluator = self.evaluator
        match self.program.code[at]:
            case Assign(name, value):
                self._assign(name, evaluator.value(value))
            case Sample() as sample:
                self._sample(at, sample)
            case SelectionPlace() as place:
                self._place(at, place)
            case Others() as others:
                self._others(at, others)
            case Ranked(names):
                self._ranked(at, names)
            case Coin(name):
                self._assign(name, Value.low("bool", evaluator.fresh(BOOL)))
            case Whole(name, low, high):
                least, most, drawn = evaluator.value(low).one, evaluator.value(high).one, evaluator.fresh(INT)
                evaluator.obligations.append((f"instruction {at}: there is a number to draw", f"(<= {least} {most})"))
                between = f"(and (<= {least} {drawn}) (<= {drawn} {most}))"
                evaluator.known.append(f"(=> (<= {least} {most}) {between})")
                self._assign(name, Value.low("int", drawn))
            case EmitOutput(parts):
                values = [evaluator.value(part) for part in parts]
                self._oblige(f"instruction {at}: the output is the same in both runs", both(v.equal for v in values))
            case Return(parts):
                self.result = tuple(evaluator.value(part) for part in parts)
            case Test(condition):
                test = evaluator.value(condition)
                evaluator.known.append(test.one if outcome else f"(not {test.one})")
                if test.one != test.two:
                    same = test.two if outcome else f"(not {test.two})"
                    self._oblige(f"instruction {at}: the test comes out the same in both runs", same)
            case Fill(name, count, value):
                many = evaluator.value(count).one
                evaluator.value(value)
                self._fill(name, f"(ite (< 0 {many}) {many} 0)")
            case Copy(name, source):
                self._copy(name, source)
            case Put(name, index, value):
                self._put(at, name, index, evaluator.value(value))
            case NextValue(name, stream):
                self._next(at, name, stream)
            case Forget(name):
                sort = self.program.variables[name]
                self._assign(name, Value.low(sort, evaluator.fresh(KINDS[sort])))

    def _fill(self, name: str, length: str) -> None:
        """A list whose entries are the same in both runs."""
        kind = KINDS[self.program.kept[name]]
        self.now[length_of(name)] = self.evaluator.named(length, INT)
        for k in range(self.state.places):
            self.now[place_of(name, k)], self.now[distance_at(name, k)] = "(- 1)", zero(kind)

    def _copy(self, name: str, source: str) -> None:
        """A list as another one; as an input of which one entry changes, if it is one of this list."""
        sort = self.program.kept[name]
        if source in self.program.kept:
            cast = self.program.kept[source] != sort
            self.now[length_of(name)] = self.now[length_of(source)]
            for k in range(self.state.places):
                gap = self.now[distance_at(source, k)]
                self.now[place_of(name, k)] = self.now[place_of(source, k)]
                self.now[distance_at(name, k)] = real(gap, INT) if cast else gap
            return
        declared, length = self.program.declared.inputs[source], self.state.length(source)
        self._fill(name, length)
        if declared.public:
            return
        if self.program.declared.relation != "one":
            refuse("a copy of a list in which every entry may differ", self.alignment.place)
        place = self.state.own("changed")
        value = self.evaluator.entry(declared, place).as_sort(sort)
        self.now[place_of(name, 0)] = place
        self.now[distance_at(name, 0)] = f"(ite (< {place} {length}) {value.gap} {zero(KINDS[sort])})"

    def _put(self, at: int, name: str, index: Expression | None, value: Value) -> None:
        """An entry of a list: what differed there does so no more, and what differs now takes a place that is free."""
        evaluator, sort = self.evaluator, self.program.kept[name]
        kind, length = KINDS[sort], self.now[length_of(name)]
        place = length if index is None else evaluator.place_in(name, index)
        gap = value.as_sort(sort).gap
        if index is None:
            self.now[length_of(name)] = evaluator.named(f"(+ {length} 1)", INT)
        left = []
        for k in range(self.state.places):
            where, apart = self.now[place_of(name, k)], self.now[distance_at(name, k)]
            left.append((where, evaluator.named(f"(ite (= {where} {place}) {zero(kind)} {apart})", kind)))
        if self.state.places == 2:  # a difference that is left alone is the first one
            (first, one), (second, other) = left
            gone = f"(= {one} {zero(kind)})"
            left = [
                (f"(ite (and {gone} (not (= {other} {zero(kind)}))) {second} {first})", f"(ite {gone} {other} {one})"),
                (
                    f"(ite (and {gone} (not (= {other} {zero(kind)}))) {first} {second})",
                    f"(ite {gone} {zero(kind)} {other})",
                ),
            ]
        taken = [f"(not (= {gap} {zero(kind)}))"]
        for k, (where, apart) in enumerate(left):
            where, apart = evaluator.named(where, INT), evaluator.named(apart, kind)
            free = f"(= {apart} {zero(kind)})"
            here = both((*taken, free))
            self.now[place_of(name, k)] = evaluator.named(f"(ite {here} {place} {where})", INT)
            self.now[distance_at(name, k)] = evaluator.named(f"(ite {here} {gap} {apart})", kind)
            taken.append(f"(not {free})")
        evaluator.obligations.append(
            (f"instruction {at}: there is room for one more difference in {name!r}", f"(not {both(taken)})")
        )

    def _place(self, at: int, step: SelectionPlace) -> None:
        """A place of a selection; that there is one more is an obligation, so that nothing follows where there is none."""
        evaluator = self.evaluator
        length, place = self._places(step.listed), evaluator.fresh(INT)
        exists = f"(< {len(step.before)} {length})"
        evaluator.obligations.append((f"instruction {at}: there is such a place", exists))
        known = [f"(<= 0 {place})", f"(< {place} {length})"]
        known += [f"(not (= {place} {self.now[other]}))" for other in step.before]
        evaluator.known.append(f"(=> {exists} {both(known)})")
        self._assign(step.name, Value.low("int", place))
        if not any(isinstance(each, Others) for each in self._block(at)) and not step.before:
            count = sum(isinstance(each, SelectionPlace) for each in self._block(at))
            evaluator.obligations.append((f"instruction {at}: there are no other places", f"(= {length} {count})"))

    def _places(self, listed: str | int) -> str:
        """How many places a selection has."""
        return self.state.length(listed) if isinstance(listed, str) else str(max(listed, 0))

    def _block(self, at: int) -> tuple[Instruction, ...]:
        """The instructions of the selection that an instruction is part of."""
        first, last = next((f, e) for f, e in self.flow.selections.items() if f <= at <= e)
        return self.program.code[first : last + 1]

    def _others(self, at: int, step: Others) -> None:
        """The largest of the other values: it moves at least as far as one of them, and at most as far as another one."""
        evaluator, first = self.evaluator, step.places[0]
        length = self._places(step.listed)
        exists = f"(< {len(step.places)} {length})"
        evaluator.obligations.append((f"instruction {at}: there are other places", exists))
        formula = next(each.value for each in self._block(at) if isinstance(each, Assign) and each.name == step.center)
        taken, chosen = [self.now[place] for place in step.places], self.now[first]
        ends = []
        for _ in range(2):
            place = evaluator.fresh(INT)
            known = [f"(<= 0 {place})", f"(< {place} {length})", *(f"(not (= {place} {other}))" for other in taken)]
            evaluator.known.append(f"(=> {exists} {both(known)})")
            before = len(evaluator.entries)
            self.now[first] = place
            ends.append(evaluator.value(formula).as_sort("real").gap)
            self.now[first] = chosen
            evaluator.hidden.update(range(before, len(evaluator.entries)))
        if self.losses is not None:
            self._within_losses(at, step, exists, ends)
        value, gap = evaluator.fresh(REAL), evaluator.fresh(REAL)
        evaluator.known.append(f"(=> {exists} (and (<= {ends[0]} {gap}) (<= {gap} {ends[1]})))")
        self._assign(step.name, Value.apart("real", value, gap))

    def _within_losses(self, at: int, step: Others, exists: str, ends: list[str]) -> None:
        """That no two centres change by amounts that are further apart than the range of losses allows, see `ranges`."""
        assert self.losses is not None
        most = number(self.losses * program_sample(self._block(at)).factor, REAL)
        high = step.center in self.flow.high
        here = self.now[distance_of(step.center)] if high else zero(REAL)
        here = real(here, KINDS[self.program.variables[step.center]]) if high else here
        for one, two in ((ends[0], ends[1]), (here, ends[0]), (ends[0], here)):
            words = f"instruction {at}: changes of two centres are within the range"
            self.evaluator.obligations.append((words, f"(=> {exists} (<= (- {one} {two}) {most}))"))

    def _ranked(self, at: int, names: tuple[str, ...]) -> None:
        for larger, smaller in pairwise(names):
            one, other = (
                (self.now[name], plus(self.now[name], self.now[distance_of(name)])) for name in (larger, smaller)
            )
            self.evaluator.known.append(f"(>= {one[0]} {other[0]})")
            self._oblige(
                f"instruction {at}: the values come in the same order in both runs", f"(>= {one[1]} {other[1]})"
            )

    def _assign(self, name: str, value: Value) -> None:
        new = value.as_sort(self.program.variables[name])
        self.now[name] = new.one
        if name not in self.flow.high:
            assert new.one == new.two
        elif new.gap:
            self.now[distance_of(name)] = new.gap
        else:
            self.now[other_of(name)] = new.two

    def _sample(self, at: int, sample: Sample) -> None:
        evaluator = self.evaluator
        if isinstance(sample.group, tuple) and SIZE in sample.group:
            above = f"(<= 1 {self.state.own(SIZE)})"
            evaluator.obligations.append((f"instruction {at}: the scale is above 0", above))
        if sample.gaussian:
            self._gaussian(at, sample)
            return
        sort, name = (INT, "int") if sample.whole else (REAL, "real")
        center = evaluator.value(sample.center).as_sort(name)
        noise, shift = evaluator.fresh(sort), evaluator.fresh(sort)
        evaluator.known.append(f"(= {shift} {self._shift(at, whole=sample.whole)})")
        if sample.kind == "exponential":
            evaluator.known.append(f"(<= 0.0 {noise})")
        if sample.kind in ("exponential", "gumbel"):
            self._oblige(f"instruction {at}: the shift is not below 0", f"(<= 0.0 {shift})")
        if sample.bound is not None:
            far, moved = number(sample.bound, REAL), plus(noise, shift)
            evaluator.known.append(f"(and (<= {noise} {far}) (<= (- {far}) {noise}))")
            within_range = f"(and (<= {moved} {far}) (<= (- {far}) {moved}))"
            self._oblige(f"instruction {at}: the shifted noise is in its range", within_range)
        moved = self._promise(at, noise, center, shift, sort)
        cost, size = cost_of(sample.group), f"(ite (<= {zero(sort)} {shift}) {shift} (- {shift}))"
        self.now[cost] = evaluator.named(plus(self.now[cost], times(1 / sample.factor, size, sort)), sort)
        self._shifted(sample.name, center, noise, moved, sort)

    def _shifted(self, name: str, center: Value, noise: str, moved: str, sort: str) -> None:
        """A variable becomes a centre and noise, which is moved in the other run."""
        one = self.evaluator.named(plus(center.one, noise), sort)
        gap = self.evaluator.named(plus(center.gap, moved), sort)
        self._assign(name, Value.apart("int" if sort == INT else "real", one, gap))

    def _gaussian(self, at: int, sample: Sample) -> None:
        """Gaussian noise: its shift is settled when it is drawn, and counted by a bound on it, ``s^2 <= reach |s|``.

        Where the squares of differences d are counted, ``|s| <= sum k |d|`` over entries read before bounds it too: by Cauchy and
        Schwarz ``s^2 <= (sum k^2) (sum d^2)``.

        Of discrete noise the centre is an integer, and so is the shift.
        """
        evaluator = self.evaluator
        sort, name = (INT, "int") if sample.whole else (REAL, "real")
        center = evaluator.value(sample.center).as_sort(name)
        settled = self.alignment.settled.get(at, ())
        noise, shift = evaluator.fresh(sort), evaluator.fresh(sort)
        self._promise(at, noise, center, shift, sort)
        away = real(shift, sort)
        size = f"(ite (<= 0.0 {away}) {away} (- {away}))"
        amount, reach, more = zero(sort), "0.0", "0.0"
        for each in reversed(settled):
            known_now = len(evaluator.entries)
            named = (*(r for r, _ in (*each.shift.reads, *each.spread)), *(c.read for c in each.when))
            if any(read >= known_now for read in named):
                refuse(f"the shift of instruction {at} depends on what is read later", self.alignment.place)
            chosen = (
                self._whole_amount(each.shift) if sample.whole else self._amount(each.shift),
                number(each.reach, REAL),
                times(each.reach / sample.variance, size, REAL),
            )
            when = self._condition(each.when)
            if each.spread:
                chosen = (*chosen[:2], self._by_squares(at, each.spread, sample.variance, size, when))
            amount, reach, more = (
                one if when == "true" else f"(ite {when} {one} {other})"
                for one, other in zip(chosen, (amount, reach, more), strict=True)
            )
        evaluator.known.append(f"(= {shift} {amount})")
        if settled:
            evaluator.obligations.append((f"instruction {at}: the shift is within its reach", f"(<= {size} {reach})"))
            cost = cost_of(sample.group)
            self.now[cost] = evaluator.named(plus(self.now[cost], more), REAL)
        self._shifted(sample.name, center, noise, shift, sort)

    def _by_squares(
        self, at: int, spread: tuple[tuple[int, Rational], ...], variance: Rational, size: str, when: str
    ) -> str:
        """What a shift costs that the differences of some entries bound."""
        factors = [factor for _, factor in spread]
        if any(factor < 0 for factor in factors):
            refuse("the factors of differences that bound a shift are at least 0", self.alignment.place)
        self._distances.update(read for read, _ in spread)
        sizes = [times(factor, f"(ite (<= 0.0 d{read}) d{read} (- d{read}))", REAL) for read, factor in spread]
        words = f"instruction {at}: the shift is within what the entries differ by"
        self.evaluator.obligations.append((words, implies(when, f"(<= {size} {plus(*sizes)})")))
        square = sum((factor * factor for factor in factors), ZERO)
        return times(square / variance, plus(*(f"p{read}" for read, _ in spread)), REAL)

    def _promise(self, at: int, noise: str, center: Value, shift: str, sort: str) -> str:
        """What is promised of noise, and that this is not promised more often than is paid for; how far off the noise of run 2 is."""
        promise = self.promises.get(at)
        if promise is None:
            return shift
        evaluator, gap, nothing = self.evaluator, center.gap, zero(sort)
        differs = "true" if promise.always else evaluator.named(f"(not (= {gap} {nothing}))", BOOL)
        if promise.paid is not None:
            differs = evaluator.named(f"(< {gap} {nothing})", BOOL)
            alone = evaluator.named(f"(and (< {nothing} {gap}) (<= {center.one} {nothing}))", BOOL)
            other, paid = evaluator.fresh(sort), number(promise.paid, sort)
            far = number(promise.beyond, sort)
            evaluator.known.append(implies(alone, f"(< {plus(noise, other)} {far})"))
            enough = implies(alone, f"(or (<= {paid} {shift}) (<= {shift} (- {paid})))")
            evaluator.obligations.append((f"instruction {at}: the shift pays for noise that run 2 draws anew", enough))
            shift = evaluator.named(f"(ite {alone} {other} {shift})", sort)
        evaluator.known.append(implies(differs, promise.kept(noise, gap, number(promise.beyond, sort))))
        given = evaluator.named(plus(self.now[promise.cost], f"(ite {differs} 1.0 0.0)"), REAL)
        self.now[promise.cost] = given
        words = f"instruction {at}: the promise is given no more often than is paid for"
        evaluator.obligations.append((words, f"(<= {given} {number(Rational(promise.times), REAL)})"))
        return shift

    def _shift(self, at: int, *, whole: bool = False) -> str:
        """The shift of a sample: that of the first case whose condition holds, and 0 if there is none."""
        term = "0" if whole else "0.0"
        for case in reversed(self.alignment.cases):
            shift = case.shifts.get(at)
            chosen = self._whole_amount(shift) if whole else self._amount(shift)
            condition = self._condition(case.when)
            term = chosen if condition == "true" else f"(ite {condition} {chosen} {term})"
        return term

    def _amount(self, shift: Shift | None) -> str:
        if shift is None:
            return "0.0"
        parts = [number(shift.constant, REAL)]
        for read, factor in shift.reads:
            self._distances.add(read)
            parts.append(times(factor, f"d{read}", REAL))
        for name, factor in shift.distances:
            symbol = distance_of(name)
            gap = self.now[symbol] if symbol in self.now else self.state.own(symbol)
            parts.append(times(factor, real(gap, self.state.symbols[symbol].sort), REAL))
        return plus(*parts)

    def _whole_amount(self, shift: Shift | None) -> str:
        """A shift that is an integer whatever the data are; any other is refused."""
        if shift is None:
            return "0"
        for factor in (shift.constant, *(each for _, each in (*shift.reads, *shift.distances))):
            if factor.q != 1:
                refuse(
                    f"{factor} is no integer, and noise on the integers is shifted by integers", self.alignment.place
                )
        parts = [number(shift.constant, INT)]
        for read, factor in shift.reads:
            self._whole.add(read)
            parts.append(times(factor, f"w{read}", INT))
        for name, factor in shift.distances:
            symbol = distance_of(name)
            if self.state.symbols[symbol].sort != INT:
                refuse(
                    f"{name[:40]!r} is no integer, and noise on the integers is shifted by integers",
                    self.alignment.place,
                )
            parts.append(times(factor, self.now[symbol] if symbol in self.now else self.state.own(symbol), INT))
        return plus(*parts)

    def _condition(self, when: tuple[CaseCondition, ...]) -> str:
        parts = []
        for each in when:
            output = "" if each.output is None else self.state.own(output_of(each.output))
            if each.output is None:
                term = self.state.own("up")
            elif each.value is None:
                self._numbers.add(each.read)
                term = f"(= j{each.read} {output})"
            else:
                term = f"(= {output} {self.evaluator.value(each.value).one})"
            parts.append(term if each.holds else f"(not {term})")
        return both(parts)

    def _reads_exist(self) -> None:
        for read in sorted(self._numbers | self._distances | self._whole):
            if read >= len(self.evaluator.entries):
                refuse(f"there is no read number {read} on this path", self.alignment.place)
            if read in self.evaluator.hidden:
                refuse(f"which entry read number {read} is depends on noise", self.alignment.place)
            if read in self._distances and not self.evaluator.entries[read].declared.numeric:
                refuse(f"read number {read} has no distance", self.alignment.place)
            if read in self._whole and self.evaluator.entries[read].declared.sort != "int":
                refuse(
                    f"read number {read} is no integer, and noise on the integers is shifted by integers",
                    self.alignment.place,
                )

    def _next(self, at: int, name: str, stream: str) -> None:
        """A value of a stream: whoever chooses it has seen what was put out, so the past has to be settled by now."""
        if any(read >= len(self.evaluator.entries) for read in self._distances | self._whole):
            refuse(f"a shift before instruction {at} depends on what is read later", self.alignment.place)
        words = f"instruction {at}: the costs are within the bounds"
        self.evaluator.obligations.append((words, self.within_bounds()))
        index = self.now[read_of(stream)]
        value = self.evaluator.entry(self.program.declared.inputs[stream], index)
        self.now[read_of(stream)] = plus(index, "1")
        self._assign(name, value)
