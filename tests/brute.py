"""Brute force from the definitions, in plain fractions: what every engine is compared with."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from itertools import product
from math import lcm

from privproof.exact import fraction
from privproof.models import HiddenMarkovModel, MarkovChain, Transducer
from privproof.scenarios import Pair, Question, ordered_pairs

INFINITE = "infinite"


def word_probability(model: HiddenMarkovModel, initial: dict[str, Fraction], word: tuple[str, ...]) -> Fraction:
    """The forward algorithm, equations (2) and (3) of the FAIER paper."""
    alpha = {s: p * fraction_of(model.emissions[s], word[0]) for s, p in initial.items()}
    for symbol in word[1:]:
        following: dict[str, Fraction] = {}
        for s, mass in alpha.items():
            for t, p in model.transitions.get(s, {}).items():
                following[t] = following.get(t, Fraction(0)) + mass * fraction(p)
        alpha = {t: mass * fraction_of(model.emissions[t], symbol) for t, mass in following.items()}
    return sum(alpha.values(), Fraction(0))


def fraction_of(table, key) -> Fraction:
    return fraction(table[key]) if key in table else Fraction(0)


def sides(pair: Pair) -> tuple[dict[str, Fraction], dict[str, Fraction]]:
    return {s: fraction(p) for s, p in pair.left.items()}, {s: fraction(p) for s, p in pair.right.items()}


def hmm_words(question: Question, lengths: range) -> Iterator[tuple[Pair, tuple[str, ...], Fraction, Fraction]]:
    model = question.model.hidden() if isinstance(question.model, MarkovChain) else question.model
    for pair in ordered_pairs(question):
        left, right = sides(pair)
        for length in lengths:
            for word in product(model.observations, repeat=length):
                yield pair, word, word_probability(model, left, word), word_probability(model, right, word)


def largest(ratios) -> Fraction | str:
    """The largest P/Q; infinite where P > 0 = Q."""
    best = Fraction(0)
    for p, q in ratios:
        if p > 0 and q == 0:
            return INFINITE
        if p > 0:
            best = max(best, p / q)
    return best


def hmm_ratio(question: Question, lengths: range) -> Fraction | str:
    return largest((p, q) for _, _, p, q in hmm_words(question, lengths))


def prefix_ratio(question: Question, longest: int) -> Fraction | str:
    """The largest ratio over all words up to a length: every prefix is extended by every symbol, in integers."""
    model = question.model.hidden() if isinstance(question.model, MarkovChain) else question.model
    numbers = {s: i for i, s in enumerate(model.states)}
    rows = [{numbers[t]: fraction(p) for t, p in model.transitions.get(s, {}).items()} for s in model.states]
    shows = [[fraction_of(model.emissions[s], o) for s in model.states] for o in model.observations]
    scale = lcm(*(p.denominator for row in (*rows, *map(dict, map(enumerate, shows))) for p in row.values()))
    moves = [[(j, int(p * scale)) for j, p in row.items()] for row in rows]
    shown = [[int(p * scale) for p in column] for column in shows]

    def show(masses: list[int], column: list[int]) -> list[int]:
        return [mass * e for mass, e in zip(masses, column, strict=True)]

    def move(masses: list[int]) -> list[int]:
        result = [0] * len(masses)
        for mass, row in zip(masses, moves, strict=True):
            for j, p in row:
                result[j] += mass * p
        return result

    best = Fraction(0)
    for pair in ordered_pairs(question):
        both = [[side.get(s, Fraction(0)) for s in model.states] for side in sides(pair)]
        whole = lcm(*(p.denominator for side in both for p in side))
        waiting = [([int(p * whole) for p in both[0]], [int(p * whole) for p in both[1]], 0)]
        while waiting:
            left, right, length = waiting.pop()
            for column in shown:
                one, other = show(left, column), show(right, column)
                if not any(one):
                    continue
                if not any(other):
                    return INFINITE
                best = max(best, Fraction(sum(one), sum(other)))
                if length + 1 < longest:
                    waiting.append((move(one), move(other), length + 1))
    return best


def output_distribution(
    model: Transducer, inputs: tuple[str, ...], initial=None
) -> dict[tuple[str | None, ...], Fraction]:
    """The distribution of what a transducer writes on a sequence of inputs, runs that halt early left out."""
    current = {(s, ()): fraction(p) for s, p in (initial or model.initial).items()}
    for number, symbol in enumerate(inputs):
        following: dict[tuple[str, tuple[str | None, ...]], Fraction] = {}
        step = model.step(number)
        for (state, written), mass in current.items():
            for branch in step.get(state, {}).get(symbol, ()):
                key = (branch.target, (*written, branch.output))
                following[key] = following.get(key, Fraction(0)) + mass * fraction(branch.probability)
        current = following
    result: dict[tuple[str | None, ...], Fraction] = {}
    for (state, written), mass in current.items():
        ends = model.finish[state] if model.finish is not None else {None: None}
        for output, p in ends.items():
            key = (*written, output) if model.finish is not None else written
            result[key] = result.get(key, Fraction(0)) + mass * (fraction(p) if p is not None else 1)
    return result


def transducer_ratio(question: Question, lengths: range) -> Fraction | str:
    """Over all pairs of neighbouring inputs (or equal ones) and all outputs."""
    model, relation = question.model, question.scenario.neighbours
    best: list[tuple[Fraction, Fraction]] = []
    for pair in ordered_pairs(question):
        for length in lengths:
            sequences = list(product(model.inputs, repeat=length))
            lefts = {v: output_distribution(model, v, pair.left) for v in sequences}
            rights = {v: output_distribution(model, v, pair.right) for v in sequences}
            any_change = relation.within is None and relation.kind != "monotone"
            numbers = {v: v if any_change else tuple(fraction_number(x) for x in v) for v in sequences}
            for v in sequences:
                for w in sequences:
                    if v == w or relation.related(numbers[v], numbers[w]):
                        for output, p in lefts[v].items():
                            best.append((p, rights[w].get(output, Fraction(0))))
    return largest(best)


def fraction_number(text: str):
    from privproof.exact import rational

    return rational(text)
