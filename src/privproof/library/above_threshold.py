"""Discrete above threshold: FAIER paper, Algorithm 4, as a transducer and as the two-copy hidden Markov model of Fig. 3.

The threshold passes through the truncated 1/4-geometric mechanism once, every query answer through the truncated 1/2-geometric
mechanism; the answer is "above" (and the mechanism halts) when the noisy query is at least the noisy threshold, "below" otherwise.
"""

from __future__ import annotations

from fractions import Fraction

from privproof.exact import ZERO, Number, Rational
from privproof.models import Branch, HiddenMarkovModel, Horizon, Transducer
from privproof.models.noise_rows import truncated_geometric_row
from privproof.scenarios import Neighbours, Pair, Question, Scenario, Words

BELOW, ABOVE, START = "below", "above", "start"


def above_threshold(*, high: int = 2, threshold_alpha: Number = "1/4", query_alpha: Number = "1/2") -> Question:
    """The mechanism as a transducer: one state for every noisy threshold, and a halting one.

    The public threshold is the same on both sides: one pair of equal initial distributions for each of its values.
    """
    thresholds = [truncated_geometric_row(t, alpha=threshold_alpha, high=high) for t in range(high + 1)]
    queries = [truncated_geometric_row(r, alpha=query_alpha, high=high) for r in range(high + 1)]

    def answer(noisy_threshold: int, row: tuple[Rational, ...]) -> list[Branch]:
        above = sum(row[noisy_threshold:], ZERO)
        return [Branch(above, "halted", ABOVE), Branch(1 - above, f"t={noisy_threshold}", BELOW)]

    states = [f"t={t}" for t in range(high + 1)]
    model = Transducer(
        states=[*states, "halted"],
        inputs=[str(r) for r in range(high + 1)],
        outputs=[BELOW, ABOVE],
        initial=dict(zip(states, thresholds[0], strict=True)),
        steps=[{state: {str(r): answer(t, row) for r, row in enumerate(queries)} for t, state in enumerate(states)}],
        repeats=True,
    )
    pairs = []
    for t, row in enumerate(thresholds):
        initial = dict(zip(states, row, strict=True))
        pairs.append(Pair.of(model, f"threshold {t}", initial, initial))
    return Question(
        model=model,
        scenario=Scenario(pairs=tuple(pairs), neighbours=Neighbours.each(within=1)),
        name=f"above threshold over 0..{high}",
    )


def above_threshold_two_copies(
    *, high: int = 2, threshold_alpha: Number = "1/4", query_alpha: Number = "1/2", horizon: Horizon | None = None
) -> Question:
    """The hidden Markov model of Fig. 3: two copies that observations such as ``01`` keep in step.

    States ``t0r1`` (threshold 0, first answer 1), ``~t0r1`` (noisy threshold 0, answer 1) and ``~t0~r1`` (both noisy), the second copy
    with an underscore in front.  The observation ``jl`` says that the answer is j in the first copy and l in the second; each has
    probability 1/3, and fillers (top0, ..., bottom2) that only one copy can show complete the sum.  Words that contain a filler, or whose
    first answers are not those of the pair, are no executions: the scenario leaves them out.
    """
    values = range(high + 1)
    thresholds = [truncated_geometric_row(t, alpha=threshold_alpha, high=high) for t in values]
    queries = [truncated_geometric_row(r, alpha=query_alpha, high=high) for r in values]
    together = {(j, k): f"{j}{k}" if high < 10 else f"{j},{k}" for j in values for k in values if abs(j - k) <= 1}
    third = Fraction(1, 3)
    transitions: dict[str, dict[str, Number]] = {}
    emissions: dict[str, dict[str, Number]] = {}
    fillers: list[str] = []
    for copy, mark in (("top", ""), ("bottom", "_")):
        for t in values:
            for r in values:
                plain, noisy_threshold, noisy = f"{mark}t{t}r{r}", f"{mark}~t{t}r{r}", f"{mark}~t{t}~r{r}"
                transitions[plain] = {f"{mark}~t{i}r{r}": p for i, p in enumerate(thresholds[t])}
                transitions[noisy_threshold] = {f"{mark}~t{t}~r{j}": p for j, p in enumerate(queries[r])}
                emissions[plain] = {START: 1}
                emissions[noisy_threshold] = {
                    symbol: third for (j, k), symbol in together.items() if (j if copy == "top" else k) == r
                }
                missing = 1 - third * len(emissions[noisy_threshold])
                if missing:
                    filler = f"{copy}{r}"
                    fillers.append(filler)
                    emissions[noisy_threshold][filler] = missing
                emissions[noisy] = {ABOVE if r >= t else BELOW: 1}
                if r < t:
                    transitions[noisy] = {f"{mark}~t{t}r{j}": Fraction(1, len(values)) for j in values}
    fillers = list(dict.fromkeys(fillers))
    model = HiddenMarkovModel(
        states=list(emissions),
        observations=[START, BELOW, ABOVE, *together.values(), *fillers],
        transitions=transitions,
        emissions=emissions,
    )
    pairs = tuple(
        Pair.of(
            model,
            f"threshold {t}, answers {j} and {k}",
            {f"t{t}r{j}": 1},
            {f"_t{t}r{k}": 1},
            only=f"{START} ({symbol} .*)?",
        )
        for t in values
        for (j, k), symbol in together.items()
    )
    return Question(
        model=model,
        scenario=Scenario(pairs=pairs, words=Words(without=tuple(fillers))),
        horizon=horizon,
        name=f"above threshold (Fig. 3) over 0..{high}",
    )
