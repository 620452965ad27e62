"""Trials of a translation: on some data the model and the running function must give the same outputs.

A refutation shows its two data sets, and the function is run on them.  A proof is about all data sets; here some are tried, in two
ways.  *Runs*: function and translation go through the same data with the same noise, whatever its probability, and must draw from
the same laws and write the same; data and noise are searched for until every condition has gone both ways (`covering`).
*Distributions*: on the first data set, the last, and those that took a branch first, the function is run on its random choices, the
likeliest first, and the probabilities of all outputs must be those of the model.  A trial proves nothing about the rest; it is there to
catch a translation that is wrong, whatever the reason.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fractions import Fraction
from typing import Any

from privproof.compiling.covering import Choices, Conditions, Covered, Watch, cover, told_coverage
from privproof.compiling.distributions import initial_store, output_classes
from privproof.compiling.exploring import Explorer, law_outcomes
from privproof.compiling.lengths import OpenModel, list_law
from privproof.errors import LanguageError
from privproof.exact import ZERO, Rational, fraction, show
from privproof.language import Mechanism
from privproof.language.evaluating import WRONG, Evaluate, evaluator, problem
from privproof.language.flow import Next
from privproof.language.laws import Geometric, Law, TableLaw
from privproof.language.randomness import Chance
from privproof.language.running import Run, outputs, recognised_noise, run_once
from privproof.language.scripts import GivenUp, record_run
from privproof.language.syntax import Emit, Expression, Return, Sample
from privproof.language.values import Cells, key, shared_value, tails, text
from privproof.models import Transducer
from privproof.scenarios import Origin, Question, fits

_TRIALS = 8
"""Data sets on which whole distributions of outputs are compared."""
_FEW_TRIALS = 3
"""The same for large models, on which each takes long."""
_LARGE = 300
"""States from which on a model is large."""
_RUNS = 300
"""Runs of the function on one data set; the mass of those that were not made is told."""
_LONG = 30
"""A run with more random choices is, as a rule, one of a loop that only noise ends: those likelier than one in a million are enough."""
_LONGEST = 3
"""The longest stream on which whole distributions are compared."""
_LONG = 12
"""The longest stream of a single run."""
_WIDE = 15
"""Geometric noise of a single run is at most so far from its center."""
_DRAWS = 300
"""Noise drawn in one run; a longer run is not compared."""
_STEPS = 100_000
"""Instructions of one run of the model; beyond it the model is taken not to end where the function did."""


def translated_rightly(question: Question, origin: Origin) -> tuple[str | None, str]:
    """How the function and its translation disagree on some of the data tried (None: they agree), and what was tried."""
    trials = _Trials(question, origin)
    with recognised_noise(trials.mechanism):  # once for all trials
        found = cover(trials.conditions.sides(), trials.attempt)
    if found.told is not None:
        return found.told, ""
    tried: dict[str, dict[str, Any]] = {}
    most = _TRIALS if len(trials.model.states) <= _LARGE else _FEW_TRIALS
    for arguments in trials.chosen(found):
        tried.setdefault(repr(arguments), arguments)
        if len(tried) == most:
            break
    least = Fraction(1)
    for arguments in tried.values():
        told, left_over = _disagreement(origin.mechanism, arguments, trials.classes(arguments))
        if told is None and trials.model.of_every_length:
            told = trials.open_disagreement(arguments)
        if told is not None:
            return f"on {arguments} {told}", ""
        least = min(least, 1 - left_over)
    share = "" if least == 1 else f" (at least {int(least * 1000) / 10} % of all random choices)"
    said = f"running the function itself on {len(tried)} data sets{share} agrees with the model"
    return None, f"{said}, and so do {found.runs} runs with the same noise{told_coverage(found)}"


def _disagreement(
    mechanism: Mechanism, arguments: dict[str, Any], classes: list[tuple[Any, Rational]]
) -> tuple[str | None, Fraction]:
    """How the probabilities of outputs differ (None: they do not), and the mass of the runs not made."""
    runs = outputs(mechanism, arguments, most=_RUNS, longest=_LONG)
    seen = [Fraction(0)] * len(classes)
    for ran, p in runs.runs:
        value = shown_by(mechanism, ran)
        here = [i for i, (pattern, _) in enumerate(classes) if fits(pattern, value)]
        if len(here) != 1:
            return f"the function gives {text(value)}, the model does not", runs.left_over
        seen[here[0]] += p
    for (pattern, mass), found in zip(classes, seen, strict=True):
        if not found <= fraction(mass) <= found + runs.left_over:
            told = f"the model gives {show(mass)} for the output {text(pattern)}, running the function {show(found)}"
            return told, runs.left_over
    return None, runs.left_over


def shown_by(mechanism: Mechanism, ran: Run) -> Any:
    """What a run shows, in the form of `output_classes`."""
    if mechanism.stream is not None:
        return tuple(shared_value(value) for step in ran.written for value in step)
    return tuple(map(shared_value, ran.value)) if mechanism.generator else shared_value(ran.value)


class _Apart(Exception):
    """The translation does not go the way of the function."""


class _Trials:
    """Runs of a function and its translation on the same data and noise."""

    def __init__(self, question: Question, origin: Origin) -> None:
        assert isinstance(question.model, Transducer)
        self.question, self.model = question, question.model
        self.origin, self.mechanism = origin, origin.mechanism
        flow = self.mechanism.flow  # looked up once: each time the whole record of what would run is made anew
        self.code, self.explorer = flow.code, Explorer(flow)
        self.conditions = Conditions(self.code)
        self.evaluators: dict[int, Evaluate] = {}
        self.longest: int | None = None
        if self.mechanism.stream is not None:
            high = _LONG if question.horizon is None or question.horizon.high is None else question.horizon.high
            self.longest = min(high, _LONG)
        elif self.model.of_every_length:
            self.longest = _LONG
        self.shortest = 0 if self.model.of_every_length else 1

    def arguments(self, choices: Choices, longest: int | None = None) -> dict[str, Any]:
        """Data for the mechanism."""
        pair, side = choices.choice(list(self.origin.situations)), choices.below(2)
        if self.longest is None:
            length = 1 if self.origin.fed is None else len(self.model.steps)
        else:
            length = self.shortest + choices.below(self.longest + 1 - self.shortest)
        names = [choices.choice(self.model.data) for _ in range(length)]
        return self.origin.arguments(pair, side, names if longest is None else names[:longest])

    def chosen(self, found: Covered) -> Iterator[dict[str, Any]]:
        """The data sets on which distributions are compared: the first and the last, those of new branches, then any."""
        chance = Chance(0)
        limit = None if self.longest is None else min(self.longest, _LONGEST)
        length = limit or (1 if self.origin.fed is None else len(self.model.steps))
        pairs = list(self.origin.situations)
        for name, pair, side in ((self.model.data[0], pairs[0], 0), (self.model.data[-1], pairs[-1], 1)):
            yield self.origin.arguments(pair, side, [name] * length)
        for made in found.fresh:
            yield self.arguments(Choices(made, chance), limit)
        for _ in range(_TRIALS):
            yield self.arguments(Choices((), chance), limit)

    def classes(self, arguments: Mapping[str, Any]) -> list[tuple[Any, Rational]]:
        """Every output on the data with its probability: what the model says where it reads a list and shows one output, at the end."""
        model, origin = self.model, self.origin
        fed = origin.fed
        if fed is None or model.finish is None or model.of_every_length or self.mechanism.generator:
            return output_classes(self.mechanism, arguments, self.explorer)
        masses = dict(self.begin(arguments))
        names = {text(origin.inputs[name]): name for name in model.data}
        for step, value in zip(model.steps, arguments[fed], strict=True):
            after: dict[str, Rational] = {}
            for state, mass in masses.items():
                for branch in step[state][names[text(value)]]:
                    after[branch.target] = after.get(branch.target, ZERO) + mass * branch.probability
            masses = after
        law: dict[str, Rational] = {}
        for state, mass in masses.items():
            for output, p in model.finish[state].items():
                law[output] = law.get(output, ZERO) + mass * p
        return [(origin.outputs[output], mass) for output, mass in law.items() if mass != 0]

    def begin(self, arguments: Mapping[str, Any]) -> Mapping[str, Rational]:
        """Where the model begins with these arguments besides the list."""
        found = self.model.initial
        for pair in self.question.scenario.pairs:
            for others, side in zip(self.origin.situations[pair.name], (pair.left, pair.right), strict=True):
                if all(arguments[name] == value for name, value in others.items()):
                    found = side
        return found

    def open_disagreement(self, arguments: Mapping[str, Any]) -> str | None:
        """How the model of lists of every length differs from the mechanism on one list; None where it does not."""
        fed = self.origin.fed
        assert fed is not None
        names = {text(self.origin.inputs[name]): name for name in self.model.data}
        made = OpenModel(self.model, (), self.origin.inputs, self.origin.outputs)
        law = list_law(made, self.begin(arguments), [names[text(value)] for value in arguments[fed]])
        expected: dict[str, Rational] = {}
        for value, mass in output_classes(self.mechanism, arguments):
            if mass != 0:
                expected[text(Cells(value) if self.mechanism.generator else value)] = mass
        if any(True for value in self.origin.outputs.values() for _ in tails(value)) or law == expected:
            return None
        differing = next(said for said in {**law, **expected} if law.get(said) != expected.get(said))
        masses = [show(found.get(differing, ZERO)) for found in (expected, law)]
        return f"the output {differing} has probability {masses[0]}, in the model of every length {masses[1]}"

    def attempt(self, choices: Choices, watch: Watch) -> str | None:
        """One run of both; how they disagree, or None."""
        arguments = self.arguments(choices)

        def noise(law: Law) -> Any:
            match law:
                case TableLaw():
                    return choices.choice(law.ranked)[0]
                case Geometric(center):
                    return center + choices.randint(-_WIDE, _WIDE)
                case _:
                    raise LanguageError("continuous", "continuous noise in a finite mechanism")

        try:
            ran, drawn = record_run(lambda: run_once(self.mechanism, arguments), noise, most=_DRAWS)
        except GivenUp:
            return None
        value = shown_by(self.mechanism, ran)
        try:
            followed = self.followed(arguments, drawn, watch)
        except _Apart as apart:
            return f"on {arguments} {apart}"
        if not fits(followed, value):
            return f"on {arguments} the function gives {text(value)}, with the same noise the model {text(followed)}"
        return None

    def followed(self, arguments: Mapping[str, Any], drawn: list[tuple[Law, Any]], watch: Watch) -> Any:
        """What the translation shows on given data and noise, in the form of `output_classes`."""
        store, fed = initial_store(self.mechanism, arguments)
        code, steps = self.code, self.explorer.steps
        stream, noise = iter(fed), iter(drawn)
        written: list[Any] = []
        both = self.mechanism.stream is not None or self.mechanism.generator
        at = 0

        def evaluate(expression: Expression) -> Any:
            if id(expression) not in self.evaluators:
                self.evaluators[id(expression)] = evaluator(expression)
            return self.evaluators[id(expression)](store)

        for _ in range(_STEPS):
            step = code[at]
            try:
                self.conditions.notice(at, evaluate, watch)
                result = steps[at](store)
            except (*WRONG, LanguageError) as error:
                raise _Apart(f"the function ends, the model fails: {problem(error, step.place)}") from None
            match step:
                case Next(name):
                    given = next(stream, _OVER)
                    if given is _OVER:
                        return tuple(written)
                    store[name], at = given, at + 1
                case Sample(name, kind):
                    law, value = next(noise, (None, None))
                    if law is None:
                        raise _Apart("the model draws more noise than the function")
                    if _told_apart(law_outcomes(law, kind)) != _told_apart(result):
                        raise _Apart(f"the noise at {step.place} has another law in the model")
                    store[name], at = shared_value(value), at + 1
                case Emit():
                    written.append(result)
                    at += 1
                case Return():
                    if next(noise, None) is not None:
                        raise _Apart("the function draws more noise than the model")
                    if not both:
                        return result
                    return tuple(written) if self.mechanism.generator else (*written, result)
                case _:
                    at = result
        raise _Apart("the model does not end where the function does")


_OVER = object()


def _told_apart(outcomes: list[tuple[Any, Any]]) -> dict[Any, Any]:
    found: dict[Any, Any] = {}
    for value, p in outcomes:
        found[key(value)] = found.get(key(value), 0) + p
    return found
