"""Trials of a stream automaton beside the function that it was made from, on the same data and noise."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import partial
from typing import Any

from privproof.compiling.covering import Choices, Covered, Watch, cover
from privproof.compiling.translation import sample_arguments
from privproof.exact import fraction
from privproof.language.laws import Continuous, Law
from privproof.language.linear import exactly
from privproof.language.patterns import ANY
from privproof.language.running import exact_run
from privproof.language.scripts import record_run
from privproof.models.stream_automaton import Term
from privproof.scenarios import StreamQuestion


@dataclass(frozen=True)
class Taken:
    """A transition of the automaton, as a branch that trials take."""

    number: int
    told: str = field(compare=False)

    def __str__(self) -> str:
        return self.told


def automaton_agreement(question: StreamQuestion) -> Covered:
    """Trials of the automaton beside the function, on the same data and noise, until every transition was taken."""
    return cover(_transitions(question), lambda choices, watch: _difference(question, choices, watch))


def _transitions(question: StreamQuestion) -> list[Taken]:
    listed = zip(question.automaton.transitions, question.lines, strict=True)
    return [
        Taken(number, f"{step.source} to {step.target}" + (f" in line {lines[-1]}" if lines else ""))
        for number, (step, lines) in enumerate(listed)
    ]


def _difference(question: StreamQuestion, choices: Choices, watch: Watch) -> str | None:
    """How the automaton and the function differ on data and noise, in words; None if they do not."""
    mechanism = question.mechanism
    assert mechanism is not None
    assert mechanism.stream is not None
    arguments = sample_arguments(mechanism, size=choices.randint(0, 8), chance=choices)
    arguments |= {name: 0 for name, declared in mechanism.inputs.items() if declared.public}

    def noise(law: Law) -> Any:
        assert isinstance(law, Continuous)
        share = Fraction(choices.randint(-(10**9), 10**9), 170_000_001)  # no two are equal
        return exactly(law.center) + share * Fraction(law.scale)

    shown_, drawn = record_run(lambda: exact_run(mechanism, arguments), noise)
    noises = [
        (Fraction(v) - Fraction(law.center), Fraction(law.scale)) for law, v in drawn if isinstance(law, Continuous)
    ]
    secret = next((v for n, v in arguments.items() if n != mechanism.stream and not mechanism.inputs[n].public), None)
    followed = _followed(question, [secret, *arguments[mechanism.stream]], noises, watch)
    if followed != [_told(value) for value in shown_]:
        return f"on {arguments}: the function shows {shown_!r}, the automaton {followed!r}"
    return None


def _told(value: Any) -> Any:
    if isinstance(value, list | tuple):
        return (type(value).__name__, [_told(part) for part in value])
    if isinstance(value, bool) or value is None or isinstance(value, str):
        return (type(value).__name__, value)
    return ("number", Fraction(value))


def _followed(
    question: StreamQuestion, numbers: Sequence[Any], drawn: Sequence[tuple[Fraction, Fraction]], watch: Watch
) -> list[Any] | None:
    """What the automaton writes on given data and noise; None if it cannot follow."""
    automaton = question.automaton
    state, held, used, written = automaton.initial, dict[str, Fraction](), 0, list[Any]()
    for given in numbers:
        for number in automaton.leaving.get(state, ()):
            step = automaton.transitions[number]
            samples: list[Fraction] = []
            at, fits = used, True
            for sample in step.samples:
                base = fraction(sample.mean) + (sample.reads * Fraction(given) if sample.reads else 0)
                if sample.rate is None:
                    samples.append(base)
                elif at < len(drawn) and drawn[at][1] == fraction(1 / sample.rate):
                    samples.append(base + drawn[at][0])
                    at += 1
                else:
                    fits = False
                    break
            if not fits:
                continue

            def of(term: Term, samples: Sequence[Fraction] = samples) -> Fraction:
                return Fraction(0) if term is None else samples[term] if isinstance(term, int) else held[term]

            short = [max(Fraction(0), fraction(o.offset) - of(o.high) + of(o.low)) for o in step.guard]
            if any(short):
                watch.miss(Taken(number, ""), partial(float, sum(short)))
            else:
                watch.taken.add(Taken(number, ""))
                used = at
                values = iter([of(v.plus) - of(v.minus) + fraction(v.constant) for v in step.values])
                written += [_filled(output, values) for output in question.outputs[number]]
                held.update({name: samples[sample] for name, sample in step.stores})
                state = step.target
                break
        else:
            return written
    return written


def _filled(output: Any, values: Any) -> Any:
    if isinstance(output, list | tuple):
        return (type(output).__name__, [_filled(part, values) for part in output])
    if output == ANY and type(output) is type(ANY):
        return ("number", next(values))
    return _told(output)
