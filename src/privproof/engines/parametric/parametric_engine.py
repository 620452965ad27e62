"""The engine for secrets under priors with unknown parameters: the table, and what is proved or refuted about it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from privproof.compiling.pufferfish import Compared, run_again
from privproof.compiling.pufferfish import secrets_table as compared_rows
from privproof.engines.engine_protocol import Answers, EngineRequest
from privproof.engines.parametric import (
    Proof,
    Supremum,
    Violation,
    prove,
    supremum,
)
from privproof.engines.parametric import (
    parametric_certificates as certificates,
)
from privproof.engines.search_monitor import Monitor
from privproof.errors import QuestionError, ScenarioError
from privproof.evidence.engine_answers import Answer
from privproof.evidence.witnesses import ObservedOutput, SecretWitness, Witness
from privproof.exact import INFINITE, Budget, Epsilon, Rational, epsilon, fraction, rational, show, smallest_epsilon
from privproof.models.parameter_conditions import Condition, conditions_of
from privproof.scenarios import UnderPriors
from privproof.scenarios.pufferfish_questions import PufferfishQuestion

_ENGINE = "parametric"
_NEAR = (1000, 10_000, 100, 10**6)
"""One over this is how far from a limit a prior is shown that comes near to it; others where the first is not of the class."""


class ParametricEngine:
    """Answers questions about secrets under priors, for all values of the priors' unknown parameters."""

    name = _ENGINE

    def supports(self, request: EngineRequest) -> str | None:
        """Why the engine does not answer the request, or None if it does."""
        return None

    def answers(self, request: EngineRequest, monitor: Monitor) -> Answers:
        """Whether the budget holds at every prior of the class, or the smallest epsilon that does."""
        assert isinstance(request.question, UnderPriors)
        question = request.question.pinned()
        budget = Budget(INFINITE, request.delta, pointwise=True) if request.tight else question.budget
        assert budget is not None
        if budget.delta != 0 and not budget.pointwise:
            raise QuestionError(
                "delta",
                "a delta over events under a prior",
                place="delta",
                hint="delta for each output: pointwise=True, --pointwise",
            )
        compared = compared_rows(question)
        if not compared.table.pairs:
            asked = question.under(None) if request.tight else question
            reason = f"nothing is compared: {'; '.join(_left_out(compared))}"
            yield Answer(status="unknown", question=asked, engine=_ENGINE, reason=reason)
        elif request.tight:
            yield _run_again(_tight(question, compared, request.delta, monitor), compared)
        else:
            yield _run_again(_check_claim(question, compared, budget, monitor), compared)


def _unknown_answer(question: UnderPriors, **known: Any) -> Answer:
    return Answer(status="unknown", question=question, engine=_ENGINE, **known)


def _left_out(compared: Compared) -> list[str]:
    """Which secrets are not compared, and why."""
    found = []
    if compared.impossible:
        found.append(f"under the prior these secrets are impossible: {', '.join(map(repr, compared.impossible))}")
    if compared.alike:
        alike = ", ".join(f"{s!r} and {t!r}" for s, t in compared.alike)
        found.append(f"under the prior these secrets hold on the same data: {alike}")
    return found


def _notes(compared: Compared) -> tuple[str, ...]:
    notes = [f"{len(compared.rows)} {compared.question.rows}, {len(compared.table.outputs)} outputs"]
    if compared.impossible:
        listed = ", ".join(repr(s) for s in compared.impossible)
        notes.append(f"impossible under the prior, so not compared: {listed}")
    if compared.alike:
        listed = ", ".join(f"{s!r} and {t!r}" for s, t in compared.alike)
        notes.append(f"the same data under the prior, so not compared: {listed}")
    return tuple(notes)


