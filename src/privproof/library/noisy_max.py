"""Discrete noisy max: FAIER paper, Algorithms 2 and 3, as transducers over n queries and as the hidden Markov model of Fig. 2.

Every query answer from {0, ..., high} passes through the truncated geometric mechanism; the index of the largest noisy answer is
returned, the first one (naive) or a uniformly chosen one (improved) where several are largest.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from math import prod

from privproof.errors import ModelError
from privproof.exact import Number, Rational, rational
from privproof.models import Branch, HiddenMarkovModel, Horizon, Transducer
from privproof.models.noise_rows import truncated_geometric_row
from privproof.scenarios import Neighbours, Question, Scenario


def _name(best: int, index: int, ties: int) -> str:
    return f"max={best} at={index} ties={ties}" if ties else f"max={best} at={index}"


def noisy_max(size: int, *, improved: bool, alpha: Number = "1/2", high: int = 2) -> Transducer:
    """Noisy max over `size` queries with answers in {0, ..., high}, outputs "1", ..., str(size).

    The state is the largest noisy answer so far, its index, and (improved) how many answers equal it; after the last query
    only the index is left.
    """
    if size < 1:
        raise ModelError(
            "size", f"noisy max of size={size} queries: there must be at least one", place="size", hint="size=3"
        )
    rows = [truncated_geometric_row(v, alpha=alpha, high=high) for v in range(high + 1)]
    levels: list[dict[str, tuple[int, int, int]]] = [{"start": (-1, 0, 0)}]
    steps: list[dict[str, dict[str, list[Branch]]]] = []
    for number in range(1, size + 1):
        last = number == size
        following: dict[str, tuple[int, int, int]] = {}
        table: dict[str, dict[str, list[Branch]]] = {}
        for state, (best, index, ties) in levels[-1].items():
            table[state] = {}
            for value, row in enumerate(rows):
                branches = []
                for noisy, probability in enumerate(row):
                    for share, outcome in _outcomes(best, index, ties, noisy, number, improved=improved):
                        target = f"at={outcome[1]}" if last else _name(*outcome)
                        following[target] = outcome
                        branches.append(Branch(probability * share, target))
                table[state][str(value)] = branches
        steps.append(table)
        levels.append(following)
    names = dict.fromkeys(state for level in levels for state in level)
    return Transducer(
        states=list(names),
        inputs=[str(v) for v in range(high + 1)],
        outputs=[str(i) for i in range(1, size + 1)],
        initial={"start": 1},
        steps=steps,
        finish={state: {str(outcome[1]): 1} for state, outcome in levels[-1].items()},
    )


def _outcomes(
    best: int, index: int, ties: int, noisy: int, number: int, *, improved: bool
) -> list[tuple[Rational, tuple[int, int, int]]]:
    one = rational(1)
    if noisy > best:
        return [(one, (noisy, number, 1 if improved else 0))]
    if noisy < best or not improved:
        return [(one, (best, index, ties))]
    more = ties + 1
    return [
        (one / more, (best, number, more)),
        (one * ties / more, (best, index, more)),
    ]


def noisy_max_question(size: int, *, improved: bool, within: Number = 1, relation: str = "each") -> Question:
    """Noisy max where every query (``each``), one query (``one``), or all in one direction (``monotone``) may change."""
    neighbours = {"each": Neighbours.each, "one": Neighbours.one, "monotone": Neighbours.monotone}[relation](
        within=within
    )
    return Question(
        model=noisy_max(size, improved=improved),
        scenario=Scenario(neighbours=neighbours),
        name=f"{'improved' if improved else 'naive'} noisy max, {size} queries",
    )


def noisy_max_hmm(size: int = 3, *, improved: bool, alpha: Number = "1/2", high: int = 2) -> Question:
    """The hidden Markov model of Fig. 2: states are all query answers and all noisy answers; the index is observed."""
    rows = [truncated_geometric_row(v, alpha=alpha, high=high) for v in range(high + 1)]
    answers = list(product(range(high + 1), repeat=size))

    def text(values: tuple[int, ...]) -> str:
        return "".join(map(str, values))

    emissions: dict[str, dict[str, Number]] = {text(v): {"start": 1} for v in answers}
    for noisy in answers:
        largest = [i for i, x in enumerate(noisy, 1) if x == max(noisy)]
        winners = largest if improved else largest[:1]
        emissions["~" + text(noisy)] = {str(i): Fraction(1, len(winners)) for i in winners}
    model = HiddenMarkovModel(
        states=list(emissions),
        observations=["start", *(str(i) for i in range(1, size + 1))],
        transitions={
            text(v): {
                "~" + text(w): prod((rows[x][y] for x, y in zip(v, w, strict=True)), start=rational(1)) for w in answers
            }
            for v in answers
        },
        emissions=emissions,
    )
    return Question(
        model=model,
        scenario=Scenario(neighbours=Neighbours.each(within=1, coordinates={text(v): v for v in answers})),
        horizon=Horizon.exactly(2),
        name=f"{'improved' if improved else 'naive'} noisy max (Fig. 2), {size} queries",
    )
