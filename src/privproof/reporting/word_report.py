"""Verdicts about the words of a model, or of a mechanism made into one, in words and as plain data."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from privproof.compiling import printable
from privproof.evidence.verdicts import Growth, Verdict
from privproof.evidence.witnesses import WordWitness
from privproof.exact import fraction, show, text
from privproof.exact.number_texts import bound_words
from privproof.formats import svg
from privproof.language.inputs import ADD_REMOVE
from privproof.language.values import ENDED
from privproof.models import HiddenMarkovModel, MarkovChain, Transducer
from privproof.profiles.output_laws import SeenOutput, hidden_rows, mechanism_rows
from privproof.reporting.mechanism_calls import call_text, import_line
from privproof.reporting.model_drawings import DRAWN, drawing_element, source
from privproof.reporting.replay_commands import ReplayCommand
from privproof.reporting.report_facts import Fact, plain_data
from privproof.reporting.report_registry import Report
from privproof.scenarios import Origin, Question, Several, ordered_pairs, whole_output

_KINDS = {HiddenMarkovModel: "hmm", MarkovChain: "markov-chain", Transducer: "transducer"}


class WordReport(Report[Question, WordWitness]):
    """How questions about words are told."""

    def claim(self, question: Question) -> str:
        """What is claimed, as an adjective: ``ln(2)-private``, ``(size*ln(2))-private``."""
        said = super().claim(question)
        if not question.growth_words or question.budget is None:
            return said
        return f"({beside_growth(question, str(question.budget.epsilon))})-{question.private}"

    def tight(self, verdict: Verdict, question: Question) -> str:
        """What is known about the smallest epsilon; where the claim grows, about what stands beside the growth."""
        said = super().tight(verdict, question)
        return f"{question.growth_words} and beside it {said}" if question.growth_words else said

    def compared(self, question: Question) -> list[Fact]:
        """What is compared."""
        return [Fact("compared", "; ".join(filter(None, (scenario_words(question), horizon_words(question)))))]

    def shown(
        self, verdict: Verdict, question: Question, *, command: ReplayCommand | None, asked_tight: bool
    ) -> list[Fact]:
        """The word, or the event, and words that grow."""
        result: list[Fact] = []
        witness = verdict.witness
        if witness is not None:
            result += _witness_facts(verdict, question, witness, asked_tight=asked_tight)
            if command is not None:
                result.append(Fact("replay", command.replay(witness)))
            if question.origin is not None and _replayable(question.origin, witness):
                result.append(Fact("in Python", python_lines(question.origin, witness)))
        elif verdict.event:
            result += _event_facts(verdict)
        if verdict.growth is not None:
            result += _growth_facts(verdict.growth)
        return result

    def sides(self, witness: WordWitness, question: Question) -> str:
        """Both situations of a witness and its output, in one line."""
        left, right = (side_words(question, witness, side) for side in (0, 1))
        return f"{left} against {right}, output {' '.join(witness.observed.output)}"

    def question_data(self, question: Question) -> dict[str, Any]:
        """The question as plain data."""
        result: dict[str, Any] = {
            "kind": "mechanism" if question.origin is not None else _KINDS[type(question.model)],
            "horizon": None if question.horizon is None else str(question.horizon),
            "scenario": "; ".join(filter(None, (scenario_words(question), _open_words(question)))),
        }
        if question.growth_words and question.budget is not None:
            result["epsilon"] = beside_growth(question, str(question.budget.epsilon))
        if question.origin is not None:
            result["parameters"] = plain_data(dict(question.origin.mechanism.parameters))
            result["size"] = origin_size(question)
        return result

    def witness_data(self, witness: WordWitness, question: Question) -> dict[str, Any]:
        """A witness as plain data."""
        return witness_data(witness, question)

    def more_data(self, verdict: Verdict, question: Question) -> dict[str, Any]:
        """Words that grow, and the event; where the claim grows, what is known of the smallest one."""
        result: dict[str, Any] = {}
        if question.growth_words:
            result["tight"] = _growing_bounds(verdict, question)
        if verdict.growth is not None:
            growth = verdict.growth
            result["growth"] = {
                "pair": growth.pair,
                "before": [str(letter) for letter in growth.before],
                "repeated": [str(letter) for letter in growth.repeated],
                "after": [str(letter) for letter in growth.after],
                "factor": "inf" if growth.factor is None else str(growth.factor),
                **({} if growth.formula is None else {"formula": growth.formula.told}),
            }
        if verdict.event:
            result["event"] = [witness_data(witness, question) for witness in verdict.event]
        return result

    def situations(self, witness: WordWitness, question: Question) -> tuple[str, str]:
        """Both situations of a witness, in words."""
        return side_words(question, witness, 0), side_words(question, witness, 1)

    def law_rows(self, witness: WordWitness, question: Question) -> Sequence[SeenOutput] | None:
        """All outputs of the mechanism on both data sets; of a hidden Markov model, all words as long as that of the witness."""
        called = witness.observed.called(question, witness.left, witness.right)
        if question.origin is not None and called is not None:
            return None if witness.observed.marked else mechanism_rows(question.origin.mechanism, *called)
        model = question.model.hidden() if isinstance(question.model, MarkovChain) else question.model
        if not isinstance(model, HiddenMarkovModel):
            return None
        return hidden_rows(model, witness.left, witness.right, len(witness.observed.letters))

    def drawn(self, verdict: Verdict, question: Question) -> list[str]:
        """The function, where there is one, and the drawing of a model that is not too large to be looked at."""
        parts = [] if question.origin is None else [source(question.origin.mechanism)]
        return parts + ([drawing_element(svg(question))] if len(question.model.states) <= DRAWN else [])


def _growing_bounds(verdict: Verdict, question: Question) -> dict[str, Any]:
    """What is known of the smallest claim that grows at this rate, as plain data."""
    low, high, tight = verdict.lower, verdict.upper, verdict.tight
    return {
        "ratio": None,
        "epsilon": None,
        "exact": None if tight is None else beside_growth(question, str(tight)),
        "lower": beside_growth(question, str(low)),
        "upper": "inf" if high.infinite else beside_growth(question, str(high)),
        "certified": verdict.certified.lower and verdict.certified.upper,
        "certified_lower": verdict.certified.lower,
        "certified_upper": verdict.certified.upper,
    }


def beside_growth(question: Question, epsilon: str) -> str:
    """A claim that grows with the list."""
    return question.growth_words if epsilon == "0" else f"{question.growth_words} + {epsilon}"


def scenario_words(question: Question) -> str:
    """What is compared."""
    scenario, model, origin = question.scenario, question.model, question.origin
    parts = []
    if origin is not None and origin.mechanism.neighbours == ADD_REMOVE:
        parts.append("one element is added or removed")
    elif scenario.neighbours is not None:
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


def _open_words(question: Question) -> str:
    """That lists of every length are compared, if they are."""
    model = question.model
    return "lists of every length" if isinstance(model, Transducer) and model.of_every_length else ""


def horizon_words(question: Question) -> str:
    """Which lengths are compared."""
    horizon, model = question.horizon, question.model
    if open_words := _open_words(question):
        return open_words
    if question.origin is not None and question.origin.mechanism.stream is None:
        return ""
    if isinstance(model, Transducer) and model.finish is not None:
        return f"{len(model.steps)} inputs, one output at the end"
    if horizon is None:
        return "words of every length there is"
    if horizon.high is None:
        return "words of every length"
    return f"words of length {horizon.high}" if horizon.low == horizon.high else f"words of length {horizon}"


def side_words(question: Question, witness: WordWitness, side: int) -> str:
    """One of the two situations of a witness."""
    if question.origin is not None:
        arguments = question.origin.arguments(witness.observed.pair, side, witness.observed.inputs[side])
        return ", ".join(f"{name}={value!r}" for name, value in arguments.items())
    inputs = witness.observed.inputs[side]
    initial = witness.left if side == 0 else witness.right
    state = ", ".join(name if p == 1 else f"{name}: {p}" for name, p in initial.items())
    if not inputs:
        return state
    listed = "inputs " + " ".join(inputs)
    return listed if witness.left == witness.right else f"{listed} from {state}"


def python_lines(origin: Origin, witness: WordWitness) -> str:
    """A few lines of Python that recompute both probabilities of a witness."""
    output = _output(origin, witness)
    lines = ["from privproof import output_probability", import_line(origin.mechanism)]
    for side, probability in enumerate((witness.left_probability, witness.right_probability)):
        arguments = origin.arguments(witness.observed.pair, side, witness.observed.inputs[side])
        given = "".join(f", {n}={v!r}" for n, v in arguments.items())
        lines.append(f"output_probability({call_text(origin.mechanism)}, {output!r}{given})  # {show(probability)}")
    return "\n".join(lines)


def _replayable(origin: Origin, witness: WordWitness) -> bool:
    """Whether the list of outputs says all that a witness shows: not where a step of a stream is silent, or its end is shown."""
    if origin.collected or origin.mechanism.stream is None:
        return True
    shown = [letter.output for letter in witness.observed.letters]
    values = [origin.outputs[name] for name in shown if name is not None]
    ended = any(v is ENDED for value in values for v in (value.values if isinstance(value, Several) else (value,)))
    return None not in shown and not ended


def _output(origin: Origin, witness: WordWitness) -> object:
    """A witness's output as `output_probability` takes it."""
    letters = [letter.output for letter in witness.observed.letters]
    if origin.collected:
        return printable(whole_output(origin.outputs, letters, witness.observed.marked))
    values = [origin.outputs[name] for name in letters if name is not None]
    flat = [v for value in values for v in (value.values if isinstance(value, Several) else (value,))]
    return [printable(value) for value in flat]


