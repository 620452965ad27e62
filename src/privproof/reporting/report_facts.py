"""The parts that all reports are made of: facts, and numbers as they are shown."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from privproof.evidence import Verdict
from privproof.evidence.witnesses import AnyWitness
from privproof.exact.balls import precision
from privproof.exact.number_texts import enclosing_decimals
from privproof.exact.probabilities import Probability, ball_of_probability, is_zero
from privproof.language.row import Row


@dataclass(frozen=True)
class Fact:
    """A line of a report: a label and what it says."""

    label: str
    text: str


def tight_fact(verdict: Verdict, words: str) -> Fact:
    """What is known about the tight epsilon, and which part of it no certificate shows."""
    return Fact("tight epsilon", f"{words} ({verdict.uncertified})" if verdict.uncertified else words)


def plain_data(value: object) -> Any:
    """A value of a mechanism as JSON has it: fractions as texts, tuples as lists."""
    if isinstance(value, dict | Row):
        return {str(name): plain_data(item) for name, item in value.items()}
    if isinstance(value, tuple | list):
        return [plain_data(item) for item in value]
    return str(value) if isinstance(value, Fraction) else value


def ball_data(value: Probability) -> str | list[str]:
    """A probability as two decimals that enclose it; zero is exact."""
    return "0" if is_zero(value) else enclosing_decimals(ball_of_probability(value, 192))


def ratio_data(witness: AnyWitness) -> str | list[str]:
    """How many times likelier a witness is on the left, as two decimals that enclose it."""
    if witness.infinite:
        return "inf"
    with precision(192):
        return enclosing_decimals(witness.loss(192).exp())


def loss_data(witness: AnyWitness) -> list[str]:
    """The loss of a witness that is possible on both sides, as two decimals that enclose it."""
    loss = witness.loss(192)
    return enclosing_decimals(loss) if loss > 0 else ["0", "0"]
