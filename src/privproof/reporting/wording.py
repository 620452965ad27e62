"""Verdicts in words and in plain data: what every report says, whatever its form."""

from __future__ import annotations

import inspect
import shlex
import sys
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

from privproof.compiling import printable
from privproof.evidence import (
    Growth,
    LossWitness,
    PriorWitness,
    ReleaseWitness,
    StreamWitness,
    Unknown,
    Verdict,
    Witness,
)
from privproof.exact import fraction, show, text
from privproof.language.values import ENDED
from privproof.models import HiddenMarkovModel, MarkovChain, Transducer
from privproof.reporting.facts import Fact, bound_words, outward, plain_data, tight_fact
from privproof.reporting.programs import loss_data, program_data, program_facts, program_headline, question_data
from privproof.reporting.releases import release_facts, release_question_data, release_witness_data
from privproof.reporting.streams import stream_data, stream_facts, stream_question_data, stream_witness_data
from privproof.scenarios import (
    AnyQuestion,
    Origin,
    ParametricQuestion,
    ProgramQuestion,
    PufferfishQuestion,
    Question,
    ReleaseQuestion,
    Several,
    StreamQuestion,
    UnderPriors,
    ordered_pairs,
)

SYMBOLS = {"computed": "=", "proved": "✓", "refuted": "✗", "unknown": "?"}
_KINDS = {HiddenMarkovModel: "hmm", MarkovChain: "markov-chain", Transducer: "transducer"}


def headline(verdict: Verdict, *, asked_tight: bool) -> str:
    """The verdict in one sentence."""
    if isinstance(verdict.question, ProgramQuestion):
        return program_headline(verdict, verdict.question, asked_tight=asked_tight)
    name = verdict.question.name or "the mechanism"
    budget = verdict.question.budget
    if asked_tight:
        if verdict.lower.infinite:
            return f"{name}: there is no epsilon at all"
        if verdict.tight is not None:
            return f"{name}: the tight epsilon is {verdict.tight.show()}"
        low, high = outward(verdict.lower, up=False, digits=9), outward(verdict.upper, up=True, digits=9)
        if verdict.upper.infinite:
            return f"{name}: the tight epsilon is at least {low}; no upper bound is proved"
        return f"{name}: the tight epsilon lies between {low} and {high}"
    claim = budget_words(verdict.question)
    if verdict.status == "unknown":
        return f"{name}: not known whether it is {claim}"
    assert budget is not None
    return f"{name} is {'' if verdict.status == 'proved' else 'not '}{claim}"


def budget_words(question: Question | UnderPriors | StreamQuestion | ReleaseQuestion) -> str:
    """The budget as an adjective: ``ln(2)-private``."""
    budget = question.budget
    private = (
        "Pufferfish private"
        if isinstance(question, PufferfishQuestion | ParametricQuestion | ReleaseQuestion)
        else "private"
    )
    if budget is None:
        return private
    if budget.delta == 0:
        return f"{budget.epsilon}-{private}"
    return f"({budget.epsilon}, {budget.delta})-{private}{' for each output' if budget.pointwise else ''}"


def scenario_words(question: Question) -> str:
    """What is compared."""
    scenario, model, origin = question.scenario, question.model, question.origin
    parts = []
    if scenario.neighbours is not None:
        parts.append(str(scenario.neighbours))
    if origin is not None:
        parts += _situation_words(origin)
    elif not (isinstance(model, Transducer) and not scenario.pairs):
        count = len(ordered_pairs(question))
        parts.append(f"{count} ordered pair{'s' if count != 1 else ''} of initial distributions")
    if not scenario.words.unrestricted:
        parts.append(f"words {scenario.words}")
    return "; ".join(parts)


def _situation_words(origin: Origin) -> list[str]:
    """Which other arguments are quantified over."""
    left, right = next(iter(origin.situations.values()))
    if not left:
        return []
    names, count = ", ".join(left), len(origin.situations)
    if left == right:
        return [f"for each of the {count} value{'s' if count != 1 else ''} of {names}"]
    return [f"{count} pair{'s' if count != 1 else ''} of neighbouring values of {names}"]


