"""Two runs side by side: what every path between two cuts does to both of them, as formulas.

The first run has the data d and draws its noise; the second has neighbouring data d' and draws the same noise, shifted.  A path is followed
symbolically once, with a symbol for every shift, and summed up: when the first run takes it, what must hold so that the second run takes it
too and shows the same outputs (*obligations*), what the shifts cost, and the state behind it.  Numbers of the second run are kept as
distances from the first.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from fractions import Fraction
from functools import cached_property
from itertools import pairwise
from typing import TypeAlias

from privproof.compiling.differing import differs
from privproof.compiling.rewriting import Unsupported
from privproof.compiling.sampled import root_part
from privproof.compiling.scales import SIZE
from privproof.compiling.sorts import OTHERS, PLACE, RANKED, SHIFTED, Sort, input_sort, output_parts
from privproof.engines.laplace.kept import Kept, equal_entries_list
from privproof.engines.laplace.paths import DrawnNoise, Obligation, Path, Read, Walk
from privproof.engines.laplace.products import product_name
from privproof.engines.laplace.promises import PromiseLaw
from privproof.engines.laplace.reaches import values_added
from privproof.engines.laplace.solver import true, z3
from privproof.engines.laplace.symbols import COUNTED, Symbols
from privproof.engines.laplace.values import (
    Term,
    Value,
    add_values,
    alike,
    as_sort,
    choose_value,
    compare_values,
    gap,
    number,
    real,
    size_of,
    symbol,
)
from privproof.exact import fraction
from privproof.exact.patience import pause
from privproof.language.flow import Jump, Next, Test
from privproof.language.laws import GAUSSIAN, WHOLE
from privproof.language.syntax import (
    Append,
    Assign,
    Conditional,
    Constant,
    Element,
    Emit,
    Expression,
    Operation,
    Place,
    Replace,
    Return,
    Sample,
    Variable,
)
from privproof.language.values import MISSING
from privproof.language.walking import variables, within

_MOST_PATHS = 400
"""Paths between cuts: each is a condition for the solver, in every attempt. Beyond it no alignment is looked for."""


Context: TypeAlias = "tuple[Callable[[], Term], Callable[[], Term]]"
"""When an expression is evaluated, in the first run and in the second; terms are made in the context of the solver at hand."""

_ALWAYS: Context = (true, true)


def _narrowed(context: Context, one: Term, two: Term) -> Context:
    """A context in which something else holds, in each run."""
    first, second = context
    return (lambda: z3.And(first(), one)), (lambda: z3.And(second(), two))


class Blocks(Symbols):
    """The paths of a program, and the symbols of its state."""

    def foretold(self, path: Path) -> list[Term]:
        """That the first run returns what is foretold, at the end of a path."""
        return [path.parts[k].one == self.fixed[f"output {k}"] for k in self.prophesied]

    def kept(self, path: Path) -> list[Term]:
        """That the second run does."""
        return [path.parts[k].two == self.fixed[f"output {k}"] for k in self.prophesied]

    @cached_property
    def paths(self) -> tuple[Path, ...]:
        """All paths between cuts."""
        found: list[Path] = []
        for cut in self.program.cuts:
            values = {
                n: self.state_value(n)
                for n in self.program.live[cut]
                if n in self.program.sorts and n not in self.program.inputs
            }
            walk = Walk(values)
            walk.kept |= {name: self.kept_state(name) for name in self.program.live[cut] if name in self.program.kept}
            for name, declared in self.program.inputs.items():
                if declared.shape == "stream":
                    walk.counts[f"read: {name}"] = z3.Int(f"read: {name}")
                if self.norm is not None and not declared.public:
                    walk.counts[f"passed: {name}"] = z3.Int(f"passed: {name}")
                    walk.counts[f"spent: {name}"] = z3.Real(f"spent: {name}")
            found += self._from(cut, cut, walk)
            if len(found) > _MOST_PATHS:
                raise Unsupported(f"there are more than {_MOST_PATHS} paths through its blocks")
        return tuple(found)

    def _from(self, cut: int, at: int, walk: Walk) -> Iterator[Path]:
        first = True
        while True:
            if at in self.program.cuts and not first:
                yield self._path(cut, at, walk, ())
                return
            first = False
            pause()
            step = self.program.code[at]
            match step:
                case Jump(target):
                    at = target
                    continue
                case Assign(name, Operation() as made) if name in self.program.kept:
                    walk.kept[name] = self._made(name, made, walk)
                case Replace() | Append():
                    self._write(step, walk)
                case Assign(name, value):
                    if isinstance(value, Constant) and value.value is MISSING:
                        if name in self.program.sorts:
                            walk.values[name] = self._any(walk, name)
                    else:
                        found = self.evaluate(value, walk, _ALWAYS)
                        walk.values[name] = as_sort(self.program.sorts[name], found, high=name in self.program.high)
                case Sample():
                    self._sample(at, step, walk)
                case Emit(value, place):
                    for part in output_parts(value):
                        found = self.evaluate(part, walk, _ALWAYS)
                        self._same(found, walk, "the two runs write the same", place)
                case Next(name, stream):
                    walk.looks = True
                    walk.values[name] = self._next(stream, walk)
                case Test():
                    yield from self._branch(cut, at, step, walk)
                    return
                case Return(value):
                    parts = tuple(self.evaluate(part, walk, _ALWAYS) for part in output_parts(value))
                    yield self._path(cut, None, walk, parts, step.place)
                    return
                case _:
                    raise Unsupported(f"{type(step).__name__}, {step.place}")
            at += 1

    def _branch(self, cut: int, at: int, step: Test, walk: Walk) -> Iterator[Path]:
        found = self.evaluate(step.test, walk, _ALWAYS)
        if found.sort != "bool":
            raise Unsupported(f"a test that is no truth value, {step.place}")
        apart = self._gap(step.test, walk) if found.other is not None else None
        for outcome, target in ((True, step.then), (False, step.otherwise)):
            condition = z3.simplify(found.one if outcome else z3.Not(found.one))
            if z3.is_false(condition):
                continue
            branch = walk.copy()
            branch.tests.append((at, outcome))
            branch.condition.append(condition)
            if found.other is not None:
                must = found.other if outcome else z3.Not(found.other)
                signed = None if apart is None else apart if outcome else -apart
                branch.obligations.append(Obligation(must, "the two runs decide alike", step.place, signed))
            yield from self._from_next(cut, target, branch)

    def _from_next(self, cut: int, at: int, walk: Walk) -> Iterator[Path]:
        if at in self.program.cuts:
            yield self._path(cut, at, walk, ())
        else:
            yield from self._from(cut, at, walk)

    def _path(
        self, cut: int, target: int | None, walk: Walk, parts: tuple[Value, ...], place: Place | None = None
    ) -> Path:
        obligations = list(walk.obligations)
        after: dict[str, Term] = {}
        if target is None:
            for k, part in enumerate(parts):
                if k not in self.prophesied and part.other is not None:
                    assert place is not None
                    same = part.other == 0 if part.sort in ("int", "real") else part.one == part.other
                    obligations.append(Obligation(same, "the two runs return the same", place))
        else:
            for name in self.state(target):
                base, _, kind = name.partition(": ")
                if name.startswith(COUNTED):
                    after[name] = walk.counts[name]
                elif base in self.program.kept:
                    after[name] = self._held(base, walk).symbols(base)[name]
                elif base not in walk.values:
                    after[name] = self._unknown(walk, name, self.program.sorts[base])
                else:
                    value = walk.values[base]
                    after[name] = value.one if not kind else value.other
                    if kind and value.other is None:
                        zero = z3.IntVal(0) if value.sort == "int" else z3.RealVal(0)
                        after[name] = zero if value.sort in ("int", "real") else value.one
        return Path(
            cut, target, tuple(walk.tests), z3.And(*walk.condition) if walk.condition else true(),
            tuple(walk.safety), tuple(obligations), tuple(walk.drawn), tuple(walk.reads), tuple(walk.fresh), after, parts,
            walk.looks,
        )  # fmt: skip

    def _unknown(self, walk: Walk, stem: str, sort: Sort) -> Term:
        self._fresh += 1
        term = symbol(f"{stem}!{self._fresh}", sort)
        walk.fresh.append(term)
        return term

    def _any(self, walk: Walk, name: str) -> Value:
        value = Value(self.program.sorts[name], self._unknown(walk, name, self.program.sorts[name]))
        return as_sort(value.sort, value, high=name in self.program.high)

    def _same(self, value: Value, walk: Walk, what: str, place: Place) -> None:
        if value.other is not None:
            same = value.other == 0 if value.sort in ("int", "real") else value.one == value.other
            walk.obligations.append(Obligation(same, what, place))

    @cached_property
    def fails_alike(self) -> bool:
        """Whether both runs fail together where they do: all tests are decided by what they share."""
        return not any(
            isinstance(step, Test) and differs(step.test, self.program.high, self.mechanism)
            for step in self.program.code
        )

    def _held(self, name: str, walk: Walk) -> Kept:
        """A list; one that was never made is any list, the same in both runs."""
        if name not in walk.kept:
            self._fresh += 1
            count = self._unknown(walk, f"{name}: length", "int")
            walk.kept[name] = equal_entries_list(self.program.kept[name], count, self.places)
        return walk.kept[name]

    def _made(self, name: str, made: Operation, walk: Walk) -> Kept:
        """What a list is assigned."""
        sort = self.program.kept[name]
        match made:
            case Operation("filled", (count, value), place):
                many = self.evaluate(count, walk, _ALWAYS)
                entry = self.evaluate(value, walk, _ALWAYS)
                if many.other is not None or many.sort != "int":
                    raise Unsupported(f"a list whose length depends on the data or on noise, {place}")
                if entry.other is not None:
                    raise Unsupported(f"a list that is filled with what depends on the data or on noise, {place}")
                return equal_entries_list(sort, many.one, self.places)
            case Operation("copied", (Variable(source),), place):
                if source not in self.program.inputs:
                    return replace(self._held(source, walk), sort=sort)
                if self.program.inputs[source].public:
                    return equal_entries_list(sort, self.length(source), self.places)
                if self.program.relation != "one":
                    raise Unsupported(f"a list in which every entry may differ is kept, {place}")
                copied, changed = equal_entries_list(sort, self.length(source), self.places), self.fixed["changed"]
                apart = self.apart(source, changed)
                inside = z3.And(changed >= 0, changed < copied.count)
                differs_by = z3.If(inside, real(apart) if sort == "real" else apart, copied.zero)
                return replace(
                    copied,
                    places=(changed, *copied.places[1:]),
                    distances=(z3.simplify(differs_by), *copied.distances[1:]),
                )
        raise Unsupported(f"a list is made, {made.place}")

    def _write(self, step: Replace | Append, walk: Walk) -> None:
        """Change an entry of a list, or add one."""
        held = self._held(step.name, walk)
        if isinstance(step, Replace):
            place = self._place_in(step.name, step.index, step.place, walk, _ALWAYS)
        value = self.evaluate(step.value, walk, _ALWAYS)
        if value.sort not in ("int", "real") or (held.sort, value.sort) == ("int", "real"):
            raise Unsupported(f"the list {step.name} holds something that is no number, {step.place}")
        made, room = held.with_more(gap(value)) if isinstance(step, Append) else held.with_entry(place, gap(value))
        walk.kept[step.name] = made
        if not z3.is_true(room):
            more = "one place" if self.places == 1 else f"{self.places} places"
            walk.obligations.append(
                Obligation(room, f"the two runs differ in {step.name} at {more} at most", step.place)
            )

    def _place_in(self, name: str, index: Expression, place: Place, walk: Walk, context: Context) -> Term:
        """A place of a list by an index: where it does not exist, the function fails."""
        held, at = self._held(name, walk), self.evaluate(index, walk, context)
        if at.other is not None or at.sort != "int":
            raise Unsupported(f"an index that depends on the data or on noise, {place}")
        found = held.index(at.one)
        self._fails_unless(held.holds(found), f"{name} has a place with this index", place, walk, context)
        return found

    def _fails_unless(self, holds: Term, what: str, place: Place, walk: Walk, context: Context) -> None:
        """Where a condition on what both runs share does not hold the function fails, which it must not unless both runs do."""
        evaluated = z3.Or(*(term() for term in context))
        holds = z3.simplify(z3.Implies(evaluated, holds))
        if self.fails_alike and context is _ALWAYS:
            walk.condition.append(holds)
        else:
            walk.safety.append(Obligation(holds, what, place))

    def _of_kept(
        self, name: str, arguments: tuple[Expression, ...], place: Place, walk: Walk, context: Context
    ) -> Value:
        """An entry of a list that is kept, the sum of a part of it, or its length."""
        (held, *places) = arguments
        assert isinstance(held, Variable)
        kept = self._held(held.name, walk)
        if name == "length":
            return Value("int", kept.count)
        if name == "entry":
            distance = kept.entry(self._place_in(held.name, places[0], place, walk, context))
        else:
            ends = [self.evaluate(each, walk, context) for each in places]
            if any(end.other is not None or end.sort != "int" for end in ends):
                raise Unsupported(f"a part of a list whose ends depend on the data or on noise, {place}")
            distance = kept.part(*(kept.index(end.one) for end in ends))
        high = held.name in self.program.high
        return Value(kept.sort, self._unknown(walk, held.name, kept.sort), distance if high else None)

    def _chosen_place(self, step: Sample, walk: Walk) -> None:
        """A place of a selection: any but those before, the same in both runs."""
        length, *before = (self.evaluate(argument, walk, _ALWAYS).one for argument in step.arguments)
        place = self._unknown(walk, step.name, "int")
        walk.condition += [place >= 0, place < length, *(place != other for other in before)]
        walk.values[step.name] = Value("int", place)

    def _others(self, at: int, step: Sample, walk: Walk) -> None:
        """The largest value at all other places: it moves as far as some of these, whose noise is not shifted, do at least and at most."""
        length, center, *places = step.arguments
        assert isinstance(center, Variable)
        assert isinstance(places[0], Variable)
        formula = next(s.value for s in self.program.code[at::-1] if isinstance(s, Assign) and s.name == center.name)
        size = self.evaluate(length, walk, _ALWAYS).one
        taken = [self.evaluate(place, walk, _ALWAYS).one for place in places]
        first = walk.values[places[0].name]
        ends = []
        for _ in range(2):
            place = self._unknown(walk, "other place", "int")
            walk.condition += [place >= 0, place < size, *(place != other for other in taken)]
            walk.values[places[0].name] = Value("int", place)
            known = len(walk.reads)
            ends.append(real(self.evaluate(formula, walk, _ALWAYS).distance))
            walk.reads[known:] = [replace(read, hidden=True) for read in walk.reads[known:]]
        walk.values[places[0].name] = first
        value, distance = (self._unknown(walk, f"{step.name}{kind}", "real") for kind in ("", ": distance"))
        walk.condition += [ends[0] <= distance, distance <= ends[1]]
        walk.values[step.name] = Value("real", value, distance)

    def _ranked(self, step: Sample, walk: Walk) -> None:
        """The values of a selection come in this order, in both runs."""
        values = [self.evaluate(argument, walk, _ALWAYS) for argument in step.arguments]
        for larger, smaller in pairwise(values):
            walk.condition.append(larger.one >= smaller.one)
            walk.obligations.append(
                Obligation(
                    larger.two >= smaller.two,
                    "the two runs select alike",
                    step.place,
                    real(larger.distance) - real(smaller.distance),
                )
            )
        walk.values[step.name] = Value("bool", true())

    @cached_property
    def open_names(self) -> frozenset[str]:
        """The variables that only noise flows into that is never shifted: the largest of the others of a selection."""
        return frozenset(step.name for step in self.program.sites if step.noise == OTHERS)

    def others_of(self, instruction: int) -> str | None:
        """The variable that holds the largest of the others of the selection that a draw is part of; None if there is none."""
        for step in self.program.code[instruction::-1]:
            if isinstance(step, Sample) and step.noise == OTHERS:
                return step.name
            if not isinstance(step, Sample) or step.noise in (PLACE, RANKED):
                return None
        return None

    def _sample(self, at: int, step: Sample, walk: Walk) -> None:
        if step.noise == PLACE:
            return self._chosen_place(step, walk)
        if step.noise == OTHERS:
            return self._others(at, step, walk)
        if step.noise == RANKED:
            return self._ranked(step, walk)
        if step.noise not in SHIFTED:
            for argument in step.arguments:
                if self.evaluate(argument, walk, _ALWAYS).other is not None:
                    raise Unsupported(f"{step.noise} noise that depends on the data, {step.place}")
            walk.values[step.name] = Value(
                self.program.sorts[step.name], self._unknown(walk, step.name, self.program.sorts[step.name])
            )
            if step.noise == "uniform":
                low, high = (self.evaluate(a, walk, _ALWAYS).one for a in step.arguments[:2])
                drawn = walk.values[step.name].one
                walk.condition += [drawn >= low, drawn <= high]
            if step.name in self.program.high:
                walk.values[step.name] = as_sort(self.program.sorts[step.name], walk.values[step.name], high=True)
            return
        center = self.evaluate(step.arguments[0], walk, _ALWAYS)
        if isinstance(step.arguments[0], Variable) and step.arguments[0].name in self.program.optional:
            self._present(step.arguments[0].name, step.place, walk, _ALWAYS)
        scale = self.program.scale(step)
        whole = step.noise in WHOLE
        if whole and center.sort != "int":
            raise Unsupported(f"noise on the integers is added to a number that may not be whole, {step.place}")
        if whole and self.program.sorts[step.name] != "int":
            raise Unsupported(
                f"{step.name} holds noise on the integers and numbers that may not be whole, {step.place}"
            )
        sort: Sort = "int" if whole else "real"
        noise = self._unknown(walk, "noise", sort)
        self._fresh += 1
        shift = symbol(f"shift!{self._fresh}", sort)
        if step.noise == "exponential":
            walk.condition.append(noise >= 0)
        if step.noise in ("exponential", "gumbel"):
            walk.obligations.append(Obligation(shift >= 0, "the shift keeps the noise in its range", step.place, shift))
        if scale.bound is not None:
            reach = number(fraction(scale.bound))
            walk.condition += [noise <= reach, -noise <= reach]
            for side in (noise + shift <= reach, -(noise + shift) <= reach):
                walk.obligations.append(Obligation(side, "the shift keeps the noise in its range", step.place))
        if SIZE in scale.names:
            walk.obligations.append(Obligation(self.fixed[SIZE] >= 1, "the scale is above 0", step.place))
        if step.noise in GAUSSIAN:
            if scale.names:
                raise Unsupported(f"the standard deviation is no number, {step.place}")
            near = z3.And(real(shift) <= number(self.reaches[at]), -real(shift) <= number(self.reaches[at]))
            walk.obligations.append(Obligation(near, "the shift is within its reach", step.place))
        center = as_sort(sort, center)
        promised, moved = self._promised(step, center, noise, shift, walk)
        walk.values[step.name] = Value(sort, center.one + noise, gap(center) + moved)
        free = {
            name: gap(value)
            for name, value in walk.values.items()
            if name in self.program.high
            and (name not in self.program.noisy or name in self.open_names)
            and value.sort in ("int", "real")
        }
        for name in self.private:
            if self.program.inputs[name].shape == "value":
                free[name] = self.apart(name, None)
        so_far = len(walk.tests), len(walk.reads)
        reach = self.reaches.get(at, Fraction(0))
        walk.drawn.append(
            DrawnNoise(at, step.noise, fraction(scale.factor), scale.group, shift, free, *so_far, reach, promised)
        )

    def _promised(
        self, step: Sample, center: Value, noise: Term, shift: Term, walk: Walk
    ) -> tuple[tuple[tuple[str, ...], Term] | None, Term]:
        """What counts a promise and whether it is given, which the noise keeps; and by how much the noise of run 2 is another one."""
        scale = self.program.scale(step)
        law = PromiseLaw.of(step.noise, scale)
        promise = next((each for each in self.promises if each.law == law and not scale.names), None)
        known = center.other is not None and not self.program.noisy.intersection(variables(step.arguments[0]))
        if promise is None or not (known or promise.always):
            return None, shift
        apart, whole = gap(center), step.noise in WHOLE
        far = z3.IntVal(int(promise.far)) if whole else number(promise.far)
        kept = {
            "below": noise < far,
            "above": noise > -far,
            "against": z3.If(apart < 0, noise < far, noise > -far),
        }[promise.side]
        given, moved = apart != 0, shift
        if promise.always:
            given = z3.BoolVal(val=True)
        if promise.paid is not None:
            given, alone = apart < 0, z3.And(apart > 0, center.one <= 0)
            other = self._unknown(walk, "noise of run 2", "int" if whole else "real")
            walk.condition.append(z3.Implies(alone, noise + other < far))
            paid = z3.IntVal(int(promise.paid)) if whole else number(promise.paid)
            enough = z3.Implies(alone, z3.Or(shift >= paid, -shift >= paid))
            walk.obligations.append(
                Obligation(enough, "the shift pays for noise of run 2 that is drawn anew", step.place)
            )
            moved = z3.If(alone, other, shift)
        walk.condition.append(z3.Implies(given, kept))
        return (promise.group, z3.If(given, z3.RealVal(1), z3.RealVal(0))), moved

    def _next(self, stream: str, walk: Walk) -> Value:
        declared = self.program.inputs[stream]
        index = walk.counts[f"read: {stream}"]
        sort: Sort = "real" if declared.real else "int"
        value = self._fetch(stream, index, sort, walk)
        walk.counts[f"read: {stream}"] = index + 1
        return value

    def _fetch(self, name: str, index: Term, sort: Sort, walk: Walk) -> Value:
        declared = self.program.inputs[name]
        one = self._unknown(walk, name, sort)
        if declared.public:
            value = Value(sort, one)
        elif self.program.relation == "one":
            value = Value(sort, one, self.apart(name, index))
        else:
            value = Value(sort, one, self._unknown(walk, f"{name}: distance", sort))
            walk.condition += self._within(name, value.other)
        walk.condition += self._ranged(name, value)
        if not declared.public:
            square = None if self.norm is None else self._spend(name, index, value.other, walk)
            walk.reads.append(Read(name, index, one, value.other, square=square))
        return value

    def _spend(self, name: str, index: Term, distance: Term, walk: Walk) -> Term:
        """An entry takes its part of the norm when it is first read; its square, if this is what is counted."""
        most = self.program.inputs[name].within
        assert most is not None
        size, square = size_of(real(distance)), None
        if self.norm == "l2":
            square = self._unknown(walk, f"{name}: square", "real")
            walk.condition += [square >= 0, square <= number(most) * size]
            length = self.program.inputs[name].size or self.program.size
            if length:  # a tangent of the square, where all changes are alike
                near = fraction(most) * root_part(length)
                walk.condition.append(square >= number(2 * near) * size - number(near**2))
        passed, spent = walk.counts[f"passed: {name}"], walk.counts[f"spent: {name}"]
        first = index >= passed
        walk.counts[f"passed: {name}"] = z3.simplify(z3.If(first, index + 1, passed))
        more = z3.If(first, size if square is None else square, z3.RealVal(0))
        walk.counts[f"spent: {name}"] = spent + more
        walk.condition.append(spent + more <= number(most if square is None else most**2))
        return square

    def length(self, name: str) -> Term:
        """The length of a list."""
        fixed = self.program.inputs[name].size
        return z3.IntVal(fixed) if fixed is not None else self.fixed["size"]

    def evaluate(self, expression: Expression, walk: Walk, context: Context) -> Value:
        """An expression in both runs; the context is when each of them evaluates it."""
        match expression:
            case Constant(bool() as value):
                return Value("bool", z3.BoolVal(value))
            case Constant(int() as value):
                return Value("int", z3.IntVal(value))
            case Constant(Fraction() as value):
                return Value("real", number(value))
            case Constant(value):
                return Value("tag", z3.IntVal(self.program.tags.get(value, -1)))
            case Variable(name, place):
                if name in self.program.inputs:
                    declared = self.program.inputs[name]
                    other = None if declared.public else self.apart(name, None)
                    return Value(self.program.sorts[name], self.fixed[name], other)
                if name not in walk.values:
                    if name not in self.program.sorts:
                        raise Unsupported(f"{name} has no value, {place}")
                    walk.values[name] = self._any(walk, name)
                return walk.values[name]
            case Element(Variable(name), index, place):
                return self._element(name, index, place, walk, context)
            case Conditional(test, then, otherwise):
                return self._conditional(test, then, otherwise, walk, context)
            case Operation(name, arguments, place):
                pause()
                return self._operation(name, arguments, place, walk, context)
        raise Unsupported(f"an expression at {expression.place}")

    def _present(self, name: str, place: Place, walk: Walk, context: Context) -> None:
        """A number that may be None is used: it must be there."""
        flag = walk.values.get(self.program.optional[name])
        if flag is not None:
            one, two = (term() for term in context)
            there = z3.And(z3.Implies(one, z3.Not(flag.one)), z3.Implies(two, z3.Not(flag.two)))
            if not z3.is_true(z3.simplify(there)):
                walk.safety.append(Obligation(there, f"{name} is a number", place))

    def _element(self, name: str, index: Expression, place: Place, walk: Walk, context: Context) -> Value:
        at = self.evaluate(index, walk, context)
        if at.other is not None or at.sort != "int":
            raise Unsupported(f"an index that depends on the data or on noise, {place}")
        inside = z3.And(at.one >= 0, at.one < self.length(name))
        read = z3.Or(*(term() for term in context))
        walk.safety.append(Obligation(z3.Implies(read, inside), f"{name} is not read past its end", place))
        term = z3.simplify(at.one)
        key = (name, term.sexpr())
        if key not in walk.known:
            sort = input_sort(self.program.inputs[name])
            walk.known[key] = self._fetch(name, term, sort, walk)
        return walk.known[key]

    def _conditional(
        self, test: Expression, then: Expression, otherwise: Expression, walk: Walk, context: Context
    ) -> Value:
        decided = self.evaluate(test, walk, context)
        a = self.evaluate(then, walk, _narrowed(context, decided.one, decided.two))
        b = self.evaluate(otherwise, walk, _narrowed(context, z3.Not(decided.one), z3.Not(decided.two)))
        sort: Sort = "real" if {a.sort, b.sort} == {"int", "real"} else a.sort
        a, b = as_sort(sort, a), as_sort(sort, b)
        one = z3.If(decided.one, a.one, b.one)
        if decided.other is None and a.other is None and b.other is None:
            return Value(sort, one)
        if sort not in ("int", "real"):
            other = decided.one if decided.other is None else decided.other
            return Value(sort, one, z3.If(other, a.two, b.two))
        if decided.other is None:
            return Value(sort, one, z3.If(decided.one, gap(a), gap(b)))
        # the distance, without the value where both runs choose alike
        alike = z3.And(decided.one, decided.other)
        neither_ = z3.And(z3.Not(decided.one), z3.Not(decided.other))
        distance = z3.If(alike, gap(a), z3.If(neither_, gap(b), z3.If(decided.one, b.two - a.one, a.two - b.one)))
        return Value(sort, one, distance)

    def _operation(
        self, name: str, arguments: tuple[Expression, ...], place: Place, walk: Walk, context: Context
    ) -> Value:
        if name in ("len", "turns") and isinstance(arguments[0], Variable) and arguments[0].name in self.program.inputs:
            return Value("int", self.length(arguments[0].name))
        if name in ("and", "or"):
            return self._logic(name, arguments, walk, context)
        if name == "total":
            return self._total(arguments, place, walk)
        if name in ("entry", "part", "length"):
            return self._of_kept(name, arguments, place, walk, context)
        if name == "position":
            return Value("int", self.fixed["changed"])
        if name in ("record", "field"):
            return self.records.value(Operation(name, arguments, place), walk.run)
        values = [self.evaluate(a, walk, context) for a in arguments]
        for argument in arguments:
            if isinstance(argument, Variable) and argument.name in self.program.optional:
                self._present(argument.name, argument.place, walk, context)
        match name:
            case "not":
                (a,) = values
                return Value("bool", z3.Not(a.one), None if a.other is None else z3.Not(a.other))
            case "whole" | "pos" | "bool":
                return values[0]
            case "neg":
                (a,) = values
                return Value(a.sort, -a.one, None if a.other is None else -a.other)
            case "+" | "extend" | "-":
                return add_values(values[0], values[1], 1 if name != "-" else -1)
            case "*" if (known := self.product_in(Operation(name, arguments, place))) is not None:
                return Value("int", known[0] * self.fixed[product_name(known[1])])
            case "*" if walk.run and (record := _record_in(arguments)) is not None:
                return self._of_record(Operation(name, arguments, place), record, values, walk)
            case "*" | "repeat":
                return self._product(values[0], values[1], place, walk)
            case "/":
                return self._quotient(values[0], values[1], place)
            case "//" | "%":
                return self._whole_part(name, values[0], values[1], place, walk, context)
            case ">>" | "<<" | "&" | "|" | "^" | "**" | "bit_length":
                return self._bits(name, values, place, walk, context)
            case "abs":
                (a,) = values
                test = Value("bool", a.one >= 0, None if a.other is None else a.two >= 0)
                return choose_value(test, a, Value(a.sort, -a.one, None if a.other is None else -a.other))
            case "max" | "min":
                best = values[0]
                for value in values[1:]:
                    best, value = alike(best, value)
                    better = compare_values(">" if name == "max" else "<", value, best)
                    best = choose_value(better, value, best)
                return best
            case "is" | "is not" | "==" | "!=" | "<" | "<=" | ">" | ">=":
                return compare_values(name, values[0], values[1])
        raise Unsupported(f"{name}, {place}")

    def _total(self, arguments: tuple[Expression, ...], place: Place, walk: Walk) -> Value:
        """A sum over all records: any number in the first run, and moved by the one record that changes in the second."""
        source, added = arguments
        assert isinstance(source, Variable)
        sides = []
        for run in (1, 2):
            inside = walk.copy()
            inside.run = run
            value = self.evaluate(added, inside, _ALWAYS)
            unknown = set(inside.fresh) - set(walk.fresh) - set(inside.of_record.values())
            if value.other is not None or unknown or len(inside.reads) > len(walk.reads):
                raise Unsupported(f"what is summed up depends on more than the record and public numbers, {place}")
            walk.fresh, walk.condition, walk.of_record = inside.fresh, inside.condition, inside.of_record
            sides.append(value)
        one, two = alike(*sides)
        moved = self.records.moved(source.name, one.one, two.one)
        return Value(one.sort, self._unknown(walk, "total", one.sort), moved)

    def _logic(self, name: str, arguments: tuple[Expression, ...], walk: Walk, context: Context) -> Value:
        ones: list[Term] = []
        others: list[Term] = []
        high = False
        for argument in arguments:
            value = self.evaluate(argument, walk, context)
            ones.append(value.one)
            others.append(value.two)
            high = high or value.other is not None
            goes_on = (value.one, value.two) if name == "and" else (z3.Not(value.one), z3.Not(value.two))
            context = _narrowed(context, *goes_on)
        joined = z3.And if name == "and" else z3.Or
        return Value("bool", joined(*ones), joined(*others) if high else None)

    def _of_record(self, product: Operation, name: str, values: list[Value], walk: Walk) -> Value:
        """A product of what a record holds: any number between its ends, the same one wherever it stands."""
        ends = values_added(product, self.program.inputs[name])
        if ends is None:
            raise Unsupported(f"a product of what a record holds, without bounds, {product.place}")
        sort: Sort = "int" if {value.sort for value in values} == {"int"} else "real"
        key = tuple(z3.simplify(value.one).sexpr() for value in values)
        if key not in walk.of_record:
            term = self._unknown(walk, "of record", sort)
            walk.of_record[key] = term
            walk.condition += [number(ends[0]) <= real(term), real(term) <= number(ends[1])]
        return Value(sort, walk.of_record[key])

    def _product(self, a: Value, b: Value, place: Place, walk: Walk) -> Value:
        for one, other in ((a, b), (b, a)):
            constant = z3.simplify(one.one)
            if one.other is None and (z3.is_int_value(constant) or z3.is_rational_value(constant)):
                if z3.is_int_value(constant) and other.sort == "int":
                    return Value("int", constant * other.one, None if other.other is None else constant * other.other)
                factor = real(constant)
                distance = None if other.other is None else factor * real(other.other)
                return Value("real", factor * real(other.one), distance)
        if a.other is None and b.other is None:
            sort: Sort = "int" if a.sort == b.sort == "int" else "real"
            return Value(sort, self._unknown(walk, "product", sort))
        raise Unsupported(f"a product of a private value and a public variable, {place}")

    def _quotient(self, a: Value, b: Value, place: Place) -> Value:
        constant = z3.simplify(b.one)
        if b.other is not None or not (z3.is_int_value(constant) or z3.is_rational_value(constant)):
            raise Unsupported(f"a quotient by something that is no constant, {place}")
        below = real(constant)
        return Value("real", real(a.one) / below, None if a.other is None else real(a.other) / below)

    def _whole_part(self, name: str, a: Value, b: Value, place: Place, walk: Walk, context: Context) -> Value:
        if a.other is not None or b.other is not None or a.sort != "int" or b.sort != "int":
            raise Unsupported(f"{name} of something that is no public whole number, {place}")
        constant = z3.simplify(b.one)
        if z3.is_int_value(constant) and constant.as_long() > 0:
            return Value("int", a.one / constant if name == "//" else a.one % constant)
        if context is not _ALWAYS:
            alone = z3.Xor(*(term() for term in context))
            walk.safety.append(Obligation(z3.Implies(alone, b.one != 0), "no run alone divides by 0", place))
        value = self._unknown(walk, "quotient" if name == "//" else "remainder", "int")
        self.remainders.append((value, name, a.one, b.one))
        return Value("int", value)

    def _bits(self, name: str, values: list[Value], place: Place, walk: Walk, context: Context) -> Value:
        """An operation on public whole numbers: any whole number in proofs, its own in the search for alignments."""
        if any(value.other is not None or value.sort != "int" for value in values):
            raise Unsupported(f"{name} of something that is no public whole number, {place}")
        if name == "**":
            walk.safety.append(Obligation(values[1].one >= 0, "the exponent is at least 0", place))
        if name in ("<<", ">>"):
            self._fails_unless(values[1].one >= 0, "the shift is at least 0", place, walk, context)
        value = self._unknown(walk, "bits", "int")
        self.remainders.append((value, name, values[0].one, values[-1].one))
        if name in ("**", "<<"):
            walk.condition.append(z3.Implies(z3.And(values[0].one >= 1, values[1].one >= 0), value >= 1))
        return Value("int", value)

    def _gap(self, test: Expression, walk: Walk) -> Term:
        """The distance of a comparison that noise takes part in: where it is not negative the true outcome is kept."""
        match test:
            case Operation("<" | "<=" | ">" | ">=" as name, (left, right)):
                if not self.program.noisy.intersection(variables(test)):
                    return None
                a, b = (self.evaluate(e, walk.copy(), _ALWAYS) for e in (left, right))
                if {a.sort, b.sort} - {"int", "real"}:
                    return None
                difference = real(a.distance) - real(b.distance)
                return difference if name in (">", ">=") else -difference
            case Operation("not", (inner,)):
                inside = self._gap(inner, walk)
                return None if inside is None else -inside
            case _:
                return None


def _record_in(factors: tuple[Expression, ...]) -> str | None:
    """The list of whose record several factors speak, neither of which is a constant."""
    found = {
        part.arguments[0].name
        for factor in factors
        for part in within(factor)
        if isinstance(part, Operation) and part.name == "record" and isinstance(part.arguments[0], Variable)
    }
    return None if any(isinstance(factor, Constant) for factor in factors) else next(iter(found), None)
