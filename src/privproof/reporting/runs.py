"""Verdicts about functions that are run as they are, in words and as plain data."""

from __future__ import annotations

import inspect
from html import escape
from typing import Any

from privproof.evidence.verdicts import Refuted, Verdict
from privproof.evidence.witnesses import RunWitness
from privproof.exact.texts import bound_words, outward
from privproof.reporting.commands import Command
from privproof.reporting.facts import Fact, ball_data, loss_data, plain_data, ratio_data
from privproof.reporting.programs import arguments_words, public_words, shown_probability, tight_words
from privproof.reporting.reports import Report
from privproof.scenarios import RunsQuestion


class RunsReport(Report[RunsQuestion, RunWitness]):
    """How questions about functions that are run are told."""

    def compared(self, question: RunsQuestion) -> list[Fact]:
        """What is compared."""
        return [
            Fact("compared", compared_words(question)),
            Fact("way", "the function itself, run on all its random choices"),
        ]

    def shown(
        self, verdict: Verdict, question: RunsQuestion, *, command: Command | None, asked_tight: bool
    ) -> list[Fact]:
        """The event on two data sets."""
        witness = verdict.witness
        if witness is None:
            return []
        left, right = (arguments_words(side) for side in (witness.left, witness.right))
        loss = "infinite" if witness.infinite else outward(verdict.lower, up=False, digits=9)
        budget = question.budget
        if isinstance(verdict, Refuted) and not asked_tight and budget is not None:
            loss = f"{loss}, beyond {budget.epsilon.show()}"
            if budget.delta == 0 and not witness.infinite:
                loss += f" (the ratio of the probabilities is beyond e^epsilon = {bound_words(budget.epsilon)})"
        return [
            Fact("event", f"the output is {witness.output}"),
            Fact("left", f"{left}: probability {shown_probability(witness.left_probability)}"),
            Fact("right", f"{right}: probability {shown_probability(witness.right_probability)}"),
            Fact("loss", loss),
        ]

    def tight(self, verdict: Verdict, question: RunsQuestion) -> str:
        """What is known about the smallest epsilon."""
        return tight_words(verdict)

    def sides(self, witness: RunWitness, question: RunsQuestion) -> str:
        """Both data sets of a witness and its event, in one line."""
        return f"{arguments_words(witness.left)} against {arguments_words(witness.right)}, output {witness.output}"

    def question_data(self, question: RunsQuestion) -> dict[str, Any]:
        """The question as plain data."""
        return {
            "kind": "runs",
            "horizon": None,
            "scenario": compared_words(question),
            "parameters": plain_data(dict(question.mechanism.parameters)),
            "sizes": list(question.sizes or ()),
        }

    def witness_data(self, witness: RunWitness, question: RunsQuestion) -> dict[str, Any]:
        """A witness as plain data."""
        left, right = witness.left_probability, witness.right_probability
        return {
            "left": plain_data(dict(witness.left)),
            "right": plain_data(dict(witness.right)),
            "output": [witness.output],
            "event": witness.output,
            "left_probability": str(left.at(1)),
            "right_probability": str(right.at(1)),
            "left_ball": ["0", "0"] if left.is_zero else ball_data(left),
            "right_ball": ["0", "0"] if right.is_zero else ball_data(right),
            "ratio": ratio_data(witness),
            "loss": ["inf", "inf"] if witness.infinite else loss_data(witness),
        }

    def drawn(self, verdict: Verdict, question: RunsQuestion) -> list[str]:
        """The function."""
        try:
            text = inspect.getsource(inspect.unwrap(question.mechanism.function))
        except (OSError, TypeError):
            return []
        return [f"<pre>{escape(text)}</pre>"]


def compared_words(question: RunsQuestion) -> str:
    """Which data are compared, at which sizes."""
    mechanism = question.mechanism
    private = {name: declared for name, declared in mechanism.inputs.items() if not declared.public}
    relation = mechanism.neighbours
    amounts = sorted({"in any way" if d.within is None else f"by at most {d.within}" for d in private.values()})
    amount = amounts[0] if len(amounts) == 1 else "within its sensitivity"
    what = f"of {', '.join(f'{name}: {declared}' for name, declared in private.items())}"
    told = {
        "each": f"every value {what} may change {amount}",
        "one": f"one value {what} changes {amount}",
        "add-remove": f"one element {what} is added or removed",
        "monotone": f"all values {what} that change go in one direction, each {amount}",
    }.get(relation if isinstance(relation, str) else "", f"data sets {what}, as the function of neighbours says")
    parts = [told] + ([f"lists of {question.sizes_words}"] if question.sizes else [])
    return "; ".join([*parts, *public_words(mechanism)])