def horizon_words(question: Question) -> str:
    """Which lengths are compared."""
    horizon, model = question.horizon, question.model
    if question.origin is not None and question.origin.mechanism.stream is None:
        return ""
    if isinstance(model, Transducer) and model.finish is not None:
        return f"{len(model.steps)} inputs, one output at the end"
    if horizon is None:
        return "words of every length there is"
    if horizon.high is None:
        return "words of every length"
    return f"words of length {horizon.high}" if horizon.low == horizon.high else f"words of length {horizon}"


@dataclass(frozen=True)
class Command:
    """How the question was asked on the command line, so that a witness can be replayed.

    Attributes:
        target: the file, perhaps with a name.
        options: further options that belong to the question.
    """

    target: str
    options: tuple[str, ...] = ()

    def explaining(self) -> str:
        """The target and the options that ``privproof explain`` takes too."""
        kept: list[str] = []
        options = list(self.options)
        while options:
            name = options.pop(0)
            value = [] if name == "--pointwise" else [options.pop(0)]
            kept += [name, *value] if name in ("--size", "--epsilon", "--set") else []
        return " ".join(map(shlex.quote, (self.target, *kept)))

    def replay(self, witness: Witness) -> str:
        """The command that recomputes both probabilities of a witness."""
        word = " ".join(_quoted(str(letter)) for letter in witness.letters)
        chosen = [] if witness.pair == "neighbours" else ["--pair", witness.pair]
        parts = ["privproof", "check", self.target, *self.options, *chosen, "--word", word]
        return " ".join(map(shlex.quote, parts))


def _quoted(letter: str) -> str:
    """A letter as one part of a word: in quotation marks only where it needs them."""
    return shlex.quote(letter) if set(letter) & set(" \t\n\"'\\#") or not letter else letter


def side_words(question: Question, witness: Witness, side: int) -> str:
    """One of the two situations of a witness."""
    if question.origin is not None:
        arguments = question.origin.arguments(witness.pair, side, witness.inputs[side])
        return ", ".join(f"{name}={value!r}" for name, value in arguments.items())
    inputs = witness.inputs[side]
    initial = witness.left if side == 0 else witness.right
    state = ", ".join(name if p == 1 else f"{name}: {p}" for name, p in initial.items())
    if not inputs:
        return state
    listed = "inputs " + " ".join(inputs)
    return listed if witness.left == witness.right else f"{listed} from {state}"


def python_lines(origin: Origin, witness: Witness) -> str:
    """A few lines of Python that recompute both probabilities of a witness."""
    name = origin.mechanism.function.__name__
    module = origin.mechanism.function.__module__
    if module == "__main__" or module not in sys.modules:
        module = Path(origin.mechanism.file).stem
    output = _output(origin, witness)
    lines = ["from privproof import output_probability", f"from {module} import {name}"]
    having = {n: v for n, v in origin.mechanism.parameters.items() if v != _defaults(origin).get(n)}
    changed = f".having({', '.join(f'{n}={v!r}' for n, v in having.items())})" if having else ""
    for side, probability in enumerate((witness.left_probability, witness.right_probability)):
        arguments = origin.arguments(witness.pair, side, witness.inputs[side])
        given = "".join(f", {n}={v!r}" for n, v in arguments.items())
        lines.append(f"output_probability({name}{changed}, {output!r}{given})  # {show(probability)}")
    return "\n".join(lines)


def _replayable(origin: Origin, witness: Witness) -> bool:
    """Whether the list of outputs says all that a witness shows: not where a step of a stream is silent, or its end is shown."""
    if origin.collected or origin.mechanism.stream is None:
        return True
    shown = [letter.output for letter in witness.letters]
    values = [origin.outputs[name] for name in shown if name is not None]
    ended = any(v is ENDED for value in values for v in (value.values if isinstance(value, Several) else (value,)))
    return None not in shown and not ended


def _defaults(origin: Origin) -> dict[str, object]:
    signature = inspect.signature(origin.mechanism.function)
    return {parameter.name: parameter.default for parameter in signature.parameters.values()}


def _output(origin: Origin, witness: Witness) -> object:
    """A witness's output as `output_probability` takes it."""
    shown = [letter.output for letter in witness.letters if letter.output is not None]
    values = [origin.outputs[name] for name in shown]
    if origin.collected and not origin.mechanism.generator:
        return printable(values[0])
    flat = [v for value in values for v in (value.values if isinstance(value, Several) else (value,))]
    return [printable(value) for value in (flat[0].items if origin.collected else flat)]


