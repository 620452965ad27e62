"""Verdicts about lotteries on lists of every length, in words and as plain data."""

from __future__ import annotations

from typing import Any

from privproof.evidence.verdicts import Refuted, Verdict
from privproof.evidence.witnesses import LotteryWitness
from privproof.exact import show
from privproof.exact.texts import bound_words
from privproof.reporting.commands import Command
from privproof.reporting.drawings import source
from privproof.reporting.draws import counted_list
from privproof.reporting.facts import Fact, plain_data
from privproof.reporting.reports import Report
from privproof.scenarios import LotteryQuestion


class LotteryReport(Report[LotteryQuestion, LotteryWitness]):
    """How questions about lotteries are told."""

    def compared(self, question: LotteryQuestion) -> list[Fact]:
        """What is compared."""
        return [Fact("compared", compared_words(question))]

    def shown(
        self, verdict: Verdict, question: LotteryQuestion, *, command: Command | None, asked_tight: bool
    ) -> list[Fact]:
        """The index on two lists."""
        witness = verdict.witness
        if witness is None:
            return []
        ratio = "infinite: the output is impossible on the right" if witness.ratio is None else show(witness.ratio)
        budget = question.budget
        if isinstance(verdict, Refuted) and not asked_tight and budget is not None and witness.ratio is not None:
            ratio += f", beyond e^epsilon = {bound_words(budget.epsilon)}"
        return [
            Fact("output", str(witness.event)),
            Fact("left", f"{_side(witness.left)}: probability {show(witness.left_probability)}"),
            Fact("right", f"{_side(witness.right)}: probability {show(witness.right_probability)}"),
            Fact("ratio", ratio),
        ]

    def sides(self, witness: LotteryWitness, question: LotteryQuestion) -> str:
        """Both lists of a witness and the index, in one line."""
        return f"{_side(witness.left)} against {_side(witness.right)}, output {witness.event}"

    def question_data(self, question: LotteryQuestion) -> dict[str, Any]:
        """The question as plain data."""
        return {
            "kind": "mechanism",
            "horizon": None,
            "scenario": compared_words(question),
            "parameters": plain_data(dict(question.mechanism.parameters)),
            "size": None,
        }

    def witness_data(self, witness: LotteryWitness, question: LotteryQuestion) -> dict[str, Any]:
        """A witness as plain data."""
        return {
            "left": plain_data(dict(witness.left)),
            "right": plain_data(dict(witness.right)),
            "output": [witness.output],
            "left_probability": str(witness.left_probability),
            "right_probability": str(witness.right_probability),
            "ratio": "inf" if witness.ratio is None else str(witness.ratio),
        }

    def drawn(self, verdict: Verdict, question: LotteryQuestion) -> list[str]:
        """The function."""
        return [source(question.mechanism)]


def compared_words(question: LotteryQuestion) -> str:
    """Which data are compared."""
    declared = question.mechanism.inputs[question.input]
    amount = "in any way" if declared.within is None else f"by at most {declared.within}"
    changes = {
        "each": f"every element may change {amount}",
        "one": f"one element changes {amount}",
        "monotone": f"elements change in one direction, each {amount}",
    }
    return f"{changes[question.relation]}; lists of every length"


def _side(arguments: Any) -> str:
    return ", ".join(f"{name}={counted_list(value)}" for name, value in arguments.items())