def _check_claim(question: UnderPriors, compared: Compared, budget: Budget, monitor: Monitor) -> Answer:
    notes = _notes(compared)
    if budget.epsilon.infinite:
        raise QuestionError(
            "budget", "an infinite epsilon under a prior", place="epsilon", hint="ask for the tight epsilon"
        )
    conditions = conditions_of(compared.table)
    low, high = budget.epsilon.enclosure(192)
    found = prove(conditions, low, budget.delta, monitor)
    if isinstance(found, Violation) and low != high and budget.epsilon.allows(found.left, found.right, budget.delta):
        found = prove(conditions, high, budget.delta, monitor)
    if isinstance(found, Proof):
        worst = supremum(conditions, budget.delta, monitor)
        lower, witness = _lower(compared, worst)
        upper = budget.epsilon
        if worst.upper is not None and worst.exact and worst.proof is not None:
            upper, found = lower, worst.proof
        return _proof_answer(question, compared, found, lower, upper, witness, (*notes, *_approach(worst)), monitor)
    if isinstance(found, Violation):
        if budget.epsilon.allows(found.left, found.right, budget.delta):
            return _unknown_answer(question, notes=notes, reason="the budget is too close to decide")
        witness = _witness(compared, found.condition, found.values)
        lower = smallest_epsilon(witness.left_probability, witness.right_probability, budget.delta)
        return _refutation_answer(question, compared, lower, witness, notes)
    return _unknown_answer(question, notes=(*notes, *found.notes), reason=found.reason)


def _tight(question: UnderPriors, compared: Compared, delta: Rational, monitor: Monitor) -> Answer:
    conditions = conditions_of(compared.table)
    found = supremum(conditions, delta, monitor)
    notes = (*_notes(compared), *found.notes)
    if found.lower is None:
        return _without_bound(question, compared, found, delta, notes)
    lower, witness = _lower(compared, found)
    notes = (*notes, *_approach(found))
    if found.upper is None or found.proof is None:
        reason = "no upper bound was proved"
        return _unknown_answer(question.under(None), lower=lower, witness=witness, notes=notes, reason=reason)
    upper = smallest_epsilon(found.upper, 1)
    asked = question.under(Budget(upper, delta, pointwise=True))
    return _proof_answer(asked, compared, found.proof, lower, upper, witness, notes, monitor)


def _proof_answer(
    question: UnderPriors,
    compared: Compared,
    proof: Proof,
    lower: Epsilon,
    upper: Epsilon,
    witness: SecretWitness | None,
    notes: tuple[str, ...],
    monitor: Monitor,
) -> Answer:
    """The verdict of a proof; unknown where the prior's probabilities were not shown to be any."""
    evidence = certificates.proof_evidence(compared.table, proof, monitor)
    if evidence is None:
        asked = question.under(None)
        return _unknown_answer(asked, lower=lower, witness=witness, notes=notes, reason=_sign_reason(compared))
    return Answer(
        status="proved",
        question=question,
        engine=_ENGINE,
        evidence=evidence,
        more={} if witness is None else {"witness": certificates.point_evidence(witness)},
        compiled=compared,
        lower=lower,
        upper=upper,
        witness=witness,
        notes=notes,
    )


def _refutation_answer(
    question: UnderPriors,
    compared: Compared,
    lower: Epsilon,
    witness: SecretWitness,
    notes: tuple[str, ...],
) -> Answer:
    """The verdict of values that violate the budget."""
    return Answer(
        status="refuted",
        question=question,
        engine=_ENGINE,
        evidence={"method": "parameters", **certificates.point_evidence(witness)},
        compiled=compared,
        lower=lower,
        witness=witness,
        notes=notes,
    )


def _lower(compared: Compared, found: Supremum) -> tuple[Epsilon, SecretWitness | None]:
    """The lower bound of a supremum, and a witness at it or near it."""
    witness = None
    if found.condition is not None:
        values = found.point if found.attained else _near(compared, found)
        if values is not None:
            witness = _witness(compared, found.condition, values)
    if found.lower is None:
        return INFINITE, witness
    return smallest_epsilon(found.lower, 1), witness


def _approach(found: Supremum) -> tuple[str, ...]:
    if found.attained or found.condition is None:
        return ()
    limit = ", ".join(f"{name} to {value}" for name, value in found.point.items())
    return (f"the bound is not attained: it is approached as {limit}; the witness is near by",)


