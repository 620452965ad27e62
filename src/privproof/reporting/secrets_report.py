"""Verdicts about secrets under a prior, in words and as plain data."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from functools import singledispatch
from typing import Any

from privproof.evidence.verdicts import Verdict
from privproof.evidence.witnesses import SecretWitness
from privproof.exact import show
from privproof.exact.number_texts import bound_words
from privproof.formats import svg
from privproof.profiles.output_laws import SeenOutput, secret_rows
from privproof.reporting.model_drawings import DRAWN, drawing_element, source
from privproof.reporting.replay_commands import ReplayCommand
from privproof.reporting.report_facts import Fact
from privproof.reporting.report_registry import Report
from privproof.scenarios import ParametricQuestion, PufferfishQuestion, UnderPriors


class SecretsReport(Report[UnderPriors, SecretWitness]):
    """How questions about secrets under a prior are told."""

    def compared(self, question: UnderPriors) -> list[Fact]:
        """What is compared."""
        return [Fact("compared", prior_words(question))]

    def shown(
        self, verdict: Verdict, question: UnderPriors, *, command: ReplayCommand | None, asked_tight: bool
    ) -> list[Fact]:
        """The output and the prior that tell two secrets apart."""
        witness = verdict.witness
        return [] if witness is None else _prior_facts(verdict, witness, asked_tight=asked_tight)

    def question_data(self, question: UnderPriors) -> dict[str, Any]:
        """The question as plain data."""
        horizon = getattr(question, "horizon", None)
        return {
            "kind": "pufferfish",
            "horizon": None if horizon is None else str(horizon),
            "scenario": prior_words(question),
        }

    def witness_data(self, witness: SecretWitness, question: UnderPriors) -> dict[str, Any]:
        """A witness as plain data."""

        def exact(value: Fraction | None) -> str:
            return "inf" if value is None else str(value)

        observed = witness.observed
        return {
            "left": witness.left,
            "right": witness.right,
            "output": [observed.output],
            "parameters": {name: str(value) for name, value in observed.values.items()},
            "limit": observed.limit,
            "left_probability": exact(witness.left_probability),
            "right_probability": exact(witness.right_probability),
            "ratio": exact(witness.ratio),
            "prior_odds": exact(observed.prior_odds),
            "posterior_odds": exact(observed.posterior_odds),
        }

    def situations(self, witness: SecretWitness, question: UnderPriors) -> tuple[str, str]:
        """Both secrets of a witness, in words."""
        return f"given {witness.left}", f"given {witness.right}"

    def law_rows(self, witness: SecretWitness, question: UnderPriors) -> Sequence[SeenOutput] | None:
        """All outputs given each of the two secrets."""
        return secret_rows(question, witness)

    def drawn(self, verdict: Verdict, question: UnderPriors) -> list[str]:
        """The mechanism and the prior, or the model."""
        return _question_drawings(question)


@singledispatch
def prior_words(question: UnderPriors) -> str:
    """Which secrets are compared under which priors."""
    raise AssertionError(question)


@prior_words.register
def _(question: ParametricQuestion) -> str:
    names = ", ".join(pair.name for pair in question.pairs[:3]) + (", ..." if len(question.pairs) > 3 else "")
    return f"{names} for all {question.region}; words of length {question.horizon}"


@prior_words.register
def _(question: PufferfishQuestion) -> str:
    pairs = ", ".join(f"{s} / {t}" for s, t in question.pairs[:3]) + (", ..." if len(question.pairs) > 3 else "")
    region = question.prior.region
    unknown = f" for all {region}" if region.names else ""
    return f"the secrets {pairs} under the prior {question.prior.name}{unknown}"


@singledispatch
def _question_drawings(question: UnderPriors) -> list[str]:
    raise AssertionError(question)


@_question_drawings.register
def _(question: ParametricQuestion) -> list[str]:
    return [drawing_element(svg(question.model))] if len(question.model.states) <= DRAWN else []


@_question_drawings.register
def _(question: PufferfishQuestion) -> list[str]:
    return [source(question.mechanism), source(question.prior)]


def _odds(value: Fraction | None) -> str:
    return "infinite" if value is None else show(value)


def _prior_facts(verdict: Verdict, witness: SecretWitness, *, asked_tight: bool) -> list[Fact]:
    budget = verdict.question.budget
    s, t, observed = witness.left, witness.right, witness.observed
    ratio = _odds(witness.ratio)
    if verdict.status == "refuted" and not asked_tight and budget is not None and budget.delta == 0:
        ratio += f", beyond e^epsilon = {bound_words(budget.epsilon)}"
    values = ", ".join(f"{name} = {value}" for name, value in observed.values.items())
    result = [Fact("output", observed.output)]
    if values:
        result.append(Fact("prior", f"in the limit {values}" if observed.limit else values))
    result += [
        Fact("left", f"given {s}: probability {show(witness.left_probability)}"),
        Fact("right", f"given {t}: probability {show(witness.right_probability)}"),
        Fact("ratio", ratio),
    ]
    if not observed.limit and verdict.question.functions:
        odds = f"{s} against {t}: {_odds(observed.prior_odds)} before the output is seen, {_odds(observed.posterior_odds)} after"
        result.append(Fact("odds", odds))
    return result