def facts(verdict: Verdict, *, command: Command | None, asked_tight: bool) -> list[Fact]:
    """Everything a reader needs, in order."""
    question, witness = verdict.question, verdict.witness
    if isinstance(question, ProgramQuestion):
        target = None if command is None else command.explaining()
        return program_facts(verdict, question, target=target, asked_tight=asked_tight)
    if isinstance(question, StreamQuestion):
        return stream_facts(verdict, question, asked_tight=asked_tight)
    if isinstance(question, ReleaseQuestion):
        return release_facts(verdict, question)
    if isinstance(question, PufferfishQuestion | ParametricQuestion):
        compared = prior_words(question)
    else:
        compared = "; ".join(filter(None, (scenario_words(question), horizon_words(question))))
    result = [Fact("compared", compared)]
    if isinstance(verdict, Unknown):
        result.append(Fact("reason", verdict.reason))
    if isinstance(witness, PriorWitness):
        result += _prior_facts(verdict, witness, asked_tight=asked_tight)
    elif isinstance(witness, Witness) and isinstance(question, Question):
        result += _witness_facts(verdict, question, witness, asked_tight=asked_tight)
        if command is not None:
            result.append(Fact("replay", command.replay(witness)))
        if question.origin is not None and _replayable(question.origin, witness):
            result.append(Fact("in Python", python_lines(question.origin, witness)))
    elif verdict.event:
        result += _event_facts(verdict)
    if verdict.growth is not None:
        result += _growth_facts(verdict.growth)
    result.append(tight_fact(verdict, _tight_words(verdict)))
    result.append(Fact("engine", f"{verdict.engine}, {verdict.seconds:.2f} s"))
    result += [Fact("note", note) for note in verdict.notes]
    return result


def _tight_words(verdict: Verdict) -> str:
    if verdict.lower.infinite:
        return f"none: {'the ratio grows without bound' if verdict.growth else 'the output is impossible on one side'}"
    if verdict.tight is not None:
        return verdict.tight.show()
    upper = "no upper bound proved" if verdict.upper.infinite else f"at most {verdict.upper.show()}"
    return f"at least {verdict.lower.show()}; {upper}"


def prior_words(question: UnderPriors) -> str:
    """Which secrets are compared under which priors."""
    if isinstance(question, ParametricQuestion):
        names = ", ".join(pair.name for pair in question.pairs[:3]) + (", ..." if len(question.pairs) > 3 else "")
        return f"{names} for all {question.region}; words of length {question.horizon}"
    pairs = ", ".join(f"{s} / {t}" for s, t in question.pairs[:3]) + (", ..." if len(question.pairs) > 3 else "")
    region = question.prior.region
    unknown = f" for all {region}" if region.names else ""
    return f"the secrets {pairs} under the prior {question.prior.name}{unknown}"


def _odds(value: Fraction | None) -> str:
    return "infinite" if value is None else show(value)


def _prior_facts(verdict: Verdict, witness: PriorWitness, *, asked_tight: bool) -> list[Fact]:
    budget = verdict.question.budget
    s, t = witness.secrets
    ratio = _odds(witness.ratio)
    if verdict.status == "refuted" and not asked_tight and budget is not None and budget.delta == 0:
        ratio += f", beyond e^epsilon = {bound_words(budget.epsilon)}"
    values = ", ".join(f"{name} = {value}" for name, value in witness.values.items())
    result = [Fact("output", witness.output)]
    if values:
        result.append(Fact("prior", f"in the limit {values}" if witness.limit else values))
    result += [
        Fact("left", f"given {s}: probability {show(witness.left_probability)}"),
        Fact("right", f"given {t}: probability {show(witness.right_probability)}"),
        Fact("ratio", ratio),
    ]
    if not witness.limit and isinstance(verdict.question, PufferfishQuestion):
        odds = f"{s} against {t}: {_odds(witness.prior_odds)} before the output is seen, {_odds(witness.posterior_odds)} after"
        result.append(Fact("odds", odds))
    return result


