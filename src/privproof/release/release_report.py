"""Verdicts about releases of correlated data, in words and as plain data."""

from __future__ import annotations

from typing import Any

from privproof.evidence.verdicts import Verdict
from privproof.evidence.witnesses import ReleaseWitness
from privproof.exact import show
from privproof.exact.balls import precision
from privproof.exact.number_texts import bound_words, enclosing_decimals, outward, rounded_decimal
from privproof.exact.probabilities import ball_of_probability
from privproof.release.bayes_networks import Network
from privproof.release.gaussian_chains import GaussianChain
from privproof.release.release_document import release_document
from privproof.release.release_question import ReleaseQuestion
from privproof.reporting.replay_commands import ReplayCommand
from privproof.reporting.report_facts import Fact, ball_data, ratio_data
from privproof.reporting.report_registry import Report


class ReleaseReport(Report[ReleaseQuestion, ReleaseWitness]):
    """How questions about releases are told."""

    def compared(self, question: ReleaseQuestion) -> list[Fact]:
        """What is compared, and what is released."""
        return [
            Fact("compared", release_words(question)),
            Fact("released", f"{question.query.name} with {question.noise}"),
        ]

    def shown(
        self, verdict: Verdict, question: ReleaseQuestion, *, command: ReplayCommand | None, asked_tight: bool
    ) -> list[Fact]:
        """The output that tells two values of an entry apart."""
        witness = verdict.witness
        if witness is None:
            return []
        ratio = "infinite" if witness.infinite else _ratio(witness)
        if verdict.status == "refuted" and question.budget is not None:
            ratio += f", beyond e^epsilon = {bound_words(question.budget.epsilon)}"
        return [
            Fact("output", witness.seen),
            Fact(
                "left",
                f"given {witness.left}: probability {rounded_decimal(ball_of_probability(witness.left_probability, 192))}",
            ),
            Fact(
                "right",
                f"given {witness.right}: probability {rounded_decimal(ball_of_probability(witness.right_probability, 192))}",
            ),
            Fact("ratio", ratio),
            Fact("prior", witness.observed.prior),
        ]

    def tight(self, verdict: Verdict, question: ReleaseQuestion) -> str:
        """The loss: exactly, enclosed by two decimals, or from above."""
        return loss_words(verdict)

    def question_data(self, question: ReleaseQuestion) -> dict[str, Any]:
        """A question about a release as plain data."""
        return {**release_document(question), "horizon": None, "scenario": release_words(question)}

    def witness_data(self, witness: ReleaseWitness, question: ReleaseQuestion) -> dict[str, Any]:
        """A witness as plain data."""
        return release_witness_data(witness)


def release_words(question: ReleaseQuestion) -> str:
    """What is compared under which priors."""
    first, number = question.priors[0], len(question.priors)
    if isinstance(first, Network):
        return f"any two values of one of {len(first.nodes)} nodes, under {first.name or 'a network'}{_more(number)}"
    lengths = ", ".join(map(str, question.lengths[:4])) + (", ..." if len(question.lengths) > 4 else "")
    if isinstance(first, GaussianChain):
        apart = show(first.distance)
        return f"any two values of one entry, at most {apart} apart, of a series of length {lengths}, under {first}"
    return f"any two values of one entry of a series of length {lengths}, under {first}{_more(number)}"


def _more(number: int) -> str:
    return "" if number == 1 else f" and {number - 1} more"


def loss_words(verdict: Verdict) -> str:
    """The loss: exactly, enclosed by two decimals, or from above."""
    lower, upper = outward(verdict.lower, up=False, digits=9), outward(verdict.upper, up=True, digits=9)
    if verdict.tight is not None:
        return verdict.tight.show()
    if verdict.upper.infinite:
        return f"at least {lower}; no upper bound proved"
    return f"at most {upper}" if lower == "0" else f"between {lower} and {upper}"


def _ratio(witness: ReleaseWitness) -> str:
    with precision(192):
        return rounded_decimal(witness.loss().exp())


def release_witness_data(witness: ReleaseWitness) -> dict[str, Any]:
    """A witness as plain data, with enclosures."""
    return {
        "left": witness.left,
        "right": witness.right,
        "output": [witness.output],
        "prior": witness.observed.prior,
        "left_probability": enclosing_decimals(ball_of_probability(witness.left_probability, 192)),
        "right_probability": ball_data(witness.right_probability),
        "ratio": ratio_data(witness),
    }
