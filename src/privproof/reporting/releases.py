"""Verdicts about releases of correlated data, in words and as plain data."""

from __future__ import annotations

from typing import Any

from privproof.evidence import ReleaseWitness, Unknown, Verdict
from privproof.evidence.release_certificates import release_document
from privproof.exact.balls import precision
from privproof.reporting.facts import Fact, bound_words, enclosing, outward, rounded, tight_fact
from privproof.scenarios.networks import Network
from privproof.scenarios.releases import ReleaseQuestion


def release_words(question: ReleaseQuestion) -> str:
    """What is compared under which priors."""
    first, number = question.priors[0], len(question.priors)
    if isinstance(first, Network):
        return f"any two values of one of {len(first.nodes)} nodes, under {first.name or 'a network'}{_more(number)}"
    lengths = ", ".join(map(str, question.lengths[:4])) + (", ..." if len(question.lengths) > 4 else "")
    return f"any two values of one entry of a series of length {lengths}, under {first}{_more(number)}"


def _more(number: int) -> str:
    return "" if number == 1 else f" and {number - 1} more"


def release_facts(verdict: Verdict, question: ReleaseQuestion) -> list[Fact]:
    """Everything a reader needs, in order."""
    witness = verdict.witness
    result = [
        Fact("compared", release_words(question)),
        Fact("released", f"{question.query.name} with {question.noise}"),
    ]
    if isinstance(verdict, Unknown):
        result.append(Fact("reason", verdict.reason))
    if isinstance(witness, ReleaseWitness):
        ratio = "infinite" if witness.infinite else _ratio(witness)
        if verdict.status == "refuted" and question.budget is not None:
            ratio += f", beyond e^epsilon = {bound_words(question.budget.epsilon)}"
        result += [
            Fact("output", witness.output),
            Fact("left", f"given {witness.secrets[0]}: probability {rounded(witness.left_probability)}"),
            Fact("right", f"given {witness.secrets[1]}: probability {rounded(witness.right_probability)}"),
            Fact("ratio", ratio),
            Fact("prior", witness.prior),
        ]
    result.append(tight_fact(verdict, loss_words(verdict)))
    result.append(Fact("engine", f"{verdict.engine}, {verdict.seconds:.2f} s"))
    return [*result, *(Fact("note", note) for note in verdict.notes)]


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
        return rounded(witness.loss().exp())


def release_question_data(question: ReleaseQuestion) -> dict[str, Any]:
    """A question about a release as plain data."""
    return {**release_document(question), "horizon": None, "scenario": release_words(question)}


def release_witness_data(witness: ReleaseWitness) -> dict[str, Any]:
    """A witness as plain data, with enclosures."""
    with precision(192):
        ratio: Any = "inf" if witness.infinite else enclosing(witness.loss().exp())
    right = "0" if witness.infinite else enclosing(witness.right_probability)
    return {
        "left": witness.secrets[0],
        "right": witness.secrets[1],
        "output": [witness.output],
        "prior": witness.prior,
        "left_probability": enclosing(witness.left_probability),
        "right_probability": right,
        "ratio": ratio,
    }
