"""Refutations with continuous noise: the probability of an event, from the text alone.

The program runs on the inputs of one side with its continuous noise left open: every noise is a number ``x_j``, what the program computes
are linear forms in these numbers, and a comparison whose outcome is open is taken both ways.  The runs whose output lies in the event
are regions that exclude each other up to ties, which have probability zero; their probabilities are integrated exactly and added up.
If both sides come to the very probabilities that the certificate states by its trees, the trees are those of the text.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from math import isfinite

from privproof_checker.integrals.elimination import Law
from privproof_checker.integrals.probabilities import Integrator
from privproof_checker.numbers import Rational, fraction, rational
from privproof_checker.numbers.exponentials import ExponentialSum
from privproof_checker.outcomes import Limits, refuse
from privproof_checker.plain_documents import a_list, a_number, an_object
from privproof_checker.programs.open_trees import EventLeaf, Linear, Step, probability, step_of
from privproof_checker.programs.program_inputs import Declared, Scalar, read_declared
from privproof_checker.programs.program_losses import Arguments, Row, event_probability, read_arguments
from privproof_checker.source.forms import Deciding, Form, knowing
from privproof_checker.source.laws import Continuous, Geometric
from privproof_checker.source.machine import Machine
from privproof_checker.source.running import Emit, End, Noise, Run, Wait, Work
from privproof_checker.source.source_member import PLACE, Findings, Input, Source, same_inputs
from privproof_checker.source.values import (
    Beyond,
    Cells,
    Labelled,
    Member,
    Shown,
    Stream,
    Value,
    key,
    read_value,
)

_MOST_NOISES = 2_500
"""A run may draw so many noises that stay open; beyond, nothing is established about the source."""
_MOST_LEAVES = 20_000
"""So many runs may lie in the event of a loss; beyond, nothing is established about the source."""
_LEAF = 300
"""How many steps of a run take about as long as integrating over one leaf."""


def establish_loss(
    source: Source, asked: dict[str, object], evidence: Mapping[str, object], limits: Limits, work: Work
) -> Findings:
    """Refuse if the probabilities of the event are not those of the source."""
    declared = read_declared(asked, limits)
    same_inputs(source, declared)
    pattern = _pattern(evidence.get("pattern"), "evidence.pattern", limits)
    integrator = Integrator()
    for side in ("left", "right"):
        given = an_object(evidence.get(side), f"evidence.{side}")
        arguments = read_arguments(given.get("arguments"), declared, f"evidence.{side}.arguments", limits)
        found = _Runs(source, declared, pattern, work).probability(arguments, integrator)
        stated = event_probability(given, f"evidence.{side}", integrator, limits)
        if not (found - stated).is_zero:
            refuse(f"the event has another probability in the program on the {side}", f"evidence.{side}.leaves")
    return Findings()


@dataclass(frozen=True)
class Between:
    """In the place of a number: where it shall lie."""

    low: Fraction | None
    high: Fraction | None


def _pattern(value: object, place: str, limits: Limits) -> Value:
    """An event: an output with `Between` in the place of noisy numbers."""
    given = an_object(value, place)
    if list(given) == ["between"]:
        ends = [
            None if end is None else fraction(a_number(end, place, limits)) for end in a_list(given["between"], place)
        ]
        if len(ends) != 2:
            refuse("expected two ends", place)
        return Between(*ends)
    if list(given) in (["list"], ["tuple"]):
        ((kind, inside),) = given.items()
        items = [_pattern(item, place, limits) for item in a_list(inside, place)]
        return Shown(items) if kind == "list" else tuple(items)
    return read_value(given, place)


def _matching(pattern: Value, output: Value, *, discrete: bool) -> list[Form] | None:
    """When an output lies in a pattern: the forms that must not be negative; None if it never does."""
    if isinstance(output, Labelled | Member):
        raise Beyond("an output that is a table or an object", PLACE)
    if isinstance(output, Form) and not output.terms:  # noise times 0: a number, in which no noise is left
        output = output.constant
    elif isinstance(output, float) and isfinite(output):  # a quotient of whole numbers, as Python has it
        output = Fraction(output)
    if isinstance(pattern, tuple):
        if type(output) is not type(pattern) or len(output) != len(pattern):
            return None
        found: list[Form] = []
        for wanted, part in zip(pattern, output, strict=True):
            more = _matching(wanted, part, discrete=discrete)
            if more is None:
                return None
            found += more
        return found
    if isinstance(pattern, Between):
        if isinstance(output, Form):
            low = [] if pattern.low is None else [output - Form(pattern.low)]
            return low + ([] if pattern.high is None else [Form(pattern.high) - output])
        if isinstance(output, bool) or not isinstance(output, int | Fraction):
            return None
        above = pattern.low is None or pattern.low <= output
        return [] if above and (pattern.high is None or output <= pattern.high) else None
    if isinstance(output, Form):
        if not discrete or isinstance(pattern, bool) or not isinstance(pattern, int | Fraction):
            return None
        return [output - Form.of(pattern), Form.of(pattern) - output]
    if isinstance(output, int | Fraction) and isinstance(pattern, int | Fraction):
        return [] if output == pattern and isinstance(output, bool) == isinstance(pattern, bool) else None
    return [] if not isinstance(output, Cells) and key(output) == key(pattern) else None


@dataclass(frozen=True)
class _Facts:
    """What was decided on the way: for every direction between which bounds it lies."""

    bounds: Mapping[tuple[tuple[int, Fraction], ...], tuple[Fraction | None, Fraction | None]] = field(
        default_factory=dict
    )

    def known(self, form: Form) -> bool | None:
        """Whether a form without ties is at least zero; None if that is open."""
        direction, bound, turned = _normal(form)
        low, high = self.bounds.get(direction, (None, None))
        if low is not None and low >= bound:
            return not turned
        if high is not None and high <= bound:
            return turned
        return None

    def after(self, form: Form, *, outcome: bool) -> _Facts:
        """What is known after a decision."""
        direction, bound, turned = _normal(form)
        low, high = self.bounds.get(direction, (None, None))
        if outcome != turned:
            low = bound if low is None else max(low, bound)
        else:
            high = bound if high is None else min(high, bound)
        return _Facts({**self.bounds, direction: (low, high)})


def _normal(form: Form) -> tuple[tuple[tuple[int, Fraction], ...], Fraction, bool]:
    """A form as ``direction * x >= bound`` with a first coefficient 1; turned: ``<=``."""
    terms = sorted(form.terms.items())
    first = terms[0][1]
    return tuple((j, factor / first) for j, factor in terms), -form.constant / first, first < 0


@dataclass(frozen=True)
class _Way:
    """A run on its way."""

    run: Run
    noises: tuple[Law, ...] = ()
    steps: tuple[Step, ...] = ()
    facts: _Facts = field(default_factory=_Facts)
    written: tuple[Value, ...] = ()
    read: int = 0

    def tied(self, form: Form) -> bool:
        """Whether a form may be zero: all of its noise is geometric."""
        return all(self.noises[j][0] == "geometric" for j in form.terms)


class _Runs:
    """All runs on the inputs of one side."""

    def __init__(self, source: Source, declared: Declared, pattern: Value, work: Work) -> None:
        self.source, self.declared, self.pattern, self.work = source, declared, pattern, work
        self.machine = Machine(source.functions, work, exact_quotients=not source.ordinary)
        self.generator = source.mechanism.generator
        self.stream: Sequence[Value] = ()

    def probability(self, arguments: Arguments, integrator: Integrator) -> ExponentialSum:
        """The probability that the output lies in the event."""
        total = ExponentialSum.constant(0)
        leaves = 0
        waiting = [_Way(self.machine.begin({**self.source.parameters, **self._given(arguments)}))]
        while waiting:
            way = waiting.pop()
            following = self._onward(way)
            if isinstance(following, list):
                waiting += following
            elif following is not None:
                leaves += 1
                if leaves > _MOST_LEAVES:
                    raise Beyond(f"more than {_MOST_LEAVES} runs lie in the event", PLACE)
                self.work.spend(_LEAF)
                total = total + probability(following, integrator)
        return total

    def _given(self, arguments: Arguments) -> dict[str, Value]:
        result: dict[str, Value] = {}
        for each in self.source.inputs.values():
            entries = [_entry(value, each) for value in arguments[each.name]]
            if each.shape == "stream":
                self.stream = entries
                result[each.name] = Stream(each.name)
            else:
                result[each.name] = entries[0] if each.shape == "value" else Cells(entries, fixed=True, name=each.name)
        return result

    def _onward(self, way: _Way) -> list[_Way] | EventLeaf | None:
        """How a run goes on: the ways that chance opens, a leaf in the event, or nothing that lies in it."""
        with knowing(lambda form, strict: way.facts.known(self._without_ties(form, way, strict=strict)), way.tied):
            event = self.machine.go(way.run)
        match event:
            case Noise(list() as outcomes):
                return self._drawn(way, outcomes)
            case Noise(Geometric(center, alpha)):
                return [self._open(way, ("geometric", rational(alpha)), center)]
            case Noise(Continuous(kind, center, scale)):
                return [self._open(way, (kind, rational(scale)), center)]
            case Deciding(form=form, strict=strict):
                clear = self._without_ties(form, way, strict=strict)
                return [self._decided(way, clear, outcome=outcome) for outcome in (True, False)]
            case Emit(value):
                written = (*way.written, value)
                return [replace(way, written=written)] if self._begins(written, way) else None
            case Wait():
                if way.read < len(self.stream):
                    name = next(each.name for each in self.source.inputs.values() if each.shape == "stream")
                    run = self.machine.fed(way.run, name, None, self.stream[way.read])
                    return [replace(way, run=run, read=way.read + 1)]
                return self._leaf(way, Shown(way.written))
            case End(value):
                if self.generator:
                    return self._leaf(way, Shown(way.written))
                on_stream = any(each.shape == "stream" for each in self.source.inputs.values())
                return self._leaf(way, Shown((*way.written, value)) if on_stream else value)
            case _:
                raise Beyond("noise that is drawn in part, in a program with continuous noise", PLACE)

    def _drawn(self, way: _Way, outcomes: list[tuple[Value, Rational]]) -> list[_Way]:
        chances = tuple(p for _, p in outcomes)
        found = []
        for i, (value, _) in enumerate(outcomes):
            run = self.machine.copied(way.run)
            run.frames[-1].stack.append(value)
            found.append(replace(way, run=run, steps=(*way.steps, Step("draw", chances, i))))
        return found

    def _open(self, way: _Way, law: Law, center: Value) -> _Way:
        """A noise that is left open."""
        if len(way.noises) >= _MOST_NOISES:
            raise Beyond(f"a run draws more than {_MOST_NOISES} times", PLACE)
        number = len(way.noises)
        way.run.frames[-1].stack.append(Form.of(center) + Form(Fraction(0), {number: Fraction(1)}))
        facts = way.facts
        if law[0] == "exponential":
            facts = facts.after(Form(Fraction(0), {number: Fraction(1)}), outcome=True)
        return replace(way, noises=(*way.noises, law), facts=facts)

    def _decided(self, way: _Way, form: Form, *, outcome: bool) -> _Way:
        step = Step("test", _linear(form), int(outcome))
        run = self.machine.copied(way.run)
        return replace(way, run=run, steps=(*way.steps, step), facts=way.facts.after(form, outcome=outcome))

    def _without_ties(self, form: Form, way: _Way, *, strict: bool) -> Form:
        """A form that is at least zero exactly where the comparison holds: geometric noise is moved by half a step.

        Ties of continuous noise have probability zero.
        """
        discrete = [j for j in form.terms if way.noises[j][0] == "geometric"]
        if not discrete:
            return form
        if len(discrete) < len(form.terms):
            raise Beyond("geometric noise is compared with continuous noise", PLACE)
        step = fraction(step_of(_linear(form)))
        if (form.constant / step).denominator != 1:
            return form
        return Form(form.constant + step / 2 * (-1 if strict else 1), form.terms)

    def _begins(self, written: tuple[Value, ...], way: _Way) -> bool:
        """Whether the outputs so far may begin an output of the event."""
        if not isinstance(self.pattern, Shown) or len(written) > len(self.pattern):
            return False
        wanted = self.pattern[len(written) - 1]
        return _matching(wanted, written[-1], discrete=_discrete(way)) is not None

    def _leaf(self, way: _Way, output: Value) -> EventLeaf | None:
        also = _matching(self.pattern, output, discrete=_discrete(way))
        if also is None:
            return None
        forms = []
        for form in also:
            if form.terms:
                forms.append(form)
            elif form.constant < 0:
                return None
        return EventLeaf(way.noises, way.steps, event=True, also=tuple(map(_linear, forms)), place=PLACE)


def _discrete(way: _Way) -> bool:
    return any(kind == "geometric" for kind, _ in way.noises)


def _linear(form: Form) -> Linear:
    terms = tuple((j, rational(factor)) for j, factor in sorted(form.terms.items()))
    return Linear(terms, rational(form.constant))


def _entry(value: Scalar | Row, declared: Input) -> Value:
    """An entry of an input, as Python holds it."""
    found: Value = value
    if isinstance(value, Rational):
        found = fraction(value) if declared.real else int(value.p)
    if declared.values is not None and not declared.real and key(found) not in {key(v) for v in declared.values}:
        refuse(f"a value is none of those of {declared.name!r}", "evidence")
    return found
