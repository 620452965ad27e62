"""The truncated geometric mechanism on one counting query: FAIER paper, Examples 4.1 to 4.4."""

from __future__ import annotations

from privproof.exact import Number
from privproof.models import HiddenMarkovModel, Horizon, MarkovChain
from privproof.models.noise_rows import truncated_geometric_row
from privproof.scenarios import Neighbours, Pair, Question, Scenario


def _model(alpha: Number, high: int) -> HiddenMarkovModel:
    values = [str(v) for v in range(high + 1)]
    return HiddenMarkovModel(
        states=values,
        observations=[f"~{v}" for v in values],
        emissions={
            v: {f"~{z}": p for z, p in enumerate(truncated_geometric_row(int(v), alpha=alpha, high=high))}
            for v in values
        },
    )


def geometric(*, alpha: Number = "1/2", high: int = 2) -> Question:
    """The hidden Markov model of Fig. 1c: one state for every count; counts of neighbouring data sets differ by at most 1."""
    model = _model(alpha, high)
    return Question(
        model=model,
        scenario=Scenario(neighbours=Neighbours.each(within=1, coordinates={s: [int(s)] for s in model.states})),
        horizon=Horizon.exactly(1),
        name=f"truncated {alpha}-geometric mechanism over 0..{high}",
    )


def geometric_chain(*, alpha: Number = "1/2", high: int = 2) -> Question:
    """The Markov chain of Fig. 1b: counts lead to noisy counts, which are labelled."""
    counts = [str(v) for v in range(high + 1)]
    noisy = [f"~{v}" for v in counts]
    chain = MarkovChain(
        states=[*counts, *noisy],
        transitions={
            v: dict(zip(noisy, truncated_geometric_row(int(v), alpha=alpha, high=high), strict=True)) for v in counts
        },
        labels={state: [state] for state in noisy},
    )
    return Question(
        model=chain,
        scenario=Scenario(neighbours=Neighbours.each(within=1, coordinates={v: [int(v)] for v in counts})),
        horizon=Horizon.exactly(2),
        name=f"truncated {alpha}-geometric mechanism over 0..{high} as a Markov chain",
    )


def contagious(*, alpha: Number = "1/2", high: int = 2) -> Question:
    """Examples 4.3 and 4.4: in a family all or none are ill, so the secret "John is ill" compares the counts 0 and `high`."""
    model = _model(alpha, high)
    return Question(
        model=model,
        scenario=Scenario(pairs=(Pair.of(model, "John is not ill ~ John is ill", {"0": 1}, {str(high): 1}),)),
        horizon=Horizon.exactly(1),
        name=f"truncated {alpha}-geometric mechanism, contagious family of {high}",
    )
