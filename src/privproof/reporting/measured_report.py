"""Verdicts about other measures than epsilon and delta, in words and as plain data; conversions are shown, nothing is claimed by them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from flint import arb
from rich.console import Console
from rich.text import Text

from privproof.evidence.verdicts import MeasureDetails, Verdict
from privproof.evidence.witnesses import AnyWitness
from privproof.exact.balls import precision
from privproof.exact.measures import Measure
from privproof.exact.number_texts import enclosing_decimals, outward, rounded_ball
from privproof.profiles.measure_conversions import delta_of_mu, delta_of_rho
from privproof.reporting.program_report import arguments_words
from privproof.reporting.replay_commands import ReplayCommand
from privproof.reporting.report_facts import Fact, plain_data
from privproof.reporting.report_registry import Report, report_of
from privproof.scenarios import MeasuredQuestion

_NO_EPSILON = {
    **dict.fromkeys(("ratio", "epsilon", "exact")),
    "lower": "0",
    "upper": "inf",
    **dict.fromkeys(("certified", "certified_lower", "certified_upper"), False),
}
"""What a verdict about another measure says about the tight epsilon: nothing."""
_SHOWN = (1, 2, 4)
"""The epsilons at which a bound on delta is shown."""


class MeasuredReport(Report[MeasuredQuestion, AnyWitness]):
    """How questions about other measures are told."""

    def claim(self, question: MeasuredQuestion) -> str:
        """What is claimed, as an adjective."""
        return " and ".join(each.measure.claim(each.claimed) for each in question.budgets if each.claimed is not None)

    def headline(self, verdict: Verdict, question: MeasuredQuestion, *, asked_tight: bool) -> str:
        """The verdict in one sentence."""
        if not asked_tight:
            return super().headline(verdict, question, asked_tight=False)
        name = question.name or "the mechanism"
        what = f"the smallest {question.measure}" if question.measure.kind != "renyi" else f"the {question.measure}"
        if verdict.lower.infinite:
            return f"{name}: {what} is infinite"
        if verdict.tight is not None:
            return f"{name}: {what} is {verdict.tight.show()}"
        low, high = outward(verdict.lower, up=False, digits=9), outward(verdict.upper, up=True, digits=9)
        if verdict.upper.infinite:
            return f"{name}: {what} is at least {low}; no upper bound is proved"
        return f"{name}: {what} lies between {low} and {high}"

    def compared(self, question: MeasuredQuestion) -> list[Fact]:
        """What is compared."""
        return report_of(question.of).compared(question.of)

    def shown(
        self, verdict: Verdict, question: MeasuredQuestion, *, command: ReplayCommand | None, asked_tight: bool
    ) -> list[Fact]:
        """The two data sets that are told apart best."""
        details = verdict.details
        if not isinstance(details, MeasureDetails):
            return []
        sides = f"{arguments_words(details.left)} against {arguments_words(details.right)}"
        amount = "" if details.amount is None else f": {_decimals(details)}"
        return [Fact("told apart", sides), Fact("by", f"{details.text}{amount}")]

    def facts(
        self, verdict: Verdict, question: MeasuredQuestion, *, command: ReplayCommand | None, asked_tight: bool
    ) -> list[Fact]:
        """Everything a reader needs, in order."""
        found = super().facts(verdict, question, command=command, asked_tight=asked_tight)
        label = f"smallest {question.measure}" if question.measure.kind != "renyi" else "divergence"
        result = [Fact(label, each.text) if each.label == "tight epsilon" else each for each in found]
        if len(question.budgets) > 1 or question.budgets[0].growing is not None:
            result = [each for each in result if each.label != label]
        converted = conversion_words(verdict, question)
        place = next(i for i, each in enumerate(result) if each.label == "engine")
        return [*result[:place], *converted, *result[place:]]

    def tight(self, verdict: Verdict, question: MeasuredQuestion) -> str:
        """What is known about the smallest value."""
        if verdict.lower.infinite:
            return "infinite"
        if verdict.tight is not None:
            return verdict.tight.show()
        upper = "no upper bound proved" if verdict.upper.infinite else f"at most {verdict.upper.decimal(digits=12)}"
        return f"at least {verdict.lower.decimal(digits=12)}; {upper}"

    def question_data(self, question: MeasuredQuestion) -> dict[str, Any]:
        """The question as plain data."""
        inner = report_of(question.of).question_data(question.of)
        budgets = [
            {
                "order": None if each.measure.order is None else str(each.measure.order),
                "value": None if each.claimed is None else str(each.claimed),
            }
            for each in question.budgets
        ]
        return {**inner, "measure": question.measure.kind, "budgets": budgets}

    def more_data(self, verdict: Verdict, question: MeasuredQuestion) -> dict[str, Any]:
        """The measure between two numbers, and the data sets that are told apart best."""
        details = verdict.details
        told = None
        if isinstance(details, MeasureDetails):
            told = {
                "left": plain_data(dict(details.left)),
                "right": plain_data(dict(details.right)),
                "by": details.text,
                "amount": "inf" if details.amount is None else _decimals(details),
            }
        lower, upper = outward(verdict.lower, up=False), outward(verdict.upper, up=True)
        shown = verdict.certified
        said = {
            "name": question.measure.kind,
            "exact": None if verdict.tight is None else str(verdict.tight),
            "lower": lower,
            "upper": upper,
            "certified_lower": shown.lower,
            "certified_upper": shown.upper,
        }
        return {"measure": said, "told_apart": told, "tight": dict(_NO_EPSILON)}

    def drawn(self, verdict: Verdict, question: MeasuredQuestion) -> list[str]:
        """The mechanism."""
        return report_of(question.of).drawn(verdict, question.of)


def print_renyi(console: Console, found: Sequence[tuple[Measure, Verdict]]) -> None:
    """Print Rényi divergences at some orders."""
    question = found[0][1].question
    console.print(Text(f"{question.name}: Rényi divergences, enclosed", style="bold"), soft_wrap=True)
    for fact in report_of(question).compared(question):
        console.print(Text(f"  {fact.label:<17} {fact.text}"), soft_wrap=True)
    for measure, verdict in found:
        low, high = outward(verdict.lower, up=False, digits=12), outward(verdict.upper, up=True, digits=12)
        said = low if low == high else f"from {low} to {high}"
        console.print(Text(f"  {f'order {measure.order}':<17} {said}"), soft_wrap=True)


def renyi_data(found: Sequence[tuple[Measure, Verdict]]) -> dict[str, Any]:
    """Rényi divergences at some orders as plain data."""
    points = [
        {
            "order": str(measure.order),
            "lower": outward(verdict.lower, up=False),
            "upper": outward(verdict.upper, up=True),
            "verdict": verdict.status,
        }
        for measure, verdict in found
    ]
    return {"mechanism": found[0][1].question.name, "points": points}


def renyi_csv(found: Sequence[tuple[Measure, Verdict]]) -> str:
    """The same as lines ``order,lower,upper``."""
    rows = [(str(m.order), outward(v.lower, up=False), outward(v.upper, up=True)) for m, v in found]
    return "".join(",".join(row) + "\n" for row in (("order", "lower", "upper"), *rows))


def _decimals(details: MeasureDetails) -> str:
    assert details.amount is not None
    with precision(192):
        ball = details.amount.ball()
        if not ball > 0:
            return rounded_ball(ball)
        low, high = enclosing_decimals(ball, digits=12)
    return low if low == high else f"{low}..{high}"


def conversion_words(verdict: Verdict, question: MeasuredQuestion) -> list[Fact]:
    """What deltas follow from a value that is proved."""
    value = question.budgets[0].value
    if verdict.status != "proved" or value is None or question.measure.kind == "renyi":
        return []
    from_value = delta_of_rho if question.measure.kind == "rho" else delta_of_mu
    told = [f"{_short(from_value(value, epsilon))} at epsilon {epsilon}" for epsilon in _SHOWN]
    return [Fact("implies", f"delta at most {', '.join(told)}")]


def _short(value: arb) -> str:
    return f"{float(value.upper()):.3g}" if value.upper() < 1 else "1"
