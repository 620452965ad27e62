"""A correlated series, released value by value: a Markov prior times a mechanism, with a secret about one moment.

Given what the series was at the moment of the secret, it is still a Markov chain, with other transition probabilities before that moment
(Doob's h-transform: ``P(x, y) h(y) / h(x)``, where h(x) is the chance of the secret from x).  So a question about a secret at moment t is
one about a hidden Markov model with one copy of the first t moments for every value of the secret; afterwards the copies are one.
With transition probabilities between bounds, which corner of the bounds acts in a step is an input that is equal on both sides and
may be anything: what holds for all such inputs holds for every chain between the bounds.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import combinations
from typing import Any

from privproof.compiling.distributions import output_classes
from privproof.compiling.outputs import named_rows
from privproof.compiling.steps import input_values
from privproof.errors import QuestionError, ScenarioError
from privproof.exact import ONE, ZERO, Budget, EpsilonLike, Rational
from privproof.language import Mechanism
from privproof.models import Branch, HiddenMarkovModel, Horizon, Transducer
from privproof.scenarios import Pair, Question, Scenario
from privproof.scenarios.markov_prior import MarkovPrior


def time_series(
    release: Mechanism,
    prior: MarkovPrior,
    *,
    secret_at: int = 1,
    length: int | None = None,
    epsilon: EpsilonLike | None = None,
    name: str | None = None,
) -> Question:
    """The question whether a series that is released value by value keeps what it was at one moment.

    Args:
        release: a mechanism with one input; it is applied to every value of the series, each time with fresh noise.
        prior: the chain, or chains.
        secret_at: the moment of the secret, counted from 1.
        length: how many values are released; None for any number of them.
        epsilon: the claim, if one is made.
        name: how reports call the question.

    Raises:
        ScenarioError: a secret after the first moment with unknown transition probabilities, or fewer than two possible values.
    """
    if secret_at < 1 or (length is not None and length < secret_at):
        raise QuestionError(
            "secret", f"secret_at={secret_at} is no moment of the series", place="secret_at", hint="1, 2, ..., length"
        )
    shows = _shown(release, prior)
    corners = prior.corners()
    horizon = Horizon.unbounded() if length is None else Horizon.up_to(length)
    budget = None if epsilon is None else Budget.of(epsilon)
    if budget is None and release.claim is not None:
        budget = release.budget(1)
    title = name or f"{release.name} on a series, secret at moment {secret_at}"
    if len(corners) == 1:
        model, scenario = _hidden(prior, next(iter(corners.values())), shows, secret_at)
        return Question(model=model, scenario=scenario, horizon=horizon, budget=budget, name=title)
    if secret_at > 1:
        raise ScenarioError(
            "secret",
            "with unknown transition probabilities the secret must be about the first moment",
            place="secret_at",
            hint="secret_at=1, or exact transition probabilities",
        )
    machine, scenario = _between(prior, corners, shows)
    return Question(model=machine, scenario=scenario, horizon=horizon, budget=budget, name=title)


def _shown(release: Mechanism, prior: MarkovPrior) -> dict[str, dict[str, Rational]]:
    """For every value of the series the distribution of what is released."""
    inputs = list(release.inputs.items())
    if len(inputs) != 1 or inputs[0][1].shape != "value" or inputs[0][1].values is None:
        raise QuestionError(
            "mechanism",
            f"{release.name} does not read one value",
            place=release.name,
            hint="def release(x: one_of('rest', 'walk')): ...",
        )
    name, declared = inputs[0]
    assert declared.values is not None
    by_name = input_values(declared)
    found: dict[str, list[tuple[Any, Rational]]] = {}
    for state in prior.states:
        if state not in by_name:
            raise ScenarioError(
                "unknown-name",
                f"{release.name} does not take the state {state!r}",
                place="states",
                hint=f"it takes {', '.join(by_name)}",
            )
        found[state] = output_classes(release, {name: by_name[state]})
    return named_rows(found)[0]


def _hidden(
    prior: MarkovPrior,
    matrix: Mapping[str, Mapping[str, Rational]],
    shows: Mapping[str, Mapping[str, Rational]],
    moment: int,
) -> tuple[HiddenMarkovModel, Scenario]:
    transitions: dict[str, dict[str, Rational]] = {s: dict(row) for s, row in matrix.items()}
    emissions = {s: dict(shows[s]) for s in prior.states}
    starts: dict[str, dict[str, Rational]] = {}
    for secret in prior.states:
        chances = [{s: ONE if s == secret else ZERO for s in prior.states}]  # from moment `moment` backwards
        for _ in range(moment - 1):
            after = chances[0]
            chances.insert(0, {s: sum((p * after[t] for t, p in matrix[s].items()), ZERO) for s in prior.states})
        total = sum((prior.initial[s] * chances[0][s] for s in prior.states), ZERO)
        if total == 0:
            continue

        def state(k: int, s: str, secret: str = secret) -> str:
            return s if k >= moment - 1 else f"{s} at {k + 1}, {secret} at {moment}"

        for k in range(moment - 1):
            for s in prior.states:
                if chances[k][s] != 0:
                    row = {
                        state(k + 1, t): p * chances[k + 1][t] / chances[k][s]
                        for t, p in matrix[s].items()
                        if chances[k + 1][t] != 0
                    }
                    transitions[state(k, s)] = row
                    emissions[state(k, s)] = dict(shows[s])
        starts[secret] = {
            state(0, s): prior.initial[s] * chances[0][s] / total
            for s in prior.states
            if prior.initial[s] * chances[0][s] != 0
        }
    if len(starts) < 2:
        raise ScenarioError(
            "empty-relation",
            f"at moment {moment} only {', '.join(starts)} is possible",
            place="prior",
            hint="nothing is compared",
        )
    outputs = list(dict.fromkeys(o for row in shows.values() for o in row))
    model = HiddenMarkovModel(
        states=list(emissions), observations=outputs, transitions=transitions, emissions=emissions
    )
    return model, _all_pairs(model, starts)


def _between(
    prior: MarkovPrior,
    corners: Mapping[str, Mapping[str, Mapping[str, Rational]]],
    shows: Mapping[str, Mapping[str, Rational]],
) -> tuple[Transducer, Scenario]:
    """Every step: the value is shown, then the series moves by one of the corners."""
    outputs = list(dict.fromkeys(o for row in shows.values() for o in row))
    step = {
        s: {
            corner: [Branch(p * q, t, output) for output, p in shows[s].items() for t, q in matrix[s].items()]
            for corner, matrix in corners.items()
        }
        for s in prior.states
    }
    model = Transducer(
        states=list(prior.states),
        inputs=list(corners),
        outputs=outputs,
        initial={s: p for s, p in prior.initial.items() if p != 0},
        steps=[step],
        repeats=True,
    )
    possible = [s for s in prior.states if prior.initial[s] != 0]
    if len(possible) < 2:
        raise ScenarioError(
            "empty-relation", "only one first value is possible", place="initial", hint="nothing is compared"
        )
    return model, _all_pairs(model, {s: {s: ONE} for s in possible})


def _all_pairs(model: HiddenMarkovModel | Transducer, starts: Mapping[str, Mapping[str, Rational]]) -> Scenario:
    """Every two of some beginnings must look alike."""
    return Scenario(pairs=tuple(Pair.of(model, f"{a} / {b}", starts[a], starts[b]) for a, b in combinations(starts, 2)))