def _witness_facts(verdict: Verdict, question: Question, witness: WordWitness, *, asked_tight: bool) -> list[Fact]:
    budget = question.budget
    output = _output_words(question, witness) + (" (complete)" if witness.observed.ending == "complete" else "")
    ratio = "infinite" if witness.ratio is None else show(witness.ratio)
    beyond = verdict.status == "refuted" and not asked_tight and budget is not None
    if beyond and budget is not None and budget.delta == 0:
        ratio += f", beyond e^epsilon = {bound_words(budget.epsilon)}"
        if question.growth_words:
            ratio += f" times ({question.rate})^{len(witness.observed.inputs[0])}"
    result = [] if question.origin is not None else [Fact("pair", witness.observed.pair)]
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


def _output_words(question: Question, witness: WordWitness) -> str:
    """What is observed; on a stream also the steps at which nothing is."""
    if question.origin is not None and question.origin.mechanism.stream is not None:
        return " ".join(letter.output or "(nothing)" for letter in witness.observed.letters)
    return " ".join(witness.observed.output) or "nothing"


def _growth_facts(growth: Growth) -> list[Fact]:
    before, repeated, after = (" ".join(map(str, part)) for part in (growth.before, growth.repeated, growth.after))
    text = f"repeat {repeated} as often as you like"
    text = f"after {before}, {text}" if before else text
    text = f"{text}, then {after}" if after else text
    factor = "without bound" if growth.factor is None else f"at least by the factor {show(growth.factor)}"
    facts = [Fact("growing", f"{text}: each time the ratio grows {factor}")]
    return facts if growth.formula is None else [*facts, Fact("exactly", str(growth.formula))]