def _witness_facts(verdict: Verdict, question: Question, witness: Witness, *, asked_tight: bool) -> list[Fact]:
    budget = question.budget
    output = _output_words(question, witness) + (" (complete)" if witness.ending == "complete" else "")
    ratio = "infinite" if witness.ratio is None else show(witness.ratio)
    beyond = verdict.status == "refuted" and not asked_tight and budget is not None
    if beyond and budget is not None and budget.delta == 0:
        ratio += f", beyond e^epsilon = {bound_words(budget.epsilon)}"
    result = [] if question.origin is not None else [Fact("pair", witness.pair)]
    result += [
        Fact("output", output),
        Fact("left", f"{side_words(question, witness, 0)}: probability {show(witness.left_probability)}"),
        Fact("right", f"{side_words(question, witness, 1)}: probability {show(witness.right_probability)}"),
        Fact("ratio", ratio),
    ]
    if budget is not None and budget.delta != 0:
        excess = witness.left_probability - fraction(budget.delta)
        reduced = "infinite" if witness.right_probability == 0 else show(excess / witness.right_probability)
        reduced += f", beyond e^epsilon = {bound_words(budget.epsilon)}" if beyond else ""
        result.append(Fact("less delta", f"(left - {budget.delta}) / right = {reduced}"))
    return result


def _output_words(question: Question, witness: Witness) -> str:
    """What is observed; on a stream also the steps at which nothing is."""
    if question.origin is not None and question.origin.mechanism.stream is not None:
        return " ".join(letter.output or "(nothing)" for letter in witness.letters)
    return " ".join(witness.output) or "nothing"


def _growth_facts(growth: Growth) -> list[Fact]:
    before, repeated, after = (" ".join(map(str, part)) for part in (growth.before, growth.repeated, growth.after))
    text = f"repeat {repeated} as often as you like"
    text = f"after {before}, {text}" if before else text
    text = f"{text}, then {after}" if after else text
    factor = "without bound" if growth.factor is None else f"at least by the factor {show(growth.factor)}"
    return [Fact("growing", f"{text}: each time the ratio grows {factor}")]


def _event_facts(verdict: Verdict) -> list[Fact]:
    event, budget = verdict.event, verdict.question.budget
    left = sum((w.left_probability for w in event), Fraction(0))
    right = sum((w.right_probability for w in event), Fraction(0))
    listed = ", ".join(" ".join(map(str, w.letters)) for w in event[:4]) + (", ..." if len(event) > 4 else "")
    result = [
        Fact("pair", event[0].pair),
        Fact("event", f"{len(event)} outcome{'s' if len(event) != 1 else ''}: {listed}"),
        Fact("left", f"probability of the event {show(left)}"),
        Fact("right", f"probability of the event {show(right)}"),
    ]
    if budget is not None and verdict.status == "refuted" and not budget.epsilon.infinite:
        c = bound_words(budget.epsilon)
        result.append(Fact("compare", f"the left exceeds {c} * right + {budget.delta}"))
    return result


def data(verdict: Verdict, *, certificate: str | None) -> dict[str, Any]:
    """The verdict as plain data, the object that ``--json`` prints."""
    question, budget, tight = verdict.question, verdict.question.budget, verdict.tight
    infinite = verdict.lower.infinite
    result: dict[str, Any] = {
        "verdict": verdict.status,
        "engine": verdict.engine,
        "question": {
            "mechanism": question.name,
            "epsilon": None if budget is None else str(budget.epsilon),
            "delta": "0" if budget is None else str(budget.delta),
            "pointwise": budget is not None and budget.pointwise,
            **_question_data(question),
        },
        "tight": {
            "ratio": text(tight.bound) if tight is not None and tight.bound is not None else None,
            "epsilon": "inf" if infinite else tight.decimal(digits=10) if tight is not None else None,
            "exact": "inf" if infinite else str(tight) if tight is not None else None,
            "lower": outward(verdict.lower, up=False),
            "upper": outward(verdict.upper, up=True),
            "certified": verdict.certified.lower and verdict.certified.upper,
            "certified_lower": verdict.certified.lower,
            "certified_upper": verdict.certified.upper,
        },
        "witness": None if verdict.witness is None else _any_witness(verdict.witness, question),
        "certificate": certificate,
        "seconds": round(verdict.seconds, 6),
        "notes": list(verdict.notes),
    }
    if verdict.growth is not None:
        growth = verdict.growth
        result["growth"] = {
            "pair": growth.pair,
            "before": [str(letter) for letter in growth.before],
            "repeated": [str(letter) for letter in growth.repeated],
            "after": [str(letter) for letter in growth.after],
            "factor": "inf" if growth.factor is None else str(growth.factor),
        }
    if verdict.event:
        result["event"] = [_any_witness(witness, question) for witness in verdict.event]
    if isinstance(verdict, Unknown):
        result["reason"] = verdict.reason
    if isinstance(question, ProgramQuestion):
        result |= program_data(verdict, question)
    if isinstance(question, StreamQuestion):
        result |= stream_data(verdict, question)
    return result


