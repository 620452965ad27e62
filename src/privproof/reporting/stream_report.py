"""Verdicts about stream automata, in words and as plain data."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from privproof.evidence.verdicts import Proved, Refuted, Shifted, Verdict
from privproof.evidence.witnesses import StreamWitness, word_with_repetitions
from privproof.exact import epsilon
from privproof.exact.balls import rational_bounds
from privproof.exact.number_texts import bound_words, outward, rounded_decimal
from privproof.exact.probabilities import Probability, ball_of_probability, is_zero
from privproof.formats import stream_picture, svg
from privproof.models.stream_automaton import guard_words
from privproof.reporting.mechanism_calls import call_text, import_line
from privproof.reporting.model_drawings import DRAWN, drawing_element, source
from privproof.reporting.program_report import event_source, public_words
from privproof.reporting.replay_commands import ReplayCommand
from privproof.reporting.report_facts import Fact, ball_data, loss_data, plain_data, ratio_data
from privproof.reporting.report_registry import Report
from privproof.scenarios import StreamQuestion

_LONGEST = 24
"""A witness of more steps is not written as Python: the lines would be too long to read."""
_TIMES = {0: "↻ again and again", 1: ""}


class StreamReport(Report[StreamQuestion, StreamWitness]):
    """How questions about stream automata are told."""

    def compared(self, question: StreamQuestion) -> list[Fact]:
        """What is compared."""
        return [Fact("compared", compared_words(question))]

    def shown(
        self, verdict: Verdict, question: StreamQuestion, *, command: ReplayCommand | None, asked_tight: bool
    ) -> list[Fact]:
        """The structure that leaks, the table of shifts, and the worst data."""
        result: list[Fact] = []
        if verdict.leak is not None:
            result.append(Fact("structure", f"{verdict.leak.kind}: {verdict.leak.sentence}"))
            result.append(Fact("path", path_words(verdict, question)))
        if verdict.shifts:
            result.append(Fact("shifts", shift_words(verdict.shifts)))
            result.append(Fact("in all", f"{verdict.upper}, and no execution costs more"))
        if verdict.witness is not None:
            if isinstance(verdict, Proved):
                result.append(Fact("approached", "by the loss on two streams that are far apart:"))
            result += _witness_facts(verdict, question, verdict.witness, asked_tight=asked_tight)
        return result

    def tight(self, verdict: Verdict, question: StreamQuestion) -> str:
        """What is known about the smallest epsilon."""
        return tight_words(verdict)

    def question_data(self, question: StreamQuestion) -> dict[str, Any]:
        """The question as plain data."""
        return stream_question_data(question)

    def witness_data(self, witness: StreamWitness, question: StreamQuestion) -> dict[str, Any]:
        """A witness as plain data."""
        observed = witness.observed
        sides: tuple[Any, Any] = ([str(x) for x in witness.left], [str(x) for x in witness.right])
        if observed.arguments is not None:
            sides = (plain_data(dict(observed.arguments[0])), plain_data(dict(observed.arguments[1])))
        return {
            "left": sides[0],
            "right": sides[1],
            "output": list(observed.word),
            "repetitions": observed.times,
            "left_probability": ball_data(witness.left_probability),
            "right_probability": ball_data(witness.right_probability),
            "ratio": ratio_data(witness),
            "loss": "inf" if witness.infinite else loss_data(witness),
        }

    def more_data(self, verdict: Verdict, question: StreamQuestion) -> dict[str, Any]:
        """The structure that leaks, and the table of shifts."""
        return stream_data(verdict, question)

    def situations(self, witness: StreamWitness, question: StreamQuestion) -> tuple[str, str]:
        """Both streams of a witness, in words."""
        return (
            f"[{word_with_repetitions(list(map(str, witness.left)))}]",
            f"[{word_with_repetitions(list(map(str, witness.right)))}]",
        )

    def drawn(self, verdict: Verdict, question: StreamQuestion) -> list[str]:
        """The function where there is one, and the automaton, with what leaks in red."""
        parts = [] if question.mechanism is None else [source(question.mechanism)]
        if len(question.automaton.states) <= DRAWN:
            marked = [n for steps, _ in verdict.leak.segments for n in steps] if verdict.leak is not None else []
            parts.append(drawing_element(svg(stream_picture(question, marked))))
        return parts


def compared_words(question: StreamQuestion) -> str:
    """Which streams are compared."""
    relation = {
        "each": f"every number of the stream may change by at most {question.within}",
        "one": f"one number of the stream changes by at most {question.within}",
        "monotone": f"all numbers of the stream that change go in one direction, each by at most {question.within}",
    }[question.relation]
    beside = secrets(question)
    if beside:
        relation = relation.replace("of the stream", f"of the stream, and {', '.join(beside)},")
    more = [] if question.mechanism is None else public_words(question.mechanism)
    return "; ".join([relation, "streams of every length", *more])


def path_words(verdict: Verdict, question: StreamQuestion) -> str:
    """The path of a structure, a line for every transition, its cycles marked."""
    assert verdict.leak is not None
    rows: list[tuple[str, ...]] = []
    for steps, repeated in verdict.leak.segments:
        for place, number in enumerate(steps):
            step = question.automaton.transitions[number]
            stored = f"store {', '.join(sorted(step.stored))}" if step.stores else ""
            bracket = "" if not repeated else "↻" if len(steps) == 1 else "╭" if place == 0 else "│"
            if repeated and len(steps) > 1 and place == len(steps) - 1:
                bracket = "╰ again and again"
            if repeated and len(steps) == 1:
                bracket = "↻ again and again"
            written = f"write {step.symbol}" if step.symbol else ""
            rows.append((str(step), guard_words(step), stored, written, bracket))
    return table(rows)


def table(rows: Sequence[tuple[str, ...]]) -> str:
    """Rows as columns of text."""
    used = [k for k in range(len(rows[0])) if any(row[k] for row in rows)]
    widths = {k: max(len(row[k]) for row in rows) for k in used}
    return "\n".join("  ".join(row[k].ljust(widths[k]) for k in used).rstrip() for row in rows)


def shift_words(shifts: tuple[Shifted, ...]) -> str:
    """The table of shifts."""
    rows = [("transition", "data differ by", "shifted", "cost", "")]
    rows += [(row.step, row.change, row.shift, row.cost, _TIMES.get(row.times, f"x{row.times}")) for row in shifts]
    return table(rows)


def tight_words(verdict: Verdict) -> str:
    """What is known about the smallest epsilon."""
    if verdict.lower.infinite:
        infinite = verdict.witness is not None and verdict.witness.infinite
        grows = "the loss grows with every repetition"
        return f"none: {grows if not infinite else 'what is written is impossible on one side'}"
    if verdict.tight is not None:
        return verdict.tight.show()
    lower = f"at least {outward(verdict.lower, up=False, digits=9)}"
    if verdict.leak is not None and verdict.status == "refuted":
        return f"{lower}; more repetitions lose more"
    return f"{lower}; " + ("no upper bound" if verdict.upper.infinite else f"at most {verdict.upper.show()}")


def _witness_facts(
    verdict: Verdict, question: StreamQuestion, witness: StreamWitness, *, asked_tight: bool
) -> list[Fact]:
    loss = "infinite" if witness.infinite else rounded_loss(witness)
    if isinstance(verdict, Refuted) and not asked_tight and question.budget is not None:
        budget = question.budget
        if budget.delta == 0:
            loss += f", beyond {budget.epsilon.show()}"
            if not witness.infinite:
                loss += f" (the ratio of the probabilities is beyond e^epsilon = {bound_words(budget.epsilon)})"
        else:
            loss += f"; the left exceeds e^({budget.epsilon}) * right + {budget.delta}"
    result = [Fact("written", witness.seen or "nothing")]
    observed = witness.observed
    if observed.times is not None and verdict.leak is not None:
        cycles = sum(repeated for _, repeated in verdict.leak.segments)
        if cycles:
            what = "the cycle" if cycles == 1 else "each cycle"
            fewest = ", the fewest that do" if isinstance(verdict, Refuted) and not asked_tight else ""
            often = "once" if observed.times == 1 else f"{observed.times} times"
            result.append(Fact("repetitions", f"{what} {often}{fewest}"))
    result += [
        Fact("left", f"{side_words(question, witness, 0)}: probability {shown_ball(witness.left_probability)}"),
        Fact("right", f"{side_words(question, witness, 1)}: probability {shown_ball(witness.right_probability)}"),
        Fact("loss", loss),
    ]
    told = witness.observed.arguments is not None and witness.observed.event is not None
    if question.mechanism is not None and told and len(witness.observed.steps) <= _LONGEST:
        result.append(Fact("in Python", python_lines(question, witness)))
    return result


def rounded_loss(witness: StreamWitness) -> str:
    """The loss, rounded down."""
    low = rational_bounds(witness.loss())[0]
    return outward(epsilon(low), up=False, digits=9) if low > 0 else "0"


def stream_words(numbers: tuple[Fraction, ...]) -> str:
    """The numbers of a stream; equal ones in a row are counted."""
    return f"[{word_with_repetitions([str(number) for number in numbers])}]"


def side_words(question: StreamQuestion, witness: StreamWitness, side: int) -> str:
    """The numbers of one side; a number beside the stream by its name."""
    numbers = (witness.left, witness.right)[side]
    beside = secrets(question)
    if not beside or witness.observed.arguments is None:
        return stream_words(numbers)
    given = witness.observed.arguments[side]
    assert question.mechanism is not None
    assert question.mechanism.stream is not None
    stream = tuple(Fraction(value) for value in given[question.mechanism.stream])
    return f"{', '.join(f'{name}={given[name]}' for name in beside)}, {stream_words(stream)}"


def secrets(question: StreamQuestion) -> list[str]:
    """The private numbers beside the stream."""
    if question.mechanism is None:
        return []
    inputs = question.mechanism.inputs.items()
    return [name for name, declared in inputs if not declared.public and declared.shape == "value"]


def shown_ball(value: Probability) -> str:
    """A probability."""
    return "0" if is_zero(value) else f"≈ {rounded_decimal(ball_of_probability(value, 192))}"


def python_lines(question: StreamQuestion, witness: StreamWitness) -> str:
    """A few lines of Python that recompute both probabilities."""
    mechanism = question.mechanism
    assert mechanism is not None
    assert witness.observed.arguments is not None
    lines = ["from privproof import output_probability", import_line(mechanism)]
    for side in witness.observed.arguments:
        given = "".join(f", {n}={v!r}" for n, v in side.items())
        lines.append(f"output_probability({call_text(mechanism)}, {event_source(witness.observed.event)}{given})")
    if any("Fraction(" in line for line in lines):
        lines.insert(0, "from fractions import Fraction")
    return "\n".join(lines)


def stream_data(verdict: Verdict, question: StreamQuestion) -> dict[str, Any]:
    """What the verdict says beyond what every verdict says, as plain data."""
    result: dict[str, Any] = {}
    if verdict.leak is not None:
        result["leak"] = {
            "kind": verdict.leak.kind,
            "sentence": verdict.leak.sentence,
            "segments": [
                {
                    "transitions": [
                        {
                            "from": question.automaton.transitions[n].source,
                            "to": question.automaton.transitions[n].target,
                            "when": guard_words(question.automaton.transitions[n]),
                        }
                        for n in steps
                    ],
                    "repeated": repeated,
                }
                for steps, repeated in verdict.leak.segments
            ],
        }
    if verdict.shifts:
        result["shifts"] = [
            {"transition": row.step, "change": row.change, "shift": row.shift, "cost": row.cost, "times": row.times}
            for row in verdict.shifts
        ]
    return result


def stream_question_data(question: StreamQuestion) -> dict[str, Any]:
    """The question as plain data."""
    automaton = question.automaton
    result: dict[str, Any] = {
        "kind": "stream-automaton",
        "horizon": "unbounded",
        "scenario": compared_words(question),
        "states": len(automaton.states),
        "transitions": len(automaton.transitions),
        "thresholds": len(automaton.thresholds),
    }
    if question.mechanism is not None:
        result["parameters"] = plain_data(dict(question.mechanism.parameters))
    return result