def _event_facts(verdict: Verdict) -> list[Fact]:
    event, budget = verdict.event, verdict.question.budget
    left = sum((w.left_probability for w in event), Fraction(0))
    right = sum((w.right_probability for w in event), Fraction(0))
    listed = ", ".join(" ".join(map(str, w.observed.letters)) for w in event[:4]) + (", ..." if len(event) > 4 else "")
    result = [
        Fact("pair", event[0].observed.pair),
        Fact("event", f"{len(event)} outcome{'s' if len(event) != 1 else ''}: {listed}"),
        Fact("left", f"probability of the event {show(left)}"),
        Fact("right", f"probability of the event {show(right)}"),
    ]
    if budget is not None and verdict.status == "refuted" and not budget.epsilon.infinite:
        c = bound_words(budget.epsilon)
        result.append(Fact("compare", f"the left exceeds {c} * right + {budget.delta}"))
    return result


def origin_size(question: Question) -> int | None:
    """The length of the list that a mechanism reads one element a step, if it reads one."""
    return question.list_size


def witness_data(witness: WordWitness, question: Question) -> dict[str, Any]:
    """A witness as plain data."""

    def exact(value: Fraction | None) -> str:
        return "inf" if value is None else text(value)

    left, right = ({n: str(p) for n, p in side.items()} for side in (witness.left, witness.right))
    inputs = witness.observed.inputs
    sides: tuple[Any, Any] = (list(inputs[0]), list(inputs[1])) if inputs[0] else (left, right)
    if question.origin is not None:
        origin = question.origin
        sides = (
            plain_data(origin.arguments(witness.observed.pair, 0, inputs[0])),
            plain_data(origin.arguments(witness.observed.pair, 1, inputs[1])),
        )
    return {
        "pair": witness.observed.pair,
        "left": sides[0],
        "right": sides[1],
        "output": list(witness.observed.output),
        "ending": witness.observed.ending,
        "left_initial": left,
        "right_initial": right,
        "word": [str(letter) for letter in witness.observed.letters],
        "left_probability": exact(witness.left_probability),
        "right_probability": exact(witness.right_probability),
        "ratio": exact(witness.ratio),
    }