def _question_data(
    question: AnyQuestion,
) -> dict[str, Any]:
    if isinstance(question, ReleaseQuestion):
        return release_question_data(question)
    if isinstance(question, StreamQuestion):
        return stream_question_data(question)
    if isinstance(question, ProgramQuestion):
        return question_data(question)
    if isinstance(question, PufferfishQuestion | ParametricQuestion):
        horizon = str(question.horizon) if isinstance(question, ParametricQuestion) else None
        return {"kind": "pufferfish", "horizon": horizon, "scenario": prior_words(question)}
    result: dict[str, Any] = {
        "kind": "mechanism" if question.origin is not None else _KINDS[type(question.model)],
        "horizon": None if question.horizon is None else str(question.horizon),
        "scenario": scenario_words(question),
    }
    if question.origin is not None:
        result["parameters"] = plain_data(dict(question.origin.mechanism.parameters))
        result["size"] = origin_size(question)
    return result


def _any_witness(
    witness: Witness | PriorWitness | LossWitness | StreamWitness | ReleaseWitness,
    question: AnyQuestion,
) -> dict[str, Any]:
    if isinstance(witness, ReleaseWitness):
        return release_witness_data(witness)
    if isinstance(witness, StreamWitness):
        return stream_witness_data(witness)
    if isinstance(witness, LossWitness):
        return loss_data(witness)
    if isinstance(witness, PriorWitness):
        return prior_witness_data(witness)
    assert isinstance(question, Question)
    return witness_data(witness, question)


def prior_witness_data(witness: PriorWitness) -> dict[str, Any]:
    """A witness under a prior as plain data."""

    def exact(value: Fraction | None) -> str:
        return "inf" if value is None else str(value)

    return {
        "left": witness.secrets[0],
        "right": witness.secrets[1],
        "output": [witness.output],
        "parameters": {name: str(value) for name, value in witness.values.items()},
        "limit": witness.limit,
        "left_probability": exact(witness.left_probability),
        "right_probability": exact(witness.right_probability),
        "ratio": exact(witness.ratio),
        "prior_odds": exact(witness.prior_odds),
        "posterior_odds": exact(witness.posterior_odds),
    }


def origin_size(question: Question) -> int | None:
    """The length of the list that a mechanism reads one element a step, if it reads one."""
    origin, model = question.origin, question.model
    if origin is None or origin.fed is None or origin.mechanism.stream is not None or not isinstance(model, Transducer):
        return None
    return len(model.steps)


def witness_data(witness: Witness, question: Question) -> dict[str, Any]:
    """A witness as plain data."""

    def exact(value: Fraction | None) -> str:
        return "inf" if value is None else text(value)

    left, right = ({n: str(p) for n, p in side.items()} for side in (witness.left, witness.right))
    inputs = witness.inputs
    sides: tuple[Any, Any] = (list(inputs[0]), list(inputs[1])) if inputs[0] else (left, right)
    if question.origin is not None:
        origin = question.origin
        sides = (
            plain_data(origin.arguments(witness.pair, 0, inputs[0])),
            plain_data(origin.arguments(witness.pair, 1, inputs[1])),
        )
    return {
        "pair": witness.pair,
        "left": sides[0],
        "right": sides[1],
        "output": list(witness.output),
        "ending": witness.ending,
        "left_initial": left,
        "right_initial": right,
        "word": [str(letter) for letter in witness.letters],
        "left_probability": exact(witness.left_probability),
        "right_probability": exact(witness.right_probability),
        "ratio": exact(witness.ratio),
    }
