"""Stream automata: that the automaton of a question does what the text does, from one number of the stream to the next.

The text and the automaton are followed together.  A *pair* is a state of the automaton and a run of the function that waits for a
number, whose noisy numbers are expressed in the thresholds of the automaton.  From a pair the function goes on in finitely many ways
(see `ways`), of which one is taken almost surely.  Then

* every way belongs to one transition of the state: it draws the samples of the transition, in their order; where it is taken, the guard
  holds, and nowhere else (almost surely, whatever the number, the thresholds and the public inputs are);
* the numbers that it writes are the values of the transition, the same linear forms, and its other outputs belong to the symbol: one
  symbol for one output, one output for one symbol;
* the noisy numbers that it keeps are those that the transition stores, and it makes a pair with the state that the transition leads to.

By induction over the steps the outputs and thresholds of both have one law, on every stream.  A public input may be part of the centers of
noise alone, and moves the samples of a transition in one way, wherever it is taken: then the automaton for another value has other means
and is the same otherwise.  A proof by coupling never looks at means, so that a proof for one value is a proof for all.  A loss, or a cost
that is attained, is about the value 0, which must be allowed, and about streams without bounds.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from privproof_checker.numbers import Rational, fraction
from privproof_checker.outcomes import Limits, refuse
from privproof_checker.plain_documents import a_list, a_number
from privproof_checker.source.forms import Form
from privproof_checker.source.running import Run, Work
from privproof_checker.source.source_member import PLACE, Findings, Input, Source
from privproof_checker.source.values import NUMBER, Beyond, Stream, Value, key, leaves, with_leaves
from privproof_checker.source.ways import Draw, Way, Ways, opposite
from privproof_checker.streams.automaton_steps import AutomatonStep
from privproof_checker.streams.order_systems import Different, Order, Term
from privproof_checker.streams.stream_automata import Automaton, read_automaton

_PAIR = 50
"""How many steps of a run take about as long as comparing a pair with the automaton."""


def establish_automaton(
    source: Source, asked: dict[str, object], evidence: Mapping[str, object], limits: Limits, work: Work
) -> Findings:
    """Refuse if the automaton, its inputs or their relation are not those of the source."""
    automaton = read_automaton(asked, limits)
    stream = _stream(source, automaton)
    walk = _Walk(source, stream, automaton, work)
    walk.follow()
    if evidence.get("method") != "coupling" or "attained" in evidence:
        walk.without_bounds()
        _whole_numbers(source, stream, evidence, limits)
    return Findings()


def _stream(source: Source, automaton: Automaton) -> Input:
    """The stream, where the inputs and their neighbours are those of the automaton."""
    stream = source.stream
    if stream is None:
        refuse("the function reads no stream", f"{PLACE}.program.inputs")
    if automaton.relation != source.relation:
        refuse(f"the relation of the program is {source.relation}", "question.relation")
    if stream.public:
        raise Beyond("a public stream beside private numbers", f"{PLACE}.program.inputs")
    for each in source.inputs.values():
        place = f"{PLACE}.program.inputs.{each.name}"
        if each.shape == "list" or each.within is None or (each.public and each.values is not None):
            raise Beyond(f"the input {each.name!r} beside a stream of numbers", place)
        if not each.public and each.within != automaton.within:
            refuse(f"{each.name!r} may change by {each.within}", "question.within")
    if len(source.private) > 2:
        raise Beyond("two private numbers beside a stream", f"{PLACE}.program.inputs")
    return stream


@dataclass(frozen=True)
class _Pair:
    """A state of the automaton, a run that waits there, and the thresholds that the run holds."""

    state: int
    run: Run
    held: frozenset[int] = frozenset()


class _Walk:
    """Follows the automaton and the text together."""

    def __init__(self, source: Source, stream: Input, automaton: Automaton, work: Work) -> None:
        self.source, self.stream, self.automaton, self.work = source, stream, automaton, work
        self.ways = Ways(source.functions, work)
        self.atoms = self.ways.atoms
        self.guards: dict[AutomatonStep, tuple[Order, ...]] = {}
        self.draws: dict[int, tuple[Draw, ...]] = {}
        self.symbols: dict[tuple[str, int], Any] = {("", 0): key(())}
        self.outputs: dict[Any, tuple[str, int]] = {key(()): ("", 0)}
        self.shapes: dict[Any, Any] = {}
        self.bare = self.mixed = self.several = False

    def follow(self) -> None:
        """Refuse if the two differ."""
        machine = self.ways.machine
        number = self.atoms.form("number")
        given: dict[str, Value] = {**self.source.parameters}
        for each in self.source.inputs.values():
            if each is self.stream:
                given[each.name] = Stream(each.name)
            else:
                given[each.name] = self.atoms.form("public", each.name) if each.public else number
        secret = len(self.source.private) > 1
        seen = set()
        waiting = self._step(_Pair(self.automaton.initial, machine.begin(given)), reads=secret)
        while waiting:
            pair = waiting.pop()
            run, known = machine.settled(pair.run)
            if (pair.state, known) not in seen:
                seen.add((pair.state, known))
                fed = machine.fed(run, self.stream.name, None, number)
                waiting += self._step(replace(pair, run=fed), reads=True)

    def _step(self, pair: _Pair, *, reads: bool) -> list[_Pair]:
        """The pairs after a pair; refuses if the transitions of the state are not the ways of the run."""
        self.work.spend(_PAIR)
        automaton = self.automaton
        different = self.atoms.different(automaton.origins_at(pair.state), pair.held)
        ways = self.ways.onward(pair.run, different)
        taken: dict[int, list[Way]] = {number: [] for number in automaton.leaving[pair.state]}
        belongs = []
        for way in ways:
            belongs.append(self._transition(pair.state, way, different))
            taken[belongs[-1]].append(way)
        for number, own in taken.items():
            guard = self._guard(number)
            if not reads and automaton.transitions[number].step.reads:
                refuse("it reads a number, where the function has read none", f"question.transitions[{number}]")
            if not own and not self.ways.contradict(guard, different):
                refuse("the function never takes this transition", f"question.transitions[{number}]")
            if any(way.draws != self.draws.setdefault(number, way.draws) for way in own):
                refuse("public inputs move its samples in two ways", f"question.transitions[{number}].samples")
            for way, other in zip(ways, belongs, strict=True):
                if other != number and own and not self._apart(guard, way, different):
                    refuse("the guard holds where the function does something else", f"question.transitions[{number}]")
        following = []
        for way, number in zip(ways, belongs, strict=True):
            self._written(number, way, different)
            if not way.ended:
                following.append(self._kept(number, way))
            elif automaton.leaving[automaton.transitions[number].target]:
                refuse("the function ends here, and the automaton goes on", f"question.transitions[{number}]")
        return following

    def _transition(self, state: int, way: Way, different: Different) -> int:
        """The transition whose samples a way draws, and whose guard holds wherever the way is taken."""
        drawn = [(draw.rate, draw.reads, draw.mean) for draw in way.draws]
        for number in self.automaton.leaving[state]:
            samples = self.automaton.transitions[number].step.samples
            if [(s.rate, Fraction(s.reads), fraction(s.mean)) for s in samples if s.rate is not None] != drawn:
                continue
            if all(
                order in way.conditions or self.ways.contradict((*way.conditions, opposite(order)), different)
                for order in self._guard(number)
            ):
                return number
        function = self.source.functions[way.run.frames[-1].function]
        line = function.code[way.run.frames[-1].at][2] + function.line - 1
        refuse(f"no transition does what the function does on a way to line {line}", self.automaton.place(state))

    def _apart(self, guard: tuple[Order, ...], way: Way, different: Different) -> bool:
        """Whether a guard excludes a way: no values of the noises, whatever their laws, satisfy both."""
        self.work.spend(1 + len(way.conditions))
        for low, high, offset in way.conditions:
            if different(low, high) and (high, low, -offset) in guard:
                return True
        return self.ways.contradict((*guard, *way.conditions), different)

    def _terms(self, step: AutomatonStep) -> dict[Term, Form]:
        """What the samples of a step are."""
        found: dict[Term, Form] = {None: Form(Fraction(0))}
        noises = 0
        for i, sample in enumerate(step.samples):
            if sample.rate is None:
                found[i] = self.atoms.form("number").times(Fraction(sample.reads)) + Form(fraction(sample.mean))
            else:
                found[i] = self.atoms.form("noise", noises)
                noises += 1
        return found

    def _difference(self, terms: Mapping[Term, Form], plus: Term, minus: Term, constant: Rational) -> Form:
        one, two = (self.atoms.form("threshold", t) if isinstance(t, str) else terms[t] for t in (plus, minus))
        return one - two + Form(fraction(constant))

    def _guard(self, number: int) -> tuple[Order, ...]:
        """The orders of a guard; one that never holds is an order that contradicts itself."""
        step = self.automaton.transitions[number].step
        if step.some:
            raise Beyond("a guard with alternatives", f"question.transitions[{number}].guard")
        if step not in self.guards:
            terms = self._terms(step)
            found = []
            for low, high, offset in step.guard:
                form = self._difference(terms, high, low, -offset)
                if form.terms:
                    found.append(self.atoms.order(form))
                elif form.constant < 0:
                    found.append((None, None, Rational(1)))
            self.guards[step] = tuple(found)
        return self.guards[step]

    def _written(self, number: int, way: Way, different: Different) -> None:
        """Refuse outputs that are not the symbol and the values of a transition."""
        transition = self.automaton.transitions[number]
        place = f"question.transitions[{number}]"
        written = with_leaves(way.written, lambda _, value: _plain(value))
        numbers = [value for _, value in leaves(written) if isinstance(value, Form)]
        terms = self._terms(transition.step)
        if numbers != [self._difference(terms, *value) for value in transition.step.values]:
            refuse("the function writes other numbers", f"{place}.values")
        pattern = key(with_leaves(written, lambda _, value: NUMBER if isinstance(value, Form) else value))
        symbol = (transition.symbol, len(numbers))
        if self.symbols.setdefault(symbol, pattern) != pattern:
            refuse(f"the symbol {transition.symbol[:60]!r} stands for two outputs", f"{place}.symbol")
        if self.outputs.setdefault(pattern, symbol) != symbol:
            refuse(f"the output of {transition.symbol[:60]!r} has two symbols", f"{place}.symbol")
        shape = key(with_leaves(written, lambda _, value: NUMBER if _is_number(value) else value))
        self.mixed = self.mixed or self.shapes.setdefault(shape, pattern) != pattern
        self.bare = self.bare or not all(self._spread(form, different) for form in numbers)
        self.several = self.several or len(way.written) > 1

    def _spread(self, form: Form, different: Different) -> bool:
        """Whether a number that is written equals any given number with probability zero."""
        low, high, _ = self.atoms.order(form)
        return different(low, high)

    def _kept(self, number: int, way: Way) -> _Pair:
        """The pair after a transition: the noisy numbers of the run that waits are expressed in the thresholds."""
        step = self.automaton.transitions[number].step
        terms = self._terms(step)
        stored: dict[int, Form] = {}
        for name, sample in sorted(step.stores.items()):
            if step.samples[sample].rate is not None:
                stored.setdefault(next(iter(terms[sample].terms)), self.atoms.form("threshold", name))
        lost: dict[int, Form] = {}
        held: set[int] = set()

        def after(atom: int) -> Form:
            kind, name = self.atoms[atom]
            if atom in stored:
                return stored[atom]
            if kind == "public" or (kind == "threshold" and name not in step.stores):
                return self.atoms.form(kind, name)
            return lost.setdefault(atom, self.atoms.form("lost", len(lost)))

        def change(value: Value) -> Value:
            if not isinstance(value, Form):
                return value
            found = sum((after(atom).times(factor) for atom, factor in value.terms.items()), Form(value.constant))
            held.update(atom for atom in found.terms if self.atoms[atom][0] == "threshold")
            return found

        machine = self.ways.machine
        machine.trim(way.run)
        run = machine.copied(way.run, change)
        return _Pair(self.automaton.transitions[number].target, run, frozenset(held))

    def without_bounds(self) -> None:
        """Refuse where an event of the automaton need not be one of the function, on data that may be given to it."""
        for each in self.source.inputs.values():
            place = f"{PLACE}.program.inputs.{each.name}"
            if each.public:
                if (each.low is not None and each.low > 0) or (each.high is not None and each.high < 0):
                    refuse(f"the public number {each.name!r} is never 0", place)
            elif each.values is not None or each.low is not None or each.high is not None:
                refuse(f"the numbers of {each.name!r} have bounds", place)
            elif not each.real and self.automaton.within.q != 1:
                refuse(f"the whole numbers of {each.name!r} change by a fraction", place)
        if self.several:
            refuse("several outputs for one number of the stream", PLACE)
        if self.bare and self.mixed:
            refuse("a number without noise is written where another output may be the same number", PLACE)


def _plain(value: Value) -> Value:
    """A form in which nothing is open as the number that it is."""
    if not isinstance(value, Form) or value.terms:
        return value
    return int(value.constant) if value.constant.denominator == 1 else value.constant


def _is_number(value: Value) -> bool:
    return isinstance(value, int | Fraction | Form) and not isinstance(value, bool)


def _whole_numbers(source: Source, stream: Input, evidence: Mapping[str, object], limits: Limits) -> None:
    """Refuse data of a loss that are fractions where the function is given whole numbers."""
    if evidence.get("method") != "loss":
        return
    secret = next((each for each in source.private if each is not stream), stream)
    for side in ("left", "right"):
        for i, given in enumerate(a_list(evidence.get(side), f"evidence.{side}")):
            declared = secret if i == 0 else stream
            if given is not None and not declared.real and a_number(given, f"evidence.{side}[{i}]", limits).q != 1:
                refuse(f"{declared.name!r} takes whole numbers", f"evidence.{side}[{i}]")
