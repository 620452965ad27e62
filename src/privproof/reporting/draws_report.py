"""Verdicts about separate draws, in words and as plain data."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from typing import Any

from privproof.evidence.verdicts import Refuted, Verdict
from privproof.evidence.witnesses import DrawsWitness
from privproof.exact import show
from privproof.exact.number_texts import bound_words
from privproof.profiles.output_laws import SeenOutput, mechanism_rows
from privproof.reporting.mechanism_calls import call_text, import_line
from privproof.reporting.model_drawings import source
from privproof.reporting.replay_commands import ReplayCommand
from privproof.reporting.report_facts import Fact, plain_data
from privproof.reporting.report_registry import Report
from privproof.scenarios import DrawsQuestion

_SHORT = 12
"""Elements of a list that are written out one by one; in a longer one equal elements in a row are counted."""


class DrawsReport(Report[DrawsQuestion, DrawsWitness]):
    """How questions about what is drawn from the entries of an input are told."""

    def compared(self, question: DrawsQuestion) -> list[Fact]:
        """What is compared."""
        return [Fact("compared", compared_words(question))]

    def shown(
        self, verdict: Verdict, question: DrawsQuestion, *, command: ReplayCommand | None, asked_tight: bool
    ) -> list[Fact]:
        """The output on two data sets."""
        witness = verdict.witness
        if witness is None:
            return []
        ratio = "infinite: the output is impossible on the right" if witness.ratio is None else show(witness.ratio)
        budget = question.budget
        if isinstance(verdict, Refuted) and not asked_tight and budget is not None and witness.ratio is not None:
            ratio += f", beyond e^epsilon = {bound_words(budget.epsilon)}"
        return [
            Fact("output", counted_list(witness.event)),
            Fact("left", f"{_side(witness.left)}: probability {show(witness.left_probability)}"),
            Fact("right", f"{_side(witness.right)}: probability {show(witness.right_probability)}"),
            Fact("ratio", ratio),
            *_in_python(witness, question),
        ]

    def sides(self, witness: DrawsWitness, question: DrawsQuestion) -> str:
        """Both data sets of a witness and its output, in one line."""
        return f"{_side(witness.left)} against {_side(witness.right)}, output {counted_list(witness.event)}"

    def question_data(self, question: DrawsQuestion) -> dict[str, Any]:
        """The question as plain data."""
        return {
            "kind": "mechanism",
            "horizon": None,
            "scenario": compared_words(question),
            "parameters": plain_data(dict(question.mechanism.parameters)),
            "size": question.size,
        }

    def witness_data(self, witness: DrawsWitness, question: DrawsQuestion) -> dict[str, Any]:
        """A witness as plain data."""
        return {
            "left": plain_data(dict(witness.left)),
            "right": plain_data(dict(witness.right)),
            "output": [witness.output],
            "left_probability": str(witness.left_probability),
            "right_probability": str(witness.right_probability),
            "ratio": "inf" if witness.ratio is None else str(witness.ratio),
        }

    def situations(self, witness: DrawsWitness, question: DrawsQuestion) -> tuple[str, str]:
        """Both data sets of a witness, in words."""
        return _side(witness.left), _side(witness.right)

    def law_rows(self, witness: DrawsWitness, question: DrawsQuestion) -> Sequence[SeenOutput] | None:
        """All outputs on both data sets."""
        return mechanism_rows(question.mechanism, witness.left, witness.right)

    def drawn(self, verdict: Verdict, question: DrawsQuestion) -> list[str]:
        """The function."""
        return [source(question.mechanism)]


def compared_words(question: DrawsQuestion) -> str:
    """Which data are compared."""
    declared = question.mechanism.inputs[question.input]
    amount = "in any way" if declared.within is None else f"by at most {declared.within}"
    changes = {
        "each": f"every input may change {amount}",
        "one": f"one input changes {amount}",
        "monotone": f"inputs change in one direction, each {amount}",
    }
    return changes[question.relation]


def _in_python(witness: DrawsWitness, question: DrawsQuestion) -> list[Fact]:
    """How Python computes both probabilities."""
    lines = ["from privproof import output_probability", import_line(question.mechanism)]
    for side, probability in ((witness.left, witness.left_probability), (witness.right, witness.right_probability)):
        given = "".join(f", {name}={counted_list(value)}" for name, value in side.items())
        call = f"output_probability({call_text(question.mechanism)}, {counted_list(witness.event)}{given})"
        lines.append(f"{call}  # {show(probability)}")
    return [Fact("in Python", "\n".join(lines))]


def _side(arguments: Any) -> str:
    return ", ".join(f"{name}={counted_list(value)}" for name, value in arguments.items())


def counted_list(value: Any) -> str:
    """A value as Python reads it; in a long list equal elements in a row are counted.

    >>> counted_list([0] * 999 + [1])
    '[0] * 999 + [1]'
    """
    if not isinstance(value, list) or len(value) <= _SHORT:
        return repr(value)
    parts: list[str] = []
    single: list[str] = []
    for text, equal in groupby(map(repr, value)):
        times = len(list(equal))
        if times < 3:
            single += [text] * times
            continue
        parts += [f"[{', '.join(single)}]"] if single else []
        parts.append(f"[{text}] * {times}")
        single = []
    parts += [f"[{', '.join(single)}]"] if single else []
    return " + ".join(parts)