def _without_bound(
    question: UnderPriors,
    compared: Compared,
    found: Supremum,
    delta: Rational,
    notes: tuple[str, ...],
) -> Answer:
    """The ratio has no bound: an output is impossible given one secret, or becomes so in a limit."""
    assert found.condition is not None
    if found.attained:
        witness = _witness(compared, found.condition, found.point)
        budget = Budget(INFINITE, delta, pointwise=True)
        return _refutation_answer(question.under(budget), compared, INFINITE, witness, notes)
    values = _near(compared, found)
    near = None if values is None else _witness(compared, found.condition, values)
    limit = ", ".join(f"{name} to {value}" for name, value in found.point.items())
    reason = f"the ratio seems to grow without bound as {limit}; at every prior of the class it is finite"
    lower = epsilon(0) if near is None else smallest_epsilon(near.left_probability, near.right_probability, delta)
    return _unknown_answer(question.under(None), lower=lower, witness=near, notes=notes, reason=reason)


def _near(compared: Compared, found: Supremum) -> dict[str, Rational] | None:
    """A prior of the class near a limit."""
    if found.direction is None:
        return None
    for part in _NEAR:
        point = {name: value + found.direction.get(name, rational(0)) / part for name, value in found.point.items()}
        if compared.region.contains(point) and found.condition is not None and found.condition.scale.at(point) > 0:
            return point
    return None


def _witness(compared: Compared, condition: Condition, values: Mapping[str, Rational]) -> SecretWitness:
    """The witness at given values, from the definition: joint probabilities over the probabilities of the secrets."""
    (s, t), output = condition.pair, condition.output
    chance = {secret: fraction(compared.table.probability(secret).at(values)) for secret in (s, t)}
    joint = {secret: fraction(compared.table.probability(secret, output).at(values)) for secret in (s, t)}
    exact = {name: fraction(value) for name, value in values.items()}
    observed = ObservedOutput(output, exact, chance[s], chance[t], joint[s], joint[t])
    return Witness(s, t, observed, joint[s] / chance[s], joint[t] / chance[t])


def _sign_reason(compared: Compared) -> str:
    """Why no certificate could be written: a probability of the prior is negative somewhere, or not shown to be non-negative."""
    for row in compared.rows:
        for corner in _corners(compared):
            if row.weight.at(corner) < 0:
                shown = ", ".join(f"{name} = {value}" for name, value in corner.items())
                raise ScenarioError(
                    "prior",
                    f"the probability of {row.example} is {row.weight}, which is {row.weight.at(corner)} at {shown}",
                    place=_place(compared),
                    hint="narrow the interval, or mend the expression",
                )
    return "the probabilities of the prior were not shown to be non-negative on the whole region"


def _place(compared: Compared) -> str:
    return compared.question.place


def _corners(compared: Compared) -> list[dict[str, Rational]]:
    points: list[dict[str, Rational]] = [{}]
    for name, interval in zip(compared.region.names, compared.region.box, strict=True):
        points = [
            {**p, name: end}
            for p in points
            for end in (interval.low, (interval.low + interval.high) / 2, interval.high)
        ]
    return points


def _run_again(answer: Answer, compared: Compared) -> Answer:
    """The answer if running the functions agrees with its witness, otherwise unknown."""
    question, witness = answer.question, answer.witness
    if answer.status == "unknown" or not isinstance(question, PufferfishQuestion) or witness is None:
        return answer
    again = run_again(question, compared.shown[witness.observed.output], witness.observed.values, witness.secrets)
    if again is None:
        return answer
    bounds, whole = again
    for (low, high), claimed in zip(bounds, (witness.left_probability, witness.right_probability), strict=True):
        if not low <= claimed <= high:
            found = show(low) if low == high else f"between {show(low)} and {show(high)}"
            reason = f"the table gives {show(claimed)} for the output {witness.output}, running the functions {found}"
            return _unknown_answer(question, notes=answer.notes, reason=reason)
    said = "running the prior and the mechanism on all their random choices gives the same two probabilities"
    said = said if whole else "running the prior and the mechanism on their likeliest random choices agrees"
    return replace(answer, notes=(*answer.notes, said))
